"""All figures and both tables of Wendlandt & Marsden 1997, numbered as there, and equation (4.12).

Rigid body (Table 1, Figs. 2 to 6) and double spherical pendulum (Table 2, Figs. 7 to 12). DVP is
``DiscreteVariational``, EM ``GonzalezEM``. Fig. 1 is a diagram. What is compared with the printed text is in
``docs/papers.md``.

Run: python examples/papers/wendlandt_marsden_1997_figures.py [directory for the figures]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import mbd
from mbd.integrators import DiscreteVariational, GonzalezEM

sys.path.insert(0, str(Path(__file__).resolve().parent))

from sheet import SMALLEST, Sheet
from wendlandt_marsden_1997 import double_pendulum

Array = np.ndarray

STEPS = [1e-4, 1e-3, 1e-2, 1e-1]
T_END, SAMPLE = 30.0, 0.1  # the end is not stated; it was found by matching the tables
START = 1e-5  # small steps with which the second quaternion is computed
INERTIA = np.array((1.0, 2.0, 3.0))
MASSES, LENGTHS, GRAVITY = (2.0, 3.5), (4.0, 3.0), 9.81


def mean_error(values: Array, standard: Any) -> float:
    """The error measure (5.10): mean norm over the length of the vector."""
    difference = np.reshape(values, (len(values), -1)) - standard
    return float(np.linalg.norm(difference, axis=1).mean() / difference.shape[1])


def timed(model: mbd.Model, t_end: float, step: float, method: Any, **options: Any) -> tuple[mbd.Solution, float]:
    """A run and its processor time without that of its start, after one in which machine code is loaded."""
    spent = []
    for end in (step, step, t_end):
        clock = time.process_time()
        solution = mbd.simulate(model, end, step, method, progress=False, **options)
        spent.append(time.process_time() - clock)
    return solution, spent[2] - spent[1]


def log_figure(sheet: Sheet, number: str, label: str, curves: dict[str, dict[float, float]]) -> None:
    """A quantity over the time step, both logarithmic."""
    with sheet.figure(number) as ax:
        for name, values in curves.items():
            ax.loglog(list(values), np.maximum(list(values.values()), SMALLEST), "o-", ms=4, label=name)
        ax.set(xlabel="time step (s)", ylabel=label)


# --- rigid body -----------------------------------------------------------------------------------------------------


def rigid_body() -> mbd.Model:
    """A free body with the moments of inertia 1, 2 and 3."""
    model = mbd.Model("rigid body")
    model.add(mbd.RigidBody("body", 1.0, INERTIA, mbd.nodes.Quaternion(angular_velocity=(0, 3, 4))))
    return model


def pair_invariants(x: Array, y: Array, h: float) -> tuple[Array, Array]:
    """Energy and spatial angular momentum of consecutive quaternions x, y (n, 4)."""
    f0 = np.sum(x * y, axis=1)
    f = x[:, :1] * y[:, 1:] - y[:, :1] * x[:, 1:] - np.cross(x[:, 1:], y[:, 1:])  # vector part of conj(x) y
    moment = f * INERTIA
    body = 2.0 / h * (f0[:, None] * moment + np.cross(f, moment))
    s, u = x[:, :1], x[:, 1:]
    spatial = body + 2.0 * s * np.cross(u, body) + 2.0 * np.cross(u, np.cross(u, body))
    return 2.0 / h**2 * np.sum(f * moment, axis=1), spatial


def rigid_body_figures(sheet: Sheet, steps: list[float]) -> None:
    """Table 1 and Figs. 2 to 6."""
    errors: dict[str, dict[float, float]] = {name: {} for name in ("time", "quaternion", "energy", "momentum")}
    curves: dict[float, mbd.Solution] = {}
    standard: Any = None
    for h in steps:
        method = DiscreteVariational(small_start=round(h / START), tolerance=1e-12)
        solution, errors["time"][h] = timed(rigid_body(), T_END, h, method)
        q = solution.q[:, 3:]
        sampled = q[:: round(SAMPLE / h)]
        standard = sampled if standard is None else standard
        energy, momentum = pair_invariants(q[:-1], q[1:], h)
        errors["quaternion"][h] = mean_error(sampled, standard)
        errors["energy"][h] = mean_error(energy, 33.0)
        errors["momentum"][h] = mean_error(momentum, (0.0, 6.0, 12.0))
        sheet.note(f"Fig. 5, range of the energy, h = {h:g}", float(np.ptp(energy)), f"about {energy.mean():.9f} J")
        curves[h] = solution
        for name, values in errors.items():
            sheet.note(f"Table 1, {name}, h = {h:g}", values[h])
    log_figure(sheet, "fig02", "CPU time (s)", {"rigid body": errors["time"]})
    log_figure(sheet, "fig03", "quaternion error", {"DVP": {h: e for h, e in errors["quaternion"].items() if e > 0.0}})
    log_figure(sheet, "fig05", "energy error (J)", {"DVP": errors["energy"]})
    log_figure(sheet, "fig06", "momentum error", {"DVP": errors["momentum"]})
    with sheet.figure("fig04") as ax:
        for h, style in ((steps[0], "-"), (steps[-1], "--")):
            ax.plot(curves[h].t, curves[h].q[:, 5], style, lw=0.9, label=f"h = {h:g} s")
        ax.set(xlabel="time (s)", ylabel="$q_y$", xlim=(0.0, T_END))


# --- double spherical pendulum --------------------------------------------------------------------------------------


def pendulum_positions(solution: mbd.Solution) -> Array:
    """Positions (n, 6) of both masses."""
    return np.hstack([solution["mass 1"].position, solution["mass 2"].position])


def discrete_values(q: Array, h: float) -> tuple[Array, Array]:
    """Energy and momentum about the vertical of consecutive positions."""
    v, middle = np.diff(q, axis=0) / h, 0.5 * (q[1:] + q[:-1])
    energy = 0.5 * (v**2 @ np.repeat(MASSES, 3)) + GRAVITY * (MASSES[0] * middle[:, 2] + MASSES[1] * middle[:, 5])
    z = sum(MASSES[i] * (q[:-1, 3 * i] * v[:, 3 * i + 1] - q[:-1, 3 * i + 1] * v[:, 3 * i]) for i in range(2))
    return energy, np.asarray(z)


def generalized_residual(q: Array, h: float) -> float:
    """Largest residual of (4.12) along points q (n, 6) of the constrained formulation, over the largest of its terms.

    The chart psi are two angles for each rod; D psi at q_k spans what the constraints leave free.
    """
    d, a = np.diff(q, axis=0) / h, 0.5 * (q[1:] + q[:-1])
    weights = np.repeat(MASSES, 3)
    momenta = d * weights
    weight = np.tile((0.0, 0.0, -GRAVITY), 2) * weights  # dL/dv, here the same at all points
    terms = (momenta[:-1] - momenta[1:]) / h + 0.5 * (weight + weight) * np.ones_like(a[1:])
    worst = 0.0
    for point, force in zip(q[1:-1], terms, strict=True):
        rods = np.array((point[:3], point[3:] - point[:3]))
        columns = []
        for k, rod in enumerate(rods):
            polar, azimuth = np.arccos(rod[2] / LENGTHS[k]), np.arctan2(rod[1], rod[0])
            by_polar = (np.cos(polar) * np.cos(azimuth), np.cos(polar) * np.sin(azimuth), -np.sin(polar))
            by_azimuth = (-np.sin(polar) * np.sin(azimuth), np.sin(polar) * np.cos(azimuth), 0.0)
            for tangent in (by_polar, by_azimuth):  # a rod moves its own mass and those below
                own = LENGTHS[k] * np.array(tangent)
                columns.append(np.concatenate((own, own)) if k == 0 else np.concatenate((np.zeros(3), own)))
        residual = np.array(columns) @ force
        worst = max(worst, float(np.abs(residual).max()) / float(np.abs(momenta).max() / h))
    return worst


def pendulum_figures(sheet: Sheet, steps: list[float]) -> None:
    """Table 2, Figs. 7 to 12, and (4.12)."""
    names = ("time", "position", "energy", "momentum")
    errors: dict[str, dict[str, dict[float, float]]] = {n: {"DVP": {}, "EM": {}} for n in names}
    runs: dict[tuple[str, float], mbd.Solution] = {}
    energies: dict[float, Array] = {}
    model = double_pendulum()
    fine = steps[0]
    standard: Any = None
    for h in steps:
        em, errors["time"]["EM"][h] = timed(model, T_END, h, GonzalezEM())
        standard = pendulum_positions(em)[:: round(SAMPLE / h)] if standard is None else standard
        second = mbd.simulate(model, h, fine, GonzalezEM(), progress=False)
        method = DiscreteVariational(second=second.q[-1], tolerance=1e-12)
        dvp, errors["time"]["DVP"][h] = timed(model, T_END, h, method)
        runs["EM", h], runs["DVP", h] = em, dvp
        q = pendulum_positions(dvp)
        energies[h], z = discrete_values(q, h)
        exact = second.energy.total[0], second.momentum.angular[0, 2]
        found = {"DVP": (q, energies[h], z), "EM": (pendulum_positions(em), em.energy.total, em.momentum.angular[:, 2])}
        for name, (place, energy, momentum) in found.items():
            errors["position"][name][h] = mean_error(place[:: round(SAMPLE / h)], standard)
            errors["energy"][name][h] = mean_error(energy, exact[0])
            errors["momentum"][name][h] = mean_error(momentum, exact[1])
            for quantity in names:
                sheet.note(f"Table 2, {quantity}, {name}, h = {h:g}", errors[quantity][name][h])
        sheet.note(f"Fig. 12, least energy of DVP, h = {h:g}", energies[h].min(), f"largest {energies[h].max():.9f} J")
        if h >= 1e-3:
            sheet.note(f"(4.12), largest residual, h = {h:g}", generalized_residual(q, h), "of the largest term")
    log_figure(sheet, "fig07", "CPU time (s)", errors["time"])
    some = {name: {h: e for h, e in values.items() if e > 0.0} for name, values in errors["position"].items()}
    log_figure(sheet, "fig08", "position error (m)", some)
    log_figure(sheet, "fig10", "energy error (J)", errors["energy"])
    log_figure(sheet, "fig11", "momentum error", errors["momentum"])
    with sheet.figure("fig09") as ax:
        for (name, h), style in {("EM", fine): "k-", ("DVP", steps[-1]): "C0--", ("EM", steps[-1]): "C1:"}.items():
            run = runs[name, h]
            ax.plot(run.t, run["mass 2"].position[:, 1], style, lw=0.9, label=f"{name}, h = {h:g} s")
        ax.set(xlabel="time (s)", ylabel="$y_2$ (m)", xlim=(0.0, T_END))
    with sheet.figure("fig12", panels=3) as (upper, middle, lower):
        for h in steps:
            ax = upper if h < 5e-3 else lower
            ax.plot(runs["DVP", h].t[1:], energies[h], lw=0.7, label=f"h = {h:g} s")
        coarse = runs["DVP", 1e-2] if 1e-2 in steps else runs["DVP", steps[-1]]
        tensions = coarse.scheme["lambda"]
        for k in range(2):
            middle.plot(coarse.scheme.time("lambda")[1:], tensions[1:, k], lw=0.7, label=f"rod {k + 1}")
        for ax in (upper, lower):
            ax.set(xlabel="time (s)", ylabel="energy (J)")
        middle.set(xlabel="time (s)", ylabel="multiplier (N)")


def main(directory: Path = Path("out/papers"), steps: list[float] | None = None) -> dict[str, float]:
    """Draw everything; returns the numbers by item. ``steps``: fewer than in the paper, the smallest first."""
    sheet = Sheet(directory, "wendlandt_marsden_1997")
    rigid_body_figures(sheet, steps or STEPS)
    pendulum_figures(sheet, steps or STEPS)
    return sheet.numbers


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/papers"))
