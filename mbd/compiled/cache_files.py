"""Files of machine code: nothing is run that was damaged or that others may have written (``trust``).

A file is a line with a digest, a line of JSON that says what the code is, and the code. The digest covers both of these
and the *key*, all that the code was made from, so that a file that was cut, overwritten, left half written by a crash
or put in another's place is as good as none: the code is compiled anew. Drafts are made under names that cannot be
known before. What is part of an installation is read only.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
import time
from pathlib import Path
from typing import Any, NamedTuple

from .old_code import DAY, remove_old_once
from .trust import distrust, distrust_installed, is_installed, is_private, tell

MARK = b"mbd machine code 1 "
_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

Content = tuple[dict[str, Any], bytes]
"""What a file says of the code, and the code."""


class Installed(NamedTuple):
    """Code that is part of an installation: a directory of it, a file below, and all that the code was made from."""

    root: Path
    path: Path
    key: str


class CodeFile(NamedTuple):
    """Where code is kept, in a directory below the root of the cache, and all that it was made from.

    The path is None for users who have no place for a cache. ``installed`` is where there may be such code as well.
    """

    path: Path | None
    key: str
    installed: tuple[Installed, ...] = ()


def _digest(key: str, body: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(key.encode()).digest() + body).hexdigest().encode()


def read_code(file: CodeFile) -> Content | None:
    """What a file says of the code, and the code; None if there is none that can be trusted."""
    with contextlib.suppress(OSError):
        if file.path is not None and is_private(file.path.parent):
            found = _read(file.path, file.key, own=True)
            if found is not None:
                return found
    for root, path, key in file.installed:
        with contextlib.suppress(OSError):
            found = _read(root / path, key, own=False) if is_installed(root, path.parent) else None
            if found is not None:
                return found
    return None


def _read(path: Path, key: str, own: bool) -> Content | None:
    """The content of a file of the user's own cache, or of the installation."""
    links = getattr(os, "O_NOFOLLOW", 0) if own else 0
    try:
        descriptor = os.open(path, os.O_RDONLY | _FLAGS | links | getattr(os, "O_NONBLOCK", 0))  # a pipe must not block
    except OSError as error:
        if error.errno == errno.ELOOP:
            tell(f"{path} is a link and not code that was kept here: it is compiled anew")
        return None
    with open(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        reason = distrust(status) if own else distrust_installed(status)
        if reason:
            tell(f"{path} {reason}: it is compiled anew")
            return None
        first, _, body = stream.read().partition(b"\n")
        if first != MARK + _digest(key, body):
            return None
        if own and time.time() - status.st_mtime > DAY:
            _mark_as_used(descriptor if os.utime in os.supports_fd else path)
    head, _, code = body.partition(b"\n")
    return json.loads(head), code


def _mark_as_used(file: int | Path) -> None:
    """Set the time at which a file was used, for ``old_code``."""
    with contextlib.suppress(OSError):  # on a disk that is read only
        os.utime(file)


def write_code(file: CodeFile, about: dict[str, Any], code: bytes) -> None:
    """Keep code for other processes; several may do so at the same time."""
    if file.path is None:
        tell("there is no home directory to keep compiled code in; NUMBA_CACHE_DIR can name a directory")
        return
    body = json.dumps(about).encode() + b"\n" + code
    content = MARK + _digest(file.key, body) + b"\n" + body
    root = file.path.parents[1]
    try:
        try:
            written = _write(file.path, content)
        except FileNotFoundError:  # the directory was empty, and another process removed it just now
            written = _write(file.path, content)
        if written:
            remove_old_once(root)
    except OSError as error:
        tell(f"{root} is not writable ({error.strerror}), compiled code will not be kept")


def _write(path: Path, content: bytes) -> bool:
    """Write a file, unless others can write there as well; returns whether it was written."""
    folder = path.parent
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    if not is_private(folder):
        return False
    draft = folder / f"{os.urandom(8).hex()}.draft"
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(content)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return True
