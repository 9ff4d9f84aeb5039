"""Elements that are alike as tables in solution files: their attributes are columns, with the numbers in one array.

A table stands among the entries of single elements and says in which ``rows`` of the list its elements are. A column is
a list of plain values, or a dictionary: ``$numbers`` (its place in the array ``numbers``, with the shape; ``constants``
tell which of its vectors and matrices are shared ones), ``$element`` (names), ``$object`` (objects of one class, whose
attributes are columns again) or ``$each`` (entries as single elements have them). Names in files do not change.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..bodies import Body
from ..errors import Array, ModelError, read_only
from ..forces import ForceElement
from ..joints import Joint
from .encoding import (
    BASES,
    CONSTANT_NAMES,
    CONSTANTS,
    NOT_STORED,
    PLAIN,
    Encoder,
    described,
    known_attributes,
    nearest_name,
)

WORTHWHILE = 8  # elements
FLOAT = np.dtype("<f8")
ELEMENTS = (Body, Joint, ForceElement)
KEYS = {
    "$numbers": {"$numbers", "shape", "constants"}, "$object": {"$object", "attributes"}, "$element": {"$element"},
    "$each": {"$each"},
}  # fmt: skip
OPTIONAL = {"constants"}


class TableEncoder(Encoder):
    """Writes elements that are alike as tables."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers: list[Array] = []
        self._count = 0

    @property
    def numbers(self) -> Array:
        """Those of all columns."""
        return np.concatenate([np.zeros(0), *self._numbers])

    def elements(self, elements: Sequence[Any]) -> list[dict[str, Any]]:
        found = [described(x) for x in elements]
        alike: dict[Any, list[int]] = {}
        for k, (cls, name, values) in enumerate(found):
            alike.setdefault((cls, name, *values), []).append(k)
        tables = [rows for rows in alike.values() if len(rows) >= WORTHWHILE]
        within = {k for rows in tables for k in rows}
        entries = [self._element(elements[k], *found[k]) for k in range(len(found)) if k not in within]
        for rows in tables:
            cls, name, _ = found[rows[0]]
            columns = self._columns([found[k][2] for k in rows], [elements[k] for k in rows])
            entries.append({"class": cls, "name": name, "rows": rows, "attributes": columns})
        return entries

    def _columns(self, values: list[dict[str, Any]], owners: Sequence[Any]) -> dict[str, Any]:
        return {key: self._column([x[key] for x in values], owners, key) for key in values[0] if key not in NOT_STORED}

    def _column(self, values: list[Any], owners: Sequence[Any], key: str) -> Any:
        kinds = {*map(type, values)}
        if kinds == {float}:
            return self._placed(np.array(values))
        if kinds <= PLAIN:
            return values
        if kinds == {np.ndarray} and {(x.dtype, x.shape) for x in values} == {(FLOAT, values[0].shape)}:
            column = self._placed(np.array(values))
            names = [*map(CONSTANT_NAMES.get, map(id, values))]
            return column | ({"constants": names} if any(names) else {})
        if all(issubclass(kind, ELEMENTS) for kind in kinds):
            return {"$element": [x.name for x in values]}
        cls: Any = next(iter(kinds))
        if len(kinds) == 1 and issubclass(cls, BASES):
            attributes = [known_attributes(x) for x in values]
            if len({(*x,) for x in attributes}) == 1:
                columns = self._columns(attributes, [(owner, key) for owner in owners])
                return {"$object": nearest_name(cls), "attributes": columns}
        return {"$each": [self.value(x, (owner, key)) for x, owner in zip(values, owners, strict=True)]}

    def _placed(self, x: Array) -> dict[str, Any]:
        place = self._count
        self._numbers.append(x.ravel())
        self._count += x.size
        return {"$numbers": place, "shape": x.shape}


def without_tables(model: dict[str, Any], numbers: Array) -> dict[str, Any]:
    """A model with entries of single elements in place of tables."""
    return model | {kind: _single_entries(model[kind], numbers) for kind in ("bodies", "joints", "forces")}


def _single_entries(entries: list[dict[str, Any]], numbers: Array) -> list[dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    singles = []
    for entry in entries:
        if "rows" not in entry:
            singles.append(entry)
            continue
        about = {"class": entry["class"], "name": entry["name"]}
        attributes = _rows(entry["attributes"], len(entry["rows"]), numbers)
        for row, each in zip(entry["rows"], attributes, strict=True):
            if type(row) is not int or row in found:
                raise ModelError(f"row {row!r} of a table is there twice, or is no row")
            found[row] = about | {"attributes": each}
    left = iter(singles)
    count = len(found) + len(singles)
    if found and not 0 <= min(found) <= max(found) < count:
        raise ModelError(f"a table has rows {min(found)} to {max(found)}, but there are {count} elements")
    return [found[k] if k in found else next(left) for k in range(count)]


def _rows(columns: dict[str, Any], count: int, numbers: Array) -> list[dict[str, Any]]:
    """Attributes of each object, from columns."""
    values = [_values(x, count, numbers) for x in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)] if values else [{}] * count


def _values(x: Any, count: int, numbers: Array) -> list[Any]:
    """The values of a column, or their entries."""
    values = x if isinstance(x, list) else _tagged(x, count, numbers)
    if len(values) != count:
        raise ModelError(f"a column has {len(values)} values; expected {count}")
    return values


def _tagged(x: dict[str, Any], count: int, numbers: Array) -> list[Any]:
    tag = next(iter(x), "")
    if tag not in KEYS or not KEYS[tag] <= x.keys() | OPTIONAL or not x.keys() <= KEYS[tag]:
        raise ModelError(f"unknown column {tag!r}, or keys {sorted(x)} that do not belong to it")
    content = x[tag]
    if tag == "$element":
        return [{"$element": name} for name in content]
    if tag == "$object":
        return [{"$object": content, "attributes": each} for each in _rows(x["attributes"], count, numbers)]
    if tag == "$each":
        return content
    shape, end = x["shape"], content + math.prod(x["shape"])
    if not 0 <= content <= end <= len(numbers):
        raise ModelError(f"a column has the numbers {content} to {end} of {len(numbers)}")
    part = numbers[content:end].reshape(shape)
    if part.ndim == 1:
        return part.tolist()
    rows = map(read_only, part.copy())
    shared = x.get("constants", [None] * len(part))
    return [row if name is None else CONSTANTS[name] for row, name in zip(rows, shared, strict=True)]
