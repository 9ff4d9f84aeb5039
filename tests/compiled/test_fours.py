"""Four numbers in the place of one: kernels give for each of them what they give for it alone."""

from __future__ import annotations

import numpy as np
import pytest

from mbd.compiled.fours import flat, fours_of, rows_of_fours
from mbd.compiled.kernel import kernel
from mbd.compiled.kinds import fours, fours_matrix, matrix, vector
from mbd.compiled.record import Record
from mbd.compiled.settings import JIT
from mbd.math.arrays import copy_apart, largest_four
from mbd.nodes.tree.spatial import add_force_cross, dot_six, motion_cross

ROUND_OFF = 4e-15  # of sums of a dozen products of numbers around one, which are fused in fours


class Many(Record):
    x = fours_matrix
    out = fours
    plain = matrix
    one = vector


class One(Record):
    x = matrix
    out = vector
    plain = matrix
    one = vector


@kernel
def calculate(r):
    """Sums, differences, products and quotients with numbers on either side, and a number that becomes four."""
    motion_cross(r.plain[0], r.x[0], r.out)
    add_force_cross(2.0, r.x[1], r.plain[1], r.out)
    total = 0.0
    for k in range(6):
        total += 3 * r.x[2, k] - r.plain[0, k] / 2.0
    r.out[0] = -total / 4.0 + 1
    r.out[1] -= 0.5 - dot_six(r.x[0], r.x[1])
    r.out[2] *= r.plain[0, 0]
    r.out[3] = 7.0


@kernel
def look(r):
    """Numbers one by one, and the largest ones."""
    numbers = flat(r.x[1])
    for k in range(4):
        r.one[k] = numbers[4 * 2 + k]
    copy_apart(r.x[0], 4, 0, 2, r.plain)
    copy_apart(r.x[1], 3, 1, 2, r.plain)
    r.out[0] = largest_four(r.x[2])


def sample():
    rng = np.random.default_rng(2)
    return rng.normal(size=(3, 6, 4)), rng.normal(size=(2, 6))


def test_each_is_what_it_is_alone():
    x, plain = sample()
    many = Many.zeros({"x": (3, 6), "out": 6}, plain=plain.copy(), one=np.zeros(4))
    many.x[:] = x
    calculate(many)
    for c in range(4):
        one = One(x=x[:, :, c].copy(), out=np.zeros(6), plain=plain.copy(), one=np.zeros(4))
        calculate(one)
        assert np.abs(np.asarray(many.out)[:, c] - one.out).max() < ROUND_OFF


def test_numbers_one_by_one():
    x, _ = sample()
    many = Many.zeros({"x": (3, 6), "out": 6}, plain=np.zeros((8, 6)), one=np.zeros(4))
    many.x[:] = x
    look(many)
    assert np.array_equal(many.one, x[1, 2])
    assert np.array_equal(many.plain[::2], x[0].T)
    assert np.array_equal(many.plain[1::2], [*x[1].T[:3], np.zeros(6)])
    assert np.array_equal(np.asarray(many.out)[0], np.abs(x[2]).max(axis=0))


@pytest.mark.parametrize("count", [1, 4, 6])
def test_rows_side_by_side(count):
    rows = np.random.default_rng(count).normal(size=(count, 5))
    side_by_side = fours_of(rows)
    assert side_by_side.shape == (-(-count // 4), 5, 4)
    assert np.array_equal(rows_of_fours(side_by_side, count), rows)
    assert not np.asarray(side_by_side).transpose(0, 2, 1).reshape(-1, 5)[count:].any()


@pytest.mark.skipif(not JIT, reason="plain Python takes any array")
def test_other_shapes_are_refused():
    with pytest.raises(ValueError, match="contiguous, writable array with 3 dimensions|numbers of type"):
        Many(x=np.zeros((3, 6)), out=fours_of(np.zeros((4, 6)))[0], plain=np.zeros((2, 6)), one=np.zeros(4))
