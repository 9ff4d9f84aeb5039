"""Lobatto IIIA-IIIB as the time loop asks for it: positions of both stages, then velocities are its phases."""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...math.arrays import copy
from ...nodes.frames import update_frames
from ...system.accelerations import accelerations
from ...system.instant import evaluate_functions, remember_angles
from ...system.tables import Tables, Work, tables_at, work_at
from .. import loop
from ..directors.ends import back_to_start, keep_start, momenta_of_velocities, values_at
from ..directors.instant import moved_frames, vector_frames
from ..directors.linear_frames import add_correction, copy_frames
from ..directors.rigid_solve import rigid_solve
from ..newton import equation_error, factorised, measure
from ..numbers import RENEW, NewtonNumbers
from ..past import extrapolate, forget_stages, has_past, next_stage, remembered_row
from ..stormer.equations import position_scales, rigid_factors, velocity_residual, velocity_scales
from ..verdicts import CONVERGED
from .equations import LobattoState, end_momenta, forces_at_start, stage_residuals
from .stage_solve import factor_stages, solve_stages
from .user_coordinates import (
    END,
    MOMENTA,
    SOLVE_STAGES,
    SOLVE_VELOCITIES,
    STAGE_ROWS,
    VELOCITY_ROWS,
    own_bodies,
    solve_bodies,
)

POSITIONS, VELOCITIES = 0, 1  # phases
SLOW = 0.1  # contraction that asks for new factors

_step = entry(Tables, Work, LobattoState, NewtonNumbers)


@entry(Tables, Tables, Work, LobattoState, NewtonNumbers)
def start(s, n, w, x, p):
    """Accelerations, multipliers, momenta and forces of the start; n are natural tables, w buffers of the system."""
    t = p.origin + p.index * p.step
    evaluate_functions(s, w, t)
    accelerations(s, w, x.q, x.v, x.zero, x.vd, x.lam)
    remember_angles(s, w, x.q, x.v)
    update_frames(s.nodes, x.q, x.z0, w.spin)
    copy(w.values, x.at_start)
    x.times[0] = t
    _momenta_of_velocities(n, w, x, p)
    forces_at_start(n, w, x, x.v)


@kernel
def _momenta_of_velocities(s, w, x, p):
    """x.p = h M v."""
    momenta_of_velocities(s, x, p.step)
    if x.own.shape[0] > 0:
        own_bodies(tables_at(x.own[0]), w, x, p, MOMENTA)


@_step
def load(s, w, x, p):
    """Frames of the state."""
    update_frames(s.nodes, x.q, x.z0, w.spin)


@_step
def restart(s, w, x, p):
    """Momenta of the velocities, scaled by the new step; forces are those of the end of the last one."""
    _momenta_of_velocities(s, w, x, p)
    if p.history == RENEW:
        forget_stages(x)
        values_at(s, w, p.time, x.at_start)
        x.times[0] = p.time
        forces_at_start(s, w, x, x.v)


@_step
def act_anew(s, w, x, p):
    """Forces have jumped at the end of the last step, whose own part of them has been applied."""
    t = p.origin + p.index * p.step
    update_frames(s.nodes, x.q, x.z0, w.spin)
    values_at(s, w, t, x.at_start)
    x.times[0] = t
    forces_at_start(s, w, x, x.v)


@_step
def begin(s, w, x, p):
    """Functions of time of all stages, and copies of what the step changes before it has succeeded."""
    t, h = p.time, p.step
    values_at(s, w, t, x.at_start)
    values_at(s, w, t + 0.5 * h, x.at_middle)
    values_at(s, w, t + h, x.at_end)
    x.times[0], x.times[1], x.times[2] = t, t + h, t + 0.5 * h
    keep_start(x)
    p.factored = 0


@_step
def refuse(s, w, x, p):
    """The state stays that of the start of the step."""
    back_to_start(x)


@_step
def predict(s, w, x, p):
    """The only first guess of a phase; that of the velocities needs the momenta of the end."""
    p.guess = 0 if p.attempt == 0 else -1
    if p.guess < 0:
        return
    if p.phase == POSITIONS:
        _predict_positions(x, p, p.step)
    else:
        end_momenta(s, w, x, p.step)
        if x.own.shape[0] > 0:
            own_bodies(tables_at(x.own[0]), w, x, p, END)
        _predict_velocities(x, p, p.step)


@kernel
def _predict_positions(x, p, h):
    """First guess of the positions and their multipliers."""
    c = 0.0 if has_past(x, p) else 0.5 * h * h
    for k in range(x.v.shape[0]):
        x.dq[k] = h * x.v[k] + c * x.vd[k]
        x.dm[k] = 0.5 * h * x.v[k] + 0.25 * c * x.vd[k]
    for k in range(x.lam.shape[0]):
        x.lams[k] = c * x.lam[k] / 3.0
        x.lamm[k] = 0.5 * c * x.lam[k]
    extrapolate(x, p, x.past_d, x.dq)
    extrapolate(x, p, x.past_dm, x.dm)
    extrapolate(x, p, x.past_l, x.lams)
    extrapolate(x, p, x.past_lm, x.lamm)


@kernel
def _predict_velocities(x, p, h):
    """First guess of V and nu: the last part of the constraint force lacks in the momenta."""
    later = has_past(x, p)
    for k in range(x.v.shape[0]):
        x.u[k] = h * x.v[k] if later else 3.0 * x.dq[k] - 4.0 * x.dm[k]
    for k in range(x.lam.shape[0]):
        x.mus[k] = 0.0 if later else x.lams[k]
    extrapolate(x, p, x.past_v, x.u)
    extrapolate(x, p, x.past_m, x.mus)


@_step
def residual(s, w, x, p):
    """Equations of the positions or of the velocities, and their error."""
    nl = x.lam.shape[0]
    if p.phase == POSITIONS:
        if p.iteration == 0:
            position_scales(s, w, x, p.step, p.tolerance, p.scales)
        stage_residuals(s, w, x, p.step)
        if x.own.shape[0] > 0:
            own_bodies(tables_at(x.own[0]), w, x, p, STAGE_ROWS)
        first = equation_error(s, x.rm, nl, p)
        worst = p.worst
        p.error = equation_error(s, x.r, nl, p)
        if not first <= p.error:
            p.error, p.worst = first, worst
    else:
        if p.iteration == 0:
            velocity_scales(s, w, x, p.step, p.tolerance, p.scales)
        velocity_residual(s, w, x, p.step)
        if x.own.shape[0] > 0:
            own_bodies(tables_at(x.own[0]), w, x, p, VELOCITY_ROWS)
        p.error = equation_error(s, x.r, nl, p)


@_step
def solve_equations(s, w, x, p):
    """The correction, with the factors of the step as long as they serve."""
    slow = p.iteration > 0 and p.error > max(1.0, SLOW * p.before)
    if p.phase == POSITIONS:
        if p.factored == 0 or slow:
            factor_stages(w, x)
            p.factored = 1
            if not factorised(w, p):
                p.worst = -1 - p.worst  # a row of the matrix of rigid bodies
                return
        if x.own.shape[0] > 0 and not solve_bodies(w, x, p, SOLVE_STAGES):
            return
        solve_stages(s, w, x)
        measure(s, s.nodes, p, x.q, x.dq, x.v, x.r, False)
        add_correction(x.rm, x.dm, x.lams)
        add_correction(x.r, x.dq, x.lamm)
        if p.last != 0:
            moved_frames(s.nodes, x.z0, x.dq, x.z1)
    else:
        t, small = tables_at(x.rigid[0]), work_at(x.small[0])
        if p.iteration == 0 or slow:
            rigid_factors(t, small, x, x.z1, x.times[1], p.step)
            if not factorised(small, p):
                p.worst = -1 - p.worst
                return
        if x.own.shape[0] > 0 and not solve_bodies(w, x, p, SOLVE_VELOCITIES):
            return
        rigid_solve(
            s, t, small, x.at_end, x.at_end, x.z1, x.z1, small.matrix, small.pivots, small.dinv, x.r, x.stretch, x.f
        )
        measure(s, s.nodes, p, x.q, x.dq, x.v, x.r, False)
        add_correction(x.r, x.u, x.mus)
    if x.own.shape[0] > 0:
        p.moved = max(p.moved, x.own_moved)
    if p.last != 0:
        p.error = 0.0
        p.verdict = CONVERGED


@_step
def accept(s, w, x, p):
    """Make the new values the state, with the forces of the next step."""
    h, n = p.step, p.history
    # the momenta of the start contain one half of the constraint force already
    c, i = (2.0 if n == 0 and p.parts == 0 else 1.0), remembered_row(x, p)
    for k in range(x.v.shape[0]):
        v = x.u[k] / h
        x.past_d[i, k] = x.dq[k] - h * x.v[k]
        x.past_dm[i, k] = x.dm[k] - 0.5 * h * x.v[k]
        x.past_v[i, k] = x.u[k] - h * x.v[k]
        x.vd[k] = (2.0 * x.v[k] + 4.0 * v - 6.0 * x.dq[k] / h) / h  # of the cubic through both states
        x.v[k] = v
    for k in range(x.lam.shape[0]):
        x.past_l[i, k] = c * x.lams[k]
        x.past_lm[i, k] = x.lamm[k]
        x.past_m[i, k] = x.mus[k]
        x.lam[k] = 6.0 * x.mus[k] / (h * h)
        x.shown_mu[k] = x.lam[k]
        x.shown_l[k] = 4.0 * x.lamm[k] / (h * h)
    for k in range(x.q.shape[0]):
        x.q[k] += x.dq[k]
    copy_frames(x.z1, x.z0)
    copy_frames(x.z1, w.z)
    vector_frames(s.nodes, 1.0, x.v, w.zd)
    remember_angles(s, w, x.q, x.v)
    next_stage(x, p)
    p.history += 1


ENTRIES = {
    loop.LOAD: load,
    loop.BEGIN: begin,
    loop.PREDICT: predict,
    loop.RESIDUAL: residual,
    loop.SOLVE: solve_equations,
    loop.ACCEPT: accept,
    loop.REFUSE: refuse,
    loop.RESTART: restart,
}
