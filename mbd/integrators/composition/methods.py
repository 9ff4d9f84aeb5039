"""Composition: symmetric methods of low order made methods of order four to ten."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import IncompatibleError, ModelError
from ..arguments import one_of
from ..base import Array, Integrator, Invariant, Run, Trait, missing_trait
from ..stormer.methods import Rattle
from .weights import SOURCES, weights_of

if TYPE_CHECKING:
    from ...results.solution import Solution
    from ...system.system import System

METHODS = (
    "Rattle, RATTLie, Lobatto, GGLEM, DiscreteVariational, LieEM, GonzalezEM and HamiltonianEM without joints, "
    "MoserVeselov, RotationSplitting, SymmetricSplitting, RigidMidpoint, Strang, NystromSplitting, or an own "
    "PythonIntegrator that declares symmetric = True"
)


@dataclass(frozen=True)
class Composition(Integrator):
    """A symmetric method of higher order: every step consists of 5, 9, 17 or 35 steps of ``method``, some of them back.

    What ``method`` keeps exactly (constraints, energy, momenta, the symplectic form), a composition keeps as well.
    Accelerations and reactions are those of the recorded states. Since some stages go back in time, forces must
    not depend on velocities: a damper would feed energy there. The longest stage is 0.66, 0.80, 0.61 and 0.41 of the
    step for the orders 4, 6, 8 and 10; where the method limits its steps, that counts. Errors below the Newton
    tolerance of implicit methods need a smaller one, such as ``Rattle(tolerance=1e-13)``.

    Parameters
    ----------
    method: a symmetric method that is a map of coordinates and velocities, such as GGLEM() or Strang(); by default
        Rattle().
    order: 4, 6, 8 or 10.
    """

    method: Integrator = field(default_factory=lambda: Rattle())
    order: int = field(default=4, kw_only=True, metadata=one_of(*SOURCES))  # type: ignore[misc]

    def __post_init__(self) -> None:
        method = self.method
        if not isinstance(method, Integrator):
            given = f"{method.__name__} (call the class)" if isinstance(method, type) else repr(method)
            raise ModelError(f"Composition: method is {given}; expected an integrator, one of {METHODS}")
        if isinstance(method, Composition):
            raise ModelError(
                f"Composition: method is {method.name}, which is composed already; expected the method of its stages: "
                f"Composition({method.method!r}, order={self.order})"
            )
        if not method.symmetric:
            raise ModelError(
                f"Composition: method is {method.name}, a step of which is not undone by a step back as a map of "
                f"coordinates and velocities; expected one of {METHODS}"
            )
        if method.order >= self.order:
            raise ModelError(
                f"Composition: method is {method.name}, which has order {method.order} already; expected a method of "
                f"lower order than {self.order}"
            )
        if method.from_any_state() != method or getattr(method, "small_start", 0) != 0:
            raise ModelError(
                f"Composition: method is {method!r}, whose start belongs to one certain step; expected it without"
            )

    @property
    def name(self) -> str:
        return f"Composition({self.method!r}, order={self.order})"

    @property
    def recorded(self) -> tuple[str, ...]:  # type: ignore[override]
        """What runs of the method record in place of accelerations and multipliers; here it belongs to a stage."""
        return self.method.recorded

    @property
    def joint_coordinates(self) -> bool:  # type: ignore[override]
        """Whether the method steps models in joint coordinates."""
        return self.method.joint_coordinates

    @property
    def nonholonomic(self) -> bool:  # type: ignore[override]
        """Whether the method treats rolling."""
        return self.method.nonholonomic

    @property
    def massless(self) -> bool:  # type: ignore[override]
        """Whether the method treats bodies without mass."""
        return self.method.massless

    @property
    def requires(self) -> frozenset[Trait]:  # type: ignore[override]
        """What the method needs, and forces that do not depend on velocities."""
        return self.method.requires | {Trait.VELOCITY_FREE}

    @property
    def cite(self) -> tuple[str, ...]:  # type: ignore[override]
        """Sources of the composition and of the method."""
        return (SOURCES[self.order], *self.method.cite)

    @property
    def longest_stage(self) -> float:  # type: ignore[override]
        """The longest of the stages."""
        return float(np.abs(weights_of(self.order)).max())

    def approximates_rotations(self, system: System) -> bool:
        return self.method.approximates_rotations(system)

    def preserves(self, system: System) -> frozenset[Invariant]:
        return self.method.preserves(system)

    def notes(self, system: System) -> list[str]:
        return self.method.notes(system)

    def kinetic_energy(self, solution: Solution) -> Array | None:
        return self.method.kinetic_energy(solution)

    def check(self, system: System) -> None:
        self.method.check(system)
        reason = self.method.asymmetry(system)
        if reason is not None:
            raise IncompatibleError(f"{self.name} needs a symmetric map of coordinates and velocities; {reason}.")
        culprit = missing_trait(system, Trait.VELOCITY_FREE)
        if culprit is not None:
            raise IncompatibleError(
                f"{self.name} needs {Trait.VELOCITY_FREE.value}, because some of its stages go back in time; "
                f"{culprit}. Use {self.method.name} itself, or RK6 or DOPRI5."
            )

    def from_any_state(self) -> Composition:
        return replace(self, method=self.method.from_any_state())

    def start(self, system: System, q: Array, v: Array, t: float, step: float, turns: Array | None) -> Run:
        run = self.method.start(system, q, v, t, step, turns)
        run.compose(weights_of(self.order))
        return run

    def resume(self, system: System, state: dict[str, Any]) -> Run:
        run = self.method.resume(system, state)
        run.compose(weights_of(self.order))
        return run
