"""Machine code that nobody uses is removed: old code goes, young code and what is not ours stays."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mbd.compiled import cache_files, old_code, trust
from mbd.compiled.cache_files import CodeFile, read_code, write_code
from mbd.compiled.old_code import DAY, remove_old, size_of_code

ROOT = Path(__file__).parents[2]
SIZE = 1000
posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")


@pytest.fixture(autouse=True)
def anew():
    """What is said and done once in a process is said and done in every test."""
    trust.tell.cache_clear()
    old_code.remove_old_once.cache_clear()


def name(k: int) -> str:
    return f"{k:016x}"


def make(root: Path, folder: str, file: str, days: float = 0.0, size: int = SIZE) -> Path:
    """A file in a folder, both last used so many days ago."""
    path = root / folder / file
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    set_age(path, days)
    set_age(path.parent, days)
    return path


def set_age(path: Path, days: float) -> None:
    then = time.time() - days * DAY
    os.utime(path, (then, then))


def code(root: Path, k: int, days: float, size: int = SIZE) -> Path:
    return make(root, f"module-{name(k)}", f"f-12-{name(k)}.code", days, size)


def test_old_code_goes_and_young_code_stays(tmp_path):
    old, young, new = code(tmp_path, 1, 31.0), code(tmp_path, 2, 29.0), code(tmp_path, 3, 0.0)
    assert remove_old(tmp_path) == (1, SIZE)
    assert not old.parent.exists() and young.exists() and new.exists()


def test_one_function_of_a_module_may_be_old(tmp_path):
    """User functions are all in one folder, which is always in use."""
    old, new = code(tmp_path, 1, 31.0), make(tmp_path, f"module-{name(1)}", f"g-{name(2)}.code", 0.0)
    remove_old(tmp_path)
    assert not old.exists() and new.exists()


def test_least_recently_used_goes_first(tmp_path):
    files = [code(tmp_path, k, 2.0 + k) for k in range(10)]
    assert remove_old(tmp_path, largest=4 * SIZE) == (6, 6 * SIZE)
    assert [path.exists() for path in files] == [True] * 4 + [False] * 6


def test_what_was_used_today_is_not_removed(tmp_path):
    """Another version may be using it right now. Only a cache beyond all bounds keeps no more than the last hour."""
    files = [code(tmp_path, k, 0.9) for k in range(5)]
    assert remove_old(tmp_path, largest=0, unused=0.0) == (0, 0)
    assert all(path.exists() for path in files)
    new = [code(tmp_path, 10 + k, 0.03) for k in range(5)]
    assert remove_old(tmp_path, largest=0, limit=6 * SIZE) == (4, 4 * SIZE)
    assert remove_old(tmp_path, largest=0, limit=0) == (1, SIZE)
    assert all(path.exists() for path in new)


def test_use_is_noted(tmp_path):
    """Once a day: the time of a file that is read does not change at every start."""
    file = CodeFile(tmp_path / f"module-{name(1)}" / f"f-{name(1)}.code", "key")
    write_code(file, {}, b"code")
    assert file.path is not None
    for days, touched in ((40.0, True), (1.1, True), (0.9, False)):
        set_age(file.path, days)
        assert read_code(file) == ({}, b"code")
        age = time.time() - file.path.stat().st_mtime
        assert age < 60.0 if touched else age == pytest.approx(days * DAY, abs=60.0)
    set_age(file.path, 40.0)
    read_code(file)
    remove_old(tmp_path)
    assert file.path.exists()


def test_unread_code_is_not_used(tmp_path):
    """A damaged file, or one of another key, is not kept alive by processes that refuse it."""
    file = CodeFile(tmp_path / f"module-{name(1)}" / f"f-{name(1)}.code", "key")
    write_code(file, {}, b"code")
    assert file.path is not None
    set_age(file.path, 40.0)
    assert read_code(file._replace(key="other")) is None
    remove_old(tmp_path)
    assert not file.path.exists()


def test_once_in_a_process_and_only_by_those_who_write(tmp_path, monkeypatch):
    calls: list[Path] = []
    monkeypatch.setattr(old_code, "remove_old", calls.append)
    files = [CodeFile(tmp_path / f"module-{name(k)}" / f"f-{name(k)}.code", "key") for k in range(3)]
    for file in files:
        assert read_code(file) is None
    assert calls == []
    for file in files:
        write_code(file, {}, b"code")
        assert read_code(file) is not None
    assert calls == [tmp_path]


def test_a_folder_that_is_removed_while_code_is_written(tmp_path, monkeypatch):
    """It was empty, and another process removed it before the draft was made."""
    file = CodeFile(tmp_path / f"module-{name(1)}" / f"f-{name(1)}.code", "key")
    is_private, removed = cache_files.is_private, []

    def removing(folder: Path) -> bool:
        answer = is_private(folder)
        if not removed:
            removed.append(folder)
            folder.rmdir()
        return answer

    monkeypatch.setattr(cache_files, "is_private", removing)
    write_code(file, {}, b"code")
    assert removed and read_code(file) == ({}, b"code")


def test_drafts(tmp_path):
    """Also those of earlier versions; not those that may still be written."""
    hour = 1.0 / 24.0
    old = [make(tmp_path, f"module-{name(1)}", f, 1.1 * hour) for f in (f"{'0a' * 8}.draft", "g-3.code.1234")]
    new = [make(tmp_path, f"module-{name(1)}", f, 0.9 * hour) for f in (f"{'0b' * 8}.draft", "g-3.code.99")]
    remove_old(tmp_path)
    assert not any(path.exists() for path in old) and all(path.exists() for path in new)


def test_files_of_others_are_not_touched(tmp_path):
    """numba keeps its own files in NUMBA_CACHE_DIR, and people may name any directory."""
    foreign = [
        make(tmp_path, f"module-{name(1)}", "notes.txt", 99.0),
        make(tmp_path, f"module-{name(1)}", f"f-{name(1)}.code.txt", 99.0),
        make(tmp_path, f"module-{name(1)}", f"f-{name(1)[1:]}.code", 99.0),
        make(tmp_path, "module", f"f-{name(1)}.code", 99.0),
        make(tmp_path, f"module_{name(1)}", "f.nbi", 99.0),
        make(tmp_path, f"module-{name(1)}x", f"f-{name(1)}.code", 99.0),
        make(tmp_path, f"module-{name(2)}/inner-{name(2)}", f"f-{name(1)}.code", 99.0),
    ]
    in_root = tmp_path / f"f-{name(1)}.code"
    in_root.touch()
    set_age(in_root, 99.0)
    folder = tmp_path / f"module-{name(3)}" / f"f-{name(3)}.code"
    folder.mkdir(parents=True)
    set_age(folder, 99.0)
    assert remove_old(tmp_path, largest=0) == (0, 0)
    assert all(path.exists() for path in (*foreign, in_root, folder))


def numba_files(root: Path, k: int, days: float) -> list[Path]:
    """What numba's own cache keeps for a state of the sources, last used so many days ago; its files are older."""
    folder = root / f"numba-{name(k)}"
    names = (
        "so3_0a1b/so3.f-12.py311.nbi",
        "so3_0a1b/so3.f-12.py311.1.nbc",
        "entries/m.f.py",
        "entries/__pycache__/m.pyc",
    )
    files = [make(folder, str(Path(each).parent), Path(each).name, days + 50.0) for each in names]
    set_age(folder, days)
    return files


def test_code_of_numbas_own_cache(tmp_path):
    """Used together, removed together."""
    old, young = numba_files(tmp_path, 1, 31.0), numba_files(tmp_path, 2, 29.0)
    assert size_of_code(tmp_path) == (8, 8 * SIZE)
    assert remove_old(tmp_path) == (4, 4 * SIZE)
    assert not (tmp_path / f"numba-{name(1)}").exists() and all(path.exists() for path in young)
    foreign = make(tmp_path / f"numba-{name(2)}", "entries", "notes.txt", 99.0)
    set_age(tmp_path / f"numba-{name(2)}", 31.0)
    assert remove_old(tmp_path) == (4, 4 * SIZE)
    assert foreign.exists() and not any(path.exists() for path in (*old, *young))


USE_NUMBA = "import mbd.compiled.public as public; print(public.FOLDER)"


def test_numbas_own_cache_is_noted_and_tidied(tmp_path):
    """By a process that begins a new folder; use of one is noted."""
    tmp_path.chmod(0o700)
    old = code(tmp_path, 1, 31.0)
    environment = {**os.environ, "MBD_COMPILER": "numba", "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}

    def folder() -> Path:
        command = [sys.executable, "-c", USE_NUMBA]
        answer = subprocess.run(command, env=environment, cwd=ROOT, text=True, capture_output=True, check=True)
        return Path(answer.stdout.strip())

    assert folder().is_dir() and not old.exists()
    old = code(tmp_path, 1, 31.0)
    set_age(folder(), 31.0)
    assert time.time() - folder().stat().st_mtime < DAY and old.exists()


@posix
def test_links_are_not_followed(tmp_path):
    """Neither folders nor files; what they point to stays."""
    elsewhere, root = tmp_path / "elsewhere", tmp_path / "root"
    target = code(elsewhere, 1, 99.0)
    root.mkdir()
    (root / f"module-{name(1)}").symlink_to(target.parent)
    own = code(root, 2, 99.0)
    link = own.with_name(f"g-{name(3)}.code")
    link.symlink_to(target)
    os.utime(link, (0, 0), follow_symlinks=False)
    assert remove_old(root, largest=0) == (1, SIZE)
    assert target.exists() and link.is_symlink() and not own.exists()
    assert (root / f"module-{name(1)}").is_symlink()


@posix
def test_folders_that_others_can_write(tmp_path):
    """What is in them may be anybody's: they are left alone."""
    file = code(tmp_path, 1, 99.0)
    file.parent.chmod(0o777)
    assert remove_old(tmp_path) == (0, 0) and file.exists()


@posix
def test_roots_that_others_can_write(tmp_path):
    """Nothing is written there, and nothing removed."""
    file, new = code(tmp_path, 1, 99.0), CodeFile(tmp_path / f"module-{name(2)}" / f"f-{name(2)}.code", "key")
    tmp_path.chmod(0o777)
    write_code(new, {}, b"code")
    assert file.exists() and new.path is not None and not new.path.exists()


REMOVE = """
import sys
from pathlib import Path
from mbd.compiled.old_code import remove_old
print("ready", flush=True)
sys.stdin.readline()
print(*remove_old(Path(sys.argv[1])))
"""


def test_two_processes_at_once(tmp_path):
    """Both go through, and each file is removed by one of them."""
    old = [code(tmp_path, k, 40.0) for k in range(300)]
    young = [code(tmp_path, 1000 + k, 2.0) for k in range(5)]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", REMOVE, str(tmp_path)], cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for _ in range(2)
    ]  # fmt: skip
    for process in processes:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    results = [process.communicate() for process in processes]
    assert [errors for _, errors in results] == ["", ""]
    assert sum(int(out.split()[0]) for out, _ in results) == len(old)
    assert not any(path.parent.exists() for path in old) and all(path.exists() for path in young)


def test_size_of_code(tmp_path):
    assert size_of_code(tmp_path / "missing") == (0, 0)
    code(tmp_path, 1, 2.0)
    code(tmp_path, 2, 0.0)
    make(tmp_path, f"module-{name(1)}", f"{'0a' * 8}.draft")
    make(tmp_path, f"module-{name(1)}", "notes.txt")
    assert size_of_code(tmp_path) == (2, 2 * SIZE)
