"""Where a view looks from: presets by name, and the path of a camera that follows a body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mbd.errors import Array, ModelError, bad_value, check_number, check_vector
from mbd.view.surfaces import along

if TYPE_CHECKING:
    from mbd.view.scene import Scene

VIEW_ANGLE = 28.0  # degrees, vertical
MARGIN = 1.12

# direction from the target to the camera, in axes with z up
PRESETS = {
    "iso": (0.62, -0.95, 0.5),
    "front": (0.0, -1.0, 0.12),
    "back": (0.0, 1.0, 0.12),
    "left": (-1.0, 0.0, 0.12),
    "right": (1.0, 0.0, 0.12),
    "top": (0.0, -0.001, 1.0),
    "low": (0.55, -1.0, 0.12),
    "high": (0.55, -0.8, 1.1),
}


class Camera:
    """Position, target and up of a camera at any time."""

    def __init__(
        self, scene: Scene, camera: Any = "auto", follow: Any = None, aspect: float = 16 / 9, margin: float = MARGIN,
        arrows: tuple[str, ...] = ("reaction", "load"),
    ) -> None:  # fmt: skip
        self.scene, self.up = scene, scene.up
        self.position: Array = np.zeros(3)
        self.target: Array = np.zeros(3)
        self.row: int | None = None
        self.anchor = np.zeros(3)
        self.radius = scene.radius  # of what is seen
        self.aspect, self.fitted = aspect, isinstance(camera, str)
        if follow is not None:
            self._follow(follow)
        self.keys: list[tuple[float, Camera]] = []
        if isinstance(camera, Mapping):
            self._set_path(camera, follow, aspect, margin, arrows)
            return
        half_height = np.tan(np.radians(0.5 * VIEW_ANGLE))
        if isinstance(camera, str):
            if camera != "auto" and camera not in PRESETS:
                raise bad_value("view", "camera", camera, "one of " + ", ".join(map(repr, ["auto", *PRESETS])))
            turn = along(scene.up)
            direction = turn @ np.asarray(automatic(scene, turn) if camera == "auto" else PRESETS[camera])
            direction = direction / np.linalg.norm(direction)
            if self.row is not None:
                self.target = np.zeros(3)
                self.position = direction * 1.25 * self.radius / half_height / min(1.0, aspect)
                return
            self.target, distance = fitted(scene, direction, half_height, aspect, margin, arrows)
            self.position = self.target + distance * direction
            return
        try:
            position, target = camera[0], camera[1]
        except (TypeError, IndexError, KeyError):
            expected = "a name, or (position, target) or (position, target, up)"
            raise bad_value("view", "camera", camera, expected) from None
        self.position = check_vector(position, "view", "position of the camera") - self.anchor
        self.target = check_vector(target, "view", "target of the camera") - self.anchor
        if len(camera) > 2:
            self.up = check_vector(camera[2], "view", "up of the camera")
        if np.allclose(self.position, self.target):
            raise bad_value("view", "camera", camera, "a position that differs from its target")

    def _set_path(self, camera: Any, follow: Any, aspect: float, margin: float, arrows: tuple[str, ...]) -> None:
        """A camera for each time of a path; between them it moves evenly, and rests for a moment at each."""
        scene = self.scene
        if not camera:
            raise bad_value("view", "camera", camera, "times and places, for example {0.0: 'iso', 2.0: 'top'}")
        for t in sorted(camera, key=float):
            time = check_number(t, "view", "time of the camera")
            if not scene.start - 1e-9 <= time <= scene.end + 1e-9:
                raise bad_value("view", "time of the camera", time, f"one between {scene.start:g} and {scene.end:g}")
            if isinstance(camera[t], Mapping):
                raise bad_value("view", "camera", camera[t], "a place for each time")
            self.keys.append((time, Camera(scene, camera[t], follow, aspect, margin, arrows)))
        first = self.keys[0][1]
        self.position, self.target, self.up, self.fitted = first.position, first.target, first.up, False

    def _on_path(self, t: float) -> tuple[Array, Array, Array]:
        """Position, target and up at a time: the camera turns around its target instead of flying through things."""
        times = [time for time, _ in self.keys]
        k = int(np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 1))
        a = self.keys[k][1]
        if t <= times[0] or k == len(times) - 1:
            return a.position, a.target, a.up
        b = self.keys[k + 1][1]
        x = (t - times[k]) / (times[k + 1] - times[k])
        x = x * x * (3.0 - 2.0 * x)
        target = a.target + x * (b.target - a.target)
        away = [camera.position - camera.target for camera in (a, b)]
        size = [float(np.linalg.norm(v)) for v in away]
        up = a.up + x * (b.up - a.up)
        up = up / max(float(np.linalg.norm(up)), 1e-9)
        turn = along(self.scene.up)
        # azimuth and elevation, the short way round
        angles = [
            (np.arctan2(*(v @ turn)[1::-1]), np.arcsin((v @ turn)[2] / s)) for v, s in zip(away, size, strict=True)
        ]
        gap = (angles[1][0] - angles[0][0] + np.pi) % (2.0 * np.pi) - np.pi
        azimuth, elevation = angles[0][0] + x * gap, angles[0][1] + x * (angles[1][1] - angles[0][1])
        distance = size[0] * (size[1] / size[0]) ** x
        direction = np.array(
            (np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation))
        )
        return target + distance * turn @ direction, target, up

    def _follow(self, follow: Any) -> None:
        scene = self.scene
        model = scene.solutions[0].model
        body = model[getattr(follow, "name", follow)]
        if body.name not in scene.motions[0].rows:
            raise ModelError(f"view: follow names {body}, which has no place in space; expected a body")
        self.row = scene.row(0, body)
        self.anchor = scene.poses(scene.start)[0][self.row]
        own = scene.radii[0].get(body.name, 0.0)  # the body, and what is around it at the start
        self.radius = float(min(scene.radius, max(2.2 * own, 0.8 * scene.size_of_start, 20.0 * scene.glyph)))

    def at(self, poses: tuple[Array, Array], t: float | None = None) -> tuple[Array, Array, Array]:
        """Position, target and up; ``t`` matters to a camera that moves along a path."""
        shift = np.zeros(3) if self.row is None else poses[0][self.row]
        position, target, up = (
            self._on_path(t) if self.keys and t is not None else (self.position, self.target, self.up)
        )
        return position + shift, target + shift, up


def automatic(scene: Scene, turn: Array) -> tuple[float, float, float]:
    """The usual view from the front right, turned towards the thin direction of a flat motion."""
    size = np.abs((scene.high - scene.low) @ turn)
    x, y = float(size[0]), float(size[1])
    if y < 0.45 * max(x, float(size[2])) and y <= x:
        return 0.32, -1.0, 0.3
    if x < 0.45 * max(y, float(size[2])):
        return 1.0, -0.32, 0.3
    return PRESETS["iso"]


def fitted(
    scene: Scene, direction: Array, half_height: float, aspect: float, margin: float, arrows: tuple[str, ...] = ()
) -> tuple[Array, float]:
    """Target and distance such that the whole motion, and these kinds of arrows, just fit into the picture."""
    back = direction
    right = np.cross(scene.up, back)
    right /= max(float(np.linalg.norm(right)), 1e-9)
    above = np.cross(back, right)
    points = np.concatenate([scene.cloud, *(scene.tips[role] for role in arrows if role in scene.tips)])
    target = scene.centre.copy()
    distance = 0.0
    for _ in range(6):  # centre the projected points, then move back until they fit
        local = (points - target) @ np.stack((right, above, back), axis=1)
        need_x = np.abs(local[:, 0]) / (half_height * aspect) + local[:, 2]
        need_y = np.abs(local[:, 1]) / half_height + local[:, 2]
        distance = margin * float(max(need_x.max(), need_y.max()))
        depth = np.maximum(distance - local[:, 2], 1e-9)
        x, y = local[:, 0] / depth, local[:, 1] / depth
        target = target + distance * (0.5 * (x.max() + x.min()) * right + 0.5 * (y.max() + y.min()) * above)
    return target, distance
