"""Conventional quaternion nodes in the Livens energy-momentum scheme, reduced to the unknowns (q1, lambda).

The kinetic energy is a quadratic form of invariants that are bilinear in (q, v): the angular velocity 2 G(e) e_dot and
the velocity of the centre of mass. Its partitioned discrete derivatives [Kinon & Betsch 2024, (86), (88)] need no
quotient. With v1 = 2 dq/h - v0, the mean angular velocity W = G(e0) v0 + G(e1) v1, the mean velocity u of the centre
of mass and its Jacobian C(e), the balances of momentum and the fibre derivative combine to

    (2/h) (m u - p_r) + F_r = 0
    (2/h) (2 G(e1)^T J W + C(e0)^T m u - p_e) + Z(em)^T F + lambda em = 0
    p_e1 = 2 (2 G(em)^T J W + C(em)^T m u) - p_e0

with em = (e0 + e1)/2. A torque acts as in ``torques.quaternion_torque``.
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...math.quaternions import (
    e_transposed,
    g_times,
    g_transposed,
    lever_times,
    lever_transposed,
    quaternion_pull,
)
from ..inertia import frame_stiffness
from ..internal import internal_blocks
from ..mass import central_inertia
from .torques import quaternion_torque


@kernel
def _mean_spin(n, q0, q1, v, dq, h):
    """J W of the step."""
    j, k = n.q0 + n.nx, n.v0 + n.nx
    c = 2.0 / h
    y0, y1, y2, y3 = c * dq[k] - v[k], c * dq[k + 1] - v[k + 1], c * dq[k + 2] - v[k + 2], c * dq[k + 3] - v[k + 3]
    a1, a2, a3 = g_times(q0[j], q0[j + 1], q0[j + 2], q0[j + 3], v[k], v[k + 1], v[k + 2], v[k + 3])
    b1, b2, b3 = g_times(q1[j], q1[j + 1], q1[j + 2], q1[j + 3], y0, y1, y2, y3)
    return central_inertia(n, a1 + b1, a2 + b2, a3 + b3)


@kernel
def _mean_velocity(n, q0, q1, v, dq, h):
    """m times the mean velocity of the centre of mass."""
    k, j = n.v0, n.q0 + 3
    c = 2.0 / h
    m = 0.5 * c * n.mass
    u1, u2, u3 = m * dq[k], m * dq[k + 1], m * dq[k + 2]
    if n.s1 != 0.0 or n.s2 != 0.0 or n.s3 != 0.0:
        i = k + 3
        v0, v1, v2, v3 = v[i], v[i + 1], v[i + 2], v[i + 3]
        y0, y1, y2, y3 = c * dq[i] - v0, c * dq[i + 1] - v1, c * dq[i + 2] - v2, c * dq[i + 3] - v3
        a1, a2, a3 = lever_times(n.s1, n.s2, n.s3, q0[j], q0[j + 1], q0[j + 2], q0[j + 3], v0, v1, v2, v3)
        b1, b2, b3 = lever_times(n.s1, n.s2, n.s3, q1[j], q1[j + 1], q1[j + 2], q1[j + 3], y0, y1, y2, y3)
        u1, u2, u3 = u1 + 0.5 * (a1 + b1), u2 + 0.5 * (a2 + b2), u3 + 0.5 * (a3 + b3)
    return u1, u2, u3


@kernel
def _add_centre_force(n, q, f1, f2, f3, c, x, i):
    """x[i:] += c C(q)^T f on the rotational rows."""
    d, j = c / n.mass, n.q0 + 3
    y0, y1, y2, y3 = lever_transposed(
        n.s1, n.s2, n.s3, q[j], q[j + 1], q[j + 2], q[j + 3], d * f1, d * f2, d * f3
    )  # fmt: skip
    x[i + 3] += y0
    x[i + 4] += y1
    x[i + 5] += y2
    x[i + 6] += y3


@kernel
def start_momentum(n, q, v, p):
    """p = 4 G(e)^T J G(e) e_dot + C(e)^T m u and, of the translation, m u."""
    j, k = n.q0 + n.nx, n.v0 + n.nx
    e0, e1, e2, e3 = q[j], q[j + 1], q[j + 2], q[j + 3]
    w1, w2, w3 = g_times(e0, e1, e2, e3, v[k], v[k + 1], v[k + 2], v[k + 3])
    w1, w2, w3 = central_inertia(n, 4.0 * w1, 4.0 * w2, 4.0 * w3)
    p[k], p[k + 1], p[k + 2], p[k + 3] = g_transposed(e0, e1, e2, e3, w1, w2, w3)
    if n.nx == 3:
        i, d = n.v0, 1.0 / n.mass
        u1, u2, u3 = lever_times(n.s1, n.s2, n.s3, e0, e1, e2, e3, v[k], v[k + 1], v[k + 2], v[k + 3])
        u1, u2, u3 = u1 + n.mass * v[i], u2 + n.mass * v[i + 1], u3 + n.mass * v[i + 2]
        p[i], p[i + 1], p[i + 2] = u1, u2, u3
        c0, c1, c2, c3 = lever_transposed(n.s1, n.s2, n.s3, e0, e1, e2, e3, d * u1, d * u2, d * u3)
        p[k], p[k + 1], p[k + 2], p[k + 3] = p[k] + c0, p[k + 1] + c1, p[k + 2] + c2, p[k + 3] + c3


@kernel
def livens_equation(n, q0, q1, qm, v, p, dq, f, torque, lam, h, x):
    """x[x0:] = momentum balance of a quaternion node; f are its frame forces at the averaged frame."""
    i, k, j = n.x0, n.v0, n.q0 + n.nx
    c = 2.0 / h
    e0, e1, e2, e3 = qm[j], qm[j + 1], qm[j + 2], qm[j + 3]
    quaternion_pull(e0, e1, e2, e3, f, x, i + n.nx)
    if n.nx == 3:
        u1, u2, u3 = _mean_velocity(n, q0, q1, v, dq, h)
        x[i] = f[0] + c * (u1 - p[k])
        x[i + 1] = f[1] + c * (u2 - p[k + 1])
        x[i + 2] = f[2] + c * (u3 - p[k + 2])
        if n.s1 != 0.0 or n.s2 != 0.0 or n.s3 != 0.0:
            _add_centre_force(n, q0, u1, u2, u3, c, x, i)
    w1, w2, w3 = _mean_spin(n, q0, q1, v, dq, h)
    s0, s1, s2, s3 = g_transposed(q1[j], q1[j + 1], q1[j + 2], q1[j + 3], 2.0 * w1, 2.0 * w2, 2.0 * w3)
    i, k = i + n.nx, k + n.nx
    t0, t1, t2, t3 = quaternion_torque(e0, e1, e2, e3, torque)
    r = lam[n.l0]
    x[i] += c * (s0 - p[k]) + t0 + r * e0
    x[i + 1] += c * (s1 - p[k + 1]) + t1 + r * e1
    x[i + 2] += c * (s2 - p[k + 2]) + t2 + r * e2
    x[i + 3] += c * (s3 - p[k + 3]) + t3 + r * e3


@kernel
def livens_momentum(n, q0, q1, qm, v, dq, h, p):
    """Momenta at the end of the step, in place."""
    k, j = n.v0, n.q0 + n.nx
    for m in range(n.nv):
        p[k + m] = -p[k + m]
    if n.nx == 3:
        u1, u2, u3 = _mean_velocity(n, q0, q1, v, dq, h)
        p[k] += 2.0 * u1
        p[k + 1] += 2.0 * u2
        p[k + 2] += 2.0 * u3
        if n.s1 != 0.0 or n.s2 != 0.0 or n.s3 != 0.0:
            _add_centre_force(n, qm, u1, u2, u3, 2.0, p, k)
    w1, w2, w3 = _mean_spin(n, q0, q1, v, dq, h)
    s0, s1, s2, s3 = g_transposed(qm[j], qm[j + 1], qm[j + 2], qm[j + 3], 4.0 * w1, 4.0 * w2, 4.0 * w3)
    k += n.nx
    p[k] += s0
    p[k + 1] += s1
    p[k + 2] += s2
    p[k + 3] += s3


@kernel
def livens_matrix(n, q0, q1, qm, v, dq, z, f, torque, lam, h, matrix):
    """Diagonal block of a quaternion node, scaled by h^2/2."""
    ck = 0.5 * h * h
    k, j, ld = n.v0, n.q0 + n.nx, n.ld
    frame_stiffness(n, z, f, 0.5 * ck, matrix)
    if n.nx == 3:
        for m in range(3):
            matrix[n.block + m * ld + m] += n.mass
        if n.s1 != 0.0 or n.s2 != 0.0 or n.s3 != 0.0:
            _centre_matrix(n, q0, q1, v, dq, h, matrix)
    o = n.block + n.nx * ld + n.nx
    i = k + n.nx
    a0, a1, a2, a3 = 2.0 * q0[j], 2.0 * q0[j + 1], 2.0 * q0[j + 2], 2.0 * q0[j + 3]
    a0, a1, a2, a3 = a0 + h * v[i], a1 + h * v[i + 1], a2 + h * v[i + 2], a3 + h * v[i + 3]
    w1, w2, w3 = _mean_spin(n, q0, q1, v, dq, h)
    m0, m1, m2, m3 = qm[j], qm[j + 1], qm[j + 2], qm[j + 3]
    d = 1.0 / (m0 * m0 + m1 * m1 + m2 * m2 + m3 * m3)
    t1, t2, t3 = ck * d * torque[0], ck * d * torque[1], ck * d * torque[2]
    r0, r1, r2, r3 = e_transposed(m0, m1, m2, m3, t1, t2, t3)
    for b in range(4):
        e0, e1 = 1.0 if b == 0 else 0.0, 1.0 if b == 1 else 0.0
        e2, e3 = 1.0 if b == 2 else 0.0, 1.0 if b == 3 else 0.0
        y1, y2, y3 = g_times(a0, a1, a2, a3, e0, e1, e2, e3)
        y1, y2, y3 = central_inertia(n, 2.0 * y1, 2.0 * y2, 2.0 * y3)
        s0, s1, s2, s3 = g_transposed(q1[j], q1[j + 1], q1[j + 2], q1[j + 3], y1, y2, y3)
        u0, u1, u2, u3 = g_transposed(e0, e1, e2, e3, 2.0 * h * w1, 2.0 * h * w2, 2.0 * h * w3)
        x0, x1, x2, x3 = e_transposed(e0, e1, e2, e3, t1, t2, t3)
        c = -2.0 * d * (m0 if b == 0 else (m1 if b == 1 else (m2 if b == 2 else m3)))
        matrix[o + b] += s0 + u0 + x0 + c * r0
        matrix[o + ld + b] += s1 + u1 + x1 + c * r1
        matrix[o + 2 * ld + b] += s2 + u2 + x2 + c * r2
        matrix[o + 3 * ld + b] += s3 + u3 + x3 + c * r3
    internal_blocks(n, q1, qm, lam, 0.5 * ck, matrix)


@kernel
def _centre_matrix(n, q0, q1, v, dq, h, matrix):
    """Terms of a centre of mass off the reference point: rows (1, C(e0)), columns (1, C(e1 + h v1/2))."""
    j, k, ld = n.q0 + 3, n.v0 + 3, n.ld
    a0, a1, a2, a3 = q0[j], q0[j + 1], q0[j + 2], q0[j + 3]
    half, d = 0.5 * h, 1.0 / n.mass
    y0, y1 = q1[j] + dq[k] - half * v[k], q1[j + 1] + dq[k + 1] - half * v[k + 1]  # e1 + h v1/2
    y2, y3 = q1[j + 2] + dq[k + 2] - half * v[k + 2], q1[j + 3] + dq[k + 3] - half * v[k + 3]
    for b in range(7):
        if b < 3:
            u1, u2, u3 = n.mass if b == 0 else 0.0, n.mass if b == 1 else 0.0, n.mass if b == 2 else 0.0
        else:
            e0, e1 = 1.0 if b == 3 else 0.0, 1.0 if b == 4 else 0.0
            e2, e3 = 1.0 if b == 5 else 0.0, 1.0 if b == 6 else 0.0
            u1, u2, u3 = lever_times(n.s1, n.s2, n.s3, y0, y1, y2, y3, e0, e1, e2, e3)
            matrix[n.block + b] += u1
            matrix[n.block + ld + b] += u2
            matrix[n.block + 2 * ld + b] += u3
        c0, c1, c2, c3 = lever_transposed(n.s1, n.s2, n.s3, a0, a1, a2, a3, d * u1, d * u2, d * u3)
        o = n.block + 3 * ld + b
        matrix[o] += c0
        matrix[o + ld] += c1
        matrix[o + 2 * ld] += c2
        matrix[o + 3 * ld] += c3
