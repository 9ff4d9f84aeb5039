"""Methods that are written for unit quaternions, on Lie nodes: stepped as quaternions, recorded as the node has it.

A Lie node is a rotation, whatever parameters it is stored in, so that its motion may be stepped in quaternions and
written back: the same poses, velocities and reactions as on ``model.with_nodes(mbd.nodes.Quaternion)``, in the
coordinates of the given model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from ..compiled.kernel import kernel
from ..nodes import Quaternion
from ..nodes.forms import FORM_LIE, FORM_QUATERNION
from ..nodes.pose import node_quaternion, write_position, write_rotation
from ..solvers.redundancy import regularise
from ..system.system import System
from ..system.tables import FLAG_REDUNDANT
from .base import Array, Integrator, Run

if TYPE_CHECKING:
    from .base import Invariant

INNER = "inner_"  # in the names of a saved state: values of the run in quaternions

_twins: WeakKeyDictionary[System, System] = WeakKeyDictionary()


def quaternion_twin(system: System) -> System:
    """The system with its Lie nodes in unit quaternions; the system itself if it has none."""
    bodies = zip(system.model.bodies, system.tables.nodes[1:], strict=True)
    turning = {body.name: Quaternion for body, n in bodies if n.form == FORM_LIE}
    if not turning:
        return system
    if system not in _twins:
        _twins[system] = System(system.model.with_nodes(turning))
    if system.tables.flags[FLAG_REDUNDANT]:
        regularise(_twins[system])
    return _twins[system]


class StepsQuaternions(Integrator):
    """To be mixed into a method that is written for unit quaternions: it takes Lie nodes as well."""

    def check(self, system: System) -> None:
        super().check(quaternion_twin(system))

    def preserves(self, system: System) -> frozenset[Invariant]:
        return super().preserves(quaternion_twin(system))

    def start(self, system: System, q: Array, v: Array, t: float, step: float, turns: Array | None) -> Any:
        twin = quaternion_twin(system)
        if twin is system:
            return super().start(system, q, v, t, step, turns)  # type: ignore[safe-super]
        q1, v1, _ = _converted(system, twin, q[None, :], v[None, :], np.zeros((1, system.n_v)))
        return ConvertedRun(system, super().start(twin, q1[0], v1[0], t, step, turns))  # type: ignore[safe-super]

    def resume(self, system: System, state: dict[str, Any]) -> Any:
        twin = quaternion_twin(system)
        if twin is system:
            return super().resume(system, state)  # type: ignore[safe-super]
        inner = {name.removeprefix(INNER): value for name, value in state.items() if name.startswith(INNER)}
        return ConvertedRun(system, super().resume(twin, inner))  # type: ignore[safe-super]


class ConvertedRun(Run):
    """A run in quaternions, whose records are in the coordinates of the given system."""

    def __init__(self, system: System, inner: Run) -> None:
        self.system, self.inner = system, inner
        twin = inner.system
        forms = twin.tables.nodes["form"] != system.tables.nodes["form"]
        internal = [
            np.arange(n.l0, n.l0 + n.nl) for n, changed in zip(twin.tables.nodes, forms, strict=True) if changed
        ]
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

    def row(self) -> list[Array]:
        return [row[0] for row in self._outside([row[None, :] for row in self.inner.row()])]

    def initial_row(self) -> list[Array]:
        return [row[0] for row in self._outside([row[None, :] for row in self.inner.initial_row()])]

    def failure(self) -> tuple[str, str]:
        return self.inner.failure()

    def state(self) -> dict[str, Any]:
        row, inner = self.row(), self.inner.state()
        own = {"q": row[0], "v": row[1], "lam": inner["lam"][self.kept], "turns": row[-1]}
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


@kernel
def convert(nodes, targets, q, v, vd, out_q, out_v, out_vd, z, small):
    """Between Lie nodes and conventional quaternions; other nodes are copied.

    With e_dot = e o (0, omega)/2: omega = 2 G(e) e_dot and omega_dot = 2 G(e) e_ddot, because G(e_dot) e_dot = 0;
    e_ddot = e o (0, omega_dot)/2 - |omega|^2/4 e.
    """
    for row in range(q.shape[0]):
        for i in range(1, nodes.shape[0]):
            n, m = nodes[i], targets[i]
            if n.form == m.form:
                for k in range(n.nq):
                    out_q[row, m.q0 + k] = q[row, n.q0 + k]
                for k in range(n.nv):
                    out_v[row, m.v0 + k] = v[row, n.v0 + k]
                    out_vd[row, m.v0 + k] = vd[row, n.v0 + k]
                continue
            x, u, a = q[row], v[row], vd[row]
            if n.nx == 3:
                j, k = n.q0, n.v0
                write_position(m, x[j], x[j + 1], x[j + 2], u[k], u[k + 1], u[k + 2], out_q[row], out_v[row])
                for c in range(3):
                    out_vd[row, m.v0 + c] = a[k + c]
            e0, e1, e2, e3 = node_quaternion(n, x, z)
            k, o = n.v0 + n.nx, m.v0 + m.nx
            if n.form == FORM_QUATERNION:
                w1, w2, w3 = spin_of(e0, e1, e2, e3, u[k], u[k + 1], u[k + 2], u[k + 3])
                d1, d2, d3 = spin_of(e0, e1, e2, e3, a[k], a[k + 1], a[k + 2], a[k + 3])
                write_rotation(m, e0, e1, e2, e3, w1, w2, w3, out_q[row], out_v[row], small[0], small[1], z)
                out_vd[row, o], out_vd[row, o + 1], out_vd[row, o + 2] = d1, d2, d3
            else:
                w1, w2, w3 = u[k], u[k + 1], u[k + 2]
                write_rotation(m, e0, e1, e2, e3, w1, w2, w3, out_q[row], out_v[row], small[0], small[1], z)
                d1, d2, d3 = 0.5 * a[k], 0.5 * a[k + 1], 0.5 * a[k + 2]
                c = 0.25 * (w1 * w1 + w2 * w2 + w3 * w3)
                out_vd[row, o] = -e1 * d1 - e2 * d2 - e3 * d3 - c * e0
                out_vd[row, o + 1] = e0 * d1 + e2 * d3 - e3 * d2 - c * e1
                out_vd[row, o + 2] = e0 * d2 + e3 * d1 - e1 * d3 - c * e2
                out_vd[row, o + 3] = e0 * d3 + e1 * d2 - e2 * d1 - c * e3


@kernel
def spin_of(e0, e1, e2, e3, x0, x1, x2, x3):
    """2 G(e) x."""
    return (
        2.0 * (-e1 * x0 + e0 * x1 + e3 * x2 - e2 * x3),
        2.0 * (-e2 * x0 - e3 * x1 + e0 * x2 + e1 * x3),
        2.0 * (-e3 * x0 + e2 * x1 - e1 * x2 + e0 * x3),
    )
