"""Quaternions in LivensEM(reduction="none"), a piece for ``special_nodes``; the formulas are in ``nodes.step.full``."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...nodes.step.full import (
    full_accept,
    full_blocks,
    full_correct,
    full_quaternion_equation,
    full_quaternion_matrix,
    full_rows,
)
from ...nodes.step.quaternion_livens import start_momentum
from ...nodes.step.turns import quaternion_guess, remember_quaternion, start_quaternion
from .node_steps import (
    ACCEPT,
    CORRECT,
    EQUATION,
    GUESS,
    MATRIX,
    START,
    frame_arguments,
    load_state,
    load_tables,
    load_work,
)


@kernel
def full_piece(s, w, x, place, request, h):
    """What the loop asks of quaternions in LivensEM(reduction="none")."""
    for i in range(1, s.nodes.shape[0]):
        if x.special[i] != place:
            continue
        n = s.nodes[i]
        if request == EQUATION:
            full_quaternion_equation(
                n, x.q, x.qn, x.qm, x.v, x.raten, x.p, x.pn, w.f[i], x.torque[i], x.lamn, h, w.x
            )  # fmt: skip
            full_rows(n, x.dq, x.v, x.raten, h, w.x)
        elif request == MATRIX:
            full_quaternion_matrix(
                n, x.q, x.qn, x.qm, x.v, x.raten, w.z[i], w.f[i], x.torque[i], x.lamn, h, w.matrix
            )  # fmt: skip
            full_blocks(n, h, w.matrix)
        elif request == CORRECT:
            full_correct(n, w.x, x.raten, x.pn)
        elif request == ACCEPT:
            full_accept(n, x.raten, x.pn, x.vn, x.p)
            remember_quaternion(n, x.q, x.qn, x.turn[i])
        elif request == GUESS:
            quaternion_guess(n, x.q, x.turn[i], x.dq)
        elif request == START:
            start_momentum(n, x.q, x.v, x.p)
            start_quaternion(n, x.q, x.v, h, x.turn[i])


def full_entry(a):  # type: ignore[no-untyped-def]
    s, w, x, place, request, h = frame_arguments(a)
    full_piece(load_tables(s), load_work(w), load_state(x), place, request, h)
