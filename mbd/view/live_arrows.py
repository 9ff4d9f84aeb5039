"""Arrows of a running simulation: forces of the present, on a round scale that follows the last seconds."""

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


HALF_LIFE = 2.0  # seconds in which a peak is half forgotten


class LiveArrows:
    """Adds its arrows to the links of a scene; ``read`` gives them their vectors."""

    def __init__(self, scene: Scene, show_reactions: bool, show_loads: bool) -> None:
        self.scene = scene
        self.arrows: list[Arrow] = reactions(scene, 0) if show_reactions else []
        self.arrows += [x for x in loads(scene, 0) if not is_hand(x.element.name)] if show_loads else []
        self.vectors = np.zeros((len(self.arrows), 3))
        self.largest: dict[str, float] = {}  # by kind
        self.t = -np.inf
        scene.links += [arrow.link(scene, self._ends(k)) for k, arrow in enumerate(self.arrows)]

    def _ends(self, k: int) -> Any:
        arrow, most = self.arrows[k], longest(self.scene)

        def ends(poses: Poses, t: float) -> tuple[Array, Array]:
            vector = self.scene.scales.get(arrow.kind, 0.0) * self.vectors[k]
            return start_and_tip(poses, arrow.row, arrow.point, vector, most)

        return ends

    def read(self, now: Solution) -> None:
        """Take the forces of the present; peaks make all arrows of their kind shorter for some seconds."""
        t = float(now.t[0])
        if t < self.t:
            self.largest.clear()
            self.scene.scales.clear()
        fade, self.t = 0.5 ** (max(t - self.t, 0.0) / HALF_LIFE), t
        self.largest = {kind: fade * size for kind, size in self.largest.items()}
        for k, arrow in enumerate(self.arrows):
            self.vectors[k] = np.nan_to_num(arrow.columns(now)[0], posinf=0.0, neginf=0.0)
            size = float(np.linalg.norm(self.vectors[k]))
            self.largest[arrow.kind] = max(size, self.largest.get(arrow.kind, 0.0))
        for kind, size in self.largest.items():
            if size > 0.0:
                self.scene.scales[kind] = LONGEST * self.scene.radius / round_above(size)


def round_above(size: float) -> float:
    """The next of 1, 2, 5, 10 ... which is not smaller."""
    power = 10.0 ** np.floor(np.log10(size))
    return float(min(f * power for f in (1.0, 2.0, 5.0, 10.0) if f * power >= size * (1.0 - 1e-9)))
