"""Between the coordinates of a system and those of its twin, in which a method steps it (``converted``)."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..nodes.conversion import SPINS, convert
from ..nodes.forms import of_form
from ..nodes.kinds import EULER_ANGLES
from ..system.identity import turn_names
from ..system.observe import TOTALS, observe_kinetic
from ..system.system import System
from ..system.tables import Work
from ..system.tree_records import JointRecords
from .base import Array
from .traits import has_form, moves_alike


class Conversion:
    """States, multipliers and counted angles of a system from those of its twin (outward), and back (inward)."""

    def __init__(self, system: System, twin: System) -> None:
        self.system, self.twin = system, twin
        joints = system.assembly.tree is not None and twin.assembly.tree is None
        self.joints = JointRecords(system, twin) if joints else None
        names = turn_names(twin)
        self.turns = [names.index(name) for name in turn_names(system)]
        self.kept = self._common_multipliers()
        nodes = system.tables.nodes
        self.may_lock = bool(((nodes["kind"] == EULER_ANGLES) & of_form(nodes, "spin")).any())
        self.scratch = np.zeros((len(nodes), SPINS)), np.zeros(9), np.zeros((8, 16))

    def _common_multipliers(self) -> Array:
        """For every multiplier of the system that of the twin, -1 where there is none."""
        kept = np.full(self.system.n_l, -1)
        own, there = (s.assembly.joint_slices for s in (self.system, self.twin))
        for a, b in zip(own, there, strict=True):
            if a.stop - a.start == b.stop - b.start:
                kept[a] = np.arange(b.start, b.stop)
        if self.joints is not None:
            return kept
        for n, m in zip(self.system.tables.nodes, self.twin.tables.nodes, strict=True):
            if n.nl == m.nl and moves_alike(n, m):
                kept[n.l0 : n.l0 + n.nl] = np.arange(m.l0, m.l0 + m.nl)
        return kept

    @cached_property
    def loses_energy(self) -> bool:
        """Whether velocities of the twin have more kinetic energy than what becomes of them."""
        return self.joints is not None or has_form(self.twin, "directors")

    def kinetic_energy(self, q: Array, v: Array) -> Array:
        """Kinetic energy of the twin at states (q, v) of its own, row by row."""
        energy = np.zeros(len(q))
        observe_kinetic(self.twin.tables, self.work, q, v, np.zeros(TOTALS), energy)
        return energy

    @cached_property
    def work(self) -> Work:
        """Buffers in which nobody else writes."""
        return self.twin.new_work()

    def multipliers(self, lam: Array) -> Array:
        """Multipliers of the system from those of the twin; NaN where the twin has none."""
        return np.where(self.kept >= 0, np.append(lam, np.nan)[self.kept], np.nan)

    def inward(self, q: Array, v: Array, near: Array | None = None) -> tuple[Array, Array]:
        """The state of the twin for one of the system; rotations go on from ``near``, coordinates of the twin."""
        rows = self.inward_rows(q[None, :], v[None, :], near)
        return rows[0][0], rows[1][0]

    def inward_rows(self, q: Array, v: Array, near: Array | None = None) -> tuple[Array, Array]:
        """States of the twin for states of the system, row by row."""
        near = np.zeros(self.twin.n_q) if near is None else near
        if self.joints is not None:
            states = [self.joints.inward(*row) for row in zip(q, v, strict=True)]
            return np.array([x for x, _ in states]), np.array([x for _, x in states])
        out = np.zeros((len(q), self.twin.n_q)), np.zeros((len(q), self.twin.n_v))
        self._convert(self.system, self.twin, *(np.ascontiguousarray(x) for x in (q, v)), near, *out)
        return out

    def inward_turns(self, q: Array, turns: Array | None) -> Array | None:
        """Counted angles of the twin for those of the system, where rotors and screws that carry are coordinates."""
        rotors, screws = ([], []) if self.joints is None else (self.joints.rotors, self.joints.screws)
        if turns is None and not rotors and not screws:
            return None
        inner = self.twin.initial_turns()
        if turns is not None:
            inner[self.turns] = turns[: len(self.turns)]
        counted = [name.split(" (")[0] for name in turn_names(self.twin)]
        for rotor in rotors:
            inner[[k for k, name in enumerate(counted) if name == f"joint '{rotor.joint}'"]] = q[rotor.q]
        first = self.system.initial_state()[0] if screws else q
        for screw in screws:
            inner[counted.index(f"joint '{screw.joint}'")] += q[screw.q] - first[screw.q]
        return inner

    def outward_turns(self, turns: Array, out: Array) -> None:
        """Counted angles of the system from those of the twin, row by row; one zero in a row where there are none."""
        out[...] = turns[:, self.turns] if self.turns else 0.0

    def outward(self, q: Array, v: Array, near: Array, out_q: Array, out_v: Array) -> tuple[int, int]:
        """States of the system for states of the twin, row by row, into out_q and out_v.

        Rotations go on from the coordinates ``near``. Returns the first row, and the node there, for which there are
        no Euler angles; (-1, ...) if there are for all.
        """
        if self.joints is not None:
            return self.joints.outward(q, v, near, out_q, out_v)
        return self._convert(self.twin, self.system, q, v, near, out_q, out_v)

    def outward_row(self, q: Array, v: Array, near: Array) -> tuple[Array, Array]:
        """The state of the system for one of the twin."""
        out = np.zeros((1, self.system.n_q)), np.zeros((1, self.system.n_v))
        self.outward(q[None, :], v[None, :], near, *out)
        return out[0][0], out[1][0]

    def _convert(self, source: System, target: System, *rows: Array) -> tuple[int, int]:
        nodes = source.tables.nodes, target.tables.nodes
        return convert(*nodes, *rows, *self.scratch)  # type: ignore[no-any-return]
