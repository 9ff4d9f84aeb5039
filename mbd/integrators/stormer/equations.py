"""Equations of SHAKE and RATTLE on points and directors, compiled.

The trapezoidal discrete Lagrangian with constraints at the ends of the steps [Leimkuhler & Skeel 1994], scaled by
P = h p, lambda' = h^2 lambda and V = h v; F are the forces with the sign of the residual:

    M dq - P0 + h^2/2 F(q0) + G(q0)^T lambda' = 0,   g(q1) = 0
    P1 = M dq - h^2/2 F(q1)
    M V1 - P1 + G(q1)^T mu = 0,                      G(q1) V1 + h g_t = 0

A multiple of G(q)^T in P is taken up by the next lambda', so that the motion does not need the second projection; the
velocities that are recorded do. Both systems are solved with the matrix of rigid bodies (``rigid_solve``): with
columns at the start and rows at the end of the step it is Newton's method for the first; the second one, which is
linear, is solved by iteration with the same factors. Bodies may be flat, for which M is singular.
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...compiled.kinds import addresses, matrix, vector
from ...compiled.record import Record
from ...joints.instant import primitive_drive, primitive_rate, primitive_value
from ...math.arrays import copy
from ...nodes.internal import internal_bilinear, internal_frame_force
from ...nodes.mass import increment_inertia, solve_mass, weight
from ...system.couplings import LEVEL_DRIVEN, POSITION, coupling_constraints, coupling_forces, coupling_reactions
from ...system.element_forces import constant
from ...system.instant_elements import all_forces
from ...system.matrix import factor
from ...system.over_step import blocks_over_step
from ...system.tables import FLAG_COUPLED
from ..directors.linear_frames import clear_frames, copy_frames, joint_forces
from ..directors.rigid_solve import rigid_blocks
from ..newton import ACCELERATION, equation_scales

PAST = 4  # steps from which the first guesses are extrapolated


class StormerState(Record):
    """State of the method (first nine, force and loads) and its scratch."""

    q = vector
    v = vector
    vd = vector
    lam = vector
    p = vector  # h times the momenta, up to multiples of G^T
    past_d = matrix  # (PAST, ...) of the last steps: dq - h v0,
    past_l = matrix  # lambda',
    past_v = matrix  # h (v1 - v0)
    past_m = matrix  # and mu
    weights = matrix  # (PAST + 1, PAST) with which they are extrapolated, after so many steps
    dq = vector
    lams = vector
    u = vector  # V1
    mus = vector
    rate = vector  # velocities as well as they are known
    r = vector  # residual: dynamic rows, then constraints
    zero = vector
    z0 = matrix
    z1 = matrix
    zu = matrix  # frames of velocities
    force = matrix  # frame forces at the start of the step, those of constraints not among them,
    loads = vector  # and the largest force and torque of them
    f = matrix
    stretch = matrix
    at_start = vector  # functions of time
    at_end = vector
    times = vector
    scales = vector
    square = matrix
    p0 = vector  # what p, force and loads were, for a step that fails
    force0 = matrix
    loads0 = vector
    rigid = addresses  # (1,) tables of the rigid bodies
    shown_mu = vector  # multipliers of the velocity constraints, none for SHAKE


@kernel
def vector_frames(nodes, c, u, z):
    """Frames of c u, a vector in the order of velocities."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        o = 0 if n.nx == 3 else 3
        for m in range(n.nv):
            z[i, o + m] = c * u[n.v0 + m]


@kernel
def side(x, at_end):
    """Frames, functions of time and time at the start or the end of the step."""
    return (x.z1, x.at_end, x.times[1]) if at_end else (x.z0, x.at_start, x.times[0])


@kernel
def applied_forces(s, w, x, at_end, v):
    """x.force = frame forces of gravity and elements at one side of the step, with velocities v."""
    g1, g2, g3 = s.gravity[0], s.gravity[1], s.gravity[2]
    for i in range(s.nodes.shape[0]):
        weight(s.nodes[i], g1, g2, g3, w.f[i])
    extra = s.flags[FLAG_COUPLED] != 0
    if s.forces.shape[0] > 0 or extra:
        z, values, time = side(x, at_end)
        copy(values, w.values)
        w.time[0] = time
        copy_frames(z, w.z)
        vector_frames(s.nodes, 1.0, v, w.zd)
        if s.forces.shape[0] > 0:
            all_forces(s, w)
        if extra:
            coupling_forces(s, w, x.zero)
    force, torque = 0.0, 0.0
    for i in range(1, s.nodes.shape[0]):
        for m in range(12):
            x.force[i, m] = w.f[i, m]
            if m < 3:
                force = max(force, abs(w.f[i, m]))
            else:
                torque = max(torque, abs(w.f[i, m]))
    x.loads[0], x.loads[1] = force, torque


@kernel
def _constraint_forces(s, w, x, at_end, mu):
    """x.f = frame forces G^T mu at one side of the step."""
    z, values, time = side(x, at_end)
    clear_frames(x.f)
    if s.flags[FLAG_COUPLED] != 0:
        clear_frames(w.f)
        copy_frames(z, w.z)
        copy(values, w.values)
        w.time[0] = time
        coupling_reactions(s, w, mu)
        copy_frames(w.f, x.f)
    joint_forces(s.primitives, values, z, mu, 1.0, True, w.primitive_rows, x.f)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.nl > 0:
            internal_frame_force(z[i], mu, n.l0, 1.0, x.f[i])


@kernel
def dynamic_rows(nodes, u, p, c, force, f, r):
    """r = M u - p + c force + f."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        o = 0 if n.nx == 3 else 3
        increment_inertia(n, u, f[i])
        for m in range(n.nv):
            r[n.v0 + m] = f[i, o + m] - p[n.v0 + m] + c * force[i, o + m]


@kernel
def position_residual(s, w, x, h):
    """Equations of the positions into x.r."""
    nv = x.v.shape[0]
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        o = 0 if n.nx == 3 else 3
        for m in range(n.nv):
            x.z1[i, o + m] = x.z0[i, o + m] + x.dq[n.v0 + m]
    _constraint_forces(s, w, x, False, x.lams)
    dynamic_rows(s.nodes, x.dq, x.p, 0.5 * h * h, x.force, x.f, x.r)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.nl > 0:
            k = nv + n.l0
            internal_bilinear(n, x.z1[i], x.z1[i], 3, 3, x.r, k)
            for m in range(6):
                x.r[k + m] = 0.5 * (x.r[k + m] - 1.0) if m < 3 else 0.5 * x.r[k + m]
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        primitive_value(p, x.z1[p.a], x.z1[p.b], constant(p, x.at_end), x.r, p.x0)
    if s.flags[FLAG_COUPLED] != 0:
        copy_frames(x.z1, w.z)
        copy(x.at_end, w.values)
        w.time[0] = x.times[1]
        coupling_constraints(s, w, x.r, POSITION)


@kernel
def velocity_residual(s, w, x, h):
    """Equations of the velocities into x.r."""
    nv = x.v.shape[0]
    _constraint_forces(s, w, x, True, x.mus)
    dynamic_rows(s.nodes, x.u, x.p, 0.0, x.force, x.f, x.r)
    vector_frames(s.nodes, 1.0, x.u, x.zu)
    if s.flags[FLAG_COUPLED] != 0:
        vector_frames(s.nodes, 1.0 / h, x.u, w.zd)
        coupling_constraints(s, w, x.r, LEVEL_DRIVEN)
        for k in range(nv, x.r.shape[0]):
            x.r[k] *= h
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.nl > 0:
            internal_bilinear(n, x.z1[i], x.zu[i], 3, 3, x.r, nv + n.l0)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        primitive_rate(p, x.z1[a], x.z1[b], x.zu[a], x.zu[b], constant(p, x.at_end), x.r, p.x0)
        if p.function >= 0:
            first, second = primitive_drive(p, x.z1[a], x.z1[b], x.zu[a], x.zu[b], x.at_end)
            x.r[p.x0] += h * first


@kernel
def new_momenta(s, w, x, h):
    """x.p = M dq - h^2/2 F(q1); dampers act on the velocity of the end as well as it is known."""
    for k in range(x.v.shape[0]):
        x.rate[k] = x.dq[k] / h + 0.5 * h * x.vd[k]
        x.r[k] = 0.0
    applied_forces(s, w, x, True, x.rate)
    clear_frames(x.f)
    dynamic_rows(s.nodes, x.dq, x.r, -0.5 * h * h, x.force, x.f, x.p)


@kernel
def unprojected_velocities(s, w, x, share):
    """SHAKE: velocities with that share of the last constraint force."""
    _constraint_forces(s, w, x, True, x.lams)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        o = 0 if n.nx == 3 else 3
        for m in range(n.nv):
            x.u[n.v0 + m] = x.p[n.v0 + m] - share * x.f[i, o + m]
        solve_mass(n, x.u, x.square)


@kernel
def position_scales(s, w, x, h, scales):
    """Scales of the equations of the positions, from their first guess and the forces that are known."""
    for k in range(x.v.shape[0]):
        u = x.dq[k] / h
        x.rate[k] = u
        x.r[k] = 2.0 * (u - x.v[k]) / h
    _scales(s, w, x, h)
    copy(x.scales, scales)


@kernel
def velocity_scales(s, w, x, h, scales):
    """Scales of the equations of the velocities, which are at least those of the positions."""
    for k in range(x.v.shape[0]):
        u = x.u[k] / h
        x.rate[k] = u
        x.r[k] = (u - x.v[k]) / h
    _scales(s, w, x, h)
    for k in range(scales.shape[0]):
        scales[k] = max(x.scales[k], scales[k])


@kernel
def _scales(s, w, x, h):
    """x.scales at the velocities x.rate and accelerations x.r."""
    w.scales[0], w.scales[1] = x.loads[0], x.loads[1]
    equation_scales(s, w, x.q, x.rate, x.r, x.lam, 1.0 / (h * h), x.scales)
    for k in range(ACCELERATION):
        x.scales[k] *= h * h


@kernel
def rigid_factors(t, w, x, zc, time):
    """Factors with columns at the frames zc, which are those of a time, and rows at the end of the step."""
    rigid_blocks(t, w, x.at_end, zc, x.z1, w.matrix)
    if t.flags[FLAG_COUPLED] != 0:
        copy_frames(zc, w.z)
        copy(x.at_end, w.values)
        w.time[0] = x.times[1]
        blocks_over_step(t, w, x.q, zc, x.q, x.z1, time, w.matrix)
    factor(t, w, w.matrix, w.pivots, w.dinv)
