"""Off-screen pictures of a scene, smooth because they are rendered larger and scaled down."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mbd.errors import bad_value
from mbd.view import opengl
from mbd.view.camera import Camera
from mbd.view.clock import time_text
from mbd.view.scene import Scene
from mbd.view.stage import Stage

Image = np.ndarray[Any, np.dtype[np.uint8]]

SMOOTHING = 2  # pictures are rendered so many times as large, and shrunk: edges become smooth


def check_size(size: Any, even: bool = False) -> tuple[int, int]:
    """Width and height in pixels."""
    try:
        width, height = (int(x) for x in size)
    except (TypeError, ValueError):
        raise bad_value("view", "size", size, "(width, height) in pixels") from None
    if min(width, height) < 16 or max(width, height) > 16384:
        raise bad_value("view", "size", size, "a width and a height between 16 and 16384 pixels")
    return (width + width % 2, height + height % 2) if even else (width, height)


@contextmanager
def offscreen(scene: Scene, size: tuple[int, int], camera: Any, follow: Any, what: str) -> Iterator[Stage]:
    """A stage without a window, closed at the end."""
    opengl.require(what)
    pv = opengl.pyvista_module()
    plotter = pv.Plotter(off_screen=True, window_size=list(size), notebook=False)  # or notebooks show every frame
    try:
        plotter.disable_anti_aliasing()
        plotter.render_window.SetMultiSamples(0)
        stage = Stage(scene, plotter, Camera(scene, camera, follow, size[0] / size[1]))
        plotter.show(auto_close=False, interactive=False)
        yield stage
    finally:
        plotter.close()


def grab(stage: Stage) -> Image:
    """The picture as rendered, (height, width, 3)."""
    stage.render()
    return np.ascontiguousarray(stage.plotter.screenshot(return_img=True)[..., :3])


def shrunk(image: Image, size: tuple[int, int]) -> Image:
    """The picture in another size."""
    from PIL import Image as pillow

    if image.shape[1::-1] == tuple(size):
        return image
    return np.asarray(pillow.fromarray(image).resize(size, pillow.Resampling.LANCZOS))


def images(
    scene: Scene, times: Any, size: tuple[int, int], camera: Any = "auto", follow: Any = None, clock: bool = False
) -> Iterator[Image]:
    """Pictures of a scene at some times, one after the other."""
    large = (SMOOTHING * size[0], SMOOTHING * size[1])
    with offscreen(scene, large, camera, follow, "A picture") as stage:
        text = stage.glass.clock() if clock else None
        for t in times:
            if text is not None:
                text.SetInput(f"t = {time_text(t, scene.start, scene.end)}")
            stage.show(float(t), render=False)
            yield shrunk(grab(stage), size)
