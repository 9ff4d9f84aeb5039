"""Views of solutions: pictures, movies, web pages, glTF, plots, reports and an interactive window.

Nothing heavy is imported before it is used; pyvista in particular only when something is rendered.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mbd.view.glb import gltf
    from mbd.view.hand import with_hand
    from mbd.view.movies import film, movie
    from mbd.view.opengl import RenderingError, can_render
    from mbd.view.page import html
    from mbd.view.pictures import picture
    from mbd.view.plots import plot
    from mbd.view.reports import report
    from mbd.view.running import live
    from mbd.view.scene import Scene
    from mbd.view.usd_file import usd
    from mbd.view.vtk_files import vtk
    from mbd.view.window import show

_LAZY = {
    "Scene": "scene", "RenderingError": "opengl", "can_render": "opengl", "film": "movies", "gltf": "glb",
    "html": "page", "live": "running", "movie": "movies", "picture": "pictures", "plot": "plots",
    "report": "reports", "show": "window", "usd": "usd_file", "vtk": "vtk_files", "with_hand": "hand",
}  # fmt: skip

__all__ = [
    "RenderingError", "Scene", "can_render", "film", "gltf", "html", "live", "movie", "picture", "plot", "report",
    "show", "usd", "vtk", "with_hand",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(f"mbd.view.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'mbd.view' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
