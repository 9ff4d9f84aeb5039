"""Runs of implicit methods with a fixed step: one class for all of them.

A family of methods gives its ``Equations`` on a system: the records that its compiled functions work on, and these
functions as the time loop asks for them (``loop``). All else is the same for every method: counters, records of the
motion, a state that can be saved, messages.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..compiled.bound import bound
from ..compiled.entry import connect
from ..compiled.record import Beginning, Plan, Record, table_of
from ..system.numbers import copy_numbers
from ..system.tables import Tables, Work
from .base import Array, Integrator, Run, begins_of, check_rows
from .loop import RESTART, Rows, run_steps
from .newton import ACCELERATION, SCALES
from .numbers import MOST_PARTS, NEVER, NewtonNumbers
from .verdicts import describe

if TYPE_CHECKING:
    from ..system.system import System

PLAN_OF_NUMBERS = NewtonNumbers.plan(
    {"scales": SCALES, "weights": ACCELERATION, "lengths": MOST_PARTS, "begins": MOST_PARTS + 1}
)
STAGNATION = 1000.0  # multiple of the tolerance that is accepted when round-off stops the iteration


class Equations:
    """A method on a system. Families set ``tables``, ``work`` and ``x``, and call ``set_up``."""

    entries: dict[int, Any]
    """What the time loop calls, by the numbers of ``loop``."""
    anew: ClassVar[Any] = None
    """An entry as these that computes forces of the state anew, for methods that keep those of the last step."""
    saved: ClassVar[tuple[str, ...]]
    """Arrays of ``x`` that a restart needs."""
    memory: ClassVar[tuple[str, ...]] = (
        "history", "iterations", "factorisations", "verdict", "error", "smallest_ratio", "factored", "stiff", "nearest",
    )  # fmt: skip
    """Numbers that a restart needs, of ``x`` or ``numbers``."""
    begins_again: ClassVar[bool] = False
    """Whether work, x and numbers are all that changes, so that they can be made what they were before the start."""
    tables: Tables
    work: Work
    x: Any
    numbers: NewtonNumbers

    def __init__(self, method: Any, system: System) -> None:
        self.method, self.system = method, system

    def set_up(self, t: float, step: float, frames: tuple[Array, Array] | None, **parameters: float) -> None:
        """Numbers and table of addresses, for parameters of ``NewtonNumbers`` that are not the usual ones.

        ``frames`` are those at the start of a step and at the iterate, for methods that want the nearest solution.
        """
        usual = {
            "origin": t, "step": step, "tolerance": self.method.tolerance, "limit": self.method.max_iterations,
            "stagnation": STAGNATION, "enough_at_once": 1.0, "enough": 1.0, "enough_later": 1.0, "phases": 1,
            "smallest_ratio": NEVER,
        }  # fmt: skip
        start, end = (np.zeros((0, 12)), np.zeros((0, 12))) if frames is None else frames
        given: dict[str, Any] = {**usual, **parameters, "start_frames": start, "end_frames": end}
        self.numbers = NewtonNumbers.zeros(PLAN_OF_NUMBERS, **given)
        self.connect()

    def connect(self) -> None:
        """Make the compiled functions known to the loop, with the records that they work on."""
        connect(self.tables, *self.entries.values())
        functions = [self.entries.get(k) for k in range(RESTART + 1)]
        self.addresses = table_of([*functions, self.tables, self.work, self.x, self.numbers])

    def load(self, q: Array, v: Array, turns: Array | None) -> None:
        """The state at the start."""
        self.x.q[:], self.x.v[:] = q, v
        if turns is not None:
            self.work.turns[: len(turns)] = turns

    @abstractmethod
    def start(self, t: float) -> None:
        """Accelerations, multipliers and momenta of the start."""

    @abstractmethod
    def shown(self) -> list[Array]:
        """Arrays of coordinates, velocities, and the two ``recorded`` variables of the method, as they are recorded."""

    def initial_row(self, row: list[Array]) -> list[Array]:
        """The row at the start; variables that belong to a step are not a number there."""
        q, v, *own, turns = row
        names = self.method.recorded
        first = [y if name == "p" else np.full(len(y), np.nan) for name, y in zip(names, own, strict=True)]
        return [y.copy() for y in (q, v, *first, turns)]

    def compose(self, parts: int) -> None:
        """Make room for what a method keeps of each of so many stages of a composition."""

    def recover(self) -> bool:
        """After a step that failed: whether another way to solve the same equations is left, and taken from now on."""
        return False

    def copies(self) -> list[Tables]:
        """Copies of the system's tables that the steps use: inputs do not write there."""
        return []

    @cached_property
    def act_anew(self) -> Callable[[], Any]:
        """What acts has changed suddenly: compute anew what a step takes over from the end of the last one."""
        anew = type(self).anew  # without compiled code it is a plain function, which self.anew would bind
        call = bound(anew, self.tables, self.work, self.x, self.numbers).call if anew is not None else lambda: None
        if not self.copies():
            return call

        def follow() -> None:
            self.take_numbers()
            call()

        return follow

    def take_numbers(self) -> None:
        """Let copies of the system's tables have its numbers, of which inputs may have changed some."""
        copy_numbers(self.system.tables, self.copies())

    def name_of_unknown(self, row: int) -> str:
        """The element behind a row of the equations."""
        return self.system.name_of_unknown(row)

    def failure(self) -> tuple[str, str]:
        """(kind, message) of what stopped the run early."""
        p = self.numbers
        residual = p.error * self.method.tolerance
        return "convergence", describe(p.verdict, self.name_of_unknown(p.worst), self.method.max_iterations, residual)

    def state(self) -> dict[str, Any]:
        """What a restart needs."""
        state: dict[str, Any] = {name: getattr(self.x, name).copy() for name in self.saved}
        state["turns"] = self.work.turns.copy()
        state["memory"] = np.array([float(getattr(self._holder(name), name)) for name in self.memory])
        return state

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        for name in self.saved:
            getattr(self.x, name)[:] = state[name]
        self.work.turns[:] = state["turns"]
        memory = np.asarray(state["memory"]).tolist()
        known = self.memory[: max(len(memory), len(Equations.memory))]  # files of earlier versions lack the last ones
        for name, value in zip(known, memory, strict=True):
            setattr(self._holder(name), name, value)

    def _holder(self, name: str) -> Record:
        return self.numbers if name in NewtonNumbers.layout.members else self.x

    def statistics(self) -> dict[str, Any]:
        """Further counters for people."""
        return {}

    @property
    def evaluated(self) -> System:
        """The system whose functions are called."""
        return self.system


class FixedStep(Integrator):
    """Base of implicit methods with a fixed step."""

    @abstractmethod
    def equations(self, system: System, t: float, step: float) -> Equations:
        """The method on a system."""

    def start(self, system: System, q: Array, v: Array, t: float, step: float, turns: Array | None) -> Run:
        run = FixedStepRun(self, system, t, step)
        run.begin(q, v, turns)
        return run

    def resume(self, system: System, state: dict[str, Any]) -> Run:
        run = FixedStepRun(self, system, float(state["origin"]), float(state["step"]))
        run.restore(state)
        return run


@lru_cache(maxsize=64)
def _plan_of_rows(nq: int, nv: int, turns: int) -> Plan:
    """Where the arrays of ``Rows`` lie that are its own."""
    return Rows.plan({"kept_q": nq, "kept_v": nv, "kept_turns": turns})


def rows_of(equations: Equations) -> Rows:
    """What is recorded of a method."""
    q, v, first, second = equations.shown()
    turns = equations.work.turns
    return Rows.zeros(_plan_of_rows(len(q), len(v), len(turns)), q=q, v=v, first=first, second=second, turns=turns)


class FixedStepRun(Run):
    """A run in progress."""

    def __init__(self, method: Any, system: System, t: float, step: float) -> None:
        self.method, self.system = method, system
        self.origin, self.step = t, step
        self.equations: Equations = method.equations(system, t, step)
        self._set_rows()
        connect(self.equations.numbers, run_steps)  # compiled, or loaded, before the clock starts
        e = self.equations
        self._beginning = Beginning(e.x, e.numbers, e.work) if e.begins_again else None

    def _set_rows(self) -> None:
        self.rows = rows_of(self.equations)

    def compose(self, weights: Array) -> None:
        p, n = self.equations.numbers, len(weights)
        p.parts, p.whole = n, self.step
        p.lengths[:n], p.begins[: n + 1] = weights, begins_of(weights)
        self.equations.compose(n)
        self._set_rows()

    @property
    def x(self) -> Any:
        """State of the method."""
        return self.equations.x

    @property
    def work(self) -> Work:
        """Buffers of this run."""
        return self.equations.work

    @property
    def evaluated(self) -> System:
        return self.equations.evaluated

    @property
    def index(self) -> int:  # type: ignore[override]
        """Steps done since the origin, as compiled code counts them."""
        return self.equations.numbers.index

    @property
    def t(self) -> float:
        """Time of the state."""
        return self.origin + self.index * self.step

    def begin(self, q: Array, v: Array, turns: Array | None) -> None:
        """Take over the first state, and compute what the method needs besides."""
        self.equations.load(q, v, turns)
        self.equations.start(self.t)

    def begin_again(self, q: Array, v: Array) -> bool:
        if self._beginning is None or not self._beginning.restore():
            return False
        self.system.prepare_work(self.work)
        self.begin(q, v, None)
        return True

    def _begin_at(self, q: Array, v: Array, turns: Array) -> None:
        self.equations.take_numbers()
        self.equations.numbers.history = 0
        self.begin(q, v, turns)

    def row(self) -> list[Array]:
        return [getattr(self.rows, name) for name in ("q", "v", "first", "second", "turns")]

    def initial_row(self) -> list[Array]:
        return self.equations.initial_row(self.row())

    def advance(self, count: int, every: int, out: list[Array]) -> int:
        p, first, before = self.equations.numbers, self.index, self.index // every
        check_rows(out, self.row(), (first + count) // every - before)
        while True:
            left = first + count - p.index
            run_steps(self.equations.addresses, p, self.rows, before, left, every, *out)
            if p.done == left or not self.recover():
                return p.index - first

    def recover(self) -> bool:
        if not self.equations.recover():
            return False
        self._set_rows()
        return True

    def bound_step(self, every: int, before: int, out: list[Array]) -> Callable[[], Any]:
        check_rows(out, self.row(), 0)
        e = self.equations
        return bound(run_steps, e.addresses, e.numbers, self.rows, before, 1, every, *out)

    def act_anew(self) -> None:
        self.equations.act_anew()

    def failure(self) -> tuple[str, str]:
        return self.equations.failure()

    def state(self) -> dict[str, Any]:
        own = {"origin": self.origin, "step": self.step, "index": self.index, "t": self.t}
        return self.equations.state() | own

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        self.equations.restore(state)
        self.equations.numbers.index = int(state["index"])
        shown = *self.equations.shown(), self.equations.work.turns
        if any(x is not y for x, y in zip(shown, self.row(), strict=True)):
            self._set_rows()

    def statistics(self) -> dict[str, Any]:
        p = self.equations.numbers
        return {
            "steps": self.index,
            "rejected": 0,
            "newton_iterations": p.iterations,
            "factorizations": p.factorisations,
            **self.equations.statistics(),
            "smallest_pivot_ratio": p.smallest_ratio,
        }
