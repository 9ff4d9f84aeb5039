"""Generalized-alpha for constrained systems on conventional and Lie nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..packed import pack
from . import alpha_kernels as kernels
from .alpha_kernels import AlphaNumbers, AlphaState
from .base import Array, Integrator, Invariant, Run, near_gimbal_lock
from .newton import SCALES

if TYPE_CHECKING:
    from ..system.system import System

PREDICTORS = {"zero": 0, "last": 1, "linear": 2}


@dataclass(frozen=True)
class GeneralizedAlpha(Integrator):
    """Implicit method of second order with adjustable numerical damping; the default for mechanisms.

    Parameters
    ----------
    rho_inf: spectral radius at infinity, from 0 (strong damping of high frequencies) to 1 (none). Index 3 needs
        rho_inf < 1.
    newton: "full" evaluates the matrix in every iteration, "modified" keeps it while the iteration converges fast.
    tangent_operator: include T_exp in the matrix (fewer iterations at large steps; the result is the same).
    stabilized: index 2: position *and* velocity constraints hold at every step, at roughly twice the cost of a step;
        clearly more accurate at equal steps.
    stiffness: include the tangent stiffness in the matrix.
    tolerance: Newton tolerance relative to the forces of the system.
    predictor: first guess of accelerations and multipliers: "linear", "last" or "zero".
    newton_count: "paper" uses the zero start and stop rule of Holzinger et al. (unscaled residual below 1e-10, or
        1e-8 of the first), so that their counts of iterations can be compared.
    corrected_start: start values for second order in every component, including the multipliers, from the first step
        on; False takes a_0 = v_dot_0.
    """

    rho_inf: float = 0.9
    newton: str = "full"
    tangent_operator: bool = True
    stabilized: bool = False
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
        if self.newton not in ("full", "modified"):
            raise ModelError(f"GeneralizedAlpha: newton is {self.newton!r}; expected 'full' or 'modified'")
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
            from ..errors import IncompatibleError

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
    kept = ("matrix", "matrix2", "pivots", "pivots2", "dinv", "dinv2", "t")

    def __init__(self, method: GeneralizedAlpha, system: System, t: float, step: float) -> None:
        self.method, self.system = method, system
        work = system.new_work()
        self.work = system.two_matrices(work) if method.stabilized else work
        nv, nl = system.n_v, system.n_l
        self.x = pack(AlphaState(
            q=np.zeros(system.n_q), v=np.zeros(nv), vd=np.zeros(nv), a=np.zeros(nv), lam=np.zeros(nl),
            vd1=np.zeros(nv), lam1=np.zeros(nl), qn=np.zeros(system.n_q), vn=np.zeros(nv), vdn=np.zeros(nv),
            lamn=np.zeros(nl), dw=np.zeros(nv), dq=np.zeros(nv), y=np.zeros(nv), zero=np.zeros(max(nv, nl, 1)),
        ))  # fmt: skip
        rho = method.rho_inf
        am, af = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
        gamma = 0.5 + af - am
        beta = 0.25 * (gamma + 0.5) ** 2
        paper = method.newton_count == "paper"
        options = [
            0 if paper else PREDICTORS[method.predictor], method.tangent_operator, method.stiffness,
            method.newton == "modified", paper, method.stabilized, method.max_iterations,
        ]  # fmt: skip
        memory = np.zeros(8)
        memory[kernels.MEMORY_KEPT] = -1.0
        memory[kernels.MEMORY_RATIO] = 1e300
        self.numbers = pack(AlphaNumbers(
            np.array([am, af, beta, gamma, method.tolerance]), np.array(options, dtype=np.int64), memory,
            np.zeros(SCALES), np.zeros(1, dtype=np.int64),
        ))  # fmt: skip
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
        code = int(self.numbers.memory[kernels.MEMORY_CODE])
        worst = int(self.numbers.worst[0])
        error = self.numbers.memory[kernels.MEMORY_ERROR] * self.method.tolerance
        if code == kernels.CODE_CHART:
            return "singularity", self.system.model.bodies[worst - 1].name
        locked = near_gimbal_lock(self.system, self.x.q)
        if locked is not None:
            return "singularity", locked
        where = self.system.name_of_unknown(worst)
        if code == kernels.CODE_SINGULAR:
            return "convergence", (
                f"the iteration matrix is singular at {where}; look for redundant joints or massless directions there"
            )
        if code == kernels.CODE_UNSTABLE:
            return "convergence", (
                f"the velocities grow without regard to the constraints of {where}: index 3 is unstable at this step "
                "size; try a smaller step, stabilized=True, a smaller rho_inf, or Lie nodes"
            )
        if code == kernels.CODE_NOT_FINITE:
            return "convergence", (
                f"values are no longer finite, first at {where}; try a smaller step, or look for forces that grow "
                "without bound there"
            )
        return "convergence", (
            f"Newton's method did not converge in {self.method.max_iterations} iterations (relative residual "
            f"{error:.1e}, largest at {where}); try a smaller step, newton='full', or a smaller rho_inf"
        )

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
            "newton_iterations": int(memory[kernels.MEMORY_ITERATIONS]),
            "factorizations": int(memory[kernels.MEMORY_FACTORS]),
            "smallest_pivot_ratio": float(memory[kernels.MEMORY_RATIO]),
        }
