"""RATTLie as the time loop asks for it: positions and velocities are its two phases."""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...math.arrays import copy, copy_frames
from ...nodes.increments import apply_rows, store_tangent_inverse
from ...system.accelerations import accelerations
from ...system.instant import advance, all_frame_forces, evaluate_functions, frames, remember_angles, velocities
from ...system.matrix import factor_with, finish, solve, tangent
from ...system.tables import Tables, Work
from .. import loop
from ..newton import (
    FORCE,
    ROUND_OFF,
    TORQUE,
    equation_error,
    factorised,
    factors_suffice,
    fresh_scales,
    measure,
)
from ..numbers import RENEW, NewtonNumbers
from ..past import extrapolate, forget_stages, has_past, next_stage, remembered_row
from .equations import (
    RattlieState,
    position_equations,
    position_matrix,
    velocity_equations,
)

POSITIONS, VELOCITIES = 0, 1  # phases

_step = entry(Tables, Work, RattlieState, NewtonNumbers)


@_step
def start(s, w, x, p):
    """Accelerations and multipliers of the start, for the first guess."""
    evaluate_functions(s, w, p.origin + p.index * p.step)
    accelerations(s, w, x.q, x.v, x.zero, x.vd, x.lam)
    remember_angles(s, w, x.q, x.v)


@_step
def load_frames(s, w, x, p):
    """Frames of the state."""
    frames(s, w, x.q)
    copy_frames(w.z, x.z0)


@_step
def restart(s, w, x, p):
    """A stage of a composition begins with coordinates and velocities, as every step does."""
    if p.history == RENEW:
        forget_stages(x)


@kernel
def _measure_loads(w):
    """The largest force and torque of w.f, by which residuals of this step are judged, to w.scales."""
    w.scales[0] = 0.0
    w.scales[1] = 0.0
    for i in range(1, w.f.shape[0]):
        for m in range(12):
            j = 0 if m < 3 else 1
            w.scales[j] = max(w.scales[j], abs(w.f[i, m]))


@_step
def begin(s, w, x, p):
    """Applied forces at the start of the step, functions of time at both of its ends."""
    evaluate_functions(s, w, p.time)
    copy(w.values, x.at_start)
    copy_frames(x.z0, w.z)
    velocities(s, w, x.q, x.v)
    all_frame_forces(s, w, x.zero)
    copy_frames(w.f, x.force)
    _measure_loads(w)
    evaluate_functions(s, w, p.end)
    copy(w.values, x.at_end)
    x.times[0], x.times[1] = p.time, p.end


@_step
def predict(s, w, x, p):
    """The only first guess of a phase: what lacks to uniform motion, extrapolated from the last steps."""
    p.guess = 0 if p.attempt == 0 else -1
    if p.guess < 0:
        return
    h = p.step
    c = 0.5 * h * h
    first = not has_past(x, p)
    if p.phase == POSITIONS:
        for k in range(x.v.shape[0]):
            x.dq[k] = h * x.v[k] + (c * x.vd[k] if first else 0.0)
        for k in range(x.lam.shape[0]):
            x.lams[k] = c * x.lam[k] if first else 0.0
        extrapolate(x, p, x.past_d, x.dq)
        extrapolate(x, p, x.past_l, x.lams)
    else:
        for k in range(x.v.shape[0]):
            x.u[k] = h * x.v[k] + (h * h * x.vd[k] if first else 0.0)
        for k in range(x.lam.shape[0]):
            x.mus[k] = x.lams[k] if first else 0.0
        extrapolate(x, p, x.past_v, x.u)
        extrapolate(x, p, x.past_m, x.mus)


@kernel
def _scales(s, w, x, p):
    """Scales of the equations of a phase, above the round-off of M dq."""
    h = p.step
    for k in range(x.v.shape[0]):
        x.vn[k] = x.dq[k] / h
        x.vdn[k] = 2.0 * (x.vn[k] - x.v[k]) / h
    for k in range(x.lamn.shape[0]):
        x.lamn[k] = 2.0 * x.lams[k] / (h * h)
    fresh_scales(s, w, x.qn, x.vn, x.vdn, x.lamn, h * h, p)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        for k in range(n.nx):
            p.scales[FORCE] = max(p.scales[FORCE], ROUND_OFF * n.mass * abs(x.dq[n.v0 + k]) / p.tolerance)
        inertia = max(n.j11, n.j22, n.j33)
        for k in range(n.nx, n.nv):
            p.scales[TORQUE] = max(p.scales[TORQUE], ROUND_OFF * inertia * abs(x.dq[n.v0 + k]) / p.tolerance)


@_step
def residual(s, w, x, p):
    """Equations of the positions or of the velocities, and their error."""
    if p.phase == POSITIONS:
        advance(s, w, x.q, x.dq, x.qn)
        position_equations(s, w, x, p.step)
        if p.iteration == 0:
            _scales(s, w, x, p)
    else:
        velocity_equations(s, w, x, p.step)
    p.error = equation_error(s, w.x, x.lam.shape[0], p)


@_step
def solve_equations(s, w, x, p):
    """The correction, with new factors unless the last ones suffice."""
    for k in range(w.x.shape[0]):
        w.x[k] = -w.x[k]
    linear = p.phase == VELOCITIES  # but for forces that depend on velocities
    if p.iteration == 0 or not (linear or factors_suffice(p.error, p.before)):
        if linear:
            tangent(s, w, x.qn, x.vn, x.zero, x.zero, w.eye, 1.0, 0.0, 0.0, w.matrix)
        else:
            position_matrix(s, w, x, p.step)
        factor_with(s, w, w.matrix, w.pivots, w.dinv, w.x)
        if not factorised(w, p):
            return
        finish(s, w.matrix, w.pivots, w.dinv, w.x)
    else:
        solve(s, w.matrix, w.pivots, w.dinv, w.x)
    for k in range(x.v.shape[0]):
        x.y[k] = w.x[s.xv[k]]
    if linear:
        for k in range(x.v.shape[0]):
            x.u[k] += x.y[k]
        for k in range(x.mus.shape[0]):
            x.mus[k] += w.x[s.xl[k]]
        return
    store_tangent_inverse(s.nodes, x.dq, w.t)
    apply_rows(s.nodes, w.t, x.y, x.y)
    measure(s, s.nodes, p, x.q, x.dq, x.v, x.y, False)
    for k in range(x.v.shape[0]):
        x.dq[k] += x.y[k]
    for k in range(x.lams.shape[0]):
        x.lams[k] += w.x[s.xl[k]]


@_step
def accept(s, w, x, p):
    """Make the new values the state."""
    h, i = p.step, remembered_row(x, p)
    c = 2.0 / (h * h)
    for k in range(x.v.shape[0]):
        x.past_d[i, k] = x.dq[k] - h * x.v[k]
        x.past_v[i, k] = x.u[k] - h * x.v[k]
        v = x.u[k] / h
        x.vd[k] = (v - x.v[k]) / h
        x.v[k] = v
    for k in range(x.lam.shape[0]):
        x.past_l[i, k] = x.lams[k]
        x.past_m[i, k] = x.mus[k]
        x.lam[k] = c * x.lams[k]
        x.shown_mu[k] = c * x.mus[k]
    copy(x.qn, x.q)
    frames(s, w, x.q)  # as ``load_frames`` finds them: where a run is cut into calls leaves no trace
    copy_frames(w.z, x.z0)
    velocities(s, w, x.q, x.v)
    remember_angles(s, w, x.q, x.v)
    next_stage(x, p)
    p.history += 1


ENTRIES = {
    loop.LOAD: load_frames,
    loop.BEGIN: begin,
    loop.PREDICT: predict,
    loop.RESIDUAL: residual,
    loop.SOLVE: solve_equations,
    loop.ACCEPT: accept,
    loop.RESTART: restart,
}
