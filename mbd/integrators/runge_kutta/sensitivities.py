"""How a run of an explicit method changes with parameters: forward sensitivities of its steps.

A step is a map x_{n+1} = F(x_n, theta) of x = (q, v, v_dot). Its derivative along a parameter is the central difference

    S_{n+1} = (F(x_n o eps S_n, theta + eps) - F(x_n o -eps S_n, theta - eps)) / (2 eps)

of two steps beside the one of the run: stages, projection to the constraints and all that an element does. Where S has
grown long the state is moved by less, in two such differences (``mbd.system.moved_along``). The difference of two
configurations is one of increments from the new one. Round-off is made anew in every step, and does not grow with the
motion as that of differences of whole runs does.
"""

from __future__ import annotations

from typing import Any

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import addresses, integer, matrix, vector
from ...compiled.record import Record, record_at
from ...math.arrays import clear, copy
from ...nodes.between import node_between
from ...system.instant import advance
from ...system.moved_along import MOST_MOVED, distance_along, passes, size_of_increments, weight_of
from ...system.tables import FLAG_CHARTS, Tables, Work, tables_at, work_at
from ..verdicts import CONVERGED
from .kernels import fixed_step, write_row
from .state import RungeKuttaNumbers, RungeKuttaState

FOLLOWED, CHANGED_CHART, FAILED_BESIDE = 0, 1, 2  # how sensitivities ended

state_at: Any = record_at(RungeKuttaState)
numbers_at: Any = record_at(RungeKuttaNumbers)


class StepShadow(Record):
    """Sensitivities of a state, a row for each parameter, the runs beside it, and the start of a step."""

    dq = matrix  # increments of the configuration per parameter
    dv = matrix
    dvd = matrix
    dlam = matrix
    new_q = vector  # the same of one parameter at the end of the step
    new_v = vector
    new_vd = vector
    new_lam = vector
    size = vector  # of the differences, by parameter
    tables = addresses  # of the systems at theta + size and theta - size, one after the other
    works = addresses
    states = addresses
    numbers = addresses
    ended = integer  # see FOLLOWED, ...
    q = vector  # the state at the start of the step
    v = vector
    vd = vector
    turns = vector
    increment = vector
    between = vector
    rate = vector
    second = vector


@kernel
def _beside(p, f, i, side, d):
    """A step from beside the start of the last one, by d along the sensitivities; whether it went well."""
    j = 2 * i + side
    s, w, x, own = tables_at(f.tables[j]), work_at(f.works[j]), state_at(f.states[j]), numbers_at(f.numbers[j])
    for k in range(f.v.shape[0]):
        f.increment[k] = d * f.dq[i, k]
        x.v[k] = f.v[k] + d * f.dv[i, k]
        x.vd[k] = f.vd[k] + d * f.dvd[i, k]
    advance(s, w, f.q, f.increment, x.q)
    copy(f.turns, w.turns)
    own.steps, own.verdict = p.steps - 1, CONVERGED
    fixed_step(s, w, x, own)
    return own.verdict == CONVERGED


@kernel
def _add_difference(s, w, x, f, i, c):
    """Add c times the difference of both steps beside to the new sensitivities."""
    a, b = state_at(f.states[2 * i]), state_at(f.states[2 * i + 1])
    for n in range(1, s.nodes.shape[0]):
        node_between(s.nodes[n], x.q, a.q, a.v, a.vd, f.increment, f.rate, f.second, w.spin[n], w.scratch)
        node_between(s.nodes[n], x.q, b.q, b.v, b.vd, f.between, f.rate, f.second, w.spin[n], w.scratch)
    for k in range(f.v.shape[0]):
        f.new_q[k] += c * (f.increment[k] - f.between[k])
        f.new_v[k] += c * (a.v[k] - b.v[k])
        f.new_vd[k] += c * (a.vd[k] - b.vd[k])
    for k in range(x.lam.shape[0]):
        f.new_lam[k] += c * (a.lam[k] - b.lam[k])


@kernel
def _follow(s, w, x, p, f, i):
    """Sensitivities at the end of the step along one parameter."""
    e = f.size[i]
    d = distance_along(size_of_increments(s, f.q, f.dq[i], 0, 1), e, MOST_MOVED)
    clear(f.new_q)
    clear(f.new_v)
    clear(f.new_vd)
    clear(f.new_lam)
    for _ in range(passes(d, e)):
        if not (_beside(p, f, i, 0, d) and _beside(p, f, i, 1, -d)):
            f.ended = FAILED_BESIDE
            return
        _add_difference(s, w, x, f, i, weight_of(d, e))
        d = -d
    copy(f.new_q, f.dq[i])
    copy(f.new_v, f.dv[i])
    copy(f.new_vd, f.dvd[i])
    copy(f.new_lam, f.dlam[i])


@entry(
    Tables, Work, RungeKuttaState, RungeKuttaNumbers, StepShadow, integer, integer, integer, matrix, matrix, matrix,
    matrix, matrix, matrix, matrix, matrix, matrix,
)  # fmt: skip
def run_fixed_with_sensitivities(
    s, w, x, p, f, before, count, every, out_q, out_v, out_vd, out_l, out_turns, out_dq, out_dv, out_dvd, out_dlam
):
    """Up to ``count`` equal steps with their sensitivities, recorded as by ``run_fixed``; p.done of them are made."""
    n = f.dq.shape[0]
    p.done, p.verdict = 0, CONVERGED
    for step in range(count):
        copy(x.q, f.q)
        copy(x.v, f.v)
        copy(x.vd, f.vd)
        copy(w.turns, f.turns)
        fixed_step(s, w, x, p)
        if p.verdict != CONVERGED:
            return
        if s.flags[FLAG_CHARTS] != 0 and w.chart != 0.0:
            f.ended = CHANGED_CHART
            return
        for i in range(n):
            _follow(s, w, x, p, f, i)
        if f.ended != FOLLOWED:
            return
        p.done = step + 1
        if p.steps % every == 0:
            row = p.steps // every - 1 - before
            write_row(w, x, row, out_q, out_v, out_vd, out_l, out_turns)
            records = out_dq.shape[0] // n  # of each parameter, with that of the start
            for i in range(n):
                copy(f.dq[i], out_dq[i * records + p.steps // every])
                copy(f.dv[i], out_dv[i * records + p.steps // every])
                copy(f.dvd[i], out_dvd[i * records + p.steps // every])
                copy(f.dlam[i], out_dlam[i * records + p.steps // every])
