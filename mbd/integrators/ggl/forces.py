"""Forces and general elements in a GGL step: at one point of the step, or discrete gradients over it (GGLEM).

Compiled only for models that have such elements.
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...forces.over_step import force_over_step
from ...forces.over_step_tangent import force_tangent_over_step
from ...nodes.step.torques import dual_tangent, dual_torque
from ...system.couplings import call_extra_forces, call_extra_tangent
from ...system.evaluate import copy
from ...system.optional import call_force_tangent, call_forces
from ...system.over_step import begin_step
from ...system.tables import FLAG_EXTRA
from ..directors.linear_frames import clear_frames, copy_frames
from .equations import C_DAMPING, C_EXPLICIT, C_H, C_STIFFNESS


@kernel
def _load(w, x):
    """Frames, their velocities and the functions of time where elements look for them."""
    w.time[0] = x.times[1]
    copy(x.at_force, w.values)
    copy_frames(x.z0 if x.c[C_EXPLICIT] != 0.0 else x.zt, w.z)
    copy_frames(x.zy, w.zd)


@kernel
def _add(w, x):
    for i in range(1, w.f.shape[0]):
        for m in range(12):
            x.buffer[i, m] += w.f[i, m]


@kernel
def instant_forces(s, w, x):
    """Add the frame forces of elements to the buffer."""
    _load(w, x)
    clear_frames(w.f)
    if s.forces.shape[0] > 0:
        call_forces(s, w)
    if s.flags[FLAG_EXTRA] != 0:
        call_extra_forces(s, w, x.zero)
    _add(w, x)


@kernel
def instant_tangent(s11, s12, w, x):
    """Damping in the first, stiffness in the second group of unknowns."""
    _load(w, x)
    damping, stiffness, m = x.c[C_DAMPING], x.c[C_STIFFNESS], w.matrix
    if s11.forces.shape[0] > 0:
        call_force_tangent(s11, w, x.q, x.v, w.eye, damping, 0.0, m)
        call_force_tangent(s12, w, x.q, x.v, w.eye, 0.0, stiffness, m)
    if s11.flags[FLAG_EXTRA] != 0:
        call_extra_tangent(s11, w, x.q, x.v, x.zero, w.eye, damping, 0.0, m)
        call_extra_tangent(s12, w, x.q, x.v, x.zero, w.eye, 0.0, stiffness, m)


@kernel
def secant_forces(s, w, x):
    """Add the discrete gradients of elements to the buffer."""
    h = x.c[C_H]
    if s.forces.shape[0] > 0:
        clear_frames(x.torque)
        for k in range(s.forces.shape[0]):
            e = s.forces[k]
            a, b = e.a, e.b
            force_over_step(
                e, x.z0[a], x.z0[b], x.z1[a], x.z1[b], x.zt[a], x.zt[b], h, x.at_force, w.turns, x.buffer[a],
                x.buffer[b], x.torque[b],
            )  # fmt: skip
        for i in range(1, s.nodes.shape[0]):
            if s.nodes[i].nv > 3:
                dual_torque(x.zt[i], x.torque[i], x.buffer[i])
    if s.flags[FLAG_EXTRA] != 0:
        copy(x.at_force, w.values)
        w.time[0] = x.times[2]
        clear_frames(w.f)
        begin_step(w, x.z0, x.z1, x.zt, h)
        call_extra_forces(s, w, x.zero)
        w.time[1] = 0.0
        _add(w, x)


@kernel
def secant_tangent(s11, s12, w, x):
    """Their derivatives with respect to the increment."""
    h, m = x.c[C_H], w.matrix
    ck = h * h
    for k in range(s12.forces.shape[0]):
        e = s12.forces[k]
        a, b = e.a, e.b
        na, nb = s12.nodes[a], s12.nodes[b]
        force_tangent_over_step(
            e, na, nb, x.q, x.q, x.zt[a], x.zt[b], x.z0[a], x.z0[b], x.z1[a], x.z1[b], x.zt[a], x.zt[b], h,
            x.at_force, w.turns, ck, w.jac, m,
        )  # fmt: skip
    if s12.forces.shape[0] > 0:
        for i in range(1, s12.nodes.shape[0]):
            if s12.nodes[i].nv > 3:
                dual_tangent(s12.nodes[i], x.zt[i], x.torque[i], ck, m, w.small)
    if s12.flags[FLAG_EXTRA] != 0:
        copy(x.at_force, w.values)
        w.time[0] = x.times[2]
        begin_step(w, x.z0, x.z1, x.zt, h)
        call_extra_tangent(s12, w, x.q, x.v, x.zero, w.eye, h, 0.5 * ck, m)
        w.time[1] = 0.0
