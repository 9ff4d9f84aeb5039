"""Forces and potentials written as plain Python functions of frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mbd.bodies import Body, Ground
from mbd.elements.arguments import FrameFunction
from mbd.elements.attributes import declared, fixed
from mbd.elements.frame_kinds import USER_FORCE, USER_POTENTIAL
from mbd.errors import bad_value
from mbd.forces.data import ElementData
from mbd.forces.force import ForceElement, check_framed


def _checked_function(function: Any, owner: Any, argument: str) -> Callable[..., Any]:
    if not callable(function):
        raise bad_value(owner, argument, function, f"a function of {owner.signature}")
    return function


class _OnFrames(ForceElement):
    """A function of the frames of some bodies."""

    signature = ""
    members: tuple[Body, ...] = fixed("Bodies of whose frames it is a function.", "make a new force")
    function: Any = declared("The function of the frames.", _checked_function)

    def __init__(self, bodies: Body | Sequence[Body], function: FrameFunction, *, name: str | None = None) -> None:
        self._set(name=name, model=None, members=tuple(bodies) if isinstance(bodies, Sequence) else (bodies,))
        if not self.members or all(isinstance(body, Ground) for body in self.members):
            raise bad_value(self, "bodies", bodies, "at least one body that can move")
        for body in self.members:
            check_framed(body, self, "bodies")
        self._set(function=function)

    @property
    def bodies(self) -> tuple[Body, ...]:
        return self.members


class UserForce(_OnFrames):
    """Forces and torques on one or more bodies, given by a function of time, frames and velocities.

    ``function(t, frames, velocities)`` receives frames (k, 12) = (r, d1, d2, d3) and velocities (k, 6) = (velocity of
    the reference point, angular velocity), both in world axes, and returns (k, 6) = (force, torque about the
    reference point) in world axes. It is compiled and differentiated exactly if possible, and called as plain
    Python otherwise (docs/extending.md says what a function may do). A solution reports the force on the last body.
    """

    signature = "(t, frames, velocities)"

    def general(self) -> list[ElementData]:
        return [ElementData(USER_FORCE, self.members, (), self.function, "force", 6 * len(self.members))]


class UserPotential(_OnFrames):
    """Forces on one or more bodies that derive from an energy ``function(frames)``; frames as for ``UserForce``."""

    signature = "(frames)"

    def general(self) -> list[ElementData]:
        return [ElementData(USER_POTENTIAL, self.members, (), self.function, "potential", 1)]
