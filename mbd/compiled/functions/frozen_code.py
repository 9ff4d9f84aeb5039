"""User functions through numba's public interface alone, which makes constants of the values that they refer to.

Code is therefore made anew when one of the values has changed, and never used when they are not known. It serves where
``lifting`` does not fit the version of numba, and ``MBD_COMPILER=numba`` asks for it.
"""

from __future__ import annotations

from types import CellType, FunctionType
from typing import Any

import numpy as np

from .call_styles import CALLS, Call, motion_parts
from .captured import argument_names, captured_values, unwrapped
from .code import STATISTICS, CannotCompile, reason_of
from .data_block import HEAD, RAISED, STATUS

KEPT = 64  # versions of a function that are remembered


class FrozenCode:
    """Functions compiled with the present values of what they refer to."""

    def __init__(self, functions: tuple[Any, ...], call: Call) -> None:
        self.functions, self.call = functions, call
        self.block = np.zeros(HEAD + call.n_in, dtype=np.int64)
        self.arguments = self.block[HEAD:].view(float)  # at the first error
        self.snapshot = self.values = _snapshot(functions)
        key = self.snapshot, call
        if key not in _made:
            while len(_made) >= KEPT:
                _made.pop(next(iter(_made)))
            _made[key] = _compile(functions, call)
        self.compiled = _made[key]
        self.address = self.compiled.address

    def write(self) -> bool:
        """Whether the values are still those of the code."""
        return _snapshot(self.functions) == self.snapshot

    def signature(self) -> list[bytes]:
        """The values of the code, to be compared with those of another time."""
        return [self.snapshot.encode()]

    def restore(self, values: Any) -> bool:
        """Whether these are the values of the code, which cannot take over others."""
        return bool(values == self.snapshot)


_made: dict[Any, Any] = {}


def _snapshot(functions: tuple[Any, ...]) -> str:
    """All that functions depend on, by value."""
    parts = []
    for function in functions:
        found = captured_values(function) if function is not None else []
        if found is None:
            raise CannotCompile("what it refers to cannot be told")
        for path, value in found:
            if isinstance(value, np.ndarray):
                value = (value.dtype.str, value.shape, value.tobytes())
            parts.append(f"{path} {type(value).__name__} {value!r}")
    return "\n".join(parts)


def _compile(functions: tuple[Any, ...], call: Call) -> Any:
    from numba import carray, cfunc, njit, types

    if call.style == "motion":
        parts, lines = motion_parts(functions[1], functions[2], False)
    else:
        parts, lines = [(0, False)], call.lines(CALLS[call.style])
    frames, k = 1 + 12 * call.count, call.count
    words = {
        "view_x(pointer)": "carray(pointer, (n_in,)).copy()",
        "view_target(out)": "carray(out, (size,))",
        "view_frames(advanced(pointer, 1))": f"x[1:{frames}].reshape(({k}, 12))",
        f"view_velocities(advanced(pointer, {frames}))": f"x[{frames}:].reshape(({k}, 6))",
        "(b0, ": "(", "(b1, ": "(", "(b2, ": "(",
    }  # fmt: skip
    text = "\n".join(["def evaluate(pointer, out):", *(f"    {line}" for line in lines)])
    for lifted, public in words.items():
        text = text.replace(lifted, public)
    space: dict[str, Any] = {"carray": carray, "nan": np.nan, "int64": np.int64, "n_in": call.n_in, "size": call.size}
    space["empty"] = np.empty
    try:
        for i, (number, _) in enumerate(parts):
            space[f"f{i}"] = _compiled(functions[number], ())
        exec(text, space)
        space["evaluate"] = njit(error_model="numpy")(space["evaluate"])
        exec(_OUTER, space)
        pointer = types.CPointer(types.float64)
        compiled = cfunc(types.void(pointer, pointer, types.CPointer(types.int64)))(space["outer"])
    except CannotCompile:
        raise
    except Exception as error:
        raise CannotCompile(reason_of(error)) from error
    STATISTICS["compiled"] += 1
    return compiled


def _compiled(function: Any, inside: tuple[Any, ...]) -> Any:
    """The function for numba, which does not take plain Python functions among the values that one refers to."""
    from numba import njit

    inner, bound = unwrapped(function)
    if any(not isinstance(value, (int, float, np.ndarray, FunctionType)) for value in bound.values()):
        raise CannotCompile("it is a method or an object, whose values numba does not see")
    if inner.__code__ in inside:
        raise CannotCompile("it calls itself")

    def value_of(value: Any) -> Any:
        return _compiled(value, (*inside, inner.__code__)) if isinstance(value, FunctionType) else value

    used = {name: value_of(inner.__globals__[name]) for name in inner.__code__.co_names if name in inner.__globals__}
    cells = tuple(CellType(value_of(cell.cell_contents)) for cell in inner.__closure__ or ())
    made = FunctionType(inner.__code__, {**inner.__globals__, **used}, inner.__name__, inner.__defaults__, cells)
    made.__kwdefaults__ = inner.__kwdefaults__
    compiled = njit(boundscheck=True, error_model="numpy")(made)
    if not bound:
        return compiled
    names = argument_names(inner)
    free = ", ".join(name for name in names if name not in bound)
    given = ", ".join(f"bound_{name}" if name in bound else name for name in names)
    space: dict[str, Any] = {"inner": compiled, **{f"bound_{name}": value_of(x) for name, x in bound.items()}}
    exec(f"def partial({free}):\n    return inner({given})", space)
    return njit(boundscheck=True, error_model="numpy")(space["partial"])


_OUTER = f"""
def outer(pointer, out, block):
    status = {RAISED}
    try:
        status = evaluate(pointer, out)
    except Exception:
        status = {RAISED}
    head = carray(block, ({HEAD} + n_in,))
    if status != 0 and head[{STATUS}] == 0:
        head[{STATUS}] = status
        head[{HEAD}:] = carray(pointer, (n_in,)).view(int64)
"""
