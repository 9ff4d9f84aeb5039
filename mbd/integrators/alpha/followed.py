"""A run of generalized-alpha with its sensitivities."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ...compiled.fours import AT_ONCE, fours_of, rows_of_fours
from ...compiled.record import Plan
from ...system.right_hand_sides import new_sides
from ...system.touched import along, is_differenced
from ..base import Array
from ..followed import CHANGED_CHART_TEXT, SIZE, Beside, Followed
from .sensitivities import SETTLED, run_with_sensitivities
from .shadow import (
    CHANGED_CHART,
    FOLLOWED,
    IDLE,
    IDLE_REACTIONS,
    LEFT_TO_INDEX_3,
    NOISY_POINTS,
    NOISY_POINTS_OF_Z,
    POINTS,
    RING,
    SLOW,
    TURNS,
    Shadow,
)

OBSTACLES = {
    FOLLOWED: "",
    SLOW: "the corrections of its sensitivities do not converge; try a smaller step, newton='full' or stiffness=True. "
    "Is something not differentiable?",
    CHANGED_CHART: CHANGED_CHART_TEXT,
    LEFT_TO_INDEX_3: "constraints lost rank, and a step of index 2 was left to index 3; the motion has no derivative "
    "there",
}


@lru_cache(maxsize=64)
def _plan_of_shadow(n: int, groups: int, n_q: int, n_v: int, n_l: int, rows: int, nodes: int) -> Plan:
    """Where the arrays lie that belong to so many parameters."""
    shapes: list[tuple[Any, str]] = [
        (n, "seen floor earlier earlier_lam"),
        (groups, "since known change change_z size_q size_vd change_lam size_lam interval"),
        ((groups, n_v), "dq dv da dqn dvn dan dmn"),
        ((RING * groups, n_v), "past_vd past_z"),
        ((TURNS * groups, n_v), "past_turns"),
        ((groups, TURNS), "turn_times"),
        ((RING * groups, n_l), "past_lam"),
        (n_v, "guess_w guess_v guess_vd guess_dq guess_dv guess_dvd u turned moved v vd y increment"),
        (n_l, "lam guess_lam guess_dlam mu"),
        (n_q, "q start_q guess_q"),
        ((2, n_q), "further_q"),
        ((2, n_v), "further_v further_vd"),
        ((2, n_l), "further_lam"),
        (rows, "rhs position turn row other rates level mixed slip"),
        ((nodes, 9), "from_start to_end untwist"),
        (9, "turning"),
        ((groups, POINTS + 1), "weights weights_z"),
    ]
    return Shadow.plan({name: shape for shape, names in shapes for name in names.split()})


class AlphaFollowed(Followed):
    """A run of generalized-alpha with its sensitivities."""

    reads = ("v", "vd", "a", "lam")

    def __init__(self, run: Any, sides: list[tuple[Beside, Beside]], sizes: Array, q: Array, count: int) -> None:
        super().__init__(run, sides, sizes, q, count)
        system, n = self.system, len(sides)
        n_v, n_l, rows, nodes = system.n_v, system.n_l, len(run.work.x), len(system.tables.nodes)
        self.works += [system.new_work(), system.new_work()]
        tables, works = self.addresses
        pairs = [(plus.system.tables, minus.system.tables) for plus, minus in sides]
        self.along = along(system.tables, pairs, sizes, self.works, rows)
        noisy = is_differenced(self.along)
        groups = -(-n // AT_ONCE)
        quiet = [not noisy[AT_ONCE * j : AT_ONCE * (j + 1)].any() for j in range(groups)]
        whole = [self.along.exact[AT_ONCE * j : AT_ONCE * (j + 1)] != 0 for j in range(groups)]
        self.shadow = f = Shadow.zeros(
            _plan_of_shadow(n, groups, system.n_q, n_v, n_l, rows, nodes), size=sizes,
            spread=np.where(noisy, sizes, 1.0), tables=tables, works=works, exact=self.along.exact,
            some_exact=np.array([x.any() for x in whole], dtype=np.int64),
            all_exact=np.array([x.all() for x in whole], dtype=np.int64), active=np.arange(groups), rate=1.0,
            points=np.where(quiet, POINTS, NOISY_POINTS), points_z=np.where(quiet, POINTS, NOISY_POINTS_OF_Z),
            idle=IDLE * max(1.0, system.length) * SIZE / sizes, least_lam=IDLE_REACTIONS * SIZE / sizes,
            next=groups, settled=SETTLED / np.sqrt(max(count, 1)),
        )  # fmt: skip
        self.buffers = new_sides(system)
        f.dq[:], f.dv[:], f.da[:] = fours_of(self.dq), fours_of(self._of("v")), fours_of(self._of("a"))
        f.past_vd[:groups], f.past_lam[:groups] = fours_of(self._of("vd")), fours_of(self._of("lam"))
        f.interval[:] = 1.0
        self.connect(run_with_sensitivities, self.along.exact)

    def _of(self, name: str) -> Array:
        """The derivative of a part of the state at the start."""
        return self.difference(lambda one: one.x[name])

    def first(self) -> list[Array]:
        f, n = self.shadow, len(self.sides)
        return [rows_of_fours(f.dq, n), self.shown_dv, rows_of_fours(f.past_vd, n), rows_of_fours(f.past_lam, n)]

    def advance(self, count: int, every: int, out: list[Array], more: list[Array]) -> int:
        run, e = self.run, self.run.equations
        before, history = run.index, self.shadow.history
        run_with_sensitivities(
            self.system.tables, run.work, run.x, self.shadow, self.along, self.buffers, e.addresses, e.numbers,
            run.rows, before // every, count, every, *out, *more,
        )  # fmt: skip
        return int(self.shadow.history - history)

    @property
    def obstacle(self) -> str:
        return OBSTACLES[self.shadow.ended]

    @property
    def rounds(self) -> float:  # type: ignore[override]
        """Corrections per step."""
        f = self.shadow
        return f.rounds / max(1, f.history * len(f.dq))
