"""The look of all plots: one style, small multiples with shared axes, units, colours that everybody can tell apart."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from mbd.errors import MbdError
from mbd.view.theme import LINE_STYLES, Theme

MAX_POINTS = 6000  # per line; more are thinned in such a way that peaks stay
COMPONENTS = ("$x$", "$y$", "$z$")


@dataclass
class Line:
    """One line of a panel."""

    x: Any
    y: Any
    label: str = ""
    colour: int | str = 0
    run: int = 0  # several runs differ in their line styles
    width: float = 1.5

    @property
    def style(self) -> str:
        """Solid, dashed ..."""
        return dashes(self.run)


@dataclass
class Panel:
    """One pair of axes."""

    lines: list[Line]
    ylabel: str
    title: str = ""
    log: bool = False
    xlabel: str = "time $t$ in s"
    equal: bool = False
    share: bool = True


@contextmanager
def style(theme: Theme) -> Iterator[None]:
    """Matplotlib with the look of the toolkit, for the time being."""
    mpl = matplotlib_module()
    ink, muted = theme.text, theme.muted
    ground = "#ffffff" if not theme.dark else theme.background
    with mpl.rc_context(
        {
            "figure.facecolor": ground, "axes.facecolor": ground, "savefig.facecolor": ground,
            "text.color": ink, "axes.labelcolor": ink, "axes.edgecolor": muted, "xtick.color": muted,
            "ytick.color": muted, "xtick.labelcolor": ink, "ytick.labelcolor": ink,
            "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.8,
            "axes.grid": True, "grid.color": theme.grid, "grid.linewidth": 0.6, "grid.alpha": 0.55,
            "axes.titlesize": 10, "axes.titleweight": "bold", "axes.titlelocation": "left", "axes.titlepad": 7,
            "axes.labelsize": 10, "xtick.labelsize": 9, "ytick.labelsize": 9, "legend.fontsize": 9,
            "legend.frameon": False, "legend.handlelength": 1.7, "font.family": "sans-serif",
            "font.sans-serif": ["DejaVu Sans"], "mathtext.fontset": "dejavusans",
            "axes.formatter.useoffset": False, "axes.formatter.limits": (-3, 4), "axes.formatter.use_mathtext": True,
            "svg.fonttype": "none", "pdf.fonttype": 42, "lines.solid_capstyle": "round",
        }
    ):  # fmt: skip
        yield


def matplotlib_module() -> Any:
    """matplotlib, or an error that says how to get it."""
    try:
        import matplotlib
    except ImportError:
        raise MbdError("Plots need matplotlib, which is not installed: pip install 'mbd[view]'") from None
    return matplotlib


def new_figure(size: tuple[float, float], shown: bool) -> Any:
    """A figure; through pyplot if a window or a notebook shall show it."""
    from matplotlib.figure import Figure

    if not shown:
        return Figure(figsize=size, layout="constrained")
    import matplotlib.pyplot as plt

    class ShownOnce(Figure):
        """Notebooks show open figures at the end of a cell, and the value of its last line: here only one of them."""

        def _ipython_display_(self) -> None:
            if plt.fignum_exists(getattr(self, "number", -1)):
                return  # pyplot will show it
            import io

            from IPython.display import Image, display

            buffer = io.BytesIO()
            self.savefig(buffer, format="png")
            display(Image(buffer.getvalue()))

    return plt.figure(figsize=size, layout="constrained", FigureClass=ShownOnce)


def thinned(x: Any, y: Any, most: int = MAX_POINTS) -> tuple[Any, Any]:
    """At most a few thousand points that still show every peak: the extremes of equal pieces."""
    x, y = np.asarray(x), np.asarray(y)
    if len(x) <= most or y.ndim != 1:
        return x, y
    bounds = np.linspace(0, len(x), most // 2 + 1).astype(int)
    keep = [0, len(x) - 1]
    for a, b in itertools.pairwise(bounds):
        keep += [a + int(np.argmin(y[a:b])), a + int(np.argmax(y[a:b]))]
    index = np.unique(keep)
    return x[index], y[index]


def draw(
    panels: Sequence[Panel], theme: Theme, title: str, columns: int | None = None, shown: bool = False,
    runs: Sequence[str] = (), note: str = "",
) -> Any:  # fmt: skip
    """Small multiples: one figure with all panels; below them the names of several runs with their line styles.

    ``note`` is written below everything: what the figure leaves out.
    """
    n = len(panels)
    across = columns or (1 if n <= 3 else 2 if n <= 8 else 3)
    across = min(across, n)
    rows = -(-n // across)
    width = 6.4 if across == 1 else 4.1 * across
    height = 0.7 + rows * (2.35 if rows > 1 else 3.1) + (0.3 if len(runs) > 1 else 0.0) + (0.25 if note else 0.0)
    with style(theme):
        figure = new_figure((width, height), shown)
        grid = figure.add_gridspec(rows, across)
        first: Any = None
        for k, panel in enumerate(panels):
            shared = first if panel.share and not panel.equal else None
            axes = figure.add_subplot(grid[k // across, k % across], sharex=shared)
            if panel.share and not panel.equal and first is None:
                first = axes
            fill(axes, panel, theme)
            below = k + across < n
            if below and panel.share and panels[k + across].xlabel == panel.xlabel and not panel.equal:
                axes.tick_params(labelbottom=False)
            else:
                axes.set_xlabel(panel.xlabel)
        if title:
            add_heading(figure, title)
        if len(runs) > 1:
            handles = run_handles([line for panel in panels for line in panel.lines], theme, len(runs))
            add_names(figure, handles, runs, 3 if across > 1 else 2)
        if note:
            add_note(figure, note, theme)
    return figure


def add_heading(figure: Any, title: str) -> None:
    """The title of a figure; names are no mathematics, whatever letters they have."""
    figure.suptitle(title, x=0.012, ha="left", fontsize=11.5, fontweight="bold", parse_math=False)


def add_names(figure: Any, handles: Sequence[Any], names: Sequence[str], columns: int) -> None:
    """A legend of names below a figure."""
    legend = figure.legend(handles, names, loc="outside lower center", ncols=min(columns, len(names)))
    for text in legend.get_texts():
        text.set_parse_math(False)


def add_note(figure: Any, note: str, theme: Theme) -> None:
    """A line below a figure, with room of its own."""
    width, height = figure.get_size_inches()
    lines = textwrap.wrap(note, max(30, round(13.5 * width)))
    room = 0.17 * len(lines) + 0.06
    figure.get_layout_engine().set(rect=(0.0, room / height, 1.0, 1.0 - room / height))
    figure.text(0.012, 0.06 / height, "\n".join(lines), ha="left", va="bottom", fontsize=8.5, color=theme.muted,
                parse_math=False)  # fmt: skip


def run_handles(lines: Sequence[Line], theme: Theme, count: int) -> list[Any]:
    """Lines for a legend of runs, in the colour of the run where it has one of its own."""
    from matplotlib.lines import Line2D

    handles = []
    for run in range(count):
        colours = {line.colour for line in lines if line.run == run}
        own = shade(colours.pop(), theme) if len(colours) == 1 else theme.text
        handles.append(Line2D([], [], color=own, linestyle=dashes(run), lw=1.5))
    return handles


def shade(colour: int | str, theme: Theme) -> str:
    """A colour by its number in the theme, or itself."""
    return theme.bodies[colour % len(theme.bodies)] if isinstance(colour, int) else colour


def fill(axes: Any, panel: Panel, theme: Theme) -> None:
    """Draw one panel."""
    for line in panel.lines:
        x, y = thinned(line.x, line.y) if not panel.equal else (line.x, line.y)
        axes.plot(x, y, line.style, color=shade(line.colour, theme), lw=line.width, label=line.label or None)
    axes.set_ylabel(panel.ylabel)
    if panel.title:
        axes.set_title(panel.title, parse_math=False)
    if panel.log:
        axes.set_yscale("log")
        values = np.concatenate([np.asarray(line.y) for line in panel.lines])
        low, high = 0.3 * float(np.nanpercentile(values, 3.0)), 4.0 * float(np.nanmax(values))
        axes.set_ylim(min(low, 1e-2 * high), high)  # a few exact zeros do not stretch the axis
    if panel.equal:
        axes.set_aspect("equal", adjustable="datalim")
    else:
        x = [float(np.min(line.x)) for line in panel.lines] + [float(np.max(line.x)) for line in panel.lines]
        if max(x) > min(x):
            axes.set_xlim(min(x), max(x))
        widen(axes, panel)
    labelled = [line for line in panel.lines if line.label]
    if labelled:
        # above the axes, where no line can run through it, and at the right, since the power of ten of the axis is
        # written at the left
        axes.legend(
            loc="lower right", bbox_to_anchor=(1.0, 0.99), ncols=min(len(labelled), 4), borderaxespad=0.0,
            columnspacing=1.1,
        )  # fmt: skip


def widen(axes: Any, panel: Panel) -> None:
    """A range for lines that are constant up to rounding, which would otherwise be blown up to noise."""
    if panel.log:
        return
    values = np.concatenate([np.asarray(line.y, dtype=float).ravel() for line in panel.lines])
    values = values[np.isfinite(values)]
    if values.size and np.ptp(values) < 1e-9 * max(float(np.abs(values).max()), 1e-12):
        centre = float(values.mean())
        half = max(0.1 * abs(centre), 1e-12 if centre else 1.0)
        axes.set_ylim(centre - half, centre + half)


def dashes(index: int) -> str:
    """The line style of the index-th run or group."""
    return LINE_STYLES[index % len(LINE_STYLES)]
