"""Force elements at an instant, as kernels on frames: residual, stiffness and damping; over a step: ``over_step``.

Many act on a scalar coordinate u(z) with a tension f(u, u_dot) (``tension``): on the distance of two points (SPRING),
the displacement along a body-fixed axis (AXIS_SPRING), or the angle of a hinge (TORSION_SPRING). Their generalised
force is ``f grad u``, their stiffness ``grad u (k grad u + c d(u_dot)) + f u_zz`` and their damping ``c grad u grad u``
with k = df/du, c = df/du_dot.
Loads are given vectors in world or body axes. Residuals carry the sign of ``M v_dot - f = 0``.
"""

from __future__ import annotations

import math

from ..compiled.kernel import kernel
from ..joints.angles import angle_rows
from ..nodes.increments import velocity_row
from ..nodes.markers import (
    angle_state,
    apply_torque,
    axis,
    axis_jacobian,
    displacement,
    point_jacobian,
    push_angle,
    push_axis,
    push_point,
    velocity_jacobian,
)
from ..nodes.pair_blocks import add_product, add_row, clear_rows, distance_stiffness, outer_pair, projection_stiffness
from .kinds import AXIS_SPRING, FORCE_BODY, FORCE_WORLD, SPRING, TORQUE_WORLD, TORSION_SPRING
from .tension import call_law, tension


@kernel
def load_vector(e, values):
    """The vector of a load: constant or the current value of its function of time."""
    if e.function >= 0:
        k = e.function
        return values[k], values[k + 1], values[k + 2]
    return e.p1, e.p2, e.p3


@kernel
def spring_state(e, za, zb, zda, zdb, turns):
    """(u, u_dot) of a spring's coordinate; the angle continues from the last accepted one in ``turns``."""
    if e.kind == TORSION_SPRING:
        return angle_state(e, za, zb, zda, zdb, turns[e.turn])
    d1, d2, d3 = displacement(e, za, zb)
    r1, r2, r3 = displacement(e, zda, zdb)
    if e.kind == SPRING:
        length = math.sqrt(d1 * d1 + d2 * d2 + d3 * d3)
        rate = (d1 * r1 + d2 * r2 + d3 * r3) / length if length > 0.0 else 0.0
        return length, rate
    a1, a2, a3 = axis(za, e.aa1, e.aa2, e.aa3)
    w1, w2, w3 = axis(zda, e.aa1, e.aa2, e.aa3)
    return a1 * d1 + a2 * d2 + a3 * d3, w1 * d1 + w2 * d2 + w3 * d3 + a1 * r1 + a2 * r2 + a3 * r3


@kernel
def force_residual(e, za, zb, zda, zdb, values, turns, fa, fb):
    """fa, fb += frame forces of the element (with the sign of the residual, i.e. minus the applied force)."""
    kind = e.kind
    if kind == SPRING or kind == AXIS_SPRING or kind == TORSION_SPRING:
        u, rate = spring_state(e, za, zb, zda, zdb, turns)
        elastic, other, du, dr = tension(e, u, rate, values)
        f = elastic + other
        if kind == TORSION_SPRING:
            push_angle(e, za, zb, f, fa, fb)
            return
        d1, d2, d3 = displacement(e, za, zb)
        if kind == SPRING:
            f = f / u if u > 0.0 else 0.0
            f1, f2, f3 = f * d1, f * d2, f * d3
        else:
            push_axis(fa, e.aa1, e.aa2, e.aa3, f * d1, f * d2, f * d3)
            f1, f2, f3 = axis(za, e.aa1, e.aa2, e.aa3)
            f1, f2, f3 = f * f1, f * f2, f * f3
        push_point(fa, e.pa1, e.pa2, e.pa3, -f1, -f2, -f3)
        push_point(fb, e.pb1, e.pb2, e.pb3, f1, f2, f3)
        return
    f1, f2, f3 = load_vector(e, values)
    if kind == FORCE_WORLD:
        push_point(fb, e.pb1, e.pb2, e.pb3, -f1, -f2, -f3)
    elif kind == FORCE_BODY:
        f1, f2, f3 = axis(zb, f1, f2, f3)
        push_point(fb, e.pb1, e.pb2, e.pb3, -f1, -f2, -f3)
    else:
        if kind != TORQUE_WORLD:
            f1, f2, f3 = axis(zb, f1, f2, f3)
        apply_torque(fb, zb, f1, f2, f3)


@kernel
def law_at_instant(e, functions, t, za, zb, zda, zdb, turns, derivatives, user, values):
    """The values of an element's own function at the present coordinate, if it has one."""
    if e.call >= 0:
        u, rate = spring_state(e, za, zb, zda, zdb, turns)
        call_law(e, functions, t, u, rate, derivatives, user, values)


# --- tangents -----------------------------------------------------------------------------------------------------


@kernel
def _spring_rows(e, na, nb, q, v, ga, gb, za, zb, zda, zdb, jacobians, scratch, f, k, ck, matrix):
    """Rows grad u and d(u_dot), for a and b each, into the last two Jacobians.

    Adds ck f u_zz to the matrix, without its multiples of grad u.
    """
    va, vb = na.nv, nb.nv
    point_a, point_b, axis_a = jacobians[0], jacobians[1], jacobians[2]
    point_rate_a, point_rate_b, axis_rate_a = jacobians[3], jacobians[4], jacobians[5]
    gradients, rates = jacobians[6], jacobians[7]
    row_a, row_b, rate_a, rate_b = gradients[0], gradients[1], rates[0], rates[1]
    clear_rows(gradients)
    clear_rows(rates)
    d1, d2, d3 = displacement(e, za, zb)
    r1, r2, r3 = displacement(e, zda, zdb)
    if e.kind == SPRING:
        length = math.sqrt(d1 * d1 + d2 * d2 + d3 * d3)
        inverse = 1.0 / length if length > 0.0 else 0.0
        a1, a2, a3 = d1 * inverse, d2 * inverse, d3 * inverse
        s = a1 * r1 + a2 * r2 + a3 * r3
        y1, y2, y3 = (r1 - s * a1) * inverse, (r2 - s * a2) * inverse, (r3 - s * a3) * inverse
        f = f * inverse if length > 0.0 else k
    else:
        a1, a2, a3 = axis(za, e.aa1, e.aa2, e.aa3)
        y1, y2, y3 = axis(zda, e.aa1, e.aa2, e.aa3)
    if va > 0:
        point_jacobian(na, q, ga, za, e.pa1, e.pa2, e.pa3, point_a)
        velocity_jacobian(na, q, v, ga, za, e.pa1, e.pa2, e.pa3, point_rate_a, scratch)
        add_row(-1.0, a1, a2, a3, point_a, va, row_a)
        add_row(-1.0, y1, y2, y3, point_a, va, rate_a)
        add_row(-1.0, a1, a2, a3, point_rate_a, va, rate_a)
    if vb > 0:
        point_jacobian(nb, q, gb, zb, e.pb1, e.pb2, e.pb3, point_b)
        velocity_jacobian(nb, q, v, gb, zb, e.pb1, e.pb2, e.pb3, point_rate_b, scratch)
        add_row(1.0, a1, a2, a3, point_b, vb, row_b)
        add_row(1.0, y1, y2, y3, point_b, vb, rate_b)
        add_row(1.0, a1, a2, a3, point_rate_b, vb, rate_b)
    c = ck * f
    if e.kind == SPRING:
        distance_stiffness(c, point_a, point_b, point_a, point_b, na, nb, e, matrix)
        outer_pair(-c, row_a, row_b, row_a, row_b, na, nb, e, matrix)
    elif va > 0:
        axis_jacobian(na, q, ga, za, e.aa1, e.aa2, e.aa3, axis_a)
        velocity_jacobian(na, q, v, ga, za, e.aa1, e.aa2, e.aa3, axis_rate_a, scratch)
        add_row(1.0, d1, d2, d3, axis_a, va, row_a)
        add_row(1.0, r1, r2, r3, axis_a, va, rate_a)
        add_row(1.0, d1, d2, d3, axis_rate_a, va, rate_a)
        projection_stiffness(c, axis_a, point_a, point_b, axis_a, point_a, point_b, na, nb, e, matrix)


@kernel
def force_tangent(e, na, nb, q, v, ga, gb, za, zb, zda, zdb, ta, tb, values, turns, cc, ck, jacobians, scratch, matrix):
    """Add cc C T^-1 + ck K of the element (the frames' own curvature is added with the frame forces)."""
    kind = e.kind
    if kind == SPRING or kind == AXIS_SPRING or kind == TORSION_SPRING:
        u, rate = spring_state(e, za, zb, zda, zdb, turns)
        elastic, other, k, c = tension(e, u, rate, values)
        f = elastic + other
        if kind == TORSION_SPRING:
            angle_rows(e, na, nb, q, v, ga, gb, za, zb, zda, zdb, jacobians, scratch, f, ck, matrix)
        else:
            _spring_rows(e, na, nb, q, v, ga, gb, za, zb, zda, zdb, jacobians, scratch, f, k, ck, matrix)
        gradients, rates = jacobians[6], jacobians[7]
        row_a, row_b, rate_a, rate_b = gradients[0], gradients[1], rates[0], rates[1]
        outer_pair(ck * k, row_a, row_b, row_a, row_b, na, nb, e, matrix)
        if c != 0.0:
            outer_pair(ck * c, row_a, row_b, rate_a, rate_b, na, nb, e, matrix)
            velocity_row(na, ta, row_a, rate_a)
            velocity_row(nb, tb, row_b, rate_b)
            outer_pair(cc * c, row_a, row_b, rate_a, rate_b, na, nb, e, matrix)
        return
    if nb.nv == 0 or ck == 0.0 or kind == FORCE_WORLD:
        return
    f1, f2, f3 = load_vector(e, values)
    marker, change, turned = jacobians[0], jacobians[1], jacobians[2]  # of point or axis, load there, torque
    if kind == FORCE_BODY:
        point_jacobian(nb, q, gb, zb, e.pb1, e.pb2, e.pb3, marker)
        axis_jacobian(nb, q, gb, zb, f1, f2, f3, change)
        add_product(-ck, marker, nb.nv, change, nb.nv, matrix, nb.block, nb.ld)
        return
    if kind != TORQUE_WORLD:  # the torque moves with the body
        axis_jacobian(nb, q, gb, zb, f1, f2, f3, turned)
        f1, f2, f3 = axis(zb, f1, f2, f3)
    for i in range(3):
        x1, x2, x3 = 1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0
        axis_jacobian(nb, q, gb, zb, x1, x2, x3, marker)
        z1, z2, z3 = zb[3 + 3 * i], zb[4 + 3 * i], zb[5 + 3 * i]
        for k in range(nb.nv):  # d(tau x d_i)
            d1, d2, d3 = marker[0, k], marker[1, k], marker[2, k]
            change[0, k] = f2 * d3 - f3 * d2
            change[1, k] = f3 * d1 - f1 * d3
            change[2, k] = f1 * d2 - f2 * d1
            if kind != TORQUE_WORLD:
                d1, d2, d3 = turned[0, k], turned[1, k], turned[2, k]
                change[0, k] += d2 * z3 - d3 * z2
                change[1, k] += d3 * z1 - d1 * z3
                change[2, k] += d1 * z2 - d2 * z1
        add_product(-0.5 * ck, marker, nb.nv, change, nb.nv, matrix, nb.block, nb.ld)
