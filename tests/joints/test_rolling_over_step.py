"""Rolling in energy-momentum schemes: energy, momenta and contact to round-off, second order, moving planes."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import mbd
from mbd.integrators import RK6, GonzalezEM, Invariant, LieEM
from mbd.nodes import Directors, RotationVector
from tests.joints.test_rolling import ACROSS, ALONG, GRAVITY, LEAN, MASS, RADIUS, SPIN, TURN

SCHEMES = {"LieEM": (LieEM(), RotationVector), "GonzalezEM": (GonzalezEM(), Directors)}
EXACT = 1e-12  # relative, of energy and momenta over a run
TOUCHING = 1e-14  # m
T_END, NUMBERS = 2.0, (100, 200)


def wobbling_disk() -> mbd.Model:
    """The disk of the note on methods: its second axis is the spin axis, disturbed about both axes across it."""
    up, axis = np.array((0.0, 0.0, 1.0)), np.array((np.sin(LEAN), 0.0, np.cos(LEAN)))
    first = (up - (up @ axis) * axis) / np.sin(LEAN)
    rotation = np.column_stack((first, axis, np.cross(first, axis)))
    omega = rotation.T @ (TURN * up + SPIN * axis) + np.array((0.6, 0.0, 0.3))
    node = RotationVector(
        (0.0, 0.0, RADIUS * np.sin(LEAN)), rotation, np.cross(rotation @ omega, RADIUS * first), omega
    )
    model = mbd.Model("disk", gravity=(0, 0, -GRAVITY))
    disk = model.add(mbd.RigidBody("roller", MASS, (ACROSS, ALONG, ACROSS), node))
    model.add(mbd.joints.Rolling(model.ground, disk, radius=RADIUS, axis=axis, at=(0, 0, 0), name="contact"))
    return model


def tumbling_ball() -> mbd.Model:
    """A ball with three different moments of inertia."""
    rotation, spin = mbd.rotation((0.3, -0.5, 0.2)), np.array((3.0, -2.0, 4.0))
    velocity = np.cross(rotation @ spin, (0, 0, RADIUS))
    model = mbd.Model("ball", gravity=(0, 0, -GRAVITY))
    ball = model.add(
        mbd.RigidBody("roller", MASS, (0.16, 0.2, 0.26), RotationVector((0, 0, RADIUS), rotation, velocity, spin))
    )
    model.add(mbd.joints.Rolling(model.ground, ball, radius=RADIUS, at=(0, 0, 0), name="contact"))
    return model


def on_a_plate(disk: bool = True, gravity: float = 0.0) -> mbd.Model:
    """A disk or ball with an offset centre of mass on a plate that floats and turns; springs press them together."""
    model = mbd.Model("plate", gravity=(0, 0, -gravity))
    start = RotationVector(angular_velocity=(0.3, -0.2, 0.4), velocity=(0.1, 0.0, 0.2))
    plate = model.add(mbd.RigidBody("plate", 4.0, (1.0, 1.3, 2.0), start, com=(0.1, 0.0, -0.1)))
    start = RotationVector((0.1, 0.2, 0.3), velocity=(1.0, 0.5, 0.0), angular_velocity=(0.2, 3.0, 1.0))
    roller = model.add(mbd.RigidBody("roller", 1.0, (0.036, 0.05, 0.04), start, com=(0.02, 0.01, -0.03)))
    axis = {"axis": (0.0, 1.0, 0.3)} if disk else {}
    model.add(mbd.joints.Rolling(plate, roller, radius=0.3, at=(0, 0, 0), name="contact", **axis))
    model.add(mbd.forces.Spring(plate, roller, (0, 0, -1), (0, 0, 0), stiffness=20.0, length=0.5))
    return model


MODELS = {
    "disk": (wobbling_disk, T_END),
    "ball": (tumbling_ball, T_END),
    "disk on plate": (on_a_plate, 0.2),  # later on its motion is rough
    "ball on plate": (lambda: on_a_plate(False), 1.0),
}


def states(solution: mbd.Solution) -> tuple[np.ndarray, ...]:
    roller = solution["roller"]
    pose = np.concatenate((roller.position, roller.rotation.reshape(-1, 9)), axis=1)
    return pose, roller.velocity, solution["contact"].force


@cache
def reference(model: str) -> tuple[np.ndarray, ...]:
    build, t_end = MODELS[model]
    return states(mbd.simulate(build(), t_end, t_end / 2000, RK6(), output_step=t_end / 10))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_second_order_with_energy_and_contact_exact(scheme, model, tolerance):
    method, node = SCHEMES[scheme]
    build, t_end = MODELS[model]
    errors = []
    for n in NUMBERS:
        solution = mbd.simulate(build().with_nodes(node), t_end, t_end / n, method, output_step=t_end / 10)
        errors.append([np.abs(x - y).max() for x, y in zip(states(solution), reference(model), strict=True)])
        assert np.ptp(solution.energy.total) < EXACT * np.abs(solution.energy.total).max()
        assert solution.constraint_error.position.max() < TOUCHING
    steps = 1.0 / np.array(NUMBERS)
    for x in np.transpose(errors):
        assert mbd.testing.observed_order(x, steps) == pytest.approx(2.0, abs=tolerance.order)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_errors_of_an_independent_implementation(scheme):
    """Largest entry of the frame at the end, with 50 and 400 steps."""
    method, node = SCHEMES[scheme]
    exact = mbd.simulate(wobbling_disk(), T_END, T_END / 3000, RK6()).frames(-1)
    for n, known in ((50, 4.2e-2), (400, 6.5e-4)):
        found = mbd.simulate(wobbling_disk().with_nodes(node), T_END, T_END / n, method).frames(-1)
        assert np.abs(found - exact).max() == pytest.approx(known, rel=0.03)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_hundred_seconds(scheme):
    """Energy stays, and the slip at the records is a constant alternating defect: rows hold on average over a step."""
    method, node = SCHEMES[scheme]
    solution = mbd.simulate(wobbling_disk().with_nodes(node), 100.0, 0.02, method)
    energy, slip = solution.energy.total, solution.constraint_error.velocity
    assert np.abs(energy - energy[0]).max() < EXACT * energy[0]
    assert slip[-500:].max() < 1.1 * slip[:500].max() < 0.03
    assert solution.constraint_error.position.max() < TOUCHING


@pytest.mark.parametrize("disk", [True, False], ids=["disk", "ball"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_floating_plane_keeps_both_momenta(scheme, disk):
    method, node = SCHEMES[scheme]
    model = on_a_plate(disk).with_nodes(node)
    kept = method.preserves(mbd.assemble(model))
    assert {Invariant.ENERGY, Invariant.LINEAR_MOMENTUM, Invariant.ANGULAR_MOMENTUM} <= kept
    momentum = mbd.simulate(model, 2.0, 0.02, method).momentum
    for x in momentum:
        assert np.abs(x - x[0]).max() < EXACT * np.linalg.norm(x[0])


def test_bicycle_keeps_its_energy():
    """Two wheels, and hinges between them: loses 5e-6 with generalized-alpha at this step."""
    benchmark = mbd.benchmarks.bicycle()
    errors = []
    for h in (0.02, 0.01):
        solution = benchmark.simulate(step=h, integrator=LieEM())
        assert np.ptp(solution.energy.total) < EXACT * np.abs(solution.energy.total).max()
        errors.append(benchmark.error(solution))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)
