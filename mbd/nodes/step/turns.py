"""Rotations of the last steps and their differences, from which the first guess of a step is extrapolated.

Nine numbers: the rotation of the last step (for quaternions sin(angle/2) about its axis, or a Cayley vector) with its
first and second backward differences.
"""

from __future__ import annotations

import math

from ...compiled.kernel import kernel
from ...math.quaternions import g_times, g_transposed


@kernel
def start_turn(turn, y1, y2, y3):
    """Begin with the rotation that a step at the initial velocity makes."""
    turn[0], turn[1], turn[2] = y1, y2, y3
    for m in range(3, 9):
        turn[m] = 0.0


@kernel
def remember_turn(turn, y1, y2, y3):
    """The rotation of an accepted step, with its backward differences."""
    for m in range(3):
        y = y1 if m == 0 else (y2 if m == 1 else y3)
        first = y - turn[m]
        turn[6 + m] = first - turn[3 + m]
        turn[3 + m] = first
        turn[m] = y


@kernel
def next_turn(turn):
    """Rotation of the next step by extrapolation over three steps; of steps that differ much, that of the last."""
    d1, d2, d3 = turn[3] + turn[6], turn[4] + turn[7], turn[5] + turn[8]
    y1, y2, y3 = turn[0], turn[1], turn[2]
    if d1 * d1 + d2 * d2 + d3 * d3 > 0.25 * (y1 * y1 + y2 * y2 + y3 * y3):
        return y1, y2, y3
    return y1 + d1, y2 + d2, y3 + d3


@kernel
def start_quaternion(n, q, v, h, turn):
    """First rotation of a quaternion node, sin(angle/2) about its axis."""
    j, k = n.q0 + n.nx, n.v0 + n.nx
    y1, y2, y3 = g_times(q[j], q[j + 1], q[j + 2], q[j + 3], v[k], v[k + 1], v[k + 2], v[k + 3])
    start_turn(turn, h * y1, h * y2, h * y3)


@kernel
def remember_quaternion(n, q0, q1, turn):
    """Rotation of an accepted step of a quaternion node."""
    j = n.q0 + n.nx
    y1, y2, y3 = g_times(q0[j], q0[j + 1], q0[j + 2], q0[j + 3], q1[j], q1[j + 1], q1[j + 2], q1[j + 3])
    remember_turn(turn, y1, y2, y3)


@kernel
def quaternion_guess(n, q, turn, dq):
    """Rotational part of dq from the rotations of the last steps; velocities may carry an alternating part."""
    j, k = n.q0 + n.nx, n.v0 + n.nx
    e0, e1, e2, e3 = q[j], q[j + 1], q[j + 2], q[j + 3]
    y1, y2, y3 = next_turn(turn)
    square = min(y1 * y1 + y2 * y2 + y3 * y3, 1.0)
    c = -square / (1.0 + math.sqrt(1.0 - square))
    s0, s1, s2, s3 = g_transposed(e0, e1, e2, e3, y1, y2, y3)
    dq[k], dq[k + 1], dq[k + 2], dq[k + 3] = c * e0 + s0, c * e1 + s1, c * e2 + s2, c * e3 + s3
