"""Models that the tests of the stepper step, and what equality of two runs means."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from tests.integrators.every_method import METHODS

STEP, STEPS = 0.02, 60

RECORDS = ("t", "q", "v", "vd", "lam", "turns")

every_method = pytest.mark.parametrize("name", METHODS)


def same(a, b):
    """Equal bit for bit, variables of the scheme included."""
    return all(np.array_equal(getattr(a, x), getattr(b, x), equal_nan=True) for x in RECORDS) and all(
        np.array_equal(a._recorded[x], b._recorded[x], equal_nan=True) for x in a._recorded
    )


def cart_pole(angle=0.3, coordinates="absolute"):
    """A pole on a cart that a force along the rail, an input, drives."""
    model = mbd.Model("cart-pole", gravity=(0, 0, -9.81))
    force, mass = model.input("u"), model.parameter("mass", 0.1)
    cart = model.add(mbd.RigidBody("cart", 1.0, (0.1, 0.1, 0.1)))
    at = mbd.nodes.RotationVector(0.5 * np.array((np.sin(angle), 0, np.cos(angle))), mbd.rotation((0, angle, 0)))
    pole = model.add(mbd.RigidBody("pole", mass, (0.01, 0.01, 0.001), at))
    rail = model.add(mbd.joints.Prismatic(model.ground, cart, axis=(1, 0, 0), name="rail"))
    model.add(mbd.joints.Revolute(cart, pole, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    model.add(mbd.forces.JointForce(rail, force, name="motor"))
    return model.with_coordinates(coordinates)


def spinning():
    """A hinge at 10 rad/s, whose turns no element counts."""
    model = mbd.Model("spin")
    node = mbd.nodes.RotationVector(angular_velocity=(0, 0, 10.0))
    body = model.add(mbd.RigidBody("disk", 1.0, (0.1, 0.1, 0.1), node))
    model.add(mbd.joints.Revolute(model.ground, body, at=(0, 0, 0), axis=(0, 0, 1), name="hinge"))
    return model
