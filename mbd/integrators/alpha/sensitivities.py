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
"""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import addresses, integer, matrix, real, vector
from ...compiled.record import Record
from ...math.arrays import copy
from ...nodes.increments import apply_rows, apply_tangent, apply_tangent_inverse
from ...system.instant import advance, constraint_rates, constraints, dynamics, evaluate_functions, velocities
from ...system.matrix import solve
from ...system.tables import FLAG_VELOCITY, Tables, Work, tables_at, work_at
from ..loop import LOAD, Rows, ask, make_step
from ..numbers import NewtonNumbers
from ..verdicts import CONVERGED
from .equations import _factorise, _mass_factor
from .state import AlphaState

MOST_ROUNDS = 3  # corrections of a step
SETTLED = 1e-12  # of the sensitivities of the configuration: what may remain in a step after the last one
TELLING = 1e-10  # a correction that is large enough to tell a rate; below, round-off does
EVERY = 32  # steps after which the rate of corrections is measured again


class Shadow(Record):
    """Sensitivities of a state, a row for each parameter, and buffers."""

    dq = matrix  # increments of the configuration per parameter
    dv = matrix
    dvd = matrix
    da = matrix
    dlam = matrix
    dvd1 = matrix  # one step back
    dlam1 = matrix
    size = vector  # of the differences, by parameter
    tables = addresses  # of the systems at theta + size and theta - size, one after the other
    works = addresses
    rate = real  # by which one correction of a step is smaller than the one before
    history = integer  # steps made
    dqn = vector  # sensitivities at the end of the step, as far as they are known
    dvn = vector
    dvdn = vector
    dan = vector
    dlamn = vector
    q = vector  # the state of a difference
    v = vector
    vd = vector
    lam = vector
    y = vector
    minus_dq = vector
    residual = vector
    rates = vector
    turning = vector  # (9,)


@kernel
def _residual(s, w, x, f, p, e, out):
    """The equations at the end of the step in the system of a difference, moved by e along the sensitivities.

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
def _correct(s, w, x, f, p, i):
    """One solution of J dy = -(R_x S + R_theta), around the present guess of dy; returns how much that changes it."""
    bp, e = _mass_factor(x, p.step), f.size[i]
    plus, minus = work_at(f.works[2 * i]), work_at(f.works[2 * i + 1])
    copy(w.turns, plus.turns)
    copy(w.turns, minus.turns)
    _residual(tables_at(f.tables[2 * i]), plus, x, f, p, e, f.residual)
    _residual(tables_at(f.tables[2 * i + 1]), minus, x, f, p, -e, w.x)
    for k in range(w.x.shape[0]):
        w.x[k] = -(f.residual[k] - w.x[k]) / (2.0 * e)
    for k in range(s.xv.shape[0]):
        w.x[s.xv[k]] /= bp
    solve(s, w.matrix, w.pivots, w.dinv, w.x)
    for k in range(f.lam.shape[0]):
        f.dlamn[k] += bp * w.x[s.xl[k]]
    for k in range(f.v.shape[0]):
        f.y[k] = w.x[s.xv[k]]
    apply_rows(s.nodes, w.t, f.y, f.y)
    change = 0.0
    for k in range(f.v.shape[0]):
        f.dvdn[k] += bp * f.y[k]
        change = max(change, abs(f.y[k]))
    return change


@kernel
def _advance(s, x, f, p, i):
    """The lines of the method, differentiated: a, v and the configuration at the end that belong to v_dot."""
    h, am, af, beta, gamma = p.step, x.am, x.af, x.beta, x.gamma
    apply_tangent_inverse(s.nodes, f.minus_dq, f.dq[i], f.y, f.turning)
    for k in range(f.v.shape[0]):
        a, v = f.da[i, k], f.dv[i, k]
        f.dan[k] = ((1.0 - af) * f.dvdn[k] + af * f.dvd[i, k] - am * a) / (1.0 - am)
        f.dvn[k] = v + h * ((1.0 - gamma) * a + gamma * f.dan[k])
        f.y[k] += h * v + h * h * ((0.5 - beta) * a + beta * f.dan[k])
    apply_tangent(s.nodes, x.dq, f.y, f.dqn, f.turning)


@kernel
def _follow(s, w, x, f, p, i):
    """Sensitivities at the end of the step along one parameter."""
    c = 1.0 if f.history > 0 else 0.0
    for k in range(f.v.shape[0]):
        f.dvdn[k] = (1.0 + c) * f.dvd[i, k] - c * f.dvd1[i, k]
        f.minus_dq[k] = -x.dq[k]
    for k in range(f.lam.shape[0]):
        f.dlamn[k] = (1.0 + c) * f.dlam[i, k] - c * f.dlam1[i, k]
    _advance(s, x, f, p, i)
    before, size = 0.0, 0.0
    for r in range(MOST_ROUNDS):
        change = _correct(s, w, x, f, p, i)
        _advance(s, x, f, p, i)
        for k in range(f.v.shape[0]):
            size = max(size, abs(f.dqn[k]))
        if r > 0 and before > TELLING * size:
            f.rate = change / before
        before = change
        if (r > 0 or f.history % EVERY != 0) and f.rate * change <= SETTLED * size:
            break
    for k in range(f.v.shape[0]):
        f.dq[i, k], f.dv[i, k], f.da[i, k] = f.dqn[k], f.dvn[k], f.dan[k]
        f.dvd1[i, k] = f.dvd[i, k]
        f.dvd[i, k] = f.dvdn[k]
    for k in range(f.lam.shape[0]):
        f.dlam1[i, k] = f.dlam[i, k]
        f.dlam[i, k] = f.dlamn[k]


@entry(
    Tables, Work, AlphaState, Shadow, addresses, NewtonNumbers, Rows, integer, matrix, matrix, matrix, matrix, matrix,
    matrix, matrix, matrix, matrix,
)  # fmt: skip
def run_with_sensitivities(
    s, w, x, f, a, p, rows, count, out_q, out_v, out_first, out_second, out_turns, out_dq, out_dv, out_dvd,
    out_dlam,
):  # fmt: skip
    """Up to ``count`` steps with their sensitivities, each recorded; f.history of them are made."""
    ask(a, LOAD)
    for row in range(count):  # each step is recorded
        make_step(a, p)
        if p.verdict != CONVERGED:
            return
        copy(rows.q, out_q[row])
        copy(rows.v, out_v[row])
        copy(rows.first, out_first[row])
        copy(rows.second, out_second[row])
        copy(rows.turns, out_turns[row])
        p.index += 1
        if p.iteration == 0:  # the first guess was good enough, and nothing was factorised
            _factorise(s, w, x, p.step)
        for i in range(f.dq.shape[0]):
            _follow(s, w, x, f, p, i)
            copy(f.dq[i], out_dq[row * f.dq.shape[0] + i])
            copy(f.dv[i], out_dv[row * f.dq.shape[0] + i])
            copy(f.dvd[i], out_dvd[row * f.dq.shape[0] + i])
            copy(f.dlam[i], out_dlam[row * f.dq.shape[0] + i])
        f.history += 1
