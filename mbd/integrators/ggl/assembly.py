"""A GGL method on a system: its records, and which of the two matrices its steps are solved with."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ...compiled.entry import connect
from ...compiled.record import table_of
from ...nodes.forms import of_form
from ...system.tables import FLAG_DENSE, Tables
from ..base import Array
from ..checks import is_flat
from ..directors.rigid_solve import RigidBodies
from ..directors.unknown_blocks import UnknownBlocks, name_of_row, natural_tables
from ..directors.user_coordinates import UserBodies
from ..past import EquationsWithPast, guess_tables
from . import steps
from .guess import ACCELERATED, AT_REST, UNIFORM, extrapolation_weights
from .matrix import ENOUGH
from .state import PAST, GGLState

if TYPE_CHECKING:
    from ...system.system import System
    from .methods import GGL

GUESSES = {"acceleration": ACCELERATED, "velocity": UNIFORM, "position": AT_REST}


class GGLEquations(EquationsWithPast):
    """A GGL method on a system.

    Large systems are solved with the matrix of rigid bodies; where that does not converge, the run goes on with the
    large matrix of all unknowns.
    """

    saved = ("q", "v", "vd", "lam", "vdm", "lamm", "excess", "gams", "past_u", "past_d", "past_l", "past_g")
    past = ("past_u", "past_d", "past_l", "past_g")
    depth = 6
    factors = ("matrix", "pivots", "dinv", "stiff_matrix", "stiff_pivots", "stiff_dinv")
    method: GGL
    solver: RigidBodies | UnknownBlocks

    def __init__(self, method: GGL, system: System, t: float, step: float) -> None:
        super().__init__(method, system)
        self.tables, self.work = natural_tables(system), system.new_work()
        self.own = UserBodies(system, 2)
        self.x = self._state(step)
        tables = system.tables
        self.coupled = len(tables.couplings) > 0 or bool((tables.frame_elements["rows"] > 0).any())
        self.rigid = self.coupled or not tables.flags[FLAG_DENSE]
        self._choose_solver()
        self.set_up(t, step, (self.x.z0, self.x.z1), **self._enough())

    def _state(self, step: float) -> GGLState:
        method, system, work = self.method, self.system, self.work
        nv, nl, nodes = system.n_v, system.n_l, len(system.tables.nodes)
        vectors = {name: np.zeros(nv) for name in ("v", "vd", "vdm", "dq", "u", "w", "y", "y0")}
        multipliers = {name: np.zeros(nl) for name in ("lam", "lamm", "lams", "gams", "shown_gams", "mu")}
        all_nodes = system.tables.nodes
        flat = [float(d and is_flat(n)) for d, n in zip(of_form(all_nodes, "directors"), all_nodes, strict=True)]
        past = {f"past_{name}": np.zeros((PAST, n)) for name, n in zip("udlg", (nv, nv, nl, nl), strict=True)}
        z = {name: work.z.copy() for name in ("z0", "z1", "zt")}
        z |= {name: np.zeros((nodes, 12)) for name in ("zr", "zu", "zy", "f1", "f2", "fl", "buffer", "excess")}
        at = {name: np.zeros_like(work.values) for name in ("at_start", "at_force", "at_end")}
        coefficients, frames, times = method.coefficients(step)
        z |= {name: z[same] for name, same in frames.items()}
        at |= {f"at_{name}": at[f"at_{same}"] for name, same in times.items()}
        instants = {"start": 0.0, "force": method.shift, "end": 1.0}
        shifts = {f"shift_{name}": instants[same] for name, same in times.items()}
        return GGLState(
            q=np.zeros(system.n_q), **vectors, **multipliers, **past, **z, **at, **shifts, **coefficients,
            **guess_tables(PAST) | {"weights": extrapolation_weights(method.alternating)},
            r1=np.zeros(nv + nl), r2=np.zeros(nv + nl),
            zero=np.zeros(max(nv, nl, 1)), torque=np.zeros((nodes, 3)), square=np.zeros((4, 4)),
            pairs=table_of([None] * 9), bodies=table_of([None]), scheme=method.scheme, shift=method.shift,
            guess=GUESSES[method.guess], flat=np.array(flat),
            **self.own.fields, own_u=self.own.fields["own_y"].copy(),
        )  # fmt: skip

    def _choose_solver(self) -> None:
        """Entries, tables and buffers of the matrix: of rigid bodies, or large."""
        self.x.rigid = int(self.rigid)
        if self.rigid:
            self.entries, self.solver = steps.RIGID, RigidBodies(self.system)
            self.rows = self.solver.tables
            self.x.bodies[:] = table_of([self.rows])
        else:
            self.entries, self.solver = steps.LARGE, UnknownBlocks(self.system, self.method.unknown_blocks)
            last = self.method.unknown_blocks - 1
            pairs = [self.solver.tables[min(i, last)][min(j, last)] for i in range(3) for j in range(3)]
            self.rows = pairs[0]
            self.x.pairs[:] = table_of(pairs)
        self.work = self.solver.new_work().changed(turns=self.work.turns)

    def _enough(self) -> dict[str, float]:
        """Multiples of the tolerance that end the iteration."""
        return dict.fromkeys(("enough_at_once", "enough", "enough_later"), ENOUGH if self.rigid else 1.0)

    def connect(self) -> None:
        super().connect()
        connect(self.rows, *self.entries.values())  # the matrix has fronts of its own
        self.own.connect(*self.entries.values())

    def copies(self) -> list[Tables]:
        solver = self.solver
        return [self.tables, *chain(*(solver.pairs if isinstance(solver, RigidBodies) else solver.tables))]

    def start(self, t: float) -> None:
        work = self.system.new_work().changed(turns=self.work.turns)
        steps.start(self.system.tables, work, self.x, self.numbers)

    def shown(self) -> list[Array]:
        return [self.x.q, self.x.v, self.x.shown_gams, self.x.lamm]

    def recover(self) -> bool:
        if not self.rigid or self.coupled:  # whose second derivatives the large matrix does not have
            return False
        self.rigid = False
        self._choose_solver()
        for name, value in self._enough().items():
            setattr(self.numbers, name, value)
        self.connect()
        return True

    def state(self) -> dict[str, Any]:
        state = super().state() | {"rigid": self.rigid}
        if self.rigid:
            state |= {name: getattr(self.work, name).copy() for name in self.factors}
        return state

    def restore(self, state: dict[str, Any]) -> None:
        if self.rigid and not state["rigid"]:
            self.recover()
        super().restore(state)
        if self.rigid:
            for name in self.factors:
                getattr(self.work, name)[:] = state[name]
        self.x.shown_gams[:] = (1.0 / self.numbers.step) * self.x.gams

    def name_of_unknown(self, row: int) -> str:
        return name_of_row(self.system, self.solver.layout, row)
