"""Elliptic integrals and functions as kernels: Carlson's forms by duplication, Jacobi's functions by the AGM.

Everything is written with the complementary parameter ``m1 = 1 - k^2``, and integrals with ``s = sin(phi)``,
``c = cos(phi)`` instead of the amplitude, so that nothing is lost near the separatrix, where m1 and c tend to zero.
"""

from __future__ import annotations

import math

from ...compiled.kernel import kernel

ROUNDS = 60  # of Carlson's duplication; each one reduces the spread of the arguments by four
FEW_DIGITS = 3e-3  # spread at which the series of order seven (five terms) has sixteen digits
LEVELS = 14  # of the arithmetic-geometric mean; it converges quadratically
SCRATCH = 2 * LEVELS


@kernel
def carlson_rf(x, y, z):
    """R_F(x, y, z) = 1/2 int_0^inf dt / sqrt((t + x)(t + y)(t + z)) [Carlson 1995, Numer. Algorithms 10, 13]."""
    for _ in range(ROUNDS):
        a = (x + y + z) / 3.0
        spread = max(abs(a - x), abs(a - y), abs(a - z))
        if spread <= FEW_DIGITS * a:
            break
        sx, sy, sz = math.sqrt(x), math.sqrt(y), math.sqrt(z)
        shift = sx * sy + sx * sz + sy * sz
        x, y, z = 0.25 * (x + shift), 0.25 * (y + shift), 0.25 * (z + shift)
    a = (x + y + z) / 3.0
    p, q = (a - x) / a, (a - y) / a
    r = -p - q
    e2, e3 = p * q - r * r, p * q * r
    series = 1.0 - e2 / 10.0 + e3 / 14.0 + e2 * e2 / 24.0 - 3.0 * e2 * e3 / 44.0
    return series / math.sqrt(a)


@kernel
def _rc_one(e):
    """R_C(1, 1 + e) for e >= 0."""
    if e < 1e-3:
        return 1.0 - e * (1.0 / 3.0 - e * (0.2 - e * (1.0 / 7.0 - e * (1.0 / 9.0 - e / 11.0))))
    root = math.sqrt(e)
    return math.atan(root) / root


@kernel
def carlson_rj(x, y, z, p):
    """R_J(x, y, z, p) = 3/2 int_0^inf dt / ((t + p) sqrt((t + x)(t + y)(t + z))) for p >= x, y, z [Carlson 1995]."""
    total, factor = 0.0, 1.0
    for _ in range(ROUNDS):
        a = 0.2 * (x + y + z + 2.0 * p)
        spread = max(abs(a - x), abs(a - y), abs(a - z), abs(a - p))
        if spread <= 0.5 * FEW_DIGITS * a:
            break
        sx, sy, sz, sp = math.sqrt(x), math.sqrt(y), math.sqrt(z), math.sqrt(p)
        shift = sx * sy + sx * sz + sy * sz
        d = (sp + sx) * (sp + sy) * (sp + sz)
        total += factor / d * _rc_one((p - x) * (p - y) * (p - z) / (d * d))
        factor *= 0.25
        x, y, z, p = 0.25 * (x + shift), 0.25 * (y + shift), 0.25 * (z + shift), 0.25 * (p + shift)
    a = 0.2 * (x + y + z + 2.0 * p)
    u, v, w = (a - x) / a, (a - y) / a, (a - z) / a
    t = -0.5 * (u + v + w)
    uvw = u * v * w
    e2 = u * v + u * w + v * w - 3.0 * t * t
    e3 = uvw + 2.0 * e2 * t + 4.0 * t * t * t
    e4 = (2.0 * uvw + e2 * t + 3.0 * t * t * t) * t
    e5 = uvw * t * t
    series = 1.0 - 3.0 * e2 / 14.0 + e3 / 6.0 + 9.0 * e2 * e2 / 88.0 - 3.0 * e4 / 22.0
    series += -9.0 * e2 * e3 / 52.0 + 3.0 * e5 / 26.0
    return factor * series / (a * math.sqrt(a)) + 6.0 * total


@kernel
def first_kind(s, c, m1):
    """F(phi | k^2) for |phi| <= pi/2, from s = sin(phi), c = cos(phi)."""
    return s * carlson_rf(c * c, c * c + m1 * s * s, 1.0)


@kernel
def third_kind_remainder(s, c, root1, n):
    """int_0^v sn^2 / (1 + n sn^2) dv - v / (1 + n), with sn(v | kappa^2) after Landen's transformation of sn(u | k^2).

    Given are s = sn(u), c = cn(u) and root1 = k'; kappa = (1 - k') / (1 + k') and u = (1 + kappa) v. Then
    sn v = (1 + k') sn u / (1 + dn u), dn u = (1 - kappa sn^2 v) / (1 + kappa sn^2 v) [DLMF 22.7(i)]. The remainder
    stays bounded where v does not (c, k' -> 0).
    """
    ss, cc = s * s, c * c
    dn = math.sqrt(cc + root1 * root1 * ss)
    f = 1.0 / (1.0 + dn)
    sv = (1.0 + root1) * s * f
    below = dn + root1 * ss
    ccv = 2.0 * cc * (1.0 + (1.0 + root1 * root1 * ss) / below) * f * f if below > 0.0 else 0.0
    ssv = sv * sv
    ddv = ccv + 4.0 * root1 / ((1.0 + root1) * (1.0 + root1)) * ssv
    return sv * (ssv * carlson_rj(ccv, ddv, 1.0, 1.0 + n * ssv) / 3.0 - carlson_rf(ccv, ddv, 1.0) / (1.0 + n))


@kernel
def quarter_period(m1):
    """K(k^2); infinite on the separatrix."""
    a, b = 1.0, math.sqrt(m1)
    if b == 0.0:
        return math.inf
    for _ in range(LEVELS):
        if abs(a - b) <= 1e-16 * a:
            break
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    return math.pi / (a + b)


@kernel
def jacobi_sn_cn(u, m1, w):
    """sn(u), cn(u) by descending Landen transformations (AGM); w is scratch of SCRATCH numbers."""
    if m1 <= 0.0:
        return math.tanh(u), 1.0 / math.cosh(u)
    a, b = 1.0, math.sqrt(m1)
    n = 0
    for k in range(LEVELS - 1):
        c = 0.5 * (a - b)
        a, b = 0.5 * (a + b), math.sqrt(a * b)
        w[k] = c / a
        n = k + 1
        if abs(c) <= 1e-17 * a:
            break
    phi = u * a
    for _ in range(n):
        phi *= 2.0
    for k in range(n - 1, -1, -1):
        phi = 0.5 * (phi + math.asin(w[k] * math.sin(phi)))
    return math.sin(phi), math.cos(phi)
