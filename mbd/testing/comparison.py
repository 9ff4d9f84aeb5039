"""Differences, random nodes, and errors that say where something deviates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..bodies import Body
from ..errors import Array
from ..nodes import EulerAngles, Node, Point
from ..rotation import rotation
from ..system.system import System

DIFFERENCE_TOLERANCE = 1e-7
"""Allowed deviation of a derivative from a difference quotient, relative to the size of the quantity."""

EXACT_TOLERANCE = 1e-12
"""Allowed deviation of what holds up to rounding."""

STEP = 1e-3
GRAVITY = (0.3, -1.0, -9.81)
INERTIA = np.array(((2.0, 0.1, 0.2), (0.1, 1.8, 0.05), (0.2, 0.05, 1.5)))
OFFSET = (0.15, -0.2, 0.3)


def derivative(function: Callable[[float], Array], step: float = STEP) -> Array:
    """Derivative at zero of a function of a number, by the fourth-order central difference."""
    h = step
    return (function(-2 * h) - 8 * function(-h) + 8 * function(h) - function(2 * h)) / (12 * h)


def second_derivative(function: Callable[[float], Array], step: float = STEP) -> Array:
    """Second derivative at zero, by the fourth-order central difference."""
    h = step
    outer = function(-2 * h) + function(2 * h)
    return (-outer + 16 * (function(-h) + function(h)) - 30 * function(0.0)) / (12 * h * h)


def jacobian(function: Callable[[Array], Array], n: int, step: float = STEP) -> Array:
    """Columns of derivatives at zero of a function of n numbers."""
    if n == 0:
        return np.zeros((function(np.zeros(0)).size, 0))
    columns = [derivative(lambda s, e=e: function(s * e), step) for e in np.eye(n)]  # type: ignore[misc]
    return np.array(columns).reshape(n, -1).T


def random_node(cls: type[Node], rng: np.random.Generator | None = None, **settings: bool | str) -> Node:
    """A node with a random pose and velocity, away from the singularities of its parametrisation.

    ``settings`` go to the constructor: ``lie``, ``pinned``, ``sequence``.
    """
    rng = generator(rng)
    if cls is Point:
        return Point(rng.normal(size=3), rng.normal(size=3))
    pinned = bool(settings.get("pinned", False))
    make: Any = cls
    while True:
        node: Node = make(
            position=rng.normal(size=3),
            rotation=rotation(rng.normal(size=3)),
            velocity=np.zeros(3) if pinned else rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
            **settings,
        )
        if not isinstance(node, EulerAngles):
            return node
        middle = float(node.rotation_coordinates()[1])
        if abs(np.sin(middle) if node.axes[0] == node.axes[2] else np.cos(middle)) > 0.3:
            return node


def observed_order(errors: Sequence[float], steps: Sequence[float]) -> float:
    """Slope of log(error) over log(step) by least squares: the order that a method shows.

    >>> round(mbd.testing.observed_order([1.6e-3, 1e-4, 6.25e-6], [0.04, 0.02, 0.01]), 2)
    4.0
    """
    e, h = np.asarray(errors, dtype=float), np.asarray(steps, dtype=float)
    if e.shape != h.shape or e.ndim != 1 or e.size < 2:
        raise ValueError(f"observed_order: {e.shape} errors and {h.shape} steps; expected two or more of each")
    if not (np.isfinite(e).all() and (e > 0).all() and (h > 0).all()):
        raise ValueError(f"observed_order: errors {e.tolist()}, steps {h.tolist()}; expected positive finite numbers")
    x, y = np.log(h) - np.log(h).mean(), np.log(e) - np.log(e).mean()
    if not x.any():
        raise ValueError(f"observed_order: steps {h.tolist()}; expected different ones")
    return float((x @ y) / (x @ x))


def generator(rng: np.random.Generator | None) -> np.random.Generator:
    return np.random.default_rng(0) if rng is None else rng


def compare(
    quantity: str, given: Any, expected: Any, tolerance: float, names: Sequence[Callable[[int], str]] = ()
) -> None:
    """Raise an error that names the quantity, its worst entry and the deviation there."""
    given, expected = np.asarray(given, dtype=float), np.asarray(expected, dtype=float)
    if given.shape != expected.shape:
        raise AssertionError(f"{quantity} has shape {given.shape}; expected {expected.shape}")
    if given.size == 0:
        return
    deviation = np.nan_to_num(np.abs(given - expected), nan=np.inf)
    allowed = tolerance * (1.0 + float(np.abs(np.nan_to_num(expected)).max()))
    worst = tuple(int(i) for i in np.unravel_index(np.argmax(deviation), deviation.shape))
    if deviation[worst] > allowed:
        where = [names[axis](i) if axis < len(names) else f"component {i}" for axis, i in enumerate(worst)]
        raise AssertionError(
            f"{quantity} deviates by {deviation[worst]:.1e} (allowed {allowed:.1e}) at {', '.join(where) or 'all'}: "
            f"{given[worst]:.12g}, expected {expected[worst]:.12g}"
        )


class Names:
    """What rows and columns of a system's vectors and matrices belong to."""

    def __init__(self, system: System) -> None:
        self.system = system
        tree = system.assembly.tree
        self.carried = {edge.body.name: edge for edge in tree.carried} if tree is not None else {}

    def velocity(self, i: int) -> str:
        for body in self.system.model.bodies:
            part = self.system.body_slices(body)[1]
            if part.start <= i < part.stop:
                return f"velocity {self._part(body, i - part.start)}"
        return f"velocity {i}"

    def _part(self, body: Body, k: int) -> str:
        """The k-th velocity of a body, or of the joint that carries it."""
        if body.name not in self.carried:
            return f"{k} of {body} ({body.node})"
        edge = self.carried[body.name]
        return f"'{edge.velocity_names[k]}' of {edge.joint or edge.body}"

    def coordinate(self, i: int) -> str:
        for body in self.system.model.bodies:
            part = self.system.body_slices(body)[0]
            if part.start <= i < part.stop:
                carrier = self.carried.get(body.name)
                owner = f"{body} ({body.node})" if carrier is None else str(carrier.joint or carrier.body)
                return f"coordinate {i - part.start} of {owner}"
        return f"coordinate {i}"

    def constraint(self, i: int) -> str:
        for joint in self.system.model.joints:
            part = self.system.joint_slice(joint)
            if part.start <= i < part.stop:
                return f"equation {i - part.start} of {joint}"
        for body in self.system.model.bodies:
            n = self.system.tables.nodes[self.system.node_index(body)]
            if n.l0 <= i < n.l0 + n.nl:
                return f"internal constraint {i - n.l0} of {body} ({body.node})"
        return f"constraint {i}"

    def node(self, i: int) -> str:
        if i == 0:
            return "ground"
        body = self.system.model.bodies[i - 1]
        return f"{body} ({body.node})"


def axes_of(frame: Array) -> Array:
    """Rotation matrix of a frame."""
    return frame[3:].reshape(3, 3).T
