"""Start values of generalized-alpha."""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...math.arrays import clear
from ...nodes.increments import add_commutator
from ...system.accelerations import accelerations
from ...system.instant import advance, constraint_rates, evaluate_functions, frames, jacobian_times, velocities
from ...system.matrix import factor, solve, tangent
from ...system.tables import Tables, Work
from ..numbers import NewtonNumbers
from .state import AlphaState


@kernel
def start_values(s, w, x, p, t):
    """v_dot_0, lambda_0, a_0 and, for index 3, the velocity that carries the method's stationary defect.

    With a_0 = v_dot_0 alone the multipliers would be first order from the start. The jerk is a central difference of
    index-1 accelerations along the motion.
    """
    h, beta, shift = p.step, x.beta, x.am - x.af
    cq = (1.0 - 6.0 * beta - 3.0 * shift) / 6.0
    nv = x.v.shape[0]
    evaluate_functions(s, w, t)
    accelerations(s, w, x.q, x.v, x.zero, x.vd, x.lam)
    for side in range(2):
        step = h if side == 0 else -h
        for k in range(nv):
            x.dq[k] = step * x.v[k] + 0.5 * step * step * x.vd[k]
            x.vn[k] = x.v[k] + step * x.vd[k]
        advance(s, w, x.q, x.dq, x.qn)
        evaluate_functions(s, w, t + step)
        target = x.vdn if side == 0 else x.y
        accelerations(s, w, x.qn, x.vn, x.zero, target, x.lamn)
    for k in range(nv):
        jerk = (x.vdn[k] - x.y[k]) / (2.0 * h)
        x.a[k] = x.vd[k] + shift * h * jerk
        x.dq[k] = h * h * cq * jerk
    evaluate_functions(s, w, t)
    accelerations(s, w, x.q, x.v, x.zero, x.vd, x.lam)  # leaves the factors at the start
    if x.index_2 == 0 and x.lam.shape[0] > 0:
        add_commutator(s.nodes, x.v, x.vd, h * h / 12.0, x.dq)
        velocities(s, w, x.q, x.dq)
        clear(w.x)
        jacobian_times(s, w, x.q, x.dq, w.x)
        for k in range(s.nonholonomic.shape[0]):
            w.x[s.xl[s.nonholonomic[k]]] = 0.0
        solve(s, w.matrix, w.pivots, w.dinv, w.x)
        for k in range(nv):
            x.v[k] += w.x[s.xv[k]]
    p.history, x.kept, x.led = 0, -1, 0


@entry(Tables, Work, AlphaState, NewtonNumbers)
def start(s, w, x, p):
    """Start values at the origin of the run, or where it begins anew."""
    start_values(s, w, x, p, p.origin + p.index * p.step)


@entry(Tables, Work, AlphaState, NewtonNumbers)
def act_anew(s, w, x, p):
    """Forces have jumped at the end of the last step: v_dot and lambda jump with them, and a by as much as v_dot.

    They may jump again before a step is made, as after one that failed with a huge input: a stays ahead of v_dot by as
    much as it was before the first jump, of which a sum with huge numbers would have lost the digits.
    """
    if x.led == 0:
        x.led = 1
        for k in range(x.v.shape[0]):
            x.lead[k] = x.a[k] - x.vd[k]
    evaluate_functions(s, w, p.origin + p.index * p.step)
    accelerations(s, w, x.q, x.v, x.zero, x.vdn, x.lam)
    for k in range(x.v.shape[0]):
        x.vd[k] = x.vdn[k]
        x.a[k] = x.vd[k] + x.lead[k]
    p.history, x.kept = 0, -1


@kernel
def drop_defect(s, w, x):
    """Index 3 after a change of charts: project the velocity, whose stationary defect belonged to the old chart."""
    frames(s, w, x.q)
    velocities(s, w, x.q, x.v)
    tangent(s, w, x.q, x.v, x.zero, x.zero, w.eye, 1.0, 0.0, 0.0, w.matrix)
    factor(s, w, w.matrix, w.pivots, w.dinv)
    clear(w.x)
    constraint_rates(s, w, x.q, x.v, w.x)
    for k in range(s.xl.shape[0]):
        w.x[s.xl[k]] = -w.x[s.xl[k]]
    solve(s, w.matrix, w.pivots, w.dinv, w.x)
    for k in range(x.v.shape[0]):
        x.v[k] += w.x[s.xv[k]]
