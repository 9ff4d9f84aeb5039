"""Cost of one step of the structure-preserving methods against generalized-alpha, on a chain of bars.

Every method takes its default tolerance; the reference is index 3 with a new matrix in every Newton iteration.
The chain starts at rest in a horizontal line and falls.

Run: python benchmarks/structure_preserving.py [number of bars]
"""

from __future__ import annotations

import sys

from cases import chain, cpu_time

import mbd
from mbd.integrators import (
    GGLEM,
    DiscreteVariational,
    GeneralizedAlpha,
    GGLEuler,
    GGLMidpoint,
    GGLTrapezoidal,
    GonzalezEM,
    LieEM,
    LivensEM,
    LivensMidpoint,
    Rattle,
)

STEP, STEPS, REPEATS = 1e-3, 40, 5
RV, DIRECTORS, QUATERNION = mbd.nodes.RotationVector, mbd.nodes.Directors, mbd.nodes.Quaternion
REFERENCE = "GeneralizedAlpha, index 3, full Newton"
CASES = {
    REFERENCE: (GeneralizedAlpha(rho_inf=0.9, stabilized=False, newton="full"), RV),
    "GeneralizedAlpha, the default": (GeneralizedAlpha(), RV),
    "LieEM": (LieEM(), RV),
    "GonzalezEM, directors": (GonzalezEM(), DIRECTORS),
    "GGLEuler, directors": (GGLEuler(), DIRECTORS),
    "GGLMidpoint, directors": (GGLMidpoint(), DIRECTORS),
    "GGLTrapezoidal, directors": (GGLTrapezoidal(), DIRECTORS),
    "GGLEM, directors": (GGLEM(), DIRECTORS),
    "LivensEM, directors": (LivensEM(), DIRECTORS),
    "LivensEM, quaternions": (LivensEM(), QUATERNION),
    "LivensMidpoint, quaternions": (LivensMidpoint(), QUATERNION),
    "DiscreteVariational, quaternions": (DiscreteVariational(), QUATERNION),
    "Rattle, directors": (Rattle(), DIRECTORS),
}


def measure(n: int) -> dict[str, tuple[float, float]]:
    """(CPU time of a step in s, Newton iterations per step) of every method; the methods take turns."""
    runs, found = {}, {}
    for name, (method, node) in CASES.items():
        system = mbd.assemble(chain(n, node))
        method.check(system)
        run = method.start(system, *system.initial_state(), 0.0, STEP, None)
        empty = [y[None][:0] for y in run.initial_row()]
        if run.advance(5, 10**9, empty) < 5:
            raise SystemExit(f"{name}: {run.failure()[1]}")
        runs[name] = run, empty
        found[name] = [float("inf"), 0.0]
    for _ in range(REPEATS):
        for name, (run, empty) in runs.items():
            before = run.statistics()["newton_iterations"]
            time = cpu_time(lambda run=run, empty=empty: run.advance(STEPS, 10**9, empty), 1) / STEPS  # type: ignore[misc]
            found[name][0] = min(found[name][0], time)
            found[name][1] = (run.statistics()["newton_iterations"] - before) / STEPS
    return {name: (time, iterations) for name, (time, iterations) in found.items()}


def main(n: int = 1000) -> None:
    """Print the table."""
    results = measure(n)
    unit = results[REFERENCE][0]
    print(f"chain of {n} bars, h = {STEP:g} s\n")
    print("| method | ms/step | Newton iterations | ratio |")
    print("|---|---|---|---|")
    for name, (time, iterations) in results.items():
        print(f"| {name} | {1e3 * time:.2f} | {iterations:.2f} | {time / unit:.2f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
