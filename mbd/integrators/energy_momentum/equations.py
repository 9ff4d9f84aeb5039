"""Energy-momentum scheme on frames, compiled: Cayley steps of Lie nodes, straight steps of points and directors.

One step with the unknown increment (dr, x) of every node, x = h Theta the Cayley vector, and the multipliers lambda:

    R1 = R0 cay(x),  Omega1 = 2 x/h - Omega0,  r_c1 = r_c0 + h (u0 + u1)/2        (c: centre of mass)
    m (u1 - u0)/h + F_r = 0,   (R1 J Omega1 - R0 J Omega0)/h + sum_i dm_i x F_i = 0,   g(z1, t1) = 0

with the frame forces F of joints and force elements by exact discrete gradients at the averaged frame
zm = (z0 + z1)/2 = (rm, dm_i). Because cay(x) leaves x where it is, d1 - d0 = (R0 x) x dm, so that frame forces do the
work F.(z1 - z0), and the rotational equation times Theta is the change of kinetic energy: energy, linear and angular
momentum are exact [Simo & Wong 1991, Int. J. Numer. Methods Eng. 31, 19, for one body; here with constraints].

The rotational rows are those above times Rm^T with Rm = (R0 + R1)/2. Then a frame force on the body-fixed axis a acts
like that of a frame with the axes cof(Rm), and the kernels of nodes serve unchanged. With K = (I + hat(x)/2)^-1:
Rm^T R1 = K^T, Rm^T R0 = K, and an increment theta at the end, dR1 = R1 hat(theta), means
dx = (I + hat(x)/2 + x x^T/4) theta.
"""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import real
from ...forces.over_step import discrete_force, torque_in_body
from ...forces.over_step_tangent import discrete_force_tangent
from ...joints.instant import primitive_force
from ...joints.over_step import joint_blocks, joint_stiffness
from ...math.arrays import clear, copy
from ...nodes.forms import FORM_LIE
from ...nodes.update import STORED_CAYLEY
from ...system.couplings import extra_forces
from ...system.instant import constant, constraints, update
from ...system.over_step import begin_step, end_step, tangents_over_step
from ...system.tables import FLAG_EXTRA, Tables, Work
from .node_steps import EQUATION, MATRIX, ask_nodes
from .nodes import body_torque_tangent
from .state import FrameState

# --- elements over a step, each kind compiled when a model has it ---------------------------------------------------


def _has_forces(s: Tables) -> bool:
    return len(s.forces) > 0


def _has_joints(s: Tables) -> bool:
    return len(s.primitives) > 0


def _has_couplings(s: Tables) -> bool:
    return bool(s.flags[FLAG_EXTRA])


@entry(Tables, Work, FrameState, real, when=_has_forces)
def forces_over_step(s, w, x, h):
    """Discrete gradients of all force elements into w.f and x.torque."""
    for k in range(s.forces.shape[0]):
        e = s.forces[k]
        a, b = e.a, e.b
        discrete_force(
            e, x.z0[a], x.z0[b], w.z[a], w.z[b], x.zm[a], x.zm[b], h, x.mid, w.turns, w.f[a], w.f[b], x.torque[b]
        )


@entry(Tables, Work, FrameState, real, when=_has_forces)
def force_tangents_over_step(s, w, x, h):
    """Their derivatives into w.matrix."""
    ck = 0.5 * h * h
    for k in range(s.forces.shape[0]):
        e = s.forces[k]
        a, b = e.a, e.b
        discrete_force_tangent(
            e, s.nodes[a], s.nodes[b], x.qm, x.qn, x.zr[a], x.zr[b], x.z0[a], x.z0[b], w.z[a], w.z[b], x.zm[a],
            x.zm[b], h, x.mid, w.turns, ck, w.jac, w.matrix,
        )  # fmt: skip
        if torque_in_body(e):
            body_torque_tangent(e, s.nodes[b], x.qn, w.z[b], x.zm[b], x.mid, ck, w.jac, w.matrix)


@entry(Tables, Work, FrameState, real, when=_has_joints)
def joints_over_step(s, w, x, h):
    """Blocks and stiffness of all joint primitives into w.matrix."""
    ck = 0.5 * h * h
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        value = constant(p, w.values)
        joint_blocks(
            p, s.nodes[a], s.nodes[b], x.qm, x.qn, x.zr[a], x.zr[b], w.z[a], w.z[b], x.zm[a], x.zm[b], value, w.jac,
            w.matrix,
        )  # fmt: skip
        joint_stiffness(
            p, s.nodes[a], s.nodes[b], x.qm, x.qn, x.zr[a], x.zr[b], w.z[a], w.z[b], value, x.lamn, p.l0, ck, w.jac,
            w.matrix,
        )  # fmt: skip


@entry(Tables, Work, FrameState, real, when=_has_couplings)
def couplings_over_step(s, w, x, h):
    """Frame forces of couplings and elements on several frames into w.f."""
    for i in range(s.nodes.shape[0]):
        copy(w.z[i], x.z1[i])
    begin_step(w, x.z0, x.z1, x.zm, h)
    extra_forces(s, w, x.lamn)
    end_step(w, x.z1)


@entry(Tables, Work, FrameState, real, when=_has_couplings)
def coupling_tangents_over_step(s, w, x, h):
    """Their blocks and derivatives into w.matrix (after the forces)."""
    begin_step(w, x.z0, x.z1, x.zm, h)
    tangents_over_step(s, w, x.qm, x.zr, x.qn, x.z1, x.lamn, 0.5 * h * h, w.matrix)
    end_step(w, x.z1)


# --- the equations of a step ----------------------------------------------------------------------------------------


@kernel
def move(s, w, x):
    """Coordinates and frames at the end of the step for the present increment, and averages over it.

    What turns frame forces into torques, x.zr, is the averaged frame unless a node step has something else.
    """
    q, qn, qm = x.q, x.qn, x.qm
    update(s, w, q, x.dq, qn, STORED_CAYLEY)
    for k in range(q.shape[0]):
        qm[k] = 0.5 * (q[k] + qn[k])
    for i in range(s.nodes.shape[0]):
        z0, z1, zm, zr = x.z0[i], w.z[i], x.zm[i], x.zr[i]
        for m in range(12):
            middle = 0.5 * (z0[m] + z1[m])
            zm[m] = middle
            zr[m] = middle


@kernel
def frame_forces(s, w, x, h):
    """Frame forces of the step into w.f, torques into x.torque (after ``move``)."""
    g1, g2, g3 = s.gravity[0], s.gravity[1], s.gravity[2]
    for i in range(s.nodes.shape[0]):
        n = s.nodes[i]
        f, torque = w.f[i], x.torque[i]
        m, s1, s2, s3 = -n.mass, -n.s1, -n.s2, -n.s3
        f[0], f[1], f[2] = m * g1, m * g2, m * g3
        f[3], f[4], f[5] = s1 * g1, s1 * g2, s1 * g3
        f[6], f[7], f[8] = s2 * g1, s2 * g2, s2 * g3
        f[9], f[10], f[11] = s3 * g1, s3 * g2, s3 * g3
        torque[0], torque[1], torque[2] = 0.0, 0.0, 0.0
    if s.forces.shape[0] > 0:
        forces_over_step(s, w, x, h)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        primitive_force(p, x.zm[a], x.zm[b], constant(p, w.values), x.lamn, p.l0, w.f[a], w.f[b])
    if s.flags[FLAG_EXTRA] != 0:
        couplings_over_step(s, w, x, h)


@kernel
def frame_residual(s, w, x, h):
    """Balances of momentum and constraints into w.x (after ``frame_forces``), largest force and torque to w.scales."""
    force, torque = 0.0, 0.0
    for i in range(1, s.nodes.shape[0]):
        f, t = w.f[i], x.torque[i]
        force = max(force, abs(f[0]), abs(f[1]), abs(f[2]))
        torque = max(torque, abs(t[0]), abs(t[1]), abs(t[2]), abs(f[3]), abs(f[4]), abs(f[5]))
        torque = max(torque, abs(f[6]), abs(f[7]), abs(f[8]), abs(f[9]), abs(f[10]), abs(f[11]))
    w.scales[0] = force
    w.scales[1] = torque
    ask_nodes(s, w, x, EQUATION, h)
    constraints(s, w, x.qn, w.x)


@kernel
def frame_matrix(s, w, x, h):
    """Their derivative in w.matrix, dynamic rows scaled by h^2/2 (after a residual at the same iterate)."""
    clear(w.matrix)
    ask_nodes(s, w, x, MATRIX, h)
    if s.forces.shape[0] > 0:
        force_tangents_over_step(s, w, x, h)
    if s.primitives.shape[0] > 0:
        joints_over_step(s, w, x, h)
    if s.flags[FLAG_EXTRA] != 0:
        coupling_tangents_over_step(s, w, x, h)


@kernel
def apply_cayley(nodes, y, dq):
    """dq += increment of the unknowns: y, in the solver's order, holds dr and the rotation at the end of the step."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        k, o, m = n.v0, n.x0, n.nv
        if n.form == FORM_LIE:
            m = n.nx
            j = k + m
            x1, x2, x3 = dq[j], dq[j + 1], dq[j + 2]
            e1, e2, e3 = y[o + m], y[o + m + 1], y[o + m + 2]
            c = 0.25 * (x1 * e1 + x2 * e2 + x3 * e3)
            dq[j] += e1 + 0.5 * (x2 * e3 - x3 * e2) + c * x1
            dq[j + 1] += e2 + 0.5 * (x3 * e1 - x1 * e3) + c * x2
            dq[j + 2] += e3 + 0.5 * (x1 * e2 - x2 * e1) + c * x3
        for c in range(m):
            dq[k + c] += y[o + c]
