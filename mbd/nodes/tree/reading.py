"""Joint coordinates read off the poses of bodies, at all records: the inverse of ``motion``.

Between the frames of a joint on its first and its second body, with axes (u, v, w) and origin, a turn is the angle of
the second u about the first w, a slide is a component of the way between the origins, seen from the first frame, and a
ball is the rotation of the child's frame as seen from the parent's. Rates are those of the relative twist.
"""

from __future__ import annotations

import math

from ...compiled.kernel import kernel
from ...math.arctangent import angle_of
from ...math.quaternions import axes_to_quaternion
from ..conversion import (
    body_motion,
    convert_body,
    copy_node,
    in_axes,
    inverse_inertias,
    turns_to,
    write_axes,
    write_quaternion,
)
from ..forms import FORM_DIRECTORS, FORM_GENERALIZED, FORM_POINT
from ..frames import node_frame
from ..markers import axis
from .motion import motion_column, motion_kind
from .records import SCREW, SLIDE_1, SLIDE_2, TURN

JOINT_TURNS = 2  # of ``turning``: a joint with an angle carries the node; of its parent alone 1


@kernel(forceinline=True)
def _axes_on_parent(c, z, out):
    """Axes of the frame of a joint on the parent, in the world."""
    out[3], out[4], out[5] = axis(z, c.a11, c.a21, c.a31)
    out[6], out[7], out[8] = axis(z, c.a12, c.a22, c.a32)
    out[9], out[10], out[11] = axis(z, c.a13, c.a23, c.a33)


@kernel(forceinline=True)
def _axes_on_child(c, z, out):
    """Axes of the frame of a joint on the child, in the world."""
    out[3], out[4], out[5] = axis(z, c.b11, c.b21, c.b31)
    out[6], out[7], out[8] = axis(z, c.b12, c.b22, c.b32)
    out[9], out[10], out[11] = axis(z, c.b13, c.b23, c.b33)


@kernel(forceinline=True)
def _along(z, k, x1, x2, x3):
    """Component along the k-th axis of a frame."""
    return z[3 * k] * x1 + z[3 * k + 1] * x2 + z[3 * k + 2] * x3


@kernel(forceinline=True)
def _cosine(za, i, zb, j):
    """Cosine of the angle between an axis of one frame and one of another."""
    return _along(za, i, zb[3 * j], zb[3 * j + 1], zb[3 * j + 2])


@kernel(forceinline=True)
def _origin_motion(z, twist, p1, p2, p3):
    """Place and velocity of a point of a body."""
    x1, x2, x3 = axis(z, p1, p2, p3)
    w1, w2, w3 = twist[0], twist[1], twist[2]
    u1, u2, u3 = w2 * x3 - w3 * x2, w3 * x1 - w1 * x3, w1 * x2 - w2 * x1
    return z[0] + x1, z[1] + x2, z[2] + x3, twist[3] + u1, twist[4] + u2, twist[5] + u3


@kernel(forceinline=True)
def _turn(n, c, k, first, second):
    """Sine and cosine of the angle whose velocity is the k-th, between the frames of a joint on its two bodies."""
    if c.turned == 0:
        return _cosine(first, 2, second, 1), _cosine(first, 1, second, 1)
    if k == n.v0:  # the first normal of each frame is the other cross axis
        return _cosine(first, 2, second, 3), _cosine(first, 1, second, 3)
    return -_cosine(first, 3, second, 2), _cosine(first, 3, second, 1)


@kernel(forceinline=True)
def _read_slides(n, c, zp, tp, z, t, first, q, v):
    """Displacements: the way d from the first origin to the second, and d_dot - omega_1 x d, in the first frame."""
    a1, a2, a3, da1, da2, da3 = _origin_motion(zp, tp, c.pa1, c.pa2, c.pa3)
    b1, b2, b3, db1, db2, db3 = _origin_motion(z, t, c.pb1, c.pb2, c.pb3)
    d1, d2, d3 = c.sign * (b1 - a1), c.sign * (b2 - a2), c.sign * (b3 - a3)
    w = tp if c.sign > 0.0 else t
    u1 = c.sign * (db1 - da1) - (w[1] * d3 - w[2] * d2)
    u2 = c.sign * (db2 - da2) - (w[2] * d1 - w[0] * d3)
    u3 = c.sign * (db3 - da3) - (w[0] * d2 - w[1] * d1)
    for m in range(c.motions):
        kind = motion_kind(c, m)
        if kind != TURN and kind != SCREW:
            k = motion_column(n, c, m)
            e = 1 if kind == SLIDE_1 else (2 if kind == SLIDE_2 else 3)
            q[n.q0 + k - n.v0], v[k] = _along(first, e, d1, d2, d3), _along(first, e, u1, u2, u3)


@kernel(forceinline=True)
def _read_ball(n, parent, child, r1, r2, r3, near, q, v, g, scratch):
    """The rotation of the child's frame as seen from the parent's, and the relative spin in axes of the child's."""
    w1, w2, w3 = _along(child, 1, r1, r2, r3), _along(child, 2, r1, r2, r3), _along(child, 3, r1, r2, r3)
    z = scratch[3]
    for j in range(3):
        for i in range(3):
            z[3 + 3 * j + i] = _cosine(parent, 1 + i, child, 1 + j)
    if in_axes(n):
        return write_axes(n, z, w1, w2, w3, near, q, v, scratch[4])
    e0, e1, e2, e3 = axes_to_quaternion(z)
    return write_quaternion(n, e0, e1, e2, e3, w1, w2, w3, near, q, v, g)


@kernel(forceinline=True)
def read_joint(n, c, zp, tp, z, t, near, q, v, g, scratch):
    """Coordinates and rates of a joint between frames and twists (omega, r_dot) of its bodies; 1 in gimbal lock."""
    parent, child = scratch[6], scratch[7]
    _axes_on_parent(c, zp, parent)
    _axes_on_child(c, z, child)
    first, second = (parent, child) if c.sign > 0.0 else (child, parent)
    r1, r2, r3 = t[0] - tp[0], t[1] - tp[1], t[2] - tp[2]
    turns = 0
    for m in range(c.motions):
        kind = motion_kind(c, m)
        if kind == TURN or kind == SCREW:
            turns += 1
            k = motion_column(n, c, m)
            j = n.q0 + k - n.v0
            sine, cosine = _turn(n, c, k, first, second)
            about = second if c.turned != 0 and k != n.v0 else first
            angle = angle_of(sine, cosine)
            q[j] = angle + turns_to(angle, near[j])
            v[k] = c.sign * _along(about, 3, r1, r2, r3)
    if turns < c.motions:
        _read_slides(n, c, zp, tp, z, t, first, q, v)
    if c.ball == 0:
        return 0
    return _read_ball(n, parent, child, r1, r2, r3, near, q, v, g, scratch)


@kernel(forceinline=True)
def _convert_row(nodes, targets, carried, joined, x, r, before, y, u, z, twist, inverses, g, scratch):
    """One state; the node whose Euler angles are in gimbal lock, or 0."""
    for i in range(1, nodes.shape[0]):
        n, m = nodes[i], targets[i]
        if n.form == FORM_POINT or n.form == FORM_GENERALIZED:
            copy_node(n, m, x, r, y, u)
            continue
        u1, u2, u3, w1, w2, w3 = body_motion(n, x, r, inverses[i], g, z[i], scratch)
        if n.form != FORM_DIRECTORS:
            node_frame(n, x, z[i])
        elif n.nx == 3:
            z[i, 0], z[i, 1], z[i, 2] = x[n.q0], x[n.q0 + 1], x[n.q0 + 2]
        twist[i, 0], twist[i, 1], twist[i, 2] = axis(z[i], w1, w2, w3)
        twist[i, 3], twist[i, 4], twist[i, 5] = u1, u2, u3
        if joined[i] == 0:
            if n.form == m.form and n.kind == m.kind:
                copy_node(n, m, x, r, y, u)
            elif convert_body(n, m, x, r, inverses[i], before, y, u, g, scratch) != 0:
                return i
    for i in range(1, nodes.shape[0]):
        if joined[i] != 0:
            c = carried[i]
            p = c.parent
            if read_joint(targets[i], c, z[p], twist[p], z[i], twist[i], before, y, u, g, scratch) != 0:
                return i
    return 0


@kernel
def convert_to_joints(nodes, targets, carried, joined, q, v, near, out_q, out_v, z, twist, inverses, g, scratch):
    """Rows of a model in joint coordinates, for those of its bodies on nodes of their own; see ``convert``.

    ``joined`` says by node whether a joint carries it; z and twist are scratch, whose fixed parts are set, and so are
    the last three.
    """
    inverse_inertias(nodes, inverses)
    for row in range(q.shape[0]):
        before = near if row == 0 else out_q[row - 1]
        x, r, y, u = q[row], v[row], out_q[row], out_v[row]
        locked = _convert_row(nodes, targets, carried, joined, x, r, before, y, u, z, twist, inverses, g, scratch)
        if locked != 0:
            return row, locked
    return -1, 0


# --- records that are several steps apart -----------------------------------------------------------------------------


@kernel
def _follow_turns(nodes, targets, carried, turning, x, near, sides, z, scratch):
    """Joint angles near those of one more state: ``near`` changes where an angle has left the half turn about it.

    Rows of ``sides`` are cosine and sine of the angle in ``near``, and of that of the state before. As from record to
    record, an angle turns by less than half a turn from a state to the next.
    """
    parent, child = scratch[6], scratch[7]
    for i in range(1, nodes.shape[0]):
        if turning[i] != 0:
            node_frame(nodes[i], x, z[i])
    for i in range(1, nodes.shape[0]):
        if turning[i] != JOINT_TURNS:
            continue
        n, c = targets[i], carried[i]
        _axes_on_parent(c, z[c.parent], parent)
        _axes_on_child(c, z[i], child)
        first, second = (parent, child) if c.sign > 0.0 else (child, parent)
        for m in range(c.motions):
            kind = motion_kind(c, m)
            if kind == TURN or kind == SCREW:
                k = motion_column(n, c, m)
                j = n.q0 + k - n.v0
                sine, cosine = _turn(n, c, k, first, second)
                side = sides[j]
                if not cosine * side[0] + sine * side[1] > 0.0:
                    before, angle = angle_of(side[3], side[2]), angle_of(sine, cosine)
                    before += turns_to(before, near[j])
                    near[j] = angle + turns_to(angle, before)
                    side[0], side[1] = cosine, sine
                side[2], side[3] = cosine, sine


@kernel
def convert_some_to_joints(
    nodes, targets, carried, joined, turning, first, every, q, v, near, sides, out_q, out_v, z, twist, inverses, g,
    scratch,
):  # fmt: skip
    """Convert the ``first`` and every ``every``-th row after it, of successive states; joint angles follow all of them.

    ``near`` becomes joint angles of the last state and the rest of the last record, and ``sides`` (one row per
    coordinate) is scratch. Of other coordinates no more than signs of quaternions may depend on the record before.
    ``turning`` is JOINT_TURNS where a joint with an angle carries a node, and not zero for the parents of these.
    """
    inverse_inertias(nodes, inverses)
    for j in range(near.shape[0]):
        sides[j, 0], sides[j, 1] = math.cos(near[j]), math.sin(near[j])
        sides[j, 2], sides[j, 3] = sides[j, 0], sides[j, 1]
    record = 0
    for row in range(q.shape[0]):
        _follow_turns(nodes, targets, carried, turning, q[row], near, sides, z, scratch)
        if row == first + record * every:
            x, r, y, u = q[row], v[row], out_q[record], out_v[record]
            _convert_row(nodes, targets, carried, joined, x, r, near, y, u, z, twist, inverses, g, scratch)
            record += 1
            for i in range(1, nodes.shape[0]):  # signs of quaternions go on from here
                if turning[i] != JOINT_TURNS:
                    for j in range(targets[i].q0, targets[i].q0 + targets[i].nq):
                        near[j] = y[j]
    for i in range(1, nodes.shape[0]):
        if turning[i] == JOINT_TURNS:
            n, c = targets[i], carried[i]
            for m in range(c.motions):
                kind = motion_kind(c, m)
                if kind == TURN or kind == SCREW:
                    j = n.q0 + motion_column(n, c, m) - n.v0
                    angle = angle_of(sides[j, 3], sides[j, 2])
                    near[j] = angle + turns_to(angle, near[j])
