"""Models that the tests of the rigid-body integrators share."""

from __future__ import annotations

from typing import Any

import numpy as np

import mbd
from mbd.rotation import from_rotation_vector

BOOK = np.array((0.376, 0.627, 1.0))  # moments of inertia [Vilmart 2013, Fig. 1]
BOOK_MOMENTUM = np.array((0.0, 0.6, -0.8))
TOP = np.array((0.6, 0.8, 1.0))  # about the pivot
TOP_MOMENTUM = np.array((0.3, 0.6, -0.8))
TOP_ROTATION = from_rotation_vector(np.array((0.7, 0.0, 0.0)))
GENERAL = np.array(((2.0, 0.1, 0.2), (0.1, 1.8, 0.05), (0.2, 0.05, 1.5)))

NODES = {
    "rotation vector": mbd.nodes.RotationVector(),
    "rotation vector, conventional": mbd.nodes.RotationVector(lie=False),
    "quaternion": mbd.nodes.Quaternion(),
    "quaternion, Lie": mbd.nodes.Quaternion(lie=True),
    "directors": mbd.nodes.Directors(),
    "directors, Lie": mbd.nodes.Directors(lie=True),
    "Euler angles": mbd.nodes.EulerAngles(),
    "Euler angles, Lie": mbd.nodes.EulerAngles(sequence="zxz", lie=True),
}


def body(moments: Any, momentum: Any, node: type = mbd.nodes.RotationVector, **settings: Any) -> mbd.Model:
    """One body with given momentum in principal axes."""
    model = mbd.Model("body")
    node = node(angular_velocity=np.asarray(momentum) / np.asarray(moments), **settings)
    model.add(mbd.RigidBody("body", 1.0, np.asarray(moments), node))
    return model


def book(**settings: Any) -> mbd.Model:
    """The book of Vilmart 2013, Fig. 1."""
    return body(BOOK, BOOK_MOMENTUM, **settings)


def heavy_top(how: str = "pinned", axes: np.ndarray | None = None) -> mbd.Model:
    """A top with U = Q33 and the moments TOP about its pivot, in body axes that may differ from the principal ones.

    ``how`` it is held: "pinned", by a joint with the "centre" of mass as reference point, or with another "point".
    """
    a = np.eye(3) if axes is None else axes
    mass, arm = 0.1, np.array((0.0, 0.0, 1.0))
    rotation, omega, com = TOP_ROTATION @ a, a.T @ (TOP_MOMENTUM / TOP), a.T @ arm
    inertia = a.T @ (np.diag(TOP) - mass * (np.eye(3) - np.outer(arm, arm))) @ a
    model = mbd.Model("top", gravity=(0.0, 0.0, -1.0 / mass))
    if how == "pinned":
        node = mbd.nodes.RotationVector(rotation=rotation, angular_velocity=omega, pinned=True)
        model.add(mbd.RigidBody("top", mass, inertia, node, com=com))
        return model
    point = com if how == "centre" else np.array((0.1, -0.2, 0.3))
    node = mbd.nodes.RotationVector(
        rotation @ point, rotation, velocity=rotation @ np.cross(omega, point), angular_velocity=omega
    )
    top = model.add(mbd.RigidBody("top", mass, inertia, node, com=com - point))
    pair = (model.ground, top) if how == "centre" else (top, model.ground)
    model.add(mbd.joints.Spherical(*pair, at=(0, 0, 0), name="pivot"))
    return model


def top_error(solution: mbd.Solution, rotation: np.ndarray, momentum: np.ndarray, axes: np.ndarray) -> float:
    """Largest deviation of the last record."""
    view = solution["top"]
    found = view.rotation[-1] @ axes.T, TOP * (axes @ view.angular_velocity[-1])
    return max(float(np.abs(found[0] - rotation).max()), float(np.abs(found[1] - momentum).max()))


def coupled(held: bool = True) -> mbd.Model:
    """Bodies of several node types, with and without offset of the centre of mass, coupled by springs."""
    nodes, spring = mbd.nodes, mbd.forces.Spring
    model = mbd.Model("coupled", gravity=(0.0, 0.3, -1.0) if held else (0.0, 0.0, 0.0))
    start = nodes.Quaternion((0, 0, 0), velocity=(0.1, 0, 0.2), angular_velocity=(0.5, -1, 0.7))
    a = model.add(mbd.RigidBody("a", 2.0, GENERAL, start, com=(0.1, -0.2, 0.3)))
    b = model.add(mbd.RigidBody("b", 1.0, GENERAL / 2, nodes.Directors((2, 0, 0), angular_velocity=(-0.4, 0.6, 1))))
    p = model.add(mbd.PointMass("p", 0.5, (3, 1, 0), (0, 0, 0.3)))
    model.add(spring(a, b, (0.5, 0, 0), (-0.5, 0.1, 0), stiffness=3.0, length=0.7))
    model.add(spring(a, b, (-0.5, 0, 0), (-0.5, 0.1, 0.4), stiffness=1.0, length=0.3))
    model.add(spring(b, p, (0.5, 0.1, 0), stiffness=2.0, length=0.4))
    if held:
        node = nodes.RotationVector((0, 2, 0), pinned=True, angular_velocity=(0.4, 0.6, -1))
        c = model.add(mbd.RigidBody("c", 1.0, GENERAL / 3, node, com=(0, 0, 0.5)))
        offset, spin = np.array((0.0, 0.3, 0.0)), np.array((0.4, 0.6, -1.0))
        node = nodes.RotationVector((0, 0, 3), velocity=-np.cross(spin, offset), angular_velocity=spin)
        d = model.add(mbd.RigidBody("d", 1.0, GENERAL / 3, node, com=(0.2, 0, 0.5)))
        model.add(mbd.joints.Spherical(model.ground, d, at=(0, 0.3, 3), name="pivot"))
        model.add(spring(a, c, (0, 0.5, 0), (0, 0, 0.7), stiffness=2.5, length=1.0))
        model.add(spring(d, a, (0.1, 0.2, 0.7), (0, 0.1, 0.3), stiffness=1.5, length=1.0))
        model.add(spring(model.ground, b, (2, 0, 2), (0, 0.1, 0.3), stiffness=1.5, length=1.0))
    return model


def frames(solution: mbd.Solution) -> np.ndarray:
    """Frames and their velocities at the last record."""
    moving = solution.system.frame_velocities(solution.q[-1], solution.v[-1])
    return np.stack((solution.frames(-1), moving))
