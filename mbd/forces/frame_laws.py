"""Force laws on frames that are differentiated by the complex step: real or complex frames in, frame forces out.

Each law adds its frame forces with the sign of the residual (minus the applied force). ``c`` holds its parameters.

Laws serve an instant (h = 0, frames z and velocities zd) and a step of size h alike. For a step, z are the averaged
frames and zd the secant (z1 - z0)/h, and a law with an energy gives its exact discrete gradient: f.(z1 - z0) = V1 - V0.
This needs no quotient that could degenerate, because the energies are functions of a coordinate u or pi that is
quadratic in z. Its mean over both ends is u(z) + h^2/4 u(zd), and Greenspan's quotient of V(u) = k u^2 / 2 is k times
it, that of V(pi) = -c pi^(-1/2) is c / (r0 r1 (r0 + r1)) [Greenspan 1984, J. Comput. Phys. 56, 28].
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..elements.frame_kinds import DRAG, GRAVITATION, GREEN_SPRING, TWIST
from ..nodes.markers import axis, point, push_axis, push_point

# drag: quadratic and linear coefficient, point in the body, velocity of the medium
QUADRATIC, LINEAR, AT, WIND = 0, 1, 2, 5
# between two points: the points first, then GREEN_SPRING: stiffness, length, damping; GRAVITATION: G m_a m_b
POINT_A, POINT_B, LAW = 0, 3, 6
# holding: number of coordinates, gravity, then for each: whether it is an angle, first and second body of the joint,
# the body that is carried and the one that carries it, axis in the first body, point in the second, number of bodies
# that are carried, and of each its place, mass and centre of mass
GRAVITY, HELD = 1, 4
# twist: three stiffnesses, three damping constants, columns of the frame in the first and in the second body
STIFFNESS, DAMPING, FRAME_A, FRAME_B = 0, 3, 6, 15


@kernel
def _drag(c, z, zd, f):
    """-(linear + quadratic |u|) u with the velocity u against the medium."""
    v1, v2, v3 = point(zd, c[AT], c[AT + 1], c[AT + 2])
    u1, u2, u3 = v1 - c[WIND], v2 - c[WIND + 1], v3 - c[WIND + 2]
    square = u1 * u1 + u2 * u2 + u3 * u3
    k = c[LINEAR] + 0.0 * square
    if square.real > 0.0:
        k = k + c[QUADRATIC] * square**0.5
    push_point(f, c[AT], c[AT + 1], c[AT + 2], k * u1, k * u2, k * u3)


@kernel
def separation(c, za, zb):
    """Q - P; with frame velocities, its velocity."""
    p1, p2, p3 = point(za, c[POINT_A], c[POINT_A + 1], c[POINT_A + 2])
    q1, q2, q3 = point(zb, c[POINT_B], c[POINT_B + 1], c[POINT_B + 2])
    return q1 - p1, q2 - p2, q3 - p3


@kernel
def push_pair(c, f1, f2, f3, fa, fb):
    """Equal and opposite forces on the two points."""
    push_point(fa, c[POINT_A], c[POINT_A + 1], c[POINT_A + 2], -f1, -f2, -f3)
    push_point(fb, c[POINT_B], c[POINT_B + 1], c[POINT_B + 2], f1, f2, f3)


@kernel
def _twist_axes(c, za, zb, i):
    """The axes j, k of both frames that follow i cyclically: n_j, n_k of the first, m_j, m_k of the second body."""
    j, k = FRAME_A + 3 * ((i + 1) % 3), FRAME_A + 3 * ((i + 2) % 3)
    a1, a2, a3 = axis(za, c[j], c[j + 1], c[j + 2])
    b1, b2, b3 = axis(za, c[k], c[k + 1], c[k + 2])
    j, k = FRAME_B + 3 * ((i + 1) % 3), FRAME_B + 3 * ((i + 2) % 3)
    d1, d2, d3 = axis(zb, c[j], c[j + 1], c[j + 2])
    e1, e2, e3 = axis(zb, c[k], c[k + 1], c[k + 2])
    return a1, a2, a3, b1, b2, b3, d1, d2, d3, e1, e2, e3


@kernel
def _twist_angle(c, za, zb, i):
    """u_i = (n_k . m_j - n_j . m_k) / 2: the sine of a rotation about axis i."""
    a1, a2, a3, b1, b2, b3, d1, d2, d3, e1, e2, e3 = _twist_axes(c, za, zb, i)
    return 0.5 * (b1 * d1 + b2 * d2 + b3 * d3 - a1 * e1 - a2 * e2 - a3 * e3)


@kernel
def _twist(c, za, zb, zda, zdb, h, fa, fb):
    for i in range(3):
        a1, a2, a3, b1, b2, b3, d1, d2, d3, e1, e2, e3 = _twist_axes(c, za, zb, i)
        rate = _twist_angle(c, zda, zb, i) + _twist_angle(c, za, zdb, i)
        mean = _twist_angle(c, za, zb, i) + 0.25 * h * h * _twist_angle(c, zda, zdb, i)
        g = 0.5 * (c[STIFFNESS + i] * mean + c[DAMPING + i] * rate)
        j, k = FRAME_A + 3 * ((i + 1) % 3), FRAME_A + 3 * ((i + 2) % 3)
        push_axis(fa, c[k], c[k + 1], c[k + 2], g * d1, g * d2, g * d3)
        push_axis(fa, c[j], c[j + 1], c[j + 2], -g * e1, -g * e2, -g * e3)
        j, k = FRAME_B + 3 * ((i + 1) % 3), FRAME_B + 3 * ((i + 2) % 3)
        push_axis(fb, c[j], c[j + 1], c[j + 2], g * b1, g * b2, g * b3)
        push_axis(fb, c[k], c[k + 1], c[k + 2], -g * a1, -g * a2, -g * a3)


@kernel
def holding_loads(c, z, count, out):
    """out[6 i:] = force and torque about the reference point on body i that hold what joints carry against gravity.

    Torques -a.sum (c_k - p) x m_k g about axes, or forces -a.sum m_k g along them: what the weights of the bodies k do
    to a motion of the joint alone, with the other sign.
    """
    for m in range(6 * count):
        out[m] = 0.0 * z[0]
    g1, g2, g3 = c[GRAVITY], c[GRAVITY + 1], c[GRAVITY + 2]
    o = HELD
    for _ in range(int(c[0])):
        first, second = 12 * int(c[o + 1]), 12 * int(c[o + 2])
        carried, other = int(c[o + 3]), int(c[o + 4])
        a1, a2, a3 = axis(z[first:], c[o + 5], c[o + 6], c[o + 7])
        p1, p2, p3 = point(z[second:], c[o + 8], c[o + 9], c[o + 10])
        is_angle, number = c[o] != 0.0, int(c[o + 11])
        o += 12
        mass, s1, s2, s3 = 0.0, 0.0 * p1, 0.0 * p1, 0.0 * p1
        for _ in range(number):
            q1, q2, q3 = point(z[12 * int(c[o]) :], c[o + 2], c[o + 3], c[o + 4])
            m = c[o + 1]
            mass, s1, s2, s3 = mass + m, s1 + m * (q1 - p1), s2 + m * (q2 - p2), s3 + m * (q3 - p3)
            o += 5
        if is_angle:
            t1, t2, t3 = s2 * g3 - s3 * g2, s3 * g1 - s1 * g3, s1 * g2 - s2 * g1
            f = -(a1 * t1 + a2 * t2 + a3 * t3)
        else:
            f = -mass * (a1 * g1 + a2 * g2 + a3 * g3)
        f1, f2, f3 = f * a1, f * a2, f * a3
        for side in range(2):  # what is carried, and what carries it
            body = carried if side == 0 else other
            k, r = 6 * body, z[12 * body :]
            if is_angle:
                out[k + 3], out[k + 4], out[k + 5] = out[k + 3] + f1, out[k + 4] + f2, out[k + 5] + f3
            else:
                d1, d2, d3 = p1 - r[0], p2 - r[1], p3 - r[2]
                out[k], out[k + 1], out[k + 2] = out[k] + f1, out[k + 1] + f2, out[k + 2] + f3
                out[k + 3] += d2 * f3 - d3 * f2
                out[k + 4] += d3 * f1 - d1 * f3
                out[k + 5] += d1 * f2 - d2 * f1
            f1, f2, f3 = -f1, -f2, -f3


@kernel
def native_force(kind, c, z, zd, h, f):
    """f += frame forces of one or two bodies over a step h or at an instant; z, zd, f: twelve numbers for each."""
    if kind == DRAG:
        _drag(c, z, zd, f)
    elif kind == TWIST:
        _twist(c, z, z[12:], zd, zd[12:], h, f, f[12:])
    else:
        d1, d2, d3 = separation(c, z, z[12:])
        r1, r2, r3 = separation(c, zd, zd[12:])
        square = d1 * d1 + d2 * d2 + d3 * d3 + 0.25 * h * h * (r1 * r1 + r2 * r2 + r3 * r3)  # mean of both ends
        change = d1 * r1 + d2 * r2 + d3 * r3
        if kind == GREEN_SPRING:
            length = c[LAW + 1]
            u = 0.5 * (square - length * length) / length
            k = (c[LAW] * u + c[LAW + 2] * change / length) / length
        else:  # GRAVITATION
            first, last = (square - h * change) ** 0.5, (square + h * change) ** 0.5
            k = 2.0 * c[LAW] / (first * last * (first + last))
        push_pair(c, k * d1, k * d2, k * d3, f, f[12:])


@kernel
def native_energy(kind, c, z):
    """Potential energy of a law."""
    if kind == DRAG:
        return 0.0 * z[0]
    if kind == TWIST:
        total = 0.0 * z[0]
        for i in range(3):
            u = _twist_angle(c, z, z[12:], i)
            total += 0.5 * c[STIFFNESS + i] * u * u
        return total
    d1, d2, d3 = separation(c, z, z[12:])
    square = d1 * d1 + d2 * d2 + d3 * d3
    if kind == GREEN_SPRING:
        length = c[LAW + 1]
        u = 0.5 * (square - length * length) / length
        return 0.5 * c[LAW] * u * u
    if kind == GRAVITATION:
        return -c[LAW] / square**0.5
    return 0.0 * square


@kernel
def has_energy(kind):
    """Whether the law stores energy."""
    return kind == GREEN_SPRING or kind == GRAVITATION or kind == TWIST
