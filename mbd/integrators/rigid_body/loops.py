"""The compiled loops over time steps."""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import integer, matrix
from ...math.arrays import copy
from ...system.accelerations import accelerations
from ...system.instant import evaluate_functions, frames, velocities
from ...system.tables import Tables, Work
from ..verdicts import CHART, CONVERGED, NOT_CONVERGED, NOT_FINITE
from .flows import JACOBI, free_flow
from .motion import (
    drift,
    gradient_kick,
    kick,
    move_bodies,
    move_velocities,
    read_state,
    update_forces,
    write_state,
)
from .state import Bodies, Vectors

STAGES, NYSTROM = 0, 1

_steps = (Bodies, Vectors, integer, integer, integer, matrix, matrix, matrix, matrix, matrix)


@entry(Tables, Work, Bodies, Vectors)
def begin(s, w, b, x):
    """Take over a state of the system."""
    frames(s, w, x.q)
    velocities(s, w, x.q, x.v)
    read_state(s, w, x.q, b)
    for i in range(b.table.shape[0]):
        copy(b.y0[i], b.y[i])
        copy(b.e0[i], b.e[i])
        copy(b.x0[i], b.x[i])
        copy(b.u0[i], b.u[i])


@kernel
def _observe(s, w, b, x):
    """Write the state, its accelerations and multipliers as vectors of the system; leaves b.verdict."""
    bad = write_state(s, w, b, x)
    if bad != 0:
        b.where, b.verdict = bad, CHART
        return
    accelerations(s, w, x.q, x.v, b.zero, x.vd, x.lam)
    finite = 0.0
    for k in range(x.v.shape[0]):
        finite += x.v[k] * 0.0
    if finite != 0.0:
        b.verdict = NOT_FINITE


@kernel
def _write(x, row, out_q, out_v, out_vd, out_l, out_turns):
    copy(x.q, out_q[row])
    copy(x.v, out_v[row])
    copy(x.vd, out_vd[row])
    copy(x.lam, out_l[row])
    for k in range(out_turns.shape[1]):
        out_turns[row, k] = 0.0


@kernel
def free_steps(b, gravity, method, h, steps, t):
    """All bodies on to the time t since the origin, in ``steps`` steps; one body after the other.

    Translation is exact, and so is Jacobi's solution: both are evaluated from the origin. Returns a node that turns too
    far, or 0.
    """
    for i in range(b.table.shape[0]):
        c = b.table[i]
        y, e, yc, ec = b.y[i], b.e[i], b.yc[i], b.ec[i]
        if c.rotates != 0:
            if method == JACOBI:
                copy(b.y0[i], y)
                copy(b.e0[i], e)
                for k in range(4):
                    ec[k] = 0.0
                if free_flow(method, c, b.series[i], t, y, e, yc, ec, b.scratch) != 0:
                    return c.node
            else:
                for _ in range(steps):
                    for k in range(b.parts):
                        if free_flow(method, c, b.series[i], b.weights[k] * h, y, e, yc, ec, b.scratch) != 0:
                            return c.node
        if c.held == 0:
            for k in range(3):
                b.x[i, k] = b.x0[i, k] + t * (b.u0[i, k] + 0.5 * t * gravity[k])
                b.u[i, k] = b.u0[i, k] + t * gravity[k]
    return 0


@entry(Tables, Work, *_steps)
def run_free(s, w, b, x, first, count, every, out_q, out_v, out_vd, out_l, out_turns):
    """Up to ``count`` steps of free bodies, the first being number ``first`` from the origin; b.done of them are made.

    Every ``every``-th step, counted from the origin, is written to the next row of the output arrays.
    """
    row, done, h = 0, 0, b.step
    b.done, b.verdict, b.where = 0, CONVERGED, 0
    while done < count:
        steps = min(count - done, every - (first + done) % every)
        bad = free_steps(b, s.gravity, b.flow, h, steps, (first + done + steps) * h)
        if bad != 0:
            b.where, b.verdict = bad, NOT_CONVERGED
            return
        done += steps
        if (first + done) % every == 0 or done == count:
            _observe(s, w, b, x)
            if b.verdict != CONVERGED:
                return
        b.done = done
        if (first + done) % every == 0:
            _write(x, row, out_q, out_v, out_vd, out_l, out_turns)
            row += 1


@kernel
def _forces(s, w, b, t, h):
    """Forces at the time t; those that depend on velocities at the time h within the kick that follows.

    With h equal to the kick, a kick is the implicit rule of Euler, adjoint to the explicit one that begins a step;
    with half of it the midpoint rule. The implicit equation is solved by one correction, which keeps the second order.
    """
    evaluate_functions(s, w, t)
    move_bodies(w, b)
    if b.damped != 0:
        move_velocities(w, b, 0.0)
    update_forces(s, w, b)
    if b.damped != 0 and h != 0.0:
        move_velocities(w, b, h)
        update_forces(s, w, b)


@kernel
def _forces_of_the_end(s, w, b):
    """Forces that depend on velocities, of those after the last kick: the next step begins with them."""
    if b.damped != 0:
        move_velocities(w, b, 0.0)
        update_forces(s, w, b)


@kernel
def split_step(s, w, b, t, h):
    """One step of a splitting into free motion and kicks; forces at its end are left for the next one.

    Functions of time are those at the times which the free motion has reached, so that time-dependent forces keep the
    order. Returns a node that turns too far, or 0.
    """
    method = b.flow
    if b.scheme == NYSTROM:  # [Vilmart 2013, Nystrom splitting of order 4, with the flow of V corrected]
        kick(b, h / 6.0)
        bad = drift(b, method, 0.5 * h)
        if bad != 0:
            return bad
        _forces(s, w, b, t + 0.5 * h, h / 3.0)
        kick(b, 2.0 * h / 3.0)
        gradient_kick(s, w, b, h * h * h / 36.0)
        bad = drift(b, method, 0.5 * h)
        _forces(s, w, b, t + h, h / 6.0)
        kick(b, h / 6.0)
        _forces_of_the_end(s, w, b)
        return bad
    first = b.kicks[0] != 0.0
    if first:
        kick(b, b.kicks[0] * h)
    for k in range(b.flows.shape[0]):
        bad = drift(b, method, b.flows[k] * h)
        if bad != 0:
            return bad
        acts = b.kicks[k + 1] != 0.0
        if acts or first:
            _forces(s, w, b, t + b.reached[k] * h, b.kicks[k + 1] * h)
        if acts:
            kick(b, b.kicks[k + 1] * h)
            _forces_of_the_end(s, w, b)
    return 0


@entry(Tables, Tables, Work, *_steps)
def run_split(s, lie, w, b, x, first, count, every, out_q, out_v, out_vd, out_l, out_turns):
    """Steps of bodies under forces, as in ``run_free``; ``lie`` are the same tables as ``s`` with Lie nodes."""
    row, h = 0, b.step
    b.done, b.verdict, b.where = 0, CONVERGED, 0
    _forces(lie, w, b, b.origin + first * h, 0.0)
    for step in range(count):
        t = b.origin + (first + step) * h
        for k in range(b.parts):
            bad = split_step(lie, w, b, t + b.begins[k] * h, b.weights[k] * h)
            if bad != 0:
                b.where, b.verdict = bad, NOT_CONVERGED
                return
        if (first + step + 1) % every == 0 or step + 1 == count:
            if b.scheme != NYSTROM and b.kicks[b.flows.shape[0]] == 0.0:
                evaluate_functions(lie, w, t + h)  # no kick has evaluated them at the end of the step
            _observe(s, w, b, x)
            if b.verdict != CONVERGED:
                return
        b.done = step + 1
        if (first + step + 1) % every == 0:
            _write(x, row, out_q, out_v, out_vd, out_l, out_turns)
            row += 1
