"""Static equilibrium: forces and constraint reactions in balance, at rest.

Pseudo-transient continuation: implicit steps of a heavily damped motion, ``[K + mu M, B^T; B 0]``, whose damping mu
fades as the forces do. Far away it follows the motion downhill, so that it ends in a stable position; close by it is
Newton's method. The twin on Lie nodes is used for every model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..bodies import RigidBody
from ..compiled.interrupts import interruptible
from ..elements.arguments import GivenState
from ..elements.suggestions import counted
from ..errors import ConvergenceError, ModelError, check_number
from ..model import Element, Model
from ..system.placement import massless
from ..system.system import System
from .rank import RANK_TOLERANCE, Equations
from .start_report import Rows
from .states import given_state, on_lie_nodes, placed_model

Array = np.ndarray

ITERATIONS = 300
# Below these the square of a frequency counts as zero: beside the accelerations that forces cause, because the position
# is known to the tolerance only, and beside the largest square, which may be that of a hard spring elsewhere.
POSITION, ROUND_OFF = 1e-7, 1e-12
STEP = 1e-14  # a correction below this fraction of the largest step is round-off in the coordinates
TURN, SHIFT = 0.3, 0.3  # largest rotation (rad) and displacement (lengths of the system) of one step


@dataclass
class Equilibrium:
    """A position at rest.

    Attributes
    ----------
    model: a copy of the model that starts there.
    q, v, multipliers: coordinates of that model, its velocities (zero) and the multipliers of the reactions.
    stable: whether all small motions feel a restoring force; ``neutral`` counts motions that feel none.
    residual: largest remaining acceleration, in m/s^2 (angular ones times the length of the system).
    frequencies: of small undamped oscillations, in Hz; zero for motions without a restoring force.
    """

    model: Model
    q: Array
    v: Array
    multipliers: Array
    stable: bool
    neutral: int
    residual: float
    iterations: int
    frequencies: Array = field(default_factory=lambda: np.zeros(0))

    def __getitem__(self, body: Element | str) -> Any:
        """The body (or joint) of ``model`` with this name: ``equilibrium["rod"].position``."""
        return self.model[body if isinstance(body, str) else body.name]

    def __str__(self) -> str:
        kind = "stable" if self.stable else "unstable"
        also = f", {counted(self.neutral, 'motion')} without restoring force" if self.neutral else ""
        return (
            f"{kind} equilibrium of model '{self.model.name}'{also} (remaining acceleration {self.residual:.2g}, "
            f"{self.iterations} iterations)"
        )


@interruptible
def equilibrium(
    model: Model, state: GivenState | None = None, *, t: float = 0.0, tolerance: float = 1e-9
) -> Equilibrium:
    """Find a static equilibrium near the initial positions, or near those of ``state``.

    Forces that depend on time are taken at ``t``. ``tolerance`` is the remaining acceleration beside the largest one
    that gravity and forces cause. ``ConvergenceError`` if there is none nearby, for instance because a body falls.

    >>> model = mbd.Model(gravity=(0, 0, -10.0))
    >>> ball = model.add(mbd.PointMass("ball", mass=2.0, position=(0, 0, -1)))
    >>> spring = model.add(mbd.forces.Spring(model.ground, ball, stiffness=100.0, length=1.0))
    >>> found = mbd.equilibrium(model)
    >>> f"{found['ball'].position[2]:.4f} m"
    '-1.2000 m'
    """
    if not isinstance(model, Model):
        raise ModelError(f"equilibrium: model is {model!r}; expected an mbd.Model")
    tolerance = check_number(tolerance, "equilibrium", "tolerance", positive=True)
    own, q, v, t = given_state(model, state, t)
    system, q, _ = on_lie_nodes(own, q, np.zeros(own.n_v))
    search = _Search(system, t, tolerance)
    q, lam, residual, iterations = search.run(q)
    squares = search.squares(q, lam)
    limit = max(POSITION * search.scale / system.length, ROUND_OFF * np.abs(squares).max(initial=0.0), 1e-300)
    neutral = int(np.sum(np.abs(squares) <= limit))
    stable = bool(np.all(squares >= -limit))
    nodes = {body.name: body.node for body in model.bodies if isinstance(body, RigidBody)}
    result = placed_model(system, q).with_nodes(nodes)._in_coordinates_of(model)
    placed, q, v, _ = given_state(result, None, t)
    B = placed.constraint_jacobian(q, t).toarray()
    lam = np.linalg.lstsq(B.T, placed.forces(q, v, t), rcond=RANK_TOLERANCE)[0] if len(B) else np.zeros(0)
    frequencies = np.sqrt(np.maximum(squares, 0.0)) / (2.0 * np.pi)
    return Equilibrium(result, q, v, lam, stable, neutral, residual, iterations, frequencies)


class _Search:
    def __init__(self, system: System, t: float, tolerance: float) -> None:
        self.system, self.t, self.tolerance = system, t, tolerance
        self.zero = np.zeros(system.n_v)
        self.rows = Rows(system)
        self.length = system.length
        self.scale = 0.0
        self.linear = system.tables.vclass == 0
        self.weights = self._weights()

    def _weights(self) -> Array:
        """What stands for the mass of links that have none: any positive number, since nothing accelerates."""
        nodes = self.system.tables.nodes
        found, heaviest = np.zeros(self.system.n_v), float(nodes["mass"].max(initial=0.0)) or 1.0
        for n in nodes[massless(nodes)]:
            found[n.v0 : n.v0 + n.nx] = heaviest
            found[n.v0 + n.nx : n.v0 + n.nv] = heaviest * self.length**2
        return found

    def _mass(self, q: Array) -> Array:
        return self.system.mass_matrix(q).toarray() + np.diag(self.weights)

    def balance(self, q: Array) -> tuple[Array, Array, Array]:
        """(accelerations at rest, multipliers, constraint errors) by least squares, so that redundancy does no harm."""
        from scipy.linalg import solve_triangular

        system = self.system
        M, B = self._mass(q), system.constraint_jacobian(q, self.t).toarray()
        f = system.forces(q, self.zero, self.t)
        size = np.where(self.linear, self.length, 1.0)
        root = np.linalg.cholesky(M + np.diag(1e-14 * np.mean(M.diagonal() * size**2) / size**2))
        A = solve_triangular(root, B.T, lower=True)
        b = solve_triangular(root, f, lower=True)
        lam = np.linalg.lstsq(A, b, rcond=RANK_TOLERANCE)[0] if B.size else np.zeros(0)
        a = solve_triangular(root, b - A @ lam, lower=True, trans="T")
        self.scale = max(self.scale, self.size(solve_triangular(root, b, lower=True, trans="T")))
        return a, lam, system.constraints(q, self.t)

    def size(self, a: Array) -> float:
        """Largest acceleration; angular ones times the length of the system."""
        return float(np.abs(np.where(self.linear, a, a * self.length)).max(initial=0.0))

    def run(self, q: Array) -> tuple[Array, Array, float, int]:
        system = self.system
        a, lam, g = self.balance(q)
        residual = self.size(a)
        mu = 0.0 if residual == 0.0 else residual / (0.05 * self.length)
        for iteration in range(ITERATIONS):
            closed = np.abs(g / self.rows.scale).max(initial=0.0) < 1e-11
            if closed and residual <= self.tolerance * max(self.scale, 1e-300):
                return q, lam, residual, iteration
            M, B = self._mass(q), system.constraint_jacobian(q, self.t).toarray()
            K = system.stiffness(q, self.zero, self.zero, lam, self.t).toarray()
            r = system.residual(q, self.zero, self.zero, lam, self.t)
            d = self._direction(M, B, K, r, g, mu)
            while d @ (K + mu * M) @ d < 0.0 and mu < 1e12:  # uphill: more damping
                mu = max(4.0 * mu, 1e-6)
                d = self._direction(M, B, K, r, g, mu)
            if closed and mu <= 1.0 and self._reach(d) <= STEP:
                return q, lam, residual, iteration  # what is left is round-off in the forces of hard springs
            d *= min(1.0, 1.0 / max(self._reach(d), 1e-300))
            new = system.update(q, d)
            a_new, lam_new, g_new = self.balance(new)
            residual_new = self.size(a_new)
            if not np.isfinite(residual_new):
                break
            ratio = residual_new / max(residual, 1e-300)
            mu *= 4.0 if ratio > 2.0 else min(0.5, max(ratio, 0.05))
            q, lam, g, residual = new, lam_new, g_new, residual_new
        i = int(np.argmax(np.where(self.linear, np.abs(a), np.abs(a) * self.length)))
        worst = next(b.name for b in system.model.bodies if system.body_slices(b)[1].stop > i)
        raise ConvergenceError(
            f"no equilibrium found nearby: after {ITERATIONS} steps body '{worst}' still accelerates by "
            f"{residual:.3g} m/s^2 (of {self.scale:.3g}). Is it held in every direction in which forces act? "
            "print(mbd.diagnose(model)) lists the free motions. [MBD-E27]",
            where=worst,
        )

    def _direction(self, M: Array, B: Array, K: Array, r: Array, g: Array, mu: float) -> Array:
        n, m = len(r), len(g)
        matrix = np.zeros((n + m, n + m))
        size, rows = np.where(self.linear, self.length, 1.0), self.rows.scale
        H = (K + max(mu, 1e-12) * M) * size * size[:, None]
        stiffest = (
            float(np.abs(H).max(initial=0.0)) or 1.0
        )  # beside constraints soft models of small units would vanish
        matrix[:n, :n] = H / stiffest
        matrix[n:, :n] = B * size / rows[:, None]
        matrix[:n, n:] = matrix[n:, :n].T
        b = -np.concatenate((r * size / stiffest, g / rows))
        try:
            x = np.linalg.solve(matrix, b)
            good = np.abs(matrix @ x - b).max(initial=0.0) <= 1e-8 * np.abs(b).max(initial=0.0)
        except np.linalg.LinAlgError:
            good = False
        if not good:  # redundant constraints
            x = np.linalg.lstsq(matrix, b, rcond=1e-13)[0]
        return x[:n] * size

    def _reach(self, d: Array) -> float:
        limit = np.where(self.linear, SHIFT * self.length, TURN)
        return float(np.abs(d / limit).max(initial=0.0))

    def squares(self, q: Array, lam: Array) -> Array:
        """Squares of the natural frequencies (negative: unstable)."""
        system = self.system
        equations = Equations(system, q, self.t)
        motions = np.column_stack([equations.increment(m) for m in equations.motions.T] or [np.zeros(system.n_v)])
        if not equations.motions.shape[1]:
            return np.zeros(0)
        M = motions.T @ system.mass_matrix(q) @ motions
        K = motions.T @ system.stiffness(q, self.zero, self.zero, lam, self.t) @ motions
        from scipy.linalg import eigh

        shift = 1e-14 * np.trace(M) / len(M) * np.eye(len(M))
        return eigh(0.5 * (K + K.T), M + shift, eigvals_only=True)
