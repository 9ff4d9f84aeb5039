"""The free motion of a book [Vilmart 2013, Fig. 1]: trajectories of its principal axes in space.

Jacobi's analytic solution and the discrete Moser-Veselov algorithm of order ten with the step 0.01, as in the paper,
which agree to round-off.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mbd

MOMENTS = np.array((0.376, 0.627, 1.0))
SIZES = np.sqrt(0.5 * MOMENTS.sum() - MOMENTS)  # proportional to the edges of a box with these moments
COLOURS = ("tab:red", "tab:green", "tab:blue")
OUTPUT = Path(__file__).resolve().parent.parent / "out"


def model() -> mbd.Model:
    """The book with the momentum (0, 0.6, -0.8) in its principal axes."""
    system = mbd.Model("book")
    node = mbd.nodes.Quaternion(angular_velocity=np.array((0.0, 0.6, -0.8)) / MOMENTS)
    system.add(mbd.RigidBody("book", 1.0, MOMENTS, node, shape=mbd.shapes.Box(tuple(2.0 * SIZES))))
    return system


def plot(solution: mbd.Solution, directory: Path) -> None:
    """The book with its axes, and the trajectories of the axes on the unit sphere."""
    try:
        import matplotlib
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    figure = plt.figure(figsize=(11, 5.5))
    left, right = (figure.add_subplot(1, 2, k, projection="3d") for k in (1, 2))
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * SIZES
    faces = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
    left.add_collection3d(
        Poly3DCollection([corners[list(f)] for f in faces], facecolor="burlywood", edgecolor="saddlebrown", alpha=0.6)
    )
    rotation = solution["book"].rotation
    for k, colour in enumerate(COLOURS):
        axis = 1.1 * np.eye(3)[k]
        left.quiver(0, 0, 0, *axis, color=colour, lw=2, arrow_length_ratio=0.1)
        left.text(*(1.2 * np.eye(3)[k]), f"axis {k + 1}", color=colour)
        right.plot(*rotation[:, :, k].T, color=colour, lw=0.8, label=f"axis {k + 1}")
    left.set_title("the book and its principal axes")
    right.set_title(f"trajectories of the axes in space, 0 < t < {solution.t[-1]:g}")
    for axes in (left, right):
        axes.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1), xticks=(-1, 0, 1), yticks=(-1, 0, 1), zticks=(-1, 0, 1))
        axes.set_box_aspect((1, 1, 1))
    right.legend(loc="upper left")
    figure.subplots_adjust(left=0.02, right=0.95, bottom=0.05, top=0.9, wspace=0.1)
    directory.mkdir(parents=True, exist_ok=True)
    figure.savefig(directory / "book.png", dpi=120)
    plt.close(figure)
    print(f"plot: {directory / 'book.png'}")


def main(directory: Path | None = OUTPUT) -> mbd.Solution:
    """Run both methods, compare them, and plot."""
    exact = mbd.simulate(model(), t_end=40.0, step=0.01, integrator=mbd.integrators.JacobiExact())
    solution = mbd.simulate(model(), t_end=40.0, step=0.01, integrator=mbd.integrators.MoserVeselov(order=10))
    error = np.abs(solution["book"].rotation - exact["book"].rotation).max()
    print(f"largest difference of the attitudes: {error:.1e}")
    print(f"range of the energy: {np.ptp(solution.energy.total):.1e}")
    if directory is not None:
        plot(solution, directory)
        tips = [("book", 1.3 * SIZES * axis) for axis in np.eye(3)]
        mbd.view.film(solution, directory / "book.mp4", speed=3.0, end=0.5 * solution.t[-1], frames=True, trails=tips)
    return solution


if __name__ == "__main__":
    main()
