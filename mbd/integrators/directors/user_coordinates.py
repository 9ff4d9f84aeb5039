"""Bodies in generalized coordinates with a constant mass matrix, in methods on points and directors.

No element acts on such a body but its own potential, constraints and force. Its equations in a step have therefore no
unknown in common with those of others: every correction is found by elimination in a dense matrix of its own, before
that of all other bodies. The tables of these do not show its coordinates (``unknown_blocks``), so that no kernel on
frames has to ask; the tables ``own`` of a state do, and are missing where a model has no such body.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compiled.entry import connect, entry
from ...compiled.kernel import kernel
from ...compiled.kinds import real, vector
from ...compiled.record import table_of
from ...nodes.forms import of_form
from ...nodes.frames import has_frame
from ...nodes.generalized import generalized_forces, gradient_block, mass_block
from ...nodes.step.generalized import generalized_momentum, solve_small
from ...system.instant_elements import has_generalized
from ...system.system import System
from ...system.tables import FLAG_REDUNDANT, PARAMETER_REGULARISATION, Tables, Work
from ..newton import GENERALIZED, ROUND_OFF, equation_scales, measure
from ..verdicts import SINGULAR
from .unknown_blocks import natural_tables

NUMBERS = 7  # rows of scratch


class UserBodies:
    """Tables and scratch of the bodies in generalized coordinates; ``count`` is that of their blocks of unknowns."""

    def __init__(self, system: System, count: int = 1) -> None:
        nodes, which = system.tables.nodes, of_form(system.tables.nodes, "generalized")
        size = count * int((nodes["nv"] + nodes["nl"])[which].max()) if which.any() else 0
        self.tables = natural_tables(system, whole=True) if which.any() else None
        if self.tables is not None:
            self.tables.nodes["block"][which] = 0
            self.tables.nodes["ld"][which] = count * (nodes["nv"] + nodes["nl"])[which]
        self.fields = {
            "own": table_of([] if self.tables is None else [self.tables]),
            "own_y": np.zeros(system.n_v + system.n_l if which.any() else 0),
            "own_matrix": np.zeros(size * size), "own_rows": np.zeros((NUMBERS, size)),
        }  # fmt: skip
        """What states have of them: the tables, corrections in natural order, a dense matrix, and scratch."""

    def connect(self, *entries: Any) -> None:
        """Load what these entries need for the tables."""
        if self.tables is not None:
            connect(self.tables, *entries)


@entry(Tables, Work, vector, vector, vector, vector, real, real, vector, when=has_generalized)
def own_scales(s, w, q, v, vd, lam, h, tolerance, out):
    """``equation_scales`` with these bodies."""
    equation_scales(s, w, q, v, vd, lam, 1.0 / (h * h), out)
    out[GENERALIZED] = max(out[GENERALIZED], round_off_of_momenta(s, w, q, v) / (abs(h) * tolerance))


@kernel
def round_off_of_momenta(s, w, q, v):
    """Round-off of the largest M v of these bodies: nothing else is left of the equations where no force acts."""
    largest = 0.0
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if not has_frame(n):
            generalized_momentum(
                n, q[n.q0 :], v[n.v0 :], w.buffers[2], 1.0, s.functions, s.constants, w.user, w.buffers[1]
            )
            for k in range(n.nv):
                largest = max(largest, abs(w.buffers[2][k]))
    return ROUND_OFF * largest


@kernel
def own_forces(s, w, n, t, x, v, out):
    """out[0:nv] = V'(x) - f(t, x, v); out has room for the constraints; the last buffer is used."""
    zero = w.buffers[8]
    for k in range(n.nv + n.nl):
        zero[k] = 0.0
    generalized_forces(n, t, x, v, zero, zero, s.functions, s.constants, w.user, out)


@kernel
def own_blocks(s, w, n, columns, rows, c, matrix):
    """matrix += c M, with G^T at ``columns`` and G at ``rows``."""
    mass_block(n, columns, s.functions, s.constants, w.user, w.buffers[1], c, matrix)
    gradient_block(n, columns, s.functions, w.user, 0.0, 1.0, matrix)
    gradient_block(n, rows, s.functions, w.user, 1.0, 0.0, matrix)


@kernel
def regularise_own(s, n, first, matrix):
    """As the matrix of all others, where constraints are redundant; the rows of constraints begin with the first."""
    if s.flags[FLAG_REDUNDANT] != 0:
        for k in range(first, first + n.nl):
            matrix[k * n.ld + k] -= s.parameters[PARAMETER_REGULARISATION]


@kernel
def solve_own(n, p, matrix, y):
    """y := the solution of the dense system; whether there is one, otherwise p.verdict and p.worst say so."""
    solve_small(matrix, n.ld, y)
    total = 0.0
    for k in range(n.ld):
        total += abs(y[k])
    if not total < 1e300:
        p.verdict = SINGULAR
        p.worst = n.v0
        return False
    return True


@kernel
def move_own_rows(n, nv, y, r, out):
    """out = y at the rows of a body, in natural order; the residual r becomes zero there."""
    for k in range(n.nv):
        out[n.v0 + k] = y[k]
        r[n.v0 + k] = 0.0
    for k in range(n.nl):
        out[nv + n.l0 + k] = y[n.nv + k]
        r[nv + n.l0 + k] = 0.0


@kernel
def clear_points(s, t, x):
    """Zero right-hand sides of the points that stand for these bodies in the matrix of rigid bodies."""
    for i in range(1, s.nodes.shape[0]):
        if not has_frame(s.nodes[i]):
            for k in range(3):
                x[t.nodes[i].x0 + k] = 0.0


@kernel
def measure_own(s, p, x):
    """Look at the corrections of these bodies, ``measure``; whether they are to be applied."""
    good = measure(s, s.nodes, p, x.q, x.dq, x.v, x.own_y, False)
    x.own_moved = p.moved
    return good
