"""Between coordinates and poses: a rotation as quaternion, and its velocity, in whatever a node stores.

Integrators that advance rotations on their own (``mbd.integrators.rigid_body``) read a node once and write it for
every record; in between they know nothing about it. Those that are written for certain coordinates ``convert`` the rest
(``mbd.integrators.converted``).
"""

from __future__ import annotations

import math

from ..compiled.kernel import kernel
from ..math.quaternions import axes_to_quaternion, g_times, multiply_quaternions, quaternion_axes
from ..math.so3 import exp_quaternion, log_quaternion
from .forms import FORM_DIRECTORS, FORM_LIE, FORM_QUATERNION, FORM_SPIN
from .frames import body_rates, node_frame, spin_axes
from .kinds import DIRECTORS, EULER_ANGLES, QUATERNION, ROTATION_VECTOR
from .markers import axis, body_components
from .mass import central_inertia, frame_inertia, solve_central_inertia
from .spin import axes_to_euler, spin_determinant, spin_matrix
from .update import CHART_LIMIT, _solve_spin

TURN = 2.0 * math.pi
POLAR_ITERATIONS = 10  # the fourth is exact to round-off for axes that are off by a tenth
ORTHONORMAL = 1e-8  # of the products of axes before an iteration that squares the error
LINE = 1e-12  # determinant of an inertia relative to the product of its diagonal that counts as zero


@kernel
def node_quaternion(n, q, z):
    """Unit quaternion of a node's rotation; z is scratch for a frame."""
    k = n.q0 + n.nx
    if n.kind == QUATERNION:
        return q[k], q[k + 1], q[k + 2], q[k + 3]
    if n.kind == ROTATION_VECTOR:
        return exp_quaternion(q[k], q[k + 1], q[k + 2])
    node_frame(n, q, z)
    return axes_to_quaternion(z)


@kernel
def write_position(n, r1, r2, r3, u1, u2, u3, q, v):
    """Store position and velocity of the reference point, unless it is pinned."""
    if n.nx == 3:
        j, k = n.q0, n.v0
        q[j], q[j + 1], q[j + 2] = r1, r2, r3
        v[k], v[k + 1], v[k + 2] = u1, u2, u3


@kernel
def write_rotation(n, e0, e1, e2, e3, w1, w2, w3, q, v, z, zd, g):
    """Store a unit quaternion and a body angular velocity; fills the axes of z and zd.

    Returns 0, or 1 where conventional Euler angles have no rates (gimbal lock); g is scratch for G.
    """
    j, k = n.q0 + n.nx, n.v0 + n.nx
    quaternion_axes(e0, e1, e2, e3, z)
    spin_axes(z, w1, w2, w3, zd)
    if n.kind == QUATERNION:
        q[j], q[j + 1], q[j + 2], q[j + 3] = e0, e1, e2, e3
    elif n.kind == ROTATION_VECTOR:
        q[j], q[j + 1], q[j + 2] = log_quaternion(e0, e1, e2, e3)
    elif n.kind == DIRECTORS:
        for m in range(9):
            q[j + m] = z[3 + m]
    elif n.kind == EULER_ANGLES:
        q[j], q[j + 1], q[j + 2] = axes_to_euler(n.axis1, n.axis2, n.axis3, z, g)
    if n.form == FORM_LIE:
        v[k], v[k + 1], v[k + 2] = w1, w2, w3
    elif n.form == FORM_SPIN:
        spin_matrix(n, q, g)
        if not abs(spin_determinant(g)) > CHART_LIMIT:
            return 1
        _solve_spin(g, w1, w2, w3, v[k:])
    elif n.kind == QUATERNION:
        x0, x1, x2, x3 = multiply_quaternions(e0, e1, e2, e3, 0.0, 0.5 * w1, 0.5 * w2, 0.5 * w3)
        v[k], v[k + 1], v[k + 2], v[k + 3] = x0, x1, x2, x3
    elif n.kind == DIRECTORS:
        for m in range(9):
            v[k + m] = zd[3 + m]
    return 0


@kernel
def is_line(n):
    """Whether a body has no inertia about an axis."""
    a11, a12, a13 = central_inertia(n, 1.0, 0.0, 0.0)
    b12, a22, a23 = central_inertia(n, 0.0, 1.0, 0.0)
    b13, b23, a33 = central_inertia(n, 0.0, 0.0, 1.0)
    determinant = a11 * (a22 * a33 - a23 * a23) - a12 * (a12 * a33 - a13 * a23) + a13 * (a12 * a23 - a13 * a22)
    return not determinant > LINE * (a11 + a22 + a33) ** 3


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
def _directors_motion(n, z, zd, p):
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
    if n.nx == 3:
        f1, f2, f3 = body_components(z, p[0] / n.mass, p[1] / n.mass, p[2] / n.mass)
        t1, t2, t3 = t1 - n.s2 * f3 + n.s3 * f2, t2 - n.s3 * f1 + n.s1 * f3, t3 - n.s1 * f2 + n.s2 * f1
    if is_line(n):
        w1, w2, w3 = body_spin(z, zd)
    else:
        w1, w2, w3 = solve_central_inertia(n, t1, t2, t3)
    u1, u2, u3 = 0.0, 0.0, 0.0
    if n.nx == 3:  # what the first moment leaves of the linear momentum
        u1, u2, u3 = axis(z, n.s2 * w3 - n.s3 * w2, n.s3 * w1 - n.s1 * w3, n.s1 * w2 - n.s2 * w1)
        u1, u2, u3 = (p[0] + u1) / n.mass, (p[1] + u2) / n.mass, (p[2] + u3) / n.mass
    return u1, u2, u3, w1, w2, w3


@kernel
def _motion(n, q, v, g, scratch):
    """Quaternion, velocity of the reference point and body angular velocity of a rigid node."""
    z, zd = scratch[3], scratch[4]
    k = n.v0 + n.nx
    u1, u2, u3 = 0.0, 0.0, 0.0
    if n.nx == 3:
        u1, u2, u3 = v[n.v0], v[n.v0 + 1], v[n.v0 + 2]
    if n.form == FORM_DIRECTORS:
        zd[0], zd[1], zd[2] = u1, u2, u3
        for m in range(9):
            z[3 + m], zd[3 + m] = q[n.q0 + n.nx + m], v[k + m]
        u1, u2, u3, w1, w2, w3 = _directors_motion(n, z, zd, scratch[5])
        e0, e1, e2, e3 = axes_to_quaternion(z)
        return e0, e1, e2, e3, u1, u2, u3, w1, w2, w3
    e0, e1, e2, e3 = node_quaternion(n, q, z)
    if n.form == FORM_QUATERNION:  # omega = 2 G(e) e_dot
        w1, w2, w3 = g_times(e0, e1, e2, e3, v[k], v[k + 1], v[k + 2], v[k + 3])
        w1, w2, w3 = 2.0 * w1, 2.0 * w2, 2.0 * w3
    else:
        if n.form == FORM_SPIN:
            spin_matrix(n, q, g)
        w1, w2, w3, b1, b2, b3 = body_rates(n, q, v, g, scratch)
    return e0, e1, e2, e3, u1, u2, u3, w1, w2, w3


@kernel
def _continue_euler(n, near, q):
    """Of all angles with the same rotation, take those nearest to earlier ones."""
    k = n.q0 + n.nx
    best, kind = 0.0, 0
    for other in range(2):  # (a + pi, pi - b, c + pi), for proper angles (a + pi, -b, c + pi)
        far = 0.0
        for m in range(3):
            x = _other_euler(n, q[k + m], m) if other == 1 else q[k + m]
            far += abs(x + _turns_to(x, near[k + m]) - near[k + m])
        if other == 0 or far < best - 1e-9:
            best, kind = far, other
    for m in range(3):
        x = _other_euler(n, q[k + m], m) if kind == 1 else q[k + m]
        q[k + m] = x + _turns_to(x, near[k + m])


@kernel
def _other_euler(n, x, m):
    """The m-th of the other angles with the same rotation."""
    if m != 1:
        return x + math.pi
    return -x if n.axis1 == n.axis3 else math.pi - x


@kernel
def _turns_to(x, near):
    """Whole turns that bring an angle near another one."""
    return TURN * math.floor((near - x) / TURN + 0.5)


@kernel
def _continue(n, near, q, v, w1, w2, w3, g):
    """Of all coordinates with the same rotation, choose those that go on from earlier ones; 1 where there are none."""
    j, k = n.q0 + n.nx, n.v0 + n.nx
    if n.kind == QUATERNION:
        if near[j] * q[j] + near[j + 1] * q[j + 1] + near[j + 2] * q[j + 2] + near[j + 3] * q[j + 3] < 0.0:
            for m in range(4):
                q[j + m] = -q[j + m]
                if n.form == FORM_QUATERNION:
                    v[k + m] = -v[k + m]
    elif n.kind == EULER_ANGLES:
        _continue_euler(n, near, q)
        if n.form == FORM_SPIN:
            spin_matrix(n, q, g)
            if not abs(spin_determinant(g)) > CHART_LIMIT:
                return 1
            _solve_spin(g, w1, w2, w3, v[k:])
    return 0


@kernel
def convert(nodes, targets, q, v, near, out_q, out_v, g, scratch):
    """Rows of coordinates and velocities of the same bodies on other nodes; nodes of the same kind are copied.

    ``near`` are earlier coordinates, from which quaternions and Euler angles go on. Returns the first row that does not
    exist, because a target has Euler angles in gimbal lock, and the node; or -1, 0.
    """
    for row in range(q.shape[0]):
        before = near if row == 0 else out_q[row - 1]
        for i in range(1, nodes.shape[0]):
            n, m = nodes[i], targets[i]
            if n.form == m.form and n.kind == m.kind:
                for k in range(m.nq):
                    out_q[row, m.q0 + k] = q[row, n.q0 + k]
                for k in range(m.nv):
                    out_v[row, m.v0 + k] = v[row, n.v0 + k]
                continue
            x, y, u = q[row], out_q[row], out_v[row]
            e0, e1, e2, e3, u1, u2, u3, w1, w2, w3 = _motion(n, x, v[row], g, scratch)
            if n.nx == 3:
                write_position(m, x[n.q0], x[n.q0 + 1], x[n.q0 + 2], u1, u2, u3, y, u)
            locked = write_rotation(m, e0, e1, e2, e3, w1, w2, w3, y, u, scratch[3], scratch[4], g)
            if locked != 0 or _continue(m, before, y, u, w1, w2, w3, g) != 0:
                return row, i
    return -1, 0
