"""Simulator: a run that is made step by step, for control loops, hardware, learning and games."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..compiled.functions.code import HEAD
from ..compiled.interrupts import Interrupts
from ..elements.arguments import Held
from ..errors import MbdError, ModelError, read_only
from ..integrators.base import Array, Integrator, Run
from ..integrators.user import PythonRun
from ..model import Element, Model
from ..results.balance import warn_of_gross_errors
from ..results.events import Event, Occurrence
from ..results.solution import Solution, named_rows
from ..solvers.redundancy import regularise
from ..system.following import Inputs
from ..system.system import System, assemble
from ..system.tables import FLAG_REDUNDANT
from .continuing import WHOLE_STEPS, belongings, continued
from .growing import NEVER, GrowingRecords
from .memory import check_room
from .present import Now, Present
from .recording import Recording, on_grid
from .starting import check_resolution, check_times, checked_integrator, checked_model, first_run, steps_between_records

CHUNK_SECONDS = 0.05  # compiled code returns this often, for Ctrl-C
FIRST_CHUNK = 50
ROUND_OFF = 1e-6  # of a step: of the number of steps in a duration


class Simulator:
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
    record: False records nothing, for runs without end.

    An error carries what was computed as its attribute ``solution``; Ctrl-C leaves a state that can be stepped on.
    """

    def __init__(
        self,
        model: Model,
        step: float,
        integrator: Integrator | None = None,
        *,
        t_start: float = 0.0,
        output_step: float | None = None,
        record: bool = True,
        fixed: Held | None = None,
        start: Solution | Mapping[str, Any] | None = None,
        events: Event | Iterable[Event] = (),
    ) -> None:
        self.model = checked_model("Simulator", model)
        self.integrator = checked_integrator(integrator)
        check_times("Simulator", step, output_step, t_start=t_start)
        if not isinstance(record, bool | np.bool_):
            raise ModelError(f"Simulator: record is {record!r}; expected True or False")
        self._given = float(step)
        self._t_start, self._fixed = float(t_start), fixed
        self._output_step = float(output_step or 0.0)
        self._every = NEVER
        if record and not self.integrator.adaptive:
            self._every = steps_between_records("Simulator", step, output_step)
        self._records = bool(record)
        self._events = [events] if isinstance(events, Event) else list(events)
        self.rebuild()
        if start is not None:
            self.set_state(start)

    # --- beginning ------------------------------------------------------------------------------------------------

    def rebuild(self) -> None:
        """Assemble the model as it is now, and begin at its initial values."""
        self.system: System = assemble(self.model)
        self.integrator.check(self.system)
        self._first_inputs = dict(self.system.inputs)
        self._first_state: dict[str, Any] | None = None
        self._first_values: dict[str, float] = {}
        self._first_functions: list[bytes] = []
        self.reset()

    def reset(self, **parameters: float) -> None:
        """Back to the start: state, records, events, counters and inputs as when the simulator was made.

        ``parameters`` are new values of parameters, which stay, and of inputs, by their names.
        """
        self.system.set_parameters({**self._first_inputs, **parameters})
        self.system.refresh_functions()
        run: Any
        if (
            self._first_state is not None
            and self._first_values == self.system.values
            and (self._first_functions == self._signature(self._run))
        ):
            run = self._run
            run.restore(self._first_state)
        else:
            run, self._report = first_run(self.system, self.integrator, self._t_start, self._given, self._fixed)
            run.evaluated.raise_callback_errors()
            self._first_values, self._first_functions = dict(self.system.values), self._signature(run)
            self._first_state = run.state() if hasattr(run, "restore") else None
        self._begin(run, self._report)

    def set_state(self, state: Solution | Mapping[str, Any]) -> None:
        """Go on from a state, of this simulator, of another one or of a solution; records begin anew there.

        As with ``simulate(start=...)`` that is bit for bit, unless something that acts has changed since.
        """
        given = dict(state.state if isinstance(state, Solution) else state)
        names, values = given.pop("input_names", ()), given.pop("input_values", ())
        for name, value in zip(names, values, strict=True):
            self.system.inputs[name] = value
        self._settle()
        self._first_state = None  # which belongs to the run that is left here
        self._begin(continued(self.system, self.integrator, given, self._given), None)

    def _begin(self, run: Run, report: Any) -> None:
        """Make a run the present one; its state is the first record."""
        self._run = run
        row = run.initial_row() if report is not None else run.row()
        self._recording = Recording(self.system, self.integrator, run, report)
        self._recording.blocks = [(np.array([run.t]), [x[None, :].copy() for x in row])]
        self._recording.watch_for(self._events, run.step)
        self._rows = GrowingRecords(run, self._every)
        self._functions = run.evaluated.assembly.callbacks
        self._function_values = self._signature(run)
        self._values, self._acting = self.system.values, dict(self.system.values)
        if self._first_inputs:
            self._recording.inputs = [(run.t, dict(self.system.inputs))]
        self._plain = run.evaluated.has_plain_functions or isinstance(run, PythonRun)
        self._step: Callable[[], Any] | None = None
        self._now = Present(self, row)
        self._now.move(run.t, row)
        self._shown = run.index, run.t

    # --- going on -------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Make one step."""
        call, run = self._step, self._run
        if call is None:
            self._advance_steps(1)
            return
        if self._values != self._acting:
            self._note_inputs()
        if self._functions:
            self._refresh()
        index = run.index
        call()
        if run.index == index:
            self._not_made()
        if self._functions:
            self._check_functions()

    def advance(self, duration: float) -> None:
        """As many steps as fit into a time, which must be a whole number of steps; with step-size control any time."""
        number = isinstance(duration, int | float | np.number) and not isinstance(duration, bool)
        if not (number and np.isfinite(duration) and duration >= 0.0):
            raise ModelError(f"Simulator.advance: duration is {duration!r}; expected a time, positive or zero")
        run = self._run
        if self.integrator.adaptive:
            end = run.t + float(duration)
            check_resolution("Simulator", self.integrator, run.t, end, self._given, self._output_step or None)
            self._advance_to(end)
            return
        count = duration / run.step
        if abs(count - round(count)) > max(WHOLE_STEPS * count, ROUND_OFF):
            raise ModelError(
                f"Simulator.advance: {duration:g} is {count:.9g} steps of {run.step:g}; expected a whole number of them"
            )
        self._advance_steps(round(count))

    def _advance_steps(self, count: int) -> None:
        if self.integrator.adaptive:
            raise ModelError(f"Simulator.step: {self.integrator.name} chooses its steps itself; use advance(duration)")
        self._refuse_if_stopped()
        self._look_for_changes()
        run, record = self._run, self._recording
        goal, chunk = run.index + count, 1 if self._plain else FIRST_CHUNK
        with Interrupts() as interrupts:
            while run.index < goal:
                interrupts.defer = True
                todo, clock = min(chunk, goal - run.index), time.perf_counter()
                if record.watch is None:
                    made = run.advance(todo, self._every, self._room(todo))
                    self._judge(made == todo)
                else:
                    self._watched_steps(todo)
                chunk = min(max(1, int(todo * CHUNK_SECONDS / max(time.perf_counter() - clock, 1e-6))), 10 * todo)
                interrupts.defer = False
                interrupts.check()
                if self.stopped is not None:
                    return
        if self._step is None and record.watch is None and not self._plain:
            self._bind()

    def _watched_steps(self, count: int) -> None:
        """Steps that events look at, all of them."""
        run, index = self._run, self._run.index
        target, rows = self._room(count), [np.zeros((count, len(x))) for x in run.row()]
        made = run.advance(count, 1, rows)
        numbers = index + 1 + np.arange(made)
        kept = numbers % self._every == 0
        for array, x in zip(target, rows, strict=True):
            array[: np.count_nonzero(kept)] = x[:made][kept]
        with self._carrying_solution():
            self._recording.happened(run.origin + run.step * numbers, [x[:made] for x in rows])
        if self.stopped is None:
            self._judge(made == count)

    def _advance_to(self, t_end: float) -> None:
        """With step-size control, to a time."""
        self._refuse_if_stopped()
        self._look_for_changes()
        run: Any = self._run
        record, rows = self._recording, 1 if self._plain else FIRST_CHUNK
        with Interrupts() as interrupts:
            while run.t < t_end and self.stopped is None:
                interrupts.defer = True
                clock = time.perf_counter()
                t, arrays = np.zeros(rows), [np.zeros((rows, len(x))) for x in run.row()]
                spacing = self._output_step
                made = run.advance_to(t_end, spacing if record.watch is None else -spacing, t, arrays)
                t, arrays = t[:made], [x[:made] for x in arrays]
                if self._records:
                    check_room(
                        made, 1 + sum(x.shape[1] for x in arrays), "Simulator", "record less often: output_step="
                    )
                    kept = on_grid(t, spacing, t_end) if record.watch is not None and spacing else slice(None)
                    record.append(t[kept].copy(), [x[kept].copy() for x in arrays])
                with self._carrying_solution():
                    record.happened(t, arrays)
                if self.stopped is None:
                    self._judge(not run.failed)
                interrupts.defer = False
                interrupts.check()
                rows = min(max(1, int(rows * CHUNK_SECONDS / max(time.perf_counter() - clock, 1e-6))), 10000)

    def _not_made(self) -> None:
        """A bound step was not made: there is no row for its record, or it failed."""
        run = self._run
        if self._rows.is_full():
            self._advance_steps(1)
            return
        while run.recover():
            index = run.index
            self._bind()()
            if run.index > index:
                return
        self._judge(False)

    def _bind(self) -> Callable[[], Any]:
        """Prepare a step into the present block of records."""
        step = self._run.bound_step(self._every, self._rows.before, self._rows.block)
        self._step = getattr(step, "call", step)
        return self._step

    def _room(self, steps: int) -> list[Array]:
        """Rows for the records of further steps."""
        rows, closed = self._rows.room(steps)
        if closed is not None:
            self._recording.append(*closed)
            self._step = None
        return rows

    def _judge(self, made: bool) -> None:
        """After steps: raise what stopped them, with the computed part."""
        with self._carrying_solution():
            if not made:
                self._close()
                self._recording.fail()
            self._check_functions()

    def _look_for_changes(self) -> None:
        if self._values != self._acting:
            self._note_inputs()
        self._refresh()

    def _note_inputs(self) -> None:
        """Inputs have changed since the last step."""
        values, inputs = self.system.values, self.system.inputs
        other = next((name for name, x in values.items() if x != self._acting[name] and name not in inputs), None)
        if other is not None:
            raise ModelError(
                f"Simulator: parameter '{other}' was changed during the run; begin anew with reset({other}=...), or "
                "make it an input of the model"
            )
        self._jump()
        self._acting = dict(values)
        self._recording.inputs.append((self._run.t, dict(inputs)))

    def _settle(self) -> None:
        """Let the elements of the system know its inputs, as a model does that is built with them."""
        if self._first_inputs:
            self.system._following.settle()

    @staticmethod
    def _signature(run: Run) -> list[bytes]:
        """What user functions refer to, as far as compiled code knows it."""
        functions = run.evaluated.assembly.callbacks
        codes = [callback.code for callback in functions if callback.compiled]
        arrays = [x.tobytes() for code in codes for x in code.kept if isinstance(x, np.ndarray)]
        return [code.block[HEAD:].tobytes() for code in codes] + arrays

    def _refresh(self) -> None:
        """Let user functions see what they refer to now; if it has changed, it has changed suddenly."""
        if self._functions:
            self._run.evaluated.refresh_functions()
            values = self._signature(self._run)
            if values != self._function_values:
                self._function_values = values
                self._jump()

    def _jump(self) -> None:
        """What acts has changed since the last step."""
        watch = self._recording.watch
        if watch is not None:  # the last step is judged with what acted in it
            with self._carrying_solution():
                watch.finish()
            watch.begin(np.array([self._run.t]), [x[None, :] for x in self._run.row()])
        self._run.act_anew()

    def _check_functions(self) -> None:
        """An error of a user function counts if it is there at the present state too."""
        if any(callback.noted for callback in self._functions):
            with self._carrying_solution():
                self._recording.check_functions(np.array([self._run.t]), [x[None, :] for x in self._run.row()])

    @contextmanager
    def _carrying_solution(self) -> Iterator[None]:
        """What was computed is not lost with an error."""
        try:
            yield
        except MbdError as error:
            if error.solution is None:
                self._close()
                error.solution = self._recording.solution(str(error), self._system_of_solution())
            raise

    def _close(self) -> None:
        """Hand the present block of records over."""
        if self._rows.used:
            self._recording.append(*self._rows.closed())
        self._step = None

    def _refuse_if_stopped(self) -> None:
        if self.stopped is not None:
            raise ModelError(
                f"Simulator: event '{self.stopped.name}' has ended the run at t = {self.stopped.t:.9g}; begin again "
                "with reset(), or go on from an earlier state with set_state(...)"
            )

    # --- reading --------------------------------------------------------------------------------------------------

    @property
    def inputs(self) -> Inputs:
        """Inputs by name: ``sim.inputs["u"] = 1.0`` acts from the next step on, suddenly."""
        return self.system.inputs

    @property
    def t(self) -> float:
        """Time of the present state."""
        return self._run.t

    @property
    def index(self) -> int:
        """Steps made since the start."""
        return self._run.index

    @property
    def q(self) -> Array:
        """Coordinates at present."""
        return read_only(self.now.q[0].copy())

    @property
    def v(self) -> Array:
        """Velocities at present."""
        return read_only(self.now.v[0].copy())

    @property
    def events(self) -> list[Occurrence]:
        """What has happened so far; a step is judged when the next one is known."""
        return list(self._recording.watch.found) if self._recording.watch is not None else []

    @property
    def stopped(self) -> Occurrence | None:
        """The event that has ended the run."""
        return self._recording.watch.stopped if self._recording.watch is not None else None

    @property
    def now(self) -> Present:
        """The present state as a solution of one record; it changes with the next step."""
        run = self._run
        if self._shown != (run.index, run.t):
            self._now.move(run.t, run.row())
            self._shown = run.index, run.t
        return self._now

    def __getitem__(self, key: Element | str) -> Now:
        """What an element does at present: ``sim["tip"].position``, ``sim[joint].angle``."""
        return Now(self, self.model[str(getattr(key, "name", key))].name)

    @property
    def state(self) -> dict[str, Any]:
        """Everything needed to go on from here, bit for bit: for ``set_state``, and ``simulate(start=...)``."""
        self._settle()
        state, inputs = self._run.state(), self.system.inputs
        names = {"input_names": tuple(inputs), "input_values": np.array(list(inputs.values()))} if inputs else {}
        return state | belongings(self.system, self.integrator, state) | names

    def solution(self) -> Solution:
        """The records since the start as a solution; the run may go on afterwards."""
        self._close()
        if self.stopped is None:
            self._recording.finish()
        solution = self._recording.solution(system=self._system_of_solution())
        solution.stats.pop("wall_time")
        solution.settle()
        warn_of_gross_errors(solution, 0.0 if self.integrator.adaptive else self._run.step, stacklevel=2)
        return solution

    def _system_of_solution(self) -> System:
        """A solution reads from its system: one of its own, where that of the simulator goes on to change."""
        if not self.system.values:
            return self.system
        self._settle()
        own = assemble(self.system.model)
        if self.system.tables.flags[FLAG_REDUNDANT]:
            regularise(own)
        return own

    def _angle_told_by_records(self, name: str, near: float, since: int, read: Callable[[Solution], Array]) -> float:
        """An angle at present, with the turns that the records after step number ``since`` tell.

        ``near`` is where it is expected at the first of them.
        """
        self._close()
        t, rows = self._recording.joined()
        first = int(np.searchsorted(t, self._run.origin + (since + 0.5) * self._run.step)) if since >= 0 else 0
        if self.integrator.adaptive or first >= len(t):
            return near
        part = Solution(self.system, t[first:], **named_rows(self.integrator, [x[first:] for x in rows]),
                        integrator=self.integrator)  # fmt: skip
        part._turned = {name: near}
        return float(read(part)[-1])

    def __repr__(self) -> str:
        return f"<Simulator of {self.model}: t = {self.t:.6g}, {self.index} steps, {self.integrator.name}>"
