"""States between the records of a run: Hermite interpolation of the increment from one record to the next.

With x = (t - t0) / h from 0 to 1, the increment d and its rates at both ends are met by the quintic polynomial

    d(x) = (10 x^3 - 15 x^4 + 6 x^5) d1 + (x - 6 x^3 + 8 x^4 - 3 x^5) h v0 + (-4 x^3 + 7 x^4 - 3 x^5) h d1_dot
           + (x^2 - 3 x^3 + 3 x^4 - x^5) h^2 v0_dot / 2 + (x^3 - 2 x^4 + x^5) h^2 d1_ddot / 2

[Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, II.6], with an error of h^6. The state is then
q = q0 o exp(d), v = T_exp(d) d_dot: on every node what its update makes of an increment (``mbd.nodes.between``).

Velocities have an error of h^5. For methods of higher order further records, before and behind, are met as well: with
the times x0 = 0, x1 = 1, x2, ... of n records, each of them adds a polynomial that vanishes with two derivatives at
those before it,

    prod_{l < m} (x - x_l)^3 (c0 + c1 (x - x_m) + c2 (x - x_m)^2),

which makes these errors h^(3 n) and h^(3 n - 1).
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..nodes.between import node_between
from ..nodes.increments import apply_tangent
from .instant import advance

MOST_FURTHER = 3  # records besides the two around a time: order 14
INCREMENT, RATE, SECOND, HERE, HERE_RATE, THERE, THERE_RATE, THERE_SECOND, FURTHER = range(9)  # rows of the buffer
BUFFER_ROWS = FURTHER + 3 * MOST_FURTHER  # c0, c1, c2 of every further record


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
def _bump(x, places, m):
    """prod_{l < m} (x - places[l])^3 and its first two derivatives."""
    u, slope, bend = 1.0, 0.0, 0.0
    for k in range(m):
        y = x - places[k]
        bend = bend * y + 2.0 * slope
        slope = slope * y + u
        u *= y
    return u * u * u, 3.0 * u * u * slope, 6.0 * u * slope * slope + 3.0 * u * u * bend


@kernel
def _added(x, places, m, c0, c1, c2):
    """Value and first two derivatives of what the further record m adds."""
    b, b1, b2 = _bump(x, places, m)
    y = x - places[m]
    f, f1 = c0 + y * (c1 + y * c2), c1 + 2.0 * y * c2
    return b * f, b1 * f + b * f1, b2 * f + 2.0 * b1 * f1 + 2.0 * b * c2


@kernel
def _meet_further(s, w, k, m, record, h, places, q, v, vd, buffer):
    """c0, c1, c2 with which the polynomial meets a record as well, the one of number m, at places[m]."""
    d, rate, second = buffer[THERE], buffer[THERE_RATE], buffer[THERE_SECOND]
    for i in range(1, s.nodes.shape[0]):
        node_between(s.nodes[i], q[k], q[record], v[record], vd[record], d, rate, second, w.spin[i], w.scratch)
    x, row = places[m], FURTHER + 3 * (m - 2)
    b, b1, b2 = _bump(x, places, m)
    for i in range(d.shape[0]):
        p, r, c = _quintic(
            x, buffer[INCREMENT, i], h * v[k, i], h * buffer[RATE, i], h * h * vd[k, i], h * h * buffer[SECOND, i]
        )
        for before in range(2, m):
            o = FURTHER + 3 * (before - 2)
            p1, r1, c1 = _added(x, places, before, buffer[o, i], buffer[o + 1, i], buffer[o + 2, i])
            p, r, c = p + p1, r + r1, c + c1
        c0 = (d[i] - p) / b
        c1 = (h * rate[i] - r - b1 * c0) / b
        buffer[row, i], buffer[row + 1, i] = c0, c1
        buffer[row + 2, i] = 0.5 * (h * h * second[i] - c - b2 * c0 - 2.0 * b1 * c1) / b


@kernel
def states_between(s, w, times, first, further, t, q, v, vd, buffer, places, out_q, out_v, doubt):
    """States at some times, each between the records first[j] and first[j] + 1; meets further[j] as well, up to a -1.

    Further records are the same wherever the first one is.

    doubt[j]: largest difference of the quintic polynomial from the cubic one that knows no accelerations, for
    translations, rotations and generalized coordinates (by ``vclass``).
    """
    d, rate, second = buffer[INCREMENT], buffer[RATE], buffer[SECOND]
    known, met = -1, 2
    places[0], places[1] = 0.0, 1.0
    for j in range(times.shape[0]):
        k = first[j]
        h = t[k + 1] - t[k]
        if k != known:
            for i in range(1, s.nodes.shape[0]):
                node_between(s.nodes[i], q[k], q[k + 1], v[k + 1], vd[k + 1], d, rate, second, w.spin[i], w.scratch)
            known, met = k, 2
            while met < places.shape[0] and further[j, met - 2] >= 0:
                places[met] = (t[further[j, met - 2]] - t[k]) / h
                _meet_further(s, w, k, met, further[j, met - 2], h, places, q, v, vd, buffer)
                met += 1
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
        for m in range(2, met):
            o = FURTHER + 3 * (m - 2)
            for i in range(d.shape[0]):
                value, slope, _ = _added(x, places, m, buffer[o, i], buffer[o + 1, i], buffer[o + 2, i])
                buffer[HERE, i] += value
                buffer[HERE_RATE, i] += slope / h
        advance(s, w, q[k], buffer[HERE], out_q[j])
        apply_tangent(s.nodes, buffer[HERE], buffer[HERE_RATE], out_v[j], w.spin[0])
