"""Lie nodes and points over a step r_c1 = r_c0 + dr_c, R1 = R0 exp(x) of a variational integrator on the group.

The discrete Lagrangian is the kinetic energy of the mean velocities dr_c/h and x/h (c: centre of mass, J about it), so
that the momenta at both ends, times h and in the axes of their ends, are

    P0 = (m dr_c, T^-1(x) J x),      P1 = (m dr_c, T^-T(x) J x)        [Hante & Arnold 2021; T(-x) = T(x)^T]

with the body-fixed tangent operator T. Rows are those of the reference point: what the centre of mass lacks is pushed
on the frame there. Unknowns are the motions of the end, theta with dR1 = R1 hat(theta).
"""

from __future__ import annotations

import math

from ...compiled.kernel import kernel
from ...math.so3 import tangent_inverse
from ..forms import FORM_LIE
from ..inertia import frame_torque
from ..markers import axis, push_point
from ..mass import central_inertia, centre_block, centre_of_mass

FAR = 1.0  # square of the angle above which the closed form of the derivative of f is used


@kernel
def _lever(n, z):
    """The centre of mass seen from the reference point, in space."""
    if n.form != FORM_LIE:
        return 0.0, 0.0, 0.0
    c1, c2, c3 = centre_of_mass(n)
    return axis(z, c1, c2, c3)


@kernel
def _centre_increment(n, dq, z0, z1):
    """dr_c from the increment of the reference point."""
    a1, a2, a3 = _lever(n, z0)
    b1, b2, b3 = _lever(n, z1)
    k = n.v0
    return dq[k] + (b1 - a1), dq[k + 1] + (b2 - a2), dq[k + 2] + (b3 - a3)


@kernel
def _centre_velocity(n, v, z):
    """Velocity of the centre of mass."""
    k = n.v0
    if n.form != FORM_LIE or (n.s1 == 0.0 and n.s2 == 0.0 and n.s3 == 0.0):
        return v[k], v[k + 1], v[k + 2]
    c1, c2, c3 = centre_of_mass(n)
    w1, w2, w3 = v[k + 3], v[k + 4], v[k + 5]
    y1, y2, y3 = axis(z, w2 * c3 - w3 * c2, w3 * c1 - w1 * c3, w1 * c2 - w2 * c1)
    return v[k] + y1, v[k + 1] + y2, v[k + 2] + y3


@kernel
def _rows(n, z, f, d1, d2, d3, a1, a2, a3, x):
    """x[x0:] = balance of a momentum (d at the centre of mass, a in the axes of z) with the frame force f."""
    i = n.x0
    if n.nx == 3:
        c1, c2, c3 = centre_of_mass(n)
        push_point(f, c1, c2, c3, d1, d2, d3)
        x[i], x[i + 1], x[i + 2] = f[0], f[1], f[2]
        i += 3
    if n.form == FORM_LIE:
        t1, t2, t3 = frame_torque(z, f)
        x[i], x[i + 1], x[i + 2] = t1 + a1, t2 + a2, t3 + a3


@kernel
def start_equation(n, dq, v, z0, z1, f, h, t, x):
    """P0 - h p0 + f, f being (h^2/2) times all forces at the start; t is scratch of nine."""
    d1, d2, d3, a1, a2, a3 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if n.nx == 3:
        d1, d2, d3 = _centre_increment(n, dq, z0, z1)
        u1, u2, u3 = _centre_velocity(n, v, z0)
        d1, d2, d3 = n.mass * (d1 - h * u1), n.mass * (d2 - h * u2), n.mass * (d3 - h * u3)
    if n.form == FORM_LIE:
        k = n.v0 + n.nx
        tangent_inverse(dq[k], dq[k + 1], dq[k + 2], t)
        b1, b2, b3 = central_inertia(n, dq[k], dq[k + 1], dq[k + 2])
        m1, m2, m3 = central_inertia(n, h * v[k], h * v[k + 1], h * v[k + 2])
        a1 = t[0] * b1 + t[1] * b2 + t[2] * b3 - m1
        a2 = t[3] * b1 + t[4] * b2 + t[5] * b3 - m2
        a3 = t[6] * b1 + t[7] * b2 + t[8] * b3 - m3
    _rows(n, z0, f, d1, d2, d3, a1, a2, a3, x)


@kernel
def end_equation(n, dq, u, z0, z1, f, t, x):
    """h p1 - P1 + f for the velocity u = h v1, f being (h^2/2) times all forces at the end."""
    d1, d2, d3, a1, a2, a3 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if n.nx == 3:
        d1, d2, d3 = _centre_increment(n, dq, z0, z1)
        u1, u2, u3 = _centre_velocity(n, u, z1)
        d1, d2, d3 = n.mass * (u1 - d1), n.mass * (u2 - d2), n.mass * (u3 - d3)
    if n.form == FORM_LIE:
        k = n.v0 + n.nx
        tangent_inverse(dq[k], dq[k + 1], dq[k + 2], t)
        b1, b2, b3 = central_inertia(n, dq[k], dq[k + 1], dq[k + 2])
        a1, a2, a3 = central_inertia(n, u[k], u[k + 1], u[k + 2])
        a1 -= t[0] * b1 + t[3] * b2 + t[6] * b3
        a2 -= t[1] * b1 + t[4] * b2 + t[7] * b3
        a3 -= t[2] * b1 + t[5] * b2 + t[8] * b3
    _rows(n, z1, f, d1, d2, d3, a1, a2, a3, x)


@kernel
def _second_factor(s):
    """(f, df/ds) of T^-1 = I + hat/2 + f(s) hat^2, s = |x|^2."""
    if s < FAR:
        f = 1.0 / 12.0 + s * (1.0 / 720.0 + s * (1.0 / 30240.0 + s * (1.0 / 1209600.0 + s / 47900160.0)))
        return f, 1.0 / 720.0 + s * (1.0 / 15120.0 + s * (1.0 / 403200.0 + s / 11975040.0))
    angle = math.sqrt(s)
    sine, cotangent = math.sin(0.5 * angle), 1.0 / math.tan(0.5 * angle)
    f = (1.0 - 0.5 * angle * cotangent) / s
    return f, -1.0 / (s * s) + 1.0 / (8.0 * s * sine * sine) + cotangent / (4.0 * s * angle)


@kernel
def start_block(n, q, dq, z0, z1, t, jacobians, matrix):
    """Diagonal block of the equation of the start: rows at z0, columns along motions of the end."""
    if n.nx == 3:
        if n.form == FORM_LIE and (n.s1 != 0.0 or n.s2 != 0.0 or n.s3 != 0.0):
            centre_block(n, q, z0, q, z1, jacobians, matrix)
        else:
            for m in range(3):
                matrix[n.block + m * n.ld + m] += n.mass
    if n.form != FORM_LIE:
        return
    k, o = n.v0 + n.nx, n.block + n.nx * n.ld + n.nx
    x1, x2, x3 = dq[k], dq[k + 1], dq[k + 2]
    b1, b2, b3 = central_inertia(n, x1, x2, x3)
    c1, c2, c3 = x2 * b3 - x3 * b2, x3 * b1 - x1 * b3, x1 * b2 - x2 * b1  # x x J x
    g1, g2, g3 = x2 * c3 - x3 * c2, x3 * c1 - x1 * c3, x1 * c2 - x2 * c1  # x x (x x J x)
    f, slope = _second_factor(x1 * x1 + x2 * x2 + x3 * x3)
    tangent_inverse(x1, x2, x3, t)
    for j in range(3):
        y1, y2, y3 = t[j], t[3 + j], t[6 + j]  # dx = T^-1 e_j
        m1, m2, m3 = central_inertia(n, y1, y2, y3)
        # change of x x J x, and of x x (x x J x)
        e1 = y2 * b3 - y3 * b2 + x2 * m3 - x3 * m2
        e2 = y3 * b1 - y1 * b3 + x3 * m1 - x1 * m3
        e3 = y1 * b2 - y2 * b1 + x1 * m2 - x2 * m1
        d1 = y2 * c3 - y3 * c2 + x2 * e3 - x3 * e2
        d2 = y3 * c1 - y1 * c3 + x3 * e1 - x1 * e3
        d3 = y1 * c2 - y2 * c1 + x1 * e2 - x2 * e1
        r = 2.0 * slope * (x1 * y1 + x2 * y2 + x3 * y3)
        matrix[o + j] += m1 + 0.5 * e1 + f * d1 + r * g1
        matrix[o + n.ld + j] += m2 + 0.5 * e2 + f * d2 + r * g2
        matrix[o + 2 * n.ld + j] += m3 + 0.5 * e3 + f * d3 + r * g3
