"""Frame elements: anything that is a function of the frames of several bodies, differentiated by the complex step.

An element gives frame forces f(t, z, z_dot, lambda), and if it is a constraint its value and its rate B v + g_t. All
that the rest of the toolkit needs follows from directional derivatives: a column of the tangent is the derivative of
f along an increment of one body, a column of B the rate along it, the acceleration level the derivative of the rate
along the motion. These are exact (an imaginary step of 1e-30) for built-in elements and for user functions that
accept complex numbers; potentials and user constraints, whose forces are derivatives already, take differences of
them. Columns of the matrix are in ``mbd.system.frame_tangents``.

Over a step (w.time[1] = h > 0) w.z are averaged frames and w.zd the secant (z1 - z0)/h. Laws, drag and user forces are
evaluated there, in the middle of the step; what has an energy gives a discrete gradient: built-in laws an exact one
(``mbd.forces.frame_laws``), user potentials and constraints that of Gonzalez with the weights W,

    F = V_z(zm) + c W dz,   c = (V1 - V0 - V_z(zm).dz) / (dz.W dz)        [Gonzalez 1996, J. Nonlinear Sci. 6, 449]

Constraints are taken at the time of the end, w.time[0], forces half a step earlier.

Buffers (w.real_buffers, w.complex_buffers), one row each: INPUT = (t, frames, velocities) as user functions receive
them, RATE = frame velocities, FORCE = frame forces, OUT = results of functions. Rates along the
motion, and their changes, are in ``mbd.system.frame_rates``.
"""

from __future__ import annotations

from ..compiled.functions.calls import call_vector
from ..compiled.kernel import kernel
from ..elements.frame_kinds import HOLDING, LAW_SPRING, ROLLING, USER_CONSTRAINT, USER_FORCE, USER_POTENTIAL
from ..forces.frame_laws import has_energy, holding_loads, native_energy, native_force, push_pair, separation
from ..joints.rolling_instant import rolling_force, rolling_rate, rolling_value
from ..joints.rolling_over_step import rolling_force_over_step, rolling_rate_over_step
from ..nodes.markers import angular_velocity, axes_volume, cross_axes
from .tables import PARAMETER_LENGTH

INPUT, RATE, FORCE, OUT, DIRECTION, DIRECTION_RATE, BIAS, SUM, END = 0, 1, 2, 3, 4, 5, 6, 7, 8
FIRST, SECOND, LOWER, BOW = 9, 10, 11, 12
BUFFERS = 13
TINY = 1e-30
STEP = 2e-4  # of fourth-order differences
REST = 1e-10  # square of a relative motion in a step below which V1 - V0 - V_z.dz, cubic in it, is round-off
FINE_STEP = 6e-6  # of second-order differences of exact gradients


# --- values and rates -----------------------------------------------------------------------------------------------


@kernel
def gather(g, s, w):
    """Time, frames and frame velocities of an element into the real buffer."""
    x, xd = w.real_buffers[INPUT], w.real_buffers[RATE]
    x[0] = w.time[0] - (0.5 * w.time[1] if g.rows == 0 else 0.0)
    for i in range(g.count):
        n = s.members[g.first + i]
        for m in range(12):
            x[1 + 12 * i + m] = w.z[n, m]
            xd[12 * i + m] = w.zd[n, m]


@kernel
def shifted(g, buffers, target, c, direction, direction_rate, time):
    """target = buffers + c (direction): a shifted copy of INPUT and RATE; c may be imaginary."""
    target[INPUT, 0] = buffers[INPUT, 0] + c * time
    for m in range(12 * g.count):
        target[INPUT, 1 + m] = buffers[INPUT, 1 + m] + c * direction[m]
        target[RATE, m] = buffers[RATE, m] + c * direction_rate[m]


@kernel
def _body_velocities(g, x, xd):
    """Velocity of the reference point and angular velocity behind the frames."""
    k = g.count
    for i in range(k):
        o, z, d = 1 + 12 * k + 6 * i, 1 + 12 * i, 12 * i
        for m in range(3):
            x[o + m] = xd[d + m]
        x[o + 3], x[o + 4], x[o + 5] = angular_velocity(x[z:], xd[d:])


@kernel
def _apply_loads(g, h, buffers):
    """Frame forces (sign of the residual) of forces and torques in OUT, one after the other for each body.

    A torque acts on the axes as tau x d_i / 2; over a step, where averaged axes are not orthonormal, with the
    reciprocal axes in their place, so that its angular impulse is exact.
    """
    x, f, out = buffers[INPUT], buffers[FORCE], buffers[OUT]
    for i in range(g.count):
        o, z = 6 * i, 1 + 12 * i + 3
        t1, t2, t3 = out[o + 3], out[o + 4], out[o + 5]
        half = 0.5 + 0.0 * x[z]
        if h != 0.0:
            half = 0.5 / axes_volume(x[1 + 12 * i :])
        for m in range(3):
            f[12 * i + m] -= out[o + m]
            k, a, b = 12 * i + 3 + 3 * m, z + 3 * ((m + 1) % 3), z + 3 * ((m + 2) % 3)
            d1, d2, d3 = half * x[z + 3 * m], half * x[z + 3 * m + 1], half * x[z + 3 * m + 2]
            if h != 0.0:
                d1, d2, d3 = cross_axes(x, a, x, b)
                d1, d2, d3 = half * d1, half * d2, half * d3
            f[k] -= t2 * d3 - t3 * d2
            f[k + 1] -= t3 * d1 - t1 * d3
            f[k + 2] -= t1 * d2 - t2 * d1


@kernel
def _law_force(g, s, function, buffers):
    """Frame forces of a spring with a user's law: tension as a function of length and rate."""
    x, xd, f, out = buffers[INPUT], buffers[RATE], buffers[FORCE], buffers[OUT]
    c = s.constants[g.p0 :]
    d1, d2, d3 = separation(c, x[1:], x[13:])
    r1, r2, r3 = separation(c, xd, xd[12:])
    length = (d1 * d1 + d2 * d2 + d3 * d3) ** 0.5
    out[0] = length
    out[1] = (d1 * r1 + d2 * r2 + d3 * r3) / length
    law = s.functions[function]
    call_vector(law.address, out.ctypes.data, out[2:].ctypes.data, law.block)
    k = out[2] / length
    push_pair(c, k * d1, k * d2, k * d3, f, f[12:])


@kernel
def _native_force(g, s, h, buffers, lam):
    """Frame forces of built-in elements, real or complex."""
    x, xd, f = buffers[INPUT], buffers[RATE], buffers[FORCE]
    c = s.constants[g.p0 :]
    if g.kind == ROLLING and h != 0.0:
        rolling_force_over_step(c, x[1:], x[13:], xd, xd[12:], h, lam[g.l0 :], f, f[12:])
    elif g.kind == ROLLING:
        rolling_force(c, x[1:], x[13:], lam[g.l0 :], f, f[12:])
    elif g.kind == HOLDING:
        holding_loads(c, x[1:], g.count, buffers[OUT])
        _apply_loads(g, h, buffers)
    elif g.kind != LAW_SPRING:
        native_force(g.kind, c, x[1:], xd, h, f)


@kernel
def _clear_force(g, buffers):
    for m in range(12 * g.count):
        buffers[FORCE, m] = 0.0


@kernel
def call_user(s, function, buffers):
    f = s.functions[function]
    call_vector(f.address, buffers[INPUT].ctypes.data, buffers[OUT].ctypes.data, f.block)


@kernel
def complex_force(g, s, w, lam):
    """FORCE of the complex buffer from its INPUT and RATE."""
    _clear_force(g, w.complex_buffers)
    if g.kind == USER_FORCE:
        _body_velocities(g, w.complex_buffers[INPUT], w.complex_buffers[RATE])
        call_user(s, g.complex_function, w.complex_buffers)
        _apply_loads(g, w.time[1], w.complex_buffers)
    elif g.kind == LAW_SPRING:
        _law_force(g, s, g.complex_function, w.complex_buffers)
    else:
        _native_force(g, s, w.time[1], w.complex_buffers, lam)


@kernel
def frame_element_force(g, s, w, lam):
    """FORCE of the real buffer from its INPUT and RATE."""
    _clear_force(g, w.real_buffers)
    if g.kind == USER_FORCE:
        _body_velocities(g, w.real_buffers[INPUT], w.real_buffers[RATE])
        call_user(s, g.function, w.real_buffers)
        _apply_loads(g, w.time[1], w.real_buffers)
    elif g.kind == USER_POTENTIAL or g.kind == USER_CONSTRAINT:
        frame_gradient(g, s, w, lam)
        if w.time[1] != 0.0:
            c, square = gonzalez_factor(g, s, w, lam)
            for m in range(12 * g.count):
                w.real_buffers[FORCE, m] += c * gonzalez_weight(s, m) * w.time[1] * w.real_buffers[RATE, m]
    elif g.kind == LAW_SPRING:
        _law_force(g, s, g.function, w.real_buffers)
    else:
        _native_force(g, s, w.time[1], w.real_buffers, lam)


@kernel
def _weighted(g, out, lam):
    """Energy, or lambda . g."""
    if g.kind == USER_POTENTIAL:
        return out[0]
    total = 0.0 * out[0]
    for j in range(g.rows):
        total += lam[g.l0 + j] * out[j]
    return total


@kernel
def first_used(g):
    """Where the list of the entries of frames begins that a potential or constraint depends on."""
    return g.joint_blocks + (4 * g.count if g.rows > 0 else 0)


@kernel
def _value_at(g, s, w, lam, c):
    """Energy, or lambda . g, at z + c z_dot; INPUT comes back changed by round-off only."""
    x, xd = w.real_buffers[INPUT], w.real_buffers[RATE]
    for m in range(12 * g.count):
        x[1 + m] += c * xd[m]
    call_user(s, g.function, w.real_buffers)
    for m in range(12 * g.count):
        x[1 + m] -= c * xd[m]
    return _weighted(g, w.real_buffers[OUT], lam)


@kernel
def gonzalez_weight(s, m):
    """Weight W of a component of a frame: positions count in units of the characteristic length."""
    length = s.parameters[PARAMETER_LENGTH]
    return 1.0 / (length * length) if m % 12 < 3 else 1.0


@kernel
def gonzalez_factor(g, s, w, lam):
    """(c, dz.W dz); FORCE must be the gradient in the middle. Nothing is to correct where nothing moves."""
    h = w.time[1]
    square, power = 0.0, 0.0
    for m in range(12 * g.count):
        rate = w.real_buffers[RATE, m]
        square += gonzalez_weight(s, m) * h * h * rate * rate
        power += w.real_buffers[FORCE, m] * h * rate
    if square < REST:
        return 0.0, 0.0
    change = _value_at(g, s, w, lam, 0.5 * h) - _value_at(g, s, w, lam, -0.5 * h)
    return (change - power) / square, square


@kernel
def frame_gradient(g, s, w, lam):
    """FORCE = derivative of the energy, or of lambda . g, with respect to the frames."""
    x, f = w.real_buffers[INPUT], w.real_buffers[FORCE]
    if g.complex_function >= 0:
        _clear_force(g, w.real_buffers)
        c = w.complex_buffers[INPUT]
        for m in range(12 * g.count + 1):
            c[m] = x[m]
        used = first_used(g)
        for k in range(g.uses):
            m = s.members[used + k]
            c[1 + m] = x[1 + m] + TINY * 1j
            call_user(s, g.complex_function, w.complex_buffers)
            c[1 + m] = x[1 + m]
            f[m] = _weighted(g, w.complex_buffers[OUT], lam).imag / TINY
        return
    h = STEP
    for m in range(12 * g.count):
        before, total = x[1 + m], 0.0
        for p in range(4):
            x[1 + m] = before + (2.0, 1.0, -1.0, -2.0)[p] * h
            call_user(s, g.function, w.real_buffers)
            total += (-1.0, 8.0, -8.0, 1.0)[p] * _weighted(g, w.real_buffers[OUT], lam)
        x[1 + m] = before
        f[m] = total / (12.0 * h)


@kernel
def frame_element_value(g, s, w):
    """OUT = g(z, t), or the energy of a potential."""
    x = w.real_buffers[INPUT]
    if g.kind == ROLLING:
        rolling_value(s.constants[g.p0 :], x[1:], x[13:], w.real_buffers[OUT])
    else:
        call_user(s, g.function, w.real_buffers)


@kernel
def rate_along(g, s, w, direction, time):
    """SUM = derivative of g along (direction, time) at INPUT; in time of what can be compiled only."""
    total = w.real_buffers[SUM]
    if g.kind == ROLLING:
        x = w.real_buffers[INPUT]
        rolling_rate(s.constants[g.p0 :], x[1:], x[13:], direction, direction[12:], total)
        return
    if g.complex_function >= 0:
        shifted(g, w.real_buffers, w.complex_buffers, TINY * 1j, direction, direction, time)
        call_user(s, g.complex_function, w.complex_buffers)
        for j in range(g.rows):
            total[j] = w.complex_buffers[OUT, j].imag / TINY
        return
    size = 0.0
    for m in range(12 * g.count):
        size = max(size, abs(direction[m]))
    for j in range(g.rows):
        total[j] = 0.0
    if size == 0.0:
        return
    h = STEP / size
    x = w.real_buffers[INPUT]
    for p in range(4):
        step = (2.0, -1.0, -2.0, -1.0)[p] * h  # moves on to +2h, +h, -h, -2h and back
        for m in range(12 * g.count):
            x[1 + m] += step * direction[m]
        call_user(s, g.function, w.real_buffers)
        for j in range(g.rows):
            total[j] += (-1.0, 8.0, -8.0, 1.0)[p] * w.real_buffers[OUT, j] / (12.0 * h)
    for m in range(12 * g.count):
        x[1 + m] += 2.0 * h * direction[m]


@kernel
def slip_over_step(g, s, w, x, o):
    """x[o:] = what the nonholonomic rows say about a step: how far it slips; after ``gather``."""
    z, zd, h, out = w.real_buffers[INPUT], w.real_buffers[RATE], w.time[1], w.real_buffers[OUT]
    rolling_rate_over_step(s.constants[g.p0 :], z[1:], z[13:], zd, zd[12:], h, out)
    for j in range(1, g.rows):  # the first row is the distance, which is met at the end
        x[o + j] = h * out[j]


@kernel
def distance_along_end(g, s, w, z1, direction):
    """SUM[0] = change of the distance of rolling at the end of a step, for frames that need not be orthonormal."""
    a, b = s.members[g.first], s.members[g.first + 1]
    rolling_rate(s.constants[g.p0 :], z1[a], z1[b], direction, direction[12:], w.real_buffers[SUM])


@kernel
def rows_along_over_step(g, s, w, direction, direction_rate):
    """SUM = change of the rows of rolling over a step as averaged frames and secants change; after ``gather``."""
    shifted(g, w.real_buffers, w.complex_buffers, TINY * 1j, direction, direction_rate, 0.0)
    z, zd, out = w.complex_buffers[INPUT], w.complex_buffers[RATE], w.complex_buffers[OUT]
    rolling_rate_over_step(s.constants[g.p0 :], z[1:], z[13:], zd, zd[12:], w.time[1], out)
    for j in range(g.rows):
        w.real_buffers[SUM, j] = w.time[1] * out[j].imag / TINY


# --- energy and power -----------------------------------------------------------------------------------------------


@kernel
def frame_element_energy(g, s, w):
    """Potential energy, zero for what has none (buffers must be loaded)."""
    if g.kind == USER_POTENTIAL:
        call_user(s, g.function, w.real_buffers)
        return w.real_buffers[OUT, 0]
    if has_energy(g.kind):
        return native_energy(g.kind, s.constants[g.p0 :], w.real_buffers[INPUT][1:])
    return 0.0


@kernel
def frame_element_power(g, s, w):
    """(power of the element, power of its part without a potential); FORCE must be up to date."""
    power = 0.0
    for m in range(12 * g.count):
        power -= w.real_buffers[FORCE, m] * w.real_buffers[RATE, m]
    if g.kind == USER_POTENTIAL:
        return power, 0.0
    stored = 0.0
    if has_energy(g.kind):
        shifted(g, w.real_buffers, w.complex_buffers, TINY * 1j, w.real_buffers[RATE], w.real_buffers[RATE], 0.0)
        stored = native_energy(g.kind, s.constants[g.p0 :], w.complex_buffers[INPUT][1:]).imag / TINY
    return power, power + stored
