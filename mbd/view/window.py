"""The interactive window of one or several solutions."""

from __future__ import annotations

import os
import sys
from typing import Any, Unpack

from mbd.view import opengl
from mbd.view.arguments import CameraPlace, Curves, Followed, Look, Runs, Size, Speed
from mbd.view.player import Window
from mbd.view.render import check_size
from mbd.view.runs import run_list


def show(
    solutions: Runs, *, speed: Speed = "auto", loop: bool = True, play: bool = True, size: Size = (1280, 720),
    camera: CameraPlace = "auto", follow: Followed | None = None, curves: Curves | None = None,
    **look: Unpack[Look],
) -> None:  # fmt: skip
    """Open a window with the animation; returns when it is closed. ``solutions`` is one or a list of several runs.

    curves: channels that are drawn under the scene with a cursor, three diagrams at most.
    speed: 2 plays twice as fast as real; "auto" the whole run in 5 to 10 seconds. Keys and slider change it.
    """
    runs = run_list(solutions)
    opengl.require("A window")
    if not has_display():
        raise opengl.RenderingError(
            'There is no display here, so no window can be opened; write solution.html("x.html") or '
            'solution.movie("x.mp4") instead, or set DISPLAY.'
        )
    pv = opengl.pyvista_module()
    width, height = check_size(size)
    plotter = pv.Plotter(window_size=[width, height], notebook=False, title=f"{runs[0].model.name} - mbd")
    try:
        plotter.disable_anti_aliasing()
        plotter.render_window.SetMultiSamples(0 if software(plotter) else 4)
        Window(plotter, runs, speed=speed, loop=loop, play=play, camera=camera, follow=follow, curves=curves, **look)
        plotter.show(auto_close=False)
    finally:
        plotter.close()


def has_display() -> bool:
    """Whether a window can be seen."""
    if not sys.platform.startswith("linux"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def software(plotter: Any) -> bool:
    """Whether the processor draws, which is slow with many samples per pixel."""
    try:
        text = plotter.render_window.ReportCapabilities().lower()
    except Exception:
        return True
    return "llvmpipe" in text or "swrast" in text or "software" in text
