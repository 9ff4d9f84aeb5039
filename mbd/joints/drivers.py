"""Joints that prescribe a motion in time (rheonomic constraints)."""

from __future__ import annotations

from typing import Any, Self, Unpack

import numpy as np

from mbd.bodies import Body
from mbd.elements.arguments import FunctionOfTime, JointArguments, Prescribed, PrescribedVector
from mbd.elements.attributes import declared
from mbd.elements.making import is_made_of_values, remember_making
from mbd.elements.prescribed_motion import Motion, as_motion, component, make_motion
from mbd.errors import ModelError, bad_value
from mbd.joints.joint import Array, Joint
from mbd.joints.lower_pairs import parallel_axes
from mbd.joints.primitive_data import Dot2, Primitive, Turned
from mbd.joints.readings import Kind, chosen_coordinate


class _Driver(Joint):
    """Prescribes one coordinate."""

    input_columns = {"value": ("value",)}
    uses_axis = "required"
    motion = declared("The value, a number or a function of time.", as_motion)

    def __init__(
        self,
        body_a: Body,
        body_b: Body,
        *,
        value: Prescribed = 0.0,
        rate: FunctionOfTime | None = None,
        acceleration: FunctionOfTime | None = None,
        **arguments: Unpack[JointArguments],
    ) -> None:
        super().__init__(body_a, body_b, **arguments)
        self._set(motion=make_motion(value, rate, acceleration, self))

    @classmethod
    def on(
        cls,
        joint: Joint,
        value: Prescribed = 0.0,
        *,
        rate: FunctionOfTime | None = None,
        acceleration: FunctionOfTime | None = None,
        name: str | None = None,
    ) -> Self:
        """A driver of what another joint shows: it has the bodies, the axis and the zero of that joint."""
        kind: Kind = "angle" if cls.coordinate == "angle" else "displacement"
        chosen_coordinate(joint, kind, f"{cls.__name__}.on")
        driver = cls(
            joint.body_a, joint.body_b, value=value, rate=rate, acceleration=acceleration, name=name,
            axis=joint.axis_a,
        )  # fmt: skip
        shared = ("point_a", "point_b", "frame_a", "frame_b", "zero", "branch")
        vars(driver).update((key, vars(joint)[key]) for key in shared if key in vars(joint))
        if is_made_of_values(driver) or is_made_of_values(joint):
            options = {"rate": rate, "acceleration": acceleration, "name": name}
            remember_making(driver, cls.on, (joint, value), options)
        return driver

    @classmethod
    def takes_input(cls, argument: str) -> bool:
        """What it prescribes may change during a run."""
        return argument in ("value", "motion")


class PositionDriver(_Driver):
    """Prescribes the displacement along an axis of the first body: ``axis . (Q - P) = value`` (1 equation).

    ``value`` is a number or a function of time, measured from where the joint's points coincide, which is the initial
    configuration unless ``point_a`` and ``point_b`` are given, or ``zero``; ``PositionDriver.on(joint, value)``
    prescribes what a joint shows. ``rate`` and ``acceleration`` are its time derivatives; without them they are
    computed. A driver prescribes one coordinate only; the guidance is up to other joints, e.g. a ``Prismatic``. The
    multiplier is the driving force on the first body along the axis.

    >>> model = mbd.Model()
    >>> piston = model.add(mbd.RigidBody("piston", mass=3.0, inertia=(1, 1, 1)))
    >>> guide = model.add(mbd.joints.Prismatic(model.ground, piston, axis=(1, 0, 0), name="guide"))
    >>> drive = model.add(mbd.joints.PositionDriver.on(guide, lambda t: 0.5 * t * t, name="drive"))
    >>> solution = mbd.simulate(model, t_end=1.0, step=0.01)
    >>> solution[guide].displacement[-1].round(6), solution[drive].force[-1, 0].round(6)   # 3 kg times 1 m/s^2
    (np.float64(0.5), np.float64(3.0))
    """

    coordinate = "displacement"
    oriented = (True, False)

    def primitives(self) -> list[Primitive]:
        return [Dot2(self.axis_a, self.point_a, self.point_b, self.motion.value, self.motion)]


class AngleDriver(_Driver):
    """Prescribes the angle about an axis, through any number of turns: ``angle = value`` (1 equation).

    ``value`` is a number or a function of time, in radians, measured from the initial configuration unless ``zero`` is
    given; ``AngleDriver.on(joint, value)`` prescribes what a joint shows. ``rate`` and ``acceleration`` are its time
    derivatives; without them they are computed. The axes of the two bodies must be held together by another joint,
    e.g. a ``Revolute``. The driving torque on the second body is ``solution[driver].torque``.
    """

    coordinate = "angle"
    oriented = (True, True)

    def primitives(self) -> list[Primitive]:
        return [Turned(self.n1_a, self.n2_a, self.n1_b, self.motion.value, self.motion)]

    def orientation_conditions_at(self, t: float) -> list[tuple[Array, Array]]:
        angle = _value_at(self.motion, t)
        return [(np.cos(angle) * self.n1_a + np.sin(angle) * self.n2_a, self.n1_b)]


def _three_motions(value: Any, owner: Any, argument: str) -> tuple[Motion, ...]:
    """Motions of the three components of a displacement."""
    if isinstance(value, tuple | list) and any(isinstance(part, Motion) for part in value):
        parts = list(value)
        size = len(parts)
    elif callable(value):
        try:
            size = np.size(value(0.0))
        except Exception as error:
            raise ModelError(f"{owner}: displacement failed at t = 0 with {type(error).__name__}: {error}") from error
        parts = [component(value, i) for i in range(3)]
    else:
        size, parts = np.size(value), list(np.ravel(value))
    if size != 3:
        raise bad_value(owner, "displacement", value, "three numbers, or a function of time that returns three")
    return tuple(as_motion(part, owner, "displacement") for part in parts)


class DrivenFrame(Joint):
    """Moves the second body as a given frame on the first one (6 equations).

    ``displacement`` (three numbers, or a function of time that returns three) is the position of ``point_b`` from
    ``point_a`` in the axes of the first body (for the ground: world); ``angle`` (a number or a function of time) the
    rotation about the axis of the joint. Both are measured from the initial configuration. Other joints and forces that
    act on the second body then move with the frame.

    >>> model = mbd.Model()
    >>> shaker = model.add(mbd.RigidBody("shaker", mass=1.0, inertia=(1, 1, 1)))
    >>> shake = mbd.joints.DrivenFrame(model.ground, shaker, displacement=lambda t: (0.0, 0.0, 0.01 * np.sin(50.0 * t)))
    >>> shake = model.add(shake)
    >>> mbd.kinematics(model, t_end=0.1, step=0.01)[shaker].position[-1, 2].round(6)   # 0.01 sin 5
    np.float64(-0.009589)
    """

    uses_axis = "optional"
    oriented = (True, True)
    motion = declared("The angle, a number or a function of time.", as_motion)
    motions = declared("The displacement, three numbers or functions of time.", _three_motions)

    def __init__(
        self,
        body_a: Body,
        body_b: Body,
        *,
        displacement: PrescribedVector = (0.0, 0.0, 0.0),
        angle: Prescribed = 0.0,
        **arguments: Unpack[JointArguments],
    ) -> None:
        super().__init__(body_a, body_b, **arguments)
        self._set(motions=displacement)
        self._set(motion=make_motion(angle, None, None, self, "angle"))

    @classmethod
    def takes_input(cls, argument: str) -> bool:
        """What it prescribes may change during a run."""
        return argument in ("displacement", "angle", "motion", "motions")

    def primitives(self) -> list[Primitive]:
        return [
            *(
                Dot2(e, self.point_a, self.point_b, motion.value, motion)
                for e, motion in zip(np.eye(3), self.motions, strict=True)
            ),
            *parallel_axes(self),
            Turned(self.n1_a, self.n2_a, self.n1_b, self.motion.value, self.motion),
        ]

    def orientation_conditions(self) -> list[tuple[Array, Array]]:
        return [(self.axis_a, self.axis_b)]

    def orientation_conditions_at(self, t: float) -> list[tuple[Array, Array]]:
        angle = _value_at(self.motion, t)
        turned = np.cos(angle) * self.n1_a + np.sin(angle) * self.n2_a
        return [*self.orientation_conditions(), (turned, self.n1_b)]


def _value_at(motion: Motion, t: float) -> float:
    return motion.value if motion.function is None else float(np.real(motion.function(t)))
