"""Fully driven models: their motion from the constraints alone, and the forces and torques that it takes.

Where drivers and joints leave nothing free, positions follow from g(q, t) = 0 by Newton's method, velocities from
B v = -g_t and accelerations from B v_dot = -gamma; masses and forces play no part (``kinematics``). The multipliers
then balance B^T lambda = f - M v_dot, and those of the drivers are what motors have to do (``inverse_dynamics``).

The positions are followed in time: each Newton iteration starts from the motion continued with known velocities and
accelerations, which keeps it on its branch. The Jacobian B loses rank at singular positions (dead centres, ends of a
reach, branch points). There det(B_n^T B_{n+1}) changes its sign between two records, also where B has redundant rows.
"""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import AssemblyError, IncompatibleError, ModelError, ModelWarning, SingularityError, check_number
from .model import Model
from .progress import Progress
from .records import FLAG_CHARTS
from .solution import Solution
from .solvers.initial import StartSolver, consistent_start
from .solvers.motions import free_motions
from .solvers.rank import RANK_TOLERANCE, lie_twin, mobility, twin_coordinates
from .solvers.redundancy import check_redundancy
from .solvers.start_report import failure
from .solvers.words import counted
from .system import evaluate
from .system.optional import call_charts
from .system.system import System, assemble

Array = np.ndarray

TOLERANCE = 1e-12  # of the constraints, lengths beside the length of the system
ITERATIONS = 12  # of Newton's method before the step is halved
BISECTIONS = 25  # to find the time of a singular position between two records
HALVINGS = 30  # of a step before the position counts as out of reach
SINGULAR = 1e-6  # smallest singular value of B, beside the largest, at a singular position (found to a root of eps)
NARROW = 1e-3  # the same, below which a failure is called a singular position
CONFLICT = 1e-8  # remaining rates beside the given ones that count as a contradiction
DENSE_LIMIT = 200  # velocities up to which every record is checked for singular positions
SHOWN = 6  # free motions that a message lists
WHOLE = 1e-9  # relative deviation of a duration from whole steps that counts as round-off


@dataclass(frozen=True)
class Kinematics:
    """Stands in a solution where an integrator would: nothing was integrated."""

    step: float
    forces: bool = False

    @property
    def name(self) -> str:
        return "inverse dynamics" if self.forces else "kinematics"


def kinematics(
    model: Model, t_end: float, step: float, *, t_start: float = 0.0, progress: bool | None = None
) -> Solution:
    """The motion of a fully driven model: positions, velocities and accelerations from its constraints alone.

    ``step`` is the distance of the records (slightly smaller if the duration is no multiple); it has no influence on
    their accuracy. The solution has the same views as that of a simulation; reactions, which depend on masses and
    forces, are NaN (see ``inverse_dynamics``).

    ``ModelError`` if motions are left free (they are listed), ``SingularityError`` with the time where the drivers lead
    out of reach or where a record is a singular position, ``AssemblyError`` if constraints contradict each other. A
    singular position that is passed between two records gives a warning with its time: the motion continues smoothly.
    """
    return _analysis(model, t_end, step, t_start, progress, False)


def inverse_dynamics(
    model: Model, t_end: float, step: float, *, t_start: float = 0.0, progress: bool | None = None
) -> Solution:
    """The forces and torques that make a fully driven model move as its drivers prescribe.

    As ``kinematics``, and with all reactions: ``solution[motor].torque`` and ``.force`` of drivers are what they do on
    the second body, ``solution.power`` is what they put in. They are exact at every record, because nothing is
    integrated. Where constraints are redundant, reactions are those of minimum norm, and a warning names the joints.
    """
    return _analysis(model, t_end, step, t_start, progress, True)


def _analysis(model: Model, t_end: float, step: float, t_start: float, progress: bool | None, forces: bool) -> Solution:
    method = Kinematics(step, forces)
    if not isinstance(model, Model):
        raise ModelError(f"{method.name}: model is {model!r}; expected an mbd.Model")
    t_end, t_start = check_number(t_end, method.name, "t_end"), check_number(t_start, method.name, "t_start")
    step = check_number(step, method.name, "step", positive=True)
    if t_end < t_start:
        raise ModelError(f"{method.name}: t_end is {t_end}; expected a time after the start {t_start}")
    system = assemble(model)
    start = consistent_start(system, t=t_start)
    _check_driven(system, start.q, t_start, method.name)
    count = (t_end - t_start) / step
    steps = round(count) if abs(count - round(count)) <= WHOLE * max(1.0, count) else math.ceil(count)
    times = np.linspace(t_start, t_end, steps + 1)
    clock = time.perf_counter()
    track = _Track(system, start.q, t_start)
    if forces:
        check_redundancy(system, track.q, track.v, t_start)
    rows: list[list[Array]] = []
    with Progress(t_start, t_end, progress, method.name) as bar:
        for t in times.tolist():
            try:
                if t > t_start:
                    track.advance(t)
            except (SingularityError, AssemblyError) as error:
                error.solution = _solution(system, times, rows, method, start.report, track, clock, str(error))  # type: ignore[union-attr]
                raise
            lam = track.multipliers() if forces else np.full(system.n_l, np.nan)
            rows.append([track.q, track.v, track.vd, lam, system.work.turns.copy()])
            bar.update(t)
    return _solution(system, times, rows, method, start.report, track, clock, "")


def _solution(
    system: System, times: Array, rows: list[list[Array]], method: Kinematics, report: Any, track: _Track, clock: float,
    message: str,
) -> Solution:  # fmt: skip
    widths = (system.n_q, system.n_v, system.n_v, system.n_l, len(system.work.turns))
    q, v, vd, lam, turns = (np.array([row[k] for row in rows]).reshape(-1, n) for k, n in enumerate(widths))
    stats = {
        "steps": max(0, len(rows) - 1), "newton_iterations": track.iterations,
        "wall_time": time.perf_counter() - clock,
    }  # fmt: skip
    return Solution(
        system, times[: len(rows)], q, v, vd, lam, turns, integrator=method, stats=stats, start=report,
        complete=not message, message=message,
    )  # fmt: skip


def _check_driven(system: System, q: Array, t: float, name: str) -> None:
    """Refuse models in which something is left free, and say what."""
    rolling = {i for i, joint in enumerate(system.model.joints) if _is_rolling(joint)}
    if rolling:
        joint = system.model.joints[min(rolling)]
        raise IncompatibleError(
            f"{name}: {joint} restricts velocities only (rolling), so that positions do not follow from the "
            "constraints of the moment. Use mbd.simulate; its reactions contain the forces of drivers"
        )
    twin = assemble(lie_twin(system.model))
    found = mobility(twin, twin_coordinates(twin, system, q), t)
    equations = found.here
    free = equations.matrix.shape[1] - equations.rank
    if not free:
        return
    if equations.redundant and found.generic.rank == equations.matrix.shape[1]:
        raise SingularityError(
            f"{name}: the start t = {t:g} is a singular position of model '{system.model.name}', where its equations "
            "do not say how it moves on; start at another time or from another position", time=t,
        )  # fmt: skip
    motions = [str(motion) for motion in free_motions(equations)][:SHOWN]
    more = free - len(motions)
    listed = "; ".join(motions) + (f"; and {more} more" if motions and more else "")
    raise ModelError(
        f"{name}: model '{system.model.name}' is not fully driven: {counted(free, 'motion')} "
        f"{'is' if free == 1 else 'are'} left free{': ' if listed else ''}{listed}. Add {counted(free, 'driver')} "
        "(mbd.joints.AngleDriver, PositionDriver, DrivenFrame), or use mbd.simulate"
    )


def _is_rolling(joint: Any) -> bool:
    return any(getattr(primitive, "nonholonomic", ()) for primitive in joint.primitives())


class _Dense:
    """The linearised constraints of a small model: least squares by singular values, redundant rows or not."""

    def __init__(self, B: Array, weight: Array, size: Array) -> None:
        self.matrix, self.weight, self.size = B * weight[:, None] * size, weight, size
        self.u, self.s, self.vt = np.linalg.svd(self.matrix, full_matrices=False)

    @property
    def ratio(self) -> float:
        """Smallest singular value beside the largest."""
        return float(self.s[-1] / self.s[0]) if len(self.s) else 1.0

    def step(self, g: Array) -> Array:
        """d with B d = -g."""
        inverse = np.where(self.s > RANK_TOLERANCE * self.s[0], 1.0 / np.maximum(self.s, 1e-300), 0.0)
        return -self.size * (self.vt.T @ (inverse * (self.u.T @ (g * self.weight))))


class _Sparse:
    """The same for large models, by block elimination; singular positions are not looked for."""

    ratio = 1.0

    def __init__(self, solver: StartSolver, q: Array) -> None:
        self.problem = solver.problem(q, np.ones(solver.system.n_v, dtype=bool), False)

    def step(self, g: Array) -> Array:
        return self.problem.step(g, 0.0)[0]


class _Track:
    """The state of a fully driven system, followed in time."""

    def __init__(self, system: System, q: Array, t: float) -> None:
        self.system, self.t, self.iterations = system, t, 0
        self.solver = StartSolver(system, t, TOLERANCE, None)
        self.watched = system.n_v <= DENSE_LIMIT
        s, layout = system.tables, system.assembly.layout
        if self.watched:  # where the entries of B are in the storage of the block solver
            places = layout.to_scipy(np.arange(1.0, layout.size_F + 1.0)).tocsr()
            self.places = places[s.xl][:, s.xv].toarray().astype(np.int64)
            self.storage = np.zeros(layout.size_F + 1)
        self.size = np.where(s.vclass == 0, system.length, 1.0)
        system.work.turns[:] = 0.0
        self.q, self.v, self.vd = q, np.zeros(system.n_v), np.zeros(system.n_v)
        self.problem = self._accept(q, t)
        self._check_rank()

    def advance(self, t: float) -> None:
        """Go on to the time t, in smaller steps where necessary."""
        before, old = self._state(), self.problem
        t0 = self.t
        self.width = width = t - t0
        smallest = width * 0.5**HALVINGS
        while self.t < t:
            end = min(t, self.t + width) if t - self.t > width * (1.0 + 1e-9) else t
            q = self._positions(end)
            if q is None:
                width *= 0.5
                if width < smallest:
                    raise self._stuck()
                continue
            self.problem = self._accept(q, end)
            width = min(2.0 * width, t - t0)
        self._check_rank()
        if _turned(old, self.problem):
            self._report_passage(before, old)

    def multipliers(self) -> Array:
        """Reactions in the present state, of minimum norm where they are not unique."""
        return self.system.accelerations(self.q, self.v, self.t)[1]

    # --- one step -------------------------------------------------------------------------------------------------

    def _positions(self, t: float) -> Array | None:
        """Newton's method from the continued motion; None where it does not converge nearby."""
        h, system = t - self.t, self.system
        q = system.update(self.q, h * self.v + 0.5 * h * h * self.vd)
        last = False
        for _ in range(ITERATIONS):
            g = system.constraints(q, t)
            if not np.isfinite(g).all():
                return None
            if last:
                return q if self._size(g) <= 10.0 * TOLERANCE else None
            last = self._size(g) <= TOLERANCE
            d = self._linearised(q, t).step(g)
            self.iterations += 1
            if not np.isfinite(d).all() or self.solver.largest_turn(d) > 0.5:
                return None
            q = system.update(q, d)
        return None

    def _linearised(self, q: Array, t: float) -> _Dense | _Sparse:
        if not self.watched:
            self.solver.t = t
            return _Sparse(self.solver, q)
        s, w, zero = self.system.tables, self.system.work, np.zeros(self.system.n_v)
        self.system._move(q, zero, t)
        evaluate.tangent(s, w, q, zero, zero, np.zeros(self.system.n_l), w.eye, 1.0, 0.0, 0.0, w.matrix)
        self.storage[1:] = w.matrix
        return _Dense(self.storage[self.places], self.solver.weight, self.size)

    def _size(self, g: Array) -> float:
        return float(np.abs(g * self.solver.weight).max(initial=0.0))

    def _accept(self, q: Array, t: float) -> _Dense | _Sparse:
        """Make q the position at t and find velocities and accelerations there."""
        system, zero = self.system, np.zeros(self.system.n_v)
        problem = self._linearised(q, t)
        given = system.constraint_velocity(q, zero, t)
        v = problem.step(given)
        v = v + problem.step(system.constraint_velocity(q, v, t))
        self._check_rates(system.constraint_velocity(q, v, t), given, q, t)
        vd = problem.step(system.constraint_bias(q, v, t))
        self._follow(q, v, vd, t)
        self.q, self.v, self.vd, self.t = q, v, vd, t
        return problem

    def _follow(self, q: Array, v: Array, vd: Array, t: float) -> None:
        """Count turns, and keep conventional rotations in the good region of their chart."""
        system = self.system
        s, w = system.tables, system.work
        system._move(q, v, t)
        evaluate.remember_angles(s, w, q, v)
        if s.flags[FLAG_CHARTS] == 0:
            return
        call_charts(s, w, self.q, q, v, vd, vd.copy(), 0.0, 0)
        if w.info[5] != 0.0:
            name = system.model.bodies[int(w.info[5]) - 1].name
            raise SingularityError(
                f"the Euler angles of body '{name}' came too close to gimbal lock at t = {t:.6g}; use "
                f"mbd.nodes.Quaternion or another node: model.with_nodes({{'{name}': mbd.nodes.Quaternion}})",
                body=name, time=t,
            )  # fmt: skip
        call_charts(s, w, q, q, v, vd, vd.copy(), 0.0, 1)

    def _check_rates(self, rest: Array, given: Array, q: Array, t: float) -> None:
        weight = self.solver.weight
        scale = float(np.abs(given * weight).max(initial=0.0))
        if float(np.abs(rest * weight).max(initial=0.0)) > CONFLICT * max(scale, 1e-300) and scale > 0.0:
            error = failure(self.solver.rows, rest, q, False, velocity=True)
            raise AssemblyError(f"at t = {t:.6g}: {error}")

    # --- singular positions ---------------------------------------------------------------------------------------

    def _check_rank(self) -> None:
        if self.problem.ratio < SINGULAR:
            raise SingularityError(
                f"t = {self.t:.9g} is a singular position of model '{self.system.model.name}', where its velocities do "
                "not follow from the drivers; choose records that do not meet it (another step or t_start)",
                time=self.t,
            )  # fmt: skip

    def _stuck(self) -> SingularityError | AssemblyError:
        """The error where no position is found any more."""
        name = self.system.model.name
        if self.problem.ratio > NARROW:
            h = 1e-3 * self.width
            g = self.system.constraints(self.system.update(self.q, h * self.v), self.t + h)
            return AssemblyError(
                f"after t = {self.t:.9g} the constraints of model '{name}' contradict each other: "
                f"{failure(self.solver.rows, g, self.q, False)}"
            )
        return SingularityError(
            f"model '{name}' cannot follow its drivers beyond t = {self.t:.9g}: it is at the end of its reach, a "
            "singular position (dead centre, stretched loop). Check lengths and the range of the drivers",
            time=self.t,
        )

    def _state(self) -> tuple[float, Array, Array, Array, Array]:
        return self.t, self.q, self.v, self.vd, self.system.work.turns.copy()

    def _restore(self, state: tuple[float, Array, Array, Array, Array]) -> None:
        self.t, self.q, self.v, self.vd, turns = state
        self.system.work.turns[:] = turns

    def _report_passage(self, before: Any, old: _Dense | _Sparse) -> None:
        """Find when the sign of det(B_n^T B_{n+1}) changed, by bisection, and warn."""
        after, new = self._state(), self.problem
        low, high = before[0], self.t
        for _ in range(BISECTIONS):
            self._restore(before)
            middle = 0.5 * (low + high)
            q = self._positions(middle)
            if q is None:
                break
            try:
                between = self._accept(q, middle)
            except (AssemblyError, SingularityError):
                break
            if _turned(old, between):
                high, new = middle, between
            elif _turned(between, new):
                low, old, before = middle, between, self._state()
            else:  # the bodies only turned far between the records
                self._restore(after)
                return
        self._restore(after)
        warnings.warn(
            f"model '{self.system.model.name}' passes a singular position at t = {0.5 * (low + high):.6g}, where its "
            "equations allow several ways on; the motion continues smoothly, and accelerations and reactions near it "
            "are large or not unique", ModelWarning, stacklevel=5,
        )  # fmt: skip


def _turned(old: _Dense | _Sparse, new: _Dense | _Sparse) -> bool:
    """Whether an odd number of singular positions lies between two linearisations."""
    if isinstance(old, _Sparse) or isinstance(new, _Sparse):
        return False
    return bool(np.linalg.slogdet(old.matrix.T @ new.matrix)[0] < 0.0)
