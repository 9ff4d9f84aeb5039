"""Steady precession in quaternions: convergence of four methods [Kinon & Betsch 2024, Fig. 13].

What the paper says and what the figure shows: all are of second order; the methods from Livens' principle are more
accurate than the Hamiltonian ones, and each midpoint rule more than the energy-momentum scheme of its kind:
LivensMidpoint, LivensEM, HamiltonianMidpoint, HamiltonianEM from the smallest to the largest error, about 1 : 2.4 : 3.6
: 5.3 at small steps. HamiltonianEM keeps the total energy, LivensEM the generalized one. LieEM on the same top, for
comparison, keeps the total energy with an error of 1.4 times that of HamiltonianEM.

Run: python examples/papers/kinon_betsch_2024.py [directory for the figure]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import mbd
from mbd.integrators import HamiltonianEM, HamiltonianMidpoint, LieEM, LivensEM, LivensMidpoint
from mbd.study.compare import Study

MASS, LENGTH, INERTIA, NUTATION, PRECESSION, GRAVITY = 0.7069, 0.075, 5.3014e-4, np.pi / 3, 10.0, 9.81


def top() -> mbd.Model:
    """The top with its tip as reference point, in rotational coordinates only."""
    model = mbd.Model("steady precession", gravity=(0, 0, -GRAVITY))
    c, s = np.cos(NUTATION), np.sin(NUTATION)
    rotation = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    spin = MASS * GRAVITY * LENGTH / (INERTIA * PRECESSION) + MASS * LENGTH**2 / INERTIA * PRECESSION * c
    omega = rotation.T @ (np.array([0, 0, PRECESSION]) + spin * rotation[:, 2])
    node = mbd.nodes.Quaternion(pinned=True, rotation=rotation, angular_velocity=omega)
    model.add(mbd.RigidBody("top", mass=MASS, inertia=(INERTIA,) * 3, com=(0, 0, LENGTH), node=node))
    return model


def exact(t: float) -> np.ndarray:
    """Centre of mass (120), divided by its distance from the tip."""
    angle = PRECESSION * t
    return np.array([np.sin(NUTATION) * np.sin(angle), -np.sin(NUTATION) * np.cos(angle), np.cos(NUTATION)])


def main(directory: Path = Path("out"), steps: int = 5) -> Study:
    """Study with so many steps."""
    methods = [LivensMidpoint(), LivensEM(), HamiltonianMidpoint(), HamiltonianEM()]
    chosen = {
        "steps": [0.01, 0.005, 0.0025, 0.00125, 0.000625][:steps], "t_end": 0.1, "reference": exact, "processes": 1,
        "quantity": lambda solution: solution["top"].com[-1] / LENGTH,
    }  # fmt: skip
    study = mbd.compare(top(), methods, [mbd.nodes.Quaternion], **chosen)
    study.cells += mbd.compare(top(), [LieEM()], [mbd.nodes.RotationVector], **chosen).cells
    print(study)
    directory.mkdir(parents=True, exist_ok=True)
    study.plot(directory / "livens_top.png")
    return study


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
