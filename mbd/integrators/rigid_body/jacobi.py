"""Jacobi's solution of the free rigid body as one kernel: momentum and attitude after any time [Vilmart 2013, Alg. 1].

Momentum. In principal axes, after a rotation of the axes that brings the motion to the branch with y3 > 0,

    y(t) = (k1 cn u, k2 sn u, k3 dn u),   u = u0 + sgn(I3 - I1) lambda k3 t.

Attitude. With L = |y|, the energy H and the smallest rotation B(n) that takes n to e3,

    Q(t) = Q(0) B(y(0)/L)^T Rz(psi) B(y(t)/L),   psi' = 2H/L + (L/I3 - 2H/L) y3 / (L + y3),

where the integral of psi' is one of the third kind [Celledoni, Fasso, Safstrom & Zanna 2008]. In this form its two
parts have the same sign, or the second is at most half of the first, so that needles (I1 << I2, I3) lose no digits.
Landen's transformation turns y3 / (L + y3) into an integrand of Carlson's R_J alone. Over short times the mean of
y3 / (L + y3) comes from Gauss quadrature in the amplitude.

Symmetric bodies need no case of their own: c1 = 1 makes k = 0. On the separatrix k = 1. At an equilibrium, where the
phase is undefined, the momentum stays.
"""

from __future__ import annotations

import math

from ...compiled.kernel import kernel
from ...math.quaternions import multiply_quaternions
from .elliptic import first_kind, jacobi_sn_cn, quarter_period, third_kind_remainder

SHORT = 0.5  # largest advance of u for quadrature with eight nodes; the nearest pole is at a distance of pi/2 or more
POINTS = (
    0.18343464249564980494,
    0.52553240991632898582,
    0.79666647741362673959,
    0.96028985649753623168,
)
WEIGHTS = (
    0.36268378337836198297,
    0.31370664587788728734,
    0.22238103445337447054,
    0.10122853629037625915,
)
SAME = 1e-15  # relative difference of moments of inertia that is round-off
SMALL, LARGE = 1e-60, 1e60  # momenta whose squares and products neither vanish nor overflow; others are scaled
MOST_TURNS = 1e12  # angle of which double precision keeps the first three or four digits behind the point


@kernel
def to_third_axis(n1, n2, n3):
    """Quaternion of the smallest rotation that takes the unit vector n, n3 > -1, to e3."""
    f = 1.0 / math.sqrt(2.0 * (1.0 + n3))
    return (1.0 + n3) * f, n2 * f, -n1 * f, 0.0


@kernel
def _mean_part(s0, c0, turn, m1, r):
    """Mean over time of y3 / (L + y3), y3 = r L dn, while the amplitude advances by ``turn`` from (s0, c0)."""
    upper, lower = 0.0, 0.0
    for k in range(4):
        for sign in (-1.0, 1.0):
            angle = 0.5 * turn * (1.0 + sign * POINTS[k])
            sa, ca = math.sin(angle), math.cos(angle)
            s, c = s0 * ca + c0 * sa, c0 * ca - s0 * sa
            dn = math.sqrt(c * c + m1 * s * s)
            weight = WEIGHTS[k] / dn if dn > 0.0 else 1.0
            upper += weight * r * dn / (1.0 + r * dn)
            lower += weight
    return upper / lower


@kernel
def _branch(i1, i2, i3, y1, y2, y3, length, t, scratch):
    """(y1, y2, y3, psi) after the time t, for c2 y1^2 <= c1 y3^2 and y3 >= 0; I1, I2, I3 ascend or descend."""
    c1 = i1 * (i3 - i2) / (i2 * (i3 - i1))
    c2 = i3 * (i2 - i1) / (i2 * (i3 - i1))
    k1 = math.sqrt(y1 * y1 + c1 * y2 * y2)
    k3 = math.sqrt(c2 * y2 * y2 + y3 * y3)
    if k1 <= 1e-300 * length:  # rotation about the third axis
        return y1, y2, y3, length * t / i3
    k2 = math.sqrt(y1 * y1 / c1 + y2 * y2)  # not k1 / sqrt(c1), whose rounding error is the same in every step
    rate = (y1 * y1 / i1 + y2 * y2 / i2 + y3 * y3 / i3) / length  # 2 H / L
    if k3 <= 1e-300 * length:  # a symmetric body that turns about an axis of its equator
        return y1, y2, y3, rate * t
    excess = (i1 - i3) / (i1 * i3) * k1 * k1 / length  # L / I3 - 2 H / L
    root = math.sqrt((i3 - i2) * (i3 - i1) / (i1 * i2)) / i3
    speed = root * k3 if i3 > i1 else -root * k3
    m1 = max(0.0, (c1 * y3 * y3 - c2 * y1 * y1) / (c1 * k3 * k3))  # 1 - k^2
    s0, c0 = y2 / k2, y1 / k1
    size = math.hypot(s0, c0)
    s0, c0 = s0 / size, c0 / size
    if c0 * c0 + m1 * s0 * s0 <= 1e-290:  # the unstable equilibrium
        return y1, y2, y3, rate * t
    # amplitude phi0 = half0 pi + (rest in [-pi/2, pi/2])
    half0 = 0 if c0 >= 0.0 else 1
    if half0 == 1:
        s0, c0 = -s0, -c0
    advance = speed * t
    u = first_kind(s0, c0, m1) + advance
    period = quarter_period(m1)
    half = 0.0 if m1 == 0.0 else math.floor(0.5 * u / period + 0.5)
    s, c = jacobi_sn_cn(u - 2.0 * period * half if half != 0.0 else u, m1, scratch)
    c = max(c, 0.0)
    r = k3 / length
    if abs(advance) <= SHORT:
        turn = math.atan2(s * c0 - c * s0, c * c0 + s * s0) + math.pi * half
        psi = t * (rate + excess * _mean_part(s0, c0, turn, m1, r))
    else:
        # y3 / (L + y3) = r / (1 + r) (1 - 2 kappa / (1 + r) sn^2 v / (1 + n sn^2 v)), u = (1 + kappa) v
        root1 = math.sqrt(m1)
        kappa = (1.0 - root1) / (1.0 + root1)
        n = kappa * (1.0 - r) / (1.0 + r)
        third = third_kind_remainder(s, c, root1, n) - third_kind_remainder(s0, c0, root1, n)
        if half != 0.0:
            third += 2.0 * half * third_kind_remainder(1.0, 0.0, root1, n)
        part = root1 / (1.0 + r * root1) * t - 2.0 * kappa * (1.0 + kappa) / ((1.0 + r) * (1.0 + r)) * third / speed
        psi = rate * t + excess * r * part
    odd = (half0 + int(abs(half) % 2.0)) % 2
    sign = -1.0 if odd == 1 else 1.0
    return sign * k1 * c, sign * k2 * s, k3 * math.sqrt(c * c + m1 * s * s), psi


@kernel
def free_rotation(i1, i2, i3, y1, y2, y3, t, scratch):
    """Momentum and the quaternion of the turn of a free body after the time t.

    Moments of inertia ascend, the largest being of the size of one. Momenta of any size are admitted: only their
    product with the time matters. Returns NaN where the body turns so often that nothing is left of its attitude.
    """
    largest = max(abs(y1), abs(y2), abs(y3))
    if largest == 0.0:
        return y1, y2, y3, 1.0, 0.0, 0.0, 0.0
    scale = 1.0
    if largest < SMALL or largest > LARGE:
        scale = largest
        y1, y2, y3, t = y1 / scale, y2 / scale, y3 / scale, t * scale
    length = math.sqrt(y1 * y1 + y2 * y2 + y3 * y3)
    if not (abs(y1 / i1) + abs(y2 / i2) + abs(y3 / i3)) * abs(t) < MOST_TURNS:
        return math.nan, math.nan, math.nan, math.nan, math.nan, math.nan, math.nan
    if i3 - i1 <= SAME * i3:  # all axes are principal
        angle = 0.5 * length * t / i2
        f = math.sin(angle) / length
        return scale * y1, scale * y2, scale * y3, math.cos(angle), f * y1, f * y2, f * y3
    other = i3 * (i2 - i1) * y1 * y1 > i1 * (i3 - i2) * y3 * y3  # c2 y1^2 > c1 y3^2: circles around the first axis
    a1, a2, a3, x1, x2, x3 = i1, i2, i3, y1, y2, y3
    if other:  # half a turn about (1, 0, 1) exchanges the axes
        a1, a3 = i3, i1
        x1, x2, x3 = y3, -y2, y1
    below = x3 < 0.0
    if below:  # half a turn about the first axis
        x2, x3 = -x2, -x3
    f = 1.0 / length
    b0, b1, b2, b3 = to_third_axis(f * x1, f * x2, f * x3)
    x1, x2, x3, psi = _branch(a1, a2, a3, x1, x2, x3, length, t, scratch)
    e0, e1, e2, e3 = multiply_quaternions(b0, -b1, -b2, -b3, math.cos(0.5 * psi), 0.0, 0.0, math.sin(0.5 * psi))
    b0, b1, b2, b3 = to_third_axis(f * x1, f * x2, f * x3)
    e0, e1, e2, e3 = multiply_quaternions(e0, e1, e2, e3, b0, b1, b2, b3)
    if below:
        x2, x3 = -x2, -x3
        e2, e3 = -e2, -e3
    if other:
        x1, x2, x3 = x3, -x2, x1
        e1, e2, e3 = e3, -e2, e1
    return scale * x1, scale * x2, scale * x3, e0, e1, e2, e3
