"""The GGL energy-momentum scheme and the symplectic Euler method; the equations are listed in ``ggl_kernels``."""

from __future__ import annotations

from ..forces.secant import discrete_force, torque_in_body
from ..forces.secant_tangent import discrete_force_tangent
from ..kernel import kernel
from ..nodes.frames import update_frames
from ..records import FLAG_EXTRA
from ..system.evaluate import clear, copy
from ..system.secant import begin_step, call_stiffness
from .frame_em_nodes import body_torque_tangent, dual_tangent, dual_torque
from .ggl_kernels import configure, position_rows, scaled, velocity_rows
from .linear_frames import (
    accumulate,
    add_applied,
    add_constraint_force,
    add_general,
    add_mass,
    add_rows,
    clear_frames,
    gradient_blocks,
    gravity_forces,
    hessian_blocks,
    mass_blocks,
    vector_frames,
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
def em_residual(s1, s2, w, x, h):
    """Equations of the energy-momentum scheme; x.u is h M^-1 p1."""
    configure(s1, w, x, 0.5)
    clear(w.x)
    clear_frames(x.f1)
    clear_frames(x.f2)
    gravity_forces(s1.nodes, s1.gravity, x.buffer)
    clear_frames(x.torque)
    if s1.forces.shape[0] > 0:
        _discrete_forces(s1.forces, x.z0, x.z1, x.zt, h, x.mid, w.turns, x.buffer, x.torque)
    if s1.flags[FLAG_EXTRA] != 0:
        clear_frames(w.f)
        begin_step(w, x.z0, x.z1, x.zt, h)
        add_general(s1, w, x.zero, x.buffer)
        w.time[1] = 0.0
    _dual_torques(s1.nodes, x.zt, x.torque, x.buffer)
    accumulate(0.5 * h * h, x.buffer, x.f1, w.scales)
    for k in range(x.u.shape[0]):
        x.mean[k] = 0.5 * (x.y0[k] + x.u[k])
    vector_frames(s1, w, x.mean, x.zy)
    add_mass(s1, w, x.dq, 1.0, x.f1)
    add_mass(s1, w, x.y0, -1.0, x.f1)
    for k in range(x.lams.shape[0]):
        x.mu[k] = 0.5 * x.lams[k] - x.gams[k]
        x.mu2[k] = 0.5 * x.gams[k]
    add_constraint_force(s1, w, x.zt, x.qt, x.mu, True, x.f1, w.x)
    add_constraint_force(s1, w, x.zy, x.mean, x.mu2, False, x.f1, w.x)
    add_mass(s2, w, x.u, 1.0, x.f2)
    add_mass(s2, w, x.y0, 1.0, x.f2)
    add_mass(s2, w, x.dq, -2.0, x.f2)
    scaled(2.0, x.gams, x.mu2)
    add_constraint_force(s2, w, x.zt, x.qt, x.mu2, True, x.f2, w.x)
    add_rows(s1.nodes, x.f1, w.x)
    add_rows(s2.nodes, x.f2, w.x)
    position_rows(s1, w, x.qn, x.z1, w.x)
    velocity_rows(s2, w, x.qn, x.z1, x.u, x.zu, h, w.x)


@kernel
def em_matrix(s11, s12, s21, s22, w, x, h):
    """Its derivative."""
    m = w.matrix
    clear(m)
    mass_blocks(s11, w, x.q, 1.0, m)
    ck = 0.5 * h * h
    if s11.forces.shape[0] > 0:
        _discrete_tangents(
            s11.forces, s11.nodes, x.qt, x.qn, x.z0, x.z1, x.zt, h, x.mid, w.turns, ck, w.jac, m
        )  # fmt: skip
    if s11.flags[FLAG_EXTRA] != 0:
        begin_step(w, x.z0, x.z1, x.zt, h)
        call_stiffness(s11, w, x.qt, x.mean, x.zero, w.eye, ck / h, 0.5 * ck, m)
        w.time[1] = 0.0
    _dual_tangents(s11.nodes, x.zt, x.torque, ck, m, w.small)
    for k in range(x.lams.shape[0]):
        x.mu[k] = 0.5 * x.lams[k] - x.gams[k]
    hessian_blocks(s11, w, x.q, x.mu, 0.5, m)
    gradient_blocks(s11, w, x.z1, x.qn, True, 1.0, 0.0, m)
    gradient_blocks(s11, w, x.zt, x.qt, True, 0.0, 0.5, m)
    hessian_blocks(s12, w, x.q, x.gams, 0.25, m)
    gradient_blocks(s12, w, x.zt, x.qt, True, 0.0, -1.0, m)
    gradient_blocks(s12, w, x.zy, x.mean, False, 0.0, 0.5, m)
    mass_blocks(s21, w, x.q, -2.0, m)
    hessian_blocks(s21, w, x.q, x.gams, 1.0, m)
    gradient_blocks(s21, w, x.zu, x.u, False, 1.0, 0.0, m)
    mass_blocks(s22, w, x.q, 1.0, m)
    gradient_blocks(s22, w, x.zt, x.qt, True, 0.0, 2.0, m)
    gradient_blocks(s22, w, x.z1, x.qn, True, 1.0, 0.0, m)


# --- symplectic Euler ---------------------------------------------------------------------------------------------


@kernel
def euler_residual(s1, s2, s3, w, x, h):
    """Equations of VI-S; x.u = h v, x.y = h M^-1 p1; the second group has no multipliers."""
    configure(s1, w, x, 0.0)
    for k in range(x.q.shape[0]):
        x.qt[k] = x.q[k] + x.u[k]
    update_frames(s1.nodes, x.qt, x.zt, w.spin)
    vector_frames(s1, w, x.y, x.zy)
    clear(w.x)
    clear_frames(x.f1)
    clear_frames(x.f2)
    clear_frames(x.f3)
    vector_frames(s1, w, x.v, x.zu)
    add_applied(s1, w, x.z0, x.zu, x.mid, x.times[1], x.zero, h * h, x.buffer, x.f1)
    add_mass(s1, w, x.dq, 1.0, x.f1)
    add_mass(s1, w, x.y0, -1.0, x.f1)
    copy(x.begin, w.values)
    add_constraint_force(s1, w, x.z0, x.q, x.lams, True, x.f1, w.x)
    copy(x.end, w.values)
    scaled(-1.0, x.gams, x.mu)
    add_constraint_force(s1, w, x.zt, x.qt, x.mu, True, x.f1, w.x)
    add_mass(s2, w, x.y, 1.0, x.f2)
    add_mass(s2, w, x.dq, -1.0, x.f2)
    add_constraint_force(s2, w, x.zy, x.y, x.gams, False, x.f2, w.x)
    add_constraint_force(s2, w, x.zt, x.qt, x.gams, True, x.f2, w.x)
    add_mass(s3, w, x.u, 1.0, x.f3)
    add_mass(s3, w, x.dq, -1.0, x.f3)
    add_constraint_force(s3, w, x.zt, x.qt, x.gams, True, x.f3, w.x)
    add_rows(s1.nodes, x.f1, w.x)
    add_rows(s2.nodes, x.f2, w.x)
    add_rows(s3.nodes, x.f3, w.x)
    position_rows(s1, w, x.qn, x.z1, w.x)
    velocity_rows(s2, w, x.qt, x.zt, x.y, x.zy, h, w.x)


@kernel
def euler_matrix(s11, s12, s13, s21, s22, s23, s31, s32, s33, w, x):
    """Its derivative."""
    m = w.matrix
    clear(m)
    mass_blocks(s11, w, x.q, 1.0, m)
    gradient_blocks(s11, w, x.z1, x.qn, True, 1.0, 0.0, m)
    copy(x.begin, w.values)
    gradient_blocks(s11, w, x.z0, x.q, True, 0.0, 1.0, m)
    copy(x.end, w.values)
    gradient_blocks(s12, w, x.zt, x.qt, True, 0.0, -1.0, m)
    hessian_blocks(s13, w, x.q, x.gams, -1.0, m)
    mass_blocks(s21, w, x.q, -1.0, m)
    mass_blocks(s22, w, x.q, 1.0, m)
    hessian_blocks(s22, w, x.q, x.gams, 1.0, m)
    gradient_blocks(s22, w, x.zt, x.qt, True, 1.0, 1.0, m)
    gradient_blocks(s22, w, x.zy, x.y, False, 0.0, 1.0, m)
    hessian_blocks(s23, w, x.q, x.gams, 1.0, m)
    gradient_blocks(s23, w, x.zy, x.y, False, 1.0, 0.0, m)
    mass_blocks(s31, w, x.q, -1.0, m)
    gradient_blocks(s32, w, x.zt, x.qt, True, 0.0, 1.0, m)
    mass_blocks(s33, w, x.q, 1.0, m)
    hessian_blocks(s33, w, x.q, x.gams, 1.0, m)
    last = s33.diagonal.shape[0] - x.lams.shape[0]
    for k in range(x.lams.shape[0]):
        m[s33.diagonal[last + k]] = 1.0
