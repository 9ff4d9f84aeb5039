"""Numeric phase of the block solver: factorization, solution and multiplication, all compiled, nothing allocated.

The vectors are in permuted order (``Layout.position``). ``F`` holds the sum of all element blocks and is overwritten by
its factors; set all of it to zero before the next assembly, because fill and padding rely on that. A small system,
stored as one front, has its own short entry points (``factor_dense``, ``solve_dense``), so that it neither runs nor
compiles the code that walks the tree of fronts.

``report`` is a float64 array of five numbers: the smallest pivot ratio (SMALLEST_RATIO), the permuted index where it
occurred (WEAKEST), the number of pivots with a ratio below the THRESHOLD, which the caller sets (0 = off) and below
which pivots are replaced (REPLACED), and one if a pivot was zero or not finite (FAILED). The ratio compares a pivot
with the terms of which it is the sum and so shows cancellation; ``scale`` adds what the caller knows about the size of
these terms (zeros if nothing). ``weights`` of rows make their entries comparable where a pivot is chosen among them:
equations of motion and constraints have different units. They are swapped with the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mbd.compiled.kernel import kernel
from mbd.linalg.blocked import lu_blocked
from mbd.linalg.front import (
    FAILED,
    FOUR,
    MATH,
    ONE,
    REPLACED,
    SMALLEST_RATIO,
    THREE,
    TWO,
    WEAKEST,
    ZERO,
    U,
    dot,
    ldl_rows,
    lu_rows,
)
from mbd.linalg.symbolic import (
    CHILD_END,
    CHILD_START,
    DENSE_MAX,
    FIRST,
    OFFSET,
    PIVOTS,
    ROW_START,
    ROWS,
    RUN_IN_PARENT,
    STRIDE,
    Fronts,
)

SMALL = U(DENSE_MAX)  # up to this size the kernel that takes pivot by pivot is the fastest


@kernel
def reset(report: Any) -> None:
    """Prepare ``report`` for a factorization; the threshold is the caller's."""
    report[SMALLEST_RATIO] = np.inf
    report[WEAKEST] = -1.0
    report[REPLACED] = 0.0
    report[FAILED] = 0.0


@kernel
def start_scale(F: Any, dinv: Any, scale: Any, o: Any, n: Any, ld: Any, x0: Any) -> None:
    """Scale of each pivot before anything is added to the assembled diagonal; kept in ``dinv`` until it is used."""
    a = o
    k = x0
    end = x0 + n
    while k < end:
        size = abs(F[a])
        dinv[k] = size if size > scale[k] else scale[k]
        a += ld + ONE
        k += ONE


@kernel
def joint_scale(
    own: Any, diagonal: Any, begins: Any, row: Any, place: Any, body: Any, F: Any, largest: Any, scale: Any
) -> None:
    """A-priori size of the pivots of joints (``mbd.linalg.solver``); of the layout its ``diagonal_entries`` and
    ``joint_entries``, ``largest`` is scratch with a number per vertex."""
    for k in range(own.shape[0]):
        end = begins[k + 1] if k + 1 < own.shape[0] else diagonal.shape[0]
        top = 0.0
        for i in range(begins[k], end):
            size = abs(F[diagonal[i]])
            if size > top or size != size:  # what is no number stays
                top = size
        largest[own[k]] = top
    for k in range(scale.shape[0]):
        scale[k] = 0.0
    for k in range(row.shape[0]):
        size = largest[body[k]]
        if size > 0.0:
            scale[row[k]] += F[place[k]] * F[place[k]] / size


@kernel
def factor_dense(fr: Fronts, F: Any, pivots: Any, dinv: Any, weights: Any, scale: Any, report: Any, x: Any) -> None:
    """LU in place of a system that is one small front; x, if it is not empty, is eliminated on the way."""
    reset(report)
    n, ld = U(fr.table[0, PIVOTS]), U(fr.table[0, STRIDE])
    start_scale(F, dinv, scale, ZERO, n, ld, ZERO)
    lu_rows(F, pivots, dinv, weights, report, ZERO, n, n, ld, ZERO)
    if x.shape[0] > 0:
        swap(pivots, x, n, ZERO)
        forward(F, x, ZERO, n, ld, ZERO)


@kernel
def solve_dense(fr: Fronts, F: Any, pivots: Any, dinv: Any, x: Any, eliminated: Any) -> None:
    """Solution in place of a system that is one small front; x may have been eliminated by the factorisation."""
    n, ld = U(fr.table[0, PIVOTS]), U(fr.table[0, STRIDE])
    if eliminated == 0:
        swap(pivots, x, n, ZERO)
        forward(F, x, ZERO, n, ld, ZERO)
    backward(F, dinv, x, ZERO, n, ld, ZERO)


@kernel
def factor_tree(fr: Fronts, F: Any, pivots: Any, dinv: Any, weights: Any, scale: Any, report: Any, x: Any) -> None:
    """LU in place of all fronts, children before parents.

    x, if it is not empty, is eliminated on the way, while the factors of a front are in the cache: for large systems
    the time of a solution is that of reading the factors.
    """
    reset(report)
    eliminated = x.shape[0] > 0
    for s in range(fr.table.shape[0]):
        t = fr.table[s]
        n, m, ld, o, x0 = U(t[PIVOTS]), U(t[ROWS]), U(t[STRIDE]), U(t[OFFSET]), U(t[FIRST])
        start_scale(F, dinv, scale, o, n, ld, x0)
        for k in range(t[CHILD_START], t[CHILD_END]):
            add_child(fr.table[fr.children[k]], fr.row_map, F, dinv, o, n, ld, x0)
        if n + m <= SMALL:
            lu_rows(F, pivots, dinv, weights, report, o, n, n + m, ld, x0)
        else:
            lu_blocked(F, pivots, dinv, weights, report, o, n, n + m, ld, x0)
        if eliminated:
            eliminate(fr, F, pivots, x, t)


@kernel
def sign_of_determinant(fr: Fronts, pivots: Any, dinv: Any) -> int:
    """Sign of the determinant of what ``factor_dense`` or ``factor_tree`` has factorised: of pivots and swaps."""
    sign = 1
    for s in range(fr.table.shape[0]):
        n, x0 = fr.table[s, PIVOTS], fr.table[s, FIRST]
        for k in range(n):
            if (dinv[x0 + k] < 0.0) != (pivots[x0 + k] != k):
                sign = -sign
    return sign


@kernel
def factor_definite(fr: Fronts, F: Any, pivots: Any, dinv: Any, scale: Any, report: Any, x: Any, turning: Any) -> None:
    """LDL^T in place of fronts that are small and symmetric, of which the upper triangle is enough; no swaps.

    For matrices [M B^T; B 0] with a definite M whose fronts have bodies before their joints: pivots are positive for
    bodies, negative for joints [Vanderbei 1995, SIAM J. Optim. 5, 100]. The factors are stored as those of an LU, for
    the same solution; x, if it is not empty, is eliminated on the way. ``report`` tells whether the matrix is so: a
    body with less inertia in a direction than the round-off of what it carries has a tiny pivot, or one of the wrong
    sign. Masses are compared with masses and moments of inertia with such (``turning`` is one for these, and zero for
    masses and multipliers): what has other units says nothing about them, and swaps are not what other units ask for.
    """
    reset(report)
    eliminated = x.shape[0] > 0
    for s in range(fr.table.shape[0]):
        t = fr.table[s]
        n, m, ld, o, x0 = U(t[PIVOTS]), U(t[ROWS]), U(t[STRIDE]), U(t[OFFSET]), U(t[FIRST])
        start_scale(F, dinv, scale, o, n, ld, x0)
        for k in range(t[CHILD_START], t[CHILD_END]):
            add_child(fr.table[fr.children[k]], fr.row_map, F, dinv, o, n, ld, x0)
        mass, moment = largest_inertias(F, turning, o, n, ld, x0)
        ldl_rows(F, pivots, dinv, report, turning, mass, moment, o, n, n + m, ld, x0)
        if eliminated:
            eliminate_rows(fr, F, x, t)


@kernel
def largest_inertias(F: Any, turning: Any, o: Any, n: Any, ld: Any, x0: Any) -> tuple[float, float]:
    """The largest mass and the largest moment of inertia on the diagonal of a front, with all that it carries."""
    mass = moment = 0.0
    a = o
    k = x0
    end = x0 + n
    while k < end:
        if turning[k] == 1:
            moment = max(moment, F[a])
        else:
            mass = max(mass, F[a])  # the diagonal of multipliers is zero, or negative
        a += ld + ONE
        k += ONE
    return mass, moment


@kernel
def add_child(t: Any, row_map: Any, F: Any, dinv: Any, o: Any, n: Any, ld: Any, x0: Any) -> None:
    """Add the Schur complement of the child with table row ``t`` into the front at ``o``."""
    m, step, r0 = U(t[ROWS]), U(t[STRIDE]), U(t[ROW_START])
    source = U(t[OFFSET]) + U(t[PIVOTS]) * (step + ONE)
    run = t[RUN_IN_PARENT] == 1
    i = ZERO
    while i < m:
        r = row_map[r0 + i]
        if r < n:
            size = abs(F[source + i])
            if size > dinv[x0 + r]:
                dinv[x0 + r] = size
        target = o + r * ld
        if run:
            a = target + row_map[r0]
            c = source
            end = source + m
            while c < end:  # adds zeros from the padding behind the last column
                u0, u1, u2, u3 = F[c], F[c + ONE], F[c + TWO], F[c + THREE]
                v0, v1, v2, v3 = F[a], F[a + ONE], F[a + TWO], F[a + THREE]
                F[a] = v0 + u0
                F[a + ONE] = v1 + u1
                F[a + TWO] = v2 + u2
                F[a + THREE] = v3 + u3
                c += FOUR
                a += FOUR
        else:
            j = ZERO
            while j < m:
                F[target + row_map[r0 + j]] += F[source + j]
                j += ONE
        source += step
        i += ONE


@kernel
def swap(pivots: Any, x: Any, n: Any, x0: Any) -> None:
    """x = P x for the pivots of one front."""
    k = ZERO
    while k < n:
        p = x0 + U(pivots[x0 + k])
        t = x[p]
        x[p] = x[x0 + k]
        x[x0 + k] = t
        k += ONE


@kernel(fastmath=MATH)
def forward(F: Any, x: Any, o: Any, n: Any, ld: Any, x0: Any) -> None:
    """x = L^-1 x for the pivots of one front, four unknowns at a time: all later rows then work independently."""
    k = ZERO
    end = x0 + n
    while k + FOUR <= n:
        a = o + k * ld + k
        i = x0 + k
        t0 = x[i]
        a += ld
        t1 = x[i + ONE] - F[a] * t0
        a += ld
        t2 = x[i + TWO] - F[a] * t0 - F[a + ONE] * t1
        a += ld
        t3 = x[i + THREE] - F[a] * t0 - F[a + ONE] * t1 - F[a + TWO] * t2
        x[i + ONE] = t1
        x[i + TWO] = t2
        x[i + THREE] = t3
        i += FOUR
        a += ld
        while i < end:
            x[i] -= (F[a] * t0 + F[a + ONE] * t1) + (F[a + TWO] * t2 + F[a + THREE] * t3)
            a += ld
            i += ONE
        k += FOUR
    while k < n:
        t0 = x[x0 + k]
        i = x0 + k + ONE
        a = o + (k + ONE) * ld + k
        while i < end:
            x[i] -= F[a] * t0
            a += ld
            i += ONE
        k += ONE


@kernel(fastmath=MATH)
def backward(F: Any, dinv: Any, x: Any, o: Any, n: Any, ld: Any, x0: Any) -> None:
    """x = U^-1 x for the pivots of one front."""
    k = n
    while k & THREE:
        k -= ONE
        t0 = x[x0 + k] * dinv[x0 + k]
        x[x0 + k] = t0
        a = o + k
        i = x0
        end = x0 + k
        while i < end:
            x[i] -= F[a] * t0
            a += ld
            i += ONE
    while k > ZERO:
        k -= FOUR
        i = x0 + k
        a = o + k * ld + k
        c = a + ld
        d = c + ld
        t3 = x[i + THREE] * dinv[i + THREE]
        t2 = (x[i + TWO] - F[d + THREE] * t3) * dinv[i + TWO]
        t1 = (x[i + ONE] - F[c + THREE] * t3 - F[c + TWO] * t2) * dinv[i + ONE]
        t0 = (x[i] - F[a + THREE] * t3 - F[a + TWO] * t2 - F[a + ONE] * t1) * dinv[i]
        x[i] = t0
        x[i + ONE] = t1
        x[i + TWO] = t2
        x[i + THREE] = t3
        a = o + k
        end = i
        i = x0
        while i < end:
            x[i] -= (F[a] * t0 + F[a + ONE] * t1) + (F[a + TWO] * t2 + F[a + THREE] * t3)
            a += ld
            i += ONE


@kernel(fastmath=MATH)
def eliminate(fr: Fronts, F: Any, pivots: Any, x: Any, t: Any) -> None:
    """Forward elimination with the factors of the front with table row ``t``."""
    swap(pivots, x, U(t[PIVOTS]), U(t[FIRST]))
    eliminate_rows(fr, F, x, t)


@kernel(fastmath=MATH)
def eliminate_rows(fr: Fronts, F: Any, x: Any, t: Any) -> None:
    """``eliminate`` for a front whose rows were not swapped."""
    n, m, ld, o, x0 = U(t[PIVOTS]), U(t[ROWS]), U(t[STRIDE]), U(t[OFFSET]), U(t[FIRST])
    forward(F, x, o, n, ld, x0)
    row = o + n * ld
    i = U(t[ROW_START])
    end = i + m
    while i < end:
        x[fr.row_index[i]] -= dot(F, row, x, x0, n)
        row += ld
        i += ONE


@kernel(fastmath=MATH)
def solve_tree(fr: Fronts, F: Any, pivots: Any, dinv: Any, x: Any, eliminated: Any) -> None:
    """Solution in place with the factors of all fronts; x may have been eliminated by the factorisation."""
    count = fr.table.shape[0]
    if eliminated == 0:
        for s in range(count):
            eliminate(fr, F, pivots, x, fr.table[s])
    for s in range(count - 1, -1, -1):
        t = fr.table[s]
        n, m, ld, o, x0 = U(t[PIVOTS]), U(t[ROWS]), U(t[STRIDE]), U(t[OFFSET]), U(t[FIRST])
        r0 = U(t[ROW_START])
        i = ZERO
        while i < m:
            fr.work[i] = x[fr.row_index[r0 + i]]
            i += ONE
        row = o + n * (ld + ONE)
        i = x0 + n
        while i > x0:  # upwards, as the fronts are visited: one descending stream through the memory
            row -= ld
            i -= ONE
            x[i] -= dot(F, row, fr.work, ZERO, m)
        backward(F, dinv, x, o, n, ld, x0)


@kernel(fastmath=MATH)
def multiply(fr: Fronts, F: Any, x: Any, y: Any) -> None:
    """y = A x with the assembled, not factored F."""
    y[:] = 0.0
    for s in range(fr.table.shape[0]):
        t = fr.table[s]
        n, m, ld, o, x0 = U(t[PIVOTS]), U(t[ROWS]), U(t[STRIDE]), U(t[OFFSET]), U(t[FIRST])
        r0 = U(t[ROW_START])
        i = ZERO
        while i < m:  # rows below the pivots: only their pivot columns hold something
            r = fr.row_index[r0 + i]
            fr.work[i] = x[r]
            y[r] += dot(F, o + (n + i) * ld, x, x0, n)
            i += ONE
        i = ZERO
        while i < n:
            row = o + i * ld
            y[x0 + i] += dot(F, row, x, x0, n) + dot(F, row + n, fr.work, ZERO, m)
            i += ONE
