"""Files of machine code: only the user can have written them, and nothing that was damaged is run.

A file is a line with a digest, a line of JSON that says what the code is, and the code. The digest covers both of these
and the *key*, all that the code was made from, so that a file that was cut, overwritten, left half written by a crash
or put in another's place is as good as none: the code is compiled anew. Whoever could write into the files could let
the user run anything. Therefore directories and files belong to the user and are writable by nobody else, links are not
followed below the root, and drafts are made under names that cannot be known before.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import json
import os
import re
import stat
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

MARK = b"mbd machine code 1 "
DRAFT_SECONDS = 3600.0  # a draft older than this was left behind by a process that was ended
_DRAFT = re.compile(r"[0-9a-f]{16}\.draft|.*\.code\.\d+")  # the second are those of earlier versions
_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class CodeFile(NamedTuple):
    """Where code is kept, in a directory below the root of the cache, and all that it was made from."""

    path: Path
    key: str


@functools.cache
def tell(sentence: str) -> None:
    """Tell the user, once."""
    print(f"mbd: {sentence}", file=sys.stderr, flush=True)


def _distrust(status: os.stat_result) -> str:
    """Why somebody else may have written something with this status; empty if nobody can have."""
    if not hasattr(os, "geteuid"):
        return ""  # where files have no such owners, the directory of the user is protected by the system
    if status.st_uid != os.geteuid():
        return f"belongs to user number {status.st_uid} and not to number {os.geteuid()}, who runs this"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"is writable by others (mode {stat.S_IMODE(status.st_mode):04o})"
    return ""


def _is_private(folder: Path) -> bool:
    """Whether nobody but the user can have put something into a directory of the cache; OSError if it is not there."""
    root = folder.parent
    for place, status in ((root, root.stat()), (folder, folder.lstat())):  # the root may be a link of the user's
        reason = _distrust(status) if stat.S_ISDIR(status.st_mode) else "is not a directory"
        if reason:
            remedy = "mend that, or let NUMBA_CACHE_DIR name another directory"
            tell(f"{place} {reason}: compiled code is neither taken from there nor kept; {remedy}")
            return False
    return True


def _digest(key: str, body: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(key.encode()).digest() + body).hexdigest().encode()


def read_code(file: CodeFile) -> tuple[dict[str, Any], bytes] | None:
    """What a file says of the code, and the code; None if there is none that can be trusted."""
    try:
        if not _is_private(file.path.parent):
            return None
        descriptor = os.open(file.path, os.O_RDONLY | _FLAGS | getattr(os, "O_NONBLOCK", 0))  # a pipe must not block
    except OSError as error:
        if error.errno == errno.ELOOP:
            tell(f"{file.path} is a link and not code that was kept here: it is compiled anew")
        return None
    try:
        with open(descriptor, "rb") as stream:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return None
            reason = _distrust(status)
            if reason:
                tell(f"{file.path} {reason}: it is compiled anew")
                return None
            first, _, body = stream.read().partition(b"\n")
    except OSError:
        return None
    if first != MARK + _digest(file.key, body):
        return None
    head, _, code = body.partition(b"\n")
    return json.loads(head), code


def write_code(file: CodeFile, about: dict[str, Any], code: bytes) -> None:
    """Keep code for other processes; several may do so at the same time."""
    folder = file.path.parent
    body = json.dumps(about).encode() + b"\n" + code
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        if not _is_private(folder):
            return
        _remove_drafts(folder.parent)
        draft = folder / f"{os.urandom(8).hex()}.draft"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
        try:
            with open(descriptor, "wb") as stream:
                stream.write(MARK + _digest(file.key, body) + b"\n" + body)
            draft.replace(file.path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    except OSError as error:
        tell(f"{folder.parent} is not writable ({error.strerror}), compiled code will not be kept")


@functools.cache
def _remove_drafts(root: Path) -> None:
    """Remove the drafts of processes that were ended while they wrote; once in a process."""
    latest = time.time() - DRAFT_SECONDS
    for folder in os.scandir(root):
        for entry in os.scandir(folder) if folder.is_dir(follow_symlinks=False) else ():
            if _DRAFT.fullmatch(entry.name) and entry.stat(follow_symlinks=False).st_mtime < latest:
                with contextlib.suppress(OSError):  # another process may be doing the same
                    os.unlink(entry.path)
