"""compare(): many integrators, coordinates and steps on one model, against one reference."""

from __future__ import annotations

import functools
import multiprocessing
import os
import pickle
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies import Generalized
from ..compiled.functions.travelling import REMEDY, packed, sent_as_code
from ..elements.arguments import FilePath
from ..errors import Array, IncompatibleError, MbdError, ModelError, ModelWarning, check_number
from ..integrators import GeneralizedAlpha, Integrator
from ..io.notes import collected_notes
from ..model import Model, NodeChoice
from ..nodes import RotationVector
from ..results.solution import Solution
from ..simulation.simulation import run_simulation, simulate
from ..simulation.starting import checked_model
from ..system.identity import check_arrival
from .tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REFERENCE_REFINEMENT = 4  # the reference is computed with steps that are this much and twice this much smaller
LONGEST_NAME = 38  # letters; methods that are made of others name all parameters
ROUND_OFF = 1e-9  # of the end time: by how much that of a reference may be another one
SHORT, REPEATS = 0.1, 5  # runs are repeated up to so many times, unless they take longer than this, in s


@dataclass(frozen=True)
class Cell:
    """One run of a study."""

    integrator: Integrator
    node: str
    step: float  # the one that was made: of a whole number, t_end is the end
    error: float = np.nan
    time: float = np.nan  # s, without compilation
    order: float = np.nan  # observed against the next larger step
    energy: float = np.nan  # drift: range of the total energy
    linear: float = np.nan
    angular: float = np.nan
    position: float = np.nan  # largest violation of position constraints
    velocity: float = np.nan
    iterations: float = np.nan  # Newton iterations per step
    failure: str = ""  # why the run stopped, or why the pair does not go together
    incompatible: bool = False
    method: str = ""  # the integrator where its name is not enough, with parameters

    @property
    def name(self) -> str:
        """The integrator as tables and figures call it."""
        return self.method or self.integrator.name

    @property
    def label(self) -> str:
        """Integrator and coordinates."""
        return f"{self.name}, {self.node}" if self.node else self.name


def final_state(solution: Solution) -> Array:
    """What errors are measured in by default: frames of all bodies and generalized coordinates at the end."""
    frames = solution.frames(-1)[1:]
    parts = []
    for body, frame in zip(solution.model.bodies, frames, strict=True):
        parts.append(solution[body].coordinates[-1] if isinstance(body, Generalized) else frame)
    return np.concatenate(parts)


def _measured(quantity: Callable[[Solution], Array], solution: Solution) -> Array:
    """What errors are measured in, as numbers."""
    return _numbers(quantity(solution), "quantity= returned")


def _numbers(value: Any, what: str) -> Array:
    found = np.asarray(value)
    if found.dtype.kind not in "fiub":
        raise ModelError(f"compare: {what} {value!r:.80}; expected real numbers, such as a position at the end")
    return found.astype(float)


def _whole(solution: Solution) -> Solution:
    """A run that came to its end; Ctrl-C leaves one that did not."""
    if not solution.complete:
        raise KeyboardInterrupt
    return solution


def _shortest_time(solution: Solution, again: Callable[[], Solution]) -> float:
    """Computing time of a run; short runs are repeated, because other processes disturb them most."""
    best = total = float(solution.stats["wall_time"])
    for _ in range(REPEATS - 1):
        if total > SHORT:
            break
        time = float(again().stats["wall_time"])
        best, total = min(best, time), total + time
    return best


@dataclass(frozen=True)
class _Plan:
    """All runs of a study, as they are sent to where they are made."""

    model: Model
    t_end: float
    quantity: Callable[[Solution], Array]
    reference: Array
    jobs: list[tuple[Integrator, Any, str, float]]  # with the node, or None, and how it is called

    @functools.cached_property
    def packed(self) -> bytes:
        """The plan for another process."""
        try:
            return packed([getattr(self, field.name) for field in fields(self)])
        except MbdError:
            raise
        except Exception as error:
            raise ModelError(
                f"compare: the model, the integrators or quantity= cannot be sent to another process ({error}). For a "
                f"function: {REMEDY}, or install cloudpickle, which is then used. In this process: processes=1"
            ) from error

    def __reduce_ex__(self, protocol: Any) -> Any:
        return super().__reduce_ex__(protocol) if sent_as_code() else (_unpacked, (self.packed,))


def _unpacked(parcel: bytes) -> _Plan:
    return _Plan(*pickle.loads(parcel))


def _run(plan: _Plan, number: int) -> Cell:
    """One run, errors included; never raises what a study is meant to report."""
    integrator, node, label, step = plan.jobs[number]
    check_arrival(plan.model, refuse=True)
    cell = Cell(integrator, label, step)
    model = plan.model.copy() if node is None else None  # threads share the plan

    def simulated() -> tuple[Solution, float]:  # without warnings and remarks: the table shows errors and drifts
        with collected_notes():
            found = run_simulation(chosen, plan.t_end, step, integrator, progress=False)
        return _whole(found[0]), found[1] or step

    try:
        chosen = plan.model.with_nodes(node) if model is None else model
        solution, used = simulated()
        time = _shortest_time(solution, lambda: simulated()[0])
    except IncompatibleError as error:
        return replace(cell, failure=str(error), incompatible=True)
    except MbdError as error:
        return replace(cell, failure=str(error))
    stats, violation = solution.stats, solution.constraint_error
    found = _measured(plan.quantity, solution)
    if found.squeeze().shape != plan.reference.squeeze().shape:
        raise ModelError(
            f"compare: the reference has shape {plan.reference.shape}, quantity= of a run {found.shape}; expected the "
            "same numbers of both"
        )
    return replace(
        cell,
        step=used,
        error=float(np.linalg.norm(found.ravel() - plan.reference.ravel())),
        time=time,
        energy=float(np.ptp(solution.energy.total)),
        linear=float(np.ptp(solution.momentum.linear, axis=0).max()),
        angular=float(np.ptp(solution.momentum.angular, axis=0).max()),
        position=float(violation.position.max()),
        velocity=float(violation.velocity.max()),
        iterations=stats["newton_iterations"] / max(1, stats["steps"]) if "newton_iterations" in stats else np.nan,
    )


@dataclass
class Study:
    """The result of ``compare``: cells, a table and figures."""

    model: Model
    t_end: float
    cells: list[Cell]
    reference: Array
    reference_error: float  # estimate; 0 for a given reference
    names: list[str] = field(default_factory=list)

    def lines(self) -> dict[str, list[Cell]]:
        """Finished cells by integrator and coordinates, largest step first."""
        found: dict[str, list[Cell]] = {}
        for cell in self.cells:
            if not cell.failure:
                found.setdefault(cell.label, []).append(cell)
        return {label: sorted(cells, key=lambda c: -c.step) for label, cells in found.items()}

    def absent(self) -> dict[str, str]:
        """What has no finished run, by integrator and coordinates: "refused" or "failed"."""
        found = self.lines()
        return {c.label: "refused" if c.incompatible else "failed" for c in self.cells if c.label not in found}

    def table(self, path: FilePath | None = None, format: str | None = None) -> Table:
        """All runs, failures included, and incompatible pairs once; printed by ``print``, or written as CSV or LaTeX.

        ``format`` is "text", "csv" or "latex", by default from the suffix of ``path`` (.csv, .tex).
        """
        head = ["integrator", "nodes", "step", "error", "order", "time [s]", "Newton per step", "energy drift",
                "lin. mom. drift", "ang. mom. drift", "constraints", "their rates", "remark"]  # fmt: skip
        rows, refused = [], set()
        for c in self.cells:
            if c.incompatible and (c.label, c.failure) in refused:  # with another step
                continue
            refused.add((c.label, c.failure))
            numbers = [c.error, c.order, c.time, c.iterations, c.energy, c.linear, c.angular, c.position, c.velocity]
            texts = ["" if np.isnan(x) else f"{x:.2f}" if k in (1, 3) else f"{x:.3g}" for k, x in enumerate(numbers)]
            remark = ("incompatible: " if c.incompatible else "failed: " if c.failure else "") + c.failure
            rows.append([c.name, c.node, "" if c.incompatible else f"{c.step:g}", *texts, remark])
        table = Table(head, rows)
        if path is not None or format is not None:
            table.write(path, format)
        return table

    def plot(self, path: FilePath | None = None) -> Figure:
        """Error over step, error over time, drift of energy and of constraints, with one legend."""
        from .figures import plot_study

        return plot_study(self, path)

    def __str__(self) -> str:
        """The table, and what it cannot show: errors below that of the reference are the reference's own."""
        if self.reference_error <= 0.0:
            return str(self.table())
        words = f"error of the reference below {self.reference_error:.0e}: of smaller errors, and of their orders"
        return f"{self.table()}{words}, little is known\n"


def compare(
    model: Model,
    integrators: Iterable[Integrator],
    nodes: Iterable[NodeChoice] | None = None,
    steps: Iterable[float] = (),
    t_end: float = 1.0,
    *,
    reference: Solution | Array | Callable[[float], Array] | None = None,
    quantity: Callable[[Solution], Array] = final_state,
    processes: int | None = None,
    executor: Executor | None = None,
    progress: bool | None = None,
) -> Study:
    """Run every integrator with every kind of node and every step, and measure errors and drifts.

    Parameters
    ----------
    nodes: node classes, or nodes as templates (``mbd.nodes.Quaternion(lie=True)``); default: the model as it is.
    reference: a solution, the exact ``quantity`` as an array or as a function of the time; by default it is computed by
        generalized-alpha with velocity constraints on Lie nodes and extrapolated, with an estimate of its error.
    quantity: what errors are measured in, from a solution; by default all frames at the end. Its norm is the error.
    processes: number of parallel processes, by default one per processor (1: in this process). Times are only
        comparable if the machine has a processor for each.
    executor: any ``concurrent.futures.Executor``: processes started in any way, threads, machines. What it sends must
        be picklable: functions are found by their names, or sent as code if cloudpickle is installed.
    """
    checked_model("compare", model)
    methods = _listed("integrators", integrators, "[mbd.integrators.RK4()]")
    sizes = [check_number(h, "compare", "steps", positive=True) for h in _listed("steps", steps, "[4e-3, 2e-3]")]
    sizes.sort(reverse=True)
    if not methods or not sizes:
        raise ModelError("compare: expected at least one integrator and one step, e.g. steps=[4e-3, 2e-3, 1e-3]")
    for method in methods:
        if not isinstance(method, Integrator):
            raise ModelError(
                f"compare: {method!r} is not an integrator; expected objects such as mbd.integrators.RK4()"
            )
    chosen = [None] if nodes is None else _listed("nodes", nodes, "[mbd.nodes.Quaternion]")
    if not chosen:
        raise ModelError("compare: nodes = []; expected at least one, or None for the model as it is")
    kinds: list[tuple[Any, str]] = [(node, "" if node is None else _label(node)) for node in chosen]
    if processes is not None and (isinstance(processes, bool) or not isinstance(processes, int) or processes < 1):
        raise ModelError(f"compare: processes = {processes!r}; expected a positive number, or None")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise ModelError(
            f"compare: executor = {executor!r}; expected a concurrent.futures.Executor; of processes of this machine "
            "their number: processes=4"
        )
    if not callable(quantity):
        raise ModelError(f"compare: quantity = {quantity!r}; expected a function of the solution")
    value, estimate = _reference(model, reference, quantity, t_end, min(sizes))
    jobs = [(method, node, label, h) for method in methods for node, label in kinds for h in sizes]
    cells = _run_all(_Plan(model, t_end, quantity, value, jobs), processes, executor, progress)
    names = _names(methods)
    named = [replace(cell, method=names[k // (len(kinds) * len(sizes))]) for k, cell in enumerate(cells)]
    return Study(model, t_end, _with_orders(named), value, estimate, names)


def _listed(name: str, given: Any, example: str) -> list[Any]:
    """Several of a kind; a single one is no list."""
    if isinstance(given, str | type) or not isinstance(given, Iterable):
        raise ModelError(f"compare: {name} = {given!r}; expected a list, such as {name}={example}")
    return list(given)


def _names(methods: list[Integrator]) -> list[str]:
    """Names that tell methods apart: with their parameters where several are of one class."""
    names = [method.name for method in methods]
    return [
        name if names.count(name) == 1 and len(name) <= LONGEST_NAME else _with_parameters(method)
        for name, method in zip(names, methods, strict=True)
    ]


def _with_parameters(method: Integrator) -> str:
    """A method as people would type it: with the parameters that are not as by default, and what it is made of."""
    stages, others = [], []
    for item in fields(method):
        value = getattr(method, item.name)
        usual = item.default if item.default_factory is MISSING else item.default_factory()
        if isinstance(value, Integrator):
            stages.append(_with_parameters(value))
        elif repr(value) != repr(usual):
            others.append(f"{item.name}={value!r}")
    return f"{type(method).__name__}({', '.join(stages + others)})"


def _label(node: Any) -> str:
    if isinstance(node, type):
        return node.__name__
    name = f"{node} {node.sequence}" if hasattr(node, "sequence") else str(node)
    return f"{name} Lie" if getattr(node, "lie", False) else name


def _reference(
    model: Model, given: Any, quantity: Callable[[Solution], Array], t_end: float, step: float
) -> tuple[Array, float]:
    """The reference value and an estimate of its error."""
    if isinstance(given, Solution):
        if not len(given.t) or abs(given.t[-1] - t_end) > ROUND_OFF * abs(t_end):
            end = f"ends at t = {given.t[-1]:g}" if len(given.t) else "is empty"
            raise ModelError(
                f"compare: the reference {end}, runs at t_end = {t_end:g}; expected a solution as long as they are, or "
                "its value: reference=quantity(solution)"
            )
        return _measured(quantity, given), 0.0
    if given is not None:
        value = _numbers(given(t_end) if callable(given) else given, "reference is")
        if not np.isfinite(value).all():
            raise ModelError(f"compare: reference is {value!r:.80}; expected finite numbers")
        return value, 0.0
    method = GeneralizedAlpha()
    lie = model.with_nodes(RotationVector)
    with collected_notes():  # the finer run says the same
        coarse = _measured(quantity, _whole(simulate(lie, t_end, step / REFERENCE_REFINEMENT, method)))
    fine = _measured(quantity, _whole(simulate(lie, t_end, step / (2 * REFERENCE_REFINEMENT), method)))
    if fine.shape != coarse.shape:
        raise ModelError(
            f"compare: quantity= has shape {coarse.shape} with one step and {fine.shape} with half of it; expected as "
            "many numbers with every step, such as a position at the end"
        )
    correction = (fine - coarse) / 3.0  # second order
    return fine + correction, float(np.linalg.norm(correction))


def _run_all(plan: _Plan, processes: int | None, executor: Executor | None, progress: bool | None) -> list[Cell]:
    from rich.console import Console
    from rich.progress import Progress

    jobs = plan.jobs
    count = 1 if executor is not None else _process_count(plan, processes)
    console = Console(stderr=True)
    show = console.is_terminal if progress is None else progress
    with Progress(console=console, transient=True, disable=not show) as bar:
        task = bar.add_task("runs", total=len(jobs))
        cells = []
        if executor is None and count == 1:
            for number in range(len(jobs)):
                cells.append(_run(plan, number))
                bar.advance(task)
            return cells
        pool = executor or ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("fork"))
        try:
            futures = [pool.submit(_run, plan, number) for number in range(len(jobs))]
            for future, job in zip(futures, jobs, strict=True):
                cells.append(replace(future.result(), integrator=job[0]))  # that of this process
                bar.advance(task)
        finally:
            if executor is None:
                pool.shutdown(cancel_futures=True)
    return cells


def _process_count(plan: _Plan, processes: int | None) -> int:
    """How many processes make the runs; one where they cannot be forked, or nothing can be sent to others."""
    if "fork" not in multiprocessing.get_all_start_methods():
        return 1
    count = processes or min(os.cpu_count() or 1, len(plan.jobs))
    if processes is None and count > 1:
        try:
            _ = plan.packed
        except ModelError as error:
            warnings.warn(f"{error}, which is done now", ModelWarning, stacklevel=4)
            return 1
    return count


def _with_orders(cells: list[Cell]) -> list[Cell]:
    """The cells, each with its observed order against the next larger step."""
    done = []
    for k, cell in enumerate(cells):
        before = cells[k - 1] if k else cell
        if k and before.label == cell.label and before.step > cell.step and cell.error > 0.0 and before.error > 0.0:
            cell = replace(cell, order=float(np.log(before.error / cell.error) / np.log(before.step / cell.step)))
        done.append(cell)
    return done
