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

from ...compiled.kernel import kernel
from ...math.arrays import largest
from ...nodes.increments import apply_rows, apply_tangent, store_tangent_inverse
from ...system.along import positions_along
from ...system.instant import jacobian_times, velocities
from ...system.tables import work_at
from .matrix_change import ALONG, change_of_matrix, prepare_matrix

TURN = 1e-4  # radians, for a difference of a small term
LONGEST = 32.0  # steps over which the effect of the matrix on a position correction is extrapolated
UNTURNED = 1e-6  # a position correction below: what turns it within a step does not count


@kernel
def prepare_position(s, w, own, x, f, p, length, exact, differences):
    """The position correction of the step and, if it is asked for, the matrix along it; leaves w.z of own anywhere."""
    n, size = f.v.shape[0], 0.0
    f.reach = 0.0
    for k in range(n):
        f.y[k] = x.dq[k] - x.dw[k]
        size = max(size, abs(f.y[k]))
    if size == 0.0:
        return
    f.twisted = 1 if size > UNTURNED else 0
    f.reach = ALONG * length / size
    due = False
    for i in range(f.dq.shape[0]):
        due = due or f.since[i] + 1.0 >= f.interval[i]
    if f.twisted != 0 or due:
        store_tangent_inverse(s.nodes, x.dw, f.untwist)
    if due:
        apply_tangent(s.nodes, x.dw, f.y, f.u, f.turning)
        prepare_matrix(s, w, own, x, f, p, exact)


@kernel
def _at_end(s, f, y):
    """T_exp(dq) T_exp(w)^-1 y in place: a change of U as one of the configuration at the end."""
    if f.twisted != 0:
        apply_rows(s.nodes, f.untwist, y, y)
        apply_rows(s.nodes, f.to_end, y, y)


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
def _turn_correction(s, x, f, p, i):
    """f.turned: how T_exp(w) times the position correction changes with w, by a difference."""
    h, beta, size = p.step, x.beta, 0.0
    for k in range(f.v.shape[0]):
        f.turned[k] = h * f.dv[i, k] + h * h * ((0.5 - beta) * f.da[i, k] + beta * f.dan[i, k])
        f.y[k] = x.dq[k] - x.dw[k]
        size = max(size, abs(f.turned[k]))
    c = TURN / size if size > 0.0 else 1.0
    for k in range(f.v.shape[0]):
        f.v[k] = x.dw[k] + c * f.turned[k]
        f.vd[k] = x.dw[k] - c * f.turned[k]
    apply_tangent(s.nodes, f.v, f.y, f.turned, f.turning)
    apply_tangent(s.nodes, f.vd, f.y, f.y, f.turning)
    for k in range(f.v.shape[0]):
        f.turned[k] = (f.turned[k] - f.y[k]) / (2.0 * c)


@kernel
def turn_equations(s, w, x, f, g, p, i):
    """f.turn: right-hand side of the part of dz that follows the matrix."""
    change_of_matrix(s, w, x, f, g, p, i, f.turn[i])


@kernel
def take_turn(s, x, f, p, i, solution):
    """Take the solution over; it is computed again after twice as many steps, if it was foreseen well enough."""
    missed, size = 0.0, 0.0
    _turn_correction(s, x, f, p, i)
    for k in range(f.v.shape[0]):
        f.turned[k] = solution[s.xv[k]] - f.turned[k]
    _at_end(s, f, f.turned)
    for k in range(f.v.shape[0]):
        new = f.turned[k]
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
    velocities(s, own, x.q, x.v)  # where the equations along exact parameters start
    for k in range(s.xl.shape[0]):
        out[s.xl[k]] -= f.position[i, s.xl[k]]
    for k in range(s.nonholonomic.shape[0]):
        out[s.xl[s.nonholonomic[k]]] = 0.0


@kernel
def correct_position(s, f, i, first, solution):
    """Take the solution over into f.dzn and f.dqn."""
    dq, dz, dm = f.dqn[i], f.dzn[i], f.dmn[i]
    for k in range(f.v.shape[0]):
        f.y[k] = solution[s.xv[k]]
    _at_end(s, f, f.y)
    for k in range(f.v.shape[0]):
        d = f.y[k] + (dm[k] - dz[k] if first else 0.0)
        f.y[k] = d
        dz[k] += d
        dq[k] += d
    f.change_z[i] = largest(f.y)
