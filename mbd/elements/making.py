"""How an object was made, so that it can be made again with other numbers.

An element with parameters among its arguments remembers them, and so does everything that refers to such an element: a
joint at a world point has body-fixed data that follow from where its bodies are. What was assigned afterwards is
remembered as well. To change a parameter is to construct again, in place, what depends on it, in the order in which
things happened: all checks, defaults and derived data follow the one path of the constructors.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import ModelError
from .values import Input, in_force, parameters_in, resolved

RECORD = "_record"
KNOWN_AS = "_known_as"  # the generated name of an object while it is constructed again
POSE = ("position", "rotation", "velocity", "angular_velocity", "node", "coordinates", "velocities")

_last = 0


def _next() -> int:
    """The number of a making or a change: they are repeated in their order."""
    global _last
    _last += 1
    return _last


class Record:
    """How an object came about: the maker with its arguments (None where they are not needed), and later changes.

    Without a ``maker`` the constructor of the class made it. ``changes`` are (number, given) by attribute.
    """

    __slots__ = ("arguments", "changes", "maker", "number", "options")

    def __init__(self, number: float, maker: Any, arguments: Any, options: Any) -> None:
        self.number, self.maker, self.arguments, self.options = number, maker, arguments, options
        self.changes: dict[str, tuple[float, Any]] = {}

    def __getstate__(self) -> tuple[Any, ...]:
        return self.number, self.maker, self.arguments, self.options, self.changes

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        global _last
        self.number, self.maker, self.arguments, self.options, self.changes = state
        _last = max([_last, *(int(number) for number, _ in [(self.number, 0), *self.changes.values()])])

    @property
    def given(self) -> tuple[Any, ...]:
        """All that was given: arguments, options, assigned values."""
        return self.arguments, self.options, [given for _, given in self.changes.values()]

    @property
    def parts(self) -> list[Any]:
        """Recorded objects among the arguments and assigned values."""
        found: list[Any] = []
        _find_parts(self.given, found)
        return found


def _find_parts(x: Any, found: list[Any]) -> None:
    kind = type(x)
    if kind is tuple or kind is list:
        for item in x:
            _find_parts(item, found)
    elif kind is dict:
        for item in x.values():
            _find_parts(item, found)
    elif hasattr(x, "remade"):
        found.append(x)


def record_of(x: Any) -> Record | None:
    """The record of an object, if it has one."""
    found: Record | None = vars(x).get(RECORD)
    return found


def is_made_of_values(x: Any) -> bool:
    """Whether an object was made of parameters, or of something that was."""
    record = record_of(x)
    return record is not None and (record.arguments is not None or bool(parameters_in(record.given)))


def remember_making(x: Any, maker: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> Record:
    """Note of what an object was made."""
    made: Record = Record(_next(), maker, arguments, options)
    vars(x)[RECORD] = made
    return made


def remember_change(x: Any, name: str, given: Any) -> None:
    """Note that an attribute was assigned."""
    record = record_of(x)
    if record is None:
        record = vars(x)[RECORD] = Record(0, None, None, None)
    record.changes.pop(name, None)
    record.changes[name] = _next(), given


def names_in(record: Record) -> set[str]:
    """Names of the parameters among all that was given."""
    return {parameter.name for parameter in parameters_in(record.given)}


def recorded_objects(elements: Iterable[Any]) -> list[Any]:
    """Objects with a record among elements and what they were made of."""
    found: dict[int, Any] = {}

    def add(x: Any) -> None:
        record = record_of(x)
        if record is not None and id(x) not in found:
            found[id(x)] = x
            for part in record.parts:
                add(part)

    for element in elements:
        add(element)
        node = vars(element).get("node")
        if node is not None:
            add(node)
    return list(found.values())


class Remaking:
    """The plan by which the elements of a model follow its parameters: what happened to them, in its order."""

    def __init__(self, elements: Iterable[Any]) -> None:
        self.objects = recorded_objects(elements)
        events: list[tuple[float, Any, str, set[str], list[Any]]] = []  # number, object, attribute or "", names, parts
        for x in self.objects:
            record = record_of(x)
            assert record is not None
            made = (record.arguments, record.options)
            given = {"": (record.number, made)} if record.arguments is not None else {}
            for name, (number, value) in (given | record.changes).items():
                parts: list[Any] = []
                _find_parts(value, parts)
                events.append((number, x, name, {p.name for p in parameters_in(value)}, parts))
        self.events = sorted(events, key=lambda event: event[0])
        self._known = {(id(x), name) for _, x, name, _, _ in events}

    def knows(self, x: Any, attribute: str) -> bool:
        """Whether the plan repeats an assignment to this attribute when the object is made again."""
        return (id(x), attribute) in self._known

    def follow(self, changed: set[str], values: Mapping[str, float]) -> list[Any]:
        """Make what depends on changed parameters again; the objects that are no longer what they were, in order.

        If something refuses its new numbers, everything is as before.
        """
        dirty: dict[int, Any] = {}
        moved: set[int] = set()
        before: list[tuple[Any, dict[str, Any]]] = []
        try:
            with in_force(values):
                for number, x, name, names, parts in self.events:
                    depends = not names.isdisjoint(changed) or any(id(part) in moved for part in parts)
                    if not depends and not (name and id(x) in dirty):
                        continue
                    record = record_of(x)
                    assert record is not None
                    if name and name not in record.changes:  # it was, and has been put back since
                        continue
                    if id(x) not in dirty:
                        before += stored_of(x)
                        dirty[id(x)] = x
                    pose = _pose(x)
                    if name:
                        setattr(x, name, resolved(record.changes[name][1]))
                    elif (plain := _plain_arguments(x, record, changed)) and _has_moved(x, record, number, dirty):
                        for argument, value in plain.items():
                            setattr(x, argument, resolved(value))
                    else:
                        _refuse_later_moves(x, record, number, dirty)
                        make_again(x, record)
                    if pose is None or pose != _pose(x) or any(id(part) in moved for part in parts):
                        moved.add(id(x))
        except BaseException:
            restore(before)
            raise
        return list(dirty.values())


def stored_of(x: Any) -> list[tuple[Any, dict[str, Any]]]:
    """An object, and those of its own that change in place with it, with what they hold now."""
    return [(each, _copied(vars(each))) for each in (x, *x._held)]


def _copied(stored: dict[str, Any]) -> dict[str, Any]:
    """All that an object holds; its record is one that later changes do not enter."""
    record = stored.get(RECORD)
    if record is None:
        return dict(stored)
    kept = Record(record.number, record.maker, record.arguments, record.options)
    kept.changes = dict(record.changes)
    return {**stored, RECORD: kept}


def restore(before: list[tuple[Any, dict[str, Any]]]) -> None:
    """Let objects be again what they were before, the last one first."""
    for x, stored in reversed(before):
        vars(x).clear()
        vars(x).update(stored)


def make_again(x: Any, record: Record) -> None:
    """Construct an object again, in place, with the numbers in force."""
    stored = vars(x)
    before = dict(stored)
    arguments, options = resolved(record.arguments), resolved(record.options)
    if record.maker is None:
        stored.clear()
        stored[RECORD], stored[KNOWN_AS] = record, before.get("name", "")
        type(x).__init__(x, *arguments, **options)
        stored.pop(KNOWN_AS, None)
    else:
        other = record.maker(*arguments, **options)
        stored.clear()
        stored.update(vars(other))
    stored[RECORD] = record
    x.remade(before)


def _pose(x: Any) -> tuple[bytes, ...] | None:
    """Where a body starts, for those who refer to it; None of anything else."""
    if not hasattr(x, "start_node"):
        return None
    node = x.node
    names = ("position", "rotation", "velocity", "angular_velocity")
    return tuple(np.asarray(vars(node)[name]).tobytes() for name in names if name in vars(node))


def _plain_arguments(x: Any, record: Record, changed: set[str]) -> dict[str, Any]:
    """What was given for an object and is made of changed parameters, if all of it can be assigned as it is."""
    columns = getattr(type(x), "input_columns", {})
    if not columns or record.maker is not None or record.arguments is None or record.options is None:
        return {}
    bound = inspect.signature(type(x).__init__).bind(None, *record.arguments, **record.options).arguments
    given = {**bound, **bound.get("arguments", {})}
    given.pop("arguments", None)
    follows = {name: y for name, y in given.items() if not {p.name for p in parameters_in(y)}.isdisjoint(changed)}
    return follows if all(name in columns for name in follows) else {}


def _has_moved(x: Any, record: Record, number: float, dirty: dict[int, Any]) -> bool:
    return next(_later_moves(x, record, number, dirty), None) is not None


def _later_moves(x: Any, record: Record, number: float, dirty: dict[int, Any]) -> Iterator[tuple[str, Any]]:
    """Poses of what an object referred to when it was made that were assigned since."""
    for part in record.parts:
        for each in (part, vars(part).get("node")):
            later = record_of(each) if each is not None and each is not x else None
            for name, (when, _) in later.changes.items() if later is not None else ():
                if when > number and name in POSE and not (id(each) in dirty and hasattr(x, "start_node")):
                    yield name, part


def _refuse_later_moves(x: Any, record: Record, number: float, dirty: dict[int, Any]) -> None:
    """What an object referred to when it was made must not have moved since: points may have been given in space."""
    for name, part in _later_moves(x, record, number, dirty):
        raise ModelError(
            f"{x} follows a parameter and has to be made again, but {name} of {part} was assigned after {x} was made; "
            f"give {name} to the constructor, or make {x} afterwards (of a model_at: change parameters before the run)"
        )


def refuse_inputs(cls: Any, x: object, arguments: Mapping[str, Any]) -> None:
    """Inputs may stand only in what acts while a model runs."""
    for name, given in arguments.items():
        for parameter in sorted(parameters_in(given), key=lambda p: p.name):
            if isinstance(parameter, Input) and not cls.takes_input(name):
                raise ModelError(
                    f"{x}: {name} is made of the input '{parameter.name}', which may change during a run, but {name} "
                    f'acts at the start only; expected a number or a parameter: model.parameter("{parameter.name}", '
                    f"{parameter.number:g})"
                )
