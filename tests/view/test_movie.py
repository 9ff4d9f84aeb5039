"""Movies have the right number of frames, the right length, and show the motion."""

from __future__ import annotations

import itertools
import re
import resource
import subprocess
from typing import Any

import numpy as np
import pytest

import mbd
from mbd.view.clock import frame_times

pytestmark = pytest.mark.usefixtures("rendering")
SIZE = (320, 180)


def frames_of(path: Any) -> tuple[dict[str, Any], list[np.ndarray]]:
    """What ffmpeg says about a movie, and its frames."""
    import imageio_ffmpeg

    tool = imageio_ffmpeg.get_ffmpeg_exe()
    command = [tool, "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    line = next(x for x in result.stderr.decode().splitlines() if "Video:" in x)
    width, height = (int(x) for x in re.search(r" (\d+)x(\d+)[ ,]", line).groups())
    meta = {"size": (width, height), "codec": re.search(r"Video: (\w+)", line)[1], "pixels": "yuv420p" in line}
    meta["fps"] = float(re.search(r"([\d.]+) fps", line)[1])
    return meta, list(np.frombuffer(result.stdout, np.uint8).reshape(-1, height, width, 3))


def test_mp4(chain: mbd.Solution, tmp_path) -> None:
    import imageio_ffmpeg

    path = chain.movie(tmp_path / "a.mp4", fps=20, size=SIZE, progress=False)
    count, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert count == 21 and seconds == pytest.approx(21 / 20, abs=0.011)
    meta, frames = frames_of(path)
    assert meta["size"] == SIZE and meta["codec"] == "h264" and meta["fps"] == 20 and meta["pixels"]
    assert len(frames) == 21
    moved = [(np.abs(a.astype(int) - b).max(axis=2) > 30).sum() for a, b in itertools.pairwise(frames)]
    assert min(moved) > 10
    still = chain.picture(t=0.5, size=SIZE).astype(int)
    area = np.s_[: SIZE[1] - 25]  # without the clock
    errors = [np.abs(f[area].astype(int) - still[area]).mean() for f in frames]
    assert int(np.argmin(errors)) == 10 and errors[10] < 4.0


def test_speed_part_and_odd_sizes(chain: mbd.Solution, tmp_path) -> None:
    import imageio_ffmpeg

    path = chain.movie(tmp_path / "slow.mp4", fps=10, speed=0.5, size=(161, 91), start=0.2, end=0.7, clock=False)
    count, seconds = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert count == len(frame_times(0.2, 0.7, 10, 0.5)) == 11
    assert seconds == pytest.approx(1.1, abs=0.02)
    assert frames_of(path)[0]["size"] == (162, 92)


def test_gif(chain: mbd.Solution, tmp_path) -> None:
    from PIL import Image

    path = chain.movie(tmp_path / "a.gif", fps=20, size=SIZE, end=0.5)
    durations, shots = [], []
    with Image.open(path) as image:
        assert image.n_frames == 11 and image.size == SIZE and image.info["loop"] == 0
        for k in range(image.n_frames):
            image.seek(k)
            durations.append(image.info["duration"])
            shots.append(np.asarray(image.convert("RGB")).astype(int))
    assert set(durations) == {50}
    assert (np.abs(shots[0] - shots[-1]).max(axis=2) > 30).sum() > 200


def test_memory_stays_bounded(chain: mbd.Solution, tmp_path) -> None:
    """Twelve times the frames take no more memory than a few of them."""
    chain.movie(tmp_path / "short.mp4", fps=10, size=SIZE)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    chain.movie(tmp_path / "long.mp4", fps=120, size=SIZE)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    frame = 1.5 * SIZE[0] * 1.5 * SIZE[1] * 3 / 1024
    assert grown < 40 * frame + 8_000  # in kB; all 121 frames would be 120 of them


def test_two_runs_in_one_movie(chain: mbd.Solution, tmp_path) -> None:
    path = mbd.view.movie([chain, chain], tmp_path / "two.mp4", fps=5, size=SIZE, theme="dark")
    assert len(frames_of(path)[1]) == 6


def test_film_says_where_the_movie_is(chain: mbd.Solution, tmp_path, capsys) -> None:
    path = tmp_path / "new folder" / "a.mp4"
    assert mbd.view.film(chain, path, fps=5, size=SIZE, end=0.4) == path
    assert capsys.readouterr().out == f"movie: {path}\n"
    assert len(frames_of(path)[1]) == 3
    with pytest.raises(mbd.ModelError, match="ends with .mp4"):
        mbd.view.film(chain, tmp_path / "a.avi")


def test_film_says_why_there_is_none(chain: mbd.Solution, tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setattr("mbd.view.opengl._answer", "OpenGL crashed; apt install libegl1 libgl1.")
    assert mbd.view.film(chain, tmp_path / "a.mp4") is None
    words = "no movie: A movie cannot be made. OpenGL crashed; apt install libegl1 libgl1."
    assert capsys.readouterr().out.startswith(words)


def test_progress_counts_frames(chain: mbd.Solution, tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setattr("mbd.io.progress.DELAY_SECONDS", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")  # as in a terminal
    chain.movie(tmp_path / "a.mp4", fps=5, size=SIZE, end=0.4, progress=True)
    shown = capsys.readouterr().err
    assert "rendering a.mp4" in shown and "frame 3" in shown


def test_a_following_camera_stays_close(tmp_path) -> None:
    """However far a body flies, it has the same size in the middle of the picture."""
    model = mbd.Model("flight")
    node = mbd.nodes.RotationVector(velocity=(0.0, 0.0, 100.0))
    model.add(mbd.RigidBody("ball", 1.0, (0.1, 0.1, 0.1), node, shape=mbd.shapes.Sphere(0.5, colour="#ff0000")))
    flight = mbd.simulate(model, 1.0, 0.1, mbd.integrators.RK4())
    for t in (0.0, 1.0):
        image = flight.picture(t=t, follow="ball", size=SIZE, trails=False, axes=False).astype(int)
        red = (image[..., 0] > 2 * image[..., 1]) & (image[..., 0] > 2 * image[..., 2])
        rows, columns = np.nonzero(red)
        assert abs(rows.mean() - 89.5) < 3.0 and abs(columns.mean() - 159.5) < 3.0
        assert 30 < np.ptp(rows) < 60


def test_arguments_are_checked(chain: mbd.Solution, tmp_path) -> None:
    for arguments, words in (
        ({"file": tmp_path / "a.avi"}, "ends with .mp4"),
        ({"file": tmp_path / "a.gif", "fps": 30}, "one of 10, 20, 25, 50"),
        ({"file": tmp_path / "a.mp4", "speed": 0.0}, "speed = 0.0; expected a positive number"),
        ({"file": tmp_path / "a.mp4", "start": 0.5, "end": 0.1}, "a start before the end"),
        ({"file": tmp_path / "a.mp4", "follow": "nobody"}, "no element is named 'nobody'"),
        ({"file": tmp_path / "a.mp4", "end": 5.0}, "end = 5.0; expected a time between 0 and 1"),
        ({"file": tmp_path / "a.mp4", "trail": True}, "no option 'trail'; expected theme, joints, springs, trails"),
    ):
        with pytest.raises(mbd.ModelError, match=words):
            chain.movie(**arguments)
