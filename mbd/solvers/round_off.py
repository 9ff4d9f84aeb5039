"""Equations of which only round-off is left in joint coordinates.

A joint that closes a loop may fix what all joints of the loop admit no motion of: the direction across the plane of a
linkage. In joint coordinates its row vanishes then; if the plane is not that of two axes of the world, sums that should
cancel leave 1e-16. Beside such entries a pivot made of them looks regular, and they are cleared before anybody judges.
"""

from __future__ import annotations

import numpy as np

from ..joints.instant import COINCIDENT
from ..system.system import System
from ..system.tables import BY_FRONTS, FLAG_TREE

Array = np.ndarray

ROUND_OFF = 1e-12  # of the entries that a primitive of a joint has by itself: of order one, in sizes of the model


def clear_round_off(system: System, matrix: Array) -> bool:
    """Clear entries of [M B^T; B 0] in rows of joints that are round-off throughout; whether there are such rows."""
    if system.tables.flags[FLAG_TREE] != BY_FRONTS or not len(system.tables.primitives):
        return False
    row, place, mirrored, power = system.structural("rows of joints", lambda: _entries_of_joints(system))
    largest = np.zeros(system.n_l)
    np.maximum.at(largest, row, np.abs(matrix[place]) * system.length**power)
    vanishing = largest[row] <= ROUND_OFF
    matrix[place[vanishing]] = matrix[mirrored[vanishing]] = 0.0
    return bool(vanishing.any())


def _entries_of_joints(system: System) -> tuple[Array, Array, Array, Array]:
    """Entries of B in rows of primitives: row, place of the entry and of its mirror image, and the power of the length
    with which it becomes a number."""
    s, layout = system.tables, system.assembly.layout
    velocity, equation = np.full(layout.n, -1), np.full(layout.n, -1)
    velocity[s.xv] = np.arange(system.n_v)
    for p in s.primitives:
        own = np.arange(p.l0, p.l0 + (3 if p.kind == COINCIDENT else 1))
        equation[s.xl[own]] = own
    row, column, place = layout.places()
    order = np.lexsort((column, row))
    mirror = np.empty(len(order), dtype=np.int64)
    mirror[np.lexsort((row, column))] = place[order]
    use = (equation[row] >= 0) & (velocity[column] >= 0)
    own, of = equation[row[use]], velocity[column[use]]
    power = np.where(s.vclass[of] == 0, 0.0, -1.0) + np.where(s.lclass[own] == 0, 0.0, 1.0)
    return own, place[use], mirror[use], power
