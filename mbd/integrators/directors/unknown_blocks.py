"""Systems whose unknowns come in several blocks, each with the structure of (increment, multipliers).

A GGL scheme solves for coordinates with multipliers *and* for velocities with further multipliers. In the matrix every
body and joint then owns one larger front, divided into these blocks. The tables (I, J) made here have the addresses of
equation block I and unknown block J, so that all kernels that add to a matrix serve unchanged.

``UnknownBlocks`` makes one large matrix for Newton's method. ``natural_tables`` are those of residuals that are kept in
the order of velocities and multipliers, and ``rigid_tables`` those of the small matrix of ``rigid_solve``. None of them
shows bodies in generalized coordinates, on which nothing acts but their own functions (``user_coordinates``).
"""

from __future__ import annotations

import numpy as np

from ...joints.instant import COINCIDENT
from ...linalg.symbolic import Layout, analyse
from ...nodes import kinds
from ...nodes.forms import become_lie, become_points, leave_out, of_form
from ...system.frame_assembly import frame_element_pairs, position_frame_element
from ...system.system import System
from ...system.tables import FLAG_DENSE, FLAG_REDUNDANT, LENGTH_MATRIX, LENGTH_X, Tables, Work


def _layout(system: System, sizes: np.ndarray) -> Layout:
    """The elimination of the system's graph, with vertices of other sizes."""
    old, s = system.assembly.layout, system.tables
    bodies = len(s.nodes) - 1
    grounded = np.zeros(len(old.sizes), dtype=bool)
    for table in (s.primitives, s.couplings):
        for body in (table.a, table.b):
            grounded[table.joint[s.nodes.nx[body] == 0] + bodies] = True  # the ground, or a pinned body
    frame_element_pairs(s.members.tolist(), s.frame_elements, grounded, bodies)
    return analyse(sizes, old.is_joint, grounded, old.pairs)


def _placed(system: System, layout: Layout, sizes: np.ndarray, i: int, j: int) -> Tables:
    """The system's tables with the block addresses of part (i, j) of vertices that consist of parts of given sizes."""
    s, old = system.tables, system.assembly.layout
    n = len(s.nodes) - 1
    nodes, forces = s.nodes.copy(), s.forces.copy()

    def place(us: np.ndarray, vs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        offset, ld = layout.blocks(us, vs)
        return offset + i * sizes[us] * ld + j * sizes[vs], ld

    def fill(table: np.ndarray, us: np.ndarray, vs: np.ndarray, name: str, has: np.ndarray) -> None:
        table[f"block_{name}"][has], table[f"ld_{name}"][has] = place(us[has], vs[has])

    every = np.arange(n)
    nodes["block"][1:], nodes["ld"][1:] = place(every, every)
    nodes["x0"][1:] = layout.position[:n] + i * sizes[:n]
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
        primitives["x0"] = layout.position[joint] + i * sizes[joint] + row
    if len(forces):
        a, b = forces["a"] - 1, forces["b"] - 1
        both = (a >= 0) & (b >= 0)
        fill(forces, a, b, "ab", both)
        fill(forces, b, a, "ba", both)
    general, members = s.frame_elements.copy(), s.members.copy()
    for g in general:
        row = int(g["x0"] - old.position[g["joint"] + n]) if g["joint"] >= 0 else 0
        position_frame_element(members, g, place, n, row)
        if g["joint"] >= 0:
            g["x0"] = layout.position[g["joint"] + n] + i * sizes[g["joint"] + n] + row
    flags = s.flags.copy()
    flags[FLAG_DENSE] = layout.dense
    lengths = s.lengths.copy()
    lengths[LENGTH_X], lengths[LENGTH_MATRIX] = layout.n, layout.size_F
    return s.changed(
        lengths=lengths,
        nodes=nodes.view(np.recarray), forces=forces.view(np.recarray), frame_elements=general.view(np.recarray),
        members=members, **tables, flags=flags, fronts=layout.fronts,
    )  # fmt: skip


def _owners(layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    """The vertex of every unknown, and its number there."""
    size = layout.sizes
    vertex, local = np.empty(layout.n, np.int64), np.empty(layout.n, np.int64)
    vertex[layout.permutation()] = np.repeat(np.arange(len(size)), size)
    local[layout.permutation()] = np.arange(layout.n) - np.repeat(np.cumsum(size) - size, size)
    return vertex, local


def new_work(system: System, unknowns: int, entries: int) -> Work:
    """Buffers of a run with a matrix of another size."""
    return system.new_work().changed(
        matrix=np.zeros(entries), pivots=np.zeros(unknowns, dtype=np.int64), dinv=np.zeros(unknowns),
        weights=np.ones(unknowns), scale=np.zeros(unknowns), x=np.zeros(unknowns), g=np.zeros(unknowns),
    )  # fmt: skip


def name_of_row(system: System, layout: Layout, row: int) -> str:
    """The element behind a row of residuals (velocities, then multipliers); -1 - k: behind row k of the matrix."""
    if row >= 0:
        s = system.tables
        return system.name_of_unknown(int(s.xv[row] if row < system.n_v else s.xl[row - system.n_v]))
    vertex, bodies = layout.vertex_of(-1 - row), system.model.bodies
    if vertex < len(bodies):
        return f"body '{bodies[vertex].name}'"
    return f"joint '{system.model.joints[vertex - len(bodies)].name}'"


class UnknownBlocks:
    """Tables of all pairs of blocks of unknowns, and buffers that fit the larger matrix."""

    def __init__(self, system: System, count: int) -> None:
        self.system, self.count = system, count
        self.layout: Layout = _layout(system, system.assembly.layout.sizes * count)
        self.tables = [[self._pair(i, j) for j in range(count)] for i in range(count)]

    def _pair(self, i: int, j: int) -> Tables:
        """Tables with the addresses of equation block i and unknown block j."""
        old, s = self.system.assembly.layout, self.system.tables
        vertex, local = _owners(old)
        xv, xl = (
            self.layout.position[vertex[index]] + i * old.sizes[vertex[index]] + local[index] for index in (s.xv, s.xl)
        )
        offset, ld = self.layout.blocks(vertex[s.xl], vertex[s.xl])  # of all blocks: redundancy is regularised
        size = old.sizes[vertex[s.xl]]
        diagonal = np.concatenate([offset + (b * size + local[s.xl]) * (ld + 1) for b in range(self.count)])
        placed = _placed(self.system, self.layout, old.sizes, i, j)
        leave_out(placed.nodes, of_form(s.nodes, "generalized"))
        return placed.changed(xv=xv, xl=xl, diagonal=diagonal)

    def new_work(self) -> Work:
        """Buffers of a run."""
        return new_work(self.system, self.layout.n, self.layout.size_F)


def natural_tables(system: System, whole: bool = False) -> Tables:
    """Tables for residuals in the order of velocities, then multipliers: no fronts, and rows that are not permuted.

    ``whole``: with the coordinates of generalized bodies. They have no matrix: buffers with that of any method do.
    """
    s, nv = system.tables, system.n_v
    changed = {name: getattr(s, name).copy() for name in ("nodes", "primitives", "couplings", "frame_elements")}
    for name, table in changed.items():
        table["x0"] = table["v0"] if name == "nodes" else nv + table["l0"]
    if not whole:
        leave_out(changed["nodes"], of_form(s.nodes, "generalized"))
    views = {name: table.view(np.recarray) for name, table in changed.items()}
    lengths = s.lengths.copy()
    lengths[LENGTH_X], lengths[LENGTH_MATRIX] = 0, 0
    return s.changed(**views, lengths=lengths, xv=np.arange(nv), xl=nv + np.arange(system.n_l))


def rigid_tables(system: System, count: int = 1) -> tuple[list[list[Tables]], Layout]:
    """Tables of the same bodies with six velocities in place of directors, for all pairs of ``count`` blocks.

    Multipliers keep their numbers. In place of generalized bodies there are free points: the matrix stays regular.
    """
    bodies = len(system.tables.nodes) - 1
    nodes = system.tables.nodes
    nv = np.where(of_form(nodes, "directors"), nodes.nx + 3, nodes.nv)
    nv[of_form(nodes, "generalized")] = 3
    sizes = system.assembly.layout.sizes.copy()
    sizes[:bodies] = nv[1:]
    layout = _layout(system, sizes * count)
    return [[_rigid_pair(system, layout, sizes, nv, i, j, count) for j in range(count)] for i in range(count)], layout


def _rigid_pair(
    system: System, layout: Layout, sizes: np.ndarray, nv: np.ndarray, i: int, j: int, count: int
) -> Tables:
    """Tables of rigid bodies with the addresses of equation block i and unknown block j."""
    s, old = system.tables, system.assembly.layout
    result = _placed(system, layout, sizes, i, j)
    nodes = result.nodes
    become_lie(nodes, of_form(s.nodes, "directors"), kinds.ROTATION_VECTOR)
    become_points(nodes, of_form(s.nodes, "generalized"))
    nodes["nv"], nodes["nl"], nodes["v0"] = nv, 0, np.cumsum(nv) - nv
    vertex, local = _owners(old)
    internal = int(s.nodes.nl.sum())  # their multipliers are the first ones
    joint, row = vertex[s.xl[internal:]], local[s.xl[internal:]]
    offset, ld = layout.blocks(joint, joint)
    diagonal = np.concatenate([offset + (b * sizes[joint] + row) * (ld + 1) for b in range(count)])
    result.flags[FLAG_REDUNDANT] = min(1, s.flags[FLAG_REDUNDANT])
    owner = np.repeat(np.arange(len(nodes)), nv)
    xv = nodes["x0"][owner] + np.arange(len(owner)) - nodes["v0"][owner]
    xl = layout.position[joint] + i * sizes[joint] + row
    return result.changed(xv=xv, xl=xl, diagonal=diagonal)
