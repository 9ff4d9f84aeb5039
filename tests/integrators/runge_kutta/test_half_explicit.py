"""HEDOP5: order five on constrained systems, comparison with DOPRI5, drivers, rolling, loops, redundant joints."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import DOPRI5, HEDOP5, RK6
from tests.integrators.convergence import MODELS, errors, observed
from tests.integrators.models import four_bar, heavy_top, skew_top, slider_crank
from tests.integrators.rattlie.test_rattlie import driven, loaded
from tests.joints.test_rolling_over_step import on_a_plate, wobbling_disk

FIXED = HEDOP5(fixed=True)
NUMBERS = {"heavy top": (50, 100), "offset": (50, 100), "rotation vector": (40, 80)}
ORDER = 0.4  # the error of half-explicit stages falls a little faster at these steps


@pytest.mark.parametrize("model", MODELS)
def test_order_five_in_poses_velocities_and_reactions(model):
    """On Lie, conventional and mixed nodes."""
    numbers = NUMBERS.get(model, (20, 40))
    found = errors(model, FIXED, numbers)
    for order in np.log2(found[0] / found[1]):
        assert order > 5.0 - ORDER


def test_more_accurate_than_projected_dopri5_on_the_top():
    """With 50 and 100 steps an independent implementation has 1.2e-8, 1.9e-10; 8.3e-8, 2.4e-9 of DOPRI5."""
    exact = mbd.simulate(heavy_top(), 0.1, 1e-4, RK6()).frames(-1)
    found = {}
    for method in (FIXED, DOPRI5(fixed=True)):
        runs = [mbd.simulate(heavy_top(), 0.1, 0.1 / n, method).frames(-1) for n in (50, 100)]
        found[method.name] = np.array([np.abs(x - exact).max() for x in runs])
    assert (found["HEDOP5"] < 0.4 * found["DOPRI5"]).all()
    assert found["DOPRI5"] == pytest.approx((8.3e-8, 2.4e-9), rel=0.05)


OTHERS = {
    "loads": (loaded, 0.5, 40), "drivers and gears": (driven, 0.5, 20), "loop": (lambda: four_bar(True), 0.3, 20),
    "redundant loop": (four_bar, 0.3, 20), "rolling": (wobbling_disk, 0.5, 20), "moving plane": (on_a_plate, 0.2, 20),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::mbd.RedundancyWarning")
@pytest.mark.parametrize("name", OTHERS)
def test_order_with_everything(name):
    build, t_end, n = OTHERS[name]
    exact = observed(mbd.simulate(build(), t_end, t_end / 800, RK6(), output_step=t_end / 10))
    found = []
    for steps in (n, 2 * n):
        solution = mbd.simulate(build(), t_end, t_end / steps, FIXED, output_step=t_end / 10)
        found.append([np.abs(x - y)[1:].max() for x, y in zip(observed(solution), exact, strict=True)])
        assert solution.constraint_error.position.max() < 1e-12
        assert solution.constraint_error.velocity.max() < 1e-11
    for one, other in zip(*found, strict=True):
        assert other < 1e-9 or np.log2(one / other) > 5.0 - ORDER


def test_without_constraints_it_is_dopri5():
    one, other = (mbd.simulate(skew_top(pinned=True), 0.2, 0.01, m(fixed=True)) for m in (HEDOP5, DOPRI5))
    assert np.array_equal(one.q, other.q) and np.array_equal(one.v, other.v)


def test_step_size_control_keeps_the_tolerance():
    exact = mbd.simulate(slider_crank(), 0.5, 0.5 / 4000, RK6()).frames(-1)
    found = []
    for tol in (1e-5, 1e-8):
        solution = mbd.simulate(slider_crank(), 0.5, 1e-3, HEDOP5(rtol=tol, atol=tol))
        found.append(np.abs(solution.frames(-1) - exact).max())
        assert found[-1] < 30.0 * tol
        assert solution.stats["steps"] > 20
    assert found[1] < 0.02 * found[0]


@pytest.mark.filterwarnings("ignore::mbd.RedundancyWarning")
@pytest.mark.parametrize("name", ["two bars", "bicycle", "loop"])
def test_order_in_joint_coordinates(name):
    """A tree, which has no constraints, rolling wheels on hinges, and a loop."""
    build, t_end, n = {
        "two bars": (MODELS["two bars"][0], 0.5, 20), "bicycle": (lambda: mbd.benchmarks.bicycle().model, 0.5, 20),
        "loop": (lambda: four_bar(True), 0.3, 20),
    }[name]  # fmt: skip
    exact = observed(mbd.simulate(build(), t_end, t_end / 800, RK6(), output_step=t_end / 10))
    found = []
    for steps in (n, 2 * n):
        model = build().with_coordinates("joint")
        solution = mbd.simulate(model, t_end, t_end / steps, FIXED, output_step=t_end / 10)
        found.append([np.abs(x - y)[1:].max() for x, y in zip(observed(solution), exact, strict=True)])
        assert solution.constraint_error.velocity.max(initial=0.0) < 1e-11
    for one, other in zip(*found, strict=True):
        assert other < 1e-9 or np.log2(one / other) > 5.0 - ORDER
