"""Couplings and general constraints in a GGL step; compiled only for models that have them.

Their gradients are no linear functions of frames, and those of GGLEM are discrete ones: the work of the multipliers is
then zero, and the energy exact (``system.curvatures`` says why).

Rolling: its rows for velocities are met by the velocity, with lambda', and by the increment over the step, with gamma',
as the distance is (``joints.rolling_over_step``).
"""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import matrix, real, vector
from ...math.arrays import copy
from ...system.couplings import FIRST_TERM, LEVEL_DRIVEN, POSITION, coupling_constraints, coupling_reactions
from ...system.curvatures import coupling_curvatures
from ...system.over_step import begin_step, blocks_over_step, slip_rows_between, slips_between
from ...system.tables import FLAG_COUPLED, Tables, Work
from ..directors.linear_frames import clear_frames, copy_frames
from .state import EM, GGLState


def _is_coupled(s: Tables) -> bool:
    return bool(s.flags[FLAG_COUPLED])


@kernel
def _go_to(w, x, z, values, shift, h):
    """Leave an instant of the step, or for GGLEM the step itself, where couplings look for it."""
    copy_frames(z, w.z)
    copy(values, w.values)
    w.time[0] = x.begins + shift * h


@kernel
def _gradient(s, w, x, z, values, shift, h, mu, c, f):
    """f += c G(z)^T mu, or the discrete gradient of the step (EM)."""
    clear_frames(w.f)
    _go_to(w, x, z, values, shift, h)
    if x.scheme == EM:
        begin_step(w, x.z0, x.z1, x.zt, h)
    coupling_reactions(s, w, mu)
    w.time[1] = 0.0
    _add(w.f, c, f)


@kernel
def _add(source, c, f):
    for i in range(1, f.shape[0]):
        for m in range(12):
            f[i, m] += c * source[i, m]


@entry(Tables, Work, GGLState, real, vector, real, matrix, when=_is_coupled)
def add_coupled_forces(s, w, x, h, mu, c, f):
    """f += c G(zl)^T mu of couplings and general constraints."""
    _gradient(s, w, x, x.zl, x.at_l, x.shift_l, h, mu, c, f)


@entry(Tables, Work, GGLState, real, when=_is_coupled)
def coupled_equations(s, w, x, h):
    """Rows of couplings and general constraints, and their parts of both balances and of gamma'."""
    _gradient(s, w, x, x.zt, x.at_t, x.shift_t, h, x.gams, -1.0, x.f2)
    add_coupled_curvature(s, w, x, h, x.curvature, x.f1)
    _go_to(w, x, x.zv, x.at_v, x.shift_v, h)
    _scaled_frames(x.zu, 1.0 / h, w.zd)
    coupling_constraints(s, w, x.r1, LEVEL_DRIVEN)
    for k in range(x.v.shape[0], x.r1.shape[0]):
        x.r1[k] *= h
    _go_to(w, x, x.zp, x.at_p, x.shift_p, h)
    coupling_constraints(s, w, x.r2, POSITION)
    if s.nonholonomic.shape[0] > 0:
        slips_between(s, w, x.z0, x.z1, h, x.r2)
        for k in range(s.nonholonomic.shape[0]):
            x.r2[x.v.shape[0] + s.nonholonomic[k]] *= x.d_value  # by which rows of positions are divided


@entry(Tables, Work, GGLState, real, when=_is_coupled)
def moved_rates(s, w, x, h):
    """Rows of velocities at frames that are zy further on, in place of those in r1."""
    for i in range(x.zr.shape[0]):
        for m in range(12):
            x.zr[i, m] = x.zv[i, m] + x.zy[i, m]
    _go_to(w, x, x.zr, x.at_v, x.shift_v, h)
    _scaled_frames(x.zu, 1.0 / h, w.zd)
    coupling_constraints(s, w, x.r1, LEVEL_DRIVEN)
    nv = x.v.shape[0]
    for k in range(s.couplings.shape[0]):
        if s.couplings[k].shared == FIRST_TERM:
            x.r1[nv + s.couplings[k].l0] *= h
    for k in range(s.frame_elements.shape[0]):
        g = s.frame_elements[k]
        for j in range(g.rows):
            x.r1[nv + g.l0 + j] *= h


@kernel
def _scaled_frames(z, c, zd):
    for i in range(z.shape[0]):
        for m in range(12):
            zd[i, m] = c * z[i, m]


@kernel
def add_coupled_curvature(s, w, x, h, c, f):
    """f += c H[gamma'] zh."""
    if c == 0.0:
        return
    clear_frames(w.f)
    _go_to(w, x, x.zt, x.at_t, x.shift_t, h)
    if x.scheme == EM:
        begin_step(w, x.z0, x.z1, x.zt, h)
        for i in range(x.zr.shape[0]):
            for m in range(12):
                x.zr[i, m] = 2.0 * (x.zu[i, m] - x.zy[i, m])  # zy is the mean of both velocities
    coupling_curvatures(s, w, x.gams, x.zh, x.zr)
    w.time[1] = 0.0
    _add(w.f, c, f)


@entry(Tables, Work, GGLState, real, when=_is_coupled)
def finish_coupled(s, w, x, h):
    """Parts of couplings and general constraints in the momenta of the end of a step."""
    _gradient(s, w, x, x.ze, x.at_e, x.shift_e, h, x.lams, x.last_gradient, x.f1)
    add_coupled_curvature(s, w, x, h, x.last_curvature, x.f1)


@kernel
def coupled_sizes(s, x):
    """Largest rows, by kind."""
    nv = x.v.shape[0]
    for k in range(s.couplings.shape[0]):
        _size(s, x, nv, s.couplings[k].l0)
    for k in range(s.frame_elements.shape[0]):
        g = s.frame_elements[k]
        for j in range(g.rows):
            _size(s, x, nv, g.l0 + j)


@kernel
def _size(s, x, nv, k):
    size = max(abs(x.r1[nv + k]), abs(x.r2[nv + k]))
    if not size < 1e300:
        size = 1e300
    if s.lclass[k] == 0:
        x.largest_length = max(x.largest_length, size)
    else:
        x.largest_direction = max(x.largest_direction, size)


@kernel
def coupled_blocks(t, w, x, h):
    """Columns where gamma' acts and rows at the end of the step, into the matrix of rigid bodies."""
    if t.flags[FLAG_COUPLED] != 0:
        _go_to(w, x, x.zt, x.at_p, x.shift_p, h)
        blocks_over_step(t, w, x.q, x.zt, x.q, x.z1, x.begins + x.shift_t * h, w.matrix)
        if t.nonholonomic.shape[0] > 0:
            slip_rows_between(t, w, x.z0, x.q, x.z1, h, w.matrix)
