"""Work-precision diagrams with every method that takes a model: a spinning top, a closed loop, an arm.

    python benchmarks/work_precision.py            all three, in some minutes
    python benchmarks/work_precision.py top arm    these

Errors are those of the frames of all bodies at the end, against a fine run of RK6. Pictures go to docs/images and are
shown on docs/which_integrator.md. Methods are found by introspection; what refuses a model is printed with its reason.
Methods with step-size control run with their default tolerances, whatever the step is.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from which_integrator import ROTATION_VECTOR, chain, spinning

import mbd
from mbd.study.compatibility import all_integrators

IMAGES = Path(__file__).parents[1] / "docs" / "images"


class Diagram(NamedTuple):
    """A model with the steps of its runs, and that of the reference."""

    model: Callable[[], mbd.Model]
    t_end: float
    steps: tuple[float, ...]
    fine: float


def loop() -> mbd.Model:
    """A square of four bars on balls, thrown and turned."""
    model = mbd.Model("closed loop", gravity=(0, 0, -9.81))
    bars, spin = [], np.array((1.0, 2.0, 3.0))
    for k, (x, y, along) in enumerate(((1, 0, 1), (0, 1, 0), (-1, 0, 1), (0, -1, 0))):
        inertia = [0.03 if i == along else 0.34 for i in range(3)]
        start = ROTATION_VECTOR((x, y, 0), velocity=np.cross(spin, (x, y, 0)), angular_velocity=spin)
        bars.append(model.add(mbd.RigidBody(f"bar {k}", 1.0, inertia, start)))
    for k, corner in enumerate(((1, 1, 0), (-1, 1, 0), (-1, -1, 0), (1, -1, 0))):
        model.add(mbd.joints.Spherical(bars[k], bars[(k + 1) % 4], at=corner))
    return model


def arm() -> mbd.Model:
    """Six bars on hinges with springs and some damping."""
    model = chain(6)
    model.name = "arm"
    for k in range(6):
        model.add(mbd.forces.TorsionSpring(model[f"joint {k}"], stiffness=20.0, damping=0.5))
    return model


DIAGRAMS = {
    "top": Diagram(spinning, 0.1, (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4), 1e-5),
    "loop": Diagram(loop, 1.0, (0.05, 0.025, 0.0125, 0.00625), 5e-4),
    "arm": Diagram(arm, 0.5, (0.025, 0.0125, 0.00625, 0.003125), 5e-4),
}


def main() -> None:
    for name in sys.argv[1:] or DIAGRAMS:
        diagram = DIAGRAMS[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reference = mbd.simulate(diagram.model(), diagram.t_end, diagram.fine, mbd.integrators.RK6())
            study = mbd.compare(
                diagram.model(), all_integrators(), steps=diagram.steps, t_end=diagram.t_end, reference=reference,
                processes=1, progress=False,
            )  # fmt: skip
        study.plot(IMAGES / f"work_precision_{name}.png")
        print(study, flush=True)


if __name__ == "__main__":
    main()
