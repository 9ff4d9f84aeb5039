"""Kernels for nodes whose frames are linear in the coordinates (points, directors): q is part of the frame itself.

Then q, its increments and its velocities have the same indices, the mass matrix is constant, constraints are quadratic
in q with constant second derivatives, and ``D^2 g[mu] u`` is the constraint force of mu at the "frame" u.
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...forces.over_step import distance
from ...joints.instant import COINCIDENT, DOT1, DOT2, ROTATING, axis, first_axis, primitive_force
from ...joints.over_step import joint_stiffness
from ...math.arrays import clear_frames as clear_frames
from ...math.arrays import copy_frames as copy_frames
from ...nodes.frames import axis_jacobian, point_jacobian
from ...nodes.inertia import frame_inertia
from ...nodes.tangent import node_tangent
from ...system.instant import constant as driven_value


@kernel
def extrapolate(past, n, weights, out):
    """out += the sum of the last values, of n steps, with their weights."""
    size = past.shape[0]
    for j in range(size):
        c = weights[min(n, size), j]
        if c != 0.0:
            row = past[(n - 1 - j) % size]
            for k in range(out.shape[0]):
                out[k] += c * row[k]


@kernel
def joint_forces(primitives, values, z, mu, c, constant, small, f):
    """f += c G(z)^T mu of joints; without ``constant`` the bilinear part c D^2 g[mu] z of a velocity with frames z."""
    for k in range(primitives.shape[0]):
        p = primitives[k]
        if p.kind == COINCIDENT and not constant:
            continue
        for m in range(3 if p.kind == COINCIDENT else 1):
            small[m] = c * mu[p.l0 + m]
        primitive_force(p, z[p.a], z[p.b], driven_value(p, values), small, 0, f[p.a], f[p.b])


@kernel
def internal_frame_force(z, mu, j, c, f):
    """f += c G^T mu[j:] of the orthonormality of the directors of one frame."""
    a, b, d = c * mu[j], c * mu[j + 1], c * mu[j + 2]
    ab, ad, bd = c * mu[j + 3], c * mu[j + 4], c * mu[j + 5]
    for m in range(3):
        d1, d2, d3 = z[3 + m], z[6 + m], z[9 + m]
        f[3 + m] += a * d1 + ab * d2 + ad * d3
        f[6 + m] += ab * d1 + b * d2 + bd * d3
        f[9 + m] += ad * d1 + bd * d2 + d * d3


@kernel
def add_constraint_force(s, values, z, mu, small, f, x):
    """x += G(z)^T mu in the order of velocities; f is scratch."""
    clear_frames(f)
    joint_forces(s.primitives, values, z, mu, 1.0, True, small, f)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.nl > 0:
            internal_frame_force(z[i], mu, n.l0, 1.0, f[i])
        o = 0 if n.nx == 3 else 3
        for m in range(n.nv):
            x[n.v0 + m] += f[i, o + m]


@kernel
def subtract_mass(nodes, c, u, small, x):
    """x -= c M u."""
    a, f = small[0], small[1]
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        o = 0 if n.nx == 3 else 3
        for m in range(12):
            a[m] = 0.0
            f[m] = 0.0
        for m in range(n.nv):
            a[o + m] = u[n.v0 + m]
        frame_inertia(n, a, f)
        for m in range(n.nv):
            x[n.x0 + m] -= c * f[o + m]


# --- blocks -------------------------------------------------------------------------------------------------------


@kernel
def mass_blocks(s, w, q, c, matrix):
    """Add c M."""
    for i in range(1, s.nodes.shape[0]):
        node_tangent(s.nodes[i], q, q, q, w.spin[i], w.z[i], w.t[i], c, 0.0, 0.0, matrix, w.small)


@kernel
def _row_and_column(crow, ccol, f1, f2, f3, j, nv, matrix, row, column, ld):
    for k in range(nv):
        value = f1 * j[0, k] + f2 * j[1, k] + f3 * j[2, k]
        if crow != 0.0:
            matrix[row + k] += crow * value
        if ccol != 0.0:
            matrix[column + k * ld] += ccol * value


@kernel
def _primitive_blocks(p, na, nb, za, zb, value, crow, ccol, jac, matrix):
    va, vb = na.nv, nb.nv
    if p.kind == DOT1 or p.kind == ROTATING:
        x1, x2, x3 = first_axis(p, value)
        if va > 0:
            f1, f2, f3 = axis(zb, p.ab1, p.ab2, p.ab3)
            axis_jacobian(na, za, za, za, x1, x2, x3, jac[0])
            _row_and_column(crow, ccol, f1, f2, f3, jac[0], va, matrix, p.block_ja, p.block_aj, p.ld_aj)
        if vb > 0:
            f1, f2, f3 = axis(za, x1, x2, x3)
            axis_jacobian(nb, zb, zb, zb, p.ab1, p.ab2, p.ab3, jac[0])
            _row_and_column(crow, ccol, f1, f2, f3, jac[0], vb, matrix, p.block_jb, p.block_bj, p.ld_bj)
        return
    if va > 0:
        point_jacobian(na, za, za, za, p.pa1, p.pa2, p.pa3, jac[0])
    if vb > 0:
        point_jacobian(nb, zb, zb, zb, p.pb1, p.pb2, p.pb3, jac[1])
    if p.kind == COINCIDENT:
        for m in range(3):
            f1, f2, f3 = 1.0 if m == 0 else 0.0, 1.0 if m == 1 else 0.0, 1.0 if m == 2 else 0.0
            row, column = p.block_ja + m * p.ld_ja, p.block_aj + m
            _row_and_column(-crow, -ccol, f1, f2, f3, jac[0], va, matrix, row, column, p.ld_aj)
            row, column = p.block_jb + m * p.ld_jb, p.block_bj + m
            _row_and_column(crow, ccol, f1, f2, f3, jac[1], vb, matrix, row, column, p.ld_bj)
        return
    f1, f2, f3 = distance(za, zb, p)
    if p.kind == DOT2:
        if va > 0:
            axis_jacobian(na, za, za, za, p.aa1, p.aa2, p.aa3, jac[2])
            _row_and_column(crow, ccol, f1, f2, f3, jac[2], va, matrix, p.block_ja, p.block_aj, p.ld_aj)
        f1, f2, f3 = axis(za, p.aa1, p.aa2, p.aa3)
    else:
        f1, f2, f3 = f1 / value, f2 / value, f3 / value
    if va > 0:
        _row_and_column(-crow, -ccol, f1, f2, f3, jac[0], va, matrix, p.block_ja, p.block_aj, p.ld_aj)
    if vb > 0:
        _row_and_column(crow, ccol, f1, f2, f3, jac[1], vb, matrix, p.block_jb, p.block_bj, p.ld_bj)


@kernel
def _internal_blocks(n, z, crow, ccol, matrix):
    """Rows crow G and columns ccol G^T of the orthonormality of directors."""
    r = n.block + n.nv * n.ld + n.nx
    c = n.block + n.nx * n.ld + n.nv
    for p in range(n.nl):
        a = p if p < 3 else (1 if p == 5 else 0)
        b = p if p < 3 else (1 if p == 3 else 2)
        for m in range(3):
            matrix[r + p * n.ld + 3 * a + m] += crow * z[3 + 3 * b + m]
            matrix[c + (3 * a + m) * n.ld + p] += ccol * z[3 + 3 * b + m]
            if a != b:
                matrix[r + p * n.ld + 3 * b + m] += crow * z[3 + 3 * a + m]
                matrix[c + (3 * b + m) * n.ld + p] += ccol * z[3 + 3 * a + m]


@kernel
def gradient_blocks(s, w, values, z, constant, crow, ccol, matrix):
    """Add crow G to the rows and ccol G^T to the columns of constraints; without ``constant`` only D^2 g[., z]."""
    if crow == 0.0 and ccol == 0.0:
        return
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        if p.kind == COINCIDENT and not constant:
            continue
        a, b = p.a, p.b
        _primitive_blocks(p, s.nodes[a], s.nodes[b], z[a], z[b], driven_value(p, values), crow, ccol, w.jac, matrix)
    for i in range(1, s.nodes.shape[0]):
        if s.nodes[i].nl > 0:
            _internal_blocks(s.nodes[i], z[i], crow, ccol, matrix)


@kernel
def hessian_blocks(s, w, values, q, mu, c, matrix):
    """Add c D^2 g[mu] (constant, because g is quadratic)."""
    if c == 0.0:
        return
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        za, zb = w.z[a], w.z[b]
        joint_stiffness(
            p, s.nodes[a], s.nodes[b], q, q, za, zb, za, zb, driven_value(p, values), mu, p.l0, 2.0 * c, w.jac, matrix
        )  # fmt: skip
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        o = n.block + n.nx * n.ld + n.nx
        for p in range(n.nl):
            a = p if p < 3 else (1 if p == 5 else 0)
            b = p if p < 3 else (1 if p == 3 else 2)
            for m in range(3):
                matrix[o + (3 * a + m) * n.ld + 3 * b + m] += c * mu[n.l0 + p]
                if a != b:
                    matrix[o + (3 * b + m) * n.ld + 3 * a + m] += c * mu[n.l0 + p]


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
