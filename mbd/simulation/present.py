"""The present state of a run that is made step by step, read like a solution: ``sim["tip"].position``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import Array
from ..results.solution import Solution, named_rows
from ..results.views import whole_turns

if TYPE_CHECKING:
    from .simulator import Simulator


class _Look(NamedTuple):
    """When an angle was last looked at, and what it was, with all turns."""

    number: int  # of the step
    t: float
    angle: float
    rate: float


class Present(Solution):
    """A solution of one record that moves with its simulator; what was computed of a state is forgotten with it."""

    def __init__(self, simulator: Simulator, row: list[Array]) -> None:
        self._simulator, self._row = simulator, [x[None, :].copy() for x in row]
        rows = named_rows(simulator.integrator, self._row)
        super().__init__(simulator.system, np.zeros(1), **rows, integrator=simulator.integrator)
        self._looks: dict[str, _Look] = {}
        self._fresh = dict(vars(self))  # before anything is computed

    def move(self, t: float, row: list[Array]) -> None:
        """Show another state."""
        fresh = self._fresh
        vars(self).clear()
        vars(self).update(fresh, _fresh=fresh, _views={}, _angles={})
        self.t[0] = t
        for own, x in zip(self._row, row, strict=True):
            own[0] = x

    def _counted(self, name: str, angle: Array, rate: Array, near: float, read: Callable[[Solution], Array]) -> Array:
        """The angle with the turns since the start, which the records tell where several steps were not looked at."""
        index, t = self._simulator.index, float(self.t[0])
        last = self._looks.get(name)
        if last is None:
            near = self._simulator._angle_told_by_records(name, near, -1, read)
        elif index - last.number <= 1:
            near = last.angle + 0.5 * (last.rate + float(rate[0])) * (t - last.t)
        else:
            near = last.angle + last.rate * (t - last.t) / (index - last.number)
            near = self._simulator._angle_told_by_records(name, near, last.number, read)
        counted = angle + whole_turns(near - angle)
        self._looks[name] = _Look(index, t, float(counted[0]), float(rate[0]))
        return counted


class Now:
    """What an element does at present: the quantities of ``solution[element]``, without the axis of records."""

    def __init__(self, simulator: Simulator, name: str) -> None:
        self._simulator, self._name = simulator, name

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._simulator.now[self._name], name)
        if isinstance(value, np.ndarray):
            return _only(value)
        if callable(value):
            return lambda *arguments: _only(value(*arguments))
        return value

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._simulator.now[self._name]) if not name.startswith("_")]

    def __repr__(self) -> str:
        return f"<{self._simulator.model[self._name]} at t = {self._simulator.t:.6g}>"


def _only(value: Array) -> Any:
    """The value at the only record: a number, or an array of its own."""
    return float(value[0]) if value.ndim == 1 else value[0].copy()
