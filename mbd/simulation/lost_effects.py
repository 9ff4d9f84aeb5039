"""Parameters so tiny that what they change is lost among what acts beside them: differences see round-off only."""

from __future__ import annotations

import warnings

import numpy as np

from ..errors import Array, MbdError, ModelWarning
from ..results.solution import Solution
from ..system.system import System

FAR = 2.0**24  # times the parameter: where an effect shows that its own value does not show
PART = 16.0  # of that: whether the effect is in proportion
# of accelerations and multipliers: smaller differences have less than three digits
TOLD = 1e3 * float(np.finfo(float).eps)


def warn_of_lost_effects(solution: Solution, moved: dict[str, tuple[float, System, System]]) -> None:
    """Say of which parameters derivatives may be wrong: no record that is looked at tells them.

    ``moved`` are values of parameters, and systems on both sides of them, whose numbers differ. A parameter that has no
    effect there, not even if it is much larger, has a derivative of zero, and no word is said.
    """
    middle = len(solution) // 2
    records = dict.fromkeys((middle, len(solution) - 1, 0)) if len(solution) else {}
    for name, (value, plus, minus) in moved.items():
        seen = any(_differ(_at(plus, solution, k), _at(minus, solution, k)) for k in records)
        if not seen and _acts_if_larger(solution, name, value, middle):
            warnings.warn(
                f"sensitivities: {name} = {value:.3g} changes accelerations by hardly more than their round-off, so "
                "that derivatives with respect to it may be wrong. Give a value whose effect is no round-off",
                ModelWarning,
                stacklevel=4,
            )


def _acts_if_larger(solution: Solution, name: str, value: float, k: int) -> bool:
    """Whether a much larger value acts, in proportion to it: other numbers have no slope at the value itself."""
    handle = solution.system.parameters([name])
    found = [_at(solution.system, solution, k)]
    try:
        for x in (value + FAR * value, value + FAR * value / PART):
            handle.set({name: x})
            found.append(_at(handle.system, solution, k))
    except (MbdError, ArithmeticError, ValueError):  # a value that the model, or an expression, does not take
        return False
    (here, _), (far, _), (nearer, _) = found
    all_of_it, part = (float(np.abs(x - here).max(initial=0.0)) for x in (far, nearer))
    return _differ(*found[::2]) and 0.5 * PART * part < all_of_it < 2.0 * PART * part


def _differ(one: tuple[Array, Array], other: tuple[Array, Array]) -> bool:
    """Whether accelerations, or multipliers where motions are given, differ by more than round-off."""
    return any(
        np.abs(x - y).max(initial=0.0) > TOLD * np.abs(x).max(initial=0.0) for x, y in zip(one, other, strict=True)
    )


def _at(system: System, solution: Solution, k: int) -> tuple[Array, Array]:
    """Accelerations and multipliers of a system at a record of a run beside it."""
    work, system.work = system.work, system.new_work()  # systems beside each other share theirs, and may know places
    try:
        system.work.turns[:] = solution._turns[k]
        return system.accelerations(solution.q[k], solution.v[k], float(solution.t[k]))
    finally:
        system.work = work
