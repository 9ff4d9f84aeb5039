"""Meshes of an MJCF file: where their files are, what they look like, and what they weigh."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...bodies import shapes
from ...bodies.mass_properties import MassProperties
from ...bodies.surfaces import check_closed, read_triangles, volume_integrals
from ...errors import Array, ModelError
from ...rotation import from_quaternion
from ..xml_file import Element, shortened
from .attributes import Attributes
from .document import Document
from .tree import GeomData

IDENTITY = np.eye(3)
INERTIA = ("convex", "exact", "legacy", "shell")


@dataclass
class MeshData:
    """A mesh asset. Vertices v of the file are ``scale turn^T (v - origin)`` in the frame of a geom."""

    element: Element
    file: Path | None
    vertices: Array | None
    faces: Array | None
    scale: Array
    origin: Array
    turn: Array
    inertia: str


class Meshes:
    """Meshes and colours of materials by name."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.meshes: dict[str, MeshData] = {}
        self.colours: dict[str, Array] = {}
        settings = document.compiler
        self.folder = settings.text("meshdir") or settings.text("assetdir") or ""
        self.bare = settings.flag("strippath")
        for element in document.section("asset"):
            attributes = document.read(element, f"asset/{element.tag}")
            if attributes is None:
                continue
            document.children(element, element.tag, ("layer",) if element.tag == "material" else ())
            if element.tag == "mesh":
                self._mesh(attributes)
            elif "rgba" in attributes:
                self.colours[attributes.required("name")] = attributes.numbers("rgba", 4)

    def _mesh(self, attributes: Attributes) -> None:
        element = attributes.element
        file = attributes.text("file")
        name = attributes.text("name") or (Path(file).stem if file else None)
        if name is None:
            raise element.error("has no name and no file; expected one of them")
        if name in self.meshes:
            raise element.error(f"two meshes are named {shortened(name)!r}; expected unique names")
        vertices = faces = None
        if "vertex" in attributes:
            text = attributes.required("vertex")
            vertices = attributes.numbers("vertex", 12, len(text.split()))
            if len(vertices) % 3:
                raise attributes.error("vertex", "three numbers for every vertex")
            vertices = vertices.reshape(-1, 3)
            if "face" in attributes:
                faces = self._faces(attributes, len(vertices))
        scale = attributes.numbers("scale", 3, default=(1.0, 1.0, 1.0))
        if not scale.all():
            raise attributes.error("scale", "three numbers that are not zero")
        quaternion = attributes.numbers("refquat", 4, default=(1.0, 0.0, 0.0, 0.0))
        if not np.abs(quaternion).max() > 1e-14:
            raise attributes.error("refquat", "a quaternion that is not zero")
        self.meshes[name] = MeshData(
            element, None if file is None else self._path(file), vertices, faces, scale,
            attributes.numbers("refpos", 3, default=(0.0, 0.0, 0.0)), from_quaternion(quaternion),
            attributes.word("inertia", INERTIA, "legacy"),
        )  # fmt: skip

    def _faces(self, attributes: Attributes, count: int) -> Array:
        text = attributes.required("face")
        values = attributes.numbers("face", 3, len(text.split()))
        if len(values) % 3 or (values != np.floor(values)).any() or values.min() < 0 or values.max() >= count:
            raise attributes.error("face", f"three whole numbers below {count} for every face")
        return values.astype(int).reshape(-1, 3)

    def _path(self, file: str) -> Path:
        name = Path(file.replace("\\", "/").rpartition("/")[2] if self.bare else file)
        folder = Path(self.folder)
        return self.document.path.parent / folder / name  # an absolute part replaces what stands before it

    def _of(self, geom: GeomData) -> MeshData:
        assert geom.mesh is not None
        found = self.meshes.get(geom.mesh)
        if found is None:
            raise geom.element.error(f"mesh = {shortened(geom.mesh)!r} is not in the file; expected a mesh of <asset>")
        return found

    # --- what they look like

    def shape(self, geom: GeomData, pose: Array, colour: str | None) -> shapes.Shape | None:
        """The mesh of a geom as a shape with this pose, or None where it cannot be drawn."""
        mesh = self._of(geom)
        scale = float(mesh.scale[0])
        if mesh.file is None or scale <= 0.0 or np.ptp(mesh.scale) > 1e-9 * scale:
            what = "not drawn: mesh of the file itself" if mesh.file is None else "not drawn: mesh with several scales"
            self.document.left_out.note("asset/mesh", f"'{geom.mesh}'", what)
            return None
        turn = pose[:3, :3] @ mesh.turn.T
        return shapes.Mesh(mesh.file, scale, pose[:3, 3] - scale * turn @ mesh.origin, turn, colour=colour)

    # --- what they weigh

    def mass_properties(self, geom: GeomData) -> MassProperties:
        """Mass properties of a mesh of density one (per area for a shell) in the frame of the geom."""
        mesh = self._of(geom)
        try:
            triangles = self._triangles(mesh)
            if mesh.inertia == "shell":
                found = _surface(triangles)
            elif mesh.inertia == "legacy":
                found = _pyramids(triangles)
            else:
                if mesh.inertia == "exact":
                    check_closed(triangles, "its surface")
                found = _enclosed(triangles)
        except ModelError as error:
            raise geom.element.error(f"its mass follows from the mesh {shortened(str(geom.mesh))!r}: {error}") from None
        if not found[0] > 0.0:
            raise geom.element.error(
                f"the mesh {shortened(str(geom.mesh))!r} encloses no volume; expected a closed one"
            )
        mass, com, second = found
        central = second - mass * np.outer(com, com)
        return MassProperties(mass, com, np.trace(central) * IDENTITY - central)

    def _triangles(self, mesh: MeshData) -> Array:
        """Corners of all faces in the frame of the geom, those of the convex hull where that is meant."""
        if mesh.file is not None:
            triangles = read_triangles(mesh.file)
        elif mesh.vertices is None:
            raise ModelError("it is made by a built-in rule, which is not known here")
        else:
            faces = _hull(mesh.vertices) if mesh.faces is None else mesh.faces
            triangles = mesh.vertices[faces]
        moved = ((triangles - mesh.origin) @ mesh.turn) * mesh.scale
        if np.prod(mesh.scale) < 0.0:
            moved = moved[:, ::-1]  # a reflection turns the faces round
        if mesh.inertia == "convex":
            points = np.unique(moved.reshape(-1, 3), axis=0)
            return points[_hull(points)]
        return moved


def _hull(points: Array) -> Array:
    """Faces of the convex hull, with normals outwards."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError):
        raise ModelError("its vertices lie in a plane; expected a body") from None
    faces = hull.simplices.copy()
    a, b, c = (points[faces[:, k]] for k in range(3))
    inwards = np.einsum("ni,ni->n", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces[inwards] = faces[inwards][:, ::-1]
    return faces


def _enclosed(triangles: Array) -> tuple[float, Array, Array]:
    """Volume, centre of mass and second moments."""
    volume, first, second = volume_integrals(triangles)
    return volume, first / volume if volume else first, second


def _pyramids(triangles: Array) -> tuple[float, Array, Array]:
    """Volume, centre of mass, second moments of pyramids on all faces, none of them negative, with this centre as tip.

    The centre of mass is that of the pyramids with the centre of the surface as tip. For convex bodies this is exact.
    """
    centre = _surface(triangles)[1]
    six, total = _tetrahedra(triangles - centre)[:2]
    if not six.any():
        return 0.0, centre, np.zeros((3, 3))
    com = centre + six @ total / (4.0 * six.sum())
    six, total, squares = _tetrahedra(triangles - com)
    volume = float(six.sum()) / 6.0
    return volume, com, squares / 120.0 + volume * np.outer(com, com)


def _tetrahedra(triangles: Array) -> tuple[Array, Array, Array]:
    """Six times the volumes between the faces and the origin, without signs; sums of corners; second moments."""
    a, b, c = (triangles[:, k] for k in range(3))
    six, total = np.abs(np.einsum("ni,ni->n", a, np.cross(b, c))), a + b + c
    return six, total, np.asarray(sum(np.einsum("n,ni,nj->ij", six, x, x) for x in (a, b, c, total)))


def _surface(triangles: Array) -> tuple[float, Array, Array]:
    """Area, centre and second moments of the surface [the mean of a polynomial over a triangle]."""
    a, b, c = (triangles[:, k] for k in range(3))
    areas = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    total = a + b + c
    area = float(areas.sum())
    second = sum(np.einsum("n,ni,nj->ij", areas, x, x) for x in (a, b, c, total))
    return area, areas @ total / (3.0 * area) if area else np.zeros(3), np.asarray(second) / 12.0
