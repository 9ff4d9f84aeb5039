"""What would take several calls from Python, in one compiled call: short runs consist of such calls."""

from __future__ import annotations

import math

from ..compiled.kernel import kernel
from ..compiled.kinds import integer, integers, real, vector
from ..linalg.refined import solve_with
from .accelerations import accelerations
from .instant import (
    STORED,
    constraint_accelerations,
    constraints,
    dynamics,
    evaluate_functions,
    frames,
    update,
    velocities,
)
from .tables import Tables, Work, coordinates, front_values, multipliers, unknowns, velocity


@kernel(kinds=(Tables, Work, real, coordinates, velocity))
def look(s, w, t, q, v):
    """Functions of time, frames and their velocities."""
    evaluate_functions(s, w, t)
    frames(s, w, q)
    velocities(s, w, q, v)


@kernel(
    kinds={
        "s": Tables, "w": Work, "t": real, "q": coordinates, "v": velocity, "zero": vector, "vd": velocity,
        "lam": multipliers, "bias": multipliers, "rest": multipliers, "load": velocity, "inertia": velocity,
    }
)  # fmt: skip
def first_accelerations(s, w, t, q, v, zero, vd, lam, bias, rest, load, inertia):
    """Index-1 accelerations vd and multipliers, and what contradicts them: the constraints' bias gamma and what is left
    of B vd + gamma, the load f without multipliers and the inertia M vd.

    ``zero`` is a vector of zeros as long as velocities or multipliers.
    """
    evaluate_functions(s, w, t)
    accelerations(s, w, q, v, zero, vd, lam)
    constraint_accelerations(s, w, q, v, vd, w.x)
    for k in range(s.xl.shape[0]):
        bias[k], rest[k] = w.g[s.xl[k]], w.x[s.xl[k]]
    dynamics(s, w, q, v, zero, zero, w.x)
    for k in range(s.xv.shape[0]):
        load[k] = -w.x[s.xv[k]]
    dynamics(s, w, q, v, vd, zero, w.x)
    for k in range(s.xv.shape[0]):
        inertia[k] = w.x[s.xv[k]] + load[k]


@kernel(
    kinds={
        "s": Tables, "w": Work, "t": real, "q": coordinates, "dense": integer, "factors": front_values,
        "pivots": integers, "dinv": unknowns, "scale": multipliers, "zero": velocity, "step": velocity, "most": integer,
        "closed": real,
    }
)  # fmt: skip
def close_gaps(s, w, t, q, dense, factors, pivots, dinv, scale, zero, step, most, closed):
    """Whether corrections of q with factors of [M B^T; B 0] close all gaps of the constraints, each half the last.

    Gaps are seen beside ``scale``, and left alone where it is infinite; ``step`` is scratch.
    """
    before = math.inf
    for _ in range(most):
        look(s, w, t, q, zero)
        constraints(s, w, q, w.x)
        largest = 0.0
        for k in range(s.xl.shape[0]):
            gap = abs(w.x[s.xl[k]]) / scale[k]
            if gap != gap:
                return False
            largest = max(largest, gap)
            w.x[s.xl[k]] = 0.0 if scale[k] == math.inf else -w.x[s.xl[k]]
        if largest < closed or not largest < 0.5 * before:
            return largest < closed
        before = largest
        for k in range(s.xv.shape[0]):
            w.x[s.xv[k]] = 0.0
        solve_with(s.fronts, dense, factors, pivots, dinv, w.x)
        for k in range(s.xv.shape[0]):
            step[k] = w.x[s.xv[k]]
        update(s, w, q, step, q, STORED)
    return False
