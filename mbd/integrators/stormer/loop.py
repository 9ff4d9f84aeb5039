"""Time loop of SHAKE and RATTLE."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...math.arrays import clear, copy
from ...nodes.frames import update_frames
from ...system.instant import evaluate_functions
from ...system.matrix import factor
from ...system.over_step import blocks_over_step
from ...system.tables import FLAG_EXTRA, PARAMETER_LENGTH
from ..directors.linear_frames import copy_frames, extrapolate
from ..directors.rigid_solve import rigid_blocks, rigid_solve
from ..newton import (
    ACCELERATION,
    ANGULAR,
    ROUND_OFF,
    at_round_off,
    constraint_error,
    correction_size,
    dynamic_error,
    equation_scales,
    stalls,
)
from ..newton_numbers import (
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
)
from .equations import (
    PAST,
    forces_of_next_step,
    new_momenta,
    position_residual,
    unprojected_velocities,
    velocity_residual,
)

PROJECT = 2  # further entry of numbers.method
POSITIONS, VELOCITIES = 0, 1
ENOUGH = 0.1  # of the tolerance: what is left of residuals adds up over many steps
SLOW = 0.1  # contraction that asks for new factors


@kernel
def _error(s, x, p, h):
    """Residual relative to the tolerance (<= 1: converged)."""
    tolerance = p.method[TOLERANCE]
    error = dynamic_error(s, x.r, p.scales, p.worst) / tolerance
    if x.lam.shape[0] > 0:
        a, b = tolerance * h * h * p.scales[ACCELERATION], tolerance * h * h * p.scales[ANGULAR]
        a, b = max(a, ROUND_OFF * s.parameters[PARAMETER_LENGTH]), max(b, ROUND_OFF)
        error = max(error, constraint_error(s, x.r, a, b, p.worst))
    return error


@kernel
def _scales(s, w, x, p, h, stage):
    """Scales of the equations from the forces that are known; those of velocities are at least those of positions."""
    for k in range(x.v.shape[0]):
        if stage == POSITIONS:
            x.rate[k] = x.dq[k] / h
            x.r[k] = 2.0 * (x.rate[k] - x.v[k]) / h
        else:
            x.rate[k] = x.u[k] / h
            x.r[k] = (x.rate[k] - x.v[k]) / h
    w.scales[0], w.scales[1] = x.loads[0], x.loads[1]
    equation_scales(s, w, x.q, x.rate, x.r, x.lam, 1.0 / (h * h), x.scales)
    for k in range(x.scales.shape[0]):
        c = x.scales[k] * (h * h if k < ACCELERATION else 1.0)
        p.scales[k] = c if stage == POSITIONS else max(c, p.scales[k])


@kernel
def _factor(t, w, x, p, zc, time):
    """Factors with columns at zc and rows at the end of the step."""
    rigid_blocks(t, w, x.at_end, zc, x.z1, w.matrix)
    if t.flags[FLAG_EXTRA] != 0:
        copy_frames(zc, w.z)
        copy(x.at_end, w.values)
        w.time[0] = x.times[1]
        blocks_over_step(t, w, x.q, zc, x.q, x.z1, time, w.matrix)
    factor(t, w, w.matrix, w.pivots, w.dinv)
    p.memory[MEMORY_FACTORED] = 1.0
    p.memory[MEMORY_FACTORS] += 1.0
    p.memory[MEMORY_RATIO] = min(p.memory[MEMORY_RATIO], w.info[0])


@kernel
def _iterate(s, t, w, x, p, h, stage, limit):
    """Solve the equations of positions or velocities; returns 0 or an error code."""
    best, before, stalled, moved = 1e300, 1e300, 0, 1e300
    _scales(s, w, x, p, h, stage)
    for iteration in range(limit + 1):
        if stage == POSITIONS:
            position_residual(s, w, x, h)
        else:
            velocity_residual(s, w, x, h)
        error = _error(s, x, p, h)
        p.memory[MEMORY_ERROR] = error
        if error <= ENOUGH:
            return 0
        if not error < 1e200:
            return CODE_NOT_FINITE
        stalled = stalls(iteration, error, best, stalled)
        if at_round_off(stalled, error, best, STAGNATION, moved):
            return 0
        best = min(best, error)
        if iteration == limit:
            return 0 if error <= 1.0 else CODE_NOT_CONVERGED
        if p.memory[MEMORY_FACTORED] == 0.0 or (iteration > 0 and error > max(1.0, SLOW * before)):
            if stage == POSITIONS:
                _factor(t, w, x, p, x.z0, x.times[0])
            else:
                _factor(t, w, x, p, x.z1, x.times[1])
            if w.info[4] != 0.0:
                p.worst[0] = -1 - int(w.info[1])
                return CODE_SINGULAR
        before = error
        if stage == POSITIONS:
            rigid_solve(
                s, t, w, x.at_start, x.at_end, x.z0, x.z1, w.matrix, w.pivots, w.dinv, x.r, x.stretch, x.f
            )  # fmt: skip
            if iteration > 2:
                moved = correction_size(s.nodes, s.parameters[PARAMETER_LENGTH], x.q, x.r, False)
            _add(x.r, x.dq, x.lams)
            p.memory[MEMORY_ITERATIONS] += 1.0
        else:
            rigid_solve(
                s, t, w, x.at_end, x.at_end, x.z1, x.z1, w.matrix, w.pivots, w.dinv, x.r, x.stretch, x.f
            )  # fmt: skip
            if iteration > 2:
                moved = correction_size(s.nodes, s.parameters[PARAMETER_LENGTH], x.q, x.r, False)
            _add(x.r, x.u, x.mus)
    return CODE_NOT_CONVERGED


@kernel
def _add(r, u, mu):
    nv = u.shape[0]
    for k in range(nv):
        u[k] += r[k]
    for k in range(mu.shape[0]):
        mu[k] += r[nv + k]


@kernel
def _predict(x, p, h):
    """First guess of dq and lambda'."""
    n = int(p.memory[MEMORY_HISTORY])
    for k in range(x.v.shape[0]):
        x.dq[k] = h * x.v[k] + (0.5 * h * h * x.vd[k] if n == 0 else 0.0)
    for k in range(x.lam.shape[0]):
        x.lams[k] = 0.5 * h * h * x.lam[k] if n == 0 else 0.0
    extrapolate(x.past_d, n, x.weights, x.dq)
    extrapolate(x.past_l, n, x.weights, x.lams)


@kernel
def _predict_velocities(x, p, h):
    """First guess of V and mu: half of the constraint force lacks in the momenta."""
    n = int(p.memory[MEMORY_HISTORY])
    for k in range(x.v.shape[0]):
        x.u[k] = h * x.v[k] if n > 0 else x.dq[k] + 0.5 * h * h * x.vd[k]
    for k in range(x.lam.shape[0]):
        x.mus[k] = 0.0 if n > 0 else x.lams[k]
    extrapolate(x.past_v, n, x.weights, x.u)
    extrapolate(x.past_m, n, x.weights, x.mus)


@kernel
def _accept(s, t, w, x, p, h):
    """Momenta and velocities of the end; make the new values the state. Returns 0 or an error code."""
    n = int(p.memory[MEMORY_HISTORY])
    copy(x.p, x.p0)
    copy_frames(x.force, x.force0)
    copy(x.loads, x.loads0)
    new_momenta(s, w, x, h)
    if p.method[PROJECT] != 0.0:
        _predict_velocities(x, p, h)
        code = _iterate(s, t, w, x, p, h, VELOCITIES, int(p.method[ITERATIONS]))
        if code != 0:  # the state stays that of the start of the step
            copy(x.p0, x.p)
            copy_frames(x.force0, x.force)
            copy(x.loads0, x.loads)
            return code
    else:
        clear(x.mus)
        unprojected_velocities(s, w, x, 1.0 if n == 0 else 0.5)
    # the momenta of the start contain one half of the constraint force already
    c, i = (2.0 if n == 0 else 1.0), n % PAST
    for k in range(x.v.shape[0]):
        x.past_d[i, k] = x.dq[k] - h * x.v[k]
        x.past_v[i, k] = x.u[k] - h * x.v[k]
        v = x.u[k] / h
        x.vd[k] = (v - x.v[k]) / h
        x.v[k] = v
    for k in range(x.lam.shape[0]):
        x.past_l[i, k] = c * x.lams[k]
        x.past_m[i, k] = x.mus[k]
        x.lam[k] = c * x.lams[k] / (h * h)
    for k in range(x.q.shape[0]):
        x.q[k] += x.dq[k]
    forces_of_next_step(s, w, x)
    p.memory[MEMORY_HISTORY] += 1.0
    return 0


@kernel
def run_rattle(s, t, w, x, p, origin, first, h, count, every, out_q, out_v, out_m, out_l, out_turns):
    """Advance ``count`` steps, the first being number ``first`` from the time ``origin``; returns the steps done.

    s are natural tables, t those of rigid bodies, w their buffers. Of the multipliers those of the scheme are recorded.
    """
    row = 0
    update_frames(s.nodes, x.q, x.z0, w.spin)
    for step in range(count):
        time = origin + (first + step) * h
        evaluate_functions(s, w, time)
        copy(w.values, x.at_start)
        evaluate_functions(s, w, time + h)
        copy(w.values, x.at_end)
        x.times[0], x.times[1] = time, time + h
        p.memory[MEMORY_FACTORED] = 0.0
        _predict(x, p, h)
        code = _iterate(s, t, w, x, p, h, POSITIONS, int(p.method[ITERATIONS]))
        if code == 0:
            code = _accept(s, t, w, x, p, h)
        if code != 0:
            p.memory[MEMORY_CODE] = code
            return step
        if (first + step + 1) % every == 0:
            copy(x.q, out_q[row])
            copy(x.v, out_v[row])
            for k in range(out_m.shape[1]):
                out_m[row, k] = 2.0 * x.mus[k] / (h * h)
            copy(x.lam, out_l[row])
            copy(w.turns, out_turns[row])
            row += 1
    return count
