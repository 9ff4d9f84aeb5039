"""Parameters and counters that the loops of the structure-preserving integrators share."""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..compiled.kinds import integers, vector
from ..compiled.record import Record


class SecantNumbers(Record):
    """Parameters and counters as plain arrays."""

    method = vector  # tolerance, limit of iterations
    memory = vector  # see MEMORY_*: survives between calls, part of a restart
    scales = vector
    worst = integers  # row of the largest residual


TOLERANCE, ITERATIONS = 0, 1
(
    MEMORY_HISTORY,  # steps since the start
    MEMORY_ITERATIONS,
    MEMORY_FACTORS,
    MEMORY_CODE,  # 0 good, 1 not converged, 2 singular matrix, 4 not finite
    MEMORY_ERROR,  # last residual norm
    MEMORY_RATIO,  # smallest pivot ratio seen
    MEMORY_FACTORED,  # whether there are factors of an earlier step
    MEMORY_STIFF,  # whether forces belong to the matrix
    MEMORY_GUESS,  # the first guess that was nearest to the solution of the last step
    MEMORIES,
) = range(10)

CODE_NOT_CONVERGED, CODE_SINGULAR, CODE_NOT_FINITE = 1, 2, 4
CODE_OVERSHOT = 6  # never seen outside: the iteration begins anew at another first guess
NEAR = 1e5  # multiple of the tolerance within which Newton's contraction is trusted
STAGNATION = 1000.0  # multiple of the tolerance that is accepted when round-off stops the iteration


@kernel
def factors_suffice(error, before):
    """Whether one more iteration with the last factors will do, judged by how the residual fell (both / tolerance).

    Newton's error is C e^2 after the error e, that of an iteration with the matrix of the step before 2 C e e', where
    e' is the present error; C follows from the last iteration. It has to get well below the tolerance, as Newton's
    would: what is left of the residual adds up over many steps.
    """
    return before < 1e200 and 200.0 * error * error <= before


@kernel
def will_converge(error, before):
    """Whether the next correction of an analytic system ends far below the tolerance (both errors / tolerance).

    Newton's method with the constant C = e1 / e0^2 of the last iteration leaves C e1^2 = e1^3 / e0^2, with the factors
    of that iteration 2 e1^2 / e0, which is what ``factors_suffice`` bounds by 0.01; the same bound is asked of the
    former with a hundred times the constant. The residual has to be small already, so that C is that of the solution.
    """
    if not (error <= NEAR and before < 1e200):
        return False
    return factors_suffice(error, before) or 1e4 * error * error * error <= before * before
