"""A run of an explicit method with its sensitivities."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compiled.fours import AT_ONCE, fours_of, rows_of_fours
from ...compiled.record import table_of
from ...errors import IncompatibleError
from ...system.right_hand_sides import new_sides
from ...system.tables import FLAG_COUPLED
from ...system.touched import along
from ..base import Array
from ..followed import CHANGED_CHART_TEXT, Beside, Followed
from .sensitivities import CHANGED_CHART, FAILED_BESIDE, FOLLOWED, StepShadow, run_fixed_with_sensitivities
from .variations import Variations, run_fixed_with_variations

OBSTACLES = {
    FOLLOWED: "",
    CHANGED_CHART: CHANGED_CHART_TEXT,
    FAILED_BESIDE: "a step with a slightly different parameter failed, and that of the run did not; try a smaller step",
}


class RungeKuttaFollowed(Followed):
    """A run of an explicit method with its sensitivities: variational equations, or steps beside it where they fail."""

    reads = ("vd", "lam")

    def __init__(self, run: Any, sides: list[tuple[Beside, Beside]], sizes: Array, q: Array, count: int) -> None:
        super().__init__(run, sides, sizes, q, count)
        tables, pairs = self.system.tables, [(plus.system.tables, minus.system.tables) for plus, minus in sides]
        self.along = along(tables, pairs, sizes, self.works, len(run.work.x))
        plain = len(self.along.driven) == 0 and not tables.flags[FLAG_COUPLED]
        half_explicit = run.numbers.half_explicit != 0 and self.system.n_l > 0
        self.variational = bool(plain and self.along.exact.all() and not half_explicit)
        """Whether stages are differentiated by the product rule."""
        read = {name: self.difference(lambda one, x=name: one.x[x]) for name in self.reads}
        start = {"dq": self.dq, "dv": self.shown_dv.copy(), **{f"d{name}": x for name, x in read.items()}}
        self.shadow: Any = self._variations(start) if self.variational else self._steps_beside(start)
        self._advance: Any = run_fixed_with_variations if self.variational else run_fixed_with_sensitivities
        self.connect(self._advance, self.along.exact)

    def _variations(self, start: dict[str, Array]) -> Variations:
        n_v, n_l, rows, groups = self.system.n_v, self.system.n_l, len(self.run.work.x), -(-len(self.sides) // AT_ONCE)
        nodes, stages = len(self.system.tables.nodes), len(self.run.numbers.b)
        shapes: list[tuple[Any, str]] = [
            ((stages * groups, n_v), "kq kv"), ((groups, n_v), "dq dv dvd step_q now_q now_v"),
            ((groups, n_l), "dlam"), (rows, "rhs"),
            ((nodes, 9), "from_start to_end inverse"), (n_v, "back u"), (n_l, "mu"), (max(n_v, n_l), "zero"),
        ]  # fmt: skip
        zeros = {name: shape for shape, names in shapes for name in names.split()}
        self.buffers = new_sides(self.system)
        variations = Variations.zeros(zeros)
        for name, x in start.items():
            getattr(variations, name)[:] = fours_of(x)
        return variations

    def _steps_beside(self, start: dict[str, Array]) -> StepShadow:
        n_v, runs = self.system.n_v, [one.run for pair in self.sides for one in pair]
        of_velocities = "v vd increment between rate second new_q new_v new_vd"
        self.works = [one.work for one in runs]
        return StepShadow(
            **start, size=self.sizes, tables=table_of([one.system.tables for one in runs]),
            works=table_of(self.works), states=table_of([one.x for one in runs]),
            numbers=table_of([one.numbers for one in runs]), q=np.zeros(self.system.n_q),
            turns=np.zeros_like(self.run.work.turns),
            new_lam=np.zeros(self.system.n_l), **{name: np.zeros(n_v) for name in of_velocities.split()},
        )  # fmt: skip

    @staticmethod
    def check(method: Any) -> None:
        if method.adaptive:
            raise IncompatibleError(
                f"{method.name} has no sensitivities where it chooses its steps, which a parameter would change too; "
                f"expected {method.name}(fixed=True)"
            )

    def first(self) -> list[Array]:
        f, n = self.shadow, len(self.sides)
        start = (f.dq, f.dv, f.dvd, f.dlam)
        return [rows_of_fours(x, n) if self.variational else x.copy() for x in start]

    def advance(self, count: int, every: int, out: list[Array], more: list[Array]) -> int:
        run, records = self.run, [self.shadow, self.along, self.buffers] if self.variational else [self.shadow]
        self._advance(
            self.system.tables, run.work, run.x, run.numbers, *records, run.index // every, count, every, *out, *more
        )
        return int(run.numbers.done)

    @property
    def obstacle(self) -> str:
        return "" if self.variational else OBSTACLES[self.shadow.ended]
