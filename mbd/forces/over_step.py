"""Exact discrete gradients of joints and force elements on frames.

Over a step from the frames z0 to z1 every element acts at the averaged frames zm = (z0 + z1)/2. Because joints and the
invariants of springs are at most quadratic in z, ``g_z(zm) (z1 - z0) = g(z1) - g(z0)`` holds without any quotient, and
the potential of a spring enters through the cancelled form of Greenspan's quotient, e.g. ``k (lm - l0) / lm`` with the
mean length lm [Greenspan 1984, J. Comput. Phys. 56, 28; Simo, Tarnow & Wong 1992]. Dampers use the secant of the same
invariant and dissipate exactly ``c (du/h)^2``. Rest values that are functions of time are taken in the middle.
"""

from __future__ import annotations

import math

from ..compiled.kernel import kernel
from ..joints.instant import axis, point, push_axis, push_point
from .instant import load_vector, second_normal, spring_tension
from .kinds import AXIS_SPRING, FORCE_BODY, FORCE_WORLD, SPRING, TORQUE_BODY, TORSION_SPRING

SMALL_RATIO = 1e-3  # below this |sin| of the angle of a step the quotient angle / sin is a series


@kernel
def distance(za, zb, e):
    """Vector between the points of an element."""
    p1, p2, p3 = point(za, e.pa1, e.pa2, e.pa3)
    q1, q2, q3 = point(zb, e.pb1, e.pb2, e.pb3)
    return q1 - p1, q2 - p2, q3 - p3


@kernel
def norm(x, y, z):
    """Length of a vector."""
    return math.sqrt(x * x + y * y + z * z)


@kernel
def hinge(e, za, zb):
    """cos and sin of the hinge angle, n1.m and n2.m."""
    k1, k2, k3 = second_normal(e)
    n1, n2, n3 = axis(za, e.na1, e.na2, e.na3)
    h1, h2, h3 = axis(za, k1, k2, k3)
    m1, m2, m3 = axis(zb, e.nb1, e.nb2, e.nb3)
    return n1 * m1 + n2 * m2 + n3 * m3, h1 * m1 + h2 * m2 + h3 * m3


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
def _projection(e, za, zb):
    """Displacement a.(Q - P) of an axis spring."""
    d1, d2, d3 = distance(za, zb, e)
    a1, a2, a3 = axis(za, e.aa1, e.aa2, e.aa3)
    return a1 * d1 + a2 * d2 + a3 * d3


@kernel
def secant_tension(e, za0, zb0, za1, zb1, h, values):
    """(f, df/du1) of a linear or axis spring: f multiplies grad u, for SPRING the vector between the points."""
    slope = 0.5 * e.p1 + e.p3 / h
    if e.kind == AXIS_SPRING:
        u0, u1 = _projection(e, za0, zb0), _projection(e, za1, zb1)
        return spring_tension(e, 0.5 * (u0 + u1), (u1 - u0) / h, values), slope
    d1, d2, d3 = distance(za0, zb0, e)
    u0 = norm(d1, d2, d3)
    d1, d2, d3 = distance(za1, zb1, e)
    u1 = norm(d1, d2, d3)
    mean = 0.5 * (u0 + u1)
    if mean > 0.0:
        f = spring_tension(e, mean, (u1 - u0) / h, values) / mean
        return f, (slope - 0.5 * f) / mean
    return e.p1, 0.0


@kernel
def push_secant_angle(e, zma, zmb, c, s, fa, fb):
    """fa, fb += c grad(sin) - s grad(cos) of the hinge angle at the averaged frames."""
    k1, k2, k3 = second_normal(e)
    n1, n2, n3 = axis(zma, e.na1, e.na2, e.na3)
    h1, h2, h3 = axis(zma, k1, k2, k3)
    m1, m2, m3 = axis(zmb, e.nb1, e.nb2, e.nb3)
    push_axis(fa, e.na1, e.na2, e.na3, -s * m1, -s * m2, -s * m3)
    push_axis(fa, k1, k2, k3, c * m1, c * m2, c * m3)
    push_axis(fb, e.nb1, e.nb2, e.nb3, c * h1 - s * n1, c * h2 - s * n2, c * h3 - s * n3)


@kernel
def discrete_force(e, za0, zb0, za1, zb1, zma, zmb, h, values, turns, fa, fb, torque):
    """fa, fb += frame forces of an element over the step (sign of the residual); torques go to ``torque``.

    ``values`` holds the functions of time at the middle of the step.
    """
    kind = e.kind
    if kind == TORSION_SPRING:
        c0, s0 = hinge(e, za0, zb0)
        c1, s1 = hinge(e, za1, zb1)
        phi, t, ts, tc = angle_quotient(s1 * c0 - c1 * s0, c1 * c0 + s1 * s0)
        f = t * spring_tension(e, turns[e.turn] + 0.5 * phi, phi / h, values)
        push_secant_angle(e, zma, zmb, 0.5 * f * (c0 + c1), 0.5 * f * (s0 + s1), fa, fb)
        return
    if kind == SPRING or kind == AXIS_SPRING:
        f, slope = secant_tension(e, za0, zb0, za1, zb1, h, values)
        d1, d2, d3 = distance(zma, zmb, e)
        if kind == AXIS_SPRING:
            push_axis(fa, e.aa1, e.aa2, e.aa3, f * d1, f * d2, f * d3)
            d1, d2, d3 = axis(zma, e.aa1, e.aa2, e.aa3)
        push_point(fa, e.pa1, e.pa2, e.pa3, -f * d1, -f * d2, -f * d3)
        push_point(fb, e.pb1, e.pb2, e.pb3, f * d1, f * d2, f * d3)
        return
    f1, f2, f3 = load_vector(e, values)
    if kind == FORCE_WORLD:
        push_point(fb, e.pb1, e.pb2, e.pb3, -f1, -f2, -f3)
        return
    if torque_in_body(e) or kind == FORCE_BODY:
        f1, f2, f3 = axis(zmb, f1, f2, f3)
    if kind == FORCE_BODY:
        push_point(fb, e.pb1, e.pb2, e.pb3, -f1, -f2, -f3)
    else:
        torque[0] -= f1
        torque[1] -= f2
        torque[2] -= f3


@kernel
def torque_in_body(e):
    """Whether the element is a torque given in body axes."""
    return e.kind == TORQUE_BODY
