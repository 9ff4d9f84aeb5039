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
Rm^T R1 = K^T, Rm^T R0 = K, and an increment theta at the end, dR1 = R1 hat(theta), is x = (I + hat(x)/2 + x x^T/4) theta.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..joints.primitives import axis, point, primitive_force, push_point
from ..kernel import kernel
from ..math.so3 import log_quaternion
from ..nodes.frames import axis_jacobian, point_jacobian
from ..nodes.inertia import frame_inertia, pull_back
from ..nodes.tangent import internal_force, node_tangent
from ..nodes.update import update_coordinates
from ..records import FORM_DIRECTORS, FORM_LIE
from ..system.evaluate import _value
from .discrete_gradients import discrete_force, torque_in_body
from .discrete_tangents import discrete_force_tangent, joint_blocks, joint_stiffness


class FrameState(NamedTuple):
    """State of the method (first six) and its scratch vectors."""

    q: Any
    v: Any
    vd: Any  # accelerations at the end of the step, extrapolated from the middles of the last two
    lam: Any  # the same for the multipliers
    vdm: Any  # accelerations and multipliers in the middle of the last step
    lamm: Any
    qn: Any
    vn: Any
    qm: Any  # averaged coordinates (directors)
    dq: Any  # increment: dr and the Cayley vector, or dq
    de: Any  # the same with the rotation vector
    vdn: Any
    lamn: Any
    zero: Any
    z0: Any  # (nodes, 12) frames at the start of the step
    zm: Any  # averaged frames
    zr: Any  # frames that turn frame forces into generalised forces
    torque: Any  # (nodes, 3) torques in world axes
    mid: Any  # functions of time in the middle of the step


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
def _cross(z, a, b, c):
    """z[c:] = axis a x axis b of the frame z's neighbour; see ``average_frame``."""
    return (
        z[a + 1] * z[b + 2] - z[a + 2] * z[b + 1],
        z[a + 2] * z[b] - z[a] * z[b + 2],
        z[a] * z[b + 1] - z[a + 1] * z[b],
    )


@kernel
def average_frame(form, z0, z1, zm, zr):
    """Averaged frame and, for Lie nodes, the cofactor axes."""
    for m in range(12):
        zm[m] = 0.5 * (z0[m] + z1[m])
        zr[m] = zm[m]
    if form == FORM_LIE:
        zr[3], zr[4], zr[5] = _cross(zm, 6, 9, 3)
        zr[6], zr[7], zr[8] = _cross(zm, 9, 3, 6)
        zr[9], zr[10], zr[11] = _cross(zm, 3, 6, 9)


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
        primitive_force(p, x.zm[a], x.zm[b], _value(p, w.values), lam, p.l0, w.f[a], w.f[b])


# --- nodes --------------------------------------------------------------------------------------------------------


@kernel
def central_inertia(n, y1, y2, y3):
    """J y with the inertia about the centre of mass, or about the fixed point of a pinned node."""
    c = n.s1 * y1 + n.s2 * y2 + n.s3 * y3
    square = n.s1 * n.s1 + n.s2 * n.s2 + n.s3 * n.s3
    d = 1.0 / n.mass if n.nx == 3 else 0.0  # J - (|s|^2 I - s s^T)/m
    return (
        n.j11 * y1 + n.j12 * y2 + n.j13 * y3 - d * (square * y1 - c * n.s1),
        n.j12 * y1 + n.j22 * y2 + n.j23 * y3 - d * (square * y2 - c * n.s2),
        n.j13 * y1 + n.j23 * y2 + n.j33 * y3 - d * (square * y3 - c * n.s3),
    )


@kernel
def cayley_solve(x1, x2, x3, sign, y1, y2, y3):
    """(I + sign hat(x)/2)^-1 y."""
    d = 1.0 / (1.0 + 0.25 * (x1 * x1 + x2 * x2 + x3 * x3))
    c = 0.25 * (x1 * y1 + x2 * y2 + x3 * y3)
    b = 0.5 * sign
    return (
        d * (y1 - b * (x2 * y3 - x3 * y2) + c * x1),
        d * (y2 - b * (x3 * y1 - x1 * y3) + c * x2),
        d * (y3 - b * (x1 * y2 - x2 * y1) + c * x3),
    )


@kernel
def _secant_velocity(n, dq, v, z0, zr, h):
    """(secant of the centre of mass, its velocity at the start)."""
    k = n.v0
    d1, d2, d3 = dq[k], dq[k + 1], dq[k + 2]
    u1, u2, u3 = v[k], v[k + 1], v[k + 2]
    if n.form == FORM_LIE and (n.s1 != 0.0 or n.s2 != 0.0 or n.s3 != 0.0):
        c1, c2, c3 = n.s1 / n.mass, n.s2 / n.mass, n.s3 / n.mass
        x1, x2, x3 = dq[k + 3], dq[k + 4], dq[k + 5]
        y1, y2, y3 = axis(zr, x2 * c3 - x3 * c2, x3 * c1 - x1 * c3, x1 * c2 - x2 * c1)
        d1, d2, d3 = d1 + y1, d2 + y2, d3 + y3
        x1, x2, x3 = v[k + 3], v[k + 4], v[k + 5]
        y1, y2, y3 = axis(z0, x2 * c3 - x3 * c2, x3 * c1 - x1 * c3, x1 * c2 - x2 * c1)
        u1, u2, u3 = u1 + y1, u2 + y2, u3 + y3
    return d1 / h, d2 / h, d3 / h, u1, u2, u3


@kernel
def node_equation(n, dq, v, qm, z0, z1, zm, zr, f, torque, lam, h, x, small):
    """x[x0:] = momentum balance of one node; inertia forces that act on the frame are added to f."""
    c = 2.0 / h
    if n.form == FORM_DIRECTORS:
        zdd = small[0]
        k = n.v0
        for m in range(12):
            zdd[m] = 0.0
        for m in range(n.nv):
            zdd[12 - n.nv + m] = c * (dq[k + m] / h - v[k + m])
        frame_inertia(n, zdd, f)
        _dual_torque(zm, torque, f)
        pull_back(n, qm, zm, zm, f, x, n.x0)
        internal_force(n, qm, lam, x)
        return
    if n.nx == 3:
        d1, d2, d3, u1, u2, u3 = _secant_velocity(n, dq, v, z0, zr, h)
        m = c * n.mass
        b = 1.0 / n.mass
        push_point(f, b * n.s1, b * n.s2, b * n.s3, m * (d1 - u1), m * (d2 - u2), m * (d3 - u3))
    pull_back(n, qm, zr, zr, f, x, n.x0)
    if n.form == FORM_LIE:
        i, k = n.x0 + n.nx, n.v0 + n.nx
        x1, x2, x3 = dq[k], dq[k + 1], dq[k + 2]
        w1, w2, w3 = v[k], v[k + 1], v[k + 2]
        a1, a2, a3 = central_inertia(n, c * x1 - w1, c * x2 - w2, c * x3 - w3)
        b1, b2, b3 = central_inertia(n, w1, w2, w3)
        a1, a2, a3 = cayley_solve(x1, x2, x3, -1.0, a1, a2, a3)
        b1, b2, b3 = cayley_solve(x1, x2, x3, 1.0, b1, b2, b3)
        t1, t2, t3 = torque[0], torque[1], torque[2]
        x[i] += (a1 - b1) / h + zm[3] * t1 + zm[4] * t2 + zm[5] * t3
        x[i + 1] += (a2 - b2) / h + zm[6] * t1 + zm[7] * t2 + zm[8] * t3
        x[i + 2] += (a3 - b3) / h + zm[9] * t1 + zm[10] * t2 + zm[11] * t3


@kernel
def dual_axes(z, out):
    """Axes reciprocal to those of z."""
    out[3], out[4], out[5] = _cross(z, 6, 9, 3)
    out[6], out[7], out[8] = _cross(z, 9, 3, 6)
    out[9], out[10], out[11] = _cross(z, 3, 6, 9)
    d = 1.0 / (z[3] * out[3] + z[4] * out[4] + z[5] * out[5])
    for m in range(3, 12):
        out[m] *= d


@kernel
def _dual_torque(zm, torque, f):
    """f_i += torque x d^i / 2 with the dual axes d^i: then sum_i d_i x f_i = torque, although zm is no rotation."""
    t1, t2, t3 = torque[0], torque[1], torque[2]
    if t1 == 0.0 and t2 == 0.0 and t3 == 0.0:
        return
    d = 0.5 / (
        zm[3] * (zm[7] * zm[11] - zm[8] * zm[10])
        + zm[4] * (zm[8] * zm[9] - zm[6] * zm[11])
        + zm[5] * (zm[6] * zm[10] - zm[7] * zm[9])
    )
    for i in range(3):
        a = 3 + 3 * ((i + 1) % 3)
        b = 3 + 3 * ((i + 2) % 3)
        y1, y2, y3 = _cross(zm, a, b, 0)
        f[3 + 3 * i] += d * (t2 * y3 - t3 * y2)
        f[4 + 3 * i] += d * (t3 * y1 - t1 * y3)
        f[5 + 3 * i] += d * (t1 * y2 - t2 * y1)


@kernel
def new_velocity(n, dq, v, z0, z1, zr, h, out):
    """Velocities at the end of the step."""
    k = n.v0
    c = 2.0 / h
    for m in range(n.nv):
        out[k + m] = c * dq[k + m] - v[k + m]
    if n.form == FORM_LIE and n.nx == 3 and (n.s1 != 0.0 or n.s2 != 0.0 or n.s3 != 0.0):
        d1, d2, d3, u1, u2, u3 = _secant_velocity(n, dq, v, z0, zr, h)
        c1, c2, c3 = n.s1 / n.mass, n.s2 / n.mass, n.s3 / n.mass
        w1, w2, w3 = out[k + 3], out[k + 4], out[k + 5]
        y1, y2, y3 = axis(z1, w2 * c3 - w3 * c2, w3 * c1 - w1 * c3, w1 * c2 - w2 * c1)
        out[k], out[k + 1], out[k + 2] = 2.0 * d1 - u1 - y1, 2.0 * d2 - u2 - y2, 2.0 * d3 - u3 - y3


# --- the matrix ---------------------------------------------------------------------------------------------------


@kernel
def node_matrix(n, dq, v, q1, qm, z1, zm, zr, f, torque, lam, h, jac, small, matrix):
    """Diagonal block of one node, scaled by h^2/2: inertia, curvature of the frame, internal constraints."""
    ck = 0.5 * h * h
    if n.form == FORM_DIRECTORS:
        node_tangent(n, q1, v, v, zm, zm, zm, 1.0, 0.0, 0.0, matrix, small)
        _dual_tangent(n, zm, torque, ck, matrix, small)
        internal_secant(n, q1, qm, lam, ck, matrix)
        return
    if n.nx == 3:
        c1, c2, c3 = n.s1 / n.mass, n.s2 / n.mass, n.s3 / n.mass
        if n.form == FORM_LIE and (c1 != 0.0 or c2 != 0.0 or c3 != 0.0):
            point_jacobian(n, qm, zr, zr, c1, c2, c3, jac[0])
            point_jacobian(n, q1, z1, z1, c1, c2, c3, jac[1])
            for i in range(6):
                for j in range(6):
                    value = 0.0
                    for m in range(3):
                        value += jac[0][m, i] * jac[1][m, j]
                    matrix[n.block + i * n.ld + j] += n.mass * value
        else:
            for m in range(3):
                matrix[n.block + m * n.ld + m] += n.mass
    if n.form == FORM_LIE:
        _rotation_matrix(n, dq, v, z1, zm, f, torque, h, ck, matrix)


@kernel
def _rotation_matrix(n, dq, v, z1, zm, f, torque, h, ck, matrix):
    """[K^T J - h/4 (K^T hat(a) + K hat(b))] dx/dtheta + ck (curvature), column by column."""
    k = n.v0 + n.nx
    o = n.block + n.nx * n.ld + n.nx
    x1, x2, x3 = dq[k], dq[k + 1], dq[k + 2]
    w1, w2, w3 = v[k], v[k + 1], v[k + 2]
    c = 2.0 / h
    a1, a2, a3 = central_inertia(n, c * x1 - w1, c * x2 - w2, c * x3 - w3)
    b1, b2, b3 = central_inertia(n, w1, w2, w3)
    a1, a2, a3 = cayley_solve(x1, x2, x3, -1.0, a1, a2, a3)
    b1, b2, b3 = cayley_solve(x1, x2, x3, 1.0, b1, b2, b3)
    # torque about the reference point, all of it, seen from the end frame
    t1, t2, t3 = torque[0], torque[1], torque[2]
    trace = 0.0
    for i in range(3):
        m = 3 + 3 * i
        t1 += zm[m + 1] * f[m + 2] - zm[m + 2] * f[m + 1]
        t2 += zm[m + 2] * f[m] - zm[m] * f[m + 2]
        t3 += zm[m] * f[m + 1] - zm[m + 1] * f[m]
        trace += z1[m] * f[m] + z1[m + 1] * f[m + 1] + z1[m + 2] * f[m + 2]
    s1 = z1[3] * t1 + z1[4] * t2 + z1[5] * t3
    s2 = z1[6] * t1 + z1[7] * t2 + z1[8] * t3
    s3 = z1[9] * t1 + z1[10] * t2 + z1[11] * t3
    half = 0.5 * ck
    for j in range(3):
        e1, e2, e3 = 1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0
        q = 0.25 * (x1 * e1 + x2 * e2 + x3 * e3)
        y1 = e1 + 0.5 * (x2 * e3 - x3 * e2) + q * x1  # dx/dtheta e_j
        y2 = e2 + 0.5 * (x3 * e1 - x1 * e3) + q * x2
        y3 = e3 + 0.5 * (x1 * e2 - x2 * e1) + q * x3
        u1, u2, u3 = central_inertia(n, y1, y2, y3)
        r = 0.25 * h
        u1 -= r * (a2 * y3 - a3 * y2)
        u2 -= r * (a3 * y1 - a1 * y3)
        u3 -= r * (a1 * y2 - a2 * y1)
        # half ck (A^T e_j - tr(A) e_j) with A = R1^T [F_1 F_2 F_3], also behind K^T
        m = 3 + 3 * j
        u1 += half * (z1[m] * f[3] + z1[m + 1] * f[4] + z1[m + 2] * f[5] - trace * e1)
        u2 += half * (z1[m] * f[6] + z1[m + 1] * f[7] + z1[m + 2] * f[8] - trace * e2)
        u3 += half * (z1[m] * f[9] + z1[m + 1] * f[10] + z1[m + 2] * f[11] - trace * e3)
        u1, u2, u3 = cayley_solve(x1, x2, x3, -1.0, u1, u2, u3)
        p1, p2, p3 = cayley_solve(x1, x2, x3, 1.0, b2 * y3 - b3 * y2, b3 * y1 - b1 * y3, b1 * y2 - b2 * y1)
        matrix[o + j] += u1 - r * p1 + half * (s2 * e3 - s3 * e2)
        matrix[o + n.ld + j] += u2 - r * p2 + half * (s3 * e1 - s1 * e3)
        matrix[o + 2 * n.ld + j] += u3 - r * p3 + half * (s1 * e2 - s2 * e1)


@kernel
def _dual_tangent(n, zm, torque, ck, matrix, small):
    """Derivative of torque x d^i / 2: the dual axes change by -d^j (d^i . delta d_j)."""
    t1, t2, t3 = torque[0], torque[1], torque[2]
    if t1 == 0.0 and t2 == 0.0 and t3 == 0.0:
        return
    d = small[0]
    dual_axes(zm, d)
    o = n.block + n.nx * n.ld + n.nx
    for j in range(3):
        y1, y2, y3 = d[3 + 3 * j], d[4 + 3 * j], d[5 + 3 * j]
        y1, y2, y3 = t2 * y3 - t3 * y2, t3 * y1 - t1 * y3, t1 * y2 - t2 * y1
        for i in range(3):
            for m in range(3):
                c = -0.25 * ck * d[3 + 3 * i + m]
                matrix[o + (3 * i) * n.ld + 3 * j + m] += c * y1
                matrix[o + (3 * i + 1) * n.ld + 3 * j + m] += c * y2
                matrix[o + (3 * i + 2) * n.ld + 3 * j + m] += c * y3


@kernel
def internal_secant(n, q1, qm, lam, ck, matrix):
    """Internal constraints of directors: rows at the end, columns at the average."""
    k = n.q0 + n.nx
    ld = n.ld
    o = n.block + n.nx * ld + n.nx
    r = n.block + n.nv * ld + n.nx
    c = n.block + n.nx * ld + n.nv
    half = 0.5 * ck
    for p in range(6):
        a = p if p < 3 else (1 if p == 5 else 0)
        b = p if p < 3 else (1 if p == 3 else 2)
        for m in range(3):
            matrix[r + p * ld + 3 * a + m] += q1[k + 3 * b + m]
            matrix[c + (3 * a + m) * ld + p] += qm[k + 3 * b + m]
            matrix[o + (3 * a + m) * ld + 3 * b + m] += half * lam[n.l0 + p]
            if a != b:
                matrix[r + p * ld + 3 * b + m] += q1[k + 3 * a + m]
                matrix[c + (3 * b + m) * ld + p] += qm[k + 3 * a + m]
                matrix[o + (3 * b + m) * ld + 3 * a + m] += half * lam[n.l0 + p]


@kernel
def _body_torque_tangent(e, n, q1, z1, zm, zr, values, ck, jac, matrix):
    """A torque that turns with the body: its value Rm tau changes with half of the end frame."""
    k = e.function
    t1, t2, t3 = e.p1, e.p2, e.p3
    if k >= 0:
        t1, t2, t3 = values[k], values[k + 1], values[k + 2]
    axis_jacobian(n, q1, z1, z1, t1, t2, t3, jac[0])
    o = n.block + n.nx * n.ld
    half = 0.5 * ck
    if n.form == FORM_LIE:
        for i in range(3):
            for j in range(n.nv):
                value = zm[3 + 3 * i] * jac[0][0, j] + zm[4 + 3 * i] * jac[0][1, j] + zm[5 + 3 * i] * jac[0][2, j]
                matrix[o + i * n.ld + j] -= half * value
    elif n.form == FORM_DIRECTORS:
        d = jac[1][0]
        dual_axes(zm, d)
        for i in range(3):
            d1, d2, d3 = d[3 + 3 * i], d[4 + 3 * i], d[5 + 3 * i]
            for j in range(n.nv):
                y1, y2, y3 = 0.5 * half * jac[0][0, j], 0.5 * half * jac[0][1, j], 0.5 * half * jac[0][2, j]
                matrix[o + (3 * i) * n.ld + j] -= y2 * d3 - y3 * d2
                matrix[o + (3 * i + 1) * n.ld + j] -= y3 * d1 - y1 * d3
                matrix[o + (3 * i + 2) * n.ld + j] -= y1 * d2 - y2 * d1


@kernel
def frame_matrix(s, w, x, h, lam):
    """The iteration matrix in w.matrix, dynamic rows scaled by h^2/2 (after a residual at the same iterate)."""
    ck = 0.5 * h * h
    for k in range(w.matrix.shape[0]):
        w.matrix[k] = 0.0
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
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
            _body_torque_tangent(e, s.nodes[b], x.qn, w.z[b], x.zm[b], x.zr[b], x.mid, ck, w.jac, w.matrix)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        value = _value(p, w.values)
        joint_blocks(
            p, s.nodes[a], s.nodes[b], x.qm, x.qn, x.zr[a], x.zr[b], w.z[a], w.z[b], x.zm[a], x.zm[b], value, w.jac,
            w.matrix,
        )  # fmt: skip
        joint_stiffness(
            p, s.nodes[a], s.nodes[b], x.qm, x.qn, x.zr[a], x.zr[b], w.z[a], w.z[b], value, lam, p.l0, ck, w.jac,
            w.matrix,
        )  # fmt: skip


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
    update_coordinates(s.nodes, x.q, x.de, x.qn, w.small[7])
    for k in range(x.q.shape[0]):
        x.qm[k] = 0.5 * (x.q[k] + x.qn[k])
