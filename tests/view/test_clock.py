"""Speeds and times of runs from nanoseconds to centuries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbd
from mbd.view.clock import MAX_FRAMES, PLAYING, YEAR, automatic_speed, check_frames, frame_times, time_text


def test_every_run_takes_five_to_ten_seconds(rng: np.random.Generator) -> None:
    for duration in [*10.0 ** rng.uniform(-9, 10, 500), *10.0 ** np.arange(-9, 10.0), 5.0, 10.0]:
        speed = automatic_speed(duration)
        assert PLAYING[0] * (1 - 1e-6) <= duration / speed <= PLAYING[1] * 1.001
        assert float(f"{speed:.2g}") == speed  # a round number
    assert automatic_speed(7.0) == 1.0 and automatic_speed(0.0) == 1.0


@pytest.mark.parametrize(
    ("t", "end", "words"),
    [
        (0.37e-9, 1e-9, "0.37 ns"), (0.37e-6, 1e-6, "0.37 µs"), (1.22e-4, 3.3e-4, "0.122 ms"), (0.0074, 0.02, "7.4 ms"),
        (0.185, 0.5, "0.185 s"), (30.0, 45.0, "30.0 s"), (1500.0, 4000.0, "25.0 min"), (43200.0, 3e5, "0.50 d"),
        (2.5 * YEAR, 10 * YEAR, "2.5 years"), (0.0, 0.0, "0.00 s"),
    ],
)  # fmt: skip
def test_times_have_units(t: float, end: float, words: str) -> None:
    assert time_text(t, 0.0, end) == words


def test_too_many_frames_are_refused_and_too_few_are_told() -> None:
    with pytest.raises(mbd.ModelError, match=r"9467\d* frames for 365.2 d at speed 1 .* limit of 20000; speed='auto'"):
        check_frames(0.0, YEAR, 30.0, 1.0)
    with pytest.warns(RuntimeWarning, match=r"only 2 frames, since 1 µs are shown at speed 1; speed='auto' would"):
        check_frames(0.0, 1e-6, 30.0, 1.0)
    check_frames(0.0, 10.0, 30.0, 1.0)
    with pytest.raises(mbd.ModelError, match="more than can be counted"):
        frame_times(0.0, 1e30, 30.0, 1.0)
    assert MAX_FRAMES > 5000


def microseconds() -> mbd.Solution:
    """A tuning fork of micromachining: a ball of a microgram on a spring, a few microseconds long."""
    model = mbd.Model("resonator")
    ball = model.add(mbd.PointMass("ball", 1e-9, position=(2e-6, 0, 0)))
    model.add(mbd.forces.Spring(model.ground, ball, (0, 0, 0), stiffness=1e3, length=1e-6))
    return mbd.simulate(model, 1e-5, 1e-7, mbd.integrators.RK4())


def years() -> mbd.Solution:
    """The Earth around a fixed Sun."""
    model = mbd.Model("orbit")
    sun = model.add(mbd.PointMass("sun", 1.989e30))
    earth = model.add(mbd.PointMass("earth", 5.972e24, position=(1.496e11, 0, 0), velocity=(0, 29780.0, 0)))
    model.add(mbd.forces.Gravitation(sun, earth, constant=6.674e-11))
    return mbd.simulate(model, 2.0 * YEAR, 1e5, mbd.integrators.RK4())


@pytest.mark.parametrize(("run", "unit"), [(microseconds, "µs"), (years, "years")])
def test_pages_and_movies_of_short_and_long_runs(run: Any, unit: str, tmp_path: Any, rendering: None) -> None:
    solution = run()
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path = solution.movie(tmp_path / "a.mp4", speed="auto", fps=4, size=(64, 48))
    frames, _ = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert 20 <= frames <= 41
    assert unit in solution.html(tmp_path / "a.html").read_text()
    image = solution.picture(size=(160, 120))
    assert (np.abs(image.astype(int) - image[0, 0]).max(axis=2) > 30).sum() > 50


def test_a_wrong_speed(tmp_path: Any, chain: mbd.Solution) -> None:
    for speed in ("fast", -1.0, 0.0):
        with pytest.raises(mbd.ModelError, match="speed = "):
            mbd.view.html(chain, tmp_path / "a.html", speed=speed)
