"""AdaptiveAlpha: tolerances, pulses, switching times, restarts, and where it does not pay."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import RK6, AdaptiveAlpha, GeneralizedAlpha
from tests.integrators.convergence import MODELS, observed, pendulum, reference

PULSE = 5e-4  # s
TIMES = (0.2, 0.2 + PULSE, 0.5, 0.5 + PULSE)
T_END = 0.8


def error(solution: mbd.Solution, exact: mbd.Solution) -> float:
    return float(np.abs(solution.frames(-1) - exact.frames(-1)).max())


def pulse(t):
    first = np.sin(np.pi * (t - 0.2) / PULSE) ** 2 if 0.2 < t < 0.2 + PULSE else 0.0
    second = np.sin(np.pi * (t - 0.5) / PULSE) ** 2 if 0.5 < t < 0.5 + PULSE else 0.0
    return 0.0, 4000.0 * first, -4000.0 * second


def hit() -> mbd.Model:
    """Two bars, hit by two pulses of half a millisecond, which vanish at their switching times."""
    model = pendulum()
    model.add(mbd.forces.Force(model.bodies[1], pulse, switches=TIMES))
    return model


@pytest.mark.parametrize("model", MODELS)
def test_errors_follow_the_tolerance(model):
    """A hundredth of it: 100^(1/3) times the steps, and errors of second order in these, in reactions as well.

    How many steps there are depends on round-off, by a tenth or two.
    """
    build, t_end = MODELS[model]
    found, steps = [], []
    for tol in (1e-5, 1e-7):
        method = AdaptiveAlpha(rtol=tol, atol=tol)
        solution = mbd.simulate(build(), t_end, t_end / 100, method, output_step=t_end / 10)
        found.append([np.abs(x - y)[1:].max() for x, y in zip(observed(solution), reference(model), strict=True)])
        steps.append(solution.stats["steps"])
        assert solution.constraint_error.velocity.max() < 1e-5
    more = steps[1] / steps[0]
    assert 0.65 < more / 100.0 ** (1.0 / 3.0) < 1.5
    ratios = np.array(found[0]) / found[1]
    assert (ratios > 0.6 * more**2).all() and (ratios < 1.6 * more**2).all()


def test_pulses_are_seen_and_equal_steps_pass_them():
    exact = mbd.simulate(hit(), T_END, T_END / 16000, RK6())
    found = []
    for tol in (1e-4, 1e-5, 1e-6):
        solution = mbd.simulate(hit(), T_END, 1e-3, AdaptiveAlpha(rtol=tol, atol=tol))
        found.append(error(solution, exact))
        steps = solution.stats["steps"] + solution.stats["rejected"]
        assert all(np.abs(solution.t - time).min() < 1e-12 for time in TIMES)
    equal = error(mbd.simulate(hit(), T_END, T_END / steps, GeneralizedAlpha(rho_inf=0.6)), exact)
    assert found[0] < equal / 20.0 and found[2] < equal / 300.0
    assert found[0] > 2.0 * found[1] > 4.0 * found[2]


def test_it_does_not_pay_on_smooth_motion():
    """As the docstring says: with the same number of equal steps the error is no larger."""
    exact = mbd.simulate(pendulum(), 2.0, 2.0 / 4000, RK6())
    solution = mbd.simulate(pendulum(), 2.0, 1e-3, AdaptiveAlpha(rtol=1e-5, atol=1e-5))
    steps = solution.stats["steps"] + solution.stats["rejected"]
    equal = mbd.simulate(pendulum(), 2.0, 2.0 / steps, GeneralizedAlpha(rho_inf=0.6))
    assert error(equal, exact) < error(solution, exact) < 5.0 * error(equal, exact)


@pytest.mark.parametrize("joint", [False, True], ids=["free", "joint"])
def test_a_load_that_is_switched_is_integrated_exactly(joint):
    """A constant acceleration begins and ends at switching times: no trace of the other side gets into a step."""
    model = mbd.Model("switched")
    body = model.add(mbd.RigidBody("body", 2.0, (1, 1, 1)))
    if joint:
        model.add(mbd.joints.Prismatic(model.ground, body, axis=(1, 0, 0), name="guide"))
    model.add(
        mbd.forces.Force(body, lambda t: (4.0 if 0.3 < t < 0.7 else 0.0, 2.0, 0.0), switches=(0.3, 0.7), name="load")
    )
    solution = mbd.simulate(model, 1.0, 0.05, AdaptiveAlpha())
    assert solution["body"].velocity[-1, 0] == pytest.approx(0.8, abs=1e-8)
    assert solution["body"].position[-1, 0] == pytest.approx(0.5 * 2.0 * 0.16 + 0.8 * 0.3, abs=1e-8)
    if joint:
        assert np.abs(solution["guide"].force[:, 1] + 2.0).max() < 1e-6


def test_time_may_be_counted_in_years():
    """A year is 2^25 s here, so that numbers have the same digits: the same motion, as many steps within a tenth."""
    found, steps = [], []
    for second in (1.0, 2.0**-25):
        model = mbd.Model(gravity=(0, 0, -9.81 / second**2))
        bar = model.add(mbd.RigidBody("bar", 1.0, (0.0, 1 / 3, 1 / 3), mbd.nodes.RotationVector(position=(1, 0, 0))))
        model.add(mbd.joints.Revolute(model.ground, bar, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
        method = AdaptiveAlpha(rtol=1e-5, atol=1e-9)
        solution = mbd.simulate(model, second, 0.01 * second, method, output_step=0.5 * second)
        found.append([*solution["hinge"].angle[1:], *second * solution["hinge"].angle_rate[1:]])
        steps.append(solution.stats["steps"])
    assert found[1] == pytest.approx(found[0], rel=1e-3)
    assert steps[1] == pytest.approx(steps[0], rel=0.1)


def test_records_on_a_grid_and_bounds_of_steps():
    solution = mbd.simulate(pendulum(), 0.5, 1e-3, AdaptiveAlpha(max_step=0.01), output_step=0.05)
    assert solution.t == pytest.approx(np.linspace(0.0, 0.5, 11), abs=1e-12)
    solution = mbd.simulate(pendulum(), 0.5, 1e-3, AdaptiveAlpha(rtol=1e-2, atol=1e-2, max_step=0.01))
    assert np.diff(solution.t).max() < 0.01 + 1e-12
    assert np.diff(solution.t)[-2:] == pytest.approx(np.diff(solution.t)[-1], rel=0.7)  # no sliver at the end
    with pytest.raises(mbd.ConvergenceError, match="step size fell to.*switches="):
        mbd.simulate(pendulum(), 0.5, 0.1, AdaptiveAlpha(rtol=1e-9, atol=1e-9, min_step=1e-2))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"stabilized": False}, "stabilized is False"), ({"newton": "modified"}, "newton"), ({"rtol": 0.0}, "rtol"),
        ({"atol": -1.0}, "atol"), ({"max_step": 0.0}, "max_step"), ({"min_step": 1.0, "max_step": 0.1}, "min_step"),
    ],
)  # fmt: skip
def test_arguments_that_make_no_sense_are_refused(arguments, text):
    with pytest.raises(mbd.ModelError, match=text):
        AdaptiveAlpha(**arguments)
