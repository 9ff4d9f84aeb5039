"""Joint primitives in methods with discrete gradients: multipliers act at averaged, equations hold at end frames.

*Row* Jacobians (from qr and zr) turn frame forces into generalised forces, *column* Jacobians (from q1 and z1) say how
the end frame moves with the unknown increment; see ``mbd.forces.over_step_tangent``.
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..forces.over_step import distance
from ..nodes.frames import axis_jacobian, point_jacobian
from .instant import COINCIDENT, DOT1, DOT2, ROTATING, add_product, axis, first_axis


@kernel
def _write_column(c1, c2, c3, j, nv, matrix, block, ld):
    for k in range(nv):
        matrix[block + k * ld] += c1 * j[0, k] + c2 * j[1, k] + c3 * j[2, k]


@kernel
def _write_row(c1, c2, c3, j, nv, matrix, block):
    for k in range(nv):
        matrix[block + k] += c1 * j[0, k] + c2 * j[1, k] + c3 * j[2, k]


@kernel
def joint_blocks(p, na, nb, qr, q1, zra, zrb, za1, zb1, zma, zmb, value, jac, matrix):
    """Add the Jacobian of g(z1) to the rows and the transposed discrete gradient to the columns of a primitive."""
    kind = p.kind
    va, vb = na.nv, nb.nv
    if kind == DOT1 or kind == ROTATING:
        x1, x2, x3 = first_axis(p, value)
        if va > 0:
            m1, m2, m3 = axis(zmb, p.ab1, p.ab2, p.ab3)
            e1, e2, e3 = axis(zb1, p.ab1, p.ab2, p.ab3)
            axis_jacobian(na, qr, zra, zra, x1, x2, x3, jac[0])
            axis_jacobian(na, q1, za1, za1, x1, x2, x3, jac[1])
            _write_column(m1, m2, m3, jac[0], va, matrix, p.block_aj, p.ld_aj)
            _write_row(e1, e2, e3, jac[1], va, matrix, p.block_ja)
        if vb > 0:
            m1, m2, m3 = axis(zma, x1, x2, x3)
            e1, e2, e3 = axis(za1, x1, x2, x3)
            axis_jacobian(nb, qr, zrb, zrb, p.ab1, p.ab2, p.ab3, jac[0])
            axis_jacobian(nb, q1, zb1, zb1, p.ab1, p.ab2, p.ab3, jac[1])
            _write_column(m1, m2, m3, jac[0], vb, matrix, p.block_bj, p.ld_bj)
            _write_row(e1, e2, e3, jac[1], vb, matrix, p.block_jb)
        return
    if va > 0:
        point_jacobian(na, qr, zra, zra, p.pa1, p.pa2, p.pa3, jac[0])
        point_jacobian(na, q1, za1, za1, p.pa1, p.pa2, p.pa3, jac[1])
    if vb > 0:
        point_jacobian(nb, qr, zrb, zrb, p.pb1, p.pb2, p.pb3, jac[2])
        point_jacobian(nb, q1, zb1, zb1, p.pb1, p.pb2, p.pb3, jac[3])
    if kind == COINCIDENT:
        for m in range(3):
            for k in range(va):
                matrix[p.block_aj + m + k * p.ld_aj] -= jac[0][m, k]
                matrix[p.block_ja + m * p.ld_ja + k] -= jac[1][m, k]
            for k in range(vb):
                matrix[p.block_bj + m + k * p.ld_bj] += jac[2][m, k]
                matrix[p.block_jb + m * p.ld_jb + k] += jac[3][m, k]
        return
    m1, m2, m3 = distance(zma, zmb, p)
    e1, e2, e3 = distance(za1, zb1, p)
    if kind == DOT2:
        if va > 0:
            axis_jacobian(na, qr, zra, zra, p.aa1, p.aa2, p.aa3, jac[4])
            axis_jacobian(na, q1, za1, za1, p.aa1, p.aa2, p.aa3, jac[5])
            _write_column(m1, m2, m3, jac[4], va, matrix, p.block_aj, p.ld_aj)
            _write_row(e1, e2, e3, jac[5], va, matrix, p.block_ja)
        m1, m2, m3 = axis(zma, p.aa1, p.aa2, p.aa3)
        e1, e2, e3 = axis(za1, p.aa1, p.aa2, p.aa3)
    else:
        m1, m2, m3, e1, e2, e3 = m1 / value, m2 / value, m3 / value, e1 / value, e2 / value, e3 / value
    if va > 0:
        _write_column(-m1, -m2, -m3, jac[0], va, matrix, p.block_aj, p.ld_aj)
        _write_row(-e1, -e2, -e3, jac[1], va, matrix, p.block_ja)
    if vb > 0:
        _write_column(m1, m2, m3, jac[2], vb, matrix, p.block_bj, p.ld_bj)
        _write_row(e1, e2, e3, jac[3], vb, matrix, p.block_jb)


@kernel
def joint_stiffness(p, na, nb, qr, q1, zra, zrb, za1, zb1, value, lam, i, ck, jac, matrix):
    """Add ck lambda.g_zz between row and column Jacobians, halved because g_z is taken at the averaged frames."""
    kind = p.kind
    if kind == COINCIDENT:
        return
    va, vb = na.nv, nb.nv
    f = 0.5 * ck * lam[i]
    if kind == DOT1 or kind == ROTATING:
        if va > 0 and vb > 0:
            x1, x2, x3 = first_axis(p, value)
            axis_jacobian(na, qr, zra, zra, x1, x2, x3, jac[0])
            axis_jacobian(na, q1, za1, za1, x1, x2, x3, jac[1])
            axis_jacobian(nb, qr, zrb, zrb, p.ab1, p.ab2, p.ab3, jac[2])
            axis_jacobian(nb, q1, zb1, zb1, p.ab1, p.ab2, p.ab3, jac[3])
            add_product(f, jac[0], va, jac[3], vb, matrix, p.block_ab, p.ld_ab)
            add_product(f, jac[2], vb, jac[1], va, matrix, p.block_ba, p.ld_ba)
        return
    if va > 0:
        point_jacobian(na, qr, zra, zra, p.pa1, p.pa2, p.pa3, jac[0])
        point_jacobian(na, q1, za1, za1, p.pa1, p.pa2, p.pa3, jac[1])
    if vb > 0:
        point_jacobian(nb, qr, zrb, zrb, p.pb1, p.pb2, p.pb3, jac[2])
        point_jacobian(nb, q1, zb1, zb1, p.pb1, p.pb2, p.pb3, jac[3])
    if kind == DOT2:
        if va > 0:
            axis_jacobian(na, qr, zra, zra, p.aa1, p.aa2, p.aa3, jac[4])
            axis_jacobian(na, q1, za1, za1, p.aa1, p.aa2, p.aa3, jac[5])
            add_product(-f, jac[4], va, jac[1], va, matrix, na.block, na.ld)
            add_product(-f, jac[0], va, jac[5], va, matrix, na.block, na.ld)
            if vb > 0:
                add_product(f, jac[4], va, jac[3], vb, matrix, p.block_ab, p.ld_ab)
                add_product(f, jac[2], vb, jac[5], va, matrix, p.block_ba, p.ld_ba)
        return
    f /= value
    if va > 0:
        add_product(f, jac[0], va, jac[1], va, matrix, na.block, na.ld)
    if vb > 0:
        add_product(f, jac[2], vb, jac[3], vb, matrix, nb.block, nb.ld)
    if va > 0 and vb > 0:
        add_product(-f, jac[0], va, jac[3], vb, matrix, p.block_ab, p.ld_ab)
        add_product(-f, jac[2], vb, jac[1], va, matrix, p.block_ba, p.ld_ba)
