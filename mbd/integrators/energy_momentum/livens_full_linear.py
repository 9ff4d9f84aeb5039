"""Points and directors in the Livens energy-momentum scheme without reduction; the equations are in ``livens_full``."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...nodes.forms import FORM_DIRECTORS
from ...nodes.inertia import frame_inertia
from ...nodes.tangent import internal_force
from .nodes import dual_tangent, dual_torque, internal_secant


@kernel
def _linear_equation(n, qm, v0, v1, p0, p1, zm, f, torque, lam, h, x, small):
    """Points and directors: constant mass."""
    i, k = n.x0, n.v0
    fibre = i + n.nv + n.nl + n.nv
    o = 0 if n.nx == 3 else 3
    y, inertia = small[0], small[1]
    for m in range(12):
        y[m] = 0.0
        inertia[m] = 0.0
    for m in range(n.nv):
        y[o + m] = 0.5 * (v0[k + m] + v1[k + m])
    frame_inertia(n, y, inertia)
    if n.form == FORM_DIRECTORS:
        dual_torque(zm, torque, f)
    for m in range(n.nv):
        x[i + m] = f[o + m] + (p1[k + m] - p0[k + m]) / h
        x[fibre + m] = 0.5 * (p1[k + m] + p0[k + m]) - inertia[o + m]
    if n.nl > 0:
        internal_force(n, qm, lam, x)


@kernel
def _linear_matrix(n, q1, qm, zm, torque, lam, h, matrix, small):
    ck = 0.5 * h * h
    if n.form == FORM_DIRECTORS:
        dual_tangent(n, zm, torque, ck, matrix, small)
        internal_secant(n, q1, qm, lam, ck, matrix)
    # the mass belongs to the rows of the fibre derivative and the columns of v1
    o = 0 if n.nx == 3 else 3
    y, inertia = small[0], small[1]
    fibre, rates = n.block + (n.nv + n.nl + n.nv) * n.ld, n.nv + n.nl
    for b in range(n.nv):
        for m in range(12):
            y[m] = 0.0
            inertia[m] = 0.0
        y[o + b] = 1.0
        frame_inertia(n, y, inertia)
        for m in range(n.nv):
            matrix[fibre + m * n.ld + rates + b] -= 0.5 * inertia[o + m]
