"""SHAKE and RATTLE as the time loop asks for them: positions, then, of RATTLE alone, velocities are its phases."""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...math.arrays import clear, copy
from ...nodes.frames import update_frames
from ...system.accelerations import accelerations
from ...system.instant import evaluate_functions, remember_angles
from ...system.tables import FLAG_ANGLES, FLAG_VELOCITY, Tables, Work, tables_at
from .. import loop
from ..directors.ends import back_to_start, keep_start, momenta_of_velocities, values_at
from ..directors.instant import vector_frames
from ..directors.linear_frames import add_correction, copy_frames
from ..directors.rigid_solve import rigid_solve
from ..newton import equation_error, factorised, measure
from ..numbers import RENEW, NewtonNumbers
from ..past import extrapolate, forget_stages, has_past, next_stage, remembered_row
from .equations import (
    StormerState,
    forces_of,
    new_momenta,
    position_residual,
    position_scales,
    rigid_factors,
    side,
    unprojected_velocities,
    velocity_residual,
    velocity_scales,
)
from .user_coordinates import (
    END,
    FORCES,
    MOMENTA,
    POSITION_ROWS,
    SOLVE_POSITIONS,
    SOLVE_VELOCITIES,
    UNPROJECTED,
    VELOCITY_ROWS,
    own_bodies,
    solve_bodies,
)

POSITIONS, VELOCITIES = 0, 1  # phases
SLOW = 0.1  # contraction that asks for new factors

_step = entry(Tables, Work, StormerState, NewtonNumbers)


@entry(Tables, Tables, Work, StormerState, NewtonNumbers)
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
    forces_of(n, w, x, False, x.v)


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
        forces_of(s, w, x, False, x.v)


@_step
def act_anew(s, w, x, p):
    """Forces have jumped at the end of the last step, whose own half of them has been applied."""
    t = p.origin + p.index * p.step
    update_frames(s.nodes, x.q, x.z0, w.spin)
    values_at(s, w, t, x.at_start)
    x.times[0] = t
    forces_of(s, w, x, False, x.v)


@_step
def begin(s, w, x, p):
    """Functions of time at both ends of the step, and copies of what it changes before it has succeeded."""
    t, h = p.time, p.step
    values_at(s, w, t, x.at_start)
    values_at(s, w, t + h, x.at_end)
    x.times[0], x.times[1] = t, t + h
    keep_start(x)
    if x.own.shape[0] > 0:
        own_bodies(tables_at(x.own[0]), w, x, p, FORCES)
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
        new_momenta(s, w, x, p.step)
        if x.own.shape[0] > 0:
            own_bodies(tables_at(x.own[0]), w, x, p, END)
        _predict_velocities(x, p, p.step)


@kernel
def _predict_positions(x, p, h):
    """First guess of dq and lambda'."""
    first = not has_past(x, p)
    for k in range(x.v.shape[0]):
        x.dq[k] = h * x.v[k] + (0.5 * h * h * x.vd[k] if first else 0.0)
    for k in range(x.lam.shape[0]):
        x.lams[k] = 0.5 * h * h * x.lam[k] if first else 0.0
    extrapolate(x, p, x.past_d, x.dq)
    extrapolate(x, p, x.past_l, x.lams)


@kernel
def _predict_velocities(x, p, h):
    """First guess of V and mu: half of the constraint force lacks in the momenta."""
    first = not has_past(x, p)
    for k in range(x.v.shape[0]):
        x.u[k] = x.dq[k] + 0.5 * h * h * x.vd[k] if first else h * x.v[k]
    for k in range(x.lam.shape[0]):
        x.mus[k] = x.lams[k] if first else 0.0
    extrapolate(x, p, x.past_v, x.u)
    extrapolate(x, p, x.past_m, x.mus)


@_step
def residual(s, w, x, p):
    """Equations of the positions or of the velocities, and their error."""
    if p.phase == POSITIONS:
        if p.iteration == 0:
            position_scales(s, w, x, p.step, p.tolerance, p.scales)
        position_residual(s, w, x, p.step)
        if x.own.shape[0] > 0:
            own_bodies(tables_at(x.own[0]), w, x, p, POSITION_ROWS)
    else:
        if p.iteration == 0:
            velocity_scales(s, w, x, p.step, p.tolerance, p.scales)
        velocity_residual(s, w, x, p.step)
        if x.own.shape[0] > 0:
            own_bodies(tables_at(x.own[0]), w, x, p, VELOCITY_ROWS)
    p.error = equation_error(s, x.r, x.lam.shape[0], p)


@_step
def solve_equations(s, w, x, p):
    """The correction, with the factors of the step as long as they serve."""
    t = tables_at(x.rigid[0])
    zc, at_c, time = side(x, p.phase == VELOCITIES)  # of constraint forces
    if p.factored == 0 or (p.iteration > 0 and p.error > max(1.0, SLOW * p.before)):
        rigid_factors(t, w, x, zc, time, p.step)
        p.factored = 1
        if not factorised(w, p):
            p.worst = -1 - p.worst  # a row of the matrix of rigid bodies
            return
    if x.own.shape[0] > 0 and not solve_bodies(
        w, x, p, SOLVE_POSITIONS if p.phase == POSITIONS else SOLVE_VELOCITIES
    ):  # fmt: skip
        return
    rigid_solve(s, t, w, at_c, x.at_end, zc, x.z1, w.matrix, w.pivots, w.dinv, x.r, x.stretch, x.f)
    measure(s, s.nodes, p, x.q, x.dq, x.v, x.r, False)
    if x.own.shape[0] > 0:
        p.moved = max(p.moved, x.own_moved)
    if p.phase == POSITIONS:
        add_correction(x.r, x.dq, x.lams)
    else:
        add_correction(x.r, x.u, x.mus)


@_step
def accept(s, w, x, p):
    """Make the new values the state, with the forces of the next step; velocities of SHAKE still have to be found."""
    h, n = p.step, p.history
    if p.phases == 1:
        new_momenta(s, w, x, h)
        clear(x.mus)
        unprojected_velocities(s, w, x, 1.0 if n == 0 else 0.5)
        if x.own.shape[0] > 0:
            own_bodies(tables_at(x.own[0]), w, x, p, END)
            own_bodies(tables_at(x.own[0]), w, x, p, UNPROJECTED)
    # the momenta of the start contain one half of the constraint force already
    c, i = (2.0 if n == 0 else 1.0), remembered_row(x, p)
    kept = c if p.parts == 0 else 1.0  # a stage always begins with momenta of velocities
    for k in range(x.v.shape[0]):
        x.past_d[i, k] = x.dq[k] - h * x.v[k]
        x.past_v[i, k] = x.u[k] - h * x.v[k]
        v = x.u[k] / h
        x.vd[k] = (v - x.v[k]) / h
        x.v[k] = v
    for k in range(x.lam.shape[0]):
        x.past_l[i, k] = kept * x.lams[k]
        x.past_m[i, k] = x.mus[k]
        x.lam[k] = c * x.lams[k] / (h * h)
    for k in range(x.q.shape[0]):
        x.q[k] += x.dq[k]
    if s.flags[FLAG_VELOCITY] != 0:  # with the velocities that were found
        forces_of(s, w, x, True, x.v)
    copy_frames(x.z1, x.z0)
    if s.flags[FLAG_ANGLES] != 0:
        copy_frames(x.z1, w.z)
        vector_frames(s.nodes, 1.0, x.v, w.zd)
        remember_angles(s, w, x.q, x.v)
    for k in range(x.shown_mu.shape[0]):
        x.shown_mu[k] = 2.0 * x.mus[k] / (h * h)
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
