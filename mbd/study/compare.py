"""compare(): many integrators, coordinates and steps on one model, against one reference."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies import Generalized
from ..elements.arguments import FilePath
from ..errors import AccuracyWarning, Array, IncompatibleError, MbdError, ModelError
from ..integrators import GeneralizedAlpha, Integrator
from ..model import Model, NodeChoice
from ..nodes import RotationVector
from ..results.solution import Solution
from ..simulation.simulation import simulate
from .tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REFERENCE_REFINEMENT = 4  # the reference is computed with steps that are this much and twice this much smaller
SHORT, REPEATS = 0.1, 5  # runs are repeated up to so many times, unless they take longer than this, in s


@dataclass(frozen=True)
class Cell:
    """One run of a study."""

    integrator: Integrator
    node: str
    step: float
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

    @property
    def label(self) -> str:
        """Integrator and coordinates."""
        return f"{self.integrator.name}, {self.node}" if self.node else self.integrator.name


def final_state(solution: Solution) -> Array:
    """What errors are measured in by default: frames of all bodies and generalized coordinates at the end."""
    frames = solution.frames(-1)[1:]
    parts = []
    for body, frame in zip(solution.model.bodies, frames, strict=True):
        parts.append(solution[body].coordinates[-1] if isinstance(body, Generalized) else frame)
    return np.concatenate(parts)


_job: tuple[Model, float, Callable[[Solution], Array], Array] | None = None  # what worker processes inherit


def _shortest_time(solution: Solution, again: Callable[[], Solution]) -> float:
    """Computing time of a run; short runs are repeated, because other processes disturb them most."""
    best = total = float(solution.stats["wall_time"])
    for _ in range(REPEATS - 1):
        if total > SHORT:
            break
        time = float(again().stats["wall_time"])
        best, total = min(best, time), total + time
    return best


def _run(integrator: Integrator, node: Any, label: str, step: float) -> Cell:
    """One run, errors included; never raises what a study is meant to report."""
    assert _job is not None
    model, t_end, quantity, reference = _job
    cell = Cell(integrator, label, step)
    try:
        chosen = model if node is None else model.with_nodes(node)
        with warnings.catch_warnings():  # the table shows errors and drifts
            warnings.simplefilter("ignore", AccuracyWarning)
            solution = simulate(chosen, t_end, step, integrator, progress=False)
            time = _shortest_time(solution, lambda: simulate(chosen, t_end, step, integrator, progress=False))
    except IncompatibleError as error:
        return replace(cell, failure=str(error), incompatible=True)
    except MbdError as error:
        return replace(cell, failure=str(error))
    stats, violation = solution.stats, solution.constraint_error
    return replace(
        cell,
        error=float(np.linalg.norm(quantity(solution) - reference)),
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

    def table(self, path: FilePath | None = None, format: str | None = None) -> Table:
        """All runs, failures and incompatible pairs included; printed by ``print``, or written as CSV or LaTeX.

        ``format`` is "text", "csv" or "latex", by default from the suffix of ``path`` (.csv, .tex).
        """
        head = ["integrator", "nodes", "step", "error", "order", "time [s]", "Newton", "energy", "lin. mom.",
                "ang. mom.", "g", "g velocity", "remark"]  # fmt: skip
        rows = []
        for c in self.cells:
            numbers = [c.error, c.order, c.time, c.iterations, c.energy, c.linear, c.angular, c.position, c.velocity]
            texts = ["" if np.isnan(x) else f"{x:.2f}" if k in (1, 3) else f"{x:.3g}" for k, x in enumerate(numbers)]
            remark = ("incompatible: " if c.incompatible else "failed: " if c.failure else "") + c.failure
            rows.append([c.integrator.name, c.node, f"{c.step:g}", *texts, remark])
        table = Table(head, rows)
        if path is not None or format is not None:
            table.write(path, format)
        return table

    def plot(self, path: FilePath | None = None) -> Figure:
        """Error over step, error over time, drift of energy and of constraints, with one legend."""
        from .figures import plot_study

        return plot_study(self, path)

    def __str__(self) -> str:
        return str(self.table())


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
    executor: any ``concurrent.futures.Executor`` that shares memory with this process at its start.
    """
    global _job
    methods, sizes = list(integrators), sorted((float(h) for h in steps), reverse=True)
    if not methods or not sizes:
        raise ModelError("compare: expected at least one integrator and one step, e.g. steps=[4e-3, 2e-3, 1e-3]")
    for method in methods:
        if not isinstance(method, Integrator):
            raise ModelError(
                f"compare: {method!r} is not an integrator; expected objects such as mbd.integrators.RK4()"
            )
    kinds: list[tuple[Any, str]] = [(None, "")] if nodes is None else [(node, _label(node)) for node in nodes]
    value, estimate = _reference(model, reference, quantity, t_end, min(sizes))
    jobs = [(method, node, label, h) for method in methods for node, label in kinds for h in sizes]
    _job = (model, t_end, quantity, value)
    try:
        cells = _run_all(jobs, processes, executor, progress)
    finally:
        _job = None
    return Study(model, t_end, _with_orders(cells), value, estimate, [method.name for method in methods])


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
        return quantity(given), 0.0
    if callable(given):
        return np.asarray(given(t_end), dtype=float), 0.0
    if given is not None:
        return np.asarray(given, dtype=float), 0.0
    method = GeneralizedAlpha()
    lie = model.with_nodes(RotationVector)
    coarse, fine = (
        quantity(simulate(lie, t_end, step / n, method)) for n in (REFERENCE_REFINEMENT, 2 * REFERENCE_REFINEMENT)
    )
    correction = (fine - coarse) / 3.0  # second order
    return fine + correction, float(np.linalg.norm(correction))


def _run_all(jobs: list[Any], processes: int | None, executor: Executor | None, progress: bool | None) -> list[Cell]:
    from rich.console import Console
    from rich.progress import Progress

    count = processes or min(os.cpu_count() or 1, len(jobs))
    can_fork = "fork" in multiprocessing.get_all_start_methods()
    console = Console(stderr=True)
    show = console.is_terminal if progress is None else progress
    with Progress(console=console, transient=True, disable=not show) as bar:
        task = bar.add_task("runs", total=len(jobs))
        cells = []
        if executor is None and (count == 1 or not can_fork):
            for job in jobs:
                cells.append(_run(*job))
                bar.advance(task)
            return cells
        pool = executor or ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("fork"))
        try:
            futures = [pool.submit(_run, *job) for job in jobs]
            for future in futures:
                cells.append(future.result())
                bar.advance(task)
        finally:
            if executor is None:
                pool.shutdown()
    return cells


def _with_orders(cells: list[Cell]) -> list[Cell]:
    """The same cells with the observed order against the next larger step."""
    done = []
    for k, cell in enumerate(cells):
        before = cells[k - 1] if k else cell
        if k and before.label == cell.label and before.step > cell.step and cell.error > 0.0 and before.error > 0.0:
            cell = replace(cell, order=float(np.log(before.error / cell.error) / np.log(before.step / cell.step)))
        done.append(cell)
    return done
