"""Figures of papers: numbered as there, with the paper's axes, in files of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

SMALLEST = 1e-17  # what a logarithmic axis shows of exact zeros


class Sheet:
    """Where the figures of one paper go, and the numbers that were read off them."""

    def __init__(self, directory: Path, prefix: str) -> None:
        import matplotlib

        matplotlib.use("Agg")
        self.directory, self.prefix = directory, prefix
        self.numbers: dict[str, float] = {}
        directory.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def figure(self, number: str, panels: int = 1) -> Iterator[Any]:
        """Axes of a figure, or a list of them; it is written at the end."""
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, panels, figsize=(4.6 * panels, 3.4), constrained_layout=True)
        yield axes
        for ax in np.atleast_1d(axes):
            ax.grid(True, lw=0.4, alpha=0.5)
            if ax.get_legend_handles_labels()[0]:
                ax.legend(fontsize=8)
        figure.savefig(self.directory / f"{self.prefix}_{number}.png", dpi=150)
        plt.close(figure)

    def snapshots(self, number: str, solution: Any, times: list[float]) -> None:
        """A strip of pictures; where there is no OpenGL, a sentence says so."""
        from mbd.view import opengl

        if opengl.obstacle():
            print(f"{number}: no picture ({opengl.obstacle()})")
        else:
            solution.picture(self.directory / f"{self.prefix}_{number}.png", t=times, trails=False, size=(420, 340))

    def note(self, item: str, value: float, text: str = "") -> None:
        """A number of a figure or table."""
        self.numbers[item] = float(value)
        print(f"{item}: {value:.6g} {text}".rstrip())


def increments(ax: Any, t: np.ndarray, values: np.ndarray, style: str = ".", **options: Any) -> float:
    """Changes from record to record, as the papers draw them; the largest of them."""
    change = np.diff(values)
    ax.plot(t[1:], change, style, ms=3, **options)
    return float(np.abs(change).max())


def convergence(ax: Any, steps: list[float], errors: dict[str, list[float]], **options: Any) -> dict[str, float]:
    """Errors over step sizes; the observed orders of the last halving."""
    from matplotlib.ticker import NullFormatter

    for name, values in errors.items():
        ax.loglog(steps, np.maximum(values, SMALLEST), "o-", ms=3, label=name, **options)
    ax.xaxis.set_minor_formatter(NullFormatter())
    return {name: float(np.log(e[-2] / e[-1]) / np.log(steps[-2] / steps[-1])) for name, e in errors.items()}
