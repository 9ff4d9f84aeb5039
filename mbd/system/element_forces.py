"""Frame forces of force elements and constraints at an instant, and what they make of the rows of a node."""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..joints.instant import primitive_force
from ..nodes.forms import FORM_GENERALIZED, FORM_QUATERNION
from ..nodes.frames import node_bias
from ..nodes.inertia import node_residual
from ..nodes.internal import internal_force
from .couplings import coupling_forces
from .instant_elements import GENERALIZED_FORCES, all_forces, one_generalized
from .tables import FLAG_COUPLED


@kernel
def constant(p, values):
    """The constant of a primitive, possibly driven."""
    return values[p.function] if p.function >= 0 else p.value


@kernel
def element_forces(s, w, lam):
    """Add the frame forces of force elements and constraint multipliers to w.f."""
    if s.forces.shape[0] > 0:
        all_forces(s, w)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        primitive_force(p, w.z[a], w.z[b], constant(p, w.values), lam, p.l0, w.f[a], w.f[b])
    if s.flags[FLAG_COUPLED] != 0:
        coupling_forces(s, w, lam)


@kernel
def node_rows(s, w, i, q, v, vd, lam, x):
    """Dynamic rows of a node that no joint carries, M vd - f + B^T lambda, of the frame forces w.f."""
    n = s.nodes[i]
    if n.form == FORM_GENERALIZED:
        one_generalized(s, w, i, q, v, vd, lam, x, GENERALIZED_FORCES)
        return
    if n.form == FORM_QUATERNION:
        node_bias(n, q, v, w.spin[i], w.z[i], w.zd[i], w.zb[i], w.scratch)
    node_residual(n, q, v, vd, w.spin[i], w.z[i], w.zb[i], w.f[i], x, w.scratch)
    if n.nl > 0:
        internal_force(n, q, lam, x)
