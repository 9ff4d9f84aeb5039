"""Steps one by one: what a Simulator does between two looks at its state."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import RLock
from typing import Any, TypeVar, cast

import numpy as np

from ..compiled.interrupts import Interrupts
from ..elements.arguments import FilePath
from ..errors import MbdError, ModelError
from ..integrators.base import Array, Integrator, Run
from ..integrators.user import PythonRun
from ..io.store import new_folder
from ..results.events import Event, Occurrence
from ..results.selection import Chooser
from ..solvers.redundancy import regularise
from ..system.system import System, assemble
from ..system.tables import FLAG_REDUNDANT
from .continuing import WHOLE_STEPS
from .growing import LARGEST_BLOCK, GrowingRecords
from .memory import check_room
from .moving_constraints import MovingConstraints
from .recording import Recording, on_grid, thinned
from .starting import check_resolution

CHUNK_SECONDS = 0.05  # compiled code returns this often, for Ctrl-C
FIRST_CHUNK = 50
UNCHANGED = -1  # a step that no run makes
HANDED_OVER = 500_000  # numbers of a block of records that is handed over and forgotten
ROUND_OFF = 1e-6  # of a step: of the number of steps in a duration


Method = TypeVar("Method", bound=Callable[..., Any])


def whole(method: Method) -> Method:
    """A method that other threads find done or not begun: they wait for their turn."""

    @wraps(method)
    def in_turn(self: Stepping, *arguments: Any, **options: Any) -> Any:
        with self._turn:
            return method(self, *arguments, **options)

    return cast(Method, in_turn)


class Stepping:
    """A run with its records, and what may change between two of its steps."""

    system: System
    integrator: Integrator
    _turn: RLock  # type: ignore[valid-type]  # of the thread that steps or reads
    _run: Run
    _given: float  # the step that was asked for
    _output_step: float  # zero: every step
    _every: int  # steps between two records
    _records: bool
    _choice: Any  # of quantities; None: everything is recorded
    _store: FilePath | None
    _events: list[Event]
    _first_inputs: dict[str, float]
    _moving: MovingConstraints
    _changed_at: int  # the step behind which inputs changed last, ...
    _row_before: Array  # ... its record, and what acted in it: the method begins the next one with other numbers
    _acted_before: dict[str, float]
    _is_kept = False  # whether somebody has taken the present state as a whole, and may look at it after any step

    def _take(self, run: Run, report: Any, row: list[Array], begins_with: dict[str, Any]) -> None:
        """Make a run the present one; its state is the first record."""
        before = getattr(self, "_recording", None)
        if self._store is not None and before is not None and (before.store or before.chooser):
            raise ModelError(
                f"Simulator: the records of this run are in {self._store}, and a run that begins anew needs a folder "
                "of its own: make another Simulator with another store="
            )
        self._run = run
        self._recording = Recording(self.system, self.integrator, run, report, row, begins_with)
        handed = self._choice is not None or self._store is not None
        self._rows = GrowingRecords(run, self._every, self._recording, HANDED_OVER if handed else LARGEST_BLOCK)
        self._functions = run.evaluated.assembly.callbacks
        self._function_values = self._signature(run)
        self._values, self._acting = self.system.values, dict(self.system.values)
        self._moving.begin()
        self._changed_at = UNCHANGED
        self._parameters = [name for name in self._acting if name not in self._first_inputs]
        if self._first_inputs:
            self._recording.inputs = [(run.t, self._acting)]
        self._recording.watch_for(self._events, run.step)
        self._plain = run.evaluated.has_plain_functions or isinstance(run, PythonRun)
        if self._recording.watch is not None:
            self._recording.watch.are_fixed = not run.evaluated.has_plain_functions
        self._step: Callable[[], Any] | None = None

    def step(self) -> None:
        """Make one step."""
        with self._turn:
            if self._values != self._acting:
                self._note_inputs()
            elif self._functions:
                self._refresh()
            call, run = self._step, self._run
            if call is None:
                if self.integrator.adaptive or self._plain or self._recording.watch is not None:
                    self._advance_steps(1)
                    return
                self._room(1)
                call = self._bind()
            index = run.index
            call()
            if run.index == index:
                call = None
                self._not_made()
            if self._is_kept:
                self._at_present()
            if self._functions:
                self._check_functions()

    @whole
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
        check_resolution("Simulator", self.integrator, run.t, run.t + float(duration), run.step, None)
        self._advance_steps(round(count))

    def _advance_steps(self, count: int) -> None:
        if self.integrator.adaptive:
            raise ModelError(f"Simulator.step: {self.integrator.name} chooses its steps itself; use advance(duration)")
        with self._showing():
            self._make_steps(count)

    def _make_steps(self, count: int) -> None:
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
        with self._showing():
            self._make_steps_to(t_end)

    def _make_steps_to(self, t_end: float) -> None:
        self._refuse_if_stopped()
        self._look_for_changes()
        run: Any = self._run
        record, rows = self._recording, 1 if self._plain else FIRST_CHUNK
        with Interrupts() as interrupts:
            while run.t < t_end and self.stopped is None:
                interrupts.defer = True
                clock = time.perf_counter()
                if self._records:
                    numbers = 1 + sum(len(x) for x in run.row())
                    check_room(rows, numbers, "Simulator", "record less often: output_step=")
                    t, arrays = record.room(rows)
                else:
                    t, arrays = np.zeros(rows), [np.zeros((rows, len(x))) for x in run.row()]
                spacing = self._output_step
                made = run.advance_to(t_end, spacing if record.watch is None else -spacing, t, arrays)
                t, arrays = t[:made], [x[:made] for x in arrays]
                steps = t, arrays
                if self._records:
                    if record.watch is not None and spacing:
                        steps, made = thinned(t, arrays, on_grid(t, spacing, t_end))
                    record.keep(made)
                    self._hand_over()
                with self._carrying_solution():
                    record.happened(*steps)
                del t, arrays, steps  # whoever looks at the records keeps them where they are
                if self.stopped is None:
                    self._judge(not run.failed)
                interrupts.defer = False
                interrupts.check()
                rows = min(max(1, int(rows * CHUNK_SECONDS / max(time.perf_counter() - clock, 1e-6))), 10000)

    @contextmanager
    def _showing(self) -> Iterator[None]:
        """Whoever keeps the present state sees where steps have led, also if one of them failed."""
        try:
            yield
        finally:
            if self._is_kept:
                self._at_present()

    def _at_present(self) -> Any:
        raise NotImplementedError

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
        if self._rows.lacks(steps):
            self._step = None  # which holds the present block
            filled = self._rows.used
            self._rows.close()
            record = self._recording
            if filled or (self._store is not None and record.chooser is None and record.store is None):
                self._hand_over()  # the first record at once: a folder can be read from the first step on
            self._rows.open_for(steps)
        return self._rows.free()

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
        else:
            self._refresh()

    def _note_inputs(self) -> None:
        """Inputs have changed since the last step."""
        values, before = self._values, self._acting
        other = next((name for name in self._parameters if values[name] != before[name]), None)
        if other is not None:
            raise ModelError(
                f"Simulator: parameter '{other}' was changed during the run; begin anew with reset({other}=...), or "
                "make it an input of the model"
            )
        if self._begin_again():
            self._refresh()
            return
        if self._changed_at != self._run.index:
            self._changed_at, self._row_before = self._run.index, np.concatenate(self._run.row())
            self._acted_before = before
        functions = self._refreshed()
        if not (self._moving.may_move and self._moving.follow(self._run, before)):
            self._run.act_anew()
        self._acting = values.copy()
        if self._records:
            self._recording.inputs.append((self._run.t, self._acting))
        else:  # events look at the last steps
            self._recording.inputs = [self._recording.inputs[-1], (self._run.t, self._acting)]
        self._note_functions(functions)

    @property
    def _acted(self) -> dict[str, float]:
        """Parameters, and inputs of the last step that was made; the method may know those of the next one already."""
        return self._acting if self._changed_at != self._run.index else self._acted_before

    @property
    def _inputs_that_act(self) -> dict[str, float]:
        """Inputs of the last step; others may be set for the next one."""
        return {name: self._acted[name] for name in self._first_inputs}

    def _begin_again(self) -> bool:
        """Begin with the inputs that act now, as long as no step was made; False if there is no way back."""
        raise NotImplementedError

    def _settle(self) -> None:
        """Let the elements of the system know its inputs, as a model does that is built with them."""
        if self._first_inputs:
            self.system._following.settle()

    @staticmethod
    def _signature(run: Run) -> list[bytes]:
        """What user functions refer to, as far as compiled code knows it."""
        functions = run.evaluated.assembly.callbacks
        return [words for callback in functions if callback.compiled for words in callback.code.signature()]

    def _refresh(self) -> None:
        """Let user functions see what they refer to now; if it has changed, it has changed suddenly."""
        functions = self._refreshed()
        if functions != self._function_values:
            if not self._moving.follow_functions(self._run):
                self._run.act_anew()
            self._note_functions(functions)

    def _refreshed(self) -> list[bytes]:
        """What user functions refer to now, which they are shown."""
        if not self._functions:
            return self._function_values
        self._run.evaluated.refresh_functions()
        return self._signature(self._run)

    def _note_functions(self, values: list[bytes]) -> None:
        """What functions refer to has changed, if it has, and the run knows it."""
        if values != self._function_values:
            self._function_values = values
            with self._carrying_solution():
                self._recording.watch_anew()

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
                error.solution = self._recording.computed(str(error), self._system_of_solution())
            raise

    def _close(self) -> None:
        """Hand the present block of records over."""
        self._step = None
        self._rows.close()
        self._hand_over()

    def _hand_over(self) -> None:
        """Let whoever wants records, or quantities that are read off them, have those that are there."""
        record = self._recording
        if self._choice is not None and record.chooser is None:
            record.choose(self._choice, self._store, self._system_of_solution())
        elif self._store is not None and self._choice is None and record.store is None:
            record.write_to(self._store)
        record.flush()

    def _check_records(self) -> None:
        """Refuse before the first step what could not be recorded: nobody wants to hear of it in a control loop."""
        if self._choice is not None:
            Chooser(self.system, self.integrator, *self._recording.blocks[0], self._choice)
        elif self._store is not None and self._first_inputs:
            raise ModelError(
                "Simulator: store= keeps no inputs, without which forces could not be told; choose what is "
                "recorded: record=[...]"
            )
        if self._store is not None:
            new_folder(self._store)

    def _refuse_if_stopped(self) -> None:
        if self.stopped is not None:
            raise ModelError(
                f"Simulator: event '{self.stopped.name}' has ended the run at t = {self.stopped.t:.9g}; begin again "
                "with reset(), or go on from an earlier state with set_state(...)"
            )

    def _system_of_solution(self) -> System:
        """A solution reads from its system: one of its own, where that of the simulator goes on to change."""
        if not self.system.values:
            return self.system
        self._settle()
        own = assemble(self.system.model)
        own.set_parameters(self._acted)  # what acted in the last step, not what will act in the next
        if self.system.tables.flags[FLAG_REDUNDANT]:
            regularise(own)
        return own

    @property
    def stopped(self) -> Occurrence | None:
        """The event that has ended the run."""
        return self._recording.watch.stopped if self._recording.watch is not None else None
