"""GGL integrators on points and directors, compiled [Kinon, Betsch & Schneider 2023].

Everything is written in increments: Y = h M^-1 p, w = h v, and scaled multipliers lambda' = h^2 lambda,
gamma' = h gamma, so that all blocks of the matrix stay of the size of M and G for h -> 0. F is the gradient of the
potential (minus the applied forces), H[mu] u = sum_k mu_k D^2 g_k u. Unknowns are (dq, lambda') and (w or Y, gamma'),
and for VI-S w besides.

theta methods (76) with D1, D2 = (1-theta) G, theta G at q_theta (VI-A) or (1-vartheta) G(q), vartheta G(q1) (VI-B):
    M dq - M Y0 + h^2 (1-theta) F - G^T gamma' + (1-theta) H[gamma'] w + D1^T lambda' = 0,   g_d = 0
    M w - M dq + G^T gamma' = 0,                                                             G(q_theta) w = 0
    M Y1 = M w - h^2 theta F - theta H[gamma'] w - D2^T lambda'
energy-momentum (84), G at the midpoint, F the discrete gradient:
    M dq - M Y0 - G^T gamma' + (h^2 F + G^T lambda' + H[gamma'](Y0 + Y1)/2)/2 = 0,           g(q1) = 0
    M Y1 + M Y0 - 2 M dq + 2 G^T gamma' = 0,                                                 G(q1) Y1 = 0
symplectic Euler (55), q* = q0 + w:
    M dq - M Y0 + h^2 F(q0) + G(q0)^T lambda' - G(q*)^T gamma' = 0,                          g(q1) = 0
    M Y1 + H[gamma'] Y1 - M dq + G(q*)^T gamma' = 0,                                         G(q*) Y1 = 0
    M w - M dq + G(q*)^T gamma' = 0
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..kernel import kernel
from ..nodes.frames import update_frames
from ..system.evaluate import clear, constraints, jacobian_times
from .discrete_gradients import discrete_force, torque_in_body
from .discrete_tangents import discrete_force_tangent
from .frame_em_nodes import body_torque_tangent, dual_tangent, dual_torque
from .linear_frames import (
    accumulate,
    add_applied,
    add_constraint_force,
    add_mass,
    add_rows,
    applied_blocks,
    clear_frames,
    gradient_blocks,
    hessian_blocks,
    mass_blocks,
    solve_mass,
    vector_frames,
)

THETA, EM, EULER = 0, 1, 2
INTERMEDIATE, TRAPEZOIDAL = 0, 1


class GGLState(NamedTuple):
    """State of the method (first six) and its scratch."""

    q: Any
    v: Any  # M^-1 p
    vd: Any
    lam: Any
    vdm: Any
    lamm: Any
    qn: Any
    qt: Any  # where G of the velocity constraint is taken
    dq: Any
    u: Any  # h v (theta, EULER) or h M^-1 p1 (EM)
    y: Any  # h M^-1 p1
    y0: Any
    mean: Any  # (y0 + y)/2
    lams: Any  # scaled multipliers
    gams: Any
    mu: Any  # scratch multipliers
    mu2: Any
    zero: Any
    z0: Any
    z1: Any
    zt: Any
    zu: Any  # frames of u
    zy: Any  # frames of y, or of mean
    f1: Any  # frame forces of the three equations
    f2: Any
    f3: Any
    buffer: Any
    torque: Any
    mid: Any  # functions of time where forces are evaluated
    square: Any  # (4, 4) scratch


@kernel
def scaled(c, x, out):
    """out = c x."""
    for k in range(x.shape[0]):
        out[k] = c * x[k]


@kernel
def _configure(s, w, x, theta):
    """End and intermediate coordinates with their frames."""
    for k in range(x.q.shape[0]):
        x.qn[k] = x.q[k] + x.dq[k]
        x.qt[k] = x.q[k] + theta * x.dq[k]
    update_frames(s.nodes, x.qn, x.z1, w.spin)
    update_frames(s.nodes, x.qt, x.zt, w.spin)
    vector_frames(s, w, x.u, x.zu)


@kernel
def _velocity_rows(s, w, q, z, u, zu, out):
    """Constraint rows G(q) u of the group of s."""
    for i in range(z.shape[0]):
        for m in range(12):
            w.z[i, m] = z[i, m]
            w.zd[i, m] = zu[i, m]
    jacobian_times(s, w, q, u, out)


@kernel
def _position_rows(s, w, q, z, out):
    for i in range(z.shape[0]):
        for m in range(12):
            w.z[i, m] = z[i, m]
    constraints(s, w, q, out)


# --- theta methods ------------------------------------------------------------------------------------------------


@kernel
def theta_residual(s1, s2, w, x, h, theta, vartheta, option):
    """Equations of VI-A (option INTERMEDIATE) and VI-B (TRAPEZOIDAL)."""
    _configure(s1, w, x, theta)
    clear(w.x)
    clear_frames(x.f1)
    clear_frames(x.f2)
    scaled(1.0 / h, x.u, x.mean)
    vector_frames(s1, w, x.mean, x.zy)
    add_applied(s1, w, x.zt, x.zy, x.mid, h * h * (1.0 - theta), x.buffer, x.f1)
    add_mass(s1, w, x.dq, 1.0, x.f1)
    add_mass(s1, w, x.y0, -1.0, x.f1)
    scaled(-1.0, x.gams, x.mu)
    add_constraint_force(s1, w, x.zt, x.qt, x.mu, True, x.f1, w.x)
    scaled(1.0 - theta, x.gams, x.mu)
    add_constraint_force(s1, w, x.zu, x.u, x.mu, False, x.f1, w.x)
    if option == INTERMEDIATE:
        scaled(1.0 - theta, x.lams, x.mu)
        add_constraint_force(s1, w, x.zt, x.qt, x.mu, True, x.f1, w.x)
    else:
        scaled(1.0 - vartheta, x.lams, x.mu)
        add_constraint_force(s1, w, x.z0, x.q, x.mu, True, x.f1, w.x)
    add_mass(s2, w, x.u, 1.0, x.f2)
    add_mass(s2, w, x.dq, -1.0, x.f2)
    add_constraint_force(s2, w, x.zt, x.qt, x.gams, True, x.f2, w.x)
    add_rows(s1, x.f1, w.x)
    add_rows(s2, x.f2, w.x)
    if option == INTERMEDIATE:
        _position_rows(s1, w, x.qt, x.zt, w.x)
    else:
        _position_rows(s1, w, x.qn, x.z1, w.x)
    _velocity_rows(s2, w, x.qt, x.zt, x.u, x.zu, w.x)


@kernel
def theta_matrix(s11, s12, s21, s22, w, x, h, theta, vartheta, option):
    """Its derivative."""
    m = w.matrix
    clear(m)
    c = 1.0 - theta
    mass_blocks(s11, w, x.q, 1.0, m)
    applied_blocks(s11, w, x.zt, x.zy, x.qt, x.mean, x.mid, 0.0, h * h * c * theta, m)
    scaled(-theta, x.gams, x.mu)
    if option == INTERMEDIATE:
        for k in range(x.mu.shape[0]):
            x.mu[k] += c * theta * x.lams[k]
        gradient_blocks(s11, w, x.zt, x.qt, True, theta, c, m)
    else:
        gradient_blocks(s11, w, x.z1, x.qn, True, 1.0, 0.0, m)
        gradient_blocks(s11, w, x.z0, x.q, True, 0.0, 1.0 - vartheta, m)
    hessian_blocks(s11, w, x.q, x.mu, 1.0, m)
    if c != 0.0:
        hessian_blocks(s12, w, x.q, x.gams, c, m)
        applied_blocks(s12, w, x.zt, x.zy, x.qt, x.mean, x.mid, h * c, 0.0, m)
        gradient_blocks(s12, w, x.zu, x.u, False, 0.0, c, m)
    gradient_blocks(s12, w, x.zt, x.qt, True, 0.0, -1.0, m)
    mass_blocks(s21, w, x.q, -1.0, m)
    hessian_blocks(s21, w, x.q, x.gams, theta, m)
    gradient_blocks(s21, w, x.zu, x.u, False, theta, 0.0, m)
    mass_blocks(s22, w, x.q, 1.0, m)
    gradient_blocks(s22, w, x.zt, x.qt, True, 1.0, 1.0, m)


@kernel
def theta_finish(s, w, x, h, theta, vartheta, option):
    """Momenta at the end of the step: y = h M^-1 p1."""
    clear(w.x)
    clear_frames(x.f1)
    add_applied(s, w, x.zt, x.zy, x.mid, -h * h * theta, x.buffer, x.f1)
    scaled(-theta, x.gams, x.mu)
    add_constraint_force(s, w, x.zu, x.u, x.mu, False, x.f1, w.x)
    if option == INTERMEDIATE:
        scaled(-theta, x.lams, x.mu)
        add_constraint_force(s, w, x.zt, x.qt, x.mu, True, x.f1, w.x)
    else:
        scaled(-vartheta, x.lams, x.mu)
        add_constraint_force(s, w, x.z1, x.qn, x.mu, True, x.f1, w.x)
    add_rows(s, x.f1, w.x)
    for k in range(x.y.shape[0]):
        x.y[k] = w.x[s.xv[k]]
    for i in range(1, s.nodes.shape[0]):
        solve_mass(s.nodes[i], x.y, x.square)
    for k in range(x.y.shape[0]):
        x.y[k] += x.u[k]


# --- energy-momentum ----------------------------------------------------------------------------------------------


@kernel
def em_residual(s1, s2, w, x, h):
    """Equations of the energy-momentum scheme; x.u is h M^-1 p1."""
    _configure(s1, w, x, 0.5)
    clear(w.x)
    clear_frames(x.f1)
    clear_frames(x.f2)
    for i in range(s1.nodes.shape[0]):
        n = s1.nodes[i]
        for k in range(4):
            c = -(n.mass if k == 0 else (n.s1 if k == 1 else (n.s2 if k == 2 else n.s3)))
            for j in range(3):
                x.buffer[i, 3 * k + j] = c * s1.gravity[j]
        for j in range(3):
            x.torque[i, j] = 0.0
    for k in range(s1.forces.shape[0]):
        e = s1.forces[k]
        a, b = e.a, e.b
        discrete_force(
            e, x.z0[a], x.z0[b], x.z1[a], x.z1[b], x.zt[a], x.zt[b], h, x.mid, w.turns, x.buffer[a], x.buffer[b],
            x.torque[b],
        )  # fmt: skip
    for i in range(1, s1.nodes.shape[0]):
        if s1.nodes[i].nv > 3:
            dual_torque(x.zt[i], x.torque[i], x.buffer[i])
    accumulate(s1, w, 0.5 * h * h, x.buffer, x.f1)
    for k in range(x.u.shape[0]):
        x.mean[k] = 0.5 * (x.y0[k] + x.u[k])
    vector_frames(s1, w, x.mean, x.zy)
    add_mass(s1, w, x.dq, 1.0, x.f1)
    add_mass(s1, w, x.y0, -1.0, x.f1)
    for k in range(x.lams.shape[0]):
        x.mu[k] = 0.5 * x.lams[k] - x.gams[k]
        x.mu2[k] = 0.5 * x.gams[k]
    add_constraint_force(s1, w, x.zt, x.qt, x.mu, True, x.f1, w.x)
    add_constraint_force(s1, w, x.zy, x.mean, x.mu2, False, x.f1, w.x)
    add_mass(s2, w, x.u, 1.0, x.f2)
    add_mass(s2, w, x.y0, 1.0, x.f2)
    add_mass(s2, w, x.dq, -2.0, x.f2)
    scaled(2.0, x.gams, x.mu2)
    add_constraint_force(s2, w, x.zt, x.qt, x.mu2, True, x.f2, w.x)
    add_rows(s1, x.f1, w.x)
    add_rows(s2, x.f2, w.x)
    _position_rows(s1, w, x.qn, x.z1, w.x)
    _velocity_rows(s2, w, x.qn, x.z1, x.u, x.zu, w.x)


@kernel
def em_matrix(s11, s12, s21, s22, w, x, h):
    """Its derivative."""
    m = w.matrix
    clear(m)
    mass_blocks(s11, w, x.q, 1.0, m)
    ck = 0.5 * h * h
    for k in range(s11.forces.shape[0]):
        e = s11.forces[k]
        a, b = e.a, e.b
        discrete_force_tangent(
            e, s11.nodes[a], s11.nodes[b], x.qt, x.qn, x.zt[a], x.zt[b], x.z0[a], x.z0[b], x.z1[a], x.z1[b], x.zt[a],
            x.zt[b], h, x.mid, w.turns, ck, w.jac, m,
        )  # fmt: skip
        if torque_in_body(e):
            body_torque_tangent(e, s11.nodes[b], x.qn, x.z1[b], x.zt[b], x.mid, ck, w.jac, m)
    for i in range(1, s11.nodes.shape[0]):
        if s11.nodes[i].nv > 3:
            dual_tangent(s11.nodes[i], x.zt[i], x.torque[i], ck, m, w.small)
    for k in range(x.lams.shape[0]):
        x.mu[k] = 0.5 * x.lams[k] - x.gams[k]
    hessian_blocks(s11, w, x.q, x.mu, 0.5, m)
    gradient_blocks(s11, w, x.z1, x.qn, True, 1.0, 0.0, m)
    gradient_blocks(s11, w, x.zt, x.qt, True, 0.0, 0.5, m)
    hessian_blocks(s12, w, x.q, x.gams, 0.25, m)
    gradient_blocks(s12, w, x.zt, x.qt, True, 0.0, -1.0, m)
    gradient_blocks(s12, w, x.zy, x.mean, False, 0.0, 0.5, m)
    mass_blocks(s21, w, x.q, -2.0, m)
    hessian_blocks(s21, w, x.q, x.gams, 1.0, m)
    gradient_blocks(s21, w, x.zu, x.u, False, 1.0, 0.0, m)
    mass_blocks(s22, w, x.q, 1.0, m)
    gradient_blocks(s22, w, x.zt, x.qt, True, 0.0, 2.0, m)
    gradient_blocks(s22, w, x.z1, x.qn, True, 1.0, 0.0, m)


# --- symplectic Euler ---------------------------------------------------------------------------------------------


@kernel
def euler_residual(s1, s2, s3, w, x, h):
    """Equations of VI-S; x.u = h v, x.y = h M^-1 p1; the second group has no multipliers."""
    _configure(s1, w, x, 0.0)
    for k in range(x.q.shape[0]):
        x.qt[k] = x.q[k] + x.u[k]
    update_frames(s1.nodes, x.qt, x.zt, w.spin)
    vector_frames(s1, w, x.y, x.zy)
    clear(w.x)
    clear_frames(x.f1)
    clear_frames(x.f2)
    clear_frames(x.f3)
    vector_frames(s1, w, x.v, x.zu)
    add_applied(s1, w, x.z0, x.zu, x.mid, h * h, x.buffer, x.f1)
    add_mass(s1, w, x.dq, 1.0, x.f1)
    add_mass(s1, w, x.y0, -1.0, x.f1)
    add_constraint_force(s1, w, x.z0, x.q, x.lams, True, x.f1, w.x)
    scaled(-1.0, x.gams, x.mu)
    add_constraint_force(s1, w, x.zt, x.qt, x.mu, True, x.f1, w.x)
    add_mass(s2, w, x.y, 1.0, x.f2)
    add_mass(s2, w, x.dq, -1.0, x.f2)
    add_constraint_force(s2, w, x.zy, x.y, x.gams, False, x.f2, w.x)
    add_constraint_force(s2, w, x.zt, x.qt, x.gams, True, x.f2, w.x)
    add_mass(s3, w, x.u, 1.0, x.f3)
    add_mass(s3, w, x.dq, -1.0, x.f3)
    add_constraint_force(s3, w, x.zt, x.qt, x.gams, True, x.f3, w.x)
    add_rows(s1, x.f1, w.x)
    add_rows(s2, x.f2, w.x)
    add_rows(s3, x.f3, w.x)
    _position_rows(s1, w, x.qn, x.z1, w.x)
    _velocity_rows(s2, w, x.qt, x.zt, x.y, x.zy, w.x)


@kernel
def euler_matrix(s11, s12, s13, s21, s22, s23, s31, s32, s33, w, x):
    """Its derivative."""
    m = w.matrix
    clear(m)
    mass_blocks(s11, w, x.q, 1.0, m)
    gradient_blocks(s11, w, x.z1, x.qn, True, 1.0, 0.0, m)
    gradient_blocks(s11, w, x.z0, x.q, True, 0.0, 1.0, m)
    gradient_blocks(s12, w, x.zt, x.qt, True, 0.0, -1.0, m)
    hessian_blocks(s13, w, x.q, x.gams, -1.0, m)
    mass_blocks(s21, w, x.q, -1.0, m)
    mass_blocks(s22, w, x.q, 1.0, m)
    hessian_blocks(s22, w, x.q, x.gams, 1.0, m)
    gradient_blocks(s22, w, x.zt, x.qt, True, 1.0, 1.0, m)
    gradient_blocks(s22, w, x.zy, x.y, False, 0.0, 1.0, m)
    hessian_blocks(s23, w, x.q, x.gams, 1.0, m)
    gradient_blocks(s23, w, x.zy, x.y, False, 1.0, 0.0, m)
    mass_blocks(s31, w, x.q, -1.0, m)
    gradient_blocks(s32, w, x.zt, x.qt, True, 0.0, 1.0, m)
    mass_blocks(s33, w, x.q, 1.0, m)
    hessian_blocks(s33, w, x.q, x.gams, 1.0, m)
    last = s33.diagonal.shape[0] - x.lams.shape[0]
    for k in range(x.lams.shape[0]):
        m[s33.diagonal[last + k]] = 1.0
