"""The equations of joint coordinates solved along the tree, without a matrix: O(n), exact for trees.

H dq = x with H = cm M + cc C + ck K of ``jets``. From the leaves to the root, with the rows y and jets U of a joint,
D = y U, and the change of wrench P with the jet of a body:

    P_parent += P - (P U) D^-1 y,   w_parent += w + (P U) D^-1 r,   r = x - S^T w

and from the root to the leaves dq = D^-1 (r - y X_parent), X = X_parent + U dq. This is the articulated-body algorithm
with 6 x 18 in place of 6 x 6 matrices. Everything that a solution needs is kept in one vector of factors:

    per node      P (108), shift from the parent (3), w (6), X (18)
    per velocity  S (6), U (18), D^-1 y (18), P U (6), a row of D^-1 (6)
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from .jets import add_body_jet, jet_dot, jet_product, jet_row, shift_jet

PER_NODE, PER_VELOCITY = 135, 54
SHIFT, WRENCH, JET_AT = 108, 111, 117
COLUMN, JET_OF, ROW, PRODUCT, INVERSE = 0, 6, 24, 42, 48


@kernel
def node_place(i):
    """Where the numbers of a node are."""
    return PER_NODE * i


@kernel
def wrench_place(i):
    """Where w of a node begins."""
    return PER_NODE * i + WRENCH


@kernel
def jet_place(i):
    """Where X of a node begins."""
    return PER_NODE * i + JET_AT


@kernel
def velocity_place(nodes, k):
    """Where the numbers of a velocity are."""
    return PER_NODE * nodes.shape[0] + PER_VELOCITY * k


@kernel
def invert_block(factors, o, size):
    """Invert the block of a joint in place, without a change of rows; o is where its first row is."""
    for i in range(size):
        oi = o + PER_VELOCITY * i + INVERSE
        pivot = factors[oi + i]
        if not abs(pivot) > 0.0:
            return False
        d = 1.0 / pivot
        factors[oi + i] = 1.0
        for k in range(size):
            factors[oi + k] *= d
        for j in range(size):
            if j == i:
                continue
            oj = o + PER_VELOCITY * j + INVERSE
            x = factors[oj + i]
            factors[oj + i] = 0.0
            for k in range(size):
                factors[oj + k] -= x * factors[oi + k]
    return True


@kernel(forceinline=True)
def eliminate_joint(nodes, n, columns, wrench, parent, i, factors, y):
    """Free the joint of node i: its factors, and its part of the parent's P. Returns whether it can be done.

    The places of D^-1 hold what the joint adds to its own block besides y U.
    """
    o = node_place(i)
    p = factors[o : o + 108]
    first = velocity_place(nodes, n.v0)
    for a in range(n.nv):
        oa = first + PER_VELOCITY * a
        jet_row(columns[n.v0 + a], wrench, p, factors[oa + ROW :])
        for b in range(n.nv):
            ob = first + PER_VELOCITY * b
            factors[oa + INVERSE + b] += jet_dot(factors[oa + ROW :], factors[ob + JET_OF :])
        jet_product(p, factors[oa + JET_OF :], factors[oa + PRODUCT :])
    if n.nv == 1:
        d = factors[first + INVERSE]
        if not abs(d) > 0.0:
            return False
        d = 1.0 / d
        factors[first + INVERSE] = d
        for m in range(18):
            factors[first + ROW + m] *= d
    elif n.nv > 1:
        if not invert_block(factors, first, n.nv):
            return False
        for m in range(18):
            for a in range(n.nv):
                total = 0.0
                for b in range(n.nv):
                    total += (
                        factors[first + PER_VELOCITY * a + INVERSE + b] * factors[first + PER_VELOCITY * b + ROW + m]
                    )
                y[a] = total
            for a in range(n.nv):
                factors[first + PER_VELOCITY * a + ROW + m] = y[a]
    if parent > 0:
        for a in range(n.nv):
            oa = first + PER_VELOCITY * a
            for row in range(6):
                x = factors[oa + PRODUCT + row]
                for m in range(18):
                    p[18 * row + m] -= x * factors[oa + ROW + m]
        d1, d2, d3 = factors[o + SHIFT], factors[o + SHIFT + 1], factors[o + SHIFT + 2]
        op = node_place(parent)
        add_body_jet(p, d1, d2, d3, factors[op : op + 108])
    return True


@kernel(forceinline=True)
def solve_up(nodes, n, parent, i, factors, own, parents, x):
    """The right-hand side x of a joint becomes D^-1 r; its part of the parent's w, with its own one.

    x and both w may be of kind ``fours``.
    """
    first = velocity_place(nodes, n.v0)
    w0, w1, w2, w3, w4, w5 = own[0], own[1], own[2], own[3], own[4], own[5]
    for a in range(n.nv):
        s = first + PER_VELOCITY * a + COLUMN
        x[n.x0 + a] -= (
            factors[s] * w0 + factors[s + 1] * w1 + factors[s + 2] * w2
            + factors[s + 3] * w3 + factors[s + 4] * w4 + factors[s + 5] * w5
        )  # fmt: skip
    if n.nv == 1:
        x[n.x0] *= factors[first + INVERSE]
    elif n.nv > 1:
        r0, r1, r2 = x[n.x0], x[n.x0 + 1], x[n.x0 + 2] if n.nv > 2 else 0.0
        r3, r4, r5 = 0.0, 0.0, 0.0
        if n.nv > 3:
            r3 = x[n.x0 + 3]
        if n.nv > 5:
            r4, r5 = x[n.x0 + 4], x[n.x0 + 5]
        for a in range(n.nv):
            d = first + PER_VELOCITY * a + INVERSE
            total = factors[d] * r0 + factors[d + 1] * r1
            if n.nv > 2:
                total += factors[d + 2] * r2
            if n.nv > 3:
                total += factors[d + 3] * r3
            if n.nv > 5:
                total += factors[d + 4] * r4 + factors[d + 5] * r5
            x[n.x0 + a] = total
    if parent > 0:
        for a in range(n.nv):
            c = first + PER_VELOCITY * a + PRODUCT
            r = x[n.x0 + a]
            w0, w1, w2 = w0 + factors[c] * r, w1 + factors[c + 1] * r, w2 + factors[c + 2] * r
            w3, w4, w5 = w3 + factors[c + 3] * r, w4 + factors[c + 4] * r, w5 + factors[c + 5] * r
        k = node_place(i) + SHIFT
        d1, d2, d3 = factors[k], factors[k + 1], factors[k + 2]
        parents[0] += w0 + d2 * w5 - d3 * w4
        parents[1] += w1 + d3 * w3 - d1 * w5
        parents[2] += w2 + d1 * w4 - d2 * w3
        parents[3] += w3
        parents[4] += w4
        parents[5] += w5


@kernel(forceinline=True)
def solve_down(nodes, n, i, factors, parents, own, x):
    """The increments x of a joint from the jet of the parent, and the jet of the child; also of kind ``fours``."""
    o = node_place(i)
    shift_jet(parents, factors[o + SHIFT], factors[o + SHIFT + 1], factors[o + SHIFT + 2], own)
    first = velocity_place(nodes, n.v0)
    for a in range(n.nv):
        x[n.x0 + a] -= jet_dot(factors[first + PER_VELOCITY * a + ROW :], own)
    for a in range(n.nv):
        jet = first + PER_VELOCITY * a + JET_OF
        r = x[n.x0 + a]
        for m in range(18):
            own[m] += factors[jet + m] * r
