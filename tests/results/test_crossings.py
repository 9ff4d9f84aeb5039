"""Crossings between records: once each, wherever they are and however the run is made; and where steps are long."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from scipy.special import ellipk

import mbd
from mbd.integrators import RK4, RK6, GeneralizedAlpha, JacobiExact, LieEM, Lobatto, Rattle
from mbd.system.system import assemble
from tests.simulation.stepped import METHODS

STEP, STEPS, AT = 0.01, 60, 20
SLOPE = 0.05  # speeds of GGLTrapezoidal, of first order, are 2.4 % beside the slopes of its positions
NEAR = (0.0, 1e-5, -1e-5, 1e-8, -1e-8, 1e-11, -1e-11)  # m, from the level that is met at the record AT
G = 9.81


def swing(torque=lambda t: 0.01 * np.cos(t)):
    """Half a swing of a rigid body, on which a function of the user acts."""
    model = mbd.Model("swing", gravity=(0, 0, -G))
    rod = model.add(mbd.RigidBody("rod", 2.0, (0.1, 0.2, 0.2), mbd.nodes.RotationVector(position=(0.5, 0, 0))))
    hinge = model.add(mbd.joints.Revolute(model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    if torque is not None:
        model.add(mbd.forces.JointForce(hinge, torque, name="motor"))
    return model


def steps_a_swing(method):
    try:
        method.check(assemble(swing()))
    except mbd.IncompatibleError:
        return False
    return not method.adaptive  # whose steps depend on where a stepper is told to stop


def told(events):
    return [(event.name, event.t, event.direction) for event in events]


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if steps_a_swing(method)])
def test_each_crossing_is_told_once_and_with_the_same_bits(name):
    """Also beside records, of methods whose steps begin and end elsewhere; by runs, steppers, and afterwards."""
    method = METHODS[name]
    plain = mbd.simulate(swing(), STEPS * STEP, STEP, method)
    level, speed = plain["rod"].position[AT, 0], plain["rod"].velocity[AT, 0]
    events = [mbd.Event(lambda s, x=x: s["rod"].position[:, 0] - level - x, name=str(x)) for x in NEAR]
    loaded = mbd.Event(lambda s: s["hinge"].force[:, 2] - 30.0, name="loaded")
    run = mbd.simulate(swing(), STEPS * STEP, STEP, method, events=[*events, loaded])
    for near in NEAR:
        (found,) = [event for event in run.events if event.name == str(near)]
        assert found.direction == -1
        assert found.t - AT * STEP == pytest.approx(near / speed, rel=SLOPE, abs=1e-13 / abs(speed))
    assert [event.direction for event in run.events if event.name == "loaded"] == [1]
    stepper = mbd.Simulator(swing(), STEP, method, events=[*events, loaded])
    for _ in range(STEPS):
        stepper.step()
    assert told(stepper.solution().events) == told(run.events)
    assert told(mbd.find_events(plain, [*events, loaded])) == told(run.events)


def pushed(force):
    model = mbd.Model("pushed")
    body = model.add(mbd.PointMass("body", 1.0))
    model.add(mbd.forces.Force(body, lambda t: np.array([force(t), 0.0, 0.0]), name="push"))
    return model


@pytest.mark.parametrize("method", [RK4(), GeneralizedAlpha(), Rattle()], ids=lambda method: method.name)
def test_functions_that_act_otherwise_from_a_step_on(method):
    """Events in the steps before and behind the change are those of the force that acted there.

    What a plain function refers to is not known: its changes arrive a stage late in the motion itself.
    """
    gain = 1.0

    def compiled(t):
        return gain

    def plain(t):
        return gain * json.loads("1.0")

    for force in (compiled, plain):
        gain, x, v, small = 1.0, 0.5 * 0.3**2, 0.3, 0.5 * STEP
        before, behind = 0.5 * (0.3 - small) ** 2, x + v * 1.5 * STEP + 0.5 * 3.0 * (1.5 * STEP) ** 2
        levels = {0.3 - small: before, 0.3 + 1.5 * STEP: behind}
        events = [mbd.Event(lambda s, x=x: s["body"].position[:, 0] - x) for x in levels.values()]
        events.append(mbd.Event(lambda s: s["push"].force[:, 0] - 2.0, name="force"))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "the function of force 'push' is called as plain Python")
            sim = mbd.Simulator(pushed(force), STEP, method, events=events)
        for k in range(40):
            gain = 1.0 if k < 30 else 3.0
            sim.step()
        found = sorted((event.t, event.name) for event in sim.events)
        assert [name for _, name in found] == ["event", "force", "event"]
        late = 5.0 * STEP**2 if sim.system.has_plain_functions else 1e-9
        assert [t for t, _ in found] == pytest.approx([0.3 - small, 0.3, 0.3 + 1.5 * STEP], abs=late)


def test_distant_records_and_motions_without_a_method():
    """find_events looks at what the records tell: six digits with 0.1 s between them, and the angle of a driver."""
    event = mbd.Event(lambda s: s["rod"].position[:, 0], name="bottom")
    run = mbd.simulate(swing(), 1.0, 1e-3, RK4(), events=event, output_step=0.1)
    (found,) = mbd.find_events(run, event)
    assert found.t == pytest.approx(run.events[0].t, abs=1e-6)
    driven = swing(None)
    driven.add(mbd.joints.AngleDriver.on(driven["hinge"], lambda t: 2.0 * t * t, name="motor"))
    for motion in (mbd.kinematics(driven, 1.0, 0.01), mbd.inverse_dynamics(driven, 1.0, 0.01)):
        (found,) = mbd.find_events(motion, mbd.Event(lambda s: s["hinge"].angle - 1.0))
        assert found.t == pytest.approx(np.sqrt(0.5), abs=1e-10)


@pytest.mark.parametrize(("method", "step"), [(RK6(), 0.04), (Lobatto(), 0.01), (RK4(), 0.004)])
def test_times_have_the_digits_of_the_method(method, step):
    """The bottom of a physical pendulum that starts at 90 degrees, a quarter of its period K(1/2) after the start."""
    bottom = mbd.Event(lambda s: s["rod"].position[:, 0])
    run = mbd.simulate(swing(None), 1.0, step, method, events=bottom)
    exact = float(ellipk(0.5)) * np.sqrt((0.2 + 2.0 * 0.25) / (2.0 * G * 0.5))
    assert run.events[0].t == pytest.approx(exact, abs=1e-8)


@pytest.mark.parametrize("node", [mbd.nodes.RotationVector, mbd.nodes.Quaternion])
def test_steps_in_which_a_body_turns_far(node):
    """A method that is exact in any step: by 3 rad, and by 0.03."""
    model = mbd.Model("free")
    model.add(mbd.RigidBody("body", 1.0, (1.0, 2.0, 3.0), node(angular_velocity=(1.0, 10.0, 2.0))))
    event = mbd.Event(lambda s: s["body"].rotation[:, 0, 1] - 0.2)
    far, near = (mbd.simulate(model, 3.0, step, JacobiExact(), events=event).events for step in (0.3, 0.003))
    assert len(far) >= 4
    assert [e.t for e in far] == pytest.approx([e.t for e in near][: len(far)], abs=1e-6)


@pytest.mark.parametrize("method", [Rattle(), LieEM(), GeneralizedAlpha()], ids=lambda method: method.name)
def test_a_run_that_ends_between_records(method, tmp_path):
    """Its last record fulfils the joints, has reactions, is saved and gone on from; variables of a scheme are NaN."""
    stop = mbd.Event(lambda s: s["rod"].position[:, 0] - 0.1, stop=True)
    run = mbd.simulate(swing(None), 1.0, STEP, method, events=stop)
    rod = run["rod"]
    assert rod.position[-1, 0] == pytest.approx(0.1, abs=1e-12)
    assert run.constraint_error.position[-1] < 1e-12
    assert run.constraint_error.velocity[-1] < max(1e-11, 2.0 * run.constraint_error.velocity[:-1].max())
    force = 2.0 * (rod.acceleration[-1] + (0, 0, G))
    assert run["hinge"].force[-1] == pytest.approx(force, abs=1e-9)
    assert abs(np.diff(run.energy.total)[-1]) < 2e-3 * np.ptp(run.energy.kinetic)
    for recorded in run._recorded.values():
        assert np.isnan(recorded[-1]).all() and np.isfinite(recorded[1:-1]).all()
    run.save(tmp_path / "run.npz")
    kept = mbd.load(tmp_path / "run.npz")
    assert np.array_equal(kept.q, run.q) and kept.events[0].t == run.t[-1]
    onwards = mbd.simulate(mbd.model_at(run), 0.1, STEP, method)
    assert onwards["rod"].position[0] == pytest.approx(rod.position[-1], abs=1e-9)


@pytest.mark.parametrize("late", [1e-7, 1e-12])  # s, of the end of the run behind its last step
def test_a_last_step_that_is_short_does_not_make_the_others_long_work(late):
    """Pieces of long steps are made with the step of the method, however near to a record the run has ended."""
    bottom = mbd.Event(lambda s: s["rod"].position[:, 0], name="bottom")
    stop = mbd.Event(lambda s: s.t - 0.8 - late, stop=True, name="stop")
    run = mbd.simulate(swing(None), 1.0, 0.1, RK4(), events=[bottom, stop])
    assert told(mbd.find_events(run, bottom)) == told(run.events)[:1]


def test_variables_of_a_scheme_are_no_events():
    """They are known at the records only, and the words say so, also with the first steps of a run."""
    half = mbd.simulate(swing(None), 1.0, STEP, LieEM()).scheme["lambda"][50].copy()
    k = int(np.argmax(np.abs(half)))
    event = mbd.Event(lambda s: np.nan_to_num(s.scheme["lambda"][:, k]) - half[k], name="carried")
    with pytest.raises(mbd.ModelError, match="known at the records of its steps only") as caught:
        mbd.simulate(swing(None), 1.0, STEP, LieEM(), events=event)
    assert len(caught.value.solution) > 1


def test_steps_at_which_a_function_failed_are_looked_at_later():
    """Whoever goes on with a function that works again misses nothing of what happened meanwhile."""
    broken = True

    def height(s):
        if broken and s.t[-1] > 0.25:
            raise ValueError("no sensor")
        return s["rod"].position[:, 0] - 0.45

    sim = mbd.Simulator(swing(None), STEP, RK4(), events=mbd.Event(height))
    sim.advance(0.2)
    with pytest.raises(mbd.UserFunctionError, match="no sensor"):
        sim.advance(0.2)
    broken = False
    sim.advance(0.2)
    whole = mbd.simulate(swing(None), 0.6, STEP, RK4(), events=mbd.Event(height))
    assert len(whole.events) == 1
    assert told(sim.events) == told(whole.events)


def test_what_jumps_between_two_records_at_one_time():
    """It is told at that time, once."""
    run = mbd.simulate(pushed(lambda t: 0.0), 0.2, STEP, RK4())
    t, q, v = (np.concatenate((x[:11], x[10:])) for x in (run.t, run.q, run.v))
    v[:11, 0], v[11:, 0] = -1.0, 1.0
    bounced = mbd.results.solution.Solution(run.system, t, q, v, None, None, integrator=run.integrator)
    (found,) = mbd.find_events(bounced, mbd.Event(lambda s: s["body"].velocity[:, 0]))
    assert (found.t, found.direction, found.v[0]) == (0.1, 1, 1.0)
