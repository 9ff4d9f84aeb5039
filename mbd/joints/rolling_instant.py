"""Rolling of a disk or a ball on a plane, as kernels on frames; they accept complex frames, to be differentiated.

With the plane's normal n and tangents t1, t2 in the first body, the centre x and spin axis a in the second:

    disk:  s = n - (n.a) a,  L = |s|,  contact offset rho = -r s / L,  phi = n.(x - P) - r L
    ball:  L = 1, rho = -r n

Row 0 is phi = 0 (holonomic); rows 1, 2 say that the points of the two bodies at the contact have the same velocity
along t1 and t2 (nonholonomic). A disk that lies flat (L = 0) has no contact point.
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..nodes.markers import axis, body_components, point, push_axis, push_point

# parameters: radius, plane point, tangents, normal (first body), centre, spin axis (second body); disk if the last is 1
RADIUS, PLANE, TANGENT1, TANGENT2, NORMAL, CENTRE, SPIN, IS_DISK = 0, 1, 4, 7, 10, 13, 16, 19


@kernel
def marker_point(z, c, k):
    """The point whose coordinates in the body are the parameters from number k on."""
    return point(z, c[k], c[k + 1], c[k + 2])


@kernel
def marker_axis(z, c, k):
    """The axis whose components in the body are the parameters from number k on."""
    return axis(z, c[k], c[k + 1], c[k + 2])


@kernel
def _contact(c, za, zb):
    """Contact point in space."""
    r = c[RADIUS]
    n1, n2, n3 = marker_axis(za, c, NORMAL)
    x1, x2, x3 = marker_point(zb, c, CENTRE)
    if c[IS_DISK] == 0.0:
        return x1 - r * n1, x2 - r * n2, x3 - r * n3
    a1, a2, a3 = marker_axis(zb, c, SPIN)
    d = n1 * a1 + n2 * a2 + n3 * a3
    s1, s2, s3 = n1 - d * a1, n2 - d * a2, n3 - d * a3
    f = r / (s1 * s1 + s2 * s2 + s3 * s3) ** 0.5
    return x1 - f * s1, x2 - f * s2, x3 - f * s3


@kernel
def _local(z, c1, c2, c3):
    """Body-fixed coordinates of a point in space."""
    return body_components(z, c1 - z[0], c2 - z[1], c3 - z[2])


@kernel
def rolling_value(c, za, zb, out):
    """out = (phi, 0, 0): nonholonomic rows say nothing about positions."""
    n1, n2, n3 = marker_axis(za, c, NORMAL)
    x1, x2, x3 = marker_point(zb, c, CENTRE)
    p1, p2, p3 = marker_point(za, c, PLANE)
    size = n1 * 0.0 + 1.0
    if c[IS_DISK] != 0.0:
        a1, a2, a3 = marker_axis(zb, c, SPIN)
        d = n1 * a1 + n2 * a2 + n3 * a3
        s1, s2, s3 = n1 - d * a1, n2 - d * a2, n3 - d * a3
        size = (s1 * s1 + s2 * s2 + s3 * s3) ** 0.5
    out[0] = n1 * (x1 - p1) + n2 * (x2 - p2) + n3 * (x3 - p3) - c[RADIUS] * size
    out[1] = 0.0
    out[2] = 0.0


@kernel
def rolling_rate(c, za, zb, zda, zdb, out):
    """out = B v."""
    n1, n2, n3 = marker_axis(za, c, NORMAL)
    m1, m2, m3 = marker_axis(zda, c, NORMAL)
    x1, x2, x3 = marker_point(zb, c, CENTRE)
    p1, p2, p3 = marker_point(za, c, PLANE)
    u1, u2, u3 = marker_point(zdb, c, CENTRE)
    v1, v2, v3 = marker_point(zda, c, PLANE)
    rate = m1 * (x1 - p1) + m2 * (x2 - p2) + m3 * (x3 - p3) + n1 * (u1 - v1) + n2 * (u2 - v2) + n3 * (u3 - v3)
    if c[IS_DISK] != 0.0:
        a1, a2, a3 = marker_axis(zb, c, SPIN)
        b1, b2, b3 = marker_axis(zdb, c, SPIN)
        d = n1 * a1 + n2 * a2 + n3 * a3
        e = m1 * a1 + m2 * a2 + m3 * a3 + n1 * b1 + n2 * b2 + n3 * b3
        s1, s2, s3 = n1 - d * a1, n2 - d * a2, n3 - d * a3
        w1, w2, w3 = m1 - e * a1 - d * b1, m2 - e * a2 - d * b2, m3 - e * a3 - d * b3
        rate = rate - c[RADIUS] * (s1 * w1 + s2 * w2 + s3 * w3) / (s1 * s1 + s2 * s2 + s3 * s3) ** 0.5
    out[0] = rate
    c1, c2, c3 = _contact(c, za, zb)
    x1, x2, x3 = _local(zb, c1, c2, c3)
    u1, u2, u3 = point(zdb, x1, x2, x3)
    x1, x2, x3 = _local(za, c1, c2, c3)
    v1, v2, v3 = point(zda, x1, x2, x3)
    t1, t2, t3 = marker_axis(za, c, TANGENT1)
    out[1] = t1 * (u1 - v1) + t2 * (u2 - v2) + t3 * (u3 - v3)
    t1, t2, t3 = marker_axis(za, c, TANGENT2)
    out[2] = t1 * (u1 - v1) + t2 * (u2 - v2) + t3 * (u3 - v3)


@kernel
def rolling_force(c, za, zb, lam, fa, fb):
    """fa, fb += B^T lambda as frame forces."""
    k = lam[0]
    n1, n2, n3 = marker_axis(za, c, NORMAL)
    x1, x2, x3 = marker_point(zb, c, CENTRE)
    p1, p2, p3 = marker_point(za, c, PLANE)
    g1, g2, g3 = x1 - p1, x2 - p2, x3 - p3
    if c[IS_DISK] != 0.0:
        a1, a2, a3 = marker_axis(zb, c, SPIN)
        d = n1 * a1 + n2 * a2 + n3 * a3
        s1, s2, s3 = n1 - d * a1, n2 - d * a2, n3 - d * a3
        f = c[RADIUS] / (s1 * s1 + s2 * s2 + s3 * s3) ** 0.5
        e = s1 * a1 + s2 * a2 + s3 * a3
        g1, g2, g3 = g1 - f * (s1 - e * a1), g2 - f * (s2 - e * a2), g3 - f * (s3 - e * a3)
        f = f * k
        h1, h2, h3 = f * (e * n1 + d * s1), f * (e * n2 + d * s2), f * (e * n3 + d * s3)
        push_axis(fb, c[SPIN], c[SPIN + 1], c[SPIN + 2], h1, h2, h3)
    push_axis(fa, c[NORMAL], c[NORMAL + 1], c[NORMAL + 2], k * g1, k * g2, k * g3)
    push_point(fa, c[PLANE], c[PLANE + 1], c[PLANE + 2], -k * n1, -k * n2, -k * n3)
    push_point(fb, c[CENTRE], c[CENTRE + 1], c[CENTRE + 2], k * n1, k * n2, k * n3)
    t1, t2, t3 = marker_axis(za, c, TANGENT1)
    u1, u2, u3 = marker_axis(za, c, TANGENT2)
    f1, f2, f3 = lam[1] * t1 + lam[2] * u1, lam[1] * t2 + lam[2] * u2, lam[1] * t3 + lam[2] * u3
    c1, c2, c3 = _contact(c, za, zb)
    x1, x2, x3 = _local(za, c1, c2, c3)
    push_point(fa, x1, x2, x3, -f1, -f2, -f3)
    x1, x2, x3 = _local(zb, c1, c2, c3)
    push_point(fb, x1, x2, x3, f1, f2, f3)
