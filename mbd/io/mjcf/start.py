"""Where the bodies of an MJCF file are, and how they move, for given values and rates of its joints.

A joint turns or shifts its body and everything behind it; several joints of a body act one after the other, each in
the frame that the ones before have moved. Velocities of ball and free joints are as MuJoCo has them: angular ones in
the axes of the body, linear ones in those of the world.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import Array, ModelError, check_number
from ...rotation import from_quaternion, from_rotation_vector
from .attributes import Attributes
from .document import Document
from .tree import JointData, Tree


@dataclass(frozen=True)
class Motion:
    """Position of the origin, rotation, velocity of the origin and angular velocity, in world axes."""

    position: Array
    rotation: Array
    velocity: Array
    spin: Array

    def carried(self, pose: Array) -> Motion:
        """The motion of a frame that is fixed in this one."""
        arm = self.rotation @ pose[:3, 3]
        velocity = self.velocity + np.cross(self.spin, arm)
        return Motion(self.position + arm, self.rotation @ pose[:3, :3], velocity, self.spin)


AT_REST = Motion(np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3))


@dataclass
class State:
    """Value and rate of a joint; of a ball joint a quaternion and a spin, of a free one a pose and six rates."""

    value: Any
    rate: Any


def at_reference(joint: JointData, pose: Array) -> State:
    """The state in which the file defines the model; ``pose`` is that of the body in the world, for free joints."""
    if joint.type == "ball":
        return State(np.array((1.0, 0.0, 0.0, 0.0)), np.zeros(3))
    if joint.type == "free":
        return State((pose[:3, 3], pose[:3, :3]), np.zeros(6))
    return State(joint.ref, 0.0)


def moved(joint: JointData, before: Motion, state: State) -> Motion:
    """The motion behind a joint."""
    if joint.type == "free":
        position, turn = state.value
        return Motion(position, turn, state.rate[:3], turn @ state.rate[3:])
    axis = before.rotation @ joint.axis
    if joint.type == "slide":
        arm = (state.value - joint.ref) * axis
        velocity = before.velocity + np.cross(before.spin, arm) + state.rate * axis
        return Motion(before.position + arm, before.rotation, velocity, before.spin)
    if joint.type == "hinge":
        turn = before.rotation @ from_rotation_vector((state.value - joint.ref) * joint.axis)
        spin = before.spin + state.rate * axis
    else:
        turn = before.rotation @ from_quaternion(state.value)
        spin = before.spin + turn @ state.rate
    arm = before.rotation @ joint.point
    back = turn @ joint.point
    velocity = before.velocity + np.cross(before.spin, arm) - np.cross(spin, back)
    return Motion(before.position + arm - back, turn, velocity, spin)


class Start:
    """States of all joints: those of the file, of one of its keyframes, and what people give."""

    def __init__(self, tree: Tree, keyframe: str | None, positions: Mapping[str, float]) -> None:
        self.tree = tree
        self.controls: list[float] | None = None
        world: list[Array] = []
        self.states: dict[int, State] = {}
        for body in tree.bodies:
            world.append(body.pose if body.parent < 0 else world[body.parent] @ body.pose)
            for joint in body.joints:
                self.states[id(joint)] = at_reference(joint, world[-1])
        if keyframe is not None:
            self._take(_keyframe(tree.document, keyframe))
        for name, value in positions.items():
            self._give(name, value)

    def motions(self) -> list[list[Motion]]:
        """For every body its motion behind each of its joints, in front of them first."""
        found: list[list[Motion]] = []
        for body in self.tree.bodies:
            chain = [AT_REST if body.parent < 0 else found[body.parent][-1].carried(body.pose)]
            for joint in body.joints:
                chain.append(moved(joint, chain[-1], self.states[id(joint)]))
            found.append(chain)
        return found

    def _give(self, name: str, value: float) -> None:
        joint = self.tree.joints.get(name)
        where = self.tree.document.path
        if joint is None:
            raise ModelError(f"{where}: positions names the joint {name!r}, which is not in the file")
        if joint.type not in ("hinge", "slide"):
            raise ModelError(
                f"{where}: positions gives a value for the {joint.type} joint {name!r}; expected hinges and slides. "
                "Set position and rotation of its body instead"
            )
        self.states[id(joint)].value = check_number(value, f"{where}: joint {name!r}", "position")

    def _take(self, key: Attributes) -> None:
        """Values and rates of all joints from a keyframe."""
        joints = [joint for body in self.tree.bodies for joint in body.joints]
        sizes = {"hinge": (1, 1), "slide": (1, 1), "ball": (4, 3), "free": (7, 6)}
        for column, name in enumerate(("qpos", "qvel")):
            if name not in key:
                continue
            total = sum(sizes[joint.type][column] for joint in joints)
            values = key.numbers(name, total)
            start = 0
            for joint in joints:
                size = sizes[joint.type][column]
                part = values[start : start + size]
                start += size
                state = self.states[id(joint)]
                if column == 1:
                    state.rate = part if size > 1 else float(part[0])
                elif joint.type == "free":
                    state.value = (part[:3], from_quaternion(_unit(key, part[3:])))
                else:
                    state.value = _unit(key, part) if size > 1 else float(part[0])
        if "ctrl" in key:
            self.controls = key.numbers("ctrl", 1, 10_000).tolist()


def _unit(key: Attributes, quaternion: Array) -> Array:
    if not np.abs(quaternion).max() > 1e-12:
        raise key.error("qpos", "quaternions that are not zero")
    return quaternion


def _keyframe(document: Document, name: str) -> Attributes:
    """The keyframe with this name, or number."""
    keys = list(document.section("keyframe"))
    for number, key in enumerate(keys):
        if name in (key.get("name"), str(number) if not key.get("name") else None):
            return Attributes(key, {k: (v, key) for k, v in key.attributes.items()})
    known = ", ".join(repr(key.get("name") or str(n)) for n, key in enumerate(keys[:8])) or "none"
    raise ModelError(f"{document.path}: keyframe = {name!r} is not in the file; it has {known}")
