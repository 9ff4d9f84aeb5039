"""A run of generalized-alpha with its sensitivities."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compiled.entry import connect
from ..base import Array
from ..followed import CHANGED_CHART_TEXT, Beside, Followed
from .sensitivities import CHANGED_CHART, FOLLOWED, LEFT_TO_INDEX_3, PAST, SETTLED, SLOW, Shadow, run_with_sensitivities

OBSTACLES = {
    FOLLOWED: "",
    SLOW: "the corrections of its sensitivities do not converge; try a smaller step, newton='full' or stiffness=True. "
    "Is something not differentiable?",
    CHANGED_CHART: CHANGED_CHART_TEXT,
    LEFT_TO_INDEX_3: "constraints lost rank, and a step of index 2 was left to index 3; the motion has no derivative "
    "there",
}


class AlphaFollowed(Followed):
    """A run of generalized-alpha with its sensitivities."""

    def __init__(self, run: Any, sides: list[tuple[Beside, Beside]], sizes: Array, q: Array, count: int) -> None:
        super().__init__(run, sides, sizes, q, count)
        n, n_v, n_l, rows = len(sides), self.system.n_v, self.system.n_l, len(run.work.x)
        read = {name: self.difference(lambda one, x=name: getattr(one.run.x, x)) for name in ("v", "vd", "a", "lam")}
        shapes: list[tuple[tuple[int, ...], str]] = [
            ((n,), "since known floor"),
            ((n_v,), "dqn dvn dvdn dan dzn dmn dw guess_w guess_v guess_vd z turned v vd y"),
            ((n_l,), "dlamn zeta lam guess_lam"),
            ((self.system.n_q,), "q start_q guess_q"),
            ((rows,), "along residual other rates position mixed slip"),
            ((9,), "turning"),
            ((n, n_v), "dz dm past_m"),
            ((PAST * n, n_v), "past_vd past_z"),
            ((PAST * n, n_l), "past_lam"),
            ((len(self.system.tables.nodes), 9), "from_start to_end"),
        ]
        buffers = {name: np.zeros(shape) for shape, names in shapes for name in names.split()}
        tables, works = self.addresses
        self.shadow = Shadow(
            dq=self.dq, **{f"d{name}": x for name, x in read.items()}, **buffers, size=sizes, tables=tables,
            works=works, settled=SETTLED / np.sqrt(max(count, 1)),
            **{name: np.ones(n) for name in ("rate", "interval", "spacing")},
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
