"""Constraints written as plain Python functions of frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mbd.bodies import Body, Ground
from mbd.elements.arguments import FrameFunction
from mbd.elements.attributes import declared, fixed
from mbd.elements.frame_kinds import USER_CONSTRAINT
from mbd.elements.user_functions import call_function, initial_input
from mbd.errors import ZERO3, ModelError, bad_value
from mbd.joints.joint import Joint, check_framed
from mbd.joints.primitive_data import FrameRows, Primitive


def _checked_function(function: Any, owner: Any, argument: str) -> Any:
    """A function that can be called in the initial configuration; says how many equations there are."""
    if not callable(function):
        raise bad_value(owner, argument, function, "a function of (frames, t) that returns numbers")
    members = owner.members
    try:
        value = np.asarray(call_function(function, "constraint", len(members), initial_input(members)), dtype=float)
    except Exception as error:
        raise ModelError(
            f"{owner}: its function failed in the initial configuration with {type(error).__name__}: {error}; "
            "expected a function of (frames, t) that returns one or more numbers"
        ) from error
    if value.size == 0:
        raise bad_value(owner, argument, function, "a function that returns at least one number")
    owner.__dict__["size"] = int(value.size)
    return function


class UserConstraint(Joint):
    """Equations ``function(frames, t) = 0`` on the frames of one or more bodies.

    ``frames`` is an array (k, 12) with a row (r, d1, d2, d3) for each of ``bodies``: the reference point and the body
    axes in world coordinates. The function returns one number or several. Compiled functions are differentiated
    exactly, others by differences (docs/extending.md). The reaction that a solution
    reports is that on the last body.
    """

    members: tuple[Body, ...] = fixed("Bodies of whose frames it is a function.", "make a new constraint")
    function: Any = declared("The function of (frames, t) that vanishes.", _checked_function)
    size: int = fixed("Number of equations.", "it is the number of values that function returns")

    def __init__(self, bodies: Body | Sequence[Body], function: FrameFunction, *, name: str | None = None) -> None:
        members = tuple(bodies) if isinstance(bodies, Sequence) else (bodies,)
        if not members or all(isinstance(body, Ground) for body in members):
            raise bad_value(self.label, "bodies", bodies, "at least one body that can move")
        for body in members:
            check_framed(body, self.label, "bodies")
        self._set(members=members)
        other: Any = members[0] if len(members) > 1 else None
        last: Any = members[-1]
        if other is None:
            if last.model is None:
                raise ModelError(f"{self.label}: add {last} to the model first: model.add(...)")
            other = last.model.ground
        super().__init__(other, last, name=name, point_a=ZERO3, point_b=ZERO3)
        self._set(function=function)

    @property
    def bodies(self) -> tuple[Body, ...]:
        ends: tuple[Body, ...] = (self.body_a, self.body_b)
        return ends + tuple(body for body in self.members if not any(body is end for end in ends))

    def primitives(self) -> list[Primitive]:
        return [FrameRows(USER_CONSTRAINT, self.members, self.size, function=self.function, style="constraint")]
