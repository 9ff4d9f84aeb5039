"""Closed triangle surfaces from STL and OBJ files, and the integrals over the volume that they enclose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mbd.errors import Array, ModelError

WELD = 1e-7  # vertices closer than this fraction of the size of the surface are one vertex


def read_triangles(path: Any) -> Array:
    """Corners of all triangles of an STL (binary or text) or OBJ file: (n, 3, 3)."""
    file = Path(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ModelError(f"{file}: cannot be read ({error.strerror}); expected an STL or OBJ file") from None
    kind = file.suffix.lower()
    if kind == ".obj":
        triangles = _read_obj(file, content)
    elif kind == ".stl":
        triangles = _read_stl(file, content)
    else:
        raise ModelError(f"{file}: its format is not known; expected a file named .stl or .obj")
    if len(triangles) == 0:
        raise ModelError(f"{file}: contains no triangles")
    if not np.isfinite(triangles).all():
        raise ModelError(f"{file}: contains coordinates that are not finite")
    return triangles


def _read_stl(file: Path, content: bytes) -> Array:
    if len(content) >= 84:
        count = int.from_bytes(content[80:84], "little")
        if len(content) == 84 + 50 * count:
            records = np.frombuffer(content, dtype=[("v", "<f4", (4, 3)), ("extra", "<u2")], offset=84, count=count)
            return records["v"][:, 1:].astype(float)
    if not content.lstrip()[:5].lower() == b"solid":
        raise ModelError(f"{file}: is no STL file, or it ends early ({len(content)} bytes)")
    corners = []
    for number, line in enumerate(content.decode(errors="replace").splitlines(), 1):
        words = line.split()
        if words and words[0].lower() == "vertex":
            corners.append(_numbers(file, number, words[1:4]))
    if len(corners) % 3:
        raise ModelError(f"{file}: ends in the middle of a triangle ({len(corners)} corners)")
    return np.array(corners).reshape(-1, 3, 3)


def _read_obj(file: Path, content: bytes) -> Array:
    vertices: list[list[float]] = []
    triangles: list[list[int]] = []
    for number, line in enumerate(content.decode(errors="replace").splitlines(), 1):
        words = line.split()
        if not words:
            continue
        if words[0] == "v":
            vertices.append(_numbers(file, number, words[1:4]))
        elif words[0] == "f":
            try:
                corners = [int(word.split("/")[0]) for word in words[1:]]
            except ValueError:
                raise ModelError(f"{file}, line {number}: {line.strip()!r}; expected numbers of vertices") from None
            corners = [c - 1 if c > 0 else len(vertices) + c for c in corners]
            if len(corners) < 3 or not all(0 <= c < len(vertices) for c in corners):
                raise ModelError(f"{file}, line {number}: {line.strip()!r}; expected at least three known vertices")
            triangles += [[corners[0], corners[k], corners[k + 1]] for k in range(1, len(corners) - 1)]
    return np.array(vertices, dtype=float).reshape(-1, 3)[np.array(triangles, dtype=int).reshape(-1, 3)]


def _numbers(file: Path, number: int, words: list[str]) -> list[float]:
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if len(values) != 3:
        raise ModelError(f"{file}, line {number}: {' '.join(words)!r}; expected three coordinates")
    return values


def check_closed(triangles: Array, where: object) -> None:
    """Refuse a surface that has a hole, or triangles that are turned against their neighbours."""
    corners = triangles.reshape(-1, 3)
    size = float(np.ptp(corners, axis=0).max())
    keys = np.round((corners - corners.min(axis=0)) / (WELD * size)).astype(np.int64)
    _, index = np.unique(keys, axis=0, return_inverse=True)
    faces = index.reshape(-1, 3)
    faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])]
    edges = np.concatenate((faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]])).astype(np.int64)
    count = int(index.max()) + 1
    there = np.sort(edges[:, 0] * count + edges[:, 1])
    back = np.sort(edges[:, 1] * count + edges[:, 0])
    if not np.array_equal(there, back):
        bad = len(np.setxor1d(there, back))
        raise ModelError(
            f"{where}: the surface is not closed, or some triangles are turned inside out ({bad} edges do not match); "
            "expected a closed surface with all normals outwards. Repair it in a mesh program, or give mass and inertia"
        )


def volume_integrals(triangles: Array) -> tuple[float, Array, Array]:
    """Volume, first moments and second moments (integral of x x^T) inside a closed surface.

    Sum over the tetrahedra of the origin and each triangle, for which polynomials integrate exactly
    [Tonon 2004, J. Math. Stat. 1, 8]; triangles count with the sign of their orientation.
    """
    centre = triangles.reshape(-1, 3).mean(axis=0)  # near the surface: less cancellation
    a, b, c = (triangles[:, k] - centre for k in range(3))
    six = np.einsum("ni,ni->n", a, np.cross(b, c))
    total = a + b + c
    volume = float(six.sum()) / 6.0
    first = six @ total / 24.0
    squares = sum(np.einsum("n,ni,nj->ij", six, x, x) for x in (a, b, c, total))
    second = np.asarray(squares) / 120.0
    moved = second + np.outer(first, centre) + np.outer(centre, first) + volume * np.outer(centre, centre)
    return volume, first + volume * centre, moved
