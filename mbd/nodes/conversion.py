"""The same bodies on other nodes: poses and velocities of rigid bodies, at all records.

Methods that are written for certain coordinates step bodies there and ``convert`` what they record
(``mbd.integrators.converted``). A rotation passes from node to node as a quaternion or as axes, whichever is nearer to
both; nodes of the same kind are copied.
"""

from __future__ import annotations

import math

from ..compiled.kernel import kernel
from ..math.quaternions import axes_to_quaternion, g_times, multiply_quaternions, quaternion_axes
from ..math.so3 import exp_quaternion, log_quaternion
from .forms import FORM_DIRECTORS, FORM_LIE, FORM_QUATERNION, FORM_SPIN
from .frames import body_rates, node_frame, spin_axes
from .kinds import DIRECTORS, EULER_ANGLES, QUATERNION
from .markers import axis, body_components
from .mass import central_inertia, frame_inertia
from .spin import euler_sines, euler_spin_matrix, spin_determinant, spin_matrix
from .update import CHART_LIMIT, solve_spin

TURN = 2.0 * math.pi
POLAR_ITERATIONS = 10  # the fourth is exact to round-off for axes that are off by a tenth
ORTHONORMAL = 1e-8  # of the products of axes before an iteration that squares the error
LINE = 1e-12  # determinant of an inertia relative to the product of its diagonal that counts as zero


@kernel
def body_spin(z, zd):
    """Body angular velocity of axes: the antisymmetric part of R^T R_dot."""
    x1, x2, x3 = 0.0, 0.0, 0.0
    for m in range(3):
        x1 += z[9 + m] * zd[6 + m] - z[6 + m] * zd[9 + m]
        x2 += z[3 + m] * zd[9 + m] - z[9 + m] * zd[3 + m]
        x3 += z[6 + m] * zd[3 + m] - z[3 + m] * zd[6 + m]
    return 0.5 * x1, 0.5 * x2, 0.5 * x3


@kernel
def _spin_of_momentum(n, y1, y2, y3, z, zd):
    """Body angular velocity J^-1 y about the centre of mass; that of the axes of a line, about which J is singular."""
    a11, a12, a13 = central_inertia(n, 1.0, 0.0, 0.0)
    b12, a22, a23 = central_inertia(n, 0.0, 1.0, 0.0)
    b13, b23, a33 = central_inertia(n, 0.0, 0.0, 1.0)
    c11, c12, c13 = a22 * a33 - a23 * a23, a13 * a23 - a12 * a33, a12 * a23 - a13 * a22
    c22, c23, c33 = a11 * a33 - a13 * a13, a12 * a13 - a11 * a23, a11 * a22 - a12 * a12
    determinant, trace = a11 * c11 + a12 * c12 + a13 * c13, a11 + a22 + a33
    if not determinant > LINE * trace * trace * trace:
        return body_spin(z, zd)
    d = 1.0 / determinant
    return (
        d * (c11 * y1 + c12 * y2 + c13 * y3),
        d * (c12 * y1 + c22 * y2 + c23 * y3),
        d * (c13 * y1 + c23 * y2 + c33 * y3),
    )


@kernel
def _orthonormalise(z):
    """Make the axes of z those of the nearest rotation, by Newton's iteration for the polar factor."""
    for _ in range(POLAR_ITERATIONS):
        a11, a22, a33 = 0.0, 0.0, 0.0
        a12, a13, a23 = 0.0, 0.0, 0.0
        for m in range(3):
            d1, d2, d3 = z[3 + m], z[6 + m], z[9 + m]
            a11, a22, a33 = a11 + d1 * d1, a22 + d2 * d2, a33 + d3 * d3
            a12, a13, a23 = a12 + d1 * d2, a13 + d1 * d3, a23 + d2 * d3
        for m in range(3):
            d1, d2, d3 = z[3 + m], z[6 + m], z[9 + m]
            z[3 + m] = 1.5 * d1 - 0.5 * (d1 * a11 + d2 * a12 + d3 * a13)
            z[6 + m] = 1.5 * d2 - 0.5 * (d1 * a12 + d2 * a22 + d3 * a23)
            z[9 + m] = 1.5 * d3 - 0.5 * (d1 * a13 + d2 * a23 + d3 * a33)
        off = max(abs(a11 - 1.0), abs(a22 - 1.0), abs(a33 - 1.0), abs(a12), abs(a13), abs(a23))
        if off < ORTHONORMAL:
            return


@kernel
def directors_motion(n, z, zd, p):
    """Velocity of the reference point and body angular velocity with the momenta of directors; z becomes a rotation.

    Directors may change their lengths and angles, a rigid body may not: with the same linear and angular momentum,
    P = M_z z_dot, it loses the kinetic energy of the stretching and nothing else. A line, whose angular momentum does
    not say how it spins, turns as its directors do.
    """
    for m in range(12):
        p[m] = 0.0
    frame_inertia(n, zd, p)
    x1, x2, x3 = 0.0, 0.0, 0.0  # sum of d_i x p_i
    for k in range(3, 12, 3):
        x1 += z[k + 1] * p[k + 2] - z[k + 2] * p[k + 1]
        x2 += z[k + 2] * p[k] - z[k] * p[k + 2]
        x3 += z[k] * p[k + 1] - z[k + 1] * p[k]
    _orthonormalise(z)
    t1, t2, t3 = body_components(z, x1, x2, x3)
    if n.nx == 0:
        w1, w2, w3 = _spin_of_momentum(n, t1, t2, t3, z, zd)
        return 0.0, 0.0, 0.0, w1, w2, w3
    c = 1.0 / n.mass
    f1, f2, f3 = body_components(z, c * p[0], c * p[1], c * p[2])
    t1, t2, t3 = t1 - n.s2 * f3 + n.s3 * f2, t2 - n.s3 * f1 + n.s1 * f3, t3 - n.s1 * f2 + n.s2 * f1
    w1, w2, w3 = _spin_of_momentum(n, t1, t2, t3, z, zd)
    # what the first moment leaves of the linear momentum
    u1, u2, u3 = axis(z, n.s2 * w3 - n.s3 * w2, n.s3 * w1 - n.s1 * w3, n.s1 * w2 - n.s2 * w1)
    return c * (p[0] + u1), c * (p[1] + u2), c * (p[2] + u3), w1, w2, w3


@kernel
def _write_euler(n, z, near, q, g):
    """Store the angles of axes, of all that have this rotation those nearest to earlier ones; g becomes G there."""
    k = n.q0 + n.nx
    sa, ca, sb, cb, sc, cc = euler_sines(n.axis1, n.axis2, n.axis3, z, g)
    a, b, c = math.atan2(sa, ca), math.atan2(sb, cb), math.atan2(sc, cc)
    far = abs(_beyond(a, near[k])) + abs(_beyond(b, near[k + 1])) + abs(_beyond(c, near[k + 2]))
    other = (
        -b if n.axis1 == n.axis3 else math.pi - b
    )  # (a + pi, pi - b, c + pi), for proper angles (a + pi, -b, c + pi)
    x, y = a + math.pi, c + math.pi
    if abs(_beyond(x, near[k])) + abs(_beyond(other, near[k + 1])) + abs(_beyond(y, near[k + 2])) < far - 1e-9:
        a, b, c, sc, cc = x, other, y, -sc, -cc
        sb, cb = (-sb, cb) if n.axis1 == n.axis3 else (sb, -cb)
    q[k], q[k + 1], q[k + 2] = a + turns_to(a, near[k]), b + turns_to(b, near[k + 1]), c + turns_to(c, near[k + 2])
    euler_spin_matrix(n, sb, cb, sc, cc, g)


@kernel
def _beyond(x, near):
    """How far an angle is from another one, whole turns aside."""
    return x + turns_to(x, near) - near


@kernel
def turns_to(x, near):
    """Whole turns that bring an angle near another one."""
    return TURN * math.floor((near - x) / TURN + 0.5)


@kernel
def body_motion(n, q, v, g, z, scratch):
    """Velocity of the reference point and body angular velocity of a rigid node; directors leave a rotation in z."""
    k = n.v0 + n.nx
    u1, u2, u3 = 0.0, 0.0, 0.0
    if n.nx == 3:
        u1, u2, u3 = v[n.v0], v[n.v0 + 1], v[n.v0 + 2]
    if n.form == FORM_DIRECTORS:
        zd = scratch[4]
        zd[0], zd[1], zd[2] = u1, u2, u3
        for m in range(9):
            z[3 + m], zd[3 + m] = q[n.q0 + n.nx + m], v[k + m]
        return directors_motion(n, z, zd, scratch[5])
    if n.form == FORM_QUATERNION:  # omega = 2 G(e) e_dot
        j = n.q0 + n.nx
        w1, w2, w3 = g_times(q[j], q[j + 1], q[j + 2], q[j + 3], v[k], v[k + 1], v[k + 2], v[k + 3])
        return u1, u2, u3, 2.0 * w1, 2.0 * w2, 2.0 * w3
    if n.form == FORM_SPIN:
        spin_matrix(n, q, g)
    w1, w2, w3, b1, b2, b3 = body_rates(n, q, v, g, scratch)
    return u1, u2, u3, w1, w2, w3


@kernel
def in_axes(n):
    """Whether the rotation of a node passes on as axes, not as a quaternion."""
    return n.kind == DIRECTORS or n.kind == EULER_ANGLES


@kernel
def write_axes(n, z, w1, w2, w3, near, q, v, zd, g):
    """Store axes and a body angular velocity on directors or as Euler angles near earlier ones; 1 in gimbal lock."""
    j, k = n.q0 + n.nx, n.v0 + n.nx
    if n.kind == DIRECTORS:
        for m in range(9):
            q[j + m] = z[3 + m]
        if n.form == FORM_DIRECTORS:
            spin_axes(z, w1, w2, w3, zd)
            for m in range(9):
                v[k + m] = zd[3 + m]
            return 0
    else:
        _write_euler(n, z, near, q, g)
    return write_spin(n, w1, w2, w3, v, g)


@kernel
def write_quaternion(n, e0, e1, e2, e3, w1, w2, w3, near, q, v, g):
    """Store a unit quaternion and a body angular velocity, as a quaternion near an earlier one or a rotation vector."""
    j, k = n.q0 + n.nx, n.v0 + n.nx
    if n.kind == QUATERNION:
        if near[j] * e0 + near[j + 1] * e1 + near[j + 2] * e2 + near[j + 3] * e3 < 0.0:
            e0, e1, e2, e3 = -e0, -e1, -e2, -e3
        q[j], q[j + 1], q[j + 2], q[j + 3] = e0, e1, e2, e3
        if n.form == FORM_QUATERNION:
            x0, x1, x2, x3 = multiply_quaternions(e0, e1, e2, e3, 0.0, 0.5 * w1, 0.5 * w2, 0.5 * w3)
            v[k], v[k + 1], v[k + 2], v[k + 3] = x0, x1, x2, x3
            return 0
    else:
        q[j], q[j + 1], q[j + 2] = log_quaternion(e0, e1, e2, e3)
        if n.form == FORM_SPIN:
            spin_matrix(n, q, g)
    return write_spin(n, w1, w2, w3, v, g)


@kernel
def write_spin(n, w1, w2, w3, v, g):
    """Store a body angular velocity of a Lie node, or of a three-parameter one with G; 1 in gimbal lock."""
    k = n.v0 + n.nx
    if n.form == FORM_LIE:
        v[k], v[k + 1], v[k + 2] = w1, w2, w3
        return 0
    if not abs(spin_determinant(g)) > CHART_LIMIT:
        return 1
    solve_spin(g, w1, w2, w3, v[k:])
    return 0


@kernel
def convert_body(n, m, q, v, near, y, u, g, scratch):
    """Coordinates q and velocities v of a rigid body on node n, as y and u on node m; 1 in gimbal lock."""
    z = scratch[3]
    u1, u2, u3, w1, w2, w3 = body_motion(n, q, v, g, z, scratch)
    if n.nx == 3:
        j, k = m.q0, m.v0
        y[j], y[j + 1], y[j + 2] = q[n.q0], q[n.q0 + 1], q[n.q0 + 2]
        u[k], u[k + 1], u[k + 2] = u1, u2, u3
    i = n.q0 + n.nx
    if in_axes(n):
        if n.form != FORM_DIRECTORS:
            node_frame(n, q, z)
        if in_axes(m):
            return write_axes(m, z, w1, w2, w3, near, y, u, scratch[4], g)
        e0, e1, e2, e3 = axes_to_quaternion(z)
    elif n.kind == QUATERNION:
        e0, e1, e2, e3 = q[i], q[i + 1], q[i + 2], q[i + 3]
    else:
        e0, e1, e2, e3 = exp_quaternion(q[i], q[i + 1], q[i + 2])
    if in_axes(m):
        quaternion_axes(e0, e1, e2, e3, z)
        return write_axes(m, z, w1, w2, w3, near, y, u, scratch[4], g)
    return write_quaternion(m, e0, e1, e2, e3, w1, w2, w3, near, y, u, g)


@kernel
def copy_node(n, m, q, v, y, u):
    """Coordinates and velocities of a node, for another one of the same kind."""
    for k in range(m.nq):
        y[m.q0 + k] = q[n.q0 + k]
    for k in range(m.nv):
        u[m.v0 + k] = v[n.v0 + k]


@kernel
def convert(nodes, targets, q, v, near, out_q, out_v, g, scratch):
    """Rows of coordinates and velocities of the same bodies on other nodes; nodes of the same kind are copied.

    ``near`` are earlier coordinates, from which quaternions and Euler angles go on. Returns the first row that does not
    exist, because a target has Euler angles in gimbal lock, and the node; or -1, 0.
    """
    for row in range(q.shape[0]):
        before = near if row == 0 else out_q[row - 1]
        x, r, y, u = q[row], v[row], out_q[row], out_v[row]
        for i in range(1, nodes.shape[0]):
            n, m = nodes[i], targets[i]
            if n.form == m.form and n.kind == m.kind:
                copy_node(n, m, x, r, y, u)
            elif convert_body(n, m, x, r, before, y, u, g, scratch) != 0:
                return row, i
    return -1, 0
