"""Shapes of bodies, for views only: they have no influence on the motion.

All lengths and directions are in body axes, measured from the reference point of the body's node. ``colour`` is any
colour name or "#rrggbb"; by default the view chooses.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from mbd.elements.arguments import FilePath, Orientation, Vector
from mbd.errors import Array, bad_value, check_direction, check_number, check_vector, read_only
from mbd.rotation import as_matrix

__all__ = ["Box", "Capsule", "Composite", "Cone", "Cylinder", "Ellipsoid", "Frame", "Mesh", "Shape", "Sphere"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Shape:
    """Base of all shapes."""

    colour: str | None = None

    def __post_init__(self) -> None:
        if self.colour is not None and not isinstance(self.colour, str):
            raise bad_value(self._name, "colour", self.colour, 'a colour name or "#rrggbb"')

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copies and pickles: numpy forgets that arrays are read-only."""
        for value in state.values():
            if isinstance(value, np.ndarray):
                read_only(value)
        self.__dict__.update(state)

    @property
    def _name(self) -> str:
        return f"shape {type(self).__name__}"

    def _positive(self, *arguments: str) -> None:
        for argument in arguments:
            object.__setattr__(
                self, argument, check_number(getattr(self, argument), self._name, argument, positive=True)
            )

    def _vector(self, *arguments: str) -> None:
        for argument in arguments:
            object.__setattr__(self, argument, check_vector(getattr(self, argument), self._name, argument))

    def _direction(self, *arguments: str) -> None:
        for argument in arguments:
            object.__setattr__(self, argument, check_direction(getattr(self, argument), self._name, argument))

    def _rotations(self, *arguments: str) -> None:
        for argument in arguments:
            if getattr(self, argument) is not None:
                object.__setattr__(self, argument, as_matrix(getattr(self, argument), self._name, argument))


S = TypeVar("S", bound=Shape)


def _with_centre(cls: type[S]) -> type[S]:
    """Lets people write ``center`` for ``centre``, as an argument and as an attribute."""
    made: Any = cls.__init__

    def center(self: Any) -> Array:
        """Another spelling of ``centre``."""
        return self.centre

    @functools.wraps(made)
    def init(self: S, *arguments: Any, **options: Any) -> None:
        if "center" in options:
            made(self, *arguments, centre=options.pop("center"), **options)
        else:
            made(self, *arguments, **options)

    setattr(cls, "__init__", init)  # noqa: B010 - mypy knows the constructor of the dataclass
    setattr(cls, "center", property(center))  # noqa: B010
    return cls


@_with_centre
@dataclass(frozen=True, eq=False)
class Box(Shape):
    """Box with edge lengths ``size``; ``rotation`` turns its edges away from the body axes."""

    size: Vector = (1.0, 1.0, 1.0)
    centre: Vector = (0.0, 0.0, 0.0)
    rotation: Orientation | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._vector("size", "centre")
        if np.min(self.size) <= 0.0:
            raise bad_value(self._name, "size", self.size, "three positive edge lengths")
        self._rotations("rotation")


@_with_centre
@dataclass(frozen=True, eq=False)
class Cylinder(Shape):
    """Cylinder around ``axis`` with its middle at ``centre``."""

    radius: float = 0.5
    height: float = 1.0
    axis: Vector = (0.0, 0.0, 1.0)
    centre: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._positive("radius", "height")
        self._vector("centre")
        self._direction("axis")


@_with_centre
@dataclass(frozen=True, eq=False)
class Cone(Shape):
    """Cone whose ``axis`` points from its base to its tip.

    ``centre`` is the middle of the height unless ``tip`` is given, which puts the tip there instead.
    """

    radius: float = 0.5
    height: float = 1.0
    axis: Vector = (0.0, 0.0, 1.0)
    centre: Vector = (0.0, 0.0, 0.0)
    tip: Vector | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._positive("radius", "height")
        self._vector("centre")
        self._direction("axis")
        if self.tip is not None:
            if np.any(self.centre):
                raise bad_value(self._name, "tip", self.tip, "either tip or centre, not both")
            self._vector("tip")
            centre = np.asarray(self.tip) - 0.5 * self.height * np.asarray(self.axis)
            object.__setattr__(self, "centre", check_vector(centre, "", ""))


@_with_centre
@dataclass(frozen=True, eq=False)
class Sphere(Shape):
    """Ball around ``centre``."""

    radius: float = 0.5
    centre: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._positive("radius")
        self._vector("centre")


@_with_centre
@dataclass(frozen=True, eq=False)
class Ellipsoid(Shape):
    """Ellipsoid with half axes ``radii``; ``rotation`` turns them away from the body axes.

    >>> mbd.mass_properties(mbd.shapes.Ellipsoid((0.1, 0.2, 0.3)), mass=5.0).inertia.diagonal().round(6).tolist()
    [0.13, 0.1, 0.05]
    """

    radii: Vector = (0.5, 0.5, 0.5)
    centre: Vector = (0.0, 0.0, 0.0)
    rotation: Orientation | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._vector("radii", "centre")
        if np.min(self.radii) <= 0.0:
            raise bad_value(self._name, "radii", self.radii, "three positive half axes")
        self._rotations("rotation")


@_with_centre
@dataclass(frozen=True, eq=False)
class Capsule(Shape):
    """Cylinder with half spheres at its ends; ``height`` is that of the cylinder without them."""

    radius: float = 0.1
    height: float = 1.0
    axis: Vector = (0.0, 0.0, 1.0)
    centre: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._positive("radius", "height")
        self._vector("centre")
        self._direction("axis")


@_with_centre
@dataclass(frozen=True, eq=False)
class Frame(Shape):
    """Three arrows of length ``size`` along the body axes.

    >>> camera = mbd.shapes.Composite(mbd.shapes.Box((0.1, 0.1, 0.2)), mbd.shapes.Frame(size=0.3))
    >>> body = mbd.RigidBody("camera", mass=0.5, inertia=(1e-3, 1e-3, 1e-3), shape=camera)
    """

    size: float = 1.0
    centre: Vector = (0.0, 0.0, 0.0)
    rotation: Orientation | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._positive("size")
        self._vector("centre")
        self._rotations("rotation")


@_with_centre
@dataclass(frozen=True, eq=False)
class Mesh(Shape):
    """Surface read from a file (STL, OBJ, PLY, glTF ...) when a view needs it; ``scale=1e-3`` where it is in mm."""

    file: FilePath = ""
    scale: float = 1.0
    centre: Vector = (0.0, 0.0, 0.0)
    rotation: Orientation | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.file, str | Path) or not str(self.file):
            raise bad_value(self._name, "file", self.file, "the path of a surface file (STL, OBJ, PLY, glTF)")
        object.__setattr__(self, "file", Path(self.file))
        self._positive("scale")
        self._vector("centre")
        self._rotations("rotation")


@dataclass(frozen=True, eq=False, init=False)
class Composite(Shape):
    """Several shapes on one body: ``Composite(Box(...), Sphere(...))`` or ``Composite([Box(...), Sphere(...)])``."""

    parts: tuple[Shape, ...] = ()

    def __init__(self, *parts: Shape | Iterable[Shape], colour: str | None = None) -> None:
        object.__setattr__(self, "colour", colour)
        super().__post_init__()
        flat: list[Shape] = []
        for part in parts:
            flat.extend([part] if isinstance(part, Shape) else part if isinstance(part, list | tuple) else [part])  # type: ignore[list-item]
        for part in flat:
            if not isinstance(part, Shape):
                raise bad_value(self._name, "parts", part, "shapes from mbd.shapes")
        if not flat:
            raise bad_value(self._name, "parts", parts, "at least one shape")
        object.__setattr__(self, "parts", tuple(flat))


def __dir__() -> list[str]:
    return __all__
