"""Files for other programs, read back by them: VTK series, USD, vector graphics; and cameras on paths."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import mbd
from mbd.view.camera import Camera
from mbd.view.render import offscreen
from mbd.view.scene import Scene
from mbd.view.vector import View, divided

from . import models


def test_vtk_reads_the_series(mechanism: mbd.Solution, tmp_path: Any, rendering: None) -> None:
    """Times, surfaces and speeds of every file are those of the solution."""
    import pyvista as pv

    path = mbd.view.vtk(mechanism, tmp_path / "run.pvd", count=11, reactions=True)
    reader = pv.get_reader(path)
    np.testing.assert_allclose(reader.time_values, np.linspace(0.0, 1.0, 11))
    scene = Scene(mechanism, reactions=True)
    for k in (0, 4, 10):
        reader.set_active_time_point(k)
        data = reader.read()[0]
        t = 0.1 * k
        poses = scene.poses(t)
        first = scene.solids[0]
        place, turn = first.pose(poses)
        np.testing.assert_allclose(
            data.points[: len(first.surface.points)], place + first.surface.points @ turn.T, atol=1e-6
        )
        assert data.n_cells == sum(len(x.surface.faces) for x in [*scene.solids, *scene.links])
        names = data.field_data["element_names"][0].split("\n")
        pendulum = np.flatnonzero(data.cell_data["element"] == names.index("pendulum"))
        speed = np.linalg.norm(mechanism["pendulum"].velocity[20 * k])
        np.testing.assert_allclose(data.cell_data["speed"][pendulum], speed, rtol=1e-6)
        arrow = scene.links[-1].placed(poses, t)[0]
        np.testing.assert_allclose(data.points[-len(arrow) :], arrow, atol=1e-6)
    with pytest.raises(mbd.ModelError, match="ends with .pvd"):
        mbd.view.vtk(mechanism, tmp_path / "run.vtk")


def test_usd_is_read_by_its_library(mechanism: mbd.Solution, tmp_path: Any) -> None:
    """Places and rotations of bodies and the ends of the spring, as Pixar's library computes them."""
    pytest.importorskip("pxr", reason="usd-core is not installed: pip install usd-core")
    from pxr import Usd, UsdGeom

    path = mbd.view.usd(mechanism, tmp_path / "run.usda", speed=1.0)
    stage = Usd.Stage.Open(str(path))
    assert UsdGeom.GetStageUpAxis(stage) == "Z" and stage.GetDefaultPrim().GetName() == "world"
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode(), stage.GetTimeCodesPerSecond()) == (0.0, 30.0, 30.0)
    scene = Scene(mechanism)
    for code in (0.0, 12.0, 30.0):
        poses = scene.poses(code / 30.0)
        cache = UsdGeom.XformCache(code)
        for name in ("slider", "pendulum", "ball"):
            matrix = np.array(cache.GetLocalToWorldTransform(stage.GetPrimAtPath(f"/world/bodies/{name}")))
            row = scene.row(0, mechanism.model[name])
            np.testing.assert_allclose(matrix[3, :3], poses[0][row], atol=1e-6)
            np.testing.assert_allclose(matrix[:3, :3].T, poses[1][row], atol=1e-6)
        coil = next(link for link in scene.links if link.owner == "coil")
        prim = stage.GetPrimAtPath("/world/links/coil_spring")
        matrix = np.array(cache.GetLocalToWorldTransform(prim))
        points = np.array(UsdGeom.Mesh(stage.GetPrimAtPath("/world/links/coil_spring/spring")).GetPointsAttr().Get())
        whole = points @ matrix[:3, :3] + matrix[3, :3]
        start, end = coil.ends(poses, code / 30.0)
        np.testing.assert_allclose(whole[coil.weights == 0.0].mean(axis=0), start, atol=1e-4)
        np.testing.assert_allclose(whole[coil.weights == 1.0].mean(axis=0), end, atol=1e-4)
    for prim in stage.Traverse():
        if prim.IsA(UsdGeom.Mesh):
            mesh = UsdGeom.Mesh(prim)
            assert UsdGeom.Mesh.ValidateTopology(
                mesh.GetFaceVertexIndicesAttr().Get(), mesh.GetFaceVertexCountsAttr().Get(),
                len(mesh.GetPointsAttr().Get()),
            )[0]  # fmt: skip


def test_names_of_usd_are_allowed_and_different(tmp_path: Any) -> None:
    pytest.importorskip("pxr", reason="usd-core is not installed: pip install usd-core")
    from pxr import Usd

    model = mbd.Model('a "model"\\')
    for name in ("1 ball", "1_ball", "Kugel ä"):
        model.add(mbd.PointMass(name, 1.0))
    path = mbd.view.usd(mbd.simulate(model, 0.1, 0.05), tmp_path / "a.usda")
    stage = Usd.Stage.Open(str(path))
    names = [prim.GetName() for prim in stage.Traverse()]
    assert {"_1_ball", "_1_ball_2", "Kugel"} <= set(names)


@pytest.mark.parametrize("name", ["a.svg", "a.pdf"])
def test_vector_graphics_need_no_opengl(
    mechanism: mbd.Solution, tmp_path: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("mbd.view.opengl._answer", "There is no OpenGL here.")
    assert mbd.view.picture(mechanism, tmp_path / name, t=0.5, labels=True, size=(640, 400)) is None
    data = (tmp_path / name).read_bytes()
    assert len(data) > 20_000
    if name.endswith("svg"):
        text = data.decode()
        for words in ("pendulum", "t = 0.50 s", "loads: ", ">x<"):
            assert words in text  # as text, not as curves
        assert "<image" not in text


def test_vector_graphics_show_what_is_rendered(mechanism: mbd.Solution, rendering: None) -> None:
    """Points are where OpenGL puts them."""
    scene = Scene(mechanism)
    size = (640, 400)
    camera = Camera(scene, "auto", None, size[0] / size[1])
    poses = scene.poses(0.5)
    view = View(camera, poses, 0.5, size)
    with offscreen(scene, size, "auto", None, "test") as stage:
        stage.show(0.5)
        expected = stage.project(poses[0])
    flat, _ = view.project(poses[0])
    np.testing.assert_allclose(flat[:, 0], expected[:, 0], atol=0.6)
    np.testing.assert_allclose(size[1] - 1 - flat[:, 1], expected[:, 1], atol=1.6)


def test_divided_faces_cover_the_same_area(rng: np.random.Generator) -> None:
    corners = rng.normal(size=(20, 3, 3))
    rgb = rng.uniform(size=(20, 3))
    small, shades = divided(corners, rgb, 0.5)

    def area(c: np.ndarray) -> float:
        return float(np.linalg.norm(np.cross(c[:, 1] - c[:, 0], c[:, 2] - c[:, 0]), axis=1).sum())

    assert len(small) == len(shades) > 100 and area(small) == pytest.approx(area(corners))
    assert np.linalg.norm(small[:, (1, 2, 0)] - small, axis=2).max() <= 0.5


def test_a_camera_moves_along_its_path(chain: mbd.Solution, tmp_path: Any, rendering: None) -> None:
    """It is at its places at their times, keeps its distance between, turns the short way and rests at the ends."""
    scene = Scene(chain)
    path = {0.0: "iso", 0.5: "right", 1.0: ((3.0, -9.0, 3.0), (1.0, 0.0, 1.5))}
    camera = Camera(scene, path)
    poses = scene.poses(0.0)
    for t in (0.0, 0.5, 1.0):
        single = Camera(scene, path[t])
        np.testing.assert_allclose(camera.at(poses, t)[0], single.position, atol=1e-12)
        np.testing.assert_allclose(camera.at(poses, t)[1], single.target, atol=1e-12)
    distances = [np.linalg.norm(np.subtract(*camera.at(poses, t)[:2])) for t in np.linspace(0, 0.5, 21)]
    ends = distances[0], distances[-1]
    assert min(ends) - 1e-9 <= min(distances) and max(distances) <= max(ends) + 1e-9
    step = [np.linalg.norm(camera.at(poses, t + 1e-4)[0] - camera.at(poses, t)[0]) for t in (0.0, 0.25)]
    assert step[0] < 0.01 * step[1]
    assert camera.at(poses, -1.0)[0] is not None and (camera.at(poses, 9.0)[0] == camera.at(poses, 1.0)[0]).all()
    movie = chain.movie(tmp_path / "a.mp4", camera=path, fps=4, size=(64, 48), end=0.5)
    assert movie is not None and movie.stat().st_size > 500
    first = mbd.view.picture(chain, t=0.0, camera=path, size=(160, 100), clock=False)
    np.testing.assert_array_equal(first, mbd.view.picture(chain, t=0.0, camera="iso", size=(160, 100), clock=False))
    for wrong, words in (
        ({}, "times and places"), ({5.0: "iso"}, "between 0 and 1"), ({0.0: "isso"}, "camera = 'isso'"),
        ({0.0: {0.0: "iso"}}, "a place for each time"),
    ):  # fmt: skip
        with pytest.raises(mbd.ModelError, match=re.escape(words)):
            Camera(scene, wrong)


def test_a_path_follows_a_body(chain: mbd.Solution) -> None:
    scene = Scene(chain)
    camera = Camera(scene, {0.0: "iso", 1.0: "top"}, "link 5")
    for t in (0.0, 0.3, 1.0):
        poses = scene.poses(t)
        np.testing.assert_allclose(camera.at(poses, t)[1], poses[0][scene.row(0, chain.model["link 5"])], atol=1e-12)


def test_two_runs_in_files(chain: mbd.Solution, tmp_path: Any) -> None:
    runs = [chain, models.chain(step=1e-2)]
    text = mbd.view.usd(runs, tmp_path / "a.usda", max_frames=5).read_text()
    assert 'def Xform "run_step_5_ms"' in text and 'def Xform "run_step_10_ms"' in text
    assert mbd.view.vtk(runs, tmp_path / "a.pvd", count=3).stat().st_size > 300
