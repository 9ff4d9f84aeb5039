"""Runs that are followed by their sensitivities: what families share.

A followed run is one on the system itself, and for each parameter two systems beside it, at theta + size and
theta - size. A family gives a ``Followed``: records for its compiled loop, which makes steps and differentiates them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..compiled.entry import connect
from ..compiled.record import table_of
from ..nodes.continued import increments_between
from .base import Array

if TYPE_CHECKING:
    from ..system.system import System
    from ..system.tables import Work

CHANGED_CHART_TEXT = (
    "a conventional rotation vector passed a half turn and changed its chart, which sensitivities do not follow; use "
    "Lie nodes or quaternions: model.with_nodes(mbd.nodes.Quaternion)"
)
SIZE = 2e-5  # of the differences, beside the parameter


class Beside:
    """The start of a run beside another one: its system and the state there.

    ``x`` are v, v_dot, a and lambda as the method begins with them, as far as it has them; the run itself is made for
    those who ask for it.
    """

    def __init__(self, system: System, q: Array, v: Array, x: dict[str, Array], begin: Callable[[], Any]) -> None:
        self.system, self.q, self.v, self.x, self._begin = system, q, v, x, begin

    @cached_property
    def run(self) -> Any:
        """The run as it begins there."""
        return self._begin()


class Followed:
    """A run with its sensitivities, in progress: ``count`` steps are to be made from q on."""

    reads: ClassVar[tuple[str, ...]]
    """Parts of the method's state that begin with the parameters, see ``Beside.x``."""

    def __init__(self, run: Any, sides: list[tuple[Beside, Beside]], sizes: Array, q: Array, count: int) -> None:
        self.run, self.sides, self.sizes = run, sides, sizes
        self.system: System = run.system
        own = self.system.new_work()
        self.works = [*works_beside(self.system, [one.system for pair in sides for one in pair]), own]
        increments = [increment_of(self.system, own, q, plus.q, minus.q) for plus, minus in sides]
        self.dq = np.array(increments) / (2.0 * sizes[:, None])
        self.shown_dv = self.difference(lambda one: one.v)
        """Sensitivities of the velocities at the start, as they are recorded."""

    def difference(self, read: Any) -> Array:
        """The derivative of something at the start, a row for each parameter."""
        plus, minus = (np.array([read(pair[side]) for pair in self.sides]) for side in (0, 1))
        return np.asarray((plus - minus) / (2.0 * self.sizes[:, None]))

    @property
    def addresses(self) -> tuple[Array, Array]:
        """Tables of the systems beside this one, and buffers for them and for itself."""
        return table_of([one.system.tables for pair in self.sides for one in pair]), table_of(self.works)

    def connect(self, function: Any, alike: Array) -> None:
        """Make compiled functions known to the tables, and to those of other integers than these beside them."""
        connect(self.system.tables, function)
        for pair, same in zip(self.sides, alike, strict=True):
            for one in pair:
                if not same or one.system.tables.flags is not self.system.tables.flags:
                    connect(one.system.tables, function)

    rounds: float = 1.0
    """Corrections per step and parameter."""

    @staticmethod
    def check(method: Any) -> None:
        """Refuse options of the method that sensitivities do not have."""

    @abstractmethod
    def first(self) -> list[Array]:
        """Sensitivities at the start: configuration, velocities, accelerations, multipliers."""

    @abstractmethod
    def advance(self, count: int, every: int, out: list[Array], more: list[Array]) -> int:
        """Make steps and record every so-manyth of them; returns the steps that were made.

        ``out`` begins with the next record, as for ``Run.advance``; ``more`` are all records of all parameters, one
        parameter after the other, each from the start on.
        """

    @property
    @abstractmethod
    def obstacle(self) -> str:
        """What stopped the sensitivities while the run itself could go on, or nothing."""


def works_beside(system: System, beside: list[System]) -> list[Any]:
    """Buffers for the systems beside one, which are evaluated two at a time: two sets of buffers are enough.

    Where buffers know the places of pinned bodies, every system needs its own.
    """
    if system.has_pinned:
        return [one.new_work() for one in beside]
    shared = system.new_work(), system.new_work()
    return [shared[k % 2] for k in range(len(beside))]


def increment_of(system: System, w: Work, q: Array, plus: Array, minus: Array) -> Array:
    """The increment from coordinates on one side of q to those on the other; w lends its scratch."""
    if plus is minus:  # of a parameter that does not move the start
        return np.zeros(system.n_v)
    found = np.zeros((2, system.n_v))
    rate, second, v = np.zeros((3, system.n_v))
    for x, d in zip((plus, minus), found, strict=True):
        increments_between(system.tables.nodes, q, x, v, d, rate, second, w.rotation, w.scratch)
    return np.asarray(found[0] - found[1])
