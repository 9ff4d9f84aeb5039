"""Directors in the energy-momentum scheme on frames.

The frame is linear in the coordinates, so that M (v1 - v0)/h + F + G(qm)^T lambda = 0 with v1 = 2 dq/h - v0 and the
averaged coordinates qm keeps energy and momenta [Gonzalez 1999].
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ..internal import internal_blocks, internal_force
from ..mass import frame_inertia
from ..tangent import director_mass
from .torques import dual_tangent, dual_torque


@kernel
def directors_equation(n, dq, v, qm, zm, f, torque, lam, h, x, scratch):
    """x[x0:] = momentum balance; inertia forces are added to f."""
    zdd, k, o = scratch[0], n.v0, 12 - n.nv
    c = 2.0 / h
    for m in range(12):
        zdd[m] = 0.0
    for m in range(n.nv):
        zdd[o + m] = c * (0.5 * c * dq[k + m] - v[k + m])
    frame_inertia(n, zdd, f)
    dual_torque(zm, torque, f)
    for m in range(n.nv):
        x[n.x0 + m] = f[o + m]
    internal_force(n, qm, lam, x)


@kernel
def directors_matrix(n, q1, qm, zm, torque, lam, h, matrix, scratch):
    """Diagonal block, scaled by h^2/2: the constant mass matrix, torques, internal constraints."""
    ck = 0.5 * h * h
    for m in range(n.nx):
        matrix[n.block + m * n.ld + m] += n.mass
    director_mass(n, 1.0, matrix)
    dual_tangent(n, zm, torque, ck, matrix, scratch)
    internal_blocks(n, q1, qm, lam, 0.5 * ck, matrix)
