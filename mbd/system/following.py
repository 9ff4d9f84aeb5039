"""How an assembled system follows its parameters and inputs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiled.functions.captured import root_value, roots_of, unwrapped
from ..elements.making import record_of
from ..elements.parameter_table import checked_values, is_own, known
from ..elements.settling import before_change
from ..elements.values import Input, check_value, has_values, in_force, parameters_in
from ..errors import ModelError
from ..forces import ForceElement
from ..joints.drivers import AngleDriver, PositionDriver
from .tables import FORCE, PRIMITIVE

if TYPE_CHECKING:
    from ..model import Model
    from .system import System


def check_captured(system: System) -> None:
    """Refuse functions that refer to parameters of other models: they would not follow those of this one."""
    for callback in system.assembly.callbacks:
        further = [x for _, _, x in callback.places()]  # also attributes of objects
        check_own(system.model, callback.functions, f"the function of {callback.name}", further)


def check_own(model: Model, functions: Iterable[Any], owner: str, further: Iterable[Any] = ()) -> None:
    """Refuse functions, and further values, that refer to parameters of other models."""
    found = [x for function in functions for x in _values_in(function)]
    for parameter in parameters_in([*found, *further]):
        if not is_own(model._parameters, parameter):
            raise ModelError(
                f"{owner} refers to {parameter!r}, which is none of {model} but of another one; expected a parameter "
                f'of this model: model.{parameter.word}("{parameter.name}", {parameter.number:g})'
            )


def _values_in(function: Any, seen: list[Any] | None = None) -> Iterator[Any]:
    """What a function refers to that is, or holds, a value: itself, in lists, or in functions that it calls."""
    seen = [] if seen is None else seen
    try:
        inner, bound = unwrapped(function)
        roots = list(roots_of(inner, bound))
    except Exception:
        return
    if any(each is inner for each in seen):
        return
    seen.append(inner)
    for root in roots:
        try:
            value = root_value(inner, bound, root)
        except Exception:
            continue
        if has_values(value):
            yield value
        elif isinstance(value, FunctionType) and value.__module__ == inner.__module__:
            yield from _values_in(value, seen)


class Following:
    """The parameters of a system: its elements and its tables follow them together, or not at all."""

    def __init__(self, system: System) -> None:
        from .writers import Writers  # which knows all elements

        self.system = system
        self.writers = Writers(system)
        self.late: set[str] = set()  # inputs that tables know, and elements do not know yet

    def set_parameters(self, values: Mapping[str, float]) -> None:
        """Change parameters; nothing has changed if one of them is refused."""
        system = self.system
        changed = checked_values(system.model, system.model._parameters, values)
        if not changed and not self.late:
            return
        before = {name: system.model._parameters[name].number for name in changed}
        self._follow(changed)
        done = []
        try:
            for derived in system.derived.values():
                derived.set_parameters(values)
                done.append(derived)
        except BaseException:
            for derived in done:
                derived.set_parameters(before)
            self._follow(before)
            raise

    def _follow(self, changed: Mapping[str, float]) -> None:
        system, model = self.system, self.system.model
        before, names = dict(system.values), {*changed, *self.late}
        before_change(model)
        dirty = self.writers.plan.follow(names, {**system.values, **changed})
        try:
            system.values.update(changed)
            self.writers.write(dirty)
        except BaseException:
            system.values.update(before)
            self.writers.write(self.writers.plan.follow(names, before))
            raise
        for name, value in changed.items():
            model._parameters[name].number = value
        self.late.clear()
        system.refresh_functions()

    def settle(self) -> None:
        """Let elements know the inputs that tables know."""
        if self.late:
            self._follow({})


class Inputs(MutableMapping[str, float]):
    """The inputs of a system by name. Setting one writes it where the compiled code reads it.

    A force, a torque, a target or a driven value that is an input, or an expression of inputs, costs about a
    microsecond; in other arguments of forces, in which the element is made again, about fifty.
    """

    __slots__ = ("_places", "_system", "_table")  # inputs.u = 1.0 would be lost

    def __init__(self, system: System) -> None:
        self._system = system
        self._table = {name: x for name, x in system.model._parameters.items() if isinstance(x, Input)}
        self._places: dict[str, tuple[list[Any], list[Any], bool]] | None = None

    def __getitem__(self, name: str) -> float:
        return self._system.values[known(self._system.model, self._table, name)]

    def __setitem__(self, name: str, value: float) -> None:
        if self._places is None:
            self._places = _places(self._system, self._table)
        if name not in self._places:
            name = known(self._system.model, self._table, name)
        number = (
            float(value) + 0.0
            if isinstance(value, float)
            else check_value(value, self._system.model, f"input {name!r}")
        )
        if not math.isfinite(number):
            raise ModelError(f"{self._system.model}: input {name!r} is set to {value!r}; expected a finite number")
        system = self._system
        plain, computed, made_again = self._places[name]
        system.values[name] = self._table[name].number = number
        for array, place in plain:
            array[place] = number
        if computed:
            with in_force(system.values):
                for array, place, x in computed:
                    array[place] = x.value + 0.0
        following = system._following
        following.late.add(name)
        if made_again:
            following.settle()
        for derived in system.derived.values():
            derived.inputs[name] = number

    def update(self, *values: Any, **more: Any) -> None:  # type: ignore[override]
        """Set several inputs: all of them, or none if one is refused."""
        given = {known(self._system.model, self._table, name): x for name, x in dict(*values, **more).items()}
        for name, value in given.items():
            check_value(value, self._system.model, f"input {name!r}")
        for name, value in given.items():
            self[name] = value

    def __delitem__(self, name: str) -> None:
        raise ModelError(f"{self._system.model}: inputs cannot be removed; build the model without {name!r}")

    def __contains__(self, name: object) -> bool:
        return name in self._table

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return repr(dict(self))


def _places(system: System, table: Mapping[str, Input]) -> dict[str, tuple[list[Any], list[Any], bool]]:
    """For each input: where it stands itself, where something stands that is computed from it, and whether elements
    have to be made again."""
    found: dict[str, tuple[list[Any], list[Any], bool]] = {name: ([], [], False) for name in table}

    def add(array: Any, place: int, x: Any) -> None:
        if isinstance(x, Input):
            found[x.name][0].append((array, place))
        else:
            for parameter in parameters_in(x):
                if parameter.name in found:
                    found[parameter.name][1].append((array, place, x))

    late: set[str] = set()
    for element in system.model._all():
        record = record_of(element)
        given = {p.name for p in parameters_in(record.given)} & set(table) if record is not None else set()
        if given:
            targets = _direct(system, element)
            if targets is None:
                late |= given
            else:
                for array, place, x in targets:
                    add(array, place, x)
    for callback in system.assembly.callbacks:
        for block, word, x in callback.places():
            if word < 0:
                late |= {p.name for p in parameters_in(x)} & set(table)
            add(block.view(np.float64), word, x)
    return {name: (plain, computed, name in late) for name, (plain, computed, _) in found.items()}


def _direct(system: System, element: Any) -> list[tuple[Any, int, Any]] | None:
    """Words of the tables that are what was given for an element, with that; None if others depend on inputs too."""
    record, columns = record_of(element), getattr(type(element), "input_columns", {})
    if record is None or record.maker is not None or any(_inputs(given) for _, given in record.changes.values()):
        return None
    import inspect

    arguments = inspect.signature(type(element).__init__).bind(None, *record.arguments, **record.options).arguments
    given = {name: x for name, x in {**arguments, **arguments.get("arguments", {})}.items() if _inputs(x)}
    given.pop("arguments", None)
    writers, targets = system._following.writers, []
    for name, x in given.items():
        if name not in columns:
            return None
        parts = list(x) if isinstance(x, tuple | list) else [x]
        if len(parts) != len(columns[name]):
            return None
        for column, part in zip(columns[name], parts, strict=True):
            for numbers, row, dtype in _rows(writers, element):
                assert dtype.fields is not None
                if _inputs(part):
                    targets.append((numbers[row], dtype.fields[column][1] // 8, part))
    return targets


def _rows(writers: Any, element: Any) -> list[tuple[Any, int, np.dtype]]:
    """The first record of an element in the tables, and in those of the elements of a tree."""
    index = writers.places[id(element)]
    if isinstance(element, ForceElement):
        row = writers.system.assembly.force_rows[index].start
        found = [(writers.force_numbers[0], row, FORCE)]
        if writers.inner is not None and row in writers.inner_force_rows:
            found.append((writers.force_numbers[1], writers.inner_force_rows[row], FORCE))
        return found
    assert isinstance(element, AngleDriver | PositionDriver)
    row = writers.primitive_rows[index][0]
    return [(numbers, row, PRIMITIVE) for numbers in writers.primitive_numbers]


def _inputs(x: Any) -> bool:
    return any(isinstance(parameter, Input) for parameter in parameters_in(x))
