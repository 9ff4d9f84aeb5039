"""Descriptions of rotations: round trips, agreement with scipy, refusal of what is no rotation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from mbd.errors import ModelError
from mbd.rotation import (
    SEQUENCES,
    as_matrix,
    elementary,
    euler_rate_matrix,
    from_euler_angles,
    from_quaternion,
    from_rotation_vector,
    inverse_tangent_operator,
    rotation,
    sequence_axes,
    to_euler_angles,
    to_quaternion,
    to_rotation_vector,
)

ROUNDING = 5e-15


def random_matrices(count: int = 20, seed: int = 1) -> list[np.ndarray]:
    return list(Rotation.random(count, random_state=seed).as_matrix())


def half_turns() -> list[np.ndarray]:
    rng = np.random.default_rng(2)
    axes = [*np.eye(3), *rng.normal(size=(5, 3))]
    return [rotation(axis=axis, angle=math.pi) for axis in axes]


@pytest.mark.parametrize("matrix", [*random_matrices(), *half_turns(), np.eye(3)])
def test_quaternion_and_rotation_vector_round_trip(matrix):
    quaternion = to_quaternion(matrix)
    assert quaternion[0] >= 0.0
    assert abs(np.linalg.norm(quaternion) - 1.0) < ROUNDING
    assert np.abs(from_quaternion(quaternion) - matrix).max() < ROUNDING
    psi = to_rotation_vector(matrix)
    assert np.linalg.norm(psi) <= math.pi + ROUNDING
    assert np.abs(from_rotation_vector(psi) - matrix).max() < ROUNDING


@pytest.mark.parametrize("size", [0.0, 1e-200, 1e-12, 1e-8, 1e-4, 1.0, 3.0])
def test_rotation_vector_is_accurate_at_every_angle(size):
    psi = size * np.array((2.0, -1.0, 2.0)) / 3.0
    assert np.allclose(to_rotation_vector(from_rotation_vector(psi)), psi, rtol=1e-14, atol=1e-16)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_euler_angles_round_trip(sequence):
    for matrix in random_matrices():
        angles = to_euler_angles(matrix, sequence)
        assert np.abs(from_euler_angles(angles, sequence) - matrix).max() < ROUNDING
        assert np.allclose(angles, Rotation.from_matrix(matrix).as_euler(sequence.upper()), atol=1e-12)


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("offset", [0.0, 1e-14, 1e-10, 1e-7])
@pytest.mark.parametrize("lock", [-1.0, 1.0])
def test_euler_angles_reproduce_the_matrix_in_gimbal_lock(sequence, offset, lock):
    proper = sequence[0] == sequence[2]
    middle = (0.0 if lock < 0 else math.pi) if proper else lock * math.pi / 2
    matrix = from_euler_angles(np.array((0.3, middle + offset, -1.1)), sequence)
    assert np.abs(from_euler_angles(to_euler_angles(matrix, sequence), sequence) - matrix).max() < 2e-12


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_sequence_is_intrinsic(sequence):
    a, b, c = 0.3, 0.5, -0.7
    i, j, k = sequence_axes(sequence)
    expected = elementary(i, a) @ elementary(j, b) @ elementary(k, c)
    assert np.abs(rotation(angles=(a, b, c), sequence=sequence) - expected).max() < ROUNDING
    assert np.allclose(expected, Rotation.from_euler(sequence.upper(), (a, b, c)).as_matrix(), atol=1e-14)


def body_rate(matrix_of, x, rate, h=1e-6):
    """Angular velocity in body axes, by central differences of the matrix."""
    derivative = (matrix_of(x + h * rate) - matrix_of(x - h * rate)) / (2.0 * h)
    skew = matrix_of(x).T @ derivative
    return np.array((skew[2, 1], skew[0, 2], skew[1, 0]))


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_euler_rate_matrix(sequence):
    rng = np.random.default_rng(3)
    for _ in range(5):
        angles, rate = rng.normal(size=(2, 3))
        omega = body_rate(lambda x: from_euler_angles(x, sequence), angles, rate)
        assert np.allclose(euler_rate_matrix(angles, sequence) @ rate, omega, atol=1e-8)


@pytest.mark.parametrize("size", [0.0, 1e-6, 9e-3, 1.1e-2, 1.0, 3.0])
def test_inverse_tangent_operator(size):
    psi = size * np.array((0.6, 0.0, -0.8))
    rate = np.array((0.2, -1.0, 0.5))
    omega = body_rate(from_rotation_vector, psi, rate)
    assert np.allclose(inverse_tangent_operator(psi) @ omega, rate, atol=1e-8)


def test_all_descriptions_of_one_rotation_agree():
    angle = 0.4
    expected = elementary(2, angle)
    for matrix in (
        rotation((0.0, 0.0, angle)),
        rotation(axis=(0, 0, 7), angle=angle),
        rotation((3.0 * math.cos(angle / 2), 0.0, 0.0, 3.0 * math.sin(angle / 2))),
        rotation(angles=(0.0, 0.0, angle)),
        rotation(angles=(angle, 0, 0), sequence="zxz"),
        rotation(expected),
        rotation(Rotation.from_rotvec((0.0, 0.0, angle))),
    ):
        assert np.abs(matrix - expected).max() < ROUNDING


def test_a_nearly_orthonormal_matrix_is_repaired():
    matrix = random_matrices(1)[0] + 1e-7 * np.arange(9).reshape(3, 3) / 9
    repaired = as_matrix(matrix)
    assert np.abs(repaired.T @ repaired - np.eye(3)).max() < 1e-15
    assert np.abs(repaired - matrix).max() < 2e-7


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ((0.0, 0.0, 1.0), ("body 'b'", "mbd.rotation((x, y, z))", "ambiguous")),
        ((0, 0, 0, 0), ("body 'b'", "not zero")),
        (np.diag((1.0, 1.0, -1.0)), ("reflection", "+1")),
        (np.diag((1.0, 1.0, 1.1)), ("orthonormal", "2.1e-01")),
        (np.full((3, 3), np.nan), ("NaN",)),
        ((1.0, np.inf, 0.0, 0.0), ("NaN", "infinity")),
        (np.eye(2), ("shape (2, 2)", "3x3")),
        ("upright", ("'upright'", "3x3")),
    ],
)
def test_what_is_no_rotation_is_refused(value, words):
    with pytest.raises(ModelError) as caught:
        as_matrix(value, "body 'b'")
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({}, "exactly one"),
        ({"value": (0, 0, 1), "angles": (0, 0, 1)}, "exactly one"),
        ({"axis": (0, 0, 1)}, "belong together"),
        ({"axis": (0, 0, 0), "angle": 1.0}, "cannot be zero"),
        ({"axis": (0, 0, 1), "angle": math.nan}, "angle"),
        ({"angles": (0, 0, 1), "sequence": "xxy"}, "twelve sequences"),
        ({"angles": (0, 0, 1), "sequence": "XYZ"}, "intrinsic"),
        ({"angles": (0, 0)}, "3 numbers"),
    ],
)
def test_incomplete_descriptions_are_refused(arguments, word):
    with pytest.raises(ModelError, match=word):
        rotation(**arguments)
