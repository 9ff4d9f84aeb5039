"""Pictures of a solution: what ``mbd.view`` makes of it, as methods of the solution itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..elements.arguments import FilePath, Numbers

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from ..view.render import Image
    from .solution import Solution


class Drawn:
    """The part of a solution that draws."""

    @property
    def _solution(self) -> Solution:
        return self  # type: ignore[return-value]

    def plot(self, what: str, file: FilePath | None = None, **options: Any) -> Figure:
        """Plot "energy", "momentum", "constraints", "trajectory", "reactions" or a quantity; see ``mbd.view.plot``."""
        from ..view.plots import plot

        return plot(self._solution, what, file, **options)

    def picture(self, file: FilePath | None = None, t: Numbers | None = None, **options: Any) -> Image | None:
        """Render a picture at a time, or a strip of several times; see ``mbd.view.picture``."""
        if file is not None and str(file).lower().endswith((".svg", ".pdf", ".eps")):  # drawn without OpenGL
            from ..view.pictures import picture

            return picture(self._solution, file, t, **options)
        return _rendered("picture", self, file, t, **options)

    def movie(self, file: FilePath, **options: Any) -> Path | None:
        """Write a movie: mp4, webm, mkv, mov or gif; see ``mbd.view.movie``."""
        return _rendered("movie", self, file, **options)

    def show(self, **options: Any) -> None:
        """Open a window with the animation; see ``mbd.view.show``."""
        _rendered("show", self, **options)

    def html(self, file: FilePath, **options: Any) -> Path:
        """Write one HTML file that plays the motion in any browser, offline; see ``mbd.view.html``."""
        from ..view.page import html

        return html(self._solution, file, **options)

    def gltf(self, file: FilePath, **options: Any) -> Path:
        """Write a .glb file with the animation inside; see ``mbd.view.gltf``."""
        from ..view.glb import gltf

        return gltf(self._solution, file, **options)

    def usd(self, file: FilePath, **options: Any) -> Path:
        """Write a .usda file with the animation inside; see ``mbd.view.usd``."""
        from ..view.usd_file import usd

        return usd(self._solution, file, **options)

    def vtk(self, file: FilePath, **options: Any) -> Path:
        """Write a series of VTK files for ParaView; see ``mbd.view.vtk``."""
        from ..view.vtk_files import vtk

        return vtk(self._solution, file, **options)

    def report(self, file: FilePath, **options: Any) -> Path:
        """Write a report on one HTML page: model, diagnosis, run, plots and a picture; see ``mbd.view.report``."""
        from ..view.reports import report

        return report(self._solution, file, **options)

    def _repr_html_(self) -> str | None:
        """The animation in a notebook."""
        from ..view.notebook import frame

        return frame(self._solution)

    def _repr_png_(self) -> bytes | None:
        """A picture for notebooks that are not trusted to run scripts."""
        from ..view.notebook import still

        return still(self._solution)


def _rendered(name: str, *arguments: Any, **options: Any) -> Any:
    """Call a view that needs OpenGL; where it is missing, one warning says so and everything else goes on."""
    import warnings

    from .. import view
    from ..view.opengl import RenderingError

    try:
        return getattr(view, name)(*arguments, **options)
    except RenderingError as error:
        warnings.warn(str(error), RuntimeWarning, stacklevel=3)
        return None
