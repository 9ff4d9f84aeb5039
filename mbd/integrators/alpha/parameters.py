"""Parameters (alpha_m, alpha_f, beta, gamma) of the family of generalized-alpha."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import ModelError, check_number

NAMES = ("alpha_m", "alpha_f", "beta", "gamma")
SAME = 1e-12  # of parameters, which are O(1)


def checked_parameters(method: str, parameters: Any) -> tuple[float, float, float, float]:
    """Four numbers that make a consistent, dissipative or conservative method with an implicit last stage."""
    if not isinstance(parameters, tuple | list | np.ndarray) or len(parameters) != len(NAMES):
        raise ModelError(f"{method}: parameters are {parameters!r}; expected ({', '.join(NAMES)})")
    am, af, beta, gamma = (check_number(x, method, name) for x, name in zip(parameters, NAMES, strict=True))
    for name, value, fine, expected in (
        ("alpha_f", af, af <= 0.5, "at most 1/2"),
        ("alpha_m", am, am <= af + SAME, f"at most alpha_f = {af}"),
        ("beta", beta, beta > 0.0, "a positive number, because the method is implicit"),
        ("gamma", gamma, gamma >= 0.5 - am + af - SAME, f"at least 1/2 - alpha_m + alpha_f = {0.5 - am + af}"),
    ):
        if not fine:
            raise ModelError(f"{method}: {name} is {value}; expected {expected}")
    return am, af, beta, gamma


def radius_at_infinity(af: float, beta: float, gamma: float) -> float:
    """Spectral radius at infinite frequency, where q_{n+1-af} = 0: of the average, and of Newmark's formulas for q = 0.

    The latter has the roots of beta z^2 + (1/2 + gamma - 2 beta) z + 1/2 - gamma + beta; for the best beta they are
    equal, and their square root must not magnify round-off.
    """
    b, c = (0.5 + gamma - 2.0 * beta) / beta, (0.5 - gamma + beta) / beta
    square = 0.25 * b * b - c
    if square < -SAME:
        largest = math.sqrt(c)
    else:
        largest = 0.5 * abs(b) + (math.sqrt(square) if square > SAME else 0.0)
    radius = max(abs(af / (1.0 - af)), largest)
    return 1.0 if abs(radius - 1.0) < SAME else radius
