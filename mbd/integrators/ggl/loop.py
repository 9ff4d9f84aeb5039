"""Time loop of the GGL integrators."""

from __future__ import annotations

import math

from ...compiled.kernel import kernel
from ...joints.instant import COINCIDENT, primitive_rate
from ...nodes.frames import update_frames
from ...nodes.internal import internal_bilinear
from ...nodes.mass import solve_mass
from ...system.accelerations import accelerations
from ...system.evaluate import clear, copy, evaluate_functions, factor, remember_angles, solve
from ...system.instant import constant
from ...system.tables import PARAMETER_LENGTH
from ..directors.linear_frames import add_constraint_force, subtract_mass
from ..directors.rigid_solve import rigid_blocks, rigid_solve, rigid_tangent
from ..nearest_root import overshoots, turns_round
from ..newton import (
    ACCELERATION,
    ANGULAR,
    FORCE,
    ROUND_OFF,
    TORQUE,
    at_round_off,
    constraint_error,
    correction_size,
    dynamic_error,
    equation_scales,
    keep_smaller,
    stalls,
)
from ..newton_numbers import (
    CODE_NOT_CONVERGED,
    CODE_NOT_FINITE,
    CODE_OVERSHOT,
    CODE_SINGULAR,
    ITERATIONS,
    MEMORY_CODE,
    MEMORY_ERROR,
    MEMORY_FACTORED,
    MEMORY_FACTORS,
    MEMORY_GUESS,
    MEMORY_HISTORY,
    MEMORY_ITERATIONS,
    MEMORY_RATIO,
    MEMORY_STIFF,
    STAGNATION,
    TOLERANCE,
    factors_suffice,
)
from .entries import BLOCKS, CONFIGURE, EQUATIONS, FINISH, FORCE_BLOCKS, FORCES, call_piece
from .equations import (
    ACCELERATED,
    AT_REST,
    C_FOLLOWS,
    C_H,
    C_MOVES,
    COLUMNS,
    DIRECTION,
    EM,
    EULER,
    FORCE_1,
    FORCE_2,
    GUESS,
    GUESSES,
    LENGTH,
    RIGID,
    RIGID_DAMPING,
    RIGID_STIFFNESS,
    ROWS,
    SCHEME,
    SHIFT,
    TORQUE_1,
    TORQUE_2,
    scaled,
)
from .guess import guess_number, nearest_guess, predict, remember_step

ENOUGH = 0.3  # of the tolerance: Newton's method, which converges faster, is well below it after its last step
SLOW = 0.2  # contraction that asks for new factors
FEW = 2  # sweeps; after more of them the next step has new factors


@kernel
def _residual(pieces, r, w, x):
    """Equations at the present values of the unknowns."""
    call_piece(pieces, CONFIGURE, r, w, x)
    call_piece(pieces, FORCES, r, w, x)
    call_piece(pieces, EQUATIONS, r, w, x)


@kernel
def _error(s, w, x, p, h, first, again):
    """Residual relative to the tolerance (<= 1: converged); norms as those of ``newton``."""
    if first:
        before = (p.scales[0], p.scales[1], p.scales[2], p.scales[3], p.scales[4])
        for k in range(x.v.shape[0]):
            x.y[k] = 2.0 * (x.dq[k] / h - x.v[k]) / h
        equation_scales(s, w, x.q, x.v, x.y, x.lam, 1.0 / (h * h), p.scales)
        p.scales[FORCE] *= h * h
        p.scales[TORQUE] *= h * h
        if again:
            keep_smaller(p.scales, before)
    tolerance, n = p.method[TOLERANCE], x.v.shape[0]
    c0, c1 = 1.0 / p.scales[FORCE], 1.0 / p.scales[TORQUE]
    first_group = c0 * c0 * x.norms[FORCE_1] + c1 * c1 * x.norms[TORQUE_1]
    second_group = c0 * c0 * x.norms[FORCE_2] + c1 * c1 * x.norms[TORQUE_2]
    error = math.sqrt(max(first_group, second_group) / n) / tolerance
    total = first_group + second_group
    if x.lam.shape[0] > 0:
        a, b = _constraint_tolerances(s, p, h)
        error = max(error, x.norms[LENGTH] / a, x.norms[DIRECTION] / b)
        total += x.norms[LENGTH] + x.norms[DIRECTION]
    return error if total < 1e300 else 1e300  # a comparison may lose what is not a number, a sum does not


@kernel
def _constraint_tolerances(s, p, h):
    c = p.method[TOLERANCE] * h * h
    a, b = c * p.scales[ACCELERATION], c * p.scales[ANGULAR]
    return max(a, ROUND_OFF * s.parameters[PARAMETER_LENGTH]), max(b, ROUND_OFF)


@kernel
def _find_worst(s, x, p, h):
    """The row of the largest residual, for the message."""
    dynamic_error(s, x.r1, p.scales, p.worst)
    if x.lam.shape[0] > 0:
        a, b = _constraint_tolerances(s, p, h)
        constraint_error(s, x.r1, a, b, p.worst)
        constraint_error(s, x.r2, a, b, p.worst)


@kernel
def _solve(rows, w, x):
    """Corrections with the factors of the large matrix."""
    s1, s2, s3 = rows
    clear(w.x)
    nv = x.v.shape[0]
    for k in range(nv):
        w.x[s1.xv[k]] = -x.r1[k]
        w.x[s2.xv[k]] = -x.r2[k]
    for k in range(x.lam.shape[0]):
        w.x[s1.xl[k]] = -x.r1[nv + k]
        w.x[s2.xl[k]] = -x.r2[nv + k]
    solve(s1, w.matrix, w.pivots, w.dinv, w.x)


@kernel
def _correct(rows, w, x):
    """A step of Newton's method."""
    s1, s2, s3 = rows
    for k in range(x.v.shape[0]):
        x.u[k] += w.x[s1.xv[k]]
        x.dq[k] += w.x[s2.xv[k]]
    for k in range(x.lam.shape[0]):
        x.lams[k] += w.x[s1.xl[k]]
        x.gams[k] += w.x[s2.xl[k]]


@kernel
def _newton(s, rows, pieces, r, w, x, p, h, watched, again):
    """Iterate to convergence; returns 0 or an error code.

    A first guess that is ``watched`` may have overshot; what is tried ``again`` then has the smaller scales.
    """
    best, before, stalled, moved = 1e300, 1e300, 0, 1e300
    limit = int(p.method[ITERATIONS])
    for iteration in range(limit + 1):
        _residual(pieces, r, w, x)
        error = _error(s, w, x, p, h, iteration == 0, again)
        p.memory[MEMORY_ERROR] = error
        if error <= 1.0:
            return 0
        if not error < 1e200:
            return CODE_NOT_FINITE
        stalled = stalls(iteration, error, best, stalled)
        if at_round_off(stalled, error, best, STAGNATION, moved):
            return 0
        best = min(best, error)
        if iteration == limit:
            break
        if iteration == 0 or not factors_suffice(error, before):
            call_piece(pieces, BLOCKS, r, w, x)
            call_piece(pieces, FORCE_BLOCKS, r, w, x)
            factor(rows[0], w, w.matrix, w.pivots, w.dinv)
            p.memory[MEMORY_FACTORS] += 1.0
            p.memory[MEMORY_RATIO] = min(p.memory[MEMORY_RATIO], w.info[0])
            if w.info[4] != 0.0:
                p.worst[0] = -1 - int(w.info[1])
                return CODE_SINGULAR
        before = error
        _solve(rows, w, x)
        length = s.parameters[PARAMETER_LENGTH]
        if iteration == 0 and watched:
            if overshoots(rows[1].nodes, length, x.dq, x.v, h, w.x, True):
                return CODE_OVERSHOT
        elif iteration > 2:
            moved = correction_size(rows[1].nodes, length, x.q, w.x, True)
        _correct(rows, w, x)
        p.memory[MEMORY_ITERATIONS] += 1.0
    return CODE_NOT_CONVERGED


@kernel
def _factor(s, t, w, x, p):
    """Factors for both groups; a second matrix for the first one if forces belong to it."""
    rigid_blocks(t, w, x.at_p, x.zt, x.z1, w.matrix)
    factor(t, w, w.matrix, w.pivots, w.dinv)
    p.memory[MEMORY_FACTORS] += 1.0
    p.memory[MEMORY_RATIO] = min(p.memory[MEMORY_RATIO], w.info[0])
    if p.memory[MEMORY_STIFF] != 0.0 and w.info[4] == 0.0:
        scaled(1.0 / (x.c[C_H] * x.c[C_H]), x.lams, x.mu)
        copy(x.at_v, w.values)
        rigid_tangent(
            s, t, w, x.q, x.zero, x.z1, x.zy, x.mu, p.method[RIGID_DAMPING], p.method[RIGID_STIFFNESS], w.matrix2
        )  # fmt: skip
        factor(t, w, w.matrix2, w.pivots2, w.dinv2)
        p.memory[MEMORY_FACTORS] += 1.0
        p.memory[MEMORY_RATIO] = min(p.memory[MEMORY_RATIO], w.info[0])


@kernel
def _sweep(s, t, w, x, p):
    """Corrections of the velocity and lambda', then of the increment and gamma' as if the first correction were exact.

    Rows of velocity constraints move with the velocity, as their frames do. The increment follows it (EULER: w, which
    follows lambda'), in which the second residual is linear.
    """
    nv = x.v.shape[0]
    if p.method[SCHEME] == EULER:
        _explicit_rows(s, x)
    for i in range(s.nodes.shape[0]):
        for m in range(12):
            x.zr[i, m] = x.zv[i, m] + x.c[C_MOVES] * x.zu[i, m]
    if p.memory[MEMORY_STIFF] != 0.0:
        rigid_solve(s, t, w, x.at_l, x.at_v, x.zl, x.zr, w.matrix2, w.pivots2, w.dinv2, x.r1, x.buffer, x.f1)
    else:
        rigid_solve(s, t, w, x.at_l, x.at_v, x.zl, x.zr, w.matrix, w.pivots, w.dinv, x.r1, x.buffer, x.f1)
    if p.method[SCHEME] == EULER:
        add_constraint_force(s, x.at_l, x.zl, x.r1[nv:], w.small[0], x.f1, x.r2)
    else:
        subtract_mass(s.nodes, x.c[C_FOLLOWS], x.r1, w.small, x.r2)
    for k in range(x.lam.shape[0]):
        x.r2[nv + k] /= p.method[ROWS]
    rigid_solve(s, t, w, x.at_t, x.at_p, x.zt, x.z1, w.matrix, w.pivots, w.dinv, x.r2, x.buffer, x.f1)


@kernel
def _apply(x, p):
    """Apply the corrections of a sweep."""
    nv = x.v.shape[0]
    for k in range(nv):
        x.u[k] += x.r1[k]
        x.dq[k] += x.r2[k]
    for k in range(x.lam.shape[0]):
        x.lams[k] += p.method[COLUMNS] * x.r1[nv + k]
        x.gams[k] -= x.r2[nv + k]


@kernel
def _explicit_rows(s, x):
    """Velocity constraints hold at q + w, and w will change by M^-1 r1 more than u: add D^2 g[u, M^-1 r1] to them."""
    nv = x.v.shape[0]
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        o = 0 if n.nx == 3 else 3
        for m in range(n.nv):
            x.y[n.v0 + m] = x.r1[n.v0 + m]
        solve_mass(n, x.y, x.square)
        for m in range(n.nv):
            x.zy[i, o + m] = x.y[n.v0 + m]
        if n.nl > 0:
            internal_bilinear(n, x.zu[i], x.zy[i], 3, 3, x.y, n.v0)
            for m in range(6):
                x.r1[nv + n.l0 + m] += x.y[n.v0 + m]
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        if p.kind != COINCIDENT:
            a, b = p.a, p.b
            primitive_rate(p, x.zu[a], x.zu[b], x.zy[a], x.zy[b], constant(p, x.at_v), x.y, 0)
            x.r1[nv + p.l0] += x.y[0]


@kernel
def _rigid(s, t, pieces, r, w, x, p, h, watched, again):
    """Iterate with the matrix of rigid bodies (``rigid_iteration``); otherwise as ``_newton``."""
    earlier, before, fresh = 1e300, 1e300, False
    best, stalled, moved, limit = 1e300, 0, 1e300, int(p.method[ITERATIONS])
    for iteration in range(limit + 1):
        _residual(pieces, r, w, x)
        error = _error(s, w, x, p, h, iteration == 0, again)
        p.memory[MEMORY_ERROR] = error
        if error <= ENOUGH:
            if iteration > FEW and not fresh:
                p.memory[MEMORY_FACTORED] = 0.0
            return 0
        if not error < 1e200:
            return CODE_NOT_FINITE
        stalled = stalls(iteration, error, best, stalled)
        if at_round_off(stalled, error, best, STAGNATION, moved):
            return 0
        best = min(best, error)
        if iteration == limit:
            if error <= 1.0:
                return 0
            break
        slow = error > max(1.0, SLOW * before) and (iteration == 1 or error > SLOW * SLOW * earlier)
        if slow and fresh and p.memory[MEMORY_STIFF] == 0.0 and p.method[RIGID_STIFFNESS] != 0.0:
            p.memory[MEMORY_STIFF] = 1.0
        if p.memory[MEMORY_FACTORED] == 0.0 or slow:
            _factor(s, t, w, x, p)
            fresh = True
            p.memory[MEMORY_FACTORED] = 1.0
            if w.info[4] != 0.0:
                p.worst[0] = -1 - int(w.info[1])
                p.memory[MEMORY_FACTORED] = 0.0
                return CODE_SINGULAR
        earlier, before = before, error
        _sweep(s, t, w, x, p)
        length = s.parameters[PARAMETER_LENGTH]
        if iteration == 0 and watched:
            if overshoots(s.nodes, length, x.dq, x.v, h, x.r2, False):
                return CODE_OVERSHOT
        elif iteration > 2:
            moved = correction_size(s.nodes, length, x.q, x.r2, False)
        _apply(x, p)
        p.memory[MEMORY_ITERATIONS] += 1.0
    return CODE_NOT_CONVERGED


@kernel
def _accept(s, pieces, r, w, x, p, h):
    """Make the new values the state; what belongs to the middle of a step is carried to its end."""
    scheme = p.method[SCHEME]
    p.memory[MEMORY_GUESS] = nearest_guess(x, p)
    if scheme == EM or scheme == EULER:
        copy(x.u, x.y)
    else:
        call_piece(pieces, FINISH, r, w, x)
    remember_step(x, p)
    first = p.memory[MEMORY_HISTORY] == 0.0
    middle = p.method[SHIFT] == 0.5
    c0, c1 = (1.5, -0.5) if middle and not first else (1.0, 0.0)
    for k in range(x.v.shape[0]):
        v = x.y[k] / h
        mean = (v - x.v[k]) / h
        x.vd[k] = c0 * mean + c1 * x.vdm[k]
        x.vdm[k] = mean
        x.v[k] = v
    for k in range(x.lam.shape[0]):
        lam = x.lams[k] / (h * h)
        x.lam[k] = c0 * lam + c1 * x.lamm[k]
        x.lamm[k] = lam
    for k in range(x.q.shape[0]):
        x.q[k] += x.dq[k]
    for i in range(s.nodes.shape[0]):
        copy(x.z1[i], x.z0[i])
        copy(x.z1[i], w.z[i])
    remember_angles(s, w, x.q, x.v)
    p.memory[MEMORY_HISTORY] += 1.0


@kernel
def start_ggl(s, w, x, t):
    """Accelerations and multipliers of the start; w are the buffers of the system itself."""
    evaluate_functions(s, w, t)
    accelerations(s, w, x.q, x.v, x.zero, x.vd, x.lam)
    remember_angles(s, w, x.q, x.v)


@kernel
def run_ggl(s, rows, pieces, r, w, x, p, origin, first, h, count, every, out_q, out_v, out_g, out_l, out_turns):
    """Advance ``count`` steps, the first being number ``first`` from the time ``origin``; returns the steps done.

    ``s`` are the tables of residuals, ``rows`` those of the matrix (its three groups, or rigid bodies); ``pieces`` are
    the equations of the method, which know the tables of all pairs of groups by ``r``. Of the multipliers those of the
    scheme are recorded, gamma and lambda of the step.
    """
    row = 0
    update_frames(s.nodes, x.q, x.z0, w.spin)
    shift = p.method[SHIFT]
    for step in range(count):
        t = origin + (first + step) * h
        evaluate_functions(s, w, t)
        copy(w.values, x.at_start)
        evaluate_functions(s, w, t + shift * h)
        copy(w.values, x.at_force)
        evaluate_functions(s, w, t + h)
        copy(w.values, x.at_end)
        x.times[0], x.times[1], x.times[2] = t, t + shift * h, t + h
        code, again = 0, False
        chosen = int(p.method[GUESS])
        if chosen == ACCELERATED:
            chosen = int(p.memory[MEMORY_GUESS])
        for attempt in range(GUESSES + 1):  # of large steps another one may be in the basin
            guess = guess_number(chosen, attempt)
            if again:  # the root that is nearest to the start of the step
                guess = guess_number(AT_REST, attempt - 1)
            elif attempt == GUESSES:
                break
            # later on, the guess that was nearest in the last step is taken
            watched = attempt == 0 and guess != AT_REST and p.memory[MEMORY_HISTORY] == 0.0
            predict(x, p, h, guess)
            if p.method[RIGID] != 0.0:
                code = _rigid(s, rows[0], pieces, r, w, x, p, h, watched, again)
            else:
                code = _newton(s, rows, pieces, r, w, x, p, h, watched, again)
            if code == CODE_OVERSHOT or (attempt == 0 and code == 0 and turns_round(s, x.z0, x.z1)):
                code, again = CODE_OVERSHOT, True
            if code == 0:
                break
        if code != 0:
            if code != CODE_SINGULAR:
                _find_worst(s, x, p, h)
            p.memory[MEMORY_CODE] = code
            return step
        _accept(s, pieces, r, w, x, p, h)
        if (first + step + 1) % every == 0:
            copy(x.q, out_q[row])
            copy(x.v, out_v[row])
            scaled(1.0 / h, x.gams, out_g[row])
            copy(x.lamm, out_l[row])
            copy(w.turns, out_turns[row])
            row += 1
    return count
