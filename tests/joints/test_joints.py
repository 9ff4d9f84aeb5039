"""Joints: world and body-fixed arguments give the same equations; these hold initially and leave the right freedoms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mbd.bodies import Generalized, Ground, PointMass, RigidBody
from mbd.errors import ModelError
from mbd.joints import (
    Coincident,
    Cylindrical,
    Distance,
    DistanceBetween,
    Dot1,
    Dot2,
    Fixed,
    Joint,
    Parallel,
    Planar,
    PointInPlane,
    PointOnLine,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from mbd.joints.frames import frame_around
from mbd.joints.joint import smallest_rotation
from mbd.model import Model
from mbd.nodes import Quaternion
from mbd.rotation import from_rotation_vector, rotation

ROUNDING = 1e-14
AT, AXIS = (0.4, 0.5, -0.2), (1.0, 2.0, -2.0)
UNIT = np.array(AXIS) / 3.0


def make_bodies() -> tuple[RigidBody, RigidBody]:
    a = RigidBody("a", 1.0, (1, 1, 1), Quaternion(position=(1, 0, 2), rotation=rotation((0.2, -0.4, 0.9))))
    b = RigidBody("b", 1.0, (1, 1, 1), Quaternion(position=(-1, 1, 0), rotation=rotation((1.2, 0.3, -0.5))))
    return a, b


def world(body, local):
    return body.position + body.rotation @ local


def local(body, point):
    return body.rotation.T @ (np.asarray(point) - body.position)


def residual(primitives, pose_a, pose_b):
    """The equations of the primitives, written independently of the kernels."""
    (ra, Ra), (rb, Rb) = pose_a, pose_b
    values = []
    for p in primitives:
        if isinstance(p, Dot1):
            values.append((Ra @ p.axis_a) @ (Rb @ p.axis_b) - p.value)
            continue
        gap = (rb + Rb @ p.point_b) - (ra + Ra @ p.point_a)
        if isinstance(p, Coincident):
            values.extend(gap)
        elif isinstance(p, Dot2):
            values.append((Ra @ p.axis_a) @ gap - p.value)
        else:
            assert isinstance(p, DistanceBetween)
            values.append((gap @ gap - p.length**2) / (2 * p.length))
    return np.array(values)


def pose(body):
    return body.position, body.rotation


def initial_residual(joint):
    return residual(joint.primitives(), pose(joint.body_a), pose(joint.body_b))


def jacobian(joint, h=1e-6):
    """Derivative of the equations with respect to a motion (displacement, rotation) of the second body, world axes."""
    r, R = pose(joint.body_b)
    columns = []
    for k in range(6):
        step = h * np.eye(6)[k]
        values = [
            residual(joint.primitives(), pose(joint.body_a), (r + s * step[:3], from_rotation_vector(s * step[3:]) @ R))
            for s in (1, -1)
        ]
        columns.append((values[0] - values[1]) / (2 * h))
    return np.column_stack(columns)


STANDARD = [
    (Fixed, {"at": AT}, 6),
    (Fixed, {}, 6),
    (Spherical, {"at": AT}, 3),
    (Revolute, {"at": AT, "axis": AXIS}, 5),
    (Prismatic, {"at": AT, "axis": AXIS}, 5),
    (Prismatic, {"axis": AXIS}, 5),
    (Cylindrical, {"at": AT, "axis": AXIS}, 4),
    (Planar, {"at": AT, "axis": AXIS}, 3),
    (Planar, {"normal": AXIS}, 3),
    (PointOnLine, {"at": AT, "axis": AXIS}, 2),
    (PointInPlane, {"at": AT, "axis": AXIS}, 1),
    (PointInPlane, {"at": AT, "normal": AXIS}, 1),
    (Parallel, {"axis": AXIS}, 2),
    (Distance, {"point_a": (0, 1, 0), "point_b": (0, 0, 1)}, 1),
]


@pytest.mark.parametrize(("cls", "arguments", "rows"), STANDARD)
def test_equations_hold_initially_and_are_independent(cls, arguments, rows):
    joint = cls(*make_bodies(), **arguments)
    assert joint.n_equations == rows
    assert np.abs(initial_residual(joint)).max() < ROUNDING
    assert np.linalg.matrix_rank(jacobian(joint), tol=1e-6) == rows
    for axis_a, axis_b in joint.orientation_conditions():
        assert (joint.body_a.rotation @ axis_a) @ (joint.body_b.rotation @ axis_b) > 1 - ROUNDING


ALONG = np.array((*UNIT, 0, 0, 0))
ABOUT = np.array((*np.cross(np.array(make_bodies()[1].position) - AT, -UNIT), *UNIT))


@pytest.mark.parametrize(
    ("cls", "free"),
    [(Revolute, [ABOUT]), (Prismatic, [ALONG]), (Cylindrical, [ABOUT, ALONG]), (PointOnLine, [ABOUT, ALONG])],
)
def test_the_named_freedoms_remain(cls, free):
    joint = cls(*make_bodies(), at=AT, axis=AXIS)
    for motion in free:
        assert np.abs(jacobian(joint) @ motion).max() < 1e-8


def test_universal():
    a, b = make_bodies()
    joint = Universal(a, b, at=AT, axis_a=a.rotation.T @ (1, 0, 0), axis_b=b.rotation.T @ (0, 1, 0))
    assert joint.n_equations == 4
    assert np.abs(initial_residual(joint)).max() < ROUNDING
    assert np.linalg.matrix_rank(jacobian(joint), tol=1e-6) == 4
    mixed = Universal(a, b, at=AT, axis=(1, 0, 0), axis_b=b.rotation.T @ (0, 1, 0))
    assert np.allclose(mixed.frame_a, joint.frame_a, atol=ROUNDING)
    assert np.allclose(mixed.frame_b, joint.frame_b, atol=ROUNDING)


def argument_mixtures():
    a, b = make_bodies()
    points = {"at": AT}, {"point_a": local(a, AT)}, {"point_b": local(b, AT)}
    both_points = {"point_a": local(a, AT), "point_b": local(b, AT)}
    axes = {"axis": AXIS}, {"axis_a": a.rotation.T @ AXIS}, {"axis_b": b.rotation.T @ AXIS}
    both_axes = {"axis_a": a.rotation.T @ AXIS, "axis_b": b.rotation.T @ AXIS}
    return [
        {**p, **x}
        for p in (*points, both_points, {"at": AT, "point_b": local(b, AT)})
        for x in (*axes, both_axes, {"axis": AXIS, "axis_a": a.rotation.T @ AXIS})
    ]


@pytest.mark.parametrize("arguments", argument_mixtures())
def test_every_mixture_of_arguments_gives_the_same_joint(arguments):
    a, b = make_bodies()
    joint = Revolute(a, b, **arguments)
    assert np.allclose(world(a, joint.point_a), AT, atol=ROUNDING)
    assert np.allclose(world(b, joint.point_b), AT, atol=ROUNDING)
    assert np.allclose(a.rotation @ joint.axis_a, UNIT, atol=ROUNDING)
    assert np.allclose(a.rotation @ joint.frame_a, b.rotation @ joint.frame_b, atol=ROUNDING)
    for frame in (joint.frame_a, joint.frame_b):
        assert np.allclose(frame.T @ frame, np.eye(3), atol=ROUNDING)
        assert np.linalg.det(frame) > 0


def test_points_and_axes_that_differ_initially_are_kept():
    a, b = make_bodies()
    joint = Revolute(a, b, point_a=(1, 0, 0), point_b=(0, 2, 0), axis_a=(0, 0, 1), axis_b=(0, 1, 0))
    assert np.array_equal(joint.point_a, (1, 0, 0))
    assert np.array_equal(joint.point_b, (0, 2, 0))
    assert np.array_equal(joint.axis_a, (0, 0, 1))
    assert np.array_equal(joint.axis_b, (0, 1, 0))
    assert np.allclose(joint.frame_b.T @ joint.frame_b, np.eye(3), atol=ROUNDING)
    world_a, world_b = a.rotation @ joint.frame_a, b.rotation @ joint.frame_b
    angle = math.acos(world_a[:, 2] @ world_b[:, 2])
    turn = world_b @ world_a.T
    assert math.acos((np.trace(turn) - 1) / 2) == pytest.approx(angle, abs=1e-12)  # no larger than needed


def test_opposite_axes_still_give_a_frame():
    ground, (_, b) = Ground(), make_bodies()
    joint = Revolute(ground, b, at=AT, axis_a=AXIS, axis_b=-(b.rotation.T @ AXIS))
    assert np.allclose(joint.frame_b.T @ joint.frame_b, np.eye(3), atol=1e-12)
    ((axis_a, axis_b),) = joint.orientation_conditions()
    assert axis_a @ (b.rotation @ axis_b) < 0


def test_ground_quantities_are_world_quantities():
    ground, (_, b) = Ground(), make_bodies()
    joint = Revolute(ground, b, at=AT, axis=AXIS)
    assert np.array_equal(joint.point_a, AT)
    assert np.allclose(joint.axis_a, UNIT)


@pytest.mark.parametrize(
    ("axis", "n1", "n2"),
    [((0, 0, 1), (1, 0, 0), (0, 1, 0)), ((1, 0, 0), (0, 1, 0), (0, 0, 1)), ((0, 1, 0), (0, 0, 1), (1, 0, 0))],
)
def test_frame_around_coordinate_axes(axis, n1, n2):
    frame = frame_around(np.array(axis, dtype=float))
    assert np.array_equal(frame, np.column_stack((n1, n2, axis)))


def test_frame_and_smallest_rotation_of_random_axes():
    rng = np.random.default_rng(4)
    for start, end in rng.normal(size=(20, 2, 3)):
        start, end = start / np.linalg.norm(start), end / np.linalg.norm(end)
        frame = frame_around(start)
        assert np.allclose(frame.T @ frame, np.eye(3), atol=ROUNDING)
        assert np.linalg.det(frame) > 0
        assert np.allclose(smallest_rotation(start, end, frame[:, 0]) @ start, end, atol=ROUNDING)


def test_frames_near_a_normal_do_not_jump():
    """On both sides of an axis with two components that are equally large; otherwise the one that is chosen anyway."""
    for axis in np.random.default_rng(5).normal(size=(20, 3)):
        axis = axis / np.linalg.norm(axis)
        frame = frame_around(axis)
        assert np.array_equal(frame_around(axis, frame[:, 0]), frame)
    beside = [np.array((math.sin(0.25 * math.pi + e), 0.0, math.cos(0.25 * math.pi + e))) for e in (-1e-6, 1e-6)]
    one, other = (frame_around(axis) for axis in beside)
    assert np.abs(one - other).max() > 0.5
    assert np.abs(frame_around(beside[1], one[:, 0]) - one).max() < 1e-5


def test_fixed_to_frames_and_axes():
    a, b = make_bodies()
    frame = rotation((0.1, 0.2, 0.3))
    joint = Fixed(a, b, at=AT, frame_a=frame, frame_b=np.eye(3))
    assert np.allclose(joint.frame_a, frame)
    target = residual(joint.primitives()[1:], (a.position, a.rotation), (b.position, a.rotation @ frame))
    assert np.abs(target).max() < ROUNDING
    aligned = Fixed(a, b, at=AT, axis_a=(0, 0, 1), axis_b=(0, 1, 0))
    assert np.array_equal(aligned.axis_b, (0, 1, 0))


def test_distance_has_initial_length_unless_given():
    a, b = make_bodies()
    joint = Distance(a, b, (0, 1, 0), (0, 0, 1))
    assert joint.length == pytest.approx(np.linalg.norm(world(b, (0, 0, 1)) - world(a, (0, 1, 0))))
    assert Distance(a, b, length=2).length == 2.0
    assert np.array_equal(Distance(a, b).point_a, (0, 0, 0))


def test_coordinates_of_joints():
    expected = {Revolute: "angle", Prismatic: "displacement", Cylindrical: "both", Spherical: None, Fixed: None}
    assert {cls: cls.coordinate for cls in expected} == expected


def test_point_masses():
    ground, p, q = Ground(), PointMass("p", 1, (1, 2, 3)), PointMass("q", 1, (0, 0, 1))
    body = make_bodies()[0]
    assert np.array_equal(Spherical(ground, p).point_a, (1, 2, 3))
    assert np.allclose(world(body, Spherical(p, body, at=(1, 2, 3)).point_b), (1, 2, 3))
    assert Distance(p, q).length == pytest.approx(3.0)
    line = PointOnLine(ground, p, point_a=(1, 2, 0), axis=(0, 0, 1))
    assert np.array_equal(line.point_b, (0, 0, 0))
    assert np.abs(initial_residual(line)).max() < ROUNDING
    plane = PointInPlane(ground, p, at=(0, 0, 3), normal=(0, 0, 1))  # any point of the plane
    assert np.abs(initial_residual(plane)).max() < ROUNDING
    assert PointInPlane(ground, p, axis=(0, 0, 1)).n_equations == 1


class PointOnCircle(Joint):
    """A user's own joint."""

    def primitives(self):
        return [Dot2(self.axis_a, self.point_a, self.point_b), DistanceBetween(self.point_a, self.point_b, 2.0)]


class Crossed(Joint):
    def primitives(self):
        return [Dot1(self.axis_a, self.axis_b)]


class Mistaken(Joint):
    def primitives(self):
        return [self.axis_a]


def test_own_joint():
    model = Model()
    body = model.add(RigidBody("b", 1.0, (1, 1, 1), Quaternion(position=(2, 0, 0))))
    joint = model.add(PointOnCircle(model.ground, body, point_a=(0, 0, 0), point_b=(0, 0, 0), axis=(0, 0, 1)))
    assert joint.name == "point on circle 1"
    assert np.abs(initial_residual(joint)).max() < ROUNDING
    mass = model.add(PointMass("p", 1.0, (0, 2, 0)))
    model.add(PointOnCircle(model.ground, mass, point_a=(0, 0, 0), axis=(0, 0, 1)))
    with pytest.raises(ModelError, match="crossed.*point mass 'p' has no orientation"):
        model.add(Crossed(model.ground, mass, axis=(0, 0, 1)))
    with pytest.raises(ModelError, match="mistaken of 'ground' and 'b'.*a list of Coincident"):
        model.add(Mistaken(model.ground, body))
    with pytest.raises(NotImplementedError, match="Joint must override"):
        Joint(model.ground, body).primitives()


GROUND = Ground()
A, B = make_bodies()
P = PointMass("p", 1.0, (1, 2, 3))
G = Generalized("g", (1.0, 2.0))
BAD = [
    (lambda: Revolute(A, B, at=AT, axis=(0, 0, 0)), ("revolute of 'a' and 'b'", "axis = (0, 0, 0)", "cannot be zero")),
    (lambda: Revolute(A, B, at=AT, axis_b=(0, 0, 0)), ("revolute", "axis_b", "cannot be zero")),
    (lambda: Revolute(A, B, at=AT, axis=(0, math.nan, 0)), ("revolute", "axis", "finite")),
    (lambda: Revolute(A, B, at=(0, 0, math.inf), axis=AXIS), ("revolute", "at", "finite")),
    (lambda: Revolute(A, B, point_a=(0, 0), axis=AXIS), ("revolute", "point_a", "3 numbers")),
    (lambda: Revolute(A, B, at=AT, axis=AXIS, name=""), ("revolute", "name", "not empty")),
    (lambda: Revolute(A, A, at=AT, axis=AXIS), ("revolute of 'a' and 'a'", "same", "two different")),
    (lambda: Revolute(A, B, axis=AXIS), ("revolute of 'a' and 'b'", "at=(x, y, z)", "point_a=")),
    (lambda: Spherical(A, B), ("spherical of 'a' and 'b'", "at=(x, y, z)")),
    (lambda: Revolute(A, B, at=AT), ("revolute of 'a' and 'b'", "which axis", "axis=(x, y, z)", "axis_a=")),
    (lambda: Revolute(A, B, at=AT, point_a=AT, point_b=AT, axis=AXIS), ("revolute", "either at= or both")),
    (lambda: Revolute(A, B, at=AT, axis=AXIS, axis_a=AXIS, axis_b=AXIS), ("revolute", "either axis= or both")),
    (lambda: Spherical(A, B, at=AT, axis=AXIS), ("spherical", "axis=", "no meaning")),
    (lambda: Parallel(A, B, at=AT, axis=AXIS), ("parallel", "at=", "no meaning")),
    (lambda: Planar(A, B, axis=AXIS, normal=AXIS), ("planar", "normal", "either normal= or axis=")),
    (lambda: Universal(A, B, at=AT, axis=AXIS), ("universal of 'a' and 'b'", "axis_a= and axis_b=", "perpendicular")),
    (lambda: Universal(A, B, at=AT, axis_a=AXIS), ("universal", "only axis_a=", "two cross axes")),
    (
        lambda: Universal(A, B, at=AT, axis_a=A.rotation.T @ AXIS, axis_b=B.rotation.T @ AXIS),
        ("universal", "axis_a, axis_b", "parallel"),
    ),
    (lambda: Distance(A, B, length=0), ("distance of 'a' and 'b'", "length = 0", "positive")),
    (lambda: Distance(A, B, length=-1.0), ("distance", "length = -1.0", "positive")),
    (lambda: Distance(GROUND, A, point_a=A.position), ("distance", "coincide", "Spherical")),
    (lambda: Fixed(A, B, frame_a=np.eye(3)), ("fixed", "frame_a= and frame_b=", "both")),
    (lambda: Fixed(A, B, frame_a=np.eye(3), frame_b=(0, 0, 1)), ("fixed", "frame_b", "mbd.rotation(")),
    (lambda: Fixed(A, B, axis=AXIS, frame_a=np.eye(3), frame_b=np.eye(3)), ("fixed", "either frames or axes")),
    (lambda: Revolute(GROUND, P, at=AT, axis=AXIS), ("revolute", "point mass 'p'", "no orientation", "RigidBody")),
    (lambda: PointOnLine(P, A, at=AT, axis=AXIS), ("point on line", "'p'", "no orientation", "swap")),
    (lambda: PointOnLine(A, P, axis_b=AXIS), ("point on line", "axis_b", "no orientation", "axis=")),
    (lambda: PointOnLine(A, P, axis=AXIS, point_b=(0, 0, 1)), ("point on line", "point_b", "(0, 0, 0)", "'p'")),
    (lambda: Spherical(A, P, at=(0, 0, 0)), ("spherical", "at = (0.0, 0.0, 0.0)", "(1.0, 2.0, 3.0)", "'p'")),
    (lambda: Spherical(A, G, at=AT), ("spherical of 'a' and 'g'", "body_b", "no frame", "constraints=")),
    (lambda: Spherical("a", B, at=AT), ("spherical", "body_a = 'a'", "model['a']")),
    (lambda: Spherical(None, B, at=AT), ("spherical", "body_a = None", "model.ground")),
    (lambda: Spherical(A, Quaternion(), at=AT), ("spherical", "body_b", "a body")),
    (lambda: Dot1((0, 0), (0, 0, 1)), ("Dot1", "axis_a", "3 numbers")),
    (lambda: DistanceBetween((0, 0, 0), (0, 0, 1), 0), ("DistanceBetween", "length", "positive")),
]


@pytest.mark.parametrize(("make", "words"), BAD)
def test_bad_joints_are_refused(make, words):
    with pytest.raises(ModelError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)
