"""Nodes: coordinates and velocities of each parametrisation describe the same frame and the same motion."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mbd.bodies import RigidBody
from mbd.errors import ModelError, SingularityError
from mbd.nodes import Directors, EulerAngles, Generalized, Point, Quaternion, RotationVector, kinds
from mbd.rotation import SEQUENCES, from_euler_angles, from_quaternion, from_rotation_vector, hat, rotation

POSE = {
    "position": (1.0, -2.0, 3.0),
    "rotation": rotation((0.4, -0.9, 1.3)),
    "velocity": (0.1, 0.2, -0.3),
    "angular_velocity": (2.0, -1.0, 0.5),
}

RIGID = [
    pytest.param(Quaternion, {}, lambda q: from_quaternion(q), id="Quaternion"),
    pytest.param(Directors, {}, lambda q: q.reshape(3, 3).T, id="Directors"),
    pytest.param(RotationVector, {}, lambda q: from_rotation_vector(q), id="RotationVector"),
    *(
        pytest.param(EulerAngles, {"sequence": s}, lambda q, s=s: from_euler_angles(q, s), id=f"EulerAngles-{s}")
        for s in SEQUENCES
    ),
]


@pytest.mark.parametrize(("cls", "settings", "frame"), RIGID)
@pytest.mark.parametrize("lie", [False, True])
def test_coordinates_describe_the_frame(cls, settings, frame, lie):
    node = cls(**POSE, **settings, lie=lie)
    q, v = node.coordinates(), node.coordinate_velocities()
    assert q.size == node.n_coordinates
    assert v.size == node.n_velocities
    assert np.array_equal(q[:3], POSE["position"])
    assert np.allclose(frame(q[3:]), POSE["rotation"], atol=1e-14)


@pytest.mark.parametrize(("cls", "settings", "frame"), RIGID)
def test_conventional_velocities_are_derivatives_of_the_coordinates(cls, settings, frame):
    node = cls(**POSE, **settings, lie=False)
    q, v = node.coordinates(), node.coordinate_velocities()
    assert np.array_equal(v[:3], POSE["velocity"])
    h = 1e-6
    rate = (frame(q[3:] + h * v[3:]) - frame(q[3:] - h * v[3:])) / (2 * h)
    expected = node.rotation @ hat(node.angular_velocity)
    assert np.allclose(rate, expected, atol=1e-8)


@pytest.mark.parametrize(("cls", "settings", "frame"), RIGID)
def test_lie_velocities_are_velocity_and_body_rate(cls, settings, frame):
    v = cls(**POSE, **settings, lie=True).coordinate_velocities()
    assert np.array_equal(v, (*POSE["velocity"], *POSE["angular_velocity"]))


@pytest.mark.parametrize(
    ("cls", "lie", "numbers"),
    [
        (Quaternion, False, (7, 7, 1)),
        (Quaternion, True, (7, 6, 0)),
        (Directors, False, (12, 12, 6)),
        (Directors, True, (12, 6, 0)),
        (RotationVector, False, (6, 6, 0)),
        (RotationVector, True, (6, 6, 0)),
        (EulerAngles, False, (6, 6, 0)),
        (EulerAngles, True, (6, 6, 0)),
    ],
)
def test_sizes(cls, lie, numbers):
    node = cls(lie=lie)
    assert (node.n_coordinates, node.n_velocities, node.n_internal) == numbers
    pinned = cls(lie=lie, pinned=True)
    assert (pinned.n_coordinates, pinned.n_velocities, pinned.n_internal) == (
        numbers[0] - 3,
        numbers[1] - 3,
        numbers[2],
    )
    assert pinned.coordinates().size == pinned.n_coordinates
    assert pinned.coordinate_velocities().size == pinned.n_velocities


def test_kinds_and_defaults():
    expected = {
        Point: kinds.POINT,
        Quaternion: kinds.QUATERNION,
        Directors: kinds.DIRECTORS,
        RotationVector: kinds.ROTATION_VECTOR,
        EulerAngles: kinds.EULER_ANGLES,
        Generalized: kinds.GENERALIZED,
    }
    assert [cls.kind for cls in expected] == list(expected.values()) == [1, 2, 3, 4, 5, 6]
    assert kinds.GROUND == 0
    assert RotationVector().lie
    assert not any(cls().lie for cls in (Quaternion, Directors, EulerAngles))
    assert EulerAngles().sequence == "xyz"
    assert EulerAngles(sequence="zxz", lie=True).axes == (2, 0, 2)


@pytest.mark.parametrize(("cls", "settings", "frame"), RIGID)
@pytest.mark.parametrize("target", [Quaternion, Directors, RotationVector, EulerAngles])
def test_with_parametrisation_keeps_everything_exactly(cls, settings, frame, target):
    pose = {**POSE, "velocity": (0, 0, 0)}
    node = cls(**pose, **settings, pinned=True)
    other = node.with_parametrisation(target)
    assert type(other) is target
    assert other.pinned
    assert other.lie == target.default_lie
    for attribute in ("position", "rotation", "velocity", "angular_velocity"):
        assert np.array_equal(getattr(other, attribute), getattr(node, attribute))


def test_a_node_serves_as_template():
    node = Quaternion(**POSE)
    other = node.with_parametrisation(EulerAngles(position=(9, 9, 9), sequence="zxz"))
    assert isinstance(other, EulerAngles)
    assert (other.sequence, other.lie) == ("zxz", False)
    assert np.array_equal(other.position, POSE["position"])
    assert node.with_parametrisation(Quaternion(lie=True)).lie


def test_point_and_generalized():
    point = Point((1, 2, 3), (4, 5, 6))
    assert np.array_equal(point.coordinates(), (1, 2, 3))
    assert np.array_equal(point.coordinate_velocities(), (4, 5, 6))
    assert (point.n_coordinates, point.n_velocities, point.n_internal) == (3, 3, 0)
    node = Generalized((1, 2), (3, 4))
    assert np.array_equal(node.coordinates(), (1, 2))
    assert np.array_equal(node.coordinate_velocities(), (3, 4))
    assert np.array_equal(Generalized(0.5).coordinate_velocities(), (0.0,))
    assert isinstance(point.with_parametrisation(Point), Point)
    assert isinstance(node.with_parametrisation(Generalized), Generalized)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Quaternion(position=(1, 2)), ("Quaternion", "position", "(1, 2)", "3 numbers")),
        (lambda: Quaternion(position=(1, 2, math.nan)), ("Quaternion", "position", "nan", "finite")),
        (lambda: Directors(velocity=(1, 2, math.inf)), ("Directors", "velocity", "inf", "finite")),
        (lambda: Directors(angular_velocity=("1", "2", "3")), ("Directors", "angular_velocity", "3 numbers")),
        (lambda: Quaternion(position=np.ones((3, 1))), ("Quaternion", "position", "(3, 1)")),
        (lambda: Quaternion(rotation=(0, 0, 1)), ("Quaternion", "rotation", "mbd.rotation(")),
        (lambda: Quaternion(lie="yes"), ("Quaternion", "lie", "True or False")),
        (lambda: RotationVector(pinned=True, velocity=(1, 0, 0)), ("RotationVector", "velocity", "pinned=True")),
        (lambda: EulerAngles(sequence="abc"), ("EulerAngles", "sequence", "'abc'", "zxz")),
        (lambda: Point((1, 2, 3), (math.nan, 0, 0)), ("Point", "velocity", "finite")),
        (lambda: Generalized(()), ("Generalized", "coordinates", "at least one")),
        (lambda: Generalized((1, 2), (1,)), ("Generalized", "velocities", "2 numbers")),
        (lambda: Quaternion().with_parametrisation(Point), ("Quaternion", "Point", "Directors")),
        (lambda: Quaternion().with_parametrisation(Generalized), ("Quaternion", "Generalized", "Directors")),
        (lambda: Point().with_parametrisation(Quaternion), ("Point", "Quaternion", "RigidBody")),
        (lambda: Generalized(1.0).with_parametrisation(Point), ("Generalized", "Point", "expected Generalized")),
        (lambda: Quaternion().with_parametrisation("Directors"), ("'Directors'", "mbd.nodes.Quaternion")),
    ],
)
def test_bad_input_is_refused(make, words):
    with pytest.raises(ModelError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


LOCKED = [
    ("xyz", rotation(angles=(0.1, math.pi / 2, 0.2))),
    ("zxz", np.eye(3)),
    ("yzx", rotation(angles=(0, 0, -math.pi / 2))),
]


@pytest.mark.parametrize(("sequence", "matrix"), LOCKED)
def test_gimbal_lock_is_refused_for_conventional_euler_angles(sequence, matrix):
    node = EulerAngles(rotation=matrix, sequence=sequence, angular_velocity=(1, 0, 0))
    with pytest.raises(SingularityError, match="another sequence.*lie=True.*Quaternion"):
        node.coordinate_velocities()
    with pytest.raises(SingularityError, match="body 'top'.*gimbal lock") as caught:
        RigidBody("top", 1.0, (1, 1, 1), node)
    assert caught.value.body == "top"


@pytest.mark.parametrize(("sequence", "matrix"), LOCKED)
def test_gimbal_lock_is_no_problem_for_lie_nodes(sequence, matrix):
    node = EulerAngles(rotation=matrix, sequence=sequence, angular_velocity=(1, 0, 0), lie=True)
    RigidBody("top", 1.0, (1, 1, 1), node)
    assert np.allclose(from_euler_angles(node.coordinates()[3:], sequence), matrix, atol=1e-12)
    assert np.array_equal(node.coordinate_velocities()[3:], (1, 0, 0))


def test_arrays_are_protected():
    node = Quaternion(**POSE)
    with pytest.raises(ValueError, match="read-only"):
        node.position[0] = 1.0
    given = np.zeros(3)
    node = Quaternion(position=given)
    given[0] = 1.0
    assert node.position[0] == 0.0
