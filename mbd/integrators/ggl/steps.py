"""GGL integrators, as the time loop asks for them."""

from __future__ import annotations

import math

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...math.arrays import copy
from ...nodes.frames import update_frames
from ...system.accelerations import accelerations
from ...system.instant import evaluate_functions, remember_angles
from ...system.tables import Tables, Work, tables_at
from .. import loop
from ..directors.linear_frames import copy_frames
from ..newton import FORCE, GENERALIZED, TORQUE, constraint_tolerances, force_error, fresh_scales, position_error
from ..numbers import RENEW, NewtonNumbers
from ..past import forget_stages, next_stage
from ..verdicts import SINGULAR
from .equations import configure, equations, finish, scaled
from .forces import element_forces
from .guess import AT_REST, choose_guess, nearest_guess, remember_step, take_guess
from .matrix import solve_all, solve_rigid
from .state import THETA, GGLState
from .user_coordinates import EQUATIONS, FINISH, SCALES, own_bodies

FEW = 2  # corrections with factors of an earlier step; after more of them the next step has new ones

_step = entry(Tables, Work, GGLState, NewtonNumbers)


@_step
def start(s, w, x, p):
    """Accelerations and multipliers of the start; s and w are those of the system itself."""
    evaluate_functions(s, w, p.origin + p.index * p.step)
    accelerations(s, w, x.q, x.v, x.zero, x.vd, x.lam)
    remember_angles(s, w, x.q, x.v)


@_step
def load(s, w, x, p):
    """Frames of the state."""
    update_frames(s.nodes, x.q, x.z0, w.spin)


@_step
def restart(s, w, x, p):
    """Coefficients of GGLEM for the new step; factors that contain the stiffness are those of another one."""
    h = p.step
    x.force, x.damping, x.stiffness = h * h, h, 0.5 * h * h
    if p.history == RENEW:
        forget_stages(x)
    if p.stiff != 0:
        p.factored = 0


@_step
def begin(s, w, x, p):
    """Functions of time at the start, where forces are evaluated, and at the end of the step."""
    t, h = p.time, p.step
    x.begins = t
    evaluate_functions(s, w, t)
    copy(w.values, x.at_start)
    evaluate_functions(s, w, t + x.shift * h)
    copy(w.values, x.at_force)
    evaluate_functions(s, w, t + h)
    copy(w.values, x.at_end)


@kernel
def _judge_factors(x, p):
    """After a solution: factors of an earlier step that took many corrections have served their time."""
    if p.iteration > FEW and x.fresh == 0 and p.error <= p.enough:
        p.factored = 0


@_step
def predict(s, w, x, p):
    """The first guess of an attempt; watched in the first step only, because later ones know which guess is near."""
    if p.attempt > 0:
        _judge_factors(x, p)
    p.guess = choose_guess(x, p)
    if p.guess >= 0:
        p.watched = 1 if p.attempt == 0 and p.guess != AT_REST and p.history == 0 else 0
        x.fresh = 0
        take_guess(x, p)


@kernel
def _square(squares, scale):
    return (math.sqrt(squares) / scale) ** 2


@kernel
def _error(s, x, p):
    """Residual relative to the tolerance (<= 1: converged); norms as those of ``newton``."""
    c0, c1 = 1.0 / p.scales[FORCE], 1.0 / p.scales[TORQUE]
    first = c0 * c0 * x.force_squares_1 + c1 * c1 * x.torque_squares_1
    second = c0 * c0 * x.force_squares_2 + c1 * c1 * x.torque_squares_2
    if x.own.shape[0] > 0:  # the only bodies, perhaps: scales of others may be so small that their squares vanish
        a, b, c = p.scales[FORCE], p.scales[TORQUE], p.scales[GENERALIZED]
        first = _square(x.force_squares_1, a) + _square(x.torque_squares_1, b) + _square(x.own_squares_1, c)
        second = _square(x.force_squares_2, a) + _square(x.torque_squares_2, b) + _square(x.own_squares_2, c)
    error = math.sqrt(max(first, second) / x.v.shape[0]) / p.tolerance
    total = first + second
    if x.lam.shape[0] > 0:
        a, b = constraint_tolerances(s, p)
        error = max(error, x.largest_length / a, x.largest_direction / b)
        total += x.largest_length + x.largest_direction
    return error if total < 1e300 else 1e300  # a comparison may lose what is not a number, a sum does not


@_step
def residual(s, w, x, p):
    """Equations of the step, and their error."""
    h = p.step
    configure(s, x)
    element_forces(s, w, x, p)
    equations(s, w, x, h)
    if x.own.shape[0] > 0:
        own_bodies(tables_at(x.own[0]), w, x, p, EQUATIONS)
    if p.iteration == 0:
        for k in range(x.v.shape[0]):
            x.y[k] = 2.0 * (x.dq[k] / h - x.v[k]) / h
        if x.own.shape[0] > 0:
            own_bodies(tables_at(x.own[0]), w, x, p, SCALES)
        else:
            fresh_scales(s, w, x.q, x.v, x.y, x.lam, h * h, p)
    p.error = _error(s, x, p)


@_step
def accept(s, w, x, p):
    """Make the new values the state; what belongs to the middle of a step is carried to its end."""
    h = p.step
    _judge_factors(x, p)
    p.nearest = nearest_guess(x, p)
    if x.scheme == THETA:
        finish(s, w, x, h)
        if x.own.shape[0] > 0:
            own_bodies(tables_at(x.own[0]), w, x, p, FINISH)
    else:
        copy(x.u, x.y)
    remember_step(x, p)
    c0, c1 = (1.5, -0.5) if x.shift == 0.5 and p.history != 0 else (1.0, 0.0)
    for k in range(x.v.shape[0]):
        v = x.y[k] / h
        mean = (v - x.v[k]) / h
        x.vd[k] = c0 * mean + c1 * x.vdm[k]
        x.vdm[k] = mean
        x.v[k] = v
    for k in range(x.lam.shape[0]):
        lam = x.lams[k] / (h * h)
        x.lam[k] = c0 * lam + c1 * x.lamm[k]
        x.lamm[k] = lam
    for k in range(x.q.shape[0]):
        x.q[k] += x.dq[k]
    copy_frames(x.z1, x.z0)
    copy_frames(x.z1, w.z)
    remember_angles(s, w, x.q, x.v)
    scaled(1.0 / h, x.gams, x.shown_gams)
    next_stage(x, p)
    p.history += 1


@_step
def refuse(s, w, x, p):
    """Find the row of the largest residual, for the message."""
    if p.verdict != SINGULAR:
        force_error(s, x.r1, p)
        if x.lam.shape[0] > 0:
            a, b = constraint_tolerances(s, p)
            position_error(s, x.r1, a, b, p)
            position_error(s, x.r2, a, b, p)


_SHARED = {
    loop.LOAD: load,
    loop.BEGIN: begin,
    loop.PREDICT: predict,
    loop.RESIDUAL: residual,
    loop.ACCEPT: accept,
    loop.REFUSE: refuse,
    loop.RESTART: restart,
}
LARGE = {**_SHARED, loop.SOLVE: solve_all}
RIGID = {**_SHARED, loop.SOLVE: solve_rigid}
