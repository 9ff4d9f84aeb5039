"""Texts and colours on pictures: labels that stay inside and apart, scales, colours by quantity, runs side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbd
from mbd.view.camera import Camera
from mbd.view.labels import laid_out
from mbd.view.render import offscreen
from mbd.view.scene import Scene
from mbd.view.shading import Shading, mapped

from . import models


def test_labels_stay_inside_and_apart(rng: np.random.Generator) -> None:
    window = (400.0, 300.0)
    places = rng.uniform((-40, -40), (440, 340), (25, 2))
    sizes = np.column_stack((rng.uniform(20, 90, 25), np.full(25, 14.0)))
    free = laid_out(places, sizes, window)
    assert (free - 0.5 * sizes >= 0.0).all() and (free + 0.5 * sizes <= window).all()
    for a in range(25):
        for b in range(a):
            apart = np.abs(free[a] - free[b]) >= 0.5 * (sizes[a] + sizes[b]) - 1e-6
            assert apart.any(), (a, b)
    alone = np.array([[200.0, 100.0]])
    np.testing.assert_array_equal(laid_out(alone, np.array([[30.0, 10.0]]), window), alone)


def test_the_camera_counts_arrows(mechanism: mbd.Solution) -> None:
    """Every tip of an arrow is inside the picture, at all times."""
    scene = Scene(mechanism, reactions=True)
    assert set(scene.tips) == {"reaction", "load"}
    camera = Camera(scene, "auto", None, 16 / 9)
    back = camera.position - camera.target
    distance = np.linalg.norm(back)
    back = back / distance
    right = np.cross(scene.up, back) / np.linalg.norm(np.cross(scene.up, back))
    half = np.tan(np.radians(14.0))
    for t in np.linspace(0.0, 1.0, 24):
        poses = scene.poses(t)
        for link in scene.links:
            local = link.ends(poses, t)[1] - camera.target
            depth = distance - local @ back
            assert abs(local @ right) < half * 16 / 9 * depth
            assert abs(local @ np.cross(back, right)) < half * depth


def test_the_scale_of_arrows_is_that_of_the_arrows(mechanism: mbd.Solution) -> None:
    scene = Scene(mechanism, reactions=True)
    words = next(line for line in scene.arrow_scales() if line.startswith("reactions"))
    metres, newtons = float(words.split()[1]), float(words.split()[4])
    link = next(link for link in scene.links if link.role == "reaction" and link.owner == "hinge")
    start, tip = link.ends(scene.poses(0.5), 0.5)
    force = np.linalg.norm(mechanism["hinge"].force[100])
    assert np.linalg.norm(tip - start) == pytest.approx(force * metres / newtons, rel=0.02)
    assert Scene(mechanism).arrow_scales()[0].startswith("loads: ")


def test_values_behind_the_colours(mechanism: mbd.Solution) -> None:
    """Speed, energy and reactions are those of the solution; energies of bodies sum up to that of the system."""
    scene = Scene(mechanism, colour_by="speed")
    row = scene.row(0, mechanism.model["pendulum"])
    speed = np.linalg.norm(mechanism["pendulum"].velocity[100])
    assert scene.shading.values(mechanism.t[100])[row] == pytest.approx(speed)
    energies = Shading(scene, "energy").values(float(mechanism.t[100]))
    assert sum(energies.values()) == pytest.approx(mechanism.energy.kinetic[100], rel=1e-12)
    largest = max(np.linalg.norm(mechanism[j].force[100]) for j in ("rail", "hinge"))
    slider = scene.row(0, mechanism.model["slider"])
    assert Shading(scene, "reaction").values(float(mechanism.t[100]))[slider] == pytest.approx(largest)
    for words, what in (("did you mean 'speed'", "sped"), ("needs several runs", "error")):
        with pytest.raises(mbd.ModelError, match=words):
            Scene(mechanism, colour_by=what)


def test_the_error_between_runs(chain: mbd.Solution) -> None:
    other = models.chain(slope=0.6, t_end=1.2)
    scene = Scene([chain, other], colour_by="error")
    values = scene.shading.values(float(chain.t[-1]))
    assert values[scene.row(0, chain.model["link 5"])] == 0.0
    gap = np.linalg.norm(other["link 5"].position[200] - chain["link 5"].position[200])
    assert values[scene.row(1, other.model["link 5"])] == pytest.approx(gap, rel=1e-9)
    late = scene.row(1, other.model["link 5"])
    assert np.isnan(scene.shading.values(1.2)[late])  # the first run has ended
    assert scene.shading.colours(1.2)[late] == (0.62, 0.62, 0.62)


def test_colours_go_from_dark_to_light() -> None:
    lightness = mapped(np.linspace(0.0, 1.0, 50)) @ (0.2126, 0.7152, 0.0722)
    assert (np.diff(lightness) > 0.0).all()


def test_runs_side_by_side_do_not_overlap(chain: mbd.Solution) -> None:
    scene = Scene([chain, models.chain(slope=1.2)], side_by_side=True)
    assert (scene.shifts[0] == 0.0).all() and scene.shifts[1] @ scene.up == 0.0
    along = int(np.argmax(scene.shifts[1]))
    lows, highs = [], []
    for t in np.linspace(0.0, 1.0, 20):
        p = scene.poses(t)[0][:, along]
        lows.append(p[scene.first_rows[1] + 1 :].min())
        highs.append(p[1 : scene.first_rows[1]].max())
    assert min(lows) > max(highs) - scene.radius * 0.2
    np.testing.assert_allclose(scene.path(scene.trails[-1])[1][0] - scene.shifts[1], [2.25, 0, 3.0], atol=1e-9)


@pytest.mark.usefixtures("rendering")
def test_time_scale_and_letters_are_in_the_picture(mechanism: mbd.Solution) -> None:
    size = (480, 320)
    plain = mbd.view.picture(mechanism, size=size, clock=False).astype(int)
    timed = mbd.view.picture(mechanism, size=size).astype(int)
    changed = np.argwhere(np.abs(timed - plain).max(axis=2) > 40)
    assert len(changed) > 30 and changed[:, 0].min() > 270 and changed[:, 1].max() < 160  # the lower left corner
    with offscreen(Scene(mechanism, colour_by="speed"), size, "auto", None, "test") as stage:
        stage.show(0.5)
        letters = stage.glass.letters
        for letter, tip in zip(letters, stage.scene.letter_places()[1], strict=True):
            x, y = letter.GetPosition()
            expected = stage.project(tip)[0]
            assert np.hypot(x - expected[0], size[1] - 1 - y - expected[1]) < 30
        speeds = stage.scene.shading.values(0.5)
        fastest = max(speeds, key=lambda row: speeds[row])
        group, k = next(
            (group, k) for group, solids in zip(stage.groups, stage.grouped, strict=True)
            for k, solid in enumerate(solids) if solid.body == fastest and solid.role == "body"
        )  # fmt: skip
        np.testing.assert_allclose(group.colours[k], 255 * np.array(stage.scene.shading.colours(0.5)[fastest]), atol=1)


def test_joints_do_not_hide_the_bars_of_long_chains() -> None:
    run = models.chain(60, t_end=0.01, step=1e-2)
    scene = Scene(run)
    for solid in scene.solids:
        if solid.role == "joint":
            assert solid.surface.radius < 0.25 * 0.5  # of a bar


def test_plots_say_what_they_leave_out(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("mbd.view.plots.MAX_PANELS", 4)
    run = models.chain(8, t_end=0.02, step=1e-2)
    for what, words in (
        ("reactions", "first 2 of 8 joints are shown; elements=['hinge 3', ...]"),
        ("position", "first 4 of 8 elements"),
        ("trajectory", "first 4 of 8 bodies"),
    ):
        figure = run.plot(what, tmp_path / "a.png", dpi=40)
        assert any(words in text.get_text().replace("\n", " ") for text in figure.texts), what
    assert not any("shown" in text.get_text() for text in run.plot("energy", tmp_path / "a.png", dpi=40).texts)


def test_powers_of_ten_are_not_under_legends(tmp_path: Any) -> None:
    pytest.importorskip("matplotlib")
    model = mbd.Model("small")
    model.add(mbd.PointMass("a", 1.0, position=(1e-6, 2e-6, -1e-6), velocity=(1e-5, 0, 3e-5)))
    run = mbd.simulate(model, 0.1, 0.01)
    figure = run.plot("position", tmp_path / "a.png", dpi=100)
    axes = figure.axes[0]
    power, legend = axes.yaxis.get_offset_text(), axes.get_legend()
    assert power.get_text()
    box = power.get_window_extent(figure._get_renderer())
    assert not box.overlaps(legend.get_window_extent())
    assert not box.overlaps(axes._left_title.get_window_extent())


def test_a_figure_is_shown_once_in_notebooks(chain: mbd.Solution, monkeypatch: pytest.MonkeyPatch) -> None:
    """An open figure is shown by pyplot at the end of the cell, a closed one by itself."""
    pytest.importorskip("matplotlib").use("Agg")
    import sys
    import types

    import matplotlib.pyplot as plt

    figure = chain.plot("energy")  # the first figure of a process asks IPython more
    shown: list[Any] = []
    display = types.ModuleType("IPython.display")
    display.Image, display.display = bytes, shown.append
    for name, module in (("IPython", types.ModuleType("IPython")), ("IPython.display", display)):
        monkeypatch.setitem(sys.modules, name, module)
    figure._ipython_display_()
    assert shown == []
    plt.close(figure)
    figure._ipython_display_()
    assert len(shown) == 1 and shown[0].startswith(b"\x89PNG")
