"""Bodies in generalized coordinates in SHAKE and RATTLE: the equations of ``equations`` with their M, F, g and G.

Forces of the start are evaluated in every step with the velocities that were found, as those of dampers are.
"""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import integer
from ...math.arrays import clear
from ...nodes.frames import has_frame
from ...nodes.generalized import add_reactions, constraint_values, generalized_rate
from ...nodes.step.generalized import generalized_momentum, inverse_times
from ...system.instant_elements import has_generalized
from ...system.tables import Tables, Work, tables_at
from ..directors.linear_frames import add_correction
from ..directors.user_coordinates import (
    clear_points,
    measure_own,
    move_own_rows,
    own_blocks,
    own_forces,
    regularise_own,
    solve_own,
)
from ..numbers import NewtonNumbers
from ..verdicts import SINGULAR
from .equations import StormerState

# what is asked of these bodies: momenta h M v, forces of the start, residuals, momenta of the end, velocities of SHAKE
MOMENTA, FORCES, POSITION_ROWS, VELOCITY_ROWS, END, UNPROJECTED, SOLVE_POSITIONS, SOLVE_VELOCITIES = range(8)


@entry(Tables, Work, StormerState, NewtonNumbers, integer, when=has_generalized)
def own_bodies(s, w, x, p, request):
    """What is asked of all of them; s are tables that show them."""
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if has_frame(n):
            continue
        if request < SOLVE_POSITIONS:
            _rows(s, w, x, p, n, request)
        elif not _solve(s, w, x, p, n, request == SOLVE_POSITIONS):
            return
    if request >= SOLVE_POSITIONS:
        clear_points(s, tables_at(x.rigid[0]), w.x)
        if measure_own(s, p, x):
            if request == SOLVE_POSITIONS:
                add_correction(x.own_y, x.dq, x.lams)
            else:
                add_correction(x.own_y, x.u, x.mus)


@kernel
def _end(x, n, q1):
    """q1 = coordinates of the end of the step."""
    for k in range(n.nv):
        q1[k] = x.q[n.q0 + k] + x.dq[n.v0 + k]


@kernel
def _rows(s, w, x, p, n, request):
    f, c, b, h, k, row = s.functions, s.constants, w.buffers, p.step, n.v0, x.v.shape[0] + n.l0
    q0, q1, out = x.q[n.q0 :], b[0], x.r[k:]
    _end(x, n, q1)
    if request == MOMENTA:
        generalized_momentum(n, q0, x.v[k:], x.p[k:], h, f, c, w.user, b[1])
    elif request == FORCES:
        own_forces(s, w, n, x.times[0], q0, x.v[k:], b[2])
        for j in range(n.nv):
            x.own_force[k + j] = b[2][j]
    elif request == POSITION_ROWS:
        generalized_momentum(n, q0, x.dq[k:], out, 1.0, f, c, w.user, b[1])
        for j in range(n.nv):
            out[j] += 0.5 * h * h * x.own_force[k + j] - x.p[k + j]
        add_reactions(n, q0, x.lams[n.l0 :], 1.0, f, w.user, out)
        constraint_values(n, q1, f, w.user, x.r[row:])
    elif request == VELOCITY_ROWS:
        generalized_momentum(n, q1, x.u[k:], out, 1.0, f, c, w.user, b[1])
        for j in range(n.nv):
            out[j] -= x.p[k + j]
        add_reactions(n, q1, x.mus[n.l0 :], 1.0, f, w.user, out)
        if n.nl > 0:
            generalized_rate(n, q1, x.u[k:], 0.0, f, w.user, x.r[row:])
    elif request == END:
        for j in range(n.nv):
            b[3][j] = x.dq[k + j] / h + 0.5 * h * x.vd[k + j]  # as dampers see it
        own_forces(s, w, n, x.times[1], q1, b[3], b[2])
        generalized_momentum(n, q0, x.dq[k:], x.p[k:], 1.0, f, c, w.user, b[1])
        for j in range(n.nv):
            x.p[k + j] -= 0.5 * h * h * b[2][j]
    else:
        for j in range(n.nv):
            b[2][j] = x.p[k + j]
        add_reactions(n, q1, x.lams[n.l0 :], -1.0 if p.history == 0 else -0.5, f, w.user, b[2])
        inverse_times(n, q1, b[2], f, c, w.user, b[1], x.u[k:])


@kernel
def _solve(s, w, x, p, n, positions):
    """The correction of a body into x.own_y; whether there is one."""
    q1, y, nv = w.buffers[0], x.own_rows[0], x.v.shape[0]
    _end(x, n, q1)
    clear(x.own_matrix)
    own_blocks(s, w, n, x.q[n.q0 :] if positions else q1, q1, 1.0, x.own_matrix)
    regularise_own(s, n, n.nv, x.own_matrix)
    for k in range(n.nv):
        y[k] = -x.r[n.v0 + k]
    for k in range(n.nl):
        y[n.nv + k] = -x.r[nv + n.l0 + k]
    if not solve_own(n, p, x.own_matrix, y):
        return False
    move_own_rows(n, nv, y, x.r, x.own_y)
    return True


@kernel
def solve_bodies(w, x, p, request):
    """Corrections of these bodies, whose residuals become zero; whether there are some."""
    own_bodies(tables_at(x.own[0]), w, x, p, request)
    return p.verdict != SINGULAR
