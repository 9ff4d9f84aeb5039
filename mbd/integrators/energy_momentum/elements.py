"""Pieces of the energy-momentum scheme on frames that are compiled on their own, each when a model first needs it.

Joints, force elements over a step, couplings and general elements, counters of turns, and what the null-space form of
LivensEM adds to an accepted step. Their addresses are in ``FrameState.pieces``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compiled.boundary import address, arguments, real
from ...compiled.kernel import JIT, kernel
from ...forces.over_step import force_over_step
from ...forces.over_step_tangent import force_tangent_over_step
from ...joints.over_step import primitive_blocks_over_step, primitive_stiffness_over_step
from ...nodes.frames import has_axes
from ...system.couplings import call_extra_forces
from ...system.evaluate import copy
from ...system.instant import constant
from ...system.over_step import begin_step, call_secant_tangent, end_step
from ...system.tables import FLAG_EXTRA
from .node_steps import load_state, load_tables, load_work, plain_piece, special_address

JOINT_BLOCKS, FORCES, FORCE_TANGENTS, EXTRA_FORCES, EXTRA_TANGENTS, RATES = range(6)


@kernel
def joint_piece(s, w, x, h):
    """Blocks and stiffness of all joint primitives into w.matrix."""
    ck = 0.5 * h * h
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        value = constant(p, w.values)
        primitive_blocks_over_step(
            p, s.nodes[a], s.nodes[b], x.qm, x.qn, x.zr[a], x.zr[b], w.z[a], w.z[b], x.zm[a], x.zm[b], value, w.jac,
            w.matrix,
        )  # fmt: skip
        primitive_stiffness_over_step(
            p, s.nodes[a], s.nodes[b], x.qm, x.qn, x.zr[a], x.zr[b], w.z[a], w.z[b], value, x.lamn, p.l0, ck, w.jac,
            w.matrix,
        )  # fmt: skip


@kernel
def force_piece(s, w, x, h):
    """Discrete gradients of all force elements into w.f and x.torque."""
    for k in range(s.forces.shape[0]):
        e = s.forces[k]
        a, b = e.a, e.b
        force_over_step(
            e, x.z0[a], x.z0[b], w.z[a], w.z[b], x.zm[a], x.zm[b], h, x.mid, w.turns, w.f[a], w.f[b], x.torque[b]
        )


@kernel
def force_tangent_piece(s, w, x, h):
    """Their derivatives into w.matrix."""
    ck = 0.5 * h * h
    for k in range(s.forces.shape[0]):
        e = s.forces[k]
        a, b = e.a, e.b
        force_tangent_over_step(
            e, s.nodes[a], s.nodes[b], x.qm, x.qn, x.zr[a], x.zr[b], x.z0[a], x.z0[b], w.z[a], w.z[b], x.zm[a],
            x.zm[b], h, x.mid, w.turns, ck, w.jac, w.matrix,
        )  # fmt: skip


@kernel
def extra_force_piece(s, w, x, h):
    """Frame forces of couplings and general elements."""
    for i in range(s.nodes.shape[0]):
        copy(w.z[i], x.z1[i])
    begin_step(w, x.z0, x.z1, x.zm, h)
    call_extra_forces(s, w, x.lamn)
    end_step(w, x.z1)


@kernel
def extra_tangent_piece(s, w, x, h):
    """Their blocks and derivatives (after the forces)."""
    begin_step(w, x.z0, x.z1, x.zm, h)
    call_secant_tangent(s, w, x.qm, x.zr, x.qn, x.z1, x.lamn, 0.5 * h * h, w.matrix)
    end_step(w, x.z1)


@kernel
def rate_piece(s, w, x, h):
    """Null-space form: rates of the coordinates and eliminated multipliers, as recorded; h < 0 in the first step."""
    first = h < 0.0
    h = abs(h)
    c0, c1 = (2.0, -1.0) if first else (1.5, -0.5)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if not has_axes(n):
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


_arguments = arguments(address, address, address, real)


def joint_entry(a):  # type: ignore[no-untyped-def]
    s, w, x, h = _arguments(a)
    joint_piece(load_tables(s), load_work(w), load_state(x), h)


def force_entry(a):  # type: ignore[no-untyped-def]
    s, w, x, h = _arguments(a)
    force_piece(load_tables(s), load_work(w), load_state(x), h)


def force_tangent_entry(a):  # type: ignore[no-untyped-def]
    s, w, x, h = _arguments(a)
    force_tangent_piece(load_tables(s), load_work(w), load_state(x), h)


def extra_force_entry(a):  # type: ignore[no-untyped-def]
    s, w, x, h = _arguments(a)
    extra_force_piece(load_tables(s), load_work(w), load_state(x), h)


def extra_tangent_entry(a):  # type: ignore[no-untyped-def]
    s, w, x, h = _arguments(a)
    extra_tangent_piece(load_tables(s), load_work(w), load_state(x), h)


def rate_entry(a):  # type: ignore[no-untyped-def]
    s, w, x, h = _arguments(a)
    rate_piece(load_tables(s), load_work(w), load_state(x), h)


PIECES: dict[int, Any] = {
    JOINT_BLOCKS: (joint_entry, joint_piece),
    FORCES: (force_entry, force_piece),
    FORCE_TANGENTS: (force_tangent_entry, force_tangent_piece),
    EXTRA_FORCES: (extra_force_entry, extra_force_piece),
    EXTRA_TANGENTS: (extra_tangent_entry, extra_tangent_piece),
    RATES: (rate_entry, rate_piece),
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
    return np.array([special_address(*PIECES[k]) if wanted[k] else 0 for k in PIECES], dtype=np.int64)


if JIT:
    from ...compiled.boundary import call_entry

    @kernel
    def call_frame_piece(s, w, x, k, h):
        """Call a piece if the model has something of its kind."""
        if x.pieces[k] != 0:
            call_entry(x.pieces[k], (s.place[0], w.place[0], x.place[0], h))
else:

    def call_frame_piece(s, w, x, k, h):
        """Call a piece if the model has something of its kind."""
        if x.pieces[k] != 0:
            plain_piece(x.pieces[k])(s, w, x, h)
