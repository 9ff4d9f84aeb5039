"""Forces as functions of one coordinate u and its rate: springs, controls, friction, limits; at an instant and over a
step.

A tension f acts against the coordinate: the generalised force is ``-f grad u``. Each law says which part of f is the
derivative of an energy, and what f changes by with u and u_dot. Over a step from u0 to u1 a law is taken in the middle,
with the secant rate (u1 - u0)/h; limits give the quotient of their energy, (V1 - V0)/(u1 - u0), for which the
quotients of linear springs are those of the middle already.
"""

from __future__ import annotations

import math

from ..compiled.functions.calls import call_vector
from ..compiled.kernel import kernel
from .kinds import FRICTION, LIMIT, LINEAR

TINY = 1e-30  # imaginary step


@kernel
def stores_energy(e):
    """Whether a linear law is a spring, with a damper at most, and nothing that drives or limits it."""
    return e.function < 0 and e.feed < 0 and e.p4 == 0.0 and e.p5 == 0.0


@kernel
def _linear(e, u, rate, values):
    """k (u - u0) + c (u_dot - u0_dot) - F, cut off: k, u0, c, F and the limit (0: none) in p1 to p5."""
    if stores_energy(e):
        return e.p1 * (u - e.p2), e.p3 * rate, e.p1, e.p3
    du, dr = e.p1, e.p3
    if e.function >= 0:
        f = e.p1 * (u - values[e.function]) + e.p3 * (rate - values[e.function + 1])
    else:
        f = e.p1 * (u - e.p2) + e.p3 * rate
    f -= e.p4
    if e.feed >= 0:
        f -= values[e.feed]
        if e.call >= 0:
            du, dr = du - values[e.feed + 1], dr - values[e.feed + 2]
    if e.p5 > 0.0 and abs(f) > e.p5:
        return 0.0, math.copysign(e.p5, f), 0.0, 0.0
    return 0.0, f, du, dr


@kernel
def _friction(e, rate):
    """c v + (F + dF exp(-(v/vs)^2)) tanh(v/v0): viscous, Coulomb's, Stribeck's friction; c, F, dF, vs, v0 in p1 to p5.

    [Armstrong-Helouvry, Dupont & Canudas de Wit 1994, Automatica 30, 1083; tanh for the sign of v]
    """
    t = math.tanh(rate / e.p5)
    more = e.p3 * math.exp(-((rate / e.p4) ** 2)) if e.p3 != 0.0 else 0.0
    level = e.p2 + more
    slope = level * (1.0 - t * t) / e.p5
    if more != 0.0:
        slope -= 2.0 * rate / (e.p4 * e.p4) * more * t
    return 0.0, e.p1 * rate + level * t, 0.0, e.p1 + slope


@kernel
def _beyond(e, u):
    """How far u is beyond its limits p2 and p4, with sign."""
    if u > e.p4:
        return u - e.p4
    return u - e.p2 if u < e.p2 else 0.0


@kernel
def _damped(elastic, slope, damping, rate):
    """(c v, its derivatives with respect to u and v), never larger than the elastic force, whose derivative is slope.

    The sum of both then begins at zero, and never pulls.
    """
    f, most = damping * rate, abs(elastic)
    if abs(f) <= most:
        return f, 0.0, damping
    sign = math.copysign(1.0, f)
    return sign * most, sign * math.copysign(1.0, elastic) * slope, 0.0


@kernel
def _limit(e, u, rate):
    """k x + c x_dot beyond a limit, where the second part is no larger than the first; k, c in p1, p3."""
    x = _beyond(e, u)
    if x == 0.0:
        return 0.0, 0.0, 0.0, 0.0
    f, du, dr = _damped(e.p1 * x, e.p1, e.p3, rate)
    return e.p1 * x, f, e.p1 + du, dr


@kernel
def tension(e, u, rate, values):
    """(elastic part, all else, df/du, df/du_dot) of the tension f, which is the sum of the first two."""
    if e.law == LINEAR:
        return _linear(e, u, rate, values)
    if e.law == FRICTION:
        return _friction(e, rate)
    return _limit(e, u, rate)


@kernel
def stored(e, u):
    """Energy of the elastic part."""
    if e.law == LIMIT:
        x = _beyond(e, u)
        return 0.5 * e.p1 * x * x
    if e.law == LINEAR and stores_energy(e):
        return 0.5 * e.p1 * (u - e.p2) * (u - e.p2)
    return 0.0


@kernel
def tension_between(e, u0, u1, h, values):
    """(f, df/du1) over a step."""
    rate = (u1 - u0) / h
    if e.law != LIMIT:
        elastic, other, du, dr = tension(e, 0.5 * (u0 + u1), rate, values)
        return elastic + other, 0.5 * du + dr / h
    x0, x1 = _beyond(e, u0), _beyond(e, u1)
    if x0 * x1 > 0.0:
        elastic, slope = 0.5 * e.p1 * (x0 + x1), 0.5 * e.p1
    elif x0 == 0.0 and x1 == 0.0:
        return 0.0, 0.0
    else:  # u1 - u0 is at least as large as x1 - x0
        elastic = 0.5 * e.p1 * (x0 + x1) * ((x1 - x0) / (u1 - u0))
        slope = (e.p1 * x1 - elastic) / (u1 - u0)
    f, du, dr = _damped(elastic, slope, e.p3, rate)
    return elastic + f, slope + du + dr / h


# --- functions of users ---------------------------------------------------------------------------------------------


@kernel
def call_law(e, functions, t, u, rate, derivatives, user, values):
    """values[feed:] = what the function of an element returns, and if asked for, derivatives; ``user`` is scratch."""
    k = e.feed
    if derivatives == 0:
        user[0], user[1], user[2] = t, u, rate
        f = functions[e.call]
        call_vector(f.address, user.ctypes.data, values[k:].ctypes.data, f.block)
        return
    f = functions[e.dual]
    user[0], user[2], user[4] = t, u, rate
    user[1] = 0.0
    for i in range(2):
        user[3] = TINY if i == 0 else 0.0
        user[5] = TINY if i == 1 else 0.0
        call_vector(f.address, user.ctypes.data, user[6:].ctypes.data, f.block)
        values[k] = user[6]
        values[k + 1 + i] = user[7] / TINY
