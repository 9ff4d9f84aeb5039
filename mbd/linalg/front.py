"""Dense kernels on one front: LU with row pivoting among the pivot rows, and triangular solves.

A front is a row-major square of the flat array ``F`` that starts at ``o``, with row stride ``ld`` and ``w`` rows and
columns, the first ``n`` of which are eliminated. Two things make these loops fast: offsets are *unsigned* (for signed
ones the compiler has to test for negative indices, which stops vectorisation), and rows are worked on in chunks of four
with all loads before all stores, running into the three zero columns of padding instead of having a remainder.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mbd.kernel import kernel

U = np.uintp
ZERO, ONE, TWO, THREE, FOUR = U(0), U(1), U(2), U(3), U(4)
PANEL = U(16)
UNBLOCKED = U(40)  # the row-by-row kernel is the faster one up to here
TILED = U(8)  # from this number of pivots and of further rows the Schur complement is worth tiling
DIAGONAL = 4.0  # preference for the diagonal entry as pivot: fewer swaps, and a redundant row stays symmetric
REPLACEMENT = 1e-8  # size of a replaced pivot, relative to its scale
MATH = {"contract", "nsz"}  # fused multiply-add; nothing that would lose a NaN


@kernel
def accept(pivot: float, scale: float, index: Any, info: Any) -> tuple[float, float]:
    """Judge a pivot against the size of the terms it is the sum of; returns it (or its replacement) and its inverse.

    info: 0 smallest ratio, 1 its index, 2 number of pivots below the threshold, 3 threshold, 4 failure.
    """
    size = abs(pivot)
    if not (size < np.inf):
        if info[0] == info[0]:
            info[1] = index
        info[0] = np.nan
        info[4] = 1.0
        return pivot, pivot
    if size == 0.0:
        ratio = 0.0
    elif scale > 0.0:
        ratio = size / scale
    else:
        ratio = 1.0  # nothing to compare with
    if ratio < info[0]:
        info[0] = ratio
        info[1] = index
    if ratio < info[3]:
        info[2] += 1.0
        # Without any scale the row is empty: one is as good as anything, a tiny number would blow up silently.
        size = REPLACEMENT * scale if scale > 0.0 else 1.0
        pivot = size if pivot >= 0.0 else -size
    elif size == 0.0:
        info[4] = 1.0
        return pivot, 0.0
    return pivot, 1.0 / pivot


@kernel(fastmath=MATH)
def choose(F: Any, pivots: Any, dinv: Any, info: Any, o: Any, k: Any, n: Any, w: Any, ld: Any, x0: Any) -> float:
    """Find the pivot of column k, swap it into place, return its inverse. ``dinv`` holds the scale until then."""
    row = o + k * ld
    p = row
    q = k
    best = abs(F[row + k]) * DIAGONAL
    a = row + ld
    i = k + ONE
    while i < n:
        size = abs(F[a + k])
        if size > best:
            best = size
            p = a
            q = i
        a += ld
        i += ONE
    if best < info[3] * dinv[x0 + k]:
        p, q = row, k  # an empty column: a swap would only take away the good pivot of another row
    pivots[x0 + k] = q
    if p != row:
        j = ZERO
        while j < w:
            a = row + j
            c = p + j
            u0, u1, u2, u3 = F[a], F[a + ONE], F[a + TWO], F[a + THREE]
            v0, v1, v2, v3 = F[c], F[c + ONE], F[c + TWO], F[c + THREE]
            F[a] = v0
            F[a + ONE] = v1
            F[a + TWO] = v2
            F[a + THREE] = v3
            F[c] = u0
            F[c + ONE] = u1
            F[c + TWO] = u2
            F[c + THREE] = u3
            j += FOUR
    pivot, inverse = accept(F[row + k], dinv[x0 + k], x0 + k, info)
    F[row + k] = pivot
    dinv[x0 + k] = inverse
    return inverse


@kernel(fastmath=MATH)
def lu_rows(F: Any, pivots: Any, dinv: Any, info: Any, o: Any, n: Any, w: Any, ld: Any, x0: Any) -> None:
    """LU of a small front, two pivots at a time: every other row is then loaded and stored half as often."""
    k = ZERO
    row = o
    while k + ONE < n:
        inverse = choose(F, pivots, dinv, info, o, k, n, w, ld, x0)
        # The first pivot acts on the next column only, so that the second pivot can be chosen.
        j = k + ONE
        u = F[row + j]
        a = row + ld + k
        i = j
        while i < w:
            l = F[a] * inverse
            F[a] = l
            F[a + ONE] -= l * u
            a += ld
            i += ONE
        i = j
        a = row + ld + k
        while i < n:
            t = abs(F[a] * F[row + i])
            if t > dinv[x0 + i]:
                dinv[x0 + i] = t
            a += ld
            i += ONE
        inverse = choose(F, pivots, dinv, info, o, j, n, w, ld, x0)
        second = row + ld
        l = F[second + k]
        c = row + j + ONE
        a = second + j + ONE
        end = row + w
        while c < end:
            u0, u1, u2, u3 = F[c], F[c + ONE], F[c + TWO], F[c + THREE]
            v0, v1, v2, v3 = F[a], F[a + ONE], F[a + TWO], F[a + THREE]
            F[a] = v0 - l * u0
            F[a + ONE] = v1 - l * u1
            F[a + TWO] = v2 - l * u2
            F[a + THREE] = v3 - l * u3
            c += FOUR
            a += FOUR
        start = second + ld
        i = j + ONE
        while i < w:
            h = F[start + j] * inverse
            F[start + j] = h
            l = F[start + k]
            if i < n:
                t = abs(h * F[second + i])
                if t > dinv[x0 + i]:
                    dinv[x0 + i] = t
            if l != 0.0 or h != 0.0:
                c = row + j + ONE
                d = second + j + ONE
                a = start + j + ONE
                while c < end:
                    u0, u1, u2, u3 = F[c], F[c + ONE], F[c + TWO], F[c + THREE]
                    s0, s1, s2, s3 = F[d], F[d + ONE], F[d + TWO], F[d + THREE]
                    v0, v1, v2, v3 = F[a], F[a + ONE], F[a + TWO], F[a + THREE]
                    F[a] = v0 - l * u0 - h * s0
                    F[a + ONE] = v1 - l * u1 - h * s1
                    F[a + TWO] = v2 - l * u2 - h * s2
                    F[a + THREE] = v3 - l * u3 - h * s3
                    c += FOUR
                    d += FOUR
                    a += FOUR
            start += ld
            i += ONE
        k += TWO
        row = second + ld
    if k < n:
        inverse = choose(F, pivots, dinv, info, o, k, n, w, ld, x0)
        i = k + ONE
        start = row + ld
        end = row + w
        while i < w:
            l = F[start + k] * inverse
            F[start + k] = l
            c = row + k + ONE
            a = start + k + ONE
            while c < end:
                u0, u1, u2, u3 = F[c], F[c + ONE], F[c + TWO], F[c + THREE]
                v0, v1, v2, v3 = F[a], F[a + ONE], F[a + TWO], F[a + THREE]
                F[a] = v0 - l * u0
                F[a + ONE] = v1 - l * u1
                F[a + TWO] = v2 - l * u2
                F[a + THREE] = v3 - l * u3
                c += FOUR
                a += FOUR
            start += ld
            i += ONE


@kernel(fastmath=MATH)
def lu_blocked(F: Any, pivots: Any, dinv: Any, info: Any, o: Any, n: Any, w: Any, ld: Any, x0: Any) -> None:
    """LU of a larger front: panels of columns, then a tiled update of everything to the right of the panel."""
    k0 = ZERO
    while k0 < n:
        k1 = min(k0 + PANEL, n)
        k = k0
        while k < k1:
            inverse = choose(F, pivots, dinv, info, o, k, n, w, ld, x0)
            row = o + k * ld
            i = k + ONE
            while i < w:
                a = o + i * ld
                l = F[a + k] * inverse
                if l != 0.0:
                    F[a + k] = l
                    if i < n and i >= k1:
                        pass
                    elif i < k1:
                        t = abs(l * F[row + i])
                        if t > dinv[x0 + i]:
                            dinv[x0 + i] = t
                    j = k + ONE
                    while j + FOUR <= k1:  # no padding behind a panel
                        c = row + j
                        d = a + j
                        u0, u1, u2, u3 = F[c], F[c + ONE], F[c + TWO], F[c + THREE]
                        v0, v1, v2, v3 = F[d], F[d + ONE], F[d + TWO], F[d + THREE]
                        F[d] = v0 - l * u0
                        F[d + ONE] = v1 - l * u1
                        F[d + TWO] = v2 - l * u2
                        F[d + THREE] = v3 - l * u3
                        j += FOUR
                    while j < k1:
                        F[a + j] -= l * F[row + j]
                        j += ONE
                i += ONE
            k += ONE
        # Rows of the panel, right of it: one row at a time is a tile of height one with a growing number of pivots.
        i = k0 + ONE
        while i < k1:
            tile_row(F, o, ld, i, k0, i, k1, w)
            i += ONE
        i = k1
        while i < n:  # scale of the diagonal entries that are updated below
            k = k0
            t = dinv[x0 + i]
            while k < k1:
                t = max(t, abs(F[o + i * ld + k] * F[o + k * ld + i]))
                k += ONE
            dinv[x0 + i] = t
            i += ONE
        i = k1
        while i + FOUR <= w:
            tile_four(F, o, ld, i, k0, k1, k1, w)
            i += FOUR
        while i < w:
            tile_row(F, o, ld, i, k0, k1, k1, w)
            i += ONE
        k0 = k1


@kernel(fastmath=MATH)
def tile_row(F: Any, o: Any, ld: Any, i: Any, k0: Any, k1: Any, j: Any, w: Any) -> None:
    """F[i, j:w] -= F[i, k0:k1] F[k0:k1, j:w]."""
    left = o + i * ld
    while j < w:
        a = left + j
        v0, v1, v2, v3 = F[a], F[a + ONE], F[a + TWO], F[a + THREE]
        c = o + k0 * ld + j
        k = left + k0
        end = left + k1
        while k < end:
            l = F[k]
            v0 -= l * F[c]
            v1 -= l * F[c + ONE]
            v2 -= l * F[c + TWO]
            v3 -= l * F[c + THREE]
            c += ld
            k += ONE
        F[a] = v0
        F[a + ONE] = v1
        F[a + TWO] = v2
        F[a + THREE] = v3
        j += FOUR


@kernel(fastmath=MATH)
def tile_four(F: Any, o: Any, ld: Any, i: Any, k0: Any, k1: Any, j: Any, w: Any) -> None:
    """The same for rows i, ..., i + 3: sixteen sums stay in registers."""
    p = o + i * ld
    q = p + ld
    r = q + ld
    s = r + ld
    while j < w:
        a, b, d, e = p + j, q + j, r + j, s + j
        a0, a1, a2, a3 = F[a], F[a + ONE], F[a + TWO], F[a + THREE]
        b0, b1, b2, b3 = F[b], F[b + ONE], F[b + TWO], F[b + THREE]
        d0, d1, d2, d3 = F[d], F[d + ONE], F[d + TWO], F[d + THREE]
        e0, e1, e2, e3 = F[e], F[e + ONE], F[e + TWO], F[e + THREE]
        c = o + k0 * ld + j
        k = k0
        while k < k1:
            u0, u1, u2, u3 = F[c], F[c + ONE], F[c + TWO], F[c + THREE]
            l = F[p + k]
            a0 -= l * u0
            a1 -= l * u1
            a2 -= l * u2
            a3 -= l * u3
            l = F[q + k]
            b0 -= l * u0
            b1 -= l * u1
            b2 -= l * u2
            b3 -= l * u3
            l = F[r + k]
            d0 -= l * u0
            d1 -= l * u1
            d2 -= l * u2
            d3 -= l * u3
            l = F[s + k]
            e0 -= l * u0
            e1 -= l * u1
            e2 -= l * u2
            e3 -= l * u3
            c += ld
            k += ONE
        F[a], F[a + ONE], F[a + TWO], F[a + THREE] = a0, a1, a2, a3
        F[b], F[b + ONE], F[b + TWO], F[b + THREE] = b0, b1, b2, b3
        F[d], F[d + ONE], F[d + TWO], F[d + THREE] = d0, d1, d2, d3
        F[e], F[e + ONE], F[e + TWO], F[e + THREE] = e0, e1, e2, e3
        j += FOUR


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
