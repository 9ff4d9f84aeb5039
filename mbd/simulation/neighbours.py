"""Systems on both sides of parameters, from which sensitivities take what they difference."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..errors import ModelError
from ..integrators.base import Array
from ..integrators.followed import Beside
from ..system.numbers import numbers_of
from ..system.system import System

SIZE = 2e-5  # of the differences, beside the parameter
PROBES = (2.0**-6, 2.0**24)  # of the parameter: what it changes, and what it would change if it were larger
LOST = 1e-4  # round-off of the differences, relative to them, from which on they are refused
UNSEEN = float(np.finfo(float).eps) * PROBES[1] / PROBES[0]  # of a number: the smaller probe sees whatever adds more


class Neighbours:
    """A system with each of some parameters a little larger, and a little smaller.

    One system goes through all of these values, and its tables are kept at each of them (``System.snapshot``): to
    assemble two systems for each parameter would take longer than a short run. Where tables are not all that changes,
    that is what is done. Those from which results are read are assembled when somebody asks.
    """

    def __init__(self, system: System, names: list[str]) -> None:
        self.names, self.own = names, system.parameters(names)
        self.values = [_number(name, self.own.values[name]) for name in names]
        sizes = np.array([SIZE * abs(x) if x != 0.0 else SIZE for x in self.values])
        self.sizes: Array = 2.0 ** np.round(np.log2(sizes))  # x + size and x - size are exact
        self._kept: list[tuple[System, System] | None] = [None] * len(names)
        self._back: dict[str, Any] = {}  # own values that are set together with the next one: one call in place of two
        here = _all_numbers(self.own.system)
        for name, x, e in zip(names, self.values, self.sizes, strict=True):
            self._refuse_lost_digits(name, x, e, here)
        self._return()

    def _set(self, name: str, x: float) -> None:
        """A parameter at this value, and all others at their own ones."""
        self.own.set(self._back | {name: x})
        self._back = {}

    def _return(self) -> None:
        """All parameters at their own values."""
        if self._back:
            self.own.set(self._back)
        self._back = {}

    def sides(self, begin: Callable[[System, System], Beside]) -> list[tuple[Beside, Beside]]:
        """What ``begin(system, system with the elements at these values)`` makes on both sides of each parameter."""
        found = []
        for i, (name, x, e) in enumerate(zip(self.names, self.values, self.sizes, strict=True)):
            if not self.own.system.has_snapshots:
                self._kept[i] = pair = systems_beside(self.own.system, name, x, e)
                found.append((begin(pair[0], pair[0]), begin(pair[1], pair[1])))
                continue
            both = []
            for value in (x + e, x - e):
                self._set(name, value)
                both.append(begin(self.own.system.snapshot(), self.own.system))
            self._back = {name: x}
            found.append((both[0], both[1]))
        self._return()
        return found

    def _refuse_lost_digits(self, name: str, x: float, e: float, here: Array) -> None:
        """Refuse a parameter that is tiny against what it is added to: differences of the sum would be round-off."""
        noise = 0.0
        for probe in PROBES if x != 0.0 else ():
            try:
                self._set(name, x + probe * x)
            except (ModelError, ArithmeticError, ValueError):  # a value that the model, or an expression, does not take
                continue
            with np.errstate(invalid="ignore"):  # integers among the numbers look like anything
                change = np.nan_to_num(np.abs(_all_numbers(self.own.system) - here), posinf=0.0)
            most = change > 1e-3 * change.max(initial=0.0)
            if probe == PROBES[1]:  # so far away a sine tells nothing of its slope here, which the smaller one has seen
                most &= change < UNSEEN * np.abs(here)
            expected = change[most] * (e / abs(probe * x))
            noise = max(noise, float((np.finfo(float).eps * np.abs(here[most]) / expected).max(initial=0.0)))
        self._back = self._back | {name: x}
        if noise > LOST:
            self._return()
            raise ModelError(
                f"sensitivities: {name} = {x:.3g} is so small against what it is added to that its differences there "
                f"are known to {noise:.0e} only. Give zero in its place, or another parameter"
            )

    def systems(self, i: int) -> Callable[[], tuple[System, System]]:
        """Systems on both sides of a parameter with their elements, when they are asked for."""
        kept = self._kept[i]
        if kept is not None:
            return partial(_these, *kept)  # which can be pickled
        return partial(systems_beside, self.own.system, self.names[i], self.values[i], self.sizes[i])


def _these(plus: System, minus: System) -> tuple[System, System]:
    return plus, minus


def systems_beside(system: System, name: str, x: float, e: float) -> tuple[System, System]:
    """Two systems of their own, at x + e and x - e."""
    plus, minus = system.parameters([name]), system.parameters([name])
    plus.set({name: x + e})
    minus.set({name: x - e})
    return plus.system, minus.system


def _all_numbers(system: System) -> Array:
    """Numbers of elements, gravity and initial state as one row."""
    s = system.tables
    tables = [numbers_of(x).ravel() for x in (s.nodes, s.primitives, s.forces, s.couplings)]
    return np.concatenate([*tables, s.gravity, *system.initial_state()])


def _number(name: str, x: Any) -> float:
    if np.ndim(x) != 0:
        raise ModelError(
            f"sensitivities: {name} is {x}; expected a single number. Give its components names as parameters"
        )
    return float(x)
