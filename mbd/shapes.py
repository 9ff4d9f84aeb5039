"""Shapes of bodies, for views only: they have no influence on the motion. Their home is ``mbd.bodies.shapes``."""

from __future__ import annotations

from mbd.bodies.shapes import Box, Capsule, Composite, Cone, Cylinder, Ellipsoid, Frame, Mesh, Shape, Sphere

__all__ = ["Box", "Capsule", "Composite", "Cone", "Cylinder", "Ellipsoid", "Frame", "Mesh", "Shape", "Sphere"]


def __dir__() -> list[str]:
    return __all__
