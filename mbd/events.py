"""Events: instants at which a quantity passes through zero; they are recorded, or end the simulation.

A quantity is any function of a solution with one value per record, such as a sensor. Crossings are found between
records and located by steps of the integrator itself from the last record before them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mbd.errors import MbdError, ModelError, bad_value
from mbd.solution import Solution

Array = np.ndarray
TOLERANCE = 1e-12  # of the time of an event, beside the distance of the records


@dataclass(frozen=True)
class Event:
    """Something that happens when ``function(solution)``, one value per record, passes through zero.

    Parameters
    ----------
    function: a sensor, or any function of a solution: ``lambda s: s["ball"].position[:, 2]``.
    stop: whether the simulation ends there.
    direction: +1 for rising, -1 for falling, 0 for both.
    name: for reports.
    """

    function: Callable[[Any], Any]
    stop: bool = False
    direction: int = 0
    name: str = "event"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise bad_value("event", "function", self.function, "a function of a solution")
        if self.direction not in (-1, 0, 1):
            raise bad_value(f"event '{self.name}'", "direction", self.direction, "-1, 0 or 1")

    def values(self, solution: Solution) -> Array:
        """The quantity at every record."""
        try:
            values = np.asarray(self.function(solution), dtype=float)
        except MbdError:
            raise
        except Exception as error:
            raise ModelError(f"event '{self.name}': its function raised {type(error).__name__}: {error}") from error
        if values.shape != (len(solution),):
            raise ModelError(
                f"event '{self.name}': its function returned an array of shape {values.shape}; expected one number per "
                f"record, {(len(solution),)}, such as s['ball'].position[:, 2]"
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
    """All occurrences of the events in a finished run, in the order of time."""
    if not hasattr(solution.integrator, "start"):
        raise ModelError("find_events: this solution has no integrator that could step to an event between records")
    watch = Watch(solution.system, solution.integrator, _step_of(solution), events)
    watch.begin(solution.t[:1], [x[:1] for x in _rows(solution)])
    watch.scan(solution.t[1:], [x[1:] for x in _rows(solution)], stop=False)
    return watch.found


def _rows(solution: Solution) -> list[Array]:
    turns = solution.turns if solution.turns is not None else np.zeros((len(solution), len(solution.system.work.turns)))
    return [solution.q, solution.v, solution.vd, solution.lam, turns]


def _solution(system: Any, t: Array, rows: list[Array]) -> Solution:
    q, v, vd, lam, turns = rows
    return Solution(system, t, q, v, vd, lam, turns)


def _step_of(solution: Solution) -> float:
    step = float(solution.state.get("step", 0.0) or 0.0)
    return step if step > 0.0 else float(np.diff(solution.t).min(initial=math.inf))


class Watch:
    """Looks for events while records arrive."""

    def __init__(self, system: Any, integrator: Any, step: float, events: Event | Iterable[Event]) -> None:
        self.events = [events] if isinstance(events, Event) else list(events)
        for event in self.events:
            if not isinstance(event, Event):
                raise bad_value("simulate", "events", event, "an mbd.Event, or a list of them")
        self.system, self.integrator, self.step = system, integrator, step
        self.found: list[Occurrence] = []
        self.stopped: Occurrence | None = None
        self.last_row: list[Array] = []
        self.seen = 0

    def begin(self, t: Array, rows: list[Array]) -> None:
        """The first record."""
        self.t, self.rows = t.copy(), [x.copy() for x in rows]

    def scan(self, t: Array, rows: list[Array], stop: bool = True) -> bool:
        """Look at new records; True if an event ends the run."""
        if not len(t):
            return False
        times = np.concatenate((self.t, t))
        joined = [np.concatenate((a, b)) for a, b in zip(self.rows, rows, strict=True)]
        part = _solution(self.system, times, joined)
        happened: list[tuple[Occurrence, Event, list[Array]]] = []
        for event in self.events:
            values = event.values(part)
            sign = np.sign(values)
            crossing = (sign[:-1] != 0) & (sign[1:] != sign[:-1])
            for k in np.flatnonzero(crossing):
                direction = int(-sign[k])
                if event.direction in (0, direction):
                    happened.append((*self._located(event, part, int(k), values, direction),))
        happened.sort(key=lambda item: item[0].t)
        for occurrence, event, row in happened:
            self.found.append(occurrence)
            if event.stop and stop:
                self.stopped, self.last_row = occurrence, row
                return True
        self.t, self.rows = times[-1:].copy(), [x[-1:].copy() for x in joined]
        return False

    def _located(
        self, event: Event, part: Solution, k: int, values: Array, direction: int
    ) -> tuple[Occurrence, Event, list[Array]]:
        """The crossing between records k and k + 1."""
        from scipy.optimize import brentq

        width = float(part.t[k + 1] - part.t[k])
        start = [x[k] for x in _rows(part)]
        latest: dict[float, list[Array]] = {}

        def value(s: float) -> float:
            if s <= 0.0:
                return float(values[k])
            row = self._advanced(float(part.t[k]), start, s)
            latest[s] = row
            single = _solution(self.system, np.array([part.t[k] + s]), [x[None, :] for x in row])
            return float(event.values(single)[0])

        if values[k + 1] == 0.0 or value(width) * values[k] > 0.0:  # at the record, as far as steps can tell
            s, row = width, [x[k + 1] for x in _rows(part)]
        else:
            s = brentq(value, 0.0, width, xtol=TOLERANCE * width, rtol=1e-14, maxiter=60)
            if s not in latest:
                value(s)
            row = latest[s]
        t = float(part.t[k]) + s
        return Occurrence(event.name, t, direction, row[0].copy(), row[1].copy()), event, row

    def _advanced(self, t: float, row: list[Array], s: float) -> list[Array]:
        """The record that the integrator reaches from another one after the time s."""
        q, v, _, _, turns = row
        count = max(1, math.ceil(s / self.step * (1.0 - 1e-9))) if math.isfinite(self.step) else 1
        run = self.integrator.start(self.system, q, v, t, s / count, turns)
        if not self.integrator.adaptive:
            out = [np.zeros((1, len(x))) for x in row]
            if run.advance(count, count, out) < count:
                raise ModelError(f"events: the step to an event near t = {t:.6g} failed: {run.failure()[1]}")
            return [x[0] for x in out]
        while run.t < t + s:
            times, out = np.zeros(50), [np.zeros((50, len(x))) for x in row]
            made = run.advance_to(t + s, 0.0, times, out)
            if run.failed:
                raise ModelError(f"events: the step to an event near t = {t:.6g} failed: {run.failure()[1]}")
        return [x[made - 1].copy() for x in out]
