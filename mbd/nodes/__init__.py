"""Nodes: the coordinates in which a body is described. Any of them can be chosen for any rigid body."""

from mbd.nodes.people import (
    Directors,
    EulerAngles,
    Generalized,
    Node,
    Point,
    Quaternion,
    RigidNode,
    RotationVector,
)

__all__ = ["Directors", "EulerAngles", "Generalized", "Node", "Point", "Quaternion", "RigidNode", "RotationVector"]


def __dir__() -> list[str]:
    return __all__
