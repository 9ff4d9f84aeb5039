"""How long must a pendulum be that needs a second from side to side? One assembled system, a run per guess.

The length is a parameter of the model: the place of the bob and the hinge follow it. The closed solution is that of
the compound pendulum of finite amplitude.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.optimize import brentq
from scipy.special import ellipk

import mbd

GRAVITY, MASS, AMPLITUDE, SECOND = 9.80665, 1.0, 0.3, 1.0
OUTPUT = Path(__file__).resolve().parent.parent / "out"
INERTIA = 1e-3  # of the bob about its centre, kg m^2


def model() -> mbd.Model:
    """A pendulum that is let go at its amplitude; the length is a parameter."""
    clock = mbd.Model("clock", gravity=(0, 0, -GRAVITY))
    length = clock.parameter("length", 1.0)
    place = (-np.sin(AMPLITUDE) * length, 0.0, -np.cos(AMPLITUDE) * length)
    bob = clock.add(mbd.RigidBody("bob", MASS, (INERTIA,) * 3, mbd.nodes.RotationVector(place)))
    axis = (0, 1, 0)
    clock.add(mbd.joints.Revolute(clock.ground, bob, at=(0, 0, 0), axis=axis, zero=AMPLITUDE, name="hinge"))
    return clock.with_coordinates("joint")


def closed_solution() -> float:
    """The period is 4 sqrt(l / g) K(sin^2(amplitude / 2)) with the reduced length l = length + J / (m length)."""
    reduced = GRAVITY * (0.5 * SECOND / ellipk(np.sin(0.5 * AMPLITUDE) ** 2)) ** 2
    return float(0.5 * reduced + np.sqrt(0.25 * reduced**2 - INERTIA / MASS))


def main(steps: int = 50, directory: Path | None = None) -> float:
    """Find the length for which the pendulum hangs straight down after half a second; a movie goes to a directory."""
    handle = mbd.assemble(model()).parameters(["length"])
    run = handle.run(0.5 * SECOND, 0.5 * SECOND / steps, mbd.integrators.RK4())
    length, about = brentq(lambda x: run([x])["hinge"].angle[-1], 0.5, 1.5, xtol=1e-14, full_output=True)
    print(f"length {length:.10f} m after {about.function_calls} runs of one system; exact {closed_solution():.10f} m")
    if directory is not None:
        clock = model()
        clock.parameters["length"] = length
        mbd.view.film(mbd.simulate(clock, 4.0 * SECOND, 0.01), directory / "pendulum_clock.mp4")
    return float(length)


if __name__ == "__main__":
    main(directory=OUTPUT)
