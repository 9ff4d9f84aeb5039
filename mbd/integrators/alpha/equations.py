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

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...linalg.front import FAILED, SMALLEST_RATIO
from ...math.arrays import clear, copy_frames
from ...nodes.increments import apply_rows, apply_tangent, store_tangent_inverse
from ...system.instant import (
    advance,
    constraint_rates,
    constraints,
    dynamics,
    evaluate_functions,
    frames,
    jacobian_times,
    remember_angles,
    velocities,
)
from ...system.instant_elements import check_charts
from ...system.matrix import factor_with, finish, solve, tangent
from ...system.tables import FLAG_CHARTS, FLAG_REDUNDANT, FLAG_VELOCITY, PARAMETER_LENGTH, Tables, Work
from .. import loop
from ..nearest_root import AT_REST, UNIFORM, nearest_guess
from ..newton import (
    constraint_tolerances,
    equation_error,
    factorised,
    force_error,
    fresh_scales,
    measure,
    plain_error,
    position_error,
)
from ..numbers import NewtonNumbers
from ..verdicts import CHART, GO_ON, NEARLY_SINGULAR, UNSTABLE
from .run_away import EVERY, velocities_run_away
from .start import drop_defect, start_values
from .state import EVERY_ITERATION, WHILE_GOOD, AlphaState

KEEP_CONTRACTION = 0.3  # refactorise when the residual shrinks less than this
KEEP_STEPS = 20
NEARLY = 1e-6  # pivot ratio below which velocity constraints would throw the mechanism off its path ...
SUDDENLY = 1e-2  # ... if it is so small beside the usual one: with large ratios of masses it is small all the time
UNDETERMINED = 1e3  # times the rates of constraints: velocities that answer them with so much are not determined
FORGET = 0.9  # of the usual ratio that counts one iteration later
REFINEMENTS = 4  # at most, of the multipliers of redundant constraints

_step = entry(Tables, Work, AlphaState, NewtonNumbers)


@kernel
def _mass_factor(x, h):
    """beta' = d v_dot / d w."""
    return (1.0 - x.am) / (h * h * x.beta * (1.0 - x.af))


@_step
def load(s, w, x, p):
    """Frames of the state."""
    frames(s, w, x.q)
    copy_frames(w.z, x.z0)


@_step
def begin(s, w, x, p):
    """Functions of time at the end of the step; after a change of charts the method begins anew."""
    if x.begin_anew != 0:
        drop_defect(s, w, x)
        start_values(s, w, x, p, p.time)
        x.begin_anew = 0
    evaluate_functions(s, w, p.end)


@_step
def predict(s, w, x, p):
    """First guess of v_dot and lambda, and a, v, w that follow from it; or of w: none, or that of uniform motion."""
    h, guess = p.step, nearest_guess(p)
    p.guess = guess
    if guess < 0:
        return
    if x.paper != 0:
        p.watched = 0
    am, af, beta, gamma = x.am, x.af, x.beta, x.gamma
    order = x.predictor
    if order == 2 and (p.history < 1 or guess == AT_REST or guess == UNIFORM):
        order = 1
    c0 = 0.0 if order == 0 else (1.0 if order == 1 else 2.0)
    c1 = 1.0 if order == 2 else 0.0
    for k in range(x.lam.shape[0]):
        x.lamn[k] = c0 * x.lam[k] - c1 * x.lam1[k]
    for k in range(x.v.shape[0]):
        vd = c0 * x.vd[k] - c1 * x.vd1[k]
        a = ((1.0 - af) * vd + af * x.vd[k] - am * x.a[k]) / (1.0 - am)
        if guess == AT_REST or guess == UNIFORM:
            a = ((beta - 0.5) * x.a[k] - (x.v[k] / h if guess == AT_REST else 0.0)) / beta
            vd = ((1.0 - am) * a + am * x.a[k] - af * x.vd[k]) / (1.0 - af)
        x.vdn[k] = vd
        x.vn[k] = x.v[k] + h * ((1.0 - gamma) * x.a[k] + gamma * a)
        x.dw[k] = h * x.v[k] + h * h * ((0.5 - beta) * x.a[k] + beta * a)
        x.dq[k] = x.dw[k]


@kernel
def _equations(s, w, x, h):
    """Move to the present iterate and write the residual: dynamics, and g (index 3) or B v + g_t (index 2) in w.x."""
    advance(s, w, x.q, x.dq, x.qn)
    if x.stabilized != 0:
        velocities(s, w, x.qn, x.vn)
        dynamics(s, w, x.qn, x.vn, x.vdn, x.lamn, w.x)
        constraint_rates(s, w, x.qn, x.vn, w.x)
        constraints(s, w, x.qn, w.g)
    else:
        if s.flags[FLAG_VELOCITY] != 0:
            velocities(s, w, x.qn, x.vn)
        dynamics(s, w, x.qn, x.vn, x.vdn, x.lamn, w.x)
        if x.lam.shape[0] > 0:
            constraints(s, w, x.qn, w.x)
        if s.nonholonomic.shape[0] > 0:  # B v = 0, scaled like a position
            constraint_rates(s, w, x.qn, x.vn, w.g)
            for k in range(s.nonholonomic.shape[0]):
                i = s.xl[s.nonholonomic[k]]
                w.x[i] = w.g[i] * h * x.beta / x.gamma


@kernel
def _paper_error(w, p):
    """Residual by the stop rule of the paper: below 1e-10, or 1e-8 of the first."""
    error = plain_error(w.x)
    if p.iteration == 0:
        p.scales[0] = error
    return min(error / 1e-10, error / (1e-8 * p.scales[0])) if p.scales[0] > 0.0 else 0.0


@_step
def residual(s, w, x, p):
    """The equations at the present iterate, and their error."""
    h = p.step
    _equations(s, w, x, h)
    if x.paper != 0:
        p.error = _paper_error(w, p)
        return
    if p.iteration == 0:
        fresh_scales(s, w, x.qn, x.vn, x.vdn, x.lamn, 1.0, p)
    if x.stabilized == 0 or x.lam.shape[0] == 0:
        p.error = equation_error(s, w.x, x.lam.shape[0], p)
        return
    error = force_error(s, w.x, p) / p.tolerance
    a, b = constraint_tolerances(s, p)
    error = max(error, position_error(s, w.g, a, b, p))
    p.error = max(error, position_error(s, w.x, a / h, b / h, p))


@kernel
def _scale_rows(s, w, x, h):
    """The right-hand side of the Newton equations from the residual."""
    bp = _mass_factor(x, h)
    cl = -h * x.beta / x.gamma if x.stabilized != 0 else -1.0
    for k in range(s.xv.shape[0]):
        w.x[s.xv[k]] *= -1.0 / bp
    for k in range(s.xl.shape[0]):
        w.x[s.xl[k]] *= cl


@kernel
def _factorise(s, w, x, h):
    """Iteration matrix at the present iterate; begins to solve for w.x."""
    bp = _mass_factor(x, h)
    gp = x.gamma / (h * x.beta)
    ck = 1.0 / bp if x.stiffness != 0 else 0.0
    if x.stabilized != 0:  # T_exp multiplies only K here, of higher order
        tangent(s, w, x.qn, x.vn, x.vdn, x.lamn, w.eye, 1.0, gp / bp, ck, w.matrix)
    else:
        if x.tangent_operator != 0:
            store_tangent_inverse(s.nodes, x.dq, w.t)
        tangent(s, w, x.qn, x.vn, x.vdn, x.lamn, w.t, 1.0, gp / bp, ck, w.matrix)
    factor_with(s, w, w.matrix, w.pivots, w.dinv, w.x)
    x.kept = 0


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
def _needs_factors(s, x, p):
    """Whether this iteration evaluates the matrix."""
    slow = p.iteration > 0 and p.error > KEEP_CONTRACTION * p.before
    # the position correction of index 2 and multipliers of minimum norm depend on the factors themselves
    if x.newton == WHILE_GOOD and x.stabilized == 0 and s.flags[FLAG_REDUNDANT] == 0:
        return slow or x.kept < 0 or x.kept >= KEEP_STEPS
    return slow or x.newton == EVERY_ITERATION or p.iteration == 0


@kernel
def _crosses_singular_point(s, w, x, p):
    """Index 2 where constraints lose rank: leaves p.verdict. Returns whether w.x has been used up in looking closer."""
    usual, used = FORGET * x.usual_ratio, False
    if w.report[SMALLEST_RATIO] < min(NEARLY, SUDDENLY * x.usual_ratio):
        if _amplification(s, w) > UNDETERMINED:
            p.verdict = NEARLY_SINGULAR
            return True
        usual, used = 0.0, True
    x.usual_ratio = max(w.report[SMALLEST_RATIO], usual)
    return used


@_step
def solve_equations(s, w, x, p):
    """The Newton increment x.y, with new factors where they are needed; multipliers are corrected in any case."""
    h = p.step
    bp = _mass_factor(x, h)
    begun = _needs_factors(s, x, p)
    _scale_rows(s, w, x, h)
    if begun:
        _factorise(s, w, x, h)
        if not factorised(w, p):
            return
        if x.stabilized != 0 and s.flags[FLAG_REDUNDANT] == 0 and _crosses_singular_point(s, w, x, p):
            if p.verdict != GO_ON:
                return
            _equations(s, w, x, h)
            _scale_rows(s, w, x, h)
            begun = False
    if begun:
        finish(s, w.matrix, w.pivots, w.dinv, w.x)
    else:
        solve(s, w.matrix, w.pivots, w.dinv, w.x)
    for k in range(x.lam.shape[0]):
        x.lamn[k] += bp * w.x[s.xl[k]]
    for k in range(x.v.shape[0]):
        x.y[k] = w.x[s.xv[k]]
    if x.stabilized == 0:
        apply_rows(s.nodes, w.t, x.y, x.y)
    if measure(s, s.nodes, p, x.q, x.dq, x.v, x.y, False):
        _correct(s, w, x, p)


@kernel
def _correct(s, w, x, p):
    """Apply the Newton increment x.y."""
    h = p.step
    bp = _mass_factor(x, h)
    gp = x.gamma / (h * x.beta)
    nv, nl = x.v.shape[0], x.lam.shape[0]
    for k in range(nv):
        d = x.y[k]
        x.dw[k] += d
        x.dq[k] += d
        x.vn[k] += gp * d
        x.vdn[k] += bp * d
    if x.stabilized != 0:
        # T d in the range of H^-1 B^T such that g vanishes, without slip where something rolls
        apply_tangent(s.nodes, x.dq, x.y, x.y, w.rotation)
        velocities(s, w, x.qn, x.y)
        clear(w.x)
        jacobian_times(s, w, x.qn, x.y, w.x)
        for k in range(nl):
            w.x[s.xl[k]] = -w.x[s.xl[k]] - w.g[s.xl[k]]
        for k in range(s.nonholonomic.shape[0]):
            w.x[s.xl[s.nonholonomic[k]]] = 0.0
        solve(s, w.matrix, w.pivots, w.dinv, w.x)
        for k in range(nl):
            x.zeta[k] = w.x[s.xl[k]] + (x.zeta[k] if p.iteration > 0 else 0.0)
        for k in range(nv):
            x.y[k] = w.x[s.xv[k]]
        store_tangent_inverse(s.nodes, x.dq, w.t)
        apply_rows(s.nodes, w.t, x.y, x.y)
        for k in range(nv):
            x.dq[k] += x.y[k]


@_step
def refuse(s, w, x, p):
    """Leave a step of index 2 that failed to index 3.

    Where a mechanism passes a configuration in which constraints lose rank, the velocity constraints next to it would
    ask for a velocity that they do not determine. Index 3 steps over such a point.
    """
    if x.stabilized != 0:
        x.stabilized, p.retry = 0, 1
        x.index_3_steps += 1
    else:
        x.stabilized = x.index_2


@kernel
def least_multipliers(s, w, x, p, h):
    """Redundant constraints: of the multipliers that balance the converged accelerations those of minimum norm.

    Newton's increments are of minimum norm where they are made, but their sum is not: what the equations do not
    determine would be handed on from step to step, by the extrapolation at a growing rate. With the regularised factors
    increments from zero lie in the range of B; refinement takes the effect of the regularisation off again. A step that
    needed no iteration has no factors of its own: those of an earlier one are not there where a run goes on. If it has
    none, because the matrix is at the edge of what numbers hold, its multipliers are those of the first guess.
    """
    bp = _mass_factor(x, h)
    nl = x.lam.shape[0]
    if p.iteration == 0:
        _factorise(s, w, x, h)
        p.factorisations += 1
        if w.report[FAILED] != 0.0:
            x.kept = -1
            return
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
        if change <= p.tolerance * size:
            break


@kernel
def is_refused(s, w, x, p):
    """Whether a step has passed a singularity of its charts, or velocities have run away; leaves p.verdict."""
    if s.flags[FLAG_CHARTS] != 0:
        check_charts(s, w, x.q, x.qn, x.vn, x.vdn, x.a, 0.0, 0)
        if w.chart != 0.0:
            p.verdict, p.worst = CHART, int(w.chart)
            return True
    if x.index_2 == 0 and x.lam.shape[0] > 0 and (p.index + 1) % EVERY == 0:
        if velocities_run_away(s, w, x.qn, x.vn, p):
            p.verdict = UNSTABLE
            return True
    return False


@_step
def accept(s, w, x, p):
    """Make the new values the state; bring charts back to their good region."""
    h, am, af = p.step, x.am, x.af
    x.stabilized = x.index_2
    if is_refused(s, w, x, p):
        return
    if s.flags[FLAG_REDUNDANT] != 0 and x.lam.shape[0] > 0:
        least_multipliers(s, w, x, p, h)
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
    p.history += 1
    x.led = 0
    x.kept += 1 if x.kept >= 0 else 0
    remember_angles(s, w, x.q, x.v)
    if s.flags[FLAG_CHARTS] != 0:
        check_charts(s, w, x.q, x.q, x.v, x.vd, x.a, (am - af) * h, 1)
        if w.chart != 0.0:
            p.history, x.kept = 0, -1  # the last v_dot lives in another chart
            if x.index_2 == 0 and x.lam.shape[0] > 0:
                x.begin_anew = 1


ENTRIES = {
    loop.LOAD: load,
    loop.BEGIN: begin,
    loop.PREDICT: predict,
    loop.RESIDUAL: residual,
    loop.SOLVE: solve_equations,
    loop.ACCEPT: accept,
    loop.REFUSE: refuse,
}
