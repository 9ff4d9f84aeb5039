"""Surfaces are closed, look outwards and have the volume of what they stand for."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import mbd
from mbd.view import surfaces
from mbd.view.bodies import default_part, mesh_file
from mbd.view.pieces import arrow_surface, coil_surface, rod_surface

SHAPES = {
    "box": (surfaces.box(1.0, 2.0, 3.0), 6.0),
    "cylinder": (surfaces.cylinder(0.5, 2.0, 200), np.pi * 0.25 * 2.0),
    "tube": (surfaces.tube(0.3, 0.5, 2.0, 200), np.pi * (0.25 - 0.09) * 2.0),
    "cone": (surfaces.cone(0.5, 2.0, 200), np.pi * 0.25 * 2.0 / 3.0),
    "sphere": (surfaces.sphere(0.7, 200), 4.0 / 3.0 * np.pi * 0.343),
    "capsule": (surfaces.capsule(0.5, 1.0, 200), np.pi * 0.25 + 4.0 / 3.0 * np.pi * 0.125),
    "ellipsoid": (surfaces.ellipsoid(1.0, 0.5, 0.25, 200), 4.0 / 3.0 * np.pi * 0.125),
}


@pytest.mark.parametrize("name", SHAPES)
def test_closed_with_outward_normals_and_right_volume(name: str) -> None:
    surface, volume = SHAPES[name]
    a, b, c = (surface.points[surface.faces[:, k]] for k in range(3))
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0 == pytest.approx(volume, rel=2e-3)
    np.testing.assert_allclose(np.linalg.norm(surface.normals, axis=1), 1.0, atol=1e-12)
    area = np.cross(b - a, c - a)
    mean = surface.normals[surface.faces].mean(axis=1)
    assert (np.einsum("ij,ij->i", area, mean) >= 0.0).all()
    keys = np.unique(np.round(surface.points, 9), axis=0, return_inverse=True)[1].reshape(-1)[surface.faces]
    edges = Counter((int(f[i]), int(f[(i + 1) % 3])) for f in keys for i in range(3) if f[i] != f[(i + 1) % 3])
    assert all(edges[(j, i)] == count for (i, j), count in edges.items())


def test_default_shape_has_the_inertia_of_the_body() -> None:
    """The ellipsoid or box of uniform density has the principal moments that were given."""
    round_body = mbd.RigidBody("a", mass=3.0, inertia=(0.5, 0.6, 0.7))
    key, *_ = default_part(round_body, 16)
    assert key[0] == "ellipsoid"
    x, y, z = key[1:]
    moments = sorted(3.0 / 5.0 * np.array((y * y + z * z, x * x + z * z, x * x + y * y)))
    np.testing.assert_allclose(moments, (0.5, 0.6, 0.7), rtol=1e-9)
    disc = mbd.RigidBody("c", mass=2.0, inertia=(0.25, 0.5, 0.25))
    key, _, _, turn, _ = default_part(disc, 16)
    assert key[0] == "cylinder" and abs(turn[1, 2]) == pytest.approx(1.0)
    assert 0.5 * 2.0 * key[1] ** 2 == pytest.approx(0.5)
    flat = mbd.RigidBody("b", mass=2.0, inertia=(0.1, 1.0, 1.05))
    key, *_ = default_part(flat, 16)
    assert key[0] == "box"
    x, y, z = key[1:]
    moments = sorted(2.0 / 12.0 * np.array((y * y + z * z, x * x + z * z, x * x + y * y)))
    np.testing.assert_allclose(moments, (0.1, 1.0, 1.05), rtol=1e-9)


def test_links_reach_from_end_to_end() -> None:
    for surface, weights in (coil_surface(0.2, 0.02, 8), rod_surface(0.1)):
        assert weights.min() == 0.0 and weights.max() == 1.0
        assert np.abs(surface.points[:, 2]).max() < 0.03
    surface, weights, head = arrow_surface(0.1)
    assert surface.points[:, 2].max() == pytest.approx(head)


def test_mesh_file_is_read_with_sharp_edges(tmp_path) -> None:
    pyvista = pytest.importorskip("pyvista")
    file = tmp_path / "cube.stl"
    pyvista.Cube().triangulate().save(file)
    surface = mesh_file(file, "body 'a'")
    assert len(surface.faces) == 12
    assert set(map(tuple, np.abs(surface.normals).round(6))) == {(1, 0, 0), (0, 1, 0), (0, 0, 1)}
    with pytest.raises(mbd.ModelError, match="body 'a': its shape names the file"):
        mesh_file(tmp_path / "missing.stl", "body 'a'")
    (tmp_path / "bad.obj").write_text("nothing\n")
    with pytest.raises(mbd.ModelError, match="bad.obj"):
        mesh_file(tmp_path / "bad.obj", "body 'a'")
