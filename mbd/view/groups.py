"""Solids on a pyvista plotter: one glyph mapper for each distinct surface, so that a thousand cost a few calls."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbd.errors import Array
from mbd.view.motion import quaternions
from mbd.view.opengl import pyvista_module
from mbd.view.pieces import Poses, Solid, stretch
from mbd.view.surfaces import Surface
from mbd.view.theme import Colour


def polydata(surface: Surface) -> Any:
    """The surface for VTK, with its normals; always a copy."""
    pv = pyvista_module()
    faces = np.column_stack((np.full(len(surface.faces), 3), surface.faces)).ravel()
    data = pv.PolyData(np.array(surface.points, dtype=np.float32), faces)
    data.point_data.active_normals = np.array(surface.normals, dtype=np.float32)
    return data


def material(actor: Any) -> None:
    """How things reflect light."""
    look = actor.GetProperty()
    look.SetAmbient(0.32)
    look.SetDiffuse(0.75)
    look.SetSpecular(0.18)
    look.SetSpecularPower(20.0)
    look.SetInterpolationToPhong()


def flat(actor: Any, rgb: Colour) -> None:
    """One colour, without light."""
    look = actor.GetProperty()
    look.LightingOff()
    look.SetAmbient(0.0)  # the shares of a material still count without light
    look.SetDiffuse(1.0)
    look.SetSpecular(0.0)
    look.SetColor(*rgb)


class Group:
    """All solids with the same surface, or with the same one in many sizes (``unit``)."""

    def __init__(self, solids: list[Solid], shadow: Colour | None, layer: int = 0, unit: Surface | None = None) -> None:
        from vtkmodules.util.numpy_support import numpy_to_vtk
        from vtkmodules.vtkRenderingCore import vtkActor, vtkGlyph3DMapper

        pv = pyvista_module()
        self.rows = np.array([s.body for s in solids])
        self.offsets = np.array([s.offset for s in solids])
        self.turns = np.array([s.turn for s in solids])
        self.roles = {s.role for s in solids}
        self.cloud = pv.PolyData(np.zeros((len(solids), 3), dtype=np.float32) + np.arange(len(solids))[:, None])
        self.quaternions = np.zeros((len(solids), 4), dtype=np.float32)
        self._vtk_quaternions = numpy_to_vtk(self.quaternions)
        self._vtk_quaternions.SetName("turn")
        self.cloud.GetPointData().AddArray(self._vtk_quaternions)
        self.colours = (255.0 * np.array([s.colour for s in solids])).round().astype(np.uint8)
        self._vtk_colours = numpy_to_vtk(self.colours)
        self._vtk_colours.SetName("colour")
        self.cloud.GetPointData().AddArray(self._vtk_colours)
        self.source = polydata(solids[0].surface if unit is None else unit)
        if unit is not None:
            self._vtk_sizes = numpy_to_vtk(np.array([stretch(s) for s in solids], dtype=np.float32), deep=True)
            self._vtk_sizes.SetName("size")
            self.cloud.GetPointData().AddArray(self._vtk_sizes)
        self.actors = []
        for is_shadow in (False, True) if shadow is not None else (False,):
            mapper = vtkGlyph3DMapper()
            mapper.SetInputData(self.cloud)
            mapper.SetSourceData(self.source)
            mapper.SetScaling(unit is not None)
            if unit is not None:
                mapper.SetScaleModeToScaleByVectorComponents()
                mapper.SetScaleArray("size")
            mapper.SetOrientationModeToQuaternion()
            mapper.SetOrientationArray("turn")
            actor = vtkActor()
            if is_shadow and shadow is not None:
                mapper.ScalarVisibilityOff()
                flat(actor, shadow)
            else:
                mapper.SetScalarModeToUsePointFieldData()
                mapper.SelectColorArray("colour")
                mapper.SetColorModeToDirectScalars()
                material(actor)
            if layer and not is_shadow:  # equal bodies of several runs at the same place: the first run is seen
                mapper.SetResolveCoincidentTopologyToPolygonOffset()
                mapper.SetRelativeCoincidentTopologyPolygonOffsetParameters(2.0 * layer, 8.0 * layer)
            actor.SetMapper(mapper)
            self.actors.append(actor)

    def update(self, poses: Poses) -> None:
        """Move all solids."""
        p, r = poses[0][self.rows], poses[1][self.rows]
        self.cloud.points[:] = p + np.einsum("nij,nj->ni", r, self.offsets)
        self.quaternions[:] = quaternions(r @ self.turns)
        self._vtk_quaternions.Modified()
        self.cloud.GetPoints().Modified()
        self.cloud.Modified()

    def repaint(self, rgb: Array) -> None:
        """Other colours, (n, 3) between 0 and 255."""
        self.colours[:] = rgb
        self._vtk_colours.Modified()
        self.cloud.Modified()
