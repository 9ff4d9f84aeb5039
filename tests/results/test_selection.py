"""Chosen quantities of a run: the numbers of the whole solution, without the rest of it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import mbd
from mbd.errors import FileError
from mbd.integrators import DOPRI5, RK4, GeneralizedAlpha
from tests.integrators.every_method import winding

CHOICE = ["wheel.position", "wheel.quaternion", "shaft.angle", "shaft.force", "other.angle", "spring.*", "energy.total"]


@pytest.mark.parametrize("method", [GeneralizedAlpha(), RK4(), DOPRI5()], ids=lambda m: m.name)
@pytest.mark.parametrize("output_step", [None, 0.06])
@pytest.mark.parametrize("event", ["none", "stop"])
def test_numbers_of_the_solution(monkeypatch, method, output_step, event):
    """Blocks of a few records: turns are counted and signs go on across them; the run can be continued."""
    monkeypatch.setattr("mbd.simulation.simulation.CHOSEN_FROM", 400)
    stop = [mbd.Event(lambda s: s["shaft"].angle - 9.0, stop=True)] if event == "stop" else []
    known = {"output_step": output_step, "events": stop}
    whole = mbd.simulate(winding(), 2.0, 0.02, method, **known)
    chosen = mbd.simulate(winding(), 2.0, 0.02, method, record=CHOICE, **known)
    assert np.array_equal(chosen.t, whole.t)
    assert np.ptp(whole["shaft"].angle) > 6.0
    for name in chosen.channels:
        x = whole.channel(name)
        assert np.allclose(chosen[name], x, rtol=1e-12, atol=1e-12 * np.abs(x).max()), name
    assert chosen["wheel.position"].shape == (len(whole), 3)
    assert len(chosen.events) == len(whole.events) and chosen.complete
    assert chosen.last.t == whole.t[-1] and np.array_equal(
        chosen.last["wheel"].position[0], whole["wheel"].position[-1]
    )
    assert chosen.last["shaft"].angle == whole["shaft"].angle[-1] and chosen.last.message == whole.message
    if event == "none":
        further = mbd.simulate(winding(), 2.4, 0.02, method, start=chosen.state)
        assert np.array_equal(further.q[-1], mbd.simulate(winding(), 2.4, 0.02, method, start=whole).q[-1])


@pytest.mark.parametrize(
    "choice",
    [["wheel.quaternion.e0", "wheel.quaternion.e1"], {"attitude": "wheel.quaternion"}],
    ids=["parts", "renamed"],
)
def test_signs_of_quaternions_go_on(monkeypatch, choice):
    """Across blocks, whatever a quaternion is called, and if only a part of it is recorded."""
    monkeypatch.setattr("mbd.simulation.simulation.CHOSEN_FROM", 400)
    whole = mbd.simulate(winding(), 4.0, 0.02)
    chosen = mbd.simulate(winding(), 4.0, 0.02, record=choice)
    assert whole["wheel"].quaternion[:, 0].min() < -0.9  # other than where it is computed alone
    for name in chosen.channels:
        assert np.array_equal(chosen[name], whole.channel(choice[name] if isinstance(choice, dict) else name))


@pytest.mark.parametrize("method", [GeneralizedAlpha(), DOPRI5()], ids=lambda m: m.name)
@pytest.mark.parametrize("event", ["none", "stop"])
def test_chosen_quantities_on_disk(monkeypatch, tmp_path, method, event):
    """The same numbers from a folder, at once and read again; the run can be continued from there."""
    monkeypatch.setattr("mbd.simulation.simulation.CHOSEN_FROM", 400)
    stop = [mbd.Event(lambda s: s["shaft"].angle - 9.0, stop=True)] if event == "stop" else []
    known = {"record": CHOICE, "events": stop}
    chosen = mbd.simulate(winding(), 2.0, 0.02, method, **known)
    stored = mbd.simulate(winding(), 2.0, 0.02, method, **known, store=tmp_path / "run")
    again = mbd.load(tmp_path / "run")
    for other in (stored, again):
        assert np.array_equal(other.t, chosen.t) and list(other.channels) == list(chosen.channels)
        assert all(np.array_equal(other[name], chosen[name]) for name in chosen.channels)
        assert other.complete and other.message == chosen.message
        assert [str(x) for x in other.channels.values()] == [str(x) for x in chosen.channels.values()]
    if event == "none":
        further = [mbd.simulate(winding(), 2.2, 0.02, method, start=x.state).q[-1] for x in (chosen, again)]
        assert np.array_equal(*further)


def test_killed_run_on_disk(tmp_path):
    """What was written before a run died is there: no end, no state, and whole records only."""
    folder = tmp_path / "run"
    mbd.simulate(winding(), 0.2, 0.02, record=["wheel.position", "shaft.angle"], store=folder)
    whole = mbd.load(folder)
    assert len(whole) == 11
    first = mbd.simulate(winding(), 0.0, 0.02)
    first.stats["unfinished"] = 1
    first.save(folder / "run.npz")  # as it is until the run ends
    (folder / "channel-1.f8").write_bytes((folder / "channel-1.f8").read_bytes()[: 8 * 7 + 3])
    cut = mbd.load(folder)
    assert len(cut) == 7 and not cut.complete and "cut off" in cut.message
    assert np.array_equal(cut["wheel.position"], whole["wheel.position"][:7])
    with pytest.raises(mbd.ModelError, match="last: the run was cut off; its records end here, and of the one at t = "):
        _ = cut.last  # the folder has the first one
    (folder / "channels.json").write_text("[{}]")
    with pytest.raises(mbd.ModelError, match="channels.json is damaged"):
        mbd.load(folder)


def test_tables(tmp_path):
    whole = mbd.simulate(winding(), 0.2, 0.02)
    chosen = mbd.simulate(winding(), 0.2, 0.02, record=CHOICE)
    assert chosen.frame(["shaft.angle", "wheel"]).equals(
        whole.frame(["shaft.angle", "wheel.position", "wheel.quaternion"])
    )
    chosen.csv(tmp_path / "chosen.csv")
    assert (tmp_path / "chosen.csv").read_text().startswith("t [s],wheel.position.x [m]")
    assert list(chosen.dataset(["shaft.angle"])) == ["shaft.angle"]
    assert "records of wheel.position" in repr(chosen) and len(chosen) == 11
    assert chosen.last["second"].position.shape == (1, 3)


def test_refused(tmp_path):
    with pytest.raises(mbd.ModelError, match="no channel|unknown|not"):
        mbd.simulate(winding(), 0.2, 0.02, record=["wheel.colour"])
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "y").touch()
    with pytest.raises(FileError, match="not empty"):
        mbd.simulate(winding(), 0.2, 0.02, record=["wheel.position"], store=tmp_path / "x")
    chosen = mbd.simulate(winding(), 0.2, 0.02, record=["wheel.position"])
    with pytest.raises(mbd.ModelError, match="'shaft.angle' was not recorded; this run has 'wheel.position'"):
        chosen["shaft.angle"]
    with pytest.raises(mbd.ModelError, match="record all of it"):
        chosen.at(0.1)
    with pytest.raises(mbd.ModelError, match="give the function to simulate"):
        chosen.add_channel("x", lambda s: s.t)


def ends(t):
    return 0.0, 0.0, 0.0 if t < 1.5 else np.nan


@pytest.mark.parametrize("method", [GeneralizedAlpha(), DOPRI5()], ids=lambda m: m.name)
@pytest.mark.parametrize("stored", [False, True], ids=["in memory", "on disk"])
def test_an_error_carries_all_that_was_chosen(monkeypatch, tmp_path, method, stored):
    """From the first record on, not those only that were not handed over yet."""
    monkeypatch.setattr("mbd.simulation.simulation.CHOSEN_FROM", 400)
    model = winding()
    model.add(mbd.forces.Torque(model["wheel"], ends, name="load"))
    with pytest.raises(mbd.UserFunctionError) as whole:
        mbd.simulate(model, 2.0, 0.02, method)
    store = tmp_path / "run" if stored else None
    with pytest.raises(mbd.UserFunctionError) as chosen:
        mbd.simulate(model, 2.0, 0.02, method, record=["shaft.angle"], store=store)
    expected, found = whole.value.solution, chosen.value.solution
    assert np.array_equal(found.t, expected.t) and len(found) > 10 and found.t[-1] < 1.5
    np.testing.assert_allclose(found["shaft.angle"], expected["shaft"].angle, rtol=1e-12)
    assert not found.complete and found.message == expected.message
    if stored:
        read = mbd.load(store)
        assert np.array_equal(read["shaft.angle"], found["shaft.angle"]) and not read.complete


def test_what_whole_solutions_have_is_refused_with_the_way_to_it():
    chosen = mbd.simulate(winding(), 0.2, 0.02, record=["shaft.angle"])
    for name in ("plot", "movie", "show", "q", "lam", "summary", "save", "energy", "frames", "part"):
        assert hasattr(chosen.last, name) and not hasattr(chosen, name)
        with pytest.raises(mbd.ModelError, match=rf"^{name}: .*'shaft.angle'.*without record=.*\.last\.{name} is"):
            getattr(chosen, name)
    with pytest.raises(AttributeError, match="'Selection' object has no attribute 'pliot'"):
        _ = chosen.pliot
    assert np.array_equal(pickle.loads(pickle.dumps(chosen))["shaft.angle"], chosen["shaft.angle"])


def test_parameters_are_numbers_in_functions_of_chosen_quantities():
    model = mbd.Model("m", gravity=(0, 0, -9.81))
    k, u = model.parameter("k", 3.0), model.input("u", 0.5)
    ball = model.add(mbd.PointMass("ball", 1.0))
    model.add(mbd.forces.Force(ball, (u, 0, 0)))
    record = {"scaled": lambda s: s["ball"].position[:, 2] * k, "pushed": lambda s: s["ball"].position[:, 0] * u}
    whole = mbd.simulate(model, 0.2, 0.02)
    chosen = mbd.simulate(model, 0.2, 0.02, record=record)
    assert np.array_equal(chosen["scaled"], 3.0 * whole["ball"].position[:, 2])
    assert np.array_equal(chosen["pushed"], 0.5 * whole["ball"].position[:, 0])
    whole.add_channel("scaled", record["scaled"])
    assert np.array_equal(whole.channel("scaled"), chosen["scaled"])
    simulator = mbd.Simulator(model, 0.02)
    simulator.step()
    simulator.inputs["u"] = 0.7
    simulator.step()
    with pytest.raises(mbd.ModelError, match=r"'pushed': .* refers to the input 'u', which changed .*inputs\[\"u\"\]"):
        simulator.solution().add_channel("pushed", record["pushed"])
    other = mbd.Model("other").parameter("k", 5.0)
    with pytest.raises(mbd.ModelError, match="channel 'foreign' refers to <parameter 'k' = 5>, which is none of"):
        mbd.simulate(model, 0.2, 0.02, record={"foreign": lambda s: s.t * other})


def test_names_with_letters_of_patterns():
    """The name of a quantity means this one, whatever other names fit it as a pattern."""
    model = mbd.Model("links")
    for k, name in enumerate(("link 1", "link [1]")):
        model.add(mbd.PointMass(name, 1.0, (k, 0, 0)))
    chosen = mbd.simulate(model, 0.02, 0.01, record=["link 1.position", "link [1].position"])
    for name, x in (("link 1", 0.0), ("link [1]", 1.0)):
        assert chosen.frame(f"{name}.position").to_numpy()[:, 0].tolist() == [x] * 3
        assert chosen.frame(name).shape == (3, 3) and f"{name}.position" in chosen and name not in chosen
    assert chosen.frame("link*").shape == (3, 6)
    with pytest.raises(TypeError, match="not iterable"):
        list(chosen)


def test_one_record_is_one(tmp_path):
    model = winding()
    solution = mbd.simulate(model, 0.2, 0.02)
    assert "11 records" in repr(solution)
    for part in (solution.part(-1), mbd.simulate(model, 0.0, 0.02), mbd.simulate(model, 0.0, 0.02, record=CHOICE)):
        assert " 1 record" in repr(part) and "1 records" not in repr(part)
    views = [solution.part(-1)[element] for element in model]
    assert len(views) > 3 and all(": 1 record of " in repr(view) for view in views)
