"""Runs that are made step by step: the same numbers as in one go, for every integrator, whatever happens in between."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import mbd
from mbd.compiled.settings import PUBLIC
from mbd.integrators import DOPRI5, RK4, AdaptiveAlpha, GeneralizedAlpha, LieEM
from tests.integrators.every_method import METHODS, counting, fitting

STEP, STEPS = 0.02, 60
RECORDS = ("t", "q", "v", "vd", "lam", "turns")
every_method = pytest.mark.parametrize("name", METHODS)


def same(a, b):
    """Equal bit for bit, variables of the scheme included."""
    return all(np.array_equal(getattr(a, x), getattr(b, x), equal_nan=True) for x in RECORDS) and all(
        np.array_equal(a._recorded[x], b._recorded[x], equal_nan=True) for x in a._recorded
    )


def cart_pole(angle=0.3, coordinates="absolute"):
    """A pole on a cart that a force along the rail, an input, drives."""
    model = mbd.Model("cart-pole", gravity=(0, 0, -9.81))
    force, mass = model.input("u"), model.parameter("mass", 0.1)
    cart = model.add(mbd.RigidBody("cart", 1.0, (0.1, 0.1, 0.1)))
    at = mbd.nodes.RotationVector(0.5 * np.array((np.sin(angle), 0, np.cos(angle))), mbd.rotation((0, angle, 0)))
    pole = model.add(mbd.RigidBody("pole", mass, (0.01, 0.01, 0.001), at))
    rail = model.add(mbd.joints.Prismatic(model.ground, cart, axis=(1, 0, 0), name="rail"))
    model.add(mbd.joints.Revolute(cart, pole, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    model.add(mbd.forces.JointForce(rail, force, name="motor"))
    return model.with_coordinates(coordinates)


@every_method
def test_steps_are_those_of_simulate(name):
    """Single steps, many steps, single steps again, with a look at the state in between; and the same after a reset."""
    method = METHODS[name]
    model = counting(method)
    whole = mbd.simulate(model, STEPS * STEP, STEP, method)
    sim = mbd.Simulator(model, STEP, method)
    for _ in range(2):
        if method.adaptive:
            sim.advance(STEPS * STEP)
        else:
            for k in range(STEPS // 3):
                sim.step()
                assert sim.index == k + 1
            body = model.bodies[0].name
            assert np.array_equal(sim[body].position, whole[body].position[STEPS // 3])
            sim.advance(STEPS // 3 * STEP)
            for _ in range(STEPS // 3):
                sim.step()
        stepped = sim.solution()
        assert same(stepped, whole)
        assert {**whole.stats, "wall_time": 0.0} == {**stepped.stats, "wall_time": 0.0}
        assert stepped.energy.total[-1] == whole.energy.total[-1]
        sim.reset()


@every_method
def test_inputs_set_before_the_first_step_act_from_the_beginning(name):
    """As those of the model do, bit for bit, again after a reset, and not when others are set then."""
    method = METHODS[name]
    pushed, model = (fitting(method, *(_pushed(kind) for kind in ("rod", "point", "free", "falling"))) for _ in "ab")
    before = mbd.simulate(model, 10 * STEP, STEP, method)
    pushed.parameters["u"] = 0.7
    whole = mbd.simulate(pushed, 10 * STEP, STEP, method)
    sim = mbd.Simulator(model, STEP, method)
    for value, expected in ((0.7, whole), (0.7, whole), (None, before)):
        if value is not None:
            sim.inputs["u"] = value
        sim.advance(10 * STEP)
        assert same(sim.solution(), expected)
        sim.reset()


@every_method
def test_input_that_changes(name):
    """A force that an input changes acts in every method, from the next step on: order as in a run that begins anew."""
    method = METHODS[name]
    if method.adaptive:
        return

    def model(value):
        m = fitting(method, *(_pushed(kind) for kind in ("rod", "point", "free", "falling")))
        m.parameters["u"] = value
        return m

    gaps = []
    for h in (0.02, 0.01):
        sim = mbd.Simulator(model(0.3), h, method)
        sim.advance(0.4)
        sim.inputs["u"] = -2.0
        if sim.model.name == "falling":  # free motions are evaluated from the start
            with pytest.raises(mbd.IncompatibleError, match="must not change during it"):
                sim.step()
            return
        sim.advance(0.4)
        begun = mbd.simulate(model(0.3), 0.4, h, method)
        anew = mbd.simulate(model(-2.0), 0.8, h, method, start=begun)
        gaps.append(np.abs(sim.q - anew.q[-1]).max())
        assert np.abs(sim.q - mbd.simulate(model(0.3), 0.8, h, method).q[-1]).max() > 0.05  # it acted
        solution = sim.solution()
        assert list(np.unique(solution.inputs["u"])) == [-2.0, 0.3]
    # a change that arrived half a step late would leave a gap that is halved only
    assert gaps[1] <= 0.3 * gaps[0] or gaps[0] < 1e-9


def _pushed(kind):
    """A body under a force that is an input: on a rod, a point, or free."""
    model = mbd.Model(kind)
    u = model.input("u")
    if kind == "falling":
        model.gravity = (0, 0, u)
        model.add(mbd.RigidBody("body", 1.0, (0.3, 0.3, 0.5)))
        return model
    if kind == "point":
        body = model.add(mbd.PointMass("body", 1.0, (0.5, 0, 0), velocity=(0, 0.2, 0)))
    else:
        node = mbd.nodes.RotationVector((0.5, 0, 0), angular_velocity=(0, 0.1, 0))
        body = model.add(mbd.RigidBody("body", 1.0, (0.3, 0.3, 0.5), node))
    if kind == "rod":
        model.add(mbd.joints.Spherical(model.ground, body, at=(0, 0, 0), name="ball"))
    model.add(mbd.forces.Force(body, (0.0, 0.0, u), name="push"))
    return model


@pytest.mark.parametrize("method", [GeneralizedAlpha(), GeneralizedAlpha(stabilized=False), RK4(), LieEM()])
def test_sampled_input_has_the_order_of_the_method(method):
    """A force that jumps at every fifth step, against the closed solution: half the step, a quarter of the error."""
    model = mbd.Model("point")
    u = model.input("u")
    point = model.add(mbd.PointMass("point", 2.0, (0, 0, 0)) if not isinstance(method, LieEM) else _sphere())
    model.add(mbd.forces.Force(point, (u, 0, 0)))
    model.add(mbd.forces.Spring(model.ground, point, stiffness=8.0, length=5.0, point_a=(-5.0, 0, 0)))
    values = [1.0, -0.5, 2.0, 0.0, -1.0]
    x, v, w, sample = 0.0, 0.0, 2.0, 0.1
    for value in values:  # x'' + w^2 x = u / m, exactly over each piece
        rest = value / 8.0
        c, s = np.cos(w * sample), np.sin(w * sample)
        x, v = rest + (x - rest) * c + v / w * s, -(x - rest) * w * s + v * c
    errors = []
    for count in (5, 10):
        sim = mbd.Simulator(model, sample / count, method)
        for value in values:
            sim.inputs["u"] = value
            for _ in range(count):
                sim.step()
        errors.append(np.hypot(sim["point"].position[0] - x, (sim["point"].velocity[0] - v) / w))
    assert errors[0] / errors[1] > 3.5
    assert errors[1] < 1e-3


def _sphere():
    return mbd.RigidBody("point", 2.0, (0.1, 0.1, 0.1))


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_solution_knows_its_inputs(coordinates):
    """Forces, powers, reactions and the energy balance of a record are those of the input that acted there."""
    sim = mbd.Simulator(cart_pole(coordinates=coordinates), 1e-3)
    rng = np.random.default_rng(3)
    forces = rng.uniform(-5.0, 5.0, 20)
    for force in forces:
        sim.inputs["u"] = force
        sim.advance(0.02)
    shown = sim["motor"].effort
    solution = sim.solution()
    acted = np.concatenate((forces[:1], np.repeat(forces, 20)))  # the first one was set before the first step
    assert np.array_equal(solution.inputs["u"], acted)
    assert np.array_equal(solution["motor"].effort, acted)
    assert shown == acted[-1]
    assert np.allclose(solution["motor"].power, acted * solution["rail"].displacement_rate, rtol=1e-12)
    sim.inputs["u"] = 100.0  # the solution does not follow
    assert np.array_equal(solution["motor"].effort, acted)
    sim.reset(mass=7.0)
    assert np.array_equal(solution.system.values["mass"], 0.1)
    assert np.ptp(solution.energy.total) > 0.04
    balance = mbd.results.balance.energy_balance(solution)
    assert abs(balance.relative) < 1e-3
    later = solution.at(0.0305)
    assert later["motor"].effort[0] == forces[1]
    with pytest.raises(mbd.ModelError, match="inputs changed during this run"):
        mbd.find_events(solution, mbd.Event(lambda s: s["cart"].position[:, 0]))


def test_reset_with_parameters():
    """The run of a fresh model with these parameters, bit for bit; inputs return to where they were."""
    sim = mbd.Simulator(cart_pole(), 2e-3)
    sim.inputs["u"] = 3.0
    sim.advance(0.1)
    for mass in (0.4, 0.1, 2.0):
        sim.reset(mass=mass)
        assert sim.t == 0.0 and sim.index == 0 and sim.inputs["u"] == 0.0
        sim.advance(0.1)
        model = cart_pole()
        model.parameters["mass"] = mass
        assert same(sim.solution(), mbd.simulate(model, 0.1, 2e-3))
    sim.reset(u=1.5)
    assert sim.inputs["u"] == 1.5
    with pytest.raises(mbd.ModelError, match="has no parameter or input 'maas'"):
        sim.reset(maas=1.0)
    sim.system.set_parameters({"mass": 3.0})
    with pytest.raises(mbd.ModelError, match="parameter 'mass' was changed during the run"):
        sim.step()


@pytest.mark.parametrize("method", [GeneralizedAlpha(), DOPRI5()], ids=lambda m: m.name)
def test_reset_returns_to_the_state_that_was_given(method):
    """With its time, its inputs and the angles with their turns; after rebuild the initial values are the start."""
    first = mbd.Simulator(cart_pole(), STEP, method)
    first.inputs["u"] = 2.0
    first.advance(10 * STEP)
    state = first.state
    sim = mbd.Simulator(cart_pole(), STEP, method, start=state)
    for u in (None, None, 5.0):
        sim.reset(**({} if u is None else {"u": u}))
        assert sim.t == first.t and np.array_equal(sim.q, state["q"]) and sim["hinge"].angle == first["hinge"].angle
        assert sim.inputs["u"] == (2.0 if u is None else u)
        sim.advance(10 * STEP)
        other = mbd.Simulator(cart_pole(), STEP, method, start=state)
        other.inputs["u"] = sim.inputs["u"]
        other.advance(10 * STEP)
        assert same(sim.solution(), other.solution())
        sim.inputs["u"] = -7.0
    sim.reset(mass=0.4)
    heavier = cart_pole()
    heavier.parameters["mass"] = 0.4
    assert np.array_equal(sim.q, state["q"])
    sim.advance(10 * STEP)
    other = mbd.Simulator(heavier, STEP, method, start=state)
    other.advance(10 * STEP)
    assert np.array_equal(sim.q, other.q)
    sim.rebuild()
    sim.reset()
    assert sim.t == 0.0 and sim.inputs["u"] == 0.0


def test_attributes_act_after_rebuild():
    model = cart_pole()
    sim = mbd.Simulator(model, 2e-3)
    model["cart"].mass = 5.0
    sim.rebuild()
    sim.advance(0.1)
    assert same(sim.solution(), mbd.simulate(model, 0.1, 2e-3))


@every_method
def test_state(name):
    """Back to a state of before, and on from the state of a solution: bit for bit, records beginning there."""
    method = METHODS[name]
    model = counting(method)
    sim = mbd.Simulator(model, STEP, method)
    sim.advance(10 * STEP)
    state = sim.state
    sim.advance(10 * STEP)
    first = sim.solution()
    sim.set_state(state)
    assert sim.t == float(state["t"])
    sim.advance(10 * STEP)
    again = sim.solution()
    assert np.array_equal(again.q[-1], first.q[-1]) and again.t[0] == float(state["t"])
    assert np.array_equal(again.q, first.q[-len(again) :])
    other = mbd.Simulator(model, STEP, method, start=state)
    other.advance(10 * STEP)
    assert np.array_equal(other.q, first.q[-1])
    further = mbd.simulate(model, 30 * STEP, STEP, method, start=sim.state)
    sim.advance(10 * STEP)
    assert np.array_equal(sim.q, further.q[-1]) or method.adaptive


@every_method
def test_a_state_behind_a_change_of_an_input(name):
    """Bit for bit, as any other: also of methods that keep copies of the numbers of forces for their matrices."""
    method = METHODS[name]
    if method.adaptive:
        return
    sim = mbd.Simulator(fitting(method, *(_sprung(kind) for kind in ("hinge", "point", "free"))), STEP, method)
    sim.advance(10 * STEP)
    sim.inputs["u"] = -2.0
    if sim.model.name == "free":
        return  # of single bodies on which nothing may act
    sim.advance(STEP)
    state = sim.state
    sim.advance(10 * STEP)
    expected = sim.solution()
    sim.set_state(state)
    sim.advance(10 * STEP)
    assert same(sim.solution().part(slice(1, None)), expected.part(slice(-10, None)))


def _sprung(kind):
    """A body under a spring whose stiffness is an input: on a hinge, a point, or free."""
    model = mbd.Model(kind)
    u = model.input("u", 0.3)
    if kind == "free":
        model.add(mbd.RigidBody("body", 1.0, (0.3, 0.3, 0.5)))
        return model
    if kind == "point":
        body = model.add(mbd.PointMass("body", 1.0, (0.5, 0, 0), velocity=(0, 0.2, 0)))
    else:
        body = model.add(mbd.RigidBody("body", 1.0, (0.3, 0.3, 0.5), mbd.nodes.RotationVector((0.5, 0, 0))))
        model.add(mbd.joints.Revolute(model.ground, body, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    model.add(mbd.forces.Spring(model.ground, body, (0.5, 0, 1), stiffness=20.0 + 10.0 * u, length=0.6))
    return model


def test_state_holds_inputs():
    sim = mbd.Simulator(cart_pole(), 2e-3)
    sim.inputs["u"] = 2.0
    sim.advance(0.1)
    state = sim.state
    sim.advance(0.1)
    expected = sim.q
    sim.inputs["u"] = -9.0
    pending = sim.state  # after an input was set, before it has acted
    sim.advance(0.1)
    later = sim.q
    sim.set_state(pending)
    assert sim.inputs["u"] == -9.0
    sim.advance(0.1)
    assert np.array_equal(sim.q, later)
    sim.set_state(state)
    assert sim.inputs["u"] == 2.0
    sim.advance(0.1)
    assert np.array_equal(sim.q, expected)


def test_a_solution_knows_the_inputs_at_its_end(capsys):
    """As a state does: going on from it is going on with them."""
    sim = mbd.Simulator(cart_pole(), STEP)
    for u in (1.0, 2.5):
        sim.inputs["u"] = u
        sim.advance(10 * STEP)
    end, again = sim.solution(), mbd.Simulator(cart_pole(), STEP)
    sim.advance(10 * STEP)
    again.set_state(end)
    assert again.inputs["u"] == 2.5
    again.advance(10 * STEP)
    assert np.array_equal(again.q, sim.q)
    assert mbd.Simulator(cart_pole(), STEP, start=end).inputs["u"] == 2.5
    mbd.simulate(cart_pole(), 30 * STEP, STEP, start=end)
    assert "the state was left with input 'u' = 2.5; now that of the model acts, 0" in capsys.readouterr().err


def test_records():
    """Every so often, never, and in many blocks."""
    model = cart_pole()
    sim = mbd.Simulator(model, 1e-3, output_step=4e-3)
    for _ in range(1003):
        sim.step()
    whole = mbd.simulate(model, 1.003, 1e-3)
    solution = sim.solution()
    assert np.array_equal(solution.q, whole.q[:1003:4]) and np.allclose(solution.t, whole.t[:1003:4], rtol=1e-15)
    sim.step()
    assert np.array_equal(sim.solution().q[-1], sim.q)
    none = mbd.Simulator(model, 1e-3, record=False)
    none.advance(1.0)
    none.step()
    assert len(none.solution()) == 1 and np.array_equal(none.q, whole.q[1001])
    assert none.solution().t[0] == 0.0


def test_turns_are_counted():
    """Angles at present have all turns, looked at in every step, rarely, or for the first time at the end."""
    model = cart_pole(angle=np.pi - 0.01)
    model["pole"].node.angular_velocity = (0, 120.0, 0)
    sim = mbd.Simulator(model, 1e-3)
    often, rarely = [], []
    for k in range(900):
        sim.step()
        if k % 300 < 100:
            often.append((k + 1, sim["hinge"].angle))
    whole = mbd.simulate(model, 0.9, 1e-3)["hinge"].angle
    assert np.ptp(whole) > 20.0
    assert all(abs(angle - whole[k]) < 1e-12 for k, angle in often)
    sim.reset()
    for k in range(3):
        sim.advance(0.3)
        rarely.append(abs(sim["hinge"].angle - whole[300 * (k + 1)]))
    assert max(rarely) < 1e-12
    late = mbd.Simulator(model, 1e-3)
    late.advance(0.9)
    assert abs(late["hinge"].angle - whole[-1]) < 1e-12


def test_every_quantity_at_present():
    """What a solution says of its last record."""
    model = cart_pole()
    sim = mbd.Simulator(model, 1e-3)
    sim.inputs["u"] = 1.0
    sim.advance(0.2)
    solution = sim.solution()
    for element, names in {
        "pole": ("position", "velocity", "acceleration", "rotation", "quaternion", "angular_velocity", "com"),
        "hinge": ("angle", "angle_rate", "force", "torque", "multipliers", "coordinates", "rates", "accelerations"),
        "rail": ("displacement", "displacement_rate", "force"),
        "motor": ("effort", "power", "energy"),
    }.items():
        for name in names:
            now, then = getattr(sim[element], name), getattr(solution[element], name)[-1]
            assert np.allclose(now, then, rtol=1e-13, atol=1e-13), (element, name)
            assert np.shape(now) == np.shape(then)
    at = sim["pole"].point((0, 0, 0.5))
    assert at.shape == (3,)
    held = sim["pole"].position
    sim.advance(0.2)
    assert not np.array_equal(held, sim["pole"].position)  # what was read stays what it was
    assert sim.now.energy.total[0] == sim.solution().energy.total[-1]
    assert "angle" in dir(sim["hinge"]) and "at t = 0.4" in repr(sim["hinge"])
    with pytest.raises(AttributeError, match="leaves no displacement free"):
        _ = sim["hinge"].displacement


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
@pytest.mark.parametrize("method", [GeneralizedAlpha(), DOPRI5(), LieEM()], ids=lambda m: m.name)
def test_what_was_read_stays(coordinates, method):
    """Arrays that ``sim.now`` gives are those of their time; ``sim.now`` itself, and what it has of elements, go on."""
    sim = mbd.Simulator(cart_pole(coordinates=coordinates), 1e-3, method)
    now = sim.now
    pole, hinge = now["pole"], now["hinge"]
    read = []
    for k in range(12):
        sim.inputs["u"] = 3.0 * k
        if method.adaptive or k % 3 == 0:
            sim.advance(2e-3)
        else:
            sim.step()
        told = {x: getattr(now, x) for x in ("t", "q", "v", "vd", "lam")} | {
            "position": pole.position, "rotation": pole.rotation, "velocity": pole.velocity, "angle": hinge.angle,
            "rate": hinge.angle_rate, "force": hinge.force, "shown": sim["rail"].coordinates,
            "energy": now.energy.total,
        }  # fmt: skip
        assert told["t"][0] == sim.t and np.array_equal(told["position"][0], sim["pole"].position)
        assert told["energy"][0] == sim.solution().energy.total[-1]
        read.append((told, copy.deepcopy(told)))
    sim.reset()
    assert now.t[0] == 0.0 and np.array_equal(pole.position[0], sim["pole"].position)
    sim.advance(0.01)
    for told, then in read:
        for name, x in told.items():
            assert np.array_equal(x, then[name], equal_nan=True), name
    assert read[0][0]["position"][0, 0] != read[-1][0]["position"][0, 0]


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


def test_values_of_functions():
    """What a function refers to is what it was when the step was asked for."""
    gain = np.array([1.0]) if PUBLIC else [1.0]  # lists are plain Python there
    table = np.array([1.0, 2.0])

    def force(t):
        return gain[0] * table[1]

    def build():
        model = mbd.Model("point")
        point = model.add(mbd.PointMass("point", 1.0, (0, 0, 0)))
        model.add(mbd.forces.Force(point, lambda t: (force(t), 0.0, 0.0)))
        return model

    sim = mbd.Simulator(build(), 0.01, GeneralizedAlpha())
    sim.advance(0.1)
    gain[0] = 3.0
    for _ in range(10):
        sim.step()
    assert abs(sim["point"].velocity[0] - (0.2 + 0.6)) < 1e-12
    table[1] = 0.0
    sim.advance(0.1)
    assert abs(sim["point"].velocity[0] - 0.8) < 1e-12


def test_interrupts_leave_a_state_that_can_be_stepped_on():
    """Ctrl-C wherever it comes: records and steps stay together, and the motion is that of a run without it."""
    model = cart_pole()
    sim = mbd.Simulator(model, 1e-4)
    caught, ended = 0, threading.Event()

    def disturb():
        while not ended.wait(0.002):
            signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=disturb)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start jobs that ignore it
    thread.start()
    try:
        while sim.index < 20000 or (caught < 3 and sim.index < 1000000):  # a busy machine starts threads late
            try:
                for _ in range(5000):
                    sim.step()
                    if sim.index % 1000 == 0:
                        sim.advance(0.01)
            except KeyboardInterrupt:
                caught += 1
    finally:
        while True:
            try:
                ended.set()
                thread.join()
                signal.signal(signal.SIGINT, before)
                break
            except KeyboardInterrupt:
                continue
    assert caught > 0
    whole = mbd.simulate(model, sim.index * 1e-4, 1e-4)
    solution = sim.solution()
    assert len(solution) == sim.index + 1 and np.array_equal(solution.q, whole.q)


def test_refused():
    model = cart_pole()
    with pytest.raises(mbd.ModelError, match="model is 3; expected an mbd.Model"):
        mbd.Simulator(3, 0.1)
    with pytest.raises(mbd.ModelError, match=r"call the class"):
        mbd.Simulator(model, 0.1, GeneralizedAlpha)
    with pytest.raises(mbd.ModelError, match="expected positive numbers"):
        mbd.Simulator(model, -0.1)
    with pytest.raises(mbd.ModelError, match="record is 3; expected True, False, or names"):
        mbd.Simulator(model, 0.1, record=3)
    with pytest.raises(mbd.ModelError, match="expected a multiple of the step"):
        mbd.Simulator(model, 0.1, output_step=0.25)
    with pytest.raises(mbd.IncompatibleError):
        mbd.Simulator(model, 0.1, mbd.integrators.JacobiExact())
    sim = mbd.Simulator(model, 0.1)
    with pytest.raises(mbd.ModelError, match="2.5 steps of 0.1; expected a whole number"):
        sim.advance(0.25)
    with pytest.raises(mbd.ModelError, match="expected a time, positive or zero"):
        sim.advance(-0.1)
    with pytest.raises(mbd.ModelError, match="chooses its steps itself"):
        mbd.Simulator(model, 0.1, DOPRI5()).step()
    with pytest.raises(mbd.ModelError, match="has no parameter or input 'w'"):
        sim.inputs["w"] = 1.0
    with pytest.raises(mbd.ModelError, match="Simulator: t_start is 3.0, but start= goes on from t = 0.0"):
        mbd.Simulator(model, 0.1, t_start=3.0, start=sim.state)
    with pytest.raises(mbd.ModelError, match="Simulator: fixed= belongs to initial conditions"):
        mbd.Simulator(model, 0.1, fixed="cart", start=sim.state)


@pytest.mark.parametrize("method", [RK4(), DOPRI5(), GeneralizedAlpha()], ids=lambda m: m.name)
def test_steps_that_vanish_beside_the_time(method):
    """The time would stand still while functions of it are asked."""
    with pytest.raises(mbd.ModelError, match=r"Simulator: step is 0\.001, which is lost beside t = 1e\+15"):
        mbd.Simulator(cart_pole(), 1e-3, method, t_start=1e15)
    if not method.adaptive:
        with pytest.raises(mbd.ModelError, match=r"Simulator: step is 0\.001, which is lost beside t = 1e\+20"):
            mbd.Simulator(cart_pole(), 1e-3, method).advance(1e20)


@pytest.mark.parametrize("method", [DOPRI5(rtol=1e-10, atol=1e-12), AdaptiveAlpha(rtol=1e-4, atol=1e-4)])
def test_adaptive_inputs(method):
    """With step-size control, first-same-as-last included: nothing that a step begins with knows the old force.

    Of constant forces generalized-alpha makes no error, whatever its tolerance, unless it begins with those before.
    """
    model = _pushed("free")
    sim = mbd.Simulator(model, 0.01, method)
    at, v = 0.0, 0.0
    for value in (1.0, -3.0, 2.0):
        sim.inputs["u"] = value
        sim.advance(0.13)
        at, v = at + v * 0.13 + 0.5 * value * 0.13**2, v + value * 0.13
    assert abs(sim["body"].position[2] - at) < 1e-9
    solution = sim.solution()
    assert solution.t[-1] == sim.t and np.array_equal(solution["push"].force[-1], (0, 0, 2.0))


def test_saved_with_its_inputs(tmp_path):
    """A file knows the inputs; what depends on them is right with the model, and refused without, never wrong."""
    sim = mbd.Simulator(cart_pole(), 1e-3)
    for force in (1.0, -3.0, 2.0):
        sim.inputs["u"] = force
        sim.advance(0.05)
    solution = sim.solution()
    solution.save(tmp_path / "run.npz")
    plain, full = mbd.load(tmp_path / "run.npz"), mbd.load(tmp_path / "run.npz", model=cart_pole())
    for read in (plain, full):
        assert np.array_equal(read.inputs["u"], solution.inputs["u"])
        assert np.array_equal(read.energy.total, solution.energy.total)
        assert np.array_equal(read["pole"].position, solution["pole"].position)
    assert np.array_equal(full["motor"].effort, solution["motor"].effort)
    with pytest.raises(mbd.ModelError, match="input 'u' changed during this run"):
        _ = plain["motor"].effort
    constant = mbd.Simulator(cart_pole(), 1e-3)
    constant.inputs["u"] = 2.0
    constant.advance(0.05)
    constant.inputs["u"] = 70.0  # of the next step, which is not made
    known = constant.solution()
    known.part(slice(1, None)).save(tmp_path / "constant.npz")
    assert np.array_equal(mbd.load(tmp_path / "constant.npz")["motor"].effort, known["motor"].effort[1:])
    assert np.array_equal(known["motor"].effort, np.full(51, 2.0))


INTERPRETED = """
import mbd
from mbd.integrators import GeneralizedAlpha, Rattle
from mbd.nodes import Directors
for method in (GeneralizedAlpha(), Rattle()):
    model = mbd.Model("pushed")
    u = model.input("u", 1.0)
    body = model.add(mbd.RigidBody("body", 1.0, (0.3, 0.3, 0.5), Directors()))
    model.add(mbd.forces.Force(body, (u, 0, 0)))
    sim = mbd.Simulator(model, 0.1, method)
    sim.step()
    sim.inputs["u"] = -3.0
    sim.step()
    print(sim["body"].velocity[0])
"""


def test_jumps_without_compiled_code():
    """Constant forces in two steps: v = 0.1 - 0.3 in every method."""
    root = str(Path(mbd.__file__).parents[1])
    environment = {**os.environ, "MBD_JIT": "0", "PYTHONPATH": root}
    run = subprocess.run([sys.executable, "-c", INTERPRETED], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert [float(x) for x in run.stdout.split()] == pytest.approx([-0.2, -0.2], abs=1e-9)


def test_other_inputs_of_a_continued_state_are_told(capsys):
    """The inputs of a simulator are in its state; a run of the model goes on with those of the model, and says so."""
    model = mbd.Model("pushed")
    u = model.input("u", 1.0)
    body = model.add(mbd.PointMass("body", mass=1.0))
    model.add(mbd.forces.Force(body, (u, 0, 0)))
    sim = mbd.Simulator(model, 0.01)
    sim.inputs["u"] = 2.0
    sim.advance(0.1)
    there = mbd.simulate(model, 0.2, 0.01, start=sim.state)[body].position[-1, 0]
    assert there == pytest.approx(0.5 * 2.0 * 0.1**2 + 2.0 * 0.1 * 0.1 + 0.5 * 1.0 * 0.1**2, rel=1e-12)
    assert "left with input 'u' = 2; now that of the model acts, 1" in capsys.readouterr().err
    model.parameters["u"] = 2.0
    mbd.simulate(model, 0.2, 0.01, start=sim.state)
    assert "left with input" not in capsys.readouterr().err


def test_nothing_is_read_across_a_hidden_change_of_an_input(tmp_path):
    """With few records, inputs may change between two of them: what is read there would be wrong."""
    model = mbd.Model("pushed")
    u = model.input("u", 1.0)
    body = model.add(mbd.PointMass("body", mass=1.0))
    model.add(mbd.forces.Force(body, (u, 0, 0)))
    sim = mbd.Simulator(model, 0.01, output_step=0.1)
    for k in range(30):
        sim.inputs["u"] = 1.0 if k < 15 else 2.0  # changes at t = 0.15; records are at 0.1 and 0.2
        sim.step()
    solution = sim.solution()
    solution.save(tmp_path / "run.npz")
    for each in (solution, mbd.load(tmp_path / "run.npz", model=model)):
        assert each.at(0.05)[body].position[0, 0] == pytest.approx(0.5 * 0.05**2, rel=1e-12)
        assert each.at(0.2)[body].position[0, 0] == pytest.approx(0.02 + 0.5 * 0.05**2, rel=1e-12)
        with pytest.raises(mbd.ModelError, match="an input changed between the two records around t = 0.12"):
            each.at([0.05, 0.12])
    sim.reset()
    for k in range(30):
        sim.inputs["u"] = 1.0 if k < 20 else 2.0
        sim.step()
    late = sim.solution().at(0.25)[body].position[0, 0]
    assert late == pytest.approx(0.5 * 0.2**2 + 0.2 * 0.05 + 0.05**2, rel=1e-9)


# --- chosen records, and records on disk


CHOSEN = ["cart.position", "hinge.angle", "motor.force", "hinge.force"]


def test_chosen_quantities_and_records_on_disk(tmp_path):
    """Quantities that depend on inputs are those of the steps in which they acted, also of blocks that are gone."""
    sims = [
        mbd.Simulator(cart_pole(), 1e-2),
        mbd.Simulator(cart_pole(), 1e-2, record=CHOSEN),
        mbd.Simulator(cart_pole(), 1e-2, record=CHOSEN, store=tmp_path / "run"),
    ]
    for k in range(600):  # several blocks
        for sim in sims:
            sim.inputs["u"] = 0.3 * np.sin(0.1 * k)
            sim.step()
    assert len({sim["hinge"].angle for sim in sims}) == 1
    whole, chosen, stored = (sim.solution() for sim in sims)
    for found in (chosen, stored, mbd.load(tmp_path / "run")):
        assert np.array_equal(found.t, whole.t)
        assert all(np.array_equal(found[name], whole.channel(name)) for name in CHOSEN if name != "hinge.angle")
        assert np.allclose(found["hinge.angle"], whole["hinge"].angle, rtol=0.0, atol=1e-14)  # turns are added
    assert len(sims[1]._recording.inputs) < 3  # no more than further records ask for
    for sim in sims:
        sim.step()
    assert [len(sim.solution()) for sim in sims] == [602] * 3
    with pytest.raises(mbd.ModelError, match="needs a folder of its own"):
        sims[2].reset()
    sims[1].reset()
    assert len(sims[1].solution()) == 1
    other = mbd.Simulator(cart_pole(), 1e-2, record=["cart.position"])
    other.advance(0.5)
    with pytest.raises(mbd.ModelError, match="turns of hinge in the last 50 steps are not known"):
        _ = other["hinge"].angle
    with pytest.raises(mbd.ModelError, match="choose what is recorded"):
        mbd.Simulator(cart_pole(), 1e-2, store=tmp_path / "other").solution()
    with pytest.raises(mbd.ModelError, match="record=False makes none"):
        mbd.Simulator(cart_pole(), 1e-2, record=False, store=tmp_path / "other")


@pytest.mark.parametrize("choice", [True, ["cart.position"]])
def test_folders_can_be_read_from_the_first_step_on(choice, tmp_path):
    """A program that is killed leaves the records up to its last block, and the first one in any case."""
    model = cart_pole().without_parameters()
    sim = mbd.Simulator(model, 1e-2, store=tmp_path / "run", record=choice)
    sim.step()
    for steps in (0, 600):
        for _ in range(steps):
            sim.step()
        read = mbd.load(tmp_path / "run")
        assert not read.complete and "cut off" in read.message
        assert len(read) == 1 if not steps else steps / 2 < len(read) < steps
    assert len(sim.solution()) == 602 == len(mbd.load(tmp_path / "run"))


def test_all_records_on_disk(tmp_path):
    model = cart_pole().without_parameters()
    sim = mbd.Simulator(model, 1e-2, store=tmp_path / "run")
    sim.advance(6.0)
    whole = mbd.simulate(model, 6.0, 1e-2, progress=False)
    stored, again = sim.solution(), mbd.load(tmp_path / "run")
    for name in ("t", "q", "v", "vd", "lam"):
        assert np.array_equal(getattr(stored, name), getattr(whole, name))
        assert np.array_equal(getattr(again, name), getattr(whole, name))
    assert sim["hinge"].angle == whole["hinge"].angle[-1]


def test_names_of_inputs_and_runs_without_end():
    sim = mbd.Simulator(cart_pole(), 1e-2, record=False)
    assert "u" in sim.inputs and "v" not in sim.inputs and 3 not in sim.inputs
    for k in range(50):
        sim.inputs["u"] = 0.01 * k
        sim.step()
    assert len(sim._recording.inputs) <= 2  # nothing grows


@pytest.mark.parametrize("method", [GeneralizedAlpha(), GeneralizedAlpha(stabilized=False), RK4(), DOPRI5()], ids=repr)
def test_angles_that_are_coordinates(method):
    """Read off the state itself, bit for bit as the views of a solution compute them, from the first state on."""
    model = cart_pole(coordinates="joint")
    sim = mbd.Simulator(model, 0.02, method)
    hinge, read = sim["hinge"], []
    for _ in range(6):
        read.append((hinge.angle, sim["hinge"].angle_rate, sim["rail"].displacement))
        sim.advance(0.02)
    read.append((hinge.angle, hinge.angle_rate, sim["rail"].displacement))
    solution = sim.solution()
    whole = solution if method.adaptive else mbd.simulate(model, 0.12, 0.02, method, progress=False)
    at = np.searchsorted(whole.t, 0.02 * np.arange(7) - 1e-9)
    for k, x in enumerate((whole["hinge"].angle, whole["hinge"].angle_rate, whole["rail"].displacement)):
        assert np.array_equal(x[at], [row[k] for row in read])
    sim.reset()
    assert (hinge.angle, hinge.angle_rate) == read[0][:2]


NODES = [mbd.nodes.RotationVector(), mbd.nodes.Quaternion(), mbd.nodes.Directors(), mbd.nodes.EulerAngles(lie=True)]


@pytest.mark.parametrize("node", NODES, ids=lambda node: type(node).__name__)
def test_joints_are_read_as_solutions_read_them(node):
    """Coordinates of joints at present, which are read in one call, are those of the present record bit for bit: in any
    order of looks, over more than a turn, with steps that nobody looked at, after a reset and with other parameters."""
    model = mbd.Model(gravity=(0, 0, -9.81))
    reach = model.parameter("reach", 0.0)
    arm = model.add(mbd.RigidBody("arm", 1.0, (0.1, 0.1, 0.1), mbd.nodes.RotationVector(angular_velocity=(0, 0, 25))))
    spin = mbd.nodes.RotationVector((1, 0, 0), velocity=(0, 25, 0), angular_velocity=(0, 0, 25))
    tip = model.add(mbd.RigidBody("tip", 1.0, (0.1, 0.2, 0.3), spin))
    model.add(mbd.joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 0, 1), name="hinge"))
    model.add(mbd.joints.Cylindrical(arm, tip, at=(1, 0, 0), axis=(1, 0, 0.1), name="slide"))
    model.add(mbd.forces.Spring(arm, tip, (0, 0, reach), (0, 0.3, 0), stiffness=3000.0, length=1.0))
    sim = mbd.Simulator(model.with_nodes(node), 0.02)
    hinge, slide = sim["hinge"], sim["slide"]
    quantities = {
        "hinge": ("angle", "angle_rate"),
        "slide": ("angle", "displacement", "angle_rate", "displacement_rate"),
    }

    def compare(first):
        for name in sorted(quantities, reverse=first):
            for quantity in quantities[name]:
                if first:
                    value = getattr(sim[name], quantity)
                    assert value == getattr(sim.now[name], quantity)[0]
                else:
                    known = getattr(sim.now[name], quantity)[0]
                    assert getattr({"hinge": hinge, "slide": slide}[name], quantity) == known

    for values in ({}, {"reach": 0.2}, {"reach": 0.2}):
        sim.reset(**values)
        compare(True)
        for k in range(40):
            for _ in range(4 if k % 9 == 5 else 1):
                sim.step()
            compare(k % 2 == 0)
        assert abs(hinge.angle) > 2.0 * np.pi
        assert hinge.angle == pytest.approx(sim.solution()["hinge"].angle[-1], abs=1e-9)


def test_what_cannot_be_recorded_is_refused_before_the_first_step(tmp_path):
    """Not in the middle of a control loop, and not when all steps are made."""
    pushed, plain = cart_pole(), mbd.Model("ball")
    plain.add(mbd.PointMass("ball", 1.0))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    for model, options, words in (
        (pushed, {"record": ["hinge.angel"]}, "has no channel 'angel'"),
        (pushed, {"record": []}, "channels is empty"),
        (pushed, {"store": tmp_path / "new"}, "store= keeps no inputs"),
        (pushed, {"store": tmp_path / "mine", "record": ["hinge.angle"]}, "there already and not empty"),
        (plain, {"store": tmp_path / "mine"}, "there already and not empty"),
        (plain, {"store": 3}, "store: the folder is 3"),
        (plain, {"events": 3}, "events = 3; expected an mbd.Event"),
        (plain, {"start": 3}, "the state to start from is 3"),
    ):
        with pytest.raises(mbd.MbdError, match=words):
            mbd.Simulator(model, STEP, **options)
    with pytest.raises(mbd.ModelError, match="step is None"):
        mbd.Simulator(plain, None)
    sim = mbd.Simulator(plain, STEP, store=tmp_path / "new")
    sim.reset()  # nothing is recorded yet
    sim.advance(10 * STEP)
    assert len(sim.solution()) == 11 == len(mbd.load(tmp_path / "new"))


def test_a_refused_state_changes_nothing():
    sim, other = mbd.Simulator(cart_pole(), STEP), mbd.Simulator(cart_pole(), 0.5 * STEP)
    other.inputs["u"] = 3.0
    with pytest.raises(mbd.ModelError, match="a restart keeps the step"):
        sim.set_state(other.state)
    assert sim.inputs["u"] == 0.0
    sim.advance(10 * STEP)
    assert np.array_equal(sim.q, mbd.simulate(cart_pole(), 10 * STEP, STEP).q[-1])


def test_simulators_are_not_copied():
    sim = mbd.Simulator(cart_pole(), STEP)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(mbd.ModelError, match=r"neither copied nor pickled: .* other.set_state\(sim.state\)"):
            attempt(sim)


def test_chosen_quantities_are_a_state_to_go_on_from():
    model = cart_pole()
    whole = mbd.simulate(model, 20 * STEP, STEP)
    half = mbd.simulate(model, 10 * STEP, STEP, record=["hinge.angle"])
    assert np.array_equal(mbd.simulate(model, 20 * STEP, STEP, start=half).q[-1], whole.q[-1])
    sim = mbd.Simulator(model, STEP, start=half)
    sim.advance(10 * STEP)
    assert np.array_equal(sim.q, whole.q[-1])


def spinning():
    """A hinge at 10 rad/s, whose turns no element counts."""
    model = mbd.Model("spin")
    node = mbd.nodes.RotationVector(angular_velocity=(0, 0, 10.0))
    body = model.add(mbd.RigidBody("disk", 1.0, (0.1, 0.1, 0.1), node))
    model.add(mbd.joints.Revolute(model.ground, body, at=(0, 0, 0), axis=(0, 0, 1), name="hinge"))
    return model


@pytest.mark.parametrize("method", [GeneralizedAlpha(), RK4(), DOPRI5(), AdaptiveAlpha()])
@pytest.mark.parametrize("spacing", [None, 0.5])
def test_turns_nobody_has_looked_at_are_in_the_records(method, spacing):
    """Also of methods that choose their steps, between two records, and at the second look."""
    sim = mbd.Simulator(spinning(), STEP, method, output_step=spacing)
    for duration in (2.0, 2.4, 1.6, 0.48, 2 * STEP):  # the joint turns by more than half a turn after a record
        sim.advance(duration)
        assert sim["hinge"].angle == pytest.approx(10.0 * sim.t, abs=1e-6)
        assert sim["hinge"].coordinates == pytest.approx([10.0 * sim.t], abs=1e-6)
    assert sim.solution()["hinge"].angle[-1] == pytest.approx(10.0 * sim.solution().t[-1], abs=1e-6)


@pytest.mark.parametrize("method", [GeneralizedAlpha(), DOPRI5()])
def test_turns_without_records(method):
    """Known as long as the joint cannot have turned far between two looks; refused afterwards, not guessed."""
    sim = mbd.Simulator(spinning(), STEP, method, record=False)
    for _ in range(40):
        sim.advance(5 * STEP)
        assert sim["hinge"].angle == pytest.approx(10.0 * sim.t, abs=1e-6)
    sim.advance(1.0)
    for quantity in ("angle", "coordinates"):
        with pytest.raises(mbd.ModelError, match=r"the turns of hinge.* are not known, because nothing is recorded"):
            getattr(sim["hinge"], quantity)
    sim.reset()
    sim.advance(1.0)
    with pytest.raises(mbd.ModelError, match=r"in the last 1 s are not known"):
        _ = sim["hinge"].angle


@pytest.mark.parametrize("method", [GeneralizedAlpha(), DOPRI5()])
@pytest.mark.parametrize("options", [{}, {"output_step": 0.5}, {"record": ["hinge.*"]}])
def test_a_state_knows_turns(method, options):
    """Who returns to a state, or begins elsewhere at it, reads the angles that were read there."""
    sim = mbd.Simulator(spinning(), STEP, method, **options)
    sim.advance(2.0)
    state, angle, coordinates = sim.state, sim["hinge"].angle, sim["hinge"].coordinates.tolist()
    assert angle == pytest.approx(20.0, abs=1e-6)
    sim.advance(1.0)
    later = sim["hinge"].angle
    other = mbd.Simulator(spinning(), STEP, method, start=state, **options)
    for each in (sim, other):
        each.set_state(state)
        assert (each["hinge"].angle, each["hinge"].coordinates.tolist()) == (angle, coordinates)
        each.advance(1.0)
        assert each["hinge"].angle == later == pytest.approx(30.0, abs=1e-6)
    angles = sim.solution()["hinge.angle"] if "record" in options else sim.solution()["hinge"].angle
    assert (angles[0], angles[-1]) == (angle, later)
    assert mbd.simulate(spinning(), 3.0, STEP, method, start=state)["hinge"].angle[-1] == pytest.approx(30.0, abs=1e-6)


def test_turns_that_a_state_does_not_know_are_refused():
    sim = mbd.Simulator(spinning(), STEP, record=False)
    sim.advance(1.0)  # nobody has looked
    sim.set_state(sim.state)
    for quantity in ("angle", "coordinates"):
        with pytest.raises(mbd.ModelError, match=r"the turns of hinge.* before t = 1 are not known"):
            getattr(sim["hinge"], quantity)


def tumbling(node=mbd.nodes.RotationVector):
    """A body whose rotation passes half a turn again and again, about an axis that moves."""
    model = mbd.Model("tumbling")
    at = node((0, 0, 0), angular_velocity=(1.0, 8.0, 0.5))
    model.add(mbd.RigidBody("body", 1.0, (0.03, 0.04, 0.05), at))
    return model


@pytest.mark.parametrize("node", [mbd.nodes.RotationVector, mbd.nodes.Quaternion, mbd.nodes.Directors])
def test_signs_of_quaternions_go_on(node):
    """From look to look, as from record to record: what a controller does with components must not jump."""
    sim = mbd.Simulator(tumbling(node), STEP)
    seen = [sim["body"].quaternion]
    for _ in range(200):
        sim.step()
        seen.append(sim["body"].quaternion)
    records = sim.solution()["body"].quaternion
    assert np.array_equal(seen, records) and (records[:, 0] < -0.5).any()
    sampled = mbd.Simulator(tumbling(node), STEP)
    for k in range(20, 201, 20):  # nearly half a turn in between, which the records tell
        sampled.advance(20 * STEP)
        assert np.array_equal(sampled["body"].quaternion, records[k])
    for options in ({"record": False}, {"record": ["body.position"]}, {"record": ["body.quaternion"]}):
        other = mbd.Simulator(tumbling(node), STEP, **options)
        for k in range(5, 201, 5):
            other.advance(5 * STEP)
            assert np.array_equal(other["body"].quaternion, records[k])


def test_a_state_knows_the_signs_of_quaternions():
    sim = mbd.Simulator(tumbling(), STEP)
    for _ in range(30):
        sim.step()
        seen = sim["body"].quaternion
    assert seen[0] < 0.0
    state = sim.state
    sim.advance(0.2)
    sim.set_state(state)
    assert np.array_equal(sim["body"].quaternion, seen)
    sim.reset()
    assert sim["body"].quaternion[0] == 1.0


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


@pytest.mark.parametrize("node", [mbd.nodes.RotationVector, mbd.nodes.Quaternion])
@pytest.mark.parametrize("method", [GeneralizedAlpha(), LieEM()])
def test_angles_that_elements_count(node, method):
    """A motor on the hinge counts its turns: they are known at once, whoever has looked before, or recorded."""
    model = spinning()
    other = mbd.RigidBody("other", 1.0, (0.1, 0.1, 0.1), mbd.nodes.RotationVector((0, 0, 1)))
    model.add(mbd.joints.Cylindrical(model["disk"], model.add(other), at=(0, 0, 1), axis=(0, 0, 1), name="second"))
    u = model.input("u", 0.2)
    for name in ("second", "hinge"):
        model.add(mbd.forces.JointForce(model[name], u, coordinate="angle", name=f"motor of {name}"))
    sim = mbd.Simulator(model.with_nodes(node), STEP, method)
    blind = mbd.Simulator(model.with_nodes(node), STEP, method, record=False)
    for steps in (1, 1, 100, 1, 50, 3):
        for each in (sim, blind):
            each.advance(steps * STEP)
        for name in ("hinge", "second"):
            value, rate = sim[name].angle, sim[name].angle_rate
            assert (value, rate) == (sim.now[name].angle[0], sim.now[name].angle_rate[0])
            assert (value, rate) == (blind[name].angle, blind[name].angle_rate)
            assert value == sim.solution()[name].angle[-1]
    assert sim["hinge"].angle > 20.0 and sim["second"].angle < -10.0


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_inputs_that_were_set_are_not_read_before_they_act(coordinates):
    """What is read between two steps belongs together, whether somebody has read it before the input was set or not."""
    sim = mbd.Simulator(cart_pole(coordinates=coordinates), 2e-3)
    sim.inputs["u"] = 1.0
    for _ in range(10):
        sim.step()
    sim.inputs["u"] = 7.0
    for pending in (True, False):
        expected = {True: 1.0, False: 7.0}[pending]
        power = expected * sim["rail"].displacement_rate
        assert sim["motor"].effort == expected and sim["motor"].power == pytest.approx(power, rel=1e-12)
        assert sim.now.power[0] == pytest.approx(power, rel=1e-9)
        assert sim.now.inputs["u"].tolist() == sim.now.channel("inputs.u").tolist() == [expected]
        assert sim.inputs["u"] == 7.0
        last = sim.solution().part(-1)
        assert last["motor"].effort[0] == expected and last.energy.total[0] == sim.now.energy.total[0]
        sim.step()


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
