"""Universal Scene Description (.usda): bodies as animated frames with their meshes, written as plain text.

Read by Omniverse, Houdini, Maya, Blender, Unreal and the tools of Apple. Links (coils, rods, arrows) are meshes between
two points that are moved, turned and stretched.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from mbd.elements.arguments import FilePath
from mbd.errors import Array, check_number
from mbd.io.files import write_text
from mbd.view.arguments import Look, Runs, Speed
from mbd.view.clock import check_rate, check_speed, frame_count
from mbd.view.motion import continuous, quaternions
from mbd.view.pictures import check_file
from mbd.view.pieces import Link, Solid
from mbd.view.runs import run_names
from mbd.view.scene import Scene

FPS = 30.0
MAX_FRAMES = 1500
UP_AXES = {1: "Y", 2: "Z"}


def usd(
    solutions: Runs, file: FilePath, *, fps: float = FPS, speed: Speed = "auto", max_frames: int = MAX_FRAMES,
    **look: Unpack[Look],
) -> Path:  # fmt: skip
    """Write a .usda file with the animation inside and return its path.

    fps: keys per second of playing time. speed: as for movies; "auto" plays the run in 5 to 10 seconds.
    max_frames: keys at most; viewers interpolate between them. ``look`` holds the options of ``mbd.view.Scene``.
    """
    path = check_file(file, (".usda",))
    scene = Scene(solutions, **look)
    rate, pace = check_rate(fps, "fps"), check_speed(speed, scene.end - scene.start)
    most = int(check_number(max_frames, "view", "max_frames", positive=True))
    count = frame_count(scene.start, scene.end, rate, pace)
    times = np.linspace(scene.start, scene.end, max(1, min(count, most)))
    codes = np.linspace(0.0, (scene.end - scene.start) / pace * rate, len(times))
    write_text(path, document(scene, times, codes, rate))
    return path


def document(scene: Scene, times: Array, codes: Array, rate: float) -> str:
    """The text of the file."""
    n = int(scene.first_rows[-1])
    p, q = np.empty((len(times), n, 3)), np.empty((len(times), n, 4))
    ends = np.empty((len(times), len(scene.links), 2, 3))
    for k, t in enumerate(times):
        poses = scene.poses(float(t))
        p[k], q[k] = poses[0], quaternions(poses[1])
        for i, link in enumerate(scene.links):
            ends[k, i] = link.ends(poses, float(t))
    q = continuous(q)
    names = Names()
    axis = int(np.argmax(np.abs(scene.up)))
    head = (
        "#usda 1.0\n(\n"
        f'    defaultPrim = "world"\n    doc = "{quoted(scene.solutions[0].model.name)}, written by mbd"\n'
        f'    upAxis = "{UP_AXES.get(axis, "Z")}"\n    metersPerUnit = 1\n    kilogramsPerUnit = 1\n'
        f"    timeCodesPerSecond = {rate:g}\n    framesPerSecond = {rate:g}\n"
        f"    startTimeCode = {codes[0]:.6g}\n    endTimeCode = {codes[-1]:.6g}\n)\n"
    )
    body = []
    runs = run_names(scene.solutions)
    for run in range(len(scene.motions)):
        rows = range(int(scene.first_rows[run]), int(scene.first_rows[run + 1]))
        owners = {row + int(scene.first_rows[run]): name for name, row in scene.motions[run].rows.items()}
        inner = [
            frame(names, owners.get(row, "frame"), solids, codes, p[:, row], q[:, row])
            for row in rows
            if (solids := [s for s in scene.solids if s.body == row])
        ]
        group = names.new(f"run_{runs[run]}" if scene.several else "bodies")
        body.append(f'def Xform "{group}"\n{{\n{"".join(inner)}}}\n')
    links = [link_text(names, link, codes, ends[:, k]) for k, link in enumerate(scene.links)]
    body.append(f'def Xform "{names.new("links")}"\n{{\n{"".join(links)}}}\n' if links else "")
    return f'{head}\ndef Xform "world" (kind = "assembly")\n{{\n{"".join(body)}}}\n'


class Names:
    """Names of the format: letters, digits and underscores, each once."""

    def __init__(self) -> None:
        self.used: set[str] = set()

    def new(self, name: str) -> str:
        """A name like this one that is not in use."""
        plain = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_") or "x"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        result, k = plain, 1
        while result in self.used:
            k += 1
            result = f"{plain}_{k}"
        self.used.add(result)
        return result


def quoted(text: str) -> str:
    """A text between quotation marks."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def tuples(values: Array, digits: int = 7) -> str:
    """Rows of numbers."""
    return ", ".join("(" + ", ".join(f"{x:.{digits}g}" for x in row) + ")" for row in values)


def samples(codes: Array, values: Array) -> str:
    """Values at time codes; constants once, and no keys that repeat both neighbours."""
    same = np.all(values[1:] == values[:-1], axis=1)
    keep = np.ones(len(codes), dtype=bool)
    keep[1:-1] = ~(same[:-1] & same[1:])
    if same.all():
        keep[1:] = False
    rows = zip(codes[keep], values[keep], strict=True)
    return "{" + ", ".join(f"{c:.7g}: ({', '.join(f'{x:.8g}' for x in row)})" for c, row in rows) + "}"


def mesh(names: Names, name: str, surface: Any, rgb: Any, place: str = "") -> str:
    """A mesh with its normals and its colour."""
    counts = ", ".join(["3"] * len(surface.faces))
    indices = ", ".join(map(str, surface.faces.ravel().tolist()))
    return (
        f'def Mesh "{names.new(name)}"\n{{\nuniform token subdivisionScheme = "none"\n'
        f"int[] faceVertexCounts = [{counts}]\nint[] faceVertexIndices = [{indices}]\n"
        f"point3f[] points = [{tuples(surface.points)}]\n"
        f'normal3f[] normals = [{tuples(surface.normals, 4)}] (interpolation = "vertex")\n'
        f"color3f[] primvars:displayColor = [{tuples(linear(rgb)[None], 4)}]\n"
        f"float3[] extent = [{tuples(np.stack((surface.points.min(axis=0), surface.points.max(axis=0))))}]\n{place}}}\n"
    )


def linear(rgb: Any) -> Array:
    """Colours of screens as amounts of light (sRGB)."""
    x = np.asarray(rgb, dtype=float)
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)


def frame(names: Names, owner: str, solids: list[Solid], codes: Array, p: Array, q: Array) -> str:
    """A body with its solids."""
    own, parts = names.new(owner), []
    for solid in solids:
        turn = quaternions(solid.turn[None])[0]
        place = (
            f"double3 xformOp:translate = ({', '.join(f'{x:.9g}' for x in solid.offset)})\n"
            f"quatf xformOp:orient = ({', '.join(f'{x:.8g}' for x in turn)})\n"
            'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]\n'
        )
        parts.append(mesh(names, f"{solid.owner}_{solid.role}", solid.surface, solid.colour, place))
    return (
        f'def Xform "{own}"\n{{\n'
        f"double3 xformOp:translate.timeSamples = {samples(codes, p)}\n"
        f"quatf xformOp:orient.timeSamples = {samples(codes, q)}\n"
        'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]\n'
        f"{''.join(parts)}}}\n"
    )


def link_text(names: Names, link: Link, codes: Array, ends: Array) -> str:
    """A link of length one that is stretched."""
    from mbd.view.pieces import steady_frame
    from mbd.view.surfaces import Surface

    vectors = ends[:, 1] - ends[:, 0]
    lengths = np.linalg.norm(vectors, axis=1)
    usual = float(np.median(lengths[lengths > 0.0])) if (lengths > 0.0).any() else 1.0
    points = link.surface.points.copy()
    points[:, 2] += link.weights * max(usual - link.head, 0.0)
    unit = Surface(points, link.surface.normals, link.surface.faces)
    turns = continuous(quaternions(np.array([steady_frame(v) for v in vectors]))[:, None])[:, 0]
    stretch = lengths / usual
    wide = np.minimum(1.0, stretch) if link.head else np.ones(len(stretch))  # small arrows are thin, coils are not
    scales = np.stack((wide, wide, np.maximum(stretch, 1e-6)), axis=1)
    return (
        f'def Xform "{names.new(f"{link.owner}_{link.role}")}"\n{{\n'
        f"double3 xformOp:translate.timeSamples = {samples(codes, ends[:, 0])}\n"
        f"quatf xformOp:orient.timeSamples = {samples(codes, turns)}\n"
        f"float3 xformOp:scale.timeSamples = {samples(codes, scales)}\n"
        'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient", "xformOp:scale"]\n'
        f"{mesh(names, link.role, unit, link.colour)}}}\n"
    )
