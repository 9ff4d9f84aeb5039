"""What a joint shows: which coordinate is meant, where its zero is, and its value in the initial configuration.

Angle and displacement are those of the frame of the second body against that of the first: ``atan2(n2.m, n1.m)`` with
the normals n1, n2 of the axis in the first body and m in the second, and ``axis . (Q - P)``. Another zero is another
place of these frames: m is turned about the axis, and P is put back along it. Nothing else depends on either.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..errors import Array, ModelError, bad_value, check_number, read_only

if TYPE_CHECKING:
    from .joint import Joint

Kind = Literal["angle", "displacement"]
HAS: dict[str | None, tuple[Kind, ...]] = {
    "angle": ("angle",), "displacement": ("displacement",), "both": ("displacement", "angle"), None: (),
}  # fmt: skip
NO_ZERO = (0.0, 0.0)


def expected_joint(given: object, has: str) -> str:
    """What is said to whoever gives something else in place of a joint; most of all its name."""
    if isinstance(given, str):
        return f"the joint itself, not its name: model[{given!r}]"
    return f"a joint with {has}"


def chosen_coordinate(joint: Any, coordinate: Any, owner: object, argument: str = "coordinate") -> Kind:
    """Which coordinate of a joint is meant; of a joint with two of them that must be said."""
    has = HAS.get(getattr(joint, "coordinate", None), ())
    if not has:
        shown = f"{joint}, which has neither" if hasattr(joint, "primitives") else repr(joint)
        raise ModelError(
            f"{owner}: joint is {shown}; expected "
            + expected_joint(joint, "an angle or a displacement, such as Revolute")
        )
    if coordinate is None and len(has) == 1:
        return has[0]
    if coordinate is None:
        raise ModelError(
            f"{owner}: {joint} has an angle and a displacement; say which one is meant with "
            f'{argument}="angle" or "displacement"'
        )
    if coordinate not in has:
        raise bad_value(owner, argument, coordinate, f"{' or '.join(map(repr, has))}, which {joint} has")
    return coordinate


def check_zero(zero: Any, joint: Joint) -> tuple[float, float]:
    """(displacement, angle) from what people give: a number, or for a joint with both coordinates the pair."""
    has = HAS[joint.coordinate]
    if not has:
        raise ModelError(f"{joint}: zero= has no meaning for this joint, which shows no coordinate; leave it away")
    if len(has) == 1:
        value = check_number(zero, joint, f"zero (the {has[0]} in the initial configuration)")
        return (value, 0.0) if has[0] == "displacement" else (0.0, value)
    if not isinstance(zero, tuple | list | np.ndarray) or np.shape(zero) != (2,):
        raise bad_value(joint, "zero", zero, "the pair (displacement, angle) in the initial configuration")
    return check_number(zero[0], joint, "zero[0]"), check_number(zero[1], joint, "zero[1]")


def turned_about_axis(frame: Array, angle: float) -> Array:
    """The frame (n1, n2, axis) with its normals turned about the axis."""
    if angle == 0.0:
        return frame
    c, s = math.cos(angle), math.sin(angle)
    n1, n2, axis = frame.T
    return read_only(np.column_stack((c * n1 + s * n2, c * n2 - s * n1, axis)))


def nearest_turn(angle: float, near: float) -> float:
    """The angle with whole turns added such that it is nearest to another one."""
    return angle + 2.0 * math.pi * round((near - angle) / (2.0 * math.pi))


def value_at_start(joint: Joint, kind: Kind) -> tuple[float, float]:
    """Coordinate and rate in the initial configuration, as given by the nodes of the two bodies."""
    a, b = _motion(joint.body_a), _motion(joint.body_b)
    (ra, va, turn_a, spin_a), (rb, vb, turn_b, spin_b) = a, b
    if kind == "displacement":
        axis, p, q = turn_a @ joint.axis_a, turn_a @ joint.point_a, turn_b @ joint.point_b
        apart = rb + q - ra - p
        drift = vb + np.cross(spin_b, q) - va - np.cross(spin_a, p)
        return float(axis @ apart), float(axis @ drift + np.cross(spin_a, axis) @ apart)
    n1, n2, m = turn_a @ joint.n1_a, turn_a @ joint.n2_a, turn_b @ joint.n1_b
    c, s = float(n1 @ m), float(n2 @ m)
    spin = np.cross(spin_b - spin_a, m)
    rate = (c * float(n2 @ spin) - s * float(n1 @ spin)) / (c * c + s * s)
    return nearest_turn(math.atan2(s, c), joint.branch), rate


def _motion(body: Any) -> tuple[Array, Array, Array, Array]:
    """Position, velocity, rotation and angular velocity in world axes."""
    turn = np.asarray(body.rotation)
    return body.position, body.velocity, turn, turn @ np.asarray(getattr(body, "angular_velocity", np.zeros(3)))
