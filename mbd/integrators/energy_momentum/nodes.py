"""Nodes in the energy-momentum scheme on frames: momentum balances and diagonal blocks of the matrix.

The formulas are derived in ``frame_em_kernels``. The step enters by the one number c = 2/h only, everywhere as a
factor: c and h are rounded differently, and impulses of translation and rotation that differ by a fixed part in 10^16
would add up over many steps.
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...forces.instant import load_vector
from ...joints.instant import axis, push_point
from ...nodes.forms import FORM_DIRECTORS, FORM_LIE
from ...nodes.frames import axis_jacobian
from ...nodes.inertia import frame_torque


@kernel
def cross_axes(z, a, b):
    """Cross product of the axes at the places a and b of a frame."""
    return (
        z[a + 1] * z[b + 2] - z[a + 2] * z[b + 1],
        z[a + 2] * z[b] - z[a] * z[b + 2],
        z[a] * z[b + 1] - z[a + 1] * z[b],
    )


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
def _secant_velocity(n, dq, v, z0, zr, c):
    """(secant of the centre of mass, its velocity at the start)."""
    k, half = n.v0, 0.5 * c
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
    return half * d1, half * d2, half * d3, u1, u2, u3


@kernel
def node_equation(n, dq, v, z0, zm, zr, f, torque, h, x):
    """x[x0:] = momentum balance of a Lie node or point; inertia forces that act on the frame are added to f."""
    c = 2.0 / h
    half = 0.5 * c
    i, k = n.x0, n.v0
    if n.nx == 3:
        d1, d2, d3, u1, u2, u3 = _secant_velocity(n, dq, v, z0, zr, c)
        m = c * n.mass
        b = 1.0 / n.mass
        push_point(f, b * n.s1, b * n.s2, b * n.s3, m * (d1 - u1), m * (d2 - u2), m * (d3 - u3))
        x[i], x[i + 1], x[i + 2] = f[0], f[1], f[2]
        i += 3
        k += 3
    if n.form == FORM_LIE:
        x1, x2, x3 = dq[k], dq[k + 1], dq[k + 2]
        w1, w2, w3 = v[k], v[k + 1], v[k + 2]
        a1, a2, a3 = central_inertia(n, c * x1 - w1, c * x2 - w2, c * x3 - w3)
        b1, b2, b3 = central_inertia(n, w1, w2, w3)
        a1, a2, a3 = cayley_solve(x1, x2, x3, -1.0, a1, a2, a3)
        b1, b2, b3 = cayley_solve(x1, x2, x3, 1.0, b1, b2, b3)
        t1, t2, t3 = torque[0], torque[1], torque[2]
        f1, f2, f3 = frame_torque(zr, f)
        x[i] = f1 + half * (a1 - b1) + zm[3] * t1 + zm[4] * t2 + zm[5] * t3
        x[i + 1] = f2 + half * (a2 - b2) + zm[6] * t1 + zm[7] * t2 + zm[8] * t3
        x[i + 2] = f3 + half * (a3 - b3) + zm[9] * t1 + zm[10] * t2 + zm[11] * t3


@kernel
def dual_axes(z, out):
    """Axes reciprocal to those of z."""
    out[3], out[4], out[5] = cross_axes(z, 6, 9)
    out[6], out[7], out[8] = cross_axes(z, 9, 3)
    out[9], out[10], out[11] = cross_axes(z, 3, 6)
    d = 1.0 / (z[3] * out[3] + z[4] * out[4] + z[5] * out[5])
    for m in range(3, 12):
        out[m] *= d


@kernel
def dual_torque(zm, torque, f):
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
        y1, y2, y3 = cross_axes(zm, a, b)
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
        d1, d2, d3, u1, u2, u3 = _secant_velocity(n, dq, v, z0, zr, c)
        c1, c2, c3 = n.s1 / n.mass, n.s2 / n.mass, n.s3 / n.mass
        w1, w2, w3 = out[k + 3], out[k + 4], out[k + 5]
        y1, y2, y3 = axis(z1, w2 * c3 - w3 * c2, w3 * c1 - w1 * c3, w1 * c2 - w2 * c1)
        out[k], out[k + 1], out[k + 2] = 2.0 * d1 - u1 - y1, 2.0 * d2 - u2 - y2, 2.0 * d3 - u3 - y3


# --- the matrix ---------------------------------------------------------------------------------------------------


@kernel
def _lever_column(z, c1, c2, c3, j):
    """R (e_j x c): how the point c of a frame moves with the rotation about its axis j."""
    if j == 0:
        return axis(z, 0.0, -c3, c2)
    if j == 1:
        return axis(z, c3, 0.0, -c1)
    return axis(z, -c2, c1, 0.0)


@kernel
def node_matrix(n, dq, v, z1, zm, zr, f, torque, h, matrix):
    """Diagonal block of a Lie node or point, scaled by h^2/2: inertia and curvature of the frame."""
    ck = 0.5 * h * h
    if n.nx == 3:
        for m in range(3):
            matrix[n.block + m * n.ld + m] += n.mass
        if n.form == FORM_LIE and (n.s1 != 0.0 or n.s2 != 0.0 or n.s3 != 0.0):
            d = 1.0 / n.mass
            o = n.block + 3 * n.ld
            for j in range(3):  # centre of mass off the reference point: rows from zr, columns from z1
                y1, y2, y3 = _lever_column(z1, n.s1, n.s2, n.s3, j)
                r1, r2, r3 = _lever_column(zr, n.s1, n.s2, n.s3, j)
                matrix[n.block + 3 + j] += y1
                matrix[n.block + n.ld + 3 + j] += y2
                matrix[n.block + 2 * n.ld + 3 + j] += y3
                matrix[o + j * n.ld] += r1
                matrix[o + j * n.ld + 1] += r2
                matrix[o + j * n.ld + 2] += r3
                for i in range(3):
                    r1, r2, r3 = _lever_column(zr, n.s1, n.s2, n.s3, i)
                    matrix[o + i * n.ld + 3 + j] += d * (r1 * y1 + r2 * y2 + r3 * y3)
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
def dual_tangent(n, zm, torque, ck, matrix, small):
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
def body_torque_tangent(e, n, q1, z1, zm, values, ck, jac, matrix):
    """A torque that turns with the body: its value Rm tau changes with half of the end frame."""
    t1, t2, t3 = load_vector(e, values)
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
