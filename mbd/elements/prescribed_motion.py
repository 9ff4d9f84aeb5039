"""Prescribed motions: a number or a function of time, with its first two time derivatives.

Velocity and acceleration terms of a driven constraint need ``c``, ``c_dot`` and ``c_ddot``. Derivatives that are given
are used as they are. Otherwise ``c_dot`` is exact where the function can be compiled, and ``c_ddot`` a sixth-order
difference of it; plain Python functions are differentiated by sixth-order differences. Their step suits the pace of
the function (``mbd.compiled.functions.call_styles``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compiled.functions.call_styles import Call
from ..compiled.functions.travelling import made_by, sendable
from ..errors import ModelError, check_number

MOTION = Call("motion", 1, 3, (3,))


@dataclass(frozen=True, eq=False)
class Motion:
    """A prescribed coordinate: ``value`` if ``function`` is None; ``rate`` and ``acceleration`` may be None."""

    value: float
    function: Any = None
    rate: Any = None
    acceleration: Any = None

    @property
    def functions(self) -> tuple[Any, ...]:
        """The function and its derivatives, None where they are not given."""
        return self.function, self.rate, self.acceleration

    def __reduce__(self) -> Any:
        return Motion, (self.value, *map(sendable, self.functions))


def make_motion(value: Any, rate: Any, acceleration: Any, owner: object, argument: str = "value") -> Motion:
    """The motion that people gave as a number or as functions of time."""
    if not callable(value):
        if rate is not None or acceleration is not None:
            raise ModelError(
                f"{owner}: rate= and acceleration= belong to a function of time, but {argument} is a number"
            )
        return Motion(check_number(value, owner, argument))
    for word, function in ((argument, value), ("rate", rate), ("acceleration", acceleration)):
        if function is not None:
            check_number(_probe(function, owner, word), owner, f"{word} at t = 0")
    if rate is None and acceleration is not None:
        raise ModelError(f"{owner}: acceleration= is given without rate=; expected both, or rate= alone")
    return Motion(float(np.real(value(0.0))), value, rate, acceleration)


def as_motion(value: Any, owner: object, argument: str) -> Motion:
    """A motion, a number or a function of time as a motion."""
    if not isinstance(value, Motion):
        return make_motion(value, None, None, owner, argument)
    check_number(value.value, owner, argument)
    return value


def _probe(function: Any, owner: object, argument: str) -> Any:
    if not callable(function):
        raise ModelError(f"{owner}: {argument} is {function!r}; expected a function of time")
    try:
        return function(0.0)
    except Exception as error:
        raise ModelError(
            f"{owner}: the function {argument} failed at t = 0 with {type(error).__name__}: {error}; expected a "
            "function of time that returns a number, e.g. lambda t: 2.0 * t"
        ) from error


def component(function: Callable[[float], Any], i: int) -> Callable[[float], Any]:
    """One component of a function of time that returns several numbers."""

    def one(t):  # type: ignore[no-untyped-def]
        return function(t)[i]

    return made_by(one, component, function, i)
