"""What a fit to measured curves tells: parameters, covariance, confidence intervals, and what cannot be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..elements.arguments import FilePath
from ..errors import Array
from ..io.files import save_figure
from .exports import needed
from .minimising import at_bound, runs_text
from .search_space import SMALL, Space
from .tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..results.solution import Solution
    from .identifying import Curve
    from .runs import Recipe

RANK = 1e-7  # of the largest singular value: smaller ones are those of differences
PART = RANK**0.5  # of a direction on which nothing depends: parameters with smaller parts do not belong to it
NEIGHBOURS = 0.5  # correlation of neighbouring residuals above which intervals are doubtful

EXACT = 1e-6  # of the spread of a curve: what remains is no scatter
CHANCE = 0.9999
COARSE = 0.5  # of a standard error: intervals of 95 % then hold the truth in 92 % of all cases, and in fewer for more

DEPENDENT = (
    "note: neighbouring residuals depend on each other; intervals are too narrow, and the model may lack something"
)


class StartPoint(NamedTuple):
    """One of several fits: where it began, where it ended, and the sum of squares there."""

    start: dict[str, float]
    end: dict[str, float]
    squares: float


@dataclass(frozen=True)
class Identification:
    """The result of ``mbd.study.identify``; ``print`` shows it as a table.

    Attributes: ``confidence`` of the intervals, ``success`` and ``message`` of the fit, ``evaluations`` (runs),
    ``failures`` (those without a result) and ``first_failure``, ``starts`` (all fits), ``shifts`` (what errors of
    integration make of the parameters).

    With r the residuals divided by their standard deviations and J their derivatives, the covariance is
    ``s^2 (J^T J)^-1``, where s^2 = r.r / (values - parameters), or 1 if the standard deviations were given
    [Seber & Wild, Nonlinear Regression, 1989, ch. 2].
    """

    _space: Space = field(repr=False)
    _x: Array
    _residuals: Array = field(repr=False)
    _jacobian: Array = field(repr=False)
    _curves: tuple[Curve, ...] = field(repr=False)
    _known_sigma: bool = field(repr=False)
    confidence: float
    success: bool
    message: str
    evaluations: int
    failures: int
    first_failure: str
    starts: list[StartPoint] = field(repr=False)
    _recipe: Recipe = field(repr=False)
    _fixed: dict[str, Any] = field(repr=False)
    _integration: Array | None = field(repr=False)

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters that fit best."""
        return self._space.named(self._x)

    @property
    def squares(self) -> float:
        """Sum of the squares of all residuals, each divided by its standard deviation."""
        return float(self._residuals @ self._residuals)

    @property
    def freedom(self) -> int:
        """Measured values minus parameters."""
        return len(self._residuals) - len(self._x)

    @cached_property
    def _parts(self) -> tuple[Array, Array, Array]:
        """Singular values and directions of J in sizes of parameters, and those sizes.

        A value that does something says how large its parameter is. Near zero the bounds say it, as far as that makes
        no more of a parameter than of the others.
        """
        rate = np.linalg.norm(self._jacobian, axis=0)
        effect = rate * np.abs(self._x)
        top = effect.max()
        with np.errstate(divide="ignore"):
            instead = np.where((rate > 0.0) & (top > 0.0), top / rate, np.inf)
        instead = np.minimum(self._space.sizes(self._x), instead)
        size = np.where((effect > SMALL * top) & (effect > 0.0), np.abs(self._x), instead)
        _, values, directions = np.linalg.svd(self._jacobian * size, full_matrices=False)
        return values, directions, size

    @cached_property
    def covariance(self) -> Array:
        """Covariance of the parameters, in their order; infinite where the curves tell nothing."""
        values, directions, size = self._parts
        known = values > RANK * max(values[0], 1e-300)
        scatter = 1.0 if self._known_sigma else self.squares / self.freedom
        root = directions[known].T / values[known]
        found = scatter * root @ root.T
        blind = (np.abs(directions[~known]) > PART).any(axis=0)
        found[blind, :] = found[:, blind] = np.nan
        found[blind, blind] = np.inf
        return found * np.outer(size, size)

    @property
    def errors(self) -> dict[str, float]:
        """Standard errors of the parameters."""
        return self._space.named(np.sqrt(np.diag(self.covariance)))

    @property
    def correlation(self) -> Array:
        """Correlation of the parameters: near 1 or -1 two of them can hardly be told apart."""
        error = np.sqrt(np.diag(self.covariance))
        with np.errstate(invalid="ignore"):
            return self.covariance / np.outer(error, error)

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """Confidence intervals of the parameters, of the linearised model (quantiles of Student's distribution)."""
        from scipy.special import ndtri, stdtrit

        p = 0.5 * (1.0 + self.confidence)
        factor = float(ndtri(p) if self._known_sigma else stdtrit(self.freedom, p))
        errors = self.errors
        return {name: (x - factor * errors[name], x + factor * errors[name]) for name, x in self.parameters.items()}

    @cached_property
    def unidentifiable(self) -> list[str]:
        """What cannot be told from the curves: parameters, and combinations of them, on which they do not depend."""
        values, directions, _ = self._parts
        found = []
        for direction in directions[values <= RANK * max(values[0], 1e-300)]:
            parts = [(name, w) for name, w in zip(self._space.names, direction, strict=True) if abs(w) > PART]
            if len(parts) == 1:
                name = parts[0][0]
                at_zero = self.parameters[name] == 0.0
                hint = " near zero, where nothing tells its size: expected a start of its size" if at_zero else ""
                found.append(f"the measured curves do not depend on '{name}'{hint}")
            else:
                largest = max((w for _, w in parts), key=abs)
                text = ", ".join(f"'{name}' by {w / largest:+.2g} %" for name, w in parts)
                found.append(f"the measured curves stay the same if parameters change together: {text}")
        return found

    @property
    def stopped_by_bounds(self) -> list[str]:
        """Parameters that a bound has stopped: their standard errors are those of a fit that ends by itself."""
        return [
            f"'{name}' = {x:.9g} is at its bound; the fit wants to go on, and all standard errors and intervals are "
            "those of a fit that none stops"
            for name, x, stopped in zip(self._space.names, self._x, self._at_bounds, strict=True)
            if stopped
        ]

    @cached_property
    def _at_bounds(self) -> list[bool]:
        """Whether a bound stops a parameter: it is near, and not because the best value is there."""
        found = []
        for x, low, high, column in zip(self._x, self._space.low, self._space.high, self._jacobian.T, strict=True):
            step = abs(float(column @ self._residuals)) / max(float(column @ column), 1e-300)  # that would be made
            found.append(at_bound(x, low, high) and not step < 0.5 * min(x - low, high - x))
        return found

    @property
    def uneven(self) -> list[str]:
        """Curves that scatter differently, where no standard deviations were given and all of them count alike.

        Told where the scatter, as part of the spread of a curve, differs more than by chance (F test) and twofold.
        """
        from scipy.special import fdtri

        if self._known_sigma or len(self._curves) < 2:
            return []
        found = []
        for curve in self._curves:
            r = self.residuals[curve.name]
            found.append((float(np.sqrt(np.mean(r**2))) / curve.sigma, curve, r.size))
        (small, first, n), (large, last, m) = min(found, key=lambda x: x[0]), max(found, key=lambda x: x[0])
        if large < EXACT or large < 2.0 * small or (large / max(small, 1e-300)) ** 2 < fdtri(m, n, CHANCE):
            return []
        return [
            f"what remains of '{first.name}' is {100.0 * small:.2g} % of its spread, of '{last.name}' "
            f"{100.0 * large:.2g} %: without sigma they count alike, and intervals are too wide or too narrow; "
            "expected sigma={...} with the standard deviations of both"
        ]

    @cached_property
    def shifts(self) -> dict[str, float]:
        """By how much the parameters would change without errors of integration, estimated; NaN: nobody knows.

        Residuals without these errors are r + e, with e from a run with half the step, and the fit moves by
        ``-(J^T J)^-1 J^T e``.
        """
        if self._integration is None:
            return self._space.named(np.full(len(self._x), np.nan))
        values, directions, size = self._parts
        known = values > RANK * max(values[0], 1e-300)
        part = (self._jacobian * size).T @ self._integration
        return self._space.named(-size * (directions[known].T @ (directions[known] @ part / values[known] ** 2)))

    @property
    def coarse(self) -> list[str]:
        """Parameters that errors of integration move by much of their standard errors, which do not know of them.

        Nothing is said of curves that fit to round-off and were not measured.
        """
        spreads = [
            (float(np.sqrt(np.mean(self.residuals[c.name] ** 2))), float(np.std(c.values))) for c in self._curves
        ]
        if all(rest < EXACT * spread for rest, spread in spreads):
            return []
        found = [(name, x) for name, x in self.shifts.items() if abs(x) > COARSE * self.errors[name]]
        if not found:
            return []
        text = ", ".join(f"'{name}' by {-x:+.2g} (standard error {self.errors[name]:.2g})" for name, x in found)
        return [f"a finer run says that errors of integration have moved {text}; expected smaller steps or tolerances"]

    @property
    def residuals(self) -> dict[str, Array]:
        """Simulated minus measured, by curve."""
        found, begin = {}, 0
        for curve in self._curves:
            part = self._residuals[begin : begin + curve.values.size]
            found[curve.name] = part.reshape(curve.values.shape) * curve.sigma
            begin += curve.values.size
        return found

    def solution(self) -> Solution:
        """The run with the parameters that fit best."""
        return self._recipe.solve(0, {**self._fixed, **self.parameters})

    def __str__(self) -> str:
        intervals, errors = self.intervals, self.errors
        rows = []
        for k, (name, x) in enumerate(self.parameters.items()):
            low, high = intervals[name]
            bound = "at its bound" if self._at_bounds[k] else ""
            rows.append([name, f"{x:.8g}", f"{errors[name]:.3g}", f"{low:.6g} ... {high:.6g}", bound])
        head = ["parameter", "value", "standard error", f"{100.0 * self.confidence:g} % interval", ""]
        lines = [f"fit to {len(self._residuals)} measured values: {self.message}", str(Table(head, rows)).rstrip()]
        rows = []
        for name, r in self.residuals.items():
            near = neighbours(r)
            rows.append([name, f"{len(r)}", f"{np.sqrt(np.mean(r**2)):.3g}", f"{near:.2f}"])
        lines.append(str(Table(["curve", "times", "rms of residuals", "correlation of neighbours"], rows)).rstrip())
        lines += [f"note: {text}" for text in [*self.unidentifiable, *self.uneven, *self.coarse]]
        if any(neighbours(r) > NEIGHBOURS for r in self.residuals.values()):
            lines.append(DEPENDENT)
        if self._known_sigma:
            lines.append(
                f"sum of squares {self.squares:.4g} for {self.freedom} degrees of freedom (about equal if sigma fits)"
            )
        lines.append(runs_text(self.evaluations, self.failures, self.first_failure))
        if len(self.starts) > 1:
            near_best = sum(s.squares <= self.squares * (1.0 + 1e-3) + 1e-12 for s in self.starts)
            lines.append(f"{near_best} of {len(self.starts)} starts came to this fit")
        return "\n".join(lines)

    def plot(self, file: FilePath | None = None) -> Figure:
        """Measured and fitted curves, and below each what remains; written to ``file`` if given."""
        matplotlib = needed("matplotlib", "plot()")
        if file is not None:
            matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        n = len(self._curves)
        figure, axes = plt.subplots(2 * n, 1, squeeze=False, sharex=True, constrained_layout=True,
                                    figsize=(7.0, 1.0 + 3.4 * n), height_ratios=[3, 1] * n)  # fmt: skip
        solution = self.solution()
        for k, curve in enumerate(self._curves):
            upper, lower = axes[2 * k, 0], axes[2 * k + 1, 0]
            upper.plot(curve.t, curve.values, ".", color="0.55", ms=3, label="measured")
            upper.plot(solution.t, np.asarray(curve.read(solution)), color="#2a6fbb", lw=1.2, label="model")
            lower.plot(curve.t, self.residuals[curve.name], ".", color="#c0392b", ms=2.5)
            lower.axhline(0.0, color="0.3", lw=0.7)
            upper.set_ylabel(curve.name)
            lower.set_ylabel("residual", fontsize=8)
            for ax in (upper, lower):
                ax.grid(True, lw=0.4, alpha=0.5)
            handles, labels = upper.get_legend_handles_labels()
            kept = dict(zip(labels, handles, strict=True))
            upper.legend(kept.values(), kept.keys(), fontsize=8)
        axes[-1, 0].set_xlabel("t in s")
        if file is not None:
            save_figure(figure, file, dpi=160)
            plt.close(figure)
        return figure


def neighbours(residuals: Array) -> float:
    """Correlation of residuals that follow each other; about zero for independent errors."""
    r = residuals.reshape(len(residuals), -1)
    power = float(np.sum(r * r))
    return float(np.sum(r[1:] * r[:-1])) / power if power > 0.0 else 0.0
