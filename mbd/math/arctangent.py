"""The angle of a sine and a cosine, in arithmetic alone.

Records in other coordinates take up to three of these per body and step. A call of ``atan2`` of the C library costs
about 20 ns and stands between registers; this is part of its caller, and several of them overlap.
"""

from __future__ import annotations

import math

from ..compiled.kernel import kernel

NEAR, FAR = 0.66, 1.0 + math.sqrt(2.0)  # tangents up to, and beyond, which one of the two is the smaller side
REST = 6.123233995736766e-17  # pi/2 less its double precision number


@kernel(forceinline=True)
def angle_of(s, c):
    """atan2(s, c) to two units in the last place; of (-0, c) as of (0, c), and zero of (0, 0).

    The rational function of x in [-0.42, 0.66] is that of the Cephes library (S. L. Moshier, atan.c).
    """
    y, x = abs(s), abs(c)
    if y <= NEAR * x:
        top, bottom, turn, rest = y, x, 0.0, 0.0
    elif y >= FAR * x:
        top, bottom, turn, rest = -x, y, 0.5 * math.pi, REST
    else:
        top, bottom, turn, rest = y - x, y + x, 0.25 * math.pi, 0.5 * REST
    t = top / bottom if bottom != 0.0 else 0.0  # no number stays none
    z = t * t
    p = -8.750608600031904122785e-1
    p = p * z - 1.615753718733365076637e1
    p = p * z - 7.500855792314704667340e1
    p = p * z - 1.228866684490136173410e2
    p = p * z - 6.485021904942025371773e1
    q = z + 2.485846490142306297962e1
    q = q * z + 1.650270098316988542046e2
    q = q * z + 4.328810604912902668951e2
    q = q * z + 4.853903996359136964868e2
    q = q * z + 1.945506571482613964425e2
    angle = turn + (t + (t * (z * (p / q)) + rest))
    if c < 0.0:
        angle = math.pi - (angle - 2.0 * REST)
    return -angle if s < 0.0 else angle
