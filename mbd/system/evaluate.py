"""How kernels and people evaluate a system: frames, residual, constraints on three levels, matrix, linear solution.

Each function here is a call of a separately compiled piece (``mbd.system.instant``); an integrator that uses them
compiles its own loop only.
"""

from __future__ import annotations

from ..compiled.functions.calls import call_vector
from ..compiled.kernel import JIT, kernel
from ..joints.instant import primitive_drive
from . import instant as pieces
from .couplings import LEVEL_DRIVEN, call_extra_constraints
from .optional import call_angles
from .tables import (
    ENTRY_CONSTRAINTS,
    ENTRY_DYNAMICS,
    ENTRY_FACTOR,
    ENTRY_MOTION,
    ENTRY_SOLVE,
    ENTRY_TANGENT,
    ENTRY_UPDATE,
    FLAG_ANGLES,
    FLAG_DENSE,
    FLAG_EXTRA,
    PARAMETER_TIME,
)

if JIT:
    from ..compiled.boundary import call_entry

    @kernel
    def advance(s, w, q, dq, out):
        """The update of absolute coordinates: out = q o exp(dq), and the frames at out."""
        call_entry(s.entries[ENTRY_UPDATE], (s.place[0], w.place[0], q, dq, out, 1))

    @kernel
    def look_ahead(s, w, q, dq, out):
        """The same for an evaluation within a step: rotations of Lie nodes are not written to out, their frames are."""
        call_entry(s.entries[ENTRY_UPDATE], (s.place[0], w.place[0], q, dq, out, 0))

    @kernel
    def frames(s, w, q):
        """Frames of all nodes into w.z."""
        call_entry(s.entries[ENTRY_MOTION], (s.place[0], w.place[0], q, q, 0))

    @kernel
    def velocities(s, w, q, v):
        """Velocities of all frames into w.zd (frames must be up to date)."""
        call_entry(s.entries[ENTRY_MOTION], (s.place[0], w.place[0], q, v, 1))

    @kernel
    def biases(s, w, q, v):
        """Accelerations of all frames at zero coordinate acceleration into w.zb (velocities must be up to date)."""
        call_entry(s.entries[ENTRY_MOTION], (s.place[0], w.place[0], q, v, 2))

    @kernel
    def dynamics(s, w, q, v, vd, lam, x):
        """Dynamic rows of x: M vd - f + B^T lambda (frames must be up to date)."""
        call_entry(s.entries[ENTRY_DYNAMICS], (s.place[0], w.place[0], q, v, vd, lam, x))

    @kernel
    def constraints(s, w, q, x):
        """Constraint rows of x: g(q, t) (frames must be up to date)."""
        call_entry(s.entries[ENTRY_CONSTRAINTS], (s.place[0], w.place[0], q, q, x, 0))

    @kernel
    def jacobian_times(s, w, q, v, x):
        """Constraint rows of x: B v (frames and the velocities of v must be up to date)."""
        call_entry(s.entries[ENTRY_CONSTRAINTS], (s.place[0], w.place[0], q, v, x, 1))

    @kernel
    def constraint_biases(s, w, q, v, x):
        """Constraint rows of x: gamma with g_ddot = B v_dot + gamma (velocities and biases must be up to date)."""
        call_entry(s.entries[ENTRY_CONSTRAINTS], (s.place[0], w.place[0], q, v, x, 2))

    @kernel
    def tangent(s, w, q, v, vd, lam, t, cm, cc, ck, matrix):
        """The matrix [cm M T^-1 + cc C T^-1 + ck K, B^T; B, 0]; see ``pieces.assemble_tangent``."""
        call_entry(s.entries[ENTRY_TANGENT], (s.place[0], w.place[0], q, v, vd, lam, t, cm, cc, ck, matrix))

    @kernel
    def factor(s, w, matrix, pivots, dinv):
        """Factorise the matrix in place; w.info tells how well."""
        call_entry(s.entries[ENTRY_FACTOR], (s.place[0], w.place[0], matrix, pivots, dinv, w.x[:0]))

    @kernel
    def factor_with(s, w, matrix, pivots, dinv, x):
        """The same, and begin to solve for x, to be finished by ``finish``: faster than to solve afterwards."""
        call_entry(s.entries[ENTRY_FACTOR], (s.place[0], w.place[0], matrix, pivots, dinv, x))

    @kernel
    def finish(s, matrix, pivots, dinv, x):
        """Solve with the factors for x that has been through ``factor_with``, in place."""
        call_entry(s.entries[ENTRY_SOLVE], (s.place[0], matrix, pivots, dinv, x, 1))

    @kernel
    def solve(s, matrix, pivots, dinv, x):
        """Solve with the factors, in place."""
        call_entry(s.entries[ENTRY_SOLVE], (s.place[0], matrix, pivots, dinv, x, 0))

else:

    def frames(s, w, q):
        pieces.move(s, w, q, q, 0)

    def velocities(s, w, q, v):
        pieces.move(s, w, q, v, 1)

    def biases(s, w, q, v):
        pieces.move(s, w, q, v, 2)

    def advance(s, w, q, dq, out):
        pieces.update(s, w, q, dq, out, 1)

    def look_ahead(s, w, q, dq, out):
        pieces.update(s, w, q, dq, out, 0)

    dynamics, tangent = pieces.assemble_dynamics, pieces.assemble_tangent

    def constraints(s, w, q, x):
        pieces.assemble_constraints(s, w, q, q, x, 0)

    def jacobian_times(s, w, q, v, x):
        pieces.assemble_constraints(s, w, q, v, x, 1)

    def constraint_biases(s, w, q, v, x):
        pieces.assemble_constraints(s, w, q, v, x, 2)

    def factor_with(s, w, matrix, pivots, dinv, x):
        run = pieces.factorise_dense if s.flags[FLAG_DENSE] else pieces.factorise_tree
        run(s, w, matrix, pivots, dinv, x)

    def factor(s, w, matrix, pivots, dinv):
        factor_with(s, w, matrix, pivots, dinv, w.x[:0])

    def finish(s, matrix, pivots, dinv, x, eliminated=1):
        run = pieces.solve_dense if s.flags[FLAG_DENSE] else pieces.solve_tree
        run(s.fronts, matrix, pivots, dinv, x, eliminated)

    def solve(s, matrix, pivots, dinv, x):
        finish(s, matrix, pivots, dinv, x, 0)


@kernel
def evaluate_functions(s, w, t):
    """Values of all functions of time."""
    w.time[0] = t
    s.parameters[PARAMETER_TIME] = t
    for k in range(s.functions.shape[0]):
        f = s.functions[k]
        if f.offset >= 0:
            call_vector(f.address, w.time.ctypes.data, w.values[f.offset :].ctypes.data, f.block)


@kernel
def constraint_rates(s, w, q, v, x):
    """Constraint rows of x: B v + g_t (frames and their velocities must be up to date)."""
    jacobian_times(s, w, q, v, x)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        if p.function >= 0:
            first, second = primitive_drive(p, w.z[p.a], w.z[p.b], w.zd[p.a], w.zd[p.b], w.values)
            x[p.x0] += first
    if s.flags[FLAG_EXTRA] != 0:
        call_extra_constraints(s, w, x, LEVEL_DRIVEN)


@kernel
def constraint_accelerations(s, w, q, v, vd, x):
    """Constraint rows of x: B vd + gamma (velocities and biases must be up to date; w.zd is overwritten twice)."""
    constraint_biases(s, w, q, v, w.x2)
    velocities(s, w, q, vd)
    jacobian_times(s, w, q, vd, x)
    velocities(s, w, q, v)
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
def remember_angles(s, w, q, v):
    """After an accepted step: angles continue from here (frames must be up to date)."""
    if s.flags[FLAG_ANGLES] != 0:
        call_angles(s, w)
