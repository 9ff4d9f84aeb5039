"""A cloud of a thousand boxes that tumble in free flight.

All bodies advance in one batch. The order-eight method is compared with Jacobi's solution, which needs one evaluation.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mbd

BODIES = 1000
OUTPUT = Path(__file__).resolve().parent.parent / "out"


def model(count: int = BODIES) -> mbd.Model:
    """Boxes of random sizes that fly apart from a small region, each with its own spin."""
    rng = np.random.default_rng(5)
    system = mbd.Model("cloud", gravity=(0, 0, -9.81))
    for k in range(count):
        size = rng.uniform(0.05, 0.3, 3)
        mass = float(500.0 * size.prod())
        direction = rng.normal(size=3)
        node = mbd.nodes.Quaternion(
            position=0.3 * rng.normal(size=3),
            rotation=mbd.rotation(rng.normal(size=3)),
            velocity=np.array((0, 0, 8.0)) + 1.5 * direction,
            angular_velocity=6.0 * rng.normal(size=3),
            lie=True,
        )
        inertia = mass / 12.0 * (np.square(size).sum() - np.square(size))
        system.add(mbd.RigidBody(f"box {k}", mass, inertia, node, shape=mbd.shapes.Box(tuple(size))))
    return system


def draw(axes, solution: mbd.Solution, record: int) -> None:
    """All boxes at one record."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    frames = solution.frames(record)[1:]
    sizes = np.array([np.sqrt(np.maximum(6.0 * (np.trace(b.inertia) - 2.0 * np.diag(b.inertia)) / b.mass, 0.0)) for b in
                      solution.model.bodies])  # fmt: skip
    signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = frames[:, None, :3] + np.einsum(
        "nci,nij->ncj", 0.5 * signs[None] * sizes[:, None], frames[:, 3:].reshape(-1, 3, 3)
    )
    faces = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
    import matplotlib.pyplot as plt

    colours = plt.get_cmap("viridis")(np.linspace(0, 1, len(frames)))
    polygons = corners[:, np.array(faces)].reshape(-1, 4, 3)
    axes.add_collection3d(Poly3DCollection(polygons, facecolors=np.repeat(colours, 6, axis=0), edgecolor="k", lw=0.1))
    centre = frames[:, :3].mean(axis=0)
    axes.set(
        xlim=centre[0] + np.array((-4, 4)), ylim=centre[1] + np.array((-4, 4)), zlim=centre[2] + np.array((-4, 4)),
        title=f"t = {solution.t[record]:.2f} s",
    )  # fmt: skip
    axes.set_box_aspect((1, 1, 1))


def plot(solution: mbd.Solution, directory: Path) -> None:
    """Three moments of the flight."""
    try:
        import matplotlib
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(14, 5))
    for k, record in enumerate((0, len(solution) // 2, -1)):
        draw(figure.add_subplot(1, 3, k + 1, projection="3d"), solution, record)
    figure.tight_layout()
    directory.mkdir(parents=True, exist_ok=True)
    figure.savefig(directory / "tumbling_cloud.png", dpi=110)
    plt.close(figure)
    print(f"plot: {directory / 'tumbling_cloud.png'}")


def main(count: int = BODIES, directory: Path | None = OUTPUT) -> mbd.Solution:
    """Simulate, compare, and draw."""
    system = model(count)
    solution = mbd.simulate(system, 1.5, 0.01, mbd.integrators.MoserVeselov(order=8), output_step=0.05)
    exact = mbd.simulate(system, 1.5, 1.5, mbd.integrators.JacobiExact())
    error = np.abs(solution.frames(-1) - exact.frames(-1)).max()
    seconds = solution.stats["wall_time"]
    print(f"{count} bodies, {solution.stats['steps']} steps in {seconds:.3f} s")
    print(f"largest deviation from the exact solution at t = 1.5: {error:.1e}")
    if directory is not None:
        plot(solution, directory)
        mbd.view.film(solution, directory / "tumbling_cloud.mp4", speed=0.5)
    return solution


if __name__ == "__main__":
    main()
