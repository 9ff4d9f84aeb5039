"""Applied forces and torques: constants or functions of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from mbd.bodies import Body, Ground, PointMass
from mbd.errors import ZERO3, Array, ModelError, bad_value, check_vector
from mbd.forces import force as base
from mbd.forces import kinds
from mbd.forces.row import ForceRow


class _Load(base.Force):
    """A vector, constant or a function of time, in world or body axes, on one body."""

    kinds: dict[str, int]
    body: Body
    point: Array = ZERO3

    def __init__(self, body: Body, value: Any, frame: str, switches: Any, name: str | None) -> None:
        super().__init__(name)
        base.check_framed(body, self, "body")
        if isinstance(body, Ground):
            raise ModelError(f"{self}: body is the ground, which does not move; expected a RigidBody or a PointMass")
        if frame not in ("world", "body"):
            raise bad_value(self, "frame", frame, '"world" or "body"')
        if frame == "body" and isinstance(body, PointMass):
            raise bad_value(self, "frame", frame, f'"world", because {body} has no orientation')
        self.body = body
        self.frame = frame
        self.value = ZERO3
        self.function: Callable[[float], Any] | None = None
        if callable(value):
            self.function = value
            self._probe(value)
        else:
            self.value = check_vector(value, self, "value")
        times = check_vector(np.atleast_1d(switches), self, "switches", None) if np.size(switches) else ZERO3[:0]
        self.switches = tuple(sorted(times.tolist()))

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

    def rows(self) -> list[ForceRow]:
        x, y, z = self.value.tolist()
        return [
            ForceRow(
                self.kinds[self.frame],
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

    ``value`` is a vector or a function of time that returns one, in world axes or, with ``frame="body"``, in body axes.
    ``switches`` lists the times at which the function jumps.
    """

    kinds = {"world": kinds.FORCE_WORLD, "body": kinds.FORCE_BODY}

    def __init__(
        self,
        body: Body,
        value: Any,
        point: Any = ZERO3,
        frame: Literal["world", "body"] = "world",
        switches: Any = (),
        *,
        name: str | None = None,
    ) -> None:
        super().__init__(body, value, frame, switches, name)
        self.point = base.check_attachment(body, point, self, "body", "point")


class Torque(_Load):
    """A torque on a body.

    ``value`` is a vector or a function of time that returns one, in world axes or, with ``frame="body"``, in body axes.
    ``switches`` lists the times at which the function jumps.
    """

    kinds = {"world": kinds.TORQUE_WORLD, "body": kinds.TORQUE_BODY}

    def __init__(
        self,
        body: Body,
        value: Any,
        frame: Literal["world", "body"] = "world",
        switches: Any = (),
        *,
        name: str | None = None,
    ) -> None:
        if isinstance(body, PointMass):
            raise ModelError(f"{self.label}: {body} has no orientation; expected a RigidBody")
        super().__init__(body, value, frame, switches, name)
