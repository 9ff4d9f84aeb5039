"""Records of arrays that compiled code knows by one address.

A named tuple of forty arrays would be a structure of three hundred words in compiled code, copied at every use, and
the time to compile a kernel would be spent on that. A *packed* record is instead a block of words in memory, written
once in Python: its own address, then for every array the address of its data and its shape. A kernel holds the
address alone; ``s.nodes`` reads three words (``record_types``).

The block is the record's field ``place``. ``declare`` says what arrays a class of records has, ``pack`` writes the
block. Replacing an array of a packed record needs packing again. Without compilation both do nothing.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from .kernel import JIT, Deferred

Record = TypeVar("Record", bound=tuple)
NO_PLACE = np.zeros(1, dtype=np.int64)  # of a record that has not been packed


class Layout:
    """Where the words of a class of records are, read off an example with empty arrays."""

    def __init__(self, example: Any) -> None:
        self.label = type(example).__name__
        self.members: dict[str, Any] = {}  # arrays, or layouts of inner records
        self.offsets: dict[str, int] = {}
        self.words = 1 if "place" in example._fields else 0  # the address of the block itself
        for name, value in zip(example._fields, example, strict=True):
            member = value if isinstance(value, np.ndarray) else Layout(value)
            self.members[name], self.offsets[name] = member, self.words
            self.words += 1 + member.ndim if isinstance(member, np.ndarray) else member.words
        self.type: Any = None  # of the compiler, see packed_types

    @property
    def text(self) -> str:
        """All that compiled code depends on."""
        members = (
            f"{name}: {m.dtype}[{m.ndim}]" if isinstance(m, np.ndarray) else f"{name}: {m.text}"
            for name, m in self.members.items()
        )
        return f"{self.label}({', '.join(members)})"


_layouts: dict[type, Layout] = {}


def layout_of(cls: type) -> Layout | None:
    """The layout of a class of packed records."""
    return _layouts.get(cls)


def declare(example: Any) -> Layout:
    """Records of the example's class are packed ones from now on."""
    cls = type(example)
    if cls not in _layouts:
        _layouts[cls] = Layout(example)
    return _layouts[cls]


def declare_arrays(cls: Any, tables: tuple[str, ...] = (), integers: tuple[str, ...] = ()) -> Layout:
    """``declare`` for a class whose fields are vectors of floats, but for the named tables and integers."""
    names = [name for name in cls._fields if name != "place"]
    arrays = {k: np.zeros((0, 0) if k in tables else 0, np.int64 if k in integers else float) for k in names}
    return declare(cls(**arrays, place=NO_PLACE))


def at_address(layout: Layout) -> Any:
    """For kernels: takes an address for a packed record."""

    def make() -> Any:
        from .record_types import record_at

        return record_at(layout)

    return Deferred(make)


def _words(record: Any, layout: Layout) -> list[int]:
    words: list[int] = []
    for name, value in zip(record._fields, record, strict=True):
        member = layout.members[name]
        if not isinstance(value, np.ndarray):
            words += _words(value, member)
            continue
        if not value.flags.c_contiguous or value.ndim != member.ndim or not value.flags.writeable:
            raise ValueError(f"{type(record).__name__}.{name}: expected a contiguous, writable array like {member}")
        if value.dtype != member.dtype:
            raise ValueError(f"{type(record).__name__}.{name}: expected numbers of type {member.dtype}")
        words += [value.ctypes.data, *value.shape]
    return words


def pack(record: Record) -> Record:
    """The record with its block of words; the arrays must stay the same as long as it is used."""
    if not JIT:
        return record
    layout = _layouts[type(record)]
    place = np.zeros(layout.words, dtype=np.int64)
    record = record._replace(place=place)  # type: ignore[attr-defined]
    place[:] = [place.ctypes.data, *_words(record, layout)]
    return record


def address_of(record: Any) -> int:
    """Address of a packed record."""
    own = record.place.ctypes.data
    if record.place[0] != own:
        raise ValueError(f"a record of type {type(record).__name__} has not been packed")
    return int(own)
