"""Spatial slider-crank of the IFToMM library of benchmark problems.

A crank on a hinge about the x axis, a rod on a ball and a universal joint, a slider along the x axis. The universal
joint keeps the y axis of the rod perpendicular to the slider's axis. One degree of freedom, and one closed loop.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mbd

REFERENCE = {1.0: 0.211721661393, 2.0: 0.289085197067, 5.0: 0.2407195737}  # slider position, from energy quadrature
OUTPUT = Path(__file__).resolve().parent.parent / "out"


def model() -> mbd.Model:
    """The mechanism at crank angle zero, turning at 6 rad/s."""
    system = mbd.Model("slider-crank", gravity=(0, 0, -9.81))
    node, shapes = mbd.nodes.RotationVector, mbd.shapes

    crank_node = node(position=(0, 0.1, 0.16), velocity=(0, -0.24, 0), angular_velocity=(6, 0, 0))
    bar = shapes.Capsule(radius=0.005, height=0.08)
    crank = system.add(mbd.RigidBody("crank", 0.12, (1e-4, 1e-5, 1e-4), crank_node, shape=bar))

    along = np.array((2, -1, -2)) / 3  # of the rod, from B to C
    across = np.array((0, 2, -1)) / np.sqrt(5)
    turn = np.column_stack((along, across, np.cross(along, across)))
    spin = turn.T @ (1.92, -0.96, 0.48)
    rod_node = node(position=(0.1, 0.05, 0.1), rotation=turn, velocity=(0.12, -0.24, 0), angular_velocity=spin)
    bar = shapes.Capsule(radius=0.004, height=0.3, axis=(1, 0, 0))
    rod = system.add(mbd.RigidBody("rod", 0.5, (4e-4, 4e-3, 4e-3), rod_node, shape=bar))

    slider_node = node(position=(0.2, 0, 0), velocity=(0.24, 0, 0))
    block = shapes.Box(size=(0.07, 0.035, 0.035))
    slider = system.add(mbd.RigidBody("slider", 2.0, (1e-4, 1e-4, 1e-4), slider_node, shape=block))

    joints = mbd.joints
    system.add(joints.Revolute(system.ground, crank, at=(0, 0.1, 0.12), axis=(1, 0, 0), name="A"))
    system.add(joints.Spherical(crank, rod, at=(0, 0.1, 0.2), name="B"))
    system.add(joints.Universal(rod, slider, at=(0.2, 0, 0), axis_a=(0, 1, 0), axis_b=(1, 0, 0), name="C"))
    system.add(joints.Prismatic(system.ground, slider, axis=(1, 0, 0), name="D"))
    return system


def main(t_end: float = 5.0, step: float = 1e-3, directory: Path | None = OUTPUT) -> dict[float, float]:
    """Print slider positions and their errors; returns the errors of RK4 by time. ``None`` writes no movie."""
    mechanism = model()
    rk4 = mbd.simulate(mechanism, t_end, step, mbd.integrators.RK4())
    alpha = mbd.simulate(mechanism, t_end, step, mbd.integrators.GeneralizedAlpha())
    print("  t [s]   crank [rad]   slider [m]    error RK4   error GeneralizedAlpha")
    errors: dict[float, float] = {}
    for t, exact in REFERENCE.items():
        if t > t_end:
            continue
        k = int(np.searchsorted(rk4.t, t - 1e-9))
        x, other = rk4["slider"].position[k, 0], alpha["slider"].position[k, 0]
        errors[t] = abs(x - exact)
        print(f"{t:7.1f}{rk4['A'].angle[k]:14.6f}{x:13.8f}{errors[t]:13.1e}{abs(other - exact):13.1e}")
    if directory is not None:
        mbd.view.film(rk4, directory / "slider_crank.mp4", trails=[("crank", (0, 0, 0.04)), ("rod", (0, 0, 0))])
    return errors


if __name__ == "__main__":
    main()
