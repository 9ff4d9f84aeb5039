"""A thousand bodies: a few glyph mappers that draw what one actor each would draw, and a bounded page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbd
from mbd.view.pieces import Poses
from mbd.view.render import grab, offscreen
from mbd.view.scene import Scene

COUNT = 1000
SIZE = (640, 400)


@pytest.fixture(scope="module")
def swarm() -> mbd.Solution:
    """Balls and boxes that are thrown up."""
    rng = np.random.default_rng(7)
    model = mbd.Model("swarm", gravity=(0, 0, -9.81))
    shapes = (mbd.shapes.Sphere(radius=0.12), mbd.shapes.Box(size=(0.2, 0.2, 0.2)))
    for k in range(COUNT):
        node = mbd.nodes.RotationVector(
            position=rng.uniform((-4, -4, 1), (4, 4, 5)),
            velocity=rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
        )
        model.add(mbd.RigidBody(f"b{k}", 1.0, (0.01, 0.01, 0.01), node, shape=shapes[k % 2]))
    return mbd.simulate(model, t_end=0.3, step=0.05)


def per_actor(stage: Any, scene: Scene) -> Any:
    """The plain way: one actor for each body and each shadow; returns a function that moves them."""
    from vtkmodules.vtkCommonMath import vtkMatrix4x4

    from mbd.view.groups import flat, polydata

    for group in stage.groups:
        for actor in group.actors:
            stage.plotter.renderer.RemoveActor(actor)
    data = {s.key: polydata(s.surface) for s in scene.solids}
    actors = []
    for solid in scene.solids:
        for shadow in (False, True):
            actor, matrix = stage._surface_actor(data[solid.key], solid.colour), vtkMatrix4x4()
            if shadow:
                flat(actor, (0.8, 0.82, 0.85))
            actor.SetUserMatrix(matrix)
            stage.plotter.renderer.AddActor(actor)
            actors.append((solid, matrix, shadow))
    skew = np.array([[stage.shadow_matrix.GetElement(i, j) for j in range(4)] for i in range(4)])

    def move(poses: Poses) -> None:
        whole = np.eye(4)
        for solid, matrix, shadow in actors:
            whole[:3, 3], whole[:3, :3] = solid.pose(poses)
            matrix.DeepCopy((skew @ whole if shadow else whole).ravel())

    return move


@pytest.mark.usefixtures("rendering")
def test_two_glyph_mappers_draw_what_two_thousand_actors_draw(swarm: mbd.Solution) -> None:
    scene = Scene(swarm)
    times = np.linspace(0.0, 0.3, 4)
    with offscreen(scene, SIZE, "auto", None, "test") as stage:
        assert len(stage.groups) == 2  # one for each shape
        assert stage.plotter.renderer.GetActors().GetNumberOfItems() < 50
        pictures = []
        for t in times:
            stage.show(float(t))
            pictures.append(grab(stage).astype(int))
    with offscreen(scene, SIZE, "auto", None, "test") as stage:
        move = per_actor(stage, scene)
        same = []
        for t, picture in zip(times, pictures, strict=True):
            poses = scene.poses(float(t))
            move(poses)
            stage.render()
            same.append((np.abs(grab(stage).astype(int) - picture).max(axis=2) > 40).mean())
    assert max(same) < 2e-3  # both ways draw the same picture


def test_the_page_of_a_thousand_bodies_is_bounded(swarm: mbd.Solution, tmp_path: Any) -> None:
    path = swarm.html(tmp_path / "a.html")
    assert path.stat().st_size < 4_000_000


def test_the_glb_of_a_thousand_bodies_shares_two_shapes(swarm: mbd.Solution, tmp_path: Any) -> None:
    path = swarm.gltf(tmp_path / "a.glb")
    assert path.stat().st_size < 3_000_000


@pytest.fixture(scope="module")
def crowd() -> mbd.Solution:
    """Boxes, balls, cylinders and cones, each of its own size."""
    rng = np.random.default_rng(11)
    model = mbd.Model("crowd")
    for k in range(100):
        a, b, c = rng.uniform(0.1, 0.4, 3)
        shapes = (mbd.shapes.Box((a, b, c)), mbd.shapes.Sphere(a), mbd.shapes.Cylinder(a, b), mbd.shapes.Cone(a, c))
        position, turn = rng.uniform(-2, 2, 3), mbd.rotation(rng.normal(size=3))
        node = mbd.nodes.Quaternion(position=position, rotation=turn, velocity=rng.normal(size=3), lie=True)
        model.add(mbd.RigidBody(f"b{k}", 1.0, (0.01, 0.01, 0.01), node, shape=shapes[k % 4]))
    return mbd.simulate(model, 0.2, 0.1, mbd.integrators.RK4())


@pytest.mark.usefixtures("rendering")
def test_many_sizes_share_one_mapper_and_look_the_same(crowd: mbd.Solution, monkeypatch: Any) -> None:
    scene = Scene(crowd)
    with offscreen(scene, SIZE, "auto", None, "test") as stage:
        assert len(stage.groups) == 4  # one for each kind
        stage.show(0.2)
        stretched = grab(stage).astype(int)
    monkeypatch.setattr("mbd.view.stage.families", lambda solids: set())
    with offscreen(scene, SIZE, "auto", None, "test") as stage:
        assert len(stage.groups) == 100
        stage.show(0.2)
        plain = grab(stage).astype(int)
    assert (np.abs(stretched - plain).max(axis=2) > 8).mean() < 1e-3
    assert (np.abs(plain - plain[0, 0]).max(axis=2) > 60).mean() > 0.05  # there is something to see


def test_stretched_unit_surfaces_are_those_of_the_solids(crowd: mbd.Solution) -> None:
    from mbd.view.pieces import STRETCHED, families, stretch

    scene = Scene(crowd)
    assert families(scene.solids) == {"box", "sphere", "cylinder", "cone"}
    for solid in scene.solids:
        unit = STRETCHED[solid.key[0]](scene.segments)
        np.testing.assert_allclose(unit.points * stretch(solid), solid.surface.points, atol=1e-12)
