"""Modified moments of inertia of the discrete Moser-Veselov algorithm: the exact series behind every order."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import numpy as np
import pytest

import mbd
from mbd.integrators import JacobiExact, MoserVeselov
from mbd.integrators.rigid_body.flows import homogeneous
from mbd.integrators.rigid_body.series import COEFFICIENTS, modified_inertia, polynomial
from mbd.integrators.rigid_body.series_terms import SERIES
from tests.integrators.rigid_body.models import BOOK, body

BODIES = [  # moments of inertia, momentum
    ((Fraction(3, 8), Fraction(5, 8), Fraction(1)), (Fraction(3, 10), Fraction(3, 5), Fraction(-4, 5))),
    ((Fraction(1, 2), Fraction(9, 7), Fraction(4, 3)), (Fraction(1, 3), Fraction(-2, 5), Fraction(1, 4))),
    ((Fraction(2), Fraction(3, 2), Fraction(3)), (Fraction(-1), Fraction(1, 7), Fraction(5, 6))),
]
ROUND_OFF = 1e-13
Series = list[Fraction]


def product(a: Series, b: Series) -> Series:
    return [sum((a[i] * b[n - i] for i in range(n + 1)), Fraction(0)) for n in range(len(a))]


def cross(a: list[Series], b: list[Series]) -> list[Series]:
    pairs = ((1, 2), (2, 0), (0, 1))
    return [[p - q for p, q in zip(product(a[i], b[j]), product(a[j], b[i]), strict=True)] for i, j in pairs]


def cayley_vector(moments: tuple[Fraction, ...], momentum: tuple[Fraction, ...], terms: int) -> list[Series]:
    """Cayley vector of the exact turn as a power series in the time: Taylor series of y' = y x w, e' = e o w / 2."""
    y = [[x] + [Fraction(0)] * (terms - 1) for x in momentum]
    e = [[Fraction(int(k == 0))] + [Fraction(0)] * (terms - 1) for k in range(4)]
    for n in range(terms - 1):
        w = [[x / j for x in part] for part, j in zip(y, moments, strict=True)]
        rate = cross(y, w)
        turning = cross(e[1:], w)
        scalar = [-sum(column) for column in zip(*(product(e[k + 1], w[k]) for k in range(3)), strict=True)]
        e[0][n + 1] = scalar[n] / (2 * (n + 1))
        for k in range(3):
            y[k][n + 1] = rate[k][n] / (n + 1)
            e[k + 1][n + 1] = (product(e[0], w[k])[n] + turning[k][n]) / (2 * (n + 1))
    inverse = [Fraction(1)] + [Fraction(0)] * (terms - 1)
    for n in range(1, terms):
        inverse[n] = -sum((e[0][m] * inverse[n - m] for m in range(1, n + 1)), Fraction(0))
    return [product(part, inverse) for part in e[1:]]


def sizes(moments, momentum):
    squares = [x * x for x in momentum]
    return sum(x / j for x, j in zip(squares, moments, strict=True)) / 2, sum(squares) / 2


def exact_terms(order: int, moments, momentum) -> tuple[Fraction, Fraction]:
    """(s_k, t_k), k = order - 1, of one body; those up to order 8 from the float coefficients of their sources."""
    energy, casimir = sizes(moments, momentum)
    denominator, *parts = SERIES[order]
    inverse = tuple(1 / Fraction(j) for j in moments)

    def value(rows):
        p = len(rows) - 1
        values = (polynomial(row, denominator, inverse) for row in rows)
        return sum(x * energy ** (p - k) * casimir**k for k, x in enumerate(values))

    return value(parts[0]), value(parts[1])


LOW = {4: (0, 2, 1), 6: (4, 7, 2), 8: (10, 14, 3)}  # columns of s_k and t_k, and the degree


def float_terms(order: int, moments, momentum) -> tuple[float, float]:
    energy, casimir = (float(x) for x in sizes(moments, momentum))
    c = modified_inertia(np.array([[float(j) for j in moments]]), order)[0]
    s, t, degree = LOW[order]
    return homogeneous(c, s, degree, energy, casimir), homogeneous(c, t, degree, energy, casimir)


@pytest.mark.parametrize("case", range(len(BODIES)))
def test_the_exact_motion_solves_the_equations_of_order_ten_to_fourteen(case):
    """J~ c - (1 + |c|^2) h/2 y - (J~ c) x c, with the exact Cayley vector c(h), begins with h^(order + 1): no rounding.

    Multiplied with all modified 1/I~, so that only products of power series occur.
    """
    moments, momentum = BODIES[case]
    terms = 16
    c = cayley_vector(moments, momentum, terms)
    s, t = [Fraction(1)] + [Fraction(0)] * (terms - 1), [Fraction(0)] * terms
    for order in (4, 6, 8, 10, 12, 14):
        found = exact_terms(order, moments, momentum) if order in SERIES else printed(order, moments, momentum)
        if order not in SERIES:
            assert float_terms(order, moments, momentum) == pytest.approx([float(x) for x in found], rel=ROUND_OFF)
        s[order - 2], t[order - 2] = found
        inverse = [[x / j + z for x, z in zip(s, t, strict=True)] for j in moments]  # 1/I~ as series
        n = order + 1
        k1, k2, k3 = (part[:n] for part in inverse)
        c1, c2, c3 = (part[:n] for part in c)
        size = [sum(column) for column in zip(*(product(x, x) for x in (c1, c2, c3)), strict=True)]
        size[0] += 1
        others = ((k1, k2, k3, c1, c2, c3, 0), (k2, k3, k1, c2, c3, c1, 1), (k3, k1, k2, c3, c1, c2, 2))
        for ka, kb, kc, ca, cb, cc, i in others:
            half = [Fraction(0)] + [x * momentum[i] / 2 for x in size[:-1]]  # (1 + |c|^2) h/2 y
            left = product(product(ca, kb), kc)
            right = product(half, product(ka, product(kb, kc)))
            # (J~ c) x c: (1/k_b - 1/k_c) c_b c_c
            gyration = product(product(cb, cc), product(ka, [x - y for x, y in zip(kc, kb, strict=True)]))
            residual = [x - y - z for x, y, z in zip(left, right, gyration, strict=True)]
            assert residual == [0] * n, (order, i)


def printed(order: int, moments, momentum) -> tuple[Fraction, Fraction]:
    """s_k and t_k of Table 1 of Vilmart 2013 as monomial symmetric polynomials of the inverse moments."""
    table = {
        4: (6, ({"100": -2}, {"110": 1}), ({"110": 1}, {"111": -2})),
        6: (
            60,
            ({"200": 2, "110": 3}, {"210": -2, "111": 2}, {"220": 2, "211": -2}),
            ({"210": -1, "111": -9}, {"220": -1, "211": 6}, {"221": -1}),
        ),
        8: (
            2520,
            ({"300": -4, "210": -8, "111": 60}, {"310": 6, "220": 53, "211": -100},
             {"320": -36, "311": 60, "221": 54}, {"330": 17, "321": -15, "222": 4}),
            ({"310": 2, "220": -22, "211": 18}, {"320": 13, "311": -38, "221": 47},
             {"330": 2, "321": 4, "222": -170}, {"331": -19, "322": 34}),
        ),
    }  # fmt: skip
    energy, casimir = sizes(moments, momentum)
    denominator, *parts = table[order]
    inverse = tuple(1 / j for j in moments)
    return tuple(
        sum(
            polynomial(row, denominator, inverse) * energy ** (len(rows) - 1 - k) * casimir**k
            for k, row in enumerate(rows)
        )
        for rows in parts
    )


@pytest.mark.parametrize("order", (4, 6, 8, 10, 12, 14))
@pytest.mark.parametrize("axis", range(3))
def test_a_steady_rotation_is_the_sine_of_its_angle(order, axis):
    """a_j s_k + t_k = a_j (-1)^p (a_j |y|)^(2p) / (2p + 1)! about every principal axis, exactly."""
    moments, size, p = BODIES[0][0], Fraction(4, 5), (order - 2) // 2
    momentum = tuple(size if k == axis else Fraction(0) for k in range(3))
    a = 1 / moments[axis]
    expected = a * (-1) ** p * (a * size) ** (2 * p) / factorial(2 * p + 1)
    if order in SERIES:
        s, t = exact_terms(order, moments, momentum)
        assert a * s + t == expected
    else:
        s, t = float_terms(order, moments, momentum)
        assert float(a) * s + t == pytest.approx(float(expected), rel=ROUND_OFF)


def test_symmetric_in_the_axes():
    moments, momentum = BODIES[1]
    for order in SERIES:
        expected = exact_terms(order, moments, momentum)
        for axes in ((1, 0, 2), (2, 1, 0), (1, 2, 0)):
            turned = tuple(moments[k] for k in axes), tuple(momentum[k] for k in axes)
            assert exact_terms(order, *turned) == expected


def test_columns_of_the_compiled_step():
    """The coefficients that the step reads are those of the exact series."""
    moments, momentum = BODIES[2]
    energy, casimir = (float(x) for x in sizes(moments, momentum))
    c = modified_inertia(np.array([[float(j) for j in moments]]), 14)[0]
    assert c.shape == (COEFFICIENTS,)
    for order, s, t, degree in ((10, 20, 25, 4), (12, 30, 36, 5), (14, 42, 49, 6)):
        found = homogeneous(c, s, degree, energy, casimir), homogeneous(c, t, degree, energy, casimir)
        expected = [float(x) for x in exact_terms(order, moments, momentum)]
        assert found == pytest.approx(expected, rel=ROUND_OFF)
    tenth = modified_inertia(np.array([[float(j) for j in moments]]), 10)[0]
    assert not tenth[30:].any() and np.array_equal(tenth[20:30], c[20:30])


def test_order_ten_reaches_round_off_with_few_steps():
    """The book of Vilmart 2013, Fig. 1: 128 steps to t = 8, as `docs/rigid_body.md` says."""
    model = body(BOOK, (0.0, 0.6, -0.8), mbd.nodes.Quaternion, lie=True)
    exact = mbd.simulate(model, 8.0, 8.0, JacobiExact())["body"].rotation[-1]
    found = mbd.simulate(model, 8.0, 8.0 / 128, MoserVeselov(order=10))["body"].rotation[-1]
    assert np.abs(found - exact).max() < 5e-15
