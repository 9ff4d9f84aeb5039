"""The angle of a hinge, counted through full turns, as a constraint primitive: factor phi(z) - c = 0.

``phi = atan2(n2.m, n1.m)`` with the normals n1, n2 of the axis in the first body and m in the second, continued from
the last accepted step (``w.turns``). Several records may add up to one equation (``shared``), which couples the
coordinates of different joints. The angle itself is the one of torsion springs.
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..forces.instant import angle_state, push_angle, torsion_rows
from ..forces.over_step import angle_quotient, push_secant_angle
from ..forces.over_step_tangent import secant_angle_tangent
from ..nodes.frames import axis_jacobian
from .instant import axis


@kernel
def angle_value(p, za, zb, last):
    """factor phi."""
    angle, rate = angle_state(p, za, zb, za, zb, last)
    return p.factor * angle


@kernel
def angle_force(p, za, zb, lam, fa, fb):
    """fa, fb += factor grad phi lambda."""
    push_angle(p, za, zb, p.factor * lam, fa, fb)


@kernel
def angle_rate(p, za, zb, zda, zdb):
    """factor grad phi z_dot; with a bias acceleration in place of z_dot, its part of the second derivative."""
    angle, rate = angle_state(p, za, zb, zda, zdb, 0.0)
    return p.factor * rate


@kernel
def _cosines(p, za, zb, zda, zdb):
    """c = n1.m, s = n2.m, their rates, and the parts 2 n_i_dot . m_dot of their second derivatives."""
    k1, k2, k3 = _normal(p)
    n1, n2, n3 = axis(za, p.na1, p.na2, p.na3)
    h1, h2, h3 = axis(za, k1, k2, k3)
    m1, m2, m3 = axis(zb, p.nb1, p.nb2, p.nb3)
    u1, u2, u3 = axis(zda, p.na1, p.na2, p.na3)
    v1, v2, v3 = axis(zda, k1, k2, k3)
    w1, w2, w3 = axis(zdb, p.nb1, p.nb2, p.nb3)
    return (
        n1 * m1 + n2 * m2 + n3 * m3,
        h1 * m1 + h2 * m2 + h3 * m3,
        u1 * m1 + u2 * m2 + u3 * m3 + n1 * w1 + n2 * w2 + n3 * w3,
        v1 * m1 + v2 * m2 + v3 * m3 + h1 * w1 + h2 * w2 + h3 * w3,
        2.0 * (u1 * w1 + u2 * w2 + u3 * w3),
        2.0 * (v1 * w1 + v2 * w2 + v3 * w3),
    )


@kernel
def _normal(p):
    return (
        p.aa2 * p.na3 - p.aa3 * p.na2,
        p.aa3 * p.na1 - p.aa1 * p.na3,
        p.aa1 * p.na2 - p.aa2 * p.na1,
    )


@kernel
def angle_curvature(p, za, zb, zda, zdb):
    """factor phi_zz[z_dot, z_dot]."""
    c, s, cd, sd, cdd, sdd = _cosines(p, za, zb, zda, zdb)
    d = 1.0 / (c * c + s * s)
    rate = (c * sd - s * cd) * d
    return p.factor * ((c * sdd - s * cdd) * d - 2.0 * rate * (c * cd + s * sd) * d)


@kernel
def angle_blocks(p, na, nb, q, ga, gb, za, zb, jac, matrix):
    """Add factor grad phi Z and its transpose to the blocks of the joint."""
    k1, k2, k3 = _normal(p)
    c, s, cd, sd, cdd, sdd = _cosines(p, za, zb, za, zb)
    d = p.factor / (c * c + s * s)
    c, s = c * d, s * d
    if na.nv > 0:
        m1, m2, m3 = axis(zb, p.nb1, p.nb2, p.nb3)
        axis_jacobian(na, q, ga, za, p.na1, p.na2, p.na3, jac[0])
        axis_jacobian(na, q, ga, za, k1, k2, k3, jac[1])
        for k in range(na.nv):
            value = m1 * (c * jac[1][0, k] - s * jac[0][0, k])
            value += m2 * (c * jac[1][1, k] - s * jac[0][1, k])
            value += m3 * (c * jac[1][2, k] - s * jac[0][2, k])
            matrix[p.block_ja + k] += value
            matrix[p.block_aj + k * p.ld_aj] += value
    if nb.nv > 0:
        n1, n2, n3 = axis(za, p.na1, p.na2, p.na3)
        h1, h2, h3 = axis(za, k1, k2, k3)
        axis_jacobian(nb, q, gb, zb, p.nb1, p.nb2, p.nb3, jac[0])
        for k in range(nb.nv):
            value = (c * h1 - s * n1) * jac[0][0, k] + (c * h2 - s * n2) * jac[0][1, k]
            value += (c * h3 - s * n3) * jac[0][2, k]
            matrix[p.block_jb + k] += value
            matrix[p.block_bj + k * p.ld_bj] += value


@kernel
def angle_stiffness(p, na, nb, q, v, ga, gb, za, zb, zda, zdb, lam, c, jac, small, matrix):
    """Add c lambda factor phi_zz pulled back by both frames."""
    torsion_rows(p, na, nb, q, v, ga, gb, za, zb, zda, zdb, jac, small, p.factor * lam, c, matrix)


# --- over a step: z are averaged frames, zd the secant (z1 - z0)/h ------------------------------------------------


@kernel
def _end_cosines(p, za, zb, zda, zdb, h):
    """cos and sin of the angle at the start and at the end of the step."""
    c, s, cd, sd, cdd, sdd = _cosines(p, za, zb, zda, zdb)
    c, s = c + 0.125 * h * h * cdd, s + 0.125 * h * h * sdd
    cd, sd = 0.5 * h * cd, 0.5 * h * sd
    return c - cd, s - sd, c + cd, s + sd


@kernel
def secant_angle_force(p, za, zb, zda, zdb, h, lam, fa, fb):
    """fa, fb += factor lambda times the exact discrete gradient: its work is factor lambda (phi1 - phi0)."""
    c0, s0, c1, s1 = _end_cosines(p, za, zb, zda, zdb, h)
    phi, t, ts, tc = angle_quotient(s1 * c0 - c1 * s0, c1 * c0 + s1 * s0)
    f = 0.5 * p.factor * lam * t
    push_secant_angle(p, za, zb, f * (c0 + c1), f * (s0 + s1), fa, fb)


@kernel
def secant_angle_stiffness(p, na, nb, qr, q1, zra, zrb, za1, zb1, za, zb, zda, zdb, h, lam, ck, jac, matrix):
    """Add ck times its derivative with respect to the end of the step."""
    c0, s0, c1, s1 = _end_cosines(p, za, zb, zda, zdb, h)
    secant_angle_tangent(
        p, na, nb, qr, q1, zra, zrb, za1, zb1, za, zb, c0, s0, c1, s1, p.factor * lam, 0.0, ck, jac, matrix
    )
