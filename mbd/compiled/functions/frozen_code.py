"""User functions through numba's public interface alone, which makes constants of the values that they refer to.

Code is therefore made anew when one of the values has changed, and never used when they are not known. It serves where
``lifting`` does not fit the version of numba, and ``MBD_COMPILER=numba`` asks for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .call_styles import CALLS, Call, motion_parts
from .captured import captured_values, unwrapped
from .code import STATISTICS, CannotCompile, reason_of
from .data_block import HEAD, RAISED, STATUS

KEPT = 64  # versions of a function that are remembered


class FrozenCode:
    """Functions compiled with the present values of what they refer to."""

    def __init__(self, functions: tuple[Any, ...], call: Call) -> None:
        self.functions, self.call = functions, call
        self.block = np.zeros(HEAD + call.n_in, dtype=np.int64)
        self.arguments = self.block[HEAD:].view(float)  # at the first error
        self.snapshot = _snapshot(functions)
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
            inner, bound = unwrapped(functions[number])
            if bound:
                raise CannotCompile("it is a method, a partial or an object, whose values numba does not see")
            space[f"f{i}"] = njit(boundscheck=True, error_model="numpy")(inner)
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
