"""Pieces of the energy-momentum scheme on frames that are compiled on their own, each when a model first needs it.

Joints, force elements over a step, couplings and general elements, counters of turns, and what the null-space form of
LivensEM adds to an accepted step. Their addresses are in ``FrameState.pieces``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compiled.entry import connect, entry, through
from ...compiled.kernel import kernel
from ...compiled.kinds import real
from ...compiled.record import table_of
from ...forces.over_step import discrete_force, torque_in_body
from ...forces.over_step_tangent import discrete_force_tangent
from ...joints.over_step import joint_blocks, joint_stiffness
from ...math.arrays import copy
from ...nodes.forms import FORM_POINT
from ...system.couplings import extra_forces
from ...system.instant import constant
from ...system.over_step import begin_step, end_step, tangents_over_step
from ...system.tables import FLAG_EXTRA, Tables, Work
from .nodes import body_torque_tangent
from .state import FrameState

_piece = entry(Tables, Work, FrameState, real)
_call_piece = through(Tables, Work, FrameState, real)

JOINT_BLOCKS, FORCES, FORCE_TANGENTS, EXTRA_FORCES, EXTRA_TANGENTS, RATES = range(6)


@_piece
def joint_piece(s, w, x, h):
    """Blocks and stiffness of all joint primitives into w.matrix."""
    ck = 0.5 * h * h
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        value = constant(p, w.values)
        joint_blocks(
            p, s.nodes[a], s.nodes[b], x.qm, x.qn, x.zr[a], x.zr[b], w.z[a], w.z[b], x.zm[a], x.zm[b], value, w.jac,
            w.matrix,
        )  # fmt: skip
        joint_stiffness(
            p, s.nodes[a], s.nodes[b], x.qm, x.qn, x.zr[a], x.zr[b], w.z[a], w.z[b], value, x.lamn, p.l0, ck, w.jac,
            w.matrix,
        )  # fmt: skip


@_piece
def force_piece(s, w, x, h):
    """Discrete gradients of all force elements into w.f and x.torque."""
    for k in range(s.forces.shape[0]):
        e = s.forces[k]
        a, b = e.a, e.b
        discrete_force(
            e, x.z0[a], x.z0[b], w.z[a], w.z[b], x.zm[a], x.zm[b], h, x.mid, w.turns, w.f[a], w.f[b], x.torque[b]
        )


@_piece
def force_tangent_piece(s, w, x, h):
    """Their derivatives into w.matrix."""
    ck = 0.5 * h * h
    for k in range(s.forces.shape[0]):
        e = s.forces[k]
        a, b = e.a, e.b
        discrete_force_tangent(
            e, s.nodes[a], s.nodes[b], x.qm, x.qn, x.zr[a], x.zr[b], x.z0[a], x.z0[b], w.z[a], w.z[b], x.zm[a],
            x.zm[b], h, x.mid, w.turns, ck, w.jac, w.matrix,
        )  # fmt: skip
        if torque_in_body(e):
            body_torque_tangent(e, s.nodes[b], x.qn, w.z[b], x.zm[b], x.mid, ck, w.jac, w.matrix)


@_piece
def extra_force_piece(s, w, x, h):
    """Frame forces of couplings and general elements."""
    for i in range(s.nodes.shape[0]):
        copy(w.z[i], x.z1[i])
    begin_step(w, x.z0, x.z1, x.zm, h)
    extra_forces(s, w, x.lamn)
    end_step(w, x.z1)


@_piece
def extra_tangent_piece(s, w, x, h):
    """Their blocks and derivatives (after the forces)."""
    begin_step(w, x.z0, x.z1, x.zm, h)
    tangents_over_step(s, w, x.qm, x.zr, x.qn, x.z1, x.lamn, 0.5 * h * h, w.matrix)
    end_step(w, x.z1)


@_piece
def rate_piece(s, w, x, h):
    """Null-space form: rates of the coordinates and eliminated multipliers, as recorded; h < 0 in the first step."""
    first = h < 0.0
    h = abs(h)
    c0, c1 = (2.0, -1.0) if first else (1.5, -0.5)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.form == FORM_POINT:
            for m in range(n.nv):
                x.raten[n.q0 + m] = x.vn[n.v0 + m]
    for k in range(x.rate.shape[0]):
        middle = (x.raten[k] - x.rate[k]) / h
        x.rated[k] = c0 * middle + c1 * (x.rated[k] if first else x.ratedm[k])
        x.ratedm[k] = middle
        x.rate[k] = x.raten[k]
    for k in range(x.unit.shape[0]):
        x.unit[k] = c0 * x.unitn[k] + c1 * (x.unit[k] if first else x.unitm[k])
        x.unitm[k] = x.unitn[k]


PIECES: dict[int, Any] = {
    JOINT_BLOCKS: joint_piece,
    FORCES: force_piece,
    FORCE_TANGENTS: force_tangent_piece,
    EXTRA_FORCES: extra_force_piece,
    EXTRA_TANGENTS: extra_tangent_piece,
    RATES: rate_piece,
}


def frame_pieces(tables: Any, rates: bool) -> np.ndarray:
    """``FrameState.pieces`` of a model; zero where it has nothing of the kind."""
    extra = tables.flags[FLAG_EXTRA] != 0
    wanted = {
        JOINT_BLOCKS: len(tables.primitives) > 0,
        FORCES: len(tables.forces) > 0,
        FORCE_TANGENTS: len(tables.forces) > 0,
        EXTRA_FORCES: extra,
        EXTRA_TANGENTS: extra,
        RATES: rates,
    }
    connect(tables, *(PIECES[k] for k in PIECES if wanted[k]))
    return table_of([PIECES[k] if wanted[k] else None for k in PIECES])


@kernel
def call_frame_piece(s, w, x, k, h):
    """Call a piece if the model has something of its kind."""
    if x.pieces[k] != 0:
        _call_piece(x.pieces[k], s, w, x, h)
