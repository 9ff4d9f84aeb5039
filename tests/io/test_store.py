"""Records that are written to disk while a run goes on."""

from __future__ import annotations

import errno
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import mbd
from mbd.benchmarks.planar import n_four_bar
from mbd.integrators import DOPRI5, RK4, GeneralizedAlpha, GonzalezEM, LivensEM
from mbd.io.store import reserve
from tests.integrators.every_method import winding

RECORDS = ("t", "q", "v", "vd", "lam", "turns")


def same(a, b):
    return all(np.array_equal(getattr(a, x), getattr(b, x), equal_nan=True) for x in RECORDS)


@pytest.mark.parametrize("method", [GeneralizedAlpha(), RK4(), DOPRI5(), LivensEM()], ids=lambda m: m.name)
@pytest.mark.parametrize("output_step", [None, 0.06])
def test_same_solution(tmp_path, method, output_step):
    """In memory, from the folder at once, and read again: equal bits, state and events included; all can go on."""
    model = winding()
    event = mbd.Event(lambda s: s["wheel"].rotation[:, 0, 0], name="quarter")
    known = {"output_step": output_step, "events": event}
    plain = mbd.simulate(model, 0.6, 0.02, method, **known)
    stored = mbd.simulate(model, 0.6, 0.02, method, store=tmp_path / "run", **known)
    read = mbd.load(tmp_path / "run")
    for solution in (stored, read):
        assert same(plain, solution) and solution.complete
        assert [x.t for x in solution.events] == [x.t for x in plain.events] != []
        assert np.array_equal(solution["spring"].angle, plain["spring"].angle)
        further = mbd.simulate(model, 1.2, 0.02, method, start=solution)
        assert np.array_equal(further.q[-1], mbd.simulate(model, 1.2, 0.02, method, start=plain).q[-1])
    read.q[:] = 0.0  # in memory only
    assert same(plain, mbd.load(tmp_path / "run"))


class OwnGonzalez(GonzalezEM):
    """Of it files hold the name alone; it records kinetic energies and multipliers of its scheme."""


class OwnLivens(LivensEM):
    """It records momenta."""


class HalfOfLivens(LivensEM):
    """A method that tells another kinetic energy than that of its records."""

    def kinetic_energy(self, solution):
        return 0.5 * np.sum(np.square(solution.v), axis=1)


@pytest.mark.parametrize("method", [OwnGonzalez(), OwnLivens(), HalfOfLivens()], ids=lambda m: m.name)
def test_variables_of_methods_of_users_are_not_taken_for_accelerations(tmp_path, method):
    model = winding()
    run = mbd.simulate(model, 0.2, 0.02, method, store=tmp_path / "run")
    run.part(slice(None)).save(tmp_path / "run.npz")
    for path in (tmp_path / "run", tmp_path / "run.npz"):
        for read in (mbd.load(path), mbd.load(path, model=model), mbd.load(path).part(slice(None))):
            assert same(run, read) and read.complete and np.isfinite(read.vd).all()
            assert all(np.array_equal(*pair, equal_nan=True) for pair in zip(run.rows(), read.rows(), strict=True))
            if not isinstance(method, HalfOfLivens):
                assert np.array_equal(read.energy.total, run.energy.total)
    assert np.array_equal(mbd.load(tmp_path / "run.npz").energy.total, run.energy.total)


@pytest.mark.parametrize("method", [GeneralizedAlpha(), RK4()], ids=lambda m: m.name)
def test_reactions_of_redundant_joints_are_those_of_the_run(tmp_path, method):
    """Also where they are computed after the run: at its records, and between them."""
    model, times = n_four_bar(1, redundant=True).model, [0.1, 0.1234]
    with pytest.warns(mbd.RedundancyWarning, match="are redundant"):
        run = mbd.simulate(model, 0.2, 1e-2, method, store=tmp_path / "run")
    largest = np.abs(run.lam).max()
    run.save(tmp_path / "run.npz")
    for read in (mbd.load(tmp_path / "run"), mbd.load(tmp_path / "run.npz"), pickle.loads(pickle.dumps(run))):
        assert np.array_equal(read.lam, run.lam) and np.isfinite(largest)
        assert np.array_equal(read.at(times).lam, run.at(times).lam)
        assert np.abs(read.at(times).lam).max() < largest


@pytest.mark.parametrize("method", [RK4(), DOPRI5()], ids=lambda m: m.name)
def test_ended_by_an_event_or_an_error(tmp_path, method):
    model = winding()
    stop = mbd.Event(lambda s: s["wheel"].rotation[:, 0, 0], stop=True, name="quarter")
    plain = mbd.simulate(model, 1.0, 0.02, method, events=stop)
    mbd.simulate(model, 1.0, 0.02, method, events=stop, store=tmp_path / "stopped")
    read = mbd.load(tmp_path / "stopped")
    assert same(plain, read) and read.message == plain.message and read.t[-1] == plain.t[-1]

    def fails(t):
        if t > 0.305:
            raise ValueError("no more")
        return (0.0, 0.0, 0.1)

    with pytest.raises(mbd.UserFunctionError) as caught:
        mbd.simulate(winding(fails), 1.0, 0.02, method, store=tmp_path / "failed")
    read = mbd.load(tmp_path / "failed", model=winding(fails))
    assert np.array_equal(read.t, caught.value.solution.t) and 0.2 < read.t[-1] < 0.32
    assert not read.complete and "no more" in read.message


CHILD = """
import sys, mbd
from tests.integrators.every_method import winding
sys.stdout.write("go\\n"); sys.stdout.flush()
method = mbd.integrators.{method}
mbd.simulate(winding(), 1e5, 1e-3, method, store=sys.argv[1], progress=False, output_step=1e-2)
"""


@pytest.mark.parametrize("method", ["RK4()", "DOPRI5(max_step=1e-3)"])
def test_killed(tmp_path, method):
    """A run that was killed without warning can be read up to where it was."""
    folder = tmp_path / "killed"
    command = [sys.executable, "-c", CHILD.format(method=method), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None and child.stdout.readline() == b"go\n"
        times = folder / "t.f8"
        for _ in range(12000):  # until there are records, or the child has ended
            if times.exists() and (np.diff(np.fromfile(times, count=10)) > 0.0).sum() == 9:  # neither zeros nor NaN
                break
            assert child.poll() is None
            time.sleep(0.05)
        os.kill(child.pid, signal.SIGKILL)
    read = mbd.load(folder)
    assert len(read) >= 10 and not read.complete and "cut off" in read.message
    check = min(len(read), 200)
    plain = mbd.simulate(winding(), float(read.t[check - 1]), 1e-3, read.integrator, output_step=1e-2)
    assert np.abs(plain.q[: check - 1] - read.q[: check - 1]).max() < 1e-9
    with pytest.raises(mbd.ModelError, match="holds no state to continue from"):
        mbd.simulate(winding(), 2.0, 1e-3, read.integrator, start=read)


def test_memory(tmp_path):
    """Peak memory grows by a part of the records only."""
    script = """
import resource, sys, mbd, numpy as np
model = mbd.Model("cloud")
for k in range(40):
    model.add(mbd.RigidBody(f"b{k}", 1.0, (1, 1, 1), mbd.nodes.RotationVector((k, 0, 0), angular_velocity=(1, 0, 0))))
mbd.simulate(model, 0.1, 1e-2, mbd.integrators.RK4())
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
s = mbd.simulate(model, 300.0, 1e-2, mbd.integrators.RK4(), store=sys.argv[1], progress=False)
size = 8 * len(s) * (1 + s.q.shape[1] + s.v.shape[1] + s.vd.shape[1])
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / size, size)
"""
    output = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "run")], capture_output=True, text=True, check=True
    ).stdout
    share, size = map(float, output.split())
    assert size > 1.5e8 and share < 0.75
    assert len(mbd.load(tmp_path / "run")) == 30001


def test_refused(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("mine")
    with pytest.raises(mbd.FileError, match="is there already and not empty"):
        mbd.simulate(winding(), 0.1, 0.02, store=tmp_path / "there")
    assert (tmp_path / "there" / "file").read_text() == "mine"
    with pytest.raises(mbd.FileError, match=r"is no folder of a run"):
        mbd.load(tmp_path)


@pytest.mark.parametrize("options", [{}, {"record": ["wheel.position"]}], ids=["all records", "chosen"])
def test_a_run_that_does_not_fit_leaves_no_folder(tmp_path, monkeypatch, options):
    """When there is room again the same call goes through."""
    with monkeypatch.context() as full:
        full.setattr("shutil.disk_usage", lambda path: type("", (), {"free": 100.0}))
        with pytest.raises(mbd.ModelError, match="GB are free in") as refused:
            mbd.simulate(winding(), 0.1, 0.02, store=tmp_path / "run", **options)
    assert len(refused.value.solution) == 1 and not (tmp_path / "run").exists()
    assert len(mbd.simulate(winding(), 0.1, 0.02, store=tmp_path / "run", **options)) == 6


def test_two_runs_at_once_do_not_share_a_folder(tmp_path, monkeypatch):
    """Both have seen that it is empty; each would write into the files of the other."""
    mbd.simulate(winding(), 0.1, 0.02, store=tmp_path / "first")
    before = {file.name: file.read_bytes() for file in (tmp_path / "first").iterdir()}
    with monkeypatch.context() as patched:
        patched.setattr(Path, "iterdir", lambda self: iter(()))
        for options in ({}, {"record": ["wheel.position"]}):
            with pytest.raises(mbd.FileError, match="there already and not empty"):
                mbd.simulate(winding(), 0.2, 0.02, store=tmp_path / "first", **options)
    assert before == {file.name: file.read_bytes() for file in (tmp_path / "first").iterdir()}


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="no such call on this system")
def test_the_room_of_a_run_is_its_own(tmp_path):
    """A disk that others fill would otherwise end the process, without a word, when it writes to a page."""
    reserve(tmp_path / "q.f8", 1 << 20)
    found = (tmp_path / "q.f8").stat()
    assert found.st_size == 1 << 20 and 512 * found.st_blocks >= 1 << 20


@pytest.mark.parametrize("choice", [True, ["ball.position"]])
def test_a_disk_that_cannot_be_written_any_more_is_named(tmp_path, choice, monkeypatch):
    model = mbd.Model("ball")
    model.add(mbd.PointMass("ball", 1.0, velocity=(1, 0, 0)))
    sim = mbd.Simulator(model, 0.01, store=tmp_path / "run", record=choice)
    sim.advance(10.0)
    known = len(sim.solution())

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    opened = Path.open
    monkeypatch.setattr(Path, "open", lambda self, mode="r", *a: full() if mode == "ab" else opened(self, mode, *a))
    with pytest.raises(mbd.FileError, match=r"run cannot be written any more \(No space left on device\); mbd.load"):
        sim.advance(1e4)
    monkeypatch.undo()
    assert len(mbd.load(tmp_path / "run")) >= known == 1001


@pytest.mark.parametrize("choice", [True, ["ball.velocity", "ball.position"]])
@pytest.mark.parametrize("file", ["q.f8", "first.f8", "channel-0.f8", "channel-1.f8", "t.f8"])
def test_a_run_goes_on_when_there_is_room_again(tmp_path, choice, file, monkeypatch):
    """What had been written of a block when the disk was full must not shift the records behind it."""
    model = mbd.Model("ball")
    model.add(mbd.PointMass("ball", 1.0, velocity=(1, 0, 0)))
    sim = mbd.Simulator(model, 0.01, store=tmp_path / "run", record=choice)
    sim.advance(10.0)
    opened = Path.open

    def nearly_full(self, mode="r", *rest):
        handle = opened(self, mode, *rest)
        if mode == "ab" and self.name == file:
            handle.write(b"1234567890")
            handle.close()
            raise OSError(errno.ENOSPC, "No space left on device")
        return handle

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", nearly_full)
        if file in [path.name for path in (tmp_path / "run").iterdir()]:
            with pytest.raises(mbd.FileError, match="cannot be written any more"):
                sim.advance(20.0)
    sim.advance(20.0)
    for solution in (sim.solution(), mbd.load(tmp_path / "run")):
        position = solution["ball.position"] if choice is not True else solution["ball"].position
        np.testing.assert_allclose(position[:, 0], solution.t, atol=1e-9)
        assert (np.diff(solution.t) > 0.0).all() and solution.t[-1] == pytest.approx(sim.t)


@pytest.mark.parametrize("choice", [None, ["wheel.position", "shaft.angle"]], ids=["all", "chosen"])
def test_a_folder_that_lacks_records_says_so(tmp_path, choice):
    """Copied in part, for instance: what is there is no complete run, and the state is not that of its end."""
    mbd.simulate(winding(), 0.4, 0.02, record=choice, store=tmp_path / "run")
    whole = mbd.load(tmp_path / "run")
    assert whole.complete and "records" not in whole.stats
    file = tmp_path / "run" / ("q.f8" if choice is None else "channel-1.f8")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    cut = mbd.load(tmp_path / "run")
    assert len(cut) == 10 and not cut.complete and "end after 10 of 21 records" in cut.message
    with pytest.raises(mbd.ModelError, match="no state to continue from"):
        mbd.simulate(winding(), 0.6, 0.02, start=cut)
    if choice is not None:
        assert np.array_equal(whole.last["wheel"].position[0], whole["wheel.position"][-1])
        with pytest.raises(mbd.ModelError, match=r"last: .*10 of 21 records, and of the one at t = 0.18"):
            _ = cut.last


@pytest.mark.parametrize("choice", [True, ["wheel.position", "shaft.angle"]], ids=["all", "chosen"])
def test_what_follows_a_look_is_cut_off_by_a_kill(tmp_path, choice):
    """A Simulator that goes on after ``solution()``: state and counters of the folder are those of the look."""
    sim = mbd.Simulator(winding(), 0.02, store=tmp_path / "run", record=choice)
    sim.advance(2.0)
    assert len(sim.solution()) == 101 and mbd.load(tmp_path / "run").complete
    for _ in range(600):
        sim.step()
    killed = mbd.load(tmp_path / "run")
    assert len(killed) > 101 and not killed.complete and "cut off" in killed.message
    with pytest.raises(mbd.ModelError, match="no state to continue from"):
        mbd.simulate(winding(), 20.0, 0.02, start=killed)
    if choice is not True:
        with pytest.raises(mbd.ModelError, match="last: the run was cut off"):
            _ = killed.last
    assert sim.solution().complete and len(mbd.load(tmp_path / "run")) == 701 and mbd.load(tmp_path / "run").complete
