"""How the equations of a step of generalized-alpha change along a parameter: by the product rule, or by differences.

The product rule (``mbd.system.along``) is exact, and evaluates of the elements only what is not bilinear, or touched by
the parameter. Other nodes, joint coordinates and rolling take the central difference of the residual at x +- eps S
with the tables of theta +- eps, in which an increment is made at the end of the step; that differs from a motion
through the step by terms of eps^2, which are the same on both sides.
"""

from __future__ import annotations

from ...compiled.fours import AT_ONCE, flat
from ...compiled.kernel import kernel
from ...math.arrays import copy
from ...system.along import equations_along
from ...system.directions import ON_POSITIONS, ON_VELOCITIES, end_of_group
from ...system.instant import advance, constraint_rates, constraints, dynamics, evaluate_functions, velocities
from ...system.moved_along import MOST_MOVED, distance_along, passes, size_of_increments, weight_of
from ...system.tables import FLAG_TREE, FLAG_VELOCITY, tables_at, work_at


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
def move_beside(s, w, x, f, p, i, e):
    """Move to the end of the step, by e along the sensitivities with respect to one parameter."""
    j, c = i // AT_ONCE, i % AT_ONCE
    dq, dv, dvd, dlam = (
        flat(f.dqn[j]), flat(f.dvn[j]), flat(f.past_vd[f.next + j]), flat(f.past_lam[f.next + j])
    )  # fmt: skip
    for k in range(f.v.shape[0]):
        f.increment[k] = e * dq[AT_ONCE * k + c]
        f.v[k] = x.v[k] + e * dv[AT_ONCE * k + c]
        f.vd[k] = x.vd[k] + e * dvd[AT_ONCE * k + c]
    for k in range(f.lam.shape[0]):
        f.lam[k] = x.lam[k] + e * dlam[AT_ONCE * k + c]
    evaluate_functions(s, w, p.end)
    advance(s, w, x.q, f.increment, f.q)


@kernel
def _beside(w, x, f, p, i, side, d, out, position):
    """The equations on one side of a parameter, moved by d along its sensitivities."""
    s, moved = tables_at(f.tables[2 * i + side]), work_at(f.works[2 * i + side])
    copy(w.turns, moved.turns)
    move_beside(s, moved, x, f, p, i, d)
    _residual(s, moved, x, f, p, out, position)


@kernel
def _differences(s, w, x, f, p, i, out):
    """Central differences of the equations along one parameter: out, and in index 2 f.position."""
    e, lane, rows, position = f.size[i], i % AT_ONCE, flat(out), flat(f.position)
    d = distance_along(size_of_increments(s, x.q, flat(f.dqn[i // AT_ONCE]), lane, AT_ONCE), e, MOST_MOVED)
    for turn in range(passes(d, e)):
        _beside(w, x, f, p, i, 0, d, f.row, f.level)
        _beside(w, x, f, p, i, 1, -d, f.other, f.rates)
        c = weight_of(d, e)
        for k in range(f.row.shape[0]):
            m = AT_ONCE * k + lane
            rows[m] = (rows[m] if turn > 0 else 0.0) + c * (f.row[k] - f.other[k])
        for k in range(s.xl.shape[0] if x.index_2 != 0 else 0):
            n = s.xl[k]
            m = AT_ONCE * n + lane
            position[m] = (position[m] if turn > 0 else 0.0) + c * (f.level[n] - f.rates[n])
        d = -d


@kernel
def change_of_equations(s, w, x, f, g, p, j, out):
    """out: R_x S + R_theta along a group of parameters."""
    if f.some_exact[j] != 0:
        own = w if s.flags[FLAG_TREE] != 0 else work_at(f.works[2 * f.size.shape[0]])
        level = ON_VELOCITIES if x.index_2 != 0 else ON_POSITIONS
        equations_along(
            s, own, g, j, x.q, x.v, x.vd, x.lam, f.dqn[j], f.dvn[j], f.past_vd[f.next + j], f.past_lam[f.next + j],
            out, level,
        )  # fmt: skip
    if f.all_exact[j] == 0:
        for i in range(AT_ONCE * j, end_of_group(f, j)):
            if f.exact[i] == 0:
                _differences(s, w, x, f, p, i, out)
