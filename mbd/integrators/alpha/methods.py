"""Generalized-alpha for constrained systems on conventional and Lie nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...errors import ModelError
from ..base import Array, Integrator, Invariant, Run, near_gimbal_lock
from ..newton import SCALES
from . import equations as kernels
from . import state as names
from .state import AlphaNumbers, AlphaState

if TYPE_CHECKING:
    from ...system.system import System

NEWTON = {"full": 0, "step": 1, "modified": 2}
PREDICTORS = {"zero": 0, "last": 1, "linear": 2}


@dataclass(frozen=True)
class GeneralizedAlpha(Integrator):
    """Implicit method of second order with adjustable numerical damping; the default for mechanisms.

    Parameters
    ----------
    rho_inf: spectral radius at infinity, from 0 (strong damping of high frequencies) to 1 (none). Index 3 needs
        rho_inf < 1.
    newton: "step" evaluates the matrix once per step, and again where the iteration converges slowly; "full" in every
        iteration; "modified" keeps it over several steps while the iteration converges fast (with stabilized=True or
        redundant constraints for one step, like "step").
    tangent_operator: include T_exp in the matrix (fewer iterations at large steps; the result is the same).
    stabilized: index 2: position *and* velocity constraints hold at every step. False is index 3, positions alone:
        a step costs about two thirds, but where bodies spin fast it is inaccurate or fails (docs/default_method.md
        says which one is better where). Without constraints there is no difference. Single steps of index 2 across a
        configuration in which constraints lose rank are left to index 3 (``solution.stats["index_3_steps"]``).
    stiffness: include the tangent stiffness in the matrix.
    tolerance: Newton tolerance relative to the forces of the system.
    predictor: first guess of accelerations and multipliers: "linear", "last" or "zero".
    newton_count: "paper" uses the zero start and stop rule of Holzinger et al. (unscaled residual below 1e-10, or
        1e-8 of the first), so that their counts of iterations can be compared.
    corrected_start: start values for second order in every component, including the multipliers, from the first step
        on; False takes a_0 = v_dot_0.
    """

    rho_inf: float = 0.9
    newton: str = "step"
    tangent_operator: bool = True
    stabilized: bool = True
    stiffness: bool = True
    tolerance: float = 1e-8
    predictor: str = "linear"
    newton_count: str = "own"
    corrected_start: bool = True
    max_iterations: int = 20

    order: ClassVar[int] = 2
    nonholonomic: ClassVar[bool] = True
    cite: ClassVar[tuple[str, ...]] = (
        "Chung & Hulbert 1993, J. Appl. Mech. 60, 371",
        "Arnold & Bruls 2007, Multibody Syst. Dyn. 18, 185",
        "Bruls & Cardona 2010, J. Comput. Nonlinear Dyn. 5, 031002",
        "Arnold, Cardona & Bruls 2016, in Betsch (ed.), Structure-preserving Integrators, 91",
        "Holzinger, Arnold & Gerstmayr 2024, Multibody Syst. Dyn., Algorithms 4 and 5",
    )

    def __post_init__(self) -> None:
        if not 0.0 <= self.rho_inf <= 1.0:
            raise ModelError(f"GeneralizedAlpha: rho_inf is {self.rho_inf}; expected a number from 0 to 1")
        if self.newton not in NEWTON:
            raise ModelError(f"GeneralizedAlpha: newton is {self.newton!r}; expected 'full', 'step' or 'modified'")
        if self.predictor not in PREDICTORS:
            raise ModelError(f"GeneralizedAlpha: predictor is {self.predictor!r}; expected one of {list(PREDICTORS)}")
        if self.newton_count not in ("own", "paper"):
            raise ModelError(f"GeneralizedAlpha: newton_count is {self.newton_count!r}; expected 'own' or 'paper'")
        if not 0.0 < self.tolerance < 1.0:
            raise ModelError(f"GeneralizedAlpha: tolerance is {self.tolerance}; expected a small positive number")

    def preserves(self, system: System) -> frozenset[Invariant]:
        kept = {Invariant.POSITION_CONSTRAINTS, Invariant.LINEAR_MOMENTUM}
        if self.stabilized:
            kept.add(Invariant.VELOCITY_CONSTRAINTS)
        return frozenset(kept)

    def check(self, system: System) -> None:
        super().check(system)
        if self.rho_inf == 1.0 and system.n_l and not self.stabilized:
            from ...errors import IncompatibleError

            raise IncompatibleError(
                "GeneralizedAlpha(rho_inf=1) is unstable for constrained systems in index 3 (here: "
                f"{system.n_l} constraints). Use rho_inf=0.99 or less, or stabilized=True."
            )

    def start(self, system: System, q: Array, v: Array, t: float, step: float, turns: Array | None) -> AlphaRun:
        run = AlphaRun(self, system, t, step)
        run.x.q[:], run.x.v[:] = q, v
        if turns is not None:
            run.work.turns[: len(turns)] = turns
        run.begin()
        return run

    def resume(self, system: System, state: dict[str, Any]) -> AlphaRun:
        run = AlphaRun(self, system, float(state["origin"]), float(state["step"]))
        for name in run.saved:
            getattr(run.x, name)[:] = state[name]
        run.index = int(state["index"])
        run.work.turns[:] = state["turns"]
        run.work.signs[:] = state["signs"]
        run.numbers.memory[:] = state["memory"]
        if self.newton == "modified":
            for name in run.kept:
                getattr(run.work, name)[:] = state[f"work_{name}"]
        return run


class AlphaRun(Run):
    """A run of generalized-alpha in progress."""

    saved = ("q", "v", "vd", "a", "lam", "vd1", "lam1")
    kept = ("matrix", "pivots", "dinv", "t")

    def __init__(self, method: GeneralizedAlpha, system: System, t: float, step: float) -> None:
        self.method, self.system = method, system
        self.work = system.new_work()
        nv, nl = system.n_v, system.n_l
        self.x = AlphaState(
            q=np.zeros(system.n_q), v=np.zeros(nv), vd=np.zeros(nv), a=np.zeros(nv), lam=np.zeros(nl),
            vd1=np.zeros(nv), lam1=np.zeros(nl), qn=np.zeros(system.n_q), vn=np.zeros(nv), vdn=np.zeros(nv),
            lamn=np.zeros(nl), dw=np.zeros(nv), dq=np.zeros(nv), y=np.zeros(nv), zero=np.zeros(max(nv, nl, 1)),
            z0=np.zeros((len(system.tables.nodes), 12)),
        )  # fmt: skip
        rho = method.rho_inf
        am, af = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
        gamma = 0.5 + af - am
        beta = 0.25 * (gamma + 0.5) ** 2
        paper = method.newton_count == "paper"
        options = [
            0 if paper else PREDICTORS[method.predictor], method.tangent_operator, method.stiffness,
            NEWTON[method.newton], paper, method.stabilized and nl > 0, method.max_iterations,
        ]  # fmt: skip
        memory = np.zeros(10)
        memory[names.MEMORY_KEPT] = -1.0
        memory[names.MEMORY_RATIO] = 1e300
        self.numbers = AlphaNumbers(
            method=np.array([am, af, beta, gamma, method.tolerance]), options=np.array(options, dtype=np.int64),
            memory=memory, scales=np.zeros(SCALES), worst=np.zeros(1, dtype=np.int64),
        )  # fmt: skip
        self.origin, self.step, self.index = t, step, 0
        self.advance(0, 1, self._rows(1))  # compile, or load compiled code, before the clock starts

    def _rows(self, n: int) -> list[Array]:
        x = self.x
        return [np.zeros((n, len(y))) for y in (x.q, x.v, x.vd, x.lam, self.work.turns)]

    def begin(self) -> None:
        """Accelerations, multipliers and start values of the method."""
        w, x = self.work, self.x
        observed = x.v.copy()
        self.advance(-1, 1, self._rows(1))
        if not self.method.corrected_start:
            x.v[:] = observed
            x.a[:] = x.vd
        self._initial = [x.q.copy(), observed, x.vd.copy(), x.lam.copy(), w.turns.copy()]

    def initial_row(self) -> list[Array]:
        return self._initial

    @property
    def t(self) -> float:
        """Time of the state."""
        return self.origin + self.index * self.step

    def advance(self, count: int, every: int, out: list[Array]) -> int:
        done = kernels.run_alpha(
            self.system.tables, self.work, self.x, self.numbers, self.origin, self.index, self.step, count, every, *out
        )
        self.index += done
        return done

    def failure(self) -> tuple[str, str]:
        code = int(self.numbers.memory[names.MEMORY_CODE])
        worst = int(self.numbers.worst[0])
        error = self.numbers.memory[names.MEMORY_ERROR] * self.method.tolerance
        if code == names.CODE_CHART:
            return "singularity", self.system.model.bodies[worst - 1].name
        locked = near_gimbal_lock(self.system, self.x.q)
        if locked is not None:
            return "singularity", locked
        where = self.system.name_of_unknown(worst)
        if code == names.CODE_SINGULAR:
            return "convergence", (
                f"the iteration matrix is singular at {where}; look for redundant joints or massless directions there"
                + (", or try stabilized=True" if self._index_3 else "")
            )
        if code == names.CODE_UNSTABLE:
            return "convergence", (
                f"the velocities grow without regard to the constraints of {where}: index 3 is unstable at this step "
                "size; try stabilized=True, a smaller step, a smaller rho_inf, or Lie nodes"
            )
        if code == names.CODE_NOT_FINITE:
            return "convergence", (
                f"values are no longer finite, first at {where}; try {self._remedies()}, or look for forces that grow "
                "without bound there"
            )
        return "convergence", (
            f"Newton's method did not converge in {self.method.max_iterations} iterations (relative residual "
            f"{error:.1e}, largest at {where}); try {self._remedies()} or a smaller rho_inf"
        )

    @property
    def _index_3(self) -> bool:
        return self.system.n_l > 0 and not self.method.stabilized

    def _remedies(self) -> str:
        """What this method has not done yet."""
        other = ["stabilized=True"] * self._index_3 + ["newton='full'"] * (self.method.newton != "full")
        return ", ".join(["a smaller step", *other])

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = {name: getattr(self.x, name).copy() for name in self.saved}
        state |= {"origin": self.origin, "step": self.step, "index": self.index, "t": self.t}
        state |= {"turns": self.work.turns.copy(), "signs": self.work.signs.copy()}
        state["memory"] = self.numbers.memory.copy()
        if self.method.newton == "modified":
            state |= {f"work_{name}": getattr(self.work, name).copy() for name in self.kept}
        return state

    def statistics(self) -> dict[str, Any]:
        memory = self.numbers.memory
        return {
            "steps": self.index,
            "rejected": 0,
            "newton_iterations": int(memory[names.MEMORY_ITERATIONS]),
            "factorizations": int(memory[names.MEMORY_FACTORS]),
            "index_3_steps": int(memory[names.MEMORY_INDEX_3]),
            "smallest_pivot_ratio": float(memory[names.MEMORY_RATIO]),
        }
