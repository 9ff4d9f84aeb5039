"""Forces and constraints at the frames of one instant, for methods on points and directors.

Vectors are in the order of velocities, then multipliers (``natural_tables``). An instant is its frames, the values of
the functions of time, and the time. F are forces with the sign of the residual. They are inlined: calls with so many
arrays take a twentieth of a step of one body.
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...joints.instant import primitive_drive, primitive_rate, primitive_value
from ...math.arrays import copy
from ...nodes.internal import internal_bilinear, internal_frame_force
from ...nodes.mass import increment_inertia, weight
from ...system.couplings import LEVEL_DRIVEN, POSITION, coupling_constraints, coupling_forces, coupling_reactions
from ...system.element_forces import constant
from ...system.instant_elements import all_forces
from ...system.tables import FLAG_COUPLED
from .linear_frames import clear_frames, copy_frames, joint_forces


@kernel(forceinline=True)
def vector_frames(nodes, c, u, z):
    """Frames of c u, a vector in the order of velocities."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        o = 0 if n.nx == 3 else 3
        for m in range(n.nv):
            z[i, o + m] = c * u[n.v0 + m]


@kernel(forceinline=True)
def moved_frames(nodes, z0, dq, z):
    """Frames z, which are z0 moved by dq."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        o = 0 if n.nx == 3 else 3
        for m in range(n.nv):
            z[i, o + m] = z0[i, o + m] + dq[n.v0 + m]


@kernel
def _go_to(w, z, values, time):
    """Leave an instant in the buffers, where couplings and elements look for it."""
    copy_frames(z, w.z)
    copy(values, w.values)
    w.time[0] = time


@kernel
def applied_forces(s, w, z, values, time, v, zero, force, loads):
    """force = frame forces of gravity and elements with velocities v; loads = the largest force and torque of them."""
    g1, g2, g3 = s.gravity[0], s.gravity[1], s.gravity[2]
    for i in range(s.nodes.shape[0]):
        weight(s.nodes[i], g1, g2, g3, w.f[i])
    extra = s.flags[FLAG_COUPLED] != 0
    if s.forces.shape[0] > 0 or extra:
        _go_to(w, z, values, time)
        vector_frames(s.nodes, 1.0, v, w.zd)
        if s.forces.shape[0] > 0:
            all_forces(s, w)
        if extra:
            coupling_forces(s, w, zero)
    largest, torque = 0.0, 0.0
    for i in range(1, s.nodes.shape[0]):
        for m in range(12):
            force[i, m] = w.f[i, m]
            if m < 3:
                largest = max(largest, abs(w.f[i, m]))
            else:
                torque = max(torque, abs(w.f[i, m]))
    loads[0], loads[1] = largest, torque


@kernel(forceinline=True)
def constraint_forces(s, w, z, values, time, mu, f):
    """f = frame forces G^T mu."""
    clear_frames(f)
    if s.flags[FLAG_COUPLED] != 0:
        clear_frames(w.f)
        _go_to(w, z, values, time)
        coupling_reactions(s, w, mu)
        copy_frames(w.f, f)
    joint_forces(s.primitives, values, z, mu, 1.0, True, w.primitive_rows, f)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.nl > 0:
            internal_frame_force(z[i], mu, n.l0, 1.0, f[i])


@kernel(forceinline=True)
def dynamic_rows(nodes, u, p, c, force, f, r):
    """r = M u - p + c force + f."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        o = 0 if n.nx == 3 else 3
        increment_inertia(n, u, f[i])
        for m in range(n.nv):
            r[n.v0 + m] = f[i, o + m] - p[n.v0 + m] + c * force[i, o + m]


@kernel(forceinline=True)
def constraint_rows(s, w, z, values, time, nv, r):
    """r[nv:] = g."""
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.nl > 0:
            k = nv + n.l0
            internal_bilinear(n, z[i], z[i], 3, 3, r, k)
            for m in range(6):
                r[k + m] = 0.5 * (r[k + m] - 1.0) if m < 3 else 0.5 * r[k + m]
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        primitive_value(p, z[p.a], z[p.b], constant(p, values), r, p.x0)
    if s.flags[FLAG_COUPLED] != 0:
        _go_to(w, z, values, time)
        coupling_constraints(s, w, r, POSITION)


@kernel(forceinline=True)
def rate_rows(s, w, z, values, zu, u, h, nv, r):
    """r[nv:] = G u + h g_t for velocities u / h, whose frames become zu; after ``constraint_forces`` at the instant."""
    vector_frames(s.nodes, 1.0, u, zu)
    if s.flags[FLAG_COUPLED] != 0:
        vector_frames(s.nodes, 1.0 / h, u, w.zd)
        coupling_constraints(s, w, r, LEVEL_DRIVEN)
        for k in range(nv, r.shape[0]):
            r[k] *= h
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.nl > 0:
            internal_bilinear(n, z[i], zu[i], 3, 3, r, nv + n.l0)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        primitive_rate(p, z[a], z[b], zu[a], zu[b], constant(p, values), r, p.x0)
        if p.function >= 0:
            first, second = primitive_drive(p, z[a], z[b], zu[a], zu[b], values)
            r[p.x0] += h * first
