"""From the tree of a model's joints to its tables: who carries whom, coordinates, and where blocks of elements go.

Elements keep tables of their own (the *inner* ones), in which every carried body has velocities (r_dot, omega) of its
own; their blocks are stored apart and then projected onto the paths of the bodies (``tree_elements``).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import IDENTITY3, ModelError
from ..forces.kinds import AXIS_SPRING, TORSION_SPRING
from ..joints.rotor_hinge import RotorHinge
from ..joints.tree import Carried, JointTree, rotor_motion
from ..linalg.symbolic import Fronts, Layout
from ..nodes import kinds
from ..nodes.forms import FORM_JOINT, FORM_LIE, FORM_QUATERNION, FORM_SPIN
from ..nodes.tree.records import (
    BETWEEN_BODIES,
    CARRIED,
    FROM_CONSTRAINT,
    NOT_CARRIED,
    PROJECTION,
    SCREW,
    SLIDE_1,
    SLIDE_2,
    SLIDE_3,
    TO_CONSTRAINT,
    TURN,
)

Array = np.ndarray

KINDS = {"turn": TURN, "slide": SLIDE_3, "slide 1": SLIDE_1, "slide 2": SLIDE_2, "screw": SCREW}
CROSS = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])
"""Rotation between the two turns of a Universal: the first normal of each frame is the other one's axis."""


def is_universal(motions: tuple[str, ...]) -> bool:
    """Whether a constant rotation stands between the two motions."""
    return motions == ("turn", "turn")


@dataclass(frozen=True)
class JointNode:
    """Sizes of what a joint contributes to the coordinates, as the table of nodes wants them."""

    kind: int
    form: int
    axes: tuple[int, int, int]
    sizes: tuple[int, int, int, int]  # coordinates, velocities, translations among them, internal constraints


def joint_node(edge: Carried) -> JointNode:
    """The node of a carried body: of its ball, or of its angles and displacements."""
    slides = sum(motion.startswith("slide") for motion in edge.motions)
    node = edge.node
    if node is None:
        count = len(edge.motions)
        return JointNode(kinds.GROUND, FORM_JOINT, (0, 0, 0), (count, count, slides, 0))
    form = FORM_LIE
    if not node.lie:
        form = FORM_QUATERNION if node.kind == kinds.QUATERNION else FORM_SPIN
    velocities = 3 if node.lie else node.n_rotation
    axes = getattr(node, "axes", (0, 0, 0))
    sizes = (slides + node.n_rotation, slides + velocities, slides, node.n_internal)
    return JointNode(node.kind, form, axes, sizes)


def carried_table(tree: JointTree, node_of: dict[int, int], count: int) -> tuple[Array, Array]:
    """The records of carried bodies by node, and their nodes in an order with parents first."""
    table = np.zeros(count, dtype=CARRIED)
    table["parent"] = NOT_CARRIED
    order = np.array([node_of[id(edge.body)] for edge in tree.carried], dtype=np.int64)
    rows = [(node_of[id(edge.parent)], *_motion_record(edge), *_geometry(edge)) for edge in tree.carried]
    for name, column in zip(table.dtype.names or (), zip(*rows, strict=True), strict=True):
        table[name][order] = column
    return table, order


CARRIED_NUMBERS = CARRIED.names[9:44] if CARRIED.names is not None else ()
"""Signs, pitch, points and frames of a carried body."""


def carried_numbers(edge: Carried) -> tuple[float, ...]:
    """``CARRIED_NUMBERS`` of one carried body: what of its record may change with parameters."""
    return *_motion_record(edge)[-2:], *_geometry(edge)[:-1]


def _motion_record(edge: Carried) -> tuple[Any, ...]:
    """Number, kinds and columns of the motions from parent to child, ball, sign, pitch."""
    motions = edge.motions
    sequence = [(k, KINDS[motion]) for k, motion in enumerate(m for m in motions if m != "ball")]
    if edge.reversed:
        sequence.reverse()
    padded = [*sequence, *[(0, 0)] * (3 - len(sequence))]
    joint: Any = edge.joint
    pitch = joint.pitch / (2.0 * np.pi) if "screw" in motions else 0.0
    kinds_, columns = [kind for _, kind in padded], [column for column, _ in padded]
    return len(sequence), *kinds_, *columns, "ball" in motions, -1.0 if edge.reversed else 1.0, pitch


def _geometry(edge: Carried) -> tuple[Any, ...]:
    """Points and frames of the joint on parent and child, and the constant rotation between motions."""
    joint: Any = edge.joint
    if joint is None:
        node: Any = edge.body.node
        place = node.position if node.pinned else np.zeros(3)
        points, frames = (place, np.zeros(3)), (IDENTITY3, IDENTITY3)
    else:
        points, frames = (joint.point_a, joint.point_b), (joint.frame_a, joint.frame_b)
        if "screw" in edge.motions:  # where it is at angle zero
            points = (joint.point_a + getattr(joint, "start", 0.0) * joint.axis_a, joint.point_b)
    if edge.reversed:
        points, frames = points[::-1], frames[::-1]
    turned = is_universal(edge.motions)
    between = (CROSS.T if edge.reversed else CROSS) if turned else IDENTITY3
    axes = [*frames[0].T.ravel().tolist(), *frames[1].T.ravel().tolist(), *between.T.ravel().tolist()]
    return *points[0].tolist(), *points[1].tolist(), *axes, turned


def joint_loads(model: Any, tree: JointTree, nodes: Array, node_of: dict[int, int], force_rows: list[slice],
                forces: Array) -> Array:  # fmt: skip
    """(force, velocity, coordinate) of the elements that act along the coordinate of a joint that carries a body."""
    edges = {id(edge.joint): edge for edge in tree.carried if edge.joint is not None}
    found = []
    for force, rows in zip(model.forces, force_rows, strict=True):
        joints = force.joints
        if len(joints) != 1 or id(joints[0]) not in edges or rows.stop - rows.start != 1:
            continue
        edge = edges[id(joints[0])]
        wanted = {TORSION_SPRING: "turn", AXIS_SPRING: "slide"}.get(int(forces["kind"][rows.start]))
        if wanted in edge.motions and not is_universal(edge.motions):
            n, k = nodes[node_of[id(edge.body)]], edge.motions.index(wanted)
            found.append((rows.start, int(n["v0"]) + k, int(n["q0"]) + k))
    return np.array(found, dtype=np.int64).reshape(-1, 3)


def rotor_inertia(tree: JointTree, nodes: Array, node_of: dict[int, int], n_v: int) -> Array:
    """Inertia of rotors on the coordinates of joints that carry bodies, by velocity."""
    edges = {id(edge.joint): edge for edge in tree.carried if edge.joint is not None}
    out = np.zeros(n_v)
    for edge in tree.carried:
        if isinstance(edge.joint, RotorHinge):
            driving = edges[id(edge.joint.driving)]
            k = driving.motions.index(rotor_motion(edge.joint))
            out[int(nodes[node_of[id(driving.body)]]["v0"]) + k] += float(edge.body.inertia[0, 0])
    return out


class BlockStorage:
    """A place of its own for every block of a matrix that is never factorised; answers as a ``Layout`` does."""

    def __init__(self, sizes: Array, pairs: Array) -> None:
        self.sizes, count = sizes, max(len(sizes), 1)
        self.position = np.cumsum(sizes) - sizes
        own = np.flatnonzero(sizes > 0)
        pairs = pairs[(sizes[pairs[:, 0]] > 0) & (sizes[pairs[:, 1]] > 0)]
        codes = np.unique(np.concatenate([
            own * count + own, pairs[:, 0] * count + pairs[:, 1], pairs[:, 1] * count + pairs[:, 0]
        ]))  # fmt: skip
        self.codes, self.count = codes, count
        self.u, self.v = codes // count, codes % count
        area = sizes[self.u] * sizes[self.v]
        self.offset = np.cumsum(area) - area
        self.size = int(area.sum())

    def blocks(self, us: Any, vs: Any) -> tuple[Array, Array]:
        """Offset and stride of the blocks (u, v)."""
        u, v = np.atleast_1d(np.asarray(us, np.int64)), np.atleast_1d(np.asarray(vs, np.int64))
        offset, stride = np.zeros(len(u), np.int64), np.zeros(len(u), np.int64)
        full = (self.sizes[u] > 0) & (self.sizes[v] > 0)
        code = u[full] * self.count + v[full]
        k = np.searchsorted(self.codes, code)
        if not np.array_equal(self.codes[np.minimum(k, len(self.codes) - 1)], code):
            raise KeyError("blocks of vertices that are not coupled")
        offset[full], stride[full] = self.offset[k], self.sizes[v[full]]
        return offset, stride


def inner_nodes(nodes: Array, carried: Array) -> tuple[Array, int, int]:
    """Nodes as elements see them, and the numbers of their coordinates and velocities."""
    inner = nodes.copy()
    tree = carried["parent"] != NOT_CARRIED
    inner["form"][tree], inner["kind"][tree] = FORM_LIE, kinds.ROTATION_VECTOR
    for name, value in (("nq", 6), ("nv", 6), ("nx", 3), ("nl", 0)):
        inner[name][tree] = value
    inner["q0"], inner["v0"] = np.cumsum(inner["nq"]) - inner["nq"], np.cumsum(inner["nv"]) - inner["nv"]
    return inner, int(inner["nq"].sum()), int(inner["nv"].sum())


def path_of(i: int, parents: Sequence[int]) -> list[int]:
    """Node i and the nodes that carry it, up to the ground, which is left out."""
    path = []
    while i > 0:
        path.append(i)
        i = int(parents[i])
    return path


class Projector:
    """Where the blocks of elements go in the matrix of joint coordinates."""

    def __init__(self, carried: Array, storage: BlockStorage, bodies: int) -> None:
        self.parents: list[int] = carried["parent"].tolist()
        self.storage, self.bodies = storage, bodies

    def _expanded(self, vertex: int) -> list[int]:
        """Vertices of the matrix that a vertex of the elements stands for: a path, or itself."""
        if vertex >= self.bodies or self.parents[vertex + 1] == NOT_CARRIED:
            return [vertex]
        return [i - 1 for i in path_of(vertex + 1, self.parents)]

    def _is_tree(self, vertex: int) -> bool:
        return vertex < self.bodies and self.parents[vertex + 1] != NOT_CARRIED

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """Blocks (u, v) of elements that are projected; those of a carried body on itself are part of its jet."""
        pairs = zip(self.storage.u.tolist(), self.storage.v.tolist(), strict=True)
        return [(u, v) for u, v in pairs if (u != v or not self._is_tree(u)) and not (u == v and u >= self.bodies)]

    def _branches(self, u: int, v: int) -> tuple[list[int], list[int], list[int]]:
        """What (u, v) stands for: above the common ancestor on the side of u, and of v, and the common vertices."""
        rows, columns = self._expanded(u), self._expanded(v)
        common: list[int] = []
        if self._is_tree(u) and self._is_tree(v):
            shared = set(columns)
            common = [a for a in rows if a in shared]
        return rows[: len(rows) - len(common)], columns[: len(columns) - len(common)], common

    def pairs(self) -> Array:
        """Pairs of coupled vertices of the matrix; vertices of one path are coupled anyway."""
        found = set()
        for u, v in self.blocks:
            rows, columns, _ = self._branches(u, v)
            found |= {(min(a, b), max(a, b)) for a in rows for b in columns if a != b}
        for i in range(1, self.bodies + 1):
            if self._is_tree(i - 1):
                path = path_of(i, self.parents)
                found |= {(min(i, j) - 1, max(i, j) - 1) for j in path[1:]}
        return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)

    def tables_of_paths(self) -> tuple[Array, Array, Array]:
        """What ``tables`` returns where no matrix is assembled: nothing to project."""
        nothing = np.zeros((0, 2), dtype=np.int64)
        return np.zeros(0, dtype=PROJECTION), nothing, np.zeros((self.bodies + 1, 2), dtype=np.int64)

    def tables(self, layout: Layout) -> tuple[Array, Array, Array]:
        """Records of projections, the places of all blocks, and where those along the path of each node begin."""
        rows: list[int] = []
        columns: list[int] = []
        paths = np.zeros((self.bodies + 1, 2), dtype=np.int64)
        for i in range(1, self.bodies + 1):
            if self._is_tree(i - 1):
                path = path_of(i, self.parents)
                paths[i] = len(rows), len(path)
                for j in path:
                    rows += [i - 1, j - 1]
                    columns += [j - 1, i - 1]
        blocks = self.blocks
        records = np.zeros(len(blocks), dtype=PROJECTION)
        for record, (u, v) in zip(records, blocks, strict=True):
            offset, stride = self.storage.blocks([u], [v])
            kind = BETWEEN_BODIES
            if u >= self.bodies:
                kind = TO_CONSTRAINT
            elif v >= self.bodies:
                kind = FROM_CONSTRAINT
            record["kind"] = kind
            record["row_body"], record["column_body"] = (x + 1 if self._is_tree(x) else 0 for x in (u, v))
            record["rows"], record["columns"] = self.storage.sizes[u], self.storage.sizes[v]
            record["block"], record["ld"], record["first"] = offset[0], stride[0], len(rows)
            above, across, common = self._branches(u, v)
            path = [*across, *common]
            record["path"], record["branch"] = len(path), len(across)
            rows += [a for a in above for _ in path]
            columns += path * len(above)
            record["common"], record["second"] = common[0] + 1 if common else 0, len(rows)
            rows += [a for a in common for _ in across]
            columns += across * len(common)
        offset, stride = layout.blocks(rows, columns) if rows else (np.zeros(0, np.int64),) * 2
        return records, np.column_stack((offset, stride)), paths


@functools.cache
def no_fronts() -> Fronts:
    """Fronts of tables whose matrix is never factorised: empty, so that all of them may share these."""
    empty = np.zeros(0, np.uint64)
    return Fronts(
        table=np.zeros((0, 9), np.int64), children=np.zeros(0, np.int64), row_index=empty, row_map=empty,
        work=np.zeros(1),
    )  # fmt: skip


def check_movable(tree: JointTree, nodes: Array, node_of: dict[int, int]) -> None:
    """Refuse joints that move no inertia: the accelerations of their coordinates would be undetermined."""
    carried_mass: list[float] = nodes["mass"].tolist()
    inertia: list[float] = (nodes["j11"] + nodes["j22"] + nodes["j33"]).tolist()
    for edge in reversed(tree.carried):
        i, p = node_of[id(edge.body)], node_of[id(edge.parent)]
        mass, turning = carried_mass[i], inertia[i]
        if edge.motions and not mass > 0.0 and not turning > 0.0:
            raise ModelError(
                f"{edge.joint or edge.body} moves no inertia: {edge.body} and all that it carries have no mass; "
                "expected a mass, or a Fixed in place of the joint"
            )
        carried_mass[p] += mass
        inertia[p] += turning + mass
