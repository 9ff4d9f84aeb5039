"""The web page in a browser without a network: it plays, scrubs, picks, links curves with time, and is silent."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import mbd
from mbd.view.scene import Scene
from mbd.view.theme import DARK, LIGHT, contrast

from . import models

ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic",
]  # fmt: skip
TIMEOUT = 60_000
SIZE = (480, 320)


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield browser
        browser.close()


class Visit:
    """A page with everything that it said and asked for; it stands still unless a test lets it play."""

    def __init__(self, browser: Any, path: Any, size: tuple[int, int] = SIZE, playing: bool = False) -> None:
        motion = "no-preference" if playing else "reduce"
        self.context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, offline=True, reduced_motion=motion
        )
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda e: self.errors.append(str(e)))
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_function("window.mbd !== undefined", timeout=TIMEOUT)

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: Any) -> None:
        self.context.close()

    def run(self, script: str) -> Any:
        return self.page.evaluate(script)

    @property
    def t(self) -> float:
        return float(self.run("mbd.t"))

    def shot(self) -> np.ndarray:
        """The scene as drawn."""
        from PIL import Image

        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        image = Image.open(io.BytesIO(self.page.locator("#stage").screenshot())).convert("RGB")
        return np.asarray(image).astype(int)


def changed(a: np.ndarray, b: np.ndarray) -> int:
    return int((np.abs(a - b).max(axis=2) > 40).sum())


def test_play_pause_scrub_and_turn(mechanism: mbd.Solution, tmp_path: Any, browser: Any) -> None:
    path = mechanism.html(tmp_path / "a.html", speed=0.25, trails=False)
    with Visit(browser, path, playing=True) as visit:
        page = visit.page
        page.wait_for_function("mbd.t > 0.02", timeout=TIMEOUT)  # it starts by itself
        page.get_by_role("button", name="pause").click()
        paused, still = visit.t, visit.shot()
        assert visit.t == paused and changed(still, visit.shot()) == 0
        page.get_by_role("button", name="play").click()
        page.wait_for_function("mbd.playing", timeout=TIMEOUT)
        slider = page.get_by_role("slider", name="time")
        slider.fill("0.75")
        assert visit.t == pytest.approx(0.75, abs=0.01) and not visit.run("mbd.playing")
        assert slider.get_attribute("aria-valuetext") == page.inner_text("#now") == "0.75 s"
        moved = visit.shot()
        assert changed(still, moved) > 100
        page.mouse.move(240, 100)
        page.mouse.down()
        page.mouse.move(330, 80, steps=4)
        page.mouse.up()
        assert changed(moved, visit.shot()) > 300  # turned
        page.get_by_role("button", name="camera as at the start").click()
        assert changed(moved, visit.shot()) == 0
        assert visit.errors == []
        assert [url for url in visit.requests if not url.startswith(("data:", "blob:"))] == [path.as_uri()]
        assert page.title() == "mechanism"


def test_bodies_are_where_the_solution_has_them(mechanism: mbd.Solution, tmp_path: Any, browser: Any) -> None:
    """Places and rotations on the page are those of the solution, between keys too, and arrows end where forces say."""
    path = mechanism.html(tmp_path / "a.html", reactions=True)
    scene = Scene(mechanism, reactions=True)
    with Visit(browser, path) as visit:
        for t in (0.0, 0.333, 0.5, 1.0):
            visit.run(f"mbd.seek({t})")
            place = np.array(visit.run("Array.from(mbd.view.place)")).reshape(-1, 3)
            turn = np.array(visit.run("Array.from(mbd.view.turn)")).reshape(-1, 4)
            poses = scene.poses(t)
            np.testing.assert_allclose(place * scene.radius + scene.centre, poses[0], atol=2e-3 * scene.radius)
            from mbd.view.motion import matrices

            np.testing.assert_allclose(matrices(turn), poses[1], atol=5e-3)
            ends = np.array(visit.run("mbd.view.links.map((link) => Array.from(link.live))"))
            for link, (start, arrow) in zip(scene.links, ends.reshape(-1, 2, 3), strict=True):
                a, b = link.ends(poses, t)
                np.testing.assert_allclose(start * scene.radius + scene.centre, a, atol=3e-3 * scene.radius)
                np.testing.assert_allclose(arrow * scene.radius, b - a, atol=2e-2 * scene.radius)
        assert visit.errors == []


def test_a_click_tells_name_and_values(mechanism: mbd.Solution, tmp_path: Any, browser: Any) -> None:
    path = mechanism.html(tmp_path / "a.html", trails=False)
    with Visit(browser, path, size=(640, 480)) as visit:
        visit.run("mbd.seek(0.5)")
        row = Scene(mechanism).row(0, mechanism.model["ball"])
        x, y = visit.run(f"mbd.view.project(Array.from(mbd.view.pose({row})[0]))")
        visit.page.mouse.click(x, y)
        panel = visit.page.locator("#values")
        assert panel.locator("h2").inner_text() == "ball" and "PointMass, 0.5 kg" in panel.inner_text()
        cells = panel.locator("tr").first.locator("td").all_inner_texts()
        shown = [float(text.replace("\u2212", "-")) for text in cells[:3]]
        np.testing.assert_allclose(shown, mechanism["ball"].position[100], atol=2e-3)
        visit.run("mbd.seek(0.7)")
        later = panel.locator("tr").first.locator("td").all_inner_texts()
        assert later != cells
        visit.page.keyboard.press("Escape")
        assert panel.is_hidden()
        visit.page.get_by_role("combobox", name="show values of").select_option(label="hinge")
        assert "Revolute" in panel.inner_text() and "N m" in panel.inner_text()
        assert visit.errors == []


def test_curves_move_with_time(mechanism: mbd.Solution, tmp_path: Any, browser: Any) -> None:
    path = mechanism.html(tmp_path / "a.html", curves=["energy", "hinge.angle", "slider.position"])
    with Visit(browser, path, size=(900, 700)) as visit:
        captions = visit.page.locator("#curves figcaption").all_inner_texts()
        assert [text.split("\n")[0] for text in captions] == [
            "energy in J",
            "hinge.angle in rad",
            "slider.position in m",
        ]
        visit.run("mbd.seek(0.6)")
        keys = visit.page.locator("#curves .key").all_inner_texts()
        values = [float(text.split()[-1].replace("\u2212", "-")) for text in keys]
        e = mechanism.energy
        expected = [e.kinetic[120], e.potential[120], e.total[120], mechanism["hinge"].angle[120]]
        np.testing.assert_allclose(values[:4], expected, atol=6e-3)
        assert keys[0].startswith("kinetic") and keys[4].startswith("x")
        box = visit.page.locator("#curves canvas").nth(1).bounding_box()
        left = visit.run("mbd.curves[1].left")
        visit.page.mouse.click(box["x"] + left + 0.25 * (box["width"] - left - 8), box["y"] + 40)
        assert visit.t == pytest.approx(0.25, abs=0.01)  # a click on a curve goes there
        drawn = visit.run("mbd.curves[1].x(mbd.t)")
        assert drawn == pytest.approx(left + 0.25 * (box["width"] - left - 8), abs=4)
        assert "from" in visit.page.locator("#curves canvas").first.get_attribute("aria-label")
        assert visit.errors == []
    with pytest.raises(mbd.ModelError, match="there is no channel 'hinge.angel'|has no channel 'angel'"):
        mechanism.html(tmp_path / "b.html", curves="hinge.angel")
    with pytest.raises(mbd.ModelError, match="diagrams; expected 12 at most"):
        mechanism.html(tmp_path / "b.html", curves="*")


def test_two_runs_with_colours_names_and_a_scale(chain: mbd.Solution, tmp_path: Any, browser: Any) -> None:
    other = models.chain(step=1e-2)
    path = mbd.view.html(
        [chain, other], tmp_path / "a.html", title="two <runs>", theme="dark", trails=False, curves="hinge 1.angle"
    )
    with Visit(browser, path, size=(600, 500)) as visit:
        visit.run("mbd.seek(0.5)")
        image = visit.shot()
        assert np.median(image.reshape(-1, 3), axis=0).max() < 60  # dark
        assert visit.page.title() == "two <runs>"
        assert visit.page.inner_text("#caption ul").split("\n") == ["step 5 ms", "step 10 ms"]
        keys = visit.page.locator("#curves .key").all_inner_texts()
        assert keys[0].startswith("step 5 ms") and keys[1].startswith("step 10 ms")
        assert visit.errors == []
    path = mbd.view.html([chain, other], tmp_path / "b.html", side_by_side=True, colour_by="speed", trails=False)
    with Visit(browser, path, size=(600, 500)) as visit:
        visit.run("mbd.seek(1)")
        scene = Scene([chain, other], side_by_side=True, colour_by="speed")
        colours = scene.shading.colours(1.0)
        seen = visit.run(
            "mbd.view.groups.filter((g) => g.role === 'body').flatMap((g) => Array.from(g.rows).map((row, k) =>"
            " [row, ...g.tints.subarray(3 * k, 3 * k + 3)]))"
        )
        assert len(seen) == 10
        for row, *rgb in seen:
            np.testing.assert_allclose(rgb, colours[row], atol=0.02)
        assert "speed in m/s" in visit.page.inner_text("#scale")
        assert visit.errors == []


def test_more_than_a_hundred_solids_keep_their_colours(tmp_path: Any, browser: Any) -> None:
    """Equal shapes share a draw call, not a colour; equal shapes of many sizes as well."""
    model = mbd.Model("wall")
    rng = np.random.default_rng(3)
    for k in range(140):
        shade = ("#ff0000", "#00ff00", "#0000ff")[k % 3]
        size = (0.3, 0.3, 0.3 if k < 100 else float(rng.uniform(0.2, 0.4)))
        node = mbd.nodes.Quaternion(position=(k % 14 * 0.5, 0, k // 14 * 0.5), lie=True)
        shape = mbd.shapes.Box(size, colour=shade)
        model.add(mbd.RigidBody(f"b{k}", 1.0, (0.01, 0.01, 0.01), node, shape=shape))
    run = mbd.simulate(model, 0.01, 0.01, mbd.integrators.RK4())
    path = run.html(tmp_path / "a.html", camera="front", axes=False, floor=False)
    with Visit(browser, path, size=(700, 560)) as visit:
        assert visit.run("mbd.view.groups.length") < 5
        image = visit.shot()
        for k in (0, 1, 2, 60, 120, 139):
            x, y = visit.run(f"mbd.view.project(Array.from(mbd.view.pose({k + 1})[0]))")
            assert int(np.argmax(image[round(y), round(x)])) == k % 3, k
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
        places = []
        for t in (0.05, 0.6):
            visit.run(f"mbd.seek({t})")
            image = visit.shot()
            blue = (image[..., 2] > 1.5 * image[..., 0]) & (image[..., 2] > 1.5 * image[..., 1])
            orange = (image[..., 0] > 1.4 * image[..., 2]) & (image[..., 0] > 100)
            assert blue.sum() > 100
            places.append((np.argwhere(blue).mean(axis=0), int(orange.sum())))
        assert np.abs(places[1][0] - places[0][0]).max() < 4.0  # pixels
        assert places[0][1] > 100 > 20 > places[1][1]
        assert visit.errors == []
    with pytest.raises(mbd.ModelError, match="no element is named 'bal'; did you mean 'ball'"):
        flight.html(tmp_path / "b.html", follow="bal")


@pytest.mark.parametrize("size", [(390, 844), (844, 390), (320, 480), (1280, 800)])
def test_everything_is_in_sight_on_every_screen(
    mechanism: mbd.Solution, tmp_path: Any, browser: Any, size: tuple[int, int]
) -> None:
    """The whole motion fits into the scene in portrait and landscape, and nothing sticks out at the side."""
    path = mechanism.html(tmp_path / "a.html", labels=True, curves=["energy"])
    cloud = Scene(mechanism).cloud
    scene = Scene(mechanism)
    with Visit(browser, path, size=size) as visit:
        width, height = visit.run("[mbd.view.canvas.clientWidth, mbd.view.canvas.clientHeight]")
        assert width == size[0] and height >= 0.3 * size[1]
        local = ((cloud - scene.centre) / scene.radius).tolist()
        seen = np.array(visit.run(f"{json.dumps(local)}.map((p) => mbd.view.project(p))"), dtype=float)
        assert (seen > 0).all() and (seen < (width, height)).all()
        assert np.ptp(seen, axis=0).max() > 0.3 * min(width, height)  # and is not tiny
        assert visit.run("document.documentElement.scrollWidth") <= size[0]
        for name in ("play", "loop", "camera as at the start"):
            box = visit.page.get_by_role("button", name=name, exact=True).bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= size[0] and min(box["width"], box["height"]) >= 24
            assert box["y"] + box["height"] <= size[1] + 1  # the bar is at the bottom of the screen
        assert visit.errors == []


def test_the_page_is_used_with_the_keyboard_alone(mechanism: mbd.Solution, tmp_path: Any, browser: Any) -> None:
    path = mechanism.html(tmp_path / "a.html", labels=True)
    with Visit(browser, path, size=(700, 500)) as visit:
        keyboard = visit.page.keyboard
        names = []
        for _ in range(9):
            keyboard.press("Tab")
            names.append(visit.run("document.activeElement.getAttribute('aria-label') || document.activeElement.id"))
        for name in (
            "play",
            "time",
            "speed, times real time",
            "loop",
            "camera as at the start",
            "show values of",
            "keys",
        ):
            assert name in names
        assert all(names[:8])  # everything that can be reached has a name
        visit.run("document.activeElement.blur()")
        keyboard.press("End")
        assert visit.t == 1.0
        keyboard.press("ArrowLeft")
        assert 0.9 < visit.t < 1.0
        keyboard.press("Home")
        keyboard.press("ArrowUp")
        assert visit.run("mbd.speed") == pytest.approx(0.2)
        before = visit.shot()
        keyboard.press("n")
        assert changed(before, visit.shot()) > 50  # names are gone
        visit.page.focus("#scene")
        before = visit.shot()
        keyboard.press("Shift+ArrowRight")
        assert changed(before, visit.shot()) > 100
        keyboard.press("h")
        assert visit.page.locator("#keys").is_visible()
        keyboard.press(" ")
        assert visit.run("mbd.playing")
        assert visit.errors == []


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_contrasts_of_the_page(theme: Any) -> None:
    from mbd.view.curves import _shade
    from mbd.view.page import css_colours
    from mbd.view.theme import colour

    roles = {key: colour(value[:7]) for key, value in (x[2:].split(":") for x in css_colours(theme).split(";"))}
    for ground in ("page", "card"):
        assert contrast(roles["text"], roles[ground]) > 7.0 and contrast(roles["muted"], roles[ground]) > 4.5
        assert contrast(roles["focus"], roles[ground]) > 3.0
    assert contrast(roles["edge"], roles["card"]) > 3.0 and contrast(roles["on-accent"], roles["accent"]) > 4.5
    for k in range(7):
        assert contrast(colour(_shade(theme, k, False)), roles["page"]) >= 3.0


def test_the_page_names_no_other_place(mechanism: mbd.Solution, tmp_path: Any) -> None:
    """Nothing is loaded, the file is small, and the same run makes the same file."""
    text = mechanism.html(tmp_path / "a.html").read_text()
    assert not re.search(r"(?:https?:)?//[a-z]", re.sub(r"//[^\n]*\n", "\n", text).replace("</", ""))
    assert len(text) < 250_000
    assert mechanism.html(tmp_path / "b.html").read_text() == text


def test_names_cannot_break_the_page(tmp_path: Any, browser: Any) -> None:
    model = mbd.Model("</script><script>alert(1)</script>")
    model.add(mbd.PointMass("<b>&\"'\u2028</script>", 1.0, velocity=(1, 0, 0)))
    run = mbd.simulate(model, 0.1, 0.05)
    with Visit(browser, run.html(tmp_path / "a.html", labels=True)) as visit:
        assert visit.page.title() == model.name
        assert visit.page.locator(".label").inner_text() == "<b>&\"'\u2028</script>"
        assert visit.errors == []


def test_numbers_of_the_page_are_packed_as_described(chain: mbd.Solution, tmp_path: Any) -> None:
    text = chain.html(tmp_path / "a.html", speed=1.0).read_text()
    packed, description = re.search(r'unpacked\("([^"]*)",(.*)\)\.then', text).groups()
    block, data = gzip.decompress(base64.b64decode(packed)), json.loads(description)
    first, count, kind = data["times"]["$"]
    times = np.frombuffer(block, dtype=f"<{kind}", count=count, offset=first)
    np.testing.assert_allclose(times, np.linspace(0.0, 1.0, 31))
    assert data["time"]["unit"] == "s" and data["time"]["speed"] == 1.0
    assert {owner["name"] for owner in data["owners"]} == {f"{x} {k}" for x in ("link", "hinge") for k in range(1, 6)}


def test_notebooks_show_the_page_and_a_picture(chain: mbd.Solution, rendering: None) -> None:
    text = chain._repr_html_()
    assert text.startswith("<iframe srcdoc=") and 'sandbox="allow-scripts"' in text and len(text) < 1_000_000
    assert '"' not in text[len('<iframe srcdoc="') : text.index('" style=')]
    assert chain._repr_png_().startswith(b"\x89PNG")


def test_plotters_do_not_show_themselves_in_notebooks(chain: mbd.Solution, rendering: None) -> None:
    import mbd.view.render as render

    with render.offscreen(render.Scene(chain), (64, 64), "auto", None, "A picture") as stage:
        assert stage.plotter.notebook is False


def test_the_frame_of_a_notebook_plays(chain: mbd.Solution, tmp_path: Any, browser: Any) -> None:
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><title>n</title><body>{chain._repr_html_()}</body>")
    context = browser.new_context(viewport={"width": 480, "height": 320}, offline=True)
    try:
        page = context.new_page()
        page.goto(path.as_uri())
        page.frames[1].wait_for_function("window.mbd !== undefined && mbd.t > 0", timeout=TIMEOUT)
    finally:
        context.close()


def test_long_runs_and_arguments(chain: mbd.Solution, tmp_path: Any) -> None:
    from mbd.view.page import page

    scene = Scene(chain)
    assert len(page(scene, fps=1000.0, max_poses=600)) < len(page(scene, fps=1000.0, max_poses=20_000))
    with pytest.raises(mbd.ModelError, match="fps = -1"):
        chain.html(tmp_path / "a.html", fps=-1)
    with pytest.raises(mbd.ModelError, match="ends with .html"):
        chain.html(tmp_path / "a.txt")
