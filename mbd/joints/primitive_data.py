"""The constraint primitives out of which joints are made [Haug 1989].

All points and axes are body-fixed: those with suffix ``_a`` in the first body of the joint, those with ``_b`` in the
second (for the ground: world). P and Q denote the points ``point_a`` and ``point_b`` in space.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from mbd.elements.arguments import Vector
from mbd.errors import check_number, check_vector

if TYPE_CHECKING:
    from mbd.bodies import Body
    from mbd.compiled.functions.call_styles import Style
    from mbd.elements.prescribed_motion import Motion
    from mbd.joints.joint import Joint


@dataclass(frozen=True, eq=False)
class Primitive:
    """Base of the primitives; ``rows`` is the number of equations."""

    rows: ClassVar[int]
    quadratic: ClassVar[bool] = True
    """Whether the equations are at most quadratic in the frames, which energy-momentum methods need."""

    def _vectors(self, *arguments: str) -> None:
        name = type(self).__name__
        for argument in arguments:
            given = getattr(self, argument)
            checked = check_vector(given, name, argument)
            if checked is not given:  # those of joints are checked already
                object.__setattr__(self, argument, checked)

    def _number(self, argument: str, positive: bool = False) -> None:
        name = type(self).__name__
        object.__setattr__(self, argument, check_number(getattr(self, argument), name, argument, positive=positive))


@dataclass(frozen=True, eq=False)
class Coincident(Primitive):
    """``Q - P = 0``, three equations."""

    point_a: Vector
    point_b: Vector
    rows: ClassVar[int] = 3

    def __post_init__(self) -> None:
        self._vectors("point_a", "point_b")


@dataclass(frozen=True, eq=False)
class Dot1(Primitive):
    """``a . b - value = 0`` for an axis a of the first and an axis b of the second body."""

    axis_a: Vector
    axis_b: Vector
    value: float = 0.0
    rows: ClassVar[int] = 1

    def __post_init__(self) -> None:
        self._vectors("axis_a", "axis_b")
        self._number("value")


@dataclass(frozen=True, eq=False)
class Dot2(Primitive):
    """``a . (Q - P) - value = 0`` for an axis a of the first body; ``motion`` makes the value a function of time."""

    axis_a: Vector
    point_a: Vector
    point_b: Vector
    value: float = 0.0
    motion: Motion | None = None
    rows: ClassVar[int] = 1

    def __post_init__(self) -> None:
        self._vectors("axis_a", "point_a", "point_b")
        self._number("value")


@dataclass(frozen=True, eq=False)
class DistanceBetween(Primitive):
    """``(|Q - P|^2 - L^2) / (2 L) = 0``, scaled so that its multiplier is a force."""

    point_a: Vector
    point_b: Vector
    length: float
    rows: ClassVar[int] = 1

    def __post_init__(self) -> None:
        self._vectors("point_a", "point_b")
        self._number("length", positive=True)


@dataclass(frozen=True, eq=False)
class Turned(Primitive):
    """The direction b of the second body is turned from n1 to n2 of the first one by ``value`` or by a ``motion``.

    The equation is ``b . (cos c n2 - sin c n1) = 0``, which is regular through any number of turns.
    """

    n1_a: Vector
    n2_a: Vector
    axis_b: Vector
    value: float = 0.0
    motion: Motion | None = None
    rows: ClassVar[int] = 1

    def __post_init__(self) -> None:
        self._vectors("n1_a", "n2_a", "axis_b")
        self._number("value")


@dataclass(frozen=True, eq=False)
class Coordinate:
    """The angle or the displacement of a joint, times a factor: one term of a ``CoordinateSum``."""

    joint: Joint
    kind: Literal["angle", "displacement"]
    factor: float


@dataclass(frozen=True, eq=False)
class CoordinateSum(Primitive):
    """``sum of factor * coordinate - value = 0`` over coordinates of joints, angles counted through full turns.

    The first term says whether the sum is a length or an angle, and with it what its tolerance and multiplier are.
    """

    terms: tuple[Coordinate, ...]
    value: float = 0.0
    motion: Motion | None = None
    rows: ClassVar[int] = 1
    quadratic: ClassVar[bool] = False

    def __post_init__(self) -> None:
        self._number("value")


@dataclass(frozen=True, eq=False)
class FrameRows(Primitive):
    """Equations that are functions of the frames of several bodies, see ``mbd.elements.frame_kinds``.

    ``nonholonomic`` lists the rows that exist on the velocity level only.
    """

    kind: int
    bodies: tuple[Body, ...]
    size: int
    parameters: tuple[float, ...] = ()
    function: Any = None
    style: Style = "constraint"
    nonholonomic: tuple[int, ...] = ()
    quadratic: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", self.size)
