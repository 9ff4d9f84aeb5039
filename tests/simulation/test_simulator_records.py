"""What a stepper records: all, some quantities, every so often, in memory or on disk."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from tests.simulation.stepped import STEP, cart_pole


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


def test_chosen_quantities_are_a_state_to_go_on_from():
    model = cart_pole()
    whole = mbd.simulate(model, 20 * STEP, STEP)
    half = mbd.simulate(model, 10 * STEP, STEP, record=["hinge.angle"])
    assert np.array_equal(mbd.simulate(model, 20 * STEP, STEP, start=half).q[-1], whole.q[-1])
    sim = mbd.Simulator(model, STEP, start=half)
    sim.advance(10 * STEP)
    assert np.array_equal(sim.q, whole.q[-1])
