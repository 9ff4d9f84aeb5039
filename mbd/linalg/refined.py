"""Solutions that are refined against the assembled matrix, in one compiled call."""

from __future__ import annotations

from typing import Any

from mbd.compiled.kernel import kernel
from mbd.compiled.kinds import integer, integers, vector
from mbd.linalg.numeric import multiply, solve_dense, solve_tree
from mbd.linalg.symbolic import Fronts


@kernel
def solve_with(fr: Any, dense: Any, factors: Any, pivots: Any, dinv: Any, x: Any) -> None:
    """x := A^-1 x with the factors of A, one small front or many."""
    if dense:
        solve_dense(fr, factors, pivots, dinv, x, 0)
    else:
        solve_tree(fr, factors, pivots, dinv, x, 0)


@kernel(kinds=(Fronts, integer, vector, vector, integers, vector, integer, vector, vector, vector))
def refined_solution(
    fr: Any, dense: Any, F: Any, factors: Any, pivots: Any, dinv: Any, steps: Any, b: Any, rest: Any, x: Any
) -> None:
    """x = A^-1 b with factors that are about those of A, and so many corrections; rest is scratch."""
    for k in range(b.shape[0]):
        x[k] = b[k]
    solve_with(fr, dense, factors, pivots, dinv, x)
    for _ in range(steps):
        multiply(fr, F, x, rest)
        for k in range(b.shape[0]):
            rest[k] = b[k] - rest[k]
        solve_with(fr, dense, factors, pivots, dinv, rest)
        for k in range(b.shape[0]):
            x[k] += rest[k]
