"""BLieDF: order k in everything from the first step on, restarts after changes of charts, energy, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import RK6, BLieDF
from mbd.nodes import RotationVector
from tests.integrators.convergence import MODELS, errors, observed, orders, pendulum, reference
from tests.integrators.models import heavy_top, skew_top

NUMBERS = (100, 200)
METHODS = {f"k = {k}, index {2 if stable else 3}": BLieDF(k, stable) for k in (2, 3) for stable in (True, False)}
FIRST = 6  # steps


@pytest.mark.parametrize("model", [m for m in MODELS if m != "offset"])
@pytest.mark.parametrize("name", METHODS)
def test_order_in_poses_velocities_and_reactions(name, model):
    """On Lie, conventional and mixed nodes; the error of k = 3 still bends a little at these steps."""
    method = METHODS[name]
    assert method.order == method.k
    for quantity, order in orders(model, method, NUMBERS).items():
        assert order == pytest.approx(method.k, abs=0.15), quantity


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("k = 2, index 3", 1.1e-3), ("k = 3, index 3", 9.5e-5), ("k = 2, index 2", 3.2e-4), ("k = 3, index 2", 3.4e-5),
    ],
)  # fmt: skip
def test_errors_of_the_heavy_top(name, error):
    """Largest error of the frame after 0.1 s in 100 steps, measured by another implementation."""
    solution = mbd.simulate(heavy_top(), 0.1, 1e-3, METHODS[name])
    exact = mbd.simulate(heavy_top(), 0.1, 1e-4, RK6())
    assert np.abs(solution.frames(-1) - exact.frames(-1)).max() == pytest.approx(error, rel=0.03)


@pytest.mark.parametrize("name", METHODS)
def test_reactions_of_the_first_steps(name):
    """With velocities of the motion itself in the past, those of index 3 would be one order less accurate."""
    method, found = METHODS[name], []
    for n in NUMBERS:
        h = 0.5 / n
        solution = mbd.simulate(pendulum(), FIRST * h, h, method)
        exact = mbd.simulate(pendulum(), FIRST * h, h / 4, RK6(), output_step=h)
        found.append(np.abs(solution.lam - exact.lam)[1:].max())
    assert np.log2(found[0] / found[1]) > method.k - 0.25


@pytest.mark.parametrize("k", [2, 3])
def test_history_is_made_anew_where_charts_change(k):
    """A conventional rotation vector changes to the equivalent one on the way; the order stays."""
    node, t_end = RotationVector(lie=False), 1.0
    exact = observed(mbd.simulate(skew_top(), t_end, t_end / 1000, RK6(), output_step=0.1))
    found = []
    for n in (200, 400):
        solution = mbd.simulate(skew_top(node), t_end, t_end / n, BLieDF(k))
        jumps = np.abs(np.diff(solution.q[:, 3:6], axis=0)).max(axis=1)
        assert (jumps > 1.0).any()
        every = mbd.simulate(skew_top(node), t_end, t_end / n, BLieDF(k), output_step=0.1)
        found.append([np.abs(x - y)[1:].max() for x, y in zip(observed(every), exact, strict=True)])
    for order in np.log2(np.array(found[0]) / found[1]):
        assert order == pytest.approx(k, abs=0.25)


def test_k_2_loses_and_k_3_gains_energy():
    """As the docstring warns; generalized-alpha is better by an order of magnitude at such steps."""
    change = {}
    for name, method in {**METHODS, "alpha": mbd.integrators.GeneralizedAlpha()}.items():
        energy = mbd.simulate(pendulum(), 1.0, 0.01, method).energy.total
        change[name] = energy[-1] - energy[0]
    assert change["k = 2, index 3"] < change["k = 2, index 2"] < 0.0
    assert change["k = 3, index 3"] > change["k = 3, index 2"] > 0.0
    assert abs(change["alpha"]) < 0.2 * change["k = 3, index 2"]


def test_loads_that_jump_at_the_start_are_reported():
    model = pendulum()
    model.add(mbd.forces.Force(model.bodies[1], lambda t: (0.0, 0.0, 5.0 if t >= 0.0 else 0.0)))
    with pytest.warns(mbd.AccuracyWarning, match="loads jump at the start"):
        mbd.simulate(model, 0.1, 0.01, BLieDF())


def test_more_steps_are_refused():
    for k in (1, 4):
        with pytest.raises(mbd.ModelError, match="k is .*expected 2 or 3"):
            BLieDF(k)
    assert len(reference("two bars")) == len(errors("two bars", BLieDF(), (20,))[0])


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("spherical", [None, mbd.nodes.RotationVector(lie=False)], ids=["Lie", "rotation vector"])
def test_order_in_joint_coordinates(k, spherical):
    """Two balls, in Lie and in conventional coordinates, whose charts change on the way."""
    t_end, numbers = 2.0, (400, 800)
    exact = observed(mbd.simulate(pendulum(), t_end, t_end / 4000, RK6(), output_step=t_end / 10))
    found = []
    for n in numbers:
        model = pendulum().with_coordinates("joint", spherical=spherical)
        solution = mbd.simulate(model, t_end, t_end / n, BLieDF(k=k), output_step=t_end / 10)
        found.append([np.abs(x - y)[1:].max() for x, y in zip(observed(solution), exact, strict=True)])
    assert np.log2(np.array(found[0]) / np.array(found[1])) == pytest.approx([k] * 3, abs=0.25)


def test_bicycle_in_joint_coordinates():
    """Wheels that roll, on a tree of hinges: order three in positions, lean and steer."""
    benchmark = mbd.benchmarks.bicycle()
    model = benchmark.model.with_coordinates("joint")
    found = [benchmark.error(mbd.simulate(model, benchmark.t_end, h, BLieDF())) for h in (0.01, 0.005)]
    assert np.log2(found[0] / found[1]) == pytest.approx(3.0, abs=0.2)
