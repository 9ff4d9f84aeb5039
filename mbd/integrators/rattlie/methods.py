"""RATTLie: the symplectic method RATTLE on the Lie group of poses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..base import Array, Trait, Variable
from ..converted import StepsLieNodes
from ..fixed_step import FixedStep
from ..past import EquationsWithPast, guess_tables
from ..variational.methods import VariationalBase
from . import steps
from .equations import PAST, RattlieState

if TYPE_CHECKING:
    from ...system.system import System

ENOUGH = 0.1  # of the tolerance: what is left of residuals adds up over many steps


class RattlieEquations(EquationsWithPast):
    """RATTLie on a system."""

    entries = steps.ENTRIES
    saved = ("q", "v", "vd", "lam", "past_d", "past_l", "past_v", "past_m", "shown_mu")
    past = ("past_d", "past_l", "past_v", "past_m")
    depth = 3

    def __init__(self, method: RATTLie, system: System, t: float, step: float) -> None:
        super().__init__(method, system)
        self.tables, self.work = system.tables, system.new_work()
        nq, nv, nl, nodes = system.n_q, system.n_v, system.n_l, len(system.tables.nodes)
        vectors = {name: np.zeros(nv) for name in ("v", "vd", "dq", "u", "vn", "vdn", "y")}
        multipliers = {name: np.zeros(nl) for name in ("lam", "lams", "mus", "lamn", "shown_mu")}
        past = {f"past_{name}": np.zeros((PAST, n)) for name, n in zip("dlvm", (nv, nl, nv, nl), strict=True)}
        frames = {name: self.work.z.copy() for name in ("z0", "z1")}
        self.x = RattlieState(
            q=np.zeros(nq), qn=np.zeros(nq), **vectors, **multipliers, **past, **frames, **guess_tables(PAST),
            zero=np.zeros(max(nv, nl, 1)), force=np.zeros((nodes, 12)), f=np.zeros((nodes, 12)), times=np.zeros(2),
            **{name: np.zeros_like(self.work.values) for name in ("at_start", "at_end")},
        )  # fmt: skip
        enough = {name: ENOUGH for name in ("enough_at_once", "enough", "enough_later")}
        self.set_up(t, step, None, phases=2, **enough)

    def start(self, t: float) -> None:
        steps.start(self.tables, self.work, self.x, self.numbers)

    def shown(self) -> list[Array]:
        return [self.x.q, self.x.v, self.x.shown_mu, self.x.lam]


@dataclass(frozen=True)
class RATTLie(StepsLieNodes, FixedStep, VariationalBase):
    """RATTLE on Lie nodes and points: symplectic, with explicit forces, position and velocity constraints.

    A step turns a body by exp(x), so that spins about a fixed axis cost no accuracy: on the heavy top it is a thousand
    times more accurate than Rattle at equal steps, which sees the spin as an oscillation of nine coordinates. Second
    order; energy has no drift where the step resolves the motion. Reference points need not be centres of mass. Forces
    act at both ends of a step; where they depend on velocities (dampers, controls) they are iterated at its end, still
    of second order, and stiff ones ask for small steps. A step must turn no body by a full turn. Bodies in other
    coordinates are stepped as Lie nodes and recorded in their own; generalized coordinates with a constant mass matrix
    are stepped as they are.

    Bodies may roll: neither the steps slip nor the velocities at their ends. Such a step is symmetric, but not
    symplectic: nothing that rolls has a symplectic form.

    Reactions and accelerations of the solution are those of the equations of motion at the records, of second order.
    The multipliers of the method act on half a step each and are of first order: ``solution.scheme`` has "lambda" of
    the first and "mu" of the second half, and (lambda of the next record + mu) / 2 is of second order.

    Parameters
    ----------
    tolerance: Newton tolerance relative to the forces of the system; the invariants drift by about as much.
    max_iterations: limit of the Newton iterations of a step.
    """

    requires: ClassVar[frozenset[Trait]] = frozenset({Trait.LIE_POINT_OR_CONSTANT})
    symmetric: ClassVar[bool] = True
    recorded: ClassVar[tuple[str, ...]] = ("mu", "lambda")
    cite: ClassVar[tuple[str, ...]] = (
        "Hante & Arnold 2021, J. Comput. Appl. Math. 387, 112492",
        "Andersen 1983, J. Comput. Phys. 52, 24",
        "Leimkuhler & Skeel 1994, J. Comput. Phys. 112, 117",
    )

    @property
    def variables(self) -> dict[str, Variable]:
        return {
            "lambda": Variable("multipliers of the first half of the step, at its start", -1.0),
            "mu": Variable("multipliers of the second half of the step, at its end", 0.0),
        }

    def equations(self, system: System, t: float, step: float) -> RattlieEquations:
        return RattlieEquations(self, system, t, step)
