"""Files are written beside and renamed: a full disk or an interrupt leaves the old file, and nothing else."""

from __future__ import annotations

import os
import resource
import stat
from contextlib import contextmanager

import pytest

import mbd
from mbd.io.files import replacing, write_text
from mbd.study.tables import Table

LIMIT = 1500  # bytes that a file may have, as on a disk that is nearly full


@contextmanager
def full_disk():
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def table(solution, path):
    Table(["a", "b"], [["x" * 40, str(k)] for k in range(100)]).write(path)


WRITERS = {
    "run.html": lambda s, path: s.html(path),
    "run.glb": lambda s, path: s.gltf(path),
    "energy.png": lambda s, path: s.plot("energy", path),
    "energy.pdf": lambda s, path: s.plot("energy", path),
    "report.html": lambda s, path: s.report(path),
    "run.npz": lambda s, path: s.save(path),
    "model.json": lambda s, path: s.model.save(path),
    "table.csv": table,
    "table.tex": table,
}
RENDERED = {
    "last.png": lambda s, path: s.picture(path, size=(320, 180)),
    "run.mp4": lambda s, path: s.movie(path, size=(160, 90), fps=20, progress=False),
    "run.gif": lambda s, path: s.movie(path, size=(160, 90), fps=10, progress=False),
}


def survives(solution, name, write, folder):
    file = folder / name
    with full_disk(), pytest.raises(OSError) as caught:
        write(solution, file)
    assert list(folder.iterdir()) == []
    write(solution, file)
    before = file.read_bytes()
    assert len(before) > LIMIT
    with full_disk(), pytest.raises(OSError):
        write(solution, file)
    assert file.read_bytes() == before and list(folder.iterdir()) == [file]
    return caught.value


@pytest.mark.filterwarnings("ignore:The picture of the report is left out")  # where there is no OpenGL
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_keeps_the_old_file(chain, name, tmp_path):
    error = survives(chain, name, WRITERS[name], tmp_path)
    assert isinstance(error, mbd.MbdError) and str(tmp_path / name) in str(error) and "cannot be written" in str(error)


@pytest.mark.parametrize("name", RENDERED)
def test_a_full_disk_keeps_pictures_and_movies(chain, name, tmp_path, rendering):
    survives(chain, name, RENDERED[name], tmp_path)


def test_interrupts_links_and_folders(tmp_path):
    file = tmp_path / "a.txt"
    write_text(file, "old")
    with pytest.raises(KeyboardInterrupt), replacing(file) as draft:
        draft.write_text("half")
        raise KeyboardInterrupt
    assert file.read_text() == "old" and os.listdir(tmp_path) == ["a.txt"]
    file.chmod(0o640)
    (tmp_path / "link.txt").symlink_to(file)
    write_text(tmp_path / "link.txt", "new")
    assert file.read_text() == "new" and (tmp_path / "link.txt").is_symlink()
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    write_text("/dev/null", "away")
    with pytest.raises(mbd.MbdError, match="there is no folder"):
        write_text(tmp_path / "none" / "a.txt", "x")
    with pytest.raises(mbd.MbdError, match="it is a folder"):
        write_text(tmp_path, "x")


def test_an_old_file_stays_until_the_new_one_is_on_the_disk(tmp_path, monkeypatch):
    """The power may fail at any moment; for a new file nobody waits, unless it is asked for."""
    file, synced = tmp_path / "a.txt", []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(os.readlink(f"/proc/self/fd/{number}")))
    write_text(file, "first")
    assert not synced
    write_text(file, "second")
    assert len(synced) == 1 and synced[0].endswith(".part.txt") and file.read_text() == "second"
    with replacing(tmp_path / "b.txt", durable=True) as draft:
        draft.write_text("x")
    assert len(synced) == 2
