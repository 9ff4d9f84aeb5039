"""How user functions are called: from a vector of numbers x to a vector of results.

Each style says what the function receives, once as a plain Python call and once as lines for the compiler, in which
``f0`` with its captured values ``b0`` stands for the function. The vector is (t, frames, velocities) for functions of
frames, (length, rate) for laws, (t,) for functions of time, and the coordinates for functions of those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .data_block import NO_DERIVATIVE, NOT_FINITE
from .errors import Array

Style = Literal["force", "potential", "constraint", "law", "time", "coordinates", "motion"]

CALLS = {
    "force": "f0(b0, x[0].real, frames, velocities)",
    "potential": "f0(b0, frames)",
    "constraint": "f0(b0, frames, x[0])",
    "law": "f0(b0, x[0], x[1])",
    "time": "f0(b0, x[0])",
    "coordinates": "f0(b0, x)",
}
GIVEN = {"force": 3, "potential": 1, "constraint": 2, "law": 2, "time": 1, "coordinates": 1}  # arguments
TIMED = ("force", "potential", "constraint", "time", "motion")  # the first number of x is the time

TINY = 1e-30  # imaginary step; the result is exact to round-off
FINE = 1e-4  # step of differences of exact first derivatives
COARSE = 1e-3  # step of differences of the function itself
WEIGHTS = (45.0 / 60.0, -9.0 / 60.0, 1.0 / 60.0)  # sixth-order central difference
SECOND = (1.5, -3.0 / 20.0, 1.0 / 90.0)  # the same for the second derivative, -49/18 in the middle


@dataclass(frozen=True)
class Call:
    """A style with its sizes: ``count`` bodies or coordinates, ``size`` results in an array of this shape."""

    style: Style
    count: int
    size: int
    shape: tuple[int, ...] = ()
    is_array: bool = False  # whether the function returns a numpy array

    @property
    def n_in(self) -> int:
        """Length of the vector of arguments."""
        if self.style in ("time", "motion"):
            return 1
        return {"law": 2, "coordinates": self.count}.get(self.style, 1 + 18 * self.count)

    @property
    def has_time(self) -> bool:
        """Whether the first argument is the time."""
        return self.style in TIMED

    def __call__(self, functions: tuple[Any, ...], x: Array) -> Any:
        """The call as plain Python."""
        function = functions[0]
        if self.style == "motion":
            return plain_motion(functions, float(x[0]))
        if self.style == "time":
            return function(float(x[0]))
        if self.style == "law":
            return function(float(x[0]), float(x[1]))
        if self.style == "coordinates":
            return function(x)
        k = self.count
        frames, velocities = x[1 : 1 + 12 * k].reshape(k, 12), x[1 + 12 * k :].reshape(k, 6)
        if self.style == "force":
            return function(float(x[0]), frames, velocities)
        return function(frames) if self.style == "potential" else function(frames, float(x[0]))

    def views(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the arrays that the lines for the compiler use."""
        views: dict[str, tuple[int, ...]] = {"x": (self.n_in,), "target": (self.size,)}
        if self.style in ("force", "potential", "constraint"):
            views |= {"frames": (self.count, 12), "velocities": (self.count, 6)}
        return views

    def lines(self, call: str, differences: bool = False) -> list[str]:
        """Lines of void f(pointer, out, block): results, and whether they are finite, as the status of data_block."""
        lines = ["x = view_x(pointer)", "target = view_target(out)"]
        if "frames" in call:  # from the pointer: a reshape would cost more than many a force
            lines.append("frames = view_frames(advanced(pointer, 1))")
        if "velocities" in call:
            lines.append(f"velocities = view_velocities(advanced(pointer, {1 + 12 * self.count}))")
        lines += [f"for i in range({self.size}):", "    target[i] = nan"]  # left there by an exception
        lines.append(f"value = {call}")
        if self.is_array and len(self.shape) in (1, 2):
            loops = [f"for k{i} in range({n}):" for i, n in enumerate(self.shape)]
            lines += [f"{'    ' * i}{loop}" for i, loop in enumerate(loops)]
            place = "k0" if len(self.shape) == 1 else f"k0 * {self.shape[1]} + k1"
            index = ", ".join(f"k{i}" for i in range(len(self.shape)))
            lines.append(f"{'    ' * len(self.shape)}target[{place}] = value[{index}]")
        else:  # unrolled: a tuple of mixed types can only be indexed by constants
            for i, key in enumerate(np.ndindex(self.shape)):
                lines.append(f"target[{i}] = value" + "".join(f"[{k}]" for k in key))
        if differences:  # the derivative may be infinite, and 0 times infinity in the value
            spare = "word_at(block, SPARE), address_of(pointer), address_of(out), word_at(block, SPARE_BLOCK)"
            lines += [*self._sum("(target[i].real + target[i].imag)"), "if bad != 0.0:", f"    call_vector({spare})"]
        lines += [*self._sum("target[i].real"), "if bad != 0.0:", f"    return {NOT_FINITE}"]
        if differences:
            lines += [*self._sum("target[i].imag"), "if bad != 0.0:", f"    return {NO_DERIVATIVE}"]
        return [*lines, "return 0"]

    def _sum(self, what: str) -> list[str]:
        """Lines after which ``bad`` is not zero if something is not finite."""
        return ["bad = 0.0", f"for i in range({self.size}):", f"    bad += {what} * 0.0"]


# --- motions: a function of time with its first two derivatives -----------------------------------------------------


def motion_parts(rate: Any, acceleration: Any, exact: bool) -> tuple[list[tuple[int, bool]], list[str]]:
    """Parts (number of the function, whether as dual numbers) and the lines of a motion with its derivatives."""
    lines = ["target = view_target(out)", "t = view_x(pointer)[0]", *(f"target[{i}] = nan" for i in range(3))]
    parts = [(0, False)]
    lines.append("c = float(f0(b0, t))")

    def slope(k: int, s: float) -> str:
        return f"complex(f{k}(b{k}, complex(t + {s!r}, {TINY!r}))).imag / {TINY!r}"

    def plain(k: int, s: float) -> str:
        return f"float(f{k}(b{k}, t + {s!r}))"

    def difference(of: Callable[[int, float], str], k: int, h: float) -> str:
        terms = (f"{w!r} * ({of(k, (i + 1) * h)} - {of(k, -(i + 1) * h)})" for i, w in enumerate(WEIGHTS))
        return f"({' + '.join(terms)}) / {h!r}"

    def second(k: int, h: float) -> str:
        terms = (f"{w!r} * ({plain(k, (i + 1) * h)} + {plain(k, -(i + 1) * h)})" for i, w in enumerate(SECOND))
        return f"({' + '.join(terms)} - 49.0 / 18.0 * c) / ({h!r} * {h!r})"

    if acceleration is not None:
        parts += [(1, False), (2, False)]
        lines += [f"d = {plain(1, 0.0)}", f"e = {plain(2, 0.0)}"]
    elif rate is not None:
        parts += [(1, False), (1, True)] if exact else [(1, False)]
        lines += [f"d = {plain(1, 0.0)}", f"e = {slope(2, 0.0) if exact else difference(plain, 1, FINE)}"]
    elif exact:
        parts.append((0, True))
        lines += [f"d = {slope(1, 0.0)}", f"e = {difference(slope, 1, FINE)}"]
    else:
        lines += [f"d = {difference(plain, 0, COARSE)}", f"e = {second(0, COARSE)}"]
    lines += ["target[0], target[1], target[2] = c, d, e", f"return {NOT_FINITE} if (c + d + e) * 0.0 != 0.0 else 0"]
    return parts, lines


def plain_motion(functions: tuple[Any, ...], t: float) -> tuple[float, float, float]:
    """(c, c_dot, c_ddot) in plain Python, by differences where no function is given."""
    f, rate, acceleration = functions
    c = float(f(t))
    if rate is None:
        h = COARSE
        ahead, behind = ([float(f(t + s * k * h)) for k in (1, 2, 3)] for s in (1.0, -1.0))
        d = sum(w * (a - b) for w, a, b in zip(WEIGHTS, ahead, behind, strict=True)) / h
        e = (sum(w * (a + b) for w, a, b in zip(SECOND, ahead, behind, strict=True)) - 49.0 / 18.0 * c) / (h * h)
        return c, d, e
    d = float(rate(t))
    if acceleration is not None:
        return c, d, float(acceleration(t))
    h = FINE
    change = sum(w * (float(rate(t + (k + 1) * h)) - float(rate(t - (k + 1) * h))) for k, w in enumerate(WEIGHTS))
    return c, d, change / h
