"""Frame forces of force elements and constraints at an instant."""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..joints.instant import primitive_force
from .couplings import coupling_forces
from .instant_elements import all_forces
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
