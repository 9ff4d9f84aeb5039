"""Accelerations of joint coordinates by the articulated-body algorithm."""

from __future__ import annotations

from ..compiled.entry import entry
from ..compiled.kernel import kernel
from ..linalg.front import FAILED, SMALLEST_RATIO, WEAKEST
from ..nodes.tree.dynamics import (
    add_to_parent,
    articulated_product,
    articulated_size,
    begin_articulated,
    eliminate_column,
    velocity_wrench,
)
from ..nodes.tree.motion import frame_rates, motion_column, move_child
from ..nodes.tree.spatial import add_shifted_force, add_six, dot_six, shift_motion
from .tables import (
    FLAG_LOADED,
    FLAG_VELOCITY,
    Tables,
    Work,
    by_recursion,
    coordinates,
    velocity,
)
from .tree_instant import joint_load, tree_loads


@entry(Tables, Work, coordinates, velocity, velocity, when=by_recursion)
def articulated_accelerations(s, w, q, v, vd):
    """v_dot of a tree at (q, v) and the time of w.values (frames must be up to date); w.report tells whether it exists.

    Gravity is an acceleration of the ground upwards.
    """
    y = w.tree
    moving = s.flags[FLAG_VELOCITY] != 0
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        n, c = s.nodes[i], s.tree.carried[i]
        p = c.parent
        z = w.z[i]
        move_child(
            n, c, q, v, w.spin[i], w.z[p], z, y.columns, y.balls[i], y.twist[p], y.twist[i], y.bias[i], y.scratch
        )
        if moving:
            frame_rates(z, y.twist[i], w.zd[i])
        begin_articulated(n, z, y.articulated[i])
        velocity_wrench(n, z, y.twist[i], y.wrench[i], y.scratch)
    if s.flags[FLAG_LOADED] != 0:
        tree_loads(s, w, vd[:0])
        for m in range(s.tree.order.shape[0]):
            i = s.tree.order[m]
            add_six(1.0, y.applied[i], y.wrench[i])
    for k in range(vd.shape[0]):
        vd[k] = 0.0
    for m in range(s.tree.loads.shape[0]):
        vd[s.tree.loads[m, 1]] -= joint_load(s, w, m, q, v)  # applied forces, until the accelerations are known
    w.report[SMALLEST_RATIO], w.report[FAILED] = 1.0, 0.0
    for m in range(s.tree.order.shape[0] - 1, -1, -1):
        i = s.tree.order[m]
        n, p = s.nodes[i], s.tree.carried[i].parent
        inertia, f = y.articulated[i], y.wrench[i]
        for k in range(n.v0, n.v0 + n.nv):
            d = eliminate_column(y.columns[k], s.tree.inertia[k], vd[k], inertia, f, y.projected[k], y.pivots[k])
            if not d > 0.0:
                w.report[SMALLEST_RATIO], w.report[WEAKEST], w.report[FAILED] = 0.0, n.x0, 1.0
        if p > 0:
            articulated_product(inertia, y.bias[i], y.scratch[0])
            add_six(1.0, y.scratch[0], f)
            z, zp = w.z[i], w.z[p]
            add_to_parent(inertia, z[0] - zp[0], z[1] - zp[1], z[2] - zp[2], y.articulated[p])
            add_shifted_force(f, z, zp, y.wrench[p])
    for k in range(3):
        y.acceleration[0, k] = 0.0
        y.acceleration[0, 3 + k] = -s.gravity[k]
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        n, p = s.nodes[i], s.tree.carried[i].parent
        a = y.acceleration[i]
        shift_motion(y.acceleration[p], w.z[p], w.z[i], a)
        add_six(1.0, y.bias[i], a)
        for k in range(n.v0 + n.nv - 1, n.v0 - 1, -1):
            x = y.pivots[k, 1] - y.pivots[k, 0] * dot_six(y.projected[k], a)
            vd[k] = x
            add_six(x, y.columns[k], a)
    for k in range(6):
        y.acceleration[0, k] = 0.0


@kernel
def immovable_joint(s, w, locked, least):
    """Node of a joint that moves no inertia at the present frames, 0 if there is none.

    ``locked`` is scratch, as large as the articulated inertias.
    D = S^T I^A S is compared with the sizes of the terms that it would be made of if the joints of the children were
    locked: what is below ``least`` of that is the round-off of their differences.
    """
    y = w.tree
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        begin_articulated(s.nodes[i], w.z[i], y.articulated[i])
        for k in range(locked.shape[1]):
            locked[i, k] = y.articulated[i, k]
    for m in range(s.tree.order.shape[0] - 1, -1, -1):
        i = s.tree.order[m]
        n, c = s.nodes[i], s.tree.carried[i]
        p = c.parent
        z, zp, inertia, f = w.z[i], w.z[p], y.articulated[i], y.wrench[i]
        d1, d2, d3 = z[0] - zp[0], z[1] - zp[1], z[2] - zp[2]
        if p > 0:
            add_to_parent(inertia, d1, d2, d3, locked[p])
        for k in range(c.motions + 3 * c.ball):
            rotor = 0.0
            column = y.balls[i, 6 * (k - c.motions) :]
            if k < c.motions:
                j = motion_column(n, c, k)
                rotor, column = s.tree.inertia[j], y.columns[j]
            size = rotor + articulated_size(locked[i], column)
            d = eliminate_column(column, rotor, 0.0, inertia, f, y.scratch[0], y.scratch[1])
            if not d > least * size:
                return i
        if p > 0:
            add_to_parent(inertia, d1, d2, d3, y.articulated[p])
    return 0
