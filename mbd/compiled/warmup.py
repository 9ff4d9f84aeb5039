"""Compiling ahead of time: for this machine, or for a level of processors, to be shipped with the package.

What is compiled is what *tasks* need, functions that use compiled code; whoever has kernels knows them. Code that is
there is not compiled again. Code for a level is made by a child process, whose settings tell the compiler what to
compile for, in a cache of its own; what it leaves there, but for code of user functions, becomes a part of the
installation (``cache.SHIPPED``).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from . import cache, native
from .machine import LEVELS, compiler_settings, missing_features
from .old_code import remove_old, size_of_code
from .settings import JIT

Task = tuple[str, Callable[[], None]]
"""A name, and a function that uses compiled code."""


def _say(text: str, end: str = "\n") -> None:
    print(f"mbd: {text}", end=end, flush=True)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


def warm(tasks: Iterable[Task]) -> int:
    """Run tasks, so that all code that they need is on disk; returns how many failed."""
    if not JIT:
        _say("MBD_JIT=0: nothing is compiled")
        return 0
    clock, failed, tasks = time.perf_counter(), 0, list(tasks)
    compiled_before = len(native.compiled)
    with cache.without_shipped_code():
        for k, (name, run) in enumerate(tasks, 1):
            start, before = time.perf_counter(), len(native.compiled)
            _say(f"[{k}/{len(tasks)}] {name} ...", end=" ")
            try:
                run()
                result = f"{len(native.compiled) - before} compiled"
            except Exception as error:  # the others are worth having
                failed += 1
                result = f"failed: {type(error).__name__}: {error}"
            print(f"{result} ({time.perf_counter() - start:.1f} s)", flush=True)
    count, seconds = len(native.compiled) - compiled_before, time.perf_counter() - clock
    place = "nothing is kept" if cache.CACHE_ROOT is None else _inventory(cache.CACHE_ROOT)
    _say(f"{count} functions compiled in {seconds:.1f} s; {place}")
    return failed


def _inventory(root: Path) -> str:
    count, size = size_of_code(root)
    return f"{count} files of code, {_megabytes(size)}, in {root}"


def warm_for(level: str, command: list[str], into: Path | None = None) -> int:
    """Run a command, which calls ``warm``, with a compiler for a level; its code goes into a directory for shipping.

    Returns the status of the command; after a failure everything stays as it was.
    """
    lacking = missing_features(level) if level in LEVELS else ()
    if level not in LEVELS or lacking:
        lack = f"this processor lacks {', '.join(lacking)}, and code is made where it can be run"
        raise ValueError(lack if lacking else f"no level of processors; expected one of {', '.join(LEVELS)}")
    target = (into or cache.SHIPPED) / level
    with tempfile.TemporaryDirectory() as scratch:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_") and k != "MBD_JIT"}
        environment = {**kept, **compiler_settings(level), "NUMBA_CACHE_DIR": scratch}
        status = subprocess.run(command, env=environment, check=False).returncode
        if status != 0:
            _say(f"for {level}: nothing was put into {target}, as not everything was compiled")
            return status
        if target.is_dir():
            _remove_all(target)
        for folder in sorted(Path(scratch).iterdir()):
            if not folder.name.startswith(cache.USER_FUNCTIONS):
                shutil.copytree(folder, target / folder.name, copy_function=shutil.copyfile)
                (target / folder.name).chmod(0o755)
    _say(f"for {level}: {_inventory(target)}")
    return 0


def _remove_all(root: Path) -> tuple[int, int]:
    return remove_old(root, largest=-1, young=-float("inf"))


def clear() -> str:
    """Remove all code of the user's own cache; says what was done."""
    root = cache.CACHE_ROOT
    if root is None or not root.is_dir():
        return "there is no compiled code"
    count, size = _remove_all(root)
    return f"{count} files of code, {_megabytes(size)}, removed from {root}"
