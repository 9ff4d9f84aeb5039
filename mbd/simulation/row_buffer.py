"""Room for records of which nobody knows how many there will be: written once, and never copied.

Memory is asked for in advance and used when it is written to. Where it is not enough, the operating system finds room
for more and moves pages, not numbers. As long as somebody looks at the records, a solution for instance, they stay
where they are: then, and on systems that cannot move pages, further records need a copy of those before.
"""

from __future__ import annotations

import mmap
from contextlib import suppress

import numpy as np

from ..errors import Array

FIRST_ROWS = 256
MAPPED = 1 << 20  # bytes of an array from which on it is a mapping of its own
ANONYMOUS = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0)


def blank_rows(count: int, widths: list[int]) -> tuple[Array, list[Array]]:
    """Times and rows for so many records, one array behind the other in one block of memory; nothing is in them yet.

    The larger a block is, the larger are the pages that numpy asks for, and the sooner they are there and given back.
    Memory that an earlier run had is not cleared: whoever makes a record writes all of it.
    """
    block, start, arrays = np.empty(count * (1 + sum(widths))), count, []
    for width in widths:
        arrays.append(block[start : start + count * width].reshape(count, width))
        start += count * width
    return block[:count], arrays


class RowBuffer:
    """Times and rows; ``free`` gives room for further ones, ``take`` keeps those that were filled."""

    def __init__(self, widths: list[int]) -> None:
        self.used = 0
        self._columns = [_Column(width) for width in (1, *widths)]

    def free(self, rows: int) -> tuple[Array, list[Array]]:
        """Room for so many rows behind those that are kept; what was given before must not be used any more."""
        if self.used + rows > self._columns[0].rows:
            grown = max(self.used + rows, FIRST_ROWS, self._columns[0].rows * 3 // 2)
            for column in self._columns:
                column.grow(grown, self.used)
        return self._part(slice(self.used, self.used + rows))

    def take(self, rows: int) -> None:
        """Keep the first of the rows that ``free`` gave."""
        self.used += rows

    def add(self, t: float, rows: list[Array]) -> None:
        """Keep one more."""
        times, arrays = self.free(1)
        times[0] = t
        for array, row in zip(arrays, rows, strict=True):
            array[0] = row
        self.take(1)

    def filled(self) -> tuple[Array, list[Array]]:
        """Times and rows that are kept."""
        return self._part(slice(0, self.used))

    def _part(self, part: slice) -> tuple[Array, list[Array]]:
        t, *arrays = (column.array[part] for column in self._columns)
        return t.reshape(-1), arrays


class _Column:
    def __init__(self, width: int) -> None:
        self.width, self.rows = width, 0
        self.array = np.zeros((0, width))
        self._map: mmap.mmap | None = None

    def grow(self, rows: int, used: int) -> None:
        """Room for so many rows; those in use stay."""
        size = 8 * rows * self.width
        before, self.rows = self.array, rows
        if self._map is not None:
            self.array = before[:0].copy()
            del before
            with suppress(BufferError, OSError, SystemError, ValueError):  # somebody looks, or it cannot be done
                self._map.resize(size)
                self._view()
                return
            before = np.frombuffer(self._map).reshape(-1, self.width)
        if size < MAPPED or not ANONYMOUS:
            self.array = np.zeros((rows, self.width))
        else:
            self._map = mmap.mmap(-1, size, flags=ANONYMOUS)
            self._view()
        self.array[:used] = before[:used]

    def _view(self) -> None:
        assert self._map is not None
        self.array = np.frombuffer(self._map)[: self.rows * self.width].reshape(self.rows, self.width)
