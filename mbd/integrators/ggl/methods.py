"""GGL integrators: position and velocity constraints from one variational principle, on points and directors."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ...errors import ModelError, ModelWarning, check_number
from ..base import Array, Invariant, Trait, Variable, missing_trait
from ..checks import check_newton, check_no_lines, check_regular_directors, check_regular_generalized, keeps_momenta
from ..converted import StepsDirectors, momenta
from ..fixed_step import FixedStep, FixedStepRun
from .assembly import GUESSES, GGLEquations
from .state import EM, EULER, THETA

if TYPE_CHECKING:
    from ...results.solution import Solution
    from ...system.system import System

Coefficients = tuple[dict[str, float], dict[str, str], dict[str, str]]


@dataclass(frozen=True)
class GGL(StepsDirectors, FixedStep):
    """Base of the GGL integrators; use GGLEuler, GGLMidpoint, GGLTrapezoidal or GGLEM.

    They work on points and directors. Bodies in other coordinates are stepped in directors and recorded in their own;
    generalized coordinates with a constant mass matrix are stepped as they are.

    Parameters
    ----------
    tolerance: Newton tolerance relative to the forces of the system; the invariants drift by about as much.
    max_iterations: limit of the Newton iterations of a step.
    guess: first guess of the Newton iteration: "acceleration" continues the motion of the last steps (or takes one of
        the others, if that was nearer to the solution of the last step); "velocity" (q + h v) and "position" (q) are
        those of Table 2 of the cited paper.
    """

    tolerance: float = 1e-10
    max_iterations: int = 20
    guess: str = "acceleration"

    requires: ClassVar[frozenset[Trait]] = frozenset({Trait.LINEAR_OR_CONSTANT})
    nonholonomic: ClassVar[bool] = True
    symplectic: ClassVar[bool] = True
    scheme: ClassVar[int] = THETA
    unknown_blocks: ClassVar[int] = 2
    alternating: ClassVar[bool] = False  # whether multipliers go on like those of the step before the last
    recorded: ClassVar[tuple[str, ...]] = ("gamma", "lambda")
    derived: ClassVar[tuple[str, ...]] = ("p",)
    cite: ClassVar[tuple[str, ...]] = ("Kinon, Betsch & Schneider 2023, Nonlinear Dyn. 111, 14231",)

    def __post_init__(self) -> None:
        check_newton(self)
        if self.guess not in GUESSES:
            raise ModelError(f"{self.name}: guess is {self.guess!r}; expected one of {', '.join(GUESSES)}")

    @property
    def shift(self) -> float:
        """Where in the step forces are evaluated."""
        return 0.5

    @abstractmethod
    def coefficients(self, h: float) -> Coefficients:
        """What distinguishes the methods (``GGLState``): numbers, zero if left out; frames; functions of time there."""

    @property
    def growth(self) -> tuple[float, str, str]:
        """Factor by which an error of constrained systems is multiplied in each step, what grows, and what to take."""
        return 1.0, "", ""

    @property
    def variables(self) -> dict[str, Variable]:
        shift = self.shift - 1.0
        return {
            "lambda": Variable("multipliers of the constraints in the balance of momenta, of the step", shift),
            "gamma": Variable("multipliers of the constraints in the kinematic equation, of the step", shift),
            "p": Variable("momenta", 0.0),
        }

    def variable(self, solution: Solution, name: str) -> Array:
        return momenta(solution)

    def preserves(self, system: System) -> frozenset[Invariant]:
        kept, twin = {Invariant.POSITION_CONSTRAINTS, Invariant.VELOCITY_CONSTRAINTS}, self.twin(system)
        conservative = all(missing_trait(twin, t) is None for t in (Trait.AUTONOMOUS, Trait.CONSERVATIVE))
        if conservative and not self.symplectic:
            kept.add(Invariant.ENERGY)
        elif conservative and not len(twin.tables.nonholonomic):  # what rolls has no symplectic form
            kept.add(Invariant.SYMPLECTIC)
        if keeps_momenta(twin) and not len(twin.tables.nonholonomic):  # gamma of what rolls pushes along the step
            kept |= {Invariant.LINEAR_MOMENTUM, Invariant.ANGULAR_MOMENTUM}
        return frozenset(kept)

    def check(self, system: System) -> None:
        system = self.twin(system)
        super().check(system)
        if self.scheme == THETA:  # velocities from momenta
            check_no_lines(self, system)
        elif self.scheme == EULER:  # w = y0 - M^-1 (...)
            check_regular_directors(self, system)
        if self.scheme != EM:
            check_regular_generalized(self, system)

    def start(self, system: System, q: Array, v: Array, t: float, step: float, turns: Array | None) -> FixedStepRun:
        factor, what, advice = self.growth
        if factor > 1.0 and self.twin(system).n_l:
            warnings.warn(
                f"{self!r} is unstable: {what} grow by a factor of {factor:.3g} in each step; take {advice}",
                ModelWarning, stacklevel=3,
            )  # fmt: skip
        return super().start(system, q, v, t, step, turns)

    def equations(self, system: System, t: float, step: float) -> GGLEquations:
        return GGLEquations(self, system, t, step)


@dataclass(frozen=True)
class GGLEuler(GGL):
    """Symplectic Euler method with position and velocity constraints (VI-S) [Kinon et al. 2023, (55)].

    Recorded velocities satisfy the velocity constraints of bodies up to the order of the method only.
    Dampers and loads act by their values at the start of a step. Bodies are stepped in directors, points as they are.
    """

    order: ClassVar[int] = 1
    scheme: ClassVar[int] = EULER
    unknown_blocks: ClassVar[int] = 3

    @property
    def shift(self) -> float:
        return 0.0

    def coefficients(self, h: float) -> Coefficients:
        numbers = {
            "explicit": 1.0, "moves": 1.0, "mean_y": 1.0 / h,
            "force": h * h, "gradient": 1.0, "curvature": 1.0, "d_curvature": 1.0, "d_value": 1.0,
        }  # fmt: skip
        return (
            numbers,
            {"zl": "z0", "zh": "zu", "zv": "zt", "zp": "z1", "ze": "z1"},
            {"t": "end", "l": "start", "v": "end", "p": "end", "e": "end"},
        )

    def preserves(self, system: System) -> frozenset[Invariant]:
        return self.kept_in_records(system, super().preserves(system) - {Invariant.VELOCITY_CONSTRAINTS})


@dataclass(frozen=True)
class GGLMidpoint(GGL):
    """Variational theta method with constraints at the intermediate point (VI-A) [Kinon et al. 2023, (79)].

    Second order for theta = 1/2. Position constraints hold at the intermediate points, not at the ends of the steps.
    With constraints only theta = 1/2 is stable: deviations from them grow like ((1 - theta) / theta)^n, multipliers
    like the inverse.

    Bodies are stepped in directors, which are orthonormal at the intermediate points; those of other coordinates are
    recorded by the nearest rotation, with their momenta.
    """

    theta: float = 0.5
    order: ClassVar[int] = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.theta, self.name, "theta")
        if not 0.0 < self.theta < 1.0:
            raise ModelError(f"GGLMidpoint: theta is {self.theta}; expected a number between 0 and 1")

    @property
    def growth(self) -> tuple[float, str, str]:
        # g(q + theta dq) = 0 and (1 - theta) lambda + theta lambda_last = the impulse of a step
        ratio = self.theta / (1.0 - self.theta)
        advice = "theta=0.5"
        if ratio < 1.0:
            return 1.0 / ratio, "deviations from the position constraints", advice
        return ratio, "multipliers", advice

    @property
    def shift(self) -> float:
        return self.theta

    def coefficients(self, h: float) -> Coefficients:
        theta = self.theta
        own = {"gradient": 1.0 - theta, "last_gradient": theta, "d_gradient": theta, "d_value": theta}
        frames = {"zl": "zt", "zh": "zu", "zv": "zt", "zp": "zt", "ze": "zt"}
        return _theta_numbers(h, theta) | own, frames, dict.fromkeys("tlvpe", "force")

    def preserves(self, system: System) -> frozenset[Invariant]:
        lost = {Invariant.POSITION_CONSTRAINTS, Invariant.VELOCITY_CONSTRAINTS}
        return self.kept_in_records(system, super().preserves(system) - lost)


@dataclass(frozen=True)
class GGLTrapezoidal(GGL):
    """Variational theta method with constraints at the ends of the steps (VI-B) [Kinon et al. 2023, (82)].

    The velocity of the step satisfies the velocity constraints; the momenta, which are recorded, do so only up to the
    order of the method. ``vartheta`` says how much of the multipliers acts in their own step, (1 - vartheta), and how
    much in the next one; the motion does not depend on it. Above 1/2 they grow from step to step. With vartheta = 1,
    where they act in the next step only, those of the last step are recorded, and momenta without them. Bodies are
    stepped in directors, points as they are; records in other coordinates have the momenta of the directors.
    """

    theta: float = 1.0
    vartheta: float = 0.5
    order: ClassVar[int] = 1
    alternating: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.theta, self.name, "theta")
        check_number(self.vartheta, self.name, "vartheta")
        if not 0.0 <= self.theta <= 1.0:
            raise ModelError(f"GGLTrapezoidal: theta is {self.theta}; expected a number from 0 to 1")
        if not 0.0 < self.vartheta <= 1.0:
            raise ModelError(
                f"GGLTrapezoidal: vartheta is {self.vartheta}; expected a number above 0 that does not exceed 1"
            )

    @property
    def growth(self) -> tuple[float, str, str]:
        # (1 - vartheta) lambda + vartheta lambda_last = the impulse of a step
        ratio = self.vartheta / (1.0 - self.vartheta) if self.vartheta < 1.0 else 0.0
        return ratio, "multipliers", "vartheta=1 or not above 0.5, which give the same motion"

    @property
    def shift(self) -> float:
        return self.theta

    def coefficients(self, h: float) -> Coefficients:
        # with vartheta = 1 the multipliers of a step act on the next one only: they are found there, and are its own
        last = self.vartheta if self.vartheta < 1.0 else 0.0
        own = {"gradient": 1.0 - last, "last_gradient": last, "d_value": 1.0}
        frames = {"zl": "z0", "zh": "zu", "zv": "zt", "zp": "z1", "ze": "z1"}
        times = {"t": "force", "l": "start", "v": "force", "p": "end", "e": "end"}
        return _theta_numbers(h, self.theta) | own, frames, times

    def preserves(self, system: System) -> frozenset[Invariant]:
        return self.kept_in_records(system, super().preserves(system) - {Invariant.VELOCITY_CONSTRAINTS})


@dataclass(frozen=True)
class GGLEM(GGL):
    """Energy-momentum scheme with position and velocity constraints (EM) [Kinon et al. 2023, (84)].

    Potentials enter by exact discrete gradients, dampers and loads by the middle of a step. Bodies are stepped in
    directors, points as they are; whatever they are recorded in, both kinds of constraints and the energy are exact.
    """

    order: ClassVar[int] = 2
    symmetric: ClassVar[bool] = True
    symplectic: ClassVar[bool] = False
    scheme: ClassVar[int] = EM

    def coefficients(self, h: float) -> Coefficients:
        numbers = {
            "theta": 0.5, "moves": 0.5, "follows": 0.5, "mean_u": 0.5, "mean_y": 0.5,
            "force": h * h, "gradient": 1.0, "curvature": 1.0,
            "d_curvature": 0.5, "d_gradient": 0.5, "d_rate": 1.0, "d_value": 1.0,
            "damping": h, "stiffness": 0.5 * h * h,
        }  # fmt: skip
        frames = {"zl": "zt", "zh": "zy", "zv": "z1", "zp": "z1", "ze": "z1"}
        return numbers, frames, dict.fromkeys("tlvpe", "end")


def _theta_numbers(h: float, theta: float) -> dict[str, float]:
    """What the theta methods have in common."""
    c = 1.0 - theta
    return {
        "theta": theta, "moves": theta, "follows": 1.0, "mean_u": 1.0 / h,
        "force": h * h * c, "curvature": c, "last_force": h * h * theta, "last_curvature": theta,
        "d_curvature": 1.0, "d_rate": theta, "damping": h * c, "stiffness": h * h * c * theta,
    }  # fmt: skip
