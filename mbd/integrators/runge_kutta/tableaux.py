"""Coefficients of the explicit Runge-Kutta methods."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction as F

import numpy as np


@dataclass(frozen=True)
class Tableau:
    """Butcher tableau; ``error`` are the weights of the embedded error estimate (zeros without one)."""

    name: str
    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    error: np.ndarray
    order: int
    first_same_as_last: bool


def _tableau(name: str, rows: list[list], b: list, embedded: list | None, order: int, fsal: bool = False) -> Tableau:
    stages = len(b)
    a = np.zeros((stages, stages))
    for i, row in enumerate(rows):
        a[i + 1, : len(row)] = [float(x) for x in row]
    c = np.array([0.0] + [float(sum(row)) for row in rows])
    error = [0] * stages if embedded is None else [F(x) - F(y) for x, y in zip(b, embedded, strict=True)]
    return Tableau(name, a, np.array([float(x) for x in b]), c, np.array([float(x) for x in error]), order, fsal)


RK4_TABLEAU = _tableau("RK4", [[F(1, 2)], [0, F(1, 2)], [0, 0, 1]], [F(1, 6), F(1, 3), F(1, 3), F(1, 6)], None, 4)

# Butcher's seven-stage method of order six [Hairer, Norsett & Wanner 1993, Table 6.1 with c2 = 1/2]
RK6_TABLEAU = _tableau(
    "RK6",
    [
        [F(1, 2)],
        [F(2, 9), F(4, 9)],
        [F(7, 36), F(2, 9), F(-1, 12)],
        [F(-35, 144), F(-55, 36), F(35, 48), F(15, 8)],
        [F(-1, 360), F(-11, 36), F(-1, 8), F(1, 2), F(1, 10)],
        [F(-41, 260), F(22, 13), F(43, 156), F(-118, 39), F(32, 195), F(80, 39)],
    ],
    [F(13, 200), 0, F(11, 40), F(11, 40), F(4, 25), F(4, 25), F(13, 200)],
    None,
    6,
)

# [Bogacki & Shampine 1989]
ODE23_TABLEAU = _tableau(
    "ODE23",
    [[F(1, 2)], [0, F(3, 4)], [F(2, 9), F(1, 3), F(4, 9)]],
    [F(2, 9), F(1, 3), F(4, 9), 0],
    [F(7, 24), F(1, 4), F(1, 3), F(1, 8)],
    3,
    True,
)

# [Dormand & Prince 1980]
DOPRI5_TABLEAU = _tableau(
    "DOPRI5",
    [
        [F(1, 5)],
        [F(3, 40), F(9, 40)],
        [F(44, 45), F(-56, 15), F(32, 9)],
        [F(19372, 6561), F(-25360, 2187), F(64448, 6561), F(-212, 729)],
        [F(9017, 3168), F(-355, 33), F(46732, 5247), F(49, 176), F(-5103, 18656)],
        [F(35, 384), 0, F(500, 1113), F(125, 192), F(-2187, 6784), F(11, 84)],
    ],
    [F(35, 384), 0, F(500, 1113), F(125, 192), F(-2187, 6784), F(11, 84), 0],
    [F(5179, 57600), 0, F(7571, 16695), F(393, 640), F(-92097, 339200), F(187, 2100), F(1, 40)],
    5,
    True,
)
