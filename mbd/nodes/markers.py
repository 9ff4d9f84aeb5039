"""Markers: points and axes fixed in a body, seen through its frame z = (r, d1, d2, d3).

Where they are, how they move, what a force or torque there does to the frame, and their Jacobians with respect to the
increments of a node. Elements between two bodies have the points P, Q (fields pa, pb), an axis in the first body (aa)
and normals of it in both (na, nb): the vector Q - P and the angle of a hinge are here as well. Complex frames are
welcome where nothing asks for a node.
"""

from __future__ import annotations

import math

from ..compiled.kernel import kernel
from ..math.quaternions import quaternion_columns
from .forms import FORM_DIRECTORS, FORM_LIE, FORM_QUATERNION, FORM_SPIN
from .frames import body_rates
from .spin import spin_derivative


@kernel
def point(z, x1, x2, x3):
    """World position of a body-fixed point."""
    return (
        z[0] + x1 * z[3] + x2 * z[6] + x3 * z[9],
        z[1] + x1 * z[4] + x2 * z[7] + x3 * z[10],
        z[2] + x1 * z[5] + x2 * z[8] + x3 * z[11],
    )


@kernel
def axis(z, x1, x2, x3):
    """World direction of a body-fixed axis; with frame velocities in place of z, its velocity."""
    return (
        x1 * z[3] + x2 * z[6] + x3 * z[9],
        x1 * z[4] + x2 * z[7] + x3 * z[10],
        x1 * z[5] + x2 * z[8] + x3 * z[11],
    )


@kernel
def body_components(z, v1, v2, v3):
    """R^T v: components of a vector in the axes of the frame."""
    return (
        z[3] * v1 + z[4] * v2 + z[5] * v3,
        z[6] * v1 + z[7] * v2 + z[8] * v3,
        z[9] * v1 + z[10] * v2 + z[11] * v3,
    )


@kernel
def cross_axes(z, a, y, b):
    """Cross product of the axis at the place a of one frame and that at b of another, or the same."""
    return (
        z[a + 1] * y[b + 2] - z[a + 2] * y[b + 1],
        z[a + 2] * y[b] - z[a] * y[b + 2],
        z[a] * y[b + 1] - z[a + 1] * y[b],
    )


@kernel
def axes_volume(z):
    """d1 . (d2 x d3), one for a rotation."""
    c1, c2, c3 = cross_axes(z, 6, z, 9)
    return z[3] * c1 + z[4] * c2 + z[5] * c3


@kernel
def cofactor_axes(z, out):
    """Axes of the cofactor matrix: d2 x d3, d3 x d1, d1 x d2."""
    out[3], out[4], out[5] = cross_axes(z, 6, z, 9)
    out[6], out[7], out[8] = cross_axes(z, 9, z, 3)
    out[9], out[10], out[11] = cross_axes(z, 3, z, 6)


@kernel
def dual_axes(z, out):
    """Axes reciprocal to those of z."""
    cofactor_axes(z, out)
    d = 1.0 / axes_volume(z)
    for m in range(3, 12):
        out[m] *= d


@kernel
def angular_velocity(z, zd):
    """1/2 sum_i d_i x d_i_dot, in world axes; also a mean for frames that are no rotations."""
    a1, a2, a3 = cross_axes(z, 3, zd, 3)
    b1, b2, b3 = cross_axes(z, 6, zd, 6)
    c1, c2, c3 = cross_axes(z, 9, zd, 9)
    return 0.5 * (a1 + b1 + c1), 0.5 * (a2 + b2 + c2), 0.5 * (a3 + b3 + c3)


@kernel
def push_axis(f, x1, x2, x3, f1, f2, f3):
    """Frame force of the vector (f1, f2, f3) acting on a body-fixed axis."""
    f[3] += x1 * f1
    f[4] += x1 * f2
    f[5] += x1 * f3
    f[6] += x2 * f1
    f[7] += x2 * f2
    f[8] += x2 * f3
    f[9] += x3 * f1
    f[10] += x3 * f2
    f[11] += x3 * f3


@kernel
def push_point(f, x1, x2, x3, f1, f2, f3):
    """Frame force of a force at a body-fixed point."""
    f[0] += f1
    f[1] += f2
    f[2] += f3
    push_axis(f, x1, x2, x3, f1, f2, f3)


@kernel
def apply_torque(f, z, t1, t2, t3):
    """f_i -= tau x d_i / 2: frame forces of an applied torque, with the sign of the residual."""
    for k in range(3, 12, 3):
        f[k] -= 0.5 * (t2 * z[k + 2] - t3 * z[k + 1])
        f[k + 1] -= 0.5 * (t3 * z[k] - t1 * z[k + 2])
        f[k + 2] -= 0.5 * (t1 * z[k + 1] - t2 * z[k])


# --- between two bodies ---------------------------------------------------------------------------------------------


@kernel
def displacement(e, za, zb):
    """Q - P of an element; with frame velocities, its velocity."""
    p1, p2, p3 = point(za, e.pa1, e.pa2, e.pa3)
    q1, q2, q3 = point(zb, e.pb1, e.pb2, e.pb3)
    return q1 - p1, q2 - p2, q3 - p3


@kernel
def second_normal(e):
    """n2 = axis x n1 in the first body."""
    return (
        e.aa2 * e.na3 - e.aa3 * e.na2,
        e.aa3 * e.na1 - e.aa1 * e.na3,
        e.aa1 * e.na2 - e.aa2 * e.na1,
    )


@kernel
def hinge(e, za, zb):
    """(c, s) = (n1.m, n2.m): cosine and sine of the hinge angle, for frames that are rotations."""
    k1, k2, k3 = second_normal(e)
    n1, n2, n3 = axis(za, e.na1, e.na2, e.na3)
    h1, h2, h3 = axis(za, k1, k2, k3)
    m1, m2, m3 = axis(zb, e.nb1, e.nb2, e.nb3)
    return n1 * m1 + n2 * m2 + n3 * m3, h1 * m1 + h2 * m2 + h3 * m3


@kernel
def hinge_rates(e, za, zb, zda, zdb):
    """c, s and their rates; with bias accelerations in place of velocities, these parts of second derivatives."""
    k1, k2, k3 = second_normal(e)
    n1, n2, n3 = axis(za, e.na1, e.na2, e.na3)
    h1, h2, h3 = axis(za, k1, k2, k3)
    m1, m2, m3 = axis(zb, e.nb1, e.nb2, e.nb3)
    u1, u2, u3 = axis(zda, e.na1, e.na2, e.na3)
    v1, v2, v3 = axis(zda, k1, k2, k3)
    w1, w2, w3 = axis(zdb, e.nb1, e.nb2, e.nb3)
    return (
        n1 * m1 + n2 * m2 + n3 * m3,
        h1 * m1 + h2 * m2 + h3 * m3,
        u1 * m1 + u2 * m2 + u3 * m3 + n1 * w1 + n2 * w2 + n3 * w3,
        v1 * m1 + v2 * m2 + v3 * m3 + h1 * w1 + h2 * w2 + h3 * w3,
    )


@kernel
def hinge_curvatures(e, zda, zdb):
    """The parts 2 n_i_dot . m_dot of the second derivatives of c and s: of a hinge between frame velocities, twice."""
    c, s = hinge(e, zda, zdb)
    return 2.0 * c, 2.0 * s


@kernel
def wrap_angle(angle):
    """The angle in (-pi, pi] that differs from this one by whole turns."""
    return angle - 2.0 * math.pi * math.ceil((angle - math.pi) / (2.0 * math.pi))


@kernel
def angle_state(e, za, zb, zda, zdb, last):
    """(phi, phi_dot) of the angle phi = atan2(s, c), continued from the last accepted one."""
    c, s, cd, sd = hinge_rates(e, za, zb, zda, zdb)
    return last + wrap_angle(math.atan2(s, c) - last), (c * sd - s * cd) / (c * c + s * s)


@kernel
def push_angle(e, za, zb, f, fa, fb):
    """fa, fb += f grad phi."""
    c, s = hinge(e, za, zb)
    f /= c * c + s * s
    push_hinge(e, za, zb, f * c, f * s, fa, fb)


@kernel
def push_hinge(e, za, zb, c, s, fa, fb):
    """fa, fb += c grad(sin) - s grad(cos) of the hinge angle; bilinear in the frames, which may be averaged ones."""
    k1, k2, k3 = second_normal(e)
    n1, n2, n3 = axis(za, e.na1, e.na2, e.na3)
    h1, h2, h3 = axis(za, k1, k2, k3)
    m1, m2, m3 = axis(zb, e.nb1, e.nb2, e.nb3)
    push_axis(fa, e.na1, e.na2, e.na3, -s * m1, -s * m2, -s * m3)
    push_axis(fa, k1, k2, k3, c * m1, c * m2, c * m3)
    push_axis(fb, e.nb1, e.nb2, e.nb3, c * h1 - s * n1, c * h2 - s * n2, c * h3 - s * n3)


# --- Jacobians ------------------------------------------------------------------------------------------------------


@kernel
def _spin_columns(g, j, c):
    """Columns c..c+2 of j := (those columns) G."""
    for m in range(3):
        x1, x2, x3 = j[m, c], j[m, c + 1], j[m, c + 2]
        j[m, c] = x1 * g[0] + x2 * g[3] + x3 * g[6]
        j[m, c + 1] = x1 * g[1] + x2 * g[4] + x3 * g[7]
        j[m, c + 2] = x1 * g[2] + x2 * g[5] + x3 * g[8]


@kernel
def _rotation_columns(z, a1, a2, a3, j, c):
    """-R hat(A): derivative of R A with respect to a body-fixed rotation increment."""
    for m in range(3):
        d1, d2, d3 = z[3 + m], z[6 + m], z[9 + m]
        j[m, c] = a2 * d3 - a3 * d2
        j[m, c + 1] = a3 * d1 - a1 * d3
        j[m, c + 2] = a1 * d2 - a2 * d1


@kernel
def axis_jacobian(n, q, g, z, a1, a2, a3, j):
    """j (3 x nv) = d(R A)/d(increment) for the body-fixed axis A."""
    form = n.form
    c = n.nx
    for m in range(3):
        for k in range(c):
            j[m, k] = 0.0
    if form == FORM_LIE:
        _rotation_columns(z, a1, a2, a3, j, c)
    elif form == FORM_SPIN:
        _rotation_columns(z, a1, a2, a3, j, c)
        _spin_columns(g, j, c)
    elif form == FORM_QUATERNION:
        k = n.q0 + n.nx
        quaternion_columns(q[k], q[k + 1], q[k + 2], q[k + 3], a1, a2, a3, j, c)
    elif form == FORM_DIRECTORS:
        for m in range(3):
            for k in range(9):
                j[m, c + k] = 0.0
            j[m, c + m] = a1
            j[m, c + 3 + m] = a2
            j[m, c + 6 + m] = a3


@kernel
def point_jacobian(n, q, g, z, a1, a2, a3, j):
    """j (3 x nv) = d(r + R X)/d(increment) for the body-fixed point X."""
    axis_jacobian(n, q, g, z, a1, a2, a3, j)
    if n.nx == 3:
        j[0, 0] = 1.0
        j[1, 1] = 1.0
        j[2, 2] = 1.0


@kernel
def velocity_jacobian(n, q, v, g, z, a1, a2, a3, j, scratch):
    """j (3 x nv) = d((R A)_dot)/d(increment) at fixed velocity coordinates, for the body-fixed axis (or point) A."""
    form = n.form
    c = n.nx
    for m in range(3):
        for k in range(n.nv):
            j[m, k] = 0.0
    if form == FORM_LIE or form == FORM_SPIN:
        w1, w2, w3, b1, b2, b3 = body_rates(n, q, v, g, scratch)
        _rotation_columns(z, w2 * a3 - w3 * a2, w3 * a1 - w1 * a3, w1 * a2 - w2 * a1, j, c)
        if form == FORM_SPIN:
            _spin_columns(g, j, c)
            x, u, out = scratch[3], scratch[4], scratch[5]
            for k in range(3):
                x[k] = v[n.v0 + c + k]
            for k in range(3):
                u[0] = 0.0
                u[1] = 0.0
                u[2] = 0.0
                u[k] = 1.0
                spin_derivative(n, q, g, u, x, scratch[2], out)
                t1 = out[1] * a3 - out[2] * a2
                t2 = out[2] * a1 - out[0] * a3
                t3 = out[0] * a2 - out[1] * a1
                for m in range(3):
                    j[m, c + k] += z[3 + m] * t1 + z[6 + m] * t2 + z[9 + m] * t3
    elif form == FORM_QUATERNION:
        k = n.v0 + n.nx
        quaternion_columns(v[k], v[k + 1], v[k + 2], v[k + 3], a1, a2, a3, j, c)
