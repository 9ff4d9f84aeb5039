"""A run of single rigid bodies in progress."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...compiled.entry import connect
from ...errors import IncompatibleError
from ..base import Array, Run, begins_of, check_rows
from ..verdicts import CHART, NOT_CONVERGED
from . import loops
from .elliptic import SCRATCH
from .flows import JACOBI
from .jacobi import MOST_TURNS
from .requirements import velocity_dependent
from .series import modified_inertia
from .state import MOMENTA, STATE, Vectors, new_bodies
from .structure import body_table, lie_tables

if TYPE_CHECKING:
    from ...system.system import System

assert SCRATCH <= 32
TOO_STRONG = "values are no longer finite; the forces are too strong for the step: try a smaller one [MBD-E26]"


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
        self.bodies = new_bodies(
            table, modified_inertia(moments, method.rotation.series_order), blocks, zeros, method.stages, origin=t,
            step=step, flow=self.flow, scheme=self.scheme, damped=velocity_dependent(system) is not None,
        )  # fmt: skip
        nq, nv, nl = system.n_q, system.n_v, system.n_l
        self.x = Vectors(q=np.zeros(nq), v=np.zeros(nv), vd=np.zeros(nv), lam=np.zeros(nl))
        # compiled, or loaded, before the clock starts
        steps = loops.run_free if self.scheme < 0 else loops.run_split
        for tables in (system.tables, self.lie):
            connect(tables, loops.begin, steps)

    def begin(self, q: Array, v: Array) -> None:
        """Take over the first state; what is recorded there is what was given."""
        x = self.x
        x.q[:], x.v[:] = q, v
        loops.begin(self.system.tables, self.work, self.bodies, x)
        x.vd[:], x.lam[:] = self.system.accelerations(q, v, self.origin)

    def compose(self, weights: Array) -> None:
        b, n = self.bodies, len(weights)
        b.parts, b.weights[:n], b.begins[: n + 1] = n, weights, begins_of(weights)

    def initial_row(self) -> list[Array]:
        return [y.copy() for y in self.row()]

    @property
    def t(self) -> float:
        """Time of the state."""
        return self.origin + self.index * self.step

    def advance(self, count: int, every: int, out: list[Array]) -> int:
        check_rows(out, self.row(), (self.index + count) // every - self.index // every)
        s, w, b, x = self.system.tables, self.work, self.bodies, self.x
        if self.scheme < 0:
            loops.run_free(s, w, b, x, self.index, count, every, *out)
        else:
            loops.run_split(s, self.lie, w, b, x, self.index, count, every, *out)
        self.index += b.done
        return b.done

    def act_anew(self) -> None:
        """Splittings with forces evaluate them at every call; free motions are evaluated from the start of the run."""
        if self.scheme < 0:
            raise IncompatibleError(
                f"{self.method.name} evaluates the motion of free bodies from the start of the run on: what acts must "
                "not change during it. Use a splitting with forces, such as Strang(), or RK4 or GeneralizedAlpha."
            )

    def failure(self) -> tuple[str, str]:
        verdict, node = self.bodies.verdict, self.bodies.where
        name = self.system.model.bodies[node - 1].name if node > 0 else ""
        if verdict == CHART:
            return "singularity", name
        if verdict == NOT_CONVERGED:
            return "convergence", self._turns_too_far(node, name)
        return "convergence", TOO_STRONG

    def _turns_too_far(self, node: int, name: str) -> str:
        """What happened to the body of a node whose step was refused, and what to do."""
        rotation, row = self.method.rotation, node - 1
        c, y = self.bodies.table[row], self.bodies.y[row]
        speed = float(np.linalg.norm(rotation.turning_rate(c, y)))
        if not np.isfinite(speed):
            return TOO_STRONG
        if self.flow == JACOBI and self.scheme < 0:
            return (
                f"body '{name}' turns with {speed:.3g} rad/s; beyond {MOST_TURNS:.0e} rad nothing is left of its "
                f"attitude in double precision: end the run before t = {self.origin + 0.5 * MOST_TURNS / speed:.3g}"
            )
        part = self.method.stages.longest * float(np.abs(self.bodies.weights[: self.bodies.parts]).max())
        step, limit = self.step * part, rotation.largest_turn
        name_of_part = {1.0: "", 0.5: "half "}.get(part, f"{part:.2g} of ")
        advice = f"take steps below {0.9 * self.step * min(1.0, limit / (speed * step)):.2g}"
        if self.flow != JACOBI:
            advice += ", or use JacobiExact(), which is exact for any step"
        return (
            f"body '{name}' turns by {speed * step:.3g} rad in {name_of_part}a step of "
            f"{self.step:g}; {rotation.name} can follow about {limit:.3g} rad: {advice}"
        )

    def _units(self, name: str) -> Any:
        """Factor of an array of the state that makes it one in the units of the model."""
        return self.bodies.table.unit[:, None] if name in MOMENTA else 1.0

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = {name: getattr(self.x, name).copy() for name in self.x.fields}
        state |= {f"bodies_{name}": getattr(self.bodies, name) * self._units(name) for name in STATE}
        return state | {"origin": self.origin, "step": self.step, "index": self.index, "t": self.t}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        for name in self.x.fields:
            getattr(self.x, name)[:] = state[name]
        for name in STATE:
            getattr(self.bodies, name)[:] = state[f"bodies_{name}"] / self._units(name)
        self.index = int(state["index"])

    def statistics(self) -> dict[str, Any]:
        return {"steps": self.index, "rejected": 0, "newton_iterations": 0, "factorizations": 0}
