"""Dynamics along a tree: the wrenches that joints carry, and the articulated-body algorithm [Featherstone 2008, 5, 7].

    inverse:  W_i = I_i (A_i - G) + V_i x* I_i V_i - f_i + sum of the children's,   residual S_i^T W_i - tau_i
    forward:  W_i = I^A_i A_i + p_i from the leaves to the root, column by column of each joint:
              D = S^T I^A S,  I^A -= U U^T / D,  p += U u / D   with  U = I^A S,  u = tau - S^T p

A joint with several columns is a chain of bodies without mass at the same place, so that columns are eliminated one
after the other. Articulated inertia is symmetric, [J H; H^T M], and stored as 21 numbers.
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from .spatial import add_force_cross, dot_six, inertia_product, world_inertia


@kernel(forceinline=True)
def add_frame_force(z, f, out):
    """out += torque about the reference point and force of the frame forces f."""
    for m in range(3, 12, 3):
        out[0] += z[m + 1] * f[m + 2] - z[m + 2] * f[m + 1]
        out[1] += z[m + 2] * f[m] - z[m] * f[m + 2]
        out[2] += z[m] * f[m + 1] - z[m + 1] * f[m]
    out[3] += f[0]
    out[4] += f[1]
    out[5] += f[2]


@kernel(forceinline=True)
def inertia_wrench(n, z, twist, acceleration, g, out, scratch):
    """out = I (A - G) + V x* I V of one body."""
    j, h = world_inertia(n, z), scratch[1]
    inertia_product(n.mass, j, twist, h)
    wrench_with(n.mass, j, h, twist, acceleration, g, out, scratch[0])


@kernel(forceinline=True)
def wrench_with(mass, j, h, twist, acceleration, g, out, y):
    """out = I (A - G) + V x* h of one body whose inertia j and momentum h are known; y is scratch."""
    for m in range(3):
        y[m] = acceleration[m]
        y[3 + m] = acceleration[3 + m] - g[m]
    inertia_product(mass, j, y, out)
    add_force_cross(1.0, twist, h, out)


@kernel(forceinline=True)
def velocity_wrench(n, z, twist, out, scratch):
    """out = V x* I V of one body."""
    h = scratch[0]
    inertia_product(n.mass, world_inertia(n, z), twist, h)
    for m in range(6):
        out[m] = 0.0
    add_force_cross(1.0, twist, h, out)


@kernel(forceinline=True)
def begin_articulated(n, z, ia):
    """Articulated inertia of a body that carries nothing."""
    j11, j22, j33, j12, j13, j23, s1, s2, s3 = world_inertia(n, z)
    ia[0], ia[1], ia[2], ia[3], ia[4], ia[5] = j11, j22, j33, j12, j13, j23
    ia[6], ia[7], ia[8] = 0.0, -s3, s2
    ia[9], ia[10], ia[11] = s3, 0.0, -s1
    ia[12], ia[13], ia[14] = -s2, s1, 0.0
    ia[15], ia[16], ia[17], ia[18], ia[19], ia[20] = n.mass, n.mass, n.mass, 0.0, 0.0, 0.0


@kernel(forceinline=True)
def articulated_product(ia, x, out):
    """out = I^A x."""
    w1, w2, w3, v1, v2, v3 = x[0], x[1], x[2], x[3], x[4], x[5]
    out[0] = ia[0] * w1 + ia[3] * w2 + ia[4] * w3 + ia[6] * v1 + ia[7] * v2 + ia[8] * v3
    out[1] = ia[3] * w1 + ia[1] * w2 + ia[5] * w3 + ia[9] * v1 + ia[10] * v2 + ia[11] * v3
    out[2] = ia[4] * w1 + ia[5] * w2 + ia[2] * w3 + ia[12] * v1 + ia[13] * v2 + ia[14] * v3
    out[3] = ia[6] * w1 + ia[9] * w2 + ia[12] * w3 + ia[15] * v1 + ia[18] * v2 + ia[19] * v3
    out[4] = ia[7] * w1 + ia[10] * w2 + ia[13] * w3 + ia[18] * v1 + ia[16] * v2 + ia[20] * v3
    out[5] = ia[8] * w1 + ia[11] * w2 + ia[14] * w3 + ia[19] * v1 + ia[20] * v2 + ia[17] * v3


@kernel
def articulated_size(ia, x):
    """|x|^T |I^A| |x|: size of the terms of which x^T I^A x is the sum."""
    w1, w2, w3, v1, v2, v3 = abs(x[0]), abs(x[1]), abs(x[2]), abs(x[3]), abs(x[4]), abs(x[5])
    turning = abs(ia[0]) * w1 * w1 + abs(ia[1]) * w2 * w2 + abs(ia[2]) * w3 * w3
    turning += 2.0 * (abs(ia[3]) * w1 * w2 + abs(ia[4]) * w1 * w3 + abs(ia[5]) * w2 * w3)
    mixed = w1 * (abs(ia[6]) * v1 + abs(ia[7]) * v2 + abs(ia[8]) * v3)
    mixed += w2 * (abs(ia[9]) * v1 + abs(ia[10]) * v2 + abs(ia[11]) * v3)
    mixed += w3 * (abs(ia[12]) * v1 + abs(ia[13]) * v2 + abs(ia[14]) * v3)
    sliding = abs(ia[15]) * v1 * v1 + abs(ia[16]) * v2 * v2 + abs(ia[17]) * v3 * v3
    sliding += 2.0 * (abs(ia[18]) * v1 * v2 + abs(ia[19]) * v1 * v3 + abs(ia[20]) * v2 * v3)
    return turning + 2.0 * mixed + sliding


@kernel(forceinline=True)
def eliminate_column(s, inertia, tau, ia, p, u, pivot):
    """Free one column: changes I^A and p; leaves u = I^A S, and in pivot 1/D and (tau - S^T p) / D. Returns D."""
    articulated_product(ia, s, u)
    d = inertia + dot_six(s, u)
    c = 1.0 / d
    r = c * (tau - dot_six(s, p))
    pivot[0], pivot[1] = c, r
    u1, u2, u3, u4, u5, u6 = u[0], u[1], u[2], u[3], u[4], u[5]
    p[0] += u1 * r
    p[1] += u2 * r
    p[2] += u3 * r
    p[3] += u4 * r
    p[4] += u5 * r
    p[5] += u6 * r
    c1, c2, c3, c4, c5, c6 = c * u1, c * u2, c * u3, c * u4, c * u5, c * u6
    ia[0] -= c1 * u1
    ia[1] -= c2 * u2
    ia[2] -= c3 * u3
    ia[3] -= c1 * u2
    ia[4] -= c1 * u3
    ia[5] -= c2 * u3
    ia[6] -= c1 * u4
    ia[7] -= c1 * u5
    ia[8] -= c1 * u6
    ia[9] -= c2 * u4
    ia[10] -= c2 * u5
    ia[11] -= c2 * u6
    ia[12] -= c3 * u4
    ia[13] -= c3 * u5
    ia[14] -= c3 * u6
    ia[15] -= c4 * u4
    ia[16] -= c5 * u5
    ia[17] -= c6 * u6
    ia[18] -= c4 * u5
    ia[19] -= c4 * u6
    ia[20] -= c5 * u6
    return d


@kernel(forceinline=True)
def eliminate_again(s, tau, p, u, pivot):
    """One column with another force: changes p as ``eliminate_column`` does, returns (tau - S^T p) / D."""
    r = pivot[0] * (tau - dot_six(s, p))
    for k in range(6):
        p[k] += u[k] * r
    return r


@kernel(forceinline=True)
def add_to_parent(ia, d1, d2, d3, parent):
    """parent += X^T I^A X with the shift d: J + D H^T + H D^T + D M D^T, H + D M, M with D = hat(d)."""
    h11, h12, h13, h21, h22, h23, h31, h32, h33 = ia[6], ia[7], ia[8], ia[9], ia[10], ia[11], ia[12], ia[13], ia[14]
    m11, m22, m33, m12, m13, m23 = ia[15], ia[16], ia[17], ia[18], ia[19], ia[20]
    # k = D M
    k11, k12, k13 = d2 * m13 - d3 * m12, d2 * m23 - d3 * m22, d2 * m33 - d3 * m23
    k21, k22, k23 = d3 * m11 - d1 * m13, d3 * m12 - d1 * m23, d3 * m13 - d1 * m33
    k31, k32, k33 = d1 * m12 - d2 * m11, d1 * m22 - d2 * m12, d1 * m23 - d2 * m13
    # n = H + D M / 2, so that n D^T + D n^T = H D^T + D H^T + D M D^T
    n11, n12, n13 = h11 + 0.5 * k11, h12 + 0.5 * k12, h13 + 0.5 * k13
    n21, n22, n23 = h21 + 0.5 * k21, h22 + 0.5 * k22, h23 + 0.5 * k23
    n31, n32, n33 = h31 + 0.5 * k31, h32 + 0.5 * k32, h33 + 0.5 * k33
    # (D n^T)_ij = (d x row j of n)_i
    parent[0] += ia[0] + 2.0 * (d2 * n13 - d3 * n12)
    parent[1] += ia[1] + 2.0 * (d3 * n21 - d1 * n23)
    parent[2] += ia[2] + 2.0 * (d1 * n32 - d2 * n31)
    parent[3] += ia[3] + (d2 * n23 - d3 * n22) + (d3 * n11 - d1 * n13)
    parent[4] += ia[4] + (d2 * n33 - d3 * n32) + (d1 * n12 - d2 * n11)
    parent[5] += ia[5] + (d3 * n31 - d1 * n33) + (d1 * n22 - d2 * n21)
    parent[6] += h11 + k11
    parent[7] += h12 + k12
    parent[8] += h13 + k13
    parent[9] += h21 + k21
    parent[10] += h22 + k22
    parent[11] += h23 + k23
    parent[12] += h31 + k31
    parent[13] += h32 + k32
    parent[14] += h33 + k33
    for m in range(15, 21):
        parent[m] += ia[m]
