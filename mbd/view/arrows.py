"""Forces as arrows: reactions of joints and applied loads, all of one kind on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

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


class Arrow(NamedTuple):
    """What an arrow shows: a quantity of an element, drawn at a point of a body."""

    element: Any
    quantity: str  # of the results of the element
    row: int
    point: Array  # in the body
    sign: float
    kind: str  # arrows of a kind have one scale

    def columns(self, solution: Any) -> Array:
        """The vector at the records, (n, 3)."""
        return self.sign * np.asarray(getattr(solution[self.element], self.quantity))

    def link(self, scene: Scene, ends: Any) -> Link:
        """The arrow between two points."""
        surface, weights, head = arrow_surface(0.55 * scene.glyph)
        role = "reaction" if self.kind == "reaction" else "load"
        return Link(surface, weights, ends, colour(getattr(scene.theme, role)), self.element.name, role, head)


def drawn(scene: Scene, run: int, arrows: list[Arrow]) -> list[Link]:
    """Arrows of a finished run; all runs have the same scales."""
    motion, found = scene.motions[run], []
    columns = [arrow.columns(motion.solution) for arrow in arrows]
    for kind in dict.fromkeys(arrow.kind for arrow in arrows):
        if kind not in scene.scales:
            own = [x for x, arrow in zip(columns, arrows, strict=True) if arrow.kind == kind]
            if scale := scale_of(own, scene.radius):
                scene.scales[kind] = scale
    for x, arrow in zip(columns, arrows, strict=True):
        if arrow.kind in scene.scales:
            ends = vector_ends(motion, arrow.row, arrow.point, scene.scales[arrow.kind] * x, longest(scene))
            found.append(arrow.link(scene, ends))
    return found


def longest(scene: Scene) -> float:
    """Length beyond which no arrow is drawn."""
    return 2.0 * LONGEST * scene.radius


def vector_ends(motion: Any, row: int, point: Array, columns: Array, most: float) -> Any:
    """Start and tip of an arrow that shows a vector given at the records."""

    def ends(poses: Poses, t: float) -> tuple[Array, Array]:
        return start_and_tip(poses, row, point, motion.column(columns, t), most)

    return ends


def start_and_tip(poses: Poses, row: int, point: Array, vector: Array, most: float) -> tuple[Array, Array]:
    """Start and tip of an arrow, which is not longer than ``most``."""
    start = poses[0][row] + poses[1][row] @ point
    size = float(np.linalg.norm(vector))
    return start, start + (vector if size <= most else vector * (most / size))


def reactions(scene: Scene, run: int) -> list[Arrow]:
    """The force of each joint on its second body, at the joint; on its first body if the second is the ground."""
    motion, found = scene.motions[run], []
    for joint in motion.solution.model.joints:
        if joint.uses_point == "none" or any(b.name not in motion.rows for b in joint.bodies[:2]):
            continue
        body, point, sign = joint.body_b, joint.point_b, 1.0
        if body.name == "ground":
            body, point, sign = joint.body_a, joint.place_a, -1.0
        found.append(Arrow(joint, "force", scene.row(run, body), point, sign, "reaction"))
    return found


def loads(scene: Scene, run: int) -> list[Arrow]:
    """Applied forces and torques."""
    forces, torques = [], []
    for load in scene.motions[run].solution.model.forces:
        if isinstance(load, Force):
            forces.append(Arrow(load, "force", scene.row(run, load.body), load.point, 1.0, "load"))
        elif isinstance(load, Torque):
            point = getattr(load.body, "com", load.point)
            torques.append(Arrow(load, "torque", scene.row(run, load.body), point, 1.0, "torque"))
    return forces + torques
