"""Runs of every integrator: they own their buffers, and continue where another one ended."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.system.system import assemble
from mbd.testing import observed_order

from .every_method import METHODS, counting, fitting, same, swinging, tumbling, winding, winding_without_gear

every_method = pytest.mark.parametrize("name", METHODS)
STEPS = 60
STEP = 0.02


# --- runs own their buffers ---------------------------------------------------------------------------------------


def _events(model):
    body = model.bodies[0].name
    crossing = mbd.Event(lambda s: s[body].rotation[:, 0, 0], name="crossing")
    rising = mbd.Event(lambda s: s[body].angular_velocity[:, 2] - 1.0, direction=1, name="rising")
    return [crossing, rising]


@every_method
def test_watching_changes_nothing(name):
    """With and without events, bit for bit; the model counts turns wherever the method can treat that.

    Events look at every step although few are recorded.
    """
    method = METHODS[name]
    model = counting(method)
    for output_step in (None, 3 * STEP) if method.adaptive else (3 * STEP,):
        plain = mbd.simulate(model, STEPS * STEP, STEP, method, output_step=output_step)
        watched = mbd.simulate(model, STEPS * STEP, STEP, method, output_step=output_step, events=_events(model))
        assert same(plain, watched)
        if "spring" in model:
            assert np.ptp(plain["spring"].angle) > np.pi  # more than the counters would forgive
            assert len(watched.events) >= 2


def _advance(run, adaptive, count):
    """Rows of so many steps, or of the time that they would take."""
    if not adaptive:
        rows = [np.zeros((count, len(x))) for x in run.row()]
        assert run.advance(count, 1, rows) == count
        return rows
    t, rows = np.zeros(1000), [np.zeros((1000, len(x))) for x in run.row()]
    made = run.advance_to(run.t + count * STEP, 0.0, t, rows)
    return [x[:made] for x in rows]


@every_method
def test_interleaved_runs_do_not_disturb_each_other(name):
    """Two runs on one system, in turns, while someone evaluates the system in between: bit for bit as alone."""
    method = METHODS[name]
    system = assemble(counting(method))
    start = mbd.consistent_start(system)
    slower = mbd.consistent_start(system, v=0.7 * start.v)
    states = (start.q, start.v), (slower.q, slower.v)
    alone = []
    for q, v in states:
        run = method.start(assemble(counting(method)), q, v, 0.0, STEP, None)
        pieces = [_advance(run, method.adaptive, 6) for _ in range(5)]
        alone.append([np.concatenate(x) for x in zip(*pieces, strict=True)])
    runs = [method.start(system, q, v, 0.0, STEP, None) for q, v in states]
    together = [], []
    for _ in range(5):
        for run, rows in zip(runs, together, strict=True):
            rows.append(_advance(run, method.adaptive, 6))
            system.accelerations(start.q, slower.v, 1.0)
            system.constraints(slower.q)
    for rows, expected in zip(together, alone, strict=True):
        for x, y in zip(zip(*rows, strict=True), expected, strict=True):
            assert np.array_equal(np.concatenate(x), y)


@pytest.mark.parametrize("name", ("RK4", "DOPRI5", "Rattle", "Shake", "DiscreteVariational", "JacobiExact", "Strang"))
def test_rows_that_do_not_fit_are_refused(name):
    """Compiled code would write behind their end; nothing has moved."""
    method = METHODS[name]
    system = assemble(counting(method))
    start = mbd.consistent_start(system)
    run = method.start(system, start.q, start.v, 0.0, STEP, None)
    before = [y.copy() for y in run.row()]
    few = [np.zeros((3, len(y))) for y in before]
    narrow = [np.zeros((4, max(0, len(y) - 1))) for y in before]
    for rows in few, narrow:
        with pytest.raises(ValueError, match="for 4 records of"):
            if method.adaptive:
                run.advance_to(1.0, 0.0, np.zeros(4), rows)
            else:
                run.advance(4, 1, rows)
    assert run.index == 0
    assert all(np.array_equal(x, y) for x, y in zip(run.row(), before, strict=True))


# --- continuing ---------------------------------------------------------------------------------------------------


@every_method
def test_an_unchanged_model_goes_on_bit_for_bit(name):
    method = METHODS[name]
    whole = mbd.simulate(counting(method), 0.4, STEP, method, output_step=None if method.adaptive else 4 * STEP)
    first = mbd.simulate(counting(method), 0.3, STEP, method)
    rest = mbd.simulate(counting(method), 0.4, STEP, method, start=first)
    for part in ("q", "v", "vd", "lam", "turns"):  # the start is the first record
        assert np.array_equal(getattr(rest, part)[0], getattr(first, part)[-1]), part
    if method.adaptive:  # the first run ends with a step that the whole one has not
        again = mbd.simulate(counting(method), 0.4, STEP, method, start=first.state)
        assert same(rest, again)
        return
    for part in ("q", "v", "vd", "lam", "turns"):
        assert np.array_equal(getattr(rest, part)[-1], getattr(whole, part)[-1]), part


@every_method
def test_a_force_that_begins_at_a_restart_acts_at_once(name):
    """1 N (or 1 m/s^2) on 1 kg for one step of 0.1 s: exactly 0.1 m/s."""
    method = METHODS[name]
    before, after = (fitting(method, tumbling((0.0, 0.0, f)), tumbling(None, (0.0, 0.0, f))) for f in (0.0, 1.0))
    first = mbd.simulate(before, 0.2, 0.1, method)
    second = mbd.simulate(after, 0.3, 0.1, method, start=first)
    assert second["body"].velocity[-1] == pytest.approx((0.3, 0.0, 0.1), abs=1e-12)
    assert second["body"].acceleration[-1] == pytest.approx((0.0, 0.0, 1.0), abs=1e-9)


TORQUES = (0.0, 0.7, -0.4, 0.9)
SAMPLE = 0.24
STIFFNESS = 0.5


def _controlled(method, u):
    """An oscillator with the stiffness 0.5 that a control acts on: (model, inertia, coordinate, rate)."""
    wheels = winding((0.0, 0.0, u)), winding_without_gear((0.0, 0.0, u))
    model = fitting(method, *wheels, swinging((u, 0.0, 0.0)), tumbling(None, (u, 0.0, 0.0)))
    inertia = {"winding": 0.2 + 0.1 * 0.25, "one wheel": 0.2}.get(model.name, 1.0)
    return model, inertia


def _state(solution):
    if "spring" not in solution.model:
        return solution["body"].position[-1, 0], solution["body"].velocity[-1, 0]
    if "wheel" in solution.model:
        return solution["spring"].angle[-1], solution["wheel"].angular_velocity[-1, 2]
    return solution["body"].position[-1, 0] - 1.0, solution["body"].velocity[-1, 0]


def _error(method, steps):
    """Of a control loop: another load in every sample, each run continuing the last one."""
    solution, x, rate = None, None, None
    for k, u in enumerate(TORQUES):
        model, inertia = _controlled(method, u)
        if solution is None:
            x, rate = _state(mbd.simulate(model, 0.0, 0.1, method))
        solution = mbd.simulate(model, SAMPLE * (k + 1), SAMPLE / steps, method, start=solution)
        if not model.forces:
            x, rate = x + SAMPLE * rate + 0.5 * SAMPLE**2 * u, rate + SAMPLE * u
            continue
        w, rest = np.sqrt(STIFFNESS / inertia), u / STIFFNESS
        c, s, a = np.cos(w * SAMPLE), np.sin(w * SAMPLE), x - rest
        x, rate = rest + a * c + rate / w * s, -w * a * s + rate * c
    return float(np.abs(np.array(_state(solution)) - (x, rate)).max())


@every_method
def test_a_control_loop_has_the_order_of_the_method(name):
    method = METHODS[name]
    if method.adaptive:
        assert _error(method, 4) < 100.0 * method.rtol
        return
    counts = {1: (64, 128, 256), 2: (8, 16, 32), 3: (8, 16, 32)}.get(method.order, (2, 4, 8))
    errors = [_error(method, n) for n in counts]
    if max(errors) < 1e-10:
        return
    assert observed_order(errors, [SAMPLE / n for n in counts]) > method.order - 0.15, errors
