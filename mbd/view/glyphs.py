"""Joints as glyphs that engineers recognise: hinge pins, balls, rails with sleeves, crosses, plates, rods.

A glyph stands in the frame of its joint, whose z-axis is the axis of the joint, and goes with the first or the second
body. Its measure ``g`` is the radius of a hinge pin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mbd import joints
from mbd.errors import Array
from mbd.joints import Joint
from mbd.view import surfaces
from mbd.view.pieces import Solid
from mbd.view.surfaces import Surface, joined
from mbd.view.theme import Colour, mixed

Glyph = tuple[str, Surface, str, Array]  # name, surface, side "a" or "b", turn against the frame of the joint

EYE = np.eye(3)


def _pin(g: float, n: int) -> Surface:
    """A pin with two collars: the axis of a hinge."""
    collar = surfaces.cylinder(1.45 * g, 0.5 * g, n)
    return joined(
        surfaces.cylinder(0.8 * g, 4.4 * g, n),
        collar.moved(offset=(0, 0, 1.5 * g)),
        collar.moved(offset=(0, 0, -1.5 * g)),
    )


def hinge(g: float, reach: float, n: int) -> Iterator[Glyph]:
    """Revolute."""
    yield "pin", _pin(g, n), "b", EYE


def ball(g: float, reach: float, n: int) -> Iterator[Glyph]:
    """Spherical: a ball with the rim of its socket."""
    yield "ball", surfaces.sphere(1.5 * g, n), "b", EYE


def rail(g: float, reach: float, n: int) -> Iterator[Glyph]:
    """Prismatic: a square rail on the first body, a sleeve on the second one."""
    yield "rail", surfaces.box(0.9 * g, 0.9 * g, 2.0 * reach), "a", EYE
    yield "sleeve", surfaces.box(2.6 * g, 2.6 * g, 3.6 * g), "b", EYE


def shaft(g: float, reach: float, n: int) -> Iterator[Glyph]:
    """Cylindrical: a round shaft and a round sleeve."""
    yield "shaft", surfaces.cylinder(0.6 * g, 2.0 * reach, n), "a", EYE
    yield "tube", surfaces.tube(0.7 * g, 1.5 * g, 3.6 * g, n), "b", EYE


def screw(g: float, reach: float, n: int) -> Iterator[Glyph]:
    """Screw: a shaft with rings and a nut with six sides."""
    rings = max(3, min(40, round(2.0 * reach / (1.2 * g))))
    heights = np.linspace(-reach, reach, rings)
    ring = surfaces.cylinder(0.85 * g, 0.5 * g, n)
    core = surfaces.cylinder(0.6 * g, 2.0 * reach, n)
    yield "thread", joined(core, *(ring.moved(offset=(0, 0, z)) for z in heights)), "a", EYE
    yield "nut", surfaces.cylinder(2.0 * g, 2.2 * g, 6), "b", EYE


def cross(g: float, reach: float, n: int) -> Iterator[Glyph]:
    """Universal: each body carries one bar of the cross."""
    bar = joined(surfaces.cylinder(0.6 * g, 6.0 * g, n), surfaces.sphere(1.0 * g, n))
    yield "cross", bar, "a", EYE
    yield "cross", bar, "b", EYE


def plate(g: float, reach: float, n: int) -> Iterator[Glyph]:
    """Planar: a plate normal to the axis, and a disc that slides on it."""
    yield "plate", surfaces.box(1.2 * reach, 1.2 * reach, 0.25 * g), "a", EYE
    yield "disc", surfaces.cylinder(2.0 * g, 0.8 * g, n), "b", EYE


def wire(g: float, reach: float, n: int) -> Iterator[Glyph]:
    """Point on a line: a wire and a bead."""
    yield "wire", surfaces.cylinder(0.35 * g, 2.0 * reach, n), "a", EYE
    yield "bead", surfaces.sphere(1.3 * g, n), "b", EYE


def bead_on_plate(g: float, reach: float, n: int) -> Iterator[Glyph]:
    """Point in a plane: a plate and a bead."""
    yield "plate", surfaces.box(1.2 * reach, 1.2 * reach, 0.25 * g), "a", EYE
    yield "bead", surfaces.sphere(1.3 * g, n), "b", EYE


def block(g: float, reach: float, n: int) -> Iterator[Glyph]:
    """Fixed: a cube."""
    yield "block", surfaces.box(2.4 * g, 2.4 * g, 2.4 * g), "b", EYE


def motor(g: float, reach: float, n: int) -> Iterator[Glyph]:
    """A driven angle: a drum."""
    yield "drum", joined(surfaces.cylinder(1.9 * g, 1.6 * g, n), surfaces.cylinder(0.8 * g, 4.0 * g, n)), "b", EYE


def piston(g: float, reach: float, n: int) -> Iterator[Glyph]:
    """A driven position: a thin rod in a tube."""
    yield "barrel", surfaces.tube(0.7 * g, 1.2 * g, 5.0 * g, n), "a", EYE
    yield "plunger", surfaces.cylinder(0.5 * g, 6.0 * g, n), "b", EYE


def ends(g: float, reach: float, n: int) -> Iterator[Glyph]:
    """Distance: the balls at both ends of the rod; the rod itself is a link."""
    yield "end", surfaces.sphere(0.9 * g, n), "a", EYE
    yield "end", surfaces.sphere(0.9 * g, n), "b", EYE


def dot(g: float, reach: float, n: int) -> Iterator[Glyph]:
    """Any other joint: a small ball where it is."""
    yield "dot", surfaces.sphere(0.8 * g, n), "b", EYE


def nothing(g: float, reach: float, n: int) -> Iterator[Glyph]:
    """A joint without a place."""
    yield from ()


Maker = Callable[[float, float, int], Iterator[Glyph]]
GLYPHS: dict[str, Maker] = {
    "Revolute": hinge, "Spherical": ball, "Prismatic": rail, "Cylindrical": shaft, "Universal": cross, "Planar": plate,
    "PointOnLine": wire, "PointInPlane": bead_on_plate, "Fixed": block, "Distance": ends, "Parallel": nothing,
    "Screw": screw, "Gear": nothing, "RackPinion": nothing, "AngleDriver": motor, "PositionDriver": piston,
    "Rolling": nothing, "RotorHinge": nothing,
}  # fmt: skip
BY_COORDINATE: dict[str | None, Maker] = {"angle": hinge, "displacement": rail, "both": shaft}


def glyph_maker(joint: Joint) -> Maker:
    """What draws a joint: by its class or that of a parent, else by the motion that it reports."""
    for kind in type(joint).__mro__:
        if kind.__name__ in GLYPHS and kind.__module__.startswith("mbd."):
            return GLYPHS[kind.__name__]
    return BY_COORDINATE.get(joint.coordinate, dot)


def joint_reach(joint: Joint, motion: Any, g: float) -> tuple[float, float]:
    """Half the length of a rail, and its middle along the axis, such that the sleeve never leaves it."""
    try:
        moved = np.asarray(motion.solution[joint].displacement)
    except (AttributeError, ValueError):
        return 8.0 * g, 0.0
    low, high = float(moved.min()), float(moved.max())
    return 0.5 * (high - low) + 4.0 * g, 0.5 * (high + low)


def joint_solids(
    joint: Joint, rows: tuple[int, int], motion: Any, g: float, grey: Colour, segments: int
) -> list[Solid]:
    """The solids of one joint; those on the second body are a little darker than those on the first."""
    make = glyph_maker(joint)
    needs_rail = make in (rail, shaft, screw, wire)
    reach, middle = joint_reach(joint, motion, g) if needs_rail else (10.0 * g, 0.0)
    solids = []
    for name, surface, side, turn in make(g, reach, segments):
        point, frame = (joint.place_a, joint.frame_a) if side == "a" else (joint.point_b, joint.frame_b)
        if needs_rail and side == "a":
            point = joint.point_a + middle * joint.axis_a  # displacements count from there
        key = ("joint", name, round(g, 12), round(reach, 12) if side == "a" else 0.0)
        shade = mixed(grey, (1.0, 1.0, 1.0), 0.28) if side == "a" else grey
        solids.append(Solid(key, surface, rows[side == "b"], shade, joint.name, "joint", point, frame @ turn))
    return solids


def is_rod(joint: Joint) -> bool:
    """Whether a joint is drawn as a rod between its two points."""
    return isinstance(joint, joints.Distance)
