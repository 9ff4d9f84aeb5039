"""Runs of Shake and Rattle; the methods themselves are in ``variational``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import Array
from ..directors.rigid_solve import RigidBodies
from ..directors.unknown_blocks import natural_tables
from ..newton import SCALES
from ..run import FixedStepRun
from . import loop as kernels
from .equations import PAST, RattleState, start_state

if TYPE_CHECKING:
    from ...system.system import System

WEIGHTS = ((), (1,), (2, -1), (3, -3, 1), (4, -6, 4, -1))  # of the last values, latest first, for the next one


class RattleRun(FixedStepRun):
    """A run of Shake or Rattle in progress."""

    saved = ("q", "v", "vd", "lam", "p", "past_d", "past_l", "past_v", "past_m", "mus", "force", "loads")

    def __init__(self, method: Any, system: System, t: float, step: float) -> None:
        super().__init__(method, system, t, step)
        self.natural, self.bodies = natural_tables(system), RigidBodies(system)
        self.work = self.bodies.new_work()
        nv, nl, nodes = system.n_v, system.n_l, len(system.tables.nodes)
        weights = np.zeros((PAST + 1, PAST))
        for n, row in enumerate(WEIGHTS):
            weights[n, : len(row)] = row
        vectors = {name: np.zeros(nv) for name in ("v", "vd", "p", "p0", "dq", "u", "rate")}
        multipliers = {name: np.zeros(nl) for name in ("lam", "lams", "mus")}
        past = {f"past_{name}": np.zeros((PAST, n)) for name, n in zip("dlvm", (nv, nl, nv, nl), strict=True)}
        frames = {name: self.work.z.copy() for name in ("z0", "z1")}
        empty = {name: np.zeros((nodes, 12)) for name in ("zu", "force", "force0", "f", "stretch")}
        self.x = RattleState(
            q=np.zeros(system.n_q), **vectors, **multipliers, **past, **frames, **empty, weights=weights,
            r=np.zeros(nv + nl), zero=np.zeros(max(nv, nl, 1)), loads=np.zeros(2), loads0=np.zeros(2),
            times=np.zeros(2), scales=np.zeros(SCALES),
            **{name: np.zeros_like(self.work.values) for name in ("at_start", "at_end")}, square=np.zeros((4, 4)),
        )  # fmt: skip
        self.begin(method.project)

    def start(self, q: Array, v: Array, turns: Array | None) -> None:
        """Set the state of the start."""
        self.load(q, v, turns)
        work = self.system.new_work()
        work.turns[:] = self.work.turns
        start_state(self.system.tables, self.natural, work, self.x, self.origin, self.step)
        self.work.turns[:] = work.turns

    def own(self) -> list[Array]:
        mus = self.x.mus if self.method.project else self.x.mus[:0]
        return [2.0 * mus / self.step**2, self.x.lam]

    def loop(self, count: int, every: int, out: list[Array]) -> int:
        return kernels.run_rattle(
            self.natural, self.bodies.tables, self.work, self.x, self.numbers, self.origin, self.index, self.step,
            count, every, *out,
        )  # fmt: skip

    def name_of_unknown(self, row: int) -> str:
        return self.bodies.name_of_unknown(row)
