"""A million steps of a free body and of a closed loop: what happens to energy, momentum and constraints.

LieEM (default tolerance) and Rattle. The free body turns about its unstable axis; the loop of four bars folds and turns
in space. The table has the largest deviation in the first and in the
last tenth of the run, relative to the invariant: a drift would show as a difference.

Run: python benchmarks/long_runs.py [number of steps]; ``make proof`` writes docs/long_runs.md.
"""

from __future__ import annotations

import datetime
import sys
import time
from typing import Any

import numpy as np

import mbd
from mbd.integrators import LieEM, Rattle

RECORDS = 1000


def free_body(node: Any) -> mbd.Model:
    """J = (6, 8, 3), spinning near its middle axis, which is unstable."""
    model = mbd.Model("free body")
    model.add(mbd.RigidBody("body", 2.0, (6.0, 8.0, 3.0), node(velocity=(1, 0, 0), angular_velocity=(6.0, 0.1, 0.05))))
    return model


def closed_loop(node: Any) -> mbd.Model:
    """Four bars with spherical joints [Kinon & Betsch 2024, Sec. 5.5], turning about their common centre of mass.

    That stays where it is: far away from the origin, positions and with them joints would lose digits.
    """
    model, spin = mbd.Model("closed loop"), np.array((1.0, 0.5, 0.2))
    long, short, bars = 10.0 * 2.0 / 12.0, 10.0 * 101.0 / 12.0, []
    for k, (x, y, along) in enumerate(((5, 0, 1), (0, 5, 0), (-5, 0, 1), (0, -5, 0))):
        place = np.array((x, y, 0.0))
        start = node(position=place, velocity=np.cross(spin, place), angular_velocity=spin)
        inertia = [long if i == along else short for i in range(3)]
        bars.append(model.add(mbd.RigidBody(f"bar {k + 1}", 10.0, inertia, start)))
    for k, corner in enumerate(((5, 5, 0), (-5, 5, 0), (-5, -5, 0), (5, -5, 0))):
        model.add(mbd.joints.Spherical(bars[k], bars[(k + 1) % 4], at=corner))
    return model


def measure(model: mbd.Model, method: Any, step: float, steps: int) -> list[float]:
    """Relative deviations in the first and last tenth: energy, angular momentum; then constraints, rates, time."""
    start = time.perf_counter()
    solution = mbd.simulate(model, steps * step, step, method, output_step=max(1, steps // RECORDS) * step)
    taken = time.perf_counter() - start
    energy, angular = solution.energy.total, solution.momentum.angular
    energy = np.abs(energy / energy[0] - 1.0)
    angular = np.linalg.norm(angular - angular[0], axis=1) / np.linalg.norm(angular[0])
    tenth = len(energy) // 10
    parts = [x[part].max() for x in (energy, angular) for part in (slice(tenth), slice(-tenth, None))]
    error = solution.constraint_error
    return [*(float(x) for x in parts), float(error.position.max()), float(error.velocity.max()), taken]


def main(steps: int = 10**6) -> None:
    """Print the table."""
    print("# Long runs\n")
    print(f"Largest deviations from the invariants in {steps} steps, relative, and of the constraints; `make proof`")
    print(f"(`benchmarks/long_runs.py`) writes this page. {datetime.date.today()}. What these numbers mean, and why")
    print("`LieEM` leaves constraints on velocities, is told in [structure_preserving.md](structure_preserving.md).\n")
    print("| model | method | h [s] | energy, first tenth | last | L, first tenth | last | g | g_dot | time [s] |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    cases = (
        (free_body, LieEM(), mbd.nodes.RotationVector, 0.01),
        (free_body, Rattle(), mbd.nodes.Directors, 0.01),
        (closed_loop, LieEM(), mbd.nodes.RotationVector, 0.02),
        (closed_loop, LieEM(), mbd.nodes.RotationVector, 0.005),
        (closed_loop, Rattle(), mbd.nodes.Directors, 0.005),
    )
    for make, method, node, step in cases:
        model = make(node)
        numbers = measure(model, method, step, steps)
        texts = " | ".join(f"{x:.1e}" for x in numbers[:-1])
        print(
            f"| {make.__name__.replace('_', ' ')} | {method.name} | {step:g} | {texts} | {numbers[-1]:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10**6)
