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


def four_particles() -> mbd.Model:
    """Two rigid rods, joined by two springs with V = k (d^2 - l^2)^2 / 2 [Kinon, Betsch & Schneider 2023, Sec. 6.3]."""
    model = mbd.Model("four particles")
    places, masses = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)), (1.0, 3.0, 2.3, 1.7)
    speeds = ((0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 2.0 / 1.7))
    a, b, c, d = (
        model.add(mbd.PointMass(f"{i + 1}", mass, place, speed))
        for i, (mass, place, speed) in enumerate(zip(masses, places, speeds, strict=True))
    )
    for first, second in ((a, b), (c, d)):
        model.add(mbd.joints.Distance(first, second, point_a=(0, 0, 0), point_b=(0, 0, 0)))
    for first, second, k in ((a, c, 50.0), (b, d, 500.0)):  # l = 1: the stiffness of Green's strain is 4 k
        model.add(mbd.forces.GreenSpring(first, second, stiffness=4.0 * k, length=1.0))
    return model


def bobenko_suris(t_end: float, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Height of the centre of mass and its momentum with the scheme BS99 for the Lagrange top (166).

    The momentum is m l (J1^-1 m) x d3; the mass is missing in the printed (168).
    """
    inertia, weight = TOP_INERTIA + TOP_MASS * TOP_LENGTH**2, TOP_MASS * GRAVITY * TOP_LENGTH
    d = np.array((0.0, -np.sin(NUTATION), np.cos(NUTATION)))
    spin = np.array((0.0, 0.0, PRECESSION)) + spin_rate() * d
    m = inertia * spin + (TOP_INERTIA - inertia) * (d @ spin) * d
    for _ in range(round(t_end / step)):
        m = m + step * weight * np.cross((0.0, 0.0, 1.0), d)
        x = 0.5 * step / inertia * m  # d1 - d0 = 2 x cross (d0 + d1)/2, a rotation by a Cayley step
        b = d + np.cross(x, d)
        d = (b + np.cross(x, b) + (x @ b) * x) / (1.0 + x @ x)
    return TOP_LENGTH * d, TOP_MASS * TOP_LENGTH / inertia * np.cross(m, d)


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
