"""LivensEM: the full, size-reduced and null-space forms of the equations give one motion."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import LivensEM
from mbd.integrators.energy_momentum.livens import REDUCTIONS
from mbd.study.compatibility import NODES, small_model
from tests.integrators.structure.models import chain, closed_loop
from tests.papers.kinon_models import gyroscopic_top

QUATERNION = mbd.nodes.Quaternion
NEWTON = 1e-12


def forces_of_all_kinds() -> mbd.Model:
    return chain(QUATERNION, damping=0.3, loads=True)


MODELS = {  # name: (model, end, step, unknowns of the three forms)
    "top": (lambda: gyroscopic_top(QUATERNION, pinned=True), 0.05, 0.0025, (13, 5, 3)),
    "closed loop": (lambda: closed_loop(QUATERNION), 0.5, 0.025, (100, 44, 36)),
    "chain": (forces_of_all_kinds, 0.1, 0.005, None),
}


@pytest.fixture(scope="module", params=MODELS)
def runs(request):
    model, end, step, sizes = MODELS[request.param]
    return [mbd.simulate(model(), end, step, LivensEM(tolerance=NEWTON, reduction=r)) for r in REDUCTIONS], sizes


def test_one_motion(runs):
    full, *others = runs[0]
    for solution in others:
        assert np.abs(solution.q - full.q).max() < 1e-12 * max(1.0, np.abs(full.q).max())
        assert np.abs(solution.v - full.v).max() < 1e-11 * max(1.0, np.abs(full.v).max())
        assert np.abs(solution.lam - full.lam).max() < 1e-8 * max(1.0, np.abs(full.lam).max())
        assert solution.vd[5:] == pytest.approx(full.vd[5:], abs=1e-8 * max(1.0, np.abs(full.vd).max()))


def test_number_of_unknowns(runs):
    solutions, sizes = runs
    if sizes is None:
        return
    for solution, expected in zip(solutions, sizes, strict=True):
        assert solution.integrator.inner_system(solution.system).assembly.layout.n == expected


def test_invariants_of_all_forms(runs):
    energies = [solution.integrator.invariants(solution)["generalized energy"] for solution in runs[0]]
    for energy in energies[1:]:
        assert energy == pytest.approx(energies[0], rel=1e-10)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_guess_of_rotations_saves_iterations(reduction):
    """With the rotation of the last step as first guess this body took three iterations and two matrices per step."""
    model = mbd.Model("free body")
    node = QUATERNION(pinned=True, angular_velocity=(10, 20, 20))
    model.add(mbd.RigidBody("body", mass=1.0, inertia=(6, 8, 3), node=node))
    stats = mbd.simulate(model, 0.4, 2e-3, LivensEM(reduction=reduction)).stats
    assert stats["newton_iterations"] <= 2.05 * stats["steps"]
    assert stats["factorizations"] <= 1.5 * stats["steps"]


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_restart_continues_bit_for_bit(reduction):
    method, model = LivensEM(reduction=reduction), chain(QUATERNION)
    whole = mbd.simulate(model, 0.1, 0.005, method)
    rest = mbd.simulate(model, 0.1, 0.005, method, start=mbd.simulate(model, 0.05, 0.005, method))
    assert np.array_equal(whole.q[-1], rest.q[-1])
    assert np.array_equal(whole.v[-1], rest.v[-1])


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_recorded_steps(reduction):
    method, model = LivensEM(reduction=reduction), chain(QUATERNION)
    every, some = (mbd.simulate(model, 0.05, 0.005, method, output_step=s) for s in (0.005, 0.02))
    assert some.t == pytest.approx([0.0, 0.02, 0.04, 0.05])
    assert np.array_equal(some.v[-1], every.v[-1])
    assert np.array_equal(some.lam[1], every.lam[4])


@pytest.mark.parametrize("reduction", ["none", "nullspace"])
def test_supported_nodes(reduction):
    method = LivensEM(reduction=reduction)
    for node in NODES:
        for feature in ("free", "joints", "damping"):
            model = small_model(node, feature)
            if model is None:
                continue
            own, other = (mbd.simulate(model, 0.02, 0.01, m) for m in (method, LivensEM()))
            # on directors the forms differ: "nullspace" steps them as quaternions
            assert own.q[-1] == pytest.approx(other.q[-1], abs=1e-9 if node != "Directors" else 1e-4)


def test_messages():
    with pytest.raises(mbd.ModelError, match="reduction is 'half'; expected one of none, size, nullspace"):
        LivensEM(reduction="half")
