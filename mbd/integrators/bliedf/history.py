"""The past of a multistep method: states before the start, by steps of an explicit method backwards in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...compiled.entry import entry
from ...compiled.kinds import vector
from ...errors import ModelError
from ...nodes.between import node_between
from ...nodes.forms import of_form
from ...system.tables import Tables, Work, coordinates, velocity
from ..base import Array
from ..runge_kutta.methods import DOPRI5

if TYPE_CHECKING:
    from ...system.system import System

SUBSTEPS = 4  # of the explicit method in a step: its error must not be seen


@entry(Tables, Work, coordinates, coordinates, velocity, velocity, vector, vector, vector)
def increment_between(s, w, q0, q1, v1, vd1, d, rate, second):
    """The increment from one state to another, and rates of increments from the first at the second."""
    for i in range(1, s.nodes.shape[0]):
        node_between(s.nodes[i], q0, q1, v1, vd1, d, rate, second, w.spin[i], w.scratch)


class Past:
    """States at the times t, t - h, t - 2 h, ..., and the increments between them, latest first.

    Velocities and accelerations are in the charts of the state at t, ``d[j]`` leads from number j + 1 to number j.
    """

    def __init__(self, system: System, q: Array, v: Array, t: float, h: float, steps: int, turns: Array) -> None:
        run = DOPRI5(fixed=True).start(system, q, v, t, -h / SUBSTEPS, turns)
        rows = [np.zeros((steps, len(x))) for x in run.row()]
        first = [x.copy() for x in run.row()]
        if run.advance(SUBSTEPS * steps, SUBSTEPS, rows) < SUBSTEPS * steps:
            kind, why = run.failure()
            if kind == "singularity":
                why = f"the Euler angles of body '{why}' come too close to gimbal lock there"
            raise ModelError(
                f"BLieDF: the past of the start, from t = {t - steps * h:g} on, could not be computed ({why}); take a "
                "smaller step, or GeneralizedAlpha, which needs no past"
            )
        self.q, self.v, self.vd, self.lam = (
            np.concatenate((x[None, :], y)) for x, y in zip(first[:4], rows[:4], strict=True)
        )
        self.d = np.zeros((steps, system.n_v))
        self._fill(system)

    def _fill(self, system: System) -> None:
        work, nodes = system.new_work(), system.tables.nodes
        lie = np.zeros(system.n_v, dtype=bool)
        for n in nodes[of_form(nodes, "lie")]:
            lie[n.v0 + n.nx : n.v0 + n.nv] = True
        from_start, rates = np.zeros_like(self.v), np.zeros_like(self.v)
        scratch, second = np.zeros(system.n_v), np.zeros(system.n_v)
        q = [np.ascontiguousarray(x) for x in self.q]
        v, vd = self.v.copy(), self.vd.copy()
        for j in range(1, len(q)):
            increment_between(system.tables, work, q[0], q[j], v[j], vd[j], from_start[j], rates[j], second)
            self.v[j, ~lie], self.vd[j, ~lie] = rates[j, ~lie], second[~lie]
            increment_between(system.tables, work, q[j], q[j - 1], v[j - 1], vd[j - 1], self.d[j - 1], scratch, second)
            self.d[j - 1, ~lie] = (from_start[j - 1] - from_start[j])[~lie]
