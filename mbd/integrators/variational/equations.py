"""Variational integrators in position-momentum form, compiled.

With the discrete Lagrangian L_d(q0, q1) and constraints at the ends of the steps [Wendlandt & Marsden 1997, (3.9)]:

    p0 = -D1 L_d + h G(q0)^T lambda,   g(q1) = 0,   p1 = D2 L_d

A multiple of G(q0)^T in p0 is taken up by lambda, so the momenta need no projection for the motion; the velocities
that are recorded are projected. MIDPOINT: L_d = h L((q0 + q1)/2, (q1 - q0)/h), node by node in ``nodes.step.momenta``.
The trapezoidal L_d, SHAKE and RATTLE, is in ``integrators.stormer``. LIVENS: the midpoint rule of Livens' principle
[Kinon & Betsch 2024, MPL], which is MIDPOINT with the constraint force G(qm)^T lambda, half of it in either equation.
HAMILTON: the midpoint rule of Hamilton's equations [MPH], the same with the kinetic energy that belongs to the
co-energy of quaternions.

Rolling: constraint forces as those of all joints, and rows that restrict velocities over a step, with averaged frames
and secants: the discrete Lagrange-d'Alembert principle [Cortes & Martinez 2001, Nonlinearity 14, 1365].

Momenta and multipliers are scaled: P = h p, lambda' = h^2 lambda, so that the matrix does not degenerate for h -> 0.
"""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import addresses, integer, matrix, vector
from ...compiled.record import Record
from ...joints.instant import primitive_force, primitive_stiffness
from ...joints.over_step import primitive_blocks_over_step
from ...math.arrays import clear, copy
from ...nodes.frames import has_frame, update_frames, update_velocities
from ...nodes.inertia import frame_stiffness, pull_back
from ...nodes.internal import internal_force, internal_gradients, internal_hessian
from ...nodes.step.momenta import momentum, momentum_matrix
from ...system.couplings import coupling_reactions, coupling_stiffness
from ...system.element_forces import constant
from ...system.instant import all_frame_forces, constraint_rates, constraints
from ...system.instant_elements import all_force_tangents
from ...system.over_step import blocks_over_step, slip_rows_between, slips_between
from ...system.tables import FLAG_COUPLED, Tables, Work, work_at
from ..energy_momentum.node_steps import EQUATION, MATRIX, call_midpoint_step

MIDPOINT, LIVENS, HAMILTON = 0, 1, 2  # the last two share everything but the momenta of quaternions


class VariationalState(Record):
    """State of the method (first six) and its scratch."""

    q = vector
    v = vector
    vd = vector
    lam = vector
    p = vector  # h times the momenta, up to multiples of G^T
    force = vector  # generalised forces in the middle of the step
    qn = vector
    vn = vector
    qm = vector
    dq = vector
    secant = vector  # dq/h
    lams = vector
    none = vector  # zero multipliers
    acting = vector  # multipliers that act in the middle of the step (LIVENS), otherwise zero
    zero = vector
    z0 = matrix
    z1 = matrix  # frames of the end (couplings and general constraints)
    zm = matrix  # frames of the midpoint (LIVENS)
    f0 = matrix  # frame forces that act at the start
    square = matrix
    begin = vector  # functions of time at the start of the step
    end = vector  # and at its end
    times = vector  # the two times
    node_steps = addresses  # (nodes,) entries of generalized coordinates (``node_steps``), zero for all other nodes
    middle = addresses  # (1,) the buffers with the functions of time in the middle of the step
    first = addresses  # joint coordinates: (1,) the buffers with the frames of the start
    pairs = matrix  # (nodes, 144) how momenta and wrenches change with jets
    factors = vector  # along the tree
    scheme = integer
    shown_p = vector  # momenta


@kernel
def ask_node(s, w, x, i, request, lam, h):
    """Ask the entry of node i, with the state of the variational loop."""
    call_midpoint_step(x.node_steps[i], s, w, i, request, x.q, x.qn, x.v, x.p, x.dq, lam, h)


@kernel
def applied(s, w, q, v, none, out):
    """out = generalised forces of gravity and force elements (sign of the residual) at (q, v); moves the frames.

    The functions of time are those of w.values.
    """
    update_frames(s.nodes, q, w.z, w.spin)
    update_velocities(s.nodes, q, v, w.spin, w.z, w.zd, w.scratch)
    all_frame_forces(s, w, none)
    w.scales[0] = 0.0
    w.scales[1] = 0.0
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        for m in range(12):
            j = 0 if m < 3 else 1
            w.scales[j] = max(w.scales[j], abs(w.f[i, m]))
        pull_back(n, q, w.spin[i], w.z[i], w.f[i], out, n.v0)


@entry(Tables, Work, VariationalState)
def forces_in_the_middle(s, wm, x):
    """Generalised forces in the middle of the step, with those of the multipliers that act there."""
    applied(s, wm, x.qm, x.secant, x.acting, x.force)


@kernel
def constraint_forces(s, w, q, z, mu, f, x):
    """x[dynamic rows] += G(q)^T mu; f is scratch for frame forces. With couplings, w.z becomes z."""
    for i in range(f.shape[0]):
        clear(f[i])
    if s.flags[FLAG_COUPLED] != 0:
        for i in range(f.shape[0]):
            clear(w.f[i])
            copy(z[i], w.z[i])
        coupling_reactions(s, w, mu)
        for i in range(f.shape[0]):
            copy(w.f[i], f[i])
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        primitive_force(p, z[p.a], z[p.b], constant(p, w.values), mu, p.l0, f[p.a], f[p.b])
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if not has_frame(n):
            continue
        y = w.pulled_back
        pull_back(n, q, z[i], z[i], f[i], y, 0)
        for m in range(n.nv):
            x[n.x0 + m] += y[m]
        if n.nl > 0:
            internal_force(n, q, mu, x)


@kernel
def internal_forces(s, q, mu, x):
    """x[dynamic rows] += G^T mu of the internal constraints of all nodes."""
    for i in range(1, s.nodes.shape[0]):
        if s.nodes[i].nl > 0:
            internal_force(s.nodes[i], q, mu, x)


@kernel
def variational_residual(s, w, x, h):
    """Equations of a step into w.x, frames of q1 into w.z."""
    wm, scheme, half = work_at(x.middle[0]), x.scheme, 0.5 * h * h
    for k in range(x.v.shape[0]):
        x.qn[k] = x.q[k] + x.dq[k]
        x.secant[k] = x.dq[k] / h
    clear(w.x)
    for k in range(x.q.shape[0]):
        x.qm[k] = 0.5 * (x.q[k] + x.qn[k])
    if scheme >= LIVENS:
        for k in range(x.lams.shape[0]):
            x.acting[k] = x.lams[k] / half
    forces_in_the_middle(s, wm, x)
    if scheme >= LIVENS:
        update_frames(s.nodes, x.qm, x.zm, w.spin)
        internal_forces(s, x.qm, x.lams, w.x)
    else:
        copy(x.begin, w.values)
        w.time[0] = x.times[0]
        constraint_forces(s, w, x.q, x.z0, x.lams, x.f0, w.x)
        copy(x.end, w.values)
        w.time[0] = x.times[1]
    update_frames(s.nodes, x.qn, w.z, w.spin)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if x.node_steps[i] != 0:
            ask_node(s, w, x, i, EQUATION, x.lams, h)
            continue
        y = w.pulled_back
        momentum(n, x.q, x.qn, x.dq, x.z0[i], w.z[i], False, scheme == HAMILTON, w.force_a, y, 0)
        for m in range(n.nv):
            k = n.v0 + m
            w.x[n.x0 + m] += y[m] - x.p[k] + half * x.force[k]
    constraints(s, w, x.qn, w.x)
    if s.nonholonomic.shape[0] > 0:
        slips_of_step(s, w, x, h)


@kernel
def slips_of_step(s, w, x, h):
    """Rows of rolling into w.x, which hold over the step (``joints.rolling_over_step``); frames of its end are w.z."""
    for i in range(s.nodes.shape[0]):
        copy(w.z[i], x.z1[i])
    slips_between(s, w, x.z0, x.z1, h, w.x)
    for i in range(s.nodes.shape[0]):
        copy(x.z1[i], w.z[i])


@kernel
def variational_matrix(s, w, x, h):
    """Its derivative (moves the frames to the midpoint)."""
    wm, scheme = work_at(x.middle[0]), x.scheme
    clear(w.matrix)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if x.node_steps[i] != 0:
            ask_node(s, w, x, i, MATRIX, x.lams, h)
            continue
        momentum_matrix(n, x.q, x.qn, x.z0[i], w.z[i], scheme == HAMILTON, w.jacobians, w.matrix, w.scratch)
        if n.nl > 0:
            k = n.q0 + n.nx
            internal_gradients(n, x.qn, k, 1.0, x.qm if scheme >= LIVENS else x.q, k, 1.0, w.matrix)
            if scheme >= LIVENS:
                internal_hessian(n, x.lams, 0.5, w.matrix)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        if scheme >= LIVENS:
            primitive_blocks_over_step(
                p, s.nodes[a], s.nodes[b], x.qm, x.qn, x.zm[a], x.zm[b], w.z[a], w.z[b], x.zm[a], x.zm[b],
                constant(p, w.values), w.jacobians, w.matrix,
            )  # fmt: skip
            continue
        primitive_blocks_over_step(
            p, s.nodes[a], s.nodes[b], x.q, x.qn, x.z0[a], x.z0[b], w.z[a], w.z[b], x.z0[a], x.z0[b],
            constant(p, w.values), w.jacobians, w.matrix,
        )  # fmt: skip
    if s.flags[FLAG_COUPLED] != 0:
        middle = scheme >= LIVENS
        for i in range(s.nodes.shape[0]):
            copy(w.z[i], x.z1[i])
            copy(x.zm[i] if middle else x.z0[i], w.z[i])
        if middle:
            blocks_over_step(s, w, x.qm, x.zm, x.qn, x.z1, x.times[1], w.matrix)
        else:
            blocks_over_step(s, w, x.q, x.z0, x.qn, x.z1, x.times[0], w.matrix)
        if s.nonholonomic.shape[0] > 0:
            slip_rows_between(s, w, x.z0, x.qn, x.z1, h, w.matrix)
        for i in range(s.nodes.shape[0]):
            copy(x.z1[i], w.z[i])
    ck = 0.25 * h * h
    forces_in_the_middle(s, wm, x)
    for i in range(1, s.nodes.shape[0]):
        frame_stiffness(s.nodes[i], w.z[i], w.f[i], ck, w.matrix)
    if s.forces.shape[0] > 0:
        all_force_tangents(s, wm, x.qm, x.secant, w.eye, 0.5 * h, ck, w.matrix)
    if s.flags[FLAG_COUPLED] != 0:
        coupling_stiffness(s, wm, x.qm, x.secant, x.acting, w.eye, 0.5 * h, ck, w.matrix)
    if scheme >= LIVENS:
        for k in range(s.primitives.shape[0]):
            p = s.primitives[k]
            a, b = p.a, p.b
            primitive_stiffness(
                p, s.nodes[a], s.nodes[b], x.qm, w.spin[a], w.spin[b], w.z[a], w.z[b], constant(p, w.values),
                x.acting, p.l0, ck, w.jacobians, w.matrix,
            )  # fmt: skip


@kernel
def velocity_defect(s, w, q, v, x):
    """Constraint rows of x: B v + g_t at the frames in w.z."""
    update_velocities(s.nodes, q, v, w.spin, w.z, w.zd, w.scratch)
    constraint_rates(s, w, q, v, x)
