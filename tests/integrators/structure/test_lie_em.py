"""LieEM and GonzalezEM: energy and momenta on general assemblies, order, the published closed loop."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.compiled.settings import JIT
from mbd.integrators import GGLEM, GonzalezEM, LieEM
from mbd.integrators.energy_momentum import equations
from mbd.integrators.energy_momentum.methods import is_analytic
from mbd.integrators.nearest_root import AS_BEFORE, AT_REST, EXTRAPOLATED, UNIFORM, plainer_guess
from mbd.integrators.newton import SCALES, will_converge
from mbd.integrators.numbers import NewtonNumbers
from tests.integrators.structure.models import chain, closed_loop

MANY_STEPS = 3e-13  # relative change of an invariant in 20000 steps by rounding
CONSERVED = 1e-10  # relative, a small multiple of the Newton tolerance
METHODS = {"LieEM": (LieEM(), mbd.nodes.RotationVector), "GonzalezEM": (GonzalezEM(), mbd.nodes.Directors)}

# energy after the load and exact solution of the closed loop (index-1 form, DOP853)
ENERGY_AFTER_LOAD = {0.1: 2095.5697502183, 0.05: 2096.0175295065, 0.025: 2096.1302169635, 0.0125: 2096.1584330329}
EXACT_ENERGY = 2096.16784226673
EXACT_POSITIONS = {"bar 1": 19.2210678125982, "bar 3": 10.7789321874018}  # x at t = 2


@pytest.fixture(params=METHODS)
def method(request):
    return METHODS[request.param]


def spread(x: np.ndarray) -> float:
    return float(np.ptp(x, axis=0).max())


def test_closed_loop_energy_after_the_load():
    energies = []
    for h, expected in ENERGY_AFTER_LOAD.items():
        solution = mbd.simulate(closed_loop(), t_end=2.0, step=h, integrator=LieEM())
        after = solution.t > 1.0 - 1e-9
        energy, angular = solution.energy.total[after], solution.momentum.angular[after]
        assert energy[0] == pytest.approx(expected, abs=2e-9)
        assert spread(energy) < 1e-8
        assert np.abs(angular - [300.0, 0.0, 0.0]).max() < 1e-9
        assert np.abs(solution.momentum.linear[after] - [400.0, 0.0, 0.0]).max() < 1e-9
        energies.append(energy[0])
    extrapolated = energies[-1] + (energies[-1] - energies[-2]) / 3.0
    assert extrapolated == pytest.approx(EXACT_ENERGY, abs=1e-4)
    for name, x in EXACT_POSITIONS.items():
        assert solution[name].position[-1, 0] == pytest.approx(x, abs=2e-3)


def test_closed_loop_with_universal_joints_keeps_momentum():
    solution = mbd.simulate(closed_loop(crossbar=True), t_end=3.0, step=0.02, integrator=LieEM())
    after = solution.t > 1.0 - 1e-9
    assert spread(solution.energy.total[after]) < 1e-8
    assert spread(solution.momentum.angular[after]) < 1e-8


def spinning(model: mbd.Model, spin: np.ndarray) -> mbd.Model:
    """The bars of the closed loop without loads, all turning about their common centre of mass."""
    nodes = {
        body.name: mbd.nodes.RotationVector(
            position=body.node.position, velocity=np.cross(spin, body.node.position), angular_velocity=spin
        )
        for body in model.bodies
    }
    free = mbd.Model("free loop")
    for body in model.bodies:
        free.add(mbd.RigidBody(body.name, body.mass, body.inertia, nodes[body.name]))
    for k, corner in enumerate(((5, 5, 0), (-5, 5, 0), (-5, -5, 0), (5, -5, 0))):
        free.add(mbd.joints.Spherical(free.bodies[k], free.bodies[(k + 1) % 4], at=corner))
    return free


@pytest.mark.parametrize("step", [0.02, 0.018])  # 2/h is rounded up and down
def test_rounding_of_many_steps_is_a_random_walk(step):
    """Impulses that differ by the rounding of 2/h and 1/h would change |L| by 1e-12 here, all in one direction."""
    steps = 20000
    solution = mbd.simulate(
        spinning(closed_loop(), np.array((1.0, 0.5, 0.2))), steps * step, step, LieEM(), output_step=200 * step
    )
    energy, angular = solution.energy.total, np.linalg.norm(solution.momentum.angular, axis=1)
    assert np.abs(energy / energy[0] - 1.0).max() < MANY_STEPS
    assert np.abs(angular / angular[0] - 1.0).max() < MANY_STEPS


def test_nothing_of_newtons_error_adds_up():
    """A free body near its unstable axis: residuals just below the tolerance would add up to 8e-13."""
    model = mbd.Model("free body")
    start = mbd.nodes.RotationVector(velocity=(1, 0, 0), angular_velocity=(6.0, 0.1, 0.05))
    model.add(mbd.RigidBody("body", 2.0, (6.0, 8.0, 3.0), start))
    energy = mbd.simulate(model, 200.0, 0.01, LieEM(), output_step=1.0).energy.total
    assert np.abs(energy / energy[0] - 1.0).max() < MANY_STEPS


def elements_over_a_step(model: mbd.Model) -> set[str]:
    """Kinds of elements whose functions are compiled for a model."""
    system = mbd.assemble(model)
    LieEM().start(system, *system.initial_state(), 0.0, 0.01, None)
    known = system.tables.connected
    return {e.__name__ for e in known if e.__module__ == equations.__name__ and e.when(system.tables)}


@pytest.mark.skipif(not JIT, reason="nothing is compiled")
def test_elements_are_compiled_for_models_that_have_them():
    model = closed_loop()
    forces = {"forces_over_step", "force_tangents_over_step"}
    assert elements_over_a_step(spinning(model, np.zeros(3))) == {"joints_over_step"}
    assert elements_over_a_step(model) == {"joints_over_step"} | forces
    model.add(mbd.forces.Drag(model.bodies[0], 0.1))
    others = {"couplings_over_step", "coupling_tangents_over_step"}
    assert elements_over_a_step(model) == {"joints_over_step"} | forces | others


@pytest.mark.parametrize(
    ("overshot", "others"), [(0, [UNIFORM, AT_REST, -1]), (1, [AT_REST, UNIFORM, AS_BEFORE, -1])]
)  # fmt: skip
def test_first_guesses_in_the_order_of_attempts(overshot, others):
    none = np.zeros((0, 12))
    empty = {name: np.zeros(0) for name in ("lengths", "begins")}
    p = NewtonNumbers(scales=np.zeros(SCALES), weights=np.zeros(3), start_frames=none, end_frames=none, **empty)
    assert (plainer_guess(p), p.watched) == (EXTRAPOLATED, 1)
    p.again = overshot
    for p.attempt, guess in enumerate(others, start=1):
        assert (plainer_guess(p), p.watched) == (guess, 0)


def test_when_a_correction_needs_no_check():
    first, tolerance = 1e300, 1.0
    assert not will_converge(100.0, first)  # nothing is known about the contraction yet
    assert will_converge(100.0, 1e9)  # 2 e1^2 / e0 = 2e-5 tolerances
    assert will_converge(2e4, 6e9)  # new factors: e1^3 / e0^2
    assert not will_converge(1e4, 1e6)
    assert not will_converge(1e6, 1e12)  # far from the solution
    assert not will_converge(tolerance, 10.0)
    assert is_analytic(mbd.assemble(closed_loop()))
    model = closed_loop()
    model.add(mbd.forces.Drag(model.bodies[0], 0.1))
    assert not is_analytic(mbd.assemble(model))


@pytest.mark.parametrize("integrator", [GonzalezEM(), GGLEM()], ids=lambda integrator: integrator.name)
def test_closed_loop_in_directors_keeps_energy_and_momenta(integrator):
    solution = mbd.simulate(closed_loop(mbd.nodes.Directors, crossbar=True), 2.0, 0.02, integrator)
    after = solution.t > 1.0 - 1e-9
    assert spread(solution.energy.total[after]) < 1e-7
    assert spread(solution.momentum.angular[after]) < 1e-8
    assert spread(solution.momentum.linear[after]) < 1e-8
    if isinstance(integrator, GGLEM):
        assert solution.constraint_error.velocity.max() < 1e-9


def test_mixed_nodes_keep_energy_and_momenta():
    n = mbd.nodes
    mixture = {"a": n.RotationVector(), "b": n.Quaternion(lie=True), "c": n.Directors(lie=True)}
    mixture["d"] = n.EulerAngles(sequence="zxz", lie=True)
    solution = mbd.simulate(chain(free=True).with_nodes(mixture), 2.0, 0.01, LieEM())
    assert spread(solution.energy.total) < CONSERVED
    assert spread(solution.momentum.linear) < CONSERVED
    assert spread(solution.momentum.angular) < CONSERVED


def test_angular_impulse_is_exact_on_directors():
    solution = mbd.simulate(closed_loop(mbd.nodes.Directors), t_end=1.5, step=0.05, integrator=GonzalezEM())
    assert np.abs(solution.momentum.angular[-1] - [300.0, 0.0, 0.0]).max() < 1e-8


def test_chain_keeps_energy(method):
    integrator, node = method
    solution = mbd.simulate(chain(node), t_end=2.0, step=0.01, integrator=integrator)
    assert spread(solution.energy.total) < CONSERVED * np.abs(solution.energy.kinetic).max()
    assert solution.constraint_error.position.max() < 1e-12
    assert solution.stats["newton_iterations"] <= 3.1 * solution.stats["steps"]


def test_free_chain_keeps_momenta(method):
    integrator, node = method
    solution = mbd.simulate(chain(node, free=True), t_end=2.0, step=0.01, integrator=integrator)
    assert spread(solution.energy.total) < CONSERVED
    assert spread(solution.momentum.linear) < CONSERVED
    assert spread(solution.momentum.angular) < CONSERVED


def test_dissipation_is_that_of_the_dampers(method):
    """E decreases in every step, and by the integral of the power up to second order."""
    integrator, node = method
    solution = mbd.simulate(chain(node, damping=2.0), t_end=1.0, step=0.0025, integrator=integrator)
    energy = solution.energy.total
    assert np.diff(energy).max() < 1e-10
    lost = np.trapezoid(solution.power, solution.t)
    assert energy[-1] - energy[0] == pytest.approx(lost, rel=2e-4)


@pytest.mark.parametrize("loads", [False, True])
def test_second_order(method, loads, tolerance):
    integrator, node = method
    model = chain(node, damping=0.3, loads=loads)

    def end(step):
        solution = mbd.simulate(model, t_end=0.5, step=step, integrator=integrator)
        return np.concatenate([solution[b].position[-1] for b in "abcdp"] + [solution[b].velocity[-1] for b in "abcdp"])

    coarse, middle, fine = (end(step) for step in (0.01, 0.005, 0.0025))
    order = np.log2(np.linalg.norm(coarse - middle) / np.linalg.norm(middle - fine))
    assert order == pytest.approx(2.0, abs=tolerance.order)


def test_agrees_with_generalized_alpha(method):
    integrator, node = method
    model = chain(node, damping=0.3, loads=True)
    own = mbd.simulate(model, t_end=0.5, step=0.001, integrator=integrator)
    reference = mbd.simulate(
        chain(damping=0.3, loads=True), 0.5, 5e-4, mbd.integrators.GeneralizedAlpha(stabilized=True)
    )
    for name in "abcdp":
        assert own[name].position[-1] == pytest.approx(reference[name].position[-1], abs=3e-5)
        assert own[name].acceleration[-1] == pytest.approx(reference[name].acceleration[-1], abs=2e-2)
    joint = own.model.joints[0].name
    assert own[joint].force[-1] == pytest.approx(reference[joint].force[-1], abs=3e-2)


@pytest.mark.parametrize("node", [mbd.nodes.RotationVector, mbd.nodes.Quaternion, mbd.nodes.Directors])
def test_storage_of_lie_nodes_does_not_matter(node):
    reference = mbd.simulate(chain(), 0.5, 0.01, LieEM())
    own = mbd.simulate(chain(lambda **kw: node(lie=True, **kw)), 0.5, 0.01, LieEM())
    assert own["d"].position[-1] == pytest.approx(reference["d"].position[-1], abs=1e-11)


def test_pinned_top_keeps_energy_and_vertical_momentum():
    model = mbd.Model(gravity=(0, 0, -9.81))
    node = mbd.nodes.RotationVector(pinned=True, rotation=mbd.rotation((0.4, 0, 0)), angular_velocity=(0, 0, 30))
    model.add(mbd.RigidBody("top", mass=1.0, inertia=(0.2, 0.2, 0.1), com=(0, 0, 0.5), node=node))
    solution = mbd.simulate(model, 2.0, 0.005, LieEM())
    assert spread(solution.energy.total) < 1e-9 * solution.energy.total[0]
    assert spread(solution.momentum.angular[:, 2]) < 1e-9
    assert spread(solution.momentum.angular[:, 0]) > 0.1


def test_restart_continues_bit_for_bit(method):
    integrator, node = method
    model = chain(node, loads=True)
    whole = mbd.simulate(model, 0.4, 0.01, integrator)
    half = mbd.simulate(model, 0.2, 0.01, integrator)
    rest = mbd.simulate(model, 0.4, 0.01, integrator, start=half)
    assert np.array_equal(whole.q[-1], rest.q[-1])
    assert np.array_equal(whole.lam[-1], rest.lam[-1])


def test_declared_invariants():
    from mbd.integrators import Invariant

    free = mbd.assemble(chain(free=True))
    assert Invariant.ANGULAR_MOMENTUM in LieEM().preserves(free)
    held = LieEM().preserves(mbd.assemble(chain()))
    assert Invariant.ENERGY in held
    assert Invariant.ANGULAR_MOMENTUM not in held
    assert Invariant.ENERGY not in LieEM().preserves(mbd.assemble(chain(damping=1.0)))
