"""Lie nodes and points in the energy-momentum scheme on frames, a piece for ``special_nodes``."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...nodes.step.lie import lie_equation, lie_matrix, lie_velocity, row_axes
from .node_steps import ACCEPT, EQUATION, MATRIX, frame_arguments, load_state, load_tables, load_work


@kernel
def lie_piece(s, w, x, place, request, h):
    """What the loop asks of Lie nodes and points."""
    for i in range(1, s.nodes.shape[0]):
        if x.special[i] != place:
            continue
        n = s.nodes[i]
        if request == EQUATION:
            row_axes(n, x.zm[i], x.zr[i])
            lie_equation(n, x.dq, x.v, x.z0[i], x.zm[i], x.zr[i], w.f[i], x.torque[i], h, w.x)
        elif request == MATRIX:
            lie_matrix(n, x.dq, x.v, w.z[i], x.zm[i], x.zr[i], w.f[i], x.torque[i], h, w.matrix)
        elif request == ACCEPT:
            row_axes(n, x.zm[i], x.zr[i])
            lie_velocity(n, x.dq, x.v, x.z0[i], w.z[i], x.zr[i], h, x.vn)


def lie_entry(a):  # type: ignore[no-untyped-def]
    s, w, x, place, request, h = frame_arguments(a)
    lie_piece(load_tables(s), load_work(w), load_state(x), place, request, h)
