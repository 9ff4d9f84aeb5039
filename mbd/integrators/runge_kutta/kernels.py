"""Explicit Runge-Kutta methods, compiled; Munthe-Kaas on Lie nodes [Holzinger et al. 2024, Algorithms 2 and 3].

A stage advances increments, not coordinates: ``dq_i = h sum a_ij K_j``, ``q_i = q_n o exp(dq_i)``,
``K_i = T_exp^-1(dq_i) v_i``. On conventional nodes this is the classical method. Constrained systems are integrated in
their index-1 form; after each accepted step position and velocity are projected back to the constraints in the mass
metric, through the same update of coordinates, which keeps the method's order.
"""

from __future__ import annotations

import math

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import integer, matrix, real, vector
from ...linalg.front import FAILED, WEAKEST
from ...math.arrays import clear, copy
from ...nodes.increments import apply_tangent_inverse
from ...system.accelerations import accelerations, accelerations_again, accelerations_here
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
from ...system.instant_elements import check_charts
from ...system.mass_matrix import factor_mass
from ...system.matrix import finish
from ...system.tables import FLAG_CHARTS, PARAMETER_LENGTH, Tables, Work
from ..newton import ROUND_OFF, largest_violation
from ..verdicts import CHART, CONVERGED, NOT_FINITE, PROJECTION, SINGULAR, STALLED
from .half_explicit import half_explicit_stages
from .state import RungeKuttaNumbers, RungeKuttaState

SHORTER = 0.95  # a rejected step is followed by one that is at least so much shorter
TIME_NUDGE = 1e-10  # fraction of a step by which functions of time are kept away from its ends at a switch


_run = (Tables, Work, RungeKuttaState, RungeKuttaNumbers)


@kernel
def _stages(s, w, x, p, t, h, nudge):
    """Slopes of all stages; the first one is the acceleration of the state, known already."""
    if p.half_explicit != 0 and x.lam.shape[0] > 0:
        half_explicit_stages(s, w, x, p, t, h, nudge)
        return
    nv = x.v.shape[0]
    for k in range(nv):
        x.kq[0, k] = x.v[k]
        x.kv[0, k] = x.vd[k]
    for i in range(1, p.b.shape[0]):
        for k in range(nv):
            dq, dv = 0.0, 0.0
            for j in range(i):
                a = p.a[i, j]
                dq += a * x.kq[j, k]
                dv += a * x.kv[j, k]
            x.dq[k] = h * dq
            x.vn[k] = x.v[k] + h * dv
        look_ahead(s, w, x.q, x.dq, x.qn)
        c = min(max(p.c[i], nudge), 1.0 - nudge)
        evaluate_functions(s, w, t + c * h)
        accelerations_here(s, w, x.qn, x.vn, x.zero, x.kv[i], x.lam)
        p.evaluations += 1
        apply_tangent_inverse(s.nodes, x.dq, x.vn, x.kq[i], w.rotation)


@kernel
def _combine(s, w, x, p, h):
    """qn, vn at the end of the step."""
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


@kernel
def _error(s, x, p, h):
    """Scaled error of the step (B16)-(B18), in increments: stored rotation parameters may jump."""
    total = 0.0
    nv = x.v.shape[0]
    for k in range(nv):
        dq, dv = 0.0, 0.0
        for j in range(p.b.shape[0]):
            dq += p.error[j] * x.kq[j, k]
            dv += p.error[j] * x.kv[j, k]
        m = s.qv[k]
        size = 1.0 if m < 0 else max(abs(x.q[m]), abs(x.qn[m]))
        dq *= h / (p.atol + p.rtol * size)
        dv *= h / (p.atol + p.rtol * max(abs(x.v[k]), abs(x.vn[k])))
        total += dq * dq + dv * dv
    return math.sqrt(total / max(2 * nv, 1))


@kernel
def _project(s, w, x, p):
    """Back to the constraints in the mass metric: positions (at most five times), then velocities, of (qn, vn).

    Leaves the factors of [M B^T; B 0] at the new state in w.matrix, and p.verdict if it failed.
    """
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
        x.vn[k] += w.x[s.xv[k]]


@kernel
def _accept(s, w, x, p, t, first_same_as_last, nudge_time):
    """Make (qn, vn) the state, projected; compute v_dot and lambda there. Leaves p.verdict."""
    nv = x.v.shape[0]
    evaluate_functions(s, w, nudge_time)
    if x.lam.shape[0] > 0:
        _project(s, w, x, p)
        if p.verdict != CONVERGED:
            return
    if s.flags[FLAG_CHARTS] != 0:
        check_charts(s, w, x.q, x.qn, x.vn, x.vd, x.dq, 0.0, 0)
        if w.chart != 0.0:
            p.where, p.verdict = w.chart, CHART
            return
    copy(x.qn, x.q)
    copy(x.vn, x.v)
    if first_same_as_last and x.lam.shape[0] == 0 and nudge_time == t and s.flags[FLAG_CHARTS] == 0:
        copy(x.kv[p.b.shape[0] - 1], x.vd)
    else:
        evaluate_functions(s, w, t)
        if x.lam.shape[0] > 0 and nudge_time == t and s.flags[FLAG_CHARTS] == 0:
            accelerations_again(s, w, x.q, x.v, x.zero, x.vd, x.lam)  # with the factors of the projection
        else:
            accelerations_here(s, w, x.q, x.v, x.zero, x.vd, x.lam)
        p.evaluations += 1
    remember_angles(s, w, x.q, x.v)
    if s.flags[FLAG_CHARTS] != 0:
        check_charts(s, w, x.q, x.q, x.v, x.vd, x.dq, 0.0, 1)
    finite = 0.0
    for k in range(nv):
        finite += x.v[k] * 0.0 + x.vd[k] * 0.0
    if finite != 0.0:
        p.verdict = NOT_FINITE
    elif w.report[FAILED] != 0.0:
        p.where, p.verdict = w.report[WEAKEST], SINGULAR


@entry(*_run)
def begin(s, w, x, p):
    """Accelerations of the first state."""
    evaluate_functions(s, w, p.time)
    accelerations(s, w, x.q, x.v, x.zero, x.vd, x.lam)
    p.evaluations += 1


@kernel
def write_row(w, x, row, out_q, out_v, out_vd, out_l, out_turns):
    """Record the state."""
    copy(x.q, out_q[row])
    copy(x.v, out_v[row])
    copy(x.vd, out_vd[row])
    copy(x.lam, out_l[row])
    copy(w.turns, out_turns[row])


@kernel
def fixed_step(s, w, x, p):
    """One of equal steps, counted in p.steps; leaves p.verdict."""
    h = p.step
    _stages(s, w, x, p, p.origin + p.steps * h, h, 0.0)
    _combine(s, w, x, p, h)
    end = p.origin + (p.steps + 1) * h
    _accept(s, w, x, p, end, False, end)
    if p.verdict == CONVERGED:
        p.steps += 1


@entry(*_run, integer, integer, integer, matrix, matrix, matrix, matrix, matrix)
def run_fixed(s, w, x, p, before, count, every, out_q, out_v, out_vd, out_l, out_turns):
    """Up to ``count`` equal steps; p.done of them are made, and added to p.steps.

    Every ``every``-th step, counted from the origin, is written to the output arrays; their first row comes after
    ``before`` such records. No step is made whose record would find no row.
    """
    p.done, p.verdict = 0, CONVERGED
    for step in range(count):
        number = p.steps + 1
        row = number // every - 1 - before
        recorded = number % every == 0
        if recorded and not 0 <= row < out_q.shape[0]:
            return
        fixed_step(s, w, x, p)
        if p.verdict != CONVERGED:
            return
        if recorded:
            write_row(w, x, row, out_q, out_v, out_vd, out_l, out_turns)
        p.done = step + 1


@entry(*_run, real, real, vector, matrix, matrix, matrix, matrix, matrix)
def run_adaptive(s, w, x, p, t_end, output, out_t, out_q, out_v, out_vd, out_l, out_turns):
    """Steps with size control until the output is full or t_end is reached; p.rows records are written.

    ``output`` > 0: only states at multiples of it (the steps are made to end there); ``output`` < 0: the same steps,
    and the states after all of them. A rejected step is followed by a shorter one, a step always advances the time, and
    steps at the smallest size in spite of their error are counted: the loop ends.
    """
    switch = 0
    p.rows, p.verdict = 0, CONVERGED
    while p.rows < out_t.shape[0]:
        t = p.time
        if t >= t_end:
            break
        h = min(p.next_step, p.largest)
        wanted = h
        tiny = 1e-12 * max(abs(t), h)
        while p.switches[switch] <= t + tiny:
            switch += 1
        stop = min(t_end, p.switches[switch])
        writes = output <= 0.0
        if output != 0.0:
            width = abs(output)
            grid = width * (math.floor(t / width + 1e-9) + 1.0)
            if grid <= t + tiny:  # t is a multiple as far as its digits tell
                grid += width
            if grid < stop - 1e-9 * width:  # not a sliver before the end
                stop = grid
        end = t + h
        if end > stop - tiny:
            end = stop
        elif end > stop - h:  # avoid a last sliver
            end = 0.5 * (t + stop)
        h = end - t
        if not h > 0.0:
            p.verdict = STALLED
            break
        nudge = TIME_NUDGE if p.switches.shape[0] > 1 else 0.0
        _stages(s, w, x, p, t, h, nudge)
        _combine(s, w, x, p, h)
        error = _error(s, x, p, h)
        optimal = h * (1.0 / max(error, 1e-10)) ** p.exponent  # (B19)
        smallest = max(p.smallest, ROUND_OFF * abs(t))
        # h may exceed the wanted step by the round-off of t, which must not keep the smallest step from being accepted
        if not error <= 1.0 and min(h, wanted) > smallest * (1.0 + 1e-9):
            p.rejected += 1
            if not error < 1e200:
                optimal = 0.1 * h
            p.next_step = max(smallest, min(max(p.safety * optimal, 0.1 * h), SHORTER * h))
            # a rejected trial has moved only scratch; the state and its acceleration are still those at t
            continue
        if error <= 1.0:
            p.in_vain = 0
        else:
            p.forced += 1
            p.in_vain += 1
            if p.in_vain > p.patience:
                p.verdict = STALLED
                break
        _accept(s, w, x, p, end, p.first_same_as_last != 0 and nudge == 0.0, end - nudge * h)
        if p.verdict != CONVERGED:
            break
        p.steps += 1
        p.time = end
        proposal = min(h * p.increase, max(smallest, p.safety * optimal))  # (B20)
        # a step shortened only to end somewhere says nothing against the step that was wanted
        p.next_step = max(proposal, wanted) if h < wanted and error <= 1.0 else proposal
        if output > 0.0:
            k = math.floor(end / output + 0.5)
            writes = abs(end - k * output) <= 1e-9 * output + 1e-15 * abs(end) or end >= t_end
        if writes or end >= t_end:
            out_t[p.rows] = end
            write_row(w, x, p.rows, out_q, out_v, out_vd, out_l, out_turns)
            p.rows += 1
