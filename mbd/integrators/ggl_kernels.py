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

from ..joints.primitives import primitive_drive
from ..kernel import kernel
from ..nodes.frames import update_frames
from ..packed import declare_arrays
from ..system.evaluate import clear, constraints, copy, jacobian_times
from .linear_frames import (
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
ACCELERATED, UNIFORM, AT_REST = 0, 1, 2  # first guesses, tried in this order
GUESSES = 3


class GGLState(NamedTuple):
    """State of the method (first six) and its scratch."""

    place: Any  # address of the packed form of this record
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
    begin: Any  # functions of time at the start of the step,
    mid: Any  # where forces are evaluated,
    end: Any  # and at the end
    times: Any  # the same three times
    square: Any  # (4, 4) scratch


STATE = declare_arrays(GGLState, tables=("z0", "z1", "zt", "zu", "zy", "f1", "f2", "f3", "buffer", "torque", "square"))


@kernel
def scaled(c, x, out):
    """out = c x."""
    for k in range(x.shape[0]):
        out[k] = c * x[k]


@kernel
def configure(s, w, x, theta):
    """End and intermediate coordinates with their frames."""
    for k in range(x.q.shape[0]):
        x.qn[k] = x.q[k] + x.dq[k]
        x.qt[k] = x.q[k] + theta * x.dq[k]
    update_frames(s.nodes, x.qn, x.z1, w.spin)
    update_frames(s.nodes, x.qt, x.zt, w.spin)
    vector_frames(s, w, x.u, x.zu)


@kernel
def velocity_rows(s, w, q, z, u, zu, h, out):
    """Constraint rows G(q) u + h g_t of the group of s, for u = h v; w.values belong to the time of q."""
    for i in range(z.shape[0]):
        for m in range(12):
            w.z[i, m] = z[i, m]
            w.zd[i, m] = zu[i, m]
    jacobian_times(s, w, q, u, out)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        if p.function >= 0:
            first, second = primitive_drive(p, z[p.a], z[p.b], zu[p.a], zu[p.b], w.values)
            out[p.x0] += h * first


@kernel
def position_rows(s, w, q, z, out):
    """Constraint rows g(q) of the group of s."""
    for i in range(z.shape[0]):
        for m in range(12):
            w.z[i, m] = z[i, m]
    constraints(s, w, q, out)


# --- theta methods ------------------------------------------------------------------------------------------------


@kernel
def theta_residual(s1, s2, w, x, h, theta, vartheta, option):
    """Equations of VI-A (option INTERMEDIATE) and VI-B (TRAPEZOIDAL)."""
    configure(s1, w, x, theta)
    clear(w.x)
    clear_frames(x.f1)
    clear_frames(x.f2)
    scaled(1.0 / h, x.u, x.mean)
    vector_frames(s1, w, x.mean, x.zy)
    copy(x.mid, w.values)
    add_applied(s1, w, x.zt, x.zy, x.mid, x.times[1], x.zero, h * h * (1.0 - theta), x.buffer, x.f1)
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
        copy(x.begin, w.values)
        add_constraint_force(s1, w, x.z0, x.q, x.mu, True, x.f1, w.x)
        copy(x.mid, w.values)
    add_mass(s2, w, x.u, 1.0, x.f2)
    add_mass(s2, w, x.dq, -1.0, x.f2)
    add_constraint_force(s2, w, x.zt, x.qt, x.gams, True, x.f2, w.x)
    add_rows(s1.nodes, x.f1, w.x)
    add_rows(s2.nodes, x.f2, w.x)
    velocity_rows(s2, w, x.qt, x.zt, x.u, x.zu, h, w.x)
    if option == INTERMEDIATE:
        position_rows(s1, w, x.qt, x.zt, w.x)
    else:
        copy(x.end, w.values)
        position_rows(s1, w, x.qn, x.z1, w.x)
        copy(x.mid, w.values)


@kernel
def theta_matrix(s11, s12, s21, s22, w, x, h, theta, vartheta, option):
    """Its derivative."""
    m = w.matrix
    clear(m)
    c = 1.0 - theta
    mass_blocks(s11, w, x.q, 1.0, m)
    applied_blocks(s11, w, x.zt, x.zy, x.qt, x.mean, x.mid, x.times[1], x.zero, 0.0, h * h * c * theta, m)
    scaled(-theta, x.gams, x.mu)
    if option == INTERMEDIATE:
        for k in range(x.mu.shape[0]):
            x.mu[k] += c * theta * x.lams[k]
        gradient_blocks(s11, w, x.zt, x.qt, True, theta, c, m)
    else:
        copy(x.end, w.values)
        gradient_blocks(s11, w, x.z1, x.qn, True, 1.0, 0.0, m)
        copy(x.begin, w.values)
        gradient_blocks(s11, w, x.z0, x.q, True, 0.0, 1.0 - vartheta, m)
        copy(x.mid, w.values)
    hessian_blocks(s11, w, x.q, x.mu, 1.0, m)
    if c != 0.0:
        hessian_blocks(s12, w, x.q, x.gams, c, m)
        applied_blocks(s12, w, x.zt, x.zy, x.qt, x.mean, x.mid, x.times[1], x.zero, h * c, 0.0, m)
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
    add_applied(s, w, x.zt, x.zy, x.mid, x.times[1], x.zero, -h * h * theta, x.buffer, x.f1)
    scaled(-theta, x.gams, x.mu)
    add_constraint_force(s, w, x.zu, x.u, x.mu, False, x.f1, w.x)
    if option == INTERMEDIATE:
        scaled(-theta, x.lams, x.mu)
        add_constraint_force(s, w, x.zt, x.qt, x.mu, True, x.f1, w.x)
    else:
        scaled(-vartheta, x.lams, x.mu)
        copy(x.end, w.values)
        add_constraint_force(s, w, x.z1, x.qn, x.mu, True, x.f1, w.x)
    add_rows(s.nodes, x.f1, w.x)
    for k in range(x.y.shape[0]):
        x.y[k] = w.x[s.xv[k]]
    for i in range(1, s.nodes.shape[0]):
        solve_mass(s.nodes[i], x.y, x.square)
    for k in range(x.y.shape[0]):
        x.y[k] += x.u[k]
