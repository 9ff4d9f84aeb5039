"""Engines: runs that kill their process, processes that cannot start, functions that cannot travel."""

from __future__ import annotations

import multiprocessing
import os
import random
import subprocess
import sys
import textwrap
import types
import warnings
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import mbd
from mbd.study import engines, minimize, parcels, sweep
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


def test_code_that_was_changed_since_workers_met_it(monkeypatch):
    """Workers that live on have the functions that they imported, also where they have made runs with them before."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        arguments = {"build": cases.numbers, "parameters": {"x": np.arange(9.0)}, "outputs": cases.same}
        sweep(**arguments, executor=executor)
        monkeypatch.setattr(cases, "SCALE", 5.0)
        with pytest.raises(mbd.StudyError, match=r"build: SCALE: 5\.0 in the process that sent it.*client\.restart"):
            sweep(**arguments, executor=executor)


COUNTED = [0]


def counting(x):
    COUNTED[0] += 1
    return x * COUNTED[0]


@pytest.mark.filterwarnings("ignore:minimize. Nelder-Mead did not come to an end")
@pytest.mark.parametrize("where", ["here", "processes", "minimize"])
def test_functions_that_change_what_they_refer_to(monkeypatch, where):
    """Their results depend on the order of the runs."""
    monkeypatch.setattr(sys.modules[__name__], "COUNTED", [0])
    text = r"changed while runs were made: build: COUNTED\[0\]: 0 when the study began, \d+ now.*depend on the order"
    with pytest.warns(mbd.ModelWarning, match=text):
        if where == "minimize":
            minimize(counting, {"x": 1.0}, float, method="Nelder-Mead", options={"maxiter": 3})
        else:
            sweep(
                counting, {"x": np.arange(1.0, 4.0)}, outputs={"y": float}, executor=1 if where == "processes" else None
            )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sweep(cases.numbers, {"x": np.arange(3.0)}, outputs=cases.same)


@pytest.mark.parametrize("generator", [np.random.default_rng(1), np.random.RandomState(1), random.Random(1)])
def test_generators_of_all_runs_together(generator):
    """A generator that is made once gives numbers in the order of the runs, whatever that is."""
    with pytest.warns(mbd.ModelWarning, match="has changed while runs were made.*an argument rng"):
        sweep(lambda x: x + generator.random(), {"x": [1.0, 2.0]}, outputs={"y": float})
    draw = generator.random
    with pytest.warns(mbd.ModelWarning, match="has changed while runs were made"):
        sweep(lambda x: x + draw(), {"x": [1.0, 2.0]}, outputs={"y": float})


def test_a_script_behind_a_pipe():
    """Its file is called "<stdin>", which processes need not look for: functions are sent as code."""
    text = """
        import mbd
        factor = 3.0
        study = mbd.study.sweep(lambda x: factor * x, {"x": [1.0, 2.0]}, outputs={"y": float}, executor=1)
        print(study["y"].tolist(), __file__)
    """
    found = subprocess.run(
        [sys.executable, "-"], input=textwrap.dedent(text), env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert found.stdout == "[3.0, 6.0] <stdin>\n", found.stderr


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_that_was_shut_down(kind):
    executor = kind(1)
    executor.shutdown()
    with pytest.raises(mbd.StudyError, match=f"{kind.__name__} takes no work .*expected an executor that is not shut"):
        sweep(cases.numbers, {"x": [1.0]}, outputs=cases.same, executor=executor)


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


MECHANISMS = {
    "class": "class P:\n    M = {0}\ndef build(x):\n    return P.M * x",
    "object": "class P:\n    M = [1.0, {0}]\np = P()\ndef build(x):\n    return p.M[1] * x",
    "inherited": "class B:\n    def f(self, x):\n        return {0} * x\nclass P(B):\n    pass\n"
    "def build(x):\n    return P().f(x)",
    "slots": "class P:\n    __slots__ = 'm'\np = P()\np.m = {0}\ndef build(x):\n    return p.m * x",
    "enum": "import enum\nclass P(enum.Enum):\n    M = {0}\ndef build(x):\n    return P.M.value * x",
    "cached": "import functools\nclass P:\n    @functools.cached_property\n    def m(self):\n        return {0}\n"
    "p = P()\ndef build(x):\n    return p.m * x",
    "namespace": "import types\np = types.SimpleNamespace(m={0})\ndef build(x):\n    return p.m * x",
    "spline": "import scipy.interpolate as s\nf = s.CubicSpline([0, 1, 2], [0, {0}, 4])\n"
    "def build(x):\n    return float(f(x))",
    "table": "import pandas\nf = pandas.DataFrame({{'m': [{0}]}})\ndef build(x):\n    return f['m'][0] * x",
    "objects": "import numpy\nf = numpy.array([{0}, 'a'], dtype=object)\ndef build(x):\n    return f[0] * x",
    "interpolation": "import numpy\nimport scipy.interpolate as s\np = numpy.array([[0.0], [1.0], [{0}]])\n"
    "f = s.RBFInterpolator(numpy.array([[0.0], [1.0], [2.0]]), p[:, 0])\ndef build(x):\n    return float(f([[x]])[0])",
    "getter": "import operator\nf = operator.itemgetter(int({0}))\n"
    "def build(x):\n    return f([1.0, 2.0, 3.0, 4.0]) * x",
    "pattern": "import re\nf = re.compile('{0}')\ndef build(x):\n    return float(bool(f.match('2.0')))",
    "bound": "import scipy.interpolate as s\nf = s.CubicSpline([0, 1, 2], [0, {0}, 4]).__call__\n"
    "def build(x):\n    return float(f(x))",
    "method": "f = dict(m={0}).get\ndef build(x):\n    return f('m') * x",
    "bytes": "f = bytearray([int({0})])\ndef build(x):\n    return f[0] * x",
    "node": "import mbd\nf = mbd.nodes.RotationVector(position=({0}, 0, 0))\n"
    "def build(x):\n    return f.position[0] * x",
    "body": "import mbd\nf = mbd.RigidBody('b', {0}, (1, 1, 1))\ndef build(x):\n    return f.mass * x",
    "parameter": "import mbd\nf = mbd.Model().parameter('f', {0})\ndef build(x):\n    return f.value * x",
    "system": "import mbd\nm = mbd.Model()\nm.add(mbd.PointMass('p', {0}))\nf = mbd.assemble(m)\n"
    "def build(x):\n    return f.model['p'].mass * x",
    "vectorized": "import numpy\nf = numpy.vectorize(lambda x: {0} * x)\ndef build(x):\n    return float(f(x))",
    "partial": "import functools, numpy\nf = functools.partial(numpy.interp, xp=[0.0, 9.0], fp=[0.0, {0}])\n"
    "def build(x):\n    return f(x)",
    "dispatched": "import functools\n@functools.singledispatch\ndef f(x):\n    return {0} * x\n"
    "def build(x):\n    return f(x)",
    "attribute": "def build(x):\n    return build.m * x\nbuild.m = {0}",
    "model": "import mbd\nm = mbd.Model()\nm.add(mbd.PointMass('p', {0}))\ndef build(x):\n    return m['p'].mass * x",
    "import": "def build(x):\n    from mechanism_helper import f\n    return f(x)",
    "module": "def build(x):\n    import mechanism_helper\n    return mechanism_helper.f(x)",
}


@pytest.mark.parametrize("kind", MECHANISMS)
def test_whatever_a_function_depends_on_is_told(monkeypatch, kind):
    """The same text is told alike when it is read again; another number in it is noticed, wherever it stands."""
    found = []
    for number in (2.0, 2.0, 3.0):
        for name, text in (("mechanism_helper", "def f(x):\n    return {0} * x"), ("mechanism", MECHANISMS[kind])):
            module = types.ModuleType(name)
            monkeypatch.setitem(sys.modules, name, module)
            exec(text.format(number), vars(module))
        found.append(told(build=module.build))
        assert module.build(1.0) is not None
        assert told(build=module.build) == found[-1]  # some objects remember what they have done
    assert found[0] == found[1]
    assert differences(found[2], found[0])
