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
        if mbd.view.film(solution, directory / "tumbling_cloud.mp4", speed=0.5):
            solution.picture(directory / "tumbling_cloud.png", t=(0.0, 0.75, 1.5), size=(640, 480))
            print(f"picture: {directory / 'tumbling_cloud.png'}")
    return solution


if __name__ == "__main__":
    main()
