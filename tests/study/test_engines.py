"""Engines: runs that kill their process, processes that cannot start, functions that cannot travel."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import textwrap
import warnings
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import mbd
from mbd.study import engines, parcels, sweep
from mbd.study.fingerprints import differences, told
from tests.study import cases

ROOT = Path(__file__).resolve().parents[2]
N, KILLERS = 200, "50 120"


def pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


def check(study, killers: str) -> None:
    """Exactly the killers died, the one that raises failed, and all others are as they should be."""
    lost = {float(x): "died" for x in killers.split()} | {7.0: "failed"}
    assert {failed.parameters["x"]: failed.status for failed in study.failed} == lost and study.complete
    with pytest.warns(mbd.ModelWarning):
        whole = sweep(cases.troubled, {"x": np.arange(float(len(study)))}, outputs=cases.same)
    good = study.status == "good"
    for name in ("square", "pair"):
        np.testing.assert_array_equal(study[name][good], whole[name][good])


def troubled(count: int, killers: str, **options):
    with pytest.warns(mbd.ModelWarning):
        return sweep(cases.troubled, {"x": np.arange(float(count)), "killers": killers}, outputs=cases.same, **options)


def test_own_processes(tmp_path):
    study = troubled(N, KILLERS, executor=2)
    check(study, KILLERS)
    assert study.failed[1].message == "its process was ended by SIGKILL"


def test_any_pool_of_processes(monkeypatch):
    """A broken pool loses all that is in flight; it is made again, and only the killer is to blame."""
    with pool() as executor:
        study = troubled(N, "50", executor=executor, chunk=10)
    check(study, "50")
    assert study.failed[1].message == "its process died"


def test_dask_workers(dask_cluster):
    """A client of the user's; the scheduler is as it was afterwards."""
    import distributed

    with distributed.Client(dask_cluster, set_as_default=False) as client:
        before = client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.allowed_failures)
        check(troubled(N, "50", executor=client, chunk=1), "50")
        assert client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.allowed_failures) == before == 3


def test_runs_that_cannot_be_ended_from_inside(monkeypatch):
    from mbd.study import processes

    monkeypatch.setattr(processes, "GRACE", 0.2)
    with pytest.warns(mbd.ModelWarning, match="1 of 6 runs have no result"):
        study = sweep(cases.stuck, {"x": np.arange(6.0)}, outputs={"y": float}, executor=1, timeout=0.5, chunk=6)
    assert [(f.run, f.status) for f in study.failed] == [(3, "timeout")]
    assert "its process had to be ended" in study.failed[0].message
    np.testing.assert_array_equal(np.delete(study["y"], 3), [0.0, 1.0, 2.0, 4.0, 5.0])


class Moody(Executor):
    """An executor that does the work at once, and breaks now and then."""

    def __init__(self, moods: str):
        self.moods, self.broken = moods, False

    def submit(self, function, /, *arguments, **options):
        future = Future()
        if function is not parcels.ready:
            self.broken = self.broken or self.moods[:1] == "b"
            self.moods = self.moods[1:]
        if self.broken:
            future.set_exception(engines.BrokenExecutor("broken"))
        else:
            future.set_result(function(*arguments, **options))
        return future


def test_executors_that_break():
    with pytest.raises(mbd.StudyError, match="not known how to make a new one"):
        sweep(cases.numbers, {"x": np.arange(9.0)}, outputs=cases.same, executor=Moody("gb"), chunk=3)
    made = []

    def make():
        made.append(Moody(("gb", "b", "ggggggggg")[len(made)]))
        return made[-1]

    study = sweep(cases.numbers, {"x": np.arange(9.0)}, outputs=cases.same, executor=make, chunk=3)
    assert study.complete and not study.failed and len(made) == 3

    def never():
        executor = Moody("")
        executor.broken = True
        return executor

    with pytest.raises(mbd.StudyError, match="breaks before it makes a run"):
        sweep(cases.numbers, {"x": np.arange(9.0)}, outputs=cases.same, executor=never)


@pytest.mark.parametrize("failures", [3, 4])
def test_three_failures_alone_before_a_run_is_to_blame(failures):
    """Once in company and twice alone: not to blame."""
    moods = iter(["ggb", *["b"] * (failures - 1), "ggggggggg"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = sweep(
            cases.numbers, {"x": np.arange(3.0)}, outputs=cases.same, executor=lambda: Moody(next(moods)), chunk=1
        )
    assert study.complete
    assert [(failed.run, failed.status) for failed in study.failed] == ([(2, "died")] if failures == 4 else [])


def run_script(folder: Path, text: str) -> subprocess.CompletedProcess:
    script = folder / "script.py"
    script.write_text(textwrap.dedent(text))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=100, check=False
    )


def test_a_script_that_cannot_be_imported(tmp_path):
    found = run_script(tmp_path, """
        import mbd

        def build(x):
            return x

        mbd.study.sweep(build, {"x": [1.0, 2.0]}, outputs={"y": float}, executor=1)
    """)  # fmt: skip
    assert found.returncode == 1
    last = found.stderr.strip().splitlines()[-1]
    assert last.startswith("mbd.errors.StudyError: a worker process ended while it started (exit code 1)")
    assert "if __name__ == '__main__'" in last


def test_globals_that_were_changed(monkeypatch):
    """A fresh process has the values of the file."""
    monkeypatch.setattr(cases, "SCALE", 5.0)
    text = r"build: SCALE: 5\.0 in the process that sent it, 2\.0 in a worker.*functools\.partial"
    with pytest.raises(mbd.StudyError, match=text):
        sweep(cases.numbers, {"x": np.arange(3.0)}, outputs=cases.same, executor=1)
    with pool() as executor, pytest.raises(mbd.StudyError, match=text):
        sweep(cases.numbers, {"x": np.arange(3.0)}, outputs=cases.same, executor=executor)
    with ThreadPoolExecutor(1) as executor:  # no other process
        study = sweep(cases.numbers, {"x": np.arange(3.0)}, outputs=cases.same, executor=executor)
    np.testing.assert_array_equal(study["square"], 5.0 * np.arange(3.0) ** 2)


def test_lambdas(monkeypatch):
    """Sent as code by cloudpickle; refused by name without it, before anything is started."""
    factor = 3.0
    study = sweep(lambda x: factor * x, {"x": np.arange(3.0)}, outputs={"y": lambda y: y}, executor=1)
    np.testing.assert_array_equal(study["y"], [0.0, 3.0, 6.0])
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    started = []
    monkeypatch.setattr(multiprocessing.get_context("spawn").Process, "start", lambda self: started.append(1))
    for executor in (1, pool()):
        with pytest.raises(mbd.ModelError, match=r"'test_lambdas\.<locals>\.<lambda>'.*cannot be sent.*cloudpickle"):
            sweep(lambda x: factor * x, {"x": np.arange(3.0)}, outputs={"y": lambda y: y}, executor=executor)
    assert not started


class Gain:
    """An object with a value and a method."""

    def __init__(self, value):
        self.value = value

    def times(self, x):
        return OFFSET + self.value * x


OFFSET = 1.0
GAIN = Gain(2.0)


def used(x, extra=(1, 2)):
    return GAIN.times(x) if x in {"a", "b"} else np.sin(x)


def test_what_is_told_of_functions(monkeypatch):
    first = told(build=used)
    assert first["build: GAIN.value"] == "2.0" and first["build: extra"] == "tuple of 2"
    assert told(build=used) == first
    monkeypatch.setattr(GAIN, "value", 3.0)
    assert differences(told(build=used), first) == ["build: GAIN.value: 2.0 in the store, 3.0 here"]
    monkeypatch.setattr(sys.modules[__name__], "OFFSET", 0.5)
    assert len(differences(told(build=used), first)) == 2
    code = "from tests.study.test_engines import used; from mbd.study.fingerprints import told; print(told(build=used))"
    texts = [
        subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": n},
                       capture_output=True, text=True, check=True).stdout for n in "12"
    ]  # fmt: skip
    assert texts[0] == texts[1] == f"{first}\n"  # in every process
