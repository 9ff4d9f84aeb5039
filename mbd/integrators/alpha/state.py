"""State, options and counters of generalized-alpha, as its kernels see them."""

from __future__ import annotations

from ...compiled.kinds import integers, matrix, vector
from ...compiled.record import Record


class AlphaState(Record):
    """State of the method (first seven) and its scratch vectors."""

    q = vector
    v = vector
    vd = vector  # v_dot, satisfies the equations of motion
    a = vector  # the algorithmic acceleration
    lam = vector
    vd1 = vector  # v_dot and lambda one step back, for the predictor
    lam1 = vector
    qn = vector
    vn = vector
    vdn = vector
    lamn = vector
    dw = vector
    dq = vector
    y = vector
    zero = vector
    z0 = matrix  # (nodes, 12) frames at the start of the step


class AlphaNumbers(Record):
    """Parameters, options and counters as plain arrays."""

    method = vector  # am, af, beta, gamma, tolerance
    options = integers  # see OPTION_*
    memory = vector  # see MEMORY_*: survives between calls, part of a restart
    scales = vector
    worst = integers  # row of the largest residual


AM, AF, BETA, GAMMA, TOLERANCE = 0, 1, 2, 3, 4
(
    OPTION_PREDICTOR,  # 0 zero, 1 last value, 2 linear
    OPTION_TANGENT,  # T_exp in the matrix
    OPTION_STIFFNESS,  # K in the matrix
    OPTION_NEWTON,  # 0 factors in every iteration, 1 once per step, 2 kept over steps while they are good
    OPTION_PAPER,  # stop rule of the paper
    OPTION_STABILIZED,  # index 2
    OPTION_ITERATIONS,  # limit
) = range(7)
(
    MEMORY_HISTORY,  # steps since the start, or since something that forbids extrapolation
    MEMORY_ITERATIONS,
    MEMORY_FACTORS,
    MEMORY_KEPT,  # steps that the present factors have served, -1: none
    MEMORY_CODE,  # 0 good, or one of CODE_*
    MEMORY_ERROR,  # last residual norm
    MEMORY_RATIO,  # smallest pivot ratio seen
    MEMORY_BEGIN,  # 1: the next step begins anew, after a change of charts
    MEMORY_INDEX_3,  # steps that index 2 has left to index 3
    MEMORY_USUAL_RATIO,  # largest pivot ratio of the last steps of index 2, 0: none yet
) = range(10)

CODE_NOT_CONVERGED, CODE_SINGULAR, CODE_CHART, CODE_NOT_FINITE, CODE_UNSTABLE, CODE_NEARLY_SINGULAR = 1, 2, 3, 4, 5, 6
CODE_OVERSHOT = 7  # never seen outside: the iteration begins anew at another first guess
KEEP_CONTRACTION = 0.3  # refactorise when the residual shrinks less than this
KEEP_STEPS = 20
NEARLY_SINGULAR = 1e-6  # pivot ratio below which velocity constraints would throw the mechanism off its path ...
SUDDENLY = 1e-2  # ... if it is so small beside the usual one: with large ratios of masses it is small all the time
UNDETERMINED = 1e3  # times the rates of constraints: velocities that answer them with so much are not determined
FORGET = 0.9  # of the usual ratio that counts one iteration later
REFINEMENTS = 4  # at most, of the multipliers of redundant constraints
STAGNATION = 100.0  # multiple of the tolerance that is accepted when round-off stops the iteration
