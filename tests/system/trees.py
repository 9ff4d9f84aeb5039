"""Mechanisms of bodies in random places, in joint coordinates, and their accelerations in absolute ones."""

from __future__ import annotations

from typing import Any

import numpy as np

import mbd
from mbd import forces, joints, nodes
from mbd.errors import Array
from mbd.solvers.states import on_lie_nodes
from mbd.system import instant
from mbd.system.system import System

CARRYING = ("Revolute", "Prismatic", "Cylindrical", "Universal", "Planar", "Screw", "Spherical", "Fixed")
"""Classes of joints that can carry a body."""
ROTATIONS = (nodes.RotationVector, nodes.Quaternion, nodes.Directors, nodes.EulerAngles)


def new_body(model: mbd.Model, rng: np.random.Generator, name: str, cls: Any = nodes.RotationVector, **settings: Any):
    """A body of any inertia in a random pose."""
    masses, points = rng.uniform(0.3, 1.0, 5), rng.normal(size=(5, 3))
    centre = masses @ points / masses.sum()
    arms = points - centre
    inertia = sum(m * (a @ a * np.eye(3) - np.outer(a, a)) for m, a in zip(masses, arms, strict=True))
    while True:
        node = cls(rng.normal(size=3), mbd.rotation(rng.normal(size=3)), **settings)
        if not isinstance(node, nodes.EulerAngles) or abs(np.cos(node.rotation_coordinates()[1])) > 0.3:
            return model.add(mbd.RigidBody(name, masses.sum(), inertia, node, com=0.3 * centre))


def new_joint(model: mbd.Model, rng: np.random.Generator, kind: str, a: Any, b: Any, name: str):
    """A joint of any class at a random place, with random axes."""
    at, axis = rng.normal(size=3), rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    arguments: dict[str, Any] = {"at": at, "axis": axis}
    if kind == "Universal":
        other = np.cross(axis, rng.normal(size=3))
        arguments = {"at": at, "axis_a": a.rotation.T @ axis, "axis_b": b.rotation.T @ other}
    elif kind == "Spherical":
        del arguments["axis"]
    elif kind == "Screw":
        arguments["pitch"] = 0.7
    elif kind == "Distance":
        arguments = {"point_a": at, "point_b": axis}
    return model.add(getattr(joints, kind)(a, b, name=name, **arguments))


def random_mechanism(rng: np.random.Generator, bodies: int, loops: bool = True) -> mbd.Model:
    """Bodies on joints of all classes in both directions, free and pinned ones; ``loops``: other joints and forces."""
    model = mbd.Model("mechanism", gravity=5.0 * rng.normal(size=3))
    made: list[Any] = [model.ground]
    for k in range(bodies):
        pinned = loops and rng.random() < 0.12
        cls = ROTATIONS[rng.integers(len(ROTATIONS))]
        body = new_body(model, rng, f"body {k}", cls, pinned=pinned, lie=bool(rng.random() < 0.5))
        if not pinned and rng.random() > 0.1:
            other = made[rng.integers(len(made))]
            pair = (body, other) if rng.random() < 0.5 else (other, body)
            new_joint(model, rng, CARRYING[rng.integers(len(CARRYING))], *pair, f"joint {k}")
        made.append(body)
    if not loops:
        return model
    if rng.random() < 0.5:
        mass = model.add(mbd.PointMass("point", 1.3, rng.normal(size=3)))
        model.add(joints.Distance(made[-1], mass, point_a=(0.1, 0.2, 0.3), name="rod"))
    if rng.random() < 0.5:
        model.add(mbd.Generalized("coordinates", [0.3, -0.2], [0.1, 0.4], mass=(1.0, 2.0)))
    for k in range(rng.integers(1, 3)):
        i, j = rng.choice(len(made), 2, replace=False)
        kind = ("Spherical", "Distance", "PointInPlane", "Universal", "PointOnLine")[rng.integers(5)]
        new_joint(model, rng, kind, made[i], made[j], f"loop {k}")
    hinges = [joint for joint in model.joints if joint.coordinate in ("angle", "both")]
    if hinges:
        model.add(forces.TorsionSpring(hinges[-1], stiffness=5.0, damping=0.3, rest=0.2))
    for _ in range(2):
        i, j = rng.choice(len(made), 2, replace=False)
        points = rng.normal(size=(2, 3))
        model.add(forces.Bushing(made[i], made[j], *points, 20.0, 1.0, rotational_stiffness=3.0))
    return model


def moving_state(system: System, rng: np.random.Generator, size: float = 0.5) -> tuple[Array, Array]:
    """Random coordinates and velocities; quaternions of balls have the length one and keep it."""
    q, _ = system.initial_state()
    q, v = system.update(q, size * rng.normal(size=system.n_v)), rng.normal(size=system.n_v)
    for n in system.tables.nodes[system.tables.nodes["nl"] == 1]:
        e = q[n.q0 + n.nx : n.q0 + n.nq]
        e /= np.linalg.norm(e)
        rates = v[n.v0 + n.nx : n.v0 + n.nv]
        rates -= (e @ rates) * e
    return q, v


def frame_accelerations(system: System, q: Array, v: Array, vd: Array, t: float = 0.0) -> Array:
    """Second derivatives of all frames."""
    system.constraint_velocity(q, v, t)  # moves frames and their velocities there
    instant.biases(system.tables, system.work, q, v)
    biases = system.work.zb.copy()
    return biases + system.frame_velocities(q, vd)


def same_accelerations(system: System, q: Array, v: Array, t: float = 0.0) -> float:
    """Largest difference of the accelerations of all frames from those of the model in absolute coordinates."""
    twin, at, rates = on_lie_nodes(system, q, v)
    here = frame_accelerations(system, q, v, system.accelerations(q, v, t)[0], t)
    there = frame_accelerations(twin, at, rates, twin.accelerations(at, rates, t)[0], t)
    return float(np.abs(here - there).max() / (1.0 + np.abs(there).max()))
