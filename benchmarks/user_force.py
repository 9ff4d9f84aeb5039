"""Cost of a user force against a built-in spring: ``python benchmarks/user_force.py``."""

from __future__ import annotations

import cases  # noqa: F401  (asks for one thread)
import numpy as np

import mbd


def pull(t, frames, velocities):
    d = frames[1, :3] - frames[0, :3]
    length = np.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    k = 40.0 * (length - 0.7) / length
    x, y, z, o = k * d[0], k * d[1], k * d[2], 0.0 * k
    return (x, y, z, o, o, o), (-x, -y, -z, o, o, o)


def run(make, integrator):
    """Best wall time of a run with four forces between each pair of twelve bodies."""
    model = mbd.Model("masses")
    bodies = [
        model.add(mbd.RigidBody(f"{i}", 1.0, (1, 1, 1), node=mbd.nodes.RotationVector(position=(i, 0, 0))))
        for i in range(12)
    ]
    if make is not None:
        for i in range(11):
            for _ in range(4):
                model.add(make(bodies[i], bodies[i + 1]))
    runs = [mbd.simulate(model, 2.0, 0.002, integrator, progress=False) for _ in range(5)]
    return min(solution.stats["wall_time"] for solution in runs)


if __name__ == "__main__":
    for integrator in (mbd.integrators.RK4(), mbd.integrators.GeneralizedAlpha()):
        plain = run(None, integrator)
        spring = run(lambda a, b: mbd.forces.Spring(a, b, stiffness=40.0, length=0.7), integrator) - plain
        user = run(lambda a, b: mbd.forces.UserForce([a, b], pull), integrator) - plain
        print(f"{integrator.name}: user force {user:.4f} s, spring {spring:.4f} s, ratio {user / spring:.1f}")
