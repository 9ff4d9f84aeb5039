"""The report: one file with everything in it."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest

import mbd
from mbd.view import opengl
from mbd.view.theme import contrast

pytest.importorskip("matplotlib")


def test_it_holds_model_run_plots_and_picture(mechanism: mbd.Solution, tmp_path: Any, rendering: None) -> None:
    text = mechanism.report(tmp_path / "r.html", plots=("energy", "reactions")).read_text()
    for words in ("slider", "pendulum", "rail", "prismatic", "coil", "Diagnosis", "Newton iterations", "degree"):
        assert words in text, words
    images = re.findall(r'src="data:image/png;base64,([^"]+)"', text)
    assert len(images) == 3  # the picture and two plots
    assert all(base64.b64decode(data).startswith(b"\x89PNG") for data in images)
    assert not re.search(r'(?:src|href)="(?!data:)', text)


def test_without_opengl_it_is_written_without_the_picture(
    mechanism: mbd.Solution, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opengl, "_answer", f"OpenGL crashed in a trial; {opengl.HINT}.")
    with pytest.warns(RuntimeWarning, match="libegl1 libgl1"):
        text = mechanism.report(tmp_path / "r.html", plots=("energy",)).read_text()
    assert len(re.findall("data:image/png", text)) == 1


def test_names_are_escaped(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opengl, "_answer", "no")
    model = mbd.Model("a <b> & c")
    model.add(mbd.PointMass("<script>", 1.0))
    with pytest.warns(RuntimeWarning):
        text = mbd.simulate(model, 0.01, 0.01).report(tmp_path / "r.html", plots=()).read_text()
    assert "<script>" not in text and "a &lt;b&gt; &amp; c" in text


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_read_on_phones_and_by_screen_readers(
    mechanism: mbd.Solution, tmp_path: Any, chromium: str, monkeypatch: pytest.MonkeyPatch, theme: str
) -> None:
    """Nothing is wider than the screen, texts stand out from what is behind them, pictures are told in words."""
    from playwright.sync_api import sync_playwright

    monkeypatch.setattr(opengl, "_answer", "no")
    with pytest.warns(RuntimeWarning):
        path = mechanism.report(tmp_path / "r.html", plots=("energy",), theme=theme)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 390, "height": 844}, offline=True).new_page()
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert page.get_by_role("heading", level=1).all_inner_texts() == ["mechanism"]
        assert "energy in J from" in page.get_by_role("img").first.get_attribute("alt")
        assert page.get_by_role("columnheader").count() == 12 and page.get_by_role("rowheader").count() == 8
        page.get_by_role("region", name="table: body").focus()
        colours = page.evaluate(
            "['h1', '.sub', 'thead th', 'tbody th', 'td', 'pre', '.tile span', 'footer'].map((x) => {"
            " let e = document.querySelector(x), c = getComputedStyle(e).color, g;"
            " while ((g = getComputedStyle(e).backgroundColor) === 'rgba(0, 0, 0, 0)') e = e.parentElement;"
            " return [x, c, g]; })"
        )
        for name, ink, ground in colours:
            a, b = (tuple(int(x) / 255 for x in re.findall(r"\d+", text)[:3]) for text in (ink, ground))
            assert contrast(a, b) > 4.5, name
        browser.close()
