"""Forces on joints that hold what the joints carry against gravity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mbd.bodies import Body, Generalized, PointMass, RigidBody
from mbd.elements.attributes import fixed
from mbd.elements.frame_kinds import HOLDING
from mbd.errors import ModelError, bad_value
from mbd.forces.data import ElementData
from mbd.forces.force import ForceElement
from mbd.joints.couplings import Coupling
from mbd.joints.drivers import AngleDriver, PositionDriver
from mbd.joints.joint import Joint
from mbd.joints.readings import HAS, chosen_coordinate


def _joints(value: Any, owner: Any, argument: str) -> tuple[Joint, ...]:
    joints = tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
    if not joints:
        raise bad_value(owner, argument, value, "at least one joint")
    for joint in joints:
        if not isinstance(joint, Joint) or not HAS[joint.coordinate]:
            chosen_coordinate(joint, None, owner)
        if sum(joint is other for other in joints) > 1:
            raise ModelError(f"{owner}: {joint} is named twice; expected every joint once")
    return joints


class GravityCompensation(ForceElement):
    """Torques about (forces along) the axes of joints that hold the bodies which the joints carry against gravity.

    In every configuration, the torque on what a joint carries is ``-axis . sum of (c - p) x m g`` over the bodies
    beyond it, seen from the ground, with their centres of mass c and a point p of the axis; the force along an axis is
    ``-axis . sum of m g``. A joint with both coordinates has both. Its reaction acts on the body that carries. If all
    joints of a tree are named, the bodies move as if there were no gravity.

    A joint in a closed loop carries no bodies of its own and is refused. Couplings of joints, and drivers beside a
    joint, close no loop. Bodies and joints that are added to the model later are taken into account.

    A solution reports force and torque on the second body of a single joint; of several joints it is asked for those
    on one of the bodies: ``solution[element].force_on(body)``, ``torque_on(body)``.
    """

    held: tuple[Joint, ...] = fixed("Joints on which it acts.", "make a new element")

    def __init__(self, joints: Joint | Sequence[Joint], *, name: str | None = None) -> None:
        super().__init__(name)
        self._set(held=_joints(joints, self, "joints"))

    @property
    def joints(self) -> tuple[Joint, ...]:
        return self.held

    @property
    def reported(self) -> Body | None:
        return self.held[0].body_b if len(self.held) == 1 else None

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Those on which it acts, and those whose place matters."""
        found: dict[int, Body] = {}
        for joint in self.held:
            for body in (joint.body_a, joint.body_b, *(self.carried(joint) if self.model is not None else ())):
                found.setdefault(id(body), body)
        return tuple(found.values())

    def carried(self, joint: Joint) -> list[Body]:
        """The bodies beyond a joint, seen from the ground: first the one that the joint holds."""
        model = self.model if self.model is not None else joint.model
        if model is None:
            raise ModelError(f"{self}: {joint} is not in a model; expected it to be added first: model.add(...)")
        sides = [_reached(model, body, joint) for body in (joint.body_b, joint.body_a)]
        if any(body is joint.body_a for body in sides[0]):
            raise ModelError(
                f"{self}: {joint} lies in a closed loop, so that no bodies are its alone to carry; expected joints "
                "that are the only connection of the bodies beyond them to the ground"
            )
        for near, far in (sides[::-1], sides):
            if any(body is model.ground for body in near):
                return far
        first = next(body for body in model.bodies if any(body is x for side in sides for x in side))
        return (
            sides[1] if any(body is first for body in sides[0]) else sides[0]
        )  # nothing holds it: from its first body

    def check(self) -> None:
        for joint in self.held:
            self.carried(joint)

    def general(self) -> list[ElementData]:
        bodies = self.bodies
        place = {id(body): k for k, body in enumerate(bodies)}
        assert self.model is not None
        numbers: list[float] = [*self.model.gravity.tolist()]
        for joint in self.held:
            carried = [b for b in self.carried(joint) if isinstance(b, RigidBody | PointMass)]
            holds_second = carried[0] is joint.body_b
            other = joint.body_a if holds_second else joint.body_b
            markers = (*joint.axis_a.tolist(), *joint.point_b.tolist())
            for kind in HAS[joint.coordinate]:
                ends = (place[id(x)] for x in (joint.body_a, joint.body_b, carried[0], other))
                numbers += [float(kind == "angle"), *map(float, ends), *markers, float(len(carried))]
                for body in carried:
                    numbers += [float(place[id(body)]), body.mass, *body.com.tolist()]
        count = sum(len(HAS[joint.coordinate]) for joint in self.held)
        return [ElementData(HOLDING, bodies, (float(count), *numbers))]


def _reached(model: Any, start: Body, without: Joint) -> list[Body]:
    """Bodies that hang together with another one if a joint is taken away; the one itself first."""
    neighbours: dict[int, list[Body]] = {}
    for joint in model.joints:
        a, b = joint.bodies[:2]
        if joint is without or isinstance(joint, Coupling) or isinstance(a, Generalized) or isinstance(b, Generalized):
            continue
        if isinstance(joint, AngleDriver | PositionDriver) and {id(a), id(b)} == {id(x) for x in without.bodies[:2]}:
            continue
        neighbours.setdefault(id(a), []).append(b)
        neighbours.setdefault(id(b), []).append(a)
    found, seen = [start], {id(start)}
    for body in found:  # which grows
        for other in neighbours.get(id(body), ()):
            if id(other) not in seen:
                seen.add(id(other))
                found.append(other)
    return found
