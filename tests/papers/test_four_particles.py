"""Kinon, Betsch & Schneider 2023, Sec. 6.3: the four-particle system; and the top against the scheme BS99.

Exact values come from the index-1 form with DOP853 at 1e-13.
"""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import GGLEM, RK6, GGLEuler, GGLMidpoint, GGLTrapezoidal, GonzalezEM, LieEM
from tests.papers.kinon_models import TOP_LENGTH, TOP_MASS, bobenko_suris, four_particles, gyroscopic_top

POSITION = (0.996038797621044, 0.996270728713210, 0.117262174423064)  # of the fourth particle at t = 0.1
VELOCITY = (-0.078842872059892, -0.106403260992689, 1.163689653954348)
ENERGY, ANGULAR = 1.176470588235294, (2.0, -2.0, 0.0)
CONSERVED = 1e-9

# method: order of momenta (that of positions is two for all of them), keeps the energy
METHODS = {
    GGLEuler(): (1.0, False),
    GGLMidpoint(): (2.0, False),
    GGLTrapezoidal(): (1.0, False),
    GGLEM(): (2.0, True),
    GonzalezEM(): (2.0, True),
    LieEM(): (2.0, True),
}


def name(x):
    return x.name if isinstance(x, mbd.integrators.Integrator) else ""


@pytest.mark.parametrize("method", METHODS, ids=name)
def test_conservation(method):
    """All of them keep the momenta (Fig. 27), the energy-momentum schemes the energy too (Fig. 25)."""
    solution = mbd.simulate(four_particles(), 10.0, 0.01, method)
    assert solution.momentum.angular == pytest.approx(np.tile(ANGULAR, (1001, 1)), abs=CONSERVED)
    assert np.ptp(solution.momentum.linear, axis=0).max() < CONSERVED
    energy = solution.energy.total
    assert energy[0] == pytest.approx(ENERGY, abs=1e-14)
    if METHODS[method][1]:
        assert np.ptp(energy) < CONSERVED
    else:
        assert 1e-5 < np.ptp(energy) < 1e-2  # follows it without drifting away (Fig. 31)
    if isinstance(method, GGLEM):  # Fig. 24; EM-G holds the velocity constraints on average only (Fig. 23)
        assert solution.constraint_error.velocity.max() < CONSERVED
    if isinstance(method, GonzalezEM):
        assert solution.constraint_error.velocity.max() > 1e-6


@pytest.mark.parametrize("method", METHODS, ids=name)
def test_order(method, tolerance):
    """Positions are of second order with every scheme here, momenta of the order of the scheme (Figs. 28, 29)."""
    steps = (0.005, 0.0025, 0.00125)
    ends = [mbd.simulate(four_particles(), 0.1, h, method)["4"] for h in steps]
    position = [np.linalg.norm(end.position[-1] - POSITION) for end in ends]
    velocity = [np.linalg.norm(end.velocity[-1] - VELOCITY) for end in ends]
    assert np.log2(position[1] / position[2]) == pytest.approx(2.0, abs=tolerance.order)
    assert np.log2(velocity[1] / velocity[2]) == pytest.approx(METHODS[method][0], abs=tolerance.order)


@pytest.mark.parametrize("method", [GGLEM(), GonzalezEM()], ids=name)
def test_order_of_multipliers(method, tolerance):
    """Fig. 30: lambda of EM and EM-G is of first order, because it is that of the step; reactions are of second."""
    exact = mbd.simulate(four_particles(), 0.1, 1e-3, RK6()).lam[-1]
    runs = [mbd.simulate(four_particles(), 0.1, h, method) for h in (0.005, 0.0025, 0.00125)]
    for values, order in (([s.scheme["lambda"] for s in runs], 1.0), ([s.lam for s in runs], 2.0)):
        errors = [np.linalg.norm(x[-1] - exact) / np.linalg.norm(exact) for x in values]
        assert np.log2(errors[1] / errors[2]) == pytest.approx(order, abs=tolerance.order)


@pytest.mark.filterwarnings("ignore::mbd.AccuracyWarning")  # energies swing by a tenth
@pytest.mark.parametrize("method", [GGLEuler(), GGLTrapezoidal()], ids=name)
def test_first_order_methods_blow_up_at_large_steps(method):
    """Fig. 32: VI-S and VI-B fail at h = 0.05, after about half a second; h = 0.04 is stable."""
    with pytest.raises(mbd.ConvergenceError) as caught:
        mbd.simulate(four_particles(), 10.0, 0.05, method)
    assert caught.value.time < 1.0
    energy = mbd.simulate(four_particles(), 100.0, 0.04, method).energy.total
    assert energy.max() < 3.0


@pytest.mark.parametrize("guess", ["acceleration", "velocity", "position"])
@pytest.mark.parametrize("exponent", [9, 11, 13])
def test_midpoint_blows_up_later(guess, exponent):
    """Fig. 33: VI-A at h = 0.25 loses its energy at about t = 55; it grows slowly before.

    A step of this size has several solutions; that which is continued from small steps, the nearest one, is found by
    every first guess. Newton's method fails some time after the blow-up.
    """
    with pytest.raises(mbd.ConvergenceError) as caught:
        mbd.simulate(four_particles(), 100.0, 0.25, GGLMidpoint(guess=guess, tolerance=10.0**-exponent))
    t, energy = caught.value.solution.t, caught.value.solution.energy.total
    assert energy[t < 30.0].max() < 2.5
    assert 57.0 < t[np.argmax(energy > 20.0)] < 58.0
    momentum = caught.value.solution.momentum.angular[t < 57.0]
    assert np.abs(momentum - momentum[0]).max() < 100.0 * 10.0**-exponent + 1e-11


def test_smaller_steps_and_energy_momentum_do_not_blow_up():
    """Fig. 33: VI-A at h = 0.05 is stable; EM keeps the energy at 0.25."""
    assert mbd.simulate(four_particles(), 100.0, 0.05, GGLMidpoint()).energy.total.max() < 1.3
    for method in (GGLEM(), GonzalezEM()):
        assert np.ptp(mbd.simulate(four_particles(), 150.0, 0.25, method).energy.total) < 1e-7


def test_energy_momentum_is_stable_at_very_large_steps():
    """The largest step that the paper mentions, far beyond what resolves the motion: ten iterations per step."""
    energy = mbd.simulate(four_particles(), 500.0, 0.675, GGLEM(max_iterations=60)).energy.total
    assert np.abs(energy - ENERGY).max() < 1e-6


@pytest.mark.parametrize("guess, expected", [("position", 3.0), ("velocity", 2.0)])
@pytest.mark.parametrize("make", [GGLEuler, GGLMidpoint, GGLTrapezoidal, GGLEM], ids=lambda make: make.__name__)
def test_newton_iterations(make, guess, expected):
    """Table 2 counts 4 and 3, with the final check: 3 and 2 solutions of the linear system.

    The printed 4.305 and 3.207 of EM come from Greenspan's quotient as printed, which degenerates for small changes of
    the invariants; in its cancelled form EM needs no more iterations than the others.
    """
    stats = mbd.simulate(four_particles(), 10.0, 0.01, make(tolerance=1e-9, guess=guess)).stats
    assert stats["newton_iterations"] / stats["steps"] == pytest.approx(expected, abs=0.1)


# --- the top and BS99 ---------------------------------------------------------------------------------------------


def test_first_order_errors_of_the_top_are_those_of_bobenko_and_suris():
    """Fig. 18 and 19: VI-S and VI-B are as accurate in the height as the scheme for the Lagrange top, order one."""
    model = gyroscopic_top()
    height = model["top"].node.position[2]
    momentum = TOP_MASS * np.array((10.0 * TOP_LENGTH * np.sin(np.pi / 3.0), 0.0, 0.0))
    angle = 10.0 * 1e-3
    momentum = momentum[0] * np.array((np.cos(angle), np.sin(angle), 0.0))
    heights, momenta = [], []
    for h in (1e-4, 5e-5):
        position, p = bobenko_suris(1e-3, h)
        heights.append(abs(position[2] / height - 1.0))
        momenta.append(np.linalg.norm(p - momentum) / np.linalg.norm(momentum))
    assert heights[0] == pytest.approx(8.656e-6, rel=2e-3)
    assert np.log2(heights[0] / heights[1]) == pytest.approx(1.0, abs=0.02)
    assert np.log2(momenta[0] / momenta[1]) == pytest.approx(1.0, abs=0.02)
    for method in (GGLEuler(), GGLTrapezoidal()):
        end = mbd.simulate(model, 1e-3, 1e-4, method)["top"].position[-1, 2]
        assert abs(end / height - 1.0) == pytest.approx(heights[0], rel=2e-3)
