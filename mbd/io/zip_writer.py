"""Arrays in one uncompressed zip archive, as ``np.savez`` writes it, from their memory and with fast checksums.

``np.savez`` and ``zipfile`` copy every piece, and most of the time goes into ``zlib.crc32``. All sizes are those of
zip64. Numbers are read from memory once: a piece is added to the checksum and written while it is in the cache of the
processor. The checksum is entered in front of them afterwards, because many readers that go from front to back do not
take one behind data that are not compressed; it stands there where nobody can go back, in a pipe. Format: PKWARE,
APPNOTE 6.3.10, sections 4.3.7 (local headers), 4.3.9 (what stands behind data), 4.3.12 (directory), 4.3.14 to 4.3.16
(its end).
"""

from __future__ import annotations

import io
import os
import struct
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..compiled.checksum import checksum

LARGE = 1 << 20  # bytes of an array for which room is reserved at once
PIECE = 1 << 21  # bytes
VERSION, STORED = 45, 0
UTF_8, BEHIND_DATA = 1 << 11, 1 << 3  # flags: of names, and of where checksums are
IN_ZIP64 = 0xFFFFFFFF
LOCAL = struct.Struct("<4s5H3L2H")
CHECKSUM, CHECKSUM_AT = struct.Struct("<L"), 14
SIZES = struct.Struct("<2H2Q")
BEHIND = struct.Struct("<4sL2Q")
ENTRY = struct.Struct("<4s6H3L5H2L")
PLACE = struct.Struct("<2H3Q")
END_64 = struct.Struct("<4sQ2H2L4Q")
LOCATOR = struct.Struct("<4sLQL")
END = struct.Struct("<4s4H2LH")


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write what ``np.savez`` would write, from the memory of the arrays."""
    with path.open("wb", buffering=0) as file:
        writer = _Writer(file)
        for name, x in arrays.items():
            writer.add(f"{name}.npy", np.asarray(x, order="C"))
        writer.finish()


class _Writer:
    def __init__(self, file: BinaryIO) -> None:
        self.file, self.place = file, 0
        self.returns = file.seekable()
        self.flags = UTF_8 if self.returns else UTF_8 | BEHIND_DATA
        now = time.localtime()
        self.clock = now.tm_hour << 11 | now.tm_min << 5 | now.tm_sec // 2
        self.day = max(now.tm_year - 1980, 0) << 9 | now.tm_mon << 5 | now.tm_mday
        self.directory: list[bytes] = []

    def add(self, name: str, array: np.ndarray) -> None:
        """Write one array."""
        head = io.BytesIO()
        if array.dtype.hasobject:
            raise ValueError(f"{name}: arrays of Python objects are not written")
        np.lib.format.write_array_header_1_0(head, np.lib.format.header_data_from_array_1_0(array))  # type: ignore[arg-type]
        begin, spelt = head.getvalue(), name.encode()
        numbers = array.reshape(-1).view(np.uint8) if array.size else np.zeros(0, np.uint8)
        place, size = self.place, len(begin) + array.nbytes
        local = LOCAL.pack(
            b"PK\3\4", VERSION, self.flags, STORED, self.clock, self.day, 0, IN_ZIP64, IN_ZIP64, len(spelt), SIZES.size
        )
        told = (size, size) if self.returns else (0, 0)
        front = local + spelt + SIZES.pack(1, SIZES.size - 4, *told) + begin
        if array.nbytes > LARGE and hasattr(os, "posix_fallocate"):
            with suppress(OSError):  # what cannot be told in advance, a pipe for instance
                os.posix_fallocate(self.file.fileno(), place, len(front) + array.nbytes)
        self._write(front)
        crc = zlib.crc32(begin)
        for k in range(0, len(numbers), PIECE):
            piece = numbers[k : k + PIECE]
            crc = checksum(piece, crc)
            self._write(piece)
        if self.returns:
            self.file.seek(place + CHECKSUM_AT)
            self._send(CHECKSUM.pack(crc))
            self.file.seek(self.place)
        else:
            self._write(BEHIND.pack(b"PK\7\10", crc, size, size))
        entry = ENTRY.pack(
            b"PK\1\2", VERSION, VERSION, self.flags, STORED, self.clock, self.day, crc, IN_ZIP64, IN_ZIP64, len(spelt),
            PLACE.size, 0, 0, 0, 0o600 << 16, IN_ZIP64,
        )  # fmt: skip
        self.directory.append(entry + spelt + PLACE.pack(1, PLACE.size - 4, size, size, place))

    def _write(self, *parts: Any) -> None:
        for each in parts:
            self.place += self._send(each)

    def _send(self, each: Any) -> int:
        part, sent = memoryview(each), 0
        while sent < len(part):  # the operating system may take a piece at a time
            sent += self.file.write(part[sent:])
        return sent

    def finish(self) -> None:
        """Write the directory."""
        begin, listed, count = self.place, b"".join(self.directory), len(self.directory)
        end = begin + len(listed)
        self._write(
            listed,
            END_64.pack(b"PK\6\6", END_64.size - 12, VERSION, VERSION, 0, 0, count, count, len(listed), begin),
            LOCATOR.pack(b"PK\6\7", 0, end, 1),
            END.pack(b"PK\5\6", 0, 0, *(min(count, 0xFFFF),) * 2, min(len(listed), IN_ZIP64), min(begin, IN_ZIP64), 0),
        )
