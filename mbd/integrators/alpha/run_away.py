"""When the velocities of an index-3 method no longer have to do with the constraints."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...system.defect import velocity_defect
from ...system.instant import constraint_rates, velocities

EVERY = 16  # steps, counted from the origin of the run: where a run stops must not depend on how it is cut into calls
AWAY = 0.5  # of the speeds: velocities that violate the constraints by so much are no velocities of the model
AWAY_IN_A_STEP = 1e-2  # and would move the constraints by so much, relative to the model, in a step


@kernel
def velocities_run_away(s, w, q, v, p):
    """Whether velocities contradict the constraints; frames are those at q, functions of time those at its time."""
    velocities(s, w, q, v)
    constraint_rates(s, w, q, v, w.g)
    speed, rate, at = velocity_defect(s, v, w.g)
    if rate > AWAY * speed and rate * p.step > AWAY_IN_A_STEP:
        p.worst = s.xl[at]
        return True
    return False
