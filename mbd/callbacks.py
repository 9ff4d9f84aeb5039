"""Calling user functions from compiled code through their addresses.

A user function is compiled to a C callback whose address sits in a table of the system record, so that no user
function ever triggers a compilation of the toolkit. What numba cannot compile is called as plain Python through the
same slot (slower). Addresses are valid in one process only; they are never saved.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from .errors import ModelError
from .interrupts import CALLED_BY_COMPILED_CODE
from .kernel import JIT

TIME_SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.c_void_p)
VECTOR_SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)

if JIT:
    from .boundary import call_time, call_vector
else:

    def call_time(address: int, t: float, out: int) -> None:
        """Call void f(double t, double *out) at an address."""
        TIME_SIGNATURE(int(address))(float(t), int(out))

    def call_vector(address: int, x: int, out: int) -> None:
        """Call void f(double *x, double *out) at an address."""
        VECTOR_SIGNATURE(int(address))(int(x), int(out))


class Callback:
    """One user function with its address; keeps the compiled object alive and remembers what it raised."""

    def __init__(self, name: str, address: int, keep: Any, compiled: bool) -> None:
        self.name = name
        self.address = address
        self.keep = keep
        self.compiled = compiled
        self.error: BaseException | None = None


def time_callback(function: Callable[[float], Any], size: int, name: str) -> Callback:
    """Callback of a function of time returning ``size`` numbers (a scalar if size is 1)."""
    compiled = _compile_time(function, size) if JIT else None
    if compiled is not None:
        return Callback(name, compiled.address, compiled, True)
    if JIT:
        warnings.warn(
            f"the function of {name} cannot be compiled and is called as plain Python, which is slower", stacklevel=2
        )

    def call(t: float, out: int) -> None:
        target = (ctypes.c_double * size).from_address(out)
        try:
            target[:] = np.asarray(function(t), dtype=float).reshape(size).tolist()
        except BaseException as error:  # it cannot cross compiled code; the run stops on the NaN and re-raises it
            callback.error = callback.error or error
            target[:] = [float("nan")] * size

    CALLED_BY_COMPILED_CODE.add(call.__code__)
    pointer = TIME_SIGNATURE(call)
    callback = Callback(name, _address(pointer), pointer, False)
    return callback


_times: WeakKeyDictionary[Any, dict[int, Any]] = WeakKeyDictionary()


def _compile_time(function: Callable[[float], Any], size: int) -> Any:
    """The C function, or None; compiled once for each function."""
    try:
        known = _times.setdefault(function, {})
    except TypeError:
        known = {}
    if size not in known:
        known[size] = _compile_time_now(function, size)
    return known[size]


def _compile_time_now(function: Callable[[float], Any], size: int) -> Any:
    source = "def wrapper(t, out):\n    value = f(t)\n    target = carray(out, (size,))\n"
    # unrolled: a tuple of mixed types can only be indexed by constants
    lines = ["    target[0] = value\n"] if size == 1 else [f"    target[{i}] = value[{i}]\n" for i in range(size)]
    source += "".join(lines)
    from numba import carray, cfunc, njit, types

    from .compilation import InnerDispatcher  # noqa: F401  (functions may call kernels)

    try:
        inner = njit(function)
        sample = np.asarray(inner(0.0), dtype=float)
        if sample.size != size:
            return None
        space: dict[str, Any] = {"f": inner, "carray": carray, "size": size}
        exec(source, space)
        return cfunc(types.void(types.float64, types.CPointer(types.float64)))(space["wrapper"])
    except Exception:
        return None


def vector_callback(function: Callable[[Any], Any], n_in: int, n_out: int, name: str) -> Callback:
    """Callback of a function of n_in complex numbers returning n_out; complex so that it can be differentiated."""
    compiled = _compile_vector(function, n_in, n_out) if JIT else None
    if compiled is not None:
        return Callback(name, compiled.address, compiled, True)

    def call(x: int, out: int) -> None:
        source = np.ctypeslib.as_array((ctypes.c_double * (2 * n_in)).from_address(x)).view(complex)
        target = np.ctypeslib.as_array((ctypes.c_double * (2 * n_out)).from_address(out)).view(complex)
        try:
            target[:] = np.asarray(function(source.copy()), dtype=complex).reshape(n_out)
        except BaseException as error:
            callback.error = callback.error or error
            target[:] = np.nan

    CALLED_BY_COMPILED_CODE.add(call.__code__)
    pointer = VECTOR_SIGNATURE(call)
    callback = Callback(name, _address(pointer), pointer, False)
    check = np.asarray(function(np.zeros(n_in, dtype=complex) + 0.1), dtype=complex)
    if check.size != n_out:
        raise ModelError(f"{name} returns {check.size} numbers; expected {n_out}")
    return callback


def _compile_vector(function: Callable[[Any], Any], n_in: int, n_out: int) -> Any:
    from numba import carray, cfunc, njit, types

    from .compilation import InnerDispatcher  # noqa: F401  (functions may call kernels)

    source = "def wrapper(x, out):\n    value = f(carray(x, (n_in,)))\n    target = carray(out, (n_out,))\n    {copy}\n"
    try:
        inner = njit(function)
        probe = inner(np.full(n_in, 0.1, dtype=complex))
        if np.size(probe) != n_out:
            return None
        dims = np.ndim(probe)
        if dims == 0:
            copy = "target[0] = value"
        elif dims == 2:
            copy = "for i in range(n_in):\n        for j in range(n_in):\n"
            copy += "            target[i * n_in + j] = value[i][j]"
        else:
            copy = "for i in range(n_out):\n        target[i] = value[i]"
        space: dict[str, Any] = {"f": inner, "carray": carray, "n_in": n_in, "n_out": n_out}
        exec(source.format(copy=copy), space)
        pointer = types.CPointer(types.complex128)
        return cfunc(types.void(pointer, pointer))(space["wrapper"])
    except Exception:
        return None


def _address(pointer: Any) -> int:
    value = ctypes.cast(pointer, ctypes.c_void_p).value
    assert value is not None
    return value
