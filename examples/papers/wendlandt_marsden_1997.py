"""Double spherical pendulum: discrete variational principle and energy-momentum scheme [Wendlandt & Marsden 1997].

What the paper says and what the figure shows: both methods are of second order in position, with a slightly larger
error of the energy-momentum scheme (Fig. 8); the energy-momentum scheme keeps the energy, the variational one follows
it with an error of second order (Table 2).

Run: python examples/papers/wendlandt_marsden_1997.py [directory for the figure]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import mbd
from mbd.integrators import DiscreteVariational, GonzalezEM, Rattle, Shake
from mbd.study.compare import Study


def double_pendulum() -> mbd.Model:
    """Masses 2.0 and 3.5 kg on rods of 4 and 3 m; heights and vertical velocities follow from the rods."""
    xy, rates = np.array([[2.820, 0.025], [5.085, 0.105]]), np.array([[3.381, 2.506], [2.497, 10.495]])
    step, rate = np.diff(xy, axis=0, prepend=np.zeros((1, 2))), np.diff(rates, axis=0, prepend=np.zeros((1, 2)))
    dz = -np.sqrt(np.array([16.0, 9.0]) - np.sum(step**2, axis=1))
    dw = -np.sum(step * rate, axis=1) / dz
    model = mbd.Model("double spherical pendulum", gravity=(0, 0, -9.81))
    last, height, speed = model.ground, 0.0, 0.0
    for k, mass in enumerate((2.0, 3.5)):
        height, speed = height + dz[k], speed + dw[k]
        body = mbd.PointMass(f"mass {k + 1}", mass, position=(*xy[k], height), velocity=(*rates[k], speed))
        model.add(mbd.joints.Distance(last, model.add(body), point_a=(0, 0, 0), point_b=(0, 0, 0)))
        last = body
    return model


def positions(solution: mbd.Solution) -> np.ndarray:
    """Both masses at the end."""
    return np.concatenate([solution["mass 1"].position[-1], solution["mass 2"].position[-1]])


def main(directory: Path = Path("out"), steps: int = 4) -> Study:
    """Study with so many steps."""
    exact = (2.187197813595, 4.312135826045)  # y of both masses at t = 5, index-1 form with DOP853
    methods = [DiscreteVariational(), Shake(), Rattle(), GonzalezEM()]
    study = mbd.compare(
        double_pendulum(), methods, steps=[0.1, 0.03125, 0.01, 0.003125][:steps], t_end=5.0, reference=exact,
        processes=1, quantity=lambda solution: positions(solution)[[1, 4]],
    )  # fmt: skip
    print(study)
    directory.mkdir(parents=True, exist_ok=True)
    study.plot(directory / "double_pendulum.png")
    return study


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
