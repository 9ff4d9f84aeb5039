"""Force elements over a step: derivatives of the frame forces of ``mbd.forces.over_step`` for the Newton matrix.

Tangents have *row* Jacobians (how the averaged frame turns a frame force into a generalised force, from qr and zr) and
*column* Jacobians (how the end frame moves with the unknown increment, from q1 and z1); they are the same only for
frames that are linear in the coordinates. Terms that depend on z1 through zm carry the factor one half.
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..joints.angles_over_step import angle_quotient, angle_tangent_over_step
from ..nodes.markers import axis, axis_jacobian, displacement, hinge, point_jacobian
from ..nodes.pair_blocks import add_product, add_row, clear_rows, distance_stiffness, outer_pair, projection_stiffness
from ..nodes.step.torques import body_torque_tangent
from .instant import load_vector
from .kinds import AXIS_SPRING, FORCE_BODY, SPRING, TORQUE_BODY, TORSION_SPRING
from .over_step import norm, tension_over_step
from .tension import tension_between


@kernel
def force_tangent_over_step(
    e, na, nb, qr, q1, zra, zrb, za0, zb0, za1, zb1, zma, zmb, h, values, turns, ck, jacobians, matrix
):  # fmt: skip
    """Add ck d(generalised force)/d(increment); of torques, which act on nodes, that they turn with the body."""
    kind = e.kind
    if kind == TORSION_SPRING:
        c0, s0 = hinge(e, za0, zb0)
        c1, s1 = hinge(e, za1, zb1)
        phi, t, ts, tc = angle_quotient(s1 * c0 - c1 * s0, c1 * c0 + s1 * s0)
        f, slope = tension_between(e, turns[e.turn], turns[e.turn] + phi, h, values)
        angle_tangent_over_step(
            e, na, nb, qr, q1, zra, zrb, za1, zb1, zma, zmb, c0, s0, c1, s1, f, slope, ck, jacobians, matrix
        )  # fmt: skip
    elif kind == SPRING or kind == AXIS_SPRING:
        _spring_tangent(
            e, na, nb, qr, q1, zra, zrb, za0, zb0, za1, zb1, zma, zmb, h, values, turns, ck, jacobians, matrix
        )  # fmt: skip
    elif kind == FORCE_BODY:
        f1, f2, f3 = load_vector(e, values)
        point, load = jacobians[0], jacobians[1]
        point_jacobian(nb, qr, zrb, zrb, e.pb1, e.pb2, e.pb3, point)
        axis_jacobian(nb, q1, za1, zb1, f1, f2, f3, load)
        add_product(-0.5 * ck, point, nb.nv, load, nb.nv, matrix, nb.block, nb.ld)
    elif kind == TORQUE_BODY:
        t1, t2, t3 = load_vector(e, values)
        body_torque_tangent(nb, t1, t2, t3, q1, zb1, zmb, ck, jacobians, matrix)


@kernel
def _spring_tangent(
    e, na, nb, qr, q1, zra, zrb, za0, zb0, za1, zb1, zma, zmb, h, values, turns, ck, jacobians, matrix
):  # fmt: skip
    """The derivative of a linear or axis spring."""
    va, vb = na.nv, nb.nv
    point_a, point_b, axis_a = jacobians[0], jacobians[2], jacobians[4]
    end_point_a, end_point_b, end_axis_a = jacobians[1], jacobians[3], jacobians[5]
    rows, columns = jacobians[6], jacobians[7]
    clear_rows(rows)
    clear_rows(columns)
    f, slope = tension_over_step(e, za0, zb0, za1, zb1, h, values, turns)
    d1, d2, d3 = displacement(e, zma, zmb)
    x1, x2, x3 = displacement(e, za1, zb1)
    r1, r2, r3 = d1, d2, d3
    c1, c2, c3 = x1, x2, x3
    if e.kind == AXIS_SPRING:
        r1, r2, r3 = axis(zma, e.aa1, e.aa2, e.aa3)
        c1, c2, c3 = axis(za1, e.aa1, e.aa2, e.aa3)
    else:
        length = norm(x1, x2, x3)
        scale = 1.0 / length if length > 0.0 else 0.0
        c1, c2, c3 = scale * c1, scale * c2, scale * c3
    half = 0.5 * ck * f
    if va > 0:
        point_jacobian(na, qr, zra, zra, e.pa1, e.pa2, e.pa3, point_a)
        point_jacobian(na, q1, za1, za1, e.pa1, e.pa2, e.pa3, end_point_a)
        add_row(-1.0, r1, r2, r3, point_a, va, rows[0])
        add_row(-1.0, c1, c2, c3, end_point_a, va, columns[0])
    if vb > 0:
        point_jacobian(nb, qr, zrb, zrb, e.pb1, e.pb2, e.pb3, point_b)
        point_jacobian(nb, q1, zb1, zb1, e.pb1, e.pb2, e.pb3, end_point_b)
        add_row(1.0, r1, r2, r3, point_b, vb, rows[1])
        add_row(1.0, c1, c2, c3, end_point_b, vb, columns[1])
    if e.kind == SPRING:
        distance_stiffness(half, point_a, point_b, end_point_a, end_point_b, na, nb, e, matrix)
    elif va > 0:
        axis_jacobian(na, qr, zra, zra, e.aa1, e.aa2, e.aa3, axis_a)
        axis_jacobian(na, q1, za1, za1, e.aa1, e.aa2, e.aa3, end_axis_a)
        add_row(1.0, d1, d2, d3, axis_a, va, rows[0])
        add_row(1.0, x1, x2, x3, end_axis_a, va, columns[0])
        projection_stiffness(half, axis_a, point_a, point_b, end_axis_a, end_point_a, end_point_b, na, nb, e, matrix)
    outer_pair(ck * slope, rows[0], rows[1], columns[0], columns[1], na, nb, e, matrix)
