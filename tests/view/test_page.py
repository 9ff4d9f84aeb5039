"""The web page, opened in a browser without a network: it plays, pauses, and is silent."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import mbd

from . import models

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic",
]  # fmt: skip
TIMEOUT = 60_000


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield browser
        browser.close()


class Visit:
    """A page with everything that it said and asked for."""

    def __init__(self, browser: Any, path: Any) -> None:
        self.context = browser.new_context(viewport={"width": 480, "height": 320}, offline=True)
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda e: self.errors.append(str(e)))
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("[role=slider]", state="attached", timeout=TIMEOUT)
        self.page.wait_for_function("document.querySelector('canvas[data-engine]') !== null", timeout=TIMEOUT)
        time.sleep(1.0)
        for button in self.page.query_selector_all("[role=alert] button"):  # a hint about slow graphics
            button.click()

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: Any) -> None:
        self.context.close()  # a page that goes on playing slows down the next one

    @property
    def time(self) -> float:
        return float(self.page.get_attribute("[role=slider]", "aria-valuenow"))

    def press_play(self) -> None:
        """The first button of the bar."""
        buttons = self.page.query_selector_all("button")
        boxes = [(b.bounding_box() or {"x": 1e9, "y": -1.0}, b) for b in buttons]
        bar = [(box["x"], b) for box, b in boxes if box["y"] > 0.8 * 320]
        min(bar, key=lambda item: item[0])[1].click()

    def shot(self) -> np.ndarray:
        from PIL import Image

        image = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        return np.asarray(image).astype(int)[:250]  # without the bar


def settled(visit: Visit) -> np.ndarray:
    """A picture of a paused page; drawing may lag behind, so that it is taken when it no longer changes."""
    last = visit.shot()
    for _ in range(100):
        time.sleep(0.3)
        image = visit.shot()
        if changed(image, last) == 0:
            return image
        last = image
    raise AssertionError("the page does not come to rest")


def after(condition: Any, seconds: float = 20.0) -> bool:
    """Wait until something is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False


def changed(a: np.ndarray, b: np.ndarray) -> int:
    return int((np.abs(a - b).max(axis=2) > 40).sum())


def test_play_pause_and_scrub(mechanism: mbd.Solution, tmp_path: Any, browser: Any) -> None:
    path = mechanism.html(tmp_path / "a.html", speed=0.25, trails=False)
    with Visit(browser, path) as visit:
        first = visit.time
        waited = after(lambda: visit.time != first)
        assert waited, "it starts by itself"
        visit.press_play()  # pause
        still, paused = settled(visit), visit.time
        assert changed(still, settled(visit)) < 20 and visit.time == paused
        visit.press_play()  # play
        assert after(lambda: abs(visit.time - paused) > 0.8)
        visit.press_play()
        assert changed(still, settled(visit)) > 100
        track = visit.page.query_selector(".mantine-Slider-track").bounding_box()
        visit.page.mouse.click(track["x"] + 0.5 * track["width"], track["y"] + 0.5 * track["height"])
        middle = settled(visit)
        assert visit.time == pytest.approx(2.2, abs=0.3)
        visit.page.mouse.move(240, 150)
        visit.page.mouse.down()
        visit.page.mouse.move(330, 130, steps=4)
        visit.page.mouse.up()
        assert changed(middle, settled(visit)) > 300  # orbit
        assert visit.errors == []
        assert [url for url in visit.requests if not url.startswith(("data:", "blob:"))] == [path.as_uri()]
        assert visit.page.title() == "mechanism"


def test_colours_and_legend_of_two_runs(chain: mbd.Solution, tmp_path: Any, browser: Any) -> None:
    path = mbd.view.html(
        [chain, models.chain(slope=1.2)], tmp_path / "a.html", title="two <runs>", theme="dark", trails=False
    )
    with Visit(browser, path) as visit:
        visit.press_play()
        image = settled(visit)
        assert np.median(image.reshape(-1, 3), axis=0).max() < 60  # dark
        blue = (image[..., 2] > 1.3 * image[..., 0]) & (image[..., 2] > 80)
        orange = (image[..., 0] > 1.4 * image[..., 2]) & (image[..., 0] > 100)
        assert blue[70:].sum() > 20 and orange[70:].sum() > 20
        assert visit.page.title() == "two <runs>"
        caption = visit.page.inner_text("#mbd-caption")
        assert "GeneralizedAlpha (1)" in caption and "GeneralizedAlpha (2)" in caption
        assert visit.errors == []


def test_a_followed_body_stays_in_the_middle(tmp_path: Any, browser: Any) -> None:
    """A ball flies away from a post; the page keeps the ball in the middle, and the post leaves it."""
    model = mbd.Model("flight")
    model.ground.shape = mbd.shapes.Box(size=(0.4, 0.4, 1.0), centre=(0, 0, -0.9), colour="orange")
    node = mbd.nodes.RotationVector(velocity=(15.0, 0.0, 0.0))
    model.add(mbd.RigidBody("ball", 1.0, (0.1, 0.1, 0.1), node, shape=mbd.shapes.Sphere(0.4, colour="#0000ff")))
    flight = mbd.simulate(model, 1.0, 0.05, mbd.integrators.RK4())
    look = {"trails": False, "axes": False, "camera": "front", "speed": 0.5}
    path = flight.html(tmp_path / "a.html", follow="ball", **look)
    with Visit(browser, path) as visit:
        visit.press_play()
        places = []
        for share in (0.05, 0.6):
            track = visit.page.query_selector(".mantine-Slider-track").bounding_box()
            visit.page.mouse.click(track["x"] + share * track["width"], track["y"] + 0.5 * track["height"])
            image = settled(visit)
            blue = (image[..., 2] > 1.5 * image[..., 0]) & (image[..., 2] > 1.5 * image[..., 1])
            orange = (image[..., 0] > 1.4 * image[..., 2]) & (image[..., 0] > 100)
            assert blue.sum() > 100
            places.append((np.argwhere(blue).mean(axis=0), int(orange.sum())))
        assert np.abs(places[1][0] - places[0][0]).max() < 4.0  # pixels
        assert places[0][1] > 100 > 20 > places[1][1]
        assert visit.errors == []
    with pytest.raises(mbd.ModelError, match="no element is named 'bal'; did you mean 'ball'"):
        flight.html(tmp_path / "b.html", follow="bal")


def test_the_page_names_no_other_place(mechanism: mbd.Solution, tmp_path: Any) -> None:
    """Nothing is loaded by tags; size is about a megabyte."""
    pytest.importorskip("viser")
    text = mechanism.html(tmp_path / "a.html").read_text()
    assert not re.search(r'<(?:script|link|img|iframe)[^>]+(?:src|href)="https?:', text)
    assert len(text) < 2_000_000


def test_notebooks_show_the_page_and_a_picture(chain: mbd.Solution, rendering: None) -> None:
    text = chain._repr_html_()
    assert text.startswith("<iframe srcdoc=") and 'sandbox="allow-scripts"' in text and len(text) < 10_000_000
    assert '"' not in text[len('<iframe srcdoc="') : text.index('" style=')]
    assert chain._repr_png_().startswith(b"\x89PNG")


def test_notebooks_get_no_other_output(chain: mbd.Solution, rendering: None, monkeypatch: Any, capfd: Any) -> None:
    """The greeting of the viewer's server is displayed, not printed, in notebooks; plotters there show themselves."""
    import contextlib
    import sys
    import types

    import mbd.view.render as render

    captured: list[dict[str, Any]] = []

    @contextlib.contextmanager
    def capture_output(**options: Any) -> Iterator[None]:
        captured.append(options)
        yield

    capture = types.ModuleType("IPython.utils.capture")
    capture.capture_output = capture_output
    for name, module in (
        ("IPython", types.ModuleType("IPython")),
        ("IPython.utils", types.ModuleType("IPython.utils")),
    ):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, "IPython.utils.capture", capture)
    assert chain._repr_html_().startswith("<iframe")
    assert captured == [{"stderr": False}]
    with render.offscreen(render.Scene(chain), (64, 64), "auto", None, "A picture") as stage:
        assert stage.plotter.notebook is False
    assert capfd.readouterr().out == ""


def test_the_frame_of_a_notebook_plays(chain: mbd.Solution, tmp_path: Any, browser: Any) -> None:
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><title>n</title><body>{chain._repr_html_()}</body>")
    context = browser.new_context(viewport={"width": 480, "height": 320}, offline=True)
    try:
        page = context.new_page()
        page.goto(path.as_uri())
        frame = page.frames[1]
        frame.wait_for_selector("[role=slider]", state="attached", timeout=TIMEOUT)
        first = frame.get_attribute("[role=slider]", "aria-valuenow")
        assert after(lambda: frame.get_attribute("[role=slider]", "aria-valuenow") != first)
    finally:
        context.close()


def test_long_runs_and_arguments(chain: mbd.Solution, tmp_path: Any) -> None:
    from mbd.view.page import page
    from mbd.view.scene import Scene

    scene = Scene(chain)
    assert len(page(scene, fps=1000.0, max_poses=600)) < len(page(scene, fps=1000.0, max_poses=20_000))
    with pytest.raises(mbd.ModelError, match="fps = -1"):
        chain.html(tmp_path / "a.html", fps=-1)
    with pytest.raises(mbd.ModelError, match="ends with .html"):
        chain.html(tmp_path / "a.txt")
