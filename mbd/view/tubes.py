"""Trails as tubes: made once for the whole path, and shown up to the present."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbd.errors import Array
from mbd.view.opengl import pyvista_module


class Tube:
    """A tube along a path of which the first part is shown, with its end at the moving point."""

    def __init__(self, places: Array, radius: float, sides: int = 6) -> None:
        pv = pyvista_module()
        self.sides, self.radius = sides, radius
        self.places = np.asarray(places, dtype=float)
        points, self.normals = tube_points(self.places, radius, sides)
        # one more ring at the end follows the moving point
        self.full = points.reshape(-1, sides, 3)
        n = len(self.full)
        i, j = np.meshgrid(np.arange(max(n - 1, 0)), np.arange(sides), indexing="ij")
        a, b = i * sides + j, i * sides + (j + 1) % sides
        quads = np.stack((np.full_like(a, 4), a, b, b + sides, a + sides), axis=-1).reshape(-1, 5)
        self.quads = quads
        self.data = pv.PolyData()
        self.data.points = np.array(points, dtype=np.float32)
        self.data.point_data.active_normals = np.array(self.normals, dtype=np.float32)
        self._moved = -1
        self._count = -1
        self.show(0, self.places[0])

    def show(self, count: int, place: Array) -> None:
        """Show the first ``count`` places and the way from there to the moving point."""
        n, points = len(self.full), self.data.points
        if self._moved >= 0:
            points[self._moved * self.sides : (self._moved + 1) * self.sides] = self.full[self._moved]
            self._moved = -1
        rings = min(max(count, 1), n)
        if rings < n:  # not so of a single record
            ring = points[rings * self.sides : (rings + 1) * self.sides]
            ring[:] = self.full[rings] + (place - self.places[rings])
            self._moved = rings
            rings += 1
        if rings != self._count:
            cells = self.quads[: (rings - 1) * self.sides]
            self.data.faces = cells.ravel() if len(cells) else np.zeros(0, dtype=int)
            self._count = rings
        self.data.GetPoints().Modified()
        self.data.Modified()


def tube_points(places: Array, radius: float, sides: int) -> tuple[Array, Array]:
    """Points and normals (n * sides, 3) of rings around a path, without twist."""
    n = len(places)
    tangent = np.gradient(places, axis=0) if n > 1 else np.tile((0.0, 0.0, 1.0), (n, 1))
    size = np.linalg.norm(tangent, axis=1)
    known = np.flatnonzero(size > 1e-12 * max(float(size.max(initial=0.0)), 1e-300))
    if len(known):
        nearest = known[np.clip(np.searchsorted(known, np.arange(n)), 0, len(known) - 1)]
        tangent, size = tangent[nearest], size[nearest]
        tangent = tangent / size[:, None]
    else:
        tangent = np.tile((0.0, 0.0, 1.0), (n, 1))
    side = np.empty((n, 3))
    last: Any = np.eye(3)[int(np.argmin(np.abs(tangent[0])))] if n else None
    for k in range(n):  # carry the first normal along the path
        last = last - (last @ tangent[k]) * tangent[k]
        length = float(np.linalg.norm(last))
        if length < 1e-6:
            last = np.cross(tangent[k], np.eye(3)[int(np.argmin(np.abs(tangent[k])))])
            length = float(np.linalg.norm(last))
        last = last / length
        side[k] = last
    other = np.cross(tangent, side)
    around = 2.0 * np.pi * np.arange(sides) / sides
    normals = np.cos(around)[None, :, None] * side[:, None] + np.sin(around)[None, :, None] * other[:, None]
    return (places[:, None] + radius * normals).reshape(-1, 3), normals.reshape(-1, 3)
