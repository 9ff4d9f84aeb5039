"""A pole balanced on a cart: a linear-quadratic regulator from ``mbd.linearize``, and how far it reaches.

The pole is linearised standing upright; the gains come from the algebraic Riccati equation. Near the upright position
the closed loop moves as its linear model says; from larger angles it is caught as long as the force suffices.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.linalg import expm, solve_continuous_are

import mbd

CART, POLE, LENGTH = 1.0, 0.1, 0.5  # kg, kg, m from the hinge to the centre of the pole
STEP = 2e-3  # s, of the simulation and of the controller
LIMIT = 10.0  # N
OUTPUT = Path(__file__).resolve().parent.parent / "out"
COSTS = np.diag((1.0, 1.0, 0.1, 0.1)), np.array([[0.1]])  # of (displacement, angle, and their rates), of the force


def model(angle: float = 0.0) -> mbd.Model:
    """The pole at rest, leaning by an angle; the force on the cart is an input."""
    system = mbd.Model("cart-pole", gravity=(0, 0, -9.81))
    force = system.input("force")
    cart = system.add(mbd.RigidBody("cart", CART, (0.01, 0.01, 0.01), shape=mbd.shapes.Box((0.3, 0.2, 0.1))))
    turned = mbd.rotation((0, angle, 0))
    start = mbd.nodes.RotationVector(turned @ (0, 0, LENGTH), turned)
    inertia = POLE * (2.0 * LENGTH) ** 2 / 12.0
    shape = mbd.shapes.Cylinder(0.02, 2.0 * LENGTH)
    pole = system.add(mbd.RigidBody("pole", POLE, (inertia, inertia, 1e-5), start, shape=shape))
    rail = system.add(mbd.joints.Prismatic(system.ground, cart, axis=(1, 0, 0), name="rail"))
    system.add(mbd.joints.Revolute(cart, pole, at=(0, 0, 0), axis=(0, 1, 0), name="hinge", zero=angle))
    system.add(mbd.forces.JointForce(rail, force, name="motor"))
    return system.with_coordinates("joint")


def linear_model() -> tuple[np.ndarray, np.ndarray]:
    """A and B of x' = A x + B u near the upright position, x = (displacement, angle, and their rates)."""
    upright = model()
    system = mbd.assemble(upright)
    q, v = system.initial_state()
    system.inputs["force"] = 1.0
    pushed = system.accelerations(q, v)[0]
    system.inputs["force"] = 0.0
    return mbd.linearize(upright).matrix, np.concatenate((np.zeros(2), pushed - system.accelerations(q, v)[0]))


def gains() -> np.ndarray:
    """The linear-quadratic regulator: u = -gains . x."""
    a, b = linear_model()
    riccati = solve_continuous_are(a, b[:, None], *COSTS)
    return b @ riccati / COSTS[1][0, 0]


def balance(angle: float, seconds: float = 5.0, limit: float = LIMIT) -> mbd.Solution:
    """The closed loop from an angle on."""
    sim, k = mbd.Simulator(model(angle), STEP), gains()
    rail, hinge = sim["rail"], sim["hinge"]
    for _ in range(round(seconds / STEP)):
        x = rail.displacement, hinge.angle, rail.displacement_rate, hinge.angle_rate
        sim.inputs["force"] = np.clip(-k @ x, -limit, limit)
        sim.step()
    return sim.solution()


def predicted(angle: float, t: float) -> np.ndarray:
    """The state that the linear model of the closed loop expects."""
    a, b = linear_model()
    return expm((a - np.outer(b, gains())) * t) @ (0.0, angle, 0.0, 0.0)


def main(directory: Path | None = None) -> None:
    """Compare with the linear model, and try larger angles; a movie goes to a directory."""
    print(f"gains: {np.array2string(gains(), precision=3)}")
    small = balance(0.01, 1.0)
    expected = predicted(0.01, 1.0)
    print(f"from 0.01 rad, after 1 s: angle {small['hinge'].angle[-1]:.6f}, linear model {expected[1]:.6f}")
    print("\nangle at the start   angle after 5 s   largest displacement   largest force")
    for degrees in (5, 20, 40, 60):
        solution = balance(np.radians(degrees))
        angle, way = solution["hinge"].angle[-1], np.abs(solution["rail"].displacement).max()
        kept = f"{angle:15.2e}" if abs(angle) < 0.1 else "          fell"
        print(f"{degrees:14d} deg {kept:>18} {way:20.2f} m {np.abs(solution.inputs['force']).max():13.1f} N")
        if directory is not None and degrees == 20:
            mbd.view.film(solution, directory / "cart_pole.mp4")


if __name__ == "__main__":
    main(OUTPUT)
