"""A solution shows itself in notebooks: the page in a frame, and a picture where scripts are not trusted."""

from __future__ import annotations

import html as escape
from typing import TYPE_CHECKING

from mbd.errors import MbdError
from mbd.view.opengl import can_render

if TYPE_CHECKING:
    from mbd.results.solution import Solution

MAX_BYTES = 10_000_000
FRAME_STYLE = "width:100%;height:480px;border:0;border-radius:8px"


def frame(solution: Solution) -> str | None:
    """The page inside a frame that may run scripts and nothing else; thinner for large models, text if it fails."""
    from mbd.view.page import page
    from mbd.view.scene import Scene

    try:
        scene = Scene(solution, loads=False)
        for poses in (60_000, 12_000):
            text = page(scene, max_poses=poses)
            if len(text) < MAX_BYTES:
                source = escape.escape(text, quote=True)
                return f'<iframe srcdoc="{source}" style="{FRAME_STYLE}" sandbox="allow-scripts"></iframe>'
    except MbdError as error:
        return f"<p>{escape.escape(repr(solution))}<br><small>{escape.escape(str(error))}</small></p>"
    hint = 'too large for a notebook; write it to a file: solution.html("x.html")'
    return f"<p>{escape.escape(repr(solution))}<br><small>{hint}</small></p>"


def still(solution: Solution) -> bytes | None:
    """The last picture as PNG; None where nothing can be rendered."""
    from mbd.view.pictures import picture, png_bytes

    if not can_render():
        return None
    try:
        return png_bytes(picture(solution, size=(960, 540)))
    except MbdError:
        return None
