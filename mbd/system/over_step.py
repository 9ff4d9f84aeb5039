"""Couplings and frame elements over a step, for methods whose forces belong to a step.

While such an entry runs, w.z holds the frames at which forces act, w.zd the secant (z1 - z0)/h of the frames, and
w.time[1] the step h (``begin_step``, ``end_step``); the elements then give their discrete gradients. Their forces are
in ``mbd.system.couplings``; here are the matrices. *Rows* (qr, zr) turn frame forces into generalised forces, *columns*
(q1, z1) say how the end moves. Methods that take gradients at an instant leave the step zero.
"""

from __future__ import annotations

from ..compiled.entry import entry
from ..compiled.kernel import kernel
from ..compiled.kinds import matrix, real, vector
from ..elements.frame_kinds import ROLLING
from ..joints.angles import angle_force
from ..joints.angles_over_step import angle_force_over_step, angle_stiffness_over_step
from ..joints.instant import ANGLE
from ..joints.over_step import primitive_blocks_over_step, primitive_stiffness_over_step
from ..nodes.inertia import pull_back
from .frame_elements import gather, slip_over_step
from .frame_tangents import (
    frame_element_blocks_over_step,
    frame_element_tangent_over_step,
    rolling_columns_over_step,
    rolling_rows_over_step,
)
from .tables import FLAG_COUPLED, Tables, Work


def _is_coupled(s: Tables) -> bool:
    return bool(s.flags[FLAG_COUPLED])


def _rolls(s: Tables) -> bool:
    return len(s.nonholonomic) > 0


@kernel
def begin_step(w, z0, z1, zm, h):
    """Averaged frames and their secant where elements look for frames and velocities."""
    w.time[1] = h
    for i in range(z0.shape[0]):
        for m in range(12):
            w.z[i, m] = zm[i, m]
            w.zd[i, m] = (z1[i, m] - z0[i, m]) / h


@kernel
def _between(w, z0, z1, h):
    """Compute averaged frames and their secant, and put them where elements look for frames and velocities."""
    w.time[1] = h
    for i in range(z0.shape[0]):
        for m in range(12):
            w.z[i, m] = 0.5 * (z0[i, m] + z1[i, m])
            w.zd[i, m] = (z1[i, m] - z0[i, m]) / h


@kernel
def end_step(w, z1):
    """Back to the frames of an instant."""
    w.time[1] = 0.0
    for i in range(z1.shape[0]):
        for m in range(12):
            w.z[i, m] = z1[i, m]


@kernel
def _clear_pair(fa, fb):
    for m in range(12):
        fa[m] = 0.0
        fb[m] = 0.0


@entry(Tables, Work, vector, when=_rolls)
def slips_over_step(s, w, into):
    """Rows of constraints that exist for velocities only: how far the step slips."""
    for k in range(s.frame_elements.shape[0]):
        g = s.frame_elements[k]
        if g.kind == ROLLING:
            gather(g, s, w)
            slip_over_step(g, s, w, into, g.x0)


@entry(Tables, Work, matrix, matrix, real, vector, when=_rolls)
def slips_between(s, w, z0, z1, h, into):
    """How far a step from the frames z0 to z1 slips, neither of which is w.z: for methods with forces at an instant."""
    _between(w, z0, z1, h)
    slips_over_step(s, w, into)
    w.time[1] = 0.0


@entry(Tables, Work, matrix, vector, matrix, real, vector, when=_rolls)
def slip_rows_between(s, w, z0, q1, z1, h, into):
    """Derivatives of slips along increments of the end (q1, z1); those of a step at rest are rows of velocities."""
    _between(w, z0, z1, h)
    for k in range(s.frame_elements.shape[0]):
        if s.frame_elements[k].kind == ROLLING:
            rolling_rows_over_step(s.frame_elements[k], s, w, q1, z1, 1, into)
    w.time[1] = 0.0


@entry(Tables, Work, vector, matrix, vector, matrix, real, vector, when=_is_coupled)
def blocks_over_step(s, w, qr, zr, q1, z1, time, into):
    """Rows at the end, columns of the (discrete) gradients at w.z, of couplings and general constraints."""
    fa, fb, row, h = w.force_a, w.force_b, w.pulled_back, w.time[1]
    for k in range(s.couplings.shape[0]):
        p = s.couplings[k]
        a, b = p.a, p.b
        na, nb = s.nodes[a], s.nodes[b]
        if p.kind != ANGLE:
            primitive_blocks_over_step(
                p, na, nb, qr, q1, zr[a], zr[b], z1[a], z1[b], w.z[a], w.z[b], p.value, w.jacobians, into
            )  # fmt: skip
            continue
        _clear_pair(fa, fb)
        if h != 0.0:
            angle_force_over_step(p, w.z[a], w.z[b], w.zd[a], w.zd[b], h, 1.0, fa, fb)
        else:
            angle_force(p, w.z[a], w.z[b], 1.0, fa, fb)
        pull_back(na, qr, zr[a], zr[a], fa, row, 0)
        for i in range(na.nv):
            into[p.block_aj + i * p.ld_aj] += row[i]
        pull_back(nb, qr, zr[b], zr[b], fb, row, 0)
        for i in range(nb.nv):
            into[p.block_bj + i * p.ld_bj] += row[i]
        _clear_pair(fa, fb)
        angle_force(p, z1[a], z1[b], 1.0, fa, fb)
        pull_back(na, q1, z1[a], z1[a], fa, row, 0)
        for i in range(na.nv):
            into[p.block_ja + i] += row[i]
        pull_back(nb, q1, z1[b], z1[b], fb, row, 0)
        for i in range(nb.nv):
            into[p.block_jb + i] += row[i]
    for k in range(s.frame_elements.shape[0]):
        g = s.frame_elements[k]
        if g.kind == ROLLING:
            rolling_columns_over_step(g, s, w, qr, zr, w.unit, into)
            rolling_rows_over_step(g, s, w, q1, z1, 0, into)
        elif g.rows > 0:
            frame_element_blocks_over_step(g, s, w, qr, zr, q1, z1, time, w.unit, into)


@entry(Tables, Work, vector, matrix, vector, matrix, vector, real, vector, when=_is_coupled)
def tangents_over_step(s, w, qr, zr, q1, z1, lam, ck, into):
    """Blocks, and ck times the derivatives of all frame forces, over a step."""
    blocks_over_step(s, w, qr, zr, q1, z1, w.time[0], into)
    h = w.time[1]
    for k in range(s.couplings.shape[0]):
        p = s.couplings[k]
        a, b = p.a, p.b
        na, nb = s.nodes[a], s.nodes[b]
        if p.kind == ANGLE:
            angle_stiffness_over_step(
                p, na, nb, qr, q1, zr[a], zr[b], z1[a], z1[b], w.z[a], w.z[b], w.zd[a], w.zd[b], h, lam[p.l0], ck,
                w.jacobians, into,
            )  # fmt: skip
        else:
            primitive_stiffness_over_step(
                p, na, nb, qr, q1, zr[a], zr[b], z1[a], z1[b], p.value, lam, p.l0, ck, w.jacobians, into
            )  # fmt: skip
    for k in range(s.frame_elements.shape[0]):
        frame_element_tangent_over_step(s.frame_elements[k], s, w, qr, zr, q1, z1, lam, ck, into)
