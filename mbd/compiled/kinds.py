"""Kinds of values that compiled code takes: numbers, and arrays of a known type and number of dimensions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .fours import AT_ONCE


@dataclass(frozen=True)
class Kind:
    """Numbers of a type; ``ndim`` is zero for a single one.

    ``length`` is the place in the field ``lengths`` of a record at which the least length of such an array (of the rows
    of a matrix) stands, ``least`` that length itself where it does not depend on a record, and ``what`` how people call
    the numbers. Arrays with the same ``rows`` have as many of them, or none if they are ``optional``. What Python hands
    over is checked against all of this (``arguments``). With ``lanes`` each element is so many numbers (``fours``),
    along one more dimension of the array.
    """

    dtype: np.dtype
    ndim: int
    what: str = ""
    length: int = -1
    least: int = 0
    rows: str = ""
    optional: bool = False
    lanes: int = 0

    def of(self, what: str, length: int) -> Kind:
        """This kind with a length of its own."""
        return replace(self, what=what, length=length)

    def at_least(self, what: str, least: int) -> Kind:
        """This kind with a fixed least length."""
        return replace(self, what=what, least=least)

    def per(self, rows: str, optional: bool = False) -> Kind:
        """This kind with one number, or row, for each of something."""
        return replace(self, rows=rows, optional=optional)

    @property
    def text(self) -> str:
        """All that compiled code depends on."""
        return f"{self.dtype}[{self.ndim}]" if self.lanes == 0 else f"{self.dtype}x{self.lanes}[{self.ndim}]"

    def shape(self, given: tuple[int, ...]) -> tuple[int, ...]:
        """Shape of the array that has such elements in this shape."""
        return (*given, self.lanes) if self.lanes else given


_record_types: dict[int, tuple[np.dtype, np.dtype]] = {}


def _record_type(dtype: np.dtype) -> np.dtype:
    """The type of records with these columns: one object, since to compare two of them column by column takes long."""
    if dtype.type is np.record:
        return dtype
    if id(dtype) not in _record_types:
        _record_types[id(dtype)] = dtype, np.dtype((np.record, dtype))
    return _record_types[id(dtype)][1]


def records(dtype: np.dtype) -> Any:
    """A list of records with named columns."""
    return Kind(_record_type(dtype), 1)


def as_records(table: np.ndarray) -> Any:
    """A contiguous table with its columns as attributes, in place."""
    return np.ndarray.__new__(np.recarray, table.shape, _record_type(table.dtype), table)


def plain(table: Any) -> np.ndarray:
    """A table without attributes for its columns, in place; ``np.asarray`` takes ten times as long."""
    return table.view(np.ndarray)  # type: ignore[no-any-return]


real: Any = Kind(np.dtype(np.float64), 0)
integer: Any = Kind(np.dtype(np.int64), 0)
vector: Any = Kind(np.dtype(np.float64), 1)
matrix: Any = Kind(np.dtype(np.float64), 2)
cube: Any = Kind(np.dtype(np.float64), 3)
integers: Any = Kind(np.dtype(np.int64), 1)
integer_matrix: Any = Kind(np.dtype(np.int64), 2)
indices: Any = Kind(np.dtype(np.uint64), 1)
complex_matrix: Any = Kind(np.dtype(np.complex128), 2)
fours: Any = Kind(np.dtype(np.float64), 1, lanes=AT_ONCE)
fours_matrix: Any = Kind(np.dtype(np.float64), 2, lanes=AT_ONCE)
addresses: Any = Kind(np.dtype(np.int64), 1, "addresses")  # of entries or records; without compilation these themselves
