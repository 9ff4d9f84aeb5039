"""Force elements along a direction of frames and frame velocities: exact derivatives, from those of their laws.

``ya, yb`` are directions of the frames ``za, zb`` and ``yda, ydb`` those of their velocities, of kind ``fours``; the
change of the frame forces is added to ``fa, fb``. The coordinate u of a spring and its rate change by the product rule,
its tension by df = f_u du + f_v d(u_dot). What parameters do to an element is not in here.
"""

from __future__ import annotations

import math

from ..compiled.kernel import kernel
from ..nodes.markers import (
    apply_torque,
    axis,
    displacement,
    hinge,
    hinge_rates,
    push_axis,
    push_hinge,
    push_point,
)
from .instant import load_vector, spring_state
from .kinds import AXIS_SPRING, FORCE_BODY, FORCE_WORLD, SPRING, TORQUE_WORLD, TORSION_SPRING
from .tension import tension


@kernel
def _push_apart(e, f1, f2, f3, fa, fb):
    """The force at the second point, and its opposite at the first."""
    push_point(fa, e.pa1, e.pa2, e.pa3, -f1, -f2, -f3)
    push_point(fb, e.pb1, e.pb2, e.pb3, f1, f2, f3)


@kernel
def _distance_along(e, za, zb, zda, zdb, ya, yb, yda, ydb, f, k, c, fa, fb):
    """Change of the force f d/L of a spring between two points, d = Q - P."""
    d1, d2, d3 = displacement(e, za, zb)
    r1, r2, r3 = displacement(e, zda, zdb)
    y1, y2, y3 = displacement(e, ya, yb)
    x1, x2, x3 = displacement(e, yda, ydb)
    length = math.sqrt(d1 * d1 + d2 * d2 + d3 * d3)
    if length == 0.0:  # as the tangent has it
        _push_apart(e, k * y1, k * y2, k * y3, fa, fb)
        return
    inverse = 1.0 / length
    a1, a2, a3, f = d1 * inverse, d2 * inverse, d3 * inverse, f * inverse
    s = a1 * r1 + a2 * r2 + a3 * r3
    du = a1 * y1 + a2 * y2 + a3 * y3
    dr = a1 * x1 + a2 * x2 + a3 * x3
    dr += ((r1 - s * a1) * inverse) * y1 + ((r2 - s * a2) * inverse) * y2 + ((r3 - s * a3) * inverse) * y3
    df = (k - f) * du + c * dr  # the change of f along d, less that of the direction
    _push_apart(e, df * a1 + f * y1, df * a2 + f * y2, df * a3 + f * y3, fa, fb)


@kernel
def _axis_along(e, za, zb, zda, zdb, ya, yb, yda, ydb, f, k, c, fa, fb):
    """Change of the force f a of a spring along an axis a of the first body, u = a . d."""
    d1, d2, d3 = displacement(e, za, zb)
    r1, r2, r3 = displacement(e, zda, zdb)
    y1, y2, y3 = displacement(e, ya, yb)
    x1, x2, x3 = displacement(e, yda, ydb)
    a1, a2, a3 = axis(za, e.aa1, e.aa2, e.aa3)
    w1, w2, w3 = axis(zda, e.aa1, e.aa2, e.aa3)
    b1, b2, b3 = axis(ya, e.aa1, e.aa2, e.aa3)
    u1, u2, u3 = axis(yda, e.aa1, e.aa2, e.aa3)
    du = d1 * b1 + d2 * b2 + d3 * b3 + a1 * y1 + a2 * y2 + a3 * y3
    dr = d1 * u1 + d2 * u2 + d3 * u3 + w1 * y1 + w2 * y2 + w3 * y3
    dr += r1 * b1 + r2 * b2 + r3 * b3 + a1 * x1 + a2 * x2 + a3 * x3
    df = k * du + c * dr
    push_axis(fa, e.aa1, e.aa2, e.aa3, df * d1 + f * y1, df * d2 + f * y2, df * d3 + f * y3)
    _push_apart(e, df * a1 + f * b1, df * a2 + f * b2, df * a3 + f * b3, fa, fb)


@kernel
def _angle_along(e, za, zb, zda, zdb, ya, yb, yda, ydb, f, k, c, fa, fb):
    """Change of the generalized force f of a torsion spring, whose angle has the cosine and sine (p, s)."""
    p, s, pd, sd = hinge_rates(e, za, zb, zda, zdb)
    p, s, dp, ds = hinge_rates(e, za, zb, ya, yb)
    p, s, dpd, dsd = hinge_rates(e, za, zb, yda, ydb)
    mp, ms = hinge(e, zda, yb)
    np, ns = hinge(e, ya, zdb)
    dpd, dsd = dpd + mp + np, dsd + ms + ns
    d = 1.0 / (p * p + s * s)
    rate, p, s = (p * sd - s * pd) * d, p * d, s * d
    radial = 2.0 * (p * dp + s * ds)
    df = k * (p * ds - s * dp) + c * (p * dsd - s * dpd + (sd * d) * dp - (pd * d) * ds - rate * radial)
    push_hinge(e, za, zb, df * p + f * (d * dp - p * radial), df * s + f * (d * ds - s * radial), fa, fb)
    push_hinge(e, ya, yb, f * p, f * s, fa, fb)


@kernel
def force_along(e, za, zb, zda, zdb, ya, yb, yda, ydb, values, turns, fa, fb):
    """fa, fb += change of the frame forces of ``force_residual``; values of a law of its own have its derivatives."""
    kind = e.kind
    if kind == SPRING or kind == AXIS_SPRING or kind == TORSION_SPRING:
        u, rate = spring_state(e, za, zb, zda, zdb, turns)
        elastic, other, k, c = tension(e, u, rate, values)
        if kind == SPRING:
            _distance_along(e, za, zb, zda, zdb, ya, yb, yda, ydb, elastic + other, k, c, fa, fb)
        elif kind == AXIS_SPRING:
            _axis_along(e, za, zb, zda, zdb, ya, yb, yda, ydb, elastic + other, k, c, fa, fb)
        else:
            _angle_along(e, za, zb, zda, zdb, ya, yb, yda, ydb, elastic + other, k, c, fa, fb)
        return
    if kind == FORCE_WORLD:
        return
    f1, f2, f3 = load_vector(e, values)
    if kind == FORCE_BODY:
        x1, x2, x3 = axis(yb, f1, f2, f3)
        push_point(fb, e.pb1, e.pb2, e.pb3, -x1, -x2, -x3)
        return
    if kind != TORQUE_WORLD:  # the torque moves with the body
        x1, x2, x3 = axis(yb, f1, f2, f3)
        apply_torque(fb, zb, x1, x2, x3)
        f1, f2, f3 = axis(zb, f1, f2, f3)
    apply_torque(fb, yb, f1, f2, f3)
