"""Some numbers of a system under names: parameters of its model, and attributes of any element."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..elements.making import restore, stored_of
from ..elements.parameter_table import known, names_of
from ..elements.values import Parameter, Value
from ..errors import ModelError, bad_value

if TYPE_CHECKING:
    from ..integrators.base import Integrator
    from ..simulation.prepared import PreparedRun
    from .system import System

Values = Mapping[Any, Any] | Sequence[Any]
Stored = list[tuple[Any, dict[str, Any]]]


class ParameterHandle:
    """Numbers that can be changed without assembling again; ``system.parameters([...])`` makes it.

    ``handle.set({"b.mass": 2.0})`` or ``handle.set([2.0, ...])`` in the order of the names changes them all, or none if
    one is refused; ``handle.values`` shows them. An attribute acts as if it had been assigned to the element before the
    model was assembled; a parameter as if the model had been built with it. The handle has a system of its own, which
    no other run sees; ``handle.run(t_end, step, integrator)`` prepares runs of it. ``lent``: whoever gives the system
    looks at it only when its numbers are put back, so that it may serve itself, if its elements are its own.
    """

    def __init__(self, system: System, names: str | Parameter | Iterable[str | Parameter], lent: bool = False) -> None:
        model, own = system.model, lent and len(system.model._parameters) > 0  # of these every system has a copy
        self.system: System = system if own else type(system)(model if model._parameters else model.copy())
        self.names = tuple(names_of(system.model, "parameters", names))
        self.version = 0  # of the numbers, so that a solution knows whether they are still those of its run
        self._paths = {name: self._path(name) for name in self.names}
        if len(self._paths) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise ModelError(f"{system.model}: {twice!r} is named twice; expected every parameter once")

    def _path(self, name: Any) -> tuple[str, tuple[str, ...]] | None:
        """The element and the attributes that a name stands for; None for a parameter of the model."""
        model = self.system.model
        if name in model._parameters:
            return None
        if name == "gravity":
            return "", ("gravity",)
        parts = name.split(".")
        for k in range(len(parts) - 1, 0, -1):
            element = ".".join(parts[:k])
            if element in model:
                path = element, tuple(parts[k:])
                _number(model, name, self._present(path))
                return path
        if len(parts) > 1:
            raise model._unknown(".".join(parts[:-1]))
        known(model, model._parameters, name)
        raise AssertionError

    def _present(self, path: tuple[str, tuple[str, ...]]) -> Any:
        target, attribute = _target(self.system.model, path)
        try:
            return getattr(target, attribute)
        except AttributeError as error:
            raise ModelError(f"{target}: {error}; expected a number or a vector that can be changed") from None

    @property
    def values(self) -> dict[str, Any]:
        """The present numbers by name."""
        model = self.system.model
        return {
            name: model._parameters[name].number if path is None else self._present(path)
            for name, path in self._paths.items()
        }

    def set(self, values: Values) -> None:
        """Change some of the numbers, by name or all in the order of the names; all of them, or none."""
        given = self._named(values)
        numbers = {name: self.system.model._parameters[name].number for name in given if self._paths[name] is None}
        stored = self.stored(given)
        self.version += 1
        try:
            self._set(given)
        except BaseException:
            restore(stored)
            self._set(numbers)
            self._write(given)
            raise

    def stored(self, names: Iterable[str]) -> Stored:
        """What objects hold whose attributes are among these, and whether that was assigned or follows parameters."""
        return [one for *_, target, _ in self._attributes(names) for one in stored_of(target)]

    def put_back(self, stored: Stored, names: Iterable[str]) -> None:
        """Attributes as they were: those that were not assigned then go on to follow parameters."""
        restore(stored)
        self.version += 1
        self._write(names)

    def _named(self, values: Values) -> dict[str, Any]:
        if isinstance(values, Mapping):
            given = {name.name if isinstance(name, Parameter) else name: x for name, x in values.items()}
            for name in given:
                known("this handle", self._paths, name)
        else:
            if isinstance(values, str) or not hasattr(values, "__len__"):
                raise bad_value(self.system.model, "values", values, f"numbers for {', '.join(self.names)}")
            if len(values) != len(self.names):
                raise ModelError(f"{len(values)} values are given for {', '.join(self.names)}; expected one for each")
            given = dict(zip(self.names, values, strict=True))
        for name, x in given.items():
            _number(self.system.model, name, x)
        return given

    def _set(self, given: Mapping[str, Any]) -> None:
        parameters = {name: x for name, x in given.items() if self._paths[name] is None}
        if parameters:
            self.system.set_parameters(parameters)
        for system, name, target, attribute in self._attributes(given):
            setattr(target, attribute, given[name])
            system._following.writers.assigned(target, attribute)
        self._write(given)

    def _write(self, names: Iterable[str]) -> None:
        """Write the records of the elements whose attributes these are."""
        dirty: dict[int, tuple[System, dict[int, Any]]] = {}
        for system, name, *_ in self._attributes(names):
            path = self._paths[name]
            assert path is not None
            element = system.model[path[0]] if path[0] else system.model
            dirty.setdefault(id(system), (system, {}))[1][id(element)] = element
        for system, elements in dirty.values():
            system._following.writers.write(elements.values())

    def _attributes(self, names: Iterable[str]) -> Iterator[tuple[System, str, Any, str]]:
        """The attributes among these, in all systems: whose they are, and their names there."""
        for system in (self.system, *self.system.derived.values()):
            for name in names:
                path = self._paths[name]
                if path is not None:
                    yield system, name, *_target(system.model, path)

    def run(self, t_end: float, step: float, integrator: Integrator | None = None, **options: Any) -> PreparedRun:
        """Runs of this system: ``run(values)`` returns a solution. ``options`` are those of ``simulate``."""
        from ..simulation.prepared import PreparedRun

        return PreparedRun(self, t_end, step, integrator, options)

    def assign(self, model: Any, values: Mapping[str, Any]) -> None:
        """Give a model these values, as a handle does, whatever it becomes by that."""
        model.parameters.update({name: x for name, x in values.items() if self._paths[name] is None})
        for name, x in values.items():
            path = self._paths[name]
            if path is not None:
                target, attribute = _target(model, path)
                setattr(target, attribute, x)

    def model(self, values: Values | None = None) -> Any:
        """An independent model with the present numbers, or with others."""
        if values is not None:
            self.set(values)
        return self.system.model.copy()

    def __repr__(self) -> str:
        return f"<parameters of {self.system.model}: {', '.join(map(repr, self.names))}>"


def _target(model: Any, path: tuple[str, tuple[str, ...]]) -> tuple[Any, str]:
    """The object that has the attribute, and its name."""
    x: Any = model[path[0]] if path[0] else model
    for name in path[1][:-1]:
        x = getattr(x, name)
    return x, path[1][-1]


def _number(owner: object, name: str, x: Any) -> None:
    """Refuse what is no number and no array of numbers."""
    numbers = isinstance(x, int | float | np.number) and not isinstance(x, bool)
    if not numbers and not isinstance(x, Value):
        try:
            numbers = np.asarray(x).dtype.kind in "if"
        except Exception:
            numbers = False
    if not numbers:
        raise ModelError(
            f"{owner}: {name} is {x!r}, which is no number; expected numbers: anything else makes it another model, "
            "which is to be built and assembled"
        )
