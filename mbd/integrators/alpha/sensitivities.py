"""How a run of generalized-alpha changes with parameters: forward sensitivities of its steps.

A step solves R(y; x, theta) = 0 for y = (v_dot, lambda) at its end, from the state x = (q, v, v_dot, a) at its start.
Along a parameter, with S = dx/d theta,

    J dy = -(R_x S + R_theta),    J = R_y,

and the right-hand side is one directional derivative: the central difference of the residual at x +- eps S with the
tables of theta +- eps. J is the matrix that the step has factorised. It belongs to the first iterate of the step, not
to its solution, so that dy is an extrapolation plus a correction, and another one where the rate at which corrections
fall tells that something would remain. The state then follows by the derivatives of the method's own lines; on Lie
nodes the increment of the configuration is

    d_{n+1} = T_exp(dq) (T_exp(-dq)^-1 d_n + d(dq)),    exp(-x) = T_exp(x) T_exp(-x)^-1.

**Index 2.** The position correction d of a step, z = T_exp(dq) d, is a solution of J (z, zeta) = (0, rho) with that rho
for which g = 0. It changes with rho and with the matrix:

    J dz = (-dJ (z, zeta), d rho),    d rho such that B d_{n+1} + g_theta = 0.

dJ (z, zeta) is a second derivative of the residual at the first guess of the step, where the matrix was evaluated:
along the sensitivities of that guess, and along (z, zeta). Further factors within a step count as those of its first
guess. The part of dz that follows from it is small and smooth; it is computed anew as often as its extrapolation asks.
"""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import addresses, integer, matrix, real, vector
from ...compiled.record import Record
from ...math.arrays import clear, copy
from ...nodes.increments import (
    apply_rows,
    apply_tangent,
    apply_tangent_inverse,
    store_tangent,
    store_tangent_inverse,
)
from ...system.instant import (
    advance,
    constraint_rates,
    constraints,
    dynamics,
    evaluate_functions,
    frames,
    jacobian_times,
    velocities,
)
from ...system.matrix import solve
from ...system.tables import FLAG_CHARTS, FLAG_VELOCITY, PARAMETER_LENGTH, Tables, Work, tables_at, work_at
from ..loop import LOAD, Rows, ask, make_step
from ..newton import ACCELERATION
from ..numbers import NewtonNumbers
from ..verdicts import CONVERGED
from .equations import _factorise, _mass_factor
from .state import WHILE_GOOD, AlphaState

MOST_ROUNDS = 20  # corrections of a step
SETTLED = 2e-9  # of the sensitivities of the configuration: what may remain of all corrections, in the mean
TELLING = 1e-10  # a correction that is large enough to tell a rate; below, round-off does
FASTEST = 1e-5  # rates are not taken for smaller: the next step may have another one
GROWS = 3.0  # a rate does not grow faster from one measurement to the next
EVERY = 32  # steps after which the rate of corrections is measured again
REACTIONS = 5e-9  # the same of accelerations and multipliers, in which it does not add up
FALLING = 0.3  # corrections that fall less are round-off
MOST_NOISE = 1e4  # times the least round-off: as much is taken for it
FORGET = 0.98  # of the round-off that was seen, for the next step
STALLED = 1e-9  # of them: corrections that no longer fall below this are round-off
ROUND_OFF = 1e-16  # of the increments of a step, divided by the size of differences: their noise
TURN = 1e-4  # of an increment, for a difference of a small term
LONGEST = 32.0  # steps over which the effect of the matrix on a position correction is extrapolated
ALONG = 1e-6  # of the increments of a step: how far a difference along the position correction goes
PAST = 5  # steps before the last one from which the next one is extrapolated

FOLLOWED, SLOW, CHANGED_CHART, LEFT_TO_INDEX_3 = 0, 1, 2, 3  # how sensitivities ended


class Shadow(Record):
    """Sensitivities of a state, a row for each parameter, and buffers."""

    dq = matrix  # increments of the configuration per parameter
    dv = matrix
    dvd = matrix
    da = matrix
    dlam = matrix
    dz = matrix  # of the position correction of index 2, as seen at the end of the step
    past_vd = matrix  # (PAST * parameters, n_v): before that, latest first
    past_lam = matrix
    past_z = matrix
    size = vector  # of the differences, by parameter
    tables = addresses  # of the systems at theta + size and theta - size, one after the other
    works = addresses  # beside them, and one for the system itself at the end
    rate = vector  # by parameter: by which one correction of a step is smaller than the one before
    history = integer  # steps made
    ended = integer  # see FOLLOWED, ...
    rounds = integer  # corrections of all steps
    settled = real  # what may remain in a step, of the sensitivities
    change = real  # the last correction: of increments, and of the position correction
    change_z = real
    noise = real  # round-off in both, times the size of the differences
    noise_z = real
    floor = vector  # by parameter: round-off of corrections as it was seen
    reach = real  # factor of the position correction in a difference, 0: there is none
    dqn = vector  # sensitivities at the end of the step, as far as they are known
    dvn = vector
    dvdn = vector
    dan = vector
    dlamn = vector
    dzn = vector
    dw = vector  # of the increment without the position correction
    c0 = real  # weights of the last two accelerations in the first guess of the step
    c1 = real
    start_q = vector  # where the step began, and its first guess
    guess_q = vector
    guess_w = vector
    guess_v = vector
    guess_vd = vector
    guess_lam = vector
    z = vector  # the position correction of the step, as seen at its end, and what it was made with
    zeta = vector
    turned = vector  # change of T_exp times the position correction
    along = vector  # residual along the position correction, without a change of parameters
    q = vector  # the state of a difference
    v = vector
    vd = vector
    lam = vector
    y = vector
    from_start = matrix  # (nodes, 9): T_exp(-dq)^-1, and T_exp(dq)
    to_end = matrix
    residual = vector
    other = vector
    rates = vector
    position = vector  # change of the position constraints
    mixed = vector  # -dJ (z, zeta)
    dm = matrix  # the part of dz that follows from it, as it was computed last, and before
    past_m = matrix
    dmn = vector  # as it is foreseen now
    interval = vector  # by parameter: steps after which it is computed again
    since = vector  # steps since then
    spacing = vector  # steps between the last two
    known = vector  # how often it was computed
    slip = vector  # of nonholonomic constraints, whose B z = 0
    turning = vector  # (9,)


@kernel
def _residual(s, w, x, f, p, out, position):
    """The equations at f.q, f.v, f.vd, f.lam, whose frames are there; in index 2 those of velocities, and positions."""
    if x.index_2 != 0:
        velocities(s, w, f.q, f.v)
        dynamics(s, w, f.q, f.v, f.vd, f.lam, out)
        constraint_rates(s, w, f.q, f.v, out)
        constraints(s, w, f.q, position)
        return
    if s.flags[FLAG_VELOCITY] != 0:
        velocities(s, w, f.q, f.v)
    dynamics(s, w, f.q, f.v, f.vd, f.lam, out)
    if f.lam.shape[0] > 0:
        constraints(s, w, f.q, out)
    if s.nonholonomic.shape[0] > 0:
        constraint_rates(s, w, f.q, f.v, f.rates)
        for k in range(s.nonholonomic.shape[0]):
            j = s.xl[s.nonholonomic[k]]
            out[j] = f.rates[j] * p.step * x.beta / x.gamma


@kernel
def _move(s, w, x, f, p, e):
    """Move to the end of the step, by e along the sensitivities.

    The configuration is moved at the end, which differs from a motion through the step by terms of e^2; these are the
    same on both sides.
    """
    for k in range(f.v.shape[0]):
        f.y[k] = e * f.dqn[k]
        f.v[k] = x.v[k] + e * f.dvn[k]
        f.vd[k] = x.vd[k] + e * f.dvdn[k]
    for k in range(f.lam.shape[0]):
        f.lam[k] = x.lam[k] + e * f.dlamn[k]
    evaluate_functions(s, w, p.end)
    advance(s, w, x.q, f.y, f.q)


@kernel
def _weights(x, p):
    """Of the last two accelerations in the predictor."""
    order = 1 if x.predictor == 2 and p.history < 1 else x.predictor
    return (0.0 if order == 0 else (1.0 if order == 1 else 2.0)), (1.0 if order == 2 else 0.0)


@kernel
def _remember_guess(x, f, p):
    """Before a step of index 2: its start, and its first guess."""
    h, am, af, beta, gamma = p.step, x.am, x.af, x.beta, x.gamma
    f.c0, f.c1 = _weights(x, p)
    copy(x.q, f.start_q)
    for k in range(f.v.shape[0]):
        vd = f.c0 * x.vd[k] - f.c1 * x.vd1[k]
        a = ((1.0 - af) * vd + af * x.vd[k] - am * x.a[k]) / (1.0 - am)
        f.guess_vd[k] = vd
        f.guess_v[k] = x.v[k] + h * ((1.0 - gamma) * x.a[k] + gamma * a)
        f.guess_w[k] = h * x.v[k] + h * h * ((0.5 - beta) * x.a[k] + beta * a)
    for k in range(f.lam.shape[0]):
        f.guess_lam[k] = f.c0 * x.lam[k] - f.c1 * x.lam1[k]


@kernel
def _at_guess(s, w, x, f, p, i, e):
    """Move to the first guess of the step, by e along its sensitivities with respect to a parameter (e = 0: of none).

    After other attempts than the usual first guess the solution takes its place; p.end is the time of w.values.
    """
    h, am, af, beta, gamma = p.step, x.am, x.af, x.beta, x.gamma
    if e != 0.0:
        for k in range(f.v.shape[0]):
            f.y[k] = -f.guess_w[k]
        apply_tangent_inverse(s.nodes, f.y, f.dq[i], f.y, f.turning)
        for k in range(f.v.shape[0]):
            vd, a, v = f.c0 * f.dvd[i, k] - f.c1 * f.past_vd[i, k], f.da[i, k], f.dv[i, k]
            new = ((1.0 - af) * vd + af * f.dvd[i, k] - am * a) / (1.0 - am)
            f.vd[k] = f.guess_vd[k] + e * vd
            f.v[k] = f.guess_v[k] + e * (v + h * ((1.0 - gamma) * a + gamma * new))
            f.y[k] += h * v + h * h * ((0.5 - beta) * a + beta * new)
        apply_tangent(s.nodes, f.guess_w, f.y, f.y, f.turning)
        for k in range(f.v.shape[0]):
            f.y[k] *= e
        for k in range(f.lam.shape[0]):
            f.lam[k] = f.guess_lam[k] + e * (f.c0 * f.dlam[i, k] - f.c1 * f.past_lam[i, k])
        advance(s, w, f.guess_q, f.y, f.q)
    else:
        copy(f.guess_vd, f.vd)
        copy(f.guess_v, f.v)
        copy(f.guess_lam, f.lam)
        advance(s, w, f.start_q, f.guess_w, f.guess_q)
        copy(f.guess_q, f.q)


@kernel
def _forces_along(s, w, x, f, p, out):
    """out: how dynamic rows at f.q, f.v, f.vd, f.lam change by f.reach along (z, zeta), as the matrix has it."""
    if s.flags[FLAG_VELOCITY] != 0:
        velocities(s, w, f.q, f.v)
    dynamics(s, w, f.q, f.v, f.vd, f.lam, f.other)
    bp, gp, c = _mass_factor(x, p.step), x.gamma / (p.step * x.beta), f.reach
    for k in range(f.v.shape[0]):
        f.y[k] = c * f.z[k] if x.stiffness != 0 else 0.0
        f.v[k] += c * gp * f.z[k]
        f.vd[k] += c * bp * f.z[k]
    for k in range(f.lam.shape[0]):
        f.lam[k] += c * bp * f.zeta[k]
    advance(s, w, f.q, f.y, f.q)
    if s.flags[FLAG_VELOCITY] != 0:
        velocities(s, w, f.q, f.v)
    dynamics(s, w, f.q, f.v, f.vd, f.lam, out)
    for k in range(s.xv.shape[0]):
        out[s.xv[k]] -= f.other[s.xv[k]]


@kernel
def _prepare(s, w, x, f, p):
    """What a step needs for all parameters: in index 2 the position correction, and the residual along it."""
    n, largest, length = f.v.shape[0], 0.0, 0.0
    for k in range(n):
        f.y[k] = -x.dq[k]
        length = max(length, abs(x.dw[k]))
    store_tangent_inverse(s.nodes, f.y, f.from_start)
    store_tangent(s.nodes, x.dq, f.to_end)
    f.noise = ROUND_OFF * max(length, p.step * p.step * p.scales[ACCELERATION])
    f.noise_z = 3.0 * ROUND_OFF * max(1.0, s.parameters[PARAMETER_LENGTH])
    if x.index_2 == 0 and f.lam.shape[0] > 0:
        f.noise = max(f.noise, f.noise_z)
    f.reach = 0.0
    if x.index_2 == 0:
        return
    own = work_at(f.works[2 * f.dq.shape[0]])
    copy(w.turns, own.turns)
    for k in range(n):
        f.y[k] = x.dq[k] - x.dw[k]
    apply_rows(s.nodes, f.to_end, f.y, f.z)
    for k in range(n):
        largest = max(largest, abs(f.z[k]))
    evaluate_functions(s, own, p.end)
    frames(s, own, x.q)
    if largest == 0.0:
        return
    f.reach = ALONG * length / largest
    due = False
    for i in range(f.dq.shape[0]):
        due = due or f.since[i] + 1.0 >= f.interval[i]
    if not due:
        return
    velocities(s, own, x.q, f.z)
    clear(w.x)
    jacobian_times(s, own, x.q, f.z, w.x)
    solve(s, w.matrix, w.pivots, w.dinv, w.x)
    for k in range(f.lam.shape[0]):
        f.zeta[k] = w.x[s.xl[k]]
    _at_guess(s, own, x, f, p, 0, 0.0)
    _forces_along(s, own, x, f, p, f.along)
    frames(s, own, x.q)


@kernel
def _advance(s, x, f, p, i):
    """The lines of the method, differentiated: a, v and the configuration at the end that belong to v_dot."""
    h, am, af, beta, gamma = p.step, x.am, x.af, x.beta, x.gamma
    apply_rows(s.nodes, f.from_start, f.dq[i], f.y)
    c0, c1, c2 = (1.0 - af) / (1.0 - am), af / (1.0 - am), am / (1.0 - am)
    for k in range(f.v.shape[0]):
        a, v = f.da[i, k], f.dv[i, k]
        new = c0 * f.dvdn[k] + c1 * f.dvd[i, k] - c2 * a
        f.dan[k] = new
        f.dvn[k] = v + h * ((1.0 - gamma) * a + gamma * new)
        f.dw[k] = h * v + h * h * ((0.5 - beta) * a + beta * new)
        f.y[k] += f.dw[k]
    apply_rows(s.nodes, f.to_end, f.y, f.dqn)
    if x.index_2 != 0:
        for k in range(f.v.shape[0]):
            f.dqn[k] += f.dzn[k]


@kernel
def _turn_correction(s, x, f):
    """f.turned: how T_exp(dq) times the position correction changes with dq, by a difference."""
    for k in range(f.v.shape[0]):
        f.y[k] = x.dq[k] - x.dw[k]
        f.v[k] = x.dq[k] + TURN * f.dw[k]
        f.vd[k] = x.dq[k] - TURN * f.dw[k]
    apply_tangent(s.nodes, f.v, f.y, f.turned, f.turning)
    apply_tangent(s.nodes, f.vd, f.y, f.y, f.turning)
    for k in range(f.v.shape[0]):
        f.turned[k] = (f.turned[k] - f.y[k]) / (2.0 * TURN)


@kernel
def _slip(s, w, f, c):
    """Nonholonomic rows of B z at f.q, times c, are added to f.slip."""
    velocities(s, w, f.q, f.z)
    jacobian_times(s, w, f.q, f.z, f.rates)
    for k in range(s.nonholonomic.shape[0]):
        j = s.xl[s.nonholonomic[k]]
        f.slip[j] += c * f.rates[j]


@kernel
def _differences(w, x, f, p, i, first):
    """How the equations change: f.residual, f.position; in a first round of index 2 with -dJ (z, zeta) in f.mixed."""
    e = f.size[i]
    s, moved = tables_at(f.tables[2 * i]), work_at(f.works[2 * i])
    along = first and f.reach != 0.0 and f.since[i] >= f.interval[i]
    copy(w.turns, moved.turns)
    _move(s, moved, x, f, p, e)
    _residual(s, moved, x, f, p, f.residual, f.position)
    if along:
        clear(f.slip)
        if s.nonholonomic.shape[0] > 0:
            _slip(s, moved, f, -0.5 / e)
        _at_guess(s, moved, x, f, p, i, e)
        _forces_along(s, moved, x, f, p, f.mixed)
        for k in range(s.xv.shape[0]):
            f.mixed[s.xv[k]] = -(f.mixed[s.xv[k]] - f.along[s.xv[k]]) / (e * f.reach)
    s, moved = tables_at(f.tables[2 * i + 1]), work_at(f.works[2 * i + 1])
    copy(w.turns, moved.turns)
    _move(s, moved, x, f, p, -e)
    _residual(s, moved, x, f, p, f.other, f.rates)
    for k in range(f.residual.shape[0]):
        f.residual[k] = (f.residual[k] - f.other[k]) / (2.0 * e)
    if x.index_2 != 0:
        for k in range(s.xl.shape[0]):
            j = s.xl[k]
            f.position[j] = (f.position[j] - f.rates[j]) / (2.0 * e)
    if along and s.nonholonomic.shape[0] > 0:
        _slip(s, moved, f, 0.5 / e)


@kernel
def _foresee_turn(f, i):
    """f.dmn: the part of dz that follows matrix and rotation, extrapolated from its last two values."""
    c = f.since[i] / f.spacing[i] if f.known[i] > 1.0 else 0.0
    for k in range(f.v.shape[0]):
        f.dmn[k] = f.dm[i, k] + c * (f.dm[i, k] - f.past_m[i, k]) if f.reach != 0.0 else 0.0


@kernel
def _turn_range(s, w, x, f, p, i):
    """The same from -dJ (z, zeta) where it is due: again after twice as many steps, if it was foreseen well enough."""
    bp, missed, size = _mass_factor(x, p.step), 0.0, 0.0
    _turn_correction(s, x, f)
    clear(w.x)
    for k in range(s.xv.shape[0]):
        w.x[s.xv[k]] = f.mixed[s.xv[k]] / bp
    for k in range(s.nonholonomic.shape[0]):
        j = s.xl[s.nonholonomic[k]]
        w.x[j] = f.slip[j]
    solve(s, w.matrix, w.pivots, w.dinv, w.x)
    for k in range(f.v.shape[0]):
        new = w.x[s.xv[k]] - f.turned[k]
        size = max(size, abs(f.dqn[k]))
        missed = max(missed, abs(new - f.dmn[k]))
        f.past_m[i, k] = f.dm[i, k]
        f.dm[i, k] = new
        f.dmn[k] = new
    if f.known[i] > 1.0 and missed <= 0.2 * f.settled * size:
        f.interval[i] = min(2.0 * f.interval[i], LONGEST)
    elif missed > f.settled * size:
        f.interval[i] = max(1.0, 0.5 * f.interval[i])
    f.known[i] += 1.0
    f.spacing[i], f.since[i] = f.since[i], 0.0


@kernel
def _correct_position(s, w, x, f, first):
    """Index 2: the position correction that belongs to a correction f.y of the configuration."""
    own = work_at(f.works[2 * f.dq.shape[0]])
    for k in range(f.v.shape[0]):
        f.v[k] = (f.dzn[k] - f.dmn[k] if first else 0.0) - f.y[k]
    velocities(s, own, x.q, f.v)
    clear(w.x)
    jacobian_times(s, own, x.q, f.v, w.x)
    for k in range(s.xl.shape[0]):
        w.x[s.xl[k]] -= f.position[s.xl[k]]
    for k in range(s.nonholonomic.shape[0]):
        w.x[s.xl[s.nonholonomic[k]]] = 0.0
    solve(s, w.matrix, w.pivots, w.dinv, w.x)
    for k in range(f.v.shape[0]):
        new = w.x[s.xv[k]] + (f.dmn[k] if first else f.dzn[k])
        f.change_z = max(f.change_z, abs(new - f.dzn[k]))
        f.dzn[k] = new


@kernel
def _correct(s, w, x, f, p, i, first):
    """One solution of J dy = -(R_x S + R_theta), around the present guess of dy, which it changes by f.change."""
    bp = _mass_factor(x, p.step)
    cl = -p.step * x.beta / x.gamma if x.index_2 != 0 else -1.0
    _differences(w, x, f, p, i, first)
    if first and x.index_2 != 0:
        if f.reach != 0.0 and f.since[i] >= f.interval[i]:
            _turn_range(s, w, x, f, p, i)
    for k in range(s.xv.shape[0]):
        w.x[s.xv[k]] = -f.residual[s.xv[k]] / bp
    for k in range(s.xl.shape[0]):
        w.x[s.xl[k]] = cl * f.residual[s.xl[k]]
    solve(s, w.matrix, w.pivots, w.dinv, w.x)
    for k in range(f.lam.shape[0]):
        f.dlamn[k] += bp * w.x[s.xl[k]]
    for k in range(f.v.shape[0]):
        f.y[k] = w.x[s.xv[k]]
    if x.index_2 == 0:
        apply_rows(s.nodes, w.t, f.y, f.y)
    for k in range(f.v.shape[0]):
        f.dvdn[k] += bp * f.y[k]
    f.change, f.change_z = 0.0, 0.0
    for k in range(f.v.shape[0]):
        f.change = max(f.change, abs(f.y[k]))
    if x.index_2 != 0:
        apply_rows(s.nodes, f.to_end, f.y, f.y)
        _correct_position(s, w, x, f, first)


@kernel
def _add_row(c, x, out):
    """out += c x."""
    for k in range(out.shape[0]):
        out[k] += c * x[k]


@kernel
def _extrapolate(now, past, i, n, history, out):
    """The next one of a sequence: the polynomial through its last ones, six at most."""
    order = min(max(history, 0), PAST)
    c = order + 1.0  # binomial coefficients with alternating signs
    clear(out)
    _add_row(c, now[i], out)
    for j in range(order):
        c *= -(order - j) / (j + 2.0)
        _add_row(c, past[j * n + i], out)


@kernel
def _remember(now, past, i, n, new):
    """The last one of a sequence becomes past."""
    for j in range(PAST - 1, 0, -1):
        copy(past[(j - 1) * n + i], past[j * n + i])
    copy(now[i], past[i])
    copy(new, now[i])


@kernel
def _settled(f, i, r, before, size, mass_factor, acceleration):
    """Whether corrections may end after this one, the r-th; their rate, and the round-off in them, are measured."""
    change, least = f.change, f.noise / f.size[i]
    noise = max(least, f.floor[i])
    if r > 0 and before > TELLING * size:
        f.rate[i] = max(min(GROWS * f.rate[i], change / before), FASTEST)  # round-off makes it look larger
    if r > 1 and change > FALLING * before and change <= max(STALLED * size, MOST_NOISE * least):
        f.floor[i] = change
        return True
    limit = max(f.settled * size, noise)
    if r == 0 and f.history % EVERY == 0 and change > limit:
        return False
    left = f.rate[i] * change
    if f.rate[i] * f.change_z > max(limit, f.noise_z / f.size[i]):
        return False
    return left <= limit and left <= max(REACTIONS * acceleration / mass_factor, noise)


@kernel
def _follow(s, w, x, f, p, i):
    """Sensitivities at the end of the step along one parameter."""
    n = f.dq.shape[0]
    _extrapolate(f.dvd, f.past_vd, i, n, f.history, f.dvdn)
    _extrapolate(f.dlam, f.past_lam, i, n, f.history, f.dlamn)
    if x.index_2 != 0:
        _extrapolate(f.dz, f.past_z, i, n, min(f.history - 1, 1), f.dzn)  # small, and mostly round-off
    _advance(s, x, f, p, i)
    if x.index_2 != 0:
        f.since[i] += 1.0
        _foresee_turn(f, i)
    before, size, acceleration, settled = 0.0, 0.0, 0.0, False
    for r in range(MOST_ROUNDS):
        _correct(s, w, x, f, p, i, r == 0)
        _advance(s, x, f, p, i)
        f.rounds += 1
        for k in range(f.v.shape[0]):
            size, acceleration = max(size, abs(f.dqn[k])), max(acceleration, abs(f.dvdn[k]))
        settled = _settled(f, i, r, before, size, _mass_factor(x, p.step), acceleration)
        if settled:
            break
        before = f.change
    if not settled:
        f.ended = SLOW
    f.floor[i] *= FORGET
    for k in range(f.v.shape[0]):
        f.dq[i, k], f.dv[i, k], f.da[i, k] = f.dqn[k], f.dvn[k], f.dan[k]
    _remember(f.dvd, f.past_vd, i, n, f.dvdn)
    _remember(f.dlam, f.past_lam, i, n, f.dlamn)
    if x.index_2 != 0:
        _remember(f.dz, f.past_z, i, n, f.dzn)


@kernel
def _ends(s, x, f, p, left):
    """Whether this step is one that sensitivities do not follow; leaves f.ended."""
    if x.index_3_steps != left:
        f.ended = LEFT_TO_INDEX_3
    elif s.flags[FLAG_CHARTS] != 0 and p.history == 0:
        f.ended = CHANGED_CHART
    return f.ended != FOLLOWED


@entry(
    Tables, Work, AlphaState, Shadow, addresses, NewtonNumbers, Rows, integer, integer, integer, matrix, matrix, matrix,
    matrix, matrix, matrix, matrix, matrix, matrix,
)  # fmt: skip
def run_with_sensitivities(
    s, w, x, f, a, p, rows, before, count, every, out_q, out_v, out_first, out_second, out_turns, out_dq, out_dv,
    out_dvd, out_dlam,
):  # fmt: skip
    """Up to ``count`` steps with their sensitivities; f.history of them are made.

    Every ``every``-th step is recorded, the first one of them in the row that comes after ``before`` records.
    """
    n, left = f.dq.shape[0], x.index_3_steps
    ask(a, LOAD)
    for _ in range(count):
        if x.index_2 != 0:
            _remember_guess(x, f, p)
        make_step(a, p)
        if p.verdict != CONVERGED or _ends(s, x, f, p, left):
            return
        p.index += 1
        if p.iteration == 0 and (x.newton != WHILE_GOOD or x.kept < 0 or x.index_2 != 0):
            _factorise(s, w, x, p.step)  # the first guess was good enough, and nothing was factorised
        _prepare(s, w, x, f, p)
        for i in range(n):
            _follow(s, w, x, f, p, i)
        if f.ended != FOLLOWED:
            return
        f.history += 1
        if p.index % every == 0:
            row = p.index // every - 1 - before
            copy(rows.q, out_q[row])
            copy(rows.v, out_v[row])
            copy(rows.first, out_first[row])
            copy(rows.second, out_second[row])
            copy(rows.turns, out_turns[row])
            records = out_dq.shape[0] // n  # of each parameter, with that of the start
            for i in range(n):
                copy(f.dq[i], out_dq[i * records + p.index // every])
                copy(f.dv[i], out_dv[i * records + p.index // every])
                copy(f.dvd[i], out_dvd[i * records + p.index // every])
                copy(f.dlam[i], out_dlam[i * records + p.index // every])
