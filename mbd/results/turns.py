"""What a single record does not tell: turns of angles and signs of quaternions, which go on from record to record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..bodies import RigidBody
from ..errors import Array
from ..joints import Joint
from ..joints.rotor_hinge import RotorHinge
from ..joints.tree import free_motions

if TYPE_CHECKING:
    from ..system.system import System
    from .solution import Solution

BLOCK = 1 << 22  # numbers of records whose angles are followed at once


def unwrapped(t: Array, angle: Array, rate: Array, near: float = 0.0) -> Array:
    """The angle with whole turns added, such that its increments follow the rate, also between distant records.

    The first one is that which is nearest to ``near``.
    """
    expected = 0.5 * (rate[1:] + rate[:-1]) * np.diff(t)
    # turns are added once: what an angle is does not depend on where a part of a run begins
    counts = np.round(np.concatenate((near - angle[:1], expected - np.diff(angle))) / (2.0 * np.pi))
    return angle + 2.0 * np.pi * np.cumsum(counts)


def turns_in_doubt(t: Array, angle: Array, rate: Array) -> bool:
    """Whether increments between records may be whole turns other than the rates there say.

    They say it with the trapezoidal rule. A quarter turn is doubtful: as the error of that rule, by differences of the
    rates, or as what it leaves of the increment.
    """
    h = np.diff(t)
    kept = h > 0.0
    h, steps, sums = h[kept], np.diff(rate)[kept], 0.5 * (rate[1:] + rate[:-1])[kept]
    if not len(h):
        return False
    left = sums * h - np.diff(angle)[kept]
    left -= whole_turns(left)
    bends = np.abs(np.diff(steps / h)) * 2.0 / (h[1:] + h[:-1])
    # of two records nothing tells that the rate changes evenly between them
    bend = np.maximum(np.append(bends, 0.0), np.append(0.0, bends)) if len(bends) else 2.0 * np.abs(steps) / h**2
    return bool(np.maximum(np.abs(left), h**3 * bend / 12.0).max() > 0.5 * np.pi)


def whole_turns(angle: Array) -> Array:
    """The nearest multiple of 2 pi."""
    return 2.0 * np.pi * np.round(angle / (2.0 * np.pi))


def going_on(quaternions: Array, before: Array) -> Array:
    """Quaternions with the signs with which they go on from record to record, the first one from ``before``."""
    e = quaternions.copy()
    if e[0] @ before < 0.0:
        e[0] *= -1.0
    flips = np.where(np.sum(e[1:] * e[:-1], axis=1) < 0.0, -1.0, 1.0)
    e[1:] *= np.cumprod(flips)[:, None]
    return e


def counting_joints(system: System) -> Iterator[tuple[Joint, list[int]]]:
    """Joints whose turns are known from record to record only, and which of their coordinates turn.

    Angles that are coordinates of the system are numbers of each record.
    """
    for joint in system.elements[1]:
        edge = system.carrier(joint)
        if isinstance(joint, RotorHinge) or (edge is not None and edge.node is None):
            continue
        turning = [k for k, motion in enumerate(free_motions(joint) or ()) if motion in ("turn", "screw")]
        if turning or joint.coordinate in ("angle", "both"):
            yield joint, turning


class Reading(NamedTuple):
    """An angle whose turns are counted: where it is read."""

    joint: str
    column: int | None  # of the coordinates; None: the angle of the joint

    def __call__(self, of: Any) -> Any:
        """The angle in a solution, or that of a simulator at present."""
        view = of[self.joint]
        return view.angle if self.column is None else view.coordinates[..., self.column]


def readings(system: System) -> dict[str, Reading]:
    """Angles whose turns are counted, by the names under which they are."""
    found: dict[str, Reading] = {}
    for joint, turning in counting_joints(system):
        named = joint.coordinate in ("angle", "both")
        if named:
            found[joint.name] = Reading(joint.name, None)
        for column in turning:  # whose turns are those of the angle, if there is one
            found[f"{joint.name} {column}"] = Reading(joint.name, None if named else column)
    return found


def signed_bodies(system: System) -> Iterator[str]:
    """Names of bodies whose quaternions have signs that go on."""
    return (body.name for body in system.elements[0] if isinstance(body, RigidBody))


def unknown(system: System) -> dict[str, Any]:
    """What goes on from record to record, where nobody knows it."""
    nothing = np.full(4, np.nan)
    return dict.fromkeys(readings(system), np.nan) | dict.fromkeys(signed_bodies(system), nothing)


def turns_and_signs(solution: Solution, k: int) -> dict[str, Any]:
    """Angles of all joints that count their turns, and quaternions of all bodies, at one record."""
    found: dict[str, Any] = {name: float(read(solution)[k]) for name, read in readings(solution.system).items()}
    for name in signed_bodies(solution.system):
        before = solution._begins_with.get(name)
        found[name] = solution[name].quaternion[k] if before is None or np.isfinite(before).all() else before
    return found


def turns_and_signs_at(solution: Solution, k: int) -> dict[str, Any]:
    """The same at a record of a long run; not more frames are in memory than those of a block of records."""
    rows = max(2, BLOCK // (24 * (len(solution.model.bodies) + 1)))
    if k < rows or solution._begin()[1] == (solution, 0):  # those between records know it from these at once
        return turns_and_signs(solution, k)
    if not unknown(solution.system):
        return {}
    from .solution import Solution

    s, known = solution, solution._begins_with
    for first in range(0, k, rows):
        block = slice(first, min(first + rows, k) + 1)  # one record belongs to two blocks
        turns = None if s.turns is None else s.turns[block]
        part = Solution(s.system, s.t[block], s.q[block], s.v[block], None, None, turns, integrator=s.integrator)
        part._begins_with, part._whole = known, s._whole if first == 0 else None
        known = turns_and_signs(part, -1)
    return known
