"""Increments of all nodes: T_exp of Lie nodes and its inverse, corrections of Cayley vectors, sizes.

What integrators do with increments and velocities that depends on how a node moves. Conventional nodes add, and all of
these are the identity for them.
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..math.so3 import cayley_tangent, tangent_inverse, tangent_operator
from .forms import FORM_GENERALIZED, FORM_LIE


@kernel
def _times(n, t, x, out):
    """out = t x on the rotation of a Lie node, x elsewhere; out may be x."""
    k = n.v0
    if n.form == FORM_LIE:
        for m in range(n.nx):
            out[k + m] = x[k + m]
        k += n.nx
        x1, x2, x3 = x[k], x[k + 1], x[k + 2]
        out[k] = t[0] * x1 + t[1] * x2 + t[2] * x3
        out[k + 1] = t[3] * x1 + t[4] * x2 + t[5] * x3
        out[k + 2] = t[6] * x1 + t[7] * x2 + t[8] * x3
    else:
        for m in range(n.nv):
            out[k + m] = x[k + m]


@kernel
def apply_tangent_inverse(nodes, dq, v, out, t):
    """out = T_exp^-1(dq) v, node by node; the identity for conventional nodes. t is scratch of nine."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        if n.form == FORM_LIE:
            k = n.v0 + n.nx
            tangent_inverse(dq[k], dq[k + 1], dq[k + 2], t)
        _times(n, t, v, out)


@kernel
def apply_tangent(nodes, dq, x, out, t):
    """out = T_exp(dq) x; t is scratch of nine."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        if n.form == FORM_LIE:
            k = n.v0 + n.nx
            tangent_operator(dq[k], dq[k + 1], dq[k + 2], t)
        _times(n, t, x, out)


@kernel
def store_tangent_inverse(nodes, dq, t):
    """T_exp^-1(dq) of every Lie node into the rows of t."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        if n.form == FORM_LIE:
            k = n.v0 + n.nx
            tangent_inverse(dq[k], dq[k + 1], dq[k + 2], t[i])


@kernel
def store_tangent(nodes, dq, t):
    """T_exp(dq) of every Lie node into the rows of t."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        if n.form == FORM_LIE:
            k = n.v0 + n.nx
            tangent_operator(dq[k], dq[k + 1], dq[k + 2], t[i])


@kernel
def apply_rows(nodes, t, x, out):
    """out = blockdiag(t) x on the rotations of Lie nodes, x elsewhere; out may be x."""
    for i in range(1, nodes.shape[0]):
        _times(nodes[i], t[i], x, out)


@kernel
def velocity_row(n, t, row, out):
    """out = row T_exp^-1: a velocity row for the increment at the end of the step."""
    for k in range(n.nv):
        out[k] = row[k]
    if n.form == FORM_LIE:
        k = n.nx
        for m in range(3):
            out[k + m] = row[k] * t[m] + row[k + 1] * t[3 + m] + row[k + 2] * t[6 + m]


@kernel
def add_commutator(nodes, v, vd, c, e):
    """e += c (0, omega x omega_dot) on Lie rotations: the non-commutativity in the local error."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        if n.form == FORM_LIE:
            k = n.v0 + n.nx
            e[k] += c * (v[k + 1] * vd[k + 2] - v[k + 2] * vd[k + 1])
            e[k + 1] += c * (v[k + 2] * vd[k] - v[k] * vd[k + 2])
            e[k + 2] += c * (v[k] * vd[k + 1] - v[k + 1] * vd[k])


@kernel
def apply_cayley(nodes, y, dq):
    """dq += increment of the unknowns: y, in the solver's order, holds dr and the rotation at the end of the step."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        k, o, m = n.v0, n.x0, n.nv
        if n.form == FORM_LIE:
            m = n.nx
            j = k + m
            x1, x2, x3 = dq[j], dq[j + 1], dq[j + 2]
            e1, e2, e3 = y[o + m], y[o + m + 1], y[o + m + 2]
            e1, e2, e3 = cayley_tangent(x1, x2, x3, e1, e2, e3)
            dq[j], dq[j + 1], dq[j + 2] = x1 + e1, x2 + e2, x3 + e3
        for c in range(m):
            dq[k + c] += y[o + c]


@kernel
def straight_velocity(n, dq, v, h, out):
    """Velocities at the end of a step with the increment dq = h (v0 + v1)/2."""
    c = 2.0 / h
    for k in range(n.v0, n.v0 + n.nv):
        out[k] = c * dq[k] - v[k]


@kernel
def increment_size(nodes, length, q, y, permuted):
    """Largest increment y relative to the size of the coordinates: of the model, of a radian, of the user's own.

    y in the order of the velocities, or permuted as the matrix is.
    """
    reach, other, translation, rotation, generalized = length, 1e-300, 0.0, 0.0, 0.0
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        k = n.x0 if permuted else n.v0
        if n.form == FORM_GENERALIZED:
            for m in range(n.nq):
                other = max(other, abs(q[n.q0 + m]))
            for m in range(n.nv):
                generalized = max(generalized, abs(y[k + m]))
            continue
        for m in range(n.nx):
            reach = max(reach, abs(q[n.q0 + m]))
            translation = max(translation, abs(y[k + m]))
        for m in range(n.nx, n.nv):
            rotation = max(rotation, abs(y[k + m]))
    return max(translation / reach, rotation, generalized / other)
