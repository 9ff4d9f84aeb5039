"""A rough start is corrected to the nearest consistent positions, whatever the coordinates of the model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import null_space

import mbd
from mbd.solvers.twins import increments

NODES = [
    mbd.nodes.Quaternion(),
    mbd.nodes.Quaternion(lie=True),
    mbd.nodes.Directors(),
    mbd.nodes.RotationVector(lie=False),
    mbd.nodes.EulerAngles(),
    mbd.nodes.EulerAngles(lie=True),
]
SAME = 1e-12
NEAREST = 1e-7  # of M delta, which is the gradient of the distance


def rough_chain() -> mbd.Model:
    """Three bodies, none of which is where its joints want it: centimetres and 20 degrees off."""
    model, random = mbd.Model("rough", gravity=(0, 0, -9.81)), np.random.default_rng(3)
    previous, bodies = model.ground, []
    for i in range(3):
        turned = mbd.rotation(0.3 * random.normal(size=3))
        place = np.array((0.5 + i, 0, 0)) + 0.05 * random.normal(size=3)
        node = mbd.nodes.RotationVector(position=place, rotation=turned, angular_velocity=random.normal(size=3))
        bodies.append(model.add(mbd.RigidBody(f"{i}", 1.0 + i, (0.1, 0.2, 0.25), node, com=(0.1, 0, 0))))
    ends = {"point_a": (0.5, 0, 0), "point_b": (-0.5, 0, 0)}
    model.add(mbd.joints.Spherical(previous, bodies[0], point_a=(0, 0, 0), point_b=(-0.5, 0, 0)))
    model.add(mbd.joints.Revolute(bodies[0], bodies[1], **ends, axis_a=(0, 1, 0), axis_b=(0, 1, 0)))
    model.add(mbd.joints.Universal(bodies[1], bodies[2], **ends, axis_a=(0, 1, 0), axis_b=(0, 0, 1)))
    return model


@pytest.fixture(scope="module")
def on_lie_nodes():
    system = mbd.assemble(rough_chain())
    return system, mbd.consistent_start(system)


@pytest.mark.parametrize("node", NODES, ids=str)
def test_same_start_in_all_coordinates(node, on_lie_nodes):
    reference, expected = on_lie_nodes
    system = mbd.assemble(rough_chain().with_nodes(node))
    start = mbd.consistent_start(system)
    assert np.abs(system.frames(start.q) - reference.frames(expected.q)).max() < SAME
    velocities = system.frame_velocities(start.q, start.v), reference.frame_velocities(expected.q, expected.v)
    assert np.abs(velocities[0] - velocities[1]).max() < 10.0 * SAME


def test_no_consistent_position_is_nearer(on_lie_nodes):
    system, start = on_lie_nodes
    assert np.abs(system.constraints(start.q)).max() < SAME
    delta = increments(system, system.initial_state()[0], start.q)
    gradient = system.mass_matrix(start.q) @ delta
    free = null_space(system.constraint_jacobian(start.q).toarray())
    assert np.linalg.norm(delta) > 0.1  # there was something to correct
    assert np.abs(free.T @ gradient).max() < NEAREST * np.abs(gradient).max()


def test_bodies_that_fit_stay_bit_for_bit():
    model = rough_chain()
    other = model.add(mbd.RigidBody("free", 1.0, (0.1, 0.1, 0.1), mbd.nodes.EulerAngles(position=(0, 3, 0))))
    system = mbd.assemble(model.with_nodes({"0": mbd.nodes.Directors}))
    rows = system.body_slices(system.model[other.name])[0]
    assert np.array_equal(mbd.consistent_start(system).q[rows], system.initial_state()[0][rows])
