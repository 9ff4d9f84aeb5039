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

from typing import Any, NamedTuple

from ..forces.secant import discrete_force, torque_in_body
from ..forces.secant_tangent import discrete_force_tangent
from ..joints.primitives import primitive_force
from ..joints.secant import joint_blocks, joint_stiffness
from ..kernel import kernel
from ..math.so3 import log_quaternion
from ..packed import NO_PLACE, declare_arrays
from ..records import FLAG_EXTRA, FORM_LIE
from ..system.evaluate import advance, copy
from ..system.extra import call_extra_forces
from ..system.pieces import constant
from ..system.secant import begin_step, call_secant_tangent, end_step
from .frame_em_nodes import body_torque_tangent, cross_axes, node_matrix
from .special_nodes import MATRIX, call_special


class FrameState(NamedTuple):
    """State of the method (first seven) and its scratch vectors."""

    q: Any
    v: Any
    vd: Any  # accelerations at the end of the step, extrapolated from the middles of the last two
    lam: Any  # the same for the multipliers
    vdm: Any  # accelerations and multipliers in the middle of the last step
    lamm: Any
    p: Any  # momenta of nodes whose mass matrix is not constant
    qn: Any
    vn: Any
    qm: Any  # averaged coordinates (directors)
    dq: Any  # increment: dr and the Cayley vector, or dq
    de: Any  # the same with the rotation vector
    vdn: Any
    lamn: Any
    zero: Any
    z0: Any  # (nodes, 12) frames at the start of the step
    z1: Any  # frames at its end, kept while elements over a step are evaluated
    zm: Any  # averaged frames
    zr: Any  # frames that turn frame forces into generalised forces
    torque: Any  # (nodes, 3) torques in world axes
    mid: Any  # functions of time in the middle of the step
    special: Any  # (nodes,) pieces of nodes that the loop does not treat itself (``special_nodes``)
    pn: Any  # momenta and ...
    raten: Any  # ... rates of the coordinates at the end, where they are unknowns ...
    extra: Any  # ... with these rows: q1 = q0 + h vm first, then the fibre derivatives; otherwise empty
    rate: Any  # rates of the coordinates where they differ from v (null-space method), otherwise empty
    rated: Any  # their derivatives, as vd
    ratedm: Any
    unit: Any  # multipliers that the null-space method eliminates, as lam
    unitm: Any
    unitn: Any
    shown_v: Any  # what is recorded
    shown_vd: Any
    shown_lam: Any
    place: Any = NO_PLACE


declare_arrays(FrameState, tables=("z0", "z1", "zm", "zr", "torque"), integers=("special", "extra"))


@kernel
def cayley_increments(nodes, dq, out):
    """The same increments with rotation vectors in place of Cayley vectors."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        k = n.v0
        m = n.nv
        if n.form == FORM_LIE:
            m = n.nx
            j = k + m
            out[j], out[j + 1], out[j + 2] = log_quaternion(1.0, 0.5 * dq[j], 0.5 * dq[j + 1], 0.5 * dq[j + 2])
        for c in range(m):
            out[k + c] = dq[k + c]


@kernel
def average_frame(form, z0, z1, zm, zr):
    """Averaged frame and, for Lie nodes, the cofactor axes."""
    for m in range(12):
        zm[m] = 0.5 * (z0[m] + z1[m])
        zr[m] = zm[m]
    if form == FORM_LIE:
        zr[3], zr[4], zr[5] = cross_axes(zm, 6, 9)
        zr[6], zr[7], zr[8] = cross_axes(zm, 9, 3)
        zr[9], zr[10], zr[11] = cross_axes(zm, 3, 6)


@kernel
def frame_forces(s, w, x, h, lam):
    """Frame forces of the step into w.f, torques into x.torque (frames must be up to date)."""
    g1, g2, g3 = s.gravity[0], s.gravity[1], s.gravity[2]
    for i in range(s.nodes.shape[0]):
        n = s.nodes[i]
        f = w.f[i]
        for c in range(4):
            m = -(n.mass if c == 0 else (n.s1 if c == 1 else (n.s2 if c == 2 else n.s3)))
            f[3 * c] = m * g1
            f[3 * c + 1] = m * g2
            f[3 * c + 2] = m * g3
        for c in range(3):
            x.torque[i, c] = 0.0
    for k in range(s.forces.shape[0]):
        e = s.forces[k]
        a, b = e.a, e.b
        discrete_force(
            e, x.z0[a], x.z0[b], w.z[a], w.z[b], x.zm[a], x.zm[b], h, x.mid, w.turns, w.f[a], w.f[b], x.torque[b]
        )
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        primitive_force(p, x.zm[a], x.zm[b], constant(p, w.values), lam, p.l0, w.f[a], w.f[b])
    if s.flags[FLAG_EXTRA] != 0:
        for i in range(s.nodes.shape[0]):
            copy(w.z[i], x.z1[i])
        begin_step(w, x.z0, x.z1, x.zm, h)
        call_extra_forces(s, w, lam)
        end_step(w, x.z1)


@kernel
def frame_matrix(s, w, x, h, lam):
    """The iteration matrix in w.matrix, dynamic rows scaled by h^2/2 (after a residual at the same iterate)."""
    ck = 0.5 * h * h
    for k in range(w.matrix.shape[0]):
        w.matrix[k] = 0.0
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if x.special[i] != 0:
            call_special(s, w, x, i, MATRIX, lam, h)
            continue
        node_matrix(
            n, x.dq, x.v, x.qn, x.qm, w.z[i], x.zm[i], x.zr[i], w.f[i], x.torque[i], lam, h, w.jac, w.small, w.matrix
        )
    for k in range(s.forces.shape[0]):
        e = s.forces[k]
        a, b = e.a, e.b
        discrete_force_tangent(
            e, s.nodes[a], s.nodes[b], x.qm, x.qn, x.zr[a], x.zr[b], x.z0[a], x.z0[b], w.z[a], w.z[b], x.zm[a],
            x.zm[b], h, x.mid, w.turns, ck, w.jac, w.matrix,
        )  # fmt: skip
        if torque_in_body(e):
            body_torque_tangent(e, s.nodes[b], x.qn, w.z[b], x.zm[b], x.mid, ck, w.jac, w.matrix)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        value = constant(p, w.values)
        joint_blocks(
            p, s.nodes[a], s.nodes[b], x.qm, x.qn, x.zr[a], x.zr[b], w.z[a], w.z[b], x.zm[a], x.zm[b], value, w.jac,
            w.matrix,
        )  # fmt: skip
        joint_stiffness(
            p, s.nodes[a], s.nodes[b], x.qm, x.qn, x.zr[a], x.zr[b], w.z[a], w.z[b], value, lam, p.l0, ck, w.jac,
            w.matrix,
        )  # fmt: skip
    if s.flags[FLAG_EXTRA] != 0:
        begin_step(w, x.z0, x.z1, x.zm, h)
        call_secant_tangent(s, w, x.qm, x.zr, x.qn, x.z1, lam, ck, w.matrix)
        end_step(w, x.z1)


@kernel
def apply_cayley(nodes, y, dq):
    """dq += increment of the unknowns: y holds dr and the rotation theta at the end of the step."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        k = n.v0
        m = n.nv
        if n.form == FORM_LIE:
            m = n.nx
            j = k + m
            x1, x2, x3 = dq[j], dq[j + 1], dq[j + 2]
            e1, e2, e3 = y[j], y[j + 1], y[j + 2]
            c = 0.25 * (x1 * e1 + x2 * e2 + x3 * e3)
            dq[j] += e1 + 0.5 * (x2 * e3 - x3 * e2) + c * x1
            dq[j + 1] += e2 + 0.5 * (x3 * e1 - x1 * e3) + c * x2
            dq[j + 2] += e3 + 0.5 * (x1 * e2 - x2 * e1) + c * x3
        for c in range(m):
            dq[k + c] += y[k + c]


@kernel
def move(s, w, x):
    """End coordinates and the three frames of the present increment; needs x.z0."""
    cayley_increments(s.nodes, x.dq, x.de)
    advance(s, w, x.q, x.de, x.qn)
    for k in range(x.q.shape[0]):
        x.qm[k] = 0.5 * (x.q[k] + x.qn[k])
