"""The GGL energy-momentum scheme and the symplectic Euler method; the equations are listed in ``ggl_kernels``."""

from __future__ import annotations

from ..forces.secant import discrete_force, torque_in_body
from ..forces.secant_tangent import discrete_force_tangent
from ..kernel import kernel
from ..records import FLAG_EXTRA
from ..system.evaluate import clear, copy
from ..system.secant import begin_step, call_stiffness
from .frame_em_nodes import body_torque_tangent, dual_tangent, dual_torque
from .ggl_kernels import configure, scaled, solve_masses
from .linear_frames import (
    accumulate,
    add_applied,
    add_constraint_force,
    add_general,
    add_rows,
    clear_frames,
    gradient_blocks,
    gravity_forces,
    hessian_blocks,
    mass_blocks,
    mass_times,
    position_rows,
    vector_frames,
    velocity_rows,
)

# --- energy-momentum ----------------------------------------------------------------------------------------------


@kernel
def _discrete_forces(forces, z0, z1, zm, h, values, turns, f, torque):
    for k in range(forces.shape[0]):
        e = forces[k]
        a, b = e.a, e.b
        discrete_force(e, z0[a], z0[b], z1[a], z1[b], zm[a], zm[b], h, values, turns, f[a], f[b], torque[b])


@kernel
def _dual_torques(nodes, zm, torque, f):
    for i in range(1, nodes.shape[0]):
        if nodes[i].nv > 3:
            dual_torque(zm[i], torque[i], f[i])


@kernel
def _discrete_tangents(forces, nodes, qm, q1, z0, z1, zm, h, values, turns, ck, jac, matrix):
    for k in range(forces.shape[0]):
        e = forces[k]
        a, b = e.a, e.b
        discrete_force_tangent(
            e, nodes[a], nodes[b], qm, q1, zm[a], zm[b], z0[a], z0[b], z1[a], z1[b], zm[a], zm[b], h, values, turns, ck,
            jac, matrix,
        )  # fmt: skip
        if torque_in_body(e):
            body_torque_tangent(e, nodes[b], q1, z1[b], zm[b], values, ck, jac, matrix)


@kernel
def _dual_tangents(nodes, zm, torque, ck, matrix, small):
    for i in range(1, nodes.shape[0]):
        if nodes[i].nv > 3:
            dual_tangent(nodes[i], zm[i], torque[i], ck, matrix, small)


@kernel
def em_residual(s, w, x, h):
    """Equations of the energy-momentum scheme; x.u is h M^-1 p1."""
    nv = x.v.shape[0]
    configure(s.nodes, x, 0.5)
    clear(x.r1)
    clear(x.r2)
    gravity_forces(s.nodes, s.gravity, x.buffer)
    if s.forces.shape[0] > 0:
        clear_frames(x.torque)
        _discrete_forces(s.forces, x.z0, x.z1, x.zt, h, x.mid, w.turns, x.buffer, x.torque)
        _dual_torques(s.nodes, x.zt, x.torque, x.buffer)
    if s.flags[FLAG_EXTRA] != 0:
        clear_frames(w.f)
        begin_step(w, x.z0, x.z1, x.zt, h)
        add_general(s, w, x.zero, x.buffer)
        w.time[1] = 0.0
    for k in range(nv):
        x.mean[k] = 0.5 * (x.y0[k] + x.u[k])
    vector_frames(s.nodes, x.mean, x.zy)
    mass_times(s.nodes, x.u, 1.0, x.y0, w.small, x.f1)
    accumulate(h * h, x.buffer, x.f1, w.scales)
    add_constraint_force(s, w, x.zt, x.qt, x.lams, True, x.f1, x.r1)
    add_constraint_force(s, w, x.zy, x.mean, x.gams, False, x.f1, x.r1)
    add_rows(s.nodes, x.f1, x.r1)
    velocity_rows(s.nodes, s.primitives, w.values, x.qn, x.z1, x.u, x.zu, h, nv, x.r1)
    mass_times(s.nodes, x.dq, 1.0, x.mean, w.small, x.f2)
    scaled(-1.0, x.gams, x.mu)
    add_constraint_force(s, w, x.zt, x.qt, x.mu, True, x.f2, x.r2)
    add_rows(s.nodes, x.f2, x.r2)
    position_rows(s.nodes, s.primitives, w.values, x.qn, x.z1, nv, x.r2)


@kernel
def em_matrix(s11, s12, s21, s22, w, x, h):
    """Its derivative."""
    m = w.matrix
    clear(m)
    ck = h * h
    mass_blocks(s11, w, x.q, 1.0, m)
    hessian_blocks(s11, w, x.q, x.gams, 0.5, m)
    gradient_blocks(s11, w, x.zt, x.qt, True, 0.0, 1.0, m)
    gradient_blocks(s11, w, x.z1, x.qn, True, 1.0, 0.0, m)
    if s12.forces.shape[0] > 0:
        _discrete_tangents(
            s12.forces, s12.nodes, x.qt, x.qn, x.z0, x.z1, x.zt, h, x.mid, w.turns, ck, w.jac, m
        )  # fmt: skip
        _dual_tangents(s12.nodes, x.zt, x.torque, ck, m, w.small)
    if s12.flags[FLAG_EXTRA] != 0:
        begin_step(w, x.z0, x.z1, x.zt, h)
        call_stiffness(s12, w, x.qt, x.mean, x.zero, w.eye, ck / h, 0.5 * ck, m)
        w.time[1] = 0.0
    hessian_blocks(s12, w, x.q, x.lams, 0.5, m)
    gradient_blocks(s12, w, x.zy, x.mean, False, 0.0, 1.0, m)
    gradient_blocks(s12, w, x.zu, x.u, False, 1.0, 0.0, m)
    mass_blocks(s21, w, x.q, -0.5, m)
    mass_blocks(s22, w, x.q, 1.0, m)
    hessian_blocks(s22, w, x.q, x.gams, -0.5, m)
    gradient_blocks(s22, w, x.zt, x.qt, True, 0.0, -1.0, m)
    gradient_blocks(s22, w, x.z1, x.qn, True, 1.0, 0.0, m)


# --- symplectic Euler ---------------------------------------------------------------------------------------------


@kernel
def euler_residual(s, w, x, h):
    """Equations of VI-S; x.w = h v follows from lambda', x.u = h M^-1 p1."""
    nv = x.v.shape[0]
    configure(s.nodes, x, 0.0)
    clear(x.r1)
    clear_frames(x.f1)
    vector_frames(s.nodes, x.v, x.zy)
    add_applied(s, w, x.z0, x.zy, x.mid, x.times[1], x.zero, h * h, x.buffer, x.f1)
    copy(x.begin, w.values)
    add_constraint_force(s, w, x.z0, x.q, x.lams, True, x.f1, x.r1)
    add_rows(s.nodes, x.f1, x.r1)
    copy(x.r1, x.r2)
    solve_masses(s.nodes, x.r2, x.square)
    for k in range(nv):
        x.w[k] = x.y0[k] - x.r2[k]
        x.qt[k] = x.q[k] + x.w[k]
    clear(x.r2)
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        o = 0 if n.nx == 3 else 3
        for m in range(n.nv):
            x.zt[i, o + m] = x.qt[n.q0 + m]
    copy(x.end, w.values)
    mass_times(s.nodes, x.u, 1.0, x.y0, w.small, x.f1)
    add_constraint_force(s, w, x.zu, x.u, x.gams, False, x.f1, x.r1)
    add_rows(s.nodes, x.f1, x.r1)
    velocity_rows(s.nodes, s.primitives, w.values, x.qt, x.zt, x.u, x.zu, h, nv, x.r1)
    mass_times(s.nodes, x.dq, 1.0, x.w, w.small, x.f2)
    scaled(-1.0, x.gams, x.mu)
    add_constraint_force(s, w, x.zt, x.qt, x.mu, True, x.f2, x.r2)
    add_rows(s.nodes, x.f2, x.r2)
    position_rows(s.nodes, s.primitives, w.values, x.qn, x.z1, nv, x.r2)


@kernel
def euler_matrix(s11, s12, s13, s22, s23, s31, s33, w, x):
    """Its derivative, with the equations of w as a third group."""
    m = w.matrix
    clear(m)
    mass_blocks(s11, w, x.q, 1.0, m)
    hessian_blocks(s11, w, x.q, x.gams, 1.0, m)
    gradient_blocks(s11, w, x.zt, x.qt, True, 1.0, 0.0, m)
    gradient_blocks(s12, w, x.zu, x.u, False, 0.0, 1.0, m)
    gradient_blocks(s13, w, x.zu, x.u, False, 1.0, 0.0, m)
    mass_blocks(s22, w, x.q, 1.0, m)
    gradient_blocks(s22, w, x.zt, x.qt, True, 0.0, -1.0, m)
    gradient_blocks(s22, w, x.z1, x.qn, True, 1.0, 0.0, m)
    mass_blocks(s23, w, x.q, -1.0, m)
    hessian_blocks(s23, w, x.q, x.gams, -1.0, m)
    mass_blocks(s33, w, x.q, 1.0, m)
    copy(x.begin, w.values)
    gradient_blocks(s11, w, x.z0, x.q, True, 0.0, 1.0, m)
    gradient_blocks(s31, w, x.z0, x.q, True, 0.0, 1.0, m)
    copy(x.end, w.values)
    last = s33.diagonal.shape[0] - x.lams.shape[0]
    for k in range(x.lams.shape[0]):
        m[s33.diagonal[last + k]] = 1.0
