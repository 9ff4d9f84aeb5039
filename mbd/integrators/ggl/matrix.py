"""Two ways to solve the equations of a GGL step.

*Newton's method* with the large matrix of all unknowns, for small systems and wherever the other one does not do.

*The matrix of rigid bodies* (``rigid_solve``), for large systems: a correction of the velocity and lambda', then one of
the increment and gamma' as if the first were exact. Its factors are kept for several steps, until the iteration is
slow; forces belong to the matrix once new factors alone do not help. What decides is the residual of all equations.
"""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...joints.instant import COINCIDENT, primitive_rate
from ...linalg.front import SMALLEST_RATIO
from ...linalg.numeric import sign_of_determinant
from ...math.arrays import clear, copy
from ...nodes.internal import internal_bilinear
from ...nodes.mass import solve_mass
from ...system.element_forces import constant
from ...system.matrix import factor, solve
from ...system.tables import FLAG_COUPLED, Tables, Work, tables_at
from ..directors.linear_frames import (
    add_constraint_force,
    clear_frames,
    gradient_blocks,
    hessian_blocks,
    mass_blocks,
    subtract_mass,
)
from ..directors.rigid_solve import rigid_blocks, rigid_solve, rigid_tangent
from ..nearest_root import keep_sign
from ..newton import factorised, factors_suffice, measure
from ..numbers import NewtonNumbers
from .couplings import add_coupled_forces, coupled_blocks, moved_rates
from .equations import scaled
from .forces import element_blocks
from .state import EM, EULER, GGLState
from .user_coordinates import BLOCKS, own_bodies, solve_bodies

ENOUGH = 0.3  # of the tolerance, for rigid bodies: Newton's method is well below it after its last correction
TOLD = 1e-10  # pivot ratio: what is left of the equations of redundant joints may have either sign
SLOW = 0.2  # contraction that asks for new factors

_step = entry(Tables, Work, GGLState, NewtonNumbers)


@kernel
def _all_blocks(w, x):
    """Derivative of ``equations`` without that of applied forces; the third block is that of w (EULER)."""
    s11, s12, s13 = tables_at(x.pairs[0]), tables_at(x.pairs[1]), tables_at(x.pairs[2])
    s21, s22, s23 = tables_at(x.pairs[3]), tables_at(x.pairs[4]), tables_at(x.pairs[5])
    s31, s33 = tables_at(x.pairs[6]), tables_at(x.pairs[8])
    m = w.matrix
    clear(m)
    gradient, curvature = x.gradient, x.curvature
    mass_blocks(s11, w, x.q, 1.0, m)
    hessian_blocks(s11, w, x.at_t, x.q, x.gams, curvature * x.d_curvature, m)
    gradient_blocks(s11, w, x.at_l, x.zl, True, 0.0, gradient, m)
    gradient_blocks(s11, w, x.at_v, x.zv, True, 1.0, 0.0, m)
    hessian_blocks(s12, w, x.at_l, x.q, x.lams, gradient * x.d_gradient, m)
    gradient_blocks(s12, w, x.at_t, x.zh, False, 0.0, curvature, m)
    gradient_blocks(s12, w, x.at_v, x.zu, False, x.d_rate, 0.0, m)
    mass_blocks(s22, w, x.q, 1.0, m)
    gradient_blocks(s22, w, x.at_t, x.zt, True, 0.0, -1.0, m)
    gradient_blocks(s22, w, x.at_p, x.zp, True, x.d_value, 0.0, m)
    if x.explicit == 0.0:
        mass_blocks(s21, w, x.q, -x.follows, m)
        hessian_blocks(s22, w, x.at_t, x.q, x.gams, -x.theta, m)
        return
    gradient_blocks(s13, w, x.at_v, x.zu, False, 1.0, 0.0, m)
    mass_blocks(s23, w, x.q, -1.0, m)
    hessian_blocks(s23, w, x.at_t, x.q, x.gams, -1.0, m)
    gradient_blocks(s31, w, x.at_l, x.zl, True, 0.0, 1.0, m)
    mass_blocks(s33, w, x.q, 1.0, m)
    last = s33.diagonal.shape[0] - x.lams.shape[0]
    for k in range(x.lams.shape[0]):
        m[s33.diagonal[last + k]] = 1.0


@_step
def solve_all(s, w, x, p):
    """Corrections of all unknowns, with new factors unless the last ones suffice."""
    first, second = tables_at(x.pairs[0]), tables_at(x.pairs[4])
    if p.iteration == 0 or not factors_suffice(p.error, p.before):
        _all_blocks(w, x)
        element_blocks(s, w, x, p)
        if x.own.shape[0] > 0:
            own_bodies(tables_at(x.own[0]), w, x, p, BLOCKS)
        factor(first, w, w.matrix, w.pivots, w.dinv)
        if not factorised(w, p):
            p.worst = -1 - p.worst
            return
        told = w.report[SMALLEST_RATIO] > TOLD
        keep_sign(p, sign_of_determinant(first.fronts, w.pivots, w.dinv) if told else 0)
    if x.own.shape[0] > 0 and not solve_bodies(w, x, p):
        return
    clear(w.x)
    nv = x.v.shape[0]
    for k in range(nv):
        w.x[first.xv[k]] = -x.r1[k]
        w.x[second.xv[k]] = -x.r2[k]
    for k in range(x.lam.shape[0]):
        w.x[first.xl[k]] = -x.r1[nv + k]
        w.x[second.xl[k]] = -x.r2[nv + k]
    solve(first, w.matrix, w.pivots, w.dinv, w.x)
    if measure(s, second.nodes, p, x.q, x.dq, x.v, w.x, True):
        for k in range(nv):
            x.u[k] += w.x[first.xv[k]]
            x.dq[k] += w.x[second.xv[k]]
        for k in range(x.lam.shape[0]):
            x.lams[k] += w.x[first.xl[k]]
            x.gams[k] += w.x[second.xl[k]]
    if x.own.shape[0] > 0:
        p.moved = max(p.moved, x.own_moved)


@kernel
def _factor_rigid(s, t, w, x, p):
    """Factors for both blocks, a second matrix for the first one if forces belong to it; whether they are good."""
    x.fresh = 1
    p.factored = 0
    rigid_blocks(t, w, x.at_p, x.zt, x.z1, w.matrix)
    coupled_blocks(t, w, x, p.step)
    factor(t, w, w.matrix, w.pivots, w.dinv)
    good = factorised(w, p)
    if good and p.stiff != 0:
        scaled(1.0 / (p.step * p.step), x.lams, x.mu)
        copy(x.at_v, w.values)
        damping = x.damping * (x.follows if x.scheme == EM else 1.0)
        rigid_tangent(s, t, w, x.q, x.zero, x.z1, x.zy, x.mu, damping, x.stiffness * x.follows, w.stiff_matrix)
        factor(t, w, w.stiff_matrix, w.stiff_pivots, w.stiff_dinv)
        good = factorised(w, p)
    if good:
        p.factored = 1
    else:
        p.worst = -1 - p.worst
    return good


@kernel
def _explicit_rows(s, w, x, h):
    """Velocity constraints hold at q + w, and w will change by M^-1 r1 more than u: add D^2 g[u, M^-1 r1] to them."""
    nv = x.v.shape[0]
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        o = 0 if n.nx == 3 else 3
        for m in range(n.nv):
            x.y[n.v0 + m] = x.r1[n.v0 + m]
        solve_mass(n, x.y, x.square)
        for m in range(n.nv):
            x.zy[i, o + m] = x.y[n.v0 + m]
        if n.nl > 0:
            internal_bilinear(n, x.zu[i], x.zy[i], 3, 3, x.y, n.v0)
            for m in range(6):
                x.r1[nv + n.l0 + m] += x.y[n.v0 + m]
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        if p.kind != COINCIDENT:
            a, b = p.a, p.b
            primitive_rate(p, x.zu[a], x.zu[b], x.zy[a], x.zy[b], constant(p, x.at_v), x.y, 0)
            x.r1[nv + p.l0] += x.y[0]
    if s.flags[FLAG_COUPLED] != 0:
        moved_rates(s, w, x, h)


@kernel
def _sweep(s, t, w, x, h, stiff):
    """Corrections of the velocity and lambda' into r1, then of the increment and gamma' into r2.

    Rows of velocity constraints move with the velocity, as their frames do. The increment follows it (EULER: w, which
    follows lambda'), in which the second residual is linear.
    """
    nv, moves = x.v.shape[0], x.moves
    if x.scheme == EULER:
        _explicit_rows(s, w, x, h)
    for i in range(s.nodes.shape[0]):
        for m in range(12):
            x.zr[i, m] = x.zv[i, m] + moves * x.zu[i, m]
    if stiff:
        rigid_solve(
            s, t, w, x.at_l, x.at_v, x.zl, x.zr, w.stiff_matrix, w.stiff_pivots, w.stiff_dinv, x.r1, x.buffer, x.f1
        )
    else:
        rigid_solve(s, t, w, x.at_l, x.at_v, x.zl, x.zr, w.matrix, w.pivots, w.dinv, x.r1, x.buffer, x.f1)
    if x.scheme == EULER:
        add_constraint_force(s, x.at_l, x.zl, x.r1[nv:], w.primitive_rows, x.f1, x.r2)
        if s.flags[FLAG_COUPLED] != 0:
            clear_frames(x.f1)
            add_coupled_forces(s, w, x, h, x.r1[nv:], 1.0, x.f1)
            for i in range(1, s.nodes.shape[0]):
                n = s.nodes[i]
                o = 0 if n.nx == 3 else 3
                for m in range(n.nv):
                    x.r2[n.v0 + m] += x.f1[i, o + m]
    else:
        subtract_mass(s.nodes, x.follows, x.r1, w.scratch, x.r2)
    rows = x.d_value
    for k in range(x.lam.shape[0]):
        x.r2[nv + k] /= rows
    rigid_solve(s, t, w, x.at_t, x.at_p, x.zt, x.z1, w.matrix, w.pivots, w.dinv, x.r2, x.buffer, x.f1)


@_step
def solve_rigid(s, w, x, p):
    """Corrections with the matrix of rigid bodies, factored anew where the iteration is slow."""
    t = tables_at(x.bodies[0])
    error, stiffness = p.error, x.stiffness * x.follows
    slow = error > max(1.0, SLOW * p.before) and (p.iteration == 1 or error > SLOW * SLOW * p.earlier)
    if slow and x.fresh != 0 and p.stiff == 0 and stiffness != 0.0:
        p.stiff = 1
    if (p.factored == 0 or slow) and not _factor_rigid(s, t, w, x, p):
        return
    if x.own.shape[0] > 0 and not solve_bodies(w, x, p):
        return
    _sweep(s, t, w, x, p.step, p.stiff != 0)
    if measure(s, s.nodes, p, x.q, x.dq, x.v, x.r2, False):
        nv, columns = x.v.shape[0], 1.0 / x.gradient
        for k in range(nv):
            x.u[k] += x.r1[k]
            x.dq[k] += x.r2[k]
        for k in range(x.lam.shape[0]):
            x.lams[k] += columns * x.r1[nv + k]
            x.gams[k] -= x.r2[nv + k]
    if x.own.shape[0] > 0:
        p.moved = max(p.moved, x.own_moved)
