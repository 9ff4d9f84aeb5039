"""The constraint primitives over a step: multipliers act at averaged frames, equations hold at the frames of the end.

*Row* Jacobians (from qr and zr) turn frame forces into generalised forces, *column* Jacobians (from q1 and z1) say how
the end moves with the unknown increment. In the blocks of a joint, where a column is a force and a row an equation,
columns have the row Jacobians and rows the column Jacobians. At an instant: ``mbd.joints.instant``.
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from .instant import COINCIDENT, COLUMN, ROW, curvature_blocks, primitive_blocks, primitive_jacobians


@kernel
def primitive_blocks_over_step(p, na, nb, qr, q1, zra, zrb, za1, zb1, zma, zmb, value, jacobians, matrix):
    """Add the Jacobian of g(z1) to the rows and the transposed discrete gradient to the columns of a primitive."""
    primitive_blocks(p, na, nb, qr, zra, zrb, zra, zrb, zma, zmb, value, 1.0, COLUMN, jacobians, matrix)
    primitive_blocks(p, na, nb, q1, za1, zb1, za1, zb1, za1, zb1, value, 1.0, ROW, jacobians, matrix)


@kernel
def primitive_stiffness_over_step(p, na, nb, qr, q1, zra, zrb, za1, zb1, value, lam, i, ck, jacobians, matrix):
    """Add ck lambda.g_zz between row and column Jacobians, halved because g_z is taken at the averaged frames."""
    if p.kind != COINCIDENT:
        rows, columns = jacobians[:3], jacobians[3:]
        primitive_jacobians(p, na, nb, qr, zra, zrb, zra, zrb, value, rows)
        primitive_jacobians(p, na, nb, q1, za1, zb1, za1, zb1, value, columns)
        curvature_blocks(p, na, nb, value, 0.5 * ck * lam[i], rows, columns, matrix)
