"""simulate(): from a model to a solution."""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .errors import ConvergenceError, ModelError, SingularityError
from .events import Event, Watch
from .integrators.base import Array, Integrator, Run
from .integrators.generalized_alpha import GeneralizedAlpha
from .integrators.python import PythonIntegrator
from .interrupts import Interrupts
from .joints import Rolling
from .model import Model
from .progress import Progress
from .records import FLAG_REDUNDANT
from .solution import Solution
from .solvers.initial import consistent_start
from .solvers.redundancy import check_redundancy, regularise
from .system.system import System, assemble

FLAT = 0.999  # cosine of the angle between the spin axis of a rolling disk and the normal of its plane
CHUNK_SECONDS = 0.05  # compiled code returns this often: for progress and Ctrl-C
FIRST_CHUNK = 50
WHOLE_STEPS = 1e-9  # relative deviation of t_end / step from an integer that counts as round-off


def simulate(
    model: Model,
    t_end: float,
    step: float,
    integrator: Integrator | None = None,
    *,
    t_start: float = 0.0,
    output_step: float | None = None,
    fixed: Mapping[Any, Any] | Iterable[Any] | None = None,
    start: Solution | Mapping[str, Any] | None = None,
    events: Any = (),
    progress: bool | None = None,
) -> Solution:
    """Integrate a model in time.

    Parameters
    ----------
    t_end: final time; the last record is exactly there.
    step: step size. If t_end is not a whole number of steps away, fixed-step methods use slightly smaller equal steps.
        With step-size control it is the first step.
    integrator: default ``GeneralizedAlpha(rho_inf=0.9)``.
    output_step: record only every so often (a multiple of the step for fixed-step methods); default: every step.
    fixed: what the correction of initial conditions must not change, see ``mbd.solvers.initial.consistent_start``.
    start: continue where a solution (or its ``state``) ended, bit for bit as if the run had not been interrupted.
    events: an ``mbd.Event`` or several: zero crossings that are recorded in ``solution.events`` or end the run.
    progress: show a progress bar; by default on runs longer than a second in a terminal.

    Ctrl-C ends the run early and returns what was computed (``solution.complete`` is False). An error during the run
    carries the computed part as its attribute ``solution``.
    """
    integrator = GeneralizedAlpha() if integrator is None else integrator
    if not isinstance(integrator, Integrator):
        raise ModelError(
            f"integrator is {integrator!r}; expected an object such as mbd.integrators.GeneralizedAlpha() "
            + ("(call the class)" if isinstance(integrator, type) else "")
        )
    times = {"t_end": t_end, "step": step, "t_start": t_start, "output_step": output_step}
    for name, value in times.items():
        if value is not None and not (isinstance(value, int | float | np.number) and math.isfinite(value)):
            raise ModelError(f"simulate: {name} is {value!r}; expected a finite number")
    if step <= 0.0 or (output_step is not None and output_step <= 0.0):
        raise ModelError(f"simulate: step is {step}, output_step is {output_step}; expected positive numbers")
    if not isinstance(model, Model):
        raise ModelError(f"simulate: model is {model!r}; expected an mbd.Model")
    with Interrupts() as interrupts:
        return _simulate(
            model, t_end, step, integrator, t_start, output_step, fixed, start, events, progress, interrupts
        )


def _simulate(
    model: Model, t_end: float, step: float, integrator: Integrator, t_start: float, output_step: float | None,
    fixed: Any, start: Any, events: Any, progress: bool | None, interrupts: Interrupts,
) -> Solution:  # fmt: skip
    system = assemble(model)
    integrator.check(system)
    if start is not None:
        state = dict(start.state if isinstance(start, Solution) else start)
        _check_state(system, integrator, state, step)
        if FLAG_REDUNDANT in state.get("flags", ()):
            regularise(system)
        run, report = integrator.resume(system, state), None
        t_start = run.t
    else:
        beginning = consistent_start(system, t=t_start, fixed=fixed)
        report = beginning.report
        if report.changed:
            print(f"mbd: {report}", file=sys.stderr)
        check_redundancy(system, beginning.q, beginning.v, float(t_start))
        if not integrator.adaptive:
            step = _equal_steps(t_end - t_start, step)
        run = integrator.start(system, beginning.q, beginning.v, float(t_start), float(step), None)
    if t_end < t_start:
        raise ModelError(f"simulate: t_end is {t_end}; expected a time after the start {t_start}")
    record = _Record(system, integrator, run, report)
    record.watch_for(events, step)
    clock = time.perf_counter()
    interrupts.check()
    with Progress(t_start, t_end, progress, integrator.name) as bar:
        interrupts.defer, record.interrupts = True, interrupts
        try:
            if integrator.adaptive:
                _run_adaptive(record, run, t_end, output_step, bar)
            else:
                _run_fixed(record, run, t_start, t_end, step, output_step, bar)
            interrupts.check()
        except KeyboardInterrupt:
            record.message = f"interrupted at t = {run.t:.6g}"
    record.wall_time = time.perf_counter() - clock
    if record.message:
        print(f"mbd: {record.message}; the solution ends there", file=sys.stderr)
    return record.solution()


def _equal_steps(duration: float, step: float) -> float:
    """The given step, or a slightly smaller one of which a whole number fits."""
    if duration <= 0.0:
        return step
    count = duration / step
    if abs(count - round(count)) <= WHOLE_STEPS * max(1.0, count) and round(count) > 0:
        return step
    return duration / math.ceil(count)


def _check_state(system: System, integrator: Integrator, state: Mapping[str, Any], step: float) -> None:
    """Refuse a state of another model or method."""
    if not state:
        raise ModelError("start: this solution holds no state to continue from")
    if str(state.get("integrator", integrator.name)) != integrator.name:
        raise ModelError(
            f"start: the state was written by {state['integrator']}; continue with the same integrator, not with "
            f"{integrator.name}"
        )
    for name, size in (("q", system.n_q), ("v", system.n_v), ("lam", system.n_l)):
        if np.shape(state.get(name, ())) != (size,):
            raise ModelError(f"start: the state does not fit model '{system.model.name}' ({name} has another length)")
    if not integrator.adaptive and abs(float(state["step"]) - step) > WHOLE_STEPS * step:
        raise ModelError(
            f"start: the run had the step {float(state['step']):g}, not {step:g}; a restart keeps the step"
        )


class _Record:
    """What a run leaves behind."""

    def __init__(self, system: System, integrator: Integrator, run: Run, report: Any) -> None:
        self.system, self.integrator, self.run, self.report = system, integrator, run, report
        self.blocks: list[tuple[Array, list[Array]]] = []
        self.message, self.wall_time = "", 0.0
        self.watch: Watch | None = None
        self.interrupts = Interrupts()
        if report is not None:
            self.append(np.array([run.t]), [row[None, :].copy() for row in run.initial_row()])

    def append(self, t: Array, rows: list[Array]) -> None:
        self.blocks.append((t, rows))

    def watch_for(self, events: Any, step: float) -> None:
        """Look for events from the present state on."""
        if isinstance(events, Event) or events:
            self.watch = Watch(self.system, self.integrator, step, events)
            first = self.blocks[0] if self.blocks else (np.array([self.run.t]), [x[None, :] for x in self.run.row()])
            self.watch.begin(*first)

    def happened(self, t: Array, rows: list[Array]) -> bool:
        """Whether an event among these new records ends the run."""
        return self.watch is not None and self.watch.scan(t, rows)

    def _cut(self) -> None:
        """End with the event that stopped the run."""
        assert self.watch is not None and self.watch.stopped is not None
        end = self.watch.stopped.t
        self.blocks = [(t[t < end], [x[t < end] for x in rows]) for t, rows in self.blocks]
        self.append(np.array([end]), [x[None, :] for x in self.watch.last_row])

    def solution(self, message: str = "") -> Solution:
        """Join the blocks, releasing them one by one."""
        message = message or self.message
        stopped = self.watch.stopped if self.watch is not None and not message else None
        if stopped is not None:
            self._cut()
        t = np.concatenate([block[0] for block in self.blocks]) if self.blocks else np.zeros(0)
        joined = []
        for k in range(5):
            parts = [block[1][k] for block in self.blocks]
            width = [self.system.n_q, self.system.n_v, self.system.n_v, self.system.n_l, 1][k]
            joined.append(parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.zeros((0, width)))
            for _, rows in self.blocks:
                rows[k] = rows[k][:0]
        stats = self.run.statistics() | {"wall_time": self.wall_time}
        state = self.run.state() | {"integrator": self.integrator.name}
        if self.system.tables.flags[FLAG_REDUNDANT]:
            state["flags"] = np.array([FLAG_REDUNDANT])
        q, v, vd, lam, turns = joined
        solution = Solution(
            self.system, t, q, v, vd, lam, turns, integrator=self.integrator, stats=stats, start=self.report,
            state={} if stopped else state,
            complete=not message, message=f"stopped by {stopped.name} at t = {stopped.t:.9g}" if stopped else message,
        )  # fmt: skip
        solution.events = self.watch.found if self.watch is not None else []
        return solution

    def _is_flat(self, joint: Rolling) -> bool:
        z = self.system.frames(self.run.row()[0])
        axes = z[:, 3:].reshape(-1, 3, 3)
        normal = joint.axis_a @ axes[self.system.node_index(joint.body_a)]
        axis = joint.axis_b @ axes[self.system.node_index(joint.body_b)]
        return joint.is_disk and abs(float(normal @ axis)) > FLAT

    def fail(self, advice: str = "") -> None:
        """Raise what stopped the run, with the computed part attached."""
        self.system.raise_callback_errors()
        kind, text = self.run.failure()
        t, step = self.run.t, int(self.run.statistics()["steps"])
        if kind == "singularity":
            message = (
                f"the Euler angles of body '{text}' came too close to gimbal lock at t = {t:.6g} (step {step}); use "
                "another sequence, mbd.nodes.EulerAngles(..., lie=True), mbd.nodes.RotationVector or "
                "mbd.nodes.Quaternion: model.with_nodes({" + f"'{text}': mbd.nodes.Quaternion" + "})"
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
    times = np.zeros(total_rows + last_extra)
    arrays = [np.zeros((total_rows + last_extra, n)) for n in widths]
    record.append(times, arrays)
    done, rows, chunk = 0, 0, _first_chunk(record)
    try:
        while done < count:
            todo = min(chunk, count - done)
            clock = time.perf_counter()
            made = run.advance(todo, every, [a[rows:] for a in arrays])
            new = (index + done + made) // every - (index + done) // every
            numbers = np.arange(new) + (index + done) // every + 1.0
            times[rows : rows + new] = origin + run.step * every * numbers
            scanned, rows, done = rows, rows + new, done + made
            if record.happened(times[scanned:rows], [a[scanned:rows] for a in arrays]) or made < todo:
                break
            chunk = _next_chunk(todo, time.perf_counter() - clock)
            bar.update(run.t)
            record.interrupts.check()
    finally:
        if done == count and last_extra:
            for array, row in zip(arrays, run.row(), strict=True):
                array[rows] = row
            rows += 1
        if done == count and rows:
            times[rows - 1] = t_end
        record.blocks[-1] = (times[:rows], [a[:rows] for a in arrays])
    if done < count and (record.watch is None or record.watch.stopped is None):
        record.fail()
    record.system.raise_callback_errors()


def _first_chunk(record: _Record) -> int:
    """Steps after which it is known how long they take; plain Python may be slow, and Ctrl-C has to wait."""
    python = isinstance(record.integrator, PythonIntegrator) or record.system.has_plain_functions
    return 1 if python else FIRST_CHUNK


def _next_chunk(steps: int, seconds: float) -> int:
    wanted = steps * CHUNK_SECONDS / max(seconds, 1e-6)
    return int(min(max(1.0, wanted, 0.1 * steps), 10.0 * steps))


def _run_adaptive(record: _Record, run: Any, t_end: float, output_step: float | None, bar: Progress) -> None:
    widths = [len(row) for row in run.row()]
    rows = _first_chunk(record)
    while run.t < t_end:
        t, arrays = np.zeros(rows), [np.zeros((rows, n)) for n in widths]
        clock = time.perf_counter()
        made = run.advance_to(t_end, float(output_step or 0.0), t, arrays)
        record.append(t[:made].copy(), [a[:made].copy() for a in arrays])
        if record.happened(*record.blocks[-1]):
            break
        if run.failed:
            record.fail()
        bar.update(run.t)
        record.interrupts.check()
        rows = min(_next_chunk(rows, time.perf_counter() - clock), 10000)
    record.system.raise_callback_errors()
    forced = run.statistics().get("forced_steps", 0)
    if forced:
        warnings.warn(
            f"{forced} steps were accepted at the smallest step size although their error exceeds the tolerance; "
            "if a force jumps at known times, give them as switches=",
            stacklevel=4,
        )
