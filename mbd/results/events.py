"""Events: instants at which a quantity reaches zero or passes through it; they are recorded, or end the simulation.

A quantity is any function of a solution with one value per record, such as a sensor. It is looked at after every step,
whatever is recorded. What happens between two steps is located by steps of the integrator itself from the first of
them. Two crossings between two steps leave no change of sign: where the curvature of the values allows the quantity to
have come to zero and back, the step is gone through again in smaller ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbd.compiled.functions.travelling import sent_as_code
from mbd.elements.attributes import refuse_nameless
from mbd.elements.function_errors import place_of
from mbd.elements.values import in_force
from mbd.errors import MbdError, ModelError, UserFunctionError, bad_value
from mbd.results.solution import Solution, named_rows

Array = np.ndarray
TOLERANCE = 1e-12  # of the time of an event, beside the length of a step
PIECES = 8  # into which a step is cut that may hide crossings
DIP = 0.25  # of the second difference: a parabola dips by at most 1/8 of it between two values
HALVINGS = 40  # of the search for the smallest value in a step
SAME = 1e-9  # relative difference of two evaluations at one record that counts as round-off


@dataclass(frozen=True)
class Event:
    """Something that happens when ``function(solution)``, one value per record, reaches zero or passes through it.

    Values are compared after every step. Zero at a step is an event if the value before was not zero; a value that is
    zero from the start has not come there, and leaving zero is no event. Crossings in pairs between two steps are found
    where the values of neighbouring steps show the turn; a peak that is narrower than a step leaves no trace in
    them and needs a smaller step.

    Steps of ``GGLMidpoint`` and ``BLieDF`` begin and end beside their records (of a pendulum of 0.5 m, with steps of
    0.01 s, by up to 1e-5 and 1e-7 m): a crossing that is as near to a record is told as three events, within 2e-5 and
    2e-7 s. With user functions, times of a ``Simulator`` and of ``simulate`` agree to round-off, not bit for bit.

    Parameters
    ----------
    function: a sensor, or any function of a solution: ``lambda s: s["ball"].position[:, 2]``. Each value depends on its
        own record only; one that is not a finite number is an error.
    stop: whether the simulation ends there.
    direction: +1 for rising (from negative values), -1 for falling, 0 for both.
    name: for reports.

    >>> model = mbd.Model(gravity=(0, 0, -10.0))
    >>> ball = model.add(mbd.PointMass("ball", mass=1.0, position=(0, 0, 5)))
    >>> floor = mbd.Event(lambda solution: solution["ball"].position[:, 2], stop=True, name="floor")
    >>> solution = mbd.simulate(model, t_end=3.0, step=0.01, events=floor)
    >>> solution.message
    'stopped by floor at t = 1'
    """

    function: Callable[[Solution], ArrayLike]
    stop: bool = False
    direction: int = 0
    name: str = "event"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise bad_value("event", "function", self.function, "a function of a solution")
        if self.direction not in (-1, 0, 1):
            raise bad_value(f"event '{self.name}'", "direction", self.direction, "-1, 0 or 1")

    def __reduce_ex__(self, protocol: Any) -> Any:
        if not sent_as_code():
            refuse_nameless(f"event '{self.name}'", {"function": self.function})
        return super().__reduce_ex__(protocol)

    def values(self, solution: Solution) -> Array:
        """The quantity at every record."""
        try:
            with in_force(solution.system.values):  # parameters are numbers
                values = np.asarray(self.function(solution), dtype=float)
        except MbdError:
            raise
        except Exception as error:
            raise UserFunctionError(
                f"event '{self.name}': its function raised {type(error).__name__}: {error} between t = "
                f"{solution.t[0]:.6g} and {solution.t[-1]:.6g}{place_of(error)}",
                element=f"event '{self.name}'", time=float(solution.t[0]),
            ) from error  # fmt: skip
        if values.shape != (len(solution),):
            raise ModelError(
                f"event '{self.name}': its function returned an array of shape {values.shape}; expected one number per "
                f"record, {(len(solution),)}, such as s['ball'].position[:, 2]"
            )
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            raise ModelError(
                f"event '{self.name}': its function returned {values[bad[0]]} at t = {solution.t[bad[0]]:.9g}; "
                "expected a finite number"
            )
        return values


@dataclass(frozen=True, eq=False)
class Occurrence:
    """An event that happened: its name, time, direction (+1 rising) and the state (q, v) then."""

    name: str
    t: float
    direction: int
    q: Array
    v: Array


def find_events(solution: Solution, events: Event | Iterable[Event]) -> list[Occurrence]:
    """All occurrences of the events in a finished run, in the order of time, as far as its records show them.

    >>> model = mbd.Model()
    >>> ball = model.add(mbd.PointMass("ball", mass=1.0, position=(1, 0, 0)))
    >>> spring = model.add(mbd.forces.Spring(model.ground, ball, (-1, 0, 0), stiffness=4.0, length=1.0))
    >>> solution = mbd.simulate(model, t_end=4.0, step=0.01)
    >>> middle = mbd.Event(lambda solution: solution["ball"].position[:, 0], name="middle")
    >>> [round(event.t, 3) for event in mbd.find_events(solution, middle)]
    [0.785, 2.356, 3.927]
    """
    if not hasattr(solution.integrator, "start"):
        raise ModelError("find_events: this solution has no integrator that could step to an event between records")
    if any(np.ptp(x) > 0.0 for x in solution._acted.values()):
        raise ModelError("find_events: inputs changed during this run; give the events to its Simulator")
    watch = Watch(solution.system, solution.integrator, _step_of(solution), events, stops=False)
    if len(solution):
        watch.begin(solution.t[:1], [x[:1] for x in solution.rows()])
        watch.scan(solution.t[1:], [x[1:] for x in solution.rows()])
        watch.finish()
    return watch.found


def _step_of(solution: Solution) -> float:
    step = float(solution.state.get("step", 0.0) or 0.0)
    return step if step > 0.0 else float(np.diff(solution.t).min(initial=math.inf))


class Watch:
    """Looks for events while steps arrive.

    A step is judged when its neighbours on both sides are known, or at the end of the run, so that nothing depends on
    how the run was cut into pieces.
    """

    def __init__(
        self, system: Any, integrator: Any, step: float, events: Event | Iterable[Event], stops: bool = True
    ) -> None:
        self.events = [events] if isinstance(events, Event) else list(events)
        for event in self.events:
            if not isinstance(event, Event):
                raise bad_value("simulate", "events", event, "an mbd.Event, or a list of them")
        self.system, self.integrator, self.step, self.stops = system, integrator.from_any_state(), step, stops
        self.found: list[Occurrence] = []
        self.stopped: Occurrence | None = None
        self.last_row: list[Array] = []
        self.known: dict[str, Any] = {}  # angles with their turns, and quaternions, at the first record
        self.inputs_at: Callable[[Array], dict[str, Array]] = lambda t: {}  # of the steps that end at these times

    def begin(self, t: Array, rows: list[Array]) -> None:
        """The first record, or another one to go on from."""
        self.t, self.rows, self.first = t.copy(), [x.copy() for x in rows], 0
        self.acted = self.inputs_at(self.t)
        part = self._part(self.t, self.rows, self.known, self.acted)
        self.values = [event.values(part) for event in self.events]
        self.known = self.known | _known_at(part, 0)

    def scan(self, t: Array, rows: list[Array]) -> bool:
        """Look at new steps; True if an event ends the run."""
        if not len(t) or self.stopped is not None:
            return self.stopped is not None
        known = len(self.t)
        self.t = np.concatenate((self.t, t))
        self.rows = [np.concatenate((a, b)) for a, b in zip(self.rows, rows, strict=True)]
        self.acted = {name: np.append(self.acted[name], x) for name, x in self.inputs_at(t).items()}
        part = self._part(self.t, self.rows, self.known, self.acted)
        values = [event.values(part) for event in self.events]
        for event, old, new in zip(self.events, self.values, values, strict=True):
            if np.abs(new[:known] - old).max() > SAME * np.abs(new).max():
                raise ModelError(
                    f"event '{event.name}': its value at t = {self.t[known - 1]:.9g} changed when later records were "
                    "added; expected a function whose values depend on one record each (no differences between records)"
                )
        self.values = values
        self._judge(part, self.first, len(self.t) - 2)
        keep = max(0, len(self.t) - 3)  # the last step is not judged yet, and its left neighbour is needed
        self.known = self.known | _known_at(part, keep)
        self.first = len(self.t) - 2 - keep
        self.t, self.rows = self.t[keep:].copy(), [x[keep:].copy() for x in self.rows]
        self.acted = {name: x[keep:] for name, x in self.acted.items()}
        self.values = [x[keep:] for x in self.values]
        return self.stopped is not None

    def finish(self) -> None:
        """The run ends: judge the last step."""
        if self.stopped is None and self.first < len(self.t) - 1:
            part = self._part(self.t, self.rows, self.known, self.acted)
            self.values = [event.values(part) for event in self.events]
            self._judge(part, self.first, len(self.t) - 1)
            self.first = len(self.t) - 1

    def _part(self, t: Array, rows: list[Array], begins_with: dict[str, Any], acted: dict[str, Array]) -> Solution:
        """Records as a solution, and what is known of the first of them: angles with the turns before, quaternions."""
        known = {"integrator": self.integrator, "stats": {"step": self.step}}
        part = Solution(self.system, t, **named_rows(self.integrator, rows), **known, inputs=acted)
        part._begins_with = begins_with
        return part

    def _judge(self, part: Solution, first: int, last: int) -> None:
        """Find what happened in the steps first, ..., last - 1, in the order of time."""
        happened: list[tuple[Occurrence, Event, list[Array]]] = []
        for event, values in zip(self.events, self.values, strict=True):
            for k, between in _interesting(part.t, values, first, last):
                happened += _Step(self, event, part, k, values).occurrences(between)
        happened.sort(key=lambda item: item[0].t)
        for occurrence, event, row in happened:
            self.found.append(occurrence)
            if event.stop and self.stops:
                self.stopped, self.last_row = occurrence, row
                return

    def advanced(self, t: float, row: list[Array], offsets: Array) -> list[Array]:
        """Records that the integrator reaches from another one after increasing times, as (n, ...) arrays."""
        q, v, turns = row[0], row[1], row[-1]
        out = [np.zeros((len(offsets), len(x))) for x in row]
        piece = float(offsets[0])  # equal pieces
        count = max(1, math.ceil(piece / self.step * (1.0 - 1e-9))) if math.isfinite(self.step) else 1
        run = self.integrator.start(self.system, q, v, t, piece / count, turns)
        if not self.integrator.adaptive:
            wanted = count * len(offsets)
            failed = run.advance(wanted, count, out) < wanted
        else:
            failed = False
            for k, offset in enumerate(offsets.tolist()):
                while run.t < t + offset and not failed:
                    times, rows = np.zeros(50), [np.zeros((50, len(x))) for x in row]
                    made = run.advance_to(t + offset, 0.0, times, rows)
                    failed = run.failed
                    for target, x in zip(out, rows, strict=True):
                        target[k] = x[made - 1]
        if failed:
            run.evaluated.raise_callback_errors()
            raise ModelError(f"events: the step to an event near t = {t:.6g} failed: {run.failure()[1]}")
        run.evaluated.forget_errors()
        return out


def _known_at(part: Solution, k: int) -> dict[str, Any]:
    """Angles with all turns, and quaternions, at one record of a part of a run, as far as someone asked for them."""
    return {name: x[k] for name, x in part._followed.items()}


def _interesting(t: Array, values: Array, first: int, last: int) -> list[tuple[int, bool]]:
    """Steps k of first, ..., last - 1 in which something happened, and whether it may have happened several times.

    Between two values a parabola dips by at most an eighth of its second difference.
    """
    k = np.arange(first, last)
    width = np.diff(t)
    curvature = np.full(len(t), np.inf if len(t) == 2 else 0.0)
    if len(t) > 2:
        curvature[1:-1] = 2.0 * np.abs(np.diff(np.diff(values) / width)) / (t[2:] - t[:-2])
    bend = np.maximum(curvature[k], curvature[k + 1]) * width[k] ** 2
    a, b = values[k], values[k + 1]
    changes = (a != 0.0) & (np.sign(a) != np.sign(b))
    through = np.sign(a) * np.sign(b) < 0.0  # who arrives at zero may have been beyond it on the way
    room = np.where(through, np.abs(b - a), np.minimum(np.abs(a), np.abs(b)))
    between = (room <= DIP * bend) & (bend > 0.0)
    return [(int(i), bool(several)) for i, several, here in zip(k, between, between | changes, strict=True) if here]


class _Step:
    """One step, looked at closely."""

    def __init__(self, watch: Watch, event: Event, part: Solution, k: int, values: Array) -> None:
        self.watch, self.event = watch, event
        self.t, self.end = float(part.t[k]), float(part.t[k + 1])
        self.width = self.end - self.t
        self.row = [x[k] for x in part.rows()]
        self.before = _known_at(part, k)
        self.known = {0.0: float(values[k]), self.width: float(values[k + 1])}
        self.acted = {name: x[k : k + 2] for name, x in part._acted.items()}
        self.rows = {0.0: self.row, self.width: [x[k + 1] for x in part.rows()]}

    def occurrences(self, between: bool) -> list[tuple[Occurrence, Event, list[Array]]]:
        """All arrivals at zero in this step; ``between``: there may be several."""
        if between:
            self._look_between()
        found = []
        offsets = sorted(self.known)
        for a, b in pairwise(offsets):
            sign = int(np.sign(self.known[a]))
            if sign == 0 or np.sign(self.known[b]) == sign or self.event.direction not in (0, -sign):
                continue
            s = self._located(a, b)
            row, t = self.rows[s], self.end if s == self.width else self.t + s
            occurrence = Occurrence(self.event.name, t, -sign, row[0].copy(), row[1].copy())
            found.append((occurrence, self.event, row))
        return found

    def value(self, s: float) -> float:
        """The quantity after the time s."""
        if s not in self.known:
            self._evaluate(np.array([s]))
        return self.known[s]

    def _evaluate(self, offsets: Array) -> None:
        rows = self.watch.advanced(self.t, self.row, offsets)
        joined = [np.concatenate((a[None, :], b)) for a, b in zip(self.row, rows, strict=True)]
        acted = {name: x[np.minimum(np.arange(1 + len(offsets)), 1)] for name, x in self.acted.items()}
        part = self.watch._part(np.concatenate(([self.t], self.t + offsets)), joined, self.before, acted)
        for k, (s, value) in enumerate(zip(offsets.tolist(), self.event.values(part)[1:].tolist(), strict=True)):
            self.known[s], self.rows[s] = value, [x[k] for x in rows]

    def _look_between(self) -> None:
        """Smaller steps; where they all have one sign, on towards the smallest value."""
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
        if self.width - s <= 10.0 * TOLERANCE * self.width:  # at the record, as far as steps can tell
            s = self.width
        self.value(s)
        return s
