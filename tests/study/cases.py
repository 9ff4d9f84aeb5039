"""Functions that studies in the tests are made of; workers import this file."""

from __future__ import annotations

import os
import signal
import time
import warnings

import numpy as np

import mbd

SCALE = 2.0


def pendulum(length: float, mass: float, rng: np.random.Generator) -> mbd.Model:
    """A physical pendulum that is let go from the side, with a random speed."""
    model = mbd.Model("pendulum", gravity=(0, 0, -9.81))
    speed = float(rng.normal())
    node = mbd.nodes.RotationVector(
        position=(length, 0, 0), velocity=(0, 0, -speed * length), angular_velocity=(0, speed, 0)
    )
    arm = model.add(mbd.RigidBody("arm", mass, (0.1, 0.1, 0.1), node))
    model.add(mbd.joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    return model


PENDULUM = {"t_end": 0.05, "step": 1e-3}
PENDULUM_OUTPUTS = {"angle": "hinge.angle[-1]", "path": "arm.position[::10]", "energy": "energy.total[-1]"}


def numbers(x: float, rng: np.random.Generator) -> dict[str, object]:
    """A run that takes no time."""
    return {"square": SCALE * x * x, "pair": np.array([x, rng.normal()])}


def same(result: object) -> object:
    """Outputs that are already a dictionary."""
    return result


def troubled(x: float, rng: np.random.Generator, folder: str = "", killers: str = "", hang: float = -1.0) -> object:
    """Runs of which some fail, kill their process or do not end; a note is left of every run."""
    if folder:
        with open(os.path.join(folder, "made"), "a") as file:
            file.write(f"{x:g}\n")
    if f"{x:g}" in killers.split():
        os.kill(os.getpid(), signal.SIGKILL)
    if x == 7.0:
        raise ValueError("seven is not allowed")
    if x == 11.0:
        warnings.warn("eleven is strange", stacklevel=1)
    if x == hang:
        while True:
            time.sleep(0.01)
    return numbers(x, rng)


def stuck(x: float) -> float:
    """A run that cannot be ended from inside: it does not come back to Python code."""
    if x == 3.0:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        time.sleep(1000.0)
    return x


def slow(x: float, rng: np.random.Generator) -> object:
    """A run that takes a moment."""
    time.sleep(0.01)
    return numbers(x, rng)
