"""Models that several tests share, each in any coordinates, with the digits known about their motion."""

from __future__ import annotations

from typing import Any

import numpy as np

import mbd
from mbd.nodes import Directors, EulerAngles, Quaternion, RotationVector

# --- coordinates --------------------------------------------------------------------------------------------------

LIE: dict[str, Any] = {
    "rotation vector lie": RotationVector(),
    "quaternion lie": Quaternion(lie=True),
    "directors lie": Directors(lie=True),
    "euler xyz lie": EulerAngles(lie=True),
    "euler zxz lie": EulerAngles(sequence="zxz", lie=True),
}
CONVENTIONAL: dict[str, Any] = {
    "rotation vector": RotationVector(lie=False),
    "quaternion": Quaternion(),
    "directors": Directors(),
    "euler xzy": EulerAngles(sequence="xzy"),
}
NODES = LIE | CONVENTIONAL


def random_nodes(model: mbd.Model, seed: int, choice: dict[str, Any] = NODES) -> mbd.Model:
    """The model with a random parametrisation for every rigid body."""
    rng = np.random.default_rng(seed)
    bodies = [body.name for body in model.bodies if isinstance(body, mbd.RigidBody)]
    return model.with_nodes({name: choice[str(rng.choice(list(choice)))] for name in bodies})


# --- heavy top [Bruls & Cardona 2010; Holzinger et al. 2024, Table 3] ---------------------------------------------

TOP_INERTIA = (0.234375, 0.46875, 0.234375)
TOP_SPIN = (0.0, 150.0, -4.61538)
# centre of mass and its velocity at t = 1, from the slow equations L_dot = d x m g, d_dot = L x d / J
TOP_POSITION = np.array((0.17334396409838, 0.64008859207055, -0.74849079113359))
TOP_VELOCITY = np.array((0.57082530342539, -4.58872829633495, -3.79195515470995))
TOP_ENERGY = 5435.696790865


def heavy_top(node: Any = RotationVector, pinned: bool = False, offset: bool = False) -> mbd.Model:
    """The top on a spherical joint; ``pinned`` without constraints, ``offset`` with the reference point at the tip."""
    model = mbd.Model("heavy top", gravity=(0, 0, -9.81))
    if pinned or offset:
        start = RotationVector(pinned=pinned, angular_velocity=TOP_SPIN)
        top = model.add(mbd.RigidBody("top", 15.0, TOP_INERTIA, start, com=(0, 1, 0)))
    else:
        start = RotationVector(position=(0, 1, 0), velocity=(4.61538, 0, 0), angular_velocity=TOP_SPIN)
        top = model.add(mbd.RigidBody("top", 15.0, TOP_INERTIA, start))
    if not pinned:
        model.add(mbd.joints.Spherical(model.ground, top, at=(0, 0, 0), name="pivot"))
    return model.with_nodes(node)


def top_reference(t: np.ndarray) -> dict[str, np.ndarray]:
    """Position and velocity of the centre of mass and the force of the pivot on the top, from the slow equations."""
    from scipy.integrate import solve_ivp

    mass, gravity = 15.0, np.array((0.0, 0.0, -9.81))
    inertia = TOP_INERTIA[0] + mass  # transverse, about the pivot
    start = (0.0, 1.0, 0.0, *(np.array((inertia, TOP_INERTIA[1], inertia)) * TOP_SPIN))

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        return np.array((*np.cross(y[3:], y[:3]) / inertia, *np.cross(y[:3], mass * gravity)))

    y = solve_ivp(rates, (0.0, t[-1]), start, "DOP853", t, rtol=1e-13, atol=1e-13).y.T
    d, momentum = y[:, :3], y[:, 3:]
    v = np.cross(momentum, d) / inertia
    acceleration = (np.cross(np.cross(d, mass * gravity), d) + np.cross(momentum, v)) / inertia
    return {"position": d, "velocity": v, "force": mass * (acceleration - gravity)}


def skew_top(node: Any = RotationVector, pinned: bool = False) -> mbd.Model:
    """A slower top without any symmetry, for orders of convergence; in its first second no "xzy" angles lock."""
    model = mbd.Model("skew top", gravity=(0, 0, -9.81))
    inertia = np.array(((0.3, 0.02, 0.0), (0.02, 0.5, 0.03), (0.0, 0.03, 0.4)))
    start = RotationVector(rotation=mbd.rotation((0.3, -0.2, 0.4)), angular_velocity=(1, 6, -2), pinned=pinned)
    top = model.add(mbd.RigidBody("top", 2.0, inertia, start, com=(0.1, 0.5, -0.05)))
    if not pinned:
        model.add(mbd.joints.Spherical(model.ground, top, at=(0, 0, 0), name="pivot"))
    return model.with_nodes(node)


# --- high-speed rotor [Holzinger et al. 2024, Table 6] ------------------------------------------------------------

ROTOR_SPEED = 2.0 * np.pi * 200000.0 / 60.0


def rotor(mass: float = 1.2331, node: Any = RotationVector) -> mbd.Model:
    """Rotor in two elastic bearings; its centre of mass is the reference point, the torque is fixed in space.

    The printed mass (1.223) contradicts the printed damping and inertia, which belong to 1.2331.
    """
    model = mbd.Model("high-speed rotor")
    start = RotationVector(angular_velocity=(ROTOR_SPEED, 0, 0))
    body = model.add(mbd.RigidBody("rotor", mass, (0.001541, 0.000812, 0.000812), start))
    left, right, k, d = (-0.11, 0, 0), (0.09, 0, 0), 4000.0, 5.165093
    model.add(mbd.forces.Bushing(model.ground, body, left, left, stiffness=k, damping=d, name="left"))
    yz = np.array((0.0, 1.0, 1.0))
    model.add(mbd.forces.Bushing(model.ground, body, right, right, stiffness=k * yz, damping=d * yz, name="right"))
    model.add(mbd.forces.Torque(body, (0, 0, (0.5 * 0.2 - 0.11) * mass * 9.81)))
    return model.with_nodes(node)


# --- spatial slider-crank [Holzinger et al. 2024, Table 8; IFToMM library of benchmark problems] ------------------


def slider_crank(node: Any = RotationVector, library: bool = False) -> mbd.Model:
    """Crank, rod and slider; ``library`` puts the crank's centre of mass at half its length, not on its bearing.

    The universal joint: the rod's y axis (perpendicular to the rod, horizontal at the start) stays perpendicular to the
    slider's x axis.
    """
    model = mbd.Model("slider-crank", gravity=(0, 0, -9.81))
    x = np.array((2.0, -1.0, -2.0)) / 3.0  # from B to C
    y = np.array((0.0, 2.0, -1.0)) / np.sqrt(5.0)
    turn = np.column_stack((x, y, np.cross(x, y)))
    spin = np.array((1.92, -0.96, 0.48))
    place, speed = ((0, 0.1, 0.16), (0, -0.24, 0)) if library else ((0, 0.1, 0.12), (0, 0, 0))
    bearing, pin = ((0, 0, -0.04), (0, 0, 0.04)) if library else ((0, 0, 0), (0, 0, 0.08))
    crank = model.add(
        mbd.RigidBody(
            "crank", 0.12, (1e-4, 1e-5, 1e-4), RotationVector(place, velocity=speed, angular_velocity=(6, 0, 0))
        )
    )
    rod = model.add(
        mbd.RigidBody(
            "rod", 0.5, (4e-4, 4e-3, 4e-3), RotationVector((0.1, 0.05, 0.1), turn, (0.12, -0.24, 0), turn.T @ spin)
        )
    )
    slider = model.add(
        mbd.RigidBody("slider", 2.0, (1e-4, 1e-4, 1e-4), RotationVector((0.2, 0, 0), velocity=(0.24, 0, 0)))
    )
    add = model.add
    add(mbd.joints.Revolute(model.ground, crank, point_a=(0, 0.1, 0.12), point_b=bearing, axis=(1, 0, 0), name="A"))
    add(mbd.joints.Spherical(crank, rod, point_a=pin, point_b=(-0.15, 0, 0), name="B"))
    add(
        mbd.joints.Universal(
            rod, slider, point_a=(0.15, 0, 0), point_b=(0, 0, 0), axis_a=(0, 1, 0), axis_b=(1, 0, 0), name="C"
        )
    )
    add(mbd.joints.Prismatic(model.ground, slider, axis=(1, 0, 0), name="D"))
    return model.with_nodes(node)


# --- chains -------------------------------------------------------------------------------------------------------


def chain(
    node: Any = RotationVector, com: Any = (0.0, 0.0, 0.0), first: str = "hinge", point_mass: bool = False
) -> mbd.Model:
    """Three bars in space on a hinge, a universal joint and a hinge.

    ``com`` moves the reference points of the bars, ``first="ball"`` or ``"pinned"`` hangs up the first one without a
    hinge, ``point_mass`` adds a weight on a massless rod at the end.
    """
    model = mbd.Model("chain", gravity=(0, 0, -9.81))
    velocities = ((0.0, 0.0, -0.2), (0.0, 0.0, -0.6), (0.0, 0.75, -1.0))  # of the centres of mass
    spins = ((0.0, 0.4, 0.0), (0.0, 0.4, 0.0), (0.0, 0.4, 1.5))
    offsets = np.array([com] * 3, float)
    if first == "pinned":
        offsets[0] = (0.5, 0.0, 0.0)
    bars = []
    for k, c in enumerate(offsets):
        pinned = first == "pinned" and k == 0
        velocity = (0, 0, 0) if pinned else velocities[k] - np.cross(spins[k], c)
        start = RotationVector((k + 0.5, 0, 0) - c, velocity=velocity, angular_velocity=spins[k], pinned=pinned)
        bars.append(model.add(mbd.RigidBody(f"bar {k}", 1.0 + 0.2 * k, (0.02, 0.1, 0.09), start, com=c)))
    upper, middle, lower = bars
    if first == "hinge":
        model.add(mbd.joints.Revolute(model.ground, upper, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    elif first == "ball":
        model.add(mbd.joints.Spherical(model.ground, upper, at=(0, 0, 0), name="ball"))
    model.add(mbd.joints.Universal(upper, middle, at=(1, 0, 0), axis_a=(0, 1, 0), axis_b=(0, 0, 1), name="cross"))
    model.add(mbd.joints.Revolute(middle, lower, at=(2, 0, 0), axis=(0, 0, 1), name="wrist"))
    if point_mass:
        mass = model.add(mbd.PointMass("weight", 0.5, (3.4, 0, 0), (0.0, 1.5, -1.36)))
        model.add(mbd.joints.Distance(lower, mass, point_a=(0.5, 0, 0) + offsets[2], name="rod"))
    return model.with_nodes(node)


def four_bar(spatial_loop: bool = False) -> mbd.Model:
    """A planar four-bar: four hinges (redundant in space), or hinge, ball, universal and hinge."""
    corners = ((0, 0, 0), (0, 1, 0), (2, 1.5, 0), (2.5, 0, 0))
    model = mbd.Model("four bar", gravity=(0, -9.81, 0))
    bars = []
    for k, name in enumerate(("crank", "rod", "rocker")):
        a, b = np.array(corners[k], float), np.array(corners[k + 1], float)
        length = float(np.linalg.norm(b - a))
        turn = mbd.rotation((0, 0, float(np.arctan2(b[1] - a[1], b[0] - a[0]))))
        inertia = length**2 / 12.0 * np.array((0.2, 1.0, 1.0))
        bars.append(model.add(mbd.RigidBody(name, 1.0, inertia, RotationVector((a + b) / 2, turn))))
    z = (0, 0, 1)
    model.add(mbd.joints.Revolute(model.ground, bars[0], at=corners[0], axis=z, name="hinge 1"))
    if spatial_loop:
        model.add(mbd.joints.Spherical(bars[0], bars[1], at=corners[1], name="hinge 2"))
        y = (0, 1, 0)  # across the rod, in the plane: its perpendicularity to z stops the rod's spin
        model.add(mbd.joints.Universal(bars[1], bars[2], at=corners[2], axis_a=y, axis_b=z, name="hinge 3"))
    else:
        model.add(mbd.joints.Revolute(bars[0], bars[1], at=corners[1], axis=z, name="hinge 2"))
        model.add(mbd.joints.Revolute(bars[1], bars[2], at=corners[2], axis=z, name="hinge 3"))
    model.add(mbd.joints.Revolute(bars[2], model.ground, at=corners[3], axis=z, name="hinge 4"))
    return model


def bars_with_balls(n: int) -> mbd.Model:
    """A chain of n bars with spherical joints, horizontal and at rest."""
    model = mbd.Model(f"chain of {n}", gravity=(0, 0, -9.81))
    last: Any = model.ground
    for k in range(n):
        bar = model.add(mbd.RigidBody(f"bar {k}", 1.0, (0.01, 0.1, 0.1), RotationVector((k + 0.5, 0, 0))))
        model.add(mbd.joints.Spherical(last, bar, at=(k, 0, 0)))
        last = bar
    return model
