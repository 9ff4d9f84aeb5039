"""GGL integrators on points and directors, compiled [Kinon, Betsch & Schneider 2023].

Everything is written in increments: Y = h M^-1 p, w = h v, and scaled multipliers lambda' = h^2 lambda,
gamma' = h gamma, so that all blocks of the matrix stay of the size of M and G for h -> 0. F is the gradient of the
potential (minus the applied forces), H[mu] u = sum_k mu_k D^2 g_k u.

The published equations are combined such that they come in two blocks that hardly know of each other: lambda' makes a
velocity meet the velocity constraints, gamma' makes the increment, which is that velocity but for a small projection,
meet the position constraints. Block 1 has the unknowns (u, lambda'), block 2 (dq, gamma').

theta methods (76), u = w, with D1, D2 = (1-theta) G, theta G at q_theta (VI-A) or (1-vartheta) G(q), vartheta G(q1)
(VI-B):
    M w - M Y0 + h^2 (1-theta) F + D1^T lambda' + (1-theta) H[gamma'] w = 0,    G(q_theta) w = 0
    M dq - M w - G(q_theta)^T gamma' = 0,                                       g_d = 0
    M Y1 = M w - h^2 theta F - D2^T lambda' - theta H[gamma'] w
where M Y stands for h p. Of flat bodies, for which M is singular, p is kept, and Y is the velocity of a rigid body with
these momenta: M Y - h p + G_i^T mu = 0, G_i Y = 0 with the internal constraints at the end of the step.
energy-momentum (84), G at the midpoint unless said, F the discrete gradient, u = Y1:
    M Y1 - M Y0 + h^2 F + G^T lambda' + H[gamma'] (Y0 + Y1)/2 = 0,              G(q1) Y1 = 0
    M dq - M (Y0 + Y1)/2 - G^T gamma' = 0,                                      g(q1) = 0
symplectic Euler (55), q* = q0 + w, u = Y1; w follows from lambda' and has a third block in the matrix only:
    M Y1 - M Y0 + h^2 F(q0) + G(q0)^T lambda' + H[gamma'] Y1 = 0,               G(q*) Y1 = 0
    M dq - M w - G(q*)^T gamma' = 0,                                            g(q1) = 0
    M w = M Y0 - h^2 F(q0) - G(q0)^T lambda'

They differ in coefficients (the last numbers of ``GGLState``) and in the frames at which gradients are taken, and are
evaluated by one set of kernels: the frames zl, zh, zv, zp, ze of a run are the same arrays as z0, zt, z1, zu or zy.
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...joints.instant import COINCIDENT, DOT1, ROTATING, primitive_drive, primitive_rate, primitive_value
from ...nodes.inertia import rigid_velocity
from ...nodes.internal import internal_bilinear, internal_frame_force
from ...nodes.mass import frame_inertia, solve_mass, weight
from ...system.element_forces import constant
from ...system.tables import FLAG_COUPLED
from ..directors.linear_frames import clear_frames, joint_forces
from .couplings import add_coupled_forces, coupled_equations, coupled_sizes, finish_coupled


@kernel
def scaled(c, x, out):
    """out = c x."""
    for k in range(x.shape[0]):
        out[k] = c * x[k]


@kernel
def configure(s, x):
    """Frames of the step; weights into the buffer, all other frame forces zero."""
    theta, mean_u, mean_y = x.theta, x.mean_u, x.mean_y
    g1, g2, g3 = s.gravity[0], s.gravity[1], s.gravity[2]
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        z0, z1, zt, zu, zy = x.z0[i], x.z1[i], x.zt[i], x.zu[i], x.zy[i]
        o = 0 if n.nx == 3 else 3
        for m in range(n.nv):
            d, u = x.dq[n.v0 + m], x.u[n.v0 + m]
            z1[o + m] = z0[o + m] + d
            zt[o + m] = z0[o + m] + theta * d
            zu[o + m] = u
            zy[o + m] = mean_u * u + mean_y * x.y0[n.v0 + m]
        f1, f2, fl = x.f1[i], x.f2[i], x.fl[i]
        for m in range(12):
            f1[m], f2[m], fl[m] = -x.excess[i, m], 0.0, 0.0
        weight(n, g1, g2, g3, x.buffer[i])
    for m in range(12):  # joints push at the ground as well, forces were added to its weight
        x.f1[0, m], x.f2[0, m], x.fl[0, m], x.buffer[0, m] = 0.0, 0.0, 0.0, 0.0


@kernel
def equations(s, w, x, h):
    """Residuals r1 and r2 with their sizes; the buffer has the applied forces."""
    coupled = s.flags[FLAG_COUPLED] != 0
    joint_forces(s.primitives, x.at_l, x.zl, x.lams, x.gradient, True, w.primitive_rows, x.fl)
    if coupled:
        add_coupled_forces(s, w, x, h, x.lams, x.gradient, x.fl)
    _applied(s.nodes, x, w.scales)
    if x.explicit != 0.0:
        _explicit_velocity(s.nodes, x)
    if coupled:
        coupled_equations(s, w, x, h)
    if x.curvature != 0.0:
        joint_forces(s.primitives, x.at_t, x.zh, x.gams, x.curvature, False, w.primitive_rows, x.f1)
    joint_forces(s.primitives, x.at_t, x.zt, x.gams, -1.0, True, w.primitive_rows, x.f2)
    _joint_rows(s.primitives, x, h)
    if coupled:
        coupled_sizes(s, x)
    _rows(s.nodes, x, w.scratch)


@kernel
def _applied(nodes, x, scales):
    """fl += applied forces and the internal forces of lambda'; largest applied force and torque."""
    c, cl = x.force, x.gradient
    force, torque = 0.0, 0.0
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        b, f = x.buffer[i], x.fl[i]
        force = max(force, abs(b[0]), abs(b[1]), abs(b[2]))
        for m in range(3, 12):
            torque = max(torque, abs(b[m]))
        for m in range(12):
            f[m] += c * b[m]
        if n.nl > 0:
            internal_frame_force(x.zl[i], x.lams, n.l0, cl, f)
    scales[0], scales[1] = force, torque


@kernel
def _explicit_velocity(nodes, x):
    """w = y0 - M^-1 fl, and the frames of q + w."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        o = 0 if n.nx == 3 else 3
        z0, zt, f = x.z0[i], x.zt[i], x.fl[i]
        for m in range(n.nv):
            x.w[n.v0 + m] = f[o + m]
        solve_mass(n, x.w, x.square)
        for m in range(n.nv):
            x.w[n.v0 + m] = x.y0[n.v0 + m] - x.w[n.v0 + m]
            zt[o + m] = z0[o + m] + x.w[n.v0 + m]


@kernel
def _larger(largest, value):
    """The larger size; not a number wins, once and for all."""
    return largest if abs(value) <= largest or largest != largest else abs(value)


@kernel
def _joint_rows(primitives, x, h):
    """Rows of joints: G(zv) u + h g_t, and g(zp)."""
    nv, r1, r2 = x.v.shape[0], x.r1, x.r2
    length, direction = 0.0, 0.0
    for k in range(primitives.shape[0]):
        p = primitives[k]
        a, b, i = p.a, p.b, nv + p.l0
        primitive_rate(p, x.zv[a], x.zv[b], x.zu[a], x.zu[b], constant(p, x.at_v), r1, i)
        if p.function >= 0:
            first, second = primitive_drive(p, x.zv[a], x.zv[b], x.zu[a], x.zu[b], x.at_v)
            r1[i] += h * first
        primitive_value(p, x.zp[a], x.zp[b], constant(p, x.at_p), r2, i)
        if p.kind == DOT1 or p.kind == ROTATING:
            direction = _larger(_larger(direction, r1[i]), r2[i])
        else:
            for m in range(3 if p.kind == COINCIDENT else 1):
                length = _larger(_larger(length, r1[i + m]), r2[i + m])
    x.largest_length, x.largest_direction = length, direction


@kernel
def _rows(nodes, x, scratch):
    """Dynamic rows and those of internal constraints."""
    nv, explicit, follows, ch = x.v.shape[0], x.explicit, x.follows, x.curvature
    r1, r2, a, b = x.r1, x.r2, scratch[0], scratch[1]
    force1, torque1, force2, torque2, direction = 0.0, 0.0, 0.0, 0.0, x.largest_direction
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        o = 0 if n.nx == 3 else 3
        f1, f2, fl = x.f1[i], x.f2[i], x.fl[i]
        for m in range(o):
            a[m], b[m] = 0.0, 0.0
        for m in range(n.nv):
            u, y = x.u[n.v0 + m], x.y0[n.v0 + m]
            a[o + m] = u - y
            b[o + m] = x.dq[n.v0 + m] - follows * u - (1.0 - follows) * y
        for m in range(n.nv, 12 - o):
            a[o + m], b[o + m] = 0.0, 0.0
        frame_inertia(n, a, f1)
        frame_inertia(n, b, f2)
        if n.nl > 0:
            if ch != 0.0:
                internal_frame_force(x.zh[i], x.gams, n.l0, ch, f1)
            internal_frame_force(x.zt[i], x.gams, n.l0, -1.0, f2)
        for m in range(12):
            f1[m] += fl[m]
            f2[m] += explicit * fl[m]  # M w = M y0 - fl
        for m in range(n.nv):
            r1[n.v0 + m], r2[n.v0 + m] = f1[o + m], f2[o + m]
        if o == 0:
            force1 += f1[0] * f1[0] + f1[1] * f1[1] + f1[2] * f1[2]
            force2 += f2[0] * f2[0] + f2[1] * f2[1] + f2[2] * f2[2]
        if n.nl > 0:
            for m in range(3, 12):
                torque1 += f1[m] * f1[m]
                torque2 += f2[m] * f2[m]
            k = nv + n.l0
            internal_bilinear(n, x.zv[i], x.zu[i], 3, 3, r1, k)
            internal_bilinear(n, x.zp[i], x.zp[i], 3, 3, r2, k)
            for m in range(6):
                r2[k + m] = 0.5 * (r2[k + m] - 1.0) if m < 3 else 0.5 * r2[k + m]
                direction = _larger(_larger(direction, r1[k + m]), r2[k + m])
    x.force_squares_1, x.torque_squares_1, x.force_squares_2, x.torque_squares_2 = force1, torque1, force2, torque2
    x.largest_direction = direction


@kernel
def finish(s, w, x, h):
    """Momenta at the end of the step: y = h M^-1 p1; the buffer has the applied forces."""
    force, gradient, curvature = x.last_force, x.last_gradient, x.last_curvature
    clear_frames(x.f1)
    joint_forces(s.primitives, x.at_e, x.ze, x.lams, gradient, True, w.primitive_rows, x.f1)
    joint_forces(s.primitives, x.at_t, x.zh, x.gams, curvature, False, w.primitive_rows, x.f1)
    if s.flags[FLAG_COUPLED] != 0:
        finish_coupled(s, w, x, h)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        o = 0 if n.nx == 3 else 3
        f = x.f1[i]
        if n.nl > 0:
            internal_frame_force(x.ze[i], x.lams, n.l0, gradient, f)
            internal_frame_force(x.zh[i], x.gams, n.l0, curvature, f)
        for m in range(n.nv):
            x.y[n.v0 + m] = f[o + m] + force * x.buffer[i, o + m]
        if x.flat[i] != 0.0:
            _flat_body(n, x, i, w.scratch)
            continue
        solve_mass(n, x.y, x.square)
        for m in range(n.nv):
            x.y[n.v0 + m] = x.u[n.v0 + m] - x.y[n.v0 + m]


@kernel
def _flat_body(n, x, i, scratch):
    """y of a body whose M is singular, and what it leaves of the momenta; y has their change."""
    o = 0 if n.nx == 3 else 3
    p, rigid = x.excess[i], scratch[5]
    for m in range(12):
        p[m], rigid[m] = 0.0, 0.0
    frame_inertia(n, x.zu[i], p)  # zu has no part of a fixed point
    for m in range(n.nv):
        p[o + m] -= x.y[n.v0 + m]
    rigid_velocity(n, x.z1[i], p, x.square, scratch, rigid)
    for m in range(n.nv):
        x.y[n.v0 + m] = rigid[o + m]
    for m in range(12):
        scratch[0, m] = -rigid[m]
    frame_inertia(n, scratch[0], p)
    for m in range(o):
        p[m] = 0.0
