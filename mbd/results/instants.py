"""A solution at times between its records: dense output with the order of the method.

Two records give positions of order 6 and velocities of order 5 in their distance; for methods of higher order up to
three further ones make it 9 and 8, 12 and 11, or 15 and 14.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..elements.suggestions import counted
from ..errors import AccuracyWarning, Array, ModelError
from ..nodes.forms import of_form
from ..system.dense import BUFFER_ROWS, MOST_FURTHER, states_between
from .scheme import Scheme
from .solution import Solution
from .turns import whole_turns

FAR = 2.4  # rad, away from half a turn: how far a body may turn up to a further record
NEAR = 0.3  # of an interval: a record nearer than that to another one, as at an event, would magnify round-off
OUTSIDE = 1e-12  # of the duration: round-off of times at its ends
COARSE = 1e-3  # lengths of the model, rad, or sizes of generalized coordinates: what accelerations change on the way


class Gap(NamedTuple):
    """Two records, and how much happens between them."""

    t: float  # a time between them
    width: float
    bend: float  # what accelerations change on the way, of the size of the model, of 1 rad, of generalized coordinates
    turned: float  # largest rotation of a body, rad


class Instants(Solution):
    """A solution at single times, which reads as any other; made by ``solution.at``."""

    between: Solution
    """The solution whose records these times are between."""

    widest: Gap
    """The gap that tells least of these times."""

    @cached_property
    def scheme(self) -> Scheme:
        """Empty: variables of the method are known at the records only."""
        return Scheme(self, {}, derived=False)

    def _counted(self, name: str, angle: Array, rate: Array, near: float, read: Callable[[Solution], Array]) -> Array:
        return angle + whole_turns(np.interp(self.t, self.between.t, read(self.between)) - angle)

    def _signed(self, name: str, quaternions: Array, read: Callable[[Solution], Array]) -> Array:
        before = read(self.between)[np.searchsorted(self.between.t, self.t, side="right") - 1]
        return np.where(np.sum(quaternions * before, axis=1) < 0.0, -1.0, 1.0)[:, None] * quaternions

    def _begin(self) -> tuple[dict[str, Any], tuple[Solution, int] | None]:
        return {}, (self, 0)

    def at(self, t: Any) -> Solution:
        """The solution at other times, from the same records."""
        return solution_at(self.between, t)

    def moved_to(self, q: Array, v: Array) -> Instants:
        """Another state at a single time."""
        found = Instants(
            self.system, self.t, q[None, :], v[None, :], None, None, self.turns, integrator=self.integrator,
            inputs=self._acted,
        )  # fmt: skip
        found.between, found.widest = self.between, self.widest
        return found

    def __repr__(self) -> str:
        times = f"t = {self.t[0]:.6g}" if len(self) == 1 else counted(len(self), "time")
        return f"<{self.model} at {times}, between {counted(len(self.between), 'record')}>"


def solution_at(solution: Solution, t: Any, asked_by: str = "at") -> Instants:
    """The solution at some times, and a word where its records do not tell them."""
    found = interpolated(solution, t, asked_by)
    gap = found.widest
    if gap.bend > COARSE or gap.turned > np.pi:
        why = f"a body turns by {gap.turned:.2g} rad" if gap.turned > np.pi else "the motion bends too much"
        warnings.warn(
            f"{asked_by}: near t = {gap.t:.6g} records are {gap.width:.3g} apart, and {why} between them: what is read "
            "there is inaccurate. Expected records that are closer: a smaller output_step, or smaller steps",
            AccuracyWarning,
            stacklevel=3,
        )
    return found


def interpolated(solution: Solution, t: Any, asked_by: str) -> Instants:
    """The solution at some times, without a warning where its records do not tell them."""
    times = _checked_times(solution, t)
    system, n = solution.system, len(times)
    q, v = np.zeros((n, system.n_q)), np.zeros((n, system.n_v))
    # of records at the same time, the last one counts
    kept = np.flatnonzero(np.diff(solution.t, append=np.inf) > 0.0)
    at = np.searchsorted(solution.t[kept], times)
    there = at < len(kept)
    there[there] = solution.t[kept[at[there]]] == times[there]
    widest = Gap(float(times[0]), 0.0, 0.0, 0.0)
    if not there.all():
        _refuse_where_inputs_changed(solution, times[~there], asked_by)
        q[~there], v[~there], widest = _states_at(solution, times[~there], asked_by)
    q[there], v[there] = solution.q[kept[at[there]]], solution.v[kept[at[there]]]
    turns = np.column_stack([np.interp(times, solution.t, column) for column in solution._turns.T])
    unknown = hasattr(solution.integrator, "forces") and not solution.integrator.forces  # kinematics
    lam = np.full((n, system.n_l), np.nan) if unknown else None
    last = np.clip(np.searchsorted(solution.t, times), 0, len(solution) - 1)  # the record at which the step ends
    inputs = {name: x[last] for name, x in solution._acted.items()}
    found = Instants(system, times, q, v, None, lam, turns, integrator=solution.integrator, inputs=inputs)
    found.between, found.widest = solution, widest
    return found


def _refuse_where_inputs_changed(solution: Solution, times: Array, asked_by: str) -> None:
    """The motion between two records is smooth only if nothing has changed suddenly between them."""
    changed = np.asarray(solution.stats.get("inputs_changed_between_records", ()), dtype=float)
    wrong = np.isin(np.searchsorted(solution.t, times), np.searchsorted(solution.t, changed))
    if wrong.any():
        t = float(times[np.argmax(wrong)])
        raise ModelError(
            f"{asked_by}: an input changed between the two records around t = {t:.9g}, so that the motion there is "
            "not known; expected records at all changes: make output_step smaller, or leave it out"
        )


def _checked_times(solution: Solution, t: Any) -> Array:
    try:
        if np.asarray(t).dtype.kind not in "fiu":
            raise TypeError
        times = np.array(t, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"at: t is {t!r}; expected a time or several") from None
    if times.ndim > 1 or not times.size or not np.isfinite(times).all():
        raise ModelError(f"at: t is {t!r}; expected a time or several, finite")
    if not len(solution):
        raise ModelError(f"at: {solution!r} has no records")
    times = times.reshape(-1)
    start, end = float(solution.t[0]), float(solution.t[-1])
    margin = OUTSIDE * max(abs(start), abs(end))
    outside = times[(times < start - margin) | (times > end + margin)]
    if len(outside):
        raise ModelError(
            f"at: t = {outside[0]:.9g} is outside of the solution, which goes from {start:.9g} to {end:.9g}; nothing "
            "is extrapolated"
        )
    return np.clip(times, start, end)


def _states_at(solution: Solution, times: Array, asked_by: str) -> tuple[Array, Array, Gap]:
    """States at times that are no records, and where the records tell least of them.

    Of two records at one time, at which something jumps, the first one ends an interval and the second one begins one.
    Where an input jumps there is one record, that of the step before; the interval begins with other accelerations.
    """
    t, velocities, accelerations = solution.t, solution.v, solution.vd
    q, v = np.zeros((len(times), solution.system.n_q)), np.zeros((len(times), solution.system.n_v))
    first = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
    used = np.unique(np.concatenate((first, first + 1)))
    unknown = used[~np.isfinite(accelerations[used]).all(axis=1)]
    if len(unknown):
        raise ModelError(f"{asked_by}: the accelerations at the record t = {t[unknown[0]]:.9g} are not known")
    system = solution.system
    doubt, buffer = np.zeros((len(times), 3)), np.zeros((BUFFER_ROWS, system.n_v))
    turned = _largest_turns(system, velocities, np.diff(t)[first], first)
    jumps, places = _input_jumps(solution), np.zeros(2 + MOST_FURTHER)
    smooth = np.isin(t, t[:-1][np.diff(t) == 0.0], invert=True) & ~jumps
    known = np.isfinite(accelerations).all(axis=1)
    further = _further_records(t, first, turned, smooth, jumps, known, _needed(solution))
    begins, records = _begun_anew(solution, first, jumps)
    states_between(system.tables, solution._work, times, begins, further, *records, buffer, places, q, v, doubt)
    sizes = system.length, 1.0, max(1e-300, float(np.abs(solution.q).max(initial=0.0)))
    worst = (doubt / sizes).max(axis=1)
    k = int(np.argmax(np.maximum(worst / COARSE, turned / np.pi)))
    width = float(t[first[k] + 1] - t[first[k]])
    return q, v, Gap(float(times[k]), width, float(worst[k]), float(turned[k]))


def _input_jumps(solution: Solution) -> Any:
    """Records behind which an input has another value."""
    jumps = np.zeros(len(solution), dtype=bool)
    for x in solution._acted.values():
        jumps[:-1] |= x[1:] != x[:-1]
    return jumps


def _begun_anew(solution: Solution, first: Any, jumps: Any) -> tuple[Any, list[Array]]:
    """Where the intervals begin, in records to which those are added that begin with another input."""
    records = [solution.t, solution.q, solution.v, solution.vd]
    anew = np.unique(first[jumps[first]])
    if not len(anew):
        return first, records
    inputs = {name: x[anew + 1] for name, x in solution._acted.items()}
    t, q, v, turns = (np.ascontiguousarray(x[anew]) for x in (solution.t, solution.q, solution.v, solution._turns))
    vd = Solution(solution.system, t, q, v, None, None, turns, inputs=inputs).vd
    added = [np.stack((x, y[anew + 1]), axis=1) for x, y in zip((t, q, v, vd), records, strict=True)]
    records = [np.concatenate((x, y.reshape(-1, *x.shape[1:]))) for x, y in zip(records, added, strict=True)]
    return np.where(jumps[first], len(solution) + 2 * np.searchsorted(anew, first), first), records


def _needed(solution: Solution) -> int:
    """How many records besides two make velocities of the order of the method: 3 n - 1 with n records."""
    order = min(getattr(solution.integrator, "order", 0), 3 * (2 + MOST_FURTHER) - 1)
    return max(0, -(-(order + 1) // 3) - 2)


def _further_records(t: Array, first: Any, turned: Array, smooth: Any, jumps: Any, known: Any, needed: int) -> Any:
    """Neighbours of each interval in turns before and behind, on the side of smooth motion; -1 where there is no more.

    None to which a body turns too far, none too near to the one before, none whose accelerations are not ``known``.
    """
    further = np.full((len(first), MOST_FURTHER), -1)
    low, high, last = first.copy(), first + 1, len(smooth) - 1
    apart = NEAR * (t[high] - t[low])
    for k in range(needed):
        behind, far = np.minimum(high + 1, last), np.maximum(2, np.maximum(first - low + 1, high + 1 - first))
        near = far * turned < FAR
        down = near & (low > 0) & smooth[low] & ~jumps[low - 1] & known[low - 1]  # with what acted before a jump
        up = near & (high < last) & smooth[high] & known[behind]
        down &= t[low] - t[low - 1] >= apart
        up &= t[behind] - t[high] >= apart
        down &= ~up | (first - low <= high - 1 - first)
        up &= ~down
        low, high = np.where(down, low - 1, low), np.where(up, high + 1, high)
        further[:, k] = np.where(down, low, np.where(up, high, -1))
    return further


def _largest_turns(system: Any, v: Array, steps: Array, first: Any) -> Array:
    """How far a body on a Lie node turns from each of these records to the next."""
    nodes = system.tables.nodes
    turning = nodes[of_form(nodes, "lie")]
    used, of = np.unique(np.concatenate((first, first + 1)), return_inverse=True)
    squares = sum(np.square(v[np.ix_(used, turning["v0"] + turning["nx"] + k)]) for k in range(3))
    speeds = np.sqrt(np.max(squares, axis=1, initial=0.0))[of]
    return np.asarray(np.maximum(*np.split(speeds, 2)) * steps)
