"""The tables of a system in a copy, or in another process: all numbers as they are, all addresses made anew.

A system is not assembled again: its model may have been changed since, and what was read off it must stay what it was.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..compiled.entry import TABLE
from ..compiled.kernel import JIT
from ..compiled.kinds import addresses
from ..compiled.record import Record, table_of
from ..errors import ModelError

if TYPE_CHECKING:
    from ..bodies import Body
    from .assembly import Assembly

KEPT_IN_WORK = ("turns", "signs", "base")
"""Buffers whose contents mean something between two calls."""


class Parcel:
    """A record on its way: its arrays, with parcels where it refers to other records."""

    def __init__(self, kind: type[Record], fields: dict[str, Any]) -> None:
        self.kind, self.fields = kind, fields
        self.record: Record | None = None

    def unpacked(self) -> Record:
        """The record, known to the compiled code of this process; always the same."""
        if self.record is None:
            fields: dict[str, Any] = {"entries": TABLE} if "entries" in self.kind.fields else {}
            for name, x in self.fields.items():
                if isinstance(x, tuple):
                    x = table_of([part.unpacked() for part in x])
                fields[name] = x.unpacked() if isinstance(x, Parcel) else x
            self.record = self.kind(**fields)
        return self.record


class _Packing:
    """Parcels of records that refer to each other; ``others`` are those that are known by their addresses."""

    def __init__(self, others: list[Record]) -> None:
        self.others = others
        self.made: dict[int, Parcel] = {}

    def parcel(self, record: Record) -> Parcel:
        if id(record) not in self.made:
            names = [name for name in record.fields if name != "entries"]
            fields = {name: self._field(record.layout.members[name], getattr(record, name)) for name in names}
            self.made[id(record)] = Parcel(type(record), fields)
        return self.made[id(record)]

    def _field(self, kind: Any, value: Any) -> Any:
        if isinstance(value, Record):
            return self.parcel(value)
        if kind is not addresses:
            return value
        found = [next(r for r in self.others if x == (r.address if JIT else r)) for x in value.tolist()]
        return tuple(self.parcel(record) for record in found)


def packed_assembly(assembly: Assembly, bodies: Iterable[Body]) -> Assembly:
    """An assembly without what belongs to one process: parcels in place of records, bodies in place of their ids."""
    packing = _Packing([assembly.inner] if assembly.inner is not None else [])
    parts: dict[str, Any] = {
        "structure": None,
        "tables": packing.parcel(assembly.tables),
        "inner": packing.parcel(assembly.inner) if assembly.inner is not None else None,
        "layout": dataclasses.replace(assembly.layout, fronts=packing.parcel(assembly.layout.fronts)),  # type: ignore
        "node_of": [(body, assembly.node_of[id(body)]) for body in bodies],
    }
    return dataclasses.replace(assembly, **parts)


def unpacked_assembly(packed: Any) -> Assembly:
    """The assembly as this process knows it."""
    parts: dict[str, Any] = {
        "tables": packed.tables.unpacked(),
        "inner": packed.inner.unpacked() if packed.inner is not None else None,
        "layout": dataclasses.replace(packed.layout, fronts=packed.layout.fronts.unpacked()),
        "node_of": {id(body): row for body, row in packed.node_of},
    }
    functions = parts["tables"].functions  # the inner tables share them
    for k, callback in enumerate(packed.callbacks):
        functions.address[k], functions.block[k] = callback.address, callback.block
    return dataclasses.replace(packed, **parts)


class Portable:
    """The part of a system that makes copies of it, also in other processes: addresses are made anew."""

    def __copy__(self) -> Any:
        own = object.__new__(type(self))
        vars(own).update(vars(self))
        return own

    def __getstate__(self) -> dict[str, Any]:
        own: Any = self
        left = ("tables", "work", "inputs", "_following")
        state = {name: x for name, x in vars(self).items() if name not in left} | {"derived": {}}
        return state | {
            "assembly": packed_assembly(own.assembly, (own.model.ground, *own.elements[0])),
            "work": {name: getattr(own.work, name) for name in KEPT_IN_WORK},
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        own: Any = self
        kept, parts = state.pop("work"), state.pop("assembly")
        vars(self).update(state)
        try:
            own.assembly = unpacked_assembly(parts)
        except (AttributeError, TypeError, ValueError) as error:
            raise ModelError(
                f"{own.model}: its tables were pickled by another version of mbd ({error}). Pickles go between "
                "processes of one version; solution.save(path) and model.save(path) write what later versions read"
            ) from error
        own.tables = own.assembly.tables
        own.work = own.new_work()
        for name, values in kept.items():
            getattr(own.work, name)[:] = values
        own._show_clock()
