"""Reactions of joints, coordinates of joints, force elements and the balance of energy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbd
from mbd.bodies import PointMass, RigidBody
from mbd.forces import Force, Spring, Torque, TorsionSpring
from mbd.joints import Cylindrical, Distance, Fixed, PointOnLine, Prismatic, Revolute, Spherical
from mbd.model import Model
from mbd.nodes import Quaternion, RotationVector
from mbd.results.solution import Solution
from mbd.results.turns import turns_in_doubt
from mbd.rotation import from_rotation_vector
from mbd.system.system import assemble
from tests.results.runs import NODES, at_rest, simulate

ROUND_OFF = 1e-10
G = 9.81


def hanging(node: str, kind: type) -> tuple[Model, str]:
    """A body at rest, its centre of mass below the joint; the joint is not at the reference point."""
    model = Model(gravity=(0, 0, -G))
    start = RotationVector(position=(0.5, 0.0, -1.0), rotation=from_rotation_vector(np.array((0.3, 0.2, 0.1))))
    com = start.rotation.T @ np.array((-0.5, 0.0, -0.2))  # below the origin
    body = model.add(RigidBody("bob", 2.0, (0.1, 0.2, 0.25), start, com=com))
    options = {} if kind is Spherical else {"axis": (0, 1, 0)}
    model.add(kind(model.ground, body, at=(0, 0, 0), name="pivot", **options))
    return model.with_nodes(NODES[node]), "pivot"


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("kind", [Spherical, Revolute, Fixed])
def test_reaction_of_a_hanging_body(node: str, kind: type) -> None:
    model, pivot = hanging(node, kind)
    view = at_rest(model)[pivot]
    np.testing.assert_allclose(view.force, [(0, 0, 2.0 * G)], atol=ROUND_OFF)
    np.testing.assert_allclose(view.torque, np.zeros((1, 3)), atol=ROUND_OFF)


@pytest.mark.parametrize("node", NODES)
def test_torque_of_a_clamped_beam(node: str) -> None:
    """A weight at the arm (2, 0, 0) needs a force upwards and a torque about the joint's point."""
    model = Model(gravity=(0, 0, -G))
    body = model.add(RigidBody("beam", 3.0, (0.1, 1.0, 1.0), RotationVector((2.0, 0, 0)), com=(1.0, 0, 0)))
    model.add(Fixed(model.ground, body, at=(1.0, 0, 0), name="wall"))
    model.add(Fixed(body, model.add(RigidBody("tip", 1.0, (1, 1, 1), RotationVector((4.0, 0, 0)))), name="weld"))
    solution = at_rest(model.with_nodes(NODES[node]))
    np.testing.assert_allclose(solution["wall"].force, [(0, 0, 4.0 * G)], atol=1e-9)
    np.testing.assert_allclose(solution["wall"].torque, [(0, -(2.0 * 3.0 + 3.0) * G, 0)], atol=1e-9)
    np.testing.assert_allclose(solution["weld"].force, [(0, 0, G)], atol=1e-9)
    np.testing.assert_allclose(solution["weld"].torque, np.zeros((1, 3)), atol=1e-9)


def test_reaction_on_the_ground_and_on_point_masses() -> None:
    model = Model(gravity=(0, 0, -G))
    mass = model.add(PointMass("mass", 2.0, (0, 0, -1.0)))
    model.add(Distance(mass, model.ground, name="rod"))
    np.testing.assert_allclose(at_rest(model)["rod"].force, [(0, 0, -2.0 * G)], atol=ROUND_OFF)
    np.testing.assert_allclose(at_rest(model)["rod"].torque, np.zeros((1, 3)), atol=ROUND_OFF)


def test_newton_euler_with_reactions() -> None:
    """Weight, reaction and inertia balance for a swinging body, at all records."""
    model, pivot = hanging("quaternion", Revolute)
    model["bob"].node.angular_velocity = model["bob"].rotation.T @ np.array((0, 3.0, 0))
    model["bob"].node.velocity = np.cross((0, 3.0, 0), (0.5, 0, -1.0))
    solution = simulate(model, 0.3, 60)
    body, joint = solution["bob"], solution[pivot]
    acceleration = body.point_acceleration(model["bob"].com)
    np.testing.assert_allclose(joint.force + (0, 0, -2.0 * G), 2.0 * acceleration, atol=1e-8)
    spin = np.einsum("ij,kj->ki", model["bob"].inertia, body.angular_velocity)
    rate = np.einsum("ij,kj->ki", model["bob"].inertia, body.angular_acceleration)
    torque = np.einsum("kij,kj->ki", body.rotation, rate + np.cross(body.angular_velocity, spin))
    arm = body.point(model[pivot].point_b)
    np.testing.assert_allclose(joint.torque + np.cross(arm - body.com, joint.force), torque, atol=1e-8)
    np.testing.assert_allclose(joint.torque[:, 1], 0.0, atol=1e-8)  # the axis is free


def rotor(speed: float) -> tuple[Model, Revolute]:
    model = Model()
    body = model.add(RigidBody("rotor", 1.0, (1, 1, 1), Quaternion(angular_velocity=(0, 0, speed))))
    return model, model.add(Revolute(model.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))


@pytest.mark.parametrize("speed", [7.0, -7.0])
def test_angle_counts_turns(speed: float) -> None:
    model, joint = rotor(speed)
    solution = simulate(model, 3.0, 150)
    np.testing.assert_allclose(solution[joint].angle, speed * solution.t, atol=1e-5)
    np.testing.assert_allclose(solution[joint].angle_rate, speed, atol=1e-5)
    assert not hasattr(solution[joint], "displacement")


def test_angle_of_thinned_records() -> None:
    """Less than two records per turn: the rate says how many turns there were."""
    model, joint = rotor(7.0)
    s = simulate(model, 3.0, 150)
    thin = Solution(s.system, *(x[::50] for x in (s.t, s.q, s.v, s.vd, s.lam)))
    np.testing.assert_allclose(thin[joint].angle, 7.0 * thin.t, atol=1e-5)


def test_recorded_turns_are_used() -> None:
    model, joint = rotor(7.0)
    spring = model.add(TorsionSpring(joint, stiffness=0.5, rest=1.0))
    s = simulate(model, 3.0, 150)
    np.testing.assert_allclose(s[spring].length, s[joint].angle, atol=1e-12)
    np.testing.assert_allclose(s[spring].energy, 0.25 * (s[joint].angle - 1.0) ** 2, atol=1e-12)
    np.testing.assert_allclose(s[spring].torque[:, 2], -0.5 * (s[joint].angle - 1.0), atol=1e-6)
    np.testing.assert_allclose(s.energy.total, s.energy.total[0], rtol=1e-5)
    found = Solution(s.system, s.t, s.q, s.v, s.vd, s.lam)  # without the recorded angles
    np.testing.assert_array_equal(found[joint].angle, s[joint].angle)
    shifted = Solution(s.system, s.t, s.q, s.v, s.vd, s.lam, turns=s.turns + 4.0 * np.pi)  # e.g. a restarted run
    np.testing.assert_allclose(shifted[joint].angle, s[joint].angle + 4.0 * np.pi, atol=1e-12)


def driven(count: bool) -> mbd.Model:
    """A wheel to and fro by many turns."""
    model = Model("driven")
    wheel = model.add(RigidBody("wheel", 1.0, (0.2, 0.2, 0.2)))
    hinge = model.add(Revolute(model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), name="hinge"))
    model.add(Torque(wheel, lambda t: (0.0, 0.0, 30.0 * t * np.sin(3.0 * t))))
    if count:
        model.add(TorsionSpring(hinge, stiffness=0.0, name="counter"))
    return model


def test_coordinates_and_angle_are_the_same() -> None:
    """Also where a spring has counted turns between distant records, which the rates there do not tell."""
    known = mbd.simulate(driven(True), 6.0, 2e-3, output_step=0.5)["hinge"]
    exact = mbd.simulate(driven(False).with_coordinates("joint"), 6.0, 2e-3, output_step=0.5)["hinge"].angle
    assert np.ptp(exact) > 100.0
    np.testing.assert_allclose(known.angle, exact, atol=1e-3)
    np.testing.assert_array_equal(known.coordinates[:, 0], known.angle)


@pytest.mark.parametrize(
    ("rate", "beside", "doubt"),
    [
        ([10.0, 10.0, 10.0, 10.0], 0.0, False),
        ([10.0, 10.0, 10.0, 10.0], 2.0, True),  # what the rule leaves
        ([0.0, 20.0, 40.0, 60.0], 0.0, False),  # an even change is integrated exactly
        ([0.0, 40.0, 0.0, 40.0], 0.0, True),  # its error
        ([10.0, 10.0], 0.0, False),
        ([0.0, 20.0], 0.0, True),  # two records do not tell how it changes
        ([7.0], 0.0, False),
    ],
)
def test_what_makes_turns_doubtful(rate: list[float], beside: float, doubt: bool) -> None:
    v = np.array(rate)
    t = np.arange(len(v), dtype=float)
    angle = np.append(0.0, np.cumsum(0.5 * (v[1:] + v[:-1])) + beside * np.arange(1, len(v)))
    wrapped = np.arctan2(np.sin(angle), np.cos(angle))
    assert turns_in_doubt(t, wrapped, v) is doubt
    again = np.repeat(t, 2), np.repeat(wrapped, 2), np.repeat(v, 2)  # two records at a time, as at an event
    assert turns_in_doubt(*again) is doubt


def test_turns_that_records_do_not_tell() -> None:
    """Where rates change too much between records a warning says so; a steady or slow motion is certain."""
    exact = mbd.simulate(driven(False).with_coordinates("joint"), 6.0, 2e-3)["hinge"].angle
    solution = mbd.simulate(driven(False), 6.0, 2e-3)
    np.testing.assert_allclose(solution["hinge"].angle, exact, atol=1e-3)
    for apart in (0.5, 2.0, 3.0):
        with pytest.warns(mbd.AccuracyWarning, match=r"'hinge' changes so much between records that its whole turns"):
            _ = mbd.simulate(driven(False), 6.0, 2e-3, output_step=apart)["hinge"].angle
    model, joint = rotor(7.0)
    model.add(Torque(model["rotor"], (0.0, 0.0, -3.0)))
    for apart in (0.1, 1.0):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            steady = mbd.simulate(model, 4.0, 1e-2, mbd.integrators.RK4(), output_step=apart)
            off = steady[joint].angle - (7.0 * steady.t - 1.5 * steady.t**2)
            assert np.abs(off).max() < 0.01 * np.pi  # none of them by a turn


@pytest.mark.parametrize("kind", [Prismatic, Cylindrical, PointOnLine])
def test_displacement(kind: type) -> None:
    model = Model(gravity=(0, 0, -G))
    axis = np.array((0, 3.0, 4.0)) / 5.0
    body = model.add(RigidBody("slider", 1.0, (1, 1, 1), Quaternion(position=(0, 0, 1), velocity=2.0 * axis)))
    joint = model.add(kind(model.ground, body, axis=axis, at=(0, 0, 1)))
    solution = simulate(model, 0.5, 20)
    t = solution.t
    np.testing.assert_allclose(solution[joint].displacement, 2.0 * t - 0.5 * 0.8 * G * t**2, atol=1e-8)
    np.testing.assert_allclose(solution[joint].displacement_rate, 2.0 - 0.8 * G * t, atol=1e-8)
    assert hasattr(solution[joint], "angle") == (kind is Cylindrical)
    np.testing.assert_allclose(solution[joint].force @ axis, 0.0, atol=1e-8)


@pytest.mark.parametrize("node", NODES)
def test_balance_of_energy(node: str) -> None:
    """Springs, dampers and loads of every kind: the rate of the total energy is the power."""
    model = Model(gravity=(0, 0, -G))
    start = RotationVector((0, 0, -1.0), from_rotation_vector(np.array((0.3, 0.2, 0.1))), angular_velocity=(0, 1, 0.5))
    a = model.add(RigidBody("a", 2.0, (0.3, 0.4, 0.5), start, com=(0.1, 0.0, -0.1)))
    b = model.add(RigidBody("b", 1.0, (0.2, 0.2, 0.1), RotationVector((1, 0, -1), velocity=(0, 1, 0))))
    joint = model.add(Revolute(a, b, point_a=(0.5, 0, 0), point_b=(-0.5, 0, 0), axis=(0, 1, 0)))
    model.add(Spring(model.ground, a, (0, 0, 0), (0, 0.1, 0.3), stiffness=50.0, length=0.5, damping=2.0))
    model.add(TorsionSpring(joint, stiffness=5.0, damping=0.7, rest=0.2))
    model.add(Force(a, lambda t: (3.0 * np.cos(t), 0.0, 2.0), point=(0.2, 0, 0)))
    model.add(Force(b, (1.0, 2.0, 3.0), point=(0, 0.1, 0), frame="body"))
    model.add(Torque(a, (0.1, 0.2, 0.3), frame="body"))
    model.add(Torque(b, lambda t: (0.1, 0.2 * t, 0.3)))
    solution = simulate(with_consistent_start(model, node), 0.2, 100)
    total, power, h = solution.energy.total, solution.power, solution.t[1]
    rate = (total[:-4] - 8.0 * total[1:-3] + 8.0 * total[3:-1] - total[4:]) / (12.0 * h)
    np.testing.assert_allclose(rate, power[2:-2], atol=2e-4 * np.abs(power).max())
    assert np.abs(power).max() > 1.0
    views = [solution[force] for force in model.forces]
    stored = sum(view.energy for view in views)
    released = (stored[:-4] - 8.0 * stored[1:-3] + 8.0 * stored[3:-1] - stored[4:]) / (12.0 * h)
    np.testing.assert_allclose(sum(view.power for view in views)[2:-2] + released, power[2:-2], atol=1e-4)
    np.testing.assert_allclose(solution.energy.potential - stored, -gravity_work(solution), atol=1e-9)


def with_consistent_start(model: Model, node: str) -> Model:
    """Velocities by the joint: project M (v - v0) = 0 on B v = 0 by hand, in the node type that makes it easy."""
    system = assemble(model)
    q, v = system.initial_state()
    mass, jacobian = system.mass_matrix(q).toarray(), system.constraint_jacobian(q).toarray()
    correction = np.linalg.solve(mass, jacobian.T)
    v = v - correction @ np.linalg.solve(jacobian @ correction, jacobian @ v)
    for body in model.bodies:
        velocity = v[system.body_slices(body)[1]]
        body.node.velocity, body.node.angular_velocity = velocity[:3], velocity[3:]
    return model.with_nodes(NODES[node])


def gravity_work(solution: Solution) -> np.ndarray:
    gravity = solution.model.gravity
    return sum(body.mass * solution[body].com @ gravity for body in solution.model.bodies)


def test_spring_view() -> None:
    model = Model()
    a = model.add(PointMass("a", 1.0))
    b = model.add(RigidBody("b", 1.0, (1, 1, 1), Quaternion(position=(0, 2, 0), velocity=(0, 3, 0))))
    spring = model.add(Spring(a, b, point_b=(0, 1, 0), stiffness=10.0, length=2.5, damping=0.5))
    load = model.add(Force(b, (0, 0, 2.0), point=(1, 0, 0)))
    solution = at_rest(model)
    view = solution[spring]
    np.testing.assert_allclose(view.length, [3.0])
    np.testing.assert_allclose(view.force, [(0, -10.0 * 0.5 - 0.5 * 3.0, 0)], atol=ROUND_OFF)
    np.testing.assert_allclose(view.torque, np.zeros((1, 3)), atol=ROUND_OFF)
    np.testing.assert_allclose(view.energy, [1.25])
    np.testing.assert_allclose(view.power, [-6.5 * 3.0])
    np.testing.assert_allclose(solution[load].force, [(0, 0, 2.0)])
    np.testing.assert_allclose(solution[load].torque, [(0, -2.0, 0)])
    np.testing.assert_allclose(solution[load].energy, [0.0])
    assert not hasattr(solution[load], "length")
    assert not hasattr(view, "angle")
    np.testing.assert_allclose(solution.power, [-0.5 * 9.0])


def test_what_an_element_does_not_have_is_refused_by_name() -> None:
    """Also what a property refuses, which says it in its own words; and in a simulator."""
    model = Model("door")
    door = model.add(RigidBody("door", 2.0, (0.3, 0.2, 0.2), RotationVector((0.5, 0, 0))))
    model.add(Revolute(model.ground, door, at=(0, 0, 0), axis=(0, 0, 1), name="hinge"))
    model.add(Spring(model.ground, door, (0, 1, 0), stiffness=5.0, name="pull"))
    for views in (at_rest(model), mbd.Simulator(model, 0.01)):
        with pytest.raises(
            mbd.ModelError, match="revolute 'hinge' of .* has no 'angel'; it has .*did you mean 'angle'?"
        ):
            _ = views["hinge"].angel
        with pytest.raises(mbd.ModelError, match="spring 'pull' has no 'lenght'; it has .*did you mean 'length'?"):
            _ = views["pull"].lenght
        with pytest.raises(mbd.ModelError, match="revolute 'hinge' of .* leaves no displacement free"):
            _ = views["hinge"].displacement
        assert not hasattr(views["hinge"], "displacement") and not hasattr(views["door"], "angle")
