"""A scene and its motion as plain data for pages: a description, and one packed block of all numbers.

Lengths are counted in radii of what is seen, from the centre of the scene, so that molecules and orbits fit into the
numbers of graphics hardware. Places are single precision, rotations have 16 bits (3e-5 rad), values single precision.
"""

from __future__ import annotations

import base64
import gzip
from typing import Any

import numpy as np

from mbd.errors import Array
from mbd.view.bodies import frame_parts
from mbd.view.camera import VIEW_ANGLE, Camera
from mbd.view.clock import digits_of, unit_of
from mbd.view.motion import continuous, quaternions
from mbd.view.picking import VALUES, facts_of
from mbd.view.pieces import STRETCHED, Solid, families, stretch
from mbd.view.runs import run_names
from mbd.view.scene import Scene
from mbd.view.stage import LIGHT_FROM, grid_step
from mbd.view.surfaces import Surface, along
from mbd.view.theme import colour, to_hex

TRAIL_POINTS = 1200
MAX_VALUES = 120_000  # numbers of elements on a page; more would make it large
FEWEST_SAMPLES = 20
FLOOR_RADII = 9.0
DIRECTIONS = 120  # in which the farthest points of a motion are kept, for cameras that fit it into any window


class Block:
    """Numbers of a page in one block; ``add`` returns what the description says in their place."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.length = 0

    def add(self, values: Any, kind: str) -> dict[str, Any]:
        """Append an array of a kind such as "f4"."""
        array = np.ascontiguousarray(values, dtype=np.dtype(kind).newbyteorder("<"))
        data = array.tobytes()
        data += b"\0" * (-len(data) % 8)  # so that every array begins where it may
        first, self.length = self.length, self.length + len(data)
        self.parts.append(data)
        return {"$": [first, int(array.size), kind]}

    def text(self) -> str:
        """Everything, packed, as text; the same numbers give the same text."""
        return base64.b64encode(gzip.compress(b"".join(self.parts), 9, mtime=0)).decode()


class Recording:
    """The description of a scene, filled step by step."""

    def __init__(self, scene: Scene, camera: Camera) -> None:
        self.scene, self.block = scene, Block()
        self.centre, self.f = scene.centre, 1.0 / camera.radius
        self.owners: dict[tuple[int, str], int] = {}
        self.surfaces: list[dict[str, Any]] = []
        self._known: dict[Any, int] = {}
        theme = scene.theme
        self.data: dict[str, Any] = {
            "rows": int(scene.first_rows[-1]), "up": scene.up.tolist(), "sun": _unit(along(scene.up) @ LIGHT_FROM),
            "fill": _unit(along(scene.up) @ np.array((-6.0, -4.0, 3.0))),
            "colours": {key: colour(getattr(theme, key)) for key in ("background", "floor", "grid", "shadow")},
            "camera": self._camera(camera), "cloud": self._cloud(), "floor": self._floor(), "axes": self._axes(),
            "solids": self._solids(), "links": self._links(), "labels": self._labels(), "trails": [], "curves": [],
            "runs": [
                {"name": name, "colour": to_hex(theme.run(k))} for k, name in enumerate(run_names(scene.solutions))
            ],
            "surfaces": self.surfaces, "shade": None,
        }  # fmt: skip

    def place(self, point: Any) -> Array:
        """A place in space as it stands on the page."""
        return (np.asarray(point) - self.centre) * self.f

    # --- furniture

    def _camera(self, camera: Camera) -> dict[str, Any]:
        poses = self.scene.poses(self.scene.start)
        position, target, up = camera.at(poses)
        shift = np.zeros(3) if camera.row is None else poses[0][camera.row]
        # where a body is followed, the target is counted from the body
        return {
            "position": (self.place(position) - (self.place(shift) if camera.row is not None else 0.0)).tolist(),
            "target": (self.place(target) - (self.place(shift) if camera.row is not None else 0.0)).tolist(),
            "up": _unit(up), "fov": float(np.radians(VIEW_ANGLE + 2.0)), "fitted": camera.fitted,
            "follow": camera.row, "aspect": camera.aspect,
        }  # fmt: skip

    def _cloud(self) -> dict[str, Any]:
        """The outermost points of the motion."""
        points = np.concatenate([self.scene.cloud, *self.scene.tips.values()])
        k = np.arange(DIRECTIONS) + 0.5  # spread evenly over a sphere (Fibonacci)
        z, angle = 1.0 - 2.0 * k / DIRECTIONS, np.pi * (1.0 + np.sqrt(5.0)) * k
        r = np.sqrt(1.0 - z * z)
        directions = np.stack((r * np.cos(angle), r * np.sin(angle), z))
        outermost = np.unique(np.argmax(points @ directions, axis=0))
        return self.block.add(self.place(points[outermost]), "f4")

    def _floor(self) -> dict[str, Any] | None:
        scene = self.scene
        if not scene.floor:
            return None
        turn, step = along(scene.up), grid_step(scene.radius)
        local = np.round((scene.centre @ turn) / step) * step
        local[2] = scene.floor_height
        return {
            "centre": self.place(turn @ local).tolist(), "right": turn[:, 0].tolist(), "ahead": turn[:, 1].tolist(),
            "reach": FLOOR_RADII * scene.radius * self.f, "step": step * self.f,
        }  # fmt: skip

    def _axes(self) -> dict[str, Any] | None:
        if not self.scene.axes:
            return None
        _, tips = self.scene.letter_places()
        return {"tips": self.place(tips).tolist(), "colours": list(self.scene.theme.axes)}

    # --- things

    def surface(self, key: Any, surface: Surface) -> int:
        """Number of a surface, added once."""
        if key not in self._known:
            self._known[key] = len(self.surfaces)
            points = self.f * surface.points
            self.surfaces.append({
                "points": self.block.add(points, "f4"),
                "normals": self.block.add(np.round(127.0 * surface.normals).clip(-127, 127), "i1"),
                "faces": self.block.add(surface.faces, "u2" if len(points) < 65536 else "u4"),
                "radius": float(np.linalg.norm(points, axis=1).max(initial=0.0)),
            })  # fmt: skip
        return self._known[key]

    def owner(self, run: int, name: str) -> int:
        """Number of an element of a run."""
        return self.owners.setdefault((run, name), len(self.owners))

    def _solids(self) -> list[dict[str, Any]]:
        scene = self.scene
        many = families(scene.solids)
        groups: dict[Any, list[Solid]] = {}
        for solid in scene.solids:
            kind = solid.key[0] if solid.key[0] in many else None
            run = int(np.searchsorted(scene.first_rows, solid.body, side="right")) - 1
            groups.setdefault((kind or solid.key, solid.role, run), []).append(solid)
        found = []
        for (key, role, run), solids in groups.items():
            unit = STRETCHED[key](scene.segments) if key in many else None
            found.append(self._group(solids, role, (key, role == "unit"), unit) | {"layer": run})
        if scene.axes:
            for key, surface, offset, turn, shade in frame_parts(0.16 * scene.measure, scene.theme):
                axis = Solid(key, surface, 0, colour(shade or "grey"), "", "axes", offset, turn)
                found.append(self._group([axis], "axes", key, None))
        return found

    def _group(self, solids: list[Solid], role: str, key: Any, unit: Surface | None) -> dict[str, Any]:
        scene, add = self.scene, self.block.add
        runs = np.searchsorted(scene.first_rows, [s.body for s in solids], side="right") - 1
        owners = [
            self.owner(int(run), s.owner) if role not in ("frame", "axes") else -1
            for s, run in zip(solids, runs, strict=True)
        ]
        return {
            "surface": self.surface(key, solids[0].surface if unit is None else unit), "role": role,
            "rows": add([s.body for s in solids], "i4"), "owners": add(owners, "i4"),
            "offsets": add(self.f * np.array([s.offset for s in solids]), "f4"),
            "frames": add(quaternions(np.array([s.turn for s in solids])), "f4"),
            "colours": add([np.round(255.0 * np.array(s.colour)) for s in solids], "u1"),
            "scales": None if unit is None else add([stretch(s) for s in solids], "f4"),
        }  # fmt: skip

    def _links(self) -> list[dict[str, Any]]:
        return [
            {
                "surface": self.surface(("link", id(link.surface)), link.surface), "role": link.role,
                "weights": self.block.add(link.weights, "f4"), "head": self.f * link.head, "colour": link.colour,
            }
            for link in self.scene.links
        ]  # fmt: skip

    def _labels(self) -> list[dict[str, Any]]:
        scene = self.scene
        if not scene.labels:
            return []
        return [
            {"text": name, "row": row, "offset": (self.f * com).tolist(), "lift": float(self.f * lift)}
            for name, row, com, lift in scene.label_marks()
        ]

    # --- motion

    def move(self, times: Array) -> None:
        """Record the poses, the ends of links and the colours at equally spaced times."""
        scene, n = self.scene, len(times)
        rows = self.data["rows"]
        p, q, ends = np.empty((n, rows, 3)), np.empty((n, rows, 4)), np.empty((n, len(scene.links), 6))
        for k, t in enumerate(times):
            poses = scene.poses(float(t))
            p[k], q[k] = self.place(poses[0]), quaternions(poses[1])
            ends[k] = self.ends(poses, float(t))
        add = self.block.add
        self.data["times"] = add(times, "f8")
        self.data["places"] = add(p, "f4")
        self.data["turns"] = add(np.round(32767.0 * continuous(q)), "i2")
        for k, link in enumerate(self.data["links"]):
            link["ends"] = add(ends[:, k], "f4")
        self.data["trails"] = [self._trail(trail) for trail in scene.trails]
        if scene.shading is not None:
            self.data["shade"] = self._shade(times)
        size, name = unit_of(scene.end - scene.start)
        self.data["time"] = {
            "start": scene.start, "end": scene.end, "size": size, "unit": name,
            "digits": digits_of(scene.end - scene.start),
        }  # fmt: skip

    def ends(self, poses: Any, t: float) -> Array:
        """Starts and directions of all links, (n, 6)."""
        pairs = [link.ends(poses, t) for link in self.scene.links]
        return np.array([np.concatenate((self.place(a), self.f * (b - a))) for a, b in pairs]).reshape(-1, 6)

    def _trail(self, trail: Any) -> dict[str, Any]:
        times, places = self.scene.path(trail)
        keep = np.unique(np.linspace(0, len(times) - 1, min(TRAIL_POINTS, len(times))).round().astype(int))
        return {
            "row": trail.body, "point": (self.f * trail.point).tolist(), "colour": trail.colour,
            "times": self.block.add(times[keep], "f8"), "points": self.block.add(self.place(places[keep]), "f4"),
        }  # fmt: skip

    def _shade(self, times: Array) -> dict[str, Any]:
        from mbd.view.shading import MAP

        shading = self.scene.shading
        assert shading is not None
        values = np.array([list(shading.values(float(t)).values()) for t in times])
        shares = np.clip((values - shading.low) / (shading.high - shading.low), 0.0, 1.0)
        whole = np.where(np.isfinite(shares), np.round(254.0 * np.nan_to_num(shares)), 255)
        rows = list(shading.values(float(times[0])))
        return {"rows": self.block.add(rows, "i4"), "values": self.block.add(whole, "u1"), "map": MAP.tolist()}

    # --- values

    def describe(self, times: Array) -> None:
        """Values of everything that can be picked; of very large models only the names."""
        entries: list[dict[str, Any]] = []
        columns: list[list[tuple[str, str, Array]]] = []
        few = len(self.owners) * 6 * FEWEST_SAMPLES <= MAX_VALUES
        for run, name in self.owners:
            solution = self.scene.solutions[run]
            element = solution.model[name]
            facts = facts_of(element) + ("" if few else "; too many elements for values on a page")
            entries.append({"name": name, "run": run, "facts": facts, "values": []})
            columns.append(_columns(solution, element) if few else [])
        width = sum(values.shape[1] for found in columns for _, _, values in found)
        samples = int(np.clip(MAX_VALUES // max(width, 1), 2, len(times)))
        moments = np.linspace(times[0], times[-1], samples)
        for (run, _), entry, found in zip(self.owners, entries, columns, strict=True):
            t = self.scene.solutions[run].t
            for label, unit, values in found:
                sampled = np.stack([np.interp(moments, t, column) for column in values.T], axis=1)
                entry["values"].append(
                    {"name": label, "unit": unit, "width": values.shape[1], "samples": self.block.add(sampled, "f4")}
                )
        self.data["owners"] = entries


def _columns(solution: Any, element: Any) -> list[tuple[str, str, Array]]:
    """Label, unit and values (n, k) of what is told about an element."""
    found = []
    view = solution[element] if element is not solution.model.ground else None
    for label, name, unit in VALUES:
        try:
            values = np.asarray(getattr(view, name))
        except (AttributeError, ValueError, TypeError):
            continue
        if values.size:
            found.append((label, unit, values.reshape(len(values), -1)))
    return found


def _unit(vector: Any) -> list[float]:
    return (np.asarray(vector) / np.linalg.norm(vector)).tolist()
