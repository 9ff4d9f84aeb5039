"""The angle of a hinge at an instant: as a constraint primitive factor phi(z) - c = 0, and its stiffness.

``phi = atan2(n2.m, n1.m)`` with the normals n1, n2 of the axis in the first body and m in the second, continued from
the last accepted step (``w.turns``). Several records may add up to one equation (``shared``), which couples the
coordinates of different joints. Torsion springs act on the same angle; over a step it is in
``mbd.joints.angles_over_step``.
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..nodes.markers import (
    angle_state,
    axis,
    axis_jacobian,
    hinge,
    hinge_curvatures,
    hinge_rates,
    push_angle,
    push_hinge,
    second_normal,
    velocity_jacobian,
)
from ..nodes.pair_blocks import add_row, axes_stiffness, clear_rows, outer_pair


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
def angle_curvature(p, za, zb, zda, zdb):
    """factor phi_zz[z_dot, z_dot]."""
    c, s, cd, sd = hinge_rates(p, za, zb, zda, zdb)
    cdd, sdd = hinge_curvatures(p, zda, zdb)
    d = 1.0 / (c * c + s * s)
    rate = (c * sd - s * cd) * d
    return p.factor * ((c * sdd - s * cdd) * d - 2.0 * rate * (c * cd + s * sd) * d)


@kernel
def angle_curvature_force(p, za, zb, ya, yb, lam, fa, fb):
    """fa, fb += factor lambda phi_zz y: how the gradient changes along y."""
    c, s, cd, sd = hinge_rates(p, za, zb, ya, yb)
    d, f = 1.0 / (c * c + s * s), p.factor * lam
    radial = 2.0 * (c * cd + s * sd) * d
    push_hinge(p, za, zb, f * d * (cd - radial * c), f * d * (sd - radial * s), fa, fb)
    push_hinge(p, ya, yb, f * d * c, f * d * s, fa, fb)


@kernel
def angle_blocks(p, na, nb, q, ga, gb, za, zb, jacobians, matrix):
    """Add factor grad phi Z and its transpose to the blocks of the joint."""
    normal, second = jacobians[0], jacobians[1]
    k1, k2, k3 = second_normal(p)
    c, s = hinge(p, za, zb)
    d = p.factor / (c * c + s * s)
    c, s = c * d, s * d
    if na.nv > 0:
        m1, m2, m3 = axis(zb, p.nb1, p.nb2, p.nb3)
        axis_jacobian(na, q, ga, za, p.na1, p.na2, p.na3, normal)
        axis_jacobian(na, q, ga, za, k1, k2, k3, second)
        for k in range(na.nv):
            value = m1 * (c * second[0, k] - s * normal[0, k])
            value += m2 * (c * second[1, k] - s * normal[1, k])
            value += m3 * (c * second[2, k] - s * normal[2, k])
            matrix[p.block_ja + k] += value
            matrix[p.block_aj + k * p.ld_aj] += value
    if nb.nv > 0:
        n1, n2, n3 = axis(za, p.na1, p.na2, p.na3)
        h1, h2, h3 = axis(za, k1, k2, k3)
        axis_jacobian(nb, q, gb, zb, p.nb1, p.nb2, p.nb3, normal)
        for k in range(nb.nv):
            value = (c * h1 - s * n1) * normal[0, k] + (c * h2 - s * n2) * normal[1, k]
            value += (c * h3 - s * n3) * normal[2, k]
            matrix[p.block_jb + k] += value
            matrix[p.block_bj + k * p.ld_bj] += value


@kernel
def angle_rows(e, na, nb, q, v, ga, gb, za, zb, zda, zdb, jacobians, scratch, f, ck, matrix):
    """Rows grad phi and d(phi_dot), for a and b each, into the last two Jacobians; adds ck f phi_zz to the matrix."""
    va, vb = na.nv, nb.nv
    normal_a, second_a, normal_b = jacobians[0], jacobians[1], jacobians[2]
    normal_rate_a, second_rate_a, normal_rate_b = jacobians[3], jacobians[4], jacobians[5]
    gradients, rates = jacobians[6], jacobians[7]
    row_a, row_b, rate_a, rate_b = gradients[0], gradients[1], rates[0], rates[1]
    radial_a, radial_b = gradients[2], rates[2]
    clear_rows(gradients)
    clear_rows(rates)
    k1, k2, k3 = second_normal(e)
    n1, n2, n3 = axis(za, e.na1, e.na2, e.na3)
    h1, h2, h3 = axis(za, k1, k2, k3)
    m1, m2, m3 = axis(zb, e.nb1, e.nb2, e.nb3)
    u1, u2, u3 = axis(zda, e.na1, e.na2, e.na3)
    v1, v2, v3 = axis(zda, k1, k2, k3)
    w1, w2, w3 = axis(zdb, e.nb1, e.nb2, e.nb3)
    c, s, cd, sd = hinge_rates(e, za, zb, zda, zdb)
    d = 1.0 / (c * c + s * s)
    rate = (c * sd - s * cd) * d
    c, s, cd, sd = c * d, s * d, cd * d, sd * d  # divided once, used linearly below
    if va > 0:
        axis_jacobian(na, q, ga, za, e.na1, e.na2, e.na3, normal_a)
        axis_jacobian(na, q, ga, za, k1, k2, k3, second_a)
        velocity_jacobian(na, q, v, ga, za, e.na1, e.na2, e.na3, normal_rate_a, scratch)
        velocity_jacobian(na, q, v, ga, za, k1, k2, k3, second_rate_a, scratch)
        add_row(-s, m1, m2, m3, normal_a, va, row_a)
        add_row(c, m1, m2, m3, second_a, va, row_a)
        add_row(c, m1, m2, m3, normal_a, va, radial_a)
        add_row(s, m1, m2, m3, second_a, va, radial_a)
        add_row(-s, m1, m2, m3, normal_rate_a, va, rate_a)
        add_row(c, m1, m2, m3, second_rate_a, va, rate_a)
        add_row(-s, w1, w2, w3, normal_a, va, rate_a)
        add_row(c, w1, w2, w3, second_a, va, rate_a)
        add_row(sd, m1, m2, m3, normal_a, va, rate_a)
        add_row(-cd, m1, m2, m3, second_a, va, rate_a)
    if vb > 0:
        axis_jacobian(nb, q, gb, zb, e.nb1, e.nb2, e.nb3, normal_b)
        velocity_jacobian(nb, q, v, gb, zb, e.nb1, e.nb2, e.nb3, normal_rate_b, scratch)
        add_row(-s, n1, n2, n3, normal_b, vb, row_b)
        add_row(c, h1, h2, h3, normal_b, vb, row_b)
        add_row(c, n1, n2, n3, normal_b, vb, radial_b)
        add_row(s, h1, h2, h3, normal_b, vb, radial_b)
        add_row(-s, n1, n2, n3, normal_rate_b, vb, rate_b)
        add_row(c, h1, h2, h3, normal_rate_b, vb, rate_b)
        add_row(-s, u1, u2, u3, normal_b, vb, rate_b)
        add_row(c, v1, v2, v3, normal_b, vb, rate_b)
        add_row(sd, n1, n2, n3, normal_b, vb, rate_b)
        add_row(-cd, h1, h2, h3, normal_b, vb, rate_b)
    for k in range(12):
        rate_a[k] -= 2.0 * rate * radial_a[k]
        rate_b[k] -= 2.0 * rate * radial_b[k]
    axes_stiffness(-ck * f * s, normal_a, normal_b, normal_a, normal_b, na, nb, e, matrix)
    axes_stiffness(ck * f * c, second_a, normal_b, second_a, normal_b, na, nb, e, matrix)
    outer_pair(-ck * f, row_a, row_b, radial_a, radial_b, na, nb, e, matrix)
    outer_pair(-ck * f, radial_a, radial_b, row_a, row_b, na, nb, e, matrix)


@kernel
def angle_stiffness(p, na, nb, q, v, ga, gb, za, zb, zda, zdb, lam, c, jacobians, scratch, matrix):
    """Add c lambda factor phi_zz pulled back by both frames."""
    angle_rows(p, na, nb, q, v, ga, gb, za, zb, zda, zdb, jacobians, scratch, p.factor * lam, c, matrix)
