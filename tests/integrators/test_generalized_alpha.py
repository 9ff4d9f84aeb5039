"""Generalized-alpha where it must refuse to go on."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import GeneralizedAlpha

from .models import heavy_top


def test_unstable_velocities_are_an_error_not_a_result():
    """Directors turning by 0.15 rad per step: index 3 diverges although Newton's method converges in every step."""
    model = mbd.Model("top", gravity=(0, 0, -9.81))
    start = mbd.nodes.Directors(position=(0, 1, 0), velocity=(4.61538, 0, 0), angular_velocity=(0, 150, -4.61538))
    top = model.add(mbd.RigidBody("top", mass=15.0, inertia=(0.234375, 0.46875, 0.234375), node=start))
    model.add(mbd.joints.Spherical(model.ground, top, at=(0, 0, 0)))
    with pytest.raises(mbd.ConvergenceError, match="top.*unstable.*stabilized=True"):
        mbd.simulate(model, 0.2, 1e-3, mbd.integrators.GeneralizedAlpha(rho_inf=0.9))
    stable = mbd.simulate(model, 0.2, 1e-3, mbd.integrators.GeneralizedAlpha(rho_inf=0.9, stabilized=True))
    assert np.ptp(stable.energy.total) < 1e-4 * stable.energy.total[0]


def test_where_a_run_stops_depends_on_the_step_alone(monkeypatch):
    """Index 3 runs away on directors at this step; however the run is cut into calls or continued, it stops there."""
    stops = set()
    for steps in (1, 7, 50, 1000):
        monkeypatch.setattr("mbd.simulation.FIRST_CHUNK", steps)
        monkeypatch.setattr("mbd.simulation._next_chunk", lambda *_, n=steps: n)
        with pytest.raises(mbd.ConvergenceError, match="grow without regard to the constraints of") as caught:
            mbd.simulate(heavy_top(mbd.nodes.Directors), 1.0, 5e-3, GeneralizedAlpha())
        stops.add((caught.value.step, caught.value.solution.q[-1].tobytes(), len(caught.value.solution)))
    first = mbd.simulate(heavy_top(mbd.nodes.Directors), 0.1, 5e-3, GeneralizedAlpha())
    with pytest.raises(mbd.ConvergenceError, match="grow without regard") as caught:
        mbd.simulate(heavy_top(mbd.nodes.Directors), 1.0, 5e-3, GeneralizedAlpha(), start=first)
    ended = caught.value.solution
    stops.add((caught.value.step, ended.q[-1].tobytes(), len(ended) + len(first)))
    assert len(stops) == 1
    ((step, _, records),) = stops
    assert records == step + 1  # all steps that were accepted are there, and no more
