"""Equations of the Lobatto IIIA-IIIB pair with three stages on points and directors, compiled.

The symplectic pair for constrained systems [Jay 1996, SIAM J. Numer. Anal. 33, 368]; with two stages it is RATTLE. If
the mass matrix is constant, the stage velocities are those of the parabola through the positions q0, qm, q1 at the
start, the middle and the end of the step, and can be eliminated. What remains of the tableaux, scaled by P = h p,
lambda' = h^2/6 lambda, mu' = h^2/4 mu, with dm = qm - q0 and dq = q1 - q0; F are forces with the sign of the residual:

    M (8 dm - dq)/3 - P0 + h^2/6 F(q0) + G(q0)^T lambda' = 0,   g(qm) = 0
    M (dq - 2 dm)        + h^2/4 F(qm) + G(qm)^T mu'     = 0,   g(q1) = 0
    P1 = M (7 dq - 8 dm)/3 - h^2/6 F(q1)
    M V1 - P1 + G(q1)^T nu = 0,                                 G(q1) V1 + h g_t = 0

The second row is Stormer's method in the middle of the step. Nothing asks for the inverse of M: bodies may be flat. A
multiple of G(q)^T in P is taken up by the next lambda'. Forces that depend on velocities act with those of the
parabola, (4 dm - dq)/h, dq/h and (3 dq - 4 dm)/h, which are the stages of the tableaux.

Rolling: rows k(q, v) that restrict velocities hold in the integrals h sum_j a_ij k(Q_j, V_j) = 0 to the middle and to
the end of the step, with the weights a_ij of Lobatto IIIA and the velocities of the parabola, in place of g(qm) and
g(q1), and at its end [Jay 2009, Lagrange-d'Alembert SPARK integrators]. That has order four; k = 0 at the stages has
order two.

Bodies in generalized coordinates take the same steps (``user_coordinates``).
"""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import addresses, integer, integers, matrix, real, vector
from ...compiled.record import Record
from ...math.arrays import copy
from ...system.couplings import LEVEL_DRIVEN, coupling_constraints
from ...system.tables import FLAG_VELOCITY, Tables, Work
from ..directors.instant import (
    applied_forces,
    constraint_forces,
    constraint_rows,
    dynamic_rows,
    moved_frames,
    vector_frames,
)
from ..directors.linear_frames import clear_frames, copy_frames

PAST = 6  # steps from which the first guesses are extrapolated


class LobattoState(Record):
    """State of the method (first eleven, force and loads) and its scratch; names are those of ``StormerState``."""

    q = vector
    v = vector
    vd = vector
    lam = vector
    p = vector  # h times the momenta, up to multiples of G^T
    past_d = matrix  # (PAST, ...) of the last steps: dq - h v0,
    past_dm = matrix  # dm - h/2 v0,
    past_l = matrix  # lambda',
    past_lm = matrix  # mu',
    past_v = matrix  # h (v1 - v0)
    past_m = matrix  # and nu
    weights = matrix  # with which they are extrapolated (``past``),
    sources = integers  # the stages
    back = integers  # and rounds where they are
    dq = vector
    dm = vector
    lams = vector  # lambda'
    lamm = vector  # mu'
    u = vector  # V1
    mus = vector  # nu
    rate = vector  # velocities as well as they are known
    r = vector  # residual: dynamic rows of the middle, constraints of the end
    rm = vector  # and dynamic rows of the start, constraints of the middle
    slip = vector  # rows of velocities at a stage
    zero = vector
    z0 = matrix
    zm = matrix
    z1 = matrix
    zu = matrix  # frames of velocities
    force = matrix  # frame forces at the start of the step, those of constraints not among them,
    loads = vector  # and the largest force and torque of them
    force_m = matrix  # the same in the middle
    loads_m = vector
    f = matrix
    fm = matrix
    stretch = matrix
    stretch_m = matrix
    at_start = vector  # functions of time
    at_middle = vector
    at_end = vector
    times = vector  # of start, end and middle
    scales = vector
    p0 = vector  # what p, force and loads were, for a step that fails
    force0 = matrix
    loads0 = vector
    rigid = addresses  # tables of the rigid bodies: for velocities, then of both stages
    small = addresses  # (1,) buffers for velocities
    shown_l = vector  # multipliers of the position constraints in the middle of the step
    shown_mu = vector  # and of the velocity constraints at its end
    part = integer  # stage of a composition,
    rounds = integer  # and whole steps of it
    # bodies in generalized coordinates (``directors.user_coordinates``)
    own = addresses  # (1,) tables that show them, empty if there are none
    own_y = vector  # corrections of the end,
    own_m = vector  # and of the middle
    own_matrix = vector
    own_rows = matrix
    own_moved = real  # size of their correction


@kernel
def forces_at_start(s, w, x, v):
    """x.force = frame forces of gravity and elements at the start of the step, with velocities v."""
    applied_forces(s, w, x.z0, x.at_start, x.times[0], v, x.zero, x.force, x.loads)


@kernel
def parabola_rate(x, a, b):
    """x.rate = a dm + b dq."""
    for k in range(x.v.shape[0]):
        x.rate[k] = a * x.dm[k] + b * x.dq[k]


@kernel
def stage_residuals(s, w, x, h):
    """Equations of the positions into x.rm and x.r."""
    nv, moves = x.v.shape[0], s.flags[FLAG_VELOCITY] != 0
    moved_frames(s.nodes, x.z0, x.dm, x.zm)
    moved_frames(s.nodes, x.z0, x.dq, x.z1)
    if moves:
        parabola_rate(x, 4.0 / h, -1.0 / h)
        forces_at_start(s, w, x, x.rate)
    parabola_rate(x, 0.0, 1.0 / h)
    applied_forces(s, w, x.zm, x.at_middle, x.times[2], x.rate, x.zero, x.force_m, x.loads_m)
    parabola_rate(x, 8.0 / 3.0, -1.0 / 3.0)
    constraint_forces(s, w, x.z0, x.at_start, x.times[0], x.lams, x.f)
    dynamic_rows(s.nodes, x.rate, x.p, h * h / 6.0, x.force, x.f, x.rm)
    constraint_rows(s, w, x.zm, x.at_middle, x.times[2], nv, x.rm)
    parabola_rate(x, -2.0, 1.0)
    constraint_forces(s, w, x.zm, x.at_middle, x.times[2], x.lamm, x.f)
    dynamic_rows(s.nodes, x.rate, x.zero, 0.25 * h * h, x.force_m, x.f, x.r)
    constraint_rows(s, w, x.z1, x.at_end, x.times[1], nv, x.r)
    if s.nonholonomic.shape[0] > 0:
        stage_slips(s, w, x, h)


def _rolls(s: Tables) -> bool:
    return len(s.nonholonomic) > 0


@entry(Tables, Work, LobattoState, real, when=_rolls)
def stage_slips(s, w, x, h):
    """Rows that exist for velocities only: how far the step slips to its middle, and to its end."""
    for k in range(s.nonholonomic.shape[0]):
        i = x.v.shape[0] + s.nonholonomic[k]
        x.rm[i], x.r[i] = 0.0, 0.0
    parabola_rate(x, 4.0 / h, -1.0 / h)
    _add_slips(s, w, x, x.z0, x.at_start, x.times[0], 5.0 / 24.0 * h, h / 6.0)
    parabola_rate(x, 0.0, 1.0 / h)
    _add_slips(s, w, x, x.zm, x.at_middle, x.times[2], h / 3.0, 2.0 / 3.0 * h)
    parabola_rate(x, -4.0 / h, 3.0 / h)
    _add_slips(s, w, x, x.z1, x.at_end, x.times[1], -h / 24.0, h / 6.0)


@kernel
def _add_slips(s, w, x, z, values, time, middle, end):
    """Add the rows at a stage with velocities x.rate, times weights, to those of both integrals."""
    copy_frames(z, w.z)
    copy(values, w.values)
    w.time[0] = time
    vector_frames(s.nodes, 1.0, x.rate, w.zd)
    coupling_constraints(s, w, x.slip, LEVEL_DRIVEN)
    for k in range(s.nonholonomic.shape[0]):
        i = x.v.shape[0] + s.nonholonomic[k]
        x.rm[i] += middle * x.slip[i]
        x.r[i] += end * x.slip[i]


@kernel
def end_momenta(s, w, x, h):
    """x.p = M (7 dq - 8 dm)/3 - h^2/6 F(q1), and x.force = F(q1)."""
    parabola_rate(x, -4.0 / h, 3.0 / h)
    applied_forces(s, w, x.z1, x.at_end, x.times[1], x.rate, x.zero, x.force, x.loads)
    parabola_rate(x, -8.0 / 3.0, 7.0 / 3.0)
    clear_frames(x.f)
    dynamic_rows(s.nodes, x.rate, x.zero, -h * h / 6.0, x.force, x.f, x.p)
