"""Nodes of joints that carry bodies: frames, rates, and the matrices made of jets, against differences and others."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd import nodes
from mbd.nodes.forms import FORM_LIE
from mbd.system.system import System
from mbd.testing import check_system

from ...system.trees import CARRYING, ROTATIONS, moving_state, new_body, new_joint, same_accelerations

BALLS = {
    "quaternion": nodes.Quaternion(lie=True),
    "vector": nodes.RotationVector(lie=True),
    "Euler": nodes.EulerAngles(lie=True),
    "directors": nodes.Directors(lie=True),
    "conventional quaternion": nodes.Quaternion(lie=False),
    "conventional vector": nodes.RotationVector(lie=False),
    "conventional xyz": nodes.EulerAngles(sequence="xyz"),
    "conventional zxy": nodes.EulerAngles(sequence="zxy"),
}


def three_bodies(rng, kind, reverse):
    """A hinge, a joint of the kind in either direction, and a slider."""
    model = mbd.Model("three", gravity=(0.3, -1.0, -9.81))
    a, b, c = (new_body(model, rng, name) for name in "abc")
    new_joint(model, rng, "Revolute", model.ground, a, "hinge")
    new_joint(model, rng, kind, *((b, a) if reverse else (a, b)), "joint")
    new_joint(model, rng, "Prismatic", b, c, "slider")
    return model


def check_everything(system, rng, tolerance):
    q, v = moving_state(system, rng)
    check_system(system, rng, state=(q, v))
    vd, lam = system.accelerations(q, v)
    assert np.abs(system.residual(q, v, vd, lam)).max() < 1e3 * tolerance.round_off
    assert same_accelerations(system, q, v) < tolerance.round_off


@pytest.mark.parametrize("reverse", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize("kind", [kind for kind in CARRYING if kind != "Spherical"])
def test_a_joint_in_both_directions(kind, reverse, rng, tolerance):
    system = System(three_bodies(rng, kind, reverse).with_coordinates("joint"))
    assert system.carrier("joint").reversed is reverse
    check_everything(system, rng, tolerance)


@pytest.mark.parametrize("reverse", [False, True], ids=["forwards", "backwards"])
@pytest.mark.parametrize("ball", BALLS)
def test_a_ball_in_every_parametrisation(ball, reverse, rng, tolerance):
    model = three_bodies(rng, "Spherical", reverse).with_coordinates("joint", spherical=BALLS[ball])
    system = System(model)
    node = system.tables.nodes[system.node_index("b")]
    assert (node.form == FORM_LIE) == BALLS[ball].lie and node.nq == BALLS[ball].n_rotation
    check_everything(system, rng, tolerance)


def test_the_length_of_a_quaternion_is_no_motion(rng, tolerance):
    """Off the unit sphere frames are orthonormal, and every derivative is right, so that Newton's method finds back."""
    model = three_bodies(rng, "Spherical", False).with_coordinates("joint", spherical=nodes.Quaternion(lie=False))
    system = System(model)
    q, v = moving_state(system, rng)
    there = system.frames(q), system.frame_velocities(q, v)
    part = system.body_slices("b")[0]
    q[part] *= 1.2
    v[system.body_slices("b")[1]] *= 1.2
    assert np.allclose(system.frames(q), there[0], atol=tolerance.round_off)
    assert np.allclose(system.frame_velocities(q, v), there[1], atol=10 * tolerance.round_off)
    v += rng.normal(size=system.n_v)  # also along the quaternion
    check_system(system, rng, state=(q, v))


@pytest.mark.parametrize("ball", [name for name in BALLS if "conventional" in name])
def test_newton_converges_quadratically(ball, rng):
    """A step of the trapezoidal rule with the matrix of the system: the digits of a ball's parameters double."""
    model = three_bodies(rng, "Spherical", False).with_coordinates("joint", spherical=BALLS[ball])
    system, step = System(model), 0.2
    q, v = moving_state(system, rng)
    a, lam = system.accelerations(q, v)
    dq, n, sizes = step * v, system.n_v, []
    for _ in range(9):
        q1, v1, a1 = system.update(q, dq), 2.0 / step * dq - v, 4.0 / step * (dq / step - v) - a
        rest = np.concatenate((system.residual(q1, v1, a1, lam), system.constraints(q1)))
        b = system.constraint_jacobian(q1).toarray()
        h = system.stiffness(q1, v1, a1, lam) + 2.0 / step * system.damping(q1, v1, a1)
        h = (h + 4.0 / step**2 * system.mass_matrix(q1)).toarray()
        x = np.linalg.solve(np.block([[h, b.T], [b, np.zeros((system.n_l, system.n_l))]]), -rest)
        dq, lam = dq + x[:n], lam + x[n:]
        sizes.append(np.abs(x[:n]).max())
    e = [size for size in sizes if size > 1e-13]
    assert len(e) >= 3 and e[-1] < 1e-6 and len(e) < len(sizes)
    assert all(after < 20.0 * before**2 for before, after in zip(e[-3:-1], e[-2:], strict=True))


@pytest.mark.parametrize("pinned", [False, True], ids=["free", "pinned"])
@pytest.mark.parametrize("lie", [True, False], ids=["lie", "conventional"])
@pytest.mark.parametrize("cls", ROTATIONS, ids=lambda cls: cls.__name__)
def test_roots_without_a_joint(cls, lie, pinned, rng, tolerance):
    """Bodies without a path to the ground: the first one moves freely or is pinned, in its own parametrisation.

    Quaternions and directors with constraints of their own become rotations that are composed.
    """
    model = mbd.Model("roots", gravity=(0.3, -1.0, -9.81))
    root = new_body(model, rng, "root", cls, lie=lie, pinned=pinned)
    arm = new_body(model, rng, "arm")
    new_joint(model, rng, "Cylindrical", arm, root, "joint")
    system = System(model.with_coordinates("joint"))
    (edge,) = [edge for edge in system.assembly.tree.carried if edge.body.name == "root"]
    assert edge.joint is None and edge.node.pinned is pinned
    assert type(edge.node) is (cls if lie or cls in (nodes.RotationVector, nodes.EulerAngles) else nodes.Quaternion)
    assert system.n_v == (5 if pinned else 8) and system.n_l == 0
    check_everything(system, rng, tolerance)
