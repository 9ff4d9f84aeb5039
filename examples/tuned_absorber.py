"""A vibration absorber: a map of all stiffnesses and dampings, and the best one, against a closed solution.

A mass on a spring carries a smaller mass on a spring and a damper. A blow sets it moving; what counts is the integral
of the squared displacement of the large mass, which is also its variance under white noise. Warburton (1982) gives the
absorber for which it is smallest.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mbd

OUTPUT = Path(__file__).resolve().parent.parent / "out"
RATIO = 0.1  # of the masses
GAP = 10.0  # m, between the masses at rest: more than they move
SIMULATE = {"t_end": 60.0, "step": 0.1, "integrator": mbd.integrators.RK4()}


def model(tuning: float, damping: float) -> mbd.Model:
    """Frequency and damping ratio of the absorber alone; the large mass has a frequency of 1 rad/s."""
    system = mbd.Model("absorber")
    large = system.add(mbd.PointMass("large", 1.0, (GAP, 0, 0), (1, 0, 0)))
    small = system.add(mbd.PointMass("small", RATIO, (2.0 * GAP, 0, 0)))
    system.add(mbd.forces.Spring(system.ground, large, stiffness=1.0, length=GAP))
    stiffness, damper = RATIO * tuning**2, 2.0 * damping * tuning * RATIO
    system.add(mbd.forces.Spring(large, small, stiffness=stiffness, damping=damper, length=GAP))
    return system


def energy_of_motion(solution: mbd.Solution) -> float:
    """The integral of the squared displacement of the large mass."""
    return float(np.trapezoid((solution["large"].position[:, 0] - GAP) ** 2, solution.t))


def warburton(ratio: float) -> dict[str, float]:
    """The best absorber for white noise [Warburton 1982, Earthquake Eng. Struct. Dyn. 10, 381-401, Table 1]."""
    tuning = np.sqrt(1.0 + ratio / 2.0) / (1.0 + ratio)
    damping = np.sqrt(ratio * (1.0 + 0.75 * ratio) / (4.0 * (1.0 + ratio) * (1.0 + ratio / 2.0)))
    return {"tuning": float(tuning), "damping": float(damping)}


def main(count: int = 25, directory: Path | None = OUTPUT, executor: int | None = None) -> mbd.study.Minimum:
    """Sweep over a grid, find the best absorber, and draw both. ``None`` draws nothing."""
    grid = {"tuning": np.linspace(0.7, 1.2, count), "damping": np.linspace(0.05, 0.35, count)}
    outputs = {"integral": energy_of_motion}
    study = mbd.study.sweep(model, grid, simulate=SIMULATE, outputs=outputs, executor=executor)
    print(study)
    start = {name: (values[0], study[name][np.argmin(study["integral"])], values[-1]) for name, values in grid.items()}
    best = mbd.study.minimize(model, start, energy_of_motion, simulate=SIMULATE, executor=executor)
    print(best)
    exact = warburton(RATIO)
    print("Warburton: " + ", ".join(f"{name} = {value:.4f}" for name, value in exact.items()))
    if directory is not None:
        directory.mkdir(exist_ok=True)
        figure = study.plot("map")
        figure.axes[0].plot(exact["damping"], exact["tuning"], "w+", ms=14, mew=2, label="Warburton")
        figure.axes[0].plot(
            best.parameters["damping"], best.parameters["tuning"], "wo", ms=9, mfc="none", label="minimize"
        )
        figure.axes[0].legend(framealpha=0.3)
        figure.savefig(directory / "tuned_absorber.png", dpi=160)
        print(f"map: {directory / 'tuned_absorber.png'}")
    return best


if __name__ == "__main__":
    main(executor=2)
