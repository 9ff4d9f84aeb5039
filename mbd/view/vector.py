"""The scene as vector graphics: faces, sorted by depth and shaded, for papers. Needs matplotlib, and no OpenGL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mbd.errors import Array, ModelError
from mbd.io.files import save_figure
from mbd.view.camera import VIEW_ANGLE, Camera
from mbd.view.clock import time_text
from mbd.view.labels import laid_out
from mbd.view.pieces import Poses
from mbd.view.plotting import matplotlib_module, style
from mbd.view.runs import run_names
from mbd.view.scene import Scene
from mbd.view.shading import MAP
from mbd.view.stage import LIGHT_FROM, grid_step
from mbd.view.surfaces import along
from mbd.view.theme import colour, readable_on, to_hex

FORMATS = (".svg", ".pdf", ".eps")
MAX_FACES = 150_000
DPI = 100.0
FILL_FROM = np.array((-6.0, -4.0, 3.0))
GRID_RADII = 3.0
LONGEST_EDGE = 0.12  # of a face, in radii of the scene


class View:
    """Projection of a camera: right, up and depth of points."""

    def __init__(self, camera: Camera, poses: Poses, t: float, size: tuple[int, int]) -> None:
        self.eye, target, up = camera.at(poses, t)
        back = self.eye - target
        self.distance = float(np.linalg.norm(back))
        self.back = back / self.distance
        right = np.cross(up, self.back)
        self.right = right / np.linalg.norm(right)
        self.above = np.cross(self.back, self.right)
        self.size, self.scale = size, 0.5 * size[1] / np.tan(np.radians(0.5 * VIEW_ANGLE))

    def project(self, points: Array) -> tuple[Array, Array]:
        """Pixels (n, 2) from the lower left corner, and distances (n,) from the camera."""
        local = points - self.eye
        depth = -(local @ self.back)
        safe = np.maximum(depth, 1e-3 * self.distance)
        x = self.scale * (local @ self.right) / safe + 0.5 * self.size[0]
        y = self.scale * (local @ self.above) / safe + 0.5 * self.size[1]
        return np.stack((x, y), axis=-1), depth


def draw(scene: Scene, t: float, file: Path, size: tuple[int, int], camera: Any, follow: Any, clock: bool) -> None:
    """Write the scene at a time."""
    matplotlib_module()
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.figure import Figure

    poses = scene.poses(t)
    view = View(Camera(scene, camera, follow, size[0] / size[1]), poses, t, size)
    theme = scene.theme
    with style(theme):
        figure = Figure(figsize=(size[0] / DPI, size[1] / DPI), dpi=DPI, facecolor=theme.background)
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        axes.set_xlim(0, size[0])
        axes.set_ylim(0, size[1])
        axes.axis("off")
        if scene.floor:
            axes.add_collection(LineCollection(floor_lines(scene, view), colors=theme.grid, linewidths=0.6, zorder=0))
        corners, rgb = faces(scene, poses, t)
        if scene.floor:
            flat: Any = shadows(scene, corners, view)
            axes.add_collection(PolyCollection(flat, facecolors=theme.shadow, edgecolors=theme.shadow,
                                               linewidths=0.3, zorder=1))  # fmt: skip
        polygons, shades, depth = visible(corners, rgb, view, scene)
        lines, line_shades, line_depth = trail_pieces(scene, poses, t, view)
        # one order for faces and lines: a line is a polygon without area
        order = np.argsort(-np.concatenate((depth, line_depth)), kind="stable")
        shapes: list[Any] = [*polygons, *lines]
        edges = np.concatenate((shades, line_shades)) if len(line_shades) else shades
        widths = np.concatenate((np.full(len(polygons), 0.6), np.full(len(lines), 1.6)))
        collection = PolyCollection(
            [shapes[k] for k in order], facecolors=edges[order], edgecolors=edges[order], linewidths=widths[order],
            closed=False, capstyle="round", zorder=2,
        )  # fmt: skip
        axes.add_collection(collection)
        write(axes, scene, poses, t, view, clock)
        save_figure(figure, file, facecolor=figure.get_facecolor())


def faces(scene: Scene, poses: Poses, t: float) -> tuple[Array, Array]:
    """Corners (n, 3, 3) and colours (n, 3) of all faces in space."""
    corners, colours = [], []
    values = scene.shading.colours(t) if scene.shading is not None else {}
    total = sum(len(s.surface.faces) for s in scene.solids) + sum(len(x.surface.faces) for x in scene.links)
    if total > MAX_FACES:
        raise ModelError(
            f"view: the scene has {total} faces; vector graphics are for {MAX_FACES} at most, PNG files for any number"
        )
    for solid in scene.solids:
        place, turn = solid.pose(poses)
        corners.append((place + solid.surface.points @ turn.T)[solid.surface.faces])
        own = values.get(solid.body, solid.colour) if solid.role == "body" else solid.colour
        colours.append(np.tile(own, (len(solid.surface.faces), 1)))
    for link in scene.links:
        points, _ = link.placed(poses, t)
        if link.head and link.frame(poses, t)[2] < 0.02 * link.head:
            continue
        corners.append(points[link.surface.faces])
        colours.append(np.tile(link.colour, (len(link.surface.faces), 1)))
    if scene.axes:
        from mbd.view.bodies import frame_parts

        for _, surface, _, turn, shade in frame_parts(0.16 * scene.measure, scene.theme):
            corners.append((surface.points @ turn.T)[surface.faces])
            colours.append(np.tile(colour(shade or "grey"), (len(surface.faces), 1)))
    return divided(np.concatenate(corners), np.concatenate(colours), LONGEST_EDGE * scene.measure)


def divided(corners: Array, rgb: Array, longest: float) -> tuple[Array, Array]:
    """Long faces in halves, along their longest edges: their order in depth is that of their middles."""
    for _ in range(12):
        edges = np.linalg.norm(corners[:, (1, 2, 0)] - corners, axis=2)
        large = edges.max(axis=1) > longest
        if not large.any() or len(corners) > MAX_FACES:
            break
        first = np.argmax(edges[large], axis=1)
        a, b, c = (corners[large][np.arange(len(first)), (first + k) % 3] for k in range(3))
        middle = 0.5 * (a + b)
        corners = np.concatenate((corners[~large], np.stack((a, middle, c), 1), np.stack((middle, b, c), 1)))
        rgb = np.concatenate((rgb[~large], rgb[large], rgb[large]))
    return corners, rgb


def visible(corners: Array, rgb: Array, view: View, scene: Scene) -> tuple[Array, Array, Array]:
    """Polygons (n, 3, 2), colours and depths of the faces that look at the camera."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(normal, axis=1)
    keep = area > 0.0
    corners, rgb, normal = corners[keep], rgb[keep], normal[keep] / area[keep][:, None]
    middle = corners.mean(axis=1)
    towards = view.eye - middle
    towards /= np.linalg.norm(towards, axis=1)[:, None]
    facing = np.einsum("ij,ij->i", normal, towards)
    keep = facing > -0.02
    corners, rgb, normal, towards = corners[keep], rgb[keep], normal[keep], towards[keep]
    turn = along(scene.up)
    sun, fill = (turn @ x / np.linalg.norm(x) for x in (LIGHT_FROM, FILL_FROM))
    light = 0.32 + 0.75 * (
        0.72 * np.maximum(normal @ sun, 0.0)
        + 0.38 * np.maximum(np.einsum("ij,ij->i", normal, towards), 0.0)
        + 0.30 * np.maximum(normal @ fill, 0.0)
    )
    flat, depth = view.project(corners.reshape(-1, 3))
    flat, depth = flat.reshape(-1, 3, 2), depth.reshape(-1, 3)
    keep = depth.min(axis=1) > 0.02 * view.distance
    return flat[keep], np.clip(rgb[keep] * light[keep][:, None], 0.0, 1.0), depth[keep].mean(axis=1)


def shadows(scene: Scene, corners: Array, view: View) -> Array:
    """Faces projected along the light onto the floor."""
    up, light = scene.up, along(scene.up) @ LIGHT_FROM
    if (view.eye @ up) < scene.floor_height:
        return np.zeros((0, 3, 2))
    points = corners.reshape(-1, 3)
    points = points - np.outer((points @ up - scene.floor_height) / (light @ up), light)
    flat, depth = view.project(points)
    keep = depth.reshape(-1, 3).min(axis=1) > 0.02 * view.distance
    return flat.reshape(-1, 3, 2)[keep]


def floor_lines(scene: Scene, view: View) -> list[Array]:
    """The grid of the floor, as far as it is in front of the camera."""
    turn, step = along(scene.up), grid_step(scene.radius)
    centre = np.round((scene.centre @ turn) / step) * step
    centre[2] = scene.floor_height
    reach = np.ceil(GRID_RADII * scene.radius / step) * step
    lines = []
    for offset in np.arange(-reach, reach + 0.5 * step, step):
        along_line = np.linspace(-reach, reach, 33)
        for a, b in ((np.full(33, offset), along_line), (along_line, np.full(33, offset))):
            flat, depth = view.project((centre + np.stack((a, b, np.zeros(33)), axis=1)) @ turn.T)
            for k in np.flatnonzero((depth[:-1] > 0.05 * view.distance) & (depth[1:] > 0.05 * view.distance)):
                lines.append(flat[k : k + 2])
    return lines


def trail_pieces(scene: Scene, poses: Poses, t: float, view: View) -> tuple[list[Array], Array, Array]:
    """Trails up to the present in short lines with their colours and depths."""
    lines, shades, depths = [], [], []
    for trail in scene.trails:
        times, places = scene.path(trail)
        count = int(np.searchsorted(times, t, side="right"))
        path = np.concatenate((places[:count], trail.place(poses)[None]))
        path = path[np.unique(np.linspace(0, len(path) - 1, min(len(path), 400)).round().astype(int))]
        flat, depth = view.project(path)
        for k in range(len(path) - 1):
            if min(depth[k], depth[k + 1]) > 0.02 * view.distance:
                lines.append(flat[k : k + 2])
                shades.append(trail.colour)
                depths.append(0.5 * (depth[k] + depth[k + 1]))
    return lines, np.array(shades).reshape(-1, 3), np.array(depths)


def write(axes: Any, scene: Scene, poses: Poses, t: float, view: View, clock: bool) -> None:
    """Names, letters, time, legends and scales, as texts that can be searched and edited."""
    theme, (width, height) = scene.theme, view.size
    points = 72.0 / DPI  # of a pixel
    font = max(11.0, 0.03 * height) * points
    texts: list[tuple[str, Any, str]] = []
    if scene.axes:
        for letter, tip, shade in zip(*scene.letter_places(), theme.axes, strict=True):
            texts.append((letter, tip, shade))
    if scene.labels:
        texts += [(name, place, theme.text) for name, place in zip(*scene.label_places(poses), strict=True)]
    if texts:
        flat, depth = view.project(np.array([place for _, place, _ in texts]))
        sizes = np.array([(0.62 * font / points * len(words), 1.3 * font / points) for words, _, _ in texts])
        for (words, _, shade), place, far in zip(texts, laid_out(flat, sizes, (width, height)), depth, strict=True):
            if far > 0.0:
                axes.text(*place, words, color=shade, fontsize=font, ha="center", va="center", zorder=3)
    margin = 0.03 * height
    if clock:
        words = f"t = {time_text(t, scene.start, scene.end)}"
        axes.text(margin, margin, words, color=theme.muted, fontsize=font, zorder=3)
    if scale := scene.arrow_scales():
        axes.text(
            width - margin, margin, "\n".join(scale), color=theme.muted, fontsize=0.85 * font, ha="right", zorder=3
        )
    top = 0.95 * height
    if (shading := scene.shading) is not None:
        stops = np.array(MAP)
        bar = axes.inset_axes(
            (0.66 * width, top - 0.03 * height, 0.31 * width, 0.025 * height), transform=axes.transData
        )
        for k in range(64):
            share = (k + 0.5) / 64
            rgb = [np.interp(share, np.linspace(0, 1, len(stops)), stops[:, c]) for c in range(3)]
            bar.axvspan(k / 64, (k + 1) / 64, color=rgb, lw=0)
        bar.set_xlim(0, 1)
        bar.set_yticks([])
        bar.set_xticks([0, 0.5, 1], [f"{shading.low + x * (shading.high - shading.low):.3g}" for x in (0, 0.5, 1)])
        bar.tick_params(labelsize=0.8 * font, length=0)
        bar.set_title(f"{shading.title} in {shading.unit}", fontsize=0.85 * font, loc="right", fontweight="normal")
        top -= 0.13 * height
    if scene.several:
        for k, name in enumerate(run_names(scene.solutions)):
            ground = theme.run(k)
            box = {"facecolor": to_hex(ground), "edgecolor": "none", "pad": 2.5}
            axes.text(width - margin, top - 2.2 * k * font / points, name, color=to_hex(readable_on(ground)),
                      fontsize=0.9 * font, ha="right", va="top", bbox=box, zorder=3)  # fmt: skip
