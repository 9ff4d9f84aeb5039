"""The benchmark bicycle of Meijaard, Papadopoulos, Ruina & Schwab: four bodies, three hinges, two rolling wheels."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..bodies import RigidBody
from ..bodies.shapes import Box, Cylinder
from ..errors import check_number
from ..integrators import GeneralizedAlpha
from ..joints import Revolute, Rolling
from ..model import Model
from ..nodes import RotationVector
from .benchmark import Benchmark

WHEELBASE, TRAIL, TILT, GRAVITY = 1.02, 0.08, math.pi / 10, 9.81
REAR_RADIUS, FRONT_RADIUS = 0.3, 0.35
EIGENVALUES: dict[float, tuple[complex, ...]] = {
    0.0: (-5.53094371765393, -3.13164324790656, 3.13164324790656, 5.53094371765393),
    5.0: (
        -14.07838969279822, -0.77534188219585 - 4.46486771378823j, -0.77534188219585 + 4.46486771378823j,
        -0.32286642900409,
    ),
}  # fmt: skip
"""Published eigenvalues of lean and steer, by forward speed in m/s."""


def bicycle(speed: float = 5.0, lean_rate: float = 0.5) -> Benchmark:
    """A riderless bicycle that rolls straight on and is knocked over to one side at the start; 5 s.

    It moves along x at ``speed`` (m/s), z is up, and at t = 0 all of it turns about the line on which the wheels stand
    with ``lean_rate`` (rad/s). Between the weave speed 4.29 and the capsize speed 6.02 m/s it stabilises itself.
    ``benchmark.steady`` is the undisturbed bicycle for ``mbd.linearize``, ``benchmark.eigenvalues`` the published ones.

    The paper's axes have z down: its products of inertia change their sign here.
    """
    speed = check_number(speed, "bicycle", "speed")
    lean_rate = check_number(lean_rate, "bicycle", "lean_rate")

    def observe(solution: Any, k: int) -> dict[str, float]:
        rotation = solution["rear frame"].rotation[k]
        return {
            "x": float(solution["rear wheel"].position[k, 0]),
            "y": float(solution["rear wheel"].position[k, 1]),
            "lean": math.asin(float(rotation[2, 1])),
            "steer": float(solution["steering"].angle[k]),
        }

    parameters = {
        "speed": speed, "lean_rate": lean_rate, "wheelbase": WHEELBASE, "trail": TRAIL, "tilt": TILT, "g": GRAVITY,
    }  # fmt: skip
    return Benchmark(
        "bicycle", "benchmark bicycle", _model(speed, lean_rate), parameters,
        "Meijaard, Papadopoulos, Ruina & Schwab 2007, Proc. R. Soc. A 463, 1955-1982, Tables 1 and 2; values at times: "
        "RK6 with two steps and RK4 agree in the digits given",
        observe, "largest error of position [m], lean and steer [rad]", 5.0, 5e-3,
        REFERENCE if (speed, lean_rate) == (5.0, 0.5) else {}, GeneralizedAlpha(),
        steady=_model(speed, 0.0), eigenvalues=EIGENVALUES.get(speed, ()),
    )  # fmt: skip


REFERENCE = {
    1.0: {"x": 4.9566339650, "y": -0.7501527600, "lean": -0.0218859064, "steer": -0.0426885453},
    2.0: {"x": 9.8826781444, "y": -1.7260429710, "lean": 0.0285145283, "steer": 0.0265360914},
    5.0: {"x": 24.4292714865, "y": -5.6272030889, "lean": 0.0057929268, "steer": 0.0023655158},
}


def _model(speed: float, lean_rate: float) -> Model:
    model = Model("benchmark bicycle", gravity=(0, 0, -GRAVITY))
    lean = np.array((lean_rate, 0.0, 0.0))

    def body(name: str, mass: float, inertia: Any, position: Any, spin: float, shape: Any) -> RigidBody:
        velocity = np.array((speed, 0.0, 0.0)) + np.cross(lean, position)
        node = RotationVector(position=position, velocity=velocity, angular_velocity=lean + (0.0, spin, 0.0))
        return model.add(RigidBody(name, mass, inertia, node, shape=shape))

    def wheel(name: str, mass: float, across: float, along: float, x: float, radius: float) -> RigidBody:
        rim = Cylinder(radius, 0.04, axis=(0, 1, 0))
        return body(name, mass, (across, along, across), (x, 0.0, radius), speed / radius, rim)

    rear = wheel("rear wheel", 2.0, 0.0603, 0.12, 0.0, REAR_RADIUS)
    frame = body(
        "rear frame", 85.0, ((9.2, 0, -2.4), (0, 11.0, 0), (-2.4, 0, 2.8)), (0.3, 0.0, 0.9), 0.0, Box((0.5, 0.2, 1.0))
    )
    fork = body(
        "front frame", 4.0, ((0.05892, 0, 0.00756), (0, 0.06, 0), (0.00756, 0, 0.00708)), (0.9, 0.0, 0.7), 0.0,
        Box((0.05, 0.4, 0.5)),
    )  # fmt: skip
    front = wheel("front wheel", 3.0, 0.1405, 0.28, WHEELBASE, FRONT_RADIUS)
    across = (0, 1, 0)
    model.add(Revolute(frame, rear, at=(0, 0, REAR_RADIUS), axis=across, name="rear hub"))
    steer_axis = (math.sin(TILT), 0.0, -math.cos(TILT))  # downwards, so that steer is positive to the right
    model.add(Revolute(frame, fork, at=(WHEELBASE + TRAIL, 0, 0), axis=steer_axis, name="steering"))
    model.add(Revolute(fork, front, at=(WHEELBASE, 0, FRONT_RADIUS), axis=across, name="front hub"))
    for rolling, radius in ((rear, REAR_RADIUS), (front, FRONT_RADIUS)):
        name = rolling.name.replace("wheel", "contact")
        model.add(Rolling(model.ground, rolling, radius=radius, axis=across, at=(0, 0, 0), name=name))
    return model
