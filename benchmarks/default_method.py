"""Which default ``simulate`` should have: error and cost of the variants of generalized-alpha over many models.

For an order-2 method error = c h^2 and cost = w / h, so that ``w sqrt(error)`` at a common step is the CPU time for a
given error, up to a factor that all variants share. The table shows it relative to the first variant (below 1: better),
the geometric mean over the steps of each model; then errors, losses of energy and momentum at the largest step.

Run: python benchmarks/default_method.py [word in the names of models ...]; its tables are in docs/default_method.md
"""

from __future__ import annotations

import argparse
import dataclasses
import time
import warnings
from typing import Any

import numpy as np
from default_models import CASES, Case

import mbd
from mbd.integrators import DOPRI5, GeneralizedAlpha
from mbd.solvers.initial import consistent_start
from mbd.solvers.redundancy import check_redundancy

REPEATS, TIMED_STEPS = 5, 200
RHO = (0.8, 0.9, 0.95, 0.99, 1.0)
MANY = 100.0  # ratios above are of no interest


@dataclasses.dataclass
class Cell:
    """One variant on one model, a value per step."""

    errors: list[float] = dataclasses.field(default_factory=list)
    costs: list[float] = dataclasses.field(default_factory=list)  # CPU s per step
    iterations: list[float] = dataclasses.field(default_factory=list)
    drift: float = float("nan")  # of the energy, at the largest step
    lost: float = float("nan")  # angular momentum, at the largest step
    failures: list[str] = dataclasses.field(default_factory=list)


def variants() -> dict[str, GeneralizedAlpha]:
    """The candidates by their names; the first one is the default, with which the others are compared."""
    found = {"default": GeneralizedAlpha()}
    found |= {f"index 2, {rho:g}": GeneralizedAlpha(rho) for rho in RHO if rho != GeneralizedAlpha().rho_inf}
    found["index 2, 0.9, full"] = GeneralizedAlpha(newton="full")
    found |= {f"index 3, {rho:g}": GeneralizedAlpha(rho, stabilized=False) for rho in RHO if rho < 1.0}
    found["index 3, 0.9, full"] = GeneralizedAlpha(stabilized=False, newton="full")
    found["index 3, 0.9, modified"] = GeneralizedAlpha(stabilized=False, newton="modified")
    return found


def cost(model: mbd.Model, method: Any, step: float, steps: int) -> float:
    """CPU time of one step, recorded nowhere."""
    system = mbd.assemble(model)
    start = consistent_start(system)
    check_redundancy(system, start.q, start.v)
    run = method.start(system, start.q, start.v, 0.0, step, None)
    empty = [row[None][:0] for row in run.initial_row()]
    count = max(1, min(TIMED_STEPS, steps // REPEATS))
    best = float("inf")
    for _ in range(REPEATS):
        clock = time.process_time()
        if run.advance(count, 10**9, empty) < count:
            break
        best = min(best, (time.process_time() - clock) / count)
    return best


def reference(case: Case) -> Any:
    """Converged values at the end."""
    if case.reference is not None:
        return np.asarray(case.reference)
    ends = []
    for rtol in (case.rtol, 30 * case.rtol):
        method = DOPRI5(rtol=rtol, atol=rtol / 10)
        ends.append(case.observe(mbd.simulate(case.model, case.t_end, min(case.steps) / 100, method)))
    print(f"    reference by DOPRI5, good to {np.abs(ends[0] - ends[1]).max():.0e}", flush=True)
    return ends[0]


def measure(case: Case, methods: dict[str, GeneralizedAlpha]) -> dict[str, Cell]:
    """All variants on one model."""
    exact, cells = reference(case), {name: Cell() for name in methods}
    for step in case.steps:
        for name, method in methods.items():
            cell = cells[name]
            try:
                solution = mbd.simulate(case.model, case.t_end, step, method)
            except mbd.ConvergenceError as error:
                cell.failures.append(f"h = {step:g}: {error}")
                cell.errors.append(float("inf"))
                cell.costs.append(float("inf"))
                cell.iterations.append(float("nan"))
                continue
            cell.errors.append(float(np.abs(case.observe(solution) - exact).max()))
            cell.costs.append(cost(case.model, method, step, len(solution.t) - 1))
            cell.iterations.append(solution.stats["newton_iterations"] / solution.stats["steps"])
            if step == case.steps[0]:
                if case.conservative:
                    cell.drift = mbd.benchmarks.energy_drift(solution)
                if case.momentum:
                    total = solution.momentum.angular
                    cell.lost = float(np.abs(total - total[0]).max() / np.linalg.norm(total[0]))
    return cells


def relative(cells: dict[str, Cell]) -> dict[str, float]:
    """CPU time for equal error relative to the first variant; infinite where a run failed."""
    merit = {n: np.array(c.costs) * np.sqrt(np.array(c.errors)) for n, c in cells.items()}
    first = next(iter(merit.values()))
    ratios = {n: np.minimum(m / first, MANY) for n, m in merit.items()}
    return {n: float(np.exp(np.mean(np.log(r)))) if np.isfinite(merit[n]).all() else np.inf for n, r in ratios.items()}


def table(title: str, rows: dict[str, dict[str, float]], form: str) -> str:
    """Markdown."""
    names = list(next(iter(rows.values())))
    lines = [f"\n{title}\n", "| model | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for name, row in rows.items():
        texts = ["fails" if x == np.inf else "-" if np.isnan(x) else format(x, form) for x in row.values()]
        lines.append(f"| {name} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def summary(rows: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Geometric mean of every column where nothing failed, and the number of models on which runs failed."""
    columns = {n: np.array([row[n] for row in rows.values()]) for n in next(iter(rows.values()))}
    means = {n: float(np.exp(np.mean(np.log(c[np.isfinite(c)])))) for n, c in columns.items()}
    return {"geometric mean": means, "models that fail": {n: float(np.isinf(c).sum()) for n, c in columns.items()}}


def main(words: list[str]) -> None:
    """Measure and print."""
    warnings.simplefilter("ignore", mbd.RedundancyWarning)  # known of these models
    warnings.simplefilter("ignore", mbd.ModelWarning)
    methods, found = variants(), {}
    for name, make in CASES.items():
        if not words or any(word in name for word in words):
            print(name, flush=True)
            case = make()
            found[f"{name}, h = {case.steps[0]:g}"] = cells = measure(case, methods)
            for variant, cell in cells.items():
                for text in cell.failures:
                    print(f"    {variant}: {text[:150]}", flush=True)
    times = {name.split(", h =")[0]: relative(cells) for name, cells in found.items()}
    print(table("CPU time for equal error, relative to the default", times | summary(times), ".2f"))
    pages = {
        "Error": (lambda c: c.errors[0], ".1e"),
        "CPU time per step [us]": (lambda c: 1e6 * c.costs[0], ".1f"),
        "Newton iterations per step": (lambda c: c.iterations[0], ".2f"),
        "Change of energy over the largest kinetic energy": (lambda c: c.drift, ".1e"),
        "Change of angular momentum": (lambda c: c.lost, ".1e"),
    }
    for title, (value, form) in pages.items():
        print(table(title, {n: {v: value(c) for v, c in cells.items()} for n, cells in found.items()}, form))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("words", nargs="*", help="words in the names of the models; default: all of them")
    main(parser.parse_args().words)
