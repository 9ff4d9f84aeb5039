"""A chain of bars with spherical joints falls from the horizontal: the time of a step grows linearly with its size."""

from __future__ import annotations

from pathlib import Path

import mbd

OUTPUT = Path(__file__).resolve().parent.parent / "out"


def model(count: int = 10) -> mbd.Model:
    """``count`` bars of one metre, hanging from the ground by their first end."""
    system = mbd.Model(f"chain of {count} bars", gravity=(0, 0, -9.81))
    last: mbd.RigidBody | mbd.Ground = system.ground
    for k in range(count):
        node = mbd.nodes.RotationVector(position=(k + 0.5, 0, 0))
        shape = mbd.shapes.Capsule(radius=0.06, height=0.94, axis=(1, 0, 0))
        bar = system.add(mbd.RigidBody(f"bar {k + 1}", mass=1.0, inertia=(0.01, 0.1, 0.1), node=node, shape=shape))
        system.add(mbd.joints.Spherical(last, bar, at=(k, 0, 0)))
        last = bar
    return system


def main(
    counts: tuple[int, ...] = (10, 100, 1000), t_end: float = 0.2, step: float = 1e-3, directory: Path | None = OUTPUT
) -> dict[int, float]:
    """Print time per step, drift of energy and violation of the joints; returns the drift relative to the fall.

    The movie shows the shortest chain for longer; ``directory=None`` writes none.
    """
    print(" bars   us per step   energy drift   joint error [m]")
    drifts: dict[int, float] = {}
    for count in counts:
        system = model(count)
        mbd.simulate(system, 2 * step, step)  # loads the compiled code
        solution = mbd.simulate(system, t_end, step)
        energy = solution.energy
        fallen = energy.kinetic.max()
        drifts[count] = float(abs(energy.total - energy.total[0]).max() / fallen)
        time = 1e6 * solution.stats["wall_time"] / solution.stats["steps"]
        print(f"{count:5d}{time:14.1f}{drifts[count]:15.1e}{solution.constraint_error.position.max():18.1e}")
    if directory is not None:
        fall = mbd.simulate(model(counts[0]), 25 * t_end, 2 * step)
        mbd.view.film(fall, directory / "chain.mp4")
    return drifts


if __name__ == "__main__":
    main()
