"""Methods that are written for unit quaternions, on Lie nodes: stepped as quaternions, recorded as the node has it.

A Lie node is a rotation, whatever parameters it is stored in, so that its motion may be stepped in quaternions and
written back: the same poses, velocities and reactions as on ``model.with_nodes(mbd.nodes.Quaternion)``, in the
coordinates of the given model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..nodes import Quaternion
from ..nodes.forms import of_form
from ..nodes.pose import convert
from ..solvers.redundancy import regularise
from ..system.system import System
from ..system.tables import FLAG_REDUNDANT
from .base import Array, Integrator, Run
from .traits import bodies_of_form

if TYPE_CHECKING:
    from .base import Invariant

INNER = "inner_"  # in the names of a saved state: values of the run in quaternions


def _in_quaternions(system: System, turning: list[Any]) -> System:
    """The system with these bodies in unit quaternions."""
    tree = system.assembly.tree
    carried = {id(edge.body) for edge in tree.carried} if tree is not None else set()
    model = system.model.with_nodes({body.name: Quaternion for body in turning if id(body) not in carried})
    if model._choice is not None:
        balls = Quaternion(lie=False)._blank()
        model = model._with_choice(replace(model._choice, spherical=balls, free=balls))
    return System(model)


def quaternion_twin(system: System) -> System:
    """The system with its Lie nodes in unit quaternions; the system itself if it has none.

    In joint coordinates these are the rotations of balls and of bodies at the roots of trees.
    """
    turning = [body for body, _ in bodies_of_form(system, "lie")]
    if not turning:
        return system
    twin = system.derive("quaternions", lambda: _in_quaternions(system, turning))
    if system.tables.flags[FLAG_REDUNDANT]:
        regularise(twin)
    return twin


class StepsQuaternions(Integrator):
    """To be mixed into a method that is written for unit quaternions: it takes Lie nodes as well."""

    def twin(self, system: System) -> System:
        """The system that is stepped."""
        return quaternion_twin(system)

    def check(self, system: System) -> None:
        super().check(self.twin(system))

    def preserves(self, system: System) -> frozenset[Invariant]:
        return super().preserves(self.twin(system))

    def start(self, system: System, q: Array, v: Array, t: float, step: float, turns: Array | None) -> Any:
        twin = self.twin(system)
        if twin is system:
            return super().start(system, q, v, t, step, turns)  # type: ignore[safe-super]
        q1, v1, _ = _converted(system, twin, q[None, :], v[None, :], np.zeros((1, system.n_v)))
        return ConvertedRun(system, super().start(twin, q1[0], v1[0], t, step, turns))  # type: ignore[safe-super]

    def resume(self, system: System, state: dict[str, Any]) -> Any:
        twin = self.twin(system)
        if twin is system:
            return super().resume(system, state)  # type: ignore[safe-super]
        inner = {name.removeprefix(INNER): value for name, value in state.items() if name.startswith(INNER)}
        return ConvertedRun(system, super().resume(twin, inner))  # type: ignore[safe-super]


class ConvertedRun(Run):
    """A run in quaternions, whose records are in the coordinates of the given system."""

    def __init__(self, system: System, inner: Run) -> None:
        self.system, self.inner = system, inner
        twin = inner.system
        changed = twin.tables.nodes[of_form(system.tables.nodes, "lie")]
        internal = [np.arange(n.l0, n.l0 + n.nl) for n in changed]
        self.kept = np.setdiff1d(np.arange(twin.n_l), np.concatenate(internal))  # multipliers of both systems

    @property
    def origin(self) -> float:  # type: ignore[override]
        """Time of step 0."""
        return self.inner.origin

    @property
    def step(self) -> float:  # type: ignore[override]
        """Step size."""
        return self.inner.step

    @property
    def index(self) -> int:  # type: ignore[override]
        """Steps done since the origin."""
        return self.inner.index

    @property
    def evaluated(self) -> System:
        return self.inner.evaluated

    @property
    def t(self) -> float:
        """Time of the state."""
        return self.inner.t

    def _outside(self, rows: list[Array]) -> list[Array]:
        """Rows in the coordinates of the system; variables of the scheme remain those of quaternions."""
        q, v, *own, turns = rows
        return [*_converted(self.inner.system, self.system, q, v, np.zeros_like(v))[:2], *own, turns]

    def advance(self, count: int, every: int, out: list[Array]) -> int:
        before = self.inner.index
        rows = [np.zeros((max(1, (before + count) // every - before // every), len(row))) for row in self.inner.row()]
        done = self.inner.advance(count, every, rows)
        made = (before + done) // every - before // every
        for target, values in zip(out, self._outside([row[:made] for row in rows]), strict=True):
            target[:made] = values
        return done

    def compose(self, weights: Array) -> None:
        self.inner.compose(weights)

    def act_anew(self) -> None:
        self.inner.act_anew()

    def row(self) -> list[Array]:
        return [row[0] for row in self._outside([row[None, :] for row in self.inner.row()])]

    def initial_row(self) -> list[Array]:
        return [row[0] for row in self._outside([row[None, :] for row in self.inner.initial_row()])]

    def failure(self) -> tuple[str, str]:
        return self.inner.failure()

    def state(self) -> dict[str, Any]:
        row, inner = self.row(), self.inner.state()
        own = {"q": row[0], "v": row[1], "lam": inner["lam"][self.kept], "turns": row[-1].copy()}
        common = {"origin": self.origin, "step": self.step, "index": self.index, "t": self.t}
        return own | common | {INNER + name: value for name, value in inner.items()}

    def statistics(self) -> dict[str, Any]:
        return self.inner.statistics()


def _converted(source: System, target: System, q: Array, v: Array, vd: Array) -> tuple[Array, Array, Array]:
    """Rows of coordinates, velocities and accelerations in the coordinates of a system of the same bodies."""
    rows = len(q)
    out = np.zeros((rows, target.n_q)), np.zeros((rows, target.n_v)), np.zeros((rows, target.n_v))
    convert(source.tables.nodes, target.tables.nodes, q, v, vd, *out, np.zeros(12), np.zeros((2, 12)))
    return out


def stepped(run: Any) -> Any:
    """The run in quaternions, or the run itself if it converts nothing."""
    return run.inner if isinstance(run, ConvertedRun) else run


def stepped_coordinates(run: Any, q: Array) -> Array:
    """Coordinates of a system near the present state of its run, as the run steps them."""
    inner = stepped(run)
    if inner is run:
        return q
    source, target = run.system, inner.system
    q1 = _converted(source, target, q[None, :], np.zeros((1, source.n_v)), np.zeros((1, source.n_v)))[0][0]
    for n in target.tables.nodes[of_form(source.tables.nodes, "lie")]:
        e = slice(n.q0 + n.nx, n.q0 + n.nq)
        if q1[e] @ inner.x.q[e] < 0.0:
            q1[e] *= -1.0
    return q1


def recorded_velocities(run: Any, v: Array) -> Array:
    """Velocities that a run steps at its present coordinates, as its system has them."""
    inner = stepped(run)
    if inner is run:
        return v
    return _converted(inner.system, run.system, inner.x.q[None, :], v[None, :], np.zeros((1, len(v))))[1][0]
