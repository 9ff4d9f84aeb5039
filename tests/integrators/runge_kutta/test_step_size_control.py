"""Step-size control: its parameters are checked, and its loop always ends."""

from __future__ import annotations

import math
import warnings

import pytest

import mbd
from mbd.integrators import DOPRI5, ODE23

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
