"""Arrows of a running simulation: forces of the present, on a scale that follows the largest of the run so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbd.errors import Array
from mbd.view.arrows import LONGEST, Arrow, loads, longest, reactions, start_and_tip
from mbd.view.hand import is_hand
from mbd.view.pieces import Poses

if TYPE_CHECKING:
    from mbd.results.solution import Solution
    from mbd.view.scene import Scene


class LiveArrows:
    """Adds its arrows to the links of a scene; ``read`` gives them their vectors."""

    def __init__(self, scene: Scene, show_reactions: bool, show_loads: bool) -> None:
        self.scene = scene
        self.arrows: list[Arrow] = reactions(scene, 0) if show_reactions else []
        self.arrows += [x for x in loads(scene, 0) if not is_hand(x.element.name)] if show_loads else []
        self.vectors = np.zeros((len(self.arrows), 3))
        self.largest: dict[str, float] = {}
        scene.links += [arrow.link(scene, self._ends(k)) for k, arrow in enumerate(self.arrows)]

    def _ends(self, k: int) -> Any:
        arrow, most = self.arrows[k], longest(self.scene)

        def ends(poses: Poses, t: float) -> tuple[Array, Array]:
            vector = self.scene.scales.get(arrow.kind, 0.0) * self.vectors[k]
            return start_and_tip(poses, arrow.row, arrow.point, vector, most)

        return ends

    def read(self, now: Solution) -> None:
        """Take the forces of the present; a larger one than ever makes all arrows of its kind shorter."""
        for k, arrow in enumerate(self.arrows):
            vector = np.nan_to_num(arrow.columns(now)[0], posinf=0.0, neginf=0.0)
            self.vectors[k] = vector
            size = float(np.linalg.norm(vector))
            if size > self.largest.get(arrow.kind, 0.0):
                self.largest[arrow.kind] = size
                self.scene.scales[arrow.kind] = LONGEST * self.scene.radius / size

    def forget(self) -> None:
        """Scales begin anew."""
        self.largest.clear()
        self.scene.scales.clear()
