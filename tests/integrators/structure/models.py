"""Models that the tests of structure-preserving integrators share."""

from __future__ import annotations

from typing import Any

import mbd

PEAK = 100.0  # N, of the load of the closed loop


def pulse(t: float) -> float:
    """Triangle of height PEAK over one second [Kinon & Betsch 2024, (126)]."""
    return 2.0 * 100.0 * t if t <= 0.5 else (2.0 * 100.0 * (1.0 - t) if t <= 1.0 else 0.0)


def closed_loop(node: Any = mbd.nodes.RotationVector, crossbar: bool = False) -> mbd.Model:
    """Square of four bars with spherical joints, pushed and turned for one second [Kinon & Betsch 2024, Sec. 5.5].

    ``crossbar`` replaces one of the spherical joints by a universal one.
    """
    model = mbd.Model("closed loop")
    long, short = 10.0 * 2.0 / 12.0, 10.0 * 101.0 / 12.0
    bars = []
    for name, position, axis in (("1", (5, 0, 0), 1), ("2", (0, 5, 0), 0), ("3", (-5, 0, 0), 1), ("4", (0, -5, 0), 0)):
        inertia = [long if i == axis else short for i in range(3)]
        bars.append(model.add(mbd.RigidBody("bar " + name, mass=10.0, inertia=inertia, node=node(position=position))))
    for i, corner in enumerate(((5, 5, 0), (-5, 5, 0), (-5, -5, 0), (5, -5, 0))):
        a, b = bars[i], bars[(i + 1) % 4]
        if crossbar and i == 0:
            model.add(mbd.joints.Universal(a, b, at=corner, axis_a=(0, 0, 1), axis_b=(1, 0, 0)))
        else:
            model.add(mbd.joints.Spherical(a, b, at=corner))

    def force(t):  # type: ignore[no-untyped-def]
        f = 200.0 * t if t <= 0.5 else (200.0 * (1.0 - t) if t <= 1.0 else 0.0)
        return 8.0 * f, 0.0, 0.0

    def torque(t):  # type: ignore[no-untyped-def]
        f = 200.0 * t if t <= 0.5 else (200.0 * (1.0 - t) if t <= 1.0 else 0.0)
        return 6.0 * f, 0.0, 0.0

    model.add(mbd.forces.Force(bars[0], force))
    model.add(mbd.forces.Torque(bars[0], torque))
    return model


def chain(
    node: Any = mbd.nodes.RotationVector, *, damping: float = 0.0, loads: bool = False, free: bool = False
) -> mbd.Model:
    """Revolute, universal, prismatic and distance joints, springs, centres of mass off the reference points.

    ``free`` leaves out gravity and the joint with the ground.
    """
    model = mbd.Model("chain", gravity=(0, 0, 0) if free else (0, 0, -9.81))
    a, b, c, d = (
        model.add(mbd.RigidBody(name, mass=mass, inertia=inertia, com=com, node=node(position=position)))
        for name, mass, inertia, com, position in (
            ("a", 2.0, (0.3, 0.4, 0.5), (0.1, -0.05, 0.02), (0.5, 0, 0)),
            ("b", 1.0, (0.1, 0.2, 0.15), (0, 0, 0), (1.5, 0, 0)),
            ("c", 1.5, (0.1, 0.2, 0.15), (0, 0.1, 0), (2.5, 0, 0)),
            ("d", 0.7, (0.1, 0.12, 0.15), (0, 0, 0), (3.5, 0, 0)),
        )
    )
    p = model.add(mbd.PointMass("p", mass=0.5, position=(4.5, 0.3, 0), velocity=(0, 1, 0.5)))
    if not free:
        model.add(mbd.joints.Revolute(model.ground, a, at=(0, 0, 0), axis=(0, 1, 1)))
    hinge = model.add(mbd.joints.Revolute(a, b, at=(1, 0, 0), axis=(0, 0, 1)))
    model.add(mbd.joints.Universal(b, c, at=(2, 0, 0), axis_a=(0, 1, 0), axis_b=(0, 0, 1)))
    model.add(mbd.joints.Prismatic(c, d, at=(3, 0, 0), axis=(1, 0.2, 0)))
    model.add(mbd.joints.Distance(d, p, point_a=(0.1, 0, 0), point_b=(0, 0, 0)))
    model.add(mbd.forces.Spring(c, d, (0.1, 0.2, 0), (0, 0.1, 0), stiffness=50.0, length=0.7, damping=damping))
    model.add(mbd.forces.Spring(a, p, (0.1, 0.2, 0), (0, 0, 0), stiffness=5.0, length=2.0, damping=damping))
    model.add(mbd.forces.TorsionSpring(hinge, stiffness=8.0, rest=0.4, damping=damping))
    if loads:
        model.add(mbd.forces.Force(c, lambda t: (0.0, 3.0 * t, 1.0), point=(0.1, 0.3, 0)))
        model.add(mbd.forces.Force(b, (1.0, 2.0, 3.0), point=(0.1, 0.3, 0), frame="body"))
        model.add(mbd.forces.Torque(b, (0.2, 0.3, -0.5), frame="body"))
        model.add(mbd.forces.Torque(d, (0.2, 0.3, -0.5)))
    return model
