"""Kinon & Betsch 2024, Secs. 5.1 and 5.2: generalized coordinates with singular and variable mass matrices."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import (
    DiscreteVariational,
    GeneralizedAlpha,
    HamiltonianEM,
    HamiltonianMidpoint,
    LivensEM,
    LivensMidpoint,
    Rattle,
)
from tests.papers.kinon_models import mass_spring, spring_pendulum

NEWTON = 1e-12
CONSERVED = 1e-11  # energies of about one, over a run with this Newton tolerance
MASS_SPRING_STEPS, MASS_SPRING_ERRORS = (0.1, 0.05, 0.025), (4.69e-2, 1.18e-2, 2.94e-3)  # of EML
MASS_SPRING_END = 0.2321728048904, 0.1327416793199  # x1, x2 at t = 10
MASS_SPRING_RATES = 0.0943154983092, 0.873053822937
PENDULUM_END = 1.0239908361878, 2.3559775009282, 1.5413373462795  # r, theta, phi at t = 1
SINGULAR = (LivensEM(tolerance=NEWTON), LivensMidpoint(tolerance=NEWTON), DiscreteVariational(tolerance=NEWTON))
REGULAR = (*SINGULAR, HamiltonianEM(tolerance=NEWTON), HamiltonianMidpoint(tolerance=NEWTON))


def name(method):
    return method.name


def order(errors) -> float:
    return float(np.log2(errors[-2] / errors[-1]))


@pytest.mark.parametrize("method", SINGULAR, ids=name)
def test_mass_spring_is_second_order(method, tolerance):
    errors, rates = [], []
    for h in MASS_SPRING_STEPS:
        solution = mbd.simulate(mass_spring(), 10.0, h, method)
        errors.append(np.abs(solution.q[-1][[0, 2]] - MASS_SPRING_END).max())
        rates.append(np.abs(solution.v[-1][[0, 2]] - MASS_SPRING_RATES).max())
        assert solution.constraint_error.position.max() < 1e-14  # Fig. 2, left
    assert order(errors) == pytest.approx(2.0, abs=tolerance.order)
    assert rates[-1] < 1e-3
    if isinstance(method, LivensEM):
        assert errors == pytest.approx(MASS_SPRING_ERRORS, rel=0.01)


def test_mass_spring_keeps_the_energy():
    """The mass matrix is constant: generalized and total energy are the same (Prop. 4.6), and exact (Fig. 2)."""
    method = LivensEM(tolerance=NEWTON)
    system = mbd.assemble(mass_spring())
    assert mbd.integrators.Invariant.ENERGY in method.preserves(system)
    solution = mbd.simulate(mass_spring(), 10.0, 0.1, method)
    assert solution.energy.total[0] == pytest.approx(0.5)
    assert np.ptp(solution.energy.total) < CONSERVED
    assert method.invariants(solution)["generalized energy"] == pytest.approx(solution.energy.total, abs=CONSERVED)


@pytest.mark.parametrize("method", [HamiltonianEM(), HamiltonianMidpoint()], ids=name)
def test_a_singular_mass_has_no_hamiltonian(method):
    with pytest.raises(mbd.IncompatibleError, match="body 'masses' is singular. Use LivensEM"):
        mbd.simulate(mass_spring(), 0.1, 0.1, method)


@pytest.mark.parametrize("method", REGULAR, ids=name)
def test_spring_pendulum_is_second_order(method, tolerance):
    errors = []
    for h in (0.01, 0.005, 0.0025):
        solution = mbd.simulate(spring_pendulum(), 1.0, h, method)
        errors.append(np.abs(solution.q[-1] - PENDULUM_END).max())
    assert order(errors) == pytest.approx(2.0, abs=tolerance.order)


def test_spring_pendulum_keeps_the_generalized_energy():
    """Fig. 4: exact, while the total energy changes by some 1e-4; cyclic momenta are not kept by Gonzalez' gradient."""
    method = LivensEM(tolerance=NEWTON)
    solution = mbd.simulate(spring_pendulum(), 1.0, 0.01, method)
    own = method.invariants(solution)["generalized energy"]
    assert own[0] == pytest.approx(1.496484375)
    assert np.ptp(own) < CONSERVED
    assert 1e-5 < np.ptp(solution.energy.total) < 1e-3
    assert mbd.integrators.Invariant.ENERGY not in method.preserves(solution.system)
    assert np.abs(np.diff(cyclic_momentum(solution))).max() > 1e-6


def test_hamiltonian_scheme_keeps_the_total_energy():
    solution = mbd.simulate(spring_pendulum(), 1.0, 0.01, HamiltonianEM(tolerance=NEWTON))
    assert np.ptp(solution.energy.total) < CONSERVED


def cyclic_momentum(solution):
    r, theta, _ = solution.q.T
    return (r * np.sin(theta)) ** 2 * solution.v[:, 2]


@pytest.mark.parametrize("method", [LivensMidpoint(tolerance=NEWTON), DiscreteVariational(tolerance=NEWTON)], ids=name)
def test_midpoint_rules_keep_the_momentum_of_a_cyclic_coordinate(method):
    assert np.ptp(cyclic_momentum(mbd.simulate(spring_pendulum(), 1.0, 0.01, method))) < CONSERVED


def test_small_start_of_the_discrete_variational_method():
    fine = DiscreteVariational(tolerance=NEWTON, small_start=20)
    solution = mbd.simulate(spring_pendulum(), 1.0, 0.0025, fine)
    assert solution.q[-1] == pytest.approx(PENDULUM_END, abs=3e-4)


@pytest.mark.parametrize("method", REGULAR, ids=name)
def test_restart_and_mixture_with_a_body(method):
    """Generalized coordinates beside a constrained quaternion body move as they do alone; runs continue bit for bit."""
    model = spring_pendulum()
    top = mbd.RigidBody("top", mass=1.0, inertia=(0.2, 0.3, 0.4), node=mbd.nodes.Quaternion(position=(1, 0, 0)))
    model.add(top)
    model.add(mbd.joints.Spherical(model.ground, top, at=(0, 0, 0)))
    whole = mbd.simulate(model, 0.1, 0.01, method)
    alone = mbd.simulate(spring_pendulum(), 0.1, 0.01, method)
    assert whole["bob"].coordinates[-1] == pytest.approx(alone.q[-1], abs=1e-9)
    rest = mbd.simulate(model, 0.1, 0.01, method, start=mbd.simulate(model, 0.05, 0.01, method))
    assert np.array_equal(whole.q[-1], rest.q[-1])


def test_multipliers_agree_with_generalized_alpha():
    own = mbd.simulate(mass_spring(), 1.0, 0.01, LivensEM())
    other = mbd.simulate(mass_spring(), 1.0, 0.001, GeneralizedAlpha())
    assert own.lam[-1] == pytest.approx(other.lam[-1], abs=1e-3)


def test_explicit_forces_need_constant_masses():
    with pytest.raises(mbd.IncompatibleError, match="constant mass matrix; node of body 'bob'"):
        mbd.simulate(spring_pendulum(), 0.1, 0.01, Rattle())
