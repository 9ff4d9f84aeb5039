"""General elements with the Livens and Hamiltonian methods on quaternions, in all forms of LivensEM."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import GeneralizedAlpha, HamiltonianEM, HamiltonianMidpoint, Invariant, LivensEM, LivensMidpoint
from tests.integrators.structure.test_general_elements import (
    CONSERVED,
    QUATERNION,
    RV,
    driven,
    end,
    geared,
    loads,
    potentials,
    spread,
    user_elements,
)

ENERGY = (LivensEM(), LivensEM(reduction="none"), LivensEM(reduction="nullspace"), HamiltonianEM())
METHODS = (*ENERGY, LivensMidpoint(), HamiltonianMidpoint())


def name(x):
    return x.name if isinstance(x, mbd.integrators.Integrator) else getattr(x, "__name__", "")


def own_energy(method, solution) -> np.ndarray:
    """What the method keeps: the generalized energy, or T + V."""
    return method.invariants(solution)["generalized energy"] if isinstance(method, LivensEM) else solution.energy.total


@pytest.mark.parametrize("method", ENERGY, ids=name)
@pytest.mark.parametrize("make", [potentials, user_elements, geared], ids=name)
def test_energies(method, make):
    """Discrete gradients of all elements with an energy, of users' potentials and constraints, and of couplings."""
    solution = mbd.simulate(make(QUATERNION), 0.5, 0.005, method)
    assert spread(solution.energy.kinetic) > 1e-3
    assert spread(own_energy(method, solution)) < 1e2 * CONSERVED
    assert solution.constraint_error.position.max() < CONSERVED
    kept = Invariant.GENERALIZED_ENERGY if isinstance(method, LivensEM) else Invariant.ENERGY
    assert kept in method.preserves(solution.system)


@pytest.fixture(scope="module", params=[potentials, loads, driven], ids=name)
def problem(request):
    """A model, built once because the functions in it are compiled, and where generalized-alpha takes it."""
    model = request.param(QUATERNION)
    return model, end(model.with_nodes(RV), 0.4, 1e-3, GeneralizedAlpha())


@pytest.mark.parametrize("method", METHODS, ids=name)
def test_order_and_limit(method, problem, tolerance):
    model, reference = problem
    coarse, middle, fine = (end(model, 0.4, h, method) for h in (0.01, 0.005, 0.0025))
    order = np.log2(np.linalg.norm(coarse - middle) / np.linalg.norm(middle - fine))
    assert order == pytest.approx(2.0, abs=tolerance.order)
    assert fine == pytest.approx(reference, abs=2e-4)


def test_drivers_are_met_at_the_ends_of_the_steps():
    model = driven(QUATERNION)
    for method in METHODS:
        solution = mbd.simulate(model, 0.3, 0.01, method)
        assert solution.constraint_error.position.max() < 1e-9
        assert solution["c"].position[-1, 0] == pytest.approx(np.sin(0.3), abs=1e-9)


def test_forms_move_alike(problem):
    size, none, null = (mbd.simulate(problem[0], 0.1, 0.01, method) for method in ENERGY[:3])
    assert none.q == pytest.approx(size.q, abs=1e-10)
    assert null.q == pytest.approx(size.q, abs=1e-10)
