"""Events, errors and interrupts stop a stepper where everything fits together."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest

import mbd
from mbd.integrators import DOPRI5, RK4, GeneralizedAlpha
from tests.simulation.stepped import STEP, cart_pole, spinning


def test_events():
    """As in simulate: found, and stopping the run; a stopped run does not go on."""
    model = cart_pole()
    events = [
        mbd.Event(lambda s: s["pole"].position[:, 2], name="level"),
        mbd.Event(lambda s: s["hinge"].angle - 3.0, stop=True, name="down"),
    ]
    whole = mbd.simulate(model, 5.0, 2e-3, events=events)
    for single in (True, False):
        sim = mbd.Simulator(model, 2e-3, events=events)
        with pytest.raises(mbd.ModelError, match="event 'down' has ended the run"):
            for _ in range(2500):
                if single:
                    sim.step()
                else:
                    sim.advance(0.25)
        solution = sim.solution()
        assert sim.stopped.name == "down" and solution.message == whole.message
        assert [(e.name, e.t) for e in solution.events] == [(e.name, e.t) for e in whole.events]
        assert np.array_equal(solution.q, whole.q) and np.array_equal(solution.t, whole.t)
        sim.reset()
        assert sim.stopped is None and sim.events == []
        sim.step()


def test_event_in_the_step_before_a_jump():
    """An event is located with the input that acted in its step, not with that of the next one."""
    model = mbd.Model("point")
    u = model.input("u", 1.0)
    point = model.add(mbd.PointMass("point", 1.0, (0, 0, 0)))
    model.add(mbd.forces.Force(point, (u, 0, 0)))
    level = 0.5 * 0.095**2
    sim = mbd.Simulator(model, 0.01, RK4(), events=mbd.Event(lambda s: s["point"].position[:, 0] - level))
    for _ in range(10):
        sim.step()
    sim.inputs["u"] = -1000.0
    for _ in range(2):
        sim.step()
    assert abs(sim.events[0].t - 0.095) < 1e-12


def test_errors_carry_what_was_computed():
    """Of the method and of a function; the simulator can be used again."""

    def force(t):
        if t > 0.0505:
            raise ValueError("no more")
        return 1.0

    model = cart_pole()
    model.add(mbd.forces.JointForce(model["rail"], force, name="late"))
    sim = mbd.Simulator(model, 1e-3)
    with pytest.raises(mbd.UserFunctionError, match="no more") as caught:
        for _ in range(100):
            sim.step()
    assert 50 <= len(caught.value.solution) <= 52
    sim.reset()
    sim.advance(0.05)
    assert len(sim.solution()) == 51

    wild = mbd.Model("wild")
    point = wild.add(mbd.PointMass("point", 1.0, (1, 0, 0)))
    wild.add(mbd.forces.Spring(wild.ground, point, stiffness=1e9, length=0.5))
    sim = mbd.Simulator(wild, 0.1, RK4())
    with pytest.raises(mbd.ConvergenceError) as caught:
        for _ in range(200):
            sim.step()
    assert len(caught.value.solution) == sim.index + 1 > 1
    with pytest.raises(mbd.ConvergenceError):
        sim.advance(0.1)


def test_interrupts_leave_a_state_that_can_be_stepped_on():
    """Ctrl-C wherever it comes: records and steps stay together, and the motion is that of a run without it."""
    model = cart_pole()
    sim = mbd.Simulator(model, 1e-4)
    caught, armed, ended = 0, threading.Event(), threading.Event()

    def disturb():
        while not ended.wait(0.002):
            if armed.is_set():  # one for each round: one more would come while the last one is dealt with
                armed.clear()
                signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=disturb)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start jobs that ignore it
    thread.start()
    try:
        while sim.index < 20000 or (caught < 3 and sim.index < 1000000):  # a busy machine starts threads late
            try:
                armed.set()
                for _ in range(5000):
                    sim.step()
                    if sim.index % 1000 == 0:
                        sim.advance(0.01)
            except KeyboardInterrupt:
                caught += 1
    finally:
        try:
            ended.set()
            thread.join()
        except KeyboardInterrupt:
            thread.join()
        signal.signal(signal.SIGINT, before)
    assert caught > 0
    whole = mbd.simulate(model, sim.index * 1e-4, 1e-4)
    solution = sim.solution()
    assert len(solution) == sim.index + 1 and np.array_equal(solution.q, whole.q)


@pytest.mark.parametrize("method", [GeneralizedAlpha(), RK4(), DOPRI5()])
def test_a_stopped_simulator_is_at_its_event(method):
    """However many steps behind it were made until it was found."""
    stop = mbd.Event(lambda s: s["hinge"].angle - 7.5, stop=True, name="there")
    for duration in (2 * STEP, 2.0):
        sim = mbd.Simulator(spinning(), STEP, method, events=stop)
        while sim.stopped is None:
            sim.advance(duration)
        assert sim.t == sim.stopped.t == pytest.approx(0.75, abs=1e-9)
        assert sim["hinge"].angle == pytest.approx(7.5, abs=1e-7)
        assert sim["disk"].rotation[0] == pytest.approx([np.cos(7.5), -np.sin(7.5), 0], abs=1e-7)
        last = sim.solution().part(-1)
        assert last.t[0] == sim.t and np.array_equal(last.q[0], sim.q) and np.array_equal(last.v[0], sim.v)
        assert last["hinge"].angle[0] == pytest.approx(7.5, abs=1e-7)
        with pytest.raises(mbd.ModelError, match=r"'there' has ended the run .* mbd.model_at\(sim.solution\(\)\)"):
            _ = sim.state
        sim.reset()
        assert (sim.t, sim["hinge"].angle) == (0.0, 0.0)


@pytest.mark.parametrize("method", [RK4(), GeneralizedAlpha(), DOPRI5()])
@pytest.mark.parametrize("options", [{}, {"record": False}, {"record": ["body.position"]}, {"output_step": 0.1}])
def test_events_of_what_depends_on_inputs(method, options):
    """A force that jumps with its input crosses a level there, its power where the velocity takes it."""
    model = mbd.Model("pushed")
    u = model.input("u", 1.0)
    model.add(mbd.forces.Force(model.add(mbd.PointMass("body", 1.0)), (u, 0, 0), name="push"))
    events = [
        mbd.Event(lambda s: s["push"].force[:, 0] - 2.0, name="force"),
        mbd.Event(lambda s: s["push"].power - 0.2, name="power"),
        mbd.Event(lambda s: s["push"].power - 3.0, name="more"),
    ]
    sim = mbd.Simulator(model, 0.01, method, events=events, **options)
    for k in range(100):
        sim.inputs["u"] = 1.0 if k < 30 else 3.0
        sim.advance(0.01)
    sim.solution()
    found = {event.name: event.t for event in sim.events}
    assert found == pytest.approx({"power": 0.2, "force": 0.3, "more": 0.3 + 0.7 / 3.0}, abs=1e-6)
