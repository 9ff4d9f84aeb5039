"""Pictures of a study: lines over one parameter, maps over two, all against all, and what matters most."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..elements.arguments import FilePath
from ..errors import ModelError
from ..io.files import save_figure
from .blocks import GOOD, OPEN
from .exports import needed
from .parameter_table import ParameterTable
from .results import Results

KINDS = ("lines", "map", "pairs", "sensitivities")
BLUE, RED, GREY = "#2a6fbb", "#c0392b", "0.55"
MOST_POINTS = 20_000  # of a scatter plot; more are drawn evenly chosen
MOST_NAMES = 8  # in a picture of pairs


def plot(
    table: ParameterTable, results: Results, outputs: dict[str, np.ndarray], kind: str | None, file: FilePath | None
) -> Any:
    """The figure of one kind."""
    matplotlib = needed("matplotlib", "study.plot()")
    if file is not None:
        matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    numbers = {n: x for n, x in outputs.items() if x.ndim == 1 and x.dtype.kind in "fiub"}
    if not numbers:
        have = ", ".join(f"'{name}' {x.shape[1:]}" for name, x in outputs.items()) or "no results yet"
        raise ModelError(f"plot: expected an output that is a number; there are {have}")
    axes = [axis for axis in table.axes if len(axis) > 1]
    grid = [axis for axis in axes if axis.name in axis.values and axis.values[axis.name].ndim == 1]
    if kind is None:
        kind = "pairs" if len(grid) < len(axes) or len(axes) > 2 else ("lines", "lines", "map")[len(axes)]
    if kind not in KINDS:
        advice = f"; the output is chosen by outputs=[{kind!r}]" if kind in outputs else ""
        raise ModelError(f"plot: kind = {kind!r}; expected one of {', '.join(map(repr, KINDS))}{advice}")
    if kind in ("lines", "map") and (len(grid), len(axes)) != ((1, 1) if kind == "lines" else (2, 2)):
        count = "one parameter" if kind == "lines" else "a grid of two parameters"
        raise ModelError(f"plot: '{kind}' shows {count}; this study has {' x '.join(axis.name for axis in axes)}")
    if kind == "lines":
        figure = _lines(plt, grid[0], numbers)
    elif kind == "map":
        figure = _maps(plt, grid, numbers, results, table.shape)
    else:
        columns = _number_columns(table)
        if not columns:
            raise ModelError(f"plot: '{kind}' needs parameters that are numbers and change")
        figure = _pairs(plt, columns, numbers) if kind == "pairs" else _sensitivities(plt, columns, numbers)
    counts = np.bincount(results.status, minlength=5)
    lost = int(counts.sum() - counts[GOOD] - counts[OPEN])
    words = [f"{len(table)} runs"]
    words += [f"{lost} without a result"] if lost else []
    words += [f"{counts[OPEN]} open"] if counts[OPEN] else []
    finite = np.column_stack([np.isfinite(x.astype(float)) for x in numbers.values()]).all(axis=1)
    blank = int(np.count_nonzero((results.status == GOOD) & ~finite))
    words += [f"{blank} with outputs that are not finite"] if blank else []
    left = len(outputs) - len(numbers)
    words += [f"{left} outputs that are no numbers not shown"] if left else []
    every = len(_number_columns(table)) + len(numbers)
    words += [f"{MOST_NAMES} of {every} quantities"] if kind == "pairs" and every > MOST_NAMES else []
    figure.suptitle(", ".join(words), fontsize=10, color="0.35")
    if file is not None:
        save_figure(figure, file, dpi=160)
        plt.close(figure)
    return figure


def _number_columns(table: ParameterTable) -> dict[str, np.ndarray]:
    """Parameters that are numbers and change, by run; vectors by component."""
    found: dict[str, np.ndarray] = {}
    for name, x in table.columns().items():
        parts = {name: x} if x.ndim == 1 else {f"{name}[{k}]": x[:, k] for k in range(x.shape[1]) if x.ndim == 2}
        found |= {
            n: p.astype(float) for n, p in parts.items() if p.dtype.kind in "fiub" and np.ptp(p.astype(float)) > 0
        }
    return found


def _lines(plt: Any, axis: Any, numbers: dict[str, np.ndarray]) -> Any:
    x = axis.values[axis.name]
    figure, axes = plt.subplots(len(numbers), 1, sharex=True, squeeze=False, figsize=(6.4, 1.4 + 2.2 * len(numbers)),
                                constrained_layout=True)  # fmt: skip
    for ax, (name, y) in zip(axes[:, 0], numbers.items(), strict=True):
        if x.dtype.kind in "fiu":
            order = np.argsort(x)
            ax.plot(x[order], y[order], "o-", color=BLUE, ms=3.5, lw=1.1)
        else:
            ax.bar([str(value) for value in x], y, color=BLUE, width=0.6)
        ax.set_ylabel(name)
        ax.grid(True, lw=0.4, alpha=0.5)
    axes[-1, 0].set_xlabel(axis.name)
    return figure


def _maps(plt: Any, grid: list[Any], numbers: dict[str, np.ndarray], results: Results, shape: tuple[int, ...]) -> Any:
    """A map for each output; runs without a result are crossed out, open ones are white."""
    columns = min(2, len(numbers))
    lines = -(-len(numbers) // columns)
    figure, axes = plt.subplots(lines, columns, squeeze=False, figsize=(5.4 * columns, 4.2 * lines),
                                constrained_layout=True)  # fmt: skip
    size = tuple(n for n in shape if n > 1)
    (x, x_ticks), (y, y_ticks) = (_positions(axis.values[axis.name]) for axis in (grid[1], grid[0]))
    order = np.ix_(np.argsort(y), np.argsort(x))
    for ax, (name, values) in zip(axes.flat, numbers.items(), strict=False):
        mesh = ax.pcolormesh(np.sort(x), np.sort(y), values.reshape(size)[order], shading="nearest", cmap="viridis")
        figure.colorbar(mesh, ax=ax, label=name)
        wrong = ((results.status != GOOD) & (results.status != OPEN)).reshape(size)
        rows, places = np.nonzero(wrong)
        ax.plot(x[places], y[rows], "x", color=RED, ms=5, mew=1.2)
        ax.set_xlim(*_edges(x))
        ax.set_ylim(*_edges(y))
    for ax in axes.flat[len(numbers) :]:
        ax.set_visible(False)
    for k, ax in enumerate(axes.flat[: len(numbers)]):
        ax.tick_params(labelbottom=k + columns >= len(numbers))  # also above a place that is empty
        ax.set_xlabel(grid[1].name)
        ax.set_ylabel(grid[0].name)
        for ticks, put in ((x_ticks, ax.set_xticks), (y_ticks, ax.set_yticks)):
            if ticks is not None:
                put(range(len(ticks)), ticks)
    return figure


def _edges(x: np.ndarray) -> tuple[float, float]:
    """Limits of an axis whose first and last cells are shown whole."""
    x = np.sort(x)
    return x[0] - 0.5 * (x[1] - x[0]), x[-1] + 0.5 * (x[-1] - x[-2])


def _positions(values: np.ndarray) -> tuple[np.ndarray, list[str] | None]:
    """Numbers are their own places; texts are put side by side."""
    if values.dtype.kind in "fiu":
        return values.astype(float), None
    return np.arange(len(values), dtype=float), [str(value) for value in values]


def _pairs(plt: Any, parameters: dict[str, np.ndarray], numbers: dict[str, np.ndarray]) -> Any:
    """Histograms on the diagonal; below it everything against everything, above it rank correlations."""
    everything = {**parameters, **{name: x.astype(float) for name, x in numbers.items()}}
    outputs = list(numbers)[: max(MOST_NAMES // 2, MOST_NAMES - len(parameters))]
    names = [*list(parameters)[: MOST_NAMES - len(outputs)], *outputs]
    n = len(names)
    finite = {name: np.isfinite(everything[name]) for name in names}  # one output may be where another is not
    chosen = np.flatnonzero(np.column_stack([finite[name] for name in outputs]).any(axis=1))
    chosen = chosen[:: max(1, len(chosen) // MOST_POINTS)]
    dot = float(np.clip(60.0 / np.sqrt(max(len(chosen), 1)), 2.5, 6.0))
    figure, axes = plt.subplots(n, n, squeeze=False, figsize=(1.1 + 1.75 * n, 1.1 + 1.6 * n), constrained_layout=True)
    for i, below in enumerate(names):
        for j, beside in enumerate(names):
            ax, x, y = axes[i, j], everything[beside], everything[below]
            ax.tick_params(labelsize=6, labelbottom=i == n - 1, labelleft=j == 0 and i > 0)
            if i == j:
                part = x[finite[below]]
                ax.hist(part, bins=min(40, 5 + int(np.sqrt(len(part)))), color=BLUE if below in numbers else GREY)
                ax.set_yticks([])
            elif i > j:
                ax.plot(x[chosen], y[chosen], ".", ms=dot, alpha=0.5, mew=0, color=BLUE if below in numbers else GREY)
            else:
                both = finite[beside] & finite[below]
                _write_correlation(ax, rank_correlation(x[both], y[both]))
            if i == n - 1:
                ax.set_xlabel(beside, fontsize=8)
            if j == 0:
                ax.set_ylabel(below, fontsize=8)
    return figure


def _write_correlation(ax: Any, value: float) -> None:
    ax.set_xticks([])
    ax.set_yticks([])
    if np.isfinite(value):
        colour = RED if value < 0.0 else BLUE
        ax.text(0.5, 0.5, f"{value:+.2f}", ha="center", va="center", transform=ax.transAxes, color=colour,
                fontsize=7 + 7 * abs(value), alpha=0.35 + 0.65 * abs(value))  # fmt: skip


def _sensitivities(plt: Any, parameters: dict[str, np.ndarray], numbers: dict[str, np.ndarray]) -> Any:
    """Rank correlations of each output with all parameters; behind them what a parameter explains in any way."""
    figure, axes = plt.subplots(len(numbers), 1, squeeze=False, constrained_layout=True, sharex=True,
                                figsize=(6.4, 1.6 + len(numbers) * (0.6 + 0.3 * len(parameters))))  # fmt: skip
    for ax, (name, y) in zip(axes[:, 0], numbers.items(), strict=True):
        good = np.isfinite(y.astype(float))
        y = y[good].astype(float)
        ranks = {p: np.nan_to_num(rank_correlation(x[good], y)) for p, x in parameters.items()}
        shares = {p: np.nan_to_num(explained_share(x[good], y)) for p, x in parameters.items()}
        order = sorted(parameters, key=lambda p: -max(abs(ranks[p]), shares[p]))
        ax.barh(order, [shares[p] for p in order], color="0.82", height=0.8)
        values = [ranks[p] for p in order]
        ax.barh(order, values, color=[RED if v < 0.0 else BLUE for v in values], height=0.4)
        ax.invert_yaxis()
        ax.set_xlim(-1.0, 1.0)
        ax.axvline(0.0, color="0.3", lw=0.8)
        ax.grid(True, axis="x", lw=0.4, alpha=0.5)
        ax.set_axisbelow(True)
        ax.set_title(name, fontsize=9, loc="left")
    known = {"share of the variance explained": "0.82", "rank correlation: grows": BLUE, "rank correlation: falls": RED}
    handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in known.values()]
    figure.legend(handles, list(known), loc="outside lower center", ncols=3, fontsize=8)
    return figure


def explained_share(x: np.ndarray, y: np.ndarray) -> float:
    """Which part of the variance of y is that of its mean at given x, whatever its shape: between 0 and 1.

    The correlation ratio of groups of equal size, without what chance explains (epsilon squared, Kelley 1935). It shows
    what a rank correlation does not: an output that grows and falls again.
    """
    if len(x) < 8 or not np.ptp(y) > 0.0:
        return np.nan
    known, group = np.unique(x, return_inverse=True)
    most = int(np.clip(np.sqrt(len(x)) / 1.5, 3, 20))
    if len(known) > most:
        group = (np.argsort(np.argsort(x, kind="stable"), kind="stable") * most) // len(x)
    size = np.bincount(group)
    between = size @ (np.bincount(group, y) / size - y.mean()) ** 2
    total = np.sum((y - y.mean()) ** 2)
    if len(x) == len(size):
        return np.nan
    chance = (len(size) - 1) * (total - between) / (len(x) - len(size))
    return float(np.clip((between - chance) / total, 0.0, 1.0))


def rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's coefficient: 1 where y grows with x however, -1 where it falls; NaN if one of them is constant."""
    from scipy.stats import rankdata

    if len(x) < 3:
        return np.nan
    a, b = rankdata(x), rankdata(y)
    a, b = a - a.mean(), b - b.mean()
    size = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / size) if size > 0.0 else np.nan
