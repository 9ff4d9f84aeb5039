"""Whose files are run: whoever can write into a file of machine code lets those who load it run anything.

The cache of a user belongs to the user and is writable by nobody else; links are not followed below its root. Code that
is part of an installation belongs to whoever installed it, as the modules beside it, which Python runs without asking.
It is as trustworthy as they are if nobody can write into it who cannot write into them: that is what is checked, and
links are followed as Python follows those of modules.
"""

from __future__ import annotations

import functools
import os
import stat
import sys
from pathlib import Path

_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_HAS_OWNERS = hasattr(os, "geteuid")  # elsewhere the directory of the user is protected by the system


@functools.cache
def tell(sentence: str) -> None:
    """Tell the user, once."""
    print(f"mbd: {sentence}", file=sys.stderr, flush=True)


def distrust(status: os.stat_result) -> str:
    """Why somebody else may have written something of the user's with this status; empty if nobody can have."""
    if not _HAS_OWNERS:
        return ""
    if status.st_uid != os.geteuid():
        return f"belongs to user number {status.st_uid} and not to number {os.geteuid()}, who runs this"
    return _too_open(status) if status.st_mode & _OTHERS else ""


def is_private(folder: Path) -> bool:
    """Whether nobody but the user can have put something into a directory of the cache; OSError if it is not there."""
    root = folder.parent
    for place, status in ((root, root.stat()), (folder, folder.lstat())):  # the root may be a link of the user's
        reason = distrust(status) if stat.S_ISDIR(status.st_mode) else "is not a directory"
        if reason:
            remedy = "mend that, or let NUMBA_CACHE_DIR name another directory"
            tell(f"{place} {reason}: compiled code is neither taken from there nor kept; {remedy}")
            return False
    return True


def distrust_installed(status: os.stat_result) -> str:
    """Why somebody may have written a part of the installation who cannot write its modules; empty if nobody can."""
    if not _HAS_OWNERS:
        return ""
    module = Path(__file__).parent.stat() if stat.S_ISDIR(status.st_mode) else Path(__file__).stat()
    if status.st_uid not in (module.st_uid, os.geteuid(), 0):
        return f"belongs to user number {status.st_uid}, and the modules beside it to number {module.st_uid}"
    shared = module.st_mode & _OTHERS if status.st_gid == module.st_gid else module.st_mode & stat.S_IWOTH
    return _too_open(status) if status.st_mode & _OTHERS & ~shared else ""


@functools.cache
def is_installed(root: Path, folder: Path) -> bool:
    """Whether a directory below one of the installation, and those between, are as safe as its modules are."""
    for place in (root, *(root / each for each in reversed(folder.parents)), root / folder):
        try:
            reason = distrust_installed(place.stat())
        except OSError:
            return False
        if reason:
            tell(f"{place} {reason}: compiled code is not taken from there; install anew to mend that")
            return False
    return True


def _too_open(status: os.stat_result) -> str:
    return f"is writable by others (mode {stat.S_IMODE(status.st_mode):04o})"
