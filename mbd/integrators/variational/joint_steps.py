"""The midpoint Lagrangian in joint coordinates, as the time loop asks for it.

The equations are those of ``equations``; what differs is that the kinetic energy couples the joints of a path, so that
momenta come from the leaves of the tree (``system.tree_midpoint``). Three sets of buffers keep the frames of the start,
the middle and the end of a step apart: constraints act at the start, hold at the end, and forces act in the middle.
"""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import real
from ...math.arrays import clear, copy
from ...nodes.inertia import frame_stiffness
from ...nodes.internal import internal_gradients
from ...nodes.step.momenta import momentum, momentum_matrix, momentum_of_velocity
from ...system.accelerations import accelerations
from ...system.instant import constraint_rates, constraints, evaluate_functions, frames, remember_angles, velocities
from ...system.matrix import factor, solve, tangent
from ...system.tables import BY_FRONTS, BY_RECURSION, FLAG_LOADED, FLAG_TREE, Tables, Work, work_at
from ...system.tree_midpoint import (
    END,
    FROM_CONSTRAINT,
    MOMENTA,
    START,
    TO_CONSTRAINT,
    constraint_blocks,
    constraint_rows,
    midpoint_matrix,
    midpoint_rows,
    solve_pairs,
)
from .. import loop
from ..directors.linear_frames import copy_frames
from ..energy_momentum.node_steps import ACCEPT, EQUATION, MATRIX, VELOCITY
from ..energy_momentum.node_steps import START as START_OF_NODE
from ..newton import equation_error, factorised, factors_suffice, fresh_scales, measure
from ..numbers import NewtonNumbers
from .equations import VariationalState, ask_node, slips_of_step
from .steps import predict, show_momenta

_step = entry(Tables, Work, VariationalState, NewtonNumbers)


@_step
def start(s, w, x, p):
    """Accelerations, multipliers and momenta of the start."""
    h = p.step
    evaluate_functions(s, w, p.origin + p.index * p.step)
    accelerations(s, w, x.q, x.v, x.zero, x.vd, x.lam)
    _momenta_of_velocities(s, w, x, h)
    remember_angles(s, w, x.q, x.v)
    show_momenta(x, h)


@kernel
def _momenta_of_velocities(s, w, x, h):
    """x.p = h p (frames and velocities must be up to date)."""
    midpoint_rows(s, w, x.q, x.v, x.none, h, MOMENTA, x.p)
    for m in range(s.tree.free.shape[0]):
        i = s.tree.free[m]
        if x.node_steps[i] != 0:
            ask_node(s, w, x, i, START_OF_NODE, x.lams, h)
        else:
            momentum_of_velocity(s.nodes[i], x.q, x.v, w.z[i], w.zd[i], h, x.p, w.scratch)


@_step
def restart(s, w, x, p):
    """Momenta of the velocities, scaled by the new step."""
    frames(s, w, x.q)
    velocities(s, w, x.q, x.v)
    _momenta_of_velocities(s, w, x, p.step)


@_step
def load(s, w, x, p):
    """Frames of the state."""
    frames(s, w, x.q)
    copy_frames(w.z, x.z0)


@_step
def begin(s, w, x, p):
    """Frames of the start; functions of time at the start, in the middle and at the end of the step."""
    w0, h = work_at(x.first[0]), p.step
    evaluate_functions(s, w0, p.time)
    frames(s, w0, x.q)
    evaluate_functions(s, work_at(x.middle[0]), p.time + 0.5 * h)
    evaluate_functions(s, w, p.time + h)


@kernel
def _points(x, h):
    """Configurations of the end and the middle, and the velocity between the ends."""
    for k in range(x.v.shape[0]):
        x.qn[k] = x.q[k] + x.dq[k]
        x.qm[k] = x.q[k] + 0.5 * x.dq[k]
        x.secant[k] = x.dq[k] / h


@kernel
def _momenta(s, w, x, i, end, h):
    """w.pulled_back = h D2 L_d of the kinetic energy of a body in absolute coordinates if ``end``, else -h D1 L_d."""
    momentum(s.nodes[i], x.q, x.qn, x.dq, x.z0[i], w.z[i], end, False, w.force_a, w.pulled_back, 0)


@kernel
def _half_impulses(s, x, h):
    """x.force of bodies in absolute coordinates, where it is the force itself, as h times half of the impulse."""
    for m in range(s.tree.free.shape[0]):
        i = s.tree.free[m]
        n = s.nodes[i]
        if x.node_steps[i] == 0:
            for k in range(n.v0, n.v0 + n.nv):
                x.force[k] *= 0.5 * h * h


@_step
def residual(s, w, x, p):
    """Equations of the step, and their error; frames of the end into w.z."""
    h = p.step
    _points(x, h)
    clear(w.x)
    midpoint_rows(s, work_at(x.middle[0]), x.qm, x.secant, x.none, h, START, x.force)
    _half_impulses(s, x, h)
    constraint_rows(s, work_at(x.first[0]), x.q, x.lams, w.x)
    for k in range(x.v.shape[0]):
        w.x[s.xv[k]] += x.force[k] - x.p[k]
    frames(s, w, x.qn)
    for m in range(s.tree.free.shape[0]):
        i = s.tree.free[m]
        n = s.nodes[i]
        if x.node_steps[i] != 0:
            ask_node(s, w, x, i, EQUATION, x.lams, h)
            continue
        _momenta(s, w, x, i, False, h)
        for k in range(n.nv):
            w.x[n.x0 + k] += w.pulled_back[k]
    constraints(s, w, x.qn, w.x)
    if s.nonholonomic.shape[0] > 0:  # whose derivatives are taken at the end of the step, not over it
        slips_of_step(s, w, x, h)
    if p.iteration == 0:
        for k in range(x.v.shape[0]):
            x.vn[k] = 2.0 * (x.secant[k] - x.v[k]) / h
        fresh_scales(s, w, x.qn, x.secant, x.vn, x.lam, h * h, p)
    p.error = equation_error(s, w.x, x.lam.shape[0], p)


@kernel
def _matrix(s, w, x, h):
    """The matrix of all bodies and constraints, in the fronts, or the factors of the tree."""
    wm = work_at(x.middle[0])
    if s.flags[FLAG_TREE] == BY_RECURSION:
        midpoint_matrix(s, wm, x.qm, x.secant, x.none, h, x.pairs, x.factors)
        return
    midpoint_matrix(s, wm, x.qm, x.secant, x.none, h, x.pairs, w.matrix)
    if s.flags[FLAG_LOADED] != 0:
        constraint_blocks(s, work_at(x.first[0]), x.q, x.v, x.none, FROM_CONSTRAINT, w.matrix)
        constraint_blocks(s, w, x.qn, x.v, x.none, TO_CONSTRAINT, w.matrix)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.nl > 0 and x.node_steps[i] == 0:
            k = n.q0 + n.nx
            internal_gradients(n, x.qn, k, 1.0, x.q, k, 1.0, w.matrix)
    for m in range(s.tree.free.shape[0]):
        i = s.tree.free[m]
        n = s.nodes[i]
        if x.node_steps[i] != 0:
            ask_node(s, w, x, i, MATRIX, x.lams, h)
            continue
        momentum_matrix(n, x.q, x.qn, x.z0[i], w.z[i], False, w.jacobians, w.matrix, w.scratch)
        frame_stiffness(n, wm.z[i], wm.f[i], 0.25 * h * h, w.matrix)


@_step
def solve_equations(s, w, x, p):
    """The correction, with new factors unless the last ones suffice."""
    wm = work_at(x.middle[0])
    by_fronts = s.flags[FLAG_TREE] == BY_FRONTS
    if p.iteration == 0 or not factors_suffice(p.error, p.before):
        _matrix(s, w, x, p.step)
        if by_fronts:
            factor(s, w, w.matrix, w.pivots, w.dinv)
        if not factorised(w if by_fronts else wm, p):
            return
    for k in range(w.x.shape[0]):
        w.x[k] = -w.x[k]
    if by_fronts:
        solve(s, w.matrix, w.pivots, w.dinv, w.x)
    else:
        solve_pairs(s, wm, x.factors, w.x)
    if measure(s, s.nodes, p, x.q, x.dq, x.v, w.x, True):
        for k in range(x.v.shape[0]):
            x.dq[k] += w.x[s.xv[k]]
        for k in range(x.lam.shape[0]):
            x.lams[k] += w.x[s.xl[k]]


@kernel
def _end_momenta(s, w, x, h):
    """x.p = h D2 L_d."""
    _points(x, h)
    midpoint_rows(s, work_at(x.middle[0]), x.qm, x.secant, x.none, h, END, x.force)
    frames(s, w, x.qn)
    for k in range(x.v.shape[0]):
        x.vn[k] = x.force[k]
    for m in range(s.tree.free.shape[0]):
        i = s.tree.free[m]
        n = s.nodes[i]
        if x.node_steps[i] != 0:
            ask_node(s, w, x, i, ACCEPT, x.lams, h)
            for k in range(n.v0, n.v0 + n.nv):
                x.vn[k] = x.p[k]
            continue
        _momenta(s, w, x, i, True, h)
        for k in range(n.nv):
            x.vn[n.v0 + k] = w.pulled_back[k] - 0.5 * h * h * x.force[n.v0 + k]
    copy(x.vn, x.p)


@kernel
def _velocities(s, w, x, p, h):
    """Recorded velocities: M v + G^T mu = p, G v + g_t = 0 at the end of the step (frames must be up to date)."""
    clear(w.x)
    for k in range(x.v.shape[0]):
        x.v[k] = 0.0
    if x.lam.shape[0] > 0:
        velocities(s, w, x.qn, x.v)
        constraint_rates(s, w, x.qn, x.v, w.x)
        for k in range(x.lam.shape[0]):
            w.x[s.xl[k]] *= -1.0
    for k in range(x.v.shape[0]):
        w.x[s.xv[k]] = x.p[k] / h
    for m in range(s.tree.free.shape[0]):
        if x.node_steps[s.tree.free[m]] != 0:
            ask_node(s, w, x, s.tree.free[m], VELOCITY, x.lams, h)
    tangent(s, w, x.qn, x.zero, x.zero, x.none, w.eye, 1.0, 0.0, 0.0, w.matrix)
    factor(s, w, w.matrix, w.pivots, w.dinv)
    p.factorisations += 1
    solve(s, w.matrix, w.pivots, w.dinv, w.x)
    for k in range(x.v.shape[0]):
        x.v[k] = w.x[s.xv[k]]


@_step
def accept(s, w, x, p):
    """Make the new values the state."""
    h = p.step
    _end_momenta(s, w, x, h)
    for k in range(x.v.shape[0]):
        x.zero[k] = 0.0
        x.secant[k] = x.v[k]
    _velocities(s, w, x, p, h)
    for k in range(x.v.shape[0]):
        x.vd[k] = (x.v[k] - x.secant[k]) / h
    c = (2.0 if p.history == 0 else 1.0) / (h * h)  # the momenta of the start have one half of the constraint force
    for k in range(x.lam.shape[0]):
        x.lam[k] = c * x.lams[k]
    copy(x.qn, x.q)
    velocities(s, w, x.q, x.v)
    copy_frames(w.z, x.z0)
    remember_angles(s, w, x.q, x.v)
    show_momenta(x, h)
    p.history += 1


@entry(Tables, Work, VariationalState, real)
def momenta_of_points(s, w, x, h):
    """x.p = -h D1 L_d(q, qn) for two given points; multiples of G(q)^T do not matter."""
    frames(s, w, x.q)
    copy_frames(w.z, x.z0)
    for k in range(x.v.shape[0]):
        x.dq[k] = x.qn[k] - x.q[k]
    _points(x, h)
    midpoint_rows(s, work_at(x.middle[0]), x.qm, x.secant, x.none, h, START, x.force)
    copy(x.force, x.p)
    frames(s, w, x.qn)
    w.time[0] = work_at(x.middle[0]).time[0] + 0.5 * h
    for m in range(s.tree.free.shape[0]):
        i = s.tree.free[m]
        n = s.nodes[i]
        if x.node_steps[i] != 0:
            for k in range(n.v0, n.v0 + n.nv):
                x.p[k] = 0.0
            ask_node(s, w, x, i, EQUATION, x.none, h)
            for k in range(n.nv):
                x.p[n.v0 + k] = w.x[n.x0 + k]
            continue
        _momenta(s, w, x, i, False, h)
        for k in range(n.nv):
            x.p[n.v0 + k] = w.pulled_back[k] + 0.5 * h * h * x.force[n.v0 + k]
    show_momenta(x, h)


@_step
def velocities_of_points(s, w, x, p):
    """x.v = velocities at q that belong to the momenta of two points; functions of time are those of the start."""
    copy(x.q, x.qn)
    frames(s, w, x.qn)
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
