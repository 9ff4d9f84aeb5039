"""Rotations as kernels on scalars: exponential and Cayley map, their tangent operators.

Quaternions are scalar first; ``R`` maps body to world; increments are body-fixed: ``R exp(hat(theta))``.
Every scalar function of the rotation angle is written through the Stumpff functions
``c_k(s) = sum_j (-s)^j / (k + 2j)!`` of ``s = |psi|^2``, which have no singularity at zero and whose derivatives
are Stumpff functions again: ``c_k' = (k c_{k+2} - c_{k+1}) / 2``.
"""

from __future__ import annotations

import math

from ..compiled.kernel import kernel

SMALL_ANGLE_SQUARED = 0.05  # below this the closed forms lose digits and short series are used
SERIES_LIMIT = 10.5  # slightly above pi^2: the series of c6 and c7 has 16 digits up to here


@kernel
def stumpff(s, c):
    """Write c_0(s) ... c_7(s) into c."""
    if s < SERIES_LIMIT:
        c6 = 0.0
        c7 = 0.0
        for j in range(14, -1, -1):  # Horner: c_k = 1/k! (1 - s/((k+1)(k+2)) (1 - ...))
            c6 = 1.0 - c6 * s / ((6 + 2 * j + 1) * (6 + 2 * j + 2))
            c7 = 1.0 - c7 * s / ((7 + 2 * j + 1) * (7 + 2 * j + 2))
        c[6] = c6 / 720.0
        c[7] = c7 / 5040.0
        c[5] = 1.0 / 120.0 - s * c[7]
        c[4] = 1.0 / 24.0 - s * c[6]
        c[3] = 1.0 / 6.0 - s * c[5]
        c[2] = 0.5 - s * c[4]
        c[1] = 1.0 - s * c[3]
        c[0] = 1.0 - s * c[2]
    else:
        phi = math.sqrt(s)
        c[0] = math.cos(phi)
        c[1] = math.sin(phi) / phi
        c[2] = (1.0 - c[0]) / s
        c[3] = (1.0 - c[1]) / s
        c[4] = (0.5 - c[2]) / s
        c[5] = (1.0 / 6.0 - c[3]) / s
        c[6] = (1.0 / 24.0 - c[4]) / s
        c[7] = (1.0 / 120.0 - c[5]) / s


@kernel
def exp_quaternion(x, y, z):
    """Unit quaternion of the rotation vector (x, y, z)."""
    s = 0.25 * (x * x + y * y + z * z)  # square of half the angle
    if s < SMALL_ANGLE_SQUARED:
        w = 1.0 - s * (1 / 2) * (
            1.0 - s * (1 / 12) * (1.0 - s * (1 / 30) * (1.0 - s * (1 / 56) * (1.0 - s * (1 / 90))))
        )
        f = 1.0 - s * (1 / 20) * (1.0 - s * (1 / 42) * (1.0 - s * (1 / 72) * (1.0 - s * (1 / 110))))
        f = 0.5 * (1.0 - s * (1 / 6) * f)
    else:
        phi = math.sqrt(s)
        w = math.cos(phi)
        f = 0.5 * math.sin(phi) / phi
    return w, f * x, f * y, f * z


@kernel
def log_quaternion(w, x, y, z):
    """Rotation vector of a quaternion, |psi| <= pi; the corrected (A10) of Holzinger et al. 2024 with atan2."""
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    n = math.sqrt(x * x + y * y + z * z)
    f = 2.0 / w if n < 1e-10 * w else 2.0 * math.atan2(n, w) / n
    return f * x, f * y, f * z


@kernel
def _inverse_factor(s):
    """f3(s) of T_exp^-1, s = |psi|^2: (1 - (|psi|/2) cot(|psi|/2)) / s."""
    if s < SMALL_ANGLE_SQUARED:
        return 1.0 / 12.0 + s * (1.0 / 720.0 + s * (1.0 / 30240.0 + s * (1.0 / 1209600.0 + s / 47900160.0)))
    half = 0.5 * math.sqrt(s)
    return (1.0 - half / math.tan(half)) / s


@kernel
def tangent_inverse(x, y, z, t):
    """T_exp^-1(psi) = I + hat/2 + f3 hat^2 as nine numbers, row by row [Holzinger et al. 2024, (A3), (A6)]."""
    s = x * x + y * y + z * z
    f3 = _inverse_factor(s)
    d = 1.0 - f3 * s
    t[0] = d + f3 * x * x
    t[1] = f3 * x * y - 0.5 * z
    t[2] = f3 * x * z + 0.5 * y
    t[3] = f3 * x * y + 0.5 * z
    t[4] = d + f3 * y * y
    t[5] = f3 * y * z - 0.5 * x
    t[6] = f3 * x * z - 0.5 * y
    t[7] = f3 * y * z + 0.5 * x
    t[8] = d + f3 * z * z


@kernel
def tangent_operator(x, y, z, t):
    """T_exp(psi) = I + f1 hat + f2 hat^2 as nine numbers [Holzinger et al. 2024, (A2)]; f1 = -c_2, f2 = c_3."""
    s = x * x + y * y + z * z
    if s < SMALL_ANGLE_SQUARED:
        c2 = 0.5 - s / 24.0 * (1.0 - s / 30.0 * (1.0 - s / 56.0 * (1.0 - s / 90.0)))
        c3 = 1.0 / 6.0 - s / 120.0 * (1.0 - s / 42.0 * (1.0 - s / 72.0 * (1.0 - s / 110.0)))
    else:
        phi = math.sqrt(s)
        half = math.sin(0.5 * phi)
        c2 = 2.0 * half * half / s
        c3 = (phi - math.sin(phi)) / (phi * s)
    d = 1.0 - c3 * s
    t[0] = d + c3 * x * x
    t[1] = c3 * x * y + c2 * z
    t[2] = c3 * x * z - c2 * y
    t[3] = c3 * x * y - c2 * z
    t[4] = d + c3 * y * y
    t[5] = c3 * y * z + c2 * x
    t[6] = c3 * x * z + c2 * y
    t[7] = c3 * y * z - c2 * x
    t[8] = d + c3 * z * z


@kernel
def cayley_solve(x1, x2, x3, sign, y1, y2, y3):
    """(I + sign hat(x)/2)^-1 y, as in cay(x) = (I - hat(x)/2)^-1 (I + hat(x)/2)."""
    d = 1.0 / (1.0 + 0.25 * (x1 * x1 + x2 * x2 + x3 * x3))
    c = 0.25 * (x1 * y1 + x2 * y2 + x3 * y3)
    b = 0.5 * sign
    return (
        d * (y1 - b * (x2 * y3 - x3 * y2) + c * x1),
        d * (y2 - b * (x3 * y1 - x1 * y3) + c * x2),
        d * (y3 - b * (x1 * y2 - x2 * y1) + c * x3),
    )


@kernel
def cayley_tangent(x1, x2, x3, e1, e2, e3):
    """(I + hat(x)/2 + x x^T/4) e: change of the Cayley vector x for the body-fixed rotation e behind R cay(x)."""
    c = 0.25 * (x1 * e1 + x2 * e2 + x3 * e3)
    return (
        e1 + 0.5 * (x2 * e3 - x3 * e2) + c * x1,
        e2 + 0.5 * (x3 * e1 - x1 * e3) + c * x2,
        e3 + 0.5 * (x1 * e2 - x2 * e1) + c * x3,
    )


@kernel
def tangent_inverse_along(x, y, z, dx, dy, dz, v1, v2, v3):
    """Derivative of T_exp^-1(psi) v at fixed v, along (dx, dy, dz) of psi: T_exp^-1 = I + hat/2 + f3(|psi|^2) hat^2."""
    s = x * x + y * y + z * z
    f3 = _inverse_factor(s)
    if s < SMALL_ANGLE_SQUARED:
        slope = 1.0 / 720.0 + s * (1.0 / 15120.0 + s * (1.0 / 403200.0 + s / 11975040.0))
    else:
        half = 0.5 * math.sqrt(s)
        sine = math.sin(half)
        slope = ((1.0 / (sine * sine) - 1.0 / (half * math.tan(half))) / 8.0 - f3) / s
    a1, a2, a3 = y * v3 - z * v2, z * v1 - x * v3, x * v2 - y * v1  # psi x v
    b1, b2, b3 = dy * v3 - dz * v2, dz * v1 - dx * v3, dx * v2 - dy * v1  # d psi x v
    c = 2.0 * slope * (x * dx + y * dy + z * dz)
    return (
        0.5 * b1 + f3 * (dy * a3 - dz * a2 + y * b3 - z * b2) + c * (y * a3 - z * a2),
        0.5 * b2 + f3 * (dz * a1 - dx * a3 + z * b1 - x * b3) + c * (z * a1 - x * a3),
        0.5 * b3 + f3 * (dx * a2 - dy * a1 + x * b2 - y * b1) + c * (x * a2 - y * a1),
    )
