"""What force elements hand over to compiled force laws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mbd.bodies import Body
from mbd.elements.prescribed_motion import Motion
from mbd.errors import ZERO3, Array

if TYPE_CHECKING:
    from mbd.compiled.functions.call_styles import Style


def _zero() -> Array:
    return ZERO3


@dataclass(frozen=True, eq=False)
class ForceData:
    """What a compiled force law needs to know; points and axes are body-fixed (for the ground: world).

    The meaning of ``parameters`` (at most six numbers) depends on ``kind``, see ``mbd.forces.kinds``:

    - SPRING: stiffness, length, damping;
    - TORSION_SPRING: stiffness, rest angle, damping;
    - AXIS_SPRING: stiffness, rest displacement, damping; ``motion`` replaces the rest value of both by a function of
      time;
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
    motion: Motion | None = None


@dataclass(frozen=True, eq=False)
class ElementData:
    """A force on the frames of several bodies (``elements.frame_kinds``); ``style`` says how a function is called."""

    kind: int
    bodies: tuple[Body, ...]
    parameters: tuple[float, ...] = ()
    function: Callable[..., Any] | None = None
    style: Style = "force"
    size: int = 0
