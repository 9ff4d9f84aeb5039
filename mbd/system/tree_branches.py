"""The part of the assembly for joint coordinates: inner tables of the elements, layout, tables of the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..compiled.record import table_of
from ..linalg.symbolic import Layout, analyse, uncoupled
from ..nodes.tree.records import NOT_CARRIED, TreeTables
from ..nodes.tree.recursion import PER_NODE, PER_VELOCITY
from .frame_assembly import place_frame_elements
from .placement import coupled_vertices, place_blocks
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


class Branches:
    """Joint coordinates during the assembly of a model."""

    def __init__(
        self, assembler: _Assembler, nodes: Array, primitives: Array, forces: Array, general: Array,
        joint_rows: list[int], force_rows: list[slice],
    ) -> None:  # fmt: skip
        model, tree = assembler.model, assembler.tree
        assert tree is not None
        node_of, bodies = assembler.node_of, len(model.bodies)
        check_movable(tree, nodes, node_of)
        self.carried, self.order = carried_table(tree, node_of, len(nodes))
        self.loads = joint_loads(model, tree, nodes, node_of, force_rows, forces)
        others = np.ones(len(forces), dtype=bool)
        others[self.loads[:, 0]] = False
        self.nodes, n_q, n_v = inner_nodes(nodes, self.carried)
        self.primitives, self.forces, self.general = primitives.copy(), forces[others].copy(), general.copy()
        self.members = list(assembler.members)
        sizes, is_joint, grounded, pairs = coupled_vertices(
            self.nodes, self.primitives, self.forces, self.general, self.members, joint_rows, 1
        )
        storage = BlockStorage(sizes, pairs)
        xv, xl = place_blocks(
            self.nodes,
            self.primitives,
            self.forces,
            storage,
            n_v,
            assembler.n_l,
            bodies,  # type: ignore[arg-type]
        )
        place_frame_elements(self.members, self.general, storage, xl, bodies)
        self.inner_sizes = n_q, n_v, storage.size
        self.loaded = len(self.primitives) + len(self.forces) + len(self.general) > 0
        self.projector = Projector(self.carried, storage, bodies)
        free = (self.carried["parent"] == NOT_CARRIED)[1:].any()
        self.recursive = assembler.n_l == 0 and not free and not self.projector.blocks
        outer_sizes = np.concatenate([nodes["nv"][1:] + nodes["nl"][1:], np.array(joint_rows, dtype=np.int64)])
        self.layout: Layout
        if self.recursive:
            self.layout = uncoupled(outer_sizes, is_joint)
        else:  # a common rigid motion of bodies is no motion of joints: constraints count as tied to the ground
            tied = np.ones(len(outer_sizes), dtype=bool)
            self.layout = analyse(outer_sizes, is_joint, tied, self.projector.pairs())
        self.inertia = rotor_inertia(tree, nodes, node_of, assembler.n_v)
        self.inner: Tables

    def finish(self, tables: Tables) -> tuple[Tables, int]:
        """The tables with their tree, and the size of their matrix."""
        flags = tables.flags
        flags[FLAG_TREE] = BY_RECURSION if self.recursive else BY_FRONTS
        flags[FLAG_LOADED] = self.loaded
        size = self.layout.size_F
        n_v = len(tables.xv)
        if self.recursive:
            flags[FLAG_DENSE] = 0
            size = PER_NODE * len(tables.nodes) + PER_VELOCITY * n_v
        tables.lengths[-1] = size
        coupled = self.primitives["shared"] != 0
        self.inner = tables.changed(
            nodes=self.nodes.view(np.recarray), primitives=self.primitives[~coupled].view(np.recarray),
            couplings=self.primitives[coupled].view(np.recarray), forces=self.forces.view(np.recarray),
            frame_elements=self.general.view(np.recarray), members=np.array(self.members, dtype=np.int64),
            fronts=no_fronts(), flags=flags.copy(),
        )  # fmt: skip
        self.inner.flags[FLAG_TREE] = 0
        if self.recursive:
            records, places, paths = self.projector.tables_of_paths()
        else:
            records, places, paths = self.projector.tables(self.layout)
        tree = TreeTables(
            carried=self.carried.view(np.recarray), order=self.order,
            free=np.flatnonzero((self.carried["parent"] == NOT_CARRIED)[1:]) + 1, inner=table_of([self.inner]),
            projections=records.view(np.recarray), places=places, paths=paths, loads=self.loads,
            inertia=self.inertia,
        )  # fmt: skip
        return tables.changed(tree=tree), size
