"""The time loop of implicit methods with a fixed step.

A method is a list of entries, functions of (tables, buffers, its own state x, numbers p):

    LOAD      what follows from the state alone: frames of its coordinates
    BEGIN     a step: functions of time
    PREDICT   the first guess of an attempt; p.guess < 0 if there is none left
    RESIDUAL  move to the iterate and evaluate the equations; leaves p.error, relative to the tolerance
    SOLVE     factors where they are needed, the correction, and apply it; leaves p.verdict if that is not possible
    ACCEPT    make the new values the state; may leave p.verdict
    REFUSE    put back what a step that failed has changed; p.retry asks for another try
    RESTART   begin anew from coordinates and velocities, because the step has changed (parts of a composition);
              after a failure (p.history is RENEW) nothing else of the state may be used

REFUSE and RESTART may be left out. Letters are those of docs/conventions.md. The loop knows the records of a method by
their addresses only, so that it is compiled once for all methods.
"""

from __future__ import annotations

from ..compiled.entry import address, entry, through
from ..compiled.kernel import kernel
from ..compiled.kinds import addresses, integer, matrix, vector
from ..compiled.record import Record
from ..math.arrays import copy
from ..system.tables import tables_at
from .nearest_root import is_another, turns_round
from .newton import at_round_off, stalls
from .numbers import NEVER, RENEW, NewtonNumbers
from .verdicts import CONVERGED, GO_ON, NOT_CONVERGED, NOT_FINITE, OTHER_ROOT, OVERSHOT

LOAD, BEGIN, PREDICT, RESIDUAL, SOLVE, ACCEPT, REFUSE, RESTART = range(8)
TABLES, WORK, STATE, NUMBERS = range(8, 12)  # places of the records behind the entries
MOST_ATTEMPTS = 8

_call = through(address, address, address, address)


class Rows(Record):
    """What is recorded of a state: the arrays of the method that hold it."""

    q = vector
    v = vector
    first = vector  # accelerations and multipliers, or what the method records in their place
    second = vector
    turns = vector
    kept_q = vector  # coordinates, velocities and turns before a composed step, in case one of its parts fails
    kept_v = vector
    kept_turns = vector


@kernel
def ask(a, k):
    """Call an entry of the method, if it has it."""
    if a[k] != 0:
        _call(a[k], a[TABLES], a[WORK], a[STATE], a[NUMBERS])


@kernel
def judge(p):
    """What the error of an iterate means: p.verdict, and whether one more correction will be the last."""
    error = p.error
    p.verdict = GO_ON
    if error <= 1.0:
        enough = p.enough_at_once if p.iteration == 0 else (p.enough if p.iteration == 1 else p.enough_later)
        if error <= enough:
            p.verdict = CONVERGED
            return
        if p.trusted != 0:
            p.last = 1
            return
    if not error < 1e200:
        p.verdict = NOT_FINITE
        return
    p.stalled = stalls(p.iteration, error, p.best, p.stalled)
    if at_round_off(p.stalled, error, p.best, p.stagnation, p.moved):
        p.verdict = CONVERGED
        return
    p.best = min(p.best, error)
    if p.iteration >= p.limit:
        p.verdict = CONVERGED if error <= 1.0 else NOT_CONVERGED


@kernel
def newton(a, p):
    """Iterate to convergence, from the first guess on; leaves p.verdict."""
    p.best, p.before, p.earlier, p.moved = NEVER, NEVER, NEVER, NEVER
    p.stalled, p.last, p.sign, p.first_sign = 0, 0, 0, 0
    for iteration in range(p.limit + 2):
        p.iteration = iteration
        ask(a, RESIDUAL)
        judge(p)
        if p.verdict != GO_ON:
            return
        ask(a, SOLVE)
        if p.verdict != GO_ON:
            return
        p.earlier, p.before = p.before, p.error
        if p.phase == 0:
            p.iterations += 1
    p.verdict = NOT_CONVERGED


@kernel
def is_nearest(a, p):
    """Whether the solution that the first guess led to is the nearest one, as far as the method asks for that."""
    frames = p.start_frames
    return frames.shape[0] == 0 or not turns_round(tables_at(a[TABLES]), frames, p.end_frames)


@kernel
def _attempts(a, p):
    """Solve the equations of a phase: of large steps a plainer first guess may be in the basin, or nearer."""
    p.again = 0
    for attempt in range(MOST_ATTEMPTS):
        p.attempt, p.watched = attempt, 0
        ask(a, PREDICT)
        if p.guess < 0:
            return
        newton(a, p)
        if p.verdict == CONVERGED:
            if is_another(p):
                p.verdict = OTHER_ROOT
            elif attempt > 0 or is_nearest(a, p):
                return
            else:
                p.verdict = OVERSHOT
        if p.verdict == OVERSHOT:
            p.again = 1


@kernel
def _solve_step(a, p):
    """New values from the state; leaves p.verdict."""
    for phase in range(p.phases):
        p.phase = phase
        _attempts(a, p)
        if p.verdict != CONVERGED:
            return


@kernel
def solve_step(a, p):
    """New values of the step from p.time to p.end, not yet accepted, for loops that choose the step; p.verdict."""
    p.retry = 0
    ask(a, BEGIN)
    _solve_step(a, p)


@kernel
def _step(a, p):
    """One step, from p.time to p.end; leaves p.verdict."""
    p.retry = 0
    ask(a, BEGIN)
    _solve_step(a, p)
    if p.verdict != CONVERGED:
        ask(a, REFUSE)
        if p.retry != 0:
            _solve_step(a, p)
            if p.verdict != CONVERGED:
                p.retry = 0
                ask(a, REFUSE)
    if p.verdict == CONVERGED:
        ask(a, ACCEPT)


@kernel
def make_step(a, p):
    """One step of the method; leaves p.verdict."""
    p.time = p.origin + p.index * p.step
    p.end = p.origin + (p.index + 1) * p.step
    _step(a, p)


@kernel
def _composed_step(a, p, rows):
    """One step that is a composition of steps of the method; as before, if one of them fails."""
    t, h = p.origin + p.index * p.whole, p.whole
    copy(rows.q, rows.kept_q)
    copy(rows.v, rows.kept_v)
    copy(rows.turns, rows.kept_turns)
    for k in range(p.parts):
        p.step = p.lengths[k] * h
        p.time, p.end = t + p.begins[k] * h, t + p.begins[k + 1] * h
        ask(a, RESTART)
        p.history = 0
        _step(a, p)
        if p.verdict != CONVERGED:
            copy(rows.kept_q, rows.q)
            copy(rows.kept_v, rows.v)
            copy(rows.kept_turns, rows.turns)
            p.history = RENEW
            break
    p.step = h


@entry(addresses, NewtonNumbers, Rows, integer, integer, integer, matrix, matrix, matrix, matrix, matrix)
def run_steps(a, p, rows, before, count, every, out_q, out_v, out_first, out_second, out_turns):
    """Up to ``count`` steps; p.done of them are made, and added to p.index.

    Every ``every``-th step, counted from the origin, is written to the output arrays; their first row comes after
    ``before`` such records. No step is made whose record would find no row.
    """
    p.done = 0
    ask(a, LOAD)
    for step in range(count):
        number = p.index + 1
        row = number // every - 1 - before
        recorded = number % every == 0
        if recorded and not 0 <= row < out_q.shape[0]:
            return
        if p.parts == 0:
            make_step(a, p)
        else:
            _composed_step(a, p, rows)
        if p.verdict != CONVERGED:
            return
        if recorded:
            copy(rows.q, out_q[row])
            copy(rows.v, out_v[row])
            copy(rows.first, out_first[row])
            copy(rows.second, out_second[row])
            copy(rows.turns, out_turns[row])
        p.index = number
        p.done = step + 1
