"""Explicit Runge-Kutta methods, classical on conventional nodes and Munthe-Kaas on Lie nodes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...compiled.bound import bound
from ...compiled.entry import connect
from ...compiled.record import Beginning
from ...errors import bad_value, check_number
from ..base import Array, Integrator, Invariant, Run, check_rows
from ..checks import keeps_momenta, momentum_is_linear
from ..traits import near_gimbal_lock
from ..verdicts import CHART, CONVERGED, PROJECTION, SINGULAR, STALLED
from .kernels import begin, run_adaptive, run_fixed
from .state import RungeKuttaNumbers, RungeKuttaState
from .tableaux import DOPRI5_TABLEAU, ODE23_TABLEAU, RK4_TABLEAU, RK6_TABLEAU, Tableau

if TYPE_CHECKING:
    from ...system.system import System
    from ..followed import Followed

PATIENCE = 300  # steps of the smallest size in a row that do not meet the tolerance, before a run stops
HOLZINGER = "Holzinger, Arnold & Gerstmayr 2024, Multibody Syst. Dyn., Algorithms 2 and 3, Appendix B"


@dataclass(frozen=True)
class RungeKutta(Integrator):
    """Base of the explicit methods.

    Constrained systems are integrated in their index-1 form and projected back to the constraints (positions and
    velocities, in the mass metric) after each accepted step.
    """

    tableau: ClassVar[Tableau]
    half_explicit: ClassVar[bool] = False
    """Whether stages meet the velocity constraints."""
    nonholonomic: ClassVar[bool] = True
    massless: ClassVar[bool] = True
    joint_coordinates: ClassVar[bool] = True

    def preserves(self, system: System) -> frozenset[Invariant]:
        kept = {Invariant.POSITION_CONSTRAINTS, Invariant.VELOCITY_CONSTRAINTS}
        if keeps_momenta(system) and momentum_is_linear(system):
            kept.add(Invariant.LINEAR_MOMENTUM)
        return frozenset(kept)

    @classmethod
    def followed(cls) -> type[Followed] | None:
        from .followed import RungeKuttaFollowed

        return RungeKuttaFollowed

    def control(self, step: float) -> dict[str, float]:
        """Parameters of the step-size control, by the names of ``RungeKuttaNumbers``; none for fixed steps."""
        return {}

    def start(self, system: System, q: Array, v: Array, t: float, step: float, turns: Array | None) -> RungeKuttaRun:
        run = RungeKuttaRun(self, system, t, step)
        run.begin(q, v, turns)
        return run

    def resume(self, system: System, state: dict[str, Any]) -> RungeKuttaRun:
        run = RungeKuttaRun(self, system, float(state["origin"]), float(state["step"]))
        run.restore(state)
        return run


@dataclass(frozen=True)
class RK4(RungeKutta):
    """The classical method of order four with fixed steps."""

    order: ClassVar[int] = 4
    tableau: ClassVar[Tableau] = RK4_TABLEAU
    cite: ClassVar[tuple[str, ...]] = ("Kutta 1901", "Munthe-Kaas 1999, Appl. Numer. Math. 29, 115", HOLZINGER)


@dataclass(frozen=True)
class RK6(RungeKutta):
    """Butcher's method of order six with seven stages and fixed steps."""

    order: ClassVar[int] = 6
    tableau: ClassVar[Tableau] = RK6_TABLEAU
    cite: ClassVar[tuple[str, ...]] = ("Butcher 1964", "Munthe-Kaas 1999, Appl. Numer. Math. 29, 115", HOLZINGER)


@dataclass(frozen=True)
class AdaptiveRungeKutta(RungeKutta):
    """Embedded pairs with the step-size control of Holzinger et al., Appendix B.

    ``rtol`` and ``atol`` bound the error of a step in positions, rotations (radians) and velocities, ``atol`` in the
    units of the model: in kilometres or milliseconds the same number means other steps. ``max_step`` and ``min_step``
    bound the step (at ``min_step`` a step is accepted in any case and counted in
    ``solution.stats["forced_steps"]``); ``fixed=True`` switches the control off. A new step is at most ``safety``, not
    above one, times the one that the error allows, and at most ``max_increase``, at least one, times the last. Without
    ``min_step`` a run stops when hundreds of steps of 1e-9 of the first one in a row do not meet the tolerance.
    """

    rtol: float = 1e-6
    atol: float = 1e-8
    safety: float = 0.9
    max_increase: float = 2.0
    min_step: float = 0.0
    max_step: float = float("inf")
    fixed: bool = False

    def __post_init__(self) -> None:
        for name in ("rtol", "atol", "safety", "max_increase"):
            check_number(getattr(self, name), self.name, name, positive=True)
        check_number(self.min_step, self.name, "min_step", nonnegative=True)
        if self.max_step != math.inf:
            check_number(self.max_step, self.name, "max_step", positive=True)
        if self.safety > 1.0:
            raise bad_value(self.name, "safety", self.safety, "at most 1: longer steps than the error allows fail")
        if self.max_increase < 1.0:
            raise bad_value(self.name, "max_increase", self.max_increase, "at least 1, or steps can only shrink")
        if self.min_step > self.max_step:
            raise bad_value(self.name, "min_step", self.min_step, f"at most max_step = {self.max_step:g}")
        if not isinstance(self.fixed, bool | np.bool_):
            raise bad_value(self.name, "fixed", self.fixed, "True or False")

    @property
    def adaptive(self) -> bool:  # type: ignore[override]
        """Whether the step size is controlled."""
        return not self.fixed

    def control(self, step: float) -> dict[str, float]:
        return {
            "rtol": self.rtol, "atol": self.atol, "safety": self.safety, "increase": self.max_increase,
            "smallest": self.min_step if self.min_step > 0.0 else 1e-9 * step, "largest": self.max_step,
            "exponent": 1.0 / (self.tableau.order + 1), "patience": math.inf if self.min_step > 0.0 else PATIENCE,
        }  # fmt: skip


@dataclass(frozen=True)
class ODE23(AdaptiveRungeKutta):
    """Bogacki and Shampine's pair of order three with step-size control."""

    order: ClassVar[int] = 3
    tableau: ClassVar[Tableau] = ODE23_TABLEAU
    cite: ClassVar[tuple[str, ...]] = ("Bogacki & Shampine 1989, Appl. Math. Lett. 2, 321", HOLZINGER)


@dataclass(frozen=True)
class DOPRI5(AdaptiveRungeKutta):
    """Dormand and Prince's pair of order five with step-size control; ``step`` of ``simulate`` is the first step.

    >>> model = mbd.Model()
    >>> ball = model.add(mbd.PointMass("ball", mass=1.0, position=(1.5, 0, 0)))
    >>> spring = model.add(mbd.forces.Spring(model.ground, ball, stiffness=1.0, length=1.0))
    >>> method = mbd.integrators.DOPRI5(rtol=1e-8, atol=1e-8)
    >>> solution = mbd.simulate(model, t_end=2 * np.pi, step=0.1, integrator=method)
    >>> solution[ball].position[-1].round(6).tolist()
    [1.5, 0.0, 0.0]
    """

    order: ClassVar[int] = 5
    tableau: ClassVar[Tableau] = DOPRI5_TABLEAU
    cite: ClassVar[tuple[str, ...]] = ("Dormand & Prince 1980, J. Comput. Appl. Math. 6, 19", HOLZINGER)


@dataclass(frozen=True)
class HEDOP5(AdaptiveRungeKutta):
    """The half-explicit method HEDOP5 of order five: DOPRI5 whose stages meet the velocity constraints.

    Second derivatives of constraints enter at the ends of steps only, stages have the index 2. At the price of DOPRI5
    it is up to 17 times more accurate on constrained systems (docs/default_method.md); with coarse steps, in which
    constraints turn far, either may be better, and without constraints both are the same. Positions and velocities are
    projected back after each step. The error estimate of velocities is of fourth order, and with it steps are a
    little shorter than needed. ``fixed=True`` switches the control off.

    Reactions are those of the index-1 form at the records; with them a step begins, in place of the eighth
    stage of the paper.
    """

    order: ClassVar[int] = 5
    tableau: ClassVar[Tableau] = DOPRI5_TABLEAU
    half_explicit: ClassVar[bool] = True
    cite: ClassVar[tuple[str, ...]] = (
        "Arnold 1998, BIT 38, 415",
        "Dormand & Prince 1980, J. Comput. Appl. Math. 6, 19",
    )

    def control(self, step: float) -> dict[str, float]:
        return super().control(step) | {"exponent": 1.0 / 5.0}


def _switches(system: System) -> list[float]:
    """Times at which loads jump, in order."""
    return sorted({time for force in system.model.forces for time in getattr(force, "switches", ())})


class RungeKuttaRun(Run):
    """A run of an explicit method in progress."""

    saved = ("q", "v", "vd", "lam")
    memory = (
        "verdict", "where", "steps", "rejected", "evaluations", "next_step", "time", "forced", "in_vain", "projections",
    )  # fmt: skip
    """Numbers that a restart needs."""

    def __init__(self, method: RungeKutta, system: System, t: float, step: float) -> None:
        self.method, self.system = method, system
        self.work = system.new_work()
        nv, nl, stages = system.n_v, system.n_l, len(method.tableau.b)
        self.x = RungeKuttaState.zeros(
            dict.fromkeys(("q", "qn"), system.n_q) | dict.fromkeys(("v", "vd", "vn", "dq"), nv)
            | {"lam": nl, "kq": (stages, nv), "kv": (stages, nv), "zero": max(nv, nl, 1), **self._half_explicit_sizes()}
        )  # fmt: skip
        self._switches = _switches(system)
        tableau = method.tableau
        self.numbers = RungeKuttaNumbers(
            a=tableau.a, b=tableau.b, c=tableau.c, error=tableau.error, origin=t, step=step, next_step=step, time=t,
            first_same_as_last=tableau.first_same_as_last, switches=np.array([*self._switches, np.inf]),
            half_explicit=(2 if method.adaptive else 1) if method.half_explicit else 0,
            constraint_rows=self._constraint_rows(), **method.control(step),
        )  # fmt: skip
        self.origin, self.step = t, step
        # compiled, or loaded, before the clock starts
        connect(system.tables, begin, run_adaptive if method.adaptive else run_fixed)
        self._begin = bound(begin, system.tables, self.work, self.x, self.numbers)
        self._beginning = Beginning(self.work, self.x, self.numbers)

    def _half_explicit_sizes(self) -> dict[str, int]:
        n, size = (len(self.work.x), len(self.work.matrix)) if self.method.half_explicit else (0, 0)
        return {"blocks": size, "forces": n, "rates": n}

    def _constraint_rows(self) -> Array:
        """Places of the entries of the matrix that are in rows of constraints."""
        if not self.method.half_explicit:
            return np.zeros(0, dtype=np.int64)
        rows, _, places = self.system.assembly.layout.entries(np.arange(len(self.work.matrix)))
        return np.ascontiguousarray(places[np.isin(rows, self.system.tables.xl)], dtype=np.int64)

    def begin(self, q: Array, v: Array, turns: Array | None) -> None:
        """Take over the first state, and compute its accelerations."""
        self.x.q[:], self.x.v[:] = q, v
        if turns is not None:
            self.work.turns[: len(turns)] = turns
        self._begin()
        self._initial = [y.copy() for y in self.row()]

    def begin_again(self, q: Array, v: Array) -> bool:
        if self._switches != _switches(self.system) or not self._beginning.restore():
            return False
        self.system.prepare_work(self.work)
        self.begin(q, v, None)
        return True

    def initial_row(self) -> list[Array]:
        return self._initial

    @property
    def index(self) -> int:  # type: ignore[override]
        """Steps done since the origin, as compiled code counts them."""
        return self.numbers.steps

    @property
    def t(self) -> float:
        """Time of the state."""
        return self.numbers.time if self.method.adaptive else self.origin + self.index * self.step

    def advance(self, count: int, every: int, out: list[Array]) -> int:
        before = self.index // every
        check_rows(out, self.row(), (self.index + count) // every - before)
        run_fixed(self.system.tables, self.work, self.x, self.numbers, before, count, every, *out)
        return self.numbers.done

    def bound_step(self, every: int, before: int, out: list[Array]) -> Callable[[], Any]:
        check_rows(out, self.row(), 0)
        return bound(run_fixed, self.system.tables, self.work, self.x, self.numbers, before, 1, every, *out)

    def act_anew(self) -> None:
        self.numbers.time = self.t
        self._begin()

    def _begin_at(self, q: Array, v: Array, turns: Array) -> None:
        self.x.q[:], self.x.v[:], self.work.turns[:] = q, v, turns
        self.act_anew()

    def advance_to(self, t_end: float, output: float, out_t: Array, out: list[Array]) -> int:
        """With step-size control: on to t_end, or until ``out_t`` is full; returns the rows written."""
        check_rows(out, self.row(), len(out_t))
        run_adaptive(self.system.tables, self.work, self.x, self.numbers, t_end, output, out_t, *out)
        return self.numbers.rows

    @property
    def failed(self) -> bool:
        """Whether the last advance stopped on an error."""
        return self.numbers.verdict != CONVERGED

    def failure(self) -> tuple[str, str]:
        p = self.numbers
        if p.verdict == CHART:
            return "singularity", self.system.model.bodies[p.where - 1].name
        locked = near_gimbal_lock(self.system, self.x.q)
        if locked is not None:
            return "singularity", locked
        if p.verdict == SINGULAR:
            where = self.system.name_of_unknown(p.where)
            words = f"the mass matrix with constraints is singular at {where}; look for redundant joints [MBD-E24]"
            return "convergence", words
        if p.verdict == STALLED:
            return "convergence", (
                f"the step size fell to {p.next_step:.3g} and its error still exceeds the tolerance; a force that "
                "jumps (give switches=), a motion that ends in a singularity, or a tolerance below round-off: raise "
                "rtol and atol, or give min_step="
            )
        if p.verdict == PROJECTION:
            return "convergence", "the projection to the constraints failed; try a smaller step"
        return "convergence", (
            "values are no longer finite; the step is probably too large for an explicit method (stiff springs, fast "
            "rotations): try a smaller step, DOPRI5 with step-size control, or GeneralizedAlpha [MBD-E26]"
        )

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = {name: getattr(self.x, name).copy() for name in self.saved}
        state |= {"origin": self.origin, "step": self.step, "index": self.index, "t": self.t}
        state |= {"turns": self.work.turns.copy(), "signs": self.work.signs.copy()}
        state["memory"] = np.array([float(getattr(self.numbers, name)) for name in self.memory])
        return state

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        for name in self.saved:
            getattr(self.x, name)[:] = state[name]
        self.work.turns[:] = state["turns"]
        self.work.signs[:] = state["signs"]
        for name, value in zip(self.memory, np.asarray(state["memory"]).tolist(), strict=True):
            setattr(self.numbers, name, value)

    def statistics(self) -> dict[str, Any]:
        p = self.numbers
        return {
            "steps": self.index,
            "rejected": p.rejected,
            "forced_steps": p.forced,
            "newton_iterations": p.projections,
            "factorizations": p.evaluations,
            "evaluations": p.evaluations,
        }
