"""Pictures of a solution at one time, and strips of several times in one figure as papers show them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from mbd.elements.arguments import FilePath, Numbers
from mbd.errors import bad_value, check_number, check_vector
from mbd.io.files import replacing, save_figure
from mbd.view import vector
from mbd.view.arguments import CameraPlace, Followed, Look, Runs, Size
from mbd.view.clock import time_text
from mbd.view.render import Image, check_size, images
from mbd.view.scene import Scene

FORMATS = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp")
STRIP_FORMATS = (*FORMATS, ".pdf", ".svg")
SIZE = (1280, 720)


def picture(
    solutions: Runs, file: FilePath | None = None, t: Numbers | None = None, *, size: Size = SIZE,
    camera: CameraPlace = "auto", follow: Followed | None = None, columns: int | None = None, clock: bool = True,
    **look: Unpack[Look],
) -> Image | None:  # fmt: skip
    """Render a picture at time ``t`` (by default the end), write it to a file and return it as (height, width, 3).

    SVG, PDF and EPS files hold vector graphics, which are drawn without OpenGL, and nothing is returned.

    Several times give a strip of snapshots in one figure: ``t=[0, 0.2, 0.4]``, or ``t=6`` with ``columns=6`` for six
    equal steps; a strip is also written as PDF or SVG. clock: write the time into the picture. ``look`` holds the
    options of ``mbd.view.Scene``.
    """
    scene = Scene(solutions, **look)
    width, height = check_size(size)
    if columns is not None or (t is not None and np.ndim(t) > 0):
        return _strip(scene, file, t, (width, height), camera, follow, columns)
    time = scene.end if t is None else inside(scene, t)
    target = check_file(file, (*FORMATS, *vector.FORMATS)) if file is not None else None
    if target is not None and target.suffix.lower() in vector.FORMATS:
        vector.draw(scene, time, target, (width, height), camera, follow, clock)
        return None
    image = next(iter(images(scene, [time], (width, height), camera, follow, clock=clock)))
    if target is not None:
        save(image, target)
    return image


def inside(scene: Scene, t: Any, argument: str = "t") -> float:
    """A time within the run."""
    time = check_number(t, "view", argument)
    slack = 1e-9 * (1.0 + abs(scene.end))
    if not scene.start - slack <= time <= scene.end + slack:
        raise bad_value(
            "view", argument, time, f"a time between {scene.start:.6g} and {scene.end:.6g}, where the solution is"
        )
    return time


def check_file(file: Any, formats: tuple[str, ...]) -> Path:
    """A path with one of these endings."""
    path = Path(file)
    if path.suffix.lower() not in formats:
        raise bad_value("view", "file", str(file), "a name that ends with " + ", ".join(formats))
    if not path.parent.is_dir():
        raise bad_value("view", "file", str(file), f"a folder that exists, but '{path.parent}' does not")
    return path


def save(image: Image, file: Path) -> None:
    """Write an image in the format of the file's ending."""
    from PIL import Image as pillow

    with replacing(file) as draft:
        pillow.fromarray(image).save(draft)


def png_bytes(image: Image | None) -> bytes:
    """The image as a PNG file."""
    assert image is not None, "vector graphics have no pixels"
    from PIL import Image as pillow

    buffer = io.BytesIO()
    pillow.fromarray(image).save(buffer, format="png", optimize=True)
    return buffer.getvalue()


def _strip(
    scene: Scene, file: Any, t: Any, size: tuple[int, int], camera: Any, follow: Any, columns: int | None
) -> Image:
    """Snapshots side by side, each with its time."""
    if t is None or np.ndim(t) == 0:
        count = int(check_number(6 if t is None else t, "view", "t, the number of snapshots", positive=True))
        times = np.linspace(scene.start, scene.end, max(count, 2))
    else:
        times = np.array([inside(scene, x) for x in check_vector(np.asarray(t), "view", "t", None)])
    across = len(times) if columns is None else int(check_number(columns, "view", "columns", positive=True))
    across = min(across, len(times))
    target = check_file(file, STRIP_FORMATS) if file is not None else None
    shots = list(images(scene, times, size, camera, follow))
    figure = strip_figure(shots, times, across, scene)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=figure.dpi, facecolor=figure.get_facecolor())
    from PIL import Image as pillow

    image = np.asarray(pillow.open(buffer).convert("RGB"))
    if target is not None and target.suffix.lower() in (".pdf", ".svg"):
        save_figure(figure, target, facecolor=figure.get_facecolor())
    elif target is not None:
        save(image, target)
    return image


def strip_figure(shots: list[Image], times: Any, columns: int, scene: Scene) -> Any:
    """A matplotlib figure with the snapshots."""
    from matplotlib.figure import Figure

    from mbd.view.plotting import style

    rows = -(-len(shots) // columns)
    height, width = shots[0].shape[:2]
    dpi = 200.0
    gap, label = 8 / dpi, 46 / dpi
    w, h = columns * width / dpi + (columns + 1) * gap, rows * (height / dpi + label) + gap
    with style(scene.theme):
        figure = Figure(figsize=(w, h), dpi=dpi, facecolor=scene.theme.background if scene.theme.dark else "white")
        for k, (shot, t) in enumerate(zip(shots, times, strict=True)):
            row, column = divmod(k, columns)
            left = gap + column * (width / dpi + gap)
            bottom = h - (row + 1) * (height / dpi + label)
            axes = figure.add_axes((left / w, (bottom + label) / h - gap / h, width / dpi / w, height / dpi / h))
            axes.imshow(shot, interpolation="none")
            axes.set_xticks([])
            axes.set_yticks([])
            for spine in axes.spines.values():
                spine.set_visible(True)
                spine.set_color(scene.theme.grid)
                spine.set_linewidth(0.6)
            middle = (left + 0.5 * width / dpi) / w
            text = f"$t$ = {time_text(t, scene.start, scene.end)}"
            size = max(9.0, min(16.0, 0.028 * width))
            figure.text(middle, (bottom + 0.45 * label - gap) / h, text, ha="center", va="center", fontsize=size)
    return figure
