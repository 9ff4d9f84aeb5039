"""Linear springs with dampers: between two points, about the axis of a joint, and along the axes of a body."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbd.bodies import Body, PointMass
from mbd.elements.arguments import Numbers, Vector
from mbd.elements.attributes import declared, fixed, not_negative
from mbd.elements.frame_kinds import TWIST
from mbd.errors import (
    IDENTITY3,
    ZERO3,
    Array,
    ModelError,
    bad_value,
    check_matrix,
    check_number,
    check_vector,
    read_only,
)
from mbd.forces import kinds
from mbd.forces.data import ElementData, ForceData
from mbd.forces.force import ForceElement, attachment, check_ends, distance_of_ends, framed, with_coordinate
from mbd.forces.on_joint import joint_row
from mbd.joints.joint import Joint
from mbd.joints.readings import expected_joint


class Spring(ForceElement):
    """Linear spring and damper between two points: tension ``stiffness (d - length) + damping d_dot`` at distance d.

    ``point_a`` and ``point_b`` are body-fixed (for the ground: world); ``length`` is by default the initial distance.

    >>> model = mbd.Model()
    >>> ball = model.add(mbd.PointMass("ball", mass=1.0, position=(1.2, 0, 0)))
    >>> spring = model.add(mbd.forces.Spring(model.ground, ball, stiffness=100.0, length=1.0, name="spring"))
    >>> solution = mbd.simulate(model, t_end=0.1, step=0.01)
    >>> f"{solution['spring'].length[0]:.2f} m, {solution['spring'].force[0, 0]:.1f} N on the ball"
    '1.20 m, -20.0 N on the ball'
    """

    body_a: Body = fixed("First body.", "make a new spring", framed)
    body_b: Body = fixed("Second body.", "make a new spring", framed)
    point_a: Array = attachment("Its point on the first body, body-fixed.", "body_a")
    point_b: Array = attachment("Its point on the second body, body-fixed.", "body_b")
    stiffness = declared("Tension per elongation.", not_negative)
    length = declared("Distance of the points without tension.", not_negative)
    damping = declared("Tension per rate of the distance.", not_negative)

    def __init__(
        self,
        body_a: Body,
        body_b: Body,
        point_a: Vector = ZERO3,
        point_b: Vector = ZERO3,
        stiffness: float | None = None,
        length: float | None = None,
        damping: float = 0.0,
        *,
        name: str | None = None,
    ) -> None:
        self._set(name=name, model=None, body_a=body_a, body_b=body_b, point_a=point_a, point_b=point_b)
        check_ends(self)
        self._set(stiffness=stiffness, damping=damping)
        distance = distance_of_ends(self)
        self._set(length=distance if length is None else length)
        self._check_direction(distance, length is not None)

    def validate(self) -> None:
        self._check_direction(distance_of_ends(self), True)

    def _check_direction(self, distance: float, length_is_given: bool) -> None:
        if distance == 0.0 and not (length_is_given and self.length == self.damping == 0.0):
            raise bad_value(
                self,
                "point_a, point_b",
                [self.point_a.tolist(), self.point_b.tolist()],
                "points that are apart, but they coincide initially, so that the force has no direction "
                "(only length=0 without damping works there)",
            )

    @property
    def bodies(self) -> tuple[Body, ...]:
        return (self.body_a, self.body_b)

    def rows(self) -> list[ForceData]:
        return [
            ForceData(
                kinds.SPRING,
                self.body_a,
                self.body_b,
                self.point_a,
                self.point_b,
                parameters=(self.stiffness, self.length, self.damping),
            )
        ]


class TorsionSpring(ForceElement):
    """Linear spring and damper about the axis of a joint.

    The torque on the second body is ``-stiffness (angle - rest) - damping angle_dot``. ``joint`` is a Revolute, a
    Cylindrical, or any joint that reports an angle. The angle is what the joint shows: zero in the initial
    configuration, unless the joint has another ``zero``.
    """

    joint: Joint = fixed("Joint about whose axis it acts.", "make a new spring", with_coordinate)
    stiffness = declared("Torque per angle.", not_negative)
    damping = declared("Torque per rate of the angle.", not_negative)
    rest = declared("Angle without torque.", check_number)

    def __init__(
        self,
        joint: Joint,
        stiffness: float | None = None,
        damping: float = 0.0,
        rest: float = 0.0,
        *,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        if not isinstance(joint, Joint) or joint.coordinate not in ("angle", "both"):
            given = f"{joint}, which has no angle" if isinstance(joint, Joint) else repr(joint)
            raise ModelError(
                f"{self}: joint is {given}; expected "
                + expected_joint(joint, "an angle, such as Revolute or Cylindrical")
            )
        self._set(joint=joint, stiffness=stiffness, damping=damping, rest=rest)

    @property
    def bodies(self) -> tuple[Body, ...]:
        return self.joint.bodies

    @property
    def joints(self) -> tuple[Joint, ...]:
        return (self.joint,)

    def rows(self) -> list[ForceData]:
        return [joint_row(self.joint, "angle", (self.stiffness, self.rest, self.damping))]


def _three_numbers(value: Any, owner: Any, argument: str) -> Array:
    """One number for each axis, from three or from one for all; none of them negative."""
    if np.ndim(value) == 0:
        value = (check_number(value, owner, argument, nonnegative=True),) * 3
    numbers = check_vector(value, owner, argument)
    if (numbers < 0.0).any():
        raise bad_value(owner, argument, value, "numbers that are not negative")
    return numbers


def _orthonormal(value: Any, owner: Any, argument: str) -> Array:
    axes = check_matrix(value, owner, argument, 3)
    if np.abs(axes.T @ axes - IDENTITY3).max() > 1e-9:
        raise bad_value(owner, argument, value, "a 3x3 matrix whose columns are perpendicular unit vectors")
    return axes


def _checked_axes(value: Any, owner: Any, argument: str) -> Array:
    """Axes of the first body; those of the second one coincide with them initially."""
    axes = IDENTITY3 if value is None else _orthonormal(value, owner, argument)
    first, second = owner.body_a, owner.body_b
    owner.__dict__["axes_b"] = read_only(np.asarray(second.rotation).T @ np.asarray(first.rotation) @ axes)
    return axes


class Bushing(ForceElement):
    """Elastic support: a linear spring and damper along each of three axes that are fixed in the first body.

    With the displacement ``u = axes^T (Q - P)`` of the second body's point Q from the first body's point P, seen in the
    axes of the first body, the force on the second body is ``-(stiffness u + damping u_dot)`` along each axis; the
    reaction acts on the first body at Q. It vanishes where the points coincide.

    Rotations from the initial relative orientation are measured by the sine ``s`` of the angle about each axis (the
    axial vector of the relative rotation, so keep well below 90 degrees). Each axis stores the energy
    ``rotational_stiffness s^2 / 2``, and ``-(rotational_stiffness s + rotational_damping s_dot)`` is the force that
    belongs to ``s``: the torque of a rotation about a single axis is that times the cosine of the angle.

    Parameters
    ----------
    point_a, point_b: body-fixed (for the ground: world).
    stiffness, damping, rotational_stiffness, rotational_damping: three numbers, one for each axis, or one for all; zero
        leaves a direction free, and what is not given is zero.
    axes: 3x3 matrix whose columns are perpendicular unit vectors, fixed in the first body; by default its own axes.
    """

    body_a: Body = fixed("First body.", "make a new bushing", framed)
    body_b: Body = fixed("Second body.", "make a new bushing", framed)
    point_a: Array = attachment("Its point on the first body, body-fixed.", "body_a")
    point_b: Array = attachment("Its point on the second body, body-fixed.", "body_b")
    stiffness = declared("Force per displacement along each axis.", _three_numbers)
    damping = declared("Force per velocity along each axis.", _three_numbers)
    rotational_stiffness = declared("Torque per angle about each axis, for small angles.", _three_numbers)
    rotational_damping = declared("Torque per rate of that angle about each axis, for small angles.", _three_numbers)
    axes = declared("Its axes as columns, fixed in the first body.", _checked_axes)
    axes_b: Array = fixed("The same axes, fixed in the second body.", "set axes, which they follow", _orthonormal)

    def __init__(
        self,
        body_a: Body,
        body_b: Body,
        point_a: Vector = ZERO3,
        point_b: Vector = ZERO3,
        stiffness: Numbers | None = None,
        damping: Numbers | None = None,
        axes: ArrayLike | None = None,
        *,
        rotational_stiffness: Numbers | None = None,
        rotational_damping: Numbers | None = None,
        name: str | None = None,
    ) -> None:
        self._set(name=name, model=None, body_a=body_a, body_b=body_b, point_a=point_a, point_b=point_b)
        check_ends(self)
        if isinstance(body_a, PointMass):
            raise ModelError(
                f"{self}: the first body is {body_a}, which has no axes; expected a RigidBody or the ground "
                "(exchange the two bodies, or use a Spring)"
            )
        if all(x is None for x in (stiffness, damping, rotational_stiffness, rotational_damping)):
            raise bad_value(self, "stiffness", None, "a stiffness or a damping, which may be zero")
        self._set(
            stiffness=0.0 if stiffness is None else stiffness,
            damping=0.0 if damping is None else damping,
            rotational_stiffness=0.0 if rotational_stiffness is None else rotational_stiffness,
            rotational_damping=0.0 if rotational_damping is None else rotational_damping,
            axes=axes,
        )
        self.validate()

    def validate(self) -> None:
        if self.turns and isinstance(self.body_b, PointMass):
            raise ModelError(f"{self}: the second body is {self.body_b}, which does not rotate; expected a RigidBody")

    @property
    def turns(self) -> bool:
        """Whether rotations are resisted."""
        return bool(self.rotational_stiffness.any() or self.rotational_damping.any())

    @property
    def bodies(self) -> tuple[Body, ...]:
        return (self.body_a, self.body_b)

    def rows(self) -> list[ForceData]:
        return [
            ForceData(
                kinds.AXIS_SPRING,
                self.body_a,
                self.body_b,
                self.point_a,
                self.point_b,
                axis_a=read_only(self.axes[:, i].copy()),
                parameters=(stiffness, 0.0, damping),
            )
            for i, (stiffness, damping) in enumerate(zip(self.stiffness.tolist(), self.damping.tolist(), strict=True))
            if stiffness > 0.0 or damping > 0.0
        ]

    def general(self) -> list[ElementData]:
        if not self.turns:
            return []
        frames = self.axes.T.ravel(), self.axes_b.T.ravel()
        numbers = np.concatenate((self.rotational_stiffness, self.rotational_damping, *frames))
        return [ElementData(TWIST, self.bodies, tuple(numbers.tolist()))]
