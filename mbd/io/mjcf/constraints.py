"""Equality constraints of an MJCF file as joints that close loops: connect, weld, and joints that follow others.

MuJoCo's constraints give way a little; these are rigid. Where a file puts two sites together that are apart in the
initial configuration, the start of a run is corrected.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import Array
from ...joints import AngleDriver, Coupling, Fixed, PositionDriver, Spherical
from ...rotation import from_quaternion
from ..xml_file import shortened, told_at
from .attributes import Attributes, place
from .build import Built
from .tree import JointData

RIGID = "softness of constraints, which are rigid here"


class Equalities:
    """Adds the constraints to the model."""

    def __init__(self, built: Built) -> None:
        self.built, self.document = built, built.document
        on = self.document.enabled("equality") and self.document.enabled("constraint")
        for element in self.document.section("equality"):
            path = f"equality/{element.tag}"
            attributes = self.document.read(element, path)
            if attributes is None:
                continue
            self.document.children(element, element.tag)
            if not on or not attributes.flag("active", True):
                self.document.left_out.note(path, place(element), "switched off in the file")
                continue
            name = element.get("name") or None
            given = None if name is None else built.names.free(name, "constraint")
            with told_at(element):
                if element.tag == "joint":
                    self._couple(attributes, given)
                else:
                    self._hold(attributes, given)

    def _hold(self, attributes: Attributes, name: str | None) -> None:
        """Two bodies at a point, and with the same orientation if they are welded."""
        element = attributes.element
        sites = "site1" in attributes or "site2" in attributes
        if sites == ("body1" in attributes):
            raise element.error("expected either site1 and site2, or body1")
        first, second = self._by_sites(attributes) if sites else self._by_bodies(attributes)
        if first[0] is second[0]:
            raise element.error("both ends are on the same body; expected two bodies that move against each other")
        (a, pose_a), (b, pose_b) = first, second
        points: dict[str, Any] = {"point_a": pose_a[:3, 3], "point_b": pose_b[:3, 3]}
        if element.tag == "connect" or attributes.number("torquescale", 1.0) == 0.0:
            self.built.model.add(Spherical(a, b, name=name, **points))
        else:
            frames: dict[str, Any] = {"frame_a": pose_a[:3, :3], "frame_b": pose_b[:3, :3]}
            self.built.model.add(Fixed(a, b, name=name, **points, **frames))

    def _by_sites(self, attributes: Attributes) -> list[tuple[Any, Array]]:
        ends = []
        for key in ("site1", "site2"):
            name = attributes.required(key)
            site = self.built.tree.sites.get(name)
            if site is None:
                raise attributes.error(key, "the name of a site of the file")
            body, pose = self.built.body_of(site.body)
            ends.append((body, pose @ site.pose))
        return ends

    def _by_bodies(self, attributes: Attributes) -> list[tuple[Any, Array]]:
        """Frames on both bodies that coincide where the constraint holds."""
        tree, element = self.built.tree, attributes.element
        numbers = []
        for key in ("body1", "body2"):
            name = attributes.text(key) or ("world" if key == "body2" else "")
            if name not in tree.body_names:
                raise element.error(f"{key} = {shortened(name)!r}; expected the name of a body of the file")
            numbers.append(tree.body_names[name])
        one, two = (self._world(number) for number in numbers)
        local_one, local_two = np.eye(4), np.eye(4)
        if element.tag == "connect":
            local_one[:3, 3] = attributes.numbers("anchor", 3)
            local_two = np.linalg.inv(two) @ one @ local_one
        else:
            local_two[:3, 3] = attributes.numbers("anchor", 3, default=(0.0, 0.0, 0.0))
            local_one = np.linalg.inv(one) @ two @ local_two
            relative = attributes.numbers("relpose", 7, default=(0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
            if relative[3:].any():
                local_one[:3, 3] = relative[:3]
                local_one[:3, :3] = from_quaternion(relative[3:])
        ends = []
        for number, local in zip(numbers, (local_one, local_two), strict=True):
            body, pose = self.built.body_of(number)
            ends.append((body, pose @ local))
        return ends

    def _world(self, number: int) -> Array:
        """Pose of a body in the configuration in which the file defines the model."""
        pose = np.eye(4)
        while number > 0:
            body = self.built.tree.bodies[number]
            pose = body.pose @ pose
            number = body.parent
        return pose

    def _joint(self, attributes: Attributes, key: str) -> tuple[JointData, Any]:
        data = self.built.tree.joints.get(attributes.required(key))
        if data is None or data.type not in ("hinge", "slide"):
            raise attributes.error(key, "the name of a hinge or a slide of the file")
        return data, self.built.joints[id(data)]

    def _couple(self, attributes: Attributes, name: str | None) -> None:
        """``y - y0 = a0 + a1 (x - x0)`` for what two joints show, or one joint that is held."""
        element, model = attributes.element, self.built.model
        values = attributes.numbers("polycoef", 1, 5, default=(0.0, 1.0)).tolist()
        a0, a1, *more = values + [0.0, 1.0, 0.0, 0.0, 0.0][len(values) :]
        data, follower = self._joint(attributes, "joint1")
        if "joint2" not in attributes or (a1 == 0.0 and not any(more)):
            cls: Any = AngleDriver if data.type == "hinge" else PositionDriver
            model.add(cls.on(follower, data.ref + a0, name=name))
            return
        if any(more):
            meaning = "a joint that follows another one by a polynomial of higher order"
            self.document.left_out.refuse("equality/joint@polycoef", place(element), meaning)
            return
        other, leader = self._joint(attributes, "joint2")
        if other is data:
            raise element.error("joint1 and joint2 are the same; expected two joints")
        model.add(Coupling(leader, follower, a1, data.ref + a0 - a1 * other.ref, name=name))
