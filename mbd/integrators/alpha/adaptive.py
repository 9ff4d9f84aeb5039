"""Generalized-alpha with step-size control."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...compiled.entry import connect
from ...errors import ModelError, bad_value, check_number
from ..base import Array, Run, check_rows
from ..fixed_step import rows_of
from ..loop import run_steps
from ..verdicts import CONVERGED, STALLED
from .adaptive_steps import StepControl, run_controlled
from .methods import AlphaEquations, GeneralizedAlpha

if TYPE_CHECKING:
    from ...system.system import System

SMALLEST = 1e-9  # of the first step, unless min_step is given


@dataclass(frozen=True)
class AdaptiveAlpha(GeneralizedAlpha):
    """Generalized-alpha of index 2 with step-size control, **for short events in smooth motion**: pulses and switches.

    Where short pulses hit a slow mechanism it is many times more accurate than equal steps of the same number, which
    step over them. On smooth motion it is no better, and on conservative mechanisms worse, up to a factor of 20: errors
    of equal steps go up and come back, those of changing ones add up. Take GeneralizedAlpha there, and never this one
    for studies of conservation.

    A pulse between two steps is not seen: give ``switches`` to the load, at which steps end and behind which they begin
    short, or ``max_step``. ``step`` of ``simulate`` is the first step. Local errors of positions and velocities are
    controlled, stiff parts filtered out.

    Parameters
    ----------
    rtol, atol: bounds of the local error of positions (m, rad) and velocities: relative to coordinates and to the
        largest velocity of the same kind, and absolute.
    max_step, min_step: bounds of the step; a run that needs less than ``min_step`` (by default 1e-9 of the first step)
        stops with an error.
    rho_inf, newton, tangent_operator, stiffness, tolerance, predictor, corrected_start, parameters: of
        GeneralizedAlpha; more damping (0.6) than there is better with changing steps. ``stabilized`` must stay True.
    """

    rho_inf: float = 0.6
    rtol: float = 1e-4
    atol: float = 1e-5
    max_step: float = math.inf
    min_step: float = 0.0

    adaptive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.stabilized:
            raise ModelError(
                "AdaptiveAlpha: stabilized is False; expected True: index 3 is not built with changing steps"
            )
        if self.newton == "modified":
            raise bad_value(self.name, "newton", self.newton, "'step' or 'full': factors belong to one step size")
        check_number(self.rtol, self.name, "rtol", positive=True)
        check_number(self.atol, self.name, "atol", positive=True)
        check_number(self.min_step, self.name, "min_step", nonnegative=True)
        if self.max_step != math.inf:
            check_number(self.max_step, self.name, "max_step", positive=True)
        if self.min_step > self.max_step:
            raise bad_value(self.name, "min_step", self.min_step, f"at most max_step = {self.max_step:g}")

    def start(self, system: System, q: Array, v: Array, t: float, step: float, turns: Array | None) -> AdaptiveAlphaRun:
        run = AdaptiveAlphaRun(self, system, t, step)
        run.equations.load(q, v, turns)
        run.equations.start(t)
        return run

    def resume(self, system: System, state: dict[str, Any]) -> AdaptiveAlphaRun:
        run = AdaptiveAlphaRun(self, system, float(state["origin"]), float(state["step"]))
        run.restore(state)
        return run


class AdaptiveAlphaRun(Run):
    """A run with step-size control in progress."""

    control_memory = ("time", "next_step", "for_step", "last_step", "last_error", "known", "fresh", "steps", "rejected")

    def __init__(self, method: AdaptiveAlpha, system: System, t: float, step: float) -> None:
        self.method, self.system = method, system
        self.origin, self.step = t, step
        first = min(step, method.max_step)
        self.equations = AlphaEquations(method, system, t, first)
        x = self.equations.x
        shift = x.am - x.af
        cv = 1.0 / 6.0 - (0.5 * (1.0 - x.af) - (1.0 - x.am) * (0.5 + shift)) - x.gamma * (0.5 + shift)
        switches = sorted({time for force in system.model.forces for time in getattr(force, "switches", ())})
        self.control = StepControl(
            rtol=method.rtol, atol=method.atol, largest=method.max_step, time=t, next_step=first, for_step=first,
            smallest=method.min_step if method.min_step > 0.0 else SMALLEST * first, last_error=1.0,
            cq=(1.0 - 6.0 * x.beta - 3.0 * shift) / 6.0, cv=cv, last_step=first,
            switches=np.array([*switches, np.inf]), jerk=np.zeros(system.n_v), verdict=CONVERGED,
        )  # fmt: skip
        self.rows = rows_of(self.equations)
        connect(system.tables, run_controlled)
        connect(self.equations.numbers, run_steps)

    @property
    def work(self) -> Any:
        """Buffers of this run."""
        return self.equations.work

    @property
    def index(self) -> int:  # type: ignore[override]
        """Steps done since the origin."""
        return int(self.control.steps)

    @property
    def t(self) -> float:
        """Time of the state."""
        return float(self.control.time)

    def row(self) -> list[Array]:
        return [*self.equations.shown(), self.work.turns]

    def initial_row(self) -> list[Array]:
        return self.equations.initial_row(self.row())

    def advance(self, count: int, every: int, out: list[Array]) -> int:
        """Equal steps, without control."""
        check_rows(out, self.row(), (self.index + count) // every - self.index // every)
        e, c = self.equations, self.control
        e.numbers.step, e.numbers.index = self.step, self.index
        run_steps(e.addresses, e.numbers, self.rows, self.index // every, count, every, *out)
        c.steps += e.numbers.done
        c.time, c.known, c.verdict = self.origin + c.steps * self.step, 0, e.numbers.verdict
        return int(e.numbers.done)

    def advance_to(self, t_end: float, output: float, out_t: Array, out: list[Array]) -> int:
        """On to t_end, or until ``out_t`` is full; returns the rows written."""
        check_rows(out, self.row(), len(out_t))
        e = self.equations
        run_controlled(e.tables, e.work, e.x, e.numbers, self.control, e.addresses, t_end, output, out_t, *out)
        return int(self.control.rows)

    @property
    def failed(self) -> bool:
        """Whether the last advance stopped on an error."""
        return bool(self.control.verdict != CONVERGED)

    def act_anew(self) -> None:
        """Behind a sudden change the method begins as behind a switching time."""
        self.control.fresh = 1

    def _begin_at(self, q: Array, v: Array, turns: Array) -> None:
        self.equations.load(q, v, turns)
        self.act_anew()

    def failure(self) -> tuple[str, str]:
        if self.control.verdict == STALLED:
            return "convergence", (
                f"the step size fell to {self.control.next_step:.3g} and its error still exceeds the tolerance; a "
                "force that jumps (give switches=), or a tolerance below round-off: raise rtol and atol"
            )
        return self.equations.failure()

    def state(self) -> dict[str, Any]:
        own = {"origin": self.origin, "step": self.step, "index": self.index, "t": self.t}
        control = np.array([float(getattr(self.control, name)) for name in self.control_memory])
        return self.equations.state() | own | {"control": control, "jerk": self.control.jerk.copy()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        self.equations.restore(state)
        self.control.jerk[:] = state["jerk"]
        for name, value in zip(self.control_memory, np.asarray(state["control"]).tolist(), strict=True):
            setattr(self.control, name, value)

    def statistics(self) -> dict[str, Any]:
        p = self.equations.numbers
        return {
            "steps": self.index, "rejected": int(self.control.rejected), "newton_iterations": p.iterations,
            "factorizations": p.factorisations, "smallest_pivot_ratio": p.smallest_ratio,
        }  # fmt: skip
