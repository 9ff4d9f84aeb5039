"""Tables as they are at some values of the parameters, for whoever needs several of them side by side."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiled.record import table_of
from .tables import Tables

if TYPE_CHECKING:
    from .system import System

OF_ALL = ("parameters", "gravity", "constants")  # which tables of the elements in joint coordinates share
OF_ELEMENTS = ("nodes", "primitives", "forces", "couplings", "frame_elements", "flags")
OF_TREES = ("carried", "inertia")
OF_CONSTRAINTS = ("primitives", "couplings", "frame_elements", "carried")
LEFT_OUT = ("flags", "parameters")  # of ``numbers``: flags are none, and parameters are typical lengths and the time
POSES = ("position", "rotation", "velocity", "angular_velocity")  # attributes of the nodes of points and rigid bodies


class Snapshots:
    """A system with parameters, and systems as it was at some of their values.

    Their tables have arrays of their own where these differ from the ones of another system, which does not change;
    the others are those of that system. Elements are those of the system with parameters, which go on to follow it, and
    so are the buffers for evaluations from Python.
    """

    def __init__(self, system: System, other: System) -> None:
        self.system, self.other = system, other
        self._all = _Arrays(OF_ALL, system.tables, other.tables)
        self._own = _Arrays(OF_ELEMENTS, system.tables, other.tables)
        self._inner = self._tree = None
        self._poses, self._turns = _poses(other), list(other.assembly.turns)
        self._functions = _functions(system)
        if system.assembly.inner is not None and other.assembly.inner is not None:
            self._inner = _Arrays(OF_ELEMENTS, system.assembly.inner, other.assembly.inner)
            self._tree = _Arrays(OF_TREES, system.tables.tree, other.tables.tree)

    @property
    def parts(self) -> list[_Arrays]:
        """Groups of arrays that parameters may change."""
        return [x for x in (self._all, self._own, self._inner, self._tree) if x is not None]

    def numbers(self) -> np.ndarray:
        """All numbers that parameters may change, as one row."""
        return np.concatenate(
            [words for part in self.parts for name, _, words, _ in part.arrays if name not in LEFT_OUT]
        ).view(np.float64)

    def start_alike(self) -> bool:
        """Whether constraints and poses of bodies, of which a start is made, are those of the other system."""
        if self._poses is None or self._turns != self.system.assembly.turns:
            return False
        return not any(part.differ(OF_CONSTRAINTS) for part in self.parts) and self._poses == _poses(self.system)

    def functions_alike(self) -> bool:
        """Whether user functions are, and refer to, what they did when this was made; of plain Python nobody knows."""
        now, before = _functions(self.system), self._functions
        if now is None or before is None or len(now) != len(before):
            return False
        pairs = zip(now, before, strict=True)
        return all(f is g and words == others for (f, words), (g, others) in pairs)

    def take(self) -> System:
        """The system as it is; its functions are those of the other one."""
        a, own, shared = self.system.assembly, copy(self.system), self._all.differing()
        for name in ("inputs", "_following"):
            own.__dict__.pop(name, None)
        changes, inner = {**shared, **self._own.differing()}, None
        if self._inner is not None and self._tree is not None:
            of_elements: Tables = self.other.assembly.inner  # type: ignore[assignment]
            inner = of_elements.changed(**shared, **self._inner.differing())
            tree: Any = self.other.tables.tree
            changes["tree"] = tree.changed(**self._tree.differing(), inner=table_of([inner]))
        own.tables = self.other.tables.changed(**changes)
        own.assembly, own.derived = copy(a), {}
        own.assembly.tables, own.assembly.inner, own.assembly.turns = own.tables, inner, list(a.turns)
        return own


class _Arrays:
    """Arrays of a record that may differ from those of another one."""

    def __init__(self, names: tuple[str, ...], record: Any, other: Any) -> None:
        found = [(name, getattr(record, name), getattr(other, name)) for name in names]
        self.arrays = [(name, x, _words(x), _words(y).tobytes()) for name, x, y in found if len(x)]

    def differ(self, names: tuple[str, ...]) -> bool:
        """Whether one of the arrays of these names is not what the other record had when this was made."""
        return any(name in names and words.tobytes() != bits for name, _, words, bits in self.arrays)

    def differing(self) -> dict[str, Any]:
        """Copies of the arrays that are not what the other record had."""
        return {name: _copy(x, words) for name, x, words, bits in self.arrays if words.tobytes() != bits}


def _words(x: Any) -> np.ndarray:
    """All words of an array, in place."""
    return x.view(np.int64, np.ndarray).reshape(-1)  # type: ignore[no-any-return]


def _copy(x: Any, words: np.ndarray) -> Any:
    """A copy of an array with these words; numpy would copy records column by column."""
    return np.ndarray.__new__(type(x), x.shape, x.dtype, words.copy())


def _functions(system: System) -> list[tuple[Any, list[bytes]]] | None:
    """User functions, and the numbers that they refer to; None if some are called as plain Python."""
    callbacks = system.assembly.callbacks
    if not all(callback.compiled for callback in callbacks):
        return None
    return [(f, callback.code.signature()) for callback in callbacks for f in callback.functions]


def _poses(system: System) -> list[bytes] | None:
    """Where bodies start; None where that is not all that some of them start with."""
    nodes = [vars(body.start_node()) for body in system.model.bodies]
    if not all("position" in node for node in nodes):
        return None
    return [np.asarray(node[name]).tobytes() for node in nodes for name in POSES if name in node]
