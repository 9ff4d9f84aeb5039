"""A model and its twin on Lie nodes: coordinates of the one and of the other in the same configuration."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bodies import Generalized, RigidBody
from ..model import Model
from ..nodes import RotationVector
from ..nodes.forms import FORM_LIE, FORM_POINT
from ..rotation import from_rotation_vector, to_rotation_vector
from ..system.system import System
from ..system.tree_state import joint_state
from .start_report import body_spins

Array = np.ndarray


def lie_twin(model: Model) -> Model:
    """A copy of the model in absolute coordinates in which all rigid bodies are on Lie nodes."""
    return model.with_coordinates("absolute").with_nodes(RotationVector)


def lie_system(system: System) -> System:
    """The system of the twin; the system itself if all its bodies are on such nodes already."""
    for body in system.model.bodies:
        carried = system.assembly.tree is not None
        if isinstance(body, RigidBody) and (carried or not (isinstance(body.node, RotationVector) and body.node.lie)):
            return System(lie_twin(system.model))
    return system


def twin_coordinates(twin: System, system: System, q: Array) -> Array:
    """Coordinates of the twin in the configuration q of the system."""
    z = system.frames(q)
    parts: list[Array] = []
    for i, body in enumerate(twin.model.bodies):
        if isinstance(body, Generalized):
            parts.append(q[system.body_slices(system.model.bodies[i])[0]])
            continue
        if twin.tables.nodes[i + 1].nx:
            parts.append(z[i + 1, :3])
        if isinstance(body, RigidBody):
            parts.append(to_rotation_vector(nearest_rotation(z[i + 1, 3:].reshape(3, 3).T)))
    return np.concatenate(parts)


def body_state(twin: System, system: System, q: Array, v: Array) -> tuple[Array, Array]:
    """Coordinates and velocities of the twin in a state of the system."""
    parts: list[Array] = []
    z, zd = system.frames(q), system.frame_velocities(q, v)
    spins = body_spins(z, zd)
    for i, body in enumerate(twin.model.bodies, 1):
        if isinstance(body, Generalized):
            parts.append(v[system.body_slices(system.model.bodies[i - 1])[1]])
            continue
        if twin.tables.nodes[i].nx:
            parts.append(zd[i, :3])
        if isinstance(body, RigidBody):
            parts.append(spins[i])
    return twin_coordinates(twin, system, q), np.concatenate(parts)


def joints_at(system: System, bodies: System, q: Array, v: Array) -> tuple[Array, Array]:
    """Coordinates and velocities of a system in joint coordinates where its twin on Lie nodes is at (q, v).

    Bodies in absolute coordinates come along in their own.
    """
    z, zd = bodies.frames(q), bodies.frame_velocities(q, v)
    spins = body_spins(z, zd)
    own_q, own_v = np.zeros(system.n_q), np.zeros(system.n_v)
    for i in system.tables.tree.free:
        body: Any = system.model.bodies[i - 1]
        rows, columns = system.body_slices(body)
        if not isinstance(body, RigidBody):
            there = bodies.body_slices(bodies.model.bodies[i - 1])
            own_q[rows], own_v[columns] = q[there[0]], v[there[1]]
            continue
        pose = RotationVector(
            z[i, :3], nearest_rotation(z[i, 3:].reshape(3, 3).T), zd[i, :3] if not body.node.pinned else np.zeros(3),
            spins[i], pinned=body.node.pinned,
        ).with_parametrisation(body.node)  # fmt: skip
        own_q[rows], own_v[columns] = pose.coordinates(), pose.coordinate_velocities()
    joint_state(system, z, zd, own_q, own_v)
    return own_q, own_v


def own_coordinates(system: System, twin: System, q0: Array, given: Array, found: Array) -> Array:
    """Coordinates of the system where its twin has ``found``; bodies stay bit for bit that stay where they were."""
    q = q0.copy()
    for i, body in enumerate(system.model.bodies):
        rows = twin.body_slices(twin.model.bodies[i])[0]
        if np.array_equal(found[rows], given[rows]):
            continue
        own = system.body_slices(body)[0]
        if not isinstance(body, RigidBody):
            q[own] = found[rows]
            continue
        pose = RotationVector(
            position=found[rows][:-3] if twin.tables.nodes[i + 1].nx else body.node.position,
            rotation=from_rotation_vector(found[rows][-3:]), pinned=body.node.pinned,
        )  # fmt: skip
        q[own] = pose.with_parametrisation(body.node).coordinates()
        if np.array_equal(found[rows][:-3], given[rows][:-3]):
            q[own][: len(found[rows]) - 3] = q0[own][: len(found[rows]) - 3]
    return q


def twin_columns(twin: System, system: System, free: Array) -> Array:
    """Which velocities of the twin are free, if these of the system are: positions and rotations as a whole."""
    columns = np.ones(twin.n_v, dtype=bool)
    for n, m in zip(system.tables.nodes[1:], twin.tables.nodes[1:], strict=True):
        columns[m.v0 : m.v0 + m.nx] = free[n.v0 : n.v0 + n.nx]
        if n.nv > n.nx:
            columns[m.v0 + m.nx : m.v0 + m.nv] = free[n.v0 + n.nx : n.v0 + n.nv].all()
    return columns


def increments(system: System, q0: Array, q: Array) -> Array:
    """The increments from q0 to q of a system on Lie nodes: differences, and rotation vectors of R0^T R."""
    from scipy.spatial.transform import Rotation

    nodes = system.tables.nodes
    delta = np.zeros(system.n_v)
    turning = nodes[(nodes["form"] == FORM_LIE)]
    rows = turning["q0"] + turning["nx"]
    columns = turning["v0"] + turning["nx"]
    index, target = rows[:, None] + np.arange(3), columns[:, None] + np.arange(3)
    if len(turning):
        turned = Rotation.from_rotvec(q0[index]).inv() * Rotation.from_rotvec(q[index])
        delta[target] = turned.as_rotvec()
    for k in range(3):
        has = (nodes["nx"] > k) & np.isin(nodes["form"], (FORM_LIE, FORM_POINT))
        delta[nodes["v0"][has] + k] = q[nodes["q0"][has] + k] - q0[nodes["q0"][has] + k]
    for n in nodes[1:]:
        if n["form"] not in (FORM_LIE, FORM_POINT):
            delta[n["v0"] : n["v0"] + n["nv"]] = (q - q0)[n["q0"] : n["q0"] + n["nq"]]
    return delta


def nearest_rotation(matrix: Array) -> Array:
    """The rotation closest to the axes of a frame; coordinates of a given state need not satisfy their constraints."""
    u, _, vt = np.linalg.svd(matrix)
    return u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt
