"""Bodies in flight of Table 1 of Holzinger et al.: free body (1), follower torque (4), quadrotors (10), chain (15).

The table names the systems without data. All numbers here are our own choice: small and round, without a symmetry that
would hide an error. The reference values come from code that shares nothing with this package (``BY_HAND``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bodies import PointMass, RigidBody
from ..bodies.shapes import Box, Composite, Cylinder, Sphere
from ..forces import Force, Torque
from ..integrators import RK6
from ..joints import Distance, Revolute
from ..model import Model
from ..nodes import RotationVector
from ..rotation import rotation
from .benchmark import Benchmark, Law, momenta, work, xyz

PAPER = "Holzinger, Arnold & Gerstmayr 2024"
BY_HAND = (
    "data: our own choice; values: equations of motion by hand, integrated by scipy's DOP853 with rtol 3e-14, and "
    "DOPRI5 in rotation vectors and in quaternions agree in the digits given"
)
G = 9.81


def table_1(number: int) -> str:
    """The source of a system that the paper names without data."""
    return f"{PAPER}, Table 1, system {number}; {BY_HAND}"


def attitude(solution: Any, k: int, body: str) -> dict[str, float]:
    """Angular velocity in body axes and the first body axis of a body at a record."""
    view = solution[body]
    return {**xyz("angular velocity", view.angular_velocity[k]), **xyz("first axis", view.rotation[k][:, 0])}


def named_attitude(values: tuple[float, ...]) -> dict[str, float]:
    """Six numbers as the quantities of ``attitude``."""
    return {**xyz("angular velocity", values[:3]), **xyz("first axis", values[3:])}


def free_body() -> Benchmark:
    """System 1: a free body near the unstable rotation about its middle axis, which flips over several times; 10 s."""
    moments, spin = np.array((5.2988, 1.1775, 4.3568)), np.array((0.1, 0.2, 5.0))
    model = Model("free rotating body")
    shape = Composite(Box((1.2, 7.1, 3.5)), Box((1.25, 1.0, 1.0), centre=(0, 2.0, 0.9), colour="orange"))
    model.add(RigidBody("body", 1.0, moments, RotationVector(angular_velocity=spin), shape=shape))

    def laws(solution: Any) -> dict[str, Law]:
        return {
            **momenta(solution, (0, 0, 0), moments * spin),
            "energy": (solution.energy.total, 0.5 * moments @ spin**2),
        }

    values = (2.716917237, 3.141463120, 3.657610105, -0.505306762, -0.532665521, 0.678920113)
    return Benchmark(
        "free-body", "free rotating rigid body", model, {"mass": 1.0, "inertia": moments, "angular velocity": spin},
        table_1(1), lambda solution, k: attitude(solution, k, "body"),
        "largest error of angular velocity [rad/s] and first axis at t = 10", 10.0, 2.5e-3,
        {10.0: named_attitude(values)}, RK6(), laws=laws,
    )  # fmt: skip


def follower_torque() -> Benchmark:
    """System 4: a torque that is fixed in the body spins it up; 5 s."""
    moments, spin, torque = np.array((1.0, 2.0, 2.5)), np.array((0.0, 0.0, 1.0)), np.array((1.0, 0.5, -0.3))
    model = Model("body with follower torque")
    shape = Composite(Box((3.2, 2.9, 1.6)), Box((0.6, 0.6, 1.65), centre=(1.0, 0.8, 0), colour="orange"))
    body = model.add(RigidBody("body", 1.0, moments, RotationVector(angular_velocity=spin), shape=shape))
    model.add(Torque(body, torque, frame="body", name="torque"))

    def laws(solution: Any) -> dict[str, Law]:
        kinetic = solution.energy.kinetic
        done = work(solution, solution["body"].angular_velocity @ torque)
        return {"work of the torque": (kinetic, 0.5 * moments @ spin**2 + done)}

    values = (4.821976170, 0.543088725, 0.989011914, -0.322264468, 0.825911483, 0.462618455)
    parameters = {"mass": 1.0, "inertia": moments, "angular velocity": spin, "torque": torque}
    return Benchmark(
        "follower-torque", "rotating body with follower torque", model, parameters, table_1(4),
        lambda solution, k: attitude(solution, k, "body"),
        "largest error of angular velocity [rad/s] and first axis at t = 5", 5.0, 5e-3,
        {5.0: named_attitude(values)}, RK6(), False, laws,
    )  # fmt: skip


QUADROTORS = {
    "mass": 1.0, "inertia": (0.02, 0.02, 0.04), "load": 0.5, "cable": 1.0, "thrusts": (12.9, 12.6),
    "torques": ((2e-3, 1e-3, 0.0), (-1e-3, 2e-3, 1e-3)), "tilts": (0.1, -0.1), "g": G,
}  # fmt: skip


def quadrotors() -> Benchmark:
    """System 10: two quadrotors carry a mass point on rigid, massless cables; 2 s from rest.

    Thrust and torque of each are constant in its own axes. The cables are fixed in the centres of mass, so that the
    rotation of each quadrotor is that of a free symmetric body under its torque alone.
    """
    p: dict[str, Any] = QUADROTORS
    model = Model("two quadrotors and a load", gravity=(0, 0, -G))
    load = model.add(PointMass("load", p["load"], (0, 0, 0), shape=Sphere(radius=0.07)))
    rotors = [
        Cylinder(0.09, 0.012, centre=(0.17 * x, 0.17 * y, 0.03), colour="silver") for x in (-1, 1) for y in (-1, 1)
    ]
    arms = [Box((0.48, 0.03, 0.02), rotation=rotation((0, 0, a))) for a in (np.pi / 4, -np.pi / 4)]
    shape = Composite(Box((0.13, 0.1, 0.05)), *arms, *rotors, Box((0.05, 0.05, 0.055), (0.07, 0, 0), colour="orange"))
    for k, x in enumerate((0.6, -0.6)):
        node = RotationVector((x, 0, 0.8), rotation((0, p["tilts"][k], 0)))
        quadrotor = model.add(RigidBody(f"quadrotor {k + 1}", p["mass"], p["inertia"], node, shape=shape))
        model.add(Distance(quadrotor, load, length=p["cable"], name=f"cable {k + 1}"))
        model.add(Force(quadrotor, (0, 0, p["thrusts"][k]), frame="body", name=f"thrust {k + 1}"))
        model.add(Torque(quadrotor, p["torques"][k], frame="body", name=f"torque {k + 1}"))

    def observe(solution: Any, k: int) -> dict[str, float]:
        names = ("load", "quadrotor 1", "quadrotor 2")
        return {key: x for name in names for key, x in xyz(name, solution[name].position[k]).items()}

    def laws(solution: Any) -> dict[str, Law]:
        done = np.zeros(len(solution))
        found: dict[str, Law] = {}
        for k in range(2):
            view = solution[f"quadrotor {k + 1}"]
            cable = view.position - solution["load"].position
            found[f"length of cable {k + 1}"] = (np.linalg.norm(cable, axis=1), p["cable"])
            found[f"angular velocity of quadrotor {k + 1}"] = (view.angular_velocity, _spin(solution.t, k))
            lift = np.sum(view.rotation[:, :, 2] * view.velocity, axis=1) * p["thrusts"][k]
            done += work(solution, lift + view.angular_velocity @ np.array(p["torques"][k]))
        height = 2 * 0.8 * p["mass"]
        return {**found, "work of the rotors": (solution.energy.total, height * G + done)}

    values = (
        (0.386330373, -0.143516376, 0.611976105), (0.721068815, -0.623861094, 1.422666630),
        (0.399799319, 0.270274566, 1.522248396),
    )  # fmt: skip
    names = ("load", "quadrotor 1", "quadrotor 2")
    reference = {key: x for name, place in zip(names, values, strict=True) for key, x in xyz(name, place).items()}
    return Benchmark(
        "quadrotors", "two quadrotors transporting a mass point", model, QUADROTORS, table_1(10), observe,
        "largest error of the three positions at t = 2 [m]", 2.0, 5e-3, {2.0: reference}, RK6(), False, laws,
    )  # fmt: skip


def _spin(t: Any, k: int) -> Any:
    """Angular velocity of a quadrotor from rest, body axes: Euler's equations of a symmetric body in closed form.

    The spin about its own axis grows linearly, omega_3 = a t, and w = omega_1 + i omega_2 obeys
    w' = (torque_1 + i torque_2) / J_1 + i b t w with b = a (J_3 - J_1) / J_1. Its solution is a Fresnel integral.
    """
    from scipy.special import fresnel

    p: dict[str, Any] = QUADROTORS
    across, _, along = p["inertia"]
    x, y, z = p["torques"][k]
    rate = z / along * (along - across) / across
    if rate == 0.0:
        turned = t + 0j
    else:
        sine, cosine = fresnel(t * np.sqrt(rate / np.pi))
        turned = np.exp(0.5j * rate * t**2) * (cosine - 1j * sine) * np.sqrt(np.pi / rate)
    w = (x + 1j * y) / across * turned
    return np.column_stack([w.real, w.imag, z / along * t])


THREE_BODIES = {
    "masses": (2.0, 1.0, 1.5), "inertias": ((0.2, 0.3, 0.4), (0.01, 0.1, 0.1), (0.05, 0.15, 0.2)),
    "angular velocity": (0.3, 0.0, 0.8), "rates": (2.0, -1.5),
}  # fmt: skip


def three_bodies() -> Benchmark:
    """System 15: three bodies with two perpendicular hinges in free flight; 5 s."""
    p: dict[str, Any] = THREE_BODIES
    x, y, z = np.eye(3)
    spins = [np.array(p["angular velocity"])]
    spins.append(spins[0] + p["rates"][0] * z)
    spins.append(spins[1] + p["rates"][1] * y)
    speeds = [np.zeros(3)]
    for k in range(2):
        speeds.append(speeds[k] + np.cross(spins[k] + spins[k + 1], 0.5 * x))
    sizes = ((0.8, 0.55, 0.3), (0.86, 0.12, 0.12), (0.8, 0.4, 0.25))
    model = Model("three bodies and two hinges")
    bodies = []
    for k, size in enumerate(sizes):
        node = RotationVector(k * x, velocity=speeds[k], angular_velocity=spins[k])
        bodies.append(model.add(RigidBody(f"body {k + 1}", p["masses"][k], p["inertias"][k], node, shape=Box(size))))
    model.add(Revolute(bodies[0], bodies[1], at=0.5 * x, axis=z, name="hinge 1"))
    model.add(Revolute(bodies[1], bodies[2], at=1.5 * x, axis=y, name="hinge 2"))

    def observe(solution: Any, k: int) -> dict[str, float]:
        view = solution["body 1"]
        angles = {f"angle {i}": float(solution[f"hinge {i}"].angle[k]) for i in (1, 2)}
        return {**xyz("position", view.position[k]), **xyz("first axis", view.rotation[k][:, 0]), **angles}

    def laws(solution: Any) -> dict[str, Law]:
        energy = solution.energy.total, 19.396325
        return {**momenta(solution, (0, 8.7, 1.125), (0.078, -2.475, 16.76)), "energy": energy}

    reference = {
        **xyz("position", (0.499810773, 10.435697484, 1.403661903)),
        **xyz("first axis", (0.606858510, -0.794808982, 0.001196296)),
        "angle 1": -0.369101730, "angle 2": -0.085477344,
    }  # fmt: skip
    return Benchmark(
        "three-bodies", "three bodies with two revolute joints", model, THREE_BODIES, table_1(15), observe,
        "largest error of position [m], first axis and angles [rad] at t = 5", 5.0, 5e-3, {5.0: reference}, RK6(),
        laws=laws,
    )  # fmt: skip
