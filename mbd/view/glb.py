"""glTF: the scene with its animation in one binary file, for Blender, PowerPoint, web pages and viewers of all kinds.

One node per body is moved by two channels (translation, rotation) on the times of the solution; springs and rods are
skins of two joints, so that coils stretch; trails are lines. A root node turns the up of the model into the y of glTF.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from mbd.elements.arguments import FilePath
from mbd.errors import Array
from mbd.io.files import replacing
from mbd.view.arguments import Parts, Runs, ThemeName
from mbd.view.motion import continuous, quaternions
from mbd.view.pictures import check_file
from mbd.view.pieces import Link, Solid
from mbd.view.scene import Scene
from mbd.view.surfaces import Surface, along
from mbd.view.theme import Colour

FLOAT, UNSIGNED, SHORT = 5126, 5125, 5123
VERTICES, INDICES = 34962, 34963


def gltf(
    solutions: Runs, file: FilePath, *, max_keys: int | None = None, theme: ThemeName = "light",
    reactions: bool = False, loads: bool = False, **look: Unpack[Parts],
) -> Path:  # fmt: skip
    """Write a .glb file and return its path.

    The key times are the times of the solution; ``max_keys`` thins them. ``look`` holds the options of
    ``mbd.view.Scene``.
    """
    path = check_file(file, (".glb",))
    scene = Scene(solutions, theme=theme, reactions=reactions, loads=loads, **look)
    with replacing(path) as draft:
        draft.write_bytes(glb_bytes(scene, max_keys))
    return path


def key_times(scene: Scene, max_keys: int | None) -> Array:
    """Times of the solution (of all runs), thinned on request."""
    times = np.unique(np.concatenate([motion.t for motion in scene.motions]))
    if max_keys is not None and len(times) > max_keys:
        times = times[np.unique(np.linspace(0, len(times) - 1, max(2, int(max_keys))).round().astype(int))]
    return times


def glb_bytes(scene: Scene, max_keys: int | None = None) -> bytes:
    """The whole file."""
    return Writer(scene, key_times(scene, max_keys)).finish()


def linear(rgb: Colour) -> list[float]:
    """Colour from sRGB to the linear values of glTF, opaque."""
    return [float(x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4) for x in rgb] + [1.0]


def xyzw(rotation: Array) -> Array:
    """Quaternions with the scalar last."""
    q = quaternions(rotation.reshape(-1, 3, 3))
    return q[:, [1, 2, 3, 0]]


class Writer:
    """Collects nodes, meshes and animation channels, and packs them."""

    def __init__(self, scene: Scene, times: Array) -> None:
        self.scene, self.times = scene, times
        self.blob = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.meshes: list[dict[str, Any]] = []
        self.materials: list[dict[str, Any]] = []
        self.skins: list[dict[str, Any]] = []
        self.channels: list[dict[str, Any]] = []
        self.samplers: list[dict[str, Any]] = []
        self.known: dict[Any, int] = {}
        to_y = np.array(((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0))) @ along(scene.up).T
        self.nodes: list[dict[str, Any]] = [{"name": "world", "rotation": xyzw(to_y)[0].tolist(), "children": []}]
        self.time_accessor = self.accessor(times.astype(np.float32), "SCALAR", bounds=True)
        rows = [*{s.body: None for s in scene.solids}]
        paths = self._sample(rows)
        for row in rows:
            self._body(row, paths)
        for trail in scene.trails:
            self._trail(trail)

    # --- buffers

    def accessor(self, data: Any, kind: str, target: int | None = None, bounds: bool = False) -> int:
        """Put an array into the buffer; its number."""
        array = np.ascontiguousarray(data)
        self.blob.extend(b"\0" * (-len(self.blob) % 4))
        view: dict[str, Any] = {"buffer": 0, "byteOffset": len(self.blob), "byteLength": array.nbytes}
        if target is not None:
            view["target"] = target
        self.blob.extend(array.tobytes())
        self.views.append(view)
        component = {np.dtype("float32"): FLOAT, np.dtype("uint32"): UNSIGNED, np.dtype("uint16"): SHORT}[array.dtype]
        entry: dict[str, Any] = {
            "bufferView": len(self.views) - 1, "componentType": component, "count": len(array), "type": kind
        }  # fmt: skip
        if bounds:
            flat = array.reshape(len(array), -1)
            entry["min"], entry["max"] = flat.min(axis=0).tolist(), flat.max(axis=0).tolist()
        self.accessors.append(entry)
        return len(self.accessors) - 1

    def _once(self, key: Any, make: Any) -> int:
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    def material(self, rgb: Colour, unlit: bool = False) -> int:
        """Number of the material of this colour."""

        def make() -> int:
            entry: dict[str, Any] = {
                "pbrMetallicRoughness": {"baseColorFactor": linear(rgb), "metallicFactor": 0.0, "roughnessFactor": 0.55}
            }
            if unlit:
                entry["extensions"] = {"KHR_materials_unlit": {}}
            self.materials.append(entry)
            return len(self.materials) - 1

        return self._once(("material", rgb, unlit), make)

    def _attributes(self, key: Any, surface: Surface) -> tuple[dict[str, int], int]:
        """Accessors of a surface, shared by all solids with the same key."""

        def put(data: Any, kind: str, target: int, bounds: bool = False) -> int:
            name = (key, len(data), kind, target, bounds)
            return self._once(name, lambda: self.accessor(data, kind, target, bounds))

        points = put(surface.points.astype(np.float32), "VEC3", VERTICES, True)
        normals = put(surface.normals.astype(np.float32), "VEC3", VERTICES)
        faces = put(surface.faces.astype(np.uint32).ravel(), "SCALAR", INDICES)
        return {"POSITION": points, "NORMAL": normals}, faces

    def mesh(self, key: Any, surface: Surface, rgb: Colour) -> int:
        """Number of the mesh with this surface and colour."""

        def make() -> int:
            attributes, faces = self._attributes(key, surface)
            primitive = {"attributes": attributes, "indices": faces, "material": self.material(rgb)}
            self.meshes.append({"primitives": [primitive]})
            return len(self.meshes) - 1

        return self._once(("mesh", key, rgb), make)

    def node(self, parent: int, **entry: Any) -> int:
        """Add a node below another one."""
        self.nodes.append(entry)
        self.nodes[parent].setdefault("children", []).append(len(self.nodes) - 1)
        return len(self.nodes) - 1

    def channel(self, node: int, path: str, values: Array) -> None:
        """Animate a node."""
        kind = "VEC4" if path == "rotation" else "VEC3"
        output = self.accessor(values.astype(np.float32), kind)
        self.samplers.append({"input": self.time_accessor, "output": output, "interpolation": "LINEAR"})
        self.channels.append({"sampler": len(self.samplers) - 1, "target": {"node": node, "path": path}})

    # --- what is in the scene

    def _sample(self, rows: list[int]) -> dict[int, tuple[Array, Array]]:
        """Positions and quaternions (scalar first) of bodies, and ends of links, at the key times."""
        n = len(self.times)
        p, q = np.empty((n, len(rows), 3)), np.empty((n, len(rows), 4))
        links = [(link, np.empty((n, 3)), np.empty((n, 3, 3)), np.empty(n)) for link in self.scene.links]
        for k, t in enumerate(self.times):
            poses = self.scene.poses(float(t))
            p[k] = poses[0][rows]
            q[k] = quaternions(poses[1][rows])
            for link, start, turn, length in links:
                start[k], turn[k], length[k] = link.frame(poses, float(t))
        q = continuous(q)
        for link, start, turn, length in links:
            self._link(link, start, turn, length)
        return {row: (p[:, i], q[:, i]) for i, row in enumerate(rows)}

    def _name(self, row: int, owner: str) -> str:
        run = int(np.searchsorted(self.scene.first_rows, row, side="right")) - 1
        motion = self.scene.motions[run]
        body = next((n for n, r in motion.rows.items() if r == row - self.scene.first_rows[run]), owner)
        return f"{body} (run {run + 1})" if self.scene.several else body

    def _body(self, row: int, paths: dict[int, tuple[Array, Array]]) -> None:
        solids = [s for s in self.scene.solids if s.body == row]
        p, q = paths[row]
        q = q[:, [1, 2, 3, 0]]
        node = self.node(0, name=self._name(row, solids[0].owner), translation=p[0].tolist(), rotation=q[0].tolist())
        if row not in self.scene.first_rows and len(self.times) > 1:  # the ground does not move
            self.channel(node, "translation", p)
            self.channel(node, "rotation", q)
        for solid in solids:
            self._solid(solid, node)

    def _solid(self, solid: Solid, parent: int) -> None:
        entry: dict[str, Any] = {"mesh": self.mesh(solid.key, solid.surface, solid.colour)}
        if solid.role != "body":
            entry["name"] = solid.owner
        if np.any(solid.offset):
            entry["translation"] = solid.offset.tolist()
        if not np.array_equal(solid.turn, np.eye(3)):
            entry["rotation"] = xyzw(solid.turn)[0].tolist()
        self.node(parent, **entry)

    def _link(self, link: Link, start: Array, turn: Array, length: Array) -> None:
        """A skin with one joint at each end."""
        q = continuous(quaternions(turn))[:, [1, 2, 3, 0]]
        far = np.stack((np.zeros_like(length), np.zeros_like(length), length - link.head), axis=1)
        near = self.node(0, name=link.owner, translation=start[0].tolist(), rotation=q[0].tolist())
        end = self.node(near, name=f"{link.owner}, far end", translation=far[0].tolist())
        if len(self.times) > 1:
            self.channel(near, "translation", start)
            self.channel(near, "rotation", q)
            self.channel(end, "translation", far)
        attributes, faces = self._attributes(("link", id(link.surface)), link.surface)
        joints = np.tile(np.array((0, 1, 0, 0), dtype=np.uint16), (len(link.weights), 1))
        joints[link.weights == 0.0] = 0  # a joint without a share has to be the first one
        weights = np.stack((1.0 - link.weights, link.weights, 0 * link.weights, 0 * link.weights), axis=1)
        attributes = {
            **attributes,
            "JOINTS_0": self.accessor(joints, "VEC4", VERTICES),
            "WEIGHTS_0": self.accessor(weights.astype(np.float32), "VEC4", VERTICES),
        }
        primitive = {"attributes": attributes, "indices": faces, "material": self.material(link.colour)}
        self.meshes.append({"primitives": [primitive]})
        matrices = self.accessor(np.tile(np.eye(4, dtype=np.float32).ravel(), (2, 1)), "MAT4")
        self.skins.append({"joints": [near, end], "inverseBindMatrices": matrices, "skeleton": near})
        self.nodes.append({"name": f"{link.owner}, surface", "mesh": len(self.meshes) - 1, "skin": len(self.skins) - 1})

    def _trail(self, trail: Any) -> None:
        _, places = self.scene.path(trail)
        points = self.accessor(places.astype(np.float32), "VEC3", VERTICES, True)
        entry = {"attributes": {"POSITION": points}, "mode": 3, "material": self.material(trail.colour, unlit=True)}
        self.meshes.append({"primitives": [entry]})
        self.node(0, name=f"trail of {trail.owner}", mesh=len(self.meshes) - 1)

    def finish(self) -> bytes:
        """The file: a header, the description as JSON, the buffer."""
        skinned = [i for i, node in enumerate(self.nodes) if "skin" in node]
        document: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "mbd"},
            "scene": 0, "scenes": [{"name": self.scene.solutions[0].model.name, "nodes": [0, *skinned]}],
            "nodes": self.nodes, "meshes": self.meshes, "materials": self.materials,
            "accessors": self.accessors, "bufferViews": self.views,
        }  # fmt: skip
        if self.skins:
            document["skins"] = self.skins
        if self.channels:
            document["animations"] = [{"name": "motion", "channels": self.channels, "samplers": self.samplers}]
        if any("extensions" in m for m in self.materials):
            document["extensionsUsed"] = ["KHR_materials_unlit"]
        self.blob.extend(b"\0" * (-len(self.blob) % 4))
        document["buffers"] = [{"byteLength": len(self.blob)}]
        text = json.dumps(document, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
        chunks += struct.pack("<II", len(self.blob), 0x004E4942) + bytes(self.blob)
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks
