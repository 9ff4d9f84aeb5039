"""The block solver against dense linear algebra on synthetic mechanisms."""

from __future__ import annotations

import numpy as np
import pytest

from mbd.linalg.front import FAILED
from mbd.linalg.solver import BlockSolver, SingularMatrixError
from mbd.linalg.symbolic import analyse
from tests.linalg import mechanisms as mech


def check(m, refine=1, bound=5e-15, condition=None, **options):
    """Solve with a random right-hand side; returns the solver. Without refinement the backward error is bounded too."""
    s = m.solver(**options)
    a = m.matrix(s.layout)
    np.testing.assert_array_equal(s.layout.to_scipy(s.F).toarray(), a)
    s.factor()
    assert not s.report[FAILED] and s.redundant == 0
    x0 = np.random.default_rng(1).normal(size=s.layout.n)
    b = a @ x0
    np.testing.assert_allclose(s.multiply(x0), b, rtol=1e-12, atol=1e-12)
    norm = np.abs(a).sum(axis=1).max()
    for steps, limit in ((0, 1e-9), (refine, bound)):
        x = s._refined(s._own, b, steps)
        error = np.abs(a @ x - b).max() / (norm * np.abs(x).max() + np.abs(b).max())
        assert error <= limit
    x = s.solve(b, refine)
    assert s.method == "direct"
    reference = np.linalg.solve(a, b)
    condition = condition or np.linalg.cond(a)
    assert np.linalg.norm(x - reference) <= 1e-14 * condition * np.linalg.norm(reference)
    return s


SHAPES = {
    "one body": lambda: mech.chain(1),
    "two bodies": lambda: mech.chain(2),
    "chain": lambda: mech.chain(20),
    "chain, revolute": lambda: mech.chain(20, joint="revolute"),
    "chain, quaternions": lambda: mech.chain(20, "quaternion"),
    "chain, directors": lambda: mech.chain(12, "directors", "revolute"),
    "chain with two ends": lambda: mech.chain(20, two_ends=True),
    "ring": lambda: mech.ring(20),
    "ring, revolute": lambda: mech.ring(12, "revolute"),
    "ladder": lambda: mech.ladder(12),
    "star": lambda: mech.star(30),
    "net of points": lambda: mech.net(8, 8),
    "net of bodies": lambda: mech.net(6, 6, "lie"),
    "net of bodies, spherical": lambda: mech.net(8, 8, "lie", "spherical"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape):
    s = check(SHAPES[shape]())
    assert s.ratio > 1e-6


def test_random_mechanisms():
    """The rank-safe order never meets a singular pivot on a regular matrix, with and without fronts."""
    used = redundant = 0
    for seed in range(80):
        m = mech.random_mechanism(seed)
        layout = m.layout(dense_limit=0)
        values = np.linalg.svd(m.matrix(layout), compute_uv=False)
        condition = values[0] / max(values[-1], 1e-300)
        if condition > 1e9:
            missing = int((values < 1e-13 * values[0]).sum())
            if missing:  # redundant joints, all of which have to be found
                redundant += 1
                assert m.solver(layout).factor().redundant == missing
            continue
        used += 1
        s = check(m, condition=condition, dense_limit=0)
        assert s.ratio * condition > 0.05
        check(m, condition=condition, dense_limit=1000)
    assert used > 40 and redundant > 20


def test_rank_safe_without_merging(monkeypatch):
    """The same without merging vertices: a front with several vertices could pivot around a bad order."""
    monkeypatch.setattr("mbd.linalg.ordering.FRONT_PRICE", -1e9)
    for seed in range(60):
        m = mech.random_mechanism(seed)
        condition = np.linalg.cond(m.matrix(m.layout(dense_limit=0)))
        if condition <= 1e9:
            check(m, condition=condition, dense_limit=0)
    for shape in ("chain with two ends", "ring", "ladder", "net of points"):
        check(SHAPES[shape](), dense_limit=0)


def test_forest_and_springs():
    m = mech.Mechanism(3)
    bodies = []
    for _ in range(8):
        last = mech.GROUND
        for _ in range(4):
            b = m.body()
            m.joint("spherical", b, last)
            last = b
            bodies.append(b)
    m.body("point")  # without any joint
    check(m)
    for a, b in ((0, 1), (0, 9), (3, 20), (5, 30), (5, 30)):
        m.spring(bodies[a], bodies[b])
    check(m)


def test_empty_vertices():
    m = mech.chain(6)
    sizes, joints, ground = [*m.sizes, 0, 0], [*m.is_joint, False, True], [*m.grounded, False, False]
    extra = np.vstack([m.pairs, [[12, 1], [13, 2], [12, 13]]])
    layout = analyse(sizes, joints, ground, extra)
    s = m.solver(layout)
    np.testing.assert_array_equal(layout.to_scipy(s.F).toarray(), m.matrix(layout))
    assert layout.blocks([12, 1], [1, 12])[0].tolist() == [0, 0]
    assert [layout.vertex_of(int(layout.position[v])) for v in range(12)] == list(range(12))
    with pytest.raises(KeyError):
        layout.blocks([0], [10])
    nothing = BlockSolver(analyse([0], [False], [False], []))
    assert nothing.factor().solve(np.zeros(0)).size == 0


@pytest.mark.parametrize("loops", [1, 5, 40])
def test_redundant_ladder(loops):
    m = mech.ladder(loops, redundant=True)
    s = m.solver()
    layout = s.layout
    s.factor()
    assert s.redundant == 3 * loops
    a = m.matrix(layout)
    rng = np.random.default_rng(0)
    x0 = rng.normal(size=layout.n)
    b = a @ x0
    rows = np.concatenate([layout.position[v] + np.arange(m.sizes[v]) for v, j in enumerate(m.is_joint) if j])
    bodies = np.setdiff1d(np.arange(layout.n), rows)
    # Minimum norm: remove from the multipliers their part in the kernel of B^T.
    left, values, _ = np.linalg.svd(a[np.ix_(rows, bodies)])
    kernel = left[:, int((values > 1e-9).sum()) :]
    assert kernel.shape[1] == 3 * loops
    best = x0[rows] - kernel @ (kernel.T @ x0[rows])

    def judge(x):
        assert np.abs(x[bodies] - x0[bodies]).max() < 1e-11
        assert np.linalg.norm(x[rows] - best) < 1e-5 * np.linalg.norm(best)

    judge(s.solve(b))  # finds out by itself
    assert s.method == "regularised"
    # A contradiction between redundant equations has no solution, however small a residual may look.
    b[rows] += rng.normal(size=len(rows))
    with pytest.raises(SingularMatrixError):
        s.solve(b)


def test_singular_body_is_named():
    m = mech.chain(12)
    m.blocks[10, 10] = np.zeros((6, 6))
    s = m.solver()
    s.factor()
    with pytest.raises(np.linalg.LinAlgError) as caught:
        s.solve(np.ones(s.layout.n))
    assert caught.value.vertex in (8, 9, 10, 11, 12, 13)
    for bad in (np.nan, np.inf):
        s.F[3] = bad
        s.factor()
        assert s.report[FAILED] == 1.0
        with pytest.raises(np.linalg.LinAlgError):
            s.solve(np.ones(s.layout.n))


def test_massless_body_is_solved(monkeypatch):
    """A massless point held by three joints is regular, but no regular pivot in a front of its own."""
    monkeypatch.setattr("mbd.linalg.ordering.FRONT_PRICE", -1e9)
    m = mech.chain(12)
    point = m.body("point")
    m.blocks[point, point] = np.zeros((3, 3))
    for other in (mech.GROUND, 0, 10):
        m.joint("distance", point, other)
    s = m.solver().factor()
    assert s.redundant == 3 and s.weakest == point
    a = m.matrix(s.layout)
    assert np.linalg.cond(a) < 1e9
    x0 = np.random.default_rng(0).normal(size=s.layout.n)
    np.testing.assert_allclose(s.solve(a @ x0), x0, rtol=1e-6, atol=1e-6)
    assert s.method != "direct"


def test_fallbacks_in_turn(monkeypatch):
    """Each method is tried when the one before it is not good enough, and the last failure names a vertex."""
    m = mech.ladder(6)
    s = m.solver().factor()
    a = m.matrix(s.layout)
    b = a @ np.ones(s.layout.n)
    accept = s._accept
    for refused, method in enumerate(["direct", "regularised", "SuperLU NATURAL", "SuperLU COLAMD"]):
        calls = []

        def choosy(x, right, suspect, calls=calls, refused=refused):
            calls.append(1)
            return accept(x, right, suspect) and len(calls) > refused

        s.factor()
        monkeypatch.setattr(s, "_accept", choosy)
        np.testing.assert_allclose(s.solve(b), 1.0, rtol=1e-7)
        assert s.method == method
    monkeypatch.setattr(s, "_accept", lambda x, right, suspect: False)
    with pytest.raises(SingularMatrixError) as caught:
        s.solve(b)
    assert 0 <= caught.value.vertex < len(m.sizes)


def test_near_singular_warns_through_the_ratio():
    ratios = []
    for sag in (1e-2, 1e-4, 0.0):
        m = mech.Mechanism(0)
        last = mech.GROUND
        count = 20
        height = [4 * sag * (i / count) * (1 - i / count) for i in range(count + 1)]
        for i in range(count):
            b = m.body(position=[i + 0.5, (height[i] + height[i + 1]) / 2, 0])
            m.joint("spherical", b, last, [i, height[i], 0])
            last = b
        m.joint("spherical", last, mech.GROUND, [count, height[-1], 0])
        ratios.append(m.solver().factor().ratio)
    assert ratios[0] > 10 * ratios[1] > 0
    assert ratios[1] > 1e-9 and ratios[2] < 1e-12


def pivots_of(a, preference):
    """Row exchanges of Gaussian elimination, where a diagonal entry counts as that many times its size; and L."""
    a, n, swaps = a.copy(), len(a), []
    for k in range(n):
        column = np.abs(a[k:, k])
        column[0] *= preference
        swaps.append(k + int(np.argmax(column)))
        a[[k, swaps[-1]]] = a[[swaps[-1], k]]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return swaps, np.tril(a, -1)


@pytest.mark.parametrize("size", [1, 2, 7, 16, 60])  # the last one in panels
def test_a_diagonal_entry_is_the_pivot_unless_another_is_four_times_as_large(size, rng):
    """Fewer swaps at bounded growth: no multiplier is above four, and some are above one."""
    layout = analyse([size], [False], [False], np.zeros((0, 2), int))
    solver = BlockSolver(layout)
    (offset,), (stride,) = layout.blocks([0], [0])
    places = offset + stride * np.arange(size)[:, None] + np.arange(size)
    largest = 0.0
    for _ in range(20):
        a = rng.normal(size=(size, size))
        solver.F[places] = a
        solver.factor()
        swaps, lower = pivots_of(a, 4.0)
        assert solver.pivots.tolist() == swaps
        np.testing.assert_allclose(np.tril(solver._factors[places], -1), lower, rtol=1e-8, atol=1e-10)
        largest = max(largest, np.abs(lower).max())
    assert largest <= 4.0 and (largest > 2.0 or size < 7)
