"""States between the records of a run: Hermite interpolation of the increment from one record to the next.

With x = (t - t0) / h from 0 to 1, the increment d and its rates at both ends are met by the quintic polynomial

    d(x) = (10 x^3 - 15 x^4 + 6 x^5) d1 + (x - 6 x^3 + 8 x^4 - 3 x^5) h v0 + (-4 x^3 + 7 x^4 - 3 x^5) h d1_dot
           + (x^2 - 3 x^3 + 3 x^4 - x^5) h^2 v0_dot / 2 + (x^3 - 2 x^4 + x^5) h^2 d1_ddot / 2

[Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, II.6], with an error of h^6. The state is then
q = q0 o exp(d), v = T_exp(d) d_dot: on every node what its update makes of an increment (``mbd.nodes.between``).

Velocities have an error of h^5. For methods of higher order a third record, the one before or behind, is met as well by
x^3 (x - 1)^3 (c0 + c1 (x - x2) + c2 (x - x2)^2), which makes these errors h^9 and h^8.
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..nodes.between import node_between
from ..nodes.increments import apply_tangent
from .instant import advance

INCREMENT, RATE, SECOND, HERE, HERE_RATE, THIRD, THIRD_RATE, THIRD_SECOND = range(8)  # rows of the buffer
BUFFER_ROWS = 8


@kernel
def _quintic(x, p, r0, r1, s0, s1):
    """Value and first two derivatives of the polynomial, for h v0, h d1_dot, h^2 v0_dot, h^2 d1_ddot."""
    y, z = x * x, x * x * x
    value = z * (10.0 - 15.0 * x + 6.0 * y) * p + (x - z * (6.0 - 8.0 * x + 3.0 * y)) * r0
    value += -z * (4.0 - 7.0 * x + 3.0 * y) * r1
    value += 0.5 * y * (1.0 - 3.0 * x + 3.0 * y - z) * s0 + 0.5 * z * (1.0 - 2.0 * x + y) * s1
    rate = y * (30.0 - 60.0 * x + 30.0 * y) * p + (1.0 - y * (18.0 - 32.0 * x + 15.0 * y)) * r0
    rate += -y * (12.0 - 28.0 * x + 15.0 * y) * r1
    rate += 0.5 * x * (2.0 - 9.0 * x + 12.0 * y - 5.0 * z) * s0 + 0.5 * y * (3.0 - 8.0 * x + 5.0 * y) * s1
    second = x * (60.0 - 180.0 * x + 120.0 * y) * p - x * (36.0 - 96.0 * x + 60.0 * y) * r0
    second += -x * (24.0 - 84.0 * x + 60.0 * y) * r1
    second += (1.0 - 9.0 * x + 18.0 * y - 10.0 * z) * s0 + x * (3.0 - 12.0 * x + 10.0 * y) * s1
    return value, rate, second


@kernel
def _bump(x):
    """x^3 (x - 1)^3 and its first two derivatives."""
    u = x * (x - 1.0)
    slope = 2.0 * x - 1.0
    return u * u * u, 3.0 * u * u * slope, 6.0 * u * slope * slope + 6.0 * u * u


@kernel
def _meet_third(s, w, k, m, h, x, x2, t, q, v, vd, buffer):
    """Add to HERE and HERE_RATE, of the time x, what makes the polynomial meet the record m at x2 as well."""
    d, rate, second = buffer[THIRD], buffer[THIRD_RATE], buffer[THIRD_SECOND]
    for i in range(1, s.nodes.shape[0]):
        node_between(s.nodes[i], q[k], q[m], v[m], vd[m], d, rate, second, w.spin[i], w.scratch)
    b, b1, b2 = _bump(x2)
    a, a1, a2 = _bump(x)
    y = x - x2
    for i in range(d.shape[0]):
        p, r, c = _quintic(
            x2, buffer[INCREMENT, i], h * v[k, i], h * buffer[RATE, i], h * h * vd[k, i], h * h * buffer[SECOND, i]
        )
        c0 = (d[i] - p) / b
        c1 = (h * rate[i] - r - b1 * c0) / b
        c2 = 0.5 * (h * h * second[i] - c - b2 * c0 - 2.0 * b1 * c1) / b
        f = c0 + y * (c1 + y * c2)
        buffer[HERE, i] += a * f
        buffer[HERE_RATE, i] += (a1 * f + a * (c1 + 2.0 * y * c2)) / h


@kernel
def states_between(s, w, times, first, third, t, q, v, vd, buffer, out_q, out_v, doubt):
    """States at some times, each between the records first[j] and first[j] + 1; meets third[j] as well, if not -1.

    doubt[j]: largest difference of the quintic polynomial from the cubic one that knows no accelerations, for
    translations, rotations and generalized coordinates (by ``vclass``).
    """
    d, rate, second = buffer[INCREMENT], buffer[RATE], buffer[SECOND]
    known = -1
    for j in range(times.shape[0]):
        k = first[j]
        h = t[k + 1] - t[k]
        if k != known:
            for i in range(1, s.nodes.shape[0]):
                node_between(s.nodes[i], q[k], q[k + 1], v[k + 1], vd[k + 1], d, rate, second, w.spin[i], w.scratch)
            known = k
        x = (times[j] - t[k]) / h
        y, z = x * x, x * x * x
        b1, b2, b3 = z * (10.0 - 15.0 * x + 6.0 * y), x - z * (6.0 - 8.0 * x + 3.0 * y), -z * (4.0 - 7.0 * x + 3.0 * y)
        b4, b5 = 0.5 * y * (1.0 - 3.0 * x + 3.0 * y - z), 0.5 * z * (1.0 - 2.0 * x + y)
        c1, c2 = y * (30.0 - 60.0 * x + 30.0 * y), 1.0 - y * (18.0 - 32.0 * x + 15.0 * y)
        c3, c4 = -y * (12.0 - 28.0 * x + 15.0 * y), 0.5 * x * (2.0 - 9.0 * x + 12.0 * y - 5.0 * z)
        c5 = 0.5 * y * (3.0 - 8.0 * x + 5.0 * y)
        a1, a2, a3 = y * (3.0 - 2.0 * x), x * (1.0 - 2.0 * x + y), y * (x - 1.0)  # cubic
        for m in range(3):
            doubt[j, m] = 0.0
        for i in range(d.shape[0]):
            p, r0, r1 = d[i], h * v[k, i], h * rate[i]
            s0, s1 = h * h * vd[k, i], h * h * second[i]
            here = b1 * p + b2 * r0 + b3 * r1 + b4 * s0 + b5 * s1
            buffer[HERE, i] = here
            buffer[HERE_RATE, i] = (c1 * p + c2 * r0 + c3 * r1 + c4 * s0 + c5 * s1) / h
            kind = s.vclass[i]
            doubt[j, kind] = max(doubt[j, kind], abs(here - a1 * p - a2 * r0 - a3 * r1))
        if third[j] >= 0:
            _meet_third(s, w, k, third[j], h, x, (t[third[j]] - t[k]) / h, t, q, v, vd, buffer)
        advance(s, w, q[k], buffer[HERE], out_q[j])
        apply_tangent(s.nodes, buffer[HERE], buffer[HERE_RATE], out_v[j], w.spin[0])
