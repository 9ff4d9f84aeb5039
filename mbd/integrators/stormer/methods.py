"""Shake and Rattle: Stormer's method with constraints, on points and directors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...compiled.entry import connect
from ...compiled.record import table_of
from ...system.tables import Tables
from ..base import Array, Trait, Variable
from ..checks import check_regular_directors, check_regular_generalized
from ..converted import StepsDirectors, momenta
from ..directors.rigid_solve import RigidBodies
from ..directors.unknown_blocks import natural_tables
from ..directors.user_coordinates import UserBodies
from ..fixed_step import FixedStep
from ..newton import SCALES
from ..past import EquationsWithPast, guess_tables
from ..variational.methods import VariationalBase
from . import steps
from .equations import PAST, StormerState

if TYPE_CHECKING:
    from ...results.solution import Solution
    from ...system.system import System

ENOUGH = 0.1  # of the tolerance: what is left of residuals adds up over many steps


class StormerEquations(EquationsWithPast):
    """Shake or Rattle on a system: residuals in natural order, solved with the matrix of rigid bodies."""

    entries = steps.ENTRIES
    anew = steps.act_anew
    saved = ("q", "v", "vd", "lam", "p", "past_d", "past_l", "past_v", "past_m", "mus", "force", "loads")
    past = ("past_d", "past_l", "past_v", "past_m")
    depth = 3

    def __init__(self, method: Stormer, system: System, t: float, step: float) -> None:
        super().__init__(method, system)
        self.tables, self.bodies = natural_tables(system), RigidBodies(system)
        self.work, self.own = self.bodies.new_work(), UserBodies(system)
        nv, nl, nodes = system.n_v, system.n_l, len(system.tables.nodes)
        vectors = {name: np.zeros(nv) for name in ("v", "vd", "p", "p0", "dq", "u", "rate")}
        multipliers = {name: np.zeros(nl) for name in ("lam", "lams", "mus")}
        past = {f"past_{name}": np.zeros((PAST, n)) for name, n in zip("dlvm", (nv, nl, nv, nl), strict=True)}
        frames = {name: self.work.z.copy() for name in ("z0", "z1")}
        empty = {name: np.zeros((nodes, 12)) for name in ("zu", "force", "force0", "f", "stretch")}
        self.x = StormerState(
            q=np.zeros(system.n_q), **vectors, **multipliers, **past, **frames, **empty, **guess_tables(PAST),
            r=np.zeros(nv + nl), zero=np.zeros(max(nv, nl, 1)), loads=np.zeros(2), loads0=np.zeros(2),
            times=np.zeros(2), scales=np.zeros(SCALES), square=np.zeros((4, 4)), rigid=table_of([self.bodies.tables]),
            **{name: np.zeros_like(self.work.values) for name in ("at_start", "at_end")},
            shown_mu=np.zeros(nl if method.project else 0), **self.own.fields, own_force=np.zeros(nv),
        )  # fmt: skip
        enough = {name: ENOUGH for name in ("enough_at_once", "enough", "enough_later")}
        self.set_up(t, step, None, phases=2 if method.project else 1, **enough)

    def connect(self) -> None:
        super().connect()
        connect(self.bodies.tables, *self.entries.values())
        self.own.connect(*self.entries.values())

    def copies(self) -> list[Tables]:
        return [self.tables, self.bodies.tables]

    def start(self, t: float) -> None:
        work = self.system.new_work()
        work.turns[:] = self.work.turns
        steps.start(self.system.tables, self.tables, work, self.x, self.numbers)
        self.work.turns[:] = work.turns

    def shown(self) -> list[Array]:
        return [self.x.q, self.x.v, self.x.shown_mu, self.x.lam]

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        h = self.numbers.step
        self.x.shown_mu[:] = 2.0 * self.x.mus[: len(self.x.shown_mu)] / (h * h)

    def name_of_unknown(self, row: int) -> str:
        return self.bodies.name_of_unknown(row)


@dataclass(frozen=True)
class Stormer(StepsDirectors, FixedStep, VariationalBase):
    """Base of Shake and Rattle: the trapezoidal discrete Lagrangian, forces at the ends of the steps.

    They work on points and directors. Bodies in other coordinates are stepped in directors and recorded in their own;
    generalized coordinates with a constant mass matrix are stepped as they are.
    """

    requires: ClassVar[frozenset[Trait]] = frozenset({Trait.LINEAR_OR_CONSTANT})
    recorded: ClassVar[tuple[str, ...]] = ("mu", "lambda")
    derived: ClassVar[tuple[str, ...]] = ("p",)

    @property
    def variables(self) -> dict[str, Variable]:
        known = {
            "lambda": Variable("multipliers of the position constraints (SHAKE), at the start of the step", -1.0),
            "p": Variable("momenta", 0.0),
        }
        if self.project:
            known["mu"] = Variable("multipliers of the velocity constraints (RATTLE), at its end", 0.0)
        return known

    def variable(self, solution: Solution, name: str) -> Array:
        return momenta(solution)

    def check(self, system: System) -> None:
        system = self.twin(system)
        super().check(system)
        if not self.project:  # velocities from momenta alone
            check_regular_directors(self, system)
            check_regular_generalized(self, system)

    def equations(self, system: System, t: float, step: float) -> StormerEquations:
        return StormerEquations(self, system, t, step)


@dataclass(frozen=True)
class Shake(Stormer):
    """SHAKE on points and directors, in which bodies in other coordinates are stepped: explicit forces.

    The recorded velocities satisfy the velocity constraints up to second order; the motion is that of Rattle.
    """

    project: ClassVar[bool] = False
    cite: ClassVar[tuple[str, ...]] = ("Ryckaert, Ciccotti & Berendsen 1977, J. Comput. Phys. 23, 327",)


@dataclass(frozen=True)
class Rattle(Stormer):
    """RATTLE on points and directors, in which bodies in other coordinates are stepped: explicit forces.

    Position and velocity constraints are exact.
    """

    symmetric: ClassVar[bool] = True
    cite: ClassVar[tuple[str, ...]] = (
        "Andersen 1983, J. Comput. Phys. 52, 24",
        "Leimkuhler & Skeel 1994, J. Comput. Phys. 112, 117",
    )
