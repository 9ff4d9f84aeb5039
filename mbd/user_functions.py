"""User functions of frames, compiled to C callbacks, with a complex twin by which they are differentiated.

The arguments arrive as one vector (t, frames, velocities). The complex twin exists where the function accepts complex
numbers and gives the same derivative as differences do; otherwise the toolkit takes differences.
"""

from __future__ import annotations

import ctypes
import dis
import inspect
import sys
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from .errors import Array, ModelError
from .general_kinds import USES_TURNS, USES_VELOCITIES
from .interrupts import CALLED_BY_COMPILED_CODE
from .motion import complex_variant
from .settings import JIT

if TYPE_CHECKING:
    from .callbacks import Callback

Style = Literal["force", "potential", "constraint", "law"]
CALLS = {
    "force": "f(x[0].real, frames, velocities)",
    "potential": "f(frames)",
    "constraint": "f(frames, x[0])",
    "law": "f(x[0], x[1])",
}
SHAPES = (np.zeros_like, np.empty_like, np.ones_like, np.shape, np.size, np.ndim)  # they do not look at entries
AGREEMENT = 1e-5  # of the complex step with differences


def input_size(style: Style, count: int) -> int:
    """Length of the vector of arguments."""
    return 2 if style == "law" else 1 + 18 * count


def initial_input(bodies: Any) -> Array:
    """(t, frames, velocities) of bodies in the initial configuration, as user functions receive them."""
    frames, velocities = [], []
    for body in bodies:
        rotation = np.asarray(getattr(body, "rotation", np.eye(3)))
        velocity = np.asarray(getattr(body, "velocity", np.zeros(3)))
        spin = rotation @ np.asarray(getattr(body, "angular_velocity", np.zeros(3)))
        frames.append(np.concatenate((np.asarray(body.position), rotation.T.ravel())))
        velocities.append(np.concatenate((velocity, spin)))
    return np.concatenate((np.zeros(1), *frames, *velocities))


def call_function(function: Callable[..., Any], style: Style, count: int, x: Array) -> Any:
    """The user function at a vector of arguments, as plain Python."""
    if style == "law":
        return function(x[0], x[1])
    frames, velocities = x[1 : 1 + 12 * count].reshape(count, 12), x[1 + 12 * count :].reshape(count, 6)
    if style == "force":
        return function(float(x[0].real), frames, velocities)
    return function(frames) if style == "potential" else function(frames, x[0])


class _Watched:
    """An array that remembers which of its entries a function reads; outside the function's own code: all of them."""

    def __init__(self, values: Array, code: Any) -> None:
        self.values, self.code, self.read = values, code, np.zeros(values.shape, dtype=bool)

    def __getitem__(self, key: Any) -> Any:
        self.read[key if sys._getframe(1).f_code is self.code else ...] = True
        return self.values[key]

    def __array_function__(self, function: Any, _: Any, arguments: Any, options: Any) -> Any:
        if function not in SHAPES:
            self.read[...] = True
        return function(*(x.values if isinstance(x, _Watched) else x for x in arguments), **options)

    def __getattr__(self, name: str) -> Any:
        if name not in ("shape", "dtype", "ndim", "size"):
            self.read[...] = True
        return getattr(self.values, name)

    def __array__(self, *_: Any, **__: Any) -> Array:
        self.read[...] = True
        return self.values

    def __len__(self) -> int:
        return len(self.values)


def _entries_read(function: Any, style: Style, count: int, probe: Array) -> tuple[Array, Array] | None:
    """Which entries of frames and velocities a function without conditions reads; None where that is not certain."""
    plain = getattr(function, "py_func", function)
    if not isinstance(plain, FunctionType) or hasattr(function, "compilable"):
        return None
    code = plain.__code__
    if any("JUMP" in step.opname and "_IF_" in step.opname for step in dis.get_instructions(code)):
        return None
    frames = _Watched(probe[1 : 1 + 12 * count].reshape(count, 12), code)
    velocities = _Watched(probe[1 + 12 * count :].reshape(count, 6), code)
    arguments = {"force": (float(probe[0]), frames, velocities), "potential": (frames,)}
    try:
        with np.errstate(all="ignore"):
            plain(*arguments.get(style, (frames, float(probe[0]))))
    except Exception:
        return None
    return frames.read, velocities.read


def uses_of(function: Any, count: int, probe: Array) -> int:
    """What a user force looks at, as bits of ``mbd.general_kinds``; everything where that is not certain.

    Velocities are unused if the function never mentions their argument. Axes and angular velocities are unused if a
    function without conditions reads none of them; what this decides is the matrix of Newton's method, not the force.
    """
    code = getattr(getattr(function, "py_func", function), "__code__", None)
    various = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    if code is None or hasattr(function, "compilable") or code.co_argcount != 3 or code.co_flags & various:
        return USES_VELOCITIES | USES_TURNS
    mentioned = any(step.argval == code.co_varnames[2] for step in dis.get_instructions(code))
    read = _entries_read(function, "force", count, probe)
    turns = read is None or read[0][:, 3:].any() or read[1][:, 3:].any()
    return (USES_VELOCITIES if mentioned else 0) | (USES_TURNS if turns else 0)


def used_entries(function: Any, style: Style, count: int, probe: Array) -> list[int]:
    """Entries of the frames on which a potential or constraint depends; all where that is not certain.

    Functions that accept complex numbers cannot choose an index by their values, so that a reading without conditions
    holds for all configurations.
    """
    read = _entries_read(function, style, count, probe)
    return list(range(12 * count)) if read is None else np.flatnonzero(read[0]).tolist()


def frame_callbacks(
    function: Callable[..., Any], style: Style, count: int, size: int, probe: Array, name: str
) -> tuple[Callback, Callback | None]:
    """Callbacks (real, complex or None) of a function that returns ``size`` numbers; ``probe`` is a valid input."""
    shape = check_result(function, style, count, size, probe, name)
    plain = _callback(function, style, count, size, shape, name, False)
    if JIT and not plain.compiled and type(function).__name__ != "MissingFunction":
        warnings.warn(
            f"the function of {name} cannot be compiled and is called as plain Python, which is slower", stacklevel=2
        )
    twin = _twins.get(function) if _weak(function) else None
    if twin is None:
        twin = complex_variant(function)
        if twin is not function and _weak(function):
            _twins[function] = twin
    if not _complex_agrees(function, twin, style, count, size, probe):
        return plain, None
    complex_twin = _callback(twin, style, count, size, shape, name, True)
    return plain, complex_twin if complex_twin.compiled or not plain.compiled else None


_twins: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def _weak(function: Any) -> bool:
    return isinstance(function, FunctionType)


def check_result(
    function: Callable[..., Any], style: Style, count: int, size: int, probe: Array, name: str
) -> tuple[int, ...]:
    """Shape of what the function returns at the probe; refuse a wrong one."""
    try:
        value = np.asarray(call_function(function, style, count, probe.copy()), dtype=float)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(
            f"{name}: its function failed in the initial configuration with {type(error).__name__}: {error}"
        ) from error
    if value.size != size or not np.isfinite(value).all():
        raise ModelError(
            f"{name}: its function returned {np.array2string(value, threshold=12)} in the initial configuration; "
            f"expected {size} finite number{'s' if size > 1 else ''}"
            + (f", shape ({count}, 6)" if style == "force" else "")
        )
    return value.shape


def _complex_agrees(
    function: Callable[..., Any], twin: Callable[..., Any], style: Style, count: int, size: int, probe: Array
) -> bool:
    """Whether the derivative by the complex step is that by differences, along a random direction."""
    direction = np.random.default_rng(0).normal(size=probe.size)
    if style != "constraint":
        direction[0] = 0.0 if style != "law" else direction[0]

    def at(s: float) -> Array:
        return np.asarray(call_function(function, style, count, probe + s * direction), dtype=float).ravel()

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # numpy only warns when an imaginary part is dropped
            value = np.asarray(call_function(twin, style, count, probe + 1e-30j * direction), dtype=complex)
        exact = value.ravel().imag / 1e-30
        h = 1e-4
        check = (8.0 * (at(h) - at(-h)) - at(2 * h) + at(-2 * h)) / (12.0 * h)
        return bool(np.abs(exact - check).max() <= AGREEMENT * (1.0 + np.abs(check).max()))
    except Exception:
        return False


def _callback(
    function: Any, style: Style, count: int, size: int, shape: tuple[int, ...], name: str, is_complex: bool
) -> Callback:
    from .callbacks import VECTOR_SIGNATURE, Callback, _address  # here, because only runs need it

    compiled = _compile(function, style, count, size, shape, is_complex) if JIT else None
    if compiled is not None:
        return Callback(name, compiled.address, compiled, True)
    n, dtype = input_size(style, count), complex if is_complex else float
    width = 2 if is_complex else 1

    def call(x: int, out: int) -> None:
        source = np.ctypeslib.as_array((ctypes.c_double * (width * n)).from_address(x)).view(dtype)
        target = np.ctypeslib.as_array((ctypes.c_double * (width * size)).from_address(out)).view(dtype)
        try:
            target[:] = np.asarray(call_function(function, style, count, source.copy()), dtype=dtype).reshape(size)
        except BaseException as error:  # it cannot cross compiled code; the run stops on the NaN and re-raises it
            callback.error = callback.error or error
            target[:] = np.nan

    CALLED_BY_COMPILED_CODE.add(call.__code__)
    pointer = VECTOR_SIGNATURE(call)
    callback = Callback(name, _address(pointer), pointer, False)
    return callback


_compiled: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()


def _compile(function: Any, style: Style, count: int, size: int, shape: tuple[int, ...], is_complex: bool) -> Any:
    """The C function, or None; compiled once for each function."""
    key = style, count, size, shape, is_complex
    try:
        known = _compiled.setdefault(function, {})
    except TypeError:
        known = {}
    if key not in known:
        known[key] = _compile_now(function, style, count, size, shape, is_complex)
    return known[key]


def _compile_now(function: Any, style: Style, count: int, size: int, shape: tuple[int, ...], is_complex: bool) -> Any:
    from numba import carray, cfunc, njit, types

    from .compilation import InnerDispatcher  # noqa: F401  (functions may call kernels)
    from .intrinsics import advanced

    lines = ["def wrapper(pointer, out):", "    x = carray(pointer, (n,))", "    target = carray(out, (size,))"]
    if style != "law":
        # from the pointer: a reshape would cost more than many a force
        lines.append("    frames = carray(advanced(pointer, 1), (count, 12))")
    if style == "force":
        lines.append("    velocities = carray(advanced(pointer, 1 + 12 * count), (count, 6))")
    lines.append("    for i in range(size):\n        target[i] = nan")  # left there by an exception
    lines.append(f"    value = {CALLS[style]}")
    # unrolled: a tuple of mixed types can only be indexed by constants
    for i, index in enumerate(np.ndindex(shape)):
        lines.append(f"    target[{i}] = value" + "".join(f"[{k}]" for k in index))
    space: dict[str, Any] = {"carray": carray, "n": input_size(style, count), "size": size, "count": count}
    space["nan"], space["advanced"] = np.nan, advanced
    try:
        compilable = getattr(function, "compilable", None)
        space["f"] = njit(getattr(function, "py_func", function) if compilable is None else compilable())
        exec("\n".join(lines), space)
        pointer = types.CPointer(types.complex128 if is_complex else types.float64)
        return cfunc(types.void(pointer, pointer))(space["wrapper"])
    except Exception:
        return None
