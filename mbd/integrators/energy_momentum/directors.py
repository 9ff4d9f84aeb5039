"""Directors in the energy-momentum scheme, a piece for ``special_nodes``; the formulas: ``nodes.step.directors``."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...nodes.increments import straight_velocity
from ...nodes.step.directors import directors_equation, directors_matrix
from .node_steps import ACCEPT, EQUATION, MATRIX, frame_arguments, load_state, load_tables, load_work


@kernel
def directors_piece(s, w, x, place, request, h):
    """What the loop asks of directors."""
    for i in range(1, s.nodes.shape[0]):
        if x.special[i] != place:
            continue
        n = s.nodes[i]
        if request == EQUATION:
            directors_equation(n, x.dq, x.v, x.qm, x.zm[i], w.f[i], x.torque[i], x.lamn, h, w.x, w.small)
        elif request == MATRIX:
            directors_matrix(n, x.qn, x.qm, x.zm[i], x.torque[i], x.lamn, h, w.matrix, w.small)
        elif request == ACCEPT:
            straight_velocity(n, x.dq, x.v, h, x.vn)


def directors_entry(a):  # type: ignore[no-untyped-def]
    s, w, x, place, request, h = frame_arguments(a)
    directors_piece(load_tables(s), load_work(w), load_state(x), place, request, h)
