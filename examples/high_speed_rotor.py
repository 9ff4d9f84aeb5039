"""High-speed rotor in two elastic bearings, at 200 000 revolutions per minute [Holzinger et al. 2024, section 4.2].

The torque of its unbalanced weight makes the axis precess slowly, once in about 2.5 s, while the rotor turns 8000
times. Lie group methods follow that with large steps.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mbd

LEFT, RIGHT = (-0.11, 0, 0), (0.09, 0, 0)
SPEED = 2 * np.pi * 200_000 / 60
OUTPUT = Path(__file__).resolve().parent.parent / "out"


def model() -> mbd.Model:
    """The rotor; both bearings resist radial motion, the left one also axial motion."""
    system = mbd.Model("high-speed rotor")
    node = mbd.nodes.RotationVector(angular_velocity=(SPEED, 0, 0))
    shape = mbd.shapes.Composite(
        mbd.shapes.Cylinder(radius=0.05, height=0.02, axis=(1, 0, 0)),
        mbd.shapes.Cylinder(radius=0.004, height=0.23, axis=(1, 0, 0), centre=(-0.01, 0, 0), colour="steel"),
        mbd.shapes.Box(size=(0.021, 0.02, 0.009), centre=(0, 0.035, 0), colour="orange"),  # shows the turns
    )
    rotor = system.add(mbd.RigidBody("rotor", 1.2331, (0.001541, 0.000812, 0.000812), node, shape=shape))
    k, d = 4000.0, 5.165093
    bushing = mbd.forces.Bushing
    system.add(bushing(system.ground, rotor, LEFT, LEFT, stiffness=k, damping=d, name="left"))
    system.add(bushing(system.ground, rotor, RIGHT, RIGHT, stiffness=(0, k, k), damping=(0, d, d), name="right"))
    system.add(mbd.forces.Torque(rotor, (0, 0, -0.01 * 1.2331 * 9.81), name="unbalanced weight"))
    return system


def main(t_end: float = 4.0, step: float = 1e-5, directory: Path | None = OUTPUT) -> np.ndarray:
    """Print the path of the left bearing's point and plot it; returns it."""
    solution = mbd.simulate(model(), t_end, step, mbd.integrators.RK6(), output_step=t_end / 400)
    path = solution["rotor"].point(LEFT) - LEFT
    print("   t [s]    y [mm]    z [mm]")
    for t, (_, y, z) in zip(solution.t[::50], 1e3 * path[::50], strict=True):
        print(f"{t:8.3f}{y:10.5f}{z:10.5f}")
    turns = float(solution["rotor"].angular_velocity[:, 0].mean()) * t_end / (2 * np.pi)
    print(f"{turns:.0f} turns, {solution.stats['wall_time']:.1f} s of computing")
    if directory is not None:
        plot(path, directory)
        turn = 2 * np.pi / SPEED  # the movie shows five turns, four thousand times slower
        turns = mbd.simulate(model(), 5 * turn, step, mbd.integrators.RK6())
        mbd.view.film(turns, directory / "high_speed_rotor.mp4", speed=2.5e-4)
    return path


def plot(path: np.ndarray, directory: Path) -> None:
    """The path in the plane across the axis."""
    try:
        import matplotlib
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5, 5), layout="constrained")
    axes.plot(1e3 * path[:, 1], 1e3 * path[:, 2], linewidth=0.8)
    axes.set(xlabel="y [mm]", ylabel="z [mm]", title="left bearing of the rotor", aspect="equal")
    directory.mkdir(parents=True, exist_ok=True)
    figure.savefig(directory / "high_speed_rotor.png", dpi=120)
    plt.close(figure)
    print(f"plot: {directory / 'high_speed_rotor.png'}")


if __name__ == "__main__":
    main()
