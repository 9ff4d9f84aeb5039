"""The benchmark models, and how time is measured: CPU time of one thread, best of several repeats."""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import resource
import time
from collections.abc import Callable

import mbd

GRAVITY = 9.81
BAR_MASS, BAR_LENGTH, BAR_WIDTH = 1.0, 1.0, 0.1
BAR_INERTIA = (
    BAR_MASS * 2.0 * BAR_WIDTH**2 / 12.0,
    BAR_MASS * (BAR_LENGTH**2 + BAR_WIDTH**2) / 12.0,
    BAR_MASS * (BAR_LENGTH**2 + BAR_WIDTH**2) / 12.0,
)
TOP_MASS, TOP_INERTIA = 15.0, (0.234375, 0.46875, 0.234375)
TOP_SPIN = (0.0, 150.0, -4.61538)


def heavy_top(node: type = mbd.nodes.RotationVector) -> mbd.Model:
    """Heavy top with a spherical joint."""
    model = mbd.Model("heavy top", gravity=(0, 0, -GRAVITY))
    start = node(position=(0, 1, 0), velocity=(4.61538, 0, 0), angular_velocity=TOP_SPIN)
    top = model.add(mbd.RigidBody("top", mass=TOP_MASS, inertia=TOP_INERTIA, node=start))
    model.add(mbd.joints.Spherical(model.ground, top, at=(0, 0, 0)))
    return model


def pinned_top(node: type = mbd.nodes.RotationVector) -> mbd.Model:
    """Heavy top without constraints."""
    model = mbd.Model("pinned top", gravity=(0, 0, -GRAVITY))
    start = node(pinned=True, angular_velocity=TOP_SPIN)
    model.add(mbd.RigidBody("top", mass=TOP_MASS, inertia=TOP_INERTIA, com=(0, 1, 0), node=start))
    return model


def chain(n: int, node: type = mbd.nodes.RotationVector) -> mbd.Model:
    """n bars with spherical joints, hanging from the ground, initially horizontal and at rest."""
    model = mbd.Model(f"chain {n}", gravity=(0, 0, -GRAVITY))
    previous = model.ground
    for i in range(n):
        start = node(position=((i + 0.5) * BAR_LENGTH, 0, 0))
        bar = model.add(mbd.RigidBody(f"bar {i + 1}", mass=BAR_MASS, inertia=BAR_INERTIA, node=start))
        model.add(mbd.joints.Spherical(previous, bar, at=(i * BAR_LENGTH, 0, 0)))
        previous = bar
    return model


def cpu_time(action: Callable[[], object], repeats: int) -> float:
    """Least CPU time of several runs."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        action()
        best = min(best, time.process_time() - start)
    return best


def peak_memory() -> float:
    """Largest resident size of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
