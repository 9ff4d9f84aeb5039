"""Joint coordinates of a state that is given by the frames of the bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..joints.relative import joint_pose, motion_values
from ..joints.tree import Carried
from ..nodes.arrays import axial
from ..nodes.people import RigidNode
from ..nodes.tree.spatial import shift_motion
from . import instant

if TYPE_CHECKING:
    from .system import System

Array = np.ndarray
TURN = 2.0 * np.pi


def body_frames(bodies: list[Any]) -> tuple[Array, Array]:
    """Frames and their velocities of bodies as their nodes give them, the ground first; zero where a body has none."""
    z, zd = np.zeros((len(bodies) + 1, 12)), np.zeros((len(bodies) + 1, 12))
    z[:, [3, 7, 11]] = 1.0
    for i, body in enumerate(bodies):
        node: Any = body.node
        if not hasattr(node, "rotation"):
            continue
        z[i + 1, :3], zd[i + 1, :3] = node.position, node.velocity
        z[i + 1, 3:] = node.rotation.T.ravel()
        omega = node.rotation @ node.angular_velocity
        zd[i + 1, 3:] = np.cross(omega, node.rotation.T).ravel()
    return z, zd


def joint_coordinates(edge: Carried, zp: Array, z: Array) -> Array:
    """Coordinates of a carried body between the frames of its parent and its own."""
    if edge.joint is None:
        assert edge.node is not None
        node = placed_node(edge.node, z[3:].reshape(3, 3).T)
        return node.coordinates() if edge.node.pinned else np.concatenate((z[:3], node.rotation_coordinates()))
    za, zb = (z, zp) if edge.reversed else (zp, z)
    e, d = joint_pose(edge.joint, za, zb)
    values = [float(x) for x in motion_values(edge.motions, e, d)]
    if edge.node is not None:
        return np.concatenate((values, placed_node(edge.node, e.T if edge.reversed else e).rotation_coordinates()))
    return np.array(values)


def placed_node(node: RigidNode, rotation: Array) -> RigidNode:
    """A node of the same settings with this rotation."""
    u, _, vt = np.linalg.svd(rotation)  # the nearest rotation: a given state need not satisfy its constraints
    new = node._blank()
    new.__dict__["rotation"] = u @ vt
    new.__dict__["pinned"] = node.pinned
    return new


def joint_state(system: System, z: Array, zd: Array, q: Array, v: Array) -> None:
    """Fill in the coordinates and velocities of carried bodies from the frames of all bodies and their velocities.

    Velocities are those nearest to the relative motion of child and parent.
    """
    tree = system.assembly.tree
    assert tree is not None
    nodes, node_of = system.tables.nodes, system.assembly.node_of
    for edge in tree.carried:
        i, p = node_of[id(edge.body)], node_of[id(edge.parent)]
        n = nodes[i]
        q[n.q0 : n.q0 + n.nq] = joint_coordinates(edge, z[p], z[i])
    s, w = system.tables, system.work
    instant.frames(s, w, q)
    twist = np.concatenate((_world_spin(z, zd), zd[:, :3]), axis=1)
    for edge in tree.carried:
        i, p = node_of[id(edge.body)], node_of[id(edge.parent)]
        n = nodes[i]
        if n.nv == 0:
            continue
        carried = np.zeros(6)
        shift_motion(twist[p], z[p], z[i], carried)
        columns = w.tree.columns[n.v0 : n.v0 + n.nv]
        v[n.v0 : n.v0 + n.nv] = np.linalg.lstsq(columns.T, twist[i] - carried, rcond=1e-12)[0]


def _world_spin(z: Array, zd: Array) -> Array:
    """Angular velocities in world axes."""
    axes = z[:, 3:].reshape(-1, 3, 3)
    return np.einsum("nik,ni->nk", axes, axial(z, zd))
