"""Angles of many turns and signs of quaternions go on from step to step, whoever looks at them, and when."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import DOPRI5, RK4, AdaptiveAlpha, GeneralizedAlpha, LieEM
from tests.simulation.stepped import STEP, cart_pole, spinning


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


@pytest.mark.parametrize("method", [GeneralizedAlpha(), RK4(), DOPRI5()])
@pytest.mark.parametrize("before", ["rates", "coordinates", "accelerations"])
def test_an_angle_is_that_of_now_whatever_was_read_before(method, before):
    """What has looked at the bodies on its own must not leave the angle of an earlier look behind."""
    sim = mbd.Simulator(spinning(), STEP, method)
    for duration in (2.0, 2.4, 1.6, 0.48, 2 * STEP):
        sim.advance(duration)
        assert getattr(sim["hinge"], before).shape == (1,)
        assert sim["hinge"].angle == pytest.approx(10.0 * sim.t, abs=1e-6)


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
