"""The window, driven by events: keys, sliders, the timer and clicks; and once for real where there is an X server."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import mbd
from mbd.view import opengl, player
from mbd.view.player import Window

pytestmark = pytest.mark.usefixtures("rendering")
SIZE = (640, 400)


class Clock:
    """In place of the module ``time``: passes when a test says so."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now


clock = Clock()


@pytest.fixture(autouse=True)
def own_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player, "time", clock)


class Driver:
    """A window without a screen, and what a person does with it."""

    def __init__(self, solutions: Any, **options: Any) -> None:
        pv = opengl.pyvista_module()
        self.plotter = pv.Plotter(off_screen=True, window_size=list(SIZE))
        self.plotter.disable_anti_aliasing()
        self.window = Window(self.plotter, solutions, **options)
        self.plotter.show(auto_close=False, interactive=False)
        self.interactor = self.plotter.iren.interactor

    def key(self, name: str) -> None:
        self.interactor.SetKeySym(name)
        for event in ("KeyPressEvent", "CharEvent", "KeyReleaseEvent"):
            self.interactor.InvokeEvent(event)

    def click(self, x: float, y: float) -> None:
        self.interactor.SetEventInformation(round(x), round(y), 0, 0, "\0", 0, None)
        for event in ("MouseMoveEvent", "LeftButtonPressEvent", "LeftButtonReleaseEvent"):
            self.interactor.InvokeEvent(event)

    def tick(self, seconds: float = 0.0) -> None:
        clock.now += seconds
        self.interactor.InvokeEvent("TimerEvent")

    def image(self) -> np.ndarray:
        self.window.stage.render()
        return self.plotter.screenshot(return_img=True).astype(int)


@pytest.fixture
def driver(mechanism: mbd.Solution) -> Iterator[Driver]:
    driver = Driver(mechanism, play=False, speed=1.0)
    yield driver
    driver.plotter.close()


def test_play_pause_and_loop(driver: Driver) -> None:
    window = driver.window
    driver.tick(0.02)
    assert window.t == 0.0
    driver.key("space")
    driver.tick(0.05)
    assert window.playing and window.t == pytest.approx(0.05)
    driver.key("space")
    t, image = window.t, driver.image()
    driver.tick(0.05)
    assert window.t == t and (driver.image() == image).all()
    driver.key("End")
    assert window.t == 1.0
    driver.key("space")  # from the end it starts again
    assert window.playing and window.t == 0.0
    window.go(0.999)
    driver.tick(0.05)
    assert window.playing and window.t == 0.0  # the loop
    driver.key("l")
    window.go(0.999)
    driver.tick(0.05)
    assert not window.playing and window.t == 1.0


def test_single_steps_and_speed(driver: Driver) -> None:
    window = driver.window
    driver.key("Right")
    driver.key("Right")
    assert window.t == pytest.approx(0.01)
    driver.key("Left")
    assert window.t == pytest.approx(0.005)
    driver.key("Home")
    assert window.t == 0.0
    driver.key("Up")
    driver.key("Up")
    assert window.speed == 4.0
    driver.key("Down")
    assert window.speed == 2.0 and window.speed_slider.GetRepresentation().GetValue() == pytest.approx(1.0)
    window.speed_slider.GetRepresentation().SetValue(-2.0)
    window.speed_slider.InvokeEvent("InteractionEvent")
    assert window.speed == 0.25


def test_speeds_have_no_end(driver: Driver) -> None:
    """A run of years or microseconds: keys go on where the slider stops."""
    driver.window.set_speed(2.0**40)
    driver.key("Up")
    assert driver.window.speed == 2.0**41 and driver.window.speed_slider.GetRepresentation().GetValue() == 8.0
    driver.window.set_speed(2.0**-40)
    driver.key("Down")
    assert driver.window.speed == 2.0**-41


def test_the_speed_is_chosen(mechanism: mbd.Solution) -> None:
    driver = Driver(mechanism, play=False)
    assert driver.window.speed == 0.1 and "t = 0.00 s   x 0.1" in driver.window.status.GetInput()
    driver.plotter.close()


def test_the_slider_moves_the_bodies(driver: Driver) -> None:
    before = driver.image()
    driver.window.time_slider.GetRepresentation().SetValue(0.7)
    driver.window.time_slider.InvokeEvent("InteractionEvent")
    assert driver.window.t == pytest.approx(0.7) and not driver.window.playing
    assert (np.abs(driver.image() - before).max(axis=2) > 30).sum() > 1000


@pytest.mark.parametrize("name", ["slider", "ball", "pendulum"])
def test_a_click_tells_name_and_values(driver: Driver, mechanism: mbd.Solution, name: str) -> None:
    window = driver.window
    window.go(0.5)
    x, y = window.stage.project(window.stage.poses[0][window.scene.row(0, mechanism.model[name])])[0]
    driver.click(x, SIZE[1] - 1 - y)
    assert window.picked is not None and window.picked.owner == name
    text = window.info.GetInput()
    position = mechanism[name].com[100]
    assert text.startswith(name) and all(f"{v:.3f}" in text for v in position)
    window.go(0.6)
    assert window.info.GetInput() != text  # the values go with the time
    driver.click(5, SIZE[1] - 5)
    assert window.picked is None and window.info.GetInput() == ""


@pytest.mark.parametrize("key", ["t", "j", "f", "r", "n", "h"])
def test_switches(driver: Driver, key: str) -> None:
    driver.window.go(0.5)
    before = driver.image()
    driver.key(key)
    changed = driver.image()
    assert (np.abs(changed - before).max(axis=2) > 20).sum() > 10
    driver.key(key)
    np.testing.assert_array_equal(driver.image(), before)


def test_curves_with_a_cursor(mechanism: mbd.Solution) -> None:
    driver = Driver(mechanism, play=False, curves=["energy", "hinge.angle"])
    window = driver.window
    assert [chart.title for chart in window.charts.charts] == ["energy in J", "hinge.angle in rad"]
    np.testing.assert_array_equal(window.charts.charts[1].plots("line").__next__().y, mechanism["hinge"].angle)
    window.go(0.2)
    before = driver.image()
    window.go(0.8)
    for cursor, _ in window.charts.cursors:
        assert list(cursor.x) == [0.8, 0.8]
    low = slice(round((1 - 0.40) * SIZE[1]), round((1 - 0.13) * SIZE[1]))
    assert (np.abs(driver.image() - before)[low].max(axis=2) > 30).sum() > 50  # the cursor has moved
    ball = window.stage.project(window.stage.poses[0][window.scene.row(0, mechanism.model["ball"])])[0]
    assert ball[1] < 0.6 * SIZE[1]  # the scene is above the curves
    driver.click(ball[0], SIZE[1] - 1 - ball[1])
    assert window.picked is not None and window.picked.owner == "ball"
    driver.plotter.close()
    with pytest.raises(mbd.ModelError, match="a window has room for 3"):
        Driver(mechanism, play=False, curves=["energy", "*.position"])


def test_texts_fit_into_small_windows(mechanism: mbd.Solution) -> None:
    pv = opengl.pyvista_module()
    for size in ((360, 240), (1280, 720)):
        plotter = pv.Plotter(off_screen=True, window_size=list(size))
        window = Window(plotter, mechanism, play=False)
        plotter.show(auto_close=False, interactive=False)
        window.toggle_help()
        for actor in (window.status, window.help, window.button_text):
            box = [0.0, 0.0, 0.0, 0.0]
            actor.GetBoundingBox(plotter.renderer, box)
            x, y = actor.GetActualPositionCoordinate().GetComputedViewportValue(plotter.renderer)
            assert x + box[1] <= size[0] and y + box[2] >= 0 and y + box[3] <= size[1], (size, actor.GetInput())
        plotter.close()


def test_the_camera_returns(driver: Driver) -> None:
    before = driver.image()
    driver.plotter.camera.Azimuth(40.0)
    assert (driver.image() != before).any()
    driver.key("c")
    np.testing.assert_array_equal(driver.image(), before)


def test_two_runs_in_one_window(chain: mbd.Solution) -> None:
    driver = Driver([chain, chain], play=False)
    assert len(driver.window.scene.motions) == 2
    driver.plotter.close()


def test_without_a_display_one_sentence(chain: mbd.Solution, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mbd.view.window.has_display", lambda: False)
    with pytest.warns(RuntimeWarning, match=r'no display here.*solution.html\("x.html"\)'):
        assert chain.show() is None
    with pytest.raises(opengl.RenderingError, match="no display"):
        mbd.show([chain, chain])


SCRIPT = """
import sys
import numpy as np
import mbd
from tests.view import models
import mbd.view.player as module

shots = []
original = module.Window.tick
class Clock:
    now = 0.0

    def perf_counter(self):
        return self.now

clock = module.time = Clock()

def tick(window):
    clock.now += 0.05
    original(window)
    if len(shots) < 2 and clock.now > 0.5 + len(shots):
        shots.append(window.plotter.screenshot(return_img=True).astype(int))
    if len(shots) == 2:
        window.close()

module.Window.tick = tick
mbd.show(models.chain(2, 2.0), size=(400, 300))
print("changed", int((np.abs(shots[0] - shots[1]).max(axis=2) > 30).sum()))
"""


def test_a_real_window_under_xvfb() -> None:
    if not shutil.which("xvfb-run"):
        pytest.skip("xvfb-run is not installed: apt install xvfb xauth")
    environment = {k: v for k, v in __import__("os").environ.items() if not k.startswith("VTK_")}
    # Without -noreset the server starts anew whenever its last client has left, here the trial of OpenGL, and refuses
    # connections meanwhile.
    command = ["xvfb-run", "-a", "-s", "-screen 0 800x600x24 -noreset", sys.executable, "-c", SCRIPT]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert result.returncode == 0, result.stderr[-2000:]
    assert int(result.stdout.split("changed")[1]) > 100
