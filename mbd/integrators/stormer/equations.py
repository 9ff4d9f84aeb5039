"""Equations of SHAKE and RATTLE on points and directors, compiled.

The trapezoidal discrete Lagrangian with constraints at the ends of the steps [Leimkuhler & Skeel 1994], scaled by
P = h p, lambda' = h^2 lambda and V = h v; F are the forces with the sign of the residual:

    M dq - P0 + h^2/2 F(q0) + G(q0)^T lambda' = 0,   g(q1) = 0
    P1 = M dq - h^2/2 F(q1)
    M V1 - P1 + G(q1)^T mu = 0,                      G(q1) V1 + h g_t = 0

A multiple of G(q)^T in P is taken up by the next lambda', so that the motion does not need the second projection; the
velocities that are recorded do. Both systems are solved with the matrix of rigid bodies (``rigid_solve``): with
columns at the start and rows at the end of the step it is Newton's method for the first; the second one, which is
linear, is solved by iteration with the same factors. Bodies may be flat, for which M is singular.

Rolling: constraint forces act at the ends of the steps as those of all joints, and rows that restrict velocities hold
over a step, t.(D_b C - D_a C) = 0 with averaged frames and secants D (``joints.rolling_over_step``): the discrete
Lagrange-d'Alembert principle [Cortes & Martinez 2001, Nonlinearity 14, 1365]. A step stays symmetric, and the second
projection, to which these rows belong as well, leaves velocities that do not slip.

Bodies in generalized coordinates take the same steps (``user_coordinates``).
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...compiled.kinds import addresses, integer, integers, matrix, real, vector
from ...compiled.record import Record
from ...math.arrays import copy
from ...nodes.mass import solve_mass
from ...system.matrix import factor
from ...system.over_step import blocks_over_step, slip_rows_between, slips_between
from ...system.tables import FLAG_COUPLED, tables_at
from ..directors.instant import (
    applied_forces,
    constraint_forces,
    constraint_rows,
    dynamic_rows,
    moved_frames,
    rate_rows,
)
from ..directors.linear_frames import clear_frames, copy_frames
from ..directors.rigid_solve import rigid_blocks
from ..directors.user_coordinates import own_scales
from ..newton import ACCELERATION, equation_scales

PAST = 4  # steps from which the first guesses are extrapolated


class StormerState(Record):
    """State of the method (first nine, force and loads) and its scratch."""

    q = vector
    v = vector
    vd = vector
    lam = vector
    p = vector  # h times the momenta, up to multiples of G^T
    past_d = matrix  # (PAST, ...), for each stage of a composition, of the last steps: dq - h v0,
    past_l = matrix  # lambda',
    past_v = matrix  # h (v1 - v0)
    past_m = matrix  # and mu
    weights = matrix  # with which they are extrapolated (``past``),
    sources = integers  # the stages
    back = integers  # and rounds where they are
    dq = vector
    lams = vector
    u = vector  # V1
    mus = vector
    rate = vector  # velocities as well as they are known
    r = vector  # residual: dynamic rows, then constraints
    zero = vector
    z0 = matrix
    z1 = matrix
    zu = matrix  # frames of velocities
    force = matrix  # frame forces at the start of the step, those of constraints not among them,
    loads = vector  # and the largest force and torque of them
    f = matrix
    stretch = matrix
    at_start = vector  # functions of time
    at_end = vector
    times = vector
    scales = vector
    square = matrix
    p0 = vector  # what p, force and loads were, for a step that fails
    force0 = matrix
    loads0 = vector
    rigid = addresses  # (1,) tables of the rigid bodies
    shown_mu = vector  # multipliers of the velocity constraints, none for SHAKE
    part = integer  # stage of a composition,
    rounds = integer  # and whole steps of it from which stages can be extrapolated
    # bodies in generalized coordinates (``directors.user_coordinates``)
    own = addresses  # (1,) tables that show them, empty if there are none
    own_y = vector  # their corrections
    own_matrix = vector
    own_rows = matrix
    own_force = vector  # forces at the start of the step
    own_moved = real  # size of their correction


@kernel
def side(x, at_end):
    """Frames, functions of time and time at the start or the end of the step."""
    return (x.z1, x.at_end, x.times[1]) if at_end else (x.z0, x.at_start, x.times[0])


@kernel
def forces_of(s, w, x, at_end, v):
    """x.force = frame forces of gravity and elements at one side of the step, with velocities v."""
    z, values, time = side(x, at_end)
    applied_forces(s, w, z, values, time, v, x.zero, x.force, x.loads)


@kernel
def _reactions_of(s, w, x, at_end, mu):
    """x.f = frame forces G^T mu at one side of the step."""
    z, values, time = side(x, at_end)
    constraint_forces(s, w, z, values, time, mu, x.f)


@kernel
def position_residual(s, w, x, h):
    """Equations of the positions into x.r."""
    moved_frames(s.nodes, x.z0, x.dq, x.z1)
    _reactions_of(s, w, x, False, x.lams)
    dynamic_rows(s.nodes, x.dq, x.p, 0.5 * h * h, x.force, x.f, x.r)
    constraint_rows(s, w, x.z1, x.at_end, x.times[1], x.v.shape[0], x.r)
    if s.nonholonomic.shape[0] > 0:
        slips_between(s, w, x.z0, x.z1, h, x.r)


@kernel
def velocity_residual(s, w, x, h):
    """Equations of the velocities into x.r."""
    _reactions_of(s, w, x, True, x.mus)
    dynamic_rows(s.nodes, x.u, x.p, 0.0, x.force, x.f, x.r)
    rate_rows(s, w, x.z1, x.at_end, x.zu, x.u, h, x.v.shape[0], x.r)


@kernel
def new_momenta(s, w, x, h):
    """x.p = M dq - h^2/2 F(q1); dampers act on the velocity of the end as well as it is known."""
    for k in range(x.v.shape[0]):
        x.rate[k] = x.dq[k] / h + 0.5 * h * x.vd[k]
        x.r[k] = 0.0
    forces_of(s, w, x, True, x.rate)
    clear_frames(x.f)
    dynamic_rows(s.nodes, x.dq, x.r, -0.5 * h * h, x.force, x.f, x.p)


@kernel
def unprojected_velocities(s, w, x, share):
    """SHAKE: velocities with that share of the last constraint force."""
    _reactions_of(s, w, x, True, x.lams)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        o = 0 if n.nx == 3 else 3
        for m in range(n.nv):
            x.u[n.v0 + m] = x.p[n.v0 + m] - share * x.f[i, o + m]
        solve_mass(n, x.u, x.square)


@kernel
def position_scales(s, w, x, h, tolerance, scales):
    """Scales of the equations of the positions, from their first guess and the forces that are known."""
    for k in range(x.v.shape[0]):
        u = x.dq[k] / h
        x.rate[k] = u
        x.r[k] = 2.0 * (u - x.v[k]) / h
    _scales(s, w, x, h, tolerance)
    copy(x.scales, scales)


@kernel
def velocity_scales(s, w, x, h, tolerance, scales):
    """Scales of the equations of the velocities, which are at least those of the positions."""
    for k in range(x.v.shape[0]):
        u = x.u[k] / h
        x.rate[k] = u
        x.r[k] = (u - x.v[k]) / h
    _scales(s, w, x, h, tolerance)
    for k in range(scales.shape[0]):
        scales[k] = max(x.scales[k], scales[k])


@kernel
def _scales(s, w, x, h, tolerance):
    """x.scales at the velocities x.rate and accelerations x.r."""
    w.scales[0], w.scales[1] = x.loads[0], x.loads[1]
    if x.own.shape[0] > 0:
        w.time[0] = x.times[1]
        own_scales(tables_at(x.own[0]), w, x.q, x.rate, x.r, x.lam, h, tolerance, x.scales)
    else:
        equation_scales(s, w, x.q, x.rate, x.r, x.lam, 1.0 / (h * h), x.scales)
    for k in range(ACCELERATION):
        x.scales[k] *= h * h


@kernel
def rigid_factors(t, w, x, zc, time, h):
    """Factors with columns at the frames zc, which are those of a time, and rows at the end of the step.

    Rows of rolling belong to the step from zc to its end; where that is none, they are those of velocities.
    """
    rigid_blocks(t, w, x.at_end, zc, x.z1, w.matrix)
    if t.flags[FLAG_COUPLED] != 0:
        copy_frames(zc, w.z)
        copy(x.at_end, w.values)
        w.time[0] = x.times[1]
        blocks_over_step(t, w, x.q, zc, x.q, x.z1, time, w.matrix)
        if t.nonholonomic.shape[0] > 0:
            slip_rows_between(t, w, zc, x.q, x.z1, h, w.matrix)
    factor(t, w, w.matrix, w.pivots, w.dinv)
