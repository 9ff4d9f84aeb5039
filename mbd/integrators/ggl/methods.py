"""GGL integrators: position and velocity constraints from one variational principle, on points and directors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...errors import ModelError, ModelWarning, check_number
from ...system.tables import FLAG_DENSE
from ..base import Array, Integrator, Invariant, Trait, Variable, missing_trait
from ..checks import check_newton, check_regular_directors, keeps_momenta, momenta
from ..directors.rigid_solve import RigidBodies
from ..directors.unknown_blocks import Groups, name_of_vertex, natural_tables
from ..run import FixedStepRun
from . import loop as kernels
from .entries import connect_pieces
from .equations import (
    ACCELERATED,
    AT_REST,
    EM,
    EULER,
    PAST,
    THETA,
    UNIFORM,
    GGLState,
    Numbers,
)

if TYPE_CHECKING:
    from ...results.solution import Solution
    from ...system.system import System

GUESSES = {"acceleration": ACCELERATED, "velocity": UNIFORM, "position": AT_REST}


@dataclass(frozen=True)
class GGL(Integrator):
    """Base of the GGL integrators; use GGLEuler, GGLMidpoint, GGLTrapezoidal or GGLEM.

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

    requires: ClassVar[frozenset[Trait]] = frozenset({Trait.POINT_OR_DIRECTORS, Trait.QUADRATIC})
    symplectic: ClassVar[bool] = True
    groups: ClassVar[int] = 2
    recorded: ClassVar[tuple[str, ...]] = ("gamma", "lambda")
    derived: ClassVar[tuple[str, ...]] = ("p",)
    cite: ClassVar[tuple[str, ...]] = ("Kinon, Betsch & Schneider 2023, Nonlinear Dyn. 111, 14231",)

    def __post_init__(self) -> None:
        check_newton(self)
        if self.guess not in GUESSES:
            raise ModelError(f"{self.name}: guess is {self.guess!r}; expected one of {', '.join(GUESSES)}")

    kind: ClassVar[int] = THETA

    @property
    def shift(self) -> float:
        """Where in the step forces are evaluated."""
        return 0.5

    def equations(self, h: float) -> tuple[Numbers, dict[str, str], dict[str, str]]:
        """Numbers, frames and times of the equations (``ggl_kernels``)."""
        raise NotImplementedError

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
        kept = {Invariant.POSITION_CONSTRAINTS, Invariant.VELOCITY_CONSTRAINTS}
        conservative = all(missing_trait(system, t) is None for t in (Trait.AUTONOMOUS, Trait.CONSERVATIVE))
        if conservative:
            kept.add(Invariant.SYMPLECTIC if self.symplectic else Invariant.ENERGY)
        if keeps_momenta(system):
            kept |= {Invariant.LINEAR_MOMENTUM, Invariant.ANGULAR_MOMENTUM}
        return frozenset(kept)

    def check(self, system: System) -> None:
        super().check(system)
        check_regular_directors(self, system)

    def start(self, system: System, q: Array, v: Array, t: float, step: float, turns: Array | None) -> GGLRun:
        factor, what, advice = self.growth
        if factor > 1.0 and system.n_l:
            warnings.warn(
                f"{self!r} is unstable: {what} grow by a factor of {factor:.3g} in each step; take {advice}",
                ModelWarning, stacklevel=3,
            )  # fmt: skip
        run = GGLRun(self, system, t, step)
        run.load(q, v, turns)
        work = system.new_work()
        work.turns[:] = run.work.turns
        kernels.start_ggl(system.tables, work, run.x, t)
        run.work.turns[:] = work.turns
        return run

    def resume(self, system: System, state: dict[str, Any]) -> GGLRun:
        run = GGLRun(self, system, float(state["origin"]), float(state["step"]))
        run.restore(state)
        return run


@dataclass(frozen=True)
class GGLEuler(GGL):
    """Symplectic Euler method with position and velocity constraints (VI-S) [Kinon et al. 2023, (55)].

    Dampers and loads act by their values at the start of a step.
    """

    order: ClassVar[int] = 1
    groups: ClassVar[int] = 3
    kind: ClassVar[int] = EULER

    @property
    def shift(self) -> float:
        return 0.0

    def equations(self, h: float) -> tuple[Numbers, dict[str, str], dict[str, str]]:
        numbers = Numbers(
            h=h, explicit=1.0, theta=0.0, moves=1.0, follows=0.0, mean_u=0.0, mean_y=1.0 / h,
            force=h * h, gradient=1.0, curvature=1.0, last_force=0.0, last_gradient=0.0, last_curvature=0.0,
            d_curvature=1.0, d_gradient=0.0, d_rate=0.0, d_value=1.0, damping=0.0, stiffness=0.0,
        )  # fmt: skip
        return (
            numbers,
            {"zl": "z0", "zh": "zu", "zv": "zt", "zp": "z1", "ze": "z1"},
            {"t": "end", "l": "start", "v": "end", "p": "end", "e": "end"},
        )


@dataclass(frozen=True)
class GGLMidpoint(GGL):
    """Variational theta method with constraints at the intermediate point (VI-A) [Kinon et al. 2023, (79)].

    Second order for theta = 1/2. Position constraints hold at the intermediate points, not at the ends of the steps.
    With constraints only theta = 1/2 is stable: deviations from them grow like ((1 - theta) / theta)^n, multipliers
    like the inverse.
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

    def equations(self, h: float) -> tuple[Numbers, dict[str, str], dict[str, str]]:
        theta = self.theta
        numbers = _theta_numbers(h, theta)._replace(
            gradient=1.0 - theta, last_gradient=theta, d_gradient=theta, d_value=theta
        )
        frames = {"zl": "zt", "zh": "zu", "zv": "zt", "zp": "zt", "ze": "zt"}
        return numbers, frames, dict.fromkeys("tlvpe", "force")

    def preserves(self, system: System) -> frozenset[Invariant]:
        return super().preserves(system) - {Invariant.POSITION_CONSTRAINTS, Invariant.VELOCITY_CONSTRAINTS}


@dataclass(frozen=True)
class GGLTrapezoidal(GGL):
    """Variational theta method with constraints at the ends of the steps (VI-B) [Kinon et al. 2023, (82)].

    The velocity of the step satisfies the velocity constraints; the momenta, which are recorded, do so only up to the
    order of the method. ``vartheta`` says how much of the multipliers acts in their own step, (1 - vartheta), and how
    much in the next one; the motion does not depend on it. Above 1/2 they grow from step to step. With vartheta = 1,
    where they act in the next step only, those of the last step are recorded, and momenta without them.
    """

    theta: float = 1.0
    vartheta: float = 0.5
    order: ClassVar[int] = 1

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

    def equations(self, h: float) -> tuple[Numbers, dict[str, str], dict[str, str]]:
        # with vartheta = 1 the multipliers of a step act on the next one only: they are found there, and are its own
        last = self.vartheta if self.vartheta < 1.0 else 0.0
        numbers = _theta_numbers(h, self.theta)._replace(
            gradient=1.0 - last, last_gradient=last, d_gradient=0.0, d_value=1.0
        )
        frames = {"zl": "z0", "zh": "zu", "zv": "zt", "zp": "z1", "ze": "z1"}
        return numbers, frames, {"t": "force", "l": "start", "v": "force", "p": "end", "e": "end"}

    def preserves(self, system: System) -> frozenset[Invariant]:
        return super().preserves(system) - {Invariant.VELOCITY_CONSTRAINTS}


@dataclass(frozen=True)
class GGLEM(GGL):
    """Energy-momentum scheme with position and velocity constraints (EM) [Kinon et al. 2023, (84)].

    Potentials enter by exact discrete gradients, dampers and loads by the middle of a step.
    """

    order: ClassVar[int] = 2
    symplectic: ClassVar[bool] = False
    kind: ClassVar[int] = EM

    def equations(self, h: float) -> tuple[Numbers, dict[str, str], dict[str, str]]:
        numbers = Numbers(
            h=h, explicit=0.0, theta=0.5, moves=0.5, follows=0.5, mean_u=0.5, mean_y=0.5,
            force=h * h, gradient=1.0, curvature=1.0, last_force=0.0, last_gradient=0.0, last_curvature=0.0,
            d_curvature=0.5, d_gradient=0.5, d_rate=1.0, d_value=1.0, damping=h, stiffness=0.5 * h * h,
        )  # fmt: skip
        frames = {"zl": "zt", "zh": "zy", "zv": "z1", "zp": "z1", "ze": "z1"}
        return numbers, frames, dict.fromkeys("tlvpe", "end")


def _theta_numbers(h: float, theta: float) -> Numbers:
    """What the theta methods have in common."""
    c = 1.0 - theta
    return Numbers(
        h=h, explicit=0.0, theta=theta, moves=theta, follows=1.0, mean_u=1.0 / h, mean_y=0.0,
        force=h * h * c, gradient=0.0, curvature=c, last_force=h * h * theta, last_gradient=0.0, last_curvature=theta,
        d_curvature=1.0, d_gradient=0.0, d_rate=theta, d_value=0.0, damping=h * c, stiffness=h * h * c * theta,
    )  # fmt: skip


def extrapolation(method: GGL) -> Array:
    """Weights of the last values, latest first, for the next one; row n is for n known values.

    The velocity constraints of the theta methods see multipliers of two steps together, so that these may alternate.
    With (E - 1)^4 (E + 1) for the shift E, cubic sequences are continued exactly and an alternating part of constant
    size does no harm; those of ``GGLTrapezoidal``, which starts with twice the multipliers, alternate between 0 and
    twice the true ones: every other value is extrapolated, (E^2 - 1)^4.
    """
    weights = np.zeros((PAST + 1, PAST))
    rows: list[tuple[int, ...]]
    if isinstance(method, GGLTrapezoidal):
        every_other: list[tuple[int, ...]] = [(1,), (2, -1), (3, -3, 1), (4, -6, 4, -1)]
        rows = [(), (1,)]
        for row in every_other:
            rows += [tuple(c for weight in row for c in (0, weight))] * 2
    else:
        rows = [(), (1,), (0, 1), (1, 1, -1), (2, 0, -2, 1), *[(3, -2, -2, 3, -1)] * (PAST - 4)]
    for n, row in enumerate(rows[: PAST + 1]):
        weights[n, : len(row)] = row
    return weights


class GGLRun(FixedStepRun):
    """A run of a GGL integrator in progress.

    Large systems are solved with the matrix of rigid bodies; where that does not converge, the run goes on with the
    large matrix of all unknowns.
    """

    saved = ("q", "v", "vd", "lam", "vdm", "lamm", "gams", "past_u", "past_d", "past_l", "past_g")
    factors = ("matrix", "pivots", "dinv", "matrix2", "pivots2", "dinv2")

    def __init__(self, method: GGL, system: System, t: float, step: float) -> None:
        super().__init__(method, system, t, step)
        nq, nv, nl, nodes = system.n_q, system.n_v, system.n_l, len(system.tables.nodes)
        vectors = {name: np.zeros(nv) for name in ("v", "vd", "vdm", "dq", "u", "w", "y", "y0")}
        multipliers = {name: np.zeros(nl) for name in ("lam", "lamm", "lams", "gams", "mu")}
        past = {f"past_{name}": np.zeros((PAST, n)) for name, n in zip("udlg", (nv, nv, nl, nl), strict=True)}
        work = system.new_work()
        z = {name: work.z.copy() for name in ("z0", "z1", "zt")}
        z |= {name: np.zeros((nodes, 12)) for name in ("zr", "zu", "zy", "f1", "f2", "fl", "buffer")}
        at = {name: np.zeros_like(work.values) for name in ("at_start", "at_force", "at_end")}
        numbers, frames, times = method.equations(step)
        z |= {name: z[same] for name, same in frames.items()}
        at |= {f"at_{name}": at[f"at_{same}"] for name, same in times.items()}
        self.x = GGLState(
            q=np.zeros(nq), **vectors, **multipliers, **past, **z, **at, weights=extrapolation(method),
            c=np.array(numbers), r1=np.zeros(nv + nl), r2=np.zeros(nv + nl), norms=np.zeros(6),
            zero=np.zeros(max(nv, nl, 1)), torque=np.zeros((nodes, 3)), square=np.zeros((4, 4)), times=np.zeros(3),
        )  # fmt: skip
        self.natural = natural_tables(system)
        self.rigid = not system.tables.flags[FLAG_DENSE]
        self._connect()
        self.begin(*self._numbers())

    def _numbers(self) -> tuple[float, ...]:
        """What the compiled loop needs to know of the method (``ggl_loop``)."""
        method, c = self.method, Numbers(*self.x.c)
        columns, rows = 1.0 / c.gradient, c.d_value
        guess, follows = GUESSES[method.guess], c.follows
        damping = c.damping * (follows if method.kind == EM else 1.0)
        return method.kind, method.shift, guess, self.rigid, columns, rows, damping, c.stiffness * follows

    def _connect(self) -> None:
        """Tables and buffers of the matrix: of rigid bodies, or large."""
        self.solver: RigidBodies | Groups
        if self.rigid:
            self.solver = bodies = RigidBodies(self.system)
            self.rows, pairs = (bodies.tables,) * 3, (self.natural,) * 9
        else:
            self.solver = groups = Groups(self.system, self.method.groups)
            last = self.method.groups - 1
            pairs = tuple(groups.tables[min(i, last)][min(j, last)] for i in range(3) for j in range(3))
            self.rows = pairs[0], pairs[4], pairs[8]
        self.work = self.solver.new_work()
        self.pieces, self.pairs = connect_pieces(self.method.kind, (*pairs, self.natural), not self.rigid)

    def _couple(self) -> None:
        """From now on one matrix for all unknowns."""
        turns = self.work.turns
        self.rigid = False
        self.numbers.method[kernels.RIGID] = 0.0
        self._connect()
        self.work.turns[:] = turns

    def own(self) -> list[Array]:
        return [self.x.gams / self.step, self.x.lamm]

    def loop(self, count: int, every: int, out: list[Array]) -> int:
        return kernels.run_ggl(
            self.natural, self.rows, self.pieces, self.pairs, self.work, self.x, self.numbers, self.origin,
            self.index, self.step, count, every, *out,
        )  # fmt: skip

    def advance(self, count: int, every: int, out: list[Array]) -> int:
        first = self.index
        done = super().advance(count, every, out)
        if done < count and self.rigid:
            self._couple()
            rows = self.index // every - first // every
            done += super().advance(count - done, every, [y[rows:] for y in out])
        return done

    def state(self) -> dict[str, Any]:
        state = super().state() | {"rigid": self.rigid}
        if self.rigid:
            state |= {name: getattr(self.work, name).copy() for name in self.factors}
        return state

    def restore(self, state: dict[str, Any]) -> None:
        if self.rigid and not state["rigid"]:
            self._couple()
        super().restore(state)
        if self.rigid:
            for name in self.factors:
                getattr(self.work, name)[:] = state[name]

    def name_of_unknown(self, row: int) -> str:
        """Rows of residuals are those of velocities and multipliers; a negative number means one of the matrix."""
        if row >= 0:
            s = self.system.tables
            return self.system.name_of_unknown(int(s.xv[row] if row < len(s.xv) else s.xl[row - len(s.xv)]))
        return name_of_vertex(self.system, self.solver.layout.vertex_of(-1 - row))
