"""What follows from the structure of a model alone, kept for the next model of the same structure.

Kinds and sizes of nodes, which bodies joints and forces connect, and in which order: these integers of the tables
decide about the elimination order, the places of all blocks of the matrix, and the classes of unknowns. To find them
takes longer than a short run. People build the same model again and again with other numbers; the integers themselves
are the key under which all that follows from them is found again, so that nothing can be mistaken for it.

What is kept is shared by the systems of one structure, and never written to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..compiled.entry import TABLE
from ..compiled.kinds import Kind, as_records
from ..compiled.settings import JIT
from ..forces.kinds import COORDINATES
from ..linalg.symbolic import Layout
from ..nodes.forms import FORM_SPIN
from ..nodes.tree.records import no_tree
from .frame_assembly import place_frame_elements
from .numbers import words_of
from .placement import has_small_fronts, matrix_layout, place_blocks, unknown_classes
from .tables import FLAG_CHARTS, FLAG_COUPLED, FLAG_DENSE, FLAG_VELOCITY, FLAGS, Tables

Array = np.ndarray

MOST = 25000  # bodies and joints of all structures that are kept; each takes half a kB

_known: dict[Any, tuple[int, Any]] = {}


def remembered(key: Any, size: int, make: Callable[[], Any]) -> Any:
    """What ``make`` returns, made once for a key; the structures that were made first are forgotten first."""
    found = _known.get(key)
    if found is not None:
        return found[1]
    made = make()
    if JIT and size <= MOST:  # the factorisation has a buffer, which plain functions in two threads would share
        _known[key] = size, made
        while sum(size for size, _ in list(_known.values())) > MOST:
            _known.pop(next(iter(_known)), None)
    return made


def integers_of(table: Array) -> Array:
    """The integers with which the records of a table begin, row by row, in place."""
    return words_of(table)[:, : _leading_integers(table.dtype)]


_counts: dict[int, tuple[np.dtype, int]] = {}


def _leading_integers(dtype: np.dtype) -> int:
    if id(dtype) not in _counts:
        names = dtype.names or ()
        _counts[id(dtype)] = dtype, next((k for k, name in enumerate(names) if dtype[name].kind != "i"), len(names))
    return _counts[id(dtype)][1]


@dataclass
class Elements:
    """The tables of a model during its assembly."""

    nodes: Array
    primitives: Array
    forces: Array
    general: Array
    members: list[int]
    light: Array
    """Nodes that are eliminated together with their joints: bodies without mass, or without inertia where it counts."""

    @cached_property
    def integers(self) -> list[Array]:
        """All that decides about places, and all places: the integers of the tables."""
        return [integers_of(table) for table in (self.nodes, self.primitives, self.forces, self.general)]

    def key(self) -> tuple[bytes, ...]:
        """The integers before any place is known."""
        parts = [table.tobytes() for table in (*self.integers, self.light)]
        return *parts, np.array(self.members, dtype=np.int64).tobytes()

    def take(self, placed: Placed) -> None:
        """Write the places that are known."""
        for own, known in zip(self.integers, placed.tables, strict=True):
            if len(known):
                own[...] = known
        self.members[:] = placed.members


@dataclass
class Placed:
    """The integers of tables with the places of all blocks."""

    tables: list[Array]
    members: list[int]

    @classmethod
    def of(cls, elements: Elements) -> Placed:
        """Copies of the integers of the tables of a model."""
        return cls([table.copy() for table in elements.integers], list(elements.members))


@dataclass
class Structure:
    """What follows from the integers of tables."""

    layout: Layout
    placed: Placed
    xv: Array
    xl: Array
    classes: dict[str, Array]
    flags: Array
    """Flags of the tables, as far as they follow from the structure."""
    shared: Array | None
    """Which primitives share an equation with others, if some do."""
    buffer_size: int
    """Width of the buffers of frame elements."""
    largest: int
    """Most velocities and internal constraints of a node."""
    connected: dict[Any, set[Any]] = field(default_factory=dict)
    """Entries whose addresses are known, by what decides which of them tables of this structure need."""
    kept: dict[str, Any] = field(default_factory=dict)
    """What others have found that follows from the structure alone."""

    @cached_property
    def blank(self) -> Tables:
        """Tables without elements and numbers, in which those of a model take their places."""
        kinds = {name: kind for name, kind in Tables.layout.members.items() if isinstance(kind, Kind)}
        none = {name: np.zeros((*(0,) * (kind.ndim - 1), kind.least), dtype=kind.dtype) for name, kind in kinds.items()}
        none = {name: as_records(x) if x.dtype.names else x for name, x in none.items()}
        shared: dict[str, Any] = {"entries": TABLE, "xv": self.xv, "xl": self.xl, **self.classes}
        return Tables(**{**none, **shared, "fronts": self.layout.fronts, "tree": no_tree()})

    @cached_property
    def has_small_fronts(self) -> bool:
        """Whether all fronts of the matrix are small, and some of them are of joints."""
        return has_small_fronts(self.layout)

    def connect(self, tables: Any) -> None:
        """Compiled functions that an earlier system of this structure has made known need not be looked for again."""
        if JIT:
            key = tables.flags.tobytes(), len(tables.nonholonomic)
            tables.__dict__["connected"] = self.connected.setdefault(key, tables.connected)


def structure_of(elements: Elements, joint_rows: list[int], unknowns: int, n_v: int, n_l: int) -> Structure:
    """The structure of a model in absolute coordinates; its places are written to the tables."""
    key = *elements.key(), tuple(joint_rows), unknowns

    def make() -> Structure:
        e = elements
        layout = matrix_layout(e.nodes, e.primitives, e.forces, e.general, e.members, joint_rows, unknowns, e.light)
        return placed_structure(elements, layout, n_v, n_l, with_elements=True)

    structure = remembered(key, len(elements.nodes) + len(joint_rows), make)
    elements.take(structure.placed)
    return structure


def placed_structure(elements: Elements, layout: Layout, n_v: int, n_l: int, with_elements: bool) -> Structure:
    """Fill in where every unknown is, and the blocks of nodes and, if wanted, of elements."""
    e, count = elements, len(elements.nodes) - 1
    xv, xl = place_blocks(e.nodes, e.primitives, e.forces, layout, n_v, n_l, count, with_elements)
    place_frame_elements(e.members, e.general, layout, xl, count, with_elements)
    classes = unknown_classes(e.nodes, e.primitives, e.general, layout, n_v, n_l)
    turning = np.zeros(layout.n, dtype=np.int64)
    turning[xv[classes["vclass"] == 1]] = 1
    classes["turning"] = turning
    shared = e.primitives["shared"] != 0
    coupled = bool(shared.any())
    flags = np.zeros(FLAGS, dtype=np.int64)
    flags[FLAG_VELOCITY] = len(e.general) > 0 or not set(COORDINATES).isdisjoint(e.forces["kind"].tolist())
    flags[FLAG_CHARTS] = FORM_SPIN in e.nodes["form"]
    flags[FLAG_DENSE] = layout.dense
    flags[FLAG_COUPLED] = len(e.general) > 0 or coupled
    return Structure(
        layout, Placed.of(elements), xv, xl, classes, flags, shared if coupled else None,
        buffer_size=8 + 18 * int(e.general["count"].max(initial=1)) + int(e.general["rows"].max(initial=0)),
        largest=int(e.nodes["nv"].max() + e.nodes["nl"].max()),
    )  # fmt: skip
