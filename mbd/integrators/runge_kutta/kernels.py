"""Explicit Runge-Kutta methods, compiled; Munthe-Kaas on Lie nodes [Holzinger et al. 2024, Algorithms 2 and 3].

A stage advances increments, not coordinates: ``dq_i = h sum a_ij K_j``, ``q_i = q_n o exp(dq_i)``,
``K_i = T_exp^-1(dq_i) v_i``. On conventional nodes this is the classical method. Constrained systems are integrated in
their index-1 form; after each accepted step position and velocity are projected back to the constraints in the mass
metric, through the same update of coordinates, which keeps the method's order.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ...compiled.kernel import kernel
from ...compiled.record import NO_PLACE, declare_arrays
from ...nodes.increments import apply_tangent_inverse
from ...system.accelerations import accelerations, accelerations_here
from ...system.evaluate import (
    advance,
    clear,
    constraint_rates,
    constraints,
    copy,
    evaluate_functions,
    factor,
    frames,
    look_ahead,
    remember_angles,
    solve,
    tangent,
    velocities,
)
from ...system.optional import call_charts
from ...system.tables import FLAG_CHARTS, PARAMETER_LENGTH
from ..newton import ROUND_OFF, constraint_error

CODE_NOT_FINITE, CODE_SINGULAR, CODE_CHART, CODE_PROJECTION, CODE_STALLED = 4, 2, 3, 5, 6


class RungeKuttaState(NamedTuple):
    """State (first five) and scratch."""

    q: Any
    v: Any
    vd: Any
    lam: Any
    qn: Any
    vn: Any
    dq: Any
    kq: Any  # (stages, nv) slopes of the increment
    kv: Any  # (stages, nv) slopes of the velocity
    zero: Any
    place: Any = NO_PLACE


class RungeKuttaNumbers(NamedTuple):
    """Tableau, step-size control and counters."""

    a: Any
    b: Any
    c: Any
    error: Any
    control: Any  # rtol, atol, safety, largest increase, smallest step, largest step, exponent, patience
    memory: Any  # see MEMORY_*
    switches: Any  # times at which functions of time jump, in ascending order, ending with infinity
    place: Any = NO_PLACE


declare_arrays(RungeKuttaState, tables=("kq", "kv"))
declare_arrays(RungeKuttaNumbers, tables=("a",))

RTOL, ATOL, SAFETY, INCREASE, SMALLEST, LARGEST, EXPONENT, PATIENCE = range(8)
(
    MEMORY_CODE,
    MEMORY_NODE,
    MEMORY_STEPS,
    MEMORY_REJECTED,
    MEMORY_EVALUATIONS,
    MEMORY_STEP,  # next step size
    MEMORY_TIME,
    MEMORY_FORCED,  # steps accepted at the smallest step size in spite of their error
    MEMORY_IN_VAIN,  # the same without a good step between them
    MEMORY_PROJECTIONS,
) = range(10)

SHORTER = 0.95  # a rejected step is followed by one that is at least so much shorter
MODE_START, MODE_FIXED, MODE_ADAPTIVE = 0, 1, 2
TIME_NUDGE = 1e-10  # fraction of a step by which functions of time are kept away from its ends at a switch


@kernel
def _stages(s, w, x, p, t, h, nudge):
    """Slopes of all stages; the first one is the acceleration of the state, known already."""
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
        p.memory[MEMORY_EVALUATIONS] += 1.0
        apply_tangent_inverse(s.nodes, x.dq, x.vn, x.kq[i], w.small[7])


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
    rtol, atol = p.control[RTOL], p.control[ATOL]
    total = 0.0
    nv = x.v.shape[0]
    for k in range(nv):
        dq, dv = 0.0, 0.0
        for j in range(p.b.shape[0]):
            dq += p.error[j] * x.kq[j, k]
            dv += p.error[j] * x.kv[j, k]
        m = s.qv[k]
        size = 1.0 if m < 0 else max(abs(x.q[m]), abs(x.qn[m]))
        dq *= h / (atol + rtol * size)
        dv *= h / (atol + rtol * max(abs(x.v[k]), abs(x.vn[k])))
        total += dq * dq + dv * dv
    return math.sqrt(total / (2 * nv))


@kernel
def _mass_matrix(s, w, x, q, v):
    """Factors of [M B^T; B 0] at q."""
    tangent(s, w, q, v, x.zero, x.zero, w.eye, 1.0, 0.0, 0.0, w.matrix)
    factor(s, w, w.matrix, w.pivots, w.dinv)


@kernel
def _project(s, w, x, p):
    """Back to the constraints in the mass metric: positions (at most five times), then velocities, of (qn, vn).

    Leaves the factors of [M B^T; B 0] at the new state in w.matrix. Returns 0, or 1 if it failed.
    """
    length = s.parameters[PARAMETER_LENGTH]
    previous = 1e300
    for iteration in range(6):
        frames(s, w, x.qn)
        clear(w.x)
        constraints(s, w, x.qn, w.x)
        error = constraint_error(s, w.x, ROUND_OFF * length, ROUND_OFF, w.scales)
        if error <= 1.0 or (iteration > 1 and error > 0.5 * previous and error < 1e3):
            break
        if iteration == 5 or not error < 1e200:
            return 1
        previous = error
        _mass_matrix(s, w, x, x.qn, x.vn)
        for k in range(s.xl.shape[0]):
            w.x[s.xl[k]] = -w.x[s.xl[k]]
        solve(s, w.matrix, w.pivots, w.dinv, w.x)
        for k in range(x.v.shape[0]):
            x.dq[k] = w.x[s.xv[k]]
        advance(s, w, x.qn, x.dq, x.qn)
        p.memory[MEMORY_PROJECTIONS] += 1.0
    velocities(s, w, x.qn, x.vn)
    _mass_matrix(s, w, x, x.qn, x.vn)
    clear(w.x)
    constraint_rates(s, w, x.qn, x.vn, w.x)
    for k in range(s.xl.shape[0]):
        w.x[s.xl[k]] = -w.x[s.xl[k]]
    solve(s, w.matrix, w.pivots, w.dinv, w.x)
    for k in range(x.v.shape[0]):
        x.vn[k] += w.x[s.xv[k]]
    return 0


@kernel
def _accept(s, w, x, p, t, first_same_as_last, nudge_time):
    """Make (qn, vn) the state, projected; compute v_dot and lambda there. Returns an error code."""
    nv = x.v.shape[0]
    evaluate_functions(s, w, nudge_time)
    if x.lam.shape[0] > 0 and _project(s, w, x, p) != 0:
        return CODE_PROJECTION
    if s.flags[FLAG_CHARTS] != 0:
        call_charts(s, w, x.q, x.qn, x.vn, x.vd, x.dq, 0.0, 0)
        if w.info[5] != 0.0:
            p.memory[MEMORY_NODE] = w.info[5]
            return CODE_CHART
    copy(x.qn, x.q)
    copy(x.vn, x.v)
    if first_same_as_last and x.lam.shape[0] == 0 and nudge_time == t and s.flags[FLAG_CHARTS] == 0:
        copy(x.kv[p.b.shape[0] - 1], x.vd)
    else:
        evaluate_functions(s, w, t)
        accelerations_here(s, w, x.q, x.v, x.zero, x.vd, x.lam)
        p.memory[MEMORY_EVALUATIONS] += 1.0
    remember_angles(s, w, x.q, x.v)
    if s.flags[FLAG_CHARTS] != 0:
        call_charts(s, w, x.q, x.q, x.v, x.vd, x.dq, 0.0, 1)
    finite = 0.0
    for k in range(nv):
        finite += x.v[k] * 0.0 + x.vd[k] * 0.0
    if finite != 0.0:
        return CODE_NOT_FINITE
    if w.info[4] != 0.0:
        p.memory[MEMORY_NODE] = w.info[1]
        return CODE_SINGULAR
    return 0


@kernel
def _start(s, w, x, p, t):
    """Accelerations of the first state."""
    evaluate_functions(s, w, t)
    accelerations(s, w, x.q, x.v, x.zero, x.vd, x.lam)
    p.memory[MEMORY_EVALUATIONS] += 1.0


@kernel
def _write(w, x, row, out_q, out_v, out_vd, out_l, out_turns):
    copy(x.q, out_q[row])
    copy(x.v, out_v[row])
    copy(x.vd, out_vd[row])
    copy(x.lam, out_l[row])
    copy(w.turns, out_turns[row])


@kernel
def _run_fixed(s, w, x, p, origin, first, h, count, every, out_q, out_v, out_vd, out_l, out_turns):
    """Advance ``count`` equal steps, see run_alpha; returns the steps done."""
    row = 0
    for step in range(count):
        t = origin + (first + step) * h
        _stages(s, w, x, p, t, h, 0.0)
        _combine(s, w, x, p, h)
        end = origin + (first + step + 1) * h
        code = _accept(s, w, x, p, end, False, end)
        if code != 0:
            p.memory[MEMORY_CODE] = code
            return step
        p.memory[MEMORY_STEPS] += 1.0
        if (first + step + 1) % every == 0:
            _write(w, x, row, out_q, out_v, out_vd, out_l, out_turns)
            row += 1
    return count


@kernel
def _run_adaptive(s, w, x, p, t_end, fsal, output, out_t, out_q, out_v, out_vd, out_l, out_turns):
    """Advance with step-size control until the output is full or t_end is reached; returns the rows written.

    ``output`` > 0: only states at multiples of it (the steps are made to end there); ``output`` < 0: the same steps,
    and the states after all of them. A rejected step is followed by a shorter one, a step always advances the time, and
    steps at the smallest size in spite of their error are counted: the loop ends.
    """
    row = 0
    switch = 0
    while row < out_t.shape[0]:
        t = p.memory[MEMORY_TIME]
        if t >= t_end:
            break
        h = min(p.memory[MEMORY_STEP], p.control[LARGEST])
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
            p.memory[MEMORY_CODE] = CODE_STALLED
            break
        nudge = TIME_NUDGE if p.switches.shape[0] > 1 else 0.0
        _stages(s, w, x, p, t, h, nudge)
        _combine(s, w, x, p, h)
        error = _error(s, x, p, h)
        optimal = h * (1.0 / max(error, 1e-10)) ** p.control[EXPONENT]  # (B19)
        smallest = max(p.control[SMALLEST], ROUND_OFF * abs(t))
        # h may exceed the wanted step by the round-off of t, which must not keep the smallest step from being accepted
        if not error <= 1.0 and min(h, wanted) > smallest * (1.0 + 1e-9):
            p.memory[MEMORY_REJECTED] += 1.0
            if not error < 1e200:
                optimal = 0.1 * h
            p.memory[MEMORY_STEP] = max(smallest, min(max(p.control[SAFETY] * optimal, 0.1 * h), SHORTER * h))
            # a rejected trial has moved only scratch; the state and its acceleration are still those at t
            continue
        if error <= 1.0:
            p.memory[MEMORY_IN_VAIN] = 0.0
        else:
            p.memory[MEMORY_FORCED] += 1.0
            p.memory[MEMORY_IN_VAIN] += 1.0
            if p.memory[MEMORY_IN_VAIN] > p.control[PATIENCE]:
                p.memory[MEMORY_CODE] = CODE_STALLED
                break
        code = _accept(s, w, x, p, end, fsal and nudge == 0.0, end - nudge * h)
        if code != 0:
            p.memory[MEMORY_CODE] = code
            break
        p.memory[MEMORY_STEPS] += 1.0
        p.memory[MEMORY_TIME] = end
        proposal = min(h * p.control[INCREASE], max(smallest, p.control[SAFETY] * optimal))  # (B20)
        # a step shortened only to end somewhere says nothing against the step that was wanted
        p.memory[MEMORY_STEP] = max(proposal, wanted) if h < wanted and error <= 1.0 else proposal
        if output > 0.0:
            k = math.floor(end / output + 0.5)
            writes = abs(end - k * output) <= 1e-9 * output + 1e-15 * abs(end) or end >= t_end
        if writes or end >= t_end:
            out_t[row] = end
            _write(w, x, row, out_q, out_v, out_vd, out_l, out_turns)
            row += 1
    return row


@kernel
def run_runge_kutta(
    s, w, x, p, mode, t, h, first, count, every, fsal, output, out_t, out_q, out_v, out_vd, out_l, out_turns
):
    """Start (MODE_START), equal steps (MODE_FIXED), or step-size control up to the time t (MODE_ADAPTIVE).

    One kernel for all, because each outermost kernel is compiled whole.
    """
    if mode == MODE_START:
        _start(s, w, x, p, t)
        return 0
    if mode == MODE_FIXED:
        return _run_fixed(s, w, x, p, t, first, h, count, every, out_q, out_v, out_vd, out_l, out_turns)
    return _run_adaptive(s, w, x, p, t, fsal != 0, output, out_t, out_q, out_v, out_vd, out_l, out_turns)
