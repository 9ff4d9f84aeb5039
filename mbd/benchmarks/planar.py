"""Planar mechanisms: simple pendulum (A01), N four-bars (A02), Andrews' squeezer (A03).

The motion is in the plane of x and y, with gravity along -y. Closed loops are planar without redundant equations: a
loop is closed by a point on a line along z, which is all that a planar hinge adds to bodies that stay in the plane.
``redundant=True`` takes hinges throughout instead.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..bodies import Body, PointMass, RigidBody
from ..bodies.shapes import Box, Sphere
from ..integrators import RK6, GeneralizedAlpha
from ..joints import Distance, PointOnLine, Revolute
from ..model import Model
from ..nodes import RotationVector
from ..rotation import rotation
from .benchmark import Array, Benchmark

LIBRARY = "IFToMM library of computational benchmark problems, www.iftomm-multibody.org/benchmark"
Z = (0.0, 0.0, 1.0)


def simple_pendulum() -> Benchmark:
    """A01: a point mass on a massless rod, released horizontally; 10 s. The library asks for 5e-5 J."""
    g = 9.81
    model = Model("A01 simple pendulum", gravity=(0, -g, 0))
    mass = model.add(PointMass("mass", 1.0, (-1, 0, 0), shape=Sphere(radius=0.05)))
    model.add(Distance(model.ground, mass, name="rod"))

    def observe(solution: Any, k: int) -> dict[str, float]:
        x, y, _ = solution["mass"].position[k].tolist()
        return {"x": x, "y": y}

    return Benchmark(
        "A01", "simple pendulum", model, {"mass": 1.0, "length": 1.0, "g": g}, f"{LIBRARY}, problem A01", observe,
        "largest error of x and y at t = 1, 5 and 10", 10.0, 1e-2, {
            1.0: {"x": 0.98629175113, "y": -0.16501085313},
            5.0: {"x": -0.94230543504, "y": -0.33475433841},
            10.0: {"x": -0.27508746258, "y": -0.96141920510},
        }, RK6(),
    )  # fmt: skip


def _bar(name: str, start: Any, end: Any, mass: float, rate: float = 0.0, velocity: Any = (0, 0, 0)) -> RigidBody:
    """A slender rod whose x-axis points from start to end."""
    a, b = np.array(start, dtype=float), np.array(end, dtype=float)
    length = float(np.linalg.norm(b - a))
    turn = rotation((0, 0, math.atan2(b[1] - a[1], b[0] - a[0])))
    moment = mass * length**2 / 12
    node = RotationVector(position=(a + b) / 2, rotation=turn, velocity=velocity, angular_velocity=(0, 0, rate))
    # the moment about its own axis has no influence on the planar motion
    return RigidBody(name, mass, (moment / 100, moment, moment), node, shape=Box((length, 0.06, 0.06)))


def n_four_bar(n: int = 2, *, redundant: bool = False) -> Benchmark:
    """A02: n loops of rods side by side, which pass the horizontal where the constraints lose rank; 10 s."""
    if not isinstance(n, int) or n < 1:
        from ..errors import bad_value

        raise bad_value("n_four_bar", "n", n, "a positive whole number of loops")
    model = Model(f"A02 {n} four-bars", gravity=(0, -9.81, 0))
    posts: list[RigidBody] = []
    for i in range(n + 1):
        post = model.add(_bar(f"post {i}", (i, 0, 0), (i, 1, 0), 1.0, -1.0, (0.5, 0, 0)))
        model.add(Revolute(model.ground, post, at=(i, 0, 0), axis=Z, name=f"foot {i}"))
        posts.append(post)
    for i in range(n):
        beam = model.add(_bar(f"beam {i}", (i, 1, 0), (i + 1, 1, 0), 1.0, 0.0, (1, 0, 0)))
        model.add(Revolute(posts[i], beam, at=(i, 1, 0), axis=Z, name=f"left {i}"))
        closing = Revolute if redundant else PointOnLine
        model.add(closing(posts[i + 1], beam, at=(i + 1, 1, 0), axis=Z, name=f"right {i}"))

    def observe(solution: Any, k: int) -> dict[str, float]:
        x, y, _ = solution["post 0"].point((0.5, 0, 0))[k].tolist()
        return {"x": x, "y": y}

    known = {
        2: {10.0: {"x": 0.3284581115, "y": 0.9445185382}},
        40: {10.0: {"x": 0.1805122267, "y": 0.9835727406}, 20.0: {"x": 0.410901154, "y": 0.911679901}},
    }
    reference = known.get(n) or {10.0: _four_bar_reference(n, 10.0)}
    return Benchmark(
        f"A02 N={n}", "N four-bar mechanism", model, {"n": n, "mass": 1.0, "length": 1.0, "g": 9.81, "speed": 1.0},
        f"{LIBRARY}, problem A02; all posts move alike, which reduces it to one angle", observe,
        "largest error of the top of the first post at t = 10 (and 20)", 10.0, 2.5e-3, reference,
        GeneralizedAlpha(stabilized=False),
    )  # fmt: skip


def _four_bar_reference(n: int, t: float) -> dict[str, float]:
    """All posts turn by the same angle: th'' = g ((n+1)/2 + n) / ((n+1)/3 + n) sin th from th = 0, th' = 1."""
    from scipy.integrate import solve_ivp

    factor = 9.81 * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    angle = solve_ivp(
        lambda _, y: (y[1], factor * math.sin(y[0])), (0, t), (0.0, 1.0), "DOP853", rtol=1e-12, atol=1e-12
    ).y[0, -1]
    return {"x": math.sin(angle), "y": math.cos(angle)}


SQUEEZER = {
    "masses": (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498),
    "inertias": (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5),
    "xa": -0.06934, "ya": -0.00227, "xb": -0.03635, "yb": 0.03273, "xc": 0.014, "yc": 0.072,
    "d": 0.028, "da": 0.0115, "e": 0.02, "ea": 0.01421, "rr": 0.007, "ra": 0.00092, "l0": 0.07785, "ss": 0.035,
    "sa": 0.01874, "sb": 0.01043, "sc": 0.018, "sd": 0.02, "ta": 0.02308, "tb": 0.00916, "u": 0.04, "ua": 0.01228,
    "ub": 0.00449, "zf": 0.02, "zt": 0.04, "fa": 0.01421, "c0": 4530.0, "torque": 0.033,
}  # fmt: skip
START = {
    "beta": -0.0617138900142764, "Theta": 0.0, "gamma": 0.45527981916307038, "Phi": 0.222668390165885885,
    "delta": 0.48736497954384255, "Omega": -0.222668390165885885, "epsilon": 1.23054744454982119,
}  # fmt: skip


def andrews_squeezer() -> Benchmark:
    """A03: seven bodies driven by a constant torque and held by a stiff spring; 0.03 s, in which the crank turns 2.5
    times."""
    from ..forces import Spring, Torque

    p: dict[str, Any] = SQUEEZER
    model = Model("A03 Andrews' squeezer")
    b, th, ga, ph, de, om, ep = START.values()
    a, fixed = np.array((p["xa"], p["ya"], 0)), np.array((p["xb"], p["yb"], 0))
    # angle of each body; centre of mass seen from its joint towards the ground, in body axes
    crank_end = p["rr"] * _unit(b)
    knee = crank_end - p["d"] * _unit(b + th)
    data: list[tuple[float, Array, tuple[float, float]]] = [
        (b, np.zeros(3), (p["ra"], 0.0)),
        (b + th, crank_end, (-p["da"], 0.0)),
        (ga, fixed, (p["sb"], -p["sa"])),
        (ph + de, a + p["zt"] * _unit(de), (0.0, -(p["e"] - p["ea"]))),
        (de, a, (p["ta"], p["tb"])),
        (om + ep, a + p["u"] * _unit(ep - math.pi / 2), (p["zf"] - p["fa"], 0.0)),
        (ep, a, (-p["ub"], -p["ua"])),
    ]
    bodies: list[RigidBody] = []
    for k, (angle, origin, com) in enumerate(data):
        moment = p["inertias"][k]
        node = RotationVector(position=origin, rotation=rotation((0, 0, angle)))
        inertia = (0.5 * moment, 0.5 * moment, moment)
        bodies.append(model.add(RigidBody(f"K{k + 1}", p["masses"][k], inertia, node, com=(*com, 0.0))))
    k1, k2, k3, k4, k5, k6, k7 = bodies

    def hinge(name: str, first: Body, second: Body, at: Array) -> Revolute:
        return model.add(Revolute(first, second, at=at, axis=Z, name=name))

    hinge("beta", model.ground, k1, np.zeros(3))
    hinge("Theta", k1, k2, crank_end)
    hinge("gamma", model.ground, k3, fixed)
    hinge("delta", model.ground, k5, a)
    hinge("Phi", k5, k4, data[3][1])
    hinge("epsilon", model.ground, k7, a)
    hinge("Omega", k7, k6, data[5][1])
    for body in (k3, k4, k6):
        model.add(PointOnLine(k2, body, at=knee, axis=Z, name=f"knee of {body.name}"))
    model.add(Torque(k1, (0, 0, p["torque"]), name="motor"))
    anchor = (p["xc"], p["yc"], 0.0)
    model.add(Spring(model.ground, k3, anchor, (p["sd"], -p["sc"], 0.0), p["c0"], p["l0"], name="spring"))

    def observe(solution: Any, k: int) -> dict[str, float]:
        return {name: START[name] + float(solution[name].angle[k]) for name in START}

    reference = {
        "beta": 15.81077119629904, "Theta": -15.75637105984298, "gamma": 0.04082224013073101,
        "Phi": -0.5347301163226948, "delta": 0.5244099658805304, "Omega": 0.5347301163226948,
        "epsilon": 1.048080741042263,
    }  # fmt: skip
    return Benchmark(
        "A03", "Andrews' squeezer", model, SQUEEZER,
        f"{LIBRARY}, problem A03; Mazzia & Magherini, Test Set for IVP Solvers (angles)", observe,
        "largest error of the seven angles at t = 0.03", 0.03, 1e-5, {0.03: reference}, RK6(), False,
    )  # fmt: skip


def _unit(angle: float) -> Array:
    return np.array((math.cos(angle), math.sin(angle), 0.0))
