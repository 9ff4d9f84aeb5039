"""Integrators in plain Python: a step is a function of the system and the state."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..elements.function_errors import place_of
from ..errors import MbdError, ModelError, UserFunctionError
from ..system.instant import remember_angles
from ..system.tables import Work
from .base import Array, Integrator, Run, begins_of

if TYPE_CHECKING:
    from ..system.system import System


@dataclass(frozen=True)
class PythonIntegrator(Integrator):
    """Base of integrators that people write: subclass it and override ``step``.

    ``step(system, t, q, v, h)`` returns coordinates and velocities at ``t + h``. It advances coordinates with
    ``system.update(q, increment)`` only, which is right on every node; ``system.accelerations(q, v, t)`` gives
    (v_dot, lam) of the index-1 form, and ``mbd.consistent_start(system, q, v, t)`` projects to the constraints.
    Accelerations and multipliers of the solution are those of the index-1 form at the accepted states.
    """

    order: ClassVar[int] = 1
    nonholonomic: ClassVar[bool] = True
    massless: ClassVar[bool] = True
    joint_coordinates: ClassVar[bool] = True

    @abstractmethod
    def step(self, system: System, t: float, q: Array, v: Array, h: float) -> tuple[Array, Array]:
        """Coordinates and velocities at t + h."""

    def start(self, system: System, q: Array, v: Array, t: float, step: float, turns: Array | None) -> PythonRun:
        run = PythonRun(self, system, t, step)
        if turns is not None:
            run.work.turns[: len(turns)] = turns
        run.accept(t, q, v)
        return run

    def resume(self, system: System, state: dict[str, Any]) -> PythonRun:
        run = PythonRun(self, system, float(state["origin"]), float(state["step"]))
        run.index = int(state["index"])
        run.work.turns[:] = state["turns"]
        for name in ("q", "v", "vd", "lam"):
            setattr(run.x, name, np.array(state[name]))
        return run


class PythonRun(Run):
    """A run of an integrator in plain Python."""

    def __init__(self, method: PythonIntegrator, system: System, t: float, step: float) -> None:
        self.method, self.system = method, system
        self.origin, self.step, self.index = t, step, 0
        self.own = system.private()  # what ``step`` evaluates: nothing else counts its turns
        self.error: Exception | None = None
        self.weights, self.begins = np.ones(1), np.zeros(1)  # of a composition; here a step is one step
        self.x = SimpleNamespace(q=np.zeros(system.n_q), v=np.zeros(system.n_v), vd=np.zeros(system.n_v), lam=None)

    @property
    def work(self) -> Work:
        """The buffers of this run."""
        return self.own.work

    @property
    def t(self) -> float:
        return self.origin + self.index * self.step

    def compose(self, weights: Array) -> None:
        self.weights, self.begins = weights, begins_of(weights)

    def _stepped(self) -> tuple[Array, Array]:
        """Coordinates and velocities after one step, or after the steps of a composed one."""
        t, q, v = self.t, self.x.q.copy(), self.x.v.copy()
        for weight, begin in zip(self.weights, self.begins, strict=False):
            q, v = self.method.step(self.own, t + float(begin) * self.step, q, v, float(weight) * self.step)
        return q, v

    def accept(self, t: float, q: Any, v: Any) -> None:
        """Make (q, v) the state and compute what a solution records besides."""
        q, v = (np.array(x, dtype=float) for x in (q, v))
        if q.shape != (self.system.n_q,) or v.shape != (self.system.n_v,):
            raise ModelError(
                f"{self.method.name}: step returned shapes {q.shape} and {v.shape}; expected ({self.system.n_q},) "
                f"coordinates and ({self.system.n_v},) velocities"
            )
        vd, lam = self.own.accelerations(q, v, t)
        self.x.q, self.x.v, self.x.vd, self.x.lam = q, v, vd, lam
        remember_angles(self.system.tables, self.work, q, v)

    def _begin_at(self, q: Array, v: Array, turns: Array) -> None:
        self.work.turns[:] = turns
        self.accept(self.t, q, v)

    def initial_row(self) -> list[Array]:
        x = self.x
        return [x.q, x.v, x.vd, x.lam, self.work.turns.copy()]

    def advance(self, count: int, every: int, out: list[Array]) -> int:
        row = 0
        for done in range(count):
            try:
                q, v = self._stepped()
                if not (np.isfinite(q).all() and np.isfinite(v).all()):
                    return done
                self.accept(self.origin + (self.index + 1) * self.step, q, v)
            except Exception as error:  # what was done before it is recorded first
                self.error = error
                return done
            self.index += 1
            if self.index % every == 0:
                for target, values in zip(out, self.initial_row(), strict=True):
                    target[row] = values
                row += 1
        return count

    def failure(self) -> tuple[str, str]:
        error = self.error
        if isinstance(error, MbdError):
            raise error
        if error is not None:
            name = self.method.name
            raise UserFunctionError(
                f"{name}: its step raised {type(error).__name__}: {error} at t = {self.t:.6g}{place_of(error)}",
                element=name, time=self.t,
            ) from error  # fmt: skip
        return "convergence", "step returned values that are not finite; try a smaller step"

    def state(self) -> dict[str, Any]:
        x = self.x
        state: dict[str, Any] = {"q": x.q, "v": x.v, "vd": x.vd, "lam": x.lam, "turns": self.work.turns.copy()}
        return state | {"origin": self.origin, "step": self.step, "index": self.index, "t": self.t}

    def statistics(self) -> dict[str, Any]:
        return {"steps": self.index, "rejected": 0, "newton_iterations": 0, "factorizations": 0}
