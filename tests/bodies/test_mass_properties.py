"""Mass properties: closed formulas, the same solids as surfaces, composites, damaged files."""

from __future__ import annotations

import struct
from itertools import pairwise

import numpy as np
import pytest

import mbd
from mbd.bodies.mass_properties import MassProperties, composite, mass_properties
from mbd.bodies.shapes import Box, Capsule, Composite, Cone, Cylinder, Frame, Mesh, Sphere

CUBE = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def write_obj(path, vertices, faces):
    lines = [f"v {x} {y} {z}" for x, y, z in vertices] + ["f " + " ".join(str(i + 1) for i in f) for f in faces]
    path.write_text("\n".join(lines))
    return path


def write_stl(path, triangles, binary=True):
    if binary:
        data = b"".join(struct.pack("<12fH", 0, 0, 0, *np.ravel(t), 0) for t in triangles)
        path.write_bytes(b"\0" * 80 + struct.pack("<I", len(triangles)) + data)
    else:
        facets = "".join(
            "facet normal 0 0 0\nouter loop\n"
            + "".join(f"vertex {x} {y} {z}\n" for x, y, z in t)
            + "endloop\nendfacet\n"
            for t in triangles
        )
        path.write_text(f"solid x\n{facets}endsolid x\n")
    return path


def revolved(profile, n=400):
    """Triangles of the solid that a profile of (radius, z) sweeps about z; exact as n grows."""
    angles = np.linspace(0, 2 * np.pi, n, endpoint=False)
    rings = [np.column_stack((r * np.cos(angles), r * np.sin(angles), np.full(n, z))) for r, z in profile]
    triangles = []
    for low, high in pairwise(rings):
        low_next, high_next = np.roll(low, -1, axis=0), np.roll(high, -1, axis=0)
        triangles += [np.stack((low, low_next, high_next), axis=1), np.stack((low, high_next, high), axis=1)]
    return np.concatenate(triangles)


def same(a, b, rel=1e-12):
    assert a.mass == pytest.approx(b.mass, rel=rel)
    assert a.com == pytest.approx(b.com, abs=rel)
    scale = np.abs(b.inertia).max()
    assert a.inertia == pytest.approx(b.inertia, abs=rel * scale)


@pytest.mark.parametrize("suffix", ["obj", "binary stl", "text stl"])
def test_a_box_from_a_file(tmp_path, suffix):
    size = np.array((1.0, 2.0, 0.5))
    vertices = (CUBE - 0.5) * size + (3, 0, 1)
    if suffix == "obj":
        file = write_obj(tmp_path / "box.obj", vertices, QUADS)
    else:
        triangles = [vertices[[q[0], q[k], q[k + 1]]] for q in QUADS for k in (1, 2)]
        file = write_stl(tmp_path / "box.stl", triangles, suffix == "binary stl")
    same(mass_properties(Mesh(file=file), 700.0), mass_properties(Box(tuple(size), centre=(3, 0, 1)), 700.0))
    turned = mass_properties(Mesh(file=file, scale=2.0, rotation=mbd.rotation((0, 0, 0.3)), centre=(0, 1, 0)), 10.0)
    turn = mbd.rotation((0, 0, 0.3))
    whole = mass_properties(Box(tuple(2 * size), centre=turn @ (6, 0, 2) + (0, 1, 0), rotation=turn), 10.0)
    same(turned, whole)


@pytest.mark.parametrize(
    ("shape", "profile"),
    [
        (Cylinder(radius=0.3, height=2.0), [(0, -1), (0.3, -1), (0.3, 1), (0, 1)]),
        (Cone(radius=0.4, height=1.5), [(0, -0.75), (0.4, -0.75), (0, 0.75)]),
        (Sphere(radius=0.5), [(0.5 * np.sin(a), -0.5 * np.cos(a)) for a in np.linspace(0, np.pi, 201)]),
        (
            Capsule(radius=0.2, height=1.0),
            [(0.2 * np.sin(a), -0.5 - 0.2 * np.cos(a)) for a in np.linspace(0, np.pi / 2, 101)]
            + [(0.2 * np.cos(a), 0.5 + 0.2 * np.sin(a)) for a in np.linspace(0, np.pi / 2, 101)],
        ),
    ],
    ids=lambda x: type(x).__name__,
)
def test_round_solids_agree_with_their_surfaces(tmp_path, shape, profile):
    from mbd.bodies.surfaces import volume_integrals

    volume, first, second = volume_integrals(revolved(profile))
    exact = mass_properties(shape, 1.0)
    inertia = (
        np.trace(second) * np.eye(3)
        - second
        - volume * (np.dot(exact.com, exact.com) * np.eye(3) - np.outer(exact.com, exact.com))
    )
    assert volume == pytest.approx(exact.mass, rel=2e-4)
    assert first / volume == pytest.approx(exact.com, abs=1e-4)
    assert inertia == pytest.approx(exact.inertia, abs=4e-4 * np.abs(exact.inertia).max())


def test_axis_and_centre():
    along_x = mass_properties(Cylinder(radius=0.1, height=1.0, axis=(1, 0, 0), centre=(2, 0, 0)), mass=3.0)
    assert along_x.mass == pytest.approx(3.0)
    assert along_x.com.tolist() == [2, 0, 0]
    assert np.diag(along_x.inertia) == pytest.approx((0.5 * 3 * 0.01, *(3 * (0.03 + 1) / 12,) * 2))


def test_composite_is_independent_of_how_a_body_is_cut():
    whole = mass_properties(Box((2, 1, 1)), 5.0)
    halves = composite([(Box((1, 1, 1), centre=(-0.5, 0, 0)), 5.0), (Box((1, 1, 1), centre=(0.5, 0, 0)), 5.0)])
    same(halves, whole)
    same(
        mass_properties(Composite(Box((1, 1, 1), centre=(-0.5, 0, 0)), Box((1, 1, 1), centre=(0.5, 0, 0))), 5.0), whole
    )


def test_bodies_as_parts():
    rod = mbd.RigidBody(
        "rod", 1.0, (0, 1 / 12, 1 / 12), mbd.nodes.RotationVector(rotation=mbd.rotation((0, 0, np.pi / 2)))
    )
    total = composite([rod, mbd.PointMass("tip", 2.0, (0, 0.5, 0))])
    assert total.mass == 3.0 and total.com == pytest.approx((0, 1 / 3, 0))
    assert total.inertia[2, 2] == pytest.approx(1 / 12 + 1 / 9 + 2 * (0.5 - 1 / 3) ** 2)
    assert total.inertia[1, 1] == pytest.approx(0, abs=1e-15)


def test_body_with_these_properties():
    body = mass_properties(Cone(radius=0.3, height=1.0, axis=(0, -1, 0), tip=(0, 0, 0)), mass=2.0).body("top")
    assert body.com == pytest.approx((0, 0.75, 0)) and body.mass == 2.0
    assert body.inertia[1, 1] == pytest.approx(0.3 * 2 * 0.09)


def test_steiner():
    ball = MassProperties(2.0, (1, 0, 0), (0.1, 0.1, 0.1))
    assert ball.about((0, 0, 0))[1, 1] == pytest.approx(2.1)
    assert ball.centred().com.tolist() == [0, 0, 0]


def test_damaged_surfaces(tmp_path):
    hole = write_obj(tmp_path / "hole.obj", CUBE, QUADS[:-1])
    with pytest.raises(mbd.ModelError, match="not closed, or some triangles are turned inside out"):
        mass_properties(Mesh(file=hole), 1.0)
    turned = write_obj(tmp_path / "inside.obj", CUBE, [q[::-1] for q in QUADS])
    with pytest.raises(mbd.ModelError, match="normals point inwards"):
        mass_properties(Mesh(file=turned), 1.0)
    flipped = write_obj(tmp_path / "flipped.obj", CUBE, [QUADS[0][::-1], *QUADS[1:]])
    with pytest.raises(mbd.ModelError, match="turned inside out"):
        mass_properties(Mesh(file=flipped), 1.0)
    (tmp_path / "text.obj").write_text("v 0 0\n")
    with pytest.raises(mbd.ModelError, match="line 1: '0 0'; expected three coordinates"):
        mass_properties(Mesh(file=tmp_path / "text.obj"), 1.0)
    (tmp_path / "face.obj").write_text("v 0 0 0\nf 1 2 9\n")
    with pytest.raises(mbd.ModelError, match="line 2: 'f 1 2 9'; expected at least three known vertices"):
        mass_properties(Mesh(file=tmp_path / "face.obj"), 1.0)
    (tmp_path / "short.stl").write_bytes(b"\0" * 90)
    with pytest.raises(mbd.ModelError, match="is no STL file, or it ends early"):
        mass_properties(Mesh(file=tmp_path / "short.stl"), 1.0)
    (tmp_path / "empty.obj").write_text("")
    with pytest.raises(mbd.ModelError, match="contains no triangles"):
        mass_properties(Mesh(file=tmp_path / "empty.obj"), 1.0)
    with pytest.raises(mbd.ModelError, match="cannot be read"):
        mass_properties(Mesh(file=tmp_path / "none.stl"), 1.0)
    with pytest.raises(mbd.ModelError, match="expected a file named"):
        mass_properties(Mesh(file=__file__), 1.0)


def test_wrong_arguments():
    with pytest.raises(mbd.ModelError, match="one of the two"):
        mass_properties(Box((1, 1, 1)))
    with pytest.raises(mbd.ModelError, match="a Box, Cylinder, Sphere"):
        mass_properties(Frame(), 1.0)
    with pytest.raises(mbd.ModelError, match="a shape from mbd.shapes"):
        mass_properties("box", 1.0)
    with pytest.raises(mbd.ModelError, match="no parts"):
        composite([])
    with pytest.raises(mbd.ModelError, match="a pair"):
        composite([3])
