"""Quaternion bodies in the null-space form of the Livens energy-momentum scheme (Null-EML).

The equations are those of ``quaternion_livens``; (1/2) G(em), which annihilates the constraint force lambda em,
multiplies the rotational balance, and the unknown is the rotation of the step [Kinon & Betsch 2024, Remark 4.11]. A
body is therefore a Lie node here, without an internal constraint: (1/2) G(em) Z(em)^T F is the torque of the frame
forces at the frame R(em) of the averaged quaternion, and an end rotation theta means de1 = G(e1)^T theta / 2. The
quaternion's rates e_dot and its momenta, which have four components, are kept besides; lambda follows from the balance
along em.
"""

from __future__ import annotations

import math

from ...compiled.kernel import kernel
from ...math.quaternions import bilinear_axes, g_times, g_transposed, lever_times, lever_transposed
from ..inertia import frame_torque
from ..markers import body_components
from ..mass import central_inertia


@kernel
def _increment(n, q0, dq):
    """e1 - e0 = e0 o (f - 1) for f = (1, x/2)/|(1, x/2)| with the Cayley vector x, without cancellation."""
    j, k = n.q0 + n.nx, n.v0 + n.nx
    x1, x2, x3 = 0.5 * dq[k], 0.5 * dq[k + 1], 0.5 * dq[k + 2]
    square = x1 * x1 + x2 * x2 + x3 * x3
    d = math.sqrt(1.0 + square)
    c = -square / (d * (1.0 + d))
    y0, y1, y2, y3 = g_transposed(q0[j], q0[j + 1], q0[j + 2], q0[j + 3], x1 / d, x2 / d, x3 / d)
    return c * q0[j] + y0, c * q0[j + 1] + y1, c * q0[j + 2] + y2, c * q0[j + 3] + y3


@kernel
def _means(n, q0, q1, rate, dq, h):
    """(W, m u): mean angular velocity and m times the mean velocity of the centre of mass."""
    k, j = n.v0, n.q0 + n.nx
    c = 2.0 / h
    v0, v1, v2, v3 = rate[j], rate[j + 1], rate[j + 2], rate[j + 3]
    e0, e1, e2, e3 = q1[j], q1[j + 1], q1[j + 2], q1[j + 3]
    a0, a1, a2, a3 = q0[j], q0[j + 1], q0[j + 2], q0[j + 3]
    y0, y1, y2, y3 = _increment(n, q0, dq)
    y0, y1, y2, y3 = c * y0 - v0, c * y1 - v1, c * y2 - v2, c * y3 - v3
    w1, w2, w3 = g_times(a0, a1, a2, a3, v0, v1, v2, v3)
    b1, b2, b3 = g_times(e0, e1, e2, e3, y0, y1, y2, y3)
    w1, w2, w3 = w1 + b1, w2 + b2, w3 + b3
    u1, u2, u3 = 0.0, 0.0, 0.0
    if n.nx == 3:
        m = 0.5 * c * n.mass
        u1, u2, u3 = m * dq[k], m * dq[k + 1], m * dq[k + 2]
        if n.s1 != 0.0 or n.s2 != 0.0 or n.s3 != 0.0:
            b1, b2, b3 = lever_times(n.s1, n.s2, n.s3, a0, a1, a2, a3, v0, v1, v2, v3)
            u1, u2, u3 = u1 + 0.5 * b1, u2 + 0.5 * b2, u3 + 0.5 * b3
            b1, b2, b3 = lever_times(n.s1, n.s2, n.s3, e0, e1, e2, e3, y0, y1, y2, y3)
            u1, u2, u3 = u1 + 0.5 * b1, u2 + 0.5 * b2, u3 + 0.5 * b3
    return w1, w2, w3, u1, u2, u3


@kernel
def _inertia_force(n, q0, q1, w1, w2, w3, u1, u2, u3, p, h):
    """(2/h) (2 G(e1)^T J W + C(e0)^T m u - p_e): what is left of the inertia in the balance of a quaternion."""
    j = n.q0 + n.nx
    c = 2.0 / h
    w1, w2, w3 = central_inertia(n, 2.0 * w1, 2.0 * w2, 2.0 * w3)
    y0, y1, y2, y3 = g_transposed(q1[j], q1[j + 1], q1[j + 2], q1[j + 3], w1, w2, w3)
    if n.nx == 3 and (n.s1 != 0.0 or n.s2 != 0.0 or n.s3 != 0.0):
        d = 1.0 / n.mass
        a0, a1, a2, a3 = lever_transposed(
            n.s1, n.s2, n.s3, q0[j], q0[j + 1], q0[j + 2], q0[j + 3], d * u1, d * u2, d * u3
        )
        y0, y1, y2, y3 = y0 + a0, y1 + a1, y2 + a2, y3 + a3
    return c * (y0 - p[j]), c * (y1 - p[j + 1]), c * (y2 - p[j + 2]), c * (y3 - p[j + 3])


@kernel
def null_frame(n, qm, z, zr):
    """zr = frame of the averaged quaternion, which is no rotation."""
    j = n.q0 + n.nx
    e0, e1, e2, e3 = qm[j], qm[j + 1], qm[j + 2], qm[j + 3]
    for m in range(3):
        zr[m] = z[m]
    bilinear_axes(0.5 * e0, 0.5 * e1, 0.5 * e2, 0.5 * e3, e0, e1, e2, e3, zr)


@kernel
def null_equation(n, q0, q1, qm, rate, p, dq, z, zr, f, torque, h, x):
    """x[x0:] = projected momentum balance."""
    i, k, j = n.x0, n.q0, n.q0 + n.nx
    null_frame(n, qm, z, zr)
    w1, w2, w3, u1, u2, u3 = _means(n, q0, q1, rate, dq, h)
    y0, y1, y2, y3 = _inertia_force(n, q0, q1, w1, w2, w3, u1, u2, u3, p, h)
    if n.nx == 3:
        c = 2.0 / h
        x[i] = f[0] + c * (u1 - p[k])
        x[i + 1] = f[1] + c * (u2 - p[k + 1])
        x[i + 2] = f[2] + c * (u3 - p[k + 2])
        i += 3
    e0, e1, e2, e3 = qm[j], qm[j + 1], qm[j + 2], qm[j + 3]
    b1, b2, b3 = g_times(e0, e1, e2, e3, y0, y1, y2, y3)
    t1, t2, t3 = frame_torque(zr, f)
    d = 1.0 / (e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
    r1, r2, r3 = d * torque[0], d * torque[1], d * torque[2]
    x[i] = 0.5 * b1 + t1 + zr[3] * r1 + zr[4] * r2 + zr[5] * r3
    x[i + 1] = 0.5 * b2 + t2 + zr[6] * r1 + zr[7] * r2 + zr[8] * r3
    x[i + 2] = 0.5 * b3 + t3 + zr[9] * r1 + zr[10] * r2 + zr[11] * r3


@kernel
def null_matrix(n, q0, q1, qm, rate, p, dq, zr, f, torque, h, y, matrix):
    """Diagonal block, scaled by h^2/2; y is scratch for a frame."""
    ck = 0.5 * h * h
    j, ld = n.q0 + n.nx, n.ld
    o = n.block + n.nx * ld + n.nx
    offset = n.nx == 3 and (n.s1 != 0.0 or n.s2 != 0.0 or n.s3 != 0.0)
    w1, w2, w3, u1, u2, u3 = _means(n, q0, q1, rate, dq, h)
    i0, i1, i2, i3 = _inertia_force(n, q0, q1, w1, w2, w3, u1, u2, u3, p, h)
    w1, w2, w3 = central_inertia(n, w1, w2, w3)
    a0, a1, a2, a3 = q0[j], q0[j + 1], q0[j + 2], q0[j + 3]
    e0, e1, e2, e3 = q1[j], q1[j + 1], q1[j + 2], q1[j + 3]
    m0, m1, m2, m3 = qm[j], qm[j + 1], qm[j + 2], qm[j + 3]
    b0, b1, b2, b3 = 2.0 * a0 + h * rate[j], 2.0 * a1 + h * rate[j + 1], 2.0 * a2 + h * rate[j + 2], 0.0
    b3 = 2.0 * a3 + h * rate[j + 3]
    d = 1.0 / (m0 * m0 + m1 * m1 + m2 * m2 + m3 * m3)
    t1, t2, t3 = d * torque[0], d * torque[1], d * torque[2]
    r1, r2, r3 = body_components(zr, t1, t2, t3)
    for b in range(3):
        c0, c1, c2, c3 = g_transposed(
            e0, e1, e2, e3, 0.5 if b == 0 else 0.0, 0.5 if b == 1 else 0.0, 0.5 if b == 2 else 0.0
        )  # de1
        y1, y2, y3 = g_times(b0, b1, b2, b3, c0, c1, c2, c3)  # h dW
        y1, y2, y3 = central_inertia(n, 2.0 * y1, 2.0 * y2, 2.0 * y3)
        s0, s1, s2, s3 = g_transposed(e0, e1, e2, e3, y1, y2, y3)
        k0, k1, k2, k3 = g_transposed(c0, c1, c2, c3, 2.0 * h * w1, 2.0 * h * w2, 2.0 * h * w3)
        s0, s1, s2, s3 = s0 + k0, s1 + k1, s2 + k2, s3 + k3
        if offset:  # m h du = m (dr + C(e1 + h v1/2) de1), with e1 + h v1/2 = 2 e1 - e0 - h v0/2
            y1, y2, y3 = lever_times(
                n.s1, n.s2, n.s3, 2.0 * e0 - 0.5 * b0, 2.0 * e1 - 0.5 * b1, 2.0 * e2 - 0.5 * b2, 2.0 * e3 - 0.5 * b3,
                c0, c1, c2, c3,
            )  # fmt: skip
            matrix[n.block + 3 + b] += y1
            matrix[n.block + ld + 3 + b] += y2
            matrix[n.block + 2 * ld + 3 + b] += y3
            g = 1.0 / n.mass
            k0, k1, k2, k3 = lever_transposed(n.s1, n.s2, n.s3, a0, a1, a2, a3, g * y1, g * y2, g * y3)
            s0, s1, s2, s3 = s0 + k0, s1 + k1, s2 + k2, s3 + k3
        y1, y2, y3 = g_times(m0, m1, m2, m3, 0.5 * s0, 0.5 * s1, 0.5 * s2, 0.5 * s3)
        g = 0.25 * ck
        k1, k2, k3 = g_times(c0, c1, c2, c3, g * i0, g * i1, g * i2, g * i3)
        bilinear_axes(m0, m1, m2, m3, 0.5 * c0, 0.5 * c1, 0.5 * c2, 0.5 * c3, y)
        f1, f2, f3 = frame_torque(y, f)
        g = -d * (m0 * c0 + m1 * c1 + m2 * c2 + m3 * c3)
        s1, s2, s3 = body_components(y, t1, t2, t3)
        f1, f2, f3 = f1 + (s1 + g * r1), f2 + (s2 + g * r2), f3 + (s3 + g * r3)
        matrix[o + b] += y1 + k1 + ck * f1
        matrix[o + ld + b] += y2 + k2 + ck * f2
        matrix[o + 2 * ld + b] += y3 + k3 + ck * f3
    if n.nx == 3:
        for b in range(3):
            matrix[n.block + b * ld + b] += n.mass
            if offset:
                s0, s1, s2, s3 = lever_transposed(
                    n.s1, n.s2, n.s3, a0, a1, a2, a3, 0.5 if b == 0 else 0.0, 0.5 if b == 1 else 0.0,
                    0.5 if b == 2 else 0.0,
                )  # fmt: skip
                y1, y2, y3 = g_times(m0, m1, m2, m3, s0, s1, s2, s3)
                matrix[n.block + 3 * ld + b] += y1
                matrix[n.block + 4 * ld + b] += y2
                matrix[n.block + 5 * ld + b] += y3


@kernel
def null_accept(n, q0, q1, qm, rate, raten, p, dq, zr, f, h, unit, vn):
    """New rates, momenta (in place), velocities of the Lie node, and the multiplier of the unit constraint."""
    k, j, i = n.q0, n.q0 + n.nx, n.v0
    c = 2.0 / h
    w1, w2, w3, u1, u2, u3 = _means(n, q0, q1, rate, dq, h)
    y0, y1, y2, y3 = _inertia_force(n, q0, q1, w1, w2, w3, u1, u2, u3, p, h)
    m0, m1, m2, m3 = qm[j], qm[j + 1], qm[j + 2], qm[j + 3]
    along = m0 * y0 + m1 * y1 + m2 * y2 + m3 * y3
    for m in range(3, 12):
        along += 2.0 * f[m] * zr[m]
    unit[n.l0] = -along / (m0 * m0 + m1 * m1 + m2 * m2 + m3 * m3)
    d0, d1, d2, d3 = _increment(n, q0, dq)
    raten[j], raten[j + 1] = c * d0 - rate[j], c * d1 - rate[j + 1]
    raten[j + 2], raten[j + 3] = c * d2 - rate[j + 2], c * d3 - rate[j + 3]
    for m in range(n.nx):
        raten[k + m] = c * dq[n.v0 + m] - rate[k + m]
    w1, w2, w3 = central_inertia(n, 4.0 * w1, 4.0 * w2, 4.0 * w3)
    y0, y1, y2, y3 = g_transposed(m0, m1, m2, m3, w1, w2, w3)
    if n.nx == 3:
        p[k], p[k + 1], p[k + 2] = 2.0 * u1 - p[k], 2.0 * u2 - p[k + 1], 2.0 * u3 - p[k + 2]
        vn[i], vn[i + 1], vn[i + 2] = raten[k], raten[k + 1], raten[k + 2]
        i += 3
        d = 2.0 / n.mass
        a0, a1, a2, a3 = lever_transposed(n.s1, n.s2, n.s3, m0, m1, m2, m3, d * u1, d * u2, d * u3)
        y0, y1, y2, y3 = y0 + a0, y1 + a1, y2 + a2, y3 + a3
    p[j], p[j + 1], p[j + 2], p[j + 3] = y0 - p[j], y1 - p[j + 1], y2 - p[j + 2], y3 - p[j + 3]
    w1, w2, w3 = g_times(q1[j], q1[j + 1], q1[j + 2], q1[j + 3], raten[j], raten[j + 1], raten[j + 2], raten[j + 3])
    vn[i], vn[i + 1], vn[i + 2] = 2.0 * w1, 2.0 * w2, 2.0 * w3
