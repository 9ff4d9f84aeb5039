"""Points and directors in LivensEM(reduction="none"), a piece for ``special_nodes``; formulas: ``nodes.step.full``."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...nodes.step.full import (
    full_accept,
    full_blocks,
    full_correct,
    full_linear_equation,
    full_linear_matrix,
    full_rows,
)
from .node_steps import ACCEPT, CORRECT, EQUATION, MATRIX, frame_arguments, load_state, load_tables, load_work


@kernel
def full_linear_piece(s, w, x, place, request, h):
    """What the loop asks of points and directors in LivensEM(reduction="none")."""
    for i in range(1, s.nodes.shape[0]):
        if x.special[i] != place:
            continue
        n = s.nodes[i]
        if request == EQUATION:
            full_linear_equation(
                n, x.qm, x.v, x.raten, x.p, x.pn, x.zm[i], w.f[i], x.torque[i], x.lamn, h, w.x, w.small
            )  # fmt: skip
            full_rows(n, x.dq, x.v, x.raten, h, w.x)
        elif request == MATRIX:
            full_linear_matrix(n, x.qn, x.qm, x.zm[i], x.torque[i], x.lamn, h, w.matrix, w.small)
            full_blocks(n, h, w.matrix)
        elif request == CORRECT:
            full_correct(n, w.x, x.raten, x.pn)
        elif request == ACCEPT:
            full_accept(n, x.raten, x.pn, x.vn, x.p)


def full_linear_entry(a):  # type: ignore[no-untyped-def]
    s, w, x, place, request, h = frame_arguments(a)
    full_linear_piece(load_tables(s), load_work(w), load_state(x), place, request, h)
