"""Inputs of the stepper act from the step on before which they are set, and everything that is read knows them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mbd
from mbd.integrators import DOPRI5, GGLEM, RK4, AdaptiveAlpha, GeneralizedAlpha, LieEM
from tests.integrators.every_method import METHODS, fitting
from tests.simulation.stepped import STEP, cart_pole, every_method, same


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
    right = mbd.Event(lambda s: s["cart"].position[:, 0] + 0.02)
    sim = mbd.Simulator(cart_pole(coordinates=coordinates), 1e-3, events=right)
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
    assert [event.t for event in mbd.find_events(solution, right)] == [event.t for event in solution.events] != []


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


@pytest.mark.parametrize("method", [DOPRI5(), AdaptiveAlpha()], ids=lambda m: m.name)
def test_inputs_that_act_for_a_short_time(method):
    """Steps far shorter than the first one: every record knows the input of its own step."""
    sim = mbd.Simulator(_pushed("point"), 1.0, method)
    values, ends = [1.0, -3.0, 2.0, 0.5], []
    for value, duration in zip(values, (0.1, 1e-7, 1e-7, 0.1), strict=True):
        sim.inputs["u"] = value
        sim.advance(duration)
        ends.append(sim.t)
    solution = sim.solution()
    last = [solution.inputs["u"][solution.t == t][-1] for t in ends]
    assert last == values
    assert np.allclose(solution["push"].force[:, 2], solution["body"].acceleration[:, 2], rtol=1e-6)


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


def test_names_of_inputs_and_runs_without_end():
    sim = mbd.Simulator(cart_pole(), 1e-2, record=False)
    assert "u" in sim.inputs and "v" not in sim.inputs and 3 not in sim.inputs
    for k in range(50):
        sim.inputs["u"] = 0.01 * k
        sim.step()
    assert len(sim._recording.inputs) <= 2  # nothing grows


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


@pytest.mark.parametrize("method", [GeneralizedAlpha(), RK4(), LieEM(), DOPRI5()])
@pytest.mark.parametrize("told", ["state", "failure"])
def test_what_is_read_belongs_together_when_the_method_knows_the_next_inputs(method, told):
    """A state has accelerations of inputs that were set, and so has a run whose next step failed: not what is read."""
    sim = mbd.Simulator(cart_pole(), STEP, method)
    sim.inputs["u"] = 1.0
    sim.advance(10 * STEP)
    record = sim.solution().part(-1)
    sim.inputs["u"] = 7.0 if told == "state" else 1e300
    if told == "state":
        _ = sim.state
    else:
        with pytest.raises(mbd.MbdError):
            sim.advance(STEP)
    for now in (sim.now, sim.solution().part(-1)):
        assert now.inputs["u"].tolist() == [1.0] == now["motor"].effort.tolist()
        assert np.array_equal(now["pole"].acceleration, record["pole"].acceleration)
        assert np.array_equal(now["hinge"].force, record["hinge"].force)
    assert sim["motor"].effort == 1.0


def driven_pair():
    model = mbd.Model("pair", gravity=(0, 0, -9.81))
    first, second = (
        model.add(mbd.RigidBody(name, 1.0, (0.1, 0.2, 0.25), mbd.nodes.RotationVector(position=(x, 0, z))))
        for name, x, z in (("first", 0.5, 0.0), ("second", 1.0, 0.3))
    )
    hinge = model.add(mbd.joints.Revolute(model.ground, first, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(mbd.joints.Spherical(first, second, at=(1.0, 0, 0)))
    model.add(mbd.forces.JointForce(hinge, model.input("u", 0.5)))
    return model


@pytest.mark.parametrize("method", [GeneralizedAlpha(), GeneralizedAlpha(newton="modified")], ids=lambda m: m.newton)
@pytest.mark.parametrize("huge", [1e12, 1e200])
@pytest.mark.parametrize("by_state", [False, True])
def test_a_step_that_failed_with_a_huge_input_costs_no_digits(method, huge, by_state):
    """Inputs are set back: the method goes on as if they had been of the usual size in between, also from a state."""
    simulators = [mbd.Simulator(driven_pair(), 0.01, method) for _ in range(2)]
    for simulator in simulators:
        for _ in range(10):
            simulator.step()
    usual, failing = simulators
    usual.inputs["u"] = 0.7
    _ = usual.state  # which accelerations belong to
    failing.inputs["u"] = huge
    with pytest.raises(mbd.ConvergenceError):
        failing.step()
    if by_state:
        failing.set_state(failing.state)
    for simulator in simulators:
        simulator.inputs["u"] = 0.5
        for _ in range(5):
            simulator.step()
    assert np.array_equal(usual.q, failing.q) and np.array_equal(usual.v, failing.v)


def test_the_usual_sign_of_a_matrix_is_not_that_of_a_step_that_failed():
    """Behind a step that failed with wild iterates, good ones are not taken for another root."""
    simulator = mbd.Simulator(driven_pair(), 0.01, GGLEM())
    for _ in range(10):
        simulator.step()
    simulator.inputs["u"] = 1e12
    with pytest.raises(mbd.ConvergenceError):
        simulator.step()
    simulator.inputs["u"] = 0.5
    simulator.step()
    assert simulator.index == 11
