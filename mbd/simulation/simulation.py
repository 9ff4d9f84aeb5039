"""simulate(): from a model to a solution."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from ..compiled.interrupts import Interrupts
from ..elements.arguments import Held
from ..errors import ConvergenceError, MbdError, ModelError, SingularityError
from ..integrators.alpha.methods import GeneralizedAlpha
from ..integrators.base import Array, Integrator, Run
from ..integrators.user import PythonIntegrator
from ..io.notes import note
from ..io.progress import Progress
from ..joints import Rolling
from ..model import Model
from ..results.balance import warn_of_gross_errors
from ..results.events import Event, Watch
from ..results.solution import Solution, named_rows
from ..solvers.initial import consistent_start
from ..solvers.redundancy import check_redundancy
from ..system.system import System, assemble
from ..system.tree_state import locked_angles
from .contacts import warn_of_pulling
from .continuing import WHOLE_STEPS, belongings, continued
from .memory import SHARE, available_memory, check_room

FLAT = 0.999  # cosine of the angle between the spin axis of a rolling disk and the normal of its plane
CHUNK_SECONDS = 0.05  # compiled code returns this often: for progress and Ctrl-C
FIRST_CHUNK = 50
STEP_ROUND_OFF = 1e-6  # of a step: round-off of the time of a state
WATCHED = 4_000_000  # numbers: buffer of the steps that events look at


def simulate(
    model: Model,
    t_end: float,
    step: float,
    integrator: Integrator | None = None,
    *,
    t_start: float = 0.0,
    output_step: float | None = None,
    fixed: Held | None = None,
    start: Solution | Mapping[str, Any] | None = None,
    events: Event | Iterable[Event] = (),
    progress: bool | None = None,
) -> Solution:
    """Integrate a model in time.

    Parameters
    ----------
    t_end: final time; the last record is exactly there.
    step: step size. If t_end is not a whole number of steps away, fixed-step methods use slightly smaller equal steps.
        With step-size control it is the first step.
    integrator: default ``GeneralizedAlpha()``, stabilised index 2 with rho_inf = 0.9, of second order, for any model:
        with half the step the error falls to a quarter. docs/default_method.md says when another choice is better.
    output_step: record only every so often (a multiple of the step for fixed-step methods); default: every step.
    fixed: what the correction of initial conditions must not change, see ``mbd.solvers.initial.consistent_start``.
    start: continue where a solution (or its ``state``) ended, bit for bit as if the run had not been interrupted. If
        anything that acts has changed (forces, parameters, functions and the values they refer to, drivers, gravity,
        masses), accelerations, multipliers and the start of the method are computed anew from that state; see
        ``mbd.simulation.continuing``.
    events: an ``mbd.Event`` or several: zero crossings that are recorded in ``solution.events`` or end the run.
    progress: show a progress bar; by default on runs longer than a second in a terminal.

    Ctrl-C ends the run early and returns what was computed (``solution.complete`` is False). An error during the run
    carries the computed part as its attribute ``solution``.
    """
    with Interrupts() as interrupts:
        solution, used = run_simulation(
            model, t_end, step, integrator, t_start, output_step, fixed, start, events, progress, interrupts
        )
    if solution.complete:
        warn_of_gross_errors(solution, used, stacklevel=2)
    return solution


def run_simulation(
    model: Model, t_end: float, step: float, integrator: Integrator | None = None, t_start: float = 0.0,
    output_step: float | None = None, fixed: Held | None = None, start: Solution | Mapping[str, Any] | None = None,
    events: Event | Iterable[Event] = (), progress: bool | None = None, interrupts: Interrupts | None = None,
) -> tuple[Solution, float]:  # fmt: skip
    """The same without a warning of numbers that contradict each other; with the step that was used, 0 if it varied."""
    interrupts = Interrupts() if interrupts is None else interrupts
    integrator = GeneralizedAlpha() if integrator is None else integrator
    if not isinstance(integrator, Integrator):
        raise ModelError(
            f"integrator is {integrator!r}; expected an object such as mbd.integrators.GeneralizedAlpha() "
            + ("(call the class)" if isinstance(integrator, type) else "")
        )
    times = {"t_end": t_end, "step": step, "t_start": t_start, "output_step": output_step}
    for name, value in times.items():
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if value is not None and not (number and math.isfinite(value)):
            raise ModelError(f"simulate: {name} is {value!r}; expected a finite number")
    if step <= 0.0 or (output_step is not None and output_step <= 0.0):
        raise ModelError(f"simulate: step is {step}, output_step is {output_step}; expected positive numbers")
    if not isinstance(model, Model):
        raise ModelError(f"simulate: model is {model!r}; expected an mbd.Model")
    system = assemble(model)
    integrator.check(system)
    if start is not None:
        state = dict(start.state if isinstance(start, Solution) else start)
        _refuse_beside_start(state, t_start, fixed)
        run, report = continued(system, integrator, state, step), None
        t_start = run.t
        if not integrator.adaptive:
            _check_whole_steps(t_end - t_start, run.step)
    else:
        beginning = consistent_start(system, t=t_start, fixed=fixed)
        report = beginning.report
        if report.changed:
            note(str(report))
        check_redundancy(system, beginning.q, beginning.v, float(t_start))
        if not integrator.adaptive:
            given, step = step, _equal_steps(t_end - t_start, step)
            if step != given and integrator.exact_step:
                raise ModelError(
                    f"simulate: t_end is {t_end}, no whole number of steps {given} away; expected one, because the "
                    f"second configuration of {integrator.name} belongs to this step"
                )
        system.forget_errors()  # of the search for a start
        run = integrator.start(system, beginning.q, beginning.v, float(t_start), float(step), None)
    if t_end < t_start:
        raise ModelError(f"simulate: t_end is {t_end}; expected a time after the start {t_start}")
    _check_resolution(integrator, float(t_start), float(t_end), float(step), output_step)
    record = _Record(system, integrator, run, report)
    record.watch_for(events, step)
    clock = time.perf_counter()
    interrupts.check()
    with Progress(t_start, t_end, progress, integrator.name) as bar:
        interrupts.defer, record.interrupts = True, interrupts
        try:
            run.evaluated.raise_callback_errors()
            if integrator.adaptive:
                _run_adaptive(record, run, t_end, output_step, bar)
            else:
                _run_fixed(record, run, t_start, t_end, step, output_step, bar)
            interrupts.check()
        except KeyboardInterrupt:
            record.message = f"interrupted at t = {run.t:.6g}"
        except MbdError as error:  # what was computed is not lost
            if error.solution is None:
                error.solution = record.solution(str(error))
            raise
    record.wall_time = time.perf_counter() - clock
    if record.message:
        note(f"{record.message}; the solution ends there")
    solution = record.solution()
    if not record.message:
        solution.settle()
    warn_of_pulling(solution, stacklevel=3)
    return solution, 0.0 if integrator.adaptive else run.step


def _equal_steps(duration: float, step: float) -> float:
    """The given step, or a slightly smaller one of which a whole number fits."""
    if duration <= 0.0:
        return step
    count = duration / step
    if abs(count - round(count)) <= WHOLE_STEPS * max(1.0, count) and round(count) > 0:
        return step
    return duration / math.ceil(count)


def _refuse_beside_start(state: dict[str, Any], t_start: float, fixed: Held | None) -> None:
    """Arguments that a state leaves no room for."""
    if t_start != 0.0 and t_start != state.get("t"):
        raise ModelError(f"simulate: t_start is {t_start}, but start= goes on from t = {state.get('t')}; leave it out")
    if fixed is not None:
        raise ModelError("simulate: fixed= belongs to initial conditions, of which start= has none; leave it out")


def _check_whole_steps(duration: float, step: float) -> None:
    """A continued run keeps its step, so that it cannot end between two of them."""
    count = duration / step
    if count > 0.0 and abs(count - round(count)) > max(WHOLE_STEPS * count, STEP_ROUND_OFF):
        raise ModelError(
            f"simulate: t_end is {count:.9g} steps of {step:g} after the start; a continued run keeps its step: "
            "expected a whole number of steps"
        )


def _check_resolution(
    integrator: Integrator, t_start: float, t_end: float, step: float, output_step: float | None
) -> None:
    """Refuse steps that vanish beside the time."""
    t = max(abs(t_start), abs(t_end))
    steps = {"step": step, "output_step": output_step, "max_step": getattr(integrator, "max_step", None)}
    for name, value in steps.items():
        if value is not None and value < np.spacing(t):
            raise ModelError(
                f"simulate: {name} is {value:g}, which is lost beside t = {t:g} (t + {name} == t in double precision); "
                "expected a larger one, or times that begin at zero"
            )


class _Record:
    """What a run leaves behind."""

    def __init__(self, system: System, integrator: Integrator, run: Run, report: Any) -> None:
        self.system, self.integrator, self.run, self.report = system, integrator, run, report
        self.blocks: list[tuple[Array, list[Array]]] = []
        self.message, self.wall_time = "", 0.0
        self.wrong_from = math.inf  # the time of the first record at which a user function fails
        self.watch: Watch | None = None
        self.interrupts = Interrupts()
        if report is not None:
            self.append(np.array([run.t]), [row[None, :].copy() for row in run.initial_row()])

    def append(self, t: Array, rows: list[Array]) -> None:
        self.blocks.append((t, rows))

    def watch_for(self, events: Event | Iterable[Event], step: float) -> None:
        """Look for events from the present state on."""
        if isinstance(events, Event) or events:
            self.watch = Watch(self.system, self.integrator, step, events)
            first = self.blocks[0] if self.blocks else (np.array([self.run.t]), [x[None, :] for x in self.run.row()])
            self.watch.begin(*first)

    def happened(self, t: Array, rows: list[Array]) -> bool:
        """Whether an event in these new steps ends the run."""
        return self.watch is not None and self.watch.scan(t, rows)

    def finish(self) -> bool:
        """All steps are done; whether an event in the last one ends the run there."""
        if self.watch is not None:
            self.watch.finish()
        return self.watch is not None and self.watch.stopped is not None

    def _cut(self, end: float) -> None:
        """Keep the records before a time."""
        count = [int(np.searchsorted(t, end)) for t, _ in self.blocks]
        self.blocks = [(t[:n], [x[:n] for x in rows]) for n, (t, rows) in zip(count, self.blocks, strict=True)]

    def solution(self, message: str = "") -> Solution:
        """Join the blocks, releasing them one by one."""
        message = message or self.message
        if message:
            with suppress(MbdError):  # the run ended with another error, or on Ctrl-C
                self.finish()
        stopped = self.watch.stopped if self.watch is not None and not message else None
        self._cut(self.wrong_from if stopped is None else stopped.t)
        if stopped is not None and self.watch is not None:
            self.append(np.array([stopped.t]), [x[None, :] for x in self.watch.last_row])
        t = np.concatenate([block[0] for block in self.blocks]) if self.blocks else np.zeros(0)
        joined = []
        for k, present in enumerate(self.run.row()):
            parts = [block[1][k] for block in self.blocks]
            width = len(present)
            joined.append(parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.zeros((0, width)))
            for _, rows in self.blocks:
                rows[k] = rows[k][:0]
        stats = self.run.statistics() | {"wall_time": self.wall_time}
        if self.integrator.recorded:  # variables of a scheme live between the records
            stats["step"] = self.run.step
        state = {} if stopped or self.wrong_from < math.inf else self.run.state()
        if state:
            state |= belongings(self.system, self.integrator, state)
        solution = Solution(
            self.system, t, **named_rows(self.integrator, joined), integrator=self.integrator, stats=stats,
            start=self.report,
            state=state, complete=not message,
            message=f"stopped by {stopped.name} at t = {stopped.t:.9g}" if stopped else message,
        )  # fmt: skip
        found = self.watch.found if self.watch is not None else []
        solution.events = [occurrence for occurrence in found if occurrence.t < self.wrong_from]
        return solution

    def check_functions(self, t: Array, rows: list[Array]) -> None:
        """After steps that went well, an error of a user function counts only if it is there at a record too.

        Iterates and trial steps may lead where a function does not exist, and be given up.
        """
        if self.run.evaluated.forget_errors():
            none = np.zeros(self.system.n_v)  # no function sees accelerations or multipliers
            for time, q, v in zip(t, *rows[:2], strict=True):
                try:
                    self.system.residual(q, v, none, None, float(time))
                    self.system.constraints(q, float(time))
                except MbdError:
                    self.wrong_from = float(time)
                    raise

    def _is_flat(self, joint: Rolling) -> bool:
        z = self.system.frames(self.run.row()[0])
        axes = z[:, 3:].reshape(-1, 3, 3)
        normal = joint.axis_a @ axes[self.system.node_index(joint.body_a)]
        axis = joint.axis_b @ axes[self.system.node_index(joint.body_b)]
        return joint.is_disk and abs(float(normal @ axis)) > FLAT

    def fail(self, advice: str = "") -> None:
        """Raise what stopped the run, with the computed part attached."""
        self.run.evaluated.raise_callback_errors()
        kind, text = self.run.failure()
        t, step = self.run.t, int(self.run.statistics()["steps"])
        if kind == "singularity":
            owner, remedy = locked_angles(self.system, text)
            message = (
                f"the Euler angles of {owner} came too close to gimbal lock at t = {t:.6g} (step {step}); use another "
                "sequence, mbd.nodes.EulerAngles(..., lie=True), mbd.nodes.RotationVector or mbd.nodes.Quaternion: "
                f"{remedy}"
            )
            raise SingularityError(message, body=text, time=t, solution=self.solution(message))
        flat = next((j for j in self.system.model.joints if isinstance(j, Rolling) and self._is_flat(j)), None)
        if flat is not None:
            message = f"the disk of {flat} fell flat at t = {t:.6g} (step {step}), where it has no contact point"
            raise SingularityError(message, body=flat.body_b.name, time=t, solution=self.solution(message))
        message = f"{self.integrator.name} stopped at t = {t:.6g} (step {step}): {text}"
        raise ConvergenceError(message, step=step, time=t, where=text, solution=self.solution(message))


def _run_fixed(
    record: _Record, run: Run, t_start: float, t_end: float, step: float, output_step: float | None, bar: Progress
) -> None:
    count = round((t_end - t_start) / step)
    every = 1 if output_step is None else max(1, round(output_step / step))
    if output_step is not None and abs(every * step - output_step) > 1e-6 * output_step:
        raise ModelError(f"simulate: output_step is {output_step}; expected a multiple of the step {step:g}")
    index, origin = run.index, run.origin
    total_rows = (index + count) // every - index // every
    last_extra = (index + count) % every != 0
    widths = [len(row) for row in run.row()]
    first = len(record.blocks)  # the initial record
    size = first + total_rows + last_extra
    check_room(size, 1 + sum(widths), "simulate", f"record less often: output_step= (now {every * step:g} s)")
    times, arrays = np.zeros(size), [np.zeros((size, n)) for n in widths]
    for t, initial in record.blocks:
        times[:1] = t
        for array, row in zip(arrays, initial, strict=True):
            array[:1] = row
    record.blocks = [(times, arrays)]
    done, rows, chunk = 0, first, _first_chunk(record)
    try:
        while done < count:
            todo = min(chunk, count - done)
            clock = time.perf_counter()
            if record.watch is None:
                made, steps = run.advance(todo, every, [a[rows:] for a in arrays]), None
            else:  # events look at every step
                todo = min(todo, max(1, WATCHED // sum(widths)))
                steps = [np.zeros((todo, n)) for n in widths]
                made = run.advance(todo, 1, steps)
            new = (index + done + made) // every - (index + done) // every
            numbers = np.arange(new) + (index + done) // every + 1.0
            times[rows : rows + new] = origin + run.step * every * numbers
            stops = False
            if steps is not None:
                number = index + done + 1 + np.arange(made)
                recorded, t = number % every == 0, origin + run.step * number
                t[recorded] = times[rows : rows + new]
                for array, values in zip(arrays, steps, strict=True):
                    array[rows : rows + new] = values[:made][recorded]
                if done + made == count:
                    t[made - 1 :] = t_end
            scanned, rows, done = rows, rows + new, done + made
            if made == todo:
                record.check_functions(times[scanned:rows], [a[scanned:rows] for a in arrays])
            if steps is not None:
                stops = record.happened(t, [x[:made] for x in steps])
            if stops or made < todo:
                break
            chunk = _next_chunk(todo, time.perf_counter() - clock)
            bar.update(run.t)
            record.interrupts.check()
    finally:
        if done == count and last_extra:
            for array, row in zip(arrays, run.row(), strict=True):
                array[rows] = row
            rows += 1
        if done == count and rows > first:
            times[rows - 1] = t_end
        record.blocks = [(times[:rows], [a[:rows] for a in arrays])]
    if done < count and (record.watch is None or record.watch.stopped is None):
        record.fail()
    record.finish()


def _first_chunk(record: _Record) -> int:
    """Steps after which it is known how long they take; plain Python may be slow, and Ctrl-C has to wait."""
    python = isinstance(record.integrator, PythonIntegrator) or record.system.has_plain_functions
    return 1 if python else FIRST_CHUNK


def _next_chunk(steps: int, seconds: float) -> int:
    wanted = steps * CHUNK_SECONDS / max(seconds, 1e-6)
    return int(min(max(1.0, wanted, 0.1 * steps), 10.0 * steps))


def _run_adaptive(record: _Record, run: Any, t_end: float, output_step: float | None, bar: Progress) -> None:
    widths = [len(row) for row in run.row()]
    numbers, rows, room = 1 + sum(widths), _first_chunk(record), SHARE * available_memory()
    spacing = float(output_step or 0.0)
    known = spacing or float(run.method.max_step)  # records are not further apart than the largest step
    remedy = "record less often with output_step=" + (f" (now {spacing:g} s)" if spacing else "")
    check_room((t_end - run.t) / known, numbers, "simulate", remedy)
    while run.t < t_end:
        t, arrays = np.zeros(rows), [np.zeros((rows, n)) for n in widths]
        clock = time.perf_counter()
        # events look at every step
        made = run.advance_to(t_end, spacing if record.watch is None else -spacing, t, arrays)
        t, arrays = t[:made], [a[:made] for a in arrays]
        kept = _on_grid(t, spacing, t_end) if record.watch is not None and spacing else slice(None)
        record.append(t[kept].copy(), [a[kept].copy() for a in arrays])
        if record.happened(t, arrays):
            break
        if run.failed:
            record.fail()
        record.check_functions(*record.blocks[-1])
        room -= 8.0 * numbers * len(record.blocks[-1][0])
        if room < 0.0:
            record.message = f"the memory was full of records at t = {run.t:.6g}; {remedy}"
            return
        bar.update(run.t)
        record.interrupts.check()
        rows = min(_next_chunk(rows, time.perf_counter() - clock), 10000)
    else:
        record.finish()
    forced = run.statistics().get("forced_steps", 0)
    if forced:
        warnings.warn(
            f"{forced} steps were accepted at the smallest step size although their error exceeds the tolerance; "
            "if a force jumps at known times, give them as switches=",
            stacklevel=4,
        )


def _on_grid(t: Array, spacing: float, t_end: float) -> Array:
    """Which of these times are multiples of the spacing, or the end (as in ``rk_kernels``)."""
    off = np.abs(t - np.floor(t / spacing + 0.5) * spacing)
    return (off <= 1e-9 * spacing + 1e-15 * np.abs(t)) | (t >= t_end)
