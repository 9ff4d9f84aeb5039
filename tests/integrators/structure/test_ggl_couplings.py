"""Gears, couplings and user constraints in the GGL methods: orders, exact energy and momenta, second derivatives."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import mbd
from mbd.integrators import GGLEM, RK6, GGLEuler, GGLMidpoint, GGLTrapezoidal, Invariant
from mbd.nodes import Directors, RotationVector
from mbd.system.couplings import coupling_constraints, coupling_reactions
from mbd.system.curvatures import coupling_curvatures
from tests.integrators.convergence import observed

FINE = 1e-12  # Newton tolerance of runs whose energy and orders are looked at
EXACT = 1e-11  # relative, of energies with that
DIFFERENCE = 1e-7  # of second derivatives, relative
METHODS = (
    GGLEM(tolerance=FINE), GGLMidpoint(tolerance=FINE), GGLTrapezoidal(theta=0.5, tolerance=FINE), GGLTrapezoidal(),
    GGLEuler(),
)  # fmt: skip


def body(model: mbd.Model, name: str, mass: float, x: float, com: Any = (0, 0, 0), **start: Any) -> Any:
    inertia = mass * np.array((0.11, 0.2, 0.26))
    return model.add(mbd.RigidBody(name, mass, inertia, RotationVector((x, 0, 0), **start), com=com))


def geared(free: bool = False) -> mbd.Model:
    """Two hinges of an arm with a gear between them and a body behind, on the ground or on a body that tumbles."""
    model = mbd.Model("geared", gravity=(0, 0, 0) if free else (0, 0, -9.81))
    base = body(model, "base", 3.0, -0.5, (0.1, 0, 0.05), angular_velocity=(0.3, 0.5, -0.4)) if free else model.ground
    a, b, c = body(model, "a", 1.0, 0.3, (0.1, 0, 0.05)), body(model, "b", 0.5, 1.0), body(model, "c", 0.7, 1.6)
    first = model.add(mbd.joints.Revolute(base, a, at=(0, 0, 0), axis=(0, 1, 0), name="first"))
    second = model.add(mbd.joints.Revolute(a, b, at=(0.6, 0, 0), axis=(0, 1, 0.4), name="second"))
    model.add(mbd.joints.Spherical(b, c, at=(1.3, 0, 0), name="ball"))
    model.add(mbd.joints.Gear(first, second, ratio=-0.7, name="gear"))
    return model


def by_user() -> mbd.Model:
    """Two bars on balls, the tip of the first on a wavy surface."""
    model = mbd.Model("by user", gravity=(0, 0, -9.81))
    a, b = body(model, "a", 1.0, 1.0, (0.1, 0, 0.05), angular_velocity=(0, 0, 1.0)), body(model, "b", 0.5, 2.0)
    model.add(mbd.joints.Spherical(model.ground, a, at=(0, 0, 0), name="ball"))
    model.add(mbd.joints.Spherical(a, b, at=(1.5, 0, 0), name="second"))

    def surface(frames, t):  # type: ignore[no-untyped-def]
        x, y, z = frames[0, 0] + frames[0, 3], frames[0, 1] + frames[0, 4], frames[0, 2] + frames[0, 5]
        return z - 0.2 * (np.cos(2.0 * x) - np.cos(4.0)) - 0.3 * np.sin(y) * x

    model.add(mbd.joints.UserConstraint(a, surface, name="surface"))
    return model


def slider() -> mbd.Model:
    """A rack: the displacement of a slide coupled with the angle of a driven wheel."""
    model = mbd.Model("rack", gravity=(0, 0, -9.81))
    wheel, slide = body(model, "wheel", 1.0, 0.0, angular_velocity=(0, 2.0, 0)), body(model, "slide", 0.8, 1.0)
    bar = body(model, "bar", 0.5, 1.5)
    turn = model.add(mbd.joints.Revolute(model.ground, wheel, at=(0, 0, 0), axis=(0, 1, 0), name="turn"))
    shift = model.add(mbd.joints.Prismatic(model.ground, slide, at=(1, 0, 0), axis=(1, 0, 0.3), name="shift"))
    model.add(mbd.joints.Spherical(slide, bar, at=(1.1, 0, 0), name="ball"))
    model.add(mbd.joints.RackPinion(turn, shift, radius=0.4, name="rack"))
    return model


MODELS = {"gear": geared, "user constraint": by_user, "rack": slider}


@pytest.mark.parametrize("method", METHODS, ids=lambda m: f"{m.name} {getattr(m, 'theta', '')}")
@pytest.mark.parametrize("name", MODELS)
def test_orders_of_poses_velocities_and_reactions(name, method, tolerance):
    model, t_end = MODELS[name](), 0.4
    expected = 2.0 if method.order == 2 or getattr(method, "theta", 1.0) == 0.5 else 1.0
    numbers = (40, 80) if expected == 2.0 else (200, 400)
    exact = observed(mbd.simulate(model, t_end, t_end / 400, RK6(), output_step=t_end / 10))
    found = []
    for n in numbers:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", mbd.errors.AccuracyWarning)
            solution = mbd.simulate(model, t_end, t_end / n, method, output_step=t_end / 10)
        found.append([np.abs(x - y)[1:].max() for x, y in zip(observed(solution), exact, strict=True)])
    for x in np.transpose(found):
        order = mbd.testing.observed_order(x, 1.0 / np.array(numbers))
        assert order == pytest.approx(expected, abs=tolerance.order if expected == 2.0 else 0.2)


@pytest.mark.parametrize("name", MODELS)
def test_energy_and_both_kinds_of_constraints_are_exact(name):
    """Over 300 steps, while the constraints move: secants of the rates are what makes the energy exact."""
    model = MODELS[name]()
    solution = mbd.simulate(model, 3.0, 0.01, GGLEM(tolerance=FINE))
    energy = solution.energy
    scale = max(energy.kinetic.max(), np.ptp(energy.potential))
    assert Invariant.ENERGY in GGLEM().preserves(mbd.assemble(model))
    assert np.ptp(energy.total) < EXACT * scale
    assert np.ptp(energy.kinetic) > 0.5
    assert solution.constraint_error.position.max() < 1e-12
    assert solution.constraint_error.velocity.max() < 1e-10


def test_momenta_of_an_arm_with_a_gear_that_tumbles():
    solution = mbd.simulate(geared(free=True), 3.0, 0.01, GGLEM(tolerance=FINE))
    for x in solution.momentum:
        assert np.abs(x - x[0]).max() < 1e-12
    assert np.ptp(solution.energy.total) < EXACT * solution.energy.total[0]


def reactions(system: Any, work: Any, mu: np.ndarray, z: np.ndarray) -> np.ndarray:
    """G(z)^T mu of couplings as frame forces."""
    work.z[:], work.f[:] = z, 0.0
    coupling_reactions(system.tables, work, mu)
    return work.f.copy()


def rates(system: Any, work: Any, z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """G(z) y of couplings."""
    work.z[:], work.zd[:] = z, y
    x = np.zeros(system.tables.lengths[3])
    coupling_constraints(system.tables, work, x, 1)
    return x[system.tables.xl]


@pytest.mark.parametrize("name", MODELS)
def test_second_derivatives_by_differences(name):
    model = MODELS[name]().with_nodes(Directors)
    system = mbd.assemble(model)
    work, rng = system.new_work(), np.random.default_rng(5)
    z, mu, eps = system.frames(system.initial_state()[0]), rng.normal(size=system.n_l), 1e-5
    y = rng.normal(size=z.shape)
    z[1:] += 0.1 * rng.normal(size=z[1:].shape)
    y[0] = 0.0
    ends = [reactions(system, work, mu, z + sign * eps * y) for sign in (1, -1)]
    expected = (ends[0] - ends[1]) / (2 * eps)
    work.z[:], work.f[:] = z, 0.0
    coupling_curvatures(system.tables, work, mu, y, 0.0 * y)
    assert work.f == pytest.approx(expected, abs=DIFFERENCE * np.abs(expected).max())


@pytest.mark.parametrize("name", MODELS)
def test_change_of_the_rates_over_a_step(name):
    """mu.(G1 y1 - G0 y0) = mu.DG (y1 - y0) + (curvature over the step).(z1 - z0), for steps of any size."""
    system = mbd.assemble(MODELS[name]().with_nodes(Directors))
    work, rng = system.new_work(), np.random.default_rng(6)
    start, mu, h = system.frames(system.initial_state()[0]), rng.normal(size=system.n_l), 0.1
    z0, z1 = start.copy(), start.copy()
    z0[1:] += 0.1 * rng.normal(size=start[1:].shape)
    z1[1:] += 0.1 * rng.normal(size=start[1:].shape)
    y0, y1 = (rng.normal(size=start.shape) for _ in range(2))
    y0[0] = y1[0] = 0.0
    change = mu @ (rates(system, work, z1, y1) - rates(system, work, z0, y0))
    work.z[:], work.zd[:], work.time[1] = 0.5 * (z0 + z1), (z1 - z0) / h, h
    work.f[:] = 0.0
    coupling_reactions(system.tables, work, mu)
    found = np.sum(work.f * (y1 - y0))
    work.f[:] = 0.0
    coupling_curvatures(system.tables, work, mu, 0.5 * (y0 + y1), y1 - y0)
    work.time[1] = 0.0
    assert found + np.sum(work.f * (z1 - z0)) == pytest.approx(change, abs=1e-9)


def test_restart_goes_on_bit_for_bit():
    model = geared()
    whole = mbd.simulate(model, 0.2, 0.01, GGLEM())
    rest = mbd.simulate(model, 0.2, 0.01, GGLEM(), start=mbd.simulate(model, 0.1, 0.01, GGLEM()))
    assert np.array_equal(whole.q[-1], rest.q[-1])
