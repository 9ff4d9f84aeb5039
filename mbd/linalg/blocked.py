"""LU of a large front: panels of columns, and a register-tiled update of everything to the right of the panel."""

from __future__ import annotations

from typing import Any

from mbd.compiled.kernel import kernel
from mbd.linalg.front import FOUR, MATH, ONE, THREE, TWO, ZERO, U, raise_scale, search, settle

PANEL = U(16)


@kernel(fastmath=MATH)
def lu_blocked(
    F: Any, pivots: Any, dinv: Any, weights: Any, report: Any, o: Any, n: Any, w: Any, ld: Any, x0: Any
) -> None:
    """LU of a larger front: panels of columns, then a tiled update of everything to the right of the panel."""
    k0 = ZERO
    while k0 < n:
        k1 = min(k0 + PANEL, n)
        k = k0
        while k < k1:
            q, best = search(F, weights, o, k, n, ld, x0)
            inverse = settle(F, pivots, dinv, weights, report, o, k, q, best, w, ld, x0)
            row = o + k * ld
            i = k + ONE
            while i < w:
                a = o + i * ld
                f = F[a + k] * inverse
                if f != 0.0:
                    F[a + k] = f
                    if i < k1:
                        raise_scale(dinv, x0 + i, f * F[row + i])
                    j = k + ONE
                    while j + FOUR <= k1:  # no padding behind a panel
                        c = row + j
                        d = a + j
                        u0, u1, u2, u3 = F[c], F[c + ONE], F[c + TWO], F[c + THREE]
                        v0, v1, v2, v3 = F[d], F[d + ONE], F[d + TWO], F[d + THREE]
                        F[d] = v0 - f * u0
                        F[d + ONE] = v1 - f * u1
                        F[d + TWO] = v2 - f * u2
                        F[d + THREE] = v3 - f * u3
                        j += FOUR
                    while j < k1:
                        F[a + j] -= f * F[row + j]
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
            f = F[k]
            v0 -= f * F[c]
            v1 -= f * F[c + ONE]
            v2 -= f * F[c + TWO]
            v3 -= f * F[c + THREE]
            c += ld
            k += ONE
        F[a] = v0
        F[a + ONE] = v1
        F[a + TWO] = v2
        F[a + THREE] = v3
        j += FOUR


@kernel(fastmath=MATH)
def tile_four(F: Any, o: Any, ld: Any, i: Any, k0: Any, k1: Any, j: Any, w: Any) -> None:
    """``tile_row`` for the rows i, ..., i + 3 at once: sixteen sums stay in registers."""
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
            f = F[p + k]
            a0 -= f * u0
            a1 -= f * u1
            a2 -= f * u2
            a3 -= f * u3
            f = F[q + k]
            b0 -= f * u0
            b1 -= f * u1
            b2 -= f * u2
            b3 -= f * u3
            f = F[r + k]
            d0 -= f * u0
            d1 -= f * u1
            d2 -= f * u2
            d3 -= f * u3
            f = F[s + k]
            e0 -= f * u0
            e1 -= f * u1
            e2 -= f * u2
            e3 -= f * u3
            c += ld
            k += ONE
        F[a], F[a + ONE], F[a + TWO], F[a + THREE] = a0, a1, a2, a3
        F[b], F[b + ONE], F[b + TWO], F[b + THREE] = b0, b1, b2, b3
        F[d], F[d + ONE], F[d + TWO], F[d + THREE] = d0, d1, d2, d3
        F[e], F[e + ONE], F[e + TWO], F[e + THREE] = e0, e1, e2, e3
        j += FOUR
