"""The report: one file with everything in it."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest

import mbd
from mbd.view import opengl

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
