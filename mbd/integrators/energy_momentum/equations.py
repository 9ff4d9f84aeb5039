"""Energy-momentum scheme on frames, compiled: Cayley steps of Lie nodes, straight steps of points and directors.

One step with the unknown increment (dr, x) of every node, x = h Theta the Cayley vector, and the multipliers lambda:
the balances of momentum of all nodes (``nodes.step.lie``, ``nodes.step.directors``) and g(z1, t1) = 0, with the frame
forces F of joints and force elements by exact discrete gradients at the averaged frame zm = (z0 + z1)/2. F does the
work F.(z1 - z0), so that energy, linear and angular momentum are exact [Simo & Wong 1991, Int. J. Numer. Methods Eng.
31, 19, for one body; here with constraints].
"""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import real
from ...forces.over_step import force_over_step, law_over_step
from ...forces.over_step_tangent import force_tangent_over_step
from ...joints.instant import primitive_force
from ...joints.over_step import primitive_blocks_over_step, primitive_stiffness_over_step
from ...math.arrays import clear, copy
from ...nodes.mass import weight
from ...nodes.update import STORED_CAYLEY
from ...system.couplings import coupling_forces
from ...system.element_forces import constant
from ...system.instant import constraints, update
from ...system.over_step import begin_step, end_step, slips_over_step, tangents_over_step
from ...system.tables import FLAG_COUPLED, Tables, Work
from .node_steps import EQUATION, MATRIX, ask_nodes
from .state import FrameState

# --- elements over a step, each kind compiled when a model has it ---------------------------------------------------


def _has_forces(s: Tables) -> bool:
    return len(s.forces) > 0


def _has_joints(s: Tables) -> bool:
    return len(s.primitives) > 0


def _has_couplings(s: Tables) -> bool:
    return bool(s.flags[FLAG_COUPLED])


@entry(Tables, Work, FrameState, real, when=_has_forces)
def forces_over_step(s, w, x, h):
    """Discrete gradients of all force elements into w.f and x.torque."""
    for k in range(s.forces.shape[0]):
        e = s.forces[k]
        a, b = e.a, e.b
        law_over_step(
            e, s.functions, w.time[0] - 0.5 * h, x.z0[a], x.z0[b], w.z[a], w.z[b], h, w.turns, 0, w.user, x.mid
        )
        force_over_step(
            e, x.z0[a], x.z0[b], w.z[a], w.z[b], x.zm[a], x.zm[b], h, x.mid, w.turns, w.f[a], w.f[b], x.torque[b]
        )


@entry(Tables, Work, FrameState, real, when=_has_forces)
def force_tangents_over_step(s, w, x, h):
    """Derivatives of the discrete gradients of all force elements, into w.matrix."""
    ck = 0.5 * h * h
    for k in range(s.forces.shape[0]):
        e = s.forces[k]
        a, b = e.a, e.b
        law_over_step(
            e, s.functions, w.time[0] - 0.5 * h, x.z0[a], x.z0[b], w.z[a], w.z[b], h, w.turns, 1, w.user, x.mid
        )
        force_tangent_over_step(
            e, s.nodes[a], s.nodes[b], x.qm, x.qn, x.zr[a], x.zr[b], x.z0[a], x.z0[b], w.z[a], w.z[b], x.zm[a],
            x.zm[b], h, x.mid, w.turns, ck, w.jacobians, w.matrix,
        )  # fmt: skip


@entry(Tables, Work, FrameState, real, when=_has_joints)
def joints_over_step(s, w, x, h):
    """Blocks and stiffness of all joint primitives into w.matrix."""
    ck = 0.5 * h * h
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        value = constant(p, w.values)
        primitive_blocks_over_step(
            p, s.nodes[a], s.nodes[b], x.qm, x.qn, x.zr[a], x.zr[b], w.z[a], w.z[b], x.zm[a], x.zm[b], value,
            w.jacobians, w.matrix,
        )  # fmt: skip
        primitive_stiffness_over_step(
            p, s.nodes[a], s.nodes[b], x.qm, x.qn, x.zr[a], x.zr[b], w.z[a], w.z[b], value, x.lamn, p.l0, ck,
            w.jacobians, w.matrix,
        )  # fmt: skip


@entry(Tables, Work, FrameState, real, when=_has_couplings)
def couplings_over_step(s, w, x, h):
    """Frame forces of couplings and elements on several frames into w.f."""
    for i in range(s.nodes.shape[0]):
        copy(w.z[i], x.z1[i])
    begin_step(w, x.z0, x.z1, x.zm, h)
    coupling_forces(s, w, x.lamn)
    end_step(w, x.z1)


@entry(Tables, Work, FrameState, real, when=_has_couplings)
def coupling_tangents_over_step(s, w, x, h):
    """Blocks of couplings, and derivatives of these and of elements, into w.matrix (after ``couplings_over_step``)."""
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
        torque = x.torque[i]
        weight(s.nodes[i], g1, g2, g3, w.f[i])
        torque[0], torque[1], torque[2] = 0.0, 0.0, 0.0
    if s.forces.shape[0] > 0:
        forces_over_step(s, w, x, h)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        primitive_force(p, x.zm[a], x.zm[b], constant(p, w.values), x.lamn, p.l0, w.f[a], w.f[b])
    if s.flags[FLAG_COUPLED] != 0:
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
    if s.nonholonomic.shape[0] > 0:  # met by the step, not by its end
        begin_step(w, x.z0, x.z1, x.zm, h)
        slips_over_step(s, w, w.x)
        end_step(w, x.z1)


@kernel
def frame_matrix(s, w, x, h):
    """Derivative of ``frame_residual`` in w.matrix, dynamic rows scaled by h^2/2 (after it, at the same iterate)."""
    clear(w.matrix)
    ask_nodes(s, w, x, MATRIX, h)
    if s.forces.shape[0] > 0:
        force_tangents_over_step(s, w, x, h)
    if s.primitives.shape[0] > 0:
        joints_over_step(s, w, x, h)
    if s.flags[FLAG_COUPLED] != 0:
        coupling_tangents_over_step(s, w, x, h)
