"""Time loop of the energy-momentum scheme on frames: residual, Newton, accepted steps."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...nodes.frames import has_frame
from ...nodes.increments import apply_cayley
from ...system.accelerations import accelerations
from ...system.evaluate import (
    constraints,
    copy,
    evaluate_functions,
    factor_with,
    finish,
    frames,
    remember_angles,
    solve,
)
from ...system.tables import PARAMETER_LENGTH
from ..nearest_root import AS_BEFORE, AT_REST, EXTRAPOLATED, UNIFORM, overshoots, turns_round
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
    MEMORY_FACTORS,
    MEMORY_HISTORY,
    MEMORY_ITERATIONS,
    MEMORY_RATIO,
    STAGNATION,
    TOLERANCE,
    factors_suffice,
    will_converge,
)
from .elements import RATES, call_frame_piece
from .equations import average_frame, frame_forces, frame_matrix, move
from .node_steps import ACCEPT, CORRECT, EQUATION, GUESS, START, call_special

SMOOTH = 2  # further entry of numbers.method: 1 if all equations are analytic functions
POLISHED = 0.1  # multiple of the tolerance above which a converged step gets a last correction ...
POLISHED_ROUGH = 0.01  # ... and in rough motion, with more iterations, where forces and with them tolerances are large


@kernel
def _follow(s, w, x):
    """Move to the present iterate: coordinates and frames."""
    move(s, w, x)
    for i in range(s.nodes.shape[0]):
        average_frame(x.z0[i], w.z[i], x.zm[i], x.zr[i])


@kernel
def _residual(s, w, x, h):
    """The equations at the present iterate into w.x, from its frame forces."""
    force, torque = 0.0, 0.0
    for i in range(1, s.nodes.shape[0]):
        f, t = w.f[i], x.torque[i]
        force = max(force, abs(f[0]), abs(f[1]), abs(f[2]))
        torque = max(torque, abs(t[0]), abs(t[1]), abs(t[2]), abs(f[3]), abs(f[4]), abs(f[5]))
        torque = max(torque, abs(f[6]), abs(f[7]), abs(f[8]), abs(f[9]), abs(f[10]), abs(f[11]))
    w.scales[0] = force
    w.scales[1] = torque
    call_special(s, w, x, EQUATION, h)
    constraints(s, w, x.qn, w.x)


@kernel
def _admit_round_off(nodes, v, scales, c):
    """Scales at least such that the tolerance (c = tolerance h) is above the round-off of 2 (m dq/h - m v)/h."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        for k in range(n.nx):
            scales[FORCE] = max(scales[FORCE], ROUND_OFF * n.mass * abs(v[n.v0 + k]) / c)
        inertia = max(n.j11, n.j22, n.j33)
        for k in range(n.nx, n.nv):
            scales[TORQUE] = max(scales[TORQUE], ROUND_OFF * inertia * abs(v[n.v0 + k]) / c)


@kernel
def _error(s, w, x, p, h, first, again):
    """Residual relative to the tolerance (<= 1: converged)."""
    if first:
        c, v, dq, vn, vdn = 2.0 / h, x.v, x.dq, x.vn, x.vdn
        for k in range(v.shape[0]):
            mean = 0.5 * c * dq[k]
            vn[k] = mean
            vdn[k] = c * (mean - v[k])
        before = (p.scales[0], p.scales[1], p.scales[2], p.scales[3], p.scales[4])
        equation_scales(s, w, x.qn, x.vn, x.vdn, x.lamn, 1.0 / (h * h), p.scales)
        _admit_round_off(s.nodes, x.vn, p.scales, p.method[TOLERANCE] * h)
        if again:
            keep_smaller(p.scales, before)
    tolerance = p.method[TOLERANCE]
    error = dynamic_error(s, w.x, p.scales, p.worst) / tolerance
    if x.lam.shape[0] > 0:
        a, b = tolerance * h * h * p.scales[ACCELERATION], tolerance * h * h * p.scales[ANGULAR]
        a, b = max(a, ROUND_OFF * s.parameters[PARAMETER_LENGTH]), max(b, ROUND_OFF)
        error = max(error, constraint_error(s, w.x, a, b, p.worst))
    if x.extra.shape[0] > 0:
        error = max(error, _extra_error(s, w, x, p, h))
    return error


@kernel
def _extra_error(s, w, x, p, h):
    """The same for velocities and momenta that are unknowns."""
    tolerance = p.method[TOLERANCE]
    n = x.v.shape[0]
    error = 0.0
    for k in range(n):
        kind = s.vclass[k]
        a = tolerance * h * h * p.scales[ANGULAR if kind == 1 else ACCELERATION]
        a = max(a, ROUND_OFF * (1.0 if kind == 1 else s.parameters[PARAMETER_LENGTH]))
        error = max(error, abs(w.x[x.extra[k]]) / a, abs(w.x[x.extra[n + k]]) / (tolerance * h * p.scales[kind]))
    return error


@kernel
def _scale_rows(s, w, x, h):
    """The right-hand side of the Newton equations from the residual."""
    ck = 0.5 * h * h
    nodes, y, xl, extra = s.nodes, w.x, s.xl, x.extra  # once: a store could change where they are
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        for k in range(n.x0, n.x0 + n.nv):
            y[k] *= -ck
    for k in range(xl.shape[0]):
        y[xl[k]] = -y[xl[k]]
    for k in range(extra.shape[0]):
        y[extra[k]] = -y[extra[k]]


@kernel
def _solve(s, w, begun):
    """Solve for the Newton increment, which the factorisation may have begun."""
    if begun:
        finish(s, w.matrix, w.pivots, w.dinv, w.x)
    else:
        solve(s, w.matrix, w.pivots, w.dinv, w.x)


@kernel
def _correct(s, w, x, h):
    """Apply the Newton increment."""
    nodes, y, xl, lamn, extra = s.nodes, w.x, s.xl, x.lamn, x.extra
    d = 1.0 / (0.5 * h * h)
    for k in range(xl.shape[0]):
        lamn[k] += d * y[xl[k]]
    apply_cayley(nodes, y, x.dq)
    if extra.shape[0] > 0:
        call_special(s, w, x, CORRECT, h)


@kernel
def _newton(s, w, x, p, h, guess, again):
    """Iterate to convergence; returns 0 or an error code.

    The last correction is not checked if it is sure to end below the tolerance (``will_converge``), and a residual
    that is just below the tolerance gets one more, because what is left of it adds up over many steps. What is tried
    ``again``, from another first guess after the extrapolated one overshot, has the smaller scales of both.
    """
    best, before, stalled, moved, last = 1e300, 1e300, 0, 1e300, False
    limit = int(p.method[ITERATIONS])
    for iteration in range(limit + 2):
        _follow(s, w, x)
        if last and x.unit.shape[0] == 0:
            return 0
        frame_forces(s, w, x, h)
        if last:
            return 0  # multipliers that are no unknowns follow from these forces
        _residual(s, w, x, h)
        error = _error(s, w, x, p, h, iteration == 0, again)
        p.memory[MEMORY_ERROR] = error
        fresh = False
        if error <= 1.0:
            if iteration == 0 or error <= (POLISHED if iteration == 1 else POLISHED_ROUGH):
                return 0
            last = True
        else:
            if not error < 1e200:
                return CODE_NOT_FINITE
            stalled = stalls(iteration, error, best, stalled)
            if at_round_off(stalled, error, best, STAGNATION, moved):
                return 0
            best = min(best, error)
            if iteration >= limit:
                return CODE_NOT_CONVERGED
            last = p.method[SMOOTH] != 0.0 and will_converge(error, before)
            fresh = iteration == 0 or not factors_suffice(error, before)
        _scale_rows(s, w, x, h)
        if fresh:
            frame_matrix(s, w, x, h)
            factor_with(s, w, w.matrix, w.pivots, w.dinv, w.x)
            p.memory[MEMORY_FACTORS] += 1.0
            p.memory[MEMORY_RATIO] = min(p.memory[MEMORY_RATIO], w.info[0])
            if w.info[4] != 0.0:
                p.worst[0] = w.info[1]
                return CODE_SINGULAR
        before = error
        _solve(s, w, fresh)
        length = s.parameters[PARAMETER_LENGTH]
        if iteration == 0 and guess == EXTRAPOLATED:
            if overshoots(s.nodes, length, x.dq, x.v, h, w.x, True):
                return CODE_OVERSHOT
        elif iteration > 2:
            moved = correction_size(s.nodes, length, x.q, w.x, True)
        _correct(s, w, x, h)
        p.memory[MEMORY_ITERATIONS] += 1.0
    return CODE_NOT_CONVERGED


@kernel
def _predict(s, w, x, p, h, guess):
    """First guess: accelerations and multipliers extrapolated to the middle of the step; uniform motion; no motion."""
    later, extrapolated = p.memory[MEMORY_HISTORY] > 0.0, guess == EXTRAPOLATED or guess == AS_BEFORE
    nodes, dq, v, vd, vdm = s.nodes, x.dq, x.v, x.vd, x.vdm
    lam, lamm, lamn = x.lam, x.lamm, x.lamn
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        if not has_frame(n) and later and extrapolated:
            continue  # the increment of the last step
        for k in range(n.v0, n.v0 + n.nv):
            middle = 2.0 * vd[k] - vdm[k] if later else vd[k]
            if extrapolated:
                dq[k] = h * (v[k] + 0.5 * h * middle)
            else:
                dq[k] = h * v[k] if guess == UNIFORM else 0.0
    for k in range(lam.shape[0]):
        lamn[k] = 2.0 * lam[k] - lamm[k] if later and extrapolated else lam[k]
    if later and extrapolated:
        call_special(s, w, x, GUESS, h)
    for k in range(x.extra.shape[0] // 2):
        x.raten[k] = 2.0 * x.dq[k] / h - x.v[k]
        x.pn[k] = x.p[k]


@kernel
def _begin_frames(s, w, x):
    """Frames at the start of a step, always from the coordinates, so that a restart finds the same."""
    frames(s, w, x.q)
    for i in range(s.nodes.shape[0]):
        copy(w.z[i], x.z0[i])


@kernel
def _accept(s, w, x, p, h):
    """Make the new values the state; accelerations and multipliers of the middle are carried to the end."""
    call_special(s, w, x, ACCEPT, h)
    first = p.memory[MEMORY_HISTORY] == 0.0
    c0, c1 = (2.0, -1.0) if first else (1.5, -0.5)
    d = 1.0 / h
    v, vn, vd, vdm, lam, lamn, lamm = x.v, x.vn, x.vd, x.vdm, x.lam, x.lamn, x.lamm
    for k in range(v.shape[0]):
        middle = d * (vn[k] - v[k])
        vd[k] = c0 * middle + c1 * (vd[k] if first else vdm[k])
        vdm[k] = middle
        v[k] = vn[k]
    for k in range(lam.shape[0]):
        lam[k] = c0 * lamn[k] + c1 * (lam[k] if first else lamm[k])
        lamm[k] = lamn[k]
    call_frame_piece(s, w, x, RATES, -h if first else h)
    copy(x.qn, x.q)
    _begin_frames(s, w, x)
    remember_angles(s, w, x.q, x.v)
    p.memory[MEMORY_HISTORY] += 1.0


@kernel
def _start(s, w, x, t, h):
    """Accelerations, multipliers and momenta of the start, for the first guess and as output."""
    evaluate_functions(s, w, t)
    accelerations(s, w, x.q, x.v, x.zero, x.vd, x.lam)
    remember_angles(s, w, x.q, x.v)
    call_special(s, w, x, START, h)


@kernel
def run_frame_em(s, w, x, p, origin, first, h, count, every, out_q, out_v, out_p, out_l, out_turns):
    """Advance ``count`` steps, the first being number ``first`` from the time ``origin``; returns the steps done.

    Every ``every``-th step (counted from the origin) is written to the next row of the output arrays, with the momenta
    and multipliers of the scheme. A negative
    count computes the start values instead (one kernel for both, because each outermost kernel is compiled whole).
    """
    if count < 0:
        _start(s, w, x, origin, h)
        return 0
    row = 0
    _begin_frames(s, w, x)
    for step in range(count):
        t = origin + (first + step) * h
        evaluate_functions(s, w, t + 0.5 * h)
        copy(w.values, x.mid)
        evaluate_functions(s, w, t + h)
        code, overshot = CODE_OVERSHOT, False
        for attempt in range(EXTRAPOLATED, AS_BEFORE + 1):  # of large steps a plainer guess may be in the basin
            if code == 0 or (attempt == AS_BEFORE and not overshot):
                break
            guess = attempt if overshot or attempt == EXTRAPOLATED else AT_REST + UNIFORM - attempt
            _predict(s, w, x, p, h, guess)
            code = _newton(s, w, x, p, h, guess, overshot)
            if attempt == EXTRAPOLATED and (code == CODE_OVERSHOT or (code == 0 and turns_round(s, x.z0, w.z))):
                code, overshot = CODE_OVERSHOT, True
        if code != 0:
            p.memory[MEMORY_CODE] = code
            return step
        _accept(s, w, x, p, h)
        if (first + step + 1) % every == 0:
            copy(x.q, out_q[row])
            copy(x.shown_v, out_v[row])
            copy(x.shown_p, out_p[row])
            copy(x.shown_lamm, out_l[row])
            copy(w.turns, out_turns[row])
            row += 1
    return count
