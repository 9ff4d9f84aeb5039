"""How a run of an explicit method changes with parameters: forward sensitivities of its steps.

A step is a map x_{n+1} = F(x_n, theta) of x = (q, v, v_dot). Its derivative along a parameter is the central difference

    S_{n+1} = (F(x_n o eps S_n, theta + eps) - F(x_n o -eps S_n, theta - eps)) / (2 eps)

of two steps beside the one of the run: stages, projection to the constraints and all that an element does. The
difference of two configurations is one of increments from the new one. Round-off is made anew in every step, and does
not grow with the motion as that of differences of whole runs does.
"""

from __future__ import annotations

from typing import Any

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import addresses, integer, matrix, vector
from ...compiled.record import Record, record_at
from ...math.arrays import copy
from ...nodes.between import node_between
from ...system.instant import advance
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
def _beside(p, f, i, side):
    """A step from beside the start of the last one, along the sensitivities; whether it went well."""
    j, e = 2 * i + side, f.size[i] if side == 0 else -f.size[i]
    s, w, x, own = tables_at(f.tables[j]), work_at(f.works[j]), state_at(f.states[j]), numbers_at(f.numbers[j])
    for k in range(f.v.shape[0]):
        f.increment[k] = e * f.dq[i, k]
        x.v[k] = f.v[k] + e * f.dv[i, k]
        x.vd[k] = f.vd[k] + e * f.dvd[i, k]
    advance(s, w, f.q, f.increment, x.q)
    copy(f.turns, w.turns)
    own.steps, own.verdict = p.steps - 1, CONVERGED
    fixed_step(s, w, x, own)
    return own.verdict == CONVERGED


@kernel
def _follow(s, w, x, p, f, i):
    """Sensitivities at the end of the step along one parameter."""
    if not (_beside(p, f, i, 0) and _beside(p, f, i, 1)):
        f.ended = FAILED_BESIDE
        return
    a, b, c = state_at(f.states[2 * i]), state_at(f.states[2 * i + 1]), 0.5 / f.size[i]
    for n in range(1, s.nodes.shape[0]):
        node_between(s.nodes[n], x.q, a.q, a.v, a.vd, f.increment, f.rate, f.second, w.spin[n], w.scratch)
        node_between(s.nodes[n], x.q, b.q, b.v, b.vd, f.between, f.rate, f.second, w.spin[n], w.scratch)
    for k in range(f.v.shape[0]):
        f.dq[i, k] = c * (f.increment[k] - f.between[k])
        f.dv[i, k] = c * (a.v[k] - b.v[k])
        f.dvd[i, k] = c * (a.vd[k] - b.vd[k])
    for k in range(x.lam.shape[0]):
        f.dlam[i, k] = c * (a.lam[k] - b.lam[k])


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
