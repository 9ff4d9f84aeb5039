"""Every method has its order on every parametrisation, with and without constraints."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import mbd
from mbd.integrators import DOPRI5, ODE23, RK4, RK6, GeneralizedAlpha
from tests.integrators.models import NODES, skew_top

OUTPUT = 0.1

# method: step numbers at which its leading error term dominates and stays above round-off
METHODS = {
    "RK4": (RK4(), (200, 400)),
    "RK6": (RK6(), (130, 260)),
    "DOPRI5": (DOPRI5(fixed=True), (230, 460)),
    "ODE23": (ODE23(fixed=True), (400, 800)),
    "index 3": (GeneralizedAlpha(stabilized=False), (400, 800)),
    "index 2": (GeneralizedAlpha(stabilized=True), (400, 800)),
    "index 2, rho 0": (GeneralizedAlpha(rho_inf=0.0, stabilized=True), (400, 800)),
    "index 3, rho 0.5": (GeneralizedAlpha(rho_inf=0.5, stabilized=False), (400, 800)),
}

# where the chart of a rotation vector changes depends on the step, and the error constant a little on that
STEPS = {("DOPRI5", "rotation vector"): (300, 600)}


def states(solution: mbd.Solution) -> np.ndarray:
    body = solution["top"]
    return np.concatenate((body.rotation.reshape(-1, 9), body.angular_velocity, body.com), axis=1)


@cache
def reference() -> np.ndarray:
    return states(mbd.simulate(skew_top(pinned=True), 1.0, 1.0 / 1000, RK6(), output_step=OUTPUT))


@pytest.mark.parametrize("pinned", [True, False], ids=["pinned", "joint"])
@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("method", METHODS)
def test_order_on_every_node(method, node, pinned, tolerance):
    integrator, numbers = METHODS[method]
    numbers = STEPS.get((method, node), numbers)
    errors = []
    for n in numbers:
        solution = mbd.simulate(skew_top(NODES[node], pinned), 1.0, 1.0 / n, integrator, output_step=OUTPUT)
        errors.append(float(np.sqrt(np.mean(np.square(states(solution) - reference())))))
    order = mbd.testing.observed_order(errors, 1.0 / np.array(numbers))
    assert order == pytest.approx(integrator.order, abs=tolerance.order), f"errors {errors}"
