"""Several runs in one view: which ones belong together, and what tells them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbd.errors import ModelError

if TYPE_CHECKING:
    from mbd.results.solution import Solution


def run_list(solutions: Any, owner: str = "view") -> list[Solution]:
    """One solution, or several of the same model, as a list."""
    from mbd.results.solution import Solution

    runs = [solutions] if isinstance(solutions, Solution) else solutions
    if not isinstance(runs, list | tuple) or not all(isinstance(run, Solution) for run in runs):
        raise ModelError(f"{owner}: solutions = {_short(solutions)}; expected a Solution or a list of several")
    if not runs:
        raise ModelError(f"{owner}: no solutions are given; expected one or a list of several")
    for k, run in enumerate(runs[1:], 2):
        check_same(runs[0], run, k, owner)
    return list(runs)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def check_same(first: Solution, other: Solution, number: int, owner: str) -> None:
    """Both runs are of models with the same elements; coordinates, masses and other values may differ."""
    for kind in ("bodies", "joints", "forces"):
        one, two = ([(e.name, type(e).__name__) for e in getattr(run.model, kind)] for run in (first, other))
        if set(one) == set(two):
            continue
        name, label = next(item for item in [*one, *two] if (item in one) != (item in two))
        has, lacks = (1, number) if (name, label) in one else (number, 1)
        raise ModelError(
            f"{owner}: runs in one view have to be of the same model (integrators, coordinates and values may differ), "
            f"but run {has} has the {label} '{name}' and run {lacks} has not; draw them one by one"
        )


def run_names(runs: list[Any]) -> list[str]:
    """What tells runs apart: their integrators, numbered where they are equal."""
    names = [type(run.integrator).__name__ for run in runs]
    return [n if names.count(n) == 1 else f"{n} ({names[: k + 1].count(n)})" for k, n in enumerate(names)]
