"""A Gymnasium environment around a Simulator (``pip install gymnasium``): balance the pole of ``cart_pole.py``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import mbd

sys.path.insert(0, str(Path(__file__).resolve().parent))
from cart_pole import gains, model

OUTPUT = Path(__file__).resolve().parent.parent / "out"
SAMPLE, LIMIT, REACH = 0.02, 10.0, (2.4, 0.2)  # s, N, m and rad


class CartPole(gymnasium.Env):
    """Push the cart with a force between -1 and 1 times the limit; a point for every sample that the pole stands."""

    action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
    observation_space = gymnasium.spaces.Box(-100.0, 100.0, (4,), np.float32)

    def __init__(self, record: bool = False) -> None:
        self.sim = mbd.Simulator(model(), 2e-3, record=record)
        self.rail, self.hinge = self.sim["rail"], self.sim["hinge"]

    def observation(self) -> np.ndarray:
        """Displacement and angle, and their rates."""
        rail, hinge = self.rail, self.hinge
        values = rail.displacement, hinge.angle, rail.displacement_rate, hinge.angle_rate
        return np.array(values, dtype=np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        """Upright, with a push of some milliseconds that differs from episode to episode."""
        super().reset(seed=seed, options=options)
        self.sim.reset()
        self.sim.inputs["force"] = self.np_random.uniform(-5.0, 5.0)
        self.sim.advance(0.01)
        return self.observation(), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        """Hold a force for a sample."""
        self.sim.inputs["force"] = LIMIT * float(action[0])
        self.sim.advance(SAMPLE)
        seen = self.observation()
        return seen, 1.0, bool((np.abs(seen[:2]) > REACH).any()), self.sim.t > 10.0, {}


def episode(environment: CartPole, gain: np.ndarray, seed: int) -> float:
    """What a linear policy reaches."""
    seen, _ = environment.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        seen, reward, fell, late, _ = environment.step(np.clip([-gain @ seen / LIMIT], -1.0, 1.0))
        total, over = total + reward, fell or late
    return total


def draw(rng: np.random.Generator, directory: Path) -> None:
    """The angle of the pole in some episodes of each policy."""
    import matplotlib.pyplot as plt

    environment = CartPole(record=True)
    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    for seed in range(5):
        for name, colour, gain in (("random gains", "C1", rng.normal(0, 10, 4)), ("regulator", "C0", gains())):
            episode(environment, gain, seed)
            run = environment.sim.solution()
            axes.plot(run.t, run["hinge"].angle, colour, lw=1.2, label=name if seed == 0 else None)
    axes.axhspan(-REACH[1], REACH[1], color="0.93", zorder=0, label="the pole stands")
    axes.set(xlim=(0.0, 3.0), xlabel="t [s]", ylabel="angle of the pole [rad]")
    axes.legend(loc="upper right")
    directory.mkdir(parents=True, exist_ok=True)
    figure.savefig(directory / "gymnasium_cart_pole.png", dpi=150)
    plt.close(figure)
    print(f"plot: {directory / 'gymnasium_cart_pole.png'}")


def main(directory: Path | None = None) -> None:
    """Pushing at random, against the regulator; a plot goes to a directory."""
    environment, rng = CartPole(), np.random.default_rng(0)
    print("policy            samples that the pole stands (500: ten seconds)")
    print(f"random gains      {np.mean([episode(environment, rng.normal(0, 10, 4), seed) for seed in range(5)]):6.1f}")
    print(f"regulator         {np.mean([episode(environment, gains(), seed) for seed in range(5)]):6.1f}")
    if directory is not None:
        draw(rng, directory)


if __name__ == "__main__":
    main(OUTPUT)
