"""Symbolic phase of the block solver: from the coupling graph to one flat array of dense fronts.

The matrix is stored in *fronts*. A front eliminates the unknowns of some vertices (its pivots) and updates the unknowns
of later vertices (its rows); it is a square, row-major piece of the flat array ``F``, pivots first, with three columns
of padding that always hold zero, so that inner loops may work in chunks of four without a remainder. Elements add
their values straight into ``F``; the numeric phase then works in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbd.compiled.kinds import indices, integer_matrix, integers, vector
from mbd.compiled.record import Record
from mbd.linalg.ordering import Tree, build_graph, contract, eliminate, merge

PADDING = 3
DENSE_MAX = 56  # a single front up to this size takes the direct path; the kernel without blocking is fastest there
SCHUR_GAIN = 0.8  # all bodies first: only if this factor cheaper
SCHUR_EXTENT = 400  # and only for graphs without longer paths

# Columns of Fronts.table
PIVOTS, ROWS, STRIDE, OFFSET, FIRST, ROW_START, CHILD_START, CHILD_END, RUN_IN_PARENT = range(9)


class Fronts(Record):
    """What the compiled kernels need. ``work`` is scratch, so one thread at a time."""

    table = integer_matrix  # (fronts, 9), see the column names above
    children = integers  # children of all fronts one after the other
    row_index = indices  # permuted index of each row
    row_map = indices  # position of each row in the parent front
    work = vector


@dataclass
class Layout:
    """Where every block of the matrix and every unknown lives."""

    n: int
    size_F: int
    sizes: np.ndarray
    position: np.ndarray  # offset of each vertex' unknowns in the permuted vector
    fronts: Fronts
    schur: bool  # all bodies were eliminated before any joint
    cost: float  # predicted flops of a factorization
    pairs: np.ndarray  # (k, 2) coupled vertices u < v, without duplicates and empty vertices
    is_joint: np.ndarray
    _front_of: np.ndarray
    _rank: np.ndarray  # place of each vertex in the order of elimination
    _keys: np.ndarray  # sorted front * vertices + rank of all (front, row vertex)
    _local: np.ndarray  # position of that row vertex inside the front

    @property
    def dense(self) -> bool:
        """One small front: use ``factor_dense`` and ``solve_dense``."""
        return len(self.fronts.table) == 1 and self.n <= DENSE_MAX

    def _inside(self, front: np.ndarray, vertex: np.ndarray) -> np.ndarray:
        """Local position of the vertex' unknowns in a front (as pivots or as rows)."""
        own = self._front_of[vertex] == front
        local = self.position[vertex] - self.fronts.table[front, FIRST]
        key = front * len(self.sizes) + self._rank[vertex]
        if len(self._keys):
            k = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
            found = self._keys[k] == key
            local = np.where(own, local, self._local[k])
        else:
            found = np.zeros(len(key), bool)
        if not np.all(own | found):
            raise KeyError(f"vertex {vertex[np.argmin(own | found)]} is not coupled to the other one of its pair")
        return local

    def blocks(self, us: ArrayLike, vs: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Offset and row stride of the blocks (u, v): entry (i, j) is ``F[offset + i * stride + j]``.

        Valid for u == v and for coupled pairs in either order; blocks without entries get offset and stride 0.
        """
        u, v = np.atleast_1d(np.asarray(us, np.int64)), np.atleast_1d(np.asarray(vs, np.int64))
        offset, stride = np.zeros(len(u), np.int64), np.zeros(len(u), np.int64)
        full = (self.sizes[u] > 0) & (self.sizes[v] > 0)
        u, v = u[full], v[full]
        front = np.where(self._rank[u] <= self._rank[v], self._front_of[u], self._front_of[v])
        table = self.fronts.table
        stride[full] = ld = table[front, STRIDE]
        offset[full] = table[front, OFFSET] + self._inside(front, u) * ld + self._inside(front, v)
        return offset, stride

    def permutation(self) -> np.ndarray:
        """Index p with ``x[p]`` in the order of the vertices, for ``x`` in permuted order."""
        return _spread(self.position, self.sizes)

    def vertex_of(self, k: int) -> int:
        """The vertex that owns the permuted index ``k``."""
        if not 0 <= k < self.n:
            raise IndexError(f"permuted index {k} outside 0..{self.n - 1}")
        order, position = self._in_order
        return int(order[position.searchsorted(k, side="right") - 1])

    @cached_property
    def _in_order(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices that are not empty in the order of their unknowns, and where these begin."""
        order = np.argsort(self._rank, kind="stable")
        order = order[self.sizes[order] > 0]
        return order, self.position[order]

    def entries(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(rows, columns, values) of the assembled, not factored matrix in permuted order."""
        row, column, place = self.places()
        return row, column, F[place]

    def places(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(rows, columns, places) of all entries."""
        own = np.flatnonzero(self.sizes > 0)
        u = np.concatenate([own, self.pairs[:, 0], self.pairs[:, 1]])
        v = np.concatenate([own, self.pairs[:, 1], self.pairs[:, 0]])
        offset, stride = self.blocks(u, v)
        # First one item per block row, then one per entry.
        height, width = self.sizes[u], np.repeat(self.sizes[v], self.sizes[u])
        row = _spread(self.position[u], height)
        i = _spread(np.zeros(len(u), np.int64), height)
        start = np.repeat(offset, height) + i * np.repeat(stride, height)
        column = _spread(np.repeat(self.position[v], height), width)
        return np.repeat(row, width), column, _spread(start, width)

    @cached_property
    def diagonal_entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Vertices that are not empty, places of all their diagonal entries, and where those of each begin."""
        own = np.flatnonzero(self.sizes > 0)
        offset, stride = self.blocks(own, own)
        size = self.sizes[own]
        step = _spread(np.zeros(len(own), np.int64), size)
        return own, np.repeat(offset, size) + step * np.repeat(stride + 1, size), np.cumsum(size) - size

    @cached_property
    def joint_entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows of joints in the permuted order, places of their entries, and the body of each entry."""
        vertex = np.empty(self.n, np.int64)
        vertex[self.permutation()] = np.repeat(np.arange(len(self.sizes)), self.sizes)
        row, column, place = self.places()
        use = self.is_joint[vertex[row]] & ~self.is_joint[vertex[column]]
        return row[use], place[use], vertex[column[use]]

    def to_scipy(self, F: np.ndarray) -> Any:
        """The matrix whose entries are in F (scipy.sparse, CSC)."""
        from scipy.sparse import coo_matrix

        row, column, value = self.entries(F)
        return coo_matrix((value, (row, column)), shape=(self.n, self.n)).tocsc()


def _spread(start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """start[0], start[0] + 1, ... (length[0] items), start[1], ..."""
    ends = np.cumsum(length)
    total = int(ends[-1]) if len(ends) else 0
    return np.arange(total, dtype=np.int64) + np.repeat(start - (ends - length), length)


def _flat(lists: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """All items one after the other, and for each the list it came from."""
    lengths = np.array([len(x) for x in lists], np.int64)
    items = np.fromiter(chain.from_iterable(lists), np.int64, int(lengths.sum()))
    return items, np.repeat(np.arange(len(lists), dtype=np.int64), lengths)


def analyse(
    sizes: Sequence[int] | np.ndarray,
    is_joint: Sequence[bool] | np.ndarray,
    grounded: Sequence[bool] | np.ndarray,
    pairs: ArrayLike,
    rigid: Sequence[bool] | np.ndarray | None = None,
    dense_limit: int = 27,
    massless: Sequence[int] | np.ndarray = (),
) -> Layout:
    """Choose the order of elimination and lay out the fronts.

    ``sizes``: unknowns of each vertex (a node with its internal multipliers, or a joint; 0 = no unknowns);
    ``grounded``: the joint is also attached to the ground; ``pairs``: coupled vertices, duplicates allowed;
    ``rigid``: False for a joint whose equations change under a common rigid motion of its bodies; ``massless``: bodies
    without inertia, which are eliminated together with their joints.
    """
    size = np.asarray(sizes, np.int64).reshape(-1)
    joint = np.asarray(is_joint, bool).reshape(-1)
    couple = np.sort(np.asarray(pairs, np.int64).reshape(-1, 2), axis=1)
    code = np.unique(couple[:, 0] * max(len(size), 1) + couple[:, 1])
    couple = np.stack([code // max(len(size), 1), code % max(len(size), 1)], axis=1)
    invariant = None if rigid is None else [bool(r) for r in rigid]
    graph = build_graph(size.tolist(), joint.tolist(), [bool(g) for g in grounded], couple.tolist(), invariant)
    if np.any(couple[:, 0] == couple[:, 1]):
        raise ValueError("a vertex cannot be coupled to itself")
    couple = couple[(size[couple[:, 0]] > 0) & (size[couple[:, 1]] > 0)]
    schur = False
    if int(size.sum()) <= dense_limit:
        some = np.flatnonzero(size > 0)
        tree = Tree([[*some[~joint[some]].tolist(), *some[joint[some]].tolist()]], [[]], [-1], 0.0)
    else:
        graph, members = contract(graph, [int(v) for v in massless]) if len(massless) else (graph, None)
        found = eliminate(graph)
        assert found is not None
        tree = merge(graph, *found)
        # Taking all bodies first is often somewhat faster for loops and nets. Its Schur complement has the condition
        # of the whole constraint graph, though: rounding errors grow with the square of the length of paths through
        # the graph or faster (2e-9 at ten thousand bodies in a row, and the zero pivots of redundant joints drown in
        # noise at some hundred loops in a row), so it is not used for long mechanisms.
        if joint.any() and graph.extent() <= SCHUR_EXTENT:
            found = eliminate(graph, bodies_first=True, limit=SCHUR_GAIN * tree.cost)
            other = merge(graph, *found) if found is not None else None
            if other is not None and other.cost <= SCHUR_GAIN * tree.cost:
                tree, schur = other, True
        if members is not None:
            tree.pivots, tree.rows = (
                [[u for v in front for u in members[v]] for front in lists] for lists in (tree.pivots, tree.rows)
            )
    return _lay_out(tree, size, joint, couple, schur)


def uncoupled(sizes: np.ndarray, is_joint: np.ndarray) -> Layout:
    """The layout of vertices that are not coupled: each is a front, and their order is kept."""
    own = np.flatnonzero(sizes > 0).tolist()
    tree = Tree([[v] for v in own], [[] for _ in own], [-1] * len(own), 0.0)
    return _lay_out(tree, sizes, is_joint, np.zeros((0, 2), np.int64), False)


def _lay_out(tree: Tree, size: np.ndarray, joint: np.ndarray, pairs: np.ndarray, schur: bool) -> Layout:
    count, fronts = len(size), len(tree.pivots)
    order, front_of_order = _flat(tree.pivots)
    front_of, rank = np.zeros(count, np.int64), np.full(count, count, np.int64)
    front_of[order], rank[order] = front_of_order, np.arange(len(order))
    position = np.zeros(count, np.int64)
    position[order] = np.cumsum(size[order]) - size[order]
    total = int(size.sum())
    # Row vertices, sorted within each front by their place in the order.
    vertex, front = _flat(tree.rows)
    place = np.lexsort((rank[vertex], front))
    vertex = vertex[place]
    length = size[vertex]
    n = np.bincount(front_of_order, size[order], fronts).astype(np.int64)
    m = np.bincount(front, length, fronts).astype(np.int64)
    ld = n + m + PADDING
    table = np.zeros((fronts, 9), np.int64)
    table[:, PIVOTS], table[:, ROWS], table[:, STRIDE] = n, m, ld
    area = (n + m) * ld
    table[:, OFFSET] = np.cumsum(area) - area
    table[:, FIRST] = np.cumsum(n) - n
    table[:, ROW_START] = row_start = np.cumsum(m) - m
    parent = np.array(tree.parent, np.int64)
    children = np.argsort(parent, kind="stable")[int(np.sum(parent < 0)) :].astype(np.int64)
    table[:, CHILD_START] = np.searchsorted(parent[children], np.arange(fronts))
    table[:, CHILD_END] = np.searchsorted(parent[children], np.arange(fronts), side="right")
    local = n[front] + np.cumsum(length) - length - row_start[front]
    work = np.zeros(int((n + m).max(initial=0)) + PADDING + 1)
    empty = np.zeros(0, np.uint64)
    layout = Layout(
        n=total,
        size_F=int(area.sum()),
        sizes=size,
        position=position,
        fronts=Fronts(table=table, children=children, row_index=empty, row_map=empty, work=work),
        schur=schur,
        cost=tree.cost,
        pairs=pairs,
        is_joint=joint,
        _front_of=front_of,
        _rank=rank,
        _keys=front * count + rank[vertex],
        _local=local,
    )
    index = _spread(position[vertex], length)
    inside = _spread(layout._inside(parent[front], vertex), length) if len(vertex) else index
    table[:, RUN_IN_PARENT] = _is_run(inside, row_start, m)
    layout.fronts = Fronts(
        table=table, children=children, row_index=index.astype(np.uint64), row_map=inside.astype(np.uint64), work=work
    )
    return layout


def _is_run(values: np.ndarray, start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Per piece: the values rise by one from item to item."""
    result = np.ones(len(start), np.int64)
    some = length > 0
    first, last = start[some], (start + length - 1)[some]
    result[some] = values[last] - values[first] == last - first  # they rise strictly
    return result
