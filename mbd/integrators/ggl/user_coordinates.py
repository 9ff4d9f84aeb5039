"""Bodies in generalized coordinates in a GGL step: the equations of ``equations`` with their M, F, g and G.

Coefficients are those of ``GGLState``: gradients are taken at q0 plus a multiple of dq, which for every method is the
derivative of that point with respect to dq. Users' constraints need not be quadratic. With GGLEM, forces of lambda' are
discrete gradients [Gonzalez 1996] as in ``nodes.step.generalized``, and the curvature is corrected along dq such that

    gamma . (G(q1) u - G(q0) y0) = gamma . G(qm)(u - y0) + (corrected curvature) . dq

which makes the work of gamma' in both balances cancel; for quadratic constraints the correction is zero.

A body has 2 (nv + nl) unknowns of its own, (u, lambda', dq, gamma'). Newton's matrix takes differences of the residual.
"""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import integer
from ...nodes.frames import has_frame
from ...nodes.generalized import add_reaction_change, add_reactions, constraint_values, generalized_rate
from ...nodes.step.generalized import (
    LIVENS,
    correction,
    generalized_momentum,
    inverse_times,
    momentum_balance,
)
from ...system.instant_elements import has_generalized
from ...system.tables import Tables, Work, tables_at
from ..directors.user_coordinates import (
    clear_points,
    measure_own,
    move_own_rows,
    own_forces,
    regularise_own,
    round_off_of_momenta,
    solve_own,
)
from ..newton import GENERALIZED, fresh_scales
from ..numbers import NewtonNumbers
from ..verdicts import OVERSHOT, SINGULAR
from .state import EM, EULER, GGLState

EQUATIONS, SCALES, SOLVE, FINISH, BLOCKS = range(5)  # what is asked of these bodies
STEP = 1e-6  # of the differences in Newton's matrix
UNKNOWNS, RESIDUAL, PLUS, MINUS, RIGHT, HEAVY, CURVED = range(7)  # rows of scratch


@entry(Tables, Work, GGLState, NewtonNumbers, integer, when=has_generalized)
def own_bodies(s, w, x, p, request):
    """What is asked of all of them; s are tables that show them."""
    if request == SCALES:
        w.time[0] = p.time + x.shift * p.step
        fresh_scales(s, w, x.q, x.v, x.y, x.lam, p.step * p.step, p)
        p.scales[GENERALIZED] = max(p.scales[GENERALIZED], round_off_of_momenta(s, w, x.q, x.dq) / p.tolerance)
        return
    x.own_squares_1, x.own_squares_2 = 0.0, 0.0
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if has_frame(n):
            continue
        if request == EQUATIONS:
            _rows(s, w, x, p, n)
        elif request == BLOCKS:
            _unit_blocks(w, x, i, n.nv + n.nl)
        elif request == FINISH:
            _finish(s, w, x, p, n)
        elif not _solve(s, w, x, p, n):
            return
    if request == SOLVE:
        if x.rigid != 0:
            clear_points(s, tables_at(x.bodies[0]), w.x)
        if measure_own(s, p, x):
            _apply(x)


@kernel
def _unknowns(x, n, y):
    """y = (u, lambda', dq, gamma') of a body."""
    m, rows = n.nv, n.nl
    for k in range(m):
        y[k] = x.u[n.v0 + k]
        y[m + rows + k] = x.dq[n.v0 + k]
    for k in range(rows):
        y[m + k] = x.lams[n.l0 + k]
        y[2 * m + rows + k] = x.gams[n.l0 + k]


@kernel
def _moved(q, dq, c, m, out):
    """out = q + c dq."""
    for k in range(m):
        out[k] = q[k] + c * dq[k]


@kernel
def _residual(s, w, x, p, n, y, r):
    """r = both blocks of equations for the unknowns y of a body, each dynamic rows and constraints."""
    f, c, b, m, half = s.functions, s.constants, w.buffers, n.nv, n.nv + n.nl
    q0, y0 = x.q[n.q0 :], x.y0[n.v0 :]
    u, lam, dq, gam = y, y[m:], y[half:], y[half + m :]
    first, second = r, r[half:]
    heavy, point, load = x.own_rows[HEAVY], b[6], b[7]
    if x.scheme == EM:
        _discrete_forces(s, w, x, p, n, u, lam, dq, load)
    else:
        own_instant(s, w, x, p, n, u, dq, load)
        for k in range(m):
            load[k] *= x.force
        _moved(q0, dq, x.d_gradient, m, point)
        add_reactions(n, point, lam, x.gradient, f, w.user, load)
    for k in range(m):
        b[2][k] = dq[k] - x.follows * u[k] - (1.0 - x.follows) * y0[k]
    generalized_momentum(n, q0, b[2], second, 1.0, f, c, w.user, b[1])
    for k in range(m):
        b[2][k] = u[k] - y0[k]
        second[k] += x.explicit * load[k]
    generalized_momentum(n, q0, b[2], heavy, 1.0, f, c, w.user, b[1])
    for k in range(m):
        first[k] = (heavy[k] if x.scheme != EM else 0.0) + load[k]  # momentum_balance contains it
    if x.scheme == EULER:  # w = y0 - M^-1 load
        inverse_times(n, q0, load, f, c, w.user, b[1], b[2])
        for k in range(m):
            point[k] = q0[k] + y0[k] - b[2][k]
    else:
        _moved(q0, dq, x.theta, m, point)
    add_reactions(n, point, gam, -1.0, f, w.user, second)
    _add_curvature(s, w, x, n, point, u, gam, dq, x.curvature, first)
    if x.scheme != EULER:
        _moved(q0, dq, x.d_rate, m, point)
    if n.nl > 0:
        generalized_rate(n, point, u, 0.0, f, w.user, first[m:])
    _moved(q0, dq, x.d_value, m, point)
    constraint_values(n, point, f, w.user, second[m:])


@kernel
def own_instant(s, w, x, p, n, u, dq, out):
    """out = V' - f where in the step the method takes them."""
    m, q0 = n.nv, x.q[n.q0 :]
    point, rate = w.buffers[2], w.buffers[3]
    _moved(q0, dq, 0.0 if x.scheme == EULER else x.theta, m, point)
    for k in range(m):
        rate[k] = x.mean_u * u[k] + x.mean_y * x.y0[n.v0 + k]
    own_forces(s, w, n, p.time + x.shift * p.step, point, rate, out)


@kernel
def _discrete_forces(s, w, x, p, n, u, lam, dq, out):
    """GGLEM: out = M (u - y0) + h^2 D(V + lambda.g) - h^2 f."""
    f, c, b, m, h = s.functions, s.constants, w.buffers, n.nv, p.step
    q0, y0 = x.q[n.q0 :], x.y0[n.v0 :]
    p0, p1, multipliers = b[2], b[3], b[5]
    generalized_momentum(n, q0, y0, p0, 1.0 / h, f, c, w.user, b[1])
    generalized_momentum(n, q0, u, p1, 1.0 / h, f, c, w.user, b[1])
    for k in range(n.nl):
        multipliers[k] = lam[k] / (h * h)
    momentum_balance(
        n, LIVENS, p.time + 0.5 * h, q0, dq, y0, u, p0, p1, multipliers, h, f, c, w.user, b, out
    )  # fmt: skip
    for k in range(m):
        out[k] *= h * h


@kernel
def _add_curvature(s, w, x, n, point, u, gam, dq, c, out):
    """out += c H[gamma'] times the velocity of the method, or (GGLEM) its discrete derivative."""
    f, b, m, y0, curved = s.functions, w.buffers, n.nv, x.y0[n.v0 :], x.own_rows[CURVED]
    if c == 0.0 or n.nl == 0:
        return
    mean, change, q0 = b[2], b[3], x.q[n.q0 :]
    for k in range(m):
        mean[k] = x.d_curvature * u[k] + (1.0 - x.d_curvature) * y0[k]
        curved[k] = 0.0
    add_reaction_change(n, point, mean, gam, 1.0, f, w.user, b[4], curved)
    if x.scheme == EM:
        end = b[4]
        first, last, middle = 0.0, 0.0, 0.0
        generalized_rate(n, q0, y0, 0.0, f, w.user, b[5])
        for j in range(n.nl):
            first += gam[j] * b[5][j]
        _moved(q0, dq, 1.0, m, end)
        generalized_rate(n, end, u, 0.0, f, w.user, b[5])
        for j in range(n.nl):
            last += gam[j] * b[5][j]
        for k in range(m):
            change[k] = u[k] - y0[k]
        generalized_rate(n, point, change, 0.0, f, w.user, b[5])
        for j in range(n.nl):
            middle += gam[j] * b[5][j]
        a = correction(first, last - middle, curved, dq, m)
        for k in range(m):
            curved[k] += a * dq[k]
    for k in range(m):
        out[k] += c * curved[k]


@kernel
def _rows(s, w, x, p, n):
    """Residuals of a body, with their sizes."""
    y, r, nv = x.own_rows[UNKNOWNS], x.own_rows[RESIDUAL], x.v.shape[0]
    _unknowns(x, n, y)
    _residual(s, w, x, p, n, y, r)
    size = n.nv + n.nl
    for k in range(n.nv):
        x.r1[n.v0 + k], x.r2[n.v0 + k] = r[k], r[size + k]
        x.own_squares_1 += r[k] * r[k]
        x.own_squares_2 += r[size + k] * r[size + k]
    for j in range(n.nl):
        a, b, k = r[n.nv + j], r[size + n.nv + j], n.l0 + j
        x.r1[nv + k], x.r2[nv + k] = a, b
        largest = max(abs(a), abs(b))
        if not largest < 1e300:
            largest = 1e300
        if s.lclass[k] == 0:
            x.largest_length = max(x.largest_length, largest)
        else:
            x.largest_direction = max(x.largest_direction, largest)


@kernel
def _solve(s, w, x, p, n):
    """Newton's correction of a body into x.own_u and x.own_y; whether there is one."""
    y, plus, minus, right = x.own_rows[UNKNOWNS], x.own_rows[PLUS], x.own_rows[MINUS], x.own_rows[RIGHT]
    size, nv, a = n.ld, x.v.shape[0], x.own_matrix
    half = n.nv + n.nl
    _unknowns(x, n, y)
    for j in range(size):
        value = y[j]
        linear = j % half >= n.nv  # of multipliers, whatever their size is
        d = 1.0 if linear else STEP * max(1.0, abs(x.q[n.q0 + j % half]))
        y[j] = value + d
        _residual(s, w, x, p, n, y, plus)
        y[j] = value - d
        _residual(s, w, x, p, n, y, minus)
        y[j] = value
        for k in range(size):
            a[k * size + j] = (plus[k] - minus[k]) / (2.0 * d)
    regularise_own(s, n, n.nv, a)
    regularise_own(s, n, half + n.nv, a)
    for k in range(n.nv):
        right[k], right[half + k] = -x.r1[n.v0 + k], -x.r2[n.v0 + k]
    for k in range(n.nl):
        right[n.nv + k], right[half + n.nv + k] = -x.r1[nv + n.l0 + k], -x.r2[nv + n.l0 + k]
    if not solve_own(n, p, a, right):
        return False
    move_own_rows(n, nv, right, x.r1, x.own_u)
    move_own_rows(n, nv, right[half:], x.r2, x.own_y)
    return True


@kernel
def _apply(x):
    """The unknowns with their corrections."""
    nv = x.v.shape[0]
    for k in range(nv):
        x.u[k] += x.own_u[k]
        x.dq[k] += x.own_y[k]
    for k in range(x.lam.shape[0]):
        x.lams[k] += x.own_u[nv + k]
        x.gams[k] += x.own_y[nv + k]


@kernel
def _finish(s, w, x, p, n):
    """Theta methods: y = u - M^-1 (what acts at the end of the step)."""
    f, b, m = s.functions, w.buffers, n.nv
    q0, u, dq, load, point = x.q[n.q0 :], x.u[n.v0 :], x.dq[n.v0 :], b[7], b[6]
    own_instant(s, w, x, p, n, u, dq, load)
    for k in range(m):
        load[k] *= x.last_force
    _moved(q0, dq, x.d_value, m, point)  # where position constraints hold
    add_reactions(n, point, x.lams[n.l0 :], x.last_gradient, f, w.user, load)
    _moved(q0, dq, x.theta, m, point)
    _add_curvature(s, w, x, n, point, u, x.gams[n.l0 :], dq, x.last_curvature, load)
    inverse_times(n, q0, load, f, s.constants, w.user, b[1], x.y[n.v0 :])
    for k in range(m):
        x.y[n.v0 + k] = u[k] - x.y[n.v0 + k]


@kernel
def _unit_blocks(w, x, i, size):
    """Identities in the large matrix, where the rows of these bodies have a zero right-hand side."""
    for pair in range(3):
        n = tables_at(x.pairs[4 * pair]).nodes[i]
        for k in range(size):
            w.matrix[n.block + k * n.ld + k] = 1.0


@kernel
def solve_bodies(w, x, p):
    """Corrections of these bodies, whose residuals become zero; whether there are some, and the step goes on."""
    own_bodies(tables_at(x.own[0]), w, x, p, SOLVE)
    return p.verdict != SINGULAR and p.verdict != OVERSHOT
