"""RATTLie: orders, invariants, numbers of another implementation, loads that depend on velocities, drivers, loops."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import RK6, Invariant, Rattle, RATTLie
from mbd.nodes import Directors, RotationVector
from tests.integrators.convergence import MODELS, errors, observed, orders, pendulum
from tests.integrators.models import TOP_POSITION, four_bar, heavy_top

NUMBERS = (50, 100)
LIE_MODELS = ("heavy top", "two bars", "offset", "chain")
EXACT = 1e-10  # relative, of momenta over a run at the default tolerance
ROUND_OFF = 1e-12


@pytest.mark.parametrize("model", LIE_MODELS)
def test_second_order_in_poses_velocities_and_reactions(model, tolerance):
    for quantity, order in orders(model, RATTLie(), NUMBERS).items():
        assert order == pytest.approx(2.0, abs=tolerance.order), quantity


def test_errors_of_an_independent_implementation():
    """The top after 0.1 s: poses, velocities; at t = 1 s the benchmark's position; energy within 3 s."""
    found = errors("heavy top", RATTLie(), (50, 200))
    assert found[:, 0] == pytest.approx((1.85e-4, 1.15e-5), rel=0.01)
    assert found[0, 1] == pytest.approx(7.5e-4, rel=0.01)
    solution = mbd.simulate(heavy_top(), 3.0, 1e-3, RATTLie())
    assert np.linalg.norm(solution["top"].position[1000] - TOP_POSITION) == pytest.approx(4.4e-4, rel=0.02)
    change = solution.energy.total - solution.energy.total[0]
    assert change.min() == pytest.approx(-1.4e-2, rel=0.02) and change.max() < 1e-8
    assert abs(change[-300:].mean() - change[:300].mean()) < 1e-3


def test_a_thousand_times_more_accurate_than_rattle_on_the_top():
    exact = mbd.simulate(heavy_top(), 0.1, 0.1 / 1000, RK6()).frames(-1)
    runs = (heavy_top(), RATTLie()), (heavy_top(Directors), Rattle())
    one, other = (np.abs(mbd.simulate(m, 0.1, 0.1 / 50, method).frames(-1) - exact).max() for m, method in runs)
    assert other > 900.0 * one


def test_reference_points_do_not_matter():
    """A step moves centres of mass: the same errors whatever point of the body is stored."""
    one, other = (errors(model, RATTLie(), (50,))[0, 0] for model in ("heavy top", "offset"))
    assert one == pytest.approx(other, rel=1e-6)


def test_mean_of_the_multipliers_of_both_halves_is_of_second_order(tolerance):
    found, halves = [], []
    for n in (100, 200):
        solution = mbd.simulate(heavy_top(), 0.1, 0.1 / n, RATTLie())
        exact = mbd.simulate(heavy_top(), 0.1, 0.1 / n / 5, RK6(), output_step=0.1 / n).lam
        first, second = solution.scheme["lambda"], solution.scheme["mu"]
        found.append(np.abs(0.5 * (first[2:] + second[1:-1]) - exact[1:-1]).max())
        halves.append(np.abs(second[1:] - exact[1:]).max())
    assert np.log2(found[0] / found[1]) == pytest.approx(2.0, abs=tolerance.order)
    assert np.log2(halves[0] / halves[1]) == pytest.approx(1.0, abs=tolerance.order)


def loaded() -> mbd.Model:
    """Two bars with dampers, drag, a control and a load that depends on time."""
    model = pendulum()
    upper, lower = model.bodies
    model.add(mbd.forces.Spring(model.ground, lower, (0, 2, 0), (0.5, 0, 0), stiffness=30, length=1.5, damping=4.0))
    model.add(mbd.forces.Drag(upper, coefficient=0.5))
    model.add(mbd.forces.Torque(lower, lambda t: (np.sin(3.0 * t), 0.2, t)))
    return model


def driven() -> mbd.Model:
    """A driven hinge, a gear and a body behind them."""
    model = mbd.Model("driven", gravity=(0, 0, -9.81))
    crank = model.add(mbd.RigidBody("crank", 1.0, (0.1, 0.2, 0.3), RotationVector((0.3, 0, 0)), com=(0.1, 0, 0)))
    wheel = model.add(mbd.RigidBody("wheel", 0.5, (0.1, 0.1, 0.2), RotationVector((2, 0, 0))))
    arm = model.add(mbd.RigidBody("arm", 0.7, (0.05, 0.1, 0.1), RotationVector((1.0, 0, 0))))
    first = model.add(mbd.joints.Revolute(model.ground, crank, at=(0, 0, 0), axis=(0, 1, 0), name="first"))
    second = model.add(mbd.joints.Revolute(model.ground, wheel, at=(2, 0, 0), axis=(0, 1, 0), name="second"))
    model.add(mbd.joints.Spherical(crank, arm, at=(0.6, 0, 0), name="ball"))
    model.add(mbd.joints.AngleDriver.on(first, lambda t: 0.4 * t + 0.3 * t * t * t))
    model.add(mbd.joints.Gear(first, second, ratio=0.5))
    return model


OTHERS = {
    "loads that depend on velocities": (loaded, 0.5),
    "drivers and gears": (driven, 0.5),
    "loop": (lambda: four_bar(True), 0.3),
}


@pytest.mark.parametrize("name", OTHERS)
def test_second_order_with_everything(name, tolerance):
    build, t_end = OTHERS[name]
    exact = observed(mbd.simulate(build(), t_end, t_end / 1000, RK6(), output_step=t_end / 10))
    found = []
    for n in NUMBERS:
        solution = mbd.simulate(build(), t_end, t_end / n, RATTLie(), output_step=t_end / 10)
        found.append([np.abs(x - y)[1:].max() for x, y in zip(observed(solution), exact, strict=True)])
        assert solution.constraint_error.position.max() < 1e-10
        assert solution.constraint_error.velocity.max() < 1e-9
    for x in np.transpose(found):
        assert mbd.testing.observed_order(x, 1.0 / np.array(NUMBERS)) == pytest.approx(2.0, abs=tolerance.order)


@pytest.mark.parametrize(("order", "numbers"), [(4, (20, 40)), (6, (10, 20))])
@pytest.mark.parametrize("model", ["heavy top", "two bars"])
def test_compositions_are_symplectic_methods_of_higher_order(model, order, numbers):
    method = mbd.integrators.Composition(RATTLie(tolerance=1e-13), order=order)
    for quantity, seen in orders(model, method, numbers).items():
        assert seen == pytest.approx(order, abs=0.25), quantity


def test_momenta_of_a_free_pair():
    model = mbd.Model("pair")
    bodies = [
        model.add(
            mbd.RigidBody(f"body {k}", 1.0 + k, (0.3, 0.2, 0.4),
                          RotationVector((k, 0, 0), angular_velocity=(1.0, -2.0 * k, 3.0)), com=(0.1, 0.2 * k, 0.0))
        )
        for k in range(2)
    ]  # fmt: skip
    model.add(mbd.joints.Spherical(*bodies, at=(0.5, 0, 0)))
    model.add(mbd.forces.Spring(*bodies, (0, 1, 0), (0, 1, 0), stiffness=5.0, length=0.5))
    kept = RATTLie().preserves(mbd.assemble(model))
    assert {Invariant.SYMPLECTIC, Invariant.LINEAR_MOMENTUM, Invariant.ANGULAR_MOMENTUM} <= kept
    solution = mbd.simulate(model, 10.0, 0.02, RATTLie())
    for x in solution.momentum:
        assert np.abs(x - x[0]).max() < EXACT * np.linalg.norm(x[0])
    energy = solution.energy.total
    assert np.abs(energy - energy[0]).max() < 2e-2 * energy[0]
    assert abs(energy[-100:].mean() - energy[:100].mean()) < 2e-3 * energy[0]


def test_step_is_symplectic():
    """(dq, dp) -> (dq, dp) of a pinned top over one step by differences: the canonical form in body momenta is kept.

    Increments are body-fixed, so that the form is [0 I; -I hat(p)] with p the momentum in body axes.
    """
    model = heavy_top(pinned=True)
    system = mbd.assemble(model)
    q0, v0 = system.initial_state()
    v0 = np.array((1.0, 9.0, -2.0))
    inertia, h, eps = system.mass_matrix(q0).toarray(), 0.05, 1e-5
    method = RATTLie(tolerance=1e-14)

    def step(e):
        run = method.start(system, system.update(q0, e[:3]), v0 + np.linalg.solve(inertia, e[3:]), 0.0, h, None)
        rows = [np.zeros((1, len(x))) for x in run.row()]
        run.advance(1, 1, rows)
        return system.frames(rows[0][0])[1][3:].reshape(3, 3).T, inertia @ rows[1][0]

    turn, momentum = step(np.zeros(6))
    tangent = np.zeros((6, 6))
    for k in range(6):
        ends = [step(sign * eps * np.eye(6)[k]) for sign in (1, -1)]
        skew = turn.T @ (ends[0][0] - ends[1][0]) / (2 * eps)
        tangent[:3, k] = skew[2, 1], skew[0, 2], skew[1, 0]
        tangent[3:, k] = (ends[0][1] - ends[1][1]) / (2 * eps)

    def form(p):
        hat = np.array(((0, -p[2], p[1]), (p[2], 0, -p[0]), (-p[1], p[0], 0)))
        return np.block([[hat, -np.eye(3)], [np.eye(3), np.zeros((3, 3))]])

    before, after = form(inertia @ v0), tangent.T @ form(momentum) @ tangent
    assert after == pytest.approx(before, abs=1e-6 * np.abs(before).max())


def test_conventional_nodes_are_stepped_as_lie_nodes():
    """The same motion, recorded in the coordinates of the model."""
    one, other = (mbd.simulate(heavy_top(node), 0.05, 1e-3, RATTLie()) for node in (RotationVector, Directors))
    assert np.abs(one.frames(-1) - other.frames(-1)).max() < EXACT
    assert set(LIE_MODELS) <= set(MODELS)


def test_residuals_are_judged_by_the_loads_of_the_step():
    """A load at the pivot that has ceased does not loosen the tolerance of later steps, and a restart knows it not."""
    model = mbd.Model("load", gravity=(0, 0, -9.81))
    start = RotationVector((0.5, 0, 0), angular_velocity=(0, 0.3, 2.0))
    body = model.add(mbd.RigidBody("body", 1.0, (0.05, 0.09, 0.1), start))
    model.add(mbd.joints.Spherical(model.ground, body, at=(0, 0, 0), name="ball"))
    model.add(mbd.forces.Force(body, lambda t: (1e6 if t < 0.005 else 0.0, 0.0, 0.0), point=(-0.5, 0, 0)))
    system, method = mbd.assemble(model), RATTLie()
    run = method.start(system, *system.initial_state(), 0.0, 0.01, None)
    rows = [np.zeros((10, len(x))) for x in run.row()]
    run.advance(10, 1, rows)
    again = method.resume(system, run.state())
    run.advance(10, 1, rows)
    again.advance(10, 1, rows)
    assert np.array_equal(run.equations.numbers.scales, again.equations.numbers.scales)
    assert run.equations.numbers.scales[0] / 0.01**2 < 1e3  # of the weight, and of the forces that turn the body
