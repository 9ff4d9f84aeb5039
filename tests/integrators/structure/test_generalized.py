"""Generalized coordinates, with constraints and varying masses, beside rigid bodies in structure-preserving runs.

The pendulum on a spring in polar coordinates is the same as a point mass on a spring in space; the bead on a circle has
a coupled mass matrix, and its reaction is compared with that of a fine run of RK4.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import mbd
from mbd.integrators import RK4, RK6, Composition, GonzalezEM, HamiltonianEM, LieEM, LivensEM, RATTLie

GRAVITY = 9.81
T_END, FINE = 0.4, 1e-4
ROUND_OFF = 5e-12  # of energies of about 50 J, at tolerances of 1e-12


def mixed_model():
    """Two joined bodies, and between them in the list a pendulum with M(q) and a bead with a constraint of its own."""
    model = mbd.Model("mixed", gravity=(0, 0, -GRAVITY))
    node = mbd.nodes.Quaternion(position=(0, 0.2, 1), velocity=(0.35, -1.0, 0.2), angular_velocity=(1, 0.35, 0))
    first = model.add(mbd.RigidBody("first", 2.0, (0.3, 0.5, 0.4), node, com=(0.1, 0, 0.05)))
    model.add(mbd.Generalized(
        "pendulum", coordinates=[0.3, 1.2], velocities=[1.0, 0.0], mass=lambda q: [[2.0 * q[1] ** 2, 0.0], [0.0, 2.0]],
        potential=lambda q: -2.0 * GRAVITY * q[1] * np.cos(q[0]) + 50.0 * (q[1] - 1.0) ** 2,
    ))  # fmt: skip
    model.add(mbd.Generalized(
        "bead", coordinates=[1.0, 0.0], velocities=[0.0, 1.0], mass=[[2.0, 0.3], [0.3, 1.0]],
        potential=lambda q: 3.0 * q[0] + q[1] ** 4, constraints=lambda q: [0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0)],
    ))  # fmt: skip
    second = model.add(mbd.RigidBody("second", 1.0, (0.3, 0.5, 0.4), mbd.nodes.Quaternion(position=(0, 0.2, 2))))
    model.add(mbd.joints.Spherical(model.ground, first, at=(0, 0, 0), name="ball"))
    model.add(mbd.joints.Revolute(first, second, at=(0, 0.2, 1.5), axis=(0, 1, 0), name="hinge"))
    return model


def run(model, method, steps, **options):
    return mbd.simulate(model, T_END, T_END / steps, method, progress=False, **options)


@pytest.fixture(scope="module")
def fine():
    return run(mixed_model(), RK4(), round(T_END / FINE), output_step=T_END)


@pytest.mark.parametrize("method", [LieEM(), GonzalezEM(), HamiltonianEM()], ids=lambda method: method.name)
def test_energy_is_exact_and_all_variables_have_second_order(method, fine):
    """T + V of varying and constant mass matrices; positions, velocities and reactions."""
    errors = []
    for steps in (80, 160):
        found = run(mixed_model(), method, steps)
        pairs = (found.q, fine.q), (found.v, fine.v), (found["hinge"].force, fine["hinge"].force)
        errors.append([np.abs(a[-1] - b[-1]).max() for a, b in (*pairs, (found.lam, fine.lam))])
    np.testing.assert_allclose(np.log2(np.divide(*errors)), 2.0, atol=0.06)
    assert np.ptp(found.energy.total) < ROUND_OFF


@pytest.mark.parametrize("reduction", ["none", "nullspace"])
def test_all_forms_of_livens_are_the_same_motion(reduction, tmp_path):
    """The multipliers of the bead are in the middle of those of the quaternions that the null-space form eliminates."""
    reduced, method = run(mixed_model(), LivensEM(), 80), LivensEM(reduction=reduction)
    found = run(mixed_model(), method, 80)
    for name, tolerance in {"q": 1e-13, "v": 1e-11}.items():
        np.testing.assert_allclose(getattr(found, name), getattr(reduced, name), rtol=0.0, atol=tolerance)
    for name, tolerance in {"lambda": 5e-8, "p": 2e-11, "generalized energy": 1e-12}.items():
        np.testing.assert_allclose(found.scheme[name], reduced.scheme[name], rtol=0.0, atol=tolerance)
    assert np.ptp(found.scheme["generalized energy"]) < ROUND_OFF
    half = mbd.simulate(mixed_model(), T_END / 2, T_END / 80, method, progress=False)
    rest = mbd.simulate(mixed_model(), T_END, T_END / 80, method, start=half, progress=False)
    for name in ("q", "v"):
        np.testing.assert_array_equal(getattr(rest, name)[-1], getattr(found, name)[-1])
    np.testing.assert_array_equal(rest.scheme["lambda"][-1], found.scheme["lambda"][-1])


@pytest.mark.parametrize("method", [LieEM(), GonzalezEM()], ids=lambda method: method.name)
def test_polar_coordinates_and_a_point_are_the_same_pendulum(method):
    """The pendulum of the mixed model as a point mass on a spring, in space."""
    model = mbd.Model("point", gravity=(0, 0, -GRAVITY))
    angle, length = 0.3, 1.2
    place = (length * math.sin(angle), 0, -length * math.cos(angle))
    speed = (length * math.cos(angle), 0, length * math.sin(angle))
    point = model.add(mbd.PointMass("point", mass=2.0, position=place, velocity=speed))
    model.add(mbd.forces.Spring(model.ground, point, (0, 0, 0), (0, 0, 0), stiffness=100.0, length=1.0))
    polar, space = (run(m, method, 4000) for m in (mixed_model(), model))
    q = polar["pendulum"].coordinates[-1]
    np.testing.assert_allclose(
        (q[1] * math.sin(q[0]), -q[1] * math.cos(q[0])), space["point"].position[-1][[0, 2]], atol=2e-7
    )


def test_a_singular_mass_matrix_is_taken_where_it_is_constant():
    """x is moved by nothing but its constraint y = x^2; LivensEM never inverts a mass, Hamilton's rule has to."""

    def model(mass):
        found = mbd.Model("singular")
        constraint = dict(constraints=lambda q: [q[1] - q[0] * q[0]])
        found.add(
            mbd.Generalized("bead", [1.0, 1.0], [0.5, 1.0], mass=mass, potential=lambda q: 9.81 * q[1], **constraint)
        )
        return found

    constant = model([[0.0, 0.0], [0.0, 2.0]])
    expected = run(constant, LivensEM(), 100)
    np.testing.assert_allclose(run(constant, LieEM(), 100).q, expected.q, atol=1e-12)
    with pytest.raises(mbd.IncompatibleError, match="LieEM needs a regular mass matrix; that of body 'bead'"):
        run(model(lambda q: [[0.0 * q[0], 0.0], [0.0, 2.0]]), LieEM(), 100)


# --- forces on the coordinates ----------------------------------------------------------------------------------------


def pushed_oscillator():
    """m x'' + d x' + c x = F cos(w t) in two coupled coordinates that are multiples of x and of another oscillator."""
    model = mbd.Model("pushed")
    model.add(mbd.Generalized(
        "oscillator", coordinates=[0.4, -0.2], velocities=[0.0, 1.0], mass=[2.0, 1.0],
        potential=lambda q: 20.0 * q[0] ** 2 + 10.0 * q[1] ** 2,
        force=lambda t, q, v: [-0.6 * v[0] + 3.0 * np.cos(5.0 * t), -0.4 * v[1] * (1.0 + q[1] ** 2)],
    ))  # fmt: skip
    return model


def driven_solution(t):
    """The first coordinate of the oscillator: its response and the decaying free oscillation from x = 0.4 at rest."""
    m, d, c, push, w = 2.0, 0.6, 40.0, 3.0, 5.0
    z = push / (c - m * w * w + 1j * d * w)
    decay, free = d / (2.0 * m), math.sqrt(c / m - (d / (2.0 * m)) ** 2)
    a = 0.4 - z.real
    b = (decay * a - (1j * w * z).real) / free
    return (z * np.exp(1j * w * t)).real + np.exp(-decay * t) * (a * np.cos(free * t) + b * np.sin(free * t))


METHODS = [
    mbd.integrators.GeneralizedAlpha(), RK4(), LieEM(), GonzalezEM(), HamiltonianEM(), LivensEM(),
    LivensEM(reduction="none"), LivensEM(reduction="nullspace"), mbd.integrators.LivensMidpoint(),
    mbd.integrators.HamiltonianMidpoint(), mbd.integrators.DiscreteVariational(), mbd.integrators.BLieDF(),
    RATTLie(), mbd.integrators.Rattle(), mbd.integrators.Shake(), mbd.integrators.Lobatto(), mbd.integrators.GGLEM(),
    mbd.integrators.GGLMidpoint(), mbd.integrators.GGLTrapezoidal(theta=0.5),
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_damping_and_a_force_in_time(method):
    """The closed solution at the order of the method, and the balance of energy."""
    expected, errors = driven_solution(1.0), []
    for steps in (100, 200):
        found = mbd.simulate(pushed_oscillator(), 1.0, 1.0 / steps, method, progress=False)
        errors.append(abs(found["oscillator"].coordinates[-1, 0] - expected))
    assert errors[0] / errors[1] > 0.93 * 2.0**method.order or errors[1] < 1e-9
    assert errors[1] < 2e-4
    change, power = found.energy.total - found.energy.total[0], found.power
    work = np.concatenate(([0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(found.t))))
    np.testing.assert_allclose(change, work, atol=4e-3 * np.ptp(found.energy.total))


def test_what_a_force_takes_away():
    """Methods do not claim to keep the energy; a changed force acts in the next run; a wrong one is told."""
    model = pushed_oscillator()
    assert mbd.integrators.Invariant.ENERGY not in LieEM().preserves(mbd.assemble(model))
    with_force = mbd.simulate(model, 0.1, 0.01, LieEM(), progress=False)
    model.bodies[0].force = None
    without = mbd.simulate(model, 0.1, 0.01, LieEM(), progress=False)
    assert abs(with_force.q[-1, 0] - without.q[-1, 0]) > 1e-3
    assert np.ptp(without.energy.total) < ROUND_OFF
    assert mbd.integrators.Invariant.ENERGY in LieEM().preserves(mbd.assemble(model))
    with pytest.raises(mbd.ModelError, match=r"'oscillator': force\(t, q, v\)"):
        model.bodies[0].force = lambda t, q, v: [1.0, 2.0, 3.0]
    with pytest.raises(mbd.ModelError, match="force = 3.0; expected a function of time"):
        model.bodies[0].force = 3.0


def test_equilibrium_and_linear_motion_know_the_force():
    """A constant force moves the equilibrium by F/c; damping of the linear motion is that of the force."""
    model = mbd.Model("pushed")
    model.add(mbd.Generalized(
        "mass", coordinates=[0.0], mass=2.0, potential=lambda q: 20.0 * q[0] ** 2,
        force=lambda t, q, v: [4.0 - 0.6 * v[0]],
    ))  # fmt: skip
    rest = mbd.equilibrium(model)
    assert rest.q[0] == pytest.approx(0.1, abs=1e-9)
    system = mbd.assemble(model)
    assert system.damping(*system.initial_state()).toarray()[0, 0] == pytest.approx(0.6, rel=1e-7)


def constant_model(forced=True):
    """A top, a bead with a constraint, and three coupled masses, damped and driven."""
    model = mbd.Model("constant masses", gravity=(0, 0, -GRAVITY))
    node = mbd.nodes.RotationVector(position=(0, 0.2, 1), velocity=(0.35, -1.0, 0.2), angular_velocity=(1, 0.35, 0))
    top = model.add(mbd.RigidBody("top", 2.0, (0.3, 0.5, 0.4), node))
    model.add(mbd.Generalized(
        "bead", coordinates=[1.0, 0.0], velocities=[0.0, 1.0], mass=[[2.0, 0.3], [0.3, 1.0]],
        potential=lambda q: 3.0 * q[0] + q[1] ** 4, constraints=lambda q: [0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0)],
    ))  # fmt: skip
    model.add(mbd.Generalized(
        "chain", coordinates=[0.3, -0.2, 0.5], velocities=[1.0, 0.0, -0.4],
        mass=[[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 3.0]],
        potential=lambda q: 4.0 * q[0] ** 2 + 3.0 * (q[1] - q[0]) ** 4 + 5.0 * (q[2] - q[1]) ** 2,
        force=(lambda t, q, v: [np.sin(3.0 * t) - 0.2 * v[0], 0.0, -0.4 * v[2]]) if forced else None,
    ))  # fmt: skip
    model.add(mbd.joints.Spherical(model.ground, top, at=(0, 0, 0), name="ball"))
    return model


@pytest.mark.parametrize("order", [2, 4])
def test_rattlie_steps_constant_masses(order):
    """Second order in coordinates, velocities and multipliers, constraints exact; compositions without forces of
    velocities have order four."""
    method = RATTLie(tolerance=1e-12) if order == 2 else Composition(RATTLie(tolerance=1e-13))
    exact = run(constant_model(order == 2), RK6(), 2000, output_step=T_END)
    errors = []
    for steps in (40, 80):
        found = run(constant_model(order == 2), method, steps)
        pairs = (found.q, exact.q), (found.v, exact.v), (found.lam, exact.lam)
        errors.append([np.abs(a[-1] - b[-1]).max() for a, b in pairs])
        assert found.constraint_error.position.max() < 1e-12 and found.constraint_error.velocity.max() < 1e-11
    np.testing.assert_allclose(np.log2(np.divide(*errors)), order, atol=0.1)


def test_rattlie_refuses_varying_masses():
    with pytest.raises(mbd.IncompatibleError, match="'pendulum'.*DiscreteVariational"):
        run(mixed_model(), RATTLie(), 40)
