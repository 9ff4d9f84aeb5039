"""Rendering is tried in another process, and its failure costs one sentence."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import mbd
from mbd.view import opengl


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(opengl, "_answer", None)
    monkeypatch.setenv("MBD_CACHE_DIR", str(tmp_path))


def test_a_crash_of_the_trial_is_survived(monkeypatch: pytest.MonkeyPatch, chain: mbd.Solution, tmp_path: Any) -> None:
    pytest.importorskip("pyvista")
    monkeypatch.setattr(opengl, "PROBE", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert "crashed" in opengl.obstacle() and not opengl.can_render()
    with pytest.raises(opengl.RenderingError, match="apt install libegl1 libgl1"):
        mbd.view.picture(chain, tmp_path / "a.png")
    with pytest.warns(RuntimeWarning, match="libegl1 libgl1") as caught:
        assert chain.picture(tmp_path / "a.png") is None
        assert chain.movie(tmp_path / "a.mp4") is None
        assert chain.show() is None
    assert len(caught) == 3 and all(w.filename == __file__ for w in caught)
    assert chain._repr_png_() is None
    assert chain.gltf(tmp_path / "a.glb").exists()  # everything else goes on


def test_a_trial_that_hangs_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyvista")
    monkeypatch.setattr(opengl, "PROBE", "import time; time.sleep(60)")
    monkeypatch.setattr(opengl, "TIMEOUT", 0.3)
    assert "did not answer" in opengl.obstacle()


def test_only_success_is_remembered(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    pytest.importorskip("pyvista")
    monkeypatch.setattr(opengl, "PROBE", "raise SystemExit(3)")
    assert "failed" in opengl.obstacle(fresh=True)
    assert not (tmp_path / "mbd" / "opengl.json").exists()
    monkeypatch.setattr(opengl, "PROBE", "pass")
    assert opengl.obstacle(fresh=True) == ""
    monkeypatch.setattr(opengl, "PROBE", "raise SystemExit(3)")
    monkeypatch.setattr(opengl, "_answer", None)
    assert opengl.obstacle() == ""  # from the file
    monkeypatch.setenv("DISPLAY", ":77")  # another environment
    monkeypatch.setattr(opengl, "_answer", None)
    assert "failed" in opengl.obstacle()


def test_without_pyvista_one_sentence(monkeypatch: pytest.MonkeyPatch, chain: mbd.Solution, tmp_path: Any) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert opengl.obstacle() == "Pictures need pyvista, which is not installed: pip install 'mbd[view]'."


def test_nothing_heavy_is_imported_early() -> None:
    code = (
        "import sys, mbd, mbd.view, mbd.results.solution; "
        "bad = {'pyvista', 'vtkmodules', 'matplotlib', 'imageio_ffmpeg', 'PIL'} & set(sys.modules); "
        "assert not bad, bad; import mbd.view.plots, mbd.view.scene, mbd.view.page, mbd.view.glb, mbd.view.window; "
        "bad = {'pyvista', 'vtkmodules'} & set(sys.modules); assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
