"""Kernels for nodes whose frames are linear in the coordinates (points, directors): q is part of the frame itself.

Then q, its increments and its velocities have the same indices, the mass matrix is constant, constraints are quadratic
in q with constant second derivatives, and ``D^2 g[mu] u`` is the constraint force of mu at the "frame" u.
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...joints.instant import COINCIDENT, COLUMN, ROW, primitive_blocks, primitive_force, primitive_stiffness
from ...math.arrays import clear_frames as clear_frames
from ...math.arrays import copy_frames as copy_frames
from ...nodes.internal import internal_frame_force, internal_gradients, internal_hessian
from ...nodes.mass import frame_inertia
from ...nodes.tangent import node_tangent
from ...system.element_forces import constant as driven_value


@kernel
def add_correction(r, u, mu):
    """u and mu += the two parts of a solution r, in the order of velocities and multipliers."""
    nv = u.shape[0]
    for k in range(nv):
        u[k] += r[k]
    for k in range(mu.shape[0]):
        mu[k] += r[nv + k]


@kernel
def joint_forces(primitives, values, z, mu, c, constant, rows, f):
    """f += c G(z)^T mu of joints; without ``constant`` the bilinear part c D^2 g[mu] z of a velocity with frames z."""
    for k in range(primitives.shape[0]):
        p = primitives[k]
        if p.kind == COINCIDENT and not constant:
            continue
        for m in range(3 if p.kind == COINCIDENT else 1):
            rows[m] = c * mu[p.l0 + m]
        primitive_force(p, z[p.a], z[p.b], driven_value(p, values), rows, 0, f[p.a], f[p.b])


@kernel
def add_constraint_force(s, values, z, mu, rows, f, x):
    """x += G(z)^T mu in the order of velocities; f is scratch."""
    clear_frames(f)
    joint_forces(s.primitives, values, z, mu, 1.0, True, rows, f)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.nl > 0:
            internal_frame_force(z[i], mu, n.l0, 1.0, f[i])
        o = 0 if n.nx == 3 else 3
        for m in range(n.nv):
            x[n.v0 + m] += f[i, o + m]


@kernel
def subtract_mass(nodes, c, u, scratch, x):
    """x -= c M u."""
    a, f = scratch[0], scratch[1]
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
        node_tangent(s.nodes[i], q, q, q, w.spin[i], w.z[i], w.t[i], c, 0.0, 0.0, matrix, w.scratch)


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
        za, zb, value = z[a], z[b], driven_value(p, values)
        if crow != 0.0:
            primitive_blocks(
                p, s.nodes[a], s.nodes[b], za, za, zb, za, zb, za, zb, value, crow, ROW, w.jacobians, matrix
            )  # fmt: skip
        if ccol != 0.0:
            primitive_blocks(
                p, s.nodes[a], s.nodes[b], za, za, zb, za, zb, za, zb, value, ccol, COLUMN, w.jacobians, matrix
            )  # fmt: skip
    for i in range(1, s.nodes.shape[0]):
        if s.nodes[i].nl > 0:
            internal_gradients(s.nodes[i], z[i], 3, crow, z[i], 3, ccol, matrix)


@kernel
def hessian_blocks(s, w, values, q, mu, c, matrix):
    """Add c D^2 g[mu] (constant, because g is quadratic)."""
    if c == 0.0:
        return
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        za, zb = w.z[a], w.z[b]
        primitive_stiffness(
            p, s.nodes[a], s.nodes[b], q, za, zb, za, zb, driven_value(p, values), mu, p.l0, c, w.jacobians, matrix
        )  # fmt: skip
    for i in range(1, s.nodes.shape[0]):
        if s.nodes[i].nl > 0:
            internal_hessian(s.nodes[i], mu, c, matrix)
