"""Energy-momentum schemes on frames, as the time loop asks for them.

The unknowns are the increments dq, from which the end of the step follows, and the multipliers; equations and matrix
are in ``equations``. First guesses are extrapolated from the middles of the last two steps, those of a composition from
stages of the same length (``past``). What is left of Newton's
error adds up over many steps, so that a residual just below the tolerance gets one more correction (``POLISHED``). Such
a correction is not checked, nor is one of analytic equations that is sure to end below the tolerance.
"""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...math.arrays import copy
from ...nodes.frames import has_axes, has_frame
from ...nodes.increments import apply_cayley
from ...system.accelerations import accelerations
from ...system.instant import evaluate_functions, frames, remember_angles
from ...system.matrix import factor_with, finish, solve
from ...system.tables import PARAMETER_LENGTH, Tables, Work
from .. import loop
from ..nearest_root import AS_BEFORE, EXTRAPOLATED, UNIFORM, plainer_guess
from ..newton import (
    ACCELERATION,
    ANGULAR,
    FORCE,
    ROUND_OFF,
    TORQUE,
    equation_error,
    equation_scales,
    factorised,
    factors_suffice,
    keep_smaller,
    measure,
    will_converge,
)
from ..numbers import RENEW, NewtonNumbers
from ..past import extrapolate, forget_stages, has_past, next_stage, remembered_row
from .equations import frame_forces, frame_matrix, frame_residual, move
from .node_steps import ACCEPT, CORRECT, GUESS, START, ask_nodes
from .state import FrameState

POLISHED = 0.1  # multiple of the tolerance above which a converged step gets a last correction ...
POLISHED_ROUGH = 0.01  # ... and in rough motion, with more iterations, where forces and with them tolerances are large

_step = entry(Tables, Work, FrameState, NewtonNumbers)


@_step
def start(s, w, x, p):
    """Accelerations, multipliers and momenta of the start, for the first guess and as output."""
    evaluate_functions(s, w, p.origin + p.index * p.step)
    accelerations(s, w, x.q, x.v, x.zero, x.vd, x.lam)
    remember_angles(s, w, x.q, x.v)
    ask_nodes(s, w, x, START, p.step)


@kernel
def _begin_frames(s, w, x):
    """Frames at the start of a step, always from the coordinates, so that a restart finds the same."""
    frames(s, w, x.q)
    for i in range(s.nodes.shape[0]):
        copy(w.z[i], x.z0[i])


@_step
def load(s, w, x, p):
    """Frames of the state."""
    _begin_frames(s, w, x)


@_step
def begin(s, w, x, p):
    """Functions of time in the middle and at the end of the step."""
    evaluate_functions(s, w, p.time + 0.5 * p.step)
    copy(w.values, x.mid)
    evaluate_functions(s, w, p.time + p.step)


@_step
def predict(s, w, x, p):
    """First guess: accelerations and multipliers extrapolated to the middle of the step; uniform motion; no motion."""
    h, guess = p.step, plainer_guess(p)
    p.guess = guess
    if guess < 0:
        return
    later, extrapolated = p.history > 0, guess == EXTRAPOLATED or guess == AS_BEFORE
    stages = extrapolated and p.parts > 0 and has_past(x, p)
    nodes, dq, v, vd, vdm = s.nodes, x.dq, x.v, x.vd, x.vdm
    lam, lamm, lamn = x.lam, x.lamm, x.lamn
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        if later and extrapolated and not has_frame(n):
            continue  # the increment of the last step
        for k in range(n.v0, n.v0 + n.nv):
            middle = 2.0 * vd[k] - vdm[k] if later else vd[k]
            if extrapolated and not stages:
                dq[k] = h * (v[k] + 0.5 * h * middle)
            else:
                dq[k] = h * v[k] if guess == UNIFORM or stages else 0.0
    for k in range(lam.shape[0]):
        lamn[k] = 0.0 if stages else 2.0 * lam[k] - lamm[k] if later and extrapolated else lam[k]
    if later and extrapolated:
        ask_nodes(s, w, x, GUESS, h)
    if stages:
        extrapolate(x, p, x.past_d, dq)
        extrapolate(x, p, x.past_l, lamn)
    for k in range(x.unreduced.shape[0] // 2):
        x.raten[k] = 2.0 * x.dq[k] / h - x.v[k]
        x.pn[k] = x.p[k]


@kernel
def _admit_round_off(nodes, v, scales, c):
    """Scales at least such that the tolerance (c = tolerance h) is above the round-off of 2 (m dq/h - m v)/h."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        for k in range(n.nx):
            scales[FORCE] = max(scales[FORCE], ROUND_OFF * n.mass * abs(v[n.v0 + k]) / c)
        inertia = max(n.j11, n.j22, n.j33)
        for k in range(n.nx, n.nv):
            scales[TORQUE] = max(scales[TORQUE], ROUND_OFF * inertia * abs(v[n.v0 + k]) / c)


@kernel
def _new_scales(s, w, x, p):
    """Scales of the equations in a new iteration; after an attempt that overshot the smaller ones of both."""
    h, scales, v, dq, vn, vdn = p.step, p.scales, x.v, x.dq, x.vn, x.vdn
    c = 2.0 / h
    for k in range(v.shape[0]):
        mean = 0.5 * c * dq[k]
        vn[k] = mean
        vdn[k] = c * (mean - v[k])
    before = (scales[0], scales[1], scales[2], scales[3], scales[4])
    equation_scales(s, w, x.qn, vn, vdn, x.lamn, 1.0 / (h * h), scales)
    _admit_round_off(s.nodes, vn, scales, p.tolerance * abs(h))
    if p.again != 0:
        keep_smaller(scales, before)


@kernel
def _unreduced_error(s, w, x, p):
    """Residual of velocities and momenta that are unknowns, relative to the tolerance."""
    h, tolerance, scales = abs(p.step), p.tolerance, p.scales
    n = x.v.shape[0]
    error = 0.0
    for k in range(n):
        kind = s.vclass[k]
        a = tolerance * h * h * scales[ANGULAR if kind == 1 else ACCELERATION]
        a = max(a, ROUND_OFF * (1.0 if kind == 1 else s.parameters[PARAMETER_LENGTH]))
        error = max(error, abs(w.x[x.unreduced[k]]) / a, abs(w.x[x.unreduced[n + k]]) / (tolerance * h * scales[kind]))
    return error


@_step
def residual(s, w, x, p):
    """Equations at the iterate, and their error; none if the last correction has been applied."""
    h, solved = p.step, p.last != 0
    move(s, w, x)
    if not solved or x.unit.shape[0] > 0:  # multipliers that are no unknowns follow from these forces
        frame_forces(s, w, x, h)
    if solved:
        p.error = 0.0
        return
    frame_residual(s, w, x, h)
    if p.iteration == 0:
        _new_scales(s, w, x, p)
    error = equation_error(s, w.x, x.lam.shape[0], p)
    if x.unreduced.shape[0] > 0:
        error = max(error, _unreduced_error(s, w, x, p))
    p.error = error


@kernel
def _scale_rows(s, w, x, h):
    """The right-hand side of the Newton equations from the residual."""
    ck = 0.5 * h * h
    nodes, y, xl, unreduced = s.nodes, w.x, s.xl, x.unreduced  # once: a store could change where they are
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        for k in range(n.x0, n.x0 + n.nv):
            y[k] *= -ck
    for k in range(xl.shape[0]):
        y[xl[k]] = -y[xl[k]]
    for k in range(unreduced.shape[0]):
        y[unreduced[k]] = -y[unreduced[k]]


@_step
def solve_equations(s, w, x, p):
    """The correction, with new factors unless the last ones suffice; whether it is the last one."""
    _scale_rows(s, w, x, p.step)
    if p.last == 0 and (p.iteration == 0 or not factors_suffice(p.error, p.before)):
        frame_matrix(s, w, x, p.step)
        factor_with(s, w, w.matrix, w.pivots, w.dinv, w.x)
        if not factorised(w, p):
            return
        finish(s, w.matrix, w.pivots, w.dinv, w.x)
    else:
        solve(s, w.matrix, w.pivots, w.dinv, w.x)
    if x.smooth != 0 and will_converge(p.error, p.before):
        p.last = 1
    if measure(s, s.nodes, p, x.q, x.dq, x.v, w.x, True):
        _correct(s, w, x, p.step)


@kernel
def _correct(s, w, x, h):
    """Apply the correction."""
    nodes, y, xl, lamn = s.nodes, w.x, s.xl, x.lamn
    d = 1.0 / (0.5 * h * h)
    for k in range(xl.shape[0]):
        lamn[k] += d * y[xl[k]]
    apply_cayley(nodes, y, x.dq)
    if x.unreduced.shape[0] > 0:
        ask_nodes(s, w, x, CORRECT, h)


@kernel
def _accept_rates(s, x, first, c0, c1, h):
    """Null-space form: rates of the coordinates and eliminated multipliers, carried to the end of the step."""
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if not has_axes(n):
            for m in range(n.nv):
                x.raten[n.q0 + m] = x.vn[n.v0 + m]
    for k in range(x.rate.shape[0]):
        middle = (x.raten[k] - x.rate[k]) / h
        x.rated[k] = c0 * middle + c1 * (x.rated[k] if first else x.ratedm[k])
        x.ratedm[k] = middle
        x.rate[k] = x.raten[k]
    for k in range(x.unit.shape[0]):
        x.unit[k] = c0 * x.unitn[k] + c1 * (x.unit[k] if first else x.unitm[k])
        x.unitm[k] = x.unitn[k]
    hidden = x.unit.shape[0]
    for k in range(x.order.shape[0]):
        x.shown_lam[x.order[k]] = x.unit[k] if k < hidden else x.lam[k - hidden]
        x.shown_lamm[x.order[k]] = x.unitm[k] if k < hidden else x.lamm[k - hidden]


@kernel
def _remember_stage(x, p):
    """What a stage of a composition adds to uniform motion, and its multipliers."""
    i = remembered_row(x, p)
    for k in range(x.v.shape[0]):
        x.past_d[i, k] = x.dq[k] - p.step * x.v[k]
    copy(x.lamn, x.past_l[i])
    next_stage(x, p)


@_step
def restart(s, w, x, p):
    """A stage of a composition begins with coordinates and velocities, as every step does."""
    if p.history == RENEW:
        forget_stages(x)


@_step
def accept(s, w, x, p):
    """Make the new values the state; accelerations and multipliers of the middle are carried to the end."""
    h = p.step
    if p.parts > 0:
        _remember_stage(x, p)
    ask_nodes(s, w, x, ACCEPT, h)
    first = p.history == 0
    c0, c1 = (2.0, -1.0) if first else (1.5, -0.5)
    d = 1.0 / h
    v, vn, vd, vdm, lam, lamn, lamm = x.v, x.vn, x.vd, x.vdm, x.lam, x.lamn, x.lamm
    for k in range(v.shape[0]):
        middle = d * (vn[k] - v[k])
        vd[k] = c0 * middle + c1 * (vd[k] if first else vdm[k])
        vdm[k] = middle
        v[k] = vn[k]
    for k in range(lam.shape[0]):
        lam[k] = c0 * lamn[k] + c1 * (lam[k] if first else lamm[k])
        lamm[k] = lamn[k]
    if x.rate.shape[0] > 0:
        _accept_rates(s, x, first, c0, c1, h)
    copy(x.qn, x.q)
    _begin_frames(s, w, x)
    remember_angles(s, w, x.q, x.v)
    p.history += 1


ENTRIES = {
    loop.LOAD: load,
    loop.BEGIN: begin,
    loop.PREDICT: predict,
    loop.RESIDUAL: residual,
    loop.SOLVE: solve_equations,
    loop.ACCEPT: accept,
    loop.RESTART: restart,
}
