"""Generalized coordinates in the Livens, Hamiltonian and variational methods: node steps (``node_steps``).

The rules are those of ``nodes.step.generalized``. In the energy-momentum loop rows are balances of forces; in the
loop of the variational integrators they are h^2/2 times that, with momenta P = h p and multipliers h^2 lambda / 2.
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...nodes.generalized import generalized_mass
from ...nodes.step.full import full_accept, full_blocks, full_correct, full_rows
from ...nodes.step.full_generalized import full_generalized_equation, full_generalized_matrix
from ...nodes.step.generalized import (
    HAMILTON,
    LIVENS,
    MIDPOINT,
    VARIATIONAL,
    constraint_gradient,
    end_momentum,
    generalized_momentum,
    inverse_times,
    step_forces,
    step_matrix,
)
from .node_steps import (
    ACCEPT,
    CORRECT,
    EQUATION,
    MATRIX,
    START,
    VELOCITY,
    midpoint_step,
    node_step,
)


@kernel
def _energy_momentum(s, w, state, own, rule, request, h):
    """Nodes in the energy-momentum loop; their guess is the increment of the last step."""
    for i in range(1, s.nodes.shape[0]):
        if state.step_of[i] == own:
            _one_energy_momentum(s, w, state, s.nodes[i], rule, request, h)


@kernel
def _one_energy_momentum(s, w, state, n, rule, request, h):
    m, k = n.nv, n.v0
    qn, vn, b, t = state.qn, state.vn, w.buffers, w.time[0] - 0.5 * h
    x, d, rate, momentum, own = state.q[n.q0 :], state.dq[k:], state.v[k:], state.p[n.q0 :], state.lamn[n.l0 :]
    if request == EQUATION:
        step_forces(n, rule, t, x, d, rate, momentum, own, h, s.functions, s.constants, w.user, b, b[6])
        for j in range(m):
            w.x[n.x0 + j] = b[6][j]
    elif request == MATRIX:
        step_matrix(
            n, rule, t, x, d, rate, momentum, own, h, 0.5 * h * h, s.functions, s.constants, w.user, b, w.matrix
        )  # fmt: skip
    elif request == ACCEPT:
        end_momentum(n, rule, x, d, momentum, h, s.functions, s.constants, w.user, b, b[3])
        if rule == HAMILTON:
            inverse_times(n, qn[n.q0 :], b[3], s.functions, s.constants, w.user, b[1], b[4])
        for j in range(m):
            momentum[j] = b[3][j]
            vn[k + j] = b[4][j] if rule == HAMILTON else 2.0 * d[j] / h - rate[j]
    elif request == START:
        generalized_momentum(n, x, rate, momentum, 1.0, s.functions, s.constants, w.user, b[1])


@kernel
def _midpoint(s, w, i, rule, request, q, qn, v, p, dq, lam, h):
    """A node in the loop of the variational integrators: P0 = h pm + h^2/2 f (+ constraint force), P1 = h pm - ...

    ``step_forces`` with p0 = 0 and lambda = 0 is 2 pm/h + f, so that h^2/2 times it is what P0 must be.
    """
    n = s.nodes[i]
    m, k = n.nv, n.v0
    x, d, momentum, own, b = q[n.q0 :], dq[k:], p[k:], lam[n.l0 :], w.buffers
    zero, t = b[8], w.time[0] - 0.5 * h  # of the middle
    for j in range(m + n.nl):
        zero[j] = 0.0
    half = 0.5 * h * h
    if request == EQUATION or request == ACCEPT:
        step_forces(n, rule, t, x, d, zero, zero, zero, h, s.functions, s.constants, w.user, b, b[6])
        if request == ACCEPT:  # P1 = 2 h pm - P0, without the constraint force of the start
            end_momentum(n, rule, x, d, zero, h, s.functions, s.constants, w.user, b, b[3])
            for j in range(m):
                b[6][j] = h * b[3][j] - half * b[6][j]
                momentum[j] = b[6][j]
        else:
            for j in range(m):
                w.x[n.x0 + j] = half * b[6][j] - momentum[j]
        if request == EQUATION or rule == MIDPOINT:
            for c in range(n.nl):
                constraint_gradient(n, c, x, d, 1 if rule == MIDPOINT else 0, s.functions, w.user, b, b[6])
                for j in range(m):
                    if request == EQUATION:
                        w.x[n.x0 + j] += own[c] * b[6][j]
                    else:
                        momentum[j] -= own[c] * b[6][j]
    elif request == MATRIX:
        # the constraint force depends on dq in the middle; h^2/2 lambda there is the multiplier of the loop
        for c in range(n.nl):
            b[8][m + c] = own[c] / half if rule == MIDPOINT else 0.0
        step_matrix(
            n, rule, t, x, d, zero, zero, b[8][m:], h, half, s.functions, s.constants, w.user, b, w.matrix
        )  # fmt: skip
    elif request == VELOCITY:  # rows p - M v of the projection; v on entry is any guess
        generalized_mass(n, qn[n.q0 :], s.functions, s.constants, w.user, b[1])
        for a in range(m):
            value = momentum[a] / h
            for j in range(m):
                value -= b[1][a * m + j] * v[k + j]
            w.x[n.x0 + a] = value
    elif request == START:
        generalized_momentum(n, x, v[k:], momentum, h, s.functions, s.constants, w.user, b[1])


@node_step
def livens_generalized(s, w, x, own, request, h):
    """LivensEM."""
    _energy_momentum(s, w, x, own, LIVENS, request, h)


@node_step
def full_generalized(s, w, x, own, request, h):
    """LivensEM(reduction="none")."""
    b, t = w.buffers, w.time[0] - 0.5 * h
    for i in range(1, s.nodes.shape[0]):
        if x.step_of[i] != own:
            continue
        n = s.nodes[i]
        k = n.v0
        q, d, v, rate, p, pn, lam = x.q[n.q0 :], x.dq[k:], x.v[k:], x.raten[k:], x.p[k:], x.pn[k:], x.lamn[n.l0 :]
        if request == EQUATION:
            full_generalized_equation(n, t, q, d, v, rate, p, pn, lam, h, s.functions, s.constants, w.user, b, w.x)
            full_rows(n, x.dq, x.v, x.raten, h, w.x)
        elif request == MATRIX:
            full_generalized_matrix(n, t, q, d, v, rate, p, pn, lam, h, s.functions, s.constants, w.user, b, w.matrix)
            full_blocks(n, h, w.matrix)
        elif request == CORRECT:
            full_correct(n, w.x, x.raten, x.pn)
        elif request == ACCEPT:
            full_accept(n, x.raten, x.pn, x.vn, x.p)
        elif request == START:
            generalized_momentum(n, q, v, p, 1.0, s.functions, s.constants, w.user, b[1])


@node_step
def hamilton_generalized(s, w, x, own, request, h):
    """HamiltonianEM."""
    _energy_momentum(s, w, x, own, HAMILTON, request, h)


@node_step
def energy_generalized(s, w, x, own, request, h):
    """LieEM and GonzalezEM, which keep T + V: Hamilton's rule, or Livens' one where M is constant, perhaps singular."""
    for i in range(1, s.nodes.shape[0]):
        if x.step_of[i] == own:
            rule = LIVENS if s.nodes[i].mass_function < 0 else HAMILTON
            _one_energy_momentum(s, w, x, s.nodes[i], rule, request, h)


@midpoint_step
def midpoint_generalized(s, w, i, request, q, qn, v, p, dq, lam, h):
    """LivensMidpoint and HamiltonianMidpoint."""
    _midpoint(s, w, i, MIDPOINT, request, q, qn, v, p, dq, lam, h)


@midpoint_step
def variational_generalized(s, w, i, request, q, qn, v, p, dq, lam, h):
    """DiscreteVariational."""
    _midpoint(s, w, i, VARIATIONAL, request, q, qn, v, p, dq, lam, h)
