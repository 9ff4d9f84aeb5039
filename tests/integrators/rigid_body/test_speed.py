"""Speed of the compiled loops, in processor time and with a wide margin, so that a busy machine does not matter."""

from __future__ import annotations

import time

import numpy as np
import pytest

import mbd
from mbd.integrators import MoserVeselov
from mbd.kernel import JIT
from tests.integrators.rigid_body.models import book

pytestmark = pytest.mark.skipif(not JIT, reason="kernels are not compiled")


def seconds(model: mbd.Model, count: int) -> float:
    system = mbd.assemble(model)
    run = MoserVeselov(order=8).start(system, *system.initial_state(), 0.0, 0.01, None)
    out = [np.zeros((1, len(row))) for row in run.initial_row()]
    best = np.inf
    for _ in range(3):
        clock = time.process_time()
        assert run.advance(count, count, out) == count
        best = min(best, time.process_time() - clock)
    return best


def test_one_body_takes_less_than_a_microsecond_per_step():
    assert seconds(book(), 50_000) / 50_000 < 1e-6


def test_many_bodies_take_less_than_300_ns_per_body_and_step(rng):
    model = mbd.Model("cloud")
    for _ in range(5000):
        node = mbd.nodes.Quaternion(velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3), lie=True)
        model.add(mbd.RigidBody(None, 1.0, np.sort(rng.uniform(0.6, 1.0, 3)), node))
    assert seconds(model, 50) / (50 * 5000) < 0.3e-6
