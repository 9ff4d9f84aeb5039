"""A Stewart platform: a robot whose six legs close five loops, under PD control of the lengths of its legs.

The set points of the legs are those of a plate that goes around an ellipse, up and down, and tilts. The example shows
how well the plate follows with the gains of the benchmark and with softer ones, what the legs have to push, and that
twelve digits of independent equations of motion (``tests/benchmarks/stewart_by_hand.py``) are met.

Plots, a strip of pictures and a movie go to ``out/``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import mbd

OUTPUT = Path(__file__).resolve().parent.parent / "out"
LEGS = range(1, 7)
LOOK: dict[str, Any] = {
    "camera": ((1.9, -1.8, 1.25), (0.03, 0.0, 0.37)), "axes": False, "joints": False,
    "trails": [("plate", (0, 0, 0.17))],
}  # fmt: skip


def model(softness: float = 1.0) -> mbd.Model:
    """The robot of the benchmark; its gains divided by ``softness``."""
    robot = mbd.benchmarks.stewart_platform().model
    for i in LEGS:
        control = robot[f"control {i}"]
        control.kp, control.kd = control.kp / softness, control.kd / softness
    return robot


def deviation(solution: mbd.Solution) -> np.ndarray:
    """Extension of every leg minus what it should be, (n, 6)."""
    found = np.column_stack([solution[f"slider {i}"].displacement for i in LEGS])
    targets = [solution.model[f"control {i}"].motion.function for i in LEGS]
    return found - np.array([[target(t) for target in targets] for t in solution.t])


def main(directory: Path | None = OUTPUT, step: float = 5e-4) -> dict[float, float]:
    """Largest deviation of a leg from its set point with three gains, by softness; ``None`` writes no files."""
    benchmark = mbd.benchmarks.stewart_platform()
    runs = {softness: mbd.simulate(model(softness), 1.0, step, mbd.integrators.RK6()) for softness in (1.0, 3.0, 10.0)}
    stiff = runs[1.0]
    print(f"error against the equations by hand: {benchmark.error(stiff):.1e}")
    print("gains divided by   largest deviation of a leg   largest force of a leg")
    found = {}
    for softness, solution in runs.items():
        forces = np.array([np.linalg.norm(solution[f"control {i}"].force, axis=1) for i in LEGS])
        found[softness] = float(np.abs(deviation(solution)).max())
        print(f"{softness:16g}{1e3 * found[softness]:24.2f} mm{forces.max():23.0f} N")
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
        plot(runs, directory / "stewart_platform_legs.png")
        if mbd.view.can_render():
            file = directory / "stewart_platform.png"
            stiff.picture(file, t=[0.0, 0.25, 0.5, 0.75], size=(560, 480), columns=4, **LOOK)
            print(f"picture: {file}")
        mbd.view.film(stiff, directory / "stewart_platform.mp4", speed=0.25, **LOOK)
    return found


def plot(runs: dict[float, mbd.Solution], file: Path) -> None:
    """Extensions and forces of the legs, and the deviations with the three gains."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    figure = Figure(figsize=(12, 3.8), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    stiff = runs[1.0]
    for i in LEGS:
        left.plot(stiff.t, 1e3 * stiff[f"slider {i}"].displacement, label=f"leg {i}")
        axis = stiff[f"cylinder {i}"].rotation[:, :, 0]
        middle.plot(stiff.t, np.sum(stiff[f"control {i}"].force * axis, axis=1))
    for softness, solution in runs.items():
        right.plot(solution.t, 1e3 * np.abs(deviation(solution)).max(axis=1), label=f"gains / {softness:g}")
    left.set(xlabel="t [s]", ylabel="extension of the legs [mm]", ylim=(-20, 340))
    middle.set(xlabel="t [s]", ylabel="force of the legs [N]")
    right.set(xlabel="t [s]", ylabel="largest deviation from the set point [mm]", yscale="log", ylim=(1e-2, 1e2))
    left.legend(ncols=3, loc="upper center")
    right.legend()
    for axes in (left, middle, right):
        axes.grid(True, lw=0.4, alpha=0.5)
    figure.savefig(file, dpi=120)
    print(f"plot: {file}")


if __name__ == "__main__":
    main()
