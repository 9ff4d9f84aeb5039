"""Kinds of values that compiled code takes: numbers, and arrays of a known type and number of dimensions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Kind:
    """Numbers of a type; ``ndim`` is zero for a single one.

    ``length`` is the place in the field ``lengths`` of a record at which the least length of such an array stands, and
    ``what`` how people call it; arrays that Python hands over are checked against it.
    """

    dtype: np.dtype
    ndim: int
    what: str = ""
    length: int = -1

    def of(self, what: str, length: int) -> Kind:
        """The same kind with a length of its own."""
        return replace(self, what=what, length=length)

    @property
    def text(self) -> str:
        """All that compiled code depends on."""
        return f"{self.dtype}[{self.ndim}]"


def records(dtype: np.dtype) -> Any:
    """A list of records with named columns."""
    return Kind(np.dtype((np.record, dtype)), 1)


real: Any = Kind(np.dtype(np.float64), 0)
integer: Any = Kind(np.dtype(np.int64), 0)
vector: Any = Kind(np.dtype(np.float64), 1)
matrix: Any = Kind(np.dtype(np.float64), 2)
cube: Any = Kind(np.dtype(np.float64), 3)
integers: Any = Kind(np.dtype(np.int64), 1)
integer_matrix: Any = Kind(np.dtype(np.int64), 2)
indices: Any = Kind(np.dtype(np.uint64), 1)
complex_matrix: Any = Kind(np.dtype(np.complex128), 2)
addresses: Any = Kind(np.dtype(np.int64), 1, "addresses")  # of entries or records; without compilation these themselves
