"""Torques over a step, where averaged axes are no rotation and a torque still has exactly its angular impulse."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...math.quaternions import e_transposed
from ..forms import FORM_DIRECTORS, FORM_LIE
from ..markers import axes_volume, axis_jacobian, cross_axes, dual_axes


@kernel
def quaternion_torque(e0, e1, e2, e3, torque):
    """2 E(e)^T tau / |e|^2 on an averaged quaternion [Kinon & Betsch 2024, (128) with the divisor missing in print]."""
    d = 2.0 / (e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
    return e_transposed(e0, e1, e2, e3, d * torque[0], d * torque[1], d * torque[2])


@kernel
def dual_torque(zm, torque, f):
    """f_i += torque x d^i / 2 with the dual axes d^i: then sum_i d_i x f_i = torque, although zm is no rotation."""
    t1, t2, t3 = torque[0], torque[1], torque[2]
    if t1 == 0.0 and t2 == 0.0 and t3 == 0.0:
        return
    d = 0.5 / axes_volume(zm)
    for i in range(3):
        a = 3 + 3 * ((i + 1) % 3)
        b = 3 + 3 * ((i + 2) % 3)
        y1, y2, y3 = cross_axes(zm, a, zm, b)
        f[3 + 3 * i] += d * (t2 * y3 - t3 * y2)
        f[4 + 3 * i] += d * (t3 * y1 - t1 * y3)
        f[5 + 3 * i] += d * (t1 * y2 - t2 * y1)


@kernel
def dual_tangent(n, zm, torque, ck, matrix, scratch):
    """Derivative of torque x d^i / 2: the dual axes change by -d^j (d^i . delta d_j)."""
    t1, t2, t3 = torque[0], torque[1], torque[2]
    if t1 == 0.0 and t2 == 0.0 and t3 == 0.0:
        return
    d = scratch[0]
    dual_axes(zm, d)
    o = n.block + n.nx * n.ld + n.nx
    for j in range(3):
        y1, y2, y3 = d[3 + 3 * j], d[4 + 3 * j], d[5 + 3 * j]
        y1, y2, y3 = t2 * y3 - t3 * y2, t3 * y1 - t1 * y3, t1 * y2 - t2 * y1
        for i in range(3):
            for m in range(3):
                c = -0.25 * ck * d[3 + 3 * i + m]
                matrix[o + (3 * i) * n.ld + 3 * j + m] += c * y1
                matrix[o + (3 * i + 1) * n.ld + 3 * j + m] += c * y2
                matrix[o + (3 * i + 2) * n.ld + 3 * j + m] += c * y3


@kernel
def body_torque_tangent(n, t1, t2, t3, q1, z1, zm, ck, jacobians, matrix):
    """An applied torque that turns with the body: its value Rm tau changes with half of the end frame."""
    turned = jacobians[0]
    axis_jacobian(n, q1, z1, z1, t1, t2, t3, turned)
    o = n.block + n.nx * n.ld
    half = 0.5 * ck
    if n.form == FORM_LIE:
        for i in range(3):
            for j in range(n.nv):
                value = zm[3 + 3 * i] * turned[0, j] + zm[4 + 3 * i] * turned[1, j] + zm[5 + 3 * i] * turned[2, j]
                matrix[o + i * n.ld + j] -= half * value
    elif n.form == FORM_DIRECTORS:
        d = jacobians[1][0]
        dual_axes(zm, d)
        for i in range(3):
            d1, d2, d3 = d[3 + 3 * i], d[4 + 3 * i], d[5 + 3 * i]
            for j in range(n.nv):
                y1, y2, y3 = 0.5 * half * turned[0, j], 0.5 * half * turned[1, j], 0.5 * half * turned[2, j]
                matrix[o + (3 * i) * n.ld + j] -= y2 * d3 - y3 * d2
                matrix[o + (3 * i + 1) * n.ld + j] -= y3 * d1 - y1 * d3
                matrix[o + (3 * i + 2) * n.ld + j] -= y1 * d2 - y2 * d1
