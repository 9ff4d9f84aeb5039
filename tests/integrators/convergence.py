"""Errors of a method in poses, velocities and reactions at common times, against a fine explicit run."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import mbd
from mbd.integrators import RK6
from tests.integrators.models import chain, heavy_top, random_nodes, skew_top

OUTPUTS = 10
QUANTITIES = ("poses", "velocities", "reactions")


def pendulum(node: Any = mbd.nodes.RotationVector) -> mbd.Model:
    """Two bars with spins on two spherical joints."""
    model = mbd.Model("two bars", gravity=(0, 0, -9.81))
    spins = ((0.5, 2.0, 0.3), (1.5, 2.0, -3.0))
    upper, lower = (np.cross(spins[0], (0.5, 0, 0)), np.cross(spins[0], (1, 0, 0)) + np.cross(spins[1], (0.5, 0, 0)))
    bars = []
    for k, (mass, velocity) in enumerate(((2.0, upper), (1.0, lower))):
        start = mbd.nodes.RotationVector((k + 0.5, 0, 0), velocity=velocity, angular_velocity=spins[k])
        bars.append(model.add(mbd.RigidBody(f"bar {k}", mass, mass * np.array((0.02, 0.1, 0.09)), start)))
    model.add(mbd.joints.Spherical(model.ground, bars[0], at=(0, 0, 0), name="upper"))
    model.add(mbd.joints.Spherical(bars[0], bars[1], at=(1, 0, 0), name="lower"))
    return model.with_nodes(node)


MODELS = {
    "heavy top": (lambda: heavy_top(), 0.1),
    "two bars": (pendulum, 0.5),
    "directors": (lambda: skew_top(mbd.nodes.Directors), 0.5),
    "rotation vector": (lambda: skew_top(mbd.nodes.RotationVector(lie=False)), 0.5),
    "offset": (lambda: heavy_top(offset=True), 0.1),
    "chain": (lambda: chain(com=(0.1, 0.05, -0.02), point_mass=True), 0.5),
    "mixed chain": (lambda: random_nodes(chain(point_mass=True), seed=3), 0.5),
}


def observed(solution: mbd.Solution) -> list[np.ndarray]:
    """Poses, velocities and reactions, (records, numbers) each."""
    bodies, joints = solution.model.bodies, solution.model.joints
    rigid = [solution[b] for b in bodies if isinstance(b, mbd.RigidBody)]
    points = [solution[b] for b in bodies if isinstance(b, mbd.PointMass)]
    n = len(solution)
    poses = [x.position for x in (*rigid, *points)] + [x.rotation.reshape(n, 9) for x in rigid]
    velocities = [x.velocity for x in (*rigid, *points)] + [x.angular_velocity for x in rigid]
    reactions = [y for j in joints for y in (solution[j].force, solution[j].torque)]
    return [np.concatenate(x, axis=1) for x in (poses, velocities, reactions)]


def run(name: str, integrator: Any, steps: int) -> list[np.ndarray]:
    build, t_end = MODELS[name]
    return observed(mbd.simulate(build(), t_end, t_end / steps, integrator, output_step=t_end / OUTPUTS))


@cache
def reference(name: str) -> list[np.ndarray]:
    return run(name, RK6(), 1000)


def errors(name: str, integrator: Any, numbers: tuple[int, ...], first: int = 1) -> np.ndarray:
    """Largest errors (steps, quantities) of runs with so many steps, from a record on."""
    return np.array([
        [np.abs(x[first:] - y[first:]).max() for x, y in zip(run(name, integrator, n), reference(name), strict=True)]
        for n in numbers
    ])  # fmt: skip


def orders(name: str, integrator: Any, numbers: tuple[int, ...]) -> dict[str, float]:
    """Observed orders by quantity."""
    found = errors(name, integrator, numbers)
    steps = 1.0 / np.array(numbers)
    return {q: mbd.testing.observed_order(found[:, k], steps) for k, q in enumerate(QUANTITIES)}
