"""The linear equations of a system for several right-hand sides, with one factorisation."""

from __future__ import annotations

from ..compiled.entry import entry
from ..compiled.kernel import kernel
from ..compiled.kinds import integer, integers, matrix, vector
from ..linalg.four import solve_dense_four, solve_tree_four
from .matrix import solve
from .tables import BY_RECURSION, FLAG_DENSE, FLAG_TREE, Tables, Work

AT_ONCE = 4  # right-hand sides that are solved for together


@kernel
def _pack(rows, which, first, count, x):
    """Rows of a matrix side by side; columns of x beyond them are zeros."""
    for c in range(AT_ONCE):
        if c < count:
            row = rows[which[first + c]]
            for k in range(row.shape[0]):
                x[AT_ONCE * k + c] = row[k]
        else:
            for k in range(rows.shape[1]):
                x[AT_ONCE * k + c] = 0.0


@kernel
def _unpack(x, rows, which, first, count):
    for c in range(count):
        row = rows[which[first + c]]
        for k in range(row.shape[0]):
            row[k] = x[AT_ONCE * k + c]


@entry(Tables, Work, matrix, integers, integer, vector, vector)
def solve_rows(s, w, rows, which, count, block, front):
    """Solve with the factors in w, in place, for ``count`` of the rows of a matrix, those in ``which``.

    block and front have room for four numbers of each unknown.
    """
    first = 0
    while first < count:
        n = min(AT_ONCE, count - first)
        if n == 1 or s.flags[FLAG_TREE] == BY_RECURSION:
            for c in range(n):
                solve(s, w.matrix, w.pivots, w.dinv, rows[which[first + c]])
        else:
            _pack(rows, which, first, n, block)
            if s.flags[FLAG_DENSE] != 0:
                solve_dense_four(s.fronts, w.matrix, w.pivots, w.dinv, block)
            else:
                solve_tree_four(s.fronts, w.matrix, w.pivots, w.dinv, block, front)
            _unpack(block, rows, which, first, n)
        first += n
