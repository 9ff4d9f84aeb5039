"""Rolling of a disk or a ball over a step, with rows that keep the energy; kernels accept complex frames.

With averaged frames, secants D(.) and the notation of ``rolling_instant``, seen from the second body: let w = R^T n be
the normal in its axes, p the part of w across the spin axis, L = |p| (of a ball p = w, L = 1). The contact has the
place

    y = centre - r p_mean / L_mean,     p_mean = (p0 + p1)/2,  L_mean = (L0 + L1)/2

there, C is that point of the averaged second frame, and the rows of a step are

    Dn.(C - P) + n.(D_b C - D P) = 0,     t_i.(D_b C - D_a C) = 0 for both tangents,

where D_b C and D_a C are the secants of the material points of both bodies at C. The first one is phi1 - phi0 exactly,
because n.(x - P) is bilinear and L1 - L0 = (p1 - p0).p_mean / L_mean; so the contact is exact. Reactions are the
transposes of these rows: they do no work in a step, and no torque on the pair. A disk must not lie flat, L = 0.
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..nodes.markers import axes_volume, body_components, cross_axes, push_axis, push_point
from ..nodes.markers import point as point_of
from .rolling_instant import CENTRE, IS_DISK, NORMAL, PLANE, RADIUS, SPIN, TANGENT1, TANGENT2, marker_axis, marker_point


@kernel
def _across(c, w1, w2, w3):
    """Part of a vector across the spin axis of a disk; of a ball the vector."""
    if c[IS_DISK] == 0.0:
        return w1, w2, w3
    d = w1 * c[SPIN] + w2 * c[SPIN + 1] + w3 * c[SPIN + 2]
    return w1 - d * c[SPIN], w2 - d * c[SPIN + 1], w3 - d * c[SPIN + 2]


@kernel
def _contact_over_step(c, za, zb, zda, zdb, h):
    """Place y of the contact in the second body; the normal in its axes is bilinear in both frames."""
    n1, n2, n3 = marker_axis(za, c, NORMAL)
    m1, m2, m3 = marker_axis(zda, c, NORMAL)
    w1, w2, w3 = body_components(zb, n1, n2, n3)
    u1, u2, u3 = body_components(zdb, m1, m2, m3)
    k = 0.25 * h * h
    p1, p2, p3 = _across(c, w1 + k * u1, w2 + k * u2, w3 + k * u3)
    length = 1.0 + 0.0 * w1
    if c[IS_DISK] != 0.0:
        w1, w2, w3 = body_components(zb, m1, m2, m3)
        u1, u2, u3 = body_components(zdb, n1, n2, n3)
        k = 0.5 * h
        d1, d2, d3 = _across(c, k * (w1 + u1), k * (w2 + u2), k * (w3 + u3))  # half of p1 - p0
        length = 0.5 * ((p1 - d1) ** 2 + (p2 - d2) ** 2 + (p3 - d3) ** 2) ** 0.5
        length = length + 0.5 * ((p1 + d1) ** 2 + (p2 + d2) ** 2 + (p3 + d3) ** 2) ** 0.5
    f = c[RADIUS] / length
    return c[CENTRE] - f * p1, c[CENTRE + 1] - f * p2, c[CENTRE + 2] - f * p3


@kernel
def _place(z, c1, c2, c3):
    """Coordinates of a point in space in the axes of an averaged frame, which need not be orthonormal."""
    d1, d2, d3 = c1 - z[0], c2 - z[1], c3 - z[2]
    k = 1.0 / axes_volume(z)
    a1, a2, a3 = cross_axes(z, 6, z, 9)
    b1, b2, b3 = cross_axes(z, 9, z, 3)
    e1, e2, e3 = cross_axes(z, 3, z, 6)
    return (
        k * (a1 * d1 + a2 * d2 + a3 * d3),
        k * (b1 * d1 + b2 * d2 + b3 * d3),
        k * (e1 * d1 + e2 * d2 + e3 * d3),
    )


@kernel
def rolling_rate_over_step(c, za, zb, zda, zdb, h, out):
    """out = the three rows divided by h: rates over the step."""
    y1, y2, y3 = _contact_over_step(c, za, zb, zda, zdb, h)
    c1, c2, c3 = point_of(zb, y1, y2, y3)
    u1, u2, u3 = point_of(zdb, y1, y2, y3)
    n1, n2, n3 = marker_axis(za, c, NORMAL)
    m1, m2, m3 = marker_axis(zda, c, NORMAL)
    p1, p2, p3 = marker_point(za, c, PLANE)
    v1, v2, v3 = marker_point(zda, c, PLANE)
    out[0] = m1 * (c1 - p1) + m2 * (c2 - p2) + m3 * (c3 - p3) + n1 * (u1 - v1) + n2 * (u2 - v2) + n3 * (u3 - v3)
    x1, x2, x3 = _place(za, c1, c2, c3)
    v1, v2, v3 = point_of(zda, x1, x2, x3)
    t1, t2, t3 = marker_axis(za, c, TANGENT1)
    out[1] = t1 * (u1 - v1) + t2 * (u2 - v2) + t3 * (u3 - v3)
    t1, t2, t3 = marker_axis(za, c, TANGENT2)
    out[2] = t1 * (u1 - v1) + t2 * (u2 - v2) + t3 * (u3 - v3)


@kernel
def rolling_force_over_step(c, za, zb, zda, zdb, h, lam, fa, fb):
    """fa, fb += transposes of the rows times lambda, as frame forces."""
    k = lam[0]
    y1, y2, y3 = _contact_over_step(c, za, zb, zda, zdb, h)
    c1, c2, c3 = point_of(zb, y1, y2, y3)
    n1, n2, n3 = marker_axis(za, c, NORMAL)
    p1, p2, p3 = marker_point(za, c, PLANE)
    push_axis(fa, c[NORMAL], c[NORMAL + 1], c[NORMAL + 2], k * (c1 - p1), k * (c2 - p2), k * (c3 - p3))
    push_point(fa, c[PLANE], c[PLANE + 1], c[PLANE + 2], -k * n1, -k * n2, -k * n3)
    t1, t2, t3 = marker_axis(za, c, TANGENT1)
    u1, u2, u3 = marker_axis(za, c, TANGENT2)
    f1, f2, f3 = lam[1] * t1 + lam[2] * u1, lam[1] * t2 + lam[2] * u2, lam[1] * t3 + lam[2] * u3
    x1, x2, x3 = _place(za, c1, c2, c3)
    push_point(fa, x1, x2, x3, -f1, -f2, -f3)
    push_point(fb, y1, y2, y3, f1 + k * n1, f2 + k * n2, f3 + k * n3)
