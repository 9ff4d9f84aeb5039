"""The examples run and show what they promise."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

pytest.importorskip("matplotlib")

EXAMPLES = Path(__file__).parents[3] / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def quick_movies(monkeypatch):
    """Small pictures, few per second."""
    import mbd.view.movies as movies

    monkeypatch.setattr(movies, "RATE", 4.0)
    monkeypatch.setattr(movies, "SIZE", (192, 108))


def check_movie(path: Path, seconds: float) -> None:
    """The movie has the length that the example promises, where one can be rendered."""
    from mbd.view import opengl

    if opengl.obstacle():
        assert not path.exists()
        return
    import imageio_ffmpeg

    assert imageio_ffmpeg.count_frames_and_secs(str(path))[0] == round(4.0 * seconds) + 1


def test_book(tmp_path):
    solution = example("book").main(tmp_path)
    check_movie(tmp_path / "book.mp4", 20.0 / 3.0)
    assert np.ptp(solution.energy.total) < 1e-14
    assert (tmp_path / "book.png").stat().st_size > 10_000


def test_tennis_racket(tmp_path):
    module = example("tennis_racket")
    solution = module.main(tmp_path)
    omega = solution["racket"].angular_velocity[:, 1]
    assert omega[0] > 0.99 * module.SPIN and omega.min() < -0.99 * module.SPIN
    assert (tmp_path / "tennis_racket.png").exists()
    check_movie(tmp_path / "tennis_racket.mp4", 6.0)


def test_heavy_top(tmp_path):
    solution = example("rigid_heavy_top").main(tmp_path)
    assert np.ptp(solution.energy.total) < 1e-10 * solution.energy.total[0]
    assert np.ptp(solution.momentum.angular[:, 2]) < 1e-12
    check_movie(tmp_path / "rigid_heavy_top.mp4", 6.0)


def test_tumbling_cloud(tmp_path):
    solution = example("tumbling_cloud").main(40, tmp_path)
    assert np.ptp(solution.energy.total) < 1e-12 * abs(solution.energy.total[0])
    check_movie(tmp_path / "tumbling_cloud.mp4", 3.0)
    assert (tmp_path / "tumbling_cloud.png").exists() == (tmp_path / "tumbling_cloud.mp4").exists()
