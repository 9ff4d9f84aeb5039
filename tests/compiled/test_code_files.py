"""Files of machine code: damaged ones are compiled anew, those of others are not run, nothing is written elsewhere.

What they are named after is in test_code_names, how old ones are removed in test_old_code, what an installation brings
in test_shipped_code.
"""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mbd.compiled import cache, old_code, trust
from mbd.compiled.cache_files import CodeFile, read_code, write_code
from mbd.compiled.kernel import JIT

ROOT = Path(__file__).parents[2]
ABOUT = {"symbol": "f.1", "result": ["f", "i"], "needs": ["sin"]}
CODE = bytes(range(256)) * 8
FOLDER = "module-00000000000000aa"
FLIPS = 400
OTHER_USER = 54321

posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")
compiled = pytest.mark.skipif(not JIT, reason="nothing is compiled")


@pytest.fixture(autouse=True)
def anew():
    """What is said and done once in a process is said and done in every test."""
    trust.tell.cache_clear()
    old_code.remove_old_once.cache_clear()


@pytest.fixture
def kept(tmp_path) -> CodeFile:
    """A file with code."""
    file = CodeFile(tmp_path / "cache" / FOLDER / "f-1-00000000000000aa.code", "the text of f, the processor")
    write_code(file, ABOUT, CODE)
    assert read_code(file) == (ABOUT, CODE)
    return file


def tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() or path.is_symlink()}


# --- damage ---------------------------------------------------------------------------------------------------------


def test_a_single_bit_anywhere(kept, rng):
    whole = kept.path.read_bytes()
    head = len(whole) - len(CODE)  # the digest and what is said of the code: every byte of it
    places = [*range(head), *rng.choice(np.arange(head, len(whole)), FLIPS, replace=False).tolist()]
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        kept.path.write_bytes(damaged)
        assert read_code(kept) is None, place
    kept.path.write_bytes(whole)
    assert read_code(kept) == (ABOUT, CODE)


def test_files_that_are_cut_empty_or_foreign(kept):
    whole = kept.path.read_bytes()
    old_format = json.dumps({**ABOUT, "size": len(CODE)}).encode() + b"\n" + CODE
    cut = [whole[:n] for n in (0, 1, 20, 90, 150, len(whole) - 1)]
    for content in (
        *cut,
        whole + b"\0",
        b"\0" * len(whole),
        whole[:500] + bytes(len(whole) - 500),
        old_format,
        b"\n\n",
    ):
        kept.path.write_bytes(content)
        assert read_code(kept) is None, content[:30]
        write_code(kept, ABOUT, CODE)
        assert read_code(kept) == (ABOUT, CODE)


def test_a_file_in_the_place_of_another(kept):
    """The name of a file holds a part of the hash only; its digest covers all that the code was made from."""
    other = CodeFile(kept.path.with_name("f-2.code"), "another text of f, the processor")
    other.path.write_bytes(kept.path.read_bytes())
    assert read_code(other) is None


DAMAGE = """
import sys
from pathlib import Path
import numpy as np
from mbd.math.so3 import tangent_operator

def value():
    tangent_operator.codes.clear()  # as in a new process
    t = np.zeros(9)
    tangent_operator(0.1, 0.2, 0.3, t)
    return t.tolist()

right = value()
(file,) = Path(sys.argv[1]).rglob("tangent*.code")
whole = file.read_bytes()
rng = np.random.default_rng(1)

def flipped(place):
    content = bytearray(whole)
    content[place] ^= 1 << int(rng.integers(8))
    return bytes(content)

variants = [flipped(place) for place in rng.integers(len(whole), size=25)]
variants += [b"", whole[: len(whole) // 2], bytes(len(whole)), whole[:1000] + bytes(len(whole) - 1000), b"x" * 5000]
for number, variant in enumerate(variants):
    file.write_bytes(variant)
    assert value() == right, f"variant {number} gives another result"
    assert file.read_bytes() != variant, f"variant {number} was used"
    assert value() == right
file.write_bytes(bytes(len(whole)))
print(right)
"""


def run(script, folder, *arguments):
    return subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True, cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
    )  # fmt: skip


@pytest.mark.own_compiler
@compiled
def test_damaged_code_is_never_run(tmp_path):
    """Flipped bits, zeros and foreign content are compiled anew, in the same process and in the next one."""
    right = run(DAMAGE, tmp_path, str(tmp_path)).stdout
    assert run(DAMAGE.partition("(file,)")[0] + "print(right)", tmp_path).stdout == right  # it finds zeros


# --- owners ---------------------------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022, 0o077])
def test_nobody_else_can_write(tmp_path, mask):
    """Whatever the user's mask says."""
    before = os.umask(mask)
    try:
        file = CodeFile(tmp_path / "deep" / "cache" / "module" / "f.code", "key")
        write_code(file, ABOUT, CODE)
    finally:
        os.umask(before)
    for path in (file.path, file.path.parent, file.path.parent.parent):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    assert read_code(file) == (ABOUT, CODE)


@posix
@pytest.mark.parametrize("level", [1, 2])
def test_directories_that_others_can_write(kept, level, capsys):
    """Neither read nor written, with one sentence."""
    folder = kept.path.parents[level - 1]
    for mode in (0o770, 0o707, 0o1777):
        folder.chmod(mode)
        content = kept.path.read_bytes()
        assert read_code(kept) is None and read_code(kept) is None
        write_code(kept, ABOUT, b"new")
        assert kept.path.read_bytes() == content
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and f"{folder} is writable by others (mode {mode:04o})" in said
        assert "NUMBA_CACHE_DIR" in said
    folder.chmod(0o755)
    assert read_code(kept) == (ABOUT, CODE)


@posix
def test_directories_of_somebody_else(kept, monkeypatch, capsys):
    monkeypatch.setattr(os, "geteuid", lambda: OTHER_USER)
    assert read_code(kept) is None
    write_code(kept, ABOUT, b"new")
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and f"and not to number {OTHER_USER}" in said


@posix
def test_files_that_others_can_write(kept, capsys):
    kept.path.chmod(0o620)
    assert read_code(kept) is None
    assert f"{kept.path} is writable by others (mode 0620): it is compiled anew" in capsys.readouterr().err
    write_code(kept, ABOUT, CODE)
    assert read_code(kept) == (ABOUT, CODE) and stat.S_IMODE(kept.path.stat().st_mode) == 0o600


@posix
def test_files_of_somebody_else(kept, monkeypatch, capsys):
    """They are replaced, as the directory is the user's own."""
    given_away = os.stat_result((*kept.path.stat()[:4], OTHER_USER, *kept.path.stat()[5:]))
    monkeypatch.setattr(os, "fstat", lambda descriptor: given_away)
    assert read_code(kept) is None
    assert f"belongs to user number {OTHER_USER}" in capsys.readouterr().err
    monkeypatch.undo()
    write_code(kept, ABOUT, b"new")
    assert read_code(kept) == (ABOUT, b"new")


# --- links and drafts -----------------------------------------------------------------------------------------------


@posix
def test_links_are_not_followed(kept, tmp_path, capsys):
    """Neither for reading, nor when the file is replaced."""
    elsewhere = tmp_path / "elsewhere"
    kept.path.rename(elsewhere)
    kept.path.symlink_to(elsewhere)
    assert read_code(kept) is None
    assert "is a link" in capsys.readouterr().err
    before = elsewhere.read_bytes()
    write_code(kept, ABOUT, b"new")
    assert not kept.path.is_symlink() and read_code(kept) == (ABOUT, b"new")
    assert elsewhere.read_bytes() == before
    folder = kept.path.parent
    folder.rename(tmp_path / "folder")
    folder.symlink_to(tmp_path / "folder")
    assert read_code(kept) is None
    assert "is not a directory" in capsys.readouterr().err


@posix
def test_the_root_may_be_a_link(kept, tmp_path):
    """Many keep their caches on another disk."""
    (tmp_path / "link").symlink_to(kept.path.parents[1])
    there = kept._replace(path=tmp_path / "link" / kept.path.parent.name / kept.path.name)
    assert read_code(there) == (ABOUT, CODE)


@posix
def test_pipes_do_not_block(kept):
    kept.path.unlink()
    os.mkfifo(kept.path)
    assert read_code(kept) is None


@posix
def test_drafts_are_made_exclusively(kept, tmp_path, monkeypatch, capsys):
    """Somebody who knew the name of the draft could otherwise let it be written through a link."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setattr(os, "urandom", bytes)
    for name in (f"{'00' * 8}.draft", f"{kept.path.name}.{os.getpid()}"):
        (kept.path.parent / name).symlink_to(victim)
    write_code(kept, ABOUT, b"new")
    assert victim.read_text() == "precious"
    assert "compiled code will not be kept" in capsys.readouterr().err
    assert read_code(kept) == (ABOUT, CODE)


def test_a_failed_write_leaves_nothing(kept, tmp_path, monkeypatch, capsys):
    before = tree(tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    write_code(kept, ABOUT, b"new")
    assert tree(tmp_path) == before
    assert "(No space left on device), compiled code will not be kept" in capsys.readouterr().err
    assert read_code(kept) == (ABOUT, CODE)


# --- places ---------------------------------------------------------------------------------------------------------


def root_with(monkeypatch, **environment):
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return cache._cache_root()


@posix
def test_where_code_is_kept(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert root_with(monkeypatch, HOME="/home/me") == Path("/home/me/.cache/mbd")
    assert root_with(monkeypatch, HOME="/home/me", XDG_CACHE_HOME="/scratch") == Path("/scratch/mbd")
    assert root_with(monkeypatch, HOME="/home/me", XDG_CACHE_HOME="relative") == Path("/home/me/.cache/mbd")
    assert root_with(monkeypatch, HOME="/home/me", NUMBA_CACHE_DIR="here") == tmp_path / "here"


@posix
def test_users_without_a_home(monkeypatch, tmp_path, capsys):
    """A number without a name, as in many containers: nothing is made in the working directory."""
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    root = root_with(monkeypatch)
    assert root is None
    monkeypatch.setattr(cache, "CACHE_ROOT", root)
    monkeypatch.chdir(tmp_path)
    file = cache.code_file("folder", "name", "key")
    for _ in range(2):
        assert read_code(file) is None
        write_code(file, ABOUT, CODE)
    assert tree(tmp_path) == set()
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "there is no home directory" in said
