"""Variational integrators that evaluate the Lagrangian in the middle of a step: DiscreteVariational (DEL)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...compiled.record import table_of
from ...errors import ModelError
from ...nodes.tree.momentum import PAIR_SIZE, PER_NODE
from ...nodes.tree.recursion import PER_VELOCITY
from ...system.instant import evaluate_functions
from ..base import Array, Integrator, Invariant, Trait, Variable, missing_trait
from ..checks import check_newton, check_no_lines, keeps_momenta
from ..converted import StepsQuaternions, recorded_velocities, stepped, stepped_coordinates
from ..energy_momentum.generalized_nodes import variational_generalized
from ..fixed_step import Equations, FixedStep
from ..traits import steps_of_nodes
from . import joint_steps, steps
from .equations import LIVENS, MIDPOINT, VariationalState
from .second_point import Configuration, as_configuration, configuration_of

if TYPE_CHECKING:
    from ...system.system import System


@dataclass(frozen=True)
class VariationalBase(Integrator):
    """Base of the variational integrators; use DiscreteVariational, Shake or Rattle."""

    tolerance: float = 1e-10
    max_iterations: int = 30

    order: ClassVar[int] = 2
    nonholonomic: ClassVar[bool] = True
    project: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_newton(self)

    def preserves(self, system: System) -> frozenset[Invariant]:
        kept = {Invariant.POSITION_CONSTRAINTS}
        if self.project:
            kept.add(Invariant.VELOCITY_CONSTRAINTS)
        conservative = all(missing_trait(system, t) is None for t in (Trait.AUTONOMOUS, Trait.CONSERVATIVE))
        if conservative and not len(system.tables.nonholonomic):  # what rolls has no symplectic form
            kept.add(Invariant.SYMPLECTIC)
        if keeps_momenta(system):
            kept |= {Invariant.LINEAR_MOMENTUM, Invariant.ANGULAR_MOMENTUM}
        return frozenset(kept)


class VariationalEquations(Equations):
    """A method that evaluates the Lagrangian in the middle of a step, on a system."""

    entries = steps.ENTRIES
    kernels: ClassVar[Any] = steps
    """The module with ``start`` and the momenta of two points."""
    saved = ("q", "v", "vd", "lam", "p", "force")

    def __init__(self, method: Variational, system: System, t: float, step: float) -> None:
        super().__init__(method, system)
        self.tables, self.work = system.tables, system.new_work()
        self.set_buffers()
        nq, nv, nl, nodes = system.n_q, system.n_v, system.n_l, len(system.tables.nodes)
        vectors = {name: np.zeros(nv) for name in ("v", "vd", "p", "force", "vn", "dq", "secant", "shown_p")}
        multipliers = {name: np.zeros(nl) for name in ("lam", "lams", "none", "acting")}
        frames = {name: self.work.z.copy() for name in ("z0", "z1", "zm")}
        self.x = VariationalState(
            q=np.zeros(nq), qn=np.zeros(nq), qm=np.zeros(nq), **vectors, **multipliers, **frames,
            zero=np.zeros(max(nv, nl, 1)), f0=np.zeros((nodes, 12)), square=np.zeros((4, 4)), times=np.zeros(2),
            node_steps=steps_of_nodes(system, method.node_steps), middle=table_of([self.middle]), scheme=method.scheme,
            first=table_of([self.first]), **self.tree_buffers(),
            **{name: np.zeros_like(self.work.values) for name in ("begin", "end")},
        )  # fmt: skip
        self.set_up(t, step, (self.x.z0, self.work.z))

    def set_buffers(self) -> None:
        """Buffers of the middle of a step, which differ from those of its end in the functions of time."""
        self.middle = self.work.changed(values=np.zeros_like(self.work.values), time=np.zeros(2))
        self.first = self.middle

    def tree_buffers(self) -> dict[str, Array]:
        """What joint coordinates need besides."""
        return {"pairs": np.zeros((0, 0)), "factors": np.zeros(0)}

    def start(self, t: float) -> None:
        self.kernels.start(self.tables, self.work, self.x, self.numbers)

    def take_second(self, q: Array, t: float) -> None:
        """Momenta of the start from the configuration after the first step."""
        self.x.qn[:] = q
        evaluate_functions(self.tables, self.middle, t + 0.5 * self.numbers.step)
        self.kernels.momenta_of_points(self.tables, self.work, self.x, self.numbers.step)

    def velocities_of_points(self) -> Array:
        """Velocities at the start that belong to these momenta."""
        self.kernels.velocities_of_points(self.tables, self.work, self.x, self.numbers)
        return self.x.v.copy()

    def shown(self) -> list[Array]:
        return [self.x.q, self.x.v, self.x.shown_p, self.x.lam]

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.x.shown_p[:] = self.x.p / self.numbers.step


class JointEquations(VariationalEquations):
    """A variational integrator on a system in joint coordinates."""

    entries = joint_steps.ENTRIES
    kernels: ClassVar[Any] = joint_steps

    def set_buffers(self) -> None:
        shared = {"turns": self.work.turns, "scales": self.work.scales}
        self.middle, self.first = (self.system.new_work().changed(**shared) for _ in range(2))

    def tree_buffers(self) -> dict[str, Array]:
        nodes, n_v = len(self.tables.nodes), self.system.n_v
        return {"pairs": np.zeros((nodes, PAIR_SIZE)), "factors": np.zeros(PER_NODE * nodes + PER_VELOCITY * n_v)}


@dataclass(frozen=True)
class Variational(FixedStep, VariationalBase):
    """Base of the methods that evaluate the Lagrangian in the middle of a step."""

    scheme: ClassVar[int]
    node_steps: ClassVar[dict[str, Any]] = {}
    """What the scheme does with generalized coordinates (``node_steps``)."""
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

    def check(self, system: System) -> None:
        super().check(system)
        check_no_lines(self, system, "quaternion")

    def equations(self, system: System, t: float, step: float) -> VariationalEquations:
        kind = VariationalEquations if system.assembly.tree is None else JointEquations
        return kind(self, system, t, step)


@dataclass(frozen=True)
class DiscreteVariational(StepsQuaternions, Variational):
    """Discrete Euler-Lagrange equations of the midpoint Lagrangian, constraints at the ends of the steps (DVP).

    For points, directors, conventional quaternions and generalized coordinates; bodies in other coordinates are stepped
    as quaternions and recorded in their own. The kinetic energy of a quaternion is the singular (1/2) Omega.J Omega, as
    published, and the mass matrix of generalized coordinates may depend on them and be singular. Symplectic; momenta
    are exact where the model is free in space. Dampers and loads act by the middle of a step. In joint
    coordinates the Lagrangian is that of the angles and displacements of joints, and of quaternions for balls and for
    free bodies that carry others.

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
    symmetric: ClassVar[bool] = True
    scheme: ClassVar[int] = MIDPOINT
    node_steps: ClassVar[dict[str, Any]] = {"generalized": variational_generalized}
    joint_coordinates: ClassVar[bool] = True
    requires: ClassVar[frozenset[Trait]] = frozenset({Trait.POLYNOMIAL_OR_GENERALIZED})
    cite: ClassVar[tuple[str, ...]] = ("Wendlandt & Marsden 1997, Physica D 106, 223",)

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

    def start(self, system: System, q: Array, v: Array, t: float, step: float, turns: Array | None) -> Any:
        run = super().start(system, q, v, t, step, turns)
        if self.second is not None:
            second = configuration_of(self.second, system, t + step, self.name)
            _equations(run).take_second(stepped_coordinates(run, second), t)
            run = super().start(system, q, recorded_velocities(run, _equations(run).velocities_of_points()), t, step,
                                turns)  # fmt: skip
            _equations(run).take_second(stepped_coordinates(run, second), t)
        if self.small_start > 0:
            fine = super().start(system, q, v, t, step / self.small_start, turns)
            rows = [np.zeros((0, len(y))) for y in fine.initial_row()]
            if fine.advance(self.small_start, self.small_start + 1, rows) < self.small_start:
                raise ModelError(f"{self.name}: the small steps of the start failed: {fine.failure()[1]}")
            _equations(run).take_second(_equations(fine).x.q, t)
        return run


def _equations(run: Any) -> VariationalEquations:
    """The equations of a run; where it converts, of the run within it."""
    equations = stepped(run).equations
    assert isinstance(equations, VariationalEquations)
    return equations
