"""Runs whose numbers contradict each other do not end without a word."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbd
from mbd import integrators as methods
from mbd.balance import energy_balance


def oscillator(stiffness: float, damping: float = 0.0, load=None) -> mbd.Model:
    model = mbd.Model("oscillator", gravity=(0.0, 0.0, -9.81))
    body = model.add(mbd.PointMass("mass", 1.0, (0.0, 0.0, -1.1)))
    model.add(mbd.forces.Spring(model.ground, body, stiffness=stiffness, length=1.0, damping=damping))
    if load is not None:
        model.add(mbd.forces.Force(body, load))
    return model


@pytest.mark.parametrize(
    "method", [methods.Rattle(), methods.GGLEuler(), methods.GGLTrapezoidal(), methods.RK4()], ids=lambda m: m.name
)
def test_an_unstable_run_is_no_success(method):
    with pytest.warns(mbd.AccuracyWarning, match=f"{method.name} with a step of 0.01 gained energy.*smaller step"):
        solution = mbd.simulate(oscillator(1e6), 0.1, 0.01, method)
    balance = energy_balance(solution)
    assert balance is not None and balance.relative > 0.1
    assert str(balance) in solution.summary()


def test_energy_that_numerical_damping_takes_is_named():
    with pytest.warns(mbd.AccuracyWarning, match=r"GeneralizedAlpha with a step of 0.01 lost energy.*rho_inf"):
        mbd.simulate(oscillator(1e6), 0.1, 0.01, methods.GeneralizedAlpha(rho_inf=0.5))


def quiet(model: mbd.Model, t_end: float, step: float, method, **options) -> mbd.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return mbd.simulate(model, t_end, step, method, **options)


@pytest.mark.parametrize("method", [methods.GeneralizedAlpha(), methods.LieEM(), methods.RK4()], ids=lambda m: m.name)
def test_work_of_dampers_and_loads_belongs_to_the_balance(method):
    """More energy comes and goes than there was at the start."""
    model = oscillator(400.0, damping=4.0, load=lambda t: (0.0, 30.0 * np.sin(15.0 * t), 20.0 * t))
    solution = quiet(model, 2.0, 0.01, method)
    balance = energy_balance(solution)
    assert balance is not None and abs(balance.relative) < 0.02
    assert abs(balance.work) > 0.1 * balance.scale


def test_loads_between_records_are_not_held_against_a_run():
    push = oscillator(400.0, load=lambda t: (0.0, 0.0, 200.0 if 0.2 < t < 0.25 else 0.0))
    solution = quiet(push, 1.0, 0.005, methods.GeneralizedAlpha(), output_step=0.5)
    assert energy_balance(solution) is None
    assert "energy balance" not in solution.summary()


def test_rest_is_no_violation():
    model = oscillator(400.0)
    quiet(mbd.equilibrium(model).model, 0.1, 0.01, methods.GeneralizedAlpha())


def spinning(speed: float, axis, node) -> mbd.Model:
    model = mbd.Model("top", gravity=(0.0, 0.0, 0.0))
    spin = speed * np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    model.add(mbd.RigidBody("body", 1.0, (0.1, 0.2, 0.25), node(angular_velocity=spin)))
    return model


def test_a_body_that_turns_too_far_in_a_step_is_named():
    with pytest.warns(mbd.AccuracyWarning, match=r"body 'body' turns by .* rad in a step of 0.01.*LieEM"):
        mbd.simulate(spinning(250.0, (1.0, 1.0, 1.0), mbd.nodes.RotationVector), 0.1, 0.01, methods.LieEM())
    quiet(spinning(250.0, (0.0, 0.0, 1.0), mbd.nodes.RotationVector), 0.1, 0.01, methods.GeneralizedAlpha())
    quiet(spinning(100.0, (1.0, 1.0, 1.0), mbd.nodes.RotationVector), 0.1, 0.01, methods.LieEM())
    quiet(spinning(250.0, (1.0, 1.0, 1.0), mbd.nodes.RotationVector), 0.1, 0.01, methods.JacobiExact())


@pytest.mark.parametrize(
    "method",
    [methods.DiscreteVariational(), methods.LivensMidpoint(), methods.HamiltonianMidpoint()],
    ids=lambda m: m.name,
)
def test_a_thrown_point_keeps_its_velocity(method):
    """Where nothing but gravity acts, accelerations do not look at velocities; momenta of the start must."""
    model = mbd.Model(gravity=(0.0, 0.0, -9.81))
    model.add(mbd.PointMass("stone", 2.0, (1.0, 0.0, 0.0), (0.0, 3.0, 4.0)))
    solution = mbd.simulate(model, 0.1, 0.01, method)
    assert np.allclose(solution["stone"].velocity[-1], (0.0, 3.0, 4.0 - 0.981), atol=1e-9)
    assert np.allclose(solution["stone"].position[-1], (1.0, 0.3, 0.4 - 0.5 * 9.81 * 0.01), atol=1e-9)
