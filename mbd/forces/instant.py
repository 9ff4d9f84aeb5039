"""Force elements as kernels on frames: residual, tangent stiffness and damping, energy and power.

Springs act on a scalar coordinate u(z) with ``f = k (u - u0) + c u_dot``: the distance of two points (SPRING), the
displacement along a body-fixed axis (AXIS_SPRING), or the angle of a hinge (TORSION_SPRING). Their generalised force
is ``f grad u``, their stiffness ``grad u (k grad u + c d(u_dot)) + f u_zz``, their damping ``c grad u grad u``.
Loads are given vectors in world or body axes. Residuals carry the sign of ``M v_dot - f = 0``.
"""

from __future__ import annotations

import math

from ..compiled.kernel import kernel
from ..joints.instant import add_product, axis, point, push_axis, push_point
from ..nodes.forms import FORM_LIE
from ..nodes.frames import axis_jacobian, point_jacobian, velocity_jacobian
from .kinds import AXIS_SPRING, FORCE_BODY, FORCE_WORLD, SPRING, TORQUE_WORLD, TORSION_SPRING


@kernel
def wrap_angle(angle):
    """The same angle in (-pi, pi]."""
    return angle - 2.0 * math.pi * math.ceil((angle - math.pi) / (2.0 * math.pi))


@kernel
def load_vector(e, values):
    """The vector of a load: constant or the current value of its function of time."""
    if e.function >= 0:
        k = e.function
        return values[k], values[k + 1], values[k + 2]
    return e.p1, e.p2, e.p3


@kernel
def second_normal(e):
    """n2 = axis x n1 in the first body."""
    return (
        e.aa2 * e.na3 - e.aa3 * e.na2,
        e.aa3 * e.na1 - e.aa1 * e.na3,
        e.aa1 * e.na2 - e.aa2 * e.na1,
    )


@kernel
def angle_state(e, za, zb, zda, zdb, last):
    """(phi, phi_dot) of the angle phi = atan2(n2.m, n1.m), continued from the last accepted one."""
    k1, k2, k3 = second_normal(e)
    n1, n2, n3 = axis(za, e.na1, e.na2, e.na3)
    h1, h2, h3 = axis(za, k1, k2, k3)
    m1, m2, m3 = axis(zb, e.nb1, e.nb2, e.nb3)
    u1, u2, u3 = axis(zda, e.na1, e.na2, e.na3)
    v1, v2, v3 = axis(zda, k1, k2, k3)
    w1, w2, w3 = axis(zdb, e.nb1, e.nb2, e.nb3)
    c = n1 * m1 + n2 * m2 + n3 * m3
    s = h1 * m1 + h2 * m2 + h3 * m3
    cd = u1 * m1 + u2 * m2 + u3 * m3 + n1 * w1 + n2 * w2 + n3 * w3
    sd = v1 * m1 + v2 * m2 + v3 * m3 + h1 * w1 + h2 * w2 + h3 * w3
    return last + wrap_angle(math.atan2(s, c) - last), (c * sd - s * cd) / (c * c + s * s)


@kernel
def push_angle(e, za, zb, f, fa, fb):
    """fa, fb += f grad phi."""
    k1, k2, k3 = second_normal(e)
    n1, n2, n3 = axis(za, e.na1, e.na2, e.na3)
    h1, h2, h3 = axis(za, k1, k2, k3)
    m1, m2, m3 = axis(zb, e.nb1, e.nb2, e.nb3)
    c = n1 * m1 + n2 * m2 + n3 * m3
    s = h1 * m1 + h2 * m2 + h3 * m3
    f /= c * c + s * s
    push_axis(fa, e.na1, e.na2, e.na3, -f * s * m1, -f * s * m2, -f * s * m3)
    push_axis(fa, k1, k2, k3, f * c * m1, f * c * m2, f * c * m3)
    push_axis(fb, e.nb1, e.nb2, e.nb3, f * (c * h1 - s * n1), f * (c * h2 - s * n2), f * (c * h3 - s * n3))


@kernel
def spring_state(e, za, zb, zda, zdb, turns):
    """(u, u_dot) of a spring's coordinate; the angle continues from the last accepted one in ``turns``."""
    if e.kind == TORSION_SPRING:
        return angle_state(e, za, zb, zda, zdb, turns[e.turn])
    p1, p2, p3 = point(za, e.pa1, e.pa2, e.pa3)
    q1, q2, q3 = point(zb, e.pb1, e.pb2, e.pb3)
    u1, u2, u3 = point(zda, e.pa1, e.pa2, e.pa3)
    v1, v2, v3 = point(zdb, e.pb1, e.pb2, e.pb3)
    d1, d2, d3 = q1 - p1, q2 - p2, q3 - p3
    r1, r2, r3 = v1 - u1, v2 - u2, v3 - u3
    if e.kind == SPRING:
        length = math.sqrt(d1 * d1 + d2 * d2 + d3 * d3)
        rate = (d1 * r1 + d2 * r2 + d3 * r3) / length if length > 0.0 else 0.0
        return length, rate
    a1, a2, a3 = axis(za, e.aa1, e.aa2, e.aa3)
    w1, w2, w3 = axis(zda, e.aa1, e.aa2, e.aa3)
    return a1 * d1 + a2 * d2 + a3 * d3, w1 * d1 + w2 * d2 + w3 * d3 + a1 * r1 + a2 * r2 + a3 * r3


@kernel
def spring_tension(e, u, rate, values):
    """k (u - u0) + c (u_dot - u0_dot); the rest value u0 may be a function of time."""
    if e.function >= 0:
        return e.p1 * (u - values[e.function]) + e.p3 * (rate - values[e.function + 1])
    return e.p1 * (u - e.p2) + e.p3 * rate


@kernel
def force_residual(e, za, zb, zda, zdb, values, turns, fa, fb):
    """fa, fb += frame forces of the element (with the sign of the residual, i.e. minus the applied force)."""
    kind = e.kind
    if kind == SPRING or kind == AXIS_SPRING or kind == TORSION_SPRING:
        u, rate = spring_state(e, za, zb, zda, zdb, turns)
        f = spring_tension(e, u, rate, values)
        if kind == TORSION_SPRING:
            push_angle(e, za, zb, f, fa, fb)
            return
        p1, p2, p3 = point(za, e.pa1, e.pa2, e.pa3)
        q1, q2, q3 = point(zb, e.pb1, e.pb2, e.pb3)
        d1, d2, d3 = q1 - p1, q2 - p2, q3 - p3
        if kind == SPRING:
            f = f / u if u > 0.0 else 0.0
            f1, f2, f3 = f * d1, f * d2, f * d3
        else:
            push_axis(fa, e.aa1, e.aa2, e.aa3, f * d1, f * d2, f * d3)
            f1, f2, f3 = axis(za, e.aa1, e.aa2, e.aa3)
            f1, f2, f3 = f * f1, f * f2, f * f3
        push_point(fa, e.pa1, e.pa2, e.pa3, -f1, -f2, -f3)
        push_point(fb, e.pb1, e.pb2, e.pb3, f1, f2, f3)
        return
    f1, f2, f3 = load_vector(e, values)
    if kind == FORCE_WORLD:
        push_point(fb, e.pb1, e.pb2, e.pb3, -f1, -f2, -f3)
    elif kind == FORCE_BODY:
        f1, f2, f3 = axis(zb, f1, f2, f3)
        push_point(fb, e.pb1, e.pb2, e.pb3, -f1, -f2, -f3)
    else:  # a torque acts on the axes as f_i = tau x d_i / 2
        if kind != TORQUE_WORLD:
            f1, f2, f3 = axis(zb, f1, f2, f3)
        for i in range(3):
            d1, d2, d3 = zb[3 + 3 * i], zb[4 + 3 * i], zb[5 + 3 * i]
            fb[3 + 3 * i] -= 0.5 * (f2 * d3 - f3 * d2)
            fb[4 + 3 * i] -= 0.5 * (f3 * d1 - f1 * d3)
            fb[5 + 3 * i] -= 0.5 * (f1 * d2 - f2 * d1)


# --- tangents -----------------------------------------------------------------------------------------------------


@kernel
def _row(c, f1, f2, f3, j, n, row):
    """row += c f^T j."""
    for k in range(n):
        row[k] += c * (f1 * j[0, k] + f2 * j[1, k] + f3 * j[2, k])


@kernel
def _outer(c, u, nu, v, nv, matrix, block, ld):
    for i in range(nu):
        x = c * u[i]
        for k in range(nv):
            matrix[block + i * ld + k] += x * v[k]


@kernel
def _outer_pair(c, ua, ub, va, vb, na, nb, e, matrix):
    """matrix += c u v^T for rows over both bodies."""
    _outer(c, ua, na.nv, va, na.nv, matrix, na.block, na.ld)
    _outer(c, ub, nb.nv, vb, nb.nv, matrix, nb.block, nb.ld)
    if na.nv > 0 and nb.nv > 0:
        _outer(c, ua, na.nv, vb, nb.nv, matrix, e.block_ab, e.ld_ab)
        _outer(c, ub, nb.nv, va, na.nv, matrix, e.block_ba, e.ld_ba)


@kernel
def _velocity_row(n, t, row, out):
    """out = row T_exp^-1: a velocity row for the increment at the end of the step."""
    for k in range(n.nv):
        out[k] = row[k]
    if n.form == FORM_LIE:
        k = n.nx
        for m in range(3):
            out[k + m] = row[k] * t[m] + row[k + 1] * t[3 + m] + row[k + 2] * t[6 + m]


@kernel
def _spring_rows(e, na, nb, q, v, ga, gb, za, zb, zda, zdb, jac, small, f, ck, matrix):
    """Rows grad u and d(u_dot) into jac[6:8]; adds ck f u_zz to the matrix (without its multiples of grad u)."""
    va, vb = na.nv, nb.nv
    row_a, row_b, rate_a, rate_b = jac[6][0], jac[6][1], jac[7][0], jac[7][1]
    for k in range(12):
        row_a[k] = 0.0
        row_b[k] = 0.0
        rate_a[k] = 0.0
        rate_b[k] = 0.0
    p1, p2, p3 = point(za, e.pa1, e.pa2, e.pa3)
    q1, q2, q3 = point(zb, e.pb1, e.pb2, e.pb3)
    u1, u2, u3 = point(zda, e.pa1, e.pa2, e.pa3)
    v1, v2, v3 = point(zdb, e.pb1, e.pb2, e.pb3)
    d1, d2, d3 = q1 - p1, q2 - p2, q3 - p3
    r1, r2, r3 = v1 - u1, v2 - u2, v3 - u3
    if e.kind == SPRING:
        length = math.sqrt(d1 * d1 + d2 * d2 + d3 * d3)
        inverse = 1.0 / length if length > 0.0 else 0.0
        a1, a2, a3 = d1 * inverse, d2 * inverse, d3 * inverse
        s = a1 * r1 + a2 * r2 + a3 * r3
        y1, y2, y3 = (r1 - s * a1) * inverse, (r2 - s * a2) * inverse, (r3 - s * a3) * inverse
        f = f * inverse if length > 0.0 else e.p1
    else:
        a1, a2, a3 = axis(za, e.aa1, e.aa2, e.aa3)
        y1, y2, y3 = axis(zda, e.aa1, e.aa2, e.aa3)
    if va > 0:
        point_jacobian(na, q, ga, za, e.pa1, e.pa2, e.pa3, jac[0])
        velocity_jacobian(na, q, v, ga, za, e.pa1, e.pa2, e.pa3, jac[3], small)
        _row(-1.0, a1, a2, a3, jac[0], va, row_a)
        _row(-1.0, y1, y2, y3, jac[0], va, rate_a)
        _row(-1.0, a1, a2, a3, jac[3], va, rate_a)
    if vb > 0:
        point_jacobian(nb, q, gb, zb, e.pb1, e.pb2, e.pb3, jac[1])
        velocity_jacobian(nb, q, v, gb, zb, e.pb1, e.pb2, e.pb3, jac[4], small)
        _row(1.0, a1, a2, a3, jac[1], vb, row_b)
        _row(1.0, y1, y2, y3, jac[1], vb, rate_b)
        _row(1.0, a1, a2, a3, jac[4], vb, rate_b)
    c = ck * f
    if e.kind == SPRING:
        if va > 0:
            add_product(c, jac[0], va, jac[0], va, matrix, na.block, na.ld)
        if vb > 0:
            add_product(c, jac[1], vb, jac[1], vb, matrix, nb.block, nb.ld)
        if va > 0 and vb > 0:
            add_product(-c, jac[0], va, jac[1], vb, matrix, e.block_ab, e.ld_ab)
            add_product(-c, jac[1], vb, jac[0], va, matrix, e.block_ba, e.ld_ba)
        _outer_pair(-c, row_a, row_b, row_a, row_b, na, nb, e, matrix)
    elif va > 0:
        axis_jacobian(na, q, ga, za, e.aa1, e.aa2, e.aa3, jac[2])
        velocity_jacobian(na, q, v, ga, za, e.aa1, e.aa2, e.aa3, jac[5], small)
        _row(1.0, d1, d2, d3, jac[2], va, row_a)
        _row(1.0, r1, r2, r3, jac[2], va, rate_a)
        _row(1.0, d1, d2, d3, jac[5], va, rate_a)
        add_product(-c, jac[2], va, jac[0], va, matrix, na.block, na.ld)
        add_product(-c, jac[0], va, jac[2], va, matrix, na.block, na.ld)
        if vb > 0:
            add_product(c, jac[2], va, jac[1], vb, matrix, e.block_ab, e.ld_ab)
            add_product(c, jac[1], vb, jac[2], va, matrix, e.block_ba, e.ld_ba)


@kernel
def torsion_rows(e, na, nb, q, v, ga, gb, za, zb, zda, zdb, jac, small, f, ck, matrix):
    """The same for the angle phi = atan2(n2.m, n1.m)."""
    va, vb = na.nv, nb.nv
    row_a, row_b, rate_a, rate_b = jac[6][0], jac[6][1], jac[7][0], jac[7][1]
    radial_a, radial_b = jac[6][2], jac[7][2]
    for k in range(12):
        row_a[k] = 0.0
        row_b[k] = 0.0
        rate_a[k] = 0.0
        rate_b[k] = 0.0
        radial_a[k] = 0.0
        radial_b[k] = 0.0
    k1, k2, k3 = second_normal(e)
    n1, n2, n3 = axis(za, e.na1, e.na2, e.na3)
    h1, h2, h3 = axis(za, k1, k2, k3)
    m1, m2, m3 = axis(zb, e.nb1, e.nb2, e.nb3)
    u1, u2, u3 = axis(zda, e.na1, e.na2, e.na3)
    v1, v2, v3 = axis(zda, k1, k2, k3)
    w1, w2, w3 = axis(zdb, e.nb1, e.nb2, e.nb3)
    c = n1 * m1 + n2 * m2 + n3 * m3
    s = h1 * m1 + h2 * m2 + h3 * m3
    cd = u1 * m1 + u2 * m2 + u3 * m3 + n1 * w1 + n2 * w2 + n3 * w3
    sd = v1 * m1 + v2 * m2 + v3 * m3 + h1 * w1 + h2 * w2 + h3 * w3
    d = 1.0 / (c * c + s * s)
    rate = (c * sd - s * cd) * d
    c, s, cd, sd = c * d, s * d, cd * d, sd * d  # divided once, used linearly below
    if va > 0:
        axis_jacobian(na, q, ga, za, e.na1, e.na2, e.na3, jac[0])
        axis_jacobian(na, q, ga, za, k1, k2, k3, jac[1])
        velocity_jacobian(na, q, v, ga, za, e.na1, e.na2, e.na3, jac[3], small)
        velocity_jacobian(na, q, v, ga, za, k1, k2, k3, jac[4], small)
        _row(-s, m1, m2, m3, jac[0], va, row_a)
        _row(c, m1, m2, m3, jac[1], va, row_a)
        _row(c, m1, m2, m3, jac[0], va, radial_a)
        _row(s, m1, m2, m3, jac[1], va, radial_a)
        _row(-s, m1, m2, m3, jac[3], va, rate_a)
        _row(c, m1, m2, m3, jac[4], va, rate_a)
        _row(-s, w1, w2, w3, jac[0], va, rate_a)
        _row(c, w1, w2, w3, jac[1], va, rate_a)
        _row(sd, m1, m2, m3, jac[0], va, rate_a)
        _row(-cd, m1, m2, m3, jac[1], va, rate_a)
    if vb > 0:
        axis_jacobian(nb, q, gb, zb, e.nb1, e.nb2, e.nb3, jac[2])
        velocity_jacobian(nb, q, v, gb, zb, e.nb1, e.nb2, e.nb3, jac[5], small)
        _row(-s, n1, n2, n3, jac[2], vb, row_b)
        _row(c, h1, h2, h3, jac[2], vb, row_b)
        _row(c, n1, n2, n3, jac[2], vb, radial_b)
        _row(s, h1, h2, h3, jac[2], vb, radial_b)
        _row(-s, n1, n2, n3, jac[5], vb, rate_b)
        _row(c, h1, h2, h3, jac[5], vb, rate_b)
        _row(-s, u1, u2, u3, jac[2], vb, rate_b)
        _row(c, v1, v2, v3, jac[2], vb, rate_b)
        _row(sd, n1, n2, n3, jac[2], vb, rate_b)
        _row(-cd, h1, h2, h3, jac[2], vb, rate_b)
    for k in range(12):
        rate_a[k] -= 2.0 * rate * radial_a[k]
        rate_b[k] -= 2.0 * rate * radial_b[k]
    if va > 0 and vb > 0:
        add_product(-ck * f * s, jac[0], va, jac[2], vb, matrix, e.block_ab, e.ld_ab)
        add_product(ck * f * c, jac[1], va, jac[2], vb, matrix, e.block_ab, e.ld_ab)
        add_product(-ck * f * s, jac[2], vb, jac[0], va, matrix, e.block_ba, e.ld_ba)
        add_product(ck * f * c, jac[2], vb, jac[1], va, matrix, e.block_ba, e.ld_ba)
    _outer_pair(-ck * f, row_a, row_b, radial_a, radial_b, na, nb, e, matrix)
    _outer_pair(-ck * f, radial_a, radial_b, row_a, row_b, na, nb, e, matrix)


@kernel
def force_tangent(e, na, nb, q, v, ga, gb, za, zb, zda, zdb, ta, tb, values, turns, cc, ck, jac, small, matrix):
    """Add cc C T^-1 + ck K of the element (the frames' own curvature is added with the frame forces)."""
    kind = e.kind
    if kind == SPRING or kind == AXIS_SPRING or kind == TORSION_SPRING:
        u, rate = spring_state(e, za, zb, zda, zdb, turns)
        f = spring_tension(e, u, rate, values)
        if kind == TORSION_SPRING:
            torsion_rows(e, na, nb, q, v, ga, gb, za, zb, zda, zdb, jac, small, f, ck, matrix)
        else:
            _spring_rows(e, na, nb, q, v, ga, gb, za, zb, zda, zdb, jac, small, f, ck, matrix)
        row_a, row_b, rate_a, rate_b = jac[6][0], jac[6][1], jac[7][0], jac[7][1]
        _outer_pair(ck * e.p1, row_a, row_b, row_a, row_b, na, nb, e, matrix)
        if e.p3 != 0.0:
            _outer_pair(ck * e.p3, row_a, row_b, rate_a, rate_b, na, nb, e, matrix)
            _velocity_row(na, ta, row_a, rate_a)
            _velocity_row(nb, tb, row_b, rate_b)
            _outer_pair(cc * e.p3, row_a, row_b, rate_a, rate_b, na, nb, e, matrix)
        return
    if nb.nv == 0 or ck == 0.0 or kind == FORCE_WORLD:
        return
    f1, f2, f3 = load_vector(e, values)
    if kind == FORCE_BODY:
        point_jacobian(nb, q, gb, zb, e.pb1, e.pb2, e.pb3, jac[0])
        axis_jacobian(nb, q, gb, zb, f1, f2, f3, jac[1])
        add_product(-ck, jac[0], nb.nv, jac[1], nb.nv, matrix, nb.block, nb.ld)
        return
    if kind != TORQUE_WORLD:  # the torque moves with the body
        axis_jacobian(nb, q, gb, zb, f1, f2, f3, jac[2])
        f1, f2, f3 = axis(zb, f1, f2, f3)
    for i in range(3):
        x1, x2, x3 = 1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0
        axis_jacobian(nb, q, gb, zb, x1, x2, x3, jac[0])
        z1, z2, z3 = zb[3 + 3 * i], zb[4 + 3 * i], zb[5 + 3 * i]
        for k in range(nb.nv):  # d(tau x d_i)
            d1, d2, d3 = jac[0][0, k], jac[0][1, k], jac[0][2, k]
            jac[1][0, k] = f2 * d3 - f3 * d2
            jac[1][1, k] = f3 * d1 - f1 * d3
            jac[1][2, k] = f1 * d2 - f2 * d1
            if kind != TORQUE_WORLD:
                d1, d2, d3 = jac[2][0, k], jac[2][1, k], jac[2][2, k]
                jac[1][0, k] += d2 * z3 - d3 * z2
                jac[1][1, k] += d3 * z1 - d1 * z3
                jac[1][2, k] += d1 * z2 - d2 * z1
        add_product(-0.5 * ck, jac[0], nb.nv, jac[1], nb.nv, matrix, nb.block, nb.ld)
