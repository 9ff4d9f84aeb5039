"""The part of the assembly for joint coordinates: inner tables of the elements, layout, tables of the tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..compiled.kinds import as_records
from ..compiled.record import table_of
from ..linalg.symbolic import analyse, uncoupled
from ..nodes.tree.records import NOT_CARRIED, TreeTables
from ..nodes.tree.recursion import PER_NODE, PER_VELOCITY
from .frame_assembly import place_frame_elements
from .placement import coupled_vertices, place_blocks
from .structure import Elements, Placed, Structure, integers_of, placed_structure, remembered
from .tables import BY_FRONTS, BY_RECURSION, FLAG_DENSE, FLAG_LOADED, FLAG_TREE, Tables
from .tree_assembly import (
    BlockStorage,
    Projector,
    carried_table,
    check_movable,
    inner_nodes,
    joint_loads,
    no_fronts,
    rotor_inertia,
)

if TYPE_CHECKING:
    from .assembly import _Assembler

Array = np.ndarray

DENSE_PATHS = 100  # places along paths that count as much as a body for what is kept of structures


@dataclass
class InnerStructure:
    """What follows from the integers of the tables of a model in joint coordinates, and of its tree."""

    outer: Structure
    inner: Placed
    inner_sizes: tuple[int, int, int]
    loaded: bool
    recursive: bool
    projections: tuple[Array, Array, Array]


class Branches:
    """Joint coordinates during the assembly of a model."""

    def __init__(
        self, assembler: _Assembler, elements: Elements, joint_rows: list[int], force_rows: list[slice]
    ) -> None:
        model, tree = assembler.model, assembler.tree
        assert tree is not None
        node_of, nodes, forces = assembler.node_of, elements.nodes, elements.forces
        check_movable(tree, nodes, node_of)
        self.carried, self.order = carried_table(tree, node_of, len(nodes))
        self.loads = joint_loads(model, tree, nodes, node_of, force_rows, forces)
        self.inertia = rotor_inertia(tree, nodes, node_of, assembler.n_v)
        others = np.ones(len(forces), dtype=bool)
        others[self.loads[:, 0]] = False
        inner, n_q, n_v = inner_nodes(nodes, self.carried)
        self.elements = Elements(
            inner, elements.primitives.copy(), forces[others], elements.general.copy(), list(elements.members),
            elements.light,
        )  # fmt: skip
        key = *elements.key(), tuple(joint_rows), integers_of(self.carried).tobytes(), self.loads.tobytes()
        size = len(nodes) + len(joint_rows) + len(self.order) ** 2 // DENSE_PATHS
        self.found: InnerStructure = remembered(
            key, size, lambda: self._made(elements, joint_rows, assembler.n_v, assembler.n_l, n_q, n_v)
        )
        self.structure, self.layout = self.found.outer, self.found.outer.layout
        self.inner_sizes = self.found.inner_sizes
        elements.take(self.structure.placed)
        self.elements.take(self.found.inner)
        self.inner: Tables

    def _made(
        self, outer: Elements, joint_rows: list[int], n_v: int, n_l: int, inner_q: int, inner_v: int
    ) -> InnerStructure:
        e, bodies = self.elements, len(outer.nodes) - 1
        sizes, is_joint, _, pairs = coupled_vertices(
            e.nodes, e.primitives, e.forces, e.general, e.members, joint_rows, 1
        )
        storage = BlockStorage(sizes, pairs)
        _, xl = place_blocks(e.nodes, e.primitives, e.forces, storage, inner_v, n_l, bodies)
        place_frame_elements(e.members, e.general, storage, xl, bodies)
        projector = Projector(self.carried, storage, bodies)
        free = (self.carried["parent"] == NOT_CARRIED)[1:].any()
        recursive = n_l == 0 and not free and not projector.blocks
        own = np.concatenate([outer.nodes["nv"][1:] + outer.nodes["nl"][1:], np.array(joint_rows, dtype=np.int64)])
        if recursive:
            layout = uncoupled(own, is_joint)
        else:  # a common rigid motion of bodies is no motion of joints: constraints count as tied to the ground
            layout = analyse(own, is_joint, np.ones(len(own), dtype=bool), projector.pairs())
        return InnerStructure(
            outer=placed_structure(outer, layout, n_v, n_l, with_elements=False), inner=Placed.of(e),
            inner_sizes=(inner_q, inner_v, storage.size),
            loaded=len(e.primitives) + len(e.forces) + len(e.general) > 0, recursive=recursive,
            projections=projector.tables_of_paths() if recursive else projector.tables(layout),
        )  # fmt: skip

    def finish(self, tables: Tables) -> tuple[Tables, int]:
        """The tables with their tree, and the size of their matrix."""
        flags, e, found = tables.flags, self.elements, self.found
        flags[FLAG_TREE] = BY_RECURSION if found.recursive else BY_FRONTS
        flags[FLAG_LOADED] = found.loaded
        size = self.layout.size_F
        if found.recursive:
            flags[FLAG_DENSE] = 0
            size = PER_NODE * len(tables.nodes) + PER_VELOCITY * len(tables.xv)
        tables.lengths[-1] = size
        coupled = e.primitives["shared"] != 0
        self.inner = tables.changed(
            nodes=as_records(e.nodes), primitives=as_records(e.primitives[~coupled]),
            couplings=as_records(e.primitives[coupled]), forces=as_records(e.forces),
            frame_elements=as_records(e.general), members=np.array(e.members, dtype=np.int64),
            fronts=no_fronts(), flags=flags.copy(),
        )  # fmt: skip
        self.inner.flags[FLAG_TREE] = 0
        records, places, paths = found.projections
        tree = TreeTables(
            carried=as_records(self.carried), order=self.order,
            free=np.flatnonzero((self.carried["parent"] == NOT_CARRIED)[1:]) + 1, inner=table_of([self.inner]),
            projections=as_records(records), places=places, paths=paths, loads=self.loads,
            inertia=self.inertia,
        )  # fmt: skip
        return tables.changed(tree=tree), size
