"""Singular and variable mass matrices in generalized coordinates [Kinon & Betsch 2024, Secs. 5.1, 5.2, Figs. 1 to 4].

Two masses on springs in redundant coordinates, whose mass matrix is singular, and a spring pendulum in spherical
coordinates, whose mass matrix depends on them. The figure shows by how much the energies change per step:

- mass-spring, h = 0.1: LivensEM keeps the energy to round-off, as in Fig. 2; with a constant mass matrix generalized
  and total energy are the same. LivensMidpoint does not keep it. There is no Hamiltonian: HamiltonianEM is refused.
- spring pendulum, h = 0.01: LivensEM keeps the generalized energy p.v - T + V to round-off, while its total energy
  changes by up to 1e-4 per step, as in Fig. 4; HamiltonianEM keeps the total energy itself.

Run: python examples/papers/kinon_betsch_2024_generalized.py [directory for the figure]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import mbd
from mbd.integrators import HamiltonianEM, LivensEM, LivensMidpoint


def mass_spring() -> mbd.Model:
    """Elongations x1 and x2 of two springs and the place q2 = x1 + 1.1 where the second one begins."""
    model = mbd.Model("mass-spring")
    model.add(
        mbd.Generalized(
            "masses",
            coordinates=[0.0, 1.1, 0.0],
            velocities=[1.0, 1.0, -1.0],
            mass=[[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]],
            potential=lambda q: 0.25 * (q[0] ** 2 + q[0] ** 4) + 0.75 * (q[2] ** 2 + q[2] ** 4),
            constraints=lambda q: [0.5 * ((q[1] - q[0]) ** 2 - 1.1**2)],
        )
    )
    return model


def spring_pendulum() -> mbd.Model:
    """Point mass on a spring with Green-Lagrange strain, in (r, theta, phi)."""

    def mass(q):
        r, s, zero = q[0], np.sin(q[1]), 0.0 * q[0]
        return [[1.0 + zero, zero, zero], [zero, r * r, zero], [zero, zero, r * r * s * s]]

    model = mbd.Model("spring pendulum")
    model.add(
        mbd.Generalized(
            "bob",
            coordinates=[1.05, np.pi / 2.0, 0.0],
            velocities=[0.0, 1.0, 1.0],
            mass=mass,
            potential=lambda q: 150.0 * (0.5 * (q[0] ** 2 - 1.0)) ** 2,
        )
    )
    return model


def main(directory: Path = Path("out")) -> dict[str, float]:
    """Largest change of the energy per step, by example and method."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
    changes: dict[str, float] = {}

    def show(ax, t, energy, label):
        change = np.abs(np.diff(energy))
        changes[label] = float(change.max())
        ax.semilogy(t[1:], np.maximum(change, 1e-18), ".", ms=4, label=label.split(", ", 1)[1])
        print(f"{label}: energy {energy[0]:.9f}, change per step up to {change.max():.1e}")

    for method in (LivensEM(tolerance=1e-12), LivensMidpoint()):
        solution = mbd.simulate(mass_spring(), 10.0, 0.1, method)
        show(axes[0], solution.t, solution.energy.total, f"mass-spring, {method.name}")
    for method in (LivensEM(tolerance=1e-12), HamiltonianEM(tolerance=1e-12)):
        solution = mbd.simulate(spring_pendulum(), 1.0, 0.01, method)
        energy, label = solution.energy.total, f"spring pendulum, {method.name}"
        if isinstance(method, LivensEM):
            show(axes[1], solution.t, energy, label + ", total")
            energy = method.invariants(solution)["generalized energy"]
        show(axes[1], solution.t, energy, label)
    for ax, title in zip(axes, ("mass-spring, redundant coordinates", "spring pendulum, spherical"), strict=True):
        ax.set(title=title, xlabel="time [s]", ylabel="change of the energy per step [J]")
        ax.grid(True, lw=0.4, alpha=0.5)
        ax.legend()
    directory.mkdir(parents=True, exist_ok=True)
    figure.savefig(directory / "livens_generalized.png", dpi=200)
    return changes


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
