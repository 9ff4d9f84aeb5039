"""What all forces on the coordinate of a joint share: the joint, which of its coordinates, and the row of the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mbd.bodies import Body
from mbd.elements.attributes import declared, fixed, flag, positive
from mbd.elements.user_functions import required_arguments
from mbd.errors import ModelError, bad_value, check_number
from mbd.forces.data import ForceData
from mbd.forces.force import ForceElement, checked_times, with_coordinate
from mbd.forces.kinds import AXIS_SPRING, TORSION_SPRING
from mbd.joints.joint import Joint
from mbd.joints.readings import Kind, chosen_coordinate

EXAMPLES = {1: "lambda t: 5.0 * t", 3: "lambda t, u, u_dot: -5.0 * u - 0.1 * u_dot"}


def joint_row(joint: Joint, coordinate: Kind, parameters: tuple[float, ...], **more: Any) -> ForceData:
    """The row of an element on a coordinate of a joint."""
    return ForceData(
        TORSION_SPRING if coordinate == "angle" else AXIS_SPRING, joint.body_a, joint.body_b, joint.point_a,
        joint.point_b, joint.axis_a, joint.axis_b, joint.n1_a, joint.n1_b, parameters, branch=joint.branch, **more,
    )  # fmt: skip


def _checked_kind(value: Any, owner: Any, argument: str) -> Kind:
    return chosen_coordinate(owner.joint, value, owner, argument)


class OnJoint(ForceElement):
    """A force along, or a torque about, the axis of a joint."""

    joint: Joint = fixed("Joint on which it acts.", "make a new element", with_coordinate)
    coordinate: Kind = fixed(
        'Which coordinate of the joint: "angle" or "displacement".', "make a new element", _checked_kind
    )

    def __init__(self, joint: Joint, coordinate: str | None, name: str | None) -> None:
        super().__init__(name)
        self._set(joint=joint, coordinate=chosen_coordinate(joint, coordinate, self))

    @property
    def bodies(self) -> tuple[Body, ...]:
        return self.joint.bodies

    @property
    def joints(self) -> tuple[Joint, ...]:
        return (self.joint,)


def positive_or_none(value: Any, owner: Any, argument: str) -> float | None:
    """A positive number, or None."""
    return None if value is None else positive(value, owner, argument)


def effort(value: Any, owner: Any, argument: str) -> Any:
    """A number, or a function of time or of (t, u, u_dot); called once, so that a mistake is reported here."""
    if not callable(value):
        return check_number(value, owner, argument)
    count = required_arguments(value)
    if count not in (1, 3):
        said = "does not say how many arguments it takes" if count is None else f"takes {count} arguments"
        raise ModelError(
            f"{owner}: {argument} is a function that {said}; expected a number, a function of time such as "
            f"{EXAMPLES[1]}, or one of (t, u, u_dot) such as {EXAMPLES[3]}"
        )
    vars(owner)["of_coordinate"] = count == 3
    arguments = (0.0, *owner.joint.at_start(owner.coordinate)) if count == 3 else (0.0,)
    shown = f"({', '.join(f'{x:.6g}' for x in arguments)})"
    try:
        result = value(*arguments)
    except Exception as error:
        raise ModelError(
            f"{owner}: the function {argument} failed at the start, called with {shown}, with {type(error).__name__}: "
            f"{error}; expected a function that returns a number, e.g. {EXAMPLES[count]}"
        ) from error
    check_number(result, owner, f"{argument}{shown}")
    return value


class Driven(OnJoint):
    """A force from outside on a joint, possibly limited."""

    of_coordinate: bool = fixed(
        "Whether its function is one of (t, u, u_dot), not of time alone.",
        "set a function of (t, u, u_dot), or of t",
        flag,
        default=False,
    )
    switches = declared("Times at which its functions jump or have a kink.", checked_times, default=())

    def _driven_row(self, given: Any, parameters: tuple[float, float, float], limit: float | None, **more: Any) -> Any:
        """The row of a spring about a target with a further force, and a limit of both."""
        function: Callable[..., Any] | None = given if callable(given) else None
        constant = 0.0 if function is not None else given
        style = "joint" if function is not None and self.of_coordinate else "time"
        return joint_row(
            self.joint, self.coordinate, (*parameters, constant, limit or 0.0), function=function,
            function_size=1 if function is not None else 0, style=style,
            probe=(0.0, *self.joint.at_start(self.coordinate)) if style == "joint" else (), **more,
        )  # fmt: skip


def check_limits(owner: Any, lower: float | None, upper: float | None) -> None:
    """Refuse limits that leave no room."""
    if lower is None and upper is None:
        raise bad_value(owner, "lower, upper", (None, None), "at least one limit")
    if lower is not None and upper is not None and not lower < upper:
        raise bad_value(owner, "lower, upper", (lower, upper), "a lower limit below the upper one")
