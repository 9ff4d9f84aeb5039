"""How an attempt to make a step ended, and what is said about it: one table for all integrators."""

from __future__ import annotations

(
    CONVERGED,
    NOT_CONVERGED,
    SINGULAR,  # the iteration matrix
    CHART,  # Euler angles at gimbal lock
    NOT_FINITE,
    UNSTABLE,  # velocities that no longer have to do with the constraints
    NEARLY_SINGULAR,  # never seen outside: the step is left to index 3
    OVERSHOT,  # never seen outside: the iteration begins anew at another first guess
    PROJECTION,  # back to the constraints did not converge
    STALLED,  # the smallest step size does not suffice
    OTHER_ROOT,  # of the equations of the step than the one of small steps
) = range(11)
GO_ON = -1  # not yet decided

MESSAGES = {
    SINGULAR: "the iteration matrix is singular at {where}; look for redundant joints or massless directions "
    "there{or_else} [MBD-E24]",
    UNSTABLE: "the velocities grow without regard to the constraints of {where}: index 3 is unstable at this step "
    "size; try stabilized=True, a smaller step, a smaller rho_inf, or Lie nodes [MBD-E25]",
    NOT_FINITE: "values are no longer finite, first at {where}; try {remedies}, or look for forces that grow without "
    "bound there [MBD-E26]",
    OTHER_ROOT: "the equations of the step have another solution only than the one that belongs to small steps, which "
    "ends in this step; try {remedies}{last_remedy}",
    NOT_CONVERGED: "Newton's method did not converge in {limit} iterations (relative residual {residual:.1e}, largest "
    "at {where}); try {remedies}{last_remedy}",
}


def describe(
    verdict: int, where: str, limit: int, residual: float, remedies: str = "a smaller step", last_remedy: str = "",
    or_else: str = "",
) -> str:  # fmt: skip
    """What stopped a run; ``where`` names the element with the largest residual."""
    text = MESSAGES.get(verdict, MESSAGES[NOT_CONVERGED])
    return text.format(
        where=where, limit=limit, residual=residual, remedies=remedies, last_remedy=last_remedy, or_else=or_else
    )
