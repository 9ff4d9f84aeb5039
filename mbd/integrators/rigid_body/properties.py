"""Measured properties of a method for the free rigid body: order, invariants, Poisson and symplectic maps.

The map of one step is differentiated by a cloud of bodies whose initial states differ a little, so that a method is
seen exactly as ``simulate`` runs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...bodies import RigidBody
from ...model import Model
from ...nodes import Quaternion
from ...rotation import from_rotation_vector, hat, to_rotation_vector
from .methods import FreeRotation, JacobiExact

Array = np.ndarray

MOMENTS = (0.376, 0.627, 1.0)  # the book of Vilmart 2013, Fig. 1
MOMENTUM = (0.3, 0.6, -0.8)
DIFFERENCE = 2e-3
ROUND_OFF = 1e-13
DERIVATIVE = 1e-11  # what fourth-order differences of a map resolve
EXACT = 1e-12


class Properties(NamedTuple):
    """Measured numbers; the drifts and defects are largest absolute deviations."""

    order: float  # infinite where the error is round-off
    momentum: float  # drift of Q y, the momentum in space
    casimir: float  # drift of C = |y|^2 / 2
    energy: float  # drift of H
    poisson: float  # defect of A hat(y) A^T = hat(y+) for the map of the momentum
    symplectic: float  # defect of D^T W(y+) D = W(y) for the map of attitude and momentum
    determinant: float  # of D


def measure(
    method: FreeRotation,
    moments: Sequence[float] = MOMENTS,
    momentum: Sequence[float] = MOMENTUM,
    step: float | None = None,
) -> Properties:
    """Measure a method on one body; ``step`` is that of the drifts (1000 steps) and of the derivatives.

    By default 0.2, for orders beyond eight 0.8: in smaller steps their defects cannot be seen.
    """
    step = (0.8 if 8 < method.order < np.inf else 0.2) if step is None else step
    inertia, y = np.asarray(moments, dtype=float), np.asarray(momentum, dtype=float)
    poisson, symplectic, determinant = _map(method, inertia, y, step)
    attitude, momenta = _run(method, inertia, y[None], np.eye(3)[None], 1000 * step, step)
    in_space = np.einsum("nij,nj->ni", attitude[:, 0], momenta[:, 0])
    squares = np.square(momenta[:, 0])
    return Properties(
        order=convergence_order(method, inertia, y),
        momentum=float(np.abs(in_space - in_space[0]).max()),
        casimir=float(np.ptp(0.5 * squares.sum(axis=1))),
        energy=float(np.ptp(0.5 * (squares / inertia).sum(axis=1))),
        poisson=poisson,
        symplectic=symplectic,
        determinant=determinant,
    )


def convergence_order(method: FreeRotation, inertia: Array, y: Array) -> float:
    """Order of momentum and attitude at t = 8 against Jacobi's solution; high orders need large steps to be seen."""
    from ...testing import observed_order

    few = {6: (40, 56, 80), 8: (40, 56, 80), 10: (24, 32, 40), 12: (20, 24, 28), 14: (20, 24, 25)}
    counts = few.get(method.order, (160, 224, 320))
    exact, steps = _run(JacobiExact(), inertia, y[None], np.eye(3)[None], 8.0, 8.0), [8.0 / n for n in counts]
    errors = []
    for step in steps:
        found = _run(method, inertia, y[None], np.eye(3)[None], 8.0, step)
        errors.append(max(float(np.abs(a[-1] - b[-1]).max()) for a, b in zip(found, exact, strict=True)))
    return float("inf") if max(errors) < EXACT else observed_order(errors, steps)


def _run(
    method: FreeRotation, inertia: Array, momenta: Array, attitudes: Array, t_end: float, step: float
) -> tuple[Array, Array]:
    """Attitudes (n, bodies, 3, 3) and momenta (n, bodies, 3) of bodies that start in different states."""
    from ...simulation.simulation import simulate

    model = Model("cloud")
    for y, attitude in zip(momenta, attitudes, strict=True):
        model.add(RigidBody(None, 1.0, inertia, Quaternion(rotation=attitude, angular_velocity=y / inertia, lie=True)))
    solution = simulate(model, t_end, step, method, progress=False)
    views = [solution[body] for body in model.bodies]
    rotations = np.stack([view.rotation for view in views], axis=1)
    return rotations, np.stack([inertia * view.angular_velocity for view in views], axis=1)


def _map(method: FreeRotation, inertia: Array, y: Array, step: float) -> tuple[float, float, float]:
    """Defects of the Poisson and the symplectic condition, and the determinant of the derivative.

    Tangent vectors are (theta, dy) with the body-fixed turn theta of the attitude; in these coordinates the canonical
    form of the cotangent bundle is W(y) = [[hat(y), -1], [1, 0]].
    """
    weights = {-2: 1.0 / 12.0, -1: -8.0 / 12.0, 1: 8.0 / 12.0, 2: -1.0 / 12.0}
    momenta, attitudes = [y], [np.eye(3)]
    for k in range(6):
        for m in weights:
            d = np.zeros(6)
            d[k] = m * DIFFERENCE
            attitudes.append(from_rotation_vector(d[:3]))
            momenta.append(y + d[3:])
    rotations, found = (x[-1] for x in _run(method, inertia, np.array(momenta), np.array(attitudes), step, step))
    derivative = np.zeros((6, 6))
    for k in range(6):
        for i, weight in enumerate(weights.values()):
            j = 1 + 4 * k + i
            derivative[:3, k] += weight * to_rotation_vector(rotations[0].T @ rotations[j]) / DIFFERENCE
            derivative[3:, k] += weight * found[j] / DIFFERENCE

    def form(momentum: Array) -> Array:
        return np.block([[hat(momentum), -np.eye(3)], [np.eye(3), np.zeros((3, 3))]])

    a = derivative[3:, 3:]
    poisson = np.abs(a @ hat(y) @ a.T - hat(found[0])).max()
    symplectic = np.abs(derivative.T @ form(found[0]) @ derivative - form(y)).max()
    return float(poisson), float(symplectic), float(np.linalg.det(derivative))
