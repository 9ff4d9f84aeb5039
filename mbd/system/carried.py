"""The tables of a system in a copy, or in another process: all numbers as they are, all addresses made anew.

A system is not assembled again: its model may have been changed since, and what was read off it must stay what it was.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from ..compiled.entry import TABLE
from ..linalg.symbolic import Fronts
from .tables import Tables

if TYPE_CHECKING:
    from ..model import Model
    from .assembly import Assembly

KEPT_IN_WORK = ("turns", "signs", "base")
"""Buffers whose contents mean something between two calls."""


def packed_assembly(assembly: Assembly, model: Model) -> dict[str, Any]:
    """The parts of an assembly without what belongs to one process."""
    parts = {field.name: getattr(assembly, field.name) for field in dataclasses.fields(assembly)}
    tables, layout = assembly.tables, assembly.layout
    parts["tables"] = {name: getattr(tables, name) for name in tables.fields if name not in ("entries", "fronts")}
    fronts: Any = {name: getattr(layout.fronts, name) for name in Fronts.fields}
    parts["layout"] = dataclasses.replace(layout, fronts=fronts)
    parts["node_of"] = [(body, assembly.node_of[id(body)]) for body in (model.ground, *model.bodies)
                        if id(body) in assembly.node_of]  # fmt: skip
    return parts | {"class": type(assembly)}


def unpacked_assembly(parts: dict[str, Any]) -> Assembly:
    """The assembly, known to the compiled code of this process."""
    parts = dict(parts)
    parts["layout"].fronts = Fronts(**parts["layout"].fronts)
    parts["tables"] = Tables(**parts["tables"], entries=TABLE, fronts=parts["layout"].fronts)
    functions = parts["tables"].functions
    for k, callback in enumerate(parts["callbacks"]):
        functions.address[k], functions.block[k] = callback.address, callback.block
    parts["node_of"] = {id(body): row for body, row in parts["node_of"]}
    return parts.pop("class")(**parts)
