"""Following the position of a fully driven system in time.

Each Newton iteration starts from the motion continued with known velocities and accelerations, which keeps it on its
branch. The Jacobian B loses rank at singular positions (dead centres, ends of a reach, branch points). There
det(B_n^T B_{n+1}) changes its sign between two records, also where B has redundant rows.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..errors import AssemblyError, ModelWarning, SingularityError
from ..system import instant
from ..system.instant_elements import check_charts
from ..system.matrix import tangent
from ..system.system import System
from ..system.tables import FLAG_CHARTS
from ..system.tree_state import locked_angles
from .initial import StartSolver
from .rank import RANK_TOLERANCE
from .start_report import failure

Array = np.ndarray

TOLERANCE = 1e-12  # of the constraints, lengths beside the length of the system
ITERATIONS = 12  # of Newton's method before the step is halved
BISECTIONS = 25  # to find the time of a singular position between two records
HALVINGS = 30  # of a step before the position counts as out of reach
SINGULAR = 1e-6  # smallest singular value of B, beside the largest, at a singular position (found to a root of eps)
NARROW = 1e-3  # the same, below which a failure is called a singular position
CONFLICT = 1e-8  # remaining rates beside the given ones that count as a contradiction
DENSE_LIMIT = 200  # velocities up to which every record is checked for singular positions


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
    """Newton steps of large models, by block elimination; singular positions are not looked for."""

    ratio = 1.0

    def __init__(self, solver: StartSolver, q: Array) -> None:
        self.problem = solver.problem(q, np.ones(solver.system.n_v, dtype=bool), False)

    def step(self, g: Array) -> Array:
        return self.problem.step(g, 0.0)[0]


class Track:
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
        system.work.turns[:] = system.initial_turns()
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
        tangent(s, w, q, zero, zero, np.zeros(self.system.n_l), w.eye, 1.0, 0.0, 0.0, w.matrix)
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
        instant.remember_angles(s, w, q, v)
        if s.flags[FLAG_CHARTS] == 0:
            return
        check_charts(s, w, self.q, q, v, vd, vd.copy(), 0.0, 0)
        if w.chart != 0.0:
            name = system.model.bodies[int(w.chart) - 1].name
            owner, remedy = locked_angles(system, name)
            raise SingularityError(
                f"the Euler angles of {owner} came too close to gimbal lock at t = {t:.6g}; use mbd.nodes.Quaternion "
                f"or another node: {remedy}",
                body=name, time=t,
            )  # fmt: skip
        check_charts(s, w, q, q, v, vd, vd.copy(), 0.0, 1)

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
