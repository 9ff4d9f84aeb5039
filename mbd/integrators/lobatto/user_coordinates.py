"""Bodies in generalized coordinates in Lobatto IIIA-IIIB: the equations of ``equations`` with their M, F, g and G."""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import integer
from ...math.arrays import clear
from ...nodes.frames import has_frame
from ...nodes.generalized import add_reactions, constraint_values, generalized_rate, mass_block
from ...nodes.step.generalized import generalized_momentum
from ...system.instant_elements import has_generalized
from ...system.tables import Tables, Work, tables_at, work_at
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
from .equations import LobattoState
from .stage_solve import FIRST_END, FIRST_MIDDLE, SECOND_END, SECOND_MIDDLE

# what is asked of these bodies: momenta h M v, residuals of both stages and of velocities, momenta of the end
MOMENTA, STAGE_ROWS, VELOCITY_ROWS, END, SOLVE_STAGES, SOLVE_VELOCITIES = range(6)


@entry(Tables, Work, LobattoState, NewtonNumbers, integer, when=has_generalized)
def own_bodies(s, w, x, p, request):
    """What is asked of all of them; s are tables that show them."""
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if has_frame(n):
            continue
        if request < SOLVE_STAGES:
            _rows(s, w, x, p, n, request)
        elif not (_solve_stages(s, w, x, p, n) if request == SOLVE_STAGES else _solve_velocities(s, w, x, p, n)):
            return
    if request == SOLVE_STAGES:
        clear_points(s, tables_at(x.rigid[1]), w.x)
        clear_points(s, tables_at(x.rigid[4]), w.x)
        measure_own(s, p, x)
        add_correction(x.own_y, x.dq, x.lamm)
        add_correction(x.own_m, x.dm, x.lams)
    elif request == SOLVE_VELOCITIES:
        clear_points(s, tables_at(x.rigid[0]), work_at(x.small[0]).x)
        measure_own(s, p, x)
        add_correction(x.own_y, x.u, x.mus)


@kernel
def _positions(x, n, qm, q1):
    """Coordinates in the middle and at the end of the step."""
    for k in range(n.nv):
        qm[k] = x.q[n.q0 + k] + x.dm[n.v0 + k]
        q1[k] = x.q[n.q0 + k] + x.dq[n.v0 + k]


@kernel
def _combined(x, n, a, b, out):
    """out = a dm + b dq."""
    for k in range(n.nv):
        out[k] = a * x.dm[n.v0 + k] + b * x.dq[n.v0 + k]


@kernel
def _add_stage(s, w, x, n, t, q, a, b, h, c, out):
    """out += c h^2 F at an instant, with the velocity (a dm + b dq)/h of the parabola there."""
    rate, force = w.buffers[3], w.buffers[4]
    _combined(x, n, a / h, b / h, rate)
    own_forces(s, w, n, t, q, rate, force)
    for k in range(n.nv):
        out[k] += c * h * h * force[k]


@kernel
def _rows(s, w, x, p, n, request):
    f, c, b, h, k, row = s.functions, s.constants, w.buffers, p.step, n.v0, x.v.shape[0] + n.l0
    q0, qm, q1, u = x.q[n.q0 :], b[0], b[5], b[6]
    _positions(x, n, qm, q1)
    if request == MOMENTA:
        generalized_momentum(n, q0, x.v[k:], x.p[k:], h, f, c, w.user, b[1])
    elif request == STAGE_ROWS:
        _combined(x, n, FIRST_MIDDLE, FIRST_END, u)
        generalized_momentum(n, q0, u, x.rm[k:], 1.0, f, c, w.user, b[1])
        for j in range(n.nv):
            x.rm[k + j] -= x.p[k + j]
        _add_stage(s, w, x, n, x.times[0], q0, 4.0, -1.0, h, 1.0 / 6.0, x.rm[k:])
        add_reactions(n, q0, x.lams[n.l0 :], 1.0, f, w.user, x.rm[k:])
        constraint_values(n, qm, f, w.user, x.rm[row:])
        _combined(x, n, SECOND_MIDDLE, SECOND_END, u)
        generalized_momentum(n, qm, u, x.r[k:], 1.0, f, c, w.user, b[1])
        _add_stage(s, w, x, n, x.times[2], qm, 0.0, 1.0, h, 0.25, x.r[k:])
        add_reactions(n, qm, x.lamm[n.l0 :], 1.0, f, w.user, x.r[k:])
        constraint_values(n, q1, f, w.user, x.r[row:])
    elif request == VELOCITY_ROWS:
        generalized_momentum(n, q1, x.u[k:], x.r[k:], 1.0, f, c, w.user, b[1])
        for j in range(n.nv):
            x.r[k + j] -= x.p[k + j]
        add_reactions(n, q1, x.mus[n.l0 :], 1.0, f, w.user, x.r[k:])
        if n.nl > 0:
            generalized_rate(n, q1, x.u[k:], 0.0, f, w.user, x.r[row:])
    else:
        _combined(x, n, -8.0 / 3.0, 7.0 / 3.0, u)
        generalized_momentum(n, q1, u, x.p[k:], 1.0, f, c, w.user, b[1])
        _add_stage(s, w, x, n, x.times[1], q1, -4.0, 3.0, h, -1.0 / 6.0, x.p[k:])


@kernel
def _load(n, nv, r, y):
    """y = minus the rows r of a body."""
    for k in range(n.nv):
        y[k] = -r[n.v0 + k]
    for k in range(n.nl):
        y[n.nv + k] = -r[nv + n.l0 + k]


@kernel
def _solve_stages(s, w, x, p, n):
    """Corrections of both stages into x.own_m and x.own_y; whether there are some."""
    size, qm, q1, a, y, nv = n.nv + n.nl, w.buffers[0], w.buffers[5], x.own_matrix, x.own_rows[0], x.v.shape[0]
    f, c = s.functions, s.constants
    second, both = size * n.ld, size * n.ld + size  # rows of the second equations, and their own columns
    _positions(x, n, qm, q1)
    clear(a)
    own_blocks(s, w, n, x.q[n.q0 :], qm, FIRST_MIDDLE, a)
    mass_block(n, qm, f, c, w.user, w.buffers[1], FIRST_END, a[size:])
    mass_block(n, qm, f, c, w.user, w.buffers[1], SECOND_MIDDLE, a[second:])
    own_blocks(s, w, n, qm, q1, SECOND_END, a[both:])
    regularise_own(s, n, n.nv, a)
    regularise_own(s, n, size + n.nv, a)
    _load(n, nv, x.rm, y)
    _load(n, nv, x.r, y[size:])
    if not solve_own(n, p, a, y):
        return False
    move_own_rows(n, nv, y, x.rm, x.own_m)
    move_own_rows(n, nv, y[size:], x.r, x.own_y)
    return True


@kernel
def _solve_velocities(s, w, x, p, n):
    """The correction of the velocity into x.own_y; whether there is one. Of the matrix the first half is used."""
    size, qm, q1, a, y, nv = n.nv + n.nl, w.buffers[0], w.buffers[5], x.own_matrix, x.own_rows[0], x.v.shape[0]
    _positions(x, n, qm, q1)
    clear(a)
    own_blocks(s, w, n, q1, q1, 1.0, a)
    regularise_own(s, n, n.nv, a)
    for k in range(size, n.ld):
        a[k * n.ld + k] = 1.0
        y[k] = 0.0
    _load(n, nv, x.r, y)
    if not solve_own(n, p, a, y):
        return False
    move_own_rows(n, nv, y, x.r, x.own_y)
    return True


@kernel
def solve_bodies(w, x, p, request):
    """Corrections of these bodies, whose residuals become zero; whether there are some."""
    own_bodies(tables_at(x.own[0]), w, x, p, request)
    return p.verdict != SINGULAR
