"""Movies: frames are rendered one by one and handed to ffmpeg at once, so that memory does not grow with the length."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from mbd.elements.arguments import FilePath
from mbd.errors import FileError, ModelError, bad_value
from mbd.io.files import replacing
from mbd.io.progress import Progress
from mbd.view import opengl
from mbd.view.arguments import CameraPlace, Followed, Look, Runs, Size, Speed
from mbd.view.camera import Camera
from mbd.view.clock import check_frames, check_rate, check_speed, frame_times, time_text
from mbd.view.pictures import check_file
from mbd.view.render import check_size, grab, offscreen
from mbd.view.scene import Scene

FORMATS = (".mp4", ".gif", ".mkv", ".mov", ".webm")
SIZE = (1280, 720)
RATE, GIF_RATE = 30.0, 25.0  # frames per second unless something else is wanted
GIF_RATES = (10, 20, 25, 50)
OVERSAMPLING = 1.5
CODECS = {
    ".webm": ["libvpx-vp9", ["-crf", "32", "-b:v", "0", "-row-mt", "1"]],
    "": ["libx264", ["-crf", "18", "-preset", "medium", "-movflags", "+faststart"]],
}


def movie(
    solutions: Runs, file: FilePath, *, fps: float | None = None, speed: Speed = 1.0, size: Size | None = None,
    follow: Followed | None = None, camera: CameraPlace = "auto", start: float | None = None,
    end: float | None = None, clock: bool = True, progress: bool | None = None, **look: Unpack[Look],
) -> Path:  # fmt: skip
    """Write a movie (mp4, mkv, mov, webm or gif) and return its path.

    fps: frames per second, by default 30 (gif: 25; a gif knows only 10, 20, 25 and 50).
    speed: 2 shows twice as fast as real, 0.1 ten times slower, "auto" the whole in 5 to 10 seconds.
    size: width and height in pixels, by default (1280, 720).
    camera: a preset or (position, target). follow: a body that stays in the middle.
    start, end: the part of the solution; both are shown, which makes round((end - start) / speed * fps) + 1 frames.
    clock: write the time into the picture. progress: show a bar; by default in a terminal.
    ``look`` holds the options of ``mbd.view.Scene``.
    """
    path = check_file(file, FORMATS)
    is_gif = path.suffix.lower() == ".gif"
    rate = check_rate(fps if fps is not None else GIF_RATE if is_gif else RATE, "fps")
    if is_gif and rate not in GIF_RATES:
        raise bad_value("view", "fps", rate, f"one of {', '.join(map(str, GIF_RATES))}, since gifs count in 10 ms")
    scene = Scene(solutions, **look)
    first, last = _part(scene, start, end)
    pace = check_speed(speed, last - first)
    check_frames(first, last, rate, pace)
    times = frame_times(first, last, rate, pace)
    shape = check_size(SIZE if size is None else size, even=True)
    Camera(scene, camera, follow)  # complains before a file is begun
    opengl.require("A movie")
    _ffmpeg()
    with Progress(0, len(times), progress, f"rendering {path.name}", "frame") as bar:
        frames = _frames(scene, times, shape, camera, follow, clock, bar)
        with replacing(path) as draft:
            if is_gif:
                _write_gif(draft, frames, shape, rate)
            else:
                codec, options = CODECS.get(path.suffix.lower(), CODECS[""])
                with encoder(draft, shape, rate, str(codec), list(options), "yuv420p") as send:
                    for frame in frames:
                        send(frame)
            _check_frames(draft, path, len(times))
    return path


def _check_frames(draft: Path, path: Path, expected: int) -> None:
    """Refuse a movie that was not written to its end; ffmpeg may fail silently in its last moments."""
    try:
        found, _ = _ffmpeg().count_frames_and_secs(str(draft))
    except Exception:
        found = 0
    if found != expected:
        raise FileError(f"{path}: could not be written completely ({found} of {expected} frames); is the disk full?")


def film(solutions: Runs, file: FilePath, **options: Any) -> Path | None:
    """A movie for scripts that go on without it: prints where it is, or in one sentence why there is none.

    The folder is made if it is missing. Options are those of ``movie``; mistakes in them still raise.
    """
    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        movie(solutions, path, **options)
    except opengl.RenderingError as error:
        print(f"no movie: {error}")
        return None
    print(f"movie: {path}")
    return path


def _part(scene: Scene, start: float | None, end: float | None) -> tuple[float, float]:
    from mbd.view.pictures import inside

    first = scene.start if start is None else inside(scene, start, "start")
    last = scene.end if end is None else inside(scene, end, "end")
    if last < first:
        raise ModelError(f"view: start = {start!r} is after end = {end!r}; expected a start before the end")
    return first, last


def large(size: tuple[int, int]) -> tuple[int, int]:
    """The size in which frames of a movie are rendered."""
    return round(OVERSAMPLING * size[0]), round(OVERSAMPLING * size[1])


def _frames(
    scene: Scene, times: Any, size: tuple[int, int], camera: Any, follow: Any, clock: bool, bar: Progress
) -> Iterator[Any]:
    """The rendered frames, one at a time."""
    with offscreen(scene, large(size), camera, follow, "A movie") as stage:
        text = stage.glass.clock() if clock else None
        for k, t in enumerate(times):
            if text is not None:
                text.SetInput(f"t = {time_text(t, times[0], times[-1])}")
            stage.show(float(t), render=False)
            yield grab(stage)
            bar.update(k + 1)


@contextmanager
def encoder(
    path: Path, size: tuple[int, int], rate: float, codec: str, options: list[str], pixels: str
) -> Iterator[Any]:
    """A function that takes frames in the large size and writes them to a file in the small one."""
    ffmpeg = _ffmpeg()
    scale = f"scale={size[0]}:{size[1]}:flags=lanczos"
    if pixels.startswith("yuv"):  # say which colours are meant, so that every player shows the same
        scale += ":out_color_matrix=bt709:out_range=tv"
        options = [
            *options,
            *(x for name in ("colorspace", "color_primaries", "color_trc") for x in (f"-{name}", "bt709")),
        ]
    stream = ffmpeg.write_frames(
        str(path), large(size), fps=rate, codec=codec, quality=None, macro_block_size=1, pix_fmt_out=pixels,
        output_params=["-vf", scale, *options], ffmpeg_log_level="error",
    )  # fmt: skip
    try:
        stream.send(None)
        yield lambda frame: stream.send(np.ascontiguousarray(frame))
    except OSError as error:
        raise FileError(f"ffmpeg could not write '{path}': {error}") from error
    finally:
        stream.close()


def _ffmpeg() -> Any:
    try:
        import imageio_ffmpeg
    except ImportError:
        raise opengl.RenderingError(
            "Movies need imageio-ffmpeg, which is not installed: pip install 'mbd[view]'."
        ) from None
    return imageio_ffmpeg


def _write_gif(path: Path, frames: Any, size: tuple[int, int], rate: float) -> None:
    """One palette for the whole movie, found in a first pass over a lossless copy on disk."""
    with tempfile.TemporaryDirectory(prefix="mbd-") as folder:
        copy, palette = Path(folder) / "copy.mkv", Path(folder) / "palette.png"
        with encoder(copy, size, rate, "libx264rgb", ["-qp", "0", "-preset", "ultrafast"], "rgb24") as send:
            for frame in frames:
                send(frame)
        tool = _ffmpeg().get_ffmpeg_exe()
        use = "paletteuse=dither=sierra2_4a:diff_mode=rectangle"
        _run(tool, "-i", copy, "-vf", "palettegen=stats_mode=full", "-update", "1", palette)
        _run(tool, "-i", copy, "-i", palette, "-lavfi", use, "-loop", "0", path)


def _run(tool: str, *arguments: Any) -> None:
    command = [tool, "-y", "-loglevel", "error", *(str(argument) for argument in arguments)]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if result.returncode:
        raise FileError(f"ffmpeg failed with: {result.stderr.strip() or result.returncode}")
