"""Rendered pictures show the right thing at the right place in the right colour."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.view.pictures import picture
from mbd.view.render import grab, offscreen, shrunk
from mbd.view.scene import Scene
from mbd.view.theme import colour

pytestmark = pytest.mark.usefixtures("rendering")
SIZE = (480, 270)


def hue_distance(pixels: np.ndarray, rgb: tuple[float, float, float]) -> np.ndarray:
    """Angle between colours, whatever the light."""
    a = pixels.reshape(-1, 3).astype(float)
    a = a - a.min(axis=1, keepdims=True)
    b = np.array(rgb) - min(rgb)
    cosine = a @ b / np.maximum(np.linalg.norm(a, axis=1) * np.linalg.norm(b), 1e-9)
    return np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))


@pytest.mark.parametrize("t", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_bodies_are_where_their_projected_positions_say(chain: mbd.Solution, t: float, theme: str) -> None:
    scene = Scene(chain, theme=theme, trails=False)
    with offscreen(scene, SIZE, "auto", None, "test") as stage:
        stage.show(t, render=False)
        image = grab(stage)
        k = int(np.searchsorted(chain.t, t))
        for i in (1, 3, 5):
            x, y = stage.project(chain[f"link {i}"].position[k])[0].round().astype(int)
            body = next(s for s in scene.solids if s.owner == f"link {i}" and s.role == "body")
            patch = image[y - 1 : y + 2, x - 1 : x + 2]
            assert hue_distance(patch, body.colour).min() < 12.0, (i, patch[1, 1])
        corner = image[2, 2] / 255.0
        np.testing.assert_allclose(corner, colour(scene.theme.background), atol=0.02)


def test_a_coloured_shape_has_its_colour_and_size() -> None:
    """A ball of known size covers the disc that perspective says, and nothing else is red."""
    model = mbd.Model("ball")
    shape = mbd.shapes.Sphere(radius=0.3, colour="#cc1010")
    model.add(mbd.RigidBody("ball", 1.0, (0.1, 0.1, 0.1), mbd.nodes.RotationVector(position=(0, 0, 1)), shape=shape))
    scene = Scene(mbd.simulate(model, 0.01, 0.01), trails=False, axes=False)
    with offscreen(scene, SIZE, ((0, -4, 1), (0, 0, 1)), None, "test") as stage:
        stage.show(0.0, render=False)
        image = grab(stage)
        x, y = stage.project((0, 0, 1))[0]
    red = (image[..., 0] > 1.6 * image[..., 1]) & (image[..., 0] > 60)
    rows, columns = np.nonzero(red)
    assert abs(columns.mean() - x) < 1.0 and abs(rows.mean() - y) < 1.0
    radius = 0.3 / np.sqrt(4.0**2 - 0.3**2) / np.tan(np.radians(14.0)) * SIZE[1] / 2
    assert red.sum() == pytest.approx(np.pi * radius**2, rel=0.04)


def test_frames_differ_when_time_passes(chain: mbd.Solution) -> None:
    a, b = (picture(chain, t=t, size=SIZE).astype(int) for t in (0.1, 0.9))
    assert (np.abs(a - b).max(axis=2) > 30).sum() > 1000


def test_shadows_fall_on_the_floor(chain: mbd.Solution) -> None:
    scene = Scene(chain, trails=False)
    shadow = np.array(colour(scene.theme.shadow))
    with offscreen(scene, SIZE, "auto", None, "test") as stage:
        image = grab(stage)
    assert (np.abs(image / 255.0 - shadow).max(axis=2) < 0.012).sum() > 40


def test_trails_grow(chain: mbd.Solution) -> None:
    scene = Scene(chain, joints=False)
    rgb = scene.trails[0].colour
    counts = []
    with offscreen(scene, SIZE, "auto", None, "test") as stage:
        stage.switch("body", False)
        for t in (0.05, 0.5, 1.0, 0.5):
            stage.show(t, render=False)
            image = grab(stage)
            strong = np.ptp(image.astype(int), axis=2) > 50
            counts.append(int((strong & (hue_distance(image, rgb).reshape(strong.shape) < 12.0)).sum()))
    assert counts[0] + 50 < counts[1] < counts[2]
    assert counts[3] == counts[1]  # scrubbing back makes it shorter again


def test_a_following_camera_keeps_its_body_in_the_middle(chain: mbd.Solution) -> None:
    scene = Scene(chain)
    with offscreen(scene, SIZE, "auto", "link 5", "test") as stage:
        for t in (0.0, 0.4, 1.0):
            stage.show(t)
            place = stage.project(stage.poses[0][5])[0]
            np.testing.assert_allclose(place, (SIZE[0] / 2, SIZE[1] / 2), atol=1.5)


def test_switches_hide_and_show(mechanism: mbd.Solution) -> None:
    scene = Scene(mechanism, reactions=True, frames=True, labels=True)
    with offscreen(scene, SIZE, "auto", None, "test") as stage:
        whole = grab(stage).astype(int)
        for role in ("reaction", "frame", "label", "joint", "spring"):
            stage.switch(role, False)
            part = grab(stage).astype(int)
            assert (np.abs(whole - part).max(axis=2) > 20).sum() > 15, role
            stage.switch(role, True)
        np.testing.assert_array_equal(grab(stage), whole)


def test_several_runs_have_a_legend(chain: mbd.Solution) -> None:
    scene = Scene([chain, chain])
    with offscreen(scene, SIZE, "auto", None, "test") as stage:
        image = grab(stage)
        stage.switch("legend", False)
        without = grab(stage)
    changed = np.abs(image.astype(int) - without).max(axis=2) > 30
    rows, columns = np.nonzero(changed)
    assert changed.sum() > 100 and columns.min() > 0.5 * SIZE[0] and rows.max() < 0.4 * SIZE[1]


def test_files_and_strips(chain: mbd.Solution, tmp_path) -> None:
    from PIL import Image

    image = chain.picture(tmp_path / "a.png", t=0.5, size=SIZE)
    with Image.open(tmp_path / "a.png") as stored:
        np.testing.assert_array_equal(np.asarray(stored), image)
    assert image.shape == (270, 480, 3)
    strip = chain.picture(tmp_path / "strip.png", t=[0.0, 0.5, 1.0], size=(240, 180))
    assert strip.shape[1] > 3 * 240 and 180 < strip.shape[0] < 280
    third = strip.shape[1] // 3
    parts = [strip[:180, k * third : k * third + third - 20].astype(int) for k in range(3)]
    assert (np.abs(parts[0] - parts[1]).max(axis=2) > 30).sum() > 500
    chain.picture(tmp_path / "strip.pdf", t=4, columns=2, size=(160, 120))
    assert (tmp_path / "strip.pdf").read_bytes().startswith(b"%PDF")


def test_arguments_are_checked(chain: mbd.Solution, tmp_path) -> None:
    for arguments, words in (
        ({"t": 7.0}, "between 0 and 1"),
        ({"file": tmp_path / "a.xyz"}, "ends with .png"),
        ({"file": tmp_path / "no" / "a.png"}, "a folder that exists"),
        ({"size": (3, 3)}, "between 16 and 16384"),
        ({"size": 100}, "width, height"),
    ):
        with pytest.raises(mbd.ModelError, match=words):
            chain.picture(**arguments)


def test_shrinking_keeps_flat_colours() -> None:
    image = np.full((40, 60, 3), (10, 200, 30), dtype=np.uint8)
    assert (shrunk(image, (30, 20)) == (10, 200, 30)).all()


def test_runs_beside_each_other_all_have_shadows(mechanism: mbd.Solution) -> None:
    """Bodies of later runs are drawn behind those of the first, but their shadows not behind the floor."""
    from vtkmodules.vtkCommonCore import reference

    scene = Scene([mechanism, mechanism], side_by_side=True)
    with offscreen(scene, SIZE, "auto", None, "test") as stage:
        behind = []
        for group in stage.groups:
            for actor in group.actors:
                factor, units = reference(0.0), reference(0.0)
                actor.GetMapper().GetRelativeCoincidentTopologyPolygonOffsetParameters(factor, units)
                behind.append((actor is not group.actors[0], group.rows[0] >= scene.first_rows[1], float(factor) > 0.0))
    assert (False, True, True) in behind and (True, True, True) not in behind and (True, True, False) in behind


def test_a_single_record_is_the_picture_of_its_time(chain: mbd.Solution) -> None:
    """With trails, which have one place only; also where it is read between two records."""
    for one in (chain.part(-1), chain.at(0.5)):
        scene = Scene(one, theme="light")
        with offscreen(scene, SIZE, "auto", None, "test") as stage:
            stage.show(float(one.t[0]), render=False)
            grab(stage)
            for i in (1, 5):
                row = scene.motions[0].rows[f"link {i}"]
                np.testing.assert_allclose(stage.poses[0][row], one[f"link {i}"].position[0], atol=1e-12)
