"""Cost of a user force against a built-in spring: ``python benchmarks/user_force.py``.

Twelve bodies in a row with four forces between neighbours; CPU time of the time loop alone, all variants in turn, and
the time without forces subtracted.
"""

from __future__ import annotations

import time
from itertools import pairwise

import cases  # noqa: F401  (asks for one thread)
import numpy as np

import mbd

BODIES, FORCES, STEPS, REPEATS = 12, 4, 300, 9
OFFSET = (0.1, 0.2, 0.0)


def pull(t, frames, velocities):
    """A spring between reference points."""
    d = frames[1, :3] - frames[0, :3]
    length = np.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    k = 40.0 * (length - 0.7) / length
    x, y, z, o = k * d[0], k * d[1], k * d[2], 0.0 * k
    return (x, y, z, o, o, o), (-x, -y, -z, o, o, o)


def damped(t, frames, velocities):
    """A spring-damper between reference points, written with arrays."""
    d = frames[1, :3] - frames[0, :3]
    v = velocities[1, :3] - velocities[0, :3]
    length = np.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
    rate = (d[0] * v[0] + d[1] * v[1] + d[2] * v[2]) / length
    k = (40.0 * (length - 0.7) + 0.5 * rate) / length
    out = np.zeros_like(velocities)
    out[0, :3] = k * d
    out[1, :3] = -k * d
    return out


def damped_scalars(t, frames, velocities):
    """The same with scalars only."""
    x, y, z = frames[1, 0] - frames[0, 0], frames[1, 1] - frames[0, 1], frames[1, 2] - frames[0, 2]
    v, u = velocities[1], velocities[0]
    length = np.sqrt(x * x + y * y + z * z)
    rate = (x * (v[0] - u[0]) + y * (v[1] - u[1]) + z * (v[2] - u[2])) / length
    k = (40.0 * (length - 0.7) + 0.5 * rate) / length
    x, y, z, o = k * x, k * y, k * z, 0.0 * k
    return (x, y, z, o, o, o), (-x, -y, -z, o, o, o)


def eccentric(t, frames, velocities):
    """A spring between points beside the reference points: it depends on rotations and has torques."""
    a, b = frames[0], frames[1]
    p = (0.1 * a[3] + 0.2 * a[6], 0.1 * a[4] + 0.2 * a[7], 0.1 * a[5] + 0.2 * a[8])
    q = (0.1 * b[3] + 0.2 * b[6], 0.1 * b[4] + 0.2 * b[7], 0.1 * b[5] + 0.2 * b[8])
    x, y, z = b[0] + q[0] - a[0] - p[0], b[1] + q[1] - a[1] - p[1], b[2] + q[2] - a[2] - p[2]
    length = np.sqrt(x * x + y * y + z * z)
    k = 40.0 * (length - 0.7) / length
    x, y, z = k * x, k * y, k * z
    return (
        (x, y, z, p[1] * z - p[2] * y, p[2] * x - p[0] * z, p[0] * y - p[1] * x),
        (-x, -y, -z, q[2] * y - q[1] * z, q[0] * z - q[2] * x, q[1] * x - q[0] * y),
    )


def spring(**more):
    return lambda a, b: mbd.forces.Spring(a, b, stiffness=40.0, length=0.7, **more)


def user(function):
    return lambda a, b: mbd.forces.UserForce([a, b], function)


PAIRS = {
    "between reference points": (spring(), user(pull)),
    "with damping": (spring(damping=0.5), user(damped_scalars)),
    "with damping, written with arrays": (spring(damping=0.5), user(damped)),
    "between other points": (spring(point_a=OFFSET, point_b=OFFSET), user(eccentric)),
}


def started(make, integrator):
    """A run of the model and arrays for its records."""
    model = mbd.Model("masses")
    bodies = [
        model.add(mbd.RigidBody(f"{i}", 1.0, (1, 1, 1), node=mbd.nodes.RotationVector(position=(i, 0, 0))))
        for i in range(BODIES)
    ]
    for a, b in pairwise(bodies):
        for _ in range(FORCES if make is not None else 0):
            model.add(make(a, b))
    system = mbd.assemble(model)
    run = integrator.start(system, *system.initial_state(), 0.0, 0.002, None)
    sizes = (system.n_q, system.n_v, system.n_v, system.n_l, len(system.work.turns))
    out = [np.zeros((STEPS, n)) for n in sizes]
    run.advance(2, 1, out)  # compiles
    return run, out


if __name__ == "__main__":
    for integrator in (mbd.integrators.RK4(), mbd.integrators.GeneralizedAlpha(newton="full")):
        runs = [started(make, integrator) for make in (None, *(make for pair in PAIRS.values() for make in pair))]
        best = [float("inf")] * len(runs)
        for _ in range(REPEATS):
            for i, (run, out) in enumerate(runs):
                clock = time.process_time()
                run.advance(STEPS, 1, out)
                best[i] = min(best[i], time.process_time() - clock)
        plain, *rest = (x / (STEPS * FORCES * (BODIES - 1)) * 1e9 for x in best)
        for k, name in enumerate(PAIRS):
            built_in, written = rest[2 * k] - plain, rest[2 * k + 1] - plain
            print(
                f"{integrator.name}, {name}: spring {built_in:.0f} ns per step, user force {written:.0f} ns, "
                f"ratio {written / built_in:.1f}"
            )
