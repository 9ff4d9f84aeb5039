"""Discrete momenta of nodes, of the variational integrators.

With the discrete Lagrangian L_d(q0, q1) = h L((q0 + q1)/2, (q1 - q0)/h) and the singular kinetic energy
(1/2) Omega.J Omega, Omega = 2 G(e) e_dot, of a quaternion: -D1, D2 = (4/h) G(e1)^T J y, (4/h) G(e0)^T J y with
y = G(e0) e1 = G(e0) (e1 - e0) [Wendlandt & Marsden 1997, (5.5) with the factor 2 that its first bracket lacks in
print]. All momenta are scaled by h.
"""

from __future__ import annotations

import math

from ...compiled.kernel import kernel
from ...math.quaternions import g_times, g_transposed
from ..forms import FORM_DIRECTORS, FORM_QUATERNION
from ..inertia import pull_back
from ..markers import axis, push_point
from ..mass import (
    central_inertia,
    centre_block,
    centre_of_mass,
    frame_inertia,
    increment_inertia,
    solve_central_inertia,
    solve_mass,
)
from ..tangent import node_tangent


@kernel
def co_energy_factor(n, q0, q1):
    """|em|^-4: the kinetic energy of a quaternion that belongs to the co-energy (p.Q_l J_4^-1 Q_l^T p)/8.

    Both extend the energy from |e| = 1 to all e and differ at the midpoint [Kinon & Betsch 2024, (139)]. What the
    factor adds to the force is parallel to em and taken up by the multiplier of the unit constraint.
    """
    j = n.q0 + n.nx
    a = 0.0
    for m in range(4):
        a += 0.25 * (q0[j + m] + q1[j + m]) ** 2
    return 1.0 / (a * a)


@kernel
def momentum(n, q0, q1, dq, z0, z1, end, co_energy, f, x, i):
    """x[i:] = h D2 L_d of the kinetic energy if ``end``, else -h D1 L_d; f is scratch for a frame force."""
    for m in range(12):
        f[m] = 0.0
    if n.form != FORM_QUATERNION:
        o = 0 if n.nx == 3 else 3
        increment_inertia(n, dq, f)
        for m in range(n.nv):
            x[i + m] = f[o + m]
        return
    z, q = (z1, q1) if end else (z0, q0)
    if n.nx == 3:
        c1, c2, c3 = centre_of_mass(n)
        d1, d2, d3 = axis(z1, c1, c2, c3)
        e1, e2, e3 = axis(z0, c1, c2, c3)
        k = n.v0
        push_point(
            f, c1, c2, c3, n.mass * (dq[k] + d1 - e1), n.mass * (dq[k + 1] + d2 - e2), n.mass * (dq[k + 2] + d3 - e3)
        )
    pull_back(n, q, z, z, f, x, i)
    j = n.q0 + n.nx
    k = n.v0 + n.nx
    y1, y2, y3 = g_times(q0[j], q0[j + 1], q0[j + 2], q0[j + 3], dq[k], dq[k + 1], dq[k + 2], dq[k + 3])
    c = 4.0 * co_energy_factor(n, q0, q1) if co_energy else 4.0
    y1, y2, y3 = central_inertia(n, c * y1, c * y2, c * y3)
    r = q0 if end else q1
    s0, s1, s2, s3 = g_transposed(r[j], r[j + 1], r[j + 2], r[j + 3], y1, y2, y3)
    i += n.nx
    x[i] += s0
    x[i + 1] += s1
    x[i + 2] += s2
    x[i + 3] += s3


@kernel
def momentum_matrix(n, q0, q1, z0, z1, co_energy, jacobians, matrix, scratch):
    """Add d(-h D1 L_d)/dq1 of the kinetic energy."""
    if n.form != FORM_QUATERNION:
        node_tangent(n, q1, q1, q1, z1, z1, z1, 1.0, 0.0, 0.0, matrix, scratch)
        return
    if n.nx == 3:
        centre_block(n, q0, z0, q1, z1, jacobians, matrix)
    j = n.q0 + n.nx
    o = n.block + n.nx * n.ld + n.nx
    x0, x1, x2, x3 = q0[j], q0[j + 1], q0[j + 2], q0[j + 3]
    y0, y1, y2, y3 = q1[j], q1[j + 1], q1[j + 2], q1[j + 3]
    w1, w2, w3 = g_times(x0, x1, x2, x3, y0 - x0, y1 - x1, y2 - x2, y3 - x3)
    c, slope = 4.0, 0.0
    if co_energy:
        factor = co_energy_factor(n, q0, q1)
        c *= factor
        slope = -math.sqrt(factor)  # d log |em|^-4 = -(e0 + e1).de1 / |em|^2
    w1, w2, w3 = central_inertia(n, c * w1, c * w2, c * w3)
    r0, r1, r2, r3 = g_transposed(y0, y1, y2, y3, slope * w1, slope * w2, slope * w3)
    for b in range(4):
        e0, e1 = 1.0 if b == 0 else 0.0, 1.0 if b == 1 else 0.0
        e2, e3 = 1.0 if b == 2 else 0.0, 1.0 if b == 3 else 0.0
        u1, u2, u3 = g_times(x0, x1, x2, x3, e0, e1, e2, e3)
        u1, u2, u3 = central_inertia(n, c * u1, c * u2, c * u3)
        s0, s1, s2, s3 = g_transposed(y0, y1, y2, y3, u1, u2, u3)
        t0, t1, t2, t3 = g_transposed(e0, e1, e2, e3, w1, w2, w3)
        a = q0[j + b] + q1[j + b]
        matrix[o + b] += s0 + t0 + a * r0
        matrix[o + n.ld + b] += s1 + t1 + a * r1
        matrix[o + 2 * n.ld + b] += s2 + t2 + a * r2
        matrix[o + 3 * n.ld + b] += s3 + t3 + a * r3


@kernel
def velocity_of_momentum(n, q, z, p, h, out, square, scratch):
    """out = velocities of one node for h times its momenta p."""
    k = n.v0
    for m in range(n.nv):
        out[k + m] = p[k + m] / h
    if n.form != FORM_QUATERNION:
        solve_mass(n, out, square)
        return
    f, y = scratch[0], scratch[1]
    for m in range(12):
        f[m] = 0.0
    c1, c2, c3 = 0.0, 0.0, 0.0
    if n.nx == 3:
        c1, c2, c3 = centre_of_mass(n)
        push_point(f, c1, c2, c3, out[k], out[k + 1], out[k + 2])
        pull_back(n, q, z, z, f, y, 0)
        for m in range(3, 7):
            out[k + m] -= y[m]
        for m in range(3):
            out[k + m] /= n.mass
    j, i = n.q0 + n.nx, k + n.nx
    t1, t2, t3 = g_times(q[j], q[j + 1], q[j + 2], q[j + 3], out[i], out[i + 1], out[i + 2], out[i + 3])
    w1, w2, w3 = solve_central_inertia(n, 0.5 * t1, 0.5 * t2, 0.5 * t3)
    out[i], out[i + 1], out[i + 2], out[i + 3] = g_transposed(
        q[j], q[j + 1], q[j + 2], q[j + 3], 0.5 * w1, 0.5 * w2, 0.5 * w3
    )
    if n.nx == 3:
        d1, d2, d3 = axis(z, w2 * c3 - w3 * c2, w3 * c1 - w1 * c3, w1 * c2 - w2 * c1)
        out[k] -= d1
        out[k + 1] -= d2
        out[k + 2] -= d3


@kernel
def momentum_of_velocity(n, q, v, z, zd, h, out, scratch):
    """out = h times the momenta of one node."""
    k = n.v0
    f, y = scratch[0], scratch[1]
    for m in range(12):
        f[m] = 0.0
    if n.form != FORM_QUATERNION:
        frame_inertia(n, zd, f)
        o = 0 if n.nx == 3 else 3
        for m in range(n.nv):
            out[k + m] = h * f[o + m]
        return
    if n.nx == 3:
        c1, c2, c3 = centre_of_mass(n)
        d1, d2, d3 = axis(zd, c1, c2, c3)
        m = n.mass
        push_point(f, c1, c2, c3, m * (v[k] + d1), m * (v[k + 1] + d2), m * (v[k + 2] + d3))
    pull_back(n, q, z, z, f, y, 0)
    for m in range(n.nv):
        out[k + m] = h * y[m]
    j, i = n.q0 + n.nx, k + n.nx
    w1, w2, w3 = g_times(q[j], q[j + 1], q[j + 2], q[j + 3], v[i], v[i + 1], v[i + 2], v[i + 3])
    w1, w2, w3 = central_inertia(n, 4.0 * w1, 4.0 * w2, 4.0 * w3)
    s0, s1, s2, s3 = g_transposed(q[j], q[j + 1], q[j + 2], q[j + 3], w1, w2, w3)
    out[i] += h * s0
    out[i + 1] += h * s1
    out[i + 2] += h * s2
    out[i + 3] += h * s3


@kernel
def may_lack_velocity(n):
    """Whether momenta need not determine the velocities: the mass matrix of a flat body in directors is singular."""
    return n.form == FORM_DIRECTORS
