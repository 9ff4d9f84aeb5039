"""Controls and motors on joints."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from mbd.bodies import Body, Rotor
from mbd.elements.arguments import Effort, FunctionOfTime, Numbers, Prescribed
from mbd.elements.attributes import declared, fixed, not_negative
from mbd.elements.prescribed_motion import as_motion, make_motion
from mbd.errors import bad_value, check_number, read_only
from mbd.forces.data import ForceData
from mbd.forces.on_joint import Driven, effort, positive_or_none
from mbd.joints.joint import Joint
from mbd.joints.rotor_hinge import RotorHinge


class PDControl(Driven):
    """Proportional-derivative control of the coordinate of a joint.

    The force along (torque about) the joint's axis on the second body is
    ``kp (target - u) + kd (target_dot - u_dot) + feedforward``, cut off at ``limit`` if one is given. ``target`` is a
    number or a function of time, ``rate`` its derivative, computed if not given; ``feedforward`` is a number, a
    function of time, or one of (t, u, u_dot) as that of a ``JointForce``. ``switches`` lists the times at which these
    functions jump or have a kink, so that step-size control stops there. ``coordinate`` says which coordinate of a
    Cylindrical joint is meant. The attribute ``motion`` is the target; set it to a number or a function of time to
    change it.
    """

    input_columns = {"target": ("p2",), "feedforward": ("p4",)}
    kp = declared("Force per deviation.", not_negative)
    kd = declared("Force per rate of the deviation.", not_negative)
    motion = declared("The target, a number or a function of time.", as_motion)
    feedforward: Any = declared("What is added: a number, or a function of t or of (t, u, u_dot).", effort, default=0.0)
    limit: float | None = declared("Largest force or torque, or None.", positive_or_none, default=None)

    def __init__(
        self, joint: Joint, target: Prescribed = 0.0, kp: float = 0.0, kd: float = 0.0, *,
        rate: FunctionOfTime | None = None, feedforward: Effort = 0.0, limit: float | None = None,
        coordinate: str | None = None, switches: Numbers = (), name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(joint, coordinate, name)
        self._set(kp=kp, kd=kd)
        self._set(motion=make_motion(target, rate, None, self, "target"))
        self._set_given(feedforward=feedforward, limit=limit, switches=switches)

    def rows(self) -> list[ForceData]:
        law = (self.kp, self.motion.value, self.kd)
        return [self._driven_row(self.feedforward, law, self.limit, motion=self.motion)]


def _not_zero(value: Any, owner: Any, argument: str) -> float:
    number = check_number(value, owner, argument)
    if number == 0.0:
        raise bad_value(owner, argument, value, "a number that is not zero")
    return number


class Motor(Driven):
    """A motor on a joint, possibly behind a gear: torque, its limit, and the inertia of its rotor.

    All forces are those on the joint, behind the gear: ``torque`` (of a joint with a displacement a force) is a number,
    a function of time, or one of (t, u, u_dot) as that of a ``JointForce``; it acts on the second body, its
    reaction on the first, and is cut off at ``limit`` if one is given. The torque of the motor itself is that divided
    by ``gear``.

    ``gear`` is the angle of the rotor per angle (or displacement) of the joint, and ``rotor_inertia`` the moment of
    inertia of the rotor about its axis. They add the kinetic energy ``gear^2 rotor_inertia u_dot^2 / 2`` to the system,
    what other programs call armature; the rotor has no gyroscopic effects. Its weight belongs to the body that carries
    it. Without a ``rotor_inertia`` the gear has no effect.

    A model to which a motor with a rotor is added contains ``motor.rotor``, a body with this inertia, and
    ``motor.hinge``, the coupling by which the joint turns it; they come and go with the motor.
    """

    input_columns = {"torque": ("p4",)}
    torque: Any = declared("Torque or force on the joint: a number, or a function of t or of (t, u, u_dot).", effort)
    limit: float | None = declared("Largest torque or force on the joint, or None.", positive_or_none)
    gear: float = fixed("Angle of the rotor per angle or displacement of the joint.", "make a new motor", _not_zero)
    rotor_inertia: float = fixed("Moment of inertia of the rotor about its axis.", "make a new motor", not_negative)
    rotor: Rotor | None = fixed("The body with the reflected inertia, or None.", "make a new motor", default=None)
    hinge: RotorHinge | None = fixed("The coupling that turns the rotor, or None.", "make a new motor", default=None)

    def __init__(
        self,
        joint: Joint,
        torque: Effort = 0.0,
        *,
        limit: float | None = None,
        gear: float = 1.0,
        rotor_inertia: float = 0.0,
        coordinate: str | None = None,
        switches: Numbers = (),
        name: str | None = None,
    ) -> None:
        super().__init__(joint, coordinate, name)
        self._set(torque=torque, limit=limit, gear=_not_zero(gear, self, "gear"))
        self._set(rotor_inertia=not_negative(rotor_inertia, self, "rotor_inertia"))
        self._set_given(switches=switches)

    @classmethod
    def takes_input(cls, argument: str) -> bool:
        """The rotor is a body."""
        return argument not in ("gear", "rotor_inertia") and super().takes_input(argument)

    def remade(self, before: dict[str, Any]) -> None:
        """The rotor stays, with its new inertia."""
        super().remade(before)
        parts = {key: before[key] for key in ("rotor", "hinge") if before.get(key) is not None}
        if bool(parts) is not (self.reflected_inertia > 0.0) and self.model is not None:
            raise bad_value(
                self, "rotor_inertia", self.rotor_inertia, "a rotor where there was one, and none where there was "
                "none: it is a body of the model. Build the model again"
            )  # fmt: skip
        vars(self).update(parts)
        if self.rotor is not None:
            inertia = self.reflected_inertia
            vars(self.rotor).update(mass=inertia, inertia=read_only(inertia * np.eye(3)))

    @property
    def _held(self) -> tuple[Any, ...]:
        """The body of its rotor."""
        return () if self.rotor is None else (self.rotor,)

    @property
    def reflected_inertia(self) -> float:
        """Inertia on the coordinate of the joint: ``gear^2 rotor_inertia``."""
        return self.gear * self.gear * self.rotor_inertia

    @property
    def parts(self) -> tuple[Body | Joint, ...]:
        if self.reflected_inertia > 0.0 and self.rotor is None and self.model is not None:
            rotor = Rotor(self._name_of("rotor"), self.reflected_inertia)
            hinge = RotorHinge(self.model.ground, rotor, self.joint, self.coordinate, name=self._name_of("gear"))
            vars(self).update(rotor=rotor, hinge=hinge)
        return tuple(part for part in (self.rotor, self.hinge) if part is not None)

    def _name_of(self, part: str) -> str:
        """A name that is free in the model."""
        names = (f"{part} of {self.name}" + (f" ({k})" if k else "") for k in count())
        return next(name for name in names if self.model is None or name not in self.model)

    def leave(self) -> tuple[Body | Joint, ...]:
        parts = self.parts
        for key in ("rotor", "hinge"):
            vars(self).pop(key, None)
        return parts

    def rows(self) -> list[ForceData]:
        return [self._driven_row(self.torque, (0.0, 0.0, 0.0), self.limit)]
