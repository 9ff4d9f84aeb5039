"""Events: instants at which a quantity reaches zero or passes through it; they are recorded, or end the simulation.

A quantity is any function of a solution with one value per record, such as a sensor. It is looked at after every step,
whatever is recorded. What happens between two steps is located on the solution between its records (``solution.at``),
which has the order of the method and meets them. Two crossings between two steps leave no change of sign: where the
curvature of the values allows the quantity to have come to zero and back, more is looked at between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbd.compiled.functions.travelling import sent_as_code
from mbd.elements.attributes import refuse_nameless
from mbd.elements.function_errors import place_of
from mbd.elements.values import in_force
from mbd.errors import MbdError, ModelError, UserFunctionError, bad_value
from mbd.results.crossings import Quantity, crossings
from mbd.results.numbers_at_records import NumbersAtRecords
from mbd.results.solution import Solution, named_rows
from mbd.system.dense import MOST_FURTHER
from mbd.system.following import check_own

Array = np.ndarray
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
            with in_force(NumbersAtRecords(solution, f"event '{self.name}'")):
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
    if len(solution) < 2:
        return []
    alone, known = solution.part(0), _checked(events, solution.model)
    values = [event.values(solution) for event in known]
    for event, all_values in zip(known, values, strict=True):
        _check_alone(event, event.values(alone), all_values, float(solution.t[0]))
    return [x for x, _, _ in _happened(known, values, solution, 0, len(solution) - 1, _step_of(solution))]


def _step_of(solution: Solution) -> float:
    """The step of the method; where nobody knows it, the median distance of records: the last one may be an event."""
    step = solution.stats.get("step", 0.0) or solution._numbers_of_state.get("step", 0.0)
    widths = np.diff(solution.t)
    return float(step or np.median(widths[widths > 0.0]))


def _checked(events: Event | Iterable[Event], model: Any) -> list[Event]:
    known = [events] if isinstance(events, Event) else list(events)
    for event in known:
        if not isinstance(event, Event):
            raise bad_value("simulate", "events", event, "an mbd.Event, or a list of them")
        check_own(model, [event.function], f"event '{event.name}'")
    return known


def _check_alone(event: Event, before: Array, now: Array, t: float) -> None:
    """The values of some records have to be the same when further ones follow them."""
    if np.abs(now[: len(before)] - before).max() > SAME * np.abs(now).max():
        raise ModelError(
            f"event '{event.name}': its value at t = {t:.9g} changed when later records were added; expected a "
            "function whose values depend on one record each (no differences between records)"
        )


class Watch:
    """Looks for events while steps arrive.

    A step is judged when its neighbours on both sides are known, or at the end of the run, so that nothing depends on
    how the run was cut into pieces. It is judged by its records, with the inputs that acted in it.
    """

    def __init__(self, system: Any, integrator: Any, step: float, events: Event | Iterable[Event]) -> None:
        self.events = _checked(events, system.model)
        self.system, self.integrator, self.step = system, integrator, step
        self.found: list[Occurrence] = []
        self.stopped: Occurrence | None = None
        self.last_row: list[Array] = []
        self.known: dict[str, Any] = {}  # angles with their turns, and quaternions, at the first record
        self.are_fixed = True  # functions of users; False if they may act otherwise from step to step
        self.inputs_at: Callable[[Array], dict[str, Array]] = lambda t: {}  # of the steps that end at these times

    def begin(self, t: Array, rows: list[Array]) -> None:
        """The first record, or another one to go on from."""
        self.t, self.rows, self.first = t.copy(), [x.copy() for x in rows], 0
        self.acted = self.inputs_at(self.t)
        part = self.last_part = self._part(self.t, self.rows, self.known, self.acted)
        self.values = [event.values(part) for event in self.events]
        self.known = self.last_known = self.known | _known_at(part, 0)

    def begin_anew(self, t: Array, rows: list[Array]) -> None:
        """Something acts otherwise from this record on: steps before it are judged without those behind it."""
        self.finish()
        self.known, before = self.last_known, self.values
        self.begin(t, rows)
        if self.stopped is None:  # what jumps is told here
            twice = [np.concatenate((x, x)) for x in (t, *rows, *self.acted.values())]
            rows, acted = twice[1 : 1 + len(rows)], dict(zip(self.acted, twice[1 + len(rows) :], strict=True))
            values = [np.append(old[-1], new) for old, new in zip(before, self.values, strict=True)]
            self._judge(self._part(twice[0], rows, self.known, acted), values, 0, 1)

    def scan(self, t: Array, rows: list[Array]) -> bool:
        """Look at new steps; True if an event ends the run."""
        if not len(t) or self.stopped is not None:
            return self.stopped is not None
        new_from, t = len(self.t), np.concatenate((self.t, t))
        rows = [np.concatenate((a, b)) for a, b in zip(self.rows, rows, strict=True)]
        acted = {name: np.append(self.acted[name], x) for name, x in self.inputs_at(t[new_from:]).items()}
        self.t, self.rows, self.acted = t, rows, acted  # for the next time, if a function fails
        part = self._part(t, rows, self.known, acted)
        values = [event.values(part) for event in self.events]
        known = len(self.last_part)
        for event, old, new in zip(self.events, self.values, values, strict=True):
            if self.are_fixed:
                _check_alone(event, old, new, float(t[known - 1]))
        if self.system.assembly.callbacks:
            _ = part.vd  # with functions of users as they act now
        values = [np.append(old, new[known:]) for old, new in zip(self.values, values, strict=True)]
        self._judge(part, values, self.first, len(t) - 2)
        keep = max(0, len(t) - 2 - MOST_FURTHER)  # the last step is not judged yet, and needs those before it
        self.known, self.last_known = self.known | _known_at(part, keep), self.known | _known_at(part, -1)
        self.first, self.last_part = len(t) - 2 - keep, part.part(slice(keep, None))
        self.t, self.rows = t[keep:].copy(), [x[keep:].copy() for x in rows]
        self.acted = {name: x[keep:] for name, x in acted.items()}
        self.values = [x[keep:] for x in values]
        return self.stopped is not None

    def finish(self) -> None:
        """The run ends: judge the last step."""
        last = len(self.last_part) - 1
        if self.stopped is None and self.first < last:
            self._judge(self.last_part, self.values, self.first, last)
            self.first = last

    def _part(self, t: Array, rows: list[Array], begins_with: dict[str, Any], acted: dict[str, Array]) -> Solution:
        """Records as a solution, and what is known of the first of them: angles with the turns before, quaternions."""
        known = {"integrator": self.integrator, "stats": {"step": self.step}}
        part = Solution(self.system, t, **named_rows(self.integrator, rows), **known, inputs=acted)
        part._begins_with = begins_with
        return part

    def _judge(self, part: Solution, values: list[Array], first: int, last: int) -> None:
        """Find what happened in the steps first, ..., last - 1, up to what ends the run."""
        for occurrence, event, row in _happened(self.events, values, part, first, last, self.step):
            self.found.append(occurrence)
            if event.stop:
                self.stopped, self.last_row = occurrence, row
                return


def _happened(
    events: list[Event], all_values: list[Array], part: Solution, first: int, last: int, step: float
) -> list[tuple[Occurrence, Event, list[Array]]]:
    """What happened in the steps first, ..., last - 1, in the order of time."""
    found = []
    for event, values in zip(events, all_values, strict=True):
        quantity = Quantity(f"event '{event.name}'", event.values, event.direction)
        for t, direction, row in crossings(quantity, values, part, first, last, step):
            found.append((Occurrence(event.name, t, direction, row[0].copy(), row[1].copy()), event, row))
    return sorted(found, key=lambda item: item[0].t)


def _known_at(part: Solution, k: int) -> dict[str, Any]:
    """Angles with all turns, and quaternions, at one record of a part of a run, as far as someone asked for them."""
    return {name: x[k] for name, x in part._followed.items()}
