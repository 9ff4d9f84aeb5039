"""Spatial vectors (angular, linear) and their dual (torque, force): cross products, shifts, inertia.

A shift by d = r_child - r_parent takes a motion from the parent to the child, v + w x d, and a force from the child to
the parent, t + d x f.
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ..markers import axis


@kernel
def copy_six(x, out):
    """out = x."""
    for k in range(6):
        out[k] = x[k]


@kernel
def clear_six(out):
    """out = 0."""
    for k in range(6):
        out[k] = 0.0


@kernel
def dot_six(x, y):
    """x . y."""
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3] + x[4] * y[4] + x[5] * y[5]


@kernel
def add_six(c, x, out):
    """out += c x."""
    for k in range(6):
        out[k] += c * x[k]


@kernel(forceinline=True)
def motion_cross(x, y, out):
    """out = x x y of two motions."""
    x0, x1, x2, x3, x4, x5 = x[0], x[1], x[2], x[3], x[4], x[5]
    y0, y1, y2, y3, y4, y5 = y[0], y[1], y[2], y[3], y[4], y[5]
    out[0] = x1 * y2 - x2 * y1
    out[1] = x2 * y0 - x0 * y2
    out[2] = x0 * y1 - x1 * y0
    out[3] = x1 * y5 - x2 * y4 + x4 * y2 - x5 * y1
    out[4] = x2 * y3 - x0 * y5 + x5 * y0 - x3 * y2
    out[5] = x0 * y4 - x1 * y3 + x3 * y1 - x4 * y0


@kernel(forceinline=True)
def add_motion_cross(c, x, y, out):
    """out += c x x y of two motions."""
    x0, x1, x2, x3, x4, x5 = c * x[0], c * x[1], c * x[2], c * x[3], c * x[4], c * x[5]
    out[0] += x1 * y[2] - x2 * y[1]
    out[1] += x2 * y[0] - x0 * y[2]
    out[2] += x0 * y[1] - x1 * y[0]
    out[3] += x1 * y[5] - x2 * y[4] + x4 * y[2] - x5 * y[1]
    out[4] += x2 * y[3] - x0 * y[5] + x5 * y[0] - x3 * y[2]
    out[5] += x0 * y[4] - x1 * y[3] + x3 * y[1] - x4 * y[0]


@kernel(forceinline=True)
def add_force_cross(c, x, f, out):
    """out += c x x* f of a motion and a force."""
    x0, x1, x2, x3, x4, x5 = c * x[0], c * x[1], c * x[2], c * x[3], c * x[4], c * x[5]
    out[0] += x1 * f[2] - x2 * f[1] + x4 * f[5] - x5 * f[4]
    out[1] += x2 * f[0] - x0 * f[2] + x5 * f[3] - x3 * f[5]
    out[2] += x0 * f[1] - x1 * f[0] + x3 * f[4] - x4 * f[3]
    out[3] += x1 * f[5] - x2 * f[4]
    out[4] += x2 * f[3] - x0 * f[5]
    out[5] += x0 * f[4] - x1 * f[3]


@kernel
def crossed_power(x, y, f):
    """(x x y) . f of two motions and a force."""
    return (
        (x[1] * y[2] - x[2] * y[1]) * f[0]
        + (x[2] * y[0] - x[0] * y[2]) * f[1]
        + (x[0] * y[1] - x[1] * y[0]) * f[2]
        + (x[1] * y[5] - x[2] * y[4] + x[4] * y[2] - x[5] * y[1]) * f[3]
        + (x[2] * y[3] - x[0] * y[5] + x[5] * y[0] - x[3] * y[2]) * f[4]
        + (x[0] * y[4] - x[1] * y[3] + x[3] * y[1] - x[4] * y[0]) * f[5]
    )


@kernel(forceinline=True)
def shift_motion(x, zp, z, out):
    """out = a motion of the parent's frame zp, at the reference point of the child's frame z."""
    d1, d2, d3 = z[0] - zp[0], z[1] - zp[1], z[2] - zp[2]
    w1, w2, w3 = x[0], x[1], x[2]
    out[0], out[1], out[2] = w1, w2, w3
    out[3] = x[3] + w2 * d3 - w3 * d2
    out[4] = x[4] + w3 * d1 - w1 * d3
    out[5] = x[5] + w1 * d2 - w2 * d1


@kernel(forceinline=True)
def add_shifted_force(f, z, zp, out):
    """out += a force at the reference point of z, at that of zp."""
    d1, d2, d3 = z[0] - zp[0], z[1] - zp[1], z[2] - zp[2]
    out[0] += f[0] + d2 * f[5] - d3 * f[4]
    out[1] += f[1] + d3 * f[3] - d1 * f[5]
    out[2] += f[2] + d1 * f[4] - d2 * f[3]
    out[3] += f[3]
    out[4] += f[4]
    out[5] += f[5]


@kernel(forceinline=True)
def world_inertia(n, z):
    """Inertia about the reference point (11, 22, 33, 12, 13, 23) and first moment of a body, in world axes."""
    a1, a2, a3, b1, b2, b3, c1, c2, c3 = z[3], z[4], z[5], z[6], z[7], z[8], z[9], z[10], z[11]
    u1, u2, u3 = axis(z, n.j11, n.j12, n.j13)
    v1, v2, v3 = axis(z, n.j12, n.j22, n.j23)
    w1, w2, w3 = axis(z, n.j13, n.j23, n.j33)
    s1, s2, s3 = axis(z, n.s1, n.s2, n.s3)
    return (
        u1 * a1 + v1 * b1 + w1 * c1,
        u2 * a2 + v2 * b2 + w2 * c2,
        u3 * a3 + v3 * b3 + w3 * c3,
        u1 * a2 + v1 * b2 + w1 * c2,
        u1 * a3 + v1 * b3 + w1 * c3,
        u2 * a3 + v2 * b3 + w2 * c3,
        s1,
        s2,
        s3,
    )


@kernel(forceinline=True)
def inertia_product(m, j, x, out):
    """out = I x = (J w + s x v, m v - s x w) with the mass and what ``world_inertia`` returns."""
    j11, j22, j33, j12, j13, j23, s1, s2, s3 = j
    x0, x1, x2, x3, x4, x5 = x[0], x[1], x[2], x[3], x[4], x[5]
    out[0] = j11 * x0 + j12 * x1 + j13 * x2 + s2 * x5 - s3 * x4
    out[1] = j12 * x0 + j22 * x1 + j23 * x2 + s3 * x3 - s1 * x5
    out[2] = j13 * x0 + j23 * x1 + j33 * x2 + s1 * x4 - s2 * x3
    out[3] = m * x3 + x1 * s3 - x2 * s2
    out[4] = m * x4 + x2 * s1 - x0 * s3
    out[5] = m * x5 + x0 * s2 - x1 * s1
