"""The tennis-racket effect: a body thrown with a spin about its middle axis turns over again and again.

The time between two flips is 2 K / (lambda k3), a complete elliptic integral of the first kind [Vilmart 2013, Alg. 1].
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.special import ellipkm1

import mbd

MOMENTS = np.array((0.00121, 0.01638, 0.01748))  # kg m^2, about the handle, in the plane, normal to the strings
MASS, SPIN = 0.3, 12.0  # kg, rad/s
OUTPUT = Path(__file__).resolve().parent.parent / "out"


def model(tilt: float = 0.01) -> mbd.Model:
    """A racket thrown upwards, spinning about its middle axis up to a small tilt."""
    system = mbd.Model("tennis racket", gravity=(0, 0, -9.81))
    node = mbd.nodes.Quaternion(velocity=(0, 0, 15.0), angular_velocity=(tilt * SPIN, SPIN, tilt * SPIN))
    system.add(mbd.RigidBody("racket", MASS, MOMENTS, node, shape=racket()))
    return system


def racket() -> mbd.shapes.Composite:
    """A head with two faces of different colours, and a handle along the first axis."""
    shapes = mbd.shapes
    return shapes.Composite(
        shapes.Cylinder(radius=0.135, height=0.011, centre=(0.16, 0, 0.0055), colour="blue"),
        shapes.Cylinder(radius=0.135, height=0.011, centre=(0.16, 0, -0.0055), colour="orange"),
        shapes.Capsule(radius=0.014, height=0.33, axis=(1, 0, 0), centre=(-0.13, 0, 0), colour="steel"),
    )


def flip_time(y: np.ndarray) -> float:
    """Time between two flips from the momentum in principal axes, for c2 y1^2 < c1 y3^2 and for the other branch."""
    i1, i2, i3 = MOMENTS
    if i3 * (i2 - i1) * y[0] ** 2 > i1 * (i3 - i2) * y[2] ** 2:
        i1, i3, y = i3, i1, y[::-1]
    c1 = i1 * (i3 - i2) / (i2 * (i3 - i1))
    k3 = np.sqrt((1 - c1) * y[1] ** 2 + y[2] ** 2)
    complement = (c1 * y[2] ** 2 - (1 - c1) * y[0] ** 2) / (c1 * k3**2)
    speed = np.sqrt((i3 - i2) * (i3 - i1) / (i1 * i2)) / i3
    return float(2.0 * ellipkm1(complement) / (speed * k3))


def main(directory: Path | None = OUTPUT) -> mbd.Solution:
    """Simulate the flight, measure the flips, and plot the angular velocities."""
    solution = mbd.simulate(model(), t_end=3.0, step=1e-3, integrator=mbd.integrators.JacobiExact())
    omega = solution["racket"].angular_velocity
    k = np.flatnonzero(omega[1:, 1] * omega[:-1, 1] < 0)
    flips = solution.t[k] + 1e-3 * omega[k, 1] / (omega[k, 1] - omega[k + 1, 1])
    expected = flip_time(MOMENTS * omega[0])
    print(f"flips at {np.array2string(flips, precision=4)} s")
    print(f"time between flips {np.diff(flips).mean():.5f} s, elliptic integral {expected:.5f} s")
    if directory is not None:
        plot(solution, flips, directory)
        mbd.view.film(solution, directory / "tennis_racket.mp4", speed=0.5, follow="racket")
    return solution


def plot(solution: mbd.Solution, flips: np.ndarray, directory: Path) -> None:
    """Angular velocities, and the direction of the middle axis."""
    try:
        import matplotlib
    except ImportError:
        print("no plot: matplotlib is not installed")
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    omega = solution["racket"].angular_velocity
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(9, 6), sharex=True)
    for j, colour in enumerate(("tab:red", "tab:green", "tab:blue")):
        top.plot(solution.t, omega[:, j], color=colour, label=f"axis {j + 1}")
    for flip in flips:
        bottom.axvline(flip, color="0.8")
    top.set(ylabel="angular velocity in rad/s", title="tennis racket: spin about the middle axis is unstable")
    top.legend(loc="lower left")
    momentum = np.einsum("nij,nj->ni", solution["racket"].rotation, MOMENTS * omega)
    cosine = np.einsum("ni,ni->n", solution["racket"].rotation[:, :, 1], momentum) / np.linalg.norm(momentum[0])
    bottom.plot(solution.t, cosine, color="tab:green", label="cos(momentum, middle axis)")
    bottom.plot(solution.t, solution["racket"].position[:, 2] / 12.0, "--", color="0.4", label="height / 12 m")
    bottom.set(xlabel="time in s")
    bottom.legend(loc="lower left")
    figure.tight_layout()
    directory.mkdir(parents=True, exist_ok=True)
    figure.savefig(directory / "tennis_racket.png", dpi=120)
    plt.close(figure)
    print(f"plot: {directory / 'tennis_racket.png'}")


if __name__ == "__main__":
    main()
