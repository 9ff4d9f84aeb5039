"""Variational integrators in position-momentum form, as the time loop asks for them."""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import real
from ...math.arrays import clear, copy
from ...nodes.frames import update_frames, update_velocities
from ...nodes.step.momenta import may_lack_velocity, momentum, momentum_of_velocity, velocity_of_momentum
from ...system.accelerations import accelerations
from ...system.instant import evaluate_functions, remember_angles
from ...system.matrix import factor, solve, tangent
from ...system.tables import Tables, Work, work_at
from .. import loop
from ..directors.linear_frames import copy_frames
from ..energy_momentum.node_steps import ACCEPT, EQUATION, START, VELOCITY
from ..nearest_root import AS_BEFORE, EXTRAPOLATED, UNIFORM, nearest_guess
from ..newton import equation_error, factorised, factors_suffice, fresh_scales, measure
from ..numbers import NewtonNumbers
from .equations import (
    HAMILTON,
    LIVENS,
    VariationalState,
    applied,
    ask_node,
    forces_in_the_middle,
    internal_forces,
    variational_matrix,
    variational_residual,
    velocity_defect,
)

_step = entry(Tables, Work, VariationalState, NewtonNumbers)


@_step
def start(s, w, x, p):
    """Accelerations, multipliers and momenta of the start."""
    h = p.step
    evaluate_functions(s, w, p.origin + p.index * p.step)
    accelerations(s, w, x.q, x.v, x.zero, x.vd, x.lam)
    update_frames(s.nodes, x.q, w.z, w.spin)  # where nothing but gravity acts, accelerations need neither of them
    update_velocities(s.nodes, x.q, x.v, w.spin, w.z, w.zd, w.scratch)
    remember_angles(s, w, x.q, x.v)
    _momenta_of_velocities(s, w, x, h)
    applied(s, w, x.q, x.v, x.none, x.force)
    show_momenta(x, h)


@kernel
def _momenta_of_velocities(s, w, x, h):
    """x.p = h p, of velocities in w.zd."""
    for i in range(1, s.nodes.shape[0]):
        if x.node_steps[i] != 0:
            ask_node(s, w, x, i, START, x.lams, h)
            continue
        momentum_of_velocity(s.nodes[i], x.q, x.v, w.z[i], w.zd[i], h, x.p, w.scratch)


@kernel
def show_momenta(x, h):
    """Momenta as they are recorded."""
    for k in range(x.p.shape[0]):
        x.shown_p[k] = x.p[k] / h


@_step
def load(s, w, x, p):
    """Frames of the state."""
    update_frames(s.nodes, x.q, w.z, w.spin)
    copy_frames(w.z, x.z0)


@_step
def restart(s, w, x, p):
    """Momenta of the velocities, scaled by the new step."""
    update_frames(s.nodes, x.q, w.z, w.spin)
    update_velocities(s.nodes, x.q, x.v, w.spin, w.z, w.zd, w.scratch)
    _momenta_of_velocities(s, w, x, p.step)


@_step
def begin(s, w, x, p):
    """Functions of time at the start, in the middle and at the end of the step."""
    t, h = p.time, p.step
    evaluate_functions(s, w, t)
    copy(w.values, x.begin)
    evaluate_functions(s, work_at(x.middle[0]), t + 0.5 * h)
    evaluate_functions(s, w, t + h)
    copy(w.values, x.end)
    x.times[0], x.times[1] = t, t + h


@_step
def predict(s, w, x, p):
    """First guess of dq and lambda': accelerated motion, none, or uniform motion."""
    h, guess = p.step, nearest_guess(p)
    p.guess = guess
    if guess < 0:
        return
    accelerated = guess == EXTRAPOLATED or guess == AS_BEFORE
    for k in range(x.v.shape[0]):
        if accelerated:
            x.dq[k] = h * (x.v[k] + 0.5 * h * x.vd[k])
        else:
            x.dq[k] = h * x.v[k] if guess == UNIFORM else 0.0
    half = p.history == 0 or x.scheme >= LIVENS
    for k in range(x.lam.shape[0]):
        x.lams[k] = (0.5 if half else 1.0) * h * h * x.lam[k]


@_step
def residual(s, w, x, p):
    """Equations of the step, and their error."""
    h = p.step
    variational_residual(s, w, x, h)
    if p.iteration == 0:
        for k in range(x.v.shape[0]):
            x.vn[k] = 2.0 * (x.secant[k] - x.v[k]) / h
        fresh_scales(s, w, x.qn, x.secant, x.vn, x.lam, h * h, p)
    p.error = equation_error(s, w.x, x.lam.shape[0], p)


@_step
def solve_equations(s, w, x, p):
    """The correction, with new factors unless the last ones suffice."""
    if p.iteration == 0 or not factors_suffice(p.error, p.before):
        variational_matrix(s, w, x, p.step)
        factor(s, w, w.matrix, w.pivots, w.dinv)
        if not factorised(w, p):
            return
    for k in range(w.x.shape[0]):
        w.x[k] = -w.x[k]
    solve(s, w.matrix, w.pivots, w.dinv, w.x)
    if measure(s, s.nodes, p, x.q, x.dq, x.v, w.x, True):
        for k in range(x.v.shape[0]):
            x.dq[k] += w.x[s.xv[k]]
        for k in range(x.lam.shape[0]):
            x.lams[k] += w.x[s.xl[k]]


@kernel
def _new_momenta(s, w, x, h):
    """x.p = h D2 L_d at the end of the step."""
    wm, scheme, half = work_at(x.middle[0]), x.scheme, 0.5 * h * h
    forces_in_the_middle(s, wm, x)
    update_frames(s.nodes, x.qn, w.z, w.spin)
    clear(w.x)
    if scheme >= LIVENS:
        internal_forces(s, x.qm, x.lams, w.x)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if x.node_steps[i] != 0:
            ask_node(s, w, x, i, ACCEPT, x.lams, h)
            continue
        y = w.pulled_back
        momentum(n, x.q, x.qn, x.dq, x.z0[i], w.z[i], True, scheme == HAMILTON, w.force_a, y, 0)
        for m in range(n.nv):
            x.p[n.v0 + m] = y[m] - half * x.force[n.v0 + m] - w.x[n.x0 + m]


@kernel
def _velocities(s, w, x, p, h):
    """Recorded velocities, projected on the velocity constraints."""
    implicit, livens = False, x.scheme >= LIVENS
    for i in range(1, s.nodes.shape[0]):
        if x.node_steps[i] != 0 or (may_lack_velocity(s.nodes[i]) and not livens):
            implicit = True  # M v + G^T mu = p, G v = 0
            continue
        velocity_of_momentum(s.nodes[i], x.qn, w.z[i], x.p, h, x.v, x.square, w.scratch)
    if not implicit and (x.lam.shape[0] == 0 or livens):
        return
    clear(w.x)
    velocity_defect(s, w, x.qn, x.v, w.x)
    for k in range(x.lam.shape[0]):
        w.x[s.xl[k]] *= -1.0
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if x.node_steps[i] != 0:
            ask_node(s, w, x, i, VELOCITY, x.lams, h)
        elif may_lack_velocity(n) and not livens:
            momentum_of_velocity(n, x.qn, x.v, w.z[i], w.zd[i], h, x.vn, w.scratch)
            for m in range(n.nv):
                w.x[n.x0 + m] = (x.p[n.v0 + m] - x.vn[n.v0 + m]) / h
    tangent(s, w, x.qn, x.zero, x.zero, x.none, w.eye, 1.0, 0.0, 0.0, w.matrix)
    factor(s, w, w.matrix, w.pivots, w.dinv)
    p.factorisations += 1
    solve(s, w.matrix, w.pivots, w.dinv, w.x)
    for k in range(x.v.shape[0]):
        x.v[k] += w.x[s.xv[k]]


@_step
def accept(s, w, x, p):
    """Make the new values the state."""
    h, scheme = p.step, x.scheme
    _new_momenta(s, w, x, h)
    for k in range(x.v.shape[0]):
        x.zero[k] = 0.0
        x.secant[k] = x.v[k]
    _velocities(s, w, x, p, h)
    for k in range(x.v.shape[0]):
        x.vd[k] = (x.v[k] - x.secant[k]) / h
    # the momenta of the start contain one half of the constraint force already; those of LIVENS always do
    c = (2.0 if p.history == 0 or scheme >= LIVENS else 1.0) / (h * h)
    for k in range(x.lam.shape[0]):
        x.lam[k] = c * x.lams[k]
    for k in range(x.q.shape[0]):
        x.q[k] = x.qn[k]
    update_velocities(s.nodes, x.q, x.v, w.spin, w.z, w.zd, w.scratch)
    copy_frames(w.z, x.z0)
    remember_angles(s, w, x.q, x.v)
    show_momenta(x, h)
    p.history += 1


@entry(Tables, Work, VariationalState, real)
def momenta_of_points(s, w, x, h):
    """x.p = -h D1 L_d(q, qn) for two given points, for MIDPOINT; multiples of G(q)^T do not matter."""
    wm = work_at(x.middle[0])
    update_frames(s.nodes, x.q, w.z, w.spin)
    copy_frames(w.z, x.z0)
    for k in range(x.q.shape[0]):
        x.dq[k] = x.qn[k] - x.q[k]
        x.secant[k] = x.dq[k] / h
        x.qm[k] = 0.5 * (x.q[k] + x.qn[k])
    forces_in_the_middle(s, wm, x)
    update_frames(s.nodes, x.qn, w.z, w.spin)
    w.time[0] = wm.time[0] + 0.5 * h
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if x.node_steps[i] != 0:
            for m in range(n.v0, n.v0 + n.nv):
                x.p[m] = 0.0
            ask_node(s, w, x, i, EQUATION, x.none, h)
            for m in range(n.nv):
                x.p[n.v0 + m] = w.x[n.x0 + m]
            continue
        y = w.pulled_back
        momentum(n, x.q, x.qn, x.dq, x.z0[i], w.z[i], False, False, w.force_a, y, 0)
        for m in range(n.nv):
            x.p[n.v0 + m] = y[m] + 0.5 * h * h * x.force[n.v0 + m]
    show_momenta(x, h)


@_step
def velocities_of_points(s, w, x, p):
    """x.v = velocities at q that belong to the momenta of two points; functions of time are those of the start."""
    for k in range(x.q.shape[0]):
        x.qn[k] = x.q[k]
    update_frames(s.nodes, x.qn, w.z, w.spin)
    _velocities(s, w, x, p, p.step)


ENTRIES = {
    loop.LOAD: load,
    loop.BEGIN: begin,
    loop.PREDICT: predict,
    loop.RESIDUAL: residual,
    loop.SOLVE: solve_equations,
    loop.ACCEPT: accept,
    loop.RESTART: restart,
}
