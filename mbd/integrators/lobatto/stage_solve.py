"""Corrections of both stages at once, with the matrix of rigid bodies (``directors.rigid_solve``).

Newton's method for the equations of ``equations`` without the derivatives of forces and of G^T:

    [8/3 M   -1/3 M   G(q0)^T  0      ] [ddm      ]
    [-2 M        M    0        G(qm)^T] [ddq      ]
    [G(qm)       0    0        0      ] [dlambda' ] = -r
    [0        G(q1)   0        0      ] [dmu'     ]

What is left out contracts by (h omega)^2/24 for a frequency omega, a third at the limit of stability of the method
itself: no step that is worth making needs it. Internal multipliers are no part of dynamic rows that are projected on
the motions of rigid bodies at q0 and qm; stretches follow from internal constraints at qm and q1. In the matrix every
body and joint owns two blocks, so that it is as sparse as that of one stage.
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...math.arrays import copy
from ...nodes.mass import frame_inertia
from ...system.matrix import factor, solve
from ...system.over_step import blocks_over_step, slip_rows_between
from ...system.tables import FLAG_COUPLED, tables_at
from ..directors.linear_frames import copy_frames
from ..directors.rigid_solve import (
    add_rigid_blocks,
    body_block,
    expand_joints,
    project_joints,
    project_on_motions,
    stretch_multipliers,
    stretch_of,
    turn_of,
)

FIRST_MIDDLE, FIRST_END, SECOND_MIDDLE, SECOND_END = 8.0 / 3.0, -1.0 / 3.0, -2.0, 1.0  # factors of M


@kernel
def _joint_blocks(t, w, x, zc, zr, values, time, time_of_columns):
    """Couplings and general constraints with columns at the frames zc, and rows at zr."""
    if t.flags[FLAG_COUPLED] != 0:
        copy_frames(zc, w.z)
        copy(values, w.values)
        w.time[0] = time
        blocks_over_step(t, w, x.q, zc, x.q, zr, time_of_columns, w.matrix)
        if t.nonholonomic.shape[0] > 0:  # integrals of rows, as if these were those of zr throughout
            slip_rows_between(t, w, zr, x.q, zr, x.times[1] - x.times[0], w.matrix)


@kernel
def factor_stages(w, x):
    """Factors of the matrix of both stages, at the present frames."""
    t11, t12, t21, t22 = tables_at(x.rigid[1]), tables_at(x.rigid[2]), tables_at(x.rigid[3]), tables_at(x.rigid[4])
    for k in range(w.matrix.shape[0]):
        w.matrix[k] = 0.0
    add_rigid_blocks(t11, w, x.at_middle, x.z0, x.zm, FIRST_MIDDLE, w.matrix)
    _joint_blocks(t11, w, x, x.z0, x.zm, x.at_middle, x.times[2], x.times[0])
    add_rigid_blocks(t22, w, x.at_end, x.zm, x.z1, SECOND_END, w.matrix)
    _joint_blocks(t22, w, x, x.zm, x.z1, x.at_end, x.times[1], x.times[2])
    for i in range(1, t11.nodes.shape[0]):
        body_block(t12.nodes[i], x.z0[i], x.z1[i], FIRST_END, w.scratch, w.matrix)
        body_block(t21.nodes[i], x.zm[i], x.zm[i], SECOND_MIDDLE, w.scratch, w.matrix)
    factor(t11, w, w.matrix, w.pivots, w.dinv)


@kernel
def _add_inertia(n, middle, end, scratch, f, fm):
    """Frame forces of both dynamic rows += those of M for changes of the frames in the middle and at the end."""
    a = scratch[1]
    for m in range(12):
        a[m] = FIRST_MIDDLE * middle[m] + FIRST_END * end[m]
    frame_inertia(n, a, fm)
    for m in range(12):
        a[m] = SECOND_MIDDLE * middle[m] + SECOND_END * end[m]
    frame_inertia(n, a, f)


@kernel
def solve_stages(s, w, x):
    """x.rm, x.r := the corrections (ddm, dlambda') and (ddq, dmu')."""
    t11, t22 = tables_at(x.rigid[1]), tables_at(x.rigid[4])
    nv = s.xv.shape[0]
    first = nv + s.xl.shape[0] - t11.xl.shape[0]
    for m in range(12):
        x.stretch[0, m] = 0.0
        x.stretch_m[0, m] = 0.0
    for i in range(1, s.nodes.shape[0]):
        n, f, fm = s.nodes[i], x.f[i], x.fm[i]
        o = 0 if n.nx == 3 else 3
        for m in range(n.nv):
            fm[o + m] = x.rm[n.v0 + m]
            f[o + m] = x.r[n.v0 + m]
        stretch_of(n, x.zm[i], x.rm, nv + n.l0, x.stretch_m[i])
        stretch_of(n, x.z1[i], x.r, nv + n.l0, x.stretch[i])
        if n.nl > 0:
            _add_inertia(n, x.stretch_m[i], x.stretch[i], w.scratch, f, fm)
        project_on_motions(n, t11.nodes[i], x.z0[i], fm, w.x)
        project_on_motions(n, t22.nodes[i], x.zm[i], f, w.x)
    project_joints(t11.primitives, t11.xl, x.at_middle, x.zm, x.rm, first, x.stretch_m, w.primitive_rows, w.x)
    project_joints(t22.primitives, t22.xl, x.at_end, x.z1, x.r, first, x.stretch, w.primitive_rows, w.x)
    solve(t11, w.matrix, w.pivots, w.dinv, w.x)
    middle, end = w.scratch[2], w.scratch[3]
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        o = 0 if n.nx == 3 else 3
        turn_of(n, t11.nodes[i], x.zm[i], w.x, middle)
        turn_of(n, t22.nodes[i], x.z1[i], w.x, end)
        for m in range(n.nv):
            x.rm[n.v0 + m] = middle[o + m] + x.stretch_m[i, o + m]
            x.r[n.v0 + m] = end[o + m] + x.stretch[i, o + m]
        if n.nl > 0:
            _add_inertia(n, middle, end, w.scratch, x.f[i], x.fm[i])
    expand_joints(t11.primitives, t11.xl, x.at_start, x.z0, w.x, first, x.fm, x.rm)
    expand_joints(t22.primitives, t22.xl, x.at_middle, x.zm, w.x, first, x.f, x.r)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.nl > 0:
            stretch_multipliers(x.z0[i], x.fm[i], nv + n.l0, x.rm)
            stretch_multipliers(x.zm[i], x.f[i], nv + n.l0, x.r)
