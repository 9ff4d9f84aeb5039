"""How a run of generalized-alpha changes with parameters: forward sensitivities of its steps.

A step solves R(y; x, theta) = 0 for y = (v_dot, lambda) at its end, from the state x = (q, v, v_dot, a) at its start.
Along a parameter, with S = dx/d theta,

    J dy = -(R_x S + R_theta),    J = R_y.

The right-hand side is one directional derivative (``changes``). J is the matrix that the step has factorised; it serves
all parameters, four right-hand sides at a time. It belongs to the first iterate of the step, not to its solution, so
that dy is an extrapolation plus a correction, and another one where the rate at which corrections fall tells that
something would remain. The state then follows by the derivatives of the method's own lines; on Lie nodes the increment
of the configuration is

    d_{n+1} = T_exp(dq) (T_exp(-dq)^-1 d_n + d(dq)),    exp(-x) = T_exp(x) T_exp(-x)^-1.

In index 2 the position correction of the step changes as well (``position_change``).
"""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.fours import AT_ONCE, flat
from ...compiled.kernel import kernel
from ...compiled.kinds import addresses, integer, matrix
from ...math.arrays import copy, copy_apart, largest_four
from ...nodes.increments import apply_rows, store_tangent, store_tangent_inverse
from ...system.along import look_along
from ...system.directions import Along, end_of_group
from ...system.instant import evaluate_functions, frames
from ...system.right_hand_sides import Sides, solve_four
from ...system.tables import FLAG_CHARTS, FLAG_TREE, PARAMETER_LENGTH, Tables, Work, work_at
from ...system.tree_along import look_along_tree
from ..loop import LOAD, Rows, ask, make_step
from ..newton import ACCELERATION
from ..numbers import NewtonNumbers
from ..verdicts import CONVERGED
from .changes import change_of_equations
from .equations import KEEP_CONTRACTION, _factorise, _mass_factor
from .matrix_change import remember_guess
from .position_change import (
    correct_position,
    foresee_turn,
    is_due,
    position_equations,
    prepare_position,
    take_turn,
    turn_equations,
)
from .shadow import (
    CHANGED_CHART,
    FOLLOWED,
    LEFT_TO_INDEX_3,
    POINTS,
    SLOW,
    Shadow,
    choose_weights,
    extrapolate,
    turn_ring,
)
from .state import EVERY_ITERATION, WHILE_GOOD, AlphaState

MOST_ROUNDS = 20  # corrections of a step
SETTLED = 2e-9  # of the sensitivities of the configuration: what may remain of all corrections, in the mean
TELLING = 1e-12  # a correction that is large enough to tell a rate; below, round-off does
FASTEST = 1e-5  # rates are not taken for smaller
TIMES_SEEN = 2.0  # the rate at which corrections fell when it was last seen: so much slower they may fall later
UNSEEN = 1.02  # by which that grows with every step in which one correction told nothing
FADES = 0.8  # of that rate counts in the next step: it may differ from one step to the other
REACTIONS = 3e-9  # the same of accelerations, in a single step
MULTIPLIERS = 3e-8  # the same of multipliers
FALLING = 0.3  # corrections that fall less are round-off
MOST_NOISE = 1e4  # times the least round-off: as much is taken for it
FORGET = 0.98  # of the round-off that was seen, for the next step
STALLED = 1e-9  # of them: corrections that no longer fall below this are round-off
UNMOVED = 0.1  # of what may remain: later corrections that change the configuration by less leave positions alone
AS_NOISE = 0.1  # of the round-off: what may remain beside it
ROUND_OFF = 1e-16  # of the increments of a step, divided by the size of differences: their noise


@kernel
def _prepare(s, w, x, f, g, p):
    """What a step needs for all parameters: frames and forces at its end, in index 2 the position correction."""
    length, exact, differences = 0.0, False, False
    for k in range(f.v.shape[0]):
        f.increment[k] = -x.dq[k]
        length = max(length, abs(x.dw[k]))
    store_tangent_inverse(s.nodes, f.increment, f.from_start)
    store_tangent(s.nodes, x.dq, f.to_end)
    f.noise = ROUND_OFF * max(length, p.step * p.step * p.scales[ACCELERATION])
    f.largest_lam = 0.0
    for k in range(f.lam.shape[0]):
        f.largest_lam = max(f.largest_lam, abs(x.lam[k]))
    f.noise_z = 3.0 * ROUND_OFF * max(1.0, s.parameters[PARAMETER_LENGTH])
    if x.index_2 == 0 and f.lam.shape[0] > 0:
        f.noise = max(f.noise, f.noise_z)
    for j in range(f.dq.shape[0]):
        exact = exact or f.some_exact[j] != 0
        differences = differences or f.all_exact[j] == 0
    own = work_at(f.works[2 * f.size.shape[0]])
    if x.index_2 != 0 or exact:
        copy(w.turns, own.turns)
        evaluate_functions(s, own, p.end)
    if x.index_2 != 0:
        prepare_position(s, w, own, x, f, p, length, exact)
        if differences:
            frames(s, own, x.q)
    if exact:
        g.time[0] = p.end
        if s.flags[FLAG_TREE] != 0:
            look_along_tree(s, w, g.tree, x.q, x.v, x.vd)
        else:
            look_along(s, own, x.q, x.v, x.lam, x.z0)


@kernel
def _choose_order(x, f, j):
    """Weights of the extrapolation, from as many steps as there are."""
    radius = x.af / (1.0 - x.af)
    choose_weights(f.weights[j], min(f.history + 1, f.points[j]), radius)
    choose_weights(f.weights_z[j], min(f.history + 1, f.points_z[j]), radius)


@kernel
def _predict(s, x, f, p, j):
    """Sensitivities at the end of the step by extrapolation of v_dot and lambda, and the lines of the method."""
    h, am, af, beta, gamma = p.step, x.am, x.af, x.beta, x.gamma
    c0, c1, c2 = (1.0 - af) / (1.0 - am), af / (1.0 - am), am / (1.0 - am)
    dvd, dan, dvn, dqn = f.past_vd[f.next + j], f.dan[j], f.dvn[j], f.dqn[j]
    last, da, dv = f.past_vd[f.now + j], f.da[j], f.dv[j]
    if f.history < POINTS:
        _choose_order(x, f, j)
    extrapolate(f, f.past_vd, f.weights[j], j, dvd)
    extrapolate(f, f.past_lam, f.weights[j], j, f.past_lam[f.next + j])
    apply_rows(s.nodes, f.from_start, f.dq[j], f.y)
    for k in range(f.v.shape[0]):
        new = c0 * dvd[k] + c1 * last[k] - c2 * da[k]
        dan[k] = new
        dvn[k] = dv[k] + h * ((1.0 - gamma) * da[k] + gamma * new)
        f.y[k] += h * dv[k] + h * h * ((0.5 - beta) * da[k] + beta * new)
    apply_rows(s.nodes, f.to_end, f.y, dqn)
    if x.index_2 != 0:
        new_z = f.past_z[f.next + j]
        extrapolate(f, f.past_z, f.weights_z[j], j, new_z)
        for k in range(f.v.shape[0]):
            dqn[k] += new_z[k]
        foresee_turn(f, j)


@kernel
def _scale(s, x, p, out):
    """Right-hand sides from the change of the equations, scaled as those of the step are."""
    bp = _mass_factor(x, p.step)
    cl = -p.step * x.beta / x.gamma if x.index_2 != 0 else -1.0
    for k in range(s.xv.shape[0]):
        out[s.xv[k]] *= -1.0 / bp
    for k in range(s.xl.shape[0]):
        out[s.xl[k]] *= cl


@kernel
def _correct(s, w, x, f, p, j, solution):
    """Take the solution over."""
    bp, gp = _mass_factor(x, p.step), x.gamma / (p.step * x.beta)
    ca = bp * (1.0 - x.af) / (1.0 - x.am)
    dlam, dq, dv, dvd, da = f.past_lam[f.next + j], f.dqn[j], f.dvn[j], f.past_vd[f.next + j], f.dan[j]
    for k in range(f.lam.shape[0]):
        change = bp * solution[s.xl[k]]
        f.mu[k] = change
        dlam[k] += change
    f.change_lam[j] = largest_four(f.mu)
    for k in range(f.v.shape[0]):
        f.y[k] = solution[s.xv[k]]
    if x.index_2 == 0:
        apply_rows(s.nodes, w.t, f.y, f.y)
    for k in range(f.v.shape[0]):
        y = f.y[k]
        dvd[k] += bp * y
        dv[k] += gp * y
        da[k] += ca * y
    f.change[j], f.change_z[j] = largest_four(f.y), 0.0
    apply_rows(s.nodes, f.to_end, f.y, f.moved)
    for k in range(f.v.shape[0]):
        dq[k] += f.moved[k]


@kernel
def _is_moved(f, j):
    """Whether a position correction changes with the last correction of a group."""
    f.size_q[j] = largest_four(f.dqn[j])
    change, size = flat(f.change), flat(f.size_q)
    for i in range(AT_ONCE * j, end_of_group(f, j)):
        if change[i] > UNMOVED * f.settled * max(size[i], f.idle[i]):
            return True
    return False


@kernel
def _newton_rate(x, f, p):
    """By how much one correction is smaller than the one before: as iterates of the step with these factors were."""
    if p.iteration == 0:  # nothing was iterated: new factors are those of the solution, old ones tell nothing
        f.rate = FASTEST if x.kept == 0 or x.newton != WHILE_GOOD else KEEP_CONTRACTION
        return
    fresh = p.iteration == 1 or x.newton == EVERY_ITERATION
    rate = p.error / p.before if fresh else p.before / p.earlier
    f.rate = min(max(rate, FASTEST), 1.0)


@kernel
def _is_settled(x, f, p, i, r):
    """Whether corrections of a parameter may end after this one, the r-th; the round-off in them is measured."""
    size, acceleration, rate = max(flat(f.size_q)[i], f.idle[i]), flat(f.size_vd)[i], f.rate
    change, before, least = flat(f.change)[i], f.earlier[i], f.noise / f.spread[i]
    noise = max(least, f.floor[i])
    if r > 0 and before > TELLING * size:
        rate = max(change / before, rate)  # round-off makes it look larger
        if r == 1:
            f.seen[i] = max(min(change / before, 1.0), FADES * f.seen[i])
    elif r == 0:
        rate = max(rate, TIMES_SEEN * f.seen[i])
        f.seen[i] *= UNSEEN
    if r > 1 and change > FALLING * before and change <= max(STALLED * size, MOST_NOISE * least):
        f.floor[i] = change
        return True
    limit = max(f.settled * size, AS_NOISE * noise)
    if rate * flat(f.change_z)[i] > max(limit, f.noise_z / f.spread[i]):
        return False
    reactions = (
        max(REACTIONS, 2.0 * p.tolerance) * acceleration / _mass_factor(x, p.step)
    )  # as much the run itself leaves
    return rate * change <= min(limit, max(reactions, AS_NOISE * noise))


@kernel
def _are_reactions_settled(f, p, i, r):
    """Whether corrections of multipliers may end, which may be all that changes: the torque of a drive with a mass."""
    change, before, rate = flat(f.change_lam)[i], f.earlier_lam[i], max(f.rate, TIMES_SEEN * f.seen[i])
    if r > 0:
        if change >= FALLING * before:
            return True  # round-off, or nothing
        rate = max(f.rate, change / before)
    limit = max(MULTIPLIERS, 10.0 * p.tolerance)  # as much the run itself leaves
    return rate * change <= limit * max(flat(f.size_lam)[i], f.least_lam[i] * f.largest_lam)


@kernel
def _are_settled(x, f, p, j, r):
    """Whether corrections of a group may end."""
    f.size_q[j], f.size_vd[j] = largest_four(f.dqn[j]), largest_four(f.past_vd[f.next + j])
    f.size_lam[j] = largest_four(f.past_lam[f.next + j])
    change, change_lam, settled = flat(f.change), flat(f.change_lam), True
    for i in range(AT_ONCE * j, end_of_group(f, j)):
        settled = _are_reactions_settled(f, p, i, r) and settled
        settled = _is_settled(x, f, p, i, r) and settled
        f.earlier[i], f.earlier_lam[i] = change[i], change_lam[i]
    return settled


@kernel
def _make_correction(s, w, x, f, g, b, p, j, r):
    """The r-th correction of a group."""
    count, first = end_of_group(f, j) - AT_ONCE * j, r == 0
    change_of_equations(s, w, x, f, g, p, j, f.rhs)
    _scale(s, x, p, f.rhs)
    solve_four(s, w, b, f.rhs, count)
    _correct(s, w, x, f, p, j, f.rhs)
    if first and x.index_2 != 0 and is_due(f, j):
        turn_equations(s, w, x, f, g, p, j)
        solve_four(s, w, b, f.turn, count)
        take_turn(s, x, f, g, p, j, f.turn)
    if x.index_2 != 0 and (first or _is_moved(f, j)):
        position_equations(s, x, f, g, j, first, f.rhs)
        solve_four(s, w, b, f.rhs, count)
        correct_position(s, f, j, first, f.rhs)


@kernel
def _follow(s, w, x, f, g, b, p):
    """Sensitivities at the end of the step along all parameters."""
    count = f.dq.shape[0]
    _newton_rate(x, f, p)
    for j in range(count):
        f.active[j] = j
        _predict(s, x, f, p, j)
    for r in range(MOST_ROUNDS):
        left = 0
        for n in range(count):
            j = f.active[n]
            _make_correction(s, w, x, f, g, b, p, j, r)
            if not _are_settled(x, f, p, j, r):
                f.active[left] = j
                left += 1
        f.rounds += count
        count = left
        if count == 0:
            break
    if count > 0:
        f.ended = SLOW


@kernel
def _accept(f):
    """Sensitivities at the end of the step become those of the state."""
    turn_ring(f)
    for i in range(f.size.shape[0]):
        f.floor[i] *= FORGET
    for j in range(f.dq.shape[0]):
        copy(f.dqn[j], f.dq[j])
        copy(f.dvn[j], f.dv[j])
        copy(f.dan[j], f.da[j])
    f.history += 1


@kernel
def _ends(s, x, f, p, left):
    """Whether this step is one that sensitivities do not follow; leaves f.ended."""
    if x.index_3_steps != left:
        f.ended = LEFT_TO_INDEX_3
    elif s.flags[FLAG_CHARTS] != 0 and p.history == 0:
        f.ended = CHANGED_CHART
    return f.ended != FOLLOWED


@entry(
    Tables, Work, AlphaState, Shadow, Along, Sides, addresses, NewtonNumbers, Rows, integer, integer, integer, matrix,
    matrix, matrix, matrix, matrix, matrix, matrix, matrix, matrix,
)  # fmt: skip
def run_with_sensitivities(
    s, w, x, f, g, b, a, p, rows, before, count, every, out_q, out_v, out_first, out_second, out_turns, out_dq, out_dv,
    out_dvd, out_dlam,
):  # fmt: skip
    """Up to ``count`` steps with their sensitivities; f.history of them are made.

    Every ``every``-th step is recorded, the first one of them in the row that comes after ``before`` records.
    """
    n, left = f.size.shape[0], x.index_3_steps
    ask(a, LOAD)
    for _ in range(count):
        if x.index_2 != 0:
            remember_guess(x, f, p)
        make_step(a, p)
        if p.verdict != CONVERGED or _ends(s, x, f, p, left):
            return
        p.index += 1
        if p.iteration == 0 and (x.newton != WHILE_GOOD or x.kept < 0 or x.index_2 != 0):
            _factorise(s, w, x, p.step)  # the first guess was good enough, and nothing was factorised
        _prepare(s, w, x, f, g, p)
        _follow(s, w, x, f, g, b, p)
        if f.ended != FOLLOWED:
            return
        _accept(f)
        if p.index % every == 0:
            row = p.index // every - 1 - before
            copy(rows.q, out_q[row])
            copy(rows.v, out_v[row])
            copy(rows.first, out_first[row])
            copy(rows.second, out_second[row])
            copy(rows.turns, out_turns[row])
            records = out_dq.shape[0] // n  # of each parameter, with that of the start
            for j in range(f.dq.shape[0]):
                first = AT_ONCE * j
                row, group = first * records + p.index // every, end_of_group(g, j) - first
                copy_apart(f.dq[j], group, row, records, out_dq)
                copy_apart(f.dv[j], group, row, records, out_dv)
                copy_apart(f.past_vd[f.now + j], group, row, records, out_dvd)
                copy_apart(f.past_lam[f.now + j], group, row, records, out_dlam)
