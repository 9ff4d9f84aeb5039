"""Motion along a tree: frames, columns of motion, velocities and accelerations, from parents to children.

A joint leads from its frame F_a, p_a on the parent to its frame F_b, p_b on the child by elementary motions, each about
or along an axis of the moving frame, and possibly a ball:

    R = R_p F_a E(q) F_b^T,   r = r_p + R_p (p_a + F_a d(q)) - R p_b

A column S is the motion of the child per unit of its velocity. It is fixed in its *carrier*, which is the parent moved
by the motions before it; the columns of a ball are fixed in the child. With velocity V and acceleration A of carriers

    V += S v,   A += S v_dot + (V x S) v

so that no derivative of a rotation is ever needed.
"""

from __future__ import annotations

import math

from ...compiled.kernel import kernel
from ...math.quaternions import g_times
from ..forms import FORM_LIE, FORM_QUATERNION, FORM_SPIN
from ..frames import node_frame
from ..markers import axis
from ..spin import spin_derivative, spin_matrix
from .records import SCREW, SLIDE_1, SLIDE_2, TURN
from .spatial import add_motion_cross, clear_six, shift_motion


@kernel
def motion_kind(c, m):
    """Kind of the m-th motion of a joint."""
    return c.kind1 if m == 0 else (c.kind2 if m == 1 else c.kind3)


@kernel
def motion_column(n, c, m):
    """Velocity of the m-th motion of a joint."""
    return n.v0 + (c.column1 if m == 0 else (c.column2 if m == 1 else c.column3))


@kernel
def _combine(x, y, w1, w2, w3, z):
    return w1 * x + w2 * y + w3 * z


@kernel(forceinline=True)
def place(n, c, q, e, zp, z, columns, ball):
    """Frame z of a child on its parent zp, and its columns; e is the frame of its ball."""
    # axes u, v, w of the frame of the joint, and its origin x
    u1, u2, u3 = axis(zp, c.a11, c.a21, c.a31)
    v1, v2, v3 = axis(zp, c.a12, c.a22, c.a32)
    w1, w2, w3 = axis(zp, c.a13, c.a23, c.a33)
    x1, x2, x3 = axis(zp, c.pa1, c.pa2, c.pa3)
    x1, x2, x3 = x1 + zp[0], x2 + zp[1], x3 + zp[2]
    for m in range(c.motions):
        kind = motion_kind(c, m)
        k = motion_column(n, c, m)
        y = c.sign * q[n.q0 + k - n.v0]
        s = columns[k]
        if kind == TURN or kind == SCREW:
            s[0], s[1], s[2] = c.sign * w1, c.sign * w2, c.sign * w3
            s[3], s[4], s[5] = x1, x2, x3  # the column is finished when the child is known
            co, si = math.cos(y), math.sin(y)
            u1, v1 = co * u1 + si * v1, co * v1 - si * u1
            u2, v2 = co * u2 + si * v2, co * v2 - si * u2
            u3, v3 = co * u3 + si * v3, co * v3 - si * u3
            if kind == SCREW:
                y *= c.pitch
                x1, x2, x3 = x1 + y * w1, x2 + y * w2, x3 + y * w3
        else:
            d1, d2, d3 = w1, w2, w3
            if kind == SLIDE_1:
                d1, d2, d3 = u1, u2, u3
            elif kind == SLIDE_2:
                d1, d2, d3 = v1, v2, v3
            s[0], s[1], s[2] = 0.0, 0.0, 0.0
            s[3], s[4], s[5] = c.sign * d1, c.sign * d2, c.sign * d3
            x1, x2, x3 = x1 + y * d1, x2 + y * d2, x3 + y * d3
        if m == 0 and c.turned != 0:
            u1, v1, w1 = (
                _combine(u1, v1, c.c11, c.c21, c.c31, w1),
                _combine(u1, v1, c.c12, c.c22, c.c32, w1),
                _combine(u1, v1, c.c13, c.c23, c.c33, w1),
            )
            u2, v2, w2 = (
                _combine(u2, v2, c.c11, c.c21, c.c31, w2),
                _combine(u2, v2, c.c12, c.c22, c.c32, w2),
                _combine(u2, v2, c.c13, c.c23, c.c33, w2),
            )
            u3, v3, w3 = (
                _combine(u3, v3, c.c11, c.c21, c.c31, w3),
                _combine(u3, v3, c.c12, c.c22, c.c32, w3),
                _combine(u3, v3, c.c13, c.c23, c.c33, w3),
            )
    if c.ball != 0:
        u1, v1, w1 = (
            _combine(u1, v1, e[3], e[4], e[5], w1),
            _combine(u1, v1, e[6], e[7], e[8], w1),
            _combine(u1, v1, e[9], e[10], e[11], w1),
        )
        u2, v2, w2 = (
            _combine(u2, v2, e[3], e[4], e[5], w2),
            _combine(u2, v2, e[6], e[7], e[8], w2),
            _combine(u2, v2, e[9], e[10], e[11], w2),
        )
        u3, v3, w3 = (
            _combine(u3, v3, e[3], e[4], e[5], w3),
            _combine(u3, v3, e[6], e[7], e[8], w3),
            _combine(u3, v3, e[9], e[10], e[11], w3),
        )
    # axes of the child: (u v w) F_b^T
    z[3] = _combine(u1, v1, c.b11, c.b12, c.b13, w1)
    z[4] = _combine(u2, v2, c.b11, c.b12, c.b13, w2)
    z[5] = _combine(u3, v3, c.b11, c.b12, c.b13, w3)
    z[6] = _combine(u1, v1, c.b21, c.b22, c.b23, w1)
    z[7] = _combine(u2, v2, c.b21, c.b22, c.b23, w2)
    z[8] = _combine(u3, v3, c.b21, c.b22, c.b23, w3)
    z[9] = _combine(u1, v1, c.b31, c.b32, c.b33, w1)
    z[10] = _combine(u2, v2, c.b31, c.b32, c.b33, w2)
    z[11] = _combine(u3, v3, c.b31, c.b32, c.b33, w3)
    o1, o2, o3 = axis(z, c.pb1, c.pb2, c.pb3)
    z[0], z[1], z[2] = x1 - o1, x2 - o2, x3 - o3
    for m in range(c.motions):
        kind = motion_kind(c, m)
        if kind == TURN or kind == SCREW:
            s = columns[motion_column(n, c, m)]
            d1, d2, d3 = z[0] - s[3], z[1] - s[4], z[2] - s[5]
            s[3], s[4], s[5] = s[1] * d3 - s[2] * d2, s[2] * d1 - s[0] * d3, s[0] * d2 - s[1] * d1
            if kind == SCREW:
                s[3], s[4], s[5] = s[3] + c.pitch * s[0], s[4] + c.pitch * s[1], s[5] + c.pitch * s[2]
    if c.ball != 0:
        _ball_axis(u1, u2, u3, o1, o2, o3, ball)
        _ball_axis(v1, v2, v3, o1, o2, o3, ball[6:])
        _ball_axis(w1, w2, w3, o1, o2, o3, ball[12:])


@kernel
def quaternion_square(n, q):
    """|e|^2 of the quaternion of a ball."""
    j = n.q0 + n.nx
    return q[j] * q[j] + q[j + 1] * q[j + 1] + q[j + 2] * q[j + 2] + q[j + 3] * q[j + 3]


@kernel
def ball_frame(n, q, e):
    """Frame of a ball; of a quaternion R(e) / |e|^2, so that it is a rotation while an iteration is under way."""
    node_frame(n, q, e)
    if n.form == FORM_QUATERNION:
        c = 1.0 / quaternion_square(n, q)
        for m in range(3, 12):
            e[m] *= c


@kernel
def _ball_axis(a1, a2, a3, o1, o2, o3, s):
    """Motion about an axis through the centre of a ball, which is at o from the reference point."""
    s[0], s[1], s[2] = a1, a2, a3
    s[3], s[4], s[5] = a3 * o2 - a2 * o3, a1 * o3 - a3 * o1, a2 * o1 - a1 * o2


@kernel
def ball_rate(n, q, g, k, u):
    """Angular velocity of a ball, in axes of its frame on the child, for velocities u of its parameters."""
    if n.form == FORM_LIE:
        return u[k], u[k + 1], u[k + 2]
    if n.form == FORM_SPIN:
        x1, x2, x3 = u[k], u[k + 1], u[k + 2]
        return (
            g[0] * x1 + g[1] * x2 + g[2] * x3,
            g[3] * x1 + g[4] * x2 + g[5] * x3,
            g[6] * x1 + g[7] * x2 + g[8] * x3,
        )
    j = n.q0 + n.nx
    c = 2.0 / quaternion_square(n, q)
    w1, w2, w3 = g_times(q[j], q[j + 1], q[j + 2], q[j + 3], u[k], u[k + 1], u[k + 2], u[k + 3])
    return c * w1, c * w2, c * w3


@kernel
def ball_bias(n, q, v, g, scratch):
    """Angular acceleration of a ball at zero acceleration of its parameters.

    DG[rho_dot] rho_dot of three parameters; -2 omega (e . e_dot) / |e|^2 of a quaternion, whose length may change.
    """
    if n.form == FORM_LIE:
        return 0.0, 0.0, 0.0
    k = n.v0 + n.nx
    if n.form == FORM_QUATERNION:
        j = n.q0 + n.nx
        c = -2.0 * (q[j] * v[k] + q[j + 1] * v[k + 1] + q[j + 2] * v[k + 2] + q[j + 3] * v[k + 3])
        c /= quaternion_square(n, q)
        w1, w2, w3 = ball_rate(n, q, g, k, v)
        return c * w1, c * w2, c * w3
    u, out = scratch[0], scratch[1]
    u[0], u[1], u[2] = v[k], v[k + 1], v[k + 2]
    spin_derivative(n, q, g, u, u, scratch[2], out)
    return out[0], out[1], out[2]


@kernel
def ball_columns(n, q, g, ball, columns):
    """Columns of a ball for the velocities of its parameters, from those for its angular velocity."""
    k = n.v0 + n.nx
    j = n.q0 + n.nx
    for i in range(n.nv - n.nx):
        if n.form == FORM_LIE:
            w1, w2, w3 = 1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0
        elif n.form == FORM_SPIN:
            w1, w2, w3 = g[i], g[3 + i], g[6 + i]
        else:
            c = 2.0 / quaternion_square(n, q)
            x0, x1, x2, x3 = c if i == 0 else 0.0, c if i == 1 else 0.0, c if i == 2 else 0.0, c if i == 3 else 0.0
            w1, w2, w3 = g_times(q[j], q[j + 1], q[j + 2], q[j + 3], x0, x1, x2, x3)
        s = columns[k + i]
        for m in range(6):
            s[m] = ball[m] * w1 + ball[6 + m] * w2 + ball[12 + m] * w3


@kernel
def place_carried(n, c, q, zp, z, spin, columns, ball, scratch):
    """Frame and columns of a child whose coordinates are in q."""
    e = scratch[0]
    if c.ball != 0:
        ball_frame(n, q, e)
        if n.form == FORM_SPIN:
            spin_matrix(n, q, spin)
    place(n, c, q, e, zp, z, columns, ball)
    if c.ball != 0:
        ball_columns(n, q, spin, ball, columns)


@kernel(forceinline=True)
def add_joint_velocity(n, c, q, v, spin, columns, ball, carrier, acceleration, scratch):
    """Take a carrier's velocity from the parent to the child; its acceleration too, at zero joint acceleration."""
    for m in range(c.motions):
        k = motion_column(n, c, m)
        s, u = columns[k], v[k]
        add_motion_cross(u, carrier, s, acceleration)
        for i in range(6):
            carrier[i] += s[i] * u
    if c.ball != 0:
        w1, w2, w3 = ball_rate(n, q, spin, n.v0 + n.nx, v)
        b1, b2, b3 = ball_bias(n, q, v, spin, scratch)
        y = scratch[3]
        for i in range(6):
            y[i] = ball[i] * w1 + ball[6 + i] * w2 + ball[12 + i] * w3
        add_motion_cross(1.0, carrier, y, acceleration)
        for i in range(6):
            carrier[i] += y[i]
            acceleration[i] += ball[i] * b1 + ball[6 + i] * b2 + ball[12 + i] * b3


@kernel(forceinline=True)
def add_columns(n, columns, x, out):
    """out += S x with the columns of a joint."""
    for k in range(n.v0, n.v0 + n.nv):
        u, s = x[k], columns[k]
        for i in range(6):
            out[i] += s[i] * u


@kernel(forceinline=True)
def move_child(n, c, q, v, spin, zp, z, columns, ball, vp, twist, bias, scratch):
    """Velocity of a child, and the acceleration that velocities alone give it beside the parent's."""
    shift_motion(vp, zp, z, twist)
    clear_six(bias)
    add_joint_velocity(n, c, q, v, spin, columns, ball, twist, bias, scratch)


@kernel(forceinline=True)
def frame_rates(z, x, zd):
    """Velocity of a frame from that of its body."""
    w1, w2, w3 = x[0], x[1], x[2]
    zd[0], zd[1], zd[2] = x[3], x[4], x[5]
    for m in range(3, 12, 3):
        d1, d2, d3 = z[m], z[m + 1], z[m + 2]
        zd[m], zd[m + 1], zd[m + 2] = w2 * d3 - w3 * d2, w3 * d1 - w1 * d3, w1 * d2 - w2 * d1


@kernel(forceinline=True)
def frame_accelerations(z, x, a, zdd):
    """Acceleration of a frame from velocity x and spatial acceleration a of its body."""
    w1, w2, w3, v1, v2, v3 = x[0], x[1], x[2], x[3], x[4], x[5]
    a1, a2, a3 = a[0], a[1], a[2]
    zdd[0] = a[3] + w2 * v3 - w3 * v2
    zdd[1] = a[4] + w3 * v1 - w1 * v3
    zdd[2] = a[5] + w1 * v2 - w2 * v1
    for m in range(3, 12, 3):
        d1, d2, d3 = z[m], z[m + 1], z[m + 2]
        y1, y2, y3 = w2 * d3 - w3 * d2, w3 * d1 - w1 * d3, w1 * d2 - w2 * d1
        zdd[m] = a2 * d3 - a3 * d2 + w2 * y3 - w3 * y2
        zdd[m + 1] = a3 * d1 - a1 * d3 + w3 * y1 - w1 * y3
        zdd[m + 2] = a1 * d2 - a2 * d1 + w1 * y2 - w2 * y1
