"""One HTML file with the whole animation: play, pause, scrub, speed and orbit in any browser, without a network.

The viewer is that of viser; this module records the scene for it. Playback is stepwise, so the motion is resampled to
the frame rate first. Springs are skins of two bones, because animated scales lag behind poses while playing.
"""

from __future__ import annotations

import contextlib
import html as escape
import io
import itertools
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from mbd.elements.arguments import FilePath
from mbd.errors import Array, MbdError
from mbd.io.files import write_text
from mbd.view.arguments import CameraPlace, Followed, Look, Runs
from mbd.view.camera import VIEW_ANGLE, Camera
from mbd.view.clock import check_rate, check_speed, frame_count
from mbd.view.motion import quaternions
from mbd.view.opengl import without_hints
from mbd.view.pictures import check_file
from mbd.view.pieces import STRETCHED, Solid, families, stretch
from mbd.view.runs import run_names
from mbd.view.scene import Scene
from mbd.view.stage import grid_step
from mbd.view.surfaces import along
from mbd.view.theme import Colour, colour, to_hex

FPS = 30.0
MAX_FRAMES = 1500
MAX_POSES = 300_000  # frames times moving things; more makes a file of tens of megabytes
BATCH = 120  # solids beyond which equal ones are drawn together
TRAIL_PIECES = 60
ASPECT = 1.6


def html(
    solutions: Runs, file: FilePath, *, fps: float = FPS, speed: float = 1.0, camera: CameraPlace = "auto",
    follow: Followed | None = None, title: str | None = None, **look: Unpack[Look],
) -> Path:  # fmt: skip
    """Write one HTML file that plays the solution in any browser, offline, and return its path.

    fps: keys per second of playing time; long runs get fewer. speed: 0.1 plays ten times slower than real.
    camera: a preset or (position, target), from where it can be turned. follow: a body that stays in the middle.
    ``look`` holds the options of ``mbd.view.Scene``.
    """
    path = check_file(file, (".html", ".htm"))
    text = page(Scene(solutions, **look), fps=fps, speed=speed, camera=camera, follow=follow, title=title)
    write_text(path, text)
    return path


def page(
    scene: Scene, *, fps: float = FPS, speed: float = 1.0, camera: CameraPlace = "auto",
    follow: Followed | None = None, title: str | None = None, max_poses: int = MAX_POSES,
) -> str:  # fmt: skip
    """The text of the page."""
    rate, pace = check_rate(fps, "fps"), check_speed(speed, scene.end - scene.start)
    things = max(1, len({s.body for s in scene.solids}) + 2 * len(scene.links))
    frames = max(2, min(MAX_FRAMES, max_poses // things))
    count = min(frames, frame_count(scene.start, scene.end, rate, pace))
    times = np.linspace(scene.start, scene.end, count)
    view = Camera(scene, camera, follow, ASPECT)
    viser = _viser()
    with silence():  # the server greets
        try:
            server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
        except OSError as error:
            raise MbdError(f"The page needs a local port for a moment, which cannot be opened here: {error}") from error
        try:
            text = Recorder(scene, server, view).record(times, pace)
        finally:
            server.stop()
    return dressed(text, scene, title)


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Nothing is printed, nor displayed in a notebook, where printing may be something else than writing."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        if "IPython" in sys.modules:
            from IPython.utils.capture import capture_output

            stack.enter_context(capture_output(stderr=False))
        yield


def _viser() -> Any:
    try:
        with without_hints():
            import viser
    except ImportError:
        raise MbdError("Web pages need viser, which is not installed: pip install 'mbd[view]'") from None
    return viser


def rgb255(rgb: Colour) -> tuple[int, int, int]:
    """Colour in whole numbers."""
    red, green, blue = (round(255 * x) for x in rgb)
    return red, green, blue


class Recorder:
    """Puts a scene onto a viser server and records its motion."""

    def __init__(self, scene: Scene, server: Any, camera: Camera) -> None:
        self.scene, self.server, self.api, self.camera = scene, server, server.scene, camera
        # lights and shadows of the viewer are made for scenes of a few metres
        self.scale = 1.0 if 0.5 <= camera.radius <= 6.0 else 2.5 / camera.radius
        self.start = scene.poses(scene.start)
        # a body is followed by moving the world the other way, since the camera belongs to the reader
        self.world = self.api.add_frame("/world", show_axes=False)
        self._furniture()
        self.bodies: dict[int, Any] = {}
        self.batches: list[tuple[Any, list[Solid]]] = []
        self._add_solids()
        self.links = [self._add_link(k) for k in range(len(scene.links))]
        self.pieces = [piece for k in range(len(scene.trails)) for piece in self._add_trail(k)]
        self.labels = self._add_labels()

    def _furniture(self) -> None:
        scene, api, turn = self.scene, self.api, along(self.scene.up)
        theme, f = scene.theme, self.scale
        api.set_up_direction(tuple(scene.up))
        api.configure_environment_map(None)
        api.configure_default_lights(False)
        low = (150, 155, 165) if not theme.dark else (120, 125, 135)
        api.add_light_hemisphere("/lights/sky", sky_color=(255, 255, 255), ground_color=low, intensity=2.2)
        sun = turn @ np.array((3.0, -2.0, 6.0))
        api.add_light_directional("/lights/sun", intensity=2.0, cast_shadow=True, position=tuple(sun))
        if scene.floor:
            step, size = f * grid_step(scene.radius), 12.0 * f * scene.radius
            size = step * np.ceil(size / step)
            centre = scene.centre @ turn
            place = turn @ np.array((*(f * np.round(centre[:2] / (step / f)) * step / f), f * scene.floor_height))
            q = quaternions(turn[None])[0]
            grid = rgb255(colour(theme.grid))
            api.add_grid(
                "/world/ground", width=size, height=size, cell_size=step, section_size=5 * step, cell_color=grid,
                section_color=grid, cell_thickness=0.8, section_thickness=1.3,
                shadow_opacity=0.22 if not theme.dark else 0.5,
                plane_color=rgb255(colour(theme.floor)), plane_opacity=1.0, position=place, wxyz=q,
                fade_distance=7.0 * f * scene.radius,
            )  # fmt: skip
        if scene.axes:
            self._world_axes()
        position, target, up = self.camera.at(self.start)
        initial = self.server.initial_camera
        initial.position, initial.look_at, initial.up = f * position, f * target, up
        initial.fov = float(np.radians(VIEW_ANGLE + 4.0))
        # depth of the viewer's camera
        initial.near, initial.far = 0.01 * f * scene.radius, 100.0 * f * scene.radius

    def _world_axes(self) -> None:
        from mbd.view.bodies import frame_parts

        for k, (_, surface, _, turn, shade) in enumerate(frame_parts(0.16 * self.scene.measure, self.scene.theme)):
            moved = surface.moved(turn, scale=self.scale)
            self._mesh(f"/world/axes/{k}", moved, colour(shade or "grey"))

    def _mesh(self, name: str, surface: Any, rgb: Colour, **more: Any) -> Any:
        points = surface.points.astype(np.float32)
        return self.api.add_mesh_simple(name, points, surface.faces.astype(np.uint32), color=rgb255(rgb), **more)

    def _add_solids(self) -> None:
        scene, f = self.scene, self.scale
        groups: dict[Any, list[Solid]] = {}
        stretched = families(scene.solids)
        for solid in scene.solids:
            groups.setdefault(solid.key[0] if solid.key[0] in stretched else solid.key, []).append(solid)
        many = len(scene.solids) > BATCH
        single = []
        for k, (key, solids) in enumerate(groups.items()):
            if not many or len(solids) < 8:
                single += solids
                continue
            q, p = self._batch_poses(solids, self.start)
            surface = STRETCHED[key](scene.segments) if key in stretched else solids[0].surface
            sizes = np.array([stretch(s) for s in solids], dtype=np.float32) if key in stretched else None
            handle = self.api.add_batched_meshes_simple(
                f"/world/batches/{k}", (f * surface.points).astype(np.float32), surface.faces.astype(np.uint32), q, p,
                batched_scales=sizes, lod="off",
                batched_colors=np.array([rgb255(s.colour) for s in solids], dtype=np.uint8),
            )  # fmt: skip
            self.batches.append((handle, solids))
        names: dict[str, int] = {}
        for row in dict.fromkeys(s.body for s in single):
            owner = next(s.owner for s in single if s.body == row)
            base = f"/world/bodies/{re.sub(r'[^A-Za-z0-9_-]+', '_', owner)}_{row}"
            self.bodies[row] = self.api.add_frame(base, show_axes=False, **self._pose(row, self.start))
            for solid in (s for s in single if s.body == row):
                names[base] = names.get(base, 0) + 1
                q = quaternions(solid.turn[None])[0]
                moved = solid.surface.moved(scale=f)
                self._mesh(f"{base}/{names[base]}", moved, solid.colour, position=f * solid.offset, wxyz=q)

    def _pose(self, row: int, poses: Any) -> dict[str, Array]:
        return {"position": self.scale * poses[0][row], "wxyz": quaternions(poses[1][row][None])[0]}

    def _batch_poses(self, solids: list[Solid], poses: Any) -> tuple[Array, Array]:
        rows = [s.body for s in solids]
        p, r = poses[0][rows], poses[1][rows]
        place = p + np.einsum("nij,nj->ni", r, np.array([s.offset for s in solids]))
        turn = quaternions(r @ np.array([s.turn for s in solids]))
        return turn.astype(np.float32), (self.scale * place).astype(np.float32)

    def _add_link(self, k: int) -> Any:
        link, f = self.scene.links[k], self.scale
        start, turn, length = link.frame(self.start, self.scene.start)
        weights = np.stack((1.0 - link.weights, link.weights), axis=1).astype(np.float32)
        reach = max(length - link.head, 0.0)
        points = f * link.surface.points.copy()
        points[:, 2] += f * link.weights * reach
        return self.api.add_mesh_skinned(
            f"/world/links/{k}", points.astype(np.float32), link.surface.faces.astype(np.uint32), skin_weights=weights,
            bone_wxyzs=((1.0, 0.0, 0.0, 0.0),) * 2, bone_positions=((0.0, 0.0, 0.0), (0.0, 0.0, f * reach)),
            color=rgb255(link.colour), position=f * start, wxyz=quaternions(turn[None])[0],
            visible=length > 0.3 * link.head,
        )  # fmt: skip

    def _add_trail(self, k: int) -> Iterator[tuple[float, Any]]:
        """Pieces of a trail with the time from which each is seen."""
        trail = self.scene.trails[k]
        times, places = self.scene.path(trail)
        cuts = np.unique(np.linspace(0, len(times) - 1, TRAIL_PIECES + 1).round().astype(int))
        for i, (a, b) in enumerate(itertools.pairwise(cuts)):
            path = self.scale * places[a : b + 1][:: max(1, (b - a) // 12)]
            if (b - a) % max(1, (b - a) // 12):
                path = np.concatenate((path, self.scale * places[b : b + 1]))
            segments = np.stack((path[:-1], path[1:]), axis=1).astype(np.float32)
            handle = self.api.add_line_segments(
                f"/world/trails/{k}/{i}", segments, rgb255(trail.colour), visible=False,
                thickness=0.006 * self.scale * self.scene.measure,
            )  # fmt: skip
            yield float(times[b]), handle

    def _add_labels(self) -> list[Any]:
        if not self.scene.labels:
            return []
        names, places = self.scene.label_places(self.start)
        return [
            self.api.add_label(f"/world/labels/{k}", name, position=self.scale * place, anchor="center-center")
            for k, (name, place) in enumerate(zip(names, places, strict=True))
        ]

    def record(self, times: Array, pace: float) -> str:
        """Play the motion once into a recording and return the page."""
        recording = self.server.get_scene_serializer()
        shown = [False] * len(self.pieces)
        for k, t in enumerate(times):
            if k:
                recording.insert_sleep(float(times[k] - times[k - 1]) / pace)
            with self.server.atomic():
                self._move(float(t), shown)
        recording.insert_sleep(0.4)  # the last picture stays for a moment before the loop starts again
        return recording.as_html(dark_mode=self.scene.theme.dark)

    def _move(self, t: float, shown: list[bool]) -> None:
        scene, f = self.scene, self.scale
        poses = scene.poses(t)
        if self.camera.row is not None:
            self.world.position = f * (self.start[0][self.camera.row] - poses[0][self.camera.row])
        for row, handle in self.bodies.items():
            if row not in scene.first_rows:
                pose = self._pose(row, poses)
                handle.position, handle.wxyz = pose["position"], pose["wxyz"]
        for handle, solids in self.batches:
            handle.batched_wxyzs, handle.batched_positions = self._batch_poses(solids, poses)
        for link, handle in zip(scene.links, self.links, strict=True):
            start, turn, length = link.frame(poses, t)
            handle.position, handle.wxyz = f * start, quaternions(turn[None])[0]
            handle.bones[1].position = (0.0, 0.0, f * max(length - link.head, 0.0))
            if handle.visible != (length > 0.3 * link.head):
                handle.visible = length > 0.3 * link.head
        for k, (since, handle) in enumerate(self.pieces):
            if shown[k] != (since <= t + 1e-12):
                shown[k] = not shown[k]
                handle.visible = shown[k]
        if self.labels:
            for handle, place in zip(self.labels, scene.label_places(poses)[1], strict=True):
                handle.position = f * place


def dressed(text: str, scene: Scene, title: str | None) -> str:
    """The page with its title, a caption and, for several runs, a legend."""
    name = title if title is not None else scene.solutions[0].model.name
    safe = escape.escape(name)
    text = re.sub(r"<title>.*?</title>", lambda _: f"<title>{safe}</title>", text, count=1, flags=re.S)
    theme = scene.theme
    entries = "".join(
        f'<span style="margin-right:14px"><span style="display:inline-block;width:11px;height:11px;border-radius:3px;'
        f'background:{to_hex(theme.run(k))};margin-right:5px"></span>{escape.escape(run)}</span>'
        for k, run in enumerate(run_names(scene.solutions))
    )
    legend = f'<div style="margin-top:5px;font-size:13px">{entries}</div>' if scene.several else ""
    caption = (
        f"<style>canvas[data-engine]{{background:{theme.background}!important}}</style>"
        f'<div id="mbd-caption" style="position:fixed;left:18px;top:14px;z-index:5;pointer-events:none;'
        f'font-family:system-ui,sans-serif;color:{theme.text};user-select:none">'
        f'<div style="font-size:17px;font-weight:600">{safe}</div>'
        f'<div style="font-size:12px;color:{theme.muted};margin-top:2px">drag to turn, scroll to zoom, '
        f"right button to move</div>{legend}</div>"
    )
    end = text.rfind("</body>")
    return text[:end] + caption + text[end:] if end >= 0 else text + caption
