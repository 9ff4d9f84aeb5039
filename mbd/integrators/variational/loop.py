"""Time loop of the variational integrators in position-momentum form."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...nodes.frames import update_frames, update_velocities
from ...nodes.step.momenta import may_lack_velocity, momentum, momentum_of_velocity, velocity_of_momentum
from ...system.accelerations import accelerations
from ...system.evaluate import clear, copy, evaluate_functions, factor, remember_angles, solve, tangent
from ...system.tables import PARAMETER_LENGTH
from ..energy_momentum.node_steps import ACCEPT, EQUATION, START, VELOCITY
from ..nearest_root import AS_BEFORE, AT_REST, EXTRAPOLATED, UNIFORM, overshoots, turns_round
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
)
from .equations import (
    HAMILTON,
    LIVENS,
    applied,
    ask_piece,
    internal_forces,
    variational_matrix,
    variational_residual,
    velocity_defect,
)

SCHEME = 2  # further entry of numbers.method


@kernel
def _error(s, w, x, p, h, first, again):
    """Residual relative to the tolerance (<= 1: converged)."""
    if first:
        before = (p.scales[0], p.scales[1], p.scales[2], p.scales[3], p.scales[4])
        for k in range(x.v.shape[0]):
            x.vn[k] = 2.0 * (x.secant[k] - x.v[k]) / h
        equation_scales(s, w, x.qn, x.secant, x.vn, x.lam, 1.0 / (h * h), p.scales)
        for k in range(3):
            p.scales[k] *= h * h
        if again:
            keep_smaller(p.scales, before)
    tolerance = p.method[TOLERANCE]
    error = dynamic_error(s, w.x, p.scales, p.worst) / tolerance
    if x.lam.shape[0] > 0:
        a, b = tolerance * h * h * p.scales[ACCELERATION], tolerance * h * h * p.scales[ANGULAR]
        a, b = max(a, ROUND_OFF * s.parameters[PARAMETER_LENGTH]), max(b, ROUND_OFF)
        error = max(error, constraint_error(s, w.x, a, b, p.worst))
    return error


@kernel
def _predict(x, p, h, guess):
    """First guess of dq and lambda': accelerated motion, none, or uniform motion."""
    accelerated = guess == EXTRAPOLATED or guess == AS_BEFORE
    for k in range(x.v.shape[0]):
        if accelerated:
            x.dq[k] = h * (x.v[k] + 0.5 * h * x.vd[k])
        else:
            x.dq[k] = h * x.v[k] if guess == UNIFORM else 0.0
    half = p.memory[MEMORY_HISTORY] == 0.0 or p.method[SCHEME] >= LIVENS
    for k in range(x.lam.shape[0]):
        x.lams[k] = (0.5 if half else 1.0) * h * h * x.lam[k]


@kernel
def _newton(s, w, wm, x, p, h, guess):
    """Iterate to convergence; returns 0 or an error code."""
    best, before, stalled, moved = 1e300, 1e300, 0, 1e300
    limit, scheme = int(p.method[ITERATIONS]), int(p.method[SCHEME])
    for iteration in range(limit + 1):
        variational_residual(s, w, wm, x, h, scheme)
        error = _error(s, w, x, p, h, iteration == 0, guess != EXTRAPOLATED)
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
            variational_matrix(s, w, wm, x, h, scheme)
            factor(s, w, w.matrix, w.pivots, w.dinv)
            p.memory[MEMORY_FACTORS] += 1.0
            p.memory[MEMORY_RATIO] = min(p.memory[MEMORY_RATIO], w.info[0])
            if w.info[4] != 0.0:
                p.worst[0] = w.info[1]
                return CODE_SINGULAR
        before = error
        for k in range(w.x.shape[0]):
            w.x[k] = -w.x[k]
        solve(s, w.matrix, w.pivots, w.dinv, w.x)
        length = s.parameters[PARAMETER_LENGTH]
        if iteration == 0 and guess == EXTRAPOLATED:
            if overshoots(s.nodes, length, x.dq, x.v, h, w.x, True):
                return CODE_OVERSHOT
        elif iteration > 2:
            moved = correction_size(s.nodes, length, x.q, w.x, True)
        for k in range(x.v.shape[0]):
            x.dq[k] += w.x[s.xv[k]]
        for k in range(x.lam.shape[0]):
            x.lams[k] += w.x[s.xl[k]]
        p.memory[MEMORY_ITERATIONS] += 1.0
    return CODE_NOT_CONVERGED


@kernel
def _new_momenta(s, w, wm, x, h, scheme):
    """x.p = h D2 L_d at the end of the step."""
    half = 0.5 * h * h
    applied(s, wm, x.qm, x.secant, x.acting, x.force)
    update_frames(s.nodes, x.qn, w.z, w.spin)
    clear(w.x)
    if scheme >= LIVENS:
        internal_forces(s, x.qm, x.lams, w.x)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if x.special[i] != 0:
            ask_piece(s, w, x, i, ACCEPT, x.lams, h)
            continue
        y = w.small[5]
        momentum(n, x.q, x.qn, x.dq, x.z0[i], w.z[i], True, scheme == HAMILTON, w.small[4], y, 0)
        for m in range(n.nv):
            x.p[n.v0 + m] = y[m] - half * x.force[n.v0 + m] - w.x[n.x0 + m]


@kernel
def _velocities(s, w, x, p, h):
    """Recorded velocities, projected on the velocity constraints."""
    implicit, livens = False, p.method[SCHEME] >= LIVENS
    for i in range(1, s.nodes.shape[0]):
        if x.special[i] != 0 or (may_lack_velocity(s.nodes[i]) and not livens):
            implicit = True  # M v + G^T mu = p, G v = 0
            continue
        velocity_of_momentum(s.nodes[i], x.qn, w.z[i], x.p, h, x.v, x.square, w.small)
    if not implicit and (x.lam.shape[0] == 0 or livens):
        return
    clear(w.x)
    velocity_defect(s, w, x.qn, x.v, w.x)
    for k in range(x.lam.shape[0]):
        w.x[s.xl[k]] *= -1.0
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if x.special[i] != 0:
            ask_piece(s, w, x, i, VELOCITY, x.lams, h)
        elif may_lack_velocity(n) and not livens:
            momentum_of_velocity(n, x.qn, x.v, w.z[i], w.zd[i], h, x.vn, w.small)
            for m in range(n.nv):
                w.x[n.x0 + m] = (x.p[n.v0 + m] - x.vn[n.v0 + m]) / h
    tangent(s, w, x.qn, x.zero, x.zero, x.none, w.eye, 1.0, 0.0, 0.0, w.matrix)
    factor(s, w, w.matrix, w.pivots, w.dinv)
    p.memory[MEMORY_FACTORS] += 1.0
    solve(s, w.matrix, w.pivots, w.dinv, w.x)
    for k in range(x.v.shape[0]):
        x.v[k] += w.x[s.xv[k]]


@kernel
def _accept(s, w, wm, x, p, h):
    """Make the new values the state."""
    scheme = int(p.method[SCHEME])
    _new_momenta(s, w, wm, x, h, scheme)
    for k in range(x.v.shape[0]):
        x.zero[k] = 0.0
        x.secant[k] = x.v[k]
    _velocities(s, w, x, p, h)
    for k in range(x.v.shape[0]):
        x.vd[k] = (x.v[k] - x.secant[k]) / h
    first = p.memory[MEMORY_HISTORY] == 0.0
    # the momenta of the start contain one half of the constraint force already; those of LIVENS always do
    c = (2.0 if first or scheme >= LIVENS else 1.0) / (h * h)
    for k in range(x.lam.shape[0]):
        x.lam[k] = c * x.lams[k]
    for k in range(x.q.shape[0]):
        x.q[k] = x.qn[k]
    update_velocities(s.nodes, x.q, x.v, w.spin, w.z, w.zd, w.small)
    for i in range(s.nodes.shape[0]):
        copy(w.z[i], x.z0[i])
    remember_angles(s, w, x.q, x.v)
    p.memory[MEMORY_HISTORY] += 1.0


@kernel
def start_variational(s, w, x, p, t, h):
    """Accelerations, multipliers and momenta of the start."""
    evaluate_functions(s, w, t)
    accelerations(s, w, x.q, x.v, x.zero, x.vd, x.lam)
    update_frames(s.nodes, x.q, w.z, w.spin)  # where nothing but gravity acts, accelerations need neither of them
    update_velocities(s.nodes, x.q, x.v, w.spin, w.z, w.zd, w.small)
    remember_angles(s, w, x.q, x.v)
    for i in range(1, s.nodes.shape[0]):
        if x.special[i] != 0:
            ask_piece(s, w, x, i, START, x.lams, h)
            continue
        momentum_of_velocity(s.nodes[i], x.q, x.v, w.z[i], w.zd[i], h, x.p, w.small)
    applied(s, w, x.q, x.v, x.none, x.force)


@kernel
def momenta_of_points(s, w, wm, x, h):
    """x.p = -h D1 L_d(q, qn) for two given points, for MIDPOINT; multiples of G(q)^T do not matter."""
    update_frames(s.nodes, x.q, w.z, w.spin)
    for i in range(s.nodes.shape[0]):
        copy(w.z[i], x.z0[i])
    for k in range(x.q.shape[0]):
        x.dq[k] = x.qn[k] - x.q[k]
        x.secant[k] = x.dq[k] / h
        x.qm[k] = 0.5 * (x.q[k] + x.qn[k])
    applied(s, wm, x.qm, x.secant, x.none, x.force)
    update_frames(s.nodes, x.qn, w.z, w.spin)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if x.special[i] != 0:
            for m in range(n.v0, n.v0 + n.nv):
                x.p[m] = 0.0
            ask_piece(s, w, x, i, EQUATION, x.none, h)
            for m in range(n.nv):
                x.p[n.v0 + m] = w.x[n.x0 + m]
            continue
        y = w.small[5]
        momentum(n, x.q, x.qn, x.dq, x.z0[i], w.z[i], False, False, w.small[4], y, 0)
        for m in range(n.nv):
            x.p[n.v0 + m] = y[m] + 0.5 * h * h * x.force[n.v0 + m]


@kernel
def velocities_of_points(s, w, x, p, h):
    """x.v = velocities at q that belong to the momenta of two points; functions of time are those of the start."""
    for k in range(x.q.shape[0]):
        x.qn[k] = x.q[k]
    update_frames(s.nodes, x.qn, w.z, w.spin)
    _velocities(s, w, x, p, h)


@kernel
def run_variational(s, w, wm, x, p, origin, first, h, count, every, out_q, out_v, out_p, out_l, out_turns):
    """Advance ``count`` steps, the first being number ``first`` from the time ``origin``; returns the steps done.

    ``wm`` are the buffers of w with other values of the functions of time: those in the middle of the step.
    """
    row = 0
    update_frames(s.nodes, x.q, w.z, w.spin)
    for i in range(s.nodes.shape[0]):
        copy(w.z[i], x.z0[i])
    for step in range(count):
        t = origin + (first + step) * h
        evaluate_functions(s, w, t)
        copy(w.values, x.begin)
        evaluate_functions(s, wm, t + 0.5 * h)
        evaluate_functions(s, w, t + h)
        copy(w.values, x.end)
        x.times[0], x.times[1] = t, t + h
        _predict(x, p, h, EXTRAPOLATED)
        code = _newton(s, w, wm, x, p, h, EXTRAPOLATED)
        if code == 0 and turns_round(s, x.z0, w.z):
            code = CODE_OVERSHOT
        if code == CODE_OVERSHOT:
            for guess in range(AT_REST, AS_BEFORE + 1):
                _predict(x, p, h, guess)
                code = _newton(s, w, wm, x, p, h, guess)
                if code == 0:
                    break
        if code != 0:
            p.memory[MEMORY_CODE] = code
            return step
        _accept(s, w, wm, x, p, h)
        if (first + step + 1) % every == 0:
            copy(x.q, out_q[row])
            copy(x.v, out_v[row])
            for k in range(x.p.shape[0]):
                out_p[row, k] = x.p[k] / h
            copy(x.lam, out_l[row])
            copy(w.turns, out_turns[row])
            row += 1
    return count
