"""Sensors: named quantities of a motion, as functions of a solution that return one value (or vector) per record.

    height = mbd.sensors.Position(ball, axis="z")
    height(solution)                                # (n,)
    mbd.simulate(..., events=mbd.Event(height, stop=True))

Any function of a solution does; these are the common ones. Bodies and joints are given as objects or by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mbd.elements.arguments import Axis, Vector
from mbd.errors import Array, bad_value, check_direction, check_vector

if TYPE_CHECKING:
    from mbd.bodies import Body
    from mbd.joints import Joint
    from mbd.results.solution import Solution

__all__ = [
    "Accelerometer", "Angle", "Displacement", "Distance", "Gyroscope", "Position", "Reaction", "Sensor", "Velocity",
]  # fmt: skip

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass(frozen=True, eq=False)
class Sensor:
    """Base: ``sensor(solution)`` measures all records. With ``axis`` ("x", "y", "z" or a vector) one component."""

    def __call__(self, solution: Solution) -> Array:
        values = self.measure(solution)
        axis = getattr(self, "axis", None)
        return values if axis is None else values @ axis

    def measure(self, solution: Solution) -> Array:
        """The quantity itself."""
        raise NotImplementedError

    @property
    def unit(self) -> str:
        """Unit of the values, of SI, or "model unit"."""
        return "model unit"

    @property
    def axes(self) -> str:
        """Axes to which components of a vector belong: "world" or "body"."""
        return "world"

    @property
    def label(self) -> str:
        """Name among the channels of a solution: "Position(tip, z)"."""
        parts = [str(getattr(x, "name", x)) for key, x in vars(self).items() if key.startswith(("body", "joint"))]
        axis = getattr(self, "axis", None)
        if axis is not None:
            known = [name for name, vector in AXES.items() if tuple(axis) == vector]
            parts += known or [str(axis.tolist())]
        for key, x in vars(self).items():
            if (key.startswith("point") and np.any(x)) or (key == "torque" and x):
                parts.append(f"{key} {x.tolist()}" if isinstance(x, np.ndarray) else key)
        return f"{type(self).__name__}({', '.join(parts)})"

    def __post_init__(self) -> None:
        name = f"sensor {type(self).__name__}"
        for point in ("point", "point_a", "point_b"):
            if hasattr(self, point):
                object.__setattr__(self, point, check_vector(getattr(self, point), name, point))
        axis = getattr(self, "axis", None)
        if isinstance(axis, str):
            if axis not in AXES:
                raise bad_value(name, "axis", axis, '"x", "y", "z" or a vector')
            axis = AXES[axis]
        if axis is not None:
            object.__setattr__(self, "axis", check_direction(axis, name, "axis"))


@dataclass(frozen=True, eq=False)
class Position(Sensor):
    """Position of a body-fixed point, world axes."""

    body: Body | str
    point: Vector = (0.0, 0.0, 0.0)
    axis: Axis | None = None

    @property
    def unit(self) -> str:
        return "m"

    def measure(self, solution: Solution) -> Array:
        return _point(solution, self.body, self.point)


@dataclass(frozen=True, eq=False)
class Velocity(Sensor):
    """Velocity of a body-fixed point, world axes.

    >>> model = mbd.Model(gravity=(0, 0, -9.81))
    >>> ball = model.add(mbd.PointMass("ball", mass=1.0, velocity=(2, 0, 0)))
    >>> fall = mbd.simulate(model, t_end=1.0, step=0.1)
    >>> mbd.sensors.Velocity("ball", axis="z")(fall)[-1].round(6)
    np.float64(-9.81)
    """

    body: Body | str
    point: Vector = (0.0, 0.0, 0.0)
    axis: Axis | None = None

    @property
    def unit(self) -> str:
        return "m/s"

    def measure(self, solution: Solution) -> Array:
        view = solution[self.body]
        return view.point_velocity(self.point) if np.any(self.point) else view.velocity


@dataclass(frozen=True, eq=False)
class Gyroscope(Sensor):
    """Angular velocity of a body, body axes.

    >>> model = mbd.Model()
    >>> node = mbd.nodes.RotationVector(angular_velocity=(0, 0, 4.0))
    >>> wheel = model.add(mbd.RigidBody("wheel", mass=1.0, inertia=(1, 1, 2), node=node))
    >>> mbd.sensors.Gyroscope("wheel")(mbd.simulate(model, t_end=1.0, step=0.1))[-1].round(6).tolist()
    [0.0, 0.0, 4.0]
    """

    body: Body | str
    axis: Axis | None = None

    @property
    def unit(self) -> str:
        return "rad/s"

    @property
    def axes(self) -> str:
        return "body"

    def measure(self, solution: Solution) -> Array:
        return solution[self.body].angular_velocity


@dataclass(frozen=True, eq=False)
class Accelerometer(Sensor):
    """What an accelerometer at a body-fixed point shows: acceleration minus gravity, in body axes.

    >>> model = mbd.Model(gravity=(0, 0, -9.81))
    >>> phone = model.add(mbd.RigidBody("phone", mass=0.2, inertia=(1e-4, 1e-4, 1e-4)))
    >>> shown = mbd.sensors.Accelerometer("phone")
    >>> abs(shown(mbd.simulate(model, t_end=0.1, step=0.01))[-1]).round(6).tolist()      # in free fall
    [0.0, 0.0, 0.0]
    >>> table = model.add(mbd.joints.Fixed(model.ground, phone))
    >>> (shown(mbd.simulate(model, t_end=0.1, step=0.01))[-1] + 0.0).round(6).tolist()   # on a table
    [0.0, 0.0, 9.81]
    """

    body: Body | str
    point: Vector = (0.0, 0.0, 0.0)
    axis: Axis | None = None

    @property
    def unit(self) -> str:
        return "m/s^2"

    @property
    def axes(self) -> str:
        return "body"

    def measure(self, solution: Solution) -> Array:
        view = solution[self.body]
        felt = view.point_acceleration(self.point) - solution._gravity
        return np.einsum("nji,nj->ni", view.rotation, felt)


@dataclass(frozen=True, eq=False)
class Distance(Sensor):
    """Distance of two body-fixed points."""

    body_a: Body | str
    body_b: Body | str
    point_a: Vector = (0.0, 0.0, 0.0)
    point_b: Vector = (0.0, 0.0, 0.0)

    @property
    def unit(self) -> str:
        return "m"

    def measure(self, solution: Solution) -> Array:
        apart = _point(solution, self.body_b, self.point_b) - _point(solution, self.body_a, self.point_a)
        return np.linalg.norm(apart, axis=1)


@dataclass(frozen=True, eq=False)
class Angle(Sensor):
    """Angle of a joint, with all turns counted."""

    joint: Joint | str

    @property
    def unit(self) -> str:
        return "rad"

    def measure(self, solution: Solution) -> Array:
        return solution[self.joint].angle


@dataclass(frozen=True, eq=False)
class Displacement(Sensor):
    """Displacement of a joint."""

    joint: Joint | str

    @property
    def unit(self) -> str:
        return "m"

    def measure(self, solution: Solution) -> Array:
        return solution[self.joint].displacement


@dataclass(frozen=True, eq=False)
class Reaction(Sensor):
    """Force (or torque) of a joint on its second body, world axes.

    >>> model = mbd.Model(gravity=(0, 0, -9.81))
    >>> lamp = model.add(mbd.RigidBody("lamp", mass=2.0, inertia=(1, 1, 1)))
    >>> hook = model.add(mbd.joints.Spherical(model.ground, lamp, at=(0, 0, 1), name="hook"))
    >>> mbd.sensors.Reaction("hook", axis="z")(mbd.simulate(model, t_end=0.1, step=0.01))[-1].round(6)
    np.float64(19.62)
    """

    joint: Joint | str
    axis: Axis | None = None
    torque: bool = False

    @property
    def unit(self) -> str:
        return "N m" if self.torque else "N"

    def measure(self, solution: Solution) -> Array:
        view = solution[self.joint]
        return view.torque if self.torque else view.force


def _point(solution: Solution, body: Body | str, point: Vector) -> Array:
    name = body if isinstance(body, str) else body.name
    if name == "ground":
        return np.broadcast_to(point, (len(solution), 3))
    view = solution[name]
    return view.point(point) if np.any(point) else view.position


def __dir__() -> list[str]:
    return __all__
