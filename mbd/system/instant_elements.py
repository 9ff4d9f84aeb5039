"""Evaluation at an instant of what many models do not have; compiled when a model has it.

Force elements, three-parameter nodes, generalized nodes, angles that count turns, and charts.
"""

from __future__ import annotations

from ..compiled.entry import entry
from ..compiled.kinds import integer, matrix, real, vector
from ..forces.instant import force_residual, force_tangent, law_at_instant, spring_state
from ..forces.kinds import TORSION_SPRING
from ..joints.angles import angle_value
from ..joints.instant import ANGLE
from ..nodes.forms import FORM_GENERALIZED, FORM_SPIN
from ..nodes.generalized import (
    generalized_curvature,
    generalized_forces,
    generalized_mass,
    generalized_rate,
    generalized_tangent,
)
from ..nodes.spin_tangent import spin_frame_stiffness, spin_tangent
from ..nodes.update import change_charts, singular_chart
from .tables import FLAG_ANGLES, Tables, Work


def has_forces(s: Tables) -> bool:
    return len(s.forces) > 0


def _has_spin(s: Tables) -> bool:
    return FORM_SPIN in s.nodes["form"]


def has_generalized(s: Tables) -> bool:
    return FORM_GENERALIZED in s.nodes["form"]


def _has_angles(s: Tables) -> bool:
    return bool(s.flags[FLAG_ANGLES])


# what is asked of a generalized node
GENERALIZED_FORCES, GENERALIZED_VALUES, GENERALIZED_RATES, GENERALIZED_CURVATURE, GENERALIZED_SCALE = 0, 1, 2, 3, 4


@entry(Tables, Work, when=has_forces)
def all_forces(s, w):
    """Frame forces of all force elements."""
    for k in range(s.forces.shape[0]):
        e = s.forces[k]
        a, b = e.a, e.b
        law_at_instant(
            e, s.functions, w.time[0], w.z[a], w.z[b], w.zd[a], w.zd[b], w.turns, 0, w.user, w.values
        )  # fmt: skip
        force_residual(e, w.z[a], w.z[b], w.zd[a], w.zd[b], w.values, w.turns, w.f[a], w.f[b])


@entry(Tables, Work, vector, vector, matrix, real, real, vector, when=has_forces)
def all_force_tangents(s, w, q, v, t, cc, ck, into):
    """Damping and stiffness of all force elements."""
    for k in range(s.forces.shape[0]):
        e = s.forces[k]
        a, b = e.a, e.b
        law_at_instant(
            e, s.functions, w.time[0], w.z[a], w.z[b], w.zd[a], w.zd[b], w.turns, 1, w.user, w.values
        )  # fmt: skip
        force_tangent(
            e, s.nodes[a], s.nodes[b], q, v, w.spin[a], w.spin[b], w.z[a], w.z[b], w.zd[a], w.zd[b],
            t[a], t[b], w.values, w.turns, cc, ck, w.jacobians, w.scratch, into,
        )  # fmt: skip


@entry(Tables, Work, integer, vector, vector, vector, real, real, real, vector, when=_has_spin)
def one_spin_tangent(s, w, i, q, v, vd, cm, cc, ck, into):
    """Diagonal block of a three-parameter node."""
    n = s.nodes[i]
    spin_tangent(n, q, v, vd, w.spin[i], w.z[i], cm, cc, ck, into, w.scratch)
    if ck != 0.0:
        spin_frame_stiffness(n, w.spin[i], q, w.z[i], w.f[i], ck, into, w.scratch)


@entry(Tables, Work, integer, vector, vector, vector, vector, vector, integer, when=has_generalized)
def one_generalized(s, w, i, q, v, vd, lam, x, request):
    """What is asked of a generalized node: its rows of x, or its largest force in x[0]."""
    n = s.nodes[i]
    own_q, own_v = q[n.q0 :], v[n.v0 :]
    if request == GENERALIZED_FORCES:
        generalized_forces(
            n, w.time[0], own_q, own_v, vd[n.v0 :], lam[n.l0 :], s.functions, s.constants, w.user, w.buffers[1]
        )
        for k in range(n.nv):
            x[n.x0 + k] = w.buffers[1][k]
    elif request == GENERALIZED_VALUES:
        if n.nl > 0:
            zero = w.buffers[0]
            generalized_forces(n, w.time[0], own_q, zero, zero, zero, s.functions, s.constants, w.user, w.buffers[1])
            for k in range(n.nl):
                x[n.x0 + n.nv + k] = w.buffers[1][n.nv + k]
    elif request == GENERALIZED_RATES:
        if n.nl > 0:
            generalized_rate(n, own_q, own_v, 0.0, s.functions, w.user, x[n.x0 + n.nv :])
    elif request == GENERALIZED_CURVATURE:
        if n.nl > 0:
            generalized_curvature(n, own_q, own_v, s.functions, w.user, w.buffers[0], x, n.x0 + n.nv)
    else:
        largest = 0.0
        force, mass, zero = w.buffers[0], w.buffers[1], w.buffers[2]
        for k in range(n.nv + n.nl):
            zero[k] = 0.0
        generalized_forces(n, w.time[0], own_q, own_v, zero, lam[n.l0 :], s.functions, s.constants, w.user, force)
        generalized_mass(n, own_q, s.functions, s.constants, w.user, mass)
        for k in range(n.nv):
            largest = max(largest, abs(force[k]))
            for j in range(n.nv):
                largest = max(largest, abs(mass[k * n.nv + j] * vd[n.v0 + j]))
        x[0] = largest


@entry(Tables, Work, integer, vector, vector, vector, vector, real, real, real, vector, when=has_generalized)
def one_generalized_tangent(s, w, i, q, v, vd, lam, cm, cc, ck, into):
    """Diagonal block of a generalized node."""
    n = s.nodes[i]
    generalized_tangent(
        n, w.time[0], q[n.q0 :], v[n.v0 :], vd[n.v0 :], lam[n.l0 :], s.functions, s.constants, w.user, w.buffers,
        cm, cc, 1.0, ck, into,
    )  # fmt: skip


@entry(Tables, Work, when=_has_angles)
def all_angles(s, w):
    """Angles of torsion springs and couplings continue from the present frames."""
    for k in range(s.forces.shape[0]):
        e = s.forces[k]
        if e.kind == TORSION_SPRING:
            angle, rate = spring_state(e, w.z[e.a], w.z[e.b], w.zd[e.a], w.zd[e.b], w.turns)
            w.turns[e.turn] = angle
    for k in range(s.couplings.shape[0]):
        p = s.couplings[k]
        if p.kind == ANGLE:
            w.turns[p.turn] = angle_value(p, w.z[p.a], w.z[p.b], w.turns[p.turn]) / p.factor


@entry(Tables, Work, vector, vector, vector, vector, vector, real, integer, when=_has_spin)
def check_charts(s, w, q_old, q, v, vd, a, shift, change):
    """Look for gimbal lock between two states (change = 0), or bring charts back to their good region (1).

    The result (index of a locked node, or the number of changes) goes to w.chart.
    """
    if change == 0:
        w.chart = singular_chart(s.nodes, q_old, q, w.signs, w.spin)
    else:
        w.chart = change_charts(s.nodes, q, v, vd, a, shift, w.spin, w.scratch)
