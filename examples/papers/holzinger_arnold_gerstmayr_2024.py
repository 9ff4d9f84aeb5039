"""Lie group and conventional rotation parameters, explicit and implicit [Holzinger, Arnold & Gerstmayr 2024].

Convergence and work-precision of the heavy top (without and with a joint), the high-speed rotor and the slider-crank
in rotation vectors on the Lie group (RV), Tait-Bryan angles and Euler parameters (quaternions).

What the paper says and what the figures show:

- Explicit methods on the Lie group outperform Cardan angles (Rxyz) on the top without constraints, by about 40 times
  in computing time at an error of 1e-6 (Fig. 5): here Cardan angles need steps 32 times smaller for the same error,
  each of which costs at least twice as much. The reason is their singularity, which the spin of this top passes in
  every turn: with steps of 6.25e-5 s and more the run stops there with a message (Table 4 has no entries above that
  step either). Angles whose *last* rotation is the spin ("xzy") do not meet it and are by far the most accurate choice
  for this top, which the paper does not try.
- Euler parameters are the most accurate of the three choices of the paper with generalized-alpha: on the top by a
  factor of 11 (Fig. 3, right), with a joint of 3.5 (Fig. 6), on the slider-crank of 3.6 against rotation vectors and
  2.4 against Cardan angles (Fig. 16). For an error of 1e-4 of the top they need less than half the time of the Lie
  group method (Fig. 5: about a quarter). With RK4 their errors are smaller too, at twice the time per step.
- On the slider-crank the conventional formulations are more accurate than the Lie group method for steps above 1e-4 s
  (Fig. 16); the paper sees them on a par below 1e-5 s, here the factor stays.
- On the rotor (Figs. 11, 13) the explicit Lie group method is better than Cardan angles by more than four orders of
  magnitude at 6.25e-6 s, and than Euler parameters by more than two. With generalized-alpha Cardan angles run at every
  step but have no correct digit above 3e-6 s; Euler parameters do not converge for steps of 1.25e-5 s and more, exactly
  as in Table 7, and are 19 times more accurate than the Lie group method at 6.25e-6 s.
- All implicit runs take one or two Newton iterations per step, fewer than in Tables 4 and 7, because every coordinate
  has its exact tangent and the iteration starts from an extrapolation; so the Lie group method has no advantage there.

Run: python examples/papers/holzinger_arnold_gerstmayr_2024.py [directory for the figures]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import mbd
from mbd.integrators import RK4, GeneralizedAlpha
from mbd.study.compare import Study

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the models are examples of their own
import heavy_top
import high_speed_rotor
import slider_crank

RV, EP = mbd.nodes.RotationVector, mbd.nodes.Quaternion
CARDAN = mbd.nodes.EulerAngles(sequence="xyz")  # of the paper; the spin of the top is the angle that can lock
SPIN_LAST = mbd.nodes.EulerAngles(sequence="xzy")
THREE = [RV, CARDAN, EP]
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
    """All comparisons with so many steps each; Cardan angles of the explicit top go on to steps that they need."""
    implicit, explicit = [GeneralizedAlpha(rho_inf=0.9, stabilized=False, newton="full")], [RK4()]
    nodes, exact = [RV, CARDAN, SPIN_LAST, EP], heavy_top.EXACT
    slider_end = np.array([slider_crank.REFERENCE[5.0]])
    cases: dict[str, tuple[mbd.Model, Any, Any, list[float], float, Any, Any]] = {
        "top_explicit": (heavy_top.pinned(), explicit, nodes, halved(1e-3, count + 5), 1.0, exact, top_centre),
        "top_implicit": (heavy_top.pinned(), implicit, nodes, halved(1e-3, count + 2), 1.0, exact, top_centre),
        "top_joint": (heavy_top.jointed(), implicit, nodes, halved(1e-3, count + 2), 1.0, exact, top_centre),
        "rotor_explicit": (high_speed_rotor.model(), explicit, THREE, halved(5e-5, count - 2), 4.0, ROTOR, rotor_point),
        "rotor_implicit": (high_speed_rotor.model(), implicit, THREE, halved(5e-5, count - 1), 4.0, ROTOR, rotor_point),
        "slider_crank": (slider_crank.model(), implicit, THREE, halved(4e-3, count + 1), 5.0, slider_end, slider),
    }
    return {
        name: mbd.compare(model, methods, kinds, steps, t_end, reference=value, quantity=quantity, processes=1)
        for name, (model, methods, kinds, steps, t_end, value, quantity) in cases.items()
        if steps
    }


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
