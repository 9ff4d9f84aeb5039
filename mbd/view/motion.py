"""The motion of a solution at any time: poses of all bodies between the records.

Positions are interpolated linearly, rotations along the shortest arc. Where a body turns so fast that the shortest arc
between two records is not the way it went, the angular velocity says how many turns to add.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mbd.errors import Array, ModelError
from mbd.nodes.arrays import axial

if TYPE_CHECKING:
    from mbd.results.solution import Solution

FAST = 2.0  # radians between two records beyond which turns are counted


def quaternions(rotations: Array) -> Array:
    """Unit quaternions (n, 4), scalar first, of rotation matrices (n, 3, 3); the largest component is positive."""
    m = np.asarray(rotations, dtype=float)
    trace = m[:, 0, 0] + m[:, 1, 1] + m[:, 2, 2]
    q = np.empty((len(m), 4, 4))  # row k: four times the component k times the quaternion
    q[:, 0, 0] = 1.0 + trace
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        q[:, i + 1, i + 1] = 1.0 - trace + 2.0 * m[:, i, i]
        q[:, 0, i + 1] = q[:, i + 1, 0] = m[:, k, j] - m[:, j, k]
        q[:, j + 1, k + 1] = q[:, k + 1, j + 1] = m[:, j, k] + m[:, k, j]
    best = np.argmax(np.einsum("nii->ni", q), axis=1)
    chosen = q[np.arange(len(m)), best]
    return chosen / np.linalg.norm(chosen, axis=1)[:, None]


def matrices(q: Array) -> Array:
    """Rotation matrices (n, 3, 3) of unit quaternions (n, 4), scalar first."""
    w, x, y, z = np.asarray(q, dtype=float).T
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def product(a: Array, b: Array) -> Array:
    """Products of quaternions, (n, 4) each."""
    w = a[:, :1] * b[:, :1] - np.sum(a[:, 1:] * b[:, 1:], axis=1, keepdims=True)
    return np.concatenate((w, a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + np.cross(a[:, 1:], b[:, 1:])), axis=1)


def interpolated(a: Array, b: Array, share: float, turn: Array | None = None) -> Array:
    """Rotation a . exp(share * log(a^-1 b)), quaternions (n, 4).

    ``turn`` (n, 3) is the rotation vector expected between a and b in axes of the body; whole turns are added to the
    shortest arc such that it comes closest.
    """
    relative = product(a * (1.0, -1.0, -1.0, -1.0), b)
    relative *= np.where(relative[:, :1] < 0.0, -1.0, 1.0)
    sine = np.linalg.norm(relative[:, 1:], axis=1)
    angle = 2.0 * np.arctan2(sine, relative[:, 0])
    axis = relative[:, 1:] / np.maximum(sine, 1e-300)[:, None]
    if turn is not None:
        size = np.linalg.norm(turn, axis=1)
        lost = (sine < 1e-9) & (size > 0.0)
        axis[lost] = turn[lost] / size[lost][:, None]
        angle = angle + 2.0 * np.pi * np.round((np.sum(turn * axis, axis=1) - angle) / (2.0 * np.pi))
    half = 0.5 * share * angle
    step = np.concatenate((np.cos(half)[:, None], np.sin(half)[:, None] * axis), axis=1)
    return product(a, step)


def continuous(q: Array) -> Array:
    """Quaternions (n, ..., 4) of the same rotations, with signs such that neighbours along the first axis are close."""
    flips = np.where(np.sum(q[1:] * q[:-1], axis=-1) < 0.0, -1.0, 1.0)
    signs = np.concatenate((np.ones((1, *flips.shape[1:])), np.cumprod(flips, axis=0)))
    return q * signs[..., None]


class Motion:
    """Poses of all bodies of a solution, the ground first, at any time; a few records are in memory at once."""

    def __init__(self, solution: Solution) -> None:
        if not len(solution):
            raise ModelError(f"{solution!r} has no records, so there is nothing to draw")
        self.solution = solution
        self.t = solution.t
        self.rows = {"ground": 0}
        for body in solution.model.bodies:
            if body.in_space:
                self.rows[body.name] = solution.system.node_index(body)
        self._cache: dict[int, tuple[Array, Array]] = {}

    @property
    def start(self) -> float:
        """First time."""
        return float(self.t[0])

    @property
    def end(self) -> float:
        """Last time."""
        return float(self.t[-1])

    def record(self, index: int) -> tuple[Array, Array]:
        """Positions (n, 3) and quaternions (n, 4) of one record."""
        if index not in self._cache:
            z = self.solution.frames(index)
            if len(self._cache) > 3:
                self._cache.clear()
            self._cache[index] = z[:, :3].copy(), quaternions(z[:, 3:].reshape(-1, 3, 3).transpose(0, 2, 1))
        return self._cache[index]

    def locate(self, t: float) -> tuple[int, float]:
        """Record at or before a time, and the share of the way to the next one."""
        if len(self.t) == 1:
            return 0, 0.0
        k = int(np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.t) - 2))
        width = self.t[k + 1] - self.t[k]
        return k, float(np.clip((t - self.t[k]) / width, 0.0, 1.0)) if width > 0.0 else 0.0

    def at(self, t: float) -> tuple[Array, Array]:
        """Positions (n, 3) and quaternions (n, 4) of all bodies at a time, held at both ends."""
        k, share = self.locate(t)
        if share == 0.0:
            return self.record(k)
        if share == 1.0:
            return self.record(k + 1)
        (p0, q0), (p1, q1) = self.record(k), self.record(k + 1)
        return (1.0 - share) * p0 + share * p1, interpolated(q0, q1, share, self._turn(k))

    def _turn(self, k: int) -> Array | None:
        """Rotation vectors expected between two records, if a body is fast."""
        s = self.solution
        turns = [self._spin(i) for i in (k, k + 1)]
        turn = 0.5 * (turns[0] + turns[1]) * (s.t[k + 1] - s.t[k])
        return turn if len(turn) and np.abs(turn).max() > FAST else None

    def _spin(self, k: int) -> Array:
        """Angular velocities of all bodies at a record, body axes (n, 3)."""
        s = self.solution
        return axial(s.frames(k), s.system.frame_velocities(s.q[k], s.v[k]))

    def column(self, values: Array, t: float) -> Array:
        """Values (n, ...) given at the records, at a time."""
        k, share = self.locate(t)
        return values[k] if share == 0.0 else (1.0 - share) * values[k] + share * values[k + 1]

    def samples(self, count: int) -> Array:
        """Indices of at most ``count`` records spread over the run, the last one included."""
        return np.unique(np.linspace(0, len(self.t) - 1, min(count, len(self.t))).round().astype(int))
