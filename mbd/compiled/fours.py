"""Four numbers in the place of one: kernels that add, subtract and multiply then work along four directions at once.

An array of kind ``fours`` has four numbers wherever a ``vector`` has one. In compiled code its elements are of a type
of their own (``four_types``), which fills a vector register: a kernel of products and sums takes them as it takes
numbers, and is compiled for them from the same source. For Python such an array has one more dimension, of length four.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .kernel import JIT, deferred

AT_ONCE = 4


def fours_of(rows: np.ndarray) -> np.ndarray:
    """Rows side by side, four in each group: (groups, length, 4), with zeros where rows are missing."""
    count, length = rows.shape
    groups = -(-count // AT_ONCE)
    whole = np.zeros((groups * AT_ONCE, length))
    whole[:count] = rows
    out = whole.reshape(groups, AT_ONCE, length).transpose(0, 2, 1).copy()
    return out if JIT else out.view(PlainFours)


def rows_of_fours(fours: np.ndarray, count: int) -> np.ndarray:
    """Rows that ``fours_of`` has put side by side, as rows again."""
    groups, length, _ = fours.shape
    whole = np.asarray(fours).transpose(0, 2, 1)
    return np.array(whole.reshape(groups * AT_ONCE, length)[:count])


class PlainFours(np.ndarray):
    """Without compilation: an array whose elements, rows of four, are values as numbers are, not parts of the array."""

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return np.array(found) if isinstance(found, np.ndarray) and found.ndim == 1 else found

    def __setitem__(self, index: Any, value: Any) -> None:
        self.view(np.ndarray)[index] = value  # numpy would write into what __getitem__ returns


def _flat_of_plain(x: Any) -> Any:
    return x.view(np.ndarray).reshape(-1)


def _make_flat() -> Any:
    from .four_types import flat

    return flat


def _make_larger() -> Any:
    from .four_types import larger

    return larger


flat: Any = deferred(_make_flat) if JIT else _flat_of_plain
"""For kernels: the numbers of an array of kind ``fours``, one after the other; those of element k begin at 4 k."""
larger: Any = deferred(_make_larger) if JIT else lambda size, x: np.maximum(size, np.abs(x))
"""For kernels: the larger one of a size and |x|, of each of four numbers x."""
