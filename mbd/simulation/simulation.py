"""simulate(): from a model to a solution."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compiled.interrupts import Interrupts
from ..elements.arguments import FilePath, Held
from ..elements.values import Parameter
from ..errors import MbdError, ModelError
from ..integrators.base import Array, Integrator, Run
from ..integrators.user import PythonIntegrator
from ..io.notes import note
from ..io.progress import Progress
from ..model import Model
from ..results.balance import warn_of_gross_errors
from ..results.events import Event
from ..results.solution import Solution
from ..results.tabular import ChannelChoice
from ..system.system import System, assemble
from .contacts import warn_of_pulling
from .continuing import WHOLE_STEPS, continued, state_of, turns_of
from .memory import FIRST_QUESTION, SHARE, available_memory, check_room
from .recording import Recording, on_grid, thinned
from .row_buffer import blank_rows
from .starting import (
    check_resolution,
    check_times,
    checked_events,
    checked_integrator,
    checked_model,
    first_run,
    refuse_beside_start,
    steps_between_records,
)

CHUNK_SECONDS = 0.05  # compiled code returns this often: for progress and Ctrl-C
FIRST_CHUNK = 50
STEP_ROUND_OFF = 1e-6  # of a step: round-off of the time of a state
CHOSEN_FROM = 500_000  # numbers: buffer of the records of which a part is wanted
WATCHED = 4_000_000  # numbers: buffer of the steps that events look at
WATCHED_RECORDS = 250_000  # numbers of records of adaptive runs that events look at at once, copying them


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
    store: FilePath | None = None,
    record: ChannelChoice | None = None,
    sensitivities: Iterable[str | Parameter] | None = None,
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
    start: continue where a solution (or its ``state``) ended, bit for bit as if the run had not been interrupted; that
        state is the first record. If
        anything that acts has changed (forces, parameters, functions and the values they refer to, drivers, gravity,
        masses), accelerations, multipliers and the start of the method are computed anew from that state; see
        ``mbd.simulation.continuing``.
    events: an ``mbd.Event`` or several: zero crossings that are recorded in ``solution.events`` or end the run.
    progress: show a progress bar; by default on runs longer than a second in a terminal.
    store: a new folder to which records are written while the run goes on, for runs that do not fit into memory; the
        solution reads them from there, and so does ``mbd.load(folder)``, also after a crash.
    record: names of quantities ("tip.position", "hinge.angle", "link *.force", ...), or sensors, of which the numbers
        are recorded in place of all coordinates, in memory or in the folder ``store``; returns an
        ``mbd.results.selection.Selection``.
    sensitivities: parameters of the model (``model.parameter``), or numbers of its elements ("bob.mass"), with respect
        to which the motion is differentiated along with the run, see ``solution.sensitivity``. Derivatives are those of
        the discrete solution: what differences of whole runs tend to, without their noise. ``GeneralizedAlpha`` and the
        explicit methods with fixed steps have them.

    Ctrl-C ends the run early and returns what was computed (``solution.complete`` is False). An error during the run
    carries the computed part as its attribute ``solution``.

    >>> model = mbd.Model(gravity=(0, 0, -9.81))
    >>> node = mbd.nodes.Quaternion(position=(1, 0, 0))
    >>> bar = model.add(mbd.RigidBody("bar", mass=1.0, inertia=(0, 1/3, 1/3), node=node))
    >>> hinge = model.add(mbd.joints.Revolute(model.ground, bar, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    >>> solution = mbd.simulate(model, t_end=1.0, step=1e-3)
    >>> f"{solution['hinge'].angle[-1]:.4f} rad at t = {solution.t[-1]:g} s"
    '2.6499 rad at t = 1 s'
    """
    with Interrupts() as interrupts:
        if sensitivities is not None:
            _refuse_beside_sensitivities(start=start, events=events or None, store=store, record=record)
            from .sensitivities import run_followed

            solution, used = run_followed(
                model, sensitivities, t_end, step, integrator, t_start, output_step, fixed, progress, interrupts
            )
            warn_of_pulling(solution, stacklevel=2)
        else:
            solution, used = run_simulation(
                model, t_end, step, integrator, t_start, output_step, fixed, start, events, progress, interrupts,
                store=store, choice=record,
            )  # fmt: skip
    if solution.complete and isinstance(solution, Solution):
        warn_of_gross_errors(solution, used, stacklevel=2)
    return solution


@dataclass
class Prepared:
    """A system that is there for a run, the run before, whose buffers may be used again, and who reads the solution."""

    system: System
    reader: Callable[[], System] | None = None  # the system of the solution; None: the same one
    run: Run | None = None


def run_simulation(
    model: Model, t_end: float, step: float, integrator: Integrator | None = None, t_start: float = 0.0,
    output_step: float | None = None, fixed: Held | None = None, start: Solution | Mapping[str, Any] | None = None,
    events: Event | Iterable[Event] = (), progress: bool | None = None, interrupts: Interrupts | None = None,
    prepared: Prepared | None = None, store: FilePath | None = None, choice: Any = None,
) -> tuple[Any, float]:  # fmt: skip
    """(solution, step that was used, 0 if it varied): all of ``simulate`` but its warning of gross errors."""
    interrupts = Interrupts() if interrupts is None else interrupts
    integrator = checked_integrator(integrator)
    check_times("simulate", step, output_step, t_end=t_end, t_start=t_start)
    checked_model("simulate", model)
    listed = checked_events("simulate", events)
    prepared = prepared or Prepared(assemble(model))
    system = prepared.system
    integrator.check(system)
    if start is not None:
        state = state_of("simulate", start)
        refuse_beside_start("simulate", state, t_start, fixed)
        _tell_other_inputs(state, system)
        turns = turns_of(state)
        run, first = continued(system, integrator, state, step)
        report = None
        t_start = run.t
        if not integrator.adaptive:
            _check_whole_steps(t_end - t_start, run.step)
    else:
        if not integrator.adaptive:
            given, step = step, _equal_steps(t_end - t_start, step)
            if step != given and integrator.exact_step:
                raise ModelError(
                    f"simulate: t_end is {t_end}, no whole number of steps {given} away; expected one, because the "
                    f"second configuration of {integrator.name} belongs to this step"
                )
        run, report = first_run(system, integrator, t_start, step, fixed, prepared.run)
        first, turns, prepared.run = run.initial_row(), {}, run
    if t_end < t_start:
        raise ModelError(f"simulate: t_end is {t_end}; expected a time after the start {t_start}")
    check_resolution("simulate", integrator, float(t_start), float(t_end), float(step), output_step)
    read = system if prepared.reader is None else prepared.reader()
    record = Recording(system, integrator, run, report, first, turns)
    record.is_final = True
    record.watch_for(listed, step)
    if choice is not None:
        record.choose(choice, store)
    elif store is not None:
        record.write_to(store)
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
                error.solution = record.computed(str(error), read)
            raise
    record.wall_time = time.perf_counter() - clock
    if record.message:
        note(f"{record.message}; the solution ends there")
    solution = record.solution(system=read)
    if record.chooser is not None:
        return record.selection(solution), 0.0 if integrator.adaptive else run.step
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


def _refuse_beside_sensitivities(**given: Any) -> None:
    """Arguments with which sensitivities would be wrong, or are not computed."""
    why = {
        "start": "the state of a run does not hold its sensitivities",
        "events": "where an event ends a run or acts, sensitivities jump with its time",
        "store": "sensitivities are not written to disk",
        "record": "sensitivities are derivatives of whole records",
    }
    for name, value in given.items():
        if value is not None:
            raise ModelError(
                f"simulate: {name}= is given beside sensitivities=, but {why[name]}; leave one of them out"
            )


def _tell_other_inputs(state: Mapping[str, Any], system: System) -> None:
    """The inputs of a simulator are part of its state, but those of the model act here."""
    there = dict(zip(state.get("input_names", ()), np.ravel(state.get("input_values", ())), strict=True))
    for name, value in there.items():
        if name in system.values and system.values[name] != value:
            note(
                f"the state was left with input '{name}' = {value:g}; now that of the model acts, "
                f"{system.values[name]:g}, which model.parameters[...] changes"
            )


def _check_whole_steps(duration: float, step: float) -> None:
    """A continued run keeps its step, so that it cannot end between two of them."""
    count = duration / step
    if count > 0.0 and abs(count - round(count)) > max(WHOLE_STEPS * count, STEP_ROUND_OFF):
        raise ModelError(
            f"simulate: t_end is {count:.9g} steps of {step:g} after the start; a continued run keeps its step: "
            "expected a whole number of steps"
        )


def _run_fixed(
    record: Recording, run: Run, t_start: float, t_end: float, step: float, output_step: float | None, bar: Progress
) -> None:
    """Make all steps, some at a time; every so-manyth is written to rows that are there from the start."""
    count = round((t_end - t_start) / step)
    every = steps_between_records("simulate", step, output_step)
    index, origin = run.index, run.origin
    last_extra = (index + count) % every != 0  # the end lies between two records
    first = len(record.blocks)  # the initial record
    size = first + (index + count) // every - index // every + last_extra
    times, arrays = _rows_of_run(record, [len(row) for row in run.row()], size, every * step)
    for t, initial in record.blocks:
        times[:1] = t
        for array, row in zip(arrays, initial, strict=True):
            array[:1] = row
    record.blocks = [(times, arrays)]
    done, rows, chunk = 0, first, _first_chunk(record)
    try:
        while done < count:
            todo = min(chunk, count - done)
            if record.chooser is not None:
                if rows >= len(times) - 1:
                    record.chooser.take(times[:rows], [x[:rows] for x in arrays])
                    rows = 0
                todo = min(todo, (len(times) - 1 - rows) * every)
            clock = time.perf_counter()
            if record.watch is None:
                made, steps = run.advance(todo, every, [a[rows:] for a in arrays]), None
            else:  # events look at every step
                todo, made, steps = _every_step(run, todo)
            first_number = (index + done) // every + 1
            new = (index + done + made) // every + 1 - first_number
            numbers = np.arange(first_number, first_number + new)
            times[rows : rows + new] = origin + run.step * every * numbers
            if steps is not None:
                number = index + done + 1 + np.arange(made)
                recorded, t = number % every == 0, origin + run.step * number
                t[recorded] = times[rows : rows + new]
                for array, values in zip(arrays, steps, strict=True):
                    array[rows : rows + new] = values[recorded]
                if done + made == count:
                    t[made - 1 :] = t_end
            scanned, rows, done = rows, rows + new, done + made
            if made == todo and record.has_functions:
                record.check_functions(times[scanned:rows], [a[scanned:rows] for a in arrays])
            stops = steps is not None and record.happened(t, steps)
            if stops or made < todo:
                break
            if record.store is not None:
                record.store.give_back(new)
            chunk = _next_chunk(todo, time.perf_counter() - clock)
            bar.update(run.t)
            record.interrupts.check()
    finally:
        if done == count and last_extra:
            for array, row in zip(arrays, run.row(), strict=True):
                array[rows] = row
            rows += 1
        if done == count and rows > (first if record.chooser is None else 0):
            times[rows - 1] = t_end
        record.blocks = [(times[:rows], [a[:rows] for a in arrays])]
    if done < count and (record.watch is None or record.watch.stopped is None):
        record.fail()
    record.finish()


def _rows_of_run(record: Recording, widths: list[int], size: int, spacing: float) -> tuple[Array, list[Array]]:
    """Times and rows for so many records, in memory or in a folder; of chosen quantities for fewer, used in turns."""
    if record.chooser is not None:
        if record.chooser.store is None:
            check_room(size, record.chooser.numbers, "simulate", "record less often, or less: output_step=, record=")
        else:
            record.check_disk(size)
        return blank_rows(min(size, max(2, CHOSEN_FROM // (1 + sum(widths)))) + 1, widths)
    if record.store is not None:
        record.check_disk(size)
        return record.store.rows(size)
    remedy = f"record less often: output_step= (now {spacing:g} s), or write to disk: store="
    check_room(size, 1 + sum(widths), "simulate", remedy)
    return blank_rows(size, widths)


def _every_step(run: Run, count: int) -> tuple[int, int, list[Array]]:
    """(steps tried, steps made, rows of all that were made): so many, or as many as there is a buffer for."""
    widths = [len(row) for row in run.row()]
    count = min(count, max(1, WATCHED // sum(widths)))
    steps = [np.zeros((count, n)) for n in widths]
    made = run.advance(count, 1, steps)
    return count, made, [x[:made] for x in steps]


def _first_chunk(record: Recording) -> int:
    """Steps after which it is known how long they take; plain Python may be slow, and Ctrl-C has to wait."""
    python = isinstance(record.integrator, PythonIntegrator) or record.system.has_plain_functions
    return 1 if python else FIRST_CHUNK


def _next_chunk(steps: int, seconds: float) -> int:
    """Steps that take about ``CHUNK_SECONDS``, judged by the last ones and how long they took."""
    wanted = steps * CHUNK_SECONDS / max(seconds, 1e-6)
    return int(min(max(1.0, wanted, 0.1 * steps), 10.0 * steps))


def _run_adaptive(record: Recording, run: Any, t_end: float, output_step: float | None, bar: Progress) -> None:
    """Let the method choose its steps up to the end; nobody knows how many records there will be."""
    widths = [len(row) for row in run.row()]
    numbers, rows, used, room = 1 + sum(widths), _first_chunk(record), 0.0, math.inf
    most = 10000 if record.watch is None else max(FIRST_CHUNK, WATCHED_RECORDS // numbers)
    spacing = float(output_step or 0.0)
    known = spacing or float(run.method.max_step)  # records are not further apart than the largest step
    remedy = "record less often with output_step=" + (f" (now {spacing:g} s)" if spacing else "")
    if record.store is None and record.chooser is None:
        check_room((t_end - run.t) / known, numbers, "simulate", remedy + ", or write to disk: store=")
    else:
        record.flush()  # the first record
    while run.t < t_end:
        t, arrays = record.room(rows)
        clock = time.perf_counter()
        # events look at every step
        made = run.advance_to(t_end, spacing if record.watch is None else -spacing, t, arrays)
        t, arrays = t[:made], [a[:made] for a in arrays]
        steps = t, arrays
        if record.watch is not None and spacing:
            steps, made = thinned(t, arrays, on_grid(t, spacing, t_end))
        new = t[:made], [a[:made] for a in arrays]
        record.keep(made)
        if record.happened(*steps):
            break
        if run.failed:
            record.fail()
        record.check_functions(*new)
        del t, arrays, steps, new  # whoever looks at the records keeps them where they are
        bar.update(run.t)
        record.interrupts.check()
        rows = min(_next_chunk(rows, time.perf_counter() - clock), most)
        if record.store is not None or record.chooser is not None:
            record.flush()
            continue
        used += 8.0 * numbers * made
        if used > FIRST_QUESTION and room == math.inf:
            room = used + SHARE * available_memory()
        if used > room:
            record.message = f"the memory was full of records at t = {run.t:.6g}; {remedy}"
            return
    else:
        record.finish()
    forced = run.statistics().get("forced_steps", 0)
    if forced:
        warnings.warn(
            f"{forced} steps were accepted at the smallest step size although their error exceeds the tolerance; "
            "if a force jumps at known times, give them as switches=",
            stacklevel=4,
        )
