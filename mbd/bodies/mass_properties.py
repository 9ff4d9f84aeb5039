"""Mass, centre of mass and inertia of shapes, of closed surfaces from files, and of bodies made of parts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mbd.bodies.body import PointMass, RigidBody
from mbd.bodies.shapes import Box, Capsule, Composite, Cone, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from mbd.bodies.surfaces import check_closed, read_triangles, volume_integrals
from mbd.elements.arguments import Inertia, Orientation, Vector
from mbd.errors import IDENTITY3, ZERO3, Array, ModelError, bad_value, check_matrix, check_number, check_vector
from mbd.nodes import RigidNode
from mbd.rotation import as_matrix


@dataclass(frozen=True, eq=False, init=False)
class MassProperties:
    """Mass, centre of mass from the reference point, and inertia about the centre of mass, in the same axes."""

    mass: float
    com: Array
    inertia: Array
    volume: float

    def __init__(self, mass: float, com: Vector, inertia: Inertia, volume: float = 0.0) -> None:
        name = "mass properties"
        matrix = np.diag(np.asarray(inertia)) if np.ndim(inertia) == 1 else inertia
        object.__setattr__(self, "mass", check_number(mass, name, "mass", positive=True))
        object.__setattr__(self, "com", check_vector(com, name, "com"))
        object.__setattr__(self, "inertia", check_matrix(matrix, name, "inertia", 3, symmetric=True))
        object.__setattr__(self, "volume", volume)

    def moved(self, position: Vector = ZERO3, rotation: Orientation | None = None) -> MassProperties:
        """These properties in another frame, in which the present one has the given position and rotation."""
        r = check_vector(position, "mass properties", "position")
        turn = IDENTITY3 if rotation is None else as_matrix(rotation, "mass properties", "rotation")
        return MassProperties(self.mass, r + turn @ self.com, turn @ self.inertia @ turn.T, self.volume)

    def about(self, point: Vector) -> Array:
        """Inertia about another point (Steiner)."""
        d = check_vector(point, "mass properties", "point") - self.com
        return self.inertia + self.mass * (float(d @ d) * IDENTITY3 - np.outer(d, d))

    def __add__(self, other: MassProperties) -> MassProperties:
        """Mass properties of both parts, rigidly connected."""
        if not isinstance(other, MassProperties):
            return NotImplemented
        mass = self.mass + other.mass
        com = (self.mass * self.com + other.mass * other.com) / mass
        return MassProperties(mass, com, self.about(com) + other.about(com), self.volume + other.volume)

    def body(self, name: str | None = None, node: RigidNode | None = None, shape: Shape | None = None) -> RigidBody:
        """A rigid body with these properties; its reference point is the origin to which ``com`` refers."""
        return RigidBody(name, self.mass, self.inertia, node, self.com, shape)

    def centred(self) -> MassProperties:
        """These properties with the centre of mass as reference point."""
        return MassProperties(self.mass, ZERO3, self.inertia, self.volume)


def mass_properties(shape: Shape, density: float | None = None, *, mass: float | None = None) -> MassProperties:
    """Mass properties of a solid of uniform density with this shape, seen from the reference point of the body.

    Give the density, or the mass. ``Mesh`` reads STL and OBJ files with a closed surface; a ``Composite`` is the sum of
    its parts, where overlaps count twice.

    >>> found = mbd.mass_properties(mbd.shapes.Box(size=(1.0, 0.2, 0.1)), density=1000.0)
    >>> round(found.mass, 6), np.diag(found.inertia).round(4).tolist()
    (20.0, [0.0833, 1.6833, 1.7333])
    """
    if not isinstance(shape, Shape):
        raise bad_value("mass_properties", "shape", shape, "a shape from mbd.shapes")
    if (density is None) == (mass is None):
        raise bad_value("mass_properties", "density, mass", [density, mass], "one of the two")
    if density is not None:
        return _solid(shape, check_number(density, "mass_properties", "density", positive=True))
    unit = _solid(shape, 1.0)
    given = check_number(mass, "mass_properties", "mass", positive=True)
    return MassProperties(given, unit.com, given / unit.mass * unit.inertia, unit.volume)


def composite(parts: Iterable[MassProperties | tuple[Shape, float] | RigidBody | PointMass]) -> MassProperties:
    """The sum of parts that are rigidly connected.

    A part is a ``MassProperties``, a pair (shape, density), or a rigid body or point mass, which counts where its node
    puts it in the world.

    >>> rod = mbd.shapes.Cylinder(radius=0.01, height=1.0)
    >>> ball = mbd.shapes.Sphere(radius=0.1, centre=(0, 0, 0.5))
    >>> both = mbd.composite([(rod, 7800.0), (ball, 1000.0)])
    >>> round(both.mass, 3), both.com.round(3).tolist()
    (6.639, [0.0, 0.0, 0.315])
    """
    total: MassProperties | None = None
    for part in parts:
        new = _part(part)
        total = new if total is None else total + new
    if total is None:
        raise ModelError("composite: there are no parts; expected at least one")
    return total


def _part(part: Any) -> MassProperties:
    if isinstance(part, MassProperties):
        return part
    if isinstance(part, RigidBody | PointMass):
        own = MassProperties(part.mass, part.com, part.inertia)
        return own.moved(part.position, part.rotation)
    if isinstance(part, tuple | list) and len(part) == 2 and isinstance(part[0], Shape):
        return mass_properties(part[0], part[1])
    raise bad_value("composite", "part", part, "MassProperties, a pair (shape, density), or a body")


def _solid(shape: Shape, density: float) -> MassProperties:
    if isinstance(shape, Box):
        size = np.asarray(shape.size, dtype=float)
        a, b, c = (size**2).tolist()
        volume = float(np.prod(size))
        m = density * volume
        inertia = m / 12.0 * np.diag((b + c, c + a, a + b))
        return MassProperties(m, ZERO3, inertia, volume).moved(shape.centre, shape.rotation)
    if isinstance(shape, Sphere):
        volume = 4.0 / 3.0 * math.pi * shape.radius**3
        m = density * volume
        return MassProperties(m, shape.centre, 0.4 * m * shape.radius**2 * IDENTITY3, volume)
    if isinstance(shape, Ellipsoid):
        radii = np.asarray(shape.radii, dtype=float)
        a, b, c = (radii**2).tolist()
        volume = 4.0 / 3.0 * math.pi * float(np.prod(radii))
        m = density * volume
        inertia = 0.2 * m * np.diag((b + c, c + a, a + b))
        return MassProperties(m, ZERO3, inertia, volume).moved(shape.centre, shape.rotation)
    if isinstance(shape, Cylinder):
        r, h = shape.radius, shape.height
        volume = math.pi * r * r * h
        m = density * volume
        return _of_revolution(m, shape.axis, shape.centre, 0.5 * m * r * r, m * (3 * r * r + h * h) / 12, volume)
    if isinstance(shape, Cone):
        r, h = shape.radius, shape.height
        volume = math.pi * r * r * h / 3.0
        m = density * volume
        com = np.asarray(shape.centre) - 0.25 * h * np.asarray(shape.axis)  # a quarter of the height above the base
        return _of_revolution(m, shape.axis, com, 0.3 * m * r * r, m * (0.15 * r * r + 0.0375 * h * h), volume)
    if isinstance(shape, Capsule):
        return _capsule(shape, density)
    if isinstance(shape, Mesh):
        return _mesh(shape, density)
    if isinstance(shape, Composite):
        return composite(_solid(part, density) for part in shape.parts)
    expected = "a Box, Cylinder, Sphere, Ellipsoid, Cone, Capsule, Mesh or Composite"
    raise bad_value("mass_properties", "shape", shape, expected)


def _of_revolution(m: float, axis: Any, com: Any, axial: float, lateral: float, volume: float) -> MassProperties:
    a = np.asarray(axis)
    return MassProperties(m, com, lateral * IDENTITY3 + (axial - lateral) * np.outer(a, a), volume)


def _capsule(shape: Capsule, density: float) -> MassProperties:
    """A cylinder and two half balls, each with its centre of mass 3/8 of the radius above its base."""
    r, h = shape.radius, shape.height
    cylinder, half = density * math.pi * r * r * h, density * 2.0 / 3.0 * math.pi * r**3
    axial = 0.5 * cylinder * r * r + 2.0 * 0.4 * half * r * r
    offset = 0.5 * h + 0.375 * r
    lateral = cylinder * (3 * r * r + h * h) / 12 + 2.0 * half * (83.0 / 320.0 * r * r + offset**2)
    mass = cylinder + 2.0 * half
    return _of_revolution(mass, shape.axis, shape.centre, axial, lateral, mass / density)


def _mesh(shape: Mesh, density: float) -> MassProperties:
    where = f"mesh {shape.file}"
    triangles = read_triangles(shape.file) * shape.scale
    check_closed(triangles, where)
    volume, first, second = volume_integrals(triangles)
    if abs(volume) < 1e-12 * float(np.ptp(triangles.reshape(-1, 3), axis=0).max()) ** 3:
        raise ModelError(f"{where}: encloses no volume")
    if volume < 0.0:
        raise ModelError(f"{where}: its normals point inwards; turn the triangles round")
    com = first / volume
    central = second - volume * np.outer(com, com)
    inertia = density * (np.trace(central) * IDENTITY3 - central)
    return MassProperties(density * volume, com, inertia, volume).moved(shape.centre, shape.rotation)
