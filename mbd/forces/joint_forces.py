"""Forces along and about the axes of joints: given ones, friction, and limits of the motion."""

from __future__ import annotations

import math
from typing import Any

from mbd.elements.arguments import Effort, Numbers
from mbd.elements.attributes import declared, not_negative, positive
from mbd.errors import ModelError, bad_value, check_number
from mbd.forces.data import ForceData
from mbd.forces.kinds import FRICTION, LIMIT
from mbd.forces.on_joint import Driven, OnJoint, check_limits, effort, joint_row, positive_or_none
from mbd.joints.joint import Joint


def _number_or_none(value: Any, owner: Any, argument: str) -> float | None:
    return None if value is None else check_number(value, owner, argument)


def _not_negative_or_none(value: Any, owner: Any, argument: str) -> float | None:
    return None if value is None else not_negative(value, owner, argument)


class JointForce(Driven):
    """A torque about the axis of a joint with an angle, or a force along that of one with a displacement.

    It acts on the second body, its reaction on the first. ``force`` is a number, a function of time ``f(t)``, or one of
    the joint as well, ``f(t, u, u_dot)``, with the angle or displacement u that the joint shows (turns are counted) and
    its rate; it is compiled and differentiated exactly if possible (docs/extending.md). ``coordinate`` says which
    coordinate of a Cylindrical or a Screw is meant. ``switches`` lists the times at which the function jumps.
    """

    input_columns = {"force": ("p4",)}
    force: Any = declared("The force or torque: a number, or a function of t or of (t, u, u_dot).", effort)

    def __init__(
        self,
        joint: Joint,
        force: Effort,
        *,
        coordinate: str | None = None,
        switches: Numbers = (),
        name: str | None = None,
    ) -> None:
        super().__init__(joint, coordinate, name)
        self._set(force=force, switches=switches)

    def rows(self) -> list[ForceData]:
        return [self._driven_row(self.force, (0.0, 0.0, 0.0), None)]


class JointFriction(OnJoint):
    """Friction in a joint: viscous, Coulomb's, and Stribeck's.

    The torque about (or the force along) the axis on the second body is

        -viscous v - (coulomb + (static - coulomb) exp(-(v / stribeck_velocity)^2)) tanh(v / transition)

    with the rate v of the joint's coordinate. Its power is never positive.

    ``coulomb`` and ``static`` are torques (forces), constant: they do not depend on the load that the joint carries.
    The sign of v is smoothed: the full level is there from about three times ``transition`` on (99.5 %), and a joint
    that Coulomb's friction would hold creeps at a fraction of ``transition``. Make it as small as the motion asks for;
    the smaller, the stiffer the equations at rest (coulomb / transition is a damping constant), which matters to
    explicit methods. ``static`` needs ``stribeck_velocity``, well above ``transition``. What is not given is zero.
    """

    viscous = declared("Torque or force per rate.", not_negative)
    coulomb = declared("Level of the friction at large rates, without the viscous part.", not_negative)
    static: float | None = declared("Level near rest, at least coulomb; None: the same.", _not_negative_or_none)
    stribeck_velocity: float | None = declared("Rate over which static falls to coulomb.", positive_or_none)
    transition = declared("Rate over which the sign of the friction changes.", positive)

    def __init__(
        self,
        joint: Joint,
        viscous: float | None = None,
        coulomb: float | None = None,
        static: float | None = None,
        stribeck_velocity: float | None = None,
        transition: float = 1e-2,
        *,
        coordinate: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(joint, coordinate, name)
        if viscous is None and coulomb is None and static is None:
            raise bad_value(self, "viscous, coulomb", (None, None), "a coefficient, which may be zero")
        self._set(viscous=0.0 if viscous is None else viscous, coulomb=0.0 if coulomb is None else coulomb)
        self._set(static=static, stribeck_velocity=stribeck_velocity, transition=transition)
        self.validate()

    def validate(self) -> None:
        static, rate = self.static, self.stribeck_velocity
        if (static is None) != (rate is None):
            raise bad_value(self, "static, stribeck_velocity", (static, rate), "both of them, or none")
        if static is None or rate is None:
            return
        if static < self.coulomb:
            raise bad_value(self, "static", static, f"a level that is not below coulomb, {self.coulomb:g}")
        if not self.transition < rate:
            raise bad_value(
                self, "transition", self.transition, f"a rate below stribeck_velocity, {rate:g}, which it would hide"
            )

    def rows(self) -> list[ForceData]:
        more = 0.0 if self.static is None else self.static - self.coulomb
        law = (self.viscous, self.coulomb, more, self.stribeck_velocity or 1.0, self.transition)
        return [joint_row(self.joint, self.coordinate, law, law=FRICTION)]


class JointLimit(OnJoint):
    """Elastic, damped limits of the angle or displacement of a joint; inside them nothing acts.

    Beyond a limit, at the depth x, the torque (force) that pushes back is ``stiffness x + damping x_dot``, where the
    second part is never larger than the first. It therefore begins and ends at zero, has at most twice the elastic
    value, and never pulls; a bounce keeps the same share of the velocity, whatever that is. The energy
    ``stiffness x^2 / 2`` enters ``solution.energy``, and what the damping takes ``solution.power``.

    ``lower`` and ``upper`` refer to what the joint shows (``zero`` of the joint; turns are counted); None leaves a side
    open. The joint must be between them where the element is made.
    """

    lower: float | None = declared("Lower limit, or None.", _number_or_none)
    upper: float | None = declared("Upper limit, or None.", _number_or_none)
    stiffness = declared("Torque or force per depth.", positive)
    damping = declared("Torque or force per rate of the depth.", not_negative)

    def __init__(
        self,
        joint: Joint,
        lower: float | None = None,
        upper: float | None = None,
        stiffness: float | None = None,
        damping: float = 0.0,
        *,
        coordinate: str | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(joint, coordinate, name)
        self._set(lower=lower, upper=upper, stiffness=stiffness, damping=damping)
        self.validate()
        value, (low, high) = joint.at_start(self.coordinate)[0], self.ends
        if not low <= value <= high:
            raise ModelError(
                f"{self}: {joint} starts with the {self.coordinate} {value:.6g}, which is not between the limits "
                f"{low:g} and {high:g}; expected a start between them (zero= of the joint says what it shows there)"
            )

    def validate(self) -> None:
        check_limits(self, self.lower, self.upper)

    @property
    def ends(self) -> tuple[float, float]:
        """Both limits; infinite where there is none."""
        return -math.inf if self.lower is None else self.lower, math.inf if self.upper is None else self.upper

    def rows(self) -> list[ForceData]:
        low, high = self.ends
        return [joint_row(self.joint, self.coordinate, (self.stiffness, low, self.damping, high), law=LIMIT)]
