"""General elements with the structure-preserving methods: discrete gradients, midpoint evaluation, drivers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import mbd
from mbd.integrators import (
    GGLEM,
    DiscreteVariational,
    GeneralizedAlpha,
    GGLEuler,
    GGLMidpoint,
    GGLTrapezoidal,
    GonzalezEM,
    Invariant,
    LieEM,
    Lobatto,
    Rattle,
    Shake,
)

RV, DIRECTORS, QUATERNION = mbd.nodes.RotationVector, mbd.nodes.Directors, mbd.nodes.Quaternion
ENERGY_MOMENTUM = {"LieEM": (LieEM(), RV), "GonzalezEM": (GonzalezEM(), DIRECTORS), "GGLEM": (GGLEM(), DIRECTORS)}
OTHERS = {
    "VI-S": (GGLEuler(), DIRECTORS),
    "VI-A": (GGLMidpoint(), DIRECTORS),
    "VI-B": (GGLTrapezoidal(), DIRECTORS),
    "DEL directors": (DiscreteVariational(), DIRECTORS),
    "DEL quaternions": (DiscreteVariational(), QUATERNION),
    "Rattle": (Rattle(), DIRECTORS),
    "Shake": (Shake(), DIRECTORS),
    "Lobatto": (Lobatto(), DIRECTORS),
}
ENERGY = 4.0  # of these models, roughly
CONSERVED = 1e-9


def bodies(model: mbd.Model, node: Any) -> tuple[Any, Any, Any]:
    """Two rigid bodies and a point that turn and drift."""
    a = mbd.RigidBody("a", 2.0, (0.3, 0.4, 0.5), node(angular_velocity=(1, 2, 3)))
    start = node(position=(1, 0, 0), velocity=(0, 0.5, 0.2), angular_velocity=(-1, 1, 2))
    b = mbd.RigidBody("b", 1.0, (0.2, 0.1, 0.15), start, com=(0.1, 0, 0))
    p = mbd.PointMass("p", 0.7, (0.3, 1.0, 0.4), (0.3, 0, 0.1))
    return model.add(a), model.add(b), model.add(p)


def energy_of_frames(frames):  # neither quadratic nor a function of quadratic invariants alone
    d = frames[1, :3] - frames[0, :3]
    c = frames[0, 3] * frames[1, 6] + frames[0, 4] * frames[1, 7] + frames[0, 5] * frames[1, 8]
    return 2.0 * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) ** 1.5 + c * c * c


def quartic(frames, t):
    d = frames[1, :3] - frames[0, :3]
    square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
    return square * square - 1.0


def forces_of_frames(t, frames, velocities):
    out = np.zeros_like(velocities)
    out[0, 3] = 1.0 + frames[0, 4]
    out[0, 4] = -velocities[0, 5]
    out[1, 0] = -velocities[1, 0] * np.sin(t)
    out[1, 5] = 2.0 * frames[1, 3]
    return out


@cache
def potentials(node: Any) -> mbd.Model:
    """All elements with an energy and equal and opposite forces, free in space."""
    model, f = mbd.Model("potentials"), mbd.forces
    a, b, p = bodies(model, node)
    model.add(f.GreenSpring(a, b, (0.2, 0.1, 0), (0, 0.1, 0.3), stiffness=20.0, length=0.6))
    model.add(f.Gravitation(a, p, constant=1.0))
    model.add(f.Bushing(a, b, (0.5, 0, 0), (-0.5, 0, 0), stiffness=(5, 3, 2), rotational_stiffness=(1.0, 2.0, 0.5)))
    return model


@cache
def user_elements(node: Any, constraint: bool = True) -> mbd.Model:
    """A user's potential and constraint."""
    model = mbd.Model("user elements")
    a, b, _ = bodies(model, node)
    model.add(mbd.forces.UserPotential([a, b], energy_of_frames))
    if constraint:
        model.add(mbd.joints.UserConstraint([a, b], quartic))
    return model


@cache
def loads(node: Any) -> mbd.Model:
    """Forces of a user, drag, and a nonlinear spring with damping."""
    model, f = mbd.Model("loads"), mbd.forces
    a, b, p = bodies(model, node)
    model.add(f.UserForce([a, b], forces_of_frames))
    model.add(f.Drag(b, 0.5, 0.3, (0.1, 0.2, 0.0)))
    model.add(f.NonlinearSpring(a, p, (0.2, 0, 0), function=lambda x, v: 20.0 * (x - 0.8) + 5.0 * x * x * x + 0.5 * v))
    model.add(f.GreenSpring(b, p, stiffness=5.0, length=1.0, damping=0.2))
    return model


@cache
def driven(node: Any) -> mbd.Model:
    """An angle and a displacement that are prescribed, and a controlled hinge."""
    model, j = mbd.Model("driven", gravity=(0, 0, -9.81)), mbd.joints
    rows = (
        ("a", 2.0, (0.3, 0.4, 0.5), (0.1, 0, 0), node(angular_velocity=(0, 2, 0))),
        ("b", 1.0, (0.2, 0.1, 0.15), (0.1, 0.05, 0), node((1, 0, 0), velocity=(0, 0, -2), angular_velocity=(0, 2, 0))),
        ("c", 1.0, (0.2, 0.1, 0.15), (0.1, 0.05, 0), node((0, 2, 0), velocity=(1, 0, 0))),
        ("d", 1.0, (0.15, 0.2, 0.3), (0.2, 0, 0.1), node((0, 3, 0), velocity=(1, 0, 0))),
    )
    a, b, c, d = (model.add(mbd.RigidBody(name, m, i, start, com=com)) for name, m, i, com, start in rows)
    model.add(j.Revolute(model.ground, a, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(j.AngleDriver(model.ground, a, axis=(0, 1, 0), value=lambda t: 2.0 * t + t * t, name="motor"))
    model.add(j.Universal(a, b, at=(0.5, 0, 0), axis_a=(0, 1, 0), axis_b=(0, 0, 1)))
    model.add(j.Prismatic(model.ground, c, axis=(1, 0, 0)))
    model.add(j.PositionDriver(model.ground, c, axis=(1, 0, 0), value=lambda t: np.sin(t)))
    hinge = model.add(j.Revolute(c, d, at=(0, 3, 0), axis=(0, 1, 0)))
    model.add(mbd.forces.Spring(b, c, stiffness=10.0, length=1.0, damping=0.2))
    model.add(mbd.forces.PDControl(hinge, target=lambda t: np.sin(2.0 * t), kp=3.0, kd=0.3))
    return model


@cache
def geared(node: Any) -> mbd.Model:
    """Two wheels and a rack under gravity: angles counted through full turns, one of them through several."""
    model, j = mbd.Model("geared", gravity=(0, -9.81, 0)), mbd.joints
    a = mbd.RigidBody("a", 2.0, (0.3, 0.4, 0.5), node(angular_velocity=(0, 0, 6)), com=(0.1, 0, 0))
    b = mbd.RigidBody("b", 1.0, (0.2, 0.1, 0.15), node((1, 0, 0), angular_velocity=(0, 0, -12)), com=(0.1, 0.05, 0))
    c = mbd.RigidBody("c", 1.0, (0.2, 0.1, 0.15), node((2, 0, 0), velocity=(0, -3.6, 0)), com=(0.1, 0.05, 0))
    for body in (a, b, c):
        model.add(body)
    first = model.add(j.Revolute(model.ground, a, at=(0, 0, 0), axis=(0, 0, 1)))
    second = model.add(j.Revolute(model.ground, b, at=(1, 0, 0), axis=(0, 0, 1)))
    rack = model.add(j.Prismatic(model.ground, c, axis=(0, 1, 0)))
    model.add(j.Gear(first, second, -2.0))
    model.add(j.RackPinion(second, rack, 0.3))
    return model


@cache
def limit(make: Any) -> np.ndarray:
    """Positions at t = 0.4 by generalized-alpha."""
    return end(make(RV), 0.4, 1e-3, GeneralizedAlpha())


def end(model: mbd.Model, t_end: float, step: float, method: Any) -> np.ndarray:
    solution = mbd.simulate(model, t_end, step, method)
    return np.concatenate([solution[body.name].position[-1] for body in model.bodies])


def spread(x: np.ndarray) -> float:
    return float(np.ptp(x, axis=0).max())


@pytest.fixture(params=ENERGY_MOMENTUM)
def conserving(request):
    return ENERGY_MOMENTUM[request.param]


@pytest.fixture(params=ENERGY_MOMENTUM | OTHERS)
def pair(request):
    return (ENERGY_MOMENTUM | OTHERS)[request.param]


def test_potentials_keep_energy_and_momenta(conserving):
    method, node = conserving
    solution = mbd.simulate(potentials(node), 1.0, 0.01, method)
    energy = solution.energy
    assert spread(energy.kinetic) > 0.1  # there is an exchange
    assert spread(energy.total) < 100 * method.tolerance * ENERGY  # a hundred steps
    assert spread(solution.momentum.linear) < CONSERVED
    assert spread(solution.momentum.angular) < CONSERVED
    kept = method.preserves(solution.system)
    assert {Invariant.ENERGY, Invariant.LINEAR_MOMENTUM, Invariant.ANGULAR_MOMENTUM} <= kept


def test_user_potential_and_constraint_keep_the_energy(conserving):
    """By the gradient of Gonzalez, whose correction is not symmetric: momenta follow with the order of the method."""
    method, node = conserving
    solution = mbd.simulate(user_elements(node, constraint=method != GGLEM()), 0.5, 0.01, method)
    assert spread(solution.energy.total) < CONSERVED
    assert solution.constraint_error.position.max() < CONSERVED
    assert spread(solution.momentum.linear) < 1e-5
    assert Invariant.ENERGY in method.preserves(solution.system)
    assert Invariant.LINEAR_MOMENTUM not in method.preserves(solution.system)


def test_couplings_keep_the_energy():
    for method, node in (ENERGY_MOMENTUM["LieEM"], ENERGY_MOMENTUM["GonzalezEM"]):
        solution = mbd.simulate(geared(node), 1.0, 0.01, method)
        assert spread(solution.energy.kinetic) > 10.0
        assert spread(solution.energy.total) < CONSERVED
        assert solution.constraint_error.position.max() < CONSERVED


@pytest.mark.parametrize("make", [potentials, loads, driven], ids=lambda make: make.__name__)
def test_order_and_limit(pair, make, tolerance):
    """Every element enters consistently: the order of the method, and the solution of generalized-alpha."""
    method, node = pair
    coarse, middle, fine = (end(make(node), 0.4, h, method) for h in (0.01, 0.005, 0.0025))
    order = np.log2(np.linalg.norm(coarse - middle) / np.linalg.norm(middle - fine))
    if method.order > 1:
        assert order == pytest.approx(method.order, abs=tolerance.order)
    else:
        assert order == pytest.approx(1.0, abs=0.2)  # h = 0.01 is not small for them
    assert fine == pytest.approx(limit(make), abs=1e-4 if method.order > 1 else 5e-3)


@pytest.mark.parametrize("name", ["LieEM", "GonzalezEM", "DEL directors", "DEL quaternions", "Rattle"])
def test_order_with_couplings(name, tolerance):
    method, node = (ENERGY_MOMENTUM | OTHERS)[name]
    coarse, middle, fine = (end(geared(node), 0.4, h, method) for h in (0.01, 0.005, 0.0025))
    order = np.log2(np.linalg.norm(coarse - middle) / np.linalg.norm(middle - fine))
    assert order == pytest.approx(2.0, abs=tolerance.order)
    assert fine == pytest.approx(limit(geared), abs=3e-4)


def test_drivers_are_met_at_the_ends_of_the_steps(pair):
    method, node = pair
    solution = mbd.simulate(driven(node), 0.3, 0.01, method)
    if not isinstance(method, GGLMidpoint):  # whose constraints hold at the intermediate points
        assert solution.constraint_error.position.max() < 1e-9
        assert solution["c"].position[-1, 0] == pytest.approx(np.sin(0.3), abs=1e-9)
    if isinstance(method, GGLEM | DiscreteVariational | Rattle):
        assert solution.constraint_error.velocity.max() < 1e-9


def test_power_of_drag_and_dampers_is_never_positive():
    model = mbd.Model("drag")
    a, b, p = bodies(model, RV)
    model.add(mbd.forces.Drag(b, 0.5, 0.3, (0.1, 0.2, 0.0)))
    model.add(mbd.forces.GreenSpring(a, p, stiffness=0.0, length=1.0, damping=0.4))
    assert np.all(np.diff(mbd.simulate(model, 2.0, 0.05, LieEM()).energy.total) < 0.0)


def test_torque_of_a_user_has_its_exact_impulse():
    model = mbd.Model("torque")
    a, b, _ = bodies(model, RV)
    model.add(mbd.forces.UserForce([b], lambda t, frames, velocities: np.array([[0.0, 0.0, 0.0, 0.3, -0.2, 0.1]])))
    momentum = mbd.simulate(model, 1.0, 0.05, LieEM()).momentum.angular
    assert momentum[-1] - momentum[0] == pytest.approx((0.3, -0.2, 0.1), abs=1e-12)
