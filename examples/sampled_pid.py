"""A slide under a PID controller that samples and saturates, as on a real machine.

The controller runs every ten steps, holds its force in between, and cannot push harder than its motor. Without
saturation the sampled loop is a linear recursion that can be written down exactly; with it, the integrator winds up
unless it is stopped.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mbd

MASS, DAMPING, LOAD = 2.0, 4.0, -3.0  # kg, N s/m, N
STEP, SAMPLE = 1e-3, 1e-2  # s
GOAL = 0.5  # m
OUTPUT = Path(__file__).resolve().parent.parent / "out"


def model() -> mbd.Model:
    """A mass on a rail with viscous friction, under a constant load; the motor's force is an input."""
    system = mbd.Model("slide")
    motor = system.input("motor")
    slide = system.add(mbd.RigidBody("slide", MASS, (0.01, 0.01, 0.01)))
    rail = system.add(mbd.joints.Prismatic(system.ground, slide, axis=(1, 0, 0), name="rail"))
    system.add(mbd.forces.JointFriction(rail, viscous=DAMPING))
    system.add(mbd.forces.JointForce(rail, motor + LOAD, name="motor"))
    return system


@dataclass
class PID:
    """A controller with memory: gains, the largest force, and whether its integral waits while that is reached."""

    proportional: float = 120.0
    integral: float = 150.0
    derivative: float = 25.0
    limit: float = np.inf
    waits: bool = True
    sum: float = 0.0

    def __call__(self, error: float, rate: float) -> float:
        """The force for the next sample."""
        wanted = self.proportional * error + self.sum - self.derivative * rate
        force = float(np.clip(wanted, -self.limit, self.limit))
        if force == wanted or not self.waits:
            self.sum += self.integral * SAMPLE * error
        return force


def run(controller: PID, seconds: float = 3.0) -> mbd.Solution:
    """The sampled loop."""
    sim = mbd.Simulator(model(), STEP)
    for _ in range(round(seconds / SAMPLE)):
        sim.inputs["motor"] = controller(GOAL - sim["rail"].displacement, sim["rail"].displacement_rate)
        sim.advance(SAMPLE)
    return sim.solution()


def exact(controller: PID, seconds: float = 3.0) -> np.ndarray:
    """The same loop, the motion between samples in closed form: displacements at the samples."""
    x = v = 0.0
    places = [x]
    decay = np.exp(-DAMPING / MASS * SAMPLE)
    for _ in range(round(seconds / SAMPLE)):
        terminal = (controller(GOAL - x, v) + LOAD) / DAMPING
        x += terminal * SAMPLE + (v - terminal) * MASS / DAMPING * (1.0 - decay)
        v = terminal + (v - terminal) * decay
        places.append(x)
    return np.array(places)


def main(directory: Path | None = None) -> None:
    """Compare with the recursion, and show what saturation does; a figure goes to a directory."""
    every = round(SAMPLE / STEP)
    print(f"{'controller':28} {'error':>9} {'overshoot':>10} {'largest force':>14} {'against recursion':>18}")
    ways = {}
    for name, options in {
        "no limit": {},
        "8 N, the integral waits": {"limit": 8.0},
        "8 N, the integral winds up": {"limit": 8.0, "waits": False},
    }.items():
        solution = run(PID(**options))
        way = ways[name] = solution["rail"].displacement
        gap = np.abs(way[::every] - exact(PID(**options))).max()
        force = np.abs(solution.inputs["motor"]).max()
        print(f"{name:28} {abs(way[-1] - GOAL):9.1e} {way.max() - GOAL:8.3f} m {force:12.1f} N {gap:16.1e} m")
    if directory is not None:
        plot(solution.t, ways, directory)


def plot(t: np.ndarray, ways: dict[str, np.ndarray], directory: Path) -> None:
    """The way of the slide with every controller."""
    try:
        import matplotlib
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 3.6), constrained_layout=True)
    for name, way in ways.items():
        ax.plot(t, way, label=name)
    ax.axhline(GOAL, color="k", lw=0.8, ls="--")
    ax.set(xlabel="time [s]", ylabel="displacement [m]")
    ax.grid(True, lw=0.4, alpha=0.5)
    ax.legend()
    directory.mkdir(parents=True, exist_ok=True)
    figure.savefig(directory / "sampled_pid.png", dpi=150)
    print(f"plot: {directory / 'sampled_pid.png'}")


if __name__ == "__main__":
    main(OUTPUT)
