"""One step of the free rotation of one body, by each of the methods; momenta y and quaternions e in principal axes.

Convention: y' = y x J^-1 y, Q' = Q hat(J^-1 y), with J = diag(I1, I2, I3). All updates are added with compensated
summation: an increment is of the size of the step, and its lost digits are carried in ``yc`` and ``ec`` to the next
one [Vilmart 2008, J. Comput. Phys. 227, 7083]. Each flow returns 0, or 1 if the body turns too far for the method; then
momentum and attitude are left as they were.
"""

from __future__ import annotations

import math

from ...compiled.kernel import kernel
from ...math.quaternions import multiply_quaternions
from ...math.so3 import exp_quaternion
from .jacobi import free_rotation
from .series import LARGEST_ANGLE, ORDER

JACOBI = 0
ROTATIONS = 1
SYMMETRIC = 2
MOSER_VESELOV = 3
MIDPOINT = 4
BOBENKO_SURIS = 5

NEWTON_ITERATIONS = 30
QUADRATIC = 1e-9  # a relative Newton correction below this leaves an error below round-off
QUARTER_TURN = 2.0  # 1 + |c|^2 of the Cayley vector c of a rotation by 90 degrees, beyond which branches cross


@kernel
def add(x, c, k, d):
    """x[k] += d, with the rounding error kept in c[k] (Knuth's two-sum)."""
    t = d + c[k]
    old = x[k]
    new = old + t
    b = new - old
    c[k] = (old - (new - b)) + (t - b)
    x[k] = new


@kernel
def turn(e, ec, d0, d1, d2, d3):
    """e := e o d for a unit quaternion d."""
    small = -(d1 * d1 + d2 * d2 + d3 * d3) / (1.0 + d0) if d0 > -0.5 else d0 - 1.0  # d0 - 1 without cancellation
    a0, a1, a2, a3 = multiply_quaternions(e[0], e[1], e[2], e[3], small, d1, d2, d3)
    add(e, ec, 0, a0)
    add(e, ec, 1, a1)
    add(e, ec, 2, a2)
    add(e, ec, 3, a3)


@kernel
def axis_flow(k, angle, y, e, yc, ec):
    """Rotation about the k-th principal axis (0, 1, 2): Q := Q R_k(angle), y := R_k(-angle) y."""
    i, j = (k + 1) % 3, (k + 2) % 3
    s, c = math.sin(0.5 * angle), math.cos(0.5 * angle)
    a, b = y[i], y[j]
    add(y, yc, i, 2.0 * s * (c * b - s * a))
    add(y, yc, j, -2.0 * s * (c * a + s * b))
    turn(e, ec, c, s if k == 0 else 0.0, s if k == 1 else 0.0, s if k == 2 else 0.0)


@kernel
def rotation_splitting(b, h, y, e, yc, ec):
    """R3(h/2) R2(h/2) R1(h) R2(h/2) R3(h/2) for H = sum y_j^2 / (2 I_j) [Vilmart 2013, three-rotation splitting]."""
    axis_flow(2, 0.5 * h * y[2] * b.k3, y, e, yc, ec)
    axis_flow(1, 0.5 * h * y[1] * b.k2, y, e, yc, ec)
    axis_flow(0, h * y[0] * b.k1, y, e, yc, ec)
    axis_flow(1, 0.5 * h * y[1] * b.k2, y, e, yc, ec)
    axis_flow(2, 0.5 * h * y[2] * b.k3, y, e, yc, ec)
    return 0


@kernel
def symmetric_splitting(b, h, y, e, yc, ec):
    """R(h/2) S(h) R(h/2): S the symmetric body (I2, I2, I3), R a rotation about the first axis [Vilmart 2013, Alg. 2].

    Printed alpha and beta lack factors; they are (1/I1 - 1/I2) y1 and (1/I3 - 1/I2) y3.
    """
    axis_flow(0, 0.5 * h * (b.k1 - b.k2) * y[0], y, e, yc, ec)
    f = h * b.k2
    d0, d1, d2, d3 = exp_quaternion(f * y[0], f * y[1], f * y[2])
    turn(e, ec, d0, d1, d2, d3)
    axis_flow(2, h * (b.k3 - b.k2) * y[2], y, e, yc, ec)
    axis_flow(0, 0.5 * h * (b.k1 - b.k2) * y[0], y, e, yc, ec)
    return 0


@kernel
def bobenko_suris(b, h, y, e, yc, ec):
    """Cayley rotation about the momentum and spin about the axis of a symmetric body (I1, I1, I3).

    In space d3+ - d3 = h/I1 m x (d3+ + d3)/2 [Bobenko & Suris 1999, (1.17)]; the spin completes the attitude.
    """
    f = 0.5 * h * b.k1
    e1, e2, e3 = f * y[0], f * y[1], f * y[2]
    size = 1.0 + e1 * e1 + e2 * e2 + e3 * e3
    if not size < QUARTER_TURN:
        return 1
    d = 1.0 / math.sqrt(size)
    turn(e, ec, d, d * e1, d * e2, d * e3)
    axis_flow(2, h * (b.k3 - b.k1) * y[2], y, e, yc, ec)
    return 0


@kernel
def cayley_step(i1, i2, i3, alpha, h, y, e, yc, ec):
    """Discrete Moser-Veselov algorithm (alpha = 1) or midpoint rule (alpha = 0) [Vilmart 2013, Alg. 3, Rem. 4].

    Unknown is the Cayley vector c = h/2 J^-1 Y of the rotation, here (x1, x2, x3); (14) becomes
    J c = (1 + alpha |c|^2) h/2 y + (J c) x c and is solved by Newton's method.

    The solution that begins with c = 0 at h = 0 ends where the matrix of the equations becomes singular: for alpha = 1
    at |omega| h = 1 in a steady rotation (sin(angle) = |omega| h) and never before. Others that exist there, behind a
    determinant of zero or a quarter of a turn, are not the motion.
    """
    f = 0.5 * h
    y1, y2, y3 = f * y[0], f * y[1], f * y[2]
    d1, d2, d3 = i3 - i2, i1 - i3, i2 - i1
    x1, x2, x3 = y1 / i1, y2 / i2, y3 / i3
    failed = 1
    for _ in range(NEWTON_ITERATIONS):
        a = 1.0 + alpha * (x1 * x1 + x2 * x2 + x3 * x3)
        r1 = i1 * x1 - a * y1 + d1 * x2 * x3
        r2 = i2 * x2 - a * y2 + d2 * x3 * x1
        r3 = i3 * x3 - a * y3 + d3 * x1 * x2
        z1, z2, z3 = 2.0 * alpha * y1, 2.0 * alpha * y2, 2.0 * alpha * y3
        m11, m12, m13 = i1 - z1 * x1, d1 * x3 - z1 * x2, d1 * x2 - z1 * x3
        m21, m22, m23 = d2 * x3 - z2 * x1, i2 - z2 * x2, d2 * x1 - z2 * x3
        m31, m32, m33 = d3 * x2 - z3 * x1, d3 * x1 - z3 * x2, i3 - z3 * x3
        c1, c2, c3 = m22 * m33 - m23 * m32, m23 * m31 - m21 * m33, m21 * m32 - m22 * m31
        g = m11 * c1 + m12 * c2 + m13 * c3
        if not g > 0.0:
            break
        g = 1.0 / g
        s1 = g * (r1 * c1 + r2 * (m13 * m32 - m12 * m33) + r3 * (m12 * m23 - m13 * m22))
        s2 = g * (r1 * c2 + r2 * (m11 * m33 - m13 * m31) + r3 * (m13 * m21 - m11 * m23))
        s3 = g * (r1 * c3 + r2 * (m12 * m31 - m11 * m32) + r3 * (m11 * m22 - m12 * m21))
        x1 -= s1
        x2 -= s2
        x3 -= s3
        if abs(s1) + abs(s2) + abs(s3) <= QUADRATIC * (abs(x1) + abs(x2) + abs(x3)):
            failed = 0
            break
    size = 1.0 + x1 * x1 + x2 * x2 + x3 * x3
    if failed != 0 or not size < QUARTER_TURN:
        return 1
    g = -2.0 / (f * size) if alpha == 1.0 else -2.0 / f
    add(y, yc, 0, g * d1 * x2 * x3)
    add(y, yc, 1, g * d2 * x3 * x1)
    add(y, yc, 2, g * d3 * x1 * x2)
    g = 1.0 / math.sqrt(size)
    turn(e, ec, g, g * x1, g * x2, g * x3)
    return 0


@kernel
def homogeneous(c, first, degree, ham, cas):
    """c[first] H^degree + c[first + 1] H^(degree - 1) C + ... + c[first + degree] C^degree."""
    total, power = c[first], 1.0
    for k in range(1, degree + 1):
        power *= cas
        total = total * ham + c[first + k] * power
    return total


@kernel
def moser_veselov(b, c, h, y, e, yc, ec):
    """Preprocessed discrete Moser-Veselov algorithm [Vilmart 2013, Alg. 4]; c holds the coefficients of a body.

    Energy and Casimir are those of h y, so that momenta and steps of any size keep their digits.
    """
    p, q, r = h * y[0], h * y[1], h * y[2]
    p, q, r = p * p, q * q, r * r
    u, v, w = p * b.k1, q * b.k2, r * b.k3
    if not u * b.k1 + v * b.k2 + w * b.k3 <= c[LARGEST_ANGLE]:
        return 1
    cas, ham = 0.5 * (p + q + r), 0.5 * (u + v + w)
    hh, cc, ch = ham * ham, cas * cas, cas * ham
    s = c[10] * hh * ham + c[11] * hh * cas + c[12] * cc * ham + c[13] * cc * cas
    t = c[14] * hh * ham + c[15] * hh * cas + c[16] * cc * ham + c[17] * cc * cas
    if c[ORDER] > 8.0:
        s += homogeneous(c, 20, 4, ham, cas) + homogeneous(c, 30, 5, ham, cas) + homogeneous(c, 42, 6, ham, cas)
        t += homogeneous(c, 25, 4, ham, cas) + homogeneous(c, 36, 5, ham, cas) + homogeneous(c, 49, 6, ham, cas)
    s = 1.0 + (c[0] * ham + c[1] * cas + (c[4] * hh + c[5] * ch + c[6] * cc + s))
    t = c[2] * ham + c[3] * cas + (c[7] * hh + c[8] * ch + c[9] * cc + t)
    i1, i2, i3 = 1.0 / (b.k1 * s + t), 1.0 / (b.k2 * s + t), 1.0 / (b.k3 * s + t)
    return cayley_step(i1, i2, i3, 1.0, h, y, e, yc, ec)


@kernel
def jacobi_flow(b, h, y, e, yc, ec, scratch):
    """The exact flow."""
    y1, y2, y3, d0, d1, d2, d3 = free_rotation(b.i1, b.i2, b.i3, y[0], y[1], y[2], h, scratch)
    if math.isnan(d0):
        return 1
    y[0], y[1], y[2] = y1, y2, y3
    yc[0], yc[1], yc[2] = 0.0, 0.0, 0.0
    turn(e, ec, d0, d1, d2, d3)
    return 0


@kernel
def free_flow(method, b, c, h, y, e, yc, ec, scratch):
    """A step of the chosen method for one body."""
    if method == MOSER_VESELOV:
        return moser_veselov(b, c, h, y, e, yc, ec)
    if method == JACOBI:
        return jacobi_flow(b, h, y, e, yc, ec, scratch)
    if method == ROTATIONS:
        return rotation_splitting(b, h, y, e, yc, ec)
    if method == SYMMETRIC:
        return symmetric_splitting(b, h, y, e, yc, ec)
    if method == MIDPOINT:
        return cayley_step(b.i1, b.i2, b.i3, 0.0, h, y, e, yc, ec)
    return bobenko_suris(b, h, y, e, yc, ec)
