"""How user functions are called: from a vector of numbers x to a vector of results.

Each style says what the function receives, once as a plain Python call and once as lines for the compiler, in which
``f0`` with its captured values ``b0`` stands for the function. The vector is (t, frames, velocities) for functions of
frames, (length, rate) for laws, (t, u, u_dot) for functions of the coordinate of a joint, (t,) for functions of time,
the coordinates for functions of those, and (t, coordinates, velocities) for forces on generalized coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .data_block import INDEFINITE, NO_DERIVATIVE, NOT_FINITE

Array = np.ndarray

Style = Literal[
    "force", "potential", "constraint", "law", "joint", "time", "coordinates", "motion", "coordinate force"
]  # fmt: skip

CALLS = {
    "force": "f0(b0, x[0].real, frames, velocities)",
    "potential": "f0(b0, frames)",
    "constraint": "f0(b0, frames, x[0])",
    "law": "f0(b0, x[0], x[1])",
    "joint": "f0(b0, x[0].real, x[1], x[2])",
    "time": "f0(b0, x[0])",
    "coordinates": "f0(b0, x)",
    "coordinate force": "f0(b0, x[0].real, frames, velocities)",
}
GIVEN = {
    "force": 3, "potential": 1, "constraint": 2, "law": 2, "joint": 3, "time": 1, "coordinates": 1,
    "coordinate force": 3,
}  # fmt: skip
"""Arguments of the function."""
TIMED = ("force", "potential", "constraint", "joint", "time", "motion", "coordinate force")  # time is the first number

TINY = 1e-30  # imaginary step; the result is exact to round-off
FINE = 1e-4  # first step of differences of exact first derivatives
COARSE = 1e-3  # first step of differences of the function itself
LARGE = 1e6  # such times have larger first steps, which are not lost beside them
SHORTER, TRIALS = 0.1, 10  # the step is shortened until it suits the pace of the function
PIVOT_ROUND_OFF = 1e-9  # beside its diagonal
GOLDEN = 0.6180339887498949  # of the step: another one, in whose units no period is a round number
AGREEMENT, ROUND_OFF = 3e-5, 1e-14  # of differences of sixth and fourth order, whose step is then short enough


@dataclass(frozen=True)
class Call:
    """A style with its sizes: ``count`` bodies or coordinates, ``size`` results in an array of this shape."""

    style: Style
    count: int
    size: int
    shape: tuple[int, ...] = ()
    is_array: bool = False  # whether the function returns a numpy array
    is_mass: bool = False  # whether the results are a matrix that may not have negative eigenvalues

    @property
    def n_in(self) -> int:
        """Length of the vector of arguments."""
        if self.style in ("time", "motion"):
            return 1
        if self.style == "coordinate force":
            return 1 + 2 * self.count
        return {"law": 2, "joint": 3, "coordinates": self.count}.get(self.style, 1 + 18 * self.count)

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
        if self.style == "joint":
            return function(float(x[0]), float(x[1]), float(x[2]))
        if self.style == "coordinates":
            return function(x)
        k = self.count
        if self.style == "coordinate force":
            return function(float(x[0]), x[1 : 1 + k], x[1 + k :])
        frames, velocities = x[1 : 1 + 12 * k].reshape(k, 12), x[1 + 12 * k :].reshape(k, 6)
        if self.style == "force":
            return function(float(x[0]), frames, velocities)
        return function(frames) if self.style == "potential" else function(frames, float(x[0]))

    def views(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the arrays that the lines for the compiler use."""
        views: dict[str, tuple[int, ...]] = {"x": (self.n_in,), "target": (self.size,)}
        if self.style in ("force", "potential", "constraint"):
            views |= {"frames": (self.count, 12), "velocities": (self.count, 6)}
        if self.style == "coordinate force":
            views |= {"frames": (self.count,), "velocities": (self.count,)}
        return views

    def lines(self, call: str, differences: bool = False) -> list[str]:
        """Lines of void f(pointer, out, block): results, and whether they are finite, as the status of data_block."""
        lines = ["x = view_x(pointer)", "target = view_target(out)"]
        if "frames" in call:  # from the pointer: a reshape would cost more than many a force
            lines.append("frames = view_frames(advanced(pointer, 1))")
        if "velocities" in call:
            first = 1 + (1 if self.style == "coordinate force" else 12) * self.count
            lines.append(f"velocities = view_velocities(advanced(pointer, {first}))")
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
        if self.is_mass:  # of a twin the value without derivatives, which every evaluation begins with
            lines += ["seed = 0.0", f"for i in range({self.n_in}):", "    seed += abs(x[i].imag)"]
            lines += ["if seed == 0.0:", *(f"    {line}" for line in _signs(self.count))]
        return [*lines, "return 0"]

    def _sum(self, what: str) -> list[str]:
        """Lines after which ``bad`` is not zero if something is not finite."""
        return ["bad = 0.0", f"for i in range({self.size}):", f"    bad += {what} * 0.0"]


def _signs(n: int) -> list[str]:
    """Lines that return INDEFINITE if the symmetric n x n matrix ``target`` has a negative eigenvalue.

    The pivots of an elimination have the signs of the eigenvalues. Zeros are allowed, up to round-off of their own
    diagonal, whatever the units of the coordinates, or of the matrix where that is zero; c^2 <= d m_ii holds always.
    """
    return [
        f"a, scale = empty({n * n}), 0.0",
        f"for i in range({n * n}):",
        "    a[i] = target[i].real",
        "    scale = max(scale, abs(a[i]))",
        f"for k in range({n}):",
        f"    d, m = a[{n + 1} * k], target[{n + 1} * k].real",
        f"    slack = {PIVOT_ROUND_OFF!r} * m + {ROUND_OFF**2!r} * scale if m > 0.0 else {ROUND_OFF!r} * scale",
        "    if d < -slack:",
        f"        return {INDEFINITE}",
        f"    for i in range(k + 1, {n}):",
        f"        c = a[{n} * i + k]",
        "        if d > slack:",
        f"            for j in range(k + 1, {n}):",
        f"                a[{n} * i + j] -= c / d * a[{n} * k + j]",
        f"        elif c * c > 4.0 * slack * abs(target[{n + 1} * i].real) + ({ROUND_OFF!r} * scale) ** 2:",
        f"            return {INDEFINITE}",
    ]


def is_indefinite(matrix: Array) -> bool:
    """Whether a symmetric matrix has a negative eigenvalue, by the same lines in plain Python."""
    n = len(matrix)
    space: dict[str, Any] = {"empty": np.empty}
    exec("\n".join(["def status(target):", *(f"    {line}" for line in _signs(n)), "    return 0"]), space)
    return bool(space["status"](matrix.ravel()))


# --- motions: a function of time with its first two derivatives -----------------------------------------------------

# Central differences of sixth and fourth order of the values p1, p2, p3 after and m1, m2, m3 before c, at the step h
# (b1, b2, ... are the captured values of the functions).
# Where the two agree, and both with fourth order at the step g, the step suits the function, be it a drive of a year or
# of a microsecond. A step that is many periods long would look as good, as a wheel in a film that seems to stand; it
# does not look the same at g, whose ratio to h is the one that is farthest from all fractions. Round-off is that of
# values, and of the time in them.
SLOPE = (
    "slope = (45.0 / 60.0 * (p1 - m1) + -9.0 / 60.0 * (p2 - m2) + 1.0 / 60.0 * (p3 - m3)) / h",
    "noise = ROUND_OFF * max(abs(p3), abs(m3), 0.2 * abs(t * slope)) / h",
)
BEND = (
    "bend = (1.5 * (p1 + m1) + -3.0 / 20.0 * (p2 + m2) + 1.0 / 90.0 * (p3 + m3) - 49.0 / 18.0 * c) / (h * h)",
    "grain = ROUND_OFF * max(abs(c), abs(p3), abs(m3), 0.2 * abs(t * slope)) / (h * h)",
)
SLOPE_OF_FOURTH = "lower = (2.0 / 3.0 * (p1 - m1) - 1.0 / 12.0 * (p2 - m2)) / {step}"
BEND_OF_FOURTH = "bow = (4.0 / 3.0 * (p1 + m1) - 1.0 / 12.0 * (p2 + m2) - 2.5 * c) / ({step} * {step})"
SLOPE_AGREES = "abs(slope - lower) <= AGREEMENT * (abs(slope) + h * abs(bend)) + noise"
BEND_AGREES = "abs(bend - bow) <= AGREEMENT * abs(bend) + grain"


def _differences(of: Callable[[str], str], step: float, result: str) -> list[str]:
    """Lines that differentiate ``of``: "slope", or "bend" (with the slope), whose step is the first that suits.

    Where none does, at a kink, the result is that of the first one. Steps are such that none is rounded beside t.
    """
    both = result == "bend"
    sixth, fourth = ((*SLOPE, *BEND), (SLOPE_OF_FOURTH, BEND_OF_FOURTH)) if both else (SLOPE, (SLOPE_OF_FOURTH,))
    agrees = f"{BEND_AGREES} and {SLOPE_AGREES}" if both else SLOPE_AGREES

    def samples(width: str, count: int) -> list[str]:
        shifts = ((i, f"{float(i)!r} * {width}") for i in range(1, count + 1))
        return [f"p{i}, m{i} = {of(f't + {shift}')}, {of(f't - {shift}')}" for i, shift in shifts]

    lines = [*samples("h", 3), *sixth, *(line.format(step="h") for line in fourth)]
    lines += ["if trial == 0:", "    slope0, bend0 = slope, bend"]
    lines += [f"if {agrees}:", f"    g = (abs(t) + {GOLDEN!r} * h) - abs(t)"]
    again = [*samples("g", 2), *(line.format(step="g") for line in fourth), "noise, grain = 3.0 * noise, 3.0 * grain"]
    lines += [*(f"    {line}" for line in again), f"    if {agrees}:", "        break"]
    lines += [f"if trial == {TRIALS - 1}:", "    slope, bend = slope0, bend0"]
    lines += [f"h = (abs(t) + {SHORTER!r} * h) - abs(t)"]
    lines = [line.replace("ROUND_OFF", repr(ROUND_OFF)).replace("AGREEMENT", repr(AGREEMENT)) for line in lines]
    first = [f"h = {step!r}", f"if abs(t) > {step * LARGE!r}:", f"    h = (abs(t) + abs(t) / {LARGE!r}) - abs(t)"]
    first += ["slope, bend, grain, slope0, bend0 = 0.0, 0.0, 0.0, 0.0, 0.0"]
    return [*first, f"for trial in range({TRIALS}):", *(f"    {line}" for line in lines)]


def motion_parts(rate: Any, acceleration: Any, exact: bool) -> tuple[list[tuple[int, bool]], list[str]]:
    """Parts (number of the function, whether as dual numbers) and the lines of a motion with its derivatives."""
    lines = ["target = view_target(out)", "t = view_x(pointer)[0]", *(f"target[{i}] = nan" for i in range(3))]
    parts = [(0, False)]
    lines.append("c = float(f0(b0, t))")

    def exact_slope(k: int) -> Callable[[str], str]:
        return lambda time: f"complex(f{k}(b{k}, complex({time}, {TINY!r}))).imag / {TINY!r}"

    def plain(k: int) -> Callable[[str], str]:
        return lambda time: f"float(f{k}(b{k}, {time}))"

    if acceleration is not None:
        parts += [(1, False), (2, False)]
        lines += [f"d = {plain(1)('t')}", f"e = {plain(2)('t')}"]
    elif rate is not None and exact:
        parts += [(1, False), (1, True)]
        lines += [f"d = {plain(1)('t')}", f"e = {exact_slope(2)('t')}"]
    elif rate is not None:
        parts.append((1, False))
        lines += [f"d = {plain(1)('t')}", *_differences(plain(1), FINE, "slope"), "e = slope"]
    elif exact:
        parts.append((0, True))
        lines += [f"d = {exact_slope(1)('t')}", *_differences(exact_slope(1), FINE, "slope"), "e = slope"]
    else:
        lines += [*_differences(plain(0), COARSE, "bend"), "d, e = slope, bend"]
    lines += ["target[0], target[1], target[2] = c, d, e", f"return {NOT_FINITE} if (c + d + e) * 0.0 != 0.0 else 0"]
    return parts, lines


def plain_motion(functions: tuple[Any, ...], t: float) -> tuple[float, float, float]:
    """(c, c_dot, c_ddot) in plain Python, by differences where no function is given."""
    f, rate, acceleration = functions
    if acceleration is not None:
        return float(f(t)), float(rate(t)), float(acceleration(t))
    if rate is not None:
        return float(f(t)), float(rate(t)), _PLAIN["slope"](rate, t)[0]
    return float(f(t)), *_PLAIN["bend"](f, t)


def _plain_differences(result: str, step: float) -> Any:
    """The lines of ``_differences`` as a Python function (f, t) -> (slope, bend)."""
    lines = ["c = float(f(t))", *_differences(lambda time: f"float(f({time}))", step, result), "return slope, bend"]
    space: dict[str, Any] = {}
    exec("def differences(f, t):\n" + "\n".join(f"    {line}" for line in lines), space)
    return space["differences"]


_PLAIN = {"slope": _plain_differences("slope", FINE), "bend": _plain_differences("bend", COARSE)}
