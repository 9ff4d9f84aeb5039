"""What a scene contains, and what it says about arguments that it cannot use."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.view import glyphs
from mbd.view.camera import PRESETS, Camera
from mbd.view.scene import Scene
from mbd.view.theme import BODIES, THEMES, colour, to_hex


def test_everything_of_the_mechanism_is_there(mechanism: mbd.Solution) -> None:
    scene = Scene(mechanism, reactions=True, frames=True)
    owners = {(s.role, s.owner) for s in scene.solids}
    assert {("body", "slider"), ("body", "pendulum"), ("body", "ball")} <= owners
    assert {("joint", "rail"), ("joint", "hinge"), ("joint", "rod"), ("frame", "ball")} <= owners
    links = {(link.role, link.owner) for link in scene.links}
    assert {("spring", "coil"), ("rod", "rod"), ("load", "push"), ("reaction", "hinge")} <= links


def test_coil_and_rod_end_where_their_points_are(mechanism: mbd.Solution) -> None:
    scene = Scene(mechanism)
    t = 0.4321
    poses = scene.poses(t)
    coil = next(link for link in scene.links if link.owner == "coil")
    points, normals = coil.placed(poses, t)
    end = poses[0][1] + poses[1][1] @ (-0.15, 0.0, 0.0)
    assert np.linalg.norm(points - (0, 0, 1), axis=1).min() < 0.05
    assert np.linalg.norm(points - end, axis=1).min() < 0.05
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-9)
    start, far = coil.ends(poses, t)
    np.testing.assert_allclose(far, end, atol=1e-12)


def test_arrows_show_reactions_to_scale(mechanism: mbd.Solution) -> None:
    scene = Scene(mechanism, reactions=True)
    arrows = {link.owner: link for link in scene.links if link.role == "reaction"}
    ratios = []
    for k in (20, 60, 120):
        t = float(mechanism.t[k])
        poses = scene.poses(t)
        for name in ("hinge", "rail"):
            a, b = arrows[name].ends(poses, t)
            force = mechanism[name].force[k]
            np.testing.assert_allclose(np.cross(b - a, force), 0.0, atol=1e-9 * np.linalg.norm(force))
            ratios.append(np.linalg.norm(b - a) / np.linalg.norm(force))
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-9)


JOINTS = {
    "Revolute": {"at": (0, 0, 0), "axis": (0, 0, 1)},
    "Spherical": {"at": (0, 0, 0)},
    "Prismatic": {"axis": (1, 0, 0)},
    "Cylindrical": {"at": (0, 0, 0), "axis": (1, 0, 0)},
    "Universal": {"at": (0, 0, 0), "axis_a": (1, 0, 0), "axis_b": (0, 1, 0)},
    "Planar": {"axis": (0, 0, 1)},
    "PointOnLine": {"at": (0, 0, 0), "axis": (1, 0, 0)},
    "PointInPlane": {"at": (0, 0, 0), "axis": (0, 0, 1)},
    "Fixed": {},
}


@pytest.mark.parametrize("kind", JOINTS)
def test_each_joint_has_a_glyph_at_its_place(kind: str) -> None:
    model = mbd.Model("joint")
    body = model.add(mbd.RigidBody("body", 1.0, (0.1, 0.1, 0.1), mbd.nodes.RotationVector(position=(0.3, 0.2, 0.1))))
    joint = model.add(getattr(mbd.joints, kind)(model.ground, body, name="j", **JOINTS[kind]))
    solution = mbd.simulate(model, t_end=2e-3, step=1e-3)
    scene = Scene(solution)
    solids = [s for s in scene.solids if s.role == "joint"]
    assert solids and glyphs.glyph_maker(joint) is glyphs.GLYPHS[kind]
    poses = scene.poses(0.0)
    on_second = [s for s in solids if s.body == 1]
    place, turn = on_second[0].pose(poses)
    np.testing.assert_allclose(place, body.position + joint.point_b, atol=1e-9)
    np.testing.assert_allclose(turn[:, 2], joint.axis_b, atol=1e-9)


def test_own_joints_are_drawn_by_their_coordinate() -> None:
    class Hinge(mbd.joints.Joint):
        coordinate = "angle"

    model = mbd.Model("own")
    body = model.add(mbd.RigidBody("body", 1.0, (1, 1, 1)))
    assert glyphs.glyph_maker(Hinge(model.ground, body)) is glyphs.hinge


def test_springs_of_other_kinds() -> None:
    model = mbd.Model("springs")
    body = model.add(mbd.RigidBody("body", 1.0, (0.1, 0.1, 0.1), mbd.nodes.RotationVector(position=(0.3, 0.2, 0.1))))
    hinge = model.add(mbd.joints.Revolute(model.ground, body, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(mbd.forces.TorsionSpring(hinge, stiffness=1.0, name="torsion"))
    other = model.add(mbd.RigidBody("other", 1.0, (0.1, 0.1, 0.1)))
    model.add(mbd.forces.Bushing(model.ground, other, stiffness=(1.0, 2.0, 3.0), name="rubber"))
    scene = Scene(mbd.simulate(model, 2e-3, 1e-3))
    pieces = {s.owner: s for s in scene.solids if s.role == "spring"}
    assert set(pieces) == {"torsion", "rubber"}
    place, turn = pieces["torsion"].pose(scene.poses(0.0))
    np.testing.assert_allclose(place, 0.0, atol=1e-9)
    np.testing.assert_allclose(turn[:, 2], (0, 1, 0), atol=1e-9)


def test_motors_are_drums_and_their_rotors_are_nowhere() -> None:
    model = mbd.Model("motors")
    body = model.add(mbd.RigidBody("body", 1.0, (0.1, 0.1, 0.1), mbd.nodes.RotationVector(position=(0.3, 0.2, 0.1))))
    hinge = model.add(mbd.joints.Revolute(model.ground, body, at=(0, 0, 0.2), axis=(0, 1, 0)))
    model.add(mbd.forces.Motor(hinge, 1.0, rotor_inertia=0.1, name="motor"))
    model.add(mbd.forces.JointLimit(hinge, -1.0, 1.0, 10.0, name="limit"))
    model.add(mbd.forces.JointFriction(hinge, 1.0))
    scene = Scene(mbd.simulate(model, 2e-3, 1e-3))
    assert {solid.owner for solid in scene.solids} == {"body", hinge.name, "motor"}
    place, turn = next(solid for solid in scene.solids if solid.owner == "motor").pose(scene.poses(0.0))
    np.testing.assert_allclose(place, (0, 0, 0.2), atol=1e-9)
    np.testing.assert_allclose(turn[:, 2], (0, 1, 0), atol=1e-9)


def test_gravitation_is_no_spring() -> None:
    model = mbd.Model("planets")
    planets = [model.add(mbd.PointMass(f"p{k}", 1.0, position=(k, 0, 0), velocity=(0, k, 0))) for k in range(2)]
    model.add(mbd.forces.Gravitation(*planets, constant=1.0))
    assert Scene(mbd.simulate(model, 0.01, 1e-3, mbd.integrators.RK4())).links == []


def test_trails_of_one_body_have_different_colours(chain: mbd.Solution) -> None:
    scene = Scene(chain, trails=[("link 1", (x, 0, 0)) for x in (-0.2, 0.0, 0.2)])
    body = next(solid.colour for solid in scene.solids if solid.owner == "link 1" and solid.role == "body")
    assert scene.trails[0].colour == body and len({trail.colour for trail in scene.trails}) == 3


def test_axes_come_out_of_a_single_body() -> None:
    model = mbd.Model("plate")
    model.add(mbd.RigidBody("plate", 1.0, (1.0, 1.2, 1.5), shape=mbd.shapes.Box((2.0, 1.0, 0.1))))
    scene = Scene(mbd.simulate(model, 0.01, 5e-3, mbd.integrators.RK4()), frames=True)
    lengths = [solid.surface.points[:, 2].max() for solid in scene.solids if solid.role == "frame"]
    assert len(lengths) == 3 and min(lengths) > 1.05  # half the longest edge is 1


def test_trails_of_chosen_points(chain: mbd.Solution) -> None:
    scene = Scene(chain, trails=["link 2", ("link 5", (0.25, 0, 0))])
    assert [t.owner for t in scene.trails] == ["link 2", "link 5"]
    times, places = scene.path(scene.trails[1])
    np.testing.assert_allclose(places, chain["link 5"].point((0.25, 0, 0)), atol=1e-12)
    np.testing.assert_array_equal(times, chain.t)
    assert len(Scene(chain, trails=True).trails) == 5
    assert not Scene(chain, trails=False).trails
    assert [t.owner for t in Scene(chain).trails] == ["link 5"]
    with pytest.raises(mbd.ModelError, match="did you mean 'link 5'"):
        Scene(chain, trails="link 6")
    with pytest.raises(mbd.ModelError, match="trails = 3"):
        Scene(chain, trails=3)


def test_the_floor_is_below_everything_and_up_is_against_gravity(chain: mbd.Solution) -> None:
    scene = Scene(chain)
    assert scene.floor_height <= scene.low[2] + 1e-12
    model = mbd.Model("sideways", gravity=(0, -9.81, 0))
    model.add(mbd.PointMass("ball", 1.0, position=(0, 2, 0)))
    np.testing.assert_array_equal(Scene(mbd.simulate(model, 0.1, 0.01)).up, (0, 1, 0))


def test_two_runs_are_coloured_by_run(chain: mbd.Solution) -> None:
    scene = Scene([chain, chain], theme="dark")
    colours = {to_hex(s.colour) for s in scene.solids if s.role == "body"}
    assert colours == set(THEMES["dark"].runs[:2])
    assert len(scene.poses(0.5)[0]) == 12


def test_colours_differ_for_colour_blind_readers() -> None:
    """Lightness alone tells neighbouring bodies apart, or else blue against yellow does."""
    rgb = np.array([colour(c) for c in BODIES])
    lightness = rgb @ (0.2126, 0.7152, 0.0722)
    blueness = rgb[:, 2] - 0.5 * (rgb[:, 0] + rgb[:, 1])
    for i in range(len(rgb) - 1):
        assert abs(lightness[i + 1] - lightness[i]) > 0.08 or abs(blueness[i + 1] - blueness[i]) > 0.25


def test_arguments_are_checked(chain: mbd.Solution) -> None:
    with pytest.raises(mbd.ModelError, match='"light" or "dark"'):
        Scene(chain, theme="blue")
    scene = Scene(chain)
    with pytest.raises(mbd.ModelError, match="camera = 'above'"):
        Camera(scene, "above")
    with pytest.raises(mbd.ModelError, match="no element is named 'link 9'"):
        Camera(scene, follow="link 9")
    with pytest.raises(mbd.ModelError, match="differs from its target"):
        Camera(scene, ((1, 1, 1), (1, 1, 1)))
    with pytest.raises(mbd.ModelError, match="no solutions"):
        Scene([])
    model = mbd.Model("bad colour")
    model.add(mbd.RigidBody("a", 1.0, (1, 1, 1), shape=mbd.shapes.Sphere(0.1, colour="blurple")))
    with pytest.raises(mbd.ModelError, match="shape of body 'a': colour = 'blurple'"):
        Scene(mbd.simulate(model, 0.01, 0.01))


def test_generalized_coordinates_have_no_picture() -> None:
    model = mbd.Model("oscillator")
    model.add(mbd.Generalized("x", coordinates=[1.0], velocities=[0.0], mass=1.0, potential=lambda q: 0.5 * q[0] ** 2))
    solution = mbd.simulate(model, 0.1, 0.01)
    with pytest.raises(mbd.ModelError, match="no body with a place in space"):
        Scene(solution)
    assert solution.plot("coordinates", shown=False).axes


@pytest.mark.parametrize("name", ["auto", *PRESETS])
def test_the_whole_motion_is_in_the_picture(chain: mbd.Solution, name: str) -> None:
    """Project all corners through the camera: they are inside, and the picture is not mostly empty."""
    scene = Scene(chain)
    camera = Camera(scene, name, aspect=16 / 9)
    position, target, up = camera.at(scene.poses(0.0))
    back = (position - target) / np.linalg.norm(position - target)
    right = np.cross(up, back)
    right /= np.linalg.norm(right)
    local = (scene.cloud - position) @ np.stack((right, np.cross(back, right), back), axis=1)
    half = np.tan(np.radians(14.0))
    x, y = local[:, 0] / -local[:, 2] / (half * 16 / 9), local[:, 1] / -local[:, 2] / half
    assert np.abs(x).max() <= 1.0 and np.abs(y).max() <= 1.0
    assert max(np.abs(x).max(), np.abs(y).max()) > 0.75


def test_balls_lie_on_the_floor_and_springs_are_seen_to_their_ends() -> None:
    model = mbd.Model("spring")
    ball = model.add(mbd.PointMass("ball", 1.0, (1.2, 0, 0)))
    model.add(mbd.forces.Spring(model.ground, ball, (-2, 0, 0), stiffness=9.0, length=1.0))
    run = mbd.simulate(model, 0.5, 0.01)
    scene = Scene(run)
    radius = np.linalg.norm(next(s for s in scene.solids if s.owner == "ball").surface.points, axis=1).max()
    assert scene.floor_height == pytest.approx(-1.01 * radius)
    assert scene.low[0] == -2.0 and Scene(run, springs=False).low[0] > -1.0
