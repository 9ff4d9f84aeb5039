"""Lie nodes and points in the energy-momentum scheme on frames: Cayley steps.

One step with the unknown increment (dr, x), x = h Theta the Cayley vector:

    R1 = R0 cay(x),  Omega1 = 2 x/h - Omega0,  r_c1 = r_c0 + h (u0 + u1)/2        (c: centre of mass)
    m (u1 - u0)/h + F_r = 0,   (R1 J Omega1 - R0 J Omega0)/h + sum_i dm_i x F_i = 0

Because cay(x) leaves x where it is, d1 - d0 = (R0 x) x dm, so that frame forces at the averaged frame zm do the work
F.(z1 - z0), and the rotational equation times Theta is the change of kinetic energy [Simo & Wong 1991, Int. J. Numer.
Methods Eng. 31, 19]. The rotational rows are those above times Rm^T with Rm = (R0 + R1)/2. Then a frame force on the
body-fixed axis a acts like that of a frame with the axes cof(Rm), and the kernels of nodes serve unchanged. With
K = (I + hat(x)/2)^-1: Rm^T R1 = K^T, Rm^T R0 = K, and an increment theta at the end, dR1 = R1 hat(theta), means
dx = (I + hat(x)/2 + x x^T/4) theta.

The step enters by the one number c = 2/h only, everywhere as a factor: c and h are rounded differently, and impulses of
translation and rotation that differ by a fixed part in 10^16 would add up over many steps.
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...math.so3 import cayley_solve, cayley_tangent
from ..forms import FORM_LIE
from ..increments import straight_velocity
from ..inertia import frame_torque
from ..markers import axis, body_components, cofactor_axes, cross_axes, push_point
from ..mass import central_inertia, centre_of_mass


@kernel
def _centre_velocities(n, dq, v, z0, zr, c):
    """(mean velocity of the centre of mass over the step, its velocity at the start)."""
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
def row_axes(n, zm, zr):
    """Axes of zr that turn frame forces at the averaged axes zm of a Lie node into torques; a point has none."""
    if n.form == FORM_LIE:
        cofactor_axes(zm, zr)


@kernel
def lie_equation(n, dq, v, z0, zm, zr, f, torque, h, x):
    """x[x0:] = momentum balance of a Lie node or point; inertia forces that act on the frame are added to f."""
    c = 2.0 / h
    half = 0.5 * c
    i, k = n.x0, n.v0
    if n.nx == 3:
        d1, d2, d3, u1, u2, u3 = _centre_velocities(n, dq, v, z0, zr, c)
        m = c * n.mass
        c1, c2, c3 = centre_of_mass(n)
        push_point(f, c1, c2, c3, m * (d1 - u1), m * (d2 - u2), m * (d3 - u3))
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
def lie_velocity(n, dq, v, z0, z1, zr, h, out):
    """Velocities at the end of the step."""
    k = n.v0
    straight_velocity(n, dq, v, h, out)
    if n.form == FORM_LIE and n.nx == 3 and (n.s1 != 0.0 or n.s2 != 0.0 or n.s3 != 0.0):
        d1, d2, d3, u1, u2, u3 = _centre_velocities(n, dq, v, z0, zr, 2.0 / h)
        c1, c2, c3 = n.s1 / n.mass, n.s2 / n.mass, n.s3 / n.mass
        w1, w2, w3 = out[k + 3], out[k + 4], out[k + 5]
        y1, y2, y3 = axis(z1, w2 * c3 - w3 * c2, w3 * c1 - w1 * c3, w1 * c2 - w2 * c1)
        out[k], out[k + 1], out[k + 2] = 2.0 * d1 - u1 - y1, 2.0 * d2 - u2 - y2, 2.0 * d3 - u3 - y3


@kernel
def _lever_column(z, c1, c2, c3, j):
    """R (e_j x c): how the point c of a frame moves with the rotation about its axis j."""
    if j == 0:
        return axis(z, 0.0, -c3, c2)
    if j == 1:
        return axis(z, c3, 0.0, -c1)
    return axis(z, -c2, c1, 0.0)


@kernel
def lie_matrix(n, dq, v, z1, zm, zr, f, torque, h, matrix):
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
        y1, y2, y3 = cross_axes(zm, m, f, m)
        t1, t2, t3 = t1 + y1, t2 + y2, t3 + y3
        trace += z1[m] * f[m] + z1[m + 1] * f[m + 1] + z1[m + 2] * f[m + 2]
    s1, s2, s3 = body_components(z1, t1, t2, t3)
    half = 0.5 * ck
    for j in range(3):
        e1, e2, e3 = 1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0
        y1, y2, y3 = cayley_tangent(x1, x2, x3, e1, e2, e3)
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
