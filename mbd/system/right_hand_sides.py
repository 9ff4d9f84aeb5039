"""The linear equations of a system for four right-hand sides at once, with one factorisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..compiled.entry import entry
from ..compiled.fours import AT_ONCE, flat
from ..compiled.kernel import kernel
from ..compiled.kinds import fours, fours_matrix, integer, vector
from ..compiled.record import Record
from ..linalg.four import solve_dense_four, solve_tree_four
from .matrix import solve
from .tables import BY_RECURSION, FLAG_DENSE, FLAG_TREE, Tables, Work
from .tree_matrix import solve_four_along_tree

if TYPE_CHECKING:
    from .system import System


class Sides(Record):
    """Buffers of ``solve_four``."""

    front = vector  # four numbers of each unknown
    row = vector  # one right-hand side
    wrenches = fours_matrix  # of the nodes of a tree
    jets = fours_matrix


def new_sides(system: System) -> Sides:
    """Buffers for the equations of a system."""
    rows, nodes = len(system.work.x), len(system.tables.nodes)
    n = nodes if system.tables.flags[FLAG_TREE] == BY_RECURSION else 0
    return Sides.zeros({"front": AT_ONCE * rows, "row": rows, "wrenches": (n, 6), "jets": (n, 18)})


@kernel
def _solve_one(s, w, b, x):
    """The first of the four alone."""
    for k in range(b.row.shape[0]):
        b.row[k] = x[AT_ONCE * k]
    solve(s, w.matrix, w.pivots, w.dinv, b.row)
    for k in range(b.row.shape[0]):
        x[AT_ONCE * k] = b.row[k]


@entry(Tables, Work, Sides, fours, integer)
def solve_four(s, w, b, x, count):
    """Solve with the factors in w, in place; right-hand sides beyond the first ``count`` are zeros, and stay so."""
    if count == 1:
        _solve_one(s, w, b, flat(x))
    elif s.flags[FLAG_TREE] == BY_RECURSION:
        solve_four_along_tree(s, w.matrix, x, b.wrenches, b.jets)
    elif s.flags[FLAG_DENSE] != 0:
        solve_dense_four(s.fronts, w.matrix, w.pivots, w.dinv, flat(x))
    else:
        solve_tree_four(s.fronts, w.matrix, w.pivots, w.dinv, flat(x), b.front)
