"""Lobatto: the symplectic Lobatto IIIA-IIIB pair with three stages, on points and directors."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...compiled.entry import connect
from ...compiled.record import table_of
from ...system.tables import Tables
from ..base import Array, Trait, Variable
from ..converted import StepsDirectors, momenta
from ..directors.rigid_solve import RigidBodies
from ..directors.unknown_blocks import natural_tables, new_work
from ..directors.user_coordinates import UserBodies
from ..fixed_step import FixedStep
from ..newton import SCALES
from ..past import EquationsWithPast, guess_tables
from ..variational.methods import VariationalBase
from . import steps
from .equations import PAST, LobattoState

if TYPE_CHECKING:
    from ...results.solution import Solution
    from ...system.system import System

ENOUGH = 1e-4  # of the tolerance: what is left of residuals adds up over many steps; more gets a last correction


class LobattoEquations(EquationsWithPast):
    """The method on a system: residuals in natural order, solved with the matrix of rigid bodies of both stages."""

    entries = steps.ENTRIES
    anew = steps.act_anew
    saved = (
        "q", "v", "vd", "lam", "p", "past_d", "past_dm", "past_l", "past_lm", "past_v", "past_m", "mus", "lamm",
        "force", "loads",
    )  # fmt: skip
    past = ("past_d", "past_dm", "past_l", "past_lm", "past_v", "past_m")
    depth = PAST

    def __init__(self, method: Lobatto, system: System, t: float, step: float) -> None:
        super().__init__(method, system)
        self.tables, self.bodies, self.stages = natural_tables(system), RigidBodies(system), RigidBodies(system, 2)
        self.work, self.small = (
            new_work(system, rigid.layout.n, rigid.layout.size_F) for rigid in (self.stages, self.bodies)
        )
        self.own = UserBodies(system, 2)
        nv, nl, nodes = system.n_v, system.n_l, len(system.tables.nodes)
        vectors = {name: np.zeros(nv) for name in ("v", "vd", "p", "p0", "dq", "dm", "u", "rate")}
        multipliers = {name: np.zeros(nl) for name in ("lam", "lams", "lamm", "mus", "shown_l", "shown_mu")}
        kept = {"d": nv, "dm": nv, "l": nl, "lm": nl, "v": nv, "m": nl}
        past = {f"past_{name}": np.zeros((PAST, n)) for name, n in kept.items()}
        frames = {name: self.work.z.copy() for name in ("z0", "zm", "z1")}
        names = ("zu", "force", "force0", "force_m", "f", "fm", "stretch", "stretch_m")
        self.x = LobattoState(
            q=np.zeros(system.n_q), **vectors, **multipliers, **past, **frames, **guess_tables(PAST),
            **{name: np.zeros((nodes, 12)) for name in names}, r=np.zeros(nv + nl), rm=np.zeros(nv + nl),
            slip=np.zeros(nv + nl),
            zero=np.zeros(max(nv, nl, 1)), **{name: np.zeros(2) for name in ("loads", "loads0", "loads_m")},
            times=np.zeros(3), scales=np.zeros(SCALES), small=table_of([self.small]),
            rigid=table_of([self.bodies.tables, *self.stages.pairs[0], *self.stages.pairs[1]]),
            **{name: np.zeros_like(self.work.values) for name in ("at_start", "at_middle", "at_end")},
            **self.own.fields, own_m=self.own.fields["own_y"].copy(),
        )  # fmt: skip
        enough = {name: ENOUGH for name in ("enough_at_once", "enough", "enough_later")}
        self.set_up(t, step, None, phases=2, trusted=1, **enough)

    def connect(self) -> None:
        super().connect()
        for tables in (self.bodies.tables, self.stages.tables):
            connect(tables, *self.entries.values())
        self.own.connect(*self.entries.values())

    def copies(self) -> list[Tables]:
        return [self.tables, self.bodies.tables, *chain(*self.stages.pairs)]

    def start(self, t: float) -> None:
        work = self.system.new_work()
        work.turns[:] = self.work.turns
        steps.start(self.system.tables, self.tables, work, self.x, self.numbers)
        self.work.turns[:] = work.turns

    def shown(self) -> list[Array]:
        return [self.x.q, self.x.v, self.x.shown_mu, self.x.shown_l]

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.x.shown_mu[:] = 6.0 * self.x.mus / self.numbers.step**2
        self.x.shown_l[:] = 4.0 * self.x.lamm / self.numbers.step**2

    def name_of_unknown(self, row: int) -> str:
        return self.stages.name_of_unknown(row)


@dataclass(frozen=True)
class Lobatto(StepsDirectors, FixedStep, VariationalBase):
    """The Lobatto IIIA-IIIB pair with three stages: symplectic, symmetric and of order four; with two it is Rattle.

    It works on points and directors, in which bodies in other coordinates are stepped, and on generalized coordinates
    with a constant mass matrix. Position constraints hold in the middle and at the end of every step, velocity
    constraints at its end. Positions, velocities and the reactions of
    the recorded states are of order four, with forces that depend on velocities as well. Forces are evaluated three
    times per iteration and are no part of its matrix: the step must resolve the highest frequency, as with Rattle.
    Bodies may roll: the integrals of the slip to the middle and the end of a step vanish, and the slip at its end.
    """

    order: ClassVar[int] = 4
    symmetric: ClassVar[bool] = True
    requires: ClassVar[frozenset[Trait]] = frozenset({Trait.LINEAR_OR_CONSTANT})
    recorded: ClassVar[tuple[str, ...]] = ("mu", "lambda")
    derived: ClassVar[tuple[str, ...]] = ("p",)
    cite: ClassVar[tuple[str, ...]] = (
        "Jay 1996, SIAM J. Numer. Anal. 33, 368",
        "Jay 2009, Lagrange-d'Alembert SPARK integrators for nonholonomic Lagrangian systems",
    )

    @property
    def variables(self) -> dict[str, Variable]:
        return {
            "lambda": Variable("multipliers of the position constraints, acting in the middle of the step", -0.5),
            "mu": Variable("multipliers of the velocity constraints, acting at its end", 0.0),
            "p": Variable("momenta", 0.0),
        }

    def variable(self, solution: Solution, name: str) -> Array:
        return momenta(solution)

    def equations(self, system: System, t: float, step: float) -> LobattoEquations:
        return LobattoEquations(self, system, t, step)
