"""Blocks of the matrix that an element between two bodies writes: products of the Jacobians of its markers.

*Row* Jacobians turn frame forces into generalised forces, *column* Jacobians say how the frames move with the unknown
increments. At an instant they are the same; over a step the rows belong to the frames at which the element acts, the
columns to those at the end. An element ``e`` knows the blocks between its bodies (``block_ab``, ``block_ba``), the
nodes ``na`` and ``nb`` their own; a node without velocities has none.

Kernels that hand on many arrays are inlined (``forceinline``): an array is handed over as seven words or more, which
would cost as much as the work.
"""

from __future__ import annotations

from ..compiled.kernel import kernel


@kernel
def add_product(c, ju, nu, jv, nv, matrix, block, ld):
    """matrix block += c ju^T jv."""
    for i in range(nu):
        u1, u2, u3 = c * ju[0, i], c * ju[1, i], c * ju[2, i]
        for k in range(nv):
            matrix[block + i * ld + k] += u1 * jv[0, k] + u2 * jv[1, k] + u3 * jv[2, k]


@kernel(forceinline=True)
def axes_stiffness(c, ra, rb, ca, cb, na, nb, e, matrix):
    """Add c times the second derivative of a.b for an axis (or point) of either body."""
    if na.nv > 0 and nb.nv > 0:
        add_product(c, ra, na.nv, cb, nb.nv, matrix, e.block_ab, e.ld_ab)
        add_product(c, rb, nb.nv, ca, na.nv, matrix, e.block_ba, e.ld_ba)


@kernel(forceinline=True)
def distance_stiffness(c, ra, rb, ca, cb, na, nb, e, matrix):
    """Add c times the second derivative of |Q - P|^2 / 2."""
    if na.nv > 0:
        add_product(c, ra, na.nv, ca, na.nv, matrix, na.block, na.ld)
    if nb.nv > 0:
        add_product(c, rb, nb.nv, cb, nb.nv, matrix, nb.block, nb.ld)
    axes_stiffness(-c, ra, rb, ca, cb, na, nb, e, matrix)


@kernel(forceinline=True)
def projection_stiffness(c, rx, ra, rb, cx, ca, cb, na, nb, e, matrix):
    """Add c times the second derivative of a.(Q - P); rx, cx are the Jacobians of the axis a in the first body."""
    if na.nv > 0:
        add_product(-c, rx, na.nv, ca, na.nv, matrix, na.block, na.ld)
        add_product(-c, ra, na.nv, cx, na.nv, matrix, na.block, na.ld)
        axes_stiffness(c, rx, rb, cx, cb, na, nb, e, matrix)


@kernel
def clear_rows(rows):
    """Set rows over the velocities of nodes to zero."""
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            rows[i, k] = 0.0


@kernel
def add_row(c, f1, f2, f3, j, n, row):
    """row += c f^T j."""
    for k in range(n):
        row[k] += c * (f1 * j[0, k] + f2 * j[1, k] + f3 * j[2, k])


@kernel
def _outer(c, u, nu, v, nv, matrix, block, ld):
    for i in range(nu):
        x = c * u[i]
        for k in range(nv):
            matrix[block + i * ld + k] += x * v[k]


@kernel
def outer_pair(c, ua, ub, va, vb, na, nb, e, matrix):
    """matrix += c u v^T for rows u and columns v over both bodies."""
    _outer(c, ua, na.nv, va, na.nv, matrix, na.block, na.ld)
    _outer(c, ub, nb.nv, vb, nb.nv, matrix, nb.block, nb.ld)
    if na.nv > 0 and nb.nv > 0:
        _outer(c, ua, na.nv, vb, nb.nv, matrix, e.block_ab, e.ld_ab)
        _outer(c, ub, nb.nv, va, na.nv, matrix, e.block_ba, e.ld_ba)
