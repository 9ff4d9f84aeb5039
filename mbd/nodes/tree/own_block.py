"""The block of a joint with itself: rows of its columns against its own jets, and what parameters of a ball add."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...math.quaternions import g_times
from ..forms import FORM_LIE, FORM_SPIN
from ..spin import spin_derivative
from .motion import motion_column, quaternion_square
from .spatial import crossed_power, dot_six


@kernel
def place_in_sequence(n, c, k):
    """Place of a velocity in the order from parent to child; those of a ball come last, together."""
    if c.ball != 0 and k >= n.v0 + n.nx:
        return 3
    for i in range(c.motions):
        if motion_column(n, c, i) == k:
            return i
    return 3


@kernel
def own_correction(n, c, q, g, columns, ball, wrench, ck, i, k, scratch):
    """What the entry (i, k) of a joint's own block has besides y_i . U_k.

    A column does not turn with the motions that come after it; the columns of a ball change with its parameters.
    """
    first = n.v0 + n.nx
    before, after = place_in_sequence(n, c, i), place_in_sequence(n, c, k)
    if after > before:
        return -ck * crossed_power(columns[k], columns[i], wrench)
    if after < 3 or before < 3 or n.form == FORM_LIE:
        return 0.0
    w1, w2, w3 = dot_six(ball, wrench), dot_six(ball[6:], wrench), dot_six(ball[12:], wrench)
    u, x, d = scratch[0], scratch[1], scratch[2]
    for m in range(4):
        u[m] = 1.0 if m == k - first else 0.0
        x[m] = 1.0 if m == i - first else 0.0
    if n.form == FORM_SPIN:
        spin_derivative(n, q, g, u, x, scratch[3], d)
        return ck * (w1 * d[0] + w2 * d[1] + w3 * d[2])
    j = n.q0 + n.nx
    square = quaternion_square(n, q)
    d1, d2, d3 = g_times(u[0], u[1], u[2], u[3], x[0], x[1], x[2], x[3])
    c1, c2, c3 = g_times(q[j], q[j + 1], q[j + 2], q[j + 3], x[0], x[1], x[2], x[3])
    longer = 2.0 * q[j + k - first] / square
    return 2.0 * ck / square * (w1 * (d1 - longer * c1) + w2 * (d2 - longer * c2) + w3 * (d3 - longer * c3))
