"""Tangents of three-parameter nodes, inertia and curvature of the frame; compiled only where a model has such nodes."""

from __future__ import annotations

from ..compiled.kernel import kernel
from .frames import body_rates
from .inertia import frame_torque
from .markers import body_components
from .mass import inertia_times
from .spin import spin_derivative, spin_second_derivative


@kernel
def add_spin_stiffness(n, q, g, k, t1, t2, t3, c, matrix, scratch):
    """Add c (G^T k G + [torque . DG[e_j] e_i]): a Lie stiffness k (9 numbers) and torque seen in rho."""
    o = n.block + n.nx * n.ld + n.nx
    for i in range(3):
        for j in range(3):
            value = 0.0
            for a in range(3):
                for b in range(3):
                    value += g[3 * a + i] * k[3 * a + b] * g[3 * b + j]
            matrix[o + i * n.ld + j] += c * value
    u, x, out = scratch[3], scratch[4], scratch[5]
    for j in range(3):
        for m in range(3):
            u[m] = 1.0 if m == j else 0.0
        for i in range(3):
            for m in range(3):
                x[m] = 1.0 if m == i else 0.0
            spin_derivative(n, q, g, u, x, scratch[2], out)
            matrix[o + i * n.ld + j] += c * (out[0] * t1 + out[1] * t2 + out[2] * t3)


@kernel
def spin_frame_stiffness(n, g, q, z, f, c, matrix, scratch):
    """Add c d(Z^T f)/d(increment) at fixed f to the node's diagonal block."""
    k = scratch[6]  # the Lie stiffness, 9 numbers row by row
    for i in range(3):
        for m in range(3):
            k[3 * m + i] = z[3 + 3 * m] * f[3 + 3 * i] + z[4 + 3 * m] * f[4 + 3 * i] + z[5 + 3 * m] * f[5 + 3 * i]
    t = k[0] + k[4] + k[8]
    k[0] -= t
    k[4] -= t
    k[8] -= t
    t1, t2, t3 = frame_torque(z, f)
    add_spin_stiffness(n, q, g, k, t1, t2, t3, c, matrix, scratch)


@kernel
def _body_force(n, w, dw, da, out):
    """Change of (torque, R^T force) of the inertia terms for changes dw, da of angular velocity and acceleration."""
    h1, h2, h3 = inertia_times(n, w[0], w[1], w[2])
    k1, k2, k3 = inertia_times(n, dw[0], dw[1], dw[2])
    y1, y2, y3 = inertia_times(n, da[0], da[1], da[2])
    out[0] = y1 + dw[1] * h3 - dw[2] * h2 + w[1] * k3 - w[2] * k2
    out[1] = y2 + dw[2] * h1 - dw[0] * h3 + w[2] * k1 - w[0] * k3
    out[2] = y3 + dw[0] * h2 - dw[1] * h1 + w[0] * k2 - w[1] * k1
    s1, s2, s3 = n.s1, n.s2, n.s3
    u1, u2, u3 = w[1] * s3 - w[2] * s2, w[2] * s1 - w[0] * s3, w[0] * s2 - w[1] * s1
    d1, d2, d3 = dw[1] * s3 - dw[2] * s2, dw[2] * s1 - dw[0] * s3, dw[0] * s2 - dw[1] * s1
    out[3] = da[1] * s3 - da[2] * s2 + dw[1] * u3 - dw[2] * u2 + w[1] * d3 - w[2] * d2
    out[4] = da[2] * s1 - da[0] * s3 + dw[2] * u1 - dw[0] * u3 + w[2] * d1 - w[0] * d3
    out[5] = da[0] * s2 - da[1] * s1 + dw[0] * u2 - dw[1] * u1 + w[0] * d2 - w[1] * d1


@kernel
def spin_tangent(n, q, v, vd, g, z, cm, cc, ck, matrix, scratch):
    """Add cm M + cc C + ck K of the inertia forces of one node (its translational mass excepted)."""
    k = n.v0 + n.nx
    ld = n.ld
    o = n.block + n.nx * ld + n.nx
    s1, s2, s3 = n.s1, n.s2, n.s3
    w1, w2, w3, b1, b2, b3 = body_rates(n, q, v, g, scratch)
    w, rd, rdd, e, d = scratch[3], scratch[4], scratch[5], scratch[6], scratch[7]
    c = scratch[2]
    w[0], w[1], w[2] = w1, w2, w3
    for m in range(3):
        rd[m] = v[k + m]
        rdd[m] = vd[k + m]
    p1 = g[0] * rdd[0] + g[1] * rdd[1] + g[2] * rdd[2] + b1
    p2 = g[3] * rdd[0] + g[4] * rdd[1] + g[5] * rdd[2] + b2
    p3 = g[6] * rdd[0] + g[7] * rdd[1] + g[8] * rdd[2] + b3
    a1, a2, a3 = 0.0, 0.0, 0.0  # R^T a
    if n.nx == 3:
        a1, a2, a3 = body_components(z, vd[n.v0], vd[n.v0 + 1], vd[n.v0 + 2])
    h1, h2, h3 = inertia_times(n, w1, w2, w3)
    t1, t2, t3 = inertia_times(n, p1, p2, p3)
    t1 += w2 * h3 - w3 * h2 + s2 * a3 - s3 * a2
    t2 += w3 * h1 - w1 * h3 + s3 * a1 - s1 * a3
    t3 += w1 * h2 - w2 * h1 + s1 * a2 - s2 * a1
    u1, u2, u3 = w2 * s3 - w3 * s2, w3 * s1 - w1 * s3, w1 * s2 - w2 * s1
    y1 = p2 * s3 - p3 * s2 + w2 * u3 - w3 * u2
    y2 = p3 * s1 - p1 * s3 + w3 * u1 - w1 * u3
    y3 = p1 * s2 - p2 * s1 + w1 * u2 - w2 * u1
    dw, da, out = scratch[0], scratch[1], scratch[0][8:]
    for j in range(3):
        e[0], e[1], e[2] = 0.0, 0.0, 0.0
        e[j] = 1.0
        g1, g2, g3 = g[j], g[3 + j], g[6 + j]
        # all three requests are linear in (dw, da), so their weighted sum is evaluated at once
        spin_derivative(n, q, g, e, rd, c, d)  # DG[e] rho_dot
        dw[0], dw[1], dw[2] = cc * g1 + ck * d[0], cc * g2 + ck * d[1], cc * g3 + ck * d[2]
        da[0], da[1], da[2] = cm * g1 + cc * d[0], cm * g2 + cc * d[1], cm * g3 + cc * d[2]
        spin_derivative(n, q, g, rd, e, c, d)
        for m in range(3):
            da[m] += cc * d[m]
        if ck != 0.0:
            spin_derivative(n, q, g, e, rdd, c, d)
            for m in range(3):
                da[m] += ck * d[m]
            spin_second_derivative(n, q, g, e, rd, rd, c, d)
            for m in range(3):
                da[m] += ck * d[m]
        _body_force(n, w, dw, da, out)
        if ck != 0.0:  # rotation of the body under the fixed acceleration a, and of the force y with the body
            r1, r2, r3 = a2 * g3 - a3 * g2, a3 * g1 - a1 * g3, a1 * g2 - a2 * g1
            out[0] += ck * (s2 * r3 - s3 * r2)
            out[1] += ck * (s3 * r1 - s1 * r3)
            out[2] += ck * (s1 * r2 - s2 * r1)
            out[3] += ck * (g2 * y3 - g3 * y2)
            out[4] += ck * (g3 * y1 - g1 * y3)
            out[5] += ck * (g1 * y2 - g2 * y1)
        for i in range(3):
            matrix[o + i * ld + j] += g[i] * out[0] + g[3 + i] * out[1] + g[6 + i] * out[2]
        if n.nx == 3:
            for i in range(3):
                matrix[n.block + i * ld + 3 + j] += z[3 + i] * out[3] + z[6 + i] * out[4] + z[9 + i] * out[5]
            # cm (s x R^T e_j) pulled back by G^T
            r1 = cm * (s2 * z[9 + j] - s3 * z[6 + j])
            r2 = cm * (s3 * z[3 + j] - s1 * z[9 + j])
            r3 = cm * (s1 * z[6 + j] - s2 * z[3 + j])
            for i in range(3):
                matrix[n.block + (3 + i) * ld + j] += g[i] * r1 + g[3 + i] * r2 + g[6 + i] * r3
    if ck != 0.0:
        zero = scratch[6]
        for m in range(9):
            zero[m] = 0.0
        add_spin_stiffness(n, q, g, zero, t1, t2, t3, ck, matrix, scratch)
