"""Sensitivities of reactions where the motion does not depend on a parameter, and corrections of it tell nothing."""

from __future__ import annotations

import numpy as np
import pytest

import mbd

REACTIONS = 1e-7  # of the largest derivative: what may remain in a step, and round-off divided by the step
INDEX_3_REACTIONS = 1e-6  # the same with round-off divided by the square of the step
T_END, STEP = 0.1, 0.01
INDEX_2 = mbd.integrators.GeneralizedAlpha(tolerance=1e-13)
INDEX_3 = mbd.integrators.GeneralizedAlpha(tolerance=1e-13, stabilized=False)
VALUES = {"mass": 1.3, "stiffness": 5.0, "weight": 9.81}


def driven(values):
    """Two links whose angles are given functions of time."""
    model = mbd.Model("driven")
    mass, stiffness, weight = (model.parameter(name, x) for name, x in values.items())
    model.gravity = (0, 0, -weight)
    last = model.ground
    for i in range(2):
        start = mbd.nodes.RotationVector((0.4 * i + 0.2, 0, 0))
        link = model.add(mbd.RigidBody(f"link {i}", mass, (0.02, 0.03, 0.025), start, com=(0.02, 0, 0.03)))
        hinge = model.add(mbd.joints.Revolute(last, link, at=(0.4 * i, 0, 0), axis=(0, 1, 0.2 * i), name=f"hinge {i}"))
        model.add(mbd.joints.AngleDriver.on(hinge, lambda t: 3.0 * np.sin(4.0 * t), name=f"drive {i}"))
        last = link
    model.add(mbd.forces.TorsionSpring(hinge, stiffness=stiffness))
    return model


def torques(solution):
    return np.hstack([solution[f"drive {i}"].torque for i in range(2)])


@pytest.mark.parametrize("method, tolerance", [(INDEX_2, REACTIONS), (INDEX_3, INDEX_3_REACTIONS)])
def test_torques_of_drives(method, tolerance):
    """They are linear in masses, stiffnesses and weight while the motion is given: differences are exact."""
    solution = mbd.simulate(driven(VALUES), T_END, STEP, method, sensitivities=list(VALUES))
    for name, x in VALUES.items():
        alone = mbd.simulate(driven(VALUES), T_END, STEP, method, sensitivities=[name])
        more, less = (torques(mbd.simulate(driven(VALUES | {name: c * x}), T_END, STEP, method)) for c in (1.2, 0.8))
        expected = (more - less) / (0.4 * x)
        for one in (solution, alone):
            assert np.abs(one.sensitivity(name).of(torques) - expected).max() < tolerance * np.abs(expected).max()


def test_what_rests_is_settled_at_once():
    """A body that is held: its reactions change with its mass, and one correction is exact."""
    model = mbd.Model("held", gravity=(0, 0, -9.81))
    body = model.add(mbd.RigidBody("body", model.parameter("mass", 2.0), (0.1, 0.1, 0.1)))
    model.add(mbd.joints.Fixed(model.ground, body, name="joint"))
    solution = mbd.simulate(model, T_END, STEP, INDEX_2, sensitivities=["mass"])
    assert solution.sensitivities.rounds == 1.0
    assert np.abs(solution.sensitivity("mass")["joint"].force - (0, 0, 9.81)).max() < 9.81 * REACTIONS
