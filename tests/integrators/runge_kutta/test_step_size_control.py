"""Step-size control: its parameters are checked, errors follow the tolerance, and its loop always ends."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import mbd
from mbd.integrators import DOPRI5, ODE23, RK6
from mbd.nodes import RotationVector
from mbd.system.system import assemble
from tests.integrators.models import heavy_top, skew_top

BAD = [
    {"safety": 100.0}, {"safety": 0.0}, {"safety": math.nan}, {"rtol": 0.0}, {"rtol": math.inf}, {"atol": -1.0},
    {"atol": "small"}, {"max_increase": 0.5}, {"max_increase": math.nan}, {"min_step": -1.0}, {"min_step": math.nan},
    {"min_step": 0.2, "max_step": 0.1}, {"max_step": 0.0}, {"max_step": math.nan}, {"fixed": "no"},
]  # fmt: skip


@pytest.mark.parametrize("method", (DOPRI5, ODE23))
@pytest.mark.parametrize("parameters", BAD, ids=repr)
def test_parameters_that_make_no_sense_are_refused_by_name(method, parameters):
    with pytest.raises(mbd.ModelError, match=f"{method.__name__}: {next(iter(parameters))} = .*; expected"):
        method(**parameters)


def swinging() -> mbd.Model:
    model = mbd.Model("mass on a spring")
    mass = model.add(mbd.PointMass("mass", 1.0, position=(1.0, 0.0, 0.0), velocity=(0.0, 1.0, 0.0)))
    model.add(mbd.forces.Spring(model.ground, mass, (0, 0, 0), (0, 0, 0), stiffness=50.0, length=0.5))
    return model


def test_limits_of_the_step_are_kept():
    solution = mbd.simulate(swinging(), 1.0, 0.02, DOPRI5(min_step=0.02, max_step=0.02))
    assert max(abs(h - 0.02) for h in (solution.t[1:-2] - solution.t[:-3])) < 1e-12


def test_rejected_steps_always_become_shorter():
    """Whatever the parameters are: a safety that was smuggled past the checks."""
    method = DOPRI5()
    object.__setattr__(method, "safety", 100.0)
    solution = mbd.simulate(swinging(), 1.0, 0.5, method)
    assert solution.complete and solution.stats["rejected"] > 0


@pytest.mark.parametrize("output_step", (None, 0.5))
def test_steps_that_never_meet_the_tolerance_end_the_run(output_step):
    """A force that is noise on every scale; with steps of 1e-10 the run would take years."""
    model = swinging()
    model.add(mbd.forces.Force(model["mass"], lambda t: (1e6 * math.sin(1e13 * t), 0.0, 0.0)))
    with pytest.raises(mbd.ConvergenceError, match=r"the step size fell to 1e-10 .*min_step=") as caught:
        mbd.simulate(model, 1.0, 0.1, DOPRI5(), output_step=output_step)
    assert caught.value.time < 1e-6
    with pytest.warns(UserWarning, match="accepted at the smallest step size"):
        warnings.simplefilter("ignore", mbd.AccuracyWarning)  # which is right as well, where all steps are recorded
        assert mbd.simulate(model, 1.0, 0.1, DOPRI5(min_step=0.01), output_step=output_step).complete


@pytest.mark.parametrize(("method", "order"), [(DOPRI5, 5), (ODE23, 3)])
def test_errors_follow_the_tolerance(method, order):
    exact = mbd.simulate(skew_top(), 1.0, 1e-3, RK6())["top"].com[-1]
    tolerances = np.array((1e-4, 1e-6, 1e-8))
    errors, steps = [], []
    for rtol in tolerances:
        solution = mbd.simulate(skew_top(), 1.0, 1e-3, method(rtol=rtol, atol=1e-2 * rtol))
        errors.append(float(np.linalg.norm(solution["top"].com[-1] - exact)))
        steps.append(solution.stats["steps"])
    slope = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    assert 0.7 < slope < 1.3, errors
    assert errors[-1] < 1e-6
    exponent = -np.polyfit(np.log(tolerances), np.log(steps), 1)[0]
    assert exponent == pytest.approx(1.0 / (order), abs=0.35 / order)


def test_largest_step():
    solution = mbd.simulate(skew_top(), 1.0, 1e-3, DOPRI5(rtol=1e-2, atol=1e-2, max_step=0.02))
    assert np.diff(solution.t).max() <= 0.02 * (1.0 + 1e-12)


def switched(declared: bool) -> mbd.Model:
    """A torque that is switched off at t = 0.7071."""
    model = mbd.Model("switched")
    start = RotationVector(angular_velocity=(1, 2, 3))
    body = model.add(mbd.RigidBody("body", 1.0, (0.4, 0.7, 1.0), start))
    switches = 0.7071 if declared else ()
    model.add(mbd.forces.Torque(body, lambda t: (2.0, 0.0, 1.0) if t < 0.7071 else (0.0, 0.0, 0.0), switches=switches))
    return model


def test_declared_switches_save_work_and_error():
    driven, coasting = switched(True), switched(True)
    driven.forces[0].value, coasting.forces[0].value = (2.0, 0.0, 1.0), (0.0, 0.0, 0.0)
    half = mbd.simulate(driven, 0.7071, 0.7071 / 2000, RK6())["body"]
    node = coasting["body"].node
    node.rotation, node.angular_velocity = half.rotation[-1], half.angular_velocity[-1]
    exact = mbd.simulate(coasting, 3.0, 5e-4, RK6(), t_start=0.7071)["body"].rotation[-1]
    for rtol in (1e-6, 1e-8):
        results = [mbd.simulate(switched(d), 3.0, 0.01, DOPRI5(rtol=rtol, atol=rtol)) for d in (False, True)]
        errors = [np.abs(result["body"].rotation[-1] - exact).max() for result in results]
        assert results[1].stats["evaluations"] < 0.9 * results[0].stats["evaluations"]
        assert errors[1] < errors[0]
        assert errors[1] < 10.0 * rtol
        assert np.any(np.abs(results[1].t - 0.7071) < 1e-12)


def test_forced_steps_are_reported():
    """At the smallest step a jump is accepted and counted, not met for ever."""
    with pytest.warns(UserWarning, match=r"steps were accepted at the smallest step.*switches="):
        solution = mbd.simulate(switched(False), 1.0, 0.01, DOPRI5(rtol=1e-10, atol=1e-10, min_step=2e-3))
    assert solution.stats["forced_steps"] > 0
    assert solution.complete


def test_rejected_steps_are_counted():
    solution = mbd.simulate(heavy_top(), 0.1, 0.05, DOPRI5())
    assert solution.stats["rejected"] > 0


def test_what_stopped_an_earlier_run_is_forgotten():
    """The state of a run that failed says why; a run that goes on from there has not failed."""
    system = assemble(swinging())
    start = mbd.consistent_start(system)
    run = DOPRI5().start(system, start.q, start.v, 0.0, 0.1, None)
    state = run.state()
    for reason in range(1, 10):
        state["memory"][0] = reason
        resumed = DOPRI5().resume(system, state)
        assert resumed.failed
        rows = resumed.advance_to(0.5, 0.0, np.zeros(100), [np.zeros((100, len(y))) for y in resumed.row()])
        assert rows == resumed.index > 0 and resumed.t == 0.5 and not resumed.failed
