"""Generalized coordinates in the Livens scheme without reduction: unknowns are q1, v1, p1 and lambda (see ``full``).

The rule is LIVENS of ``generalized`` with the velocities v1 and the momenta p1 as they are iterated:

    (p1 - p0)/h + D Phi = 0,   g(q1) = 0,   q1 - q0 - h vm = 0,   pm - (M0 + M1)/2 vm = 0
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ..generalized import generalized_mass
from .generalized import LIVENS, STEP, constraint_blocks, momentum_balance


@kernel
def _rows(n, t, q0, dq, v0, v1, p0, p1, lam, h, functions, constants, user, b, balance, fibre):
    """Balance of momenta, and fibre derivative; of the buffers b, rows 0 to 4 are used."""
    m = n.nv
    momentum_balance(n, LIVENS, t, q0, dq, v0, v1, p0, p1, lam, h, functions, constants, user, b, balance)
    x, a0, a1 = b[0], b[1], b[2]
    for k in range(m):
        x[k] = q0[k] + dq[k]
    generalized_mass(n, q0, functions, constants, user, a0)
    generalized_mass(n, x, functions, constants, user, a1)
    for i in range(m):
        fibre[i] = 0.5 * (p0[i] + p1[i])
        for j in range(m):
            fibre[i] -= 0.25 * (a0[i * m + j] + a1[i * m + j]) * (v0[j] + v1[j])


@kernel
def full_generalized_equation(n, t, q0, dq, v0, v1, p0, p1, lam, h, functions, constants, user, b, x):
    """Rows of the balance and of the fibre derivative into x."""
    _rows(n, t, q0, dq, v0, v1, p0, p1, lam, h, functions, constants, user, b, b[6], b[7])
    fibre = n.x0 + n.nv + n.nl + n.nv
    for k in range(n.nv):
        x[n.x0 + k], x[fibre + k] = b[6][k], b[7][k]


@kernel
def full_generalized_matrix(n, t, q0, dq, v0, v1, p0, p1, lam, h, functions, constants, user, b, matrix):
    """Diagonal block, rows of the balance scaled by h^2/2, by differences with respect to q1 and v1."""
    m, o, ld = n.nv, n.block, n.ld
    rates = m + n.nl
    y, plus, minus = b[5], b[6], b[7]
    for part in range(2):
        base, first = (dq, 0) if part == 0 else (v1, rates)
        for j in range(m):
            d = STEP * max(1.0, abs(q0[j] if part == 0 else v1[j]))
            for k in range(m):
                y[k] = base[k]
            for side in range(2):
                y[j] = base[j] + (d if side == 0 else -d)
                out = plus if side == 0 else minus
                if part == 0:
                    _rows(n, t, q0, y, v0, v1, p0, p1, lam, h, functions, constants, user, b, out, out[m:])
                else:
                    _rows(n, t, q0, dq, v0, y, p0, p1, lam, h, functions, constants, user, b, out, out[m:])
            for i in range(m):
                matrix[o + i * ld + first + j] += 0.5 * h * h * (plus[i] - minus[i]) / (2.0 * d)
                matrix[o + (rates + m + i) * ld + first + j] += (plus[m + i] - minus[m + i]) / (2.0 * d)
    constraint_blocks(n, 2, q0, dq, functions, user, b, matrix)
