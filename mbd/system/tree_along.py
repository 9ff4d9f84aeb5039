"""The equations of joint coordinates along a direction of the state and a parameter: exact derivatives of trees.

A direction moves every body by a jet X = (xi, xi', xi''), see ``mbd.nodes.tree.jets``: the parent's, and that of each
column of its joint times the direction's components. The wrench of a body then changes by one product, what joints
carry by the sums of these, from the leaves to the root. Elements along the coordinates of joints have derivatives of
their own. Where the parameter may touch them they are differenced along the direction, in the tables on both sides of
it.

A parameter that moves a joint on its bodies is a small motion more: with a frame F_a on the parent that turns by alpha
about its point and moves by p_a', and F_b on the child by beta and p_b', the body moves by

    xi_a = (R_p alpha, R_p p_a'),  fixed in the parent,    xi_b = -(R beta, R p_b'),  fixed in the body,

each with the jet of a column at rest. Columns of the joint go with xi_a, and stay behind where xi_b moves the body. Of
a parameter of other numbers of a joint (a pitch) the rest of the residual is differenced, at the same state.

For trees without loops on which no other elements act, see ``touched``.
"""

from __future__ import annotations

from ..compiled.entry import entry
from ..compiled.fours import AT_ONCE, flat
from ..compiled.kernel import kernel
from ..compiled.kinds import fours, fours_matrix, integer_matrix, integers, matrix, vector
from ..compiled.record import Record
from ..nodes.forms import FORM_LIE
from ..nodes.markers import axis
from ..nodes.tree.dynamics import eliminate_again, inertia_wrench, wrench_with
from ..nodes.tree.jets import column_jets, shift_jet, wrench_along
from ..nodes.tree.own_block import own_correction
from ..nodes.tree.spatial import (
    add_motion_cross,
    add_shifted_force,
    add_six,
    clear_six,
    copy_six,
    crossed_power,
    dot_six,
    inertia_product,
    motion_cross,
    shift_motion,
    world_inertia,
)
from .instant import evaluate_functions
from .moved_along import TOGETHER, distance_along, passes, size_of_increment, weight_of
from .tables import Tables, Work, by_recursion, coordinates, tables_at, velocity, work_at
from .tree_instant import joint_load, joint_tension, tension_at, tree_dynamics, tree_frames
from .tree_matrix import all_jets


class TreeAlong(Record):
    """Jets of a tree along a direction, and what they start from."""

    rates = matrix  # (velocities, 18) jets of columns per unit of velocity, for balls
    bodies = matrix  # (nodes, 16) mass, inertia and first moment in world axes, and momentum
    jets = fours_matrix  # (nodes, 18) of bodies, along directions
    wrench = fours_matrix  # (nodes, 6) change of what joints carry
    motion = fours_matrix  # (nodes, 6) of bodies, where accelerations are solved for
    first = fours  # (6,) scratch
    second = fours
    carrier = vector  # (6,) scratch
    acceleration = vector
    slopes = matrix  # (loads, 2) derivatives of elements along the coordinates of joints
    beside = integers  # by parameter: whether it touches these or rotors, or functions may do so
    placed = integers  # by parameter: whether it changes joints otherwise than by moving them on their bodies
    moves = matrix  # (moved joints, 18): alpha, p_a', p_a in axes of the parent, -beta, -p_b', p_b in those of the body
    moved = integer_matrix  # by parameter and node: the row of its joint in these, or -1
    some_moved = integers  # by group: whether there are some
    left = matrix  # (moved joints, 6) xi_b, which the columns of the joint do not follow


@entry(Tables, Work, TreeAlong, coordinates, velocity, velocity, when=by_recursion)
def look_along_tree(s, w, g, q, v, vd):
    """Jets of columns, and motion, momenta and wrenches of bodies, from which directions start; w has frames of q."""
    y = w.tree
    all_jets(s, w, q, v, vd, w.eye, 0.0, 0.0, 1.0)
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        n, c, z = s.nodes[i], s.tree.carried[i], w.z[i]
        if c.ball != 0:
            shift_motion(y.twist[c.parent], w.z[c.parent], z, g.carrier)
            shift_motion(y.acceleration[c.parent], w.z[c.parent], z, g.acceleration)
            column_jets(
                n, c, q, v, vd, w.spin[i], w.eye[i], y.columns, y.balls[i], g.carrier, g.acceleration, 0.0, 1.0, 0.0,
                g.rates, y.scratch,
            )  # fmt: skip
        b, j = g.bodies[i], world_inertia(n, z)
        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8] = j
        b[9] = n.mass
        inertia_product(n.mass, j, y.twist[i], b[10:])
        wrench_with(n.mass, j, b[10:], y.twist[i], y.acceleration[i], s.gravity, y.inertial[i], y.scratch[0])
        copy_six(y.inertial[i], y.wrench[i])
    for m in range(s.tree.order.shape[0] - 1, -1, -1):
        i = s.tree.order[m]
        p = s.tree.carried[i].parent
        if p > 0:
            add_shifted_force(y.wrench[i], w.z[i], w.z[p], y.wrench[p])
    for m in range(s.tree.loads.shape[0]):
        f, g.slopes[m, 0], g.slopes[m, 1] = joint_tension(s, w, m, q, v, 1)


@kernel
def _displacement(m, o, z, d1, d2, d3, out):
    """A motion given by numbers o, ... of a row of ``moves`` in the axes of z, at d from the point of the joint."""
    r1, r2, r3 = axis(z, m[o], m[o + 1], m[o + 2])
    t1, t2, t3 = axis(z, m[o + 3], m[o + 4], m[o + 5])
    out[0], out[1], out[2] = r1, r2, r3
    out[3], out[4], out[5] = t1 + r2 * d3 - r3 * d2, t2 + r3 * d1 - r1 * d3, t3 + r1 * d2 - r2 * d1


@kernel
def _add_fixed_jet(xi, twist, acceleration, scratch, lane, x):
    """Add the jet of a motion that is fixed in a body to one lane."""
    first, second = scratch[0], scratch[1]
    motion_cross(twist, xi, first)
    motion_cross(twist, first, second)
    add_motion_cross(1.0, acceleration, xi, second)
    for m in range(6):
        x[AT_ONCE * m + lane] += xi[m]
        x[AT_ONCE * (6 + m) + lane] += first[m]
        x[AT_ONCE * (12 + m) + lane] += second[m]


@kernel
def _move_joint(s, w, g, i, row, lane):
    """What a parameter that moves the joint of a body adds to the jet of the body."""
    y, m, jet, p, z = w.tree, g.moves[row], flat(g.jets[i]), s.tree.carried[i].parent, w.z[i]
    zp, xi = w.z[p], g.left[row]
    o1, o2, o3 = axis(zp, m[6], m[7], m[8])
    _displacement(m, 0, zp, z[0] - zp[0] - o1, z[1] - zp[1] - o2, z[2] - zp[2] - o3, xi)
    shift_motion(y.twist[p], zp, z, g.carrier)
    shift_motion(y.acceleration[p], zp, z, g.acceleration)
    _add_fixed_jet(xi, g.carrier, g.acceleration, y.scratch, lane, jet)
    o1, o2, o3 = axis(z, m[15], m[16], m[17])
    _displacement(m, 9, z, -o1, -o2, -o3, xi)
    _add_fixed_jet(xi, y.twist[i], y.acceleration[i], y.scratch, lane, jet)


@kernel
def _move_bodies(s, w, g, first, end, some_moved, dq, dv, dvd):
    """Jets of all bodies along the direction and with a group of parameters, and the change of their own wrenches."""
    y = w.tree
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        n, c = s.nodes[i], s.tree.carried[i]
        x, zp, z = g.jets[i], w.z[c.parent], w.z[i]
        shift_jet(g.jets[c.parent], z[0] - zp[0], z[1] - zp[1], z[2] - zp[2], x)
        for k in range(n.v0, n.v0 + n.nv):
            a, b, e, u, s0 = dq[k], dv[k], dvd[k], y.jets[k], y.columns[k]
            if c.ball != 0:
                r = g.rates[k]
                for o in range(18):
                    x[o] += a * u[o] + b * r[o]
                for o in range(6):
                    x[12 + o] += e * s0[o]
                continue
            for o in range(6):
                x[o] += a * u[o]
                x[6 + o] += a * u[6 + o] + b * s0[o]
                x[12 + o] += a * u[12 + o] + 2.0 * b * u[6 + o] + e * s0[o]
        if some_moved != 0:
            for k in range(first, end):
                if g.moved[k, i] >= 0:
                    _move_joint(s, w, g, i, g.moved[k, i], k - first)
        wrench_along(g.bodies[i], y.twist[i], y.inertial[i], s.gravity, x, g.wrench[i], g.first, g.second)


@kernel
def _touched_bodies(s, w, a, i):
    """Change of the wrenches of bodies whose inertia or weight the parameter touches, where they are."""
    y, g, lane, falls = w.tree, a.tree, i % AT_ONCE, a.falls[i]
    f, fall = y.scratch[2], y.scratch[0]
    for k in range(a.first_node[i], a.first_node[i + 1]):
        j = a.nodes[k]
        n, z, change = s.nodes[j], w.z[j], flat(g.wrench[j])
        inertia_wrench(a.slopes[k], z, y.twist[j], y.acceleration[j], s.gravity, f, y.scratch)
        for m in range(6):
            change[AT_ONCE * m + lane] += f[m]
        if falls[0] != 0.0 or falls[1] != 0.0 or falls[2] != 0.0:
            for m in range(3):
                fall[m], fall[3 + m] = 0.0, -falls[m]
            inertia_product(n.mass, world_inertia(n, z), fall, f)
            for m in range(6):
                change[AT_ONCE * m + lane] += f[m]


@kernel
def _touched_loads(s, a, i, q, v, dq, dv, x):
    """Change of what springs and motors on joints that the parameter touches add to the rows.

    With the parameter they move along the direction, in the place of what they are along it alone: where both shift the
    coordinate of a joint (its ``zero``), the error of a difference would be that of an element stretched by as much.
    """
    h, e, lane, rows, g = 0.5 / a.size[i], a.size[i], i % AT_ONCE, flat(x), a.tree
    more, less = tables_at(a.tables[2 * i]), tables_at(a.tables[2 * i + 1])
    plus, minus = work_at(a.works[2 * i]), work_at(a.works[2 * i + 1])
    if s.tree.loads.shape[0] > 0:
        evaluate_functions(more, plus, a.time[0])
        evaluate_functions(less, minus, a.time[0])
    along, rates = flat(dq), flat(dv)
    for m in range(s.tree.loads.shape[0]):  # loads are much larger than differences of them
        k = s.tree.loads[m, 1]
        u, rate, du, dr = q[s.tree.loads[m, 2]], v[k], along[AT_ONCE * k + lane], rates[AT_ONCE * k + lane]
        change = -g.slopes[m, 0] * du - g.slopes[m, 1] * dr
        d = distance_along(size_of_increment(s, k, du, abs(u)), e, TOGETHER)
        for _ in range(passes(d, e)):
            far, f1, f2 = tension_at(more, plus, m, u + d * du, rate + d * dr, 0)
            near, f1, f2 = tension_at(less, minus, m, u - d * du, rate - d * dr, 0)
            change += weight_of(d, e) * (far - near)
            d = -d
        if g.placed[i] != 0:  # the residual has these at the same state
            change -= h * (joint_load(more, plus, m, q, v) - joint_load(less, minus, m, q, v))
        rows[AT_ONCE * s.xv[k] + lane] += change


@kernel
def _touched_rotors(s, a, i, vd, x):
    """Change of the inertia of rotors."""
    h, lane, rows = 0.5 / a.size[i], i % AT_ONCE, flat(x)
    more, less = tables_at(a.tables[2 * i]), tables_at(a.tables[2 * i + 1])
    for k in range(s.tree.inertia.shape[0]):
        rows[AT_ONCE * s.xv[k] + lane] += h * (more.tree.inertia[k] - less.tree.inertia[k]) * vd[k]


@kernel
def _placed(s, a, i, q, v, vd, x):
    """A parameter that changes joints otherwise: the whole residual at the same state."""
    c, lane, rows = 0.5 / a.size[i], i % AT_ONCE, flat(x)
    for side in range(2):
        t, moved = tables_at(a.tables[2 * i + side]), work_at(a.works[2 * i + side])
        evaluate_functions(t, moved, a.time[0])
        tree_frames(t, moved, q)
        tree_dynamics(t, moved, q, v, vd, a.lam, a.plus if side == 0 else a.minus)
    for k in range(s.xv.shape[0]):
        j = s.xv[k]
        rows[AT_ONCE * j + lane] += c * (a.plus[j] - a.minus[j])


@kernel
def _leave_columns(s, w, g, i, row, lane, x):
    """Columns of the joint of a body do not follow where a parameter moves the joint on the body."""
    n, y, rows = s.nodes[i], w.tree, flat(x)
    for j in range(n.v0, n.v0 + n.nv):
        rows[AT_ONCE * s.xv[j] + lane] -= crossed_power(g.left[row], y.columns[j], y.wrench[i])


@kernel
def _joint_forces(s, g, dq, dv, x):
    """Elements along the coordinates of joints, along the directions."""
    for m in range(s.tree.loads.shape[0]):
        k = s.tree.loads[m, 1]
        x[s.xv[k]] += g.slopes[m, 0] * dq[k] + g.slopes[m, 1] * dv[k]


@kernel
def tree_rows_along(s, w, a, group, q, v, vd, dq, dv, dvd, x):
    """x: derivative of the dynamic rows along directions and a group of parameters.

    w is where ``look_along_tree`` was.
    """
    y, g = w.tree, a.tree
    first, end = AT_ONCE * group, min(AT_ONCE * (group + 1), a.size.shape[0])
    _move_bodies(s, w, g, first, end, g.some_moved[group], dq, dv, dvd)
    for i in range(first, end):
        if a.exact[i] != 0 and g.placed[i] == 0:
            _touched_bodies(s, w, a, i)
    for m in range(s.tree.order.shape[0] - 1, -1, -1):
        k = s.tree.order[m]
        n, c = s.nodes[k], s.tree.carried[k]
        f, df, xi = y.wrench[k], g.wrench[k], g.jets[k]
        for j in range(n.v0, n.v0 + n.nv):
            value = dot_six(y.columns[j], df) + crossed_power(xi, y.columns[j], f) + s.tree.inertia[j] * dvd[j]
            if n.nv > 1 and (c.motions > 0 or n.form != FORM_LIE):
                for o in range(n.v0, n.v0 + n.nv):
                    value += dq[o] * own_correction(
                        n, c, q, w.spin[k], y.columns, y.balls[k], f, 1.0, j, o, y.scratch
                    )  # fmt: skip
            x[s.xv[j]] = value
        if g.some_moved[group] != 0:
            for i in range(first, end):
                if g.moved[i, k] >= 0:
                    _leave_columns(s, w, g, k, g.moved[i, k], i - first, x)
        if c.parent > 0:
            add_shifted_force(df, w.z[k], w.z[c.parent], g.wrench[c.parent])
    _joint_forces(s, g, dq, dv, x)
    for i in range(first, end):
        if a.exact[i] != 0 and g.placed[i] != 0:
            _placed(s, a, i, q, v, vd, x)
        elif a.exact[i] != 0 and g.beside[i] != 0:
            _touched_rotors(s, a, i, vd, x)
        if a.exact[i] != 0 and g.beside[i] != 0:
            _touched_loads(s, a, i, q, v, dq, dv, x)


@entry(Tables, Work, TreeAlong, fours, fours, when=by_recursion)
def articulated_solution(s, w, g, x, out):
    """out = -M^-1 x with what ``articulated_accelerations`` left in w."""
    y = w.tree
    for m in range(s.tree.order.shape[0]):
        clear_six(g.wrench[s.tree.order[m]])
    for m in range(s.tree.order.shape[0] - 1, -1, -1):
        i = s.tree.order[m]
        n, p, f = s.nodes[i], s.tree.carried[i].parent, g.wrench[i]
        for k in range(n.v0, n.v0 + n.nv):
            out[k] = eliminate_again(y.columns[k], -x[s.xv[k]], f, y.projected[k], y.pivots[k])
        if p > 0:
            add_shifted_force(f, w.z[i], w.z[p], g.wrench[p])
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        n, p = s.nodes[i], s.tree.carried[i].parent
        a = g.motion[i]
        if p > 0:
            shift_motion(g.motion[p], w.z[p], w.z[i], a)
        else:
            clear_six(a)
        for k in range(n.v0 + n.nv - 1, n.v0 - 1, -1):
            out[k] -= y.pivots[k, 0] * dot_six(y.projected[k], a)
            add_six(out[k], y.columns[k], a)
