"""The angle of a hinge over a step, as a constraint and as the coordinate of a torsion spring.

With cosine and sine (c0, s0) at the start and (c1, s1) at the end, the angle of the step is phi = atan2(s1 c0 - c1 s0,
c1 c0 + s1 s0), and (phi / sin phi) ((c0 + c1) grad s - (s0 + s1) grad c) / 2 at the averaged frames its exact discrete
gradient: its work is phi. Row and column Jacobians as in ``mbd.joints.over_step``; at an instant:
``mbd.joints.angles``. For constraints z are the averaged frames and zd the secant (z1 - z0)/h.
"""

from __future__ import annotations

import math

from ..compiled.kernel import kernel
from ..nodes.markers import (
    axis,
    axis_jacobian,
    hinge_curvatures,
    hinge_rates,
    push_hinge,
    second_normal,
)
from ..nodes.pair_blocks import add_row, axes_stiffness, clear_rows, outer_pair

REST = 1e-10  # square of the turn of a step below which what is to correct, cubic in it, is round-off
SMALL_RATIO = 1e-3  # below this |sin| of the angle of a step the quotient angle / sin is a series


@kernel
def angle_quotient(s, c):
    """(phi, phi/s, d(phi/s)/ds, d(phi/s)/dc) of phi = atan2(s, c)."""
    rho = s * s + c * c
    phi = math.atan2(s, c)
    y = s / c if c > 0.0 else 1.0
    if abs(y) < SMALL_RATIO:
        y *= y
        return phi, (1.0 - y / 3.0 + y * y / 5.0) / c, s / (c * c * c) * (-2.0 / 3.0 + 4.0 * y / 5.0), -1.0 / rho
    t = phi / s
    return phi, t, (c / rho - t) / s, -1.0 / rho


@kernel
def angle_tangent_over_step(
    e, na, nb, qr, q1, zra, zrb, za1, zb1, zma, zmb, c0, s0, c1, s1, f, slope, ck, jacobians, matrix
):  # fmt: skip
    """Add ck times the derivative of f (phi/sin phi) (grad of the hinge angle), df/d(phi1) = slope.

    cos and sin of the hinge angle are (c0, s0) at the start and (c1, s1) at the end of the step.
    """
    va, vb = na.nv, nb.nv
    normal_a, normal_b, end_normal_a, end_normal_b = jacobians[0], jacobians[2], jacobians[1], jacobians[3]
    rs, rc, cs, cc = jacobians[4], jacobians[5], jacobians[6], jacobians[7]  # rows, columns; sine, cosine; of a, b
    clear_rows(rs)
    clear_rows(rc)
    clear_rows(cs)
    clear_rows(cc)
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
        axis_jacobian(nb, qr, zrb, zrb, e.nb1, e.nb2, e.nb3, normal_b)
        axis_jacobian(nb, q1, zb1, zb1, e.nb1, e.nb2, e.nb3, end_normal_b)
        add_row(1.0, h1, h2, h3, normal_b, vb, rs[1])
        add_row(1.0, n1, n2, n3, normal_b, vb, rc[1])
        add_row(1.0, v1, v2, v3, end_normal_b, vb, cs[1])
        add_row(1.0, u1, u2, u3, end_normal_b, vb, cc[1])
    if va > 0:  # first n2 with the sine, then n1 with the cosine
        axis_jacobian(na, qr, zra, zra, k1, k2, k3, normal_a)
        axis_jacobian(na, q1, za1, za1, k1, k2, k3, end_normal_a)
        add_row(1.0, m1, m2, m3, normal_a, va, rs[0])
        add_row(1.0, w1, w2, w3, end_normal_a, va, cs[0])
        axes_stiffness(half * cm, normal_a, normal_b, end_normal_a, end_normal_b, na, nb, e, matrix)
        axis_jacobian(na, qr, zra, zra, e.na1, e.na2, e.na3, normal_a)
        axis_jacobian(na, q1, za1, za1, e.na1, e.na2, e.na3, end_normal_a)
        add_row(1.0, m1, m2, m3, normal_a, va, rc[0])
        add_row(1.0, w1, w2, w3, end_normal_a, va, cc[0])
        axes_stiffness(-half * sm, normal_a, normal_b, end_normal_a, end_normal_b, na, nb, e, matrix)
    rho = c1 * c1 + s1 * s1
    # d(f t) = along_s ds1 + along_c dc1
    along_s = slope * t * c1 / rho + f * (ts * c0 + tc * s0)
    along_c = -slope * t * s1 / rho + f * (tc * c0 - ts * s0)
    outer_pair(ck * cm * along_s, rs[0], rs[1], cs[0], cs[1], na, nb, e, matrix)
    outer_pair(ck * cm * along_c + half, rs[0], rs[1], cc[0], cc[1], na, nb, e, matrix)
    outer_pair(-ck * sm * along_s - half, rc[0], rc[1], cs[0], cs[1], na, nb, e, matrix)
    outer_pair(-ck * sm * along_c, rc[0], rc[1], cc[0], cc[1], na, nb, e, matrix)


@kernel
def _end_cosines(p, za, zb, zda, zdb, h):
    """cos and sin of the angle at the start and at the end of the step."""
    c, s, cd, sd = hinge_rates(p, za, zb, zda, zdb)
    cdd, sdd = hinge_curvatures(p, zda, zdb)
    c, s = c + 0.125 * h * h * cdd, s + 0.125 * h * h * sdd
    cd, sd = 0.5 * h * cd, 0.5 * h * sd
    return c - cd, s - sd, c + cd, s + sd


@kernel
def angle_force_over_step(p, za, zb, zda, zdb, h, lam, fa, fb):
    """fa, fb += factor lambda times the exact discrete gradient: its work is factor lambda (phi1 - phi0)."""
    c0, s0, c1, s1 = _end_cosines(p, za, zb, zda, zdb, h)
    phi, t, ts, tc = angle_quotient(s1 * c0 - c1 * s0, c1 * c0 + s1 * s0)
    f = 0.5 * p.factor * lam * t
    push_hinge(p, za, zb, f * (c0 + c1), f * (s0 + s1), fa, fb)


@kernel
def angle_curvature_over_step(p, za, zb, zda, zdb, ya, yb, dya, dyb, h, lam, fa, fb):
    """fa, fb += factor lambda times a discrete gradient of the rate psi(z, y) with respect to the frames.

    psi = (c s' - s c')/(c^2 + s^2) is a function of the cosine, the sine and their rates, which are quadratic in frames
    and velocities y; y and dy are mean and change of these over the step. The gradient with respect to y is that of
    ``angle_force_over_step``; partial derivatives with respect to c and s are taken in the middle and corrected along
    their change, so that both gradients together give the change of psi over the step exactly. Rigid motions of both
    bodies change nothing of it: it exerts no torque on the whole.
    """
    c0, s0, c1, s1 = _end_cosines(p, za, zb, zda, zdb, h)
    phi, t, ts, tc = angle_quotient(s1 * c0 - c1 * s0, c1 * c0 + s1 * s0)
    cm, sm, dc, ds = 0.5 * (c0 + c1), 0.5 * (s0 + s1), c1 - c0, s1 - s0
    # rates are bilinear in (z, y): those of the mean, and of half the changes of both
    c, s, mean_c, mean_s = hinge_rates(p, za, zb, ya, yb)
    c, s, both_c, both_s = hinge_rates(p, zda, zdb, dya, dyb)
    mean_c, mean_s = mean_c + 0.25 * h * both_c, mean_s + 0.25 * h * both_s
    c, s, change_c, change_s = hinge_rates(p, za, zb, dya, dyb)
    c, s, moved_c, moved_s = hinge_rates(p, zda, zdb, ya, yb)
    change_c, change_s = change_c + h * moved_c, change_s + h * moved_s
    first = _hinge_rate(c0, s0, mean_c - 0.5 * change_c, mean_s - 0.5 * change_s)
    last = _hinge_rate(c1, s1, mean_c + 0.5 * change_c, mean_s + 0.5 * change_s)
    d = 1.0 / (cm * cm + sm * sm)
    rate = (cm * mean_s - sm * mean_c) * d
    along_c, along_s = (mean_s - 2.0 * cm * rate) * d, (-mean_c - 2.0 * sm * rate) * d
    square = dc * dc + ds * ds
    if square > REST:
        missing = last - first - t * (cm * change_s - sm * change_c) - along_c * dc - along_s * ds
        along_c, along_s = along_c + missing / square * dc, along_s + missing / square * ds
    f = p.factor * lam
    push_hinge(p, ya, yb, f * t * cm, f * t * sm, fa, fb)
    push_hinge(p, za, zb, f * along_s, -f * along_c, fa, fb)


@kernel
def _hinge_rate(c, s, cd, sd):
    return (c * sd - s * cd) / (c * c + s * s)


@kernel
def angle_stiffness_over_step(p, na, nb, qr, q1, zra, zrb, za1, zb1, za, zb, zda, zdb, h, lam, ck, jacobians, matrix):
    """Add ck times its derivative with respect to the end of the step."""
    c0, s0, c1, s1 = _end_cosines(p, za, zb, zda, zdb, h)
    angle_tangent_over_step(
        p, na, nb, qr, q1, zra, zrb, za1, zb1, za, zb, c0, s0, c1, s1, p.factor * lam, 0.0, ck, jacobians, matrix
    )
