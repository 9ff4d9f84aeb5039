"""Pieces of the evaluation that many models do not need, each compiled only when a model has such elements.

Every piece is a kernel (the loop), its entry (what is compiled), and the call that kernels use.
"""

from __future__ import annotations

from ..compiled.boundary import address, arguments, integer, matrix, real, vector
from ..compiled.kernel import JIT, kernel
from ..forces.instant import force_residual, force_tangent, spring_state
from ..forces.kinds import TORSION_SPRING
from ..joints.angles import angle_value
from ..joints.instant import ANGLE
from ..nodes.generalized import (
    generalized_curvature,
    generalized_forces,
    generalized_mass,
    generalized_rate,
    generalized_tangent,
)
from ..nodes.spin_tangent import spin_frame_stiffness, spin_tangent
from ..nodes.update import change_charts, singular_chart
from .tables import (
    ENTRY_ANGLES,
    ENTRY_CHARTS,
    ENTRY_FORCE_TANGENT,
    ENTRY_FORCES,
    ENTRY_GENERALIZED,
    ENTRY_GENERALIZED_TANGENT,
    ENTRY_SPIN_TANGENT,
)
from .types import load_tables, load_work

# what is asked of a generalized node
GENERALIZED_FORCES, GENERALIZED_VALUES, GENERALIZED_RATES, GENERALIZED_CURVATURE, GENERALIZED_SCALE = 0, 1, 2, 3, 4


@kernel
def all_forces(s, w):
    """Frame forces of all force elements."""
    for k in range(s.forces.shape[0]):
        e = s.forces[k]
        a, b = e.a, e.b
        force_residual(e, w.z[a], w.z[b], w.zd[a], w.zd[b], w.values, w.turns, w.f[a], w.f[b])


@kernel
def all_force_tangents(s, w, q, v, t, cc, ck, into):
    """Damping and stiffness of all force elements."""
    for k in range(s.forces.shape[0]):
        e = s.forces[k]
        a, b = e.a, e.b
        force_tangent(
            e, s.nodes[a], s.nodes[b], q, v, w.spin[a], w.spin[b], w.z[a], w.z[b], w.zd[a], w.zd[b],
            t[a], t[b], w.values, w.turns, cc, ck, w.jac, w.small, into,
        )  # fmt: skip


@kernel
def one_spin_tangent(s, w, i, q, v, vd, cm, cc, ck, into):
    """Diagonal block of a three-parameter node."""
    n = s.nodes[i]
    spin_tangent(n, q, v, vd, w.spin[i], w.z[i], cm, cc, ck, into, w.small)
    if ck != 0.0:
        spin_frame_stiffness(n, w.spin[i], q, w.z[i], w.f[i], ck, into, w.small)


@kernel
def one_generalized(s, w, i, q, v, vd, lam, x, request):
    """What is asked of a generalized node: its rows of x, or its largest force in x[0]."""
    n = s.nodes[i]
    own_q, own_v = q[n.q0 :], v[n.v0 :]
    if request == GENERALIZED_FORCES:
        generalized_forces(n, own_q, own_v, vd[n.v0 :], lam[n.l0 :], s.functions, s.constants, w.user, w.buffers[1])
        for k in range(n.nv):
            x[n.x0 + k] = w.buffers[1][k]
    elif request == GENERALIZED_VALUES:
        if n.nl > 0:
            zero = w.buffers[0]
            generalized_forces(n, own_q, zero, zero, zero, s.functions, s.constants, w.user, w.buffers[1])
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
        generalized_forces(n, own_q, own_v, zero, lam[n.l0 :], s.functions, s.constants, w.user, force)
        generalized_mass(n, own_q, s.functions, s.constants, w.user, mass)
        for k in range(n.nv):
            largest = max(largest, abs(force[k]))
            for j in range(n.nv):
                largest = max(largest, abs(mass[k * n.nv + j] * vd[n.v0 + j]))
        x[0] = largest


@kernel
def one_generalized_tangent(s, w, i, q, v, vd, lam, cm, cc, ck, into):
    """Diagonal block of a generalized node."""
    n = s.nodes[i]
    generalized_tangent(
        n, q[n.q0 :], v[n.v0 :], vd[n.v0 :], lam[n.l0 :], s.functions, s.constants, w.user, w.buffers,
        cm, cc, 1.0, ck, into,
    )  # fmt: skip


@kernel
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


@kernel
def check_charts(s, w, q_old, q, v, vd, a, shift, change):
    """Look for gimbal lock between two states (change = 0), or bring charts back to their good region (1).

    The result (index of a locked node, or the number of changes) goes to w.info[5].
    """
    if change == 0:
        w.info[5] = singular_chart(s.nodes, q_old, q, w.signs, w.spin)
    else:
        w.info[5] = change_charts(s.nodes, q, v, vd, a, shift, w.spin, w.small)


_forces = arguments(address, address)
_force_tangent = arguments(address, address, vector, vector, matrix, real, real, vector)
_spin = arguments(address, address, integer, vector, vector, vector, real, real, real, vector)
_generalized = arguments(address, address, integer, vector, vector, vector, vector, vector, integer)
_generalized_tangent = arguments(address, address, integer, vector, vector, vector, vector, real, real, real, vector)
_charts = arguments(address, address, vector, vector, vector, vector, vector, real, integer)


def forces_entry(p):  # type: ignore[no-untyped-def]
    s, w = _forces(p)
    all_forces(load_tables(s), load_work(w))


def angles_entry(p):  # type: ignore[no-untyped-def]
    s, w = _forces(p)
    all_angles(load_tables(s), load_work(w))


def force_tangent_entry(p):  # type: ignore[no-untyped-def]
    s, w, q, v, t, cc, ck, into = _force_tangent(p)
    all_force_tangents(load_tables(s), load_work(w), q, v, t, cc, ck, into)


def spin_tangent_entry(p):  # type: ignore[no-untyped-def]
    s, w, i, q, v, vd, cm, cc, ck, into = _spin(p)
    one_spin_tangent(load_tables(s), load_work(w), i, q, v, vd, cm, cc, ck, into)


def generalized_entry(p):  # type: ignore[no-untyped-def]
    s, w, i, q, v, vd, lam, x, request = _generalized(p)
    one_generalized(load_tables(s), load_work(w), i, q, v, vd, lam, x, request)


def generalized_tangent_entry(p):  # type: ignore[no-untyped-def]
    s, w, i, q, v, vd, lam, cm, cc, ck, into = _generalized_tangent(p)
    one_generalized_tangent(load_tables(s), load_work(w), i, q, v, vd, lam, cm, cc, ck, into)


def charts_entry(p):  # type: ignore[no-untyped-def]
    s, w, q_old, q, v, vd, a, shift, change = _charts(p)
    check_charts(load_tables(s), load_work(w), q_old, q, v, vd, a, shift, change)


OPTIONAL_ENTRIES = {
    ENTRY_FORCES: forces_entry,
    ENTRY_FORCE_TANGENT: force_tangent_entry,
    ENTRY_SPIN_TANGENT: spin_tangent_entry,
    ENTRY_GENERALIZED: generalized_entry,
    ENTRY_GENERALIZED_TANGENT: generalized_tangent_entry,
    ENTRY_CHARTS: charts_entry,
    ENTRY_ANGLES: angles_entry,
}

if JIT:
    from ..compiled.boundary import call_entry

    @kernel
    def call_angles(s, w):
        call_entry(s.entries[ENTRY_ANGLES], (s.place[0], w.place[0]))

    @kernel
    def call_forces(s, w):
        call_entry(s.entries[ENTRY_FORCES], (s.place[0], w.place[0]))

    @kernel
    def call_force_tangent(s, w, q, v, t, cc, ck, into):
        call_entry(s.entries[ENTRY_FORCE_TANGENT], (s.place[0], w.place[0], q, v, t, cc, ck, into))

    @kernel
    def call_spin_tangent(s, w, i, q, v, vd, cm, cc, ck, into):
        call_entry(s.entries[ENTRY_SPIN_TANGENT], (s.place[0], w.place[0], i, q, v, vd, cm, cc, ck, into))

    @kernel
    def call_generalized(s, w, i, q, v, vd, lam, x, request):
        call_entry(s.entries[ENTRY_GENERALIZED], (s.place[0], w.place[0], i, q, v, vd, lam, x, request))

    @kernel
    def call_generalized_tangent(s, w, i, q, v, vd, lam, cm, cc, ck, into):
        call_entry(s.entries[ENTRY_GENERALIZED_TANGENT], (s.place[0], w.place[0], i, q, v, vd, lam, cm, cc, ck, into))

    @kernel
    def call_charts(s, w, q_old, q, v, vd, a, shift, change):
        call_entry(s.entries[ENTRY_CHARTS], (s.place[0], w.place[0], q_old, q, v, vd, a, shift, change))
else:
    call_forces, call_force_tangent, call_spin_tangent = all_forces, all_force_tangents, one_spin_tangent
    call_generalized, call_generalized_tangent = one_generalized, one_generalized_tangent
    call_charts, call_angles = check_charts, all_angles
