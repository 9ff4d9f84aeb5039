"""A model with parameters in the place of a function that builds one.

Runs reuse the assembled system. They are, bit for bit, those of a model that is built with the same numbers, which is
what happens where a number makes the model another one (more equations, other coordinates).
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..elements.attributes import Checked
from ..elements.making import record_of, recorded_objects
from ..elements.values import Parameter, Value
from ..model import Model
from ..simulation.prepared import PreparedRun
from ..system.identity import fingerprint_of, functions_in
from ..system.system import assemble
from ..system.writers import StructureError

KEPT = 2  # prepared runs per thread


class _Prepared(threading.local):
    """Runs that this thread has prepared, by what they are made of."""

    def __init__(self) -> None:
        self.runs: dict[Any, tuple[PreparedRun, Any]] = {}  # with what their keys name by where it is stored


_prepared = _Prepared()


@dataclass(frozen=True)
class ModelBuild:
    """Makes models from a model and values of its parameters, or of attributes of its elements."""

    model: Model
    numbers: str  # digest of all numbers, and of what depends on which parameters
    functions: tuple[Callable[..., Any], ...]

    def __call__(self, **values: Any) -> Model:
        handle = assemble(self.model).parameters(list(values)) if _paths(self.model, values) else None
        if handle is None:
            model = self.model.copy()
            model.parameters.update(values)
            return model
        try:
            return handle.model(values)
        except StructureError:
            model = self.model.copy()
            handle.assign(model, values)
            return model

    def solution(self, values: Mapping[str, Any], simulate: Mapping[str, Any]) -> Any:
        """The solution with these values; it can be read until the next run in this thread."""
        key = id(self.model), self.numbers, tuple(values), repr(simulate)
        if key not in _prepared.runs:
            while len(_prepared.runs) >= KEPT:
                _prepared.runs.pop(next(iter(_prepared.runs)))
            given = {name: x for name, x in simulate.items() if name not in ("t_end", "step", "integrator", "progress")}
            handle = assemble(self.model).parameters(list(values))
            run = handle.run(simulate["t_end"], simulate["step"], simulate.get("integrator"), **given)
            _prepared.runs[key] = run, (self.model, simulate)
        return _prepared.runs[key][0](dict(values))

    def check(self, who: str, names: Sequence[str]) -> None:
        """Refuse names of which the model knows nothing."""
        assemble(self.model).parameters(list(names))


def as_build(build: Any) -> Any:
    """A function that builds models, or a model with parameters in its place."""
    if not isinstance(build, Model):
        return build
    model = build.copy()
    functions = [f for f in (*_value_functions(model), *_user_functions(model)) if not _of_python(f)]
    return ModelBuild(model, _numbers(model), tuple({id(f): f for f in functions}.values()))


def _paths(model: Model, values: Mapping[str, Any]) -> bool:
    return any(name not in model._parameters for name in values)


def _numbers(model: Model) -> str:
    """Digest of everything in a model, without its functions."""
    parts = [f"{name} {digest}" for name, digest in fingerprint_of(model).items() if name != "python"]
    for body in model.bodies:
        node: Any = body.node
        parts.append(f"{body.name} {node!r} {node.coordinates().tolist()} {node.coordinate_velocities().tolist()}")
    parts += [f"{joint.name} {[getattr(joint, x, None) for x in ('zero', 'branch')]}" for joint in model.joints]
    parts += [f"{name} {parameter.word} {parameter.number!r}" for name, parameter in model._parameters.items()]
    parts += [_text(record.given) for x in recorded_objects(model._all()) if (record := record_of(x)) is not None]
    parts.append(repr(model._choice))
    return hashlib.blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()


def _text(x: Any) -> str:
    """What was given for an element, as a text that is the same in every process."""
    if isinstance(x, Parameter):
        return x.name
    if isinstance(x, Value):
        return f"{getattr(x.function, '__name__', '')}{_text(x.arguments)}{_text(x.options)}"
    if isinstance(x, dict):
        return "{" + ",".join(f"{key}:{_text(item)}" for key, item in x.items()) + "}"
    if isinstance(x, list | tuple):
        return "(" + ",".join(map(_text, x)) + ")"
    if isinstance(x, np.ndarray | np.generic):
        return repr(x.tolist())
    if isinstance(x, Checked):
        return str(x)
    return getattr(x, "__qualname__", None) or (
        repr(x) if isinstance(x, int | float | str | None) else type(x).__name__
    )


def _value_functions(model: Model) -> Iterator[Any]:
    def inside(x: Any) -> Iterator[Any]:
        if isinstance(x, Value) and not isinstance(x, Parameter):
            yield x.function
            x = (x.arguments, x.options)
        for item in x.values() if isinstance(x, dict) else x if isinstance(x, list | tuple) else ():
            yield from inside(item)

    for x in recorded_objects(model._all()):
        record = record_of(x)
        yield from inside(record.given) if record is not None else ()


def _user_functions(model: Model) -> Iterator[Any]:
    for joint in model.joints:
        yield from functions_in(list(joint.primitives()))
    for force in model.forces:
        yield from functions_in([list(force.rows()), list(force.general())])
    for body in model.bodies:
        yield from functions_in([getattr(body, name, None) for name in ("mass", "potential", "constraints")])


def _of_python(function: Any) -> bool:
    module = str(getattr(function, "__module__", None) or type(function).__module__)
    return isinstance(function, np.ufunc) or module.partition(".")[0] in (
        "_operator",
        "operator",
        "math",
        "numpy",
        "mbd",
    )
