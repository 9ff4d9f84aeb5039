"""The update of absolute coordinates (UAC) [Holzinger, Arnold & Gerstmayr 2024, Algorithm 1].

The only place where coordinates are advanced. Conventional nodes add, Lie nodes compose with the exponential of the
increment; integrators never know which.
"""

from __future__ import annotations

import math

from ..compiled.kernel import kernel
from ..math.quaternions import axes_to_quaternion, multiply_quaternions, quaternion_axes
from ..math.so3 import exp_quaternion, log_quaternion, tangent_operator
from .forms import FORM_LIE, FORM_SPIN
from .frames import node_frame
from .kinds import DIRECTORS, EULER_ANGLES, QUATERNION, ROTATION_VECTOR
from .spin import axes_to_euler, rotation_vector_derivative, spin_determinant, spin_matrix

CHART_LIMIT = 1e-3  # |det G| below which Euler angles are called singular (0.06 degrees from gimbal lock)
NEAR_CHART_LIMIT = 0.2  # |det G| below which swinging angles are taken for gimbal lock (12 degrees)
NEAR_SWING = 0.3  # rad per step
STORED_CAYLEY = 3  # of ``update_coordinates``: rotations are stored, and the increments of Lie nodes are Cayley vectors


@kernel
def _base_quaternion(q1, q2, q3, base):
    """exp of a rotation vector, remembered: stages and iterations of a step all start from the same one."""
    if not (base[0] == q1 and base[1] == q2 and base[2] == q3):
        base[0], base[1], base[2] = q1, q2, q3
        base[3], base[4], base[5], base[6] = exp_quaternion(q1, q2, q3)
    return base[3], base[4], base[5], base[6]


@kernel
def compose(n, q, t1, t2, t3, out, z, base, stored):
    """Rotation coordinates of R(q) exp(theta) in whatever the node stores, and the axes of its frame z."""
    k = n.q0 + n.nx
    if stored == STORED_CAYLEY:
        f0 = 1.0 / math.sqrt(1.0 + 0.25 * (t1 * t1 + t2 * t2 + t3 * t3))
        f1, f2, f3 = 0.5 * f0 * t1, 0.5 * f0 * t2, 0.5 * f0 * t3
    else:
        f0, f1, f2, f3 = exp_quaternion(t1, t2, t3)
    kind = n.kind
    if kind == ROTATION_VECTOR:
        e0, e1, e2, e3 = _base_quaternion(q[k], q[k + 1], q[k + 2], base)
    elif kind == QUATERNION:
        e0, e1, e2, e3 = q[k], q[k + 1], q[k + 2], q[k + 3]
    else:
        node_frame(n, q, z)
        e0, e1, e2, e3 = axes_to_quaternion(z)
    e0, e1, e2, e3 = multiply_quaternions(e0, e1, e2, e3, f0, f1, f2, f3)
    f = 1.5 - 0.5 * (e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)  # keeps |e| = 1 against round-off
    e0, e1, e2, e3 = f * e0, f * e1, f * e2, f * e3
    quaternion_axes(e0, e1, e2, e3, z)
    if stored == 0:
        return
    if kind == ROTATION_VECTOR:
        out[k], out[k + 1], out[k + 2] = log_quaternion(e0, e1, e2, e3)
    elif kind == QUATERNION:
        out[k], out[k + 1], out[k + 2], out[k + 3] = e0, e1, e2, e3
    elif kind == DIRECTORS:
        for m in range(9):
            out[k + m] = z[3 + m]
    else:  # Euler angles only store R here, so gimbal lock is no singularity of the composition
        out[k], out[k + 1], out[k + 2] = axes_to_euler(n.axis1, n.axis2, n.axis3, z)


@kernel
def update_coordinates(nodes, q, dq, out, z, spin, base, stored):
    """out = q o exp(dq) for Lie nodes, q + dq for conventional ones (out may be q itself), and the frames there.

    The frames come with the update because they are always needed next, and a composed rotation is known as a
    quaternion already. ``stored`` = 0: the rotations of Lie nodes are not written to out, only their frames; enough
    for evaluations between two steps, since forces and constraints see the frames of Lie nodes only. STORED_CAYLEY: the
    rotations of dq are Cayley vectors, R(q) cay(dq), and stored.
    """
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        if n.form == FORM_LIE:
            j, k = n.q0, n.v0
            y = z[i]
            if n.nx == 3:
                x1, x2, x3 = q[j] + dq[k], q[j + 1] + dq[k + 1], q[j + 2] + dq[k + 2]
                out[j], out[j + 1], out[j + 2] = x1, x2, x3
                k += 3
                compose(n, q, dq[k], dq[k + 1], dq[k + 2], out, y, base[i], stored)
                y[0], y[1], y[2] = x1, x2, x3
            else:
                compose(n, q, dq[k], dq[k + 1], dq[k + 2], out, y, base[i], stored)
        else:
            for m in range(n.nv):
                out[n.q0 + m] = q[n.q0 + m] + dq[n.v0 + m]
            node_frame(n, out, z[i])
            if n.form == FORM_SPIN:
                spin_matrix(n, out, spin[i])


@kernel
def solve_spin(g, x1, x2, x3, out):
    """out = G^-1 x (Cramer's rule)."""
    d = 1.0 / spin_determinant(g)
    out[0] = d * (x1 * (g[4] * g[8] - g[5] * g[7]) - g[1] * (x2 * g[8] - g[5] * x3) + g[2] * (x2 * g[7] - g[4] * x3))
    out[1] = d * (g[0] * (x2 * g[8] - g[5] * x3) - x1 * (g[3] * g[8] - g[5] * g[6]) + g[2] * (g[3] * x3 - x2 * g[6]))
    out[2] = d * (g[0] * (g[4] * x3 - x2 * g[7]) - g[1] * (g[3] * x3 - x2 * g[6]) + x1 * (g[3] * g[7] - g[4] * g[6]))


@kernel
def other_chart(psi, rate, second, g, scratch):
    """Carry a conventional rotation vector with its first two derivatives to psi (1 - 2 pi / |psi|), in place.

    The rotation, the angular velocity and the angular acceleration stay. g is scratch of nine.
    """
    bias = scratch[1]
    tangent_operator(psi[0], psi[1], psi[2], g)
    rotation_vector_derivative(psi[0], psi[1], psi[2], rate, rate, scratch[2], bias)
    x1, x2, x3 = rate[0], rate[1], rate[2]
    w1, w2, w3 = (
        g[0] * x1 + g[1] * x2 + g[2] * x3,
        g[3] * x1 + g[4] * x2 + g[5] * x3,
        g[6] * x1 + g[7] * x2 + g[8] * x3,
    )
    x1, x2, x3 = second[0], second[1], second[2]
    a1, a2, a3 = (
        g[0] * x1 + g[1] * x2 + g[2] * x3 + bias[0],
        g[3] * x1 + g[4] * x2 + g[5] * x3 + bias[1],
        g[6] * x1 + g[7] * x2 + g[8] * x3 + bias[2],
    )
    f = 1.0 - 2.0 * math.pi / math.sqrt(psi[0] * psi[0] + psi[1] * psi[1] + psi[2] * psi[2])
    for c in range(3):
        psi[c] *= f
    tangent_operator(psi[0], psi[1], psi[2], g)
    solve_spin(g, w1, w2, w3, rate)
    rotation_vector_derivative(psi[0], psi[1], psi[2], rate, rate, scratch[2], bias)
    solve_spin(g, a1 - bias[0], a2 - bias[1], a3 - bias[2], second)


@kernel
def change_charts(nodes, q, v, vd, a, shift, spin, scratch):
    """Bring conventional rotation vectors back to |psi| <= pi after an accepted step.

    ``a`` is an acceleration that belongs to the time t + shift (generalized-alpha's algorithmic one) and is carried
    over there, so that the change of chart does not lower the order. Returns the number of nodes that changed chart.
    """
    changed = 0
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        if n.kind != ROTATION_VECTOR or n.form != FORM_SPIN:
            continue
        k = n.q0 + n.nx
        m = n.v0 + n.nx
        if q[k] * q[k] + q[k + 1] * q[k + 1] + q[k + 2] * q[k + 2] <= math.pi * math.pi:
            continue
        rate, second, keep = scratch[3], scratch[4], scratch[5]
        for c in range(3):  # the shifted state first, then the state itself, both from the old chart
            keep[c] = q[k + c]
            q[k + c] += shift * (v[m + c] + 0.5 * shift * vd[m + c])
            rate[c] = v[m + c] + shift * vd[m + c]
            second[c] = a[m + c]
        other_chart(q[k:], rate, second, spin[i], scratch)
        for c in range(3):
            a[m + c] = second[c]
            q[k + c] = keep[c]
            rate[c] = v[m + c]
            second[c] = vd[m + c]
        other_chart(q[k:], rate, second, spin[i], scratch)
        for c in range(3):
            v[m + c] = rate[c]
            vd[m + c] = second[c]
        changed += 1
    return changed


@kernel
def singular_chart(nodes, q_old, q, signs, spin):
    """Index of a conventional Euler node that came too near to gimbal lock in a step (0: none).

    Too near means: at the singularity, across it (the sign of det G is remembered in ``signs``, 0: not yet seen), or
    so close that the angles swing by far more than the body turns, which no step size resolves safely.
    """
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        if n.kind == EULER_ANGLES and n.form == FORM_SPIN:
            spin_matrix(n, q, spin[i])
            d = spin_determinant(spin[i])
            k = n.q0 + n.nx
            swing = max(abs(q[k] - q_old[k]), abs(q[k + 2] - q_old[k + 2]))
            near = abs(d) < NEAR_CHART_LIMIT and swing > NEAR_SWING
            if not (abs(d) > CHART_LIMIT) or d * signs[i] < 0.0 or near:
                return i
            signs[i] = 1.0 if d > 0.0 else -1.0
    return 0
