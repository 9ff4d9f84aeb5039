"""Nodes in the Livens energy-momentum scheme without reduction (EML), with the unknowns q1, v1, p1 and lambda.

Per node, with means of both ends marked by m [Kinon & Betsch 2024, (72), (86)]:

    (p1 - p0)/h - D_q T + Z(qm)^T F + Gm^T lambda = 0,   g(q1) = 0,   q1 - q0 - h vm = 0,   pm - D_v T = 0

in this order; the columns are q1, lambda, v1, p1. For quaternions D_q T = -2 G(vm)^T J W + C(vm)^T m u and
D_v T = 2 G(em)^T J W + C(em)^T m u with the mean angular velocity W, the mean velocity u of the centre of mass and its
lever C (``quaternion_livens``); for points and directors D_q T = 0 and D_v T = M vm.
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
from ..forms import FORM_DIRECTORS
from ..inertia import frame_stiffness
from ..internal import internal_blocks, internal_force
from ..mass import central_inertia, frame_inertia
from .torques import dual_tangent, dual_torque, quaternion_torque


@kernel
def _means(n, q0, q1, v0, v1):
    """(J W, m u): mean angular momentum and linear momentum."""
    k, j = n.v0, n.q0 + n.nx
    i = k + n.nx
    w1, w2, w3 = g_times(q0[j], q0[j + 1], q0[j + 2], q0[j + 3], v0[i], v0[i + 1], v0[i + 2], v0[i + 3])
    b1, b2, b3 = g_times(q1[j], q1[j + 1], q1[j + 2], q1[j + 3], v1[i], v1[i + 1], v1[i + 2], v1[i + 3])
    w1, w2, w3 = central_inertia(n, w1 + b1, w2 + b2, w3 + b3)
    u1, u2, u3 = 0.0, 0.0, 0.0
    if n.nx == 3:
        a1, a2, a3 = lever_times(
            n.s1, n.s2, n.s3, q0[j], q0[j + 1], q0[j + 2], q0[j + 3], v0[i], v0[i + 1], v0[i + 2], v0[i + 3]
        )
        b1, b2, b3 = lever_times(
            n.s1, n.s2, n.s3, q1[j], q1[j + 1], q1[j + 2], q1[j + 3], v1[i], v1[i + 1], v1[i + 2], v1[i + 3]
        )
        u1 = 0.5 * (n.mass * (v0[k] + v1[k]) + a1 + b1)
        u2 = 0.5 * (n.mass * (v0[k + 1] + v1[k + 1]) + a2 + b2)
        u3 = 0.5 * (n.mass * (v0[k + 2] + v1[k + 2]) + a3 + b3)
    return w1, w2, w3, u1, u2, u3


@kernel
def _lever(n, e0, e1, e2, e3, u1, u2, u3):
    """C(e)^T u."""
    if n.nx == 0:
        return 0.0, 0.0, 0.0, 0.0
    d = 1.0 / n.mass
    return lever_transposed(n.s1, n.s2, n.s3, e0, e1, e2, e3, d * u1, d * u2, d * u3)


@kernel
def full_quaternion_equation(n, q0, q1, qm, v0, v1, p0, p1, f, torque, lam, h, x):
    """Momentum balance and fibre derivative into x; f are the frame forces at the averaged frame."""
    i, k, j = n.x0, n.v0, n.q0 + n.nx
    fibre = i + n.nv + n.nl + n.nv
    e0, e1, e2, e3 = qm[j], qm[j + 1], qm[j + 2], qm[j + 3]
    for m in range(n.nx):
        x[i + m] = f[m]
    quaternion_pull(e0, e1, e2, e3, f, x, i + n.nx)
    w1, w2, w3, u1, u2, u3 = _means(n, q0, q1, v0, v1)
    for m in range(n.nv):
        x[i + m] += (p1[k + m] - p0[k + m]) / h
        x[fibre + m] = 0.5 * (p1[k + m] + p0[k + m])
    if n.nx == 3:
        x[fibre] -= u1
        x[fibre + 1] -= u2
        x[fibre + 2] -= u3
    i, k, fibre = i + n.nx, k + n.nx, fibre + n.nx
    a0, a1, a2, a3 = v0[k] + v1[k], v0[k + 1] + v1[k + 1], v0[k + 2] + v1[k + 2], v0[k + 3] + v1[k + 3]  # 2 vm
    s0, s1, s2, s3 = g_transposed(a0, a1, a2, a3, w1, w2, w3)
    c0, c1, c2, c3 = _lever(n, a0, a1, a2, a3, -0.5 * u1, -0.5 * u2, -0.5 * u3)
    t0, t1, t2, t3 = quaternion_torque(e0, e1, e2, e3, torque)
    r = lam[n.l0]
    x[i] += s0 + c0 + t0 + r * e0
    x[i + 1] += s1 + c1 + t1 + r * e1
    x[i + 2] += s2 + c2 + t2 + r * e2
    x[i + 3] += s3 + c3 + t3 + r * e3
    s0, s1, s2, s3 = g_transposed(e0, e1, e2, e3, 2.0 * w1, 2.0 * w2, 2.0 * w3)
    c0, c1, c2, c3 = _lever(n, e0, e1, e2, e3, u1, u2, u3)
    x[fibre] -= s0 + c0
    x[fibre + 1] -= s1 + c1
    x[fibre + 2] -= s2 + c2
    x[fibre + 3] -= s3 + c3


@kernel
def _write(c, y0, y1, y2, y3, matrix, o, ld):
    """Add four numbers to a column."""
    matrix[o] += c * y0
    matrix[o + ld] += c * y1
    matrix[o + 2 * ld] += c * y2
    matrix[o + 3 * ld] += c * y3


@kernel
def full_quaternion_matrix(n, q0, q1, qm, v0, v1, z, f, torque, lam, h, matrix):
    """Diagonal block, dynamic rows scaled by h^2/2."""
    ck = 0.5 * h * h
    k, j, ld = n.v0 + n.nx, n.q0 + n.nx, n.ld
    frame_stiffness(n, z, f, 0.5 * ck, matrix)
    row = n.block + n.nx * ld  # rows of the rotational balance, of the fibre derivative, columns of e1 and v1
    fibre = n.block + (n.nv + n.nl + n.nv) * ld
    spin = fibre + n.nx * ld
    first, rates = n.nx, n.nv + n.nl
    w1, w2, w3, u1, u2, u3 = _means(n, q0, q1, v0, v1)
    e0, e1, e2, e3 = q1[j], q1[j + 1], q1[j + 2], q1[j + 3]
    y0, y1, y2, y3 = v1[k], v1[k + 1], v1[k + 2], v1[k + 3]
    a0, a1, a2, a3 = v0[k] + y0, v0[k + 1] + y1, v0[k + 2] + y2, v0[k + 3] + y3  # 2 vm
    m0, m1, m2, m3 = qm[j], qm[j + 1], qm[j + 2], qm[j + 3]
    d = 1.0 / (m0 * m0 + m1 * m1 + m2 * m2 + m3 * m3)
    t1, t2, t3 = ck * d * torque[0], ck * d * torque[1], ck * d * torque[2]
    r0, r1, r2, r3 = e_transposed(m0, m1, m2, m3, t1, t2, t3)
    for b in range(4):
        x0, x1 = 1.0 if b == 0 else 0.0, 1.0 if b == 1 else 0.0
        x2, x3 = 1.0 if b == 2 else 0.0, 1.0 if b == 3 else 0.0
        for part in range(2):  # columns of e1, then of v1
            if part == 0:
                column = first + b
                g1, g2, g3 = g_times(x0, x1, x2, x3, y0, y1, y2, y3)
                l1, l2, l3 = lever_times(n.s1, n.s2, n.s3, x0, x1, x2, x3, y0, y1, y2, y3)
            else:
                column = rates + n.nx + b
                g1, g2, g3 = g_times(e0, e1, e2, e3, x0, x1, x2, x3)
                l1, l2, l3 = lever_times(n.s1, n.s2, n.s3, e0, e1, e2, e3, x0, x1, x2, x3)
            g1, g2, g3 = central_inertia(n, g1, g2, g3)
            l1, l2, l3 = 0.5 * l1, 0.5 * l2, 0.5 * l3
            s0, s1, s2, s3 = g_transposed(a0, a1, a2, a3, g1, g2, g3)
            _write(ck, s0, s1, s2, s3, matrix, row + column, ld)
            s0, s1, s2, s3 = _lever(n, a0, a1, a2, a3, l1, l2, l3)
            _write(-0.5 * ck, s0, s1, s2, s3, matrix, row + column, ld)
            s0, s1, s2, s3 = g_transposed(m0, m1, m2, m3, g1, g2, g3)
            _write(-2.0, s0, s1, s2, s3, matrix, spin + column, ld)
            s0, s1, s2, s3 = _lever(n, m0, m1, m2, m3, l1, l2, l3)
            _write(-1.0, s0, s1, s2, s3, matrix, spin + column, ld)
            s0, s1, s2, s3 = g_transposed(x0, x1, x2, x3, w1, w2, w3)
            l0, c1, c2, c3 = _lever(n, x0, x1, x2, x3, u1, u2, u3)
            if part == 0:
                _write(-1.0, s0, s1, s2, s3, matrix, spin + column, ld)
                _write(-0.5, l0, c1, c2, c3, matrix, spin + column, ld)
            else:
                _write(ck, s0, s1, s2, s3, matrix, row + column, ld)
                _write(-0.5 * ck, l0, c1, c2, c3, matrix, row + column, ld)
            if n.nx == 3:
                matrix[fibre + column] -= l1
                matrix[fibre + ld + column] -= l2
                matrix[fibre + 2 * ld + column] -= l3
        s0, s1, s2, s3 = e_transposed(x0, x1, x2, x3, t1, t2, t3)
        c = -2.0 * d * (m0 if b == 0 else (m1 if b == 1 else (m2 if b == 2 else m3)))
        _write(1.0, s0 + c * r0, s1 + c * r1, s2 + c * r2, s3 + c * r3, matrix, row + first + b, ld)
    internal_blocks(n, q1, qm, lam, 0.5 * ck, matrix)
    for b in range(n.nx):  # velocity of the reference point
        matrix[fibre + b * ld + rates + b] -= 0.5 * n.mass
        f1, f2, f3 = 0.5 if b == 0 else 0.0, 0.5 if b == 1 else 0.0, 0.5 if b == 2 else 0.0
        s0, s1, s2, s3 = lever_transposed(n.s1, n.s2, n.s3, a0, a1, a2, a3, f1, f2, f3)
        _write(-0.5 * ck, s0, s1, s2, s3, matrix, row + rates + b, ld)
        s0, s1, s2, s3 = lever_transposed(n.s1, n.s2, n.s3, m0, m1, m2, m3, f1, f2, f3)
        _write(-1.0, s0, s1, s2, s3, matrix, spin + rates + b, ld)


@kernel
def full_linear_equation(n, qm, v0, v1, p0, p1, zm, f, torque, lam, h, x, scratch):
    """Momentum balance and fibre derivative of points and directors, whose mass is constant, into x."""
    i, k = n.x0, n.v0
    fibre = i + n.nv + n.nl + n.nv
    o = 0 if n.nx == 3 else 3
    y, inertia = scratch[0], scratch[1]
    for m in range(12):
        y[m] = 0.0
        inertia[m] = 0.0
    for m in range(n.nv):
        y[o + m] = 0.5 * (v0[k + m] + v1[k + m])
    frame_inertia(n, y, inertia)
    if n.form == FORM_DIRECTORS:
        dual_torque(zm, torque, f)
    for m in range(n.nv):
        x[i + m] = f[o + m] + (p1[k + m] - p0[k + m]) / h
        x[fibre + m] = 0.5 * (p1[k + m] + p0[k + m]) - inertia[o + m]
    if n.nl > 0:
        internal_force(n, qm, lam, x)


@kernel
def full_linear_matrix(n, q1, qm, zm, torque, lam, h, matrix, scratch):
    """Derivatives of ``full_linear_equation``."""
    ck = 0.5 * h * h
    if n.form == FORM_DIRECTORS:
        dual_tangent(n, zm, torque, ck, matrix, scratch)
        internal_blocks(n, q1, qm, lam, 0.5 * ck, matrix)
    # the mass belongs to the rows of the fibre derivative and the columns of v1
    o = 0 if n.nx == 3 else 3
    y, inertia = scratch[0], scratch[1]
    fibre, rates = n.block + (n.nv + n.nl + n.nv) * n.ld, n.nv + n.nl
    for b in range(n.nv):
        for m in range(12):
            y[m] = 0.0
            inertia[m] = 0.0
        y[o + b] = 1.0
        frame_inertia(n, y, inertia)
        for m in range(n.nv):
            matrix[fibre + m * n.ld + rates + b] -= 0.5 * inertia[o + m]


@kernel
def full_rows(n, dq, v, rate, h, x):
    """Rows of q1 = q0 + h vm; ``rate`` are the velocities at the end."""
    o = n.x0 + n.nv + n.nl
    for m in range(n.nv):
        k = n.v0 + m
        x[o + m] = dq[k] - 0.5 * h * (v[k] + rate[k])


@kernel
def full_blocks(n, h, matrix):
    """Blocks of ``full_rows``, and those of the momenta."""
    kinematic = n.nv + n.nl
    for m in range(n.nv):
        row, fibre = n.block + (kinematic + m) * n.ld, n.block + (kinematic + n.nv + m) * n.ld
        matrix[row + m] += 1.0
        matrix[row + kinematic + m] -= 0.5 * h
        matrix[n.block + m * n.ld + kinematic + n.nv + m] += 0.5 * h
        matrix[fibre + kinematic + n.nv + m] += 0.5


@kernel
def full_correct(n, y, rate, p):
    """Add the increments of velocities and momenta."""
    o = n.x0 + n.nv + n.nl
    for m in range(n.nv):
        rate[n.v0 + m] += y[o + m]
        p[n.v0 + m] += y[o + n.nv + m]


@kernel
def full_accept(n, rate, momentum, v, p):
    """v, p = velocities and momenta at the end of the step."""
    for k in range(n.v0, n.v0 + n.nv):
        v[k] = rate[k]
        p[k] = momentum[k]
