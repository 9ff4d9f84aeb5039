"""The .glb file: structure, key times, poses, and what other readers make of it."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pytest

import mbd
from mbd.view.motion import matrices
from mbd.view.scene import Scene

TYPES = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}
COMPONENTS = {5126: np.float32, 5125: np.uint32, 5123: np.uint16}


class Glb:
    """A small reader of its own."""

    def __init__(self, data: bytes) -> None:
        magic, version, length = struct.unpack_from("<4sII", data)
        assert (magic, version, length) == (b"glTF", 2, len(data))
        size, kind = struct.unpack_from("<II", data, 12)
        assert kind == 0x4E4F534A and size % 4 == 0
        self.json = json.loads(data[20 : 20 + size])
        more, kind = struct.unpack_from("<II", data, 20 + size)
        assert kind == 0x004E4942 and 28 + size + more == len(data)
        self.blob = data[28 + size :]

    def array(self, index: int) -> np.ndarray:
        a = self.json["accessors"][index]
        view = self.json["bufferViews"][a["bufferView"]]
        width = TYPES[a["type"]]
        values = np.frombuffer(self.blob, COMPONENTS[a["componentType"]], a["count"] * width, view["byteOffset"])
        return values.reshape(-1, width) if width > 1 else values

    def node(self, name: str) -> int:
        return next(k for k, node in enumerate(self.json["nodes"]) if node.get("name") == name)

    def channel(self, node: int, path: str) -> tuple[np.ndarray, np.ndarray]:
        animation = self.json["animations"][0]
        for channel in animation["channels"]:
            if channel["target"] == {"node": node, "path": path}:
                sampler = animation["samplers"][channel["sampler"]]
                assert sampler["interpolation"] == "LINEAR"
                return self.array(sampler["input"]), self.array(sampler["output"])
        raise AssertionError(f"no channel {path} of node {node}")


@pytest.fixture
def glb(mechanism: mbd.Solution, tmp_path: Any) -> Glb:
    return Glb(mechanism.gltf(tmp_path / "a.glb").read_bytes())


def test_key_times_are_those_of_the_solution(glb: Glb, mechanism: mbd.Solution) -> None:
    for name in ("slider", "pendulum", "ball"):
        for path in ("translation", "rotation"):
            times, _ = glb.channel(glb.node(name), path)
            np.testing.assert_array_equal(times, mechanism.t.astype(np.float32))
    assert len(glb.json["animations"]) == 1


def test_poses_are_those_of_the_solution(glb: Glb, mechanism: mbd.Solution) -> None:
    for name in ("slider", "pendulum"):
        _, p = glb.channel(glb.node(name), "translation")
        _, q = glb.channel(glb.node(name), "rotation")
        np.testing.assert_allclose(p, mechanism[name].position, atol=1e-6)
        np.testing.assert_allclose(matrices(q[:, [3, 0, 1, 2]]), mechanism[name].rotation, atol=1e-6)
        assert (np.sum(q[1:] * q[:-1], axis=1) > 0.0).all()


def test_coils_stretch(glb: Glb, mechanism: mbd.Solution) -> None:
    _, far = glb.channel(glb.node("coil, far end"), "translation")
    np.testing.assert_allclose(far[:, 2], mechanism["coil"].length, atol=1e-6)
    skin = glb.json["skins"][0]
    assert len(skin["joints"]) == 2 and len(glb.array(skin["inverseBindMatrices"])) == 2
    skinned = [n for n in glb.json["nodes"] if "skin" in n]
    attributes = glb.json["meshes"][skinned[0]["mesh"]]["primitives"][0]["attributes"]
    np.testing.assert_allclose(glb.array(attributes["WEIGHTS_0"]).sum(axis=1), 1.0, atol=1e-6)


def drawn(glb: Glb, name: str, k: int) -> np.ndarray:
    """Points of a stretched surface at a key, as a reader of glTF moves them with their two joints."""
    node = next(n for n in glb.json["nodes"] if n.get("name") == f"{name}, surface")
    primitive = glb.json["meshes"][node["mesh"]]["primitives"][0]
    joints, weights = (glb.array(primitive["attributes"][key]) for key in ("JOINTS_0", "WEIGHTS_0"))
    points = glb.array(primitive["attributes"]["POSITION"]).astype(float)
    near, far = glb.json["skins"][node["skin"]]["joints"]
    q = glb.channel(near, "rotation")[1][k]
    turn, start = matrices(q[None, [3, 0, 1, 2]])[0], glb.channel(near, "translation")[1][k]
    shifts = np.stack((np.zeros(3), glb.channel(far, "translation")[1][k]))
    moved = points + np.einsum("ni,nij->nj", weights, shifts[joints])
    return start + moved @ turn.T


@pytest.mark.parametrize("k", [0, 60, 160])
def test_arrows_start_at_the_load_and_show_the_force(mechanism: mbd.Solution, k: int, tmp_path: Any) -> None:
    """The tail at the point of attack, the tip along the force, lengths in the ratio of the forces."""
    glb = Glb(mechanism.gltf(tmp_path / "a.glb", loads=True).read_bytes())
    force = np.array((8.0 * np.cos(4.0 * mechanism.t[k]), 3.0, 0.0))
    place = mechanism["pendulum"].position[k] + mechanism["pendulum"].rotation[k] @ (0, 0, -0.4)
    direction = force / np.linalg.norm(force)
    local = drawn(glb, "push", k) - place
    along, across = local @ direction, np.linalg.norm(local - np.outer(local @ direction, direction), axis=1)
    first = mechanism["pendulum"].position[0] + mechanism["pendulum"].rotation[0] @ (0, 0, -0.4)
    length, start_length = along.max(), (drawn(glb, "push", 0) - first) @ (8.0, 3.0, 0.0) / np.sqrt(73.0)
    assert along.min() == pytest.approx(0.0, abs=1e-6)
    assert length / start_length.max() == pytest.approx(np.linalg.norm(force) / np.sqrt(73.0), rel=1e-4)
    tip = along > length - 1e-6
    assert across[tip].max() < 1e-6  # it ends in a point,
    shaft, widest = across[along < 1e-6].max(), across.max()
    assert widest == pytest.approx(2.4 * shaft, rel=1e-4)  # with a head wider than the shaft
    base = along[across > widest - 1e-6]
    assert np.ptp(base) < 1e-5 and length - base.mean() == pytest.approx(5.5 * shaft, rel=1e-4)


def test_colours_are_those_of_the_shapes_in_linear_light(tmp_path: Any) -> None:
    """sRGB 0x80 is 0.21586 of the light of white, 0x0a is in the linear part of the curve [IEC 61966-2-1]."""
    model = mbd.Model("colours", gravity=(0, 0, -1))
    shapes = {"first": "#ff8000", "second": "#0a80ff"}
    for k, (name, shade) in enumerate(shapes.items()):
        model.add(mbd.PointMass(name, 1.0, (k, 0, 0), shape=mbd.shapes.Sphere(0.1, colour=shade)))
    model.add(mbd.forces.Force(model["first"], (0, 0, 1.0), name="load"))
    solution = mbd.simulate(model, 0.01, 0.005, mbd.integrators.RK4())
    glb = Glb(solution.gltf(tmp_path / "a.glb", trails=False, loads=True).read_bytes())

    def colour_of(mesh: int) -> list[float]:
        material = glb.json["materials"][glb.json["meshes"][mesh]["primitives"][0]["material"]]
        return material["pbrMetallicRoughness"]["baseColorFactor"]

    def body(name: str) -> int:
        return glb.json["nodes"][glb.json["nodes"][glb.node(name)]["children"][0]]["mesh"]

    assert colour_of(body("first")) == pytest.approx([1.0, 0.2158605, 0.0, 1.0], abs=1e-6)
    assert colour_of(body("second")) == pytest.approx([10 / 255 / 12.92, 0.2158605, 1.0, 1.0], abs=1e-6)
    load = colour_of(glb.json["nodes"][glb.node("load, surface")]["mesh"])
    theme = Scene(solution).theme.load
    srgb = [int(theme[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    assert load == pytest.approx([*(((x + 0.055) / 1.055) ** 2.4 if x > 0.04045 else x / 12.92 for x in srgb), 1.0])


def test_joints_without_a_share_are_the_first_one(glb: Glb) -> None:
    """As the validator of glTF wants it."""
    skinned = [
        p["attributes"] for mesh in glb.json["meshes"] for p in mesh["primitives"] if "JOINTS_0" in p["attributes"]
    ]
    assert skinned
    for attributes in skinned:
        joints, weights = glb.array(attributes["JOINTS_0"]), glb.array(attributes["WEIGHTS_0"])
        assert (joints[weights == 0.0] == 0).all() and (joints[weights > 0.0] == 1).any()


def test_up_is_y(glb: Glb) -> None:
    x, y, z, w = glb.json["nodes"][0]["rotation"]
    turn = matrices(np.array([[w, x, y, z]]))[0]
    np.testing.assert_allclose(turn @ (0, 0, 1), (0, 1, 0), atol=1e-12)


def test_everything_refers_to_something(glb: Glb) -> None:
    j = glb.json
    for accessor in j["accessors"]:
        assert accessor["bufferView"] < len(j["bufferViews"])
    for view in j["bufferViews"]:
        assert view["byteOffset"] % 4 == 0 and view["byteOffset"] + view["byteLength"] <= j["buffers"][0]["byteLength"]
    for mesh in j["meshes"]:
        for primitive in mesh["primitives"]:
            points = glb.array(primitive["attributes"]["POSITION"])
            assert np.isfinite(points).all()
            if "indices" in primitive:
                assert glb.array(primitive["indices"]).max() < len(points)
    reached: set[int] = set()
    stack = list(j["scenes"][0]["nodes"])
    while stack:
        k = stack.pop()
        assert k not in reached  # a tree
        reached.add(k)
        stack += j["nodes"][k].get("children", [])
    assert reached == set(range(len(j["nodes"])))


def test_equal_shapes_share_their_data(chain: mbd.Solution, tmp_path: Any) -> None:
    glb = Glb(chain.gltf(tmp_path / "a.glb").read_bytes())
    capsules = [n for n in glb.json["nodes"] if n.get("name", "").startswith("link")]
    meshes = [glb.json["nodes"][n["children"][0]]["mesh"] for n in capsules]
    points = {glb.json["meshes"][m]["primitives"][0]["attributes"]["POSITION"] for m in meshes}
    assert len(meshes) == 5 and len(points) == 1


def test_other_readers_accept_it(chain: mbd.Solution, tmp_path: Any) -> None:
    pygltflib = pytest.importorskip("pygltflib")
    path = chain.gltf(tmp_path / "a.glb", max_keys=50)
    document = pygltflib.GLTF2().load(str(path))
    assert len(document.animations[0].channels) == 10
    times = document.accessors[document.animations[0].samplers[0].input]
    assert times.count == 50 and times.min == [0.0] and times.max == pytest.approx([1.0])


def test_vtk_moves_the_bodies_alike(chain: mbd.Solution, tmp_path: Any) -> None:
    pytest.importorskip("vtkmodules")
    from vtkmodules.vtkIOGeometry import vtkGLTFReader

    path = chain.gltf(tmp_path / "a.glb", joints=False, trails=False)
    reader = vtkGLTFReader()
    reader.SetFileName(str(path))
    reader.ApplyDeformationsToGeometryOn()
    reader.UpdateInformation()
    assert reader.GetNumberOfAnimations() == 1
    reader.EnableAnimation(0)
    t = float(chain.t[100])
    reader.GetOutputInformation(0).Set(reader.GetExecutive().UPDATE_TIME_STEP(), t)
    reader.Update()
    centres = []
    output = reader.GetOutput()
    iterator = output.NewIterator()
    while not iterator.IsDoneWithTraversal():
        bounds = np.array(iterator.GetCurrentDataObject().GetBounds()).reshape(3, 2)
        centres.append(bounds.mean(axis=1))
        iterator.GoToNextItem()
    scene = Scene(chain)
    expected = scene.poses(t)[0][1:][:, [0, 2, 1]] * (1, 1, -1)  # y up
    assert len(centres) == 5
    for place in expected:
        assert np.linalg.norm(np.array(centres) - place, axis=1).min() < 1e-5


def test_arguments_are_checked(chain: mbd.Solution, tmp_path: Any) -> None:
    with pytest.raises(mbd.ModelError, match="ends with .glb"):
        chain.gltf(tmp_path / "a.gltf")
