"""Cost of a step of LivensEM with and without reduction: ``python benchmarks/livens_reductions.py`` prints a table.

CPU time of one thread per step, best of several repeats that alternate between the forms; only the last state is
recorded. The free body is that of Kinon & Betsch 2024, Fig. 9, the closed loop that of their Sec. 5.5.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import mbd
from mbd.integrators import LivensEM
from mbd.integrators.energy_momentum.livens import REDUCTIONS
from mbd.system.system import assemble

REPEATS = 15


def free_body() -> mbd.Model:
    """A rotating body that nothing acts on."""
    model = mbd.Model("free body")
    node = mbd.nodes.Quaternion(pinned=True, angular_velocity=(10, 20, 20))
    model.add(mbd.RigidBody("body", mass=1.0, inertia=(6, 8, 3), node=node))
    return model


def closed_loop() -> mbd.Model:
    """Four bars with spherical joints that turn about a side."""
    model = mbd.Model("closed loop")
    bars = []
    for name, position, axis in (("1", (5, 0, 0), 1), ("2", (0, 5, 0), 0), ("3", (-5, 0, 0), 1), ("4", (0, -5, 0), 0)):
        inertia = [5.0 / 3.0 if i == axis else 505.0 / 6.0 for i in range(3)]
        node = mbd.nodes.Quaternion(position=position, velocity=(0, 0, position[0]), angular_velocity=(0, -1, 0))
        bars.append(model.add(mbd.RigidBody("bar " + name, mass=10.0, inertia=inertia, node=node)))
    for i, corner in enumerate(((5, 5, 0), (-5, 5, 0), (-5, -5, 0), (5, -5, 0))):
        model.add(mbd.joints.Spherical(bars[i], bars[(i + 1) % 4], at=corner))
    model.add(mbd.forces.Force(bars[0], (40.0, 0.0, 10.0)))
    return model


def chain(n: int) -> mbd.Model:
    """A hanging chain of bars, let go when horizontal."""
    model = mbd.Model("chain", gravity=(0, 0, -9.81))
    last: Any = model.ground
    for k in range(n):
        node = mbd.nodes.Quaternion(position=(k + 0.5, 0, 0))
        bar = model.add(mbd.RigidBody(f"bar {k}", mass=1.0, inertia=(0.01, 0.09, 0.09), node=node))
        model.add(mbd.joints.Spherical(last, bar, at=(k, 0, 0)))
        last = bar
    return model


CASES = {  # name: (model, step, steps)
    "free body, h = 0.02": (free_body(), 0.02, 500),  # 0.6 rad per step; ten seconds, as in the paper
    "free body, h = 0.01": (free_body(), 0.01, 1000),
    "free body, h = 0.002": (free_body(), 2e-3, 3000),
    "closed loop": (closed_loop(), 0.01, 300),
    "chain of 10 bars": (chain(10), 5e-3, 100),
    "chain of 100 bars": (chain(100), 5e-3, 20),
}


def measure(model: mbd.Model, h: float, steps: int) -> dict[str, tuple[int, float, float, float]]:
    """Per form: (unknowns, microseconds per step, Newton iterations and new matrices per step)."""
    system = assemble(model)
    q, v = system.initial_state()
    results: dict[str, tuple[int, float, float, float]] = {}
    for _ in range(REPEATS):
        for reduction in REDUCTIONS:
            run = LivensEM(reduction=reduction).start(system, q, v, 0.0, h, None)
            rows = [np.zeros((1, len(row))) for row in run.initial_row()]
            clock = time.process_time()
            done = run.advance(steps, steps, rows)
            cost = (time.process_time() - clock) / steps * 1e6
            if done < steps:
                raise RuntimeError(run.failure()[1])
            best = min(cost, results[reduction][1]) if reduction in results else cost
            stats = run.statistics()
            counts = stats["newton_iterations"] / steps, stats["factorizations"] / steps
            results[reduction] = run.inner.assembly.layout.n, best, *counts
    return results


def main() -> None:
    """Measure and print a Markdown table."""
    print("| case | form | unknowns | us/step | of full | iterations | matrices |")
    print("|---|---|---|---|---|---|---|")
    for name, (model, h, steps) in CASES.items():
        results = measure(model, h, steps)
        for reduction, (unknowns, cost, iterations, matrices) in results.items():
            share = f"{100 * cost / results['none'][1]:.0f} %"
            print(f"| {name} | {reduction} | {unknowns} | {cost:.2f} | {share} | {iterations:.2f} | {matrices:.2f} |")


if __name__ == "__main__":
    main()
