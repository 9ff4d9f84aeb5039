"""Poses between records: shortest arcs, whole turns, and agreement with the solution at its records."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

import mbd
from mbd.view.clock import frame_times
from mbd.view.motion import Motion, continuous, interpolated, matrices, quaternions

from . import models


def test_quaternions_and_matrices_are_inverse(rng: np.random.Generator) -> None:
    q = rng.normal(size=(200, 4))
    q /= np.linalg.norm(q, axis=1)[:, None]
    np.testing.assert_allclose(matrices(quaternions(matrices(q))), matrices(q), atol=1e-14)
    turned = Rotation.from_quat(q[:, [1, 2, 3, 0]]).as_matrix()
    np.testing.assert_allclose(matrices(q), turned, atol=1e-14)


def test_interpolation_is_slerp_whatever_the_sign(rng: np.random.Generator) -> None:
    a, b = Rotation.random(50, rng=rng), Rotation.random(50, rng=rng)
    qa, qb = a.as_quat()[:, [3, 0, 1, 2]], -b.as_quat()[:, [3, 0, 1, 2]]
    got = matrices(interpolated(qa, qb, 0.3))
    for k in range(50):
        slerp = Slerp([0.0, 1.0], Rotation.concatenate([a[k], b[k]]))
        np.testing.assert_allclose(got[k], slerp(0.3).as_matrix(), atol=1e-12)


def test_whole_turns_are_counted() -> None:
    """A rotor whose records are more than a turn apart does not seem to turn backwards."""
    model = mbd.Model("rotor")
    node = mbd.nodes.RotationVector(angular_velocity=(0, 0, 150.0))
    model.add(mbd.RigidBody("rotor", mass=1.0, inertia=(1.0, 1.0, 1.5), node=node))
    solution = mbd.simulate(model, t_end=0.2, step=1e-3, output_step=0.05)
    motion = Motion(solution)
    for t in (0.013, 0.05, 0.071, 0.149, 0.2):
        angle = 150.0 * t
        expected = Rotation.from_rotvec((0, 0, angle)).as_matrix()
        np.testing.assert_allclose(matrices(motion.at(t)[1])[1], expected, atol=1e-6)


def test_records_are_met_exactly(chain: mbd.Solution) -> None:
    motion = Motion(chain)
    for k in (0, 17, len(chain) - 1):
        p, q = motion.at(float(chain.t[k]))
        np.testing.assert_allclose(p[3], chain["link 3"].position[k], atol=1e-12)
        np.testing.assert_allclose(matrices(q)[3], chain["link 3"].rotation[k], atol=1e-10)
    middle = 0.5 * (chain.t[10] + chain.t[11])
    mean = 0.5 * (chain["link 5"].position[10] + chain["link 5"].position[11])
    np.testing.assert_allclose(motion.at(middle)[0][5], mean, atol=1e-12)
    np.testing.assert_allclose(motion.at(99.0)[0][5], chain["link 5"].position[-1])


def test_memory_does_not_grow_with_the_frames(chain: mbd.Solution) -> None:
    motion = Motion(chain)
    for t in np.linspace(0.0, 1.0, 300):
        motion.at(t)
    assert len(motion._cache) <= 4


def test_frame_times_include_both_ends() -> None:
    times = frame_times(1.0, 3.0, 30.0, 0.5)
    assert len(times) == 121 and times[0] == 1.0 and times[-1] == 3.0
    assert len(frame_times(1.0, 1.0, 30.0)) == 1


def test_signs_are_continuous(top: mbd.Solution) -> None:
    q = np.array([Motion(top).record(k)[1] for k in range(len(top))])
    assert (np.sum(q[1:, 1] * q[:-1, 1], axis=1) < 0.0).any()
    assert (np.sum(continuous(q)[1:, 1] * continuous(q)[:-1, 1], axis=1) > 0.0).all()


def test_a_solution_without_records_is_refused() -> None:
    empty = models.chain(1, 0.01)
    short = mbd.Solution(
        empty.system, [], *(np.zeros((0, a.shape[1])) for a in (empty.q, empty.v, empty.vd, empty.lam))
    )
    with pytest.raises(mbd.ModelError, match="no records"):
        Motion(short)
