"""Forces in a GGL step: at one instant of it, or discrete gradients over it (GGLEM).

Compiled only for models that have force elements.
"""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...forces.over_step import force_over_step, law_over_step
from ...forces.over_step_tangent import force_tangent_over_step
from ...math.arrays import copy
from ...nodes.step.torques import dual_tangent, dual_torque
from ...system.couplings import coupling_forces, coupling_tangent
from ...system.instant_elements import all_force_tangents, all_forces
from ...system.over_step import begin_step
from ...system.tables import FLAG_COUPLED, Tables, Work, tables_at
from ..directors.linear_frames import clear_frames, copy_frames
from ..numbers import NewtonNumbers
from .state import EM, GGLState


def _has_elements(s: Tables) -> bool:
    return len(s.forces) > 0 or bool(s.flags[FLAG_COUPLED])


_element_entry = entry(Tables, Work, GGLState, NewtonNumbers, when=_has_elements)


@kernel
def _load(w, x, p):
    """Frames, their velocities and the functions of time where elements look for them."""
    w.time[0] = p.time + x.shift * p.step
    copy(x.at_force, w.values)
    copy_frames(x.z0 if x.explicit != 0.0 else x.zt, w.z)
    copy_frames(x.zy, w.zd)


@kernel
def _add(w, x):
    for i in range(1, w.f.shape[0]):
        for m in range(12):
            x.buffer[i, m] += w.f[i, m]


@_element_entry
def forces_at_instant(s, w, x, p):
    """Add the frame forces of elements to the buffer."""
    _load(w, x, p)
    clear_frames(w.f)
    if s.forces.shape[0] > 0:
        all_forces(s, w)
    if s.flags[FLAG_COUPLED] != 0:
        coupling_forces(s, w, x.zero)
    _add(w, x)


@_element_entry
def force_blocks_at_instant(s, w, x, p):
    """Damping in the first, stiffness in the second block of unknowns."""
    _load(w, x, p)
    s11, s12 = tables_at(x.pairs[0]), tables_at(x.pairs[1])
    damping, stiffness, m = x.damping, x.stiffness, w.matrix
    if s11.forces.shape[0] > 0:
        all_force_tangents(s11, w, x.q, x.v, w.eye, damping, 0.0, m)
        all_force_tangents(s12, w, x.q, x.v, w.eye, 0.0, stiffness, m)
    if s11.flags[FLAG_COUPLED] != 0:
        coupling_tangent(s11, w, x.q, x.v, x.zero, w.eye, damping, 0.0, m)
        coupling_tangent(s12, w, x.q, x.v, x.zero, w.eye, 0.0, stiffness, m)


@_element_entry
def forces_over_step(s, w, x, p):
    """Add the discrete gradients of elements to the buffer."""
    h = p.step
    if s.forces.shape[0] > 0:
        clear_frames(x.torque)
        for k in range(s.forces.shape[0]):
            e = s.forces[k]
            a, b = e.a, e.b
            law_over_step(
                e, s.functions, p.time + 0.5 * h, x.z0[a], x.z0[b], x.z1[a], x.z1[b], h, w.turns, 0, w.user, x.at_force
            )
            force_over_step(
                e, x.z0[a], x.z0[b], x.z1[a], x.z1[b], x.zt[a], x.zt[b], h, x.at_force, w.turns, x.buffer[a],
                x.buffer[b], x.torque[b],
            )  # fmt: skip
        for i in range(1, s.nodes.shape[0]):
            if s.nodes[i].nv > 3:
                dual_torque(x.zt[i], x.torque[i], x.buffer[i])
    if s.flags[FLAG_COUPLED] != 0:
        copy(x.at_force, w.values)
        w.time[0] = p.time + h
        clear_frames(w.f)
        begin_step(w, x.z0, x.z1, x.zt, h)
        coupling_forces(s, w, x.zero)
        w.time[1] = 0.0
        _add(w, x)


@_element_entry
def force_blocks_over_step(s, w, x, p):
    """Derivatives of the forces over a step with respect to the increment."""
    s12, h, m = tables_at(x.pairs[1]), p.step, w.matrix
    ck = h * h
    for k in range(s12.forces.shape[0]):
        e = s12.forces[k]
        a, b = e.a, e.b
        na, nb = s12.nodes[a], s12.nodes[b]
        law_over_step(
            e, s.functions, p.time + 0.5 * h, x.z0[a], x.z0[b], x.z1[a], x.z1[b], h, w.turns, 1, w.user, x.at_force
        )
        force_tangent_over_step(
            e, na, nb, x.q, x.q, x.zt[a], x.zt[b], x.z0[a], x.z0[b], x.z1[a], x.z1[b], x.zt[a], x.zt[b], h,
            x.at_force, w.turns, ck, w.jacobians, m,
        )  # fmt: skip
    if s12.forces.shape[0] > 0:
        for i in range(1, s12.nodes.shape[0]):
            if s12.nodes[i].nv > 3:
                dual_tangent(s12.nodes[i], x.zt[i], x.torque[i], ck, m, w.scratch)
    if s12.flags[FLAG_COUPLED] != 0:
        copy(x.at_force, w.values)
        w.time[0] = p.time + h
        begin_step(w, x.z0, x.z1, x.zt, h)
        coupling_tangent(s12, w, x.q, x.v, x.zero, w.eye, h, 0.5 * ck, m)
        w.time[1] = 0.0


@kernel
def element_forces(s, w, x, p):
    """Add the frame forces of elements to the buffer."""
    if s.forces.shape[0] > 0 or s.flags[FLAG_COUPLED] != 0:
        if x.scheme == EM:
            forces_over_step(s, w, x, p)
        else:
            forces_at_instant(s, w, x, p)


@kernel
def element_blocks(s, w, x, p):
    """Add the derivatives of these forces to the large matrix."""
    if s.forces.shape[0] > 0 or s.flags[FLAG_COUPLED] != 0:
        if x.scheme == EM:
            force_blocks_over_step(s, w, x, p)
        else:
            force_blocks_at_instant(s, w, x, p)
