"""Methods that are written for certain coordinates, on all others: the same motion, in the coordinates of the model."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import mbd
from mbd.integrators import (
    GGLEM,
    DiscreteVariational,
    GGLEuler,
    GGLMidpoint,
    GGLTrapezoidal,
    GonzalezEM,
    HamiltonianEM,
    HamiltonianMidpoint,
    Invariant,
    LieEM,
    LivensEM,
    LivensMidpoint,
    Lobatto,
    Rattle,
    Shake,
)
from mbd.nodes import Directors, EulerAngles, Quaternion, RotationVector
from tests.integrators.models import NODES, random_nodes

ON_DIRECTORS = (GGLEM(), GGLMidpoint(), GGLTrapezoidal(), GGLEuler(), GonzalezEM(), Rattle(), Shake(), Lobatto())
ON_QUATERNIONS = (
    DiscreteVariational(), LivensEM(), LivensEM(reduction="nullspace"), LivensMidpoint(), HamiltonianEM(),
    HamiltonianMidpoint(),
)  # fmt: skip
METHODS = [
    *((method, Directors) for method in ON_DIRECTORS),
    *((method, Quaternion) for method in ON_QUATERNIONS),
    (LieEM(), Quaternion(lie=True)),
]
STRETCHING = ("GGLMidpoint", "GGLTrapezoidal", "GGLEuler", "GonzalezEM", "Shake")  # velocities of directors
ROUND_OFF = 1e-11  # relative, of conversions back and forth
every_method = pytest.mark.parametrize(("method", "own"), METHODS, ids=lambda x: getattr(x, "name", ""))


def pendulum(node, point=True) -> mbd.Model:
    """Two bodies, the second with its reference point off the centre of mass, and a point mass on a spring."""
    model = mbd.Model("pendulum", gravity=(0, 0, -9.81))
    a = model.add(mbd.RigidBody(
        "a", mass=1.0, inertia=(0.02, 0.03, 0.04),
        node=node(position=(0.5, 0, 0), angular_velocity=(1.0, 2.0, 3.0), velocity=(0.0, 1.5, -1.0)),
    ))  # fmt: skip
    b = model.add(mbd.RigidBody(
        "b", mass=2.0, inertia=(0.05, 0.03, 0.04), com=(0.1, 0, 0), node=node(position=(1.0, 0, 0)),
    ))  # fmt: skip
    model.add(mbd.joints.Spherical(model.ground, a, at=(0, 0, 0), name="pivot"))
    model.add(mbd.joints.Revolute(a, b, at=(1.0, 0, 0), axis=(0, 1, 0), name="hinge"))
    if point:
        c = model.add(mbd.PointMass("c", 0.5, (1.5, 0, -0.5)))
        model.add(mbd.forces.Spring(b, c, stiffness=30.0))
    return model


def spinning(pinned: bool = False) -> mbd.Model:
    """A free or pinned body that turns several times about all axes."""
    model = mbd.Model("spinning")
    node = RotationVector(angular_velocity=(4, 9, 5), pinned=pinned, rotation=mbd.rotation(axis=(1, 0, 0), angle=0.4))
    model.add(mbd.RigidBody("body", 1.0, (0.3, 0.2, 0.4), node, com=(0, 0.1, 0)))
    return model


def near(x, y) -> bool:
    return bool(np.abs(x - y).max() <= ROUND_OFF * (1.0 + np.abs(y).max()))


@every_method
def test_same_motion_as_in_the_coordinates_of_the_method(method, own):
    """On every kind of node: poses, momenta, energies and reactions; velocities as far as directors are rigid."""
    given = pendulum(RotationVector)
    expected = mbd.simulate(given.with_nodes(own), 0.1, 0.01, method)
    assert not expected.notes
    skewed = method.name == "GGLMidpoint"  # frames at the ends of its steps are not orthonormal
    for node in NODES.values():
        model = given.with_nodes(node)
        if not method.notes(mbd.assemble(model)):
            continue
        found = mbd.simulate(model, 0.1, 0.01, method)
        assert found.q.shape[1] == found.system.n_q
        for body in "abc":
            assert near(found[body].position, expected[body].position)
        if isinstance(method, LivensEM):  # which has a velocity along the quaternion
            continue
        assert near(found.momentum.linear, expected.momentum.linear)
        assert near(found.momentum.angular, expected.momentum.angular)
        if not skewed:
            assert near(found["b"].rotation, expected["b"].rotation)
            assert near(found["hinge"].force, expected["hinge"].force)
        if method.name not in STRETCHING:
            assert near(found["b"].angular_velocity, expected["b"].angular_velocity)
        if Invariant.ENERGY in method.preserves(found.system):
            assert near(found.energy.total, expected.energy.total)
            assert np.ptp(found.energy.total) < 1e-8
    assert found.notes == [
        f"{method.name} stepped 'a', 'b' in {_text(own)}; they are recorded in their own coordinates"
    ]


def _text(node) -> str:
    return node.__name__ if isinstance(node, type) else f"{node}(lie=True)"


@every_method
def test_restarts_are_bit_identical(method, own, tmp_path):
    model = random_nodes(pendulum(RotationVector), 3)
    whole = mbd.simulate(model, 0.1, 0.01, method, output_step=0.03)
    half = mbd.simulate(model, 0.05, 0.01, method, output_step=0.03)
    half.save(tmp_path / "half.npz")
    rest = mbd.simulate(model, 0.1, 0.01, method, start=mbd.load(tmp_path / "half.npz"))
    for part in ("q", "v", "turns"):
        assert np.array_equal(getattr(rest, part)[-1], getattr(whole, part)[-1])


@pytest.mark.parametrize("method", [GGLEM(), LieEM(), DiscreteVariational()], ids=lambda method: method.name)
@pytest.mark.parametrize("node", [Quaternion(), EulerAngles(), RotationVector(lie=False)], ids=str)
@pytest.mark.parametrize("pinned", (False, True))
def test_coordinates_go_on_from_record_to_record(method, node, pinned):
    """Signs of quaternions and turns of angles: the first record is what was given, and interpolation works."""
    model = spinning(pinned).with_nodes(node)
    if isinstance(node, EulerAngles):
        model["body"].node = EulerAngles(
            rotation=mbd.rotation(axis=(1, 0, 0), angle=0.4),
            angular_velocity=(9, 1, 0.5),
            pinned=pinned,
            sequence="xyz",
        )
    solution = mbd.simulate(model, 1.2, 0.01, method)
    system = solution.system
    start = mbd.consistent_start(system)
    assert np.array_equal(solution.q[0], start.q)
    assert np.array_equal(solution.v[0], start.v)
    if not isinstance(node, RotationVector):  # whose native records change their charts as well
        k = 0 if pinned else 3
        rates = (solution.q[1:] - solution.q[:-1])[:, k:] / 0.01
        assert np.abs(rates - 0.5 * (solution.v[1:] + solution.v[:-1])[:, k:]).max() < 0.1 * np.abs(rates).max()
        assert np.abs(solution.q[:, k:]).max() > (6.0 if isinstance(node, EulerAngles) else 0.9)
    times = 0.005 + solution.t[:-1]
    fine = mbd.simulate(model, 1.2, 0.005, method)
    assert np.abs(solution.at(times)["body"].rotation - fine["body"].rotation[1::2]).max() < 0.02


def test_euler_angles_near_gimbal_lock_stop_the_run_where_the_records_end():
    model = mbd.Model("lock")
    model.add(mbd.RigidBody("wheel", 1.0, (1, 2, 3), EulerAngles(angular_velocity=(0, 2.0, 0), sequence="xyz")))
    h = np.pi / 4 / 100  # the second angle is a right one after 100 steps
    with pytest.raises(mbd.SingularityError, match="body 'wheel' came too close to gimbal lock") as caught:
        mbd.simulate(model, 150 * h, h, GGLEM())
    part = caught.value.solution
    assert len(part) == 100
    assert part.state["index"] == 99
    assert part.state["t"] == pytest.approx(part.t[-1])
    assert np.array_equal(part.state["q"], part.q[-1])
    assert len(mbd.simulate(model, 150 * h, h, LieEM(), output_step=75 * h)) == 3  # not recorded, not noticed


def test_mixtures_with_points_and_generalized_bodies():
    model, alone = pendulum(RotationVector).with_nodes({"a": EulerAngles, "b": Quaternion}), mbd.Model("alone")
    for one in (model, alone):
        one.add(mbd.Generalized("bead", [1.0, 0.0], [0.0, 1.0], mass=[[2.0, 0.0], [0.0, 1.0]]))
    for method in (DiscreteVariational(), LivensMidpoint(), HamiltonianEM(), Rattle(), GGLEM()):
        solution = mbd.simulate(model, 0.1, 0.01, method)
        bead = mbd.simulate(alone, 0.1, 0.01, method)["bead"]
        assert near(solution["bead"].coordinates, bead.coordinates)
        assert "bead" not in solution.notes[0]
    model.bodies[-1].mass = lambda q: [[2.0 + q[0] ** 2, 0.0], [0.0, 1.0]]
    with pytest.raises(mbd.IncompatibleError, match="node of body 'bead' is Generalized"):
        mbd.simulate(model, 0.1, 0.01, Rattle())


def test_events_and_copies():
    model = random_nodes(pendulum(RotationVector), 7)
    event = mbd.Event(lambda s: s["b"].position[:, 2] + 0.3, name="low")
    found = mbd.simulate(model, 0.5, 0.01, GGLEM(), events=event)
    expected = mbd.simulate(model.with_nodes(Directors), 0.5, 0.01, GGLEM(), events=event)
    assert [x.t for x in found.events] == pytest.approx([x.t for x in expected.events], abs=1e-7)
    assert len(found.events) > 0
    copy = pickle.loads(pickle.dumps(found))
    assert np.array_equal(copy.energy.total, found.energy.total)
    assert copy.notes == found.notes


def test_changed_models_have_twins_of_their_own():
    """A model that changes between two runs is not stepped as it was before."""
    model = pendulum(RotationVector)
    first = mbd.simulate(model, 0.05, 0.01, GGLEM())
    model["b"].mass = 5.0
    model.gravity = (0, 0, -1.6)
    second = mbd.simulate(model, 0.05, 0.01, GGLEM())
    expected = mbd.simulate(model.with_nodes(Directors), 0.05, 0.01, GGLEM())
    assert near(second["b"].position, expected["b"].position)
    assert np.abs(second["b"].position - first["b"].position).max() > 1e-3


def test_two_configurations_in_coordinates_of_the_model():
    model = spinning()
    exact = mbd.simulate(model, 0.01, 0.001, mbd.integrators.RK4())
    for node in (RotationVector(), EulerAngles(), Quaternion()):
        own = model.with_nodes(node)
        known = mbd.simulate(own, 0.01, 0.001, mbd.integrators.RK4())
        assert np.abs(known["body"].rotation - exact["body"].rotation).max() < 1e-8
        solution = mbd.simulate(own, 0.1, 0.01, DiscreteVariational(second=known.q[-1]))
        np.testing.assert_allclose(solution["body"].rotation[1], known["body"].rotation[-1], atol=1e-9)
        assert np.abs(solution["body"].angular_velocity[0] - (4, 9, 5)).max() < 0.05


def test_angular_acceleration_agrees_with_the_equations_of_motion():
    model = pendulum(RotationVector, point=False)
    exact = mbd.simulate(model, 0.2, 0.001, mbd.integrators.RK4())
    errors = []
    for h in (0.01, 0.005):
        solution = mbd.simulate(model, 0.2, h, HamiltonianEM())
        every = round(h / 0.001)
        errors.append(np.abs(solution["b"].angular_acceleration - exact["b"].angular_acceleration[::every])[5:].max())
    assert errors[1] < 0.6 * errors[0]
    assert errors[1] < 0.05 * np.abs(exact["b"].angular_acceleration).max()


def test_own_invariants_need_the_records_of_quaternions():
    solution = mbd.simulate(pendulum(RotationVector), 0.02, 0.01, LivensEM())
    with pytest.raises(mbd.ModelError, match="with_nodes"):
        solution.integrator.invariants(solution)


# --- joint coordinates ------------------------------------------------------------------------------------------------


def arm() -> mbd.Model:
    """A chain with every kind of tree joint, on mixed nodes, some of them held by their second body, and a point."""
    model = mbd.Model("arm", gravity=(0, 0, -9.81))
    last, place = model.ground, np.zeros(3)
    hinges = []
    for k, kind in enumerate(("Revolute", "Spherical", "Universal", "Cylindrical", "Prismatic")):
        node = (RotationVector, Directors, Quaternion)[k % 3](position=place + (0.3, 0, 0.1 * k))
        body = model.add(mbd.RigidBody(f"b{k}", 1.0 + 0.1 * k, (0.2, 0.3, 0.25), node, com=(0.05, 0, 0.02)))
        bodies = (body, last) if kind in ("Spherical", "Prismatic") else (last, body)
        geometry = {
            "Spherical": {"at": place},
            "Universal": {"at": place, "axis_a": (1, 0, 0), "axis_b": (0, 1, 0)},
            "Prismatic": {"axis": (0, 0, 1)},
        }.get(kind, {"at": place, "axis": (0, 1, 0.3)})
        hinges.append(model.add(getattr(mbd.joints, kind)(*bodies, **geometry, name=kind)))
        last, place = body, place + (0.6, 0, 0)
    model.add(mbd.forces.Spring(model.ground, last, (1, 1, 1), (0, 0, 0), stiffness=20.0, length=0.5))
    model.add(mbd.forces.TorsionSpring(hinges[0], stiffness=3.0))
    model.add(mbd.PointMass("point", 1.0, (0, 0, 3)))
    return model


@pytest.mark.parametrize(
    "method", [GGLEM(), Rattle(), LieEM(), GonzalezEM(), GGLMidpoint(), LivensEM()], ids=lambda method: method.name
)
def test_joint_coordinates(method):
    """The same motion as of the bodies; joint coordinates converge to those of a run in joint coordinates."""
    absolute = arm()
    model = absolute.with_coordinates("joint")
    expected = mbd.simulate(absolute, 0.1, 0.01, method)
    found = mbd.simulate(model, 0.1, 0.01, method)
    assert found.notes[0].endswith("they are recorded in joint coordinates")
    if not isinstance(method, GGLMidpoint):
        for body in absolute.bodies:
            assert near(found[body.name].position, expected[body.name].position)
        assert near(found["b4"].rotation, expected["b4"].rotation)
    if method.name in ("GGLEM", "Rattle"):
        assert near(found["b4"].velocity, expected["b4"].velocity)
        assert near(found["Universal"].force, expected["Universal"].force)
    if method.name in ("GGLEM", "LieEM", "GonzalezEM"):
        assert near(found.energy.total, expected.energy.total)
        assert Invariant.ENERGY in method.preserves(found.system)
    exact = mbd.simulate(model, 0.1, 0.001, mbd.integrators.RK4())
    fine = mbd.simulate(model, 0.1, 0.005, method)
    errors = [[np.abs(s.q - exact.q[::n]).max(), np.abs(s.v - exact.v[::n]).max()] for s, n in ((found, 10), (fine, 5))]
    orders = np.log2(np.divide(*errors))
    assert orders == pytest.approx([2.0, 2.0], abs=0.25)
    rest = mbd.simulate(model, 0.1, 0.01, method, start=mbd.simulate(model, 0.04, 0.01, method))
    assert np.array_equal(rest.q[-1], found.q[-1])
    assert np.array_equal(rest.v[-1], found.v[-1])


def test_angles_of_joints_are_counted_on():
    model = mbd.Model("wheel")
    wheel = model.add(mbd.RigidBody("wheel", 1.0, (0.1, 0.1, 0.1), RotationVector(angular_velocity=(0, 8, 0))))
    hinge = model.add(mbd.joints.Revolute(model.ground, wheel, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    model.add(mbd.forces.TorsionSpring(hinge, stiffness=0.05))
    tree = model.with_coordinates("joint")
    for method in (LieEM(), GGLEM()):
        solution = mbd.simulate(tree, 2.0, 0.02, method)
        own = mbd.simulate(tree, 2.0, 0.002, mbd.integrators.RK4())
        assert solution.q[:, 0].max() > 2.0 * np.pi
        assert np.abs(solution.q[:, 0] - own.q[::10, 0]).max() < 0.02
        assert np.ptp(solution.energy.total) < 1e-9


def motors():
    """A link with a slider on it, whose joints turn rotors of motors; the slider is the first body of its joint."""
    model = mbd.Model("motors", gravity=(0, 0, -9.81))
    spin = (0, 9.0, 0)
    at, far = (0.5, 0, 0), (1.3, 0, 0)
    nodes = [mbd.nodes.RotationVector(position=x, velocity=np.cross(spin, x), angular_velocity=spin) for x in (at, far)]
    link = model.add(mbd.RigidBody("link", 1.0, (0.1, 0.2, 0.3), nodes[0]))
    slider = model.add(mbd.RigidBody("slider", 0.7, (0.1, 0.2, 0.3), nodes[1]))
    hinge = model.add(mbd.joints.Revolute(model.ground, link, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    slide = model.add(mbd.joints.Prismatic(slider, link, at=(1, 0, 0), axis=(1, 0, 0), name="slide"))
    model.add(mbd.forces.Spring(link, slider, (0, 0, 0.1), (0, 0, 0.1), stiffness=300.0, length=0.8))
    model.add(mbd.forces.Motor(hinge, 0.0, gear=5.0, rotor_inertia=0.02))
    model.add(mbd.forces.Motor(slide, 0.0, gear=3.0, rotor_inertia=0.03))
    return model


@pytest.mark.parametrize("method", [LieEM(), Rattle()], ids=lambda method: method.name)
def test_rotors_on_the_coordinates_of_joints_turn_in_the_twin(method):
    """Second order beside a fine run in joint coordinates; as in absolute coordinates; restarts after a turn."""
    model = motors().with_coordinates("joint")
    fine, errors = mbd.simulate(model, 1.2, 1.2 / 4000, mbd.integrators.RK4(), output_step=1.2, progress=False), []
    for steps in (300, 600):
        found = mbd.simulate(model, 1.2, 1.2 / steps, method, progress=False)
        pairs = (found.q, fine.q), (found.v, fine.v), (found["hinge"].force, fine["hinge"].force)
        errors.append([np.abs(a[-1] - b[-1]).max() for a, b in pairs])
    assert found["hinge"].angle[-1] > 2.0 * np.pi
    np.testing.assert_allclose(np.log2(np.divide(*errors)), 2.0, atol=0.15)
    if isinstance(method, LieEM):
        assert np.ptp(found.energy.total) < 1e-9
    bodies = mbd.simulate(motors(), 1.2, 1.2 / 600, method, progress=False)
    for name, reading in {"hinge": "angle", "slide": "displacement"}.items():
        np.testing.assert_allclose(getattr(bodies[name], reading), getattr(found[name], reading), atol=1e-8)
    half = mbd.simulate(model, 1.0, 1.2 / 600, method, progress=False)
    rest = mbd.simulate(model, 1.2, 1.2 / 600, method, start=half, progress=False)
    np.testing.assert_array_equal(rest.q[-1], found.q[-1])
    # another start with the same state: angles of rotors are read off the coordinates
    again = mbd.simulate(mbd.model_at(half), 0.2, 1.2 / 600, method, progress=False)
    np.testing.assert_allclose(again.v[-1], found.v[-1], atol=2e-3 * np.abs(found.v[-1]).max())


def nut(stiffness: float = 20.0) -> mbd.Model:
    """A nut on a screw that turns five times a second, and a spring along it."""
    model, pitch, rate = mbd.Model("nut"), 0.1, 30.0
    node = Quaternion(angular_velocity=(0, 0, rate), velocity=(0, 0, pitch * rate / (2.0 * np.pi)))
    body = model.add(mbd.RigidBody("nut", 2.0, (0.3, 0.4, 0.5), node))
    model.add(mbd.joints.Screw(model.ground, body, at=(0, 0, 0), axis=(0, 0, 1), pitch=pitch, name="screw"))
    model.add(mbd.forces.Spring(model.ground, body, (0, 0, -1), stiffness=stiffness, length=1.0, name="spring"))
    return model.with_coordinates("joint")


@pytest.mark.parametrize("method", [LieEM(), Rattle(), LivensEM()], ids=lambda method: method.name)
def test_turns_between_two_records_are_counted(method):
    """Records that are several turns apart, or none at all, are those of a run with every step."""
    whole = mbd.simulate(nut(), 1.5, 1e-3, method, progress=False)
    assert whole["screw"].angle[-1] > 12.0 * np.pi
    few = mbd.simulate(nut(), 1.5, 1e-3, method, output_step=0.5, progress=False)
    np.testing.assert_array_equal(few.q, whole.q[::500])
    np.testing.assert_array_equal(few["nut"].position, whole["nut"].position[::500])
    for options in ({"record": False}, {"output_step": 0.5}):
        simulator = mbd.Simulator(nut(), 1e-3, method, **options)
        for _ in range(3):
            simulator.advance(0.5)
        np.testing.assert_array_equal(simulator["nut"].position, whole["nut"].position[-1])


@pytest.mark.parametrize("method", [LieEM(), Rattle()], ids=lambda method: method.name)
def test_a_screw_goes_on_after_a_change_of_the_model(method):
    """Its turns in the twin are those of the coordinate, not those of the first start."""
    model = nut()
    half = mbd.simulate(model, 1.0, 1e-3, method, progress=False)
    model["spring"].stiffness = 600.0
    rest = mbd.simulate(model, 1.5, 1e-3, method, start=half, progress=False)
    anew = mbd.simulate(mbd.model_at(half), 0.5, 1e-3, method, progress=False)
    exact = mbd.simulate(mbd.model_at(half), 0.5, 1e-3, mbd.integrators.RK6(), progress=False)
    for found in (rest, anew):
        assert abs(found["nut"].position[-1, 2] - exact["nut"].position[-1, 2]) < 2e-4


@pytest.mark.parametrize("carries", [False, True])
@pytest.mark.parametrize("output_step", (1e-3, 6e-3, 5e-2))
def test_signs_of_quaternions_go_on_between_thin_records(output_step, carries):
    """A free root in joint coordinates that turns five times a second: no record jumps to the other sign.

    With a hinge on it angles are followed from step to step as well.
    """
    model = mbd.Model("free")
    node = Quaternion(angular_velocity=(0, 0, 30.0), velocity=(0.1, 0, 0))
    root = model.add(mbd.RigidBody("root", 2.0, (0.3, 0.4, 0.5), node))
    if carries:
        wheel = model.add(mbd.RigidBody("wheel", 0.1, (0.01, 0.01, 0.01), Quaternion(angular_velocity=(0, 0, 31.0))))
        model.add(mbd.joints.Revolute(root, wheel, at=(0, 0, 0), axis=(0, 0, 1)))
    solution = mbd.simulate(model.with_coordinates("joint"), 0.6, 1e-3, Rattle(), output_step=output_step)
    parts = solution.q[:, 3:7]
    assert parts[:, 0].min() < -0.99  # it came to the other sign
    assert np.sum(parts[1:] * parts[:-1], axis=1).min() > np.cos(0.5 * 30.0 * output_step) - 1e-3
