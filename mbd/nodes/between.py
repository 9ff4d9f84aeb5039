"""From one state of a node to a later one: the increment that leads there, and its first two rates at the end.

With q1 = q0 o exp(d), interpolation between the two states is interpolation of d from zero, where its rates are v and
v_dot of the first state. On Lie nodes the rotation has psi_dot = T^-1(psi) omega and, from omega = T psi_dot,
psi_ddot = T^-1(psi) (omega_dot - DT(psi)[psi_dot] psi_dot).
"""

from __future__ import annotations

import math

from ..compiled.kernel import kernel
from ..math.quaternions import multiply_quaternions
from ..math.so3 import log_quaternion, tangent_inverse
from .forms import FORM_LIE, FORM_SPIN
from .kinds import ROTATION_VECTOR
from .pose import node_quaternion
from .spin import rotation_vector_derivative
from .update import other_chart


@kernel
def _rotation_between(n, q0, q1, v1, vd1, d, rate, second, scratch):
    """The rotation vector of a Lie node between two states, and its rates at the second one."""
    k = n.v0 + n.nx
    a0, a1, a2, a3 = node_quaternion(n, q0, scratch[0])
    b0, b1, b2, b3 = node_quaternion(n, q1, scratch[0])
    e0, e1, e2, e3 = multiply_quaternions(a0, -a1, -a2, -a3, b0, b1, b2, b3)
    x1, x2, x3 = log_quaternion(e0, e1, e2, e3)
    d[k], d[k + 1], d[k + 2] = x1, x2, x3
    t, u, bias = scratch[0], scratch[1], scratch[2]
    tangent_inverse(x1, x2, x3, t)
    for m in range(3):
        u[m] = t[3 * m] * v1[k] + t[3 * m + 1] * v1[k + 1] + t[3 * m + 2] * v1[k + 2]
        rate[k + m] = u[m]
    rotation_vector_derivative(x1, x2, x3, u, u, scratch[3], bias)
    y1, y2, y3 = vd1[k] - bias[0], vd1[k + 1] - bias[1], vd1[k + 2] - bias[2]
    for m in range(3):
        second[k + m] = t[3 * m] * y1 + t[3 * m + 1] * y2 + t[3 * m + 2] * y3


@kernel
def _same_chart(n, q0, q1, d, rate, second, g, scratch):
    """Where a conventional rotation vector has changed to the equivalent one on the way, carry the end back."""
    k, m = n.q0 + n.nx, n.v0 + n.nx
    jump = 0.0
    for c in range(3):
        jump += d[m + c] * d[m + c]
    if jump <= math.pi * math.pi:
        return
    psi, u, a = scratch[5], scratch[6], scratch[7]
    for c in range(3):
        psi[c], u[c], a[c] = q1[k + c], rate[m + c], second[m + c]
    other_chart(psi, u, a, g, scratch)
    for c in range(3):
        d[m + c], rate[m + c], second[m + c] = psi[c] - q0[k + c], u[c], a[c]


@kernel
def node_between(n, q0, q1, v1, vd1, d, rate, second, g, scratch):
    """Increment d of a node from q0 to q1, and its first two rates at q1."""
    plain = n.nx if n.form == FORM_LIE else n.nv
    for m in range(plain):
        k = n.v0 + m
        d[k], rate[k], second[k] = q1[n.q0 + m] - q0[n.q0 + m], v1[k], vd1[k]
    if n.form == FORM_LIE:
        _rotation_between(n, q0, q1, v1, vd1, d, rate, second, scratch)
    elif n.form == FORM_SPIN and n.kind == ROTATION_VECTOR:
        _same_chart(n, q0, q1, d, rate, second, g, scratch)
