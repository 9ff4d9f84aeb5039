"""a + i b with a tiny b as a dual number: f(a) + i b f'(a), in real arithmetic.

Complex functions are no substitute for derivatives of real ones: abs, sign and norm mean something else, tanh
overflows, powers lose a small angle beside pi, comparisons do not exist. Here every function that a differentiated
user function may call has its derivative; sums and products of complex numbers are right as they are (b d ~ 1e-60).
What is neither here nor among the functions that are linear or analytic is refused, and differences are taken instead.
At a kink the derivative is that of one side.
"""

from __future__ import annotations

import builtins
import cmath
import math
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

OPERATORS: dict[Any, Any] = {}
TABLE: dict[int, Any] = {}  # by id: functions of numpy, math and Python -> functions of dual numbers

LINEAR = (
    range, len, enumerate, zip, tuple, list, sum, print, reversed,
    np.zeros_like, np.empty_like, np.ones_like, np.sum, np.mean, np.prod, np.cumsum, np.diff, np.trace, np.outer,
    np.cross, np.kron, np.where, np.copy, np.reshape, np.ravel, np.transpose, np.concatenate, np.hstack, np.vstack,
    np.column_stack, np.stack, np.append, np.roll, np.flip, np.diag, np.asarray, np.ascontiguousarray, np.array,
    np.eye, np.identity, np.arange, np.linspace, np.isnan, np.isfinite, np.isinf, np.any, np.all, np.size, np.ndim,
    np.shape, np.square, np.multiply, np.add, np.subtract, np.negative, np.linalg.solve, np.linalg.inv, np.linalg.det,
    np.max, np.min, np.amax, np.amin, np.argmax, np.argmin, np.searchsorted, np.full, np.atleast_1d, np.atleast_2d,
    np.expand_dims, np.delete, np.sort, math.isnan, math.isfinite, math.isinf, slice, np.int64, np.int32, np.bool_,
    ValueError, RuntimeError, ArithmeticError, ZeroDivisionError, OverflowError, IndexError, Exception, AssertionError,
)  # fmt: skip
"""Functions that do the right thing with complex numbers: linear, analytic, or indifferent to small imaginary parts."""
_LINEAR = {id(function) for function in LINEAR}

ATTRIBUTES = frozenset((
    "T", "shape", "size", "ndim", "dtype", "sum", "dot", "copy", "reshape", "ravel", "flatten", "flat", "fill",
    "transpose", "mean", "prod", "cumsum", "append", "pop",
))  # fmt: skip
"""Attributes of arrays and lists of which the same is true."""

C = types.Complex


def replaced(value: Any, refusal: type[Exception]) -> Any:
    """What stands for a function of numpy, math or Python on dual numbers."""
    if id(value) in TABLE:
        return TABLE[id(value)]
    if isinstance(value, ModuleType) and value is not cmath:
        return value
    if (callable(value) and id(value) not in _LINEAR) or value is cmath:
        raise refusal(f"{getattr(value, '__name__', value)} is not differentiated exactly")
    return value


def is_number(kind: Any) -> bool:
    return isinstance(kind, types.Number | types.Boolean)


def is_array(kind: Any) -> bool:
    return isinstance(kind, types.Array)


def is_complex(kind: Any) -> bool:
    return isinstance(kind, C) or (is_array(kind) and isinstance(kind.dtype, C))


@register_jitable
def real_of(x):  # type: ignore[no-untyped-def]
    return x.real


@register_jitable
def imaginary_of(x):  # type: ignore[no-untyped-def]
    return x.imag


# --- functions of one number ----------------------------------------------------------------------------------------


def _unary(names: list[Any], value: Callable, slope: Callable, real: Callable | None = None) -> None:
    """Make a function of one number or array; ``real`` is what is called for real arguments, by default ``value``."""
    f, df = register_jitable(value), register_jitable(slope)
    g = f if real is None else register_jitable(real)

    def stub(x):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    @overload(stub)
    def choose(x):  # type: ignore[no-untyped-def]
        if isinstance(x, C):

            def one(x):  # type: ignore[no-untyped-def]
                b = x.imag
                return complex(f(x.real), df(x.real) * b if b != 0.0 else 0.0)

            return one
        if is_array(x) and isinstance(x.dtype, C):

            def many(x):  # type: ignore[no-untyped-def]
                y = np.empty(x.shape, np.complex128)
                a, out = x.flat, y.reshape(-1)
                for i in range(x.size):
                    out[i] = stub(a[i])
                return y

            return many
        if is_array(x):

            def many_real(x):  # type: ignore[no-untyped-def]
                y = np.empty(x.shape)
                a, out = x.flat, y.reshape(-1)
                for i in range(x.size):
                    out[i] = f(float(a[i]))
                return y

            return many_real
        return (lambda x: g(x)) if is_number(x) else None

    for name in names:
        TABLE[id(name)] = stub


def _both(name: str) -> list[Any]:
    return [getattr(module, name) for module in (np, math) if hasattr(module, name)]


def _sech2(x):  # type: ignore[no-untyped-def]
    c = np.cosh(x)
    return 1.0 / (c * c)


_unary(_both("sin"), lambda x: math.sin(x), lambda x: math.cos(x))
_unary(_both("cos"), lambda x: math.cos(x), lambda x: -math.sin(x))
_unary(_both("tan"), lambda x: math.tan(x), lambda x: 1.0 + math.tan(x) ** 2)
_unary(_both("exp"), lambda x: math.exp(x), lambda x: math.exp(x))
_unary([np.exp2], lambda x: np.exp2(x), lambda x: 0.6931471805599453 * np.exp2(x))
_unary(_both("expm1"), lambda x: math.expm1(x), lambda x: math.exp(x))
_unary(_both("log"), lambda x: np.log(x), lambda x: 1.0 / x)
_unary(_both("log2"), lambda x: np.log2(x), lambda x: 1.4426950408889634 / x)
_unary(_both("log1p"), lambda x: np.log1p(x), lambda x: 1.0 / (1.0 + x))
_unary(_both("log10"), lambda x: np.log10(x), lambda x: 0.4342944819032518 / x)
_unary(_both("sqrt"), lambda x: np.sqrt(x), lambda x: 0.5 / np.sqrt(x))
_unary([np.cbrt], lambda x: np.cbrt(x), lambda x: 1.0 / (3.0 * np.cbrt(x) ** 2))
_unary([np.reciprocal], lambda x: 1.0 / x, lambda x: -1.0 / (x * x))
_unary(_both("sinh"), lambda x: np.sinh(x), lambda x: np.cosh(x))
_unary(_both("cosh"), lambda x: np.cosh(x), lambda x: np.sinh(x))
_unary(_both("tanh"), lambda x: math.tanh(x), _sech2)
_unary([np.arctan, math.atan], lambda x: math.atan(x), lambda x: 1.0 / (1.0 + x * x))
_unary([np.arcsin, math.asin], lambda x: np.arcsin(x), lambda x: 1.0 / np.sqrt((1.0 - x) * (1.0 + x)))
_unary([np.arccos, math.acos], lambda x: np.arccos(x), lambda x: -1.0 / np.sqrt((1.0 - x) * (1.0 + x)))
_unary([np.arcsinh, math.asinh], lambda x: np.arcsinh(x), lambda x: 1.0 / math.hypot(1.0, x))
_unary([np.arccosh, math.acosh], lambda x: np.arccosh(x), lambda x: 1.0 / (np.sqrt(x - 1.0) * np.sqrt(x + 1.0)))
_unary([np.arctanh, math.atanh], lambda x: np.arctanh(x), lambda x: 1.0 / ((1.0 - x) * (1.0 + x)))
_unary(
    [np.abs, np.fabs, math.fabs, builtins.abs],
    lambda x: math.fabs(x), lambda x: 1.0 if x >= 0.0 else -1.0, lambda x: abs(x),
)  # fmt: skip
_unary([np.sign], lambda x: np.sign(x), lambda x: 0.0)
_unary([np.floor], lambda x: np.floor(x), lambda x: 0.0)
_unary([np.ceil], lambda x: np.ceil(x), lambda x: 0.0)
_unary([np.radians, np.deg2rad, math.radians], lambda x: math.radians(x), lambda x: 0.017453292519943295)
_unary([np.degrees, np.rad2deg, math.degrees], lambda x: math.degrees(x), lambda x: 57.29577951308232)
_unary([math.erf], lambda x: math.erf(x), lambda x: 1.1283791670955126 * math.exp(-x * x))
_unary([math.erfc], lambda x: math.erfc(x), lambda x: -1.1283791670955126 * math.exp(-x * x))


def _to_real(function: Any, names: list[Any]) -> None:
    """Functions whose result is a whole number or a truth value, which does not change with small imaginary parts."""

    def stub(x):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    @overload(stub)
    def choose(x):  # type: ignore[no-untyped-def]
        return (lambda x: function(x.real)) if isinstance(x, C) else (lambda x: function(x))

    for name in names:
        TABLE[id(name)] = stub
    if function is operator.not_:
        OPERATORS[operator.not_] = stub


for _function in (int, bool, math.floor, math.ceil, operator.not_):
    _to_real(_function, [_function])


def _float(x):  # type: ignore[no-untyped-def]
    raise NotImplementedError


@overload(_float)
def _choose_float(x):  # type: ignore[no-untyped-def]
    return (lambda x: x) if isinstance(x, C) else (lambda x: float(x))


TABLE[id(float)] = TABLE[id(np.float64)] = _float


# --- functions of two numbers ---------------------------------------------------------------------------------------


def elementwise(stub: Any, x: Any, y: Any) -> Any:
    """A function of two numbers, for an array and a number."""
    if is_array(x) and is_number(y):

        def first(x, y):  # type: ignore[no-untyped-def]
            z = np.empty(x.shape, np.complex128)
            a, out = x.flat, z.reshape(-1)
            for i in range(x.size):
                out[i] = stub(a[i], y)
            return z

        return first
    if is_number(x) and is_array(y):

        def second(x, y):  # type: ignore[no-untyped-def]
            z = np.empty(y.shape, np.complex128)
            b, out = y.flat, z.reshape(-1)
            for i in range(y.size):
                out[i] = stub(x, b[i])
            return z

        return second
    return None


def _binary(names: list[Any], real: Callable, value: Callable, slope_x: Callable, slope_y: Callable) -> None:
    """Make a function of two numbers, or of an array and a number; ``real`` is what is called for real arguments."""
    f, fx, fy = register_jitable(value), register_jitable(slope_x), register_jitable(slope_y)
    g = register_jitable(real)

    def stub(x, y):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    @overload(stub)
    def choose(x, y):  # type: ignore[no-untyped-def]
        if not is_complex(x) and not is_complex(y):
            return lambda x, y: g(x, y)
        if is_number(x) and is_number(y):

            def two(x, y):  # type: ignore[no-untyped-def]
                a, b, u, v, s = real_of(x), real_of(y), imaginary_of(x), imaginary_of(y), 0.0
                if u != 0.0:
                    s += fx(a, b) * u
                if v != 0.0:
                    s += fy(a, b) * v
                return complex(f(a, b), s)

            return two
        return elementwise(stub, x, y)

    for name in names:
        TABLE[id(name)] = stub


@register_jitable
def _hypot_slope(a, b):  # type: ignore[no-untyped-def]
    h = math.hypot(a, b)
    return a / h if h > 0.0 else 0.0


def _atan_slope_y(y, x):  # type: ignore[no-untyped-def]
    h = math.hypot(x, y)
    return (x / h) / h


def _atan_slope_x(y, x):  # type: ignore[no-untyped-def]
    h = math.hypot(x, y)
    return -(y / h) / h


_binary(
    [np.hypot, math.hypot], lambda a, b: np.hypot(a, b), lambda a, b: math.hypot(a, b),
    lambda a, b: _hypot_slope(a, b), lambda a, b: _hypot_slope(b, a),
)  # fmt: skip
_binary(
    [np.arctan2, math.atan2], lambda y, x: np.arctan2(y, x), lambda y, x: math.atan2(y, x), _atan_slope_y,
    _atan_slope_x,
)  # fmt: skip
_binary(
    [np.copysign, math.copysign], lambda a, b: np.copysign(a, b), lambda a, b: math.copysign(a, b),
    lambda a, b: math.copysign(1.0, a) * math.copysign(1.0, b), lambda a, b: 0.0,
)  # fmt: skip
_binary(
    [np.fmod, math.fmod], lambda a, b: np.fmod(a, b), lambda a, b: math.fmod(a, b),
    lambda a, b: 1.0, lambda a, b: -np.trunc(a / b),
)  # fmt: skip


def _extremum(names: list[Any], native: Any, builtin: Any, better: Callable) -> None:
    """max and min; of arrays as numpy compares complex numbers, by their real parts first."""
    pick = register_jitable(better)

    def stub(x, y):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    @overload(stub)
    def choose(x, y):  # type: ignore[no-untyped-def]
        if is_number(x) and is_number(y):
            if not (isinstance(x, C) or isinstance(y, C)):
                return lambda x, y: native(x, y)

            def two(x, y):  # type: ignore[no-untyped-def]
                if math.isnan(x.real) or math.isnan(y.real):
                    return complex(np.nan, 0.0)
                return complex(x) if pick(x.real, y.real) else complex(y)

            return two
        return lambda x, y: native(x, y)

    def several(*values):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    @overload(several)
    def choose_several(*values):  # type: ignore[no-untyped-def]
        kinds = values[0] if len(values) == 1 and isinstance(values[0], types.BaseTuple) else values
        if not all(is_number(kind) for kind in kinds):
            return None
        if not any(isinstance(kind, C) for kind in kinds):
            return (lambda *values: builtin(*values)) if len(kinds) > 1 else None
        if len(kinds) == 2:
            return lambda *values: stub(values[0], values[1])
        if len(kinds) == 3:
            return lambda *values: stub(stub(values[0], values[1]), values[2])
        return None

    for name in names:
        TABLE[id(name)] = stub
    TABLE[id(builtin)] = several


_extremum([np.maximum, np.fmax], np.maximum, max, lambda a, b: a >= b)
_extremum([np.minimum, np.fmin], np.minimum, min, lambda a, b: a <= b)
