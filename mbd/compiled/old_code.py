"""Removal of machine code that nobody uses any more.

Every change of a module leaves its old code behind, under a name that no process asks for again. A process that has
written code removes, once, what was not used for a month, and what is too much for the size of the cache, the least
recently used first; but nothing that was used within a day, by whichever version, unless the cache is larger still
(many versions in one day): then the oldest code that was not made within the last hour goes too. When code was used is
the time at which its file was changed: those who read it set it anew (``cache_files``). What numba keeps itself for
a state of the sources (``public``) is in one directory, whose time counts for all of it. Only files with names that are
given here, in directories with such names, are touched, and no links are followed.
"""

from __future__ import annotations

import functools
import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from .trust import distrust

DAY = 86400.0
KEPT_SECONDS = 30.0 * DAY
LARGEST_BYTES = 256 * 2**20
LIMIT_BYTES = 2**30  # beyond which not even a day counts
DRAFT_SECONDS = 3600.0  # a draft older than this was left behind by a process that was ended
_FOLDER = re.compile(r".+-[0-9a-f]{16}")
_CODE = re.compile(r".+-[0-9a-f]{16}\.code")
_NUMBA_FOLDER = re.compile(r"numba-[0-9a-f]{16}")
_NUMBA_FILE = re.compile(r".+\.(nbi|nbc|py|pyc)(\.tmp\..+)?")
_DRAFT = re.compile(r"[0-9a-f]{16}\.draft|.*\.code\.\d+")  # the second are those of earlier versions


class _File(NamedTuple):
    age: float
    size: int
    path: str
    is_draft: bool


def _entries(folder: str | Path) -> Iterator[tuple[os.DirEntry, os.stat_result]]:
    """What is in a directory; other processes may be removing it."""
    with suppress(FileNotFoundError):
        for entry in os.scandir(folder):
            with suppress(FileNotFoundError):
                yield entry, entry.stat(follow_symlinks=False)


def _folders(root: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Directories of code below the root of a cache."""
    for entry, status in _entries(root):
        if _FOLDER.fullmatch(entry.name) and stat.S_ISDIR(status.st_mode) and not distrust(status):
            yield entry.path, status


def _files(folder: str, used: float) -> Iterator[_File]:
    """Code and drafts in a directory that was last changed at a time."""
    if _NUMBA_FOLDER.fullmatch(os.path.basename(folder)):
        yield from _numba_files(folder, time.time() - used)
        return
    for entry, status in _entries(folder):
        is_draft = bool(_DRAFT.fullmatch(entry.name))
        if (is_draft or _CODE.fullmatch(entry.name)) and stat.S_ISREG(status.st_mode):
            yield _File(time.time() - status.st_mtime, status.st_size, entry.path, is_draft)


def _numba_files(folder: str, age: float) -> Iterator[_File]:
    """All that numba keeps in a directory and those below."""
    for entry, status in _entries(folder):
        if stat.S_ISDIR(status.st_mode):
            yield from _numba_files(entry.path, age)
        elif stat.S_ISREG(status.st_mode) and _NUMBA_FILE.fullmatch(entry.name):
            yield _File(age, status.st_size, entry.path, False)


def _remove_empty(folder: str) -> None:
    """Remove a directory and those below, as far as they are empty."""
    if _NUMBA_FOLDER.fullmatch(os.path.basename(folder)):
        for inner, _, _ in os.walk(folder, topdown=False):
            with suppress(OSError):
                os.rmdir(inner)
    with suppress(OSError):  # it is not empty
        os.rmdir(folder)


def note_use(path: Path) -> None:
    """Something is used: its time is set anew, once a day."""
    with suppress(OSError):
        if time.time() - path.stat().st_mtime > DAY:
            os.utime(path)


def remove_old(
    root: Path, unused: float = KEPT_SECONDS, largest: int = LARGEST_BYTES, young: float = DAY, limit: int = LIMIT_BYTES
) -> tuple[int, int]:
    """Remove code not used for so many seconds, and more while the rest is too large, but nothing that is young.

    Beyond the limit only code of the last hour counts as young.

    Returns how many files were removed and their size.
    """
    now, count, size = time.time(), 0, 0
    folders = list(_folders(root))
    files = [file for folder, status in folders for file in _files(folder, status.st_mtime)]
    for file in _too_old(sorted(files), unused, largest, young, limit):
        with suppress(OSError):  # another process may be doing the same
            os.unlink(file.path)
            count, size = count + 1, size + file.size
    for folder, status in folders:
        if now - status.st_mtime >= young:
            _remove_empty(folder)
    return count, size


def _too_old(files: list[_File], unused: float, largest: int, young: float, limit: int) -> Iterator[_File]:
    """What is to be removed of files that are sorted by age."""
    total = 0
    for file in files:
        total += file.size
        if file.is_draft:
            if file.age > DRAFT_SECONDS:
                yield file
        elif file.age >= young and (file.age > unused or total > largest):
            yield file
        elif file.age >= DRAFT_SECONDS and total > limit:
            yield file


@functools.cache
def remove_old_once(root: Path) -> None:
    """``remove_old``, once in a process."""
    with suppress(OSError):
        remove_old(root)


def size_of_code(root: Path) -> tuple[int, int]:
    """Number of files of code below the root of a cache, and their size."""
    sizes = [
        file.size for folder, status in _folders(root) for file in _files(folder, status.st_mtime) if not file.is_draft
    ]
    return len(sizes), sum(sizes)
