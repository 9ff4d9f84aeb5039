"""Every public integrator, found by introspection, with a model that it can treat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import mbd
from mbd import integrators
from mbd.errors import IncompatibleError
from mbd.nodes import Directors, Quaternion, RotationVector
from mbd.system.system import assemble

ABSTRACT = ("Integrator", "PythonIntegrator", "Invariant", "Trait")


@dataclass(frozen=True)
class Heun(mbd.integrators.PythonIntegrator):
    """A method as users write it: accelerations at both ends of a step, positions through the update."""

    order = 2

    def step(self, system, t, q, v, h):
        a, _ = system.accelerations(q, v, t)
        q1, v1 = system.update(q, h * v), v + h * a
        a1, _ = system.accelerations(q1, v1, t + h)
        q2, v2 = system.update(q, 0.5 * h * (v + v1)), v + 0.5 * h * (a + a1)
        start = mbd.consistent_start(system, q2, v2, t + h)
        return start.q, start.v


def methods() -> dict[str, Any]:
    """One object of every integrator, and a user's own."""
    special = {
        "Strang": lambda: integrators.Strang(integrators.RotationSplitting()),
    }
    names = [name for name in integrators.__all__ if name not in ABSTRACT]
    found = {name: special.get(name, getattr(integrators, name))() for name in names}
    return found | {
        "GeneralizedAlpha stabilized": integrators.GeneralizedAlpha(stabilized=True),
        "GeneralizedAlpha modified": integrators.GeneralizedAlpha(newton="modified"),
        "DOPRI5 fixed": integrators.DOPRI5(fixed=True),
        "Heun": Heun(),
    }


METHODS = methods()


def fitting(method: Any, *models: mbd.Model) -> mbd.Model:
    """The first of the models, in the first coordinates, that a method accepts and steps as they are."""
    for model in models:
        for node in (RotationVector, Quaternion, Directors):
            try:
                candidate = model.with_nodes(node)
                system = assemble(candidate)
                method.check(system)
            except IncompatibleError:
                continue
            if not method.notes(system):
                return candidate
    raise AssertionError(f"no model for {method.name}")


def winding(torque: Any = None, stiffness: float = 0.5) -> mbd.Model:
    """A wheel on a shaft with a torsion spring, which counts turns, and a second wheel behind a gear."""
    model = mbd.Model("winding", gravity=(0, 0, -9.81))
    wheel = model.add(mbd.RigidBody("wheel", 2.0, (0.15, 0.15, 0.2), RotationVector(angular_velocity=(0, 0, 9.0))))
    second = model.add(
        mbd.RigidBody("second", 1.0, (0.1, 0.1, 0.1), RotationVector((1, 0, 0), angular_velocity=(0, 0, 4.5)))
    )
    shaft = model.add(mbd.joints.Revolute(model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), name="shaft"))
    other = model.add(mbd.joints.Revolute(model.ground, second, at=(1, 0, 0), axis=(0, 0, 1), name="other"))
    model.add(mbd.joints.Gear(shaft, other, ratio=0.5, name="gear"))
    model.add(mbd.forces.TorsionSpring(shaft, stiffness, name="spring"))
    if torque is not None:
        model.add(mbd.forces.Torque(wheel, torque, name="motor"))
    return model


def tumbling(force: Any = None, gravity: Any = (0, 0, 0)) -> mbd.Model:
    """A free body, for methods that treat nothing else."""
    model = mbd.Model("tumbling", gravity=gravity)
    start = RotationVector(velocity=(0.3, 0, 0), angular_velocity=(0.5, 2.0, -0.3))
    body = model.add(mbd.RigidBody("body", 1.0, (0.3, 0.3, 0.5), start))
    if force is not None:
        model.add(mbd.forces.Force(body, force, name="load"))
    return model


def swinging(force: Any) -> mbd.Model:
    """A free body on a spring along x, 0.3 m longer than its rest, under a load."""
    model = mbd.Model("swinging")
    start = RotationVector((1.3, 0, 0), velocity=(0.4, 0, 0), angular_velocity=(0.5, 2.0, -0.3))
    body = model.add(mbd.RigidBody("body", 1.0, (0.3, 0.3, 0.5), start))
    model.add(mbd.forces.Spring(model.ground, body, stiffness=0.5, length=1.0, name="spring"))
    model.add(mbd.forces.Force(body, force, name="load"))
    return model


def counting(method: Any) -> mbd.Model:
    """The winding model where it can be treated, otherwise a free body under a force, or free."""
    free = tumbling(gravity=(0.0, 0.0, -9.81))
    return fitting(method, winding(), winding_without_gear(), tumbling((1.0, 0.0, 0.0)), free)


def winding_without_gear(torque: Any = None) -> mbd.Model:
    """One wheel on a shaft with a torsion spring."""
    model = mbd.Model("one wheel", gravity=(0, 0, -9.81))
    wheel = model.add(mbd.RigidBody("wheel", 2.0, (0.15, 0.15, 0.2), RotationVector(angular_velocity=(0, 0, 9.0))))
    shaft = model.add(mbd.joints.Revolute(model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), name="shaft"))
    model.add(mbd.forces.TorsionSpring(shaft, 0.5, name="spring"))
    if torque is not None:
        model.add(mbd.forces.Torque(wheel, torque, name="motor"))
    return model


def same(a: Any, b: Any) -> bool:
    """Whether two solutions are equal bit for bit."""
    return all(np.array_equal(getattr(a, x), getattr(b, x)) for x in ("t", "q", "v", "vd", "lam", "turns"))
