"""The matrix of integrators, coordinates and classes of models, cell by cell: is what runs also right?"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..bodies import PointMass, RigidBody
from ..errors import AccuracyWarning, Array, IncompatibleError, MbdError
from ..integrators import RK4, Integrator
from ..model import Model
from ..nodes import RotationVector
from ..simulation.simulation import simulate
from ..system.system import System, assemble
from .compatibility import FEATURES, NODES, needs_symmetry, small_model

MIXTURES = ("mixture 1", "mixture 2")
JOINTS = "joint coordinates"
CHOICES = (*NODES, *MIXTURES, JOINTS)
"""Coordinates: every kind of node, all kinds in one model, and those of joints."""
T_END = 0.08
STEPS = (0.02, 0.01)
FINE = 0.001
ROUND_OFF = 1e-8  # of lengths, cosines and velocities of the small models, which are of the size of one
WITH_CONTROL = 1e-4  # the same for methods that choose their steps, whatever the first one is
NEARER = 0.8  # by how much half the step has to come nearer: a method of first order comes to 0.5
FAR = 0.3  # that is no solution at all


class Cell(NamedTuple):
    """A method on a class of models in some coordinates."""

    method: Integrator
    choice: str
    feature: str


def cells(method: Integrator) -> Iterator[Cell]:
    """All cells of a method for which there is a model."""
    for choice in CHOICES:
        for feature in FEATURES:
            if cell_model(choice, feature, needs_symmetry(method)) is not None:
                yield Cell(method, choice, feature)


def cell_model(choice: str, feature: str, symmetric: bool) -> Model | None:
    """The small model of a cell; mixtures have further bodies, on one kind of node after the other."""
    if choice in NODES:
        return small_model(choice, feature, symmetric)
    model = small_model("RotationVector Lie", feature, symmetric)
    if model is None or choice == JOINTS:
        return None if model is None else model.with_coordinates("joint")
    rigid = [node for node in NODES.values() if node is not None]
    for k in range(3):
        node = RotationVector(position=(0, 3 + k, 0), angular_velocity=(1, 2 + k, 3), velocity=(0, 0, 1))
        model.add(RigidBody(f"further {k}", 1.0, (0.3, 0.3, 0.4), node))
    model.add(PointMass("one more", 1.0, (0, -3, 0)))
    bodies = [body.name for body in model.bodies if isinstance(body, RigidBody)]
    shift = 4 * MIXTURES.index(choice)
    return model.with_nodes({name: rigid[(shift + k) % len(rigid)] for k, name in enumerate(bodies)})


def _state(solution: Any) -> Array:
    """Frames of all bodies with their velocities, and generalized coordinates, at the end."""
    system, q, v = solution.system, solution.q[-1], solution.v[-1]
    parts = [system.frames(q)[1:].ravel(), system.frame_velocities(q, v)[1:].ravel()]
    for body in system.model.bodies:
        if not body.in_space:
            parts += [part[rows] for part, rows in zip((q, v), system.body_slices(body), strict=True)]
    return np.concatenate(parts)


@cache
def _expected(choice: str, feature: str, symmetric: bool) -> Array:
    """The state at the end of a fine run."""
    model = cell_model(choice, feature, symmetric)
    assert model is not None
    return _state(simulate(model, T_END, FINE, RK4(), output_step=T_END, progress=False))


@cache
def _system(choice: str, feature: str, symmetric: bool) -> System:
    model = cell_model(choice, feature, symmetric)
    assert model is not None
    return assemble(model)


def refusal(cell: Cell) -> str:
    """What a method needs that a model has not; empty if it takes it."""
    try:
        cell.method.check(_system(cell.choice, cell.feature, needs_symmetry(cell.method)))
    except IncompatibleError as error:
        return str(error).split(";")[0].removeprefix(cell.method.name).strip()
    return ""


def check_cell(cell: Cell) -> tuple[str, str]:
    """("right", ""), ("refused", what the method needs) or ("wrong", why)."""
    method, symmetric = cell.method, needs_symmetry(cell.method)
    needed = refusal(cell)
    if needed:
        return "refused", needed
    model = _system(cell.choice, cell.feature, symmetric).model
    errors = []
    expected = _expected(cell.choice, cell.feature, symmetric)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)  # the errors are what is looked at here
            for step in STEPS:
                found = simulate(model, T_END, step, method, output_step=T_END, progress=False)
                errors.append(float(np.abs(_state(found) - expected).max()))
    except MbdError as error:
        return "wrong", f"{type(error).__name__}: {error}"
    first, second = errors
    if second <= (WITH_CONTROL if method.adaptive else ROUND_OFF) or (second < FAR and second <= NEARER * first):
        return "right", ""
    return "wrong", f"errors {first:.2g} and {second:.2g} with steps {STEPS[0]} and {STEPS[1]}"
