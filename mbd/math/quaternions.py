"""Quaternions as kernels on scalars, scalar first: products, the quadratic R(e), and the linear maps of their rates.

For every e, R(e) = E(e) G(e)^T is quadratic, and a rotation for |e| = 1. With the body-fixed vector c

    Omega = 2 G(e) e_dot in body axes,   omega = 2 E(e) e_dot in world axes,   C(e) = d(R(e) c)/de (the *lever* of c)

C appears three times because it is used in three ways, each in the arithmetic that suits it: as columns of a matrix, as
a product with a vector, and summed over the three axes of a frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..compiled.kernel import kernel


@kernel
def multiply_quaternions(a0, a1, a2, a3, b0, b1, b2, b3):
    """Hamilton product a o b."""
    return (
        a0 * b0 - a1 * b1 - a2 * b2 - a3 * b3,
        a0 * b1 + a1 * b0 + a2 * b3 - a3 * b2,
        a0 * b2 + a2 * b0 + a3 * b1 - a1 * b3,
        a0 * b3 + a3 * b0 + a1 * b2 - a2 * b1,
    )


@kernel
def rotate(e0, e1, e2, e3, v1, v2, v3):
    """R(e) v = v + 2 e0 (u x v) + 2 u x (u x v) for a unit quaternion (e0, u)."""
    t1, t2, t3 = 2.0 * (e2 * v3 - e3 * v2), 2.0 * (e3 * v1 - e1 * v3), 2.0 * (e1 * v2 - e2 * v1)
    return (
        v1 + e0 * t1 + e2 * t3 - e3 * t2,
        v2 + e0 * t2 + e3 * t1 - e1 * t3,
        v3 + e0 * t3 + e1 * t2 - e2 * t1,
    )


@kernel
def quaternion_axes(e0, e1, e2, e3, z):
    """Columns of the quadratic R(e) = E(e) G(e)^T into z[3:12]; a rotation for |e| = 1."""
    a, b, c, d = e0 * e0, e1 * e1, e2 * e2, e3 * e3
    z[3] = a + b - c - d
    z[4] = 2.0 * (e1 * e2 + e0 * e3)
    z[5] = 2.0 * (e1 * e3 - e0 * e2)
    z[6] = 2.0 * (e1 * e2 - e0 * e3)
    z[7] = a - b + c - d
    z[8] = 2.0 * (e2 * e3 + e0 * e1)
    z[9] = 2.0 * (e1 * e3 + e0 * e2)
    z[10] = 2.0 * (e2 * e3 - e0 * e1)
    z[11] = a - b - c + d


@kernel
def axes_to_quaternion(z):
    """Unit quaternion of the frame z (Shepperd's choice of the largest component)."""
    t = z[3] + z[7] + z[11]
    if t > z[3] and t > z[7] and t > z[11]:
        w, x, y, u = 1.0 + t, z[8] - z[10], z[9] - z[5], z[4] - z[6]
    elif z[3] >= z[7] and z[3] >= z[11]:
        w, x, y, u = z[8] - z[10], 1.0 + z[3] - z[7] - z[11], z[4] + z[6], z[5] + z[9]
    elif z[7] >= z[11]:
        w, x, y, u = z[9] - z[5], z[4] + z[6], 1.0 - z[3] + z[7] - z[11], z[8] + z[10]
    else:
        w, x, y, u = z[4] - z[6], z[5] + z[9], z[8] + z[10], 1.0 - z[3] - z[7] + z[11]
    f = 1.0 / math.sqrt(w * w + x * x + y * y + u * u)
    return w * f, x * f, y * f, u * f


@kernel
def bilinear_axes(e0, e1, e2, e3, x0, x1, x2, x3, z):
    """Axes of the polar form 2 R(e, x): the derivative of the quadratic R(e) along x."""
    a, b, c, d = 2.0 * e0 * x0, 2.0 * e1 * x1, 2.0 * e2 * x2, 2.0 * e3 * x3
    z[3] = a + b - c - d
    z[7] = a - b + c - d
    z[11] = a - b - c + d
    p, m = e1 * x2 + e2 * x1, e0 * x3 + e3 * x0
    z[4] = 2.0 * (p + m)
    z[6] = 2.0 * (p - m)
    p, m = e1 * x3 + e3 * x1, e0 * x2 + e2 * x0
    z[5] = 2.0 * (p - m)
    z[9] = 2.0 * (p + m)
    p, m = e2 * x3 + e3 * x2, e0 * x1 + e1 * x0
    z[8] = 2.0 * (p + m)
    z[10] = 2.0 * (p - m)


@kernel
def quaternion_columns(e0, e1, e2, e3, a1, a2, a3, j, c):
    """d(R(e) A)/de, 3 x 4, into columns c.. of j: R(e) A = (e0^2 - |u|^2) A + 2 (u.A) u + 2 e0 u x A."""
    ua = e1 * a1 + e2 * a2 + e3 * a3
    j[0, c] = 2.0 * (e0 * a1 + e2 * a3 - e3 * a2)
    j[1, c] = 2.0 * (e0 * a2 + e3 * a1 - e1 * a3)
    j[2, c] = 2.0 * (e0 * a3 + e1 * a2 - e2 * a1)
    j[0, c + 1] = 2.0 * ua
    j[1, c + 1] = 2.0 * (a1 * e2 - e1 * a2 - e0 * a3)
    j[2, c + 1] = 2.0 * (a1 * e3 - e1 * a3 + e0 * a2)
    j[0, c + 2] = 2.0 * (a2 * e1 - e2 * a1 + e0 * a3)
    j[1, c + 2] = 2.0 * ua
    j[2, c + 2] = 2.0 * (a2 * e3 - e2 * a3 - e0 * a1)
    j[0, c + 3] = 2.0 * (a3 * e1 - e3 * a1 - e0 * a2)
    j[1, c + 3] = 2.0 * (a3 * e2 - e3 * a2 + e0 * a1)
    j[2, c + 3] = 2.0 * ua


@kernel
def quaternion_pull(e0, e1, e2, e3, f, x, k):
    """x[k:k+4] = sum_i (d(R e_i)/de)^T f_i."""
    # symmetric and antisymmetric parts of [f_1 f_2 f_3]; see d_i(e)
    x[k] = 2.0 * (e0 * (f[3] + f[7] + f[11]) + e3 * (f[4] - f[6]) + e2 * (f[9] - f[5]) + e1 * (f[8] - f[10]))
    x[k + 1] = 2.0 * (e1 * (f[3] - f[7] - f[11]) + e2 * (f[4] + f[6]) + e3 * (f[5] + f[9]) + e0 * (f[8] - f[10]))
    x[k + 2] = 2.0 * (e2 * (f[7] - f[3] - f[11]) + e1 * (f[4] + f[6]) + e3 * (f[8] + f[10]) + e0 * (f[9] - f[5]))
    x[k + 3] = 2.0 * (e3 * (f[11] - f[3] - f[7]) + e1 * (f[5] + f[9]) + e2 * (f[8] + f[10]) + e0 * (f[4] - f[6]))


@kernel
def g_times(e0, e1, e2, e3, x0, x1, x2, x3):
    """G(e) x = vector part of conj(e) o x."""
    return (
        -e1 * x0 + e0 * x1 + e3 * x2 - e2 * x3,
        -e2 * x0 - e3 * x1 + e0 * x2 + e1 * x3,
        -e3 * x0 + e2 * x1 - e1 * x2 + e0 * x3,
    )


@kernel
def g_transposed(e0, e1, e2, e3, u1, u2, u3):
    """G(e)^T u = e o (0, u)."""
    return (
        -e1 * u1 - e2 * u2 - e3 * u3,
        e0 * u1 + e2 * u3 - e3 * u2,
        e0 * u2 + e3 * u1 - e1 * u3,
        e0 * u3 + e1 * u2 - e2 * u1,
    )


@kernel
def e_times(e0, e1, e2, e3, x0, x1, x2, x3):
    """E(e) x = vector part of x o conj(e)."""
    return (
        -e1 * x0 + e0 * x1 - e3 * x2 + e2 * x3,
        -e2 * x0 + e3 * x1 + e0 * x2 - e1 * x3,
        -e3 * x0 - e2 * x1 + e1 * x2 + e0 * x3,
    )


@kernel
def e_transposed(e0, e1, e2, e3, u1, u2, u3):
    """E(e)^T u = (0, u) o e."""
    return (
        -e1 * u1 - e2 * u2 - e3 * u3,
        e0 * u1 - e2 * u3 + e3 * u2,
        e0 * u2 - e3 * u1 + e1 * u3,
        e0 * u3 - e1 * u2 + e2 * u1,
    )


@kernel
def lever_times(c1, c2, c3, e0, e1, e2, e3, x0, x1, x2, x3):
    """C(e) x = d(R(e) c)/de x, bilinear and symmetric in e and x."""
    a, b, d = e1 * c1 + e2 * c2 + e3 * c3, x1 * c1 + x2 * c2 + x3 * c3, e1 * x1 + e2 * x2 + e3 * x3
    y1, y2, y3 = x0 * e1 + e0 * x1, x0 * e2 + e0 * x2, x0 * e3 + e0 * x3
    s = e0 * x0 - d
    return (
        2.0 * (s * c1 + b * e1 + a * x1 + y2 * c3 - y3 * c2),
        2.0 * (s * c2 + b * e2 + a * x2 + y3 * c1 - y1 * c3),
        2.0 * (s * c3 + b * e3 + a * x3 + y1 * c2 - y2 * c1),
    )


@kernel
def lever_transposed(c1, c2, c3, e0, e1, e2, e3, f1, f2, f3):
    """C(e)^T f."""
    a, b, d = e1 * c1 + e2 * c2 + e3 * c3, e1 * f1 + e2 * f2 + e3 * f3, c1 * f1 + c2 * f2 + c3 * f3
    t1, t2, t3 = c2 * f3 - c3 * f2, c3 * f1 - c1 * f3, c1 * f2 - c2 * f1
    return (
        2.0 * (e0 * d + e1 * t1 + e2 * t2 + e3 * t3),
        2.0 * (b * c1 + a * f1 - d * e1 + e0 * t1),
        2.0 * (b * c2 + a * f2 - d * e2 + e0 * t2),
        2.0 * (b * c3 + a * f3 - d * e3 + e0 * t3),
    )


# --- outside of compiled code ---------------------------------------------------------------------------------------


def on_arrays(formula: Any) -> Callable[..., Any]:
    """The plain function behind a kernel of scalars that calls no other; it takes arrays of numbers as well."""
    return getattr(formula, "py_func", formula)  # type: ignore[no-any-return]


def g_matrix(e: np.ndarray) -> np.ndarray:
    """G(e), 3 x 4."""
    return np.column_stack([on_arrays(g_times)(*e, *unit) for unit in np.eye(4)])
