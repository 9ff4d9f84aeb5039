"""Bodies without inertia about an axis about which a joint lets them turn."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd import benchmarks, joints
from mbd.integrators import RK6, DiscreteVariational, GeneralizedAlpha, HamiltonianMidpoint, LivensMidpoint
from mbd.nodes import Directors, EulerAngles, Quaternion, RotationVector
from mbd.system.weak_inertia import loosely_held

NODES = (
    RotationVector(), RotationVector(lie=False), Quaternion(lie=True), Quaternion(), Directors(), Directors(lie=True),
    EulerAngles(),
)  # fmt: skip
MIXTURES = ((0, 1, 2, 3, 4, 5), (3, 0, 3, 3, 4, 0), (5, 3, 2, 5, 1, 4), (2, 5, 4, 4, 5, 0), (4, 4, 0, 0, 6, 1))
ROUND_OFF = 1e-9  # of accelerations, relative


@pytest.mark.parametrize("mixture", MIXTURES, ids=str)
def test_mixed_nodes_of_a_robot_whose_first_link_has_one_moment_of_inertia(mixture):
    """The Puma's first link turns the second one about an axis about which it has no inertia itself."""
    puma = benchmarks.puma().model
    mixed = puma.with_nodes({body.name: NODES[k] for body, k in zip(puma.bodies, mixture, strict=True)})
    exact, found = (mbd.simulate(model, 2e-4, 1e-4, RK6()) for model in (puma.with_coordinates("joint"), mixed))
    for body in puma.bodies:
        for name in ("position", "velocity", "acceleration", "angular_acceleration"):
            wanted = getattr(exact[body.name], name)
            given = getattr(found[body.name], name)
            assert np.abs(given - wanted).max() < ROUND_OFF * max(1.0, np.abs(wanted).max())
    for joint in puma.joints:
        assert found[joint.name].torque == pytest.approx(exact[joint.name].torque, abs=ROUND_OFF * 1e3)
    implicit = [mbd.simulate(model, 2e-3, 1e-3, GeneralizedAlpha()) for model in (puma, mixed)]
    for joint in puma.joints:
        first, second = (solution[joint.name].force[-1] for solution in implicit)
        assert first == pytest.approx(second, abs=5e-2)  # other coordinates have other errors of the method


def rods(count, axis, com=(0, 0, 0)):
    """Rods in a row without inertia about their own axis x."""
    model = mbd.Model("rods", gravity=(0, 0, -9.81))
    before = model.ground
    for k in range(count):
        rod = model.add(mbd.RigidBody(f"rod {k}", 1.0, (0.0, 0.1, 0.1), RotationVector((k + 0.5, 0, 0)), com=com))
        model.add(joints.Revolute(before, rod, at=(k, 0, 0), axis=axis if k == 1 else (0, 1, 0)))
        before = rod
    return model


@pytest.mark.parametrize("com", [(0, 0, 0), (0.2, 0.1, -0.1)], ids=["centre", "offset"])
def test_only_rods_that_turn_about_their_own_axis_are_eliminated_with_their_joints(com):
    """A long chain keeps its order, and with it its speed."""
    for axis, concerned in (((0, 0, 1), []), ((1, 0, 0), [1, 2]), ((0, 1, 1e-3), [])):
        model = rods(4, axis, com)
        held = loosely_held(model, mbd.assemble(model).tables.nodes)
        assert np.flatnonzero(held).tolist() == concerned
    node = RotationVector((0.5, 0, 0), pinned=True)
    model = mbd.Model("pinned")
    body = model.add(mbd.RigidBody("rod", 1.0, (0.0, 0.1, 0.1), node, com=(0, 0, 0.2)))
    model.add(joints.AngleDriver(model.ground, body, axis=(0, 1, 0), value=0.0))
    assert not loosely_held(model, mbd.assemble(model).tables.nodes).any()  # about its pin it has inertia


@pytest.mark.parametrize(
    "method", [DiscreteVariational(), LivensMidpoint(), HamiltonianMidpoint()], ids=lambda x: x.name
)
def test_methods_that_divide_by_inertia_name_the_body(method):
    with pytest.raises(mbd.IncompatibleError, match="body 'link 1' has no inertia about an axis. Use .*GGLEM"):
        mbd.simulate(benchmarks.puma().model, 1e-3, 1e-3, method)
