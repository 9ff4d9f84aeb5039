"""The constraint primitives that are at most quadratic in the frames, as kernels [Haug 1989].

====================  =======================================  ======
kind                  equation                                  rows
====================  =======================================  ======
COINCIDENT            Q - P = 0                                 3
DOT1                  a . b - c = 0                             1
DOT2                  a . (Q - P) - c = 0                       1
DISTANCE              (|Q - P|^2 - L^2) / (2 L) = 0             1
ROTATING              a(c) . b = 0, a(c) = cos c n2 - sin c n1  1
====================  =======================================  ======

P and a are fixed in the first body, Q and b in the second. Each is at most quadratic in the frames, so the second
derivatives are constant and "averaged frames times a secant" is an exact discrete gradient. The multiplier of
``DISTANCE`` is the force in the rod. Nothing here knows a node; Jacobians arrive as rows of markers.
"""

from __future__ import annotations

import math

from ..compiled.kernel import kernel
from ..nodes.frames import axis_jacobian, point_jacobian

COINCIDENT = 0
DOT1 = 1
DOT2 = 2
DISTANCE = 3
ROTATING = 4  # DOT1 with an axis of the first body that turns in time: the angle from n1 to b is c(t)
ANGLE = 5  # see mbd.joints.angles; not quadratic in the frames


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
def first_axis(p, value):
    """The axis of DOT1 and ROTATING in the first body."""
    if p.kind == ROTATING:
        c, s = math.cos(value), math.sin(value)
        return c * p.na1 - s * p.aa1, c * p.na2 - s * p.aa2, c * p.na3 - s * p.aa3
    return p.aa1, p.aa2, p.aa3


@kernel
def primitive_drive(p, za, zb, zda, zdb, values):
    """(g_t, 2 g_tq v + g_tt) of a primitive with a prescribed value (c, c_dot, c_ddot)."""
    value, rate, acceleration = values[p.function], values[p.function + 1], values[p.function + 2]
    if p.kind != ROTATING:
        return -rate, -acceleration
    x1, x2, x3 = first_axis(p, value)
    c, s = -math.cos(value), -math.sin(value)
    y1, y2, y3 = c * p.aa1 + s * p.na1, c * p.aa2 + s * p.na2, c * p.aa3 + s * p.na3  # d(axis)/d(value)
    a1, a2, a3 = axis(za, x1, x2, x3)
    e1, e2, e3 = axis(za, y1, y2, y3)
    f1, f2, f3 = axis(zda, y1, y2, y3)
    b1, b2, b3 = axis(zb, p.ab1, p.ab2, p.ab3)
    v1, v2, v3 = axis(zdb, p.ab1, p.ab2, p.ab3)
    slope = e1 * b1 + e2 * b2 + e3 * b3
    mixed = f1 * b1 + f2 * b2 + f3 * b3 + e1 * v1 + e2 * v2 + e3 * v3
    return rate * slope, (2.0 * rate * mixed + acceleration * slope - rate * rate * (a1 * b1 + a2 * b2 + a3 * b3))


@kernel
def primitive_value(p, za, zb, value, x, i):
    """x[i:] = g."""
    kind = p.kind
    if kind == DOT1 or kind == ROTATING:
        x1, x2, x3 = first_axis(p, value)
        a1, a2, a3 = axis(za, x1, x2, x3)
        b1, b2, b3 = axis(zb, p.ab1, p.ab2, p.ab3)
        x[i] = a1 * b1 + a2 * b2 + a3 * b3 - (value if kind == DOT1 else 0.0)
        return
    p1, p2, p3 = point(za, p.pa1, p.pa2, p.pa3)
    q1, q2, q3 = point(zb, p.pb1, p.pb2, p.pb3)
    d1, d2, d3 = q1 - p1, q2 - p2, q3 - p3
    if kind == COINCIDENT:
        x[i] = d1
        x[i + 1] = d2
        x[i + 2] = d3
    elif kind == DOT2:
        a1, a2, a3 = axis(za, p.aa1, p.aa2, p.aa3)
        x[i] = a1 * d1 + a2 * d2 + a3 * d3 - value
    else:
        x[i] = 0.5 * (d1 * d1 + d2 * d2 + d3 * d3 - value * value) / value


@kernel
def primitive_force(p, za, zb, value, lam, i, fa, fb):
    """fa, fb += g_z^T lambda: the frame forces of the constraint."""
    kind = p.kind
    if kind == DOT1 or kind == ROTATING:
        x1, x2, x3 = first_axis(p, value)
        a1, a2, a3 = axis(za, x1, x2, x3)
        b1, b2, b3 = axis(zb, p.ab1, p.ab2, p.ab3)
        c = lam[i]
        push_axis(fa, x1, x2, x3, c * b1, c * b2, c * b3)
        push_axis(fb, p.ab1, p.ab2, p.ab3, c * a1, c * a2, c * a3)
        return
    if kind == COINCIDENT:
        f1, f2, f3 = lam[i], lam[i + 1], lam[i + 2]
    else:
        p1, p2, p3 = point(za, p.pa1, p.pa2, p.pa3)
        q1, q2, q3 = point(zb, p.pb1, p.pb2, p.pb3)
        d1, d2, d3 = q1 - p1, q2 - p2, q3 - p3
        if kind == DOT2:
            c = lam[i]
            f1, f2, f3 = axis(za, p.aa1, p.aa2, p.aa3)
            push_axis(fa, p.aa1, p.aa2, p.aa3, c * d1, c * d2, c * d3)
            f1, f2, f3 = c * f1, c * f2, c * f3
        else:
            c = lam[i] / value
            f1, f2, f3 = c * d1, c * d2, c * d3
    push_point(fa, p.pa1, p.pa2, p.pa3, -f1, -f2, -f3)
    push_point(fb, p.pb1, p.pb2, p.pb3, f1, f2, f3)


@kernel
def primitive_rate(p, za, zb, zda, zdb, value, x, i):
    """x[i:] = g_z z_dot, without the rate of a driven value."""
    kind = p.kind
    if kind == DOT1 or kind == ROTATING:
        x1, x2, x3 = first_axis(p, value)
        a1, a2, a3 = axis(za, x1, x2, x3)
        b1, b2, b3 = axis(zb, p.ab1, p.ab2, p.ab3)
        u1, u2, u3 = axis(zda, x1, x2, x3)
        v1, v2, v3 = axis(zdb, p.ab1, p.ab2, p.ab3)
        x[i] = u1 * b1 + u2 * b2 + u3 * b3 + a1 * v1 + a2 * v2 + a3 * v3
        return
    p1, p2, p3 = point(zda, p.pa1, p.pa2, p.pa3)
    q1, q2, q3 = point(zdb, p.pb1, p.pb2, p.pb3)
    v1, v2, v3 = q1 - p1, q2 - p2, q3 - p3
    if kind == COINCIDENT:
        x[i] = v1
        x[i + 1] = v2
        x[i + 2] = v3
        return
    p1, p2, p3 = point(za, p.pa1, p.pa2, p.pa3)
    q1, q2, q3 = point(zb, p.pb1, p.pb2, p.pb3)
    d1, d2, d3 = q1 - p1, q2 - p2, q3 - p3
    if kind == DOT2:
        a1, a2, a3 = axis(za, p.aa1, p.aa2, p.aa3)
        u1, u2, u3 = axis(zda, p.aa1, p.aa2, p.aa3)
        x[i] = u1 * d1 + u2 * d2 + u3 * d3 + a1 * v1 + a2 * v2 + a3 * v3
    else:
        x[i] = (d1 * v1 + d2 * v2 + d3 * v3) / value


@kernel
def primitive_curvature(p, zda, zdb, value, x, i):
    """x[i:] += g_zz[z_dot, z_dot]: the part of the second time derivative that is quadratic in velocity."""
    kind = p.kind
    if kind == COINCIDENT:
        return
    if kind == DOT1 or kind == ROTATING:
        x1, x2, x3 = first_axis(p, value)
        u1, u2, u3 = axis(zda, x1, x2, x3)
        v1, v2, v3 = axis(zdb, p.ab1, p.ab2, p.ab3)
        x[i] += 2.0 * (u1 * v1 + u2 * v2 + u3 * v3)
        return
    p1, p2, p3 = point(zda, p.pa1, p.pa2, p.pa3)
    q1, q2, q3 = point(zdb, p.pb1, p.pb2, p.pb3)
    v1, v2, v3 = q1 - p1, q2 - p2, q3 - p3
    if kind == DOT2:
        u1, u2, u3 = axis(zda, p.aa1, p.aa2, p.aa3)
        x[i] += 2.0 * (u1 * v1 + u2 * v2 + u3 * v3)
    else:
        x[i] += (v1 * v1 + v2 * v2 + v3 * v3) / value


# --- blocks of the iteration matrix -------------------------------------------------------------------------------


@kernel
def _write_row(c1, c2, c3, j, nv, matrix, row, column, ld_column):
    """Add the row (c1, c2, c3) j to the constraint's row and column blocks."""
    for k in range(nv):
        value = c1 * j[0, k] + c2 * j[1, k] + c3 * j[2, k]
        matrix[row + k] += value
        matrix[column + k * ld_column] += value


@kernel
def primitive_blocks(p, na, nb, q, ga, gb, za, zb, value, jac, matrix):
    """Add the Jacobian g_z Z and its transpose to the blocks of the joint."""
    kind = p.kind
    va, vb = na.nv, nb.nv
    if kind == COINCIDENT:
        if va > 0:
            j = jac[0]
            point_jacobian(na, q, ga, za, p.pa1, p.pa2, p.pa3, j)
            for m in range(3):
                r, c = p.block_ja + m * p.ld_ja, p.block_aj + m
                for k in range(va):
                    matrix[r + k] -= j[m, k]
                    matrix[c + k * p.ld_aj] -= j[m, k]
        if vb > 0:
            j = jac[1]
            point_jacobian(nb, q, gb, zb, p.pb1, p.pb2, p.pb3, j)
            for m in range(3):
                r, c = p.block_jb + m * p.ld_jb, p.block_bj + m
                for k in range(vb):
                    matrix[r + k] += j[m, k]
                    matrix[c + k * p.ld_bj] += j[m, k]
        return
    if kind == DOT1 or kind == ROTATING:
        x1, x2, x3 = first_axis(p, value)
        a1, a2, a3 = axis(za, x1, x2, x3)
        b1, b2, b3 = axis(zb, p.ab1, p.ab2, p.ab3)
        if va > 0:
            axis_jacobian(na, q, ga, za, x1, x2, x3, jac[0])
            _write_row(b1, b2, b3, jac[0], va, matrix, p.block_ja, p.block_aj, p.ld_aj)
        if vb > 0:
            axis_jacobian(nb, q, gb, zb, p.ab1, p.ab2, p.ab3, jac[1])
            _write_row(a1, a2, a3, jac[1], vb, matrix, p.block_jb, p.block_bj, p.ld_bj)
        return
    p1, p2, p3 = point(za, p.pa1, p.pa2, p.pa3)
    q1, q2, q3 = point(zb, p.pb1, p.pb2, p.pb3)
    d1, d2, d3 = q1 - p1, q2 - p2, q3 - p3
    if kind == DOT2:
        f1, f2, f3 = axis(za, p.aa1, p.aa2, p.aa3)
        if va > 0:
            axis_jacobian(na, q, ga, za, p.aa1, p.aa2, p.aa3, jac[0])
            _write_row(d1, d2, d3, jac[0], va, matrix, p.block_ja, p.block_aj, p.ld_aj)
    else:
        f1, f2, f3 = d1 / value, d2 / value, d3 / value
    if va > 0:
        point_jacobian(na, q, ga, za, p.pa1, p.pa2, p.pa3, jac[1])
        _write_row(-f1, -f2, -f3, jac[1], va, matrix, p.block_ja, p.block_aj, p.ld_aj)
    if vb > 0:
        point_jacobian(nb, q, gb, zb, p.pb1, p.pb2, p.pb3, jac[2])
        _write_row(f1, f2, f3, jac[2], vb, matrix, p.block_jb, p.block_bj, p.ld_bj)


@kernel
def add_product(c, ju, nu, jv, nv, matrix, block, ld):
    """matrix block += c ju^T jv."""
    for i in range(nu):
        u1, u2, u3 = c * ju[0, i], c * ju[1, i], c * ju[2, i]
        for k in range(nv):
            matrix[block + i * ld + k] += u1 * jv[0, k] + u2 * jv[1, k] + u3 * jv[2, k]


@kernel
def primitive_stiffness(p, na, nb, q, ga, gb, za, zb, value, lam, i, c, jac, matrix):
    """Add c lambda.g_zz pulled back by both frames (their own curvature is the node's business)."""
    kind = p.kind
    if kind == COINCIDENT:
        return
    va, vb = na.nv, nb.nv
    f = c * lam[i]
    if kind == DOT1 or kind == ROTATING:
        if va > 0 and vb > 0:
            x1, x2, x3 = first_axis(p, value)
            axis_jacobian(na, q, ga, za, x1, x2, x3, jac[0])
            axis_jacobian(nb, q, gb, zb, p.ab1, p.ab2, p.ab3, jac[1])
            add_product(f, jac[0], va, jac[1], vb, matrix, p.block_ab, p.ld_ab)
            add_product(f, jac[1], vb, jac[0], va, matrix, p.block_ba, p.ld_ba)
        return
    if va > 0:
        point_jacobian(na, q, ga, za, p.pa1, p.pa2, p.pa3, jac[1])
    if vb > 0:
        point_jacobian(nb, q, gb, zb, p.pb1, p.pb2, p.pb3, jac[2])
    if kind == DOT2:
        if va > 0:
            axis_jacobian(na, q, ga, za, p.aa1, p.aa2, p.aa3, jac[0])
            add_product(-f, jac[0], va, jac[1], va, matrix, na.block, na.ld)
            add_product(-f, jac[1], va, jac[0], va, matrix, na.block, na.ld)
            if vb > 0:
                add_product(f, jac[0], va, jac[2], vb, matrix, p.block_ab, p.ld_ab)
                add_product(f, jac[2], vb, jac[0], va, matrix, p.block_ba, p.ld_ba)
    else:
        f = f / value
        if va > 0:
            add_product(f, jac[1], va, jac[1], va, matrix, na.block, na.ld)
        if vb > 0:
            add_product(f, jac[2], vb, jac[2], vb, matrix, nb.block, nb.ld)
        if va > 0 and vb > 0:
            add_product(-f, jac[1], va, jac[2], vb, matrix, p.block_ab, p.ld_ab)
            add_product(-f, jac[2], vb, jac[1], va, matrix, p.block_ba, p.ld_ba)
