"""Conventional quaternions of a ball: the inertia of their length.

Four parameters turn a body about three axes only, so that their mass matrix is singular along e. A kinetic energy
m (e . e_dot)^2 / 2 makes it regular; it does no work where |e| = 1.
"""

from __future__ import annotations

from ...compiled.kernel import kernel


@kernel
def radial_inertia(n):
    """Inertia against a change of length of a quaternion: any positive number, here about the body's own inertia."""
    return 2.0 * (n.j11 + n.j22 + n.j33) + n.mass * 1e-6


@kernel
def _length_acceleration(n, q, v, vd):
    j, k = n.q0 + n.nx, n.v0 + n.nx
    total = 0.0
    for m in range(4):
        total += q[j + m] * vd[k + m] + v[k + m] * v[k + m]
    return total


@kernel
def radial_force(n, q, v, vd, x):
    """x += m (e . e_ddot + e_dot . e_dot) e."""
    c = radial_inertia(n) * _length_acceleration(n, q, v, vd)
    for m in range(4):
        x[n.x0 + n.nx + m] += c * q[n.q0 + n.nx + m]


@kernel
def radial_entry(n, q, v, vd, i, k, cm, cc, ck):
    """Entry (i, k) of cm M + cc C + ck K of this force."""
    j, o = n.q0 + n.nx, n.v0 + n.nx
    entry = (cm * q[j + k] + ck * vd[o + k] + 2.0 * cc * v[o + k]) * q[j + i]
    if i == k:
        entry += ck * _length_acceleration(n, q, v, vd)
    return radial_inertia(n) * entry
