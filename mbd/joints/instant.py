"""The constraint primitives at an instant, as kernels [Haug 1989]; over a step they are in ``mbd.joints.over_step``.

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
derivatives are constant and the gradient at averaged frames is an exact discrete gradient. The multiplier of
``DISTANCE`` is the force in the rod. Nothing here knows a node; Jacobians are those of markers.
"""

from __future__ import annotations

import math

from ..compiled.kernel import kernel
from ..nodes.markers import axis, axis_jacobian, displacement, point_jacobian, push_axis, push_point
from ..nodes.pair_blocks import axes_stiffness, distance_stiffness, projection_stiffness

COINCIDENT = 0
DOT1 = 1
DOT2 = 2
DISTANCE = 3
ROTATING = 4  # DOT1 with an axis of the first body that turns in time: the angle from n1 to b is c(t)
ANGLE = 5  # see mbd.joints.angles; not quadratic in the frames

ROW, COLUMN, BOTH, UPPER = 0, 1, 2, 3  # where the gradient of a constraint goes; UPPER: above the diagonal
OF_AXIS, OF_A, OF_B = 0, 1, 2  # Jacobians of the axis of DOT2 and of the two points or axes


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
    d1, d2, d3 = displacement(p, za, zb)
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
    if lam[i] == 0.0 and (p.kind != COINCIDENT or (lam[i + 1] == 0.0 and lam[i + 2] == 0.0)):
        return  # as in the index-1 form, which asks for applied forces
    add_primitive_force(p, za, zb, value, lam, i, fa, fb)


@kernel
def add_primitive_force(p, za, zb, value, lam, i, fa, fb):
    """``primitive_force`` for multipliers that may be zero, or, as the frames, of kind ``fours``."""
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
        d1, d2, d3 = displacement(p, za, zb)
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
    v1, v2, v3 = displacement(p, zda, zdb)
    if kind == COINCIDENT:
        x[i] = v1
        x[i + 1] = v2
        x[i + 2] = v3
        return
    d1, d2, d3 = displacement(p, za, zb)
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
    v1, v2, v3 = displacement(p, zda, zdb)
    if kind == DOT2:
        u1, u2, u3 = axis(zda, p.aa1, p.aa2, p.aa3)
        x[i] += 2.0 * (u1 * v1 + u2 * v2 + u3 * v3)
    else:
        x[i] += (v1 * v1 + v2 * v2 + v3 * v3) / value


# --- blocks of the iteration matrix -------------------------------------------------------------------------------


@kernel(forceinline=True)
def primitive_jacobians(p, na, nb, q, ga, gb, za, zb, value, jacobians):
    """Jacobians of the two points or, for DOT1, axes (OF_A, OF_B), and of the axis of DOT2 (OF_AXIS)."""
    kind = p.kind
    if kind == DOT1 or kind == ROTATING:
        if na.nv > 0:
            x1, x2, x3 = first_axis(p, value)
            axis_jacobian(na, q, ga, za, x1, x2, x3, jacobians[OF_A])
        if nb.nv > 0:
            axis_jacobian(nb, q, gb, zb, p.ab1, p.ab2, p.ab3, jacobians[OF_B])
        return
    if na.nv > 0:
        point_jacobian(na, q, ga, za, p.pa1, p.pa2, p.pa3, jacobians[OF_A])
        if kind == DOT2:
            axis_jacobian(na, q, ga, za, p.aa1, p.aa2, p.aa3, jacobians[OF_AXIS])
    if nb.nv > 0:
        point_jacobian(nb, q, gb, zb, p.pb1, p.pb2, p.pb3, jacobians[OF_B])


@kernel(forceinline=True)
def _write(c, f1, f2, f3, j, nv, where, matrix, row, column, ld):
    """Add c f^T j to a row of a constraint, to its column, to both, or to that of them which comes first."""
    if where == UPPER:
        where = ROW if row < column else COLUMN
    for k in range(nv):
        value = c * (f1 * j[0, k] + f2 * j[1, k] + f3 * j[2, k])
        if where != COLUMN:
            matrix[row + k] += value
        if where != ROW:
            matrix[column + k * ld] += value


@kernel(forceinline=True)
def _write_point(c, j, nv, where, matrix, row, ld_row, column, ld):
    """Add c j to three rows, to three columns, to both, or to those of them which come first."""
    if where == UPPER:
        where = ROW if row < column else COLUMN
    for m in range(3):
        r, o = row + m * ld_row, column + m
        for k in range(nv):
            if where != COLUMN:
                matrix[r + k] += c * j[m, k]
            if where != ROW:
                matrix[o + k * ld] += c * j[m, k]


@kernel(forceinline=True)
def primitive_blocks(p, na, nb, q, ga, gb, zra, zrb, za, zb, value, c, where, jacobians, matrix):
    """Add c g_z Z to the rows of the joint (``where`` = ROW), its transpose to the columns (COLUMN), or both (BOTH).

    UPPER is what of both is above the diagonal of the matrix, for symmetric ones.

    g_z is taken at the frames z, the Jacobians Z of nodes at (q, zr); at an instant z and zr are the same.
    """
    kind = p.kind
    primitive_jacobians(p, na, nb, q, ga, gb, zra, zrb, value, jacobians)
    if kind == COINCIDENT:
        _write_point(-c, jacobians[OF_A], na.nv, where, matrix, p.block_ja, p.ld_ja, p.block_aj, p.ld_aj)
        _write_point(c, jacobians[OF_B], nb.nv, where, matrix, p.block_jb, p.ld_jb, p.block_bj, p.ld_bj)
        return
    if kind == DOT1 or kind == ROTATING:
        x1, x2, x3 = first_axis(p, value)
        a1, a2, a3 = axis(za, x1, x2, x3)
        b1, b2, b3 = axis(zb, p.ab1, p.ab2, p.ab3)
        _write(c, b1, b2, b3, jacobians[OF_A], na.nv, where, matrix, p.block_ja, p.block_aj, p.ld_aj)
        _write(c, a1, a2, a3, jacobians[OF_B], nb.nv, where, matrix, p.block_jb, p.block_bj, p.ld_bj)
        return
    f1, f2, f3 = displacement(p, za, zb)
    if kind == DOT2:
        _write(c, f1, f2, f3, jacobians[OF_AXIS], na.nv, where, matrix, p.block_ja, p.block_aj, p.ld_aj)
        f1, f2, f3 = axis(za, p.aa1, p.aa2, p.aa3)
    else:
        f1, f2, f3 = f1 / value, f2 / value, f3 / value
    _write(-c, f1, f2, f3, jacobians[OF_A], na.nv, where, matrix, p.block_ja, p.block_aj, p.ld_aj)
    _write(c, f1, f2, f3, jacobians[OF_B], nb.nv, where, matrix, p.block_jb, p.block_bj, p.ld_bj)


@kernel(forceinline=True)
def curvature_blocks(p, na, nb, value, c, rows, columns, matrix):
    """Add c g_zz between the Jacobians ``rows`` and ``columns`` of the primitive's markers."""
    kind = p.kind
    if kind == DOT1 or kind == ROTATING:
        axes_stiffness(c, rows[OF_A], rows[OF_B], columns[OF_A], columns[OF_B], na, nb, p, matrix)
    elif kind == DOT2:
        projection_stiffness(
            c, rows[OF_AXIS], rows[OF_A], rows[OF_B], columns[OF_AXIS], columns[OF_A], columns[OF_B], na, nb, p, matrix
        )  # fmt: skip
    else:
        distance_stiffness(c / value, rows[OF_A], rows[OF_B], columns[OF_A], columns[OF_B], na, nb, p, matrix)


@kernel
def primitive_stiffness(p, na, nb, q, ga, gb, za, zb, value, lam, i, c, jacobians, matrix):
    """Add c lambda.g_zz pulled back by both frames (their own curvature is the node's business)."""
    if p.kind != COINCIDENT:
        primitive_jacobians(p, na, nb, q, ga, gb, za, zb, value, jacobians)
        curvature_blocks(p, na, nb, value, c * lam[i], jacobians, jacobians, matrix)
