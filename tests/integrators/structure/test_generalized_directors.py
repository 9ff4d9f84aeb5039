"""Generalized coordinates with a constant mass matrix in methods on points and directors, alone and beside others."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.compiled.settings import PUBLIC
from mbd.integrators import (
    GGLEM,
    RK6,
    Composition,
    GGLEuler,
    GGLMidpoint,
    GGLTrapezoidal,
    Invariant,
    Lobatto,
    Rattle,
    RATTLie,
    Shake,
)
from tests.integrators.structure.test_generalized import ROUND_OFF, T_END, constant_model, mixed_model, run

TIGHT = 1e-12
SAME = {"q": 1e-12, "v": 1e-11, "lam": 1e-7} if PUBLIC else {"q": 1e-13, "v": 1e-12, "lam": 1e-10}
"""With numba's public interface alone, slopes of users' functions are differences: errors, divided by h^2 in lam."""
MASS = [[2.0, 0.3, 0.0], [0.3, 1.0, 0.1], [0.0, 0.1, 1.5]]
METHODS = [Rattle, Shake, Lobatto, GGLEM, GGLEuler, GGLMidpoint, GGLTrapezoidal]


def curved(model, force=None, mass=MASS, twice=False):
    """A bead on a surface that is no quadric, in a potential of the fourth order."""

    def surface(q):
        return np.sin(q[0]) * q[1] ** 3 + np.cosh(q[2]) - np.sin(1.0) * 0.125 - np.cosh(0.2)

    return model.add(mbd.Generalized(
        "bead", coordinates=[1.0, 0.5, 0.2], velocities=[0.7, -0.2, 0.03], mass=mass, force=force,
        potential=lambda q: 3.0 * q[0] ** 2 + q[1] ** 4 + np.exp(q[2]) + q[2] ** 2,
        constraints=(lambda q: [surface(q), 2.0 * surface(q)]) if twice else (lambda q: [surface(q)]),
    ))  # fmt: skip


def alone(**options):
    model = mbd.Model("bead")
    curved(model, **options)
    return model


def chain(count, geared, bead=True):
    """Bars on balls, too many for a dense matrix, or on geared hinges, with the bead in the middle of the list."""
    model = mbd.Model("chain", gravity=(0, 0, -9.81))
    last = model.ground
    for k in range(count):
        bar = mbd.RigidBody(f"bar {k}", 1.0, (0.1, 0.2, 0.25), mbd.nodes.RotationVector(position=(k + 0.5, 0, 0)))
        model.add(bar)
        if geared:
            model.add(mbd.joints.Revolute(model.ground, bar, at=(k + 0.3, 0, 0), axis=(0, 0.6, 0.8)))
        else:
            model.add(mbd.joints.Spherical(last, bar, at=(k, 0, 0)))
        last = bar
        if bead and k == count // 2:
            curved(model)
    if geared:
        model.add(mbd.joints.Gear(model.joints[0], model.joints[1], ratio=2.0))
    return model


@pytest.fixture(scope="module")
def exact():
    return {forced: run(constant_model(forced), RK6(), 2000, output_step=T_END) for forced in (True, False)}


ORDERS = [
    (Rattle(tolerance=TIGHT), 2, True), (Shake(tolerance=TIGHT), 2, True), (Lobatto(tolerance=TIGHT), 4, True),
    (Composition(Rattle(tolerance=1e-13)), 4, False), (GGLEM(tolerance=TIGHT), 2, True),
    (GGLMidpoint(tolerance=TIGHT), 2, True), (GGLTrapezoidal(theta=0.5, tolerance=TIGHT), 2, True),
    (GGLTrapezoidal(tolerance=TIGHT), 1, True), (GGLEuler(tolerance=TIGHT), 1, True),
]  # fmt: skip


@pytest.mark.parametrize(("method", "order", "forced"), ORDERS, ids=lambda value: getattr(value, "name", None))
def test_positions_velocities_and_reactions_have_the_order_of_the_method(method, order, forced, exact):
    """A top, a bead with a constraint and three masses, damped and driven where the method takes that."""
    errors = []
    for steps in (20, 40) if PUBLIC and order == 4 else (40, 80):  # errors of differences are seen beside 1e-10
        found = run(constant_model(forced), method, steps)
        pairs = ((getattr(found, name), getattr(exact[forced], name)) for name in ("q", "v", "lam"))
        errors.append([np.abs(a[-1] - b[-1]).max() for a, b in pairs])
    np.testing.assert_allclose(np.log2(np.divide(*errors)), order, atol=0.1)
    kept = method.preserves(found.system)
    if Invariant.POSITION_CONSTRAINTS in kept:
        assert found.constraint_error.position.max() < 1e-12
    if isinstance(method, Rattle | Lobatto | GGLEM):
        assert found.constraint_error.velocity.max() < 1e-11


@pytest.mark.parametrize("model", [lambda: constant_model(False), alone], ids=["quadratic", "general"])
def test_the_energy_is_exact(model):
    """GGLEM: discrete gradients of the potential, of constraints, and of their rates."""
    found = mbd.simulate(model(), 2.0, 0.01, GGLEM(tolerance=TIGHT), progress=False)
    assert Invariant.ENERGY in GGLEM().preserves(found.system)
    assert np.ptp(found.energy.total) < ROUND_OFF
    assert found.constraint_error.position.max() < TIGHT and found.constraint_error.velocity.max() < 1e-11


def test_rattle_is_rattlie():
    """On generalized coordinates both are RATTLE; the multipliers of Rattle act on whole steps."""
    first, second = (mbd.simulate(alone(), 2.0, 0.01, m(tolerance=TIGHT), progress=False) for m in (Rattle, RATTLie))
    for name, tolerance in SAME.items():
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), rtol=0.0, atol=tolerance)
    halves = second.scheme["lambda"][1:] + second.scheme["mu"][:-1]
    np.testing.assert_allclose(2.0 * first.scheme["lambda"][2:], halves[1:], atol=1e-7)
    np.testing.assert_allclose(first.scheme["p"], first.v @ MASS, atol=1e-13)


@pytest.mark.parametrize("method", [Rattle, Lobatto, GGLMidpoint, GGLTrapezoidal(theta=0.5)], ids=str)
def test_energies_of_symplectic_methods_do_not_drift(method):
    """The mean energy of the last tenth of the steps is that of the first one, as seen beside its oscillation."""
    method = method(tolerance=TIGHT) if isinstance(method, type) else method
    assert Invariant.SYMPLECTIC in method.preserves(mbd.assemble(alone()))
    t_end = 40.0 if PUBLIC else 400.0  # functions are called as plain Python there
    energy = mbd.simulate(alone(), t_end, 0.02, method, progress=False).energy.total
    part = len(energy) // 10
    assert abs(energy[-part:].mean() - energy[:part].mean()) < 0.05 * np.ptp(energy[:part])
    assert np.ptp(energy[-part:]) < 1.2 * np.ptp(energy[:part])


@pytest.mark.parametrize("geared", [False, True])
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
def test_bodies_beside_each_other_do_not_know_of_each_other(method, geared):
    """With matrices of rigid bodies, which large and coupled models have: the motions are those of separate runs."""
    count = 3 if geared else 30
    both, bead, bars = (
        mbd.simulate(model, 0.1, 0.004, method(), progress=False)
        for model in (chain(count, geared), alone(), chain(count, geared, bead=False))
    )
    np.testing.assert_allclose(both["bead"].coordinates, bead["bead"].coordinates, atol=1e-12)
    for k in range(count):
        np.testing.assert_allclose(both[f"bar {k}"].position, bars[f"bar {k}"].position, atol=1e-12)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
def test_runs_go_on_without_a_trace(method):
    """Half a run and the rest of it are the whole one, bit for bit."""
    whole = mbd.simulate(constant_model(), 0.2, 0.01, method(), progress=False)
    half = mbd.simulate(constant_model(), 0.1, 0.01, method(), progress=False)
    rest = mbd.simulate(constant_model(), 0.2, 0.01, method(), start=half, progress=False)
    for name in ("q", "v"):
        np.testing.assert_array_equal(getattr(rest, name)[-1], getattr(whole, name)[-1])


@pytest.mark.parametrize("method", [Rattle, GGLEM, Lobatto], ids=lambda method: method.__name__)
def test_redundant_constraints_share_their_force(method):
    """The same surface twice, the second time doubled: multipliers of minimum norm, one and two fifths."""
    with pytest.warns(mbd.errors.RedundancyWarning, match="redundant"):
        twice = mbd.simulate(alone(twice=True), 0.2, 0.01, method(), progress=False)
    once = mbd.simulate(alone(), 0.2, 0.01, method(), progress=False)
    np.testing.assert_allclose(twice.q, once.q, atol=1e-8)
    np.testing.assert_allclose(twice.lam[-1], once.lam[-1, 0] * np.array((0.2, 0.4)), rtol=1e-5)


def test_singular_masses():
    """Taken where velocities do not follow from momenta alone, and otherwise refused by name."""
    model = mbd.Model("singular")
    model.add(mbd.Generalized(
        "bead", [1.0, 1.0], [0.5, 1.0], mass=[[0.0, 0.0], [0.0, 2.0]], potential=lambda q: 9.81 * q[1],
        constraints=lambda q: [q[1] - q[0] * q[0]],
    ))  # fmt: skip
    expected = run(model, mbd.integrators.LivensEM(), 800, output_step=T_END).q[-1]
    for method in (Rattle(), Lobatto(), GGLEM()):
        np.testing.assert_allclose(run(model, method, 400).q[-1], expected, atol=1e-5)
    for method in (Shake(), GGLEuler(), GGLMidpoint(), GGLTrapezoidal()):
        with pytest.raises(mbd.IncompatibleError, match="regular mass matrix; that of body 'bead' is singular"):
            run(model, method, 10)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
def test_varying_masses_are_refused(method):
    with pytest.raises(mbd.IncompatibleError, match="'pendulum'.*DiscreteVariational"):
        run(mixed_model(), method(), 10)


@pytest.mark.parametrize("method", [Rattle(), RATTLie(), GGLEM()], ids=lambda method: method.name)
def test_compositions_refuse_forces_of_velocities(method):
    """Of generalized coordinates as well; loads in time and positions are taken."""
    damped = alone(force=lambda t, q, v: [-0.1 * v[0] * q[0], 0.0, 0.0])
    with pytest.raises(mbd.IncompatibleError, match="coordinates of body 'bead' depends on velocities"):
        run(damped, Composition(method), 10)
    run(alone(force=lambda t, q, v: [0.1 * np.sin(t), 0.0 * v[0], q[1]]), Composition(method), 10)
