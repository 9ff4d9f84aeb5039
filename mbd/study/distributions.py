"""Random parameters: what is given instead of values where a parameter is uncertain.

A distribution is used through its quantiles alone, so that random numbers, Latin hypercubes and Sobol points go the
same way. Frozen distributions of ``scipy.stats`` do as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
    return Distribution("normal", (m, s), lambda p: m + s * _standard_normal(p))


def truncated_normal(mean: float, deviation: float, low: float = -math.inf, high: float = math.inf) -> Distribution:
    """A normal distribution of which only the part between two bounds is kept, e.g. for masses."""
    m, s = check_number(mean, "truncated_normal", "mean"), check_number(deviation, "truncated_normal", "deviation")
    if s <= 0.0 or not low < high:
        raise ModelError(
            f"truncated_normal: deviation = {deviation}, low = {low}, high = {high}; expected a positive deviation and "
            "bounds in ascending order"
        )
    a, b = (low - m) / s, (high - m) / s
    return Distribution("truncated_normal", (m, s, low, high), lambda p: m + s * _between(a, b, p))


def uniform(low: float, high: float) -> Distribution:
    """All values between two bounds with the same density."""
    a, b = check_number(low, "uniform", "low"), check_number(high, "uniform", "high")
    if not a < b:
        raise ModelError(f"uniform: low = {low}, high = {high}; expected bounds in ascending order")
    return Distribution("uniform", (a, b), lambda p: a + (b - a) * p)


def loguniform(low: float, high: float) -> Distribution:
    """All orders of magnitude between two positive bounds alike: the logarithm is uniform."""
    a, b = check_number(low, "loguniform", "low", positive=True), check_number(high, "loguniform", "high")
    if not a < b:
        raise ModelError(f"loguniform: low = {low}, high = {high}; expected bounds in ascending order")
    return Distribution("loguniform", (a, b), lambda p: a * (b / a) ** p)


def lognormal(median: float, deviation: float) -> Distribution:
    """Positive values by their median and the standard deviation of their logarithm (0.1 is about ten percent)."""
    m = check_number(median, "lognormal", "median", positive=True)
    s = check_number(deviation, "lognormal", "deviation", positive=True)
    return Distribution("lognormal", (m, s), lambda p: m * np.exp(s * _standard_normal(p)))


def triangular(low: float, mode: float, high: float) -> Distribution:
    """A density that grows from zero at ``low`` to its largest value at ``mode`` and falls to zero at ``high``."""
    a, c, b = (check_number(x, "triangular", n) for x, n in ((low, "low"), (mode, "mode"), (high, "high")))
    if not (a <= c <= b and a < b):
        raise ModelError(f"triangular: low, mode, high = {low}, {mode}, {high}; expected ascending numbers")

    def quantile(p: Array) -> Array:
        below = a + np.sqrt(p * (b - a) * (c - a))
        return np.where(p * (b - a) < c - a, below, b - np.sqrt((1.0 - p) * (b - a) * (b - c)))

    return Distribution("triangular", (a, c, b), quantile)


def choice(values: Sequence[float] | Sequence[str] | Sequence[bool]) -> Distribution:
    """One of several values, each with the same probability."""
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "fiubU":
        raise bad_value("choice", "values", values, "a list of numbers or of texts")
    return Distribution("choice", tuple(array.tolist()), lambda p: array[(p * array.size).astype(int)])


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


def _standard_normal(p: Array) -> Array:
    from scipy.special import ndtri

    return ndtri(p)


def _between(a: float, b: float, p: Array) -> Array:
    """Quantiles of the standard normal distribution between two bounds, from the nearer tail: no digits are lost."""
    from scipy.special import ndtr, ndtri

    below = ndtr(a) + p * (ndtr(b) - ndtr(a))
    above = ndtr(-b) + (1.0 - p) * (ndtr(-a) - ndtr(-b))
    with np.errstate(invalid="ignore"):
        return np.clip(np.where(below < above, ndtri(below), -ndtri(above)), a, b)
