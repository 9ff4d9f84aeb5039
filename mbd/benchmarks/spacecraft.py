"""Spacecraft of Table 1 of Holzinger et al.: reaction wheels (8), manipulator (11), dual-spin satellite (14).

The table names the systems without data; these are our own choice, see ``mbd/benchmarks/flight.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..bodies import RigidBody
from ..bodies.shapes import Box, Capsule, Composite, Cylinder, Shape
from ..forces import Torque
from ..integrators import RK6
from ..joints import Revolute
from ..model import Model
from ..nodes import RotationVector
from .benchmark import Array, Benchmark, Law, momenta, work, xyz
from .flight import attitude, named_attitude, table_1


def _wheel(radius: float, height: float, axis: Array) -> Shape:
    """A solid wheel with a mark by which one sees it spin."""
    across = np.roll(axis, 1)
    size = height * 1.06 * axis + 0.8 * radius * across + 0.25 * radius * np.roll(axis, 2)
    mark = Box(size, centre=0.5 * radius * across, colour="orangered")
    return Composite(Cylinder(radius, height, axis=axis, colour="lightsteelblue"), mark)


def _satellite(body: Any, panel: Any, centres: Any) -> Shape:
    """A box with solar panels."""
    return Composite(Box(body, colour="goldenrod"), *(Box(panel, centre=c, colour="royalblue") for c in centres))


WHEELS = {
    "masses": (100.0, 5.0), "inertia": (20.0, 25.0, 30.0), "wheel inertias": (0.05, 0.03), "distance": 0.5,
    "angular velocity": (0.02, -0.01, 0.03), "torques": (0.2, -0.1, 0.3),
}  # fmt: skip


def reaction_wheels() -> Benchmark:
    """System 8: three reaction wheels with constant motor torques turn a spacecraft; 20 s.

    The wheels sit on the three body axes of the hull and are at rest relative to it at the start.
    """
    p: dict[str, Any] = WHEELS
    spin, torques = np.array(p["angular velocity"]), np.array(p["torques"])
    axial, across = p["wheel inertias"]
    model = Model("spacecraft with three reaction wheels")
    shape = _satellite((0.84, 0.84, 0.84), (0.7, 1.2, 0.03), [(0, -1.1, 0)])
    hull = model.add(
        RigidBody("hull", p["masses"][0], p["inertia"], RotationVector(angular_velocity=spin), shape=shape)
    )
    for k, axis in enumerate(np.eye(3)):
        at = p["distance"] * axis
        node = RotationVector(at, velocity=np.cross(spin, at), angular_velocity=spin)
        inertia = across + (axial - across) * axis
        wheel = RigidBody(f"wheel {k + 1}", p["masses"][1], inertia, node, shape=_wheel(0.1414, 0.11, axis))
        bearing = Revolute(hull, model.add(wheel), at=at, axis=axis, name=f"bearing {k + 1}")
        model.add(bearing)
        model.add(Torque(wheel, torques[k] * axis, frame="body", name=f"motor {k + 1}"))
        model.add(Torque(hull, -torques[k] * axis, frame="body", name=f"motor {k + 1} on the hull"))

    def speeds(solution: Any) -> Array:
        return np.column_stack([solution[f"bearing {k + 1}"].angle_rate for k in range(3)])

    def observe(solution: Any, k: int) -> dict[str, float]:
        rates = {f"speed {i + 1}": float(x) for i, x in enumerate(speeds(solution)[k])}
        return {**xyz("position", solution["hull"].position[k]), **attitude(solution, k, "hull"), **rates}

    def laws(solution: Any) -> dict[str, Law]:
        own = axial * (solution["hull"].angular_velocity + speeds(solution))  # symmetric: only its motor changes it
        kinetic = solution.energy.kinetic
        return {
            **momenta(solution, (-0.1, 0.025, 0.075), (0.4522, -0.2761, 0.9783)),
            "axial momenta of the wheels": (own, axial * spin + np.outer(solution.t, torques)),
            "work of the motors": (kinetic, kinetic[0] + work(solution, speeds(solution) @ torques)),
        }

    values = (-0.141044615, 0.055948259, -0.167595506, 0.293499447, -0.824927278, 0.483066311)
    reference = {
        **xyz("position", (-0.030675315, 0.039912150, 0.034668590)), **named_attitude(values),
        "speed 1": 80.161044615, "speed 2": -40.065948259, "speed 3": 120.197595506,
    }  # fmt: skip
    return Benchmark(
        "reaction-wheels", "spacecraft with reaction wheels", model, WHEELS, table_1(8), observe,
        "largest error of position [m], angular velocity and wheel speeds [rad/s] and first axis at t = 20", 20.0,
        1.25e-3, {20.0: reference}, RK6(), False, laws,
    )  # fmt: skip


ARM: tuple[Any, ...] = (
    ((0.5, 0, 0), (0, 0, 1), (-0.2, 0, 0), 4.0, (0.02, 0.06, 0.06), 3.0),
    ((0.2, 0, 0), (0, 1, 0), (-0.4, 0, 0), 6.0, (0.03, 0.35, 0.35), -2.0),
    ((0.4, 0, 0), (0, 1, 0), (-0.4, 0, 0), 5.0, (0.03, 0.3, 0.3), 1.5),
    ((0.4, 0, 0), (1, 0, 0), (-0.1, 0, 0), 2.0, (0.01, 0.015, 0.015), 0.2),
    ((0.1, 0, 0), (0, 1, 0), (-0.15, 0, 0), 1.5, (0.004, 0.012, 0.012), -0.1),
)
"""Of every link: joint in the body before and axis, joint in its own axes, mass, moments, amplitude of the torque."""


def _swinging(amplitude: Array) -> Callable[[float], Any]:
    """A torque that goes once up and down in four seconds."""
    x, y, z = amplitude.tolist()

    def torque(t):  # type: ignore[no-untyped-def]
        s = math.sin(0.5 * math.pi * t)
        return x * s, y * s, z * s

    return torque


def manipulator() -> Benchmark:
    """System 11: an arm of five links swings by the torques of its motors and turns the satellite that carries it; 4 s.

    It starts stretched out and at rest; there is no gravity, and both momenta stay zero.
    """
    model = Model("satellite with a manipulator of five joints")
    shape = _satellite((0.8, 0.8, 0.8), (0.6, 1.3, 0.03), [(-0.1, 1.15, 0), (-0.1, -1.15, 0)])
    satellite = model.add(RigidBody("satellite", 100.0, (15.0, 20.0, 18.0), shape=shape))
    last, origin, names = satellite, np.zeros(3), []
    for k, (before, axis, own, mass, moments, amplitude) in enumerate(ARM):
        at = origin + before
        origin = at - own
        reach = 2.0 * abs(own[0])
        shape = Capsule(0.055 - 0.007 * k, reach - 0.11, axis=(1, 0, 0))
        link = model.add(RigidBody(f"link {k + 1}", mass, moments, RotationVector(origin), shape=shape))
        names.append(f"joint {k + 1}")
        model.add(Revolute(last, link, at=at, axis=axis, name=names[k]))
        torque = amplitude * np.array(axis, dtype=float)  # all axes are parallel at the start, and fixed in both bodies
        model.add(Torque(link, _swinging(torque), frame="body", name=f"motor {k + 1}"))
        model.add(Torque(last, _swinging(-torque), frame="body", name=f"motor {k + 1} on {last.name}"))
        last = link

    def observe(solution: Any, k: int) -> dict[str, float]:
        view = solution["satellite"]
        angles = {name: float(solution[name].angle[k]) for name in names}
        return {**xyz("position", view.position[k]), **xyz("first axis", view.rotation[k][:, 0]), **angles}

    def laws(solution: Any) -> dict[str, Law]:
        rates = np.column_stack([solution[name].angle_rate for name in names])
        power = rates @ np.array([row[-1] for row in ARM]) * np.sin(0.5 * math.pi * solution.t)
        none = np.zeros(3)
        return {**momenta(solution, none, none), "work of the motors": (solution.energy.kinetic, work(solution, power))}

    reference = {
        **xyz("position", (0.240899292, -0.039223209, -0.052643082)),
        **xyz("first axis", (0.799672954, -0.516564987, -0.306078063)),
        **dict(zip(names, (2.833765285, -1.458722762, 1.949026066, 8.705138711, 6.518379975), strict=True)),
    }
    return Benchmark(
        "manipulator", "satellite with 5-DOF manipulator", model,
        {"satellite": (100.0, (15.0, 20.0, 18.0)), "arm": ARM, "period of the torques": 4.0}, table_1(11), observe,
        "largest error of position [m], first axis and angles [rad] at t = 4", 4.0, 5e-3, {4.0: reference}, RK6(),
        False, laws,
    )  # fmt: skip


def dual_spin() -> Benchmark:
    """System 14: a rotor spins in a bearing without friction on a platform, which it stabilises; 20 s."""
    spin, at, speed = np.array((0.1, 0.0, 0.05)), np.array((0.0, 0.0, 0.4)), 30.0
    model = Model("dual-spin satellite")
    shape = _satellite((0.7, 0.7, 0.36), (1.0, 0.5, 0.03), [(0.9, 0, 0), (-0.9, 0, 0)])
    node = RotationVector(angular_velocity=spin)
    platform = model.add(RigidBody("platform", 50.0, (10.0, 12.0, 8.0), node, shape=shape))
    node = RotationVector(at, velocity=np.cross(spin, at), angular_velocity=spin + (0, 0, speed))
    rotor = RigidBody("rotor", 20.0, (1.0, 1.0, 1.5), node, shape=_wheel(0.3873, 0.3873, np.array((0.0, 0.0, 1.0))))
    model.add(rotor)
    model.add(Revolute(platform, rotor, at=at, axis=(0, 0, 1), name="bearing"))

    def observe(solution: Any, k: int) -> dict[str, float]:
        rate = {"speed": float(solution["bearing"].angle_rate[k])}
        return {**xyz("position", solution["platform"].position[k]), **attitude(solution, k, "platform"), **rate}

    def laws(solution: Any) -> dict[str, Law]:
        rotor = 1.5 * (solution["platform"].angular_velocity[:, 2] + solution["bearing"].angle_rate)
        return {
            **momenta(solution, (0, -0.8, 0), (1.42, 0, 45.475)), "energy": (solution.energy.total, 677.332875),
            "axial momentum of the rotor": (rotor, 45.075),
        }  # fmt: skip

    values = (0.099993921, -0.001029103, 0.049999955, 0.519054219, 0.854625846, 0.014049259)
    reference = {
        **xyz("position", (-0.001572152, -0.225738591, 0.000045932)), **named_attitude(values), "speed": 30.000000045,
    }  # fmt: skip
    parameters = {
        "masses": (50.0, 20.0), "inertias": ((10.0, 12.0, 8.0), (1.0, 1.0, 1.5)), "distance": 0.4,
        "angular velocity": spin, "speed": speed,
    }  # fmt: skip
    return Benchmark(
        "dual-spin", "dual-spin satellite", model, parameters, table_1(14), observe,
        "largest error of position [m], angular velocity and speed [rad/s] and first axis at t = 20", 20.0, 2.5e-3,
        {20.0: reference}, RK6(), laws=laws,
    )  # fmt: skip
