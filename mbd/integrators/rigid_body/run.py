"""A run of single rigid bodies in progress."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..base import Array, Run
from . import loops
from .elliptic import SCRATCH
from .flows import JACOBI
from .jacobi import MOST_TURNS
from .series import modified_inertia
from .state import MOMENTA, STATE, Vectors, new_bodies
from .structure import body_table, lie_tables

if TYPE_CHECKING:
    from ...system.system import System

assert SCRATCH <= 32
NOT_FINITE = "values are no longer finite; the forces are too strong for the step: try a smaller one"


class RigidBodyRun(Run):
    """The state of all bodies, and the vectors of the system that belong to it."""

    def __init__(self, method: Any, system: System, t: float, step: float) -> None:
        self.method, self.system = method, system
        self.origin, self.step, self.index = t, step, 0
        self.work = system.new_work()
        self.flow, self.scheme = int(method.rotation.flow), int(method.scheme)
        table = body_table(system, method.rotation.symmetric_axes)
        moments = np.column_stack((table.i1, table.i2, table.i3))
        self.lie, blocks = lie_tables(system)
        zeros = max(system.n_q, system.n_v, system.n_l, 16)
        self.bodies = new_bodies(table, modified_inertia(moments, method.rotation.series_order), blocks, zeros)
        self.x = Vectors(np.zeros(system.n_q), np.zeros(system.n_v), np.zeros(system.n_v), np.zeros(system.n_l))
        self._warm_up()

    def _warm_up(self) -> None:
        x = self.x
        self.advance(0, 1, [np.zeros((1, len(row))) for row in (*x, self.work.turns)])

    def begin(self, q: Array, v: Array) -> None:
        """Take over the first state; what is recorded there is what was given."""
        loops.begin(self.system.tables, self.work, q, v, self.bodies)
        x = self.x
        x.q[:], x.v[:] = q, v
        x.vd[:], x.lam[:] = self.system.accelerations(q, v, self.origin)

    def initial_row(self) -> list[Array]:
        return [*(row.copy() for row in self.x), self.work.turns.copy()]

    @property
    def t(self) -> float:
        """Time of the state."""
        return self.origin + self.index * self.step

    def advance(self, count: int, every: int, out: list[Array]) -> int:
        s, w, b, x = self.system.tables, self.work, self.bodies, self.x
        if self.scheme < 0:
            done = loops.run_free(s, w, b, x, self.flow, self.origin, self.index, self.step, count, every, *out)
        else:
            done = loops.run_split(
                s, self.lie, w, b, x, self.flow, self.scheme, self.origin, self.index, self.step, count,
                every, *out,
            )  # fmt: skip
        self.index += done
        return done

    def failure(self) -> tuple[str, str]:
        code, node = (int(k) for k in self.bodies.info)
        name = self.system.model.bodies[node - 1].name if node > 0 else ""
        if code == loops.CODE_CHART:
            return "singularity", name
        if code == loops.CODE_EQUATIONS:
            return "convergence", self._turns_too_far(node, name)
        return "convergence", NOT_FINITE

    def _turns_too_far(self, node: int, name: str) -> str:
        """What happened to the body of a node whose step was refused, and what to do."""
        rotation, row = self.method.rotation, node - 1
        c, y = self.bodies.table[row], self.bodies.y[row]
        speed = float(np.linalg.norm(rotation.turning_rate(c, y)))
        if not np.isfinite(speed):
            return NOT_FINITE
        if self.flow == JACOBI and self.scheme < 0:
            return (
                f"body '{name}' turns with {speed:.3g} rad/s; beyond {MOST_TURNS:.0e} rad nothing is left of its "
                f"attitude in double precision: end the run before t = {self.origin + 0.5 * MOST_TURNS / speed:.3g}"
            )
        step = self.step * (0.5 if self.scheme == loops.NYSTROM else 1.0)
        limit = rotation.largest_turn
        advice = f"take steps below {0.9 * self.step * min(1.0, limit / (speed * step)):.2g}"
        if self.flow != JACOBI:
            advice += ", or use JacobiExact(), which is exact for any step"
        return (
            f"body '{name}' turns by {speed * step:.3g} rad in {'half ' if step < self.step else ''}a step of "
            f"{self.step:g}; {rotation.name} can follow about {limit:.3g} rad: {advice}"
        )

    def _units(self, name: str) -> Any:
        """Factor of an array of the state that makes it one in the units of the model."""
        return self.bodies.table.unit[:, None] if name in MOMENTA else 1.0

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = {name: getattr(self.x, name).copy() for name in self.x._fields}
        state |= {f"bodies_{name}": getattr(self.bodies, name) * self._units(name) for name in STATE}
        return state | {"origin": self.origin, "step": self.step, "index": self.index, "t": self.t}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        for name in self.x._fields:
            getattr(self.x, name)[:] = state[name]
        for name in STATE:
            getattr(self.bodies, name)[:] = state[f"bodies_{name}"] / self._units(name)
        self.index = int(state["index"])

    def statistics(self) -> dict[str, Any]:
        return {"steps": self.index, "rejected": 0, "newton_iterations": 0, "factorizations": 0}
