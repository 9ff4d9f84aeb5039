"""Demonstration: the heavy top in two kinds of coordinates with two integrators.

Prints a table of errors, drifts and times, and writes plots, a movie, a picture and a web page to ``out/``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import mbd

OUTPUT = Path(__file__).resolve().parent.parent / "out"
EXACT = np.array((0.17334396409838, 0.64008859207055, -0.74849079113359))  # centre of mass at t = 1
NODES = {"RotationVector (Lie)": mbd.nodes.RotationVector, "Quaternion": mbd.nodes.Quaternion}
CAMERA = ((1.9, -2.75, 0.75), (-0.12, 0.3, -0.5))  # of the picture
INTEGRATORS = {"RK4": mbd.integrators.RK4(), "GeneralizedAlpha": mbd.integrators.GeneralizedAlpha(rho_inf=0.9)}


def model() -> mbd.Model:
    """A fast spinning top on a spherical joint."""
    system = mbd.Model("heavy top", gravity=(0, 0, -9.81))
    node = mbd.nodes.RotationVector(position=(0, 1, 0), velocity=(4.61538, 0, 0), angular_velocity=(0, 150, -4.61538))
    shape = mbd.shapes.Composite(  # the thin disc that has this inertia, on a rod; the mark shows how it spins
        mbd.shapes.Cylinder(radius=0.25, height=0.03, axis=(0, 1, 0)),
        mbd.shapes.Cylinder(radius=0.018, height=1.0, axis=(0, 1, 0), centre=(0, -0.5, 0), colour="steel"),
        mbd.shapes.Box(size=(0.16, 0.034, 0.05), centre=(0.15, 0, 0), colour="orange"),
    )
    top = system.add(mbd.RigidBody("top", mass=15.0, inertia=(0.234375, 0.46875, 0.234375), node=node, shape=shape))
    system.add(mbd.joints.Spherical(system.ground, top, at=(0, 0, 0), name="pivot"))
    return system


def main(step: float = 2.5e-4, directory: Path | None = OUTPUT, movie: bool = True) -> dict[str, mbd.Solution]:
    """Run all four combinations over one second; ``directory=None`` writes no files."""
    solutions = {}
    table = Table(title=f"heavy top, one second in steps of {step:g} s")
    headings = ("node", "integrator", "error (m)", "energy drift (J)", "joint (m)", "rate (m/s)", "us/step")
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("node", "integrator") else "right", no_wrap=True)
    for node_name, node in NODES.items():
        for name, integrator in INTEGRATORS.items():
            top = model().with_nodes(node)
            mbd.simulate(top, 2 * step, step, integrator)  # loads the compiled code
            solution = mbd.simulate(top, 1.0, step, integrator)
            solutions[f"{name}, {node_name}"] = solution
            energy, drift = solution.energy.total, solution.constraint_error
            table.add_row(
                node_name,
                name,
                f"{np.linalg.norm(solution['top'].com[-1] - EXACT):.2e}",
                f"{np.abs(energy - energy[0]).max():.2e}",
                f"{drift.position.max():.1e}",
                f"{drift.velocity.max():.1e}",
                f"{1e6 * solution.stats['wall_time'] / solution.stats['steps']:.1f}",
            )
    Console(width=110).print(table)
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
        plot(solutions, directory)
        if movie:
            film(next(iter(solutions.values())), directory)
    return solutions


def plot(solutions: dict[str, mbd.Solution], directory: Path) -> None:
    """Energy drift of all runs, path and reaction of the first one."""
    try:
        import matplotlib
    except ImportError:
        print("no plots: matplotlib is not installed")
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name, solution in solutions.items():
        drift = np.abs(solution.energy.total - solution.energy.total[0])
        axes.semilogy(solution.t[1:], np.maximum(drift[1:], 1e-12), label=name, linewidth=0.9)
    axes.set(xlabel="t [s]", ylabel="energy drift [J]", title="heavy top")
    axes.legend()
    figure.savefig(directory / "heavy_top_energy.png", dpi=120)
    plt.close(figure)

    solution = next(iter(solutions.values()))
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for k, letter in enumerate("xyz"):
        left.plot(solution.t, solution["top"].com[:, k], label=letter)
        right.plot(solution.t, solution["pivot"].force[:, k], label=letter)
    left.set(xlabel="t [s]", ylabel="centre of mass [m]")
    right.set(xlabel="t [s]", ylabel="force of the pivot [N]")
    left.legend()
    figure.savefig(directory / "heavy_top_motion.png", dpi=120)
    plt.close(figure)
    print(f"plots: {directory / 'heavy_top_energy.png'}, {directory / 'heavy_top_motion.png'}")


def film(solution: mbd.Solution, directory: Path) -> None:
    """A movie, a picture and a page to turn the scene in, where the view can make them."""
    if mbd.view.film(solution, directory / "heavy_top.mp4", speed=0.2):
        solution.picture(directory / "heavy_top.png", t=0.95, size=(1000, 560), camera=CAMERA)
        print(f"picture: {directory / 'heavy_top.png'}")
    try:
        page = solution.html(directory / "heavy_top.html", speed=0.2)
    except mbd.MbdError as error:
        print(f"no page: {error}")
    else:
        print(f"page to play and turn the scene in: {page}")


if __name__ == "__main__":
    main()
