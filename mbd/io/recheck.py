"""Elements that were read from a file pass the same door as attributes that people set."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
from typing import Any

import numpy as np

from ..bodies import Body
from ..bodies.shapes import Composite, Cone, Shape
from ..elements.attributes import NO_DEFAULT, Attribute
from ..errors import ModelError
from ..joints import Coupling, Joint
from ..model import Model

LATER = ("check_inertia", "model")  # what files of earlier versions do not contain
ROUNDING = 1e-14  # of what a model holds: products of rotations are orthonormal up to a few digits less than all


def recheck_model(model: Model, missing: type | None = None) -> None:
    """Check every attribute of every element; ``missing`` is the class that stands for functions not in the file."""
    for kind in ("bodies", "joints", "forces"):
        for k, element in enumerate(getattr(model, kind)):
            try:
                recheck(element, missing)
            except ModelError as error:
                raise ModelError(f"model.{kind}[{k}] ('{element.name}'): {error}") from error
    if model.ground.shape is not None:
        _recheck_shape(model.ground.shape)


def recheck(element: Any, missing: type | None = None) -> None:
    """Check the attributes of one element, a node or a shape, which were stored without any check."""
    if isinstance(element, Shape):
        _recheck_shape(element)
        return
    cls: Any = type(element)
    stored = vars(element)
    ours = cls.__module__ != "mbd.io.encoding"  # else what a class of a user had
    declared = _declared(cls)
    for name in [name for name in stored if ours and name not in declared]:
        _recheck_derived(element, name, inspect.getattr_static(cls, name, None))
    for attribute in declared.values():
        optional = attribute.name in LATER or attribute.default is not NO_DEFAULT
        if attribute.name not in stored and not optional:
            raise ModelError(f"'{attribute.name}' is missing")
    if isinstance(element, Body):
        recheck(element.node, missing)
    if (shape := stored.get("shape")) is not None:
        _recheck_shape(shape)
    for attribute in declared.values():
        if attribute.name in stored and attribute.name not in ("name", "model"):
            _recheck_attribute(element, attribute, missing)
    if isinstance(element, Joint) and not isinstance(element, Coupling) and len(element.bodies) == 2:
        element._check_bodies()
    element.validate()


@functools.lru_cache(1 << 8)  # files may bring classes of their own
def _declared(cls: type) -> dict[str, Attribute]:
    """The attributes of a class by name."""
    found = {key: inspect.getattr_static(cls, key) for key in dir(cls)}
    return {key: x for key, x in found.items() if isinstance(x, Attribute)}


def stored_keys(cls: type) -> set[str]:
    """What is stored of an object of a class of the toolkit, or of a user's class that extends it."""
    if dataclasses.is_dataclass(cls):
        return {field.name for field in dataclasses.fields(cls)}
    return {*_declared(cls)}


def _recheck_derived(element: Any, name: str, attribute: Any) -> None:
    """A key that is no attribute: earlier versions stored some that follow from others."""
    if isinstance(attribute, property):
        value = element.__dict__.pop(name)
        if np.array_equal(value, getattr(element, name)):
            return
        raise ModelError(f"{name} = {value!r}; expected {getattr(element, name)!r}, which follows from the rest")
    raise ModelError(f"unknown key '{name}'; was it written by a newer version of mbd?")


def _recheck_attribute(element: Any, attribute: Attribute, missing: type | None) -> None:
    check = attribute.convert or attribute.check
    stored, name = vars(element), attribute.name
    value = stored[name]
    calls = stored.get("function") is not None and name == "value"  # it is zero then
    if check is None or calls or (missing is not None and isinstance(value, missing)):
        return
    checked = check(value, copy.copy(element), name)  # some checks set what follows: not here
    if isinstance(value, np.ndarray) and isinstance(checked, np.ndarray) and value.shape == checked.shape:
        if np.abs(checked - value).max(initial=0.0) <= ROUNDING * np.abs(value).max(initial=0.0):
            return  # as it was, to the last digit
    stored[name] = checked


def _recheck_shape(shape: Shape) -> None:
    fields = {field.name for field in dataclasses.fields(shape)}
    for name in vars(shape):
        if name not in fields:
            raise ModelError(f"shape {type(shape).__name__}: unknown key '{name}'")
    if lost := sorted(fields - set(vars(shape))):
        raise ModelError(f"shape {type(shape).__name__}: '{lost[0]}' is missing")
    if isinstance(shape, Composite):
        Composite(*shape.parts, colour=shape.colour)
        for part in shape.parts:
            _recheck_shape(part)
        return
    again = copy.copy(shape)
    if isinstance(shape, Cone) and shape.tip is not None:
        object.__setattr__(again, "centre", (0.0, 0.0, 0.0))  # it followed from the tip
    again.__post_init__()
