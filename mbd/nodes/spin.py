"""Three rotation parameters rho with omega = G(rho) rho_dot: rotation vector and Euler angles of any sequence.

``G`` and its first two directional derivatives are all that frames, inertia and their tangents need.

Rotation vector: ``G = T_exp``, ``G x = c_1 x - c_2 psi x x + c_3 (psi.x) psi`` with Stumpff functions of |psi|^2.
Euler angles ``R = R_i(a) R_j(b) R_k(c)``: the columns of G are the three rotation axes seen from the body,
``g_3 = e_k, g_2 = R_k^T e_j, g_1 = R_k^T R_j^T e_i``, and ``dg_m/drho_n = g_m x g_n`` for n > m, else 0.
"""

from __future__ import annotations

import math

from ..compiled.kernel import kernel
from ..math.quaternions import multiply_quaternions, quaternion_axes
from ..math.so3 import stumpff, tangent_operator
from .kinds import ROTATION_VECTOR


@kernel
def axis_quaternion(axis, angle):
    """Quaternion of a rotation about a coordinate axis (0, 1, 2)."""
    s = math.sin(0.5 * angle)
    return (
        math.cos(0.5 * angle),
        s if axis == 0 else 0.0,
        s if axis == 1 else 0.0,
        s if axis == 2 else 0.0,
    )


@kernel
def euler_axes(axis1, axis2, axis3, a, b, c, z):
    """Frame axes of R_1(a) R_2(b) R_3(c) into z[3:12]."""
    p0, p1, p2, p3 = axis_quaternion(axis1, a)
    q0, q1, q2, q3 = axis_quaternion(axis2, b)
    p0, p1, p2, p3 = multiply_quaternions(p0, p1, p2, p3, q0, q1, q2, q3)
    q0, q1, q2, q3 = axis_quaternion(axis3, c)
    p0, p1, p2, p3 = multiply_quaternions(p0, p1, p2, p3, q0, q1, q2, q3)
    quaternion_axes(p0, p1, p2, p3, z)


@kernel(forceinline=True)
def euler_sides(axis1, axis2, axis3, z):
    """Sine and cosine of the angles a, b, c of the frame z for any sequence, each pair times a positive number.

    No division stands before the arc tangents. Stable at gimbal lock: there the split between a and c is arbitrary,
    but c is computed from what a and b leave of R, so that the three angles always give back R to round-off.
    """
    other = 3 - axis1 - axis2  # the axis that is neither the first nor the second
    even = 1.0 if axis2 - axis1 == 1 or axis2 - axis1 == -2 else -1.0
    proper = axis3 == axis1
    last = 3 + 3 * axis3
    ui, uj, ul = z[last + axis1], z[last + axis2], z[last + other]  # R e_3
    square = uj * uj + ul * ul
    lateral, length = math.sqrt(square), math.sqrt(ui * ui + square)
    sa, ca = (uj, -even * ul) if proper else (-even * uj, ul)
    if not lateral > 0.0:
        sa, ca = 0.0, 1.0
    column = 3 + 3 * (axis2 if proper else axis1)  # R_2(b)^T R_1(a)^T of this axis is R_3(c) of it
    xi, xj, xo = z[column + axis1], z[column + axis2], z[column + other]
    xj, xo = ca * xj + even * sa * xo, ca * xo - even * sa * xj
    if proper:
        return sa, ca, lateral, ui, even * ui * xo + square * xi, length * xj
    return sa, ca, even * ui, lateral, even * length * xj, square * xi - ui * xo


@kernel
def axes_to_euler(axis1, axis2, axis3, z):
    """Angles (a, b, c) of the frame z for any sequence."""
    sa, ca, sb, cb, sc, cc = euler_sides(axis1, axis2, axis3, z)
    return math.atan2(sa, ca), math.atan2(sb, cb), math.atan2(sc, cc)


@kernel(forceinline=True)
def euler_rates(n, sb, cb, sc, cc, w1, w2, w3, v):
    """Store G^-1 omega of Euler angles, from sines and cosines of the second and the third one.

    R_3(c) omega = a_dot R_2(b)^T e_1 + b_dot e_2 + c_dot e_3, whose first vector has no part along e_2.
    """
    i, j, k = n.axis1, n.axis2, n.v0 + n.nx
    o = 3 - i - j
    even = 1.0 if j - i == 1 or j - i == -2 else -1.0
    wi, wj, wo = (
        w1 if i == 0 else (w2 if i == 1 else w3),
        w1 if j == 0 else (w2 if j == 1 else w3),
        w1 if o == 0 else (w2 if o == 1 else w3),
    )
    if n.axis3 == i:
        rate = (sc * wj + even * cc * wo) / sb
        v[k], v[k + 1], v[k + 2] = rate, cc * wj - even * sc * wo, wi - rate * cb
    else:
        rate = (cc * wi - even * sc * wj) / cb
        v[k], v[k + 1], v[k + 2] = rate, cc * wj + even * sc * wi, wo - even * rate * sb


@kernel
def spin_matrix(n, q, g):
    """G(rho) of a three-parameter node as nine numbers, row by row."""
    k = n.q0 + n.nx
    if n.kind == ROTATION_VECTOR:
        tangent_operator(q[k], q[k + 1], q[k + 2], g)
    else:
        euler_spin_matrix(n, math.sin(q[k + 1]), math.cos(q[k + 1]), math.sin(q[k + 2]), math.cos(q[k + 2]), g)


@kernel
def euler_spin_matrix(n, sb, cb, s, c, g):
    """G of Euler angles, from sines and cosines of the second and the third one."""
    for m in range(9):
        g[m] = 0.0
    # columns are built in turn; g[3 * row + column]
    i, j, l = n.axis1, n.axis2, n.axis3  # noqa: E741
    g[3 * l + 2] = 1.0
    # R_2(b)^T e_1: components on e_1 and on the axis perpendicular to both
    o = 3 - i - j
    sign = 1.0 if (j + 1) % 3 == i else -1.0  # e_o = sign * ... for rotations about e_j
    x1 = cb
    xo = -sb if sign > 0.0 else sb
    # R_3(c)^T applied to e_2 -> column 2, and to (x1 e_1 + xo e_o) -> column 1
    m = (l + 1) % 3
    p = (l + 2) % 3
    u = 1.0 if j == m else 0.0
    v = 1.0 if j == p else 0.0
    w = 1.0 if j == l else 0.0
    g[3 * l + 1] = g[3 * l + 1] + w
    g[3 * m + 1] = c * u + s * v
    g[3 * p + 1] = c * v - s * u
    u = (x1 if i == m else 0.0) + (xo if o == m else 0.0)
    v = (x1 if i == p else 0.0) + (xo if o == p else 0.0)
    w = (x1 if i == l else 0.0) + (xo if o == l else 0.0)
    g[3 * l] = w
    g[3 * m] = c * u + s * v
    g[3 * p] = c * v - s * u


@kernel
def spin_determinant(g):
    """det G: zero at a singularity of the parametrisation."""
    return g[0] * (g[4] * g[8] - g[5] * g[7]) - g[1] * (g[3] * g[8] - g[5] * g[6]) + g[2] * (g[3] * g[7] - g[4] * g[6])


@kernel
def _add_cross(f, a1, a2, a3, b1, b2, b3, out):
    out[0] += f * (a2 * b3 - a3 * b2)
    out[1] += f * (a3 * b1 - a1 * b3)
    out[2] += f * (a1 * b2 - a2 * b1)


@kernel
def rotation_vector_derivative(p1, p2, p3, u, x, c, out):
    """out = DT_exp(p)[u] x; c is scratch of eight."""
    stumpff(p1 * p1 + p2 * p2 + p3 * p3, c)
    a1 = 0.5 * (c[3] - c[2])  # c_1'
    b1 = 0.5 * (2.0 * c[4] - c[3])  # c_2'
    d1 = 0.5 * (3.0 * c[5] - c[4])  # c_3'
    su = 2.0 * (p1 * u[0] + p2 * u[1] + p3 * u[2])
    px = p1 * x[0] + p2 * x[1] + p3 * x[2]
    ux = u[0] * x[0] + u[1] * x[1] + u[2] * x[2]
    fx = a1 * su
    fp = d1 * su * px + c[3] * ux
    fu = c[3] * px
    out[0] = fx * x[0] + fp * p1 + fu * u[0]
    out[1] = fx * x[1] + fp * p2 + fu * u[1]
    out[2] = fx * x[2] + fp * p3 + fu * u[2]
    _add_cross(-b1 * su, p1, p2, p3, x[0], x[1], x[2], out)
    _add_cross(-c[2], u[0], u[1], u[2], x[0], x[1], x[2], out)


@kernel
def spin_derivative(n, q, g, u, x, c, out):
    """out = DG(rho)[u] x; c is scratch of eight."""
    if n.kind == ROTATION_VECTOR:
        k = n.q0 + n.nx
        rotation_vector_derivative(q[k], q[k + 1], q[k + 2], u, x, c, out)
    else:
        out[0] = 0.0
        out[1] = 0.0
        out[2] = 0.0
        for m in range(2):
            for l in range(m + 1, 3):  # noqa: E741
                _add_cross(x[m] * u[l], g[m], g[3 + m], g[6 + m], g[l], g[3 + l], g[6 + l], out)


@kernel
def spin_second_derivative(n, q, g, u, w, x, c, out):
    """out = D^2 G(rho)[u, w] x; c is scratch of eight (rotation vector) or six (Euler angles)."""
    out[0] = 0.0
    out[1] = 0.0
    out[2] = 0.0
    if n.kind == ROTATION_VECTOR:
        k = n.q0 + n.nx
        p1, p2, p3 = q[k], q[k + 1], q[k + 2]
        stumpff(p1 * p1 + p2 * p2 + p3 * p3, c)
        c2d = 0.5 * (2.0 * c[4] - c[3])
        c3d = 0.5 * (3.0 * c[5] - c[4])
        c4d = 0.5 * (4.0 * c[6] - c[5])
        c5d = 0.5 * (5.0 * c[7] - c[6])
        a1, a2 = 0.5 * (c[3] - c[2]), 0.5 * (c3d - c2d)
        b1, b2 = c2d, 0.5 * (2.0 * c4d - c3d)
        d1, d2 = c3d, 0.5 * (3.0 * c5d - c4d)
        su = 2.0 * (p1 * u[0] + p2 * u[1] + p3 * u[2])
        sw = 2.0 * (p1 * w[0] + p2 * w[1] + p3 * w[2])
        suw = 2.0 * (u[0] * w[0] + u[1] * w[1] + u[2] * w[2])
        px = p1 * x[0] + p2 * x[1] + p3 * x[2]
        ux = u[0] * x[0] + u[1] * x[1] + u[2] * x[2]
        wx = w[0] * x[0] + w[1] * x[1] + w[2] * x[2]
        fx = a2 * su * sw + a1 * suw
        fp = (d2 * su * sw + d1 * suw) * px + d1 * (su * wx + sw * ux)
        fw = d1 * su * px + c[3] * ux
        fu = d1 * sw * px + c[3] * wx
        out[0] = fx * x[0] + fp * p1 + fw * w[0] + fu * u[0]
        out[1] = fx * x[1] + fp * p2 + fw * w[1] + fu * u[1]
        out[2] = fx * x[2] + fp * p3 + fw * w[2] + fu * u[2]
        _add_cross(-(b2 * su * sw + b1 * suw), p1, p2, p3, x[0], x[1], x[2], out)
        _add_cross(-b1 * su, w[0], w[1], w[2], x[0], x[1], x[2], out)
        _add_cross(-b1 * sw, u[0], u[1], u[2], x[0], x[1], x[2], out)
    else:
        # dg_1 = w_2 g_1 x g_2 + w_3 g_1 x g_3, dg_2 = w_3 g_2 x g_3, dg_3 = 0
        for m in range(6):
            c[m] = 0.0
        _add_cross(w[1], g[0], g[3], g[6], g[1], g[4], g[7], c)
        _add_cross(w[2], g[0], g[3], g[6], g[2], g[5], g[8], c)
        d21 = w[2] * (g[4] * g[8] - g[7] * g[5])
        d22 = w[2] * (g[7] * g[2] - g[1] * g[8])
        d23 = w[2] * (g[1] * g[5] - g[4] * g[2])
        _add_cross(x[0] * u[1], c[0], c[1], c[2], g[1], g[4], g[7], out)
        _add_cross(x[0] * u[1], g[0], g[3], g[6], d21, d22, d23, out)
        _add_cross(x[0] * u[2], c[0], c[1], c[2], g[2], g[5], g[8], out)
        _add_cross(x[1] * u[2], d21, d22, d23, g[2], g[5], g[8], out)
