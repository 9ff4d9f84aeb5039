"""Rolling: the steady circle of a disk, order of convergence of a wobbling one, a ball on an inclined plane."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbd
from mbd.testing import observed_order

RADIUS, MASS, ACROSS, ALONG, LEAN, CIRCLE, GRAVITY = 0.5, 2.0, 0.125, 0.25, np.radians(70.0), 3.0, 9.81
TURN, SPIN = 0.912702681618, -5.476216089711  # rate about the vertical and spin of the steady circle
EULER = {"sequence": "zxz"}  # heading, lean, spin: singular only where the disk lies flat
NODES = [
    mbd.nodes.RotationVector(), mbd.nodes.RotationVector(lie=False), mbd.nodes.Quaternion(),
    mbd.nodes.Quaternion(lie=True), mbd.nodes.Directors(), mbd.nodes.Directors(lie=True),
    mbd.nodes.EulerAngles(**EULER), mbd.nodes.EulerAngles(**EULER, lie=True),
]  # fmt: skip


def node_name(node):
    return f"{node}{' Lie' if node.lie else ''}"


METHODS = {
    "index 3": mbd.integrators.GeneralizedAlpha(stabilized=False),
    "index 2": mbd.integrators.GeneralizedAlpha(stabilized=True),
    "RK4": mbd.integrators.RK4(),
}


def rolling_disk(disturbance=(0.0, 0.0, 0.0)):
    """A disk that leans inwards and rolls along a circle about the origin."""
    up, axis = np.array((0.0, 0.0, 1.0)), np.array((np.sin(LEAN), 0.0, np.cos(LEAN)))
    side = np.array((0.0, 1.0, 0.0))
    rotation = np.column_stack((np.cross(side, axis), side, axis))
    offset = -RADIUS * (up - (up @ axis) * axis) / np.sin(LEAN)
    omega = rotation.T @ (TURN * up + SPIN * axis) + np.array(disturbance)
    node = mbd.nodes.RotationVector(
        position=np.array((CIRCLE, 0.0, 0.0)) - offset, rotation=rotation, angular_velocity=omega,
        velocity=-np.cross(rotation @ omega, offset),
    )  # fmt: skip
    model = mbd.Model("disk", gravity=(0, 0, -GRAVITY))
    disk = model.add(mbd.RigidBody("disk", mass=MASS, inertia=(ACROSS, ACROSS, ALONG), node=node))
    model.add(mbd.joints.Rolling(model.ground, disk, radius=RADIUS, axis=axis, at=(0, 0, 0), name="contact"))
    return model


def test_steady_circle_balances():
    c, s = np.cos(LEAN), np.sin(LEAN)
    lever = (ALONG + MASS * RADIUS**2) * (CIRCLE / RADIUS - c) + ACROSS * c
    assert TURN**2 * s * lever == pytest.approx(MASS * GRAVITY * RADIUS * c, rel=1e-11)
    assert pytest.approx(-TURN * CIRCLE / RADIUS, rel=1e-11) == SPIN


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("node", NODES, ids=node_name)
def test_disk_returns_after_one_turn(node, name):
    period = 2.0 * np.pi / TURN
    solution = mbd.simulate(rolling_disk().with_nodes(node), period, period / 1000, METHODS[name])
    disk, contact = solution["disk"], solution["contact"]
    if name == "RK4":
        assert disk.position[-1] == pytest.approx(disk.position[0], abs=1e-5)
        assert np.ptp(disk.position[:, 2]) < 1e-7
        assert np.ptp(solution.energy.total) < 1e-5
    else:
        assert disk.position[-1] == pytest.approx(disk.position[0], abs=3e-2)
        assert np.ptp(solution.energy.total) < 5e-3
    assert solution.constraint_error.position.max() < 1e-8
    # the contact force carries the weight and the centripetal acceleration of the centre
    centre = CIRCLE - RADIUS * np.cos(LEAN)
    expected = (-MASS * TURN**2 * centre, 0.0, MASS * GRAVITY)
    assert contact.force[0] == pytest.approx(expected, abs=1e-6)


WOBBLE = (0.3, 0.6, 0.0)  # about both axes across the spin; the spin axis is the third one of the body
ERRORS = {  # at the end of the run: position, contact force, energy; index 3 of an independent program
    "index 3": ((5.34e-4, 8.1e-6), (3.44e-2, 5.45e-4), (1.3e-4, 1.8e-6)),
    "index 2": ((4.90e-4, 7.56e-6), (2.56e-2, 4.05e-4), (1.46e-4, 1.77e-6)),  # the direction of its correction is ours
}


@pytest.mark.parametrize("name", ERRORS)
def test_wobbling_disk_converges_with_second_order(name, tolerance):
    exact = mbd.simulate(rolling_disk(WOBBLE), 2.0, 2.0 / 3200, mbd.integrators.RK4())
    errors, steps = [], 2.0 / np.array((100, 200, 400, 800))
    for h in steps:
        method = mbd.integrators.GeneralizedAlpha(stabilized=name == "index 2", tolerance=1e-10)
        solution = mbd.simulate(rolling_disk(WOBBLE), 2.0, h, method)
        position = solution["disk"].position[-1] - exact["disk"].position[-1]
        force = solution["contact"].force[-1] - exact["contact"].force[-1]
        energy = solution.energy.total[-1] - solution.energy.total[0]
        errors.append((np.linalg.norm(position), np.linalg.norm(force), abs(energy)))
        assert solution.constraint_error.velocity.max() < (1e-9 if name == "index 2" else 1.0)
    for measured, (first, last) in zip(np.transpose(errors), ERRORS[name], strict=True):
        assert measured[0] == pytest.approx(first, rel=0.05)
        assert measured[-1] == pytest.approx(last, rel=0.05)
    for measured in np.transpose(errors)[:2]:
        assert observed_order(measured, steps) == pytest.approx(2.0, abs=tolerance.order)


@pytest.mark.parametrize("name", METHODS)
def test_ball_on_an_inclined_plane(name):
    """a = g sin(slope) / (1 + 2/5), friction = 2/7 m g sin(slope)."""
    slope = 0.3
    normal = np.array((np.sin(slope), 0.0, np.cos(slope)))
    model = mbd.Model("ball", gravity=(0, 0, -GRAVITY))
    node = mbd.nodes.Quaternion(position=0.2 * normal)
    ball = model.add(mbd.RigidBody("ball", mass=3.0, inertia=(0.4 * 3.0 * 0.04,) * 3, node=node))
    contact = model.add(mbd.joints.Rolling(model.ground, ball, radius=0.2, normal=normal))
    solution = mbd.simulate(model, 1.0, 0.005, METHODS[name])
    along = np.array((np.cos(slope), 0.0, -np.sin(slope)))
    expected = 0.5 * GRAVITY * np.sin(slope) / 1.4
    travelled = (solution[ball].position[-1] - solution[ball].position[0]) @ along
    assert travelled == pytest.approx(expected, rel=1e-8 if name == "RK4" else 2e-3)
    friction = -3.0 * GRAVITY * np.sin(slope) * 2.0 / 7.0
    assert solution[contact].force[-1] @ along == pytest.approx(friction, rel=1e-6 if name == "RK4" else 2e-3)


def test_rolling_on_a_moving_body_conserves_momentum():
    """A ball on a free plate: the plate recoils."""
    model = mbd.Model("plate")
    plate = model.add(mbd.RigidBody("plate", mass=4.0, inertia=(1, 1, 2), node=mbd.nodes.Directors()))
    node = mbd.nodes.RotationVector(position=(0.1, 0.2, 0.3), velocity=(1, 0.5, 0), angular_velocity=(0, 3, 1))
    ball = model.add(mbd.RigidBody("ball", mass=1.0, inertia=(0.036,) * 3, node=node))
    model.add(mbd.joints.Rolling(plate, ball, radius=0.3, at=(0, 0, 0)))
    solution = mbd.simulate(model, 1.0, 0.002, mbd.integrators.RK4())
    assert solution.momentum.linear == pytest.approx(np.tile(solution.momentum.linear[0], (501, 1)), abs=1e-10)
    assert solution.momentum.angular == pytest.approx(np.tile(solution.momentum.angular[0], (501, 1)), abs=1e-8)
    assert np.ptp(solution.energy.total) < 1e-8


def test_what_cannot_roll_is_refused():
    model = mbd.Model("bad")
    mass = model.add(mbd.PointMass("mass", 1.0, (0, 0, 1)))
    disk = model.add(mbd.RigidBody("disk", mass=1.0, inertia=(1, 1, 2), node=mbd.nodes.Quaternion(position=(0, 0, 1))))
    with pytest.raises(mbd.ModelError, match="orientation"):
        mbd.joints.Rolling(model.ground, mass, radius=1.0)
    with pytest.raises(mbd.ModelError, match="lies flat"):
        mbd.joints.Rolling(model.ground, disk, radius=1.0, axis=(0, 0, 1))
    with pytest.raises(mbd.ModelError, match="below the plane"):
        mbd.joints.Rolling(model.ground, disk, radius=1.0, at=(0, 0, 3))


def test_methods_for_position_constraints_refuse_rolling():
    class Positions(mbd.integrators.RK4):
        nonholonomic = False

    with pytest.raises(mbd.IncompatibleError, match=r"contact.*nonholonomic.*GeneralizedAlpha"):
        mbd.simulate(rolling_disk(), 0.1, 0.01, Positions())


def test_a_disk_that_falls_flat_is_named():
    model = mbd.Model("falling", gravity=(0, 0, -GRAVITY))
    axis = np.array((np.sin(0.6), 0.0, np.cos(0.6)))
    rotation = np.column_stack((np.cross((0, 1, 0), axis), (0, 1, 0), axis))
    node = mbd.nodes.RotationVector(position=(0, 0, 0.5 * np.sin(0.6)), rotation=rotation)
    disk = model.add(mbd.RigidBody("coin", mass=MASS, inertia=(ACROSS, ACROSS, ALONG), node=node))
    model.add(mbd.joints.Rolling(model.ground, disk, radius=RADIUS, axis=axis, at=(0, 0, 0), name="contact"))
    with pytest.raises((mbd.SingularityError, mbd.ConvergenceError)) as caught:
        mbd.simulate(model, 2.0, 0.002)
    assert isinstance(caught.value, mbd.SingularityError) and "contact" in str(caught.value)


LIFT = 100.0  # N/s


def rolling_ball(gravity=GRAVITY):
    model = mbd.Model("ball", gravity=(0, 0, -gravity))
    start = mbd.nodes.Quaternion((0, 0, RADIUS), velocity=(1, 0, 0), angular_velocity=(0, 1 / RADIUS, 0))
    ball = model.add(mbd.RigidBody("ball", MASS, (0.2, 0.2, 0.2), start))
    model.add(mbd.joints.Rolling(model.ground, ball, radius=RADIUS, name="contact"))
    return model


@pytest.mark.parametrize("name", METHODS)
def test_a_contact_that_pulls_says_so_once(name):
    """It names the first record after the lift exceeds the weight; what presses or carries nothing is silent."""
    model = rolling_ball()
    model.add(mbd.forces.Force(model["ball"], lambda t: (0.0, 0.0, LIFT * t)))
    lifts = MASS * GRAVITY / LIFT
    with pytest.warns(mbd.ModelWarning, match=r"'contact' .* pulls: from t = .* hold 'ball'") as caught:
        mbd.simulate(model, 0.3, 0.01, METHODS[name])
    assert len(caught) == 1
    first = float(str(caught[0].message).split("from t = ")[1].split()[0])
    assert lifts < first <= lifts + 0.02
    with warnings.catch_warnings():
        warnings.simplefilter("error", mbd.ModelWarning)
        mbd.simulate(rolling_ball(), 0.3, 0.01, METHODS[name])
        mbd.simulate(rolling_ball(gravity=0.0), 0.3, 0.01, METHODS[name])
        mbd.simulate(rolling_disk((0.1, 0.0, 0.0)), 0.3, 0.01, METHODS[name])
