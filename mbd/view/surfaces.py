"""Triangle surfaces of simple shapes, in plain numpy: every view draws the same ones.

Points are doubled along sharp edges, so that each point has one normal. Round shapes stand along the z-axis around the
origin; whoever uses them moves them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mbd.errors import Array, read_only

Faces = np.ndarray[Any, np.dtype[np.int32]]


@dataclass(frozen=True, eq=False)
class Surface:
    """Points (n, 3), unit normals (n, 3) and triangles (m, 3), counter-clockwise from outside."""

    points: Array
    normals: Array
    faces: Faces

    @property
    def radius(self) -> float:
        """Largest distance of a point from the origin."""
        return float(np.linalg.norm(self.points, axis=1).max()) if len(self.points) else 0.0

    def moved(self, rotation: Any = None, offset: Any = (0.0, 0.0, 0.0), scale: float = 1.0) -> Surface:
        """Scaled, then turned, then moved."""
        turn = np.eye(3) if rotation is None else np.asarray(rotation, dtype=float)
        return Surface(
            scale * self.points @ turn.T + np.asarray(offset, dtype=float), self.normals @ turn.T, self.faces
        )


def joined(*surfaces: Surface) -> Surface:
    """Several surfaces as one."""
    starts = np.cumsum([0] + [len(s.points) for s in surfaces])
    faces = [s.faces + start for s, start in zip(surfaces, starts, strict=False)]
    return Surface(
        np.concatenate([s.points for s in surfaces]),
        np.concatenate([s.normals for s in surfaces]),
        np.concatenate(faces).astype(np.int32),
    )


def _surface(points: Any, normals: Any, faces: Any) -> Surface:
    """Frozen, with unit normals."""
    normals = np.asarray(normals, dtype=float)
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
    return Surface(
        read_only(np.asarray(points, dtype=float)), read_only(normals), np.asarray(faces, dtype=np.int32).reshape(-1, 3)
    )


def revolved(profile: Any, segments: int) -> Surface:
    """Surface of revolution around z.

    ``profile`` lists straight pieces ((r, z), (r, z)) from bottom to top, or with four entries
    ((r, z), (r, z), (nr, nz), (nr, nz)) those with given normals in the (r, z) plane.
    """
    angle = 2.0 * np.pi * np.arange(segments + 1) / segments
    c, s = np.cos(angle), np.sin(angle)
    pieces = []
    for piece in profile:
        (r0, z0), (r1, z1) = piece[:2]
        if len(piece) == 4:
            n0, n1 = piece[2:]
        else:
            n0 = n1 = (z1 - z0, r0 - r1)
        points = np.concatenate([np.stack([r * c, r * s, np.full_like(c, z)], axis=1) for r, z in ((r0, z0), (r1, z1))])
        normals = np.concatenate([np.stack([n * c, n * s, np.full_like(c, m)], axis=1) for n, m in (n0, n1)])
        k = np.arange(segments)
        low, high = k, k + segments + 1
        faces = []
        if r0 > 0.0:
            faces.append(np.stack([low, low + 1, high + 1], axis=1))
        if r1 > 0.0:
            faces.append(np.stack([low, high + 1, high], axis=1))
        pieces.append(_surface(points, normals, np.concatenate(faces)))
    return joined(*pieces)


def _arc(radius: float, z: float, start: float, end: float, count: int) -> list[Any]:
    """Pieces of a circle in the (r, z) plane around (0, z), from one elevation to another."""
    angles = np.linspace(start, end, count + 1)
    c, s = np.cos(angles), np.sin(angles)
    c[np.abs(c) < 1e-12] = 0.0
    points = [(radius * a, z + radius * b) for a, b in zip(c, s, strict=True)]
    normals = list(zip(c, s, strict=True))
    return [(points[k], points[k + 1], normals[k], normals[k + 1]) for k in range(count)]


@lru_cache(maxsize=256)
def box(x: float, y: float, z: float) -> Surface:
    """Box with these edge lengths."""
    points: list[Any] = []
    normals: list[Any] = []
    faces: list[Any] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
            n = sign * np.eye(3)[axis]
            start = len(points)
            for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                points.append((n + a * u + sign * b * v) * (0.5 * x, 0.5 * y, 0.5 * z))
                normals.append(n)
            faces += [(start, start + 1, start + 2), (start, start + 2, start + 3)]
    return _surface(points, normals, faces)


@lru_cache(maxsize=256)
def cylinder(radius: float, height: float, segments: int = 40) -> Surface:
    """Cylinder with lids."""
    r, h = radius, 0.5 * height
    return revolved([((0, -h), (r, -h)), ((r, -h), (r, h)), ((r, h), (0, h))], segments)


@lru_cache(maxsize=256)
def tube(inner: float, outer: float, height: float, segments: int = 40) -> Surface:
    """Hollow cylinder."""
    h = 0.5 * height
    return revolved(
        [((inner, -h), (outer, -h)), ((outer, -h), (outer, h)), ((outer, h), (inner, h)), ((inner, h), (inner, -h))],
        segments,
    )


@lru_cache(maxsize=256)
def cone(radius: float, height: float, segments: int = 48) -> Surface:
    """Cone from its base at -height/2 to its tip at height/2, in rings so that light runs smoothly over it."""
    r, h = radius, 0.5 * height
    cuts = np.linspace(0.0, 1.0, 9)
    pieces: list[Any] = [((0, -h), (r, -h))]
    pieces += [((r * (1 - a), -h + a * height), (r * (1 - b), -h + b * height)) for a, b in itertools.pairwise(cuts)]
    return revolved(pieces, segments)


@lru_cache(maxsize=256)
def sphere(radius: float, segments: int = 32) -> Surface:
    """Ball."""
    return revolved(_arc(radius, 0.0, -0.5 * np.pi, 0.5 * np.pi, max(4, segments // 2)), segments)


@lru_cache(maxsize=256)
def ellipsoid(x: float, y: float, z: float, segments: int = 32) -> Surface:
    """Ellipsoid with these half axes."""
    unit = sphere(1.0, segments)
    return _surface(unit.points * (x, y, z), unit.normals / (x, y, z), unit.faces)


@lru_cache(maxsize=256)
def capsule(radius: float, height: float, segments: int = 32) -> Surface:
    """Cylinder with half spheres at its ends."""
    r, h, n = radius, 0.5 * height, max(2, segments // 4)
    side: list[Any] = [((r, -h), (r, h))]
    return revolved(_arc(r, -h, -0.5 * np.pi, 0.0, n) + side + _arc(r, h, 0.0, 0.5 * np.pi, n), segments)


@lru_cache(maxsize=64)
def arrow(length: float, radius: float, segments: int = 24) -> Surface:
    """Arrow from the origin along z; ``radius`` is that of its shaft."""
    head = min(0.5 * length, 5.5 * radius)
    z = length - head
    r, wide = radius, 2.4 * radius
    return revolved([((0, 0), (r, 0)), ((r, 0), (r, z)), ((r, z), (wide, z)), ((wide, z), (0, length))], segments)


def along(axis: Any) -> Array:
    """Rotation that turns z into a direction, by the smallest angle."""
    from mbd.joints.joint import smallest_rotation

    direction = np.asarray(axis, dtype=float)
    return smallest_rotation(
        np.array((0.0, 0.0, 1.0)), direction / np.linalg.norm(direction), np.array((1.0, 0.0, 0.0))
    )


def with_normals(points: Any, faces: Any, crease: float = 40.0) -> Surface:
    """A surface from a file: points are doubled where faces meet at more than ``crease`` degrees."""
    points, faces = np.asarray(points, dtype=float), np.asarray(faces, dtype=np.int64).reshape(-1, 3)
    _, index, inverse = np.unique(np.round(points, 9), axis=0, return_index=True, return_inverse=True)
    merged = inverse.reshape(-1)[faces]
    corners = points[index][merged]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(normal, axis=1)
    keep = area > 0.0
    merged, corners, normal, area = merged[keep], corners[keep], normal[keep], area[keep]
    unit = normal / area[:, None]
    # each corner of each face collects the normals of faces at the same point that are not too steep against its own
    point, face = merged.reshape(-1), np.repeat(np.arange(len(merged)), 3)
    order = np.argsort(point, kind="stable")
    bounds = np.flatnonzero(np.diff(point[order], prepend=-1, append=-1))
    smooth = np.empty((len(point), 3))
    limit = np.cos(np.radians(crease))
    for start, end in itertools.pairwise(bounds):
        rows = order[start:end]
        around = face[rows]
        near = (unit[around] @ unit[around].T) > limit
        smooth[rows] = near @ normal[around]
    return _surface(corners.reshape(-1, 3), smooth, np.arange(3 * len(merged)).reshape(-1, 3))
