"""Relative poses of the two frames of a joint, and the values of its coordinates."""

from __future__ import annotations

import numpy as np

from mbd.errors import Array
from mbd.joints.joint import Joint


def relative_pose(
    points: tuple[Array, Array], frames: tuple[Array, Array], za: Array, zb: Array
) -> tuple[Array, Array]:
    """(E, d): rotation of the frame on the second body seen from that on the first one, and place of its origin there.

    ``za`` and ``zb`` are the frames (r, d1, d2, d3) of the bodies, one or many of them.
    """
    first, second = _axes(za) @ frames[0], _axes(zb) @ frames[1]
    start = za[..., :3] + (_axes(za) @ points[0])
    end = zb[..., :3] + (_axes(zb) @ points[1])
    turned = np.swapaxes(first, -1, -2)
    return turned @ second, (turned @ (end - start)[..., None])[..., 0]


def _axes(z: Array) -> Array:
    """Rotation matrices of frames."""
    return np.swapaxes(z[..., 3:].reshape(*z.shape[:-1], 3, 3), -1, -2)


def motion_values(motions: tuple[str, ...], e: Array, d: Array) -> list[Array]:
    """Values of the elementary motions of a pose, angles between -pi and pi; a ball is left out."""
    if motions == ("turn", "turn"):  # the first normal of each frame is the other cross axis
        return [np.arctan2(e[..., 1, 2], e[..., 0, 2]), np.arctan2(-e[..., 2, 1], e[..., 2, 0])]
    values = []
    for motion in motions:
        if motion in ("turn", "screw"):
            values.append(np.arctan2(e[..., 1, 0], e[..., 0, 0]))
        elif motion != "ball":
            values.append(d[..., {"slide 1": 0, "slide 2": 1, "slide": 2}[motion]])
    return values


def joint_pose(joint: Joint, za: Array, zb: Array) -> tuple[Array, Array]:
    """(E, d) of a joint between the frames of its bodies."""
    return relative_pose((joint.point_a, joint.point_b), (joint.frame_a, joint.frame_b), za, zb)
