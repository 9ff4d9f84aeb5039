"""All figures of Kinon & Betsch 2024, numbered as there, and the numbers that can be read off them.

Mass-spring system (Figs. 1, 2), spring pendulum (3, 4), free body (5 to 9), steady precession of a top (10 to 13), and
closed loop (14 to 16), with the steps and times of its Tables 2 to 5. EML is ``LivensEM``, EMH ``HamiltonianEM``, MPL
``LivensMidpoint``, MPH ``HamiltonianMidpoint``; REML and Null-EML are the reductions "size" and "nullspace". What
is compared with the printed text is in ``docs/papers.md``.

Run: python examples/papers/kinon_betsch_2024_figures.py [directory for the figures]
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np

import mbd
from mbd.integrators import HamiltonianEM, HamiltonianMidpoint, LivensEM, LivensMidpoint

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from closed_loop import model as closed_loop
from kinon_betsch_2024 import LENGTH, exact, top
from kinon_betsch_2024_free_body import body as free_body
from kinon_betsch_2024_generalized import mass_spring, spring_pendulum
from sheet import SMALLEST, Sheet, convergence, increments

NEWTON = 1e-9  # the paper's tolerance
METHODS = {"EML": LivensEM, "EMH": HamiltonianEM, "MPL": LivensMidpoint, "MPH": HamiltonianMidpoint}


def generalized_energy(method: LivensEM, solution: mbd.Solution) -> np.ndarray:
    """p.v - T + V at the records (74)."""
    return method.invariants(solution)["generalized energy"]


def energies(ax, solution: mbd.Solution) -> None:
    """Kinetic, potential and total energy over time."""
    for name, values in (
        ("T", solution.energy.kinetic), ("V", solution.energy.potential), ("T + V", solution.energy.total)
    ):  # fmt: skip
        ax.plot(solution.t, values, label=name)
    ax.set(xlabel="$t$", ylabel="energy")


def mass_spring_figures(sheet: Sheet) -> None:
    """Figs. 1 and 2: singular mass matrix."""
    method = LivensEM(tolerance=NEWTON)
    solution = mbd.simulate(mass_spring(), 10.0, 0.1, method)
    with sheet.figure("fig01") as ax:
        energies(ax, solution)
    with sheet.figure("fig02", 2) as (left, right):
        x = solution["masses"].coordinates
        constraint = 0.5 * ((x[:, 1] - x[:, 0]) ** 2 - 1.1**2)
        left.plot(solution.t, constraint, ".", ms=3)
        left.set(xlabel="$t$", ylabel="$g(q)$")
        change = increments(right, solution.t, generalized_energy(method, solution))
        right.set(xlabel="$t$", ylabel="$E^{n+1} - E^n$")
    sheet.note("Fig. 2, constraint", np.abs(constraint).max())
    sheet.note("Fig. 2, change of energy per step", change)


def spring_pendulum_figures(sheet: Sheet) -> None:
    """Figs. 3 and 4: mass matrix that depends on coordinates."""
    method = LivensEM(tolerance=NEWTON)
    solution = mbd.simulate(spring_pendulum(), 1.0, 0.01, method)
    with sheet.figure("fig03") as ax:
        energies(ax, solution)
    with sheet.figure("fig04", 2) as (left, right):
        total = increments(left, solution.t, solution.energy.total)
        left.set(xlabel="$t$", ylabel="change of the total energy (80)")
        own = increments(right, solution.t, generalized_energy(method, solution))
        right.set(xlabel="$t$", ylabel="$E^{n+1} - E^n$")
    sheet.note("Fig. 4, change of total energy per step", total)
    sheet.note("Fig. 4, change of generalized energy per step", own)


def free_body_figures(sheet: Sheet, durations: int = 3) -> None:
    """Figs. 5 to 9: free rotation with h = 0.05 until t = 2."""
    method = LivensEM(tolerance=NEWTON)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbd.AccuracyWarning)  # of the total energy, which is the subject of Fig. 7
        solution = mbd.simulate(free_body(), 2.0, 0.05, method)
    sheet.snapshots("fig05", solution, [0.0, 0.25, 0.75, 1.25, 1.75, 2.0])
    own, spin = generalized_energy(method, solution), solution["body"].angular_velocity
    with sheet.figure("fig06", 2) as (left, right):
        left.plot(solution.t, own)
        left.set(xlabel="$t$", ylabel="$E$", ylim=(0.0, 1.2 * own.max()))
        change = increments(right, solution.t, own)
        right.set(xlabel="$t$", ylabel="$E^{n+1} - E^n$")
    unit = 0.5 * (np.sum(solution.q**2, axis=1) - 1.0)
    total = 0.5 * np.sum(spin * spin * (6.0, 8.0, 3.0), axis=1)
    with sheet.figure("fig07", 2) as (left, right):
        left.plot(solution.t, unit, ".", ms=3)
        left.set(xlabel="$t$", ylabel="$g(q)$")
        right.plot(solution.t, total)
        right.set(xlabel="$t$", ylabel="total energy (80)")
    momentum = method.invariants(solution)["angular momentum"]
    with sheet.figure("fig08", 2) as (left, right):
        left.plot(solution.t, momentum, label=["$L_1$", "$L_2$", "$L_3$"])
        left.set(xlabel="$t$", ylabel="$L_i$")
        kept = max(increments(right, solution.t, momentum[:, i], label=f"$L_{i + 1}$") for i in range(3))
        right.set(xlabel="$t$", ylabel="$L_i^{n+1} - L_i^n$")
    sheet.note("Fig. 6, generalized energy", own[0])
    sheet.note("Fig. 6, change of generalized energy per step", change)
    sheet.note("Fig. 7, unit constraint", np.abs(unit).max())
    sheet.note("Fig. 7, range of the total energy", np.ptp(total))
    sheet.note("Fig. 8, change of angular momentum per step", kept)
    _reductions(sheet, durations)


def _reductions(sheet: Sheet, repeats: int) -> None:
    """Fig. 9: computing time until t = 10 with and without reduction of the unknowns (CPU, best of some).

    Steps of 0.05 do not come to an end here: e.e_dot, which the scheme leaves alone, grows (see the free body example).
    """
    steps, forms = [0.01, 0.005, 0.0025], {"EML": "none", "REML": "size", "Null-EML": "nullspace"}
    seconds: dict[str, list[float]] = {name: [] for name in forms}
    for step in steps:
        best = dict.fromkeys(forms, np.inf)
        for _ in range(repeats):
            for name, form in forms.items():
                clock = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", mbd.AccuracyWarning)
                    mbd.simulate(free_body(), 10.0, step, LivensEM(reduction=form), output_step=10.0)
                best[name] = min(best[name], time.process_time() - clock)
        for name in forms:
            seconds[name].append(best[name])
    with sheet.figure("fig09") as ax:
        for name, values in seconds.items():
            ax.loglog(steps, values, "o-", ms=3, label=name)
        ax.set(xlabel="$h$", ylabel="computing time [s]")
    sheet.note("Fig. 9, time of REML by that of EML, smallest step", seconds["REML"][-1] / seconds["EML"][-1])
    sheet.note("Fig. 9, time of Null-EML by that of EML, smallest step", seconds["Null-EML"][-1] / seconds["EML"][-1])


def top_figures(sheet: Sheet, halvings: int = 5) -> None:
    """Figs. 10 to 13: steady precession with h = 0.01 until t = 2."""
    runs = {name: mbd.simulate(top(), 2.0, 0.01, method(tolerance=NEWTON)) for name, method in METHODS.items()}
    with sheet.figure("fig10") as ax:
        for name, solution in runs.items():
            energy = generalized_energy(solution.integrator, solution) if name == "EML" else solution.energy.total
            change = np.abs(np.diff(energy))
            ax.semilogy(solution.t[1:], np.maximum(change, SMALLEST), lw=0.8, label=name)
            sheet.note(f"Fig. 10, change of energy per step, {name}", change.max())
        ax.set(xlabel="$t$", ylabel="$|E^{n+1} - E^n|$")
    first = runs["EML"]
    momentum = first.integrator.invariants(first)["angular momentum"]
    with sheet.figure("fig11", 2) as (left, right):
        left.plot(first.t, momentum, label=["$L_1$", "$L_2$", "$L_3$"])
        left.set(xlabel="$t$", ylabel="$L_i$")
        kept = increments(right, first.t, momentum[:, 2])
        right.set(xlabel="$t$", ylabel="$L_3^{n+1} - L_3^n$")
    sheet.note("Fig. 11, change of L3 per step", kept)
    with sheet.figure("fig12", 2) as axes:
        for ax, component in zip(axes, (2, 0), strict=True):
            for name in ("EML", "EMH"):
                ax.plot(runs[name].t, runs[name]["top"].com[:, component], lw=0.8, label=name)
            reference = LENGTH * np.array([exact(t)[component] for t in first.t])
            ax.plot(first.t, reference, "k--", lw=0.8, label="analytical")
            ax.set(xlabel="$t$", ylabel=rf"$\varphi_{component + 1}$")
    for name in ("EML", "EMH"):
        places = runs[name]["top"].com
        reference = LENGTH * np.array([exact(t) for t in first.t])
        sheet.note(f"Fig. 12, largest error of the height, {name}", np.abs(places - reference)[:, 2].max())
        sheet.note(f"Fig. 12, largest error of component 1, {name}", np.abs(places - reference)[:, 0].max())
    steps = [0.01 / 2**k for k in range(halvings)]
    errors = {
        name: [
            np.linalg.norm(mbd.simulate(top(), 0.1, step, method(tolerance=1e-11))["top"].com[-1] / LENGTH - exact(0.1))
            for step in steps
        ]
        for name, method in METHODS.items()
    }
    with sheet.figure("fig13") as ax:
        orders = convergence(ax, steps, errors)
        ax.set(xlabel="$h$", ylabel="$e$ (121)")
    for name, order in orders.items():
        sheet.note(f"Fig. 13, order, {name}", order, f"error {errors[name][-1]:.2e} at h = {steps[-1]:g}")


def closed_loop_figures(sheet: Sheet) -> None:
    """Figs. 14 to 16: four bars with h = 0.1 until t = 10."""
    t = np.linspace(0.0, 2.0, 201)
    with sheet.figure("fig14") as ax:
        ax.plot(t, np.where(t <= 0.5, 200.0 * t, np.where(t <= 1.0, 200.0 * (1.0 - t), 0.0)))
        ax.set(xlabel="$t$", ylabel="$f(t)$")
    method = LivensEM(tolerance=NEWTON)
    solution = mbd.simulate(closed_loop(mbd.nodes.Quaternion), 10.0, 0.1, method)
    sheet.snapshots("fig15", solution, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0])
    own, momentum = generalized_energy(method, solution), method.invariants(solution)["angular momentum"]
    with sheet.figure("fig16", 2) as (left, right):
        left.plot(solution.t, own)
        left.set(xlabel="$t$", ylabel="$E$")
        right.plot(solution.t, momentum, label=["$L_1$", "$L_2$", "$L_3$"])
        right.set(xlabel="$t$", ylabel="$L_i$")
    after = solution.t > 1.05
    sheet.note("Fig. 16, generalized energy after loading", own[-1])
    sheet.note("Fig. 16, change of generalized energy per step after loading", np.abs(np.diff(own[after])).max())
    sheet.note("Fig. 16, change of L per step after loading", np.abs(np.diff(momentum[after], axis=0)).max())


def main(directory: Path = Path("out/papers"), quick: bool = False) -> dict[str, float]:
    """Draw everything; returns the numbers by item. ``quick``: fewer halvings and repeats."""
    sheet = Sheet(directory, "kinon_betsch_2024")
    mass_spring_figures(sheet)
    spring_pendulum_figures(sheet)
    free_body_figures(sheet, 1 if quick else 5)
    top_figures(sheet, 4 if quick else 6)
    closed_loop_figures(sheet)
    return sheet.numbers


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/papers"))
