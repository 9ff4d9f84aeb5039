"""The inertia that a motor adds to the coordinate of a joint."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from mbd.bodies.body import RigidBody
from mbd.elements.attributes import fixed, positive
from mbd.errors import ZERO3, Array, ModelError, bad_value, check_matrix, check_vector, read_only
from mbd.nodes import RigidNode, RotationVector

NEW_MOTOR = "make a new motor"
# The axis of rotation, the world's z, lies in the middle of the body axes: no sequence of Euler angles ever locks.
_Z = np.array((1.0, 1.0, 1.0)) / math.sqrt(3.0)
_X = np.array((1.0, -1.0, 0.0)) / math.sqrt(2.0)
AT_REST = read_only(np.array((_X, np.cross(_Z, _X), _Z)))


def _ball(value: Any, owner: Any, argument: str) -> Array:
    inertia = check_matrix(value, owner, argument, 3)
    if not (inertia[0, 0] > 0.0 and np.array_equal(inertia, inertia[0, 0] * np.eye(3))):
        raise bad_value(owner, argument, value, "a positive number times the identity")
    return inertia


class Rotor(RigidBody):
    """Inertia on the coordinate u of a joint: a kinetic energy ``inertia u_dot^2 / 2``; ``mbd.forces.Motor`` makes it.

    It is a ball on a fixed axis, which a coupling (``mbd.joints.RotorHinge``) turns by as many radians as the joint
    shows. A ball on a fixed axis has no gyroscopic effects, and whatever carries the motor does not turn it. Weight and
    position have no meaning, and momenta of the system do not contain it.
    """

    label = "rotor"
    in_space = False
    mass: float = fixed("Has no effect.", NEW_MOTOR, positive)
    inertia: Array = fixed("The inertia, times the identity.", NEW_MOTOR, _ball)
    com: Array = fixed("The centre.", NEW_MOTOR, check_vector)

    def __init__(self, name: str | None, inertia: float) -> None:
        node = RotationVector(rotation=AT_REST, pinned=True)
        self._set(
            name=name, model=None, mass=inertia, check_inertia=True, inertia=read_only(inertia * np.eye(3)),
            com=ZERO3, node=node, shape=None,
        )  # fmt: skip

    @property
    def hinge(self) -> Any:
        """The coupling that turns the rotor with the coordinate of the joint."""
        joints = [] if self.model is None else self.model.joints
        for joint in joints:
            if joint.body_b is self:
                return joint
        raise ModelError(f"{self}: nothing turns it; a rotor belongs to a motor: model.add(mbd.forces.Motor(...))")

    def start_node(self) -> RigidNode:
        """The node turned as the joint is, wherever the bodies of the joint start."""
        angle, rate = self.hinge.follows
        c, s = math.cos(angle), math.sin(angle)
        turn = np.array(((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0)))
        node = copy.copy(self.node)
        vars(node)["rotation"] = read_only(turn @ AT_REST)
        vars(node)["angular_velocity"] = read_only(rate * _Z)
        return node
