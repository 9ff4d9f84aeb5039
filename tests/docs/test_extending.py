"""The code of docs/extending.md runs and does what the page says; integrators in plain Python."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import mbd
from mbd.testing import observed_order

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"


def test_code_of_the_page():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) >= 8
    space: dict = {}
    exec(compile("\n".join(blocks), str(PAGE), "exec"), space)
    driven, sliding, solution = space["driven"], space["sliding"], space["solution"]
    assert driven[space["motor"]].angle[-1] == pytest.approx(5.0 + 0.2 * np.sin(3.0), abs=1e-8)
    x, y, z = sliding["bead"].position.T
    assert z == pytest.approx(0.5 * (x * x + y * y), abs=1e-9)
    assert np.ptp(sliding.energy.total) < 5e-3
    assert solution.complete and solution.constraint_error.position.max() < 1e-9


class Midpoint(mbd.integrators.PythonIntegrator):
    """Explicit midpoint rule in the Lie algebra."""

    order = 2

    def step(self, system, t, q, v, h):
        half = v + 0.5 * h * system.accelerations(q, v, t)[0]
        middle = system.update(q, 0.5 * h * v)
        increment = h * system.tangent_inverse(0.5 * h * v, half)
        return system.update(q, increment), v + h * system.accelerations(middle, half, t + 0.5 * h)[0]


@pytest.mark.parametrize("node", [mbd.nodes.RotationVector(), mbd.nodes.Quaternion(), mbd.nodes.Directors()], ids=str)
def test_an_own_integrator_has_its_order(node, tolerance):
    model = mbd.Model("top", gravity=(0, 0, -9.81))
    start = mbd.nodes.RotationVector(angular_velocity=(1.0, 2.0, 5.0))
    model.add(mbd.RigidBody("body", mass=1.0, inertia=(0.3, 0.5, 0.6), node=start))
    model = model.with_nodes(node)
    exact = mbd.simulate(model, 0.5, 0.001, mbd.integrators.RK6())["body"].rotation[-1]
    errors, steps = [], np.array((0.02, 0.01, 0.005))
    for h in steps:
        errors.append(np.abs(mbd.simulate(model, 0.5, h, Midpoint())["body"].rotation[-1] - exact).max())
    assert observed_order(errors, steps) == pytest.approx(2.0, abs=2 * tolerance.order)


def test_an_own_integrator_restarts_and_counts_turns():
    model = mbd.Model("wheel")
    wheel = model.add(mbd.RigidBody("wheel", 1.0, (1, 1, 1), node=mbd.nodes.Quaternion(angular_velocity=(0, 0, 9.0))))
    hinge = model.add(mbd.joints.Revolute(model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(mbd.forces.TorsionSpring(hinge, 0.1))
    whole = mbd.simulate(model, 2.0, 0.01, Midpoint())
    half = mbd.simulate(model, 1.0, 0.01, Midpoint())
    rest = mbd.simulate(model, 2.0, 0.01, Midpoint(), start=half)
    assert np.array_equal(rest.q[-1], whole.q[-1])
    assert whole[hinge].angle[-1] > 2 * np.pi


def test_a_step_of_the_wrong_shape_is_refused():
    class Wrong(mbd.integrators.PythonIntegrator):
        def step(self, system, t, q, v, h):
            return q[:-1], v

    model = mbd.Model("ball")
    model.add(mbd.PointMass("ball", 1.0, (0, 0, 0)))
    with pytest.raises(mbd.ModelError, match="Wrong: step returned shapes"):
        mbd.simulate(model, 0.1, 0.01, Wrong())
