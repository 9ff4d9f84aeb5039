"""Integrators for rigid bodies that move on their own, one body or thousands, as people call them.

Bodies may be free, pinned, or held by one spherical joint to the ground. Rotations are advanced in principal axes as
momentum and quaternion, whatever the nodes store, and written to the nodes for every record.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...errors import AccuracyWarning, IncompatibleError, ModelError
from ..arguments import one_of
from ..base import ADVICE, Array, Integrator, Invariant, Trait, missing_trait
from ..checks import keeps_momenta
from . import flows, loops
from .jacobi import MOST_TURNS
from .run import RigidBodyRun
from .series import LARGEST_ANGLE_SQUARED
from .stages import EULER_STAGES, NYSTROM_STAGES, SRKN6B, SRKN11B, SRKN14A, STRANG_STAGES, Stages

if TYPE_CHECKING:
    from ...system.system import System

VILMART = "Vilmart 2013, Rigid body dynamics, hal-00912388"
HELD = frozenset({Invariant.POSITION_CONSTRAINTS, Invariant.VELOCITY_CONSTRAINTS})


@dataclass(frozen=True)
class _SingleBodies(Integrator):
    """What all methods for single bodies share."""

    requires: ClassVar[frozenset[Trait]] = frozenset({Trait.SINGLE_BODIES})
    scheme: ClassVar[int] = -1  # splitting with forces, see mbd.integrators.rigid_body.loops
    stages: ClassVar[Stages] = STRANG_STAGES

    @property
    def rotation(self) -> FreeRotation:
        """The method that advances free rotations."""
        raise NotImplementedError

    def approximates_rotations(self, system: System) -> bool:
        """Methods that keep the energy are exact, or stop at limits of their own; splittings do not."""
        exact = self.rotation.symmetric_axes and missing_trait(system, Trait.SYMMETRIC_BODIES) is None
        return not self.rotation.conserves_energy and not exact

    def check(self, system: System) -> None:
        """Refuse other models; joints first, because advice about forces would be of no use with them."""
        culprit = missing_trait(system, Trait.SINGLE_BODIES)
        if culprit is not None:
            raise IncompatibleError(
                f"{self.name} needs {Trait.SINGLE_BODIES.value}; {culprit}. {ADVICE[Trait.SINGLE_BODIES]}."
            )
        super().check(system)

    def start(self, system: System, q: Array, v: Array, t: float, step: float, turns: Array | None) -> RigidBodyRun:
        run = RigidBodyRun(self, system, t, step)
        run.begin(q, v)
        return run

    def resume(self, system: System, state: dict[str, Any]) -> RigidBodyRun:
        run = RigidBodyRun(self, system, float(state["origin"]), float(state["step"]))
        run.restore(state)
        return run


@dataclass(frozen=True)
class FreeRotation(_SingleBodies):
    """Base of the methods for the free rigid body; translation, also under gravity, is exact."""

    requires: ClassVar[frozenset[Trait]] = frozenset({Trait.SINGLE_BODIES, Trait.FREE_ROTATION})
    symmetric: ClassVar[bool] = True
    flow: ClassVar[int]
    symmetric_axes: ClassVar[bool] = False  # principal axes in the order for splittings with a symmetric body
    conserves_energy: ClassVar[bool] = True
    symplectic: ClassVar[bool] = True
    largest_turn: ClassVar[float] = MOST_TURNS
    """Angle (rad) by which a body can always turn in a step; beyond, the run stops where the equations fail."""

    @property
    def rotation(self) -> FreeRotation:
        return self

    def turning_rate(self, body: Any, momentum: Array) -> Array:
        """What is compared with ``largest_turn`` per time, here the angular velocity (a row of the table of bodies)."""
        return np.array((body.k1, body.k2, body.k3)) * momentum

    @property
    def series_order(self) -> int:
        """Order of the series of modified moments of inertia."""
        return 2

    def preserves(self, system: System) -> frozenset[Invariant]:
        kept = set(HELD)
        if self.conserves_energy:
            kept.add(Invariant.ENERGY)
        if self.symplectic:
            kept.add(Invariant.SYMPLECTIC)
        if keeps_momenta(system):
            kept |= {Invariant.LINEAR_MOMENTUM, Invariant.ANGULAR_MOMENTUM}
        return frozenset(kept)


@dataclass(frozen=True)
class JacobiExact(FreeRotation):
    """Jacobi's exact solution by elliptic functions; every record is evaluated from the start, whatever the time."""

    order: ClassVar[int] = math.inf  # type: ignore[assignment]
    flow: ClassVar[int] = flows.JACOBI
    cite: ClassVar[tuple[str, ...]] = (
        "Jacobi 1850, J. reine angew. Math. 39, 293",
        "Celledoni, Fasso, Safstrom & Zanna 2008, SIAM J. Sci. Comput. 30, 2084",
        f"{VILMART}, Algorithm 1",
    )


@dataclass(frozen=True)
class RotationSplitting(FreeRotation):
    """Five rotations about the principal axes; explicit, symplectic, order two."""

    order: ClassVar[int] = 2
    flow: ClassVar[int] = flows.ROTATIONS
    conserves_energy: ClassVar[bool] = False
    cite: ClassVar[tuple[str, ...]] = (
        "McLachlan 1993, Phys. Rev. Lett. 71, 3043",
        "Touma & Wisdom 1994, Astron. J. 107, 1189",
        VILMART,
    )


@dataclass(frozen=True)
class SymmetricSplitting(FreeRotation):
    """A symmetric body and a rotation about one axis; explicit, symplectic, order two, exact for symmetric bodies.

    Of the three possible splittings the one that is nearest to a symmetric body is chosen.
    """

    order: ClassVar[int] = 2
    flow: ClassVar[int] = flows.SYMMETRIC
    symmetric_axes: ClassVar[bool] = True
    conserves_energy: ClassVar[bool] = False
    cite: ClassVar[tuple[str, ...]] = ("Fasso 2003, J. Comput. Phys. 189, 527", f"{VILMART}, Algorithm 2")


@dataclass(frozen=True)
class MoserVeselov(FreeRotation):
    """Discrete Moser-Veselov algorithm with moments of inertia modified to reach order 2, 4, 6, 8, 10, 12 or 14.

    Order two is the algorithm itself, which is RATTLE for the free rigid body and symplectic; the higher orders are
    Poisson integrators. All of them keep energy and momentum to round-off. Orders beyond ten pay for steps in which a
    body turns by more than half a radian.
    """

    order: int = field(default=2, metadata=one_of(*LARGEST_ANGLE_SQUARED))  # type: ignore[misc]
    flow: ClassVar[int] = flows.MOSER_VESELOV
    cite: ClassVar[tuple[str, ...]] = (
        "Moser & Veselov 1991, Commun. Math. Phys. 139, 217",
        "McLachlan & Zanna 2005, Found. Comput. Math. 5, 87",
        "Hairer & Vilmart 2006, J. Phys. A 39, 13225",
        f"{VILMART}, Algorithms 3 and 4; series of orders 10 to 14 derived here",
    )

    @property
    def name(self) -> str:
        return f"MoserVeselov(order={self.order})"

    @property
    def largest_turn(self) -> float:  # type: ignore[override]
        """Where a steady rotation has no discrete solution any more, sin(angle) = 1, or its series turns back."""
        return {2: 1.0, 4: 1.41, 6: 1.49}.get(self.order, 1.57)

    @property
    def series_order(self) -> int:
        return self.order

    @property
    def symplectic(self) -> bool:  # type: ignore[override]
        """Whether the map of momentum and attitude is symplectic."""
        return self.order == 2


@dataclass(frozen=True)
class RigidMidpoint(FreeRotation):
    """Implicit midpoint rule for the free rigid body; keeps energy and momentum, but is not symplectic."""

    order: ClassVar[int] = 2
    flow: ClassVar[int] = flows.MIDPOINT
    symplectic: ClassVar[bool] = False
    largest_turn: ClassVar[float] = 2.0
    cite: ClassVar[tuple[str, ...]] = (f"{VILMART}, Remark 4",)


@dataclass(frozen=True)
class _Splitting(_SingleBodies):
    """Free motion and kicks by the forces in turn."""

    symmetric: ClassVar[bool] = True

    def preserves(self, system: System) -> frozenset[Invariant]:
        kept = set(HELD)
        if self.rotation.symplectic and missing_trait(system, Trait.CONSERVATIVE) is None:
            kept.add(Invariant.SYMPLECTIC)
        if keeps_momenta(system):
            kept |= {Invariant.LINEAR_MOMENTUM, Invariant.ANGULAR_MOMENTUM}
        return frozenset(kept)


@dataclass(frozen=True)
class Strang(_Splitting):
    """Strang splitting of order two: half a kick by the forces, free motion by ``method``, half a kick.

    Forces may depend on position, time and velocities; where they do depend on velocities, a step evaluates them three
    times, and stiff dampers ask for small steps.
    """

    method: FreeRotation = field(default_factory=lambda: MoserVeselov())
    order: ClassVar[int] = 2
    scheme: ClassVar[int] = loops.STAGES
    cite: ClassVar[tuple[str, ...]] = ("Strang 1968, SIAM J. Numer. Anal. 5, 506", f"{VILMART}, (16)")

    def __post_init__(self) -> None:
        _check_method(self, 2)

    @property
    def name(self) -> str:
        return f"Strang({self.method!r})"

    @property
    def rotation(self) -> FreeRotation:
        return self.method


@dataclass(frozen=True)
class NystromSplitting(_Splitting):
    """Splitting of order four with the gradient of the forces, which comes from the stiffness of the elements.

    ``method`` advances free rotations and must have order four at least. Forces may depend on position and time; bodies
    may be coupled by springs. **Where forces depend on velocities the order is two**, which a warning says.
    """

    method: FreeRotation = field(default_factory=JacobiExact)
    order: ClassVar[int] = 4
    scheme: ClassVar[int] = loops.NYSTROM
    stages: ClassVar[Stages] = NYSTROM_STAGES
    cite: ClassVar[tuple[str, ...]] = (
        "Blanes, Casas & Ros 2001, Appl. Numer. Math. 39, 245",
        f"{VILMART}, Nystrom splitting (flow of the force gradient corrected)",
    )

    def __post_init__(self) -> None:
        _check_method(self, 4)

    def order_on(self, system: System) -> int:
        return self.order if missing_trait(system, Trait.VELOCITY_FREE) is None else 2

    def start(self, system: System, q: Array, v: Array, t: float, step: float, turns: Array | None) -> RigidBodyRun:
        culprit = missing_trait(system, Trait.VELOCITY_FREE)
        if culprit is not None:
            warnings.warn(
                f"NystromSplitting has order two here, not four: {culprit}. Strang() is as good and cheaper, RK4 has "
                "order four", AccuracyWarning, stacklevel=3,
            )  # fmt: skip
        return super().start(system, q, v, t, step, turns)

    @property
    def name(self) -> str:
        return f"NystromSplitting({self.method!r})"

    @property
    def rotation(self) -> FreeRotation:
        return self.method


@dataclass(frozen=True)
class _NystromStages(_Splitting):
    """Base of the Runge-Kutta-Nystrom splittings of Blanes and Moan: kicks and free motion in many parts, no gradient.

    ``method`` advances free rotations and must have the order of the splitting at least. With the default, whose error
    is below round-off while a body turns by less than about 0.3 rad in a part, compensated summation goes through all
    parts of a step; with ``JacobiExact()`` steps may be of any length and the map is symplectic to the last digit,
    but each part loses a digit of the seventeenth place. Forces may depend on position and time, not on velocities:
    some parts go back in time.
    """

    method: FreeRotation = field(default_factory=lambda: MoserVeselov(order=14))
    requires: ClassVar[frozenset[Trait]] = _Splitting.requires | {Trait.VELOCITY_FREE}
    scheme: ClassVar[int] = loops.STAGES
    cite: ClassVar[tuple[str, ...]] = ("Blanes & Moan 2002, J. Comput. Appl. Math. 142, 313",)

    def __post_init__(self) -> None:
        _check_method(self, self.order)

    @property
    def name(self) -> str:
        return f"{type(self).__name__}({self.method!r})"

    @property
    def rotation(self) -> FreeRotation:
        return self.method


@dataclass(frozen=True)
class SRKN6b(_NystromStages):
    """Runge-Kutta-Nystrom splitting of order four: six evaluations of the forces per step, for errors above 1e-8.

    ``method`` advances free rotations (order four at least), by default ``MoserVeselov(order=14)``.
    """

    order: ClassVar[int] = 4
    stages: ClassVar[Stages] = SRKN6B


@dataclass(frozen=True)
class SRKN11b(_NystromStages):
    """Runge-Kutta-Nystrom splitting of order six: eleven evaluations of the forces per step.

    ``method`` advances free rotations (order six at least), by default ``MoserVeselov(order=14)``.
    """

    order: ClassVar[int] = 6
    stages: ClassVar[Stages] = SRKN11B


@dataclass(frozen=True)
class SRKN14a(_NystromStages):
    """Runge-Kutta-Nystrom splitting of order six: fourteen evaluations of the forces per step, for errors below 1e-8.

    ``method`` advances free rotations (order six at least), by default ``MoserVeselov(order=14)``.
    """

    order: ClassVar[int] = 6
    stages: ClassVar[Stages] = SRKN14A


@dataclass(frozen=True)
class _BobenkoSurisRotation(FreeRotation):
    """Cayley rotation about the momentum, and exact spin."""

    order: ClassVar[int] = 2
    flow: ClassVar[int] = flows.BOBENKO_SURIS
    symmetric_axes: ClassVar[bool] = True
    largest_turn: ClassVar[float] = 2.0

    @property
    def name(self) -> str:
        return "BobenkoSuris"

    def turning_rate(self, body: Any, momentum: Array) -> Array:
        return np.asarray(body.k1 * momentum)  # about the momentum; the spin is exact


@dataclass(frozen=True)
class BobenkoSuris(_Splitting):
    """Bobenko and Suris' integrable discretisation of the Lagrange top, a symmetric body in gravity; order one.

    It keeps the momenta about the vertical and about the body's axis, and an energy that differs from the true one by a
    term of the size of the step. Other forces are admitted, without that energy.
    """

    requires: ClassVar[frozenset[Trait]] = _Splitting.requires | {Trait.SYMMETRIC_BODIES}
    symmetric: ClassVar[bool] = False
    order: ClassVar[int] = 1
    scheme: ClassVar[int] = loops.STAGES
    stages: ClassVar[Stages] = EULER_STAGES
    cite: ClassVar[tuple[str, ...]] = (
        "Bobenko & Suris 1999, Commun. Math. Phys. 204, 147, (1.17)",
        "Kinon, Betsch & Schneider 2023, Appendix A.8",
    )

    @property
    def rotation(self) -> FreeRotation:
        return _BobenkoSurisRotation()


def _check_method(owner: Strang | NystromSplitting | _NystromStages, least: int) -> None:
    method, name = owner.method, type(owner).__name__
    if not isinstance(method, FreeRotation):
        given = f"{method.__name__} (call the class)" if isinstance(method, type) else repr(method)
        raise ModelError(
            f"{name}: method is {given}; expected JacobiExact(), MoserVeselov(order), RotationSplitting(), "
            "SymmetricSplitting() or RigidMidpoint()"
        )
    if method.order < least:
        raise ModelError(
            f"{name}: method is {method!r} of order {method.order}; expected order {least} at least, such as "
            f"JacobiExact() or MoserVeselov(order={least})"
        )
