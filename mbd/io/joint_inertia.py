"""The inertia that joints move in the initial configuration of an imported tree, for stops and springs of given time.

Joints are elements of a model; each carries its second body and everything behind it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..bodies.mass_properties import MassProperties
from ..errors import Array
from ..joints import Fixed, Joint, Prismatic, Spherical

ROUNDING = 1e-14


def without_rounding(own: MassProperties) -> Array:
    """The inertia, or zero where there is nothing of it but the rounding errors of moving it to the centre of mass."""
    arm = float(own.com @ own.com)
    return own.inertia if np.abs(own.inertia).max() > ROUNDING * own.mass * arm else np.zeros((3, 3))


def carried_masses(joints: Sequence[Joint]) -> dict[int, MassProperties | None]:
    """By the id of each joint, what its second body and those behind it weigh, in world axes; parents first."""
    masses: dict[int, MassProperties | None] = {}
    for joint in joints:
        body: Any = joint.body_b
        own = MassProperties(body.mass, body.com, body.inertia) if body.mass > 0.0 else None
        masses[id(body)] = None if own is None else own.moved(body.position, body.rotation)
    found: dict[int, MassProperties | None] = {}
    for joint in reversed(joints):
        found[id(joint)] = behind = masses[id(joint.body_b)]
        parent = id(joint.body_a)
        if behind is not None and parent in masses:
            own = masses[parent]
            masses[parent] = behind if own is None else own + behind
    return found


def moved_inertia(joint: Joint, carried: MassProperties | None) -> float:
    """Inertia about the axis of a joint, mass behind a slide, mean inertia about the point of a ball joint."""
    if carried is None:
        return 0.0
    if isinstance(joint, Prismatic):
        return carried.mass
    body: Any = joint.body_b
    about = carried.about(body.position + body.rotation @ joint.point_b)
    if isinstance(joint, Spherical):
        return float(np.trace(about)) / 3.0
    axis = body.rotation @ joint.axis_b
    return float(axis @ about @ axis)


def joint_space_inertia(
    joints: Sequence[Joint], floating: Sequence[Any], added: Mapping[int, float]
) -> tuple[Array, dict[int, int]]:
    """Mass matrix of a tree in joint coordinates, and the first column of each joint by its id; parents first.

    ``floating`` are bodies with six degrees of freedom of their own; ``added`` is what armatures add to the diagonal,
    by the id of the joint. The columns of a body are motions (spin, velocity at the origin) per unit of a coordinate.
    """
    columns: dict[int, list[tuple[int, Array]]] = {}
    first: dict[int, int] = {}
    extra: list[float] = []
    for body in floating:
        columns[id(body)] = [(len(extra) + k, np.eye(6)[k]) for k in range(6)]
        extra += [0.0] * 6
    for joint in joints:
        child: Any = joint.body_b
        first[id(joint)] = len(extra)
        own = []
        for motion in _free_motions(joint):
            own.append((len(extra), motion))
            extra.append(added.get(id(joint), 0.0))
        columns[id(child)] = columns.get(id(joint.body_a), []) + own
    matrix = np.diag(np.array(extra))
    for body in (*floating, *(joint.body_b for joint in joints)):
        if body.mass == 0.0 or not columns[id(body)]:
            continue
        index, motions = (np.array(x) for x in zip(*columns[id(body)], strict=True))
        centre = body.position + body.rotation @ body.com
        spins = motions[:, :3]
        velocity = motions[:, 3:] + np.cross(spins, centre)
        inertia = body.rotation @ body.inertia @ body.rotation.T
        matrix[np.ix_(index, index)] += body.mass * velocity @ velocity.T + spins @ inertia @ spins.T
    return matrix, first


def _free_motions(joint: Joint) -> list[Array]:
    """(spin, velocity at the origin of the world) of each degree of freedom of a joint."""
    child: Any = joint.body_b
    if isinstance(joint, Fixed):
        return []
    if isinstance(joint, Prismatic):
        return [np.concatenate((np.zeros(3), child.rotation @ joint.axis_b))]
    point = child.position + child.rotation @ joint.point_b
    axes = child.rotation.T if isinstance(joint, Spherical) else [child.rotation @ joint.axis_b]
    return [np.concatenate((axis, np.cross(point, axis))) for axis in axes]
