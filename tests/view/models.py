"""Models for the tests of views."""

from __future__ import annotations

from typing import Any

import numpy as np

import mbd


def heavy_top(t_end: float = 0.5, step: float = 2e-3, integrator: Any = None) -> mbd.Solution:
    """The heavy top of the literature, held by a ball joint."""
    model = mbd.Model("heavy top", gravity=(0, 0, -9.81))
    node = mbd.nodes.RotationVector(position=(0, 1, 0), velocity=(4.61538, 0, 0), angular_velocity=(0, 150, -4.61538))
    shape = mbd.shapes.Cone(radius=0.3, height=1.0, axis=(0, -1, 0), tip=(0, -1, 0))
    inertia = (0.234375, 0.46875, 0.234375)
    top = model.add(mbd.RigidBody("top", mass=15.0, inertia=inertia, node=node, shape=shape))
    model.add(mbd.joints.Spherical(model.ground, top, at=(0, 0, 0), name="pivot"))
    return mbd.simulate(model, t_end=t_end, step=step, integrator=integrator)


def chain(links: int = 5, t_end: float = 1.0, step: float = 5e-3, slope: float = 0.4) -> mbd.Solution:
    """Capsules on hinges, released from the horizontal."""
    model = mbd.Model("chain", gravity=(0, 0, -9.81))
    last: Any = model.ground
    length = 0.5
    shape = mbd.shapes.Capsule(radius=0.04, height=length - 0.08, axis=(1, 0, 0))
    for k in range(links):
        node = mbd.nodes.RotationVector(position=((k + 0.5) * length, 0, 3.0))
        body = model.add(mbd.RigidBody(f"link {k + 1}", mass=1.0, inertia=(1e-3, 0.02, 0.02), node=node, shape=shape))
        axis = (0, 1, 0) if k % 2 == 0 else (0, np.cos(slope), np.sin(slope))
        model.add(mbd.joints.Revolute(last, body, at=(k * length, 0, 3.0), axis=axis, name=f"hinge {k + 1}"))
        last = body
    return mbd.simulate(model, t_end=t_end, step=step)


def mechanism(t_end: float = 1.0, step: float = 5e-3) -> mbd.Solution:
    """Slider, rotor, spring, point mass, rod and a load: one of each kind of thing that a view draws."""
    model = mbd.Model("mechanism", gravity=(0, 0, -9.81))
    ground = model.ground
    slider = model.add(
        mbd.RigidBody("slider", 2.0, (0.02, 0.02, 0.02), mbd.nodes.RotationVector(position=(1, 0, 1)),
                      shape=mbd.shapes.Box(size=(0.3, 0.25, 0.2)))
    )  # fmt: skip
    model.add(mbd.joints.Prismatic(ground, slider, axis=(1, 0, 0), name="rail"))
    model.add(mbd.forces.Spring(ground, slider, (0, 0, 1), (-0.15, 0, 0), stiffness=60.0, length=0.5, name="coil"))
    pendulum = model.add(
        mbd.RigidBody("pendulum", 1.0, (0.03, 0.03, 0.001), mbd.nodes.RotationVector(position=(1, 0, 0.6)))
    )
    model.add(mbd.joints.Revolute(slider, pendulum, at=(1, 0, 1), axis=(0, 1, 0), name="hinge"))
    ball = model.add(mbd.PointMass("ball", 0.5, position=(1, 0, -0.1)))
    model.add(mbd.joints.Distance(pendulum, ball, point_a=(0, 0, -0.4), name="rod"))
    model.add(mbd.forces.Force(pendulum, lambda t: (8.0 * np.cos(4.0 * t), 3.0, 0.0), point=(0, 0, -0.4), name="push"))
    return mbd.simulate(model, t_end=t_end, step=step)
