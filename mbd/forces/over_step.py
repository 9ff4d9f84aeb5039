"""Force elements over a step, as kernels on frames; at an instant they are in ``mbd.forces.instant``.

Over a step from the frames z0 to z1 every element acts at the averaged frames zm = (z0 + z1)/2. Because joints and the
invariants of springs are at most quadratic in z, ``g_z(zm) (z1 - z0) = g(z1) - g(z0)`` holds without any quotient, and
the potential of a spring enters through the cancelled form of Greenspan's quotient, e.g. ``k (lm - l0) / lm`` with the
mean length lm [Greenspan 1984, J. Comput. Phys. 56, 28; Simo, Tarnow & Wong 1992]. Dampers use the secant of the same
invariant and dissipate exactly ``c (du/h)^2``. Other laws, and functions of time, are taken in the middle
(``tension``).
"""

from __future__ import annotations

import math

from ..compiled.kernel import kernel
from ..joints.angles_over_step import angle_quotient
from ..nodes.markers import axis, displacement, hinge, push_axis, push_hinge, push_point
from .instant import load_vector
from .kinds import AXIS_SPRING, FORCE_BODY, FORCE_WORLD, SPRING, TORQUE_BODY, TORSION_SPRING
from .tension import call_law, tension_between


@kernel
def norm(x, y, z):
    """Length of a vector."""
    return math.sqrt(x * x + y * y + z * z)


@kernel
def _projection(e, za, zb):
    """Displacement a.(Q - P) of an axis spring."""
    d1, d2, d3 = displacement(e, za, zb)
    a1, a2, a3 = axis(za, e.aa1, e.aa2, e.aa3)
    return a1 * d1 + a2 * d2 + a3 * d3


@kernel
def coordinate_over_step(e, za0, zb0, za1, zb1, turns):
    """The coordinate of an element at both ends of a step."""
    if e.kind == TORSION_SPRING:
        c0, s0 = hinge(e, za0, zb0)
        c1, s1 = hinge(e, za1, zb1)
        return turns[e.turn], turns[e.turn] + math.atan2(s1 * c0 - c1 * s0, c1 * c0 + s1 * s0)
    if e.kind == AXIS_SPRING:
        return _projection(e, za0, zb0), _projection(e, za1, zb1)
    d1, d2, d3 = displacement(e, za0, zb0)
    x1, x2, x3 = displacement(e, za1, zb1)
    return norm(d1, d2, d3), norm(x1, x2, x3)


@kernel
def law_over_step(e, functions, t, za0, zb0, za1, zb1, h, turns, derivatives, user, values):
    """The values of an element's own function in the middle of a step, if it has one."""
    if e.call >= 0:
        u0, u1 = coordinate_over_step(e, za0, zb0, za1, zb1, turns)
        call_law(e, functions, t, 0.5 * (u0 + u1), (u1 - u0) / h, derivatives, user, values)


@kernel
def tension_over_step(e, za0, zb0, za1, zb1, h, values, turns):
    """(f, df/du1) of an element: f multiplies grad u, for SPRING the vector between the points."""
    u0, u1 = coordinate_over_step(e, za0, zb0, za1, zb1, turns)
    f, slope = tension_between(e, u0, u1, h, values)
    if e.kind != SPRING:
        return f, slope
    mean = 0.5 * (u0 + u1)
    if mean > 0.0:
        f /= mean
        return f, (slope - 0.5 * f) / mean
    return e.p1, 0.0


@kernel
def force_over_step(e, za0, zb0, za1, zb1, zma, zmb, h, values, turns, fa, fb, torque):
    """fa, fb += frame forces of an element over the step (sign of the residual); torques go to ``torque``.

    ``values`` holds the functions of time at the middle of the step.
    """
    kind = e.kind
    if kind == TORSION_SPRING:
        c0, s0 = hinge(e, za0, zb0)
        c1, s1 = hinge(e, za1, zb1)
        phi, t, ts, tc = angle_quotient(s1 * c0 - c1 * s0, c1 * c0 + s1 * s0)
        f, slope = tension_between(e, turns[e.turn], turns[e.turn] + phi, h, values)
        f *= t
        push_hinge(e, zma, zmb, 0.5 * f * (c0 + c1), 0.5 * f * (s0 + s1), fa, fb)
        return
    if kind == SPRING or kind == AXIS_SPRING:
        f, slope = tension_over_step(e, za0, zb0, za1, zb1, h, values, turns)
        d1, d2, d3 = displacement(e, zma, zmb)
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
    if kind == TORQUE_BODY or kind == FORCE_BODY:
        f1, f2, f3 = axis(zmb, f1, f2, f3)
    if kind == FORCE_BODY:
        push_point(fb, e.pb1, e.pb2, e.pb3, -f1, -f2, -f3)
    else:
        torque[0] -= f1
        torque[1] -= f2
        torque[2] -= f3
