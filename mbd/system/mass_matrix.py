"""Factors of the matrix of accelerations and multipliers, [M B^T; B 0]."""

from __future__ import annotations

from ..compiled.entry import entry
from ..compiled.kinds import vector
from ..joints.instant import UPPER
from ..linalg.front import SMALLEST_RATIO
from ..linalg.numeric import factor_definite
from ..math.arrays import copy
from .couplings import coupling_tangent
from .matrix import factor_with, rigid_blocks, tangent
from .tables import FLAG_COUPLED, FLAG_DEFINITE, FLAG_REDUNDANT, Tables, Work, coordinates, unknowns, velocity

SMALL_PIVOT = 1e-4  # against the terms of its sum, or the inertia of bodies: rows should have been swapped


def _is_definite(s: Tables) -> bool:
    return bool(s.flags[FLAG_DEFINITE])


@entry(Tables, Work, coordinates, velocity, vector, unknowns, when=_is_definite)
def definite_factors(s, w, q, v, zero, x):
    """The upper triangle of the matrix, and its factors without swaps."""
    rigid_blocks(s, w, q, v, zero, zero, w.eye, 1.0, 0.0, 0.0, UPPER, w.matrix)
    if s.flags[FLAG_COUPLED] != 0:
        coupling_tangent(s, w, q, v, zero, w.eye, 0.0, 0.0, w.matrix)
    factor_definite(s.fronts, w.matrix, w.pivots, w.dinv, w.scale, w.report, x, s.turning)


@entry(Tables, Work, coordinates, velocity, vector, unknowns)
def factor_mass(s, w, q, v, zero, x):
    """Factors of [M B^T; B 0] in w.matrix (frames must be at q), begin to solve for x; ``finish`` ends that."""
    if s.flags[FLAG_DEFINITE] != 0 and s.flags[FLAG_REDUNDANT] == 0:
        copy(x, w.product)
        definite_factors(s, w, q, v, zero, x)
        if w.report[SMALLEST_RATIO] > SMALL_PIVOT:
            return
        copy(w.product, x)
    tangent(s, w, q, v, zero, zero, w.eye, 1.0, 0.0, 0.0, w.matrix)
    factor_with(s, w, w.matrix, w.pivots, w.dinv, x)
