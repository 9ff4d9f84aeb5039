"""The Puma 560 robot under PD control, section 4.4 of Holzinger, Arnold & Gerstmayr 2024."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..bodies import Body, RigidBody
from ..bodies.shapes import Box, Capsule, Composite, Cylinder, Shape, Sphere
from ..errors import ModelWarning, bad_value
from ..forces import PDControl
from ..integrators import RK6
from ..joints import Revolute
from ..model import Model
from ..nodes import RotationVector
from ..rotation import rotation
from .benchmark import Array, Benchmark, Law
from .flight import PAPER, G

DENAVIT_HARTENBERG = (
    (0.0, 0.0, math.pi / 2), (0.0, 0.4318, 0.0), (0.15005, 0.0203, -math.pi / 2), (0.4318, 0.0, math.pi / 2),
    (0.0, 0.0, -math.pi / 2), (0.0, 0.0, 0.0),
)  # fmt: skip
"""d, a and alpha of every link, standard convention: T = Rz(phi) Tz(d) Tx(a) Rx(alpha)."""
MASSES = (20.0, 17.4, 4.8, 0.82, 0.34, 0.09)  # that of link 1 has no influence
CENTRES = (
    (0, 0, 0), (-0.3638, 0.006, 0.2275), (-0.0203, -0.0141, 0.070), (0, 0.019, 0), (0, 0, 0), (0, 0, 0.032),
)  # fmt: skip
MOMENTS = (  # about the centre of mass, link axes; of link 1 only the second one is known and has an influence
    (0, 0.35, 0), (0.13, 0.524, 0.539), (0.066, 0.086, 0.0125), (1.8e-3, 1.3e-3, 1.8e-3), (0.3e-3, 0.4e-3, 0.3e-3),
    (0.15e-3, 0.15e-3, 0.04e-3),
)  # fmt: skip
PROPORTIONAL, DERIVATIVE = (40000.0, 40000.0, 40000.0, 100.0, 100.0, 10.0), (400.0, 400.0, 100.0, 1.0, 1.0, 0.1)
GOAL = (-120.0, 60.0, -200.0, 90.0, 90.0, 45.0)  # degrees by which the joints turn in a second
STARTS = {"printed": np.radians((0.0, 22.5, 90.0, 0.0, 22.5, 0.0)), "zero": np.zeros(6)}
REFERENCE = {
    "printed": {
        0.5: (
            -1.0469886903842, 0.9155942708102, -0.1743767157637, 0.7854054014282, 1.1780538989143, 0.3928235231199,
        ),
        1.0: (-2.0947946763771, 1.4399091590234, -1.9199931635341, 1.5709257425066, 1.9638037073775, 0.7853763404891),
    },
    "zero": {
        0.5: (-1.0463909431528, 0.5219814224717, -1.7455819430775, 0.7851850239352, 0.7844687914602, 0.3927477970487),
        1.0: (-2.0949706010236, 1.0468379358919, -3.4909198136318, 1.5713785805647, 1.5707326084157, 0.7853717388342),
    },
}  # fmt: skip
NAMES = tuple(f"joint {i + 1}" for i in range(6))


def puma(start: str = "printed") -> Benchmark:
    """Section 4.4: the Puma 560 moves from point to point in one second, each joint under PD control.

    The set points have constant acceleration up to t = 0.5 and constant deceleration after it, where steps should end.
    ``start="printed"`` takes the joint angles (0, 22.5, 90, 0, 22.5, 0) degrees. The paper prints five of these six,
    and a goal that contradicts them: the accelerations of its Table 9 turn the joints *by* the goal, not to it. With
    ``start="zero"`` goal and accelerations agree. Angles are those of Denavit and Hartenberg; data of the links:
    Corke, Robotics, Vision and Control. Moments of links 1 and 3 violate the triangle inequality, as published.
    """
    if not isinstance(start, str) or start not in STARTS:
        raise bad_value("puma", "start", start, '"printed" or "zero"')
    offsets = STARTS[start]

    def angles(solution: Any) -> Array:
        return np.column_stack([solution[name].angle for name in NAMES]) + offsets

    def observe(solution: Any, k: int) -> dict[str, float]:
        return dict(zip(NAMES, angles(solution)[k].tolist(), strict=True))

    def laws(solution: Any) -> dict[str, Law]:
        some = np.unique(np.linspace(0, len(solution) - 1, 101).astype(int))
        tool = np.array([frames(phi)[-1][0] for phi in angles(solution)[some]])
        return {"position of the tool": (solution["link 6"].position[some], tool)}

    parameters = {
        "start": offsets, "turns": np.radians(GOAL), "Denavit-Hartenberg": DENAVIT_HARTENBERG, "masses": MASSES,
        "centres": CENTRES, "inertias": MOMENTS, "kp": PROPORTIONAL, "kd": DERIVATIVE, "g": G,
    }  # fmt: skip
    reference = {t: dict(zip(NAMES, values, strict=True)) for t, values in REFERENCE[start].items()}
    return Benchmark(
        f"puma ({start})", "Puma 560 robot with PD control", model(offsets), parameters,
        f"{PAPER}, section 4.4; values: two implementations in joint coordinates, one of them Pinocchio, integrated by "
        "scipy's DOP853 with rtol 1e-13 and a stop at 0.5, agree in all digits", observe,
        "largest error of the joint angles at t = 0.5 and 1 [rad]", 1.0, 2.5e-4, reference, RK6(), False, laws,
    )  # fmt: skip


def frames(angles: Any) -> list[tuple[Array, Array]]:
    """Position and rotation matrix of every link frame, and first of the ground, from the joint angles."""
    found = [(np.zeros(3), np.eye(3))]
    for phi, (d, a, alpha) in zip(angles, DENAVIT_HARTENBERG, strict=True):
        place, turn = found[-1]
        turn = turn @ rotation((0, 0, float(phi)))
        found.append((place + turn @ np.array((a, 0.0, d)), turn @ rotation((alpha, 0, 0))))
    return found


def model(start: Any, *, controlled: bool = True) -> Model:
    """The robot at rest with these joint angles; the coordinate of every joint is counted from there."""
    robot = Model("Puma 560", gravity=(0, 0, -G))
    robot.ground.shape = Composite(Cylinder(0.1, 0.5, centre=(0, 0, -0.36)), Cylinder(0.16, 0.04, centre=(0, 0, -0.62)))
    places = frames(start)
    last: Body = robot.ground
    for i, name in enumerate(NAMES):
        (at, before), (place, turn) = places[i], places[i + 1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # the published moments are what they are
            link = RigidBody(
                f"link {i + 1}", MASSES[i], MOMENTS[i], RotationVector(place, turn), CENTRES[i], _shapes()[i],
                check_inertia=False,
            )  # fmt: skip
        robot.add(link)
        axis = before[:, 2]
        joint = robot.add(Revolute(last, link, at=at + DENAVIT_HARTENBERG[i][0] * axis, axis=axis, name=name))
        if controlled:
            target, rate = _set_point(4.0 * math.radians(GOAL[i]))
            robot.add(PDControl(joint, target, PROPORTIONAL[i], DERIVATIVE[i], rate=rate, name=f"control {i + 1}"))
        last = link
    return robot


def _set_point(acceleration: float) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """Angle and rate with this acceleration in the first half of a second and its opposite in the second half."""

    def target(t):  # type: ignore[no-untyped-def]
        return acceleration * (0.5 * t * t if t <= 0.5 else 0.25 - 0.5 * (1.0 - t) ** 2)

    def rate(t):  # type: ignore[no-untyped-def]
        return acceleration * (t if t <= 0.5 else 1.0 - t)

    return target, rate


def _shapes() -> list[Shape]:
    """What the links look like, in their Denavit-Hartenberg frames, which sit at their outer ends."""
    a, d = 0.4318, 0.4318
    upper = Composite(
        Box((a, 0.12, 0.1), centre=(-0.5 * a, 0, 0.2)), Cylinder(0.1, 0.1, centre=(-a, 0, 0.2)),
        Cylinder(0.06, 0.1, centre=(0, 0, 0.2)),
    )  # fmt: skip
    return [
        Composite(Cylinder(0.09, 0.26, centre=(0, 0, 0.02)), Cylinder(0.1, 0.02, axis=(0, 1, 0), centre=(0, -0.1, 0))),
        upper,
        Composite(
            Cylinder(0.055, 0.1, axis=(0, 1, 0), centre=(-0.0203, 0.0, 0)),
            Capsule(0.045, d - 0.13, centre=(0, 0, 0.5 * d - 0.02)),
        ),
        Cylinder(0.04, 0.08, axis=(0, 1, 0), centre=(0, -0.02, 0)),
        Sphere(radius=0.045),
        Composite(Cylinder(0.03, 0.05, centre=(0, 0, 0.05)), Box((0.1, 0.02, 0.03), (0, 0, 0.085), colour="orange")),
    ]
