"""Runge-Kutta tableaux on an ordinary equation with a known solution: order of the method and of its error estimate."""

from __future__ import annotations

import numpy as np
import pytest

from mbd.integrators.runge_kutta import tableaux
from mbd.testing import observed_order

TABLEAUX = {x.name: x for x in vars(tableaux).values() if isinstance(x, tableaux.Tableau)}
STEPS = {"RK4": (40, 80), "RK6": (20, 40), "ODE23": (160, 320), "DOPRI5": (20, 40)}


def rate(t: float, y: np.ndarray) -> np.ndarray:
    """Of (exp(sin t^2), exp(5 sin t^2), sin t^2 + 1, cos t^2) [Hairer, Norsett & Wanner 1993, (4.20)]."""
    return 2.0 * t * np.array((y[1] ** 0.2 * y[3], 5.0 * np.exp(5.0 * (y[2] - 1.0)) * y[3], y[3], 1.0 - y[2]))


def solution(t: float) -> np.ndarray:
    s = np.sin(t * t)
    return np.array((np.exp(s), np.exp(5.0 * s), s + 1.0, np.cos(t * t)))


def step(x: tableaux.Tableau, t: float, y: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    slopes: list[np.ndarray] = []
    for a, c in zip(x.a, x.c, strict=True):
        slopes.append(rate(t + c * h, y + h * sum((w * k for w, k in zip(a, slopes, strict=False)), np.zeros(4))))
    return y + h * np.array(slopes).T @ x.b, h * np.array(slopes).T @ x.error


def error(x: tableaux.Tableau, count: int) -> float:
    y, h = solution(0.0), 1.0 / count
    for k in range(count):
        y = step(x, k * h, y, h)[0]
    return float(np.abs(y - solution(1.0)).max())


@pytest.mark.parametrize("name", TABLEAUX)
def test_order(name):
    x, numbers = TABLEAUX[name], STEPS[name]
    order = observed_order([error(x, n) for n in numbers], [1.0 / n for n in numbers])
    assert x.order - 0.2 < order < x.order + 1.0  # the leading term of DOPRI5 is small beside the next one
    assert x.first_same_as_last == bool(np.array_equal(x.a[-1], x.b) and x.c[-1] == 1.0)


@pytest.mark.parametrize("name", [name for name, x in TABLEAUX.items() if x.error.any()])
def test_order_of_the_error_estimate(name):
    """Of one step: that of the embedded method, whose error it is up to higher order."""
    x, t, y = TABLEAUX[name], 0.7, solution(0.7)
    found = []
    for h in (0.02, 0.01):
        new, estimate = step(x, t, y, h)
        embedded = new - estimate - solution(t + h)
        assert estimate == pytest.approx(-embedded, rel=0.3, abs=0.2 * np.abs(estimate).max())
        found.append(float(np.abs(estimate).max()))
    assert observed_order(found, (0.02, 0.01)) == pytest.approx(x.order, abs=0.2)
