"""First guesses of the GGL integrators."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...math.arrays import clear, copy
from ..directors.linear_frames import extrapolate
from ..newton_numbers import MEMORY_HISTORY
from .equations import ACCELERATED, AT_REST, C_FOLLOWS, EM, EULER, PAST, SCHEME, UNIFORM, scaled

NEARER = 2.0  # how much nearer to the solution than the extrapolation another first guess has to be


@kernel
def _base(x, k):
    """What the increment would be without gamma'."""
    c = x.c[C_FOLLOWS]
    return c * x.u[k] + (1.0 - c) * x.y0[k]


@kernel
def predict(x, p, h, guess):
    """First guess: what the last steps lead to, uniform motion, or rest at the last position.

    Velocities relative to the start of the step, increments relative to velocities and multipliers are extrapolated
    (``ggl.extrapolation``).
    """
    n, nv, nl = int(p.memory[MEMORY_HISTORY]), x.v.shape[0], x.lam.shape[0]
    scaled(h, x.v, x.y0)
    if guess != ACCELERATED or n == 0:
        end = p.method[SCHEME] == EM or p.method[SCHEME] == EULER
        for k in range(nv):
            a = x.vd[k] if guess == ACCELERATED else 0.0
            x.dq[k] = h * (x.v[k] + 0.5 * h * a) if guess != AT_REST else 0.0
            x.u[k] = h * (x.v[k] + h * a) if end else x.dq[k]
        for k in range(nl):
            x.lams[k] = h * h * (x.lam[k] if guess == ACCELERATED or n == 0 else x.lamm[k])
            x.gams[k] = 0.0
        return
    copy(x.y0, x.u)
    extrapolate(x.past_u, n, x.weights, x.u)
    for k in range(nv):
        x.dq[k] = _base(x, k)
    extrapolate(x.past_d, n, x.weights, x.dq)
    clear(x.lams)
    clear(x.gams)
    extrapolate(x.past_l, n, x.weights, x.lams)
    extrapolate(x.past_g, n, x.weights, x.gams)


@kernel
def nearest_guess(x, p):
    """The first guess that would have been nearest to the solution of this step; x.y is scratch.

    Where steps are so large that accelerations alternate, extrapolation leads to another solution of the equations,
    farther away. The right one is that with the smallest increment.
    """
    n = int(p.memory[MEMORY_HISTORY])
    if n == 0:
        return ACCELERATED
    copy(x.y0, x.y)
    extrapolate(x.past_u, n, x.weights, x.y)
    c = x.c[C_FOLLOWS]
    for k in range(x.v.shape[0]):
        x.y[k] = c * x.y[k] + (1.0 - c) * x.y0[k]
    extrapolate(x.past_d, n, x.weights, x.y)
    accelerated, uniform, rest = 0.0, 0.0, 0.0
    for k in range(x.v.shape[0]):
        accelerated += (x.dq[k] - x.y[k]) ** 2
        uniform += (x.dq[k] - x.y0[k]) ** 2
        rest += x.dq[k] ** 2
    if accelerated <= NEARER * NEARER * min(uniform, rest):
        return ACCELERATED
    return UNIFORM if uniform <= rest else AT_REST


@kernel
def guess_number(chosen, attempt):
    """The chosen guess first, then the others: uniform motion before rest before extrapolation."""
    if attempt == 0:
        return chosen
    second = UNIFORM if chosen != UNIFORM else AT_REST
    return second if attempt == 1 else ACCELERATED + UNIFORM + AT_REST - chosen - second


@kernel
def remember_step(x, p):
    """Keep what ``predict`` extrapolates."""
    i = int(p.memory[MEMORY_HISTORY]) % PAST
    for k in range(x.v.shape[0]):
        x.past_u[i, k] = x.u[k] - x.y0[k]
        x.past_d[i, k] = x.dq[k] - _base(x, k)
    for k in range(x.lam.shape[0]):
        x.past_l[i, k] = x.lams[k]
        x.past_g[i, k] = x.gams[k]
