"""A run of generalized-alpha with its sensitivities."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compiled.entry import connect
from ..base import Array
from ..followed import Beside, Followed
from .sensitivities import CHANGED_CHART, FOLLOWED, LEFT_TO_INDEX_3, PAST, SLOW, Shadow, run_with_sensitivities

OBSTACLES = {
    FOLLOWED: "",
    SLOW: "the corrections of its sensitivities do not converge; try a smaller step, newton='full' or stiffness=True. "
    "Is something not differentiable?",
    CHANGED_CHART: "a conventional rotation vector passed a half turn and changed its chart, which sensitivities do not "
    "follow; use Lie nodes or quaternions: model.with_nodes(mbd.nodes.Quaternion)",
    LEFT_TO_INDEX_3: "constraints lost rank, and a step of index 2 was left to index 3, where sensitivities of the motion "
    "do not exist",
}


class AlphaFollowed(Followed):
    """A run of generalized-alpha with its sensitivities."""

    def __init__(self, run: Any, sides: list[tuple[Beside, Beside]], sizes: Array, q: Array) -> None:
        super().__init__(run, sides, sizes, q)
        n, n_v, n_l, rows = len(sides), self.system.n_v, self.system.n_l, len(run.work.x)
        of_state = {
            f"d{name}": self.difference(lambda one, x=name: getattr(one.run.x, x)) for name in ("v", "vd", "a", "lam")
        }
        past = {
            "past_vd": np.zeros((PAST * n, n_v)),
            "past_lam": np.zeros((PAST * n, n_l)),
            "past_z": np.zeros((PAST * n, n_v)),
        }
        velocities = (
            "dqn",
            "dvn",
            "dvdn",
            "dan",
            "dzn",
            "dw",
            "guess_w",
            "guess_v",
            "guess_vd",
            "z",
            "turned",
            "v",
            "vd",
            "y",
            "minus_dq",
        )
        residuals = ("along", "residual", "other", "rates", "position", "mixed", "slip")
        tables, works = self.addresses
        self.shadow = Shadow(
            dq=self.dq, dz=np.zeros((n, n_v)), **of_state, **past, **{name: np.zeros(n_v) for name in velocities},
            **{name: np.zeros(rows) for name in residuals}, **{name: np.zeros(n_l) for name in ("dlamn", "zeta", "lam", "guess_lam")},
            size=sizes, tables=tables, works=works, rate=1.0, settled=1e-11, **{name: np.zeros(self.system.n_q) for name in ("q", "start_q", "guess_q")}, turning=np.zeros(9),
        )  # fmt: skip
        for one in self.tables:
            connect(one, run_with_sensitivities)

    def first(self) -> list[Array]:
        f = self.shadow
        return [f.dq.copy(), self.shown_dv, f.dvd.copy(), f.dlam.copy()]

    def advance(self, count: int, every: int, out: list[Array], more: list[Array]) -> int:
        run, e = self.run, self.run.equations
        before, history = run.index, self.shadow.history
        run_with_sensitivities(
            self.system.tables, run.work, run.x, self.shadow, e.addresses, e.numbers, run.rows, before // every, count,
            every, *out, *more,
        )  # fmt: skip
        return int(self.shadow.history - history)

    @property
    def obstacle(self) -> str:
        return OBSTACLES[self.shadow.ended]

    @property
    def rounds(self) -> float:  # type: ignore[override]
        """Corrections per step and parameter."""
        f = self.shadow
        return f.rounds / max(1, f.history * len(self.sides))
