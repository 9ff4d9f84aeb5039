"""What the energy-momentum schemes do with nodes: one entry for each kind of nodes and method, its *node step*.

The equations of a step differ from node to node in the balance of momentum only, and in what follows from it. A method
names the node step of every form of nodes that it takes. ``FrameState.step_of`` holds the address of that of each node,
``FrameState.node_steps`` every one of them once. A scheme asks them one after the other (``ask_nodes``); each goes
through its own nodes, which it knows by its address, and does what is requested, if it has anything to do:

    START     momenta at the start, and the rotation of the first step
    GUESS     a better first guess of the increment than the extrapolated one
    EQUATION  balance of momentum of the iterate, from the frame forces w.f, into w.x
    MATRIX    its derivative into w.matrix, after the equation at the same iterate
    CORRECT   apply the correction to unknowns of its own
    ACCEPT    momenta and velocities at the end of the step

The variational integrators ask entries of the same kind about generalized coordinates, with their own vectors, and
for the defect of velocities too (VELOCITY).
"""

from __future__ import annotations

import numpy as np

from ...compiled.entry import entry, through
from ...compiled.kernel import kernel
from ...compiled.kinds import integer, real, vector
from ...nodes.increments import straight_velocity
from ...nodes.step.directors import directors_equation, directors_matrix
from ...nodes.step.full import (
    full_accept,
    full_blocks,
    full_correct,
    full_linear_equation,
    full_linear_matrix,
    full_quaternion_equation,
    full_quaternion_matrix,
    full_rows,
)
from ...nodes.step.lie import lie_equation, lie_matrix, lie_velocity, row_axes
from ...nodes.step.null_space import null_accept, null_equation, null_frame, null_matrix
from ...nodes.step.quaternion_hamilton import hamilton_equation, hamilton_matrix, hamilton_velocity
from ...nodes.step.quaternion_livens import livens_equation, livens_matrix, livens_momentum, start_momentum
from ...nodes.step.turns import next_turn, quaternion_guess, remember_quaternion, remember_turn, start_quaternion
from ...system.tables import Tables, Work
from .state import FrameState

START, GUESS, EQUATION, MATRIX, CORRECT, ACCEPT, VELOCITY = range(7)

# of the energy-momentum schemes: s, w, x, the address of the node step itself, request, h
NODE_STEP = Tables, Work, FrameState, integer, integer, real
node_step = entry(*NODE_STEP)
_call_node_step = through(*NODE_STEP)

# of the variational integrators: s, w, node, request; q, qn, v, p, dq, lam; h
MIDPOINT_STEP = Tables, Work, integer, integer, vector, vector, vector, vector, vector, vector, real
midpoint_step = entry(*MIDPOINT_STEP)
call_midpoint_step = through(*MIDPOINT_STEP)


def each_once(table: np.ndarray) -> np.ndarray:
    """The elements of a table of addresses, without repetitions and zeros."""
    return np.array(list(dict.fromkeys(part for part in table.tolist() if part != 0)), dtype=table.dtype)


@kernel
def ask_nodes(s, w, x, request, h):
    """Request something of all node steps."""
    for k in range(x.node_steps.shape[0]):
        _call_node_step(x.node_steps[k], s, w, x, x.node_steps[k], request, h)


@node_step
def lie_step(s, w, x, own, request, h):
    """Lie nodes and points."""
    for i in range(1, s.nodes.shape[0]):
        if x.step_of[i] != own:
            continue
        n = s.nodes[i]
        if request == EQUATION:
            row_axes(n, x.zm[i], x.zr[i])
            lie_equation(n, x.dq, x.v, x.z0[i], x.zm[i], x.zr[i], w.f[i], x.torque[i], h, w.x)
        elif request == MATRIX:
            lie_matrix(n, x.dq, x.v, w.z[i], x.zm[i], x.zr[i], w.f[i], x.torque[i], h, w.matrix)
        elif request == ACCEPT:
            row_axes(n, x.zm[i], x.zr[i])
            lie_velocity(n, x.dq, x.v, x.z0[i], w.z[i], x.zr[i], h, x.vn)


@node_step
def directors_step(s, w, x, own, request, h):
    """Directors."""
    for i in range(1, s.nodes.shape[0]):
        if x.step_of[i] != own:
            continue
        n = s.nodes[i]
        if request == EQUATION:
            directors_equation(n, x.dq, x.v, x.qm, x.zm[i], w.f[i], x.torque[i], x.lamn, h, w.x, w.scratch)
        elif request == MATRIX:
            directors_matrix(n, x.qn, x.qm, x.zm[i], x.torque[i], x.lamn, h, w.matrix, w.scratch)
        elif request == ACCEPT:
            straight_velocity(n, x.dq, x.v, h, x.vn)


@node_step
def livens_step(s, w, x, own, request, h):
    """Quaternions in LivensEM."""
    for i in range(1, s.nodes.shape[0]):
        if x.step_of[i] != own:
            continue
        n = s.nodes[i]
        if request == EQUATION:
            livens_equation(n, x.q, x.qn, x.qm, x.v, x.p, x.dq, w.f[i], x.torque[i], x.lamn, h, w.x)
        elif request == MATRIX:
            livens_matrix(n, x.q, x.qn, x.qm, x.v, x.dq, w.z[i], w.f[i], x.torque[i], x.lamn, h, w.matrix)
        elif request == ACCEPT:
            livens_momentum(n, x.q, x.qn, x.qm, x.v, x.dq, h, x.p)
            straight_velocity(n, x.dq, x.v, h, x.vn)
            remember_quaternion(n, x.q, x.qn, x.turn[i])
        elif request == GUESS:
            quaternion_guess(n, x.q, x.turn[i], x.dq)
        elif request == START:
            start_momentum(n, x.q, x.v, x.p)
            start_quaternion(n, x.q, x.v, h, x.turn[i])


@node_step
def null_step(s, w, x, own, request, h):
    """Quaternion bodies, as Lie nodes, in LivensEM(reduction="nullspace"); ``turn`` holds Cayley vectors."""
    for i in range(1, s.nodes.shape[0]):
        if x.step_of[i] != own:
            continue
        n = s.nodes[i]
        if request == EQUATION:
            null_equation(n, x.q, x.qn, x.qm, x.rate, x.p, x.dq, w.z[i], x.zr[i], w.f[i], x.torque[i], h, w.x)
        elif request == MATRIX:
            null_matrix(n, x.q, x.qn, x.qm, x.rate, x.p, x.dq, x.zr[i], w.f[i], x.torque[i], h, w.scratch[0], w.matrix)
        elif request == ACCEPT:
            null_frame(n, x.qm, w.z[i], x.zr[i])
            null_accept(n, x.q, x.qn, x.qm, x.rate, x.raten, x.p, x.dq, x.zr[i], w.f[i], h, x.unitn, x.vn)
            k = n.v0 + n.nx
            remember_turn(x.turn[i], x.dq[k], x.dq[k + 1], x.dq[k + 2])
        elif request == GUESS:
            k = n.v0 + n.nx
            x.dq[k], x.dq[k + 1], x.dq[k + 2] = next_turn(x.turn[i])
        elif request == START:  # asked of the quaternion node itself
            start_momentum(n, x.q, x.v, x.p)
            start_quaternion(n, x.q, x.v, 2.0 * h, x.turn[i])


@node_step
def full_step(s, w, x, own, request, h):
    """Quaternions in LivensEM(reduction="none")."""
    for i in range(1, s.nodes.shape[0]):
        if x.step_of[i] != own:
            continue
        n = s.nodes[i]
        if request == EQUATION:
            full_quaternion_equation(
                n, x.q, x.qn, x.qm, x.v, x.raten, x.p, x.pn, w.f[i], x.torque[i], x.lamn, h, w.x
            )  # fmt: skip
            full_rows(n, x.dq, x.v, x.raten, h, w.x)
        elif request == MATRIX:
            full_quaternion_matrix(
                n, x.q, x.qn, x.qm, x.v, x.raten, w.z[i], w.f[i], x.torque[i], x.lamn, h, w.matrix
            )  # fmt: skip
            full_blocks(n, h, w.matrix)
        elif request == CORRECT:
            full_correct(n, w.x, x.raten, x.pn)
        elif request == ACCEPT:
            full_accept(n, x.raten, x.pn, x.vn, x.p)
            remember_quaternion(n, x.q, x.qn, x.turn[i])
        elif request == GUESS:
            quaternion_guess(n, x.q, x.turn[i], x.dq)
        elif request == START:
            start_momentum(n, x.q, x.v, x.p)
            start_quaternion(n, x.q, x.v, h, x.turn[i])


@node_step
def full_linear_step(s, w, x, own, request, h):
    """Points and directors in LivensEM(reduction="none")."""
    for i in range(1, s.nodes.shape[0]):
        if x.step_of[i] != own:
            continue
        n = s.nodes[i]
        if request == EQUATION:
            full_linear_equation(
                n, x.qm, x.v, x.raten, x.p, x.pn, x.zm[i], w.f[i], x.torque[i], x.lamn, h, w.x, w.scratch
            )  # fmt: skip
            full_rows(n, x.dq, x.v, x.raten, h, w.x)
        elif request == MATRIX:
            full_linear_matrix(n, x.qn, x.qm, x.zm[i], x.torque[i], x.lamn, h, w.matrix, w.scratch)
            full_blocks(n, h, w.matrix)
        elif request == CORRECT:
            full_correct(n, w.x, x.raten, x.pn)
        elif request == ACCEPT:
            full_accept(n, x.raten, x.pn, x.vn, x.p)


@node_step
def hamilton_step(s, w, x, own, request, h):
    """Quaternions in HamiltonianEM."""
    for i in range(1, s.nodes.shape[0]):
        if x.step_of[i] != own:
            continue
        n = s.nodes[i]
        if request == EQUATION:
            hamilton_equation(n, x.q, x.qn, x.qm, x.v, x.dq, w.z[i], w.f[i], x.torque[i], x.lamn, h, w.x, w.scratch)
        elif request == MATRIX:
            hamilton_matrix(
                n, x.q, x.qn, x.qm, x.v, x.dq, w.z[i], w.f[i], x.torque[i], x.lamn, h, w.jacobians, w.matrix
            )
        elif request == ACCEPT:
            hamilton_velocity(n, x.q, x.qn, x.qm, x.v, x.dq, h, x.vn, w.scratch)
            remember_quaternion(n, x.q, x.qn, x.turn[i])
        elif request == GUESS:
            quaternion_guess(n, x.q, x.turn[i], x.dq)
        elif request == START:
            start_quaternion(n, x.q, x.v, h, x.turn[i])
