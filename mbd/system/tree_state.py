"""Joint coordinates of a state that is given by the frames of the bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import SingularityError
from ..joints.joint import Joint
from ..joints.relative import joint_pose, motion_values, relative_pose
from ..joints.tree import Carried
from ..nodes.arrays import axial
from ..nodes.people import RigidNode
from . import instant

if TYPE_CHECKING:
    from .system import System

Array = np.ndarray
OTHER_BALLS = "model.with_coordinates('joint', spherical=mbd.nodes.Quaternion(lie=True))"
TURN = 2.0 * np.pi


def body_frames(bodies: list[Any]) -> tuple[Array, Array]:
    """Frames and their velocities of bodies as their nodes give them, the ground first; zero where a body has none."""
    z, zd = np.zeros((len(bodies) + 1, 12)), np.zeros((len(bodies) + 1, 12))
    z[:, [3, 7, 11]] = 1.0
    framed = [(i, body.node) for i, body in enumerate(bodies, 1) if hasattr(body.node, "rotation")]
    if framed:
        index = [i for i, _ in framed]
        rotation = np.array([node.rotation for _, node in framed])
        spin = np.einsum("nij,nj->ni", rotation, np.array([node.angular_velocity for _, node in framed]))
        axes = rotation.transpose(0, 2, 1)
        z[index, :3], z[index, 3:] = [node.position for _, node in framed], axes.reshape(-1, 9)
        zd[index, :3] = [node.velocity for _, node in framed]
        zd[index, 3:] = np.cross(spin[:, None, :], axes).reshape(-1, 9)
    return z, zd


def _ball_coordinates(edge: Carried, zp: Array, z: Array) -> Array:
    """Coordinates of a body that a ball carries, or nothing does, between the frames of its parent and its own."""
    assert edge.node is not None
    if edge.joint is None:
        node = placed_node(edge.node, z[3:].reshape(3, 3).T)
        return node.coordinates() if edge.node.pinned else np.concatenate((z[:3], node.rotation_coordinates()))
    e, _ = joint_pose(edge.joint, *((z, zp) if edge.reversed else (zp, z)))
    node = placed_node(edge.node, e.T if edge.reversed else e)
    _check_chart(edge.joint, node)
    return node.rotation_coordinates()


def _angles_and_displacements(system: System, z: Array, q: Array) -> None:
    """Coordinates of all other joints that carry a body, those with the same motions at once."""
    tree = system.assembly.tree
    assert tree is not None
    groups: dict[tuple[tuple[str, ...], bool], list[tuple[Any, int, int, int]]] = {}
    starts = system.tables.nodes["q0"].tolist()
    for edge in tree.carried:
        motions = edge.motions
        if edge.joint is not None and edge.node is None and motions:
            i, p = system.assembly.node_of[id(edge.body)], system.assembly.node_of[id(edge.parent)]
            first, second = (i, p) if edge.reversed else (p, i)
            reads_angle = edge.joint.coordinate in ("angle", "both")
            groups.setdefault((motions, reads_angle), []).append((edge.joint, first, second, starts[i]))
    for (motions, reads_angle), members in groups.items():
        joints, firsts, seconds, places = (list(x) for x in zip(*members, strict=True))
        points = np.array([joint.point_a for joint in joints]), np.array([joint.point_b for joint in joints])
        frames = np.array([joint.frame_a for joint in joints]), np.array([joint.frame_b for joint in joints])
        e, d = relative_pose(points, frames, z[firsts], z[seconds])
        branches = np.array([joint.branch for joint in joints])  # about which angles are read
        for k, values in enumerate(motion_values(motions, e, d)):
            if reads_angle and motions[k] in ("turn", "screw"):
                values = values + TURN * np.round((branches - values) / TURN)
            q[np.array(places) + k] = values


def _check_chart(joint: Joint, node: RigidNode) -> None:
    """Refuse parameters of a ball that cannot describe its velocity."""
    try:
        node.check("")
    except SingularityError as error:
        raise SingularityError(
            f"{joint}: {error} The rotation of a joint is that of the second body relative to the first one; choose "
            f"other parameters: {OTHER_BALLS}",
            time=error.time,
        ) from None


def locked_angles(system: System, name: str) -> tuple[str, str]:
    """What Euler angles that belong to a body are those of, and how to have other ones."""
    tree = system.assembly.tree
    for edge in tree.carried if tree is not None else ():
        if edge.body.name == name and edge.joint is not None:
            return f"joint '{edge.joint.name}'", OTHER_BALLS
    return f"body '{name}'", "model.with_nodes({" + f"'{name}': mbd.nodes.Quaternion" + "})"


def placed_node(node: RigidNode, rotation: Array) -> RigidNode:
    """A node of the same settings with this rotation."""
    u, _, vt = np.linalg.svd(rotation)  # the nearest rotation: a given state need not satisfy its constraints
    new = node._blank()
    new.__dict__["rotation"] = u @ vt
    new.__dict__["pinned"] = node.pinned
    return new


def joint_state(system: System, z: Array, zd: Array, q: Array, v: Array) -> None:
    """Fill in the coordinates and velocities of carried bodies from the frames of all bodies and their velocities.

    Velocities are those nearest to the relative motion of child and parent, in the size of the model as unit of length:
    in a small unit the columns of a joint that turns and slides nearly agree, and the turn would be lost.
    """
    tree = system.assembly.tree
    assert tree is not None
    nodes, node_of = system.tables.nodes, system.assembly.node_of
    _angles_and_displacements(system, z, q)
    for edge in tree.carried:
        if edge.node is not None:
            i, p = node_of[id(edge.body)], node_of[id(edge.parent)]
            n = nodes[i]
            q[n.q0 : n.q0 + n.nq] = _ball_coordinates(edge, z[p], z[i])
    s, w = system.tables, system.work
    instant.frames(s, w, q)
    twist = np.concatenate((_world_spin(z, zd), zd[:, :3]), axis=1)
    order, parents = s.tree.order, s.tree.carried["parent"][s.tree.order]
    relative = twist[order] - twist[parents]
    relative[:, 3:] -= np.cross(twist[parents, :3], z[order, :3] - z[parents, :3])
    sizes = np.where(s.vclass == 0, system.length, 1.0)
    columns = w.tree.columns * sizes[:, None]
    columns[:, 3:] /= system.length
    relative[:, 3:] /= system.length
    starts, counts = nodes["v0"][order].tolist(), nodes["nv"][order].tolist()
    for start, count, rest in zip(starts, counts, relative, strict=True):
        part = slice(start, start + count)
        if count == 1:
            column = columns[start]
            v[start] = sizes[start] * (column @ rest) / (column @ column)
        elif count > 1:
            v[part] = sizes[part] * np.linalg.lstsq(columns[part].T, rest, rcond=1e-12)[0]


def _world_spin(z: Array, zd: Array) -> Array:
    """Angular velocities in world axes."""
    axes = z[:, 3:].reshape(-1, 3, 3)
    return np.einsum("nik,ni->nk", axes, axial(z, zd))
