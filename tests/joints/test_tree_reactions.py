"""Reactions of joints that something drives along their coordinates: the same in both coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd import forces, joints

ROUND_OFF = 1e-10


def driven(reversed_joints):
    """A cylindrical and a prismatic joint, a hinge and a screw, whose axes are far from the reference points."""
    rng = np.random.default_rng(3)
    model = mbd.Model("driven", gravity=(0, 0, -9.81))
    axes = {
        "tube": (joints.Cylindrical, {}), "hinge": (joints.Revolute, {}), "rail": (joints.Prismatic, {}),
        "thread": (joints.Screw, {"pitch": 0.4}),
    }  # fmt: skip
    last = model.ground
    for name, (kind, arguments) in axes.items():
        node = mbd.nodes.RotationVector(position=rng.normal(size=3))
        body = model.add(mbd.RigidBody(f"body of {name}", 1.0, (0.2, 0.3, 0.4), node, com=0.1 * rng.normal(size=3)))
        pair = (body, last) if reversed_joints else (last, body)
        model.add(kind(*pair, at=rng.normal(size=3), axis=rng.normal(size=3), name=name, **arguments))
        last = body
    model.add(forces.JointForce(model["tube"], 0.7, coordinate="displacement"))
    model.add(forces.JointForce(model["tube"], lambda t, u, u_dot: -0.3 * u_dot, coordinate="angle"))
    model.add(forces.PDControl(model["hinge"], 0.2, 5.0, 0.1))
    model.add(forces.JointForce(model["rail"], lambda t: 1.0 + t))
    model.add(forces.JointFriction(model["rail"], viscous=0.4))
    model.add(forces.JointForce(model["thread"], 0.5, coordinate="displacement"))
    return model.with_joint_values({"tube": (0.1, 0.3), "rail": 0.2}, rates={"tube": (1.0, 0.5), "thread": 0.3})


@pytest.mark.parametrize("reversed_joints", [False, True])
def test_forces_along_slides_act_on_the_axis_of_the_joint(reversed_joints):
    model = driven(reversed_joints)
    method = mbd.integrators.RK4()
    absolute = mbd.simulate(model, 0.01, 1e-3, method)
    joint = mbd.simulate(model.with_coordinates("joint"), 0.01, 1e-3, method)
    for x in model.joints:
        for quantity in ("force", "torque"):
            expected = getattr(absolute[x], quantity)
            assert np.abs(getattr(joint[x], quantity) - expected).max() < ROUND_OFF * max(1.0, np.abs(expected).max())
    for i, name in enumerate(("tube", "rail")):  # nothing of them is along the axis, which the force holds
        axis = absolute[model[name].body_b].rotation @ model[name].axis_b
        assert np.abs(np.einsum("ni,ni->n", joint[name].force, axis)).max() < ROUND_OFF * 10 ** (i + 1)
