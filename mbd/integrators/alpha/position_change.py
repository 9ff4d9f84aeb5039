"""How the position correction of index 2 changes along a parameter.

The position correction d of a step, z = T_exp(dq) d, is a solution of J (z, zeta) = (0, rho) with that rho for which
g = 0. It changes with rho and with the matrix:

    J dz = (-dJ (z, zeta), d rho),    d rho such that B d_{n+1} + g_theta = 0.

dJ (z, zeta) is a second derivative of the residual: along the sensitivities, and along (z, zeta). By the product rule
it is the difference of the first one at the end of the step and a little further along (z, zeta); by differences it is
taken at the first guess of the step, where the matrix was evaluated. The two differ by terms of h^2 of a quantity of
h^3. Further factors within a step count as those of its first guess. The part of dz that follows from it is small and
smooth; it is computed anew as often as its extrapolation asks.
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...math.arrays import clear, copy, largest
from ...nodes.increments import add_commutator, apply_rows, apply_tangent, apply_tangent_inverse
from ...system.along import ON_POSITIONS, equations_along, look_along, positions_along
from ...system.instant import advance, dynamics, evaluate_functions, frames, jacobian_times, velocities
from ...system.matrix import solve
from ...system.tables import FLAG_VELOCITY, tables_at, work_at
from .changes import move_beside
from .equations import _mass_factor

TURN = 1e-4  # of an increment, for a difference of a small term
LONGEST = 32.0  # steps over which the effect of the matrix on a position correction is extrapolated
ALONG = 1e-6  # of the increments of a step: how far a difference along the position correction goes


# --- the first guess, where the matrix was evaluated ------------------------------------------------------------------


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
def _at_guess(s, w, x, f, p, i, e):
    """Move to the first guess of the step, by e along its sensitivities with respect to a parameter (e = 0: of none).

    After other attempts than the usual first guess the solution takes its place; p.end is the time of w.values.
    """
    h, am, af, beta, gamma = p.step, x.am, x.af, x.beta, x.gamma
    if e == 0.0:
        copy(f.guess_vd, f.vd)
        copy(f.guess_v, f.v)
        copy(f.guess_lam, f.lam)
        advance(s, w, f.start_q, f.guess_w, f.guess_q)
        copy(f.guess_q, f.q)
        return
    dvd, past, dlam, past_lam = (
        f.past_vd[f.now + i], f.past_vd[f.before + i], f.past_lam[f.now + i], f.past_lam[f.before + i]
    )  # fmt: skip
    for k in range(f.v.shape[0]):
        f.y[k] = -f.guess_w[k]
    apply_tangent_inverse(s.nodes, f.y, f.dq[i], f.y, f.turning)
    for k in range(f.v.shape[0]):
        vd, a, v = f.c0 * dvd[k] - f.c1 * past[k], f.da[i, k], f.dv[i, k]
        new = ((1.0 - af) * vd + af * dvd[k] - am * a) / (1.0 - am)
        f.vd[k] = f.guess_vd[k] + e * vd
        f.v[k] = f.guess_v[k] + e * (v + h * ((1.0 - gamma) * a + gamma * new))
        f.y[k] += h * v + h * h * ((0.5 - beta) * a + beta * new)
    apply_tangent(s.nodes, f.guess_w, f.y, f.y, f.turning)
    for k in range(f.v.shape[0]):
        f.y[k] *= e
    for k in range(f.lam.shape[0]):
        f.lam[k] = f.guess_lam[k] + e * (f.c0 * dlam[k] - f.c1 * past_lam[k])
    advance(s, w, f.guess_q, f.y, f.q)


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
def _look_further(s, w, x, f, p):
    """Frames and forces at the end of the step, moved by f.reach along (z, zeta), as the matrix has it."""
    further = work_at(f.works[2 * f.dq.shape[0] + 1])
    bp, gp, c = _mass_factor(x, p.step), x.gamma / (p.step * x.beta), f.reach
    for k in range(f.v.shape[0]):
        f.y[k] = c * f.z[k] if x.stiffness != 0 else 0.0
        f.further_v[k] = x.v[k] + c * gp * f.z[k]
        f.further_vd[k] = x.vd[k] + c * bp * f.z[k]
    for k in range(f.lam.shape[0]):
        f.further_lam[k] = x.lam[k] + c * bp * f.zeta[k]
    copy(w.turns, further.turns)
    evaluate_functions(s, further, p.end)
    advance(s, further, x.q, f.y, f.further_q)
    look_along(s, further, f.further_q, f.further_v, f.further_lam, further.z)


@kernel
def prepare_position(s, w, own, x, f, p, length, exact, differences):
    """The position correction of the step and, if it is asked for, the residual along it; frames of own are at x.q."""
    n, largest = f.v.shape[0], 0.0
    f.reach = 0.0
    for k in range(n):
        f.y[k] = x.dq[k] - x.dw[k]
    apply_rows(s.nodes, f.to_end, f.y, f.z)
    for k in range(n):
        largest = max(largest, abs(f.z[k]))
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
    if differences:
        _at_guess(s, own, x, f, p, 0, 0.0)
        _forces_along(s, own, x, f, p, f.along)
        frames(s, own, x.q)
    if exact:
        _look_further(s, w, x, f, p)


# --- change of the matrix ---------------------------------------------------------------------------------------------


@kernel
def foresee_turn(f, i):
    """f.dmn: the part of dz that follows matrix and rotation, by the parabola through its last values."""
    f.since[i] += 1.0
    t, a, b = f.since[i], f.spacing[i], f.spacing[i] + f.older_spacing[i]  # values are at 0, -a and -b
    c0, c1, c2 = 1.0, 0.0, 0.0
    if f.known[i] > 2.0:
        c0, c1, c2 = (t + a) * (t + b) / (a * b), -t * (t + b) / (a * (b - a)), t * (t + a) / (b * (b - a))
    elif f.known[i] > 1.0:
        c0, c1 = 1.0 + t / a, -t / a
    new, last, past, older = f.dmn[i], f.dm[i], f.past_m[i], f.older_m[i]
    for k in range(f.v.shape[0]):
        new[k] = c0 * last[k] + c1 * past[k] + c2 * older[k] if f.reach != 0.0 else 0.0


@kernel
def is_due(f, i):
    """Whether that part is to be computed in this step."""
    return f.reach != 0.0 and f.since[i] >= f.interval[i]


@kernel
def _slip(s, w, f, c):
    """Nonholonomic rows of B z at f.q, times c, are added to f.slip."""
    velocities(s, w, f.q, f.z)
    jacobian_times(s, w, f.q, f.z, f.rates)
    for k in range(s.nonholonomic.shape[0]):
        j = s.xl[s.nonholonomic[k]]
        f.slip[j] += c * f.rates[j]


@kernel
def _change_of_matrix(w, x, f, p, i):
    """f.mixed = -dJ (z, zeta), and f.slip."""
    e = f.size[i]
    s, moved = tables_at(f.tables[2 * i]), work_at(f.works[2 * i])
    clear(f.slip)
    if s.nonholonomic.shape[0] > 0:
        copy(w.turns, moved.turns)
        move_beside(s, moved, x, f, p, i, e)
        _slip(s, moved, f, -0.5 / e)
        s, moved = tables_at(f.tables[2 * i + 1]), work_at(f.works[2 * i + 1])
        copy(w.turns, moved.turns)
        move_beside(s, moved, x, f, p, i, -e)
        _slip(s, moved, f, 0.5 / e)
        s, moved = tables_at(f.tables[2 * i]), work_at(f.works[2 * i])
    copy(w.turns, moved.turns)
    evaluate_functions(s, moved, p.end)
    _at_guess(s, moved, x, f, p, i, e)
    _forces_along(s, moved, x, f, p, f.mixed)
    for k in range(s.xv.shape[0]):
        f.mixed[s.xv[k]] = -(f.mixed[s.xv[k]] - f.along[s.xv[k]]) / (e * f.reach)


@kernel
def _turn_correction(s, x, f, p, i):
    """f.turned: how T_exp(dq) times the position correction changes with dq, by a difference."""
    h, beta = p.step, x.beta
    for k in range(f.v.shape[0]):
        dw = h * f.dv[i, k] + h * h * ((0.5 - beta) * f.da[i, k] + beta * f.dan[i, k])
        f.y[k] = x.dq[k] - x.dw[k]
        f.v[k] = x.dq[k] + TURN * dw
        f.vd[k] = x.dq[k] - TURN * dw
    apply_tangent(s.nodes, f.v, f.y, f.turned, f.turning)
    apply_tangent(s.nodes, f.vd, f.y, f.y, f.turning)
    for k in range(f.v.shape[0]):
        f.turned[k] = (f.turned[k] - f.y[k]) / (2.0 * TURN)


@kernel
def turn_equations(s, w, x, f, g, p, i, change):
    """f.turn: right-hand side -dJ (z, zeta) of that part of dz; ``change`` is that of the equations."""
    out, bp = f.turn[i], _mass_factor(x, p.step)
    if f.exact[i] == 0:
        _change_of_matrix(w, x, f, p, i)
        clear(out)
        for k in range(s.xv.shape[0]):
            out[s.xv[k]] = f.mixed[s.xv[k]] / bp
        for k in range(s.nonholonomic.shape[0]):
            j = s.xl[s.nonholonomic[k]]
            out[j] = f.slip[j]
        return
    copy(f.dqn[i], f.y)
    if x.stiffness != 0:  # the same direction, seen from further on
        add_commutator(s.nodes, f.z, f.dqn[i], -f.reach, f.y)
    equations_along(
        s, work_at(f.works[2 * f.dq.shape[0] + 1]), g, i, f.further_q, f.further_v, f.further_vd, f.further_lam, f.y,
        f.dvn[i], f.past_vd[f.next + i], f.past_lam[f.next + i], out, ON_POSITIONS,
    )  # fmt: skip
    for k in range(s.xv.shape[0]):
        j = s.xv[k]
        out[j] = (change[j] - out[j]) / (f.reach * bp)
    for k in range(s.xl.shape[0]):
        out[s.xl[k]] = 0.0


@kernel
def take_turn(s, x, f, p, i, solution):
    """Take the solution over; it is computed again after twice as many steps, if it was foreseen well enough."""
    missed, size = 0.0, 0.0
    _turn_correction(s, x, f, p, i)
    for k in range(f.v.shape[0]):
        new = solution[s.xv[k]] - f.turned[k]
        size = max(size, abs(f.dqn[i, k]))
        missed = max(missed, abs(new - f.dmn[i, k]))
        f.older_m[i, k] = f.past_m[i, k]
        f.past_m[i, k] = f.dm[i, k]
        f.dm[i, k] = new
        f.dmn[i, k] = new
    if f.known[i] > 2.0 and missed <= 0.1 * f.settled * size:
        f.interval[i] = min(2.0 * f.interval[i], LONGEST)
    elif missed > f.settled * size:
        f.interval[i] = max(1.0, 0.5 * f.interval[i])
    f.known[i] += 1.0
    f.older_spacing[i], f.spacing[i], f.since[i] = f.spacing[i], f.since[i], 0.0


# --- change of the constraints ----------------------------------------------------------------------------------------


@kernel
def position_equations(s, x, f, g, i, first, out):
    """Right-hand side of the position correction that belongs to the configuration f.dqn.

    In the first round for all of it that is not f.dmn, then for what remains.
    """
    own = work_at(f.works[2 * f.dq.shape[0]])
    dq, dz, dm = f.dqn[i], f.dzn[i], f.dmn[i]
    for k in range(s.xv.shape[0]):
        out[s.xv[k]] = 0.0
    if f.exact[i] != 0:
        for k in range(f.v.shape[0]):
            f.v[k] = dq[k] + (dm[k] - dz[k] if first else 0.0)
        positions_along(s, own, g, i, x.q, x.lam, f.v, out)
        for k in range(s.xl.shape[0]):
            out[s.xl[k]] = -out[s.xl[k]]
        return
    for k in range(f.v.shape[0]):
        f.v[k] = (dz[k] - dm[k] if first else 0.0) - f.moved[i, k]
    velocities(s, own, x.q, f.v)
    jacobian_times(s, own, x.q, f.v, out)
    for k in range(s.xl.shape[0]):
        out[s.xl[k]] -= f.position[i, s.xl[k]]
    for k in range(s.nonholonomic.shape[0]):
        out[s.xl[s.nonholonomic[k]]] = 0.0


@kernel
def correct_position(s, f, i, first, solution):
    """Take the solution over into f.dzn and f.dqn."""
    dq, dz, dm = f.dqn[i], f.dzn[i], f.dmn[i]
    for k in range(f.v.shape[0]):
        d = solution[s.xv[k]] + (dm[k] - dz[k] if first else 0.0)
        f.y[k] = d
        dz[k] += d
        dq[k] += d
    f.change_z[i] = largest(f.y)
