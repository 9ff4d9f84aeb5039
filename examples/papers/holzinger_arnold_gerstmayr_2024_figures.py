"""Figures 2 to 17 of Holzinger, Arnold & Gerstmayr 2024, numbered as there, and the numbers read off them.

Heavy top without (2 to 5) and with constraints (6 to 8), high-speed rotor (10 to 13), slider-crank (15 to 17). Figs. 1,
9, 14 and 18 are sketches; Figs. 19 to 21 are drawn by ``puma.py``, Tables 4, 5 and 7 printed by
``benchmarks/paper_iterations.py``. The RecurDyn and IFToMM curves of Figs. 2 and 15 are not in the paper as numbers:
our own references stand in their place. What is compared with the printed text is in ``docs/papers.md``.

Run: python examples/papers/holzinger_arnold_gerstmayr_2024_figures.py [directory for the figures]
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import mbd
from mbd.integrators import RK4, RK6, GeneralizedAlpha
from mbd.study.compare import Cell, Study

sys.path.insert(0, str(Path(__file__).resolve().parent))

import holzinger_arnold_gerstmayr_2024 as study
from holzinger_arnold_gerstmayr_2024 import (
    CARDAN,
    EP,
    ROTOR,
    RV,
    halved,
    heavy_top,
    high_speed_rotor,
    slider_crank,
)
from sheet import Sheet

NAMES = {"RotationVector": "RV (Lie)", "Quaternion": "EP", 'EulerAngles(sequence="xyz")': "Rxyz"}
IMPLICIT = {
    "full": GeneralizedAlpha(rho_inf=0.9, stabilized=False, newton="full"),
    "modified": GeneralizedAlpha(rho_inf=0.9, stabilized=False, newton="modified"),
}
EXPLICIT = [RK4(), RK6()]


def name_of(cell: Cell) -> str:
    """What the paper calls a formulation."""
    node = next((short for long, short in NAMES.items() if cell.node.startswith(long.partition("(")[0])), cell.node)
    method = cell.integrator.name.partition("(")[0]
    return node if method == "GeneralizedAlpha" else f"{node}, {method}"


def draw(ax, result: Study, x: str, y: str, labels: tuple[str, str]) -> None:
    """One curve per formulation."""
    from matplotlib.ticker import NullFormatter

    for cells in result.lines().values():
        pairs = [(getattr(c, x), getattr(c, y)) for c in cells]
        ax.loglog(*np.array(pairs).T, "o-", ms=3, lw=0.8, label=name_of(cells[0]))
    ax.set(xlabel=labels[0], ylabel=labels[1])
    ax.xaxis.set_minor_formatter(NullFormatter())
    if y == "iterations":
        ax.set_yscale("linear")


def pair(sheet: Sheet, number: str, left: Study, right: Study, x: str, y: str, labels: tuple[str, str]) -> None:
    """A figure of two panels."""
    with sheet.figure(number, 2) as axes:
        for ax, result in zip(axes, (left, right), strict=True):
            draw(ax, result, x, y, labels)


def three(sheet: Sheet, first: int, explicit: Study, implicit: Study) -> None:
    """Convergence, computing time, work and precision: three figures, explicit left and implicit right."""
    pair(sheet, f"fig{first:02d}", explicit, implicit, "step", "error", ("$h$ [s]", "error [m]"))
    pair(sheet, f"fig{first + 1:02d}", explicit, implicit, "step", "time", ("$h$ [s]", "computing time [s]"))
    pair(sheet, f"fig{first + 2:02d}", explicit, implicit, "error", "time", ("error [m]", "computing time [s]"))


def compare(model: mbd.Model, methods: list, steps: list[float], t_end: float, exact, quantity: Callable) -> Study:
    """The three formulations of the paper."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbd.AccuracyWarning)  # large steps are part of the figures
        return mbd.compare(
            model, methods, [RV, CARDAN, EP], steps, t_end, reference=exact, quantity=quantity, processes=1
        )  # fmt: skip


def ends(result: Study) -> dict[str, Cell]:
    """The smallest step of every formulation."""
    return {name_of(cells[0]): cells[-1] for cells in result.lines().values()}


def top_figures(sheet: Sheet, count: int) -> None:
    """Figs. 2 to 8."""
    run = mbd.simulate(heavy_top.pinned(), 1.0, 2.5e-5, IMPLICIT["full"], output_step=1e-3)
    fine = run["top"]
    with sheet.figure("fig02", 2) as (left, right):
        left.plot(run.t, fine.com, label=["$x$", "$y$", "$z$"])
        left.set(xlabel="$t$ [s]", ylabel="centre of mass [m]")
        right.plot(run.t, np.gradient(fine.com, run.t, axis=0, edge_order=2), label=["$v_x$", "$v_y$", "$v_z$"])
        right.set(xlabel="$t$ [s]", ylabel="velocity [m/s]")
    sheet.note("Fig. 2, deviation of the position at t = 1", np.linalg.norm(fine.com[-1] - heavy_top.EXACT))
    steps = halved(1e-3, count)
    exact, quantity = heavy_top.EXACT, study.top_centre
    explicit = compare(heavy_top.pinned(), EXPLICIT, steps, 1.0, exact, quantity)
    implicit = compare(heavy_top.pinned(), [IMPLICIT["full"]], steps, 1.0, exact, quantity)
    three(sheet, 3, explicit, implicit)
    found = ends(implicit)
    sheet.note("Fig. 3, error of RV by that of EP, implicit", found["RV (Lie)"].error / found["EP"].error)
    for name, cell in ends(explicit).items():
        sheet.note(f"Fig. 3, error, {name}", cell.error, f"at h = {cell.step:.3g}")
    steps = halved(2.5e-3, count)
    full, modified = (compare(heavy_top.jointed(), [m], steps, 1.0, exact, quantity) for m in IMPLICIT.values())
    pair(sheet, "fig06", full, modified, "step", "error", ("$h$ [s]", "error [m]"))
    pair(sheet, "fig07", full, modified, "step", "iterations", ("$h$ [s]", "Newton iterations per step"))
    pair(sheet, "fig08", full, modified, "step", "time", ("$h$ [s]", "computing time [s]"))
    for words, result in (("full", full), ("modified", modified)):
        for name, cell in ends(result).items():
            sheet.note(f"Fig. 6, error, {name}, {words}", cell.error, f"at h = {cell.step:.3g}")
            sheet.note(f"Fig. 7, iterations, {name}, {words}", cell.iterations)


def rotor_figures(sheet: Sheet, count: int) -> None:
    """Figs. 10 to 13."""
    run = mbd.simulate(high_speed_rotor.model(), 4.0, 1e-5, RK6(), output_step=4e-3)
    path = 1e3 * (run["rotor"].point(high_speed_rotor.LEFT) - high_speed_rotor.LEFT)
    with sheet.figure("fig10", 2) as (left, right):
        left.plot(path[:, 1], path[:, 2], lw=0.6)
        left.set(xlabel="$y$ [mm]", ylabel="$z$ [mm]", aspect="equal")
        right.plot(run.t, path[:, 1:], lw=0.6, label=["$y$", "$z$"])
        right.set(xlabel="$t$ [s]", ylabel="[mm]")
    sheet.note("Fig. 10, largest radius [mm]", np.linalg.norm(path[:, 1:], axis=1).max())
    steps = halved(5e-5, count)
    explicit = compare(high_speed_rotor.model(), [RK4(), RK6()], steps, 4.0, ROTOR, study.rotor_point)
    implicit = compare(high_speed_rotor.model(), [IMPLICIT["full"]], steps, 4.0, ROTOR, study.rotor_point)
    three(sheet, 11, explicit, implicit)
    for result in (explicit, implicit):
        for name, cell in ends(result).items():
            sheet.note(f"Fig. 11, error, {name}", cell.error, f"at h = {cell.step:.3g}")


def crank_figures(sheet: Sheet, count: int) -> None:
    """Figs. 15 to 17."""
    run = mbd.simulate(slider_crank.model(), 5.0, 1e-4, IMPLICIT["full"], output_step=5e-3)
    with sheet.figure("fig15", 2) as (left, right):
        left.plot(run.t, run["slider"].position[:, 0])
        left.set(xlabel="$t$ [s]", ylabel="$s$ [m]")
        right.plot(run.t, run["A"].angle)
        right.set(xlabel="$t$ [s]", ylabel=r"$\theta$ [rad]")
    end = slider_crank.REFERENCE[5.0]
    sheet.note("Fig. 15, deviation of s at t = 5", abs(run["slider"].position[-1, 0] - end))
    steps = halved(4e-3, count)
    result = compare(slider_crank.model(), [IMPLICIT["full"]], steps, 5.0, np.array([end]), study.slider)
    with sheet.figure("fig16") as ax:
        draw(ax, result, "step", "error", ("$h$ [s]", "error of $s$ [m]"))
    with sheet.figure("fig17", 2) as (left, right):
        draw(left, result, "step", "iterations", ("$h$ [s]", "Newton iterations per step"))
        draw(right, result, "step", "time", ("$h$ [s]", "computing time [s]"))
    for name, cell in ends(result).items():
        sheet.note(f"Fig. 16, error, {name}", cell.error, f"at h = {cell.step:.3g}")
        sheet.note(f"Fig. 17, iterations, {name}", cell.iterations)
        sheet.note(f"Fig. 17, time [s], {name}", cell.time)


def main(directory: Path = Path("out/papers"), quick: bool = False) -> dict[str, float]:
    """Draw everything; returns the numbers by item. ``quick``: fewer halvings, without the rotor."""
    sheet = Sheet(directory, "holzinger_arnold_gerstmayr_2024")
    top_figures(sheet, 2 if quick else 7)
    if not quick:
        rotor_figures(sheet, 4)
    crank_figures(sheet, 2 if quick else 7)
    return sheet.numbers


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/papers"))
