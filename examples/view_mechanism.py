"""A slider on a spring with a pendulum and a ball on a rod: everything that a view draws, and every kind of file.

Writes a picture, a strip of snapshots, a movie, a page for the browser, a glTF file, plots and a report to ``out/``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mbd

OUTPUT = Path(__file__).resolve().parent.parent / "out"


def model() -> mbd.Model:
    """The mechanism, pushed by a force that swings."""
    system = mbd.Model("slider and pendulum", gravity=(0, 0, -9.81))
    ground, node = system.ground, mbd.nodes.RotationVector
    block = mbd.shapes.Box(size=(0.3, 0.25, 0.2))
    slider = system.add(mbd.RigidBody("slider", 2.0, (0.02, 0.02, 0.02), node(position=(1, 0, 1)), shape=block))
    arm = mbd.shapes.Capsule(radius=0.035, height=0.8)
    pendulum = system.add(mbd.RigidBody("pendulum", 1.0, (0.05, 0.05, 0.001), node(position=(1, 0, 0.6)), shape=arm))
    ball = system.add(mbd.PointMass("ball", 0.5, position=(1, 0, -0.1)))
    system.add(mbd.joints.Prismatic(ground, slider, axis=(1, 0, 0), name="rail"))
    system.add(mbd.joints.Revolute(slider, pendulum, at=(1, 0, 1), axis=(0, 1, 0), name="hinge"))
    system.add(mbd.joints.Distance(pendulum, ball, point_a=(0, 0, -0.4), name="rod"))
    system.add(mbd.forces.Spring(ground, slider, (0, 0, 1), (-0.15, 0, 0), stiffness=60.0, length=0.7, name="spring"))
    push = mbd.forces.Force(pendulum, lambda t: (8.0 * np.cos(4.0 * t), 0.0, 0.0), point=(0, 0, -0.4), name="push")
    system.add(push)
    return system


def main(t_end: float = 3.0, step: float = 2e-3, directory: Path = OUTPUT) -> list[Path]:
    """Run the mechanism and write all files; returns their paths."""
    directory.mkdir(parents=True, exist_ok=True)
    solution = mbd.simulate(model(), t_end, step)
    name = "slider_pendulum"
    written = [
        solution.html(directory / f"{name}.html"),
        solution.gltf(directory / f"{name}.glb"),
        solution.report(directory / f"{name}_report.html", reactions=True),
    ]
    for what in ("energy", "reactions", "trajectory"):
        solution.plot(what, directory / f"{name}_{what}.png")
        written.append(directory / f"{name}_{what}.png")
    if mbd.view.can_render():
        solution.picture(directory / f"{name}.png", t=0.4 * t_end, reactions=True, labels=True)
        solution.picture(directory / f"{name}_strip.png", t=np.linspace(0.0, t_end, 5), size=(560, 420))
        written += [directory / f"{name}.png", directory / f"{name}_strip.png"]
    for path in written:
        print(f"wrote {path}")
    if movie := mbd.view.film(solution, directory / f"{name}.mp4"):
        written.append(movie)
    return written


if __name__ == "__main__":
    main()
