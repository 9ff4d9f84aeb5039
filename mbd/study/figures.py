"""Figures of a study: work and precision, and what drifts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from mbd.io.files import save_figure

if TYPE_CHECKING:
    from .compare import Study

FLOOR = 1e-17  # exact zeros are drawn here
SUBS = ((1.0, 2.0, 5.0), (1.0, 2.0, 3.0, 5.0, 7.0), (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0))
MARKERS = "os^Dvp*Xh<>"  # one more than colours: no two lines of a hundred have both in common
STYLES = ("-", "--", ":", "-.")
MANY = 12  # lines, from which on the legend stands beside the panels
LONGEST = 38  # letters of a name in the legend


def plot_study(study: Study, path: str | os.PathLike[str] | None = None) -> Any:
    """Four panels with one legend, which names also what has no line; saved to ``path`` if given."""
    import matplotlib

    if path is not None:
        matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    panels = (
        ("step size [s]", "error", "step", "error"),
        ("computing time [s]", "error", "time", "error"),
        ("step size [s]", "drift of the energy [J]", "step", "energy"),
        ("step size [s]", "violation of position constraints", "step", "position"),
    )
    lines, absent = study.lines(), study.absent()
    many = len(lines) + len(absent) > MANY
    figure, axes = plt.subplots(2, 2, figsize=(12.5, 8.5) if many else (9.5, 7.5), constrained_layout=True)
    colours = plt.get_cmap("tab10")
    for ax, (xlabel, ylabel, x, y) in zip(axes.flat, panels, strict=True):
        for k, (label, cells) in enumerate(lines.items()):
            xs = [getattr(c, x) for c in cells]
            ys = [max(getattr(c, y), FLOOR) for c in cells]
            ax.loglog(xs, ys, marker=MARKERS[k % len(MARKERS)], ms=5, lw=1.2, color=colours(k % 10),
                      ls=STYLES[k // 10 % len(STYLES)], label=_short(label))  # fmt: skip
        ax.set_xlabel(xlabel)
        ax.set_ylabel(ylabel)
        ax.grid(True, which="major", lw=0.4, alpha=0.5)
        if (x, y) == ("step", "error"):
            _slopes(ax, lines)
        _powers_of_ten(ax)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    handles += [plt.Line2D([], [], ls="none") for _ in absent]
    labels += [f"{_short(label)}: {what}" for label, what in absent.items()]
    if many:
        figure.legend(handles, labels, loc="outside right upper", fontsize=8, handlelength=3.5)
    else:
        figure.legend(handles, labels, loc="outside lower center", ncols=min(3, max(1, len(labels))), fontsize=8)
    known = f", error of the reference below {study.reference_error:.0e}" if study.reference_error > 0.0 else ""
    figure.suptitle(f"{study.model.name}, t = {study.t_end:g} s{known}")
    if path is not None:
        save_figure(figure, path, dpi=200)
        plt.close(figure)
    return figure


def _short(label: str) -> str:
    """A name as it fits into the legend, with its end: coordinates and the order of a composition stand there."""
    half = (LONGEST - 3) // 2
    return label if len(label) <= LONGEST else f"{label[:half]}...{label[-half:]}"


def _powers_of_ten(ax: Any) -> None:
    """Ticks between powers of ten carry no numbers, unless there is less than one decade, where they would be alone."""
    from matplotlib.ticker import LogLocator, NullFormatter

    for axis, (low, high) in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        axis.set_minor_formatter(NullFormatter())
        if high / low < 10.0:
            decades = 10.0 ** np.arange(np.floor(np.log10(low)), np.log10(high))
            for subs in SUBS:  # the first with two ticks in the picture
                if sum(low <= f * x <= high for f in subs for x in decades) > 1:
                    break
            axis.set_major_locator(LogLocator(subs=subs))


def _slopes(ax: Any, lines: Any) -> None:
    """Slopes of the orders of the methods, as far as they are in the picture."""
    steps = np.array([c.step for cells in lines.values() for c in cells])
    errors = np.array([c.error for cells in lines.values() for c in cells])
    if len(steps) < 2 or steps.min() == steps.max() or not errors.max() > 0.0:
        return
    h = np.array([steps.min(), steps.max()])
    for order in sorted({c.integrator.order for cells in lines.values() for c in cells}):
        ax.loglog(h, 2.0 * errors.max() * (h / h[1]) ** order, color="0.6", lw=0.8, ls=":")
        ax.annotate(f"{order}", (h[0], 2.0 * errors.max() * (h[0] / h[1]) ** order), color="0.4", fontsize=7)
    ax.set_ylim(bottom=0.3 * max(errors[errors > 0.0].min(), FLOOR))
