"""Masses, inertias, units and starts that look wrong: possible, but rarely meant."""

from __future__ import annotations

import math

import numpy as np

from ..bodies import PointMass, RigidBody
from ..bodies.checks import INERTIA_TOLERANCE
from ..bodies.shapes import Box, Capsule, Composite, Cone, Cylinder, Ellipsoid, Shape, Sphere
from ..forces import JointLimit, PDControl
from ..forces.springs import Spring
from ..model import Model
from .words import number

Array = np.ndarray

LARGE_GYRATION = 3.0  # radius of gyration beside the extent of the body
SMALL_GYRATION = 1.0 / 200.0
MASS_RATIO = 1e6
DENSITIES = (0.5, 1e5)  # kg/m^3: from aerogel to beyond osmium


def suspicions(model: Model) -> list[str]:
    """What to look at again, one text each."""
    found = list(_gravity(model))
    points = _attachments(model)
    rigid = [body for body in model.bodies if isinstance(body, RigidBody) and body.in_space and body.mass > 0.0]
    for body in rigid:
        found += _inertia(body, _extent(body, points.get(id(body), [])))
        found += _density(body)
    found += [text for force in model.forces if isinstance(force, JointLimit) for text in _beyond(force)]
    found += [text for force in model.forces if isinstance(force, PDControl) for text in _idle(force)]
    found += _ratios([*rigid, *(b for b in model.bodies if isinstance(b, PointMass))])
    return found


def _beyond(limit: JointLimit) -> list[str]:
    value, (low, high) = limit.joint.at_start(limit.coordinate)[0], limit.ends
    if low <= value <= high:
        return []
    return [
        f"{limit.joint} starts with the {limit.coordinate} {number(value)}, beyond the limits {low:g} and {high:g} of "
        f"'{limit.name}', which pushes it back"
    ]


def _idle(control: PDControl) -> list[str]:
    if control.kp or control.kd or callable(control.feedforward) or control.feedforward:
        return []
    return [f"control '{control.name}' of {control.joint} does nothing: its kp, kd and feedforward are zero"]


def _gravity(model: Model) -> list[str]:
    g = float(np.linalg.norm(model.gravity))
    for factor, unit in ((1000.0, "mm/s^2"), (100.0, "cm/s^2"), (1.0 / 0.0254, "in/s^2"), (1.0 / 0.3048, "ft/s^2")):
        if abs(g - 9.81 * factor) < 0.02 * 9.81 * factor:
            return [
                f"gravity is {number(g)}, which is 9.81 m/s^2 in {unit}; lengths must then be in {unit.split('/')[0]}, "
                "and masses, inertias and stiffnesses in matching units"
            ]
    return []


def _attachments(model: Model) -> dict[int, list[Array]]:
    """Body-fixed points of joints and springs on each body."""
    points: dict[int, list[Array]] = {}
    for joint in model.joints:
        if joint.uses_point != "none":
            points.setdefault(id(joint.body_a), []).append(joint.place_a)
            points.setdefault(id(joint.body_b), []).append(joint.point_b)
    for force in model.forces:
        if isinstance(force, Spring):
            points.setdefault(id(force.body_a), []).append(force.point_a)
            points.setdefault(id(force.body_b), []).append(force.point_b)
    return points


def _extent(body: RigidBody, points: list[Array]) -> float:
    """Largest distance from the centre of mass that anything on the body tells of; zero if nothing does."""
    distances = [float(np.linalg.norm(p - body.com)) for p in points]
    if body.shape is not None:
        reach = _reach(body.shape)
        if reach is not None:
            distances.append(float(np.linalg.norm(reach[0] - body.com)) + reach[1])
    return max(distances, default=0.0)


def _reach(shape: Shape) -> tuple[Array, float] | None:
    """A ball around a shape of which the size is known without reading a file."""
    if isinstance(shape, Box):
        return np.asarray(shape.centre), 0.5 * float(np.linalg.norm(shape.size))
    if isinstance(shape, Sphere):
        return np.asarray(shape.centre), shape.radius
    if isinstance(shape, Ellipsoid):
        return np.asarray(shape.centre), float(np.max(shape.radii))
    if isinstance(shape, Capsule):
        return np.asarray(shape.centre), 0.5 * shape.height + shape.radius
    if isinstance(shape, Cylinder | Cone):
        return np.asarray(shape.centre), math.hypot(0.5 * shape.height, shape.radius)
    if isinstance(shape, Composite):
        parts = [reach for part in shape.parts if (reach := _reach(part)) is not None]
        if parts:
            return parts[0][0], max(float(np.linalg.norm(c - parts[0][0])) + r for c, r in parts)
    return None


def _inertia(body: RigidBody, extent: float) -> list[str]:
    a, b, c = np.linalg.eigvalsh(body.inertia).tolist()
    found = []
    if a + b < c * (1.0 - INERTIA_TOLERANCE):
        found.append(
            f"body '{body.name}': the principal moments {number(a)}, {number(b)} and {number(c)} violate the triangle "
            "inequality; no distribution of mass has them. Are they about the centre of mass?"
        )
    if c <= 0.0:
        found.append(
            f"body '{body.name}' has no inertia; use mbd.PointMass for a point, or give it the inertia of its shape"
        )
    elif extent > 0.0:
        gyration = math.sqrt(c / body.mass)
        if gyration > LARGE_GYRATION * extent:
            ratio = (gyration / extent) ** 2
            found.append(
                f"body '{body.name}': its radius of gyration {number(gyration)} m is {number(gyration / extent)} times "
                f"its extent of {number(extent)} m; {_units(ratio)}"
            )
        elif gyration < SMALL_GYRATION * extent:
            found.append(
                f"body '{body.name}': its radius of gyration {number(gyration)} m is very small beside its extent of "
                f"{number(extent)} m; {_units(1.0)}"
            )
    return found


def _units(ratio: float) -> str:
    hint = "is the inertia in kg m^2 and about the centre of mass, and the mass in kg?"
    if ratio > 1e4:
        return f"{hint} (kg mm^2 are 1e-6 kg m^2)"
    return hint


def _density(body: RigidBody) -> list[str]:
    volume = 0.0 if body.shape is None else _volume(body.shape)
    if not volume:
        return []
    density = body.mass / volume
    if DENSITIES[0] <= density <= DENSITIES[1]:
        return []
    return [
        f"body '{body.name}': mass {number(body.mass)} kg and a shape of {number(volume)} m^3 make a density of "
        f"{number(density)} kg/m^3; is one of them in other units?"
    ]


def _volume(shape: Shape) -> float:
    if isinstance(shape, Box):
        return float(np.prod(np.asarray(shape.size)))
    if isinstance(shape, Sphere):
        return 4.0 / 3.0 * math.pi * shape.radius**3
    if isinstance(shape, Ellipsoid):
        return 4.0 / 3.0 * math.pi * float(np.prod(np.asarray(shape.radii)))
    if isinstance(shape, Cylinder):
        return math.pi * shape.radius**2 * shape.height
    if isinstance(shape, Cone):
        return math.pi * shape.radius**2 * shape.height / 3.0
    if isinstance(shape, Capsule):
        return math.pi * shape.radius**2 * (shape.height + 4.0 / 3.0 * shape.radius)
    if isinstance(shape, Composite):
        parts = [_volume(part) for part in shape.parts]
        return sum(parts) if all(parts) else 0.0
    return 0.0


def _ratios(bodies: list[RigidBody | PointMass]) -> list[str]:
    if len(bodies) < 2:
        return []
    light, heavy = min(bodies, key=lambda b: b.mass), max(bodies, key=lambda b: b.mass)
    if heavy.mass <= MASS_RATIO * light.mass:
        return []
    return [
        f"body '{heavy.name}' ({number(heavy.mass)} kg) is {number(heavy.mass / light.mass)} times as heavy as body "
        f"'{light.name}' ({number(light.mass)} kg); is one of them in other units?"
    ]
