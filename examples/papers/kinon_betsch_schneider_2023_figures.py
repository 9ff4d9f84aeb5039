"""All figures of Kinon, Betsch & Schneider 2023 and its Table 2, numbered as there, and the numbers read off them.

Pendulum (Figs. 2 to 15), steadily precessing top (17 to 20) and four particles (22 to 33). VI-S is ``GGLEuler``, VI-A
``GGLMidpoint``, VI-B ``GGLTrapezoidal``, EM ``GGLEM``, EM-G ``GonzalezEM``, BS99 ``BobenkoSuris``. Figs. 1, 16 and 21
are sketches. What is compared with the printed text is in ``docs/papers.md``.

Run: python examples/papers/kinon_betsch_schneider_2023_figures.py [directory for the figures]
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np

import mbd
from mbd.integrators import GGLEM, BobenkoSuris, GGLEuler, GGLMidpoint, GGLTrapezoidal, GonzalezEM

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kinon_betsch_schneider_2023 import (
    LENGTH,
    MASS,
    NUTATION,
    PRECESSION,
    four_particles,
    pendulum,
    top,
)
from sheet import SMALLEST, Sheet, convergence, increments

NEWTON = 1e-9  # the paper's tolerance
METHODS = {"VI-S": GGLEuler, "VI-A": GGLMidpoint, "VI-B": GGLTrapezoidal, "EM": GGLEM}
HEIGHT = 0.0375  # of the centre of mass of the top


def momentum_constraints(solution: mbd.Solution) -> np.ndarray:
    """G M^-1 p at the records."""
    system = solution.system
    mass = system.mass_matrix(solution.q[0]).toarray()
    velocities = np.linalg.solve(mass, solution.scheme["p"].T).T
    return np.array([system.constraint_jacobian(q) @ v for q, v in zip(solution.q, velocities, strict=True)])


def position_constraints(solution: mbd.Solution) -> np.ndarray:
    """g(q) at the records."""
    return np.array([solution.system.constraints(q) for q in solution.q])


def pendulum_figures(sheet: Sheet) -> None:
    """Figs. 2 to 15: h = 0.05 until t = 10."""
    runs = {name: mbd.simulate(pendulum(), 10.0, 0.05, method(tolerance=NEWTON)) for name, method in METHODS.items()}
    curves = {
        "fig02": ("$q_1$", lambda s: (s.t, s["bob"].position[:, 0])),
        "fig03": ("$p_1$", lambda s: (s.t, s.scheme["p"][:, 0])),
        "fig04": (r"$\lambda$", lambda s: (s.scheme.time("lambda"), s.scheme["lambda"][:, 0])),
        "fig05": (r"$\gamma$", lambda s: (s.scheme.time("gamma"), s.scheme["gamma"][:, 0])),
        "fig08": ("$E$", lambda s: (s.t, s.energy.total)),
    }
    for number, (label, curve) in curves.items():
        with sheet.figure(number) as ax:
            for name, solution in runs.items():
                ax.plot(*curve(solution), lw=0.8, label=name)
            ax.set(xlabel="$t$", ylabel=label)
    first, em = runs["VI-S"], runs["EM"]
    with sheet.figure("fig06") as ax:
        path = first["bob"].position
        ax.plot(path[:, 0], path[:, 2], lw=0.8)
        ax.plot(*path[[0, -1]][:, [0, 2]].T, "o", ms=5)
        ax.set(xlabel="$q_1$", ylabel="$q_3$", aspect="equal")
    with sheet.figure("fig07") as ax:
        for name, values in (
            ("T", first.energy.kinetic), ("V", first.energy.potential), ("H", first.energy.total)
        ):  # fmt: skip
            ax.plot(first.t, values, label=name)
        ax.set(xlabel="$t$", ylabel="energy (VI-S)")
    with sheet.figure("fig09") as ax:
        sheet.note("Fig. 9, change of E per step, EM", increments(ax, em.t, em.energy.total))
        ax.set(xlabel="$t$", ylabel="$E^{n+1} - E^n$ (EM)")
    with sheet.figure("fig10") as ax:
        ax.plot(first.t, first.momentum.angular, label=["$J_1$", "$J_2$", "$J_3$"])
        ax.set(xlabel="$t$", ylabel="$J_i$ (VI-S)")
    with sheet.figure("fig11") as ax:
        for name, solution in runs.items():
            kept = np.cross(solution["bob"].position, solution.scheme["p"])[:, 2]
            sheet.note(f"Fig. 11, change of J3 per step, {name}", increments(ax, solution.t, kept, label=name))
        ax.set(xlabel="$t$", ylabel="$J_3^{n+1} - J_3^n$")
    for number, law, text in (("12", position_constraints, "g"), ("14", momentum_constraints, r"g^v")):
        others = [name for name in runs if name != "VI-A"]
        for suffix, names in ((number, others), (f"{int(number) + 1}", ["VI-A"])):
            with sheet.figure(f"fig{suffix}") as ax:
                for name in names:
                    values = law(runs[name])
                    ax.plot(runs[name].t, values, ".", ms=3, label=name)
                    sheet.note(f"Fig. {suffix}, largest ${text}$, {name}", np.abs(values).max())
                ax.set(xlabel="$t$", ylabel=f"${text}$")
    for name, solution in runs.items():
        sheet.note(f"Fig. 8, range of E, {name}", np.ptp(solution.energy.total))
        gamma = np.abs(solution.scheme["gamma"][1:]).max()
        sheet.note(f"Fig. 5, largest gamma, {name}", gamma)


def pinned_top() -> mbd.Model:
    """The same top on its tip: what BobenkoSuris takes."""
    model = top()
    body = model["top"]
    node = mbd.nodes.Quaternion(
        pinned=True, rotation=body.node.rotation, angular_velocity=body.node.angular_velocity
    )  # fmt: skip
    tip = mbd.Model("top on its tip", gravity=model.gravity)
    tip.add(mbd.RigidBody("top", mass=body.mass, inertia=body.inertia, com=(0, 0, LENGTH), node=node))
    return tip


def top_figures(sheet: Sheet, halvings: int) -> None:
    """Figs. 17 to 20: steady precession."""
    with sheet.figure("fig17") as ax:
        for name, method in METHODS.items():
            solution = mbd.simulate(top(), 0.5, 0.002, method(tolerance=NEWTON))
            ax.plot(solution.t, solution["top"].position[:, 2], lw=0.8, label=name)
            sheet.note(f"Fig. 17, largest deviation of the height, {name}", _off(solution["top"].position))
        solution = mbd.simulate(pinned_top(), 0.5, 0.002, BobenkoSuris())
        ax.plot(solution.t, solution["top"].com[:, 2], lw=0.8, label="BS99")
        sheet.note("Fig. 17, largest deviation of the height, BS99", _off(solution["top"].com))
        ax.axhline(HEIGHT, color="k", lw=0.8, ls="--", label="analytical")
        ax.set(xlabel="$t$", ylabel=r"$\varphi_3$")
    steps = [1e-3 / 4 / 2**k for k in range(halvings)]
    in_q: dict[str, list[float]] = {}
    in_p: dict[str, list[float]] = {}
    angle = PRECESSION * 1e-3  # of the steady precession, about the vertical
    momentum = MASS * PRECESSION * LENGTH * np.sin(NUTATION) * np.array([np.cos(angle), np.sin(angle), 0.0])
    for name, method in METHODS.items():
        ends = [mbd.simulate(top(), 1e-3, step, method(tolerance=1e-12)) for step in steps]
        in_q[name] = [abs(s["top"].position[-1, 2] - HEIGHT) / HEIGHT for s in ends]
        in_p[name] = [np.linalg.norm(s.scheme["p"][-1, :3] - momentum) / np.linalg.norm(momentum) for s in ends]
    ends = [mbd.simulate(pinned_top(), 1e-3, step, BobenkoSuris()) for step in steps]
    in_q["BS99"] = [abs(s["top"].com[-1, 2] - HEIGHT) / HEIGHT for s in ends]
    tips = [MASS * np.cross(s["top"].rotation[-1] @ s["top"].angular_velocity[-1], s["top"].com[-1]) for s in ends]
    in_p["BS99"] = [np.linalg.norm(p - momentum) / np.linalg.norm(momentum) for p in tips]
    for number, errors, label in (("18", in_q, "e_q"), ("19", in_p, "e_p")):
        with sheet.figure(f"fig{number}") as ax:
            orders = convergence(ax, steps, errors)
            ax.set(xlabel="$h$", ylabel=f"${label}$")
        for name, order in orders.items():
            sheet.note(f"Fig. {number}, order, {name}", order, f"error {errors[name][-1]:.1e} at h = {steps[-1]:.3g}")
    solution = mbd.simulate(top(), 0.5, 0.002, GGLEuler(tolerance=NEWTON))
    with sheet.figure("fig20") as ax:
        values = momentum_constraints(solution)
        ax.plot(solution.t, values, lw=0.8)
        ax.set(xlabel="$t$", ylabel="$g^v$ (VI-S)")
    sheet.note("Fig. 20, largest g^v, VI-S", np.abs(values).max())


def _off(places: np.ndarray) -> float:
    return float(np.abs(places[:, 2] - HEIGHT).max())


def particle_figures(sheet: Sheet, halvings: int) -> None:
    """Figs. 22 to 30 and Table 2: h = 0.01 until t = 10."""
    em, emg = (mbd.simulate(four_particles(), 10.0, 0.01, m(tolerance=NEWTON)) for m in (GGLEM, GonzalezEM))
    sheet.snapshots("fig22", em, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0])
    for number, name, solution in (("23", "EM-G", emg), ("24", "EM", em)):
        values = momentum_constraints(solution)
        with sheet.figure(f"fig{number}") as ax:
            ax.plot(solution.t, values, lw=0.8)
            ax.set(xlabel="$t$", ylabel=f"$g^v$ ({name})")
        sheet.note(f"Fig. {number}, largest g^v, {name}", np.abs(values).max())
    with sheet.figure("fig25") as ax:
        for name, solution in (("EM", em), ("EM-G", emg)):
            change = increments(ax, solution.t, solution.energy.total, label=name)
            sheet.note(f"Fig. 25, change of E per step, {name}", change)
        ax.set(xlabel="$t$", ylabel="$E^{n+1} - E^n$")
    with sheet.figure("fig26") as ax:
        for (name, solution), style in zip((("EM", em), ("EM-G", emg)), ("-", "--"), strict=True):
            ax.plot(solution.t, solution.momentum.angular, style, lw=0.8, label=[f"$J_{i}$, {name}" for i in (1, 2, 3)])
        ax.set(xlabel="$t$", ylabel="$J_i$")
    with sheet.figure("fig27") as ax:
        kept = [increments(ax, em.t, em.momentum.angular[:, i], label=f"$J_{i + 1}$") for i in range(3)]
        ax.set(xlabel="$t$", ylabel="$J_i^{n+1} - J_i^n$ (EM)")
    sheet.note("Fig. 27, change of J per step, EM", max(kept))
    _effort(sheet)
    steps, fine = [4e-3 / 2**k for k in range(halvings)], 1e-5
    reference = mbd.simulate(four_particles(), 0.1, fine, GGLEM(tolerance=1e-12))
    chosen = {"EM": GGLEM, "EM-G": GonzalezEM}
    errors: dict[str, dict[str, list[float]]] = {"28": {}, "29": {}, "30": {}}
    for name, method in chosen.items():
        ends = [mbd.simulate(four_particles(), 0.1, step, method(tolerance=1e-12)) for step in steps]
        exact = reference["4"].position[-1], reference.scheme["p"][-1, 9:], reference.scheme["lambda"][-1]
        found = [(s["4"].position[-1], s.scheme["p"][-1, 9:], s.scheme["lambda"][-1]) for s in ends]
        for k, number in enumerate(errors):
            errors[number][name] = [np.linalg.norm(x[k] - exact[k]) / np.linalg.norm(exact[k]) for x in found]
    for number, label in (("28", "e_q"), ("29", "e_p"), ("30", r"e_\lambda")):
        with sheet.figure(f"fig{number}") as ax:
            orders = convergence(ax, steps, errors[number])
            ax.set(xlabel="$h$", ylabel=f"${label}$")
        for name, order in orders.items():
            sheet.note(f"Fig. {number}, order, {name}", order)


def _effort(sheet: Sheet) -> None:
    """Table 2: iterations per step and CPU time of a step, in units of VI-S with the simple guess."""
    seconds: dict[tuple[str, str], float] = {}
    for guess, words in (("position", "simple guess"), ("velocity", "advanced guess")):
        for name, method in METHODS.items():
            best = np.inf
            for _ in range(5):
                clock = time.process_time()
                run = mbd.simulate(four_particles(), 10.0, 0.01, method(tolerance=NEWTON, guess=guess))
                best = min(best, time.process_time() - clock)
            seconds[name, guess] = best
            count = run.stats["newton_iterations"] / run.stats["steps"]
            sheet.note(f"Table 2, iterations, {name}, {words}", count)
            ratio = best / seconds["VI-S", "position"]
            sheet.note(f"Table 2, time, {name}, {words}", ratio)


def stability_figures(sheet: Sheet, ends: tuple[float, float, float]) -> None:
    """Figs. 31 to 33: energies with h = 0.01, 0.05 and 0.25."""
    for number, step, t_end in zip(("31", "32", "33"), (0.01, 0.05, 0.25), ends, strict=True):
        with sheet.figure(f"fig{number}") as ax, warnings.catch_warnings():
            warnings.simplefilter("ignore", mbd.AccuracyWarning)  # blow-ups are what is shown
            for name, method in METHODS.items():
                try:
                    solution, stopped = mbd.simulate(four_particles(), t_end, step, method(tolerance=NEWTON)), np.inf
                except mbd.ConvergenceError as error:
                    solution, stopped = error.solution, float(error.solution.t[-1])
                energy = solution.energy.total
                ax.plot(solution.t, np.maximum(np.abs(energy), SMALLEST), lw=0.8, label=name)
                grown = solution.t[np.abs(energy) > 10.0 * np.abs(energy[0])]
                when = float(grown[0]) if len(grown) else np.inf
                sheet.note(f"Fig. {number}, blow-up at, {name}", min(when, stopped))
            ax.set(xlabel="$t$", ylabel="$E$", yscale="linear" if number == "31" else "log")


def main(directory: Path = Path("out/papers"), quick: bool = False) -> dict[str, float]:
    """Draw everything; returns the numbers by item. ``quick``: fewer halvings, shorter runs."""
    sheet = Sheet(directory, "kinon_betsch_schneider_2023")
    pendulum_figures(sheet)
    top_figures(sheet, 2 if quick else 5)
    particle_figures(sheet, 2 if quick else 5)
    stability_figures(sheet, (2.0, 2.0, 60.0) if quick else (10.0, 10.0, 100.0))
    return sheet.numbers


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/papers"))
