"""One HTML file with the whole animation: play, scrub, turn, pick, curves with a cursor, in any browser, offline.

The viewer is that of ``web/``: a few hundred lines of WebGL and native controls, so that pages are small, can be used
with the keyboard and by screen readers, and need nothing but a browser.
"""

from __future__ import annotations

import html as escape
import json
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any, Unpack

import numpy as np

from mbd.elements.arguments import FilePath
from mbd.io.files import write_text
from mbd.view.arguments import CameraPlace, Curves, Followed, Look, Runs, Speed
from mbd.view.camera import Camera
from mbd.view.clock import check_rate, check_speed, duration_text, frame_count
from mbd.view.curves import diagrams
from mbd.view.pictures import check_file
from mbd.view.recording import Recording
from mbd.view.runs import run_names
from mbd.view.scene import Scene
from mbd.view.shading import MAP
from mbd.view.theme import Theme, colour, contrast, legible, readable_on, to_hex

FPS = 30.0
MAX_FRAMES = 600
MAX_POSES = 100_000  # frames times moving things: about 3 MB; between frames the page interpolates
ASPECT = 1.6


def html(
    solutions: Runs, file: FilePath, *, fps: float = FPS, speed: Speed = "auto", camera: CameraPlace = "auto",
    follow: Followed | None = None, title: str | None = None, curves: Curves | None = None, **look: Unpack[Look],
) -> Path:  # fmt: skip
    """Write one HTML file that plays the solution in any browser, offline, and return its path.

    fps: keys per second of playing time, 600 at most in all; between them the page interpolates.
    speed: 0.1 plays ten times slower than real; "auto" the whole run in 5 to 10 seconds. The page can change it.
    camera: a preset or (position, target), from where it can be turned. follow: a body that stays in the middle.
    curves: channels that are drawn under the scene with a cursor: ["energy", "hinge.angle", "tip.position"].
    ``look`` holds the options of ``mbd.view.Scene``.
    """
    path = check_file(file, (".html", ".htm"))
    scene = Scene(solutions, **look)
    text = page(scene, fps=fps, speed=speed, camera=camera, follow=follow, title=title, curves=curves)
    write_text(path, text)
    return path


def page(
    scene: Scene, *, fps: float = FPS, speed: Speed = "auto", camera: CameraPlace = "auto",
    follow: Followed | None = None, title: str | None = None, max_poses: int = MAX_POSES, curves: Curves | None = None,
) -> str:  # fmt: skip
    """The text of the page."""
    rate, pace = check_rate(fps, "fps"), check_speed(speed, scene.end - scene.start)
    things = max(1, int(scene.first_rows[-1]) + len(scene.links))
    most = max(2, min(MAX_FRAMES, max_poses // things))
    times = np.linspace(scene.start, scene.end, min(most, frame_count(scene.start, scene.end, rate, pace)))
    drawn = diagrams(scene, curves)
    recording = Recording(scene, Camera(scene, camera, follow, ASPECT))
    recording.move(times)
    recording.describe(times)
    recording.data["time"]["speed"] = pace
    add = recording.block.add
    recording.data["curves"] = [
        {
            "title": d.title, "unit": d.unit,
            "lines": [
                {"label": label, "colour": shade, "dashed": dashed, "t": add(t, "f8"), "y": add(y, "f4")}
                for label, shade, dashed, t, y in d.lines
            ],
        }
        for d in drawn
    ]  # fmt: skip
    return filled("page.html", recording, title, ("scene.js", "player.js"))


def filled(template: str, recording: Recording, title: str | None, scripts: tuple[str, ...]) -> str:
    """A page of ``web/`` with everything in its place."""
    scene = recording.scene
    name = title if title is not None else scene.solutions[0].model.name
    span = duration_text(scene.end - scene.start)
    return Template(web(template)).substitute(
        root=' class="dark"' if scene.theme.dark else "",
        title=escape.escape(name),
        description=escape.escape(f"{name}: animation of {span}; the list of values names everything in it"),
        colours=css_colours(scene.theme), css=web("page.css"), legend=_legend(scene), scale=_scale(scene),
        arrows=escape.escape("\n".join(scene.arrow_scales())),
        scripts="\n".join(web(script) for script in scripts),
        block=recording.block.text(), data=embedded(recording.data),
    )  # fmt: skip


def web(name: str) -> str:
    """A file of the viewer."""
    return resources.files("mbd.view").joinpath("web", name).read_text(encoding="utf-8")


def embedded(data: Any) -> str:
    """Data as text that may stand in a script, whatever the names in it are."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_plain)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot stand on a page")


def css_colours(theme: Theme) -> str:
    """Colours of a theme by their roles on pages, with the contrasts that reading needs."""
    ground, accent = colour(theme.background), colour(theme.bodies[0])
    card = colour(theme.floor) if theme.dark else (1.0, 1.0, 1.0)
    worst = min((ground, card), key=lambda c: contrast(colour(theme.muted), c))
    roles = {
        "text": theme.text, "page": theme.background, "card": to_hex(card), "line": theme.grid,
        "muted": to_hex(legible(colour(theme.muted), worst, 4.8)),
        "edge": to_hex(legible(colour(theme.grid), card, 3.1)),
        "accent": to_hex(accent), "on-accent": to_hex(readable_on(accent)),
        "focus": to_hex(legible(accent, worst, 3.1)), "veil": f"{theme.background}b0",
    }  # fmt: skip
    return ";".join(f"--{role}:{value}" for role, value in roles.items())


def _legend(scene: Scene) -> str:
    """Which colour is which run."""
    if not scene.several:
        return ""
    entries = "".join(
        f'<li><span class="swatch" style="background:{to_hex(scene.theme.run(k))}"></span>{escape.escape(run)}</li>'
        for k, run in enumerate(run_names(scene.solutions))
    )
    return f'<ul aria-label="runs">{entries}</ul>'


def _scale(scene: Scene) -> str:
    """Which colour is which value."""
    if scene.shading is None:
        return ""
    s = scene.shading
    stops = ",".join(to_hex((rgb[0], rgb[1], rgb[2])) for rgb in MAP)
    words = f"{s.title} in {s.unit}" if s.unit else s.title
    return (
        f'<div id="scale" role="img" aria-label="colours: {escape.escape(words)}, from {s.low:.3g} to {s.high:.3g}">'
        f'{escape.escape(words)}<div class="ramp" style="background:linear-gradient(90deg,{stops})"></div>'
        f'<div class="ends"><span>{s.low:.3g}</span><span>{0.5 * (s.low + s.high):.3g}</span><span>{s.high:.3g}</span>'
        "</div></div>"
    )
