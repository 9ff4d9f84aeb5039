"""Rolling in all methods for constrained systems: orders, no slip, closed solutions, energy, momenta, compositions."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import mbd
from mbd.integrators import (
    GGLEM,
    RK6,
    BLieDF,
    Composition,
    DiscreteVariational,
    GGLEuler,
    GGLMidpoint,
    GGLTrapezoidal,
    HamiltonianEM,
    HamiltonianMidpoint,
    Invariant,
    LivensEM,
    LivensMidpoint,
    Lobatto,
    Rattle,
    RATTLie,
    Shake,
)
from mbd.nodes import Quaternion, RotationVector
from tests.integrators.convergence import observed
from tests.joints.test_rolling_over_step import on_a_plate, tumbling_ball
from tests.joints.test_rolling_over_step import wobbling_disk as disk

RADIUS = 0.5
EXACT = 1e-12  # tolerance of Newton's method
TIGHT = 1e-13  # the same for errors of compositions
NO_SLIP = 1e-11  # m/s
KEPT = 1e-11  # relative, of energy
BUILD = {"disk": disk, "ball": tumbling_ball, "ball on a plate": lambda: on_a_plate(False)}
NO_SLIP_AT_RECORDS: list[Any] = [
    RATTLie(tolerance=EXACT), Rattle(tolerance=EXACT), DiscreteVariational(tolerance=EXACT), GGLEM(tolerance=EXACT),
]  # fmt: skip
SLIP_ON_AVERAGE: list[Any] = [
    LivensEM(), LivensEM(reduction="none"), LivensEM(reduction="nullspace"), HamiltonianEM(),
    LivensMidpoint(tolerance=EXACT), HamiltonianMidpoint(tolerance=EXACT), GGLMidpoint(tolerance=EXACT),
]  # fmt: skip
BACKWARD: list[Any] = [BLieDF(k=2), BLieDF(k=3), BLieDF(k=3, stabilized=False)]


def name(method: Any) -> str:
    return repr(method).replace("tolerance=1e-12, ", "")


@cache
def exact(model: str, t_end: float) -> list[np.ndarray]:
    return observed(mbd.simulate(BUILD[model](), t_end, 1e-3, RK6(), output_step=t_end / 10))


def errors(model: str, method: Any, t_end: float, numbers: tuple[int, ...]) -> tuple[np.ndarray, list[mbd.Solution]]:
    """Largest errors (steps, quantities) of poses, velocities and reactions, and the runs."""
    runs = [mbd.simulate(BUILD[model](), t_end, t_end / n, method, output_step=t_end / 10) for n in numbers]
    found = [
        [np.abs(x - y)[1:].max() for x, y in zip(observed(s), exact(model, t_end), strict=True)] for s in runs
    ]  # fmt: skip
    return np.array(found), runs


def orders(found: np.ndarray, numbers: tuple[int, ...]) -> list[float]:
    return [mbd.testing.observed_order(x, 1.0 / np.array(numbers)) for x in found.T]


@pytest.mark.parametrize("model", BUILD)
@pytest.mark.parametrize("method", NO_SLIP_AT_RECORDS, ids=name)
def test_second_order_and_no_slip(method, model, tolerance):
    numbers = (50, 100)
    found, runs = errors(model, method, 1.0, numbers)
    assert orders(found, numbers) == pytest.approx([2.0, 2.0, 2.0], abs=tolerance.order)
    for solution in runs:
        assert solution.constraint_error.position.max() < EXACT
        assert solution.constraint_error.velocity.max() < NO_SLIP


@pytest.mark.parametrize("model", ["disk", "ball on a plate"])
@pytest.mark.parametrize("method", SLIP_ON_AVERAGE, ids=name)
def test_second_order_with_rows_that_hold_over_a_step(method, model):
    """Velocities at the records alternate about those that do not slip, so that their errors are no clean powers."""
    numbers = (50, 200)
    found, runs = errors(model, method, 1.0, numbers)
    assert min(orders(found, numbers)) > 1.75
    slip = [solution.constraint_error.velocity.max() for solution in runs]
    assert slip[1] < 0.15 * slip[0]


@pytest.mark.parametrize("method", BACKWARD, ids=name)
def test_backward_differences(method):
    """Order k of poses, velocities and reactions; index 2 does not slip at the records."""
    numbers = (100, 200)
    found, runs = errors("disk", method, 1.0, numbers)
    assert orders(found, numbers) == pytest.approx([method.k] * 3, abs=0.15)
    if method.stabilized:
        assert runs[-1].constraint_error.velocity.max() < NO_SLIP


@pytest.mark.parametrize("method", [GGLTrapezoidal(), GGLEuler()], ids=name)
def test_first_order_methods(method):
    numbers = (100, 200)
    found, _ = errors("ball on a plate", method, 1.0, numbers)
    assert orders(found, numbers) == pytest.approx([1.0, 1.0, 1.0], abs=0.1)


def test_shake_moves_as_rattle():
    """Velocities of SHAKE slip by an error of second order."""
    slow, runs = errors("ball", Shake(tolerance=EXACT), 1.0, (50, 100))
    same = errors("ball", Rattle(tolerance=EXACT), 1.0, (50, 100))[1]
    for a, b in zip(runs, same, strict=True):
        assert a["roller"].position == pytest.approx(b["roller"].position, abs=1e-9)
    assert orders(slow, (50, 100))[1] == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("method", [Rattle, RATTLie, DiscreteVariational, GGLEM])
def test_compositions_have_order_four(method):
    """A step is a symmetric map of coordinates and velocities that do not slip; that of GGLEM keeps the energy."""
    numbers = (20, 40)
    found, runs = errors("disk", Composition(method(tolerance=TIGHT)), 1.0, numbers)
    assert orders(found, numbers) == pytest.approx([4.0, 4.0, 4.0], abs=0.1)
    assert runs[-1].constraint_error.velocity.max() < NO_SLIP
    if method is GGLEM:
        energy = runs[-1].energy.total
        assert np.ptp(energy) < KEPT * energy[0]


def ball(slope: float) -> mbd.Model:
    """A solid ball that starts at rest on a slope (gravity leans)."""
    model = mbd.Model("ball", gravity=9.81 * np.array((np.sin(slope), 0, -np.cos(slope))))
    body = model.add(mbd.RigidBody("ball", 2.0, 2.0 * 0.4 * RADIUS**2 * np.ones(3), RotationVector((0, 0, RADIUS))))
    model.add(mbd.joints.Rolling(model.ground, body, radius=RADIUS, name="contact"))
    return model


@pytest.mark.parametrize("method", [*NO_SLIP_AT_RECORDS, LivensEM(), LivensMidpoint(), BLieDF()], ids=name)
def test_ball_on_a_slope(method):
    """Five sevenths of the acceleration of a sliding body, two sevenths of its weight along the slope as friction."""
    slope, h = 0.3, 0.02
    solution = mbd.simulate(ball(slope), 1.0, h, method)
    along = 9.81 * np.sin(slope)
    exactly = isinstance(method, RATTLie | BLieDF)  # straight rolling is uniformly accelerated rotation
    found, expected = solution["ball"].position[:, 0], 0.5 * 5.0 / 7.0 * along * solution.t**2
    assert found == pytest.approx(expected, abs=1e-8 if exactly else 1e-2)
    assert np.abs(solution["contact"].force[-1, 0]) == pytest.approx(2.0 / 7.0 * 2.0 * along, rel=1e-8)


@pytest.mark.parametrize("method", [RATTLie(), Rattle(), DiscreteVariational()], ids=name)
def test_energy_of_a_long_run(method):
    """The disk for 40 s: errors of second order that do not grow; the form is not claimed to be symplectic."""
    kept = method.preserves(mbd.assemble(disk()))
    assert Invariant.SYMPLECTIC not in kept and Invariant.VELOCITY_CONSTRAINTS in kept
    energy = mbd.simulate(disk(), 40.0, 0.02, method).energy.total
    error = np.abs(energy / energy[0] - 1.0)
    assert error[:200].max() < 2e-3
    assert error[-200:].max() < 1.2 * error[:200].max()


@pytest.mark.parametrize("method", [GGLEM(tolerance=EXACT), HamiltonianEM()], ids=name)
def test_energy_is_exact(method):
    """With a spring and a plane that moves; GGLEM slips neither over a step nor at its ends."""
    assert Invariant.ENERGY in method.preserves(mbd.assemble(on_a_plate()))
    energy = mbd.simulate(on_a_plate(), 0.2, 0.002, method).energy.total
    assert np.ptp(energy) < KEPT * np.abs(energy).max()


def test_generalized_energy_of_livens():
    """What LivensEM keeps on quaternions, with rolling as well."""
    method = LivensEM()
    solution = mbd.simulate(disk().with_nodes(Quaternion(lie=False)), 1.0, 0.01, method)
    energy = method.invariants(solution)["generalized energy"]
    assert np.ptp(energy) < KEPT * energy[0]


@pytest.mark.parametrize("method", NO_SLIP_AT_RECORDS, ids=name)
def test_restart_goes_on_bit_for_bit(method):
    whole = mbd.simulate(disk(), 0.2, 0.01, method)
    rest = mbd.simulate(disk(), 0.2, 0.01, method, start=mbd.simulate(disk(), 0.1, 0.01, method))
    assert np.array_equal(whole.q[-1], rest.q[-1])


@pytest.mark.parametrize("method", NO_SLIP_AT_RECORDS[:2], ids=name)
def test_momenta_on_a_plate_that_floats(method):
    """Friction acts and reacts at one place: linear and angular momentum of both are exact."""
    model = on_a_plate(False)
    kept = method.preserves(mbd.assemble(model))
    assert {Invariant.LINEAR_MOMENTUM, Invariant.ANGULAR_MOMENTUM} <= kept
    for x in mbd.simulate(model, 1.0, 0.01, method).momentum:
        assert np.abs(x - x[0]).max() < KEPT * np.linalg.norm(x[0])


def test_momenta_of_gglem_are_nearly_kept():
    """The multipliers gamma' of rolling push along the step, by an error of higher order; momenta are not claimed."""
    method, model = GGLEM(tolerance=EXACT), on_a_plate(False)
    kept = method.preserves(mbd.assemble(model))
    assert Invariant.ENERGY in kept and not kept & {Invariant.LINEAR_MOMENTUM, Invariant.ANGULAR_MOMENTUM}
    drift = [np.abs(np.diff(mbd.simulate(model, 1.0, h, method).momentum.linear, axis=0)).sum() for h in (0.02, 0.01)]
    assert drift[1] < 0.3 * drift[0] < 1e-5


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_bicycle_in_joint_coordinates(coordinates):
    """Two wheels that roll, three hinges: as constraints, or as what carries the bodies."""
    benchmark = mbd.benchmarks.bicycle()
    found = []
    for h in (0.02, 0.01):
        model = benchmark.model.with_coordinates(coordinates)
        solution = mbd.simulate(model, 2.0, h, DiscreteVariational())
        assert solution.constraint_error.velocity.max() < NO_SLIP
        found.append(solution)
    fine = mbd.simulate(benchmark.model, 2.0, 1e-3, RK6(), output_step=2.0)
    frames = [np.abs(s["rear frame"].position[-1] - fine["rear frame"].position[-1]).max() for s in found]
    assert np.log2(frames[0] / frames[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("model", BUILD)
def test_lobatto_has_order_four(model):
    """The integrals of the slip vanish; with no slip at the stages themselves the order would be two."""
    numbers = (50, 100)
    found, runs = errors(model, Lobatto(tolerance=EXACT), 1.0, numbers)
    assert orders(found, numbers) == pytest.approx([4.0, 4.0, 4.0], abs=0.1)
    for solution in runs:
        assert solution.constraint_error.position.max() < EXACT
        assert solution.constraint_error.velocity.max() < NO_SLIP
