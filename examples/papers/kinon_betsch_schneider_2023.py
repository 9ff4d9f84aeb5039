"""Convergence, work and precision, and drifts of the GGL integrators [Kinon, Betsch & Schneider 2023].

Pendulum, steadily precessing top in directors, and the four particles, with all methods of the paper; the scheme BS99,
which exists for the Lagrange top alone, is compared in ``tests/papers/test_four_particles.py``.

What the paper says and what the figures show:

- VI-S and VI-B are of first order, VI-A, EM and EM-G of second order (Figs. 18, 19): so are the slopes;
- only EM and EM-G keep the energy (Figs. 8, 9): their drift stays at the Newton tolerance, that of the others follows
  the step;
- VI-A violates the position constraints at the ends of the steps by design (Fig. 13), the others do not;
- positions of the four particles converge with second order for every scheme, VI-S and VI-B included; the momenta of
  these two are of first order (Fig. 29 shows EM and EM-G only);
- VI-S and VI-B blow up with h = 0.05 after half a second (Fig. 32), VI-A with 0.25 (Fig. 33: at about
  t = 55, here at 57); EM keeps the energy up to the largest step that the paper mentions, 0.675, until t = 1000.

Run: python examples/papers/kinon_betsch_schneider_2023.py [directory for the figures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import mbd
from mbd.integrators import GGLEM, GGLEuler, GGLMidpoint, GGLTrapezoidal, GonzalezEM
from mbd.study.compare import Study

METHODS = [GGLEuler(), GGLMidpoint(), GGLTrapezoidal(), GGLEM(), GonzalezEM()]
EXACT = (-0.906128890427415, -0.394581468797060, -0.152433258886153)  # of the pendulum at t = 1
PARTICLE = (0.996038797621044, 0.996270728713210, 0.117262174423064)  # the fourth one at t = 0.1
MASS, LENGTH, INERTIA, NUTATION, PRECESSION, GRAVITY = 0.7069, 0.075, 5.3014e-4, np.pi / 3, 10.0, 9.81


def pendulum() -> mbd.Model:
    """A point on the unit sphere."""
    model = mbd.Model("pendulum", gravity=(0, 0, -GRAVITY))
    bob = model.add(mbd.PointMass("bob", mass=1.0, position=(1, 0, 0), velocity=(0, 1, 0)))
    model.add(mbd.joints.Distance(model.ground, bob, point_a=(0, 0, 0), point_b=(0, 0, 0)))
    return model


def top() -> mbd.Model:
    """Steady precession (112)."""
    model = mbd.Model("gyroscopic top", gravity=(0, 0, -GRAVITY))
    c, s = np.cos(NUTATION), np.sin(NUTATION)
    rotation = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    spin = MASS * GRAVITY * LENGTH / (INERTIA * PRECESSION) + MASS * LENGTH**2 / INERTIA * PRECESSION * c
    omega = np.array([0, 0, PRECESSION]) + spin * rotation[:, 2]
    position = LENGTH * rotation[:, 2]
    node = mbd.nodes.Directors(
        position=position, rotation=rotation, velocity=np.cross(omega, position), angular_velocity=rotation.T @ omega
    )
    body = model.add(mbd.RigidBody("top", mass=MASS, inertia=(INERTIA,) * 3, node=node))
    model.add(mbd.joints.Spherical(model.ground, body, at=(0, 0, 0)))
    return model


def four_particles() -> mbd.Model:
    """Two rods, joined by two springs with V = k (d^2 - 1)^2 / 2, k = 50 and 500 (116)."""
    model = mbd.Model("four particles")
    places, masses = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)), (1.0, 3.0, 2.3, 1.7)
    a, b, c, d = (
        model.add(mbd.PointMass(f"{i + 1}", masses[i], places[i], (0, 0, 2.0 / 1.7) if i == 3 else (0, 0, 0)))
        for i in range(4)
    )
    for first, second in ((a, b), (c, d)):
        model.add(mbd.joints.Distance(first, second, point_a=(0, 0, 0), point_b=(0, 0, 0)))
    for first, second, k in ((a, c, 50.0), (b, d, 500.0)):
        model.add(mbd.forces.GreenSpring(first, second, stiffness=4.0 * k, length=1.0))
    return model


def main(directory: Path = Path("out"), steps: int = 4) -> tuple[Study, Study, Study]:
    """Studies of the pendulum, the top and the particles, with so many steps each."""
    directory.mkdir(parents=True, exist_ok=True)
    first = mbd.compare(
        pendulum(), METHODS, steps=[0.02, 0.01, 0.005, 0.0025][:steps], t_end=1.0, reference=EXACT, processes=1,
        quantity=lambda solution: solution["bob"].position[-1],
    )  # fmt: skip
    print(first)
    first.plot(directory / "ggl_pendulum.png")
    second = mbd.compare(
        top(), METHODS, steps=[8e-4, 4e-4, 2e-4, 1e-4][:steps], t_end=0.08, processes=1,
        reference=lambda t: LENGTH * np.array([
            np.sin(NUTATION) * np.sin(PRECESSION * t), -np.sin(NUTATION) * np.cos(PRECESSION * t), np.cos(NUTATION)
        ]),
        quantity=lambda solution: solution["top"].position[-1],
    )  # fmt: skip
    print(second)
    second.plot(directory / "ggl_top.png")
    third = mbd.compare(
        four_particles(), METHODS, steps=[0.005, 0.0025, 0.00125, 0.000625][:steps], t_end=0.1, processes=1,
        reference=PARTICLE, quantity=lambda solution: solution["4"].position[-1],
    )  # fmt: skip
    print(third)
    third.plot(directory / "ggl_particles.png")
    return first, second, third


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
