"""Accelerations and multipliers of the index-1 form."""

from __future__ import annotations

from ..compiled.entry import entry
from ..compiled.kernel import kernel
from ..compiled.kinds import integer, vector
from ..nodes.mass import free_accelerations
from .instant import biases, constraint_accelerations, constraint_biases, dynamics, frames, velocities
from .mass_matrix import factor_mass
from .matrix import finish, solve
from .tables import (
    BY_RECURSION,
    FLAG_REDUNDANT,
    FLAG_SIMPLE,
    FLAG_TREE,
    FLAG_VELOCITY,
    Tables,
    Work,
    coordinates,
    multipliers,
    velocity,
)
from .tree_accelerations import articulated_accelerations

MOVED, MOVED_AND_FACTORED = 1, 2


@entry(Tables, Work, coordinates, velocity, vector, velocity, multipliers, integer)
def index_one(s, w, q, v, zero, vd, lam, moved):
    """Index-1 form: [M B^T; B 0][vd; lam] = [f; -gamma] at (q, v) and the time of w.values.

    ``zero`` is a vector of zeros as long as velocities or multipliers; ``moved`` tells that the frames are at q
    already, MOVED_AND_FACTORED that w.matrix has the factors of q as well. Leaves the factors in w.matrix
    (not without constraints on Lie and point nodes, where the inverse of M is known).
    """
    if moved == 0:
        frames(s, w, q)
    if s.flags[FLAG_TREE] == BY_RECURSION:
        articulated_accelerations(s, w, q, v, vd)
        return
    simple = s.flags[FLAG_SIMPLE] != 0
    if not simple or s.flags[FLAG_VELOCITY] != 0:
        velocities(s, w, q, v)
    dynamics(s, w, q, v, zero, zero, w.x)
    if simple:
        free_accelerations(s.nodes, w.z, w.x, vd)
        return
    if lam.shape[0] > 0:
        biases(s, w, q, v)
        constraint_biases(s, w, q, v, w.x)
    for k in range(w.x.shape[0]):
        w.x[k] = -w.x[k]
    if moved == MOVED_AND_FACTORED:
        solve(s, w.matrix, w.pivots, w.dinv, w.x)
    else:
        factor_mass(s, w, q, v, zero, w.x)
        finish(s, w.matrix, w.pivots, w.dinv, w.x)
    for k in range(vd.shape[0]):
        vd[k] = w.x[s.xv[k]]
    for k in range(lam.shape[0]):
        lam[k] = w.x[s.xl[k]]
    if s.flags[FLAG_REDUNDANT] != 0:  # against the unregularised equations: converges to the minimum-norm multipliers
        for _ in range(2):
            dynamics(s, w, q, v, vd, lam, w.x)
            constraint_accelerations(s, w, q, v, vd, w.x)
            for k in range(w.x.shape[0]):
                w.x[k] = -w.x[k]
            solve(s, w.matrix, w.pivots, w.dinv, w.x)
            for k in range(vd.shape[0]):
                vd[k] += w.x[s.xv[k]]
            for k in range(lam.shape[0]):
                lam[k] += w.x[s.xl[k]]


@kernel(kinds=(Tables, Work, coordinates, velocity, velocity, velocity, multipliers))
def accelerations(s, w, q, v, zero, vd, lam):
    """v_dot and lambda at (q, v); see ``index_one``."""
    index_one(s, w, q, v, zero, vd, lam, 0)


@kernel
def accelerations_here(s, w, q, v, zero, vd, lam):
    """``accelerations`` where ``advance`` has just moved the frames to q."""
    index_one(s, w, q, v, zero, vd, lam, MOVED)


@kernel
def accelerations_again(s, w, q, v, zero, vd, lam):
    """``accelerations`` at the q of the call before, with other velocities: its factors serve again."""
    index_one(s, w, q, v, zero, vd, lam, MOVED_AND_FACTORED)
