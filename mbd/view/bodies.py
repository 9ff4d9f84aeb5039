"""From the shapes of bodies to solids, and a sensible shape for bodies that have none."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mbd.bodies import Body, PointMass, shapes
from mbd.errors import ZERO3, Array, ModelError
from mbd.view import surfaces
from mbd.view.pieces import Solid
from mbd.view.surfaces import Surface
from mbd.view.theme import Colour, Theme, colour

Part = tuple[tuple[Any, ...], Surface, Array, Array, str | None]  # key, surface, offset, rotation, colour


def shape_parts(shape: shapes.Shape, owner: object, theme: Theme, segments: int) -> Iterator[Part]:
    """The surfaces of a shape with their places in the body."""
    own, centre = shape.colour, np.asarray(getattr(shape, "centre", ZERO3))
    if isinstance(shape, shapes.Composite):
        for part in shape.parts:
            for key, surface, offset, turn, part_colour in shape_parts(part, owner, theme, segments):
                yield key, surface, offset, turn, part_colour or own
    elif isinstance(shape, shapes.Box):
        size = tuple(np.asarray(shape.size, dtype=float).tolist())
        yield ("box", *size), surfaces.box(*size), centre, _matrix(shape.rotation), own
    elif isinstance(shape, shapes.Sphere):
        yield ("sphere", shape.radius), surfaces.sphere(shape.radius, segments), centre, np.eye(3), own
    elif isinstance(shape, shapes.Ellipsoid):
        radii = tuple(np.asarray(shape.radii, dtype=float).tolist())
        yield ("ellipsoid", *radii), surfaces.ellipsoid(*radii, segments), centre, _matrix(shape.rotation), own
    elif isinstance(shape, shapes.Cylinder | shapes.Cone | shapes.Capsule):
        kind = type(shape).__name__.lower()
        surface = getattr(surfaces, kind)(shape.radius, shape.height, segments)
        yield (kind, shape.radius, shape.height), surface, centre, surfaces.along(shape.axis), own
    elif isinstance(shape, shapes.Frame):
        base = _matrix(shape.rotation)
        for key, surface, offset, turn, axis_colour in frame_parts(shape.size, theme):
            yield key, surface, centre + base @ offset, base @ turn, own or axis_colour
    elif isinstance(shape, shapes.Mesh):
        file = Path(shape.file)
        surface = mesh_file(file, str(owner))
        if shape.scale != 1.0:
            surface = surface.moved(scale=shape.scale)
        yield ("mesh", str(file), shape.scale), surface, centre, _matrix(shape.rotation), own
    else:
        raise ModelError(f"{owner}: no view knows the shape {type(shape).__name__}; expected one of mbd.shapes")


def frame_parts(size: float, theme: Theme) -> Iterator[Part]:
    """Three arrows along the axes."""
    for axis, axis_colour in enumerate(theme.axes):
        turn = surfaces.along(np.eye(3)[axis])
        yield ("arrow", size), surfaces.arrow(size, 0.025 * size), np.zeros(3), turn, axis_colour


def _matrix(rotation: Any) -> Array:
    return np.eye(3) if rotation is None else np.asarray(rotation)


@lru_cache(maxsize=64)
def mesh_file(file: Path, owner: str) -> Surface:
    """The triangles of a surface file."""
    if not file.is_file():
        raise ModelError(
            f"{owner}: its shape names the file '{file}', which is not there; give the path of a surface file"
        )
    try:
        import pyvista
        from vtkmodules.vtkFiltersGeometry import vtkGeometryFilter
    except ImportError:
        raise ModelError(f"{owner}: reading '{file}' needs pyvista; install it with: pip install 'mbd[view]'") from None
    try:
        data = pyvista.read(file)
        if isinstance(data, pyvista.MultiBlock):
            data = data.combine()
        surface = vtkGeometryFilter()
        surface.SetInputData(data)
        surface.Update()
        mesh = pyvista.wrap(surface.GetOutput()).triangulate()
        points, faces = np.asarray(mesh.points, dtype=float), np.asarray(mesh.regular_faces)
    except Exception as error:
        raise ModelError(
            f"{owner}: the surface file '{file}' cannot be read ({error}); expected STL, OBJ, PLY or glTF"
        ) from error
    if not len(faces):
        raise ModelError(f"{owner}: the surface file '{file}' holds no triangles; expected a closed or open surface")
    return surfaces.with_normals(points, faces)


def body_solids(body: Body, row: int, index: int, theme: Theme, segments: int, size: float) -> list[Solid]:
    """The solids of one body; ``size`` is a typical length of the scene for bodies without extent."""
    own = theme.body(index)
    if body.shape is not None:
        parts = shape_parts(body.shape, body, theme, segments)
        return [_solid(part, row, own, body) for part in parts]
    if isinstance(body, PointMass):
        radius = float(size)
        return [
            _solid(
                (("sphere", radius), surfaces.sphere(radius, segments), np.zeros(3), np.eye(3), None), row, own, body
            )
        ]
    if body.mass == 0.0:  # type: ignore[attr-defined]
        return []  # a link between joints
    return [_solid(default_part(body, segments), row, own, body)]


def _solid(part: Part, row: int, own: Colour, body: Body) -> Solid:
    key, surface, offset, turn, part_colour = part
    rgb = own if part_colour is None else colour(part_colour, f"shape of {body}")
    return Solid(
        key, surface, row, rgb, body.name, "body", np.asarray(offset, dtype=float), np.asarray(turn, dtype=float)
    )


def default_part(body: Any, segments: int) -> Part:
    """A body of uniform density with the mass properties of the body: an ellipsoid, or a disc, a
    rod or a box if it is slender or flat.

    Its half axes follow from J_1 = m (b^2 + c^2) / 5 and the same for the other two.
    """
    moments, axes = np.linalg.eigh(np.asarray(body.inertia, dtype=float))
    squares = 0.5 * (moments.sum() - 2.0 * moments) / (body.mass or 1.0)  # mean squares of the coordinates
    spread = np.sqrt(np.maximum(squares, 0.0))
    if spread.max() <= 0.0:
        return ("sphere", 0.05), surfaces.sphere(0.05, segments), body.com, np.eye(3), None
    spread = np.maximum(spread, 0.04 * spread.max())
    if np.linalg.det(axes) < 0.0:
        axes = axes * (1.0, 1.0, -1.0)
    for odd in range(3) if spread.min() < 0.35 * spread.max() else ():
        one, two = np.delete(spread, odd)
        if abs(one - two) < 0.01 * spread.max():  # a disc or a rod
            radius, height = round(2.0 * float(one), 12), round(float(np.sqrt(12.0) * spread[odd]), 12)
            cylinder = surfaces.cylinder(radius, height, segments)
            return ("cylinder", radius, height), cylinder, body.com, surfaces.along(axes[:, odd]), None
    if spread.min() < 0.35 * spread.max():
        size = tuple(float(x) for x in np.round(np.sqrt(12.0) * spread, 12))
        return ("box", *size), surfaces.box(*size), body.com, axes, None
    half = tuple(float(x) for x in np.round(np.sqrt(5.0) * spread, 12))
    return ("ellipsoid", *half), surfaces.ellipsoid(*half, segments), body.com, axes, None


def body_corners(body: Any) -> Array:
    """Corners (n, 3) of boxes around the parts of a body, body axes; its reference point if it has no extent."""
    if isinstance(body, PointMass) and body.shape is None:
        return np.zeros((1, 3))
    from mbd.view.theme import LIGHT

    parts = [default_part(body, 8)] if body.shape is None else list(shape_parts(body.shape, body, LIGHT, 8))
    corners = []
    for _, surface, offset, turn, _ in parts:
        low, high = surface.points.min(axis=0), surface.points.max(axis=0)
        box = np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
        corners.append(offset + box @ turn.T)
    return np.concatenate(corners)
