"""Energy-momentum scheme on frames, compiled: Cayley steps of Lie nodes, straight steps of points and directors.

One step with the unknown increment (dr, x) of every node, x = h Theta the Cayley vector, and the multipliers lambda:

    R1 = R0 cay(x),  Omega1 = 2 x/h - Omega0,  r_c1 = r_c0 + h (u0 + u1)/2        (c: centre of mass)
    m (u1 - u0)/h + F_r = 0,   (R1 J Omega1 - R0 J Omega0)/h + sum_i dm_i x F_i = 0,   g(z1, t1) = 0

with the frame forces F of joints and force elements by exact discrete gradients at the averaged frame
zm = (z0 + z1)/2 = (rm, dm_i). Because cay(x) leaves x where it is, d1 - d0 = (R0 x) x dm, so that frame forces do the
work F.(z1 - z0), and the rotational equation times Theta is the change of kinetic energy: energy, linear and angular
momentum are exact [Simo & Wong 1991, Int. J. Numer. Methods Eng. 31, 19, for one body; here with constraints].

The rotational rows are those above times Rm^T with Rm = (R0 + R1)/2. Then a frame force on the body-fixed axis a acts
like that of a frame with the axes cof(Rm), and the kernels of nodes serve unchanged. With K = (I + hat(x)/2)^-1:
Rm^T R1 = K^T, Rm^T R0 = K, and an increment theta at the end, dR1 = R1 hat(theta), means
dx = (I + hat(x)/2 + x x^T/4) theta.
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...joints.instant import primitive_force
from ...nodes.forms import FORM_LIE
from ...nodes.update import STORED_CAYLEY
from ...system.instant import constant, update
from .elements import (
    EXTRA_FORCES,
    EXTRA_TANGENTS,
    FORCE_TANGENTS,
    FORCES,
    JOINT_BLOCKS,
    call_frame_piece,
)
from .node_steps import MATRIX, call_special


@kernel
def advance_cayley(s, w, q, dq, out):
    """The update of absolute coordinates with Cayley vectors, and the frames at out."""
    update(s, w, q, dq, out, STORED_CAYLEY)


@kernel
def average_frame(z0, z1, zm, zr):
    """Averaged frame; what turns forces into torques is the same unless a piece has something else."""
    for m in range(12):
        middle = 0.5 * (z0[m] + z1[m])
        zm[m] = middle
        zr[m] = middle


@kernel
def frame_forces(s, w, x, h):
    """Frame forces of the step into w.f, torques into x.torque (frames must be up to date)."""
    g1, g2, g3 = s.gravity[0], s.gravity[1], s.gravity[2]
    for i in range(s.nodes.shape[0]):
        n = s.nodes[i]
        f, torque = w.f[i], x.torque[i]
        m, s1, s2, s3 = -n.mass, -n.s1, -n.s2, -n.s3
        f[0], f[1], f[2] = m * g1, m * g2, m * g3
        f[3], f[4], f[5] = s1 * g1, s1 * g2, s1 * g3
        f[6], f[7], f[8] = s2 * g1, s2 * g2, s2 * g3
        f[9], f[10], f[11] = s3 * g1, s3 * g2, s3 * g3
        torque[0], torque[1], torque[2] = 0.0, 0.0, 0.0
    call_frame_piece(s, w, x, FORCES, h)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        primitive_force(p, x.zm[a], x.zm[b], constant(p, w.values), x.lamn, p.l0, w.f[a], w.f[b])
    call_frame_piece(s, w, x, EXTRA_FORCES, h)


@kernel
def frame_matrix(s, w, x, h):
    """The iteration matrix in w.matrix, dynamic rows scaled by h^2/2 (after a residual at the same iterate)."""
    matrix = w.matrix
    for k in range(matrix.shape[0]):
        matrix[k] = 0.0
    call_special(s, w, x, MATRIX, h)
    call_frame_piece(s, w, x, FORCE_TANGENTS, h)
    call_frame_piece(s, w, x, JOINT_BLOCKS, h)
    call_frame_piece(s, w, x, EXTRA_TANGENTS, h)


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
            c = 0.25 * (x1 * e1 + x2 * e2 + x3 * e3)
            dq[j] += e1 + 0.5 * (x2 * e3 - x3 * e2) + c * x1
            dq[j + 1] += e2 + 0.5 * (x3 * e1 - x1 * e3) + c * x2
            dq[j + 2] += e3 + 0.5 * (x1 * e2 - x2 * e1) + c * x3
        for c in range(m):
            dq[k + c] += y[o + c]


@kernel
def move(s, w, x):
    """End coordinates, averaged coordinates and the frames of the present increment."""
    q, qn, qm = x.q, x.qn, x.qm
    advance_cayley(s, w, q, x.dq, qn)
    for k in range(q.shape[0]):
        qm[k] = 0.5 * (q[k] + qn[k])
