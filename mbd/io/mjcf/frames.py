"""Positions and orientations of MJCF elements, with the units and sequences of angles of the file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import Array
from ...rotation import elementary, from_quaternion, from_rotation_vector
from .attributes import Attributes

TURNS = ("axisangle", "xyaxes", "zaxis", "euler", "quat")
SMALL = 1e-14  # lengths that MuJoCo refuses as directions


@dataclass(frozen=True)
class Frames:
    """What a file says about angles, and what follows from it."""

    degrees: bool = True
    sequence: str = "xyz"

    def angle(self, value: Any) -> Any:
        """An angle of the file in radians."""
        return np.radians(value) if self.degrees else value

    def pose(self, attributes: Attributes) -> Array:
        """Homogeneous matrix of position and orientation."""
        pose = np.eye(4)
        pose[:3, :3] = self.turn(attributes)
        pose[:3, 3] = attributes.numbers("pos", 3, default=(0.0, 0.0, 0.0))
        return pose

    def turn(self, attributes: Attributes) -> Array:
        """Rotation matrix of whichever of the five descriptions is given."""
        given = [name for name in TURNS if name in attributes]
        if not given:
            return np.eye(3)
        if len(given) > 1:
            raise attributes.element.error(f"has {' and '.join(given)}; expected one orientation")
        name = given[0]
        if name == "quat":
            return from_quaternion(self._direction(attributes, name, attributes.numbers(name, 4)))
        if name == "axisangle":
            *axis, angle = attributes.numbers(name, 4).tolist()
            return from_rotation_vector(self.angle(angle) * self._direction(attributes, name, np.array(axis)))
        if name == "euler":
            return self._euler(attributes.numbers(name, 3))
        if name == "zaxis":
            return rotation_to(self._direction(attributes, name, attributes.numbers(name, 3)))
        values = attributes.numbers(name, 6)
        x = self._direction(attributes, name, values[:3])
        y = self._direction(attributes, name, values[3:] - x * (x @ values[3:]))
        return np.column_stack((x, y, np.cross(x, y)))

    def _direction(self, attributes: Attributes, name: str, vector: Array) -> Array:
        largest = float(np.abs(vector).max())
        if largest < SMALL:
            raise attributes.error(name, "directions, which cannot be zero or parallel to each other")
        vector = vector / largest
        return vector / math.sqrt(float(vector @ vector))

    def direction(self, attributes: Attributes, name: str, default: tuple[float, float, float]) -> Array:
        """An attribute as a unit vector."""
        return self._direction(attributes, name, attributes.numbers(name, 3, default=default))

    def _euler(self, angles: Array) -> Array:
        """Small letters turn about axes of the turning frame, capital ones about axes of the parent."""
        turn = np.eye(3)
        for letter, angle in zip(self.sequence, self.angle(angles).tolist(), strict=True):
            step = elementary("xyz".index(letter.lower()), angle)
            turn = turn @ step if letter.islower() else step @ turn
        return turn


def rotation_to(z: Array) -> Array:
    """The smallest rotation that turns the z axis into a unit vector; about x where that is not unique."""
    x, y, c = z.tolist()
    sine = math.hypot(x, y)
    if sine < 1e-10:
        return np.eye(3) if c > 0.0 else np.diag((1.0, -1.0, -1.0))
    return from_rotation_vector(math.atan2(sine, c) / sine * np.array((-y, x, 0.0)))
