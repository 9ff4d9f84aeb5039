"""Ranges of imported joints as elastic stops whose stiffness follows from the inertia that the joint moves."""

from __future__ import annotations

from ..forces import JointLimit
from ..joints import Joint
from .names import Names

ROUNDING = 1e-9
OUTSIDE = "no stops, because the start is outside the range"


def add_stop(names: Names, joint: Joint, inertia: float, per_inertia: tuple[float, float]) -> bool:
    """A ``JointLimit`` at the range of the joint, with stiffness and damping per inertia.

    A joint that starts outside its range gets none, because it would be thrown back; False says so.
    """
    assert joint.range is not None
    low, high = joint.range
    value = joint.at_start()[0]
    tolerance = ROUNDING * (1.0 + abs(value))
    if not low - tolerance <= value <= high + tolerance:
        return False
    stiffness, damping = (inertia * factor for factor in per_inertia)
    name = names.free(f"limit of {joint.name}", "limit")
    names.model.add(JointLimit(joint, min(low, value), max(high, value), stiffness, damping, name=name))
    return True
