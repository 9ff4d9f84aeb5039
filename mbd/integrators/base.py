"""What an integrator is: parameters, declared needs and properties, and a way to make a run."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ..errors import IncompatibleError
from ..solvers.initial import back_to_constraints, consistent_velocities
from ..system.instant import frames, remember_angles
from .arguments import check_arguments, checked_first
from .traits import ADVICE, Invariant, Trait, missing_trait

if TYPE_CHECKING:
    from ..results.solution import Solution
    from ..system.system import System
    from .followed import Followed

Array = np.ndarray


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
    joint_coordinates: ClassVar[bool] = False
    """Whether the method steps models in joint coordinates."""
    recorded: ClassVar[tuple[str, ...]] = ()
    """Variables of the scheme that a run records in place of accelerations and multipliers, which the solution then
    computes at the recorded states (index 1). Empty: those that a run records are values at the records, with the
    order of the method."""
    derived: ClassVar[tuple[str, ...]] = ()
    """Further variables of the scheme, which follow from the records (``variable``)."""
    massless: ClassVar[bool] = False
    """Whether the method treats bodies without mass."""
    symmetric: ClassVar[bool] = False
    """Whether a step is undone by a step back, as a map of coordinates and velocities; ``Composition`` needs that."""
    longest_stage: ClassVar[float] = 1.0
    """The longest stage of a step, as a part of it; shorter where a step is composed of others."""
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

    def order_on(self, system: System) -> int:
        """Order of the method on this system, where that depends on its forces."""
        return self.order

    def preserves(self, system: System) -> frozenset[Invariant]:
        """What the method keeps on this system up to the Newton tolerance."""
        return frozenset()

    def notes(self, system: System) -> list[str]:
        """What the user of a run on this system should know about how it was made."""
        return []

    def kinetic_energy(self, solution: Solution) -> Array | None:
        """Kinetic energy at the records, where it is not that of the recorded velocities."""
        return None

    def check(self, system: System) -> None:
        """Refuse a system that the method cannot treat, naming the element and the way out."""
        if system.assembly.tree is not None and not self.joint_coordinates:
            raise IncompatibleError(
                f"{self.name} needs the coordinates of each body; model '{system.model.name}' is in joint coordinates. "
                "Use model.with_coordinates('absolute'), or GeneralizedAlpha, DiscreteVariational or an explicit "
                "method such as RK4."
            )
        if not self.nonholonomic:
            for joint in system.model.joints:
                if any(getattr(primitive, "nonholonomic", ()) for primitive in joint.primitives()):
                    raise IncompatibleError(
                        f"{self.name} needs constraints on positions; {joint} constrains velocities (nonholonomic). "
                        "Use GeneralizedAlpha, RATTLie, GGLEM, Composition(GGLEM()) or an explicit method such as RK4."
                    )
        massless = self.massless or system.assembly.tree is not None  # what a joint moves has mass: the assembly checks
        needed = self.requires if massless else self.requires | {Trait.MASS}
        for trait in sorted(needed, key=lambda trait: trait.name):
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

    def asymmetry(self, system: System) -> str | None:
        """Why the steps of a symmetric method are no symmetric map of this system, or None."""
        return None

    @classmethod
    def followed(cls) -> type[Followed] | None:
        """How runs are followed by their sensitivities, see ``mbd.integrators.followed``; None if they are not."""
        return None

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

    def compose(self, weights: Array) -> None:
        """From now on make every step of steps of the method, which are these parts of it; symmetric methods only."""
        raise NotImplementedError(f"{type(self).__name__} does not compose steps")

    def bound_step(self, every: int, before: int, out: list[Array]) -> Callable[[], Any]:
        """A call that makes one step, prepared once; ``index`` tells whether it was made.

        Records are written as by ``advance``, to ``out``, whose first row comes after ``before`` records since the
        origin; where there is no row left, no step is made.
        """

        def step() -> None:
            row, late = divmod(self.index + 1, every)
            row -= 1 + before
            if late or row < len(out[0]):
                self.advance(1, every, [y[max(0, row) :] for y in out])

        return step

    def recover(self) -> bool:
        """After a bound step that failed: take another way to solve the same equations from now on, if one is left.

        Whether there is one; the step has to be bound again then.
        """
        return False

    def act_anew(self) -> None:
        """What acts has changed suddenly between two steps: compute anew what the method keeps of it.

        By default nothing is kept. A method that begins a step with accelerations or forces of the end of the last
        one must not use them, or the change would arrive late.
        """
        return None

    def begin_here(self, way: Iterable[AbstractContextManager[None]] = ()) -> list[Array]:
        """Begin anew at the present time with the velocities that constraints ask for by now, as behind an impact.

        Where they ask for other positions as well, ``way`` leads there: in each of these circumstances, one after the
        other, the nearest positions are found. They are returned. Where there are none the run stays as it is.
        """
        q, v, *_, turns = (x.copy() for x in self.row())
        own = copy(self.system)
        own.work = self.system.work_with(turns=turns)
        passed = []
        for there in way:
            with there:
                q, v = back_to_constraints(own, q, v, self.t)
                frames(own.tables, own.work, q)
                remember_angles(own.tables, own.work, q, v)
            passed.append(q)
        self._begin_at(q, consistent_velocities(own, q, v, self.t), turns)
        return passed

    def _begin_at(self, q: Array, v: Array, turns: Array) -> None:
        """Begin anew at the present time and step."""
        raise NotImplementedError(f"{type(self).__name__} treats no constraints")

    def begin_again(self, q: Array, v: Array) -> bool:
        """Begin at (q, v) as a new run of the system does, whose numbers may be others now, bit for bit.

        False if only a new run will do.
        """
        return False

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


def begins_of(weights: Array) -> Array:
    """Where the parts of a composed step begin, and its end, which is one."""
    sums = [math.fsum(weights[:k]) for k in range(len(weights))]
    return np.array([*sums, 1.0])


def check_rows(out: list[Array], row: list[Array], needed: int) -> None:
    """Refuse arrays that compiled code would write behind the end of: ``needed`` records as ``row`` have to fit."""
    for target, source in zip(out, row, strict=True):
        if len(target) < needed or target.shape[1] != len(source):
            raise ValueError(f"rows of shape {target.shape} for {needed} records of {len(source)} numbers")
