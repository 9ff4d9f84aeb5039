"""Spatial mechanisms: Bricard's loop (A04), flyball governor (A05), slider-crank, heavy top."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..bodies import RigidBody
from ..bodies.mass_properties import MassProperties, composite, mass_properties
from ..bodies.shapes import Box, Composite, Cone, Cylinder, Sphere
from ..errors import bad_value
from ..forces import Spring
from ..integrators import RK6, GeneralizedAlpha
from ..joints import Prismatic, Revolute, Spherical, Universal
from ..model import Model
from ..nodes import RotationVector
from ..rotation import rotation
from .benchmark import Benchmark, Law
from .planar import LIBRARY

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def bricard() -> Benchmark:
    """A04: five square rods along the edges of a cube, six hinges; one redundant equation wherever it goes; 10 s.

    Each hinge is perpendicular to both rods that it connects. Gravity along -y, from rest. The library shows corners
    and axes in a drawing; Exudyn's model of the problem has the same ones, and extrapolated from steps of 1 and 0.5 ms
    it comes to within 5e-10 of the values below at t = 1 and 2.
    """
    corners = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)]
    model = Model("A04 Bricard", gravity=(0, -9.81, 0))
    rods: list[Any] = [model.ground]
    for k in range(5):
        start, end = np.array(corners[k], dtype=float), np.array(corners[k + 1], dtype=float)
        size = 0.1 + 0.9 * np.abs(end - start)
        properties = mass_properties(Box(tuple(size)), mass=1.0)
        node = RotationVector(position=(start + end) / 2)
        rods.append(model.add(properties.body(f"rod {k + 1}", node, Box(tuple(size)))))
    rods.append(model.ground)
    for k, axis in enumerate((Y, Z, X, Y, Z, X)):
        model.add(Revolute(rods[k], rods[k + 1], at=corners[k], axis=axis, name=f"hinge {k + 1}"))

    def observe(solution: Any, k: int) -> dict[str, float]:
        x, y, z = solution["rod 3"].point((0, 0, 0.5))[k].tolist()
        return {"x": x, "y": y, "z": z}

    return Benchmark(
        "A04", "Bricard mechanism", model, {"mass": 1.0, "length": 1.0, "width": 0.1, "g": 9.81},
        f"{LIBRARY}, problem A04; values: RK6 with two steps and RK4 agree in the digits given", observe,
        "largest error of the corner between rods 3 and 4", 10.0, 5e-3, BRICARD, GeneralizedAlpha(),
    )  # fmt: skip


BRICARD = {
    1.0: {"x": 0.510501461, "y": -1.649167599, "z": 0.140123115},
    2.0: {"x": -0.969340345, "y": -1.221246895, "z": 0.754278011},
    8.0: {"x": -0.964948572, "y": -1.234859545, "z": 0.737560952},
}


def flyball_governor() -> Benchmark:
    """A05: two rods with heavy tips swing out against springs on a turning shaft and lift a slider; 10 s.

    The shaft is vertical along z. Stiff spring-dampers connect the middle of each rod with the slider.
    """
    density, k, c, length = 3000.0, 8e5, 4e4, 0.5
    spin = 2.0 * math.pi
    model = Model("A05 flyball governor", gravity=(0, 0, -9.81))
    thin = Box((0.01, 0.01, 1.0))
    shaft = model.add(
        mass_properties(thin, density).body(
            "shaft", RotationVector(position=(0, 0, 0.5), angular_velocity=(0, 0, spin)), thin
        )
    )
    cube = Box((0.1, 0.1, 0.1))
    slider = model.add(
        mass_properties(cube, density).body(
            "slider", RotationVector(position=(0, 0, 0.5), angular_velocity=(0, 0, spin)), cube
        )
    )
    model.add(Revolute(model.ground, shaft, at=(0, 0, 0), axis=Z, name="bearing"))
    model.add(Prismatic(shaft, slider, axis=Z, name="guide"))
    bar = Box((1.0, 0.01, 0.01), centre=(0.5, 0, 0))
    tip = MassProperties(5.0, (1.0, 0.0, 0.0), np.zeros((3, 3)))
    properties = composite([(bar, density), tip])
    shape = Composite(bar, Sphere(radius=0.06, centre=(1.0, 0.0, 0.0)))
    for side, name in ((1.0, "right"), (-1.0, "left")):
        hinge = np.array((0.05 * side, 0.0, 1.0))
        heading = rotation((0, 0, 0.0 if side > 0 else math.pi))
        turn = heading @ rotation((0, math.radians(30.0), 0))  # the x-axis points outwards and 30 degrees down
        velocity = np.cross((0, 0, spin), hinge)
        node = RotationVector(
            position=hinge, rotation=turn, velocity=velocity, angular_velocity=turn.T @ np.array((0.0, 0.0, spin))
        )
        rod = model.add(properties.body(f"{name} rod", node, shape))
        model.add(Revolute(shaft, rod, at=hinge, axis=Y, name=f"{name} hinge"))
        attachment = (0.05 * side, 0.0, 0.0)
        model.add(Spring(rod, slider, (0.5, 0, 0), attachment, k, length, c, name=f"{name} spring"))

    def observe(solution: Any, k: int) -> dict[str, float]:
        return {"slider height": float(solution["slider"].position[k, 2])}

    parameters = {
        "density": density, "stiffness": k, "damping": c, "spring length": length, "tip mass": 5.0, "spin": spin,
        "g": 9.81,
    }  # fmt: skip
    return Benchmark(
        "A05", "flyball governor", model, parameters,
        f"{LIBRARY}, problem A05; values: RK6 with two steps and RK4 agree in the digits given", observe,
        "largest error of the height of the slider [m]", 10.0, 1e-2, GOVERNOR, GeneralizedAlpha(), False,
    )  # fmt: skip


GOVERNOR = {
    t: {"slider height": height}
    for t, height in ((0.1, 0.52383647557), (1.0, 0.50142092238), (5.0, 0.53556310372), (10.0, 0.61962291706))
}


def slider_crank(crank_com: str = "half") -> Benchmark:
    """Spatial slider-crank; 5 s.

    ``crank_com="half"`` puts the crank's centre of mass at half its length, as the IFToMM library does, "pivot" into
    its pivot, as Table 8 of Holzinger et al. does. The universal joint keeps the rod's y-axis, which is perpendicular
    to the rod, perpendicular to the slider's x-axis.
    """
    if crank_com not in ("half", "pivot"):
        raise bad_value("slider_crank", "crank_com", crank_com, '"half" or "pivot"')
    model = Model("spatial slider-crank", gravity=(0, 0, -9.81))
    pivot, radius, rate = np.array((0.0, 0.1, 0.12)), 0.08, 6.0
    top = pivot + (0, 0, radius)
    end = np.array((math.sqrt(0.3**2 - top[1] ** 2 - top[2] ** 2), 0.0, 0.0))
    spin = np.array((rate, 0.0, 0.0))
    # crank: x-rotation by theta, its arm along z
    com = (0, 0, 0.5 * radius) if crank_com == "half" else (0, 0, 0)
    node = RotationVector(position=pivot, angular_velocity=spin)
    arm = Composite(Box((0.015, 0.02, radius), (0, 0, 0.5 * radius)), Cylinder(0.02, 0.03, axis=X))
    crank = model.add(RigidBody("crank", 0.12, (1e-4, 1e-4, 1e-4), node, com, arm))
    # rod: R = Rx(a) Ry(b), its x-axis from the crank's end to the slider
    direction = (end - top) / 0.3
    b = math.asin(-direction[2]) if abs(direction[1]) < 1e-15 else _tilt(direction)[1]
    turn = rotation((_tilt(direction)[0], 0, 0)) @ rotation((0, b, 0))
    end_speed, rod_spin = _rod_rates(top, end, np.cross(spin, top - pivot), turn)
    middle = 0.5 * (np.cross(spin, top - pivot) + end_speed)
    node = RotationVector(position=(top + end) / 2, rotation=turn, velocity=middle, angular_velocity=turn.T @ rod_spin)
    rod = model.add(RigidBody("rod", 0.5, (4e-4, 4e-3, 4e-3), node, shape=Box((0.3, 0.015, 0.015))))
    slider = model.add(
        RigidBody(
            "slider",
            2.0,
            (1e-4, 1e-4, 1e-4),
            RotationVector(position=end, velocity=end_speed),
            shape=Box((0.05, 0.05, 0.05)),
        )
    )
    model.add(Revolute(model.ground, crank, at=pivot, axis=X, name="crank hinge"))
    model.add(Spherical(crank, rod, at=top, name="ball"))
    model.add(Universal(rod, slider, at=end, axis_a=Y, axis_b=X, name="cross"))
    model.add(Prismatic(model.ground, slider, axis=X, name="guide"))

    def observe(solution: Any, k: int) -> dict[str, float]:
        return {
            "slider": float(solution["slider"].position[k, 0]),
            "angle": float(solution["crank hinge"].angle[k]),
        }

    return Benchmark(
        f"slider-crank ({crank_com})", "spatial slider-crank", model,
        {"crank": 0.08, "rod": 0.3, "masses": (0.12, 0.5, 2.0), "rate": rate, "crank_com": crank_com},
        f"{LIBRARY} (centre of mass at half length); Holzinger, Arnold & Gerstmayr 2024, Table 8 (at the pivot)",
        observe,
        "largest error of the slider's position [m] and of the crank's angle [rad]", 5.0, 1e-3, SLIDER_CRANK[crank_com],
        GeneralizedAlpha(),
    )  # fmt: skip


SLIDER_CRANK = {
    "half": {
        0.1: {"slider": 0.226787188553, "angle": 0.56003148209},
        1.0: {"slider": 0.211721661393, "angle": 10.91359072986},
        2.0: {"slider": 0.289085197067, "angle": 21.07274452276},
        5.0: {"slider": 0.2407195737, "angle": 54.3333321683},
    },
    "pivot": {
        1.0: {"slider": 0.2337647503, "angle": 10.4840738385},
        2.0: {"slider": 0.2583044434, "angle": 20.0312859810},
        5.0: {"slider": 0.25465008547, "angle": 51.3694398879},
    },
}


def _tilt(direction: Any) -> tuple[float, float]:
    """Angles (a, b) with Rx(a) Ry(b) x = direction."""
    b = math.acos(min(1.0, max(-1.0, float(direction[0]))))
    # Rx(a) Ry(b) x = (cos b, sin a sin b, -cos a sin b)
    a = math.atan2(direction[1], -direction[2])
    return a, b


def _rod_rates(top: Any, end: Any, top_speed: Any, turn: Any) -> tuple[Any, Any]:
    """Velocity of the slider and angular velocity of the rod: five equations of kinematics and no guess."""
    arm = end - top
    # unknowns: slider speed u along x, angular velocity w (3): u x = top_speed + w cross arm, and
    # d/dt (slider x . rod y) = x . (w cross y_rod) = 0
    matrix, right = np.zeros((4, 4)), np.zeros(4)
    matrix[:3, 0] = X
    matrix[:3, 1:] = np.array(((0.0, -arm[2], arm[1]), (arm[2], 0.0, -arm[0]), (-arm[1], arm[0], 0.0)))
    right[:3] = top_speed
    matrix[3, 1:] = np.cross(turn[:, 1], X)
    u, *w = np.linalg.solve(matrix, right).tolist()
    return np.array((u, 0.0, 0.0)), np.array(w)


def heavy_top(pinned: bool = False) -> Benchmark:
    """A fast top on a ball joint, or with ``pinned=True`` on a node whose reference point is the pivot; 1 s.

    These are systems 2 and 3 of Table 1 of Holzinger et al.; their motion is the same.
    """
    model = Model("heavy top, pinned" if pinned else "heavy top", gravity=(0, 0, -9.81))
    spin, moments = np.array((0.0, 150.0, -4.61538)), np.array((0.234375, 0.46875, 0.234375))
    if pinned:
        node, com = RotationVector(pinned=True, angular_velocity=spin), Y
        shape = Cone(radius=0.3, height=1.0, axis=(0, -1, 0), tip=(0, 0, 0))
        model.add(RigidBody("top", 15.0, moments, node, com, shape))
    else:
        node = RotationVector(position=Y, velocity=(4.61538, 0, 0), angular_velocity=spin)
        shape = Cone(radius=0.3, height=1.0, axis=(0, -1, 0))
        top = model.add(RigidBody("top", 15.0, moments, node, shape=shape))
        model.add(Spherical(model.ground, top, at=(0, 0, 0), name="pivot"))

    def observe(solution: Any, k: int) -> dict[str, float]:
        x, y, z = solution["top"].com[k].tolist()
        return {"x": x, "y": y, "z": z}

    def laws(solution: Any) -> dict[str, Law]:
        about_pivot = moments + (15.0, 0.0, 15.0)
        return {
            "energy": (solution.energy.total, 0.5 * about_pivot @ spin**2),
            "angular momentum about the vertical": (solution.momentum.angular[:, 2], about_pivot[2] * spin[2]),
            "spin": (solution["top"].angular_velocity[:, 1], spin[1]),
        }

    values = {
        0.1: (0.42129665892, 0.89457197435, -0.14916470056),
        0.5: (-0.70246829706, -0.02116518470, -0.71140025765),
        1.0: (0.17334396409838, 0.64008859207055, -0.74849079113359),
        2.0: (-0.15041682275, -0.72416559164, -0.67302226956),
    }
    return Benchmark(
        f"heavy top{' (pinned)' * pinned}", model.name, model, {"mass": 15.0, "inertia": moments, "spin": 150.0},
        "Bruls & Cardona 2010, J. Comput. Nonlinear Dyn. 5, 031002", observe,
        "largest error of the centre of mass at t = 0.1, 0.5 and 1", 1.0, 1e-3,
        {t: dict(zip("xyz", x, strict=True)) for t, x in values.items()}, RK6() if pinned else GeneralizedAlpha(),
        laws=laws,
    )  # fmt: skip
