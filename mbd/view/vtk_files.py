"""Series of VTK files for ParaView: surfaces at equal times with the body, colour, speed and force of every face."""

from __future__ import annotations

import base64
import html as escape
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from mbd.elements.arguments import FilePath
from mbd.errors import check_number
from mbd.io.files import write_text
from mbd.view.arguments import Look, Runs
from mbd.view.pictures import check_file
from mbd.view.scene import Scene
from mbd.view.shading import Shading

KINDS = {"f4": "Float32", "f8": "Float64", "i4": "Int32", "i8": "Int64", "u1": "UInt8"}


def vtk(solutions: Runs, file: FilePath, *, count: int = 200, **look: Unpack[Look]) -> Path:
    """Write a .pvd file for ParaView with one .vtp file for each of ``count`` equal times in a folder beside it.

    Every face carries ``element`` (a number; the names are in ``element_names``), ``run``, ``colour``, and of its body
    ``speed``, ``kinetic_energy`` and ``reaction``. ``look`` holds the options of ``mbd.view.Scene``.
    """
    path = check_file(file, (".pvd",))
    number = int(check_number(count, "view", "count", positive=True))
    scene = Scene(solutions, **look)
    folder = path.with_suffix("")
    folder.mkdir(exist_ok=True)
    times = np.linspace(scene.start, scene.end, number if scene.end > scene.start else 1)
    static = Static(scene)
    entries = []
    for k, t in enumerate(times):
        name = f"{folder.name}_{k:05d}.vtp"
        write_text(folder / name, static.at(float(t)))
        place = escape.escape(f"{folder.name}/{name}", quote=True)
        entries.append(f'<DataSet timestep="{float(t)!r}" group="" part="0" file="{place}"/>')
    body = "\n".join(entries)
    write_text(
        path,
        '<?xml version="1.0"?>\n<VTKFile type="Collection" version="1.0" byte_order="LittleEndian">\n'
        f"<Collection>\n{body}\n</Collection>\n</VTKFile>\n",
    )
    return path


class Static:
    """What does not change with time: faces and the numbers of their elements."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.shadings = {
            "speed": Shading(scene, "speed"), "kinetic_energy": Shading(scene, "energy"),
            "reaction": Shading(scene, "reaction"),
        }  # fmt: skip
        pieces: list[Any] = [*scene.solids, *scene.links]
        names = list(dict.fromkeys(piece.owner for piece in pieces))
        faces, owner, row, rgb, start = [], [], [], [], 0
        for piece in pieces:
            n = len(piece.surface.faces)
            faces.append(piece.surface.faces + start)
            owner += [names.index(piece.owner)] * n
            row += [getattr(piece, "body", -1)] * n
            rgb.append(np.tile(np.round(255.0 * np.array(piece.colour)), (n, 1)))
            start += len(piece.surface.points)
        self.names, self.points = names, start
        self.faces = np.concatenate(faces).astype(np.int64)
        self.row = np.array(row)
        runs = np.searchsorted(scene.first_rows, np.maximum(self.row, 0), side="right") - 1
        self.fixed = [
            data_array("element", np.array(owner), "i4"), data_array("run", runs, "i4"),
            data_array("colour", np.concatenate(rgb), "u1"),
        ]  # fmt: skip

    def at(self, t: float) -> str:
        """The text of the file of a time."""
        scene = self.scene
        poses = scene.poses(t)
        places, normals = [], []
        for solid in scene.solids:
            place, turn = solid.pose(poses)
            places.append(place + solid.surface.points @ turn.T)
            normals.append(solid.surface.normals @ turn.T)
        for link in scene.links:
            points, directions = link.placed(poses, t)
            places.append(points)
            normals.append(directions)
        cells = list(self.fixed)
        for name, shading in self.shadings.items():
            values = np.full(int(scene.first_rows[-1]) + 1, 0.0)  # the last is for what belongs to no body
            for row, value in shading.values(t).items():
                values[row] = value
            cells.append(data_array(name, values[self.row], "f4"))
        n = len(self.faces)
        offsets = data_array("offsets", 3 * np.arange(1, n + 1), "i8")
        names = " ".join(str(ord(c)) for c in "\n".join(self.names)) + " 0"
        words = f'<Array type="String" Name="element_names" NumberOfTuples="1" format="ascii">{names}</Array>'
        return (
            '<?xml version="1.0"?>\n'
            '<VTKFile type="PolyData" version="1.0" byte_order="LittleEndian" header_type="UInt64">\n<PolyData>\n'
            f"<FieldData>{data_array('TimeValue', np.array([t]), 'f8', 1)}{words}</FieldData>\n"
            f'<Piece NumberOfPoints="{self.points}" NumberOfVerts="0" NumberOfLines="0" NumberOfStrips="0" '
            f'NumberOfPolys="{n}">\n<PointData Normals="Normals">'
            f"{data_array('Normals', np.concatenate(normals), 'f4')}</PointData>\n"
            f'<CellData Scalars="speed">{"".join(cells)}</CellData>\n'
            f"<Points>{data_array('Points', np.concatenate(places), 'f4')}</Points>\n"
            f"<Polys>{data_array('connectivity', self.faces.ravel(), 'i8')}{offsets}</Polys>\n"
            "</Piece>\n</PolyData>\n</VTKFile>\n"
        )


def data_array(name: str, values: Any, kind: str, tuples: int | None = None) -> str:
    """An array of the XML format, as numbers in base 64 after their length in bytes."""
    array = np.ascontiguousarray(values, dtype=f"<{kind}")
    data = array.tobytes()
    text = base64.b64encode(np.array([len(data)], dtype="<u8").tobytes() + data).decode()
    parts = f' NumberOfComponents="{array.shape[1]}"' if array.ndim > 1 else ""
    count = f' NumberOfTuples="{tuples}"' if tuples is not None else ""
    return f'<DataArray type="{KINDS[kind]}" Name="{name}"{parts}{count} format="binary">{text}</DataArray>\n'
