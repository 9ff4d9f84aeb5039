"""Quaternions in LivensEM(reduction="nullspace"), a piece for ``special_nodes``; formulas: ``step.null_space``."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...nodes.step.null_space import null_accept, null_equation, null_frame, null_matrix
from ...nodes.step.quaternion_livens import start_momentum
from ...nodes.step.turns import next_turn, remember_turn, start_quaternion
from .node_steps import ACCEPT, EQUATION, GUESS, MATRIX, START, frame_arguments, load_state, load_tables, load_work


@kernel
def null_piece(s, w, x, place, request, h):
    """What the loop asks of a quaternion body in LivensEM(reduction="nullspace"); ``turn`` holds Cayley vectors."""
    for i in range(1, s.nodes.shape[0]):
        if x.special[i] != place:
            continue
        n = s.nodes[i]
        if request == EQUATION:
            null_equation(n, x.q, x.qn, x.qm, x.rate, x.p, x.dq, w.z[i], x.zr[i], w.f[i], x.torque[i], h, w.x)
        elif request == MATRIX:
            null_matrix(n, x.q, x.qn, x.qm, x.rate, x.p, x.dq, x.zr[i], w.f[i], x.torque[i], h, w.small[0], w.matrix)
        elif request == ACCEPT:
            null_frame(n, x.qm, w.z[i], x.zr[i])
            null_accept(n, x.q, x.qn, x.qm, x.rate, x.raten, x.p, x.dq, x.zr[i], w.f[i], h, x.unitn, x.vn)
            k = n.v0 + n.nx
            remember_turn(x.turn[i], x.dq[k], x.dq[k + 1], x.dq[k + 2])
        elif request == GUESS:
            k = n.v0 + n.nx
            x.dq[k], x.dq[k + 1], x.dq[k + 2] = next_turn(x.turn[i])
        elif request == START:  # asked of the quaternion node itself
            start_momentum(n, x.q, x.v, x.p)
            start_quaternion(n, x.q, x.v, 2.0 * h, x.turn[i])


def null_entry(a):  # type: ignore[no-untyped-def]
    s, w, x, place, request, h = frame_arguments(a)
    null_piece(load_tables(s), load_work(w), load_state(x), place, request, h)
