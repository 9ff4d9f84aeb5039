"""Conventional quaternion nodes in the Hamiltonian energy-momentum scheme (EMH), reduced to the unknowns (q1, lambda).

The kinetic co-energy of a rotation is a quadratic form of t = Q_l(e)^T p, bilinear in (e, p), with the extended inertia
J_4 = diag(tr J / 2, J) [Betsch & Siebert 2009; Kinon & Betsch 2024, (138)-(146)]:

    de = (h/4) Q_l(em) J_4^-1 tm,    dp = -(h/4) [pm, -G(pm)^T] J_4^-1 tm - h DV - h lambda em,   |e1| = 1

with em, pm, tm the means of both ends. The first equation is solved for tm. Because em.de = 0, its scalar part
vanishes, and its vector part is 2 J Omega_m with

    Omega_m = 2 G(em) de / (h |em|^2),   Omega1 = 2 Omega_m - Omega0,   p1 = 2 G(e1)^T J Omega1

so that e.p = 0 and e.e_dot = 0 at all steps, the Hamiltonian is T + V, and what remains is

    (p1 - p0)/h - G(pm)^T Omega_m / 2 + Z(em)^T F + lambda em = 0.

The translation is that of the centre of mass, r_c1 - r_c0 = h (u0 + u1)/2, whose inertia is a force F at that point.
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...math.quaternions import bilinear_axes, e_transposed, g_times, g_transposed
from ..inertia import frame_stiffness, pull_back
from ..internal import internal_blocks
from ..markers import axis, push_point
from ..mass import central_inertia, centre_block, centre_of_mass
from .torques import quaternion_torque


@kernel
def _spins(n, q0, qm, v, dq, h):
    """Angular velocities (Omega_m, Omega0)."""
    j, k = n.q0 + n.nx, n.v0 + n.nx
    m0, m1, m2, m3 = qm[j], qm[j + 1], qm[j + 2], qm[j + 3]
    c = 2.0 / h
    c /= m0 * m0 + m1 * m1 + m2 * m2 + m3 * m3
    a1, a2, a3 = g_times(m0, m1, m2, m3, dq[k], dq[k + 1], dq[k + 2], dq[k + 3])
    b1, b2, b3 = g_times(q0[j], q0[j + 1], q0[j + 2], q0[j + 3], v[k], v[k + 1], v[k + 2], v[k + 3])
    return c * a1, c * a2, c * a3, 2.0 * b1, 2.0 * b2, 2.0 * b3


@kernel
def _momenta(n, q0, q1, w1, w2, w3, o1, o2, o3):
    """Conjugate momenta at both ends."""
    j = n.q0 + n.nx
    a1, a2, a3 = central_inertia(n, 2.0 * o1, 2.0 * o2, 2.0 * o3)
    b1, b2, b3 = central_inertia(n, 4.0 * w1 - 2.0 * o1, 4.0 * w2 - 2.0 * o2, 4.0 * w3 - 2.0 * o3)
    p0, p1, p2, p3 = g_transposed(q0[j], q0[j + 1], q0[j + 2], q0[j + 3], a1, a2, a3)
    r0, r1, r2, r3 = g_transposed(q1[j], q1[j + 1], q1[j + 2], q1[j + 3], b1, b2, b3)
    return p0, p1, p2, p3, r0, r1, r2, r3


@kernel
def _centre_motion(n, q0, q1, v, dq, h, y):
    """(mean velocity of the centre of mass over the step, its velocity at the start); y is scratch for a frame."""
    k, j = n.v0, n.q0 + 3
    half = 0.5 * (2.0 / h)
    d1, d2, d3 = half * dq[k], half * dq[k + 1], half * dq[k + 2]
    u1, u2, u3 = v[k], v[k + 1], v[k + 2]
    if n.s1 != 0.0 or n.s2 != 0.0 or n.s3 != 0.0:
        c1, c2, c3 = centre_of_mass(n)
        i = k + 3
        bilinear_axes(
            0.5 * (q0[j] + q1[j]), 0.5 * (q0[j + 1] + q1[j + 1]), 0.5 * (q0[j + 2] + q1[j + 2]),
            0.5 * (q0[j + 3] + q1[j + 3]), dq[i], dq[i + 1], dq[i + 2], dq[i + 3], y,
        )  # fmt: skip
        a1, a2, a3 = axis(y, c1, c2, c3)
        d1, d2, d3 = d1 + half * a1, d2 + half * a2, d3 + half * a3
        bilinear_axes(q0[j], q0[j + 1], q0[j + 2], q0[j + 3], v[i], v[i + 1], v[i + 2], v[i + 3], y)
        a1, a2, a3 = axis(y, c1, c2, c3)
        u1, u2, u3 = u1 + a1, u2 + a2, u3 + a3
    return d1, d2, d3, u1, u2, u3


@kernel
def hamilton_equation(n, q0, q1, qm, v, dq, z, f, torque, lam, h, x, scratch):
    """x[x0:] = momentum balance; the inertia of the centre of mass is added to the frame forces f."""
    i, j = n.x0, n.q0 + n.nx
    if n.nx == 3:
        d1, d2, d3, u1, u2, u3 = _centre_motion(n, q0, q1, v, dq, h, scratch[0])
        c1, c2, c3 = centre_of_mass(n)
        m = 2.0 / h * n.mass
        push_point(f, c1, c2, c3, m * (d1 - u1), m * (d2 - u2), m * (d3 - u3))
    pull_back(n, qm, z, z, f, x, i)
    w1, w2, w3, o1, o2, o3 = _spins(n, q0, qm, v, dq, h)
    a0, a1, a2, a3, b0, b1, b2, b3 = _momenta(n, q0, q1, w1, w2, w3, o1, o2, o3)
    s0, s1, s2, s3 = g_transposed(a0 + b0, a1 + b1, a2 + b2, a3 + b3, -0.25 * w1, -0.25 * w2, -0.25 * w3)
    e0, e1, e2, e3 = qm[j], qm[j + 1], qm[j + 2], qm[j + 3]
    t0, t1, t2, t3 = quaternion_torque(e0, e1, e2, e3, torque)
    r, i, half = lam[n.l0], i + n.nx, 0.5 * (2.0 / h)
    x[i] += half * (b0 - a0) + s0 + t0 + r * e0
    x[i + 1] += half * (b1 - a1) + s1 + t1 + r * e1
    x[i + 2] += half * (b2 - a2) + s2 + t2 + r * e2
    x[i + 3] += half * (b3 - a3) + s3 + t3 + r * e3


@kernel
def hamilton_matrix(n, q0, q1, qm, v, dq, z, f, torque, lam, h, jacobians, matrix):
    """Diagonal block, scaled by h^2/2 (after the equation at the same iterate)."""
    ck = 0.5 * h * h
    j, ld = n.q0 + n.nx, n.ld
    frame_stiffness(n, z, f, 0.5 * ck, matrix)
    if n.nx == 3:
        centre_block(n, qm, z, q1, z, jacobians, matrix)
    w1, w2, w3, o1, o2, o3 = _spins(n, q0, qm, v, dq, h)
    a0, a1, a2, a3, b0, b1, b2, b3 = _momenta(n, q0, q1, w1, w2, w3, o1, o2, o3)
    j1, j2, j3 = central_inertia(n, 4.0 * w1 - 2.0 * o1, 4.0 * w2 - 2.0 * o2, 4.0 * w3 - 2.0 * o3)
    m0, m1, m2, m3 = qm[j], qm[j + 1], qm[j + 2], qm[j + 3]
    d = 1.0 / (m0 * m0 + m1 * m1 + m2 * m2 + m3 * m3)
    t1, t2, t3 = ck * d * torque[0], ck * d * torque[1], ck * d * torque[2]
    r0, r1, r2, r3 = e_transposed(m0, m1, m2, m3, t1, t2, t3)
    o = n.block + n.nx * ld + n.nx
    for b in range(4):
        e0, e1 = 1.0 if b == 0 else 0.0, 1.0 if b == 1 else 0.0
        e2, e3 = 1.0 if b == 2 else 0.0, 1.0 if b == 3 else 0.0
        along = d * (m0 if b == 0 else (m1 if b == 1 else (m2 if b == 2 else m3)))
        y1, y2, y3 = g_times(q0[j], q0[j + 1], q0[j + 2], q0[j + 3], e0, e1, e2, e3)
        c = 2.0 * d / h
        y1, y2, y3 = c * y1 - along * w1, c * y2 - along * w2, c * y3 - along * w3  # d Omega_m
        k1, k2, k3 = central_inertia(n, 4.0 * y1, 4.0 * y2, 4.0 * y3)
        s0, s1, s2, s3 = g_transposed(q1[j], q1[j + 1], q1[j + 2], q1[j + 3], k1, k2, k3)
        u0, u1, u2, u3 = g_transposed(e0, e1, e2, e3, j1, j2, j3)
        s0, s1, s2, s3 = s0 + u0, s1 + u1, s2 + u2, s3 + u3  # d p1
        u0, u1, u2, u3 = g_transposed(s0, s1, s2, s3, -0.25 * w1, -0.25 * w2, -0.25 * w3)
        g0, g1, g2, g3 = g_transposed(a0 + b0, a1 + b1, a2 + b2, a3 + b3, -0.25 * y1, -0.25 * y2, -0.25 * y3)
        x0, x1, x2, x3 = e_transposed(e0, e1, e2, e3, t1, t2, t3)
        c = -2.0 * along
        matrix[o + b] += ck * (s0 / h + u0 + g0) + x0 + c * r0
        matrix[o + ld + b] += ck * (s1 / h + u1 + g1) + x1 + c * r1
        matrix[o + 2 * ld + b] += ck * (s2 / h + u2 + g2) + x2 + c * r2
        matrix[o + 3 * ld + b] += ck * (s3 / h + u3 + g3) + x3 + c * r3
    internal_blocks(n, q1, qm, lam, 0.5 * ck, matrix)


@kernel
def hamilton_velocity(n, q0, q1, qm, v, dq, h, out, scratch):
    """Velocities at the end of the step."""
    k, j = n.v0, n.q0 + n.nx
    w1, w2, w3, o1, o2, o3 = _spins(n, q0, qm, v, dq, h)
    s0, s1, s2, s3 = g_transposed(q1[j], q1[j + 1], q1[j + 2], q1[j + 3], w1 - 0.5 * o1, w2 - 0.5 * o2, w3 - 0.5 * o3)
    i = k + n.nx
    out[i], out[i + 1], out[i + 2], out[i + 3] = s0, s1, s2, s3
    if n.nx == 3:
        y = scratch[0]
        d1, d2, d3, u1, u2, u3 = _centre_motion(n, q0, q1, v, dq, h, y)
        c1, c2, c3 = centre_of_mass(n)
        bilinear_axes(q1[j], q1[j + 1], q1[j + 2], q1[j + 3], s0, s1, s2, s3, y)
        a1, a2, a3 = axis(y, c1, c2, c3)
        out[k], out[k + 1], out[k + 2] = 2.0 * d1 - u1 - a1, 2.0 * d2 - u2 - a2, 2.0 * d3 - u3 - a3
