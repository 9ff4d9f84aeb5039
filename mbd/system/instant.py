"""Evaluation of a system at an instant: frames, residual, constraints on three levels, matrix, linear solution.

Loops over the tables; the formulas are in the nodes, joints and forces. Right-hand sides are written in the solver's
order of unknowns (``x0`` of nodes and primitives), so that nothing is permuted. Kernels and people call the same names.
"""

from __future__ import annotations

from ..compiled.entry import entry
from ..compiled.functions.calls import call_vector
from ..compiled.kernel import kernel
from ..compiled.kinds import integer, real
from ..forces.kinds import TORSION_SPRING
from ..joints.instant import (
    primitive_curvature,
    primitive_drive,
    primitive_rate,
    primitive_value,
)
from ..nodes.forms import FORM_GENERALIZED
from ..nodes.frames import update_biases, update_frames, update_velocities
from ..nodes.internal import internal_bilinear, internal_constraints
from ..nodes.mass import weight
from ..nodes.update import update_coordinates
from .couplings import ACCELERATION, LEVEL_DRIVEN, POSITION, VELOCITY, coupling_constraints
from .element_forces import constant, element_forces, node_rows
from .instant_elements import (
    GENERALIZED_CURVATURE,
    GENERALIZED_RATES,
    GENERALIZED_VALUES,
    all_angles,
    one_generalized,
)
from .tables import (
    FLAG_ANGLES,
    FLAG_COUPLED,
    FLAG_TREE,
    PARAMETER_TIME,
    Tables,
    Work,
    coordinates,
    multipliers,
    unknowns,
    velocity,
)
from .tree_instant import tree_biases, tree_dynamics, tree_frames, tree_update, tree_velocities

STORED = 1  # the update writes rotations of Lie nodes to the coordinates; otherwise to the frames alone


# --- motion ---------------------------------------------------------------------------------------------------------


@kernel(kinds=(Tables, Work, real))
def evaluate_functions(s, w, t):
    """Values of all functions of time."""
    w.time[0] = t
    s.parameters[PARAMETER_TIME] = t
    for k in range(s.functions.shape[0]):
        f = s.functions[k]
        if f.offset >= 0:
            call_vector(f.address, w.time.ctypes.data, w.values[f.offset :].ctypes.data, f.block)


@entry(Tables, Work, coordinates)
def frames(s, w, q):
    """Frames of all nodes into w.z."""
    if s.flags[FLAG_TREE] != 0:
        tree_frames(s, w, q)
        return
    update_frames(s.nodes, q, w.z, w.spin)


@entry(Tables, Work, coordinates, velocity)
def velocities(s, w, q, v):
    """Velocities of all frames into w.zd (frames must be up to date)."""
    if s.flags[FLAG_TREE] != 0:
        tree_velocities(s, w, q, v)
        return
    update_velocities(s.nodes, q, v, w.spin, w.z, w.zd, w.scratch)


@entry(Tables, Work, coordinates, velocity)
def biases(s, w, q, v):
    """Accelerations of all frames at zero coordinate acceleration into w.zb (velocities must be up to date)."""
    if s.flags[FLAG_TREE] != 0:
        tree_biases(s, w, q, v)
        return
    update_biases(s.nodes, q, v, w.spin, w.z, w.zd, w.zb, w.scratch)


@entry(Tables, Work, coordinates, velocity, coordinates, integer)
def update(s, w, q, dq, out, stored):
    """The update of coordinates, and the frames at the new ones."""
    if s.flags[FLAG_TREE] != 0:
        tree_update(s, w, q, dq, out, stored)
        return
    update_coordinates(s.nodes, q, dq, out, w.z, w.spin, w.base, stored)


@kernel(kinds=(Tables, Work, coordinates, velocity, coordinates))
def advance(s, w, q, dq, out):
    """The update of absolute coordinates: out = q o exp(dq), and the frames at out."""
    update(s, w, q, dq, out, STORED)


@kernel
def look_ahead(s, w, q, dq, out):
    """``advance`` for an evaluation within a step: rotations of Lie nodes are not written to out, frames are made."""
    update(s, w, q, dq, out, 0)


@kernel(kinds=(Tables, Work, coordinates, velocity))
def remember_angles(s, w, q, v):
    """After an accepted step: angles continue from here (frames must be up to date).

    Those of springs along joint coordinates are these, however far a step has turned.
    """
    if s.flags[FLAG_ANGLES] != 0:
        all_angles(s, w)
        if s.flags[FLAG_TREE] != 0:
            for m in range(s.tree.loads.shape[0]):
                e = s.forces[s.tree.loads[m, 0]]
                if e.kind == TORSION_SPRING:
                    w.turns[e.turn] = q[s.tree.loads[m, 2]]


# --- forces ---------------------------------------------------------------------------------------------------------


@kernel
def all_frame_forces(s, w, lam):
    """Frame forces of gravity, force elements and constraint multipliers into w.f."""
    g1, g2, g3 = s.gravity[0], s.gravity[1], s.gravity[2]
    for i in range(s.nodes.shape[0]):
        weight(s.nodes[i], g1, g2, g3, w.f[i])
    element_forces(s, w, lam)


@entry(Tables, Work, coordinates, velocity, velocity, multipliers, unknowns)
def dynamics(s, w, q, v, vd, lam, x):
    """Dynamic rows of x: M vd - f + B^T lambda (frames must be up to date).

    The largest element force and torque go to w.scales.
    """
    if s.flags[FLAG_TREE] != 0:
        tree_dynamics(s, w, q, v, vd, lam, x)
        return
    all_frame_forces(s, w, lam)
    force, torque = 0.0, 0.0
    for i in range(1, s.nodes.shape[0]):
        f = w.f[i]
        force = max(force, abs(f[0]), abs(f[1]), abs(f[2]))
        torque = max(torque, abs(f[3]), abs(f[4]), abs(f[5]), abs(f[6]), abs(f[7]), abs(f[8]))
        torque = max(torque, abs(f[9]), abs(f[10]), abs(f[11]))
        node_rows(s, w, i, q, v, vd, lam, x)
    w.scales[0] = force
    w.scales[1] = torque


# --- constraints ----------------------------------------------------------------------------------------------------


@entry(Tables, Work, coordinates, unknowns)
def constraints(s, w, q, x):
    """Constraint rows of x: g(q, t) (frames must be up to date)."""
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.nl > 0:
            if n.form == FORM_GENERALIZED:
                one_generalized(s, w, i, q, q, q, q, x, GENERALIZED_VALUES)
            else:
                internal_constraints(n, q, x, n.x0 + n.nv)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        primitive_value(p, w.z[p.a], w.z[p.b], constant(p, w.values), x, p.x0)
    if s.flags[FLAG_COUPLED] != 0:
        coupling_constraints(s, w, x, POSITION)


@entry(Tables, Work, coordinates, velocity, unknowns)
def jacobian_times(s, w, q, v, x):
    """Constraint rows of x: B v (frames and the velocities of v must be up to date)."""
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.nl > 0:
            if n.form == FORM_GENERALIZED:
                one_generalized(s, w, i, q, v, v, v, x, GENERALIZED_RATES)
            else:
                internal_bilinear(n, q, v, n.q0 + n.nx, n.v0 + n.nx, x, n.x0 + n.nv)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        primitive_rate(p, w.z[a], w.z[b], w.zd[a], w.zd[b], constant(p, w.values), x, p.x0)
    if s.flags[FLAG_COUPLED] != 0:
        coupling_constraints(s, w, x, VELOCITY)


@entry(Tables, Work, coordinates, velocity, unknowns)
def constraint_biases(s, w, q, v, x):
    """Constraint rows of x: gamma = D^2 g[v, v] + 2 g_tq v + g_tt, with g_ddot = B v_dot + gamma.

    Velocities and biases must be up to date.
    """
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.nl > 0:
            if n.form == FORM_GENERALIZED:
                one_generalized(s, w, i, q, v, v, v, x, GENERALIZED_CURVATURE)
            else:
                internal_bilinear(n, v, v, n.v0 + n.nx, n.v0 + n.nx, x, n.x0 + n.nv)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        value = constant(p, w.values)
        primitive_rate(p, w.z[a], w.z[b], w.zb[a], w.zb[b], value, x, p.x0)
        primitive_curvature(p, w.zd[a], w.zd[b], value, x, p.x0)
        if p.function >= 0:
            first, second = primitive_drive(p, w.z[a], w.z[b], w.zd[a], w.zd[b], w.values)
            x[p.x0] += second
    if s.flags[FLAG_COUPLED] != 0:
        coupling_constraints(s, w, x, ACCELERATION)


@kernel(kinds=(Tables, Work, coordinates, velocity, unknowns))
def constraint_rates(s, w, q, v, x):
    """Constraint rows of x: B v + g_t (frames and their velocities must be up to date)."""
    jacobian_times(s, w, q, v, x)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        if p.function >= 0:
            first, second = primitive_drive(p, w.z[p.a], w.z[p.b], w.zd[p.a], w.zd[p.b], w.values)
            x[p.x0] += first
    if s.flags[FLAG_COUPLED] != 0:
        coupling_constraints(s, w, x, LEVEL_DRIVEN)


@kernel
def constraint_accelerations(s, w, q, v, vd, x):
    """Constraint rows of x: B vd + gamma (velocities and biases must be up to date; w.zd is overwritten twice)."""
    constraint_biases(s, w, q, v, w.g)
    velocities(s, w, q, vd)
    jacobian_times(s, w, q, vd, x)
    velocities(s, w, q, v)
    for k in range(s.xl.shape[0]):
        x[s.xl[k]] += w.g[s.xl[k]]
