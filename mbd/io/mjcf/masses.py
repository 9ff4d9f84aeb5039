"""Mass, centre of mass and inertia of the bodies of an MJCF file: given, or those of geoms, as MuJoCo has them."""

from __future__ import annotations

import math

import numpy as np

from ...bodies import shapes
from ...bodies.mass_properties import MassProperties, composite, mass_properties
from ...errors import Array
from ..xml_file import told_at
from .attributes import Attributes
from .meshes import Meshes
from .tree import BodyData, GeomData, InertialData, Tree

TRIANGLE_TOLERANCE = 1e-9


def body_masses(tree: Tree, meshes: Meshes) -> list[MassProperties | None]:
    """What every body weighs, in its own frame; None for the world and for bodies without mass."""
    document = tree.document
    settings = document.compiler
    rule = settings.word("inertiafromgeom", ("true", "false", "auto"), "auto")
    groups = _groups(settings)
    least, least_inertia = (settings.number(name, 0.0, nonnegative=True) for name in ("boundmass", "boundinertia"))
    balance = settings.flag("balanceinertia")
    found: list[MassProperties | None] = [None]
    for body in tree.bodies[1:]:
        with told_at(body.element):
            found.append(_weighed(body, rule, groups, meshes, (least, least_inertia), balance))
    total = settings.number("settotalmass", -1.0)
    if total > 0.0:
        factor = total / sum(own.mass for own in found if own is not None)
        found = [
            None if own is None else MassProperties(factor * own.mass, own.com, factor * own.inertia) for own in found
        ]
    return found


def _weighed(
    body: BodyData, rule: str, groups: tuple[int, int], meshes: Meshes, least: tuple[float, float], balance: bool
) -> MassProperties | None:
    geoms = [] if rule == "false" or (rule == "auto" and body.inertial) else _of_geoms(body, groups, meshes)
    own = composite(geoms) if geoms else None if body.inertial is None else _given(body, body.inertial)
    if any(least):
        own = _bounded(own, *least)
    return None if own is None else _possible(own, body, balance)


def _groups(settings: Attributes) -> tuple[int, int]:
    low, high = settings.numbers("inertiagrouprange", 2, default=(0, 5)).tolist()
    return int(low), int(high)


def _given(body: BodyData, inertial: InertialData) -> MassProperties | None:
    if inertial.mass == 0.0:
        if inertial.inertia.any():
            raise body.element.error("its <inertial> has an inertia, but no mass; expected a positive mass")
        return None
    return MassProperties(inertial.mass, (0, 0, 0), inertial.inertia).moved(inertial.pose[:3, 3], inertial.pose[:3, :3])


def _of_geoms(body: BodyData, groups: tuple[int, int], meshes: Meshes) -> list[MassProperties]:
    parts = []
    for geom in body.geoms:
        if not groups[0] <= geom.group <= groups[1] or geom.mass == 0.0 or (geom.mass is None and geom.density == 0.0):
            continue
        own = geom_mass(geom, meshes)
        if own is not None:
            parts.append(own.moved(geom.pose[:3, 3], geom.pose[:3, :3]))
    return parts


def geom_mass(geom: GeomData, meshes: Meshes) -> MassProperties | None:
    """Mass properties of a geom in its own frame; None for planes and height fields, which have none."""
    if geom.type in ("plane", "hfield"):
        return None
    if geom.mesh is not None:
        if geom.type != "mesh":
            raise geom.element.error(
                f"is a {geom.type} that MuJoCo fits to a mesh, which is not known here; expected its size, or an "
                "<inertial> in its body"
            )
        unit = meshes.mass_properties(geom)
    elif geom.type == "sdf":
        raise geom.element.error("its mass is computed by a plugin; expected an <inertial> in its body")
    else:
        unit = _shell(geom) if geom.shell else _solid(geom)
    mass = geom.density * unit.mass if geom.mass is None else geom.mass
    return MassProperties(mass, unit.com, mass / unit.mass * unit.inertia)


def _solid(geom: GeomData) -> MassProperties:
    """A body of density one."""
    x, y, _ = geom.size.tolist()
    if geom.type == "sphere":
        return mass_properties(shapes.Sphere(x), 1.0)
    if geom.type == "box":
        return mass_properties(shapes.Box(2.0 * geom.size), 1.0)
    if geom.type == "capsule":
        return mass_properties(shapes.Capsule(x, 2.0 * y), 1.0)
    if geom.type == "cylinder":
        return mass_properties(shapes.Cylinder(x, 2.0 * y), 1.0)
    return mass_properties(shapes.Ellipsoid(geom.size), 1.0)


def _shell(geom: GeomData) -> MassProperties:
    """A surface with mass one per area."""
    x, y, _ = geom.size.tolist()
    if geom.type == "sphere":
        mass = 4.0 * math.pi * x * x
        return MassProperties(mass, (0, 0, 0), np.full(3, 2.0 / 3.0 * mass * x * x))
    if geom.type == "box":
        return _box_shell(geom.size)
    if geom.type == "ellipsoid":
        raise geom.element.error(
            "is the shell of an ellipsoid, whose inertia has no closed form; expected shellinertia for other shapes, "
            "or an <inertial> in its body"
        )
    side = 4.0 * math.pi * x * y  # of the cylinder with radius x and half height y
    axial, lateral = side * x * x, side * (0.5 * x * x + y * y / 3.0)
    if geom.type == "cylinder":
        ends = 2.0 * math.pi * x * x
        axial, lateral = axial + 0.5 * ends * x * x, lateral + ends * (0.25 * x * x + y * y)
    else:  # half spheres, whose centres of mass are half a radius above their bases
        ends = 4.0 * math.pi * x * x
        axial += 2.0 / 3.0 * ends * x * x
        lateral += ends * (5.0 / 12.0 * x * x + (y + 0.5 * x) ** 2)
    return MassProperties(side + ends, (0, 0, 0), (lateral, lateral, axial))


def _box_shell(size: Array) -> MassProperties:
    """Six plates."""
    total, moments = 0.0, np.zeros(3)
    for k in range(3):
        a, b, c = size[k], size[k - 2], size[k - 1]  # half sizes along the normal of two plates and in them
        mass = 8.0 * b * c
        total += mass
        moments[k] += mass * (b * b + c * c) / 3.0
        moments[k - 2] += mass * (a * a + c * c / 3.0)
        moments[k - 1] += mass * (a * a + b * b / 3.0)
    return MassProperties(total, (0, 0, 0), moments)


def _bounded(own: MassProperties | None, least: float, least_inertia: float) -> MassProperties | None:
    """At least so heavy; the moments about the axes of the inertia alike."""
    if own is None:
        return MassProperties(least, (0, 0, 0), np.full(3, least_inertia)) if least else None
    values, axes = np.linalg.eigh(own.inertia)
    inertia = (axes * np.maximum(values, least_inertia)) @ axes.T
    return MassProperties(max(own.mass, least), own.com, inertia)


def _possible(own: MassProperties, body: BodyData, balance: bool) -> MassProperties:
    """Refuse an inertia that nothing can have, or take the mean of its moments where the file says so."""
    a, b, c = np.linalg.eigvalsh(own.inertia).tolist()
    if a >= 0.0 and a + b >= c * (1.0 - TRIANGLE_TOLERANCE):
        return own
    if balance and a >= 0.0:
        return MassProperties(own.mass, own.com, np.full(3, (a + b + c) / 3.0))
    raise body.element.error(
        f"its principal moments of inertia are {a:.6g}, {b:.6g} and {c:.6g}; expected moments that are not negative "
        'and obey the triangle inequality, or <compiler balanceinertia="true"/>'
    )
