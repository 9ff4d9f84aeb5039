"""What an integrator is: parameters, declared needs and properties, and a way to make a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ..elements.frame_kinds import GRAVITATION, GREEN_SPRING, TWIST, USER_POTENTIAL
from ..errors import IncompatibleError
from ..forces.frame_laws import DAMPING, LAW
from ..nodes.forms import FORM_DIRECTORS, FORM_GENERALIZED, FORM_LIE, FORM_POINT, FORM_QUATERNION, FORM_SPIN
from ..nodes.kinds import EULER_ANGLES
from ..nodes.spin import spin_determinant, spin_matrix
from ..nodes.update import NEAR_CHART_LIMIT
from .arguments import check_arguments, checked_first

if TYPE_CHECKING:
    from ..results.solution import Solution
    from ..system.system import System

Array = np.ndarray
CONSERVATIVE_KINDS = (GREEN_SPRING, GRAVITATION, TWIST, USER_POTENTIAL)


class Trait(Enum):
    """A property of a model that an integrator may need; computed from the elements, never declared by hand."""

    VELOCITY_IS_QDOT = "velocities that are rates of coordinates (conventional nodes)"
    CONSTANT_MASS = "a constant mass matrix"
    LIE_OR_POINT = "Lie or point nodes"
    POINT_OR_DIRECTORS = "points and conventional directors (frames linear in the coordinates)"
    POLYNOMIAL_OR_GENERALIZED = "points, conventional directors or quaternions, or generalized coordinates"
    UNCONSTRAINED = "no constraints"
    CONSERVATIVE = "forces that have a potential"
    AUTONOMOUS = "no explicit dependence on time"
    QUADRATIC = "constraints that are at most quadratic in the frames"
    SINGLE_BODIES = "bodies that move on their own, held by at most one spherical joint to the ground"
    FREE_ROTATION = "bodies that nothing turns (uniform gravity may act on their centres of mass)"
    VELOCITY_FREE = "forces that do not depend on velocities"
    SYMMETRIC_BODIES = "bodies with an axis of symmetry"


class Invariant(Enum):
    """What a method keeps exactly (up to the Newton tolerance)."""

    POSITION_CONSTRAINTS = "position constraints"
    VELOCITY_CONSTRAINTS = "velocity constraints"
    ENERGY = "energy"
    GENERALIZED_ENERGY = "generalized energy p.v - T + V"
    LINEAR_MOMENTUM = "linear momentum"
    ANGULAR_MOMENTUM = "angular momentum"
    SYMPLECTIC = "symplectic form"


def missing_trait(system: System, trait: Trait) -> str | None:
    """The element that spoils a trait, with what it is, or None."""
    model, nodes = system.model, system.tables.nodes
    if trait in (Trait.SINGLE_BODIES, Trait.FREE_ROTATION, Trait.VELOCITY_FREE, Trait.SYMMETRIC_BODIES):
        from .rigid_body.requirements import missing_body_trait

        return missing_body_trait(system, trait)
    for i, body in enumerate(model.bodies):
        n = nodes[i + 1]
        where = f"node of body '{body.name}' is {body.node}"
        if trait is Trait.VELOCITY_IS_QDOT and n.form == FORM_LIE:
            return where
        if trait is Trait.LIE_OR_POINT and n.form not in (FORM_LIE, FORM_POINT):
            return where
        if trait is Trait.POLYNOMIAL_OR_GENERALIZED and n.form in (FORM_LIE, FORM_SPIN):
            return where
        if trait is Trait.POINT_OR_DIRECTORS and n.form not in (FORM_POINT, FORM_DIRECTORS):
            return where
        if trait is Trait.CONSTANT_MASS and n.form in (FORM_SPIN, FORM_LIE, FORM_QUATERNION):
            return where
        if trait is Trait.CONSTANT_MASS and n.form == FORM_GENERALIZED and n.mass_function >= 0:
            return where
    if trait is Trait.UNCONSTRAINED and system.n_l:
        return f"joint '{model.joints[0].name}'" if model.joints else "an internal constraint of a node"
    if trait in (Trait.QUADRATIC, Trait.AUTONOMOUS):
        for joint in model.joints:
            for primitive in joint.primitives():
                driven = getattr(getattr(primitive, "motion", None), "function", None) is not None
                if (trait is Trait.QUADRATIC and not primitive.quadratic) or (trait is Trait.AUTONOMOUS and driven):
                    return str(joint)
    if trait in (Trait.CONSERVATIVE, Trait.AUTONOMOUS):
        for force in model.forces:
            if any(row.kind not in CONSERVATIVE_KINDS or _is_damped(row) for row in force.general()):
                return f"force '{force.name}'"
            for row in force.rows():
                load = row.body_a is None
                damped = not load and len(row.parameters) > 2 and row.parameters[2] > 0.0
                timed = row.function is not None or getattr(row.motion, "function", None) is not None
                if timed or (trait is Trait.CONSERVATIVE and (load or damped)):
                    return f"force '{force.name}'"
    return None


def _is_damped(row: Any) -> bool:
    """Whether a general element dissipates besides its potential."""
    damping = {GREEN_SPRING: slice(LAW + 2, LAW + 3), TWIST: slice(DAMPING, DAMPING + 3)}
    return row.kind in damping and any(row.parameters[damping[row.kind]])


ADVICE = {
    Trait.VELOCITY_IS_QDOT: "Use conventional nodes: model.with_nodes(mbd.nodes.Directors)",
    Trait.CONSTANT_MASS: "Use Directors: model.with_nodes(mbd.nodes.Directors)",
    Trait.LIE_OR_POINT: "Use Lie nodes: model.with_nodes(mbd.nodes.RotationVector)",
    Trait.POLYNOMIAL_OR_GENERALIZED: "Use Quaternion or Directors: model.with_nodes(mbd.nodes.Quaternion)",
    Trait.POINT_OR_DIRECTORS: "Use Directors: model.with_nodes(mbd.nodes.Directors)",
    Trait.UNCONSTRAINED: "Remove the constraint, or use an integrator for constrained systems such as GeneralizedAlpha",
    Trait.CONSERVATIVE: "Use an integrator for general forces such as GeneralizedAlpha",
    Trait.QUADRATIC: "Use an integrator for general constraints such as GeneralizedAlpha",
    Trait.AUTONOMOUS: "Use an integrator for time-dependent forces such as GeneralizedAlpha",
    Trait.SINGLE_BODIES: "Use an integrator for any model such as GeneralizedAlpha",
    Trait.FREE_ROTATION: "Use mbd.integrators.Strang(method) or NystromSplitting(), which combine it with forces",
    Trait.VELOCITY_FREE: "Use an integrator for general forces such as GeneralizedAlpha",
    Trait.SYMMETRIC_BODIES: "Use Strang(SymmetricSplitting()) or NystromSplitting()",
}


class Variable(NamedTuple):
    """A variable of a scheme as its authors define it."""

    meaning: str
    shift: float  # it belongs to the time of the record plus so many steps


@dataclass(frozen=True)
class Integrator(ABC):
    """Parameters of a method; holds no trajectory state."""

    order: ClassVar[int]
    adaptive: ClassVar[bool] = False
    nonholonomic: ClassVar[bool] = False
    """Whether the method treats constraints that exist on the velocity level only (rolling)."""
    recorded: ClassVar[tuple[str, ...]] = ()
    """Variables of the scheme that a run records in place of accelerations and multipliers, which the solution then
    computes at the recorded states (index 1). Empty: those that a run records are values at the records, with the
    order of the method."""
    derived: ClassVar[tuple[str, ...]] = ()
    """Further variables of the scheme, which follow from the records (``variable``)."""
    requires: ClassVar[frozenset[Trait]] = frozenset()
    cite: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__post_init__" in vars(cls):
            cls.__post_init__ = checked_first(vars(cls)["__post_init__"])  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        check_arguments(self)

    @property
    def name(self) -> str:
        """Name of the method as people type it."""
        return type(self).__name__

    def approximates_rotations(self, system: System) -> bool:
        """Whether a step must not turn a body by more than a quarter."""
        return True

    def preserves(self, system: System) -> frozenset[Invariant]:
        """What the method keeps on this system up to the Newton tolerance."""
        return frozenset()

    def check(self, system: System) -> None:
        """Refuse a system that the method cannot treat, naming the element and the way out."""
        if not self.nonholonomic:
            for joint in system.model.joints:
                if any(getattr(primitive, "nonholonomic", ()) for primitive in joint.primitives()):
                    raise IncompatibleError(
                        f"{self.name} needs constraints on positions; {joint} constrains velocities "
                        "(nonholonomic). Use GeneralizedAlpha or an explicit method such as RK4."
                    )
        for trait in sorted(self.requires, key=lambda trait: trait.name):
            culprit = missing_trait(system, trait)
            if culprit is not None:
                raise IncompatibleError(f"{self.name} needs {trait.value}; {culprit}. {ADVICE[trait]}.")

    @property
    def exact_step(self) -> bool:
        """Whether the run must have the given step, not a slightly smaller one that fits the duration."""
        return False

    @property
    def variables(self) -> dict[str, Variable]:
        """Variables of the scheme that ``solution.scheme`` knows, recorded or derived."""
        return {}

    def variable(self, solution: Solution, name: str) -> Array:
        """A variable of the scheme that follows from the records."""
        raise NotImplementedError

    def from_any_state(self) -> Integrator:
        """The method without what belongs to the start of one certain run."""
        return self

    @abstractmethod
    def start(self, system: System, q: Array, v: Array, t: float, step: float, turns: Array | None) -> Run:
        """Begin a run at a consistent state."""

    @abstractmethod
    def resume(self, system: System, state: dict[str, Any]) -> Run:
        """Continue a run from its saved state, bit for bit."""


class Run(ABC):
    """A run in progress: everything that changes, with counters and a state that can be saved."""

    system: System
    origin: float  # time of step 0
    step: float
    index: int  # steps done since the origin

    @property
    def evaluated(self) -> System:
        """The system whose functions the run calls; another one where the method converts the model."""
        return self.system

    @property
    @abstractmethod
    def t(self) -> float:
        """Time of the state."""

    @abstractmethod
    def advance(self, count: int, every: int, out: list[Array]) -> int:
        """Up to ``count`` further steps; rows as those of ``row`` go to ``out``; returns the steps done."""

    @abstractmethod
    def failure(self) -> tuple[str, str]:
        """(kind, message) of what stopped the run early; kind is 'convergence' or 'singularity'."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Everything needed to continue bit for bit."""

    @abstractmethod
    def statistics(self) -> dict[str, Any]:
        """Counters for people."""

    def row(self) -> list[Array]:
        """(q, v, vd, lam, turns) of the present state, as an observer sees them; by default of ``x`` and ``work``.

        Methods with ``recorded`` variables have these in place of vd and lam.
        """
        x, w = self.x, self.work  # type: ignore[attr-defined]
        return [x.q, x.v, x.vd, x.lam, w.turns]

    @abstractmethod
    def initial_row(self) -> list[Array]:
        """The row at the start, as an observer sees it; variables that belong to a step are not a number there."""


def check_rows(out: list[Array], row: list[Array], needed: int) -> None:
    """Refuse arrays that compiled code would write behind the end of: ``needed`` records as ``row`` have to fit."""
    for target, source in zip(out, row, strict=True):
        if len(target) < needed or target.shape[1] != len(source):
            raise ValueError(f"rows of shape {target.shape} for {needed} records of {len(source)} numbers")


def near_gimbal_lock(system: System, q: Array) -> str | None:
    """Name of a body whose Euler angles are near gimbal lock, to explain why a step failed."""
    nodes, g = system.tables.nodes, np.zeros(9)
    for i, body in enumerate(system.model.bodies):
        n = nodes[i + 1]
        if n.kind == EULER_ANGLES and n.form == FORM_SPIN:
            spin_matrix(n, q, g)
            if abs(spin_determinant(g)) < NEAR_CHART_LIMIT:
                return body.name
    return None
