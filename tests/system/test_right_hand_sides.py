"""Several right-hand sides at once are solved as one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.compiled.fours import fours_of, rows_of_fours
from mbd.system.instant import dynamics, frames, velocities
from mbd.system.matrix import factor, solve, tangent
from mbd.system.right_hand_sides import new_sides, solve_four

ROUND_OFF = 1e-13


def chain(count):
    model = mbd.Model("chain")
    last = model.ground
    for i in range(count):
        body = model.add(mbd.RigidBody(f"bar {i}", 1.0, (0.02, 0.03, 0.04), mbd.nodes.RotationVector((i + 0.5, 0, 0))))
        model.add(mbd.joints.Revolute(last, body, at=(i, 0, 0), axis=(0, 1, 0.2 * i)))
        last = body
    return model


@pytest.mark.parametrize("count", [1, 12])
@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_four_at_once(count, coordinates):
    """One front, several, and the recursion along a tree; of four right-hand sides some are missing."""
    system = mbd.assemble(chain(count).with_coordinates(coordinates))
    rng = np.random.default_rng(1)
    s, w = system.tables, system.new_work()
    q, v, lam = system.initial_state()[0], rng.normal(size=system.n_v), rng.normal(size=system.n_l)
    frames(s, w, q)
    velocities(s, w, q, v)
    dynamics(s, w, q, v, v, lam, w.x)
    tangent(s, w, q, v, v, lam, w.eye, 1.0, 1e-3, 1e-5, w.matrix)
    factor(s, w, w.matrix, w.pivots, w.dinv)
    rows = rng.normal(size=(4, len(w.x)))
    one_by_one = rows.copy()
    for row in one_by_one:
        solve(s, w.matrix, w.pivots, w.dinv, row)
    sides = new_sides(system)  # in which earlier solutions leave something
    for n in range(1, 5):
        x = fours_of(rows[:n])[0]
        solve_four(s, w, sides, x, n)
        found = rows_of_fours(x[None], 4)
        assert np.abs(found[:n] - one_by_one[:n]).max() < ROUND_OFF * np.abs(one_by_one).max()
        assert not found[n:].any()
