"""Joints: what holds bodies together. Each is a list of primitives; own joints subclass ``Joint``."""

from mbd.joints.couplings import Coupling, Gear, RackPinion, Screw
from mbd.joints.drivers import AngleDriver, DrivenFrame, PositionDriver
from mbd.joints.joint import Joint
from mbd.joints.links import Distance, Parallel, PointInPlane, PointOnLine
from mbd.joints.lower_pairs import Cylindrical, Fixed, Planar, Prismatic, Revolute, Spherical, Universal
from mbd.joints.primitive_data import Coincident, DistanceBetween, Dot1, Dot2, Primitive
from mbd.joints.rolling import Rolling
from mbd.joints.rotor_hinge import RotorHinge as RotorHinge
from mbd.joints.user import UserConstraint

__all__ = [
    "AngleDriver",
    "Coincident",
    "Coupling",
    "Cylindrical",
    "Distance",
    "DistanceBetween",
    "Dot1",
    "Dot2",
    "DrivenFrame",
    "Fixed",
    "Gear",
    "Joint",
    "Parallel",
    "Planar",
    "PointInPlane",
    "PointOnLine",
    "PositionDriver",
    "Primitive",
    "Prismatic",
    "RackPinion",
    "Revolute",
    "Rolling",
    "Screw",
    "Spherical",
    "Universal",
    "UserConstraint",
]


def __dir__() -> list[str]:
    return __all__
