"""A Stewart platform: six legs of two bodies each carry a plate and move it by PD control of their lengths."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..bodies import RigidBody
from ..bodies.shapes import Box, Composite, Cylinder, Shape, Sphere
from ..forces import PDControl
from ..integrators import RK6
from ..joints import Prismatic, Spherical, Universal
from ..model import Model
from ..nodes import RotationVector
from ..rotation import rotation
from .benchmark import Array, Benchmark, Law, work, xyz
from .flight import G

DATA: dict[str, Any] = {
    "base radius": 0.5, "base angles": (10.0, 110.0, 130.0, 230.0, 250.0, 350.0),
    "plate radius": 0.3, "plate angles": (50.0, 70.0, 170.0, 190.0, 290.0, 310.0),
    "plate mass": 6.0, "plate inertia": (0.1, 0.14, 0.2), "plate com": (0.02, -0.03, 0.06),
    "cylinder mass": 1.2, "cylinder inertia": (0.002, 0.011, 0.012), "cylinder com": 0.16,
    "rod mass": 0.6, "rod inertia": (0.0006, 0.006, 0.0065), "rod com": 0.18,
    "position": (0.03, -0.02, 0.55), "rotation": (0.06, -0.04, 0.1), "kp": 3e4, "kd": 600.0,
    "motion": (0.06, 0.05, 0.08), "tilt": (0.1, 0.15), "period": 1.0, "g": G,
}  # fmt: skip
"""Our own choice; metres, kilograms, degrees. Centres of mass of the legs are seen from the joints at their ends."""
LEGS = tuple(range(1, 7))


def stewart_platform() -> Benchmark:
    """A Stewart platform, a robot with closed loops: six legs with universal, prismatic and spherical joints; 1 s.

    A PD control in every leg follows the length that the leg would have if the plate went once around an ellipse, up
    and down and to one side, and tilted to two sides. At the start everything is at rest. The data are our own choice
    (``mbd.benchmarks.stewart.DATA``), without any symmetry but that of the plan.
    """
    model, feet, balls = _model()

    def observe(solution: Any, k: int) -> dict[str, float]:
        plate = solution["plate"]
        extensions = [float(solution[f"slider {i}"].displacement[k]) for i in LEGS]
        return _named((*plate.position[k], *plate.rotation[k][:, 0], *extensions))

    def laws(solution: Any) -> dict[str, Law]:
        plate = solution["plate"]
        tops = plate.position[:, None] + np.einsum("nij,kj->nki", plate.rotation, balls)
        lengths = np.linalg.norm(tops - feet, axis=2)
        found = np.column_stack([solution[f"slider {i}"].displacement for i in LEGS])
        power = np.sum([solution[f"control {i}"].power for i in LEGS], axis=0)
        height = np.sum([body.mass * solution[body].com[:, 2] for body in solution.model.bodies], axis=0)
        energy = solution.energy.kinetic + G * height
        return {
            "lengths of the legs": (found, lengths - lengths[0]),
            "work of the legs": (energy, energy[0] + work(solution, power)),
        }

    return Benchmark(
        "stewart", "Stewart platform with PD control", model, DATA,
        "data: our own choice; values: Newton-Euler equations of the plate and the legs in the six coordinates of the "
        "plate, integrated by scipy's DOP853 with rtol 1e-13, and DOPRI5 in rotation vectors and in quaternions agree",
        observe, "largest error of position and extensions of the legs [m] and first axis of the plate", 1.0, 5e-4,
        {t: _named(values) for t, values in REFERENCE.items()}, RK6(), False, laws,
    )  # fmt: skip


REFERENCE = {
    0.1: (
        0.040805289132, -0.015368010115, 0.564390327393, 0.994629992079, 0.100113424536, 0.026238923087,
        0.009943644068, 0.018651880363, 0.015272564727, 0.019272875574, 0.013033838394, 0.000503382917,
    ),
    0.5: (
        0.152270330355, -0.019477257198, 0.709136771873, 0.994155398367, 0.098736086465, 0.043660383969,
        0.148633775573, 0.239774136280, 0.161444603928, 0.155132564239, 0.152111023173, 0.068431368475,
    ),
    1.0: (
        0.029304002801, -0.019718224869, 0.549082908358, 0.994188643513, 0.098955226220, 0.042388728605,
        -0.000387143755, -0.001177349201, -0.000758128153, -0.000682877165, -0.001074504412, -0.000807231207,
    ),
}  # fmt: skip


def _named(values: tuple[float, ...]) -> dict[str, float]:
    """Position and first axis of the plate and extensions of the legs by their names."""
    extensions = dict(zip((f"leg {i}" for i in LEGS), values[6:], strict=True))
    return {**xyz("position", values[:3]), **xyz("first axis", values[3:6]), **extensions}


def geometry() -> tuple[Array, Array]:
    """Joints of the legs on the ground and on the plate, (6, 3) each, the latter in axes of the plate."""
    found = []
    for part in ("base", "plate"):
        angles = np.radians(DATA[f"{part} angles"])
        circle = np.column_stack([np.cos(angles), np.sin(angles), 0.0 * angles])
        found.append(DATA[f"{part} radius"] * circle)
    return found[0], found[1]


def _model() -> tuple[Model, Array, Array]:
    """The robot at rest, and the joints of its legs on the ground and on the plate."""
    p = DATA
    feet, balls = geometry()
    place, turn = np.array(p["position"]), rotation(p["rotation"])
    model = Model("Stewart platform", gravity=(0, 0, -G))
    model.ground.shape = Cylinder(0.56, 0.04, centre=(0, 0, -0.04), colour="silver")
    node = RotationVector(place, turn)
    plate = model.add(RigidBody("plate", p["plate mass"], p["plate inertia"], node, p["plate com"], _plate(balls)))
    for i, foot, ball in zip(LEGS, feet, balls, strict=True):
        top = place + turn @ ball
        along = (top - foot) / np.linalg.norm(top - foot)
        cross = np.array((-foot[1], foot[0], 0.0)) / np.linalg.norm(foot)  # axis of the universal joint in the ground
        other = np.cross(along, cross)
        other /= np.linalg.norm(other)
        axes = np.column_stack([along, other, np.cross(along, other)])
        cylinder, rod = (_half_leg(name, i, at, axes) for name, at in (("cylinder", foot), ("rod", top)))
        model.add(cylinder)
        model.add(rod)
        model.add(Universal(model.ground, cylinder, at=foot, axis_a=cross, axis_b=(0, 1, 0), name=f"foot {i}"))
        slider = model.add(Prismatic(cylinder, rod, at=foot + 0.36 * along, axis=along, name=f"slider {i}"))
        model.add(Spherical(rod, plate, at=top, name=f"ball {i}"))
        model.add(PDControl(slider, _extension(foot, ball), p["kp"], p["kd"], name=f"control {i}"))
    return model, feet, balls


def _half_leg(name: str, i: int, at: Array, axes: Array) -> RigidBody:
    """The cylinder of a leg, above its lower end, or the rod, below its upper end."""
    side, radius, reach = (1.0, 0.03, 0.38) if name == "cylinder" else (-1.0, 0.016, 0.54)
    com, shape = (side * DATA[f"{name} com"], 0, 0), Cylinder(radius, reach, (1, 0, 0), (0.5 * side * reach, 0, 0))
    node = RotationVector(at, axes)
    return RigidBody(f"{name} {i}", DATA[f"{name} mass"], DATA[f"{name} inertia"], node, com, shape)


def _plate(balls: Array) -> Shape:
    """A round plate with a load on it and lugs for the legs."""
    load = Box((0.22, 0.16, 0.14), (0.03, -0.05, 0.1), colour="orange")
    return Composite(Cylinder(0.33, 0.025, centre=(0, 0, 0.02)), load, *(Sphere(0.03, ball) for ball in balls))


def _extension(foot: Array, ball: Array) -> Callable[[float], float]:
    """By how much a leg should be longer than at the start, as a function of time."""
    a, b, c = DATA["motion"]
    roll, pitch = DATA["tilt"]
    (x0, y0, z0), (fx, fy, fz), (bx, by, _) = DATA["position"], foot.tolist(), ball.tolist()
    (r11, r12, r13), (r21, r22, r23), (r31, r32, r33) = rotation(DATA["rotation"]).tolist()
    pace = 2.0 * math.pi / DATA["period"]
    start = float(np.linalg.norm(np.array(DATA["position"]) + rotation(DATA["rotation"]) @ ball - foot))

    def extension(t):  # type: ignore[no-untyped-def]
        there, aside = 1.0 - math.cos(pace * t), math.sin(pace * t) - 0.5 * math.sin(2.0 * pace * t)
        ca, sa, cb, sb = (
            math.cos(roll * there),
            math.sin(roll * there),
            math.cos(pitch * aside),
            math.sin(pitch * aside),
        )
        u, v, w = cb * bx, ca * by + sa * sb * bx, sa * by - ca * sb * bx  # Rx(roll) Ry(pitch) ball
        x = x0 + a * there + r11 * u + r12 * v + r13 * w - fx
        y = y0 + b * aside + r21 * u + r22 * v + r23 * w - fy
        z = z0 + c * there + r31 * u + r32 * v + r33 * w - fz
        return math.sqrt(x * x + y * y + z * z) - start

    return extension
