"""Prescribed motions: a number or a function of time, with its first two time derivatives.

Velocity and acceleration terms of a driven constraint need ``c``, ``c_dot`` and ``c_ddot``. Derivatives that are given
are used as they are. Otherwise ``c_dot`` is exact by the complex step where the function accepts complex numbers (any
formula of arithmetic and elementary functions), and ``c_ddot`` a sixth-order difference of it; functions with branches
are differentiated by sixth-order differences.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from .errors import ModelError, check_number
from .settings import JIT

TINY = 1e-30  # imaginary step; the result is exact to round-off
FINE = 1e-4  # step of differences of exact first derivatives
COARSE = 1e-3  # step of differences of the function itself
WEIGHTS = (45.0 / 60.0, -9.0 / 60.0, 1.0 / 60.0)  # sixth-order central difference
SECOND = (1.5, -3.0 / 20.0, 1.0 / 90.0)  # the same for the second derivative, -49/18 in the middle


@dataclass(frozen=True, eq=False)
class Motion:
    """A prescribed coordinate: ``value`` if ``function`` is None; ``rate`` and ``acceleration`` may be None."""

    value: float
    function: Any = None
    rate: Any = None
    acceleration: Any = None


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
    whole: Any = _compiled(function) or function

    def one(t):  # type: ignore[no-untyped-def]
        return whole(t)[i]

    return one


def with_derivatives(motion: Motion) -> Callable[[float], tuple[float, float, float]]:
    """A function of time that returns (c, c_dot, c_ddot), compiled if possible."""
    if not isinstance(motion, Motion):  # as read from a file
        return _with_derivatives(motion)
    if motion not in _known:
        _known[motion] = _with_derivatives(motion)
    return _known[motion]


_known: WeakKeyDictionary[Motion, Any] = WeakKeyDictionary()


def _with_derivatives(motion: Motion) -> Any:
    for jit in (True, False) if JIT else (False,):
        try:
            return _differentiated(motion.function, motion.rate, motion.acceleration, jit)
        except Exception:
            if not jit:
                raise
    raise AssertionError


def _compiled(function: Any) -> Any:
    """The function under numba, or None if it cannot be compiled."""
    if not JIT or not isinstance(function, FunctionType):
        return function if hasattr(function, "py_func") else None
    from numba import njit

    try:
        compiled = njit(function)
        compiled(0.0)
        return compiled
    except Exception:
        return None


def _prepare(function: Any, jit: bool) -> Any:
    if not jit:
        return function
    compiled = _compiled(function)
    if compiled is None:
        raise TypeError
    return compiled


def complex_variant(function: Any) -> Any:
    """The function with ``math`` replaced by ``cmath`` where it uses it, so that it accepts complex numbers."""
    if hasattr(function, "complex_twin"):
        return function.complex_twin
    plain = getattr(function, "py_func", function)
    if not isinstance(plain, FunctionType):
        return function
    swaps = {name: cmath for name, x in plain.__globals__.items() if x is math}
    swaps |= {
        name: getattr(cmath, name)
        for name in plain.__code__.co_names
        if getattr(math, name, None) is not None and plain.__globals__.get(name) is getattr(math, name, None)
        and hasattr(cmath, name)
    }  # fmt: skip
    if not swaps:
        return function
    twin = FunctionType(plain.__code__, {**plain.__globals__, **swaps}, plain.__name__, plain.__defaults__)
    return FunctionType(twin.__code__, twin.__globals__, twin.__name__, plain.__defaults__, plain.__closure__)


def slope_of(function: Any, jit: bool) -> Any:
    """The exact derivative of a function of time by the complex step, or None if it does not accept complex numbers."""
    try:
        f: Any = complex_variant(function)
        if jit:
            from numba import njit

            f = njit(getattr(f, "py_func", f))

        def slope(t):  # type: ignore[no-untyped-def]
            return f(complex(t, TINY)).imag / TINY

        if jit:
            slope = njit(slope)
        real: Any = getattr(function, "py_func", function)
        for t in (0.3, 1.7):  # a branch that drops the imaginary part, or a wrong continuation, is found out here
            h = COARSE
            check = sum(w * (real(t + (k + 1) * h) - real(t - (k + 1) * h)) for k, w in enumerate(WEIGHTS)) / h
            exact = slope(t)
            if not abs(exact - check) <= 1e-5 * (1.0 + abs(exact)):
                return None
        return slope
    except Exception:
        return None


def _differentiated(function: Any, rate: Any, acceleration: Any, jit: bool) -> Any:
    f = _prepare(function, jit)
    w1, w2, w3 = WEIGHTS
    s1, s2, s3 = SECOND
    first = _prepare(rate, jit) if rate is not None else slope_of(function, jit)
    if acceleration is not None:
        second = _prepare(acceleration, jit)

        def motion(t):  # type: ignore[no-untyped-def,no-redef]
            return float(f(t)), float(first(t)), float(second(t))

        return motion
    if first is None:

        def motion(t):  # type: ignore[no-untyped-def,no-redef]
            h = COARSE
            a1, a2, a3 = f(t + h), f(t + 2 * h), f(t + 3 * h)
            b1, b2, b3 = f(t - h), f(t - 2 * h), f(t - 3 * h)
            c = f(t)
            d = (w1 * (a1 - b1) + w2 * (a2 - b2) + w3 * (a3 - b3)) / h
            e = (s1 * (a1 + b1) + s2 * (a2 + b2) + s3 * (a3 + b3) - 49.0 / 18.0 * c) / (h * h)
            return float(c), float(d), float(e)

        return motion
    exact = None if rate is None else slope_of(rate, jit)
    if exact is not None:

        def motion(t):  # type: ignore[no-untyped-def,no-redef]
            return float(f(t)), float(first(t)), float(exact(t))

        return motion

    def motion(t):  # type: ignore[no-untyped-def,no-redef]
        h = FINE
        e = w1 * (first(t + h) - first(t - h)) + w2 * (first(t + 2 * h) - first(t - 2 * h))
        e += w3 * (first(t + 3 * h) - first(t - 3 * h))
        return float(f(t)), float(first(t)), float(e / h)

    return motion
