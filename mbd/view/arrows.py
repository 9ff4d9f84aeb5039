"""Forces as arrows: reactions of joints and applied loads, all of one kind on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbd.errors import Array
from mbd.forces import Force, Torque
from mbd.view.pieces import Link, Poses, arrow_surface
from mbd.view.theme import colour

if TYPE_CHECKING:
    from mbd.view.scene import Scene

LONGEST = 0.42  # length of a typical largest arrow, in radii of the scene
TYPICAL = 98.0  # percentile of the forces that gets this length; rare peaks are longer


def scale_of(columns: list[Array], radius: float) -> float:
    """Metres of arrow per unit of force."""
    sizes = np.concatenate([np.linalg.norm(c, axis=1) for c in columns]) if columns else np.zeros(0)
    sizes = sizes[np.isfinite(sizes)]
    large = float(np.percentile(sizes, TYPICAL)) if sizes.size else 0.0
    return LONGEST * radius / large if large > 0.0 else 0.0


def _links(
    scene: Scene, run: int, items: list[tuple[str, int, Array, Array]], role: str, shade: str, kind: str = ""
) -> list[Link]:
    """Arrows of (name, row, body-fixed point, columns); ``kind`` has a scale of its own, the same for all runs."""
    scale = scene.scales.get(kind or role) or scale_of([columns for _, _, _, columns in items], scene.radius)
    if scale == 0.0 or not items:
        return []
    scene.scales[kind or role] = scale
    motion, longest = scene.motions[run], 2.0 * LONGEST * scene.radius
    surface, weights, head = arrow_surface(0.55 * scene.glyph)
    return [
        Link(
            surface, weights, vector_ends(motion, row, point, scale * columns, longest), colour(shade), name, role, head
        )
        for name, row, point, columns in items
    ]


def vector_ends(motion: Any, row: int, point: Array, columns: Array, longest: float) -> Any:
    """Start and tip of an arrow that shows a vector given at the records."""

    def ends(poses: Poses, t: float) -> tuple[Array, Array]:
        start = poses[0][row] + poses[1][row] @ point
        vector = motion.column(columns, t)
        size = float(np.linalg.norm(vector))
        return start, start + (vector if size <= longest else vector * (longest / size))

    return ends


def reaction_arrows(scene: Scene, run: int) -> list[Link]:
    """The force of each joint on its second body, at the joint; on its first body if the second is the ground."""
    motion, items = scene.motions[run], []
    for joint in motion.solution.model.joints:
        if joint.uses_point == "none" or any(b.name not in motion.rows for b in joint.bodies[:2]):
            continue
        force = np.asarray(motion.solution[joint].force)
        body, point, sign = joint.body_b, joint.point_b, 1.0
        if body.name == "ground":
            body, point, sign = joint.body_a, joint.place_a, -1.0
        items.append((joint.name, scene.row(run, body), point, sign * force))
    return _links(scene, run, items, "reaction", scene.theme.reaction)


def load_arrows(scene: Scene, run: int) -> list[Link]:
    """Applied forces and torques."""
    motion = scene.motions[run]
    forces: list[tuple[str, int, Array, Array]] = []
    torques: list[tuple[str, int, Array, Array]] = []
    for load in motion.solution.model.forces:
        if isinstance(load, Force):
            columns = np.asarray(motion.solution[load].force)
            forces.append((load.name, scene.row(run, load.body), load.point, columns))
        elif isinstance(load, Torque):
            columns = np.asarray(motion.solution[load].torque)
            torques.append((load.name, scene.row(run, load.body), getattr(load.body, "com", load.point), columns))
    shade = scene.theme.load
    return _links(scene, run, forces, "load", shade) + _links(scene, run, torques, "load", shade, "torque")
