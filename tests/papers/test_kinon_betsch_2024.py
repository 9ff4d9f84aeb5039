"""Kinon & Betsch 2024 (Livens principle, quaternions): free body, heavy top, closed loop."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import mbd
from mbd.integrators import (
    DiscreteVariational,
    HamiltonianEM,
    HamiltonianMidpoint,
    LieEM,
    LivensEM,
    LivensMidpoint,
)
from tests.integrators.structure.models import closed_loop
from tests.papers.kinon_models import NUTATION, PRECESSION, TOP_LENGTH, gyroscopic_top

FREE_BODY_END = {  # q(2), h = 0.05
    LivensEM(tolerance=1e-12): (0.889310327386, 0.344864877298, 0.009778803070, -0.300166175678),
    LivensMidpoint(tolerance=1e-12): (-0.159512557569, -0.149444246534, 0.895819299418, 0.386949536692),
    HamiltonianEM(tolerance=1e-12): (-0.344511500370, -0.390513519792, -0.853137677295, 0.031098561905),
    HamiltonianMidpoint(tolerance=1e-12): (-0.950250437142, -0.178083088182, 0.128340499519, -0.220996010367),
}
EXACT_ROTATION = [
    [0.7715644900682658, -0.2117347954310768, 0.5998804998243042],
    [0.3798943461694149, 0.9097352525696639, -0.1675173303885975],
    [-0.51026319033829, 0.3571416338594113, 0.7823562679176413],
]
TOP_STEPS = (0.01, 0.005, 0.0025, 0.00125, 0.000625)
TOP_ERRORS = {  # error (121) for these steps, from the most to the least accurate method: the ranking of Fig. 13
    LivensMidpoint(): (0.06804, 0.014666, 0.0035566, 0.00088267, 0.00022027),
    LivensEM(): (0.13895, 0.034296, 0.0085034, 0.0021207, 0.00052985),
    HamiltonianMidpoint(): (0.14667, 0.045990, 0.0123318, 0.0031411, 0.00078903),
    HamiltonianEM(): (0.26309, 0.073002, 0.0186996, 0.0047027, 0.00117740),
}
EXACT_LOOP_ENERGY = 2096.16784226673  # after the load


def name(x):
    return x.name if isinstance(x, mbd.integrators.Integrator) else ""


def free_body() -> mbd.Model:
    model = mbd.Model("free body")
    node = mbd.nodes.Quaternion(pinned=True, angular_velocity=(10, 20, 20))
    model.add(mbd.RigidBody("body", mass=1.0, inertia=(6, 8, 3), node=node))
    return model


@pytest.mark.filterwarnings("ignore::mbd.AccuracyWarning")  # the parasitic mode of EML
@pytest.mark.parametrize("method", FREE_BODY_END, ids=name)
def test_free_body_with_large_steps(method):
    solution = mbd.simulate(free_body(), 2.0, 0.05, method)
    assert solution.q[-1] == pytest.approx(FREE_BODY_END[method], abs=1e-8)
    assert solution.constraint_error.position.max() < 1e-11


@pytest.mark.parametrize("method", FREE_BODY_END, ids=name)
def test_free_body_order(method):
    errors = []
    for h in (0.01, 0.005, 0.0025):
        solution = mbd.simulate(free_body(), 2.0, h, method)
        errors.append(np.abs(solution["body"].rotation[-1] - EXACT_ROTATION).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders[-1] == pytest.approx(2.0, abs=0.1)


def test_livens_midpoint_is_the_discrete_variational_rule_without_joints():
    """Without joints both are the midpoint rule of the same Lagrangian; the unit constraint makes the difference."""
    a = mbd.simulate(free_body(), 0.5, 0.005, LivensMidpoint())
    b = mbd.simulate(free_body(), 0.5, 0.005, DiscreteVariational())
    assert a["body"].rotation[-1] == pytest.approx(b["body"].rotation[-1], abs=0.05)


def test_generalized_energy_is_kept_while_the_total_energy_wanders():
    """The parasitic mode of EML: a property of the method, and the reason to prefer LieEM in long runs."""
    method = LivensEM(tolerance=1e-12)
    with pytest.warns(mbd.AccuracyWarning, match="LivensEM with a step of 0.01 gained energy"):
        solution = mbd.simulate(free_body(), 10.0, 0.01, method)
    own = method.invariants(solution)
    assert own["generalized energy"][0] == pytest.approx(2500.0)
    assert np.ptp(own["generalized energy"]) < 1e-6
    assert np.abs(own["angular momentum"] - [60.0, 160.0, 60.0]).max() < 1e-7
    radial = np.abs(np.sum(solution.q * solution.v, axis=1)).reshape(-1)[1:].reshape(5, 200).max(axis=1)
    assert radial[0] < 1.0 < 10.0 < radial[-1]
    lie = free_body().with_nodes(mbd.nodes.RotationVector)
    assert np.ptp(mbd.simulate(lie, 10.0, 0.01, LieEM()).energy.total) < 1e-6


def top_error(method, h) -> float:
    """Error (121) of the centre of mass at t = 0.1."""
    angle = PRECESSION * 0.1
    exact = TOP_LENGTH * np.array(
        [np.sin(NUTATION) * np.sin(angle), -np.sin(NUTATION) * np.cos(angle), np.cos(NUTATION)]
    )
    model = gyroscopic_top(mbd.nodes.Quaternion, pinned=True)
    solution = mbd.simulate(model, 0.1, h, method)
    return float(np.linalg.norm(solution["top"].com[-1] - exact)) / TOP_LENGTH


@pytest.mark.parametrize("method", TOP_ERRORS, ids=name)
def test_steady_precession(method):
    errors = [top_error(method, h) for h in TOP_STEPS]
    assert errors == pytest.approx(TOP_ERRORS[method], rel=0.01)
    assert np.log2(errors[-2] / errors[-1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("h", TOP_STEPS)
def test_ranking_of_the_four_methods(h):
    """Fig. 13: the Livens methods beat the Hamiltonian ones, and the midpoint rules the energy-momentum schemes."""
    errors = [top_error(method, h) for method in TOP_ERRORS]
    assert errors == sorted(errors)


@pytest.mark.parametrize("method", FREE_BODY_END, ids=name)
def test_energy_of_the_top(method):
    """h = 0.01 to t = 2: the energy-momentum schemes keep their energies, the midpoint rules do not (Fig. 10)."""
    solution = mbd.simulate(gyroscopic_top(mbd.nodes.Quaternion, pinned=True), 2.0, 0.01, method)
    vertical = solution.momentum.angular[:, 2]
    if isinstance(method, LivensEM):
        own = method.invariants(solution)
        energy, vertical = own["generalized energy"], own["angular momentum"][:, 2]
    else:
        energy = solution.energy.total
    exact = isinstance(method, LivensEM | HamiltonianEM)
    assert energy[0] == pytest.approx(5.66905519063)
    assert (np.abs(np.diff(energy)).max() < 1e-10) == exact
    assert np.ptp(vertical) < 1e-10


def test_hamiltonian_scheme_keeps_the_total_energy_and_tangential_velocities():
    """EMH keeps T + V and e.e_dot = 0, so that nothing can grow along the quaternion; L is that of the body."""
    solution = mbd.simulate(free_body(), 10.0, 0.01, HamiltonianEM(tolerance=1e-12))
    assert np.ptp(solution.energy.total) < 1e-6
    assert np.abs(np.sum(solution.q * solution.v, axis=1)).max() < 1e-10
    assert np.abs(solution.momentum.angular - [60.0, 160.0, 60.0]).max() < 1e-7


@pytest.mark.parametrize("method", [LivensEM(), HamiltonianEM()], ids=name)
def test_closed_loop_in_quaternions_keeps_energy_but_not_angular_momentum(method):
    """With the exact angular impulse of the load, unlike in print; the defect of the joints is a property of both."""
    energies, defects = [], []
    model = closed_loop(mbd.nodes.Quaternion)
    for h in (0.1, 0.05, 0.025, 0.0125):
        solution = mbd.simulate(model, 1.5, h, method)
        energy, angular = solution.energy.total, solution.momentum.angular
        if isinstance(method, LivensEM):
            own = method.invariants(solution)
            energy, angular = own["generalized energy"], own["angular momentum"]
        after = solution.t > 1.0 - 1e-9
        assert np.ptp(energy[after]) < 1e-6
        energies.append(energy[after][0])
        defects.append(np.ptp(angular[after][:, 0]))
    once = [b + (b - a) / 3.0 for a, b in pairwise(energies)]
    assert once[-1] == pytest.approx(EXACT_LOOP_ENERGY, abs=1e-5)
    assert once[-1] + (once[-1] - once[-2]) / 15.0 == pytest.approx(EXACT_LOOP_ENERGY, abs=1e-6)
    assert defects[0] > 1e-4 > defects[-1] > 1e-8


def test_closed_loop_keeps_angular_momentum_on_lie_nodes():
    lie = mbd.simulate(closed_loop(), 1.5, 0.025, LieEM())
    assert np.abs(lie.momentum.angular[-1] - [300.0, 0.0, 0.0]).max() < 1e-9
