"""What runs with a fixed step and a Newton iteration share: counters, saved state, messages.

A method gives its state as a record of arrays ``x`` with the fields q, v, vd, lam (and others), names those that a
restart needs in ``saved``, and calls its compiled loop in ``loop``. Its accelerations and multipliers belong to steps,
for the first guess of the next one; what is recorded are the variables of the scheme (``own``).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..system.tables import Work
from .base import Array, Run
from .checks import describe_failure
from .newton import SCALES
from .newton_numbers import (
    MEMORIES,
    MEMORY_CODE,
    MEMORY_ERROR,
    MEMORY_FACTORS,
    MEMORY_ITERATIONS,
    MEMORY_RATIO,
    SecantNumbers,
)

if TYPE_CHECKING:
    from ..system.system import System


class FixedStepRun(Run):
    """A run in progress; subclasses set ``work`` and ``x`` and call ``begin``."""

    saved: ClassVar[tuple[str, ...]]
    work: Work
    x: Any
    numbers: SecantNumbers

    def __init__(self, method: Any, system: System, t: float, step: float) -> None:
        self.method, self.system = method, system
        self.origin, self.step, self.index = t, step, 0

    def begin(self, *parameters: float) -> None:
        """Set the counters and the numbers of the method; compile, or load compiled code, before the clock starts."""
        memory = np.zeros(MEMORIES)
        memory[MEMORY_RATIO] = 1e300
        numbers = np.array([self.method.tolerance, self.method.max_iterations, *parameters], dtype=float)
        self.numbers = SecantNumbers(
            method=numbers, memory=memory, scales=np.zeros(SCALES), worst=np.zeros(1, dtype=np.int64)
        )
        self.x.q[:] = self.system.initial_state()[0]
        self.advance(0, 1, [np.zeros((1, len(y))) for y in self.initial_row()])

    @abstractmethod
    def loop(self, count: int, every: int, out: list[Array]) -> int:
        """Call the compiled loop; returns the steps done."""

    def name_of_unknown(self, row: int) -> str:
        """The element behind a row of the equations."""
        return self.system.name_of_unknown(row)

    def load(self, q: Array, v: Array, turns: Array | None) -> None:
        """The state at the start."""
        self.x.q[:], self.x.v[:] = q, v
        if turns is not None:
            self.work.turns[: len(turns)] = turns

    @property
    def t(self) -> float:
        """Time of the state."""
        return self.origin + self.index * self.step

    @abstractmethod
    def own(self) -> list[Array]:
        """The ``recorded`` variables of the scheme."""

    def row(self) -> list[Array]:
        return [self.x.q, self.x.v, *self.own(), self.work.turns]

    def initial_row(self) -> list[Array]:
        q, v, *own, turns = self.row()
        names = self.method.recorded
        first = [y if name == "p" else np.full(len(y), np.nan) for name, y in zip(names, own, strict=True)]
        return [y.copy() for y in (q, v, *first, turns)]

    def advance(self, count: int, every: int, out: list[Array]) -> int:
        done = self.loop(count, every, out)
        self.index += done
        return done

    def failure(self) -> tuple[str, str]:
        memory = self.numbers.memory
        where = self.name_of_unknown(int(self.numbers.worst[0]))
        return describe_failure(where, self.method, int(memory[MEMORY_CODE]), memory[MEMORY_ERROR])

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = {name: getattr(self.x, name).copy() for name in self.saved}
        state |= {"origin": self.origin, "step": self.step, "index": self.index, "t": self.t}
        state |= {"turns": self.work.turns.copy(), "memory": self.numbers.memory.copy()}
        return state

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        for name in self.saved:
            getattr(self.x, name)[:] = state[name]
        self.index = int(state["index"])
        self.work.turns[:] = state["turns"]
        self.numbers.memory[:] = state["memory"]

    def statistics(self) -> dict[str, Any]:
        memory = self.numbers.memory
        return {
            "steps": self.index,
            "rejected": 0,
            "newton_iterations": int(memory[MEMORY_ITERATIONS]),
            "factorizations": int(memory[MEMORY_FACTORS]),
            "smallest_pivot_ratio": float(memory[MEMORY_RATIO]),
        }
