"""What a scene is made of: solids that move with a body, links between two moving points, and trails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mbd.errors import Array
from mbd.view.surfaces import Surface, box, cone, cylinder, joined, revolved, sphere
from mbd.view.theme import Colour

Poses = tuple[Array, Array]  # positions (n, 3) and rotation matrices (n, 3, 3) of all bodies, the ground first


@dataclass(eq=False)
class Solid:
    """A surface fixed to a body. Solids with the same ``key`` have the same surface and are drawn together."""

    key: tuple[Any, ...]
    surface: Surface
    body: int
    colour: Colour
    owner: str
    role: str = "body"  # or "joint", "frame"
    offset: Array = field(default_factory=lambda: np.zeros(3))
    turn: Array = field(default_factory=lambda: np.eye(3))

    def pose(self, poses: Poses) -> tuple[Array, Array]:
        """Position and rotation in space."""
        p, r = poses[0][self.body], poses[1][self.body]
        return p + r @ self.offset, r @ self.turn


STRETCHED: dict[str, Callable[[int], Surface]] = {
    "box": lambda segments: box(1.0, 1.0, 1.0),
    "sphere": lambda segments: sphere(1.0, segments),
    "ellipsoid": lambda segments: sphere(1.0, segments),
    "cylinder": lambda segments: cylinder(1.0, 1.0, segments),
    "cone": lambda segments: cone(1.0, 1.0, segments),
}


def stretch(solid: Solid) -> Array | None:
    """Factors along the three axes by which a unit surface of ``STRETCHED`` becomes that of the solid, if it can."""
    kind, *sizes = solid.key
    if kind not in STRETCHED:
        return None
    if kind in ("cylinder", "cone"):
        return np.array((sizes[0], sizes[0], sizes[1]))
    return np.array(sizes if len(sizes) == 3 else sizes * 3, dtype=float)


def families(solids: Sequence[Solid], most: int = 20) -> set[str]:
    """Kinds of which there are so many sizes that one surface is stretched for all of them."""
    keys: dict[str, set[Any]] = {}
    for solid in solids:
        keys.setdefault(str(solid.key[0]), set()).add(solid.key)
    return {kind for kind, found in keys.items() if kind in STRETCHED and len(found) > most}


@dataclass(eq=False)
class Link:
    """A surface along z between two moving points, such as a coil or an arrow.

    ``weights`` (n,) says how much each point of the surface goes with the far end: a coil stretches evenly, the head of
    an arrow keeps its shape. ``points`` of the surface are those at length zero.
    """

    surface: Surface
    weights: Array
    ends: Callable[[Poses, float], tuple[Array, Array]]
    colour: Colour
    owner: str
    role: str = "spring"  # or "reaction", "load"
    head: float = 0.0  # an arrow shorter than its head is drawn smaller

    def frame(self, poses: Poses, t: float) -> tuple[Array, Array, float]:
        """Start, rotation and length at a time."""
        a, b = self.ends(poses, t)
        length = float(np.linalg.norm(b - a))
        return a, steady_frame(b - a), length

    def placed(self, poses: Poses, t: float) -> tuple[Array, Array]:
        """Points and normals of the surface in space."""
        a, turn, length = self.frame(poses, t)
        scale = min(1.0, length / self.head) if self.head else 1.0
        local = scale * self.surface.points
        local[:, 2] += self.weights * (length - scale * self.head)
        return a + local @ turn.T, self.surface.normals @ turn.T


@dataclass(eq=False)
class Trail:
    """The path of a body-fixed point."""

    body: int
    point: Array
    colour: Colour
    owner: str
    run: int = 0

    def place(self, poses: Poses) -> Array:
        """Where the point is."""
        return poses[0][self.body] + poses[1][self.body] @ self.point


def between(rows: tuple[int, int], point_a: Array, point_b: Array) -> Any:
    """The ends of a link between two body-fixed points."""

    def ends(poses: Poses, t: float) -> tuple[Array, Array]:
        p, r = poses
        return p[rows[0]] + r[rows[0]] @ point_a, p[rows[1]] + r[rows[1]] @ point_b

    return ends


def steady_frame(direction: Array) -> Array:
    """Rotation that turns z into a direction; it does not spin while the direction moves slowly."""
    from mbd.view.surfaces import along

    return along(direction) if np.linalg.norm(direction) > 1e-12 else np.eye(3)


def coil_surface(radius: float, wire: float, turns: int, sides: int = 8, steps: int = 18) -> tuple[Surface, Array]:
    """A coil with straight ends at length zero, and the weights that stretch it."""
    lead = 0.08
    s = np.concatenate(([0.0], np.linspace(lead, 1.0 - lead, turns * steps + 1), [1.0]))
    inner = np.clip((s - lead) / (1.0 - 2.0 * lead), 0.0, 1.0)
    angle = 2.0 * np.pi * turns * inner
    grow = np.minimum(1.0, np.minimum(inner, 1.0 - inner) * turns * 2.0)  # the coil widens within half a turn
    grow[[0, -1]] = 0.0
    centre = np.stack((radius * grow * np.cos(angle), radius * grow * np.sin(angle), np.zeros_like(s)), axis=1)
    typical = centre + np.outer(s, (0.0, 0.0, 6.0 * radius))
    tangent = np.gradient(typical, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1)[:, None]
    out = np.stack((np.cos(angle), np.sin(angle), np.zeros_like(s)), axis=1)
    out -= np.sum(out * tangent, axis=1)[:, None] * tangent
    out /= np.linalg.norm(out, axis=1)[:, None]
    side = np.cross(tangent, out)
    around = 2.0 * np.pi * np.arange(sides) / sides
    normals = np.cos(around)[None, :, None] * out[:, None] + np.sin(around)[None, :, None] * side[:, None]
    points = centre[:, None] + wire * normals
    i, j = np.meshgrid(np.arange(len(s) - 1), np.arange(sides), indexing="ij")
    a, b = i * sides + j, i * sides + (j + 1) % sides
    faces = np.stack((a, b, b + sides, a, b + sides, a + sides), axis=-1).reshape(-1, 3)
    surface = Surface(points.reshape(-1, 3), normals.reshape(-1, 3), faces.astype(np.int32))
    return surface, np.repeat(s, sides)


def rod_surface(radius: float, segments: int = 20) -> tuple[Surface, Array]:
    """A rod at length zero, and its weights."""
    low = revolved([((0, 0), (radius, 0))], segments)
    side = revolved([((radius, 0), (radius, 1))], segments)
    high = revolved([((radius, 1), (0, 1))], segments)
    whole = joined(low, side, high)
    points = whole.points.copy()
    weights = points[:, 2].copy()
    points[:, 2] = 0.0
    return Surface(points, whole.normals, whole.faces), weights


def arrow_surface(radius: float, segments: int = 20) -> tuple[Surface, Array, float]:
    """An arrow as long as its head, the weights that stretch its shaft, and the length of the head."""
    head, wide = 5.5 * radius, 2.4 * radius
    shaft, weights = rod_surface(radius, segments)
    tip = revolved([((radius, 0), (wide, 0)), ((wide, 0), (0, head))], segments)
    return joined(shaft, tip), np.concatenate((weights, np.ones(len(tip.points)))), head
