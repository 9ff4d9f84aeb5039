"""A heavy top held by a spherical joint, with splittings of order two and four.

The joint is recognised and eliminated, so that methods for single bodies apply; its reaction is in the solution.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mbd

OUTPUT = Path(__file__).resolve().parent.parent / "out"


def model() -> mbd.Model:
    """A fast top whose three moments of inertia differ, leaning by 40 degrees."""
    system = mbd.Model("heavy top", gravity=(0, 0, -9.81))
    rotation = mbd.rotation((np.deg2rad(40.0), 0.0, 0.0))
    length, omega = 0.3, np.array((0.0, 0.0, 60.0))
    node = mbd.nodes.Quaternion(
        position=rotation @ np.array((0.0, 0.0, length)), rotation=rotation, angular_velocity=omega
    )
    shape = mbd.shapes.Composite(
        mbd.shapes.Cone(0.2, 0.4, axis=(0, 0, -1), tip=(0, 0, -length)),
        mbd.shapes.Box(size=(0.16, 0.03, 0.01), centre=(0.1, 0, 0.1), colour="orange"),  # shows the spin
    )
    top = system.add(mbd.RigidBody("top", 1.0, (0.02, 0.018, 0.03), node, shape=shape))
    system.add(mbd.joints.Spherical(system.ground, top, at=(0, 0, 0), name="pivot"))
    return system


def main(directory: Path | None = OUTPUT) -> mbd.Solution:
    """Compare energy errors, and plot the path of the axis, the errors and the reaction; returns the last solution."""
    methods = {
        "Strang, DMV": mbd.integrators.Strang(),
        "Strang, symmetric body": mbd.integrators.Strang(mbd.integrators.SymmetricSplitting()),
        "Nystrom of order four": mbd.integrators.NystromSplitting(),
    }
    solutions = {}
    for name, method in methods.items():
        solutions[name] = mbd.simulate(model(), t_end=4.0, step=2e-3, integrator=method)
        print(f"{name}: largest relative error of the energy {energy_error(solutions[name]).max():.1e}")
    if directory is not None:
        plot(solutions, directory)
        tip = ("top", (0, 0, 0.1))
        mbd.view.film(solutions[name], directory / "rigid_heavy_top.mp4", speed=0.4, end=2.4, trails=tip)
    return solutions[name]


def energy_error(solution: mbd.Solution) -> np.ndarray:
    """Relative error of the energy at all records."""
    energy = solution.energy.total
    return np.abs(energy / energy[0] - 1.0)


def plot(solutions: dict[str, mbd.Solution], directory: Path) -> None:
    """Path of the axis, errors of the energy, reaction of the joint."""
    try:
        import matplotlib
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(13, 4.5))
    path, errors, force = figure.add_subplot(131, projection="3d"), figure.add_subplot(132), figure.add_subplot(133)
    for name, solution in solutions.items():
        errors.semilogy(solution.t[1:], np.maximum(energy_error(solution)[1:], 1e-16), lw=0.6, label=name)
    path.plot(*solution["top"].rotation[:, :, 2].T, lw=0.8)
    path.set(title="path of the axis", xlim=(-1, 1), ylim=(-1, 1), zlim=(0, 1))
    path.set(xticks=(-1, 0, 1), yticks=(-1, 0, 1), zticks=(0, 1), box_aspect=(2, 2, 1))
    errors.set(title="relative error of the energy", xlabel="time in s")
    errors.legend(fontsize=8, loc="lower right")
    for k, label in enumerate("xyz"):
        force.plot(solution.t, solution["pivot"].force[:, k], lw=0.8, label=label)
    force.set(title="reaction of the pivot in N", xlabel="time in s", xlim=(0, 1))
    force.legend(loc="upper right")
    figure.tight_layout()
    directory.mkdir(parents=True, exist_ok=True)
    figure.savefig(directory / "rigid_heavy_top.png", dpi=120)
    plt.close(figure)
    print(f"plot: {directory / 'rigid_heavy_top.png'}")


if __name__ == "__main__":
    main()
