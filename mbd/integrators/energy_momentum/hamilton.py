"""Integrators of Hamilton's equations on the same coordinates, for comparison: HamiltonianEM, HamiltonianMidpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..base import Array, Invariant, Trait
from ..checks import check_regular_generalized
from ..converted import StepsQuaternions
from ..variational.equations import HAMILTON
from .generalized_nodes import hamilton_generalized
from .livens import LivensMidpoint, all_momenta, has_joined_quaternions
from .methods import FrameEM
from .node_steps import directors_step, hamilton_step, lie_step

if TYPE_CHECKING:
    from ...results.solution import Solution
    from ...system.system import System

CITE = (
    "Betsch & Siebert 2009, Int. J. Numer. Methods Eng. 79, 444 (rigid bodies in unit quaternions)",
    "Kinon & Betsch 2024, Multibody Syst. Dyn. (EMH, MPH)",
)


@dataclass(frozen=True)
class HamiltonianEM(StepsQuaternions, FrameEM):
    """Energy-momentum scheme of Hamilton's equations in quaternions with the extended, regular mass matrix (EMH).

    Unlike LivensEM it keeps T + V itself and e.e_dot = 0 at the ends of the steps, so that no velocity mode can grow;
    at equal steps it is less accurate. Joints between quaternions keep the energy but not the angular momentum, as with
    LivensEM. On points and directors it coincides with GonzalezEM. Bodies in other coordinates than these, quaternions
    and generalized ones are stepped as quaternions and recorded in their own, and so are flat bodies in directors.

    Parameters
    ----------
    tolerance: Newton tolerance relative to the forces of the system; the invariants drift by about as much.
    max_iterations: limit of the Newton iterations of a step.
    """

    requires: ClassVar[frozenset[Trait]] = frozenset({Trait.POLYNOMIAL_OR_GENERALIZED})
    cite: ClassVar[tuple[str, ...]] = CITE

    symmetric: ClassVar[bool] = True
    momenta: ClassVar[bool] = True
    derived: ClassVar[tuple[str, ...]] = ("p",)
    node_steps: ClassVar[dict[str, Any]] = {
        "point": lie_step,
        "quaternion": hamilton_step,
        "directors": directors_step,
        "generalized": hamilton_generalized,
    }
    held_on_average: ClassVar[tuple[str, ...]] = ("directors", "generalized")
    flat_directors: ClassVar[bool] = False

    def variable(self, solution: Solution, name: str) -> Array:
        return all_momenta(solution)

    def check(self, system: System) -> None:
        system = self.twin(system)
        super().check(system)
        check_regular_generalized(self, system)

    def preserves(self, system: System) -> frozenset[Invariant]:
        twin = self.twin(system)
        kept = set(super().preserves(twin))
        if has_joined_quaternions(twin):
            kept -= {Invariant.ANGULAR_MOMENTUM}
        return self.kept_in_records(system, kept)


@dataclass(frozen=True)
class HamiltonianMidpoint(LivensMidpoint):
    """Midpoint rule for Hamilton's equations with the extended, regular mass matrix of quaternions (MPH).

    Second order; neither the energy nor e.e_dot = 0 is exact. On points and directors it coincides with LivensMidpoint.
    Bodies in other coordinates are stepped as quaternions and recorded in their own, and so are flat bodies in
    directors.

    Parameters
    ----------
    tolerance: Newton tolerance relative to the forces of the system.
    max_iterations: limit of the Newton iterations of a step.
    """

    scheme: ClassVar[int] = HAMILTON
    cite: ClassVar[tuple[str, ...]] = CITE

    def check(self, system: System) -> None:
        system = self.twin(system)
        super().check(system)
        check_regular_generalized(self, system)
