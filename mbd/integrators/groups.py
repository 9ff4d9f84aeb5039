"""Systems whose unknowns come in several groups, each with the structure of (increment, multipliers).

A GGL or Livens scheme solves for coordinates with multipliers *and* for velocities with further multipliers. In the
matrix every body and joint then owns one larger block, divided into groups. The tables (I, J) made here have the block
addresses of equation group I and unknown group J, so that all kernels that add blocks to a matrix serve unchanged.

``Groups`` makes one large matrix for Newton's method. ``SplitGroups`` makes a matrix of the system's own size for every
group and drops the coupling of groups: for an iteration that takes the groups in turns, at a fraction of the cost.
"""

from __future__ import annotations

import numpy as np

from ..joints.primitives import COINCIDENT
from ..linalg.symbolic import Layout, analyse
from ..packed import pack
from ..records import ENTRY_STIFFNESS, FLAG_DENSE, Tables, Work
from ..system.entries import connect_tables
from ..system.general_assembly import general_pairs, position_general
from ..system.secant import connect_secant
from ..system.system import System


class Groups:
    """Tables of all pairs of groups, and buffers that fit the larger matrix."""

    def __init__(self, system: System, count: int) -> None:
        self.system, self.count = system, count
        old, s = system.assembly.layout, system.tables
        self.bodies = len(s.nodes) - 1
        grounded = np.zeros(len(old.sizes), dtype=bool)
        for table in (s.primitives, s.couplings):
            held = (table.a == 0) | (table.b == 0)
            grounded[table.joint[held] + self.bodies] = True
        general_pairs(s.members.tolist(), s.general, grounded, self.bodies)
        self.layout: Layout = analyse(old.sizes * count, old.is_joint, grounded, old.pairs)
        self.tables = [[self._pair(i, j) for j in range(count)] for i in range(count)]

    def _pair(self, i: int, j: int) -> Tables:
        """Tables with the addresses of equation group i and unknown group j."""
        s, layout, n = self.system.tables, self.layout, self.bodies
        old = self.system.assembly.layout
        size = old.sizes
        nodes, forces = s.nodes.copy(), s.forces.copy()

        def place(us: np.ndarray, vs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            offset, ld = layout.blocks(us, vs)
            return offset + i * size[us] * ld + j * size[vs], ld

        every = np.arange(n)
        nodes["block"][1:], nodes["ld"][1:] = place(every, every)
        nodes["x0"][1:] = layout.position[:n] + i * size[:n]

        def fill(table: np.ndarray, us: np.ndarray, vs: np.ndarray, name: str, has: np.ndarray) -> None:
            table[f"block_{name}"][has], table[f"ld_{name}"][has] = place(us[has], vs[has])

        xv, xl = s.xv.copy(), s.xl.copy()
        owner = np.repeat(np.arange(len(size)), size)  # in the order of the vertices
        vertex, local = np.empty(old.n, np.int64), np.empty(old.n, np.int64)
        vertex[old.permutation()] = owner
        local[old.permutation()] = np.arange(old.n) - np.repeat(np.cumsum(size) - size, size)
        for index in (xv, xl):
            index[:] = layout.position[vertex[index]] + i * size[vertex[index]] + local[index]
        tables = {}
        for name in ("primitives", "couplings"):
            primitives = getattr(s, name).copy()
            tables[name] = primitives.view(np.recarray)
            a, b, joint = primitives["a"] - 1, primitives["b"] - 1, primitives["joint"] + n
            row = primitives["x0"] - old.position[joint]
            for side, body in (("a", a), ("b", b)):
                fill(primitives, joint, body, f"j{side}", body >= 0)
                fill(primitives, body, joint, f"{side}j", body >= 0)
                primitives[f"block_j{side}"] += row * primitives[f"ld_j{side}"]
                primitives[f"block_{side}j"] += row
            both = (a >= 0) & (b >= 0) & (primitives["kind"] != COINCIDENT)
            fill(primitives, a, b, "ab", both)
            fill(primitives, b, a, "ba", both)
            primitives["x0"] = layout.position[joint] + i * size[joint] + row
        if len(forces):
            a, b = forces["a"] - 1, forces["b"] - 1
            both = (a >= 0) & (b >= 0)
            fill(forces, a, b, "ab", both)
            fill(forces, b, a, "ba", both)
        general, members = s.general.copy(), s.members.copy()
        for g in general:
            row = int(g["x0"] - old.position[g["joint"] + n]) if g["joint"] >= 0 else 0
            position_general(members, g, place, n, row)
            if g["joint"] >= 0:
                g["x0"] = layout.position[g["joint"] + n] + i * size[g["joint"] + n] + row
        flags = s.flags.copy()
        flags[FLAG_DENSE] = layout.dense
        result = s._replace(
            nodes=nodes.view(np.recarray), forces=forces.view(np.recarray), general=general.view(np.recarray),
            members=members, **tables,
            xv=xv, xl=xl, flags=flags, fronts=layout.fronts, diagonal=self._diagonal(vertex[s.xl], local[s.xl]),
        )  # fmt: skip
        connect_secant(result, ENTRY_STIFFNESS)
        return connect_tables(result)

    def _diagonal(self, vertex: np.ndarray, local: np.ndarray) -> np.ndarray:
        """Diagonal entries of the multipliers of all groups, for the regularisation of redundant constraints."""
        offset, ld = self.layout.blocks(vertex, vertex)
        size = self.system.assembly.layout.sizes[vertex]
        return np.concatenate([offset + (g * size + local) * (ld + 1) for g in range(self.count)])

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of unknowns and of entries of the matrix."""
        return self.layout.n, self.layout.size_F

    def new_work(self) -> Work:
        """Buffers of a run."""
        n, size = self.sizes
        work = self.system.new_work()._replace(
            matrix=np.zeros(size), pivots=np.zeros(n, dtype=np.int64), dinv=np.zeros(n), scale=np.zeros(n),
            x=np.zeros(n), x2=np.zeros(n),
        )  # fmt: skip
        return pack(work)

    def name_of_unknown(self, x: int) -> str:
        """The element behind a row of the larger system."""
        vertex = int(self.layout.vertex_of(int(x)))
        model = self.system.model
        if vertex < self.bodies:
            return f"body '{model.bodies[vertex].name}'"
        return f"joint '{model.joints[vertex - self.bodies].name}'"


class SplitGroups(Groups):
    """A matrix for every group behind one another; the tables of pairs of different groups are empty."""

    def __init__(self, system: System, count: int) -> None:
        self.system, self.count = system, count
        self.layout = system.assembly.layout
        self.bodies = len(system.tables.nodes) - 1
        self.tables = [[self._pair(i, j) for j in range(count)] for i in range(count)]

    @property
    def sizes(self) -> tuple[int, int]:
        return self.count * self.layout.n, self.count * self.layout.size_F

    def _pair(self, i: int, j: int) -> Tables:
        s = self.system.tables
        rows, shift = i * self.layout.n, i * self.layout.size_F
        changed = {name: getattr(s, name).copy() for name in ("nodes", "primitives", "couplings", "forces", "general")}
        if i != j:
            changed = {name: table[: 1 if name == "nodes" else 0].copy() for name, table in changed.items()}
        for table in changed.values():
            for name in table.dtype.names:
                if name == "block" or name.startswith("block_"):
                    table[name] += shift
                elif name == "x0":
                    table[name] += rows
        members = s.members.copy()
        for g in s.general:
            count = int(g["count"])
            members[g["blocks"] : g["blocks"] + 2 * count * count : 2] += shift
            if g["joint"] >= 0:
                members[g["joint_blocks"] : g["joint_blocks"] + 4 * count : 2] += shift
        views = {name: table.view(np.recarray) for name, table in changed.items()}
        result = s._replace(**views, members=members, xv=s.xv + rows, xl=s.xl + rows, diagonal=s.diagonal + shift)
        connect_secant(result, ENTRY_STIFFNESS)
        return connect_tables(result)

    def name_of_unknown(self, x: int) -> str:
        return self.system.name_of_unknown(int(x) % self.layout.n)
