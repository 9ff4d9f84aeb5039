"""Accelerations and multipliers of the index-1 form."""

from __future__ import annotations

from ..compiled.entry import entry
from ..compiled.kernel import kernel
from ..compiled.kinds import integer, vector
from ..nodes.forms import FORM_LIE
from .instant import biases, constraint_accelerations, constraint_biases, dynamics, frames, velocities
from .matrix import factor, solve, tangent
from .tables import FLAG_REDUNDANT, FLAG_SIMPLE, FLAG_VELOCITY, Tables, Work, coordinates, multipliers, velocity

MOVED, MOVED_AND_FACTORED = 1, 2


@kernel
def _node_accelerations(nodes, z, x, vd):
    """vd = -M^-1 x for Lie and point nodes without constraints, in closed form.

    With the first moment s: (J + hat(s)^2 / m) alpha = -n + s x R^T f / m,  a = (-f + R (s x alpha)) / m.
    """
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        k, o = n.v0, n.x0
        f1, f2, f3 = 0.0, 0.0, 0.0
        if n.nx == 3:
            f1, f2, f3 = x[o], x[o + 1], x[o + 2]
            o += 3
        a1, a2, a3 = -f1, -f2, -f3
        if n.form == FORM_LIE:
            t1, t2, t3 = -x[o], -x[o + 1], -x[o + 2]
            s1, s2, s3 = n.s1, n.s2, n.s3
            offset = n.nx == 3 and (s1 != 0.0 or s2 != 0.0 or s3 != 0.0)
            y = z[i]
            if offset:
                b1 = (y[3] * f1 + y[4] * f2 + y[5] * f3) / n.mass
                b2 = (y[6] * f1 + y[7] * f2 + y[8] * f3) / n.mass
                b3 = (y[9] * f1 + y[10] * f2 + y[11] * f3) / n.mass
                t1 += s2 * b3 - s3 * b2
                t2 += s3 * b1 - s1 * b3
                t3 += s1 * b2 - s2 * b1
            p1 = n.i11 * t1 + n.i12 * t2 + n.i13 * t3
            p2 = n.i12 * t1 + n.i22 * t2 + n.i23 * t3
            p3 = n.i13 * t1 + n.i23 * t2 + n.i33 * t3
            m = k + n.nx
            vd[m], vd[m + 1], vd[m + 2] = p1, p2, p3
            if offset:
                b1, b2, b3 = s2 * p3 - s3 * p2, s3 * p1 - s1 * p3, s1 * p2 - s2 * p1
                a1 += y[3] * b1 + y[6] * b2 + y[9] * b3
                a2 += y[4] * b1 + y[7] * b2 + y[10] * b3
                a3 += y[5] * b1 + y[8] * b2 + y[11] * b3
        if n.nx == 3:
            vd[k], vd[k + 1], vd[k + 2] = a1 / n.mass, a2 / n.mass, a3 / n.mass


@entry(Tables, Work, coordinates, velocity, vector, velocity, multipliers, integer)
def index_one(s, w, q, v, zero, vd, lam, moved):
    """Index-1 form: [M B^T; B 0][vd; lam] = [f; -gamma] at (q, v) and the time of w.values.

    ``zero`` is a vector of zeros as long as velocities or multipliers; ``moved`` tells that the frames are at q
    already, MOVED_AND_FACTORED that w.matrix has the factors of q as well. Leaves the factors in w.matrix
    (not without constraints on Lie and point nodes, where the inverse of M is known).
    """
    if moved == 0:
        frames(s, w, q)
    simple = s.flags[FLAG_SIMPLE] != 0
    if not simple or s.flags[FLAG_VELOCITY] != 0:
        velocities(s, w, q, v)
    dynamics(s, w, q, v, zero, zero, w.x)
    if simple:
        _node_accelerations(s.nodes, w.z, w.x, vd)
        return
    if lam.shape[0] > 0:
        biases(s, w, q, v)
        constraint_biases(s, w, q, v, w.x)
    if moved != MOVED_AND_FACTORED:
        tangent(s, w, q, v, zero, zero, w.eye, 1.0, 0.0, 0.0, w.matrix)
        factor(s, w, w.matrix, w.pivots, w.dinv)
    for k in range(w.x.shape[0]):
        w.x[k] = -w.x[k]
    solve(s, w.matrix, w.pivots, w.dinv, w.x)
    for k in range(vd.shape[0]):
        vd[k] = w.x[s.xv[k]]
    for k in range(lam.shape[0]):
        lam[k] = w.x[s.xl[k]]
    if s.flags[FLAG_REDUNDANT] != 0:  # against the unregularised equations: converges to the minimum-norm multipliers
        for _ in range(2):
            dynamics(s, w, q, v, vd, lam, w.x)
            constraint_accelerations(s, w, q, v, vd, w.x)
            for k in range(w.x.shape[0]):
                w.x[k] = -w.x[k]
            solve(s, w.matrix, w.pivots, w.dinv, w.x)
            for k in range(vd.shape[0]):
                vd[k] += w.x[s.xv[k]]
            for k in range(lam.shape[0]):
                lam[k] += w.x[s.xl[k]]


@kernel
def accelerations(s, w, q, v, zero, vd, lam):
    """v_dot and lambda at (q, v); see ``index_one``."""
    index_one(s, w, q, v, zero, vd, lam, 0)


@kernel
def accelerations_here(s, w, q, v, zero, vd, lam):
    """The same where ``advance`` has just moved the frames to q."""
    index_one(s, w, q, v, zero, vd, lam, MOVED)


@kernel
def accelerations_again(s, w, q, v, zero, vd, lam):
    """The same with other velocities than in the call before."""
    index_one(s, w, q, v, zero, vd, lam, MOVED_AND_FACTORED)
