"""What sensitivities cost: steps with none, 1, 4 and 16 parameters, which are parts of masses.

CPU time, the least of several rounds in which the runs take turns; more of it than the plain run, in percent of that
and per parameter. "each" is what a further one costs beside four. A second table has a pendulum with four parameters of
each kind: masses, stiffness, damping, lengths; and one of each.

    python benchmarks/sensitivities.py [steps [step]]
"""

from __future__ import annotations

import sys
import time
from itertools import pairwise
from typing import Any

import numpy as np
from cases import chain, heavy_top

import mbd
from mbd.benchmarks.puma import puma
from mbd.simulation.neighbours import Neighbours, Starts
from mbd.simulation.starting import found_start

ROUNDS, NUMBERS = 5, (0, 1, 4, 16)


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


def with_parts(model: mbd.Model) -> mbd.Model:
    """The masses of the bodies, in turn, have parts that are parameters."""
    bodies = model.bodies[: max(NUMBERS)]
    masses = [body.mass for body in bodies]
    for i in range(max(NUMBERS)):  # expressions grow: a mass that is assigned again is read as a plain number
        masses[i % len(bodies)] = masses[i % len(bodies)] + model.parameter(f"part {i}", 0.01)
    for body, mass in zip(bodies, masses, strict=True):
        body.mass = mass
    return model


KINDS = ("mass", "stiffness", "damping", "length")


def pendulum() -> mbd.Model:
    """A pendulum with a torsion spring, all numbers of which have four parts that are parameters."""
    model = mbd.Model("pendulum", gravity=(0, 0, -9.81))
    parts = {kind: [model.parameter(f"{kind} {k}", 0.1) for k in range(4)] for kind in KINDS}
    mass, stiffness, damping, length = (x + sum(parts[kind]) for kind, x in zip(KINDS, (1.5, 3, 0.1, 0.3), strict=True))
    rod = model.add(mbd.RigidBody("rod", mass, (0.1, 0.12, 0.11), mbd.nodes.RotationVector((length, 0, 0))))
    hinge = model.add(mbd.joints.Revolute(model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(mbd.forces.TorsionSpring(hinge, stiffness=stiffness, damping=damping))
    return model


def cost_of_kinds(model: mbd.Model, step: float, method: Any, count: int) -> str:
    """A line of the second table: per parameter, with four of each kind and with one of each."""
    sets = [[], *([f"{kind} {k}" for k in range(4)] for kind in KINDS), [f"{kind} 0" for kind in KINDS]]
    spent = [min(followed(model, names, step, method, count)[0] for _ in range(ROUNDS)) for names in sets]
    return " ".join(f"{100.0 * (x / spent[0] - 1.0) / 4.0:6.0f} %" for x in spent[1:])


def followed(model: mbd.Model, names: list[str], step: float, method: Any, count: int, every: int = 1) -> Any:
    """(CPU time of all steps, corrections per step) with sensitivities with respect to these parameters."""
    system = mbd.assemble(model)
    q, v, _ = found_start(system, 0.0, None)
    run = method.start(system, q, v, 0.0, step, None)
    rows = count // every
    out = [np.zeros((rows, len(x))) for x in run.row()]
    if not names:
        clock = time.process_time()
        run.advance(count, every, out)
        return time.process_time() - clock, 0.0
    neighbours, kind = Neighbours(system, names), method.followed()
    sides = neighbours.sides(Starts(method, kind.reads, 0.0, step, None), q, v)
    follower = kind(run, sides, neighbours.sizes, q, count)
    more = [np.zeros((len(names) * (rows + 1), n)) for n in (system.n_v,) * 3 + (system.n_l,)]
    clock = time.process_time()
    assert follower.advance(count, every, out, more) == count, follower.obstacle
    return time.process_time() - clock, follower.rounds


def cost(model: mbd.Model, step: float, method: Any, count: int) -> str:
    """A line of the table."""
    names = [f"part {k}" for k in range(max(NUMBERS))]
    best: dict[tuple[int, int], float] = {}
    rounds = 0.0
    for _ in range(ROUNDS):
        for n in NUMBERS:
            for every in (1, 10):
                if every == 1 or n in (0, 4):
                    spent, rounds = followed(model, names[:n], step, method, count, every)
                    best[n, every] = min(best.get((n, every), spent), spent)
    plain = best[0, 1]
    per = [100.0 * (best[n, 1] / plain - 1.0) / n for n in NUMBERS[1:]]
    rare = 100.0 * (best[4, 10] / best[0, 10] - 1.0) / 4.0
    each = 100.0 * (best[16, 1] - best[4, 1]) / (12.0 * plain)
    numbers = " ".join(f"{x:6.0f} %" for x in (*per, each, rare))
    return f"{1e6 * plain / count:8.1f} us {numbers} {rounds:6.2f}"


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    step = float(sys.argv[2]) if len(sys.argv) > 2 else 1e-3
    print(f"{count} steps of {step:g}: a step; more per parameter with 1, 4, 16, each further one, 4 with every tenth")
    print("step recorded; corrections per step")
    methods = mbd.integrators
    alpha, rk4 = methods.GeneralizedAlpha(), methods.RK4()
    for name, model, method in (
        ("heavy top", heavy_top(), alpha),
        ("loop of 4", loop(), alpha),
        ("chain of 10", chain(10), alpha),
        ("chain of 100", chain(100), alpha),
        ("chain of 10, index 3", chain(10), methods.GeneralizedAlpha(stabilized=False)),
        ("Puma", puma().model, alpha),
        ("Puma, joint coordinates", puma().model.with_coordinates("joint"), alpha),
        ("chain of 10, joint coordinates", chain(10).with_coordinates("joint"), alpha),
        ("six-joint arm", arm(), alpha),
        ("heavy top, RK4", heavy_top(), rk4),
        ("loop of 4, RK4", loop(), rk4),
        ("chain of 100, RK4", chain(100), rk4),
        ("six-joint arm, RK4", arm(), rk4),
    ):
        few = min(count, 300) if "100" in name else min(count, 500) if "loop" in name else count
        print(f"{name:32s} {cost(with_parts(model), step, method, few)}", flush=True)
    print(f"\nfour each of {', '.join(KINDS)}, and one of each; per parameter")
    for name, model in (
        ("pendulum", pendulum()),
        ("pendulum, joint coordinates", pendulum().with_coordinates("joint")),
    ):
        for method in (alpha, rk4):
            print(f"{f'{name}, {method.name}':45s} {cost_of_kinds(model, step, method, count)}", flush=True)
