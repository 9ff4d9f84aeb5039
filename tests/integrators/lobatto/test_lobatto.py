"""Lobatto: orders in positions, velocities and reactions, closed solutions, symplectic form, long runs, restarts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import mbd
from mbd.integrators import RK6, Composition, Invariant, Lobatto, Rattle
from mbd.nodes import Directors, Quaternion
from mbd.rotation import from_rotation_vector
from tests.integrators.convergence import errors, observed, orders, pendulum
from tests.integrators.models import TOP_POSITION, chain, four_bar, heavy_top
from tests.integrators.rattlie.test_rattlie import driven, loaded

FINE = 1e-12  # tolerance of runs whose order is observed
EXACT = 1e-10  # relative, of momenta over a run at the default tolerance


@pytest.mark.parametrize("model", ["heavy top", "two bars", "offset", "chain", "mixed chain", "directors"])
def test_fourth_order_in_poses_velocities_and_reactions(model, tolerance):
    for quantity, order in orders(model, Lobatto(tolerance=FINE), (50, 100)).items():
        assert order == pytest.approx(4.0, abs=tolerance.order), quantity


def test_errors_of_an_independent_implementation():
    """The top after 0.1 s: a dense prototype with stage velocities and multipliers as the tableaux have them."""
    found = errors("heavy top", Lobatto(), (50, 100, 200))
    assert found[:, 0] == pytest.approx((1.87e-4, 1.17e-5, 7.3e-7), rel=0.01)


def test_closed_solution_of_a_pendulum(tolerance):
    """Angle, rate and reaction of a physical pendulum let go at 2 rad, by elliptic functions of scipy."""
    mass, length, inertia, gravity, start = 2.0, 0.5, 0.3, 9.81, 2.0
    about = inertia + mass * length**2
    frequency, k = np.sqrt(mass * gravity * length / about), np.sin(0.5 * start)
    model = mbd.Model("pendulum", gravity=(0, -gravity, 0))
    centre = length * np.array((np.sin(start), -np.cos(start), 0.0))
    node = Directors(centre, from_rotation_vector(np.array((0, 0, start))))
    bar = model.add(mbd.RigidBody("bar", mass, (0.2, 0.25, inertia), node))
    model.add(mbd.joints.Revolute(model.ground, bar, at=(0, 0, 0), axis=(0, 0, 1), name="hinge"))
    found = []
    for steps in (20, 40):
        solution = mbd.simulate(model, 1.0, 1.0 / steps, Lobatto(tolerance=FINE))
        sn, cn, dn, _ = ellipj(ellipk(k * k) - frequency * solution.t, k * k)
        angle, rate = 2.0 * np.arcsin(k * sn), -2.0 * k * frequency * cn
        acceleration = -(frequency**2) * np.sin(angle)
        radial, along = np.array((np.sin(angle), -np.cos(angle))), np.array((np.cos(angle), np.sin(angle)))
        force = mass * (length * (acceleration * along - rate**2 * radial) + np.array(((0.0,), (gravity,))))
        seen = solution["bar"]
        found.append([
            np.abs(seen.position[:, :2].T - length * radial).max(), np.abs(seen.angular_velocity[:, 2] - rate).max(),
            np.abs(np.abs(solution["hinge"].force[:, :2].T) - np.abs(force)).max(),
        ])  # fmt: skip
    for x in np.transpose(found):
        assert mbd.testing.observed_order(x, np.array((1.0, 0.5))) == pytest.approx(4.0, abs=tolerance.order)
    assert max(found[1]) < 1e-5 * mass * gravity


def test_position_of_the_benchmark():
    """The heavy top at one second, sixty times nearer than RATTLie with the same step."""
    solution = mbd.simulate(heavy_top(), 1.0, 1e-3, Lobatto())
    assert np.linalg.norm(solution["top"].position[-1] - TOP_POSITION) < 2e-5


OTHERS = {
    "loads that depend on velocities": (loaded, 0.5),
    "drivers and gears": (driven, 0.5),
    "loop": (lambda: four_bar(True), 0.3),
}


@pytest.mark.parametrize("name", OTHERS)
def test_fourth_order_with_everything(name, tolerance):
    build, t_end = OTHERS[name]
    exact = observed(mbd.simulate(build(), t_end, t_end / 1000, RK6(), output_step=t_end / 10))
    found, numbers = [], (40, 80) if name != "loop" else (10, 20)
    for n in numbers:
        solution = mbd.simulate(build(), t_end, t_end / n, Lobatto(tolerance=FINE), output_step=t_end / 10)
        found.append([np.abs(x - y)[1:].max() for x, y in zip(observed(solution), exact, strict=True)])
        assert solution.constraint_error.position.max() < 1e-10
        assert solution.constraint_error.velocity.max() < 1e-9
    for x in np.transpose(found):
        assert mbd.testing.observed_order(x, 1.0 / np.array(numbers)) == pytest.approx(4.0, abs=tolerance.order)


def test_multipliers_of_the_scheme():
    """Those that act in the middle of a step are of second order, as the theory has them for three stages."""
    found = []
    for n in (50, 100):
        solution = mbd.simulate(pendulum(Directors), 0.5, 0.5 / n, Lobatto(tolerance=FINE))
        exact = mbd.simulate(pendulum(Directors), 0.5, 0.25 / n, RK6(), output_step=0.25 / n).lam
        middle, end = solution.scheme["lambda"][1:], solution.scheme["mu"][1:]
        found.append((np.abs(middle - exact[1::2]).max(), np.abs(end - exact[2::2]).max()))
    assert np.log2(np.divide(*found)) == pytest.approx((2.0, 2.0), abs=0.2)


def test_step_is_symplectic():
    """A point on a rod, another on a spring: a step keeps the areas dq ^ dp of tangent vectors of the constraint."""
    model = mbd.Model("points", gravity=(0, 0, -9.81))
    a = model.add(mbd.PointMass("a", 2.0, (1.0, 0, 0), (0, 1.0, 0)))
    b = model.add(mbd.PointMass("b", 1.0, (1.0, 1.0, 0), (0, 1.0, 0.7)))
    model.add(mbd.joints.Distance(model.ground, a, point_a=(0, 0, 0), point_b=(0, 0, 0)))
    model.add(mbd.forces.Spring(a, b, (0, 0, 0), (0, 0, 0), stiffness=40.0, length=0.7))
    system, method = mbd.assemble(model), Lobatto(tolerance=1e-14)
    mass, h, eps = np.repeat((2.0, 1.0), 3), 0.05, 1e-5
    start = mbd.consistent_start(system)

    def state(e):
        """A consistent state near the start: the first mass on its sphere, its velocity in the tangent plane."""
        q, v = start.q + e[:6], start.v + e[6:]
        q[:3] /= np.linalg.norm(q[:3])
        v[:3] -= q[:3] * (q[:3] @ v[:3])
        return q, v

    def step(e):
        run = method.start(system, *state(e), 0.0, h, None)
        rows = [np.zeros((1, len(x))) for x in run.row()]
        run.advance(1, 1, rows)
        return np.concatenate((rows[0][0], mass * rows[1][0]))

    def push(f):
        return np.array([(f(eps * e) - f(-eps * e)) / (2 * eps) for e in np.eye(12)]).T

    def area(tangent):
        return tangent[:6].T @ tangent[6:] - tangent[6:].T @ tangent[:6]

    before = push(lambda e: np.concatenate((state(e)[0], mass * state(e)[1])))
    assert np.abs(area(push(step)) - area(before)).max() < 1e-7 * np.abs(area(before)).max()


def test_a_step_back_undoes_a_step():
    model = pendulum(Directors)
    system = mbd.assemble(model)
    start, method = mbd.consistent_start(system), Lobatto(tolerance=1e-13)
    q, v = start.q, start.v
    for h in (0.05, -0.05):
        run = method.start(system, q, v, 0.0, h, None)
        rows = [np.zeros((1, len(x))) for x in run.row()]
        run.advance(1, 1, rows)
        q, v = rows[0][0], rows[1][0]
    assert np.abs(q - start.q).max() < 1e-12 and np.abs(v - start.v).max() < 1e-11


def test_energy_of_a_long_run():
    """Two bars, 2000 steps: no drift, and a hundredth of the error of Rattle."""
    spread = []
    for method in (Rattle(), Lobatto()):
        energy = mbd.simulate(pendulum(Directors), 40.0, 0.02, method).energy.total
        spread.append(np.ptp(energy))
        assert abs(energy[-500:].mean() - energy[:500].mean()) < 0.1 * spread[-1]
    assert spread[1] < 1e-2 * spread[0]


def test_momenta_of_a_free_pair():
    model = mbd.Model("pair")
    bodies = [
        model.add(
            mbd.RigidBody(f"body {k}", 1.0 + k, (0.3, 0.2, 0.4),
                          Quaternion((k, 0, 0), angular_velocity=(1.0, -2.0 * k, 3.0)), com=(0.1, 0.2 * k, 0.0))
        )
        for k in range(2)
    ]  # fmt: skip
    model.add(mbd.joints.Spherical(*bodies, at=(0.5, 0, 0)))
    model.add(mbd.forces.Spring(*bodies, (0, 1, 0), (0, 1, 0), stiffness=5.0, length=0.5))
    kept = Lobatto().preserves(mbd.assemble(model))
    assert {Invariant.SYMPLECTIC, Invariant.LINEAR_MOMENTUM, Invariant.ANGULAR_MOMENTUM} <= kept
    solution = mbd.simulate(model, 10.0, 0.02, Lobatto())
    for x in solution.momentum:
        assert np.abs(x - x[0]).max() < EXACT * np.linalg.norm(x[0])
    energy = solution.energy.total
    assert np.ptp(energy) < 1e-4 * energy[0]
    assert abs(energy[-100:].mean() - energy[:100].mean()) < 1e-6 * energy[0]


def test_composition_of_order_six():
    method = Composition(Lobatto(tolerance=1e-14), order=6)
    for quantity, seen in orders("two bars", method, (10, 20)).items():
        assert seen == pytest.approx(6.0, abs=0.3), quantity
    with pytest.raises(mbd.errors.ModelError, match="order 4 already"):
        Composition(Lobatto(), order=4)


def test_steps_as_long_as_stability_allows():
    """A linear spring: the iteration without stiffness converges up to the limit h omega = sqrt(8) of the pair."""
    model = mbd.Model("spring")
    body = model.add(mbd.PointMass("mass", 1.0, (1.0, 0, 0)))
    model.add(mbd.forces.Spring(model.ground, body, (0, 0, 0), (0, 0, 0), stiffness=1.0, length=0.0))
    with pytest.warns(mbd.errors.AccuracyWarning, match="gained energy"):
        stable, unstable = (mbd.simulate(model, 300 * h, h, Lobatto())["mass"].position for h in (2.8, 2.9))
    assert np.abs(stable).max() < 5.0 and np.abs(unstable).max() > 1e6


def test_two_factorisations_per_step():
    """One of both stages and one of velocities, and three iterations at most, with an extrapolated first guess."""
    stats = mbd.simulate(chain(Directors), 0.5, 0.01, Lobatto()).stats
    assert stats["factorizations"] <= 2 * 50 + 2
    assert stats["newton_iterations"] <= 2.2 * 50
