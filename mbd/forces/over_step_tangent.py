"""Tangents of the discrete gradients of force elements (``mbd.forces.over_step``).

Tangents have *row* Jacobians (how the averaged frame turns a frame force into a generalised force, from qr and zr) and
*column* Jacobians (how the end frame moves with the unknown increment, from q1 and z1); they are the same only for
frames that are linear in the coordinates. Terms that depend on z1 through zm carry the factor one half.
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..joints.instant import add_product, axis
from ..nodes.frames import axis_jacobian, point_jacobian
from .instant import load_vector, second_normal, spring_tension
from .kinds import AXIS_SPRING, FORCE_BODY, SPRING, TORSION_SPRING
from .over_step import angle_quotient, distance, hinge, norm, secant_tension


@kernel
def _add_row(c, f1, f2, f3, j, n, row):
    for k in range(n):
        row[k] += c * (f1 * j[0, k] + f2 * j[1, k] + f3 * j[2, k])


@kernel
def _outer_pair(c, ua, ub, va, vb, na, nb, e, matrix):
    """matrix += c u v^T for rows u and columns v over both bodies."""
    for i in range(na.nv):
        for k in range(na.nv):
            matrix[na.block + i * na.ld + k] += c * ua[i] * va[k]
    for i in range(nb.nv):
        for k in range(nb.nv):
            matrix[nb.block + i * nb.ld + k] += c * ub[i] * vb[k]
    if na.nv > 0 and nb.nv > 0:
        for i in range(na.nv):
            for k in range(nb.nv):
                matrix[e.block_ab + i * e.ld_ab + k] += c * ua[i] * vb[k]
        for i in range(nb.nv):
            for k in range(na.nv):
                matrix[e.block_ba + i * e.ld_ba + k] += c * ub[i] * va[k]


@kernel
def _clear_rows(rows):
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            rows[i, k] = 0.0


@kernel
def discrete_force_tangent(
    e, na, nb, qr, q1, zra, zrb, za0, zb0, za1, zb1, zma, zmb, h, values, turns, ck, jac, matrix
):  # fmt: skip
    """Add ck d(generalised force)/d(increment); torques, which act on nodes, only where they turn with the body."""
    kind = e.kind
    if kind == TORSION_SPRING:
        c0, s0 = hinge(e, za0, zb0)
        c1, s1 = hinge(e, za1, zb1)
        phi, t, ts, tc = angle_quotient(s1 * c0 - c1 * s0, c1 * c0 + s1 * s0)
        f = spring_tension(e, turns[e.turn] + 0.5 * phi, phi / h, values)
        slope = 0.5 * e.p1 + e.p3 / h
        secant_angle_tangent(
            e, na, nb, qr, q1, zra, zrb, za1, zb1, zma, zmb, c0, s0, c1, s1, f, slope, ck, jac, matrix
        )  # fmt: skip
    elif kind == SPRING or kind == AXIS_SPRING:
        _spring_tangent(e, na, nb, qr, q1, zra, zrb, za0, zb0, za1, zb1, zma, zmb, h, values, ck, jac, matrix)
    elif kind == FORCE_BODY:
        f1, f2, f3 = load_vector(e, values)
        point_jacobian(nb, qr, zrb, zrb, e.pb1, e.pb2, e.pb3, jac[0])
        axis_jacobian(nb, q1, za1, zb1, f1, f2, f3, jac[1])
        add_product(-0.5 * ck, jac[0], nb.nv, jac[1], nb.nv, matrix, nb.block, nb.ld)


@kernel
def _spring_tangent(e, na, nb, qr, q1, zra, zrb, za0, zb0, za1, zb1, zma, zmb, h, values, ck, jac, matrix):
    va, vb = na.nv, nb.nv
    rows, columns = jac[6], jac[7]
    _clear_rows(rows)
    _clear_rows(columns)
    f, slope = secant_tension(e, za0, zb0, za1, zb1, h, values)
    d1, d2, d3 = distance(zma, zmb, e)
    x1, x2, x3 = distance(za1, zb1, e)
    r1, r2, r3 = d1, d2, d3
    c1, c2, c3 = x1, x2, x3
    if e.kind == AXIS_SPRING:
        r1, r2, r3 = axis(zma, e.aa1, e.aa2, e.aa3)
        c1, c2, c3 = axis(za1, e.aa1, e.aa2, e.aa3)
    else:
        length = norm(x1, x2, x3)
        scale = 1.0 / length if length > 0.0 else 0.0
        c1, c2, c3 = scale * c1, scale * c2, scale * c3
    half = 0.5 * ck * f
    if va > 0:
        point_jacobian(na, qr, zra, zra, e.pa1, e.pa2, e.pa3, jac[0])
        point_jacobian(na, q1, za1, za1, e.pa1, e.pa2, e.pa3, jac[1])
        _add_row(-1.0, r1, r2, r3, jac[0], va, rows[0])
        _add_row(-1.0, c1, c2, c3, jac[1], va, columns[0])
    if vb > 0:
        point_jacobian(nb, qr, zrb, zrb, e.pb1, e.pb2, e.pb3, jac[2])
        point_jacobian(nb, q1, zb1, zb1, e.pb1, e.pb2, e.pb3, jac[3])
        _add_row(1.0, r1, r2, r3, jac[2], vb, rows[1])
        _add_row(1.0, c1, c2, c3, jac[3], vb, columns[1])
    if e.kind == SPRING:
        if va > 0:
            add_product(half, jac[0], va, jac[1], va, matrix, na.block, na.ld)
        if vb > 0:
            add_product(half, jac[2], vb, jac[3], vb, matrix, nb.block, nb.ld)
        if va > 0 and vb > 0:
            add_product(-half, jac[0], va, jac[3], vb, matrix, e.block_ab, e.ld_ab)
            add_product(-half, jac[2], vb, jac[1], va, matrix, e.block_ba, e.ld_ba)
    elif va > 0:
        axis_jacobian(na, qr, zra, zra, e.aa1, e.aa2, e.aa3, jac[4])
        axis_jacobian(na, q1, za1, za1, e.aa1, e.aa2, e.aa3, jac[5])
        _add_row(1.0, d1, d2, d3, jac[4], va, rows[0])
        _add_row(1.0, x1, x2, x3, jac[5], va, columns[0])
        add_product(-half, jac[4], va, jac[1], va, matrix, na.block, na.ld)
        add_product(-half, jac[0], va, jac[5], va, matrix, na.block, na.ld)
        if vb > 0:
            add_product(half, jac[4], va, jac[3], vb, matrix, e.block_ab, e.ld_ab)
            add_product(half, jac[2], vb, jac[5], va, matrix, e.block_ba, e.ld_ba)
    _outer_pair(ck * slope, rows[0], rows[1], columns[0], columns[1], na, nb, e, matrix)


@kernel
def secant_angle_tangent(
    e, na, nb, qr, q1, zra, zrb, za1, zb1, zma, zmb, c0, s0, c1, s1, f, slope, ck, jac, matrix
):  # fmt: skip
    """Add ck times the derivative of f (phi/sin phi) (grad of the hinge angle), df/d(phi1) = slope.

    cos and sin of the hinge angle are (c0, s0) at the start and (c1, s1) at the end of the step.
    """
    va, vb = na.nv, nb.nv
    rs, rc, cs, cc = jac[4], jac[5], jac[6], jac[7]  # rows and columns of sine and cosine, both bodies
    _clear_rows(rs)
    _clear_rows(rc)
    _clear_rows(cs)
    _clear_rows(cc)
    phi, t, ts, tc = angle_quotient(s1 * c0 - c1 * s0, c1 * c0 + s1 * s0)
    cm, sm = 0.5 * (c0 + c1), 0.5 * (s0 + s1)
    k1, k2, k3 = second_normal(e)
    n1, n2, n3 = axis(zma, e.na1, e.na2, e.na3)
    h1, h2, h3 = axis(zma, k1, k2, k3)
    m1, m2, m3 = axis(zmb, e.nb1, e.nb2, e.nb3)
    u1, u2, u3 = axis(za1, e.na1, e.na2, e.na3)
    v1, v2, v3 = axis(za1, k1, k2, k3)
    w1, w2, w3 = axis(zb1, e.nb1, e.nb2, e.nb3)
    half = 0.5 * ck * f * t
    if vb > 0:
        axis_jacobian(nb, qr, zrb, zrb, e.nb1, e.nb2, e.nb3, jac[2])
        axis_jacobian(nb, q1, zb1, zb1, e.nb1, e.nb2, e.nb3, jac[3])
        _add_row(1.0, h1, h2, h3, jac[2], vb, rs[1])
        _add_row(1.0, n1, n2, n3, jac[2], vb, rc[1])
        _add_row(1.0, v1, v2, v3, jac[3], vb, cs[1])
        _add_row(1.0, u1, u2, u3, jac[3], vb, cc[1])
    if va > 0:  # first n2 with the sine, then n1 with the cosine
        axis_jacobian(na, qr, zra, zra, k1, k2, k3, jac[0])
        axis_jacobian(na, q1, za1, za1, k1, k2, k3, jac[1])
        _add_row(1.0, m1, m2, m3, jac[0], va, rs[0])
        _add_row(1.0, w1, w2, w3, jac[1], va, cs[0])
        if vb > 0:
            add_product(half * cm, jac[0], va, jac[3], vb, matrix, e.block_ab, e.ld_ab)
            add_product(half * cm, jac[2], vb, jac[1], va, matrix, e.block_ba, e.ld_ba)
        axis_jacobian(na, qr, zra, zra, e.na1, e.na2, e.na3, jac[0])
        axis_jacobian(na, q1, za1, za1, e.na1, e.na2, e.na3, jac[1])
        _add_row(1.0, m1, m2, m3, jac[0], va, rc[0])
        _add_row(1.0, w1, w2, w3, jac[1], va, cc[0])
        if vb > 0:
            add_product(-half * sm, jac[0], va, jac[3], vb, matrix, e.block_ab, e.ld_ab)
            add_product(-half * sm, jac[2], vb, jac[1], va, matrix, e.block_ba, e.ld_ba)
    rho = c1 * c1 + s1 * s1
    # d(f t) = along_s ds1 + along_c dc1
    along_s = slope * t * c1 / rho + f * (ts * c0 + tc * s0)
    along_c = -slope * t * s1 / rho + f * (tc * c0 - ts * s0)
    _outer_pair(ck * cm * along_s, rs[0], rs[1], cs[0], cs[1], na, nb, e, matrix)
    _outer_pair(ck * cm * along_c + half, rs[0], rs[1], cc[0], cc[1], na, nb, e, matrix)
    _outer_pair(-ck * sm * along_s - half, rc[0], rc[1], cs[0], cs[1], na, nb, e, matrix)
    _outer_pair(-ck * sm * along_c, rc[0], rc[1], cc[0], cc[1], na, nb, e, matrix)
