"""``solution.at`` between the records has the order of the method that made them."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pytest

import mbd
from mbd.integrators import DOPRI5, HEDOP5, ODE23, RK6, Composition, JacobiExact, LieEM, MoserVeselov
from mbd.nodes import Quaternion, RotationVector
from mbd.results.solution import Solution
from tests.integrators.every_method import METHODS, fitting
from tests.integrators.models import skew_top

T_END, PARTS = 0.4, 512
STEPS = {1: (16, 32), 2: (16, 32), 3: (16, 32), 4: (16, 32), 5: (16, 32), 6: (16, 32), 8: (8, 16)}
DEVIATION = 0.35  # of observed orders, over a factor of two in the step


def tumbling() -> mbd.Model:
    model = mbd.Model("tumbling")
    start = RotationVector((0.2, 0, 0), velocity=(0.3, 0, 0), angular_velocity=(0.5, 2.0, -0.9))
    model.add(mbd.RigidBody("top", 1.0, (0.3, 0.3, 0.5), start))
    return model


def read(solution: mbd.Solution) -> tuple[np.ndarray, np.ndarray]:
    body = solution["top"]
    pose = np.concatenate((body.position, body.rotation.reshape(-1, 9)), axis=1)
    return pose, np.concatenate((body.velocity, body.angular_velocity), axis=1)


@cache
def reference(name: str) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Times that are records of no run, and the motion there."""
    model = {"tumbling": tumbling, "skew top": skew_top}[name]()
    fine = mbd.simulate(model, T_END, T_END / PARTS, RK6())
    return fine.t[1::2], tuple(x[1::2] for x in read(fine))


FIXED = {"DOPRI5": DOPRI5(fixed=True), "HEDOP5": HEDOP5(fixed=True), "ODE23": ODE23(fixed=True)}
ADAPTIVE = [name for name, method in METHODS.items() if method.adaptive]


@pytest.mark.parametrize("name", [name for name in METHODS if name in FIXED or name not in ADAPTIVE])
def test_dense_output_has_the_order_of_the_method(name):
    """Interpolation may be better than the method, never worse; step-size control is switched off."""
    method = FIXED.get(name, METHODS[name])
    model = fitting(method, skew_top(), tumbling())
    times, exact = reference(model.name)
    errors = []
    for n in STEPS[min(method.order, 8)]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mbd.AccuracyWarning)  # steps are coarse
            found = read(mbd.simulate(model, T_END, T_END / n, method).at(times))
        errors.append([np.abs(x - y).max() for x, y in zip(found, exact, strict=True)])
    for one, other in zip(*errors, strict=True):
        assert one < 1e-12 or np.log2(one / other) > min(method.order, 8) - DEVIATION


@pytest.mark.parametrize("name", ADAPTIVE)
def test_with_step_size_control_errors_between_the_records_are_those_at_the_records(name):
    """Whatever steps were chosen; velocities have the local error of positions, divided by the step, as well."""
    method = METHODS[name]
    fine = mbd.simulate(skew_top(), T_END, T_END / PARTS, RK6())
    solution = mbd.simulate(skew_top(), T_END, T_END / PARTS, method)
    assert 5 < len(solution) < PARTS / 2
    between = 0.5 * (solution.t[:-1] + solution.t[1:])
    there, here = (
        np.array([np.abs(x - y).max() for x, y in zip(read(a), read(fine.at(t)), strict=True)])
        for a, t in ((solution.at(between), between), (solution, solution.t))
    )
    assert there[0] < 1.1 * here[0] and there[1] < 10.0 * here[1]


@pytest.mark.parametrize(
    "method",
    [
        MoserVeselov(10),
        MoserVeselov(12),
        MoserVeselov(14),
        JacobiExact(),
        Composition(LieEM(tolerance=1e-14), order=10),
    ],
    ids=lambda method: method.name.replace("tolerance=1e-14, max_iterations=20", ""),
)
def test_beyond_order_eight(method):
    """Four records for order ten, five for twelve and fourteen; 3.2 s in 8 and 16 steps, up to 0.9 rad each."""
    model = mbd.Model("free")
    start = RotationVector((0.2, 0, 0), velocity=(0.3, 0, 0), angular_velocity=(0.5, 2.0, -0.9))
    model.add(mbd.RigidBody("top", 1.0, (0.3, 0.4, 0.5), start))
    exact = mbd.simulate(model, 3.2, 0.00625, JacobiExact())
    errors = []
    for n in (8, 16):
        solution = mbd.simulate(model, 3.2, 3.2 / n, method)
        found = read(solution.at(exact.t[1::2]))
        errors.append([np.abs(x - y[1::2]).max() for x, y in zip(found, read(exact), strict=True)])
    order = min(method.order, 14)
    for one, other in zip(*errors, strict=True):
        assert one > 1e-9 and np.log2(one / other) > order - 0.3


def test_three_records_make_velocities_of_the_eighth_order():
    """Records of a fine run, thinned out: errors are those of the interpolation alone."""
    times, exact = reference("skew top")
    errors = []
    for n in (8, 16):
        solution = mbd.simulate(skew_top(), T_END, T_END / PARTS, RK6(), output_step=T_END / n)
        found = read(solution.at(times))
        errors.append([np.abs(x - y).max() for x, y in zip(found, exact, strict=True)])
    orders = np.log2(np.array(errors[0]) / errors[1])
    assert orders[0] > 8.0 and orders[1] > 7.5


def test_a_jump_is_not_smoothed_over():
    """Behind a load that jumps, where there are two records, a third record is taken from the same side."""
    model = mbd.Model("jump")
    body = model.add(mbd.RigidBody("top", 1.0, (0.3, 0.3, 0.5), Quaternion(lie=True)))
    load = model.add(mbd.forces.Force(body, (1.0, 0.0, 0.0)))
    first = mbd.simulate(model, 0.5, 0.1, RK6())
    load.value = (-3.0, 0.0, 0.0)
    second = mbd.simulate(model, 1.0, 0.1, RK6(), start=first)
    states = [np.concatenate((getattr(first, x), getattr(second, x))) for x in ("t", "q", "v")]
    accelerations = np.concatenate((first.vd, second.vd))
    assert first.vd[-1, 0] == 1.0 and second.vd[0, 0] == -3.0  # the start is the last record under the new load
    whole = Solution(second.system, *states, accelerations, np.zeros((len(states[0]), 0)), integrator=RK6())
    for t, velocity, position in ((0.55, 0.35, 0.125 + 0.025 - 1.5 * 0.05**2), (0.45, 0.45, 0.5 * 0.45**2)):
        assert whole.at(t)["top"].velocity[0, 0] == pytest.approx(velocity, abs=1e-13)
        assert whole.at(t)["top"].position[0, 0] == pytest.approx(position, abs=1e-13)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9])
def test_before_an_event_just_behind_a_record(gap):
    """The last interval is that short: its end, met as a further record, would magnify round-off by its fifth power."""
    model = mbd.Model("oscillator")
    point = model.add(mbd.PointMass("point", 1.0, (1, 0, 0)))
    model.add(mbd.forces.Spring(model.ground, point, (-5, 0, 0), stiffness=4.0, length=5.0))
    stop = mbd.Event(lambda solution: solution.t - 0.5 - gap, stop=True)
    solution = mbd.simulate(model, 2.0, 0.1, Composition(LieEM(tolerance=1e-14), order=10), events=[stop])
    assert 0.5 * gap < solution.t[-1] - solution.t[-2] < 2.0 * gap
    times = np.linspace(0.0, 0.5, 98)
    found = solution.at(times)["point"]
    assert np.abs(found.position[:, 0] - np.cos(2.0 * times)).max() < 1e-13
    assert np.abs(found.velocity[:, 0] + 2.0 * np.sin(2.0 * times)).max() < 1e-11


def test_behind_an_input_that_jumps():
    """The record at the jump has the accelerations before it; the interval behind it begins with others.

    An oscillator, pushed by an input that jumps at every third step; its closed solution is a chain of oscillations.
    """
    model = mbd.Model("pushed")
    u = model.input("u")
    point = model.add(mbd.PointMass("point", 2.0, (0, 0, 0)))
    model.add(mbd.forces.Spring(model.ground, point, (-5, 0, 0), stiffness=8.0, length=5.0))
    model.add(mbd.forces.Force(point, (u, 0, 0)))
    h, w, values = 0.02, 2.0, (1.0, -0.5, 2.0)
    sim = mbd.Simulator(model, h, RK6())
    x, v, exact, times = 0.0, 0.0, [], []
    for value in values:
        sim.inputs["u"] = value
        sim.advance(3 * h)
        rest = value / 8.0
        for s in (0.3 * h, 1.6 * h, 2.7 * h, 3.0 * h):
            c, d = np.cos(w * s), np.sin(w * s)
            state = rest + (x - rest) * c + v / w * d, -(x - rest) * w * d + v * c
            exact.append(state)
            times.append(sim.t - 3 * h + s)
        x, v = state
    found = sim.solution().at(np.array(times)[::-1])
    assert np.abs(found["point"].position[::-1, 0] - np.array(exact)[:, 0]).max() < 1e-12
    assert np.abs(found["point"].velocity[::-1, 0] - np.array(exact)[:, 1]).max() < 1e-10
