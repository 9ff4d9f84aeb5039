"""Runge-Kutta-Nystrom splittings: coefficients, orders, forces of time, round-off, restarts, refusals."""

from __future__ import annotations

from math import factorial

import numpy as np
import pytest

import mbd
from mbd.integrators import RK6, Invariant, JacobiExact, MoserVeselov, SRKN6b, SRKN11b, SRKN14a
from mbd.integrators.rigid_body.stages import SRKN6B, SRKN11B, SRKN14A, STRANG_STAGES
from mbd.testing import observed_order
from tests.integrators.rigid_body.models import body, coupled, frames, heavy_top
from tests.integrators.rigid_body.test_forces import loaded

ROUND_OFF = 1e-15
METHODS = [SRKN6b(), SRKN11b(), SRKN14a()]
LONG_ENERGY = 4e-15  # relative, over a million flows


@pytest.mark.parametrize(("table", "order"), ((STRANG_STAGES, 2), (SRKN6B, 4), (SRKN11B, 6), (SRKN14A, 6)))
def test_conditions_of_linear_forces(table, order):
    """x'' = -x: the product of all kicks and flows is that of the exact solution up to the order, to round-off."""
    terms = order + 1
    polynomials = np.zeros((2, 2, terms))  # of (x, v) in the step
    polynomials[0, 0, 0] = polynomials[1, 1, 0] = 1.0

    def shear(target: int, source: int, c: float) -> None:
        polynomials[target, :, 1:] += c * polynomials[source, :, :-1]

    for k, kick in enumerate(table.kicks):
        shear(1, 0, -kick)
        if k < len(table.flows):
            shear(0, 1, table.flows[k])
    exact = np.array([(1.0, 0.0, -1.0, 0.0)[n % 4] / factorial(n) for n in range(terms)])
    np.testing.assert_allclose(polynomials[0, 0], exact, atol=ROUND_OFF, rtol=0)
    np.testing.assert_allclose(polynomials[1, 1], exact, atol=ROUND_OFF, rtol=0)
    sine = np.array([(0.0, 1.0, 0.0, -1.0)[n % 4] / factorial(n) for n in range(terms)])
    np.testing.assert_allclose(polynomials[0, 1], sine, atol=ROUND_OFF, rtol=0)


@pytest.mark.parametrize("table", (SRKN6B, SRKN11B, SRKN14A))
def test_coefficients_are_palindromes_that_sum_to_one(table):
    for part in (table.kicks, table.flows):
        np.testing.assert_array_equal(part, part[::-1])
        assert part.sum() == pytest.approx(1.0, abs=ROUND_OFF)
    assert table.reached[-1] == 1.0 and table.reached.min() > 0.0 and table.reached.max() == 1.0  # inside the step


@pytest.mark.parametrize("build", (coupled, loaded))
def test_order_with_coupled_bodies(build, tolerance):
    """Springs between free, pinned and jointed bodies; loads in time and body axes; frames and reactions."""
    model = build()
    reference = mbd.simulate(model.with_nodes(mbd.nodes.RotationVector), 2.0, 0.004, RK6())
    exact = frames(reference)
    cases = (
        (SRKN6b(), (0.1, 0.05, 0.025)), (SRKN6b(MoserVeselov(order=4)), (0.1, 0.05, 0.025)),
        (SRKN11b(MoserVeselov(order=6)), (0.2, 0.1, 0.05)), (SRKN14a(JacobiExact()), (0.1, 0.0625, 0.05)),
    )  # fmt: skip
    for method, steps in cases:
        runs = [mbd.simulate(model, 2.0, h, method) for h in steps]
        errors = [np.abs(frames(run) - exact).max() for run in runs]
        assert observed_order(errors, steps) == pytest.approx(method.order, abs=3 * tolerance.order)
        forces = [np.abs(run["pivot"].force[-1] - reference["pivot"].force[-1]).max() for run in runs]
        assert observed_order(forces, steps) > method.order - 3 * tolerance.order


@pytest.mark.parametrize(("method", "step"), ((SRKN6b(), 1.0 / 160), (SRKN14a(), 1.0 / 64)), ids=("6b", "14a"))
def test_energy_of_a_top_stays_at_round_off(method, step):
    """Rounding errors of all flows and kicks are carried: a million flows. The error of order four does not grow."""
    solution = mbd.simulate(heavy_top(), 1000.0, step, method, output_step=1.0)
    energy = solution.energy.total / solution.energy.total[0]
    assert abs(np.polyfit(solution.t / 1000.0, energy, 1)[0]) < LONG_ENERGY
    assert np.abs(energy - 1.0).max() < (LONG_ENERGY if method.order == 6 else 3e-13)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_restart_thinned_output_and_files(method, tmp_path):
    model = coupled()
    whole = mbd.simulate(model, 2.0, 0.1, method)
    half = mbd.simulate(model, 1.0, 0.1, method)
    half.save(tmp_path / "half.npz")
    for start in (half, mbd.load(tmp_path / "half.npz")):
        np.testing.assert_array_equal(mbd.simulate(model, 2.0, 0.1, method, start=start).q, whole.q[10:])
    thinned = mbd.simulate(model, 2.0, 0.1, method, output_step=0.5)
    np.testing.assert_array_equal(thinned.q, whole.q[::5])


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_step_back_undoes_a_step(method):
    model = coupled()
    system = mbd.assemble(model)
    q, v = system.initial_state()
    there = method.start(system, q, v, 0.0, 0.1, None)
    there.advance(5, 6, [np.zeros((1, len(y))) for y in there.initial_row()])
    back = method.start(system, there.x.q.copy(), there.x.v.copy(), 0.5, -0.1, None)
    back.advance(5, 6, [np.zeros((1, len(y))) for y in back.initial_row()])
    np.testing.assert_allclose(back.x.q, q, atol=1e-13, rtol=0)
    np.testing.assert_allclose(back.x.v, v, atol=1e-13, rtol=0)


def test_declarations_and_refusals():
    assert Invariant.SYMPLECTIC in SRKN14a(JacobiExact()).preserves(mbd.assemble(coupled()))
    assert Invariant.SYMPLECTIC not in SRKN14a().preserves(mbd.assemble(coupled()))
    with pytest.raises(mbd.ModelError, match="SRKN11b: method is .* of order 4; expected order 6 at least"):
        SRKN11b(MoserVeselov(order=4))
    model = coupled()
    model.add(mbd.forces.Spring(model["a"], model["b"], stiffness=1.0, damping=0.1, name="damper"))
    with pytest.raises(mbd.IncompatibleError, match="force 'damper' depends on velocities"):
        mbd.simulate(model, 1.0, 0.1, SRKN6b())
    fast = body((0.5, 0.5, 0.8), (20.0, 0.0, 0.0))
    with pytest.raises(mbd.ConvergenceError, match=r"turns by [0-9.]+ rad in 0\.6 of a step of 0\.5.*take steps below"):
        mbd.simulate(fast, 1.0, 0.5, SRKN6b())
