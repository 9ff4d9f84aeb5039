"""Solution with the factors of ``mbd.linalg.numeric`` for four right-hand sides at once.

The time of a solution is that of reading the factors; four numbers per unknown, side by side, share one reading and
fill a vector register. ``x`` has the four numbers of unknown k at 4 k.
"""

from __future__ import annotations

from typing import Any

from mbd.compiled.kernel import kernel
from mbd.linalg.front import FOUR, MATH, ONE, THREE, TWO, ZERO, U
from mbd.linalg.symbolic import FIRST, OFFSET, PIVOTS, ROW_START, ROWS, STRIDE, Fronts


@kernel
def swap_four(pivots: Any, x: Any, n: Any, x0: Any) -> None:
    """x = P x for the pivots of one front."""
    k = ZERO
    while k < n:
        p = U(pivots[x0 + k])
        if p != k:
            a, b = FOUR * (x0 + k), FOUR * (x0 + p)
            t0, t1, t2, t3 = x[a], x[a + ONE], x[a + TWO], x[a + THREE]
            x[a], x[a + ONE], x[a + TWO], x[a + THREE] = x[b], x[b + ONE], x[b + TWO], x[b + THREE]
            x[b], x[b + ONE], x[b + TWO], x[b + THREE] = t0, t1, t2, t3
        k += ONE


@kernel(fastmath=MATH)
def subtract_product(F: Any, a: Any, count: Any, source: Any, b: Any, x: Any, i: Any) -> None:
    """The four numbers of x from i, less the ``count`` numbers of F from a times the rows of four of source from b."""
    t0, t1, t2, t3 = x[i], x[i + ONE], x[i + TWO], x[i + THREE]
    end = a + count
    while a < end:
        f = F[a]
        t0 -= f * source[b]
        t1 -= f * source[b + ONE]
        t2 -= f * source[b + TWO]
        t3 -= f * source[b + THREE]
        a += ONE
        b += FOUR
    x[i], x[i + ONE], x[i + TWO], x[i + THREE] = t0, t1, t2, t3


@kernel(fastmath=MATH)
def forward_four(F: Any, x: Any, o: Any, n: Any, ld: Any, x0: Any) -> None:
    """x = L^-1 x for the pivots of one front."""
    row = o + ld
    k = ONE
    while k < n:
        subtract_product(F, row, k, x, FOUR * x0, x, FOUR * (x0 + k))
        row += ld
        k += ONE


@kernel(fastmath=MATH)
def backward_four(F: Any, dinv: Any, x: Any, o: Any, n: Any, ld: Any, x0: Any) -> None:
    """x = U^-1 x for the pivots of one front."""
    k = n
    while k > ZERO:
        k -= ONE
        i = FOUR * (x0 + k)
        subtract_product(F, o + k * ld + k + ONE, n - k - ONE, x, i + FOUR, x, i)
        d = dinv[x0 + k]
        x[i] *= d
        x[i + ONE] *= d
        x[i + TWO] *= d
        x[i + THREE] *= d


@kernel(fastmath=MATH)
def solve_dense_four(fr: Fronts, F: Any, pivots: Any, dinv: Any, x: Any) -> None:
    """Solution in place of a system that is one small front."""
    n, ld = U(fr.table[0, PIVOTS]), U(fr.table[0, STRIDE])
    swap_four(pivots, x, n, ZERO)
    forward_four(F, x, ZERO, n, ld, ZERO)
    backward_four(F, dinv, x, ZERO, n, ld, ZERO)


@kernel(fastmath=MATH)
def solve_tree_four(fr: Fronts, F: Any, pivots: Any, dinv: Any, x: Any, work: Any) -> None:
    """Solution in place with the factors of all fronts; work has four numbers for each row of the largest front."""
    count = fr.table.shape[0]
    for s in range(count):
        t = fr.table[s]
        n, m, ld, o, x0 = U(t[PIVOTS]), U(t[ROWS]), U(t[STRIDE]), U(t[OFFSET]), U(t[FIRST])
        swap_four(pivots, x, n, x0)
        forward_four(F, x, o, n, ld, x0)
        row = o + n * ld
        i = U(t[ROW_START])
        end = i + m
        while i < end:
            subtract_product(F, row, n, x, FOUR * x0, x, FOUR * U(fr.row_index[i]))
            row += ld
            i += ONE
    for s in range(count - 1, -1, -1):
        t = fr.table[s]
        n, m, ld, o, x0 = U(t[PIVOTS]), U(t[ROWS]), U(t[STRIDE]), U(t[OFFSET]), U(t[FIRST])
        r0 = U(t[ROW_START])
        i = ZERO
        while i < m:
            a, b = FOUR * i, FOUR * U(fr.row_index[r0 + i])
            work[a], work[a + ONE], work[a + TWO], work[a + THREE] = x[b], x[b + ONE], x[b + TWO], x[b + THREE]
            i += ONE
        k = n
        while k > ZERO:
            k -= ONE
            i = FOUR * (x0 + k)
            row = o + k * ld
            subtract_product(F, row + n, m, work, ZERO, x, i)
            subtract_product(F, row + k + ONE, n - k - ONE, x, i + FOUR, x, i)
            d = dinv[x0 + k]
            x[i] *= d
            x[i + ONE] *= d
            x[i + TWO] *= d
            x[i + THREE] *= d
