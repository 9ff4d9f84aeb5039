"""The code of docs/extending.md runs and does what the page says; integrators in plain Python."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import mbd
from mbd.kernel import JIT
from mbd.testing import observed_order

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"
ALLOWED_COST = 5.0  # of a user force in units of a built-in one, with room for a busy machine


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


def pull(t, frames, velocities):
    d = frames[1, :3] - frames[0, :3]
    length = np.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    k = 40.0 * (length - 0.7) / length
    x, y, z, o = k * d[0], k * d[1], k * d[2], 0.0 * k
    return (x, y, z, o, o, o), (-x, -y, -z, o, o, o)


@pytest.mark.skipif(not JIT, reason="times compiled code")
def test_a_user_force_costs_a_small_multiple_of_a_built_in_one():
    """Cost of evaluating many springs between many masses, against the same run without any."""

    def run(make):
        model = mbd.Model("masses")
        bodies = [
            model.add(mbd.RigidBody(f"{i}", 1.0, (1, 1, 1), node=mbd.nodes.RotationVector(position=(i, 0, 0))))
            for i in range(12)
        ]
        if make is not None:
            for i in range(11):
                for _ in range(4):
                    model.add(make(bodies[i], bodies[i + 1]))
        best = np.inf
        for _ in range(3):
            solution = mbd.simulate(model, 2.0, 0.002, mbd.integrators.RK4(), progress=False)
            best = min(best, solution.stats["wall_time"])
        return best

    plain = run(None)
    spring = run(lambda a, b: mbd.forces.Spring(a, b, stiffness=40.0, length=0.7)) - plain
    user = run(lambda a, b: mbd.forces.UserForce([a, b], pull)) - plain
    assert user < ALLOWED_COST * spring, f"user {user:.3f} s, built-in {spring:.3f} s, without {plain:.3f} s"
