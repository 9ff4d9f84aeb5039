"""Is rendering possible here? Asked in another process, because VTK may take the interpreter down where it is not.

A positive answer is kept in the user's cache directory until the machine, the environment or the libraries change.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mbd.errors import MbdError
from mbd.io.files import write_text

PROBE = """
import os, sys
if sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
    os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkEGLRenderWindow")
import vtkmodules.vtkRenderingOpenGL2
from vtkmodules.vtkRenderingCore import vtkRenderer, vtkRenderWindow, vtkWindowToImageFilter
window, renderer, image = vtkRenderWindow(), vtkRenderer(), vtkWindowToImageFilter()
window.SetOffScreenRendering(1)
window.SetSize(16, 16)
renderer.SetBackground(1, 0, 0)
window.AddRenderer(renderer)
window.Render()
image.SetInput(window)
image.Update()
pixel = [image.GetOutput().GetScalarComponentAsDouble(8, 8, 0, k) for k in range(3)]
os._exit(0 if pixel == [255, 0, 0] else 3)
"""
TIMEOUT = 30.0
HINT = "on Debian and Ubuntu install the packages: apt install libegl1 libgl1"

_answer: str | None = None


class RenderingError(MbdError):
    """Pictures cannot be rendered here; the message says what to install."""

    general_code = "MBD-E10"


def obstacle(fresh: bool = False) -> str:
    """Why rendering is not possible here, in one sentence; empty if it is."""
    global _answer
    if _answer is None or fresh:
        _answer = _find_obstacle(fresh)
    return _answer


def _find_obstacle(fresh: bool) -> str:
    if importlib.util.find_spec("pyvista") is None:
        return "Pictures need pyvista, which is not installed: pip install 'mbd[view]'."
    if not fresh and _known_to_work():
        return ""
    try:
        code = subprocess.run(
            [sys.executable, "-c", PROBE], stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT
        ).returncode
    except subprocess.TimeoutExpired:
        return f"OpenGL did not answer within {TIMEOUT:.0f} s, so no pictures are rendered; {HINT}."
    if code == 0:
        _remember()
        return ""
    how = "crashed" if code < 0 else "failed"
    return f"OpenGL {how} in a trial, so no pictures are rendered; {HINT}."


def can_render() -> bool:
    """Whether pictures can be rendered here."""
    return not obstacle()


def require(what: str) -> None:
    """Raise a RenderingError if rendering is not possible."""
    if reason := obstacle():
        raise RenderingError(f"{what} cannot be made. {reason}")


def warn_if_missing(what: str) -> bool:
    """Whether rendering is possible; if not, one warning says what is left out and why."""
    reason = obstacle()
    if reason:
        warnings.warn(f"{what} left out. {reason}", RuntimeWarning, stacklevel=3)
    return not reason


def pyvista_module() -> Any:
    """pyvista, imported in such a way that it is quiet and off-screen where there is no display."""
    if sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
        os.environ.setdefault("VTK_DEFAULT_OPENGL_WINDOW", "vtkEGLRenderWindow")
    with without_hints():
        import pyvista

    return pyvista


@contextmanager
def without_hints() -> Iterator[None]:
    """Imports of packages that recommend further packages in notebooks."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="IProgress not found")
        yield


# --- the answer of an earlier process


def _cache_file() -> Path:
    base = os.environ.get("MBD_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "mbd" / "opengl.json"


def _fingerprint() -> str:
    """Changes with everything on which the answer depends."""
    facts: list[object] = [platform.node(), sys.prefix, sys.version]
    facts += [
        os.environ.get(name) for name in ("DISPLAY", "VTK_DEFAULT_OPENGL_WINDOW", "LD_LIBRARY_PATH", "LD_PRELOAD")
    ]
    try:
        facts.append(importlib.metadata.version("vtk"))
    except importlib.metadata.PackageNotFoundError:
        facts.append(None)
    for folder in ("/lib", "/usr/lib", "/usr/lib64", "/usr/local/lib", f"/usr/lib/{platform.machine()}-linux-gnu"):
        for library in ("libEGL.so.1", "libGL.so.1"):
            file = Path(folder) / library
            facts.append(file.stat().st_mtime_ns if file.exists() else None)
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _known_to_work() -> bool:
    try:
        return _fingerprint() in json.loads(_cache_file().read_text())
    except (OSError, ValueError):
        return False


def _remember() -> None:
    """Only successes are stored: installing a missing library must help at once."""
    file = _cache_file()
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # compiled code is kept there as well
        try:
            known = list(json.loads(file.read_text()))
        except (OSError, ValueError):
            known = []
        write_text(file, json.dumps([*known[-20:], _fingerprint()]))
    except OSError:
        pass
