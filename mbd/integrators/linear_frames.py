"""Kernels for nodes whose frames are linear in the coordinates (points, directors): q is part of the frame itself.

Then q, its increments and its velocities have the same indices, the mass matrix is constant, constraints are quadratic
in q with constant second derivatives, and ``D^2 g[mu] u`` is the constraint force of mu at the "frame" u.

Loops are compiled with the tables that they need; the functions that take the whole records are inlined.
"""

from __future__ import annotations

from ..forces.kernels import force_residual, force_tangent
from ..forces.secant import distance
from ..joints.primitives import (
    COINCIDENT,
    DOT1,
    DOT2,
    ROTATING,
    axis,
    first_axis,
    primitive_drive,
    primitive_force,
    primitive_rate,
    primitive_value,
)
from ..joints.secant import joint_stiffness
from ..kernel import kernel
from ..nodes.frames import axis_jacobian, point_jacobian
from ..nodes.inertia import frame_inertia
from ..nodes.tangent import internal_bilinear, internal_constraints, internal_force, node_tangent
from ..records import FLAG_EXTRA
from ..system.extra import call_extra_forces
from ..system.pieces import constant as driven_value
from ..system.secant import call_stiffness


@kernel
def vector_frames(nodes, u, z):
    """Frames of a vector of increments or velocities."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        o = 0 if n.nx == 3 else 3
        for m in range(n.nv):
            z[i, o + m] = u[n.v0 + m]


@kernel
def mass_times(nodes, u, c, y, small, f):
    """f = M (u - c y), as frame forces."""
    a = small[0]
    for m in range(12):
        a[m] = 0.0
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        o = 0 if n.nx == 3 else 3
        for m in range(o):
            a[m] = 0.0
        for m in range(n.nv):
            a[o + m] = u[n.v0 + m] - c * y[n.v0 + m]
        force = f[i]
        for m in range(12):
            force[m] = 0.0
        if n.nv > 3:
            frame_inertia(n, a, force)
        else:
            for m in range(3):
                force[m] = n.mass * a[m]


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


@kernel
def add_constraint_force(s, w, z, q, mu, constant, f, x):
    """f and x += G(q)^T mu; without ``constant`` the bilinear part D^2 g[mu] q of a velocity q with frames z."""
    _add_constraint_force(s.nodes, s.primitives, w.values, z, q, mu, constant, f, x)


@kernel
def _add_constraint_force(nodes, primitives, values, z, q, mu, constant, f, x):
    for k in range(primitives.shape[0]):
        p = primitives[k]
        if p.kind == COINCIDENT and not constant:
            continue
        primitive_force(p, z[p.a], z[p.b], driven_value(p, values), mu, p.l0, f[p.a], f[p.b])
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        if n.nl > 0:
            internal_force(n, q, mu, x)


@kernel
def copy_frames(z, out):
    """out = z."""
    for i in range(z.shape[0]):
        for m in range(12):
            out[i, m] = z[i, m]


@kernel
def add_frames(f, out):
    """out += f."""
    for i in range(f.shape[0]):
        for m in range(12):
            out[i, m] += f[i, m]


@kernel
def load_frames(w, z, zd, time):
    """Frames, their velocities and the time where general elements look for them; clears their frame forces."""
    w.time[0] = time
    copy_frames(z, w.z)
    copy_frames(zd, w.zd)
    clear_frames(w.f)


@kernel
def add_general(s, w, none, buffer):
    """buffer += frame forces of general elements at the loaded frames."""
    call_extra_forces(s, w, none)
    add_frames(w.f, buffer)


@kernel
def gravity_forces(nodes, gravity, buffer):
    """buffer = frame forces of the weights."""
    for i in range(nodes.shape[0]):
        n = nodes[i]
        for k in range(4):
            m = -(n.mass if k == 0 else (n.s1 if k == 1 else (n.s2 if k == 2 else n.s3)))
            for j in range(3):
                buffer[i, 3 * k + j] = m * gravity[j]


@kernel
def _add_forces(forces, z, zd, values, turns, buffer):
    for k in range(forces.shape[0]):
        e = forces[k]
        force_residual(e, z[e.a], z[e.b], zd[e.a], zd[e.b], values, turns, buffer[e.a], buffer[e.b])


@kernel
def add_applied(s, w, z, zd, values, time, none, c, buffer, f):
    """f += c times the frame forces of gravity and force elements (sign of the residual); sets w.scales."""
    gravity_forces(s.nodes, s.gravity, buffer)
    if s.forces.shape[0] > 0:
        _add_forces(s.forces, z, zd, values, w.turns, buffer)
    if s.flags[FLAG_EXTRA] != 0:
        load_frames(w, z, zd, time)
        add_general(s, w, none, buffer)
    accumulate(c, buffer, f, w.scales)


@kernel
def accumulate(c, buffer, f, scales):
    """f += c buffer; the largest force and torque of the buffer go to ``scales``."""
    scales[0] = 0.0
    scales[1] = 0.0
    for i in range(1, buffer.shape[0]):
        for m in range(12):
            f[i, m] += c * buffer[i, m]
            k = 0 if m < 3 else 1
            scales[k] = max(scales[k], abs(buffer[i, m]))


@kernel
def add_rows(nodes, f, x):
    """x += frame forces at the dynamic rows."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        o = 0 if n.nx == 3 else 3
        for m in range(n.nv):
            x[n.x0 + m] += f[i, o + m]


@kernel
def position_rows(nodes, primitives, values, q, z, nv, x):
    """x[nv:] = g(q) with frames z, in the order of multipliers."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        if n.nl > 0:
            internal_constraints(n, q, x, nv + n.l0)
    for k in range(primitives.shape[0]):
        p = primitives[k]
        primitive_value(p, z[p.a], z[p.b], driven_value(p, values), x, nv + p.l0)


@kernel
def velocity_rows(nodes, primitives, values, q, z, u, zu, h, nv, x):
    """x[nv:] = G(q) u + h g_t for u = h v with frames z and zu; values belong to the time of q."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        if n.nl > 0:
            internal_bilinear(n, q, u, n.q0 + n.nx, n.v0 + n.nx, x, nv + n.l0)
    for k in range(primitives.shape[0]):
        p = primitives[k]
        a, b = p.a, p.b
        primitive_rate(p, z[a], z[b], zu[a], zu[b], driven_value(p, values), x, nv + p.l0)
        if p.function >= 0:
            first, second = primitive_drive(p, z[a], z[b], zu[a], zu[b], values)
            x[nv + p.l0] += h * first


@kernel
def clear_frames(f):
    """Set frame forces to zero."""
    for i in range(f.shape[0]):
        for m in range(f.shape[1]):
            f[i, m] = 0.0


# --- blocks -------------------------------------------------------------------------------------------------------


@kernel
def mass_blocks(s, w, q, c, matrix):
    """Add c M."""
    _mass_blocks(s.nodes, w.spin, w.z, w.t, w.small, q, c, matrix)


@kernel
def _mass_blocks(nodes, spin, z, t, small, q, c, matrix):
    for i in range(1, nodes.shape[0]):
        node_tangent(nodes[i], q, q, q, spin[i], z[i], t[i], c, 0.0, 0.0, matrix, small)


@kernel
def _row_and_column(crow, ccol, f1, f2, f3, j, nv, matrix, row, column, ld):
    for k in range(nv):
        value = f1 * j[0, k] + f2 * j[1, k] + f3 * j[2, k]
        if crow != 0.0:
            matrix[row + k] += crow * value
        if ccol != 0.0:
            matrix[column + k * ld] += ccol * value


@kernel
def _primitive_blocks(p, na, nb, q, za, zb, value, crow, ccol, jac, matrix):
    va, vb = na.nv, nb.nv
    if p.kind == DOT1 or p.kind == ROTATING:
        x1, x2, x3 = first_axis(p, value)
        if va > 0:
            f1, f2, f3 = axis(zb, p.ab1, p.ab2, p.ab3)
            axis_jacobian(na, q, za, za, x1, x2, x3, jac[0])
            _row_and_column(crow, ccol, f1, f2, f3, jac[0], va, matrix, p.block_ja, p.block_aj, p.ld_aj)
        if vb > 0:
            f1, f2, f3 = axis(za, x1, x2, x3)
            axis_jacobian(nb, q, zb, zb, p.ab1, p.ab2, p.ab3, jac[0])
            _row_and_column(crow, ccol, f1, f2, f3, jac[0], vb, matrix, p.block_jb, p.block_bj, p.ld_bj)
        return
    if va > 0:
        point_jacobian(na, q, za, za, p.pa1, p.pa2, p.pa3, jac[0])
    if vb > 0:
        point_jacobian(nb, q, zb, zb, p.pb1, p.pb2, p.pb3, jac[1])
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
            axis_jacobian(na, q, za, za, p.aa1, p.aa2, p.aa3, jac[2])
            _row_and_column(crow, ccol, f1, f2, f3, jac[2], va, matrix, p.block_ja, p.block_aj, p.ld_aj)
        f1, f2, f3 = axis(za, p.aa1, p.aa2, p.aa3)
    else:
        f1, f2, f3 = f1 / value, f2 / value, f3 / value
    if va > 0:
        _row_and_column(-crow, -ccol, f1, f2, f3, jac[0], va, matrix, p.block_ja, p.block_aj, p.ld_aj)
    if vb > 0:
        _row_and_column(crow, ccol, f1, f2, f3, jac[1], vb, matrix, p.block_jb, p.block_bj, p.ld_bj)


@kernel
def _internal_blocks(n, q, crow, ccol, matrix):
    """Rows crow G and columns ccol G^T of the orthonormality of directors."""
    k = n.q0 + n.nx
    r = n.block + n.nv * n.ld + n.nx
    c = n.block + n.nx * n.ld + n.nv
    for p in range(n.nl):
        a = p if p < 3 else (1 if p == 5 else 0)
        b = p if p < 3 else (1 if p == 3 else 2)
        for m in range(3):
            matrix[r + p * n.ld + 3 * a + m] += crow * q[k + 3 * b + m]
            matrix[c + (3 * a + m) * n.ld + p] += ccol * q[k + 3 * b + m]
            if a != b:
                matrix[r + p * n.ld + 3 * b + m] += crow * q[k + 3 * a + m]
                matrix[c + (3 * b + m) * n.ld + p] += ccol * q[k + 3 * a + m]


@kernel
def gradient_blocks(s, w, z, q, constant, crow, ccol, matrix):
    """Add crow G to the rows and ccol G^T to the columns of constraints; without ``constant`` only D^2 g[., q]."""
    _gradient_blocks(s.nodes, s.primitives, w.values, w.jac, z, q, constant, crow, ccol, matrix)


@kernel
def _gradient_blocks(nodes, primitives, values, jac, z, q, constant, crow, ccol, matrix):
    for k in range(primitives.shape[0]):
        p = primitives[k]
        if p.kind == COINCIDENT and not constant:
            continue
        a, b = p.a, p.b
        _primitive_blocks(p, nodes[a], nodes[b], q, z[a], z[b], driven_value(p, values), crow, ccol, jac, matrix)
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        if n.nl > 0:
            _internal_blocks(n, q, crow, ccol, matrix)


@kernel
def hessian_blocks(s, w, q, mu, c, matrix):
    """Add c D^2 g[mu] (constant, because g is quadratic)."""
    _hessian_blocks(s.nodes, s.primitives, w.values, w.jac, w.z, q, mu, c, matrix)


@kernel
def _hessian_blocks(nodes, primitives, values, jac, z, q, mu, c, matrix):
    for k in range(primitives.shape[0]):
        p = primitives[k]
        a, b = p.a, p.b
        za, zb = z[a], z[b]
        joint_stiffness(
            p, nodes[a], nodes[b], q, q, za, zb, za, zb, driven_value(p, values), mu, p.l0, 2.0 * c, jac, matrix
        )
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        o = n.block + n.nx * n.ld + n.nx
        for p in range(n.nl):
            a = p if p < 3 else (1 if p == 5 else 0)
            b = p if p < 3 else (1 if p == 3 else 2)
            for m in range(3):
                matrix[o + (3 * a + m) * n.ld + 3 * b + m] += c * mu[n.l0 + p]
                if a != b:
                    matrix[o + (3 * b + m) * n.ld + 3 * a + m] += c * mu[n.l0 + p]


@kernel
def applied_blocks(s, w, z, zd, q, u, values, time, none, cc, ck, matrix):
    """Add cc C + ck K of the force elements at (q, u)."""
    if s.flags[FLAG_EXTRA] != 0:
        load_frames(w, z, zd, time)
        call_stiffness(s, w, q, u, none, w.eye, cc, ck, matrix)
    if s.forces.shape[0] > 0:
        _force_blocks(
            s.forces, s.nodes, w.spin, w.t, w.turns, w.jac, w.small, z, zd, q, u, values, cc, ck, matrix
        )  # fmt: skip


@kernel
def _force_blocks(forces, nodes, spin, t, turns, jac, small, z, zd, q, u, values, cc, ck, matrix):
    for k in range(forces.shape[0]):
        e = forces[k]
        a, b = e.a, e.b
        force_tangent(
            e, nodes[a], nodes[b], q, u, spin[a], spin[b], z[a], z[b], zd[a], zd[b], t[a], t[b], values, turns, cc, ck,
            jac, small, matrix,
        )  # fmt: skip


@kernel
def solve_mass(n, u, a):
    """u := M^-1 u for one node, by elimination in the 4 x 4 (pinned: 3 x 3) frame mass matrix; a is 4 x 4 scratch."""
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
    k = n.v0
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
