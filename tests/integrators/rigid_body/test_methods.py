"""Methods for the free rigid body: orders, invariants, agreement with Jacobi's solution in every node type."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import (
    Invariant,
    JacobiExact,
    MoserVeselov,
    RigidMidpoint,
    RotationSplitting,
    SymmetricSplitting,
)
from mbd.integrators.rigid_body.properties import convergence_order
from tests.integrators.rigid_body.models import BOOK, GENERAL, NODES, body, book, frames

METHODS = [
    RotationSplitting(), SymmetricSplitting(), RigidMidpoint(), MoserVeselov(), MoserVeselov(order=4),
    MoserVeselov(order=6), MoserVeselov(order=8), MoserVeselov(order=10), MoserVeselov(order=12),
    MoserVeselov(order=14),
]  # fmt: skip
LONG = 10**6
ROUND_OFF_LONG = 3e-14  # of an invariant after a million steps
EXACT = 1e-12


@pytest.mark.parametrize("moments", (BOOK, np.array((0.6, 0.8, 1.0))))
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_order(method, moments, tolerance):
    """Orders 12 and 14 are exact in double precision at every step that shows the order of the second body."""
    if method.order > 10 and moments is not BOOK:
        assert convergence_order(method, moments, np.array((0.3, 0.6, -0.8))) == np.inf
        return
    assert convergence_order(method, moments, np.array((0.3, 0.6, -0.8))) == pytest.approx(
        method.order, abs=tolerance.order
    )


@pytest.mark.parametrize("method", [JacobiExact(), *METHODS], ids=repr)
def test_invariants_over_a_million_steps(method):
    step = 0.01
    model = book()
    solution = mbd.simulate(model, LONG * step, step, method, output_step=LONG * step / 20)
    view = solution["body"]
    y = BOOK * view.angular_velocity
    in_space = np.einsum("nij,nj->ni", view.rotation, y)
    assert solution.stats["steps"] == LONG
    assert np.abs(in_space - in_space[0]).max() < ROUND_OFF_LONG
    assert np.ptp(0.5 * np.square(y).sum(axis=1)) < ROUND_OFF_LONG
    declared = method.preserves(solution.system)
    assert Invariant.ANGULAR_MOMENTUM in declared
    energy = solution.energy.total
    if Invariant.ENERGY in declared:
        assert np.ptp(energy) < ROUND_OFF_LONG * energy[0]
    else:  # symplectic: bounded by the square of the step, no drift
        assert Invariant.SYMPLECTIC in declared and 1e-8 < np.ptp(energy) < step**2
    assert np.abs(np.einsum("nij,nik->njk", view.rotation, view.rotation) - np.eye(3)).max() < ROUND_OFF_LONG


def test_energy_of_order_eight_does_not_drift():
    """At most 1e-13 per million steps, here by far less [Vilmart 2008]."""
    count, step = 2 * 10**6, 0.01
    solution = mbd.simulate(book(), count * step, step, MoserVeselov(order=8), output_step=count * step / 50)
    energy = solution.energy.total
    slope = np.polyfit(solution.t / (10**6 * step), energy / energy[0], 1)[0]
    assert abs(slope) < 1e-14


@pytest.mark.parametrize("name", NODES)
def test_every_node_type_and_offset_of_the_centre_of_mass(name, rng):
    """Free bodies in gravity, not in principal axes, against Jacobi's solution in another node type and RK6."""
    model = mbd.Model("bodies", gravity=(0.2, 0.0, -1.0))
    for k in range(3):
        node = mbd.nodes.RotationVector(
            rng.normal(size=3), mbd.rotation(rng.normal(size=3)), rng.normal(size=3), rng.normal(size=3)
        )
        model.add(mbd.RigidBody(f"body {k}", 1.0 + k, GENERAL, node, com=0.3 * k * rng.normal(size=3)))
    exact = frames(mbd.simulate(model, 2.0, 2.0, JacobiExact()))
    reference = frames(mbd.simulate(model, 2.0, 0.01, mbd.integrators.RK6()))
    np.testing.assert_allclose(exact, reference, atol=1e-9, rtol=0)
    other = model.with_nodes(NODES[name])
    found = mbd.simulate(other, 2.0, 0.05, MoserVeselov(order=8))
    np.testing.assert_allclose(frames(found), exact, atol=1e-11, rtol=0)
    assert found.constraint_error.position.max() < EXACT
    assert found.constraint_error.velocity.max() < EXACT
    vd, lam = found.system.accelerations(found.q[-1], found.v[-1], 2.0)
    np.testing.assert_allclose(found.vd[-1], vd, atol=1e-11, rtol=0)
    np.testing.assert_allclose(found.lam[-1], lam, atol=1e-11, rtol=0)


def test_symmetric_splitting_is_exact_for_every_kind_of_symmetric_body():
    """Also where the equal moments are not the first two [Vilmart 2013, Remark 3]."""
    for moments in ((0.5, 0.5, 0.9), (0.9, 0.5, 0.5), (0.5, 0.9, 0.5), (0.7, 0.7, 0.7)):
        model = body(moments, (0.3, 0.6, -0.8))
        found, exact = (mbd.simulate(model, 5.0, 0.5, m) for m in (SymmetricSplitting(), JacobiExact()))
        np.testing.assert_allclose(frames(found), frames(exact), atol=EXACT, rtol=0)


def test_many_bodies_move_as_each_of_them_alone(rng):
    model = mbd.Model("cloud")
    states = [(np.sort(rng.uniform(0.5, 0.9, 3)), rng.normal(size=3)) for _ in range(50)]
    for k, (moments, y) in enumerate(states):
        node = mbd.nodes.Quaternion((k, 0, 0), velocity=(0, k, 0), angular_velocity=y / moments, lie=k % 2 == 0)
        model.add(mbd.RigidBody(f"body {k}", 1.0, moments, node))
    for method in (JacobiExact(), MoserVeselov(order=8)):
        solution = mbd.simulate(model, 3.0, 0.05, method)
        for k in (0, 17, 49):
            alone = mbd.simulate(body(*states[k]), 3.0, 0.05, method)["body"]
            together = solution[f"body {k}"]
            np.testing.assert_allclose(together.rotation, alone.rotation, atol=EXACT, rtol=0)
            np.testing.assert_allclose(together.position[-1], (k, 3.0 * k, 0), atol=EXACT)


@pytest.mark.parametrize("method", (JacobiExact(), MoserVeselov(order=8), SymmetricSplitting()), ids=repr)
def test_restart_and_thinned_output_are_bit_identical(method):
    model = book(position=(1, 2, 3), velocity=(0.1, 0.2, 0.3))
    whole = mbd.simulate(model, 4.0, 0.05, method)
    half = mbd.simulate(model, 2.0, 0.05, method)
    np.testing.assert_array_equal(mbd.simulate(model, 4.0, 0.05, method, start=half).q, whole.q[40:])
    thinned = mbd.simulate(model, 4.0, 0.05, method, output_step=0.35)  # the last record is an extra one
    np.testing.assert_array_equal(thinned.q[1:-1], whole.q[7::7])
    np.testing.assert_array_equal(thinned.q[-1], whole.q[-1])


def test_euler_angles_in_gimbal_lock_are_reported():
    model = body((0.5, 0.5, 0.9), (0.0, 0.5, 0.0), node=mbd.nodes.EulerAngles)  # turns about the middle axis
    with pytest.raises(mbd.SingularityError, match="'body'") as error:
        mbd.simulate(model, np.pi, np.pi / 40, JacobiExact())
    assert error.value.solution.t[-1] == pytest.approx(np.pi / 2 - np.pi / 40)


def test_step_that_is_too_large_is_reported():
    with pytest.raises(mbd.ConvergenceError, match="'body'.*take steps below"):
        mbd.simulate(body(BOOK, (30.0, 60.0, -80.0)), 10.0, 1.0, MoserVeselov())


def test_arguments():
    with pytest.raises(mbd.ModelError, match="order is 3; expected 2, 4, 6, 8, 10, 12 or 14"):
        MoserVeselov(order=3)
    assert all(method.cite and method.requires for method in METHODS)
