"""Flat bodies in directors, whose mass matrix is singular: the equations of a step are regular all the same."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import (
    GGLEM,
    DiscreteVariational,
    GGLEuler,
    GGLMidpoint,
    GGLTrapezoidal,
    HamiltonianEM,
    HamiltonianMidpoint,
    LivensMidpoint,
    Rattle,
    Shake,
)

DIRECTORS = mbd.nodes.Directors
NEWTON = 1e-10  # tolerance of the methods
SECOND_ORDER = (GGLEM(), GGLMidpoint(), GGLTrapezoidal(theta=0.5), Rattle(), DiscreteVariational())
AS_QUATERNIONS = (LivensMidpoint(), HamiltonianEM(), HamiltonianMidpoint())
"""Velocities from momenta alone: flat bodies leave their directors."""


def disc_top(offset: bool = False) -> mbd.Model:
    """A spinning disc at the end of its axle, with the reference point at its centre or at the tip of the axle."""
    model = mbd.Model("top", gravity=(0, 0, -9.81))
    inertia, spin = (0.234375, 0.46875, 0.234375), (0, 15, -0.46)
    if offset:
        start = mbd.nodes.RotationVector(pinned=True, angular_velocity=spin)
        model.add(mbd.RigidBody("top", 15.0, inertia, start, com=(0, 1, 0)))
    else:
        start = mbd.nodes.RotationVector(position=(0, 1, 0), velocity=(0.46, 0, 0), angular_velocity=spin)
        top = model.add(mbd.RigidBody("top", 15.0, inertia, start))
        model.add(mbd.joints.Spherical(model.ground, top, at=(0, 0, 0), name="tip"))
    return model


def chain_of_plates(count: int) -> mbd.Model:
    """Square plates on hinges, each with its centre of mass off the reference point; flat in the plane of x and y."""
    model = mbd.Model("plates", gravity=(0, 0, -9.81))
    last = model.ground
    for k in range(count):
        node = mbd.nodes.RotationVector(position=(k, 0, 0))
        plate = model.add(mbd.RigidBody(f"plate {k}", 1.0, (1 / 12, 1 / 12, 1 / 6), node, com=(0.5, 0, 0)))
        model.add(mbd.joints.Revolute(last, plate, at=(k, 0, 0), axis=(0, 1, 0) if k % 2 else (0, 1, 0.2)))
        last = plate
    return model


@pytest.mark.parametrize("method", SECOND_ORDER + AS_QUATERNIONS, ids=lambda method: method.name)
@pytest.mark.parametrize("offset", (False, True), ids=("joint", "pinned"))
def test_order_on_a_flat_top(method, offset):
    model = disc_top(offset)
    exact = mbd.simulate(model, 0.2, 1e-3, mbd.integrators.RK4())
    errors = []
    for step in (2e-3, 1e-3):
        solution = mbd.simulate(model.with_nodes(DIRECTORS), 0.2, step, method)
        if isinstance(method, Rattle | DiscreteVariational):
            assert solution.constraint_error.velocity.max() < 1e-12
        assert any("in Quaternion" in note for note in solution.notes) == (method in AS_QUATERNIONS and not offset)
        every = round(step / 1e-3)
        found = [solution["top"].position, solution["top"].rotation, solution["top"].angular_velocity]
        known = [exact["top"].position, exact["top"].rotation, exact["top"].angular_velocity]
        if not offset:
            found.append(solution["tip"].force)
            known.append(exact["tip"].force)
        errors.append([np.abs(x - y[::every]).max() for x, y in zip(found, known, strict=True)])
    orders = [np.log2(a / b) for a, b in zip(*errors, strict=True) if a > 1e-9]
    assert len(orders) >= 2
    np.testing.assert_allclose(orders, 2.0, atol=0.15)


def test_the_fast_top_against_another_implementation():
    """The heavy top of Bruls & Cardona with h = 1 ms: numbers of another implementation of the same equations."""
    model = mbd.Model("heavy top", gravity=(0, 0, -9.81))
    start = mbd.nodes.RotationVector(position=(0, 1, 0), velocity=(4.61538, 0, 0), angular_velocity=(0, 150, -4.61538))
    top = model.add(mbd.RigidBody("top", 15.0, (0.234375, 0.46875, 0.234375), start))
    model.add(mbd.joints.Spherical(model.ground, top, at=(0, 0, 0)))
    exact = mbd.simulate(model, 0.1, 2e-5, mbd.integrators.RK4(), output_step=0.1)
    expected = exact.system.frames(exact.q[-1])[1]
    for method, error in ((GGLEM(), 2.0e-2), (GGLMidpoint(), 7.9e-2), (Rattle(), 4.30e-2)):
        solution = mbd.simulate(model.with_nodes(DIRECTORS), 0.1, 1e-3, method)
        found = np.abs(solution.system.frames(solution.q[-1])[1] - expected).max()
        assert found == pytest.approx(error, rel=0.03), method
        if isinstance(method, GGLEM):
            assert np.ptp(solution.energy.total) < NEWTON * solution.energy.total[0]
            assert solution.constraint_error.velocity.max() < 1e-8


@pytest.mark.parametrize("method", [GGLEM(), GGLMidpoint(), GGLTrapezoidal(theta=0.5)], ids=lambda method: method.name)
def test_chains_of_plates_with_the_matrix_of_rigid_bodies(method):
    """Large enough for ``rigid_solve``; a small one of the same kind is solved with all unknowns."""
    model = chain_of_plates(12)
    exact = mbd.simulate(model, 0.2, 1e-3, mbd.integrators.RK4())
    errors = []
    for step in (0.02, 0.01):
        solution = mbd.simulate(model.with_nodes(DIRECTORS), 0.2, step, method)
        name, every = "plate 11", round(step / 1e-3)
        errors.append(
            [
                np.abs(getattr(solution[name], part) - getattr(exact[name], part)[::every]).max()
                for part in ("position", "velocity")
            ]
        )
    assert [np.log2(a / b) for a, b in zip(*errors, strict=True)] == pytest.approx([2.0, 2.0], abs=0.2)


@pytest.mark.parametrize("method", [GGLEM(), GGLMidpoint(), GGLTrapezoidal()], ids=lambda method: method.name)
def test_restarts_keep_the_momenta_of_flat_bodies(method):
    model = disc_top().with_nodes(DIRECTORS)
    whole = mbd.simulate(model, 0.2, 0.01, method)
    rest = mbd.simulate(model, 0.2, 0.01, method, start=mbd.simulate(model, 0.1, 0.01, method))
    assert np.array_equal(whole.q[-1], rest.q[-1])
    assert np.array_equal(whole.v[-1], rest.v[-1])


@pytest.mark.parametrize("method", [GGLEM(), GGLTrapezoidal(theta=0.5)], ids=lambda method: method.name)
def test_momenta_of_free_plates(method):
    model = mbd.Model("free")
    start = mbd.nodes.RotationVector(velocity=(1, 2, 3), angular_velocity=(3, 0.1, 2))
    a = model.add(mbd.RigidBody("a", 1.0, (0.1, 0.2, 0.3), start, com=(0.2, 0.1, 0)))
    b = model.add(mbd.RigidBody("b", 2.0, (0.4, 0.2, 0.2), mbd.nodes.RotationVector(position=(1, 0, 0))))
    model.add(mbd.joints.Spherical(a, b, at=(0.5, 0, 0)))
    solution = mbd.simulate(model.with_nodes(DIRECTORS), 1.0, 0.01, method)
    for momentum in (solution.momentum.linear, solution.momentum.angular):
        assert np.ptp(momentum, axis=0).max() < 1e-9


def test_rods_without_inertia_about_their_axis():
    """Their spin follows from the joints: known to GGLEM, not to methods that compute velocities from momenta."""
    model = mbd.Model("rod", gravity=(0, 0, -9.81))
    rod = model.add(mbd.RigidBody("rod", 1.0, (0, 0.1, 0.1), mbd.nodes.RotationVector(position=(0.5, 0, 0))))
    model.add(mbd.joints.Revolute(model.ground, rod, at=(0, 0, 0), axis=(1, 1, 0), name="hinge"))
    exact = mbd.simulate(model, 0.3, 1e-3, mbd.integrators.RK4())["rod"].angular_velocity
    for given in (model.with_nodes(DIRECTORS), model):  # and recorded in other coordinates
        errors = []
        for step in (0.01, 0.005):
            solution = mbd.simulate(given, 0.3, step, GGLEM())
            errors.append(np.abs(solution["rod"].angular_velocity - exact[:: round(step / 1e-3)]).max())
            assert np.ptp(solution.energy.total) < 1e-9
        assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    with pytest.raises(mbd.IncompatibleError, match=r"Use model.with_nodes\({'rod': mbd.nodes.Directors}\), GGLEM"):
        mbd.simulate(model, 0.1, 0.01, DiscreteVariational())
    mbd.simulate(model.with_nodes({"rod": DIRECTORS}), 0.1, 0.01, DiscreteVariational())
    for method in (GGLMidpoint(), GGLTrapezoidal()):
        with pytest.raises(mbd.IncompatibleError, match="body 'rod' has no inertia about an axis. Use GGLEM"):
            mbd.simulate(model.with_nodes(DIRECTORS), 0.1, 0.01, method)


@pytest.mark.parametrize("method", [GGLEuler(), Shake()], ids=lambda method: method.name)
def test_who_needs_the_inverse_of_the_mass_matrix_refuses(method):
    model = mbd.Model("plate")
    model.add(mbd.RigidBody("plate", 1.0, (0.1, 0.2, 0.3), DIRECTORS(), com=(0.2, 0, 0.1)))
    with pytest.raises(mbd.IncompatibleError, match="'plate' in directors is singular"):
        mbd.simulate(model, 0.1, 0.01, method)
