"""Jacobi's solution against direct integration, on all branches, and the elliptic integrals under it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special
from scipy.integrate import solve_ivp

import mbd
from mbd.integrators.rigid_body.elliptic import (
    carlson_rf,
    carlson_rj,
    first_kind,
    jacobi_sn_cn,
    quarter_period,
    third_kind_remainder,
)
from mbd.integrators.rigid_body.jacobi import free_rotation
from mbd.rotation import from_quaternion
from tests.integrators.rigid_body.models import BOOK, body

ROUND_OFF = 1e-13
REFERENCE = 2e-12  # of the direct integration
SCRATCH = np.zeros(32)
C1 = BOOK[0] * (BOOK[2] - BOOK[1]) / (BOOK[1] * (BOOK[2] - BOOK[0]))


def exact(moments: np.ndarray, y: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
    out = np.array(free_rotation(*map(float, moments), *map(float, y), t, SCRATCH))
    return out[:3], from_quaternion(out[3:])


def integrated(moments: np.ndarray, states: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Momenta and attitudes of several bodies at once, by DOP853."""

    def rate(_: float, flat: np.ndarray) -> np.ndarray:
        state = flat.reshape(-1, 7)
        y, e0, e = state[:, :3], state[:, 3:4], state[:, 4:]
        omega = y / moments
        scalar = -np.sum(e * omega, axis=1, keepdims=True)
        return np.hstack((np.cross(y, omega), 0.5 * scalar, 0.5 * (e0 * omega + np.cross(e, omega)))).ravel()

    start = np.hstack((states, np.tile((1.0, 0.0, 0.0, 0.0), (len(states), 1)))).ravel()
    end = solve_ivp(rate, (0.0, t), start, method="DOP853", rtol=3e-14, atol=1e-15, max_step=0.05).y[:, -1]
    end = end.reshape(-1, 7)
    return end[:, :3], np.array([from_quaternion(e / np.linalg.norm(e)) for e in end[:, 3:]])


def compare(moments: np.ndarray, states: np.ndarray, t: float) -> None:
    for y, momentum, rotation in zip(states, *integrated(moments, states, t), strict=True):
        found = exact(moments, y, t)
        np.testing.assert_allclose(found[0], momentum, atol=REFERENCE, rtol=0)
        np.testing.assert_allclose(found[1], rotation, atol=REFERENCE, rtol=0)
        np.testing.assert_allclose(found[1] @ found[0], y, atol=1e-14 * (1 + np.linalg.norm(y)), rtol=0)


@pytest.mark.parametrize("t", (0.01, 0.7, 9.0, -3.0))
@pytest.mark.parametrize(
    "moments", (BOOK, (0.5, 0.5, 0.9), (0.5, 0.9, 0.9), (0.7, 0.7, 0.7), (0.5, 0.5 + 1e-9, 0.9), (0.5, 0.9 - 1e-9, 0.9))
)
def test_agrees_with_direct_integration(moments, t, rng):
    moments = np.array(moments)
    states = [rng.normal(size=3) for _ in range(3)]
    for k in range(3):
        states += [np.eye(3)[k], np.where(np.arange(3) == k, 0.0, rng.normal(size=3))]
    states += [np.array((1e-4, 0.3, 1.0)), np.array((1.0, -0.4, 1e-5)), np.array((-0.8, 1e-9, -0.3))]
    compare(moments, np.array(states), t)


@pytest.mark.parametrize("t", (0.1, 4.0))
def test_separatrix_and_unstable_axis(t):
    states = ((0, 1, 0), (1e-9, 1, 0), (0, -1, 1e-9), (C1**0.5, 0.3, (1 - C1) ** 0.5), (1e-12, 1, 1e-12))
    compare(BOOK, np.array(states, dtype=float), t)


def test_flow_property_over_long_times(rng):
    """Two evaluations in a row are one: phi_s o phi_t = phi_(s + t), also after thousands of periods."""
    for _ in range(20):
        moments, y = np.sort(rng.uniform(0.5, 1.0, 3)), rng.normal(size=3)
        s, t = rng.uniform(0.0, 3e3, 2)
        one, two = exact(moments, y, s), exact(moments, y, s + t)
        again = exact(moments, one[0], t)
        np.testing.assert_allclose(again[0], two[0], atol=1e-10, rtol=0)
        np.testing.assert_allclose(one[1] @ again[1], two[1], atol=1e-10, rtol=0)


def test_any_time_in_one_evaluation():
    model = body(BOOK, (0.3, 0.6, -0.8))
    once = mbd.simulate(model, 100.0, 100.0, mbd.integrators.JacobiExact())
    often = mbd.simulate(model, 100.0, 0.01, mbd.integrators.JacobiExact())
    assert once.stats["steps"] == 1
    np.testing.assert_allclose(once["body"].rotation[-1], often["body"].rotation[-1], atol=ROUND_OFF, rtol=0)


def test_tennis_racket_flips_with_the_period_of_the_elliptic_integral():
    """Near the middle axis the body turns over every 2 K / (lambda k3) [Vilmart 2013, Algorithm 1]."""
    y = np.array((1e-3, 1.0, 2e-3))
    c2, k3 = 1 - C1, np.sqrt((1 - C1) * y[1] ** 2 + y[2] ** 2)
    k1 = np.sqrt(y[0] ** 2 + C1 * y[1] ** 2)
    speed = np.sqrt((BOOK[2] - BOOK[1]) * (BOOK[2] - BOOK[0]) / (BOOK[0] * BOOK[1] * BOOK[2] ** 2))
    half_period = 2 * special.ellipkm1(1 - c2 * k1**2 / (C1 * k3**2)) / (speed * k3)
    for method in (mbd.integrators.JacobiExact(), mbd.integrators.MoserVeselov(order=8)):
        solution = mbd.simulate(body(BOOK, y), 200.0, 0.02, method)
        y2 = BOOK[1] * solution["body"].angular_velocity[:, 1]
        k = np.flatnonzero(y2[1:] * y2[:-1] < 0)
        crossings = solution.t[k] + 0.02 * y2[k] / (y2[k] - y2[k + 1])
        assert len(crossings) > 5
        np.testing.assert_allclose(np.diff(crossings), half_period, rtol=1e-5)


def test_elliptic_integrals(rng):
    for _ in range(50):
        x, y, z = rng.uniform(0.0, 1.0, 3) ** 4
        p = 1.0 + rng.exponential(5.0)
        assert carlson_rf(x, y, 1.0) == pytest.approx(special.elliprf(x, y, 1.0), rel=4e-16 * 4)
        assert carlson_rj(x, y, z, p) == pytest.approx(special.elliprj(x, y, z, p), rel=4e-15)
        m1, phi, n = rng.uniform(1e-3, 1.0), rng.uniform(-1.5, 1.5), rng.uniform()
        assert first_kind(np.sin(phi), np.cos(phi), m1) == pytest.approx(special.ellipkinc(phi, 1 - m1), rel=1e-13)
        kappa = (1 - np.sqrt(m1)) / (1 + np.sqrt(m1))
        s, c, _, _ = special.ellipj(special.ellipkinc(phi, 1 - m1) / (1 + kappa), kappa**2)
        dd = 1 - (kappa * s) ** 2
        third = s**3 / 3 * special.elliprj(c * c, dd, 1.0, 1 + n * s * s) - s * special.elliprf(c * c, dd, 1.0) / (
            1 + n
        )
        assert third_kind_remainder(np.sin(phi), np.cos(phi), np.sqrt(m1), n) == pytest.approx(third, abs=1e-13)
        u = rng.uniform(-3.0, 3.0)
        np.testing.assert_allclose(jacobi_sn_cn(u, m1, SCRATCH), special.ellipj(u, 1 - m1)[:2], atol=1e-13)
        assert quarter_period(m1) == pytest.approx(special.ellipkm1(m1), rel=1e-14)
    np.testing.assert_allclose(jacobi_sn_cn(0.7, 0.0, SCRATCH), (np.tanh(0.7), 1 / np.cosh(0.7)), rtol=1e-15)
    assert quarter_period(0.0) == np.inf
