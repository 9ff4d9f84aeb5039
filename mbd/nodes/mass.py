"""Mass and inertia of a node: products with them, and their inverses.

The frame mass matrix ``M_z`` is constant: the mass m, the first moment s = m c and the Euler tensor, each times the
identity of three components. Nodes with an angular velocity have the inertia J about the reference point.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled.kernel import kernel
from .forms import FORM_LIE
from .markers import axis, body_components, point_jacobian


@kernel
def frame_mass_times(n, r, d1, d2, d3):
    """One component of M_z applied to a frame (r, d1, d2, d3)."""
    return (
        n.mass * r + n.s1 * d1 + n.s2 * d2 + n.s3 * d3,
        n.s1 * r + n.e11 * d1 + n.e12 * d2 + n.e13 * d3,
        n.s2 * r + n.e12 * d1 + n.e22 * d2 + n.e23 * d3,
        n.s3 * r + n.e13 * d1 + n.e23 * d2 + n.e33 * d3,
    )


@kernel
def frame_inertia(n, zdd, f):
    """f += M_z z_ddot."""
    for m in range(3):
        r, f1, f2, f3 = frame_mass_times(n, zdd[m], zdd[3 + m], zdd[6 + m], zdd[9 + m])
        f[m] += r
        f[3 + m] += f1
        f[6 + m] += f2
        f[9 + m] += f3


@kernel
def frame_energy(n, zd):
    """1/2 z_dot . M_z z_dot: kinetic energy of a frame."""
    a, a1, a2, a3 = frame_mass_times(n, zd[0], zd[3], zd[6], zd[9])
    b, b1, b2, b3 = frame_mass_times(n, zd[1], zd[4], zd[7], zd[10])
    c, c1, c2, c3 = frame_mass_times(n, zd[2], zd[5], zd[8], zd[11])
    twice = zd[0] * a + zd[1] * b + zd[2] * c + zd[3] * a1 + zd[4] * b1 + zd[5] * c1
    twice = twice + zd[6] * a2 + zd[7] * b2 + zd[8] * c2 + zd[9] * a3 + zd[10] * b3 + zd[11] * c3
    return 0.5 * twice


@kernel
def increment_inertia(n, dq, f):
    """f += M_z dq for a node whose frame is linear in q."""
    for m in range(3):
        r = dq[n.v0 + m] if n.nx == 3 else 0.0
        d1, d2, d3 = 0.0, 0.0, 0.0
        if n.nv > 3:
            k = n.v0 + n.nx + m
            d1, d2, d3 = dq[k], dq[k + 3], dq[k + 6]
        r, f1, f2, f3 = frame_mass_times(n, r, d1, d2, d3)
        f[m] += r
        f[3 + m] += f1
        f[6 + m] += f2
        f[9 + m] += f3


@kernel
def weight(n, g1, g2, g3, f):
    """f = -M_z (g, 0, 0, 0): frame force of gravity, with the sign of the residual."""
    m, s1, s2, s3 = -n.mass, -n.s1, -n.s2, -n.s3
    f[0], f[1], f[2] = m * g1, m * g2, m * g3
    f[3], f[4], f[5] = s1 * g1, s1 * g2, s1 * g3
    f[6], f[7], f[8] = s2 * g1, s2 * g2, s2 * g3
    f[9], f[10], f[11] = s3 * g1, s3 * g2, s3 * g3


@kernel
def inertia_times(n, x1, x2, x3):
    """J x with the inertia about the reference point."""
    return (
        n.j11 * x1 + n.j12 * x2 + n.j13 * x3,
        n.j12 * x1 + n.j22 * x2 + n.j23 * x3,
        n.j13 * x1 + n.j23 * x2 + n.j33 * x3,
    )


@kernel
def lie_energy(n, w1, w2, w3, zd):
    """1/2 (w . J w + m |r_dot|^2) + r_dot . sum s_i d_i_dot: kinetic energy of a frame with its angular velocity w."""
    h1, h2, h3 = inertia_times(n, w1, w2, w3)
    energy = 0.5 * (w1 * h1 + w2 * h2 + w3 * h3)
    if n.nx == 3:
        r1, r2, r3 = zd[0], zd[1], zd[2]
        energy += 0.5 * n.mass * (r1 * r1 + r2 * r2 + r3 * r3)
        if n.s1 != 0.0 or n.s2 != 0.0 or n.s3 != 0.0:
            energy += r1 * (n.s1 * zd[3] + n.s2 * zd[6] + n.s3 * zd[9])
            energy += r2 * (n.s1 * zd[4] + n.s2 * zd[7] + n.s3 * zd[10])
            energy += r3 * (n.s1 * zd[5] + n.s2 * zd[8] + n.s3 * zd[11])
    return energy


@kernel
def central_inertia(n, y1, y2, y3):
    """J y with the inertia about the centre of mass, or about the fixed point of a pinned node."""
    c = n.s1 * y1 + n.s2 * y2 + n.s3 * y3
    square = n.s1 * n.s1 + n.s2 * n.s2 + n.s3 * n.s3
    d = 1.0 / n.mass if n.nx == 3 else 0.0  # J - (|s|^2 I - s s^T)/m
    x1, x2, x3 = inertia_times(n, y1, y2, y3)
    return x1 - d * (square * y1 - c * n.s1), x2 - d * (square * y2 - c * n.s2), x3 - d * (square * y3 - c * n.s3)


@kernel
def centre_of_mass(n):
    """The centre of mass in the body."""
    d = 1.0 / n.mass
    return d * n.s1, d * n.s2, d * n.s3


@kernel
def centre_block(n, qr, zr, qc, zc, jacobians, matrix):
    """Add m Jr^T Jc to the diagonal block, with the Jacobians of the centre of mass for rows and for columns."""
    rows, columns = jacobians[0], jacobians[1]
    c1, c2, c3 = centre_of_mass(n)
    point_jacobian(n, qr, zr, zr, c1, c2, c3, rows)
    point_jacobian(n, qc, zc, zc, c1, c2, c3, columns)
    for a in range(n.nv):
        for b in range(n.nv):
            value = 0.0
            for m in range(3):
                value += rows[m, a] * columns[m, b]
            matrix[n.block + a * n.ld + b] += n.mass * value


@kernel
def central_cofactors(n):
    """(c11, c22, c33, c12, c13, c23) of the inertia J about the centre of mass, det J and tr J: J^-1 = c / det J."""
    a11, a12, a13 = central_inertia(n, 1.0, 0.0, 0.0)
    b12, a22, a23 = central_inertia(n, 0.0, 1.0, 0.0)
    b13, b23, a33 = central_inertia(n, 0.0, 0.0, 1.0)
    c11, c12, c13 = a22 * a33 - a23 * a23, a13 * a23 - a12 * a33, a12 * a23 - a13 * a22
    c22, c23, c33 = a11 * a33 - a13 * a13, a12 * a13 - a11 * a23, a11 * a22 - a12 * a12
    return c11, c22, c33, c12, c13, c23, a11 * c11 + a12 * c12 + a13 * c13, a11 + a22 + a33


@kernel
def solve_central_inertia(n, y1, y2, y3):
    """J^-1 y with the inertia about the centre of mass (Cramer's rule)."""
    c11, c22, c33, c12, c13, c23, determinant, trace = central_cofactors(n)
    d = 1.0 / determinant
    return (
        d * (c11 * y1 + c12 * y2 + c13 * y3),
        d * (c12 * y1 + c22 * y2 + c23 * y3),
        d * (c13 * y1 + c23 * y2 + c33 * y3),
    )


@kernel
def solve_mass(n, u, a):
    """u := M^-1 u for one node, by elimination in the 4 x 4 (pinned: 3 x 3) frame mass matrix; a is 4 x 4 scratch."""
    k = n.v0
    if n.s1 == 0.0 and n.s2 == 0.0 and n.s3 == 0.0 and n.e12 == 0.0 and n.e13 == 0.0 and n.e23 == 0.0:  # diagonal
        if n.nx == 3:
            c = 1.0 / n.mass
            u[k], u[k + 1], u[k + 2] = c * u[k], c * u[k + 1], c * u[k + 2]
            k += 3
        if n.nv > 3:
            c1, c2, c3 = 1.0 / n.e11, 1.0 / n.e22, 1.0 / n.e33
            for m in range(3):
                u[k + m] *= c1
                u[k + 3 + m] *= c2
                u[k + 6 + m] *= c3
        return
    size = 4 if n.nx == 3 else (3 if n.nv == 9 else 1)
    if n.nv == 3 and n.nx == 3:
        size = 1
    o = 1 if n.nx == 0 else 0
    for i in range(size):
        for j in range(size):
            p, r = min(i, j) + o, max(i, j) + o
            if p == 0:
                a[i, j] = n.mass if r == 0 else (n.s1 if r == 1 else (n.s2 if r == 2 else n.s3))
            elif p == 1:
                a[i, j] = n.e11 if r == 1 else (n.e12 if r == 2 else n.e13)
            elif p == 2:
                a[i, j] = n.e22 if r == 2 else n.e23
            else:
                a[i, j] = n.e33
    for i in range(size):
        for j in range(i + 1, size):
            c = a[j, i] / a[i, i]
            for m in range(i, size):
                a[j, m] -= c * a[i, m]
            for m in range(3):
                u[k + 3 * j + m] -= c * u[k + 3 * i + m]
    for i in range(size - 1, -1, -1):
        for m in range(3):
            value = u[k + 3 * i + m]
            for j in range(i + 1, size):
                value -= a[i, j] * u[k + 3 * j + m]
            u[k + 3 * i + m] = value / a[i, i]


@kernel
def free_accelerations(nodes, z, x, vd):
    """vd = -M^-1 x for Lie and point nodes without constraints, in closed form.

    With the first moment s: (J + hat(s)^2 / m) alpha = -n + s x R^T f / m,  a = (-f + R (s x alpha)) / m.
    """
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        k, o = n.v0, n.x0
        f1, f2, f3 = 0.0, 0.0, 0.0
        if n.nx == 3:
            f1, f2, f3 = x[o], x[o + 1], x[o + 2]
            o += 3
        a1, a2, a3 = -f1, -f2, -f3
        if n.form == FORM_LIE:
            t1, t2, t3 = -x[o], -x[o + 1], -x[o + 2]
            s1, s2, s3 = n.s1, n.s2, n.s3
            offset = n.nx == 3 and (s1 != 0.0 or s2 != 0.0 or s3 != 0.0)
            y = z[i]
            if offset:
                b1, b2, b3 = body_components(y, f1, f2, f3)
                b1, b2, b3 = b1 / n.mass, b2 / n.mass, b3 / n.mass
                t1 += s2 * b3 - s3 * b2
                t2 += s3 * b1 - s1 * b3
                t3 += s1 * b2 - s2 * b1
            p1 = n.i11 * t1 + n.i12 * t2 + n.i13 * t3
            p2 = n.i12 * t1 + n.i22 * t2 + n.i23 * t3
            p3 = n.i13 * t1 + n.i23 * t2 + n.i33 * t3
            m = k + n.nx
            vd[m], vd[m + 1], vd[m + 2] = p1, p2, p3
            if offset:
                b1, b2, b3 = axis(y, s2 * p3 - s3 * p2, s3 * p1 - s1 * p3, s1 * p2 - s2 * p1)
                a1, a2, a3 = a1 + b1, a2 + b2, a3 + b3
        if n.nx == 3:
            vd[k], vd[k + 1], vd[k + 2] = a1 / n.mass, a2 / n.mass, a3 / n.mass


# --- outside of compiled code ---------------------------------------------------------------------------------------


def frame_mass(n: Any) -> np.ndarray:
    """M_z, 12 x 12."""
    euler = np.array([[n.e11, n.e12, n.e13], [n.e12, n.e22, n.e23], [n.e13, n.e23, n.e33]])
    s = np.array([[n.s1, n.s2, n.s3]])
    small = np.block([[np.array([[n.mass]]), s], [s.T, euler]])
    return np.kron(small, np.eye(3))


def central_inertia_matrix(n: Any) -> np.ndarray:
    """J of ``central_inertia``, 3 x 3."""
    j = np.array([[n.j11, n.j12, n.j13], [n.j12, n.j22, n.j23], [n.j13, n.j23, n.j33]])
    s = np.array([n.s1, n.s2, n.s3])
    return j - (s @ s * np.eye(3) - np.outer(s, s)) / n.mass if n.nx == 3 else j
