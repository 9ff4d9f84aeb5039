"""Applied forces and torques: constants or functions of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from mbd.bodies import Body, Ground, PointMass
from mbd.compiled.functions.travelling import made_by
from mbd.elements.arguments import Load, Numbers, Vector
from mbd.elements.attributes import constant, declared, fixed, flag
from mbd.elements.frame_kinds import USER_FORCE
from mbd.elements.user_functions import required_arguments
from mbd.errors import ZERO3, Array, ModelError, bad_value, check_vector
from mbd.forces import kinds
from mbd.forces.data import ElementData, ForceData
from mbd.forces.force import ForceElement, attachment, check_framed, checked_times, framed


def _checked_value(value: Any, owner: Any, argument: str) -> Array:
    """The constant vector of a load, zero where a function says what it is."""
    stored = owner.__dict__
    stored["on_frames"] = callable(value) and required_arguments(value) == 3  # called when the model is assembled
    stored["function"] = value if callable(value) else None
    if not callable(value):
        return check_vector(value, owner, argument)
    if not owner.on_frames:
        owner._probe(value)
    return ZERO3


def _checked_frame(value: Any, owner: Any, argument: str) -> str:
    if not isinstance(value, str) or value not in ("world", "body"):
        raise bad_value(owner, argument, value, '"world" or "body"')
    if value == "body" and isinstance(owner.body, PointMass):
        raise bad_value(owner, argument, value, f'"world", because {owner.body} has no orientation')
    return value


class _Load(ForceElement):
    """A vector, constant or a function of time, in world or body axes, on one body."""

    input_columns = {"value": ("p1", "p2", "p3")}
    _kinds: dict[str, int]
    point: Array = constant("Point at which it acts, body-fixed.", ZERO3)
    body: Body = fixed("Body on which it acts.", "make a new load", framed)
    frame = declared('Axes of the value: "world" or "body".', _checked_frame)
    value = declared("The constant vector; zero where a function says what it is.", _checked_value)
    function: Callable[..., Any] | None = fixed("The function, or None.", "set value to a function")
    on_frames: bool = fixed(
        "Whether the function is one of (t, frames, velocities).",
        "set value to a function of (t, frames, velocities)",
        flag,
    )
    switches = declared("Times at which the function jumps.", checked_times)

    def __init__(self, body: Body, value: Load, frame: str, switches: Numbers, name: str | None) -> None:
        super().__init__(name)
        check_framed(body, self, "body")
        if isinstance(body, Ground):
            raise ModelError(f"{self}: body is the ground, which does not move; expected a RigidBody or a PointMass")
        self._set(body=body, frame=frame, value=value, switches=switches)

    def _probe(self, function: Callable[[float], Any]) -> None:
        """Call the function once, so that a mistake is reported here and not in the middle of a run."""
        try:
            value = function(0.0)
        except Exception as error:
            raise ModelError(
                f"{self}: its function failed at t = 0 with {type(error).__name__}: {error}; expected a function of "
                "time that returns 3 numbers, e.g. lambda t: (0, 0, 5*t)"
            ) from error
        check_vector(value, self, "value of the function at t = 0")

    @property
    def bodies(self) -> tuple[Body, ...]:
        return (self.body,)

    def general(self) -> list[ElementData]:
        if not self.on_frames:
            return []
        assert self.function is not None
        if hasattr(self.function, "silent"):  # a function that a file does not contain
            self.function.size = 3  # type: ignore[attr-defined]
        function = load_function(self.function, self.point, self.frame == "body", isinstance(self, Torque))
        return [ElementData(USER_FORCE, (self.body,), (), function, "force", 6)]

    def rows(self) -> list[ForceData]:
        if self.on_frames:
            return []
        x, y, z = self.value.tolist()
        return [
            ForceData(
                self._kinds[self.frame],
                None,
                self.body,
                point_b=self.point,
                parameters=(x, y, z),
                function=self.function,
                function_size=3 if self.function else 0,
            )
        ]


class Force(_Load):
    """A force on a body at a body-fixed point (by default the reference point).

    ``value`` is a vector, a function of time that returns one, or a function of (t, frames, velocities) as for
    ``UserForce`` with the one body; in world axes or, with ``frame="body"``, in body axes (a follower load).
    ``switches`` lists the times at which the function jumps.
    """

    _kinds = {"world": kinds.FORCE_WORLD, "body": kinds.FORCE_BODY}
    point = attachment("Point at which it acts, body-fixed.", "body")

    def __init__(
        self,
        body: Body,
        value: Load,
        point: Vector = ZERO3,
        frame: Literal["world", "body"] = "world",
        switches: Numbers = (),
        *,
        name: str | None = None,
    ) -> None:
        super().__init__(body, value, frame, switches, name)
        self._set(point=point)


class Torque(_Load):
    """A torque on a body.

    ``value`` is a vector, a function of time that returns one, or a function of (t, frames, velocities) as for
    ``UserForce`` with the one body; in world axes or, with ``frame="body"``, in body axes (a follower load).
    ``switches`` lists the times at which the function jumps.
    """

    _kinds = {"world": kinds.TORQUE_WORLD, "body": kinds.TORQUE_BODY}

    def __init__(
        self,
        body: Body,
        value: Load,
        frame: Literal["world", "body"] = "world",
        switches: Numbers = (),
        *,
        name: str | None = None,
    ) -> None:
        if isinstance(body, PointMass):
            raise ModelError(f"{self.label}: {body} has no orientation; expected a RigidBody")
        super().__init__(body, value, frame, switches, name)


def load_function(value: Callable[..., Any], point: Array, follows: bool, is_torque: bool) -> Callable[..., Any]:
    """The function (t, frames, velocities) -> (force, torque) of a load."""
    x1, x2, x3 = (float(x) for x in point)

    def load(t, frames, velocities):  # type: ignore[no-untyped-def]
        f = value(t, frames, velocities)
        z = frames[0]
        f1, f2, f3 = f[0], f[1], f[2]
        if follows:
            f1, f2, f3 = (
                f[0] * z[3] + f[1] * z[6] + f[2] * z[9],
                f[0] * z[4] + f[1] * z[7] + f[2] * z[10],
                f[0] * z[5] + f[1] * z[8] + f[2] * z[11],
            )
        zero = 0.0 * z[0]
        if is_torque:
            return zero, zero, zero, f1 + zero, f2 + zero, f3 + zero
        a1 = x1 * z[3] + x2 * z[6] + x3 * z[9]
        a2 = x1 * z[4] + x2 * z[7] + x3 * z[10]
        a3 = x1 * z[5] + x2 * z[8] + x3 * z[11]
        return f1 + zero, f2 + zero, f3 + zero, a2 * f3 - a3 * f2, a3 * f1 - a1 * f3, a1 * f2 - a2 * f1

    return made_by(load, load_function, value, point, follows, is_torque)
