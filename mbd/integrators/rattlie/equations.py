"""Equations of RATTLie, compiled: RATTLE on Lie nodes and points.

With dq = (dr, x), q1 = q0 o exp(dq), scaled by h, lambda' = (h^2/2) lambda and V = h v; F are the forces with the sign
of the residual, M v the momenta, of which P0 and P1 are what the step makes of them (``nodes.step.exponential``):

    P0(dq) - h M v0 + h^2/2 F(q0, v0) + B(q0)^T lambda+' = 0,   g(q1) = 0                     (positions)
    M V1 - P1(dq) + h^2/2 F(q1, v1) + B(q1)^T lambda-' = 0,     B(q1) V1 + h g_t = 0          (velocities)

[Hante & Arnold 2021, J. Comput. Appl. Math. 387]. The first one is Newton's method with constraint forces (columns) at
the start and constraints (rows) at the end of the step; the second one is linear where forces do not depend on
velocities, and a fixed-point iteration in their dependence elsewhere.

Generalized coordinates with a constant mass matrix take the same steps, with exp(dq) = 1 + dq.

Rolling: rows that restrict velocities are met by the velocity dq/h of the step, on average of both ends, and by the
second equation; reactions act at the ends. That is the discrete Lagrange-d'Alembert principle [Cortes & Martinez 2001,
Nonlinearity 14, 1365] with a symmetric rule for the constraint, which is exact where a wheel rolls straight on.
"""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import integer, integers, matrix, real, vector
from ...compiled.record import Record
from ...joints.instant import primitive_force
from ...joints.over_step import primitive_blocks_over_step
from ...math.arrays import clear, clear_frames, copy, copy_frames
from ...nodes.frames import has_frame
from ...nodes.generalized import gradient_block, mass_block
from ...nodes.step.exponential import end_equation, start_block, start_equation
from ...system.couplings import coupling_reactions
from ...system.element_forces import constant
from ...system.instant import all_frame_forces, constraint_rates, constraints, velocities
from ...system.instant_elements import GENERALIZED_FORCES, has_generalized, one_generalized
from ...system.over_step import blocks_over_step, slip_rows_between
from ...system.tables import FLAG_COUPLED, Tables, Work

PAST = 4  # steps from which first guesses are extrapolated


class RattlieState(Record):
    """State of the method (first eight) and its scratch."""

    q = vector
    v = vector
    vd = vector  # mean acceleration of the last step, at the start that of the equations of motion
    lam = vector  # lambda+ of the last step, at the start that of the equations of motion
    past_d = matrix  # (PAST, ...) of the last steps: dq - h v0,
    past_l = matrix  # lambda+',
    past_v = matrix  # h (v1 - v0)
    past_m = matrix  # and lambda-'
    weights = matrix  # with which they are extrapolated (``past``),
    sources = integers  # the stages
    back = integers  # and rounds where they are
    dq = vector
    lams = vector  # lambda+'
    u = vector  # V1
    mus = vector  # lambda-'
    qn = vector
    vn = vector
    vdn = vector
    lamn = vector
    y = vector
    zero = vector
    z0 = matrix
    z1 = matrix
    force = matrix  # (nodes, 12) applied forces at the start
    f = matrix  # (nodes, 12) h^2/2 times all forces
    at_start = vector  # functions of time
    at_end = vector
    times = vector
    shown_mu = vector  # lambda- of the last step
    part = integer  # stage of a composition,
    rounds = integer  # and whole steps of it


def _is_coupled(s: Tables) -> bool:
    return bool(s.flags[FLAG_COUPLED])


def _rolls(s: Tables) -> bool:
    return len(s.nonholonomic) > 0


@entry(Tables, Work, RattlieState, integer, integer, real, when=has_generalized)
def _generalized_rows(s, w, x, i, end, h):
    """Equations of generalized coordinates at the start or the end of a step into w.x: h^2/2 times those of motion,
    with accelerations from the velocity there to that of the step, or back."""
    n, c = s.nodes[i], 0.5 * h * h
    for k in range(n.v0, n.v0 + n.nv):
        x.vdn[k] = (x.u[k] - x.dq[k] if end != 0 else x.dq[k] - h * x.v[k]) / c
    for k in range(n.l0, n.l0 + n.nl):
        x.lamn[k] = (x.mus[k] if end != 0 else x.lams[k]) / c
    w.time[0] = x.times[end]
    if end != 0:
        one_generalized(s, w, i, x.qn, x.vn, x.vdn, x.lamn, w.x, GENERALIZED_FORCES)
    else:
        one_generalized(s, w, i, x.q, x.v, x.vdn, x.lamn, w.x, GENERALIZED_FORCES)
    w.time[0] = x.times[1]
    for k in range(n.x0, n.x0 + n.nv):
        w.x[k] *= c


@entry(Tables, Work, RattlieState, integer, when=has_generalized)
def _generalized_block(s, w, x, i):
    """Diagonal block of generalized coordinates: constraint forces of the start, constraints of the end."""
    n = s.nodes[i]
    mass_block(n, x.q[n.q0 :], s.functions, s.constants, w.user, w.buffers[0], 1.0, w.matrix)
    gradient_block(n, x.q[n.q0 :], s.functions, w.user, 0.0, 1.0, w.matrix)
    gradient_block(n, x.qn[n.q0 :], s.functions, w.user, 1.0, 0.0, w.matrix)


@entry(Tables, Work, RattlieState, when=_is_coupled)
def start_reactions(s, w, x):
    """x.f += frame forces of the multipliers of couplings and general constraints at the start of the step."""
    copy_frames(w.z, x.z1)
    copy_frames(x.z0, w.z)
    copy(x.at_start, w.values)
    w.time[0] = x.times[0]
    clear_frames(w.f)
    coupling_reactions(s, w, x.lams)
    for i in range(x.f.shape[0]):
        for m in range(12):
            x.f[i, m] += w.f[i, m]
    _end_values(w, x)
    copy_frames(x.z1, w.z)


@kernel
def _end_values(w, x):
    copy(x.at_end, w.values)
    w.time[0] = x.times[1]


@entry(Tables, Work, RattlieState, real)
def position_equations(s, w, x, h):
    """Equations of the positions at the iterate (frames are those of its end) into w.x."""
    c = 0.5 * h * h
    for i in range(x.f.shape[0]):
        for m in range(12):
            x.f[i, m] = c * x.force[i, m]
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        primitive_force(p, x.z0[a], x.z0[b], constant(p, x.at_start), x.lams, p.l0, x.f[a], x.f[b])
    if s.flags[FLAG_COUPLED] != 0:
        start_reactions(s, w, x)
    for i in range(1, s.nodes.shape[0]):
        if not has_frame(s.nodes[i]):
            _generalized_rows(s, w, x, i, 0, h)
            continue
        start_equation(s.nodes[i], x.dq, x.v, x.z0[i], w.z[i], x.f[i], h, w.rotation, w.x)
    constraints(s, w, x.qn, w.x)
    if s.nonholonomic.shape[0] > 0:
        _slips(s, w, x, h)


@entry(Tables, Work, RattlieState, real, when=_rolls)
def _slips(s, w, x, h):
    """How far the step slips, into w.x: rows for velocities with dq/h, half of them at either end."""
    for k in range(x.v.shape[0]):
        x.vn[k] = x.dq[k] / h
    copy_frames(w.z, x.z1)
    copy_frames(x.z0, w.z)
    _add_slips(s, w, x.q, x.vn, 0.5 * h)
    copy_frames(x.z1, w.z)
    _add_slips(s, w, x.qn, x.vn, 0.5 * h)


@kernel
def _add_slips(s, w, q, v, c):
    velocities(s, w, q, v)
    constraint_rates(s, w, q, v, w.g)
    for k in range(s.nonholonomic.shape[0]):
        j = s.xl[s.nonholonomic[k]]
        w.x[j] += c * w.g[j]  # nothing was said about positions


@entry(Tables, Work, RattlieState, real)
def velocity_equations(s, w, x, h):
    """Equations of the velocities at the iterate into w.x."""
    c = 0.5 * h * h
    for k in range(x.v.shape[0]):
        x.vn[k] = x.u[k] / h
    for k in range(x.lamn.shape[0]):
        x.lamn[k] = x.mus[k] / c
    velocities(s, w, x.qn, x.vn)
    all_frame_forces(s, w, x.lamn)
    constraint_rates(s, w, x.qn, x.vn, w.x)
    for k in range(s.xl.shape[0]):
        w.x[s.xl[k]] *= h
    for i in range(1, s.nodes.shape[0]):
        if not has_frame(s.nodes[i]):
            _generalized_rows(s, w, x, i, 1, h)
            continue
        for m in range(12):
            x.f[i, m] = c * w.f[i, m]
        end_equation(s.nodes[i], x.dq, x.u, x.z0[i], w.z[i], x.f[i], w.rotation, w.x)


@entry(Tables, Work, RattlieState, real)
def position_matrix(s, w, x, h):
    """Matrix of the positions: columns of constraint forces at the start, all else along motions of the end."""
    clear(w.matrix)
    for i in range(1, s.nodes.shape[0]):
        if not has_frame(s.nodes[i]):
            _generalized_block(s, w, x, i)
            continue
        start_block(s.nodes[i], x.q, x.dq, x.z0[i], w.z[i], w.rotation, w.jacobians, w.matrix)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        primitive_blocks_over_step(
            p, s.nodes[a], s.nodes[b], x.q, x.qn, x.z0[a], x.z0[b], w.z[a], w.z[b], x.z0[a], x.z0[b],
            constant(p, x.at_end), w.jacobians, w.matrix,
        )  # fmt: skip
    if s.flags[FLAG_COUPLED] != 0:
        copy_frames(w.z, x.z1)
        copy_frames(x.z0, w.z)
        blocks_over_step(s, w, x.q, x.z0, x.qn, x.z1, x.times[0], w.matrix)
        if s.nonholonomic.shape[0] > 0:  # up to (h omega)^2
            slip_rows_between(s, w, x.z0, x.qn, x.z1, h, w.matrix)
        copy_frames(x.z1, w.z)
