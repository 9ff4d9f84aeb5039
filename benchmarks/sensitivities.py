"""What sensitivities cost: steps with none, one and three parameters, of 300 steps.

CPU time, the least of several rounds in which the runs take turns; more of it than the plain run, in percent of that
and per parameter.

    python benchmarks/sensitivities.py [step]
"""

from __future__ import annotations

import sys
import time
from itertools import pairwise
from typing import Any

import numpy as np
from cases import chain

import mbd
from mbd.integrators.followed import Beside
from mbd.simulation.sensitivities import _beside
from mbd.simulation.starting import found_start

ROUNDS = 6


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


def followed(model: mbd.Model, names: list[str], step: float, method: Any, count: int) -> tuple[float, float]:
    """(CPU time of all steps, corrections per step) with sensitivities with respect to these parameters."""
    system = mbd.assemble(model)
    q, v, _ = found_start(system, 0.0, None)
    run = method.start(system, q, v, 0.0, step, None)
    out = [np.zeros((count, len(x))) for x in run.row()]
    if not names:
        clock = time.process_time()
        run.advance(count, 1, out)
        return time.process_time() - clock, 0.0
    sizes, pairs = _beside(system, names)
    sides = []
    for pair in pairs:
        ends = [(one, *found_start(one, 0.0, None)[:2]) for one in pair]
        sides.append(tuple(Beside(*end, method.start(*end, 0.0, step, None)) for end in ends))
    follower = method.followed()(run, sides, sizes, q, count)
    more = [np.zeros((len(names) * (count + 1), n)) for n in (system.n_v,) * 3 + (system.n_l,)]
    clock = time.process_time()
    assert follower.advance(count, 1, out, more) == count, follower.obstacle
    return time.process_time() - clock, follower.rounds


def cost(model: mbd.Model, step: float, method: Any, count: int) -> str:
    """A line of the table."""
    names = [f"bar {k}.mass" for k in (1, 2, 3)]
    best: dict[int, float] = {}
    rounds = 0.0
    for _ in range(ROUNDS):
        for n in (0, 1, len(names)):
            spent, rounds = followed(model, names[:n], step, method, count)
            best[n] = min(best.get(n, spent), spent)
    one, each = (100.0 * (best[n] / best[0] - 1.0) / n for n in (1, len(names)))
    return f"{1e6 * best[0] / count:8.1f} us {one:6.0f} % {each:6.0f} % {rounds:6.2f}"


if __name__ == "__main__":
    step = float(sys.argv[1]) if len(sys.argv) > 1 else 1e-3
    print(f"step {step:g}: a step; more with one parameter, with three (each); corrections per step")
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
        print(f"{name:32s} {cost(model, step, method, 100 if '100' in name else 300)}", flush=True)
