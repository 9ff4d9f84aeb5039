"""Heavy top: a spinning body on a fixed point, without and with a joint.

The classical benchmark of Lie group integrators [Bruls & Cardona 2010]: the top spins at 150 rad/s, and its position
after one second is known to 14 digits. The same body is run as a pinned one (three rotational coordinates) and on a
spherical joint, with several methods. The movie in ``out/`` shows it with the force of the joint.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mbd

EXACT = np.array((0.17334396409838, 0.64008859207055, -0.74849079113359))  # centre of mass at t = 1
INERTIA = (0.234375, 0.46875, 0.234375)
SPIN = (0.0, 150.0, -4.61538)
OUTPUT = Path(__file__).resolve().parent.parent / "out"


def disc(middle: float) -> mbd.shapes.Composite:
    """The thin disc of radius 0.25 m that has this inertia, on a rod from the pivot; a mark shows how it spins."""
    return mbd.shapes.Composite(
        mbd.shapes.Cylinder(radius=0.25, height=0.03, axis=(0, 1, 0), centre=(0, middle, 0)),
        mbd.shapes.Cylinder(radius=0.018, height=1.0, axis=(0, 1, 0), centre=(0, middle - 0.5, 0), colour="steel"),
        mbd.shapes.Box(size=(0.16, 0.034, 0.05), centre=(0.15, middle, 0), colour="orange"),
    )


def pinned() -> mbd.Model:
    """The top without constraints: its reference point stays where it is."""
    model = mbd.Model("heavy top, pinned", gravity=(0, 0, -9.81))
    node = mbd.nodes.RotationVector(pinned=True, angular_velocity=SPIN)
    model.add(mbd.RigidBody("top", mass=15.0, inertia=INERTIA, com=(0, 1, 0), node=node, shape=disc(1.0)))
    return model


def jointed() -> mbd.Model:
    """The top on a spherical joint."""
    model = mbd.Model("heavy top", gravity=(0, 0, -9.81))
    node = mbd.nodes.RotationVector(position=(0, 1, 0), velocity=(4.61538, 0, 0), angular_velocity=SPIN)
    top = model.add(mbd.RigidBody("top", mass=15.0, inertia=INERTIA, node=node, shape=disc(0.0)))
    model.add(mbd.joints.Spherical(model.ground, top, at=(0, 0, 0), name="pivot"))
    return model


model = jointed


def main(steps: tuple[float, ...] = (1e-3, 5e-4, 2.5e-4), directory: Path | None = OUTPUT) -> dict[str, list[float]]:
    """Print the error of the centre of mass after one second, and return it by method; ``None`` writes no movie."""
    methods = {
        "RK4, pinned": (pinned(), mbd.integrators.RK4()),
        "RK4, joint": (jointed(), mbd.integrators.RK4()),
        "GeneralizedAlpha, pinned": (pinned(), mbd.integrators.GeneralizedAlpha()),
        "GeneralizedAlpha, joint": (jointed(), mbd.integrators.GeneralizedAlpha()),
        "GeneralizedAlpha, index 3": (jointed(), mbd.integrators.GeneralizedAlpha(stabilized=False)),
    }
    print(f"{'error after one second':30}" + "".join(f"{f'h = {h:g}':>14}" for h in steps))
    errors: dict[str, list[float]] = {}
    for name, (top, integrator) in methods.items():
        runs = [mbd.simulate(top, t_end=1.0, step=h, integrator=integrator) for h in steps]
        errors[name] = [float(np.linalg.norm(run["top"].com[-1] - EXACT)) for run in runs]
        print(f"{name:30}" + "".join(f"{error:14.3e}" for error in errors[name]))
    if directory is not None:
        mbd.view.film(runs[-1], directory / "heavy_top_reaction.mp4", speed=0.15, reactions=True)
    return errors


if __name__ == "__main__":
    main()
