"""minimize(): parameters of a model for which a number is smallest."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Array, MbdError, ModelError, ModelWarning, StudyError
from .derivatives import DIFFERENCES, with_derivatives
from .options import named_values, options_of
from .search_space import Evaluator, Space, space_of
from .sweeping import make_recipe
from .tables import Table

if TYPE_CHECKING:
    from distributed import Client

    from ..model import Model
    from ..results.solution import Solution
    from .runs import Recipe

OBJECTIVE = "objective"
WITH_GRADIENT = ("BFGS", "L-BFGS-B", "SLSQP", "TNC", "CG", "trust-constr")
WITHOUT = ("Nelder-Mead", "Powell", "COBYLA", "COBYQA")
WITH_BOUNDS = ("L-BFGS-B", "SLSQP", "TNC", "trust-constr", "Nelder-Mead", "Powell", "COBYLA", "COBYQA")
GLOBAL = "differential_evolution"
SQUARES = "least_squares"


@dataclass(frozen=True)
class Minimum:
    """The result of ``mbd.study.minimize``; ``print`` shows it as a table.

    Attributes: ``parameters`` by name, ``value`` of the objective there, ``success`` and ``message`` of the ``method``,
    ``evaluations`` (runs), ``failures`` (those without a result) and ``first_failure``, ``starts`` (where each local
    search ended, and the value there).
    """

    parameters: dict[str, float]
    value: float
    success: bool
    message: str
    method: str
    evaluations: int
    failures: int
    first_failure: str
    starts: list[tuple[dict[str, float], float]] = field(repr=False)
    _space: Space = field(repr=False)
    _recipe: Recipe = field(repr=False)
    _fixed: dict[str, Any] = field(repr=False)

    def solution(self) -> Solution:
        """The run at the minimum."""
        return self._recipe.solve(0, {**self._fixed, **self.parameters})

    def __str__(self) -> str:
        rows = []
        for k, (name, x) in enumerate(self.parameters.items()):
            low, high = self._space.low[k], self._space.high[k]
            rows.append([name, f"{x:.8g}", _bound(low), _bound(high), _place(x, low, high)])
        lines = [
            f"minimum {self.value:.8g} by {self.method}: {self.message}",
            str(Table(["parameter", "value", "low", "high", ""], rows)).rstrip(),
            runs_text(self.evaluations, self.failures, self.first_failure),
        ]
        if len(self.starts) > 1:
            near = sum(value <= self.value + 1e-6 * (1.0 + abs(self.value)) for _, value in self.starts)
            lines.append(f"{near} of {len(self.starts)} starts came to this minimum")
        return "\n".join(lines)


def runs_text(evaluations: int, failures: int, first: str) -> str:
    """How many runs were made, and what went wrong."""
    return f"{evaluations} runs" + (f", {failures} of them without a result; the first at {first}" if failures else "")


def _bound(x: float) -> str:
    return f"{x:.6g}" if np.isfinite(x) else ""


def _place(x: float, low: float, high: float) -> str:
    return "at its bound" if at_bound(x, low, high) else ""


def at_bound(x: float, low: float, high: float) -> bool:
    """Whether a value lies on one of its bounds."""
    near = 1e-6 * (high - low) if np.isfinite(high - low) else 1e-9 * max(1.0, abs(x))
    return bool(x - low <= near or high - x <= near)


def minimize(
    build: Callable[..., Model] | Model,
    parameters: Mapping[str, object],
    objective: Callable[[Solution], object] | str,
    *,
    simulate: Mapping[str, object] | Callable[..., object] | None = None,
    method: str | None = None,
    fixed: Mapping[str, object] | None = None,
    executor: int | Executor | Client | str | Callable[[], Executor] | None = None,
    starts: int = 1,
    seed: int = 0,
    timeout: float | None = None,
    options: Mapping[str, object] | None = None,
    progress: bool | None = None,
    derivatives: str = DIFFERENCES,
) -> Minimum:
    """Find parameters for which a number that is read off the solution is smallest.

    Parameters
    ----------
    build, simulate, executor, timeout, progress: as in ``mbd.study.sweep``. With ``rng``, every run gets the same
    numbers.
    parameters: by name a start, bounds (low, high), or (low, start, high).
    objective: a function of the solution, or the text of a channel; a number, for "least_squares" an array.
    method: "differential_evolution" searches between bounds, a whole generation at a time through the executor;
        "least_squares", and those of ``scipy.optimize.minimize``: "L-BFGS-B", "SLSQP", "TNC", "BFGS", "CG",
        "trust-constr", with derivatives by differences through the executor, and "Nelder-Mead", "Powell", "COBYLA",
        "COBYQA" without. Default: "differential_evolution" if all parameters have bounds and none a start of its own,
        otherwise "L-BFGS-B".
    fixed: further arguments of ``build``, which are not changed.
    starts: local methods begin at so many points: at the start, and at points of a Latin hypercube between the bounds.
    options: arguments of the method, see ``scipy.optimize``.
    derivatives: "differences" of runs through the executor, or "sensitivities" that a run computes along with itself:
        of a model with parameters, with methods that have them (see ``mbd.simulate``). The objective is differentiated
        along them; it must depend on the parameters through the solution alone.

    A run without a result counts as infinitely bad where the method goes on from that (all but those of the group with
    derivatives other than "least_squares", which stop with an error), and the result says how many there were. The
    parameters at which a method starts must have a result.

    >>> model = mbd.Model(gravity=(0, 0, -10.0))
    >>> angle = model.parameter("angle", 0.5)
    >>> ball = model.add(mbd.PointMass("ball", mass=1.0, velocity=(10 * np.cos(angle), 0, 10 * np.sin(angle))))
    >>> def missed(run):
    ...     x, y, z = run["ball"].position[-1]
    ...     return (z - 1.0) ** 2
    >>> best = mbd.study.minimize(model, {"angle": (0.1, 0.3, 0.7)}, missed, simulate={"t_end": 0.5, "step": 0.05})
    >>> f"{best.parameters['angle']:.4f}"
    '0.4668'
    """
    space = space_of(parameters, "minimize")
    fixed = named_values("minimize", "fixed", fixed, "{'mass': 1.0}")
    options = named_values("minimize", "options", options, "{'maxiter': 50}")
    chosen = method or _default(space, parameters)
    if chosen not in (*WITH_GRADIENT, *WITHOUT, GLOBAL, SQUARES):
        raise ModelError(
            f"minimize: method = {method!r}; expected one of {', '.join((GLOBAL, SQUARES, *WITH_GRADIENT, *WITHOUT))}"
        )
    bounds = np.isfinite(space.low).any() or np.isfinite(space.high).any()
    if bounds and chosen not in (*WITH_BOUNDS, GLOBAL, SQUARES):
        raise ModelError(f"minimize: {chosen} knows no bounds; expected another method, or starts without bounds")
    if chosen == GLOBAL and not space.bounded:
        raise ModelError(
            "minimize: differential_evolution searches between bounds; expected (low, high) for all parameters"
        )
    if chosen == GLOBAL and starts != 1:
        raise ModelError(f"minimize: starts = {starts}, but differential_evolution has no start; expected starts=1")
    followed = derivatives != DIFFERENCES
    if followed and chosen not in (*WITH_GRADIENT, SQUARES):
        raise ModelError(
            f"minimize: {chosen} takes no derivatives; expected another method, or derivatives='differences'"
        )
    given, output = with_derivatives("minimize", derivatives, build, simulate, objective, space.names)
    recipe = make_recipe("minimize", build, given, {OBJECTIVE: output}, seed, timeout, common=True)
    with Evaluator(recipe, space, OBJECTIVE, executor, fixed, "minimize", progress, followed) as evaluate:
        if chosen in (*WITH_GRADIENT, SQUARES):
            space = evaluate.sized()
        search = _Search(evaluate, space, chosen, options, seed)
        with options_of("minimize", chosen, options):
            found = search.globally() if chosen == GLOBAL else search.from_starts(starts)
        best = min(found, key=lambda one: one.fun)
        x = np.clip(best.x * space.size, space.low, space.high)
        tried = [(space.named(one.x * space.size), float(one.fun)) for one in found]
        if not np.isfinite(best.fun):
            raise StudyError(f"minimize: no run had a result; the first: {evaluate.first_failure}")
        result = Minimum(
            space.named(x), float(best.fun), bool(best.success), str(best.message), chosen, evaluate.evaluations,
            evaluate.failures, evaluate.first_failure, tried, space, recipe, fixed,
        )  # fmt: skip
    if not result.success:
        warnings.warn(f"minimize: {chosen} did not come to an end: {result.message}", ModelWarning, stacklevel=2)
    search.warn_of_idle_parameters()
    warn_of_warnings("minimize", evaluate)
    return result


def warn_of_warnings(who: str, evaluate: Evaluator) -> None:
    """Say that runs gave warnings, or changed what they depend on."""
    changed = evaluate.parcel.changed()
    if changed:
        warnings.warn(f"{who}: {changed}", ModelWarning, stacklevel=3)
    if evaluate.warned:
        warnings.warn(
            f"{who}: {evaluate.warned} of {evaluate.evaluations} runs gave warnings; the first at "
            f"{evaluate.first_warning}",
            ModelWarning,
            stacklevel=3,
        )


def _default(space: Space, parameters: Mapping[str, Any]) -> str:
    return GLOBAL if space.bounded and all(np.size(x) == 2 for x in parameters.values()) else "L-BFGS-B"


class _Search:
    """One optimisation; optimisers see unknowns divided by their sizes."""

    def __init__(self, evaluate: Evaluator, space: Space, method: str, options: dict[str, Any], seed: int) -> None:
        self.evaluate, self.space, self.method, self.options, self.seed = evaluate, space, method, options, seed
        self.size, self._length = space.size, 1
        self.low, self.high = space.low / self.size, space.high / self.size
        self.mattered = np.zeros(len(space.names), dtype=bool)  # parameters with which the objective changed

    def warn_of_idle_parameters(self) -> None:
        """Say with which parameters the objective has not changed at all: they are where they were."""
        idle = [name for name, mattered in zip(self.space.names, self.mattered, strict=True) if not mattered]
        if idle and self.method in (*WITH_GRADIENT, SQUARES):
            warnings.warn(
                f"minimize: the objective did not change with {', '.join(map(repr, idle))} near the points that were "
                "tried; nothing is known of the best value",
                ModelWarning,
                stacklevel=3,
            )

    def point(self, z: Array) -> Array:
        """Where the optimiser is."""
        return np.clip(np.asarray(z) * self.size, self.space.low, self.space.high)

    def number(self, found: Array | str) -> float:
        """The objective, infinite where a run has no result."""
        if isinstance(found, str):
            return np.inf
        if np.size(found) != 1:
            raise ModelError(
                f"minimize: the objective is an array of shape {np.shape(found)}; expected a number, or "
                "method='least_squares'"
            )
        value = float(np.reshape(found, ()))
        self.evaluate.tell(value)
        return value

    def value(self, z: Array) -> float:
        """The objective at one point; methods with derivatives cannot go on where there is none."""
        found = self.evaluate.one(self.point(z))
        if isinstance(found, str) and self.method in WITH_GRADIENT:
            raise self.evaluate.no_result(
                f"minimize: no result at {self.evaluate.at(self.point(z))}: {found}. {self.method} cannot go on from "
                "there; expected bounds that exclude it, or 'Nelder-Mead' or 'differential_evolution', for which it "
                "counts as infinitely bad"
            )
        return self.number(found)

    def gradient(self, z: Array) -> Array:
        """Derivatives with respect to the scaled unknowns."""
        found = self.evaluate.jacobian(self.point(z)).reshape(-1) * self.size
        self.mattered |= found != 0.0
        return found

    def globally(self) -> list[Any]:
        """Differential evolution, a generation at a time."""
        from scipy.optimize import differential_evolution

        def generation(z: Array) -> Array | float:
            if z.ndim == 1:
                return self.number(self.evaluate.one(self.point(z)))
            return np.array([self.number(x) for x in self.evaluate([self.point(column) for column in z.T])])

        seeded = {} if {"seed", "rng"} & self.options.keys() else _seeded(differential_evolution, self.seed)
        options = {"polish": False, **seeded, **self.options}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*vectorized.*")  # that overrides "updating" and "workers"
            bounds = list(zip(self.low, self.high, strict=True))
            try:
                return [differential_evolution(generation, bounds, vectorized=True, **options)]
            except RuntimeError as error:  # scipy takes an error of ours for one of its own
                raise error.__cause__ if isinstance(error.__cause__, MbdError) else error from None

    def from_starts(self, count: int) -> list[Any]:
        """A local method from one or several starts; those without a result are left out."""
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise ModelError(f"minimize: starts = {count!r}; expected a positive number")
        points = self.space.starts(count, self.seed)
        found = self.evaluate(points)
        if isinstance(found[0], str) and count == 1:
            raise StudyError(f"minimize: no result at the start, {self.evaluate.at(points[0])}: {found[0]}")
        good = [point for point, value in zip(points, found, strict=True) if not isinstance(value, str)]
        if not good:
            raise StudyError(f"minimize: no start has a result; the first: {self.evaluate.first_failure}")
        return self.evaluate.from_all(good, lambda point: self.locally(point / self.size))

    def locally(self, z: Array) -> Any:
        """One local optimisation."""
        from scipy.optimize import least_squares, minimize

        if self.method == SQUARES:
            found = least_squares(
                self.residuals, z, lambda z: self.slopes(z), bounds=(self.low, self.high), **self.options
            )
            found.fun = float(found.cost * 2.0)
            return found
        arguments: dict[str, Any] = {"jac": self.gradient} if self.method in WITH_GRADIENT else {}
        if self.method in WITH_BOUNDS and (np.isfinite(self.low).any() or np.isfinite(self.high).any()):
            arguments["bounds"] = list(zip(self.low, self.high, strict=True))
        return minimize(self.value, z, method=self.method, options=self.options or None, **arguments)

    def residuals(self, z: Array) -> Array:
        """All numbers of the objective; infinite where there is no result: the method takes shorter steps."""
        found = self.evaluate.one(self.point(z))
        if isinstance(found, str):
            return np.full(self._length, np.inf)
        values = np.atleast_1d(found).reshape(-1)
        self._length = len(values)
        self.evaluate.tell(float(values @ values))
        return values

    def slopes(self, z: Array) -> Array:
        """Derivatives of all numbers of the objective."""
        found = self.evaluate.jacobian(self.point(z)).reshape(-1, len(z)) * self.size
        self.mattered |= (found != 0.0).any(axis=0)
        return found


def _seeded(function: Any, seed: int) -> dict[str, Any]:
    """The argument by which a function of scipy takes a generator; its name has changed."""
    import inspect

    word = "rng" if "rng" in inspect.signature(function).parameters else "seed"
    return {word: np.random.default_rng(seed)}
