"""Motion of bodies, energies and momenta, in every parametrisation."""

from __future__ import annotations

import numpy as np
import pytest

from mbd import sensors
from mbd.bodies import Generalized, PointMass, RigidBody
from mbd.errors import ModelError
from mbd.forces import Force
from mbd.joints import Distance, Spherical
from mbd.model import Model
from mbd.nodes import Directors, RotationVector
from mbd.results.solution import Solution
from mbd.rotation import from_rotation_vector, hat
from mbd.system.system import assemble
from tests.results.runs import NODES, at_rest, simulate

ROUND_OFF = 1e-12
INTEGRATION = 1e-6  # of the RK4 runs below
GRAVITY = np.array((0.3, -1.0, -9.81))
COM = np.array((0.2, -0.1, 0.4))
MASS, INERTIA = 2.5, np.array(((0.5, 0.05, 0.0), (0.05, 0.6, -0.02), (0.0, -0.02, 0.7)))
POSITION, VELOCITY, OMEGA = np.array((1.0, 2.0, 3.0)), np.array((0.5, -0.3, 0.2)), np.array((0.7, -0.4, 1.1))
ROTATION = from_rotation_vector(np.array((0.4, 0.8, -0.5)))


def free_body(node: str, *, pinned: bool = False, gravity: np.ndarray = GRAVITY) -> Model:
    model = Model("free", gravity=gravity)
    velocity = np.zeros(3) if pinned else VELOCITY
    start = RotationVector(POSITION, ROTATION, velocity, OMEGA, pinned=pinned)
    model.add(RigidBody("body", MASS, INERTIA, start, com=COM))
    return model.with_nodes(NODES[node])


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("pinned", [False, True])
def test_initial_motion_and_energy(node: str, pinned: bool) -> None:
    solution = at_rest(free_body(node, pinned=pinned))
    body = solution["body"]
    velocity = np.zeros(3) if pinned else VELOCITY
    com = POSITION + ROTATION @ COM
    com_velocity = velocity + ROTATION @ np.cross(OMEGA, COM)
    np.testing.assert_allclose(body.position[0], POSITION, atol=ROUND_OFF)
    np.testing.assert_allclose(body.rotation[0], ROTATION, atol=ROUND_OFF)
    np.testing.assert_allclose(body.velocity[0], velocity, atol=ROUND_OFF)
    np.testing.assert_allclose(body.angular_velocity[0], OMEGA, atol=ROUND_OFF)
    np.testing.assert_allclose(body.com[0], com, atol=ROUND_OFF)
    np.testing.assert_allclose(body.point_velocity(COM)[0], com_velocity, atol=ROUND_OFF)
    kinetic = 0.5 * MASS * com_velocity @ com_velocity + 0.5 * OMEGA @ INERTIA @ OMEGA
    spin = ROTATION @ (INERTIA @ OMEGA)
    np.testing.assert_allclose(solution.energy.kinetic, kinetic, rtol=ROUND_OFF)
    np.testing.assert_allclose(solution.energy.potential, -MASS * GRAVITY @ com, rtol=ROUND_OFF)
    np.testing.assert_allclose(solution.momentum.linear[0], MASS * com_velocity, atol=ROUND_OFF)
    np.testing.assert_allclose(solution.momentum.angular[0], spin + np.cross(com, MASS * com_velocity), atol=1e-11)
    assert solution.constraint_error.position[0] < ROUND_OFF
    assert solution.constraint_error.velocity[0] < ROUND_OFF


@pytest.mark.parametrize("node", NODES)
def test_accelerations_of_a_free_body(node: str) -> None:
    """The centre of mass falls freely; Euler's equations hold about it."""
    body = at_rest(free_body(node))["body"]
    euler = np.linalg.solve(INERTIA, -np.cross(OMEGA, INERTIA @ OMEGA))
    np.testing.assert_allclose(body.angular_acceleration[0], euler, atol=ROUND_OFF)
    np.testing.assert_allclose(body.point_acceleration(COM)[0], GRAVITY, atol=1e-11)
    turning = hat(euler) + hat(OMEGA) @ hat(OMEGA)
    np.testing.assert_allclose(body.acceleration[0], GRAVITY - ROTATION @ turning @ COM, atol=1e-11)


@pytest.mark.parametrize("node", NODES)
def test_invariants_of_a_free_body(node: str) -> None:
    solution = simulate(free_body(node, gravity=np.zeros(3)), 0.5, 50)
    for values in (solution.energy.total, solution.momentum.linear, solution.momentum.angular):
        np.testing.assert_allclose(values, np.broadcast_to(values[0], values.shape), atol=INTEGRATION)
    assert solution.constraint_error.position.max() < INTEGRATION


def test_derivatives_belong_together() -> None:
    solution = simulate(free_body("rotation vector"), 0.1, 100)
    body, h = solution["body"], solution.t[1]
    rate = (body.position[2:] - body.position[:-2]) / (2 * h)
    np.testing.assert_allclose(rate, body.velocity[1:-1], atol=1e-5)
    rate = (body.velocity[2:] - body.velocity[:-2]) / (2 * h)
    np.testing.assert_allclose(rate, body.acceleration[1:-1], atol=1e-4)
    rate = (body.angular_velocity[2:] - body.angular_velocity[:-2]) / (2 * h)
    np.testing.assert_allclose(rate, body.angular_acceleration[1:-1], atol=1e-4)


def test_quaternions_are_continuous() -> None:
    model = Model()
    model.add(RigidBody("wheel", 1.0, (1, 1, 1), RotationVector(angular_velocity=(0, 0, 8.0))))
    quaternion = simulate(model, 2.0, 40)["wheel"].quaternion
    np.testing.assert_allclose(np.linalg.norm(quaternion, axis=1), 1.0, atol=ROUND_OFF)
    assert np.abs(np.diff(quaternion, axis=0)).max() < 0.5
    np.testing.assert_allclose(quaternion[-1], (np.cos(8.0), 0, 0, np.sin(8.0)), atol=1e-9)


def test_point_mass_and_generalized() -> None:
    model = Model(gravity=(0, 0, -10))
    point = model.add(PointMass("point", 2.0, (0, 0, 1), (3, 0, 0)))
    model.add(Generalized("oscillator", (0.5, 0.0), (0.0, 2.0), mass=(2.0, 3.0), potential=lambda q: 4.0 * q[0] ** 2))
    solution = at_rest(model)
    np.testing.assert_array_equal(solution[point].position, [(0, 0, 1)])
    np.testing.assert_array_equal(solution[point].com, [(0, 0, 1)])
    np.testing.assert_array_equal(solution[point].velocity, [(3, 0, 0)])
    np.testing.assert_allclose(solution[point].acceleration, [(0, 0, -10)], atol=ROUND_OFF)
    assert not hasattr(solution[point], "angular_velocity")
    for sensor, missing in ((sensors.Gyroscope, "angular_velocity"), (sensors.Accelerometer, "point_acceleration")):
        with pytest.raises(
            ModelError, match=f"point mass '{point.name}' has no '{missing}'; it has acceleration, com,"
        ):
            sensor(point)(solution)
    oscillator = solution["oscillator"]
    np.testing.assert_array_equal(oscillator.coordinates, [(0.5, 0.0)])
    np.testing.assert_array_equal(oscillator.velocities, [(0.0, 2.0)])
    np.testing.assert_allclose(oscillator.accelerations, [(-2.0, 0.0)], atol=ROUND_OFF)
    np.testing.assert_allclose(solution.energy.kinetic, 9.0 + 6.0)
    np.testing.assert_allclose(solution.energy.potential, 20.0 + 1.0)
    np.testing.assert_allclose(solution.momentum.linear, [(6.0, 0, 0)])
    np.testing.assert_allclose(solution.momentum.angular, [(0, 6.0, 0)])


def test_energy_of_generalized_is_constant() -> None:
    model = Model()
    mass = lambda q: np.array([[2.0 + np.cos(q[0]), 0.3], [0.3, 1.0]])  # noqa: E731
    model.add(Generalized("g", (0.5, 0.1), (0.3, 1.0), mass=mass, potential=lambda q: q[0] ** 2 + q[0] * q[1] ** 2))
    energy = simulate(model, 0.5, 50).energy
    np.testing.assert_allclose(energy.total, energy.total[0], atol=INTEGRATION)
    assert np.ptp(energy.kinetic) > 1e-2


def test_access_by_object_name_and_copy() -> None:
    model = free_body("quaternion")
    solution = at_rest(model)
    body = model["body"]
    twin = model.with_nodes(Directors)["body"]
    assert solution[body] is solution["body"] is solution[twin]
    assert len(solution) == 1
    np.testing.assert_array_equal(solution[model.ground].position, np.zeros((1, 3)))
    np.testing.assert_allclose(solution.frames(0)[1, :3], POSITION, atol=ROUND_OFF)
    with pytest.raises(ModelError, match="did you mean 'body'"):
        solution["boody"]
    with pytest.raises(ModelError, match="does not belong"):
        solution[Force(body, (0, 0, 0), name="body")]
    joint = model.add(Spherical(model.ground, body, at=(0, 0, 0)))
    with pytest.raises(ModelError, match="after this run"):
        solution[joint]


def test_results_are_read_only() -> None:
    solution = at_rest(free_body("quaternion"))
    for array in (solution["body"].position, solution.energy.total, solution["body"].rotation):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_a_defect_of_velocities_is_no_motion() -> None:
    """Accelerations and reactions of a mass on a rod, recorded with a velocity along the rod as well."""
    model = Model("rod")
    mass = model.add(PointMass("mass", 2.0, (1, 0, 0), (0, 3, 0)))
    rod = model.add(Distance(model.ground, mass))
    system = assemble(model)
    solution = Solution(system, [0.0, 1.0], [[1, 0, 0]] * 2, [[0, 3, 0], [0.5, 3, 0]], None, None)
    assert solution["mass"].acceleration == pytest.approx(np.array([[-9, 0, 0]] * 2), abs=ROUND_OFF)
    assert solution[rod].force == pytest.approx(np.array([[-18, 0, 0]] * 2), abs=ROUND_OFF)


def test_a_run_keeps_its_numbers_when_the_model_changes() -> None:
    model = free_body("quaternion")
    before, after = at_rest(model), at_rest(model)
    expected = {"com": before["body"].com, "energy": before.energy.total, "momentum": before.momentum.angular}
    body = model["body"]
    body.mass, body.com, body.inertia, body.position = 7.0, (1, 1, 1), (3, 3, 3), (9, 9, 9)
    model.gravity = (0, 0, 0)
    np.testing.assert_allclose(after["body"].com, expected["com"], atol=ROUND_OFF)
    np.testing.assert_array_equal(after.energy.total, expected["energy"])
    np.testing.assert_array_equal(after.momentum.angular, expected["momentum"])
