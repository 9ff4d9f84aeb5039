"""Lie nodes and points in the energy-momentum scheme on frames, a piece for ``special_nodes``."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...nodes.forms import FORM_LIE
from .node_steps import ACCEPT, EQUATION, MATRIX, node_step
from .nodes import cross_axes, new_velocity, node_equation, node_matrix


@kernel
def cofactor_axes(zm, zr):
    """zr = axes that turn frame forces at the averaged axes zm of a Lie node into torques."""
    zr[3], zr[4], zr[5] = cross_axes(zm, 6, 9)
    zr[6], zr[7], zr[8] = cross_axes(zm, 9, 3)
    zr[9], zr[10], zr[11] = cross_axes(zm, 3, 6)


@node_step
def lie_piece(s, w, x, place, request, h):
    """What the loop asks of Lie nodes and points."""
    for i in range(1, s.nodes.shape[0]):
        if x.special[i] != place:
            continue
        n = s.nodes[i]
        if request == EQUATION:
            if n.form == FORM_LIE:
                cofactor_axes(x.zm[i], x.zr[i])
            node_equation(n, x.dq, x.v, x.z0[i], x.zm[i], x.zr[i], w.f[i], x.torque[i], h, w.x)
        elif request == MATRIX:
            node_matrix(n, x.dq, x.v, w.z[i], x.zm[i], x.zr[i], w.f[i], x.torque[i], h, w.matrix)
        elif request == ACCEPT:
            if n.form == FORM_LIE:
                cofactor_axes(x.zm[i], x.zr[i])
            new_velocity(n, x.dq, x.v, x.z0[i], w.z[i], x.zr[i], h, x.vn)
