"""What force elements hand over to compiled force laws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from mbd.bodies import Body
from mbd.elements.prescribed_motion import Motion
from mbd.errors import ZERO3, Array
from mbd.forces.kinds import LIMIT, LINEAR

if TYPE_CHECKING:
    from mbd.compiled.functions.call_styles import Style


def _zero() -> Array:
    return ZERO3


@dataclass(frozen=True, eq=False)
class ForceData:
    """What a compiled force law needs to know; points and axes are body-fixed (for the ground: world).

    The meaning of ``parameters`` (at most six numbers) depends on ``kind``, see ``mbd.forces.kinds``:

    - SPRING, TORSION_SPRING, AXIS_SPRING act on a length, an angle, a displacement by their ``law``: LINEAR has
      stiffness, rest value, damping, a further force on the second body and its limit (0: none), where ``motion``
      replaces the rest value, and a ``function`` the further force: of time, or of (t, u, u_dot) if ``style`` is
      "joint". FRICTION has viscous coefficient, Coulomb's force, what is added to it at rest, and the two velocities of
      these; LIMIT stiffness, lower limit, damping, upper limit;
    - FORCE_WORLD, FORCE_BODY, TORQUE_WORLD, TORQUE_BODY: the constant vector, acting on ``body_b`` at ``point_b``; zero
      if there is a ``function`` of time, which then returns ``function_size`` numbers.
    """

    kind: int
    body_a: Body | None
    body_b: Body | None
    point_a: Array = field(default_factory=_zero)
    point_b: Array = field(default_factory=_zero)
    axis_a: Array = field(default_factory=_zero)
    axis_b: Array = field(default_factory=_zero)
    normal_a: Array = field(default_factory=_zero)
    normal_b: Array = field(default_factory=_zero)
    parameters: tuple[float, ...] = ()
    function: Callable[..., Any] | None = None
    function_size: int = 0
    style: Style = "time"
    probe: tuple[float, ...] = ()
    """Arguments with which a function of a coordinate can be called."""
    law: int = LINEAR
    motion: Motion | None = None
    branch: float = 0.0
    """Angle to which that of a torsion spring is nearest at the start."""

    untold: ClassVar[tuple[str, ...]] = ("probe", "branch")
    """What fingerprints do not contain: it belongs to the initial configuration."""
    told_where_given: ClassVar[dict[str, Any]] = {"style": "time", "law": LINEAR}
    """What they contain only where it has another value, because the first ones had no such fields."""

    @property
    def timed(self) -> bool:
        """Whether it depends on time explicitly."""
        return self.function is not None or getattr(self.motion, "function", None) is not None

    @property
    def is_load(self) -> bool:
        """Whether its work may have either sign: it is neither elastic nor dissipative."""
        driven = self.law == LINEAR and any(self.parameters[3:5])
        return self.body_a is None or self.timed or driven

    @property
    def conservative(self) -> bool:
        """Whether all of it is elastic."""
        elastic = self.law in (LINEAR, LIMIT) and not self.is_load
        return elastic and not any(self.parameters[2:3])


@dataclass(frozen=True, eq=False)
class ElementData:
    """A force on the frames of several bodies (``elements.frame_kinds``); ``style`` says how a function is called."""

    kind: int
    bodies: tuple[Body, ...]
    parameters: tuple[float, ...] = ()
    function: Callable[..., Any] | None = None
    style: Style = "force"
    size: int = 0
