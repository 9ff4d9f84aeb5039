"""A hand that pulls bodies while a model runs: forces and torques that are inputs, and the spring that sets them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbd.bodies import PointMass
from mbd.elements.values import Input
from mbd.errors import Array, ModelError
from mbd.forces import Force, Torque

if TYPE_CHECKING:
    from mbd.model import Model
    from mbd.simulation.simulator import Simulator

WORD = "hand on"
FREQUENCY = 2.0  # Hz of the pulled mass on the spring, soft enough for every step that resolves the motion
DAMPING = 0.7  # of the critical one


def with_hand(model: Model) -> Model:
    """A copy of a model whose bodies can be dragged in ``mbd.view.live``: with forces that are inputs, zero at first.

    ``mbd.view.live(model)`` does this itself; for an own ``Simulator`` it is done before the simulator is made.
    """
    new = model.copy()
    bodies = [body for body in new.bodies if body.in_space and getattr(body, "mass", 0.0) is not None]
    if any(str(name).startswith(WORD) for name in new.parameters):
        raise ModelError(f"{model} has a hand already; expected a model without one")
    for body in bodies:
        force: Any = tuple(new.input(f"{WORD} {body.name}, F{axis}") for axis in "xyz")
        new.add(Force(body, force, name=f"{WORD} {body.name}"))
        if not isinstance(body, PointMass):
            torque: Any = tuple(new.input(f"{WORD} {body.name}, M{axis}") for axis in "xyz")
            new.add(Torque(body, torque, name=f"{WORD} {body.name}, torque"))
    return new


def is_hand(name: str) -> bool:
    """Whether an input or a force belongs to the hand."""
    return name.startswith(WORD)


def own_inputs(model: Model) -> tuple[list[str], list[str]]:
    """Names of the parameters and of the inputs of a model, without those of the hand."""
    names = [name for name in model._parameters if not is_hand(name)]
    inputs = [name for name in names if isinstance(model._parameters[name], Input)]
    return [name for name in names if name not in inputs], inputs


class Hand:
    """A spring with a damper from a point of a body to a place that somebody moves."""

    def __init__(self, simulator: Simulator) -> None:
        self.simulator, self.body = simulator, ""
        self.names = frozenset(simulator.inputs)
        self.point, self.target = np.zeros(3), np.zeros(3)
        masses = [getattr(body, "mass", 0.0) for body in simulator.model.bodies]
        self.total = sum(mass for mass in masses if isinstance(mass, float))

    def can_hold(self, name: str) -> bool:
        """Whether a body can be pulled."""
        return f"{WORD} {name}, Fx" in self.names

    def hold(self, name: str, place: Any) -> None:
        """Take a body at a place in space."""
        if not self.can_hold(name):
            raise ModelError(
                f"view: '{name}' cannot be dragged; give live(model) instead of a Simulator, or make the simulator of "
                "mbd.view.with_hand(model)"
            )
        self.release()
        self.body = name
        position, rotation = self._pose()
        self.point = (np.asarray(place, dtype=float) - position) @ rotation
        self.target = np.asarray(place, dtype=float)
        mass = float(getattr(self.simulator.model[name], "mass", 0.0) or 0.0)
        # what hangs on a light body has to be moved too
        moved = max(mass, 0.2 * self.total)
        self.stiffness = moved * (2.0 * np.pi * FREQUENCY) ** 2
        self.damping = 2.0 * DAMPING * np.sqrt(self.stiffness * max(mass, 0.05 * moved))

    def _pose(self) -> tuple[Array, Array]:
        view = self.simulator[self.body]
        return np.asarray(view.position), np.asarray(getattr(view, "rotation", np.eye(3)))

    def place(self) -> Array:
        """Where the held point is."""
        position, rotation = self._pose()
        return position + rotation @ self.point

    def pull(self) -> None:
        """Set the inputs for the next step."""
        if not self.body:
            return
        view = self.simulator[self.body]
        position, rotation = self._pose()
        arm = rotation @ self.point
        velocity = np.asarray(view.velocity)
        if hasattr(self.simulator.now[self.body], "angular_velocity"):
            velocity = velocity + np.cross(rotation @ np.asarray(view.angular_velocity), arm)
        force = self.stiffness * (self.target - position - arm) - self.damping * velocity
        self._set(force, np.cross(arm, force))

    def _set(self, force: Array, torque: Array) -> None:
        inputs = self.simulator.inputs
        for axis, f, m in zip("xyz", force, torque, strict=True):
            inputs[f"{WORD} {self.body}, F{axis}"] = float(f)
            if f"{WORD} {self.body}, M{axis}" in self.names:
                inputs[f"{WORD} {self.body}, M{axis}"] = float(m)

    def release(self) -> None:
        """Let go."""
        if self.body:
            self._set(np.zeros(3), np.zeros(3))
            self.body = ""
