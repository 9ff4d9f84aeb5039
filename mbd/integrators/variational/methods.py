"""Variational integrators: DiscreteVariational (DEL), and Shake and Rattle, whose runs are in ``rattle``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...compiled.record import pack
from ...errors import ModelError
from ...nodes.forms import FORM_GENERALIZED
from ...system.evaluate import evaluate_functions
from ...system.over_step import connect_secant
from ...system.tables import ENTRY_REACTIONS, ENTRY_SECANT_BLOCKS, ENTRY_STIFFNESS
from ..base import Array, Integrator, Invariant, Trait, Variable, missing_trait
from ..checks import check_newton, check_regular_directors, keeps_momenta, momenta
from ..energy_momentum.generalized_nodes import variational_generalized, variational_generalized_entry
from ..energy_momentum.node_steps import special_pieces
from ..run import FixedStepRun
from ..stormer.run import RattleRun
from . import loop as kernels
from .equations import LIVENS, MIDPOINT, VariationalState
from .second_point import Configuration, as_configuration, configuration_of

if TYPE_CHECKING:
    from ...results.solution import Solution
    from ...system.system import System


@dataclass(frozen=True)
class VariationalBase(Integrator):
    """Base of the variational integrators; use DiscreteVariational, Shake or Rattle."""

    tolerance: float = 1e-10
    max_iterations: int = 30

    order: ClassVar[int] = 2
    project: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_newton(self)

    def preserves(self, system: System) -> frozenset[Invariant]:
        kept = {Invariant.POSITION_CONSTRAINTS}
        if self.project:
            kept.add(Invariant.VELOCITY_CONSTRAINTS)
        if all(missing_trait(system, t) is None for t in (Trait.AUTONOMOUS, Trait.CONSERVATIVE)):
            kept.add(Invariant.SYMPLECTIC)
        if keeps_momenta(system):
            kept |= {Invariant.LINEAR_MOMENTUM, Invariant.ANGULAR_MOMENTUM}
        return frozenset(kept)


@dataclass(frozen=True)
class Variational(VariationalBase):
    """Base of the methods that evaluate the Lagrangian in the middle of a step."""

    scheme: ClassVar[int]
    recorded: ClassVar[tuple[str, ...]] = ("p", "lambda")

    @property
    def variables(self) -> dict[str, Variable]:
        middle = self.scheme >= LIVENS
        return {
            "p": Variable("momenta, up to multiples of the constraint Jacobian" if not middle else "momenta", 0.0),
            "lambda": Variable(
                f"multipliers of the step, acting {'in its middle' if middle else 'at its start'}",
                -0.5 if middle else -1.0,
            ),
        }

    def special_nodes(self, system: System) -> Array:
        """Pieces of generalized coordinates (``special_nodes``), zero for all other nodes."""
        return np.zeros(len(system.tables.nodes), dtype=np.int64)

    def check(self, system: System) -> None:
        super().check(system)
        if self.scheme >= LIVENS:  # velocities from momenta alone
            check_regular_directors(self, system)

    def start(self, system: System, q: Array, v: Array, t: float, step: float, turns: Array | None) -> VariationalRun:
        run = VariationalRun(self, system, t, step)
        run.load(q, v, turns)
        kernels.start_variational(system.tables, run.work, run.x, run.numbers, t, step)
        return run

    def resume(self, system: System, state: dict[str, Any]) -> VariationalRun:
        run = VariationalRun(self, system, float(state["origin"]), float(state["step"]))
        run.restore(state)
        return run


@dataclass(frozen=True)
class DiscreteVariational(Variational):
    """Discrete Euler-Lagrange equations of the midpoint Lagrangian, constraints at the ends of the steps (DVP).

    For points, directors, conventional quaternions and generalized coordinates; the kinetic energy of a quaternion is
    the singular (1/2) Omega.J Omega, as published, and the mass matrix of generalized coordinates may depend on them
    and be singular. Symplectic; momenta are exact where the model is free in space. Dampers and loads act by the middle
    of a step.

    Parameters
    ----------
    small_start: number of small steps with which the second point is computed, as in the paper; 0 starts from the
        momenta of the initial velocities, which is as accurate and keeps the momentum of the start exactly.
    second: start from two configurations, as the equations of the paper do: the coordinates at the time t_start + step,
        all of them in the order of ``solution.q``, or by the names of the bodies, {"mass 1": (x, y, z), ...}. They must
        meet the constraints. Velocities of the model are then not used; those of the first record follow from the two
        configurations.
    """

    small_start: int = 0
    second: Configuration | None = None
    scheme: ClassVar[int] = MIDPOINT
    requires: ClassVar[frozenset[Trait]] = frozenset({Trait.POLYNOMIAL_OR_GENERALIZED})
    cite: ClassVar[tuple[str, ...]] = ("Wendlandt & Marsden 1997, Physica D 106, 223",)

    def special_nodes(self, system: System) -> Array:
        pieces = {FORM_GENERALIZED: (variational_generalized_entry, variational_generalized)}
        return special_pieces(system, pieces)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.second is not None:
            object.__setattr__(self, "second", as_configuration(self.second, self.name))
            if self.small_start:
                raise ModelError(f"{self.name}: small_start and second are both given; expected one of them")

    @property
    def exact_step(self) -> bool:
        return self.second is not None

    def from_any_state(self) -> DiscreteVariational:
        return replace(self, second=None)

    def start(self, system: System, q: Array, v: Array, t: float, step: float, turns: Array | None) -> VariationalRun:
        run = super().start(system, q, v, t, step, turns)
        if self.second is not None:
            second = configuration_of(self.second, system, t + step, self.name)
            self._take_second(run, second, t)
            kernels.velocities_of_points(system.tables, run.work, run.x, run.numbers, step)
            run = super().start(system, q, run.x.v.copy(), t, step, turns)
            self._take_second(run, second, t)
        if self.small_start > 0:
            fine = super().start(system, q, v, t, step / self.small_start, turns)
            rows = [np.zeros((0, len(y))) for y in fine.initial_row()]
            if fine.advance(self.small_start, self.small_start + 1, rows) < self.small_start:
                raise ModelError(f"{self.name}: the small steps of the start failed: {fine.failure()[1]}")
            self._take_second(run, fine.x.q, t)
        return run

    def _take_second(self, run: VariationalRun, q: Array, t: float) -> None:
        """Momenta of the start from the configuration after the first step."""
        tables = run.system.tables
        run.x.qn[:] = q
        evaluate_functions(tables, run.middle, t + 0.5 * run.step)
        kernels.momenta_of_points(tables, run.work, run.middle, run.x, run.step)


@dataclass(frozen=True)
class Stormer(VariationalBase):
    """Base of Shake and Rattle: the trapezoidal discrete Lagrangian, forces at the ends of the steps."""

    requires: ClassVar[frozenset[Trait]] = frozenset({Trait.POINT_OR_DIRECTORS})
    recorded: ClassVar[tuple[str, ...]] = ("mu", "lambda")
    derived: ClassVar[tuple[str, ...]] = ("p",)

    @property
    def variables(self) -> dict[str, Variable]:
        known = {
            "lambda": Variable("multipliers of the position constraints (SHAKE), at the start of the step", -1.0),
            "p": Variable("momenta", 0.0),
        }
        if self.project:
            known["mu"] = Variable("multipliers of the velocity constraints (RATTLE), at its end", 0.0)
        return known

    def variable(self, solution: Solution, name: str) -> Array:
        return momenta(solution)

    def check(self, system: System) -> None:
        super().check(system)
        if not self.project:  # velocities from momenta alone
            check_regular_directors(self, system)

    def start(self, system: System, q: Array, v: Array, t: float, step: float, turns: Array | None) -> RattleRun:
        run = RattleRun(self, system, t, step)
        run.start(q, v, turns)
        return run

    def resume(self, system: System, state: dict[str, Any]) -> RattleRun:
        run = RattleRun(self, system, float(state["origin"]), float(state["step"]))
        run.restore(state)
        return run


@dataclass(frozen=True)
class Shake(Stormer):
    """SHAKE on points and directors: explicit forces, position constraints.

    The recorded velocities satisfy the velocity constraints up to second order; the motion is that of Rattle.
    """

    project: ClassVar[bool] = False
    cite: ClassVar[tuple[str, ...]] = ("Ryckaert, Ciccotti & Berendsen 1977, J. Comput. Phys. 23, 327",)


@dataclass(frozen=True)
class Rattle(Stormer):
    """RATTLE on points and directors: explicit forces, position and velocity constraints."""

    cite: ClassVar[tuple[str, ...]] = (
        "Andersen 1983, J. Comput. Phys. 52, 24",
        "Leimkuhler & Skeel 1994, J. Comput. Phys. 112, 117",
    )


class VariationalRun(FixedStepRun):
    """A run of a method that evaluates the Lagrangian in the middle of a step."""

    saved = ("q", "v", "vd", "lam", "p", "force")

    def __init__(self, method: Variational, system: System, t: float, step: float) -> None:
        super().__init__(method, system, t, step)
        self.work = system.new_work()
        connect_secant(system.tables, ENTRY_REACTIONS, ENTRY_STIFFNESS, ENTRY_SECANT_BLOCKS)
        middle = self.work._replace(values=np.zeros_like(self.work.values), time=np.zeros(2))
        self.middle = pack(middle)
        nq, nv, nl, nodes = system.n_q, system.n_v, system.n_l, len(system.tables.nodes)
        vectors = {name: np.zeros(nv) for name in ("v", "vd", "p", "force", "vn", "dq", "secant")}
        multipliers = {name: np.zeros(nl) for name in ("lam", "lams", "none", "acting")}
        frames = {name: self.work.z.copy() for name in ("z0", "z1", "zm")}
        self.x = pack(VariationalState(
            q=np.zeros(nq), qn=np.zeros(nq), qm=np.zeros(nq), **vectors, **multipliers, **frames,
            zero=np.zeros(max(nv, nl, 1)), f0=np.zeros((nodes, 12)), square=np.zeros((4, 4)), times=np.zeros(2),
            special=method.special_nodes(system),
            **{name: np.zeros_like(self.work.values) for name in ("begin", "end")},
        ))  # fmt: skip
        self.begin(method.scheme)

    def own(self) -> list[Array]:
        return [self.x.p / self.step, self.x.lam]

    def loop(self, count: int, every: int, out: list[Array]) -> int:
        return kernels.run_variational(
            self.system.tables, self.work, self.middle, self.x, self.numbers, self.origin, self.index, self.step,
            count, every, *out,
        )  # fmt: skip
