"""Operators and functions of arrays on dual numbers, and what stands for what (see ``dual_functions``)."""

from __future__ import annotations

import builtins
import math
import operator
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from .dual_functions import ATTRIBUTES as ATTRIBUTES
from .dual_functions import (
    OPERATORS,
    TABLE,
    C,
    elementwise,
    imaginary_of,
    is_array,
    is_complex,
    is_number,
    real_of,
)
from .dual_functions import replaced as replaced


def _power(x, y):  # type: ignore[no-untyped-def]
    raise NotImplementedError


@overload(_power)
def _choose_power(x, y):  # type: ignore[no-untyped-def]
    if not is_complex(x) and not is_complex(y):
        return lambda x, y: x**y
    if isinstance(x, C) and isinstance(y, types.Integer | types.Float):

        def real(x, y):  # type: ignore[no-untyped-def]
            a, b = x.real, x.imag
            return complex(a**y, y * a ** (y - 1) * b if b != 0.0 and y != 0 else 0.0)

        return real
    if is_number(x) and isinstance(y, C):

        def both(x, y):  # type: ignore[no-untyped-def]
            a, b, u, v, s = real_of(x), real_of(y), imaginary_of(x), imaginary_of(y), 0.0
            p = a**b
            if u != 0.0:
                s += b * a ** (b - 1.0) * u
            if v != 0.0:
                s += p * np.log(a) * v
            return complex(p, s)

        return both
    return elementwise(_power, x, y)


def _power_in_place(x, y):  # type: ignore[no-untyped-def]
    raise NotImplementedError


@overload(_power_in_place)
def _choose_power_in_place(x, y):  # type: ignore[no-untyped-def]
    if is_array(x) and is_complex(x) and is_number(y):

        def many(x, y):  # type: ignore[no-untyped-def]
            a = x.flat
            for i in range(x.size):
                a[i] = _power(a[i], y)
            return x

        return many
    return (lambda x, y: _power(x, y)) if not is_array(x) else None


OPERATORS[operator.pow], OPERATORS[operator.ipow] = _power, _power_in_place
TABLE[id(math.pow)] = TABLE[id(np.power)] = TABLE[id(builtins.pow)] = _power


def _divide(x, y):  # type: ignore[no-untyped-def]
    raise NotImplementedError


@overload(_divide)
def _choose_divide(x, y):  # type: ignore[no-untyped-def]
    if is_number(x) and isinstance(y, C):

        def by(x, y):  # type: ignore[no-untyped-def]
            q = real_of(x) / y.real
            return complex(q, (imaginary_of(x) - q * y.imag) / y.real)

        return by
    if isinstance(x, C) and is_number(y):
        return lambda x, y: complex(x.real / y, x.imag / y)
    return lambda x, y: x / y


def _divide_in_place(x, y):  # type: ignore[no-untyped-def]
    raise NotImplementedError


@overload(_divide_in_place)
def _choose_divide_in_place(x, y):  # type: ignore[no-untyped-def]
    if is_array(x):

        def many(x, y):  # type: ignore[no-untyped-def]
            x /= y
            return x

        return many
    return lambda x, y: _divide(x, y)


OPERATORS[operator.truediv], OPERATORS[operator.itruediv] = _divide, _divide_in_place
TABLE[id(np.divide)] = _divide


def _compare(op: Any) -> None:
    def stub(x, y):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    @overload(stub)
    def choose(x, y):  # type: ignore[no-untyped-def]
        if is_complex(x) and is_complex(y):
            return lambda x, y: op(x.real, y.real)
        if is_complex(x):
            return lambda x, y: op(x.real, y)
        return (lambda x, y: op(x, y.real)) if is_complex(y) else (lambda x, y: op(x, y))

    OPERATORS[op] = stub


for _operator in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
    _compare(_operator)


# --- arrays ---------------------------------------------------------------------------------------------------------


def _norm(x):  # type: ignore[no-untyped-def]
    raise NotImplementedError


@overload(_norm)
def _choose_norm(x):  # type: ignore[no-untyped-def]
    if not is_complex(x):
        return lambda x: np.linalg.norm(x)

    def norm(x):  # type: ignore[no-untyped-def]
        largest, square, change = 0.0, 0.0, 0.0
        for v in x.flat:
            largest = max(largest, abs(v.real))
        if largest == 0.0:
            return complex(0.0, 0.0)
        for v in x.flat:
            a = v.real / largest
            square += a * a
            change += a * v.imag
        root = math.sqrt(square)
        return complex(largest * root, change / root)

    return norm


TABLE[id(np.linalg.norm)] = _norm


def _is_float(dtype: Any) -> bool:
    return dtype is None or isinstance(dtype, types.NoneType | types.Omitted) or "float64" in str(dtype)


def _made(function: Any) -> None:
    """Arrays of floats are made complex, because dual numbers may be stored in them."""

    def stub(shape, dtype=None):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    @overload(stub)
    def choose(shape, dtype=None):  # type: ignore[no-untyped-def]
        if _is_float(dtype):
            return lambda shape, dtype=None: function(shape, np.complex128)
        return lambda shape, dtype=None: function(shape, dtype)

    TABLE[id(function)] = stub


for _maker in (np.zeros, np.ones, np.empty):
    _made(_maker)


def _product(op: Any, name: Any = None) -> None:
    """Products of a real and a complex matrix."""

    def stub(a, b):  # type: ignore[no-untyped-def]
        raise NotImplementedError

    @overload(stub)
    def choose(a, b):  # type: ignore[no-untyped-def]
        if is_array(a) and is_array(b) and is_complex(a) != is_complex(b):
            if is_complex(a):
                return lambda a, b: op(a, b.astype(np.complex128))
            return lambda a, b: op(a.astype(np.complex128), b)
        return lambda a, b: op(a, b)

    if name is None:
        OPERATORS[op] = stub
    else:
        TABLE[id(name)] = stub


_product(operator.matmul)
_product(np.dot, np.dot)


def _interp(x, xp, fp):  # type: ignore[no-untyped-def]
    raise NotImplementedError


@overload(_interp)
def _choose_interp(x, xp, fp):  # type: ignore[no-untyped-def]
    if not is_complex(x):
        return None if is_complex(xp) or is_complex(fp) else lambda x, xp, fp: np.interp(x, xp, fp)
    if is_array(x) or is_complex(xp) or is_complex(fp):
        return None

    def one(x, xp, fp):  # type: ignore[no-untyped-def]
        a, n = x.real, len(xp)
        if a < xp[0] or a > xp[n - 1]:
            return complex(np.interp(a, xp, fp), 0.0)
        i = min(max(np.searchsorted(xp, a, side="right") - 1, 0), n - 2)
        return complex(np.interp(a, xp, fp), (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i]) * x.imag)

    return one


TABLE[id(np.interp)] = _interp
