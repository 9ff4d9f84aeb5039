"""Simulator: a run that is made step by step, for control loops, hardware, learning and games."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from threading import RLock
from typing import Any

import numpy as np

from ..elements.arguments import FilePath, Held
from ..errors import MbdError, ModelError, read_only
from ..integrators.base import Array, Integrator, Run
from ..model import Element, Model
from ..results.balance import warn_of_gross_errors
from ..results.events import Event, Occurrence
from ..results.run_state import belongings
from ..results.solution import Solution, named_rows
from ..results.tabular import ChannelChoice
from ..results.turns import readings
from ..system.following import Inputs
from ..system.system import assemble
from .continuing import continued, noted_turns, state_of, turns_of
from .gauges import gauged
from .growing import NEVER
from .moving_constraints import MovingConstraints
from .present import Look, Now, Present, places_of
from .starting import (
    check_resolution,
    check_times,
    checked_events,
    checked_integrator,
    checked_model,
    found_start,
    refuse_beside_start,
    started,
    steps_between_records,
)
from .stepping import Stepping, whole

ROUND_OFF = 1e-12  # relative, of times


class Simulator(Stepping):
    """A run that is made step by step.

    ``sim.step()`` makes one step, ``sim.advance(0.01)`` as many as fit into a time; in between ``sim.t``,
    ``sim["tip"].position`` and all other quantities of a solution tell the present state. The steps are those of
    ``simulate``, bit for bit.

    Parameters
    ----------
    model: the model; it is assembled once, and what is changed in it later acts after ``rebuild``.
    step: step size; with step-size control the first one, and the run goes on with ``advance`` only.
    integrator: default ``GeneralizedAlpha()``, as for ``simulate``.
    t_start, fixed, start, events: as for ``simulate``.
    output_step: record only every so often (a multiple of the step for fixed-step methods); default: every step.
    record: False records nothing, for runs without end; names of quantities, or sensors, as for ``simulate``: then
        ``solution()`` returns an ``mbd.results.selection.Selection``.
    store: a new folder to which records, or the chosen quantities, are written while the run goes on; for one run.

    An error carries what was computed as its attribute ``solution``; Ctrl-C leaves a state that can be stepped on.

    >>> model = mbd.Model()
    >>> u = model.input("u")
    >>> cart = model.add(mbd.PointMass("cart", mass=2.0))
    >>> push = model.add(mbd.forces.Force(cart, (u, 0, 0)))
    >>> sim = mbd.Simulator(model, step=0.01)
    >>> for k in range(100):
    ...     sim.inputs["u"] = -8.0 * sim["cart"].position[0] - 4.0 * (sim["cart"].velocity[0] - 1.0)
    ...     sim.step()
    >>> f"x = {sim['cart'].position[0]:.3f} m at t = {sim.t:g} s"
    'x = 0.428 m at t = 1 s'
    """

    def __init__(
        self,
        model: Model,
        step: float,
        integrator: Integrator | None = None,
        *,
        t_start: float = 0.0,
        output_step: float | None = None,
        record: bool | ChannelChoice = True,
        store: FilePath | None = None,
        fixed: Held | None = None,
        start: Solution | Mapping[str, Any] | None = None,
        events: Event | Iterable[Event] = (),
    ) -> None:
        self._turn = RLock()
        self.model = checked_model("Simulator", model)
        self.integrator = checked_integrator(integrator)
        check_times("Simulator", step, output_step, t_start=t_start)
        check_resolution("Simulator", self.integrator, t_start, t_start, step, output_step)
        self._choice: Any = None if isinstance(record, bool | np.bool_) else record
        if record is None or (isinstance(record, int | float) and self._choice is not None):
            raise ModelError(f"Simulator: record is {record!r}; expected True, False, or names of quantities")
        if store is not None and self._choice is None and not record:
            raise ModelError("Simulator: store= is the folder of the records, and record=False makes none")
        self._store = store
        self._given = float(step)
        self._t_start, self._fixed = float(t_start), fixed
        self._output_step = float(output_step or 0.0)
        self._every = NEVER
        if record and not self.integrator.adaptive:
            self._every = steps_between_records("Simulator", step, output_step)
        self._records = self._choice is not None or bool(record)
        self._start: dict[str, Any] | None = None  # where a run begins if not at the initial values
        self._events = checked_events("Simulator", events)
        self.rebuild()
        if start is not None:
            given = state_of("Simulator", start)
            refuse_beside_start("Simulator", given, t_start, fixed)
            self.set_state(given)
            self._start = given
        self._check_records()

    # --- beginning ------------------------------------------------------------------------------------------------

    @whole
    def rebuild(self) -> None:
        """Assemble the model as it is now, and begin at its initial values."""
        self.system = assemble(self.model)
        self.integrator.check(self.system)
        self._first_inputs = dict(self.system.inputs)
        self._moving = MovingConstraints(self.system)
        self._start = None
        self._now: Present | None = None
        self._places: dict[str, tuple[dict[str, tuple[int, int]], dict[str, tuple[str, int]]]] = {}
        self._first_state: dict[str, Any] | None = None
        self._first_row: list[Array] = []
        self._first_values: dict[str, float] = {}
        self._first_functions: list[bytes] = []
        self.reset()

    @whole
    def reset(self, **parameters: float) -> None:
        """Back to the start: state, records, events, counters and inputs as when the simulator was made.

        ``parameters`` are new values of parameters, which stay, and of inputs, by their names. The start is the state
        that was given as ``start``, or the initial values.
        """
        self.system.set_parameters({**self._first_inputs, **parameters})
        self.system.refresh_functions()
        if self._start is not None:
            self.set_state(self._start)
            self.inputs.update({name: x for name, x in parameters.items() if name in self.inputs})
            return
        run: Any
        row: list[Array]
        if (
            self._first_state is not None
            and self._first_values == self.system.values
            and (self._first_functions == self._signature(self._run))
        ):
            run = self._run
            run.restore(self._first_state)
            row = self._first_row
        else:
            q, v, self._report = found_start(self.system, self._t_start, self._fixed)
            self._initial = q, v
            run = self._first_run(q, v)
            run.evaluated.raise_callback_errors()
            self._first_values, self._first_functions = dict(self.system.values), self._signature(run)
            self._first_state = run.state() if hasattr(run, "restore") else None
            row = self._first_row = [x.copy() for x in run.initial_row()]
        self._begin(run, self._report, [x.copy() for x in row])
        self._is_fresh = True

    def _first_run(self, q: Array, v: Array) -> Run:
        """The method at the beginning of a run, with the inputs that act now."""
        run = getattr(self, "_run", None)
        return started(self.system, self.integrator, q.copy(), v.copy(), self._t_start, self._given, run)

    def _begin_again(self) -> bool:
        """Inputs that change before the first step act from the beginning on, as those of the model do.

        That is another beginning of the method: the sudden change of a run that goes on is not needed. False if there
        is no way back, because steps were made, or somebody has looked at the records.
        """
        record = self._recording
        if not self._is_fresh or self._run.index != self._first_index or record.chooser or record.store:
            return False
        (q, v), report = self._initial, self._report
        if self._moving.may_move:
            q, v, report = found_start(self.system, self._t_start, self._fixed)
        run = self._first_run(q, v)
        self._begin(run, report, run.initial_row())
        self._is_fresh = True
        return True

    def set_state(self, state: Solution | Mapping[str, Any]) -> None:
        """Go on from a state, of this simulator, of another one or of a solution; records begin anew there.

        As with ``simulate(start=...)`` that is bit for bit, unless something that acts has changed since.
        """
        with self._turn:
            given = state_of("Simulator", state)
            names, values = given.pop("input_names", ()), given.pop("input_values", ())
            turns = turns_of(given)
            before = dict(self.system.inputs)
            try:
                self.system.inputs.update(zip(names, values, strict=True))
                self._settle()
                run, row = continued(self.system, self.integrator, given, self._given)
            except MbdError:
                self.system.inputs.update(before)  # the run that is here goes on
                self._settle()
                raise
            self._first_state = None  # which belongs to the run that is left here
            self._begin(run, None, row, turns)

    def _begin(self, run: Run, report: Any, row: list[Array], begins_with: dict[str, Any] | None = None) -> None:
        known = begins_with or {}
        self._take(run, report, row, known)
        if self._now is None or self._now.system is not self.system:
            self._now = Present(self, row)
        self._now.begin(run.t, row, known)
        self._shown = run.index, run.t
        self._first_index, self._t_begin = run.index, run.t
        self._is_fresh = False  # at the initial values, not at a state

    # --- reading --------------------------------------------------------------------------------------------------

    @property
    def inputs(self) -> Inputs:
        """Inputs by name: ``sim.inputs["u"] = 1.0`` acts from the next step on, suddenly."""
        return self.system.inputs

    @property
    def t(self) -> float:
        """Time of the present state; of the event that has ended the run."""
        stopped = self.stopped
        return self._run.t if stopped is None else stopped.t

    @property
    def index(self) -> int:
        """Steps made since the start; the last ones may lie behind an event that has ended the run."""
        return self._run.index

    @property
    @whole
    def q(self) -> Array:
        """Coordinates at present."""
        return read_only(self._at_present().q[0].copy())

    @property
    @whole
    def v(self) -> Array:
        """Velocities at present."""
        return read_only(self._at_present().v[0].copy())

    @property
    def events(self) -> list[Occurrence]:
        """What has happened so far; a step is judged when the next one is known."""
        return list(self._recording.watch.found) if self._recording.watch is not None else []

    @property
    @whole
    def now(self) -> Present:
        """The present state as a solution of one record; whoever keeps it sees every step."""
        self._is_kept = True
        return self._at_present()

    def _at_present(self) -> Present:
        """``now``, for a look that is over before the next step: later steps need not be shown to it."""
        index, t = self._run.index, self.t
        assert self._now is not None
        if self._shown != (index, t):
            self._now.move(t, self._row())
            self._shown = index, t
        return self._now

    def _row(self) -> list[Array]:
        """The present state as the method records it; that of the event that has ended the run."""
        watch = self._recording.watch
        if watch is not None and watch.stopped is not None:
            return watch.last_row
        row = self._run.row()
        if self._changed_at != self._run.index:
            return row
        return np.split(self._row_before, np.cumsum([len(x) for x in row[:-1]]))

    def __getitem__(self, key: Element | str) -> Now:
        """What an element does at present: ``sim["tip"].position``, ``sim[joint].angle``."""
        name = self.model[str(getattr(key, "name", key))].name
        places = self._places.get(name)
        if places is None:
            element = self.system.model[name]
            places = self._places[name] = places_of(self.system, element), gauged(self.system, element)
        return Now(self, name, *places)

    def _present_row(self) -> list[Array] | None:
        """Coordinates, velocities and more of the present state as the method has them; None of the first state."""
        return self._row() if self._run.index != self._first_index else None

    @property
    @whole
    def state(self) -> dict[str, Any]:
        """Everything needed to go on from here, bit for bit: for ``set_state``, and ``simulate(start=...)``."""
        if self.stopped is not None:
            raise ModelError(
                f"Simulator: event '{self.stopped.name}' has ended the run at t = {self.stopped.t:.9g}, between two "
                "steps, where there is no state to go on from; begin a new run there with mbd.model_at(sim.solution())"
            )
        self._look_for_changes()  # accelerations are those of the inputs that the state names
        self._settle()
        state, inputs = self._run.state(), self.system.inputs
        names = {"input_names": tuple(inputs), "input_values": np.array(list(inputs.values()))} if inputs else {}
        return state | belongings(self.system, self.integrator, state) | names | noted_turns(self._turns())

    def _turns(self) -> dict[str, Any]:
        """Angles with their turns, and quaternions that somebody has looked at; NaN where turns are not known."""
        known: dict[str, Any] = {}
        read: dict[Any, float] = {}
        for name, angle in readings(self.system).items():
            try:
                known[name] = read[angle] = read[angle] if angle in read else float(angle(self))
            except ModelError:
                known[name] = np.nan
        for name in [*self._at_present()._signs]:
            known[name] = self._at_present()[name].quaternion[0]
        return known

    def solution(self) -> Any:
        """The records since the start as a solution, or the chosen quantities; the run may go on afterwards."""
        with self._turn:
            self._close()
            if self.stopped is None:
                self._recording.finish()
            chooser = self._recording.chooser
            system = chooser.system if chooser is not None else self._system_of_solution()
            if chooser is not None:  # made when the run began
                system.inputs.update({name: self._acted[name] for name in system.inputs})
                system._following.settle()
            solution = self._recording.solution(system=system)
            solution.stats.pop("wall_time")
            if chooser is not None:
                return self._recording.selection(solution)
            solution.settle()
            warn_of_gross_errors(solution, 0.0 if self.integrator.adaptive else self._run.step, stacklevel=2)
            return solution

    def _angle_told_by_records(
        self, name: str, near: float, last: Look | None, now: float, row: list[Array], read: Callable[[Solution], Array]
    ) -> float:
        """Where an angle is expected at present, with the turns that the records since a look at it tell.

        ``near`` is where it is expected at the first state, if nobody has looked; ``row`` is the present one.
        """
        self._close()
        if self._choice is not None:
            since = last.step if last is not None else self._first_index
            return near if self.index - since <= 1 else self._angle_told_by_choice(name, since)
        part = self._records_since(None if last is None else last.t, now, row)
        part._begins_with[name] = near if last is None else last.angle + last.rate * (part.t[0] - last.t)
        return float(read(part)[-1])

    def _quaternion_told_by_records(
        self, name: str, before: Array | None, since: float | None, now: float, row: list[Array],
        read: Callable[[Solution], Array],
    ) -> Array | None:  # fmt: skip
        """A quaternion with the sign that the records since the last look tell; without records, that of the look."""
        self._close()
        if self._choice is not None:
            chooser = self._recording.chooser
            return before if chooser is None else chooser.known.get(name, before)
        if not self._records:
            return before
        part = self._records_since(since, now, row)
        if before is not None:
            part._begins_with[name] = before
        told: Array = read(part)[-1]
        return told

    def _records_since(self, last: float | None, now: float, row: list[Array]) -> Solution:
        """The records behind a time, from the first one on if it is None, up to the present state."""
        t, rows = self._recording.joined()
        first = int(np.searchsorted(t, last * (1.0 + ROUND_OFF), side="right")) if last is not None else 0
        assert self._now is not None
        if first not in self._now._parts:
            end = int(np.searchsorted(t, now + ROUND_OFF * abs(now), side="right"))  # others lie behind an event
            t, rows = t[first:end], [x[first:end] for x in rows]
            if not len(t) or t[-1] < now - ROUND_OFF * abs(now):  # between two records
                t, rows = np.append(t, now), [np.concatenate((x, y)) for x, y in zip(rows, row, strict=True)]
            part = Solution(self.system, t, **named_rows(self.integrator, rows), integrator=self.integrator)
            self._now._parts[first] = part
        return self._now._parts[first]

    def _angle_told_by_choice(self, name: str, since: int) -> float:
        """Where an angle was at the last record, if it is among the chosen quantities: no other records are kept."""
        chooser = self._recording.chooser
        if chooser is not None and name in chooser.known:
            return float(chooser.known[name])
        missed = self.index - max(since, 0)
        raise ModelError(
            f"{self.model}: the turns of {name} in the last {missed} steps are not known, because other quantities are "
            "recorded; look at it after every step from the first one on, or record it as well: record=[...]"
        )

    def __getstate__(self) -> Any:
        raise ModelError(
            f"{self!r} is neither copied nor pickled: make another Simulator of the model, and give it the state: "
            "other.set_state(sim.state), whose steps are the same, bit for bit"
        )

    def __repr__(self) -> str:
        return f"<Simulator of {self.model}: t = {self.t:.6g}, {self.index} steps, {self.integrator.name}>"
