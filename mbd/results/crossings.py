"""Where a quantity reaches zero between records: in which steps, how often, when, and in which state.

Between two records a quantity is read off the solution there (``solution.at``). It meets the records, whatever the
method does between them; so that what happens near a record happens once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..errors import Array, ModelError
from ..solvers.initial import back_to_constraints
from ..system.dense import MOST_FURTHER
from .acting import acting
from .instants import Instants, interpolated, solution_at
from .solution import Solution, named_rows

TOLERANCE = 1e-12  # of the time of a crossing, beside the length of a step
PIECES = 8  # into which a step is cut that may hide crossings, or that is too long to be interpolated
DIP = 0.25  # of the second difference: a parabola dips by at most 1/8 of it between two values
BENT = 1e-4  # lengths of the model, rad: a step in which accelerations change more is too long to be interpolated
TURNED = 0.8 * math.pi  # a step in which a body turns further is too long to be interpolated
FULFILLED = 2.0  # between records constraints may be violated so many times as much as there: the rest is interpolation
BESIDE = 1e-3  # of a step: where the slope of a crossing is read
CORRECTIONS = 3  # of a crossing, from interpolated states to those on the constraints
HALVINGS = 40  # of the search for the smallest value in a step


class Crossing(NamedTuple):
    """An arrival at zero, rising or falling, and what the run would have recorded there."""

    t: float
    direction: int
    row: list[Array]


class Quantity(NamedTuple):
    """What is looked at: one value per record of a solution."""

    name: str  # for messages
    read: Callable[[Solution], Array]
    direction: int  # of the crossings that are wanted; 0: all


def crossings(quantity: Quantity, values: Array, part: Solution, first: int, last: int, step: float) -> list[Crossing]:
    """Arrivals of a quantity at zero between the records of a part of a run, in the steps first, ..., last - 1.

    ``values`` are those of the quantity at the records. ``step`` is that of the method, which may be shorter than the
    distance of records.
    """
    found = []
    for k, several in _interesting(part.t, values, first, last):
        if part.t[k + 1] > part.t[k]:
            found += _Step(quantity, values, part, k, step).crossings(several)
        elif quantity.direction in (0, np.sign(values[k + 1] - values[k])):  # a jump
            sign = int(np.sign(values[k + 1] - values[k]))
            found.append(Crossing(float(part.t[k]), sign, [x[k + 1] for x in part.rows()]))
    return found


def _interesting(t: Array, values: Array, first: int, last: int) -> list[tuple[int, bool]]:
    """Steps k of first, ..., last - 1 in which something happened, and whether it may have happened several times.

    Between two values a parabola dips by at most an eighth of its second difference.
    """
    k = np.arange(first, last)
    width = np.diff(t)
    curvature = np.full(len(t), np.inf if len(t) == 2 and width[0] > 0.0 else 0.0)
    if len(t) > 2:
        slope = np.diff(values) / np.where(width > 0.0, width, np.inf)  # of two records at one time there is none
        curvature[1:-1] = 2.0 * np.abs(np.diff(slope)) / (t[2:] - t[:-2])
    bend = np.maximum(curvature[k], curvature[k + 1]) * width[k] ** 2
    a, b = values[k], values[k + 1]
    changes = (a != 0.0) & (np.sign(a) != np.sign(b))
    through = np.sign(a) * np.sign(b) < 0.0  # who arrives at zero may have been beyond it on the way
    room = np.where(through, np.abs(b - a), np.minimum(np.abs(a), np.abs(b)))
    several = (room <= DIP * bend) & (bend > 0.0)
    return [(int(i), bool(many)) for i, many, here in zip(k, several, several | changes, strict=True) if here]


class _Step:
    """One step, looked at closely."""

    def __init__(self, quantity: Quantity, values: Array, part: Solution, k: int, step: float) -> None:
        self.quantity = quantity
        self.t, self.end = float(part.t[k]), float(part.t[k + 1])
        self.width = self.end - self.t
        first = max(0, k - MOST_FURTHER)
        self.near = part.part(slice(first, k + 3))  # the same records, whatever pieces the run comes in
        self.known = {0.0: float(values[k]), self.width: float(values[k + 1])}
        self._latest: Instants | None = None  # brought back to the constraints
        gap = interpolated(self.near, self.t + 0.5 * self.width, quantity.name).widest
        if (gap.bend > BENT or gap.turned > TURNED) and hasattr(part.integrator, "start"):
            self.near = _with_pieces(self.near, k - first, step)

    def crossings(self, several: bool) -> list[Crossing]:
        """All arrivals at zero in this step, of which there may be several."""
        if several:
            self._look_between()
        found = []
        offsets = sorted(self.known)
        for a, b in pairwise(offsets):
            sign = int(np.sign(self.known[a]))
            if sign == 0 or np.sign(self.known[b]) == sign or self.quantity.direction not in (0, -sign):
                continue
            s = self._located(a, b)
            t = self.end if s == self.width else self.t + s
            found.append(Crossing(t, -sign, self._row(t)))
        return found

    def _row(self, t: float) -> list[Array]:
        """What the run would have recorded at this time; variables of a scheme are known at its own records only."""
        at_record = np.flatnonzero(self.near.t == t)
        if len(at_record):
            return [x[at_record[-1]] for x in self.near.rows()]
        there = self._on_constraints(t)
        middle = [np.full(x.shape[1:], np.nan) for x in self.near._recorded.values()] or [there.vd[0], there.lam[0]]
        assert there.turns is not None
        return [there.q[0], there.v[0], *middle, there.turns[0]]

    def _on_constraints(self, t: float) -> Instants:
        """One record at this time, which fulfils the constraints where those of the run do.

        Interpolated states miss them by their error; the records of some methods miss them too.
        """
        if self._latest is not None and self._latest.t[0] == t:
            return self._latest
        there = solution_at(self.near, t, self.quantity.name)
        if not there.system.n_l:
            return there
        missed = [bool(x[0] > FULFILLED * limit) for x, limit in zip(there.constraint_error, self._missed, strict=True)]
        if any(missed):
            with acting(there.system, {name: float(x[0]) for name, x in there._acted.items()}):
                q, v = back_to_constraints(there.system, there.q[0], there.v[0], t)
            there = there.moved_to(q if missed[0] else there.q[0], v if missed[1] else there.v[0])
        self._latest = there
        return there

    @cached_property
    def _missed(self) -> list[float]:
        """By how much the records at both ends miss positions and velocities of the constraints."""
        ends = np.flatnonzero((self.near.t == self.t) | (self.near.t == self.end))
        return [float(x[ends].max()) for x in self.near.constraint_error]

    def value(self, s: float) -> float:
        """The quantity after the time s."""
        if s not in self.known:
            self._evaluate(np.array([s]))
        return self.known[s]

    def _evaluate(self, offsets: Array) -> None:
        values = self.quantity.read(solution_at(self.near, self.t + offsets, self.quantity.name))
        self.known.update(zip(offsets.tolist(), values.tolist(), strict=True))

    def _look_between(self) -> None:
        """At smaller distances; where all values have one sign, on towards the smallest one."""
        self._evaluate(self.width / PIECES * np.arange(1.0, PIECES))
        offsets = sorted(self.known)
        values = np.array([self.known[s] for s in offsets])
        sign = np.sign(values[1])
        if sign == 0.0 or (values * sign < 0.0).any():
            return
        lowest = int(np.abs(values).argmin())
        bend = np.abs(np.diff(values, 2)).max()
        if abs(values[lowest]) > bend:
            return
        low, high = offsets[max(0, lowest - 1)], offsets[min(PIECES, lowest + 1)]
        for _ in range(HALVINGS):  # golden section
            a, b = high - 0.618034 * (high - low), low + 0.618034 * (high - low)
            fa, fb = sign * self.value(a), sign * self.value(b)
            if min(fa, fb) <= 0.0:
                return
            low, high = (low, b) if fa < fb else (a, high)

    def _located(self, a: float, b: float) -> float:
        """Where the sign changes between a and b."""
        from scipy.optimize import brentq

        if self.known[b] == 0.0:
            return b
        s = float(brentq(self.value, a, b, xtol=TOLERANCE * self.width, rtol=1e-14, maxiter=100))
        if self.near.system.n_l:
            s = self._located_on_constraints(s, a, b)
        return self.width if self.width - s <= 10.0 * TOLERANCE * self.width else s  # at the record

    def _located_on_constraints(self, s: float, a: float, b: float) -> float:
        """Where the sign changes if states are brought back to the constraints; it changes at s if they are not."""
        left, right = max(a, s - BESIDE * self.width), min(b, s + BESIDE * self.width)
        slope = (self.value(right) - self.value(left)) / (right - left)
        best, least = s, math.inf
        for _ in range(CORRECTIONS if slope else 0):
            missed = abs(value := float(self.quantity.read(self._on_constraints(self.t + s))[0]))
            if not missed < least:
                break
            best, least = s, missed
            if missed <= TOLERANCE * abs(slope) * self.width:
                break
            s = min(max(s - value / slope, a + TOLERANCE * self.width), b)
        return best


def _with_pieces(near: Solution, k: int, step: float) -> Solution:
    """The solution with further records, of smaller steps from the record k towards the next one."""
    rows, t = near.rows(), float(near.t[k])
    piece = (float(near.t[k + 1]) - t) / PIECES
    times, count = t + piece * np.arange(1.0, PIECES), max(1, math.ceil(piece / step * (1.0 - 1e-9)))
    row, made = [x[k] for x in rows], [np.zeros((PIECES - 1, x.shape[1])) for x in rows]
    with acting(near.system, {name: float(x[k + 1]) for name, x in near._acted.items()}):
        run = near.integrator.from_any_state().start(near.system, row[0], row[1], t, piece / count, row[-1])
        if near.integrator.adaptive:
            reached = _advance_through(run, times, made)
        else:
            reached = run.advance(count * len(times), count, made) == count * len(times)
        if not reached:
            run.evaluated.raise_callback_errors()
            raise ModelError(f"events: a part of the step from t = {t:.6g} failed: {run.failure()[1]}")
        run.evaluated.forget_errors()
    at = [k + 1] * len(times)
    joined = [np.insert(x, at, y, axis=0) for x, y in zip(rows, made, strict=True)]
    acted = {name: np.insert(x, at, x[k + 1]) for name, x in near._acted.items()}
    closer = Solution(
        near.system, np.insert(near.t, at, times), **named_rows(near.integrator, joined),
        integrator=near.integrator, stats=near.stats, inputs=acted,
    )  # fmt: skip
    closer._begins_with, closer._whole = near._begins_with, near._whole
    return closer


def _advance_through(run: Any, times: Array, rows: list[Array]) -> bool:
    """Advance a run with step-size control through these times; False if a step failed."""
    for k, end in enumerate(times.tolist()):
        while run.t < end:
            t, made = np.zeros(50), [np.zeros((50, x.shape[1])) for x in rows]
            count = run.advance_to(end, 0.0, t, made)
            if run.failed:
                return False
            for target, x in zip(rows, made, strict=True):
                target[k] = x[count - 1]
    return True
