"""Quaternion nodes in HamiltonianEM, a piece for ``special_nodes``; formulas: ``nodes.step.quaternion_hamilton``."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...nodes.step.quaternion_hamilton import hamilton_equation, hamilton_matrix, hamilton_velocity
from ...nodes.step.turns import quaternion_guess, remember_quaternion, start_quaternion
from .node_steps import ACCEPT, EQUATION, GUESS, MATRIX, START, frame_arguments, load_state, load_tables, load_work


@kernel
def hamilton_piece(s, w, x, place, request, h):
    """What the loop asks of a quaternion node in HamiltonianEM."""
    for i in range(1, s.nodes.shape[0]):
        if x.special[i] != place:
            continue
        n = s.nodes[i]
        if request == EQUATION:
            hamilton_equation(n, x.q, x.qn, x.qm, x.v, x.dq, w.z[i], w.f[i], x.torque[i], x.lamn, h, w.x, w.small)
        elif request == MATRIX:
            hamilton_matrix(n, x.q, x.qn, x.qm, x.v, x.dq, w.z[i], w.f[i], x.torque[i], x.lamn, h, w.jac, w.matrix)
        elif request == ACCEPT:
            hamilton_velocity(n, x.q, x.qn, x.qm, x.v, x.dq, h, x.vn, w.small)
            remember_quaternion(n, x.q, x.qn, x.turn[i])
        elif request == GUESS:
            quaternion_guess(n, x.q, x.turn[i], x.dq)
        elif request == START:
            start_quaternion(n, x.q, x.v, h, x.turn[i])


def hamilton_entry(a):  # type: ignore[no-untyped-def]
    s, w, x, place, request, h = frame_arguments(a)
    hamilton_piece(load_tables(s), load_work(w), load_state(x), place, request, h)
