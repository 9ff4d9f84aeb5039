"""A lock on a folder that ends with the process which holds it, however that ends."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from ..errors import FileError, ModelError


class Lock:
    """Held from the beginning until ``release`` or the end of the process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.file: IO[Any] | None = path.open("a+")
        except OSError as error:
            raise FileError(
                f"store = '{path.parent}': nothing can be written there ({error.strerror or error}); "
                f"mbd.study.load('{path.parent}') reads a study that is there"
            ) from error
        if not _taken(self.file):
            self.file.seek(0)
            owner = self.file.read().strip() or "another process"
            self.file.close()
            raise ModelError(
                f"store = '{path.parent}': {owner} is writing this study; mbd.study.load('{path.parent}') reads it "
                "meanwhile"
            )
        self.file.truncate(0)
        self.file.write(f"process {os.getpid()} on {socket.gethostname()}\n")
        self.file.flush()

    def release(self) -> None:
        """Let others write."""
        if self.file is not None:
            with suppress(OSError):
                self.file.truncate(0)
            self.file.close()
            self.file = None


def _taken(file: IO[Any]) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        lock: Any = msvcrt
        try:
            file.seek(1000)  # behind the text, which others read
            lock.locking(file.fileno(), lock.LK_NBLCK, 1)
            return True
        except OSError:
            return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
