"""Linearisation about a state: eigenvalues, mode shapes and damping, with constraints and spinning bodies.

With increments delta (right increments on Lie nodes, rotations in body axes), dv and dlam,

    delta' = dv,   M dv' = -(C - M H) dv - K delta - B^T dlam,   B_h delta = 0,   B dv + Z delta = 0,

where K, C and Z are the derivatives of the equations of motion and of B v at the state, and B_h consists of the
holonomic rows of B: rolling restricts velocities only. H = blockdiag(0, hat(omega)) turns the rotational components of
a spinning body into a frame that does not spin: seen from the body itself the equations would depend on time. That
frame exists where the body is axisymmetric about its angular velocity. With bases N of the admissible velocities and
N_h of the admissible displacements, P = -B^+ Z N_h, delta = N_h xi and dv = N eta + P xi,

    xi' = N_h^T (P xi + N eta),   N^T M N eta' = -N^T C' N eta - N^T (C' P + K N_h) xi - N^T M P xi',   C' = C - M H.

Without nonholonomic rows N_h = N; each of them leaves one more coordinate xi than velocities eta.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

import numpy as np

from ..bodies import Generalized, RigidBody
from ..compiled.interrupts import interruptible
from ..elements.arguments import GivenState
from ..elements.suggestions import counted
from ..errors import ModelError
from ..model import Model
from ..rotation import hat
from ..system.system import System
from .rank import RANK_TOLERANCE, Equations
from .states import given_state, on_lie_nodes
from .twins import body_state
from .words import number

Array = np.ndarray

STEP = 1e-3  # of the fourth-order differences of B v
STEADY = 1e-6  # accelerations beside the terms they consist of; how far (lengths, rad) an equilibrium may be
MOVE = 0.3  # lengths, rad: how far the fastest body goes to where a steady motion still is one
CONSTANT = 1e-4  # changes on that way, of accelerations and of coefficients
ZERO = 1e-7  # eigenvalues below this fraction of the largest count as zero in words


@dataclass
class Mode:
    """One eigenvalue with its shape.

    ``shape`` gives for every body the complex displacement of its reference point (world axes) and rotation (body
    axes); for generalized bodies the change of the coordinates and an empty array.
    """

    eigenvalue: complex
    shape: dict[str, tuple[Array, Array]]

    @property
    def frequency(self) -> float:
        """Frequency of the oscillation in Hz; zero for a motion that does not oscillate."""
        return abs(self.eigenvalue.imag) / (2.0 * math.pi)

    @property
    def damping(self) -> float:
        """Damping ratio: 0 undamped, 1 no oscillation left, negative: growing."""
        size = abs(self.eigenvalue)
        return -self.eigenvalue.real / size if size else 0.0


@dataclass
class Linearisation:
    """The linear system ``(xi, eta)' = matrix (xi, eta)`` with one velocity eta per degree of freedom.

    mass, damping, stiffness: of the equations for eta; ``basis`` maps the coordinates xi to increments of all bodies
    (Lie nodes). Without rolling there are as many xi as eta, and these matrices are square; with it the stiffness has
    one column for every xi. eigenvalues are sorted by size, with negative imaginary parts first.
    """

    model: Model
    matrix: Array
    mass: Array
    damping: Array
    stiffness: Array
    basis: Array
    eigenvalues: Array
    modes: list[Mode]
    coordinates: tuple[str, ...] = ()
    """What xi are, where they are coordinates of joints: "elbow angle"; empty where they are combinations."""

    @property
    def stable(self) -> bool:
        """Whether no small motion grows exponentially."""
        size = np.abs(self.eigenvalues).max(initial=0.0)
        return bool(np.all(self.eigenvalues.real <= 1e-6 * max(size, 1e-300)))

    @property
    def frequencies(self) -> Array:
        """Frequencies of the oscillations in Hz, one per pair of eigenvalues."""
        size = np.abs(self.eigenvalues).max(initial=0.0)
        return np.sort(self.eigenvalues.imag[self.eigenvalues.imag > ZERO * size]) / (2.0 * math.pi)

    def __str__(self) -> str:
        lines = [
            f"Linearisation of model '{self.model.name}': {counted(self.mass.shape[0], 'degree')} of freedom, "
            + ("stable" if self.stable else "UNSTABLE"),
            f"  {'eigenvalue [1/s]':>28s}  {'Hz':>10s}  {'damping':>9s}  bodies that move most",
        ]
        size = np.abs(self.eigenvalues).max(initial=0.0)
        zeros = int(np.sum(np.abs(self.eigenvalues) <= ZERO * size))
        for mode in self.modes:
            if abs(mode.eigenvalue) <= ZERO * size or mode.eigenvalue.imag < -ZERO * size:
                continue  # rigid motion, or its conjugate is listed
            parts = sorted(((_amount(x), name) for name, x in mode.shape.items()), reverse=True)
            names = ", ".join(f"'{name}'" for amount, name in parts[:3] if amount > 0.1 * parts[0][0])
            value = f"{mode.eigenvalue.real:+.6g}"
            if abs(mode.eigenvalue.imag) > ZERO * size:
                value += f" +- {abs(mode.eigenvalue.imag):.6g}i"
            lines.append(f"  {value:>28s}  {mode.frequency:10.5g}  {number(mode.damping):>9s}  {names}")
        if zeros:
            lines.append(f"  and {counted(zeros, 'zero eigenvalue')}: motions without restoring force")
        return "\n".join(lines)


def _amount(parts: tuple[Array, Array]) -> float:
    return float(sum(np.linalg.norm(x) for x in parts))


@interruptible
def linearize(model: Model, state: GivenState | None = None, *, t: float = 0.0) -> Linearisation:
    """Linearise about a steady state: an equilibrium, or steady motion with spinning axisymmetric bodies.

    ``state`` is an equilibrium, a solution (its last record), a Simulator (its present), a pair (q, v), or by default
    the initial state.

    >>> model = mbd.Model(gravity=(0, 0, -10.0))
    >>> ball = model.add(mbd.PointMass("ball", mass=2.0, position=(0, 0, -1.2)))
    >>> spring = model.add(mbd.forces.Spring(model.ground, ball, stiffness=100.0, length=1.0))
    >>> mbd.linearize(model).frequencies.round(4).tolist()
    [0.4594, 0.4594, 1.1254]
    """
    if not isinstance(model, Model):
        raise ModelError(f"linearize: model is {model!r}; expected an mbd.Model")
    own, q, v, t = given_state(model, state, t)
    if own.assembly.tree is not None and own.has_only_joint_coordinates:
        return _in_joint_coordinates(model, own, q, v, t)
    system, q, v = on_lie_nodes(own, q, v)
    here, N_h = _terms(system, q, v, t, _motions), _displacements(system, q, t)
    _check_steady(system, q, v, t, here, N_h)
    C, P = here.C, _rate_part(system, q, v, t, here.B, N_h)
    linear = _reduced(model, system, here.M, C, here.K, P, here.N, N_h)
    if _is_at_rest(system, v, linear.eigenvalues):
        return linear
    H = _spins(system, v)
    C = C - here.M @ H
    there = _check_going_on(system, q, v, t, here, _motions)
    _check_coefficients_beside_spins(system, q, v, t, here, there, N_h, H)
    return _reduced(model, system, here.M, C, here.K, P, here.N, N_h)


def _in_joint_coordinates(model: Model, own: System, q: Array, v: Array, t: float) -> Linearisation:
    """The linearisation where all coordinates are angles and displacements of joints: without loops xi are these."""
    here = _terms(own, q, v, t, _joint_motions)
    _check_steady(own, q, v, t, here, here.N)
    P = _rate_part(own, q, v, t, here.B, here.N)
    bodies, _, _ = on_lie_nodes(own, q, v)
    to_bodies = np.column_stack([body_state(bodies, own, q, unit)[1] for unit in np.eye(own.n_v)])
    names = own.velocity_names if not len(here.B) else ()
    linear = _reduced(model, bodies, here.M, here.C, here.K, P, here.N, here.N, to_bodies, names)
    if not _is_at_rest(own, v, linear.eigenvalues):
        there = _check_going_on(own, q, v, t, here, _joint_motions)
        units = here.M.diagonal(), here.M.diagonal()
        column = _changing(_size(own, v), units, (here.M, here.C, here.K), (there.M, there.C, there.K))
        if column is not None:
            _refuse_changing(own, f" with '{own.velocity_names[column]}'")
    return linear


class _Terms(NamedTuple):
    """The equations at one state: mass, damping, stiffness and constraints, a basis N of the admissible velocities,
    accelerations and multipliers."""

    M: Array
    C: Array
    K: Array
    B: Array
    N: Array
    vd: Array
    lam: Array


Basis = Callable[[System, Array, float, Array], Array]


def _terms(system: System, q: Array, v: Array, t: float, basis: Basis) -> _Terms:
    M, B = system.mass_matrix(q).toarray(), system.constraint_jacobian(q, t).toarray()
    N = basis(system, q, t, B)
    vd, lam = _accelerations(system, q, v, t, M, B, N)
    C, K = system.damping(q, v, vd, t).toarray(), system.stiffness(q, v, vd, lam, t).toarray()
    return _Terms(M, C, K, B, N, vd, lam)


def _motions(system: System, q: Array, t: float, B: Array) -> Array:
    """Admissible velocities of bodies on Lie nodes."""
    equations = Equations(system, q, t)
    return _orthonormal(equations, equations.motions)


def _displacements(system: System, q: Array, t: float) -> Array:
    """Admissible displacements; rolling restricts velocities only."""
    equations = Equations(system, q, t)
    return _orthonormal(equations, equations.displacements if len(system.tables.nonholonomic) else equations.motions)


def _joint_motions(own: System, q: Array, t: float, B: Array) -> Array:
    """Admissible velocities in joint coordinates: all of them, but for loops."""
    if not len(B):
        return np.eye(own.n_v)
    rows, columns = _sizes(own)
    _, sizes, vt = np.linalg.svd(B / rows[:, None] * columns)
    rank = int(np.sum(sizes > RANK_TOLERANCE * sizes.max(initial=0.0)))
    N: Array = np.linalg.qr(columns[:, None] * vt[rank:].T)[0]
    return N


def _rate_part(system: System, q: Array, v: Array, t: float, B: Array, N_h: Array) -> Array:
    """P, velocities that the constraints ask for in addition where a steady motion is displaced."""
    if not (v.any() and len(B)):
        return np.zeros_like(N_h)
    rows, columns = (x[:, None] for x in _sizes(system))
    Z = _rate_derivative(system, q, v, t) @ N_h
    P: Array = -columns * np.linalg.lstsq(B * columns.T / rows, Z / rows, rcond=RANK_TOLERANCE)[0]
    return P


def _orthonormal(equations: Equations, motions: Array) -> Array:
    """An orthonormal basis, in increments, of what these motions span."""
    n = equations.system.n_v
    basis = np.column_stack([*(equations.increment(m) for m in motions.T), np.zeros((n, 0))])
    return np.linalg.qr(basis)[0] if basis.shape[1] else basis


def _reduced(
    model: Model, system: System, M: Array, C: Array, K: Array, P: Array, N: Array, N_h: Array,
    to_bodies: Array | None = None, names: tuple[str, ...] = (),
) -> Linearisation:  # fmt: skip
    d = N_h.shape[1]
    mass = N.T @ M @ N
    top = np.hstack((N_h.T @ P, N_h.T @ N))
    forces = np.hstack((-N.T @ (C @ P + K @ N_h), -N.T @ C @ N)) - N.T @ M @ P @ top
    matrix = np.vstack((top, np.linalg.solve(mass, forces) if N.shape[1] else np.zeros((0, d))))
    values, vectors = np.linalg.eig(matrix) if d else (np.zeros(0, complex), np.zeros((0, 0), complex))
    order = np.lexsort((np.round(values.imag, 9), np.round(np.abs(values), 9)))
    values, vectors = values[order], vectors[:, order]
    basis = N_h if to_bodies is None else to_bodies @ N_h
    modes = [Mode(complex(x), _shape(system, basis @ y[:d])) for x, y in zip(values, vectors.T, strict=True)]
    return Linearisation(model, matrix, mass, N.T @ C @ N, N.T @ K @ N_h, basis, values, modes, names)


def _shape(system: System, delta: Array) -> dict[str, tuple[Array, Array]]:
    size = np.abs(delta).max(initial=0.0)
    delta = delta / (delta[int(np.argmax(np.abs(delta)))] if size else 1.0)
    shape = {}
    for i, body in enumerate(system.model.bodies, 1):
        n = system.tables.nodes[i]
        part = delta[n.v0 : n.v0 + n.nv]
        if isinstance(body, Generalized):
            shape[body.name] = (part, part[:0])
        else:
            shape[body.name] = (part[: n.nx] if n.nx else np.zeros(3, complex), part[n.nx :])
    return shape


def _accelerations(system: System, q: Array, v: Array, t: float, M: Array, B: Array, N: Array) -> tuple[Array, Array]:
    """Index-1 form by projection: unique accelerations and minimum-norm multipliers, redundant or not."""
    f = system.forces(q, v, t)
    if not len(B):
        return np.linalg.solve(M, f), np.zeros(0)
    rows, columns = _sizes(system)
    scaled = B * columns / rows[:, None]  # ranks, and what is small, have no units
    vd = -columns * np.linalg.lstsq(scaled, system.constraint_bias(q, v, t) / rows, rcond=RANK_TOLERANCE)[0]
    if N.shape[1]:
        vd = vd + N @ np.linalg.solve(N.T @ M @ N, N.T @ (f - M @ vd))
    return vd, np.linalg.lstsq(scaled.T, columns * (f - M @ vd), rcond=RANK_TOLERANCE)[0] / rows


def _sizes(system: System) -> tuple[Array, Array]:
    """Typical sizes of constraints and of increments: the length of the system, or one."""
    s = system.tables
    return np.where(s.lclass == 0, system.length, 1.0), np.where(s.vclass == 0, system.length, 1.0)


def _check_steady(system: System, q: Array, v: Array, t: float, here: _Terms, N_h: Array) -> None:
    """Refuse a state that accelerates, unless a steady one is so near that it is the same state."""
    if np.abs(here.vd).max(initial=0.0) <= STEADY * _usual_acceleration(system, q, v, t):
        return
    rows, columns = (1.0 / np.sqrt((N.T @ here.M @ N).diagonal()) for N in (here.N, N_h))  # ranks have no units
    lacking = rows * (here.N.T @ here.M @ here.vd)
    K = rows[:, None] * (here.N.T @ here.K @ N_h) * columns
    xi = np.linalg.lstsq(K, lacking, rcond=RANK_TOLERANCE)[0]
    left = np.abs(lacking - K @ xi).max(initial=0.0)
    if _size(system, N_h @ (columns * xi)) > STEADY or left > STEADY * np.abs(lacking).max():
        _refuse_unsteady(system, here.vd, "")


def _usual_acceleration(system: System, q: Array, v: Array, t: float) -> float:
    """What gravity, forces and velocities would cause."""
    gravity = float(np.linalg.norm(system.model.gravity))
    rates = float(np.abs(v).max(initial=0.0)) ** 2
    M = system.mass_matrix(q).diagonal()
    forces = float(np.abs(system.forces(q, np.zeros(system.n_v), t) / np.maximum(M, 1e-300)).max(initial=0.0))
    return max(gravity, rates, forces)


def _size(system: System, motion: Array) -> float:
    """The largest part of a motion: displacements in lengths of the system, rotations in rad."""
    return float(np.abs(np.where(system.tables.vclass == 0, motion / system.length, motion)).max(initial=0.0))


def _is_at_rest(system: System, v: Array, eigenvalues: Array) -> bool:
    """Whether velocities vanish beside the slowest of the small motions: a state at rest, up to round-off."""
    sizes = np.abs(eigenvalues)
    slowest = sizes[sizes > ZERO * sizes.max(initial=0.0)].min(initial=np.inf)
    return _size(system, v) <= (STEADY * float(slowest) if np.isfinite(slowest) else 0.0)


def _check_going_on(system: System, q: Array, v: Array, t: float, here: _Terms, basis: Basis) -> _Terms:
    """Refuse a state that does not accelerate at present only, as a pendulum that passes its lowest point."""
    later = MOVE / _size(system, v)
    q, t = system.update(q, later * v), t + later
    there = _terms(system, q, v, t, basis)
    limit = CONSTANT * _usual_acceleration(system, q, v, t) + 10.0 * np.abs(here.vd).max(initial=0.0)
    if np.abs(there.vd).max(initial=0.0) > limit:
        _refuse_unsteady(system, there.vd, f" {later:.3g} s later")
    return there


def _check_coefficients_beside_spins(
    system: System, q: Array, v: Array, t: float, here: _Terms, there: _Terms, N_h: Array, H: Array
) -> None:
    """Refuse motions and coefficients that turn with spinning bodies, as a hinge on a driven shaft.

    Both are compared in the frames that do not spin, in which those of the state are written.
    """
    from scipy.linalg import expm

    later = MOVE / _size(system, v)
    turned: Array = expm(later * H)  # from the axes of the bodies there
    columns = _sizes(system)[1][:, None]
    N_there = turned @ _displacements(system, system.update(q, later * v), t + later)
    Q, Q_there = (np.linalg.qr(N / columns)[0] for N in (N_h, N_there))
    if Q.shape != Q_there.shape or np.abs(Q_there - Q @ (Q.T @ Q_there)).max(initial=0.0) > CONSTANT:
        _refuse_changing(system, "")
    M, C, K = (turned @ x @ turned.T for x in (there.M, there.C - there.M @ H, there.K))
    N = here.N
    before = N.T @ here.M @ N, N.T @ (here.C - here.M @ H) @ N, N.T @ here.K @ N_h
    after = N.T @ M @ N, N.T @ C @ N, N.T @ K @ N_h
    units = before[0].diagonal(), (N_h.T @ here.M @ N_h).diagonal()
    if _changing(_size(system, v), units, before, after) is not None:
        _refuse_changing(system, "")


Coefficients = tuple[Array, Array, Array]


def _changing(rate: float, units: tuple[Array, Array], here: Coefficients, there: Coefficients) -> int | None:
    """Which column of mass, damping or stiffness changes; ``units`` are masses of velocities and of displacements."""
    rows, columns = (1.0 / np.sqrt(x) for x in units)
    sizes, changes = [], []
    for x, y, power in zip(here, there, (2, 1, 0), strict=True):
        scale = rows[:, None] * (columns if power == 0 else rows) * rate**power
        sizes.append(np.abs(x * scale).max(initial=0.0))
        changes.append(np.abs((y - x) * scale).max(axis=0, initial=0.0))
    k = int(np.argmax([x.max(initial=0.0) for x in changes]))
    return int(changes[k].argmax()) if changes[k].max(initial=0.0) > CONSTANT * max(sizes) else None


def _refuse_changing(system: System, what: str) -> NoReturn:
    raise ModelError(
        f"linearize: the equations of {system.model} change{what} as it moves, so that their linear form depends on "
        "time; expected an equilibrium, or a steady motion in which spinning bodies are axisymmetric about their spin"
        + ("" if what else '. Parts that turn with a shaft may be constant in model.with_coordinates("joint")')
    )


def _refuse_unsteady(system: System, vd: Array, when: str) -> None:
    i = int(np.argmax(np.abs(vd)))
    place = next(b.name for b in system.model.bodies if i in range(*system.body_slices(b)[1].indices(system.n_v)))
    raise ModelError(
        f"linearize: the state is not steady: body '{place}' accelerates by {abs(vd[i]):.3g} (m/s^2 or rad/s^2){when}. "
        "Give an equilibrium, mbd.linearize(model, mbd.equilibrium(model)), or a state of steady motion"
    )


def _spins(system: System, v: Array) -> Array:
    """H = blockdiag(0, hat(omega)) of the spinning bodies, which must be axisymmetric about their spin."""
    H = np.zeros((system.n_v, system.n_v))
    largest = float(np.abs(v).max(initial=0.0))
    for i, body in enumerate(system.model.bodies, 1):
        if not isinstance(body, RigidBody):
            continue
        n = system.tables.nodes[i]
        part = slice(n.v0 + n.nx, n.v0 + n.nv)
        spin = v[part]
        if np.linalg.norm(spin) <= 1e-9 * largest:
            continue
        axis = spin / np.linalg.norm(spin)
        turn = hat(axis)
        asymmetry = np.abs(turn @ body.inertia - body.inertia @ turn).max() / np.abs(body.inertia).max()
        offset = np.linalg.norm(np.cross(axis, body.com)) / system.length
        if max(asymmetry, offset) > 1e-6:
            raise ModelError(
                f"linearize: body '{body.name}' spins about an axis about which it is not symmetric, so that its "
                "equations depend on time; expected spinning bodies that are axisymmetric about their spin"
            )
        H[part, part] = hat(spin)
    return H


def _rate_derivative(system: System, q: Array, v: Array, t: float) -> Array:
    """Z = d(B v)/d(increment) by differences of fourth order."""
    Z = np.zeros((system.n_l, system.n_v))
    for k in range(system.n_v):
        e = np.zeros(system.n_v)
        e[k] = STEP * (system.length if system.tables.vclass[k] == 0 else 1.0)
        values = [system.constraint_velocity(system.update(q, s * e), v, t) for s in (-2.0, -1.0, 1.0, 2.0)]
        Z[:, k] = (values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3]) / (12.0 * e[k])
    return Z
