"""Quaternion nodes in LivensEM, a piece for ``special_nodes``; the formulas are in ``nodes.step.quaternion_livens``."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...nodes.increments import straight_velocity
from ...nodes.step.quaternion_livens import livens_equation, livens_matrix, livens_momentum, start_momentum
from ...nodes.step.turns import quaternion_guess, remember_quaternion, start_quaternion
from .node_steps import ACCEPT, EQUATION, GUESS, MATRIX, START, frame_arguments, load_state, load_tables, load_work


@kernel
def livens_piece(s, w, x, place, request, h):
    """What the loop asks of a quaternion node in LivensEM."""
    for i in range(1, s.nodes.shape[0]):
        if x.special[i] != place:
            continue
        n = s.nodes[i]
        if request == EQUATION:
            livens_equation(n, x.q, x.qn, x.qm, x.v, x.p, x.dq, w.f[i], x.torque[i], x.lamn, h, w.x)
        elif request == MATRIX:
            livens_matrix(n, x.q, x.qn, x.qm, x.v, x.dq, w.z[i], w.f[i], x.torque[i], x.lamn, h, w.matrix)
        elif request == ACCEPT:
            livens_momentum(n, x.q, x.qn, x.qm, x.v, x.dq, h, x.p)
            straight_velocity(n, x.dq, x.v, h, x.vn)
            remember_quaternion(n, x.q, x.qn, x.turn[i])
        elif request == GUESS:
            quaternion_guess(n, x.q, x.turn[i], x.dq)
        elif request == START:
            start_momentum(n, x.q, x.v, x.p)
            start_quaternion(n, x.q, x.v, h, x.turn[i])


def livens_entry(a):  # type: ignore[no-untyped-def]
    s, w, x, place, request, h = frame_arguments(a)
    livens_piece(load_tables(s), load_work(w), load_state(x), place, request, h)
