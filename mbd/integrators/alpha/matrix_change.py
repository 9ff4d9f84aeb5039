"""How the matrix of a step of index 2 changes along a parameter: it belongs to the first guess of the step.

The position correction U of a step solves J (U, zeta) = (0, rho) with the matrix of the first guess. Along a parameter
dJ (U, zeta) is a mixed second derivative of the dynamic rows there: along the sensitivities of the guess, and along
(U, zeta) as the matrix has it. By the product rule it is a central difference of the first derivative, otherwise one of
four residuals. At the end of the step it would be another one, by terms of h^4, which coarse steps would show.
Factors that replace the first ones within a step count as those of its first guess.
"""

from __future__ import annotations

from ...compiled.fours import AT_ONCE, flat
from ...compiled.kernel import kernel
from ...math.arrays import clear, copy
from ...nodes.increments import add_commutator, apply_tangent, apply_tangent_inverse
from ...system.along import equations_along, look_along
from ...system.directions import ON_POSITIONS, end_of_group
from ...system.instant import advance, dynamics, evaluate_functions, jacobian_times, velocities
from ...system.moved_along import MOST_MOVED, distance_along, passes, size_of_increments, weight_of
from ...system.tables import FLAG_VELOCITY, tables_at, work_at
from .equations import _mass_factor

ALONG = 1e-2  # of the increments of a step: how far differences along the position correction go ...
FURTHEST = 1e-5  # ... and at most: their error is the square of it, their round-off its reciprocal


@kernel
def remember_guess(x, f, p):
    """Before a step: its start, and its first guess."""
    h, am, af, beta, gamma = p.step, x.am, x.af, x.beta, x.gamma
    order = 1 if x.predictor == 2 and p.history < 1 else x.predictor
    f.c0, f.c1 = (0.0 if order == 0 else (1.0 if order == 1 else 2.0)), (1.0 if order == 2 else 0.0)
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
def _return_to_guess(s, w, x, f, p):
    """f.guess_q, with frames in w; after other attempts than the usual first guess the solution takes its place."""
    if p.attempt == 0:
        advance(s, w, f.start_q, f.guess_w, f.guess_q)
        return
    clear(f.increment)
    copy(x.v, f.guess_v)
    copy(x.vd, f.guess_vd)
    copy(x.lam, f.guess_lam)
    advance(s, w, x.q, f.increment, f.guess_q)


@kernel
def _guess_along(s, x, f, p, j):
    """Sensitivities of the first guess with respect to a group of parameters; the increment is one at the guess.

    f.guess_dq, f.guess_dv, f.guess_dvd, f.guess_dlam.
    """
    h, am, af, beta, gamma = p.step, x.am, x.af, x.beta, x.gamma
    if p.attempt != 0:
        copy(f.dqn[j], f.guess_dq)
        copy(f.dvn[j], f.guess_dv)
        copy(f.past_vd[f.next + j], f.guess_dvd)
        copy(f.past_lam[f.next + j], f.guess_dlam)
        return
    dvd, past, dlam, past_lam = (
        f.past_vd[f.now + j], f.past_vd[f.before + j], f.past_lam[f.now + j], f.past_lam[f.before + j]
    )  # fmt: skip
    for k in range(f.v.shape[0]):
        f.increment[k] = -f.guess_w[k]
    apply_tangent_inverse(s.nodes, f.increment, f.dq[j], f.y, f.turning)
    for k in range(f.v.shape[0]):
        vd, a, v = f.c0 * dvd[k] - f.c1 * past[k], f.da[j, k], f.dv[j, k]
        new = ((1.0 - af) * vd + af * dvd[k] - am * a) / (1.0 - am)
        f.guess_dvd[k] = vd
        f.guess_dv[k] = v + h * ((1.0 - gamma) * a + gamma * new)
        f.y[k] += h * v + h * h * ((0.5 - beta) * a + beta * new)
    apply_tangent(s.nodes, f.guess_w, f.y, f.guess_dq, f.turning)
    for k in range(f.lam.shape[0]):
        f.guess_dlam[k] = f.c0 * dlam[k] - f.c1 * past_lam[k]


@kernel
def _move_further(s, w, x, f, p, c, q):
    """f.q, f.v, f.vd, f.lam: moved from q, f.v, f.vd, f.lam by c along (U, zeta), as the matrix has it."""
    bp, gp = _mass_factor(x, p.step), x.gamma / (p.step * x.beta)
    for k in range(f.v.shape[0]):
        f.increment[k] = c * f.u[k] if x.stiffness != 0 else 0.0
        f.v[k] += c * gp * f.u[k]
        f.vd[k] += c * bp * f.u[k]
    for k in range(f.lam.shape[0]):
        f.lam[k] += c * bp * x.zeta[k]
    advance(s, w, q, f.increment, f.q)


@kernel
def _look_further(s, w, x, f, p, side):
    """Frames and forces at the first guess, moved by f.reach or back along (U, zeta)."""
    further = work_at(f.works[2 * f.size.shape[0] + 1 + side])
    copy(f.guess_v, f.v)
    copy(f.guess_vd, f.vd)
    copy(f.guess_lam, f.lam)
    copy(w.turns, further.turns)
    evaluate_functions(s, further, p.end)
    _move_further(s, further, x, f, p, f.reach if side == 0 else -f.reach, f.guess_q)
    copy(f.q, f.further_q[side])
    copy(f.v, f.further_v[side])
    copy(f.vd, f.further_vd[side])
    copy(f.lam, f.further_lam[side])
    look_along(s, further, f.q, f.v, f.lam, further.z)


@kernel
def prepare_matrix(s, w, own, x, f, p, exact):
    """What the derivative of the matrix along (U, zeta) needs for all parameters."""
    _return_to_guess(s, own, x, f, p)
    if exact:
        _look_further(s, w, x, f, p, 0)
        _look_further(s, w, x, f, p, 1)


# --- by the product rule ----------------------------------------------------------------------------------------------


@kernel
def _rows_along(s, x, f, g, j, side, out):
    """Change of the equations at the first guess, moved along (U, zeta), with a group of parameters."""
    copy(f.guess_dq, f.y)
    if x.stiffness != 0:  # the same direction, seen from further on
        add_commutator(s.nodes, f.u, f.guess_dq, -f.reach if side == 0 else f.reach, f.y)
    equations_along(
        s, work_at(f.works[2 * f.size.shape[0] + 1 + side]), g, j, f.further_q[side], f.further_v[side],
        f.further_vd[side], f.further_lam[side], f.y, f.guess_dv, f.guess_dvd, f.guess_dlam, out, ON_POSITIONS,
    )  # fmt: skip


# --- by differences ---------------------------------------------------------------------------------------------------


@kernel
def _move_guess(s, w, f, e, c):
    """f.q, f.v, f.vd, f.lam: the first guess, moved by e along its sensitivities with respect to one of the group."""
    dq, dv, dvd, dlam = flat(f.guess_dq), flat(f.guess_dv), flat(f.guess_dvd), flat(f.guess_dlam)
    for k in range(f.v.shape[0]):
        f.increment[k] = e * dq[AT_ONCE * k + c]
        f.v[k] = f.guess_v[k] + e * dv[AT_ONCE * k + c]
        f.vd[k] = f.guess_vd[k] + e * dvd[AT_ONCE * k + c]
    for k in range(f.lam.shape[0]):
        f.lam[k] = f.guess_lam[k] + e * dlam[AT_ONCE * k + c]
    advance(s, w, f.guess_q, f.increment, f.q)


@kernel
def _rows_beside(w, x, f, p, i, side, d, weight, out):
    """Dynamic rows of the system beside the parameter, a difference along (U, zeta); f.slip of B U at the guess."""
    sign, c = 1.0 if side == 0 else -1.0, i % AT_ONCE
    s, moved = tables_at(f.tables[2 * i + side]), work_at(f.works[2 * i + side])
    copy(w.turns, moved.turns)
    evaluate_functions(s, moved, p.end)
    for back in range(2):
        _move_guess(s, moved, f, sign * d, c)
        if back == 0 and s.nonholonomic.shape[0] > 0:
            velocities(s, moved, f.q, f.u)
            jacobian_times(s, moved, f.q, f.u, f.rates)
            for k in range(s.nonholonomic.shape[0]):
                n = s.xl[s.nonholonomic[k]]
                f.slip[n] -= sign * weight * f.rates[n]
        _move_further(s, moved, x, f, p, f.reach if back == 0 else -f.reach, f.q)
        if s.flags[FLAG_VELOCITY] != 0:
            velocities(s, moved, f.q, f.v)
        dynamics(s, moved, f.q, f.v, f.vd, f.lam, out if back == 0 else f.other)
    for k in range(s.xv.shape[0]):
        out[s.xv[k]] -= f.other[s.xv[k]]


@kernel
def _change_beside(s, w, x, f, p, i, c, out):
    """The same along one parameter, by differences."""
    e, lane, rows = f.size[i], i % AT_ONCE, flat(out)
    d = distance_along(size_of_increments(s, f.guess_q, flat(f.guess_dq), lane, AT_ONCE), e, MOST_MOVED)
    clear(f.slip)
    for turn in range(passes(d, e)):
        weight = weight_of(d, e)
        _rows_beside(w, x, f, p, i, 0, d, weight, f.row)
        _rows_beside(w, x, f, p, i, 1, d, weight, f.level)
        for k in range(s.xv.shape[0]):
            n = s.xv[k]
            m = AT_ONCE * n + lane
            rows[m] = (rows[m] if turn > 0 else 0.0) + c * weight * (f.level[n] - f.row[n])
        d = -d
    for k in range(s.nonholonomic.shape[0]):
        n = s.xl[s.nonholonomic[k]]
        rows[AT_ONCE * n + lane] = f.slip[n]


@kernel
def change_of_matrix(s, w, x, f, g, p, j, out):
    """out: the right-hand sides -dJ (U, zeta) of a group of parameters."""
    c = 0.5 / (f.reach * _mass_factor(x, p.step))
    _guess_along(s, x, f, p, j)
    if f.some_exact[j] != 0:
        _rows_along(s, x, f, g, j, 0, out)
        _rows_along(s, x, f, g, j, 1, f.mixed)
    for k in range(s.xv.shape[0]):
        n = s.xv[k]
        out[n] = c * (f.mixed[n] - out[n])
    for k in range(s.xl.shape[0]):
        out[s.xl[k]] = 0.0
    for i in range(AT_ONCE * j, end_of_group(f, j) if f.all_exact[j] == 0 else 0):
        if f.exact[i] == 0:
            _change_beside(s, w, x, f, p, i, c, out)
