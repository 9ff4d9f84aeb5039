"""Directions along which the equations of a system are differentiated, and what parameters touch; see ``along``."""

from __future__ import annotations

from ..compiled.fours import AT_ONCE
from ..compiled.kernel import kernel
from ..compiled.kinds import addresses, fours, fours_matrix, integer, integer_matrix, integers, matrix, records, vector
from ..compiled.record import Record
from ..nodes.forms import NODE
from .tables import PRIMITIVE
from .tree_along import TreeAlong

ON_POSITIONS, ON_VELOCITIES, ON_ACCELERATIONS, ON_BOTH = 0, 1, 2, 3  # level of the constraint rows; both: g + B v

NO_FORCES, FIXED, CHANGING = 0, 1, 2  # frame forces of constraints: not asked for, at fixed or changing multipliers


class Along(Record):
    """Directions of frames, what parameters touch, and the systems on both sides of them."""

    dz = fours_matrix  # (nodes, 12) of frames, of their velocities and accelerations, and of frame forces
    dzd = fours_matrix
    dza = fours_matrix
    df = fours_matrix
    row = fours  # (3,) scratch
    scratch = fours_matrix  # (2, 12)
    za = matrix  # accelerations of frames
    plus = vector  # rows on both sides
    minus = vector
    lam = vector  # multipliers there
    still = fours  # zeros, as many as multipliers or velocities
    size = vector  # of the differences, by parameter
    tables = addresses  # of the systems at theta + size and theta - size, one after the other
    works = addresses  # beside them, and one for the system itself at the end
    exact = integers  # by parameter: whether the product rule holds, otherwise the whole residual is differenced
    first_node = integers  # by parameter: of the list of nodes whose inertia or weight it touches
    nodes = integers
    slopes = records(NODE)  # ... with the slopes of their inertia in the place of it
    falls = matrix  # (parameters, 3) slopes of gravity
    first_force = integers  # the same of force elements
    forces = integers
    shifted = integer_matrix  # by parameter and force element: whether it moves along the direction for that
    some_shifted = integer_matrix  # by group and force element: whether it does for some parameters
    first_primitive = integers  # the same of constraints that are not driven
    primitives = integers
    above = records(PRIMITIVE)  # ... with their numbers far to both sides, along their slopes
    below = records(PRIMITIVE)
    width = vector  # ... and how far these are apart, in units of the parameter
    stretch = vector  # ... and slopes of the lengths of those that are distances
    driven = integers  # constraints that are driven
    tree = TreeAlong  # of joint coordinates
    loaded = integer  # whether there are elements that are differenced
    time = vector  # (1,) of the functions


@kernel
def end_of_group(g, group):
    """Number of the parameter behind the last one of a group."""
    return min(AT_ONCE * (group + 1), g.size.shape[0])
