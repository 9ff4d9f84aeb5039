"""Ranges of imported joints as elastic stops whose stiffness follows from the inertia that the joint moves."""

from __future__ import annotations

from typing import Any

from ..errors import bad_value, check_number
from ..forces import JointLimit
from ..joints import Joint
from ..model import Model
from .names import Names

LIMITS = 0.02  # s, as MuJoCo has it
ROUNDING = 1e-9
OUTSIDE = "no stops, because the start is outside the range"
NO_ROOM = "no stops, because the range has no width"


def check_limits(limits: Any) -> None:
    """Refuse what is no time constant."""
    if limits is not None:
        check_number(limits, "import", "limits", positive=True)


def in_coordinates(model: Model, coordinates: Any) -> Model:
    """The model in the coordinates that people ask for."""
    if coordinates not in ("absolute", "joint"):
        raise bad_value("import", "coordinates", coordinates, '"absolute" or "joint"')
    return model if coordinates == "absolute" else model.with_coordinates("joint")


def per_inertia(time: float) -> tuple[float, float]:
    """Stiffness and damping per inertia of a critically damped stop with a time constant."""
    return 1.0 / time**2, 2.0 / time


def add_stop(names: Names, joint: Joint, inertia: float, factors: tuple[float, float]) -> bool:
    """A ``JointLimit`` at the range of the joint, with stiffness and damping per inertia.

    A joint that starts outside its range gets none, because it would be thrown back; False says so.
    """
    assert joint.range is not None
    low, high = joint.range
    value = joint.at_start()[0]
    tolerance = ROUNDING * (1.0 + abs(value))
    if not low - tolerance <= value <= high + tolerance:
        return False
    stiffness, damping = (inertia * factor for factor in factors)
    name = names.free(f"limit of {joint.name}", "limit")
    names.model.add(JointLimit(joint, min(low, value), max(high, value), stiffness, damping, name=name))
    return True
