"""The compiled loops over time steps."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...math.arrays import copy
from ...system.accelerations import accelerations
from ...system.instant import evaluate_functions, frames, velocities
from .flows import JACOBI, free_flow
from .motion import (
    drift,
    gradient_kick,
    kick,
    move_bodies,
    read_state,
    update_forces,
    write_state,
)

STRANG, NYSTROM, EULER = 0, 1, 2
CODE_EQUATIONS, CODE_CHART, CODE_NOT_FINITE = 1, 2, 3


@kernel
def begin(s, w, q, v, b):
    """Take over a state of the system."""
    frames(s, w, q)
    velocities(s, w, q, v)
    read_state(s, w, q, b)
    for i in range(b.table.shape[0]):
        copy(b.y0[i], b.y[i])
        copy(b.e0[i], b.e[i])
        copy(b.x0[i], b.x[i])
        copy(b.u0[i], b.u[i])


@kernel
def _observe(s, w, b, x):
    """Write the state, its accelerations and multipliers as vectors of the system; returns an error code."""
    bad = write_state(s, w, b, x)
    if bad != 0:
        b.info[1] = bad
        return CODE_CHART
    accelerations(s, w, x.q, x.v, b.zero, x.vd, x.lam)
    finite = 0.0
    for k in range(x.v.shape[0]):
        finite += x.v[k] * 0.0
    return 0 if finite == 0.0 else CODE_NOT_FINITE


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
                    if free_flow(method, c, b.series[i], h, y, e, yc, ec, b.scratch) != 0:
                        return c.node
        if c.held == 0:
            for k in range(3):
                b.x[i, k] = b.x0[i, k] + t * (b.u0[i, k] + 0.5 * t * gravity[k])
                b.u[i, k] = b.u0[i, k] + t * gravity[k]
    return 0


@kernel
def run_free(s, w, b, x, method, origin, first, h, count, every, out_q, out_v, out_vd, out_l, out_turns):
    """Advance free bodies by ``count`` steps; rows are written every ``every`` steps; returns the steps done."""
    row, done, code = 0, 0, 0
    while done < count:
        steps = min(count - done, every - (first + done) % every)
        bad = free_steps(b, s.gravity, method, h, steps, (first + done + steps) * h)
        if bad != 0:
            b.info[0], b.info[1] = CODE_EQUATIONS, bad
            return done
        done += steps
        if (first + done) % every == 0 or done == count:
            code = _observe(s, w, b, x)
            if code != 0:
                b.info[0] = code
                return done - steps
        if (first + done) % every == 0:
            _write(x, row, out_q, out_v, out_vd, out_l, out_turns)
            row += 1
    return count


@kernel
def _forces(s, w, b, t):
    evaluate_functions(s, w, t)
    move_bodies(w, b)
    update_forces(s, w, b)


@kernel
def split_step(s, w, b, method, scheme, t, h):
    """One step of a splitting into free motion and kicks; forces at its end are left for the next one.

    Functions of time are those at the times which the free motion has reached, so that time-dependent forces keep the
    order.
    """
    if scheme == STRANG:  # [Vilmart 2013, (16)]
        kick(b, 0.5 * h)
        bad = drift(b, method, h)
        _forces(s, w, b, t + h)
        kick(b, 0.5 * h)
    elif scheme == NYSTROM:  # [Vilmart 2013, Nystrom splitting of order 4, with the flow of V corrected]
        kick(b, h / 6.0)
        bad = drift(b, method, 0.5 * h)
        if bad != 0:
            return bad
        _forces(s, w, b, t + 0.5 * h)
        kick(b, 2.0 * h / 3.0)
        gradient_kick(s, w, b, h * h * h / 36.0)
        bad = drift(b, method, 0.5 * h)
        _forces(s, w, b, t + h)
        kick(b, h / 6.0)
    else:  # [Bobenko & Suris 1999, (1.17)]
        kick(b, h)
        bad = drift(b, method, h)
        _forces(s, w, b, t + h)
    return bad


@kernel
def run_split(s, lie, w, b, x, method, scheme, origin, first, h, count, every, out_q, out_v, out_vd, out_l, out_turns):
    """Advance bodies under forces; ``lie`` are the same tables as ``s`` with Lie nodes."""
    row = 0
    _forces(lie, w, b, origin + first * h)
    for step in range(count):
        t = origin + (first + step) * h
        bad = split_step(lie, w, b, method, scheme, t, h)
        if bad != 0:
            b.info[0], b.info[1] = CODE_EQUATIONS, bad
            return step
        if (first + step + 1) % every == 0 or step + 1 == count:
            code = _observe(s, w, b, x)
            if code != 0:
                b.info[0] = code
                return step
        if (first + step + 1) % every == 0:
            _write(x, row, out_q, out_v, out_vd, out_l, out_turns)
            row += 1
    return count
