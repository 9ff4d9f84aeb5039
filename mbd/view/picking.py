"""Which solid is under the mouse, and what to say about it. Plain geometry: it works with and without a window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbd.errors import Array
from mbd.view.pieces import Poses, Solid
from mbd.view.runs import run_names

if TYPE_CHECKING:
    from mbd.view.scene import Scene
    from mbd.view.stage import Stage

VALUES = (
    ("position", "com", "m"), ("velocity", "velocity", "m/s"), ("omega", "angular_velocity", "rad/s"),
    ("force", "force", "N"), ("torque", "torque", "N m"), ("angle", "angle", "rad"),
    ("displ.", "displacement", "m"), ("length", "length", "m"),
)  # fmt: skip
"""What is told about a picked thing: label, attribute of its result, unit."""


def ray(stage: Stage, x: float, y: float) -> tuple[Array, Array]:
    """Start and unit direction of the line of sight through a pixel, counted from the lower left corner."""
    renderer = stage.plotter.renderer
    ends = []
    for depth in (0.0, 1.0):
        renderer.SetDisplayPoint(x, y, depth)
        renderer.DisplayToWorld()
        point = np.array(renderer.GetWorldPoint())
        ends.append(point[:3] / point[3])
    direction = ends[1] - ends[0]
    return ends[0], direction / np.linalg.norm(direction)


def hit(solid: Solid, poses: Poses, start: Array, direction: Array) -> float:
    """Distance along a ray to the surface of a solid; infinite if it is missed (Möller & Trumbore 1997)."""
    place, turn = solid.pose(poses)
    origin, d = (start - place) @ turn, direction @ turn
    nearest = origin - (origin @ d) * d
    if nearest @ nearest > solid.surface.radius**2:
        return np.inf
    a, b, c = (solid.surface.points[solid.surface.faces[:, k]] for k in range(3))
    u, v = b - a, c - a
    h = np.cross(d, v)
    determinant = np.einsum("ij,ij->i", u, h)
    good = np.abs(determinant) > 1e-15 * np.abs(determinant).max(initial=1e-300)
    inverse = np.where(good, 1.0 / np.where(good, determinant, 1.0), 0.0)
    s = origin - a
    p = inverse * np.einsum("ij,ij->i", s, h)
    w = np.cross(s, u)
    q = inverse * (w @ d)
    distance = inverse * np.einsum("ij,ij->i", v, w)
    inside = good & (p >= 0.0) & (q >= 0.0) & (p + q <= 1.0) & (distance > 0.0)
    return float(distance[inside].min()) if inside.any() else np.inf


def pick(scene: Scene, poses: Poses, start: Array, direction: Array, hidden: Any = ()) -> Solid | None:
    """The first solid along a ray."""
    best, found = np.inf, None
    for solid in scene.solids:
        if solid.role == "frame" or solid.role in hidden:
            continue
        distance = hit(solid, poses, start, direction)
        if distance < best:
            best, found = distance, solid
    return found


def run_of(scene: Scene, solid: Solid) -> int:
    """Number of the run to which a solid belongs."""
    return int(np.searchsorted(scene.first_rows, solid.body, side="right")) - 1


def vector(values: Any) -> str:
    """Three numbers in a fixed width, so that the text does not jump."""
    return "  ".join(f"{float(x): 9.3f}" for x in values)


def facts_of(element: Any) -> str:
    """What an element is, in a few words that do not change with time."""
    mass = getattr(element, "mass", None)
    kind = type(element).__name__
    return f"{kind}, {mass:.5g} kg" if isinstance(mass, float) and mass > 0.0 else kind


def describe(scene: Scene, solid: Solid, t: float) -> str:
    """Name and values of the picked thing at a time."""
    run = run_of(scene, solid)
    motion, solution = scene.motions[run], scene.solutions[run]
    element = solution.model[solid.owner]
    view = solution[element]
    lines = [f"{element.name}   ({type(element).__name__})"]
    if scene.several:
        lines.append(f"run {run + 1}: {run_names(scene.solutions)[run]}")
    mass = getattr(element, "mass", None)
    if isinstance(mass, float) and mass > 0.0:
        lines.append(f"mass       {mass:.5g} kg")
    for label, name, unit in VALUES:
        try:
            values = np.asarray(getattr(view, name))
        except (AttributeError, ValueError, TypeError):
            continue
        now = motion.column(values, t)
        text = vector(np.atleast_1d(now))
        lines.append(f"{label:<9}{text}  {unit}")
    return "\n".join(lines)
