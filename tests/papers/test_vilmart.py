"""Numbers and statements of Vilmart 2013, Rigid body dynamics, and of the scheme of Bobenko and Suris."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import root

import mbd
from mbd.integrators import (
    BobenkoSuris,
    JacobiExact,
    MoserVeselov,
    RigidMidpoint,
    RotationSplitting,
    SymmetricSplitting,
)
from mbd.integrators.rigid_body import properties
from mbd.rotation import from_rotation_vector, hat
from mbd.testing import observed_order

BOOK = np.array((0.376, 0.627, 1.0))
MOMENTUM = np.array((0.0, 0.6, -0.8))
REFERENCE = {  # by DOP853 to 1e-13
    10.0: (
        (0.2547227063588952, -0.4230779071642903, -0.8695524293190632),
        (
            (0.0881186958948, -0.8853173522373, 0.4565613663696),
            (0.9232263292009, -0.0995104459431, -0.3711479707857),
            (0.3740163639521, 0.4542145494980, 0.8085795585595),
        ),
    ),
    40.0: (
        (0.0545936805170032, -0.5930307093190382, -0.8033268997439125),
        (
            (0.8272829346743, 0.4773680508447, -0.2961801648143),
            (-0.4145450153282, 0.1629088302722, -0.8953285113778),
            (-0.3791508621424, 0.8634700093530, 0.3326622411466),
        ),
    ),
}


def book() -> mbd.Model:
    model = mbd.Model("book")
    node = mbd.nodes.Quaternion(angular_velocity=MOMENTUM / BOOK)
    model.add(mbd.RigidBody("book", 1.0, BOOK, node))
    return model


def states(method: mbd.integrators.Integrator, t: float, step: float) -> tuple[np.ndarray, np.ndarray]:
    view = mbd.simulate(book(), t, step, method)["book"]
    return BOOK * view.angular_velocity, view.rotation


@pytest.mark.parametrize("t", REFERENCE)
def test_jacobi_and_order_eight_give_the_reference_values(t):
    for method, tolerance in ((JacobiExact(), 5e-13), (MoserVeselov(order=8), 2e-12)):
        y, rotation = states(method, t, 0.04)
        np.testing.assert_allclose(y[-1], REFERENCE[t][0], atol=tolerance, rtol=0)
        np.testing.assert_allclose(rotation[-1], REFERENCE[t][1], atol=tolerance, rtol=0)


@pytest.mark.parametrize(
    ("method", "order", "energy", "poisson", "symplectic"),
    (
        (JacobiExact(), np.inf, True, True, True),
        (RotationSplitting(), 2, False, True, True),
        (SymmetricSplitting(), 2, False, True, True),
        (MoserVeselov(), 2, True, True, True),
        (RigidMidpoint(), 2, True, False, False),
        (MoserVeselov(order=4), 4, True, True, False),
        (MoserVeselov(order=6), 6, True, True, False),
        (MoserVeselov(order=8), 8, True, True, False),
        (MoserVeselov(order=10), 10, True, True, False),
    ),
    ids=repr,
)
def test_table_2(method, order, energy, poisson, symplectic, tolerance):
    """Geometric properties, measured: symplectic maps by the derivative of one step."""
    found = properties.measure(method)
    assert found.order == order or found.order == pytest.approx(order, abs=tolerance.order)
    assert found.momentum < properties.ROUND_OFF and found.casimir < properties.ROUND_OFF
    assert (found.energy < properties.ROUND_OFF) == energy
    assert (found.poisson < properties.DERIVATIVE) == poisson
    assert (found.symplectic < properties.DERIVATIVE) == symplectic
    assert (abs(found.determinant - 1.0) < properties.DERIVATIVE) == (method != RigidMidpoint())


def test_order_two_is_rattle():
    """Both momenta of a step belong to P = (Q1 - Q0) D / h [(11)], and (12) holds."""
    h = 0.1
    y, rotation = states(MoserVeselov(), 30.0, h)
    d = np.diag(0.5 * BOOK.sum() - BOOK)
    for k in range(len(y) - 1):
        p = (rotation[k + 1] - rotation[k]) @ d / h
        for n in (k, k + 1):
            np.testing.assert_allclose(rotation[n].T @ p - p.T @ rotation[n], hat(y[n]), atol=1e-13)
        turn = rotation[k].T @ rotation[k + 1]
        np.testing.assert_allclose(turn @ d - d @ turn.T, h * hat(y[k]), atol=1e-14)
        np.testing.assert_allclose(turn.T @ hat(y[k]) @ turn, hat(y[k + 1]), atol=1e-14)


def test_order_two_is_the_quaternion_scheme_of_wendlandt_and_marsden():
    """Discrete Euler-Lagrange equations of L_d = (2/h^2) v.Jv, v = Im(conj(q_n) q_n+1), with a multiplier."""
    h, inertia = 0.1, np.diag(BOOK)
    solution = mbd.simulate(book(), 3.0, h, MoserVeselov())
    expected = solution["book"].quaternion

    def g(a: np.ndarray) -> np.ndarray:
        return np.column_stack((-a[1:], a[0] * np.eye(3) - hat(a[1:])))

    old, new = expected[0], expected[1]
    for k in range(2, len(expected)):
        before = 4 / h**2 * g(old).T @ inertia @ (g(old) @ new)

        def equations(x: np.ndarray, q: np.ndarray, p: np.ndarray) -> np.ndarray:
            following = x[:4]
            slope = -4 / h**2 * g(following).T @ inertia @ (g(q) @ following)
            return np.array((*(slope + p + 2 * x[4] * q), following @ following - 1))

        guess = np.array((*(2 * new - old), 0.0))
        old, new = new, root(equations, guess, args=(new, before), tol=1e-15).x[:4]
        np.testing.assert_allclose(new, expected[k], atol=1e-12)


def lagrange_top() -> tuple[mbd.Model, float, float]:
    """The top of Kinon, Betsch & Schneider 2023, Section 6.2, in steady precession; its m g l and moment J1."""
    mass, length, gravity, j0, tilt = 0.7068583470577036, 0.075, 9.81, 5.301437602932777e-4, np.pi / 3
    j1 = j0 + mass * length**2
    rotation = from_rotation_vector(np.array((tilt, 0.0, 0.0)))
    spin = mass * gravity * length / (j0 * 10.0) + (j1 - j0) / j0 * 10.0 * np.cos(tilt)
    assert spin == pytest.approx(135.6)
    model = mbd.Model("top", gravity=(0, 0, -gravity))
    node = mbd.nodes.Quaternion(
        rotation=rotation, angular_velocity=10.0 * rotation[2] + np.array((0, 0, spin)), pinned=True
    )
    model.add(mbd.RigidBody("top", mass, (j0, j0, j0), node, com=(0, 0, length)))
    return model, mass * gravity * length, j1


def test_bobenko_suris_error_and_order(tolerance):
    """Relative error of the height at t = 0.001 [Kinon, Betsch & Schneider 2023, Fig. 18]: first order."""
    steps = (1e-4, 5e-5, 2.5e-5)
    errors = [
        abs(mbd.simulate(lagrange_top()[0], 1e-3, h, BobenkoSuris())["top"].com[-1, 2] / 0.0375 - 1) for h in steps
    ]
    assert errors[0] == pytest.approx(8.656e-6, rel=1e-3)
    assert observed_order(errors, steps) == pytest.approx(1.0, abs=tolerance.order)


def test_bobenko_suris_is_integrable():
    """Momenta about vertical and axis, and the energy with the term h/2 of Bobenko & Suris 1999, to round-off."""
    (model, weight, j1), h = lagrange_top(), 0.002
    view = mbd.simulate(model, 2.0, h, BobenkoSuris())["top"]
    axis, up = view.rotation[:, :, 2], np.array((0.0, 0.0, 1.0))
    momentum = np.einsum("nij,nj->ni", view.rotation, view.angular_velocity * (j1, j1, 5.301437602932777e-4))
    energy = 0.5 * np.square(momentum).sum(axis=1) / j1 + weight * axis[:, 2]
    correction = 0.5 * h * weight / j1 * np.einsum("ni,ni->n", axis, np.cross(momentum, up))
    assert np.ptp(momentum[:, 2]) < 1e-14 and np.ptp(np.einsum("ni,ni->n", momentum, axis)) < 1e-14
    assert np.ptp(energy) > 1e-5 * energy[0]
    assert np.ptp(energy + correction) < 1e-13 * energy[0]
