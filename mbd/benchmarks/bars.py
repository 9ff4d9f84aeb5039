"""Bars on spherical joints of Table 1 of Holzinger et al.: double pendulum (6), floating chain (12), closed loop (13).

The table names the systems without data; these are our own choice, see ``mbd/benchmarks/flight.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bodies import RigidBody
from ..bodies.shapes import Capsule
from ..integrators import RK6
from ..joints import Spherical
from ..model import Model
from ..nodes import RotationVector
from .benchmark import Array, Benchmark, Law, momenta, xyz
from .flight import G, table_1

MASS, INERTIA = 1.0, (0.01, 0.1, 0.1)  # of every bar, whatever its length; the first axis is along the bar
BARS = {"mass": MASS, "inertia": INERTIA}


def _bar(name: str, start: Array, end: Array, velocity: Array, spin: Array) -> RigidBody:
    """A bar whose first axis points from start to end; velocity of its start and angular velocity in world axes."""
    length = float(np.linalg.norm(end - start))
    along = (end - start) / length
    across = np.cross((0, 0, 1) if abs(along[2]) < 0.9 else (0, 1, 0), along)
    across /= np.linalg.norm(across)
    turn = np.column_stack([along, across, np.cross(along, across)])
    speed = velocity + np.cross(spin, 0.5 * (end - start))
    node = RotationVector(0.5 * (start + end), turn, speed, turn.T @ spin)
    return RigidBody(name, MASS, INERTIA, node, shape=Capsule(0.04, length - 0.14, axis=(1, 0, 0)))


def _chain(model: Model, points: Any, spins: Any) -> list[RigidBody]:
    """Bars from point to point with spherical joints between them; the first point is at rest."""
    corners, rates = np.array(points, dtype=float), np.array(spins, dtype=float)
    velocity = np.zeros(3)
    bars: list[RigidBody] = []
    for k, spin in enumerate(rates):
        bars.append(model.add(_bar(f"bar {k + 1}", corners[k], corners[k + 1], velocity, spin)))
        velocity = velocity + np.cross(spin, corners[k + 1] - corners[k])
        if k > 0:
            model.add(Spherical(bars[k - 1], bars[k], at=corners[k], name=f"joint {k}"))
    return bars


def _centres(solution: Any, k: int) -> dict[str, float]:
    """Centres of all bars at a record."""
    return {key: x for bar in solution.model.bodies for key, x in xyz(bar.name, solution[bar].position[k]).items()}


def _named(*centres: tuple[float, float, float]) -> dict[str, float]:
    """Given centres as the same quantities."""
    return {key: x for k, centre in enumerate(centres) for key, x in xyz(f"bar {k + 1}", centre).items()}


def double_pendulum() -> Benchmark:
    """System 6: two bars hang in spherical joints, the first one from the origin; 2 s."""
    model = Model("spherical double pendulum", gravity=(0, 0, -G))
    points, spins = ((0, 0, 0), (1, 0, 0), (1, 1, 0)), ((0, 0, 2), (1, 0, 0.5))
    first, _ = _chain(model, points, spins)
    model.add(Spherical(model.ground, first, at=points[0], name="pivot"))

    def laws(solution: Any) -> dict[str, Law]:
        vertical = solution.momentum.angular[:, 2], 2.875
        return {"energy": (solution.energy.total, 2.91875), "angular momentum about the vertical": vertical}

    reference = _named((0.222826572, 0.320425476, -0.312531331), (0.814616063, 0.485914555, -0.924831035))
    return Benchmark(
        "double-pendulum", "spherical double pendulum", model, {**BARS, "points": points, "spins": spins, "g": G},
        table_1(6), _centres, "largest error of the centres of the bars at t = 2 [m]", 2.0, 2.5e-3, {2.0: reference},
        RK6(), laws=laws,
    )  # fmt: skip


def floating_bodies() -> Benchmark:
    """System 12: three bars, connected by two spherical joints, in free flight; 5 s."""
    model = Model("three floating bars")
    points, spins = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)), ((0, 0, 1), (0.5, -0.3, 0), (0, 1, -1))
    _chain(model, points, spins)

    def laws(solution: Any) -> dict[str, Law]:
        kept = momenta(solution, (0.5, 2.5, 0.75), (0.175, -0.403, 1.84))
        return {**kept, "energy": (solution.energy.total, 1.5242)}

    reference = _named(
        (1.361911850, 5.069790399, 1.508033937), (1.919970838, 4.816669147, 1.477065492),
        (1.718117312, 4.113540454, 1.264900571),
    )  # fmt: skip
    return Benchmark(
        "floating-bodies", "interconnected floating bodies", model, {**BARS, "points": points, "spins": spins},
        table_1(12), _centres, "largest error of the centres of the bars at t = 5 [m]", 5.0, 5e-3, {5.0: reference},
        RK6(), laws=laws,
    )  # fmt: skip


def three_bar() -> Benchmark:
    """System 13: three bars in a loop with the ground, four spherical joints; 2 s.

    Only the middle bar moves at the start: it spins about itself. No bar has a torque along itself and all are
    symmetric, so that each keeps its own spin.
    """
    model = Model("closed loop of three bars", gravity=(0, 0, -G))
    points = np.array(((0, 0, 0), (0.2, 0, -1.0), (1.3, 0.4, -0.9), (1.5, 0, 0)))
    own = np.array((0.0, 2.0, 0.0))
    middle = (points[2] - points[1]) / np.linalg.norm(points[2] - points[1])
    bars = _chain(model, points, [0 * middle, own[1] * middle, 0 * middle])
    model.add(Spherical(model.ground, bars[0], at=points[0], name="left pivot"))
    model.add(Spherical(bars[2], model.ground, at=points[3], name="right pivot"))

    def laws(solution: Any) -> dict[str, Law]:
        spins = np.column_stack([solution[bar.name].angular_velocity[:, 0] for bar in bars])
        return {"energy": (solution.energy.total, -18.619), "spins about the bars": (spins, own)}

    reference = _named(
        (0.092775335, 0.182146955, -0.467135124), (0.740613936, 0.173794361, -0.959063251),
        (1.397838601, -0.008352594, -0.491928128),
    )  # fmt: skip
    return Benchmark(
        "three-bar", "closed loop, spherical 3-bar linkage", model, {**BARS, "points": points, "spins": own, "g": G},
        table_1(13), _centres, "largest error of the centres of the bars at t = 2 [m]", 2.0, 5e-3, {2.0: reference},
        RK6(), laws=laws,
    )  # fmt: skip
