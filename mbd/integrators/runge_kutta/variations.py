"""Forward sensitivities of explicit methods by the variational equations of their stages.

The accelerations of a stage solve F = (M a - f + B^T lambda; B a + gamma) = 0 with A = [M B^T; B 0]. Along a parameter

    A (da, d lambda) = -F',    F' = F_q dq + F_v dv + F_theta at fixed (a, lambda),

so that a stage costs one directional derivative (``mbd.system.along``) and one more right-hand side for the factors
that it has anyway, four at a time. The projections after a step are linear equations with the same matrix. Increments
on Lie nodes follow

    d_i = T_exp(dq_i) (T_exp(-dq_i)^-1 d_0 + d(dq_i)),    K_i = T_exp^-1(dq_i) v_i.

In joint coordinates without loops A is the mass matrix, whose factors are those of the articulated bodies. For these,
and points and rigid bodies with Lie nodes without driven constraints and couplings; stages and projections are those of
``kernels``, bit for bit.
"""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.fours import AT_ONCE
from ...compiled.kernel import kernel
from ...compiled.kinds import fours, fours_matrix, integer, matrix, vector
from ...compiled.record import Record
from ...linalg.front import FAILED, WEAKEST
from ...math.arrays import clear, copy, copy_apart
from ...nodes.along import slope_along
from ...nodes.increments import apply_rows, apply_tangent_inverse, store_tangent, store_tangent_inverse
from ...nodes.mass import free_accelerations
from ...system.accelerations import accelerations_again, accelerations_here
from ...system.along import equations_along, look_at_accelerations, look_at_projection, projection_along
from ...system.directions import ON_ACCELERATIONS, ON_POSITIONS, Along, end_of_group
from ...system.instant import (
    advance,
    constraint_rates,
    constraints,
    evaluate_functions,
    frames,
    look_ahead,
    remember_angles,
    velocities,
)
from ...system.mass_matrix import factor_mass
from ...system.matrix import finish
from ...system.right_hand_sides import Sides, solve_four
from ...system.tables import FLAG_SIMPLE, FLAG_TREE, PARAMETER_LENGTH, Tables, Work
from ...system.tree_along import articulated_solution, look_along_tree
from ..newton import ROUND_OFF, largest_violation
from ..verdicts import CONVERGED, NOT_FINITE, PROJECTION, SINGULAR
from .kernels import write_row
from .state import RungeKuttaNumbers, RungeKuttaState


class Variations(Record):
    """Sensitivities of a state, a row for each group of four parameters, those of the stages of a step, and buffers."""

    dq = fours_matrix  # increments of the configuration per parameter
    dv = fours_matrix
    dvd = fours_matrix
    dlam = fours_matrix
    kq = fours_matrix  # (stages * groups, n_v): slopes of the stages
    kv = fours_matrix
    step_q = fours_matrix  # increments since the start of the step, and the configuration and velocity that follow
    now_q = fours_matrix
    now_v = fours_matrix
    rhs = fours  # change of the equations along a group, and their solution
    from_start = matrix  # (nodes, 9): T_exp(-dq)^-1, T_exp(dq) and T_exp(dq)^-1
    to_end = matrix
    inverse = matrix
    back = vector
    mu = vector
    u = vector
    zero = vector  # as long as velocities or multipliers


@kernel
def _move_along(s, f, base, dq):
    """f.now_q: increments at the end of dq, from those at its start and those of dq in f.step_q."""
    for k in range(f.back.shape[0]):
        f.back[k] = -dq[k]
    store_tangent_inverse(s.nodes, f.back, f.from_start)
    store_tangent(s.nodes, dq, f.to_end)
    for j in range(f.dq.shape[0]):
        d, step = f.now_q[j], f.step_q[j]
        apply_rows(s.nodes, f.from_start, base[j], d)
        for k in range(d.shape[0]):
            d[k] += step[k]
        apply_rows(s.nodes, f.to_end, d, d)


@kernel
def _combine_along(f, stages, weights, h):
    """f.step_q and f.now_v: increments and velocities of a stage or of the step, from the slopes before."""
    n = f.dq.shape[0]
    for j in range(n):
        step, v = f.step_q[j], f.now_v[j]
        clear(step)
        copy(f.dv[j], v)
        for i in range(stages):
            c, kq, kv = h * weights[i], f.kq[i * n + j], f.kv[i * n + j]
            if c != 0.0:
                for k in range(v.shape[0]):
                    step[k] += c * kq[k]
                    v[k] += c * kv[k]


@kernel
def _solve_along(s, w, f, g, b, j):
    """f.rhs = -A^-1 f.rhs for a group of parameters."""
    for k in range(f.rhs.shape[0]):
        f.rhs[k] = -f.rhs[k]
    solve_four(s, w, b, f.rhs, end_of_group(g, j) - AT_ONCE * j)


@kernel
def _accelerations_along(s, w, x, f, g, b, v, vd, t, out, first):
    """Rows of ``out`` from ``first`` on: change of the accelerations that have just been computed; f.dlam.

    The state is at f.now_q, f.now_v along the parameters.
    """
    g.time[0] = t
    tree, simple = s.flags[FLAG_TREE] != 0, s.flags[FLAG_SIMPLE] != 0
    if tree:
        look_along_tree(s, w, g.tree, x.qn, v, vd)
    elif not simple:
        look_at_accelerations(s, w, g, v, vd, x.lam)
    for j in range(f.dq.shape[0]):
        a, dlam = out[first + j], f.dlam[j]
        equations_along(
            s, w, g, j, x.qn, v, vd, x.lam, f.now_q[j], f.now_v[j], g.still, g.still, f.rhs,
            ON_POSITIONS if simple or tree else ON_ACCELERATIONS,
        )  # fmt: skip
        if tree:
            articulated_solution(s, w, g.tree, f.rhs, a)
            continue
        if simple:
            free_accelerations(s.nodes, w.z, f.rhs, a)
            continue
        _solve_along(s, w, f, g, b, j)
        for k in range(a.shape[0]):
            a[k] = f.rhs[s.xv[k]]
        for k in range(x.lam.shape[0]):
            dlam[k] = f.rhs[s.xl[k]]


@kernel
def _stages(s, w, x, p, f, g, b, t, h):
    """Slopes of all stages, and how they change."""
    n = f.dq.shape[0]
    for k in range(x.v.shape[0]):
        x.kq[0, k] = x.v[k]
        x.kv[0, k] = x.vd[k]
    for j in range(n):
        copy(f.dv[j], f.kq[j])
        copy(f.dvd[j], f.kv[j])
    for i in range(1, p.b.shape[0]):
        for k in range(x.v.shape[0]):
            dq, dv = 0.0, 0.0
            for j in range(i):
                a = p.a[i, j]
                dq += a * x.kq[j, k]
                dv += a * x.kv[j, k]
            x.dq[k] = h * dq
            x.vn[k] = x.v[k] + h * dv
        if s.flags[FLAG_TREE] != 0:
            advance(s, w, x.q, x.dq, x.qn)  # of a parameter that moves joints frames are made again, from coordinates
        else:
            look_ahead(s, w, x.q, x.dq, x.qn)
        time = t + min(max(p.c[i], 0.0), 1.0) * h
        evaluate_functions(s, w, time)
        accelerations_here(s, w, x.qn, x.vn, x.zero, x.kv[i], x.lam)
        p.evaluations += 1
        apply_tangent_inverse(s.nodes, x.dq, x.vn, x.kq[i], w.rotation)
        _combine_along(f, i, p.a[i], h)
        _move_along(s, f, f.dq, x.dq)
        _accelerations_along(s, w, x, f, g, b, x.vn, x.kv[i], time, f.kv, i * n)
        store_tangent_inverse(s.nodes, x.dq, f.inverse)
        for j in range(n):
            slope_along(s.nodes, f.inverse, x.dq, x.vn, f.step_q[j], f.now_v[j], f.kq[i * n + j])


@kernel
def _end(s, w, x, p, f, h):
    """(qn, vn) at the end of the step, before it is projected."""
    stages = p.b.shape[0]
    for k in range(x.v.shape[0]):
        dq, dv = 0.0, 0.0
        for j in range(stages):
            b = p.b[j]
            dq += b * x.kq[j, k]
            dv += b * x.kv[j, k]
        x.dq[k] = h * dq
        x.vn[k] = x.v[k] + h * dv
    advance(s, w, x.q, x.dq, x.qn)
    _combine_along(f, stages, p.b, h)
    _move_along(s, f, f.dq, x.dq)


@kernel
def _multipliers_of(s, w, f):
    for k in range(s.xl.shape[0]):
        f.mu[k] = w.x[s.xl[k]]


@kernel
def _project(s, w, x, p, f, g, b):
    """Back to the constraints in the mass metric, as in ``kernels``; f.now_q and f.now_v follow."""
    length = s.parameters[PARAMETER_LENGTH]
    previous = 1e300
    for iteration in range(6):
        frames(s, w, x.qn)
        clear(w.x)
        constraints(s, w, x.qn, w.x)
        error, _ = largest_violation(s, w.x, ROUND_OFF * length, ROUND_OFF)
        if error <= 1.0 or (iteration > 1 and error > 0.5 * previous and error < 1e3):
            break
        if iteration == 5 or not error < 1e200:
            p.verdict = PROJECTION
            return
        previous = error
        for k in range(s.xl.shape[0]):
            w.x[s.xl[k]] = -w.x[s.xl[k]]
        factor_mass(s, w, x.qn, x.vn, x.zero, w.x)
        finish(s, w.matrix, w.pivots, w.dinv, w.x)
        for k in range(x.v.shape[0]):
            x.dq[k] = w.x[s.xv[k]]
        _multipliers_of(s, w, f)
        look_at_projection(s, w, x.qn, x.dq, f.mu)
        for j in range(f.dq.shape[0]):
            projection_along(s, w, g, j, x.qn, x.dq, x.dq, f.mu, f.zero, f.now_q[j], g.still, f.rhs, 1)
            _solve_along(s, w, f, g, b, j)
            step = f.step_q[j]
            for k in range(x.v.shape[0]):
                step[k] = f.rhs[s.xv[k]]
        _move_along(s, f, f.now_q, x.dq)
        advance(s, w, x.qn, x.dq, x.qn)
        p.projections += 1
    velocities(s, w, x.qn, x.vn)
    clear(w.x)
    constraint_rates(s, w, x.qn, x.vn, w.x)
    for k in range(s.xl.shape[0]):
        w.x[s.xl[k]] = -w.x[s.xl[k]]
    factor_mass(s, w, x.qn, x.vn, x.zero, w.x)
    finish(s, w.matrix, w.pivots, w.dinv, w.x)
    for k in range(x.v.shape[0]):
        f.u[k] = w.x[s.xv[k]]
        x.vn[k] += w.x[s.xv[k]]
    _multipliers_of(s, w, f)
    look_at_projection(s, w, x.qn, x.vn, f.mu)
    for j in range(f.dq.shape[0]):
        projection_along(s, w, g, j, x.qn, x.vn, f.u, f.mu, f.zero, f.now_q[j], f.now_v[j], f.rhs, 0)
        _solve_along(s, w, f, g, b, j)
        v = f.now_v[j]
        for k in range(x.v.shape[0]):
            v[k] += f.rhs[s.xv[k]]


@kernel
def _accept(s, w, x, p, f, g, b, t):
    """Make (qn, vn) the state, projected, with v_dot and lambda there; leaves p.verdict."""
    evaluate_functions(s, w, t)
    if x.lam.shape[0] > 0:
        _project(s, w, x, p, f, g, b)
        if p.verdict != CONVERGED:
            return
    copy(x.qn, x.q)
    copy(x.vn, x.v)
    evaluate_functions(s, w, t)
    if x.lam.shape[0] > 0:
        accelerations_again(s, w, x.q, x.v, x.zero, x.vd, x.lam)  # with the factors of the projection
    else:
        accelerations_here(s, w, x.q, x.v, x.zero, x.vd, x.lam)
    p.evaluations += 1
    remember_angles(s, w, x.q, x.v)
    finite = 0.0
    for k in range(x.v.shape[0]):
        finite += x.v[k] * 0.0 + x.vd[k] * 0.0
    if finite != 0.0:
        p.verdict = NOT_FINITE
        return
    if w.report[FAILED] != 0.0:
        p.where, p.verdict = w.report[WEAKEST], SINGULAR
        return
    _accelerations_along(s, w, x, f, g, b, x.v, x.vd, t, f.dvd, 0)
    for j in range(f.dq.shape[0]):
        copy(f.now_q[j], f.dq[j])
        copy(f.now_v[j], f.dv[j])


@entry(
    Tables, Work, RungeKuttaState, RungeKuttaNumbers, Variations, Along, Sides, integer, integer, integer, matrix,
    matrix, matrix, matrix, matrix, matrix, matrix, matrix, matrix,
)  # fmt: skip
def run_fixed_with_variations(
    s, w, x, p, f, g, b, before, count, every, out_q, out_v, out_vd, out_l, out_turns, out_dq, out_dv, out_dvd,
    out_dlam,
):  # fmt: skip
    """Up to ``count`` equal steps with their sensitivities, recorded as by ``run_fixed``; p.done of them are made."""
    n, h = g.size.shape[0], p.step
    p.done, p.verdict = 0, CONVERGED
    for step in range(count):
        _stages(s, w, x, p, f, g, b, p.origin + p.steps * h, h)
        _end(s, w, x, p, f, h)
        _accept(s, w, x, p, f, g, b, p.origin + (p.steps + 1) * h)
        if p.verdict != CONVERGED:
            return
        p.steps += 1
        p.done = step + 1
        if p.steps % every == 0:
            write_row(w, x, p.steps // every - 1 - before, out_q, out_v, out_vd, out_l, out_turns)
            records = out_dq.shape[0] // n  # of each parameter, with that of the start
            for j in range(f.dq.shape[0]):
                first = AT_ONCE * j
                row, group = first * records + p.steps // every, end_of_group(g, j) - first
                copy_apart(f.dq[j], group, row, records, out_dq)
                copy_apart(f.dv[j], group, row, records, out_dv)
                copy_apart(f.dvd[j], group, row, records, out_dvd)
                copy_apart(f.dlam[j], group, row, records, out_dlam)
