"""Dense kernels on one small front: LU with row pivoting among the pivot rows.

A front is a row-major square of the flat array ``F`` that starts at ``o``, with row stride ``ld`` and ``w`` rows and
columns, the first ``n`` of which are eliminated. Two things make these loops fast: offsets are *unsigned* (for signed
ones the compiler has to test for negative indices, which stops vectorisation), and rows are worked on in chunks of four
with all loads before all stores, running into the three zero columns of padding instead of having a remainder.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mbd.compiled.kernel import kernel

U = np.uintp
ZERO, ONE, TWO, THREE, FOUR = U(0), U(1), U(2), U(3), U(4)
DIAGONAL = 4.0  # preference for the diagonal entry as pivot: fewer swaps, and a redundant row stays symmetric
REPLACEMENT = 1e-8  # size of a replaced pivot, relative to its scale
SMALLEST_RATIO, WEAKEST, REPLACED, THRESHOLD, FAILED = range(5)  # numbers of ``report``, see ``mbd.linalg.numeric``
MATH = {"contract", "nsz"}  # fused multiply-add; nothing that would lose a NaN


@kernel
def accept(pivot: float, scale: float, index: Any, report: Any) -> tuple[float, float]:
    """Judge a pivot against the size of the terms it is the sum of; returns it (or its replacement) and its inverse.

    What there is to say of it goes into ``report``.
    """
    size = abs(pivot)
    if not (size < np.inf):
        if report[SMALLEST_RATIO] == report[SMALLEST_RATIO]:
            report[WEAKEST] = index
        report[SMALLEST_RATIO] = np.nan
        report[FAILED] = 1.0
        return pivot, pivot
    if size == 0.0:
        ratio = 0.0
    elif scale > 0.0:
        ratio = size / scale
    else:
        ratio = 1.0  # nothing to compare with
    if ratio < report[SMALLEST_RATIO]:
        report[SMALLEST_RATIO] = ratio
        report[WEAKEST] = index
    if ratio < report[THRESHOLD]:
        report[REPLACED] += 1.0
        # Without any scale the row is empty: one is as good as anything, a tiny number would blow up silently.
        size = REPLACEMENT * scale if scale > 0.0 else 1.0
        pivot = size if pivot >= 0.0 else -size
    elif size == 0.0:
        report[FAILED] = 1.0
        return pivot, 0.0
    return pivot, 1.0 / pivot


@kernel(fastmath=MATH)
def search(F: Any, weights: Any, o: Any, k: Any, n: Any, ld: Any, x0: Any) -> tuple[Any, float]:
    """Row of the pivot of column k, and its size times the weight of the row."""
    a = o + k * (ld + ONE)
    q = k
    best = abs(F[a]) * weights[x0 + k] * DIAGONAL
    a += ld
    i = k + ONE
    while i < n:
        size = abs(F[a]) * weights[x0 + i]
        if size > best:
            best = size
            q = i
        a += ld
        i += ONE
    return q, best


@kernel(fastmath=MATH)
def settle(
    F: Any, pivots: Any, dinv: Any, weights: Any, report: Any, o: Any, k: Any, q: Any, best: float, w: Any, ld: Any,
    x0: Any,
) -> float:  # fmt: skip
    """Swap row q with the pivot row k, return the inverse of the pivot. ``dinv`` holds the scale until then."""
    row = o + k * ld
    if best < report[THRESHOLD] * dinv[x0 + k] * weights[x0 + q]:
        q = k  # an empty column: a swap would only take away the good pivot of another row
    pivots[x0 + k] = q
    if q != k:
        weights[x0 + k], weights[x0 + q] = weights[x0 + q], weights[x0 + k]
        a = row
        c = o + q * ld
        end = row + w
        while a < end:
            u0, u1, u2, u3 = F[a], F[a + ONE], F[a + TWO], F[a + THREE]
            v0, v1, v2, v3 = F[c], F[c + ONE], F[c + TWO], F[c + THREE]
            F[a], F[a + ONE], F[a + TWO], F[a + THREE] = v0, v1, v2, v3
            F[c], F[c + ONE], F[c + TWO], F[c + THREE] = u0, u1, u2, u3
            a += FOUR
            c += FOUR
    pivot, inverse = accept(F[row + k], dinv[x0 + k], x0 + k, report)
    F[row + k] = pivot
    dinv[x0 + k] = inverse
    return inverse


@kernel(fastmath=MATH)
def lu_rows(
    F: Any, pivots: Any, dinv: Any, weights: Any, report: Any, o: Any, n: Any, w: Any, ld: Any, x0: Any
) -> None:
    """LU of a small front, two pivots at a time: every other row is then loaded and stored half as often.

    The next pivot is searched for while its column is computed.
    """
    k = ZERO
    row = o
    if n == k:
        return
    q, best = search(F, weights, o, k, n, ld, x0)
    while k < n:
        inverse = settle(F, pivots, dinv, weights, report, o, k, q, best, w, ld, x0)
        j = k + ONE
        second = row + ld
        if j == n:  # an odd pivot is left: the same with an empty second one
            break
        # The first pivot acts on the next column only, so that the second pivot can be chosen.
        u = F[row + j]
        a = second + k
        f = F[a] * inverse
        F[a] = f
        t = F[a + ONE] - f * u
        F[a + ONE] = t
        raise_scale(dinv, x0 + j, f * u)
        q = j
        best = abs(t) * weights[x0 + j] * DIAGONAL
        i = j + ONE
        a += ld
        while i < n:
            f = F[a] * inverse
            F[a] = f
            t = F[a + ONE] - f * u
            F[a + ONE] = t
            raise_scale(dinv, x0 + i, f * F[row + i])
            size = abs(t) * weights[x0 + i]
            if size > best:
                best = size
                q = i
            a += ld
            i += ONE
        while i < w:
            f = F[a] * inverse
            F[a] = f
            F[a + ONE] -= f * u
            a += ld
            i += ONE
        inverse = settle(F, pivots, dinv, weights, report, o, j, q, best, w, ld, x0)
        k = j + ONE
        subtract(F, F[second + j - ONE], row + k, second + k, row + w)
        start = second + ld
        best = -1.0
        q = k
        i = k
        while i < w:
            h = F[start + j] * inverse
            F[start + j] = h
            f = F[start + j - ONE]
            if f != 0.0 or h != 0.0:
                c = row + k
                d = second + k
                a = start + k
                end = row + w
                while c < end:
                    u0, u1, u2, u3 = F[c], F[c + ONE], F[c + TWO], F[c + THREE]
                    s0, s1, s2, s3 = F[d], F[d + ONE], F[d + TWO], F[d + THREE]
                    v0, v1, v2, v3 = F[a], F[a + ONE], F[a + TWO], F[a + THREE]
                    F[a] = v0 - f * u0 - h * s0
                    F[a + ONE] = v1 - f * u1 - h * s1
                    F[a + TWO] = v2 - f * u2 - h * s2
                    F[a + THREE] = v3 - f * u3 - h * s3
                    c += FOUR
                    d += FOUR
                    a += FOUR
            if i < n:
                raise_scale(dinv, x0 + i, h * F[second + i])
                size = abs(F[start + k]) * weights[x0 + i]
                if i == k:
                    best = size * DIAGONAL
                elif size > best:
                    best = size
                    q = i
            start += ld
            i += ONE
        row = second + ld
    if k < n:
        start = row + ld
        end = o + w * ld
        while start < end:
            f = F[start + k] * inverse
            F[start + k] = f
            subtract(F, f, row + n, start + n, row + w)
            start += ld


@kernel(fastmath=MATH)
def ldl_rows(
    F: Any, pivots: Any, dinv: Any, report: Any, turning: Any, mass: float, moment: float, o: Any, n: Any, w: Any,
    ld: Any, x0: Any,
) -> None:  # fmt: skip
    """LDL^T of a small symmetric front without swaps, two pivots at a time; only the upper triangle is read.

    The factors are stored as those of ``lu_rows``. Pivots act no further than the last entry of their rows: a body and
    what is behind its joint have nothing to do with each other. Positive pivots, those of bodies, are compared with the
    largest ``mass`` or ``moment`` of inertia as well.
    """
    k = ZERO
    row = o
    while k < n:
        pivots[x0 + k] = k
        pivot = F[row + k]
        scale = max(dinv[x0 + k], moment if turning[x0 + k] == 1 else mass) if pivot > 0.0 else dinv[x0 + k]
        pivot, inverse = accept(pivot, scale, x0 + k, report)
        dinv[x0 + k] = inverse
        j = k + ONE
        end = w
        second = row + ld
        if j == n:
            while end > j and F[row + end - ONE] == 0.0:
                end -= ONE
            a = second
            i = j
            while i < w:
                f = F[row + i] * inverse
                F[a + k] = f
                if f != 0.0:
                    subtract(F, f, row + i, a + i, row + end)
                a += ld
                i += ONE
            return
        u = F[row + j]
        g = u * inverse
        F[second + k] = g
        raise_scale(dinv, x0 + j, g * u)
        if g != 0.0:
            subtract(F, g, row + j, second + j, row + w)
        pivots[x0 + j] = j
        pivot = F[second + j]
        scale = max(dinv[x0 + j], moment if turning[x0 + j] == 1 else mass) if pivot > 0.0 else dinv[x0 + j]
        pivot, other = accept(pivot, scale, x0 + j, report)
        dinv[x0 + j] = other
        i = j + ONE
        while end > i and F[row + end - ONE] == 0.0 and F[second + end - ONE] == 0.0:
            end -= ONE
        start = second + ld
        while i < w:
            u, s = F[row + i], F[second + i]
            f, h = u * inverse, s * other
            F[start + k] = f
            F[start + j] = h
            if f != 0.0 or h != 0.0:
                c = row + i
                d = second + i
                a = start + i
                last = row + end
                while c < last:
                    u0, u1, u2, u3 = F[c], F[c + ONE], F[c + TWO], F[c + THREE]
                    s0, s1, s2, s3 = F[d], F[d + ONE], F[d + TWO], F[d + THREE]
                    v0, v1, v2, v3 = F[a], F[a + ONE], F[a + TWO], F[a + THREE]
                    F[a] = v0 - f * u0 - h * s0
                    F[a + ONE] = v1 - f * u1 - h * s1
                    F[a + TWO] = v2 - f * u2 - h * s2
                    F[a + THREE] = v3 - f * u3 - h * s3
                    c += FOUR
                    d += FOUR
                    a += FOUR
                if i < n:
                    raise_scale(dinv, x0 + i, max(abs(f * u), abs(h * s)))
            start += ld
            i += ONE
        k = j + ONE
        row = second + ld


@kernel(fastmath=MATH)
def raise_scale(dinv: Any, k: Any, term: float) -> None:
    """The scale of a pivot is at least the size of every term of its sum."""
    t = abs(term)
    s = dinv[k]
    dinv[k] = t if t > s else s


@kernel(fastmath=MATH)
def subtract(F: Any, f: float, c: Any, a: Any, end: Any) -> None:
    """F[a:] -= f F[c:end], in chunks."""
    while c < end:
        u0, u1, u2, u3 = F[c], F[c + ONE], F[c + TWO], F[c + THREE]
        v0, v1, v2, v3 = F[a], F[a + ONE], F[a + TWO], F[a + THREE]
        F[a] = v0 - f * u0
        F[a + ONE] = v1 - f * u1
        F[a + TWO] = v2 - f * u2
        F[a + THREE] = v3 - f * u3
        c += FOUR
        a += FOUR


@kernel(fastmath=MATH)
def dot(F: Any, a: Any, x: Any, b: Any, count: Any) -> float:
    """Scalar product of ``count`` numbers of F from a and of x from b."""
    s0 = s1 = s2 = s3 = 0.0
    while count >= FOUR:
        s0 += F[a] * x[b]
        s1 += F[a + ONE] * x[b + ONE]
        s2 += F[a + TWO] * x[b + TWO]
        s3 += F[a + THREE] * x[b + THREE]
        a += FOUR
        b += FOUR
        count -= FOUR
    while count > ZERO:
        s0 += F[a] * x[b]
        a += ONE
        b += ONE
        count -= ONE
    return (s0 + s1) + (s2 + s3)
