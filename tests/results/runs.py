"""Small runs for the tests of solutions, integrated by a plain RK4 loop that knows nothing but System."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbd.model import Model
from mbd.nodes import Directors, EulerAngles, Quaternion, RotationVector
from mbd.results.solution import Solution
from mbd.system.instant import remember_angles
from mbd.system.system import System, assemble

NODES = {
    "quaternion": Quaternion(),
    "quaternion lie": Quaternion(lie=True),
    "directors": Directors(),
    "directors lie": Directors(lie=True),
    "rotation vector": RotationVector(lie=False),
    "rotation vector lie": RotationVector(),
    "euler": EulerAngles(),
    "euler lie": EulerAngles(sequence="zxz", lie=True),
}


def simulate(model: Model, t_end: float, steps: int, **arguments: Any) -> Solution:
    """RK4 (Munthe-Kaas on Lie nodes) with equal steps; every step is recorded."""
    system = assemble(model)
    q, v = system.initial_state()
    h = t_end / steps
    system.frames(q)
    remember_angles(system.tables, system.work, q, v)
    rows = []
    for k in range(steps + 1):
        t = k * h
        vd, lam = system.accelerations(q, v, t)
        remember_angles(system.tables, system.work, q, v)
        rows.append((t, q, v, vd, lam, system.work.turns.copy()))
        q, v = rk4(system, q, v, t, h)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    turns = columns.pop()
    return Solution(system, *columns, turns=turns if system.assembly.turns else None, **arguments)


def rk4(system: System, q: np.ndarray, v: np.ndarray, t: float, h: float) -> tuple[np.ndarray, np.ndarray]:
    """One step; increments are advanced in the Lie algebra."""
    increment, dv = np.zeros(system.n_v), np.zeros(system.n_v)
    total, total_v = np.zeros(system.n_v), np.zeros(system.n_v)
    for a, b in ((0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
        dq, velocity = a * h * increment, v + a * h * dv
        dv = system.accelerations(system.update(q, dq), velocity, t + a * h)[0]
        increment = system.tangent_inverse(dq, velocity)
        total, total_v = total + b / 6.0 * increment, total_v + b / 6.0 * dv
    return system.update(q, h * total), v + h * total_v


def at_rest(model: Model, **arguments: Any) -> Solution:
    """One record: the initial state."""
    system = assemble(model)
    q, v = system.initial_state()
    vd, lam = system.accelerations(q, v)
    return Solution(system, [0.0], [q], [v], [vd], [lam], **arguments)
