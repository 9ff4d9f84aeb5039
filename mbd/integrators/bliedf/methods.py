"""BLieDF: backward differentiation formulas for constrained systems on conventional and Lie nodes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ...errors import AccuracyWarning
from ..alpha.methods import AlphaEquations, kept_by_equations
from ..arguments import one_of
from ..base import Invariant
from ..checks import check_newton
from ..fixed_step import FixedStep
from . import steps
from .history import Past

if TYPE_CHECKING:
    from ...system.system import System

JUST_BEFORE = 1e-6  # of a step: where functions of time that jump at the start have their other value
JUMP = 1e-3  # of the accelerations: a jump that costs the order


@dataclass(frozen=True)
class BLieDF(FixedStep):
    """Backward differentiation formulas of order k = 2 or 3 on Lie groups: implicit, damping, of order k in everything.

    Order three in positions, velocities and reactions is what no other implicit method here has; it pays from errors of
    about 1e-4 on. k = 2 is L-stable, k = 3 A(86 deg)-stable. **Not for conservative motion with coarse steps**: k = 2
    loses energy, k = 3 *gains* it, because it is not A-stable (two bars with up to 31 J of kinetic energy, 100 steps of
    10 ms: -0.007 and +0.015 J of index 2, -0.011 and +0.025 J of index 3, against 0.002 J with GeneralizedAlpha).

    The method needs a past: 2 k - 1 steps before the start are computed backwards by DOPRI5, at the start and after
    each change of a chart (conventional rotation vectors); loads and drivers must be smooth there. Loads that jump at
    the start are reported with a warning. A jump on the way costs the order, as with every method of fixed steps: let
    the run end there and continue it.

    Parameters
    ----------
    k: number of steps, and order: 2 or 3.
    stabilized: index 2: position *and* velocity constraints hold at every step. False is index 3, positions alone.
    tolerance: Newton tolerance relative to the forces of the system.
    max_iterations: limit of the Newton iterations of a step.
    """

    k: int = field(default=3, metadata=one_of(2, 3, why="more steps are not stable enough for mechanics"))
    stabilized: bool = True
    tolerance: float = 1e-10
    max_iterations: int = 20

    nonholonomic: ClassVar[bool] = True
    joint_coordinates: ClassVar[bool] = True
    newton: ClassVar[str] = "step"
    newton_count: ClassVar[str] = "own"
    predictor: ClassVar[str] = "linear"
    tangent_operator: ClassVar[bool] = True
    stiffness: ClassVar[bool] = True
    cite: ClassVar[tuple[str, ...]] = (
        "Wieloch & Arnold 2021, J. Comput. Appl. Math. 387, 112985",
        "Gear, Leimkuhler & Gupta 1985, J. Comput. Appl. Math. 12, 77 (index 2)",
    )

    def __post_init__(self) -> None:
        check_newton(self)

    @property
    def order(self) -> int:  # type: ignore[override]
        """k."""
        return self.k

    @property
    def weights(self) -> tuple[float, float, float, float]:
        """Parameters of generalized-alpha with the same equations and matrix."""
        a0 = steps.alphas(self.k)[0]
        return 0.0, 0.0, 1.0 / (a0 * a0), 1.0 / a0

    def preserves(self, system: System) -> frozenset[Invariant]:
        return kept_by_equations(system, self.stabilized)

    def equations(self, system: System, t: float, step: float) -> BLieDFEquations:
        return BLieDFEquations(self, system, t, step)


class BLieDFEquations(AlphaEquations):
    """BLieDF on a system."""

    entries = steps.ENTRIES
    saved = ("q", "v", "vd", "a", "lam", "vd1", "lam1", "past_d", "past_v")

    def __init__(self, method: BLieDF, system: System, t: float, step: float) -> None:
        self.past = method.k  # type: ignore[misc]
        super().__init__(method, system, t, step)  # type: ignore[arg-type]

    def start(self, t: float) -> None:
        self._observed = self.x.v.copy()
        self._look_back(t)

    def act_anew(self) -> None:  # type: ignore[override]
        """Take a past with what acts now, as if it had acted before."""
        self._look_back(self.numbers.origin + self.numbers.index * self.numbers.step)

    def recover(self) -> bool:
        x, p = self.x, self.numbers
        if x.begin_anew == 0:
            return False
        x.begin_anew = 0
        self._look_back(p.time)
        return True

    def _look_back(self, t: float) -> None:
        """Increments, velocities and accelerations of the past; velocities of index 3 from the method's own formula.

        Those of the motion itself would make multipliers of index 3 one order less accurate in the first steps.
        """
        x, h, k, system = self.x, self.numbers.step, self.method.k, self.system
        self._warn_of_jumps(t, h)
        past = Past(system, x.q.copy(), x.v.copy(), t, h, 2 * k - 1, self.work.turns.copy())
        v = past.v[:k].copy()
        if x.index_2 == 0 and system.n_l > 0:
            alpha = steps.alphas(k)
            gamma = np.cumsum(alpha)[:k]
            c = np.zeros(system.n_v)
            for j in range(k):
                steps.commutator(self.tables, k, h, past.v[j], past.vd[j], c)
                v[j] = gamma @ past.d[j : j + k] / h - c
        x.v[:], x.vd[:], x.lam[:] = v[0], past.vd[0], past.lam[0]
        x.vd1[:], x.lam1[:] = past.vd[1], past.lam[1]
        x.past_d[:], x.past_v[: k - 1] = past.d[:k], v[1:k]
        self.numbers.history, x.kept = 1, -1

    def _warn_of_jumps(self, t: float, h: float) -> None:
        q, v = self.x.q.copy(), self.x.v.copy()
        here, before = (self.system.accelerations(q, v, time)[0] for time in (t, t - JUST_BEFORE * h))
        size = np.abs(here).max(initial=0.0)
        if np.abs(here - before).max(initial=0.0) > JUMP * max(size, 1e-300):
            warnings.warn(
                f"BLieDF: loads jump at the start t = {t:g}, and the method looks at the motion before: it loses its "
                "order. Write functions of time such that they go on smoothly before the start, or take "
                "GeneralizedAlpha",
                AccuracyWarning,
                stacklevel=2,
            )
