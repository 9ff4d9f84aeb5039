"""Energy-momentum schemes on frames: LieEM on Lie nodes, GonzalezEM on directors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..base import Array, Invariant, Trait, Variable, missing_trait
from ..checks import check_newton, check_regular_generalized, keeps_momenta
from ..converted import KINETIC, StepsDirectors, StepsLieNodes, momenta
from ..fixed_step import FixedStep
from ..past import EquationsWithPast, guess_tables
from ..traits import bodies_of_form, has_form, steps_of_nodes
from . import steps
from .generalized_nodes import energy_generalized
from .node_steps import directors_step, each_once, lie_step
from .state import FrameState

if TYPE_CHECKING:
    from ...results.solution import Solution
    from ...system.system import System


PAST = 3  # stages of the same length from which first guesses of a composition are extrapolated


@dataclass(frozen=True)
class FrameEM(FixedStep):
    """Base of the energy-momentum schemes on frames; use LieEM or GonzalezEM."""

    tolerance: float = 1e-12
    max_iterations: int = 20

    order: ClassVar[int] = 2
    nonholonomic: ClassVar[bool] = True
    recorded: ClassVar[tuple[str, ...]] = ("p", "lambda")

    @property
    def variables(self) -> dict[str, Variable]:
        known = {"lambda": Variable("multipliers of the step", -0.5)}
        return known | ({"p": Variable("momenta", 0.0)} if "p" in self.derived else {})

    momenta: ClassVar[bool] = False
    """Whether the momenta of the scheme are more than mass times velocity."""
    node_steps: ClassVar[dict[str, Any]] = {
        "lie": lie_step, "point": lie_step, "directors": directors_step, "generalized": energy_generalized,
    }  # fmt: skip
    """What the scheme does with nodes, by form (``node_steps``)."""
    held_on_average: ClassVar[tuple[str, ...]] = ("quaternion", "directors", "generalized")
    """Forms of nodes whose own constraints on velocities hold on average over a step, not at its end."""

    def __post_init__(self) -> None:
        check_newton(self)

    def inner_system(self, system: System) -> System:
        """The system in whose unknowns steps are made: the same, or a form of it in others."""
        return system

    def preserves(self, system: System) -> frozenset[Invariant]:
        kept = {Invariant.POSITION_CONSTRAINTS}
        if missing_trait(system, Trait.AUTONOMOUS) is None and missing_trait(system, Trait.CONSERVATIVE) is None:
            kept.add(Invariant.ENERGY)
        if keeps_momenta(system):
            kept |= {Invariant.LINEAR_MOMENTUM, Invariant.ANGULAR_MOMENTUM}
        return frozenset(kept)

    def asymmetry(self, system: System) -> str | None:
        twin: System = self.twin(system)  # type: ignore[attr-defined]  # in joint coordinates, with the joints that carry
        held = [body.name for body, n in bodies_of_form(twin, *self.held_on_average) if n.nl]
        if not held and not twin.model.joints:
            return None
        where = f"joint '{twin.model.joints[0].name}'" if twin.model.joints else f"body '{held[0]}'"
        return (
            f"velocities of {self.name} satisfy the velocity constraints ({where}) on average only, so that positions "
            "would get the order and velocities and reactions would not. Use Rattle(), GGLEM() or DiscreteVariational()"
        )

    def reduce_velocities(self, inner: System, x: FrameState) -> None:
        """Velocities and momenta of the inner system at the start, where it has others."""

    def equations(self, system: System, t: float, step: float) -> FrameEquations:
        return FrameEquations(self, system, self.inner_system(system), t, step)


@dataclass(frozen=True)
class LieEM(StepsLieNodes, FrameEM):
    """Energy-momentum scheme with Cayley steps for Lie nodes; the choice for long conservative runs.

    Energy, linear and angular momentum are exact up to the Newton tolerance, with every joint made of the four
    primitives, with loops, and with all springs, which enter by exact discrete gradients. Dampers dissipate exactly
    their discrete power, loads act by their value in the middle of a step, drivers are met at its end. Rotations are
    stored in whatever the Lie nodes use; the energy that is kept is definite (unlike that of LivensEM), and joints
    between rotating bodies keep the angular momentum (which no scheme of this kind does on conventional quaternions).
    Bodies in other coordinates are stepped as Lie nodes and recorded in their own; generalized coordinates are taken as
    they are, with the energy exact for constant and for regular varying mass matrices.
    Velocities satisfy the velocity constraints on average over a step; a defect that grows says that the step does not
    resolve the motion. Rolling keeps energy and contact exactly, and does not slip over a step.

    Parameters
    ----------
    tolerance: Newton tolerance relative to the forces of the system; the invariants drift by about as much.
    max_iterations: limit of the Newton iterations of a step.
    """

    requires: ClassVar[frozenset[Trait]] = frozenset({Trait.LIE_POINT_OR_GENERALIZED})
    recorded: ClassVar[tuple[str, ...]] = (KINETIC, "lambda")
    symmetric: ClassVar[bool] = True
    cite: ClassVar[tuple[str, ...]] = (
        "Simo & Wong 1991, Int. J. Numer. Methods Eng. 31, 19 (the free body)",
        "Simo, Tarnow & Wong 1992, Comput. Methods Appl. Mech. Eng. 100, 63 (discrete gradients of springs)",
        "Gonzalez 1999, Comput. Methods Appl. Mech. Eng. 174, 241 (constraints)",
    )

    def check(self, system: System) -> None:
        super().check(system)
        check_regular_generalized(self, system, only_varying=True)


@dataclass(frozen=True)
class GonzalezEM(StepsDirectors, FrameEM):
    """Energy-momentum scheme with position constraints only, for points and directors (EM-G in the cited comparison).

    Energy and momenta are exact as with LieEM; velocities satisfy the velocity constraints only on average over a
    step. GGLEM satisfies both. Generalized coordinates are stepped as by LieEM. Bodies in other coordinates are stepped
    in directors and recorded in their own: with the same momenta, and the kinetic energy of the directors in
    ``solution.energy``, to which their stretching adds.

    Parameters
    ----------
    tolerance: Newton tolerance relative to the forces of the system; the invariants drift by about as much.
    max_iterations: limit of the Newton iterations of a step.
    """

    requires: ClassVar[frozenset[Trait]] = frozenset({Trait.DIRECTORS_OR_GENERALIZED})
    recorded: ClassVar[tuple[str, ...]] = (KINETIC, "lambda")
    symmetric: ClassVar[bool] = True
    derived: ClassVar[tuple[str, ...]] = ("p",)
    cite: ClassVar[tuple[str, ...]] = (
        "Gonzalez 1999, Comput. Methods Appl. Mech. Eng. 174, 241",
        "Kinon, Betsch & Schneider 2023, Nonlinear Dyn. 111, 14231 (EM-G)",
    )

    def check(self, system: System) -> None:
        super().check(system)
        check_regular_generalized(self, system, only_varying=True)

    def variable(self, solution: Solution, name: str) -> Array:
        return momenta(solution)


class FrameEquations(EquationsWithPast):
    """An energy-momentum scheme on a system, in the unknowns of the ``inner`` one.

    Where these are others, the start is computed in the unknowns of the system itself.
    """

    entries = steps.ENTRIES
    # velocities and multipliers are saved as they are recorded, and the velocities of the inner system besides
    saved = ("q", "vd", "vdm", "lamm", "p", "dq", "rated", "ratedm", "unitm", "turn", "past_d", "past_l")
    past = ("past_d", "past_l")
    depth = PAST
    outer: FrameEquations

    def __init__(self, method: FrameEM, system: System, inner: System, t: float, step: float) -> None:
        super().__init__(method, system)
        self.inner, self.tables, self.work = inner, inner.tables, inner.new_work()
        nq, nv, nl, nodes = inner.n_q, inner.n_v, inner.n_l, len(inner.tables.nodes)
        frames = {name: self.work.z.copy() for name in ("z0", "z1", "zm", "zr")}
        vectors = {name: np.zeros(nv) for name in ("v", "vd", "vdm", "vn", "dq", "vdn")}
        coordinates = {name: np.zeros(nq) for name in ("q", "qn", "qm", "p", "pn", "raten")}
        # the null-space method has fewer velocities and multipliers than what is recorded
        fewer = inner.n_v < system.n_v
        rates = {name: np.zeros(nq if fewer else 0) for name in ("rate", "rated", "ratedm")}
        hidden, order = system.n_l - nl, _multiplier_order(system, inner)
        every = {name: np.zeros(system.n_l) for name in ("lam", "lamm", "lamn")}
        held = {name: array.copy() if len(order) else array for name, array in every.items()}
        multipliers = {name: array[hidden:] for name, array in held.items()}
        multipliers |= {name.replace("lam", "unit"): array[:hidden] for name, array in held.items()}
        shown = rates["rate"] if fewer else vectors["v"], rates["rated"] if fewer else vectors["vd"], every["lam"]
        step_of = steps_of_nodes(inner, method.node_steps)
        self.x = FrameState(
            **coordinates, **vectors, **multipliers, **frames, **rates, zero=np.zeros(max(nv, nl, 1)),
            torque=np.zeros((nodes, 3)), turn=np.zeros((nodes, 9)), mid=np.zeros_like(self.work.values),
            step_of=step_of, node_steps=each_once(step_of), smooth=is_analytic(inner),
            unreduced=_unreduced_rows(inner), shown_v=shown[0], shown_vd=shown[1], shown_lam=shown[2],
            shown_p=coordinates["p"] if method.momenta else np.zeros(0), shown_lamm=every["lamm"],
            order=order, past_d=np.zeros((0, nv)), past_l=np.zeros((0, nl)), part=0, rounds=0, **guess_tables(PAST),
        )  # fmt: skip
        polished = {"enough": steps.POLISHED, "enough_later": steps.POLISHED_ROUGH}
        self.set_up(t, step, (self.x.z0, self.work.z), trusted=1, **polished)

    def load(self, q: Array, v: Array, turns: Array | None) -> None:
        if self.inner is self.system:
            super().load(q, v, turns)
            return
        p = self.numbers
        self.outer = FrameEquations(self.method, self.system, self.system, p.origin, p.step)
        self.outer.numbers.index = p.index
        self.outer.load(q, v, turns)

    def start(self, t: float) -> None:
        if self.inner is self.system:
            steps.start(self.tables, self.work, self.x, self.numbers)
            return
        self.outer.start(t)
        x, y = self.x, self.outer.x
        x.q[:], x.p[:], x.shown_v[:], x.shown_vd[:] = y.q, y.p, y.v, y.vd
        self._take_multipliers(y.lam)
        x.turn[:] = y.turn
        self.work.turns[:] = self.outer.work.turns
        self.method.reduce_velocities(self.inner, x)

    def _take_multipliers(self, lam: Array) -> None:
        """Multipliers of the system at the present state."""
        x = self.x
        x.shown_lam[:] = lam
        if len(x.order):
            x.unit[:], x.lam[:] = lam[x.order[: len(x.unit)]], lam[x.order[len(x.unit) :]]

    def shown(self) -> list[Array]:
        return [self.x.q, self.x.shown_v, self.x.shown_p, self.x.shown_lamm]

    @property
    def evaluated(self) -> System:
        return self.inner

    def name_of_unknown(self, row: int) -> str:
        return self.inner.name_of_unknown(row)

    def state(self) -> dict[str, Any]:
        x = self.x
        return super().state() | {"v": x.shown_v.copy(), "lam": x.shown_lam.copy(), "inner_v": x.v.copy()}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore({name: np.zeros((0, 0)) for name in self.past} | state)  # files of earlier versions have none
        self.x.shown_v[:], self.x.v[:] = state["v"], state["inner_v"]
        self._take_multipliers(np.asarray(state["lam"]))
        if len(self.x.order):
            self.x.shown_lamm[self.x.order] = np.concatenate((self.x.unitm, self.x.lamm))


def _multiplier_order(system: System, inner: System) -> Array:
    """Places in the system of multipliers that the inner one has eliminated, then of all others; empty if in order."""
    if inner.n_l == system.n_l:
        return np.zeros(0, dtype=np.int64)
    units = [int(n.l0) for _, n in bodies_of_form(system, "quaternion")]
    order = [*units, *(k for k in range(system.n_l) if k not in set(units))]
    return np.array([] if order == sorted(order) else order, dtype=np.int64)


def is_analytic(system: System) -> bool:
    """Whether the equations of a step are analytic functions: no elements and coordinates of users, no general laws."""
    tables = system.tables
    return len(tables.frame_elements) == 0 and not has_form(system, "generalized")


def _unreduced_rows(system: System) -> Array:
    """Rows of the kinematic relations of all velocities, then of their fibre derivatives, where they are unknowns."""
    nodes = system.tables.nodes[1:]
    if system.assembly.layout.n <= system.n_v + system.n_l:
        return np.zeros(0, dtype=np.int64)
    first = np.concatenate([n.x0 + n.nv + n.nl + np.arange(n.nv) for n in nodes])
    return np.concatenate([first, np.concatenate([n.x0 + 2 * n.nv + n.nl + np.arange(n.nv) for n in nodes])])
