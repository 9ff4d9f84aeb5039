"""Sensitivities that have grown long: what is differenced is not moved by any distance along them.

Wheels that turn by sixty radians a second, which is the parameter: it changes their angles by one for each second.
Moved along with the parameter they would turn by thousandths of a radian, and differences lose digits.
"""

from __future__ import annotations

import numpy as np
import pytest

import mbd

SPEED, T_END, STEP, DISTANCE = 60.0, 1.0, 2.5e-3, 3e-3
EXACT = 1e-8  # of the largest derivative
BESIDE = 4e-8  # ... of differenced terms that are much larger than what gravity makes
ALPHA, RK4 = mbd.integrators.GeneralizedAlpha(tolerance=1e-13), mbd.integrators.RK4()


def wheel(model, w, node=mbd.nodes.RotationVector):
    """A wheel with an eccentric mass on a hinge, which turns by w."""
    model.gravity = (0, 0, -9.81)
    start = node((0, 0, 0), angular_velocity=(0, w, 0))
    body = model.add(mbd.RigidBody("wheel", 1.0, (0.02, 0.03, 0.025), start, com=(0.1, 0, 0)))
    return body, model.add(mbd.joints.Revolute(model.ground, body, at=(0, 0, 0), axis=(0, 1, 0), name="axle"))


def conventional(model, w):
    """Whole steps, and whole residuals, are differenced."""
    wheel(model, w, lambda *x, **more: mbd.nodes.Quaternion(*x, lie=False, **more))


def geared(model, w):
    """Couplings are differenced."""
    _, axle = wheel(model, w)
    start = mbd.nodes.RotationVector((1.0, 0, 0), angular_velocity=(0, 1.7 * w, 0))
    body = model.add(mbd.RigidBody("second", 1.0, (0.02, 0.03, 0.025), start, com=(0, 0, 0.05)))
    other = model.add(mbd.joints.Revolute(model.ground, body, at=(1.0, 0, 0), axis=(0, 1, 0), name="second axle"))
    model.add(mbd.joints.Gear(axle, other, ratio=1.7, name="gear"))


def held(model, w):
    """A bushing whose points depend on the parameter, and are moved with it."""
    body, _ = wheel(model, w)
    model.add(mbd.forces.Bushing(body, model.ground, (1e-3 * w, 0, 0), (0.01 * w, 0, 0), stiffness=(90.0, 30.0, 20.0)))


def pushed(model, w):
    """A law on a joint that refers to the parameter, in joint coordinates."""
    _, axle = wheel(model, w)
    model.add(mbd.forces.JointForce(axle, lambda t, angle, rate: 0.02 * w * np.sin(2.0 * angle)))
    return model.with_coordinates("joint")


def build(fill, value):
    model = mbd.Model(fill.__name__)
    return fill(model, model.parameter("w", SPEED) if value is None else value) or model


@pytest.mark.parametrize("method", [ALPHA, RK4], ids=["implicit", "explicit"])
@pytest.mark.parametrize(
    ("fill", "tolerance"), [(conventional, BESIDE), (geared, BESIDE), (held, BESIDE), (pushed, EXACT)]
)
def test_what_is_differenced_is_not_moved_too_far(fill, tolerance, method):
    """Against differences of fourth order of whole runs, in which a wheel turns by a few thousandths."""

    def at(w):
        return mbd.simulate(build(fill, w), T_END, STEP, method)

    def read(solution):
        return solution["wheel"].angular_velocity

    found = mbd.simulate(build(fill, None), T_END, STEP, method, sensitivities=["w"]).sensitivity("w").of(read)
    e = DISTANCE
    near, far = (read(at(SPEED + k * e)) - read(at(SPEED - k * e)) for k in (1, 2))
    expected = (8.0 * near - far) / (12.0 * e)
    assert np.abs(found - expected).max() < tolerance * np.abs(expected).max()
