"""States beside each other: one of them in the coordinates nearest to those of the other, and the increment between.

A rotation has two quaternions, many rotation vectors and many Euler angles. Which of them a node makes of a rotation
jumps at half a turn, where two states that are next to each other would seem to be far apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled.kernel import kernel
from .between import node_between
from .forms import FORM_LIE
from .kinds import EULER_ANGLES, QUATERNION, ROTATION_VECTOR

Array = np.ndarray

JUMP = 0.5  # of a coordinate; jumps are at least one in some of them
TURN = 2.0 * np.pi


def in_nearest_coordinates(nodes: Any, q: Array, v: Array, near: Array) -> tuple[Array, Array]:
    """Coordinates of the same state that are nearest to others, and its velocities with these."""
    if np.abs(q - near).max(initial=0.0) < JUMP:
        return q, v
    q, v = q.copy(), v.copy()
    for n in nodes:
        x = q[int(n.q0 + n.nx) : int(n.q0 + n.nq)]
        rates = v[int(n.v0 + n.nx) : int(n.v0 + n.nv)] if n.form != FORM_LIE else np.zeros(len(x))
        there = near[int(n.q0 + n.nx) : int(n.q0 + n.nq)]
        if n.kind == QUATERNION and x @ there < 0.0:
            x *= -1.0
            rates *= -1.0
        elif n.kind == ROTATION_VECTOR and np.linalg.norm(x - there) > np.pi:
            r = np.linalg.norm(x)
            rates[:] = (1.0 - TURN / r) * rates + TURN * (x @ rates) / r**3 * x
            x *= 1.0 - TURN / r
        elif n.kind == EULER_ANGLES:
            flipped = np.array((x[0] + np.pi, -x[1] if n.axis1 == n.axis3 else np.pi - x[1], x[2] + np.pi))
            mine, other = (y - TURN * np.round((y - there) / TURN) for y in (x, flipped))
            if np.abs(other - there).sum() < np.abs(mine - there).sum():
                mine = other
                rates[1] *= -1.0
            x[:] = mine
    return q, v


@kernel
def increments_between(nodes, q0, q1, v, d, rate, second, g, scratch):
    """Increments d of all nodes from q0 to q1, exactly zero where nothing changes; the others are scratch."""
    for i in range(1, nodes.shape[0]):
        n, same = nodes[i], True
        for k in range(n.q0, n.q0 + n.nq):
            same = same and q0[k] == q1[k]
        if not same:
            node_between(n, q0, q1, v, v, d, rate, second, g, scratch)
        else:
            for k in range(n.v0, n.v0 + n.nv):
                d[k] = 0.0
