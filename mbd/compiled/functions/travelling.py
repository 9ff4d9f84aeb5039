"""User functions on their way to other processes.

pickle sends a function as the name under which another process finds it: ``def`` at the top level of a module, methods
of such classes, ``functools.partial`` of such functions. Lambdas and functions inside of functions have no such name;
cloudpickle sends those as code. Functions that the toolkit makes of others are made again where they arrive.
"""

from __future__ import annotations

import dataclasses
import functools
import pickle
import sys
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

BY_VALUE = ("cloudpickle", "dill")  # packages that send code
REMEDY = (
    "define it with def at the top level of a module, and give it its values by functools.partial or as the method "
    "of an object; or send it as code: cloudpickle.dumps(...), or an executor that does so"
)


def made_by(function: F, maker: Callable[..., F], *arguments: Any) -> F:
    """The function, with a note of how it was made."""
    vars(function)["_made_by_mbd"] = maker, arguments
    return function


class _Made:
    """Stands for a function that the toolkit made; arrives as the function."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __reduce__(self) -> Any:
        return self.function._made_by_mbd


def sendable(function: Any) -> Any:
    """A function as it is put into a pickle."""
    return _Made(function) if isinstance(function, FunctionType) and hasattr(function, "_made_by_mbd") else function


def sent_as_code() -> bool:
    """Whether the pickle that is being written takes functions without a name; for ``__reduce_ex__``."""
    frame: Any = sys._getframe(1)
    while frame is not None and (frame.f_code.co_name == "__reduce_ex__" or _module(frame) == "pickle"):
        frame = frame.f_back
    return frame is not None and _module(frame).partition(".")[0] in BY_VALUE


def _module(frame: Any) -> str:
    return str(frame.f_globals.get("__name__"))


def nameless(value: Any) -> Iterator[Any]:
    """Functions in a value, or in the tuples, records and partials in it, that pickle cannot send."""
    if isinstance(value, FunctionType):
        if hasattr(value, "_made_by_mbd"):
            yield from nameless(value._made_by_mbd[1])
        elif _found(value) is not value:
            yield value
    elif isinstance(value, functools.partial):
        yield from nameless((value.func, *value.args, *value.keywords.values()))
    elif isinstance(value, MethodType):
        if _found(type(value.__self__)) is not type(value.__self__):
            yield value
    elif type(value) in (tuple, list):
        for item in value:
            yield from nameless(item)
    elif type(value) is dict:
        yield from nameless(list(value.values()))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from nameless([getattr(value, field.name) for field in dataclasses.fields(value)])
    elif callable(value) and not isinstance(value, type) and _found(type(value)) is not type(value):
        yield value


def _found(x: Any) -> Any:
    """What another process finds under the name of a function or a class."""
    place: Any = sys.modules.get(getattr(x, "__module__", None) or "")
    for name in getattr(x, "__qualname__", "<lambda>").split("."):
        place = getattr(place, name, None)
    return place


def name_of_function(function: Any) -> str:
    """How people know a function."""
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def packed(value: Any) -> bytes:
    """A value as pickle sends it; if that is not possible and cloudpickle is installed, as that does."""
    try:
        return pickle.dumps(value)
    except Exception:
        try:
            import cloudpickle
        except ImportError:
            cloudpickle = None
        if cloudpickle is None:
            raise
        return bytes(cloudpickle.dumps(value))
