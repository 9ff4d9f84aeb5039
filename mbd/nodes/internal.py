"""Internal constraints of nodes: the unit length of a quaternion, the orthonormality of directors.

They are quadratic in the coordinates of the rotation, so that the gradient G is linear in them, the second derivative
is constant, and G in the middle of a step is the discrete gradient.
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from .forms import FORM_DIRECTORS, FORM_QUATERNION


@kernel
def internal_constraints(n, q, x, i):
    """Values of the internal constraints into x[i:]: (|e|^2 - 1)/2, or d_i.d_j - delta_ij (halved for i = j)."""
    k = n.q0 + n.nx
    if n.form == FORM_QUATERNION:
        x[i] = 0.5 * (q[k] * q[k] + q[k + 1] * q[k + 1] + q[k + 2] * q[k + 2] + q[k + 3] * q[k + 3] - 1.0)
    elif n.form == FORM_DIRECTORS:
        _director_products(q, q, k, k, x, i)
        for m in range(3):
            x[i + m] = 0.5 * (x[i + m] - 1.0)


@kernel
def _director_products(u, v, k, l, x, i):  # noqa: E741
    """u_a . v_b for ab = 11, 22, 33, and the symmetrised 12, 13, 23."""
    for m in range(6):
        x[i + m] = 0.0
    for m in range(3):
        u1, u2, u3 = u[k + m], u[k + 3 + m], u[k + 6 + m]
        v1, v2, v3 = v[l + m], v[l + 3 + m], v[l + 6 + m]
        x[i] += u1 * v1
        x[i + 1] += u2 * v2
        x[i + 2] += u3 * v3
        x[i + 3] += 0.5 * (u1 * v2 + u2 * v1)
        x[i + 4] += 0.5 * (u1 * v3 + u3 * v1)
        x[i + 5] += 0.5 * (u2 * v3 + u3 * v2)


@kernel
def internal_bilinear(n, u, v, k, l, x, i):  # noqa: E741
    """Second derivative of the internal constraints along u and v (offsets k, l): e.g. G(q) v, or D^2 g[v, v]."""
    if n.form == FORM_QUATERNION:
        x[i] = u[k] * v[l] + u[k + 1] * v[l + 1] + u[k + 2] * v[l + 2] + u[k + 3] * v[l + 3]
    elif n.form == FORM_DIRECTORS:
        _director_products(u, v, k, l, x, i)
        for m in range(3, 6):
            x[i + m] *= 2.0


@kernel
def internal_force(n, q, lam, x):
    """x[x0:] += G_int^T lambda."""
    k, i, j = n.q0 + n.nx, n.x0 + n.nx, n.l0
    if n.form == FORM_QUATERNION:
        for m in range(4):
            x[i + m] += lam[j] * q[k + m]
    elif n.form == FORM_DIRECTORS:
        for m in range(3):
            d1, d2, d3 = q[k + m], q[k + 3 + m], q[k + 6 + m]
            x[i + m] += lam[j] * d1 + lam[j + 3] * d2 + lam[j + 4] * d3
            x[i + 3 + m] += lam[j + 1] * d2 + lam[j + 3] * d1 + lam[j + 5] * d3
            x[i + 6 + m] += lam[j + 2] * d3 + lam[j + 4] * d1 + lam[j + 5] * d2


@kernel
def internal_frame_force(z, mu, j, c, f):
    """f += c G^T mu[j:] of the orthonormality of the directors of one frame."""
    a, b, d = c * mu[j], c * mu[j + 1], c * mu[j + 2]
    ab, ad, bd = c * mu[j + 3], c * mu[j + 4], c * mu[j + 5]
    for m in range(3):
        d1, d2, d3 = z[3 + m], z[6 + m], z[9 + m]
        f[3 + m] += a * d1 + ab * d2 + ad * d3
        f[6 + m] += ab * d1 + b * d2 + bd * d3
        f[9 + m] += ad * d1 + bd * d2 + d * d3


@kernel(forceinline=True)
def _pair(p):
    """The directors of constraint p: 11, 22, 33, 12, 13, 23."""
    return p if p < 3 else (1 if p == 5 else 0), p if p < 3 else (1 if p == 3 else 2)


@kernel(forceinline=True)
def internal_gradients(n, rows, i, cr, columns, j, cc, matrix):
    """Add cr G to the rows and cc G^T to the columns of the internal constraints.

    G is linear in the coordinates of the rotation: those from rows[i] on for the rows, from columns[j] on for the
    columns, which may belong to another point of a step.
    """
    ld = n.ld
    r = n.block + n.nv * ld + n.nx
    c = n.block + n.nx * ld + n.nv
    if n.form == FORM_QUATERNION:
        for m in range(4):
            matrix[r + m] += cr * rows[i + m]
            matrix[c + m * ld] += cc * columns[j + m]
    elif n.form == FORM_DIRECTORS:
        for p in range(6):
            a, b = _pair(p)
            for m in range(3):
                matrix[r + p * ld + 3 * a + m] += cr * rows[i + 3 * b + m]
                matrix[c + (3 * a + m) * ld + p] += cc * columns[j + 3 * b + m]
                if a != b:
                    matrix[r + p * ld + 3 * b + m] += cr * rows[i + 3 * a + m]
                    matrix[c + (3 * b + m) * ld + p] += cc * columns[j + 3 * a + m]


@kernel(forceinline=True)
def internal_hessian(n, lam, c, matrix):
    """Add c lambda g_qq of the internal constraints, which is constant, to the node's diagonal block."""
    o = n.block + n.nx * n.ld + n.nx
    if n.form == FORM_QUATERNION:
        for m in range(4):
            matrix[o + m * n.ld + m] += c * lam[n.l0]
    elif n.form == FORM_DIRECTORS:
        for p in range(6):
            a, b = _pair(p)
            for m in range(3):
                matrix[o + (3 * a + m) * n.ld + 3 * b + m] += c * lam[n.l0 + p]
                if a != b:
                    matrix[o + (3 * b + m) * n.ld + 3 * a + m] += c * lam[n.l0 + p]


@kernel(forceinline=True)
def internal_blocks(n, rows, columns, lam, c, matrix):
    """Both, with G at coordinates ``rows`` in the rows and at ``columns`` in the columns."""
    k = n.q0 + n.nx
    internal_gradients(n, rows, k, 1.0, columns, k, 1.0, matrix)
    internal_hessian(n, lam, c, matrix)
