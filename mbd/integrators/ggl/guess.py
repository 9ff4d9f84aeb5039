"""First guesses of the GGL integrators."""

from __future__ import annotations

import numpy as np

from ...compiled.kernel import kernel
from ...math.arrays import clear, copy
from ..past import extrapolate, has_past, remembered_row
from .equations import scaled
from .state import EM, EULER, PAST

ACCELERATED, UNIFORM, AT_REST = 0, 1, 2  # first guesses
GUESSES = 3
NEARER = 2.0  # how much nearer to the solution than the extrapolation another first guess has to be


@kernel
def _in_turn(chosen, attempt):
    """The chosen guess first, then the others: uniform motion before rest before extrapolation."""
    if attempt == 0:
        return chosen
    second = UNIFORM if chosen != UNIFORM else AT_REST
    return second if attempt == 1 else ACCELERATED + UNIFORM + AT_REST - chosen - second


@kernel
def choose_guess(x, p):
    """The first guess of an attempt: the one that was nearest in the last step, or is asked for, then the others.

    After one that overshot, all of them are tried from rest on: the root that is nearest to the start of the step. -1:
    there is none left.
    """
    if p.again != 0:
        return _in_turn(AT_REST, p.attempt - 1) if p.attempt <= GUESSES else -1
    if p.attempt >= GUESSES:
        return -1
    return _in_turn(p.nearest if x.guess == ACCELERATED else x.guess, p.attempt)


@kernel
def _base(x, k):
    """What the increment would be without gamma'."""
    c = x.follows
    return c * x.u[k] + (1.0 - c) * x.y0[k]


@kernel
def take_guess(x, p):
    """First guess: what the last steps lead to, uniform motion, or rest at the last position.

    Velocities relative to the start of the step, increments relative to velocities and multipliers are extrapolated
    (``extrapolation_weights``).
    """
    first, nv, nl, h, guess = not has_past(x, p), x.v.shape[0], x.lam.shape[0], p.step, p.guess
    scaled(h, x.v, x.y0)
    if guess != ACCELERATED or first:
        end = x.scheme == EM or x.scheme == EULER
        for k in range(nv):
            a = x.vd[k] if guess == ACCELERATED else 0.0
            x.dq[k] = h * (x.v[k] + 0.5 * h * a) if guess != AT_REST else 0.0
            x.u[k] = h * (x.v[k] + h * a) if end else x.dq[k]
        for k in range(nl):
            x.lams[k] = h * h * (x.lam[k] if guess == ACCELERATED or first else x.lamm[k])
            x.gams[k] = 0.0
        return
    copy(x.y0, x.u)
    extrapolate(x, p, x.past_u, x.u)
    for k in range(nv):
        x.dq[k] = _base(x, k)
    extrapolate(x, p, x.past_d, x.dq)
    clear(x.lams)
    clear(x.gams)
    extrapolate(x, p, x.past_l, x.lams)
    extrapolate(x, p, x.past_g, x.gams)


@kernel
def nearest_guess(x, p):
    """The first guess that would have been nearest to the solution of this step; x.y is scratch.

    Where steps are so large that accelerations alternate, extrapolation leads to another solution of the equations,
    farther away. The right one is that with the smallest increment.
    """
    if p.history == 0:
        return ACCELERATED
    copy(x.y0, x.y)
    extrapolate(x, p, x.past_u, x.y)
    c = x.follows
    for k in range(x.v.shape[0]):
        x.y[k] = c * x.y[k] + (1.0 - c) * x.y0[k]
    extrapolate(x, p, x.past_d, x.y)
    accelerated, uniform, rest = 0.0, 0.0, 0.0
    for k in range(x.v.shape[0]):
        accelerated += (x.dq[k] - x.y[k]) ** 2
        uniform += (x.dq[k] - x.y0[k]) ** 2
        rest += x.dq[k] ** 2
    if accelerated <= NEARER * NEARER * min(uniform, rest):
        return ACCELERATED
    return UNIFORM if uniform <= rest else AT_REST


@kernel
def remember_step(x, p):
    """Keep what ``take_guess`` extrapolates."""
    i = remembered_row(x, p)
    for k in range(x.v.shape[0]):
        x.past_u[i, k] = x.u[k] - x.y0[k]
        x.past_d[i, k] = x.dq[k] - _base(x, k)
    for k in range(x.lam.shape[0]):
        x.past_l[i, k] = x.lams[k]
        x.past_g[i, k] = x.gams[k]


def extrapolation_weights(every_other: bool) -> np.ndarray:
    """Weights of the last values, latest first, for the next one; row n is for n known values.

    The velocity constraints of the theta methods see multipliers of two steps together, so that these may alternate.
    With (E - 1)^4 (E + 1) for the shift E, cubic sequences are continued exactly and an alternating part of constant
    size does no harm; those of ``GGLTrapezoidal``, which starts with twice the multipliers, alternate between 0 and
    twice the true ones: ``every_other`` value is extrapolated, (E^2 - 1)^4.
    """
    weights = np.zeros((PAST + 1, PAST))
    rows: list[tuple[int, ...]]
    if every_other:
        binomial: list[tuple[int, ...]] = [(1,), (2, -1), (3, -3, 1), (4, -6, 4, -1)]
        rows = [(), (1,)]
        for row in binomial:
            rows += [tuple(c for weight in row for c in (0, weight))] * 2
    else:
        rows = [(), (1,), (0, 1), (1, 1, -1), (2, 0, -2, 1), *[(3, -2, -2, 3, -1)] * (PAST - 4)]
    for n, row in enumerate(rows[: PAST + 1]):
        weights[n, : len(row)] = row
    return weights
