"""GGL integrators on points and directors, compiled [Kinon, Betsch & Schneider 2023].

Everything is written in increments: Y = h M^-1 p, w = h v, and scaled multipliers lambda' = h^2 lambda,
gamma' = h gamma, so that all blocks of the matrix stay of the size of M and G for h -> 0. F is the gradient of the
potential (minus the applied forces), H[mu] u = sum_k mu_k D^2 g_k u.

The published equations are combined such that they come in two groups that hardly know of each other: lambda' makes a
velocity meet the velocity constraints, gamma' makes the increment, which is that velocity but for a small projection,
meet the position constraints. Group 1 has the unknowns (u, lambda'), group 2 (dq, gamma').

theta methods (76) with D1, D2 = (1-theta) G, theta G at q_theta (VI-A) or (1-vartheta) G(q), vartheta G(q1) (VI-B), u = w:
    M w - M Y0 + h^2 (1-theta) F + (1-theta) H[gamma'] w + D1^T lambda' = 0,    G(q_theta) w = 0
    M dq - M w - G(q_theta)^T gamma' = 0,                                       g_d = 0
    M Y1 = M w - h^2 theta F - theta H[gamma'] w - D2^T lambda'
energy-momentum (84), G at the midpoint unless said, F the discrete gradient, u = Y1:
    M Y1 - M Y0 + h^2 F + G^T lambda' + H[gamma'] (Y0 + Y1)/2 = 0,              G(q1) Y1 = 0
    M dq - M (Y0 + Y1)/2 - G^T gamma' = 0,                                      g(q1) = 0
symplectic Euler (55), q* = q0 + w, u = Y1; w follows from lambda' and has a third group in the matrix only:
    M Y1 + H[gamma'] Y1 - M Y0 + h^2 F(q0) + G(q0)^T lambda' = 0,               G(q*) Y1 = 0
    M dq - M w - G(q*)^T gamma' = 0,                                            g(q1) = 0
    M w = M Y0 - h^2 F(q0) - G(q0)^T lambda'
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..kernel import kernel
from ..packed import declare_arrays
from ..system.evaluate import clear, copy
from .linear_frames import (
    add_applied,
    add_constraint_force,
    add_rows,
    applied_blocks,
    gradient_blocks,
    hessian_blocks,
    mass_blocks,
    mass_times,
    position_rows,
    solve_mass,
    vector_frames,
    velocity_rows,
)

THETA, EM, EULER = 0, 1, 2
INTERMEDIATE, TRAPEZOIDAL = 0, 1
ACCELERATED, UNIFORM, AT_REST = 0, 1, 2  # first guesses, tried in this order
GUESSES = 3
PAST = 6  # steps from which the first guess is extrapolated


class GGLState(NamedTuple):
    """State of the method (first ten) and its scratch."""

    place: Any  # address of the packed form of this record
    q: Any
    v: Any  # M^-1 p
    vd: Any
    lam: Any
    vdm: Any
    lamm: Any
    past_u: Any  # (PAST, ...) of the last steps: u - y0,
    past_d: Any  # dq minus what it would be without gamma',
    past_l: Any  # lambda',
    past_g: Any  # gamma'
    weights: Any  # (PAST + 1, PAST) with which they are extrapolated, after so many steps
    qn: Any
    qt: Any  # where G of the velocity constraint is taken
    dq: Any
    u: Any  # velocity of the first group
    w: Any  # h v (EULER)
    y: Any  # h M^-1 p1
    y0: Any
    mean: Any  # (y0 + y)/2
    r1: Any  # residuals of the two groups: dynamic rows, then constraints
    r2: Any
    lams: Any  # scaled multipliers
    gams: Any
    mu: Any  # scratch multipliers
    zero: Any
    z0: Any
    z1: Any
    zt: Any
    zu: Any  # frames of u
    zy: Any  # frames of the velocity that forces see, or of (y0 + y)/2 (EM)
    f1: Any  # frame forces of the two equations
    f2: Any
    buffer: Any
    torque: Any
    begin: Any  # functions of time at the start of the step,
    mid: Any  # where forces are evaluated,
    end: Any  # and at the end
    times: Any  # the same three times
    square: Any  # (4, 4) scratch


TABLES = ("weights", "past_u", "past_d", "past_l", "past_g", "z0", "z1", "zt", "zu", "zy", "f1", "f2", "buffer", "torque", "square")
STATE = declare_arrays(GGLState, tables=TABLES)


@kernel
def scaled(c, x, out):
    """out = c x."""
    for k in range(x.shape[0]):
        out[k] = c * x[k]


@kernel
def configure(nodes, x, theta):
    """End and intermediate coordinates with their frames, and the frames of u."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        z0, z1, zt, zu = x.z0[i], x.z1[i], x.zt[i], x.zu[i]
        o, q, v = (0 if n.nx == 3 else 3), n.q0, n.v0
        for m in range(n.nv):
            d = x.dq[v + m]
            x.qn[q + m] = x.q[q + m] + d
            x.qt[q + m] = x.q[q + m] + theta * d
            z1[o + m] = z0[o + m] + d
            zt[o + m] = z0[o + m] + theta * d
            zu[o + m] = x.u[v + m]


# --- theta methods ------------------------------------------------------------------------------------------------


@kernel
def theta_residual(s, w, x, h, theta, vartheta, option):
    """Equations of VI-A (option INTERMEDIATE) and VI-B (TRAPEZOIDAL)."""
    nv, c = x.v.shape[0], 1.0 - theta
    configure(s.nodes, x, theta)
    clear(x.r1)
    clear(x.r2)
    scaled(1.0 / h, x.u, x.mean)
    vector_frames(s.nodes, x.mean, x.zy)
    copy(x.mid, w.values)
    mass_times(s.nodes, x.u, 1.0, x.y0, w.small, x.f1)
    add_applied(s, w, x.zt, x.zy, x.mid, x.times[1], x.zero, h * h * c, x.buffer, x.f1)
    if c != 0.0:
        scaled(c, x.gams, x.mu)
        add_constraint_force(s, w, x.zu, x.u, x.mu, False, x.f1, x.r1)
    if option == INTERMEDIATE:
        scaled(c, x.lams, x.mu)
        add_constraint_force(s, w, x.zt, x.qt, x.mu, True, x.f1, x.r1)
    else:
        scaled(1.0 - vartheta, x.lams, x.mu)
        copy(x.begin, w.values)
        add_constraint_force(s, w, x.z0, x.q, x.mu, True, x.f1, x.r1)
        copy(x.mid, w.values)
    add_rows(s.nodes, x.f1, x.r1)
    velocity_rows(s.nodes, s.primitives, w.values, x.qt, x.zt, x.u, x.zu, h, nv, x.r1)
    mass_times(s.nodes, x.dq, 1.0, x.u, w.small, x.f2)
    scaled(-1.0, x.gams, x.mu)
    add_constraint_force(s, w, x.zt, x.qt, x.mu, True, x.f2, x.r2)
    add_rows(s.nodes, x.f2, x.r2)
    if option == INTERMEDIATE:
        position_rows(s.nodes, s.primitives, w.values, x.qt, x.zt, nv, x.r2)
    else:
        position_rows(s.nodes, s.primitives, x.end, x.qn, x.z1, nv, x.r2)


@kernel
def theta_matrix(s11, s12, s21, s22, w, x, h, theta, vartheta, option):
    """Its derivative."""
    m = w.matrix
    clear(m)
    c = 1.0 - theta
    mass_blocks(s11, w, x.q, 1.0, m)
    if c != 0.0:
        hessian_blocks(s11, w, x.q, x.gams, c, m)
        applied_blocks(s11, w, x.zt, x.zy, x.qt, x.mean, x.mid, x.times[1], x.zero, h * c, 0.0, m)
        applied_blocks(s12, w, x.zt, x.zy, x.qt, x.mean, x.mid, x.times[1], x.zero, 0.0, h * h * c * theta, m)
    if option == INTERMEDIATE:
        gradient_blocks(s11, w, x.zt, x.qt, True, 1.0, c, m)
        hessian_blocks(s12, w, x.q, x.lams, c * theta, m)
        gradient_blocks(s22, w, x.zt, x.qt, True, theta, -1.0, m)
    else:
        copy(x.begin, w.values)
        gradient_blocks(s11, w, x.z0, x.q, True, 0.0, 1.0 - vartheta, m)
        copy(x.mid, w.values)
        gradient_blocks(s11, w, x.zt, x.qt, True, 1.0, 0.0, m)
        gradient_blocks(s22, w, x.zt, x.qt, True, 0.0, -1.0, m)
        copy(x.end, w.values)
        gradient_blocks(s22, w, x.z1, x.qn, True, 1.0, 0.0, m)
        copy(x.mid, w.values)
    gradient_blocks(s12, w, x.zu, x.u, False, theta, c, m)
    mass_blocks(s21, w, x.q, -1.0, m)
    mass_blocks(s22, w, x.q, 1.0, m)
    hessian_blocks(s22, w, x.q, x.gams, -theta, m)


@kernel
def theta_finish(s, w, x, h, theta, vartheta, option):
    """Momenta at the end of the step: y = h M^-1 p1; x.buffer has the forces of the last residual."""
    clear(x.r1)
    for i in range(1, s.nodes.shape[0]):
        for m in range(12):
            x.f1[i, m] = -h * h * theta * x.buffer[i, m]
    scaled(-theta, x.gams, x.mu)
    copy(x.mid, w.values)
    add_constraint_force(s, w, x.zu, x.u, x.mu, False, x.f1, x.r1)
    if option == INTERMEDIATE:
        scaled(-theta, x.lams, x.mu)
        add_constraint_force(s, w, x.zt, x.qt, x.mu, True, x.f1, x.r1)
    else:
        scaled(-vartheta, x.lams, x.mu)
        copy(x.end, w.values)
        add_constraint_force(s, w, x.z1, x.qn, x.mu, True, x.f1, x.r1)
    add_rows(s.nodes, x.f1, x.r1)
    solve_masses(s.nodes, x.r1, x.square)
    for k in range(x.y.shape[0]):
        x.y[k] = x.u[k] + x.r1[k]


@kernel
def solve_masses(nodes, u, square):
    """u := M^-1 u."""
    for i in range(1, nodes.shape[0]):
        solve_mass(nodes[i], u, square)
