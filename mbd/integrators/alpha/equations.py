"""Lie group generalized-alpha, compiled [Holzinger, Arnold & Gerstmayr 2024, Algorithms 4 and 5].

One step, with the unknowns w (increment), lambda and, for index 2, the position correction d:

    dq = w + d,  q_{n+1} = q_n o exp(dq)
    w = h v_n + h^2 (1/2 - beta) a_n + h^2 beta a_{n+1},   v_{n+1} = v_n + h (1 - gamma) a_n + h gamma a_{n+1}
    (1 - am) a_{n+1} + am a_n = (1 - af) v_dot_{n+1} + af v_dot_n
    index 3:  M v_dot - f + B^T lambda = 0,  g = 0
    index 2:  additionally B v + g_t = 0 with T d in the range of H^-1 B^T [Arnold & Hante 2017, with W at n+1]

H is the upper left block of the iteration matrix, M + O(h): one factorisation serves both solutions, the error is that
of M^-1 B^T where forces are soft, and stiff ones (control loops, springs) are not strained by the correction.

Rows and multipliers are scaled as by Bottasso et al. (r / beta', lambda / beta', r_velocity / gamma'), so that the
matrices stay O(1) for h -> 0. The unknown of the linear system is T_exp(dq) dw.
"""

from __future__ import annotations

import math

from ...compiled.kernel import kernel
from ...nodes.increments import apply_rows, apply_tangent, store_tangent_inverse
from ...system.evaluate import (
    advance,
    clear,
    constraint_rates,
    constraints,
    copy,
    dynamics,
    evaluate_functions,
    factor_with,
    finish,
    frames,
    jacobian_times,
    remember_angles,
    solve,
    tangent,
    velocities,
)
from ...system.optional import call_charts
from ...system.tables import FLAG_CHARTS, FLAG_REDUNDANT, FLAG_VELOCITY, PARAMETER_LENGTH
from ..directors.linear_frames import copy_frames
from ..nearest_root import AS_BEFORE, AT_REST, EXTRAPOLATED, overshoots, turns_round
from ..newton import (
    ACCELERATION,
    ANGULAR,
    ROUND_OFF,
    at_round_off,
    constraint_error,
    correction_size,
    dynamic_error,
    equation_scales,
    keep_smaller,
    plain_error,
    stalls,
)
from .guess import predict
from .run_away import EVERY, velocities_run_away
from .start import drop_defect, start_alpha
from .state import (
    AF,
    AM,
    BETA,
    CODE_CHART,
    CODE_NEARLY_SINGULAR,
    CODE_NOT_CONVERGED,
    CODE_NOT_FINITE,
    CODE_OVERSHOT,
    CODE_SINGULAR,
    CODE_UNSTABLE,
    FORGET,
    GAMMA,
    KEEP_CONTRACTION,
    KEEP_STEPS,
    MEMORY_BEGIN,
    MEMORY_CODE,
    MEMORY_ERROR,
    MEMORY_FACTORS,
    MEMORY_HISTORY,
    MEMORY_INDEX_3,
    MEMORY_ITERATIONS,
    MEMORY_KEPT,
    MEMORY_RATIO,
    MEMORY_USUAL_RATIO,
    NEARLY_SINGULAR,
    OPTION_ITERATIONS,
    OPTION_NEWTON,
    OPTION_PAPER,
    OPTION_STABILIZED,
    OPTION_STIFFNESS,
    OPTION_TANGENT,
    REFINEMENTS,
    STAGNATION,
    SUDDENLY,
    TOLERANCE,
    UNDETERMINED,
)


@kernel
def _residual(s, w, x, p, h):
    """Move to the present iterate and write the residual: dynamics, and g (index 3) or B v + g_t (index 2) in w.x."""
    advance(s, w, x.q, x.dq, x.qn)
    if p.options[OPTION_STABILIZED] != 0:
        velocities(s, w, x.qn, x.vn)
        dynamics(s, w, x.qn, x.vn, x.vdn, x.lamn, w.x)
        constraint_rates(s, w, x.qn, x.vn, w.x)
        constraints(s, w, x.qn, w.x2)
    else:
        if s.flags[FLAG_VELOCITY] != 0:
            velocities(s, w, x.qn, x.vn)
        dynamics(s, w, x.qn, x.vn, x.vdn, x.lamn, w.x)
        constraints(s, w, x.qn, w.x)
        if s.nonholonomic.shape[0] > 0:  # B v = 0, scaled like a position
            constraint_rates(s, w, x.qn, x.vn, w.x2)
            for k in range(s.nonholonomic.shape[0]):
                i = s.xl[s.nonholonomic[k]]
                w.x[i] = w.x2[i] * h * p.method[BETA] / p.method[GAMMA]


@kernel
def _error(s, w, x, p, h, first, again):
    """Residual relative to the tolerance (<= 1: converged)."""
    if p.options[OPTION_PAPER] != 0:
        error = plain_error(s, w.x)
        if first:
            p.scales[0] = error
        return min(error / 1e-10, error / (1e-8 * p.scales[0])) if p.scales[0] > 0.0 else 0.0
    if first:
        before = (p.scales[0], p.scales[1], p.scales[2], p.scales[3], p.scales[4])
        equation_scales(s, w, x.qn, x.vn, x.vdn, x.lamn, 1.0 / (h * h), p.scales)
        if again:
            keep_smaller(p.scales, before)
    tolerance = p.method[TOLERANCE]
    error = dynamic_error(s, w.x, p.scales, p.worst) / tolerance
    if x.lam.shape[0] > 0:
        length = s.parameters[PARAMETER_LENGTH]
        a, b = tolerance * h * h * p.scales[ACCELERATION], tolerance * h * h * p.scales[ANGULAR]
        a, b = max(a, ROUND_OFF * length), max(b, ROUND_OFF)
        if p.options[OPTION_STABILIZED] != 0:
            error = max(error, constraint_error(s, w.x2, a, b, p.worst))
            error = max(error, constraint_error(s, w.x, a / h, b / h, p.worst))
        else:
            error = max(error, constraint_error(s, w.x, a, b, p.worst))
    return error


@kernel
def _scale_rows(s, w, p, h):
    """The right-hand side of the Newton equations from the residual."""
    bp = (1.0 - p.method[AM]) / (h * h * p.method[BETA] * (1.0 - p.method[AF]))
    cl = -h * p.method[BETA] / p.method[GAMMA] if p.options[OPTION_STABILIZED] != 0 else -1.0
    for k in range(s.xv.shape[0]):
        w.x[s.xv[k]] *= -1.0 / bp
    for k in range(s.xl.shape[0]):
        w.x[s.xl[k]] *= cl


@kernel
def _factorise(s, w, x, p, h):
    """Iteration matrix at the present iterate; begins to solve for w.x."""
    bp = (1.0 - p.method[AM]) / (h * h * p.method[BETA] * (1.0 - p.method[AF]))
    gp = p.method[GAMMA] / (h * p.method[BETA])
    ck = 1.0 / bp if p.options[OPTION_STIFFNESS] != 0 else 0.0
    if p.options[OPTION_STABILIZED] != 0:  # T_exp multiplies only K here, of higher order
        tangent(s, w, x.qn, x.vn, x.vdn, x.lamn, w.eye, 1.0, gp / bp, ck, w.matrix)
    else:
        if p.options[OPTION_TANGENT] != 0:
            store_tangent_inverse(s.nodes, x.dq, w.t)
        tangent(s, w, x.qn, x.vn, x.vdn, x.lamn, w.t, 1.0, gp / bp, ck, w.matrix)
    factor_with(s, w, w.matrix, w.pivots, w.dinv, w.x)
    p.memory[MEMORY_FACTORS] += 1.0
    p.memory[MEMORY_RATIO] = min(p.memory[MEMORY_RATIO], w.info[0])
    p.memory[MEMORY_KEPT] = 0.0


@kernel
def _solve(s, w, x, p, h, begun):
    """Solve for the Newton increment x.y, which the factorisation may have begun; multipliers are corrected at once."""
    bp = (1.0 - p.method[AM]) / (h * h * p.method[BETA] * (1.0 - p.method[AF]))
    if begun:
        finish(s, w.matrix, w.pivots, w.dinv, w.x)
    else:
        solve(s, w.matrix, w.pivots, w.dinv, w.x)
    for k in range(x.lam.shape[0]):
        x.lamn[k] += bp * w.x[s.xl[k]]
    for k in range(x.v.shape[0]):
        x.y[k] = w.x[s.xv[k]]
    if p.options[OPTION_STABILIZED] == 0:
        apply_rows(s.nodes, w.t, x.y, x.y)


@kernel
def _correct(s, w, x, p, h):
    """Apply the Newton increment x.y."""
    bp = (1.0 - p.method[AM]) / (h * h * p.method[BETA] * (1.0 - p.method[AF]))
    gp = p.method[GAMMA] / (h * p.method[BETA])
    nv, nl = x.v.shape[0], x.lam.shape[0]
    for k in range(nv):
        d = x.y[k]
        x.dw[k] += d
        x.dq[k] += d
        x.vn[k] += gp * d
        x.vdn[k] += bp * d
    if p.options[OPTION_STABILIZED] != 0:
        # T d in the range of H^-1 B^T such that g vanishes, without slip where something rolls
        apply_tangent(s.nodes, x.dq, x.y, x.y, w.small[7])
        velocities(s, w, x.qn, x.y)
        clear(w.x)
        jacobian_times(s, w, x.qn, x.y, w.x)
        for k in range(nl):
            w.x[s.xl[k]] = -w.x[s.xl[k]] - w.x2[s.xl[k]]
        for k in range(s.nonholonomic.shape[0]):
            w.x[s.xl[s.nonholonomic[k]]] = 0.0
        solve(s, w.matrix, w.pivots, w.dinv, w.x)
        for k in range(nv):
            x.y[k] = w.x[s.xv[k]]
        store_tangent_inverse(s.nodes, x.dq, w.t)
        apply_rows(s.nodes, w.t, x.y, x.y)
        for k in range(nv):
            x.dq[k] += x.y[k]


@kernel
def _least_multipliers(s, w, x, p, h):
    """Redundant constraints: of the multipliers that balance the converged accelerations those of minimum norm.

    Newton's increments are of minimum norm where they are made, but their sum is not: what the equations do not
    determine would be handed on from step to step, by the extrapolation at a growing rate. With the regularised factors
    increments from zero lie in the range of B; refinement takes the effect of the regularisation off again.
    """
    bp = (1.0 - p.method[AM]) / (h * h * p.method[BETA] * (1.0 - p.method[AF]))
    nl = x.lam.shape[0]
    clear(x.lamn)
    for _ in range(REFINEMENTS):
        dynamics(s, w, x.qn, x.vn, x.vdn, x.lamn, w.x)
        for k in range(x.v.shape[0]):
            w.x[s.xv[k]] *= -1.0 / bp
        for k in range(nl):
            w.x[s.xl[k]] = 0.0
        solve(s, w.matrix, w.pivots, w.dinv, w.x)
        change, size = 0.0, 0.0
        for k in range(nl):
            change = max(change, abs(bp * w.x[s.xl[k]]))
            x.lamn[k] += bp * w.x[s.xl[k]]
            size = max(size, abs(x.lamn[k]))
        if change <= p.method[TOLERANCE] * size:
            break


@kernel
def _amplification(s, w):
    """How much larger velocities are than the rates of constraints that ask for them, both without units.

    Ratios of pivots depend on units where rows of forces and torques change places; this does not.
    """
    length = s.parameters[PARAMETER_LENGTH]
    clear(w.x)
    for k in range(s.xl.shape[0]):
        w.x[s.xl[k]] = (length if s.lclass[k] == 0 else 1.0) * math.sin(k + 1.0)  # no direction is left out
    solve(s, w.matrix, w.pivots, w.dinv, w.x)
    size = 0.0
    for k in range(s.xv.shape[0]):
        size = max(size, abs(w.x[s.xv[k]]) / (length if s.vclass[k] == 0 else 1.0))
    return size


@kernel
def _newton(s, w, x, p, h, guess):
    """Iterate to convergence; returns 0 or an error code."""
    paper, often = p.options[OPTION_PAPER] != 0, p.options[OPTION_NEWTON] == 0
    # the position correction of index 2 and multipliers of minimum norm depend on the factors themselves
    keep = p.options[OPTION_NEWTON] == 2 and p.options[OPTION_STABILIZED] == 0 and s.flags[FLAG_REDUNDANT] == 0
    last, best, stalled, moved = 0.0, 1e300, 0, 1e300
    for iteration in range(p.options[OPTION_ITERATIONS] + 1):
        _residual(s, w, x, p, h)
        error = _error(s, w, x, p, h, iteration == 0, guess != EXTRAPOLATED)
        p.memory[MEMORY_ERROR] = error
        if error <= 1.0 and (iteration > 0 or not paper):
            return 0
        if not error < 1e200:
            return CODE_NOT_FINITE
        stalled = stalls(iteration, error, best, stalled)
        if at_round_off(stalled, error, best, STAGNATION, moved):
            return 0
        best = min(best, error)
        if iteration == p.options[OPTION_ITERATIONS]:
            break
        slow = iteration > 0 and error > KEEP_CONTRACTION * last
        if keep:
            fresh = slow or p.memory[MEMORY_KEPT] < 0.0 or p.memory[MEMORY_KEPT] >= KEEP_STEPS
        else:
            fresh = slow or often or iteration == 0
        _scale_rows(s, w, p, h)
        begun = fresh
        if fresh:
            _factorise(s, w, x, p, h)
            if w.info[4] != 0.0:
                p.worst[0] = w.info[1]
                return CODE_SINGULAR
            if p.options[OPTION_STABILIZED] != 0 and s.flags[FLAG_REDUNDANT] == 0:
                usual = FORGET * p.memory[MEMORY_USUAL_RATIO]
                if w.info[0] < min(NEARLY_SINGULAR, SUDDENLY * p.memory[MEMORY_USUAL_RATIO]):
                    if _amplification(s, w) > UNDETERMINED:
                        return CODE_NEARLY_SINGULAR
                    _residual(s, w, x, p, h)
                    _scale_rows(s, w, p, h)
                    begun, usual = False, 0.0
                p.memory[MEMORY_USUAL_RATIO] = max(w.info[0], usual)
        _solve(s, w, x, p, h, begun)
        length = s.parameters[PARAMETER_LENGTH]
        if iteration == 0 and guess == EXTRAPOLATED and not paper:
            if overshoots(s.nodes, length, x.dq, x.v, h, x.y, False):
                return CODE_OVERSHOT
        elif iteration > 2:
            moved = correction_size(s.nodes, length, x.q, x.y, False)
        _correct(s, w, x, p, h)
        p.memory[MEMORY_ITERATIONS] += 1.0
        last = error
    return CODE_NOT_CONVERGED


@kernel
def _accept(s, w, x, p, h):
    """Make the new values the state; bring charts back to their good region."""
    am, af = p.method[AM], p.method[AF]
    for k in range(x.q.shape[0]):
        x.q[k] = x.qn[k]
    for k in range(x.lam.shape[0]):
        x.lam1[k] = x.lam[k]
        x.lam[k] = x.lamn[k]
    for k in range(x.v.shape[0]):
        x.a[k] = ((1.0 - af) * x.vdn[k] + af * x.vd[k] - am * x.a[k]) / (1.0 - am)
        x.v[k] = x.vn[k]
        x.vd1[k] = x.vd[k]
        x.vd[k] = x.vdn[k]
    copy_frames(w.z, x.z0)
    p.memory[MEMORY_HISTORY] += 1.0
    p.memory[MEMORY_KEPT] += 1.0 if p.memory[MEMORY_KEPT] >= 0.0 else 0.0
    remember_angles(s, w, x.q, x.v)
    if s.flags[FLAG_CHARTS] != 0:
        call_charts(s, w, x.q, x.q, x.v, x.vd, x.a, (am - af) * h, 1)
        if w.info[5] != 0.0:
            p.memory[MEMORY_HISTORY] = 0.0  # the last v_dot lives in another chart
            p.memory[MEMORY_KEPT] = -1.0
            if p.options[OPTION_STABILIZED] == 0 and x.lam.shape[0] > 0:
                p.memory[MEMORY_BEGIN] = 1.0


@kernel
def _nearest(s, w, x, p, h):
    """New values, those nearest to the state if the extrapolated first guess leads too far; 0 or an error code."""
    predict(x, p, h, EXTRAPOLATED)
    code = _newton(s, w, x, p, h, EXTRAPOLATED)
    if code == CODE_OVERSHOT or (code == 0 and turns_round(s, x.z0, w.z)):
        for guess in range(AT_REST, AS_BEFORE + 1):
            predict(x, p, h, guess)
            code = _newton(s, w, x, p, h, guess)
            if code == 0:
                break
    return code


@kernel
def _step(s, w, x, p, h):
    """New values from the state; returns 0 or an error code.

    Where a mechanism passes a configuration in which constraints lose rank, the velocity constraints next to it would
    ask for a velocity that they do not determine. Index 3 steps over such a point; so this step is left to it.
    """
    code = _nearest(s, w, x, p, h)
    if code == 0 or p.options[OPTION_STABILIZED] == 0:
        return code
    p.options[OPTION_STABILIZED] = 0
    code = _nearest(s, w, x, p, h)
    p.options[OPTION_STABILIZED] = 1
    p.memory[MEMORY_INDEX_3] += 1.0
    return code


@kernel
def run_alpha(s, w, x, p, origin, first, h, count, every, out_q, out_v, out_vd, out_l, out_turns):
    """Advance ``count`` steps, the first being number ``first`` from the time ``origin``; returns the steps done.

    Every ``every``-th step (counted from the origin) is written to the next row of the output arrays. A negative
    count computes the start values instead (one kernel for both, because each outermost kernel is compiled whole).
    """
    row = 0
    if count > 0:
        frames(s, w, x.q)
        copy_frames(w.z, x.z0)
    for step in range(max(count, 1)):
        if count == 0:
            return 0
        if p.memory[MEMORY_BEGIN] != 0.0:
            drop_defect(s, w, x)
        if count < 0 or p.memory[MEMORY_BEGIN] != 0.0:
            start_alpha(s, w, x, p, origin + (first + step) * h, h)
            p.memory[MEMORY_BEGIN] = 0.0
            if count < 0:
                return 0
        t = origin + (first + step + 1) * h
        evaluate_functions(s, w, t)
        code = _step(s, w, x, p, h)
        if code != 0:
            p.memory[MEMORY_CODE] = code
            return step
        if s.flags[FLAG_CHARTS] != 0:
            call_charts(s, w, x.q, x.qn, x.vn, x.vdn, x.a, 0.0, 0)
            if w.info[5] != 0.0:
                p.memory[MEMORY_CODE] = CODE_CHART
                p.worst[0] = int(w.info[5])
                return step
        if (first + step + 1) % EVERY == 0 and x.lam.shape[0] > 0 and p.options[OPTION_STABILIZED] == 0:
            if velocities_run_away(s, w, x.qn, x.vn, h, p.worst):
                p.memory[MEMORY_CODE] = CODE_UNSTABLE
                return step
        if s.flags[FLAG_REDUNDANT] != 0 and x.lam.shape[0] > 0:
            _least_multipliers(s, w, x, p, h)
        _accept(s, w, x, p, h)
        if (first + step + 1) % every == 0:
            copy(x.q, out_q[row])
            copy(x.v, out_v[row])
            copy(x.vd, out_vd[row])
            copy(x.lam, out_l[row])
            copy(w.turns, out_turns[row])
            row += 1
    return count
