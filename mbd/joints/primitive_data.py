"""The four constraint primitives out of which joints are made [Haug 1989].

All points and axes are body-fixed: those with suffix ``_a`` in the first body of the joint, those with ``_b`` in the
second (for the ground: world). P and Q denote the points ``point_a`` and ``point_b`` in space.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from mbd.errors import check_number, check_vector


@dataclass(frozen=True, eq=False)
class Primitive:
    """Base of the primitives; ``rows`` is the number of equations."""

    rows: ClassVar[int]

    def _vectors(self, *arguments: str) -> None:
        name = type(self).__name__
        for argument in arguments:
            object.__setattr__(self, argument, check_vector(getattr(self, argument), name, argument))

    def _number(self, argument: str, positive: bool = False) -> None:
        name = type(self).__name__
        object.__setattr__(self, argument, check_number(getattr(self, argument), name, argument, positive=positive))


@dataclass(frozen=True, eq=False)
class Coincident(Primitive):
    """``Q - P = 0``, three equations."""

    point_a: Any
    point_b: Any
    rows: ClassVar[int] = 3

    def __post_init__(self) -> None:
        self._vectors("point_a", "point_b")


@dataclass(frozen=True, eq=False)
class Dot1(Primitive):
    """``a . b - value = 0`` for an axis a of the first and an axis b of the second body."""

    axis_a: Any
    axis_b: Any
    value: float = 0.0
    rows: ClassVar[int] = 1

    def __post_init__(self) -> None:
        self._vectors("axis_a", "axis_b")
        self._number("value")


@dataclass(frozen=True, eq=False)
class Dot2(Primitive):
    """``a . (Q - P) - value = 0`` for an axis a of the first body."""

    axis_a: Any
    point_a: Any
    point_b: Any
    value: float = 0.0
    rows: ClassVar[int] = 1

    def __post_init__(self) -> None:
        self._vectors("axis_a", "point_a", "point_b")
        self._number("value")


@dataclass(frozen=True, eq=False)
class DistanceBetween(Primitive):
    """``(|Q - P|^2 - L^2) / (2 L) = 0``, scaled so that its multiplier is a force."""

    point_a: Any
    point_b: Any
    length: float
    rows: ClassVar[int] = 1

    def __post_init__(self) -> None:
        self._vectors("point_a", "point_b")
        self._number("length", positive=True)
