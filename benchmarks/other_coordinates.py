"""Cost of a method on coordinates that it is not written for, against the same model in its own coordinates.

Every step is recorded, and every tenth. Runs take turns, and the least CPU time of each counts; assembly and start are
left out, the conversion of all records is not.

Run: python benchmarks/other_coordinates.py [repeats]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from cases import BAR_INERTIA, chain, cpu_time
from golden import loop

import mbd
from mbd.integrators import GGLEM, DiscreteVariational, GonzalezEM, LieEM, LivensEM, Rattle, RATTLie
from mbd.nodes import Directors, EulerAngles, Quaternion, RotationVector

STEP, SECONDS, EVERY = 1e-4, 0.05, (1, 10)
LIE = RotationVector()
OWN = {
    GGLEM(): Directors(), Rattle(): Directors(), GonzalezEM(): Directors(), LieEM(): LIE, RATTLie(): LIE,
    DiscreteVariational(): Quaternion(), LivensEM(): Quaternion(),
}  # fmt: skip
OTHERS = {
    "Lie": LIE,
    "quaternions": Quaternion(),
    "directors": Directors(),
    "Euler angles": EulerAngles(sequence="yzx"),
}


def single() -> mbd.Model:
    """A body on a ball joint."""
    model = mbd.Model("body", gravity=(0, 0, -9.81))
    node = RotationVector(position=(0, 0.2, 1), angular_velocity=(1.0, 0.5, 20.0))
    body = model.add(mbd.RigidBody("body", 2.0, (0.3, 0.5, 0.4), node))
    model.add(mbd.joints.Spherical(model.ground, body, at=(0, 0, 0)))
    return model


def hinges(n: int) -> mbd.Model:
    """A chain of bars on hinges, whose axes alternate."""
    model, previous = mbd.Model(f"{n} hinges", gravity=(0, 0, -9.81)), None
    for i in range(n):
        bar = model.add(mbd.RigidBody(f"bar {i}", 1.0, BAR_INERTIA, RotationVector(position=(i + 0.5, 0, 0))))
        axis = (0, 1, 0) if i % 2 else (0, 1, 1)
        model.add(mbd.joints.Revolute(previous or model.ground, bar, at=(i, 0, 0), axis=axis))
        previous = bar
    return model


MODELS = {"one body": single(), "loop of 4": loop(), "chain of 100": hinges(100), "100 balls": chain(100)}


class Timed:
    """A run whose steps are timed, from the same state again and again."""

    def __init__(self, model: mbd.Model, method: Any) -> None:
        self.system, self.method = mbd.assemble(model), method
        method.check(self.system)
        first = mbd.simulate(model, STEP, STEP, method, progress=False)
        run = method.start(self.system, first.q[0], first.v[0], 0.0, STEP, None)
        self.widths = [len(y) for y in run.row()]
        run.advance(20, 100, [np.zeros((1, n)) for n in self.widths])
        self.state = run.state()

    def time(self, steps: int, every: int) -> float:
        run, out = self.method.resume(self.system, self.state), [np.zeros((steps // every + 2, n)) for n in self.widths]
        time = cpu_time(lambda: run.advance(steps, every, out), 1) / steps
        if run.index < 20 + steps:
            raise SystemExit(f"{self.method.name}: {run.failure()[1]}")
        return time


def compare(model: mbd.Model, method: Any, repeats: int) -> Iterator[tuple[str, list[float]]]:
    """(coordinates, us of a step in the method's own ones, and the extra cost of these, in percent, for all EVERY)."""
    own = OWN[method]
    models = {"own": model.with_nodes(own)}
    others = {name: model.with_nodes(node) for name, node in OTHERS.items()}
    models |= {name: m for name, m in others.items() if method.steps_elsewhere(mbd.assemble(m))}
    models["joint coordinates"] = model.with_nodes(own).with_coordinates("joint")
    if method.joint_coordinates:
        del models["joint coordinates"]
    runs = {name: Timed(m, method) for name, m in models.items()}
    steps = int(min(5000, max(20, SECONDS / runs["own"].time(20, 1)))) // 10 * 10
    best = {(name, every): np.inf for name in runs for every in EVERY}
    for _ in range(repeats):
        for name, run in runs.items():
            for every in EVERY:
                best[name, every] = min(best[name, every], run.time(steps, every))
    for name in runs:
        yield name, [1e6 * best["own", 1], *(100.0 * (best[name, e] / best["own", e] - 1.0) for e in EVERY)]


def main(repeats: int = 9) -> None:
    """Print the table."""
    print("| method | model | coordinates | us/step | all records, % more | every tenth, % more |")
    print("|---|---|---|---|---|---|")
    for method in OWN:
        for label, model in MODELS.items():
            for name, (unit, *more) in compare(model, method, repeats):
                if name != "own":
                    print(
                        f"| {method.name} | {label} | {name} | {unit:.1f} | {more[0]:.0f} | {more[1]:.0f} |", flush=True
                    )


if __name__ == "__main__":
    main(*(int(x) for x in sys.argv[1:]))
