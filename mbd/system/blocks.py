"""Blocks of nodes and joints in the iteration matrix at an instant."""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..joints.instant import COINCIDENT, primitive_blocks, primitive_stiffness
from ..nodes.forms import FORM_GENERALIZED, FORM_SPIN
from ..nodes.inertia import frame_stiffness
from ..nodes.internal import internal_blocks
from ..nodes.tangent import node_tangent
from .element_forces import constant
from .instant_elements import one_generalized_tangent, one_spin_tangent


@kernel
def node_blocks(s, w, i, q, v, vd, lam, t, cm, cc, ck, into):
    """Blocks of a node: inertia, curvature of its frame, internal constraints."""
    n = s.nodes[i]
    if n.form == FORM_GENERALIZED:
        one_generalized_tangent(s, w, i, q, v, vd, lam, cm, cc, ck, into)
        return
    node_tangent(n, q, v, vd, w.spin[i], w.z[i], t[i], cm, cc, ck, into, w.scratch)
    if n.form == FORM_SPIN:
        one_spin_tangent(s, w, i, q, v, vd, cm, cc, ck, into)
    elif ck != 0.0:
        frame_stiffness(n, w.z[i], w.f[i], ck, into)
    if n.nl > 0:
        internal_blocks(n, q, q, lam, ck, into)


@kernel
def joint_blocks(s, w, k, q, lam, ck, where, into):
    """Blocks of a primitive: B, B^T or what of both is above the diagonal, and its curvature."""
    p = s.primitives[k]
    a, b = p.a, p.b
    na, nb, ga, gb, za, zb = s.nodes[a], s.nodes[b], w.spin[a], w.spin[b], w.z[a], w.z[b]
    value = constant(p, w.values)
    primitive_blocks(p, na, nb, q, ga, gb, za, zb, za, zb, value, 1.0, where, w.jacobians, into)
    if ck != 0.0 and p.kind != COINCIDENT:
        primitive_stiffness(p, na, nb, q, ga, gb, za, zb, value, lam, p.l0, ck, w.jacobians, into)
