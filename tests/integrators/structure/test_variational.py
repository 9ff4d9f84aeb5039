"""DiscreteVariational, Shake, Rattle, LivensEM and LivensMidpoint on general assemblies, and long runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mbd
from mbd.integrators import (
    DiscreteVariational,
    GonzalezEM,
    HamiltonianEM,
    HamiltonianMidpoint,
    LieEM,
    LivensEM,
    LivensMidpoint,
    Rattle,
    Shake,
)
from mbd.system.system import assemble
from tests.integrators.structure.models import chain, closed_loop

DIRECTORS, QUATERNION = mbd.nodes.Directors, mbd.nodes.Quaternion
PAIRS = {
    "DEL directors": (DiscreteVariational(), DIRECTORS),
    "DEL quaternions": (DiscreteVariational(), QUATERNION),
    "Shake": (Shake(), DIRECTORS),
    "Rattle": (Rattle(), DIRECTORS),
    "EML quaternions": (LivensEM(), QUATERNION),
    "EML directors": (LivensEM(), DIRECTORS),
    "MPL quaternions": (LivensMidpoint(), QUATERNION),
    "MPL directors": (LivensMidpoint(), DIRECTORS),
    "EMH quaternions": (HamiltonianEM(), QUATERNION),
    "MPH quaternions": (HamiltonianMidpoint(), QUATERNION),
}


@pytest.fixture(params=PAIRS)
def pair(request):
    return PAIRS[request.param]


def ends(solution):
    return np.concatenate([solution[b].position[-1] for b in "abcdp"])


def spread(x: np.ndarray) -> float:
    return float(np.ptp(x, axis=0).max())


@pytest.mark.parametrize("loads", [False, True])
def test_second_order(pair, loads, tolerance):
    method, node = pair
    model = chain(node, damping=0.3, loads=loads)
    coarse, middle, fine = (ends(mbd.simulate(model, 0.2, h, method)) for h in (0.005, 0.0025, 0.00125))
    order = np.log2(np.linalg.norm(coarse - middle) / np.linalg.norm(middle - fine))
    assert order == pytest.approx(2.0, abs=tolerance.order)


def test_converges_to_the_common_solution(pair):
    method, node = pair
    reference = mbd.simulate(chain(damping=0.3, loads=True), 0.2, 1e-3, LieEM())
    own = mbd.simulate(chain(node, damping=0.3, loads=True), 0.2, 1e-3, method)
    assert ends(own) == pytest.approx(ends(reference), abs=1e-5)
    joint = own.model.joints[0].name
    assert own[joint].force[-1] == pytest.approx(reference[joint].force[-1], abs=0.2)


def test_constraints(pair):
    method, node = pair
    solution = mbd.simulate(chain(node), 0.5, 0.005, method)
    assert solution.constraint_error.position.max() < 1e-10
    if isinstance(method, DiscreteVariational | Rattle):
        assert solution.constraint_error.velocity.max() < 1e-10


@pytest.mark.parametrize("name", ["DEL directors", "DEL quaternions", "Rattle", "EML directors", "MPL directors"])
def test_free_chain_keeps_momenta(name):
    method, node = PAIRS[name]
    solution = mbd.simulate(chain(node, free=True), 0.5, 0.005, method)
    assert spread(solution.momentum.linear) < 1e-8
    if name != "DEL quaternions":
        assert spread(solution.momentum.angular) < 1e-8


def test_livens_is_gonzalez_on_directors():
    a = mbd.simulate(chain(DIRECTORS), 0.3, 0.01, LivensEM())
    b = mbd.simulate(chain(DIRECTORS), 0.3, 0.01, GonzalezEM())
    assert np.array_equal(a.q, b.q)


def test_generalized_energy_of_a_chain_in_quaternions():
    method = LivensEM(tolerance=1e-11)
    own = method.invariants(mbd.simulate(chain(QUATERNION), 0.5, 0.0025, method))
    assert spread(own["generalized energy"]) < 1e-7


def test_total_energy_of_a_chain_in_quaternions():
    solution = mbd.simulate(chain(QUATERNION), 0.5, 0.0025, HamiltonianEM(tolerance=1e-11))
    assert spread(solution.energy.total) < 1e-7


def test_hamiltonian_methods_are_the_livens_methods_on_directors():
    for a, b in ((HamiltonianEM(), LivensEM()), (HamiltonianMidpoint(), LivensMidpoint())):
        first, second = (mbd.simulate(chain(DIRECTORS), 0.1, 0.01, method) for method in (a, b))
        assert np.array_equal(first.q, second.q)


def test_shake_and_rattle_move_alike():
    a = mbd.simulate(chain(DIRECTORS), 0.3, 0.005, Shake())
    b = mbd.simulate(chain(DIRECTORS), 0.3, 0.005, Rattle())
    assert ends(a) == pytest.approx(ends(b), abs=1e-9)


def test_restart_continues_bit_for_bit(pair):
    method, node = pair
    model = chain(node)
    whole = mbd.simulate(model, 0.1, 0.005, method)
    rest = mbd.simulate(model, 0.1, 0.005, method, start=mbd.simulate(model, 0.05, 0.005, method))
    assert np.array_equal(whole.q[-1], rest.q[-1])


def test_a_step_whose_velocities_fail_is_undone():
    """A load that is not finite at the end of a step: the positions are found, the velocities cannot be.

    Momenta and forces of the end are put back, so that the state is the one that the steps before have left.
    """

    def load(t):
        return (1.0 if t < 0.042 else math.nan, 0.0, 0.0)

    model = chain(DIRECTORS)
    model.add(mbd.forces.Force(model["a"], load))
    system = assemble(model)
    start = mbd.consistent_start(system)
    states = []
    for wanted in (4, 10):  # the fourth step ends at t = 0.04
        run = Rattle().start(system, start.q, start.v, 0.0, 0.01, None)
        assert run.advance(wanted, 1, [np.zeros((wanted, len(y))) for y in run.row()]) == 4
        states.append(run.state())
    assert run.failure()[1].startswith("values are no longer finite")
    for name in ("q", "v", "lam", "p", "force", "loads"):
        assert np.isfinite(states[1][name]).all() and np.array_equal(states[0][name], states[1][name]), name


@pytest.mark.slow
@pytest.mark.parametrize(("method", "node"), [(LieEM(), mbd.nodes.RotationVector), (Rattle(), DIRECTORS)])
def test_a_million_steps_of_a_free_body(method, node):
    """No drift: the energy of the last tenth of the run has the range of the first."""
    model = mbd.Model()
    body = mbd.RigidBody("body", mass=1.0, inertia=(1, 2, 2.5), node=node(angular_velocity=(1, 2, 0.5)))
    model.add(body)
    solution = mbd.simulate(model, 1e4, 0.01, method, output_step=1.0, progress=False)
    energy = solution.energy.total
    first, last = energy[:1000], energy[-1000:]
    walk = 10.0 * np.finfo(float).eps * energy[0] * np.sqrt(solution.stats["steps"])  # of rounding errors
    bound = 1e-9 if isinstance(method, LieEM) else max(walk, 2.0 * np.ptp(first))
    assert abs(last.mean() - first.mean()) < bound
    assert np.ptp(energy) < 2.0 * max(bound, np.ptp(first))
    assert spread(solution.momentum.angular) < 1e-8


@pytest.mark.parametrize(("method", "node"), [(LieEM(), mbd.nodes.RotationVector), (Rattle(), DIRECTORS)])
def test_a_long_run_of_a_closed_loop(method, node):
    """Fifty thousand steps with a loop of joints; a million are in benchmarks/long_runs.py.

    The motion is chaotic, and Rattle keeps the energy only if the step resolves every fast passage: one that 0.02 s
    does not resolve may come early or late, depending on rounding errors.
    """
    step = 0.02 if isinstance(method, LieEM) else 0.01
    solution = mbd.simulate(closed_loop(node), 5e4 * step, step, method, output_step=50.0 * step, progress=False)
    energy, angular = solution.energy.total[3:], solution.momentum.angular[3:]  # after the load
    first, last = energy[:100], energy[-100:]
    assert abs(last.mean() - first.mean()) < (1e-7 if isinstance(method, LieEM) else 2.0 * np.ptp(first))
    assert spread(angular) < 1e-7
    assert solution.constraint_error.position.max() < 1e-9
