"""Rotations as kernels: Stumpff functions, exponential map, tangent operators, three-parameter rates."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from mbd.math.arctangent import angle_of
from mbd.math.quaternions import axes_to_quaternion, multiply_quaternions, quaternion_axes
from mbd.math.so3 import (
    exp_quaternion,
    log_quaternion,
    stumpff,
    tangent_inverse,
    tangent_inverse_along,
    tangent_operator,
)
from mbd.nodes import kinds
from mbd.nodes.forms import NODE
from mbd.nodes.spin import (
    axes_to_euler,
    euler_axes,
    spin_derivative,
    spin_determinant,
    spin_matrix,
    spin_second_derivative,
)
from mbd.rotation import SEQUENCES, from_euler_angles, from_rotation_vector, hat, sequence_axes
from mbd.testing import derivative

SQUARES = (
    0.0,
    1e-300,
    1e-16,
    1e-8,
    1e-3,
    0.0499,
    0.0501,
    1.0,
    5.0,
    math.pi**2,
    10.49,
    10.51,
    25.0,
    4 * math.pi**2,
    100.0,
)
ANGLES = (0.0, 1e-200, 1e-12, 1e-8, 1e-4, 0.1, 0.2236, 0.4471, 0.4473, 1.0, 2.0, 3.0, 3.1415, math.pi - 1e-9)


def exact_stumpff(k: int, s: float) -> float:
    """c_k(s) = sum_j (-s)^j / (k + 2 j)! in rational arithmetic."""
    x, term, total, j = Fraction(s), Fraction(1, math.factorial(k)), Fraction(0), 0
    while j < 10 or abs(term) > Fraction(1, 10**30):
        total += term
        j += 1
        term *= -x / ((k + 2 * j - 1) * (k + 2 * j))
        term = term.limit_denominator(10**60)
    return float(total)


def unit(rng) -> np.ndarray:
    x = rng.normal(size=3)
    return x / np.linalg.norm(x)


def tangent(psi, inverse=False) -> np.ndarray:
    t = np.zeros(9)
    (tangent_inverse if inverse else tangent_operator)(*psi, t)
    return t.reshape(3, 3)


@pytest.mark.parametrize("s", SQUARES)
def test_stumpff(s):
    c = np.zeros(8)
    stumpff(s, c)
    exact = np.array([exact_stumpff(k, s) for k in range(8)])
    scale = np.array([1.0 / math.factorial(k) for k in range(8)])
    assert np.abs((c - exact) / scale).max() < 2e-14


@pytest.mark.parametrize("s", [0.01, 1.0, 9.0, 20.0])
def test_derivatives_of_stumpff_functions(s, tolerance):
    def values(x):
        c = np.zeros(8)
        stumpff(s + x, c)
        return c

    c = values(0.0)
    expected = [0.5 * (k * c[k + 2] - c[k + 1]) for k in range(6)]
    assert np.allclose(derivative(values)[:6], expected, rtol=0, atol=tolerance.difference)


# --- exponential map ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", ANGLES)
def test_exponential_and_logarithm(angle, rng, tolerance):
    for _ in range(20):
        psi = angle * unit(rng)
        e = exp_quaternion(*psi)
        assert abs(np.linalg.norm(e) - 1.0) < tolerance.round_off
        assert np.abs(np.array(log_quaternion(*e)) - psi).max() <= tolerance.round_off * max(angle, 1e-290)
        z = np.zeros(12)
        quaternion_axes(*e, z)
        assert np.abs(z[3:].reshape(3, 3).T - from_rotation_vector(psi)).max() < tolerance.round_off


def test_logarithm_at_and_beyond_half_a_turn(rng, tolerance):
    for angle in (math.pi, math.pi + 1e-9, 4.0, 6.0, 2 * math.pi - 1e-6, 2 * math.pi + 0.3):
        axis = unit(rng)
        psi = np.array(log_quaternion(*exp_quaternion(*(angle * axis))))
        assert np.linalg.norm(psi) <= math.pi * (1 + 1e-15)
        assert np.abs(from_rotation_vector(psi) - from_rotation_vector(angle * axis)).max() < 10 * tolerance.round_off


def test_quaternions_multiply_like_matrices(rng, tolerance):
    for _ in range(20):
        a, b = rng.normal(size=3), rng.normal(size=3)
        z = np.zeros(12)
        quaternion_axes(*multiply_quaternions(*exp_quaternion(*a), *exp_quaternion(*b)), z)
        product = from_rotation_vector(a) @ from_rotation_vector(b)
        assert np.abs(z[3:].reshape(3, 3).T - product).max() < tolerance.round_off


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1.0, 2.0, math.pi - 1e-12, math.pi])
def test_quaternion_of_a_frame(angle, rng, tolerance):
    axes = [*np.eye(3), *-np.eye(3), *(unit(rng) for _ in range(20))]
    for axis in axes:
        matrix = from_rotation_vector(angle * np.asarray(axis))
        z = np.concatenate((np.zeros(3), matrix.T.ravel()))
        back = np.zeros(12)
        quaternion_axes(*axes_to_quaternion(z), back)
        assert np.abs(back - z).max() < tolerance.round_off


# --- tangent operators --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [*ANGLES, math.pi, 4.0, 6.0])
def test_tangent_operator_and_its_inverse(angle, rng, tolerance):
    psi = angle * unit(rng)
    allowed = tolerance.round_off / max(abs(1.0 - angle / (2 * math.pi)), 1e-3)  # the inverse has a pole at 2 pi
    assert np.abs(tangent(psi) @ tangent(psi, inverse=True) - np.eye(3)).max() < allowed


@pytest.mark.parametrize("angle", [1e-6, 0.1, 0.2236, 1.0, 3.0, 5.0])
def test_tangent_operator_is_the_derivative_of_the_exponential(angle, rng, tolerance):
    psi, rate = angle * unit(rng), rng.normal(size=3)
    turned = from_rotation_vector(psi).T @ derivative(lambda s: from_rotation_vector(psi + s * rate))
    assert np.abs(turned - hat(tangent(psi) @ rate)).max() < tolerance.difference


# --- three parameters ---------------------------------------------------------------------------------------------


def node_record(sequence: str | None):
    """A node of three rotation parameters and nothing else; no sequence: rotation vector."""
    n = np.zeros(1, dtype=NODE).view(np.recarray)
    n.kind = kinds.ROTATION_VECTOR if sequence is None else kinds.EULER_ANGLES
    if sequence is not None:
        n.axis1, n.axis2, n.axis3 = sequence_axes(sequence)
    return n[0]


def matrix_of(sequence: str | None, rho) -> np.ndarray:
    return from_rotation_vector(rho) if sequence is None else from_euler_angles(rho, sequence)


def parameters(sequence: str | None, rng):
    """Parameters in general position, near zero and, for the rotation vector, on both sides of pi."""
    yield rng.normal(size=3)
    yield np.array((0.3, 0.7, -2.1))
    if sequence is None:
        for angle in (1e-9, 1e-3, 0.2236, 3.0, 3.24, 5.0):
            yield angle * unit(rng)


@pytest.mark.parametrize("sequence", [None, *SEQUENCES])
def test_spin_matrix_and_its_derivatives(sequence, rng, tolerance):
    n = node_record(sequence)

    def spin(rho):
        g = np.zeros(9)
        spin_matrix(n, np.ascontiguousarray(rho), g)
        return g

    def first(rho, u, x):
        c, out = np.zeros(8), np.zeros(3)
        spin_derivative(n, np.ascontiguousarray(rho), spin(rho), u, x, c, out)
        return out

    for rho in parameters(sequence, rng):
        u, w, x = rng.normal(size=(3, 3))
        g = spin(rho).reshape(3, 3)
        turned = matrix_of(sequence, rho).T @ derivative(lambda s: matrix_of(sequence, rho + s * x))  # noqa: B023
        assert np.abs(turned - hat(g @ x)).max() < tolerance.difference, "omega = G rho_dot"
        assert spin_determinant(spin(rho)) == pytest.approx(np.linalg.det(g), abs=tolerance.round_off)

        expected = derivative(lambda s: spin(rho + s * u)).reshape(3, 3) @ x  # noqa: B023
        assert np.abs(first(rho, u, x) - expected).max() < tolerance.difference, "DG[u] x"

        second, c = np.zeros(3), np.zeros(8)
        spin_second_derivative(n, rho, spin(rho), u, w, x, c, second)
        expected = derivative(lambda s: first(rho + s * w, u, x))  # noqa: B023
        assert np.abs(second - expected).max() < tolerance.difference, "D^2 G[u, w] x"


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_euler_angles_of_a_frame(sequence, rng, tolerance):
    axes = sequence_axes(sequence)
    locks = (0.0, math.pi) if sequence[0] == sequence[2] else (math.pi / 2, -math.pi / 2)
    middles = [lock + d for lock in locks for d in (0.0, 1e-15, 1e-12, 1e-9, 1e-7, -1e-7, 1e-4)]
    for b in [*middles, *rng.uniform(-math.pi, math.pi, 20)]:
        a, c = rng.uniform(-math.pi, math.pi, 2)
        z, back = np.zeros(12), np.zeros(12)
        euler_axes(*axes, a, b, c, z)
        assert np.abs(z[3:].reshape(3, 3).T - from_euler_angles((a, b, c), sequence)).max() < tolerance.round_off
        euler_axes(*axes, *axes_to_euler(*axes, z), back)
        assert np.abs(back - z).max() < tolerance.round_off, f"middle angle {b!r}"


@pytest.mark.parametrize("size", [1e-6, 0.05, 0.4, 2.5])
def test_inverse_tangent_along_a_direction(size):
    rng = np.random.default_rng(5)
    psi, direction, v = rng.normal(size=(3, 3))
    psi *= size / np.linalg.norm(psi)
    h = 1e-3 * max(size, 0.1)
    at = [tangent(psi + c * h * direction, inverse=True) @ v for c in (1.0, -1.0, 2.0, -2.0)]
    expected = (8.0 * (at[0] - at[1]) - (at[2] - at[3])) / (12.0 * h)
    assert np.abs(np.array(tangent_inverse_along(*psi, *direction, *v)) - expected).max() < 1e-9


def test_angle_of_a_sine_and_a_cosine(rng):
    """The angle of the C library but for two units in the last place, in all octants and near their edges."""
    edges = [k * math.pi / 8 + d for k in range(-8, 9) for d in (0.0, 1e-17, -1e-17, 1e-9, -1e-9, 1e-3, -1e-3)]
    for angle in [*edges, *rng.uniform(-math.pi, math.pi, 500), *(10.0 ** rng.uniform(-300, 0, 50))]:
        for size in (1.0, 1e-3, 7.0):
            s, c = size * math.sin(angle), size * math.cos(angle)
            expected = math.atan2(s, c)
            assert abs(angle_of(s, c) - expected) <= 2.0 * math.ulp(expected)
    for s, c in ((0.0, 0.0), (0.0, 2.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0)):
        assert angle_of(s, c) == math.atan2(s, c)
