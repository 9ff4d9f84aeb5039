"""Joints that couple coordinates: of one joint (screw) or of two (gears, racks, any transmission)."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal, Unpack

from mbd.bodies import Body
from mbd.elements.arguments import JointArguments
from mbd.elements.attributes import declared, fixed
from mbd.errors import Array, ModelError, bad_value, check_number
from mbd.joints.joint import Joint
from mbd.joints.lower_pairs import on_axis, parallel_axes
from mbd.joints.primitive_data import Coordinate, CoordinateSum, Primitive
from mbd.joints.readings import expected_joint

Kind = Literal["angle", "displacement"]


class Screw(Joint):
    """Nut on a thread: a cylindrical joint that advances ``pitch`` along the axis per turn (5 equations)."""

    coordinate = "both"
    uses_point = "required"
    uses_axis = "required"
    freedoms = ("screw",)
    oriented = (True, True)
    pitch = declared("Advance per turn.", check_number)

    def __init__(self, body_a: Body, body_b: Body, *, pitch: float, **arguments: Unpack[JointArguments]) -> None:
        super().__init__(body_a, body_b, **arguments)
        self._set(pitch=pitch)

    def primitives(self) -> list[Primitive]:
        terms = [Coordinate(self, "displacement", 1.0)]
        if self.pitch != 0.0:
            terms.append(Coordinate(self, "angle", -self.pitch / (2.0 * math.pi)))
        return [*parallel_axes(self), *on_axis(self), CoordinateSum(tuple(terms), self.start)]

    @property
    def start(self) -> float:
        """Displacement at which the angle is zero."""
        return self.zero[0] - self.pitch / (2.0 * math.pi) * self.zero[1]

    def orientation_conditions(self) -> list[tuple[Array, Array]]:
        return [(self.axis_a, self.axis_b)]


def _not_zero(value: Any, owner: Any, argument: str) -> float:
    number = check_number(value, owner, argument)
    if number == 0.0:
        raise bad_value(owner, argument, value, "a number that is not zero")
    return number


def checked_joint(value: Any, owner: Any, argument: str) -> Joint:
    """A joint, as far as a coupling needs one."""
    if not isinstance(value, Joint):
        expected = expected_joint(value, "an angle or a displacement, such as Revolute")
        raise bad_value(owner.label, argument, value, expected)
    return value


def _checked_kind(value: Any, owner: Any, argument: str) -> Kind:
    return owner._kind(getattr(owner, argument.replace("coordinate", "joint")), value, "ab".index(argument[-1]))


class Coupling(Joint):
    """Couples the coordinates of two joints: ``u_b = ratio * u_a + offset`` (1 equation).

    ``joint_a`` and ``joint_b`` are joints with an angle or a displacement (of a Cylindrical: say which with
    ``coordinate_a``, ``coordinate_b``); angles are counted through full turns. The reaction is that on the second
    body of ``joint_b``.

    >>> model = mbd.Model()
    >>> a, b = (model.add(mbd.RigidBody(name, mass=1.0, inertia=(1, 1, 1))) for name in "ab")
    >>> first = model.add(mbd.joints.Prismatic(model.ground, a, axis=(1, 0, 0)))
    >>> second = model.add(mbd.joints.Prismatic(model.ground, b, axis=(0, 0, 1)))
    >>> lever = model.add(mbd.joints.Coupling(first, second, ratio=-3.0))
    >>> push = model.add(mbd.forces.JointForce(first, 10.0))                   # on 1 kg + 3^2 1 kg
    >>> solution = mbd.simulate(model, t_end=1.0, step=0.01)
    >>> solution[first].displacement[-1].round(6), solution[second].displacement[-1].round(6)
    (np.float64(0.5), np.float64(-1.5))
    """

    kinds: ClassVar[tuple[Kind | None, Kind | None]] = (None, None)
    """What the two coordinates are, if the class prescribes it."""

    joint_a: Joint = fixed("First joint.", "make a new one", checked_joint)
    joint_b: Joint = fixed("Second joint.", "make a new one", checked_joint)
    coordinate_a: Kind = fixed("Which coordinate of the first joint.", "make a new one", _checked_kind)
    coordinate_b: Kind = fixed("Which coordinate of the second joint.", "make a new one", _checked_kind)
    ratio = declared("Second coordinate per first one.", _not_zero)
    offset = declared("Second coordinate where the first one is zero.", check_number)

    def __init__(
        self,
        joint_a: Joint,
        joint_b: Joint,
        ratio: float,
        offset: float = 0.0,
        *,
        coordinate_a: Kind | None = None,
        coordinate_b: Kind | None = None,
        name: str | None = None,
    ) -> None:
        self._set(name=name, model=None, joint_a=joint_a, joint_b=joint_b)
        for argument, joint in (("joint_a", joint_a), ("joint_b", joint_b)):
            checked_joint(joint, self, argument)
        self._set(
            body_a=joint_a.body_b if joint_a.body_b is not joint_b.body_b else joint_b.body_a,
            body_b=joint_b.body_b,
            point_a=joint_a.point_b,
            point_b=joint_b.point_b,
            frame_a=joint_a.frame_b,
            frame_b=joint_b.frame_b,
        )
        self._set(
            coordinate_a=self._kind(joint_a, coordinate_a, 0),
            coordinate_b=self._kind(joint_b, coordinate_b, 1),
        )
        if joint_a is joint_b and self.coordinate_a == self.coordinate_b:
            raise ModelError(
                f"{self}: both coordinates are the {self.coordinate_a} of {joint_a}; expected two different"
            )
        self._set(ratio=ratio, offset=offset)

    def _kind(self, joint: Joint, chosen: Kind | None, side: int) -> Kind:
        """Which coordinate of a joint is meant."""
        argument = f"coordinate_{'ab'[side]}"
        kind = self.kinds[side] or chosen or (joint.coordinate if joint.coordinate != "both" else None)
        has = ("angle", "displacement") if joint.coordinate == "both" else (joint.coordinate,)
        if kind is None and joint.coordinate == "both":
            raise ModelError(f"{self}: {joint} has an angle and a displacement; say which with {argument}=")
        if kind not in has or kind not in ("angle", "displacement"):
            raise ModelError(f"{self}: {joint} has no {kind or 'angle or displacement'} that could be coupled")
        return kind

    @property
    def bodies(self) -> tuple[Body, ...]:
        others = (self.joint_a.body_a, self.joint_b.body_a, self.joint_a.body_b)
        mine: list[Body] = [self.body_a, self.body_b]
        return tuple(mine + [b for i, b in enumerate(others) if not any(b is x for x in (*mine, *others[:i]))])

    def check(self) -> None:
        for joint in (self.joint_a, self.joint_b):
            in_model = joint.model is not None and joint.model is self.body_b.model
            if not in_model:
                raise ModelError(f"{self} refers to {joint}, which is not in the model; expected it to be added first")

    def primitives(self) -> list[Primitive]:
        terms = (
            Coordinate(self.joint_b, self.coordinate_b, 1.0),
            Coordinate(self.joint_a, self.coordinate_a, -self.ratio),
        )
        return [CoordinateSum(terms, self.offset)]

    def __str__(self) -> str:
        joints = " and ".join(f"'{joint.name or joint.label}'" for joint in (self.joint_a, self.joint_b))
        return f"{self.label} '{self.name}' of joints {joints}" if self.name else f"{self.label} of joints {joints}"


class Gear(Coupling):
    """Gear pair: ``angle_b = ratio * angle_a`` (1 equation).

    ``ratio`` is minus the number of teeth of the first wheel over that of the second for external gears with parallel
    axes, plus for an internal gear. The wheels turn in the two joints.
    """

    kinds = ("angle", "angle")


class RackPinion(Coupling):
    """Rack and pinion: ``displacement = radius * angle + offset`` (1 equation).

    ``pinion`` is a joint with an angle, ``rack`` one with a displacement.

    >>> model = mbd.Model()
    >>> wheel, bar = (model.add(mbd.RigidBody(name, mass=1.0, inertia=(1, 1, 1))) for name in ("wheel", "bar"))
    >>> pinion = model.add(mbd.joints.Revolute(model.ground, wheel, at=(0, 0, 0), axis=(0, 1, 0)))
    >>> rack = model.add(mbd.joints.Prismatic(model.ground, bar, axis=(1, 0, 0)))
    >>> teeth = model.add(mbd.joints.RackPinion(pinion, rack, radius=0.1))
    >>> turned = model.with_joint_values({pinion: 2.0})
    >>> turned["bar"].node.position.round(6).tolist()
    [0.2, 0.0, 0.0]
    """

    kinds = ("angle", "displacement")

    def __init__(
        self, pinion: Joint, rack: Joint, radius: float, offset: float = 0.0, *, name: str | None = None
    ) -> None:
        super().__init__(pinion, rack, radius, offset, name=name)
