"""BLieDF as the time loop asks for it: first guess and acceptance; the equations are those of generalized-alpha.

With increments h D of the last steps, the unknown w and the position correction d of index 2, h D_n = dq = w + d,

    q_{n+1} = q_n o exp(dq)
    v_{n+1}  = (gamma_0 w + gamma_1 h D_{n-1} + ...) / h - c,     c = h^2/12 [v, v_dot] for k = 3, otherwise zero
    v_dot_{n+1} = (alpha_0 v_{n+1} + alpha_1 v_n + ...) / h

with the backward differences alpha of order k and gamma_j = alpha_0 + ... + alpha_j [Wieloch & Arnold 2021]. The
commutator c is that of the state extrapolated to the end of the step, so that the iteration does not see it: it makes
up for h D = integral of v + h^3/12 [v, v_dot] + O(h^5), without it k = 3 is of second order (derived and measured
here). Since v and v_dot are linear in w, the equations and their matrix are those of generalized-alpha with
alpha_m = alpha_f = 0, beta = 1 / (alpha_0 gamma_0) and gamma = 1 / alpha_0.
"""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...math.arrays import clear, copy, copy_frames
from ...nodes.increments import add_commutator
from ...system.instant import evaluate_functions, remember_angles
from ...system.instant_elements import check_charts
from ...system.tables import FLAG_CHARTS, FLAG_REDUNDANT, Tables, Work
from .. import loop
from ..alpha.equations import ENTRIES as ALPHA_ENTRIES
from ..alpha.equations import is_refused, least_multipliers
from ..alpha.state import AlphaState
from ..nearest_root import AT_REST, UNIFORM, nearest_guess
from ..numbers import NewtonNumbers
from ..verdicts import CHART

_step = entry(Tables, Work, AlphaState, NewtonNumbers)


@kernel
def alphas(k):
    """Backward differences alpha_0 ... alpha_3 of order k = 2 or 3."""
    if k == 2:
        return 1.5, -2.0, 0.5, 0.0
    return 11.0 / 6.0, -3.0, 1.5, -1.0 / 3.0


@kernel
def commutator(s, k, h, v, vd, e):
    """e = c of order k for velocities and accelerations at the end of a step."""
    clear(e)
    if k > 2:
        add_commutator(s.nodes, v, vd, h * h / 12.0, e)


@_step
def begin_step_of_bdf(s, w, x, p):
    """Functions of time at the end of the step."""
    evaluate_functions(s, w, p.end)


@_step
def predict_bdf(s, w, x, p):
    """First guess of lambda and w, and v, v_dot that follow from it; none where the history has to be made anew."""
    h, guess = p.step, nearest_guess(p)
    if x.begin_anew != 0:
        p.verdict, guess = CHART, -1
    p.guess = guess
    if guess < 0:
        return
    order = x.past_d.shape[0]
    a0, a1, a2, a3 = alphas(order)
    g0, g1, g2 = a0, a0 + a1, a0 + a1 + a2
    for k in range(x.lam.shape[0]):
        x.lamn[k] = 2.0 * x.lam[k] - x.lam1[k]
    for k in range(x.v.shape[0]):
        x.vn[k] = 2.0 * x.v[k] - x.past_v[0, k]
        x.vdn[k] = 2.0 * x.vd[k] - x.vd1[k]
    commutator(s, order, h, x.vn, x.vdn, x.y)
    for k in range(x.v.shape[0]):
        w0 = h * (x.v[k] + h * (0.5 * x.vd[k] + (x.vd[k] - x.vd1[k]) / 6.0))
        if guess == AT_REST or guess == UNIFORM:
            w0 = 0.0 if guess == AT_REST else h * x.v[k]
        past = g1 * x.past_d[0, k] + (g2 * x.past_d[1, k] if order > 2 else 0.0)
        v = (g0 * w0 + past) / h - x.y[k]
        x.dw[k] = w0
        x.dq[k] = w0
        x.vn[k] = v
        x.vdn[k] = (a0 * v + a1 * x.v[k] + a2 * x.past_v[0, k] + a3 * x.past_v[1, k]) / h


@_step
def accept_bdf(s, w, x, p):
    """Make the new values the state and the old ones history; after a change of charts this has to be made anew."""
    x.stabilized = x.index_2
    if is_refused(s, w, x, p):
        return
    if s.flags[FLAG_REDUNDANT] != 0 and x.lam.shape[0] > 0:
        least_multipliers(s, w, x, p, p.step)
    copy(x.qn, x.q)
    for k in range(x.lam.shape[0]):
        x.lam1[k] = x.lam[k]
        x.lam[k] = x.lamn[k]
    for i in range(x.past_d.shape[0] - 1, 0, -1):
        copy(x.past_d[i - 1], x.past_d[i])
        copy(x.past_v[i - 1], x.past_v[i])
    for k in range(x.v.shape[0]):
        x.past_d[0, k] = x.dq[k]
        x.past_v[0, k] = x.v[k]
        x.v[k] = x.vn[k]
        x.vd1[k] = x.vd[k]
        x.vd[k] = x.vdn[k]
    copy_frames(w.z, x.z0)
    p.history += 1
    remember_angles(s, w, x.q, x.v)
    if s.flags[FLAG_CHARTS] != 0:
        check_charts(s, w, x.q, x.q, x.v, x.vd, x.a, 0.0, 1)
        if w.chart != 0.0:
            x.begin_anew = 1


ENTRIES = ALPHA_ENTRIES | {
    loop.BEGIN: begin_step_of_bdf,
    loop.PREDICT: predict_bdf,
    loop.ACCEPT: accept_bdf,
}
