"""Several runs in one view belong to the same model; what tells them apart is readable."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.view.runs import run_list, run_names
from mbd.view.theme import DARK, LIGHT, colour, contrast, readable_on

from . import models


def test_different_models_are_refused(chain: mbd.Solution, top: mbd.Solution, tmp_path) -> None:
    shorter = models.chain(4, t_end=0.05)
    words = "of the same model .* run 1 has the RigidBody 'link 5' and run 2 has not"
    for call in (
        lambda: mbd.show([chain, shorter]),
        lambda: mbd.view.picture([chain, shorter]),
        lambda: mbd.view.movie([chain, shorter], tmp_path / "a.mp4"),
        lambda: mbd.view.html([chain, shorter], tmp_path / "a.html"),
        lambda: mbd.view.gltf([chain, shorter], tmp_path / "a.glb"),
        lambda: chain.plot("energy", tmp_path / "a.png", against=shorter),
    ):
        with pytest.raises(mbd.ModelError, match=words):
            call()
    with pytest.raises(mbd.ModelError, match="run 3 has the RigidBody 'top' and run 1 has not|run 1 has .* run 3"):
        run_list([chain, chain, top])
    assert not list(tmp_path.iterdir())


def test_a_force_more_is_another_model(chain: mbd.Solution) -> None:
    other = chain.model.copy()
    other.add(mbd.forces.Force(other["link 5"], (0, 0, 1), name="push"))
    run = mbd.simulate(other, 0.01, 5e-3)
    with pytest.raises(mbd.ModelError, match="run 2 has the Force 'push' and run 1 has not"):
        run_list([chain, run])


def test_other_coordinates_and_values_are_the_same_model(chain: mbd.Solution) -> None:
    others = [
        mbd.simulate(chain.model.with_nodes(mbd.nodes.Quaternion), 0.01, 5e-3),
        models.chain(t_end=0.01, slope=1.0),
    ]
    assert len(run_list([chain, *others])) == 3
    assert run_names([chain, *others]) == ["RotationVector, ... (1)", "Quaternion, ...", "RotationVector, ... (2)"]


def test_runs_are_named_by_what_differs() -> None:
    def run(step: float = 5e-3, integrator: object = None, mass: float = 1.0, speed: float = 0.0) -> mbd.Solution:
        model = mbd.Model("weight", gravity=(0, 0, -9.81))
        model.add(mbd.PointMass("ball", mass, velocity=(speed, 0, 0)))
        return mbd.simulate(model, 0.02, step, integrator)

    alpha, rk4 = mbd.integrators.GeneralizedAlpha, mbd.integrators.RK4
    assert run_names([run(), run(step=1e-2)]) == ["step 5 ms", "step 10 ms"]
    assert run_names([run(), run(integrator=rk4())]) == ["GeneralizedAlpha", "RK4"]
    assert run_names([run(integrator=alpha(0.5)), run(integrator=alpha(0.8))]) == ["rho_inf = 0.5", "rho_inf = 0.8"]
    assert run_names([run(), run(mass=2.0)]) == ["ball.mass = 1", "ball.mass = 2"]
    assert run_names([run(), run(speed=2.0)]) == ["ball.velocity = (0, 0, 0)", "ball.velocity = (2, 0, 0)"]
    three = run_names([run(), run(mass=2.0), run(mass=2.0, step=1e-2)])
    assert three == ["step 5 ms, ball.mass = 1", "step 5 ms, ball.mass = 2", "step 10 ms, ball.mass = 2"]
    assert run_names([run(), run()]) == ["GeneralizedAlpha (1)", "GeneralizedAlpha (2)"]
    assert run_names([run()]) == ["GeneralizedAlpha"]


def test_runs_are_named_by_parameters_and_inputs() -> None:
    """By their own names, not by the attributes that follow them, nor by an input that varies."""
    model = mbd.Model("weight")
    k, u = model.parameter("k", 3.0), model.input("u", 1.0)
    ball = model.add(mbd.PointMass("ball", 1.0))
    model.add(mbd.forces.Spring(model.ground, ball, (1, 0, 0), stiffness=2 * k + 1, length=0.5, name="spring"))
    model.add(mbd.forces.Force(ball, (0, u, 0), name="push"))

    def run(k: float = 3.0, u: tuple[float, float] = (1.0, 1.0)) -> mbd.Solution:
        simulator = mbd.Simulator(model, 1e-2)
        simulator.reset(k=k)
        for value in u:
            simulator.inputs["u"] = value
            simulator.advance(0.02)
        return simulator.solution()

    assert run_names([run(), run(k=4.0)]) == ["k = 3", "k = 4"]
    assert run_names([run(), run(u=(2.0, 2.0))]) == ["u = 1", "u = 2"]
    assert run_names([run(u=(1.0, 5.0)), run(u=(1.0, 7.0))]) == ["GeneralizedAlpha (1)", "GeneralizedAlpha (2)"]
    assert run_names([run(u=(1.0, 5.0)), run()]) == ["u varies", "u = 1"]
    other = model.copy()
    other["spring"].length = 0.7
    assert run_names([run(), mbd.simulate(other, 0.04, 1e-2)]) == ["spring.length = 0.5", "spring.length = 0.7"]


@pytest.mark.parametrize(
    ("value", "words"),
    [([], "no solutions are given"), (3, "solutions = 3; expected a Solution"), ("abc", "expected a Solution")],
)
def test_what_is_no_solution(value: object, words: str) -> None:
    with pytest.raises(mbd.ModelError, match=words):
        mbd.show(value)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_texts_can_be_read(theme) -> None:
    ground = colour(theme.background)
    assert contrast(colour(theme.text), ground) > 7.0 and contrast(colour(theme.muted), ground) > 4.0
    for k in range(len(theme.runs)):  # names of runs stand on the colour of the run
        assert contrast(readable_on(theme.run(k)), theme.run(k)) > 4.5


def test_the_legend_of_plots_names_each_run_once(chain: mbd.Solution, tmp_path) -> None:
    pytest.importorskip("matplotlib")
    other = models.chain(slope=1.2)
    for what in ("energy", "momentum", "trajectory", "reactions", "angle"):
        only = {"elements": ["hinge 1", "hinge 2"]} if what == "reactions" else {}
        figure = chain.plot(what, tmp_path / f"{what}.png", against=other, dpi=60, **only)
        texts = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
        assert texts[-2:] == ["GeneralizedAlpha (1)", "GeneralizedAlpha (2)"], what
        width, height = figure.canvas.get_width_height()
        boxes = [axes.get_window_extent() for axes in figure.axes if axes.name != "3d"]
        share = sum(box.width * box.height for box in boxes) / (width * height)
        assert share > 0.3, f"the legend of {what} leaves no room"
        if what == "angle":
            lines = figure.axes[0].get_lines()
            assert lines[0].get_color() != lines[1].get_color() and lines[1].get_linestyle() == "--"
            np.testing.assert_array_equal(lines[1].get_ydata(), other["hinge 1"].angle)


def test_the_legend_of_a_picture_shows_the_colours(chain: mbd.Solution, rendering: None) -> None:
    image = mbd.view.picture([chain, models.chain(slope=1.2)], size=(640, 360), trails=False)
    corner = image[: 360 // 4, 640 // 2 :].reshape(-1, 3).astype(int)
    for k in range(2):
        near = np.abs(corner - np.round(255 * np.array(LIGHT.run(k)))).max(axis=1) < 6
        assert near.sum() > 300
