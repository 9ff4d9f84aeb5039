"""Positions, velocities, accelerations, reactions and power of every integrator converge with its order.

On a free body, a tree, a loop and a driven tree, with damping and loads that depend on time, frames and velocities.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import mbd
from mbd.integrators import RK6, Integrator
from mbd.integrators.base import Trait
from mbd.results.solution import Solution, named_rows
from mbd.solvers.initial import consistent_start
from tests.integrators import loaded_models as models

T_END, RECORDS = 0.4, 4
# steps at which the leading error term dominates and stays above round-off, by order
STEPS = {1: (800, 1600), 2: (160, 320), 3: (80, 160), 4: (40, 80), 5: (32, 64), 6: (24, 48)}
EXACT = 1e-9  # relative error of methods that are exact, and of references
METHODS = models.every_integrator()
ORDERS = {"GGLTrapezoidal(1/2)": 2}  # which depends on a parameter
SAME_MOTION = ("LivensEM(reduction='none')", "LivensEM(reduction='nullspace')")  # as LivensEM: one model is enough


def run(method: Integrator, name: str, node: str, steps: int) -> Solution:
    """As ``mbd.simulate``, on a system that all methods share: it is compiled once."""
    system = models.system(name, node)
    start = consistent_start(system)
    step = T_END / steps
    going = method.start(system, start.q, start.v, 0.0, step, None)
    rows = [np.zeros((RECORDS + 1, len(x))) for x in going.initial_row()]
    for x, first in zip(rows, going.initial_row(), strict=True):
        x[0] = first
    assert going.advance(steps, steps // RECORDS, [x[1:] for x in rows]) == steps
    times = np.linspace(0.0, T_END, RECORDS + 1)
    return Solution(system, times, **named_rows(method, rows), integrator=method, stats={"step": step})


def quantities(solution: Solution) -> dict[str, np.ndarray]:
    bodies = [solution[body] for body in solution.model.bodies]
    joints = [solution[joint] for joint in solution.model.joints]
    found = {
        "positions": np.hstack([np.hstack((b.com, b.rotation.reshape(-1, 9))) for b in bodies]),
        "velocities": np.hstack([np.hstack((b.velocity, b.angular_velocity)) for b in bodies]),
        "accelerations": np.hstack([np.hstack((b.acceleration, b.angular_acceleration)) for b in bodies]),
        "power": solution.power[:, None],
    }
    if joints:
        found["forces"] = np.hstack([joint.force for joint in joints])
        found["torques"] = np.hstack([joint.torque for joint in joints])
    return found


@cache
def reference(name: str) -> dict[str, np.ndarray]:
    return quantities(run(RK6(), name, "quaternions", 400))


@pytest.mark.filterwarnings("ignore:NystromSplitting has order two here:mbd.AccuracyWarning")
@pytest.mark.parametrize("key", METHODS)
def test_order_of_motion_and_reactions(key, tolerance):
    method = METHODS[key]
    tried = models.models_for(method)
    for name, node in tried[1:2] if key in SAME_MOTION else tried:
        order = ORDERS.get(key, method.order_on(models.system(name, node)))
        pair = STEPS[6 if order > 6 else order]
        errors: list[dict[str, float]] = []
        for steps in pair:
            found = quantities(run(method, name, node, steps))
            errors.append({
                what: float(np.abs(values - reference(name)[what]).max() / max(1.0, np.abs(values).max()))
                for what, values in found.items()
            })  # fmt: skip
        for what, fine in errors[1].items():
            if not fine <= EXACT:  # nor may it be NaN
                seen = mbd.testing.observed_order([errors[0][what], fine], 1.0 / np.array(pair))
                assert seen > order - tolerance.order, (name, node, what, errors)
    # general methods treat all general models; those for single bodies, or without damping, at least one of the others
    names = {name for name, _ in tried}
    special = method.requires & {Trait.SINGLE_BODIES, Trait.FREE_ROTATION, Trait.SYMMETRIC_BODIES}
    composed = isinstance(method, mbd.integrators.Composition)
    assert names & set(models.SINGLE) if special or composed else names == set(models.GENERAL)
