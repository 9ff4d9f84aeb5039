"""Models on which the default of ``simulate`` was decided, beside those of ``mbd.benchmarks``.

Each function returns a Case: a model as a user would build it, steps as a user would choose them, and what to look at.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import mbd

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
import high_speed_rotor

RV = mbd.nodes.RotationVector
GRAVITY = (0.0, 0.0, -9.81)


@dataclass
class Case:
    """A model with the times, steps and quantities that are compared.

    ``reference`` is the value of ``observe`` at the end; if it is None it is computed by DOPRI5 with ``rtol``.
    ``momentum``: the angular momentum is constant, and its loss is of interest.
    """

    model: mbd.Model
    t_end: float
    steps: tuple[float, ...]
    observe: Callable[[Any], Any]
    reference: Any = None
    conservative: bool = True
    momentum: bool = False
    rtol: float = 1e-11


def positions(*names: str) -> Callable[[Any], Any]:
    """Reference points of some bodies at the end."""
    return lambda solution: np.concatenate([solution[name].position[-1] for name in names])


def from_benchmark(name: str, steps: tuple[float, ...], t_end: float | None = None) -> Case:
    """A case from ``mbd.benchmarks``; the largest deviation at the times of its reference values is its error."""
    b = mbd.benchmarks.ALL[name]()
    end = b.t_end if t_end is None else t_end
    times = [t for t in b.reference if t <= end * (1 + 1e-9)]

    def observe(solution: Any) -> Any:
        rows = [int(np.argmin(np.abs(solution.t - t))) for t in times] or [-1]
        return np.array([x for k in rows for x in b.observe(solution, k).values()])

    known = [x for t in times for x in b.reference[t].values()]
    return Case(b.model, max(times) if times else end, steps, observe, known or None, b.conservative)


def satellite() -> Case:
    """A hull of 100 kg that tumbles slowly, with three wheels of 5 kg at 300 rad/s (2900 revolutions per minute)."""
    model = mbd.Model("satellite with three wheels")
    omega = np.array((0.02, -0.01, 0.03))
    hull = model.add(mbd.RigidBody("hull", 100.0, (20.0, 25.0, 30.0), RV(angular_velocity=omega)))
    for k, axis in enumerate(np.eye(3)):
        at = 0.5 * axis
        node = RV(at, velocity=np.cross(omega, at), angular_velocity=omega + 300.0 * axis)
        wheel = model.add(mbd.RigidBody(f"wheel {k + 1}", 5.0, 0.03 + 0.02 * axis, node))
        model.add(mbd.joints.Revolute(hull, wheel, at=at, axis=axis, name=f"bearing {k + 1}"))
    return Case(model, 10.0, (5e-3, 2.5e-3, 1.25e-3), lambda s: s["hull"].rotation[-1].ravel(), momentum=True)


def dual_spin() -> Case:
    """A platform with a rotor of 30 rad/s."""
    model = mbd.Model("dual-spin satellite")
    omega, at = np.array((0.1, 0.0, 0.05)), np.array((0, 0, 0.4))
    platform = model.add(mbd.RigidBody("platform", 50.0, (10.0, 12.0, 8.0), RV(angular_velocity=omega)))
    node = RV(at, velocity=np.cross(omega, at), angular_velocity=omega + (0, 0, 30.0))
    rotor = model.add(mbd.RigidBody("rotor", 20.0, (1.0, 1.0, 1.5), node))
    model.add(mbd.joints.Revolute(platform, rotor, at=at, axis=(0, 0, 1), name="bearing"))
    return Case(model, 20.0, (2e-2, 1e-2, 5e-3), lambda s: s["platform"].rotation[-1].ravel(), momentum=True)


PUMA = [  # d, a, alpha, mass, centre of mass, inertia about it, P, D, change of the angle in degrees
    (0, 0, math.pi / 2, 20.0, (0, 0, 0), (1e-9, 0.35, 1e-9), 40000, 400, -120),
    (0, 0.4318, 0, 17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539), 40000, 400, 60),
    (0.15005, 0.0203, -math.pi / 2, 4.8, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.0125), 40000, 100, -200),
    (0.4318, 0, math.pi / 2, 0.82, (0, 0.019, 0), (1.8e-3, 1.3e-3, 1.8e-3), 100, 1, 90),
    (0, 0, -math.pi / 2, 0.34, (0, 0, 0), (0.3e-3, 0.4e-3, 0.3e-3), 100, 1, 90),
    (0, 0, 0, 0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3), 10, 0.1, 45),
]
PUMA_START = np.radians([0, 22.5, 90, 0, 22.5, 0])
PUMA_MIDDLE = (-1.0469886903842, 0.9155942708102, -0.1743767157637, 0.7854054014282, 1.1780538989143, 0.3928235231199)


def puma() -> Case:
    """Puma 560 under PD control along a path of constant acceleration [Holzinger et al. 2024, section 4.4].

    Link data: Corke & Armstrong-Helouvry 1994, Proc. ICRA, 1608 (standard Denavit-Hartenberg; the mass of link 1 has no
    effect). The reference values are joint angles at t = 0.5 by another program in joint coordinates.
    """
    model = mbd.Model("Puma 560", gravity=GRAVITY)
    frame, origin, last = np.eye(3), np.zeros(3), model.ground
    for i, (d, a, alpha, mass, com, inertia, p_gain, d_gain, change) in enumerate(PUMA):
        at, axis = origin.copy(), frame[:, 2].copy()
        frame = frame @ mbd.rotation((0, 0, PUMA_START[i]))
        origin = origin + frame @ np.array([a, 0, d])
        frame = frame @ mbd.rotation((alpha, 0, 0))
        body = mbd.RigidBody(f"link {i + 1}", mass, inertia, RV(origin, frame), com=com, check_inertia=False)
        link = model.add(body)
        joint = model.add(mbd.joints.Revolute(last, link, at=at, axis=axis, name=f"joint {i + 1}"))
        acceleration = 4.0 * math.radians(change)

        def target(t: float, acc: float = acceleration) -> float:
            return acc * (0.5 * t * t if t <= 0.5 else 0.25 - 0.5 * (1.0 - t) ** 2)

        def rate(t: float, acc: float = acceleration) -> float:
            return acc * (t if t <= 0.5 else 1.0 - t)

        model.add(mbd.forces.PDControl(joint, target, p_gain, d_gain, rate=rate))
        last = link
    angles = [f"joint {i + 1}" for i in range(6)]
    end = np.array(PUMA_MIDDLE) - PUMA_START
    observe = lambda s: np.array([s[name].angle[-1] for name in angles])  # noqa: E731
    return Case(model, 0.5, (4e-3, 2e-3, 1e-3), observe, end, conservative=False)


def rotor() -> Case:
    """A rotor of 200 000 revolutions per minute in elastic bearings [Holzinger et al. 2024, section 4.2]."""
    model = high_speed_rotor.model()
    observe = lambda s: s["rotor"].point(high_speed_rotor.LEFT)[-1]  # noqa: E731
    return Case(model, 0.1, (2e-5, 1e-5, 5e-6), observe, conservative=False)


def three_bars() -> Case:
    """A closed loop of three bars between two fixed points, spherical joints."""
    model = mbd.Model("closed loop of three bars", gravity=GRAVITY)
    points = [np.array(x, dtype=float) for x in ((0, 0, 0), (0.2, 0.0, -1.0), (1.3, 0.4, -0.9), (1.5, 0, 0))]
    last = model.ground
    for k in range(3):
        along = points[k + 1] - points[k]
        x = along / np.linalg.norm(along)
        y = np.cross((0, 0, 1.0), x) if abs(x[2]) < 0.9 else np.cross((0, 1.0, 0), x)
        y /= np.linalg.norm(y)
        turn = np.column_stack([x, y, np.cross(x, y)])
        spin = (2.0, 0, 0) if k == 1 else (0, 0, 0)
        node = RV((points[k] + points[k + 1]) / 2, turn, angular_velocity=spin)
        bar = model.add(mbd.RigidBody(f"bar {k + 1}", 1.0, (0.01, 0.1, 0.1), node))
        model.add(mbd.joints.Spherical(last, bar, at=points[k]))
        last = bar
    model.add(mbd.joints.Spherical(last, model.ground, at=points[3]))
    return Case(model, 2.0, (1e-2, 5e-3, 2.5e-3), positions("bar 1", "bar 2", "bar 3"))


def redundant_four_bar() -> Case:
    """One four-bar of hinges in space: three of twenty equations are redundant."""
    model = mbd.benchmarks.n_four_bar(1, redundant=True).model
    name = model.bodies[0].name
    return Case(model, 2.0, (1e-2, 5e-3, 2.5e-3), positions(name))


def door() -> Case:
    """A door in two hinges on one axis (five redundant equations), tilted so that it swings."""
    model = mbd.Model("door", gravity=(0, -2.0, -9.6))
    node = mbd.nodes.Quaternion(position=(0.5, 0, 0))
    body = model.add(mbd.RigidBody("door", 20.0, (1.5, 0.5, 2.0), node))
    for z in (1.0, -1.0):
        model.add(mbd.joints.Revolute(model.ground, body, at=(0, 0, z), axis=(0, 0, 1), name=f"hinge {z:+.0f}"))
    return Case(model, 3.0, (2e-2, 1e-2, 5e-3), positions("door"))


def rolling_disk() -> Case:
    """A disk that rolls and wobbles on a plane."""
    model = mbd.Model("rolling disk", gravity=GRAVITY)
    tilt = mbd.rotation((math.radians(-20.0), 0, 0))
    radius = 0.5
    omega = np.array((0.6, -5.0, 0.9))
    centre = radius * tilt[:, 2]
    node = RV(centre, tilt, velocity=np.cross(tilt @ omega, centre), angular_velocity=omega)
    disk = model.add(mbd.RigidBody("disk", 2.0, (0.125, 0.25, 0.125), node))
    model.add(mbd.joints.Rolling(model.ground, disk, radius=radius, at=(0, 0, 0), axis=tilt[:, 1]))
    return Case(model, 2.0, (1e-2, 5e-3, 2.5e-3), positions("disk"))


def stiff_chain() -> Case:
    """Ten links of a chain, joined by bushings of 1e7 N/m with little damping: no constraints, stiff forces."""
    model = mbd.Model("chain on bushings", gravity=GRAVITY)
    last, offset = model.ground, (0.0, 0, 0)
    for k in range(5):
        link = model.add(mbd.RigidBody(f"link {k + 1}", 1.0, (1e-3, 2e-2, 2e-2), RV((0.2 * k + 0.1, 0, 0))))
        arguments = {"stiffness": 1e7, "damping": 20.0, "name": f"pin {k + 1}"}
        model.add(mbd.forces.Bushing(last, link, offset, (-0.1, 0, 0), **arguments))
        last, offset = link, (0.1, 0, 0)
    return Case(model, 1.0, (4e-3, 2e-3, 1e-3), positions("link 1", "link 5"), conservative=False)


def stiff_spring_pendulum() -> Case:
    """A double pendulum with joints, whose second bar hangs on a spring of 1e6 N/m without damping."""
    model = mbd.Model("pendulum with a stiff spring", gravity=GRAVITY)
    bar = model.add(mbd.RigidBody("bar", 1.0, (0.01, 0.1, 0.1), RV((0.5, 0, 0))))
    model.add(mbd.joints.Revolute(model.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
    mass = model.add(mbd.PointMass("mass", 1.0, (1.5, 0, 0)))
    model.add(mbd.forces.Spring(bar, mass, (0.5, 0, 0), stiffness=1e6, length=0.5))
    return Case(model, 1.0, (4e-3, 2e-3, 1e-3), positions("bar", "mass"))


def driven_crank() -> Case:
    """The slider-crank of ``mbd.benchmarks`` with its crank driven: rheonomic, and redundant."""
    model = mbd.Model("driven slider-crank", gravity=GRAVITY)
    crank = model.add(mbd.RigidBody("crank", 1.0, (0.001, 0.01, 0.01), RV((0.1, 0, 0))))
    rod = model.add(mbd.RigidBody("rod", 1.0, (0.001, 0.05, 0.05), RV((0.45, 0, 0))))
    slider = model.add(mbd.RigidBody("slider", 2.0, (0.01, 0.01, 0.01), RV((0.7, 0, 0))))
    axis = (0, 1, 0)
    model.add(mbd.joints.Revolute(model.ground, crank, at=(0, 0, 0), axis=axis))
    model.add(mbd.joints.Revolute(crank, rod, at=(0.2, 0, 0), axis=axis))
    model.add(mbd.joints.Revolute(rod, slider, at=(0.7, 0, 0), axis=axis))
    model.add(mbd.joints.Prismatic(model.ground, slider, at=(0.7, 0, 0), axis=(1, 0, 0)))
    model.add(mbd.forces.Spring(model.ground, slider, (1.5, 0, 0), stiffness=500.0, damping=5.0))
    model.add(mbd.joints.AngleDriver(model.ground, crank, axis=axis, value=lambda t: 10.0 * t - math.sin(10.0 * t)))
    observe = lambda s: np.concatenate([s["rod"].position[-1], s["slider"].velocity[-1]])  # noqa: E731
    return Case(model, 1.0, (1e-2, 5e-3, 2.5e-3), observe, conservative=False)


CASES: dict[str, Callable[[], Case]] = {
    "heavy top (README)": lambda: from_benchmark("heavy-top", (1e-3, 5e-4, 2.5e-4), 1.0),
    "A01 pendulum": lambda: from_benchmark("A01", (1e-2, 5e-3, 2.5e-3)),
    "A02 two four-bars": lambda: from_benchmark("A02", (1e-2, 5e-3, 2.5e-3)),
    "A02 forty four-bars": lambda: from_benchmark("A02-40", (5e-3, 2.5e-3)),
    "A03 squeezer": lambda: from_benchmark("A03", (1e-4, 5e-5)),
    "A04 Bricard (redundant)": lambda: from_benchmark("A04", (1e-2, 5e-3, 2.5e-3)),
    "A05 governor": lambda: from_benchmark("A05", (1e-2, 5e-3, 2.5e-3)),
    "slider-crank (redundant)": lambda: from_benchmark("slider-crank", (4e-3, 2e-3, 1e-3)),
    "bicycle (rolling)": lambda: from_benchmark("bicycle", (2e-2, 1e-2, 5e-3)),
    "rolling disk": rolling_disk,
    "satellite, three wheels": satellite,
    "dual-spin satellite": dual_spin,
    "Puma 560, PD control": puma,
    "high-speed rotor": rotor,
    "closed loop of bars": three_bars,
    "four-bar (redundant)": redundant_four_bar,
    "door (redundant)": door,
    "driven slider-crank": driven_crank,
    "chain on stiff bushings": stiff_chain,
    "pendulum, stiff spring": stiff_spring_pendulum,
}
