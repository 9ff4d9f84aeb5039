"""What sensitivities cost: steps with none, one and three parameters, from runs of two lengths.

CPU time, the least of several rounds in which the runs take turns; more of it than the plain run, in percent of that
and per parameter.

    python benchmarks/sensitivities.py [step]
"""

from __future__ import annotations

import sys
import time
from itertools import pairwise

from cases import chain

import mbd

ROUNDS = 4


def loop() -> mbd.Model:
    """A four-bar linkage with two hinges and two balls."""
    model = mbd.Model("loop of 4", gravity=(0, 0, -9.81))
    points, bars = [(0, 0, 0), (0.2, 0, 0.5), (1.0, 0, 0.7), (1.2, 0, 0.1)], []
    for i, (a, b) in enumerate(pairwise(points)):
        middle = mbd.nodes.RotationVector([0.5 * (x + y) for x, y in zip(a, b, strict=True)])
        bars.append(model.add(mbd.RigidBody(f"bar {i + 1}", 1.0, (0.02, 0.03, 0.025), middle)))
    model.add(mbd.joints.Revolute(model.ground, bars[0], at=points[0], axis=(0, 1, 0)))
    model.add(mbd.joints.Spherical(bars[0], bars[1], at=points[1]))
    model.add(mbd.joints.Revolute(bars[1], bars[2], at=points[2], axis=(0, 1, 0)))
    model.add(mbd.joints.Spherical(bars[2], model.ground, at=points[3]))
    return model


def arm() -> mbd.Model:
    """Six links on hinges in joint coordinates, with a drive in each."""
    model = mbd.Model("six-joint arm", gravity=(0, 0, -9.81))
    last: mbd.Body = model.ground
    for i in range(6):
        start = mbd.nodes.RotationVector((0.3 * i + 0.15, 0, 0))
        link = model.add(mbd.RigidBody(f"bar {i + 1}", 2.0 - 0.2 * i, (0.02, 0.03, 0.025), start))
        axis = ((0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0))[i]
        hinge = model.add(mbd.joints.Revolute(last, link, at=(0.3 * i, 0, 0), axis=axis))
        model.add(mbd.forces.TorsionSpring(hinge, stiffness=20.0, damping=1.0))
        last = link
    return model.with_coordinates("joint")


def cost(model: mbd.Model, step: float, method: mbd.integrators.Integrator, count: int) -> str:
    """A line of the table: of a step, from runs of two lengths, and of what comes before the first one."""
    names = [f"bar {k}.mass" for k in (1, 2, 3)]
    best: dict[tuple[int, int], float] = {}
    rounds = 0.0
    for turn in range(ROUNDS + 1):  # the first one compiles
        for n in (0, 1, len(names)):
            given = {"sensitivities": names[:n]} if n else {}
            for steps in (count, 2 * count):
                clock = time.process_time()
                solution = mbd.simulate(model, steps * step, step, method, **given)
                spent = time.process_time() - clock
                if turn:
                    best[n, steps] = min(best.get((n, steps), spent), spent)
            rounds = solution.sensitivities.rounds if n else rounds
    loop = {n: (best[n, 2 * count] - best[n, count]) / count for n in (0, 1, len(names))}
    before = {n: best[n, count] - count * loop[n] for n in loop}
    one, each = (100.0 * (loop[n] / loop[0] - 1.0) / n for n in (1, len(names)))
    set_up = 1e3 * (before[len(names)] - before[0]) / len(names)
    return f"{1e6 * loop[0]:8.1f} us {one:6.0f} % {each:6.0f} % {rounds:5.2f} {set_up:8.1f} ms"


if __name__ == "__main__":
    step = float(sys.argv[1]) if len(sys.argv) > 1 else 1e-3
    print(f"step {step:g}: a step; more with one parameter, with three (each); corrections per step; set-up per parameter")
    methods = mbd.integrators
    for name, model, method in (
        ("loop of 4", loop(), methods.GeneralizedAlpha()),
        ("chain of 10", chain(10), methods.GeneralizedAlpha()),
        ("chain of 100", chain(100), methods.GeneralizedAlpha()),
        ("chain of 10, index 3", chain(10), methods.GeneralizedAlpha(stabilized=False)),
        ("chain of 10, joint coordinates", chain(10).with_coordinates("joint"), methods.GeneralizedAlpha()),
        ("six-joint arm", arm(), methods.GeneralizedAlpha()),
        ("loop of 4, RK4", loop(), methods.RK4()),
        ("six-joint arm, RK4", arm(), methods.RK4()),
    ):
        print(f"{name:32s} {cost(model, step, method, 200 if '100' in name else 1500)}", flush=True)
