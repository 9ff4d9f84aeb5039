"""Evaluation of a whole system: frames, residual, constraints on three levels, iteration matrix.

Loops over the tables, nothing else; the formulas are in the nodes, primitives and forces. Right-hand sides are
written in the solver's order of unknowns (``x0`` of nodes and primitives), so nothing is permuted.
"""

from __future__ import annotations

from ..callbacks import call_time
from ..forces.kernels import force_residual, force_tangent, spring_state
from ..forces.kinds import TORSION_SPRING
from ..joints.angles import angle_blocks, angle_curvature, angle_force, angle_rate, angle_stiffness, angle_value
from ..joints.primitives import (
    ANGLE,
    COINCIDENT,
    primitive_blocks,
    primitive_curvature,
    primitive_drive,
    primitive_force,
    primitive_rate,
    primitive_stiffness,
    primitive_value,
)
from ..kernel import kernel
from ..linalg.numeric import factor_dense, factor_tree, solve_dense, solve_tree
from ..nodes.frames import node_bias, update_biases, update_frames, update_velocities
from ..nodes.generalized_kernels import (
    generalized_curvature,
    generalized_forces,
    generalized_rate,
    generalized_tangent,
)
from ..nodes.inertia import frame_acceleration, frame_stiffness, node_residual
from ..nodes.tangent import (
    internal_bilinear,
    internal_blocks,
    internal_constraints,
    internal_force,
    node_tangent,
)
from ..records import (
    FLAG_ANGLES,
    FLAG_DENSE,
    FLAG_REDUNDANT,
    FLAG_VELOCITY,
    FORM_GENERALIZED,
    FORM_QUATERNION,
    PARAMETER_REGULARISATION,
)
from .general import (
    FORCE,
    OUT,
    gather,
    general_bias,
    general_blocks,
    general_force,
    general_rate,
    general_tangent,
    general_value,
)


@kernel
def evaluate_functions(s, w, t):
    """Values of all functions of time."""
    w.time[0] = t
    for k in range(s.functions.shape[0]):
        f = s.functions[k]
        if f.offset >= 0:
            call_time(f.address, t, w.values[f.offset :].ctypes.data)


@kernel
def _value(p, values):
    """The constant of a primitive, possibly driven."""
    return values[p.function] if p.function >= 0 else p.value


@kernel
def element_forces(s, w, lam):
    """Frame forces of gravity, force elements and constraint multipliers into w.f."""
    g1, g2, g3 = s.gravity[0], s.gravity[1], s.gravity[2]
    for i in range(s.nodes.shape[0]):
        n = s.nodes[i]
        f = w.f[i]
        m, s1, s2, s3 = -n.mass, -n.s1, -n.s2, -n.s3
        f[0], f[1], f[2] = m * g1, m * g2, m * g3
        f[3], f[4], f[5] = s1 * g1, s1 * g2, s1 * g3
        f[6], f[7], f[8] = s2 * g1, s2 * g2, s2 * g3
        f[9], f[10], f[11] = s3 * g1, s3 * g2, s3 * g3
    for k in range(s.forces.shape[0]):
        e = s.forces[k]
        a, b = e.a, e.b
        force_residual(e, w.z[a], w.z[b], w.zd[a], w.zd[b], w.values, w.turns, w.f[a], w.f[b])
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        if p.kind == ANGLE:
            angle_force(p, w.z[a], w.z[b], lam[p.l0], w.f[a], w.f[b])
        else:
            primitive_force(p, w.z[a], w.z[b], _value(p, w.values), lam, p.l0, w.f[a], w.f[b])
    for k in range(s.general.shape[0]):
        g = s.general[k]
        gather(g, s, w)
        general_force(g, s, w, lam)
        for i in range(g.count):
            f = w.f[s.members[g.first + i]]
            for m in range(12):
                f[m] += w.general[FORCE, 12 * i + m]


@kernel
def move_frames(s, w, q, v):
    """Frames, and their velocities where an element asks for them."""
    update_frames(s.nodes, q, w.z, w.spin)
    if s.flags[FLAG_VELOCITY] != 0:
        update_velocities(s.nodes, q, v, w.spin, w.z, w.zd, w.small)


@kernel
def dynamics(s, w, q, v, vd, lam, x):
    """Dynamic rows of x: M vd - f + B^T lambda (frames must be up to date)."""
    element_forces(s, w, lam)
    force, torque = 0.0, 0.0
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        f = w.f[i]
        force = max(force, abs(f[0]), abs(f[1]), abs(f[2]))
        torque = max(torque, abs(f[3]), abs(f[4]), abs(f[5]), abs(f[6]), abs(f[7]), abs(f[8]))
        torque = max(torque, abs(f[9]), abs(f[10]), abs(f[11]))
        if n.form == FORM_GENERALIZED:
            k = n.v0
            generalized_forces(n, q[n.q0 :], v[k:], vd[k:], lam[n.l0 :], s.functions, s.constants, w.user, x[n.x0 :])
            continue
        if n.form == FORM_QUATERNION:
            node_bias(n, q, v, w.spin[i], w.z[i], w.zd[i], w.zb[i], w.small)
        node_residual(n, q, v, vd, w.spin[i], w.z[i], w.zb[i], w.f[i], x, w.small)
        if n.nl > 0:
            internal_force(n, q, lam, x)
    w.scales[0] = force
    w.scales[1] = torque


@kernel
def constraints(s, w, q, x):
    """Constraint rows of x: g(q, t) (frames must be up to date)."""
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.nl > 0:
            if n.form == FORM_GENERALIZED:
                zero = w.buffers[0]
                generalized_forces(n, q[n.q0 :], zero, zero, zero, s.functions, s.constants, w.user, w.buffers[1])
                for j in range(n.nl):
                    x[n.x0 + n.nv + j] = w.buffers[1][n.nv + j]
            else:
                internal_constraints(n, q, x, n.x0 + n.nv)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        before = x[p.x0] if p.shared != 0 else 0.0
        if p.kind == ANGLE:
            x[p.x0] = angle_value(p, w.z[p.a], w.z[p.b], w.turns[p.turn]) - _value(p, w.values)
        else:
            primitive_value(p, w.z[p.a], w.z[p.b], _value(p, w.values), x, p.x0)
        if p.shared != 0:
            x[p.x0] += before
    for k in range(s.general.shape[0]):
        g = s.general[k]
        if g.rows > 0:
            gather(g, s, w)
            general_value(g, s, w)
            for j in range(g.rows):
                x[g.x0 + j] = w.general[OUT, j]


@kernel
def jacobian_times(s, w, q, v, x):
    """Constraint rows of x: B v (frames and the velocities of v must be up to date)."""
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.nl > 0:
            if n.form == FORM_GENERALIZED:
                generalized_rate(n, q[n.q0 :], v[n.v0 :], 0.0, s.functions, w.user, x[n.x0 + n.nv :])
            else:
                internal_bilinear(n, q, v, n.q0 + n.nx, n.v0 + n.nx, x, n.x0 + n.nv)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        before = x[p.x0] if p.shared != 0 else 0.0
        if p.kind == ANGLE:
            x[p.x0] = angle_rate(p, w.z[a], w.z[b], w.zd[a], w.zd[b])
        else:
            primitive_rate(p, w.z[a], w.z[b], w.zd[a], w.zd[b], _value(p, w.values), x, p.x0)
        if p.shared != 0:
            x[p.x0] += before
    for k in range(s.general.shape[0]):
        g = s.general[k]
        if g.rows > 0:
            general_rate(g, s, w, 0.0, x, g.x0)


@kernel
def constraint_rates(s, w, q, v, x):
    """Constraint rows of x: B v + g_t (frames and their velocities must be up to date)."""
    jacobian_times(s, w, q, v, x)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        if p.function >= 0:
            first, second = primitive_drive(p, w.z[p.a], w.z[p.b], w.zd[p.a], w.zd[p.b], w.values)
            x[p.x0] += first
    for k in range(s.general.shape[0]):
        g = s.general[k]
        if g.rows > 0:
            general_rate(g, s, w, 1.0, x, g.x0)


@kernel
def constraint_biases(s, w, q, v, x):
    """Constraint rows of x: gamma = D^2 g[v, v] + 2 g_tq v + g_tt (velocities and biases must be up to date)."""
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.nl > 0:
            if n.form == FORM_GENERALIZED:
                generalized_curvature(n, q[n.q0 :], v[n.v0 :], s.functions, w.user, w.buffers[0], x, n.x0 + n.nv)
            else:
                internal_bilinear(n, v, v, n.v0 + n.nx, n.v0 + n.nx, x, n.x0 + n.nv)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        before = x[p.x0] if p.shared != 0 else 0.0
        if p.kind == ANGLE:
            x[p.x0] = angle_rate(p, w.z[a], w.z[b], w.zb[a], w.zb[b])
            x[p.x0] += angle_curvature(p, w.z[a], w.z[b], w.zd[a], w.zd[b])
        else:
            value = _value(p, w.values)
            primitive_rate(p, w.z[a], w.z[b], w.zb[a], w.zb[b], value, x, p.x0)
            primitive_curvature(p, w.zd[a], w.zd[b], value, x, p.x0)
        if p.shared != 0:
            x[p.x0] += before
        if p.function >= 0:
            first, second = primitive_drive(p, w.z[a], w.z[b], w.zd[a], w.zd[b], w.values)
            x[p.x0] += second
    for k in range(s.general.shape[0]):
        g = s.general[k]
        if g.rows > 0:
            general_bias(g, s, w, x, g.x0)


@kernel
def constraint_accelerations(s, w, q, v, vd, x):
    """Constraint rows of x: B vd + gamma (velocities and biases must be up to date; w.zd is overwritten twice)."""
    constraint_biases(s, w, q, v, w.x2)
    update_velocities(s.nodes, q, vd, w.spin, w.z, w.zd, w.small)
    jacobian_times(s, w, q, vd, x)
    update_velocities(s.nodes, q, v, w.spin, w.z, w.zd, w.small)
    for k in range(s.xl.shape[0]):
        x[s.xl[k]] += w.x2[s.xl[k]]


@kernel
def clear(x):
    """Set a vector to zero."""
    for k in range(x.shape[0]):
        x[k] = 0.0


@kernel
def copy(x, out):
    """out = x."""
    for k in range(out.shape[0]):
        out[k] = x[k]


@kernel
def constraint_blocks(s, w, q, matrix):
    """Add B and B^T of all joints."""
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        if p.kind == ANGLE:
            angle_blocks(p, s.nodes[a], s.nodes[b], q, w.spin[a], w.spin[b], w.z[a], w.z[b], w.jac, matrix)
            continue
        primitive_blocks(
            p, s.nodes[a], s.nodes[b], q, w.spin[a], w.spin[b], w.z[a], w.z[b], _value(p, w.values), w.jac, matrix
        )
    for k in range(s.general.shape[0]):
        g = s.general[k]
        if g.rows > 0:
            general_blocks(g, s, w, q, matrix)


@kernel
def element_stiffness(s, w, q, v, lam, t, cc, ck, matrix):
    """Add damping and stiffness of force elements and of the constraint forces' curvature on the frames."""
    for k in range(s.forces.shape[0]):
        e = s.forces[k]
        a, b = e.a, e.b
        force_tangent(
            e, s.nodes[a], s.nodes[b], q, v, w.spin[a], w.spin[b], w.z[a], w.z[b], w.zd[a], w.zd[b],
            t[a], t[b], w.values, w.turns, cc, ck, w.jac, w.small, matrix,
        )  # fmt: skip
    if ck != 0.0:
        for k in range(s.primitives.shape[0]):
            p = s.primitives[k]
            if p.kind != COINCIDENT:
                a, b = p.a, p.b
                if p.kind == ANGLE:
                    angle_stiffness(
                        p, s.nodes[a], s.nodes[b], q, v, w.spin[a], w.spin[b], w.z[a], w.z[b], w.zd[a], w.zd[b],
                        lam[p.l0], ck, w.jac, w.small, matrix,
                    )  # fmt: skip
                    continue
                primitive_stiffness(
                    p, s.nodes[a], s.nodes[b], q, w.spin[a], w.spin[b], w.z[a], w.z[b], _value(p, w.values),
                    lam, p.l0, ck, w.jac, matrix,
                )  # fmt: skip
    for k in range(s.general.shape[0]):
        g = s.general[k]
        if g.rows == 0 or ck != 0.0:
            general_tangent(g, s, w, q, v, lam, t, cc, ck, matrix)


@kernel
def tangent(s, w, q, v, vd, lam, t, cm, cc, ck, matrix):
    """The matrix [cm M T^-1 + cc C T^-1 + ck K, B^T; B, 0] in the fronts.

    ``t`` holds T_exp^-1 of every node. Needs frames and, for ck != 0, the frame forces of a residual at this state.
    """
    clear(matrix)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.form == FORM_GENERALIZED:
            k = n.v0
            generalized_tangent(
                n, q[n.q0 :], v[k:], vd[k:], lam[n.l0 :], s.functions, s.constants, w.user, w.buffers,
                cm, cc, 1.0, ck, matrix,
            )  # fmt: skip
            continue
        node_tangent(n, q, v, vd, w.spin[i], w.z[i], t[i], cm, cc, ck, matrix, w.small)
        if ck != 0.0:
            frame_stiffness(n, w.spin[i], q, w.z[i], w.f[i], ck, matrix, w.small)
        if n.nl > 0:
            internal_blocks(n, q, lam, 1.0, ck, matrix)
    constraint_blocks(s, w, q, matrix)
    if cc != 0.0 or ck != 0.0:
        element_stiffness(s, w, q, v, lam, t, cc, ck, matrix)


@kernel
def factor(s, w, matrix, pivots, dinv):
    """Factorise the matrix in place; w.info tells how well."""
    if s.flags[FLAG_REDUNDANT] != 0:
        for k in range(s.diagonal.shape[0]):
            matrix[s.diagonal[k]] -= s.parameters[PARAMETER_REGULARISATION]
    if s.flags[FLAG_DENSE] != 0:
        factor_dense(s.fronts, matrix, pivots, dinv, w.scale, w.info)
    else:
        factor_tree(s.fronts, matrix, pivots, dinv, w.scale, w.info)


@kernel
def solve(s, matrix, pivots, dinv, x):
    """Solve with the factors, in place."""
    if s.flags[FLAG_DENSE] != 0:
        solve_dense(s.fronts, matrix, pivots, dinv, x)
    else:
        solve_tree(s.fronts, matrix, pivots, dinv, x)


@kernel
def accelerations(s, w, q, v, zero, vd, lam):
    """Index-1 form: [M B^T; B 0][vd; lam] = [f; -gamma] at (q, v) and the time of w.values.

    ``zero`` is a vector of zeros as long as velocities or multipliers. Leaves the factors in w.matrix.
    """
    update_frames(s.nodes, q, w.z, w.spin)
    update_velocities(s.nodes, q, v, w.spin, w.z, w.zd, w.small)
    dynamics(s, w, q, v, zero, zero, w.x)
    if lam.shape[0] > 0:
        update_biases(s.nodes, q, v, w.spin, w.z, w.zd, w.zb, w.small)
        constraint_biases(s, w, q, v, w.x)
    tangent(s, w, q, v, zero, zero, w.eye, 1.0, 0.0, 0.0, w.matrix)
    factor(s, w, w.matrix, w.pivots, w.dinv)
    for k in range(w.x.shape[0]):
        w.x[k] = -w.x[k]
    solve(s, w.matrix, w.pivots, w.dinv, w.x)
    for k in range(vd.shape[0]):
        vd[k] = w.x[s.xv[k]]
    for k in range(lam.shape[0]):
        lam[k] = w.x[s.xl[k]]
    if s.flags[FLAG_REDUNDANT] != 0:  # against the unregularised equations: converges to the minimum-norm multipliers
        for _ in range(2):
            dynamics(s, w, q, v, vd, lam, w.x)
            constraint_accelerations(s, w, q, v, vd, w.x)
            for k in range(w.x.shape[0]):
                w.x[k] = -w.x[k]
            solve(s, w.matrix, w.pivots, w.dinv, w.x)
            for k in range(vd.shape[0]):
                vd[k] += w.x[s.xv[k]]
            for k in range(lam.shape[0]):
                lam[k] += w.x[s.xl[k]]


@kernel
def remember_angles(s, w, q, v):
    """After an accepted step: angles continue from here (frames must be up to date)."""
    if s.flags[FLAG_ANGLES] == 0:
        return
    for k in range(s.forces.shape[0]):
        e = s.forces[k]
        if e.kind == TORSION_SPRING:
            angle, rate = spring_state(e, w.z[e.a], w.z[e.b], w.zd[e.a], w.zd[e.b], w.turns)
            w.turns[e.turn] = angle
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        if p.kind == ANGLE:
            w.turns[p.turn] = angle_value(p, w.z[p.a], w.z[p.b], w.turns[p.turn]) / p.factor


@kernel
def frame_accelerations(s, w, q, v, vd, zdd):
    """Second derivatives of all frames (frames, velocities and biases must be up to date)."""
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.form != FORM_GENERALIZED:
            frame_acceleration(n, q, vd, w.z[i], w.zb[i], zdd[i], w.spin[i])
