"""The public interface, as people type it."""

from __future__ import annotations

import numpy as np
import pytest

import mbd


@pytest.fixture
def heavy_top():
    model = mbd.Model("heavy top", gravity=(0, 0, -9.81))
    top = model.add(mbd.RigidBody(
        "top", mass=15.0, inertia=(0.234375, 0.46875, 0.234375),  # diagonal or 3x3, about the centre of mass
        node=mbd.nodes.RotationVector(
            position=(0, 1, 0), velocity=(4.61538, 0, 0), angular_velocity=(0, 150, -4.61538)
        ),
        shape=mbd.shapes.Cone(radius=0.3, height=1.0, axis=(0, -1, 0)),  # for views only; optional
    ))  # fmt: skip
    pivot = model.add(mbd.joints.Spherical(model.ground, top, at=(0, 0, 0)))
    return model, top, pivot


def test_build_simulate_look(heavy_top, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model, top, pivot = heavy_top
    solution = mbd.simulate(model, t_end=1.0, step=1e-3, integrator=mbd.integrators.GeneralizedAlpha(rho_inf=0.9))
    n = 1001
    assert solution.t.shape == (n,)
    body = solution[top]
    assert body.position.shape == (n, 3)
    assert body.rotation.shape == (n, 3, 3)
    assert body.quaternion.shape == (n, 4)
    for values in (body.velocity, body.angular_velocity, body.acceleration, body.point((0, -1, 0)), body.com):
        assert values.shape == (n, 3)
    assert body.angular_acceleration.shape == (n, 3)
    assert np.abs(body.point((0, -1, 0))).max() < 1e-8  # the tip stays
    assert solution[pivot].force.shape == (n, 3)
    assert solution[pivot].torque.shape == (n, 3)
    assert np.array_equal(solution["top"].position, body.position)
    for values in (solution.energy.total, solution.energy.kinetic, solution.energy.potential):
        assert values.shape == (n,)
    assert solution.momentum.angular.shape == solution.momentum.linear.shape == (n, 3)
    assert solution.constraint_error.position.max() < 1e-8
    assert solution.constraint_error.velocity.shape == (n,)
    for key in ("steps", "rejected", "newton_iterations", "factorizations", "wall_time"):
        assert key in solution.stats
    solution.save("top.npz")
    loaded = mbd.load("top.npz")
    assert np.array_equal(loaded["top"].position, solution[top].position)
    assert np.array_equal(loaded.energy.total, solution.energy.total)
    assert loaded.integrator == mbd.integrators.GeneralizedAlpha(rho_inf=0.9)


def test_swap_integrators_and_coordinates(heavy_top):
    model, _, _ = heavy_top
    for integrator in (mbd.integrators.RK4(), mbd.integrators.GeneralizedAlpha(), mbd.integrators.LivensEM()):
        assert mbd.simulate(model, t_end=1.0, step=1e-3, integrator=integrator).complete
    mixed = model.with_nodes({"top": mbd.nodes.Directors})  # a copy; one class for all bodies, or a dict by name
    assert isinstance(mixed["top"].node, mbd.nodes.Directors)
    assert isinstance(model["top"].node, mbd.nodes.RotationVector)
    a, b = (mbd.simulate(m, t_end=0.1, step=1e-4, integrator=mbd.integrators.RK4()) for m in (model, mixed))
    np.testing.assert_allclose(a["top"].position, b["top"].position, atol=1e-8)


def test_top_without_constraints():
    model = mbd.Model("heavy top", gravity=(0, 0, -9.81))
    model.add(
        mbd.RigidBody(
            "top",
            mass=15.0,
            inertia=(0.234375, 0.46875, 0.234375),
            com=(0, 1, 0),
            node=mbd.nodes.RotationVector(pinned=True, angular_velocity=(0, 150, -4.61538)),
        )
    )
    solution = mbd.simulate(model, t_end=0.1, step=1e-4, integrator=mbd.integrators.RK4())
    np.testing.assert_allclose(solution["top"].com[-1], (0.42129665892, 0.89457197435, -0.14916470056), atol=1e-7)
    assert np.abs(solution["top"].position).max() == 0.0


def test_rotations_of_every_kind():
    from scipy.spatial.transform import Rotation

    matrix = Rotation.from_rotvec((0.1, 0.2, 0.3)).as_matrix()
    quaternion = np.roll(Rotation.from_rotvec((0.1, 0.2, 0.3)).as_quat(), 1)
    for rotation in (matrix, quaternion, mbd.rotation((0.1, 0.2, 0.3)), Rotation.from_rotvec((0.1, 0.2, 0.3))):
        np.testing.assert_allclose(mbd.nodes.Quaternion(rotation=rotation).rotation, matrix, atol=1e-15)


def test_forces_and_functions_of_time():
    model = mbd.Model()
    a = model.add(mbd.RigidBody("a", 1.0, (1, 1, 1)))
    b = model.add(mbd.PointMass("b", 1.0, (1, 0, 0)))
    spring = model.add(mbd.forces.Spring(a, b, (0, 0, 0), (0, 0, 0), stiffness=10.0, length=0.8, damping=0.1))
    push = model.add(mbd.forces.Force(b, lambda t: (0, 0, 5 * t)))
    model.add(mbd.forces.Torque(a, (0, 0, 1)))
    bushing = model.add(mbd.forces.Bushing(model.ground, a, stiffness=(100, 100, 0), damping=1.0))
    solution = mbd.simulate(model, t_end=1.0, step=0.01)
    n = len(solution)
    for element in (spring, push, bushing):
        assert solution[element].force.shape == (n, 3)
        assert solution[element].energy.shape == solution[element].power.shape == (n,)
    assert solution[spring].length.shape == (n,)
    np.testing.assert_allclose(solution[push].force[:, 2], 5.0 * solution.t, atol=1e-12)
    np.testing.assert_allclose(
        solution[bushing].force,
        -np.array((100, 100, 0)) * solution[a].position - solution[a].velocity,
        atol=1e-12,
    )
    np.testing.assert_allclose(
        solution[bushing].energy, 50.0 * (solution[a].position[:, :2] ** 2).sum(axis=1), atol=1e-12
    )


def test_lists_and_names():
    model = mbd.Model()
    body = model.add(mbd.RigidBody(mass=1.0, inertia=(1, 1, 1)))
    joint = model.add(mbd.joints.Revolute(model.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    assert (model.bodies, model.joints, model.forces) == ([body], [joint], [])
    assert model[body.name] is body
    assert model["revolute 1"] is joint
    solution = mbd.simulate(model, 0.1, 0.01)
    assert solution[joint].angle.shape == solution[joint].angle_rate.shape == (11,)
    assert solution.integrator == mbd.integrators.GeneralizedAlpha(rho_inf=0.9)


def test_sparse_matrices_for_people(heavy_top):
    model, _, _ = heavy_top
    system = mbd.assemble(model)
    q, _ = system.initial_state()
    np.testing.assert_allclose(
        system.mass_matrix(q).toarray(), np.diag((15, 15, 15, 0.234375, 0.46875, 0.234375)), atol=1e-14
    )
    assert system.constraint_jacobian(q).shape == (3, 6)
    assert sorted(model.graph) == ["ground", "top"]
