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
    start = za[..., :3] + np.einsum("...ij,...j->...i", _axes(za), points[0])
    end = zb[..., :3] + np.einsum("...ij,...j->...i", _axes(zb), points[1])
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


class RelativeMotion:
    """Motion of the second frame of a joint as seen from the first one, at many records: pose and two derivatives."""

    def __init__(self, joint: Joint, a: tuple[Array, ...], b: tuple[Array, ...]) -> None:
        """``a`` and ``b`` are frames (n, 12) of the bodies with as many of their derivatives as are wanted."""
        self.level = len(a) - 1
        first = [_axes(z) @ joint.frame_a for z in a]
        second = [_axes(z) @ joint.frame_b for z in b]
        start = [z[:, :3] + _axes(z) @ joint.point_a for z in a]
        end = [z[:, :3] + _axes(z) @ joint.point_b for z in b]
        gap = [y - x for x, y in zip(start, end, strict=True)]
        self.e = [_product(first, second, k) for k in range(len(a))]
        self.d = [_product(first, [x[:, :, None] for x in gap], k)[:, :, 0] for k in range(len(a))]

    def spin(self) -> Array:
        """Relative angular velocity, in axes of the first frame."""
        return _axial(self.e[1] @ np.swapaxes(self.e[0], -1, -2))

    def spin_rate(self) -> Array:
        """Its time derivative as seen from the first frame."""
        return _axial(self.e[2] @ np.swapaxes(self.e[0], -1, -2))

    def rates(self, motions: tuple[str, ...]) -> Array:
        """Rates of the elementary motions; of a ball the angular velocity, in axes of the second frame."""
        return self._derivatives(motions, self.spin(), self.d[1], np.zeros_like(self.d[1]))

    def accelerations(self, motions: tuple[str, ...]) -> Array:
        """Second derivatives of the elementary motions."""
        return self._derivatives(motions, self.spin_rate(), self.d[2], self.spin())

    def _derivatives(self, motions: tuple[str, ...], spin: Array, slides: Array, lower: Array) -> Array:
        e = self.e[0]
        if motions == ("turn", "turn"):
            second = np.einsum("ni,ni->n", spin, e[:, :, 2])
            if self.level > 1 and lower.any():
                second = second + np.einsum("ni,ni->n", lower, self.e[1][:, :, 2])
            return np.column_stack((spin[:, 2], second))
        columns = []
        for motion in motions:
            if motion in ("turn", "screw"):
                columns.append(spin[:, 2])
            elif motion == "ball":
                columns += list((np.swapaxes(e, -1, -2) @ spin[:, :, None])[:, :, 0].T)
            else:
                columns.append(slides[:, {"slide 1": 0, "slide 2": 1, "slide": 2}[motion]])
        return np.column_stack(columns) if columns else np.zeros((len(e), 0))


def _product(first: list[Array], second: list[Array], level: int) -> Array:
    """The level-th derivative of first^T second (Leibniz)."""
    weights = ((1.0,), (1.0, 1.0), (1.0, 2.0, 1.0))[level]
    return np.asarray(
        sum(w * np.swapaxes(first[level - k], -1, -2) @ second[k] for k, w in enumerate(weights)), dtype=float
    )


def _axial(m: Array) -> Array:
    """Vector of the antisymmetric part of matrices."""
    return 0.5 * np.stack((m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]), axis=1)
