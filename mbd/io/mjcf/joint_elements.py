"""What acts on the joints of an MJCF file: springs, dampers, friction, armatures, stops, motors and servos."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...elements.arguments import Prescribed
from ...errors import Array, ModelError
from ...forces import JointForce, JointFriction, Motor, PDControl, TorsionSpring, UserForce
from ...joints import Joint
from ..joint_inertia import carried_masses, joint_space_inertia, moved_inertia
from ..stops import OUTSIDE, add_stop, per_inertia
from ..xml_file import told_at
from .actuators import ActuatorData, Actuators
from .attributes import place
from .build import Built
from .start import Start
from .tree import JointData

FREE_OR_BALL = {
    "stiffness": "a spring in a {} joint",
    "damping": "damping of higher order in a {} joint",
    "friction": "friction in a {} joint",
    "armature": "inertia added to a {} joint",
    "range": "a limit of a {} joint",
}


class JointElements:
    """Adds forces to the joints of the model."""

    def __init__(
        self, built: Built, actuators: Actuators, start: Start, controls: dict[str, Prescribed], limits: float | None
    ) -> None:
        self.built, self.model, self.document = built, built.model, built.document
        self.actuators = actuators.found
        self.joints = built.pairs()
        self.limits = limits
        self.armatures = {id(data): data.armature for data, _ in self.joints}
        for actuator in self.actuators:
            self.armatures[id(actuator.joint)] += actuator.armature
        self.controls = self._controls(start, controls)
        self._refuse_others()
        self._inertias: dict[int, float] | None = None
        for data, joint in self.joints:
            with told_at(data.element):
                if data.type != "ball":
                    self._passive(data, joint)
                else:
                    self._damp(data, joint.bodies, joint.name)
        for data, body in built.floating_joints():
            with told_at(data.element):
                self._damp(data, (body,), body.name)
        for actuator in self.actuators:
            with told_at(actuator.element):
                self._actuate(actuator)

    def _refuse_others(self) -> None:
        """Ball and free joints have no coordinate on which an element could act."""
        on = self.document.enabled
        active = {
            "stiffness": on("spring") and on("passive"),
            "damping": on("damper") and on("passive"),
            "friction": on("frictionloss") and on("constraint"),
            "armature": True,
            "range": self.limits is not None and on("limit") and on("constraint"),
        }
        for body in self.built.tree.bodies:
            for data in body.joints:
                if data.type in ("hinge", "slide"):
                    continue
                for name, meaning in FREE_OR_BALL.items():
                    value = getattr(data, name)
                    if name == "stiffness" and data.spring_damper is not None:
                        value = data.spring_damper
                    elif name == "damping":
                        value = value[1:]
                    if value is not None and np.any(value) and active[name]:
                        attribute = {"friction": "frictionloss"}.get(name, name)
                        self.document.left_out.refuse(
                            f"joint@{attribute}", place(data.element), meaning.format(data.type)
                        )

    # --- inertia that a joint moves

    def inertia(self, data: JointData, joint: Joint) -> float:
        """In the initial configuration, its armature included."""
        if self._inertias is None:
            carried = carried_masses(self.built.tree_joints)
            self._inertias = {id(joint): moved_inertia(joint, carried[id(joint)]) for _, joint in self.joints}
        return self._inertias[id(joint)] + self.armatures[id(data)]

    def _reflected(self, data: JointData) -> float:
        """``1 / (M^-1)_jj``: the inertia of a joint while all others give way."""
        added = {id(joint): self.armatures[id(data)] for data, joint in self.joints}
        matrix, first = joint_space_inertia(self.built.tree_joints, self.built.floating, added)
        column = first[id(self.built.joints[id(data)])]
        unit = np.zeros(len(matrix))
        unit[column] = 1.0
        return 1.0 / float(np.linalg.solve(matrix, unit)[column])

    # --- passive elements

    def _passive(self, data: JointData, joint: Joint) -> None:
        stiffness, damping = data.stiffness, data.damping
        if data.spring_damper is not None:
            time, ratio = data.spring_damper
            inertia = self._reflected(data)
            stiffness = np.array((inertia / (time * ratio) ** 2, 0.0, 0.0))
            damping = np.array((2.0 * inertia / time, 0.0, 0.0))
        on = self.document.enabled
        if on("spring") and on("passive"):
            self._spring(joint, stiffness, data.springref)
        viscous, coulomb = 0.0, 0.0
        if on("damper") and on("passive"):
            damping = damping + sum((a.damping for a in self.actuators if a.joint is data), np.zeros(3))
            viscous = float(damping[0])
            if damping[1:].any():
                self._add(JointForce(joint, _drag(*damping[1:].tolist()), name=self._name("drag", joint)))
        if on("frictionloss") and on("constraint"):
            coulomb = data.friction
        if data.armature:
            self._add(Motor(joint, rotor_inertia=data.armature, name=self._name("armature", joint)))
        if viscous or coulomb:
            self._add(JointFriction(joint, viscous, coulomb, name=self._name("friction", joint)))
        if self.limits is not None and data.range is not None and on("limit") and on("constraint"):
            factors = data.stop or per_inertia(self.limits)
            if not add_stop(self.built.names, joint, self.inertia(data, joint), factors):
                self.document.left_out.note("joint@range", place(data.element), OUTSIDE)

    def _damp(self, data: JointData, bodies: Any, name: str) -> None:
        """Linear damping of a ball joint (two bodies) or a free one."""
        linear = float(data.damping[0])
        if linear and self.document.enabled("damper") and self.document.enabled("passive"):
            law = _resistance(linear) if len(bodies) == 1 else _resistance_to_turning(linear)
            self._add(UserForce(bodies, law, name=self.built.names.free(f"friction of {name}", "friction")))

    def _spring(self, joint: Joint, stiffness: Array, rest: float) -> None:
        if stiffness[0]:
            name, linear = self._name("spring", joint), float(stiffness[0])
            if joint.coordinate == "angle":
                self._add(TorsionSpring(joint, linear, rest=rest, name=name))
            else:
                self._add(PDControl(joint, rest, linear, name=name))
        if stiffness[1:].any():
            name = self._name("nonlinear spring", joint)
            self._add(JointForce(joint, _polynomial(rest, *stiffness[1:].tolist()), name=name))

    def _add(self, element: Any) -> None:
        self.model.add(element)

    def _name(self, what: str, joint: Joint) -> str:
        return self.built.names.free(f"{what} of {joint.name}", what)

    # --- actuators

    def _controls(self, start: Start, given: dict[str, Prescribed]) -> dict[int, Prescribed]:
        """The input of every actuator."""
        path = self.document.path
        found: dict[int, Prescribed] = {}
        elements = [element for element in self.document.section("actuator")]
        numbers = start.controls or [0.0] * len(elements)
        if len(numbers) != len(elements):
            raise ModelError(f"{path}: the keyframe has {len(numbers)} controls; expected {len(elements)}")
        values = {id(element): value for element, value in zip(elements, numbers, strict=True)}
        names = {actuator.name for actuator in self.actuators if actuator.name}
        for name in given:
            if name not in names:
                known = ", ".join(sorted(names)[:8]) or "none"
                raise ModelError(f"{path}: controls names the actuator {name!r}; expected one of {known}")
        for actuator in self.actuators:
            found[id(actuator)] = given.get(actuator.name or "", values[id(actuator.element)])
        return found

    def _actuate(self, actuator: ActuatorData) -> None:
        joint, gear = self.built.joints[id(actuator.joint)], actuator.gear
        kp, kd = -actuator.bias[1] * gear**2, -actuator.bias[2] * gear**2
        if actuator.damping_ratio:
            kd = 2.0 * actuator.damping_ratio * math.sqrt(kp * self._reflected(actuator.joint))
        if kp < 0.0 or kd < 0.0:
            what = "a servo that pushes away from its target"
            self.document.left_out.refuse(f"actuator/{actuator.element.tag}@biasprm", place(actuator.element), what)
            return
        if actuator.armature and (kp or kd):
            self._add(Motor(joint, rotor_inertia=actuator.armature, name=self._name("armature", joint)))
        low, high = self._force_range(actuator, motor=not (kp or kd))
        control = self.controls[id(actuator)]
        name = self.built.names.free(actuator.name or f"{actuator.element.tag} of {joint.name}", "actuator")
        if max(-low, high) < math.inf:
            joint.effort = max(-low, high) or None
        if kp == 0.0 and kd == 0.0:
            force = _driven(actuator, control, gear, low, high)
            inertia = actuator.armature / gear**2
            self._add(Motor(joint, force, limit=_symmetric(low, high), gear=gear, rotor_inertia=inertia, name=name))
            return
        limit = _symmetric(low, high)
        if limit is None and (low > -math.inf or high < math.inf):
            what = "a limit of the force that differs between the two directions"
            self.document.left_out.refuse(f"actuator/{actuator.element.tag}@forcerange", place(actuator.element), what)
            return
        if kp > 0.0:
            target = _driven(actuator, control, gear / kp, -math.inf, math.inf)
            rate = _at_rest if callable(target) else None
            self._add(PDControl(joint, target, kp, kd, rate=rate, limit=limit, name=name))
        else:
            given = _driven(actuator, control, gear, -math.inf, math.inf)
            self._add(PDControl(joint, 0.0, 0.0, kd, feedforward=given, limit=limit, name=name))

    def _force_range(self, actuator: ActuatorData, motor: bool) -> tuple[float, float]:
        """Smallest and largest force on the joint; that of a motor is limited by its control as well."""
        low, high = actuator.force_range or (-math.inf, math.inf)
        if motor and actuator.control_range is not None:
            controlled = sorted(actuator.gain * end + actuator.bias[0] for end in actuator.control_range)
            low, high = max(low, controlled[0]), min(high, controlled[1])
        ends = sorted((actuator.gear * low, actuator.gear * high))
        data = actuator.joint
        if data.force_range is not None:
            if sum(other.joint is data for other in self.actuators) > 1:
                what = "a limit of the sum of several actuators"
                self.document.left_out.refuse("joint@actuatorfrcrange", place(data.element), what)
            ends = [max(ends[0], data.force_range[0]), min(ends[1], data.force_range[1])]
        return ends[0], ends[1]


def _symmetric(low: float, high: float) -> float | None:
    """The limit of both directions, or None if they differ or there is none."""
    return high if 0.0 < high < math.inf and abs(low + high) <= 1e-12 * high else None


def _at_rest(t: float) -> float:
    """The rate of a target that a servo of MuJoCo takes: its damping is against rest."""
    return 0.0


def _driven(actuator: ActuatorData, control: Prescribed, factor: float, low: float, high: float) -> Prescribed:
    """``factor (gain control + bias)`` between two ends, with the control in its range: a number or a function."""
    gain, bias = factor * actuator.gain, factor * actuator.bias[0]
    least, most = actuator.control_range or (-math.inf, math.inf)
    if not callable(control):
        return min(max(gain * min(max(control, least), most) + bias, low), high)

    def driven(t):  # type: ignore[no-untyped-def]
        return min(max(gain * min(max(control(t), least), most) + bias, low), high)

    return driven


def _resistance(damping: float) -> Callable[..., Any]:
    def resistance(t, frames, velocities):  # type: ignore[no-untyped-def]
        return -damping * velocities

    return resistance


def _resistance_to_turning(damping: float) -> Callable[..., Any]:
    def resistance(t, frames, velocities):  # type: ignore[no-untyped-def]
        a, b = velocities[0], velocities[1]
        x, y, z = damping * (b[3] - a[3]), damping * (b[4] - a[4]), damping * (b[5] - a[5])
        zero = 0.0 * x
        return zero, zero, zero, x, y, z, zero, zero, zero, -x, -y, -z

    return resistance


def _drag(quadratic: float, cubic: float) -> Callable[[float, float, float], float]:
    def drag(t, u, u_dot):  # type: ignore[no-untyped-def]
        return -(quadratic * abs(u_dot) + cubic * u_dot * u_dot) * u_dot

    return drag


def _polynomial(rest: float, quadratic: float, cubic: float) -> Callable[[float, float, float], float]:
    def force(t, u, u_dot):  # type: ignore[no-untyped-def]
        x = u - rest
        return -(quadratic + cubic * x) * x * x

    return force
