"""Static equilibrium: closed solutions, all coordinates, redundant joints, stability, failures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import mbd
from mbd.joints import Revolute, Spherical

G = 9.81
NODES = [mbd.nodes.RotationVector, mbd.nodes.Quaternion, mbd.nodes.Directors]


def chain(n, span):
    """A chain of n links of total length and mass 1 between two points, released from a V."""
    model = mbd.Model("chain", gravity=(0, 0, -G))
    depth = math.sqrt(0.25 - span**2 / 4)
    points = [np.array((k / n * span, 0, -depth * (1 - abs(2 * k / n - 1)))) for k in range(n + 1)]
    last = model.ground
    for k in range(n):
        a, b = points[k], points[k + 1]
        turn = mbd.rotation((0, -math.atan2(b[2] - a[2], b[0] - a[0]), 0))
        node = mbd.nodes.RotationVector(position=(a + b) / 2, rotation=turn)
        moment = 1 / 12 / n**3
        link = model.add(mbd.RigidBody(f"link {k}", 1 / n, (moment / 50, moment, moment), node))
        model.add(Spherical(last, link, at=a))
        last = link
    model.add(Spherical(last, model.ground, at=points[-1], name="end"))
    return model


def hanging_links(n, span):
    """Middles of the links and horizontal force of a chain in equilibrium: tan(slope) = vertical / horizontal force."""

    def slopes(force):
        return np.arctan(G / n * (np.arange(n) - (n - 1) / 2) / force)

    force = brentq(lambda h: np.sum(np.cos(slopes(h))) / n - span, 1e-6, 1e4, xtol=1e-15, rtol=1e-14)
    steps = np.column_stack((np.cos(slopes(force)), np.sin(slopes(force)))) / n
    return np.cumsum(steps, axis=0) - steps / 2, force


@pytest.mark.parametrize("n", [4, 10])
def test_hanging_chain(n):
    found = mbd.equilibrium(chain(n, 0.7))
    middles, force = hanging_links(n, 0.7)
    got = np.array([found[f"link {k}"].position for k in range(n)])
    assert got[:, [0, 2]] == pytest.approx(middles, abs=1e-9)
    assert got[:, 1] == pytest.approx(0, abs=1e-12)
    assert found.stable and found.neutral == n  # every link may turn about itself
    end = mbd.assemble(found.model).joint_slice("end")
    assert np.abs(found.multipliers[end]) == pytest.approx((force, 0, G / 2), abs=1e-6)


def test_a_long_chain_hangs_in_a_catenary():
    """y = a (cosh(x / a) - cosh(s / 2a)) with 2 a sinh(s / 2a) = 1; links approach it quadratically."""
    span = 0.7
    a = brentq(lambda a: 2 * a * math.sinh(span / (2 * a)) - 1, 0.05, 10)
    sag = a * (math.cosh(span / (2 * a)) - 1)
    errors = []
    for n in (5, 10, 20):
        middles, _ = hanging_links(n, span)
        if n == 10:
            found = mbd.equilibrium(chain(n, span))
            middles = np.array([found[f"link {k}"].position for k in range(n)])[:, [0, 2]]
        x, y = middles[:, 0] - span / 2, middles[:, 1]
        errors.append(np.abs(y - (a * np.cosh(x / a) - a - sag)).max())
    assert mbd.testing.observed_order(errors, (1 / 5, 1 / 10, 1 / 20)) == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("node", NODES, ids=lambda n: n.__name__)
def test_mass_on_a_spring_in_all_coordinates(node):
    model = mbd.Model("spring", gravity=(0, 0, -G))
    body = model.add(mbd.RigidBody("body", 2.0, (1, 1, 1), node(position=(0, 0, -1))))
    model.add(mbd.joints.Prismatic(model.ground, body, axis=(0, 0, 1)))
    model.add(mbd.forces.Spring(model.ground, body, stiffness=50.0, length=1.0, damping=3.0))
    found = mbd.equilibrium(model)
    assert found["body"].position == pytest.approx((0, 0, -1 - 2 * G / 50), abs=1e-9)
    assert isinstance(found["body"].node, node)
    assert found.frequencies == pytest.approx([math.sqrt(50 / 2) / (2 * math.pi)])
    assert model["body"].position.tolist() == [0, 0, -1]  # the given model is left alone
    still = mbd.simulate(found.model, t_end=0.1, step=1e-2)
    assert np.abs(still["body"].velocity).max() < 1e-7


def test_redundant_four_bar_under_gravity():
    model = mbd.Model("swing", gravity=(0, 0, -G))
    bars = []
    for k, (a, b) in enumerate((((0, 0, 0), (0.5, 0, -1)), ((0.5, 0, -1), (2.5, 0, -1)), ((2.5, 0, -1), (2, 0, 0)))):
        a, b = np.array(a, float), np.array(b, float)
        turn = mbd.rotation((0, -math.atan2(b[2] - a[2], b[0] - a[0]), 0))
        node = mbd.nodes.RotationVector(position=(a + b) / 2, rotation=turn)
        bars.append(model.add(mbd.RigidBody(f"bar {k}", 1.0, (0.01, 0.1, 0.1), node)))
    chain = [model.ground, *bars, model.ground]
    for k, at in enumerate(((0, 0, 0), (0.5, 0, -1), (2.5, 0, -1), (2, 0, 0))):
        model.add(Revolute(chain[k], chain[k + 1], at=at, axis=(0, 1, 0)))
    model.add(mbd.forces.Force(bars[1], (3, 0, 0)))
    found = mbd.equilibrium(model)
    assert found.stable and found.neutral == 0 and found.residual < 1e-6


def test_an_upright_pendulum_is_unstable_and_a_push_makes_it_fall():
    def pendulum(angle):
        model = mbd.Model("pendulum", gravity=(0, 0, -G))
        node = mbd.nodes.RotationVector(rotation=mbd.rotation((angle, 0, 0)))
        body = model.add(mbd.RigidBody("rod", 1.0, (1.0, 1.0, 0.1), node, com=(0, 0, 1)))
        model.add(Revolute(model.ground, body, at=(0, 0, 0), axis=(1, 0, 0)))
        return model

    assert not mbd.equilibrium(pendulum(0.0)).stable
    fallen = mbd.equilibrium(pendulum(0.01))
    assert fallen.stable
    assert fallen["rod"].rotation @ (0, 0, 1) == pytest.approx((0, 0, -1), abs=1e-8)
    assert "stable equilibrium of model 'pendulum'" in str(fallen)


@pytest.mark.parametrize("hard", [0.0, 1e4, 1e9, 1e11])
def test_weakly_unstable_positions_beside_hard_springs(hard):
    """A rod that a spiral spring nearly holds upright: w^2 = (c - m g l) / J, above and below the critical spring."""
    c, inertia = G, 1.0 + 1.0

    def standing(part):
        model = mbd.Model("standing rod", gravity=(0, 0, -G))
        rod = model.add(mbd.RigidBody("rod", 1.0, (1.0, 1.0, 0.1), mbd.nodes.RotationVector(), com=(0, 0, 1)))
        hinge = model.add(Revolute(model.ground, rod, at=(0, 0, 0), axis=(1, 0, 0)))
        model.add(mbd.forces.TorsionSpring(hinge, c * part))
        if hard:
            mass = model.add(mbd.PointMass("mass", 1.0, (5, 0, -1)))
            model.add(mbd.joints.PointOnLine(model.ground, mass, axis=(0, 0, 1)))
            model.add(mbd.forces.Spring(model.ground, mass, (5, 0, 0), stiffness=hard, length=1.0))
        return model

    for part in (0.0, 0.9) if hard > 1e10 else (0.0, 0.9, 0.999):  # nearer is round-off of the hard spring
        found = mbd.equilibrium(standing(part))
        assert not found.stable and found.neutral == 0, part
        assert "unstable equilibrium" in str(found)
        assert not mbd.linearize(standing(part), found).stable
    for part in (1.1,) if hard > 1e10 else (1.001, 1.1):
        found = mbd.equilibrium(standing(part))
        assert found.stable and found.neutral == 0, part
        slowest = math.sqrt(c * (part - 1.0) / inertia) / (2 * math.pi)
        assert found.frequencies.min() == pytest.approx(slowest, rel=1e-2 if hard > 1e10 else 1e-4)


def test_generalized_coordinates():
    model = mbd.Model("coordinates")

    def potential(q):
        square = (q[1] - q[0]) * (q[1] - q[0])
        return (q[0] - 1) * (q[0] - 1) + 2 * square * square + q[1] * q[1]

    model.add(mbd.Generalized("q", (0.2, 0.1), mass=(1.0, 2.0), potential=potential))
    found = mbd.equilibrium(model)
    x, y = found["q"].coordinates
    assert 2 * (x - 1) == pytest.approx(8 * (y - x) ** 3, abs=1e-8)
    assert 8 * (y - x) ** 3 == pytest.approx(-2 * y, abs=1e-8)


def test_a_falling_body_has_no_equilibrium():
    model = mbd.Model("free", gravity=(0, 0, -G))
    model.add(mbd.RigidBody("stone", 1.0, (1, 1, 1)))
    with pytest.raises(mbd.ConvergenceError, match="body 'stone' still accelerates by 9.81"):
        mbd.equilibrium(model)
    with pytest.raises(mbd.ModelError, match="expected an mbd.Model"):
        mbd.equilibrium(3)
