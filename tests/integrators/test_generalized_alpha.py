"""Generalized-alpha where it must refuse to go on."""

from __future__ import annotations

import numpy as np
import pytest

import mbd


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
