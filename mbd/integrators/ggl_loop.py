"""Time loop of the GGL integrators."""

from __future__ import annotations

from ..kernel import kernel
from ..nodes.frames import update_frames
from ..records import PARAMETER_LENGTH
from ..system.accelerations import accelerations
from ..system.evaluate import copy, evaluate_functions, factor, remember_angles, solve
from .ggl_kernels import ACCELERATED, AT_REST, EM, EULER, GUESSES
from .ggl_pieces import call_piece
from .newton import ACCELERATION, ANGULAR, ROUND_OFF, constraint_error, dynamic_error, equation_scales
from .secant_numbers import (
    CODE_NOT_CONVERGED,
    CODE_NOT_FINITE,
    CODE_SINGULAR,
    ITERATIONS,
    MEMORY_CODE,
    MEMORY_ERROR,
    MEMORY_FACTORED,
    MEMORY_FACTORS,
    MEMORY_HISTORY,
    MEMORY_ITERATIONS,
    MEMORY_RATIO,
    STAGNATION,
    TOLERANCE,
    factors_suffice,
)

SCHEME, THETA_VALUE, VARTHETA, OPTION, GUESS, SPLIT, SHARE = 2, 3, 4, 5, 6, 7, 8  # further entries of numbers.method
TURNS, SLOW = 15, 0.5  # limit of the iteration that takes groups in turns; contraction that asks for new factors
RESIDUAL, MATRIX, FINISH = 0, 1, 2  # pieces of a method


@kernel
def _call(pieces, k, r, w, x, p, h):
    """Residual, matrix, or the momenta at the end of the step."""
    call_piece(pieces, k, r, w, x, h, p.method[THETA_VALUE], p.method[VARTHETA], int(p.method[OPTION]))


@kernel
def _error(s, rows, w, x, p, h, first):
    """Residual relative to the tolerance; s are the tables of the system."""
    s1, s2, s3 = rows
    if first:
        for k in range(x.v.shape[0]):
            x.mean[k] = 2.0 * (x.dq[k] / h - x.v[k]) / h
        equation_scales(s, w, x.qn, x.v, x.mean, x.lam, 1.0 / (h * h), p.scales)
        p.scales[0] *= h * h
        p.scales[1] *= h * h
    tolerance = p.method[TOLERANCE]
    error = max(dynamic_error(s1, w.x, p.scales, p.worst), dynamic_error(s2, w.x, p.scales, p.worst))
    if p.method[SCHEME] == EULER:
        error = max(error, dynamic_error(s3, w.x, p.scales, p.worst))
    error /= tolerance
    if x.lam.shape[0] > 0:
        a, b = tolerance * h * h * p.scales[ACCELERATION], tolerance * h * h * p.scales[ANGULAR]
        a, b = max(a, ROUND_OFF * s.parameters[PARAMETER_LENGTH]), max(b, ROUND_OFF)
        error = max(error, constraint_error(s1, w.x, a, b, p.worst), constraint_error(s2, w.x, a, b, p.worst))
    return error


@kernel
def _correct(rows, w, x, p):
    s1, s2, s3 = rows
    for k in range(w.x.shape[0]):
        w.x[k] = -w.x[k]
    solve(s1, w.matrix, w.pivots, w.dinv, w.x)
    euler = p.method[SCHEME] == EULER
    for k in range(x.v.shape[0]):
        x.dq[k] += w.x[s1.xv[k]]
        if euler:
            x.y[k] += w.x[s2.xv[k]]
            x.u[k] += w.x[s3.xv[k]]
        else:
            x.u[k] += w.x[s2.xv[k]]
    for k in range(x.lam.shape[0]):
        x.lams[k] += w.x[s1.xl[k]]
        x.gams[k] += w.x[s2.xl[k]]


@kernel
def _newton(s, rows, pieces, r, w, x, p, h):
    """Iterate to convergence; returns 0 or an error code."""
    best, before, stalled = 1e300, 1e300, 0
    limit = int(p.method[ITERATIONS])
    for iteration in range(limit + 1):
        _call(pieces, RESIDUAL, r, w, x, p, h)
        error = _error(s, rows, w, x, p, h, iteration == 0)
        p.memory[MEMORY_ERROR] = error
        if error <= 1.0:
            return 0
        if not error < 1e200:
            return CODE_NOT_FINITE
        if iteration > 2:
            stalled = stalled + 1 if error > 0.5 * best else 0
            if stalled >= 2 and best <= STAGNATION and error <= STAGNATION:
                return 0  # round-off, not the iteration, limits the accuracy
        best = min(best, error)
        if iteration == limit:
            break
        if iteration == 0 or not factors_suffice(error, before):
            _call(pieces, MATRIX, r, w, x, p, h)
            factor(rows[0], w, w.matrix, w.pivots, w.dinv)
            p.memory[MEMORY_FACTORS] += 1.0
            p.memory[MEMORY_RATIO] = min(p.memory[MEMORY_RATIO], w.info[0])
            if w.info[4] != 0.0:
                p.worst[0] = w.info[1]
                return CODE_SINGULAR
        before = error
        _correct(rows, w, x, p)
        p.memory[MEMORY_ITERATIONS] += 1.0
    return CODE_NOT_CONVERGED


@kernel
def _solve_group(s, w, n, size, k):
    """w.x of group k = -(matrix of the group)^-1 w.x."""
    x = w.x[k * n : (k + 1) * n]
    for i in range(n):
        x[i] = -x[i]
    solve(s, w.matrix[k * size : (k + 1) * size], w.pivots[k * n : (k + 1) * n], w.dinv[k * n : (k + 1) * n], x)


@kernel
def _sweep(s, rows, pieces, r, w, x, p, h, n, size):
    """Groups in turns; after the second one the multipliers take the change of its constraint force back.

    -G^T gamma' of the first equation has (nearly) the direction of the force of lambda', so that the first group is
    then hardly disturbed, and what couples the groups besides is as small as gamma.
    """
    s1, s2, s3 = rows
    _solve_group(s, w, n, size, 0)
    for k in range(x.v.shape[0]):
        x.dq[k] += w.x[s1.xv[k]]
    for k in range(x.lam.shape[0]):
        x.lams[k] += w.x[s1.xl[k]]
    _call(pieces, RESIDUAL, r, w, x, p, h)
    _solve_group(s, w, n, size, 1)
    euler = p.method[SCHEME] == EULER
    for k in range(x.v.shape[0]):
        if euler:
            x.y[k] += w.x[s2.xv[k]]
        else:
            x.u[k] += w.x[s2.xv[k]]
    for k in range(x.lam.shape[0]):
        x.gams[k] += w.x[s2.xl[k]]
        x.lams[k] += p.method[SHARE] * w.x[s2.xl[k]]
    if euler:
        _call(pieces, RESIDUAL, r, w, x, p, h)
        _solve_group(s, w, n, size, 2)
        for k in range(x.v.shape[0]):
            x.u[k] += w.x[s3.xv[k]]


@kernel
def _in_turns(s, rows, pieces, r, w, x, p, h):
    """The same iteration without the coupling of groups in the matrix; the factors are kept while it converges fast."""
    before = 1e300
    n = s.xv.shape[0] + s.xl.shape[0]
    groups = 3 if p.method[SCHEME] == EULER else 2
    size = w.matrix.shape[0] // groups
    for iteration in range(TURNS + 1):
        _call(pieces, RESIDUAL, r, w, x, p, h)
        error = _error(s, rows, w, x, p, h, iteration == 0)
        p.memory[MEMORY_ERROR] = error
        if error <= 0.1:  # below the tolerance, as after a step of Newton's method
            return 0
        if not error < 1e200:
            return CODE_NOT_FINITE
        if iteration == TURNS:
            break
        if p.memory[MEMORY_FACTORED] == 0.0 or (iteration > 0 and error > SLOW * before):
            _call(pieces, MATRIX, r, w, x, p, h)
            for k in range(groups):
                factor(
                    s, w, w.matrix[k * size : (k + 1) * size], w.pivots[k * n : (k + 1) * n],
                    w.dinv[k * n : (k + 1) * n],
                )  # fmt: skip
                if w.info[4] != 0.0:
                    p.worst[0] = w.info[1]
                    p.memory[MEMORY_FACTORED] = 0.0
                    return CODE_SINGULAR
            p.memory[MEMORY_FACTORED] = 1.0
            p.memory[MEMORY_FACTORS] += 1.0
            p.memory[MEMORY_RATIO] = min(p.memory[MEMORY_RATIO], w.info[0])
        before = error
        _sweep(s, rows, pieces, r, w, x, p, h, n, size)
        p.memory[MEMORY_ITERATIONS] += 1.0
    return CODE_NOT_CONVERGED


@kernel
def _predict(x, p, h, guess):
    """First guess: uniform acceleration, uniform motion, or rest at the last position."""
    later = p.memory[MEMORY_HISTORY] > 0.0
    for k in range(x.v.shape[0]):
        a = 0.0
        if guess == ACCELERATED:
            a = 2.0 * x.vd[k] - x.vdm[k] if later else x.vd[k]
        x.y0[k] = h * x.v[k]
        x.dq[k] = h * (x.v[k] + 0.5 * h * a) if guess != AT_REST else 0.0
        x.y[k] = h * (x.v[k] + h * a)
        x.u[k] = x.y[k] if p.method[SCHEME] == EM else x.dq[k]
    for k in range(x.lam.shape[0]):
        x.lams[k] = h * h * x.lam[k]
        x.gams[k] = 0.0


@kernel
def _accept(s, pieces, r, w, x, p, h):
    """Make the new values the state; what belongs to the middle of a step is carried to its end."""
    scheme, theta = p.method[SCHEME], p.method[THETA_VALUE]
    if scheme == EM:
        copy(x.u, x.y)
    elif scheme != EULER:
        _call(pieces, FINISH, r, w, x, p, h)
    first = p.memory[MEMORY_HISTORY] == 0.0
    middle = scheme == EM or (scheme != EULER and theta == 0.5)
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
        x.q[k] = x.qn[k]
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
def run_ggl(s, rows, pieces, r, w, x, p, origin, first, h, count, every, out_q, out_v, out_vd, out_l, out_turns):
    """Advance ``count`` steps, the first being number ``first`` from the time ``origin``; returns the steps done.

    ``s`` are the tables of the system, ``rows`` parts of those of the three groups; ``pieces`` are the equations of the
    method, which know the tables of all pairs of groups by ``r``.
    """
    row = 0
    update_frames(s.nodes, x.q, x.z0, w.spin)
    scheme, theta = p.method[SCHEME], p.method[THETA_VALUE]
    shift = 0.5 if scheme == EM else (0.0 if scheme == EULER else theta)
    for step in range(count):
        t = origin + (first + step) * h
        evaluate_functions(s, w, t)
        copy(w.values, x.begin)
        evaluate_functions(s, w, t + shift * h)
        copy(w.values, x.mid)
        evaluate_functions(s, w, t + h)
        copy(w.values, x.end)
        x.times[0], x.times[1], x.times[2] = t, t + shift * h, t + h
        code = 0
        for guess in range(int(p.method[GUESS]), GUESSES):  # of large steps a plainer one may be in the basin
            _predict(x, p, h, guess)
            if p.method[SPLIT] != 0.0:
                code = _in_turns(s, rows, pieces, r, w, x, p, h)
            else:
                code = _newton(s, rows, pieces, r, w, x, p, h)
            if code == 0:
                break
        if code != 0:
            p.memory[MEMORY_CODE] = code
            return step
        _accept(s, pieces, r, w, x, p, h)
        if (first + step + 1) % every == 0:
            copy(x.q, out_q[row])
            copy(x.v, out_v[row])
            copy(x.vd, out_vd[row])
            copy(x.lam, out_l[row])
            copy(w.turns, out_turns[row])
            row += 1
    return count
