"""Coefficients of the modified moments of inertia of the preprocessed discrete Moser-Veselov algorithm.

    1/I~_j = (1 + h^2 s3 + h^4 s5 + h^6 s7 + ...) / I_j + h^2 t3 + h^4 t5 + h^6 t7 + ...

where s_k, t_k are polynomials in the energy H(y) and the Casimir C(y) = |y|^2 / 2 [Hairer & Vilmart 2006; Vilmart 2013,
Algorithm 4 and Table 1; the powers of h there are misprinted]; those beyond k = 7 are in ``series_terms``.

In a steady rotation by the angle a per step the algorithm solves sin(a~) = P(a), where P is the beginning of the series
of the sine, as long as the order. Beyond the angle where P has its maximum a longer step would turn the body less.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

from .series_terms import SERIES

Array = np.ndarray

LARGEST_ANGLE, ORDER = 18, 19
"""Where the coefficients hold the square of the largest angle, and the order."""

COEFFICIENTS = 56
"""s3 (H, C), t3 (H, C), s5 (H^2, CH, C^2), t5 (same), s7 (H^3, CH^2, C^2 H, C^3), t7 (same); largest angle squared and
order; s9 (H^4, CH^3, ..., C^4), t9, s11, t11, s13, t13."""

LARGEST_ANGLE_SQUARED = {
    2: np.inf, 4: 2.0, 6: 6.0 - np.sqrt(12.0), 8: 2.4646043, 10: 2.4674788275, 12: 2.4673996401, 14: 2.4674011201,
}  # fmt: skip
"""First zero of P' = 1 - a^2/2 + a^4/24 - ...; order two has no series, its equations decide. Where P exceeds one
before (orders 6, 10 and 14) the equations have no solution."""


def polynomial(row: dict[str, int], denominator: int, a: tuple[Any, Any, Any]) -> Any:
    """Value of a row of ``series_terms`` for the inverse moments a: numbers of any kind, or arrays."""
    total: Any = 0
    for exponents, n in row.items():
        for i, j, k in sorted(set(permutations(int(digit) for digit in exponents))):
            total = total + n * (a[0] ** i * a[1] ** j * a[2] ** k)
    return total / denominator


def modified_inertia(moments: Array, order: int) -> Array:
    """Coefficients (n, COEFFICIENTS) for moments of inertia (n, 3); those beyond the order (2, 4 ... 14) are zero."""
    i1, i2, i3 = moments.T

    def sigma(a: int) -> Array:
        return np.asarray(i1**a + i2**a + i3**a)

    def tau(b: int, c: int) -> Array:
        return np.asarray((i2**b + i3**b) / i1**c + (i3**b + i1**b) / i2**c + (i1**b + i2**b) / i3**c)

    d = i1 * i2 * i3
    out = np.zeros((len(moments), COEFFICIENTS))
    out[:, LARGEST_ANGLE], out[:, ORDER] = LARGEST_ANGLE_SQUARED[order], order
    if order >= 4:
        s3 = (-sigma(-1) / 3, sigma(1) / (6 * d))
        t3 = (sigma(1) / (6 * d), -1 / (3 * d))
        out[:, 0:4] = np.column_stack((*s3, *t3))
    if order >= 6:
        s5 = (
            (3 * sigma(1) + 2 * d * sigma(-2)) / (60 * d),
            (1 - tau(1, 1)) / (30 * d),
            (sigma(2) - d * sigma(-1)) / (30 * d**2),
        )
        t5 = (
            -(9 + tau(1, 1)) / (60 * d),
            (6 * d * sigma(-1) - sigma(2)) / (60 * d**2),
            -sigma(1) / (60 * d**2),
        )
        out[:, 4:10] = np.column_stack((*s5, *t5))
    if order >= 8:
        s7 = (
            (15 - d * sigma(-3) - 2 * tau(1, 1)) / (630 * d),
            (6 * d * tau(1, 2) - 100 * d * sigma(-1) + 53 * sigma(2)) / (2520 * d**2),
            (9 * sigma(1) + 10 * d * sigma(-2) - 6 * tau(2, 1)) / (420 * d**2),
            (4 * d + 17 * sigma(3) - 15 * d * tau(1, 1)) / (2520 * d**3),
        )
        t7 = (
            (9 * d * sigma(-1) + d * tau(1, 2) - 11 * sigma(2)) / (1260 * d**2),
            (47 * sigma(1) + 13 * tau(2, 1) - 38 * d * sigma(-2)) / (2520 * d**2),
            (sigma(3) + 2 * d * tau(1, 1) - 85 * d) / (1260 * d**3),
            (34 * d * sigma(-1) - 19 * sigma(2)) / (2520 * d**3),
        )
        out[:, 10:18] = np.column_stack((*s7, *t7))
    column = ORDER + 1
    for reached, (denominator, *parts) in SERIES.items():
        if order >= reached:
            inverse = (1 / i1, 1 / i2, 1 / i3)
            rows = [polynomial(row, denominator, inverse) for part in parts for row in part]
            out[:, column : column + len(rows)] = np.column_stack(rows)
            column += len(rows)
    return out
