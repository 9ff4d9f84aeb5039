"""Generalized-alpha of index 2 with step-size control, compiled: the loop, error estimate, change of the step.

Local errors of positions and velocities, filtered by the iteration matrix S so that stiff parts do not count,

    e_q = h^2 C_q (a_{n+1} - a_n) + h^3/12 [v, v_dot],     e_v = h^3 C_v j_dot,   S^-1 (M e, 0)
    j_n = (a_{n+1} - a_n)/h_n,   j_dot = 2 (j_n - j_{n-1}) / (h_n + h_{n-1})

[e_q: Zienkiewicz & Xie 1991, Earthquake Eng. Struct. Dyn. 20, 871; e_v derived here: e_q alone takes long steps where a
velocity turns and positions hardly move]. A change of the step from h_old to h keeps the second order of all variables
if a_n becomes v_dot_n + (h/h_old) (a_n - v_dot_n).
"""

from __future__ import annotations

import math

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import addresses, integer, matrix, real, vector
from ...compiled.record import Record
from ...math.arrays import copy_frames
from ...nodes.increments import add_commutator
from ...system.accelerations import accelerations
from ...system.instant import advance, dynamics, evaluate_functions, frames
from ...system.matrix import solve
from ...system.tables import Tables, Work
from ..loop import ACCEPT, LOAD, ask, solve_step
from ..newton import ROUND_OFF
from ..numbers import NewtonNumbers
from ..runge_kutta.kernels import write_row
from ..verdicts import CONVERGED, STALLED
from .state import AlphaState

SAFETY, LEAST, MOST = 0.9, 0.3, 2.0  # of the ratio of two steps
KEEP_FROM, KEEP_TO = 0.9, 1.2  # ratios that are not worth a change
SMALLEST_ERROR = 1e-4  # that counts as the error of the last step
SHARE = 1.0 / 64.0  # of the time to the next switching time: the first step behind one, whose e_v is not known
NUDGE = 1e-10  # of a step, by which functions of time are kept on their side of a switching time


class StepControl(Record):
    """Step-size control: parameters, memory, the last call."""

    rtol = real
    atol = real
    smallest = real  # step
    largest = real
    cq = real  # constants of the local errors
    cv = real
    switches = vector  # times at which functions of time jump, in ascending order, ending with infinity
    # memory: survives between calls, part of a restart
    time = real
    next_step = real
    for_step = real  # the step that a, and the differences of the predictor, belong to
    last_step = real
    last_error = real
    known = integer  # whether jerk is that of the last step
    fresh = integer  # whether the state is behind a switching time, and accelerations have to be found anew
    steps = integer
    rejected = integer
    jerk = vector
    # the last call
    rows = integer
    verdict = integer


@kernel
def _rescale(x, c, h):
    """a, and the values one step back of the predictor, for another step."""
    r = h / c.for_step
    if r != 1.0:
        for k in range(x.v.shape[0]):
            x.a[k] = x.vd[k] + r * (x.a[k] - x.vd[k])
            x.vd1[k] = x.vd[k] - r * (x.vd[k] - x.vd1[k])
        for k in range(x.lam.shape[0]):
            x.lam1[k] = x.lam[k] - r * (x.lam[k] - x.lam1[k])
    c.for_step = h


@kernel
def _start_behind_switch(s, w, x, p, c, t, h):
    """v_dot, lambda and a of the motion behind a switching time, with the jerk of a forward difference."""
    shift = x.am - x.af
    evaluate_functions(s, w, t + h)
    for k in range(x.v.shape[0]):
        x.dq[k] = h * x.v[k] + 0.5 * h * h * x.vd[k]
        x.vn[k] = x.v[k] + h * x.vd[k]
    advance(s, w, x.q, x.dq, x.qn)
    accelerations(s, w, x.qn, x.vn, x.zero, x.vdn, x.lamn)
    evaluate_functions(s, w, t + NUDGE * h)
    accelerations(s, w, x.q, x.v, x.zero, x.vd, x.lam)
    for k in range(x.v.shape[0]):
        x.a[k] = x.vd[k] + shift * (x.vdn[k] - x.vd[k])
    frames(s, w, x.q)
    copy_frames(w.z, x.z0)
    p.history, c.known, c.fresh, c.for_step = 0, 0, 0, h


@kernel
def _filtered(s, w, x, e):
    """e := the part of S^-1 (M e, 0) for velocities; after a converged step, in which the residual vanishes.

    It vanishes within the tolerance: e has to be of the size of changes of accelerations, beside which that is small.
    """
    for k in range(e.shape[0]):
        e[k] += x.vdn[k]
    dynamics(s, w, x.qn, x.vn, e, x.lamn, w.x)
    for k in range(s.xl.shape[0]):
        w.x[s.xl[k]] = 0.0
    solve(s, w.matrix, w.pivots, w.dinv, w.x)
    for k in range(e.shape[0]):
        e[k] = w.x[s.xv[k]]


@kernel
def _largest_speeds(s, x):
    """Largest velocities at the end of the step, by class."""
    translation, rotation, other = 0.0, 0.0, 0.0
    for k in range(x.vn.shape[0]):
        if s.vclass[k] == 0:
            translation = max(translation, abs(x.vn[k]))
        elif s.vclass[k] == 1:
            rotation = max(rotation, abs(x.vn[k]))
        else:
            other = max(other, abs(x.vn[k]))
    return translation, rotation, other


@kernel
def _error(s, w, x, c, h):
    """Local error of the converged step relative to what is allowed; x.y and x.dw are used up, c.jerk stays.

    What is filtered is e_q / h^2 and e_v / h.
    """
    am, af, nv = x.am, x.af, x.v.shape[0]
    for k in range(nv):
        x.dw[k] = ((1.0 - af) * x.vdn[k] + af * x.vd[k] - am * x.a[k]) / (1.0 - am) - x.a[k]  # a_{n+1} - a_n
        x.y[k] = c.cq * x.dw[k]
    add_commutator(s.nodes, x.vn, x.vdn, h / 12.0, x.y)
    _filtered(s, w, x, x.y)
    total = 0.0
    for k in range(nv):
        m = s.qv[k]
        size = 1.0 if m < 0 else max(abs(x.q[m]), abs(x.qn[m]))
        e = h * h * x.y[k] / (c.atol + c.rtol * size)
        total += e * e
    if c.known != 0:
        f = 2.0 * h * c.cv / (h + c.last_step)
        for k in range(nv):
            x.y[k] = f * (x.dw[k] - h * c.jerk[k])
        _filtered(s, w, x, x.y)
        speeds, velocities = _largest_speeds(s, x), 0.0
        for k in range(nv):
            e = h * x.y[k] / (c.atol + c.rtol * speeds[s.vclass[k]])
            velocities += e * e
        total = max(total, velocities)
    return math.sqrt(total / max(nv, 1))


@kernel
def _end(t, h, t_end, switch, output):
    """Where a step that wants to be h long ends: not beyond t_end, a switching time or a record, and no sliver."""
    tiny = 1e-12 * max(abs(t), h)
    stop = min(t_end, switch)
    if output != 0.0:
        width = abs(output)
        grid = width * (math.floor(t / width + 1e-9) + 1.0)
        if grid <= t + tiny:  # t is a multiple as far as its digits tell
            grid += width
        if grid < stop - 1e-9 * width:
            stop = grid
    end = t + h
    if end > stop - tiny:
        return stop
    return 0.5 * (t + stop) if end > stop - h else end


@kernel
def _accept(a, x, p, c, h, end, error, wanted):
    """Make the step the state, and choose the next one."""
    for k in range(x.v.shape[0]):
        c.jerk[k] = x.dw[k] / h
    p.index = c.steps
    ask(a, ACCEPT)
    if p.verdict != CONVERGED:
        return
    c.known = 1 if p.history > 0 else 0  # after a change of charts the past lives in another one
    ratio = SAFETY * max(error, 1e-10) ** (-0.7 / 3.0) * c.last_error ** (0.4 / 3.0)
    ratio = min(MOST, max(LEAST, ratio))
    if KEEP_FROM < ratio < KEEP_TO:
        ratio = 1.0
    proposal = ratio * h
    c.next_step = max(proposal, wanted) if h < wanted else proposal  # shortened only to end somewhere
    c.last_error, c.last_step, c.time = max(error, SMALLEST_ERROR), h, end
    c.steps += 1


@entry(
    Tables, Work, AlphaState, NewtonNumbers, StepControl, addresses, real, real, vector, matrix, matrix, matrix, matrix,
    matrix,
)  # fmt: skip
def run_controlled(s, w, x, p, c, a, t_end, output, out_t, out_q, out_v, out_vd, out_l, out_turns):
    """Steps with size control until the output is full or t_end is reached; c.rows records are written.

    ``output`` > 0: only states at multiples of it, where steps end; ``output`` < 0: the same steps, all of them.
    """
    c.rows, c.verdict, switch = 0, CONVERGED, 0
    ask(a, LOAD)
    while c.rows < out_t.shape[0] and c.time < t_end:
        t = c.time
        h = min(c.next_step, c.largest)
        wanted = h
        while c.switches[switch] <= t + 1e-12 * max(abs(t), h):
            switch += 1
        if c.fresh != 0:  # a load may be a pulse that vanishes at both of its switching times
            h = min(h, SHARE * (c.switches[switch] - t))
            wanted = h
        end = _end(t, h, t_end, c.switches[switch], output)
        h = end - t
        if not h > max(c.smallest, ROUND_OFF * abs(t)) * (1.0 - 1e-9) and end < t_end:
            c.verdict = STALLED
            break
        if c.fresh != 0:
            _start_behind_switch(s, w, x, p, c, t, h)
        _rescale(x, c, h)
        at_switch = end == c.switches[switch]
        p.time, p.end, p.step = t, end - (NUDGE * h if at_switch else 0.0), h
        solve_step(a, p)
        if p.verdict != CONVERGED:
            c.rejected += 1
            c.next_step = 0.5 * h
            if c.next_step < c.smallest:
                c.verdict = p.verdict
                break
            continue
        error = _error(s, w, x, c, h)
        if not error <= 1.0:
            c.rejected += 1
            c.next_step = h * (min(SAFETY, max(LEAST, SAFETY * error ** (-1.0 / 3.0))) if error < 1e200 else LEAST)
            continue
        _accept(a, x, p, c, h, end, error, wanted)
        if p.verdict != CONVERGED:
            c.verdict = p.verdict
            break
        if at_switch:
            c.fresh = 1
        writes = output <= 0.0
        if output > 0.0:
            k = math.floor(end / output + 0.5)
            writes = abs(end - k * output) <= 1e-9 * output + 1e-15 * abs(end)
        if writes or end >= t_end:
            out_t[c.rows] = end
            write_row(w, x, c.rows, out_q, out_v, out_vd, out_l, out_turns)
            c.rows += 1
