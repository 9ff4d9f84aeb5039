"""Where the unknowns of a model and the blocks of its matrix are; part of the assembly."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..compiled.kernel import kernel
from ..joints.instant import ANGLE, COINCIDENT, DOT1, ROTATING
from ..linalg.symbolic import DENSE_MAX, PIVOTS, ROWS, Layout, analyse
from ..nodes.forms import FORM_GENERALIZED, FORM_POINT
from .frame_assembly import frame_element_pairs
from .tables import Tables


class Places(Protocol):
    """What tells where the blocks and unknowns of vertices are."""

    position: np.ndarray

    def blocks(self, us: Any, vs: Any, /) -> tuple[np.ndarray, np.ndarray]:
        """Offset and stride of the blocks (u, v)."""


DIRECTIONS = (DOT1, ROTATING, ANGLE)  # primitives whose equations are angles rather than lengths


def matrix_layout(
    nodes: np.ndarray, primitives: np.ndarray, forces: np.ndarray, general: np.ndarray, members: list[int],
    joint_rows: list[int], unknowns: int, light: np.ndarray,
) -> Layout:  # fmt: skip
    """Sizes and couplings of bodies and joints, and their elimination order; ``light`` nodes go with their joints."""
    vertices = coupled_vertices(nodes, primitives, forces, general, members, joint_rows, unknowns)
    return analyse(*vertices, massless=np.flatnonzero(light[1:]))


def coupled_vertices(
    nodes: np.ndarray, primitives: np.ndarray, forces: np.ndarray, general: np.ndarray, members: list[int],
    joint_rows: list[int], unknowns: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Sizes of bodies and joints, which of them are joints, which of these are tied to the ground, coupled pairs."""
    n = len(nodes) - 1
    bodies = unknowns * nodes["nv"][1:] + nodes["nl"][1:]
    sizes = np.concatenate([bodies, np.array(joint_rows, dtype=np.int64)])
    is_joint = np.arange(len(sizes)) >= n
    grounded = np.zeros(len(sizes), dtype=bool)
    pairs = []
    if len(primitives):
        a, b, j = primitives["a"], primitives["b"], primitives["joint"] + n
        for body in (a, b):
            free = body > 0
            pairs.append(np.column_stack([body[free] - 1, j[free]]))
            grounded[j[~free]] = True
            # a pinned body cannot follow a common translation: its joints count as joints to the ground
            grounded[j[nodes["nx"][body] == 0]] = True
        both = (a > 0) & (b > 0) & (primitives["kind"] != COINCIDENT)
        pairs.append(np.column_stack([a[both] - 1, b[both] - 1]))
    if len(forces):
        a, b = forces["a"], forces["b"]
        both = (a > 0) & (b > 0)
        pairs.append(np.column_stack([a[both] - 1, b[both] - 1]))
    pairs += frame_element_pairs(members, general, grounded, n)
    stacked = np.concatenate(pairs) if pairs else np.zeros((0, 2), dtype=np.int64)
    return sizes, is_joint, grounded, stacked


def massless(nodes: np.ndarray) -> np.ndarray:
    """Which nodes belong to bodies without any inertia."""
    found = (nodes["mass"] == 0.0) & (nodes["form"] != FORM_GENERALIZED)
    found[0] = False  # the ground
    return found


def has_small_fronts(layout: Layout) -> bool:
    """Whether all fronts of the matrix are small, and some of them are of joints."""
    fronts = layout.fronts.table
    small = int((fronts[:, PIVOTS] + fronts[:, ROWS]).max(initial=0)) <= DENSE_MAX
    return small and bool(layout.is_joint.any())


@kernel(kinds=(Tables,))
def is_definite(s):
    """Whether the mass matrix is, and with it, where fronts are small, [M B^T; B 0] needs no swaps of rows."""
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.form == FORM_GENERALIZED or n.mass == 0.0:
            return False
        if n.form > FORM_POINT and not (n.j11 > 0.0 and n.j22 > 0.0 and n.j33 > 0.0):
            return False
    for i in range(s.frame_elements.shape[0]):
        if s.frame_elements[i].rows > 0:
            return False
    return True


def place_blocks(
    nodes: np.ndarray, primitives: np.ndarray, forces: np.ndarray, layout: Places, n_v: int, n_l: int, n: int,
    with_elements: bool = True,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Fill in where every unknown lives, and the blocks of nodes and elements."""
    position = layout.position
    every = np.arange(n)
    nodes["x0"][1:] = position[:n]
    nodes["block"][1:], nodes["ld"][1:] = layout.blocks(every, every)
    xv, xl = np.zeros(n_v, dtype=np.int64), np.zeros(n_l, dtype=np.int64)
    for size, start, shift, target in (("nv", "v0", "zero", xv), ("nl", "l0", "nv", xl)):
        for k in range(int(nodes[size].max(initial=0))):
            has = nodes[size] > k
            has[0] = False
            first = nodes[shift][has] if shift != "zero" else 0
            target[nodes[start][has] + k] = nodes["x0"][has] + first + k

    def place(table: np.ndarray, us: np.ndarray, vs: np.ndarray, name: str, has: np.ndarray) -> None:
        if not with_elements:
            return
        offset, ld = layout.blocks(us[has], vs[has])
        table[f"block_{name}"][has] = offset
        table[f"ld_{name}"][has] = ld

    if len(primitives):
        a, b, j = primitives["a"] - 1, primitives["b"] - 1, primitives["joint"] + n
        row = primitives["x0"].copy()  # row inside the joint until now
        place(primitives, j, a, "ja", a >= 0)
        place(primitives, a, j, "aj", a >= 0)
        place(primitives, j, b, "jb", b >= 0)
        place(primitives, b, j, "bj", b >= 0)
        for name in ("ja", "jb"):
            primitives[f"block_{name}"] += row * primitives[f"ld_{name}"]
        for name in ("aj", "bj"):
            primitives[f"block_{name}"] += row
        both = (a >= 0) & (b >= 0) & (primitives["kind"] != COINCIDENT)
        place(primitives, a, b, "ab", both)
        place(primitives, b, a, "ba", both)
        primitives["x0"] = position[j] + row
        for k in range(3):
            has = (primitives["kind"] == COINCIDENT) | (k == 0)
            xl[primitives["l0"][has] + k] = primitives["x0"][has] + k
    if len(forces):
        a, b = forces["a"] - 1, forces["b"] - 1
        both = (a >= 0) & (b >= 0)
        place(forces, a, b, "ab", both)
        place(forces, b, a, "ba", both)
    return xv, xl


def unknown_classes(
    nodes: np.ndarray, primitives: np.ndarray, general: np.ndarray, layout: Layout, n_v: int, n_l: int
) -> dict[str, np.ndarray]:
    """What kind of quantity every velocity and multiplier belongs to, for tolerances; diagonal of multipliers."""
    vclass, qv = np.ones(n_v, dtype=np.int64), np.full(n_v, -1, dtype=np.int64)
    lclass, diagonal = np.ones(n_l, dtype=np.int64), np.zeros(n_l, dtype=np.int64)
    for k in range(3):
        has = nodes["nx"] > k
        has[0] = False
        vclass[nodes["v0"][has] + k] = 0
        qv[nodes["v0"][has] + k] = nodes["q0"][has] + k
    for n in nodes[nodes["form"] == FORM_GENERALIZED]:
        vclass[n["v0"] : n["v0"] + n["nv"]] = 2
        qv[n["v0"] : n["v0"] + n["nv"]] = np.arange(n["q0"], n["q0"] + n["nv"])
        lclass[n["l0"] : n["l0"] + n["nl"]] = 0
    for k in range(int(nodes["nl"].max(initial=0))):
        n = nodes[nodes["nl"] > k]
        diagonal[n["l0"] + k] = n["block"] + (n["nv"] + k) * (n["ld"] + 1)
    if len(primitives):
        joint = primitives["joint"] + len(nodes) - 1
        offset, ld = layout.blocks(joint, joint)
        for k in range(3):
            has = (primitives["kind"] == COINCIDENT) | (k == 0)
            row = primitives["x0"][has] - layout.position[joint[has]] + k
            diagonal[primitives["l0"][has] + k] = offset[has] + row * (ld[has] + 1)
            row, angular = primitives["l0"][has] + k, np.isin(primitives["kind"][has], DIRECTIONS)
            lclass[row[::-1]] = angular[::-1]  # of a sum the first term, which is written last, says what it is
    for g in general[general["joint"] >= 0]:
        joint = np.array([g["joint"] + len(nodes) - 1])
        offset, ld = layout.blocks(joint, joint)
        row = g["x0"] - layout.position[joint[0]] + np.arange(g["rows"])
        diagonal[g["l0"] : g["l0"] + g["rows"]] = offset[0] + row * (ld[0] + 1)
        lclass[g["l0"] : g["l0"] + g["rows"]] = 0
    return {"vclass": vclass, "lclass": lclass, "qv": qv, "diagonal": diagonal}
