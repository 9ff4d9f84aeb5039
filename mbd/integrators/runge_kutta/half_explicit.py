"""Half-explicit Runge-Kutta stages for constrained systems, compiled: velocities of the stages meet the constraints.

Equations of motion at a stage and velocity constraints at the next one give accelerations and multipliers together,

    [M(Q_i) B(Q_i)^T; B(Q_{i+1}) 0] [W_i; L_i] = [f(Q_i, V_i); -(B(Q_{i+1}) v* + g_t) / (h a_{i+1,i})]
    v* = v_n + h sum_{j<i} a_{i+1,j} W_j,   V_{i+1} = v* + h a_{i+1,i} W_i

[Hairer, Lubich & Roche 1989; Arnold 1998, BIT 38, 415: the first stage is explicit]. Second derivatives of constraints
are not needed within a step. The first stage and the end of a step have the accelerations of the index-1 form, which
are known with the record; Arnold takes the multiplier of the last step from an eighth stage instead. On Lie nodes this
is the classical method in the chart of the increment, as for all methods here.

Columns of the matrix belong to one stage and rows of constraints to the next: the matrix of each stage is evaluated
once, and serves with its rows, then with its columns.
"""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import real
from ...math.arrays import copy
from ...nodes.increments import apply_tangent_inverse
from ...system.accelerations import accelerations_here
from ...system.instant import constraint_rates, dynamics, evaluate_functions, look_ahead, velocities
from ...system.matrix import factor, solve, tangent
from ...system.tables import Tables, Work
from .state import RungeKuttaNumbers, RungeKuttaState

ESTIMATED = 2  # half-explicit stages, and the slope at the end for the estimate of the error


def _is_constrained(s: Tables) -> bool:
    return len(s.xl) > 0


@kernel
def _solve_stage(s, w, x, p, i, step):
    """Acceleration of stage i with the constraints of the next one, whose matrix is w.matrix and whose velocity x.vn.

    x.blocks, the matrix of stage i, makes room for that of the next one.
    """
    for k in range(x.blocks.shape[0]):
        w.matrix[k], x.blocks[k] = x.blocks[k], w.matrix[k]
    for k in range(p.constraint_rows.shape[0]):
        w.matrix[p.constraint_rows[k]] = x.blocks[p.constraint_rows[k]]
    for k in range(s.xv.shape[0]):
        w.x[s.xv[k]] = -x.forces[s.xv[k]]
    for k in range(s.xl.shape[0]):
        w.x[s.xl[k]] = -x.rates[s.xl[k]] / step
    factor(s, w, w.matrix, w.pivots, w.dinv)
    solve(s, w.matrix, w.pivots, w.dinv, w.x)
    for k in range(x.v.shape[0]):
        x.kv[i, k] = w.x[s.xv[k]]
        x.vn[k] += step * x.kv[i, k]


@entry(Tables, Work, RungeKuttaState, RungeKuttaNumbers, real, real, real, when=_is_constrained)
def half_explicit_stages(s, w, x, p, t, h, nudge):
    """Slopes x.kq, x.kv of all stages; the first one is the acceleration of the state, known already."""
    nv, last = x.v.shape[0], p.b.shape[0] - 1
    for k in range(nv):
        x.kq[0, k] = x.v[k]
        x.kv[0, k] = x.vd[k]
    for i in range(1, last + 1):
        known = max(i - 1, 1)  # accelerations, of which that of the last stage lacks but at the beginning
        for k in range(nv):
            dq, dv = 0.0, 0.0
            for j in range(i):
                dq += p.a[i, j] * x.kq[j, k]
            for j in range(known):
                dv += p.a[i, j] * x.kv[j, k]
            x.dq[k] = h * dq
            x.vn[k] = x.v[k] + h * dv
        look_ahead(s, w, x.q, x.dq, x.qn)
        evaluate_functions(s, w, t + min(max(p.c[i], nudge), 1.0 - nudge) * h)
        velocities(s, w, x.qn, x.vn)
        if i > 1:
            constraint_rates(s, w, x.qn, x.vn, x.rates)
        tangent(s, w, x.qn, x.vn, x.zero, x.zero, w.eye, 1.0, 0.0, 0.0, w.matrix)
        if i > 1:
            _solve_stage(s, w, x, p, i - 1, h * p.a[i, i - 1])
            velocities(s, w, x.qn, x.vn)
        else:
            copy(w.matrix, x.blocks)
        apply_tangent_inverse(s.nodes, x.dq, x.vn, x.kq[i], w.rotation)
        p.evaluations += 1
        if i < last:
            dynamics(s, w, x.qn, x.vn, x.zero, x.zero, x.forces)
        elif p.half_explicit == ESTIMATED:
            accelerations_here(s, w, x.qn, x.vn, x.zero, x.kv[i], x.lam)
            p.evaluations += 1
