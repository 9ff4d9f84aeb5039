"""The examples of Kinon, Betsch & Schneider 2023 and Kinon & Betsch 2024."""

from __future__ import annotations

from typing import Any

import numpy as np

import mbd

GRAVITY = 9.81
TOP_MASS, TOP_LENGTH, TOP_INERTIA = 0.7068583470577036, 0.075, 5.301437602932777e-4
NUTATION, PRECESSION = np.pi / 3.0, 10.0


def pendulum() -> mbd.Model:
    """Point mass on the unit sphere [Kinon, Betsch & Schneider 2023, Sec. 6.1]."""
    model = mbd.Model("pendulum", gravity=(0, 0, -GRAVITY))
    bob = model.add(mbd.PointMass("bob", mass=1.0, position=(1, 0, 0), velocity=(0, 1, 0)))
    model.add(mbd.joints.Distance(model.ground, bob, point_a=(0, 0, 0), point_b=(0, 0, 0)))
    return model


def spin_rate() -> float:
    """Spin of the steady precession [Kinon, Betsch & Schneider 2023, (112)]."""
    tilt = TOP_MASS * TOP_LENGTH**2 / TOP_INERTIA * PRECESSION * np.cos(NUTATION)
    return TOP_MASS * GRAVITY * TOP_LENGTH / (TOP_INERTIA * PRECESSION) + tilt


def gyroscopic_top(node: Any = mbd.nodes.Directors, pinned: bool = False) -> mbd.Model:
    """Steady precession; with the tip held by a joint, or ``pinned`` in rotational coordinates only."""
    model = mbd.Model("gyroscopic top", gravity=(0, 0, -GRAVITY))
    c, s = np.cos(NUTATION), np.sin(NUTATION)
    rotation = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    world = np.array([0, 0, PRECESSION]) + spin_rate() * rotation[:, 2]
    position = TOP_LENGTH * rotation[:, 2]
    arguments: dict[str, Any] = {"rotation": rotation, "angular_velocity": rotation.T @ world}
    if pinned:
        node, com = node(pinned=True, **arguments), (0, 0, TOP_LENGTH)
    else:
        node, com = node(position=position, velocity=np.cross(world, position), **arguments), (0, 0, 0)
    top = model.add(mbd.RigidBody("top", mass=TOP_MASS, inertia=(TOP_INERTIA,) * 3, com=com, node=node))
    if not pinned:
        model.add(mbd.joints.Spherical(model.ground, top, at=(0, 0, 0)))
    return model


def mass_spring() -> mbd.Model:
    """Two masses on nonlinear springs in three redundant coordinates (x1, q2, x2) [Kinon & Betsch 2024, Sec. 5.1].

    The kinetic energy does not see q2 - x2: the mass matrix is singular.
    """
    model = mbd.Model("mass-spring")
    model.add(
        mbd.Generalized(
            "masses", coordinates=[0.0, 1.1, 0.0], velocities=[1.0, 1.0, -1.0],
            mass=[[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]],
            potential=lambda q: 0.25 * (q[0] ** 2 + q[0] ** 4) + 0.75 * (q[2] ** 2 + q[2] ** 4),
            constraints=lambda q: [0.5 * ((q[1] - q[0]) ** 2 - 1.1**2)],
        )
    )  # fmt: skip
    return model


def spring_pendulum() -> mbd.Model:
    """Point mass on a nonlinear spring in spherical coordinates (r, theta, phi) [Kinon & Betsch 2024, Sec. 5.2]."""

    def mass(q):  # type: ignore[no-untyped-def]
        r, s = q[0], np.sin(q[1])
        return [[1.0 + 0.0 * r, 0.0 * r, 0.0 * r], [0.0 * r, r * r, 0.0 * r], [0.0 * r, 0.0 * r, r * r * s * s]]

    model = mbd.Model("spring pendulum")
    model.add(
        mbd.Generalized(
            "bob", coordinates=[1.05, np.pi / 2.0, 0.0], velocities=[0.0, 1.0, 1.0], mass=mass,
            potential=lambda q: 150.0 * (0.5 * (q[0] ** 2 - 1.0)) ** 2,
        )
    )  # fmt: skip
    return model
