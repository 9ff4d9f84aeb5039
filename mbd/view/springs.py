"""Springs: coils between two points, coils around hinges, rubber for bushings; and motors: drums around hinges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbd.bodies import Body
from mbd.errors import Array
from mbd.forces import Gravitation, JointLimit, Motor
from mbd.view import surfaces
from mbd.view.pieces import Link, Solid, between, coil_surface
from mbd.view.surfaces import Surface
from mbd.view.theme import Colour, colour, mixed

if TYPE_CHECKING:
    from mbd.view.scene import Scene

TURNS = 9


def spring_pieces(scene: Scene, run: int) -> tuple[list[Solid], list[Link]]:
    """What is drawn for the springs of a run."""
    motion = scene.motions[run]
    shade = colour(scene.theme.spring)
    if scene.several:
        shade = mixed(scene.theme.run(run), (0.6, 0.6, 0.6), 0.5)
    solids: list[Solid] = []
    links: list[Link] = []
    for force in motion.solution.model.forces:
        if isinstance(force, Gravitation):
            continue  # it acts between two points as springs do, but there is nothing between them
        joint = getattr(force, "joint", None)
        if isinstance(force, Motor):
            if force.coordinate == "angle":
                solids.append(drum(scene, run, force))
            continue
        if joint is not None and getattr(force, "stiffness", None) is not None:
            if not isinstance(force, JointLimit):  # which is nowhere most of the time
                solids.append(around_hinge(scene, run, force, joint, shade))
            continue
        ends: list[Any] = [getattr(force, key, None) for key in ("body_a", "body_b", "point_a", "point_b")]
        if any(end is None for end in ends) or any(b.name not in motion.rows for b in ends[:2] if isinstance(b, Body)):
            continue
        rows = (scene.row(run, ends[0]), scene.row(run, ends[1]))
        if np.ndim(getattr(force, "stiffness", 0.0)):  # in three directions: the points are close together
            solids.append(bushing(scene, force, rows[1], ends[3], shade))
            continue
        surface, weights = coil_surface(1.5 * scene.glyph, 0.32 * scene.glyph, TURNS)
        links.append(Link(surface, weights, between(rows, *ends[2:]), shade, force.name))
    return solids, links


def anchors(model: Any) -> list[Array]:
    """Points of the ground to which springs are fixed."""
    found = []
    for force in model.forces:
        for body, point in ((f"body_{k}", f"point_{k}") for k in "ab"):
            place = getattr(force, point, None)
            if place is not None and getattr(force, body, None) is model.ground and not isinstance(force, Gravitation):
                found.append(np.asarray(place, dtype=float))
    return found


def around_hinge(scene: Scene, run: int, force: Any, joint: Any, shade: Colour) -> Solid:
    """A coil around the axis of a joint."""
    g = scene.glyph
    flat, weights = coil_surface(2.4 * g, 0.3 * g, 4)
    points = flat.points + np.outer(weights - 0.5, (0.0, 0.0, 3.4 * g))
    coil = Surface(points, flat.normals, flat.faces)
    row = scene.row(run, joint.body_b)
    return Solid(("torsion", round(g, 12)), coil, row, shade, force.name, "spring", joint.point_b, joint.frame_b)


def drum(scene: Scene, run: int, motor: Motor) -> Solid:
    """A motor: a drum around the axis of its joint, on the first body."""
    g, joint = scene.glyph, motor.joint
    row, grey = scene.row(run, joint.body_a), mixed(colour(scene.theme.joint), (1.0, 1.0, 1.0), 0.28)
    body = surfaces.cylinder(2.3 * g, 2.2 * g, min(scene.segments, 24))
    return Solid(("motor", round(g, 12)), body, row, grey, motor.name, "joint", joint.place_a, joint.frame_a)


def bushing(scene: Scene, force: Any, row: int, point: Any, shade: Colour) -> Solid:
    """A ring of rubber."""
    g = scene.glyph
    ring = surfaces.tube(1.1 * g, 2.6 * g, 2.2 * g, scene.segments)
    turn = np.asarray(getattr(force, "axes", np.eye(3)), dtype=float)
    return Solid(("bushing", round(g, 12)), ring, row, shade, force.name, "spring", np.asarray(point), turn)
