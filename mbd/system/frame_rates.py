"""How constraints of frames change along the motion: their rates, and the derivatives of these.

Functions that are compiled are differentiated by the complex step; those that are called as plain Python by differences
of their values: of first order along the frames and along the time, of second order along z + s z_dot + s^2/2 z_bias at
the time t + s. Steps in time suit the pace of the function (``mbd.compiled.functions.call_styles``).
"""

from __future__ import annotations

from ..compiled.functions.call_styles import AGREEMENT, GOLDEN, LARGE, ROUND_OFF, SHORTER, TRIALS
from ..compiled.kernel import kernel
from ..elements.frame_kinds import ROLLING
from ..joints.rolling_instant import rolling_rate
from .frame_elements import (
    BIAS,
    BOW,
    DIRECTION,
    DIRECTION_RATE,
    END,
    FIRST,
    INPUT,
    LOWER,
    OUT,
    RATE,
    SECOND,
    STEP,
    SUM,
    TINY,
    call_user,
    gather,
    rate_along,
    shifted,
)  # fmt: skip


@kernel
def frame_element_rate(g, s, w, time, x, o):
    """x[o:] = B v (time = 0) or B v + g_t (time = 1)."""
    gather(g, s, w)
    by_differences = g.kind != ROLLING and g.complex_function < 0 and time != 0.0
    if by_differences:
        _differences(g, s, w, 0.0)
    rate_along(g, s, w, w.real_buffers[RATE], time)
    for j in range(g.rows):
        x[o + j] = w.real_buffers[SUM, j] + (w.real_buffers[FIRST, j] if by_differences else 0.0)


@kernel
def frame_element_bias(g, s, w, x, o):
    """x[o:] = gamma: the derivative of the rate along the motion at zero coordinate acceleration.

    Of users' constraints that are compiled a difference of fourth order; where they depend on time, its step is the
    first that suits their pace, where differences of second order at two steps agree
    (``mbd.compiled.functions.call_styles`` says why). Of others the second derivative of their values.
    """
    gather(g, s, w)
    zb = w.real_buffers[BIAS]
    for i in range(g.count):
        for m in range(12):
            zb[12 * i + m] = w.zb[s.members[g.first + i], m]
    if g.kind == ROLLING:
        shifted(g, w.real_buffers, w.complex_buffers, TINY * 1j, w.real_buffers[RATE], zb, 0.0)
        c, d = w.complex_buffers[INPUT], w.complex_buffers[RATE]
        rolling_rate(s.constants[g.p0 :], c[1:], c[13:], d, d[12:], w.complex_buffers[OUT])
        for j in range(g.rows):
            x[o + j] = w.complex_buffers[OUT, j].imag / TINY
        return
    if g.complex_function < 0:
        _differences(g, s, w, 1.0)
        for j in range(g.rows):
            x[o + j] = w.real_buffers[SECOND, j]
        return
    size = 1.0
    for m in range(12 * g.count):
        size = max(size, abs(w.real_buffers[RATE, m]))
    h = 10.0 * STEP / size
    pace = _drift(g, s, w, h)
    grain = (size + pace) * ROUND_OFF
    near, far, other = w.real_buffers[DIRECTION], w.real_buffers[DIRECTION_RATE], w.real_buffers[END]
    for trial in range(TRIALS):
        if pace > 0.0:  # a step that is not rounded beside the time
            exact = (abs(w.time[0]) + h) - abs(w.time[0])
            h = exact if exact > 0.5 * h else h
        _rates_apart(g, s, w, h, near)
        _rates_apart(g, s, w, 2.0 * h, far)
        suits = True
        if pace > 0.0:
            _rates_apart(g, s, w, GOLDEN * h, other)
            for j in range(g.rows):
                bias = (8.0 * near[j] - far[j]) / (12.0 * h)
                slack = AGREEMENT * abs(bias) + grain / h
                suits = suits and abs(bias - near[j] / (2.0 * h)) <= slack
                suits = suits and abs(bias - other[j] / (2.0 * GOLDEN * h)) <= slack
        if suits or trial == 0:  # where no step suits, at a kink, the first one
            for j in range(g.rows):
                x[o + j] = (8.0 * near[j] - far[j]) / (12.0 * h)
        if suits:
            break
        h *= SHORTER


@kernel
def _drift(g, s, w, h):
    """How fast the rows change with time alone; zero where they do not depend on it."""
    still, total, fastest = w.real_buffers[DIRECTION], w.real_buffers[SUM], 0.0
    for m in range(12 * g.count):
        still[m] = 0.0
    for shift in (0.0, GOLDEN * h):
        w.real_buffers[INPUT, 0] += shift
        rate_along(g, s, w, still, 1.0)
        for j in range(g.rows):
            fastest = max(fastest, abs(total[j]))
    return fastest


@kernel
def _rates_apart(g, s, w, step, out):
    """out = rates a step later less those a step earlier, along the motion z + s z_dot + s^2/2 z_bias."""
    general, zb = w.real_buffers, w.real_buffers[BIAS]
    for j in range(g.rows):
        out[j] = 0.0
    for sign in (1.0, -1.0):
        c = sign * step
        gather(g, s, w)
        for m in range(12 * g.count):
            general[INPUT, 1 + m] += c * general[RATE, m] + 0.5 * c * c * zb[m]
            general[RATE, m] += c * zb[m]
        general[INPUT, 0] += c
        rate_along(g, s, w, general[RATE], 1.0)
        for j in range(g.rows):
            out[j] += sign * general[SUM, j]


@kernel
def _differences(g, s, w, moving):
    """FIRST = derivative of g with time alone (moving = 0), or SECOND = second one along the motion (moving = 1).

    The step is the first at which differences of sixth order and two of fourth order agree, or, at a kink, the first.
    """
    t, size, scale = abs(w.time[0]), 1.0, 1.0  # of axes
    for m in range(12 * g.count):
        size = max(size, moving * abs(w.real_buffers[RATE, m]))
        scale = max(scale, abs(w.real_buffers[INPUT, 1 + m]))
    h = max(10.0 * STEP / size, t / LARGE)
    for trial in range(TRIALS + 1):
        last = trial == TRIALS
        if last:  # none suits
            h = max(10.0 * STEP / size, t / LARGE)
        h = (t + h) - t
        _sampled(g, s, w, h, 3, moving)
        suits = _agree(g, w, t, h, scale, 1.0, moving)
        if suits:
            _sampled(g, s, w, (t + GOLDEN * h) - t, 2, moving)
            suits = _agree(g, w, t, h, scale, 3.0, moving)
        if suits or last:
            break
        h *= SHORTER


@kernel
def _agree(g, w, t, h, scale, more, moving):
    """Whether differences of sixth order and those of fourth order are the same, up to round-off."""
    for j in range(g.rows):
        slope, bend = w.real_buffers[FIRST, j], w.real_buffers[SECOND, j]
        noise = more * ROUND_OFF * max(scale, 0.2 * abs(t * slope)) / h
        if moving == 0.0 and abs(slope - w.real_buffers[LOWER, j]) > AGREEMENT * (abs(slope) + h * abs(bend)) + noise:
            return False
        if moving != 0.0 and abs(bend - w.real_buffers[BOW, j]) > AGREEMENT * abs(bend) + noise / h:
            return False
    return True


@kernel
def _sampled(g, s, w, h, count, moving):
    """LOWER, BOW, and with three steps to each side FIRST, SECOND."""
    x, zb, out = w.real_buffers[INPUT], w.real_buffers[BIAS], w.real_buffers[OUT]
    rows = w.real_buffers
    for n in range(FIRST if count == 3 else LOWER, BOW + 1):
        for j in range(g.rows):
            rows[n, j] = 0.0
    for i in range(-count, count + 1):
        c, k, odd = i * h, abs(i), (1.0 if i > 0 else -1.0) / h
        gather(g, s, w)
        for m in range(12 * g.count):
            x[1 + m] += moving * (c * rows[RATE, m] + 0.5 * c * c * zb[m])
        x[0] += c
        call_user(s, g.function, rows)
        for j in range(g.rows):
            rows[LOWER, j] += odd * (0.0, 2.0 / 3.0, -1.0 / 12.0, 0.0)[k] * out[j]
            rows[BOW, j] += (-2.5, 4.0 / 3.0, -1.0 / 12.0, 0.0)[k] * out[j] / (h * h)
            if count == 3:
                rows[FIRST, j] += odd * (0.0, 0.75, -0.15, 1.0 / 60.0)[k] * out[j]
                rows[SECOND, j] += (-49.0 / 18.0, 1.5, -0.15, 1.0 / 90.0)[k] * out[j] / (h * h)
    gather(g, s, w)
