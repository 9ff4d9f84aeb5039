"""Integrators of Hamilton's equations on the same coordinates, for comparison: HamiltonianEM, HamiltonianMidpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..records import FORM_QUATERNION
from .base import Array, Invariant, Trait
from .hamilton_nodes import hamilton_entry, hamilton_piece
from .lie_em import FrameEM
from .livens import LivensMidpoint, has_joined_quaternions
from .secant import check_regular_directors
from .special_nodes import special_pieces
from .variational_kernels import HAMILTON

if TYPE_CHECKING:
    from ..system.system import System

CITE = (
    "Betsch & Siebert 2009, Int. J. Numer. Methods Eng. 79, 444 (rigid bodies in unit quaternions)",
    "Kinon & Betsch 2024, Multibody Syst. Dyn. (EMH, MPH)",
)


@dataclass(frozen=True)
class HamiltonianEM(FrameEM):
    """Energy-momentum scheme of Hamilton's equations in quaternions with the extended, regular mass matrix (EMH).

    Unlike LivensEM it keeps T + V itself and e.e_dot = 0 at the ends of the steps, so that no velocity mode can grow;
    at equal steps it is less accurate. Joints between quaternions keep the energy but not the angular momentum, as with
    LivensEM. On points and directors it coincides with GonzalezEM.

    Parameters
    ----------
    tolerance: Newton tolerance relative to the forces of the system; the invariants drift by about as much.
    max_iterations: limit of the Newton iterations of a step.
    """

    requires: ClassVar[frozenset[Trait]] = frozenset({Trait.POLYNOMIAL_FRAMES, Trait.PLAIN_ELEMENTS})
    cite: ClassVar[tuple[str, ...]] = CITE

    def check(self, system: System) -> None:
        super().check(system)
        check_regular_directors(self, system)

    def special_nodes(self, system: System) -> Array:
        return special_pieces(system, {FORM_QUATERNION: (hamilton_entry, hamilton_piece)})

    def preserves(self, system: System) -> frozenset[Invariant]:
        kept = set(super().preserves(system))
        if has_joined_quaternions(system):
            kept -= {Invariant.ANGULAR_MOMENTUM}
        return frozenset(kept)


@dataclass(frozen=True)
class HamiltonianMidpoint(LivensMidpoint):
    """Midpoint rule for Hamilton's equations with the extended, regular mass matrix of quaternions (MPH).

    Second order; neither the energy nor e.e_dot = 0 is exact. On points and directors it coincides with LivensMidpoint.

    Parameters
    ----------
    tolerance: Newton tolerance relative to the forces of the system.
    max_iterations: limit of the Newton iterations of a step.
    """

    scheme: ClassVar[int] = HAMILTON
    cite: ClassVar[tuple[str, ...]] = CITE
