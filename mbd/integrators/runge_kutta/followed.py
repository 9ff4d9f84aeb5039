"""A run of an explicit method with its sensitivities."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compiled.entry import connect
from ...compiled.record import table_of
from ...errors import IncompatibleError
from ..base import Array
from ..followed import CHANGED_CHART_TEXT, Beside, Followed
from .sensitivities import CHANGED_CHART, FAILED_BESIDE, FOLLOWED, StepShadow, run_fixed_with_sensitivities

OBSTACLES = {
    FOLLOWED: "",
    CHANGED_CHART: CHANGED_CHART_TEXT,
    FAILED_BESIDE: "a step with a slightly different parameter failed, and that of the run did not; try a smaller step",
}


class RungeKuttaFollowed(Followed):
    """A run of an explicit method with its sensitivities."""

    def __init__(self, run: Any, sides: list[tuple[Beside, Beside]], sizes: Array, q: Array, count: int) -> None:
        super().__init__(run, sides, sizes, q, count)
        n_v, runs = self.system.n_v, [one.run for pair in sides for one in pair]
        read = {name: self.difference(lambda one, x=name: getattr(one.run.x, x)) for name in ("vd", "lam")}
        self.works = [one.work for one in runs]
        self.shadow = StepShadow(
            dq=self.dq, dv=self.shown_dv.copy(), **{f"d{name}": x for name, x in read.items()}, size=sizes,
            tables=table_of([one.system.tables for one in runs]), works=table_of(self.works),
            states=table_of([one.x for one in runs]), numbers=table_of([one.numbers for one in runs]),
            q=np.zeros(self.system.n_q), turns=np.zeros_like(run.work.turns),
            **{name: np.zeros(n_v) for name in ("v", "vd", "increment", "between", "rate", "second")},
        )  # fmt: skip
        for one in self.tables:
            connect(one, run_fixed_with_sensitivities)

    @staticmethod
    def check(method: Any) -> None:
        if method.adaptive:
            raise IncompatibleError(
                f"{method.name} has no sensitivities where it chooses its steps, which a parameter would change too; "
                f"expected {method.name}(fixed=True)"
            )

    def first(self) -> list[Array]:
        f = self.shadow
        return [x.copy() for x in (f.dq, f.dv, f.dvd, f.dlam)]

    def advance(self, count: int, every: int, out: list[Array], more: list[Array]) -> int:
        run = self.run
        run_fixed_with_sensitivities(
            self.system.tables, run.work, run.x, run.numbers, self.shadow, run.index // every, count, every, *out, *more
        )
        return int(run.numbers.done)

    @property
    def obstacle(self) -> str:
        return OBSTACLES[self.shadow.ended]
