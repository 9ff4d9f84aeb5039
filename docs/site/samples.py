"""Small models that the pages of the reference are made from: one joint or one force each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mbd

ORIGIN, Z, X, Y = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


def two_bodies() -> tuple[mbd.Model, Any, Any]:
    """The ground and a body above it; joints sit at the origin, with their axis upwards."""
    model = mbd.Model("sample")
    body = model.add(mbd.RigidBody("body", 1.0, (0.1, 0.2, 0.3), mbd.nodes.RotationVector(position=(0, 0, 0.3))))
    return model, model.ground, body


def hinge(model: mbd.Model, name: str, joint: Any = None, at: Any = (1.0, 0.0, 0.0), axis: Any = Z) -> Any:
    """A further body on a joint of the ground, for elements that act on joints."""
    node = mbd.nodes.RotationVector(position=at)
    other = model.add(mbd.RigidBody(f"{name} body", 1.0, (0.1, 0.1, 0.1), node))
    return model.add((joint or mbd.joints.Revolute)(model.ground, other, at=at, axis=axis, name=name))


ARGUMENTS: dict[str, dict[str, Any]] = {
    "Spherical": {"at": ORIGIN},
    "Fixed": {"at": ORIGIN},
    "Universal": {"at": ORIGIN, "axis_a": X, "axis_b": Y},
    "PositionDriver": {"axis": Z, "value": lambda t: 0.1 * t * t},
    "AngleDriver": {"axis": Z, "value": lambda t: 0.1 * t * t},
    "DrivenFrame": {"at": ORIGIN, "axis": Z, "angle": lambda t: 0.1 * t * t},
    "Rolling": {"radius": 0.3, "axis": Y, "normal": Z},
    "Screw": {"at": ORIGIN, "axis": Z, "pitch": 0.2},
    "Distance": {"point_a": ORIGIN, "point_b": ORIGIN},
    "Parallel": {"axis": Z},
}
"""Arguments of joints that are not made with at= and axis= alone."""
ON_JOINTS: dict[str, Callable[[mbd.Model], Any]] = {
    "Gear": lambda m: mbd.joints.Gear(hinge(m, "first"), hinge(m, "second", at=(2, 0, 0)), -0.5),
    "RackPinion": lambda m: mbd.joints.RackPinion(
        hinge(m, "pinion"), hinge(m, "rack", mbd.joints.Prismatic, (2, 0, 0), X), 0.3
    ),
    "Coupling": lambda m: mbd.joints.Coupling(hinge(m, "first"), hinge(m, "second", at=(2, 0, 0)), 0.7),
    "UserConstraint": lambda m: mbd.joints.UserConstraint([m["body"]], lambda frames, t: frames[0, 2] - 0.3),
}
"""Joints that are made from other joints or from functions."""


def joint_sample(name: str) -> tuple[mbd.Model, Any] | None:
    """A model with one joint of this class, or None where it cannot be made from a point and an axis."""
    cls = getattr(mbd.joints, name)
    if not (isinstance(cls, type) and issubclass(cls, mbd.joints.Joint)) or cls is mbd.joints.Joint:
        return None
    model, ground, body = two_bodies()
    if name in ON_JOINTS:
        return model, model.add(ON_JOINTS[name](model))
    try:
        return model, model.add(cls(ground, body, **ARGUMENTS.get(name, {"at": ORIGIN, "axis": Z})))
    except (TypeError, mbd.MbdError):
        return None


FORCES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "Bushing": lambda g, b, j: mbd.forces.Bushing(g, b, stiffness=(1, 1, 1)),
    "Drag": lambda g, b, j: mbd.forces.Drag(b, 0.1),
    "Force": lambda g, b, j: mbd.forces.Force(b, (1, 0, 0)),
    "Torque": lambda g, b, j: mbd.forces.Torque(b, (1, 0, 0)),
    "GravityCompensation": lambda g, b, j: mbd.forces.GravityCompensation(j),
    "Gravitation": lambda g, b, j: mbd.forces.Gravitation(b, b.model.add(mbd.PointMass("moon", 1.0, (5, 0, 0)))),
    "GreenSpring": lambda g, b, j: mbd.forces.GreenSpring(g, b, (1, 0, 0), (0, 0, 0), stiffness=1.0),
    "JointForce": lambda g, b, j: mbd.forces.JointForce(j, 1.0),
    "JointFriction": lambda g, b, j: mbd.forces.JointFriction(j, viscous=0.1),
    "JointLimit": lambda g, b, j: mbd.forces.JointLimit(j, -1.0, 1.0, stiffness=10.0),
    "Motor": lambda g, b, j: mbd.forces.Motor(j, 1.0),
    "NonlinearSpring": lambda g, b, j: mbd.forces.NonlinearSpring(g, b, (1, 0, 0), (0, 0, 0), function=lambda x, v: x),
    "PDControl": lambda g, b, j: mbd.forces.PDControl(j, 0.0, 1.0, 0.1),
    "Spring": lambda g, b, j: mbd.forces.Spring(g, b, (1, 0, 0), (0, 0, 0), stiffness=1.0, length=0.5),
    "TorsionSpring": lambda g, b, j: mbd.forces.TorsionSpring(j, 1.0),
    "UserForce": lambda g, b, j: mbd.forces.UserForce([b], lambda t, frames, velocities: 0.0 * frames[:, :6]),
    "UserPotential": lambda g, b, j: mbd.forces.UserPotential([b], lambda frames: frames[0, 2]),
}
"""Forces: how to make one from ground, body and hinge."""


def force_sample(name: str) -> tuple[mbd.Model, Any] | None:
    """A model with one force of this class, or None."""
    model, ground, body = two_bodies()
    joint = model.add(mbd.joints.Revolute(ground, body, at=ORIGIN, axis=Z, name="hinge"))
    try:
        return model, model.add(FORCES[name](ground, body, joint))
    except (KeyError, TypeError, mbd.MbdError):
        return None


def conservative_models() -> list[mbd.Model]:
    """Models with energy and momenta: a free body, two bars on a ball joint, a body held by a ball joint."""
    free = mbd.Model("free body")
    free.add(mbd.RigidBody("body", 1.0, (0.1, 0.2, 0.3), mbd.nodes.RotationVector()))
    symmetric = mbd.Model("symmetric body")
    symmetric.add(mbd.RigidBody("body", 1.0, (0.2, 0.2, 0.3), mbd.nodes.RotationVector()))
    bars = mbd.Model("two bars")
    first, second = (
        bars.add(mbd.RigidBody(f"bar {k}", 1.0, (0.1, 0.1, 0.01), mbd.nodes.RotationVector(position=(0, 0, k))))
        for k in (0, 1)
    )
    bars.add(mbd.joints.Spherical(first, second, at=(0, 0, 0.5)))
    held = mbd.Model("held body", gravity=(0, 0, -9.81))
    node = mbd.nodes.RotationVector(position=(0, 0, 1))
    body = held.add(mbd.RigidBody("body", 1.0, (0.2, 0.2, 0.3), node))
    held.add(mbd.joints.Spherical(held.ground, body, at=ORIGIN))
    return [free, symmetric, bars, held]
