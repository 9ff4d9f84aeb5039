"""User functions of frames: what they look at, and their callbacks (``mbd.compiled.functions.callbacks``).

The arguments arrive as one vector (t, frames, velocities). A function is compiled if possible, together with its
complex twin, by which it is differentiated; otherwise the toolkit takes differences.
"""

from __future__ import annotations

import dis
import inspect
import sys
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiled.functions.call_styles import Call, Style
from ..compiled.functions.captured import captured_values, names_in
from ..errors import Array, ModelError
from .frame_kinds import USES_TURNS, USES_VELOCITIES

if TYPE_CHECKING:
    from ..compiled.functions.callbacks import Callback

CHOOSING = frozenset(
    [
        "int",
        "round",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "argmin",
        "argmax",
        "argsort",
        "searchsorted",
        "nonzero",
        "index",
        "sign",
        "bool",
        "any",
        "all",
    ]
)
"""Functions whose results may serve as indices."""
SHAPES = (np.zeros_like, np.empty_like, np.ones_like, np.shape, np.size, np.ndim)  # they do not look at entries


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
    return Call(style, count, 1)((function,), x)


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
    if not isinstance(plain, FunctionType) or not _reads_the_same_entries(plain):
        return None
    code = plain.__code__
    frames = _Watched(probe[1 : 1 + 12 * count].reshape(count, 12), code)
    velocities = _Watched(probe[1 + 12 * count :].reshape(count, 6), code)
    arguments = {"force": (float(probe[0]), frames, velocities), "potential": (frames,)}
    try:
        with np.errstate(all="ignore"):
            result = plain(*arguments.get(style, (frames, float(probe[0]))))
            np.asarray(result, dtype=float)  # what it hands back is read as well: a row of frames, or all velocities
    except Exception:
        return None
    return frames.read, velocities.read


def _reads_the_same_entries(function: FunctionType) -> bool:
    """Whether there are no conditions, and no value that may change later can be an index."""
    if getattr(function.__code__, "co_exceptiontable", b""):  # what follows an exception is a condition as well
        return False
    for step in dis.get_instructions(function.__code__):
        if ("JUMP" in step.opname and "_IF_" in step.opname) or step.opname in ("COMPARE_OP", "UNARY_NOT"):
            return False
    if names_in(function.__code__) & CHOOSING:
        return False
    known = captured_values(function)
    allowed = (float, np.float64, str)  # texts are names of what is called
    return known is not None and all(
        isinstance(value, allowed) or (isinstance(value, np.ndarray) and value.dtype.kind == "f") for _, value in known
    )


def uses_of(function: Any, count: int, probe: Array) -> int:
    """What a user force looks at, as bits of ``mbd.elements.frame_kinds``; everything where that is not certain.

    Velocities are unused if the function never mentions their argument. Axes and angular velocities are unused if a
    function without conditions reads none of them; what this decides is the matrix of Newton's method, not the force.
    """
    code = getattr(getattr(function, "py_func", function), "__code__", None)
    various = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    if code is None or code.co_argcount != 3 or code.co_flags & various:
        return USES_VELOCITIES | USES_TURNS
    mentioned = any(step.argval == code.co_varnames[2] for step in dis.get_instructions(code))
    read = _entries_read(function, "force", count, probe)
    turns = read is None or read[0][:, 3:].any() or read[1][:, 3:].any()
    return (USES_VELOCITIES if mentioned else 0) | (USES_TURNS if turns else 0)


def used_entries(function: Any, style: Style, count: int, probe: Array) -> list[int]:
    """Entries of the frames on which a potential or constraint depends; all where that is not certain."""
    read = _entries_read(function, style, count, probe)
    return list(range(12 * count)) if read is None else np.flatnonzero(read[0]).tolist()


def frame_callbacks(
    function: Callable[..., Any], style: Style, count: int, size: int, probe: Array, name: str
) -> tuple[Callback, Callback | None]:
    """Callbacks (real, complex or None) of a function that returns ``size`` numbers; ``probe`` is a valid input.

    Without a compiled twin the kernels take differences themselves.
    """
    from ..compiled.functions.callbacks import make_callback, twin_of  # here, because only runs need it

    value = check_result(function, style, count, size, probe, name)
    call = Call(style, count, size, np.shape(value), isinstance(value, np.ndarray))
    plain = make_callback(function, call, name)
    twin = twin_of(plain) if plain.compiled else None
    return plain, twin if twin is not None and twin.compiled else None


def law_callback(function: Callable[..., Any], style: Style, probe: tuple[float, ...], name: str) -> Callback:
    """Callback of a function of a coordinate and its rate; ``probe`` are valid arguments."""
    from ..compiled.functions.callbacks import make_callback

    value = check_result(function, style, 1, 1, np.array(probe), name)
    return make_callback(function, Call(style, 1, 1, np.shape(value), isinstance(value, np.ndarray)), name)


def required_arguments(function: Callable[..., Any]) -> int | None:
    """Number of arguments that a function must be given; None where it does not say."""
    try:
        parameters = inspect.signature(getattr(function, "py_func", function)).parameters.values()
    except (TypeError, ValueError):
        return None
    return sum(p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


def check_result(function: Callable[..., Any], style: Style, count: int, size: int, probe: Array, name: str) -> Any:
    """What the function returns at the probe; refuse a wrong one."""
    try:
        result = call_function(function, style, count, probe.copy())
        value = np.asarray(result, dtype=float)
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
    return result
