"""Consistent start: the nearest state, in the metric of the mass matrix, that satisfies all constraints.

Positions: Gauss-Newton with steps of minimal mass norm, ``min 1/2 d^T M d`` subject to ``B d = -g``, applied through
the update of absolute coordinates, on Lie nodes; then, in models of up to 200 velocities, projections towards the
nearest of the consistent positions (what Gauss-Newton finds differs from it by the square of the correction).
Velocities: the same problem once, with ``B v + g_t`` in place of g. Three ways to solve it:

* regular systems: the block solver on ``[M B^T; B 0]``, as fast as one step of an integrator;
* dependent constraints or fixed quantities (deleted columns), up to 200 velocities: pseudo-inverse of ``B M^-1/2``;
* the same, larger: sparse ``[M B^T; B -eps I]`` with iterative refinement (iterated Tikhonov regularisation), which
  tends to the least-squares solution of minimal mass norm as well.

Where the constraints cannot be satisfied Gauss-Newton crawls; Levenberg-Marquardt (``B^T B + mu M``) then finds the
nearest miss for the message.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..elements.arguments import Held, Numbers
from ..errors import AssemblyError, ModelError, UserFunctionError, check_number
from ..linalg.solver import BlockSolver, SingularMatrixError
from ..nodes.forms import FORM_DIRECTORS, FORM_LIE, FORM_QUATERNION, FORM_SPIN
from ..system.defect import is_consistent
from ..system.matrix import tangent
from ..system.system import System
from ..system.tables import Tables
from ..system.tree_state import body_frames
from .round_off import clear_round_off
from .start_report import Rows, StartReport, carried_rates, check_branches, failure, held_parts, massless_shift, report
from .twins import (
    body_state,
    increments,
    joints_at,
    lie_system,
    lie_twin,
    own_coordinates,
    twin_columns,
    twin_coordinates,
)

Array = np.ndarray

DENSE_LIMIT = 200  # velocities up to which the pseudo-inverse is used (beyond it takes longer than the sparse way)
REGULAR = 1e-9  # pivot ratio of the block solver below which constraints count as dependent
RCOND = 1e-8  # singular values below this fraction of the largest are taken for zero
TURN_LIMIT = 0.5  # rad per body and iteration
ARMIJO, ITERATIONS, RESTARTS = 1e-4, 200, 5
NEARER, NEAR = 60, 1e-9  # iterations towards the nearest positions, and the increment at which they end
REFINEMENTS, EPS = 4, 1e-12  # of the sparse solution; relative to the size of the rows


@dataclass
class Start:
    """A consistent state."""

    q: Array
    v: Array
    report: StartReport


def consistent_start(
    system: System, q: Numbers | None = None, v: Numbers | None = None, t: float = 0.0, *,
    fixed: Held | None = None, tolerance: float = 1e-12,
) -> Start:  # fmt: skip
    """The nearest consistent state to (q, v), by default to the state given by the nodes; ``report`` says what changed.

    Parameters
    ----------
    fixed: what must not change, from bodies or their names to ``True`` (everything) or to some of ``"position"``,
        ``"rotation"``, ``"velocity"``, ``"angular_velocity"``: ``{"crank": {"rotation", "angular_velocity"}}``. A list
        of bodies holds all of them. "position" and "velocity" of a Generalized body are its coordinates and velocities.
    tolerance: of the constraints; relative to the length of the system for lengths, absolute for directions.

    A state that is consistent already is returned unchanged. ``AssemblyError`` if there is no consistent state, or if
    bodies are assembled with opposite axes.
    """
    tolerance = max(check_number(tolerance, "consistent_start", "tolerance", positive=True), 1e-14)
    t = check_number(t, "consistent_start", "t")
    given = system.initial_state() if q is None or v is None else (q, v)
    q0, v0 = system._q(given[0] if q is None else q).copy(), system._v(given[1] if v is None else v).copy()
    for name, asked, x in (("q", q, q0), ("v", v, v0)):  # nodes have checked theirs
        if asked is not None and not np.isfinite(x).all():
            raise ModelError(f"consistent_start: {name}[{np.isfinite(x).argmin()}] is not finite; expected numbers")
    if system.assembly.tree is not None:
        return _start_of_joints(system, q, v, q0, v0, t, fixed, tolerance)
    if not system.assembly.callbacks:  # nearly all models: one compiled call tells whether they are consistent
        g, rate = np.zeros(system.n_l), np.zeros(system.n_l)
        if is_consistent(system.tables, system.work, t, q0, v0, tolerance, g, rate):
            check_branches(system, q0, t)
            if fixed is not None:
                held_parts(system, fixed)  # names that do not exist are refused
            return Start(q0, v0, StartReport.unchanged(partial(Rows, system), g, rate))
    return StartSolver(system, t, tolerance, fixed).run(q0, v0)


def _start_of_joints(
    system: System, q: Numbers | None, v: Numbers | None, q0: Array, v0: Array, t: float, fixed: Held | None,
    tolerance: float,
) -> Start:  # fmt: skip
    """A consistent start in joint coordinates, found for the bodies in absolute ones.

    What is nearest does not depend on the coordinates then, and a start that the nodes give may violate joints that
    carry bodies as well.
    """
    if q is None and v is None and fixed is None:
        start = _given_start(system, q0, v0, t, tolerance)
        if start is not None:
            return start
    bodies = System(lie_twin(system.model))
    if q is None and v is None:
        start = consistent_start(bodies, t=t, fixed=fixed, tolerance=tolerance)
    else:
        start = consistent_start(bodies, *body_state(bodies, system, q0, v0), t, fixed=fixed, tolerance=tolerance)
        if not start.report.changed:
            return Start(q0, v0, start.report)
    return Start(*joints_at(system, bodies, start.q, start.v), start.report)


def _given_start(system: System, q: Array, v: Array, t: float, tolerance: float) -> Start | None:
    """The state that the nodes give, if it is consistent: bodies are where joints carry them, and loops are closed."""
    given, rates = body_frames(system.model.bodies)
    z, zd = system.frames(q), system.frame_velocities(q, v)
    framed = given[:, :3].any(axis=1) | z[:, :3].any(axis=1)
    lengths = np.where(np.arange(12) < 3, system.length, 1.0)
    speed = max(float(np.abs(rates / lengths).max(initial=0.0)), float(np.abs(zd / lengths).max(initial=0.0)))
    if np.abs((z - given) / lengths)[framed].max(initial=0.0) > tolerance:
        return None
    if np.abs((zd - rates) / lengths)[framed].max(initial=0.0) > tolerance * speed:
        return None
    solver = StartSolver(system, t, tolerance, None)
    g, rate = system.constraint_defects(q, v, t)
    if not solver._below(g, tolerance) or not solver._below(rate, tolerance * solver.speed(v, rate)):
        return None
    check_branches(system, q, t)
    return Start(q, v, report(system, solver.rows, t, (q, v), (q, v), (g, rate), 0))


def back_to_constraints(system: System, q: Array, v: Array, t: float, tolerance: float = 1e-12) -> tuple[Array, Array]:
    """A state that misses the constraints by little, as interpolation leaves it, corrected in the mass metric.

    As ``consistent_start``, without the search for the very nearest one, which differs by the square of the correction.
    """
    solver = StartSolver(system, t, tolerance, None)
    if not solver._below(system.constraints(q, t), tolerance):
        q = solver._positions(q)[0]
    return q, consistent_velocities(system, q, v, t, tolerance)


def consistent_velocities(system: System, q: Array, v: Array, t: float, tolerance: float = 1e-12) -> Array:
    """The nearest velocities that satisfy the constraints at q: those after an impact that imposes them suddenly."""
    solver = StartSolver(system, t, tolerance, None)
    rate = system.constraint_velocity(q, v, t)
    size = solver.speed(v, rate)
    return v if solver._below(rate, tolerance * size) else solver._velocities(q, v, rate, size)


def _parts(system: System) -> tuple[Array, Array, Array]:
    """To which part velocities and coordinates belong, and the angle per unit of each velocity.

    Parts: 2 i are the positions of node i, 2 i + 1 its rotation (or all coordinates of a generalized body).
    """
    nodes = system.tables.nodes
    parts = np.arange(2 * len(nodes))
    sizes_v = np.column_stack((nodes["nx"], nodes["nv"] - nodes["nx"]))
    sizes_q = np.column_stack((nodes["nx"], nodes["nq"] - nodes["nx"]))
    sizes_v[0] = sizes_q[0] = 0
    part_v, part_q = np.repeat(parts, sizes_v.ravel()), np.repeat(parts, sizes_q.ravel())
    factor = np.zeros((len(nodes), 2))  # increment of the rotation coordinates -> angle
    for form, size in ((FORM_LIE, 1.0), (FORM_SPIN, 1.0), (FORM_QUATERNION, 2.0), (FORM_DIRECTORS, 0.5**0.5)):
        factor[nodes["form"] == form, 1] = size
    return part_v, part_q, factor.ravel()[part_v]


class StartSolver:
    """One consistent start."""

    def __init__(self, system: System, t: float, tolerance: float, fixed: Held | None) -> None:
        self.system, self.t, self.tolerance = system, t, tolerance
        self.rows = Rows(system)
        self.weight = 1.0 / self.rows.scale
        self.part_v, self.part_q, self.turn_factor = system.structural("start", lambda: _parts(system))
        if fixed is None:
            self.free_q = self.free_v = np.ones(system.n_v, dtype=bool)
        else:
            held = held_parts(system, fixed)
            self.free_q, self.free_v = ~np.isin(self.part_v, held[0]), ~np.isin(self.part_v, held[1])
        self.regular = True  # until the block solver says otherwise
        self.blocks: BlockSolver | None = None

    def run(self, q0: Array, v0: Array) -> Start:
        system = self.system
        q, v, iterations = q0, v0, 0
        g, rate = system.constraint_defects(q, v, self.t)
        if not self._below(g, self.tolerance):
            q, iterations = self._corrected(q0)
            v = carried_rates(system, q0, q, v0, self.part_q)
            rate = system.constraint_velocity(q, v, self.t)
        else:
            check_branches(system, q, self.t)
        size = self.speed(v, rate)
        if not self._below(rate, self.tolerance * size):
            v = self._velocities(q, v, rate, size)
        return Start(q, v, report(system, self.rows, self.t, (q0, v0), (q, v), (g, rate), iterations))

    def speed(self, v: Array, rate: Array) -> float:
        """What violations of velocities are compared with."""
        return max(self._size(v), float(np.abs(rate * self.weight).max(initial=0.0)))

    def _below(self, g: Array, bound: float) -> bool:
        return bool(np.all(np.abs(g * self.weight) <= bound))  # false for NaN

    # --- positions ------------------------------------------------------------------------------------------------

    def _corrected(self, q0: Array) -> tuple[Array, int]:
        """Corrected positions, sought on Lie nodes, so that they do not depend on the coordinates of a model."""
        twin = lie_system(self.system)
        if twin is self.system:
            return self._restarted(q0)
        solver = StartSolver(twin, self.t, self.tolerance, None)
        solver.free_q = twin_columns(twin, self.system, self.free_q)
        given = twin_coordinates(twin, self.system, q0)
        found, iterations = solver._restarted(given)
        q = own_coordinates(self.system, twin, q0, given, found)
        if not self._below(self.system.constraints(q, self.t), 10.0 * self.tolerance):
            q, more = self._positions(q)  # a chart that cannot say it as well
            iterations += more
        return q, iterations

    def _nearest(self, q0: Array, q: Array) -> Array:
        """From consistent positions to the nearest ones: ``min 1/2 |x|_M^2`` for x = delta + d, with B d = -g.

        delta is the increment from q0 to q. Each iteration is a projection; it converges linearly, and where it does
        not, the positions found by Gauss-Newton stay.
        """
        best, size, relaxation = q, np.inf, 1.0
        for _ in range(NEARER):
            delta = increments(self.system, q0, q)
            g = self.system.constraints(q, self.t) - self.system.constraint_jacobian(q, self.t) @ delta
            d = self.problem(q, self.free_q, False).step(g, 0.0)[0] - delta
            d[~self.free_q] = 0.0
            if not self._size(d) < 0.9 * size:
                relaxation *= 0.5
            size = self._size(d)
            q = self._moved(q, relaxation * d)
            if size < NEAR or relaxation < 0.1:
                break
        if size >= NEAR:
            return best
        try:
            return self._positions(q)[0]
        except AssemblyError:
            return best

    def _restarted(self, q0: Array) -> tuple[Array, int]:
        """Corrected positions; small models start again from other orientations if that fails, since the first ones may
        be at a saddle: two axes that should be parallel but are perpendicular do not know which way to turn."""
        random, errors = np.random.default_rng(0), list[AssemblyError]()
        for _ in range(RESTARTS if self.system.n_v <= DENSE_LIMIT else 1):
            turn = random.normal(0.0, 0.3, self.system.n_v) if errors else np.zeros(self.system.n_v)
            turn[~self.free_q | (self.turn_factor == 0.0)] = 0.0
            try:
                q, iterations = self._positions(self._moved(q0, turn / np.maximum(self.turn_factor, 0.5)))
                check_branches(self.system, q, self.t)
                return (self._nearest(q0, q) if self.system.n_v <= DENSE_LIMIT else q), iterations
            except AssemblyError as error:
                errors.append(error)
        raise errors[0]

    def _positions(self, q: Array) -> tuple[Array, int]:
        """Gauss-Newton with line search; Levenberg-Marquardt where it crawls."""
        q, g, f = self._trial(q, np.zeros(self.system.n_v))
        if not np.isfinite(f):
            raise ModelError("consistent_start: the constraints are not finite at the given coordinates and time")
        damping, slow, last, weak = 0.0, 0, False, False
        for iteration in range(1, ITERATIONS + 1):
            problem = self.problem(q, self.free_q, damping > 0.0)
            while True:
                # constraints that are dependent at the solution only: without this their small singular values mislead
                mild = 0.0 if weak else min(200.0 * f, 1e-4)
                d, known = problem.step(g, damping or mild)
                slope = -2.0 * f if known is None else known
                length = min(1.0, TURN_LIMIT / max(self.largest_turn(d), TURN_LIMIT))
                small = self._size(d) < 10.0 * self.tolerance and slope < -1.9 * f  # g is at its round-off
                accepted, stationary = False, not slope < -1e-12 * f
                for _ in range(1 if damping or last or stationary else 30):
                    new, g_new, f_new = self._trial(q, length * d)
                    accepted = f_new < f and f_new <= f + ARMIJO * length * slope
                    if accepted:
                        break
                    length *= 0.5
                if accepted or damping == 0.0 or damping > 1e12 or stationary:
                    break
                damping *= 5.0
            if last or small:
                return (new if f_new < f else q), iteration
            drop = 1.0 - f_new / f if accepted else 0.0
            if accepted:
                q, g, f = new, g_new, f_new
            if self._below(g, self.tolerance):
                last, damping = True, 0.0  # one more, to round-off
                continue
            weak = weak or drop < 0.9
            slow = slow + 1 if drop < 1e-6 else 0
            if damping and (slow >= 4 or not accepted):
                break
            if drop > 0.5:
                damping = 0.0
            elif damping:
                damping = max(damping / 5.0, 1e-9)
            elif drop < 0.02:
                damping = 1e-3
        raise failure(self.rows, g, q, not self.free_q.all())

    def _trial(self, q: Array, d: Array) -> tuple[Array, Array, float]:
        new = self._moved(q, d)
        try:
            g = self.system.constraints(new, self.t)
        except UserFunctionError:  # a trial outside the domain of a user function is not accepted
            g = np.full(self.system.n_l, np.nan)
        return new, g, 0.5 * float(np.sum(np.square(g * self.weight)))

    def _moved(self, q: Array, d: Array) -> Array:
        """The update of absolute coordinates; what has a zero increment stays bit for bit."""
        new = self.system.update(q, d)
        moved = np.zeros(2 * len(self.system.tables.nodes), dtype=bool)
        moved[self.part_v[d != 0.0]] = True
        keep = ~moved[self.part_q]
        new[keep] = q[keep]
        return new

    def largest_turn(self, d: Array) -> float:
        return float(np.sqrt(np.bincount(self.part_v, np.square(self.turn_factor * d)).max(initial=0.0)))

    def _size(self, d: Array) -> float:
        """Largest entry, lengths divided by the length of the system."""
        return float(np.abs(np.where(self.part_v % 2 == 0, d / self.system.length, d)).max(initial=0.0))

    # --- velocities -----------------------------------------------------------------------------------------------

    def _velocities(self, q: Array, v: Array, rate: Array, size: float) -> Array:
        problem = self.problem(q, self.free_v, False)
        for _ in range(3):
            v = v + problem.step(rate, 0.0)[0]
            rate = self.system.constraint_velocity(q, v, self.t)
            if self._below(rate, 1e-14 * size):
                break
        if not self._below(rate, max(100.0 * self.tolerance, 1e-10) * size):
            raise failure(self.rows, rate, q, not self.free_v.all(), velocity=True)
        return v

    # --- linear problems ------------------------------------------------------------------------------------------

    def problem(self, q: Array, free: Array, damped: bool) -> _Regular | _Truncated:
        """The linearised problem at q, in the form that suits it."""
        system = self.system
        s, w, zero = system.tables, system.work, np.zeros(system.n_v)
        if self.blocks is None:
            self.blocks = BlockSolver(system.assembly.layout)
        system._move(q, zero, self.t)
        tangent(s, w, q, zero, zero, np.zeros(system.n_l), w.eye, 1.0, 0.0, 0.0, self.blocks.F)
        clear_round_off(system, self.blocks.F)
        truncated = partial(_Truncated, system, self.blocks.F, self.rows, free)
        if self.regular and not damped and free.all():
            self.blocks.factor()
            self.regular = self.blocks.redundant == 0 and self.blocks.ratio >= REGULAR
            if self.regular:
                return _Regular(s, self.blocks, truncated)
        return truncated()


class _Regular:
    """The linearised problem with independent constraints and nothing fixed, for the block solver."""

    def __init__(self, tables: Tables, blocks: BlockSolver, truncated: Callable[[], _Truncated]) -> None:
        self.tables, self.blocks, self.truncated = tables, blocks, truncated

    def step(self, g: Array, damping: float) -> tuple[Array, float | None]:
        """(d, slope) as ``_Truncated.step``; the slope is None where B d = -g."""
        b = np.zeros(self.blocks.layout.n)
        b[self.tables.xl] = -g
        try:
            return self.blocks.solve(b)[self.tables.xv], None
        except SingularMatrixError:
            return self.truncated().step(g, damping)


class _Truncated:
    """Dependent constraints or fixed columns: minimal norm least squares, or Levenberg-Marquardt with damping."""

    def __init__(self, system: System, F: Array, rows: Rows, free: Array) -> None:
        from scipy.linalg import solve_triangular
        from scipy.sparse import diags

        s, full = system.tables, system.assembly.layout.to_scipy(F).tocsr()
        self.weight, self.free, self.order = 1.0 / rows.scale, free, np.argsort(np.concatenate((s.xv[free], s.xl)))
        M, B = full[s.xv][:, s.xv], full[s.xl][:, s.xv]
        # A penalty on internal constraints makes the mass of conventional nodes definite and changes no minimum.
        own = B[rows.internal]
        size = abs(own).sign() @ M.diagonal()
        M = M + diags(massless_shift(system, M.diagonal())) + own.T @ diags(size) @ own
        self.M, self.B = M[free][:, free].tocsr(), (diags(self.weight) @ B)[:, free].tocsr()
        self.dense = system.n_v <= DENSE_LIMIT
        if self.dense:
            self.root = np.linalg.cholesky(self.M.toarray())
            A = solve_triangular(self.root, self.B.toarray().T, lower=True).T
            self.u, self.s, self.vt = np.linalg.svd(A, full_matrices=False)
            self.size = float(self.s.max(initial=1e-150)) ** 2
        else:
            self.size_of_rows = self.B.multiply(self.B) @ (1.0 / self.M.diagonal())
            self.size = float(self.size_of_rows.max(initial=1e-300))

    def step(self, g: Array, damping: float) -> tuple[Array, float | None]:
        """(d, slope) with the slope of 1/2 |g|^2 along d."""
        g = g * self.weight
        d = np.zeros(len(self.free))
        d[self.free] = part = (self._dense if self.dense else self._sparse)(g, damping * self.size)
        return d, float(g @ (self.B @ part))

    def _dense(self, g: Array, mu: float) -> Array:
        from scipy.linalg import solve_triangular

        s = np.where(self.s > RCOND * self.s.max(initial=0.0), self.s, 0.0)
        inverse = s / np.maximum(s * s + mu, 1e-300)
        return solve_triangular(self.root.T, -self.vt.T @ (inverse * (self.u.T @ g)), lower=False)

    def _sparse(self, g: Array, mu: float) -> Array:
        """d of large models: the regularised matrix is quasi-definite and needs no pivots, in the order given."""
        from scipy.sparse import bmat, diags
        from scipy.sparse.linalg import splu

        n, order, refinements = self.M.shape[0], self.order, 0 if mu > 1e-4 * self.size else REFINEMENTS
        eps = np.maximum(self.size_of_rows, RCOND * self.size) * max(mu / self.size, EPS) if refinements else mu
        plain = bmat([[self.M, self.B.T], [self.B, None]], "csr")[order][:, order]
        shift = diags(np.concatenate((np.zeros(n), np.full(len(g), eps)))[order])
        matrix, options = (plain - shift).tocsc(), {"SymmetricMode": True}
        factors = splu(matrix, permc_spec="NATURAL", diag_pivot_thresh=0.0, options=options)
        b = np.concatenate((np.zeros(n), -g))[order]
        x = factors.solve(b)
        for _ in range(refinements):
            x += factors.solve(b - plain @ x)
        return x[np.argsort(order)][:n]
