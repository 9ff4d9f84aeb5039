"""Bodies: what moves. The coordinates in which a body moves are those of its node."""

from mbd.bodies.body import Body, Generalized, Ground, PointMass, RigidBody
from mbd.bodies.rotor import Rotor as Rotor

__all__ = ["Body", "Generalized", "Ground", "PointMass", "RigidBody"]


def __dir__() -> list[str]:
    return __all__
