"""Rotations as people give them, and the conversions between their descriptions.

The common form is the 3x3 matrix ``R`` that maps body to world components; its columns are the body axes. Quaternions
are scalar first, rotation vectors have length at most pi, Euler angles are intrinsic (about successive body-fixed
axes): ``R = R_i(a) R_j(b) R_k(c)`` for the sequence "ijk".

This module serves the construction of models; the compiled kernels of the nodes have their own arithmetic.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mbd.elements.arguments import Orientation, Vector
from mbd.errors import IDENTITY3, Array, ModelError, bad_value, check_direction, check_number, check_vector, read_only

ORTHONORMAL_TOLERANCE = 1e-6
AXES = {"x": 0, "y": 1, "z": 2}
SEQUENCES = ("xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz")


def rotation(
    value: Orientation | None = None,
    *,
    axis: Vector | None = None,
    angle: float | None = None,
    angles: Vector | None = None,
    sequence: str = "xyz",
) -> Array:
    """Rotation matrix (3x3, body to world) from one of several descriptions.

    - ``rotation((x, y, z))``: rotation vector, the angle in radians times the unit axis;
    - ``rotation(axis=(x, y, z), angle=a)``: angle in radians about an axis of any length;
    - ``rotation((e0, e1, e2, e3))``: quaternion, scalar first, normalised here;
    - ``rotation(angles=(a, b, c), sequence="xyz")``: intrinsic Euler angles, ``R = R_x(a) R_y(b) R_z(c)``;
    - ``rotation(matrix)`` or a ``scipy.spatial.transform.Rotation``.

    >>> turned = mbd.rotation(axis=(0, 0, 1), angle=np.pi / 2)
    >>> (turned @ (1, 0, 0)).round(6).tolist()
    [0.0, 1.0, 0.0]
    >>> mbd.rotation(angles=(0.1, 0.2, 0.3), sequence="zyx").shape
    (3, 3)
    """
    given = [value is not None, axis is not None or angle is not None, angles is not None]
    if sum(given) != 1:
        raise ModelError(
            "rotation: give exactly one description: a rotation vector, quaternion or matrix, or axis= and angle=, "
            "or angles= and sequence="
        )
    if angles is not None:
        return read_only(from_euler_angles(check_vector(angles, "rotation", "angles"), sequence))
    if value is None:
        if axis is None or angle is None:
            raise ModelError("rotation: axis= and angle= belong together, expected both")
        return read_only(
            from_rotation_vector(check_number(angle, "rotation", "angle") * check_direction(axis, "rotation", "axis"))
        )
    if not hasattr(value, "as_matrix") and np.shape(value) == (3,):
        return read_only(from_rotation_vector(check_vector(value, "rotation", "value")))
    return as_matrix(value, "rotation")


def as_matrix(value: Any, where: object = "rotation", argument: str = "rotation") -> Array:
    """Validated 3x3 matrix from a matrix, a scalar-first quaternion or a scipy ``Rotation``.

    ``where`` names the element in error messages. A plain 3-vector is refused because it could mean a rotation vector
    or Euler angles.
    """
    if value is IDENTITY3:
        return IDENTITY3
    given = value.as_matrix() if hasattr(value, "as_matrix") else value
    expected = "a 3x3 rotation matrix, a quaternion (scalar first), mbd.rotation(...) or a scipy Rotation"
    try:
        array = np.array(given)
        if array.dtype.kind not in "fiu":
            raise TypeError
        array = array.astype(float)
    except (TypeError, ValueError):
        raise bad_value(where, argument, value, expected) from None
    if array.shape == (3,):
        raise bad_value(
            where,
            argument,
            value,
            expected + ". Three numbers are ambiguous: write mbd.rotation((x, y, z)) for a rotation vector or "
            'mbd.rotation(angles=(a, b, c), sequence="xyz") for Euler angles',
        )
    if array.shape not in ((4,), (3, 3)):
        raise bad_value(where, argument, value, f"{expected}, not an array of shape {array.shape}")
    if not np.isfinite(array).all():
        raise bad_value(where, argument, value, "finite numbers (no NaN, no infinity)")
    if array.shape == (4,):
        largest = float(np.abs(array).max())
        if largest < 1e-12:
            raise bad_value(where, argument, value, "a quaternion that is not zero (it is normalised for you)")
        return read_only(from_quaternion(array if largest < 1e100 else array / largest))
    return read_only(_orthonormalised(array, where, argument, value))


def _orthonormalised(matrix: Array, where: object, argument: str, value: object) -> Array:
    (a, b, c), (d, e, f), (g, h, i) = matrix.tolist()  # plain arithmetic: large models check ten thousand of these
    defect = max(
        abs(a * a + d * d + g * g - 1.0),
        abs(b * b + e * e + h * h - 1.0),
        abs(c * c + f * f + i * i - 1.0),
        abs(a * b + d * e + g * h),
        abs(a * c + d * f + g * i),
        abs(b * c + e * f + h * i),
    )
    if defect > ORTHONORMAL_TOLERANCE:
        raise bad_value(
            where,
            argument,
            value,
            f"an orthonormal matrix; its columns must be perpendicular unit vectors, but R^T R differs from "
            f"the identity by {defect:.1e}",
        )
    if a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) < 0.0:
        raise bad_value(where, argument, value, "a right-handed matrix (determinant +1); this one is a reflection")
    if defect > 1e-15:
        for _ in range(2):  # Newton iteration of the polar decomposition, quadratic: 1e-6 -> 1e-12 -> rounding
            matrix = matrix @ (1.5 * IDENTITY3 - 0.5 * (matrix.T @ matrix))
    return matrix


def hat(v: Array) -> Array:
    """Skew matrix with ``hat(v) w = v x w``."""
    x, y, z = v.tolist()
    return np.array(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0)))


def elementary(axis: int, angle: float) -> Array:
    """Rotation by ``angle`` about coordinate axis 0, 1 or 2."""
    c, s = math.cos(angle), math.sin(angle)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[j, j] = matrix[k, k] = c
    matrix[k, j], matrix[j, k] = s, -s
    return matrix


def from_quaternion(quaternion: Array) -> Array:
    """Matrix of a quaternion, scalar first, of any nonzero length."""
    e0, e1, e2, e3 = (quaternion / np.linalg.norm(quaternion)).tolist()
    return np.array(
        (
            (1.0 - 2.0 * (e2 * e2 + e3 * e3), 2.0 * (e1 * e2 - e0 * e3), 2.0 * (e1 * e3 + e0 * e2)),
            (2.0 * (e1 * e2 + e0 * e3), 1.0 - 2.0 * (e1 * e1 + e3 * e3), 2.0 * (e2 * e3 - e0 * e1)),
            (2.0 * (e1 * e3 - e0 * e2), 2.0 * (e2 * e3 + e0 * e1), 1.0 - 2.0 * (e1 * e1 + e2 * e2)),
        )
    )


def from_rotation_vector(psi: Array) -> Array:
    """Matrix exponential of ``hat(psi)``, by way of the unit quaternion."""
    half = 0.5 * float(np.linalg.norm(psi))
    scale = 0.5 * math.sin(half) / half if half > 1e-8 else 0.5
    return from_quaternion(np.array((math.cos(half), *(scale * psi))))


def from_euler_angles(angles: Array, sequence: str = "xyz") -> Array:
    """``R_i(a) R_j(b) R_k(c)`` for the sequence "ijk"."""
    i, j, k = sequence_axes(sequence)
    a, b, c = (float(angle) for angle in angles)
    return elementary(i, a) @ elementary(j, b) @ elementary(k, c)


def to_quaternion(matrix: Array) -> Array:
    """Unit quaternion, scalar first and not negative."""
    return np.array(_quaternion(matrix))


def _quaternion(matrix: Array) -> list[float]:
    """Unit quaternion as a list [Shepperd 1978: divide by the largest component]."""
    (r00, r01, r02), (r10, r11, r12), (r20, r21, r22) = matrix.tolist()
    squares = (r00 + r11 + r22, r00 - r11 - r22, r11 - r00 - r22, r22 - r00 - r11)  # 4 e_i^2 - 1
    largest = squares.index(max(squares))
    if largest == 0:
        e = (1.0 + squares[0], r21 - r12, r02 - r20, r10 - r01)
    elif largest == 1:
        e = (r21 - r12, 1.0 + squares[1], r01 + r10, r02 + r20)
    elif largest == 2:
        e = (r02 - r20, r01 + r10, 1.0 + squares[2], r12 + r21)
    else:
        e = (r10 - r01, r02 + r20, r12 + r21, 1.0 + squares[3])
    e0, e1, e2, e3 = e
    length = math.copysign(math.sqrt(e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3), e0)
    return [e0 / length, e1 / length, e2 / length, e3 / length]


def to_rotation_vector(matrix: Array) -> Array:
    """Rotation vector of length at most pi."""
    if matrix is IDENTITY3:  # as most bodies start
        return np.zeros(3)
    e0, *rest = _quaternion(matrix)
    vector = np.array(rest)
    if not any(rest):
        return vector
    sine = float(np.linalg.norm(vector))
    return vector * (2.0 * math.atan2(sine, e0) / sine if sine > 1e-150 else 2.0)


def to_euler_angles(matrix: Array, sequence: str = "xyz") -> Array:
    """Angles (a, b, c) with ``R = R_i(a) R_j(b) R_k(c)``.

    The middle angle lies in [-pi/2, pi/2] if the three axes differ and in [0, pi] if first and last agree. In gimbal
    lock, where only a sum or difference of the outer angles is determined, the first angle is set to zero.
    """
    i, j, last = sequence_axes(sequence)
    k = 3 - i - j
    s = 1.0 if (j - i) % 3 == 1 else -1.0  # parity of (i, j, k)
    r = matrix.tolist()
    if last == i:  # proper Euler angles, e.g. zxz
        y, x = r[j][i], -s * r[k][i]  # sin b (sin a, cos a)
        radius = math.hypot(x, y)
        b = math.atan2(radius, r[i][i])
    else:  # Tait-Bryan angles, e.g. xyz
        y, x = -s * r[j][k], r[k][k]  # cos b (sin a, cos a)
        radius = math.hypot(x, y)
        b = math.atan2(s * r[i][k], radius)
    a = math.atan2(y, x) if radius > 1e-12 else 0.0
    # Row j of R_i(a)^T R = R_j(b) R_last(c) determines c at any b: a and c match each other close to gimbal lock.
    row = [math.cos(a) * r[j][m] + s * math.sin(a) * r[k][m] for m in range(3)]
    c = math.atan2(-s * row[k], row[j]) if last == i else math.atan2(s * row[i], row[j])
    return np.array((a, b, c))


def euler_rate_matrix(angles: Array, sequence: str = "xyz") -> Array:
    """Matrix G with ``omega_body = G (a_dot, b_dot, c_dot)``; its determinant vanishes in gimbal lock."""
    i, j, k = sequence_axes(sequence)
    third = elementary(k, float(angles[2]))
    second = elementary(j, float(angles[1]))
    unit = np.eye(3)
    return np.column_stack((third.T @ (second.T @ unit[i]), third.T @ unit[j], unit[k]))


def inverse_tangent_operator(psi: Array) -> Array:
    """``T_exp(psi)^-1`` with ``omega_body = T_exp(psi) psi_dot``."""
    phi = float(np.linalg.norm(psi))
    if phi < 1e-2:  # the quotient loses digits here; the next term of the series is below 1e-18
        f3 = 1.0 / 12.0 + phi**2 / 720.0 + phi**4 / 30240.0 + phi**6 / 1209600.0
    else:
        f3 = (1.0 - 0.5 * phi / math.tan(0.5 * phi)) / phi**2
    skew = hat(psi)
    return np.eye(3) + 0.5 * skew + f3 * (skew @ skew)


def sequence_axes(sequence: str) -> tuple[int, int, int]:
    """Axis numbers (0, 1, 2) of a sequence such as "xyz" or "zxz"; any other text is refused."""
    check_sequence(sequence, "EulerAngles", "sequence")
    return AXES[sequence[0]], AXES[sequence[1]], AXES[sequence[2]]


def check_sequence(value: Any, owner: object, argument: str) -> str:
    """A sequence of axes of Euler angles."""
    if not isinstance(value, str) or value not in SEQUENCES:
        raise bad_value(owner, argument, value, f"one of the twelve sequences {', '.join(SEQUENCES)} (intrinsic)")
    return value
