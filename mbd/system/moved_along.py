"""How far what is differenced is moved along a direction.

A parameter is moved by e. The state goes with it, along a direction S that grows with the motion: e S would become any
length. Where it is too long d is less than e, and both ends of the direction are looked at on both sides,

    F_theta + F_x S = c(d) (F(theta + e, x + d S) - F(theta - e, x - d S))
                    + c(-d) (F(theta + e, x - d S) - F(theta - e, x + d S)),    c(d) = (1/e + 1/d) / 4,

of which the second line is zero where d = e. As long as S is short both move together: the error of a stiff element
whose ends follow the parameter is that of what it is stretched by, not of what its ends are moved by.
"""

from __future__ import annotations

from ..compiled.fours import AT_ONCE, flat
from ..compiled.kernel import kernel
from ..nodes.forms import FORM_GENERALIZED
from .tables import PARAMETER_LENGTH

MOST_MOVED = 3e-5  # radians, or parts of the system's length: the error of differences is the square of it
TOGETHER = 1.5e-4  # the same of elements that the parameter itself moves, by up to a turn, as it does the state
MOVED = 5e-6  # where it would be more


@kernel
def size_of_increment(s, k, change, place):
    """The change of one coordinate in radians, or as a part of the system's length; ``place`` is where it is."""
    return abs(change) / (max(s.parameters[PARAMETER_LENGTH], place) if s.vclass[k] == 0 else 1.0)


@kernel
def size_of_increments(s, q, dq, first, stride):
    """The largest of these sizes; dq begins with ``first``, and is one in ``stride`` numbers.

    What coordinates of users measure nobody knows: they count for nothing.
    """
    found = 0.0
    for n in range(1, s.nodes.shape[0]):
        q0, v0, place = s.nodes[n].q0, s.nodes[n].v0, 0.0
        for m in range(s.nodes[n].nv):
            if s.vclass[v0 + m] == 0:
                place = max(place, abs(q[q0 + m]))
        for m in range(s.nodes[n].nv if s.nodes[n].form != FORM_GENERALIZED else 0):
            found = max(found, size_of_increment(s, v0 + m, dq[first + stride * (v0 + m)], place))
    return found


@kernel
def size_of_motion(s, z, frame, lane):
    """The change of a frame z along one of four directions, in radians or parts of the system's length."""
    dz, length, found = flat(frame), max(s.parameters[PARAMETER_LENGTH], abs(z[0]), abs(z[1]), abs(z[2])), 0.0
    for m in range(12):
        found = max(found, abs(dz[AT_ONCE * m + lane]) / (length if m < 3 else 1.0))
    return found


@kernel
def distance_along(size, e, most):
    """d along a direction of this size."""
    return e if e * size <= most else MOVED / size


@kernel
def passes(d, e):
    """How many differences it takes: with d, then with -d."""
    return 1 if d == e else 2


@kernel
def weight_of(d, e):
    """Of the difference between both sides of a parameter, moved by d and -d."""
    return 0.25 / e + 0.25 / d
