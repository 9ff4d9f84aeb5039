"""Stores: results as they come, resumed where they were interrupted, refused where they belong to another study."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import mbd
from mbd.study import load, sweep
from mbd.study import store as stores
from tests.study import cases

ROOT = Path(__file__).resolve().parents[2]
N = 60
GRID = {"x": np.arange(float(N))}


def made(folder: Path) -> list[float]:
    """Runs in the order in which they were made."""
    return [float(line) for line in (folder / "made").read_text().split()]


def troubled(folder: Path, **options):
    with pytest.warns(mbd.ModelWarning):
        return sweep(cases.troubled, {**GRID, "folder": str(folder)}, outputs=cases.same, **options)


def same(a, b) -> None:
    """Equal rows, whatever the way to them; but for the time that they took."""
    first, second = (study.frame().drop(columns="seconds") for study in (a, b))
    assert first.equals(second)


def test_resumed_equals_uninterrupted(tmp_path, monkeypatch):
    whole = troubled(tmp_path, chunk=7)
    (tmp_path / "made").unlink()
    monkeypatch.setattr(stores.Store, "every", 0.0)

    def stop(block):
        if block.run.max() > 30:
            raise RuntimeError("power cut")

    add = stores.Store.add
    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="power cut"):
        patch.setattr(stores.Store, "add", lambda self, block: (stop(block), add(self, block)))
        parameters = {**GRID, "folder": str(tmp_path)}
        sweep(cases.troubled, parameters, outputs=cases.same, chunk=4, store=tmp_path / "s")
    half = load(tmp_path / "s")
    done = np.flatnonzero(half.status != "open")
    assert 20 < len(done) < 35 and not half.complete
    (tmp_path / "s" / ".part-000000099-0-abc.part.npz").write_bytes(b"half")  # of a process that was killed
    before = len(made(tmp_path))
    study = troubled(tmp_path, chunk=11, store=tmp_path / "s")
    assert sorted(made(tmp_path)[before:]) == sorted(set(GRID["x"]) - set(done))
    assert half.complete  # it shows what there is
    same(study, whole)
    same(load(tmp_path / "s"), whole)
    assert not list((tmp_path / "s").glob(".*"))
    before = len(made(tmp_path))
    troubled(tmp_path, store=tmp_path / "s")  # complete: nothing is made
    assert len(made(tmp_path)) == before


DRIVER = """
    import sys
    import numpy as np
    import mbd
    from tests.study import cases

    if __name__ == "__main__":
        mbd.study.sweep(cases.slow, {"x": np.arange(200.0)}, outputs=cases.same, store=sys.argv[1], executor=2, chunk=5)
"""


def processes_of(group: int) -> list[int]:
    """Processes of a group that are not only waiting to be buried."""
    import psutil

    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
    return found


def test_driver_is_killed(tmp_path):
    """SIGKILL of the driver: what was stored stays, its workers end, and the study goes on."""
    script, store = tmp_path / "driver.py", tmp_path / "store"
    script.write_text(textwrap.dedent(DRIVER))
    command = [sys.executable, str(script), str(store)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, start_new_session=True) as driver:
        end = time.monotonic() + 60.0
        while len(list(store.glob("part-*"))) < 2:
            assert time.monotonic() < end and driver.poll() is None
            time.sleep(0.02)
        while_running = int((load(store).status == "good").sum())  # a study can be read while it runs
        with pytest.raises(mbd.ModelError, match=rf"process {driver.pid} on .* is writing this study"):
            sweep(cases.slow, {"x": np.arange(200.0)}, outputs=cases.same, store=store)
        driver.send_signal(signal.SIGKILL)
    kept = int((load(store).status == "good").sum())
    assert 0 < while_running <= kept < 200
    while processes_of(driver.pid):  # workers do not outlive it
        assert time.monotonic() < end
        time.sleep(0.05)
    study = sweep(cases.slow, {"x": np.arange(200.0)}, outputs=cases.same, store=store)
    whole = sweep(cases.numbers, {"x": np.arange(200.0)}, outputs=cases.same)
    for name in ("square", "pair"):
        np.testing.assert_array_equal(study[name], whole[name])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"seed": 1}, r"seed: 0 in the store, 1 here"),
        ({"parameters": {"x": np.arange(5.0)}}, r"axes of the parameters: x \(4\) in the store, x \(5\) here"),
        ({"parameters": {"x": np.arange(4.0) + 1.0}}, r"values of parameter 'x': "),
        ({"outputs": {"square": lambda r: r["square"]}}, r"output 'square': missing in the store, code "),
        ({"build": cases.slow}, r"build: code \w+ in the store, code \w+ here"),
        ({"simulate": cases.same}, r"simulate: None in the store, code "),
        ({"scale": 3.0}, r"build: SCALE: 2\.0 in the store, 3\.0 here"),
    ],
)
def test_another_study_is_refused(tmp_path, monkeypatch, change, text):
    arguments = {"build": cases.numbers, "parameters": {"x": np.arange(4.0)}, "outputs": cases.same}

    def study(build, parameters, **options):
        return sweep(build, parameters, store=tmp_path, **options)

    study(**arguments)
    if "scale" in change:
        monkeypatch.setattr(cases, "SCALE", change.pop("scale"))
    with pytest.raises(mbd.ModelError, match=rf"belongs to another study: .*{text}"):
        study(**{**arguments, **change})


def test_versions_are_part_of_a_study(tmp_path, monkeypatch):
    sweep(cases.numbers, {"x": [1.0]}, outputs=cases.same, store=tmp_path)
    monkeypatch.setattr(mbd, "__version__", "9.9.9")
    with pytest.raises(mbd.ModelError, match=r"mbd: 0\.\S+ in the store, 9\.9\.9 here"):
        sweep(cases.numbers, {"x": [1.0]}, outputs=cases.same, store=tmp_path)


def test_retry(tmp_path):
    study = troubled(tmp_path, store=tmp_path / "s")
    assert [failed.run for failed in study.failed] == [7]
    before = len(made(tmp_path))
    troubled(tmp_path, store=tmp_path / "s", retry=True)
    assert made(tmp_path)[before:] == [7.0]


def test_small_parts_are_joined(tmp_path, monkeypatch):
    monkeypatch.setattr(stores.Store, "every", 0.0)
    monkeypatch.setattr(stores, "JOINED", 3)
    study = sweep(cases.numbers, {"x": np.arange(30.0)}, outputs=cases.same, store=tmp_path, chunk=1)
    assert [part.name[-5] for part in study._source.parts()] == ["3", "1"]  # 27 + 3
    whole = sweep(cases.numbers, {"x": np.arange(30.0)}, outputs=cases.same)
    same(study, whole)
    study.compact()
    assert len(study._source.parts()) == 1
    same(load(tmp_path), whole)
    same(sweep(cases.numbers, {"x": np.arange(30.0)}, outputs=cases.same, store=tmp_path), whole)


def test_a_part_that_is_there_twice(tmp_path, monkeypatch):
    """As after a crash between joining parts and removing them; of a run that was made again the last row counts."""
    monkeypatch.setattr(stores.Store, "every", 0.0)
    study = sweep(cases.numbers, {"x": np.arange(9.0)}, outputs=cases.same, store=tmp_path, chunk=3)
    values = study["square"]
    parts = study._source.parts()
    block = stores.Block.joined([stores.read_part(part) for part in parts[:2]])
    (tmp_path / "part-000000050-1.npz").write_bytes(stores.part_bytes(block))
    np.testing.assert_array_equal(load(tmp_path)["square"], values)
    numbers = [value._replace(numbers=-value.numbers) for value in block.values]
    changed = stores.Block(
        *(getattr(block, n) for n in ("run", "status", "seconds", "warned", "message", "warning")), numbers
    )
    (tmp_path / "part-000000051-0.npz").write_bytes(stores.part_bytes(changed))
    done = len(block)
    np.testing.assert_array_equal(load(tmp_path)["square"], np.where(np.arange(9) < done, -values, values))
    load(tmp_path).compact()
    np.testing.assert_array_equal(load(tmp_path)["square"], np.where(np.arange(9) < done, -values, values))


def test_joining_that_ends_early(tmp_path, monkeypatch):
    """Of a run that was made again the last row counts, also if only the oldest parts have been joined."""
    monkeypatch.setattr(stores.Store, "every", 0.0)
    ready = tmp_path / "ready"

    def build(x):
        if x == 1.0 and not ready.exists():
            raise ValueError("not yet")
        return x

    given = {"parameters": {"x": np.arange(12.0)}, "outputs": {"y": float}, "store": tmp_path / "s", "chunk": 2}
    with pytest.warns(mbd.ModelWarning, match="not yet"):
        sweep(build, **given)
    ready.touch()
    retried = sweep(build, retry=True, **given)
    assert (retried.status == "good").all()
    written = retried.frame()
    monkeypatch.setattr(stores, "COMPACT", 1.0)  # a part of its own for each
    put, made_parts = stores.Store._put, []

    def killed(store, *arguments):
        if len(made_parts) == 3:
            raise KeyboardInterrupt
        made_parts.append(put(store, *arguments))

    monkeypatch.setattr(stores.Store, "_put", killed)
    with pytest.raises(KeyboardInterrupt):
        load(tmp_path / "s").compact()
    assert load(tmp_path / "s").frame().equals(written)


def test_damaged_stores(tmp_path):
    with pytest.raises(mbd.ModelError, match=r"there is no study in .*plan\.json is missing"):
        load(tmp_path)
    study = sweep(cases.numbers, {"x": np.arange(4.0)}, outputs=cases.same, store=tmp_path)
    part = study._source.parts()[0]
    content = part.read_bytes()
    part.write_bytes(content[:200])
    with pytest.raises(mbd.FileError, match=r"part-\S+ is damaged .*; remove it, and its runs are made again"):
        _ = study["square"]
    part.unlink()
    assert set(study.status) == {"open"}
    sweep(cases.numbers, {"x": np.arange(4.0)}, outputs=cases.same, store=tmp_path)
    assert study.complete
    plan = json.loads((tmp_path / "plan.json").read_text())
    for change, text in (({"format": "other"}, "is not the plan of a study"), ({"version": 99}, "another version"),
                         ({"runs": 7}, "it has 7 runs, not 4"), ({"parameters": {}}, "damaged")):  # fmt: skip
        (tmp_path / "plan.json").write_text(json.dumps(plan | change))
        with pytest.raises(mbd.ModelError, match=text):
            load(tmp_path)
    (tmp_path / "plan.json").unlink()
    with pytest.raises(mbd.ModelError, match="parts of a study, but not its plan"):
        sweep(cases.numbers, {"x": np.arange(4.0)}, outputs=cases.same, store=tmp_path)


def test_folders_in_which_nothing_can_be_written(tmp_path, monkeypatch):
    sweep(cases.numbers, {"x": [1.0]}, outputs=cases.same, store=tmp_path / "study")

    def refuse(self, *arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # who is root may write everywhere
    with pytest.raises(mbd.FileError, match=r"nothing can be written there \(Permission denied\); mbd\.study\.load"):
        sweep(cases.numbers, {"x": [1.0]}, outputs=cases.same, store=tmp_path / "study")


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(mbd.FileError, match="cannot be made"):
        sweep(cases.numbers, {"x": [1.0]}, outputs=cases.same, store=tmp_path / "file" / "study")
    with pytest.raises(mbd.FileError, match="cannot be read as the folder of a study"):
        load(tmp_path / "file")
