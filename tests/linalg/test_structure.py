"""Layout and kernels: growth, choice of the order, small systems, plain Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mbd.linalg import numeric
from mbd.linalg.front import FAILED, REPLACED, SMALLEST_RATIO, THRESHOLD, WEAKEST
from mbd.linalg.ordering import build_graph, eliminate
from mbd.linalg.symbolic import PIVOTS, ROWS, analyse
from tests.counting import calls
from tests.linalg import mechanisms as mech


def graph_of_chain(count, two_ends=False):
    """Sizes, joints, ground and pairs of a chain: bodies first, then joints."""
    sizes = [6] * count + [3] * (count + two_ends)
    joints = [False] * count + [True] * (count + two_ends)
    ground = [k == count or k == 2 * count for k in range(len(sizes))]
    pairs = [(count + i, i) for i in range(count)] + [(count + i, i - 1) for i in range(1, count + two_ends)]
    return sizes, joints, ground, np.array(pairs)


def graph_of_star(count):
    sizes = [6] * (count + 1) + [3] * count
    joints = [False] * (count + 1) + [True] * count
    pairs = [(count + 1 + i, i + 1) for i in range(count)] + [(count + 1 + i, 0) for i in range(count)]
    return sizes, joints, [False] * len(sizes), np.array(pairs)


@pytest.mark.parametrize("graph", [graph_of_chain, graph_of_star])
def test_storage_grows_linearly(graph):
    layouts = [analyse(*graph(n)) for n in (100, 200, 400, 1000)]
    per_body = [layout.size_F / n for layout, n in zip(layouts, (100, 200, 400, 1000), strict=True)]
    assert max(per_body) < 1.02 * min(per_body)
    assert max(int((x.fronts.table[:, PIVOTS] + x.fronts.table[:, ROWS]).max()) for x in layouts) <= 24
    assert not any(layout.schur for layout in layouts)


def test_symbolic_work_grows_linearly():
    work = {count: calls(lambda count=count: analyse(*graph_of_chain(count))) / count for count in (250, 1000)}
    assert work[1000] < 1.05 * work[250]
    layout = analyse(*graph_of_chain(10000))
    assert len(layout.fronts.table) == 10000
    assert sorted(layout.permutation().tolist()) == list(range(layout.n))


def test_rank_safe_rule_with_two_ends():
    """The last joint of a chain with two ends may only follow when no outside body is left."""
    sizes, joints, ground, pairs = graph_of_chain(5, two_ends=True)
    graph = build_graph(sizes, joints, ground, pairs.tolist(), None)
    order, _ = eliminate(graph)
    assert sorted(order) == list(range(11))
    for k, v in enumerate(order):
        if joints[v]:
            before = set(order[:k])
            # Walk over the component of eliminated vertices that this joint joins.
            component, outside, grounded, stack = {v}, set(), False, [v]
            while stack:
                u = stack.pop()
                grounded = grounded or ground[u]
                for w in graph.adjacent[u]:
                    if w in before and w not in component:
                        component.add(w)
                        stack.append(w)
                    elif w not in before and joints[u]:
                        outside.add(w)
            assert len(component) > 1
            assert len(outside) + grounded <= 1


def test_joint_without_rigid_invariance_waits_for_its_bodies():
    sizes, joints, ground, pairs = graph_of_chain(8)
    rigid = [k != 12 for k in range(len(sizes))]
    graph = build_graph(sizes, joints, ground, pairs.tolist(), rigid)
    order, _ = eliminate(graph)
    assert all(order.index(b) < order.index(12) for b in (3, 4))
    m = mech.chain(12)
    m.solver(m.layout(rigid=[k != 9 for k in range(24)])).factor()


def test_small_systems_are_one_dense_front():
    layout = analyse(*graph_of_chain(3))
    assert layout.dense and len(layout.fronts.table) == 1
    assert layout.position.tolist() == [0, 6, 12, 18, 21, 24]
    assert not analyse(*graph_of_chain(4)).dense


def test_all_bodies_first_is_not_taken_for_long_mechanisms():
    """Ladders are cheaper with all bodies first, but long ones would lose the zero pivots of redundant joints."""
    assert mech.ladder(20).layout().schur
    long = mech.ladder(150)
    assert not long.layout().schur
    assert build_graph(long.sizes, long.is_joint, long.grounded, long.pairs.tolist(), None).extent() > 400
    assert mech.ladder(150, redundant=True).solver().factor().redundant == 450
    m = mech.net(6, 6, "lie", "spherical")
    graph = build_graph(m.sizes, m.is_joint, m.grounded, m.pairs.tolist(), None)
    order, _ = eliminate(graph, bodies_first=True)
    assert [m.is_joint[v] for v in order] == [False] * 36 + [True] * 61
    assert eliminate(graph, bodies_first=True, limit=10.0) is None
    assert not analyse(*graph_of_chain(300, two_ends=True)).schur


def large_random(n, front_rows, seed=0):
    """A front with n pivots and further rows, as a two-vertex graph, dense and well conditioned."""
    rng = np.random.default_rng(seed)
    layout = analyse([n, front_rows], [False, False], [False, False], [[0, 1]], dense_limit=0)
    a = rng.normal(size=(layout.n, layout.n)) / np.sqrt(layout.n) + 0.1 * np.eye(layout.n)
    F = np.zeros(layout.size_F)
    for u in (0, 1):
        for v in (0, 1):
            (o,), (ld,) = layout.blocks([u], [v])
            p, q = layout.position[u], layout.position[v]
            i, j = np.indices((layout.sizes[u], layout.sizes[v]))
            F[o + i * ld + j] = a[p + i, q + j]
    return layout, F, a


@pytest.mark.parametrize("n", [1, 5, 16, 17, 39, 41, 64, 83, 150])
@pytest.mark.parametrize("rows", [1, 7, 9, 34])
def test_large_fronts(n, rows):
    layout, F, a = large_random(n, rows)
    total = layout.n
    pivots, dinv, report = np.zeros(total, np.int64), np.zeros(total), np.zeros(5)
    b = np.random.default_rng(1).normal(size=total)
    begun = b.copy()
    numeric.factor_tree(layout.fronts, F, pivots, dinv, np.ones(total), np.zeros(total), report, begun)
    x = b.copy()
    numeric.solve_tree(layout.fronts, F, pivots, dinv, x, 0)
    numeric.solve_tree(layout.fronts, F, pivots, dinv, begun, 1)
    np.testing.assert_array_equal(begun, x)
    assert np.abs(a @ x - b).max() < 1e-11 * np.abs(x).max() * max(1.0, np.linalg.cond(a[:n, :n]) * 1e-2)
    assert report[FAILED] == 0 and 0 <= report[WEAKEST] < total


def test_empty_row_is_reported_and_replaced():
    layout, F, _ = large_random(3, 2)
    F[:] = 0.0
    pivots, dinv, report = np.zeros(5, np.int64), np.zeros(5), np.zeros(5)
    numeric.factor_tree(layout.fronts, F, pivots, dinv, np.ones(5), np.zeros(5), report, np.zeros(0))
    assert report[SMALLEST_RATIO] == 0.0 and report[FAILED] == 1.0
    F[:] = 0.0
    report[THRESHOLD] = 1e-11
    numeric.factor_tree(layout.fronts, F, pivots, dinv, np.ones(5), np.zeros(5), report, np.zeros(0))
    assert report[REPLACED] == 5 and report[FAILED] == 0.0
    x = np.ones(5)
    numeric.solve_tree(layout.fronts, F, pivots, dinv, x, 0)
    np.testing.assert_array_equal(x, 1.0)


def test_plain_python():
    """The kernels are the same code without compilation."""
    code = (
        "import numpy as np, warnings; warnings.simplefilter('error')\n"
        "from tests.linalg.mechanisms import chain, net\n"
        "from mbd.compiled.kernel import JIT\n"
        "assert not JIT\n"
        "for m in (chain(2), chain(6), net(3, 3, 'lie', 'spherical')):\n"
        "    s = m.solver(); s.factor(); a = m.matrix(s.layout); x = np.ones(s.layout.n)\n"
        "    assert np.abs(s.solve(a @ x) - x).max() < 1e-9, s.method\n"
    )
    root = Path(__file__).parents[2]
    environment = {**os.environ, "MBD_JIT": "0", "PYTHONPATH": str(root)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=root)
