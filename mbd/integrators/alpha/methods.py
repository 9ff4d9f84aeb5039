"""Generalized-alpha for constrained systems on conventional and Lie nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from ...compiled.record import Plan
from ...errors import IncompatibleError, ModelError, check_number
from ..base import Array, Invariant
from ..checks import keeps_momenta, momentum_is_linear
from ..fixed_step import Equations, FixedStep
from ..traits import near_gimbal_lock
from ..verdicts import CHART, describe
from .equations import ENTRIES
from .parameters import SAME, checked_parameters, radius_at_infinity
from .start import act_anew, start
from .state import EVERY_ITERATION, EVERY_STEP, WHILE_GOOD, AlphaState

if TYPE_CHECKING:
    from ...system.system import System
    from ..followed import Followed

NEWTON = {"full": EVERY_ITERATION, "step": EVERY_STEP, "modified": WHILE_GOOD}
STAGNATION = 100.0  # multiple of the tolerance that is accepted when round-off stops the iteration
PREDICTORS = {"zero": 0, "last": 1, "linear": 2}


@dataclass(frozen=True)
class GeneralizedAlpha(FixedStep):
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
    corrected_start: start values for second order in every component, including the multipliers, from the first step
        on; False takes a_0 = v_dot_0.
    parameters: (alpha_m, alpha_f, beta, gamma) of another member of the family, in place of those that ``rho_inf``
        gives; ``rho_inf`` then says what their spectral radius at infinity is. ``hht``, ``wbz``, ``newmark`` and
        ``trapezoidal`` know those of the literature. The order is 2 where gamma = 1/2 - alpha_m + alpha_f, else 1.
    """

    rho_inf: float = 0.9
    newton: str = "step"
    tangent_operator: bool = True
    stabilized: bool = True
    stiffness: bool = True
    tolerance: float = 1e-8
    predictor: str = "linear"
    corrected_start: bool = True
    max_iterations: int = 20
    parameters: tuple[float, float, float, float] | None = None

    told_where_given: ClassVar[dict[str, Any]] = {"parameters": None}
    newton_count: ClassVar[str] = "own"
    told_in_states: ClassVar[tuple[str, ...]] = ("newton_count",)
    nonholonomic: ClassVar[bool] = True
    massless: ClassVar[bool] = True
    joint_coordinates: ClassVar[bool] = True
    cite: ClassVar[tuple[str, ...]] = (
        "Chung & Hulbert 1993, J. Appl. Mech. 60, 371",
        "Arnold & Bruls 2007, Multibody Syst. Dyn. 18, 185",
        "Bruls & Cardona 2010, J. Comput. Nonlinear Dyn. 5, 031002",
        "Arnold, Cardona & Bruls 2016, in Betsch (ed.), Structure-preserving Integrators, 91",
        "Holzinger, Arnold & Gerstmayr 2024, Multibody Syst. Dyn., Algorithms 4 and 5",
        "Newmark 1959, J. Eng. Mech. Div. 85, 67 (newmark, trapezoidal)",
        "Hilber, Hughes & Taylor 1977, Earthquake Eng. Struct. Dyn. 5, 283 (hht)",
        "Wood, Bossak & Zienkiewicz 1980, Int. J. Numer. Methods Eng. 15, 1562 (wbz)",
    )

    @classmethod
    def followed(cls) -> type[Followed] | None:
        from .followed import AlphaFollowed

        return AlphaFollowed if cls is GeneralizedAlpha else None  # other classes step otherwise

    def __post_init__(self) -> None:
        if self.parameters is not None:
            object.__setattr__(self, "parameters", checked_parameters(self.name, self.parameters))
            radius = radius_at_infinity(*self.parameters[1:])
            if self.rho_inf not in (type(self).rho_inf, radius):
                both = f"rho_inf is {self.rho_inf}, and parameters are {self.parameters}"
                raise ModelError(f"{self.name}: {both}; expected one of them")
            object.__setattr__(self, "rho_inf", radius)
        elif not 0.0 <= self.rho_inf <= 1.0:
            raise ModelError(f"GeneralizedAlpha: rho_inf is {self.rho_inf}; expected a number from 0 to 1")
        if self.newton not in NEWTON:
            raise ModelError(f"GeneralizedAlpha: newton is {self.newton!r}; expected 'full', 'step' or 'modified'")
        if self.predictor not in PREDICTORS:
            raise ModelError(f"GeneralizedAlpha: predictor is {self.predictor!r}; expected one of {list(PREDICTORS)}")
        if not 0.0 < self.tolerance < 1.0:
            raise ModelError(f"GeneralizedAlpha: tolerance is {self.tolerance}; expected a small positive number")

    @classmethod
    def hht(cls, alpha: float = -0.1, **options: Any) -> Self:
        """The method of Hilber, Hughes and Taylor, alpha from -1/3 (most damping) to 0 (none); second order."""
        if not -1.0 / 3.0 <= check_number(alpha, f"{cls.__name__}.hht", "alpha") <= 0.0:
            raise ModelError(f"{cls.__name__}.hht: alpha is {alpha}; expected a number from -1/3 to 0")
        return cls(parameters=(0.0, -alpha, 0.25 * (1.0 - alpha) ** 2, 0.5 - alpha), **options)

    @classmethod
    def wbz(cls, alpha: float = -0.1, **options: Any) -> Self:
        """The method of Wood, Bossak and Zienkiewicz, alpha from -1 (most damping) to 0 (none); second order."""
        if not -1.0 <= check_number(alpha, f"{cls.__name__}.wbz", "alpha") <= 0.0:
            raise ModelError(f"{cls.__name__}.wbz: alpha is {alpha}; expected a number from -1 to 0")
        return cls(parameters=(alpha, 0.0, 0.25 * (1.0 - alpha) ** 2, 0.5 - alpha), **options)

    @classmethod
    def newmark(cls, beta: float = 0.25, gamma: float = 0.5, **options: Any) -> Self:
        """Newmark's method; gamma > 1/2 damps, at the price of the second order: for comparisons.

        It is stable at any step for beta >= (gamma + 1/2)^2 / 4; below that, index 3 is refused.
        """
        return cls(parameters=(0.0, 0.0, beta, gamma), **options)

    @classmethod
    def trapezoidal(cls, **options: Any) -> Self:
        """The trapezoidal rule, Newmark's method with beta = 1/4 and gamma = 1/2; the same as ``rho_inf=1``."""
        return cls.newmark(0.25, 0.5, **options)

    @property
    def order(self) -> int:  # type: ignore[override]
        """2, or 1 of parameters that buy damping with accuracy."""
        am, af, _, gamma = self.weights
        return 2 if abs(gamma - (0.5 - am + af)) < SAME else 1

    @property
    def weights(self) -> tuple[float, float, float, float]:
        """(alpha_m, alpha_f, beta, gamma)."""
        if self.parameters is not None:
            return self.parameters
        rho = self.rho_inf
        am, af = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
        gamma = 0.5 + af - am
        return am, af, 0.25 * (gamma + 0.5) ** 2, gamma

    def preserves(self, system: System) -> frozenset[Invariant]:
        return kept_by_equations(system, self.stabilized)

    def check(self, system: System) -> None:
        super().check(system)
        if self.rho_inf >= 1.0 and system.n_l and not self.stabilized:
            raise IncompatibleError(
                f"GeneralizedAlpha with {self._told_as} is unstable for constrained systems in index 3 (here: "
                f"{system.n_l} constraints). Use {self._damped}, or stabilized=True."
            )

    @property
    def _told_as(self) -> str:
        return (
            "rho_inf=1"
            if self.parameters is None
            else f"parameters={self.parameters} (spectral radius {self.rho_inf:.4g})"
        )

    @property
    def _damped(self) -> str:
        return "rho_inf=0.99 or less" if self.parameters is None else "parameters that damp, such as hht(-0.1)"

    def equations(self, system: System, t: float, step: float) -> AlphaEquations:
        return AlphaEquations(self, system, t, step)


@dataclass(frozen=True)
class PaperAlpha(GeneralizedAlpha):
    """Generalized-alpha with the zero start and the stop rule of Holzinger et al., to compare counts of iterations.

    The rule is an unscaled residual below 1e-10, or 1e-8 of the first.
    """

    newton_count: ClassVar[str] = "paper"


def kept_by_equations(system: System, stabilized: bool) -> frozenset[Invariant]:
    """What the equations of generalized-alpha keep, whatever formulas of velocities go with them."""
    kept = {Invariant.POSITION_CONSTRAINTS}
    if keeps_momenta(system) and momentum_is_linear(system):
        kept.add(Invariant.LINEAR_MOMENTUM)
    if stabilized:
        kept.add(Invariant.VELOCITY_CONSTRAINTS)
    return frozenset(kept)


@lru_cache(maxsize=64)
def _plan_of_state(nq: int, nv: int, nl: int, nodes: int, past: int) -> Plan:
    """Where the arrays of the state of a run lie."""
    return AlphaState.plan(
        {
            "q": nq,
            "qn": nq,
            **dict.fromkeys(("v", "vd", "a", "vd1", "vn", "vdn", "dw", "dq", "y", "lead"), nv),
            **dict.fromkeys(("lam", "lam1", "lamn", "zeta"), nl),
            "zero": max(nv, nl, 1),
            "z0": (nodes, 12),
            "past_d": (past, nv),
            "past_v": (past, nv),
        }
    )


class AlphaEquations(Equations):
    """Generalized-alpha on a system."""

    entries = ENTRIES
    anew = act_anew
    saved: ClassVar[tuple[str, ...]] = ("q", "v", "vd", "a", "lam", "vd1", "lam1")
    memory = (
        "history", "iterations", "factorisations", "kept", "verdict", "error", "smallest_ratio", "begin_anew",
        "index_3_steps", "usual_ratio",
    )  # fmt: skip
    factors = ("matrix", "pivots", "dinv", "t")
    begins_again = True
    past: ClassVar[int] = 0  # steps before the last one that the method remembers

    def __init__(self, method: GeneralizedAlpha, system: System, t: float, step: float) -> None:
        super().__init__(method, system)
        self.tables, self.work = system.tables, system.new_work()
        nq, nv, nl = system.n_q, system.n_v, system.n_l
        am, af, beta, gamma = method.weights
        index_2, paper, past = method.stabilized and nl > 0, method.newton_count == "paper", self.past
        plan = _plan_of_state(nq, nv, nl, len(system.tables.nodes), past)
        self.x = AlphaState.zeros(
            plan, am=am, af=af, beta=beta, gamma=gamma, predictor=0 if paper else PREDICTORS[method.predictor],
            tangent_operator=method.tangent_operator, stiffness=method.stiffness, newton=NEWTON[method.newton],
            paper=paper, index_2=index_2, stabilized=index_2, kept=-1,
        )  # fmt: skip
        self.set_up(t, step, (self.x.z0, self.work.z), stagnation=STAGNATION, enough_at_once=-1.0 if paper else 1.0)

    def start(self, t: float) -> None:
        x = self.x
        observed = x.v.copy()
        start(self.tables, self.work, x, self.numbers)
        if not self.method.corrected_start:
            x.v[:] = observed
            x.a[:] = x.vd
        self._observed = observed

    def shown(self) -> list[Array]:
        x = self.x
        return [x.q, x.v, x.vd, x.lam]

    def initial_row(self, row: list[Array]) -> list[Array]:
        """Velocities as they were given, without the defect that belongs to the method."""
        q, _, *rest = (y.copy() for y in row)
        return [q, self._observed, *rest]

    def failure(self) -> tuple[str, str]:
        p = self.numbers
        if p.verdict == CHART:
            return "singularity", self.system.model.bodies[p.worst - 1].name
        locked = near_gimbal_lock(self.system, self.x.q)
        if locked is not None:
            return "singularity", locked
        index_3 = self.system.n_l > 0 and not self.method.stabilized
        other = ["stabilized=True"] * index_3 + ["newton='full'"] * (self.method.newton != "full")
        return "convergence", describe(
            p.verdict, self.name_of_unknown(p.worst), self.method.max_iterations, p.error * self.method.tolerance,
            remedies=", ".join(["a smaller step", *other]), last_remedy=" or a smaller rho_inf",
            or_else=", or try stabilized=True" if index_3 else "",
        )  # fmt: skip

    def state(self) -> dict[str, Any]:
        state = super().state() | {"signs": self.work.signs.copy()}
        if self.x.led:  # inputs have changed since the last step, and may change again
            state["lead"] = self.x.lead.copy()
        if self.method.newton == "modified":
            state |= {f"work_{name}": getattr(self.work, name).copy() for name in self.factors}
        return state

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.work.signs[:] = state["signs"]
        self.x.led = int("lead" in state)
        if self.x.led:
            self.x.lead[:] = state["lead"]
        if self.method.newton == "modified":
            for name in self.factors:
                getattr(self.work, name)[:] = state[f"work_{name}"]

    def statistics(self) -> dict[str, Any]:
        return {"index_3_steps": self.x.index_3_steps}
