"""How the position correction of index 2 changes along a parameter.

The position correction d of a step is the sum of those of its iterates, d = sum_k T_exp(dq_k)^-1 u_k, where u_k solves
J (u_k, zeta_k) = (0, rho_k), with that sum of rho for which g = 0 in the end. The first one is by far the largest, and
its dq_0 differs from w, the increment of the step without d, by what a second iterate changes: U = T_exp(w) d is the
sum of u_k. It changes with rho and with the matrix,

    J dU = (-dJ (U, zeta), d rho),    d rho such that B d_{n+1} + g_theta = 0,

and dz = T_exp(dq) dd with dd = T_exp(w)^-1 (dU - dT_exp(w) d) is its part of the increment d_{n+1}, as seen at the end.
What follows from dJ (``matrix_change``) and dT_exp is small and smooth; it is computed anew as often as its
extrapolation asks.
"""

from __future__ import annotations

from ...compiled.fours import AT_ONCE, flat
from ...compiled.kernel import kernel
from ...math.arrays import clear, largest_four
from ...nodes.along import slope_along
from ...nodes.increments import apply_rows, apply_tangent, store_tangent_inverse
from ...system.along import positions_along
from ...system.directions import end_of_group
from ...system.instant import jacobian_times, velocities
from ...system.tables import work_at
from .matrix_change import ALONG, FURTHEST, change_of_matrix, prepare_matrix
from .shadow import TURNS

LONGEST = 32.0  # steps over which the effect of the matrix on a position correction is extrapolated
WELL = 0.2  # of what may remain in a step: with so little missed, it may be foreseen over more of them
UNTURNED = 1e-6  # a position correction below: what turns it within a step does not count


@kernel
def prepare_position(s, w, own, x, f, p, length, exact):
    """The position correction of the step and, if it is asked for, the matrix along it; leaves w.z of own anywhere."""
    n, size = f.v.shape[0], 0.0
    f.reach = 0.0
    for k in range(n):
        f.increment[k] = x.dq[k] - x.dw[k]
        size = max(size, abs(f.increment[k]))
    if size == 0.0:
        return
    f.twisted = 1 if size > UNTURNED else 0
    f.reach = min(ALONG * length, FURTHEST) / size
    due = False
    for j in range(f.dq.shape[0]):
        due = due or f.since[j] + 1.0 >= f.interval[j]
    if f.twisted != 0 or due:
        store_tangent_inverse(s.nodes, x.dw, f.untwist)
    if due:
        apply_tangent(s.nodes, x.dw, f.increment, f.u, f.turning)
        prepare_matrix(s, w, own, x, f, p, exact)


@kernel
def _at_end(s, f, y):
    """T_exp(dq) T_exp(w)^-1 y in place: a change of U as one of the configuration at the end."""
    if f.twisted != 0:
        apply_rows(s.nodes, f.untwist, y, y)
        apply_rows(s.nodes, f.to_end, y, y)


# --- change of the matrix ---------------------------------------------------------------------------------------------


@kernel
def foresee_turn(f, j):
    """f.dmn: the part of dz that follows matrix and rotation, by the polynomial through its last values."""
    n, count, times = f.dq.shape[0], min(int(f.known[j]), TURNS), f.turn_times[j]
    t, new = f.history + 1.0, f.dmn[j]
    f.since[j] += 1.0
    clear(new)
    if f.reach == 0.0:
        return
    for i in range(count):
        c = 1.0
        for m in range(count):
            if m != i:
                c *= (t - times[m]) / (times[i] - times[m])
        past = f.past_turns[i * n + j]
        for k in range(f.v.shape[0]):
            new[k] += c * past[k]


@kernel
def is_due(f, j):
    """Whether that part is to be computed in this step."""
    return f.reach != 0.0 and f.since[j] >= f.interval[j]


@kernel
def _turn_correction(s, x, f, g, p, j):
    """f.turned: less how U = T_exp(w) d changes with w, which is -T_exp(w) (dT_exp^-1(w) U)."""
    h, beta, dv, da, dan = p.step, x.beta, f.dv[j], f.da[j], f.dan[j]
    for k in range(f.v.shape[0]):
        f.y[k] = h * dv[k] + h * h * ((0.5 - beta) * da[k] + beta * dan[k])
    slope_along(s.nodes, f.untwist, x.dw, f.u, f.y, g.still, f.turned)
    apply_tangent(s.nodes, x.dw, f.turned, f.turned, f.turning)


@kernel
def turn_equations(s, w, x, f, g, p, j):
    """f.turn: right-hand sides of the part of dz that follows the matrix."""
    change_of_matrix(s, w, x, f, g, p, j, f.turn)


@kernel
def take_turn(s, x, f, g, p, j, solution):
    """Take the solution over; it is computed again after twice as many steps, if it was foreseen well enough."""
    _turn_correction(s, x, f, g, p, j)
    for k in range(f.v.shape[0]):
        f.turned[k] += solution[s.xv[k]]
    _at_end(s, f, f.turned)
    slot, foreseen = int(f.known[j]) % TURNS, f.dmn[j]
    kept = f.past_turns[slot * f.dq.shape[0] + j]
    for k in range(f.v.shape[0]):
        new = f.turned[k]
        f.y[k] = new - foreseen[k]
        kept[k] = new
        foreseen[k] = new
    f.change_z[j], f.size_q[j] = largest_four(f.y), largest_four(f.dqn[j])
    missed, size, well, badly = flat(f.change_z), flat(f.size_q), True, False
    for i in range(AT_ONCE * j, end_of_group(f, j)):
        limit = f.settled * max(size[i], f.idle[i])
        well = well and missed[i] <= WELL * limit
        badly = badly or missed[i] > limit
    if f.known[j] > 2.0 and well:
        f.interval[j] = min(2.0 * f.interval[j], LONGEST)
    elif badly:
        f.interval[j] = max(1.0, 0.5 * f.interval[j])
    f.turn_times[j, slot] = f.history + 1.0
    f.known[j] += 1.0
    f.since[j] = 0.0


# --- change of the constraints ----------------------------------------------------------------------------------------


@kernel
def _slope_beside(s, x, f, i, out):
    """The right-hand side along one parameter by differences, where f.y is a change of the configuration since then."""
    own, c = work_at(f.works[2 * f.size.shape[0]]), i % AT_ONCE
    change, position, rows = flat(f.y), flat(f.position), flat(out)
    for k in range(f.v.shape[0]):
        f.v[k] = change[AT_ONCE * k + c]
    velocities(s, own, x.q, f.v)
    jacobian_times(s, own, x.q, f.v, f.row)
    velocities(s, own, x.q, x.v)  # where the equations along exact parameters start
    for k in range(s.xl.shape[0]):
        n = s.xl[k]
        rows[AT_ONCE * n + c] = -f.row[n] - position[AT_ONCE * n + c]
    for k in range(s.nonholonomic.shape[0]):
        rows[AT_ONCE * s.xl[s.nonholonomic[k]] + c] = 0.0


@kernel
def position_equations(s, x, f, g, j, first, out):
    """Right-hand sides of the position correction that belongs to the configuration f.dqn.

    In the first round for all of it that is not f.dmn, then for what remains.
    """
    own = work_at(f.works[2 * f.size.shape[0]])
    c = 1.0 if first else 0.0
    dq, dz, dm = f.dqn[j], f.past_z[f.next + j], f.dmn[j]
    if f.some_exact[j] != 0:
        for k in range(f.v.shape[0]):
            f.y[k] = dq[k] + c * (dm[k] - dz[k])
        positions_along(s, own, g, j, x.lam, f.y, out)
        for k in range(s.xl.shape[0]):
            out[s.xl[k]] = -out[s.xl[k]]
    if f.all_exact[j] == 0:
        for k in range(f.v.shape[0]):
            f.y[k] = f.moved[k] + c * (dm[k] - dz[k])
        for i in range(AT_ONCE * j, end_of_group(f, j)):
            if f.exact[i] == 0:
                _slope_beside(s, x, f, i, out)
    for k in range(s.xv.shape[0]):
        out[s.xv[k]] = 0.0


@kernel
def correct_position(s, f, j, first, solution):
    """Take the solution over into the row of f.past_z and f.dqn."""
    c = 1.0 if first else 0.0
    dq, dz, dm = f.dqn[j], f.past_z[f.next + j], f.dmn[j]
    for k in range(f.v.shape[0]):
        f.y[k] = solution[s.xv[k]]
    _at_end(s, f, f.y)
    for k in range(f.v.shape[0]):
        d = f.y[k] + c * (dm[k] - dz[k])
        f.y[k] = d
        dz[k] += d
        dq[k] += d
    f.change_z[j] = largest_four(f.y)
