"""Methods for unit quaternions on Lie nodes: the same motion, in the coordinates of the nodes."""

from __future__ import annotations

import numpy as np
import pytest

import mbd

METHODS = (mbd.integrators.LivensEM(), mbd.integrators.LivensMidpoint(), mbd.integrators.HamiltonianEM())
ROUND_OFF = 1e-11  # relative, of conversions back and forth


def pendulum(node, point=True) -> mbd.Model:
    """Two bodies, the second with its reference point off the centre of mass, and a point mass on a spring."""
    model = mbd.Model("pendulum", gravity=(0, 0, -9.81))
    a = model.add(mbd.RigidBody(
        "a", mass=1.0, inertia=(0.02, 0.03, 0.04),
        node=node(position=(0.5, 0, 0), angular_velocity=(1.0, 2.0, 3.0), velocity=(0.0, 1.5, -1.0)),
    ))  # fmt: skip
    b = model.add(mbd.RigidBody(
        "b", mass=2.0, inertia=(0.05, 0.03, 0.04), com=(0.1, 0, 0), node=node(position=(1.0, 0, 0)),
    ))  # fmt: skip
    model.add(mbd.joints.Spherical(model.ground, a, at=(0, 0, 0), name="pivot"))
    model.add(mbd.joints.Revolute(a, b, at=(1.0, 0, 0), axis=(0, 1, 0), name="hinge"))
    if point:
        c = model.add(mbd.PointMass("c", 0.5, (1.5, 0, -0.5)))
        model.add(mbd.forces.Spring(b, c, stiffness=30.0))
    return model


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize("node", [mbd.nodes.RotationVector(), mbd.nodes.Directors(lie=True)], ids=str)
def test_same_motion_as_on_quaternions(method, node):
    given = pendulum(mbd.nodes.RotationVector)
    lie = mbd.simulate(given.with_nodes(node), 0.3, 0.01, method)
    conventional = mbd.simulate(given.with_nodes(mbd.nodes.Quaternion), 0.3, 0.01, method)
    assert lie.q.shape[1] == lie.system.n_q
    for body in ("a", "b", "c"):
        for quantity in ("position", "rotation", "velocity", "angular_velocity", "acceleration"):
            if body == "c" and quantity in ("rotation", "angular_velocity"):
                continue
            x, y = (getattr(s[body], quantity) for s in (lie, conventional))
            assert np.abs(x - y).max() <= ROUND_OFF * (1.0 + np.abs(y).max()), (body, quantity)
    for joint in ("pivot", "hinge"):
        x, y = lie[joint].force, conventional[joint].force
        assert np.abs(x - y).max() <= ROUND_OFF * np.abs(y).max()


def test_restart_is_bit_identical(tmp_path):
    model, method = pendulum(mbd.nodes.RotationVector), mbd.integrators.LivensEM()
    whole = mbd.simulate(model, 0.4, 0.01, method)
    half = mbd.simulate(model, 0.2, 0.01, method)
    half.save(tmp_path / "half.npz")
    rest = mbd.simulate(model, 0.4, 0.01, method, start=mbd.load(tmp_path / "half.npz"))
    assert np.array_equal(rest.q[-1], whole.q[-1])
    assert np.array_equal(rest.v[-1], whole.v[-1])


def test_angular_acceleration_agrees_with_the_equations_of_motion():
    model = pendulum(mbd.nodes.RotationVector, point=False)
    exact = mbd.simulate(model, 0.2, 0.001, mbd.integrators.RK4())
    errors = []
    for h in (0.01, 0.005):
        solution = mbd.simulate(model, 0.2, h, mbd.integrators.HamiltonianEM())
        every = round(h / 0.001)
        errors.append(np.abs(solution["b"].angular_acceleration - exact["b"].angular_acceleration[::every])[5:].max())
    assert errors[1] < 0.6 * errors[0]
    assert errors[1] < 0.05 * np.abs(exact["b"].angular_acceleration).max()


def test_own_invariants_need_the_records_of_quaternions():
    solution = mbd.simulate(pendulum(mbd.nodes.RotationVector), 0.02, 0.01, mbd.integrators.LivensEM())
    with pytest.raises(mbd.ModelError, match="with_nodes"):
        solution.integrator.invariants(solution)
