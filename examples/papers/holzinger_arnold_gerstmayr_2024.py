"""Lie group and conventional rotation parameters, explicit and implicit [Holzinger, Arnold & Gerstmayr 2024].

Convergence and work-precision of the heavy top (without and with a joint), the high-speed rotor and the slider-crank
in rotation vectors on the Lie group (RV), Tait-Bryan angles and Euler parameters (quaternions).

PLACEHOLDER

Run: python examples/papers/holzinger_arnold_gerstmayr_2024.py [directory for the figures]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import mbd
from mbd.integrators import RK4, RK6, GeneralizedAlpha, Integrator
from mbd.study.compare import Study

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the models are examples of their own
import heavy_top
import high_speed_rotor
import slider_crank

RV, EP = mbd.nodes.RotationVector, mbd.nodes.Quaternion
ANGLES = mbd.nodes.EulerAngles(sequence="xzy")  # "xyz" angles of this top lock in its first turn
CARDAN = mbd.nodes.EulerAngles(sequence="xyz")
ROTOR = np.array((-0.1100000004073, 2.8048939714e-4, -6.883146877e-5))  # left bearing at t = 4, RKMK4 extrapolated


def halved(first: float, count: int) -> list[float]:
    """Steps, each half of the one before."""
    return [first / 2**k for k in range(count)]


def top_centre(solution: mbd.Solution) -> np.ndarray:
    """Centre of mass of the top at the end."""
    return solution["top"].com[-1]


def rotor_point(solution: mbd.Solution) -> np.ndarray:
    """Point of the rotor at the left bearing at the end."""
    return solution["rotor"].point(high_speed_rotor.LEFT)[-1]


def slider(solution: mbd.Solution) -> np.ndarray:
    """Position of the slider at the end."""
    return solution["slider"].position[-1, :1]


def studies(count: int) -> dict[str, Study]:
    """All comparisons with so many steps each."""
    implicit: list[Integrator] = [GeneralizedAlpha(rho_inf=0.9)]
    explicit: list[Integrator] = [RK4(), RK6()]
    exact = heavy_top.EXACT
    return {
        "top_explicit": mbd.compare(
            heavy_top.pinned(), explicit, [RV, ANGLES, EP], halved(1e-3, count), 1.0, reference=exact,
            quantity=top_centre, processes=1,
        ),
        "top_implicit": mbd.compare(
            heavy_top.pinned(), implicit, [RV, ANGLES, CARDAN, EP], halved(1e-3, count), 1.0, reference=exact,
            quantity=top_centre, processes=1,
        ),
        "top_joint_implicit": mbd.compare(
            heavy_top.jointed(), implicit, [RV, ANGLES, EP], halved(1e-3, count), 1.0, reference=exact,
            quantity=top_centre, processes=1,
        ),
        "rotor_explicit": mbd.compare(
            high_speed_rotor.model(), [RK4()], [RV, CARDAN, EP], halved(5e-5, count - 2), 4.0, reference=ROTOR,
            quantity=rotor_point, processes=1,
        ),
        "rotor_implicit": mbd.compare(
            high_speed_rotor.model(), implicit, [RV, CARDAN, EP], halved(5e-5, count - 1), 4.0, reference=ROTOR,
            quantity=rotor_point, processes=1,
        ),
        "slider_crank_implicit": mbd.compare(
            slider_crank.model(), implicit, [RV, CARDAN, EP], halved(4e-3, count), 5.0,
            reference=np.array([slider_crank.REFERENCE[5.0]]), quantity=slider, processes=1,
        ),
    }  # fmt: skip


def time_at(cells: list, error: float) -> float:
    """Computing time for a given error, interpolated in logarithms; NaN outside of the range."""
    x, y = np.log([c.error for c in cells])[::-1], np.log([c.time for c in cells])[::-1]
    value = np.log(error)
    return float(np.exp(np.interp(value, x, y))) if x[0] <= value <= x[-1] else np.nan


def main(directory: Path = Path("out"), count: int = 6) -> dict[str, Study]:
    """Tables and figures of all comparisons."""
    directory.mkdir(parents=True, exist_ok=True)
    results = studies(count)
    for name, study in results.items():
        print(name)
        print(study)
        study.plot(directory / f"holzinger_{name}.png")
    return results


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
