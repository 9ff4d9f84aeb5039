"""What the methods keep: constraints, momentum, and the balance of energy with every kind of force."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import DOPRI5, ODE23, RK4, RK6, BLieDF, GeneralizedAlpha, Invariant, LivensEM
from mbd.nodes import Directors, Quaternion, RotationVector
from mbd.testing import observed_order
from tests.integrators.models import NODES, chain, four_bar, heavy_top, slider_crank

CONSTRAINTS = 1e-13  # metres, after projection
LINEAR = 1e-12  # kg m/s, round-off of 200 steps
VELOCITIES = 1e-8  # relative to the velocities: the Newton tolerance

MODELS = {"heavy top": (heavy_top, 0.3, 1e-3), "chain": (chain, 1.0, 5e-3), "slider-crank": (slider_crank, 1.0, 2e-3)}


def largest_velocity(solution: mbd.Solution) -> float:
    return float(np.abs(solution.v).max())


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("model", MODELS)
def test_stabilized_holds_positions_and_velocities_at_every_step(model, node):
    make, t_end, step = MODELS[model]
    solution = mbd.simulate(make(NODES[node]), t_end, step, GeneralizedAlpha(stabilized=True))
    assert solution.constraint_error.position.max() < 1e-9
    assert solution.constraint_error.velocity.max() < VELOCITIES * largest_velocity(solution)


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("integrator", [RK4(), RK6(), DOPRI5(), ODE23()], ids=lambda integrator: integrator.name)
def test_projection_holds_positions_and_velocities_at_every_step(integrator, node):
    for make, t_end, step in MODELS.values():
        solution = mbd.simulate(make(NODES[node]), t_end, step, integrator)
        assert solution.constraint_error.position.max() < CONSTRAINTS
        assert solution.constraint_error.velocity.max() < 1e-12 * largest_velocity(solution)


def test_index_3_holds_positions_and_carries_a_known_defect_of_velocities():
    """B v = O(h^2), as large as 0.066 m/s at h = 2e-3 on the top; positions hold to the Newton tolerance."""
    method = GeneralizedAlpha(stabilized=False)
    errors = [mbd.simulate(heavy_top(), 0.2, h, method).constraint_error for h in (2e-3, 1e-3, 5e-4)]
    assert max(e.position.max() for e in errors) < 1e-10
    velocity = [e.velocity.max() for e in errors]
    assert observed_order(velocity, (2e-3, 1e-3, 5e-4)) == pytest.approx(2.0, abs=0.1)
    assert velocity[0] == pytest.approx(0.066, rel=0.02)


def test_energy_after_ten_seconds_of_projected_rk4():
    energy = mbd.simulate(heavy_top(), 10.0, 1e-3, RK4(), output_step=0.1).energy.total
    assert abs(energy[-1] - energy[0]) == pytest.approx(1.1e-2, rel=0.05)
    energy = mbd.simulate(heavy_top(), 10.0, 5e-4, RK4(), output_step=0.1).energy.total
    assert abs(energy[-1] - energy[0]) == pytest.approx(3.6e-4, rel=0.05)


# --- momentum -----------------------------------------------------------------------------------------------------


def free_pair() -> mbd.Model:
    """Two bodies in space, joined by a universal joint and a spring; nothing holds them."""
    model = mbd.Model("free pair")
    a = model.add(mbd.RigidBody("a", 2.0, (0.3, 0.5, 0.4), RotationVector(angular_velocity=(1, 2, 0.5))))
    start = RotationVector((1, 0, 0), velocity=(0.2, 1.0, 0.4), angular_velocity=(0, 1, 3))
    b = model.add(mbd.RigidBody("b", 1.0, (0.2, 0.1, 0.2), start))
    c = model.add(mbd.PointMass("c", 0.5, (0.5, 1.0, 0.2), (0.3, 0, 0)))
    model.add(mbd.joints.Universal(a, b, at=(0.5, 0, 0), axis_a=(0, 1, 0), axis_b=(0, 0, 1)))
    model.add(mbd.forces.Spring(a, c, (0, 0.2, 0), stiffness=20.0, length=0.5, damping=0.3))
    model.add(mbd.forces.Bushing(b, c, (-0.5, 0.5, 0.0), stiffness=(5.0, 0.0, 2.0), damping=0.1))
    return model


@pytest.mark.parametrize(
    "integrator",
    [RK4(), DOPRI5(), GeneralizedAlpha(stabilized=False), GeneralizedAlpha()],
    ids=["RK4", "DOPRI5", "index 3", "index 2"],
)
def test_linear_momentum_of_a_free_system(integrator, capsys):
    for node in NODES.values():
        solution = mbd.simulate(free_pair().with_nodes(node), 1.0, 5e-3, integrator)
        p = solution.momentum.linear
        implicit = isinstance(integrator, GeneralizedAlpha)
        drift = np.abs(p - p[1 if implicit else 0]).max()  # index 3 shifts v by its stationary defect at the start
        assert drift < (1e-7 if implicit else 1e-12)
    assert "initial" in capsys.readouterr().err  # the rough velocities of this pair were corrected


@pytest.mark.parametrize(
    "integrator", [RK4(), GeneralizedAlpha(), BLieDF(), LivensEM()], ids=lambda method: method.name
)
def test_linear_momentum_is_declared_where_it_is_kept(integrator):
    """Off the centre of mass it is linear in the velocities of directors only (LivensEM: of quaternions)."""
    for com, gravity in ((0.0, 0.0), (0.1, 0.0), (0.0, 9.81)):
        for node in (RotationVector, Quaternion(lie=False), Directors(lie=False)):
            model = mbd.Model("two bodies and a spring", gravity=(0, 0, -gravity))
            start = RotationVector((0.5, 0, 0), velocity=(0.1, 0.2, 0), angular_velocity=(1, 2, 3))
            a = model.add(mbd.RigidBody("a", 1.0, (0.1, 0.2, 0.25), start, com=(0.5 * com, com, 0)))
            start = RotationVector((1, 0.5, 0), angular_velocity=(0, 0, 2))
            b = model.add(mbd.RigidBody("b", 1.0, (0.1, 0.15, 0.2), start))
            model.add(mbd.forces.Spring(a, b, (0.1, 0, 0), (0, 0.1, 0), stiffness=10.0, length=0.3))
            solution = mbd.simulate(model.with_nodes(node), 1.0, 5e-3, integrator)
            kept = np.ptp(solution.momentum.linear, axis=0).max() < LINEAR
            assert (Invariant.LINEAR_MOMENTUM in integrator.preserves(solution.system)) == kept


def test_angular_momentum_of_a_free_system_at_the_order_of_the_method(capsys):
    drift = []
    for step in (1e-2, 5e-3):
        momentum = mbd.simulate(free_pair(), 1.0, step, RK4()).momentum.angular
        drift.append(np.abs(momentum - momentum[0]).max())
    capsys.readouterr()
    assert np.log2(drift[0] / drift[1]) > 3.9
    assert drift[1] < 1e-7


# --- energy balance -----------------------------------------------------------------------------------------------


def loaded_chain(node) -> mbd.Model:
    """Every kind of force: springs, dampers, a torsion spring over several turns, loads in both frames, bushings."""
    model = mbd.Model("loaded chain", gravity=(0, 0, -9.81))
    wheel = model.add(
        mbd.RigidBody("wheel", 2.0, (0.05, 0.08, 0.05), RotationVector(angular_velocity=(0, 40.0, 0)), com=(0.05, 0, 0))
    )
    start = RotationVector((0.6, 0, 0), velocity=(0, 0, -24.0), angular_velocity=(0, 40.0, 3.0))
    arm = model.add(mbd.RigidBody("arm", 0.5, (0.01, 0.02, 0.02), start))
    weight = model.add(mbd.PointMass("weight", 0.3, (0.5, 0.8, 0.3)))
    axle = model.add(mbd.joints.Revolute(model.ground, wheel, at=(0, 0, 0), axis=(0, 1, 0), name="axle"))
    joint = model.add(mbd.joints.Universal(wheel, arm, at=(0.6, 0, 0), axis_a=(0, 1, 0), axis_b=(0, 0, 1)))
    assert joint.name
    f = mbd.forces
    model.add(f.TorsionSpring(axle, stiffness=1.5, damping=0.02, rest=0.3, name="clock spring"))
    model.add(f.Spring(arm, weight, (0.1, 0, 0), stiffness=30.0, length=0.6, damping=0.5))
    model.add(f.Bushing(wheel, weight, (0, 0.5, 0), stiffness=(3.0, 1.0, 0.0), damping=(0.1, 0.0, 0.2)))
    model.add(f.Force(weight, lambda t: (np.sin(3 * t), 0.5, 9.0 + t)))
    model.add(f.Force(arm, (0.5, 1.0, 0.2), point=(0.1, 0.05, 0), frame="body"))
    model.add(f.Torque(wheel, lambda t: (0.0, 0.4 * np.cos(5 * t), 0.0), frame="body"))
    model.add(f.Torque(arm, (0.01, 0.0, 0.02)))
    return model.with_nodes(node)


def imbalance(node, integrator, step) -> float:
    """Largest violation of E(t) - E(0) = integral of the power (Simpson's rule on pairs of steps)."""
    solution = mbd.simulate(loaded_chain(node), 1.0, step, integrator)
    angle = solution["clock spring"].angle
    assert np.ptp(angle) > 4.0 * np.pi, "the spring should make several turns"
    p, h = solution.power, solution.t[2] - solution.t[1]
    work = np.concatenate(([0.0], np.cumsum(h / 3.0 * (p[:-2:2] + 4.0 * p[1:-1:2] + p[2::2]))))
    energy = solution.energy.total[::2]
    return float(np.abs(energy - energy[0] - work).max())


@pytest.mark.parametrize("node", ["rotation vector lie", "quaternion", "directors", "rotation vector"])
@pytest.mark.parametrize(
    ("integrator", "order", "steps"),
    [
        (RK4(), 4.0, (2e-3, 2.5e-4)),
        (GeneralizedAlpha(stabilized=False), 2.0, (1e-3, 5e-4)),
        (GeneralizedAlpha(stabilized=True), 2.0, (1e-3, 5e-4)),
    ],
    ids=["RK4", "index 3", "index 2"],
)
def test_energy_balance_closes_at_the_order_of_the_method(integrator, order, steps, node):
    errors = [imbalance(NODES[node], integrator, h) for h in steps]
    assert errors[-1] < (1e-5 if order == 4.0 else 0.5), errors
    assert observed_order(errors, steps) > order - 0.25, errors


def test_energy_is_conserved_by_conservative_systems():
    drift = []
    for step in (2e-3, 1e-3):
        energy = mbd.simulate(chain(), 1.0, step, RK4()).energy.total
        drift.append(np.abs(energy - energy[0]).max())
    assert np.log2(drift[0] / drift[1]) > 3.9
    assert drift[1] < 1e-8


# --- redundant constraints ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "integrator",
    [
        RK4(),
        GeneralizedAlpha(stabilized=False),
        GeneralizedAlpha(),
        GeneralizedAlpha(stabilized=False, newton="modified"),
    ],
    ids=["RK4", "index 3", "index 2", "modified"],
)
def test_four_bar_with_four_hinges(integrator):
    """20 equations of rank 17: one warning, and the motion of the model without redundancy."""
    plain = mbd.simulate(four_bar(spatial_loop=True), 1.0, 1e-3, integrator)
    with pytest.warns(mbd.RedundancyWarning, match=r"3 of 20 constraint equations.*hinge.*Spherical or Universal"):
        redundant = mbd.simulate(four_bar(), 1.0, 1e-3, integrator)
    assert redundant.complete
    for name in ("crank", "rod", "rocker"):
        np.testing.assert_allclose(redundant[name].position, plain[name].position, atol=1e-7)
        np.testing.assert_allclose(redundant[name].rotation, plain[name].rotation, atol=1e-7)
        assert np.abs(redundant[name].position[:, 2]).max() < 1e-9
    assert redundant.constraint_error.position.max() < 1e-8


@pytest.mark.parametrize(
    "integrator", [mbd.integrators.LivensEM(), mbd.integrators.HamiltonianMidpoint()], ids=lambda m: m.name
)
def test_redundant_hinges_in_methods_that_step_lie_nodes_as_quaternions(integrator):
    model = mbd.Model("door", gravity=(0, 0, -9.81))
    door = model.add(mbd.RigidBody("door", 20.0, (3.0, 4.0, 1.5), RotationVector((0.4, 0.1, 1.0))))
    for z in (0.2, 1.0, 1.8):
        model.add(mbd.joints.Revolute(model.ground, door, at=(0, 0, z), axis=(0, 0, 1), name=f"hinge {z}"))
    model.add(mbd.forces.Torque(door, (0.0, 1.0, 8.0)))
    with pytest.warns(mbd.RedundancyWarning):
        runs = [mbd.simulate(model.with_nodes(node), 0.2, 0.01, integrator) for node in (RotationVector, Quaternion)]
    np.testing.assert_allclose(runs[0]["door"].position, runs[1]["door"].position, atol=1e-9)
    for run in runs:  # of minimum norm: the weight is shared equally
        np.testing.assert_allclose([run[f"hinge {z}"].force[-1, 2] for z in (0.2, 1.0, 1.8)], 65.4, rtol=1e-6)
