"""Random parameters: what is given instead of values where a parameter is uncertain.

A distribution is used through its quantiles alone, so that random numbers, Latin hypercubes and Sobol points go the
same way. Frozen distributions of ``scipy.stats`` do as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from ..errors import Array, ModelError, bad_value, check_number

EDGE = 2.0**-54  # of the unit interval: half of the spacing of random numbers


@dataclass(frozen=True)
class Distribution:
    """The distribution of a parameter: a name, its arguments, and the quantiles."""

    name: str
    arguments: tuple[Any, ...]
    _quantile: Callable[[Array], Any] = field(repr=False, compare=False)

    def quantile(self, probability: Array) -> Array:
        """Values below which the parameter is with these probabilities, which lie between 0 and 1."""
        return self._quantile(np.clip(probability, EDGE, 1.0 - 2.0 * EDGE))

    def __str__(self) -> str:
        values = (f"{x:g}" if isinstance(x, float) else repr(x) for x in self.arguments)
        return f"{self.name}({', '.join(values)})"


def normal(mean: float, deviation: float) -> Distribution:
    """A normal distribution by its mean and its standard deviation."""
    m, s = check_number(mean, "normal", "mean"), check_number(deviation, "normal", "deviation", positive=True)
    return Distribution("normal", (m, s), partial(_normal, m, s))


def truncated_normal(mean: float, deviation: float, low: float = -math.inf, high: float = math.inf) -> Distribution:
    """A normal distribution of which only the part between two bounds is kept, e.g. for masses.

    >>> mbd.study.truncated_normal(1.0, 0.5, low=0.0).quantile(np.array([0.0, 0.5])).round(4).tolist()
    [0.0, 1.0143]
    """
    who = "truncated_normal"
    m, s = check_number(mean, who, "mean"), check_number(deviation, who, "deviation", positive=True)
    x = low if low == -math.inf else check_number(low, who, "low")
    y = high if high == math.inf else check_number(high, who, "high")
    if not x < y:
        raise ModelError(f"{who}: low = {low}, high = {high}; expected bounds in ascending order")
    return Distribution(who, (m, s, x, y), partial(_truncated, m, s, x, y))


def uniform(low: float, high: float) -> Distribution:
    """All values between two bounds with the same density."""
    a, b = check_number(low, "uniform", "low"), check_number(high, "uniform", "high")
    if not a < b:
        raise ModelError(f"uniform: low = {low}, high = {high}; expected bounds in ascending order")
    return Distribution("uniform", (a, b), partial(_uniform, a, b))


def loguniform(low: float, high: float) -> Distribution:
    """All orders of magnitude between two positive bounds alike: the logarithm is uniform.

    >>> mbd.study.loguniform(1.0, 100.0).quantile(np.array([0.0, 0.5, 1.0])).round(6).tolist()
    [1.0, 10.0, 100.0]
    """
    a, b = check_number(low, "loguniform", "low", positive=True), check_number(high, "loguniform", "high")
    if not a < b:
        raise ModelError(f"loguniform: low = {low}, high = {high}; expected bounds in ascending order")
    return Distribution("loguniform", (a, b), partial(_loguniform, a, b))


def lognormal(median: float, deviation: float) -> Distribution:
    """Positive values by their median and the standard deviation of their logarithm (0.1 is about ten percent)."""
    m = check_number(median, "lognormal", "median", positive=True)
    s = check_number(deviation, "lognormal", "deviation", positive=True)
    return Distribution("lognormal", (m, s), partial(_lognormal, m, s))


def triangular(low: float, mode: float, high: float) -> Distribution:
    """A density that grows from zero at ``low`` to its largest value at ``mode`` and falls to zero at ``high``.

    >>> mbd.study.triangular(0.0, 1.0, 4.0).quantile(np.array([0.0, 0.25, 1.0])).round(6).tolist()
    [0.0, 1.0, 4.0]
    """
    a, c, b = (check_number(x, "triangular", n) for x, n in ((low, "low"), (mode, "mode"), (high, "high")))
    if not (a <= c <= b and a < b):
        raise ModelError(f"triangular: low, mode, high = {low}, {mode}, {high}; expected ascending numbers")
    return Distribution("triangular", (a, c, b), partial(_triangular, a, c, b))


def choice(values: Sequence[float] | Sequence[str] | Sequence[bool]) -> Distribution:
    """One of several values, each with the same probability."""
    array = np.array(values)
    mixed = array.dtype.kind == "U" and not all(isinstance(x, str) for x in values)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "fiubU" or mixed:
        raise bad_value("choice", "values", values, "a list of numbers or of texts")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise bad_value("choice", "values", values, "finite numbers")
    return Distribution("choice", tuple(array.tolist()), partial(_one_of, array))


def as_distribution(value: Any, name: str) -> Distribution | None:
    """A distribution of ours or of scipy; None for anything else."""
    if isinstance(value, Distribution):
        return value
    quantile = getattr(value, "ppf", None) or getattr(value, "icdf", None)  # frozen, or of the newer kind
    if not callable(quantile):
        return None
    if hasattr(value, "dist") is False and hasattr(value, "ppf"):
        raise ModelError(f"parameter '{name}' is {value!r}; give it its arguments, e.g. scipy.stats.norm(1.0, 0.1)")
    kind = getattr(getattr(value, "dist", None), "name", type(value).__name__)
    keywords = getattr(value, "kwds", {})
    arguments = (*getattr(value, "args", ()), *(keywords[key] for key in sorted(keywords)))
    return Distribution(f"scipy.stats.{kind}", arguments, quantile)


# --- quantiles: functions of a module, so that a distribution can be sent anywhere -------------------------------


def _normal(mean: float, deviation: float, p: Array) -> Array:
    from scipy.special import ndtri

    return mean + deviation * ndtri(p)


def _lognormal(median: float, deviation: float, p: Array) -> Array:
    return median * np.exp(_normal(0.0, deviation, p))


def _truncated(mean: float, deviation: float, low: float, high: float, p: Array) -> Array:
    """By logarithms of probabilities, from the nearer tail: no digits are lost, however far out the bounds are."""
    from scipy.special import log_ndtr, ndtri_exp

    a, b = (low - mean) / deviation, (high - mean) / deviation
    with np.errstate(invalid="ignore"):
        below = np.logaddexp(np.log1p(-p) + log_ndtr(a), np.log(p) + log_ndtr(b))
        above = np.logaddexp(np.log1p(-p) + log_ndtr(-a), np.log(p) + log_ndtr(-b))
        between = np.where(below < above, ndtri_exp(below), -ndtri_exp(above))
    return np.clip(mean + deviation * between, low, high)


def _uniform(low: float, high: float, p: Array) -> Array:
    return low + (high - low) * p


def _loguniform(low: float, high: float, p: Array) -> Array:
    return low * (high / low) ** p


def _triangular(low: float, mode: float, high: float, p: Array) -> Array:
    below = low + np.sqrt(p * (high - low) * (mode - low))
    above = high - np.sqrt((1.0 - p) * (high - low) * (high - mode))
    return np.where(p * (high - low) < mode - low, below, above)


def _one_of(values: Array, p: Array) -> Array:
    return values[(p * values.size).astype(int)]
