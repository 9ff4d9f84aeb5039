"""What copies of elements refer to: the elements of the copied model, and records of their own."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from .attributes import Checked
from .making import RECORD, Record, record_of


def twin_of(element: Any, twins: dict[int, Any], kinds: Any, parts: Any) -> Any:
    """A copy of an element. Wherever the element refers to another one, the copy refers to the twin of that.

    ``twins`` are the copies made before, by the ids of their originals; this one is added. ``kinds`` are the classes
    of elements, ``parts`` those of objects of which every element has its own.
    """
    twin = twins[id(element)] = copy.copy(element)
    for key, value in vars(element).items():
        if isinstance(value, parts):
            twins[id(value)] = vars(twin)[key]
            translate_record(value, vars(twin)[key], twins)
        elif key != RECORD:
            vars(twin)[key] = translated(value, twins, kinds)
    translate_record(element, twin, twins)
    return twin


def translate_record(old: Any, new: Any, twins: dict[int, Any]) -> None:
    """Give a copy a record of its own, with the elements and nodes of the new model."""
    record = record_of(old)
    if record is None:
        return

    def part(x: Any) -> Any:
        if type(x) in (list, tuple):
            return type(x)(part(item) for item in x)
        if type(x) is dict:
            return {key: part(item) for key, item in x.items()}
        if isinstance(x, Checked) and id(x) not in twins:
            twins[id(x)] = copy.copy(x)
            translate_record(x, twins[id(x)], twins)
        return twins.get(id(x), x) if isinstance(x, Checked) else x

    twin = vars(new)[RECORD] = Record(record.number, record.maker, part(record.arguments), part(record.options))
    twin.changes.update((name, (number, part(given))) for name, (number, given) in record.changes.items())


def translated(value: Any, twins: Mapping[int, Any], kinds: Any) -> Any:
    """A value, in which the twins stand for the elements (objects of these classes) of the old model."""
    if isinstance(value, kinds):
        return twins.get(id(value), value)
    if type(value) in (list, tuple):
        return type(value)(translated(item, twins, kinds) for item in value)
    if type(value) is dict:
        return {key: translated(item, twins, kinds) for key, item in value.items()}
    return value
