"""Models with every kind of load in time, damping and drivers, and the integrators that are run on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

import mbd
from mbd.errors import IncompatibleError
from mbd.integrators import (
    DOPRI5,
    ODE23,
    GeneralizedAlpha,
    GGLTrapezoidal,
    Integrator,
    MoserVeselov,
    PythonIntegrator,
)
from mbd.nodes import Directors, Quaternion, RotationVector
from mbd.study.compatibility import all_integrators
from mbd.system.system import assemble

NODES = {"quaternions": Quaternion, "directors": Directors, "Lie": RotationVector}


@dataclass(frozen=True)
class ExplicitMidpoint(PythonIntegrator):
    """A method as people write it."""

    order: ClassVar[int] = 2

    def step(self, system: Any, t: float, q: Any, v: Any, h: float) -> Any:
        first, _ = system.accelerations(q, v, t)
        middle, v_middle = system.update(q, 0.5 * h * v), v + 0.5 * h * first
        second, _ = system.accelerations(middle, v_middle, t + 0.5 * h)
        return system.update(q, system.tangent_inverse(0.5 * h * v, h * v_middle)), v + h * second


def every_integrator() -> dict[str, Integrator]:
    """All integrators of the package, with equal steps, and some in further forms, by what tells them apart."""
    equal = {"DOPRI5": DOPRI5(fixed=True), "ODE23": ODE23(fixed=True)}
    methods = {method.name: equal.get(method.name, method) for method in all_integrators()}
    return methods | {
        "GeneralizedAlpha(stabilized)": GeneralizedAlpha(stabilized=True),
        "GGLTrapezoidal(1/2)": GGLTrapezoidal(theta=0.5),
        "MoserVeselov(4)": MoserVeselov(order=4),
        "PythonIntegrator": ExplicitMidpoint(),
    }


# --- loads --------------------------------------------------------------------------------------------------------


def pull(t: float) -> Any:
    """A force in time."""
    return np.array((2.0 * np.sin(3.0 * t), 1.5 * np.cos(2.0 * t), 2.0 * t))


def push(t: Any, frames: Any, velocities: Any) -> Any:
    """A force in time that depends on where the body is and how fast."""
    r, v = frames[0][0:3], velocities[0][0:3]
    return 3.0 * np.sin(4.0 * t) * (r + 1.0) - 0.4 * v


def twist(t: Any, frames: Any, velocities: Any) -> Any:
    """A torque in time that depends on the attitude and its rate."""
    return 0.6 * np.cos(3.0 * t) * (frames[0][3:6] + 0.5) - 0.05 * velocities[0][3:6]


def pair(t: Any, frames: Any, velocities: Any) -> Any:
    """Forces and torques on the ground and on a body, in time."""
    out = np.zeros_like(velocities)
    out[1, 0:3] = 2.0 * np.cos(5.0 * t) * (frames[1, 0:3] - 0.3) - 0.3 * velocities[1, 0:3]
    out[1, 3:6] = 0.3 * np.sin(2.0 * t) * frames[1, 9:12]
    return out


def swing(t: float) -> float:
    """Angle of a motor."""
    return 0.4 * np.sin(3.0 * t) + 0.2 * t


# --- models -------------------------------------------------------------------------------------------------------


def _load(model: mbd.Model, body: Any, kind: str) -> None:
    """A force in time and one in time, frames and velocities: of every kind in one of the models."""
    model.add(mbd.forces.Force(body, pull, point=(0.2, 0.1, 0.0), name="pull"))
    if kind == "force":
        model.add(mbd.forces.Force(body, push, name="push"))
    elif kind == "torque":
        model.add(mbd.forces.Torque(body, twist, name="twist"))
    else:
        model.add(mbd.forces.UserForce((model.ground, body), pair, name="pair"))


def _bar(model: mbd.Model, name: str, mass: float, position: Any, velocity: Any, spin: Any) -> Any:
    node = RotationVector(position, velocity=velocity, angular_velocity=spin)
    return model.add(mbd.RigidBody(name, mass, (0.06, 0.12, 0.1), node))


def free() -> mbd.Model:
    """One body that nothing holds."""
    model = mbd.Model("free body", gravity=(0, 0, -9.81))
    _load(model, _bar(model, "body", 1.3, (0.4, 0.2, 0.0), (0.2, 0.0, 0.5), (0.6, 1.0, -0.8)), "user")
    return model


def tree(driven: bool = False) -> mbd.Model:
    """Two bars on a hinge and a universal joint, a damped torsion spring; ``driven`` turns the hinge by a motor."""
    model = mbd.Model("driven tree" if driven else "tree", gravity=(0, 0, -9.81))
    rate = 1.4 if driven else 0.4
    upper = _bar(model, "upper", 1.0, (0.5, 0, 0), (0, 0, -0.5 * rate), (0, rate, 0))
    lower = _bar(model, "lower", 1.2, (1.5, 0, 0), (0, 0.5, -1.5 * rate), (0, rate, 1.0))
    hinge = model.add(mbd.joints.Revolute(model.ground, upper, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    model.add(mbd.joints.Universal(upper, lower, at=(1, 0, 0), axis_a=(0, 1, 0), axis_b=(0, 0, 1), name="cross"))
    if driven:
        model.add(mbd.joints.AngleDriver(model.ground, upper, value=swing, axis=(0, 1, 0), name="motor"))
    else:
        model.add(mbd.forces.TorsionSpring(hinge, stiffness=2.0, damping=0.3, name="spring"))
    model.add(mbd.forces.Spring(model.ground, lower, (2, 0, 1), (0.5, 0, 0), 20.0, length=0.8, damping=1.0))
    _load(model, lower, "user" if driven else "torque")
    return model


def loop() -> mbd.Model:
    """A four-bar in space without redundant constraints, with a damped spring across."""
    from tests.integrators.models import four_bar

    model = four_bar(spatial_loop=True)
    model.name = "loop"
    model.add(mbd.forces.Spring(model.ground, model["rod"], (1, 2, 0), (0, 0, 0), 15.0, length=1.0, damping=1.0))
    _load(model, model["rod"], "force")
    return model


def single() -> mbd.Model:
    """A body on a spherical joint and a free one on a spring: loads in time, nothing that depends on velocities."""
    model = mbd.Model("single bodies", gravity=(0, 0, -9.81))
    held = _bar(model, "held", 1.0, (0.4, 0, 0), (0, 0.4, 0), (0, 0, 1.0))
    other = _bar(model, "other", 1.5, (1.2, 0, 0), (0, 0.2, 0), (0.5, 0.3, 1.0))
    model.add(mbd.joints.Spherical(model.ground, held, at=(0, 0, 0), name="pivot"))
    model.add(mbd.forces.Spring(held, other, (0.2, 0, 0), (-0.1, 0.1, 0), 12.0, length=0.4))
    model.add(mbd.forces.Force(other, pull))
    return model


def turning() -> mbd.Model:
    """A body held at its centre of mass, which nothing turns."""
    model = mbd.Model("turning body", gravity=(0, 0, -9.81))
    body = _bar(model, "body", 1.3, (0, 0, 0), (0, 0, 0), (1.5, 2.0, -1.0))
    model.add(mbd.joints.Spherical(model.ground, body, at=(0, 0, 0), name="pivot"))
    return model


def symmetric() -> mbd.Model:
    """A symmetric top."""
    model = mbd.Model("symmetric top", gravity=(0, 0, -9.81))
    node = RotationVector((0, 0.5, 0), velocity=(0, 0, 0.5), angular_velocity=(1.0, 6.0, 0))
    top = model.add(mbd.RigidBody("top", 1.0, (0.1, 0.2, 0.1), node))
    model.add(mbd.joints.Spherical(model.ground, top, at=(0, 0, 0), name="pivot"))
    return model


GENERAL = {"free": free, "tree": tree, "loop": loop, "driven tree": lambda: tree(driven=True)}
SINGLE = {"single": single, "turning": turning, "symmetric": symmetric}


@cache
def model(name: str, node: str) -> mbd.Model:
    """A model in these coordinates."""
    return (GENERAL | SINGLE)[name]().with_nodes(NODES[node])


@cache
def system(name: str, node: str) -> Any:
    """The model, assembled."""
    return assemble(model(name, node))


def accepts(method: Integrator, name: str, node: str) -> bool:
    """Whether the method says that it can treat the model; any other error than a refusal is an error."""
    try:
        method.check(system(name, node))
    except IncompatibleError:
        return False
    return True


def models_for(method: Integrator) -> list[tuple[str, str]]:
    """(model, node): every general model, in the first coordinates of ``NODES`` that the method takes; the special
    models as well for methods that refuse some of these.
    """

    def taken(names: Any) -> list[tuple[str, str]]:
        found = [(name, next((x for x in NODES if accepts(method, name, x)), "")) for name in names]
        return [pair for pair in found if pair[1]]

    general = taken(GENERAL)
    return general if len(general) == len(GENERAL) else general + taken(SINGLE)
