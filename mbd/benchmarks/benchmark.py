"""A benchmark: a model with its source, reference values and error measure, and how to run it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from ..bodies import Body
from ..errors import ModelError, RedundancyWarning
from ..integrators import GeneralizedAlpha
from ..integrators.base import Integrator
from ..model import Model, NodeChoice
from ..results.solution import Solution
from ..simulation.simulation import simulate
from ..solvers.linearisation import linearize

Array = np.ndarray
Law = tuple[Array, Array | float]
"""A quantity at every record, and what it is exactly: a number, a vector, or a series."""


@dataclass
class Benchmark:
    """A reference problem.

    Attributes
    ----------
    name: short name, such as "A02".
    model: ready to be simulated.
    parameters: what the function that made it was given, and the constants of the problem.
    source: where the problem and its reference values come from.
    reference: values of ``observe`` at given times, ``{t: {quantity: value}}``; empty where none are known.
    observe: function of (solution, index of a record) that returns the same quantities.
    measure: what ``error`` returns, in words.
    t_end, step, integrator: a good choice for it.
    conservative: whether energy is conserved.
    laws: function of a solution that returns what is known exactly at all times, ``{law: (series, exact)}``: momenta,
        energies, work of motors, lengths ...; see ``check``.
    steady, eigenvalues: the model in a steady state and its published eigenvalues, where there are any.
    """

    name: str
    title: str
    model: Model
    parameters: Mapping[str, Any]
    source: str
    observe: Callable[[Solution, int], dict[str, float]]
    measure: str
    t_end: float
    step: float
    reference: Mapping[float, Mapping[str, float]] = field(default_factory=dict)
    integrator: Integrator = field(default_factory=GeneralizedAlpha)
    conservative: bool = True
    laws: Callable[[Solution], Mapping[str, Law]] | None = None
    steady: Model | None = None
    eigenvalues: tuple[complex, ...] = ()

    def simulate(
        self, step: float | None = None, integrator: Integrator | None = None, t_end: float | None = None, **more: Any
    ) -> Solution:
        """Simulate the model; what is not given is the benchmark's own choice."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RedundancyWarning)  # known of these models
            return simulate(
                self.model, self.t_end if t_end is None else t_end, self.step if step is None else step,
                self.integrator if integrator is None else integrator, **more,
            )  # fmt: skip

    def with_nodes(self, nodes: NodeChoice | Mapping[str, NodeChoice] | Mapping[Body, NodeChoice]) -> Self:
        """The same problem in other coordinates; ``nodes`` as for ``Model.with_nodes``."""
        return replace(self, model=self.model.with_nodes(nodes))

    def error(self, solution: Solution) -> float:
        """Largest deviation from the reference values at the times that were recorded; NaN where there are none.

        Without reference values it is the largest change of energy, divided by the largest kinetic energy.
        """
        if not self.reference:
            return energy_drift(solution)
        deviations = []
        for t, values in self.reference.items():
            k = int(np.argmin(np.abs(solution.t - t)))
            if abs(solution.t[k] - t) <= 1e-9 * max(1.0, abs(t)):
                observed = self.observe(solution, k)
                deviations += [abs(observed[name] - value) for name, value in values.items()]
        return max(deviations, default=float("nan"))

    def check(self, solution: Solution) -> dict[str, float]:
        """Largest deviation from every law during the run, beside the size of the exact value (as it is if that is 0).

        Empty where no laws are known.
        """
        found = {}
        for name, (series, exact) in (self.laws(solution) if self.laws is not None else {}).items():
            size = float(np.abs(exact).max())
            found[name] = float(np.abs(series - exact).max()) / (size if size > 0.0 else 1.0)
        return found

    def eigenvalue_error(self) -> float:
        """Largest distance of a published eigenvalue to the nearest one of ``mbd.linearize(benchmark.steady)``.

        NaN where no eigenvalues are known.
        """
        if self.steady is None or not self.eigenvalues:
            return float("nan")
        found = linearize(self.steady).eigenvalues
        return max(float(np.abs(found - value).min()) for value in self.eigenvalues)


def xyz(name: str, vector: Any) -> dict[str, float]:
    """The components of a vector as named quantities: "name x", "name y", "name z"."""
    return {f"{name} {axis}": float(x) for axis, x in zip("xyz", vector, strict=True)}


def momenta(solution: Solution, linear: Any, angular: Any) -> dict[str, Law]:
    """The laws of a system on which nothing acts from outside: both momenta are constant."""
    found = solution.momentum
    return {"linear momentum": (found.linear, np.array(linear)), "angular momentum": (found.angular, np.array(angular))}


def work(solution: Solution, power: Array) -> Array:
    """Work that a power at the records has done, (n,): the integral of a spline of degree seven through it."""
    from scipy.interpolate import make_interp_spline

    if len(solution) < 2:
        return np.zeros(len(solution))
    degree = min(7, len(solution) - 1)
    integral = make_interp_spline(solution.t, power, k=degree - (degree + 1) % 2).antiderivative()
    return integral(solution.t) - integral(solution.t[0])


def energy_drift(solution: Solution) -> float:
    """Largest change of the total energy beside the largest kinetic energy."""
    energy = solution.energy
    change = np.abs(energy.total - energy.total[0]).max()
    return float(change / max(energy.kinetic.max(), 1e-300))


@dataclass
class Result:
    """What one run of a benchmark gave."""

    name: str
    integrator: str
    step: float
    error: float
    energy_drift: float
    constraint_error: float
    wall_time: float
    steps: int
    eigenvalue_error: float = float("nan")
    law_error: float = float("nan")


def run(benchmark: Benchmark, **choices: Any) -> Result:
    """Run a benchmark and measure it."""
    if not isinstance(benchmark, Benchmark):
        raise ModelError(f"run: {benchmark!r} is no benchmark; expected e.g. mbd.benchmarks.heavy_top()")
    solution = benchmark.simulate(**choices)
    steps = int(solution.stats["steps"])
    return Result(
        benchmark.name, solution.integrator.name, float(choices.get("step") or benchmark.step),
        benchmark.error(solution),
        energy_drift(solution) if benchmark.conservative else float("nan"),
        float(solution.constraint_error.position.max(initial=0.0)), float(solution.stats["wall_time"]), steps,
        benchmark.eigenvalue_error(), max(benchmark.check(solution).values(), default=float("nan")),
    )  # fmt: skip


def table(results: list[Result]) -> str:
    """The results as text."""
    head = (
        "benchmark", "integrator", "step", "error", "eigenvalues", "laws", "energy drift", "constraints", "time [s]",
        "us/step",
    )  # fmt: skip
    lines = [head]
    for r in results:
        drift = "-" if np.isnan(r.energy_drift) else f"{r.energy_drift:.1e}"
        error = "-" if np.isnan(r.error) else f"{r.error:.2e}"
        linear = "-" if np.isnan(r.eigenvalue_error) else f"{r.eigenvalue_error:.1e}"
        laws = "-" if np.isnan(r.law_error) else f"{r.law_error:.1e}"
        per_step = f"{1e6 * r.wall_time / max(r.steps, 1):.1f}"
        lines.append((
            r.name, r.integrator, f"{r.step:g}", error, linear, laws, drift, f"{r.constraint_error:.1e}",
            f"{r.wall_time:.3f}", per_step,
        ))  # fmt: skip
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
    return "\n".join(
        "  ".join(
            text.ljust(w) if k < 2 else text.rjust(w) for k, (text, w) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )
