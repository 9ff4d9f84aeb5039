"""Frames of many bodies or records as arrays (n, 12): what ``markers`` says of one frame, outside of compiled code."""

from __future__ import annotations

import numpy as np

from ..errors import Array


def frame_axes(z: Array) -> Array:
    """Axes (n, 3, 3) of frames, or of their derivatives: [k, i] is d_i."""
    return z[:, 3:].reshape(-1, 3, 3)


def marker(z: Array, point: Array) -> Array:
    """Body-fixed point in space (n, 3); with derivatives of frames, its derivatives."""
    return z[:, :3] + np.einsum("i,kij->kj", point, frame_axes(z))


def axial(z: Array, derivative: Array) -> Array:
    """Vector of the skew part of R^T R_dot: the angular velocity; of R^T R_ddot: the angular acceleration (n, 3)."""
    a = np.einsum("kim,kjm->kij", frame_axes(z), frame_axes(derivative))
    return 0.5 * np.stack((a[:, 2, 1] - a[:, 1, 2], a[:, 0, 2] - a[:, 2, 0], a[:, 1, 0] - a[:, 0, 1]), axis=1)


def frame_torques(z: Array, f: Array) -> Array:
    """World torque about the reference point of frame forces, sum_i d_i x f_i (n, 3)."""
    return np.cross(frame_axes(z), frame_axes(f)).sum(axis=1)
