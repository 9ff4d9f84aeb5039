"""identify(): parameters of a model from measured curves, and how well they are known."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Array, ModelError, ModelWarning, StudyError, check_number
from .derivatives import DIFFERENCES, with_derivatives
from .finer_runs import integration_error
from .identification import Identification, StartPoint
from .minimising import warn_of_warnings
from .options import named_values, options_of
from .runs import Function, as_output
from .search_space import Evaluator, Space, space_of
from .sweeping import make_recipe

if TYPE_CHECKING:
    from distributed import Client
    from pandas import DataFrame

    from ..model import Model
    from ..results.solution import Solution

RESIDUALS = "residuals"
TIME = "t"
OUTSIDE = 1e-9  # of the duration: how far measured times may lie outside of a run
ROUNDS = 1e-15  # of times: by how much those that mean the same are apart
SCREENED = 4  # points that are looked at for each start
TOLERANCE = 1e-10  # of parameters and residuals, relative


@dataclass(frozen=True)
class Curve:
    """A measured curve: what it is in the model, when and what was measured, and its standard deviation."""

    name: str
    read: Function
    t: Array
    values: Array
    sigma: float

    def simulated(self, solution: Any) -> Array:
        """The curve of a solution at the measured times: records where they coincide, a cubic spline between them."""
        values, t = _real(self.name, self.read(solution), "simulated"), np.asarray(solution.t)
        if values.shape != (len(t), *self.values.shape[1:]):
            raise ModelError(
                f"measured curve '{self.name}': the model gives an array of shape {values.shape} for {len(t)} records; "
                f"expected {(len(t), *self.values.shape[1:])}"
            )
        outside = OUTSIDE * float(np.ptp(t)) + ROUNDS * np.abs(t).max() if len(t) else 0.0
        if len(t) == 0 or self.t[-1] > t[-1] + outside or self.t[0] < t[0] - outside:
            raise ModelError(
                f"measured curve '{self.name}' is from t = {self.t[0]:g} to {self.t[-1]:g}, the run "
                + (f"from {t[0]:g} to {t[-1]:g}" if len(t) else "is empty")
            )
        near = np.clip(np.searchsorted(t, self.t), 1, len(t) - 1)
        near -= self.t - t[near - 1] < t[near] - self.t
        if np.all(np.abs(t[near] - self.t) <= OUTSIDE * (t[-1] - t[0])):
            return values[near]
        from scipy.interpolate import CubicSpline

        return CubicSpline(t, values)(self.t)


@dataclass(frozen=True)
class Residuals:
    """Differences of all curves, divided by their standard deviations; for workers."""

    curves: tuple[Curve, ...]

    def __call__(self, solution: Any) -> Array:
        """All of them in one array."""
        return np.concatenate([((c.simulated(solution) - c.values) / c.sigma).reshape(-1) for c in self.curves])


def identify(
    build: Callable[..., Model] | Model,
    measured: Mapping[str, object] | DataFrame,
    parameters: Mapping[str, object],
    *,
    simulate: Mapping[str, object] | Callable[..., Solution],
    outputs: Mapping[str, Callable[[Solution], object] | str] | None = None,
    sigma: Mapping[str, float] | float | None = None,
    fixed: Mapping[str, object] | None = None,
    executor: int | Executor | Client | str | Callable[[], Executor] | None = None,
    starts: int = 1,
    seed: int = 0,
    confidence: float = 0.95,
    timeout: float | None = None,
    options: Mapping[str, object] | None = None,
    progress: bool | None = None,
    derivatives: str = DIFFERENCES,
) -> Identification:
    """Find the parameters of a model for which its curves are closest to measured ones (least squares).

    Parameters
    ----------
    build, simulate, executor, timeout, progress: as in ``mbd.study.sweep``; ``t_end`` may be left out.
    measured: a table with the times "t" and curves by name, each as long as the times, or (times, values) of its own.
        NaN marks what is missing.
    parameters: by name a start, bounds (low, high), or (low, start, high).
    outputs: what a curve is in the model, a function of the solution or the text of a channel; by default its name is
        such a text: ``measured={"t": t, "hinge.angle": angle}``.
    sigma: standard deviation of a measured value, one number or by curve. Confidence intervals then rest on it. Without
        it curves are weighted by the spread of their values, and the scatter is estimated from what remains.
    fixed: further arguments of ``build``, which are not changed.
    starts: fits begin at so many points, the given start and the best of four times as many points of a Latin hypercube
        between the bounds.
    confidence: probability of the confidence intervals.
    options: arguments of ``scipy.optimize.least_squares``.
    derivatives: "differences" of runs through the executor, or "sensitivities" that a run computes along with itself:
        of a model with parameters, with methods that have them (see ``mbd.simulate``).

    A step to parameters without a result is made shorter; the start must have one. Parameters, or combinations of them,
    on which the curves do not depend are named in a warning. One more run, with half the step (or tighter tolerances)
    and twice as many records, tells how far errors of integration and interpolation have moved the parameters;
    a warning names those which they have moved by much of a standard error.
    """
    space = space_of(parameters, "identify")
    fixed = named_values("identify", "fixed", fixed, "{'mass': 1.0}")
    options = named_values("identify", "options", options, "{'max_nfev': 50}")
    curves = _curves(measured, named_values("identify", "outputs", outputs, "{'angle': 'hinge.angle'}"), sigma)
    count = sum(curve.values.size for curve in curves)
    if count <= len(space.names):
        raise ModelError(f"identify: {count} measured values for {len(space.names)} parameters; expected more of them")
    if not 0.0 < check_number(confidence, "identify", "confidence") < 1.0:
        raise ModelError(f"identify: confidence = {confidence}; expected a probability between 0 and 1")
    if isinstance(simulate, Mapping):
        simulate = {"t_end": max(float(curve.t[-1]) for curve in curves), **simulate}
    given, output = with_derivatives("identify", derivatives, build, simulate, Residuals(curves), space.names)
    recipe, followed = (
        make_recipe("identify", build, given, {RESIDUALS: output}, seed, timeout, common=True),
        derivatives != DIFFERENCES,
    )
    with Evaluator(recipe, space, RESIDUALS, executor, fixed, "identify", progress, followed) as evaluate:
        space = evaluate.sized()
        points = _starts(evaluate, space, starts, seed)
        fits = evaluate.from_all(points, lambda point: _fit(evaluate, space, point, options))
        best = min(fits, key=lambda fit: fit.cost)
        x = np.clip(best.x * space.size, space.low, space.high)
        residuals, jacobian = evaluate.needed(x), evaluate.jacobian(x)
    integration = integration_error(recipe, Residuals(curves), {**fixed, **space.named(x)}, residuals)
    tried = [StartPoint(space.named(f.start), space.named(f.x * space.size), float(f.fun @ f.fun)) for f in fits]
    result = Identification(
        space, x, residuals, jacobian, curves, sigma is not None, confidence, bool(best.success), str(best.message),
        evaluate.evaluations, evaluate.failures, evaluate.first_failure, tried, recipe, fixed,
        integration if isinstance(integration, np.ndarray) else None,
    )  # fmt: skip
    if not result.success:
        warnings.warn(f"identify: the fit did not come to an end: {result.message}", ModelWarning, stacklevel=2)
    if options.get("loss", "linear") != "linear":
        text = f"with loss = {options['loss']!r} standard errors and intervals are still those of a fit with squares"
        warnings.warn(f"identify: {text}", ModelWarning, stacklevel=2)
    if isinstance(integration, str):
        text = f"a finer run has no result ({integration}); nothing is known of errors of integration"
        warnings.warn(f"identify: {text}", ModelWarning, stacklevel=2)
    for text in [*result.unidentifiable, *result.stopped_by_bounds, *result.uneven, *result.coarse]:
        warnings.warn(f"identify: {text}", ModelWarning, stacklevel=2)
    warn_of_warnings("identify", evaluate)
    return result


def _starts(evaluate: Evaluator, space: Space, count: int, seed: int) -> Array:
    """The given start, and the best of many points between the bounds."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ModelError(f"identify: starts = {count!r}; expected a positive number")
    points = space.starts(1 + SCREENED * (count - 1), seed)
    found = evaluate(points)
    if isinstance(found[0], str) and count == 1:
        raise StudyError(f"identify: no result at the start, {evaluate.at(points[0])}: {found[0]}")
    costs = np.array([np.inf if isinstance(r, str) else float(r @ r) for r in found])
    if not np.isfinite(costs).any():
        raise StudyError(f"identify: no start has a result; the first: {evaluate.first_failure}")
    others = 1 + np.argsort(costs[1:], kind="stable")
    order = [k for k in [0, *others.tolist()] if np.isfinite(costs[k])]
    return points[order[:count]]


def _fit(evaluate: Evaluator, space: Space, start: Array, options: dict[str, Any]) -> Any:
    """One fit; the optimiser sees parameters divided by their sizes."""
    from scipy.optimize import least_squares

    size, length = space.size, len(evaluate.needed(start))

    def point(z: Array) -> Array:
        return np.clip(z * size, space.low, space.high)

    def residuals(z: Array) -> Array:
        found = evaluate.one(point(z))
        if isinstance(found, str):
            return np.full(length, np.inf)  # a shorter step is tried
        evaluate.tell(float(found @ found))
        return found

    inside = np.clip(start, space.low, space.high) / size
    arguments = {"xtol": TOLERANCE, "ftol": TOLERANCE, "gtol": TOLERANCE, "x_scale": "jac", **options}
    bounds = (space.low / size, space.high / size)
    with options_of("identify", "least_squares", options):
        found = least_squares(
            residuals, inside, lambda z: evaluate.jacobian(point(z)) * size, bounds=bounds, **arguments
        )
    found.start = start
    return found


def _curves(measured: Any, outputs: Mapping[str, Any], sigma: Any) -> tuple[Curve, ...]:
    """Measured curves, without what is missing."""
    if hasattr(measured, "columns") and hasattr(measured, "to_dict"):
        index = {TIME: measured.index.to_numpy()} if measured.index.name == TIME else {}  # as solution.frame has it
        measured = {**index, **{str(name): measured[name].to_numpy() for name in measured.columns}}
    if not isinstance(measured, Mapping):
        raise ModelError("identify: expected measured curves as a dictionary or a data frame with 't' and curves")
    common = measured.get(TIME)
    names = [name for name in measured if name != TIME]
    unknown = [name for name in outputs if name not in names]
    if isinstance(sigma, Mapping):
        unknown += [name for name in sigma if name not in names]
    if not names or unknown:
        raise ModelError(
            f"identify: there is no measured curve '{unknown[0]}'; there are {', '.join(map(repr, names))}"
            if names
            else "identify: nothing was measured; expected e.g. {'t': times, 'hinge.angle': values}"
        )
    return tuple(_curve(name, common, measured[name], outputs.get(name, name), sigma) for name in names)


def _curve(name: str, common: Any, given: Any, output: Any, sigma: Any) -> Curve:
    if isinstance(given, tuple) and len(given) == 2 and np.ndim(given[0]) == 1 and np.ndim(given[1]) >= 1:
        t, values = (_real(name, x) for x in given)
    elif common is None:
        raise ModelError(f"identify: measured curve '{name}' has no times; expected 't', or (times, values)")
    else:
        t, values = _real(name, common), _real(name, given)
    if t.ndim != 1 or values.ndim not in (1, 2) or len(values) != len(t):
        raise ModelError(
            f"identify: measured curve '{name}' has shape {values.shape}; expected {len(t)} values, as times"
        )
    if np.isinf(values).any() or np.isinf(t).any():
        raise ModelError(
            f"identify: measured curve '{name}' has infinite values; expected numbers, NaN where one is missing"
        )
    there = np.isfinite(values).reshape(len(t), -1).all(axis=1) & np.isfinite(t)
    t, values = t[there], values[there]
    if len(t) < 2:
        raise ModelError(
            f"identify: measured curve '{name}' has {len(t)} values that are not NaN; expected two or more"
        )
    if np.any(np.diff(t) <= 0.0):
        k = int(np.argmax(np.diff(t) <= 0.0))
        raise ModelError(
            f"identify: times of the measured curve '{name}' do not grow: {t[k + 1]:.9g} follows {t[k]:.9g}; expected "
            "them sorted, each once (repeated measurements: two curves, with outputs={'again': 'hinge.angle'})"
        )
    if isinstance(sigma, Mapping):
        if name not in sigma:
            raise ModelError(f"identify: sigma has no value for the measured curve '{name}'")
        sigma = sigma[name]
    spread = float(np.std(values - values.mean(axis=0)))
    number = isinstance(sigma, int | float | np.number) and np.isrealobj(sigma) and not isinstance(sigma, bool)
    size = spread if sigma is None else float(sigma) if number else np.nan
    if not (np.isfinite(size) and size > 0.0):
        why = "its values do not change, so that sigma is needed" if sigma is None else "expected a positive number"
        raise ModelError(f"identify: measured curve '{name}': sigma = {sigma}; {why}")
    return Curve(name, as_output(name, output), t, values, size)


def _real(name: str, values: Any, what: str = "measured") -> Array:
    """Numbers as floats; those of complex ones would lose a part."""
    if np.iscomplexobj(values):
        raise ModelError(
            f"identify: {what} curve '{name}' has complex values; expected real ones, such as two curves or sizes"
        )
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"identify: {what} curve '{name}' is {values!r:.80}; expected numbers") from None
    return np.where(np.ma.getmaskarray(values), np.nan, found) if np.ma.is_masked(values) else found
