"""Joints: what holds bodies together. Each is a list of primitives; own joints subclass ``Joint``."""

from mbd.joints.joint import Joint
from mbd.joints.links import Distance, Parallel, PointInPlane, PointOnLine
from mbd.joints.lower_pairs import Cylindrical, Fixed, Planar, Prismatic, Revolute, Spherical, Universal
from mbd.joints.primitive_data import Coincident, DistanceBetween, Dot1, Dot2, Primitive

__all__ = [
    "Coincident",
    "Cylindrical",
    "Distance",
    "DistanceBetween",
    "Dot1",
    "Dot2",
    "Fixed",
    "Joint",
    "Parallel",
    "Planar",
    "PointInPlane",
    "PointOnLine",
    "Primitive",
    "Prismatic",
    "Revolute",
    "Spherical",
    "Universal",
]
